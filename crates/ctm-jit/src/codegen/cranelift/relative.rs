//! Registers, constants and elements at an index of each lane: lane by lane.

use super::builder::{data_flags, frame_flags};
use super::lines::VectorEmitter;
use super::program::FunctionEmitter;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::Indexed;
use crate::codegen::x86::masked::layout::{ROW, head, lookup as number_of, table};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use ctm_exec::float::NAN;
use ctm_exec::r700::memory::SHARE_DWORDS;
use ctm_ir::masked::M;
use ctm_x86 as asm;

/// Lanes of a part.
const LANES: u8 = 4;

impl FunctionEmitter<'_> {
    /// `base + index`.
    fn index(&mut self, base: u8, index: Src) -> Value {
        let index = self.operand(index);
        if base == 0 {
            return index;
        }
        let base = self.literal(base.into());
        self.ins().iadd(index, base)
    }

    /// A lane of a vector of indices: whether it is below the count, and the index, 0 if not, as an integer of 64 bits.
    fn bounded(&mut self, index: Value, lane: u8, count: i64) -> (Value, Value) {
        let index = self.ins().extractlane(index, lane);
        let is_inside = self.ins().icmp_imm(IntCC::UnsignedLessThan, index, count);
        let index = self.ins().uextend(I64, index);
        let zero = self.number(0);
        (is_inside, self.ins().select(is_inside, index, zero))
    }

    /// An element of a register or a constant, or a dword of the data share. Outside of the file it is that of register 0, a NaN, or 0.
    pub fn get_relative(&mut self, dst: Vector, from: Indexed, base: u8, index: Src) {
        let index = self.index(base, index);
        let (address, count, shift, outside) = match from {
            Indexed::Gprs { first, count } => {
                // Registers that the strip has changed are in their rows.
                self.store_newer();
                let (row, moved) = (self.row_of(first).unwrap_or(head::ROWS), self.moved());
                (self.ins().iadd_imm(moved, i64::from(row)), i64::from(count), ROW.trailing_zeros(), None)
            }
            Indexed::Constants { count: 0, .. } => {
                let nan = self.literal(NAN);
                return self.set(dst, nan);
            }
            Indexed::Constants { first, count } => {
                let uniforms = self.uniforms;
                (self.ins().iadd_imm(uniforms, 4 * i64::from(first)), i64::from(count), 4, Some(NAN))
            }
            Indexed::Share => (self.load_wide(head::SHARE), SHARE_DWORDS as i64, 2, Some(0)),
        };
        let mut made = self.literal(0);
        for lane in 0..LANES {
            let (is_inside, index) = self.bounded(index, lane, count);
            let offset = self.ins().ishl_imm(index, i64::from(shift));
            let at = self.ins().iadd(address, offset);
            let within = if outside.is_none() { 4 * i32::from(lane) } else { 0 };
            let mut value = self.ins().load(I32, data_flags(), at, within);
            if let Some(bits) = outside {
                let bits = self.ins().iconst(I32, i64::from(bits));
                value = self.ins().select(is_inside, value, bits);
            }
            made = self.ins().insertlane(made, value, lane);
        }
        self.set(dst, made);
    }

    /// Stores into an element of a register or a dword of the data share, where it exists; of lanes with the same dword the last one wins.
    pub fn set_relative(&mut self, to: Indexed, base: u8, index: Src, value: Src, under: M) {
        let (count, shift, row) = match to {
            Indexed::Gprs { first, count } => {
                (i64::from(count), ROW.trailing_zeros(), Some(self.row_of(first).unwrap_or(head::ROWS)))
            }
            Indexed::Share => (SHARE_DWORDS as i64, 2, None),
            Indexed::Constants { .. } => return,
        };
        self.clear_part();
        let lanes = self.load_wide(head::mask(under));
        let share = match row {
            None => Some(self.load_wide(head::SHARE)),
            Some(_) => None,
        };
        self.each_part(0, |e| {
            let (index, value) = (e.index(base, index), e.operand(value));
            let Some((moved, first)) = e.part.place else { return Vec::new() };
            let lanes = e.ins().ushr(lanes, first);
            for lane in 0..LANES {
                let (is_inside, index) = e.bounded(index, lane, count);
                let bit = e.ins().band_imm(lanes, 1 << lane);
                let runs = e.ins().icmp_imm(IntCC::NotEqual, bit, 0);
                let runs = e.ins().band(runs, is_inside);
                let [store, next] = [(); 2].map(|()| e.func.dfg.make_block());
                e.ins().brif(runs, store, &[], next, &[]);
                e.begin(store);
                let offset = e.ins().ishl_imm(index, i64::from(shift));
                let (from, within) = match (share, row) {
                    (Some(share), _) => (share, 0),
                    (None, row) => (moved, row.unwrap_or(head::ROWS) + 4 * i32::from(lane)),
                };
                let at = e.ins().iadd(from, offset);
                let bits = e.ins().extractlane(value, lane);
                e.ins().store(data_flags(), bits, at, within);
                e.ins().jump(next, &[]);
                e.begin(next);
            }
            Vec::new()
        });
    }

    /// Loads elements of four dwords, at an index of each lane, of the array that a lookup's numbers name: these channels, a bit for each, become consecutive vectors.
    pub fn elements(&mut self, lookup: u16, (first, channels): (Vector, u8), index: Src) {
        let index = self.operand(index);
        let (target, frame) = (self.input.target.target, self.frame);
        let at = number_of(target, lookup.into(), table::DATA);
        let data = self.ins().load(I64, frame_flags(), frame, at);
        let mut rows = Vec::with_capacity(LANES.into());
        for lane in 0..LANES {
            let index = self.ins().extractlane(index, lane);
            let index = self.ins().uextend(I64, index);
            let offset = self.ins().ishl_imm(index, 2);
            let at = self.ins().iadd(data, offset);
            rows.push(self.ins().load(I32X4, data_flags(), at, 0));
        }
        let mut next = first;
        for channel in (0..4u8).filter(|channel| channels >> channel & 1 == 1) {
            let unpack = if channel < 2 { asm::UNPACK_LOW } else { asm::UNPACK_HIGH };
            let (a, b) = (self.two(unpack, rows[0], rows[1]), self.two(unpack, rows[2], rows[3]));
            let half = if channel % 2 == 0 { 0x44 } else { 0xee };
            let made = self.two_imm(asm::SHUFFLE, a, b, half);
            self.set(next, made);
            next = Vector(next.0 + 1);
        }
    }
}
