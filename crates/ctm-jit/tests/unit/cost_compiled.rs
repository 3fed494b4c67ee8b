//! The cost of compiling programs of a real compiler (`tests/corpus`): see [`crate::tests::cost`].
#![allow(clippy::print_stdout, reason = "it says what it measured")]

use crate::codegen::x86::X86Target;
use crate::codegen::x86::masked::Variant;
use crate::tests::cost::{JOINT, compile, fastest, launch};
use crate::tests::{cost_r700, occurs};
use ctm_exec::x1k::Constants;
use ctm_isa::r700::Program;
use std::path::{Path, PathBuf};

/// The files of both corpora for an instruction set.
fn corpus(isa: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut found = Vec::new();
    for corpus in ["mesa", "compiled"] {
        occurs::files(&root.join(corpus).join(isa), "hex", &mut found);
    }
    found.sort();
    found
}

/// A row of a table: the name, the length, and times in us for each target.
fn row(path: &Path, isa: &str, length: usize, make: &dyn Fn(X86Target) -> bool) {
    if !X86Target::ALL.into_iter().all(make) {
        return;
    }
    let times = X86Target::ALL.map(|target| fastest(|| _ = std::hint::black_box(make(target))));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let [avx512, avx2, cranelift] = times;
    println!("| {isa} {name} | {length} | {avx512:.0} | {avx2:.0} | {cranelift:.0} |");
}

/// Prints a table: the time of compiling each program by number of instructions or instruction groups.
#[test]
#[ignore = "a measurement"]
fn compiled_programs() {
    println!("| program | instructions | avx512 us | avx2 us | cranelift us |\n|---|--:|--:|--:|--:|");
    let mut constants = Constants::default();
    constants.int[..4].fill([16, 0, 1, 0]);
    for path in corpus("x1k") {
        let program = occurs::program(&path);
        let launch = launch(&program, &constants);
        row(&path, "X1K", program.words.len(), &|target| compile(&launch, JOINT(target)).is_some());
    }
    let constants = ctm_exec::r700::Constants::default();
    for path in corpus("r700") {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = text.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
        let words = words.filter_map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok());
        let program = Program::from_words(words.collect());
        let launch = cost_r700::launch(&program, &constants);
        let Some(artifact) = cost_r700::lower(&launch) else { continue };
        let groups: u32 = artifact.code.blocks.iter().map(|block| block.tally.instructions()).sum();
        row(&path, "R700", groups as usize, &|target| {
            let variant = Variant { target, ordinary: false, counts: false, fuel: false, narrows: false };
            cost_r700::lower(&launch).is_some_and(|artifact| artifact.native(variant, (&[], &[])).is_some())
        });
    }
}
