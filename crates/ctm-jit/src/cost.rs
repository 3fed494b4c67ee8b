//! What compiling costs, and whether a change to the compiler changes code: measurements, none of them run by default.
//!
//! Nothing here executes code, so both instruction sets can be looked at on any x86-64 host, and under tools that know only one of
//! them. `docs/engine.md` has the commands.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

#[path = "../tests/clock/mod.rs"]
mod clock;

use crate::form::{OUTPUT_VARS, Var};
use crate::grid::Ramp;
use crate::lanes::ENTRY;
use crate::passes::optimise;
use crate::x86::stream::{Geometry, Kernel};
use crate::x86::{Isa, Native, Options};
use clock::thread_time;
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_isa::x1k::random::{FlowControl, Random, Shape, program};
use ctm_isa::x1k::{INPUTS, OUTPUTS, Program};
use std::fmt::Write as _;
use std::sync::Arc;

const LENGTHS: [usize; 4] = [16, 64, 128, 512];
const PLANES: &[Plane] = &[Plane::position(0)];

fn launch<'a>(program: &'a Program, constants: &'a Constants) -> Launch<'a> {
    Launch {
        program,
        constants,
        planes: PLANES,
        domain: Domain { i0: 0, j0: 0, i1: 63, j1: 63 },
        group: GroupSize::X1K,
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: true,
    }
}

/// A random program for groups.
fn random(seed: u64, instructions: usize, flow: FlowControl, other: bool) -> Program {
    let (watches_idle_lanes, relative) = (other && seed % 3 == 1, other && seed % 3 == 2);
    program(seed, &Shape { instructions, flow, inputs: 2, watches_idle_lanes, relative })
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

/// Code for groups; whatever a launch does before it runs.
fn compile(launch: &Launch<'_>, isa: Isa) -> Option<Native> {
    let lowered = crate::x1k::lower(launch.program, launch.constants)?;
    let mut code = lowered.clone();
    let live = optimise(&mut code, false);
    let start: Vec<Var> = live.at(ENTRY).iter().filter(|&var| Ramp::of(var, launch.planes).is_some()).collect();
    let outputs: Vec<usize> = (0..OUTPUT_VARS).filter(|index| code.outputs >> index & 1 == 1).collect();
    let options = Options { isa, lanes: 16, fuel: false, counters: true, careful: false, exact: false, copies: None };
    Native::new(&lowered, (&code, &live), &start, &outputs, options)
}

/// The kernel for the inside of a domain.
fn compile_stream(launch: &Launch<'_>, isa: Isa) -> Option<Arc<Kernel>> {
    let lowered = crate::x1k::lower(launch.program, launch.constants)?;
    let mut geometry = Geometry { inputs: [0; INPUTS], outputs: [0; OUTPUTS] };
    (geometry.inputs[0], geometry.inputs[1], geometry.outputs[0]) = (4, 4, 4);
    crate::stream::compile(isa, &lowered, launch, geometry)
}

/// FNV-1a.
fn hash(all: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(all, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Prints a hash of the code of many programs: a change that only makes the compiler faster leaves them alone.
#[test]
#[ignore = "to compare two versions"]
fn fingerprints() {
    let constants = Constants::default();
    let flows = [FlowControl::None, FlowControl::Statements, FlowControl::Raw];
    for isa in [Isa::Avx512, Isa::Avx2] {
        for flow in flows {
            for instructions in [8, 40, 120] {
                let (mut all, mut bytes, mut made) = (0xcbf2_9ce4_8422_2325, 0, 0);
                for seed in 0..60 {
                    let program = random(seed, instructions, flow, true);
                    let Some(native) = compile(&launch(&program, &constants), isa) else { continue };
                    all = hash(all, native.text());
                    all = hash(all, &[native.copies as u8]);
                    (bytes, made) = (bytes + native.text().len(), made + 1);
                }
                println!("{isa:?} {flow:?} {instructions}: {made} programs, {bytes} bytes, {all:016x}");
            }
        }
    }
    for (isa, instructions) in [Isa::Avx512, Isa::Avx2].into_iter().flat_map(|isa| [8, 40, 120].map(|n| (isa, n))) {
        let (mut all, mut bytes, mut made) = (0xcbf2_9ce4_8422_2325, 0, 0);
        for seed in 0..60 {
            let program = stream_program(seed, instructions, seed % 2 == 0);
            let Some(kernel) = compile_stream(&launch(&program, &constants), isa) else { continue };
            all = hash(all, kernel.text());
            (bytes, made) = (bytes + kernel.text().len(), made + 1);
        }
        println!("stream {isa:?} {instructions}: {made} programs, {bytes} bytes, {all:016x}");
    }
}

/// For `valgrind --tool=callgrind`: 20 programs of 64 instructions for one instruction set.
fn twenty(isa: Isa) {
    let constants = Constants::default();
    for seed in 0..20 {
        let flow = if seed % 2 == 0 { FlowControl::None } else { FlowControl::Statements };
        let program = random(seed, 48, flow, false);
        std::hint::black_box(compile(&launch(&program, &constants), isa));
    }
}

#[test]
#[ignore = "a measurement"]
fn twenty_for_avx512() {
    twenty(Isa::Avx512);
}

#[test]
#[ignore = "a measurement"]
fn twenty_for_avx2() {
    twenty(Isa::Avx2);
}

#[test]
#[ignore = "a measurement"]
fn twenty_streams() {
    let constants = Constants::default();
    for seed in 0..20 {
        let program = stream_program(seed, 64, seed % 2 == 0);
        std::hint::black_box(compile_stream(&launch(&program, &constants), Isa::Avx512));
    }
}

#[test]
#[ignore = "a measurement"]
fn one_long_program() {
    let constants = Constants::default();
    let program = random(1, 512, FlowControl::None, false);
    std::hint::black_box(compile(&launch(&program, &constants), Isa::Avx512));
}

#[test]
#[ignore = "a measurement"]
fn one_long_stream() {
    let constants = Constants::default();
    let program = stream_program(1, 512, true);
    std::hint::black_box(compile_stream(&launch(&program, &constants), Isa::Avx512));
}

/// The thread's time of the fastest of several runs, in us.
fn fastest(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = thread_time();
        run();
        best = best.min((thread_time() - start) as f64);
    }
    best / 1e3
}

/// Prints a table: what compiling takes by length of the program, the median of ten programs.
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
        for isa in [Isa::Avx512, Isa::Avx2] {
            // Exactly as many instructions as it says, the output included.
            let straight = |seed| random(seed, instructions - 4, FlowControl::None, false);
            let statements = |seed| random(seed, instructions * 3 / 4, FlowControl::Statements, false);
            row(&format!("groups, straight, {isa:?}"), &straight, &|launch| compile(launch, isa).is_some());
            row(&format!("groups, statements, {isa:?}"), &statements, &|launch| compile(launch, isa).is_some());
        }
        let stream = |seed| stream_program(seed, instructions, seed % 2 == 0);
        for isa in [Isa::Avx512, Isa::Avx2] {
            let name = format!("groups, multiply-adds, {isa:?}");
            row(&name, &stream, &|launch| compile(launch, isa).is_some());
            row(&format!("stream, {isa:?}"), &stream, &|launch| compile_stream(launch, isa).is_some());
        }
    }
}
