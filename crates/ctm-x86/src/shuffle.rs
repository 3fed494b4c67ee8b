//! Further instructions for streams: elements into vectors and back.

use super::wide::GATHER;
use super::{Asm, Gpr, NOTHING, Rm, V, rows, v};

rows! { SHUFFLE_ROWS
    UNPACK_LOW = 1 0 0x14;
    UNPACK_HIGH = 1 0 0x15;
    /// Two elements of each source in every quarter; the immediate selects them.
    SHUFFLE = 1 0 0xc6;
    STORE_PAST_CACHES = 1 0 0x2b;
    /// Elements by the numbers in the second operand.
    PERMUTE = 2 1 0x16;
    /// A half takes 16 bytes; the immediate selects it: AVX2.
    INSERT_QUARTER = 3 1 0x18 part 2;
}

/// 16 bytes of memory in every quarter.
const BROADCAST_QUARTER: V = V { part: 2, ..v(2, 1, 0x1a) };

impl Asm {
    /// `dst`, 16 bytes at base + offset in each quarter.
    pub fn broadcast_quarter(&mut self, dst: u8, base: Gpr, offset: i32) {
        self.vector(BROADCAST_QUARTER, dst, 0, Rm::Row(base, offset));
    }

    /// The 16 bytes at `base + 4 * index` in every quarter.
    pub fn load_quarter(&mut self, dst: u8, base: Gpr, index: Gpr) {
        self.vector(BROADCAST_QUARTER, dst, 0, Rm::At(base, index, 2, 0));
    }

    /// The same 16 bytes in one quarter, 0 to 3 (on AVX2, where vectors have two, 0 or 1); the others stay.
    pub fn insert_quarter(&mut self, dst: u8, quarter: u8, base: Gpr, index: Gpr) {
        self.instruction(INSERT_QUARTER, dst, dst, Rm::At(base, index, 2, 0), Some(quarter));
    }

    /// The dwords at `base + 4 * index + offset` for the lanes whose sign bit is set in the mask, a vector that is 0 afterwards: AVX2. The
    /// three vectors are different ones.
    pub fn gather_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.vex(GATHER, dst, mask, Rm::At(base, index, 2, offset), None);
    }

    /// Prefetches the line of the caches at this address, which may be invalid.
    pub fn prefetch(&mut self, base: Gpr, offset: i32) {
        self.integer(false, 0x0f18, 1, Rm::Row(base, offset), NOTHING);
    }
}

#[cfg(test)]
#[path = "../tests/unit/shuffle.rs"]
mod tests;
