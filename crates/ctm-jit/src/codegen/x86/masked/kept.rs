//! Literals and constants pinned in registers that are free in loops; on targets whose instructions cannot broadcast four
//! bytes, others of the constants have rows.

use super::ins::Ins;
use crate::codegen::target::Target;
use crate::codegen::x86::allocate::Ranges;
use crate::codegen::x86::kept;
use crate::codegen::x86::lir::{NO_SOURCE, Src, Vector};
use crate::passes::table::Pass;
use ctm_ir::masked::{Block, Code};

/// The most of them: more rarely get registers.
const MOST: usize = 8;

/// Adds a vector for each of the literals and constants that loops use most, the most used first. They are live in all
/// blocks of loops, and where loops begin. Weighed ones get a row where no register is left.
pub fn add(target: &Target, ranges: &mut Ranges, code: &Code, lists: &[Vec<Ins>]) -> Vec<(Src, Vector)> {
    if !Pass::Kept.is_on() || code.blocks.iter().all(|block| block.loops == 0) {
        return Vec::new();
    }
    let in_loops = code.blocks.iter().zip(lists).filter(|(block, _)| block.loops > 0);
    let uses = kept::uses(in_loops.map(|(block, list)| (block.loops, sources(list))));
    let kept: Vec<(Src, Vector)> = uses.into_iter().take(MOST).map(|(src, _)| (src, ranges.vector())).collect();
    let constants = kept.iter().filter(|(src, _)| !target.has.broadcast_operands && matches!(src, Src::Const(_)));
    constants.for_each(|&(_, vector)| ranges.weigh(vector, 1));
    let mut end = lists.iter().map(|list| list.len() + 2).sum();
    for (block, list) in code.blocks.iter().zip(lists).rev() {
        let first = end - (list.len() + 2);
        let from = match block.loops {
            0 if enters_loop(code, block) => end - 1,
            0 => end,
            _ => first,
        };
        if from < end {
            kept.iter().for_each(|&(_, vector)| ranges.add(vector, from, end));
        }
        end = first;
    }
    kept
}

/// The operands of instructions, without rare ones.
fn sources(list: &[Ins]) -> impl Iterator<Item = Src> {
    let mut is_rare = false;
    let usual = move |ins: &&Ins| {
        let was_rare = is_rare;
        is_rare = matches!(ins, Ins::BeginRare(_)) || is_rare && !matches!(ins, Ins::EndRare);
        !was_rare
    };
    list.iter().filter(usual).flat_map(|ins| match ins {
        Ins::Lir(lir) | Ins::BeginRare(lir) => kept::sources(lir),
        Ins::Set { src, .. } | Ins::Keep { src, .. } => [*src, NO_SOURCE, NO_SOURCE],
        Ins::SetTwo { a, b, .. } => [*a, *b, NO_SOURCE],
        _ => [NO_SOURCE; 3],
    })
}

/// Whether a loop begins after a block that is in none.
pub fn enters_loop(code: &Code, block: &Block) -> bool {
    block.loops == 0 && block.end.successors().any(|next| code.blocks[next].loops > 0)
}
