//! Fuses instructions: comparisons into the mask of the active lanes, counted iterations with tests of lanes, and
//! operations with masked stores: with mask registers all, else sums for counters, to which 0 is added in the other lanes.

use super::ins::{Indexed, Ins};
use crate::codegen::target::Target;
use crate::codegen::x86::lir::{Lir, Src, Vector, each_read};
use crate::passes::masks::Live;
use ctm_ir::masked::{Block, Code, End, M, MaskOp};
use ctm_x86::ADD;
use std::cell::LazyCell;

/// A loop's end: it goes on where this number is not zero and one of these lanes is left.
#[derive(Clone, Copy, Debug)]
pub struct Iterations {
    /// The number.
    pub left: M,
    /// The lanes.
    pub lanes: M,
}

/// Fuses instructions; of `vectors` vectors, those from number `own` on are no variables, and some of these have
/// `start` values. Gives the blocks that end as [`Iterations`].
pub fn fuse(
    target: &Target,
    code: &Code,
    lists: &mut [Vec<Ins>],
    (own, vectors, start): (usize, usize, &[Vector]),
) -> Vec<Option<Iterations>> {
    if lists.iter().any(|list| has_pairs(list)) {
        let mut reads = vec![0u32; vectors];
        for (written, sources) in lists.iter().flatten().map(Ins::touches) {
            each_read(written, &sources, |vector| reads[vector.index()] += 1);
        }
        let counts = (!target.has_mask_registers()).then(|| counters(lists, start, own));
        let takes = |made: Vector, ins: &Ins| {
            let is_count = |counts: &Vec<bool>| adds(ins).is_some_and(|dst| counts[dst.index()]);
            made.index() >= own && reads[made.index()] == 1 && counts.as_ref().is_none_or(is_count)
        };
        lists.iter_mut().for_each(|list| stores(list, &takes));
    }
    // Few programs need it.
    let live = LazyCell::new(|| Live::of(code));
    let join = |(block, list): (&Block, &mut Vec<Ins>)| {
        let read_after = |m: M| live.as_ref().is_none_or(|live| live.after(block.end, m));
        keeps(list, &|m| read_after(m) || matches!(block.end, End::Branch { mask, .. } if mask == m));
        let last = list.iter().rposition(|ins| !matches!(ins, Ins::Tally { .. } | Ins::Split))?;
        match (&list[last], block.end) {
            (&Ins::Mask(MaskOp::IfNot0(d, lanes, left)), End::Branch { mask, .. }) if d == mask && !read_after(d) => {
                list.remove(last);
                Some(Iterations { left, lanes })
            }
            _ => None,
        }
    };
    code.blocks.iter().zip(lists).map(join).collect()
}

/// Whether some operation's result is stored under a mask, at once.
fn has_pairs(list: &[Ins]) -> bool {
    let mut last = &Ins::Split;
    list.iter().filter(|ins| !matches!(ins, Ins::Split)).any(|ins| match (std::mem::replace(&mut last, ins), ins) {
        (Ins::Lir(Lir::Two { dst: made, .. }), Ins::Set { src: Src::Vector(stored), under, .. }) => {
            made == stored && *under != M::EXISTING
        }
        _ => false,
    })
}

/// The variable that a sum with a number, stored under the active lanes, adds to itself.
fn adds(ins: &Ins) -> Option<Vector> {
    match *ins {
        Ins::SetTwo { op: ADD, dst, a: Src::Vector(a), b: Src::Literal(bits), under: M::ACTIVE }
            if a == dst && counts_by(bits) =>
        {
            Some(dst)
        }
        _ => None,
    }
}

/// The least increment: sums with it are multiples of its last digit, so none is a denormal, which would become a zero
/// with its sign.
const LEAST: f32 = 1.0 / (1u128 << 100) as f32;

/// Whether sums with a number are never -0.
fn counts_by(bits: u32) -> bool {
    let number = f32::from_bits(bits);
    number.abs() >= LEAST && number.is_finite()
}

/// Of each variable, whether it is a counter: it is set to literals, and only literals are added, so that adding 0
/// changes nothing. `start`: those with another start value.
fn counters(lists: &[Vec<Ins>], start: &[Vector], own: usize) -> Vec<bool> {
    // A store at an index may write any of them.
    let indexed = lists.iter().flatten().any(|ins| matches!(ins, Ins::SetRelative { to: Indexed::Gprs { .. }, .. }));
    let mut counts = vec![!indexed; own];
    start.iter().for_each(|vector| counts[vector.index()] = false);
    // The sum that has just been made.
    let mut last = None;
    for ins in lists.iter().flatten().filter(|ins| !matches!(ins, Ins::Split)) {
        let is_count = match *ins {
            Ins::Set { src: Src::Literal(bits), .. } | Ins::Lir(Lir::Copy(_, Src::Literal(bits))) => {
                bits == 0 || counts_by(bits)
            }
            Ins::Set { dst, src: Src::Vector(made), .. } => last == Some((made, dst)),
            _ => false,
        };
        if let Some((dst, _)) = ins.touches().0
            && dst.index() < own
        {
            counts[dst.index()] &= is_count;
        }
        last = match *ins {
            Ins::Lir(Lir::Two { op: ADD, dst: made, a: Src::Vector(a), b: Src::Literal(bits) }) if counts_by(bits) => {
                Some((made, a))
            }
            _ => None,
        };
    }
    counts
}

/// Operations whose only use is a masked store right after are done under its mask, where `takes` accepts them.
fn stores(list: &mut Vec<Ins>, takes: &dyn Fn(Vector, &Ins) -> bool) {
    // The place of the last one, and the number of those that stay.
    let (mut last, mut kept) = (None, 0);
    for at in 0..list.len() {
        if let Ins::Set { dst, src: Src::Vector(stored), under } = list[at]
            && under != M::EXISTING
            && let Some(last) = last
            && let Ins::Lir(Lir::Two { op, dst: made, a, b }) = list[last]
            && made == stored
            && let both = (Ins::SetTwo { op, dst, a, b, under })
            && takes(made, &both)
        {
            list[last] = both;
            continue;
        }
        if !matches!(list[at], Ins::Split) {
            last = Some(kept);
        }
        if kept < at {
            list[kept] = list[at];
        }
        kept += 1;
    }
    list.truncate(kept);
}

/// Lanes that only reduce the active ones are compared into these.
fn keeps(list: &mut [Ins], read_after: &dyn Fn(M) -> bool) {
    for at in 0..list.len() {
        let Ins::EndLanes(m) = list[at] else { continue };
        let Some(next) = (at + 1..list.len()).find(|&next| !matches!(list[next], Ins::Split)) else { continue };
        let begin = list[..at].iter().rposition(|ins| matches!(ins, Ins::BeginLanes)).unwrap_or(0);
        let all = list[begin..at].iter().all(|ins| !matches!(ins, Ins::Lir(Lir::Or(..))));
        let narrows = all && list[next] == Ins::Mask(MaskOp::And(M::ACTIVE, M::ACTIVE, m)) && m != M::ACTIVE;
        if narrows && is_dead(&list[next + 1..], m, read_after) {
            list[at] = Ins::EndKeep;
            list[next] = Ins::Split;
        }
    }
}

/// Whether a mask is dead.
fn is_dead(rest: &[Ins], m: M, read_after: &dyn Fn(M) -> bool) -> bool {
    for ins in rest {
        let reads = match *ins {
            Ins::Mask(op) => op.reads().contains(&Some(m)),
            _ => ins.mask() == Some(m),
        };
        if reads {
            return false;
        }
        if matches!(*ins, Ins::Mask(op) if op.writes() == m) || *ins == Ins::EndLanes(m) {
            return true;
        }
    }
    !read_after(m)
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/masked/fused.rs"]
mod tests;
