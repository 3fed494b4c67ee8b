//! Registers and constants at an index of each lane: gathers; scatters with AVX-512, and stores lane by lane on AVX2.

use super::{Emit, GATHERED, INDEX_ROWS, OPERAND, SCRATCH, VALUE_ROWS};
use crate::codegen::x86::asm::{
    ADD_I32, AND, CMP_U32, Cond, EQUAL_I32, Int, MIN_U32, RAX, RBP, RBX, RCX, RDX, Rm, SHIFT_IMM,
};
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::masked::{Indexed, ROW, head};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::masked::M;
use ctm_exec::float::NAN;
use ctm_exec::r700::memory::SHARE_DWORDS;

/// Unsigned less.
const BELOW: u8 = 1;
/// The extension of shifts to the left.
const PSLL: u8 = 6;
/// A row has 2^6 dwords.
const LOG_ROW: u8 = 6;
const _: () = assert!(ROW == 4 << LOG_ROW);

impl Emit<'_> {
    /// `scratch = base + index`, and in mask `k`, under another one (0: none), whether there is such an element.
    fn bounded(&mut self, base: u8, index: Src, count: u32, k: u8, under: u8, piece: u8) {
        self.load_into(SCRATCH, index, piece);
        if base != 0 {
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Literal(base.into()));
        }
        self.asm.evex(CMP_U32, k, SCRATCH, Rm::Literal(count), under, false, Some(BELOW));
    }

    /// The frame's offset of a row of registers for a piece.
    fn row_at(&self, first: Vector, piece: u8) -> i32 {
        match self.row(first, piece) {
            Rm::Row(_, offset) => offset,
            _ => 0,
        }
    }

    /// An element of a register or a constant, or a dword of the data share. Outside it is that of register 0, a NaN, or 0.
    pub(super) fn get_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src) {
        for piece in self.pieces() {
            let register = self.register(dst, piece).unwrap_or(GATHERED);
            match from {
                Indexed::Gprs { first, count } => {
                    self.bounded(base, index, count.into(), 1, 0, piece);
                    self.asm.evex(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), 1, true, Some(LOG_ROW));
                    self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Row(RBX, self.input.layout.lanes));
                    self.asm.int_imm(RAX, 0xffff);
                    self.asm.mask_from(1, RAX);
                    let at = self.row_at(first, piece);
                    self.asm.gather(register, 1, RBX, SCRATCH, at);
                }
                Indexed::Constants { first, count } => {
                    self.bounded(base, index, count.into(), 1, 0, piece);
                    // Four dwords each.
                    self.asm.instruction(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), Some(2));
                    self.load_into(register, Src::Literal(NAN), piece);
                    self.asm.gather(register, 1, RBP, SCRATCH, 4 * first as i32);
                }
                Indexed::Share => {
                    self.bounded(base, index, SHARE_DWORDS as u32, 1, 0, piece);
                    self.load_into(register, Src::Literal(0), piece);
                    self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
                    self.asm.gather(register, 1, RDX, SCRATCH, 0);
                }
            }
            if self.register(dst, piece).is_none() {
                let row = self.row(dst, piece);
                self.store(register, row);
            }
        }
    }

    /// Stores into an element of a register or a dword of the data share, where there is such a one; of lanes that mean the same dword the last one wins.
    pub(super) fn set_relative(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        if to == Indexed::Share {
            self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
            for piece in self.pieces() {
                let lanes = self.lane_mask(under, piece);
                self.bounded(base, index, SHARE_DWORDS as u32, 2, lanes, piece);
                let value = self.reg(value, piece, OPERAND);
                self.asm.scatter(value, 2, RDX, SCRATCH, 0);
            }
            return;
        }
        let Indexed::Gprs { first, count } = to else { return };
        for piece in self.pieces() {
            let lanes = self.lane_mask(under, piece);
            self.bounded(base, index, count.into(), 2, lanes, piece);
            self.asm.instruction(SHIFT_IMM, PSLL, SCRATCH, Rm::Reg(SCRATCH), Some(LOG_ROW));
            self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Row(RBX, self.input.layout.lanes));
            let value = self.reg(value, piece, OPERAND);
            let at = self.row_at(first, piece);
            self.asm.scatter(value, 2, RBX, SCRATCH, at);
        }
    }

    /// The scratch register = `base + index`; the dwords of a mask register of AVX2 tell whether there is such an element; there is at least one.
    fn bounded_by_signs(&mut self, base: u8, index: Src, count: u32, piece: u8) {
        let (scratch, mask) = (self.isa().scratch(), self.mask());
        self.in_mask = None;
        self.load_index(base, index, piece);
        self.asm.vector(MIN_U32, mask, scratch, Rm::Literal(count.saturating_sub(1)));
        self.asm.vector(EQUAL_I32, mask, mask, Rm::Reg(scratch));
    }

    /// The scratch register = `base + index`.
    fn load_index(&mut self, base: u8, index: Src, piece: u8) {
        let scratch = self.isa().scratch();
        self.load_into(scratch, index, piece);
        if base != 0 {
            self.asm.vector(ADD_I32, scratch, scratch, Rm::Literal(base.into()));
        }
    }

    /// [`Self::get_relative`] for one piece, on AVX2.
    pub(super) fn gather_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src, piece: u8) {
        let (scratch, to, mask) = (self.isa().scratch(), self.isa().operand_scratch(), self.mask());
        match from {
            Indexed::Gprs { first, count } => {
                self.bounded_by_signs(base, index, count.into(), piece);
                self.asm.vector(AND, scratch, scratch, Rm::Reg(mask));
                self.asm.instruction(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), Some(LOG_ROW));
                self.asm.vector(ADD_I32, scratch, scratch, Rm::Row(RBX, self.input.layout.lanes));
                self.asm.vector(EQUAL_I32, mask, mask, Rm::Reg(mask));
                let Rm::Row(register, at) = self.row(first, piece) else { return };
                self.asm.gather_by_signs(to, mask, register, scratch, at);
            }
            Indexed::Constants { count: 0, .. } => self.load_rm(to, Rm::Literal(NAN), 0),
            Indexed::Constants { first, count } => {
                self.bounded_by_signs(base, index, count.into(), piece);
                // Four dwords each.
                self.asm.instruction(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), Some(2));
                self.load_rm(to, Rm::Literal(NAN), 0);
                self.asm.gather_by_signs(to, mask, RBP, scratch, 4 * first as i32);
            }
            Indexed::Share => {
                self.bounded_by_signs(base, index, SHARE_DWORDS as u32, piece);
                self.load_rm(to, Rm::Literal(0), 0);
                self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
                self.asm.gather_by_signs(to, mask, RDX, scratch, 0);
            }
        }
        self.put(dst, piece, to);
    }

    /// [`Self::set_relative`] on AVX2: a loop over the lanes.
    pub(super) fn set_lane_by_lane(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        const VALUE: u8 = 8;
        let (count, row) = match to {
            Indexed::Gprs { first, count } => (i32::from(count), self.row_at(first, 0)),
            Indexed::Share => (SHARE_DWORDS as i32, 0),
            Indexed::Constants { .. } => return,
        };
        for piece in self.pieces() {
            let (indices, values) = (self.work_row(INDEX_ROWS, piece), self.work_row(VALUE_ROWS, piece));
            self.load_index(base, index, piece);
            self.store(self.isa().scratch(), indices);
            let value = self.reg(value, piece, self.isa().operand_scratch());
            self.store(value, values);
        }
        let [each, next, done] = std::array::from_fn(|_| self.asm.label());
        let save = self.input.layout.save;
        self.load_mask(RCX, under);
        self.asm.wide(Int::Mov, RDX, RBX);
        self.asm.wide_test(RCX, RCX);
        self.asm.jump_if(Cond::Equal, done);
        self.asm.place(each);
        self.asm.test_imm(RCX, 1);
        self.asm.jump_if(Cond::Equal, next);
        self.asm.int_load(Int::Mov, false, RAX, RDX, save + INDEX_ROWS);
        self.asm.int_op_imm(Int::Cmp, RAX, count);
        self.asm.jump_if(Cond::AboveEqual, next);
        self.asm.int_load(Int::Mov, false, VALUE, RDX, save + VALUE_ROWS);
        if to == Indexed::Share {
            self.asm.wide_shift(SHL, RAX, 2);
            self.asm.int_load(Int::Add, true, RAX, RBX, head::SHARE);
        } else {
            self.asm.wide_shift(SHL, RAX, LOG_ROW + 2);
            self.asm.wide(Int::Add, RAX, RDX);
        }
        self.asm.int_store(Int::Mov, false, RAX, row, VALUE);
        self.asm.place(next);
        self.asm.wide_imm(Int::Add, RDX, 4);
        self.asm.wide_shift(SHR, RCX, 1);
        self.asm.jump_if(Cond::NotEqual, each);
        self.asm.place(done);
    }
}
