//! The engine against the reference interpreter: random programs, the same outputs, conditional values, counters and faults.
//!
//! Truth: the reference interpreter. To repeat one case: `CTM_SEED=n cargo test -p ctm-jit --test differential`.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::x1k::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Filter, Interp, Launch, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Outcome};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::random::{CONSTANTS, FlowControl, INTS, Random, Shape, program};
use ctm_jit::{Backend, Jit};

/// Everything of one case that is not the program.
struct Case {
    constants: Constants,
    planes: Vec<Plane>,
    domain: Domain,
    group: GroupSize,
    budget: Budget,
    memory: Arrays,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut r = Random::new(seed ^ 0x5eed);
        let mut constants = Constants::default();
        for constant in constants.float.iter_mut().take(CONSTANTS as usize + 8) {
            *constant = std::array::from_fn(|_| r.value());
        }
        for int in constants.int.iter_mut().take(INTS as usize) {
            // Count, initial aL, step.
            *int = [r.below(5) as u8, r.below(4) as u8, r.of(&[0, 1, 2, 255]), 0];
        }
        constants.bool = std::array::from_fn(|_| r.one_in(2));
        let mut plane = |temp| Plane {
            temp,
            origin: std::array::from_fn(|_| f64::from(r.below(33)) / 8.0 - 2.0),
            di: std::array::from_fn(|_| f64::from(r.below(17)) / 32.0 - 0.25),
            dj: std::array::from_fn(|_| f64::from(r.below(17)) / 16.0 - 0.5),
            bits: false,
        };
        let mut planes = vec![Plane::position(0), plane(1), plane(2), plane(3)];
        if r.one_in(4) {
            // Special values as bits: every lane another denormal, then NaNs.
            planes.push(Plane { temp: 4, origin: [8e6, 4.29e9, 3e9, 5.0], di: [1.0; 4], dj: [1e5; 4], bits: true });
        }
        let sampler = |r: &mut Random| Sampler {
            filter: if r.one_in(3) { Filter::Linear } else { Filter::Nearest },
            wrap: std::array::from_fn(|_| r.of(&[Wrap::Clamp, Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border])),
            border: std::array::from_fn(|_| r.value()),
        };
        let mut memory = Arrays::default();
        for (index, (w, h)) in [(8, 8), (5, 3)].into_iter().enumerate() {
            let elements = (0..w * h).map(|_| std::array::from_fn(|_| r.value())).collect();
            let sampler = if index == 0 { Sampler::default() } else { sampler(&mut r) };
            memory.inputs[index] = Some((Picture { width: w, height: h, elements }, sampler));
        }
        let (i0, j0) = (r.below(4), r.below(4));
        let domain = Domain { i0, j0, i1: i0 + r.below(20), j1: j0 + r.below(9) };
        for output in &mut memory.outputs {
            *output = Some(Picture::filled(32, 16, [-3.0; 4]));
        }
        let group = GroupSize::new(r.of(&[16, 16, 16, 4, 8, 12])).unwrap();
        let instructions_per_group = Some(if r.one_in(8) { u64::from(r.below(200)) } else { 5000 });
        Self { constants, planes, domain, group, budget: Budget { instructions_per_group, time: None }, memory }
    }

    fn run(&self, program: &Program, engine: &dyn Engine, threads: usize) -> (Result<Outcome, Fault>, Arrays) {
        let launch = Launch {
            program,
            constants: &self.constants,
            planes: &self.planes,
            domain: self.domain,
            group: self.group,
            budget: self.budget,
            threads,
            checks: false,
        };
        let mut memory = self.memory.clone();
        let outcome = engine.run_x1k(&launch, &mut memory);
        (outcome, memory)
    }
}

/// The back ends that this host can run, machine code with one and with three groups at once.
fn engines() -> Vec<Jit> {
    let natives = || Backend::available().filter(|&backend| backend != Backend::Portable).map(Jit::with_backend);
    let all = Backend::available().map(Jit::with_backend);
    all.chain(natives().map(|engine| engine.with_copies(1))).chain(natives().map(|e| e.with_copies(3))).collect()
}

fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("CTM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        // `CTM_RANDOM=n` tries n times as many.
        None => 0..count * std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1),
    }
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

fn first_difference(found: &Arrays, expected: &Arrays) -> Option<String> {
    for (target, (found, expected)) in found.outputs.iter().zip(&expected.outputs).enumerate() {
        let (found, expected) = (found.as_ref()?, expected.as_ref()?);
        for (index, (f, e)) in found.elements.iter().zip(&expected.elements).enumerate() {
            if f != e {
                let (x, y) = (index as u32 % found.width, index as u32 / found.width);
                return Some(format!("output {target} ({x}, {y}): {f:08x?} instead of {e:08x?}"));
            }
        }
    }
    None
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
