//! Every form, read by an independent decoder.

use super::*;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

/// An instruction as text, and its emitter.
type Form = (&'static str, fn(&mut Asm));

/// The output of an independent decoder.
fn decoded(emit: impl FnOnce(&mut Asm)) -> String {
    decoded_for(Isa::Avx512, emit)
}

pub fn decoded_for(isa: Isa, emit: impl FnOnce(&mut Asm)) -> String {
    let mut asm = Asm::new(isa);
    emit(&mut asm);
    let length = asm.code.len();
    let bytes = asm.finish();
    let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert_eq!(instruction.len(), length, "{bytes:02x?}");
    let mut text = String::new();
    IntelFormatter::new().format(&instruction, &mut text);
    text
}

/// Mnemonic of each row, and its shape: two sources, one source, store, these with an immediate, mask result.
const SHAPES: &[(V, &str, char)] = &[
    (MOVUPS_LOAD, "vmovups", '1'),
    (MOVUPS_STORE, "vmovups", 's'),
    (MOVAPS, "vmovaps", '1'),
    (AND, "vpandd", '2'),
    (OR, "vpord", '2'),
    (XOR, "vpxord", '2'),
    (SQRT, "vsqrtps", '1'),
    (ADD, "vaddps", '2'),
    (MUL, "vmulps", '2'),
    (SUB, "vsubps", '2'),
    (MIN, "vminps", '2'),
    (MAX, "vmaxps", '2'),
    (CVT_I32_F32, "vcvtdq2ps", '1'),
    (SHIFT_IMM, "", 'x'),
    (CMP_F32, "", 'x'),
    (ADD_I32, "vpaddd", '2'),
    (SUB_I32, "vpsubd", '2'),
    (BROADCAST, "vbroadcastss", 'b'),
    (BLEND_MASK, "vblendmps", '2'),
    (FMADD132, "vfmadd132ps", '2'),
    (FMADD213, "vfmadd213ps", '2'),
    (FMADD231, "vfmadd231ps", '2'),
    (FMSUB132, "vfmsub132ps", '2'),
    (FMSUB213, "vfmsub213ps", '2'),
    (FMSUB231, "vfmsub231ps", '2'),
    (FNMADD132, "vfnmadd132ps", '2'),
    (FNMADD213, "vfnmadd213ps", '2'),
    (FNMADD231, "vfnmadd231ps", '2'),
    (FNMSUB132, "vfnmsub132ps", '2'),
    (FNMSUB213, "vfnmsub213ps", '2'),
    (FNMSUB231, "vfnmsub231ps", '2'),
    (PERMUTE_IN_QUAD, "vpermilps", 'i'),
    (ROUND_SCALE, "vrndscaleps", 'i'),
    (CMP_I32, "", 'x'),
    (CLASS, "", 'x'),
    (EXPONENT, "vgetexpps", '1'),
    (FRACTION, "vgetmantps", 'i'),
    (REDUCE, "vreduceps", 'i'),
    (SCALE, "vscalefps", '2'),
    (RANGE, "vrangeps", 'I'),
    (FIXUP, "vfixupimmps", 'I'),
];

#[test]
fn every_row_has_a_shape() {
    assert_eq!(SHAPES.iter().map(|s| s.0).collect::<Vec<_>>(), ROWS.iter().map(|r| r.1).collect::<Vec<_>>());
}

#[test]
fn vector_forms() {
    let operands = [
        (Rm::Reg(30), "zmm30"),
        (Rm::Reg(5), "zmm5"),
        (Rm::Row(RBX, 0x140), "[rbx+140h]"),
        (Rm::Row(RBX, 0x141), "[rbx+141h]"),
        (Rm::Row(12, -64), "[r12-40h]"),
        (Rm::Row(RAX, 0x4000), "[rax+4000h]"),
        (Rm::Each(RBP, 8), "[rbp+8]{1to16}"),
        (Rm::Each(13, 0x4000), "[r13+4000h]{1to16}"),
    ];
    for &(op, name, shape) in SHAPES.iter().filter(|s| s.2 != 'x') {
        for (rm, text) in operands {
            for (reg, second) in [(17, 9), (2, 25), (8, 16)] {
                let each = text.contains("1to16");
                let imm = "iI".contains(shape).then_some(9);
                let second = if "2I".contains(shape) { second } else { 0 };
                let found = decoded(|asm| asm.evex(op, reg, second, rm, 0, false, imm));
                let expected = match shape {
                    '2' => format!("{name} zmm{reg},zmm{second},{text}"),
                    'I' => format!("{name} zmm{reg},zmm{second},{text},9"),
                    '1' if !each || [CVT_I32_F32, EXPONENT, SQRT].contains(&op) => format!("{name} zmm{reg},{text}"),
                    's' if !each => format!("{name} {text},zmm{reg}"),
                    'i' => format!("{name} zmm{reg},{text},9"),
                    'b' if each => format!("{name} zmm{reg},{}", text.replace("{1to16}", "")),
                    _ => continue,
                };
                assert_eq!(found, expected);
            }
        }
    }
}

/// Rows that only AVX-512 has.
const ONLY_512: &[V] = &[BLEND_MASK, CMP_I32, CLASS, EXPONENT, FRACTION, REDUCE, SCALE, RANGE, FIXUP];

#[test]
fn vector_forms_of_avx2() {
    let operands = [
        (Rm::Reg(14), "ymm14"),
        (Rm::Reg(5), "ymm5"),
        (Rm::Row(RBX, 0x40), "[rbx+40h]"),
        (Rm::Row(RBX, 0x4000), "[rbx+4000h]"),
        (Rm::Row(12, -64), "[r12-40h]"),
        (Rm::Each(RBP, 8), "[rbp+8]"),
        (Rm::Each(13, 0x4000), "[r13+4000h]"),
        // A literal is after the code, at a multiple of 32 bytes.
        (Rm::Literal(0x3f80_0000), "[20h]"),
    ];
    for &(op, name, shape) in SHAPES.iter().filter(|s| s.2 != 'x' && !ONLY_512.contains(&s.0)) {
        // Without masks the width of lanes does not matter.
        let name = match name {
            "vpandd" | "vpord" | "vpxord" => &name[..name.len() - 1],
            "vrndscaleps" => "vroundps",
            _ => name,
        };
        for (rm, text) in operands {
            for (reg, second) in [(7, 9), (2, 15), (13, 1)] {
                let imm = (shape == 'i').then_some(9);
                let second = if shape == '2' { second } else { 0 };
                let found = decoded_for(Isa::Avx2, |asm| asm.instruction(op, reg, second, rm, imm));
                let each = matches!(rm, Rm::Each(..));
                let expected = match shape {
                    '2' if !each => format!("{name} ymm{reg},ymm{second},{text}"),
                    '1' if !each => format!("{name} ymm{reg},{text}"),
                    's' if !each && !matches!(rm, Rm::Literal(_)) => format!("{name} {text},ymm{reg}"),
                    'i' if !each => format!("{name} ymm{reg},{text},9"),
                    'b' if each => format!("{name} ymm{reg},{text}"),
                    _ => continue,
                };
                assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn masks_of_avx2() {
    let table: &[Form] = &[
        ("vcmpunordps ymm13,ymm9,ymm14", |a| a.instruction(CMP_F32, 13, 9, Rm::Reg(14), Some(3))),
        ("vcmpge_oqps ymm15,ymm9,[rbx+40h]", |a| a.instruction(CMP_F32, 15, 9, Rm::Row(RBX, 64), Some(0x1d))),
        ("vpsrld ymm11,ymm3,17h", |a| a.instruction(SHIFT_IMM, 2, 11, Rm::Reg(3), Some(23))),
        ("vpsrad ymm1,ymm13,1", |a| a.instruction(SHIFT_IMM, 4, 1, Rm::Reg(13), Some(1))),
        ("vpslld ymm8,ymm4,17h", |a| a.instruction(SHIFT_IMM, 6, 8, Rm::Reg(4), Some(23))),
        ("vblendvps ymm7,ymm6,ymm2,ymm15", |a| a.blend(7, 15, Rm::Reg(2), 6)),
        ("vblendvps ymm7,ymm6,[rbx+40h],ymm13", |a| a.blend(7, 13, Rm::Row(RBX, 64), 6)),
        ("vmovmskps eax,ymm15", |a| a.signs(RAX, 15)),
        ("vmovmskps ecx,ymm3", |a| a.signs(RCX, 3)),
        ("vandps ymm1,ymm2,[20h]", |a| a.vector(AND_F32, 1, 2, Rm::LaneShifts(1))),
        ("vpsllvd ymm1,ymm12,[20h]", |a| a.vector(SHIFT_LEFT, 1, 12, Rm::LaneShifts(0))),
        ("vandnps ymm1,ymm12,ymm13", |a| a.vector(AND_NOT_F32, 1, 12, Rm::Reg(13))),
        ("vorps ymm1,ymm12,ymm3", |a| a.vector(OR_F32, 1, 12, Rm::Reg(3))),
        ("vpcmpgtd ymm1,ymm12,ymm3", |a| a.vector(GREATER_I32, 1, 12, Rm::Reg(3))),
        ("vpcmpeqd ymm1,ymm12,ymm3", |a| a.vector(EQUAL_I32, 1, 12, Rm::Reg(3))),
        ("vpbroadcastb ymm15,[rdi+48h]", |a| a.vex(BROADCAST_BYTE, 15, 0, Rm::Row(RDI, 72), None)),
    ];
    let mut seen = Vec::new();
    for (text, emit) in table {
        assert_eq!(&decoded_for(Isa::Avx2, emit), text);
        seen.extend(text.split(' ').next());
    }
    seen.extend(["vmovd", "vpbroadcastd"]);
    // Each row of these forms is in the table.
    let names: [(V, &str); 9] = [
        (AND_F32, "vandps"),
        (AND_NOT_F32, "vandnps"),
        (OR_F32, "vorps"),
        (SIGNS, "vmovmskps"),
        (FROM_INT, "vmovd"),
        (GREATER_I32, "vpcmpgtd"),
        (EQUAL_I32, "vpcmpeqd"),
        (BROADCAST_BYTE, "vpbroadcastb"),
        (BLEND, "vblendvps"),
    ];
    assert_eq!(names.map(|n| n.0).to_vec(), VEX_ROWS.iter().map(|r| r.1).collect::<Vec<_>>());
    assert!(names.iter().all(|(_, name)| seen.contains(name)));
    // Two instructions: the second one copies lane 0.
    let mut asm = Asm::new(Isa::Avx2);
    asm.spread(15, 12);
    asm.vector(AND_F32, 15, 15, Rm::LaneShifts(1));
    let bytes = asm.finish();
    let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    let mut text = String::new();
    for expected in ["vmovd xmm15,r12d", "vpbroadcastd ymm15,xmm15"] {
        text.clear();
        IntelFormatter::new().format(&decoder.decode(), &mut text);
        assert_eq!(text, expected);
    }
    let bits: Vec<u32> = bytes[32..].as_chunks::<4>().0.iter().map(|&dword| u32::from_le_bytes(dword)).collect();
    assert_eq!(bits, [23, 22, 21, 20, 19, 18, 17, 16]);
}

#[test]
fn masks_and_literals() {
    let table: &[Form] = &[
        ("vcmpunordps k1,zmm9,zmm30", |a| a.evex(CMP_F32, 1, 9, Rm::Reg(30), 0, false, Some(3))),
        ("vcmpeqps k2{k1},zmm20,zmm3", |a| a.evex(CMP_F32, 2, 20, Rm::Reg(3), 1, false, Some(0))),
        ("vpcmpltd k3,zmm1,zmm31", |a| a.evex(CMP_I32, 3, 1, Rm::Reg(31), 0, false, Some(1))),
        ("vfpclassps k3{k2},zmm17,18h", |a| a.evex(CLASS, 3, 0, Rm::Reg(17), 2, false, Some(0x18))),
        ("vpsrld zmm17,zmm30,17h", |a| a.evex(SHIFT_IMM, 2, 17, Rm::Reg(30), 0, false, Some(23))),
        ("vpsrad zmm1,zmm3,1", |a| a.evex(SHIFT_IMM, 4, 1, Rm::Reg(3), 0, false, Some(1))),
        ("vpslld zmm8,zmm24,17h", |a| a.evex(SHIFT_IMM, 6, 8, Rm::Reg(24), 0, false, Some(23))),
        ("vmovaps zmm7{k5},zmm22", |a| a.evex(MOVAPS, 7, 0, Rm::Reg(22), 5, false, None)),
        ("vaddps zmm7{k2}{z},zmm6,zmm22", |a| a.evex(ADD, 7, 6, Rm::Reg(22), 2, true, None)),
        ("kmovw k1,r12d", |a| a.mask_from(1, 12)),
        ("kortestw k1,k6", |a| a.mask_test_two(1, 6)),
        ("kmovw ecx,k3", |a| a.mask_to(RCX, 3)),
        ("kandnw k1,k2,k3", |a| a.mask_and_not(1, 2, 3)),
        ("korw k2,k2,k3", |a| a.mask_or(2, 2, 3)),
        ("kortestw k1,k1", |a| a.mask_test(1)),
        ("vgatherdps zmm17,k1,[rdi+zmm28*4+0Ch]", |a| a.gather(17, 1, RDI, 28, 12)),
        ("vgatherdps zmm3,k2,[r13+zmm9*4+8]", |a| a.gather(3, 2, 13, 9, 8)),
    ];
    for (text, emit) in table {
        assert_eq!(&decoded(emit), text);
    }
    // A literal is after the code: here 10 bytes of instruction, 2 of padding.
    let text = decoded(|asm| asm.evex(ADD, 17, 9, Rm::Literal(0x3f80_0000), 0, false, None));
    assert_eq!(text, "vaddps zmm17,zmm9,[0Ch]{1to16}");
    let text = decoded(|asm| asm.evex(CMP_F32, 1, 9, Rm::Literal(7), 0, false, Some(3)));
    assert_eq!(text, "vcmpunordps k1,zmm9,[0Ch]{1to16}");
}

#[test]
fn integer_forms() {
    let table: &[Form] = &[
        ("xor rdx,[rbx+40h]", |a| a.int_load(Int::Xor, true, RDX, RBX, 0x40)),
        ("or r14d,[rbx+1234h]", |a| a.int_load(Int::Or, false, 14, RBX, 0x1234)),
        ("mov [rbx+40h],r8d", |a| a.int_store(Int::Mov, false, RBX, 0x40, 8)),
        ("add [rdi+8],rax", |a| a.int_store(Int::Add, true, RDI, 8, RAX)),
        ("and [rbx+40h],ecx", |a| a.int_store(Int::And, false, RBX, 0x40, RCX)),
        ("mov r15d,7", |a| a.int_imm(15, 7)),
        ("cmp r15d,7", |a| a.int_op_imm(Int::Cmp, 15, 7)),
        ("and eax,0FFFFh", |a| a.int_op_imm(Int::And, RAX, 0xffff)),
        ("mov dword ptr [rbx+40h],7", |a| a.int_store_imm(Int::Mov, false, RBX, 0x40, 7)),
        ("sub qword ptr [rbx+28h],7", |a| a.int_store_imm(Int::Sub, true, RBX, 0x28, 7)),
        ("cmp dword ptr [rbx+40h],1", |a| a.int_store_imm(Int::Cmp, false, RBX, 0x40, 1)),
        ("test eax,ecx", |a| a.test(RAX, RCX)),
        ("test r8d,r8d", |a| a.test(8, 8)),
        ("test r15d,4", |a| a.test_imm(15, 4)),
        ("add rax,rbp", |a| a.wide(Int::Add, RAX, RBP)),
        ("mov rbx,rdi", |a| a.wide(Int::Mov, RBX, RDI)),
        ("imul rax,[rbx+18h],5", |a| a.multiply_wide(RAX, RBX, 0x18, 5)),
        ("sub r9,rax", |a| a.wide(Int::Sub, 9, RAX)),
        ("call qword ptr [rbx+10h]", |a| a.call(RBX, 0x10)),
        ("push r12", |a| a.push(12)),
        ("pop rbp", |a| a.pop(RBP)),
        ("add rsp,0FFFFFFFFFFFFFFF8h", |a| a.move_stack(-8)),
        ("ret", Asm::ret),
        ("vzeroupper", Asm::zero_upper),
    ];
    for (text, emit) in table {
        assert_eq!(&decoded(emit), text);
    }
}

#[test]
fn jumps_go_where_labels_are() {
    let mut asm = Asm::new(Isa::Avx512);
    let (back, on) = (asm.label(), asm.label());
    asm.place(back);
    asm.jump_if(Cond::NotEqual, on);
    asm.jump(back);
    asm.place(on);
    asm.ret();
    assert_eq!(asm.finish()[..12], [0x0f, 0x85, 5, 0, 0, 0, 0xe9, 0xf5, 0xff, 0xff, 0xff, 0xc3]);
}
