//! Every rule of the kernel's checker, each with a driver's stream that is changed so that it breaks the rule. Truth: the checker of the kernel's radeon driver.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_radeon::Relocation;
use ctm_radeon::check::{self, RULES};
use ctm_radeon::replay::Replay;
use ctm_radeon::text;
use std::collections::BTreeSet;
use std::path::Path;

/// The rules that a stream breaks: the second submission of a capture with lines changed. Each change replaces the first line that has its beginning.
fn broken(capture: &str, changes: &[(&str, &str)]) -> BTreeSet<&'static str> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(format!("{capture}.capture"));
    let mut replay = Replay::new(std::fs::File::open(path).unwrap(), Box::new(ctm_exec::Interp)).unwrap();
    let mut submission = replay.read().unwrap().unwrap();
    // Scenes draw in their first submission.
    if !capture.starts_with("scenes") {
        submission = replay.read().unwrap().unwrap();
    }
    let relocations: Vec<Relocation> = replay.relocations(&submission);
    let mut shown = text::disassemble(&submission.words, &relocations);
    for (from, to) in changes {
        let line = shown.lines().find(|line| line.contains(from)).unwrap_or_else(|| panic!("no line has {from}"));
        shown = shown.replacen(&line.to_owned(), to, 1);
    }
    let words = text::assemble(&shown).unwrap_or_else(|errors| panic!("{changes:?}: {errors:?}"));
    check::check(&words, Some(&relocations), Some(&replay.memory())).iter().map(|finding| finding.rule).collect()
}

/// A packet in front of the draw.
const BEFORE: &str = "NUM_INSTANCES";

type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("tex2d", &[(BEFORE, ".word 0x40000000")], "bad-packet"),
    ("tex2d", &[(BEFORE, "REGISTERS\n    CB_COLOR0_INFO = 0")], "register-packet"),
    ("tex2d", &[(BEFORE, "PACKET 0x33 word=1")], "unknown-packet"),
    ("tex2d", &[(BEFORE, "START_3D_CMDBUF zero=0")], "refused-packet"),
    ("tex2d", &[(BEFORE, "SURFACE_BASE_UPDATE mask=0")], "refused-packet"),
    ("tex2d", &[("DRAW_INDEX_AUTO", "DRAW_INDEX_AUTO count=4")], "packet-length"),
    ("tex2d", &[(BEFORE, "CONTEXT_CONTROL load=0")], "packet-length"),
    ("tex2d", &[("RELOC 0", "")], "missing-relocation"),
    ("tex2d", &[("RELOC 0", "RELOC 4000")], "bad-relocation"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG word=0x3ff, word=0, word=0")], "register-range"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    0x28ffc = 0")], "unknown-register"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_OFFSET_0 = 0")], "refused-register"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_DMA_INDEX_TYPE = 0")], "refused-register"),
    ("tex2d", &[(BEFORE, "SET_PREDICATION address=0, control={OP: 3}")], "bad-predication"),
    ("tex2d", &[(BEFORE, "WAIT_REG_MEM control={FUNCTION: EQUAL, PFP: 1}, address=0, high=0, reference=0, mask=0, interval=1")], "bad-wait"),
    ("tex2d", &[(BEFORE, "CP_DMA source=0, source_high=0, destination=0, destination_high=0, command={BYTES: 16, SAS: 1}\nRELOC 0\nRELOC 0")], "bad-copy"),
    ("tex2d", &[(BEFORE, "CP_DMA source=0, source_high=0, destination=0, destination_high=0, command={BYTES: 16, DAIC: 1}\nRELOC 0\nRELOC 0")], "bad-copy"),
    // A register with an address, one whose value is remembered, and one that programs may not write; as source and as destination.
    ("tex2d", &[(BEFORE, "COPY_DW control={DST_MEM: 1}, source=0xa010, source_high=0, destination=0, destination_high=0\nRELOC 0")], "copied-register"),
    ("tex2d", &[(BEFORE, "COPY_DW control={SRC_MEM: 1}, source=0, source_high=0, destination=0xa08e, destination_high=0\nRELOC 0")], "copied-register"),
    ("tex2d", &[(BEFORE, "COPY_DW control={SRC_MEM: 1}, source=0, source_high=0, destination=0x2140, destination_high=0\nRELOC 0")], "copied-register"),
    ("tex2d", &[(BEFORE, "MEM_WRITE address=0x4, control=0, low=1, high=0\nRELOC 0")], "unaligned-write"),
    ("tex2d", &[(BEFORE, "MEM_WRITE address=0xfffff8, control=0, low=1, high=0\nRELOC 0")], "outside-buffer"),
    ("tex2d", &[(BEFORE, "COPY_DW control={DST_MEM: 1}, source=0xa2cb, source_high=0, destination=0xfffffc, destination_high=0\nRELOC 0")], "outside-buffer"),
    ("tex2d", &[(BEFORE, "STRMOUT_BUFFER_UPDATE control={STORE_FILLED_SIZE: 1}, destination=0xfffffc, destination_high=0, source=0, source_high=0\nRELOC 0")], "outside-buffer"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD6_18 =", "    SQ_TEX_RESOURCE_WORD6_18 = 0")], "resource-type"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 5, PITCH: 7, TEX_WIDTH: 15}")], "texture-format"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD1_18 =", "    SQ_TEX_RESOURCE_WORD1_18 = {TEX_HEIGHT: 15, DATA_FORMAT: 36}")], "texture-format"),
    // 8 texels a row: 64 in LINEAR_ALIGNED, 32 in 2D tiles.
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 1, PITCH: 0, TEX_WIDTH: 7}")], "texture-alignment"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 4, PITCH: 0, TEX_WIDTH: 7}")], "texture-alignment"),
    // The first byte of level 0, and of level 1: 2D tiles begin with whole macro tiles.
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 4, PITCH: 7, TEX_WIDTH: 7}"), ("SQ_TEX_RESOURCE_WORD2_18 =", "    SQ_TEX_RESOURCE_WORD2_18 = 0x1")], "texture-alignment"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: 4, PITCH: 7, TEX_WIDTH: 7}"), ("SQ_TEX_RESOURCE_WORD3_18 =", "    SQ_TEX_RESOURCE_WORD3_18 = 0x1")], "texture-alignment"),
    ("tex2d", &[("SQ_TEX_RESOURCE_WORD0_18 =", "    SQ_TEX_RESOURCE_WORD0_18 = {DIM: 2D, TILE_MODE: LINEAR_ALIGNED, PITCH: 1023, TEX_WIDTH: 8191}")], "texture-outside-buffer"),
    ("tex2d", &[(BEFORE, "STRMOUT_BASE_UPDATE buffer=4, base=0\nRELOC 0")], "stream-base"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_BASE_0 = 0x0\nRELOC 0\nSTRMOUT_BASE_UPDATE buffer=0, base=0x1\nRELOC 0")], "stream-base"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_BASE_0 = 0x100000\nRELOC 0\nSTRMOUT_BASE_UPDATE buffer=0, base=0x100000\nRELOC 0")], "stream-base"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_STRMOUT_EN = 1\nSET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_EN = 1\nSET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_SIZE_0 = 0xffffff\nSET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_BASE_0 = 0x0\nRELOC 0")], "stream-outside-buffer"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    VGT_STRMOUT_EN = 1\nSET_CONTEXT_REG\n    VGT_STRMOUT_BUFFER_EN = 1")], "target-without-buffer"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    CB_COLOR1_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: LINEAR_ALIGNED}\nSET_CONTEXT_REG\n    CB_TARGET_MASK = {OUTPUT0_ENABLE: 15, OUTPUT1_ENABLE: 15}")], "target-without-buffer"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    DB_DEPTH_INFO = {FORMAT: 1, ARRAY_MODE: 2}\nSET_CONTEXT_REG\n    DB_DEPTH_CONTROL = {Z_ENABLE: 1}")], "target-without-buffer"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_BC1, ARRAY_MODE: LINEAR_ALIGNED}")], "target-format"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: 3}")], "target-format"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: LINEAR_ALIGNED, TILE_MODE: 3}")], "target-format"),
    ("tex2d", &[(BEFORE, "SET_CONTEXT_REG\n    DB_DEPTH_INFO = {FORMAT: 1, ARRAY_MODE: 1}\nSET_CONTEXT_REG\n    DB_DEPTH_CONTROL = {Z_ENABLE: 1}\nSET_CONTEXT_REG\n    DB_DEPTH_SIZE = 0")], "target-format"),
    // A pitch of 8 in LINEAR_ALIGNED, 36 rows in 2D tiles of 8, and a first byte that is no macro tile's.
    ("tex2d", &[("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 0, SLICE_TILE_MAX: 0}")], "target-alignment"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: 4}"), ("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 7, SLICE_TILE_MAX: 35}")], "target-alignment"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: 4}"), ("CB_COLOR0_BASE =", "    CB_COLOR0_BASE = 0x1")], "target-alignment"),
    ("tex2d", &[("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 1023, SLICE_TILE_MAX: 1048575}")], "target-outside-buffer"),
    // LINEAR_ALIGNED is measured: only LINEAR_GENERAL may have too many rows.
    ("tex2d", &[("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 7, SLICE_TILE_MAX: 64}")], "target-outside-buffer"),
    ("tex2d", &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_8_8_8_8, ARRAY_MODE: LINEAR_ALIGNED, TILE_MODE: CLEAR_ENABLE}"), ("CB_COLOR0_MASK =", "    CB_COLOR0_MASK = {CMASK_BLOCK_MAX: 4095}")], "compression-outside-buffer"),
];

#[test]
fn each_rule_of_the_kernel_is_broken_by_a_stream() {
    for (capture, changes, rule) in TABLE {
        let found = broken(capture, changes);
        assert!(found.contains(rule), "{changes:?}: {rule} is expected, found is {found:?}");
    }
    let covered: BTreeSet<&str> = TABLE.iter().map(|row| row.2).collect();
    let is_of_chip = |doc: &str| doc.starts_with("kernel:") && !doc.contains("R500:");
    let rules = RULES.iter().filter(|rule| is_of_chip(rule.doc)).map(|rule| rule.name);
    let missing: Vec<&str> = rules.filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "no stream breaks {missing:?}");
}

/// Streams that the kernel lets through, at the edge of its refusals.
#[test]
fn what_the_kernel_lets_through_is_not_refused() {
    let refused = |capture, changes| -> Vec<&str> {
        let is_kernels = |name: &&str| check::rule(name).unwrap().doc.starts_with("kernel:");
        broken(capture, changes).into_iter().filter(is_kernels).collect()
    };
    #[rustfmt::skip]
    let table: &[&[(&str, &str)]] = &[
        // The register that drivers fill from memory.
        &[(BEFORE, "COPY_DW control={SRC_MEM: 1}, source=0, source_high=0, destination=0xa2cb, destination_high=0\nRELOC 0")],
        &[(BEFORE, "SET_CONFIG_REG\n    VGT_NUM_INDICES = 0")],
        &[("CB_COLOR0_INFO =", "    CB_COLOR0_INFO = {FORMAT: FMT_32_32_32_32_FLOAT, ARRAY_MODE: LINEAR_GENERAL}"), ("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 7, SLICE_TILE_MAX: 9999}")],
        // Targets without a format are none, and nothing is checked where everything is dropped.
        &[(BEFORE, "SET_CONTEXT_REG\n    CB_TARGET_MASK = 0xff")],
        &[(BEFORE, "SET_CONTEXT_REG\n    SX_MISC = 1"), ("CB_COLOR0_SIZE =", "    CB_COLOR0_SIZE = {PITCH_TILE_MAX: 0, SLICE_TILE_MAX: 0}")],
        // Indices, events and fences are not measured.
        &[("DRAW_INDEX_AUTO", "DRAW_INDEX word=0xfff000, word=0x0, word=4000000, word=0\nRELOC 0")],
        &[(BEFORE, "EVENT_WRITE_EOP event=0x514, address=0xfffff8, control=0x40000000, low=0, data_high=0\nRELOC 0")],
        // A format that is not read here.
        &[("SQ_TEX_RESOURCE_WORD1_18 =", "    SQ_TEX_RESOURCE_WORD1_18 = {DATA_FORMAT: 47}")],
    ];
    for changes in table {
        let found = refused("tex2d", changes);
        assert!(found.is_empty(), "{changes:?}: {found:?}");
    }
    // The compression of a target follows its base where no relocation says otherwise.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/tex2d.capture");
    let mut replay = Replay::new(std::fs::File::open(path).unwrap(), Box::new(ctm_exec::Interp)).unwrap();
    let _clear = replay.read().unwrap().unwrap();
    let submission = replay.read().unwrap().unwrap();
    let relocations = replay.relocations(&submission);
    let shown = text::disassemble(&submission.words, &relocations);
    let lines: Vec<&str> = shown.lines().collect();
    let at = lines.iter().position(|line| line.contains("CB_COLOR0_FRAG =")).unwrap();
    let without: Vec<&str> = lines.iter().enumerate().filter(|(n, _)| *n != at + 1).map(|(_, line)| *line).collect();
    assert!(lines[at + 1].contains("RELOC"));
    let words = text::assemble(&without.join("\n")).unwrap();
    assert_eq!(check::check(&words, Some(&relocations), Some(&replay.memory())), []);
}

/// Until a stream says otherwise, the kernel takes the depth test as on.
#[test]
fn registers_that_are_not_written_count_as_the_worst() {
    let words =
        text::assemble("NUM_INSTANCES count=1\nDRAW_INDEX_AUTO count=3, initiator={SOURCE_SELECT: COUNTED}").unwrap();
    let found = check::check(&words, Some(&[]), None);
    let told = found.iter().find(|finding| finding.rule == "target-without-buffer").unwrap();
    assert!(told.message.contains("DB_DEPTH_CONTROL was not written"), "{told}");
    // Without a list of buffers the kernel's view is unknown.
    assert!(check::check(&words, None, None).iter().all(|finding| finding.rule != "target-without-buffer"));
    assert!(check::check_absolute(&words, None).iter().all(|finding| finding.rule != "target-without-buffer"));
}
