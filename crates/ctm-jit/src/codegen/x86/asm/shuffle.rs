//! What streams need besides: elements into vectors and back.

use super::{Asm, EXTRACT_HALF, Gpr, Rm, V, rows, v};
use crate::codegen::x86::isa::Isa;

rows! { SHUFFLE_ROWS
    UNPACK_LOW = 1 0 0x14;
    UNPACK_HIGH = 1 0 0x15;
    /// Two elements of each source in every quarter; the immediate says which.
    SHUFFLE = 1 0 0xc6;
    STORE_PAST_CACHES = 1 0 0x2b;
    /// Elements by the numbers in the second operand.
    PERMUTE = 2 1 0x16;
    /// The same from two vectors, the result's old elements first. AVX-512 alone.
    PERMUTE_TWO = 2 1 0x7f;
    /// Two quarters of each source; the immediate says which. AVX-512 alone.
    SHUFFLE_QUARTERS = 3 1 0x23;
}

impl Asm {
    /// `dst`, 16 bytes at base + offset in each quarter.
    pub fn broadcast_quarter(&mut self, dst: u8, base: Gpr, offset: i32) {
        const BROADCAST_QUARTER: V = V { part: 2, ..v(2, 1, 0x1a) };
        if self.isa == Isa::Avx2 {
            return self.vex(BROADCAST_QUARTER, dst, 0, Rm::Row(base, offset), None);
        }
        self.evex(BROADCAST_QUARTER, dst, 0, Rm::Row(base, offset), 0, false, None);
    }

    /// The 16 bytes at `base + 4 * index` in the first quarter, zeros elsewhere. The base is neither rbp nor r13.
    pub fn load_quarter(&mut self, dst: u8, base: Gpr, index: Gpr) {
        self.quarter_at(dst, (1, 15 << 3 | 4, 1 << 3, 0x10), base, index);
    }

    /// The same 16 bytes in another quarter, 1 to 3 (on AVX2, where vectors have two, 1); the others stay.
    pub fn insert_quarter(&mut self, dst: u8, quarter: u8, base: Gpr, index: Gpr) {
        let (low, high) = ((!dst & 15) << 3, (!(dst >> 4) & 1) << 3);
        self.quarter_at(dst, (3, low | 4 | 1, 2 << 5 | high, 0x18), base, index);
        self.byte(quarter);
    }

    /// The 32 bytes at `base + 4 * index` in the first half, zeros in the other: AVX-512. The base is neither rbp nor r13.
    pub fn load_half(&mut self, dst: u8, base: Gpr, index: Gpr) {
        self.quarter_at(dst, (1, 15 << 3 | 4, 1 << 5 | 1 << 3, 0x10), base, index);
    }

    /// The same 32 bytes in the second half; the first one stays: AVX-512.
    pub fn insert_half(&mut self, dst: u8, base: Gpr, index: Gpr) {
        let (low, high) = ((!dst & 15) << 3, (!(dst >> 4) & 1) << 3);
        self.quarter_at(dst, (3, 1 << 7 | low | 4 | 1, 2 << 5 | high, 0x1a), base, index);
        self.byte(1);
    }

    /// An instruction on 16 or 32 bytes: its map, the other two bytes of the prefix, its opcode.
    fn quarter_at(&mut self, dst: u8, (map, second, third, opcode): (u8, u8, u8, u8), base: Gpr, index: Gpr) {
        debug_assert!(base & 7 != 5, "it needs no displacement");
        let (r, x, b) = (!(dst >> 3) & 1, !(index >> 3) & 1, !(base >> 3) & 1);
        if self.isa == Isa::Avx512 {
            self.byte(0x62);
            self.byte(r << 7 | x << 6 | b << 5 | (!(dst >> 4) & 1) << 4 | map);
            self.byte(second);
            self.byte(third);
        } else {
            // Bit 2 is the length here: what loads is 128 bits wide, what inserts 256.
            self.byte(0xc4);
            self.byte(r << 7 | x << 6 | b << 5 | map);
            self.byte(if map == 1 { second & !4 } else { second });
        }
        self.byte(opcode);
        self.byte((dst & 7) << 3 | 4);
        self.byte(2 << 6 | (index & 7) << 3 | base & 7);
    }

    /// Stores the low half of a vector, or the high one: AVX-512.
    pub fn store_half(&mut self, register: u8, high: bool, base: Gpr, offset: i32) {
        self.evex(V { part: 1, ..EXTRACT_HALF }, register, 0, Rm::Row(base, offset), 0, false, Some(high.into()));
    }

    /// The dwords at `base + 4 * index + offset` for the lanes whose sign bit is set in the mask, a vector that is 0 afterwards: AVX2. The
    /// three vectors are different ones.
    pub fn gather_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.indexed_by_signs(dst, mask, base, (index, 2), offset);
    }

    /// The dwords at `base + index + offset`: as [`Self::gather_by_signs`], by bytes.
    pub fn gather_bytes_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.indexed_by_signs(dst, mask, base, (index, 0), offset);
    }

    /// `scale`: how far left the index is shifted.
    fn indexed_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, (index, scale): (u8, u8), offset: i32) {
        self.byte(0xc4);
        let (r, x, b) = (!(dst >> 3) & 1, !(index >> 3) & 1, !(base >> 3) & 1);
        self.byte(r << 7 | x << 6 | b << 5 | 2);
        self.byte((!mask & 15) << 3 | 1 << 2 | 1);
        self.byte(0x92);
        self.byte(0x80 | (dst & 7) << 3 | 4);
        self.byte(scale << 6 | (index & 7) << 3 | base & 7);
        self.dword(offset);
    }

    /// Asks for the line of the caches with this address, wherever that is.
    pub fn prefetch(&mut self, base: Gpr, offset: i32) {
        self.prefixed(false, 0, base, 0x0f);
        self.byte(0x18);
        self.operand(1, Rm::Row(base, offset), 1);
    }

    /// Ends a run of stores that pass the caches by.
    pub fn store_fence(&mut self) {
        self.code.extend([0x0f, 0xae, 0xf8]);
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/asm/shuffle.rs"]
mod tests;
