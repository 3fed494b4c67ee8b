//! What is done as one: comparisons into the mask of the active lanes.

use super::Ins;
use crate::codegen::x86::lir::Lir;
use crate::ir::masked::{Code, End, M, MaskOp};
use crate::passes::masks::Live;
use std::cell::LazyCell;

/// Joins instructions.
pub fn fuse(code: &Code, lists: &mut [Vec<Ins>]) {
    // Few programs have what asks for it.
    let live = LazyCell::new(|| Live::of(code));
    for (block, list) in code.blocks.iter().zip(lists) {
        let read_after = |m: M| live.as_ref().is_none_or(|live| live.after(block.end, m));
        keeps(list, &|m| read_after(m) || matches!(block.end, End::Branch { mask, .. } if mask == m));
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
