//! Registers and constants at an index of each lane: gathers, and stores lane by lane.

use super::super::{Indexed, ROW, head};
use super::LANES;
use super::emit::{Emit, MASK, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{
    ADD_I32, AND, Cond, EQUAL_I32, Int, MIN_U32, MOVAPS, RAX, RBP, RBX, RCX, RDX, Rm, SHIFT_IMM,
};
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::r700::wide::SHL;
use crate::codegen::x86::vectors::{Place, Vectors};
use crate::ir::r700::M;
use ctm_exec::r700::memory::SHARE_DWORDS;
use ctm_exec::x1k::float::NAN;

/// The extension of vector shifts to the left.
const SHIFT_LEFT: u8 = 6;
/// A row has 2^6 dwords.
const LOG_ROW: u8 = 6;
const _: () = assert!(ROW == 4 << LOG_ROW);

impl Emit<'_> {
    /// `scratch = base + index`, and in mask 1 whether there is such an element; there is at least one.
    fn bounded(&mut self, base: u8, index: Src, count: u32) {
        self.load_into(SCRATCH, index, ());
        if base != 0 {
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Literal(base.into()));
        }
        self.asm.vector(MIN_U32, MASK, SCRATCH, Rm::Literal(count.saturating_sub(1)));
        self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(SCRATCH));
        self.holds = None;
    }

    /// An element of a register or a constant, or a dword of the data share. Outside it is that of register 0, a NaN, or 0.
    pub(super) fn get_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src) {
        match from {
            Indexed::Gprs { first, count } => {
                self.bounded(base, index, count.into());
                self.asm.vector(AND, SCRATCH, SCRATCH, Rm::Reg(MASK));
                self.asm.instruction(SHIFT_IMM, SHIFT_LEFT, SCRATCH, Rm::Reg(SCRATCH), Some(LOG_ROW));
                self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Row(RBX, self.layout.lanes));
                self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(MASK));
                let Rm::Row(register, offset) = self.row(self.row_of(Src::Vector(first))) else { return };
                self.asm.gather_by_signs(OPERAND, MASK, register, SCRATCH, offset);
            }
            Indexed::Constants { count: 0, .. } => self.load_rm(OPERAND, Rm::Literal(NAN), 0),
            Indexed::Constants { first, count } => {
                self.bounded(base, index, count.into());
                // Four dwords each.
                self.asm.instruction(SHIFT_IMM, SHIFT_LEFT, SCRATCH, Rm::Reg(SCRATCH), Some(2));
                self.load_rm(OPERAND, Rm::Literal(NAN), 0);
                self.asm.gather_by_signs(OPERAND, MASK, RBP, SCRATCH, 4 * first as i32);
            }
            Indexed::Share => {
                self.bounded(base, index, SHARE_DWORDS as u32);
                self.load_rm(OPERAND, Rm::Literal(0), 0);
                self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
                self.asm.gather_by_signs(OPERAND, MASK, RDX, SCRATCH, 0);
            }
        }
        match self.place(dst, ()) {
            Place::Register(register) => self.asm.vector(MOVAPS, register, 0, Rm::Reg(OPERAND)),
            Place::Memory(row) => self.store(OPERAND, row),
            Place::Nowhere => {}
        }
    }

    /// Stores into an element of a register or a dword of the data share, where there is such a one, lane by lane.
    pub(super) fn set_relative(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        let count = match to {
            Indexed::Gprs { count, .. } => i32::from(count),
            Indexed::Share => SHARE_DWORDS as i32,
            Indexed::Constants { .. } => return,
        };
        self.load_into(SCRATCH, index, ());
        if base != 0 {
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Literal(base.into()));
        }
        let [indices, values] = [2, 3].map(|k| self.mask_slot(k));
        self.store(SCRATCH, Rm::Row(RBX, indices));
        let value = self.reg(value, (), OPERAND);
        self.store(value, Rm::Row(RBX, values));
        let (of_mask, byte) = self.bits(under);
        self.asm.load_byte(RCX, false, of_mask, byte);
        let row = match to {
            Indexed::Gprs { first, .. } => Some(self.row(self.row_of(Src::Vector(first)))),
            Indexed::Share | Indexed::Constants { .. } => None,
        };
        for lane in 0..LANES as i32 {
            let next = self.asm.label();
            self.asm.test_imm(RCX, 1 << lane);
            self.asm.jump_if(Cond::Equal, next);
            self.asm.int_load(Int::Mov, false, RAX, RBX, indices + 4 * lane);
            self.asm.int_op_imm(Int::Cmp, RAX, count);
            self.asm.jump_if(Cond::AboveEqual, next);
            self.asm.int_load(Int::Mov, false, RDX, RBX, values + 4 * lane);
            if let Some(Rm::Row(register, row)) = row {
                self.asm.wide_shift(SHL, RAX, LOG_ROW + 2);
                self.asm.wide(Int::Add, RAX, register);
                self.asm.int_store(Int::Mov, false, RAX, row + 4 * lane, RDX);
            } else {
                self.asm.wide_shift(SHL, RAX, 2);
                self.asm.int_load(Int::Add, true, RAX, RBX, head::SHARE);
                self.asm.int_store(Int::Mov, false, RAX, 0, RDX);
            }
            self.asm.place(next);
        }
    }
}
