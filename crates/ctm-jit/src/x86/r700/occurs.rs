//! What has no lowering of its own, compared with a list: operations of the manual, and what occurs in the corpora, the run vectors and the
//! examples. A new call, and one that is gone, fails here until `docs/engine.md` and the list say so.

use super::alu::{Alu, Nobody};
use super::doubles::{Double, Wide};
use super::facts::truth;
use super::{Call, Native};
use crate::r700::form::{Fetch, Op, Var};
use crate::r700::lower::lower;
use crate::r700::passes::optimise;
use crate::r700::wave::is_plain_sample;
use crate::x86::isa::Isa;
use crate::x86::lir::Src;
use ctm_exec::Domain;
use ctm_exec::r700::{Constants, Launch, LoopConstant};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::{AluOp, Kind, Omod, Op2, Slots};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{Options, assemble};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every operation of the manual, but the one that R700 chips do not have.
#[test]
fn operations_have_instructions() {
    let none = Src::Literal(0);
    let double = Double { high: none, low: none, pair: None };
    for op in AluOp::all() {
        let info = op.info();
        let has = match info.slots {
            Slots::One => Alu::exists(op),
            Slots::Pair64 | Slots::Quad64 => {
                Wide { op, omod: Omod::Off, clamp: false }.emit(&mut Nobody, [double; 3]).is_some()
            }
            // Sums, maxima and CUBE.
            Slots::Reduction => true,
        };
        let lacking = matches!(op, AluOp::Op2(Op2::Nop | Op2::MovaGprInt));
        assert_eq!(has, !lacking, "{}", op.name());
        if let AluOp::Op2(op2) = op
            && info.slots == Slots::One
            && matches!(info.kind, Kind::PredSet | Kind::Kill)
        {
            assert!(truth(op2).is_some(), "{}: when it holds", op.name());
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn text(source: &str) -> Program {
    let assembly = assemble(source, &Options::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

/// The programs of the corpora, of the examples, and of the vectors for fetches and memory.
fn programs() -> Vec<(String, Program)> {
    let mut found = Vec::new();
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    for path in files("tests/corpus/mesa/r700").into_iter().chain(files("tests/corpus/llvm")) {
        if path.extension().is_some_and(|e| e == "hex") {
            let text = read(&path);
            let words = text.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
            let words = words.map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16));
            found.push((name(&path), Program::from_words(words.flatten().collect())));
        }
    }
    let corpora = found.len();
    for folder in files("examples/r700").into_iter().chain([root().join("bench/r700")]) {
        let sources = files(&folder.to_string_lossy());
        for path in sources.iter().filter(|p| p.extension().is_some_and(|e| e.to_string_lossy().ends_with("sh"))) {
            found.push((name(path), text(&read(path))));
        }
    }
    let examples = found.len() - corpora;
    let vectors = read(&root().join("tests/vectors/r700/run_fetch.txt"));
    for (n, block) in vectors.split("\nvector\n").skip(1).enumerate() {
        let body: String =
            block.lines().take_while(|line| line.starts_with(' ')).map(|line| format!("{}\n", line.trim())).collect();
        found.push((format!("vector {n}"), text(&format!("{body}EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"))));
    }
    let vectors = found.len() - corpora - examples;
    assert!(corpora >= 39 && examples >= 16 && vectors > 50, "{corpora}, {examples} and {vectors} programs");
    found
}

/// What calls its reference function, and programs that are left to the reference interpreter as a whole.
fn calls_of(name: &str, program: &Program) -> BTreeSet<String> {
    let mut constants = Constants::default();
    constants.loops = [LoopConstant { count: 2, start: 0, step: 1 }; 32];
    let stage = program.stage.unwrap_or(Stage::Pixel);
    let launch = Launch { stage, ..Launch::new(program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 }) };
    let Some(mut code) = lower(&launch) else { return [format!("{name} as a whole")].into() };
    let live = optimise(&mut code);
    let exports: BTreeSet<usize> = code
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .filter_map(|op| if let Op::Mark(var, _) = op { var.export_index() } else { None })
        .collect();
    let exports: Vec<usize> = exports.into_iter().collect();
    let start: Vec<Var> = (0..4).map(|element| Var::gpr(0, element)).collect();
    let native = Native::new(&code, &live, &start, &exports, 64, false);
    let native = native.unwrap_or_else(|| panic!("{name} has no machine code"));
    let called = native.calls.iter().filter_map(|call| match call {
        Call::Pure(op) => Some(format!("{op:?}")),
        Call::Fetch(number) => match &code.fetches[usize::from(*number)] {
            // Those have a lookup of their own; whether it is taken depends on the texture.
            Fetch::Texture(inst) if is_plain_sample(inst.word0.op) => None,
            Fetch::Texture(inst) => Some(inst.word0.op.name().to_string()),
            Fetch::Vertex(_) => Some("FETCH".to_string()),
        },
    });
    called.collect()
}

/// What occurs and has no lowering: `docs/engine.md` says the same.
const CALLED: &[&str] = &[];

#[test]
fn what_occurs_and_calls() {
    if !Isa::Avx512.is_available() {
        return;
    }
    let mut called = BTreeSet::new();
    for (name, program) in programs() {
        called.extend(calls_of(&name, &program));
    }
    let expected: BTreeSet<String> = CALLED.iter().map(ToString::to_string).collect();
    assert_eq!(called, expected);
}
