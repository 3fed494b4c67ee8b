//! Instructions on elements of 64 bits: double precision, and products of 32 bits by 32.
//!
//! Operands are registers and whole vectors in memory, but no literals: those have 32 bits.

use super::{V, rows, wide as v};

rows! { DOUBLE_ROWS
    ADD_F64 = 1 1 0x58;
    MUL_F64 = 1 1 0x59;
    SUB_F64 = 1 1 0x5c;
    MIN_F64 = 1 1 0x5d;
    DIV_F64 = 1 1 0x5e;
    MAX_F64 = 1 1 0x5f;
    AND_I64 = 1 1 0xdb;
    OR_I64 = 1 1 0xeb;
    /// The product of the low halves, unsigned.
    MUL_WIDE_U32 = 1 1 0xf4;
    /// The product of the low halves, signed.
    MUL_WIDE_I32 = 2 1 0x28;
    ROUND_F64 = 3 1 0x09;
    CMP_F64 = 1 1 0xc2;
}

#[cfg(test)]
#[path = "../tests/unit/double.rs"]
mod tests;
