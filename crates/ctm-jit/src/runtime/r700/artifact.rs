//! R700 programs, lowered once and cached by all parameters of lowering.

use crate::compile::LoweringInput;
use crate::compile::program::CompiledProgram;
use crate::launch::wavefronts::places::{Waves, row_element};
use crate::runtime::options::LoweringOptions;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::runtime::streams::Streams;
use ctm_exec::Counters;
use ctm_exec::r700::memory::space;
use ctm_exec::r700::{Launch, Space, clocks};
use ctm_ir::lower::r700::{epilogues, waves_per_group};
use ctm_ir::masked::{Fetch, Store, Var};
use std::ops::Deref;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use std::sync::OnceLock;

/// All parameters of lowering.
pub fn key(launch: &Launch<'_>) -> Vec<u32> {
    let Launch { program, constants, .. } = *launch;
    let programs = || [Some(program), launch.fetch_program].into_iter().flatten();
    let words: usize = programs().map(|program| program.words.len()).sum();
    let others = 2 * launch.semantics.len() + launch.planes.len() + launch.rows.len();
    // Every launch makes one, so it is made in one allocation.
    let mut key = Vec::with_capacity(words + 96 + others);
    key.extend_from_slice(&[
        program.gprs.into(),
        launch.stage as u32,
        launch.chip as u32,
        launch.wavefront.lanes() as u32,
        waves_per_group(launch) as u32,
        launch.global_gprs.into(),
        Waves::of(launch).is_of_quads().into(),
        launch.epilogues.len() as u32,
        launch.keeps.is_some().into(),
        constants.bool.iter().fold(0, |bits, &bit| bits << 1 | u32::from(bit)),
    ]);
    key.extend_from_slice(&constants.loops.map(|of| u32::from(of.count) | u32::from(of.start) << 16));
    key.extend_from_slice(&constants.loops.map(|of| i32::from(of.step).cast_unsigned()));
    key.extend([launch.semantics.len(), launch.planes.len(), launch.rows.len()].map(|count| count as u32));
    key.extend(launch.semantics.iter().flat_map(|row| [row.id, row.gpr].map(u32::from)));
    // The variables with start values.
    key.extend(launch.planes.iter().map(|plane| u32::from(plane.temp)));
    key.extend(launch.rows.iter().map(|row| u32::from(row_element(row))));
    for of in launch.epilogues {
        key.push(of.target.into());
        of.epilogue.key(&mut key);
    }
    if let Some(keeps) = launch.keeps {
        keeps.key(&mut key);
    }
    for program in programs() {
        key.extend([program.entry, program.words.len() as u32]);
        key.extend_from_slice(&program.words);
    }
    key
}

/// A program, ready to run.
pub struct Artifact {
    program: CompiledProgram,
    /// Its form for streams, if it is uniform; made when first needed.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub uniform: OnceLock<Option<crate::stream::uniform::Uniform>>,
    /// Its code for streams.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub streams: Streams,
    /// Whether it reads memory that it writes.
    pub reads_back: bool,
}

impl Deref for Artifact {
    type Target = CompiledProgram;

    fn deref(&self) -> &CompiledProgram {
        &self.program
    }
}

impl Artifact {
    /// The program of a launch; `None` when it is left to the reference interpreter.
    #[cfg_attr(
        not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))),
        allow(unused_variables, reason = "there are no streams")
    )]
    pub fn new(launch: &Launch<'_>, options: &LoweringOptions) -> Option<Self> {
        let gprs = usize::from(launch.program.gprs).clamp(1, ctm_isa::r700::GPRS);
        let mut given = vec![false; Var::COUNT];
        for plane in launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs) {
            (0..4).for_each(|e| given[Var::gpr(usize::from(plane.temp), e).index()] = true);
        }
        for element in launch.rows.iter().map(row_element).filter(|&element| usize::from(element) < 4 * gprs) {
            given[Var::gpr(usize::from(element / 4), usize::from(element % 4)).index()] = true;
        }
        epilogues::stored(launch)?.into_iter().for_each(|(var, _)| given[var.index()] = true);
        let whole = Waves::of(launch).is_of_quads();
        let program = CompiledProgram::new(LoweringInput::R700(launch), whole, launch.wavefront.lanes(), &given)?;
        let code = &program.code;
        let spaces = code.stores.iter().filter_map(written_space);
        let reads = |written| {
            code.fetches.iter().any(|fetch| matches!(fetch, Fetch::Memory(of, _) if of.read.space == Some(written)))
        };
        let reads_back = spaces.into_iter().any(reads);
        Some(Self {
            program,
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            uniform: OnceLock::new(),
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            streams: Streams::new(options),
            reads_back,
        })
    }

    /// Turns executions of blocks by wavefronts of `lanes` lanes into counters (`Wavefront::charge` of the reference
    /// interpreter).
    pub fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        for (block, &n) in self.code.blocks.iter().zip(visits) {
            let tally = &block.tally;
            counters.alu += n * u64::from(tally.alu);
            counters.output += n * u64::from(tally.output);
            counters.tex += n * u64::from(tally.tex);
            counters.fc += n * u64::from(tally.fc);
            counters.total_lanes += n * lanes * u64::from(tally.instructions());
            let groups = u64::from(tally.alu + tally.delays);
            counters.alu_clocks += n * groups * lanes.div_ceil(clocks::GROUP_LANES);
            counters.tex_clocks += n * u64::from(tally.tex + tally.tex_passes) * lanes.div_ceil(clocks::FETCH_LANES);
            counters.fc_clocks += n * clocks::CONTROL_CLOCKS * u64::from(tally.fc + tally.output);
        }
    }

    /// Whether it writes memory that threads share. A group may repeat its writes: only the group itself has read them
    /// meanwhile.
    pub fn writes_memory(&self) -> bool {
        self.code.stores.iter().any(|store| written_space(store).is_some())
    }

    /// Whether it has sends whose order is kept: writes to memory that threads share, vertex events.
    pub fn sends_in_order(&self) -> bool {
        self.writes_memory() || self.code.stores.iter().any(|store| matches!(store, Store::Event(_)))
    }

    /// Whether a lane's results do not depend on its wavefront: lanes share nothing, and their calls read only the
    /// lanes of a quad.
    pub fn is_of_quads(&self) -> bool {
        !self.keeps && self.code.yields.is_empty()
    }
}

/// The shared memory that a store writes.
fn written_space(store: &Store) -> Option<Space> {
    if let Store::Memory(cf, _) = store { space(cf.word1.op) } else { None }
}
