//! Random flow control: structured, or any.

use super::super::formats::{CmnInst, FcAddr, FcInst};
use super::super::inst::{FcInstruction, Inst};
use super::super::ops::{AOp, BOp, FcOp, InstType, PredSel};
use super::{FlowControl, FlowRow, INTS, Loop, Maker};

impl Maker {
    /// A flow-control instruction from a row; its condition's predicate and constants are random.
    pub(super) fn flow(&mut self, row: FlowRow, target: u16) -> usize {
        let mut cmn = CmnInst::decode(0).unwrap_or_else(|_| unreachable!("every field of CMN_INST allows 0"));
        cmn.kind = InstType::Fc;
        cmn.alu_wait = true;
        cmn.rgb_pred_sel = self.random.of(&[PredSel::Rrrr, PredSel::Gggg, PredSel::Bbbb, PredSel::Aaaa]);
        cmn.rgb_pred_inv = self.flag(2);
        let spared = self.habits.joins_with_all && (row.b_else || row.b0 == BOp::Decr);
        let inst = FcInst {
            op: row.op,
            b_else: row.b_else,
            jump_any: row.any,
            a_op: row.a_op,
            jump_func: row.func,
            b_pop_cnt: row.count,
            b_op0: row.b0,
            b_op1: row.b1,
            ignore_uncovered: (self.compiled && !spared) || self.flag(4),
        };
        let addr = FcAddr {
            bool_addr: self.random.below(4) as u8,
            int_addr: self.random.below(INTS) as u8,
            jump_addr: target,
            jump_global: false,
        };
        self.push(Inst::Fc(FcInstruction { cmn, inst, addr }))
    }

    /// Sets the jump address of an instruction.
    pub(super) fn patch(&mut self, at: usize, target: usize) {
        if let Ok(Inst::Fc(mut fc)) = Inst::decode(&self.words[at]) {
            fc.addr.jump_addr = target as u16;
            self.words[at] = Inst::Fc(fc).encode();
        }
    }

    pub(super) fn statements(&mut self, budget: usize, depth: u32, loops: u32) {
        self.body(budget, depth, loops, &mut None);
    }

    fn body(&mut self, budget: usize, depth: u32, loops: u32, open: &mut Option<Loop>) {
        let end = self.words.len() + budget;
        while self.words.len() < end {
            let left = end - self.words.len();
            let straight = 1 + self.random.below(4) as usize;
            self.straight(straight);
            if depth >= 5 {
                continue;
            }
            let inner = (left / 2).min(12);
            match self.random.below(7) {
                0 | 1 => self.branch(inner, depth, loops, open),
                2 if loops < 3 && !self.in_subroutine => self.repeat(inner, depth, loops),
                3 | 4 => self.leave(open),
                5 => {
                    if let (Some(subroutine), false) = (self.subroutine, self.in_subroutine) {
                        let func = self.random.of(&[0xff, 0xaa, 0xcc, 0xf0]);
                        let row = FlowRow { func, any: true, a_op: AOp::Push, b1: BOp::Incr, ..FlowRow::JUMP };
                        self.flow(row, subroutine);
                    }
                }
                _ if self.shape.flow == FlowControl::Compiled => self.kill(),
                _ => {}
            }
        }
    }

    /// IF, with or without ELSE.
    fn branch(&mut self, budget: usize, depth: u32, loops: u32, open: &mut Option<Loop>) {
        let has_else = self.flag(2);
        if self.flag(5) {
            let branch = self.flow(FlowRow { func: 0x55, ..FlowRow::JUMP }, 0);
            self.body(budget, depth + 1, loops, open);
            if has_else {
                let over = self.flow(FlowRow { func: 0xff, ..FlowRow::JUMP }, 0);
                self.patch(branch, self.words.len());
                self.body(budget, depth + 1, loops, open);
                self.patch(over, self.words.len());
            } else {
                self.patch(branch, self.words.len());
            }
            // A jump to the very end would leave nothing there.
            self.straight(1);
            return;
        }
        self.dynamic_branch(has_else, open, &mut |make, open, _| make.body(budget, depth + 1, loops, open));
    }

    /// IF on computed values; `inner` makes the part before ELSE (0), and after it (1).
    pub(super) fn dynamic_branch(
        &mut self,
        has_else: bool,
        open: &mut Option<Loop>,
        inner: &mut dyn FnMut(&mut Self, &mut Option<Loop>, u32),
    ) {
        let b1 = if has_else { BOp::Incr } else { BOp::None };
        let by_predicate = self.shape.flow == FlowControl::Compiled && self.decide();
        let func = match self.shape.flow {
            FlowControl::Compiled if by_predicate => 0x33,
            FlowControl::Compiled => 0x0f,
            _ => self.random.of(&[0x0f, 0x33]),
        };
        let branch = self.flow(FlowRow { func, b0: BOp::Incr, b1, ..FlowRow::JUMP }, 0);
        let nest = |open: &mut Option<Loop>, by: i8| {
            if let Some(open) = open {
                open.branches = open.branches.saturating_add_signed(by);
            }
        };
        nest(open, 1);
        inner(self, open, 0);
        let mut to_end = branch;
        if has_else {
            to_end = self.flow(FlowRow { b1: BOp::Decr, count: 1, b_else: true, ..FlowRow::JUMP }, 0);
            self.patch(branch, self.words.len());
            inner(self, open, 1);
        }
        nest(open, -1);
        self.flow(FlowRow { any: true, b0: BOp::Decr, count: 1, ..FlowRow::JUMP }, 0);
        self.patch(to_end, self.words.len());
        self.straight(1);
    }

    /// LOOP or REP.
    fn repeat(&mut self, budget: usize, depth: u32, loops: u32) {
        let is_loop = self.flag(2);
        let (head, tail) = if is_loop { (FcOp::Loop, FcOp::EndLoop) } else { (FcOp::Rep, FcOp::EndRep) };
        let begin = self.flow(FlowRow { op: head, ..FlowRow::JUMP }, 0);
        let mut open = Some(Loop { is_loop, branches: 0, to_end: Vec::new(), behind: Vec::new() });
        self.body(budget, depth + 1, loops + 1, &mut open);
        let end = self.flow(FlowRow { func: 0xff, any: true, op: tail, ..FlowRow::JUMP }, begin as u16 + 1);
        self.patch(begin, if self.compiled { end } else { end + 1 });
        if let Some(open) = open {
            open.to_end.into_iter().for_each(|at| self.patch(at, end));
            open.behind.into_iter().for_each(|at| self.patch(at, end + 1));
        }
        self.straight(1);
    }

    /// BREAK or CONTINUE, conditional or not.
    fn leave(&mut self, open: &mut Option<Loop>) {
        if open.is_none() {
            return;
        }
        if self.shape.flow == FlowControl::Compiled {
            self.leave_as_compilers_do(open);
            return;
        }
        let func = self.random.of(&[0xff, 0xaa, 0xcc, 0xf0, 0xf0, 0xf0]);
        let goes_on = self.flag(3);
        self.jump_out(open, func, goes_on);
    }

    pub(super) fn raw_flow(&mut self, instructions: u32) {
        let row = FlowRow {
            func: self.random.bits() as u8,
            any: self.flag(2),
            op: if self.flag(2) { FcOp::Jump } else { self.random.of(FcOp::ALL) },
            a_op: if self.flag(6) { self.random.of(AOp::ALL) } else { AOp::None },
            b0: self.random.of(BOp::ALL),
            b1: self.random.of(BOp::ALL),
            count: self.random.below(4) as u8,
            b_else: self.flag(4),
        };
        let target = self.random.below(instructions + 4) as u16;
        self.flow(row, target);
    }
}
