//! What launches need besides: conversions of positions and start values, for AVX-512.

use super::{V, rows, v, wide};

rows! { CONVERT_ROWS
    /// Eight numbers of 32 bits, the low half, as doubles.
    CVT_I32_F64 = 1 2 0xe6;
    /// The low halves of 8 numbers of 64 bits, in order: the destination is the last operand.
    NARROW_I64 = 2 2 0x35;
    /// A half takes another vector's low half; the immediate says which.
    INSERT_HALF = 3 1 0x1a part 1;
    /// A half in the low half: the destination is the last operand.
    EXTRACT_HALF = 3 1 0x1b part 1;
}

/// Doubles in single precision: the low half.
pub const CVT_F64_F32: V = wide(1, 1, 0x5a);
/// Doubles as whole numbers.
pub const CVT_F64_I64: V = wide(1, 1, 0x7b);

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/asm/convert.rs"]
mod tests;
