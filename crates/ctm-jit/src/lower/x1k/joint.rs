//! Several groups as if they were one large one.
//!
//! Where a group jumps when none of its lanes wants to stay, it may as well stay with no lane running, if that leads to the same in the end:
//! such a group is a *passenger*. In programs made of statements (CTM §3.5.4) it always does. Then groups never part: whoever stays takes
//! the others along, and one test of all masks decides. Groups do not pass the blocks that they would pass alone, so this is for
//! code that counts nothing.

use crate::ir::x1k::{Block, BlockId, Code, End, Flow, Levels, Target, leaves_loop};
use ctm_isa::x1k::ops::FcOp;

/// Programs of more blocks are not looked at, as that takes time.
const BLOCKS: usize = 96;
/// Where the lanes of a passenger are meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// In a level of branch-inactive lanes.
    Level(u8),
    /// They have left a loop.
    Loop(u8),
}

/// Whether all decisions of a program can be made for several groups at once.
pub fn holds(code: &Code) -> bool {
    let ends = || code.blocks.iter().map(|block| block.end);
    let known = |target: Target| matches!(target, Target::Block(_));
    if code.watches_idle_lanes || code.relative_temps || code.blocks.len() > BLOCKS {
        return false;
    }
    closed(code)
        && ends().all(|end| match end {
            End::Stop => true,
            End::Next(target) => known(target),
            End::Flow(flow) => flow_holds(code, &flow),
        })
}

/// Whether, of the groups that come to a flow-control instruction with some lane running, those that jump may stay as well.
fn flow_holds(code: &Code, flow: &Flow) -> bool {
    let (stay, jump) = match (flow.stay, flow.jump) {
        (Target::Block(stay), Target::Block(jump)) => (stay, jump),
        // There is only one way.
        (Target::Block(_), Target::Never) if matches!(flow.op, FcOp::Loop | FcOp::Rep) => {
            return flow.stay_levels == Levels::Keep && !flow.ignore_uncovered;
        }
        (Target::Block(_), Target::Never) | (Target::Never, Target::Block(_)) => {
            return flow.op == FcOp::Jump && !flow.ignore_uncovered;
        }
        _ => return false,
    };
    let keeps = flow.stay_levels == Levels::Keep && flow.jump_levels == Levels::Keep && !flow.exchange;
    if flow.ignore_uncovered {
        return false;
    }
    match flow.op {
        FcOp::Continue => false,
        // The count alone decides.
        FcOp::EndLoop | FcOp::EndRep => keeps && flow.wants == 15,
        FcOp::Loop | FcOp::Rep => keeps && flow.wants == 0,
        FcOp::BreakLoop | FcOp::BreakRep => {
            let pops = matches!(flow.jump_levels, Levels::Keep | Levels::Pop(_));
            let votes = !flow.jump_any && !flow.exchange && flow.stay_levels == Levels::Keep;
            votes && pops && passes(code, stay, jump, Rest::Loop(flow.frame))
        }
        // ELSE: who ran before rests; if nobody runs now, a group alone would jump.
        FcOp::Jump if flow.exchange => {
            let top = flow.depth.max(1) - 1;
            let rests = || flow.stay_levels == Levels::Keep && passes(code, stay, jump, Rest::Level(top));
            !flow.jump_any && (flow.wants == 15 || flow.wants == 0 && rests())
        }
        // What all lanes want, whatever the data are.
        FcOp::Jump if matches!(flow.wants, 0 | 15) => true,
        // IF: who does not run any more rests in the new level.
        FcOp::Jump => {
            let pushes = flow.stay_levels == Levels::Push && !matches!(flow.jump_levels, Levels::Pop(_));
            pushes && !flow.jump_any && passes(code, stay, jump, Rest::Level(flow.depth))
        }
    }
}

/// Whether a group that goes on at `stay` with all its lanes at rest finds them running at `end`, and nowhere else, whichever way others take it
/// along. The levels are the same then as if it had jumped there: how many there are belongs to the block, and those that are new are empty.
///
/// This covers all flow-control instructions on its way, too: whether it stays or jumps there makes no difference to it.
fn passes(code: &Code, stay: BlockId, end: BlockId, rest: Rest) -> bool {
    let outside = &code.blocks[end.index()];
    let mut seen = vec![false; code.blocks.len()];
    let mut pending = vec![stay];
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let block = &code.blocks[id.index()];
        let flow = match block.end {
            End::Stop => return false,
            End::Next(Target::Block(next)) => {
                pending.push(next);
                continue;
            }
            End::Next(_) => return false,
            End::Flow(flow) => flow,
        };
        if [flow.stay, flow.jump].contains(&Target::Reference) {
            return false;
        }
        let levels = flow.depth.max(u8::from(flow.exchange));
        if flow.exchange && levels - 1 < outside.depth && rest != Rest::Level(levels - 1) {
            return false;
        }
        if flow.exchange && rest == Rest::Level(levels - 1) {
            // They run, and vote.
            let goes = match flow.wants {
                0 => (flow.stay, flow.stay_levels),
                15 => (flow.jump, flow.jump_levels),
                _ => return false,
            };
            if flow.jump_any || goes != (Target::Block(end), Levels::Keep) {
                return false;
            }
            continue;
        }
        for (next, effect, jumps) in [(flow.stay, flow.stay_levels, false), (flow.jump, flow.jump_levels, true)] {
            let Target::Block(next) = next else { continue };
            let leaves = leaves_loop(flow.op, jumps);
            let mut runs = false;
            match (flow.op, rest) {
                // While lanes rest in a level of its own, the loop is not left.
                (FcOp::BreakLoop | FcOp::BreakRep, Rest::Level(level))
                    if jumps && level >= code.blocks[next.index()].depth =>
                {
                    continue;
                }
                (FcOp::BreakLoop | FcOp::BreakRep | FcOp::EndLoop | FcOp::EndRep, Rest::Loop(frame)) => {
                    if frame > flow.frame {
                        return false;
                    }
                    runs = leaves && frame == flow.frame;
                }
                (FcOp::Loop | FcOp::Rep, Rest::Loop(frame)) if frame >= flow.frame => return false,
                (FcOp::Continue, _) => return false,
                _ => {}
            }
            if let Levels::Pop(count) = effect {
                let lowest = levels.saturating_sub(count);
                // Whoever rests outside goes on resting.
                if lowest < outside.depth {
                    return false;
                }
                runs |= matches!(rest, Rest::Level(level) if level >= lowest);
            }
            // Who leaves a loop outside of which the group was to run has gone too far.
            if leaves && usize::from(flow.frame) < outside.frames.frames.len() {
                return false;
            }
            if !runs {
                pending.push(next);
            } else if next != end {
                return false;
            }
        }
    }
    true
}

/// Whether, of every loop, exactly those lanes run behind it that ran before it; but for those that leave the loop around it, too.
pub fn closed(code: &Code) -> bool {
    code.blocks.iter().all(|block| match block.end {
        End::Flow(flow) if matches!(flow.op, FcOp::Loop | FcOp::Rep) => loop_is_closed(code, &flow),
        _ => true,
    })
}

fn loop_is_closed(code: &Code, begin: &Flow) -> bool {
    let Target::Block(first) = begin.stay else { return true };
    let depth = code.blocks[first.index()].depth;
    let inside = |block: &Block| block.frames.frames.len() > begin.frame.into();
    let mut seen = vec![false; code.blocks.len()];
    let mut pending = vec![first];
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let block = &code.blocks[id.index()];
        if block.depth < depth || !inside(block) {
            return false;
        }
        match block.end {
            End::Stop => {}
            End::Next(Target::Block(next)) => pending.push(next),
            End::Next(_) => {}
            End::Flow(flow) => {
                if flow.exchange && flow.depth <= depth {
                    return false;
                }
                for (target, jump) in [(flow.stay, false), (flow.jump, true)] {
                    let Target::Block(next) = target else { continue };
                    let leaves = leaves_loop(flow.op, jump);
                    if leaves && flow.frame < begin.frame && inside(block) {
                        // See `breaks`.
                    } else if flow.frame != begin.frame || !leaves {
                        pending.push(next);
                    } else if code.blocks[next.index()].depth != depth {
                        return false;
                    }
                }
            }
        }
    }
    true
}
