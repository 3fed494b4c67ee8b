//! Streams with absolute addresses on a memory image: the example of `examples/bare-metal`, changed in one place at a time.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Budget, Engine, Interp};
use ctm_isa::r700::text as programs;
use ctm_jit::Jit;
use ctm_radeon::check::{self, Finding};
use ctm_radeon::execute::{Buffers, Deadline, Device, DrawOptions, GpuMemory, Next, Submitted};
use ctm_radeon::text;
use std::path::Path;
use std::time::{Duration, Instant};

const TARGET: u64 = 0x20_0000;
const FENCE: u64 = 0x30_0000;

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bare-metal");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The example, ready to be changed.
struct Bare {
    stream: String,
    vertex: String,
    pixel: String,
    memory: Buffers,
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Bare {
    fn new() -> Self {
        let mut memory = Buffers::default();
        memory.insert(0x10_2000, bytes(&ctm_image::hex::read_words(&file("vertices.hex"), 8).unwrap()));
        memory.insert(TARGET, vec![0; 64 * 64 * 4]);
        memory.insert(FENCE, vec![0; 4096]);
        let [stream, vertex, pixel] = ["triangle.pm4", "vertex.vsh", "pixel.psh"].map(file);
        Self { stream, vertex, pixel, memory }
    }

    /// Puts `to` in the place of `from` in the stream.
    fn with(mut self, from: &str, to: &str) -> Self {
        assert!(self.stream.contains(from), "no {from}");
        self.stream = self.stream.replace(from, to);
        self
    }

    /// The memory with both programs, and the words of the stream.
    fn ready(&self) -> (Buffers, Vec<u32>) {
        let mut memory = self.memory.clone();
        for (at, source) in [(0x10_0000, &self.vertex), (0x10_1000, &self.pixel)] {
            let assembly = programs::assemble(source, &programs::TextOptions::default());
            let program = assembly.program.unwrap_or_else(|| panic!("{source}\n{:?}", assembly.diagnostics));
            memory.insert(at, bytes(&program.words));
        }
        (memory, text::assemble(&self.stream).unwrap())
    }

    fn found(&self) -> Vec<Finding> {
        let (memory, words) = self.ready();
        check::check_absolute(&words, Some(&memory))
    }

    fn run(&self, engine: Box<dyn Engine>) -> (Buffers, Submitted, u64) {
        let (mut memory, words) = self.ready();
        let mut pixels = 0;
        let submitted = Device::new(engine).submit_absolute(&words, &mut memory, &mut |stepped| {
            pixels += stepped.outline.counts.pixels;
            Next::Continue
        });
        (memory, submitted, pixels)
    }

    /// The bytes of a pixel that a run without problems leaves.
    fn pixel(&self, engine: Box<dyn Engine>, x: u64, y: u64) -> [u8; 4] {
        let (memory, submitted, _) = self.run(engine);
        assert_eq!(submitted.problems, []);
        memory.bytes(TARGET + 4 * (64 * y + x), 4).unwrap().try_into().unwrap()
    }
}

fn engines() -> [Box<dyn Engine>; 2] {
    [Box::new(Interp), Box::<Jit>::default()]
}

/// Truth: the corners of the triangle are red, green and blue; a pixel near one has nearly its colour. The fence has the value of its packet.
#[test]
fn the_example_draws_its_triangle() {
    let bare = Bare::new();
    assert_eq!(bare.found(), []);
    for engine in engines() {
        let (memory, submitted, pixels) = bare.run(engine);
        assert_eq!(submitted.problems, []);
        // Row y has the centres between (y + 0.5) / 2 and 64 - (y + 0.5) / 2: 64 - y of them if y is even, 63 - y if it is odd; none lies on an edge.
        assert_eq!(pixels, 2048);
        assert_eq!(memory.bytes(FENCE, 8), Some(&[0x0d, 0xf0, 0x0d, 0x60, 0, 0, 0, 0][..]));
    }
    for (x, y, channel) in [(1, 0, 0), (62, 0, 1), (31, 62, 2)] {
        let [interp, jit] = engines().map(|engine| bare.pixel(engine, x, y));
        assert_eq!(interp, jit);
        assert!(interp[channel] > 240 && interp[3] == 255, "{x},{y}: {interp:?}");
    }
    assert_eq!(bare.pixel(Box::new(Interp), 0, 63), [0; 4]);
}

/// R700 §4.6.3: relative addresses reach all N registers that are declared, N is NUM_GPRS of the stream. `R[1+AR.x]` with AR = 3 is R4, which no instruction names.
#[test]
fn a_program_has_the_registers_that_its_stream_gives_it() {
    let mut bare = Bare::new();
    bare.pixel = "\
.stage pixel
ALU:
  x: MOVA_INT ____, 3
  x: MOV R[1+AR.x].x, 1.0f
  y: MOV R[1+AR.x].y, 0.5f
ALU:
  x: MOVA_INT ____, 3
  x: MOV R2.x, R[1+AR.x].x
  y: MOV R2.y, R[1+AR.x].y
  z: MOV R2.z, 0.0f
  w: MOV R2.w, 1.0f
EXP_DONE: PIX0, R2.xyzw
END_OF_PROGRAM
"
    .into();
    // Read back: the values written to R4.
    let five = |bare: Bare| bare.with("SQ_PGM_RESOURCES_PS = {NUM_GPRS: 1}", "SQ_PGM_RESOURCES_PS = {NUM_GPRS: 5}");
    let bare = five(bare);
    assert_eq!(bare.found(), []);
    for engine in engines() {
        assert_eq!(bare.pixel(engine, 31, 20), [255, 128, 0, 255]);
    }
    // Four registers: R4 is outside, the write is inhibited and the read gives R0, the interpolated colour.
    let bare = bare.with("{NUM_GPRS: 5}", "{NUM_GPRS: 4}");
    let [interp, jit] = engines().map(|engine| bare.pixel(engine, 31, 20));
    assert_eq!(interp, jit);
    let colour = Bare::new().pixel(Box::new(Interp), 31, 20);
    assert_eq!(interp[..2], colour[..2]);
}

/// The same program at the same place with other registers in one stream: each draw has its own.
#[test]
fn registers_belong_to_the_key_of_a_program() {
    let mut bare = Bare::new();
    bare.pixel = ".stage pixel\nALU:\n x: MOVA_INT ____, 3\n x: MOV R[0+AR.x].x, 1.0f\nALU:\n x: MOVA_INT ____, 3\n x: MOV R1.x, R[0+AR.x].x\n\
                  y: MOV R1.y, 0.0f\n z: MOV R1.z, 0.0f\n w: MOV R1.w, 1.0f\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"
        .into();
    let draw = "DRAW_INDEX_AUTO count=3, initiator={SOURCE_SELECT: COUNTED}\n";
    let again = format!(
        "{draw}SET_CONTEXT_REG\n    SQ_PGM_RESOURCES_PS = {{NUM_GPRS: 4}}\n{draw}SET_CONTEXT_REG\n    SQ_PGM_RESOURCES_PS = {{NUM_GPRS: 2}}\n{draw}"
    );
    let two = bare.with("{NUM_GPRS: 1}", "{NUM_GPRS: 2}");
    let expected = two.pixel(Box::new(Interp), 31, 40);
    let twice = two.with(draw, &again);
    for engine in engines() {
        assert_eq!(twice.pixel(engine, 31, 40), expected);
    }
}

/// Each kind of bad draw, with the rule and the names in its message.
#[test]
fn draws_tell_what_is_wrong_with_them() {
    let table: &[(&str, &str, &str, &str)] = &[
        ("WORD0_320", "WORD0_160", "", ""),
        (
            "SQ_PGM_START_VS = 0x1000",
            "SQ_PGM_START_VS = 0x1004",
            "program-outside-buffer",
            "SQ_PGM_START_VS: the program at 0x100400 lies outside memory",
        ),
        (
            "SQ_PGM_START_PS = 0x1010",
            "SQ_PGM_START_PS = 0x1020",
            "program-outside-buffer",
            "SQ_PGM_START_PS: the program at 0x102000 ",
        ),
        (
            "CB_COLOR0_BASE = 0x2000",
            "CB_COLOR0_BASE = 0x2001",
            "outside-memory",
            "16384 bytes at 0x200100 (CB_COLOR0_BASE)",
        ),
        (
            "WORD0_320 = 0x102000",
            "WORD0_320 = 0x103000",
            "outside-memory",
            "96 bytes at 0x103000 (SQ_VTX_CONSTANT_WORD0_320)",
        ),
        ("address=0x300000, control", "address=0x400000, control", "outside-memory", "0x400000"),
        (
            "{BR_X: 8192, BR_Y: 8192}\nSET_CONTEXT_REG\n    PA_SC_WINDOW",
            "0\nSET_CONTEXT_REG\n    PA_SC_WINDOW",
            "empty-scissor",
            "the screen scissor is empty, 0,0 to 0,0",
        ),
        (
            "PA_SC_WINDOW_SCISSOR_BR = {BR_X: 64, BR_Y: 64}",
            "PA_SC_WINDOW_SCISSOR_BR = {BR_X: 64}",
            "empty-scissor",
            "the window scissor is empty, 0,0 to 64,0",
        ),
        (
            "PA_SC_GENERIC_SCISSOR_TL = 0",
            "PA_SC_GENERIC_SCISSOR_TL = {TL_X: 100, TL_Y: 100}",
            "empty-scissor",
            "no pixel in common",
        ),
        ("{ROP3: 204}", "0", "raster-operation", "ROP3 is 0"),
        ("{EXPORT_MODE: 2}", "0", "export-mode", "exports 1 colours, SQ_PGM_EXPORTS_PS.EXPORT_MODE is 0"),
        (
            "{PITCH_TILE_MAX: 7, SLICE_TILE_MAX: 63}",
            "{PITCH_TILE_MAX: 0, SLICE_TILE_MAX: 1}",
            "target-alignment",
            "a pitch of 8, allowed are multiples of 64",
        ),
        (
            "SQ_PGM_RESOURCES_VS = {NUM_GPRS: 3",
            "SQ_PGM_RESOURCES_VS = {NUM_GPRS: 2",
            "few-registers",
            "uses 3 registers, SQ_PGM_RESOURCES_VS.NUM_GPRS gives 2",
        ),
        ("SPI_VS_OUT_ID_0 = {SEMANTIC_0: 1}", "SPI_VS_OUT_ID_0 = {SEMANTIC_0: 2}", "unmet-semantic", ""),
    ];
    for (from, to, rule, message) in table.iter().filter(|row| !row.2.is_empty()) {
        let found = Bare::new().with(from, to).found();
        let named = found.iter().find(|finding| finding.rule == *rule && finding.message.contains(message));
        assert!(named.is_some(), "{to}: {rule} with `{message}` is expected, found is {found:?}");
        assert!(named.unwrap().draw == Some(1) || from.contains("address="), "{to}: {named:?}");
    }
}

/// The two number spaces: an instruction of the vertex stage that says 160 means resource 320.
#[test]
fn both_numbers_of_a_resource_are_told() {
    let mut bare = Bare::new();
    for n in 0..7 {
        bare.stream =
            bare.stream.replace(&format!("SQ_VTX_CONSTANT_WORD{n}_320"), &format!("SQ_VTX_CONSTANT_WORD{n}_160"));
    }
    let found = bare.found();
    let told = &found.iter().find(|finding| finding.rule == "wrong-resource").unwrap().message;
    let expected = "the vertex program fetches vertices from resource 320 (b160 of the program; the vertex stage's resources begin with 160), \
                    which is nothing; resource 160 is a buffer, and b0 in a vertex program";
    assert_eq!(told, expected);
}

/// Words of a program that cannot be decoded: the instruction and its field are named, not the length of the memory.
#[test]
fn an_instruction_without_a_meaning_is_named() {
    let mut bare = Bare::new();
    // An export of type 3 (R700 §10.1: 0 pixel, 1 position, 2 parameter), with END_OF_PROGRAM.
    bare.pixel = ".stage pixel\n.word 0x00000000, 0x00000000\n.word 0x00006000, 0x94200688\n".into();
    let found = bare.found();
    let told = &found.iter().find(|finding| finding.rule == "program-outside-buffer").unwrap().message;
    assert!(
        told.contains(
            "SQ_PGM_START_PS: the program at 0x101000 has an instruction that cannot be decoded, in slot 1: `TYPE`"
        ),
        "{told}"
    );
    let (_, submitted, _) = bare.run(Box::new(Interp));
    assert!(submitted.problems[0].error.message.contains("in slot 1: `TYPE`"), "{:?}", submitted.problems);
}

/// A fetch program whose RETURN has END_OF_PROGRAM ends the vertex program: no position is exported. The words are those of a stream that hangs a card.
#[test]
fn a_program_that_ends_in_its_fetch_program_is_told() {
    let mut bare = Bare::new();
    bare.vertex = ".stage vertex\nCALL_FS\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R2.xyzw\nEND_OF_PROGRAM\n".into();
    let fetch: [u32; 12] = [
        0x0000_0002,
        0x8100_0400,
        0x0000_0000,
        0x8a20_0000,
        0x7c00_a000,
        0x08cd_1001,
        0x0008_0000,
        0,
        0x7c00_a000,
        0x08cd_1002,
        0x0008_0010,
        0,
    ];
    let start = "SET_CONTEXT_REG\n    SQ_PGM_START_FS = 0x1030\nSET_CONTEXT_REG\n    SQ_PGM_START_PS";
    let mut bare = bare.with("SET_CONTEXT_REG\n    SQ_PGM_START_PS", start);
    let mut good = fetch;
    good[3] &= !(1 << 21);
    bare.memory.insert(0x10_3000, bytes(&good));
    assert_eq!(bare.found(), []);
    bare.memory.insert(0x10_3000, bytes(&fetch));
    let found = bare.found();
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["ends-in-fetch"], "{found:?}");
    assert_eq!(found[0].draw, Some(1));
    assert!(
        found[0]
            .message
            .starts_with("the vertex program ends in its fetch program and exports no position: instruction 1"),
        "{}",
        found[0].message
    );
    assert_eq!(bare.run(Box::new(Interp)).2, 0);
    // A vertex program without a position at all.
    let mut bare = Bare::new();
    bare.vertex = bare.vertex.replace("EXP_DONE: POS0, R1.xyzw\n", "");
    assert!(bare.found().iter().any(|finding| finding.rule == "no-position"));
}

/// Packets that only a kernel may write, and packets of type 0, are for the bare chip; a wait for a value that is never written is reported.
#[test]
fn the_bare_chip_has_no_kernel() {
    let bare = Bare::new();
    let (_, words) = bare.ready();
    let kernel: Vec<&str> = check::check(&words, Some(&[]), None).iter().map(|finding| finding.rule).collect();
    for rule in ["register-packet", "missing-relocation"] {
        assert!(kernel.contains(&rule), "{rule}: {kernel:?}");
    }
    let waits = Bare::new().with("reference=0x600df00d", "reference=0x600df00e");
    let (_, submitted, _) = waits.run(Box::new(Interp));
    let told = "WAIT_REG_MEM never ends: the dword at 0x300000 is 0x600df00d, 0x600df00e is waited for";
    assert_eq!(submitted.problems.iter().map(|problem| problem.error.message.as_str()).collect::<Vec<_>>(), [told]);
}

/// One budget for all draws: a program that never ends uses it up once, however many draws there are, and nothing after it runs.
#[test]
fn all_draws_have_one_budget() {
    let mut bare = Bare::new();
    bare.vertex = ".stage vertex\nLOOP_START_DX10 FAIL_JUMP_ADDR(end)\nbody:\nALU:\n x: ADD R1.x, R1.x, 1.0f\nLOOP_END ADDR(body)\nend:\n\
                   EXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R1.xyzw\nEND_OF_PROGRAM\n"
        .into();
    let draw = "DRAW_INDEX_AUTO count=3, initiator={SOURCE_SELECT: COUNTED}\n";
    let bare = bare.with(draw, &draw.repeat(40));
    let (mut memory, words) = bare.ready();
    let mut device = Device::new(Box::<Jit>::default());
    let time = Duration::from_millis(300);
    device.set_options(DrawOptions {
        budget: Budget { instructions_per_group: None, time: None },
        deadline: Deadline::after(time),
        ..DrawOptions::default()
    });
    let begun = Instant::now();
    let mut draws = 0;
    let submitted = device.submit_absolute(&words, &mut memory, &mut |_| {
        draws += 1;
        Next::Continue
    });
    // Far below 40 times the budget, on a machine that is busy with other things too.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(submitted.is_over && draws == 1, "{draws} draws");
    assert_eq!(submitted.problems.len(), 1);
    let problem = &submitted.problems[0];
    assert_eq!((problem.error.kind, problem.draw), ("time-budget", Some(1)));
    assert_eq!(problem.error.message, "the 0.3 s that all draws together may take are over: the rest is not run");
    assert_eq!(memory.bytes(FENCE, 4), Some(&[0; 4][..]));
    // A draw that begins after the time limit does not run.
    let again = device.submit_absolute(&words, &mut memory, &mut |_| Next::Continue);
    assert!(again.is_over && again.problems[0].error.kind == "time-budget");
}
