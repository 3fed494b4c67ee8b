//! Recognition and description of files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_image::info::{InfoValue, describe};
use ctm_image::{Kind, ctm_elf, hex, identify};
use ctm_isa::x1k::program::{Literal, Symbol, SymbolKind};
use ctm_testkit::seeded::Random;

const MANDELBROT: &str = include_str!("corpus/x1k/mandelbrot.hex");

fn elf() -> Vec<u8> {
    let mut program = hex::read(MANDELBROT).unwrap();
    program.symbols = vec![Symbol { name: "view \"x\"".to_owned(), kind: SymbolKind::Float, index: 3 }];
    program.literals = vec![Literal::Float { index: 1, bits: [0x3f80_0000, 0x7f80_0000, 0, 0xbf00_0000] }];
    ctm_elf::write(&program).unwrap()
}

#[test]
fn kinds_are_recognised() {
    let mut cal = elf();
    (cal[7], cal[18]) = (100, 125);
    let mut other = elf();
    other[18] = 62;
    for (bytes, kind) in [
        (elf(), Kind::CtmElf),
        (elf()[..60].to_vec(), Kind::CtmElf),
        (cal, Kind::Cal),
        (other, Kind::OtherElf),
        (b"\x7fELF".to_vec(), Kind::OtherElf),
        (b"Gfx2\0\0\0\x20".to_vec(), Kind::Gfd),
        (MANDELBROT.into(), Kind::X1kHex),
        (b"; two a line\n00000004 a0300000\nc0000000 94200688\n".to_vec(), Kind::R700Hex),
        (b"; $MODE = \"UniformRegister\"\n\n00 CALL_FS NO_BARRIER\nEND_OF_PROGRAM\n".to_vec(), Kind::R700Text),
        (b"00 ALU: ADDR(32) CNT(13) KCACHE0(CB1:0-15)\n      0  x: MUL R1.x, R0.x, 1.0f\n".to_vec(), Kind::R700Text),
        (b"ps_3_0\ndcl_texcoord v0\n".to_vec(), Kind::Ps3Text),
        (b"; c\n.input map = s0\n mov r0, r1\n".to_vec(), Kind::X1kText),
        (b"start: mov r0, r1\n".to_vec(), Kind::X1kText),
        (b"  (p.rgba) mad r0, r1, r2, r3\n".to_vec(), Kind::X1kText),
        (b"mad r0, r1, r2, r3\n".to_vec(), Kind::X1kText),
        (b"isa = \"x1k\"\n".to_vec(), Kind::Unknown),
        (b"[run]\n".to_vec(), Kind::Unknown),
        (b"".to_vec(), Kind::Unknown),
        (b"\xff\xfe\0".to_vec(), Kind::Unknown),
    ] {
        assert_eq!(identify(&bytes), kind, "{}", String::from_utf8_lossy(&bytes));
    }
}

fn path<'v>(value: &'v InfoValue, names: &[&str]) -> &'v InfoValue {
    names.iter().fold(value, |v, name| v.get(name).unwrap_or_else(|| panic!("no {name}")))
}

#[test]
fn an_executable_is_described() {
    let value = describe(&elf()).unwrap().to_value();
    assert_eq!(path(&value, &["kind"]), &InfoValue::from("ctm-elf"));
    assert_eq!(path(&value, &["header", "e_machine"]), &InfoValue::Number(122));
    assert_eq!(path(&value, &["program information", "US_FC_CTRL", "FULL_FC_EN"]), &InfoValue::Flag(true));
    assert_eq!(path(&value, &["program information", "US_CODE_ADDR", "END_ADDR"]), &InfoValue::Number(25));
    assert_eq!(path(&value, &["program information", "RS_INST_0", "COL_CN"]), &InfoValue::from("FBUFFER_XY00"));
    assert_eq!(path(&value, &["notes", "outputs"]), &InfoValue::List(vec![InfoValue::Number(0)]));
    assert_eq!(path(&value, &["program", "instructions"]), &InfoValue::Number(26));
    let types = path(&value, &["program", "statistics", "types"]);
    let total: u64 = match types {
        InfoValue::Record(fields) => {
            fields.iter().map(|(_, v)| if let InfoValue::Number(n) = v { *n } else { 0 }).sum()
        }
        _ => 0,
    };
    assert_eq!(total, 26);
    let text = value.to_text();
    for line in
        ["kind: ctm-elf\n", "e_ident[EI_OSABI] 98,", "  US_CONFIG: word 0x00000000", "preloads: r0 = (i, j, 0, 0)\n"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let json = value.to_json();
    assert!(json.contains(r#""symbols":[{"name":"view \"x\"","is":"c3"}]"#), "{json}");
    assert!(json.contains(r#"{"name":"c1","value":[1.0,null,0.0,-0.5]}"#), "{json}");
}

#[test]
fn bare_words_are_described() {
    let value = describe(MANDELBROT.as_bytes()).unwrap().to_value();
    assert_eq!(path(&value, &["kind"]), &InfoValue::from("x1k-hex"));
    assert_eq!(path(&value, &["program", "usage", "needs full flow control"]), &InfoValue::Flag(true));
    assert_eq!(
        describe(b"?").unwrap_err().to_string(),
        "the file is of no known kind, not a program image, words in hexadecimal, or assembly"
    );
}

#[test]
fn changed_and_random_files_do_not_panic() {
    let file = elf();
    let mut random = Random::new(5);
    for _ in 0..5000 {
        let mut bad = file.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bad.len());
            bad[at] = random.word() as u8;
        }
        if let Ok(description) = describe(&bad) {
            let value = description.to_value();
            let _ = (value.to_text(), value.to_json());
        }
        let noise: Vec<u8> = (0..random.below(64)).map(|_| random.word() as u8).collect();
        let _ = (identify(&noise), describe(&noise));
    }
}
