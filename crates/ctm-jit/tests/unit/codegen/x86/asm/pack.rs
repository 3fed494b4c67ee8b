//! Tests of `src/codegen/x86/asm/pack.rs`.

use super::super::tests::decoded_for;
use super::super::{RBX, RSI};
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
    assert_eq!(two.len() + 2, PACK_ROWS.len());
    for (bytes, name) in [(8, "vmovq [rbx+20h],xmm9"), (16, "vmovups [rbx+20h],xmm9")] {
        assert_eq!(decoded_for(Isa::Avx2, |asm| asm.store_first(9, bytes, Rm::Row(RBX, 32))), name);
    }
    for (bytes, name) in [(16, "vextractf32x4 [rbx+20h],zmm25,0"), (32, "vextractf32x8 [rbx+20h],zmm25,0")] {
        assert_eq!(decoded_for(Isa::Avx512, |asm| asm.store_first(25, bytes, Rm::Row(RBX, 32))), name);
    }
    let extract = |asm: &mut Asm| asm.evex(EXTRACT_HALF, 17, 0, Rm::Reg(9), 0, false, Some(1));
    assert_eq!(decoded_for(Isa::Avx512, extract), "vextractf32x8 ymm9,zmm17,1");
    let insert = |asm: &mut Asm| asm.vex(INSERT_QUARTER, 1, 3, Rm::Row(RSI, 0), Some(1));
    assert_eq!(decoded_for(Isa::Avx2, insert), "vinsertf128 ymm1,ymm3,[rsi],1");
}
