//! What elements of 8 and 16 bits and tiles need: narrower and wider numbers, quarters and halves of vectors.

use super::{Asm, Rm, V, rows, v};
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
    /// A half takes 16 bytes; the immediate says which: AVX2.
    INSERT_QUARTER = 3 1 0x18 part 2;
    /// A half in the low half: the destination is the last operand. AVX-512.
    EXTRACT_HALF = 3 1 0x1b part 1;
}

/// Eight bytes: the destination is the last operand.
const STORE_8: V = v(1, 1, 0xd6);
/// A half, or a quarter, as 16 bytes: the destination is the last operand.
pub(super) const EXTRACT_QUARTER: V = V { part: 2, ..v(3, 1, 0x19) };

impl Asm {
    /// Stores the first 8, 16 or 32 bytes of a vector.
    pub fn store_first(&mut self, register: u8, bytes: i32, to: Rm) {
        match (self.isa, bytes) {
            (Isa::Avx512, 16) => self.evex(EXTRACT_QUARTER, register, 0, to, 0, false, Some(0)),
            (Isa::Avx512, _) => self.evex(EXTRACT_HALF, register, 0, to, 0, false, Some(0)),
            (Isa::Avx2, 8) => self.vex_sized(false, STORE_8, register, 0, to, None),
            (Isa::Avx2, _) => self.vex_sized(false, super::MOVUPS_STORE, register, 0, to, None),
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/asm/pack.rs"]
mod tests;
