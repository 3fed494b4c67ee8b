//! Values that have nothing to do with each other get registers of their own.
//!
//! A register of the text is split into *webs*: writes and the reads that they reach, one channel each. Webs that one operand or one
//! write names together must stay in one register; the alpha unit has its own addresses, so alpha goes its own way except in texture instructions.

use crate::graph::{BlockGraph, Reaching};
use crate::ir::{Alu, Comp, Mask, RGB, Reg, V, VirtualOperand, VirtualProgram, VirtualStatement, channels};
use std::collections::BTreeMap;

/// Sets that only grow together.
struct Union(Vec<usize>);

impl Union {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn find(&mut self, mut n: usize) -> usize {
        while self.0[n] != n {
            self.0[n] = self.0[self.0[n]];
            n = self.0[n];
        }
        n
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Calls `f` with every list of register channels that must lie in one register.
fn together(inst: &VirtualStatement, mut f: impl FnMut(&[(V, u8)])) {
    match inst {
        VirtualStatement::Alu(alu) => {
            for n in 0..3 {
                let operand = alu.src[n].masked(alu.components(n) & RGB);
                let mut of_reg: BTreeMap<V, Vec<(V, u8)>> = BTreeMap::new();
                for (reg, c) in operand.reads() {
                    if let Reg::Temp(v) = reg
                        && c < 3
                    {
                        of_reg.entry(v).or_default().push((v, c));
                    }
                }
                of_reg.values().for_each(|list| f(list));
            }
        }
        VirtualStatement::Tex(tex) => f(&tex.reads().collect::<Vec<_>>()),
        VirtualStatement::Kill { temp, mask, .. } => f(&channels(*mask).map(|c| (*temp, c)).collect::<Vec<_>>()),
        VirtualStatement::Flow(..) => {}
    }
}

/// Gives every web group its own virtual register.
pub(crate) fn split(code: &mut VirtualProgram) {
    let graph = BlockGraph::of(&code.insts);
    let reaching = Reaching::of(code, &graph);
    let (mut webs, count) = (Union::new(reaching.defs.len()), reaching.defs.len());
    // The representative write of each statement's read of each channel.
    let mut seen: Vec<BTreeMap<(V, u8), usize>> = vec![BTreeMap::new(); code.insts.len()];
    let walk = |f: &mut dyn FnMut(usize, &crate::graph::Set)| {
        for (n, block) in graph.blocks.iter().enumerate() {
            let mut set = reaching.start(n);
            for i in block.range.clone() {
                f(i, &set);
                reaching.forwards(code, i, &mut set);
            }
        }
    };
    walk(&mut |i, set| {
        let inst = &code.insts[i];
        let mut read = |v: V, c: u8| {
            let mut list = reaching.seen(set, v, c);
            // Nothing reaches a statement that nothing leads to; it reads the start value.
            let first = list.next().unwrap_or(crate::graph::slot(v, c));
            list.for_each(|d| webs.join(first, d));
            seen[i].insert((v, c), first);
        };
        crate::graph::reads(inst, code, &mut read);
        if inst.guard().is_some() {
            // The old value of a guarded write must be in the same register.
            for (v, c) in inst.writes() {
                read(v, c);
            }
            for (v, c) in inst.writes() {
                if let (Some(d), Some(&old)) = (reaching.written(code, i, c), seen[i].get(&(v, c))) {
                    webs.join(d, old);
                }
            }
        }
    });
    let mut groups = Union::new(count);
    for (i, inst) in code.insts.iter().enumerate() {
        together(inst, |list| {
            for pair in list.windows(2) {
                if let (Some(&a), Some(&b)) = (seen[i].get(&pair[0]), seen[i].get(&pair[1])) {
                    groups.join(webs.find(a), webs.find(b));
                }
            }
        });
        let tied = if matches!(inst, VirtualStatement::Tex(_)) { 15 } else { RGB };
        let list: Vec<usize> = channels(tied).filter_map(|c| reaching.written(code, i, c)).collect();
        for pair in list.windows(2) {
            groups.join(webs.find(pair[0]), webs.find(pair[1]));
        }
    }
    for &(v, _) in &code.loads {
        for c in 1..4 {
            groups.join(webs.find(crate::graph::slot(v, 0)), webs.find(crate::graph::slot(v, c)));
        }
    }
    // Groups keep the order of their first write; loads come first.
    let mut names: BTreeMap<usize, V> = BTreeMap::new();
    let mut next = 0;
    let mut name = |webs: &mut Union, groups: &mut Union, def: usize| {
        let web = webs.find(def);
        *names.entry(groups.find(web)).or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    let old_loads: Vec<V> = code.loads.iter().map(|l| l.0).collect();
    for (v, _) in &mut code.loads {
        *v = name(&mut webs, &mut groups, crate::graph::slot(*v, 0));
    }
    if let Some(array) = &mut code.array {
        for v in array.iter_mut().flatten() {
            if old_loads.contains(v) {
                *v = name(&mut webs, &mut groups, crate::graph::slot(*v, 0));
            }
        }
    }
    for i in 0..code.insts.len() {
        let written: Vec<(u8, usize)> =
            channels(15).filter_map(|c| reaching.written(code, i, c).map(|d| (c, d))).collect();
        let seen = &seen[i];
        let mut read = |v: V, c: u8| match seen.get(&(v, c)) {
            Some(&d) => name(&mut webs, &mut groups, d),
            None => v,
        };
        match &mut code.insts[i] {
            VirtualStatement::Alu(alu) => rename(alu, &mut read),
            VirtualStatement::Tex(tex) => tex.coord = read(tex.coord, tex.channels[0]),
            VirtualStatement::Kill { temp, mask, .. } => {
                if let Some(c) = channels(*mask).next() {
                    *temp = read(*temp, c);
                }
            }
            VirtualStatement::Flow(..) => {}
        }
        let to: Vec<(u8, V)> = written.iter().map(|&(c, d)| (c, name(&mut webs, &mut groups, d))).collect();
        match &mut code.insts[i] {
            VirtualStatement::Tex(tex) => tex.dest = to.first().map_or(tex.dest, |t| t.1),
            VirtualStatement::Alu(_) if to.is_empty() => {}
            VirtualStatement::Alu(alu) => {
                // The two units can write different registers.
                let rgb = to.iter().find(|t| t.0 < 3).map(|t| t.1);
                let alpha = to.iter().find(|t| t.0 == 3).map(|t| t.1);
                alu.dest.temp = rgb.or(alpha);
                alu.dest.alpha_temp = alpha.filter(|_| rgb.is_some() && rgb != alpha);
            }
            VirtualStatement::Kill { .. } | VirtualStatement::Flow(..) => {}
        }
    }
    code.temps = next;
}

fn rename(alu: &mut Alu, read: &mut dyn FnMut(V, u8) -> V) {
    for n in 0..3 {
        let wanted: Mask = alu.components(n);
        let operand: &mut VirtualOperand = &mut alu.src[n];
        *operand = operand.masked(wanted);
        if let Some(pre) = operand.pre {
            let channel = operand.comps.iter().find_map(|c| if let Comp::Pre(c) = c { Some(*c) } else { None });
            operand.pre = channel.map(|c| {
                pre.map(|reg| match reg {
                    Reg::Temp(v) => Reg::Temp(read(v, c)),
                    other => other,
                })
            });
        }
        for comp in &mut operand.comps {
            if let Comp::Read(Reg::Temp(v), c) = *comp {
                *comp = Comp::Read(Reg::Temp(read(v, c)), c);
            }
        }
    }
}
