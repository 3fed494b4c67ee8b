//! Instructions on elements of 64 bits: double precision, and products of 32 bits by 32.
//!
//! They take registers and whole vectors in memory, no literals: those have 32 bits.

use super::{V, rows};

const fn v(map: u8, pp: u8, opcode: u8) -> V {
    V { map, pp, opcode, wide: 1 }
}

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
mod tests {
    use super::super::tests::decoded_for;
    use super::super::{RBX, Rm};
    use super::*;
    use crate::codegen::x86::isa::Isa;

    #[test]
    fn rows_of_64_bits() {
        let names = [
            ("vaddpd", "vaddpd"),
            ("vmulpd", "vmulpd"),
            ("vsubpd", "vsubpd"),
            ("vminpd", "vminpd"),
            ("vdivpd", "vdivpd"),
            ("vmaxpd", "vmaxpd"),
            ("vpandq", "vpand"),
            ("vporq", "vpor"),
            ("vpmuludq", "vpmuludq"),
            ("vpmuldq", "vpmuldq"),
        ];
        for ((_, op), (wide, narrow)) in DOUBLE_ROWS.iter().zip(names) {
            for (rm, text) in [(Rm::Reg(14), "14"), (Rm::Row(RBX, 64), "[rbx+40h]")] {
                let operand = |vector: &str| if text == "14" { format!("{vector}14") } else { text.into() };
                let found = decoded_for(Isa::Avx512, |a| a.vector(*op, 11, 9, rm));
                assert_eq!(found, format!("{wide} zmm11,zmm9,{}", operand("zmm")));
                let found = decoded_for(Isa::Avx2, |a| a.vector(*op, 11, 9, rm));
                assert_eq!(found, format!("{narrow} ymm11,ymm9,{}", operand("ymm")));
            }
        }
        let found = decoded_for(Isa::Avx512, |a| a.instruction(ROUND_F64, 17, 0, Rm::Reg(30), Some(9)));
        assert_eq!(found, "vrndscalepd zmm17,zmm30,9");
        let found = decoded_for(Isa::Avx2, |a| a.instruction(ROUND_F64, 11, 0, Rm::Reg(3), Some(9)));
        assert_eq!(found, "vroundpd ymm11,ymm3,9");
        let found = decoded_for(Isa::Avx512, |a| a.evex(CMP_F64, 2, 9, Rm::Reg(30), 1, false, Some(0)));
        assert_eq!(found, "vcmpeqpd k2{k1},zmm9,zmm30");
        let found = decoded_for(Isa::Avx2, |a| a.instruction(CMP_F64, 2, 9, Rm::Reg(3), Some(0)));
        assert_eq!(found, "vcmpeqpd ymm2,ymm9,ymm3");
    }
}
