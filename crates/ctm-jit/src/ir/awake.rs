//! Where some lane runs, whatever the data are; and what follows for the beginnings of loops.

use crate::ir::x1k::{Block, Code, End, Flow, Levels, Target};
use ctm_isa::x1k::ops::FcOp;

/// For each block whether some lane runs at its beginning: one that is covered, if uncovered ones have no vote in some decision.
///
/// Known is, for each block, the lowest level for which it still holds that some lane runs or lies in that level or a higher one; the depth
/// itself when it runs.
pub fn awake(code: &Code) -> Vec<bool> {
    const UNKNOWN: i32 = -1;
    let ignores = ignores_uncovered(code);
    // Whoever stays or jumps by a vote is one of those that are meant.
    let counts = |flow: &Flow| !ignores || flow.ignore_uncovered;
    let continued = code.blocks.iter().any(|b| matches!(b.end, End::Flow(flow) if flow.op == FcOp::Continue));
    let mut known: Vec<Option<i32>> = vec![None; code.blocks.len()];
    known[0] = Some(0);
    let mut pending = vec![0usize];
    while let Some(index) = pending.pop() {
        let block = &code.blocks[index];
        let Some(level) = known[index] else { continue };
        let mut reach = |target: Target, level: i32| {
            let Target::Block(next) = target else { return };
            let level = level.min(code.blocks[next.index()].depth.into());
            let before = &mut known[next.index()];
            if before.is_none_or(|before| level < before) {
                *before = Some(level);
                pending.push(next.index());
            }
        };
        match block.end {
            End::Stop => {}
            End::Next(target) => reach(target, level),
            End::Flow(flow) => {
                let levels = i32::from(flow.depth.max(u8::from(flow.exchange)));
                let level = if flow.exchange { level.min(levels - 1) } else { level };
                let after = |level: i32, effect: Levels| match effect {
                    Levels::Keep => level,
                    // Who ran before runs or lies in the new level.
                    Levels::Push => level,
                    Levels::Pop(count) => level.min(levels - i32::from(count)),
                };
                // Somebody runs for certain after the vote; then those who agree do so after a new level, too.
                let running = |effect: Levels| match effect {
                    Levels::Keep => levels,
                    Levels::Push => levels + 1,
                    Levels::Pop(count) => levels - i32::from(count),
                };
                let stay = match flow.op {
                    FcOp::Jump | FcOp::Loop | FcOp::Rep if !flow.jump_any && counts(&flow) => running(flow.stay_levels),
                    FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue => {
                        let inhibited = continued && flow.op != FcOp::Continue;
                        if flow.jump_any || inhibited || !counts(&flow) {
                            UNKNOWN
                        } else if levels == 0 {
                            running(flow.stay_levels)
                        } else {
                            after(0, flow.stay_levels)
                        }
                    }
                    _ => after(level, flow.stay_levels),
                };
                // All that run agree to such a jump, and go on.
                let all_jump = flow.op == FcOp::Jump && !flow.jump_any && !flow.exchange && level == levels;
                let jump = if all_jump { running(flow.jump_levels) } else { after(level, flow.jump_levels) };
                reach(flow.stay, stay);
                reach(flow.jump, jump);
            }
        }
    }
    code.blocks.iter().zip(known).map(|(block, known)| known == Some(block.depth.into())).collect()
}

/// Forgets that LOOP and REP may jump, where they cannot: the count is not 0, and some lane that has a vote wants to stay.
///
/// Compilers let such a jump lead to ENDLOOP, which would find no loop. `kills`: also where processors that are killed lose their votes, so that a
/// group of which all have been killed would jump. Nobody sees what such a group does, unless its instructions are counted. A group of which all
/// that run have been killed is another matter: the others may lie in a level, or have left a loop around this one. So is a jump back, which such a group
/// may take for ever.
pub fn settle_loops(code: &mut Code, kills: bool) {
    let killing = code.blocks.iter().any(Block::kills);
    let votes_lost = killing && ignores_uncovered(code);
    if !kills && votes_lost {
        return;
    }
    let leaves = |op: FcOp| matches!(op, FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue);
    let left = code.blocks.iter().any(|block| matches!(block.end, End::Flow(flow) if leaves(flow.op)));
    let awake = awake(code);
    let places: Vec<u16> = code.blocks.iter().map(|block| block.pc).collect();
    for (block, awake) in code.blocks.iter_mut().zip(awake) {
        let goes_back = |jump: Target| matches!(jump, Target::Block(to) if places[to.index()] <= block.pc);
        let others = block.depth > 0 || left && !block.frames.frames.is_empty();
        if let End::Flow(flow) = &mut block.end
            && matches!(flow.op, FcOp::Loop | FcOp::Rep)
            && awake
            && flow.count > 0
            && flow.wants == 0
            && !flow.exchange
            && matches!(flow.stay, Target::Block(_))
            && !(votes_lost && (others || goes_back(flow.jump)))
        {
            flow.jump = Target::Never;
        }
    }
}

/// Whether uncovered lanes have no vote in some decision that depends on votes.
fn ignores_uncovered(code: &Code) -> bool {
    let votes = |flow: &Flow| flow.wants != 0 || !flow.jump_any || flow.exchange;
    code.blocks.iter().any(|block| matches!(block.end, End::Flow(flow) if votes(&flow) && flow.ignore_uncovered))
}
