//! Loads and stores of a tile: elements in memory, vectors in registers.

use super::super::encode::{
    ADD_I32, BROADCAST, Int, MAX_I32, MIN_I32, MOVUPS_LOAD, MOVUPS_STORE, MUL_I32, RBX, RDI, Rm, SHIFT_IMM, V, XOR, v,
};
use super::super::lir::{Src, Vector};
use super::emit::{Emit, Unit};
use super::{Kind, Load, Slot, Varies, Way, at, slot_at};
use crate::lanes::output_var;
use crate::stream::affine::Linear;
use crate::stream::prepare::WHOLE;

const UNPACK_LOW: V = v(1, 0, 0x14);
const UNPACK_HIGH: V = v(1, 0, 0x15);
const SHUFFLE: V = v(1, 0, 0xc6);
const STORE_PAST_CACHES: V = v(1, 0, 0x2b);
const PERMUTE: V = v(2, 1, 0x16);
const PERMUTE_TWO: V = v(2, 1, 0x7f);

/// The low and the high pairs of two vectors, in each quarter.
const LOW: Option<u8> = Some(0x44);
const HIGH: Option<u8> = Some(0xee);

/// Rows of permutations in the frame.
pub(super) mod table {
    /// Lane 4a + b and lane 4b + a change places.
    pub const TRANSPOSE: usize = 0;
    /// Red and green of sixteen elements of two channels, in two vectors.
    pub const PAIRS_RED: usize = 1;
    /// As above.
    pub const PAIRS_GREEN: usize = 2;
    /// The other way: the first and the second eight elements.
    pub const PAIRS_FIRST: usize = 3;
    /// As above.
    pub const PAIRS_SECOND: usize = 4;
    /// The channel of each lane of the packed form.
    pub const CHANNEL: usize = 5;
}

impl Emit<'_, '_> {
    fn table(&self, row: usize) -> Rm {
        Rm::Row(RBX, self.layout.tables + 64 * row as i32)
    }

    fn store(&mut self, register: u8, to: Rm) {
        let op = if self.options.past_caches { STORE_PAST_CACHES } else { MOVUPS_STORE };
        self.asm.vector(op, register, 0, to);
    }

    /// Loads channels of one fetch.
    pub fn loads(&mut self, together: &[(Vector, Load)]) {
        let wanted: Vec<(Vector, Load)> = together.iter().filter(|(dst, _)| !self.is_in_place(*dst)).copied().collect();
        let Some((_, load)) = wanted.first().copied() else { return };
        let way = self.of.way(&load, self.options.careful);
        let varies = wanted.iter().fold(Varies::default(), |all, (dst, _)| all.with(self.varies[dst.index()]));
        for unit in self.units(varies) {
            match way {
                Way::Uniform => self.uniform(&wanted, unit),
                Way::Contiguous if self.packed() => {
                    for (dst, load) in &wanted {
                        let from = self.load_operand(load, unit);
                        self.make(*dst, unit, |e, dst| e.load_rm(dst, from, 0));
                    }
                }
                Way::Contiguous => self.contiguous(&wanted, unit),
                Way::Gather => self.gather(&wanted, unit),
            }
        }
    }

    fn uniform(&mut self, wanted: &[(Vector, Load)], unit: Unit) {
        for (dst, load) in wanted {
            let Rm::Each(base, offset) = self.load_operand(load, unit) else { continue };
            self.make(*dst, unit, |e, dst| {
                if load.channel == WHOLE {
                    // The operand named its first channel.
                    e.asm.broadcast_quarter(dst, base, offset);
                } else {
                    e.asm.evex(BROADCAST, dst, 0, Rm::Each(base, offset), 0, false, None);
                }
            });
        }
    }

    /// Sixteen elements side by side, in the plain form.
    fn contiguous(&mut self, wanted: &[(Vector, Load)], unit: Unit) {
        let Some((_, load)) = wanted.first() else { return };
        let channels = self.of.geometry.inputs[usize::from(load.fetch.input)];
        let Rm::Row(base, offset) = self.load_operand(load, unit) else { return };
        let from = |vector: i32| Rm::Row(base, offset + 64 * vector);
        let target = |channel: u8| wanted.iter().find(|(_, load)| load.channel == channel).map(|(dst, _)| *dst);
        match channels {
            1 => {
                let Some(dst) = target(0) else { return };
                let (transposed, table) = (self.transposed, self.table(table::TRANSPOSE));
                self.make(dst, unit, |e, dst| {
                    if transposed {
                        e.asm.vector(MOVUPS_LOAD, 29, 0, table);
                        e.asm.vector(PERMUTE, dst, 29, from(0));
                    } else {
                        e.asm.vector(MOVUPS_LOAD, dst, 0, from(0));
                    }
                });
            }
            2 => {
                for (channel, row) in [(0, table::PAIRS_RED), (1, table::PAIRS_GREEN)] {
                    let Some(dst) = target(channel) else { continue };
                    let table = self.table(row);
                    self.make(dst, unit, |e, dst| {
                        e.asm.vector(MOVUPS_LOAD, 29, 0, table);
                        e.asm.vector(MOVUPS_LOAD, dst, 0, from(0));
                        e.asm.vector(PERMUTE_TWO, dst, 29, from(1));
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
                    self.asm.vector(MOVUPS_LOAD, 29, 0, from(0));
                    self.asm.vector(op, 29, 29, from(1));
                    self.asm.vector(MOVUPS_LOAD, 30, 0, from(2));
                    self.asm.vector(op, 30, 30, from(3));
                    for (half, dst) in [(LOW, targets.0), (HIGH, targets.1)] {
                        if let Some(dst) = dst {
                            self.make(dst, unit, |e, dst| e.asm.evex(SHUFFLE, dst, 29, Rm::Reg(30), 0, false, half));
                        }
                    }
                }
            }
        }
    }

    /// zmm31 = a coordinate in every lane, clamped; `limit`: where the largest one stands in the frame.
    fn clamped(&mut self, register: u8, of: Linear, unit: Unit, limit: i32) {
        let slot = self.slot(Self::coordinate_slot(of, unit));
        self.asm.vector(BROADCAST, register, 0, Rm::Each(RBX, slot_at(slot)));
        if of.i != 0 {
            let lanes = Rm::Row(RBX, self.layout.lanes + 64 * i32::from(unit.column));
            self.asm.vector(MOVUPS_LOAD, 30, 0, lanes);
            if of.i != 1 {
                self.asm.vector(MUL_I32, 30, 30, Rm::Literal(of.i as i32 as u32));
            }
            self.asm.vector(ADD_I32, register, register, Rm::Reg(30));
        }
        self.asm.vector(XOR, 30, 30, Rm::Reg(30));
        self.asm.vector(MAX_I32, register, register, Rm::Reg(30));
        self.asm.vector(MIN_I32, register, register, Rm::Each(RBX, limit));
    }

    fn gather(&mut self, wanted: &[(Vector, Load)], unit: Unit) {
        let Some((_, load)) = wanted.first().copied() else { return };
        let input = at::INPUTS + 32 * i32::from(load.fetch.input);
        let channels = self.of.geometry.inputs[usize::from(load.fetch.input)];
        self.clamped(31, load.fetch.x, unit, input + 8);
        self.clamped(29, load.fetch.y, unit, input + 12);
        self.asm.vector(MUL_I32, 29, 29, Rm::Each(RBX, input + 16));
        self.asm.vector(ADD_I32, 31, 31, Rm::Reg(29));
        if channels > 1 {
            self.asm.evex(SHIFT_IMM, 6, 31, Rm::Reg(31), 0, false, Some(channels / 2));
        }
        self.asm.int_load(Int::Mov, true, RDI, RBX, input);
        for (dst, load) in wanted {
            let index = if load.channel == WHOLE {
                let channel = self.table(table::CHANNEL);
                self.asm.vector(ADD_I32, 30, 31, channel);
                30
            } else {
                31
            };
            let offset = if load.channel == WHOLE { 0 } else { 4 * i32::from(load.channel) };
            self.make(*dst, unit, |e, dst| {
                e.asm.vector(XOR, dst, dst, Rm::Reg(dst));
                e.asm.mask_all(1);
                e.asm.gather(dst, 1, RDI, index, offset);
            });
        }
    }

    /// Writes the outputs of a tile.
    pub fn outputs(&mut self) {
        for target in 0..ctm_isa::x1k::OUTPUTS {
            if self.of.geometry.outputs[target] > 0 {
                for unit in self.units(Varies::ALL) {
                    self.output(target, unit);
                }
            }
        }
    }

    fn output(&mut self, target: usize, unit: Unit) {
        let channels = self.of.geometry.outputs[target];
        let slot = Slot { kind: Kind::Output(target as u8), row: unit.row };
        let vectors: [Option<Vector>; 4] = std::array::from_fn(|c| self.of.vars.of(output_var(4 * target + c)));
        let src = |c: usize| vectors[c].map_or(Src::Literal(0), Src::Vector);
        if self.packed() {
            let from = self.reg(src(0), unit, 31);
            let to = self.pointer(slot);
            return self.store(from, Rm::Row(to, 64 * i32::from(unit.column)));
        }
        let first = 64 * i32::from(channels) * i32::from(unit.column);
        match channels {
            1 => {
                let mut from = self.reg(src(0), unit, 31);
                if self.transposed {
                    let table = self.table(table::TRANSPOSE);
                    self.asm.vector(MOVUPS_LOAD, 29, 0, table);
                    self.asm.vector(PERMUTE, 31, 29, Rm::Reg(from));
                    from = 31;
                }
                let to = self.pointer(slot);
                self.store(from, Rm::Row(to, first));
            }
            2 => {
                let green = self.reg(src(1), unit, 30);
                let to = self.pointer(slot);
                for (half, row) in [(0, table::PAIRS_FIRST), (1, table::PAIRS_SECOND)] {
                    let table = self.table(row);
                    self.asm.vector(MOVUPS_LOAD, 29, 0, table);
                    let red = self.rm(src(0), unit);
                    self.load_rm(31, red, 0);
                    self.asm.vector(PERMUTE_TWO, 31, 29, Rm::Reg(green));
                    self.store(31, Rm::Row(to, first + 64 * half));
                }
            }
            _ => {
                for (pair, [low, high]) in [(0, [27, 28]), (2, [29, 30])] {
                    let a = self.reg(src(pair), unit, 31);
                    let b = self.rm(src(pair + 1), unit);
                    self.asm.vector(UNPACK_LOW, low, a, b);
                    self.asm.vector(UNPACK_HIGH, high, a, b);
                }
                let to = self.pointer(slot);
                for (vector, (a, b, half)) in
                    [(27, 29, LOW), (27, 29, HIGH), (28, 30, LOW), (28, 30, HIGH)].into_iter().enumerate()
                {
                    self.asm.evex(SHUFFLE, 31, a, Rm::Reg(b), 0, false, half);
                    self.store(31, Rm::Row(to, first + 64 * vector as i32));
                }
            }
        }
    }
}
