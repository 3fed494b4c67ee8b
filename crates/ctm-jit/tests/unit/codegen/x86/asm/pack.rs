//! Tests of `src/codegen/x86/asm/pack.rs`.

use super::super::tests::decoded_for;
use super::super::{ADD_F64, CVT_F64_F32, CVT_F64_I64, RBX, RCX, RSI};
use super::*;

#[test]
fn packs() {
    let of = |isa, op, a, rm| decoded_for(isa, |asm| asm.vector(op, 11, a, rm));
    let memory = Rm::Row(RBX, 0);
    let wide = [(WIDEN_BYTES, "vpmovzxbd"), (WIDEN_WORDS, "vpmovzxwd")];
    for (op, name) in wide {
        assert_eq!(of(Isa::Avx512, op, 0, memory), format!("{name} zmm11,[rbx]"));
        assert_eq!(of(Isa::Avx2, op, 0, memory), format!("{name} ymm11,[rbx]"));
        for offset in [32, 64, 2048] {
            assert_eq!(of(Isa::Avx512, op, 0, Rm::Row(RBX, offset)), format!("{name} zmm11,[rbx+{offset:X}h]"));
        }
    }
    let two =
        [(PACK_SIGNED, "vpackssdw"), (PACK_WORDS, "vpackusdw"), (PACK_BYTES, "vpackuswb"), (SHUFFLE_BYTES, "vpshufb")];
    for (op, name) in two {
        assert_eq!(of(Isa::Avx2, op, 9, Rm::Reg(14)), format!("{name} ymm11,ymm9,ymm14"));
        assert_eq!(of(Isa::Avx512, op, 9, Rm::Reg(14)), format!("{name} zmm11,zmm9,zmm14"));
    }
    assert_eq!(two.len() + 5, PACK_ROWS.len());
    for (bytes, name) in [(8, "vmovq [rbx+20h],xmm9"), (16, "vmovups [rbx+20h],xmm9")] {
        assert_eq!(decoded_for(Isa::Avx2, |asm| asm.store_first(9, bytes, Rm::Row(RBX, 32))), name);
    }
    for (bytes, name) in [(16, "vextractf32x4 [rbx+20h],zmm25,0"), (32, "vextractf32x8 [rbx+20h],zmm25,0")] {
        assert_eq!(decoded_for(Isa::Avx512, |asm| asm.store_first(25, bytes, Rm::Row(RBX, 32))), name);
    }
    let insert = |asm: &mut Asm| asm.vex(INSERT_QUARTER, 1, 3, Rm::Row(RSI, 0), Some(1));
    assert_eq!(decoded_for(Isa::Avx2, insert), "vinsertf128 ymm1,ymm3,[rsi],1");
}

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
}
