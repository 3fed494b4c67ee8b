//! Streams of Mesa's r300 driver for an R500: as text, through the checks, and with errors planted in them. Truth: the checker of the kernel's radeon driver.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Budget, Engine, Interp};
use ctm_jit::Jit;
use ctm_radeon::Relocation;
use ctm_radeon::capture::Submission;
use ctm_radeon::check::{RULES, check_for};
use ctm_radeon::execute::{Buffers, Device, DrawOptions, GpuMemory, Next};
use ctm_radeon::packets::r500::{LoadVbpntr, R580, RV530, VertexArray};
use ctm_radeon::packets::{Kind, Packets};
use ctm_radeon::replay::Replay;
use ctm_radeon::text::{assemble_for, disassemble_for};
use ctm_testkit::seeded::Random;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/r500")
}

fn captures() -> Vec<PathBuf> {
    let files = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = files(folder()).chain(files(folder().join("notcl")));
    let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|e| e == "capture")).collect();
    all.sort();
    assert!(all.len() >= 10, "{}", all.len());
    all
}

fn open(path: &Path) -> Replay<File> {
    Replay::new(File::open(path).unwrap(), Box::new(ctm_exec::Interp)).unwrap()
}

/// Captures say which chip they are of; every word has a name, the text gives the same words, and the checks find nothing.
#[test]
fn a_drivers_streams_are_read_and_right() {
    let (mut streams, mut packets, mut names) = (0, BTreeSet::new(), BTreeSet::new());
    for path in captures() {
        let mut replay = open(&path);
        while let Some(submission) = replay.read().unwrap() {
            assert_eq!(replay.chip().name, "RV530");
            let shown = replay.text(&submission);
            let unnamed = |line: &str| line.contains(".word") || line.trim_start().starts_with("0x");
            assert_eq!(shown.lines().find(|line| unnamed(line) || line.contains("PACKET")), None);
            // The driver sets the end of a clip rectangle to all ones.
            let beyond = shown.lines().find(|line| line.contains("BITS") && !line.contains("SC_CLIP_0_B"));
            assert_eq!(beyond, None, "{}: bits without a field", path.display());
            assert_eq!(assemble_for(&RV530, &shown).unwrap(), submission.words, "{}", path.display());
            assert_eq!(replay.findings(&submission), [], "{}", path.display());
            for packet in Packets::of(&RV530, &submission.words) {
                let packet = packet.unwrap();
                packets.extend(packet.info().map(|row| row.name));
                if let Kind::Registers { .. } = packet.kind {
                    names.extend(packet.direct_registers().map(|(offset, _)| offset));
                }
            }
            streams += 1;
        }
    }
    assert!(streams >= 30, "{streams}");
    assert!(names.len() >= 180, "{} registers", names.len());
    let expected = ["3D_DRAW_IMMD_2", "3D_DRAW_INDX_2", "3D_LOAD_VBPNTR", "NOP"];
    assert!(expected.iter().all(|name| packets.contains(name)), "{packets:?}");
}

/// Two arrays share a word of sizes; an odd last one has no second address.
#[test]
fn arrays_of_vertices_are_read() {
    let words = [3, 0x0302_0504, 0x100, 0x200, 0x0000_0101, 0x300];
    let of = |size, stride, address| VertexArray { size, stride, address };
    assert_eq!(LoadVbpntr::arrays(&words).collect::<Vec<_>>(), [of(4, 5, 0x100), of(2, 3, 0x200), of(1, 1, 0x300)]);
    // A packet that is too short has fewer.
    assert_eq!(LoadVbpntr::arrays(&words[..4]).count(), 2);
    assert_eq!(LoadVbpntr::arrays(&[]).count(), 0);
}

/// The first submission of a capture that has a line.
fn drawing(name: &str, line: &str) -> (Replay<File>, Submission, String) {
    let mut replay = open(&folder().join(format!("{name}.capture")));
    while let Some(submission) = replay.read().unwrap() {
        let shown = replay.text(&submission);
        if shown.lines().any(|of| of.contains(line)) {
            return (replay, submission, shown);
        }
    }
    panic!("no line of {name} has {line}");
}

/// The rules that a stream breaks: the last line with this beginning is replaced.
fn broken(name: &str, from: &str, to: &str) -> BTreeSet<&'static str> {
    let (replay, submission, shown) = drawing(name, from);
    let mut lines: Vec<&str> = shown.lines().collect();
    let at = lines.iter().rposition(|line| line.contains(from)).unwrap();
    lines[at] = to;
    let words = assemble_for(&RV530, &lines.join("\n")).unwrap_or_else(|errors| panic!("{to}: {errors:?}"));
    let relocations = replay.relocations(&submission);
    check_for(&RV530, &words, Some(&relocations), None).iter().map(|finding| finding.rule).collect()
}

/// A capture, the beginning of the replaced line, the lines in its place, the rule that they break.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("vbo-map-remap", "3D_DRAW_IMMD_2", ".word 0x40000000", "bad-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", ".word 0xffff3500", "bad-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "PACKET 0x2d word=1", "unknown-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_CLEAR_ZMASK start=0, count=1, value=0", "refused-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_CLEAR_HIZ start=0, count=1, value=0", "refused-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_CLEAR_CMASK start=0, count=1, value=0", "refused-packet"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_DRAW_VBUF_2 initiator=0, word=0", "packet-length"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    0x0002c = 0", "unknown-register"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    GB_TILE_CONFIG = 0", "refused-register"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    RB3D_CCTL = {CMASK_ENABLE: 1}", "refused-value"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    ZB_BW_CNTL = {HIZ_ENABLE: 1}", "refused-value"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    ZB_HIZ_PITCH = 4", "refused-value"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    RB3D_COLOROFFSET0 = 0", "missing-relocation"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    RB3D_COLOROFFSET0 = 0\nRELOC 9999", "bad-relocation"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    RB3D_BLENDCNTL = 0\nRELOC 0", "extra-relocation"),
    ("vbo-map-remap", "RB3D_COLORPITCH0 =", "    RB3D_COLORPITCH0 = {COLORPITCH: 160, COLORFORMAT: UV1010}", "target-format"),
    ("vbo-map-remap", "RB3D_COLORPITCH0 =", "    RB3D_COLORPITCH0 = {COLORPITCH: 8191, COLORFORMAT: ARGB32323232}", "target-outside-buffer"),
    ("vbo-map-remap", "RB3D_COLOROFFSET0 =", "    RB3D_COLOROFFSET0 = 0xfffffe0", "target-outside-buffer"),
    ("vbo-map-remap", "RB3D_CCTL =", "    RB3D_CCTL = {NUM_MULTIWRITES: 2}", "target-without-buffer"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    ZB_FORMAT = 3", "target-format"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_DRAW_IMMD_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 1}, word=0", "vertex-count"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_DRAW_IMMD_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: INDICES, NUM_VERTICES: 1}, word=0", "bad-walk"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_DRAW_VBUF_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: STATE, NUM_VERTICES: 1}", "bad-walk"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "3D_DRAW_VBUF_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_LIST, NUM_VERTICES: 1}", "array-without-buffer"),
    ("draw-elements-vs-inputs", "3D_LOAD_VBPNTR", "3D_LOAD_VBPNTR count={ARRAYS: 17}", "array-count"),
    ("draw-elements-vs-inputs", "VAP_VF_MAX_VTX_INDX =", "    VAP_VF_MAX_VTX_INDX = 0xffffff", "array-outside-buffer"),
    ("draw-elements-vs-inputs", "3D_DRAW_INDX_2", "3D_LOAD_VBPNTR count={ARRAYS: 1}, word=0x7f03, word=0\nRELOC 1\n3D_DRAW_VBUF_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_LIST, NUM_VERTICES: 65535}", "array-outside-buffer"),
    ("draw-elements-vs-inputs", "3D_DRAW_INDX_2", "3D_LOAD_VBPNTR count={ARRAYS: 1}, word=0x303, word=0xffff8\nRELOC 1\n3D_DRAW_VBUF_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_LIST, NUM_VERTICES: 4}", "vertices-outside-buffer"),
    ("draw-elements-vs-inputs", "3D_DRAW_INDX_2", "INDX_BUFFER port={REGISTER: 0x810, ONE_REG_WR: 1}, offset=0, dwords=0x7fffffff\nRELOC 0", "index-count"),
    ("draw-elements-vs-inputs", "3D_DRAW_INDX_2", "INDX_BUFFER port={REGISTER: 0x810, ONE_REG_WR: 1}, offset=0xfffff0, dwords=8\nRELOC 0", "indices-outside-buffer"),
    ("draw-elements-vs-inputs", "3D_DRAW_INDX_2", "INDX_BUFFER port={REGISTER: 0x811, ONE_REG_WR: 1}, offset=0, dwords=8\nRELOC 0", "index-port"),
    ("fbo-3d", "TX_FORMAT1_0 =", "    TX_FORMAT1_0 = {TXFORMAT: AVYU444}", "texture-format"),
    ("fbo-3d", "TX_FORMAT1_0 =", "    TX_FORMAT1_0 = {TXFORMAT: 32F_32F_32F_32F, TEX_COORD_TYPE: 3}", "texture-format"),
    ("fbo-3d", "TX_FORMAT0_0 =", "    TX_FORMAT0_0 = {TXWIDTH: 2047, TXHEIGHT: 2047}", "texture-outside-buffer"),
    ("fbo-3d", "TX_ENABLE =", "    TX_ENABLE = 0x8001", "texture-without-buffer"),
    ("vbo-map-remap", "SC_SCISSOR0 =", "    SC_SCISSOR0 = {XS0: 4000}", "empty-scissor"),
    ("vbo-map-remap", "VAP_CNTL =", "    VAP_CNTL = {VAP_NO_RENDER: 1}", "no-render"),
    ("vbo-map-remap", "3D_DRAW_IMMD_2", "REGISTERS\n    GB_ENABLE = 0\nREGISTERS\n    VAP_OUT_VTX_FMT_1 = 0\n3D_DRAW_VBUF_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 0}", "missing-input"),
];

#[test]
fn planted_errors_are_found() {
    let wrong: Vec<String> = TABLE
        .iter()
        .filter_map(|(name, from, to, rule)| {
            let found = broken(name, from, to);
            (!found.contains(rule)).then(|| format!("{to}: {rule} is expected, found is {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let covered: BTreeSet<&str> = TABLE.iter().map(|row| row.3).collect();
    let of_chip = RULES.iter().filter(|rule| rule.doc.contains("R500:")).map(|rule| rule.name);
    let missing: Vec<&str> = of_chip.filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "no stream breaks {missing:?}");
}

/// The depth pipes' register is one of the RV530.
#[test]
fn chips_of_one_generation_differ_in_a_register() {
    let words = assemble_for(&R580, "REGISTERS\n    FG_ZBREG_DEST = {SELECT: 3}\n").unwrap();
    assert_eq!(check_for(&RV530, &words, None, None), []);
    let found = check_for(&R580, &words, None, None);
    assert_eq!(found[0].message, "programs may not write FG_ZBREG_DEST of an R580");
}

/// Until a stream says otherwise, the kernel takes four colour targets and the depth test as on.
#[test]
fn registers_that_are_not_written_count_as_the_worst() {
    let text = "REGISTERS\n    RB3D_COLOR_CHANNEL_MASK = 15\nREGISTERS\n    VAP_VTX_SIZE = 4\n\
                3D_DRAW_IMMD_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 1}, word=0, word=0, word=0, word=0\n";
    let words = assemble_for(&RV530, text).unwrap();
    let found = check_for(&RV530, &words, Some(&[]), None);
    assert_eq!(found.iter().filter(|finding| finding.rule == "target-without-buffer").count(), 5, "{found:?}");
    assert_eq!(check_for(&RV530, &words, None, None), []);
}

/// The targets after each draw of a capture without vertex programs: name and bits.
fn drawn(name: &str, engine: Box<dyn Engine>) -> Vec<(String, Vec<[u32; 4]>)> {
    let path = folder().join("notcl").join(format!("{name}.capture"));
    let mut replay = Replay::new(File::open(path).unwrap(), engine).unwrap();
    replay.device().set_options(DrawOptions { targets: true, ..DrawOptions::default() });
    let mut all = Vec::new();
    let mut step = |stepped: &ctm_radeon::execute::Stepped<'_>| {
        assert_eq!(stepped.problem, None);
        all.extend(stepped.targets().unwrap().into_iter().map(|picture| (picture.name, picture.pixels)));
        Next::Continue
    };
    while let Some(replayed) = replay.step(&mut step).unwrap() {
        assert_eq!(replayed.submitted.problems, []);
    }
    all
}

/// The program's own test: the square over the whole window is green.
#[test]
fn a_square_without_a_vertex_program_is_green() {
    let pictures = drawn("glsl-uniform", Box::<Jit>::default());
    let (name, pixels) = pictures.last().unwrap();
    assert_eq!(name, "colour0");
    assert!(!pixels.is_empty() && pixels.iter().all(|pixel| pixel.map(f32::from_bits)[..3] == [0.0, 1.0, 0.0]));
}

/// Both engines give the same bits.
#[test]
fn the_interpreter_draws_the_same_bits() {
    for name in ["glsl-uniform", "vbo-map-remap", "fbo-drawbuffers-blend-add"] {
        let expected = drawn(name, Box::<Jit>::default());
        assert!(!expected.is_empty());
        assert!(drawn(name, Box::new(Interp)) == expected, "{name}");
    }
}

/// A driver's clear of a colour target through the depth unit, without its vertex program: the colour (0.2, 0.3, 0.4, 1) goes to 4 rows, and the same
/// colour as a depth to the 4 rows after them. The words of program and state are those of the driver.
const CLEAR: &str = "
REGISTERS
    SC_SCISSOR0 = 0
    SC_SCISSOR1 = {XS1: 7, YS1: 3}
REGISTERS
    SC_CLIP_RULE = 0xffff
REGISTERS
    SC_SCREENDOOR = 0xffffff
REGISTERS
    RB3D_CCTL = {INDEPENDENT_COLORFORMAT_ENABLE: 1}
REGISTERS
    ZB_CNTL = 0
REGISTERS
    RB3D_COLOROFFSET0 = 0x40
RELOC 0
REGISTERS
    RB3D_COLORPITCH0 = 0xc00008
REGISTERS
    ZB_FORMAT = 2
REGISTERS
    ZB_DEPTHOFFSET = 0xc0
RELOC 0
REGISTERS
    ZB_DEPTHPITCH = 8
REGISTERS
    ZB_BW_CNTL = 0x20
REGISTERS
    ZB_DEPTHCLEARVALUE = 0xff664c33
REGISTERS
    RB3D_COLOR_CHANNEL_MASK = 15
REGISTERS
    VAP_CNTL_STATUS = {PVS_BYPASS: 1}
REGISTERS
    VAP_PROG_STREAM_CNTL_0 = {DATA_TYPE_0: FLOAT_4, LAST_VEC_0: 1}
REGISTERS
    VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688
REGISTERS
    VAP_VTX_SIZE = 4
REGISTERS
    VAP_VTE_CNTL = 0x300
REGISTERS
    US_OUT_FMT_0 = 0x3900
REGISTERS
    US_CODE_ADDR = 0
REGISTERS
    GA_US_VECTOR_INDEX = 0
REGISTERS one
    GA_US_VECTOR_DATA = 0x00078005
    GA_US_VECTOR_DATA = 0x08020100
    GA_US_VECTOR_DATA = 0x08020100
    GA_US_VECTOR_DATA = 0x00db0220
    GA_US_VECTOR_DATA = 0x00c0c000
    GA_US_VECTOR_DATA = 0x20490000
REGISTERS
    GA_US_VECTOR_INDEX = {TYPE: CONSTANTS}
REGISTERS one
    GA_US_VECTOR_DATA = 0.2
    GA_US_VECTOR_DATA = 0.3
    GA_US_VECTOR_DATA = 0.4
    GA_US_VECTOR_DATA = 1.0
REGISTERS
    GA_ROUND_MODE = 0x31
REGISTERS
    GA_POINT_SIZE = {HEIGHT: 24, WIDTH: 48}
3D_DRAW_IMMD_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 1}, word=4.0, word=2.0, word=1.0, word=1.0
";

#[test]
fn a_clear_goes_to_both_halves() {
    let words = assemble_for(&RV530, CLEAR).unwrap();
    let mut memory = Buffers::default();
    memory.insert(1 << 20, vec![0x11; 4096]);
    let relocations = [Relocation { handle: 1, base: 1 << 20, size: 4096 }];
    assert_eq!(check_for(&RV530, &words, Some(&relocations), None), []);
    let mut device = Device::new(Box::<Jit>::default());
    device.set_chip(&RV530);
    assert_eq!(device.submit(&words, &relocations, &mut memory).problems, []);
    let bytes = memory.bytes(1 << 20, 0x200).unwrap();
    for (n, pixel) in bytes.chunks_exact(4).enumerate() {
        let expected = if (0x10..0x50).contains(&n) { [0x33, 0x4c, 0x66, 0xff] } else { [0x11; 4] };
        // 0.3 lies between two fractions of 255.
        let is_near = pixel.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1);
        assert!(is_near, "cell {n:#x} is {pixel:x?}, {expected:x?} is expected");
    }
    assert_eq!(bytes[0xc0..0xc4], [0x33, 0x4c, 0x66, 0xff]);
}

/// A number of the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Says which case a panic belongs to.
struct Case(u64);

impl Drop for Case {
    #[allow(clippy::print_stderr, reason = "a failed test says how to repeat it")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat it with CTM_MUTATIONS=1 CTM_MUTATIONS_FIRST={}", self.0);
        }
    }
}

/// A submission of a driver with the buffers that it names.
struct Seed {
    words: Vec<u32>,
    relocations: Vec<Relocation>,
    memory: Buffers,
}

/// Changes a few words, takes some out, or puts words of another stream in.
fn mutate(words: &mut Vec<u32>, random: &mut Random, other: &[u32]) {
    for _ in 0..1 + random.below(8) {
        let at = random.below(words.len());
        match random.below(10) {
            0 => words[at] = [0, u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x7f80_0000, 0x0001_0000][random.below(6)],
            1 => words[at] = words[random.below(words.len())],
            2 => {
                words.remove(at);
            }
            3 => {
                let (from, count) = (random.below(other.len()), random.below(40));
                words.splice(at..at, other[from..].iter().take(count).copied());
            }
            _ => words[at] ^= 1 << random.below(32),
        }
        if words.is_empty() {
            return;
        }
    }
}

/// A driver's streams with changed words: checks and the device end with or without an error, text gives the same words, and only buffers change.
///
/// `CTM_MUTATIONS=100000` tries that many, `CTM_MUTATIONS_FIRST` others than the first.
#[test]
fn changed_streams_end() {
    let mut seeds = Vec::new();
    for path in captures().into_iter().filter(|path| path.metadata().unwrap().len() < 20_000) {
        let mut replay = open(&path);
        while let Some(submission) = replay.read().unwrap() {
            let relocations = replay.relocations(&submission);
            let mut memory = Buffers::default();
            for relocation in &relocations {
                memory.insert(relocation.base, replay.buffers()[&relocation.handle].bytes.clone());
            }
            seeds.push(Seed { words: submission.words, relocations, memory });
        }
    }
    assert!(seeds.len() >= 10, "{}", seeds.len());
    let first = number("CTM_MUTATIONS_FIRST").unwrap_or(0);
    for case in first..first + number("CTM_MUTATIONS").unwrap_or(60) {
        let _case = Case(case);
        let mut random = Random::new(case);
        let [seed, other] = [0, 1].map(|_| &seeds[random.below(seeds.len())]);
        let (mut words, mut memory) = (seed.words.clone(), seed.memory.clone());
        mutate(&mut words, &mut random, &other.words);
        let sizes = |memory: &Buffers| memory.iter().map(|(at, bytes)| (at, bytes.len())).collect::<Vec<_>>();
        let before = sizes(&memory);
        let chip = [&RV530, &R580][random.below(2)];
        assert_eq!(assemble_for(chip, &disassemble_for(chip, &words, &seed.relocations)).unwrap(), words);
        let _ = check_for(chip, &words, Some(&seed.relocations), Some(&memory));
        let mut device = Device::new(Box::<Jit>::default());
        device.set_chip(chip);
        let budget = Budget { instructions_per_group: Some(20_000), time: Some(std::time::Duration::from_millis(100)) };
        device.set_options(DrawOptions { one_thread: true, budget, ..DrawOptions::default() });
        let _ = device.submit(&words, &seed.relocations, &mut memory);
        assert_eq!(sizes(&memory), before);
    }
}
