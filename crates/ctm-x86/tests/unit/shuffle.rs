//! Tests of `src/shuffle.rs`.

use super::super::tests::decoded_for;
use super::super::{RAX, RBP, RBX, RDI, RDX};
use super::*;
use crate::Isa;

#[test]
fn shuffles() {
    let names = ["vunpcklps", "vunpckhps", "vshufps", "vmovntps", "vpermps"];
    for (isa, vector) in [(Isa::Avx512, "zmm"), (Isa::Avx2, "ymm")] {
        for ((_, op), name) in SHUFFLE_ROWS.iter().zip(names) {
            let found = |rm| match *op {
                SHUFFLE => decoded_for(isa, |a| a.instruction(SHUFFLE, 11, 9, rm, Some(0x44))),
                STORE_PAST_CACHES => decoded_for(isa, |a| a.vector(STORE_PAST_CACHES, 11, 0, rm)),
                op => decoded_for(isa, |a| a.vector(op, 11, 9, rm)),
            };
            let end = if *op == SHUFFLE { ",44h" } else { "" };
            if *op == STORE_PAST_CACHES {
                assert_eq!(found(Rm::Row(RBX, 64)), format!("{name} [rbx+40h],{vector}11"));
            } else {
                assert_eq!(found(Rm::Row(RBX, 64)), format!("{name} {vector}11,{vector}9,[rbx+40h]{end}"));
                assert_eq!(found(Rm::Reg(14)), format!("{name} {vector}11,{vector}9,{vector}14{end}"));
            }
        }
    }
}

/// An instruction as text, and its emitter.
type Form = (Isa, &'static str, fn(&mut Asm));

#[test]
fn broadcasts_and_gathers() {
    let table: &[Form] = &[
        (Isa::Avx512, "vbroadcastf32x4 zmm17,[r12+40h]", |a| a.broadcast_quarter(17, 12, 0x40)),
        (Isa::Avx512, "vbroadcastf32x4 zmm28,[rdx+rax*4]", |a| a.load_quarter(28, RDX, RAX)),
        (Isa::Avx512, "vbroadcastf32x4 zmm3,[r8+r9*4]", |a| a.load_quarter(3, 8, 9)),
        (Isa::Avx512, "vinsertf32x4 zmm31,zmm31,[rdx+rax*4],3", |a| a.insert_quarter(31, 3, RDX, RAX)),
        (Isa::Avx512, "vinsertf32x4 zmm9,zmm9,[r8+r9*4],1", |a| a.insert_quarter(9, 1, 8, 9)),
        (Isa::Avx512, "vbroadcastf32x4 zmm9,[rbp-10h]", |a| a.broadcast_quarter(9, RBP, -16)),
        (Isa::Avx2, "vbroadcastf128 ymm11,[r12+40h]", |a| a.broadcast_quarter(11, 12, 0x40)),
        (Isa::Avx2, "vbroadcastf128 ymm3,[rbp-10h]", |a| a.broadcast_quarter(3, RBP, -16)),
        (Isa::Avx2, "vbroadcastf128 ymm11,[rdx+rax*4]", |a| a.load_quarter(11, RDX, RAX)),
        (Isa::Avx2, "vinsertf128 ymm12,ymm12,[r8+r9*4],1", |a| a.insert_quarter(12, 1, 8, 9)),
        (Isa::Avx2, "vgatherdps ymm3,[rdi+ymm14*4+0Ch],ymm15", |a| a.gather_by_signs(3, 15, RDI, 14, 12)),
        (Isa::Avx2, "vgatherdps ymm13,[r13+ymm6*4+8],ymm2", |a| a.gather_by_signs(13, 2, 13, 6, 8)),
        (Isa::Avx512, "prefetcht0 [r13+400h]", |a| a.prefetch(13, 0x400)),
        (Isa::Avx2, "prefetcht0 [rbp-10h]", |a| a.prefetch(RBP, -16)),
    ];
    for (isa, text, emit) in table {
        assert_eq!(&decoded_for(*isa, emit), text);
    }
}
