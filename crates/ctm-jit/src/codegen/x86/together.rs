//! Flow control that is decided for all copies at once.
//!
//! Most of what ends the iterations of a loop needs no vote of each copy: where only a count decides, it is the same for all, and where lanes
//! decide by one comparison, a jump happens only when no lane of some copy wants to stay. That is looked for first; only then each copy
//! decides for itself, as [`super::jumps`] has it, out of the way.

use super::emit::Emit;
use super::frame::{head, part};
use super::isa::{Isa, MAX_COPIES_DIVERGED};
use super::lir::{Lir, Src};
use super::vectors::Vectors;
use crate::codegen::x86::asm::{CMP_F32, Cond, Gpr, Int, Label, RAX, RBX, RCX, RDI, RDX, RSI};
use crate::ir::x1k::{Block, BlockId, End, Flow, Levels, Target, Under};
use crate::passes::table::Pass;
use ctm_isa::x1k::ops::FcOp;

/// The lanes of each copy that stay.
const STAY: [Gpr; MAX_COPIES_DIVERGED as usize] = [RSI, RDI, RDX];

/// A decision by one comparison with zero, the last thing a block does.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// What is compared.
    pub value: Src,
    /// With this.
    pub other: Src,
    /// The comparison that holds for lanes that stay.
    pub stays: u8,
    /// The result of the comparison as the program has it is true for lanes that jump.
    result_jumps: bool,
}

/// Code that stands behind all blocks: a copy may have decided to jump.
pub struct Aside {
    index: usize,
    decision: Decision,
    here: Label,
    back: Label,
}

impl Emit<'_> {
    /// The decision at the end of a block, if it is one for all copies at once.
    pub fn decision(&self, index: usize) -> Option<Decision> {
        let block = &self.input.code.blocks[index];
        let lines = &self.input.lines[index];
        let End::Flow(flow) = block.end else { return None };
        if !Pass::Together.is_on() {
            return None;
        }
        let group = lines.groups.last()?;
        let &[Lir::Test(CMP_F32, how, 1, value, other, 0), Lir::SetMask(4, 1, under)] =
            &lines.lir[group.first..group.end]
        else {
            return None;
        };
        let results = lines.lir.iter().filter(|lir| matches!(lir, Lir::SetMask(4, ..))).count();
        let plain = under == Under::default() && results == 1 && self.flows.clear[index];
        let votes = !flow.jump_any && !flow.exchange && !flow.ignore_uncovered;
        let goes = matches!((flow.stay, flow.jump), (Target::Block(_), Target::Block(_)));
        if !plain || !votes || !goes || self.input.code.watches_idle_lanes || !matches!(flow.wants, 3 | 12) {
            return None;
        }
        let simple = match flow.op {
            FcOp::BreakLoop | FcOp::BreakRep if self.input.joint => self.inner_levels(&flow).is_empty(),
            FcOp::Jump if self.input.joint => true,
            FcOp::BreakLoop | FcOp::BreakRep => {
                let continues = (0..=flow.frame).any(|frame| self.has(frame, |op| op == FcOp::Continue));
                let keeps = flow.stay_levels == Levels::Keep && flow.jump_levels == Levels::Keep;
                flow.depth == 0 && keeps && !continues
            }
            FcOp::Jump => {
                let waits = &self.flows.waits[index];
                let fits = waits.iter().all(|wait| self.input.code.blocks[wait.index()].depth <= flow.depth);
                flow.stay_levels == Levels::Push && fits
            }
            _ => false,
        };
        let result_jumps = flow.wants == 12;
        // The opposite of a comparison differs in one bit.
        simple.then_some(Decision { value, other, stays: if result_jumps { how ^ 4 } else { how }, result_jumps })
    }

    /// Decides for all copies; who may have to jump goes aside.
    pub fn decide_together(&mut self, flow: &Flow, index: usize, decision: Decision) {
        self.compare(decision);
        let (here, back) = (self.asm.label(), self.asm.label());
        for copy in self.copies() {
            let stay = STAY[usize::from(copy)];
            self.asm.test(stay, stay);
            self.asm.jump_if(Cond::Equal, here);
        }
        self.asm.place(back);
        for copy in self.copies() {
            let (running, stay) = (Self::running(copy), STAY[usize::from(copy)]);
            if flow.op == FcOp::Jump {
                self.asm.int(Int::Xor, running, stay);
                let level = self.mask(copy, part::LEVELS, flow.depth);
                self.asm.int_store(Int::Mov, false, RBX, level, running);
            } else if !self.flows.closed {
                self.asm.int(Int::Xor, running, stay);
                let broke = self.mask(copy, part::BROKE, flow.frame);
                self.asm.int_store(Int::Or, false, RBX, broke, running);
            }
            self.asm.int(Int::Mov, running, stay);
        }
        self.asides.push(Aside { index, decision, here, back });
        self.go(flow.stay, true);
    }

    /// The running lanes that stay, in the mask registers of running lanes: AVX-512.
    pub fn compare_into_masks(&mut self, Decision { value, other, stays, .. }: Decision) {
        let operand_scratch = self.input.isa.operand_scratch();
        for unit in self.all_units() {
            let k = 4 + unit.copy;
            let a = self.reg(value, unit, operand_scratch);
            let rm = self.rm(other, unit);
            self.asm.evex(CMP_F32, k, a, rm, k, false, Some(stays));
        }
    }

    /// The running lanes that stay: in their registers, and as masks where masks have registers.
    fn compare(&mut self, decision: Decision) {
        let Decision { value, other, stays, .. } = decision;
        if self.input.isa == Isa::Avx512 {
            self.compare_into_masks(decision);
            for copy in self.copies() {
                self.asm.mask_to(STAY[usize::from(copy)], 4 + copy);
            }
            return;
        }
        for unit in self.all_units() {
            let end = self.bail_out;
            self.line(&Lir::Test(CMP_F32, stays, 1, value, other, 0), unit, end, false);
            if self.collect(1, unit) {
                self.asm.int(Int::And, RCX, Self::running(unit.copy));
                self.asm.int(Int::Mov, STAY[usize::from(unit.copy)], RCX);
            }
        }
    }

    /// What stands behind all blocks.
    pub fn emit_asides(&mut self) {
        for aside in std::mem::take(&mut self.asides) {
            let block = &self.input.code.blocks[aside.index];
            let End::Flow(flow) = block.end else { continue };
            self.at = aside.index;
            self.asm.place(aside.here);
            // Copies that wait elsewhere have no lanes to stay.
            let each = self.asm.label();
            if self.input.copies > 1 {
                for copy in self.copies() {
                    let stay = STAY[usize::from(copy)];
                    let absent = self.asm.label();
                    self.asm.test_imm(15, 1 << copy);
                    self.asm.jump_if(Cond::Equal, absent);
                    self.asm.test(stay, stay);
                    self.asm.jump_if(Cond::Equal, each);
                    self.asm.place(absent);
                }
                self.asm.jump(aside.back);
            }
            self.asm.place(each);
            for copy in self.copies() {
                let absent = self.asm.label();
                if self.input.copies > 1 {
                    self.asm.test_imm(15, 1 << copy);
                    self.asm.jump_if(Cond::Equal, absent);
                }
                self.asm.int(Int::Mov, RAX, STAY[usize::from(copy)]);
                if aside.decision.result_jumps {
                    self.asm.int(Int::Xor, RAX, Self::running(copy));
                }
                self.asm.int_store(Int::Mov, false, RBX, self.part(copy, part::RESULT), RAX);
                self.asm.place(absent);
            }
            self.flow(&flow, block, false);
        }
    }

    /// The beginning of a loop whose count alone decides.
    pub fn begin_together(&mut self, flow: &Flow) {
        let (Target::Block(first), frame) = (flow.stay, flow.frame) else { return };
        let skip = self.asm.label();
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
        self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int));
        self.asm.test(RCX, RCX);
        self.asm.jump_if(Cond::Equal, skip);
        self.asm.int_store(Int::Mov, false, RBX, self.count(0, frame), RCX);
        if flow.op == FcOp::Loop {
            self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int) + 1);
        }
        for copy in self.copies() {
            if flow.op == FcOp::Loop {
                self.asm.int_store(Int::Mov, false, RBX, self.mask(copy, part::LOOP_VARIABLES, frame), RCX);
            }
            self.nobody_left(copy, frame);
        }
        if self.flows.iterations[first.index()].is_some() {
            self.count_visit(first, Int::Add);
        }
        self.go(flow.stay, false);
        self.asm.place(skip);
        self.go(flow.jump, true);
    }

    /// The end of a loop whose count alone decides.
    pub fn end_together(&mut self, flow: &Flow, block: &Block, index: usize) {
        let (Target::Block(first), frame) = (flow.jump, flow.frame) else { return };
        self.asm.int_store_imm(Int::Sub, false, RBX, self.count(0, frame), 1);
        let steps = block.frames.frames.get(usize::from(frame)).filter(|frame| frame.0).map(|frame| frame.1);
        if steps.is_none() && !self.looks(first) {
            self.asm.jump_if(Cond::Above, self.blocks[first.index()]);
        } else {
            let out = self.asm.label();
            self.asm.jump_if(Cond::BelowEqual, out);
            if let Some(int) = steps {
                self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
                self.asm.load_byte(RCX, true, RDI, 4 * i32::from(int) + 2);
                for copy in self.copies() {
                    self.asm.int_store(Int::Add, false, RBX, self.mask(copy, part::LOOP_VARIABLES, frame), RCX);
                }
            }
            self.go(flow.jump, false);
            self.asm.place(out);
        }
        if self.flows.iterations[first.index()] == Some(BlockId(index as u16)) {
            self.count_visit(first, Int::Sub);
        }
        if self.has(frame, |op| matches!(op, FcOp::BreakLoop | FcOp::BreakRep)) {
            for copy in self.copies() {
                let absent = self.asm.label();
                if self.input.copies > 1 {
                    self.asm.test_imm(15, 1 << copy);
                    self.asm.jump_if(Cond::Equal, absent);
                }
                self.revive(flow, copy, false);
                self.sync(copy);
                self.asm.place(absent);
            }
        }
        self.go(flow.stay, true);
    }
}
