//! Loops while all lanes run: AVX2.
//!
//! A store under a mask is a choice there, which is several operations of the processor, and the masks come from memory. As long as all lanes of all
//! copies run, neither is needed. So the body of a small innermost loop has a second code, which a group comes to when the loop begins with
//! all its lanes running: stores are plain, one test asks whether some lane leaves, and the rows of running lanes stay as they are. As soon as
//! some lane leaves, the code with masks goes on, from the decision on.
//!
//! For code that decides for all copies together ([`super::joint`]).

use super::emit::Emit;
use super::isa::Isa;
use super::lir::{Lines, Lir};
use super::together::Decision;
use super::vectors::Vectors;
use crate::codegen::x86::asm::{CMP_F32, Cond, Int, Label, OR_F32, RAX, Rm};
use crate::ir::x1k::{BlockId, Code, End, Flow, Levels, Target, Under};
use crate::launch::lanes::Mask;
use crate::passes::table::Pass;
use ctm_isa::x1k::ops::FcOp;

/// The most blocks of a body.
const BLOCKS: usize = 8;
/// The most instructions of a body; longer ones gain less, and what they are compiled for twice is more.
const LINES: usize = 128;

/// The body of a loop, which has a code of its own.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its blocks, in the order in which they run.
    blocks: Vec<usize>,
    /// Where its code begins.
    begin: Label,
}

/// The blocks of the loop that begins so: one after the other, with no flow control but breaks and the loop's end.
fn blocks(code: &Code, begin: &Flow) -> Option<Vec<usize>> {
    let Target::Block(first) = begin.stay else { return None };
    let (mut blocks, mut at) = (Vec::new(), first);
    while blocks.len() < BLOCKS {
        blocks.push(at.index());
        match code.blocks[at.index()].end {
            End::Next(Target::Block(next)) => at = next,
            End::Flow(flow) => match flow.op {
                FcOp::BreakLoop | FcOp::BreakRep if flow.frame <= begin.frame => {
                    let Target::Block(next) = flow.stay else { return None };
                    at = next;
                }
                FcOp::EndLoop | FcOp::EndRep if flow.frame == begin.frame => {
                    return (flow.jump == Target::Block(first)).then_some(blocks);
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    None
}

/// Whether an instruction stores under the mask of the running lanes.
fn masked(lir: &Lir) -> bool {
    matches!(lir, Lir::Set(_, _, Some(under)) if *under == Under::default())
}

impl Emit<'_> {
    /// Finds the loops whose bodies have a second code.
    pub fn choose_bodies(&mut self) {
        let input = self.input;
        if !Pass::Whole.is_on() || input.isa != Isa::Avx2 || !input.joint || input.existing != Mask::MAX {
            return;
        }
        for block in &input.code.blocks {
            let End::Flow(flow) = block.end else { continue };
            if !matches!(flow.op, FcOp::Loop | FcOp::Rep) {
                continue;
            }
            let Some(blocks) = blocks(input.code, &flow) else { continue };
            let lines = || blocks.iter().map(|&index| &input.lines[index]);
            let decided = blocks.iter().all(|&index| match input.code.blocks[index].end {
                End::Flow(flow) if matches!(flow.op, FcOp::BreakLoop | FcOp::BreakRep) => {
                    flow.stay_levels == Levels::Keep && self.decision(index).is_some()
                }
                _ => true,
            });
            let gains = lines().any(|lines: &Lines| lines.lir.iter().any(masked));
            if decided && gains && lines().map(|lines| lines.lir.len()).sum::<usize>() <= LINES {
                let begin = self.asm.label();
                self.bodies.push(Body { blocks, begin });
            }
        }
    }

    /// A loop has begun, whose first block this is: goes to its second code if all lanes run.
    pub fn begin_whole(&mut self, first: BlockId) {
        let Some(begin) = self.bodies.iter().find(|body| body.blocks[0] == first.index()).map(|body| body.begin) else {
            return;
        };
        self.fresh(0);
        let mut all = Self::running(0);
        for copy in 1..self.input.copies {
            self.fresh(copy);
            if copy == 1 {
                self.asm.int(Int::Mov, RAX, all);
                all = RAX;
            }
            self.asm.int(Int::And, all, Self::running(copy));
        }
        self.asm.int_op_imm(Int::Cmp, all, Mask::MAX.into());
        self.asm.jump_if(Cond::Equal, begin);
    }

    /// The second codes, behind all blocks.
    pub fn emit_bodies(&mut self) {
        for body in std::mem::take(&mut self.bodies) {
            self.whole = true;
            self.asm.place(body.begin);
            for &index in &body.blocks {
                let decision = self.lines_of(index);
                match (self.input.code.blocks[index].end, decision) {
                    (End::Flow(_), Some(decision)) => self.whole_break(index, decision),
                    (End::Flow(flow), None) => self.whole_end(&flow, index, body.begin),
                    // The next one follows.
                    _ => {}
                }
            }
            self.whole = false;
        }
    }

    /// Goes to the code with masks if some lane wants to leave.
    fn whole_break(&mut self, index: usize, decision: Decision) {
        let (mask, scratch) = (self.input.isa.mask_scratch(), self.input.isa.scratch());
        let operand_scratch = self.input.isa.operand_scratch();
        for (number, unit) in self.all_units().enumerate() {
            let to = if number == 0 { mask } else { scratch };
            let a = self.reg(decision.value, unit, operand_scratch);
            let b = self.last(decision.other, unit, scratch);
            // The opposite of a comparison differs in one bit.
            self.asm.vex(CMP_F32, to, a, b, Some(decision.stays ^ 4));
            if number > 0 {
                self.asm.vector(OR_F32, mask, mask, Rm::Reg(scratch));
            }
        }
        self.asm.signs(RAX, mask);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.deciding[index]);
    }

    /// The end of an iteration. Who ran when the loop began still does.
    fn whole_end(&mut self, flow: &Flow, index: usize, begin: Label) {
        self.at = index;
        self.joint_turn(flow, &self.input.code.blocks[index], begin);
        if !self.flows.clear_end[index] {
            self.clear_results();
        }
        if let Target::Block(next) = flow.stay {
            self.asm.jump(self.blocks[next.index()]);
        }
    }
}
