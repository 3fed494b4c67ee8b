//! The most instructions that a wavefront can issue.

use ctm_ir::masked::{Block, Code, End, JumpTarget, MaskOp, Op};
use ctm_ir::order::postorder;

/// The most instructions that any wavefront issues, if there is a bound: the program never bails out to the reference
/// interpreter, and each back edge is a counted loop's end.
pub fn instructions(code: &Code) -> Option<u64> {
    let bails_out = code.blocks.iter().any(|block| block.end.targets().contains(&Some(JumpTarget::Reference)));
    if bails_out { None } else { of(&code.blocks, &vec![true; code.blocks.len()]) }
}

/// The instructions issued on one way through these blocks that enters each cycle once.
fn of(blocks: &[Block], within: &[bool]) -> Option<u64> {
    let mut sum = 0u64;
    for part in parts(blocks, within) {
        let own = |&block: &usize| u64::from(blocks[block].tally.instructions());
        let alone = part.len() == 1 && blocks[part[0]].end.successors().all(|next| next != part[0]);
        sum = sum.saturating_add(match part[..] {
            [block] if alone => own(&block),
            _ => {
                let (end, iterations) =
                    part.iter().find_map(|&block| Some((block, iterations(blocks, block, &part)?)))?;
                let mut rest = vec![false; blocks.len()];
                part.iter().filter(|&&block| block != end).for_each(|&block| rest[block] = true);
                // The end of the loop executes `iterations` times, the rest before each time.
                iterations.saturating_mul(own(&end).saturating_add(of(blocks, &rest)?))
            }
        });
    }
    Some(sum)
}

/// The most executions of the block while the cycle is not left, if it counts iterations down and leaves at the last
/// one.
fn iterations(blocks: &[Block], block: usize, cycle: &[usize]) -> Option<u64> {
    let ops = &blocks[block].ops;
    let End::Branch { mask, none: JumpTarget::Block(left), .. } = blocks[block].end else { return None };
    let counted = ops.iter().find_map(|op| match *op {
        Op::Mask(MaskOp::Add(count, -1, false)) => Some(count),
        _ => None,
    })?;
    let decides = |op: &Op| matches!(*op, Op::Mask(MaskOp::IfNot0(d, _, of)) if d == mask && of == counted);
    // No later operation changes the decision, or the count.
    let changes = |op: &&Op| matches!(op, Op::Mask(op) if [mask, counted].contains(&op.writes()));
    let last: Vec<&Op> = ops.iter().filter(changes).rev().take(2).collect();
    let decided = match last[..] {
        [decision, count] => decides(decision) && *count == Op::Mask(MaskOp::Add(counted, -1, false)),
        _ => false,
    };
    let starts = |of: &Block| {
        let number =
            |op: &Op| if let Op::Mask(MaskOp::Number(m, n)) = *op { (m == counted).then_some(n) } else { None };
        of.ops.iter().filter_map(number).max()
    };
    let begins_inside = cycle.iter().any(|&block| starts(&blocks[block]).is_some());
    if !decided || begins_inside || cycle.contains(&usize::from(left)) {
        return None;
    }
    // Loops of the same depth share a count.
    let most = blocks.iter().filter_map(starts).max()?;
    u64::try_from(most).ok()
}

/// The strongly connected components of these blocks: cycles, and single blocks that are in none.
fn parts(blocks: &[Block], within: &[bool]) -> Vec<Vec<usize>> {
    let mut from = vec![Vec::new(); blocks.len()];
    for (block, of) in blocks.iter().enumerate().filter(|(block, _)| within[*block]) {
        of.end.successors().filter(|&next| within[next]).for_each(|next| from[next].push(block));
    }
    // Blocks in the order in which a forward search leaves them; backward searches from the last of them find the
    // strongly connected components.
    let outside = within.iter().map(|within| !within).collect();
    let left = postorder(outside, 0..blocks.len(), |block| blocks[block].end.successors());
    let mut parts = Vec::new();
    let mut seen = vec![false; blocks.len()];
    for &start in left.iter().rev() {
        let mut part = Vec::new();
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut seen[block], true) {
                part.push(block);
                open.extend(&from[block]);
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
#[path = "../../tests/unit/passes/bound.rs"]
mod tests;
