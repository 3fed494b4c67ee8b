//! Operations without a lowering of their own, compared with a list: those of the manual, and those that occur in the
//! corpora, the run vectors and the examples. A new call, and one that is gone, fails here until `docs/engine/gaps.md`
//! and the list say so.

use crate::codegen::x86::X86Target;
use crate::codegen::x86::lir::Src;
use crate::codegen::x86::masked::alu::{Alu, Nobody};
use crate::codegen::x86::masked::doubles::{Double, Wide};
use crate::codegen::x86::masked::facts::truth;
use crate::codegen::x86::masked::{Assumed, Call, Variant};
use crate::compile::machine::Inputs;
use crate::compile::observe::Observer;
use crate::compile::{Form, machine_code};
use crate::passes::masked::optimise;
use ctm_exec::Domain;
use ctm_exec::r700::memory::space;
use ctm_exec::r700::{Constants, Launch, LoopConstant};
use ctm_ir::lower::r700::lower;
use ctm_ir::masked::{Fetch, Op, Store, Var};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::{AluOp, Omod, Op2, SideEffect, Slots};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every operation of the manual, but the one that R700 chips do not have.
#[test]
fn operations_have_instructions() {
    let none = Src::Literal(0);
    let double = Double { high: none, low: none };
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
            && matches!(info.kind, SideEffect::PredSet | SideEffect::Kill)
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
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

/// The programs of the corpora and of the examples.
pub(crate) fn programs() -> Vec<(String, Program)> {
    let mut found = Vec::new();
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    for path in files("tests/corpus/mesa/r700").into_iter().chain(files("tests/corpus/llvm")) {
        if path.extension().is_some_and(|e| e == "hex") {
            let text = read(&path);
            let words = text.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
            let words = words.map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16));
            found.push((name(&path), Program::from_words(words.flatten().collect())));
        } else if path.extension().is_some_and(|e| e == "vsh") {
            found.push((name(&path), text(&read(&path))));
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
    assert!(corpora >= 40 && examples >= 16, "{corpora} and {examples} programs");
    found
}

/// The run vectors for fetches and memory: everything of the manual except arithmetic.
fn vectors() -> Vec<Program> {
    let vectors = read(&root().join("tests/vectors/r700/run/fetch.txt"));
    let blocks = vectors.split("\nvector\n").skip(1).map(|block| {
        let lines = block.lines().take_while(|line| line.starts_with(' '));
        let body: String = lines.map(|line| format!("{}\n", line.trim())).collect();
        text(&format!("{body}EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"))
    });
    let found: Vec<Program> = blocks.collect();
    assert!(found.len() > 50, "{} programs", found.len());
    found
}

/// The operations that call their reference functions; `None` where the whole program is left to the reference
/// interpreter.
fn calls_of(program: &Program, target: X86Target) -> Option<BTreeSet<String>> {
    let turns = LoopConstant { count: 2, start: 0, step: 1 };
    let constants = Constants { loops: [turns; 32], ..Constants::default() };
    let stage = program.stage.unwrap_or(Stage::Pixel);
    let launch = Launch { stage, ..Launch::new(program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 }) };
    let mut code = lower(&launch)?;
    let live = optimise(&mut code, false, false);
    let exports: BTreeSet<usize> = code
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .filter_map(|op| if let Op::Mark(var, _) = op { var.export_index() } else { None })
        .collect();
    let exports: Vec<usize> = exports.into_iter().collect();
    let start: Vec<Var> = (0..4).map(|element| Var::gpr(0, element)).collect();
    let variant = Variant { target, ordinary: false, counts: true, fuel: true, narrows: false };
    let form = Form { code, live };
    let code = &form.code;
    let assumed = Assumed::default();
    let inputs = Inputs { form: &form, start: &start, exports: &exports, lanes: 64, variant, assumed };
    let native = machine_code(inputs, &mut Observer::default());
    let native = native.unwrap_or_else(|| panic!("no machine code"));
    let called = native.calls.iter().filter_map(|call| match call {
        Call::Pure(op) => Some(format!("{op:?}")),
        Call::Store(number) => match &code.stores[usize::from(*number)] {
            // Writes are handed to the calling thread, which makes them in order.
            Store::Memory(cf, _) => space(cf.word1.op).is_none().then(|| "MEM_SCRATCH".to_string()),
            Store::Event(_) => None,
            Store::Dword => Some("a dword of the data share".to_string()),
            Store::Uncached { .. } => Some("an uncached write".to_string()),
        },
        // Mapped arrays are looked up without a reference function.
        Call::Fetch(_, Some(_)) => None,
        Call::Fetch(number, None) => match &code.fetches[usize::from(*number)] {
            Fetch::Texture(inst) => Some(inst.word0.op.name().to_string()),
            Fetch::Vertex(_) => Some("FETCH".to_string()),
            Fetch::Memory(..) => Some("MEM_RD".to_string()),
            Fetch::Share(..) => Some("LOCAL_DS_READ".to_string()),
            Fetch::Input { .. } => Some("an input".to_string()),
        },
    });
    Some(called.collect())
}

/// The calls of the programs of the corpora and the examples.
const OCCURS_AND_CALLS: &[&str] = &[];

/// Both instruction sets, as far as this host has them.
fn sets() -> impl Iterator<Item = X86Target> {
    X86Target::ALL.into_iter().filter(|target| target.is_available())
}

#[test]
fn what_occurs_has_instructions() {
    for target in sets() {
        let mut left = Vec::new();
        let mut all = BTreeSet::new();
        for (name, program) in programs() {
            match calls_of(&program, target) {
                Some(called) => all.extend(called),
                None => left.push(name),
            }
        }
        assert!(left.is_empty(), "left to the reference interpreter: {left:?}, {target:?}");
        let all: Vec<String> = all.into_iter().collect();
        assert_eq!(all, OCCURS_AND_CALLS, "{target:?}");
    }
}

/// Fetches and memory accesses of the manual that always call: `FETCH` where it converts its items, `LOCAL_DS_READ` with BROADCAST.
const CALLED: &[&str] =
    &["FETCH", "GET_LERP", "GET_NUMBER_OF_SAMPLES", "KEEP_GRADIENTS", "LOCAL_DS_READ", "MEM_RD", "MEM_SCRATCH"];

#[test]
fn fetches_that_call() {
    for target in sets() {
        let called: BTreeSet<String> =
            vectors().iter().filter_map(|program| calls_of(program, target)).flatten().collect();
        let expected: BTreeSet<String> = CALLED.iter().map(|&name| name.into()).collect();
        assert_eq!(called, expected, "{target:?}");
    }
}
