//! Mistakes that are planted in a driver's stream, and the rule that finds each.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_radeon::Relocation;
use ctm_radeon::capture::Submission;
use ctm_radeon::replay::Replay;
use ctm_radeon::{check, text};
use std::path::Path;

/// The second submission of a capture, which draws with the program: its text, relocations and the findings for a text in its place.
fn drawing(name: &str) -> (String, Vec<Relocation>, Replay<std::fs::File>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
    let mut replay = Replay::new(std::fs::File::open(path).unwrap(), Box::new(ctm_exec::Interp)).unwrap();
    let _clear = replay.read().unwrap().unwrap();
    let submission: Submission = replay.read().unwrap().unwrap();
    let relocations = replay.relocations(&submission);
    (text::disassemble(&submission.words, &relocations), relocations, replay)
}

/// Replaces the first line that begins so: the beginning stays, the rest is replaced.
fn with(shown: &str, from: &str, to: &str) -> String {
    let at = shown.lines().position(|line| line.contains(from)).unwrap_or_else(|| panic!("no line has {from}"));
    let lines: Vec<String> =
        shown.lines().enumerate().map(|(n, line)| if n == at { to.to_owned() } else { line.to_owned() }).collect();
    lines.join("\n")
}

#[test]
fn planted_errors_are_found() {
    let table: &[(&str, &str, &str, &str)] = &[
        (
            "tex2d",
            "CB_COLOR0_INFO =",
            "    CB_COLOR0_INFO = {FORMAT: FMT_BC1, ARRAY_MODE: LINEAR_ALIGNED}",
            "target-format",
        ),
        (
            "tex2d",
            "CB_COLOR0_INFO =",
            "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: 3B_TILED_THICK}",
            "target-format",
        ),
        (
            "tex2d",
            "CB_COLOR0_SIZE =",
            "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 1023, SLICE_TILE_MAX: 1048575}",
            "target-outside-buffer",
        ),
        ("tex2d", "CB_COLOR0_BASE =", "    CB_COLOR0_BASE = 0xffff", "target-outside-buffer"),
        ("tex2d", "SQ_PGM_START_PS =", "    SQ_PGM_START_PS = 0xf", "program-outside-buffer"),
        ("tex2d", "SQ_PGM_RESOURCES_PS =", "    SQ_PGM_RESOURCES_PS = {NUM_GPRS: 0, DX10_CLAMP: 1}", "few-registers"),
        ("tex2d", "SPI_PS_INPUT_CNTL_0 =", "    SPI_PS_INPUT_CNTL_0 = {SEMANTIC: 77}", "unmet-semantic"),
        ("tex2d", "    CB_SHADER_MASK =", "    CB_SHADER_MASK = 0", "export-without-target"),
        ("discard", "DB_SHADER_CONTROL =", "    DB_SHADER_CONTROL = {Z_ORDER: 1}", "ignored-kill"),
        (
            "tex2d",
            "SQ_TEX_RESOURCE_WORD0_18 =",
            "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: LINEAR_ALIGNED, PITCH: 1023, TEX_WIDTH: 8191}",
            "texture-outside-buffer",
        ),
        (
            "tex2d",
            "SQ_TEX_RESOURCE_WORD0_18 =",
            "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 3D_TILED_THICK, PITCH: 7, TEX_WIDTH: 15}",
            "texture-format",
        ),
        ("tex2d", "SQ_TEX_RESOURCE_WORD6_18 =", "    SQ_TEX_RESOURCE_WORD6_18 = 0", "resource-type"),
        ("tex2d", "SQ_VTX_CONSTANT_WORD1_320 =", "    SQ_VTX_CONSTANT_WORD1_320 = 0xffffffff", "buffer-outside-buffer"),
        (
            "tex2d",
            "DRAW_INDEX_AUTO",
            "DRAW_INDEX word=0xfff000, word=0x0, word=4000000, word=0\nRELOC 0",
            "indices-outside-buffer",
        ),
        ("tex2d", "DRAW_INDEX_AUTO", "DRAW_INDEX_AUTO count=4", "packet-length"),
        ("tex2d", "RELOC 0", "", "missing-relocation"),
        ("tex2d", "RELOC 0", "RELOC 4000", "bad-relocation"),
        ("tex2d", "RELOC 0", "NOP word=0x2", "bad-relocation"),
        ("tex2d", "NUM_INSTANCES", "NUM_INSTANCES count=1\nRELOC 0", "extra-relocation"),
        ("tex2d", "NUM_INSTANCES", "PACKET 0x33 word=1", "unknown-packet"),
        ("tex2d", "NUM_INSTANCES", "START_3D_CMDBUF zero=0", "refused-packet"),
        ("tex2d", "NUM_INSTANCES", "REGISTERS\n    CB_COLOR0_INFO = 0", "register-packet"),
        ("tex2d", "NUM_INSTANCES", "SET_CONTEXT_REG\n    0x28ffc = 0", "unknown-register"),
        ("tex2d", "NUM_INSTANCES", "SET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_OFFSET_0 = 0", "refused-register"),
        ("tex2d", "NUM_INSTANCES", "SET_CONTEXT_REG word=0x3ff, word=0, word=0", "register-range"),
        ("tex2d", "NUM_INSTANCES", "SET_PREDICATION address=0, control={OP: 3}", "bad-predication"),
        (
            "tex2d",
            "NUM_INSTANCES",
            "WAIT_REG_MEM control={FUNCTION: EQUAL, PFP: 1}, address=0, high=0, reference=0, mask=0, interval=1",
            "bad-wait",
        ),
        ("tex2d", "NUM_INSTANCES", "MEM_WRITE address=0x4, control=0, low=1, high=0\nRELOC 0", "unaligned-write"),
        ("tex2d", "NUM_INSTANCES", "MEM_WRITE address=0xfffff8, control=0, low=1, high=0\nRELOC 0", "outside-buffer"),
        (
            "tex2d",
            "NUM_INSTANCES",
            "CP_DMA source=0, source_high=0, destination=0, destination_high=0, command={BYTES: 16, SAS: 1}\nRELOC 0\nRELOC 0",
            "bad-copy",
        ),
        ("tex2d", "NUM_INSTANCES", "STRMOUT_BASE_UPDATE buffer=4, base=0\nRELOC 0", "stream-base"),
        ("tex2d", "NUM_INSTANCES", ".word 0x40000000", "bad-packet"),
        ("tex2d", "NUM_INSTANCES", ".word 0xffff2f00", "bad-packet"),
    ];
    let mut planted = 0;
    for (name, from, to, rule) in table {
        let (shown, relocations, replay) = drawing(&format!("{name}.capture"));
        let words = text::assemble(&with(&shown, from, to)).unwrap_or_else(|errors| panic!("{to}: {errors:?}"));
        let found = check::check(&words, Some(&relocations), Some(&replay.memory()));
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        assert!(rules.contains(rule), "{to}: {rule} is expected, found is {found:?}");
        planted += 1;
    }
    assert!(planted >= 30);
}

#[test]
fn inputs_and_exports_that_do_not_meet() {
    let (shown, relocations, replay) = drawing("varying.capture");
    let find = |shown: &str| {
        let words = text::assemble(shown).unwrap();
        check::check(&words, Some(&relocations), Some(&replay.memory()))
    };
    // A second parameter with the number of the first.
    let semantic = shown.lines().find(|line| line.contains("SPI_VS_OUT_ID_0 =")).unwrap();
    let number = semantic.split("SEMANTIC_0: ").nth(1).unwrap().split(['}', ',']).next().unwrap();
    let twice = format!("    SPI_VS_OUT_ID_0 = {{SEMANTIC_0: {number}, SEMANTIC_1: {number}}}");
    let changed = with(&shown, "SPI_VS_OUT_ID_0 =", &twice);
    let changed = with(&changed, "SPI_VS_OUT_CONFIG =", "    SPI_VS_OUT_CONFIG = {VS_EXPORT_COUNT: 1}");
    assert!(find(&changed).iter().any(|finding| finding.rule == "same-semantic"));
    // The position and the face in one register.
    let changed = with(
        &shown,
        "SPI_PS_IN_CONTROL_0 =",
        "    SPI_PS_IN_CONTROL_0 = {NUM_INTERP: 1, POSITION_ENA: 1, POSITION_ADDR: 1}",
    );
    let changed =
        with(&changed, "SPI_PS_IN_CONTROL_1 =", "    SPI_PS_IN_CONTROL_1 = {FRONT_FACE_ENA: 1, FRONT_FACE_ADDR: 1}");
    assert!(find(&changed).iter().any(|finding| finding.rule == "shared-input"));
}

#[test]
fn targets_that_nothing_is_exported_to() {
    let (shown, relocations, replay) = drawing("const_color.capture");
    let find = |shown: &str| -> Vec<&str> {
        let words = text::assemble(shown).unwrap();
        check::check(&words, Some(&relocations), Some(&replay.memory())).iter().map(|finding| finding.rule).collect()
    };
    let masks = with(&shown, "    CB_TARGET_MASK =", "    CB_TARGET_MASK = {OUTPUT0_ENABLE: 15, OUTPUT1_ENABLE: 15}");
    // A mask alone writes nothing.
    assert!(!find(&masks).contains(&"target-without-export"));
    let target = "SET_CONTEXT_REG\n    CB_SHADER_MASK = {OUTPUT0_ENABLE: 15, OUTPUT1_ENABLE: 15}\n\
                  SET_CONTEXT_REG\n    CB_SHADER_CONTROL = 3\n\
                  SET_CONTEXT_REG\n    CB_COLOR1_INFO = {FORMAT: FMT_32_32_32_32_FLOAT, ARRAY_MODE: LINEAR_ALIGNED}\n\
                  SET_CONTEXT_REG\n    CB_COLOR1_BASE = 0x0\nRELOC 0\n\
                  SET_CONTEXT_REG\n    CB_COLOR1_SIZE = {PITCH_TILE_MAX: 7, SLICE_TILE_MAX: 63}\nNUM_INSTANCES count=1";
    assert_eq!(find(&with(&masks, "NUM_INSTANCES", target)), ["target-without-export"]);
}

/// Without relocations and memory a stream is checked as far as its words go.
#[test]
fn words_alone_are_checked() {
    let (shown, ..) = drawing("varying.capture");
    assert_eq!(check::check(&text::assemble(&shown).unwrap(), None, None), []);
    assert_eq!(check::check(&[0x4000_0000], None, None)[0].rule, "bad-packet");
}
