//! Live ranges of values in one processor's registers, and its longest chain of dependent instructions.

use crate::record::Trace;
use ctm_exec::observe::Place;
use std::collections::HashMap;

/// A value in a register, from the instruction that wrote it to the last one that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The register element.
    pub place: Place,
    /// The time of the write; `None`: it was there at the start.
    pub from: Option<u64>,
    /// The time of the last read; `None`: nothing read it.
    pub to: Option<u64>,
}

/// The values of one processor.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// Every value, in the order of their writes.
    pub ranges: Vec<LiveRange>,
    /// How many register elements hold a value that is still read, before each instruction of [`Trace::steps`].
    pub pressure: Vec<usize>,
    /// Instructions of the longest chain in which each needs the one before it, as numbers of [`Trace::steps`].
    pub chain: Vec<usize>,
}

const fn is_register(place: Place) -> bool {
    matches!(place, Place::Temp(..) | Place::Gpr(..) | Place::Global(..))
}

impl Trace {
    /// The values of a lane as the program ran for it.
    #[must_use]
    pub fn liveness(&self, lane: usize) -> Liveness {
        let mut result = Liveness::default();
        let mut current: HashMap<Place, usize> = HashMap::new();
        // Length of the longest chain to a place, and the instruction that ends it.
        let mut reached: HashMap<Place, (usize, usize)> = HashMap::new();
        let mut before: Vec<Option<usize>> = vec![None; self.steps.len()];
        let mut longest = (0, None);
        for (n, step) in self.steps.iter().enumerate() {
            let Some(event) = step.event.lanes.iter().find(|e| usize::from(e.lane) == lane) else { continue };
            for read in event.reads.iter().filter(|r| is_register(r.place) && usize::from(r.lane) == lane) {
                let range = *current.entry(read.place).or_insert_with(|| {
                    result.ranges.push(LiveRange { place: read.place, from: None, to: None });
                    result.ranges.len() - 1
                });
                result.ranges[range].to = Some(step.time);
            }
            let mut made = Vec::new();
            for write in &event.writes {
                let needs = event.reads.iter().filter(|r| r.parts & write.part != 0 && usize::from(r.lane) == lane);
                let deepest = needs.filter_map(|read| reached.get(&read.place)).max().copied();
                let length = deepest.map_or(0, |d| d.0) + 1;
                made.push((write.place, (length, n)));
                if length > longest.0 {
                    longest = (length, Some(n));
                    before[n] = deepest.map(|d| d.1);
                } else if before[n].is_none() {
                    before[n] = deepest.map(|d| d.1);
                }
                if is_register(write.place) {
                    result.ranges.push(LiveRange { place: write.place, from: Some(step.time), to: None });
                    current.insert(write.place, result.ranges.len() - 1);
                }
            }
            reached.extend(made);
        }
        let mut next = longest.1;
        while let Some(n) = next {
            result.chain.push(n);
            next = before[n].filter(|&earlier| earlier < n);
        }
        result.chain.reverse();
        let mut changes: Vec<(u64, isize)> = Vec::new();
        for range in &result.ranges {
            if let Some(to) = range.to {
                changes.push((range.from.map_or(0, |from| from + 1), 1));
                changes.push((to + 1, -1));
            }
        }
        changes.sort_unstable();
        let (mut at, mut live) = (0, 0isize);
        for step in &self.steps {
            while let Some(&(time, change)) = changes.get(at).filter(|change| change.0 <= step.time) {
                let _ = time;
                live += change;
                at += 1;
            }
            result.pressure.push(usize::try_from(live).unwrap_or(0));
        }
        result
    }
}
