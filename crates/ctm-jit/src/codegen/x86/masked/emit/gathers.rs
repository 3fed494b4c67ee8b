//! What lookups do in another way on AVX2: they go over the pieces in a loop.
//!
//! A lookup reads and makes rows, where vectors have registers those of a call, so it may use any registers: it saves the ones that vectors
//! have. Whether it leaves for a call it decides with scratch registers alone.
//!
//! | register | holds |
//! |---|---|
//! | rsi, rdi | the frame, moved by a piece's bytes of rows, and by those of masks (`pieces`) |
//! | rdx | what is looked up |

use super::{ACTIVE, Emit};
use crate::codegen::x86::asm::{
    AND, Cond, Int, Label, MOVUPS_LOAD, PERMUTE_IN_QUAD, PSRA, RAX, RBX, RCX, RDI, Rm, SHIFT_IMM, SUB,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::masked::forms::Names;
use crate::codegen::x86::masked::{Looked, Sample, argument, result};
use crate::codegen::x86::vectors::{Access, Place, Vectors};
use crate::ir::masked::M;

/// Masks.
const MASK: u8 = Isa::Avx2.mask_scratch();
/// Coordinates, then indices.
const X: u8 = Isa::Avx2.operand_scratch();
/// What is the same in all lanes.
const EACH: u8 = Isa::Avx2.scratch();

impl Emit<'_> {
    /// What a lookup reads goes to rows, where vectors have registers.
    pub(super) fn give_arguments(&mut self, sample: &Sample) {
        let read: &[usize] = match sample.looked {
            Looked::Item { .. } => &[0],
            _ if self.input.levels => &[0, 1, 2, 3],
            _ => &[0, 1],
        };
        for &n in read {
            if !self.has_register(sample.at[n]) {
                continue;
            }
            self.pieces().for_each(|piece| self.line(&Lir::Store(argument(n), sample.at[n]), piece));
        }
        // Masks are looked at where they lie in the frame; programs with lookups have no others in registers.
        if sample.under == M::ACTIVE {
            self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(M::ACTIVE), ACTIVE);
        }
    }

    /// Does something for each piece with the registers of [`Names`], which vectors may have.
    pub(super) fn with_registers(&mut self, body: impl FnOnce(&mut Self)) {
        let saved = Names::FIRST..self.registers().end.max(Names::FIRST);
        for register in saved.clone() {
            let row = self.saved(register);
            self.store(register, row);
        }
        self.each_piece(body);
        for register in saved {
            let row = self.saved(register);
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
    }

    fn has_register(&self, src: Src) -> bool {
        matches!(self.access(src, 0), Access::Register(_))
    }

    /// Takes what a lookup has found from the rows of results, where it is to be in registers.
    pub(super) fn found(&mut self, sample: &Sample) {
        for (element, dst) in sample.dst.into_iter().enumerate() {
            let Some(dst) = dst.filter(|&dst| self.has_register(Src::Vector(dst))) else { continue };
            self.pieces().for_each(|piece| self.copy(dst, Src::Row(result(element)), piece));
        }
    }

    /// A coordinate, or what stands in its place: from the row where it lies, or where it has been put.
    pub(super) fn load_argument(&mut self, to: u8, sample: &Sample, number: usize) {
        let src = sample.at[number];
        let src = if self.has_register(src) { Src::Row(argument(number)) } else { src };
        self.load_into(to, src, 0);
    }

    /// Stores an element in its row, or where it is taken from.
    pub(super) fn store_element(&mut self, from: u8, sample: &Sample, element: i32) {
        let Some(dst) = sample.dst[element as usize] else { return };
        let row = match self.place(dst, 0) {
            Place::Memory(row) => row,
            Place::Register(_) | Place::Nowhere => self.at(result(element as usize), 0),
        };
        self.store(from, row);
    }

    /// Goes to `from` when the mask holds in a lane that looks up.
    pub(super) fn leave_if(&mut self, sample: &Sample, from: Label) {
        self.asm.signs(RAX, MASK);
        self.asm.load_byte(RCX, false, RDI, Self::mask_at(sample.under));
        self.asm.test(RAX, RCX);
        self.asm.jump_if(Cond::NotEqual, from);
    }

    /// By what a coordinate differs in each quad of a piece; 0 where a quad is not complete.
    pub(super) fn slope_of_piece(&mut self, dst: Vector, at: Src, vertical: bool, piece: u8) {
        let at = self.reg(at, piece, X);
        self.slope_by_signs(at, piece, vertical);
        self.make(dst, piece, |e, dst| e.asm.vector(AND, dst, X, Rm::Reg(MASK)));
    }

    /// By what a register differs in each quad of a piece, in x; the mask has the lanes whose quads are complete.
    pub(super) fn slope_by_signs(&mut self, at: u8, piece: u8, vertical: bool) {
        let other = if vertical { 2 } else { 1 };
        self.asm.instruction(PERMUTE_IN_QUAD, EACH, 0, Rm::Reg(at), Some(0x55 * other));
        self.asm.instruction(PERMUTE_IN_QUAD, X, 0, Rm::Reg(at), Some(0));
        self.asm.vector(SUB, X, EACH, Rm::Reg(X));
        self.texels().one_nan(X);
        // Whether each quad has its other lane, in the lane that compares.
        self.spread_piece(M::EXISTING, piece, MASK);
        self.in_mask = None;
        self.asm.instruction(PERMUTE_IN_QUAD, MASK, 0, Rm::Reg(MASK), Some(0x55 * other));
        self.asm.instruction(SHIFT_IMM, PSRA, MASK, Rm::Reg(MASK), Some(31));
    }
}
