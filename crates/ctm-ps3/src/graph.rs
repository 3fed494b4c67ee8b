//! The control-flow graph of statements, and data-flow analyses on it: liveness and reaching writes.
//!
//! Only a processor's own path counts: processors that are masked out change nothing. Calls are followed without their context.

use crate::ir::{FlowStatement, Mask, Reg, V, VirtualProgram, VirtualStatement, channels};
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(Vec<u64>);

impl Set {
    pub fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    pub fn has(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|w| w & 1 << (n % 64) != 0)
    }

    pub fn add(&mut self, n: usize) {
        if let Some(w) = self.0.get_mut(n / 64) {
            *w |= 1 << (n % 64);
        }
    }

    pub fn remove(&mut self, n: usize) {
        if let Some(w) = self.0.get_mut(n / 64) {
            *w &= !(1 << (n % 64));
        }
    }

    /// Adds the other's elements; whether anything came.
    pub fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(n, &w)| (0..64).filter(move |b| w & 1 << b != 0).map(move |b| n * 64 + b))
    }
}

/// The place of a register's channel in a [`Set`].
pub(crate) const fn slot(v: V, channel: u8) -> usize {
    v as usize * 4 + channel as usize
}

/// Statements without flow control between them, and at most one at the end.
#[derive(Clone, Debug)]
pub(crate) struct BasicBlock {
    pub range: Range<usize>,
    pub next: Vec<usize>,
}

/// The blocks of a program, in the order of its text.
#[derive(Clone, Debug)]
pub(crate) struct BlockGraph {
    pub blocks: Vec<BasicBlock>,
}

impl BlockGraph {
    pub fn of(insts: &[VirtualStatement]) -> Self {
        let mut blocks = Vec::new();
        // The block that begins after each flow statement.
        let mut behind: BTreeMap<usize, usize> = BTreeMap::new();
        let mut start = 0;
        for (i, inst) in insts.iter().enumerate() {
            if matches!(inst, VirtualStatement::Flow(..)) {
                blocks.push(BasicBlock { range: start..i + 1, next: Vec::new() });
                behind.insert(i, blocks.len());
                start = i + 1;
            }
        }
        blocks.push(BasicBlock { range: start..insts.len(), next: Vec::new() });
        let edges = edges(insts);
        for (n, block) in blocks.iter_mut().enumerate() {
            let last = block.range.end.checked_sub(1).filter(|&l| block.range.contains(&l));
            block.next = match last.map(|l| (l, insts.get(l))) {
                Some((l, Some(VirtualStatement::Flow(..)))) => {
                    edges.get(&l).into_iter().flatten().filter_map(|to| behind.get(to).copied()).collect()
                }
                _ => vec![n + 1],
            };
        }
        let count = blocks.len();
        blocks.iter_mut().for_each(|b| b.next.retain(|&n| n < count));
        Self { blocks }
    }

    /// The live set at the end of each block.
    pub fn live_out(&self, code: &VirtualProgram) -> Vec<Set> {
        let size = code.temps as usize * 4;
        let mut live_in = vec![Set::new(size); self.blocks.len()];
        let mut live_out = live_in.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for (n, block) in self.blocks.iter().enumerate().rev() {
                let mut live = live_out[n].clone();
                for &next in &block.next {
                    live.join(&live_in[next]);
                }
                live_out[n] = live.clone();
                for inst in code.insts[block.range.clone()].iter().rev() {
                    backwards(inst, code, &mut live);
                }
                if live_in[n] != live {
                    live_in[n] = live;
                    changed = true;
                }
            }
        }
        live_out
    }
}

/// For each flow statement, the flow statements after which execution can go on.
fn edges(insts: &[VirtualStatement]) -> BTreeMap<usize, Vec<usize>> {
    let mut edges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut labels: BTreeMap<u16, usize> = BTreeMap::new();
    // Open branches: the `if` and, when it came, the `else`. Open loops: the loop and its breaks.
    let mut ifs: Vec<(usize, Option<usize>)> = Vec::new();
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut calls: Vec<(usize, u16)> = Vec::new();
    let mut returns: Vec<(usize, u16)> = Vec::new();
    let mut part = None;
    for (i, inst) in insts.iter().enumerate() {
        let VirtualStatement::Flow(flow, _) = inst else { continue };
        let mut edge = |from: usize, to: usize| edges.entry(from).or_default().push(to);
        match flow {
            FlowStatement::If(_) => {
                edge(i, i);
                ifs.push((i, None));
            }
            FlowStatement::Else => {
                if let Some((begin, middle)) = ifs.last_mut() {
                    edge(*begin, i);
                    *middle = Some(i);
                }
            }
            FlowStatement::Endif => {
                edge(i, i);
                if let Some((begin, middle)) = ifs.pop() {
                    edge(middle.unwrap_or(begin), i);
                }
            }
            FlowStatement::Loop { .. } => {
                edge(i, i);
                loops.push((i, Vec::new()));
            }
            FlowStatement::Endloop { .. } => {
                edge(i, i);
                if let Some((begin, breaks)) = loops.pop() {
                    edge(i, begin);
                    edge(begin, i);
                    breaks.into_iter().for_each(|b| edge(b, i));
                }
            }
            FlowStatement::Break(condition) => {
                if condition.is_some() {
                    edge(i, i);
                }
                if let Some((_, breaks)) = loops.last_mut() {
                    breaks.push(i);
                }
            }
            FlowStatement::Call(label, condition) => {
                if condition.is_some() {
                    edge(i, i);
                }
                calls.push((i, *label));
            }
            FlowStatement::Label(label) => {
                edge(i, i);
                labels.insert(*label, i);
                part = Some(*label);
            }
            FlowStatement::Ret => {
                if let Some(part) = part {
                    returns.push((i, part));
                }
            }
            FlowStatement::End => {}
        }
    }
    for &(call, label) in &calls {
        if let Some(&to) = labels.get(&label) {
            edges.entry(call).or_default().push(to);
        }
        for &(ret, of) in &returns {
            if of == label {
                edges.entry(ret).or_default().push(call);
            }
        }
    }
    edges
}

/// Calls `f` for every register channel that the statement reads.
pub(crate) fn reads(inst: &VirtualStatement, code: &VirtualProgram, mut f: impl FnMut(V, u8)) {
    match inst {
        VirtualStatement::Alu(alu) => {
            for (reg, c) in alu.reads() {
                match reg {
                    Reg::Temp(v) => f(v, c),
                    Reg::InputRel(_) => code.array.iter().flatten().flatten().for_each(|&v| f(v, c)),
                    Reg::Const(_) | Reg::ConstRel(_) | Reg::Inline(_) => {}
                }
            }
        }
        VirtualStatement::Tex(tex) => tex.reads().for_each(|(v, c)| f(v, c)),
        VirtualStatement::Kill { temp, mask, .. } => channels(*mask).for_each(|c| f(*temp, c)),
        VirtualStatement::Flow(..) => {}
    }
}

/// The live set before the statement, from the one after it.
pub(crate) fn backwards(inst: &VirtualStatement, code: &VirtualProgram, live: &mut Set) {
    // A guarded write may keep the old value.
    if inst.guard().is_none() {
        inst.writes().for_each(|(v, c)| live.remove(slot(v, c)));
    }
    reads(inst, code, |v, c| live.add(slot(v, c)));
}

/// A write of one channel; loads and start values are writes too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Def {
    pub v: V,
    pub channel: u8,
}

/// Which writes each read can see.
pub(crate) struct Reaching {
    pub defs: Vec<Def>,
    /// The first write of each statement; its channels follow each other.
    first: Vec<usize>,
    of_slot: Vec<Vec<usize>>,
    at_start: Vec<Set>,
}

impl Reaching {
    /// The first `temps * 4` writes are those before the start.
    pub fn of(code: &VirtualProgram, graph: &BlockGraph) -> Self {
        let size = code.temps as usize * 4;
        let mut defs: Vec<Def> = (0..code.temps).flat_map(|v| (0..4).map(move |channel| Def { v, channel })).collect();
        let mut first = Vec::with_capacity(code.insts.len());
        for inst in &code.insts {
            first.push(defs.len());
            defs.extend(inst.writes().map(|(v, channel)| Def { v, channel }));
        }
        let mut of_slot = vec![Vec::new(); size];
        for (n, def) in defs.iter().enumerate() {
            of_slot[slot(def.v, def.channel)].push(n);
        }
        let mut reaching = Self { at_start: vec![Set::new(defs.len()); graph.blocks.len()], defs, first, of_slot };
        (0..size).for_each(|n| reaching.at_start[0].add(n));
        let mut changed = true;
        while changed {
            changed = false;
            for (n, block) in graph.blocks.iter().enumerate() {
                let mut set = reaching.at_start[n].clone();
                for i in block.range.clone() {
                    reaching.forwards(code, i, &mut set);
                }
                for &next in &block.next {
                    changed |= reaching.at_start[next].join(&set);
                }
            }
        }
        reaching
    }

    /// The writes before the first statement of the block.
    pub fn start(&self, block: usize) -> Set {
        self.at_start[block].clone()
    }

    /// The writes after statement `i`.
    pub fn forwards(&self, code: &VirtualProgram, i: usize, set: &mut Set) {
        let inst = &code.insts[i];
        for (n, (v, c)) in inst.writes().enumerate() {
            if inst.guard().is_none() {
                self.of_slot[slot(v, c)].iter().for_each(|&d| set.remove(d));
            }
            set.add(self.first[i] + n);
        }
    }

    /// The writes of (v, channel) in the set.
    pub fn seen(&self, set: &Set, v: V, channel: u8) -> impl Iterator<Item = usize> {
        self.of_slot[slot(v, channel)].iter().copied().filter(|&d| set.has(d)).collect::<Vec<_>>().into_iter()
    }

    /// The write of `channel` by statement `i`.
    pub fn written(&self, code: &VirtualProgram, i: usize, channel: u8) -> Option<usize> {
        code.insts[i].writes().position(|(_, c)| c == channel).map(|n| self.first[i] + n)
    }
}

/// Letters of channels, for messages.
pub(crate) fn letters(mask: Mask) -> String {
    channels(mask).map(|c| ['x', 'y', 'z', 'w'][usize::from(c)]).collect()
}
