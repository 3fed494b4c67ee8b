//! Live ranges: which instructions read a value, and how many register elements hold one that is still read.
//!
//! A value is one instruction's write to elements of one register. It is live until the last instruction, on any path, that reads it before all of its
//! elements are written over. A write that may not happen for every processor (a predicate, a relative register) ends no other value. Changes of masks between two
//! instructions are taken from the paths: a processor that waits while others go through a branch is on the path around it.
//!
//! [`crate::x1k::check::live`], [`crate::pvs::check::live`] and [`crate::r700::check::live`] make the nodes; everything else is here.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A set of elements of registers: four bits for each of the 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels([u64; 8]);

impl Channels {
    /// Every channel of every register.
    pub(crate) const ALL: Self = Self([u64::MAX; 8]);

    /// Adds the channels of `mask` (bit 0 is red or x) of one register.
    pub(crate) fn insert(&mut self, register: u8, mask: u8) {
        self.0[usize::from(register / 16) & 7] |= u64::from(mask & 0xf) << (u32::from(register % 16) * 4);
    }

    /// Adds the channels of `mask` of every register: an index can select any.
    pub(crate) fn insert_everywhere(&mut self, mask: u8) {
        self.0.iter_mut().for_each(|word| *word |= 0x1111_1111_1111_1111 * u64::from(mask & 0xf));
    }

    /// Takes channels of one register away.
    pub(crate) fn remove(&mut self, register: u8, mask: u8) {
        self.0[usize::from(register / 16) & 7] &= !(u64::from(mask & 0xf) << (u32::from(register % 16) * 4));
    }

    /// The channels of one register that are in the set: bit 0 is red or x.
    #[must_use]
    pub fn of(&self, register: u8) -> u8 {
        ((self.0[usize::from(register / 16) & 7] >> (u32::from(register % 16) * 4)) & 0xf) as u8
    }

    /// Empties the set.
    pub(crate) fn clear(&mut self) {
        self.0 = [0; 8];
    }

    /// Whether the sets have a channel in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Adds another set; says whether anything was new.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            grew |= *mine | theirs != *mine;
            *mine |= theirs;
        }
        grew
    }

    /// How many channels are in the set.
    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Without those of another set.
    fn without(&self, other: &Self) -> Self {
        let mut left = *self;
        left.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine &= !theirs);
        left
    }
}

/// An instruction's write to one register, and its readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveValue {
    /// The slot of the instruction: an index into a program's `spans`.
    pub slot: u32,
    /// The register, 0 to 127.
    pub register: u8,
    /// Its elements: bit 0 is red or x.
    pub mask: u8,
    /// The slots of the instructions that read it, sorted.
    pub readers: Vec<u32>,
}

/// The values of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Liveness {
    /// Every value that a reachable instruction writes to a register known from the words, by slot.
    pub values: Vec<LiveValue>,
    /// Slot of each reachable instruction, and how many register elements hold a value before it that is still read; by slot.
    pub pressure: Vec<(u32, u32)>,
    /// The program has more paths than were followed: nothing is said of it.
    pub incomplete: bool,
}

/// A write to one register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterWrite {
    pub(crate) slot: u32,
    pub(crate) register: u8,
    pub(crate) mask: u8,
    /// Every processor that comes by writes it.
    pub(crate) certain: bool,
}

/// An instruction on the paths of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathNode {
    pub(crate) slot: u32,
    /// Its reads, with their slots.
    pub(crate) reads: Vec<(u32, Channels)>,
    pub(crate) writes: Vec<RegisterWrite>,
    pub(crate) next: Vec<usize>,
    /// The slots that do nothing but their writes.
    pub(crate) pure: Vec<u32>,
    /// Its reads of neighbours' registers, which may not have gone the same path.
    pub(crate) of_neighbours: Channels,
}

/// Steps along paths after which a program is given up.
const EFFORT: usize = 4_000_000;

/// The values of the nodes of a program.
pub(crate) fn solve(nodes: &[PathNode]) -> Liveness {
    let mut result = Liveness::default();
    let all = |node: &PathNode| {
        let mut set = Channels::default();
        node.reads.iter().for_each(|(_, read)| {
            set.join(read);
        });
        set
    };
    let reads: Vec<Channels> = nodes.iter().map(all).collect();
    let kills: Vec<Channels> = nodes
        .iter()
        .map(|node| {
            let mut set = Channels::default();
            node.writes.iter().filter(|w| w.certain).for_each(|w| set.insert(w.register, w.mask));
            set
        })
        .collect();
    let mut effort = 0;
    let mut live: Vec<Channels> = reads.clone();
    let mut grew = true;
    while grew && effort < EFFORT {
        grew = false;
        for (n, node) in nodes.iter().enumerate().rev() {
            let mut after = Channels::default();
            node.next.iter().filter_map(|&next| live.get(next)).for_each(|next| {
                after.join(next);
            });
            let before = after.without(&kills[n]);
            grew |= live[n].join(&before);
            effort += 1;
        }
    }
    for (node, live) in nodes.iter().zip(&live) {
        result.pressure.push((node.slot, live.count()));
    }
    // A subroutine has a node for each way of calling it.
    result.pressure.sort_unstable();
    result.pressure.reverse();
    result.pressure.dedup_by_key(|entry| entry.0);
    result.pressure.reverse();
    let mut known: HashMap<(u32, u8, u8), usize> = HashMap::new();
    let mut seen = VisitedElements { masks: vec![0; nodes.len()], touched: Vec::new() };
    for node in nodes {
        for write in &node.writes {
            let readers = readers(nodes, &kills, node, write, &mut seen, &mut effort);
            let RegisterWrite { slot, register, mask, .. } = *write;
            match known.entry((slot, register, mask)) {
                Entry::Occupied(known) => result.values[*known.get()].readers.extend(readers),
                Entry::Vacant(place) => {
                    place.insert(result.values.len());
                    result.values.push(LiveValue { slot, register, mask, readers });
                }
            }
        }
        if effort > EFFORT {
            return Liveness { incomplete: true, ..Liveness::default() };
        }
    }
    for value in &mut result.values {
        value.readers.sort_unstable();
        value.readers.dedup();
    }
    result.values.sort_by_key(|value| (value.slot, value.register, value.mask));
    result
}

/// The elements whose initial values have no effect on a program that begins at the first node. Reads for results that nothing uses do not count.
pub(crate) fn unused_at_start(nodes: &[PathNode]) -> Channels {
    let mut used = vec![Channels::default(); nodes.len()];
    let (mut grew, mut effort) = (true, 0);
    while grew {
        grew = false;
        for (n, node) in nodes.iter().enumerate().rev() {
            let mut after = Channels::default();
            for next in node.next.iter().filter_map(|&next| used.get(next)) {
                after.join(next);
            }
            let is_used = |write: &&RegisterWrite| after.of(write.register) & write.mask != 0;
            let counts = |slot: &u32| {
                !node.pure.contains(slot) || node.writes.iter().filter(|write| write.slot == *slot).any(|w| is_used(&w))
            };
            let mut written = Channels::default();
            node.writes.iter().filter(|w| w.certain).for_each(|w| written.insert(w.register, w.mask));
            let mut before = after.without(&written);
            for (_, read) in node.reads.iter().filter(|(slot, _)| counts(slot)) {
                before.join(read);
            }
            grew |= used[n].join(&before);
            effort += 1;
        }
        if effort > EFFORT {
            return Channels::default();
        }
    }
    let Some(mut all) = used.first().copied() else { return Channels::default() };
    for node in nodes {
        all.join(&node.of_neighbours);
    }
    Channels::ALL.without(&all)
}

/// Which elements have been followed to each node, cleared in proportion to the nodes that were reached.
struct VisitedElements {
    masks: Vec<u8>,
    touched: Vec<usize>,
}

/// The slots that read a written value.
fn readers(
    nodes: &[PathNode],
    kills: &[Channels],
    from: &PathNode,
    write: &RegisterWrite,
    seen: &mut VisitedElements,
    effort: &mut usize,
) -> Vec<u32> {
    let mut found = Vec::new();
    seen.touched.drain(..).for_each(|at| seen.masks[at] = 0);
    let mut open: Vec<(usize, u8)> = from.next.iter().map(|&next| (next, write.mask)).collect();
    while let Some((at, mask)) = open.pop() {
        *effort += 1;
        let (Some(node), Some(followed)) = (nodes.get(at), seen.masks.get_mut(at)) else { continue };
        if mask & !*followed == 0 || *effort > EFFORT {
            continue;
        }
        *followed |= mask;
        seen.touched.push(at);
        found.extend(node.reads.iter().filter(|(_, set)| set.of(write.register) & mask != 0).map(|(slot, _)| *slot));
        let left = mask & !kills[at].of(write.register);
        if left != 0 {
            open.extend(node.next.iter().map(|&next| (next, left)));
        }
    }
    found
}
