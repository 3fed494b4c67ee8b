//! Machine code of programs of both instruction sets.
//!
//! A vector takes one register for each part (*piece*) of the wavefront's lanes: of 16 lanes with AVX-512, of 8 on AVX2.
//!
//! | register | contents |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the uniform values |
//! | r12 | active lanes |
//! | r13 | block counters |
//! | r14 | the instruction budget that is left |
//! | r15 | active lanes, summed over instructions |
//! | rsi, rdi, r9-r11 | the other masks that are used most, in programs without calls |
//! | r8 | a mask that a strip makes |
//! | zmm28-31, ymm13-15 | scratch |
//! | k1-k3 | masks within a few instructions; on AVX2 these are ymm15 and two rows |
//! | k4-k7 | the active lanes of each part (`active`); on AVX2 they are a vector like others |

mod active;
mod elements;
mod input;
mod masks;
mod pieces;
mod relative;
mod under;
mod vectors;

use super::fused::Iterations;
use super::ins::Ins;
use super::kept::enters_loop;
use super::layout::{MASK_ROWS, ROW, SPENT, head};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::vectors::Vectors;
use ctm_ir::masked::{Code, Counter, End, JumpTarget, M, Var};
use ctm_ir::order::postorder;
use ctm_x86::{Asm, Cond, Gpr, Int, Label, MOVUPS_LOAD, RAX, RBP, RBX, RDI, RDX, RSI, Rm};
pub use input::{Input, add_active};
use input::{Lies, Needs};
use std::ops::Range;

const ACTIVE: Gpr = 12;
const VISITS: Gpr = 13;
const FUEL: Gpr = 14;
const ACTIVE_LANES: Gpr = 15;

/// The instructions of a rare case.
struct Rare<'a> {
    from: Label,
    back: Label,
    pieces: Range<u8>,
    is_moved: bool,
    check: Lir,
    body: &'a [Ins],
}

/// Code under construction.
struct Emit<'a> {
    input: &'a Input<'a>,
    asm: Asm,
    blocks: Vec<Label>,
    bail_out: Label,
    /// Instructions are used up.
    spent: Label,
    done: Label,
    leave: Label,
    /// The dispatch of a wavefront that comes back after a yield.
    resume: Label,
    /// Yields by number, with the label at which the code goes on after them.
    yields: Vec<(u16, Label)>,
    rare: Vec<Rare<'a>>,
    /// Parts of the active lanes are in their mask registers, or in their vector.
    is_spread: bool,
    /// The mask whose lanes mask 1 holds, where masks are vectors.
    in_mask: Option<M>,
    /// The present code belongs to a loop: its literals and constants are in their registers.
    is_in_loop: bool,
    /// The present code is for the part that registers point to.
    is_moved: bool,
    /// The end of the present sequence of instructions, for an early exit.
    end: Label,
    /// The active lanes are in their general register.
    is_whole: bool,
    /// The location of their parts.
    lies: Lies,
    /// The location at which each block needs them at its beginning.
    needs: Vec<Needs>,
    /// The registers of other masks.
    masks: Vec<Option<Gpr>>,
}

/// The code of a program.
pub fn emit(input: &Input<'_>) -> Vec<u8> {
    let mut asm = Asm::new(input.target.isa);
    let blocks = input.code.blocks.iter().map(|_| asm.label()).collect();
    let (bail_out, done, leave, resume) = (asm.label(), asm.label(), asm.label(), asm.label());
    let spent = asm.label();
    let lies = match input.active {
        _ if input.target.has_mask_registers() => Lies::InMasks,
        Some(_) => Lies::InVector,
        None => Lies::Nowhere,
    };
    let mut emit = Emit {
        input,
        asm,
        blocks,
        bail_out,
        spent,
        done,
        leave,
        resume,
        yields: Vec::new(),
        rare: Vec::new(),
        is_spread: false,
        in_mask: None,
        is_in_loop: false,
        is_moved: false,
        end: bail_out,
        is_whole: true,
        lies,
        needs: Needs::of(lies, input.code, input.lists, input.iterations),
        masks: input::locations(input),
    };
    emit.prologue();
    let order = order(input.code);
    for (n, &index) in order.iter().enumerate() {
        emit.block(index, order.get(n + 1).copied());
    }
    emit.slow_parts();
    emit.epilogue();
    emit.asm.finish()
}

/// An order of blocks in which most are before one of their successors.
fn order(code: &Code) -> Vec<usize> {
    // The path with active lanes comes right after; the path without any, later.
    let mut order = postorder(vec![false; code.blocks.len()], [0], |block| code.blocks[block].end.successors());
    order.reverse();
    order
}

impl<'a> Emit<'a> {
    fn pieces(&self) -> Range<u8> {
        0..self.input.pieces
    }

    fn prologue(&mut self) {
        self.asm.enter();
        self.asm.wide(Int::Mov, RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, head::UNIFORMS);
        self.asm.int_load(Int::Mov, true, VISITS, RBX, head::VISITS);
        self.asm.int_load(Int::Mov, true, FUEL, RBX, head::FUEL);
        self.asm.int_load(Int::Mov, true, ACTIVE, RBX, head::mask(M::ACTIVE));
        self.asm.int_load(Int::Mov, true, ACTIVE_LANES, RBX, head::ACTIVE_LANES);
        if !self.input.code.yields.is_empty() {
            self.asm.jump_cmp(true, RBX, head::YIELD, 0, Cond::NotEqual, self.resume);
        }
        for var in self.input.live_in.clone() {
            let Some(vector) = self.input.vars[var.index()] else { continue };
            let given = self.input.start.iter().position(|&v| v == var);
            let at = |place: usize| Src::Row(self.input.layout.start + ROW * place as i32);
            let src = given.map_or(Src::Literal(0), at);
            self.pieces().for_each(|piece| self.copy(vector, src, piece));
        }
        if self.input.code.blocks[0].loops > 0 {
            self.load_kept();
        }
        self.provide(self.needs[0]);
    }

    fn epilogue(&mut self) {
        let leave = self.leave;
        self.asm.place(self.done);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        for (&export, &at) in self.input.exports.iter().zip(self.input.rows) {
            let Some(vector) = self.input.vars[Var::export(export / 4, export % 4).index()] else { continue };
            for piece in self.pieces() {
                if let Some(register) = self.register(vector, piece) {
                    let row = self.at(at, piece);
                    self.store(register, row);
                }
            }
        }
        self.asm.int_imm(RAX, 0);
        self.asm.jump(leave);
        self.asm.place(self.spent);
        self.asm.int_imm(RAX, SPENT);
        self.asm.jump(leave);
        self.asm.place(self.bail_out);
        self.asm.int_imm(RAX, 1);
        self.asm.place(leave);
        self.asm.leave();
    }

    fn block(&mut self, index: usize, next: Option<usize>) {
        let block = &self.input.code.blocks[index];
        let label = self.blocks[index];
        self.asm.place(label);
        Needs { whole: self.is_whole, pieces: self.is_spread } = self.needs[index];
        let instructions = block.tally.instructions();
        if instructions > 0 && self.input.fuel {
            self.asm.wide_imm(Int::Sub, FUEL, instructions as i32);
            self.asm.jump_if(Cond::Below, self.spent);
            self.asm.int_load(Int::Mov, true, RAX, RBX, head::STOP);
            self.asm.jump_cmp(false, RAX, 0, 0, Cond::NotEqual, self.bail_out);
        }
        if instructions > 0 && self.input.counts {
            self.asm.int_store_imm(Int::Add, true, VISITS, 8 * index as i32, 1);
        }
        let input = self.input;
        self.is_in_loop = block.loops > 0;
        self.runs(&input.lists[index], &input.runs[index]);
        self.provide(Needs::behind(block.end, &self.needs));
        if enters_loop(input.code, block) {
            self.load_kept();
        }
        let is_next = |target: JumpTarget| next.is_some_and(|next| target == JumpTarget::Block(next as u16));
        match block.end {
            End::Stop => self.asm.jump(self.done),
            End::Next(target) if is_next(target) => {}
            End::Next(target) => self.go(target),
            End::Branch { mask, none, some } => {
                let lanes = match self.input.iterations[index] {
                    None => mask,
                    // Existing lanes stay as long as the wavefront runs.
                    Some(Iterations { left, lanes: M::EXISTING }) => left,
                    Some(Iterations { left, lanes }) => {
                        let register = self.mask_register(left, RAX);
                        self.asm.wide_test(register, register);
                        let to = self.label_of(none);
                        self.asm.jump_if(Cond::Equal, to);
                        lanes
                    }
                };
                self.test_lanes(lanes, some);
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

    /// Loads the literals and constants that loops use into their registers.
    fn load_kept(&mut self) {
        self.input.kept.iter().for_each(|&(src, vector)| self.copy(vector, src, 0));
    }

    fn label_of(&self, target: JumpTarget) -> Label {
        match target {
            JumpTarget::Block(id) => self.blocks[usize::from(id)],
            JumpTarget::Reference => self.bail_out,
        }
    }

    fn go(&mut self, target: JumpTarget) {
        let label = self.label_of(target);
        self.asm.jump(label);
    }

    /// An instruction that concerns the wavefront as a whole.
    fn effect(&mut self, ins: &Ins) {
        match *ins {
            Ins::Mark(export, under) => {
                let at = head::WRITTEN + 8 * i32::from(export);
                let lanes = self.mask_register(under, RAX);
                self.asm.int_store(Int::Or, true, RBX, at, lanes);
            }
            Ins::Mask(op) => self.mask_op(op),
            Ins::Tally { counter, weight, under: lanes } => {
                let lanes = self.mask_register(lanes, RAX);
                self.asm.wide_popcount(RAX, lanes);
                if weight != 1 {
                    self.asm.wide_times(RAX, RAX, weight as i32);
                }
                match counter {
                    Counter::Lanes => self.asm.wide(Int::Add, ACTIVE_LANES, RAX),
                    Counter::Lookups(input) => {
                        self.asm.int_store(Int::Add, true, RBX, head::LOOKUPS + 8 * i32::from(input & 15), RAX);
                    }
                }
            }
            Ins::Guard { number, base, count } => {
                self.load_mask(RAX, number);
                self.asm.wide_imm(Int::Add, RAX, base.into());
                self.asm.wide_imm(Int::Cmp, RAX, count.into());
                self.asm.jump_if(Cond::AboveEqual, self.bail_out);
            }
            Ins::SetRelative { to, base, index, value, under } => self.set_relative(to, base, index, value, under),
            Ins::Call(number, under) => {
                self.whole();
                self.call(number, under);
            }
            Ins::Yield(number) => {
                self.whole();
                self.yield_here(number);
            }
            // All others are in strips (`Ins::is_whole`).
            _ => debug_assert!(false, "{ins:?} stands in a run"),
        }
    }

    fn slow_parts(&mut self) {
        self.is_in_loop = false;
        if !self.input.code.yields.is_empty() {
            self.asm.place(self.resume);
            for (number, label) in std::mem::take(&mut self.yields) {
                self.asm.jump_cmp(true, RBX, head::YIELD, i32::from(number) + 1, Cond::Equal, label);
            }
            self.asm.jump(self.bail_out);
        }
        self.rare_parts();
    }

    /// Calls out, with the live registers saved.
    fn call(&mut self, number: u16, under: M) {
        let (input, of) = (self.input, usize::from(number));
        let this: &Self = self;
        let registers = |&vector: &Vector| this.pieces().filter_map(move |piece| this.register(vector, piece));
        let saved = input.live_during[of].iter().flat_map(registers).fold(0, |all, register| all | 1 << register);
        self.save(saved);
        self.load_mask(RDX, under);
        self.asm.wide(Int::Mov, RDI, RBX);
        self.asm.int_imm(RSI, number.into());
        self.asm.zero_upper();
        self.asm.call(RBX, head::FUNCTION);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.bail_out);
        self.restore(saved);
    }

    /// Returns, so that other wavefronts of the group can catch up; the next call goes on here.
    fn yield_here(&mut self, number: u16) {
        let registers = (1 << self.target().registers) - 1;
        self.save(registers);
        self.asm.int_store(Int::Mov, true, RBX, head::mask(M::ACTIVE), ACTIVE);
        self.asm.int_store(Int::Mov, true, RBX, head::FUEL, FUEL);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        self.asm.int_store_imm(Int::Mov, true, RBX, head::YIELD, i32::from(number) + 1);
        self.asm.int_imm(RAX, 2);
        self.asm.jump(self.leave);
        let label = self.asm.label();
        self.asm.place(label);
        self.yields.push((number, label));
        self.restore(registers);
    }

    /// Saves the registers in the frame.
    fn save(&mut self, registers: u32) {
        for register in numbers(registers) {
            let row = self.saved(register);
            self.store(register, row);
        }
    }

    /// Restores them.
    fn restore(&mut self, registers: u32) {
        for register in numbers(registers) {
            let row = self.saved(register);
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
        // A vector of them is among the registers, or in rows.
        self.is_spread &= !self.target().has_mask_registers();
    }

    /// The place of a register during calls.
    fn saved(&self, register: u8) -> Rm {
        self.work_row(0, register)
    }

    /// One of consecutive rows that begin `at` bytes after those for registers during calls.
    fn work_row(&self, at: i32, piece: u8) -> Rm {
        self.at(self.input.layout.save + at, piece)
    }
}

/// The registers of a set.
fn numbers(registers: u32) -> impl Iterator<Item = u8> {
    (0..32).filter(move |register| registers >> register & 1 == 1)
}
