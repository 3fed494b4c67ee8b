//! Tests of `src/wide.rs`.

use super::super::{RAX, RBX, RCX};
use super::*;
use crate::Isa;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

/// The output of an independent decoder.
fn decoded(emit: impl FnOnce(&mut Asm)) -> String {
    let mut asm = Asm::new(Isa::Avx512);
    emit(&mut asm);
    let length = asm.code.len();
    let bytes = asm.finish();
    let instruction = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE).decode();
    assert_eq!(instruction.len(), length, "{bytes:02x?}");
    let mut text = String::new();
    IntelFormatter::new().format(&instruction, &mut text);
    text
}

#[test]
fn vector_rows() {
    let names =
        ["vpmaxsd", "vpminsd", "vpmaxud", "vpminud", "vpsrlvd", "vpsravd", "vpsllvd", "vpmulld", "vcvtudq2ps", ""];
    for ((_, op), name) in R700_ROWS.iter().zip(names) {
        let one = [CVT_U32_F32, CVT_F32_I32, BROADCAST_LANE_0].contains(op);
        let second = if one { 0 } else { 9 };
        let found = || decoded(|a| a.evex(*op, 17, second, Rm::Row(RBX, 64), 0, false, None));
        match *op {
            CMP_U32 => {
                let found = decoded(|a| a.evex(CMP_U32, 3, 1, Rm::Reg(31), 0, false, Some(6)));
                assert_eq!(found, "vpcmpnleud k3,zmm1,zmm31");
            }
            BROADCAST_LANE_0 => {
                let found = decoded(|a| a.evex(BROADCAST_LANE_0, 29, 0, Rm::Reg(28), 0, false, None));
                assert_eq!(found, format!("{name} zmm29,xmm28"));
            }
            _ if one => assert_eq!(found(), format!("{name} zmm17,[rbx+40h]")),
            _ => assert_eq!(found(), format!("{name} zmm17,zmm9,[rbx+40h]")),
        }
    }
}

#[test]
fn wide_integers() {
    assert_eq!(decoded(|a| a.wide(Int::And, RAX, 12)), "and rax,r12");
    assert_eq!(decoded(|a| a.wide(Int::Mov, 12, RCX)), "mov r12,rcx");
    assert_eq!(decoded(|a| a.wide_imm(Int::Sub, 14, 7)), "sub r14,7");
    assert_eq!(decoded(|a| a.wide_shift(4, RCX, 48)), "shl rcx,30h");
    assert_eq!(decoded(|a| a.wide_shift(5, RAX, 16)), "shr rax,10h");
    assert_eq!(decoded(|a| a.wide_shift(7, RAX, 51)), "sar rax,33h");
    assert_eq!(decoded(|a| a.wide_not(RCX)), "not rcx");
    assert_eq!(decoded(|a| a.gather(5, 1, RCX, 28, 8)), "vgatherdps zmm5,k1,[rcx+zmm28*4+8]");
    assert_eq!(decoded(|a| a.gather(30, 2, 9, 11, 0x400)), "vgatherdps zmm30,k2,[r9+zmm11*4+400h]");
    assert_eq!(decoded(|a| a.scatter(30, 1, RBX, 28, 0x1040)), "vscatterdps [rbx+zmm28*4+1040h],k1,zmm30");
    assert_eq!(decoded(|a| a.wide_test(RAX, RAX)), "test rax,rax");
    assert_eq!(decoded(|a| a.wide_popcount(RAX, 12)), "popcnt rax,r12");
    assert_eq!(decoded(|a| a.wide_times(RAX, RCX, 15)), "imul rax,rcx,0Fh");
}
