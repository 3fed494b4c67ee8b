//! The cost of compiling R700 programs, and whether a change to the compiler changes code: see [`crate::tests::cost`].
#![allow(clippy::print_stdout, reason = "it says what it measured")]

use crate::codegen::x86::X86Target;
use crate::codegen::x86::masked::Variant;
use crate::runtime::r700::artifact::Artifact;
use crate::tests::cost::{Print, fastest, thread_time};
use ctm_exec::Domain;
use ctm_exec::r700::{Constants, Launch, Plane};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::random::{RandomContents, program};

const PLANES: &[Plane] = &[Plane::position(0)];

pub(crate) fn launch<'a>(program: &'a Program, constants: &'a Constants) -> Launch<'a> {
    Launch { planes: PLANES, ..Launch::new(program, constants, Domain { i0: 0, j0: 0, i1: 63, j1: 63 }) }
}

pub(crate) fn lower(launch: &Launch<'_>) -> Option<Artifact> {
    Artifact::new(launch, &crate::runtime::options::LoweringOptions::default())
}

const SETS: [(X86Target, &str); 2] = [(X86Target::AVX512, "AVX-512"), (X86Target::AVX2, "AVX2")];

fn variant(target: X86Target) -> Variant {
    Variant { target, ordinary: false, counts: true, fuel: true, narrows: false }
}

/// Prints a hash of the code of many programs.
#[test]
#[ignore = "to compare two versions"]
fn fingerprints() {
    let constants = Constants::default();
    let shapes = [2, 6, 20];
    for ((target, set), clauses) in SETS.into_iter().flat_map(|set| shapes.map(|shape| (set, shape))) {
        let mut all = Print::default();
        for seed in 0..100 {
            let program = program(seed, &RandomContents { clauses, groups: 5, ..RandomContents::all(Stage::Pixel) });
            let Some(artifact) = lower(&launch(&program, &constants)) else { continue };
            if let Some(native) = artifact.native(variant(target), (&[], &[])) {
                all.add(native.text());
            }
        }
        println!("R700, {set}, {clauses} clauses: {all}");
    }
}

/// Prints a table: the time of compiling by length of the program in instruction groups, the median of ten programs.
#[test]
#[ignore = "a measurement"]
fn compilation() {
    let constants = Constants::default();
    println!("| code for | groups | dwords | median us | most us |\n|---|--:|--:|--:|--:|");
    let kinds = [("straight", false), ("statements", true)];
    for ((target, set), (name, flow)) in SETS.into_iter().flat_map(|set| kinds.map(|kind| (set, kind))) {
        for (clauses, groups) in [(1, 16), (2, 32), (4, 32), (16, 32)] {
            let shape = RandomContents {
                clauses,
                groups,
                flow,
                memory: false,
                kills: false,
                ..RandomContents::all(Stage::Pixel)
            };
            let mut times = Vec::new();
            let (mut dwords, mut issued) = (0, 0);
            for seed in 0.. {
                let program = program(seed, &shape);
                let launch = launch(&program, &constants);
                let make = || lower(&launch).filter(|artifact| artifact.native(variant(target), (&[], &[])).is_some());
                let Some(artifact) = make() else { continue };
                times.push(fastest(|| _ = std::hint::black_box(make())));
                dwords += program.words.len();
                issued += artifact.code.blocks.iter().map(|block| u64::from(block.tally.instructions())).sum::<u64>();
                if times.len() == 10 || seed == 100 {
                    break;
                }
            }
            times.sort_by(f64::total_cmp);
            let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last()) else { continue };
            let each = times.len();
            println!(
                "| R700, {set}, {name} | {} | {} | {median:.0} | {most:.0} |",
                issued / each as u64,
                dwords / each
            );
        }
    }
}

/// For a profiler: programs again and again, by the variables `CTM_COST="statements 4 avx2"` (clauses), `CTM_SEED`,
/// `CTM_TURNS`.
#[test]
#[ignore = "a measurement"]
fn again() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let what = std::env::var("CTM_COST").unwrap_or_default();
    let words: Vec<&str> = what.split_whitespace().collect();
    let clauses = words.iter().find_map(|word| word.parse().ok()).unwrap_or(4);
    let target = if words.contains(&"avx2") { X86Target::AVX2 } else { X86Target::AVX512 };
    let flow = words.contains(&"statements");
    let constants = Constants::default();
    for seed in number("CTM_SEED").map_or(0..10, |seed| seed..seed + 1) {
        let shape = RandomContents {
            clauses,
            groups: 32,
            flow,
            memory: false,
            kills: false,
            ..RandomContents::all(Stage::Pixel)
        };
        let program = program(seed, &shape);
        let launch = launch(&program, &constants);
        let turns = number("CTM_TURNS").unwrap_or(100);
        let (mut bytes, mut ops, mut groups, mut blocks) = (0, 0, 0u32, 0);
        let start = thread_time();
        for _ in 0..turns {
            let Some(artifact) = lower(&launch) else { continue };
            groups = artifact.code.blocks.iter().map(|block| block.tally.alu).sum();
            ops = artifact.code.blocks.iter().map(|block| block.ops.len()).sum();
            blocks = artifact.code.blocks.len();
            bytes = artifact.native(variant(target), (&[], &[])).map_or(0, |native| native.text().len());
        }
        let us = (thread_time() - start) as f64 / 1e3 / turns as f64;
        let dwords = program.words.len();
        println!(
            "{seed}: {us:.0} us; {dwords} dwords, {groups} groups, operations {ops}, blocks {blocks}, bytes {bytes}"
        );
    }
}
