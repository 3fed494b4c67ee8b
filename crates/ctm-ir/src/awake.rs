//! Must-be-active analysis: the places where some lane runs for any data, and its use for the beginnings of loops.

use crate::x1k::{Block, Code, End, Flow, JumpTarget, LoopOp};

/// For each block whether some lane runs at its beginning: one that is covered, if uncovered ones have no vote in some decision.
///
/// The abstract state of a block is the lowest level such that some lane runs or lies in that level or a higher one;
/// the depth itself when some lane runs.
fn awake(code: &Code) -> Vec<bool> {
    const UNKNOWN: i8 = -1;
    let ignores = ignores_uncovered(code);
    let continued = code.continues();
    let mut known: Vec<Option<i8>> = vec![None; code.blocks.len()];
    known[0] = Some(0);
    let mut pending = vec![0usize];
    while let Some(index) = pending.pop() {
        let Some(level) = known[index] else { continue };
        let mut reach = |target: JumpTarget, level: i8| {
            let JumpTarget::Block(next) = target else { return };
            let level = level.min(code.blocks[next].depth as i8);
            let before = &mut known[next];
            if before.is_none_or(|before| level < before) {
                *before = Some(level);
                pending.push(next);
            }
        };
        match code.blocks[index].end {
            End::Stop => {}
            End::Next(target) => reach(target, level),
            End::Flow(flow) => {
                let levels = flow.levels as i8;
                let level = if flow.exchange { level.min(levels - 1) } else { level };
                // Lanes that ran before run, or lie in the new level; popped levels run.
                let after = |level: i8, change: i8| if change < 0 { level.min(levels + change) } else { level };
                // All lanes that stay or jump by a vote are counted in it.
                let votes = !flow.jump_any && (!ignores || flow.ignore_uncovered);
                let inhibited = continued && flow.op != LoopOp::Continue;
                let stay = match flow.op {
                    // Some lane runs for certain after the vote; then the lanes that agree do so after a new level,
                    // too.
                    LoopOp::Jump | LoopOp::Begin if votes => levels + flow.stay.levels,
                    LoopOp::Break | LoopOp::Continue if !votes || inhibited => UNKNOWN,
                    LoopOp::Break | LoopOp::Continue if levels == 0 => flow.stay.levels,
                    LoopOp::Break | LoopOp::Continue => after(0, flow.stay.levels),
                    LoopOp::Jump | LoopOp::Begin | LoopOp::End => after(level, flow.stay.levels),
                };
                // All running lanes agree to such a jump, and go on.
                let all_jump = flow.op == LoopOp::Jump && !flow.jump_any && !flow.exchange && level == levels;
                let jump = if all_jump { levels + flow.jump.levels } else { after(level, flow.jump.levels) };
                reach(flow.stay.to, stay);
                reach(flow.jump.to, jump);
            }
        }
    }
    code.blocks.iter().zip(known).map(|(block, known)| known == Some(block.depth as i8)).collect()
}

/// Removes the jumps of LOOP and REP that cannot happen: the count is not 0, and some lane with a vote wants to stay.
///
/// Compilers let such a jump lead to ENDLOOP, which would find no loop. `kills`: also where killed processors lose
/// their votes, so that a group with all processors killed would jump. The effects of such a group are not visible,
/// unless its instructions are counted. This does not hold for a group of which all running lanes have been killed: the
/// others may lie in a level, or have left a loop around this one. Nor does it hold for a jump back, which such a group
/// may take for ever.
pub fn settle_loops(code: &mut Code, kills: bool) {
    let votes_lost = code.blocks.iter().any(Block::kills) && ignores_uncovered(code);
    if !kills && votes_lost {
        return;
    }
    let left = code.flows().any(|flow| matches!(flow.op, LoopOp::Break | LoopOp::Continue));
    let awake = awake(code);
    let places: Vec<u16> = code.blocks.iter().map(|block| block.pc).collect();
    for (block, awake) in code.blocks.iter_mut().zip(awake) {
        let goes_back = |jump: JumpTarget| matches!(jump, JumpTarget::Block(to) if places[to] <= block.pc);
        let others = block.depth > 0 || left && !block.frames.is_empty();
        if let End::Flow(flow) = &mut block.end
            && flow.op == LoopOp::Begin
            && awake
            && flow.begins.count > 0
            && flow.wants == 0
            && !flow.exchange
            && matches!(flow.stay.to, JumpTarget::Block(_))
            && !(votes_lost && (others || goes_back(flow.jump.to)))
        {
            flow.jump.to = JumpTarget::Never;
        }
    }
}

/// Whether uncovered lanes have no vote in some decision that depends on votes.
fn ignores_uncovered(code: &Code) -> bool {
    let votes = |flow: &Flow| flow.wants != 0 || !flow.jump_any || flow.exchange;
    code.flows().any(|flow| votes(flow) && flow.ignore_uncovered)
}
