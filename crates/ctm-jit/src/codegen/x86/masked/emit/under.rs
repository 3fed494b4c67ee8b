//! Instructions under masks of lanes, and code for rare cases.

use super::{Emit, Rare};
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{UNORDERED, opposite};
use crate::codegen::x86::masked::ins::Ins;
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::vectors::Vectors;
use ctm_ir::masked::M;
use ctm_x86::{AND_F32, CMP_F64, Cond, MOVUPS_LOAD, MOVUPS_STORE, PSRA, RAX, Rm, SHIFT_IMM, V};

impl<'a> Emit<'a> {
    /// Stores into a vector in the lanes of a mask.
    pub(super) fn set_under(&mut self, dst: Vector, src: Src, under: M, piece: u8) {
        if self.target().has_mask_registers() {
            let k = self.lane_mask(under, piece);
            return self.change(dst, piece, |e, dst| {
                let rm = e.rm(src, piece);
                e.load_rm(dst, rm, k);
            });
        }
        let mask = self.lane_signs(under, piece);
        let yes = self.last(src, piece, self.target().operand_scratch());
        self.change(dst, piece, |e, dst| e.asm.blend(dst, mask, yes, dst));
    }

    /// Stores an operation's result into a vector in the lanes of a mask; where masks are vectors, applies it to that vector
    /// and the masked second operand.
    pub(super) fn two_under(&mut self, op: V, dst: Vector, [a, b]: [Src; 2], under: M, piece: u8) {
        let operand = self.target().operand_scratch();
        if !self.target().has_mask_registers() {
            let mask = self.lane_signs(under, piece);
            if self.input.active.is_none() {
                self.asm.instruction(SHIFT_IMM, PSRA, mask, Rm::Reg(mask), Some(31));
            }
            let b = self.rm(b, piece);
            self.asm.vector(AND_F32, operand, mask, b);
            return self.change(dst, piece, |e, dst| e.asm.vector(op, dst, dst, Rm::Reg(operand)));
        }
        let k = self.lane_mask(under, piece);
        let a = self.reg(a, piece, operand);
        let b = self.rm(b, piece);
        self.change(dst, piece, |e, dst| e.asm.evex(op, dst, a, b, k, false, None));
    }

    /// Stores into a row of the frame in the lanes of a mask.
    pub(super) fn store_under(&mut self, row: i32, src: Src, under: M, piece: u8) {
        let (row, scratch) = (self.at(row, piece), self.target().scratch());
        if self.target().has_mask_registers() {
            let k = self.lane_mask(under, piece);
            let from = self.reg(src, piece, scratch);
            return self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
        }
        let mask = self.lane_signs(under, piece);
        let yes = self.last(src, piece, self.target().operand_scratch());
        self.asm.vector(MOVUPS_LOAD, scratch, 0, row);
        self.asm.blend(scratch, mask, yes, scratch);
        self.store(scratch, row);
    }

    /// A part of a mask of lanes, in a mask register.
    pub(super) fn lane_mask(&mut self, under: M, piece: u8) -> K {
        if under != M::ACTIVE {
            let from = self.mask_register(under, RAX);
            if piece > 0 {
                self.load_mask(RAX, under);
                self.asm.wide_shift(SHR, RAX, 16 * piece);
            }
            self.asm.mask_from(1, if piece > 0 { RAX } else { from });
            return 1;
        }
        self.spread();
        4 + piece
    }

    /// Keeps those active lanes active that pass all of a strip's tests: each is made under the result of those before
    /// it, in mask registers.
    pub(super) fn keep(&mut self, run: &[Ins]) {
        for ins in run {
            let Ins::Lir(Lir::Test { op, how, a, b, .. }) = *ins else { continue };
            for piece in self.pieces() {
                self.line(&Lir::Test { op, how, dst: 4 + piece, a, b, under: 4 + piece }, piece);
            }
        }
    }

    /// Tests whether a rare case has occurred in some lane of any part, by mask registers.
    pub(super) fn rare_of_all(&mut self, check: &Lir, body: &'a [Ins]) {
        let [from, back] = std::array::from_fn(|_| self.asm.label());
        let mut happens = Cond::NotEqual;
        match *check {
            Lir::Test { op, how: UNORDERED, a, .. } => {
                // A comparison of two registers finds NaNs in either.
                for (k, first) in [1, 2].into_iter().zip(self.pieces().step_by(2)) {
                    let register = self.reg(a, first, self.target().operand_scratch());
                    let other = self.rm(a, (first + 1).min(self.input.pieces - 1));
                    self.asm.evex(op, k, register, other, 0, false, Some(UNORDERED));
                }
                self.asm.mask_test_two(1, if self.input.pieces > 2 { 2 } else { 1 });
            }
            Lir::Test { op, how, a, b, under: 0, .. } if op != CMP_F64 => {
                // The lanes without the rare case, and without earlier ones: all of them, mostly.
                for piece in self.pieces() {
                    self.line(&Lir::Test { op, how: opposite(how), dst: 1, a, b, under: u8::from(piece > 0) }, piece);
                }
                self.asm.mask_test(1);
                happens = Cond::AboveEqual;
            }
            _ => {
                for piece in self.pieces() {
                    self.line(check, piece);
                    self.asm.mask_or(2, if piece == 0 { 1 } else { 2 }, 1);
                }
                self.asm.mask_test(2);
            }
        }
        self.asm.jump_if(happens, from);
        self.asm.place(back);
        self.rare.push(Rare { from, back, pieces: self.pieces(), is_moved: false, check: *check, body });
    }

    /// The code of rare cases, after all blocks.
    pub(super) fn rare_parts(&mut self) {
        for Rare { from, back, pieces, is_moved, check, body } in std::mem::take(&mut self.rare) {
            self.is_moved = is_moved;
            self.asm.place(from);
            for piece in pieces {
                self.line(&check, piece);
                let lirs = body.iter().filter_map(|ins| if let Ins::Lir(lir) = ins { Some(lir) } else { None });
                lirs.for_each(|lir| self.line(lir, piece));
            }
            self.asm.jump(back);
        }
        self.is_moved = false;
    }
}
