//! Copy propagation: readers of a copy read the original.

use crate::address;
use crate::graph::BlockGraph;
use crate::ir::{Alu, Comp, Op, Reg, V, VirtualOperand, VirtualProgram, VirtualStatement, channels};
use std::collections::BTreeMap;

/// The original of a register's channel.
#[derive(Clone, Copy, PartialEq)]
struct Original {
    comp: Comp,
    neg: bool,
    abs: bool,
}

type Known = BTreeMap<(V, u8), Original>;

/// Lets reads of copies read the originals. Within a block, and on into blocks that only it leads to.
pub(crate) fn copies(code: &mut VirtualProgram) {
    let graph = BlockGraph::of(&code.insts);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
    for (n, block) in graph.blocks.iter().enumerate() {
        for &next in &block.next {
            before[next].push(n);
        }
    }
    let mut ends: Vec<Known> = Vec::with_capacity(graph.blocks.len());
    for (n, block) in graph.blocks.iter().enumerate() {
        // The loop counter may differ from block to block.
        let mut known: Known = match before[n][..] {
            [only] if only < n => {
                ends[only].iter().filter(|(_, o)| !is_relative(o.comp)).map(|(k, o)| (*k, *o)).collect()
            }
            _ => Known::new(),
        };
        for i in block.range.clone() {
            let inst = &mut code.insts[i];
            match inst {
                VirtualStatement::Alu(alu) => read(alu, &known),
                VirtualStatement::Tex(tex) => {
                    let count = if tex.project { 3 } else { 2 };
                    if let Some((v, list)) = renamed(tex.coord, &tex.channels[..count], &known) {
                        tex.coord = v;
                        tex.channels[..count].copy_from_slice(&list);
                    }
                }
                VirtualStatement::Kill { temp, mask, .. } => {
                    let list: Vec<u8> = channels(*mask).collect();
                    if let Some((v, to)) = renamed(*temp, &list, &known)
                        && to == list
                    {
                        *temp = v;
                    }
                }
                VirtualStatement::Flow(..) => {}
            }
            for (v, c) in inst.writes() {
                known.remove(&(v, c));
                known.retain(|_, o| o.comp != Comp::Read(Reg::Temp(v), c));
            }
            if let VirtualStatement::Alu(alu) = inst {
                remember(alu, &mut known);
            }
        }
        ends.push(known);
    }
}

fn is_relative(comp: Comp) -> bool {
    matches!(comp, Comp::Read(Reg::InputRel(_) | Reg::ConstRel(_), _))
}

fn remember(alu: &Alu, known: &mut Known) {
    if !alu.is_copy() || alu.guard.is_some() || alu.src[0].pre.is_some() {
        return;
    }
    let operand = &alu.src[0];
    for c in channels(alu.dest.mask) {
        let Some(v) = alu.dest.temp_of(c) else { return };
        let comp = operand.comps[usize::from(c)];
        // A copy onto part of its own source knows nothing.
        let own = channels(alu.dest.mask).any(|w| comp == Comp::Read(Reg::Temp(v), w));
        if comp != Comp::Absent && !own {
            known.insert((v, c), Original { comp, neg: operand.neg, abs: operand.abs });
        }
    }
}

/// The register and channels that all of these are copies of.
fn renamed(v: V, list: &[u8], known: &Known) -> Option<(V, Vec<u8>)> {
    let mut to = None;
    let mut found = Vec::with_capacity(list.len());
    for &c in list {
        match known.get(&(v, c)) {
            Some(&Original { comp: Comp::Read(Reg::Temp(u), channel), neg: false, abs: false })
                if *to.get_or_insert(u) == u =>
            {
                found.push(channel);
            }
            _ => return None,
        }
    }
    to.map(|to| (to, found))
}

fn read(alu: &mut Alu, known: &Known) {
    for n in 0..alu.op.operands() {
        let wanted = alu.components(n);
        let old = alu.src[n];
        let Some(new) = replaced(&old, wanted, known) else { continue };
        // A difference reads its source as it is, without a swizzle (x1k-encoding §1.5).
        if matches!(alu.op, Op::Mdh | Op::Mdv)
            && n == 0
            && (new.has_modifier()
                || channels(wanted)
                    .any(|c| !matches!(new.comps[usize::from(c)], Comp::Read(Reg::Temp(_), d) if d == c)))
        {
            continue;
        }
        alu.src[n] = new;
        if !address::fits(&[alu]) {
            alu.src[n] = old;
        }
    }
}

fn replaced(operand: &VirtualOperand, wanted: u8, known: &Known) -> Option<VirtualOperand> {
    let mut new = *operand;
    if operand.pre.is_some() {
        return None;
    }
    let mut modifiers = None;
    let (mut some, mut all) = (false, true);
    for c in channels(wanted) {
        let comp = &mut new.comps[usize::from(c)];
        let Comp::Read(Reg::Temp(v), channel) = *comp else {
            all = false;
            continue;
        };
        match known.get(&(v, channel)) {
            Some(original)
                if *modifiers.get_or_insert((original.neg, original.abs)) == (original.neg, original.abs) =>
            {
                *comp = original.comp;
                some = true;
            }
            Some(_) => return None,
            None => all = false,
        }
    }
    let (neg, abs) = modifiers.filter(|_| some)?;
    if neg || abs {
        if !all {
            return None;
        }
        if !operand.abs {
            (new.neg, new.abs) = (operand.neg != neg, abs);
        }
    }
    Some(new)
}
