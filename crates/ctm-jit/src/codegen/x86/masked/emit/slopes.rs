//! By what coordinates differ in quads.

use super::{Emit, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{
    AND, BROADCAST, CMP_F32, Int, MOVAPS, PERMUTE_IN_QUAD, PSRA, RAX, RBX, Rm, SHIFT_IMM, SUB,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::facts::UNORDERED;
use crate::codegen::x86::masked::head;
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::vectors::Vectors;
use crate::ir::masked::M;
use ctm_exec::float::NAN;

impl Emit<'_> {
    /// By what a coordinate differs in each quad of a piece; 0 where a quad is not complete.
    pub(super) fn slope(&mut self, dst: Vector, at: Src, vertical: bool, piece: u8) {
        let other = if vertical { 2 } else { 1 };
        let (difference, operand, mask) = match self.isa() {
            Isa::Avx512 => (SCRATCH, OPERAND, 1),
            Isa::Avx2 => (Isa::Avx2.operand_scratch(), Isa::Avx2.scratch(), Isa::Avx2.mask_scratch()),
        };
        let at = self.reg(at, piece, difference);
        self.asm.instruction(PERMUTE_IN_QUAD, operand, 0, Rm::Reg(at), Some(0));
        self.asm.instruction(PERMUTE_IN_QUAD, difference, 0, Rm::Reg(at), Some(0x55 * other));
        self.asm.vector(SUB, difference, difference, Rm::Reg(operand));
        match self.isa() {
            Isa::Avx512 => {
                self.asm.evex(CMP_F32, mask, difference, Rm::Reg(difference), 0, false, Some(UNORDERED));
                self.asm.evex(BROADCAST, difference, 0, Rm::Literal(NAN), mask, false, None);
                self.load_mask(RAX, M::EXISTING);
                self.asm.wide_shift(SHR, RAX, 16 * piece + other);
                self.asm.int_load(Int::And, true, RAX, RBX, head::QUADS);
                self.asm.wide_times(RAX, RAX, 15);
                self.asm.mask_from(mask, RAX);
                self.make(dst, piece, |e, dst| e.asm.evex(MOVAPS, dst, 0, Rm::Reg(difference), mask, true, None));
            }
            Isa::Avx2 => {
                self.asm.vex(CMP_F32, mask, difference, Rm::Reg(difference), Some(UNORDERED));
                self.asm.blend(difference, mask, Rm::Literal(NAN), difference);
                // Whether each quad has its other lane, in the lane that compares.
                self.spread_piece(M::EXISTING, piece, mask);
                self.in_mask = None;
                self.asm.instruction(PERMUTE_IN_QUAD, mask, 0, Rm::Reg(mask), Some(0x55 * other));
                self.asm.instruction(SHIFT_IMM, PSRA, mask, Rm::Reg(mask), Some(31));
                self.make(dst, piece, |e, dst| e.asm.vector(AND, dst, difference, Rm::Reg(mask)));
            }
        }
    }
}
