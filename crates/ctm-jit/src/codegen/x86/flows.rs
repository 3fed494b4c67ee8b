//! What holds for flow control whatever the data are: what lets machine code decide for all copies at once.

use super::lir::{Lines, Lir};
use crate::ir::awake::awake;
use crate::ir::x1k::{BlockId, Code, End, Flow, Levels, Target};
use crate::lower::x1k::joint::closed;
use ctm_isa::x1k::ops::FcOp;

/// Such facts about a program. Copies that wait elsewhere do not count as being at a block.
pub struct Flows {
    /// For each block, where copies may wait while others run it.
    pub waits: Vec<Vec<BlockId>>,
    /// At each block's beginning, some lane of every copy that is there runs.
    pub awake: Vec<bool>,
    /// The ALU result is 0 at each block's beginning.
    pub clear: Vec<bool>,
    /// The ALU result is 0 at each block's end.
    pub clear_end: Vec<bool>,
    /// Where a loop ends, exactly those lanes run again that ran where it began.
    pub closed: bool,
    /// Of each frame of the loop stack: all copies that are in such a loop have the same number of iterations left, and its end depends on
    /// nothing else.
    pub counted: Vec<bool>,
    /// For the first block of a loop: its last block. Whoever comes to the first one comes from there, or from before the loop.
    pub iterations: Vec<Option<BlockId>>,
}

impl Flows {
    /// Works them out. `lines`: the instructions; `waits`: for each block, where copies may wait while others run it.
    pub fn of(code: &Code, lines: &[Lines], waits: &[Vec<BlockId>]) -> Self {
        let count = code.blocks.len();
        let sets_result = |lines: &Lines| lines.lir.iter().any(|lir| matches!(lir, Lir::SetMask(4, ..)));
        let sets: Vec<bool> = lines.iter().map(sets_result).collect();
        let mut clear = vec![true; count];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in code.blocks.iter().enumerate() {
                if let End::Next(Target::Block(next)) = block.end
                    && (sets[index] || !clear[index])
                {
                    changed |= std::mem::replace(&mut clear[next.index()], false);
                }
            }
        }
        let mut flows = Self {
            waits: waits.to_vec(),
            awake: awake(code),
            clear_end: clear.iter().zip(&sets).map(|(&clear, &sets)| clear && !sets).collect(),
            clear,
            closed: closed(code),
            counted: Vec::new(),
            iterations: vec![None; count],
        };
        let frames = code.blocks.iter().map(|block| match block.end {
            End::Flow(flow) => block.frames.frames.len().max(usize::from(flow.frame) + 1),
            End::Stop | End::Next(_) => block.frames.frames.len(),
        });
        let frames = frames.max().unwrap_or(0);
        flows.counted = (0..frames as u8).map(|frame| flows.is_counted(code, frame)).collect();
        for index in 0..count {
            flows.iterations[index] = flows.last_of(code, BlockId(index as u16));
        }
        flows
    }

    /// Whether the iterations of this frame's loops depend on nothing but their count, which is the same for all copies.
    fn is_counted(&self, code: &Code, frame: u8) -> bool {
        let of_frame = |index: &usize| matches!(code.blocks[*index].end, End::Flow(flow) if flow.frame == frame);
        (0..code.blocks.len()).filter(of_frame).all(|index| {
            let End::Flow(flow) = code.blocks[index].end else { return true };
            match flow.op {
                FcOp::Jump | FcOp::BreakLoop | FcOp::BreakRep => true,
                FcOp::Continue => false,
                FcOp::Loop | FcOp::Rep => self.alone(code, index, frame),
                FcOp::EndLoop | FcOp::EndRep => {
                    let always = flow.wants == 15 && (!flow.jump_any || self.awake[index]);
                    self.alone(code, index, frame) && always && self.plain(&flow, index)
                }
            }
        })
    }

    /// Whether nobody waits in a loop of this frame while the block runs.
    fn alone(&self, code: &Code, index: usize, frame: u8) -> bool {
        self.waits[index].iter().all(|wait| code.blocks[wait.index()].frames.frames.len() <= frame.into())
    }

    /// Whether it does nothing to levels, and has nothing to do for the ALU result.
    fn plain(&self, flow: &Flow, index: usize) -> bool {
        let keeps = flow.stay_levels == Levels::Keep && flow.jump_levels == Levels::Keep;
        let goes = matches!((flow.stay, flow.jump), (Target::Block(_), Target::Block(_)));
        keeps && goes && !flow.exchange && !flow.ignore_uncovered && self.clear_end[index]
    }

    /// Whether this beginning of a loop depends on the count alone.
    pub fn begins(&self, flow: &Flow, index: usize) -> bool {
        matches!(flow.op, FcOp::Loop | FcOp::Rep)
            && self.counted[usize::from(flow.frame)]
            && flow.wants == 0
            && (flow.jump_any || self.awake[index])
            && self.plain(flow, index)
    }

    /// Whether this end of a loop depends on the count alone.
    pub fn ends(&self, flow: &Flow) -> bool {
        matches!(flow.op, FcOp::EndLoop | FcOp::EndRep) && self.counted[usize::from(flow.frame)]
    }

    /// The last block of the loop that begins here, if visits of the first one follow from those of the last.
    fn last_of(&self, code: &Code, first: BlockId) -> Option<BlockId> {
        let mut last = None;
        if first == BlockId(0) || code.watches_idle_lanes {
            return None;
        }
        for (index, block) in code.blocks.iter().enumerate() {
            if !block.successors().any(|next| next == first) {
                continue;
            }
            let End::Flow(flow) = block.end else { return None };
            let (stays, jumps) = (flow.stay == Target::Block(first), flow.jump == Target::Block(first));
            if self.begins(&flow, index) && stays && !jumps {
                continue;
            }
            if !self.ends(&flow) || stays || last.is_some() || index == first.index() {
                return None;
            }
            last = Some(BlockId(index as u16));
        }
        last
    }
}
