//! Several groups that run as one large group.
//!
//! Where a group jumps because none of its lanes wants to stay, it may stay with no lane running, if that leads to the
//! same final state: such a group is a *passenger*. In programs made of statements (CTM §3.5.4) it always does. Then
//! all groups follow one path: a group that stays takes the others along, and one test of all masks decides. Groups pass
//! other blocks than they would alone, so this is for code without counters.

use crate::x1k::{Code, End, Flow, JumpTarget, LoopOp, Outcome};

/// Programs of more blocks are skipped, to bound the time.
const BLOCKS: usize = 96;

/// The place of a passenger's lanes meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// In a level of branch-inactive lanes.
    Level(u8),
    /// They have left a loop.
    Loop(u8),
}

/// Whether all decisions of a program can be made for several groups at once.
pub fn holds(code: &Code) -> bool {
    if code.watches_idle_lanes || code.relative_temps || code.blocks.len() > BLOCKS {
        return false;
    }
    code.flows().all(|flow| flow.op != LoopOp::Begin || loop_is_closed(code, flow))
        && code.blocks.iter().all(|block| match block.end {
            End::Stop => true,
            End::Next(target) => matches!(target, JumpTarget::Block(_)),
            End::Flow(flow) => flow_holds(code, &flow),
        })
}

/// Whether, of the groups that reach a flow-control instruction with some lane running, those that jump may stay as
/// well.
fn flow_holds(code: &Code, flow: &Flow) -> bool {
    if flow.ignore_uncovered {
        return false;
    }
    let stays = flow.stay.levels == 0;
    let (stay, jump) = match (flow.stay.to, flow.jump.to) {
        (JumpTarget::Block(stay), JumpTarget::Block(jump)) => (stay, jump),
        // There is only one way.
        (JumpTarget::Block(_), JumpTarget::Never) if flow.op == LoopOp::Begin => return stays,
        (JumpTarget::Block(_), JumpTarget::Never) | (JumpTarget::Never, JumpTarget::Block(_)) => {
            return flow.op == LoopOp::Jump;
        }
        _ => return false,
    };
    let keeps = stays && flow.jump.levels == 0 && !flow.exchange;
    match flow.op {
        LoopOp::Continue => false,
        // The count alone decides.
        LoopOp::End => keeps && flow.wants == 15,
        LoopOp::Begin => keeps && flow.wants == 0,
        LoopOp::Break => {
            let votes = !flow.jump_any && !flow.exchange && stays;
            votes && flow.jump.levels <= 0 && passes(code, stay, jump, Rest::Loop(flow.frame))
        }
        LoopOp::Jump => match flow.exchanged() {
            // ELSE: the lanes that ran before rest; if no lane runs now, a group alone would jump.
            Some(top) => {
                let rests = || stays && passes(code, stay, jump, Rest::Level(top));
                !flow.jump_any && (flow.wants == 15 || flow.wants == 0 && rests())
            }
            // The wish of all lanes, for any data.
            None if matches!(flow.wants, 0 | 15) => true,
            // IF: the lanes that stop running rest in the new level.
            None => {
                let pushes = flow.stay.levels > 0 && flow.jump.levels >= 0;
                pushes && !flow.jump_any && passes(code, stay, jump, Rest::Level(flow.levels))
            }
        },
    }
}

/// Whether a group that goes on at `stay` with all its lanes at rest has them running at `end`, and nowhere else, on
/// every way that others take it along. The levels are the same then as after a jump to `end`: their number is a
/// property of the block, and new ones are empty.
///
/// This covers all flow-control instructions on its way, too: whether it stays or jumps there makes no difference to it.
fn passes(code: &Code, stay: usize, end: usize, rest: Rest) -> bool {
    let outside = &code.blocks[end];
    code.all_reached(stay, |block, pending| {
        let flow = match block.end {
            End::Next(JumpTarget::Block(next)) => {
                pending.push(next);
                return true;
            }
            End::Stop | End::Next(_) => return false,
            End::Flow(flow) => flow,
        };
        if [flow.stay.to, flow.jump.to].contains(&JumpTarget::Reference) {
            return false;
        }
        if let Some(top) = flow.exchanged() {
            if rest == Rest::Level(top) {
                // They run, and vote.
                let goes = match flow.wants {
                    0 => flow.stay,
                    15 => flow.jump,
                    _ => return false,
                };
                return !flow.jump_any && goes == Outcome { to: JumpTarget::Block(end), levels: 0 };
            }
            if top < outside.depth {
                return false;
            }
        }
        for (outcome, jumps) in flow.outcomes() {
            let JumpTarget::Block(next) = outcome.to else { continue };
            let leaves = flow.op.leaves(jumps);
            let mut runs = false;
            match (flow.op, rest) {
                // While lanes rest in a level of its own, the loop is not left.
                (LoopOp::Break, Rest::Level(level)) if jumps && level >= code.blocks[next].depth => continue,
                (LoopOp::Break | LoopOp::End, Rest::Loop(frame)) => {
                    if frame > flow.frame {
                        return false;
                    }
                    runs = leaves && frame == flow.frame;
                }
                (LoopOp::Begin, Rest::Loop(frame)) if frame >= flow.frame => return false,
                (LoopOp::Continue, _) => return false,
                _ => {}
            }
            if outcome.levels < 0 {
                let lowest = flow.levels.saturating_add_signed(outcome.levels);
                // Lanes that rest outside go on resting.
                if lowest < outside.depth {
                    return false;
                }
                runs |= matches!(rest, Rest::Level(level) if level >= lowest);
            }
            // The path leaves a loop in which the group's lanes would have to run again.
            if leaves && usize::from(flow.frame) < outside.frames.len() {
                return false;
            }
            if !runs {
                pending.push(next);
            } else if next != end {
                return false;
            }
        }
        true
    })
}

/// Whether the lanes that run after a loop are exactly those that ran before it; but for lanes that leave the enclosing
/// loop, too.
fn loop_is_closed(code: &Code, begin: &Flow) -> bool {
    let JumpTarget::Block(first) = begin.stay.to else { return true };
    let depth = code.blocks[first].depth;
    code.all_reached(first, |block, pending| {
        if block.depth < depth || block.frames.len() <= begin.frame.into() {
            return false;
        }
        let End::Flow(flow) = block.end else {
            pending.extend(block.successors());
            return true;
        };
        if flow.exchange && block.depth <= depth {
            return false;
        }
        for (outcome, jump) in flow.outcomes() {
            let JumpTarget::Block(next) = outcome.to else { continue };
            let leaves = flow.op.leaves(jump);
            if !leaves || flow.frame > begin.frame {
                pending.push(next);
            } else if flow.frame == begin.frame && code.blocks[next].depth != depth {
                return false;
            }
            // For paths that leave a loop around this one, see `breaks`.
        }
        true
    })
}
