//! R700 launches whose wavefronts store their own exports, against the reference interpreter: positions of domains,
//! start values of variables, and layouts of targets.
//!
//! Truth: the reference interpreter, which sends memory each element separately.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect; a measurement prints"
)]

use ctm_exec::arrays::scaled;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{
    Buffer, Cells, Constants, Direct, Divisor, Exports, Launch, LoopConstant, Memory, Plane, Sampler, Space, Target,
    TargetEpilogue, Texture, Tiles, VertexEvent, Written,
};
use ctm_exec::x1k::{Elements, Form};
use ctm_exec::{Domain, Engine, Fault, GroupSize, Interp, Outcome, Position};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::random::{self, Random, RandomContents};
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::{Backend, Jit};
use ctm_testkit::clock::thread_time;
use ctm_testkit::starts::planes;
use ctm_testkit::tries::seeds;
use std::path::Path;

/// Elements of `channels` channels, of which some may be written.
#[derive(Clone, PartialEq)]
pub(super) struct Array {
    bytes: Vec<u8>,
    pitch: u32,
    size: (u32, u32),
    channels: u8,
    mask: u8,
    form: Form,
    tiles: Option<Tiles>,
}

impl Array {
    /// The offset of an element.
    fn offset(&self, i: u32, j: u32) -> usize {
        let linear = (j * self.pitch + i) * self.form.element_bytes(self.channels);
        self.tiles.as_ref().map_or(linear, |tiles| tiles.offset(i, j).unwrap()) as usize
    }
}

/// Bytes of a tile.
const TILE: u32 = 2048;

/// Tiles of 8 columns and 16 rows, in which every other pair of rows is folded.
fn tiles(width: u32, height: u32, element: u32) -> Tiles {
    let (across, element) = (width.div_ceil(8), element.next_power_of_two());
    let row = |j: u32| (j / 16 * across * TILE) | ((j % 16 * 8 * element) ^ ((j >> 1 & 1) * 4 * element));
    Tiles {
        columns: (0..width).map(|i| i / 8 * TILE + i % 8 * element).collect(),
        rows: (0..height).map(row).collect(),
        tile_bytes: TILE,
    }
}

/// Pixel targets.
#[derive(Clone, PartialEq)]
pub(super) struct Targets {
    constants: Vec<[u32; 4]>,
    pub(super) arrays: Vec<Array>,
    /// The meaning of exports, if they do not replace elements.
    pub(super) epilogues: Vec<TargetEpilogue>,
    /// Launches that asked for the arrays of epilogues.
    pub(super) merges: u32,
}

impl Targets {
    pub(super) fn new(width: u32, height: u32, channels: &[(u8, u8, Form, bool)]) -> Self {
        let array = |&(channels, mask, form, tiled): &(u8, u8, Form, bool)| {
            let element = form.element_bytes(channels);
            let pitch = (width + 3).next_multiple_of(2);
            let tiles = tiled.then(|| tiles(width, height, element));
            let linear = u64::from(pitch * height * element);
            let bytes = tiles.as_ref().map_or(linear, |tiles| tiles.last(width - 1, height - 1).unwrap());
            let bytes = (0..bytes.next_multiple_of(4)).map(|n| n as u8).collect();
            Array { bytes, pitch, size: (width, height), channels, mask, form, tiles }
        };
        let arrays = channels.iter().map(array).collect();
        Self { constants: Vec::new(), arrays, epilogues: Vec::new(), merges: 0 }
    }
}

fn nothing<T>() -> Result<T, MemoryFault> {
    Err(MemoryFault { what: "memory".into(), address: None, reason: "there is none".into() })
}

impl Memory for Targets {
    fn constant(&self, _bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        Ok(self.constants.get(index as usize).copied().unwrap_or_default())
    }

    fn buffer(&self, _id: u8) -> Option<Buffer> {
        None
    }

    fn read_buffer(&self, _id: u8, _offset_bytes: u64, _bytes: &mut [u8]) -> Result<(), MemoryFault> {
        nothing()
    }

    fn texture(&self, _id: u8) -> Option<Texture> {
        None
    }

    fn sampler(&self, _id: u8) -> Option<Sampler> {
        None
    }

    fn texel(&self, _id: u8, _level: u32, _at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        nothing()
    }

    fn space(&self, _space: Space) -> Option<u64> {
        None
    }

    fn load(&self, _space: Space, _dword: u64) -> Result<u32, MemoryFault> {
        nothing()
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        nothing()
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        nothing()
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let mut done = Written::default();
        for of in &self.epilogues {
            let array = &mut self.arrays[usize::from(of.target)];
            let first = array.offset(at.i, at.j);
            let dword: &mut [u8; 4] = array.bytes[first..].first_chunk_mut().unwrap();
            let value = |output: u8, element: u8| {
                exports.get(Target::Pixel(output)).map_or(0, |(values, _)| values[usize::from(element)])
            };
            *dword = of.epilogue.apply(value, u32::from_le_bytes(*dword)).to_le_bytes();
            done.elements += 1;
            done.bytes += 4;
        }
        if !self.epilogues.is_empty() {
            return Ok(done);
        }
        for (target, array) in (0..).map(Target::Pixel).zip(&mut self.arrays) {
            let Some((values, written)) = exports.get(target) else { continue };
            let mask = written & array.mask & ((1 << array.channels) - 1);
            let first = array.offset(at.i, at.j);
            for (channel, bits) in values.into_iter().enumerate().filter(|(channel, _)| mask >> channel & 1 == 1) {
                let (number, at, bytes) = match array.form {
                    Form::Bytes { swapped } => {
                        let byte = if swapped && channel % 2 == 0 { 2 - channel } else { channel };
                        (scaled(bits, 255), first + byte, 1)
                    }
                    Form::Words => (scaled(bits, 65535), first, 2),
                    _ => (bits, first + 4 * channel, 4),
                };
                array.bytes[at..at + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
                done.bytes += bytes as u64;
            }
            done.elements += u64::from(mask != 0);
        }
        Ok(done)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        assert!(textures.is_empty(), "nothing is fetched");
        if !self.epilogues.is_empty() {
            return None;
        }
        let mut lent: Vec<Option<Elements<Cells<'_>>>> = targets.iter().map(|_| None).collect();
        for (target, array) in (0..).map(Target::Pixel).zip(&mut self.arrays) {
            if let Some(place) = targets.iter().position(|&t| t == target) {
                let Array { ref mut bytes, pitch, size: (width, height), channels, mask, form, ref tiles } = *array;
                let (bytes, tiles) = (Cells::Bytes(bytes), tiles.clone());
                lent[place] = Some(Elements { bytes, pitch, width, height, form, channels, mask, tiles });
            }
        }
        let reads = self.constants.clone();
        let reads = Targets { constants: reads, arrays: Vec::new(), epilogues: Vec::new(), merges: 0 };
        Some(Direct { textures: Vec::new(), targets: lent, reads: Box::new(reads) })
    }

    fn merged(&mut self, targets: &[u8]) -> Option<Direct<'_>> {
        self.merges += 1;
        let constants = self.constants.clone();
        let mut arrays: Vec<Option<&mut Array>> = self.arrays.iter_mut().map(Some).collect();
        let mut mapped = |&target: &u8| {
            let Array { ref mut bytes, pitch, size: (width, height), channels, mask, form, ref tiles } =
                *arrays.get_mut(usize::from(target))?.take()?;
            let (bytes, tiles) = (Cells::Bytes(bytes), tiles.clone());
            Some(Some(Elements { bytes, pitch, width, height, form, channels, mask, tiles }))
        };
        let targets = targets.iter().map(&mut mapped).collect::<Option<_>>()?;
        let reads = Targets { constants, arrays: Vec::new(), epilogues: Vec::new(), merges: 0 };
        Some(Direct { textures: Vec::new(), targets, reads: Box::new(reads) })
    }
}

pub(super) fn program(text: &str) -> Program {
    let assembly = assemble(text, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

struct Case<'a> {
    program: &'a Program,
    planes: &'a [Plane],
    domain: [u32; 4],
    wavefront: u16,
    counters: bool,
    threads: usize,
    turns: u16,
    /// Lanes whose exports are sent.
    covered: Option<&'a [u64]>,
    /// The divisor of the planes' elements y and w.
    divisor: Option<[f64; 3]>,
}

impl Case<'_> {
    fn run(&self, engine: &dyn Engine, memory: &mut Targets) -> Result<Outcome, Fault> {
        let [i0, j0, i1, j1] = self.domain;
        let mut constants = Constants::default();
        constants.loops = constants.loops.map(|_| LoopConstant { count: self.turns, start: 0, step: 1 });
        let quotients: Vec<(u8, u8)> = self.planes.iter().map(|plane| (plane.temp, 0b1010)).collect();
        let launch = Launch {
            covered: self.covered,
            divisor: self.divisor.map(|of| Divisor { of, elements: &quotients }),
            planes: self.planes,
            wavefront: GroupSize::new(self.wavefront).unwrap(),
            counters: self.counters,
            threads: self.threads,
            ..Launch::new(self.program, &constants, Domain { i0, j0, i1, j1 })
        };
        engine.run_r700(&launch, memory)
    }
}

/// The number of times that an operation can be repeated; lanes leave the loop at different turns.
const TURNS: &str = "
ALU:
  0  x: MOV R2.x, R0.x
     y: MOV R2.y, 0.0f
     z: MOV R2.z, R0.y
LOOP_START i0 FAIL_JUMP_ADDR(done)
turn:
ALU_BREAK:
  1  x: MULADD_e R2.x, R2.x, 0.75f, R2.z
     y: ADD R2.y, R2.y, 1.0f
  2  x: PRED_SETGT ____, 90.0f, R2.x UPDATE_EXEC_MASK UPDATE_PRED
LOOP_END i0 PASS_JUMP_ADDR(turn)
done:
EXP: PIX0, R2.yxzx
EXP: PIX1, R0.xyzw
EXP_DONE: PIX2, R2.x00y
END_OF_PROGRAM
";

/// Branches within a loop within a loop: lanes wait in some of them, leave loops, begin turns anew.
const NESTED: &str = "
ALU:
  0  x: MOV R2.x, R0.x
     y: MOV R2.y, 0.0f
     z: MOV R2.z, R0.y
LOOP_START i0 FAIL_JUMP_ADDR(out)
outer:
LOOP_START i1 FAIL_JUMP_ADDR(within)
inner:
ALU_CONTINUE:
  1  x: MULADD_e R2.x, R2.x, 0.75f, R2.z
     y: ADD R2.y, R2.y, 1.0f
  2  x: PRED_SETGT ____, R2.x, 20.0f UPDATE_EXEC_MASK UPDATE_PRED
ALU_PUSH_BEFORE:
  3  x: PRED_SETGT ____, 50.0f, R2.x UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(behind)
ALU:
  4  y: MULADD_e R2.y, R2.y, 2.0f, R0.x
     w: ADD R2.w, R2.w, 1.0f
POP POP_CNT(1)
behind:
ALU_BREAK:
  5  z: ADD R2.z, R2.z, -1.0f
  6  x: PRED_SETGT ____, 70.0f, R2.x UPDATE_EXEC_MASK UPDATE_PRED
LOOP_END i1 PASS_JUMP_ADDR(inner)
within:
ALU_BREAK:
  7  x: MULADD_e R2.x, R2.y, -0.5f, R2.x
  8  x: PRED_SETGT ____, R2.z, -30.0f UPDATE_EXEC_MASK UPDATE_PRED
LOOP_END i0 PASS_JUMP_ADDR(outer)
out:
EXP: PIX0, R2.xyzw
EXP: PIX1, R2.wzyx
EXP_DONE: PIX2, R2.yxww
END_OF_PROGRAM
";

/// Some lanes are killed.
const KILLED: &str = "
ALU:
  0  x: KILLGT ____, R0.x, 37.0f
  1  x: MOV R2.x, R0.x
     y: MULADD_e R2.y, R0.x, 3.0f, R0.y
EXP: PIX0, R2.xyyx
EXP: PIX1, R2.yxxx
EXP_DONE: PIX2, R0.yyyy
END_OF_PROGRAM
";

/// Some lanes do not write everything.
const PARTLY: &str = "
ALU:
  0  x: MOV R2.x, R0.x
     y: MOV R2.y, R0.y
EXP: PIX0, R2.xyyx
EXP: PIX1, R2.xyxy
ALU_PUSH_BEFORE:
  1  x: PRED_SETGT ____, R0.x, 21.0f UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(end)
EXP: PIX2, R2.yxyx
POP POP_CNT(1)
end:
EXP_DONE: PIX0, R2.yxxx
END_OF_PROGRAM
";

/// Of targets only some elements.
const CHANNELS: &str = "
ALU:
  0  x: MOV R2.x, R0.y
     y: MOV R2.y, R0.x
EXP: PIX0, R2.x___
EXP: PIX1, R2.yx__
EXP_DONE: PIX2, R2._xyx
END_OF_PROGRAM
";

/// Elements that are one number: wherever they are written, in some lanes alone, and in one of two places; and one that
/// is another number in some lanes.
const NUMBERS: &str = "
ALU:
  0  x: MOV R2.x, R0.x
     y: MOV R2.y, 0.75f
EXP: PIX0, R2.xy01
EXP: PIX1, R2._0__
ALU_PUSH_BEFORE:
  1  x: PRED_SETGT ____, R0.x, 21.0f UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(end)
EXP: PIX1, R2.y1x0
EXP: PIX2, R2.y0_1
POP POP_CNT(1)
end:
EXP_DONE: PIX1, R2.__xx
END_OF_PROGRAM
";

#[test]
fn wavefronts_side_by_side() {
    let domains = [
        [0, 0, 127, 3],
        // Pairs of whole rows, and one by itself.
        [16, 2, 16 + 63, 2 + 13],
        // Not aligned to quads; half quads at every side.
        [3, 1, 140, 6],
        // Wavefronts continue across row ends.
        [2, 2, 2 + 59, 9],
        [16, 4, 16 + 79, 4 + 1],
        [0, 0, 6, 30],
        // An odd number of rows of quads; half quads in the first row.
        [8, 2, 8 + 71, 2 + 9],
        [0, 1, 63, 8],
    ];
    let floats = |channels, mask| (channels, mask, Form::Floats, false);
    let tiled = |channels, mask| (channels, mask, Form::Floats, true);
    let bytes = |mask, swapped, tiled| (4, mask, Form::Bytes { swapped }, tiled);
    let words = |tiled| (1, 15, Form::Words, tiled);
    let targets = [
        [floats(1, 15), floats(4, 15), floats(2, 15)],
        [floats(4, 15), floats(1, 15), floats(4, 15)],
        [floats(2, 15), floats(2, 15), floats(1, 15)],
        [floats(4, 11), floats(3, 15), floats(1, 0)],
        [bytes(15, false, false), words(false), bytes(15, true, true)],
        [tiled(4, 15), words(true), tiled(2, 7)],
        [words(false), bytes(5, true, false), tiled(1, 15)],
    ];
    let programs = [("turns", TURNS), ("nested", NESTED), ("killed", KILLED), ("partly", PARTLY)];
    for (name, text) in programs.into_iter().chain([("channels", CHANNELS), ("numbers", NUMBERS)]) {
        let program = program(text);
        for (number, domain) in domains.into_iter().enumerate() {
            for (of, planes) in planes().iter().enumerate() {
                let (width, height) = (domain[2] + 1 + of as u32, domain[3] + 1);
                let memory = Targets::new(width, height, &targets[(number + of) % targets.len()]);
                let mut case = Case {
                    covered: None,
                    divisor: None,
                    program: &program,
                    planes,
                    domain,
                    wavefront: 64,
                    counters: (number + of).is_multiple_of(3),
                    threads: 1,
                    turns: 9,
                };
                for wavefront in [64, 32, 16] {
                    case.wavefront = wavefront;
                    let mut expected = memory.clone();
                    let outcome = case.run(&Interp, &mut expected);
                    for backend in Backend::available() {
                        let mut found = memory.clone();
                        let what = format!("{name}, {domain:?}, planes {of}, {wavefront} lanes, {backend}");
                        let engine = Jit::with_backend(backend);
                        assert_eq!(case.run(&engine, &mut found), outcome, "{what}");
                        assert!(found == expected, "{what}: targets differ");
                        assert_eq!(engine.r700_bail_outs(), 0, "{what}");
                    }
                }
            }
        }
    }
}

/// Sums with products by a power of two, which need one rounding only where the summand is not too large: products that
/// overflow and cancel, and summands of extreme magnitude.
#[test]
fn products_by_powers_of_two() {
    let text = "
ALU: KCACHE0(CB0:0-15)
  0  x: MUL_e R1.x, R0.x, KC0[0].x
     y: MUL_e R1.y, R0.y, KC0[0].y
     z: MULADD_e R1.z, R0.x, KC0[0].z, KC0[0].w
  1  x: MULADD_e R2.x, R1.x, 2.0f, KC0[1].x
     y: MULADD R2.y, R1.x, -2.0f, R1.z
     z: MULADD_e R2.z, -R1.y, 4.0f, -KC0[1].x
     w: MULADD_e*2 R2.w, 2.0f, R1.y, R1.z
  2  x: MULADD_e R3.x, R1.x, 2.0f, R1.y
     y: MULADD_e R3.y, R1.x, 0.5f, KC0[1].x
     z: MULADD R3.z, -R1.y, -1024.0f, R0.x CLAMP
EXP: PIX0, R2.xyzw
EXP_DONE: PIX1, R3.xyzx
END_OF_PROGRAM
";
    let program = program(text);
    let few = [0.0, -0.0, 1.0, -3.0, 1e-39, 1e-30, 1e12, 2e12, 1.7e38, -1.7e38, f32::INFINITY, f32::NAN];
    let of =
        |origin: f64, di: f64| vec![Plane { temp: 0, origin: [origin; 4], di: [di; 4], dj: [1.0; 4], bits: false }];
    for planes in [of(0.0, 1.0), of(-7.0, 0.25), of(1e38, 1e37), of(f64::NAN, 1.0), of(1e-38, 1e-39)] {
        for scale in few {
            for summand in few {
                let mut memory = Targets::new(64, 4, &[(4, 15, Form::Floats, false); 2]);
                let first = [scale, 1.0, summand, 0.5];
                memory.constants = [first, [summand; 4]].iter().map(|row| row.map(f32::to_bits)).collect();
                let case = Case {
                    covered: None,
                    divisor: None,
                    program: &program,
                    planes: &planes,
                    domain: [0, 0, 63, 3],
                    wavefront: 64,
                    counters: false,
                    threads: 1,
                    turns: 1,
                };
                let mut expected = memory.clone();
                let outcome = case.run(&Interp, &mut expected);
                for backend in Backend::available() {
                    let mut found = memory.clone();
                    assert_eq!(case.run(&Jit::with_backend(backend), &mut found), outcome, "{backend}");
                    assert!(found == expected, "{scale:e}, {summand:e}, {backend}: targets differ");
                }
            }
        }
    }
}

/// Random programs that fetch nothing: their registers, masks and exports must not reach the next wavefront.
#[test]
fn random_programs() {
    let quiet = RandomContents { fetches: false, memory: false, sharing: false, ..RandomContents::all(Stage::Pixel) };
    for seed in seeds(150) {
        let r = &mut Random::new(seed ^ 0x0057_a115);
        let shape = RandomContents { clauses: 1 + r.below(6) as usize, kills: r.one_in(4), flow: r.one_in(2), ..quiet };
        let program = random::program(seed, &shape);
        let plane = |temp| {
            let step = r.of(&[1.0, 1.0, 1.0 / 64.0, 0.1]);
            let of = |r: &mut Random| std::array::from_fn(|_| step * (f64::from(r.below(9)) - 4.0));
            Plane { temp, origin: of(r), di: of(r), dj: of(r), bits: false }
        };
        let planes: Vec<Plane> = (0..4).map(plane).collect();
        let (i0, j0) = (r.below(5), r.below(3));
        let (rows, whole) = (1 + r.below(4), r.one_in(2));
        let columns = if whole { 32 * (1 + r.below(4)) } else { 32 + r.below(70) };
        let domain = [i0, j0, i0 + columns - 1, j0 + if whole { 2 * rows - 1 } else { rows }];
        let channels = r.of(&[(1, 15), (2, 15), (4, 15), (4, 15), (3, 15), (4, 6)]);
        let floats = (channels.0, channels.1, Form::Floats, r.one_in(4));
        let bytes = (4, 15, Form::Bytes { swapped: r.one_in(2) }, r.one_in(3));
        let words = (1, 15, Form::Words, r.one_in(3));
        let channels = r.of(&[floats, floats, bytes, words]);
        let mut memory = Targets::new(domain[2] + 2, domain[3] + 1, &[channels; 8]);
        memory.constants = (0..48).map(|_| std::array::from_fn(|_| r.value())).collect();
        let (wavefront, turns) = (r.of(&[16, 32, 64]), 1 + r.below(3) as u16);
        let (planes, program) = (&planes, &program);
        let words: Vec<u64> = (0..512).map(|_| r.of(&[0, u64::MAX, 0xf0f0_1248_0000_ffff, 1 << 40])).collect();
        let covered = r.one_in(3).then_some(words.as_slice());
        let divisor =
            r.one_in(3).then(|| [r.of(&[1.0, 0.3, -7.5]), r.of(&[0.0, 0.01, 1.0]), r.of(&[0.0, -0.003, 0.125])]);
        let case =
            Case { program, planes, domain, wavefront, counters: r.one_in(3), threads: 1, turns, covered, divisor };
        let mut expected = memory.clone();
        let outcome = case.run(&Interp, &mut expected);
        for backend in Backend::available() {
            let mut found = memory.clone();
            assert_eq!(case.run(&Jit::with_backend(backend), &mut found), outcome, "seed {seed}, {backend}");
            let differs =
                found.arrays.iter().zip(&expected.arrays).enumerate().find_map(|(target, (found, expected))| {
                    let at = found.bytes.iter().zip(&expected.bytes).position(|(found, expected)| found != expected)?;
                    Some((target, at, found.bytes[at], expected.bytes[at]))
                });
            let what = format!("seed {seed}, {backend}, {channels:?}, {domain:?}, {wavefront} lanes");
            assert!(outcome.is_err() || differs.is_none(), "{what}: target, byte, found, expected: {differs:?}");
        }
    }
}

/// Programs of high register pressure, so that code is for fewer lanes than a wavefront has: targets, edges, covered
/// lanes and threads are still those of the launch.
#[test]
fn programs_that_keep_much() {
    const KEPT: usize = 48;
    for seed in seeds(60) {
        let r = &mut Random::new(seed ^ 0x3a11_0f00);
        let (targets, kept) = (1 + r.below(2), KEPT + r.below(60) as usize);
        let letters = ["x", "y", "z", "w"];
        let group = |line: &mut dyn FnMut(&str) -> String| {
            letters.map(|letter| format!("{letter}: {}\n", line(letter))).concat()
        };
        // All registers are defined first and used afterwards, the last one first.
        let mut groups: Vec<String> = Vec::new();
        for register in 2..2 + kept {
            let (from, element) = (r.below(2), r.of(&letters));
            groups.push(group(&mut |letter| {
                let (factor, of) = (f64::from(r.below(64)) / 64.0, r.below(2));
                format!("MULADD R{register}.{letter}, R{from}.{element}, {factor}f, R{of}.{letter}")
            }));
        }
        for register in (2..2 + kept).rev() {
            let to = register % 2;
            groups.push(group(&mut |letter| {
                format!("MULADD R{to}.{letter}, R{register}.{letter}, R{register}.{letter}, R1.{letter}")
            }));
        }
        let mut text = String::new();
        for clause in groups.chunks(28) {
            text += "ALU:\n";
            (0..).zip(clause).for_each(|(n, group): (usize, &String)| text += &format!("{n} {group}"));
        }
        text +=
            if targets == 2 { "EXP: PIX0, R0.xyzw\nEXP_DONE: PIX1, R1.xyzw\n" } else { "EXP_DONE: PIX0, R0.xyzw\n" };
        let program = program(&(text + "END_OF_PROGRAM\n"));
        let plane = |temp| {
            let of = |r: &mut Random| std::array::from_fn(|_| f64::from(r.below(9)) / 8.0);
            Plane { temp, origin: of(r), di: of(r), dj: of(r), bits: false }
        };
        let planes: Vec<Plane> = (0..2).map(plane).collect();
        let (i0, j0) = (r.below(5), r.below(3));
        let domain = [i0, j0, i0 + r.below(120), j0 + r.below(6)];
        let channels = r.of(&[
            (4, 15, Form::Floats, false),
            (4, 15, Form::Bytes { swapped: false }, true),
            (2, 3, Form::Floats, true),
        ]);
        let memory = Targets::new(domain[2] + 2, domain[3] + 1, &[channels; 2]);
        let words: Vec<u64> = (0..32).map(|_| r.of(&[0, u64::MAX, 0xf0f0_1248_0000_ffff, 1 << 40])).collect();
        let covered = r.one_in(2).then_some(words.as_slice());
        let (planes, program, wavefront) = (&planes, &program, r.of(&[16, 32, 64]));
        let (counters, threads) = (r.one_in(4), 1 + r.below(2) as usize);
        let case = Case { program, planes, domain, wavefront, counters, threads, turns: 1, covered, divisor: None };
        let mut expected = memory.clone();
        let outcome = case.run(&Interp, &mut expected);
        for backend in Backend::available() {
            let mut found = memory.clone();
            assert_eq!(case.run(&Jit::with_backend(backend), &mut found), outcome, "seed {seed}, {backend}");
            assert!(found == expected, "seed {seed}, {backend}, {domain:?}, {wavefront} lanes: targets differ");
        }
    }
}

/// The time of a thread for mandelbrot of `ctm bench`: `cargo test --release -p ctm-jit --test suite -- r700_spans --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn mandelbrot() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/r700/mandelbrot.psh");
    let program = program(&std::fs::read_to_string(path).unwrap());
    let planes = [Plane::position(0)];
    let case = Case {
        covered: None,
        divisor: None,
        program: &program,
        planes: &planes,
        domain: [0, 0, 1023, 1023],
        wavefront: 64,
        counters: std::env::var_os("CTM_COUNTERS").is_some(),
        threads: 1,
        turns: 256,
    };
    let mut memory = Targets::new(1024, 1024, &[(1, 15, Form::Floats, false)]);
    memory.constants = vec![[-2.0, -1.5, 3.0 / 1024.0, 0.0].map(f32::to_bits)];
    for backend in Backend::available().filter(|&backend| backend != Backend::Portable) {
        let engine = Jit::with_backend(backend);
        let once = || {
            let busy = thread_time();
            case.run(&engine, &mut memory).unwrap();
            thread_time() - busy
        };
        let least = std::iter::repeat_with(once).take(40).min();
        println!("mandelbrot, {backend}: {:.3} ms", least.unwrap() as f64 * 1e-6);
    }
}
