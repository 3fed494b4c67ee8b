//! Watching a launch: the reads and writes of every instruction, lane by lane, and the state of flow control after it.
//!
//! The X1K interpreter has no code for this; the R700 interpreter has a recorder of lane events within clauses. A [`Unit`] is a running group of processors: it executes one instruction at a time on the
//! interpreter's own state, compares that state before and after, and reports differences as [`Event`]s. An unwatched launch does not use this module.
//!
//! | file | content |
//! |---|---|
//! | `place` | the places that hold values, and their names |
//! | `flow`, `event` | the state of flow control, and the effects of an instruction |
//! | `tap` | memories that log accesses |
//! | `unit` | a unit of either machine, and the watcher of a launch |
//! | `crate::x1k::observe`, `crate::r700::observe` | the units of the two machines, and launches cut into them |
//!
//! Begin with [`Event`], then [`Unit`].

mod event;
mod flow;
pub mod place;
pub mod tap;
mod unit;

pub use event::{ALL_PARTS, At, Detail, Event, LaneEvent, Lanes, Read, Write};
pub use flow::{Flow, LaneFlow, LaneState, StackFrame};
pub use place::{Place, PlaceError, WatchedIsa};
pub use unit::{Snapshot, Unit, Watcher, Wish};
