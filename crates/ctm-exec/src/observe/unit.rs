//! Units of both machines under way, and their watchers.

use super::event::{Detail, Event};
use super::flow::Flow;
use super::place::{Place, WatchedIsa};
use crate::domain::Position;
use crate::fault::Fault;
use crate::{r700, x1k};
use std::ops::ControlFlow;

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
    pub const fn isa(&self) -> WatchedIsa {
        match self {
            Self::X1k(_) => WatchedIsa::X1k,
            Self::R700(_) => WatchedIsa::R700,
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
