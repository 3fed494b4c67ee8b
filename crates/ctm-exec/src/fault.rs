//! Faults of a running program, and the limits beyond which it has one.

use crate::domain::Position;
use std::time::Duration;

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
    /// The caller cancelled the launch ([`Control::cancel`](crate::Control::cancel)).
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
