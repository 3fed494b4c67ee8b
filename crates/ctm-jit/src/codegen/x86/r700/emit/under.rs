//! What is done under masks of lanes; what makes masks with AVX-512 (on AVX2: `pieces`).

use super::{COLLECTED, Emit, SCRATCH, Slow};
use crate::codegen::x86::asm::{CMP_F32, Cond, Int, MOVUPS_LOAD, MOVUPS_STORE, RAX, RCX};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::r700::facts::{EQUAL, UNORDERED};
use crate::codegen::x86::r700::wide::{SHL, SHR};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::r700::M;

impl Emit<'_> {
    /// Stores into a vector in the lanes of a mask.
    pub(super) fn set_under(&mut self, dst: Vector, src: Src, under: M, piece: u8) {
        match self.isa() {
            Isa::Avx512 => {
                let k = self.lane_mask(under, piece);
                self.change(dst, piece, |e, dst| {
                    let rm = e.rm(src, piece);
                    e.load_rm(dst, rm, k);
                });
            }
            Isa::Avx2 => {
                let mask = self.lane_signs(under, piece);
                let yes = self.last(src, piece, self.isa().operand_scratch());
                self.change(dst, piece, |e, dst| e.asm.blend(dst, mask, yes, dst));
            }
        }
    }

    /// Stores into a row of the frame in the lanes of a mask.
    pub(super) fn store_under(&mut self, row: i32, src: Src, under: M, piece: u8) {
        let (row, scratch) = (self.at(row, piece), self.isa().scratch());
        match self.isa() {
            Isa::Avx512 => {
                let k = self.lane_mask(under, piece);
                let from = self.reg(src, piece, scratch);
                self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
            }
            Isa::Avx2 => {
                let mask = self.lane_signs(under, piece);
                let yes = self.last(src, piece, self.isa().operand_scratch());
                self.asm.vector(MOVUPS_LOAD, scratch, 0, row);
                self.asm.blend(scratch, mask, yes, scratch);
                self.store(scratch, row);
            }
        }
    }

    /// The lanes of a mask that belong to a piece, in a mask register: AVX-512.
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

    /// The lanes that pass all of these tests, in a general register.
    pub(super) fn lanes_of(&mut self, tests: &[Lir]) {
        for piece in self.pieces() {
            tests.iter().for_each(|test| self.line(test, piece));
            self.asm.mask_to(if piece == 0 { COLLECTED } else { RCX }, 1);
            if piece > 0 {
                self.asm.wide_shift(SHL, RCX, 16 * piece);
                self.asm.wide(Int::Or, COLLECTED, RCX);
            }
        }
    }

    /// Of the active lanes, those stay active that pass all of these tests: each is made under what is left by those before it.
    pub(super) fn keep(&mut self, tests: &[Lir]) {
        self.spread();
        for test in tests {
            for piece in self.pieces() {
                if let Lir::Test(op, how, _, a, b, _) = *test {
                    self.line(&Lir::Test(op, how, 4 + piece, a, b, 4 + piece), piece);
                }
            }
        }
        self.is_whole = false;
    }

    /// Where some product is not a number, the slow part looks why.
    pub(super) fn zero_rule(&mut self, dst: Vector, a: Src, b: Src) {
        let it = Src::Vector(dst);
        let (from, back) = (self.asm.label(), self.asm.label());
        // A comparison of two registers finds what is unordered in either.
        for (x, k) in self.pieces().step_by(2).zip(1..) {
            let y = (x + 1).min(self.input.pieces - 1);
            let x = self.reg(it, x, SCRATCH);
            let y = self.rm(it, y);
            self.asm.evex(CMP_F32, k, x, y, 0, false, Some(UNORDERED));
        }
        if self.input.pieces > 2 {
            self.asm.mask_or(1, 1, 2);
        }
        self.asm.mask_test(1);
        self.asm.jump_if(Cond::NotEqual, from);
        self.asm.place(back);
        self.slow.push(Slow { from, back, piece: 0, is_moved: false, rule: (dst, a, b) });
    }

    /// What looks closer, behind all blocks.
    pub(super) fn slow_rules(&mut self) {
        for Slow { from, back, rule: (dst, a, b), .. } in std::mem::take(&mut self.slow) {
            self.asm.place(from);
            let (it, zero) = (Src::Vector(dst), Src::Literal(0));
            for piece in self.pieces() {
                self.line(&Lir::Test(CMP_F32, UNORDERED, 1, it, it, 0), piece);
                self.line(&Lir::Test(CMP_F32, EQUAL, 2, a, zero, 1), piece);
                self.line(&Lir::Test(CMP_F32, EQUAL, 3, b, zero, 1), piece);
                self.line(&Lir::Or(2, 2, 3), piece);
                self.line(&Lir::Merge(dst, 2, zero), piece);
            }
            self.asm.jump(back);
        }
    }
}
