//! Loads and stores of a tile: elements in memory, vectors in registers.

use super::emit::{Emit, TileVector};
use super::types::{Chosen, Load, Varies, slot_at, table};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::vectors::Vectors;
use crate::stream::affine::{Fetch, Linear};
use crate::stream::prepare::WHOLE;
use ctm_ir::masked::Var;
use ctm_x86::{
    ADD_I32, BROADCAST, MOVUPS_LOAD, MOVUPS_STORE, MUL_I32, PERMUTE, RBX, Rm, SHUFFLE, STORE_PAST_CACHES, UNPACK_HIGH,
    UNPACK_LOW,
};

/// The low and the high pairs of two vectors, in each quarter.
const LOW: Option<u8> = Some(0x44);
const HIGH: Option<u8> = Some(0xee);

/// The even and the odd elements of two vectors, in each quarter.
const EVEN: Option<u8> = Some(0x88);
const ODD: Option<u8> = Some(0xdd);

/// Bytes of a line of the caches.
const LINE: i32 = 64;
/// The least prefetch distance: half a page, as processors predict no lines of the next one; measured.
const AHEAD: i32 = 2048;
/// Longer steps are not along a row.
const FURTHEST: i32 = 1 << 20;
/// Iterations between a tile and the next one after which caches may have lost prefetched lines.
const ITERATIONS_KEPT: u64 = 64;

impl Chosen {
    /// The distance in bytes of a fetch's later reads: in later iterations of the loop around it, if these go along a
    /// row, else in later tiles. `size`: bytes of an element; `bytes`: those that a tile reads now.
    fn ahead(&self, fetch: &Fetch, [size, bytes]: [i32; 2]) -> Option<i32> {
        let around = fetch.iterations.iter().filter(|&&iterations| iterations > 0);
        let step = match around.clone().count().checked_sub(1) {
            Some(last) if fetch.x.iterations[last] != 0 && fetch.y.iterations[last] == 0 => {
                i32::try_from(fetch.x.iterations[last]).ok()?.checked_mul(size)?
            }
            _ if self.shares_rows() => return None,
            _ if around.map(|&iterations| u64::from(iterations)).product::<u64>() > ITERATIONS_KEPT => return None,
            _ => bytes,
        };
        (step.abs() <= FURTHEST).then(|| step * ((AHEAD + step.abs() - 1) / step.abs()))
    }
}

impl Emit<'_> {
    fn table(&self, row: usize) -> Rm {
        Rm::Row(RBX, self.layout.tables + 64 * row as i32)
    }

    /// Elements in the order of a table. Changes the scratch register for operands.
    fn permute(&mut self, dst: u8, from: Rm, table: usize) {
        let (order, table) = (self.of.target.operand_scratch(), self.table(table));
        debug_assert!(dst != order && from != Rm::Reg(order), "the table is there");
        self.load_rm(order, table, 0);
        self.asm.vector(PERMUTE, dst, order, from);
    }

    /// Stores into an output.
    fn put(&mut self, register: u8, to: Rm) {
        let op = if self.options.past_caches { STORE_PAST_CACHES } else { MOVUPS_STORE };
        self.asm.vector(op, register, 0, to);
    }

    /// Prefetches elements for later tiles or iterations, side by side as this block reads now.
    pub fn ask_ahead(&mut self, block: usize) {
        let of = self.of;
        // Numbers of slots, and of lines from there.
        let mut lines: Vec<(usize, i32)> = Vec::new();
        let mut last = None;
        for lir in of.lines[block].iter().flatten() {
            let Lir::Copy(_, Src::Row(load)) = *lir else { continue };
            let load = &of.loads[load as usize];
            // The channels of one fetch lie in the same lines.
            let is_known = last.replace(load.number) == Some(load.number);
            if is_known || load.fetch.is_uniform() {
                continue;
            }
            let size = super::types::bytes(of.geometry.input(&load.fetch));
            let bytes = size * of.columns() as i32 * i32::from(self.options.tile.vectors);
            let Some(ahead) = of.ahead(&load.fetch, [size, bytes]) else { continue };
            let first = load.fetch.x.c as i32 * size + ahead;
            for unit in self.units(Varies { rows: true, columns: false }) {
                let slot = self.slot(Self::input_slot(load, unit));
                lines.extend((first.div_euclid(LINE)..(first + bytes).div_euclid(LINE)).map(|line| (slot, line)));
            }
        }
        lines.sort_unstable();
        lines.dedup();
        for (slot, line) in lines {
            let base = self.pointer(self.slots[slot]);
            self.asm.prefetch(base, LINE * line);
        }
    }

    /// Loads channels of one fetch.
    pub fn loads(&mut self, together: &[(Vector, Load)]) {
        let wanted: Vec<(Vector, Load)> = together.iter().filter(|(dst, _)| !self.is_in_place(*dst)).copied().collect();
        let Some((_, load)) = wanted.first().copied() else { return };
        let varies = wanted.iter().fold(Varies::default(), |all, (dst, _)| all.with(self.of.varies[dst.index()]));
        for unit in self.units(varies) {
            if load.fetch.is_uniform() {
                self.uniform(&wanted, unit);
            } else if self.packed() {
                for (dst, load) in &wanted {
                    let from = self.load_operand(load, unit);
                    self.make(*dst, unit, |e, dst| e.load_rm(dst, from, 0));
                }
            } else {
                self.contiguous(&wanted, unit);
            }
        }
    }

    fn uniform(&mut self, wanted: &[(Vector, Load)], unit: TileVector) {
        for (dst, load) in wanted {
            let Rm::Each(base, offset) = self.load_operand(load, unit) else { continue };
            self.make(*dst, unit, |e, dst| {
                if load.channel == WHOLE {
                    // The operand is the address of its first channel.
                    e.asm.broadcast_quarter(dst, base, offset);
                } else {
                    e.asm.vector(BROADCAST, dst, 0, Rm::Each(base, offset));
                }
            });
        }
    }

    /// A vector's elements side by side, in the plain form.
    fn contiguous(&mut self, wanted: &[(Vector, Load)], unit: TileVector) {
        let Some((_, load)) = wanted.first() else { return };
        let channels = self.of.geometry.input(&load.fetch);
        let Rm::Row(base, offset) = self.load_operand(load, unit) else { return };
        let (regs, bytes) = (self.of.target, self.of.target.bytes());
        let from = |vector: i32| Rm::Row(base, offset + bytes * vector);
        let target = |channel: u8| wanted.iter().find(|(_, load)| load.channel == channel).map(|(dst, _)| *dst);
        let (one, other) = (regs.operand_scratch(), regs.mask_scratch());
        match channels {
            1 => {
                let Some(dst) = target(0) else { return };
                let transposed = self.transposed;
                self.make(dst, unit, |e, dst| match transposed {
                    true => e.permute(dst, from(0), table::READ),
                    false => e.load_rm(dst, from(0), 0),
                });
            }
            2 => {
                for (channel, apart) in [(0, EVEN), (1, ODD)] {
                    let Some(dst) = target(channel) else { continue };
                    self.make(dst, unit, |e, dst| {
                        e.load_rm(dst, from(0), 0);
                        e.asm.instruction(SHUFFLE, dst, dst, from(1), apart);
                        e.permute(dst, Rm::Reg(dst), table::READ_PAIRS);
                    });
                }
            }
            _ => {
                // Pairs of rows, then pairs of those; columns of quarters become vectors.
                let (low, high) = ((target(0), target(1)), (target(2), target(3)));
                for (op, targets) in [(UNPACK_LOW, low), (UNPACK_HIGH, high)] {
                    if targets == (None, None) {
                        continue;
                    }
                    self.asm.vector(MOVUPS_LOAD, one, 0, from(0));
                    self.asm.vector(op, one, one, from(1));
                    self.asm.vector(MOVUPS_LOAD, other, 0, from(2));
                    self.asm.vector(op, other, other, from(3));
                    for (half, dst) in [(LOW, targets.0), (HIGH, targets.1)] {
                        if let Some(dst) = dst {
                            self.make(dst, unit, |e, dst| e.asm.instruction(SHUFFLE, dst, one, Rm::Reg(other), half));
                        }
                    }
                }
            }
        }
    }

    /// A linear function of the position, in every lane.
    pub(super) fn coordinate(&mut self, register: u8, of: Linear, unit: TileVector, scratch: u8) {
        let slot = self.slot(Self::coordinate_slot(of, unit));
        self.asm.vector(BROADCAST, register, 0, Rm::Each(RBX, slot_at(slot)));
        if of.i != 0 {
            let lanes = Rm::Row(RBX, self.layout.lanes + 64 * i32::from(unit.column));
            self.asm.vector(MOVUPS_LOAD, scratch, 0, lanes);
            if of.i != 1 {
                self.asm.vector(MUL_I32, scratch, scratch, Rm::Literal(of.i as i32 as u32));
            }
            self.asm.vector(ADD_I32, register, register, Rm::Reg(scratch));
        }
    }

    /// Writes the outputs of a tile.
    pub fn outputs(&mut self) {
        self.shares = false;
        for target in 0..ctm_isa::x1k::OUTPUTS {
            if self.of.geometry.outputs[target] > 0 {
                for unit in self.units(Varies::ALL) {
                    self.output(target, unit);
                }
            }
        }
    }

    /// The value written to a channel of an output.
    fn exported(&self, target: usize, channel: usize) -> Src {
        self.of.selected.vars[Var::export(target, channel).index()].map_or(Src::Literal(0), Src::Vector)
    }

    /// A vector in the order of columns.
    fn in_columns(&mut self, src: Src, unit: TileVector, register: u8) -> u8 {
        let from = self.reg(src, unit, register);
        if !self.transposed {
            return from;
        }
        self.permute(register, Rm::Reg(from), table::WRITE);
        register
    }

    fn output(&mut self, target: usize, unit: TileVector) {
        let channels = self.of.geometry.outputs[target];
        let slot = Self::output_slot(target, unit.row);
        let vectors: [Src; 4] = std::array::from_fn(|c| self.exported(target, c));
        let src = |c: usize| vectors[c];
        let (target, bytes) = (self.of.target, self.of.target.bytes());
        let (scratch, one, other) = (target.scratch(), target.operand_scratch(), target.mask_scratch());
        if self.packed() {
            let from = self.reg(src(0), unit, scratch);
            let to = self.pointer(slot);
            return self.put(from, Rm::Row(to, bytes * i32::from(unit.column)));
        }
        let first = bytes * i32::from(channels) * i32::from(unit.column);
        match channels {
            1 => {
                let from = self.in_columns(src(0), unit, scratch);
                let to = self.pointer(slot);
                self.put(from, Rm::Row(to, first));
            }
            2 => {
                for (channel, register) in [(0, scratch), (1, other)] {
                    let from = self.reg(src(channel), unit, register);
                    self.permute(register, Rm::Reg(from), table::WRITE_PAIRS);
                }
                for (half, op) in [(0, UNPACK_LOW), (1, UNPACK_HIGH)] {
                    self.asm.vector(op, one, scratch, Rm::Reg(other));
                    let to = self.pointer(slot);
                    self.put(one, Rm::Row(to, first + bytes * half));
                }
            }
            _ => {
                for (vector, op) in [(0, UNPACK_LOW), (2, UNPACK_HIGH)] {
                    for (pair, register) in [(0, one), (2, other)] {
                        let a = self.reg(src(pair), unit, scratch);
                        let b = self.last(src(pair + 1), unit, register);
                        self.asm.vector(op, register, a, b);
                    }
                    for (vector, half) in [(vector, LOW), (vector + 1, HIGH)] {
                        self.asm.instruction(SHUFFLE, scratch, one, Rm::Reg(other), half);
                        let to = self.pointer(slot);
                        self.put(scratch, Rm::Row(to, first + bytes * vector));
                    }
                }
            }
        }
    }
}
