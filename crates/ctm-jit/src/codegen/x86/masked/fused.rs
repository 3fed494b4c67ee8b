//! What is done as one: comparisons into the mask of the active lanes, iterations counted and lanes looked at, and, with AVX-512, sums stored under a mask.

use super::Ins;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::ir::masked::{Code, End, M, MaskOp};
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

/// Joins instructions; of the vectors, those from number `own` on are no variables. Gives the blocks that end as [`Iterations`].
pub fn fuse(isa: Isa, code: &Code, lists: &mut [Vec<Ins>], own: usize, vectors: usize) -> Vec<Option<Iterations>> {
    let mut seen = Seen::new(vectors);
    // Few programs have what asks for it.
    let live = LazyCell::new(|| Live::of(code));
    let mut iterations = Vec::with_capacity(lists.len());
    for (block, list) in code.blocks.iter().zip(lists) {
        if isa == Isa::Avx512 {
            stores(list, own, &mut seen);
        }
        let read_after = |m: M| live.as_ref().is_none_or(|live| live.after(block.end, m));
        keeps(list, &|m| read_after(m) || matches!(block.end, End::Branch { mask, .. } if mask == m));
        let last = list.iter().rposition(|ins| !matches!(ins, Ins::Tally(..) | Ins::Split));
        iterations.push(last.and_then(|at| match (&list[at], block.end) {
            (&Ins::Mask(MaskOp::IfNot0(d, lanes, left)), End::Branch { mask, .. }) if d == mask && !read_after(d) => {
                list.remove(at);
                Some(Iterations { left, lanes })
            }
            _ => None,
        }));
    }
    iterations
}

/// What is known of vectors while a block's list is gone through.
struct Seen {
    /// How often instructions read each; those that are no variables belong to one block.
    reads: Vec<u32>,
    /// Which instruction has written each last: its place, counted over all blocks, plus one.
    writer: Vec<usize>,
    /// Places of blocks before.
    before: usize,
}

impl Seen {
    /// Of so many vectors.
    fn new(vectors: usize) -> Self {
        Self { reads: vec![0; vectors], writer: vec![0; vectors], before: 0 }
    }

    /// A block begins.
    fn begin(&mut self, list: &[Ins]) {
        list.iter().flat_map(Ins::reads).for_each(|vector| self.reads[vector.index()] += 1);
    }

    /// An instruction of the block has written this vector.
    fn write(&mut self, vector: Vector, at: usize) {
        self.writer[vector.index()] = self.before + at + 1;
    }

    /// The instruction of the block that has written it last.
    fn writer(&self, vector: Vector) -> Option<usize> {
        self.writer[vector.index()].checked_sub(self.before + 1)
    }

    /// The block, which had this list, has ended.
    fn end(&mut self, list: &[Ins]) {
        self.before += list.len();
    }
}

/// Operations whose result is only stored under a mask are done under it; vectors from number `own` on are no variables.
fn stores(list: &mut Vec<Ins>, own: usize, seen: &mut Seen) {
    if !list.iter().any(|ins| matches!(ins, Ins::Set(.., under) if *under != M::EXISTING)) {
        return;
    }
    seen.begin(list);
    let mut joined = Vec::new();
    // The last one that stores into registers by an index.
    let mut indexed = None;
    for at in 0..list.len() {
        if let Ins::Set(dst, Src::Vector(made), under) = list[at]
            && under != M::EXISTING
            && made.index() >= own
            && seen.reads[made.index()] == 1
            && let Some(from) = seen.writer(made)
            && let Some((a, b, c, set)) = match list[from] {
                Ins::Lir(Lir::Two(op, _, a, b)) => Some((a, b, a, Ins::SetTwo(op, dst, a, b, under))),
                Ins::Lir(Lir::Fma(negated, _, abc)) if abc.contains(&Src::Vector(dst)) => {
                    Some((abc[0], abc[1], abc[2], Ins::SetFma(negated, dst, abc, under)))
                }
                _ => None,
            }
        {
            let stays = |src: Src| match src {
                Src::Vector(vector) => seen.writer(vector).is_none_or(|writer| writer <= from),
                Src::Literal(_) | Src::Const(_) => true,
                Src::Row(_) | Src::Each(_) => false,
            };
            if stays(a) && stays(b) && stays(c) && indexed.is_none_or(|indexed| indexed < from) {
                list[at] = set;
                seen.reads[made.index()] = 0;
                joined.push(from);
            }
        }
        if matches!(list[at], Ins::SetRelative(..)) {
            indexed = Some(at);
        }
        if let Some((vector, _)) = list[at].writes() {
            seen.write(vector, at);
        }
    }
    seen.end(list);
    joined.sort_unstable();
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        joined.binary_search(&(at - 1)).is_err()
    });
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
