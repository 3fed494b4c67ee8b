//! Registers and constants at an index of each lane: gathers and scatters; on targets without scatters stores go lane by lane.

use super::Emit;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::facts::INT_LESS;
use crate::codegen::x86::masked::ins::Indexed;
use crate::codegen::x86::masked::layout::{INDEX_ROWS, ROW, VALUE_ROWS, head, lane_numbers};
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::vectors::Vectors;
use ctm_exec::float::NAN;
use ctm_exec::r700::memory::SHARE_DWORDS;
use ctm_ir::masked::M;
use ctm_x86::{
    ADD_I32, AND, CMP_U32, Cond, EQUAL_I32, Gpr, Int, MIN_U32, PSLL, RAX, RBP, RBX, RCX, RDX, Rm, SHIFT_IMM,
};

/// A row has 2^6 dwords.
const LOG_ROW: u8 = 6;
const _: () = assert!(ROW == 4 << LOG_ROW);

impl Emit<'_> {
    /// The scratch register = `base + index`; in mask 1, which may be a vector, the lanes with such an
    /// element. Where it is a vector, the file has at least one element.
    fn bounded(&mut self, base: u8, index: Src, count: u32, piece: u8) {
        let (scratch, mask) = (self.target().scratch(), self.mask());
        self.load_index(base, index, piece);
        if self.target().has_mask_registers() {
            return self.asm.evex(CMP_U32, 1, scratch, Rm::Literal(count), 0, false, Some(INT_LESS));
        }
        self.in_mask = None;
        self.asm.vector(MIN_U32, mask, scratch, Rm::Literal(count.saturating_sub(1)));
        self.asm.vector(EQUAL_I32, mask, mask, Rm::Reg(scratch));
    }

    /// The frame's offset of a row of registers for a part.
    fn row_at(&self, first: Vector, piece: u8) -> i32 {
        match self.row(first, piece) {
            Rm::Row(_, offset) => offset,
            _ => 0,
        }
    }

    /// Gathers at the scratch register's indices in the lanes with such elements.
    fn gather_bounded(&mut self, to: u8, base: Gpr, offset: i32) {
        let (scratch, mask) = (self.target().scratch(), self.mask());
        if self.target().has_mask_registers() {
            self.asm.gather(to, 1, base, scratch, offset);
        } else {
            self.asm.gather_by_signs(to, mask, base, scratch, offset);
        }
    }

    /// A part of an element of a register or a constant, or of a dword of the data share. Outside of the file it is
    /// that of register 0, a NaN, or 0.
    pub(super) fn get_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src, piece: u8) {
        let (target, scratch, mask) = (self.target(), self.target().scratch(), self.mask());
        let has_registers = target.has_mask_registers();
        let to = match has_registers {
            true => self.register(dst, piece).unwrap_or(target.mask_scratch()),
            false => target.operand_scratch(),
        };
        let count = match from {
            Indexed::Gprs { count, .. } => count.into(),
            Indexed::Constants { count, .. } => count.into(),
            Indexed::Share => SHARE_DWORDS as u32,
        };
        if count > 0 || has_registers {
            self.bounded(base, index, count, piece);
        }
        match from {
            Indexed::Gprs { first, .. } => {
                if has_registers {
                    self.asm.evex(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), 1, true, Some(LOG_ROW));
                    self.asm.vector(ADD_I32, scratch, scratch, Rm::Row(RBX, lane_numbers()));
                    self.asm.int_imm(RAX, 0xffff);
                    self.asm.mask_from(1, RAX);
                } else {
                    self.asm.vector(AND, scratch, scratch, Rm::Reg(mask));
                    self.asm.instruction(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), Some(LOG_ROW));
                    self.asm.vector(ADD_I32, scratch, scratch, Rm::Row(RBX, lane_numbers()));
                    self.asm.vector(EQUAL_I32, mask, mask, Rm::Reg(mask));
                }
                let Rm::Row(register, at) = self.row(first, piece) else { return };
                self.gather_bounded(to, register, at);
            }
            Indexed::Constants { count: 0, .. } if !has_registers => self.load_rm(to, Rm::Literal(NAN), 0),
            Indexed::Constants { first, .. } => {
                // Four dwords each.
                self.asm.instruction(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), Some(2));
                self.load_rm(to, Rm::Literal(NAN), 0);
                self.gather_bounded(to, RBP, 4 * first as i32);
            }
            Indexed::Share => {
                self.load_rm(to, Rm::Literal(0), 0);
                self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
                self.gather_bounded(to, RDX, 0);
            }
        }
        if self.register(dst, piece) != Some(to) {
            self.put(dst, piece, to);
        }
    }

    /// [`Self::set_relative`] for a part, by a scatter.
    fn scatter_piece(
        &mut self,
        (to, count, row): (Indexed, i32, i32),
        base: u8,
        [index, value]: [Src; 2],
        under: M,
        piece: u8,
    ) {
        let (scratch, under) = (self.target().scratch(), self.lane_mask(under, piece));
        self.load_index(base, index, piece);
        self.asm.evex(CMP_U32, 1, scratch, Rm::Literal(count.cast_unsigned()), under, false, Some(INT_LESS));
        let value = self.reg(value, piece, self.target().operand_scratch());
        if to == Indexed::Share {
            self.asm.int_load(Int::Mov, true, RDX, RBX, head::SHARE);
            return self.asm.scatter(value, 1, RDX, scratch, 0);
        }
        self.asm.instruction(SHIFT_IMM, PSLL, scratch, Rm::Reg(scratch), Some(LOG_ROW));
        self.asm.vector(ADD_I32, scratch, scratch, Rm::Row(RBX, lane_numbers()));
        self.asm.scatter(value, 1, RBX, scratch, row + 64 * i32::from(piece));
    }

    /// The scratch register = `base + index`.
    fn load_index(&mut self, base: u8, index: Src, piece: u8) {
        let scratch = self.target().scratch();
        self.load_into(scratch, index, piece);
        if base != 0 {
            self.asm.vector(ADD_I32, scratch, scratch, Rm::Literal(base.into()));
        }
    }

    /// Stores into an element of a register or a dword of the data share, where it exists; of lanes with the same dword
    /// the last one wins.
    pub(super) fn set_relative(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        const VALUE: u8 = 8;
        let (count, row) = match to {
            Indexed::Gprs { first, count } => (i32::from(count), self.row_at(first, 0)),
            Indexed::Share => (SHARE_DWORDS as i32, 0),
            Indexed::Constants { .. } => return,
        };
        if self.target().has.scatter {
            return self
                .pieces()
                .for_each(|piece| self.scatter_piece((to, count, row), base, [index, value], under, piece));
        }
        for piece in self.pieces() {
            let (indices, values) = (self.work_row(INDEX_ROWS, piece), self.work_row(VALUE_ROWS, piece));
            self.load_index(base, index, piece);
            self.store(self.target().scratch(), indices);
            let value = self.reg(value, piece, self.target().operand_scratch());
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
