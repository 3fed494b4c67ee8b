//! Lookups that weigh four elements of four dwords, for 16 lanes: AVX-512.
//!
//! Elements are weighed as they lie in memory, four lanes to a vector with their channels side by side, and the sums are transposed: once, where each
//! corner would have to be otherwise. Where the elements of a row lie side by side in all lanes, one load takes both. Where all lanes want the same four
//! elements, as they do where a picture is drawn larger than it is, their differences are taken once for all lanes.

use super::elements::Elements;
use super::masked::facts::{INT_NOT_EQUAL, UNORDERED};
use crate::codegen::x86::asm::{
    ADD_I32, Asm, BROADCAST, BROADCAST_LANE_0, CMP_F32, CMP_I32, Cond, FMADD231, Gpr, Label, MOVUPS_LOAD, MOVUPS_STORE,
    OR, PERMUTE_IN_QUAD, RAX, Rm, SHUFFLE_QUARTERS, SUB, SUB_I32,
};
use ctm_exec::float::NAN;

/// Rows by which a lookup is told what to look up, and in which it works.
#[derive(Clone, Copy, Debug)]
pub struct Corners {
    /// Where they begin.
    pub base: Gpr,
    pub offset: i32,
}

impl Corners {
    /// How many there are.
    pub const ROWS: i32 = 10;
    /// The first of those for weights.
    pub const WEIGHTS: i32 = 4;
    const SUMS: i32 = 6;

    const fn row(self, number: i32) -> Rm {
        Rm::Row(self.base, self.offset + 64 * number)
    }

    /// The number of an element's first dword: of the upper row left and right, then of the lower row. Each lies in the array.
    pub const fn index(self, corner: usize) -> Rm {
        self.row(corner as i32)
    }

    /// How much the right elements weigh (axis 0), and the lower row.
    pub const fn weight(self, axis: usize) -> Rm {
        self.row(Self::WEIGHTS + axis as i32)
    }

    const fn sum(self, number: i32) -> Rm {
        self.row(Self::SUMS + number)
    }

    /// A dword of a sum's row, for all lanes.
    const fn each(self, number: i32, dword: i32) -> Rm {
        Rm::Each(self.base, self.offset + 64 * (Self::SUMS + number) + 4 * dword)
    }
}

impl Elements {
    /// Weighs the elements of all lanes, along x, then along y; NaNs become the one NaN. The rows of indices are written.
    pub fn weigh(&self, asm: &mut Asm, corners: Corners) {
        let [differ, apart, transpose, done] = [(); 4].map(|()| asm.label());
        // The first of the upper row and the last of the lower one: where these are the same, the others are, too.
        self.unless(asm, differ, |asm, to, other, row| {
            asm.vector(MOVUPS_LOAD, to, 0, corners.index(3 * row));
            asm.vector(BROADCAST_LANE_0, other, 0, Rm::Reg(to));
            asm.vector(SUB_I32, to, to, Rm::Reg(other));
        });
        self.same(asm, corners);
        asm.jump(done);
        asm.place(differ);
        self.unless(asm, apart, |asm, to, _, row| {
            asm.vector(MOVUPS_LOAD, to, 0, corners.index(2 * row));
            asm.vector(ADD_I32, to, to, Rm::Literal(4));
            asm.vector(SUB_I32, to, to, corners.index(2 * row + 1));
        });
        self.sums(asm, corners, Self::pairs);
        asm.jump(transpose);
        asm.place(apart);
        self.sums(asm, corners, Self::single);
        asm.place(transpose);
        for (row, register) in (0..).zip(self.registers) {
            asm.vector(MOVUPS_LOAD, register, 0, corners.sum(row));
        }
        self.transpose(asm);
        asm.place(done);
        for register in self.registers {
            asm.evex(CMP_F32, 1, register, Rm::Reg(register), 0, false, Some(UNORDERED));
            asm.evex(BROADCAST, register, 0, Rm::Literal(NAN), 1, false, None);
        }
    }

    /// Goes to `other` unless what `make` makes of the upper row and of the lower row (1) is 0 in all lanes. It is told a register for it, and another one.
    fn unless(&self, asm: &mut Asm, other: Label, make: impl Fn(&mut Asm, u8, u8, usize)) {
        let [a, b, c, _] = self.registers;
        make(asm, a, b, 0);
        make(asm, c, b, 1);
        asm.vector(OR, a, a, Rm::Reg(c));
        asm.evex(CMP_I32, 1, a, Rm::Literal(0), 0, false, Some(INT_NOT_EQUAL));
        asm.mask_test(1);
        asm.jump_if(Cond::NotEqual, other);
    }

    /// All lanes want the same elements.
    fn same(&self, asm: &mut Asm, corners: Corners) {
        let [a, b, x, y] = self.registers;
        for row in 0..2 {
            for (right, register) in [a, b].into_iter().enumerate() {
                Self::number(asm, corners.index(2 * row + right), 0);
                asm.load_quarter(register, self.data, RAX);
            }
            asm.vector(SUB, b, b, Rm::Reg(a));
            asm.vector(MOVUPS_STORE, a, 0, corners.sum(2 * row as i32));
            asm.vector(MOVUPS_STORE, b, 0, corners.sum(2 * row as i32 + 1));
        }
        asm.vector(MOVUPS_LOAD, x, 0, corners.weight(0));
        asm.vector(MOVUPS_LOAD, y, 0, corners.weight(1));
        for channel in 0..4 {
            for (register, row) in [(a, 0), (b, 2)] {
                asm.vector(BROADCAST, register, 0, corners.each(row, channel));
                asm.vector(FMADD231, register, x, corners.each(row + 1, channel));
            }
            asm.vector(SUB, b, b, Rm::Reg(a));
            asm.vector(FMADD231, a, b, Rm::Reg(y));
            asm.vector(MOVUPS_STORE, a, 0, corners.index(channel as usize));
        }
        for (channel, register) in self.channels().into_iter().enumerate() {
            asm.vector(MOVUPS_LOAD, register, 0, corners.index(channel));
        }
    }

    /// The sums of the lanes in each place of the quarters. `load` loads the left elements of a row to the first of three registers, the right ones to the
    /// second.
    fn sums(&self, asm: &mut Asm, corners: Corners, load: fn(&Self, &mut Asm, (Rm, Rm), u8, [u8; 3])) {
        let [a, b, c, d] = self.registers;
        for place in 0..4 {
            let weight = |asm: &mut Asm, to: u8, axis: usize| {
                asm.instruction(PERMUTE_IN_QUAD, to, 0, corners.weight(axis), Some(0x55 * place));
            };
            for (row, [left, right, other]) in [[a, c, b], [b, d, c]].into_iter().enumerate() {
                load(self, asm, (corners.index(2 * row), corners.index(2 * row + 1)), place, [left, right, other]);
                asm.vector(SUB, right, right, Rm::Reg(left));
                weight(asm, other, 0);
                asm.vector(FMADD231, left, right, Rm::Reg(other));
            }
            asm.vector(SUB, b, b, Rm::Reg(a));
            weight(asm, c, 1);
            asm.vector(FMADD231, a, b, Rm::Reg(c));
            asm.vector(MOVUPS_STORE, a, 0, corners.sum(place.into()));
        }
    }

    /// Elements that lie side by side.
    fn pairs(&self, asm: &mut Asm, (index, _): (Rm, Rm), place: u8, [left, right, other]: [u8; 3]) {
        for (quarter, register) in (0..).zip([left, left, other, other]) {
            Self::number(asm, index, 4 * quarter + place);
            match quarter % 2 {
                0 => asm.load_half(register, self.data, RAX),
                _ => asm.insert_half(register, self.data, RAX),
            }
        }
        asm.instruction(SHUFFLE_QUARTERS, right, left, Rm::Reg(other), Some(0xdd));
        asm.instruction(SHUFFLE_QUARTERS, left, left, Rm::Reg(other), Some(0x88));
    }

    /// Elements anywhere.
    fn single(&self, asm: &mut Asm, index: (Rm, Rm), place: u8, [left, right, _]: [u8; 3]) {
        self.quarters(asm, index.0, place, left);
        self.quarters(asm, index.1, place, right);
    }
}
