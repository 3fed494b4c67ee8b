//! Elements of four quads, as memory has them: two rows of eight.
//!
//! A vector holds one channel of 16 lanes, quad by quad; in a quad the upper two come first. An output has its channels side by side.

use super::isa::Isa;
use super::masked::facts::INT_NOT_EQUAL;
use crate::codegen::x86::asm::{
    Asm, CMP_I32, Gpr, Int, MOVAPS, MOVUPS_LOAD, MOVUPS_STORE, PERMUTE, PERMUTE_HALVES, PERMUTE_TWO, RAX, Rm, SHUFFLE,
    UNPACK_HIGH, UNPACK_LOW, XOR,
};
use crate::launch::lanes::{LANES, Row};

/// Rows that [`Stores`] reads on AVX-512.
pub const TABLES: [Row; 3] = [rows_apart(), quarters(0), quarters(8)];

/// The upper lanes of all quads, then the lower ones.
const fn rows_apart() -> Row {
    let mut row = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        row[lane] = (lane % 8 / 2 * 4 + lane % 2 + lane / 8 * 2) as u32;
        lane += 1;
    }
    row
}

/// Two quarters of each of two vectors by turns, from this dword on.
const fn quarters(first: u32) -> Row {
    let mut row = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        row[lane] = first + (lane / 8 * 4 + lane % 4) as u32 + (lane / 4 % 2 * LANES) as u32;
        lane += 1;
    }
    row
}

/// Where channels are, and where elements go.
pub struct Stores<'a> {
    /// The instruction set.
    pub isa: Isa,
    /// The code.
    pub asm: &'a mut Asm,
    /// Where the vector of each channel lies.
    pub from: [Gpr; 4],
    /// Where the elements of the upper and of the lower row go.
    pub to: [Gpr; 2],
    /// The first of [`TABLES`].
    pub tables: (Gpr, i32),
    /// Where the elements of another call lie: what is not 0 there is stored. For AVX-512; each row of elements has [`MASK_ROW`] bytes.
    pub masks: Option<(Gpr, i32)>,
}

/// Bytes that a group of 16 lanes has in each of its two rows.
pub const fn group_bytes(channels: u32) -> u32 {
    4 * channels * LANES as u32 / 2
}

/// See [`Stores::masks`].
pub const MASK_ROW: i32 = 128;

impl Stores<'_> {
    /// Stores elements of 1, 2 or 4 channels, whose vectors lie at these offsets.
    pub fn store(&mut self, channels: &[i32]) {
        match *channels {
            [only] => self.one(only),
            [r, g] => self.two(r, g),
            [r, g, b, a] => self.four([r, g, b, a]),
            _ => debug_assert!(false, "elements have 1, 2 or 4 channels"),
        }
    }

    fn table(&self, number: usize) -> Rm {
        Rm::Row(self.tables.0, self.tables.1 + 64 * number as i32)
    }

    fn channel(&self, channel: usize, offset: i32, piece: u8) -> Rm {
        Rm::Row(self.from[channel], offset + self.isa.bytes() * i32::from(piece))
    }

    fn load(&mut self, register: u8, from: Rm) {
        self.asm.vector(MOVUPS_LOAD, register, 0, from);
    }

    fn put(&mut self, register: u8, row: usize, at: i32) {
        let to = Rm::Row(self.to[row], at);
        let Some((base, offset)) = self.masks else { return self.asm.vector(MOVUPS_STORE, register, 0, to) };
        let (zero, mask) = (8, Rm::Row(base, offset + MASK_ROW * row as i32 + at));
        self.asm.vector(XOR, zero, zero, Rm::Reg(zero));
        self.asm.evex(CMP_I32, 1, zero, mask, 0, false, Some(INT_NOT_EQUAL));
        self.asm.evex(MOVUPS_STORE, register, 0, to, 1, false, None);
    }

    fn one(&mut self, offset: i32) {
        if self.isa == Isa::Avx512 {
            let table = self.table(0);
            self.load(0, table);
            let from = self.channel(0, offset, 0);
            self.asm.vector(PERMUTE, 0, 0, from);
            if let Some((base, offset)) = self.masks {
                return self.halves_under(base, offset);
            }
            self.asm.store_half(0, false, self.to[0], 0);
            self.asm.store_half(0, true, self.to[1], 0);
            return;
        }
        // Quads 0 and 2, quads 1 and 3.
        let (first, second) = (self.channel(0, offset, 0), self.channel(0, offset, 1));
        self.load(0, first);
        self.asm.vex(PERMUTE_HALVES, 1, 0, second, Some(0x20));
        self.asm.vex(PERMUTE_HALVES, 2, 0, second, Some(0x31));
        for (row, lanes) in [0x44, 0xee].into_iter().enumerate() {
            self.asm.instruction(SHUFFLE, 0, 1, Rm::Reg(2), Some(lanes));
            self.put(0, row, 0);
        }
    }

    /// Stores the lower half of register 0 to the upper row, and the upper half to the lower row, under masks.
    fn halves_under(&mut self, base: Gpr, offset: i32) {
        let (zero, half) = (8, LANES as u8 / 2);
        self.asm.vector(XOR, zero, zero, Rm::Reg(zero));
        for row in 0..2 {
            let mask = Rm::Row(base, offset + MASK_ROW * row);
            self.asm.evex(CMP_I32, 1, zero, mask, 0, false, Some(INT_NOT_EQUAL));
            self.asm.mask_to(RAX, 1);
            self.asm.int_op_imm(Int::And, RAX, (1 << half) - 1);
            if row > 0 {
                self.asm.shift_left(RAX, half);
            }
            self.asm.mask_from(1, RAX);
            self.asm.evex(MOVUPS_STORE, 0, 0, Rm::Row(self.to[row as usize], -32 * row), 1, false, None);
        }
    }

    fn two(&mut self, r: i32, g: i32) {
        for piece in 0..self.isa.pieces() {
            let (r, g) = (self.channel(0, r, piece), self.channel(1, g, piece));
            self.load(0, r);
            for (row, op) in [UNPACK_LOW, UNPACK_HIGH].into_iter().enumerate() {
                self.asm.vector(op, 1, 0, g);
                self.put(1, row, self.isa.bytes() * i32::from(piece));
            }
        }
    }

    fn four(&mut self, channels: [i32; 4]) {
        for piece in 0..self.isa.pieces() {
            let [r, g, b, a] = std::array::from_fn(|channel| self.channel(channel, channels[channel], piece));
            self.load(0, r);
            self.load(1, b);
            for (row, op) in [UNPACK_LOW, UNPACK_HIGH].into_iter().enumerate() {
                self.asm.vector(op, 2, 0, g);
                self.asm.vector(op, 3, 1, a);
                // The left elements of all quads, and the right ones.
                self.asm.instruction(SHUFFLE, 4, 2, Rm::Reg(3), Some(0x44));
                self.asm.instruction(SHUFFLE, 5, 2, Rm::Reg(3), Some(0xee));
                let at = 2 * self.isa.bytes() * i32::from(piece);
                for half in 0..2 {
                    if self.isa == Isa::Avx512 {
                        let table = self.table(1 + half);
                        self.load(6, table);
                        self.asm.vector(MOVAPS, 7, 0, Rm::Reg(4));
                        self.asm.vector(PERMUTE_TWO, 7, 6, Rm::Reg(5));
                    } else {
                        let halves = [0x20, 0x31][half];
                        self.asm.vex(PERMUTE_HALVES, 7, 4, Rm::Reg(5), Some(halves));
                    }
                    self.put(7, row, at + self.isa.bytes() * half as i32);
                }
            }
        }
    }
}
