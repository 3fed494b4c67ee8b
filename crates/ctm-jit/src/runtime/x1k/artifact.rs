//! X1K programs, lowered once and remembered with all that lowering depends on.

use super::form::{Form, GROUPS};
use crate::ir::masked::Var;
use crate::ir::x1k::Code;
use crate::launch::wavefronts::places::row_element;
use crate::lower::x1k::{for_covered_groups, joint, lower};
use crate::passes::table::Pass;
use crate::runtime::engine::Options;
#[cfg(target_arch = "x86_64")]
use crate::runtime::streams::Streams;
use ctm_exec::x1k::Launch;
use ctm_isa::x1k::{TEMPORARIES, Words};
use std::sync::OnceLock;

/// All that lowering depends on.
pub struct Key {
    words: Vec<Words>,
    state: State,
    /// Elements that hold something lane by lane at the start.
    rows: Vec<u16>,
}

/// That of it which is of a fixed size.
#[derive(PartialEq, Eq)]
struct State {
    first: u16,
    last: u16,
    flags: u8,
    /// Boolean constants decide which way jumps go,
    booleans: u32,
    /// integer constants how often loops run.
    integers: [[u8; 4]; 32],
    /// Temporaries that hold something at the start.
    planes: u128,
    lanes: usize,
}

impl State {
    fn of(launch: &Launch<'_>) -> Self {
        let program = launch.program;
        let flags = [
            program.full_flow_control,
            program.uncached,
            program.zero_times_anything,
            program.conditional_value,
            launch.counters,
        ];
        let bit = |set: u128, index: usize| set | 1 << (index % 128);
        Self {
            first: program.first,
            last: program.last,
            flags: flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)),
            integers: launch.constants.int,
            booleans: launch.constants.bool.iter().fold(0, |all, &b| all << 1 | u32::from(b)),
            planes: launch.planes.iter().map(|plane| usize::from(plane.temp)).fold(0, bit),
            lanes: launch.group.lanes(),
        }
    }
}

impl Key {
    /// Of a launch.
    pub fn of(launch: &Launch<'_>) -> Self {
        let rows = launch.rows.iter().map(row_element).collect();
        Self { words: launch.program.words.clone(), state: State::of(launch), rows }
    }

    /// Whether a launch's program is this one. Nothing is copied.
    pub fn is_of(&self, launch: &Launch<'_>) -> bool {
        self.state == State::of(launch)
            && self.words.as_flattened() == launch.program.words.as_flattened()
            && self.rows.iter().copied().eq(launch.rows.iter().map(row_element))
    }
}

/// A program, ready to run.
pub struct Artifact {
    /// The program as a stream, if it is one; made when first needed.
    #[cfg(target_arch = "x86_64")]
    pub uniform: OnceLock<Option<crate::stream::uniform::Uniform>>,
    /// Its code for launches without masks.
    #[cfg(target_arch = "x86_64")]
    pub streams: Streams,
    /// Its form for one group at a time.
    pub code: Code,
    /// The same with masks, for several groups as if they were one, and for one; made when first needed.
    forms: [OnceLock<Option<Form>>; 2],
    /// Groups that may run together.
    copies: usize,
    counts: bool,
    /// The variables that hold something at the start.
    given: Vec<bool>,
    /// The same program for groups of which all processors are covered, where that makes a difference: votes of uncovered processors need no care then.
    pub whole: Option<Box<Self>>,
}

impl Artifact {
    /// The program of a launch; `None` when it has to be left to the reference interpreter.
    pub fn new(launch: &Launch<'_>, options: &Options) -> Option<Self> {
        let mut artifact = Self::of(launch, options)?;
        let covered = Pass::Covered.is_on().then(|| for_covered_groups(launch.program));
        if let Some(program) = covered.flatten() {
            let whole = Self::of(&Launch { program: &program, ..*launch }, options);
            artifact.whole = whole.map(Box::new);
        }
        Some(artifact)
    }

    fn of(launch: &Launch<'_>, options: &Options) -> Option<Self> {
        let code = lower(launch.program, launch.constants, launch.counters, options.calls)?;
        let mut given = vec![false; Var::COUNT];
        for plane in launch.planes {
            (0..4).for_each(|e| given[Var::gpr(usize::from(plane.temp) % TEMPORARIES, e).index()] = true);
        }
        launch.rows.iter().map(row_element).for_each(|element| given[usize::from(element)] = true);
        Some(Self {
            #[cfg(target_arch = "x86_64")]
            uniform: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            streams: options.streams(),
            forms: Default::default(),
            // What groups write is noted by wavefronts of one group.
            copies: if code.writes { 1 } else { options.copies.map_or(GROUPS, usize::from).clamp(1, GROUPS) },
            counts: launch.counters,
            code,
            given,
            whole: None,
        })
    }

    /// The program with masks, for as many groups as may run together.
    pub fn form(&self) -> &Form {
        let make = |joint| Form::new(&self.code, joint, &self.given, self.copies);
        let joint = self.forms[0].get_or_init(|| {
            let holds = self.copies > 1 && !self.counts && Pass::Joint.is_on() && joint::holds(&self.code);
            holds.then(|| make(true))
        });
        let single = || self.forms[1].get_or_init(|| Some(make(false))).as_ref();
        joint.as_ref().or_else(single).unwrap_or_else(|| unreachable!("it was just made"))
    }
}
