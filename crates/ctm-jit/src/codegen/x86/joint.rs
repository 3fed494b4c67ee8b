//! Flow control for all copies together, as if they were one large group.
//!
//! Where a group jumps when none of its lanes wants to stay, it may as well stay with no lane running, if that leads to the same in the end:
//! such a group is a *passenger*. In programs made of statements (CTM §3.5.4) it always does. Then copies never part: whoever stays takes
//! the others along, nobody waits, and one test of all masks decides. Groups do not pass the blocks that they would pass alone, so this is for
//! code that counts nothing.
//!
//! The running lanes live where instructions take masks: in mask registers, or in rows of the frame on AVX2. General registers hold
//! them only after [`Emit::fresh`].

use super::emit::Emit;
use super::frame::{head, part};
use super::isa::{Isa, MAX_COPIES};
use super::lir::Lir;
use super::together::Decision;
use super::vectors::Vectors;
use crate::codegen::x86::asm::{
    AND_F32, CMP_F32, Cond, Gpr, Int, Label, MOVUPS_LOAD, OR_F32, RAX, RBX, RCX, RDI, RDX, RSI, Rm,
};
use crate::ir::x1k::leaves_loop;
use crate::ir::x1k::{Block, BlockId, End, Flow, Levels, Target};
use ctm_isa::x1k::ops::FcOp;

/// The lanes of each copy that stay.
const STAY: [Gpr; MAX_COPIES as usize] = [RSI, RDI, RDX, 9];
/// All of them.
const ANY: Gpr = 11;

/// The upper lanes, while they are put together: AVX2.
const HIGH: Gpr = 8;

impl Emit<'_> {
    /// The running lanes of a copy in their general register.
    pub fn fresh(&mut self, copy: u8) {
        if !self.input.joint {
            return;
        }
        let running = Self::running(copy);
        match self.input.isa {
            Isa::Avx512 => self.asm.mask_to(running, 4 + copy),
            Isa::Avx2 => {
                let scratch = self.input.isa.scratch();
                for (register, piece) in [(running, 0), (HIGH, 1)] {
                    let row = self.running_row(copy, piece);
                    self.asm.vector(MOVUPS_LOAD, scratch, 0, row);
                    self.asm.signs(register, scratch);
                }
                self.asm.shift_left(HIGH, 8);
                self.asm.int(Int::Or, running, HIGH);
            }
        }
    }

    /// Where the running lanes of a copy lie as a vector: AVX2.
    pub fn running_row(&self, copy: u8, piece: u8) -> Rm {
        Rm::Row(RBX, self.input.layout.masks + 64 * (2 + i32::from(copy)) + 32 * i32::from(piece))
    }

    /// A flow-control instruction at the end of a block.
    pub fn joint_flow(&mut self, flow: &Flow, block: &Block, index: usize, decision: Option<Decision>) {
        let (stay, jump) = match (flow.stay, flow.jump) {
            (Target::Block(stay), Target::Block(jump)) => (stay, jump),
            (Target::Block(stay), Target::Never) if flow.op == FcOp::Jump => {
                self.joint_levels(flow, flow.stay_levels);
                if !self.flows.clear_end[index] {
                    self.clear_results();
                }
                return self.joint_go(stay);
            }
            (Target::Never, Target::Block(jump)) if !flow.exchange => return self.joint_jump(flow, jump),
            (Target::Never, Target::Block(jump)) => (jump, jump),
            // A loop whose count is known not to be 0.
            (Target::Block(stay), Target::Never) => (stay, stay),
            _ => return self.asm.jump(self.bail_out),
        };
        let votes = matches!(flow.op, FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue | FcOp::Jump);
        let clears = !self.flows.clear_end[index] && decision.is_none();
        if clears && !votes {
            // The count alone decides, and both ways begin without results.
            self.clear_results();
        }
        match flow.op {
            FcOp::Loop | FcOp::Rep => self.joint_begin(flow, jump),
            FcOp::EndLoop | FcOp::EndRep => self.joint_end(flow, block, jump),
            FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue | FcOp::Jump => {
                self.joint_vote(flow, index, decision, jump);
            }
        }
        if clears && votes {
            self.clear_results();
        }
        if matches!(flow.op, FcOp::Loop | FcOp::Rep) {
            self.begin_whole(stay);
        }
        self.joint_go(stay);
    }

    /// Whether some flow-control instruction looks at the ALU result where it lies in the frame.
    pub fn any_reads_result(&self) -> bool {
        self.input.code.blocks.iter().enumerate().any(|(index, block)| {
            let End::Flow(flow) = block.end else { return false };
            flow.wants & 3 != flow.wants >> 2 && self.decision(index).is_none()
        })
    }

    /// No lane has a result of the arithmetic unit.
    pub fn clear_results(&mut self) {
        for copy in self.copies().filter(|_| self.reads_result) {
            self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::RESULT), 0);
        }
    }

    /// Goes on to a block.
    pub fn joint_go(&mut self, id: BlockId) {
        if id.index() != self.at + 1 {
            self.asm.jump(self.blocks[id.index()]);
        }
    }

    /// Whether lanes may leave loops of this frame, and run behind them again where that matters.
    fn revives(&self, frame: u8) -> bool {
        let matters = self.needs.as_ref().is_none_or(|needs| needs.behind[usize::from(frame)]);
        matters && self.has(frame, |op| matches!(op, FcOp::BreakLoop | FcOp::BreakRep))
    }

    fn joint_begin(&mut self, flow: &Flow, jump: BlockId) {
        let frame = flow.frame;
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
        self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int));
        if flow.jump != Target::Never {
            self.asm.test(RCX, RCX);
            self.asm.jump_if(Cond::Equal, self.blocks[jump.index()]);
        }
        self.asm.int_store(Int::Mov, false, RBX, self.mask(0, part::COUNTS, frame), RCX);
        if flow.op == FcOp::Loop {
            self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int) + 1);
            for copy in self.copies() {
                self.asm.int_store(Int::Mov, false, RBX, self.mask(copy, part::LOOP_VARIABLES, frame), RCX);
            }
        }
        if self.revives(frame) {
            for copy in self.copies() {
                self.fresh(copy);
                let broke = self.mask(copy, part::BROKE, frame);
                self.asm.int_store(Int::Mov, false, RBX, broke, Self::running(copy));
            }
        }
    }

    fn joint_end(&mut self, flow: &Flow, block: &Block, jump: BlockId) {
        self.joint_turn(flow, block, self.blocks[jump.index()]);
        self.joint_revive(flow.frame);
    }

    /// Goes on to the next iteration of a loop; falls through behind the last one.
    pub fn joint_turn(&mut self, flow: &Flow, block: &Block, first: Label) {
        let frame = flow.frame;
        self.asm.int_store_imm(Int::Sub, false, RBX, self.mask(0, part::COUNTS, frame), 1);
        match block.frames.frames.get(usize::from(frame)) {
            Some(&(true, int)) => {
                let out = self.asm.label();
                self.asm.jump_if(Cond::BelowEqual, out);
                self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
                self.asm.load_byte(RCX, true, RDI, 4 * i32::from(int) + 2);
                for copy in self.copies() {
                    self.asm.int_store(Int::Add, false, RBX, self.mask(copy, part::LOOP_VARIABLES, frame), RCX);
                }
                self.asm.jump(first);
                self.asm.place(out);
            }
            _ => self.asm.jump_if(Cond::Above, first),
        }
    }

    /// Those run again that ran when the loop began.
    fn joint_revive(&mut self, frame: u8) {
        if self.revives(frame) {
            for copy in self.copies() {
                let broke = self.mask(copy, part::BROKE, frame);
                self.asm.int_load(Int::Mov, false, Self::running(copy), RBX, broke);
                self.sync(copy);
            }
        }
    }

    /// Falls through when the groups stay.
    fn joint_vote(&mut self, flow: &Flow, index: usize, decision: Option<Decision>, jump: BlockId) {
        let levels = flow.depth.max(u8::from(flow.exchange));
        if flow.exchange {
            for copy in self.copies() {
                self.fresh(copy);
                let top = self.mask(copy, part::LEVELS, levels - 1);
                self.asm.int(Int::Mov, RAX, Self::running(copy));
                if flow.depth == 0 {
                    self.asm.int_imm(Self::running(copy), 0);
                } else {
                    self.asm.int_load(Int::Mov, false, Self::running(copy), RBX, top);
                }
                self.asm.int_store(Int::Mov, false, RBX, top, RAX);
                self.sync(copy);
            }
        }
        let to_jump = self.asm.label();
        let leaves = matches!(flow.op, FcOp::BreakLoop | FcOp::BreakRep);
        match flow.wants {
            15 if !leaves => {
                self.joint_jump(flow, jump);
                return;
            }
            // Whoever runs stays.
            0 if !leaves => {
                if !flow.jump_any && flow.exchange {
                    self.asm.int_imm(ANY, 0);
                    self.copies().for_each(|copy| self.asm.int(Int::Or, ANY, Self::running(copy)));
                    self.asm.test(ANY, ANY);
                    self.asm.jump_if(Cond::Equal, to_jump);
                    self.joint_asides.push((to_jump, *flow, index));
                }
                return self.joint_levels(flow, flow.stay_levels);
            }
            _ => {}
        }
        match decision {
            Some(decision) => {
                self.asm.place(self.deciding[index]);
                self.joint_compare(flow, decision, to_jump);
            }
            None => self.joint_wants(flow, to_jump),
        }
        self.joint_asides.push((to_jump, *flow, index));
    }

    /// Levels that one way of a vote changes which nobody's data decides.
    fn joint_levels(&mut self, flow: &Flow, effect: Levels) {
        let levels = flow.depth.max(u8::from(flow.exchange));
        for copy in self.copies() {
            match effect {
                Levels::Keep => {}
                Levels::Push => {
                    self.asm.int_store_imm(Int::Mov, false, RBX, self.mask(copy, part::LEVELS, levels), 0);
                }
                Levels::Pop(count) => {
                    self.fresh(copy);
                    for level in levels - count..levels {
                        let level = self.mask(copy, part::LEVELS, level);
                        self.asm.int_load(Int::Or, false, Self::running(copy), RBX, level);
                    }
                    self.sync(copy);
                }
            }
        }
    }

    /// All groups jump, and nobody's running lanes have to be found again.
    fn joint_jump(&mut self, flow: &Flow, jump: BlockId) {
        self.joint_levels(flow, flow.jump_levels);
        self.clear_results();
        self.asm.jump(self.blocks[jump.index()]);
    }

    /// The code for votes in which nobody wants to stay.
    pub fn emit_joint_asides(&mut self) {
        for (none, back, to_jump) in std::mem::take(&mut self.first_two_at_rest) {
            self.asm.place(none);
            self.asm.mask_test_two(6, self.input.copies + 3);
            self.asm.jump_if(Cond::NotEqual, back);
            self.asm.jump(to_jump);
        }
        for (label, flow, index) in std::mem::take(&mut self.joint_asides) {
            let Target::Block(jump) = flow.jump else { continue };
            self.at = index;
            self.asm.place(label);
            if leaves_loop(flow.op, true) {
                self.joint_revive(flow.frame);
                // The levels of the loop are empty.
            } else {
                if !flow.exchange {
                    // Who ran before lies in the new level.
                    for copy in self.copies() {
                        let level = self.mask(copy, part::LEVELS, flow.depth);
                        self.asm.int_load(Int::Mov, false, Self::running(copy), RBX, level);
                        self.sync(copy);
                    }
                }
                self.joint_levels(&flow, flow.jump_levels);
            }
            self.clear_results();
            self.asm.jump(self.blocks[jump.index()]);
        }
    }

    /// Levels within the loop that a vote would leave.
    pub fn inner_levels(&self, flow: &Flow) -> std::ops::Range<u8> {
        let Target::Block(jump) = flow.jump else { return 0..0 };
        self.input.code.blocks[jump.index()].depth..flow.depth
    }

    /// Lanes decide by one comparison: it is made under the running lanes, into them.
    fn joint_compare(&mut self, flow: &Flow, decision: Decision, to_jump: Label) {
        let Decision { value, other, stays, .. } = decision;
        let leaves = leaves_loop(flow.op, true);
        if !leaves {
            // The new level: who ran, and does not stay.
            for copy in self.copies() {
                self.fresh(copy);
            }
        }
        match self.input.isa {
            Isa::Avx512 => self.compare_into_masks(decision),
            Isa::Avx2 => {
                let (mask, end) = (self.input.isa.mask_scratch(), self.bail_out);
                for unit in self.all_units() {
                    self.line(&Lir::Test(CMP_F32, stays, 1, value, other, 0), unit, end, false);
                    let row = self.running_row(unit.copy, unit.piece);
                    self.asm.vector(AND_F32, mask, mask, row);
                    self.store(mask, row);
                }
            }
        }
        if !leaves {
            for copy in self.copies() {
                let running = Self::running(copy);
                self.asm.int(Int::Mov, RAX, running);
                if self.input.isa == Isa::Avx512 {
                    self.asm.mask_to(running, 4 + copy);
                } else {
                    self.asm.int(Int::Mov, RDX, RAX);
                    self.fresh(copy);
                    self.asm.int(Int::Mov, RAX, RDX);
                }
                self.asm.int(Int::Xor, RAX, running);
                let level = self.mask(copy, part::LEVELS, flow.depth);
                self.asm.int_store(Int::Mov, false, RBX, level, RAX);
            }
        }
        if leaves && self.input.isa == Isa::Avx512 && self.input.copies > 2 {
            // Mostly somebody of the first two runs, so the others are looked at out of the way.
            let (none, back) = (self.asm.label(), self.asm.label());
            self.asm.mask_test_two(4, 5);
            self.asm.jump_if(Cond::Equal, none);
            self.asm.place(back);
            return self.first_two_at_rest.push((none, back, to_jump));
        }
        self.any_runs();
        self.asm.jump_if(Cond::Equal, to_jump);
    }

    /// Sets the zero flag when nobody runs.
    fn any_runs(&mut self) {
        match self.input.isa {
            Isa::Avx512 => match self.input.copies {
                1 => self.asm.mask_test(4),
                2 => self.asm.mask_test_two(4, 5),
                3 => {
                    self.asm.mask_or(1, 4, 5);
                    self.asm.mask_test_two(1, 6);
                }
                _ => {
                    self.asm.mask_or(1, 4, 5);
                    self.asm.mask_or(2, 6, 7);
                    self.asm.mask_test_two(1, 2);
                }
            },
            Isa::Avx2 => {
                let scratch = self.input.isa.scratch();
                for (number, unit) in self.all_units().enumerate() {
                    let row = self.running_row(unit.copy, unit.piece);
                    if number == 0 {
                        self.asm.vector(MOVUPS_LOAD, scratch, 0, row);
                    } else {
                        self.asm.vector(OR_F32, scratch, scratch, row);
                    }
                }
                self.asm.signs(RAX, scratch);
                self.asm.test(RAX, RAX);
            }
        }
    }

    /// Lanes decide by the truth table of the instruction.
    fn joint_wants(&mut self, flow: &Flow, to_jump: Label) {
        self.asm.int_imm(ANY, 0);
        for copy in self.copies() {
            self.fresh(copy);
            let stay = STAY[usize::from(copy)];
            // rax = who wants to jump; rcx is lost.
            self.wants(flow, copy);
            self.asm.not(RAX);
            self.asm.int(Int::Mov, stay, Self::running(copy));
            self.asm.int(Int::And, stay, RAX);
            self.asm.int(Int::Or, ANY, stay);
            for level in self.inner_levels(flow) {
                self.asm.int_load(Int::Or, false, ANY, RBX, self.mask(copy, part::LEVELS, level));
            }
        }
        for copy in self.copies() {
            let (running, stay) = (Self::running(copy), STAY[usize::from(copy)]);
            if !leaves_loop(flow.op, true) {
                self.asm.int(Int::Xor, running, stay);
                let level = self.mask(copy, part::LEVELS, flow.depth);
                self.asm.int_store(Int::Mov, false, RBX, level, running);
            }
            self.asm.int(Int::Mov, running, stay);
            self.sync(copy);
        }
        self.asm.test(ANY, ANY);
        self.asm.jump_if(Cond::Equal, to_jump);
    }
}
