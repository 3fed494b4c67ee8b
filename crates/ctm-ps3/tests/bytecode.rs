//! Byte code: output of an independent assembler for our shaders, names of its constant table, and malformed input.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_isa::x1k::program::SymbolKind;
use ctm_ps3::bytecode::disassemble;
use ctm_ps3::{Options, compile, compile_bytecode};
use std::collections::BTreeMap;

fn blocks(text: &str) -> BTreeMap<String, String> {
    let mut list: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().filter(|line| !line.starts_with("; ")) {
        match line.strip_prefix("# ") {
            Some(new) => new.clone_into(&mut name),
            None => *list.entry(name.clone()).or_default() += &format!("{line}\n"),
        }
    }
    list
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().flat_map(|w| u32::from_str_radix(w, 16).unwrap().to_le_bytes()).collect()
}

#[test]
fn byte_code_is_the_text_that_it_was_made_of() {
    let texts = blocks(include_str!("shaders.txt"));
    let codes = blocks(include_str!("bytecode.txt"));
    assert!(codes.len() >= 20);
    for (name, hex) in codes {
        let text = &texts[&name];
        let (listing, compiled) = compile_bytecode(&bytes(&hex), &Options::default()).unwrap();
        let program =
            compiled.program.unwrap_or_else(|| panic!("{name}: {:?}\n{}", compiled.diagnostics, listing.text));
        let wanted = compile(text, &Options::default()).program.unwrap();
        assert_eq!(program.words, wanted.words, "{name}\n{}\n{text}", listing.text);
        let literals = |p: &ctm_isa::x1k::Program| format!("{:?}", p.literals);
        assert_eq!(literals(&program), literals(&wanted), "{name}");
        // That assembler leaves the usage out of declarations of ps_3_0, so which interpolant a register is says the test below.
    }
}

/// Assembled by MojoShader, with three symbols.
const NAMED: &str = "
ffff0200 0032fffe 42415443 0000001c 0000001c ffff0200 00000003 00000088 00000000 00000044 6f6a6f4d 64616853 72207265 73697665 206e6f69 312d6768
3a343133 64646433 61636639 66343636 63695000 65727574 0c000400 01000100 00000100 fffffc00 6e6954ff 00010074 00010003 00010004 fffc0000 6142ffff
00736973 00030003 00040004 00000001 fffffffc 00000045 00000003 00000001 0000004d 00000000 0000005d 00000002 00000001 00000062 00000000 00000072
00020002 00000004 00000078 00000000 0200001f 80000000 b0030000 0200001f 80000000 900f0000 0200001f 90000000 a00f0800 05000051 a00f0001 3f000000
40000000 bf800000 3e800000 03000042 800f0000 b0e40000 a0e40800 04000004 801f0000 80e40000 a0e40000 90e40000 03000005 80270001 80e40000 a0550001
03000014 800f0002 80e40000 a0e40002 0400005a 80080001 80e40000 80e40002 a0aa0001 03000002 800f0000 81e40001 80e40002 02000001 800f0800 80e40000
0000ffff";

#[test]
fn the_constant_table_names_registers() {
    let (listing, compiled) = compile_bytecode(&bytes(NAMED), &Options::default()).unwrap();
    assert_eq!(
        listing.text,
        "ps_2_0
// names of registers:
//   s0  Picture
//   c0  Tint
//   c2-c5  Basis
dcl t0.xy
dcl v0
dcl_2d s0
def c1, 0.5, 2.0, -1.0, 0.25
texld r0, t0, s0
mad_sat r0, r0, c0, v0
mul_pp r1.xyz, r0, c1.y
m4x4 r2, r0, c2
dp2add r1.w, r0, r2, c1.z
add r0, -r1, r2
mov oC0, r0
"
    );
    let program = compiled.program.unwrap();
    let mut names: Vec<(SymbolKind, u8, &str)> =
        program.symbols.iter().map(|s| (s.kind, s.index, s.name.as_str())).collect();
    names.sort_by_key(|n| (n.1, n.2));
    let wanted = [
        (SymbolKind::Input, 0, "Picture"),
        (SymbolKind::Float, 0, "Tint"),
        (SymbolKind::Output, 0, "oC0"),
        (SymbolKind::Float, 2, "Basis[0]"),
        (SymbolKind::Float, 3, "Basis[1]"),
        (SymbolKind::Float, 4, "Basis[2]"),
        (SymbolKind::Float, 5, "Basis[3]"),
    ];
    assert_eq!(names, wanted);
}

/// The parts that the assembler above does not take: predicates, relative addresses, counters, calls, comparisons; by the layout of the codes.
#[test]
fn every_field_has_its_text() {
    #[rustfmt::skip]
    let words = [
        0xffff_0300u32,
        // dcl_texcoord2_centroid v0.xy
        0x0200_001f, 0x8002_0005, 0x9043_0000,
        // dcl_2d s3
        0x0200_001f, 0x9000_0000, 0xa00f_0803,
        // dcl vPos.xy, dcl vFace
        0x0200_001f, 0x8000_0000, 0x9003_1000,
        0x0200_001f, 0x8000_0000, 0x900f_1001,
        // defi i2, 3, 0, -1, 0; defb b1, true
        0x0500_0030, 0xf00f_0002, 3, 0, 0xffff_ffff, 0,
        0x0200_002f, 0xe00f_0801, 1,
        // setp_lt p0.xy, v0, -c1.x
        0x0304_005e, 0xb003_1000, 0x90e4_0000, 0xa100_0001,
        // (!p0.y) mov_sat r1, v0_abs
        0x1300_0001, 0x801f_0001, 0xbd55_1000, 0x9be4_0000,
        // if_ge r1.x, -r1_abs.y
        0x0203_0029, 0x8000_0001, 0x8c55_0001,
        // loop aL, i2
        0x0200_001b, 0xf0e4_0800, 0xf0e4_0002,
        // add r1, r1, v[aL+1]
        0x0400_0002, 0x800f_0001, 0x80e4_0001, 0x90e4_2001, 0xf0e4_0800,
        // breakp p0.x
        0x0100_0060, 0xb000_1000,
        0x0000_001d,
        0x0000_002a,
        // callnz l7, !b1
        0x0200_001a, 0xa0e4_1007, 0xede4_0801,
        0x0000_002b,
        // texldp r2, r1, s3.xyzw; texldb; texkill r2
        0x0301_0042, 0x800f_0002, 0x80e4_0001, 0xa0e4_0803,
        0x0302_0042, 0x800f_0002, 0x80e4_0001, 0xa01b_0803,
        0x0100_0041, 0x800f_0002,
        // mov oDepth, vFace; mov oC1.w, vPos.x
        0x0200_0001, 0x900f_0800, 0x90e4_1001,
        0x0200_0001, 0x8008_0801, 0x9000_1000,
        0x0000_001c,
        // label l7
        0x0100_001e, 0xa0e4_1007,
        0x0000_001c,
        0x0000_ffff,
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(
        disassemble(&bytes).unwrap().text,
        "ps_3_0
dcl_texcoord2_centroid v0.xy
dcl_2d s3
dcl vPos.xy
dcl vFace
defi i2, 3, 0, -1, 0
defb b1, true
setp_lt p0.xy, v0, -c1.x
(!p0.y) mov_sat r1, v0_abs
if_ge r1.x, -r1_abs.y
    loop aL, i2
        add r1, r1, v[aL+1]
        breakp p0.x
    endloop
else
    callnz l7, !b1
endif
texldp r2, r1, s3
texldb r2, r1, s3.wzyx
texkill r2
mov oDepth, vFace
mov oC1.w, vPos.x
ret
label l7
ret
"
    );
}

#[test]
fn what_is_no_byte_code_is_refused_in_its_place() {
    for (words, message) in [
        (vec![], "dword 0 (byte 0): 0x00000000 is no version"),
        (vec![0xfffe_0300, 0xffff], "dword 0 (byte 0): a vertex shader"),
        (vec![0xffff_0104, 0xffff], "version 1.4; pixel shaders of versions 2 and 3"),
        (vec![0xffff_0300], "dword 1 (byte 4): the end (0x0000ffff) is missing"),
        (vec![0xffff_0300, 0x0200_0001, 0x800f_0000], "dword 1 (byte 4): 2 dwords should follow, there are 1"),
        (vec![0xffff_0300, 0x7fff_fffe, 0xffff], "32767 dwords should follow, there are 1"),
        (vec![0xffff_0300, 0x0000_0011, 0xffff], "17 is no opcode of pixel shaders"),
        (vec![0xffff_0300, 0x0100_0001, 0x000f_0000, 0xffff], "0x000f0000 is no operand"),
        (vec![0xffff_0300, 0x0000_0001, 0xffff], "operand 0 of opcode 1 is missing"),
        (vec![0xffff_0300, 0x0200_0001, 0x800f_0000, 0x82e4_0000, 0xffff], "source modifier 2; it belongs to ps_1_x"),
        (vec![0xffff_0300, 0x0200_0001, 0x810f_0000, 0x80e4_0000, 0xffff], "a destination with a shift"),
        (vec![0xffff_0300, 0x0200_0001, 0x8000_0000, 0x80e4_0000, 0xffff], "an empty mask"),
        (vec![0xffff_0300, 0x0200_0001, 0x800f_0000, 0xc0e4_1800, 0xffff], "register 0 of file 28 is none"),
        (vec![0xffff_0300, 0x0307_005e, 0xb00f_1000, 0x80e4_0000, 0x80e4_0000, 0xffff], "7 is no comparison"),
    ] {
        let bytes: Vec<u8> = words.iter().flat_map(|w: &u32| w.to_le_bytes()).collect();
        let found = disassemble(&bytes).unwrap_err().message;
        assert!(found.contains(message), "{found}\nnot {message}");
    }
}

/// Damaged byte code gives text or an error, and text gives a program or findings.
#[test]
fn damaged_byte_code_does_no_harm() {
    let whole = bytes(NAMED);
    let mut state = 1u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % limit
    };
    let mut compiled = 0;
    for _ in 0..3000 {
        let mut damaged = whole.clone();
        for _ in 0..1 + below(3) {
            let at = below(damaged.len());
            damaged[at] ^= 1 << below(8);
        }
        damaged.truncate(if below(4) == 0 { below(damaged.len()) } else { damaged.len() });
        compiled += usize::from(compile_bytecode(&damaged, &Options::default()).is_ok_and(|c| c.1.program.is_some()));
    }
    assert!(compiled > 300, "{compiled}");
}
