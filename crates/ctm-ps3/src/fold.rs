//! Two operations become one: results that go where their copies went, output modifiers, presubtracts.

use crate::address;
use crate::graph::{BlockGraph, Set, reads, slot};
use crate::ir::{
    ALPHA, Alu, Comp, Omod, Op, Pre, RGB, Reg, UnitKind, V, VirtualOperand, VirtualProgram, VirtualStatement, channels,
};

/// Whether one of the statements writes one of the channels.
fn writes_any(insts: &[VirtualStatement], of: &[(V, u8)]) -> bool {
    insts.iter().any(|i| i.writes().any(|w| of.contains(&w)))
}

fn temps_read(alu: &Alu, code: &VirtualProgram) -> Vec<(V, u8)> {
    let mut list = Vec::new();
    reads(&VirtualStatement::Alu(alu.clone()), code, |v, c| list.push((v, c)));
    list
}

/// The power of two that a component means.
fn power(comp: Comp) -> Option<Omod> {
    match comp {
        Comp::Half => Some(-1),
        Comp::One => Some(0),
        Comp::Read(Reg::Inline(bits), _) => match f32::from_bits(bits) {
            2.0 => Some(1),
            4.0 => Some(2),
            8.0 => Some(3),
            0.25 => Some(-2),
            0.125 => Some(-3),
            _ => None,
        },
        _ => None,
    }
}

/// An operation that hands on one operand, times a power of two: that operand and the power.
fn handed_on(alu: &Alu) -> Option<(VirtualOperand, Omod)> {
    let mask = alu.dest.mask;
    let all = |n: usize| {
        let operand = &alu.src[n];
        let mut list = channels(mask).map(|c| operand.comps[usize::from(c)]);
        let first = list.next()?;
        (!operand.has_modifier() && list.all(|c| c == first)).then_some(first)
    };
    if alu.omod != 0 {
        return None;
    }
    let (operand, omod) = match alu.op {
        Op::Mov => (alu.src[0], 0),
        Op::Mad if all(2) == Some(Comp::Zero) => match (all(1).and_then(power), all(0).and_then(power)) {
            (Some(omod), _) => (alu.src[0], omod),
            (None, Some(omod)) => (alu.src[1], omod),
            (None, None) => return None,
        },
        // a + a
        Op::Mad if all(1) == Some(Comp::One) && alu.src[0] == alu.src[2] => (alu.src[0], 1),
        _ => return None,
    };
    (!operand.has_modifier() && operand.pre.is_none()).then_some((operand, omod))
}

/// Operations whose result is only copied write where the copies did.
pub(crate) fn copies(code: &mut VirtualProgram) -> bool {
    let graph = BlockGraph::of(&code.insts);
    let live_out = graph.live_out(code);
    let mut changed = false;
    let mut remove = vec![false; code.insts.len()];
    for (n, block) in graph.blocks.iter().enumerate() {
        for i in block.range.clone() {
            if remove[i] {
                continue;
            }
            let VirtualStatement::Alu(from) = code.insts[i].clone() else { continue };
            if from.guard.is_some() || from.dest.temp.is_none() {
                continue;
            }
            let written: Vec<(V, u8)> = code.insts[i].writes().collect();
            let Some(users) = users(code, i, block.range.end, &written, &live_out[n], &remove) else { continue };
            if let Some(new) = moved(code, i, &from, &users) {
                for (at, alu) in users.iter().zip(new) {
                    match alu {
                        Some(alu) => code.insts[*at] = VirtualStatement::Alu(alu),
                        None => remove[*at] = true,
                    }
                }
                remove[i] = true;
                changed = true;
            }
        }
    }
    let mut gone = remove.into_iter();
    code.insts.retain(|_| !gone.next().unwrap_or(false));
    changed
}

/// The readers of statement `i`'s result, if those are all and it is dead after them.
fn users(
    code: &VirtualProgram,
    i: usize,
    end: usize,
    written: &[(V, u8)],
    live_out: &Set,
    gone: &[bool],
) -> Option<Vec<usize>> {
    let mut users = Vec::new();
    let mut left: Vec<(V, u8)> = written.to_vec();
    for k in (i + 1..end).filter(|&k| !gone[k]) {
        let inst = &code.insts[k];
        let mut used = false;
        reads(inst, code, |v, c| used |= left.contains(&(v, c)));
        if used {
            users.push(k);
        }
        if inst.writes().any(|w| left.contains(&w)) {
            if inst.guard().is_some() {
                return None;
            }
            left.retain(|w| !inst.writes().any(|x| x == *w));
        }
        if left.is_empty() {
            break;
        }
    }
    (!users.is_empty() && !left.iter().any(|&(v, c)| live_out.has(slot(v, c)))).then_some(users)
}

/// Those of the channels that statement `i` writes which nothing has written again when statement `at` comes.
fn still_there(code: &VirtualProgram, i: usize, at: usize, written: &[(V, u8)]) -> Vec<(V, u8)> {
    let over = |w: &(V, u8)| writes_any(&code.insts[i + 1..at], &[*w]);
    written.iter().copied().filter(|w| !over(w)).collect()
}

/// The replacement of each user when the operation moves there; `None` if it cannot.
fn moved(code: &VirtualProgram, i: usize, from: &Alu, users: &[usize]) -> Option<Vec<Option<Alu>>> {
    let sources = temps_read(from, code);
    let written: Vec<(V, u8)> = code.insts[i].writes().collect();
    let mut list: Vec<Option<Alu>> = Vec::new();
    for &at in users {
        let left = still_there(code, i, at, &written);
        let VirtualStatement::Alu(user) = &code.insts[at] else { return None };
        let (operand, omod) = handed_on(user)?;
        if user.dest.pred.is_some() || user.dest.result.is_some() {
            return None;
        }
        // Its operands must be unchanged.
        if writes_any(&code.insts[i + 1..at], &sources) {
            return None;
        }
        let mut new = from.clone();
        new.dest = user.dest;
        (new.guard, new.span) = (user.guard, user.span);
        if omod != 0 && (from.sat || from.op == Op::Mov) {
            return None;
        }
        new.omod = from.omod + omod;
        new.sat |= user.sat;
        if !(-3..=3).contains(&new.omod) {
            return None;
        }
        // Each channel must come from the operation's result.
        let mut comps = [[Comp::Absent; 4]; 3];
        for c in channels(user.dest.mask) {
            let Comp::Read(Reg::Temp(v), channel) = operand.comps[usize::from(c)] else { return None };
            if !left.contains(&(v, channel)) {
                return None;
            }
            for (n, comps) in comps.iter_mut().enumerate() {
                comps[usize::from(c)] = from.src[n].comps[usize::from(channel)];
            }
        }
        if from.op.kind() == UnitKind::Wide {
            for (operand, comps) in new.src.iter_mut().zip(comps) {
                operand.comps = comps;
            }
        }
        // A difference has no swizzle.
        let same = |c: u8| operand.comps[usize::from(c)] == Comp::Read(Reg::Temp(from.dest.temp_of(c).unwrap_or(0)), c);
        if matches!(new.op, Op::Mdh | Op::Mdv) && !channels(user.dest.mask).all(same) || !address::fits(&[&new]) {
            return None;
        }
        list.push(Some(new));
    }
    if from.op.kind() != UnitKind::Wide && list.len() > 1 {
        merge(&mut list)?;
    }
    Some(list)
}

/// A dot product or scalar that goes to both units of one output is one operation; more than that is not worth it.
fn merge(list: &mut [Option<Alu>]) -> Option<()> {
    let [Some(a), Some(b)] = list else { return None };
    let same = a.dest.out.is_some()
        && a.dest.out == b.dest.out
        && (a.sat, a.omod, a.guard) == (b.sat, b.omod, b.guard)
        && a.dest.mask & b.dest.mask == 0;
    if !same {
        return None;
    }
    b.dest.mask |= a.dest.mask;
    let whole = b.clone();
    if !address::fits(&[&whole]) {
        return None;
    }
    list[0] = None;
    Some(())
}

/// A sum as a presubtract, with the channel of its sources for each channel that it writes.
fn presubtract(alu: &Alu) -> Option<(Pre, [u8; 4])> {
    if alu.op != Op::Mad || alu.sat || alu.omod != 0 || alu.guard.is_some() || alu.dest.temp.is_none() {
        return None;
    }
    let [a, b, c] = &alu.src;
    let one = |o: &VirtualOperand| {
        !o.abs && o.pre.is_none() && channels(alu.dest.mask).all(|c| o.comps[usize::from(c)] == Comp::One)
    };
    // Two of the three make a product with one.
    let (x, y) = if one(b) && !b.neg {
        (a, c)
    } else if one(a) && !a.neg {
        (b, c)
    } else {
        return None;
    };
    let mut from = [0; 4];
    let mut regs: [Option<Reg>; 2] = [None; 2];
    let ones = [one(x), one(y)];
    for channel in channels(alu.dest.mask) {
        let mut source = None;
        for (n, operand) in [x, y].into_iter().enumerate() {
            if ones[n] {
                continue;
            }
            let Comp::Read(reg @ (Reg::Temp(_) | Reg::Const(_)), c) = operand.comps[usize::from(channel)] else {
                return None;
            };
            if *regs[n].get_or_insert(reg) != reg || *source.get_or_insert(c) != c {
                return None;
            }
        }
        from[usize::from(channel)] = source?;
    }
    if x.abs || y.abs {
        return None;
    }
    let pre = match (regs, ones, x.neg, y.neg) {
        ([Some(x), Some(y)], _, false, false) => Pre::Add(x, y),
        ([Some(x), Some(y)], _, false, true) => Pre::Sub(x, y),
        ([Some(x), Some(y)], _, true, false) => Pre::Sub(y, x),
        ([None, Some(y)], [true, false], false, true) => Pre::Inv(y),
        ([Some(x), None], [false, true], true, false) => Pre::Inv(x),
        _ => return None,
    };
    Some((pre, from))
}

/// Sums that one or two operations read become presubtracts of those.
pub(crate) fn presubtracts(code: &mut VirtualProgram) -> bool {
    let graph = BlockGraph::of(&code.insts);
    let live_out = graph.live_out(code);
    let mut remove = vec![false; code.insts.len()];
    for (n, block) in graph.blocks.iter().enumerate() {
        for i in block.range.clone() {
            let VirtualStatement::Alu(sum) = code.insts[i].clone() else { continue };
            let Some((pre, from)) = presubtract(&sum) else { continue };
            let written: Vec<(V, u8)> = code.insts[i].writes().collect();
            let Some(users) = users(code, i, block.range.end, &written, &live_out[n], &remove) else { continue };
            let sources = temps_read(&sum, code);
            let new: Option<Vec<Alu>> = users
                .iter()
                .map(|&at| match &code.insts[at] {
                    VirtualStatement::Alu(user) if !writes_any(&code.insts[i + 1..at], &sources) => {
                        with_presubtract(user, &still_there(code, i, at, &written), pre, from)
                    }
                    _ => None,
                })
                .collect();
            let Some(new) = new.filter(|n| n.len() <= 2) else { continue };
            for (at, alu) in users.into_iter().zip(new) {
                code.insts[at] = VirtualStatement::Alu(alu);
            }
            remove[i] = true;
        }
    }
    let changed = remove.iter().any(|&r| r);
    let mut gone = remove.into_iter();
    code.insts.retain(|_| !gone.next().unwrap_or(false));
    changed
}

fn with_presubtract(user: &Alu, written: &[(V, u8)], pre: Pre, from: [u8; 4]) -> Option<Alu> {
    if matches!(user.op, Op::Mdh | Op::Mdv) {
        return None;
    }
    let mut new = user.clone();
    for n in 0..user.op.operands() {
        let wanted = user.components(n);
        let operand = &mut new.src[n];
        let mut used = false;
        for c in channels(wanted) {
            let comp = &mut operand.comps[usize::from(c)];
            if let Comp::Read(Reg::Temp(v), channel) = *comp
                && written.contains(&(v, channel))
            {
                *comp = Comp::Pre(from[usize::from(channel)]);
                used = true;
            }
        }
        if used {
            if operand.pre.is_some_and(|p| p != pre) {
                return None;
            }
            operand.pre = Some(pre);
            let plain = |mask: u8| {
                channels(wanted & mask).any(|c| matches!(operand.comps[usize::from(c)], Comp::Read(..)))
                    && channels(wanted & mask).any(|c| matches!(operand.comps[usize::from(c)], Comp::Pre(_)))
            };
            // Constants of the presubtract's kind of address must not be read through the other.
            let rgb = operand.comps.iter().any(|c| matches!(c, Comp::Pre(c) if *c < 3));
            let alpha = operand.comps.iter().any(|c| matches!(c, Comp::Pre(3)));
            if plain(RGB) || plain(ALPHA) || rgb && alpha {
                return None;
            }
        }
    }
    address::fits(&[&new]).then_some(new)
}
