//! The cost of compiling, and whether a change to the compiler changes code: measurements, none of them run by default.
//!
//! Nothing here executes code, so both instruction sets can be measured on any x86-64 host, and under tools that know
//! only one of them. `docs/engine/cost.md` has the commands.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

use crate::codegen::x86::X86Target;
use crate::codegen::x86::masked::Variant;
use crate::codegen::x86::stream::{Geometry, Kernel};
use crate::runtime::x1k::artifact::with_masks;
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::random::{FlowControl, Random, RandomContents, StreamShape, program, stream};
pub(crate) use ctm_testkit::clock::thread_time;
use std::fmt::Write as _;
use std::sync::Arc;

const LENGTHS: [usize; 4] = [16, 64, 128, 512];
const PLANES: &[Plane] = &[Plane::position(0)];

pub(crate) fn launch<'a>(program: &'a Program, constants: &'a Constants) -> Launch<'a> {
    Launch {
        program,
        constants,
        planes: PLANES,
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 63, j1: 63 },
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: true,
    }
}

/// A random program for groups.
fn random(seed: u64, instructions: usize, flow: FlowControl, other: bool) -> Program {
    let (watches_idle_lanes, relative) = (other && seed % 3 == 1, other && seed % 3 == 2);
    program(seed, &RandomContents { instructions, flow, inputs: 2, watches_idle_lanes, relative })
}

/// A program that is a stream: fetches at the index pair, then multiply-adds; `plain`: some treat channels differently.
fn stream_program(seed: u64, instructions: usize, plain: bool) -> Program {
    let mut text = String::from(".input a = s0\n.input b = s1\n.output colour = o0\n");
    let mut random = Random::new(seed);
    let mut pick = |n: u64| random.bits() % n;
    for n in 0..4.min(instructions - 2) {
        let _ = writeln!(text, "tex r{}, {}, r0.rg", n + 1, ["a", "b"][n % 2]);
    }
    for n in 4..instructions - 1 {
        // Written once each before they are read.
        let dst = if n < 9 { n as u64 + 1 } else { 1 + pick(9) };
        let sources = (1 + pick(4.max(n as u64).min(9) - 1), 1 + pick(3), pick(24));
        let swizzle = if plain && pick(3) == 0 { ".grba" } else { "" };
        let _ = writeln!(text, "mad r{dst}, r{}{swizzle}, c{}.rrrr, r{}", sources.0, sources.2, sources.1);
    }
    text.push_str("mov colour, r1\n");
    let assembly = ctm_isa::x1k::text::assemble(&text);
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

/// The options of code generation.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    target: X86Target,
    counts: bool,
    fuel: bool,
}

/// Code that counts nothing.
pub(crate) const JOINT: fn(X86Target) -> Options = |target| Options { target, counts: false, fuel: false };

/// Code that counts.
const COUNTING: fn(X86Target) -> Options = |target| Options { counts: true, ..JOINT(target) };

/// The options of lowering.
fn asked(counts: bool) -> ctm_ir::lower::x1k::Asked {
    ctm_ir::lower::x1k::Asked { counts, relies: true }
}

/// The program with masks, after all steps of a launch before code generation.
fn lowered(launch: &Launch<'_>, counts: bool) -> Option<crate::compile::program::CompiledProgram> {
    let code = ctm_ir::lower::x1k::lower(launch.program, launch.constants, asked(counts))?;
    let joint = !counts && ctm_ir::lower::x1k::joint::holds(&code);
    let mut given = vec![false; ctm_ir::masked::Var::COUNT];
    given[..2].fill(true);
    Some(with_masks(&code, joint, &given))
}

/// Its code.
pub(crate) fn compile(launch: &Launch<'_>, Options { target, counts, fuel }: Options) -> Option<Vec<u8>> {
    let program = lowered(launch, counts)?;
    let variant = Variant { target, ordinary: false, counts, fuel, narrows: false };
    let uniforms = launch.constants.float.as_flattened();
    program.native(variant, (uniforms, &[])).map(|native| native.text().to_vec())
}

/// The kernel for a domain.
fn compile_stream(launch: &Launch<'_>, target: X86Target) -> Option<Arc<Kernel>> {
    let lowered = ctm_ir::lower::x1k::lower(launch.program, launch.constants, asked(launch.counters))?;
    let mut geometry = Geometry::default();
    (geometry.inputs[0], geometry.inputs[1], geometry.outputs[0]) = (4, 4, 4);
    let uniform = crate::compile::stream::uniform(&lowered)?;
    crate::runtime::streams::compile(target, &uniform, launch, geometry)
}

/// The code of many programs.
pub(crate) struct Print {
    /// FNV-1a.
    hash: u64,
    bytes: usize,
    parts: usize,
}

impl Default for Print {
    fn default() -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, bytes: 0, parts: 0 }
    }
}

impl Print {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.hash = bytes.iter().fold(self.hash, step);
        self.bytes += bytes.len();
        self.parts += 1;
    }
}

impl std::fmt::Display for Print {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} parts, {} bytes, {:016x}", self.parts, self.bytes, self.hash)
    }
}

/// Prints a hash of the code of many programs: a change that only makes the compiler faster leaves them alone.
#[test]
#[ignore = "to compare two versions"]
fn fingerprints() {
    let constants = Constants::default();
    let flows = [FlowControl::None, FlowControl::Statements, FlowControl::Raw];
    type Kind = (&'static str, fn(X86Target) -> Options);
    let kinds: [Kind; 3] =
        [("", COUNTING), ("joint ", JOINT), ("fuel ", |target| Options { fuel: true, ..COUNTING(target) })];
    for (target, (kind, options)) in X86Target::ALL.into_iter().flat_map(|target| kinds.map(|kind| (target, kind))) {
        for (flow, instructions) in flows.into_iter().flat_map(|flow| [8, 40, 120].map(|n| (flow, n))) {
            let mut all = Print::default();
            for seed in 0..60 {
                let program = random(seed, instructions, flow, true);
                let Some(native) = compile(&launch(&program, &constants), options(target)) else { continue };
                all.add(&native);
            }
            println!("{kind}{target:?} {flow:?} {instructions}: {all}");
        }
    }
    for (target, instructions) in X86Target::ALL.into_iter().flat_map(|target| [8, 40, 120].map(|n| (target, n))) {
        let (mut all, mut looped) = (Print::default(), Print::default());
        for seed in 0..60 {
            let program = stream_program(seed, instructions, seed % 2 == 0);
            if let Some(kernel) = compile_stream(&launch(&program, &constants), target) {
                all.add(kernel.text());
            }
            let shape = StreamShape {
                instructions,
                inputs: 2,
                outputs: 1,
                loops: (seed % 3) as u32,
                alike: seed % 2 == 0,
                relative: seed % 4 == 0,
            };
            let program = stream(seed, &shape);
            let mut constants = Constants::default();
            constants.int[..4].copy_from_slice(&[[3, 0, 1, 0], [1, 0, 0, 0], [2, 1, 2, 0], [70, 0, 1, 0]]);
            if let Some(kernel) = compile_stream(&launch(&program, &constants), target) {
                looped.add(kernel.text());
            }
        }
        println!("stream {target:?} {instructions}: {all}");
        println!("random stream {target:?} {instructions}: {looped}");
    }
}

/// For `valgrind --tool=callgrind`: 20 programs of 64 instructions for one instruction set.
fn twenty(target: X86Target) {
    let constants = Constants::default();
    for seed in 0..20 {
        let flow = if seed % 2 == 0 { FlowControl::None } else { FlowControl::Statements };
        let program = random(seed, 48, flow, false);
        std::hint::black_box(compile(&launch(&program, &constants), COUNTING(target)));
    }
}

#[test]
#[ignore = "a measurement"]
fn twenty_for_avx512() {
    twenty(X86Target::AVX512);
}

#[test]
#[ignore = "a measurement"]
fn twenty_for_avx2() {
    twenty(X86Target::AVX2);
}

#[test]
#[ignore = "a measurement"]
fn twenty_streams() {
    let constants = Constants::default();
    for seed in 0..20 {
        let program = stream_program(seed, 64, seed % 2 == 0);
        std::hint::black_box(compile_stream(&launch(&program, &constants), X86Target::AVX512));
    }
}

#[test]
#[ignore = "a measurement"]
fn one_long_program() {
    let constants = Constants::default();
    let program = random(1, 512, FlowControl::None, false);
    std::hint::black_box(compile(&launch(&program, &constants), COUNTING(X86Target::AVX512)));
}

#[test]
#[ignore = "a measurement"]
fn one_long_stream() {
    let constants = Constants::default();
    let program = stream_program(1, 512, true);
    std::hint::black_box(compile_stream(&launch(&program, &constants), X86Target::AVX512));
}

/// For a profiler: programs again and again, by the variables `CTM_COST="statements 384 avx2 joint"`, `CTM_SEED`,
/// `CTM_TURNS`.
#[test]
#[ignore = "a measurement"]
fn again() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let what = std::env::var("CTM_COST").unwrap_or_default();
    let words: Vec<&str> = what.split_whitespace().collect();
    let instructions = words.iter().find_map(|word| word.parse().ok()).unwrap_or(60);
    let target = if words.contains(&"avx2") { X86Target::AVX2 } else { X86Target::AVX512 };
    let options = if words.contains(&"joint") { JOINT(target) } else { COUNTING(target) };
    let seeds = number("CTM_SEED").map_or(0..10, |seed: u64| seed..seed + 1);
    let constants = Constants::default();
    for seed in seeds {
        let program = match words.first() {
            Some(&"statements") => random(seed, instructions, FlowControl::Statements, false),
            Some(&"stream") => stream_program(seed, instructions, seed % 2 == 0),
            _ => random(seed, instructions, FlowControl::None, false),
        };
        let launch = launch(&program, &constants);
        let start = thread_time();
        let turns = number("CTM_TURNS").unwrap_or(100);
        for _ in 0..turns {
            match words.first() {
                Some(&"stream") => _ = std::hint::black_box(compile_stream(&launch, target)),
                _ => _ = std::hint::black_box(compile(&launch, options)),
            }
        }
        let us = (thread_time() - start) as f64 / 1e3 / turns as f64;
        // A subroutine is repeated for each way of calling it.
        let lowered = ctm_ir::lower::x1k::lower(launch.program, launch.constants, asked(launch.counters));
        let blocks = lowered.as_ref().map_or(&[][..], |code| &code.blocks);
        let issued: u32 = blocks.iter().map(|block| block.tally.instructions()).sum();
        let ops: usize = blocks.iter().map(|block| block.ops.len()).sum();
        let (words, blocks) = (program.words.len(), blocks.len());
        println!("{seed}: {us:.0} us; {words} instructions, in blocks {issued}, operations {ops}, blocks {blocks}");
    }
}

/// The thread's time of the fastest of several runs, in us.
pub(crate) fn fastest(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = thread_time();
        run();
        best = best.min((thread_time() - start) as f64);
    }
    best / 1e3
}

/// Prints a table: the time of compiling by length of the program, the median of ten programs.
#[test]
#[ignore = "a measurement"]
fn compilation() {
    let constants = Constants::default();
    println!("| code for | instructions | median us | most us |\n|---|--:|--:|--:|");
    for instructions in LENGTHS {
        let row = |name: &str, make: &dyn Fn(u64) -> Program, run: &dyn Fn(&Launch<'_>) -> bool| {
            let mut times: Vec<(f64, usize)> = (0..10)
                .map(|seed| {
                    let program = make(seed);
                    let launch = launch(&program, &constants);
                    assert!(run(&launch), "{name}: seed {seed} has no code");
                    (fastest(|| _ = std::hint::black_box(run(&launch))), program.words.len())
                })
                .collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let length = times.iter().map(|t| t.1).sum::<usize>() / times.len();
            println!("| {name} | {length} | {:.0} | {:.0} |", times[5].0, times[9].0);
        };
        for target in X86Target::ALL {
            // Exactly `instructions` instructions, the output included.
            let straight = |seed| random(seed, instructions - 4, FlowControl::None, false);
            let statements = |seed| random(seed, instructions * 3 / 4, FlowControl::Statements, false);
            let counting = |launch: &Launch<'_>| compile(launch, COUNTING(target)).is_some();
            row(&format!("groups, straight, {target:?}"), &straight, &counting);
            row(&format!("groups, statements, {target:?}"), &statements, &|launch| {
                compile(launch, JOINT(target)).is_some()
            });
            row(&format!("groups, statements, counting, {target:?}"), &statements, &counting);
        }
        let stream = |seed| stream_program(seed, instructions, seed % 2 == 0);
        for target in X86Target::ALL {
            let name = format!("groups, multiply-adds, {target:?}");
            row(&name, &stream, &|launch| compile(launch, COUNTING(target)).is_some());
            row(&format!("stream, {target:?}"), &stream, &|launch| compile_stream(launch, target).is_some());
        }
    }
    let program = ctm_isa::x1k::text::assemble(include_str!("../../../../examples/nbody/nbody.x1k")).program.unwrap();
    let mut constants = constants;
    constants.int[..2].fill([64, 0, 0, 0]);
    let launch = launch(&program, &constants);
    for target in X86Target::ALL {
        let us = fastest(|| assert!(std::hint::black_box(compile_stream(&launch, target)).is_some()));
        println!("| stream, nbody, {target:?} | {} | {us:.0} | {us:.0} |", program.words.len());
    }
}
