//! The engine against the reference interpreter: random programs, the same outputs, conditional values, counters and faults.
//!
//! Truth: the reference interpreter. To repeat one case: `CTM_SEED=n cargo test -p ctm-jit --test differential`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod case;

use case::{Case, first_difference, seeds};
use ctm_exec::x1k::Interp;
use ctm_isa::x1k::random::{FlowControl, Shape, program};
use ctm_jit::{Backend, Jit};

/// The back ends that this host can run, machine code with one and with three groups at once.
fn engines() -> Vec<Jit> {
    let natives = || Backend::available().filter(|&backend| backend != Backend::Portable).map(Jit::with_backend);
    let all = Backend::available().map(Jit::with_backend);
    all.chain(natives().map(|engine| engine.with_copies(1))).chain(natives().map(|e| e.with_copies(3))).collect()
}

fn compare(count: u64, shape: &Shape) {
    let engines = engines();
    let mut differences = Vec::new();
    for seed in seeds(count) {
        let program = program(seed, shape);
        let case = Case::new(seed);
        let (expected, memory) = case.run(&program, &Interp, 1);
        for engine in &engines {
            let (outcome, found) = case.run(&program, engine, 1);
            if outcome != expected {
                differences.push(format!("seed {seed}, {}: {outcome:?} instead of {expected:?}", engine.backend()));
            } else if found.conditional_values != memory.conditional_values {
                differences.push(format!("seed {seed}, {}: conditional values", engine.backend()));
            } else if let Some(text) = first_difference(&found, &memory) {
                differences.push(format!("seed {seed}, {}: {text}", engine.backend()));
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

const SHAPE: Shape =
    Shape { instructions: 24, flow: FlowControl::None, inputs: 2, watches_idle_lanes: false, relative: false };

#[test]
fn straight_programs() {
    compare(200, &SHAPE);
}

#[test]
fn straight_programs_with_quads() {
    compare(100, &Shape { watches_idle_lanes: true, ..SHAPE });
}

#[test]
fn programs_of_statements() {
    compare(250, &Shape { instructions: 40, flow: FlowControl::Statements, ..SHAPE });
}

#[test]
fn programs_of_statements_with_everything() {
    let flow = FlowControl::Statements;
    compare(150, &Shape { instructions: 40, flow, watches_idle_lanes: true, relative: true, ..SHAPE });
}

#[test]
fn programs_with_relative_addresses() {
    compare(200, &Shape { instructions: 40, flow: FlowControl::Statements, relative: true, ..SHAPE });
}

#[test]
fn raw_flow_control() {
    compare(200, &Shape { instructions: 16, flow: FlowControl::Raw, ..SHAPE });
}

#[test]
fn raw_flow_control_with_everything() {
    let flow = FlowControl::Raw;
    compare(200, &Shape { instructions: 16, flow, watches_idle_lanes: true, relative: true, ..SHAPE });
}

#[test]
fn threads_change_nothing() {
    let shape = Shape { instructions: 40, flow: FlowControl::Statements, ..SHAPE };
    for seed in 0..20 {
        let program = program(seed, &shape);
        let case = Case::new(seed);
        let (expected, memory) = case.run(&program, &Interp, 1);
        for engine in engines() {
            for threads in [0, 2, 3] {
                let (outcome, found) = case.run(&program, &engine, threads);
                assert_eq!(outcome, expected, "seed {seed}");
                assert_eq!(first_difference(&found, &memory), None, "seed {seed}");
            }
        }
    }
}
