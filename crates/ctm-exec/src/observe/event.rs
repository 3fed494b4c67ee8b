//! Events of watched launches: the effects of one instruction on the lanes of a unit.

use super::flow::Flow;
use super::place::Place;
use crate::outcome::Counters;

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

/// The parts of a read on which all results of the instruction depend, and of a write that depends on all of its reads.
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
    /// Which result of the instruction it is, as one bit: X1K, bit 0 = r to 3 = a; R700, bit 0 = x to 4 = t, of exports bit 0 = x to 3 = w, and from bit 4 on for
    /// every other register of a burst. A result depends on the reads that have its bit.
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
