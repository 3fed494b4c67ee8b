//! Instructions that AVX-512 does as one: sums stored under a mask, comparisons into the mask of the active lanes, turns counted and lanes looked at.

use super::Ins;
use crate::r700::form::{Code, End, M, MaskOp};
use crate::r700::masks::Live;
use crate::x86::lir::{Lir, Src};

/// A loop's end: it goes on where this number is not zero and one of these lanes is there.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// The number.
    pub left: M,
    /// The lanes.
    pub lanes: M,
}

/// Joins instructions; vectors from number `own` on are no variables. Gives the blocks that end as [`Turns`].
pub fn fuse(code: &Code, lists: &mut [Vec<Ins>], own: usize) -> Vec<Option<Turns>> {
    let live = Live::of(code);
    let mut turns = Vec::with_capacity(lists.len());
    for (block, list) in code.blocks.iter().zip(lists) {
        stores(list, own);
        let read_after = |m: M| live.as_ref().is_none_or(|live| live.after(block.end, m));
        keeps(list, &|m| read_after(m) || matches!(block.end, End::Branch { mask, .. } if mask == m));
        let last = list.iter().rposition(|ins| !matches!(ins, Ins::Tally(_) | Ins::Split));
        turns.push(last.and_then(|at| match (&list[at], block.end) {
            (&Ins::Mask(MaskOp::IfNot0(d, lanes, left)), End::Branch { mask, .. }) if d == mask && !read_after(d) => {
                list.remove(at);
                Some(Turns { left, lanes })
            }
            _ => None,
        }));
    }
    turns
}

/// Operations whose result is only stored under a mask are done under it.
fn stores(list: &mut Vec<Ins>, own: usize) {
    let mut at = 0;
    while at < list.len() {
        let Ins::Set(dst, Src::Vector(made), under) = list[at] else {
            at += 1;
            continue;
        };
        let reads = list.iter().flat_map(Ins::reads).filter(|&vector| vector == made).count();
        let from = list[..at].iter().rposition(|ins| ins.writes().is_some_and(|(vector, _)| vector == made));
        let found = from.and_then(|from| match list[from] {
            Ins::Lir(Lir::Two(op, _, a, b)) => Some((from, op, a, b)),
            _ => None,
        });
        let Some((from, op, a, b)) = found.filter(|_| reads == 1 && made.index() >= own && under != M::EXISTING) else {
            at += 1;
            continue;
        };
        let stays = |src: Src| match src {
            Src::Vector(vector) => list[from + 1..at].iter().all(|ins| ins.writes().is_none_or(|(of, _)| of != vector)),
            Src::Literal(_) | Src::Const(_) => true,
            Src::Row(_) => false,
        };
        // Others that store into registers by an index.
        let indexes = list[from..at].iter().any(|ins| matches!(ins, Ins::SetRelative(..)));
        if stays(a) && stays(b) && !indexes {
            list[at] = Ins::SetTwo(op, dst, a, b, under);
            list.remove(from);
        } else {
            at += 1;
        }
    }
}

/// Lanes that only make the active ones fewer are compared into these.
fn keeps(list: &mut [Ins], read_after: &dyn Fn(M) -> bool) {
    for at in 0..list.len() {
        let Ins::EndLanes(m) = list[at] else { continue };
        let Some(next) = (at + 1..list.len()).find(|&next| list[next] != Ins::Split) else { continue };
        let narrows = list[next] == Ins::Mask(MaskOp::And(M::ACTIVE, M::ACTIVE, m)) && m != M::ACTIVE;
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
            Ins::Set(.., under)
            | Ins::SetTwo(.., under)
            | Ins::SetRelative(.., under)
            | Ins::Keep(.., under)
            | Ins::Mark(_, under)
            | Ins::Call(_, under)
            | Ins::Number(_, under) => under == m,
            Ins::Sample(..) => true,
            Ins::Lir(_)
            | Ins::Split
            | Ins::ZeroRule(..)
            | Ins::GetRelative(..)
            | Ins::BeginLanes
            | Ins::EndLanes(_)
            | Ins::EndKeep
            | Ins::Tally(_)
            | Ins::Turn(_)
            | Ins::Slope(..)
            | Ins::Also(_) => false,
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
