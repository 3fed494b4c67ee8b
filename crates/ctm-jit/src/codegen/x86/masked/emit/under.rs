//! What is done under masks of lanes; what makes masks with AVX-512 (on AVX2: `pieces`).

use super::{COLLECTED, Emit, Rare, SCRATCH};
use crate::codegen::x86::asm::{CMP_F32, Cond, Int, MOVUPS_LOAD, MOVUPS_STORE, RAX, RCX};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Class, K, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::EQUAL;
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::masked::{Check, Ins};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::masked::M;

impl<'a> Emit<'a> {
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

    /// Looks whether something rare has happened in a lane, of whatever piece: AVX-512.
    pub(super) fn rare_of_all(&mut self, check: Check, body: &'a [Ins]) {
        /// None of two numbers is a NaN.
        const ORDERED: u8 = 7;
        let (from, back) = (self.asm.label(), self.asm.label());
        let happened = match check {
            Check::Nan(vectors) => {
                // A comparison of two registers finds what is unordered in either.
                let pieces = self.pieces();
                let all: Vec<(Src, u8)> = vectors
                    .into_iter()
                    .flatten()
                    .flat_map(|vector| pieces.clone().map(move |piece| (Src::Vector(vector), piece)))
                    .collect();
                for (n, pair) in all.chunks(2).enumerate() {
                    let [(a, of_a), (b, of_b)] = [pair[0], pair[pair.len() - 1]];
                    let a = self.reg(a, of_a, SCRATCH);
                    let b = self.rm(b, of_b);
                    self.asm.evex(CMP_F32, 1, a, b, u8::from(n > 0), false, Some(ORDERED));
                }
                Cond::AboveEqual
            }
            Check::Infinite(vector) | Check::Zero(vector) => {
                for (piece, k) in self.pieces().zip([1, 2, 2, 2]) {
                    let it = Src::Vector(vector);
                    self.line(
                        &match check {
                            Check::Zero(_) => Lir::Test(CMP_F32, EQUAL, k, it, Src::Literal(0), 0),
                            _ => Lir::Class(Class::Infinite, k, it, 0),
                        },
                        piece,
                    );
                    if piece > 0 {
                        self.asm.mask_or(1, 1, 2);
                    }
                }
                Cond::NotEqual
            }
        };
        // The carry flag says that all lanes are in it.
        self.asm.mask_test(1);
        self.asm.jump_if(happened, from);
        self.asm.place(back);
        self.rare.push(Rare { from, back, pieces: self.pieces(), is_moved: false, body });
    }

    /// What is done where something rare has happened, behind all blocks.
    pub(super) fn rare_parts(&mut self) {
        for Rare { from, back, pieces, is_moved, body } in std::mem::take(&mut self.rare) {
            self.is_moved = is_moved;
            self.asm.place(from);
            for piece in pieces {
                let lirs = body
                    .iter()
                    .filter_map(|ins| if let Ins::Lir(lir) | Ins::Again(lir) = ins { Some(lir) } else { None });
                lirs.for_each(|lir| self.line(lir, piece));
            }
            self.asm.jump(back);
        }
        self.is_moved = false;
    }
}
