//! Elements of four dwords, one for each lane. A load for each element and a transposition take less time than four gathers of dwords; where all lanes
//! want the same element, as they do where a picture is drawn larger than it is, its dwords are broadcast.

use super::isa::Isa;
use super::masked::facts::INT_NOT_EQUAL;
use super::masked::wide::SHL;
use crate::codegen::x86::asm::{
    Asm, BROADCAST, BROADCAST_LANE_0, CMP_I32, Cond, EQUAL_I32, Gpr, Int, MOVUPS_STORE, RAX, Rm, SHUFFLE, UNPACK_HIGH,
    UNPACK_LOW,
};

/// Rows that [`Elements`] needs.
pub const ROWS: i32 = 3;

/// Where elements are loaded to, and from.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// Registers that it writes; afterwards they have the channels ([`Self::channels`]). Changes rax and mask 1 of AVX-512, too.
    pub registers: [u8; 4],
    /// Pointer to the array.
    pub data: Gpr,
    /// Rows of its own.
    pub rows: (Gpr, i32),
}

impl Elements {
    /// The registers that have the channels: r, g, b, a.
    pub const fn channels(&self) -> [u8; 4] {
        let [a, b, c, d] = self.registers;
        [a, c, b, d]
    }

    /// Loads the elements of all lanes, each of which lies in the array. `index`: the numbers of their first dwords; the first of the registers, or none
    /// of them.
    pub fn load(&self, asm: &mut Asm, index: u8) {
        let (base, offset) = self.rows;
        let (first, [differ, done]) = (self.registers[1], [(); 2].map(|()| asm.label()));
        asm.vector(MOVUPS_STORE, index, 0, Rm::Row(base, offset));
        asm.vector(BROADCAST_LANE_0, first, 0, Rm::Reg(index));
        match asm.isa {
            Isa::Avx512 => {
                asm.evex(CMP_I32, 1, index, Rm::Reg(first), 0, false, Some(INT_NOT_EQUAL));
                asm.mask_test(1);
            }
            Isa::Avx2 => {
                asm.vector(EQUAL_I32, first, first, Rm::Reg(index));
                asm.signs(RAX, first);
                asm.int_op_imm(Int::Cmp, RAX, 0xff);
            }
        }
        asm.jump_if(Cond::NotEqual, differ);
        asm.int_load(Int::Mov, false, RAX, base, offset);
        asm.wide_shift(SHL, RAX, 2);
        asm.wide(Int::Add, RAX, self.data);
        for (channel, register) in (0..).zip(self.channels()) {
            asm.vector(BROADCAST, register, 0, Rm::Each(RAX, 4 * channel));
        }
        asm.jump(done);
        asm.place(differ);
        // The numbers lie in the first row.
        for (register, place) in self.registers.into_iter().zip(0..) {
            self.quarters(asm, Rm::Row(base, offset), place, register);
        }
        self.transpose(asm);
        asm.place(done);
    }

    /// A lane's number of a row, in rax.
    pub(super) fn number(asm: &mut Asm, row: Rm, lane: u8) {
        if let Rm::Row(base, offset) = row {
            asm.int_load(Int::Mov, false, RAX, base, offset + 4 * i32::from(lane));
        }
    }

    /// The elements of the lanes at one place of each quarter, whose numbers lie in a row.
    pub(super) fn quarters(&self, asm: &mut Asm, numbers: Rm, place: u8, register: u8) {
        for quarter in 0..asm.isa.lanes() as u8 / 4 {
            Self::number(asm, numbers, 4 * quarter + place);
            match quarter {
                0 => asm.load_quarter(register, self.data, RAX),
                _ => asm.insert_quarter(register, quarter, self.data, RAX),
            }
        }
    }

    /// From four elements in each register, of the lanes at one place of each quarter, to channels.
    pub(super) fn transpose(&self, asm: &mut Asm) {
        let [a, b, c, d] = self.registers;
        let (base, offset) = self.rows;
        let [one, other] = [1, 2].map(|row| Rm::Row(base, offset + 64 * row));
        for (low, high, kept) in [(a, b, one), (c, d, other)] {
            asm.vector(MOVUPS_STORE, high, 0, kept);
            asm.vector(UNPACK_HIGH, high, low, kept);
            asm.vector(UNPACK_LOW, low, low, kept);
        }
        for (left, right, kept) in [(a, c, one), (b, d, other)] {
            asm.vector(MOVUPS_STORE, right, 0, kept);
            asm.instruction(SHUFFLE, right, left, Rm::Reg(right), Some(0xee));
            asm.instruction(SHUFFLE, left, left, kept, Some(0x44));
        }
    }
}
