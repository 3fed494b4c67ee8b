//! Literals and constants that are pinned in registers or rows, so that uses do not load them again.

use super::lir::{Lir, NO_SOURCE, Src};
use rustc_hash::FxHashMap as Map;

/// The literals and constants among operands, and their use counts: a use in a loop counts eight times one around it.
/// The most used come first. Of each block: its loop depth, and the operands of its instructions.
pub fn uses(blocks: impl Iterator<Item = (u8, impl Iterator<Item = Src>)>) -> Vec<(Src, u64)> {
    let mut uses: Vec<(Src, u64)> = Vec::new();
    let mut places: Map<Src, usize> = Map::default();
    for (loops, sources) in blocks {
        let weight = 1u64 << (3 * loops.min(8));
        for src in sources.filter(|src| matches!(src, Src::Literal(_) | Src::Const(_))) {
            let place = *places.entry(src).or_insert(uses.len());
            match uses.get_mut(place) {
                Some((_, n)) => *n += weight,
                None => uses.push((src, weight)),
            }
        }
    }
    uses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    uses
}

/// The operands that an instruction reads again and again, if they stay in registers.
pub fn sources(lir: &Lir) -> [Src; 3] {
    match *lir {
        // Zeros are made as soon as copied; partial changes of vectors are mostly skipped.
        Lir::Copy(_, Src::Literal(0)) | Lir::Merge { .. } | Lir::MergeTwo { .. } => [NO_SOURCE; 3],
        Lir::Fix { a, table, .. } => [a, Src::Literal(table), NO_SOURCE],
        _ => lir.touches().1,
    }
}
