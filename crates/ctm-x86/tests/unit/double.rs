//! Tests of `src/double.rs`.

use super::super::tests::decoded_for;
use super::super::{RBX, Rm};
use super::*;
use crate::Isa;

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
