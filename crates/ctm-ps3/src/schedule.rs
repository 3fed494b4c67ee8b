//! From operations to instruction slots: lookups early and together, an RGB and an alpha half side by side where nothing forbids it.

use crate::address;
use crate::graph::{BlockGraph, slot};
use crate::ir::{Alu, Reg, VirtualProgram, VirtualStatement, channels};
use std::collections::BTreeMap;

/// One instruction slot: one or two halves, or another statement.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all of them are of the large kind")]
pub(crate) enum Slot {
    Alu(Alu, Option<Alu>),
    Other(VirtualStatement),
}

impl Slot {
    pub fn insts(&self) -> impl Iterator<Item = VirtualStatement> {
        let list = match self {
            Self::Alu(a, b) => vec![
                VirtualStatement::Alu(a.clone()),
                b.clone().map_or_else(|| VirtualStatement::Alu(a.clone()), VirtualStatement::Alu),
            ],
            Self::Other(inst) => vec![inst.clone()],
        };
        let count = if matches!(self, Self::Alu(_, None)) { 1 } else { list.len() };
        list.into_iter().take(count)
    }
}

/// How many slots a lookup's result should wait for.
const LOOKUP: u32 = 8;
/// Lookups in a row, so that their results do not fill the registers.
const LOOKUPS: u32 = 16;

/// The order to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the longest way to the end of the block.
    Critical,
    /// As the text has it: the fewest registers.
    Text,
}

/// Something that statements write and read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Temp(usize),
    Predicate(u8),
    Output(u8, u8),
    Depth,
    Result,
}

fn touched(inst: &VirtualStatement, code: &VirtualProgram) -> (Vec<Thing>, Vec<Thing>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    crate::graph::reads(inst, code, |v, c| reads.push(Thing::Temp(slot(v, c))));
    writes.extend(inst.writes().map(|(v, c)| Thing::Temp(slot(v, c))));
    if let Some(guard) = inst.guard() {
        // Which bits matter depends on the channels; all of them is near enough for a whole predicate.
        match guard.channel {
            Some(c) => reads.push(Thing::Predicate(c)),
            None => reads.extend((0..4).map(Thing::Predicate)),
        }
    }
    if let VirtualStatement::Alu(alu) = inst {
        if alu.dest.pred.is_some() {
            writes.extend(channels(alu.dest.mask).map(Thing::Predicate));
        }
        if let Some(out) = alu.dest.out {
            writes.extend(channels(alu.dest.mask).map(|c| Thing::Output(out, c)));
        }
        if alu.dest.w {
            writes.push(Thing::Depth);
        }
        if alu.dest.result.is_some() {
            writes.push(Thing::Result);
        }
    }
    (reads, writes)
}

struct ScheduleNode {
    /// Statements that must be in an earlier slot, or (weak) not in a later one.
    before: Vec<(usize, bool)>,
    rank: u32,
    latency: u32,
}

fn nodes(insts: &[VirtualStatement], code: &VirtualProgram) -> Vec<ScheduleNode> {
    let mut nodes: Vec<ScheduleNode> = Vec::with_capacity(insts.len());
    let mut writer: BTreeMap<Thing, usize> = BTreeMap::new();
    let mut readers: BTreeMap<Thing, Vec<usize>> = BTreeMap::new();
    for (n, inst) in insts.iter().enumerate() {
        let (reads, writes) = touched(inst, code);
        let mut before: BTreeMap<usize, bool> = BTreeMap::new();
        for thing in &reads {
            if let Some(&w) = writer.get(thing) {
                before.insert(w, false);
            }
        }
        for thing in &writes {
            if let Some(&w) = writer.get(thing) {
                before.insert(w, false);
            }
            for &r in readers.get(thing).into_iter().flatten() {
                before.entry(r).or_insert(true);
            }
        }
        for thing in &reads {
            readers.entry(*thing).or_default().push(n);
        }
        for thing in &writes {
            writer.insert(*thing, n);
            readers.remove(thing);
        }
        before.remove(&n);
        let latency = if matches!(inst, VirtualStatement::Tex(_)) { LOOKUP } else { 1 };
        nodes.push(ScheduleNode { before: before.into_iter().collect(), rank: 0, latency });
    }
    for n in (0..nodes.len()).rev() {
        let rank = nodes[n].rank;
        for (b, weak) in nodes[n].before.clone() {
            let through = rank + if weak { 0 } else { nodes[b].latency };
            nodes[b].rank = nodes[b].rank.max(through);
        }
    }
    nodes
}

/// Whether the two halves can share a slot.
fn pairs(a: &Alu, b: &Alu) -> bool {
    if a.uses_rgb() && b.uses_rgb() || a.uses_alpha() && b.uses_alpha() {
        return false;
    }
    let output = |alu: &Alu| alu.dest.out.is_some() || alu.dest.w;
    let flags = |alu: &Alu| alu.dest.pred.is_some() || alu.dest.result.is_some();
    if output(a) && flags(b) || output(b) && flags(a) {
        return false;
    }
    address::fits(&[a, b])
}

/// Schedules every block.
pub(crate) fn schedule(code: &VirtualProgram, order: Order) -> Vec<Slot> {
    let graph = BlockGraph::of(&code.insts);
    let mut slots = Vec::with_capacity(code.insts.len());
    for block in &graph.blocks {
        let mut list = &code.insts[block.range.clone()];
        let mut flow = None;
        if let Some((last @ VirtualStatement::Flow(..), rest)) = list.split_last() {
            (flow, list) = (Some(last.clone()), rest);
        }
        straight(list, code, order, &mut slots);
        slots.extend(flow.map(Slot::Other));
    }
    slots
}

fn straight(insts: &[VirtualStatement], code: &VirtualProgram, order: Order, slots: &mut Vec<Slot>) {
    let nodes = nodes(insts, code);
    let mut done = vec![false; insts.len()];
    let mut left = insts.len();
    let mut lookups = 0;
    while left > 0 {
        let ready = |n: usize| !done[n] && nodes[n].before.iter().all(|&(b, _)| done[b]);
        let candidates = (0..insts.len()).filter(|&n| ready(n));
        let key = |n: usize| {
            let alu = matches!(insts[n], VirtualStatement::Alu(_));
            let first = alu != (lookups < LOOKUPS);
            match order {
                Order::Critical => (first, nodes[n].rank, std::cmp::Reverse(n)),
                Order::Text => (false, 0, std::cmp::Reverse(n)),
            }
        };
        // Something is always ready: the first remaining statement of the text waits for nothing.
        let Some(chosen) = candidates.max_by_key(|&n| key(n)) else { return };
        done[chosen] = true;
        left -= 1;
        let VirtualStatement::Alu(a) = &insts[chosen] else {
            lookups += 1;
            slots.push(Slot::Other(insts[chosen].clone()));
            continue;
        };
        lookups = 0;
        let partner = (0..insts.len())
            .filter(|&n| {
                !done[n]
                    && nodes[n].before.iter().all(|&(b, weak)| done[b] && (b != chosen || weak))
                    && matches!(&insts[n], VirtualStatement::Alu(b) if pairs(a, b))
            })
            .max_by_key(|&n| (nodes[n].rank, std::cmp::Reverse(n)));
        let partner = partner.and_then(|n| match &insts[n] {
            VirtualStatement::Alu(b) => {
                done[n] = true;
                left -= 1;
                Some(b.clone())
            }
            _ => None,
        });
        slots.push(Slot::Alu(a.clone(), partner));
    }
}

/// The registers that a half reads by address, for allocation.
pub(crate) fn copies(alu: &Alu) -> Option<(u32, u32)> {
    if !alu.is_copy() || alu.guard.is_some() {
        return None;
    }
    let to = alu.dest.temp_of(channels(alu.dest.mask).next()?)?;
    let mut from = None;
    for c in channels(alu.dest.mask) {
        match alu.src[0].comps[usize::from(c)] {
            crate::ir::Comp::Read(Reg::Temp(v), channel) if channel == c && *from.get_or_insert(v) == v => {}
            _ => return None,
        }
    }
    (!alu.src[0].has_modifier()).then_some((to, from?))
}
