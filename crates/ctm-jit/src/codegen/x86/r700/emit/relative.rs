//! Registers and constants at an index of each lane.

use super::{Emit, GATHERED, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{ADD_I32, CMP_U32, Int, RAX, RBP, RBX, RDX, Rm, SHIFT_IMM};
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::r700::{Indexed, ROW, head};
use crate::ir::r700::M;
use ctm_exec::r700::memory::SHARE_DWORDS;
use ctm_exec::x1k::float::NAN;

/// Unsigned less.
const BELOW: u8 = 1;
/// The extension of shifts to the left.
const PSLL: u8 = 6;
/// A row has 2^6 dwords.
const LOG_ROW: u8 = 6;
const _: () = assert!(ROW == 4 << LOG_ROW);

impl Emit<'_> {
    /// `scratch = base + index`, and in mask `k`, under another one (0: none), whether there is such an element.
    fn bounded(&mut self, base: u8, index: Src, count: u32, k: u8, under: u8, copy: u8) {
        self.load_into(SCRATCH, index, copy);
        if base != 0 {
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Literal(base.into()));
        }
        self.asm.evex(CMP_U32, k, SCRATCH, Rm::Literal(count), under, false, Some(BELOW));
    }

    /// The frame's offset of a row of registers for a piece.
    fn row_at(&self, first: Vector, copy: u8) -> i32 {
        match self.row(first, copy) {
            Rm::Row(_, offset) => offset,
            _ => 0,
        }
    }

    /// An element of a register or a constant, or a dword of the data share. Outside it is that of register 0, a NaN, or 0.
    pub(super) fn get_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src) {
        for copy in self.copies() {
            let register = self.register(dst, copy).unwrap_or(GATHERED);
            match from {
                Indexed::Gprs { first, count } => {
                    self.bounded(base, index, count.into(), 1, 0, copy);
                    self.asm.evex(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), 1, true, Some(LOG_ROW));
                    self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Row(RBX, self.input.layout.lanes));
                    self.asm.int_imm(RAX, 0xffff);
                    self.asm.mask_from(1, RAX);
                    let at = self.row_at(first, copy);
                    self.asm.gather(register, 1, RBX, SCRATCH, at);
                }
                Indexed::Constants { first, count } => {
                    self.bounded(base, index, count.into(), 1, 0, copy);
                    // Four dwords each.
                    self.asm.instruction(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), Some(2));
                    self.load_into(register, Src::Literal(NAN), copy);
                    self.asm.gather(register, 1, RBP, SCRATCH, 4 * first as i32);
                }
                Indexed::Share => {
                    self.bounded(base, index, SHARE_DWORDS as u32, 1, 0, copy);
                    self.load_into(register, Src::Literal(0), copy);
                    self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
                    self.asm.gather(register, 1, RDX, SCRATCH, 0);
                }
            }
            if self.register(dst, copy).is_none() {
                let row = self.row(dst, copy);
                self.store(register, row);
            }
        }
    }

    /// Stores into an element of a register or a dword of the data share, where there is such a one; of lanes that mean the same dword the last one wins.
    pub(super) fn set_relative(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        if to == Indexed::Share {
            self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
            for copy in self.copies() {
                let lanes = self.lane_mask(under, copy);
                self.bounded(base, index, SHARE_DWORDS as u32, 2, lanes, copy);
                let value = self.reg(value, copy, OPERAND);
                self.asm.scatter(value, 2, RDX, SCRATCH, 0);
            }
            return;
        }
        let Indexed::Gprs { first, count } = to else { return };
        for copy in self.copies() {
            let lanes = self.lane_mask(under, copy);
            self.bounded(base, index, count.into(), 2, lanes, copy);
            self.asm.instruction(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), Some(LOG_ROW));
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Row(RBX, self.input.layout.lanes));
            let value = self.reg(value, copy, OPERAND);
            let at = self.row_at(first, copy);
            self.asm.scatter(value, 2, RBX, SCRATCH, at);
        }
    }
}
