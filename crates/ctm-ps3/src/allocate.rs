//! Virtual to real registers: as few as possible, channel by channel.

use crate::graph::{BlockGraph, Set, slot};
use crate::ir::{Alu, Comp, Pre, Reg, V, VirtualProgram, VirtualStatement};
use crate::schedule::{Slot, copies};
use ctm_isa::x1k::TEMPORARIES;

/// The assignment of every virtual register.
pub(crate) struct Assignment {
    pub real: Vec<u8>,
}

/// Assigns registers, or says how many would have been needed at least.
pub(crate) fn allocate(code: &VirtualProgram, slots: &[Slot]) -> Result<Assignment, usize> {
    let count = code.temps as usize;
    let mut flat = code.clone();
    let mut ends = Vec::with_capacity(slots.len());
    flat.insts.clear();
    for slot in slots {
        flat.insts.extend(slot.insts());
        ends.push(flat.insts.len());
    }
    let mut clash: Vec<Set> = vec![Set::new(count); count];
    let mut mark = |a: V, b: V| {
        if a != b {
            clash[a as usize].add(b as usize);
            clash[b as usize].add(a as usize);
        }
    };
    let graph = BlockGraph::of(&flat.insts);
    let live_out = graph.live_out(&flat);
    // Registers by channel, so that only those of the same channel are compared.
    let mut most = 0;
    for (n, block) in graph.blocks.iter().enumerate() {
        let mut live = live_out[n].clone();
        let mut i = block.range.end;
        while i > block.range.start {
            // The statements of one slot: all reads, then all writes.
            let end = ends.partition_point(|&e| e < i);
            let start = if end == 0 { 0 } else { ends[end - 1] };
            let list = &flat.insts[start..i];
            let alive: Vec<usize> = live.iter().collect();
            most = most.max(alive.len() / 4);
            for (v, c) in list.iter().flat_map(VirtualStatement::writes) {
                alive.iter().filter(|&&l| l % 4 == usize::from(c)).for_each(|&l| mark(v, (l / 4) as V));
            }
            let writes: Vec<(V, u8)> = list.iter().flat_map(VirtualStatement::writes).collect();
            for (k, &(v, c)) in writes.iter().enumerate() {
                writes[k + 1..].iter().filter(|w| w.1 == c).for_each(|w| mark(v, w.0));
            }
            for inst in list.iter().rev() {
                if inst.guard().is_none() {
                    inst.writes().for_each(|(v, c)| live.remove(slot(v, c)));
                }
            }
            for inst in list {
                crate::graph::reads(inst, &flat, |v, c| live.add(slot(v, c)));
            }
            i = start;
        }
    }
    // Everything loaded before the start is loaded whole.
    for (n, &(a, _)) in code.loads.iter().enumerate() {
        code.loads[n + 1..].iter().for_each(|&(b, _)| mark(a, b));
    }
    let mut real: Vec<Option<u8>> = vec![None; count];
    if let Some(array) = &code.array {
        for (n, v) in array.iter().enumerate() {
            if let Some(v) = v {
                real[*v as usize] = Some(n as u8);
            }
        }
    }
    let wishes: Vec<(V, V)> =
        flat.insts.iter().filter_map(|i| if let VirtualStatement::Alu(alu) = i { copies(alu) } else { None }).collect();
    let order = (code.loads.iter().map(|l| l.0)).chain(flat.insts.iter().flat_map(|i| i.writes().map(|w| w.0)));
    let reads = flat.insts.iter().flat_map(|i| {
        let mut list = Vec::new();
        crate::graph::reads(i, &flat, |v, _| list.push(v));
        list
    });
    for v in order.chain(reads) {
        if real[v as usize].is_some() {
            continue;
        }
        let taken: Vec<u8> = clash[v as usize].iter().filter_map(|u| real[u]).collect();
        let wish = wishes.iter().filter_map(|&(a, b)| match (a == v, b == v) {
            (true, false) => real[b as usize],
            (false, true) => real[a as usize],
            _ => None,
        });
        let wish = wish.into_iter().find(|w| !taken.contains(w));
        let free = wish.or_else(|| (0..TEMPORARIES as u8).find(|r| !taken.contains(r)));
        match free {
            Some(register) => real[v as usize] = Some(register),
            None => return Err(most.max(TEMPORARIES + 1)),
        }
    }
    Ok(Assignment { real: real.into_iter().map(|r| r.unwrap_or(0)).collect() })
}

/// Names the real registers, and takes out copies of a register to itself.
pub(crate) fn apply(slots: Vec<Slot>, registers: &Assignment) -> Vec<Slot> {
    let real = |v: V| V::from(registers.real[v as usize]);
    let mut out = Vec::with_capacity(slots.len());
    for slot in slots {
        match slot {
            Slot::Alu(mut a, mut b) => {
                rename(&mut a, real);
                b.iter_mut().for_each(|b| rename(b, real));
                let idle = |alu: &Alu| copies(alu).is_some_and(|(to, from)| to == from);
                match (idle(&a), b) {
                    (true, None) => {}
                    (true, Some(b)) => {
                        if !idle(&b) {
                            out.push(Slot::Alu(b, None));
                        }
                    }
                    (false, b) => out.push(Slot::Alu(a, b.filter(|b| !idle(b)))),
                }
            }
            Slot::Other(mut inst) => {
                match &mut inst {
                    VirtualStatement::Tex(tex) => (tex.dest, tex.coord) = (real(tex.dest), real(tex.coord)),
                    VirtualStatement::Kill { temp, .. } => *temp = real(*temp),
                    VirtualStatement::Alu(_) | VirtualStatement::Flow(..) => {}
                }
                out.push(Slot::Other(inst));
            }
        }
    }
    out
}

fn rename(alu: &mut Alu, real: impl Fn(V) -> V + Copy) {
    let reg = |r: Reg| match r {
        Reg::Temp(v) => Reg::Temp(real(v)),
        other => other,
    };
    for n in 0..3 {
        let wanted = alu.components(n);
        let operand = &mut alu.src[n];
        *operand = operand.masked(wanted);
        for comp in &mut operand.comps {
            if let Comp::Read(r, _) = comp {
                *r = reg(*r);
            }
        }
        operand.pre = operand.pre.map(|p: Pre| p.map(reg));
    }
    alu.dest.temp = alu.dest.temp.map(real);
    alu.dest.alpha_temp = alu.dest.alpha_temp.map(real).filter(|a| Some(*a) != alu.dest.temp);
}
