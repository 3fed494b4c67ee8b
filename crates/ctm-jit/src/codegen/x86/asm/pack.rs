//! What elements of 8 and 16 bits and tiles need: narrower and wider numbers, quarters of vectors.

use super::{Asm, EXTRACT_HALF, Gpr, Rm, V, rows, v};
use crate::codegen::x86::isa::Isa;

/// Bytes in memory, a quarter of a vector, as dwords.
pub const WIDEN_BYTES: V = V { part: 2, ..v(2, 1, 0x31) };
/// Words in memory, half a vector, as dwords.
pub const WIDEN_WORDS: V = V { part: 1, ..v(2, 1, 0x33) };
rows! { PACK_ROWS
    /// Dwords of two vectors as the words that come nearest, signed or not, and signed words as bytes, in each quarter.
    PACK_SIGNED = 1 1 0x6b;
    PACK_WORDS = 2 1 0x2b;
    PACK_BYTES = 1 1 0x67;
    /// Bytes of each quarter in the order that the last operand says.
    SHUFFLE_BYTES = 2 1 0x00;
    /// AVX2, as are all that follow.
    UNPACK_LOW_I64 = 1 1 0x6c;
    UNPACK_HIGH_I64 = 1 1 0x6d;
    /// A half takes 16 bytes; the immediate says which.
    INSERT_QUARTER = 3 1 0x18 part 2;
}

/// Eight bytes: the destination is the last operand.
const STORE_8: V = v(1, 1, 0xd6);
/// A half, or a quarter, as 16 bytes: the destination is the last operand.
pub(super) const EXTRACT_QUARTER: V = V { part: 2, ..v(3, 1, 0x19) };

impl Asm {
    /// Loads 16 bytes; the other half becomes 0: AVX2.
    pub fn load_16(&mut self, dst: u8, base: Gpr) {
        self.vex_sized(false, super::MOVUPS_LOAD, dst, 0, Rm::Row(base, 0), None);
    }

    /// Stores 16 bytes of a vector, those of the low half or of the high one: AVX2.
    pub fn store_16(&mut self, register: u8, high: bool, base: Gpr) {
        if high {
            self.vex(EXTRACT_QUARTER, register, 0, Rm::Row(base, 0), Some(1));
        } else {
            self.vex_sized(false, super::MOVUPS_STORE, register, 0, Rm::Row(base, 0), None);
        }
    }

    /// Stores the first 8, 16 or 32 bytes of a vector.
    pub fn store_first(&mut self, register: u8, bytes: i32, to: Rm) {
        match (self.isa, bytes) {
            (Isa::Avx512, 16) => self.evex(EXTRACT_QUARTER, register, 0, to, 0, false, Some(0)),
            (Isa::Avx512, _) => self.evex(EXTRACT_HALF, register, 0, to, 0, false, Some(0)),
            (Isa::Avx2, 8) => self.vex_sized(false, STORE_8, register, 0, to, None),
            (Isa::Avx2, _) => self.vex_sized(false, super::MOVUPS_STORE, register, 0, to, None),
        }
    }

    /// Moves rcx bytes from rsi to rdi, and both behind them.
    pub fn move_bytes(&mut self) {
        self.code.extend([0xf3, 0xa4]);
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/asm/pack.rs"]
mod tests;
