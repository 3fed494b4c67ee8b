//! Breaks that lead to breaks: lanes that leave a loop and then, by the same comparison, the loop around it.
//!
//! A program whose loops count to more than one constant holds nests them: the inner loop's BREAK is followed, behind its end, by the comparison that
//! was just made, for those who broke; and by the BREAK of the outer loop. Such lanes may as well leave both loops at once. What the comparison reads is
//! then not kept for them, so the inner loop stores it without a mask.
//!
//! Blocks are not passed that a group would pass alone, so this is for code that counts nothing. And it is for code that decides for all copies together
//! ([`super::joint`]), which asks that lanes come back where their break leads, whichever way others take.

use crate::ir::x1k::{Block, BlockId, Code, End, Flow, Levels, Op, Target, Under, Value};
use ctm_isa::x1k::ops::{CompareOp, FcOp};

/// Blocks that make more than such a comparison are not looked at, as that takes time.
const OPS: usize = 16;
/// Blocks with more are not searched.
const SEARCHED: usize = 512;

/// The program in which such lanes leave both loops at once; `None` where there are none. It has the same blocks.
pub fn joined(code: &Code) -> Option<Code> {
    let frames = code.blocks.iter().map(|block| block.frames.frames.len()).max().unwrap_or(0);
    let continues = code.blocks.iter().any(|b| matches!(b.end, End::Flow(flow) if flow.op == FcOp::Continue));
    if frames < 2 || continues || code.watches_idle_lanes || code.relative_temps {
        return None;
    }
    let mut joined: Option<Code> = None;
    // From the inside out: what has left one loop may leave the next one, too.
    for frame in (1..frames as u8).rev() {
        let code = joined.as_ref().unwrap_or(code);
        let breaks = (0..code.blocks.len()).filter(|&index| breaks_of(&code.blocks[index], frame).is_some());
        // All of them or none: then nobody comes back where a loop of this frame ends.
        let through: Option<Vec<(usize, Flow)>> = breaks.map(|index| Some((index, through(code, index)?))).collect();
        let Some(through) = through.filter(|through| !through.is_empty()) else { continue };
        let mut next = code.clone();
        for (index, flow) in through {
            if let Some((id, stay)) = past(code, index)
                && let End::Flow(end) = &mut next.blocks[id.index()].end
            {
                end.stay = stay;
            }
            next.blocks[index].end = End::Flow(flow);
        }
        joined = Some(next);
    }
    joined
}

/// The break at the end of a block that leaves loops up to this one.
fn breaks_of(block: &Block, frame: u8) -> Option<Flow> {
    match block.end {
        End::Flow(flow) if flow.frame == frame && matches!(flow.op, FcOp::BreakLoop | FcOp::BreakRep) => Some(flow),
        _ => None,
    }
}

/// The comparison by which every lane that runs decides whether it breaks, if nothing else does: it, and what it compares with zero.
fn decision(block: &Block, flow: &Flow) -> Option<(CompareOp, Value)> {
    let of_result = flow.predicate.is_none() && matches!(flow.wants, 3 | 12);
    let votes = !flow.jump_any && !flow.exchange && !flow.ignore_uncovered && flow.stay_levels == Levels::Keep;
    let last = block.ops.iter().rev().find_map(|op| match *op {
        Op::SetResult(how, value, under) => Some((how, value, under)),
        _ => None,
    });
    let (how, value, under) = last?;
    (of_result && votes && under == Under::default()).then_some((how, value))
}

/// The flow control of a block that breaks, if those who do break out of the next loop, too.
fn through(code: &Code, index: usize) -> Option<Flow> {
    let block = &code.blocks[index];
    let End::Flow(flow) = block.end else { return None };
    let Target::Block(id) = flow.jump else { return None };
    let behind = &code.blocks[id.index()];
    let again = breaks_of(behind, flow.frame - 1)?;
    let (how, value) = decision(block, &flow)?;
    let (how_again, value_again) = decision(behind, &again)?;
    let only_decides = behind.ops.iter().all(|op| op.is_pure() || matches!(op, Op::SetResult(..)));
    let same = (how, flow.wants) == (how_again, again.wants) && value_behind(block, behind, value_again) == Some(value);
    let pops = |levels: Levels| match levels {
        Levels::Keep => Some(0),
        Levels::Pop(count) => Some(count),
        Levels::Push => None,
    };
    let levels = pops(flow.jump_levels)? + pops(again.jump_levels)?;
    let jump_levels = if levels == 0 { Levels::Keep } else { Levels::Pop(levels) };
    (only_decides && same).then_some(Flow { op: again.op, frame: again.frame, jump: again.jump, jump_levels, ..flow })
}

/// Where a loop ends right behind such a break, and its iterations are over, those who run have just decided that they do not break. So they go past the
/// comparison behind the loop, which is left to those for whom it had no iterations. Gives that end, and where they go.
fn past(code: &Code, index: usize) -> Option<(BlockId, Target)> {
    let End::Flow(Flow { frame, stay: Target::Block(id), jump: Target::Block(behind), .. }) = code.blocks[index].end
    else {
        return None;
    };
    let (block, End::Flow(again)) = (&code.blocks[id.index()], code.blocks[behind.index()].end) else { return None };
    let ends = matches!(block.end, End::Flow(Flow {
        op: FcOp::EndLoop | FcOp::EndRep,
        frame: of,
        wants: 15,
        exchange: false,
        stay_levels: Levels::Keep,
        stay: Target::Block(stay),
        ..
    }) if of == frame && stay == behind);
    let only = code.blocks.iter().filter(|block| block.successors().any(|next| next == id)).count() == 1;
    (ends && only && id != behind && block.ops.is_empty()).then_some((id, again.stay))
}

/// The vector of a block that is what another one makes of the variables as the first leaves them, for lanes that run in it.
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
                    Op::Set(to, value, under) if to == var => Some((value, under)),
                    _ => None,
                });
                match stored {
                    None => find(*op),
                    Some((value, under)) => (under.predicate.is_none() && !under.covered).then_some(value),
                }
            }
            // What aL is depends on the loop.
            Op::GetRelative { .. } => None,
            op => {
                let known = op.is_pure() && op.reads().all(|read| same[read.index()].is_some());
                let renamed = known.then(|| crate::passes::x1k::renamed(op, |read| same[read.index()].unwrap_or(read)));
                renamed.and_then(find)
            }
        };
        same.push(found);
    }
    same[value.index()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_exec::x1k::Constants;

    /// How many breaks leave more than one loop then.
    fn leave_both(before_inner: &str, before_outer: &str) -> usize {
        let text = format!(
            ".output o = o0\n.int i = i0 (3, 0, 0)\nmov r1, r0\nmov r2, 0\nrep i\nrep i\nmad r1, r1, r1, r0\nadd r2, r2, 1\n{before_inner}\nbreak res\n\
             endrep\n{before_outer}\nbreak res\nendrep\nmov o, r2\n"
        );
        let assembly = ctm_isa::x1k::text::assemble(&text);
        let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        let Some(mut code) = crate::lower::x1k::lower(&program, &Constants::default(), false) else { panic!("{text}") };
        crate::passes::x1k::optimise(&mut code, false);
        assert!(crate::lower::x1k::joint::holds(&code));
        let Some(joined) = joined(&code) else { return 0 };
        assert!(crate::lower::x1k::joint::holds(&joined));
        let further = |(old, new): &(&Block, &Block)| match (old.end, new.end) {
            (End::Flow(old), End::Flow(new)) => new.frame < old.frame,
            _ => false,
        };
        code.blocks.iter().zip(&joined.blocks).filter(further).count()
    }

    #[test]
    fn the_same_comparison_leaves_both_loops() {
        let compare = "add res(r ge), r1.r, -2.0";
        assert_eq!(leave_both(compare, compare), 1);
        assert_eq!(leave_both(&format!("{compare}\nadd r2.g, r2.r, 1"), compare), 1);
        // Twice in the inner loop, and both times the same.
        let twice = format!("{compare}\nbreak res\nmad r1, r1, r1, r0\n{compare}");
        assert_eq!(leave_both(&twice, compare), 2);
    }

    #[test]
    fn other_comparisons_do_not() {
        let compare = "add res(r ge), r1.r, -2.0";
        for (inner, outer) in [
            (compare, "add res(r lt), r1.r, -2.0"),
            (compare, "add res(r ge), r1.r, -4.0"),
            (compare, "add res(r ge), r2.r, -2.0"),
            // What is compared has changed meanwhile.
            ("add res(r ge), r1.r, -2.0\nadd r1.r, r1.r, 1", compare),
            // Something else happens between the two.
            (compare, "add r2.g, r2.g, 1\nadd res(r ge), r1.r, -2.0"),
            // Some leave the inner loop for another reason.
            ("add res(r ge), r2.r, -2.0\nbreak res\nadd res(r ge), r1.r, -2.0", compare),
        ] {
            assert_eq!(leave_both(inner, outer), 0, "{inner} / {outer}");
        }
    }
}
