//! Vertex programs: the fast engine gives the bits of the reference interpreter, and its faults.
//!
//! `CTM_PVS_PROGRAMS=500000` runs that many random programs, `CTM_PVS_FIRST=100000` others than the first; a difference is printed with its seed.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::pvs::{PvsLaunch, Vector};
use ctm_exec::{Budget, Control, Engine, FaultKind, Interp};
use ctm_isa::pvs::flow::FlowSlot;
use ctm_isa::pvs::random::{Random, RandomContents, program};
use ctm_isa::pvs::{INPUTS, VertexProgram};
use ctm_jit::{Backend, Jit};
use rayon::prelude::*;

/// More than a wavefront, and not a multiple of one.
const VERTICES: usize = 70;
/// Vertices of seven of eight random programs, most of whose time is the reference interpreter's.
const FEW: usize = 11;

/// Random inputs of vertices; of each register the vertices have different values.
fn vertices(seed: u64, count: usize) -> Vec<[Vector; INPUTS]> {
    let mut random = Random::new(!seed);
    (0..count).map(|_| std::array::from_fn(|_| std::array::from_fn(|_| random.value()))).collect()
}

/// The constants that come with a program, at its base.
fn constants(program: &VertexProgram) -> Vec<Vector> {
    let mut all = vec![[0; 4]; 256];
    for literal in &program.literals {
        all[usize::from(program.const_base) + usize::from(literal.index)] = literal.bits;
    }
    all
}

fn launch<'a>(program: &'a VertexProgram, constants: &'a [Vector], vertices: &'a [[Vector; INPUTS]]) -> PvsLaunch<'a> {
    PvsLaunch { program, constants, vertices, budget: Budget::default(), one_thread: false }
}

/// Where engines differ from the reference interpreter.
fn difference(program: &VertexProgram, vertices: &[[Vector; INPUTS]], engines: &[Jit]) -> Option<String> {
    let constants = constants(program);
    let launch = launch(program, &constants, vertices);
    let expected = Interp.run_pvs_under(&Control::none(), &launch);
    engines.iter().find_map(|engine| {
        let found = engine.run_pvs_under(&Control::none(), &launch);
        let name = engine.backend().name();
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => {
                expected.iter().zip(found).enumerate().find_map(|(vertex, (expected, found))| {
                    let place = (0..64).find(|&n| expected[n / 4][n % 4] != found[n / 4][n % 4])?;
                    let (register, component) = (place / 4, place % 4);
                    let [expected, found] = [expected, found].map(|of| of[register][component]);
                    Some(format!(
                        "{name}: vertex {vertex}, o{register}.{component}: {found:#x}, expected {expected:#x}"
                    ))
                })
            }
            (expected, found) if expected == found => None,
            (expected, found) => Some(format!("{name}: {found:?}, expected {expected:?}")),
        }
    })
}

fn engines() -> Vec<Jit> {
    Backend::available().map(Jit::with_backend).collect()
}

fn all_agree(first: u64, count: u64, shape: &RandomContents) {
    let wrong: Vec<String> = (first..first + count)
        .into_par_iter()
        .map_init(engines, |engines, seed| {
            let program = program(seed, shape);
            let count = if seed.is_multiple_of(8) { VERTICES } else { FEW };
            let difference = difference(&program, &vertices(seed, count), engines)?;
            let text = ctm_isa::pvs::text::disassemble(&program, &ctm_isa::pvs::text::ListingOptions::default());
            Some(format!("seed {seed}: {difference}\n{text}"))
        })
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{} of {count}, the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn random_programs_give_the_same_bits() {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let each = number("CTM_PVS_PROGRAMS").unwrap_or(600) / 4;
    let first = number("CTM_PVS_FIRST").unwrap_or(0);
    let all = RandomContents::all();
    all_agree(first, each, &RandomContents { relative: false, ..all });
    all_agree(first + (1 << 32), each, &RandomContents { relative: false, flow: false, instructions: 20, ..all });
    all_agree(first + (2 << 32), each, &RandomContents { relative: false, predicates: false, dual: false, ..all });
    all_agree(first + (3 << 32), each, &all);
}

/// The programs of a real compiler, with inputs of moderate size.
#[test]
fn programs_of_a_compiler_give_the_same_bits() {
    let path = ctm_testkit::root().join("tests/corpus/pvs/programs.hex");
    let text = std::fs::read_to_string(path).unwrap();
    let engines = engines();
    let mut programs = 0;
    for part in text.split('#').skip(1) {
        let words =
            part.lines().skip(1).flat_map(str::split_whitespace).map(|word| u32::from_str_radix(word, 16).unwrap());
        let words: Vec<u32> = words.collect();
        let mut program = VertexProgram::from_words(words.as_chunks::<4>().0.to_vec());
        let mut random = Random::new(programs);
        program.literals = (0..=255)
            .map(|index| ctm_isa::pvs::program::Literal { index, bits: std::array::from_fn(|_| random.value()) })
            .collect();
        // Constants at computed addresses come to both ends of the range.
        program.const_max = 200;
        assert_eq!(difference(&program, &vertices(programs, VERTICES), &engines), None, "program {programs}");
        programs += 1;
    }
    assert!(programs > 100, "{programs}");
    // All of them are code.
    assert!(engines.iter().all(|engine| engine.pvs_bail_outs() == 0));
}

fn assembled(text: &str) -> VertexProgram {
    let assembled = ctm_isa::pvs::text::assemble(text);
    assembled.program.unwrap_or_else(|| panic!("{:?}", assembled.diagnostics))
}

/// A loop of 255 iterations that vertices leave at different ones, by a counter of conditions as compilers make it; and one that changes something until its
/// last iteration.
#[test]
fn loops_end_early_only_where_nothing_changes() {
    // r0.x counts down from v0.x, r1.x up; where r0.x is below 0, the predicate is off for the rest.
    let text = "mov r0, v0\nmov r1, v0.0000\nmov r2, v0.0000\npsge r2.w, r0.x\n(p) add r1.x, r1.x, 1\n(p) add r0.x, r0.x, -1\nmov o0, r1\nmov o1, r0\n";
    let mut program = assembled(text);
    program.flow[0] = FlowSlot::repeat(2, 3, 5, 255, 0, 1);
    let counted = |x: f32| {
        let mut vertex = [[0; 4]; INPUTS];
        vertex[0][0] = x.to_bits();
        vertex
    };
    let few: Vec<_> = (0..40).map(|n| counted((n % 7) as f32)).collect();
    let many: Vec<_> = (0..40).map(|n| counted((n * 7) as f32)).collect();
    let engines = engines();
    assert_eq!(difference(&program, &few, &engines), None);
    assert_eq!(difference(&program, &many, &engines), None);
    let constants = constants(&program);
    let outputs = engines[0].run_pvs_under(&Control::none(), &launch(&program, &constants, &few)).unwrap();
    assert_eq!(outputs[6][0][0], 7f32.to_bits());
    let outputs = engines[0].run_pvs_under(&Control::none(), &launch(&program, &constants, &many)).unwrap();
    assert_eq!(outputs[39][0][0], 255f32.to_bits());
}

/// Instructions beyond the budget, and programs that leave their words: the fault of the reference interpreter, with the vertex.
#[test]
fn faults_are_those_of_the_interpreter() {
    let mut program = assembled("mov r0, v0\nadd r0, r0, v0\nmov o0, r0\n");
    program.flow[0] = FlowSlot::repeat(0, 1, 1, 255, 0, 1);
    let (constants, all) = (constants(&program), vertices(1, VERTICES));
    let budget = Budget { instructions_per_group: Some(100), ..Budget::default() };
    let limited = PvsLaunch { budget, ..launch(&program, &constants, &all) };
    for engine in engines() {
        let fault = engine.run_pvs_under(&Control::none(), &limited).unwrap_err();
        assert_eq!(Interp.run_pvs_under(&Control::none(), &limited).unwrap_err(), fault);
        assert_eq!(fault.kind, FaultKind::InstructionBudget { limit: 100 });
        let cancelled = Control::new();
        cancelled.cancel();
        let fault = engine.run_pvs_under(&cancelled, &launch(&program, &constants, &all)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Cancelled);
        assert_eq!(
            engine.run_pvs_under(&Control::none(), &launch(&program, &constants, &all)).unwrap().len(),
            VERTICES
        );
    }
    program.first = 9;
    assert_eq!(difference(&program, &all, &engines()), None);
}
