//! R700 launches in which every thread does the same, against the reference interpreter: the examples, and random programs of straight lines
//! and counted loops on domains that are large enough.
//!
//! Truth: the reference interpreter. `CTM_RANDOM=n` runs n times as many programs, `CTM_SEED=n` one.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Launch, LoopConstant, Plane, Target};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, Outcome};
use ctm_isa::r700::Program;
use ctm_isa::r700::random::Random;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::{Backend, Jit, StreamLimits};
use ctm_testkit::tries::seeds;
use std::fmt::Write as _;
use std::path::Path;

struct Case {
    program: Program,
    constants: Constants,
    domain: Domain,
    wavefront: u16,
    budget: Option<u64>,
    memory: Arrays,
}

impl Case {
    fn new(program: Program, domain: [u32; 4], memory: Arrays) -> Self {
        let [i0, j0, i1, j1] = domain;
        let domain = Domain { i0, j0, i1, j1 };
        Self { program, constants: Constants::default(), domain, wavefront: 64, budget: None, memory }
    }

    /// Loop constants: turns of i0, i1.
    fn turns(mut self, turns: &[u16]) -> Self {
        for (constant, &count) in self.constants.loops.iter_mut().zip(turns) {
            *constant = LoopConstant { count, start: 0, step: 1 };
        }
        self
    }

    fn run(&self, engine: &dyn Engine, threads: usize) -> (Result<Outcome, Fault>, Arrays) {
        let planes = [Plane::position(0)];
        let launch = Launch {
            planes: &planes,
            wavefront: GroupSize::new(self.wavefront).unwrap(),
            budget: Budget { instructions_per_group: self.budget, time: None },
            threads,
            ..Launch::new(&self.program, &self.constants, self.domain)
        };
        let mut memory = self.memory.clone();
        let result = engine.run_r700(&launch, &mut memory);
        (result, memory)
    }

    /// Compares every back end with the interpreter. Gives the launches that were streams.
    fn compare(&self, name: &str) -> u64 {
        let (expected, memory) = self.run(&Interp, 1);
        let mut streams = 0;
        for backend in Backend::available() {
            for threads in [0, 1] {
                let limits = StreamLimits { processors: 64, ..StreamLimits::default() };
                let jit = Jit::with_backend(backend).with_stream_limits(limits);
                let (found, other) = self.run(&jit, threads);
                streams += jit.streams_run();
                assert_eq!(found, expected, "{name}, {backend}, {threads} threads");
                for (target, picture) in &memory.targets {
                    let pairs = other.targets[target].elements.iter().zip(&picture.elements);
                    for (at, (found, expected)) in pairs.enumerate() {
                        let (x, y) = (at as u32 % picture.width, at as u32 / picture.width);
                        let same = found == expected;
                        assert!(same, "{name}, {backend}, {target:?} ({x}, {y}): {found:08x?} for {expected:08x?}");
                    }
                }
            }
        }
        streams
    }

    /// The same, for programs that have to be streams where there are any.
    fn compare_stream(&self, name: &str) {
        assert_eq!(self.compare(name), 2 * native(), "{name}: launches that were streams");
    }

    /// The same, for programs with results below the range: on 64-bit ARM such a launch is done again, and not as a stream.
    fn compare_stream_below_range(&self, name: &str) {
        let (streams, all) = (self.compare(name), 2 * native());
        assert!(streams == all || streams < all && cfg!(target_arch = "aarch64"), "{name}: {streams} of {all} streams");
    }
}

/// Back ends that have streams.
fn native() -> u64 {
    Backend::available().filter(|backend| backend.has_streams()).count() as u64
}

fn example(path: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    program(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn program(text: &str) -> Result<Program, String> {
    let assembly = assemble(text, &TextOptions::default());
    assembly.program.ok_or_else(|| format!("{:?}", assembly.diagnostics))
}

fn noise(x: u32, y: u32, c: u32) -> f32 {
    let mixed = (x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ c.wrapping_mul(0xc2b2_ae35))
        .wrapping_mul(0x27d4_eb2f);
    (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn picture(width: u32, height: u32, value: impl Fn(u32, u32, u32) -> u32) -> Picture {
    let texel = |n: u32| std::array::from_fn(|c| value(n % width, n / width, c as u32));
    Picture { width, height, elements: (0..width * height).map(texel).collect() }
}

fn numbers(width: u32, height: u32) -> Picture {
    picture(width, height, |x, y, c| noise(x, y, c).to_bits())
}

fn memory(textures: Vec<Picture>, targets: &[(u32, u32)], constants: &[[f32; 4]]) -> Arrays {
    let mut memory = Arrays::default();
    for (id, texture) in (0..).zip(textures) {
        memory.textures.insert(id, texture.into());
    }
    for (n, &(width, height)) in (0..).zip(targets) {
        memory.targets.insert(Target::Pixel(n), Picture::filled(width, height, [7.0; 4]));
    }
    let constants = constants.iter().map(|c| c.map(f32::to_bits)).collect();
    memory.bind_constants(0, None, constants);
    memory
}

/// An operation without operands, before everything else in its block.
#[test]
fn operations_without_operands() {
    let source = "ALU:\n x: PRED_SET_CLR R1.x\n y: MOV R1.y, R0.x\nEXP_DONE: PIX0, R1.xyxy\nEND_OF_PROGRAM\n";
    let case = Case::new(program(source).unwrap(), [0, 0, 63, 31], memory(vec![], &[(64, 32)], &[]));
    case.compare_stream("PRED_SET_CLR");
}

/// Products, reciprocals, indices and counters, as streams make them: on every instruction set.
#[test]
fn operations_of_bits() {
    for line in [
        "t: MULHI_INT R1.x, R2.x, R3.x",
        "t: MULHI_UINT R1.x, R2.x, R3.x",
        "t: RECIP_INT R1.x, R2.x",
        "t: RECIP_UINT R1.x, R2.x",
        "x: PRED_SET_POP R1.x, R2.x, R3.x",
        "x: PRED_SETE_PUSH R1.x, R2.x, R3.x",
        "x: PRED_SETGT_PUSH_INT R1.x, R2.x, R3.x",
        "x: PRED_SET_INV R1.x, R2.x",
        "x: PRED_SET_RESTORE R1.x, R2.x",
        "t: MUL_LIT R1.x, R2.x, R3.x, R2.y",
    ] {
        // Texels are noise: numbers, and as many bit patterns that are none.
        let source = format!(
            "TEX:\n SAMPLE R2.xyzw, R0.xyxx, t0, s0 DENORM(XY)\n SAMPLE R3.xyzw, R0.xyxx, t1, s1 DENORM(XY)\nALU:\n {line}\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n"
        );
        let values =
            [0, 1, 2, 3, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x3f80_0000, 0x7f80_0000, 0xff7f_ffff, 0x7fc0_0000];
        let bits = |salt: u32| {
            picture(64, 32, move |x, y, c| match (x + 3 * y + salt) % 3 {
                0 => values[(x + y * 7 + c + salt) as usize % values.len()],
                1 => noise(x + salt, y, c).to_bits().wrapping_mul(0x9e37_79b9),
                _ => noise(x + salt, y, c).to_bits(),
            })
        };
        let case =
            Case::new(program(&source).unwrap(), [0, 0, 63, 31], memory(vec![bits(0), bits(1)], &[(64, 32)], &[]));
        if line.contains("MUL_LIT") {
            case.compare_stream_below_range(line);
        } else {
            case.compare_stream(line);
        }
    }
}

#[test]
fn the_examples_give_the_same() {
    for (w, h) in [(64, 32), (37, 41), (45, 33)] {
        let domain = [0, 0, w - 1, h - 1];
        let two = || vec![numbers(w, h), numbers(w, h)];
        let saxpy = example("examples/r700/saxpy/saxpy.psh");
        Case::new(saxpy, domain, memory(two(), &[(w, h)], &[[2.5, 0.0, 0.0, 0.0]])).compare_stream("saxpy");
        let weights: Vec<[f32; 4]> = (1..26).map(|n| [n as f32 / 64.0, 0.0, 0.0, 0.0]).collect();
        for path in ["examples/r700/conv5x5/conv5x5.psh", "bench/r700/conv5x5.psh"] {
            Case::new(example(path), domain, memory(vec![numbers(w, h)], &[(w, h)], &weights)).compare_stream(path);
        }
        let options =
            picture(w, h, |x, y, c| (0.1 + (noise(x, y, c) + 1.0) * [20.0, 30.0, 4.0, 0.0][c as usize]).to_bits());
        let market =
            [[0.02, 0.3, 0.065, 1.0 / 0.3], [0.7, 1.4, -0.7, 0.4], [0.32, -0.36, 1.78, -1.82], [1.33, 0.23, 0.0, 0.0]];
        let black = example("examples/r700/black-scholes/black-scholes.psh");
        Case::new(black, domain, memory(vec![options], &[(w, h)], &market)).compare_stream_below_range("black-scholes");
    }
    for n in [32, 80] {
        let arrays = vec![numbers(n / 4, n), numbers(n / 4 + 16, n)];
        let matmul = example("examples/r700/matmul/matmul.psh");
        let case = Case::new(matmul, [0, 0, n / 4 - 1 + 16, n - 1], memory(arrays, &[(n / 4 + 16, n)], &[]));
        case.turns(&[n as u16 / 4]).compare_stream("matmul");
    }
    let bodies = vec![numbers(36, 33), numbers(36, 33)];
    let nbody = example("examples/r700/nbody/nbody.psh");
    let case = Case::new(nbody, [0, 0, 35, 32], memory(bodies, &[(36, 33), (36, 33)], &[[0.01, 0.1, 0.0, 0.0]]));
    case.turns(&[3, 36]).compare_stream("nbody");
    let sum =
        Case::new(example("bench/r700/sum.psh"), [0, 0, 15, 79], memory(vec![numbers(200, 80)], &[(16, 80)], &[]));
    sum.turns(&[3]).compare_stream("sum");
}

#[test]
fn few_threads_with_much_to_do_are_streams() {
    let program = example("examples/r700/nbody/nbody.psh");
    let bodies = vec![numbers(36, 8), numbers(36, 8)];
    let memory = memory(bodies, &[(36, 8), (36, 8)], &[[0.01, 0.1, 0.0, 0.0]]);
    for (turns, expected) in [([3, 36], 1), ([1, 1], 0)] {
        let case = Case::new(program.clone(), [0, 0, 35, 7], memory.clone()).turns(&turns);
        let jit = Jit::new();
        let (found, expected_outcome) = (case.run(&jit, 1), case.run(&Interp, 1));
        assert_eq!(found.0, expected_outcome.0, "{turns:?}");
        assert_eq!(found.1.targets, expected_outcome.1.targets, "{turns:?}");
        assert_eq!(jit.streams_run(), expected * u64::from(jit.backend().has_streams()), "{turns:?}");
    }
}

/// An operand of a group's units: registers, the previous results, a constant, literals.
fn operand(r: &mut Random, registers: [u32; 2], constant: u32, modifiers: bool, literals: [&str; 2]) -> String {
    let chan = r.of(&["x", "y", "z", "w"]);
    let source = match r.below(8) {
        0 => format!("PV.{chan}"),
        1 => format!("KC0[{constant}].{chan}"),
        2 => literals[r.below(2) as usize].to_owned(),
        n => format!("R{}.{chan}", registers[n as usize % 2]),
    };
    if source.starts_with(|c: char| !c.is_alphabetic()) {
        return source;
    }
    let source = if modifiers && r.one_in(6) { format!("|{source}|") } else { source };
    if r.one_in(5) { format!("-{source}") } else { source }
}

const TWO: &[&str] = &[
    "ADD",
    "ADD",
    "MUL",
    "MUL",
    "MUL_e",
    "MAX",
    "MIN",
    "MAX_DX10",
    "MIN_DX10",
    "SETE",
    "SETGT",
    "SETGE",
    "SETNE",
    "SETE_DX10",
    "SETGT_DX10",
    "AND_INT",
    "OR_INT",
    "XOR_INT",
    "ADD_INT",
    "SUB_INT",
    "MAX_INT",
    "MIN_INT",
    "MAX_UINT",
    "MIN_UINT",
    "SETE_INT",
    "SETGT_INT",
    "SETGE_UINT",
    "ASHR_INT",
    "LSHR_INT",
    "LSHL_INT",
];
const ONE: &[&str] = &["FRACT", "TRUNC", "CEIL", "RNDNE", "FLOOR", "MOV", "NOT_INT"];
const THREE: &[&str] = &[
    "MULADD",
    "MULADD",
    "MULADD*2",
    "MULADD*4",
    "MULADD/2",
    "MULADD_e",
    "MULADD_e",
    "MULADD_e*2",
    "MULADD_e/2",
    "CNDE",
    "CNDGT",
    "CNDGE",
    "CNDE_INT",
    "CNDGT_INT",
    "CNDGE_INT",
];
const TRANS: &[&str] = &[
    "EXP_e",
    "LOG_e",
    "LOG_sat",
    "RCP_e",
    "RCP_sat",
    "RCP_FF",
    "RSQ_e",
    "RSQ_sat",
    "RSQ_FF",
    "SQRT_e",
    "SIN",
    "COS",
    "FLT_TO_INT",
    "INT_TO_FLT",
    "UINT_TO_FLT",
];

fn group(r: &mut Random, text: &mut String, number: u32) {
    let registers = [1 + r.below(6), 1 + r.below(6)];
    let constant = r.below(8);
    let numbers = ["1.0f", "0.5f", "-2.0f", "0.0f", "3.25f", "1e30f", "0x7fc00001", "0x00000003"];
    let literals = [r.of(&numbers), r.of(&numbers)];
    let before = text.len();
    let line = |text: &mut String, unit: &str, body: &str| {
        let number = if text.len() == before { format!("{number:3} ") } else { "    ".to_owned() };
        writeln!(text, "{number} {unit}: {body}").unwrap();
    };
    let to = 1 + r.below(6);
    if r.one_in(8) {
        let op = r.of(&["DOT4", "DOT4_e"]);
        for (n, unit) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let (a, b) =
                (operand(r, registers, constant, true, literals), operand(r, registers, constant, true, literals));
            let to = if n == 0 { format!("R{to}.x") } else { "____".to_owned() };
            line(text, unit, &format!("{op} {to}, {a}, {b}"));
        }
        return;
    }
    for unit in ["x", "y", "z", "w", "t"] {
        if r.one_in(3) {
            continue;
        }
        let chan = if unit == "t" { r.of(&["x", "y", "z", "w"]) } else { unit };
        let to = format!("R{}.{chan}", 1 + r.below(6));
        let kind = if unit == "t" { r.below(2) * 9 } else { r.below(6) };
        let read = |r: &mut Random, modifiers| operand(r, registers, constant, modifiers, literals);
        let omod = if r.one_in(6) { r.of(&["*2", "*4", "/2"]) } else { "" };
        let clamp = if r.one_in(8) { " CLAMP" } else { "" };
        let body = match kind {
            0..=2 => {
                let op = r.of(TWO);
                let integer = op.ends_with("INT");
                let (omod, clamp) =
                    if integer || op.ends_with("DX10") && op.starts_with("SET") { ("", "") } else { (omod, clamp) };
                format!("{op}{omod} {to}, {}, {}{clamp}", read(r, !integer), read(r, !integer))
            }
            3 => {
                let op = r.of(ONE);
                let (omod, clamp) = if op == "NOT_INT" { ("", "") } else { (omod, clamp) };
                format!("{op}{omod} {to}, {}{clamp}", read(r, op != "NOT_INT"))
            }
            9 => {
                let op = r.of(TRANS);
                let (omod, clamp) = if op.starts_with("FLT") { ("", "") } else { (omod, clamp) };
                format!("{op}{omod} {to}, {}{clamp}", read(r, false))
            }
            _ => format!("{} {to}, {}, {}, {}", r.of(THREE), read(r, false), read(r, false), read(r, false)),
        };
        line(text, unit, &body);
    }
    if text.len() == before {
        line(text, "x", "MOV R1.x, R2.y");
    }
}

/// A clause of fetches, a clause of arithmetic.
fn clauses(r: &mut Random, text: &mut String, number: &mut u32, at: &[&str]) {
    let fetches = r.below(4);
    if fetches > 0 {
        writeln!(text, "TEX:").unwrap();
        for _ in 0..fetches {
            let offset = |r: &mut Random, axis: char| {
                if r.one_in(3) {
                    format!(" {axis}OFFSET({:.1})", f64::from(r.below(9)) / 2.0 - 2.0)
                } else {
                    String::new()
                }
            };
            let swizzle = r.of(&["xyzw", "xyzw", "xyzw", "wzyx", "x0_1", "yyyy"]);
            let (x, y) = (offset(r, 'X'), offset(r, 'Y'));
            let (to, from, texture) = (1 + r.below(6), r.of(at), r.below(2));
            writeln!(text, "    SAMPLE R{to}.{swizzle}, {from}, t{texture}, s0 DENORM(XY){x}{y}").unwrap();
        }
    }
    writeln!(text, "ALU: KCACHE0(CB0:0-15)").unwrap();
    for _ in 0..1 + r.below(5) {
        group(r, text, *number);
        *number += 1;
    }
}

fn random(r: &mut Random) -> String {
    let mut text = ".stage pixel\nALU:\n  0  x: ADD R0.x, R0.x, 0.5f\n     y: ADD R0.y, R0.y, 0.5f\n".to_owned();
    text.push_str("  1  x: MOV R7.x, 0.5f\n     y: MOV R7.y, 1.5f\n     z: MOV R7.z, R0.x\n     w: MOV R7.w, R0.y\n");
    let mut number = 2;
    clauses(r, &mut text, &mut number, &["R0.xy__"]);
    for n in 0..r.below(3) {
        let nested = r.one_in(3);
        let step = r.of(&["1.0f", "2.0f", "-1.0f"]);
        writeln!(text, "LOOP_START i{n} FAIL_JUMP_ADDR(behind{n})\nturn{n}:").unwrap();
        if nested {
            writeln!(text, "LOOP_START i2 FAIL_JUMP_ADDR(within{n})\ninner{n}:").unwrap();
            clauses(r, &mut text, &mut number, &["R7.xy__", "R7.zy__", "R0.xy__"]);
            writeln!(text, "LOOP_END i2 PASS_JUMP_ADDR(inner{n})\nwithin{n}:").unwrap();
        }
        clauses(r, &mut text, &mut number, &["R7.xy__", "R7.zy__", "R7.xw__"]);
        writeln!(text, "ALU:\n{number:3}  x: ADD R7.x, R7.x, {step}\n     z: ADD R7.z, R7.z, 1.0f").unwrap();
        number += 1;
        writeln!(text, "LOOP_END i{n} PASS_JUMP_ADDR(turn{n})\nbehind{n}:").unwrap();
        clauses(r, &mut text, &mut number, &["R0.xy__"]);
    }
    let last = if r.one_in(4) {
        "R2.xyzw".to_owned()
    } else {
        format!("R{}.{}", 1 + r.below(6), r.of(&["xyzw", "wx01", "xxxx"]))
    };
    writeln!(text, "EXP: PIX1, R{}.xyzw\nEXP_DONE: PIX0, {last}\nEND_OF_PROGRAM", 1 + r.below(6)).unwrap();
    text
}

#[test]
fn random_programs_give_the_same() {
    let (mut made, mut tried, mut streams) = (0, 0, 0);
    for seed in seeds(40) {
        let r = &mut Random::new(seed ^ 0x0051_4ea7);
        let text = random(r);
        tried += 1;
        // Some have more operands than the ports of a group can read.
        let Ok(program) = program(&text) else { continue };
        made += 1;
        let (w, h) = (17 + r.below(30), 6 + r.below(9));
        let (i0, j0) = (r.below(3), r.below(3));
        let special = r.one_in(3);
        let value = |r: &mut Random| {
            if special && r.one_in(4) { r.value() } else { (r.below(4001) as f32 / 500.0 - 4.0).to_bits() }
        };
        let mut texture = || {
            let (width, height) = (w - 3 + r.below(9), h - 3 + r.below(9));
            Picture {
                width,
                height,
                elements: (0..width * height).map(|_| std::array::from_fn(|_| value(r))).collect(),
            }
        };
        let textures = vec![texture(), texture()];
        let size = (i0 + w + 3, j0 + h);
        let mut memory = memory(textures, &[size, size], &[]);
        memory.bind_constants(0, None, (0..16).map(|_| std::array::from_fn(|_| value(r))).collect());
        let case = Case {
            wavefront: r.of(&[64, 64, 32, 16]),
            budget: Some(if r.one_in(6) { u64::from(r.below(100)) } else { 100_000 }),
            ..Case::new(program, [i0, j0, i0 + w - 1, j0 + h - 1], memory)
        };
        let turns = [1 + r.below(5) as u16, 1 + r.below(3) as u16, 1 + r.below(4) as u16];
        streams += case.turns(&turns).compare(&format!("seed {seed}\n{text}"));
    }
    assert!(3 * made >= tried, "{made} of {tried} programs were made");
    // Both runs of most; the others have a budget that is too small.
    assert!(tried == 1 || streams >= made * native(), "{streams} streams of {made} programs");
}
