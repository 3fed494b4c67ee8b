//! Machine code for AVX2: blocks, masks and calls.
//!
//! | register | holds |
//! |---|---|
//! | rbx | the frame |
//! | r12 | active lanes, which also have their place in the frame |
//! | r13 | passages of blocks |
//! | r14 | instructions that are left |
//! | r15 | active lanes, summed over instructions |
//! | rsi, rdi | in segments: the frame, moved by a part's bytes of rows, and by those of masks |
//! | r8, r10, r11 | masks that a segment makes |
//! | ymm13-14 | scratch |
//! | ymm15 | mask 1 |
//!
//! Masks 2 and 3 are slots. Uniform values are spread out in slots, once for each wavefront.

use super::super::emit::{Layout, order};
use super::super::{Ins, ROW, SPENT, head, wide};
use super::allocate::{Location, Locations, slot_bytes};
use super::lookups::Aside;
use super::masks::{self, MaskSet, may_skip};
use super::parts::{Part, Slow};
use super::segments::Step;
use super::{LANES, PART, Program};
use crate::codegen::x86::asm::{
    Asm, BROADCAST, Cond, Gpr, Int, Label, MOVUPS_STORE, RAX, RBP, RBX, RCX, RDI, RDX, RSI, Rm, XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::Src;
use crate::ir::map::Map;
use crate::ir::r700::{End, M, MaskOp, Target};

pub(super) const ACTIVE: Gpr = 12;
const VISITS: Gpr = 13;
const FUEL: Gpr = 14;
const ACTIVE_LANES: Gpr = 15;
/// The scratch registers for results and for operands.
pub(super) const SCRATCH: u8 = Isa::Avx2.scratch();
pub(super) const OPERAND: u8 = Isa::Avx2.operand_scratch();
/// Mask 1.
pub(super) const MASK: u8 = Isa::Avx2.mask_scratch();

/// Instructions from which on a segment asks for each part whether it has active lanes.
const WORTH_SKIPPING: usize = 12;

/// Whether the next step is the only one that reads a mask, and has it from rax.
fn used_up(m: M, follows: &[Step<'_>], live: Option<&MaskSet>) -> bool {
    let Some(Step::Whole(Ins::Mask(op))) = follows.first() else { return false };
    // Another one for the frame, and another one for active lanes, would be read from there.
    let [a, b] = op.reads();
    let once = (a == Some(m)) != (b == Some(m));
    let gone = op.writes() == m || live.is_some_and(|live| !live.contains(m));
    let is_made = live.is_some_and(|live| live.contains(op.writes()));
    m != M::ACTIVE && once && gone && is_made
}

/// Code under construction.
pub struct Emit<'a> {
    pub(super) program: &'a Program<'a>,
    steps: &'a [Vec<Step<'a>>],
    pub(super) locations: Locations,
    pub(super) layout: Layout,
    pub asm: Asm,
    blocks: Vec<Label>,
    pub(super) bail_out: Label,
    /// Instructions are used up.
    spent: Label,
    done: Label,
    leave: Label,
    /// Yields by number, and where the code goes on after them.
    yields: Vec<(u16, Label)>,
    /// Of each block's steps, the masks that somebody reads behind them.
    live: Vec<Vec<MaskSet>>,
    idle_lanes_count: bool,
    /// The mask that rax holds, between operations on masks.
    in_rax: Option<M>,
    /// Which part is being done.
    pub(super) part: Part,
    /// Where a group goes whose mask is empty, if some mask was looked at.
    pub(super) end: Option<Label>,
    /// The mask whose lanes mask 1 holds.
    pub(super) holds: Option<M>,
    pub(super) slow: Vec<Slow>,
    /// Parts of lookups that stand behind all blocks.
    pub(super) asides: Vec<Aside>,
    /// Slots of masks 2 and 3, and of vectors.
    slots: i32,
    /// Slots of uniform values.
    uniforms: Map<u16, i32>,
    /// Bytes of the frame.
    pub size: i32,
}

impl<'a> Emit<'a> {
    /// For a program whose vectors live here.
    pub fn new(program: &'a Program<'a>, steps: &'a [Vec<Step<'a>>], locations: Locations, layout: Layout) -> Self {
        let mut asm = Asm::new(Isa::Avx2);
        let blocks = program.code.blocks.iter().map(|_| asm.label()).collect();
        let (bail_out, done, leave) = (asm.label(), asm.label(), asm.label());
        let spent = asm.label();
        let size = layout.size + slot_bytes(2 + locations.slots);
        Self {
            program,
            steps,
            locations,
            layout,
            asm,
            blocks,
            bail_out,
            spent,
            done,
            leave,
            yields: Vec::new(),
            live: masks::live(program, steps),
            idle_lanes_count: masks::idle_lanes_count(program),
            in_rax: None,
            part: Part::Fixed(0),
            end: None,
            holds: None,
            slow: Vec::new(),
            asides: Vec::new(),
            slots: layout.size,
            uniforms: Map::default(),
            size,
        }
    }

    /// Parts of a wavefront.
    pub(super) const fn parts(&self) -> u8 {
        (self.program.lanes / LANES) as u8
    }

    /// A mask's place in the frame.
    pub(super) fn mask_at(m: M) -> i32 {
        head::MASKS + 8 * i32::from(m.0)
    }

    /// The slot of mask 2 or 3.
    pub(super) const fn mask_slot(&self, k: u8) -> i32 {
        self.slots + slot_bytes(k as u32 - 2)
    }

    /// A vector's slot.
    pub(super) const fn slot(&self, number: u32) -> i32 {
        self.slots + slot_bytes(2 + number)
    }

    /// The slot of a uniform value.
    pub(super) fn uniform(&mut self, index: u16) -> i32 {
        let size = &mut self.size;
        *self.uniforms.entry(index).or_insert_with(|| {
            *size += PART;
            *size - PART
        })
    }

    /// Everything.
    pub fn program(&mut self) {
        let start = self.asm.label();
        self.asm.jump(start);
        let order = order(self.program.code);
        for (n, &index) in order.iter().enumerate() {
            self.block(index, order.get(n + 1).copied());
        }
        self.slow_parts();
        self.asides();
        self.epilogue();
        // Which uniform values there are is known now.
        self.asm.place(start);
        self.prologue();
        let first = self.blocks[0];
        self.asm.jump(first);
    }

    fn prologue(&mut self) {
        for register in [RBX, RBP, 12, 13, 14, 15] {
            self.asm.push(register);
        }
        self.asm.move_stack(-8);
        self.asm.move_wide(RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, head::UNIFORMS);
        self.asm.int_load(Int::Mov, true, VISITS, RBX, head::VISITS);
        self.asm.int_load(Int::Mov, true, FUEL, RBX, head::FUEL);
        self.asm.int_load(Int::Mov, true, ACTIVE, RBX, Self::mask_at(M::ACTIVE));
        self.asm.int_load(Int::Mov, true, ACTIVE_LANES, RBX, head::ACTIVE_LANES);
        self.asm.mxcsr(true, RBX, head::HOST_MXCSR);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        for (number, label) in std::mem::take(&mut self.yields) {
            self.asm.int_store_imm(Int::Cmp, true, RBX, head::YIELD, i32::from(number) + 1);
            self.asm.jump_if(Cond::Equal, label);
        }
        let mut uniforms: Vec<(u16, i32)> = self.uniforms.iter().map(|(&index, &at)| (index, at)).collect();
        uniforms.sort_unstable();
        for (index, at) in uniforms {
            self.asm.vector(BROADCAST, SCRATCH, 0, Rm::Each(RBP, 4 * i32::from(index)));
            self.asm.vector(MOVUPS_STORE, SCRATCH, 0, Rm::Row(RBX, at));
        }
        self.asm.vector(XOR, OPERAND, OPERAND, Rm::Reg(OPERAND));
        for &var in self.program.live_in {
            let Some(vector) = self.program.vars[var.index()] else { continue };
            let Location::Row(row) = self.locations.of[vector.index()] else { continue };
            let given = self.program.start.iter().position(|&v| v == var);
            let from = given.map(|place| self.layout.start + ROW * place as i32);
            if from == Some(row) {
                continue;
            }
            for part in 0..i32::from(self.parts()) {
                let mut value = OPERAND;
                if let Some(from) = from {
                    self.load(SCRATCH, Rm::Row(RBX, from + PART * part));
                    value = SCRATCH;
                }
                self.asm.vector(MOVUPS_STORE, value, 0, Rm::Row(RBX, row + PART * part));
            }
        }
    }

    fn epilogue(&mut self) {
        let leave = self.leave;
        self.asm.place(self.done);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        self.asm.int_imm(RAX, 0);
        self.asm.jump(leave);
        self.asm.place(self.spent);
        self.asm.int_imm(RAX, SPENT);
        self.asm.jump(leave);
        self.asm.place(self.bail_out);
        self.asm.int_imm(RAX, 1);
        self.asm.place(leave);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.zero_upper();
        self.asm.move_stack(8);
        for register in [15, 14, 13, 12, RBP, RBX] {
            self.asm.pop(register);
        }
        self.asm.ret();
    }

    fn block(&mut self, index: usize, next: Option<usize>) {
        let block = &self.program.code.blocks[index];
        let label = self.blocks[index];
        self.asm.place(label);
        let instructions = block.tally.instructions();
        if instructions > 0 && self.program.fuel {
            self.asm.wide_imm(Int::Sub, FUEL, instructions as i32);
            self.asm.jump_if(Cond::Below, self.spent);
            self.asm.int_load(Int::Mov, true, RAX, RBX, head::STOP);
            self.asm.int_store_imm(Int::Cmp, false, RAX, 0, 0);
            self.asm.jump_if(Cond::NotEqual, self.bail_out);
        }
        if instructions > 0 && self.program.counts {
            self.asm.int_store_imm(Int::Add, true, VISITS, 8 * index as i32, 1);
        }
        let steps = &self.steps[index];
        let behind = self.live[index].last().copied().unwrap_or_default();
        self.in_rax = None;
        for (at, step) in steps.iter().enumerate() {
            let follows = &steps[at + 1..];
            match step {
                Step::Segment(list) => {
                    let skips = !self.idle_lanes_count
                        && list.len() >= WORTH_SKIPPING
                        && may_skip(self.program, &self.locations.of, list, follows, block.end, &behind);
                    self.segment(list, skips);
                    self.in_rax = None;
                }
                Step::Whole(Ins::Mask(op)) => {
                    let live = self.live[index][at];
                    if live.contains(op.writes()) {
                        self.mask_op(*op, !used_up(op.writes(), follows, self.live[index].get(at + 1)));
                    }
                }
                Step::Whole(ins) => {
                    self.whole(ins);
                    self.in_rax = None;
                }
            }
        }
        let is_next = |target: Target| next.is_some_and(|next| target == Target::Block(next as u16));
        match block.end {
            End::Stop => self.asm.jump(self.done),
            End::Next(target) if is_next(target) => {}
            End::Next(target) => self.go(target),
            End::Branch { mask, none, some } => {
                let register = if mask == M::ACTIVE { ACTIVE } else { RAX };
                if mask != M::ACTIVE {
                    self.take_mask(mask);
                }
                self.asm.wide_test(register, register);
                if is_next(none) {
                    let to = self.label_of(some);
                    self.asm.jump_if(Cond::NotEqual, to);
                } else {
                    let to = self.label_of(none);
                    self.asm.jump_if(Cond::Equal, to);
                    if !is_next(some) {
                        self.go(some);
                    }
                }
            }
        }
    }

    fn label_of(&self, target: Target) -> Label {
        match target {
            Target::Block(id) => self.blocks[usize::from(id)],
            Target::Reference => self.bail_out,
        }
    }

    fn go(&mut self, target: Target) {
        let label = self.label_of(target);
        self.asm.jump(label);
    }

    /// What concerns the wavefront as a whole.
    fn whole(&mut self, ins: &Ins) {
        match *ins {
            Ins::Mark(export, under) => {
                let at = head::WRITTEN + 8 * i32::from(export);
                self.load_mask(RAX, under);
                self.asm.int_store(Int::Or, true, RBX, at, RAX);
            }
            Ins::Tally(_, weight, lanes) => {
                self.load_mask(RAX, lanes);
                self.asm.wide_popcount(RAX, RAX);
                if weight != 1 {
                    self.asm.wide_times(RAX, RAX, weight as i32);
                }
                self.asm.wide(Int::Add, ACTIVE_LANES, RAX);
            }
            Ins::Call(number, under) => self.call(number, under),
            Ins::Yield(number) => self.yield_here(number),
            Ins::Sample(number, ..) => {
                if let Some(sample) = self.program.samples.get(usize::from(number)) {
                    self.sample(sample, i32::from(number));
                }
            }
            // Those that segments are made of, and what a lookup makes besides.
            _ => {}
        }
    }

    /// Leaves, so that other wavefronts of the group can catch up; the next call goes on here. All vectors lie in the frame.
    fn yield_here(&mut self, number: u16) {
        self.asm.int_store(Int::Mov, true, RBX, head::FUEL, FUEL);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        self.asm.int_store_imm(Int::Mov, true, RBX, head::YIELD, i32::from(number) + 1);
        self.asm.int_imm(RAX, 2);
        self.asm.jump(self.leave);
        let label = self.asm.label();
        self.asm.place(label);
        self.yields.push((number, label));
    }

    pub(super) fn load_mask(&mut self, register: Gpr, m: M) {
        if m == M::ACTIVE {
            self.asm.wide(Int::Mov, register, ACTIVE);
        } else {
            self.asm.int_load(Int::Mov, true, register, RBX, Self::mask_at(m));
        }
    }

    pub(super) fn store_mask(&mut self, m: M, register: Gpr) {
        if m == M::ACTIVE {
            self.asm.wide(Int::Mov, ACTIVE, register);
        }
        self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(m), register);
    }

    /// `rax = m`, unless it is that already.
    fn take_mask(&mut self, m: M) {
        if self.in_rax != Some(m) {
            self.load_mask(RAX, m);
        }
    }

    /// `rax op= m`.
    fn with_mask(&mut self, op: Int, m: M) {
        if m == M::ACTIVE {
            self.asm.wide(op, RAX, ACTIVE);
        } else {
            self.asm.int_load(op, true, RAX, RBX, Self::mask_at(m));
        }
    }

    /// `rax = a op b`.
    fn two_masks(&mut self, op: Int, a: M, b: M) {
        let (a, b) = if self.in_rax == Some(b) { (b, a) } else { (a, b) };
        self.take_mask(a);
        if a == b {
            // Of itself.
            if op == Int::Xor {
                self.asm.int_imm(RAX, 0);
            }
            return;
        }
        self.with_mask(op, b);
    }

    /// An operation on masks; `keep`: somebody needs the result elsewhere than in rax.
    fn mask_op(&mut self, op: MaskOp, keep: bool) {
        match op {
            MaskOp::Copy(_, a) => self.take_mask(a),
            MaskOp::And(_, a, b) => self.two_masks(Int::And, a, b),
            MaskOp::AndNot(_, a, b) if self.in_rax == Some(a) && a != b => {
                self.load_mask(RCX, b);
                self.asm.wide_not(RCX);
                self.asm.wide(Int::And, RAX, RCX);
            }
            MaskOp::AndNot(_, a, b) if a == b => self.asm.int_imm(RAX, 0),
            MaskOp::AndNot(_, a, b) => {
                self.take_mask(b);
                self.asm.wide_not(RAX);
                self.with_mask(Int::And, a);
            }
            MaskOp::Or(_, a, b) => self.two_masks(Int::Or, a, b),
            MaskOp::Xor(_, a, b) => self.two_masks(Int::Xor, a, b),
            MaskOp::Quads(_, a) => {
                self.take_mask(a);
                wide::whole_quads(&mut self.asm);
                self.with_mask(Int::And, M::EXISTING);
            }
            MaskOp::Number(d, number) => {
                self.asm.int_store_imm(Int::Mov, true, RBX, Self::mask_at(d), number);
                if self.in_rax == Some(d) {
                    self.in_rax = None;
                }
                return;
            }
            MaskOp::Add(d, number, thirteen_bits) => {
                self.take_mask(d);
                wide::add(&mut self.asm, RAX, number, thirteen_bits);
            }
            MaskOp::IfNot0(_, a, b) => {
                if self.in_rax == Some(b) {
                    self.asm.wide(Int::Mov, RCX, RAX);
                } else {
                    self.load_mask(RCX, b);
                }
                self.take_mask(a);
                wide::unless_zero(&mut self.asm);
            }
            MaskOp::Lanes(..) => return,
        }
        if keep {
            self.store_mask(op.writes(), RAX);
        }
        self.in_rax = Some(op.writes());
    }

    /// Calls out, with the host's MXCSR. No vector is in a register then.
    pub(super) fn call(&mut self, number: u16, under: M) {
        self.load_mask(RDX, under);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.move_wide(RDI, RBX);
        self.asm.int_imm(RSI, u32::from(number));
        self.asm.zero_upper();
        self.asm.call(RBX, head::FUNCTION);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.bail_out);
    }

    /// The row of a variable's part 0.
    pub(super) fn row_of(&self, src: Src) -> i32 {
        let Src::Vector(vector) = src else { return 0 };
        match self.locations.of[vector.index()] {
            Location::Row(row) => row,
            Location::Register(_) | Location::Slot(_) | Location::Nowhere => 0,
        }
    }
}
