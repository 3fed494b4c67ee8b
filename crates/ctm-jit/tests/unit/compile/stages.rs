//! Every stage on every program of the corpora and the examples, and on random ones: forms are valid (`cfg(debug_assertions)`), and their texts read back as the same forms.

use crate::codegen::x86::masked::text::{parse, selected};
use crate::codegen::x86::masked::{Assumed, Variant, occurs};
use crate::codegen::x86::{X86Target, masked};
use crate::compile::machine::Inputs;
use crate::compile::observe::Observer;
use crate::compile::program::CompiledProgram;
use crate::compile::{LoweringInput, Stage, machine_code, masked_form};
use crate::tests::cost::Print;
use crate::tests::occurs as x1k;
use ctm_exec::Domain;
use ctm_exec::r700::{Constants, Launch, LoopConstant, Plane};
use ctm_exec::x1k::Constants as X1kConstants;
use ctm_ir::lower::x1k::{Asked, joint, lower};
use ctm_ir::masked::{Code, Var};
use ctm_isa::r700::program::Stage as ProgramStage;
use ctm_isa::{r700, x1k as isa};
use std::path::Path;

const TARGETS: [X86Target; 3] = X86Target::ALL;

/// Compiles a program for every target, and reads each text back.
fn check(name: &str, source: LoweringInput<'_>, lanes: usize, code: &mut [Print; 3]) -> bool {
    let mut given = vec![false; Var::COUNT];
    given[..4].fill(true);
    for stage in [Stage::Lower, Stage::Masks] {
        let mut observer = Observer::of_stage(stage);
        if masked_form(source, false, &mut observer).is_none() {
            return false;
        }
        let text = observer.text.unwrap_or_default();
        let read = Code::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(read.to_string(), text, "{name}");
    }
    let Some(form) = masked_form(source, false, &mut Observer::default()) else { return false };
    let text = form.code.to_string();
    let read = Code::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert!(read == form.code, "{name}: {read:?}\n{:?}\n{text}", form.code);
    let program = CompiledProgram::of_form(form, lanes, &given);
    for (target, code) in TARGETS.into_iter().zip(code) {
        let variant = Variant { target, ordinary: false, counts: true, fuel: false, narrows: true };
        let (start, exports, assumed) = (&program.start, &program.exports, Assumed::default());
        let inputs = Inputs { form: &program, start, exports, lanes, variant, assumed };
        for stage in [Stage::Select, Stage::Fuse] {
            let mut observer = Observer::of_stage(stage);
            if let Some(native) = machine_code(inputs, &mut observer) {
                code.add(native.text());
            }
            let text = observer.text.unwrap_or_default();
            let (of, form) = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(selected(&of, &form), text, "{name}");
        }
        let of = masked::SelectedCode::new(&program.code, start, target.target, assumed);
        let text = selected(&of, &program.code);
        let (read, _) = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert!(read.lists == of.lists && read.calls == of.calls, "{name}:\n{text}");
        assert!(read.vars == of.vars && read.used == of.used && read.fixed == of.fixed, "{name}");
    }
    true
}

#[test]
fn texts_of_x1k_programs_read_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    x1k::files(&root.join("tests/corpus/mesa/x1k"), "hex", &mut paths);
    x1k::files(&root.join("examples"), "x1k", &mut paths);
    paths.sort();
    let mut programs: Vec<(String, isa::Program)> =
        paths.iter().map(|path| (path.display().to_string(), x1k::program(path))).collect();
    programs.extend((0..60).map(|seed| {
        let shape = isa::random::RandomContents {
            instructions: 40,
            flow: if seed % 2 == 0 { isa::random::FlowControl::Statements } else { isa::random::FlowControl::Raw },
            inputs: 2,
            watches_idle_lanes: seed % 3 == 1,
            relative: seed % 3 == 2,
        };
        (format!("random {seed}"), isa::random::program(seed, &shape))
    }));
    let mut constants = X1kConstants::default();
    constants.int.fill([3, 0, 1, 0]);
    let (mut compiled, mut code) = (0, <[Print; 3]>::default());
    for (name, program) in &programs {
        let Some(graph) = lower(program, &constants, Asked { counts: false, relies: true }) else { continue };
        for is_joint in [false, true] {
            if is_joint && !joint::holds(&graph) {
                continue;
            }
            let source = LoweringInput::X1k { graph: &graph, is_joint };
            compiled += usize::from(check(name, source, if is_joint { 64 } else { 16 }, &mut code));
        }
    }
    println!("X1K: {}; {}; {}", code[0], code[1], code[2]);
    assert!(compiled > 100, "{compiled} of {}", programs.len());
}

#[test]
fn texts_of_r700_programs_read_back() {
    let turns = LoopConstant { count: 2, start: 0, step: 1 };
    let constants = Constants { loops: [turns; 32], ..Constants::default() };
    let mut programs = occurs::programs();
    programs.extend((0..60).map(|seed| {
        let shape = r700::random::RandomContents {
            clauses: 6,
            groups: 5,
            ..r700::random::RandomContents::all(ProgramStage::Pixel)
        };
        (format!("random {seed}"), r700::random::program(seed, &shape))
    }));
    let (mut compiled, mut code) = (0, <[Print; 3]>::default());
    for (name, program) in &programs {
        let stage = program.stage.unwrap_or(ProgramStage::Pixel);
        let launch = Launch::new(program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
        let launch = Launch { stage, planes: &[Plane::position(0)], ..launch };
        compiled += usize::from(check(name, LoweringInput::R700(&launch), 64, &mut code));
    }
    println!("R700: {}; {}; {}", code[0], code[1], code[2]);
    assert!(compiled > 100, "{compiled} of {}", programs.len());
}
