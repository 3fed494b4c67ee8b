//! The interface between engines and their callers: domains, budgets, faults and counters.

use crate::watch::Control;
use crate::{r700, x1k};
use std::time::Duration;

/// An index pair of the domain (CTM §2.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Column, 0..=4095.
    pub i: u32,
    /// Row, 0..=4095.
    pub j: u32,
}

/// The rectangle `i0..=i1` x `j0..=j1` (CTM §2.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// First column.
    pub i0: u32,
    /// First row.
    pub j0: u32,
    /// Last column, inclusive.
    pub i1: u32,
    /// Last row, inclusive.
    pub j1: u32,
}

impl Domain {
    /// Columns; 0 when the rectangle is empty (`i1 < i0`).
    #[must_use]
    pub const fn width(&self) -> u32 {
        if self.i1 < self.i0 { 0 } else { (self.i1 - self.i0).saturating_add(1) }
    }

    /// Rows; 0 when the rectangle is empty (`j1 < j0`).
    #[must_use]
    pub const fn height(&self) -> u32 {
        if self.j1 < self.j0 { 0 } else { (self.j1 - self.j0).saturating_add(1) }
    }

    /// Processors: index pairs of the rectangle.
    #[must_use]
    pub const fn processors(&self) -> u64 {
        self.width() as u64 * self.height() as u64
    }

    /// Whether the pair lies in the rectangle.
    #[must_use]
    pub const fn contains(&self, at: Position) -> bool {
        self.i0 <= at.i && at.i <= self.i1 && self.j0 <= at.j && at.j <= self.j1
    }
}

/// How many lanes decide a jump together: a multiple of 4, because lanes come as 2x2 quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSize(u16);

impl GroupSize {
    /// Largest size.
    pub const MAX: u16 = 1024;
    /// X1K's default.
    pub const X1K: Self = Self(16);
    /// R700's default: the wavefront of RV770.
    pub const R700: Self = Self(64);

    /// A group of `lanes`, if that is a multiple of 4 between 4 and [`Self::MAX`].
    #[must_use]
    pub const fn new(lanes: u16) -> Option<Self> {
        if lanes >= 4 && lanes <= Self::MAX && lanes.is_multiple_of(4) { Some(Self(lanes)) } else { None }
    }

    /// The number of lanes.
    #[must_use]
    pub const fn lanes(self) -> usize {
        self.0 as usize
    }
}

/// Limits of a launch, beyond which it ends with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Instructions that one group may issue; `None`: no limit.
    pub instructions_per_group: Option<u64>,
    /// Wall time of the launch; `None`: no limit.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { instructions_per_group: Some(100_000_000), time: None }
    }
}

/// The running program did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The instruction.
    pub pc: u32,
    /// The first processor concerned, where one is.
    pub position: Option<Position>,
}

/// Errors of a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The slot holds a number without a meaning.
    Undecodable(ctm_isa::table::FieldError),
    /// Execution left the program's slots: the address that was to be executed.
    PcOutOfRange {
        /// Where it went.
        target: u32,
        /// The number of slots.
        slots: u32,
    },
    /// A push on a full stack (CTM §3.5.2).
    StackOverflow {
        /// `loop` or `address`.
        stack: &'static str,
        /// How many frames it holds.
        depth: usize,
    },
    /// A pop from an empty stack (CTM §3.5.2).
    StackUnderflow {
        /// `loop` or `address`.
        stack: &'static str,
    },
    /// A branch counter passed its limit (CTM §3.5.2).
    BranchCounterOverflow {
        /// The largest value in the program's mode.
        limit: u8,
    },
    /// A register or constant index plus aL lies outside the file.
    RelativeOutOfRange {
        /// `temporary` or `constant`.
        file: &'static str,
        /// The index that came out.
        index: i64,
        /// How many there are.
        limit: u32,
    },
    /// The group used up its instructions.
    InstructionBudget {
        /// How many it was given.
        limit: u64,
    },
    /// The launch used up its time.
    TimeBudget {
        /// How much it was given.
        limit: Duration,
    },
    /// The caller cancelled the launch ([`Control::cancel`]).
    Cancelled,
    /// A fetch or a write that memory refused.
    Memory(MemoryFault),
    /// The top of the stack is not the kind of entry that the instruction pops (R700 §3.7.2).
    StackMismatch {
        /// `pixel state`, `loop` or `call`.
        wanted: &'static str,
        /// The entry found.
        found: &'static str,
    },
    /// An instruction group that no machine can execute (R700 §4.3).
    MalformedGroup {
        /// The error; lower case, no full stop.
        what: String,
    },
    /// An export to an index that does not exist (R700 table 3.3).
    ExportIndex {
        /// `pixel`, `position` or `parameter`.
        kind: &'static str,
        /// The index.
        index: u32,
    },
    /// Two engines ran the launch side by side and did not do the same, and the reference faulted.
    EnginesDisagree {
        /// The description; lower case, no full stop.
        message: String,
    },
    /// The watcher of the launch ended it.
    Stopped,
    /// Legal, but not done here.
    Unsupported {
        /// Its kind.
        feature: String,
        /// The manual's section.
        section: &'static str,
    },
}

/// A fetch or a write that memory refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// The accessed item, such as `input 3` or `output 0`.
    pub what: String,
    /// The device address, if the access got that far.
    pub address: Option<u64>,
    /// The reason of the refusal and the allowed values; lower case, no full stop.
    pub reason: String,
}

impl Fault {
    /// A stable name for machine-readable output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            FaultKind::Undecodable(_) => "undecodable-instruction",
            FaultKind::PcOutOfRange { .. } => "pc-out-of-range",
            FaultKind::StackOverflow { .. } => "stack-overflow",
            FaultKind::StackUnderflow { .. } => "stack-underflow",
            FaultKind::BranchCounterOverflow { .. } => "branch-counter-overflow",
            FaultKind::RelativeOutOfRange { .. } => "relative-out-of-range",
            FaultKind::InstructionBudget { .. } => "instruction-budget",
            FaultKind::TimeBudget { .. } => "time-budget",
            FaultKind::Cancelled => "cancelled",
            FaultKind::Memory(_) => "memory",
            FaultKind::StackMismatch { .. } => "stack-mismatch",
            FaultKind::MalformedGroup { .. } => "malformed-group",
            FaultKind::ExportIndex { .. } => "export-index",
            FaultKind::EnginesDisagree { .. } => "engine-difference",
            FaultKind::Stopped => "stopped",
            FaultKind::Unsupported { .. } => "unsupported",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            FaultKind::Undecodable(e) => write!(f, "the instruction cannot be decoded: {e}")?,
            FaultKind::PcOutOfRange { target, slots } => {
                write!(f, "execution went to {target}, the program has instructions 0..{slots}")?;
            }
            FaultKind::StackOverflow { stack, depth } => {
                write!(f, "the {stack} stack holds {depth} frames and is full")?
            }
            FaultKind::StackUnderflow { stack } => write!(f, "the {stack} stack is empty and cannot be popped")?,
            FaultKind::BranchCounterOverflow { limit } => {
                write!(f, "a branch counter would pass {limit}, the limit of the program's flow-control mode")?;
            }
            FaultKind::RelativeOutOfRange { file, index, limit } => {
                let last = limit.saturating_sub(1);
                write!(f, "the relative address names {file} {index}, there are {file}s 0 to {last}")?;
            }
            FaultKind::InstructionBudget { limit } => {
                write!(f, "the group issued {limit} instructions, its whole budget")?
            }
            FaultKind::TimeBudget { limit } => {
                write!(f, "the launch used up its time of {:.3} s", limit.as_secs_f64())?
            }
            FaultKind::Cancelled => write!(f, "the launch was cancelled")?,
            FaultKind::StackMismatch { wanted, found } => {
                write!(f, "the instruction pops a {wanted}, the top of the stack is a {found}")?;
            }
            FaultKind::MalformedGroup { what } => write!(f, "the instruction group cannot be executed: {what}")?,
            FaultKind::ExportIndex { kind, index } => write!(f, "there is no {kind} export {index}")?,
            FaultKind::EnginesDisagree { message } => write!(f, "the engines disagree: {message}")?,
            FaultKind::Stopped => f.write_str("the launch was watched and stopped")?,
            FaultKind::Unsupported { feature, section } => write!(f, "not supported: {feature} ({section})")?,
            FaultKind::Memory(m) => {
                write!(f, "{}: {}", m.what, m.reason)?;
                if let Some(address) = m.address {
                    write!(f, " (address 0x{address:08x})")?;
                }
            }
        }
        write!(f, ", at instruction {}", self.pc)?;
        if let Some(Position { i, j }) = self.position {
            write!(f, " for processor ({i}, {j})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Something a checked run noticed; the run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name in kebab-case; stable.
    pub rule: &'static str,
    /// The instruction.
    pub pc: u32,
    /// The first processor concerned.
    pub position: Option<Position>,
    /// The found value and the allowed ones; lower case, no full stop.
    pub message: String,
}

/// Statistics of a launch: the clock model of `docs/clocks.md` and its underlying counts.
///
/// Every engine gives the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Groups that ran.
    pub groups: u64,
    /// Processors that ran: covered lanes.
    pub processors: u64,
    /// ALU instructions issued, once per group.
    pub alu: u64,
    /// OUTPUT instructions issued, once per group.
    pub output: u64,
    /// Texture instructions issued, once per group.
    pub tex: u64,
    /// Flow-control instructions issued, once per group.
    pub fc: u64,
    /// Covered lanes that flow control let run, summed over issued instructions.
    pub active_lanes: u64,
    /// Lanes there were, summed over issued instructions.
    pub total_lanes: u64,
    /// Input elements read by active lanes.
    pub fetches: u64,
    /// Bytes requested by those reads.
    pub fetch_bytes: u64,
    /// Output elements written.
    pub writes: u64,
    /// Bytes those writes stored.
    pub write_bytes: u64,
    /// Clocks of the ALU.
    pub alu_clocks: u64,
    /// Clocks of the texture unit.
    pub tex_clocks: u64,
    /// Clocks of flow control.
    pub fc_clocks: u64,
}

impl Counters {
    /// Instructions issued, all types.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.alu + self.output + self.tex + self.fc
    }

    /// Clocks of the launch: the three units work in parallel on different groups, so the busiest one decides.
    #[must_use]
    pub fn clocks(&self) -> u64 {
        self.alu_clocks.max(self.tex_clocks).max(self.fc_clocks)
    }

    /// Only free counters: groups, processors and writes. All others are 0, as in a launch that did not ask for them.
    #[must_use]
    pub fn cheap(&self) -> Self {
        let Self { groups, processors, writes, write_bytes, .. } = *self;
        Self { groups, processors, writes, write_bytes, ..Self::default() }
    }

    /// The difference since these were taken; not groups and processors, which are counted at the end.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            groups: 0,
            processors: 0,
            alu: self.alu - before.alu,
            output: self.output - before.output,
            tex: self.tex - before.tex,
            fc: self.fc - before.fc,
            active_lanes: self.active_lanes - before.active_lanes,
            total_lanes: self.total_lanes - before.total_lanes,
            fetches: self.fetches - before.fetches,
            fetch_bytes: self.fetch_bytes - before.fetch_bytes,
            writes: self.writes - before.writes,
            write_bytes: self.write_bytes - before.write_bytes,
            alu_clocks: self.alu_clocks - before.alu_clocks,
            tex_clocks: self.tex_clocks - before.tex_clocks,
            fc_clocks: self.fc_clocks - before.fc_clocks,
        }
    }

    /// Adds another launch or group.
    pub fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.processors += other.processors;
        self.alu += other.alu;
        self.output += other.output;
        self.tex += other.tex;
        self.fc += other.fc;
        self.active_lanes += other.active_lanes;
        self.total_lanes += other.total_lanes;
        self.fetches += other.fetches;
        self.fetch_bytes += other.fetch_bytes;
        self.writes += other.writes;
        self.write_bytes += other.write_bytes;
        self.alu_clocks += other.alu_clocks;
        self.tex_clocks += other.tex_clocks;
        self.fc_clocks += other.fc_clocks;
    }
}

/// The result of a launch that did not fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Its statistics.
    pub counters: Counters,
    /// Findings of a checked run; empty when checks are off.
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// The outcome of a launch with or without counters.
    #[must_use]
    pub fn counted(self, counters: bool) -> Self {
        if counters { self } else { Self { counters: self.counters.cheap(), ..self } }
    }
}

/// Runs programs.
pub trait Engine: Send + Sync {
    /// The name people type: `interp`.
    fn name(&self) -> &'static str;

    /// Runs one X1K program over one domain.
    ///
    /// # Errors
    /// The fault of the first group, in domain order, that did wrong. Groups before it have written their outputs; whether groups after it have is unspecified
    /// where memory maps its arrays ([`x1k::Memory::direct`]).
    fn run_x1k(&self, launch: &x1k::Launch<'_>, memory: &mut dyn x1k::Memory) -> Result<Outcome, Fault> {
        self.run_x1k_under(&Control::none(), launch, memory)
    }

    /// The same under a [`Control`], which can end it.
    ///
    /// # Errors
    /// As [`Self::run_x1k`], and [`FaultKind::Cancelled`].
    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault>;

    /// Runs one R700 program over one domain.
    ///
    /// # Errors
    /// The fault of the first wavefront, in domain order, that did wrong. Wavefronts before it have sent their exports; where memory maps its
    /// targets ([`r700::Memory::direct`]), some after it may have stored theirs. An engine that does not run R700 programs gives [`FaultKind::Unsupported`].
    fn run_r700(&self, launch: &r700::Launch<'_>, memory: &mut dyn r700::Memory) -> Result<Outcome, Fault> {
        self.run_r700_under(&Control::none(), launch, memory)
    }

    /// The same under a [`Control`], which can end it.
    ///
    /// # Errors
    /// As [`Self::run_r700`], and [`FaultKind::Cancelled`].
    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let _ = (control, memory);
        let feature = format!("the engine {} does not run R700 programs", self.name());
        let kind = FaultKind::Unsupported { feature, section: "R700" };
        Err(Fault { kind, pc: launch.program.entry, position: None })
    }
}
