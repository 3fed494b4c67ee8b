//! The recorder of a watched clause: its effects, lane by lane.

use crate::observe::{LaneEvent, Lanes};
use crate::outcome::Counters;

/// Effects of the current clause, lane by lane.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// The unit's number of the wavefront's first lane.
    pub(super) first_lane: usize,
    /// Lanes of the unit whose values are requested.
    pub(super) wanted: Lanes,
    /// The lanes that the ALU clause runs for.
    pub(super) executing: Lanes,
    /// Of an ALU clause: each lane with its groups.
    pub(super) lanes: Vec<(usize, Vec<LaneEvent>)>,
    /// Of a fetch clause: executing lanes of each fetch, effects on lanes, and the counters after it.
    pub(super) fetches: Vec<(Lanes, Vec<LaneEvent>, Counters)>,
}

impl Recorder {
    /// The lanes of the wavefront that execute an ALU clause.
    pub(super) fn executes(&mut self, executes: &[bool]) {
        let first = self.first_lane;
        self.executing = lanes_of(executes, first);
    }

    /// The destination of a lane's groups, if they are requested.
    pub(super) fn lane(&mut self, lane: usize) -> Option<&mut Vec<LaneEvent>> {
        let lane = self.first_lane + lane;
        if !self.wanted.contains(lane) {
            return None;
        }
        self.lanes.push((lane, Vec::new()));
        self.lanes.last_mut().map(|entry| &mut entry.1)
    }
}

/// The lanes of a unit that execute, where those of the wavefront begin at `first`.
pub(super) fn lanes_of(executes: &[bool], first: usize) -> Lanes {
    (0..executes.len()).filter(|&lane| executes[lane]).map(|lane| first + lane).collect()
}
