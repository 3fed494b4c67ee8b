//! Watching a launch: the reads and writes of every instruction, lane by lane, and the state of flow control after it.
//!
//! The X1K interpreter has no code for this; the R700 interpreter has a recorder of lane events within clauses. A [`Unit`] is a running group of processors: it executes one instruction at a time on the
//! interpreter's own state, compares that state before and after, and reports differences as [`Event`]s. An unwatched launch does not use this module.
//!
//! | file | content |
//! |---|---|
//! | `place` | the places that hold values, and their names |
//! | `tap` | memories that log accesses |
//! | `crate::x1k::observe`, `crate::r700::observe` | the units of the two machines, and launches cut into them |
//!
//! Begin with [`Event`], then [`Unit`].

pub mod place;
pub mod tap;

pub use place::{Isa, Place, PlaceError};

use crate::engine::{Counters, Fault, Position};
use crate::{r700, x1k};
use std::ops::ControlFlow;

/// A set of the lanes of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes(Vec<u64>);

impl Lanes {
    /// No lane.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The first `count` lanes.
    #[must_use]
    pub fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// Whether the lane belongs to it.
    #[must_use]
    pub fn contains(&self, lane: usize) -> bool {
        self.0.get(lane / 64).is_some_and(|word| word >> (lane % 64) & 1 == 1)
    }

    /// Adds a lane.
    pub fn insert(&mut self, lane: usize) {
        if self.0.len() <= lane / 64 {
            self.0.resize(lane / 64 + 1, 0);
        }
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    /// How many lanes it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Its lanes in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|&lane| self.contains(lane))
    }
}

impl FromIterator<usize> for Lanes {
    fn from_iter<I: IntoIterator<Item = usize>>(lanes: I) -> Self {
        let mut set = Self::none();
        lanes.into_iter().for_each(|lane| set.insert(lane));
        set
    }
}

/// The place of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// X1K: the slot. R700: the slot of the control-flow instruction.
    pub pc: u32,
    /// R700: the group or fetch of the clause, from 0; `None` for the control-flow instruction itself.
    pub item: Option<u16>,
    /// R700: it lies in the fetch program.
    pub fetch: bool,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.fetch {
            f.write_str("fs:")?;
        }
        write!(f, "{}", self.pc)?;
        self.item.map_or(Ok(()), |item| write!(f, ".{item}"))
    }
}

/// A value that an instruction read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Where from.
    pub place: Place,
    /// Whose: the lane itself, or another one of its quad (MDH, MDV, gradients).
    pub lane: u16,
    /// The 32 bits, before any modifier.
    pub bits: u32,
    /// Which results depend on it: see [`Write::part`].
    pub parts: u8,
}

/// A read on which, or a write that, all results depend.
pub const ALL_PARTS: u8 = 0xff;

/// A value that an instruction wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where to.
    pub place: Place,
    /// The old value; 0 for memory, which is not read.
    pub old: u32,
    /// The new value.
    pub bits: u32,
    /// Which result of the instruction it is, as one bit: X1K, bit 0 = r to 3 = a; R700, bit 0 = x to 4 = t. A result depends on the reads that
    /// have its bit.
    pub part: u8,
}

/// The effect of an instruction on one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneEvent {
    /// The lane of the unit.
    pub lane: u16,
    /// Its reads, in the order of its operands.
    pub reads: Vec<Read>,
    /// Its writes. Of writes to the same place the last one counts.
    pub writes: Vec<Write>,
}

impl LaneEvent {
    /// Adds memory accesses.
    pub(crate) fn access(&mut self, place: Place, bits: u32, written: bool) {
        if written {
            self.writes.push(Write { place, old: 0, bits, part: ALL_PARTS });
        } else {
            self.reads.push(Read { place, lane: self.lane, bits, parts: ALL_PARTS });
        }
    }
}

/// One instruction as it was executed: of X1K a slot, of R700 an instruction group, a fetch, or a control-flow instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its place.
    pub at: At,
    /// R700: which wavefront of the thread group; otherwise 0.
    pub wave: u16,
    /// The lanes that executed it.
    pub executing: Lanes,
    /// The effects on each requested lane.
    pub lanes: Vec<LaneEvent>,
    /// The state of flow control after it, where the instruction can change it.
    pub flow: Option<Flow>,
    /// Its increments of the launch's counters.
    pub cost: Counters,
}

/// The flow-control state of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFlow {
    /// Why it executes or does not.
    pub state: LaneState,
    /// X1K: covered (CTM §2.1.2). R700: valid (R700 §3.6.1).
    pub covered: bool,
}

/// Why a lane executes or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It executes.
    Running,
    /// A branch made it inactive; X1K: its branch counter.
    Branch(u8),
    /// It waits for the next iteration of the loop at this depth of the stack (0 the outermost).
    Continue(u16),
    /// It has left the loop at this depth.
    Break(u16),
}

impl LaneState {
    /// One character for pictures of masks: `#` runs, digits and `+` wait in a branch, `c` continue, `b` break.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Running => '#',
            Self::Branch(n) if n < 10 => (b'0' + n) as char,
            Self::Branch(_) => '+',
            Self::Continue(_) => 'c',
            Self::Break(_) => 'b',
        }
    }
}

impl std::fmt::Display for LaneState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Branch(n) => write!(f, "inactive by a branch (counter {n})"),
            Self::Continue(depth) => write!(f, "waits for the next iteration of loop {depth}"),
            Self::Break(depth) => write!(f, "has left loop {depth}"),
        }
    }
}

/// An entry of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A loop: iterations left, this one included (`None`: no count), and its index aL if it has one.
    Loop {
        /// Iterations left.
        left: Option<u32>,
        /// aL.
        index: Option<i32>,
    },
    /// A subroutine: where it returns to.
    Call(u32),
    /// A pushed state of all pixels (R700 §3.6.1).
    State,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loop { left, index } => {
                f.write_str("loop")?;
                if let Some(left) = left {
                    write!(f, " left={left}")?;
                }
                index.map_or(Ok(()), |index| write!(f, " aL={index}"))
            }
            Self::Call(back) => write!(f, "call back={back}"),
            Self::State => f.write_str("state"),
        }
    }
}

/// The state of flow control of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// The first lane that `lanes` speaks of: of R700 thread groups, that of the wavefront.
    pub first_lane: u16,
    /// Each lane of the group or wavefront.
    pub lanes: Vec<LaneFlow>,
    /// The stack, outermost first. X1K: loops, then addresses.
    pub stack: Vec<Frame>,
    /// Where it goes on; `None` when the program has ended.
    pub next: Option<u32>,
}

impl Flow {
    /// The state of a lane, if it speaks of it.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Option<LaneFlow> {
        self.lanes.get(lane.checked_sub(usize::from(self.first_lane))?).copied()
    }
}

/// The requested detail of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail<'a> {
    /// Nothing but that it was executed.
    None,
    /// The executing lanes, the cost, and the state of flow control.
    Masks,
    /// In addition, the reads and writes of these lanes.
    Values(&'a Lanes),
}

impl Detail<'_> {
    /// Whether the values of a lane are requested.
    #[must_use]
    pub fn wants(&self, lane: usize) -> bool {
        matches!(self, Self::Values(lanes) if lanes.contains(lane))
    }
}

/// A group of processors under way, on either machine. R700: a wavefront, or the wavefronts of a thread group.
pub enum Unit<'a> {
    /// Of an X1K program.
    X1k(x1k::observe::Unit<'a>),
    /// Of an R700 program.
    R700(r700::observe::Unit<'a>),
}

/// The state of a unit, to come back to. Memory is not part of it: a unit replays its reads.
#[derive(Clone, Debug)]
pub enum Snapshot {
    /// Of an X1K program.
    X1k(Box<x1k::observe::State>),
    /// Of an R700 program.
    R700(Box<r700::observe::State>),
}

macro_rules! both {
    ($self:ident, $unit:ident => $body:expr) => {
        match $self {
            Unit::X1k($unit) => $body,
            Unit::R700($unit) => $body,
        }
    };
}

impl Unit<'_> {
    /// Which machine.
    #[must_use]
    pub const fn isa(&self) -> Isa {
        match self {
            Self::X1k(_) => Isa::X1k,
            Self::R700(_) => Isa::R700,
        }
    }

    /// The index pair of each lane.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        both!(self, unit => unit.positions())
    }

    /// Calls the lanes something else than their index pairs from here on, one name for each: pixels of a draw, say.
    pub fn rename(&mut self, names: Vec<Position>) {
        both!(self, unit => unit.rename(names));
    }

    /// Whether the program has ended for all of it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        both!(self, unit => unit.has_ended())
    }

    /// Where it goes on: X1K the slot, R700 that of the wavefront whose turn it is.
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        both!(self, unit => unit.pc())
    }

    /// The state of flow control: R700, of wavefront `wave`.
    #[must_use]
    pub fn flow(&self, wave: u16) -> Flow {
        both!(self, unit => unit.flow(wave))
    }

    /// The value of a place for a lane; `None` for places that hold nothing between instructions, and for memory.
    #[must_use]
    pub fn value(&self, lane: usize, place: Place) -> Option<u32> {
        both!(self, unit => unit.value(lane, place))
    }

    /// Sets the value of a place, for experiments; `false` where that cannot be.
    pub fn set(&mut self, lane: usize, place: Place, bits: u32) -> bool {
        both!(self, unit => unit.set(lane, place, bits))
    }

    /// Executes the next instruction (R700: the next control-flow instruction with its clause) and returns its event.
    ///
    /// # Errors
    /// The fault. Earlier events of its clause are in `events`.
    pub fn step(&mut self, detail: Detail<'_>, events: &mut Vec<Event>) -> Result<(), Fault> {
        both!(self, unit => unit.step(detail, events))
    }

    /// The state as it is.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::X1k(unit) => Snapshot::X1k(Box::new(unit.snapshot())),
            Self::R700(unit) => Snapshot::R700(Box::new(unit.snapshot())),
        }
    }

    /// Goes back to a state of the same unit.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        match (self, snapshot) {
            (Self::X1k(unit), Snapshot::X1k(state)) => unit.restore(state),
            (Self::R700(unit), Snapshot::R700(state)) => unit.restore(state),
            (Self::X1k(_), Snapshot::R700(_)) | (Self::R700(_), Snapshot::X1k(_)) => {}
        }
    }
}

/// The treatment of a group of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing, if no other group can notice; otherwise it runs.
    Skip,
    /// It runs.
    Run,
    /// It is watched.
    Watch,
}

/// A watcher of a launch.
pub trait Watcher {
    /// The treatment of the group whose lanes are at `positions`.
    fn wish(&mut self, positions: &[Position]) -> Wish;

    /// A group that is watched, at its start. On [`ControlFlow::Continue`] it runs to its end, its outputs are committed, and the launch goes on;
    /// on `Break` the launch ends with [`FaultKind::Stopped`](crate::FaultKind::Stopped).
    ///
    /// # Errors
    /// A fault that the watcher met in stepping; it ends the launch.
    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault>;
}
