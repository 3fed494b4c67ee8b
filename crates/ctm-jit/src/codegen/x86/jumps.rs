//! Flow control in machine code: the machine of CTM §3.5.2 on masks in general registers, and copies that diverge.
//!
//! Each copy decides for itself. Where copies disagree, those whose target comes later in the order of blocks wait there; the others go
//! on. Whoever is about to go to a block that is not before every waiting copy goes through the *dispatcher*, which continues with the
//! earliest block. So copies meet again where their ways meet, and each runs exactly the blocks that it would run alone.

use super::emit::Emit;
use super::frame::{head, part};
use super::isa::Isa;
use crate::codegen::x86::asm::{Cond, Gpr, Int, Label, RAX, RBX, RCX, RDI, RDX, RSI};
use crate::ir::x1k::leaves_loop;
use crate::ir::x1k::{Block, BlockId, End, Flow, Levels, Target};
use ctm_isa::x1k::ops::FcOp;

/// The block of a copy that has ended.
pub const NOWHERE: i32 = 0xffff;

/// Collects which copies jump.
const JUMPS: Gpr = 8;
/// Lanes that B_ELSE made inactive and that vote.
const EXCHANGED: Gpr = 9;

impl Emit<'_> {
    /// Goes on to a block; `falls`: the code of the next block follows here.
    pub fn go(&mut self, target: Target, falls: bool) {
        let id = match target {
            Target::Never | Target::Reference => return self.asm.jump(self.bail_out),
            Target::Block(id) => id,
        };
        if self.looks(id) {
            self.asm.int_store_imm(Int::Cmp, false, RBX, head::WAITING, i32::from(id.0));
            self.asm.jump_if(Cond::Above, self.blocks[id.index()]);
            self.asm.int_imm(RAX, u32::from(id.0));
            self.wait_all();
            self.asm.jump(self.dispatch);
        } else if !falls || id.index() != self.at + 1 {
            self.asm.jump(self.blocks[id.index()]);
        }
    }

    /// Whether copies may wait at this block or before it while those that are here run.
    pub fn looks(&self, id: BlockId) -> bool {
        self.flows.waits[self.at].iter().any(|&wait| wait <= id)
    }

    /// The running lanes of a copy have changed: the same goes into its mask register.
    pub fn sync(&mut self, copy: u8) {
        if self.input.isa == Isa::Avx512 {
            self.asm.mask_from(4 + copy, Self::running(copy));
        } else if self.input.joint {
            self.spread_running(copy);
        }
    }

    /// Where the iterations left of a loop are counted.
    pub fn count(&self, copy: u8, frame: u8) -> i32 {
        let copy = if self.flows.counted[usize::from(frame)] { 0 } else { copy };
        self.mask(copy, part::COUNTS, frame)
    }

    /// A loop begins: nobody has left it. If all who leave come back at its end, those are remembered who have to.
    pub fn nobody_left(&mut self, copy: u8, frame: u8) {
        let broke = self.mask(copy, part::BROKE, frame);
        if self.flows.closed {
            self.asm.int_store(Int::Mov, false, RBX, broke, Self::running(copy));
        } else {
            self.asm.int_store_imm(Int::Mov, false, RBX, broke, 0);
        }
    }

    /// All copies that are here wait at the block in rax.
    fn wait_all(&mut self) {
        for copy in self.copies() {
            let skip = self.asm.label();
            self.asm.test_imm(15, 1 << copy);
            self.asm.jump_if(Cond::Equal, skip);
            self.asm.int_store(Int::Mov, false, RBX, self.part(copy, part::PENDING), RAX);
            self.asm.int_store(Int::Mov, false, RBX, self.part(copy, part::RUNNING), Self::running(copy));
            self.asm.place(skip);
        }
    }

    /// Continues with the copies that wait at the earliest block.
    pub fn dispatcher(&mut self) {
        self.asm.place(self.dispatch);
        self.asm.int_imm(RAX, NOWHERE as u32);
        for copy in self.copies() {
            let skip = self.asm.label();
            self.asm.int_load(Int::Mov, false, RCX, RBX, self.part(copy, part::PENDING));
            self.asm.int(Int::Cmp, RAX, RCX);
            self.asm.jump_if(Cond::BelowEqual, skip);
            self.asm.int(Int::Mov, RAX, RCX);
            self.asm.place(skip);
        }
        self.asm.int_op_imm(Int::Cmp, RAX, NOWHERE);
        self.asm.jump_if(Cond::Equal, self.done);
        // rdx: the earliest of the others.
        self.asm.int_imm(RDX, NOWHERE as u32);
        self.asm.int_imm(15, 0);
        for copy in self.copies() {
            let (other, next) = (self.asm.label(), self.asm.label());
            self.asm.int_load(Int::Mov, false, RCX, RBX, self.part(copy, part::PENDING));
            self.asm.int(Int::Cmp, RCX, RAX);
            self.asm.jump_if(Cond::NotEqual, other);
            self.asm.int_load(Int::Mov, false, Self::running(copy), RBX, self.part(copy, part::RUNNING));
            self.asm.int_op_imm(Int::Or, 15, 1 << copy);
            self.asm.jump(next);
            self.asm.place(other);
            self.asm.int_imm(Self::running(copy), 0);
            self.asm.int(Int::Cmp, RDX, RCX);
            self.asm.jump_if(Cond::BelowEqual, next);
            self.asm.int(Int::Mov, RDX, RCX);
            self.asm.place(next);
        }
        self.asm.int_store(Int::Mov, false, RBX, head::WAITING, RDX);
        self.copies().for_each(|copy| self.sync(copy));
        let blocks = self.blocks.clone();
        self.choose(&blocks, 0);
    }

    /// Jumps to the block whose number, less `first`, is in rax: by halves.
    fn choose(&mut self, blocks: &[Label], first: i32) {
        if let [only] = blocks {
            return self.asm.jump(*only);
        }
        let half = blocks.len() / 2;
        let upper = self.asm.label();
        self.asm.int_op_imm(Int::Cmp, RAX, first + half as i32);
        self.asm.jump_if(Cond::AboveEqual, upper);
        self.choose(&blocks[..half], first);
        self.asm.place(upper);
        self.choose(&blocks[half..], first + half as i32);
    }

    /// A flow-control instruction at the end of a block; `falls`: the code of the next block follows here.
    pub fn flow(&mut self, flow: &Flow, block: &Block, falls: bool) {
        if self.input.copies == 1 {
            let jump = self.asm.label();
            self.decide(flow, 0, jump);
            self.stay(flow, 0);
            self.sync(0);
            self.go(flow.stay, false);
            self.asm.place(jump);
            self.jump(flow, block, 0);
            self.sync(0);
            self.go(flow.jump, falls);
            return;
        }
        self.asm.int_imm(JUMPS, 0);
        for copy in self.copies() {
            let (jump, done) = (self.asm.label(), self.asm.label());
            self.asm.test_imm(15, 1 << copy);
            self.asm.jump_if(Cond::Equal, done);
            self.decide(flow, copy, jump);
            self.stay(flow, copy);
            self.asm.jump(done);
            self.asm.place(jump);
            self.jump(flow, block, copy);
            self.asm.int_op_imm(Int::Or, JUMPS, 1 << copy);
            self.asm.place(done);
            self.sync(copy);
        }
        let (all, some) = (self.asm.label(), self.asm.label());
        self.asm.int(Int::Cmp, JUMPS, 15);
        self.asm.jump_if(Cond::Equal, all);
        self.asm.test(JUMPS, JUMPS);
        self.asm.jump_if(Cond::NotEqual, some);
        self.go(flow.stay, false);
        self.asm.place(some);
        self.part_ways(flow);
        self.asm.place(all);
        self.go(flow.jump, falls);
    }

    /// Some copies jump, some stay: all wait, then the earliest goes on.
    fn part_ways(&mut self, flow: &Flow) {
        let (Target::Block(stay), Target::Block(jump)) = (flow.stay, flow.jump) else {
            return self.asm.jump(self.bail_out);
        };
        for copy in self.copies() {
            let (skip, stays) = (self.asm.label(), self.asm.label());
            self.asm.test_imm(15, 1 << copy);
            self.asm.jump_if(Cond::Equal, skip);
            self.asm.int_imm(RAX, u32::from(jump.0));
            self.asm.test_imm(JUMPS, 1 << copy);
            self.asm.jump_if(Cond::NotEqual, stays);
            self.asm.int_imm(RAX, u32::from(stay.0));
            self.asm.place(stays);
            self.asm.int_store(Int::Mov, false, RBX, self.part(copy, part::PENDING), RAX);
            self.asm.int_store(Int::Mov, false, RBX, self.part(copy, part::RUNNING), Self::running(copy));
            self.asm.place(skip);
        }
        self.asm.jump(self.dispatch);
    }

    pub fn has(&self, frame: u8, wanted: fn(FcOp) -> bool) -> bool {
        let blocks = &self.input.code.blocks;
        blocks.iter().any(|b| matches!(b.end, End::Flow(f) if f.frame == frame && wanted(f.op)))
    }

    pub fn mask(&self, copy: u8, base: i32, index: u8) -> i32 {
        self.part(copy, base + 4 * i32::from(index))
    }

    /// The decision of one copy: falls through if it stays, else goes to `jump`. Leaves the lanes that want to jump in rax, those that
    /// want to stay in rsi.
    fn decide(&mut self, flow: &Flow, copy: u8, jump: Label) {
        let running = Self::running(copy);
        let covered = self.part(copy, part::COVERED);
        let frame = flow.frame;
        if matches!(flow.op, FcOp::EndLoop | FcOp::EndRep) && self.has(frame, |op| op == FcOp::Continue) {
            let continued = self.mask(copy, part::CONTINUED, frame);
            self.asm.int_load(Int::Or, false, running, RBX, continued);
            self.asm.int_store_imm(Int::Mov, false, RBX, continued, 0);
        }
        let levels = flow.depth.max(u8::from(flow.exchange));
        if flow.exchange {
            let top = self.mask(copy, part::LEVELS, levels - 1);
            self.asm.int(Int::Mov, EXCHANGED, running);
            if flow.depth == 0 {
                self.asm.int_imm(running, 0);
            } else {
                self.asm.int_load(Int::Mov, false, running, RBX, top);
            }
            self.asm.int_store(Int::Mov, false, RBX, top, EXCHANGED);
            if flow.ignore_uncovered {
                self.asm.int_load(Int::And, false, EXCHANGED, RBX, covered);
            }
        }
        self.wants(flow, copy);
        self.asm.int(Int::Mov, RSI, running);
        if flow.ignore_uncovered {
            self.asm.int_load(Int::And, false, RSI, RBX, covered);
        }
        self.asm.int(Int::And, RAX, RSI);
        self.asm.int(Int::Xor, RSI, RAX);
        // The vote.
        let stay = self.asm.label();
        if matches!(flow.op, FcOp::Loop | FcOp::Rep) {
            self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
            self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int));
            self.asm.test(RCX, RCX);
            self.asm.jump_if(Cond::Equal, jump);
        }
        let voted = if flow.jump_any {
            if flow.exchange {
                self.asm.int(Int::Mov, RCX, RAX);
                self.asm.int(Int::Or, RCX, EXCHANGED);
                self.asm.test(RCX, RCX);
            } else {
                self.asm.test(RAX, RAX);
            }
            Cond::NotEqual
        } else {
            self.asm.test(RSI, RSI);
            Cond::Equal
        };
        match flow.op {
            FcOp::Jump | FcOp::Loop | FcOp::Rep => {
                self.asm.jump_if(voted, jump);
                return self.asm.place(stay);
            }
            FcOp::EndLoop | FcOp::EndRep => {
                self.asm.jump_if(voted.opposite(), stay);
                let count = self.count(copy, frame);
                self.asm.int_store_imm(Int::Cmp, false, RBX, count, 1);
                self.asm.jump_if(Cond::Above, jump);
                return self.asm.place(stay);
            }
            FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue => {
                let mut inhibit: Vec<i32> = (0..levels).map(|level| self.mask(copy, part::LEVELS, level)).collect();
                if flow.op != FcOp::Continue {
                    let continues = (0..=frame).filter(|&f| self.has(f, |op| op == FcOp::Continue));
                    inhibit.extend(continues.map(|f| self.mask(copy, part::CONTINUED, f)));
                }
                let Some((first, others)) = inhibit.split_first() else {
                    self.asm.jump_if(voted, jump);
                    return self.asm.place(stay);
                };
                self.asm.jump_if(voted.opposite(), stay);
                self.asm.int_load(Int::Mov, false, RCX, RBX, *first);
                for &other in others {
                    self.asm.int_load(Int::Or, false, RCX, RBX, other);
                }
                if flow.ignore_uncovered {
                    self.asm.int_load(Int::And, false, RCX, RBX, covered);
                }
                self.asm.test(RCX, RCX);
                self.asm.jump_if(Cond::Equal, jump);
            }
        }
        self.asm.place(stay);
    }

    /// rax = the lanes whose truth table says jump; more lanes than vote may be in it.
    pub fn wants(&mut self, flow: &Flow, copy: u8) {
        let result = self.part(copy, part::RESULT);
        let predicate = |e: &mut Self, register: Gpr| match flow.predicate {
            None => e.asm.int_imm(register, u32::MAX),
            Some((bit, inverted)) => {
                e.asm.int_load(Int::Mov, false, register, RBX, e.mask(copy, part::PREDICATES, bit));
                if inverted {
                    e.asm.not(register);
                }
            }
        };
        // Rows of the table: what is wanted without and with the predicate, for result 0 and 1.
        let (low, high) = (flow.wants & 3, flow.wants >> 2);
        if low == high {
            return self.of_predicate(low, &predicate, RAX);
        }
        if let (0, 3) | (3, 0) = (low, high) {
            self.asm.int_load(Int::Mov, false, RAX, RBX, result);
            if low == 3 {
                self.asm.not(RAX);
            }
            return;
        }
        // result ? high : low
        self.of_predicate(low, &predicate, RAX);
        self.of_predicate(high, &predicate, RCX);
        self.asm.int(Int::Xor, RCX, RAX);
        self.asm.int_load(Int::And, false, RCX, RBX, result);
        self.asm.int(Int::Xor, RAX, RCX);
    }

    fn of_predicate(&mut self, row: u8, predicate: &impl Fn(&mut Self, Gpr), register: Gpr) {
        match row {
            0 => self.asm.int_imm(register, 0),
            3 => self.asm.int_imm(register, u32::MAX),
            2 => predicate(self, register),
            _ => {
                predicate(self, register);
                self.asm.not(register);
            }
        }
    }

    /// The effects of staying. The lanes that wanted to jump are in rax.
    fn stay(&mut self, flow: &Flow, copy: u8) {
        if matches!(flow.stay, Target::Never | Target::Reference) {
            return self.asm.jump(self.bail_out);
        }
        let running = Self::running(copy);
        let frame = flow.frame;
        match flow.op {
            FcOp::Jump => {}
            FcOp::Loop | FcOp::Rep => {
                // The count is in rcx, the integer constants in rdi.
                self.asm.int_store(Int::Mov, false, RBX, self.count(copy, frame), RCX);
                if flow.jump_any {
                    self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int));
                    self.asm.int_store(Int::Mov, false, RBX, self.count(copy, frame), RCX);
                }
                if flow.op == FcOp::Loop {
                    self.asm.load_byte(RCX, false, RDI, 4 * i32::from(flow.int) + 1);
                    self.asm.int_store(Int::Mov, false, RBX, self.mask(copy, part::LOOP_VARIABLES, frame), RCX);
                }
                self.nobody_left(copy, frame);
                self.asm.int_store_imm(Int::Mov, false, RBX, self.mask(copy, part::CONTINUED, frame), 0);
            }
            FcOp::EndLoop | FcOp::EndRep => self.revive(flow, copy, false),
            FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue => {
                let base = if flow.op == FcOp::Continue { part::CONTINUED } else { part::BROKE };
                self.asm.int_store(Int::Or, false, RBX, self.mask(copy, base, frame), RAX);
                self.asm.int(Int::Mov, RCX, RAX);
                self.asm.not(RCX);
                self.asm.int(Int::And, running, RCX);
            }
        }
        self.levels(flow, flow.stay_levels, RAX, copy);
    }

    /// The effects of jumping. The lanes that wanted to stay are in rsi.
    fn jump(&mut self, flow: &Flow, block: &Block, copy: u8) {
        if matches!(flow.jump, Target::Never | Target::Reference) {
            return self.asm.jump(self.bail_out);
        }
        let frame = flow.frame;
        match flow.op {
            FcOp::Jump | FcOp::Loop | FcOp::Rep | FcOp::Continue => {}
            FcOp::EndLoop | FcOp::EndRep => {
                self.asm.int_store_imm(Int::Sub, false, RBX, self.count(copy, frame), 1);
                if let Some(&(true, int)) = block.frames.frames.get(usize::from(frame)) {
                    self.asm.int_load(Int::Mov, true, RDI, RBX, head::INTS);
                    self.asm.load_byte(RCX, true, RDI, 4 * i32::from(int) + 2);
                    let variable = self.mask(copy, part::LOOP_VARIABLES, frame);
                    self.asm.int_store(Int::Add, false, RBX, variable, RCX);
                }
            }
            FcOp::BreakLoop | FcOp::BreakRep => self.revive(flow, copy, true),
        }
        self.levels(flow, flow.jump_levels, RSI, copy);
    }

    /// The lanes that left the loop run again, as it ends.
    pub fn revive(&mut self, flow: &Flow, copy: u8, jump: bool) {
        debug_assert!(leaves_loop(flow.op, jump));
        let (running, frame) = (Self::running(copy), flow.frame);
        if self.has(frame, |op| matches!(op, FcOp::BreakLoop | FcOp::BreakRep)) {
            self.asm.int_load(Int::Or, false, running, RBX, self.mask(copy, part::BROKE, frame));
        }
        if self.has(frame, |op| op == FcOp::Continue) {
            self.asm.int_load(Int::Or, false, running, RBX, self.mask(copy, part::CONTINUED, frame));
        }
    }

    /// The levels, and the end of the ALU result.
    fn levels(&mut self, flow: &Flow, effect: Levels, disagree: Gpr, copy: u8) {
        let running = Self::running(copy);
        let levels = flow.depth.max(u8::from(flow.exchange));
        match effect {
            Levels::Keep => {}
            Levels::Pop(count) => {
                for level in levels - count..levels {
                    self.asm.int_load(Int::Or, false, running, RBX, self.mask(copy, part::LEVELS, level));
                }
            }
            Levels::Push => {
                self.asm.int(Int::And, disagree, running);
                self.asm.int(Int::Xor, running, disagree);
                self.asm.int_store(Int::Mov, false, RBX, self.mask(copy, part::LEVELS, levels), disagree);
            }
        }
        self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::RESULT), 0);
    }
}
