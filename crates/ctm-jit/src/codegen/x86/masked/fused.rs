//! What is done as one: comparisons into the mask of the active lanes, iterations counted and lanes looked at, and, with AVX-512, sums stored under a mask.

use super::Ins;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::ir::masked::{Block, Code, End, M, MaskOp};
use crate::passes::masks::Live;
use std::cell::LazyCell;

/// A loop's end: it goes on where this number is not zero and one of these lanes is there.
#[derive(Clone, Copy, Debug)]
pub struct Iterations {
    /// The number.
    pub left: M,
    /// The lanes.
    pub lanes: M,
}

/// Joins instructions; of so many vectors, those from number `own` on are no variables. Gives the blocks that end as [`Iterations`].
pub fn fuse(isa: Isa, code: &Code, lists: &mut [Vec<Ins>], (own, vectors): (usize, usize)) -> Vec<Option<Iterations>> {
    if isa == Isa::Avx512 {
        let mut reads = vec![0u32; vectors];
        lists.iter().flatten().flat_map(Ins::reads).for_each(|vector| reads[vector.index()] += 1);
        lists.iter_mut().for_each(|list| stores(list, &|made| made.index() >= own && reads[made.index()] == 1));
    }
    // Few programs have what asks for it.
    let live = LazyCell::new(|| Live::of(code));
    let join = |(block, list): (&Block, &mut Vec<Ins>)| {
        let read_after = |m: M| live.as_ref().is_none_or(|live| live.after(block.end, m));
        keeps(list, &|m| read_after(m) || matches!(block.end, End::Branch { mask, .. } if mask == m));
        let last = list.iter().rposition(|ins| !matches!(ins, Ins::Tally(..) | Ins::Split))?;
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

/// Operations whose result is only stored under a mask, at once, are done under it. `once`: whether a vector is read in one place alone.
fn stores(list: &mut Vec<Ins>, once: &dyn Fn(Vector) -> bool) {
    let (mut last, mut at) = (None, 0);
    while at < list.len() {
        if let Some(last) = last
            && let Ins::Lir(Lir::Two(op, made, a, b)) = list[last]
            && let Ins::Set(dst, Src::Vector(stored), under) = list[at]
            && made == stored
            && under != M::EXISTING
            && once(made)
        {
            list[last] = Ins::SetTwo(op, dst, a, b, under);
            list.remove(at);
        } else {
            last = if list[at] == Ins::Split { last } else { Some(at) };
            at += 1;
        }
    }
}

/// Lanes that only make the active ones fewer are compared into these.
fn keeps(list: &mut [Ins], read_after: &dyn Fn(M) -> bool) {
    for at in 0..list.len() {
        let Ins::EndLanes(m) = list[at] else { continue };
        let Some(next) = (at + 1..list.len()).find(|&next| list[next] != Ins::Split) else { continue };
        let begin = list[..at].iter().rposition(|ins| *ins == Ins::BeginLanes).unwrap_or(0);
        let all = list[begin..at].iter().all(|ins| !matches!(ins, Ins::Lir(Lir::Or(..))));
        let narrows = all && list[next] == Ins::Mask(MaskOp::And(M::ACTIVE, M::ACTIVE, m)) && m != M::ACTIVE;
        if narrows && is_dead(&list[next + 1..], m, read_after) {
            list[at] = Ins::EndKeep;
            list[next] = Ins::Split;
        }
    }
}

/// Whether nobody reads a mask any more.
fn is_dead(rest: &[Ins], m: M, read_after: &dyn Fn(M) -> bool) -> bool {
    for ins in rest {
        let reads = match *ins {
            Ins::Mask(op) => op.reads().contains(&Some(m)),
            Ins::Leave(far, under) => far == m || under == m,
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
