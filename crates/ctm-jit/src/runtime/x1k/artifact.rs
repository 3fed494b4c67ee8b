//! X1K programs, lowered once and cached by all parameters of lowering.

use crate::compile::observe::Observer;
use crate::compile::program::CompiledProgram;
use crate::compile::{LoweringInput, masked_form};
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::places::row_element;
use crate::launch::wavefronts::wave;
use crate::passes::table::Pass;
use crate::runtime::options::LoweringOptions;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::runtime::streams::Streams;
use ctm_exec::Counters;
use ctm_exec::x1k::Launch;
use ctm_ir::lower::x1k::{Asked, epilogues, for_covered_groups, is_moderate, joint, lower_launch};
use ctm_ir::masked::Var;
use ctm_ir::x1k::Code;
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::program::Lookups;
use std::sync::OnceLock;

/// All parameters of lowering.
pub fn key(launch: &Launch<'_>) -> Vec<u32> {
    let Launch { program, constants, .. } = *launch;
    let flags = [
        program.full_flow_control,
        program.uncached,
        program.zero_times_anything,
        program.conditional_value,
        launch.counters,
    ];
    let bits = |all: &[bool]| all.iter().fold(0, |bits, &bit| bits << 1 | u32::from(bit));
    let words = program.words.as_flattened();
    // Every launch makes one, so it is made in one allocation.
    let mut key = Vec::with_capacity(words.len() + 64 + launch.planes.len() + launch.rows.len());
    key.extend_from_slice(&[program.first.into(), program.last.into(), launch.group.lanes() as u32]);
    // Boolean constants decide jumps, integer constants trip counts.
    key.extend_from_slice(&[bits(&flags), bits(&constants.bool)]);
    key.extend_from_slice(&constants.int.map(u32::from_le_bytes));
    key.push(match program.lookups {
        Lookups::Inputs => u32::MAX,
        Lookups::Textures { cubes } => cubes.into(),
    });
    // The variables with start values.
    key.extend([launch.planes.len() as u32, launch.rows.len() as u32]);
    key.extend(launch.planes.iter().map(|plane| u32::from(plane.temp)));
    key.extend(launch.rows.iter().map(|row| u32::from(row_element(row))));
    key.push(launch.draw.epilogues.len() as u32);
    for of in launch.draw.epilogues {
        key.push(of.target.into());
        of.epilogue.key(&mut key);
    }
    key.extend_from_slice(words);
    key
}

/// Elements of output components and of the conditional value, which is after them.
pub const CONDITIONAL: usize = Var::export(4, 0).index() - Var::export(0, 0).index();

/// The program for one group, or (`is_joint`) for several that share one decision. `given`: variables with start
/// values.
pub fn with_masks(graph: &Code, is_joint: bool, given: &[bool]) -> CompiledProgram {
    let lanes = if is_joint { wave::LANES } else { LANES };
    let form = masked_form(LoweringInput::X1k { graph, is_joint }, false, &mut Observer::of_environment());
    CompiledProgram::of_form(form.unwrap_or_default(), lanes, given)
}

/// A program, ready to run.
pub struct Artifact {
    /// The program as a stream, if it is one; made when first needed.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub uniform: OnceLock<Option<crate::stream::uniform::Uniform>>,
    /// Its code for launches without masks.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub streams: Streams,
    /// Its form for one group at a time.
    pub code: Code,
    /// The same with masks, for as many groups as may run together; made when first needed.
    program: OnceLock<CompiledProgram>,
    counts: bool,
    /// The variables with start values.
    given: Vec<bool>,
    /// Those that are elements of targets, with the numbers of these.
    pub stored: Vec<(Var, u8)>,
    /// The same program for groups of which all processors are covered, where that makes a difference: votes of
    /// uncovered processors need no exclusion then.
    pub whole: Option<Box<Self>>,
    /// The same program for constants of any size, where this one is not; made when first needed.
    careful: OnceLock<Option<Box<Self>>>,
}

impl Artifact {
    /// The program of a launch; `None` when it is left to the reference interpreter.
    pub fn new(launch: &Launch<'_>, options: &LoweringOptions) -> Option<Self> {
        Self::relying(launch, options, Pass::Moderate.is_on())
    }

    fn relying(launch: &Launch<'_>, options: &LoweringOptions, relies: bool) -> Option<Self> {
        let mut artifact = Self::of(launch, options, relies)?;
        let covered = Pass::Covered.is_on().then(|| for_covered_groups(launch.program));
        if let Some(program) = covered.flatten() {
            let whole = Self::of(&Launch { program: &program, ..*launch }, options, relies);
            artifact.whole = whole.map(Box::new);
        }
        Some(artifact)
    }

    /// The program for the constants of a launch: itself, unless its assumptions about them fail.
    pub fn for_constants(&self, launch: &Launch<'_>, options: &LoweringOptions) -> Option<&Self> {
        let constants = launch.constants.float.as_flattened();
        let moderate = |of: &Self| {
            of.code
                .moderate
                .iter()
                .all(|&index| constants.get(usize::from(index)).is_some_and(|&bits| is_moderate(bits)))
        };
        if moderate(self) && self.whole.as_deref().is_none_or(moderate) {
            return Some(self);
        }
        self.careful.get_or_init(|| Self::relying(launch, options, false).map(Box::new)).as_deref()
    }

    #[cfg_attr(
        not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))),
        allow(unused_variables, reason = "there are no streams")
    )]
    fn of(launch: &Launch<'_>, options: &LoweringOptions, relies: bool) -> Option<Self> {
        let code = lower_launch(launch, Asked { counts: launch.counters, relies })?;
        let stored = epilogues::stored(launch)?;
        let mut given = vec![false; Var::COUNT];
        for plane in launch.planes {
            (0..4).for_each(|e| given[Var::gpr(usize::from(plane.temp) % TEMPORARIES, e).index()] = true);
        }
        launch.rows.iter().map(row_element).for_each(|element| given[usize::from(element)] = true);
        stored.iter().for_each(|(var, _)| given[var.index()] = true);
        Some(Self {
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            uniform: OnceLock::new(),
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            streams: Streams::new(options),
            program: OnceLock::new(),
            counts: launch.counters,
            code,
            given,
            stored,
            whole: None,
            careful: OnceLock::new(),
        })
    }

    /// Turns executions of blocks by groups of `lanes` lanes into the counters of `docs/clocks.md`: those that do not
    /// depend on data.
    pub fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        let quads = lanes / 4;
        // Block 0 only begins, and the blocks after the program's count nothing.
        for (block, &visits) in self.code.blocks.iter().zip(visits.iter().skip(1)) {
            let tally = &block.tally;
            let times = |count: u32| visits * u64::from(count);
            counters.alu += times(tally.alu);
            counters.output += times(tally.output);
            counters.tex += times(tally.tex);
            counters.fc += times(tally.fc);
            counters.total_lanes += times(tally.instructions()) * lanes;
            counters.alu_clocks += times(tally.alu + tally.output + 3 * tally.scattered) * quads + times(tally.nops);
            counters.tex_clocks += times(tally.tex_wide) * quads + times(tally.tex - tally.tex_wide);
            counters.fc_clocks += times(tally.fc);
        }
    }

    /// The program with masks, for as many groups as may run together.
    pub fn program(&self) -> &CompiledProgram {
        self.program.get_or_init(|| {
            // The writes of groups are recorded by wavefronts of one group.
            let is_joint = !self.code.writes && !self.counts && Pass::Joint.is_on() && joint::holds(&self.code);
            with_masks(&self.code, is_joint, &self.given)
        })
    }
}
