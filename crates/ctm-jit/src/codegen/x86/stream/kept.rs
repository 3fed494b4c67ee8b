//! Literals and constants that are worth a place of their own, so that each use needs not load them again.

use crate::codegen::x86::lir::{Lir, NO_SOURCE, Src};
use rustc_hash::FxHashMap as Map;

/// The literals and constants that blocks use, and how much: a use in a loop counts eight times one around it. The most used come first. Of each block: loops
/// around it, and its instructions.
pub fn uses<'a>(blocks: impl Iterator<Item = (u8, impl Iterator<Item = &'a Lir>)>) -> Vec<(Src, u64)> {
    let mut uses: Vec<(Src, u64)> = Vec::new();
    let mut places: Map<Src, usize> = Map::default();
    for (loops, lines) in blocks {
        let weight = 1u64 << (3 * loops);
        for lir in lines {
            let sources = match *lir {
                // Zeros are made as soon as copied; what changes vectors in part is mostly skipped.
                Lir::Copy(_, Src::Literal(0)) | Lir::Merge(..) | Lir::MergeTwo(..) => continue,
                Lir::Fix(_, a, table) => [a, Src::Literal(table), NO_SOURCE],
                _ => lir.touches().1,
            };
            for src in sources.into_iter().filter(|src| matches!(src, Src::Literal(_) | Src::Const(_))) {
                let place = *places.entry(src).or_insert(uses.len());
                match uses.get_mut(place) {
                    Some((_, n)) => *n += weight,
                    None => uses.push((src, weight)),
                }
            }
        }
    }
    uses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    uses
}
