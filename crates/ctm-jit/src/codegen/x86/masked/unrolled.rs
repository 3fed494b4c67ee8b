//! Programs whose parts are unrolled: all variables and masks are values from the first block to the last.
//!
//! For targets whose compiler allocates registers. Strips are loops over the parts there, so variables lie in rows of the frame from strip to strip. A loop of the program would load and store them in each of
//! its iterations; so the code of short programs with loops is made for each part of a wavefront of 16 lanes.

use super::fused::Iterations;
use super::ins::{Indexed, Ins};
use ctm_ir::masked::{Code, End, M, MaskOp};

/// The most instructions, of all blocks: longer programs would take long to compile.
const INSTRUCTIONS: usize = 256;

/// Whether a program has code of this kind: it has loops, is short, and all of it works on vectors and masks.
pub fn is_unrolled(code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> bool {
    let has_loops = code.blocks.iter().any(|block| block.loops > 0);
    let is_value = |ins: &Ins| {
        !matches!(
            ins,
            Ins::SetRelative { .. }
                | Ins::GetRelative { from: Indexed::Gprs { .. } | Indexed::Share, .. }
                | Ins::Keep { .. }
                | Ins::Tally { .. }
                | Ins::Call(..)
                | Ins::Yield(_)
        )
    };
    has_loops
        && lists.iter().map(Vec::len).sum::<usize>() <= INSTRUCTIONS
        && lists.iter().flatten().all(is_value)
        && numbers(code, lists, iterations).is_some()
}

/// Of each mask, whether it is a number; `None` where one is both.
pub fn numbers(code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> Option<Vec<bool>> {
    let mut are = vec![false; M::COUNT];
    let mut lanes = vec![false; M::COUNT];
    are[M::FIRST.index()] = true;
    let mut copies = Vec::new();
    for ins in lists.iter().flatten() {
        match *ins {
            Ins::Mask(op) => match op {
                MaskOp::Number(m, _) | MaskOp::Add(m, ..) => are[m.index()] = true,
                MaskOp::IfNot0(dst, of, number) => {
                    are[number.index()] = true;
                    [dst, of].iter().for_each(|m| lanes[m.index()] = true);
                }
                MaskOp::Copy(dst, of) => copies.push([dst, of]),
                _ => op.reads().into_iter().flatten().chain([op.writes()]).for_each(|m| lanes[m.index()] = true),
            },
            Ins::Number(_, m) | Ins::Guard { number: m, .. } => are[m.index()] = true,
            Ins::EndLanes(m) => lanes[m.index()] = true,
            _ => ins.mask().into_iter().for_each(|m| lanes[m.index()] = true),
        }
    }
    for (block, iterations) in code.blocks.iter().zip(iterations) {
        match (iterations, block.end) {
            (Some(iterations), _) => {
                are[iterations.left.index()] = true;
                lanes[iterations.lanes.index()] = true;
            }
            (None, End::Branch { mask, .. }) => lanes[mask.index()] = true,
            _ => {}
        }
    }
    // Each round marks one more, or is the last.
    while copies.iter().any(|pair| pair.iter().any(|m| are[m.index()]) && pair.iter().any(|m| !are[m.index()])) {
        let marked = copies.iter().filter(|pair| pair.iter().any(|m| are[m.index()])).copied().collect::<Vec<_>>();
        marked.into_iter().flatten().for_each(|m| are[m.index()] = true);
    }
    are.iter().zip(&lanes).all(|(&number, &lanes)| !(number && lanes)).then_some(are)
}
