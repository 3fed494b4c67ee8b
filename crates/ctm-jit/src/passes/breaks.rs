//! Breaks that lead to breaks: lanes that leave a loop and then, by the same comparison, the loop around it.
//!
//! A program whose loops count to more than one constant holds nests them: after the inner loop's end, the lanes that
//! took its BREAK repeat the same comparison, and take the outer loop's BREAK. Such lanes may leave both loops at once.
//! The operands of the comparison are then dead in them, so the inner loop stores these without a mask.
//!
//! Groups pass other blocks than they would alone, so this is for code without counters. And it is for code that
//! decides for several groups together (`lower/x1k/joint.rs`), which ensures that lanes reconverge at the target of
//! their break, whichever way others take.

use ctm_ir::masked::{M, Op, Value};
use ctm_ir::x1k::{Block, Code, End, Flow, JumpTarget, LoopOp, Outcome};

/// Blocks with more operations than such a comparison are skipped, to bound the time.
const OPS: usize = 24;
/// Blocks with more are not searched.
const SEARCHED: usize = 512;

/// The program in which such lanes leave both loops at once; `None` where there are none. It has the same blocks.
pub fn joined(code: &Code) -> Option<Code> {
    let frames = code.blocks.iter().map(|block| block.frames.len()).max().unwrap_or(0);
    if frames < 2 || code.continues() || code.watches_idle_lanes || code.relative_temps {
        return None;
    }
    let mut joined: Option<Code> = None;
    // From the inside out: lanes that have left one loop may leave the next one, too.
    for frame in (1..frames as u8).rev() {
        let code = joined.as_ref().unwrap_or(code);
        let breaks = (0..code.blocks.len()).filter(|&index| breaks_of(&code.blocks[index], frame).is_some());
        // All of them or none: then no lane returns where a loop of this frame ends.
        let through: Option<Vec<(usize, Flow)>> = breaks.map(|index| Some((index, through(code, index)?))).collect();
        let Some(through) = through.filter(|through| !through.is_empty()) else { continue };
        let mut next = code.clone();
        for (index, flow) in through {
            if let Some((id, stay)) = past(code, index)
                && let End::Flow(end) = &mut next.blocks[id].end
            {
                end.stay.to = stay;
            }
            next.blocks[index].end = End::Flow(flow);
        }
        joined = Some(next);
    }
    joined
}

/// The break at the end of a block that leaves loops up to this one.
fn breaks_of(block: &Block, frame: u8) -> Option<Flow> {
    block.flow().copied().filter(|flow| flow.frame == frame && flow.op == LoopOp::Break)
}

/// The comparison by which every running lane decides whether it breaks, if it is the only condition.
fn decision(block: &Block, flow: &Flow) -> Option<Value> {
    let of_result = flow.predicate.is_none() && matches!(flow.wants, 3 | 12);
    let votes = !flow.jump_any && !flow.exchange && !flow.ignore_uncovered && flow.stay.levels == 0;
    block.result.filter(|_| of_result && votes)
}

/// The flow control of a block that breaks, if the lanes that do break out of the next loop, too.
fn through(code: &Code, index: usize) -> Option<Flow> {
    let block = &code.blocks[index];
    let flow = *block.flow()?;
    let JumpTarget::Block(id) = flow.jump.to else { return None };
    let behind = &code.blocks[id];
    let again = breaks_of(behind, flow.frame - 1)?;
    let (holds, holds_again) = (decision(block, &flow)?, decision(behind, &again)?);
    let decides =
        |op: &Op| matches!(op, Op::Mask(op) if [M::RESULT, M::TEMP, M::TEMP2].contains(&op.writes())) || op.is_pure();
    let only_decides = behind.ops.iter().all(decides);
    let same = flow.wants == again.wants && value_behind(block, behind, holds_again) == Some(holds);
    let pops = flow.jump.levels <= 0 && again.jump.levels <= 0;
    let jump = Outcome { to: again.jump.to, levels: flow.jump.levels + again.jump.levels };
    (only_decides && same && pops).then_some(Flow { op: again.op, frame: again.frame, jump, ..flow })
}

/// Where a loop ends right after such a break, and its iterations are over, the running lanes have just decided not to
/// break. So they skip the comparison after the loop, which is left to lanes for which the loop had no iterations.
/// Gives that end, and its target.
fn past(code: &Code, index: usize) -> Option<(usize, JumpTarget)> {
    let flow = code.blocks[index].flow()?;
    let (JumpTarget::Block(id), JumpTarget::Block(behind)) = (flow.stay.to, flow.jump.to) else { return None };
    let (block, again) = (&code.blocks[id], code.blocks[behind].flow()?);
    let ends = block.flow().is_some_and(|end| {
        let goes = Outcome { to: JumpTarget::Block(behind), levels: 0 };
        end.op == LoopOp::End && end.frame == flow.frame && end.wants == 15 && !end.exchange && end.stay == goes
    });
    let only = code.blocks.iter().filter(|block| block.successors().any(|next| next == id)).count() == 1;
    (ends && only && id != behind && block.ops.is_empty()).then_some((id, again.stay.to))
}

/// The vector of a block that equals one of a later block, in terms of the variables as the first leaves them, for
/// lanes that run in it.
fn value_behind(block: &Block, behind: &Block, value: Value) -> Option<Value> {
    if behind.ops.len() > OPS || block.ops.len() > SEARCHED {
        return None;
    }
    let find = |wanted: Op| block.ops.iter().position(|&op| op == wanted).map(|place| Value(place as u32));
    let mut same: Vec<Option<Value>> = Vec::with_capacity(behind.ops.len());
    for op in &behind.ops {
        let found = match *op {
            Op::Get(var) => {
                let stored = block.ops.iter().rev().find_map(|op| match *op {
                    Op::Set { var: to, value, under } if to == var => Some((value, under)),
                    _ => None,
                });
                match stored {
                    None => find(*op),
                    Some((value, under)) => [M::ACTIVE, M::EXISTING].contains(&under).then_some(value),
                }
            }
            // The value of aL depends on the loop.
            Op::Number(_) => None,
            mut op => {
                let known = op.is_pure() && op.reads().all(|read| same[read.index()].is_some());
                op.rename(|read| same[read.index()].unwrap_or(read));
                if known { find(op) } else { None }
            }
        };
        same.push(found);
    }
    same[value.index()]
}

#[cfg(test)]
#[path = "../../tests/unit/passes/breaks.rs"]
mod tests;
