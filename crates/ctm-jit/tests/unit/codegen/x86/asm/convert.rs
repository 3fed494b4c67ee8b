//! Tests of `src/codegen/x86/asm/convert.rs`.

use super::super::tests::decoded_for;
use super::super::{ADD_F64, Asm, RCX, Rm};
use super::*;
use crate::codegen::x86::isa::Isa;

/// An instruction as text, and what emits it.
type Form = (&'static str, fn(&mut Asm));

#[test]
fn conversions() {
    let table: &[Form] = &[
        ("vcvtdq2pd zmm17,ymm9", |a| a.evex(CVT_I32_F64, 17, 0, Rm::Reg(9), 0, false, None)),
        ("vcvtpd2ps ymm9,zmm17", |a| a.evex(CVT_F64_F32, 9, 0, Rm::Reg(17), 0, false, None)),
        ("vcvtpd2qq zmm9,zmm17", |a| a.evex(CVT_F64_I64, 9, 0, Rm::Reg(17), 0, false, None)),
        ("vpmovqd ymm9,zmm17", |a| a.evex(NARROW_I64, 17, 0, Rm::Reg(9), 0, false, None)),
        ("vinsertf32x8 zmm1,zmm17,ymm9,1", |a| a.evex(INSERT_HALF, 1, 17, Rm::Reg(9), 0, false, Some(1))),
        ("vextractf32x8 ymm9,zmm17,1", |a| a.evex(EXTRACT_HALF, 17, 0, Rm::Reg(9), 0, false, Some(1))),
        ("vaddpd zmm9,zmm17,[rcx+10h]{1to8}", |a| a.vector(ADD_F64, 9, 17, Rm::Each(RCX, 16))),
    ];
    for (text, emit) in table {
        assert_eq!(&decoded_for(Isa::Avx512, emit), text);
    }
    assert_eq!(CONVERT_ROWS.len(), 4);
}
