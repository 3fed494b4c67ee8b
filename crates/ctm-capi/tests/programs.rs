//! The C and C++ programs of `examples/c`: every version of the language, no warnings, right results.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::compiler;

use std::path::PathBuf;
use std::process::Command;

fn sources(end: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(compiler::examples())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == end))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "there are examples");
    all
}

fn build_and_run(cpp: bool) {
    let (end, standards) = if cpp { ("cpp", compiler::CPP) } else { ("c", compiler::C) };
    let Some(compiler) = compiler::compiler(cpp) else { return };
    for source in sources(end) {
        for standard in standards {
            compiler::check(&compiler, standard, &source).unwrap_or_else(|e| panic!("{e}"));
        }
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = compiler::build(&compiler, standards[0], &source, name);
        let mut run = Command::new(program);
        run.arg("quick").current_dir(compiler::examples()).env("CTM_LOG", "error");
        compiler::said(&mut run).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn cpp_examples_are_right() {
    build_and_run(true);
}

#[test]
fn c_examples_are_right() {
    build_and_run(false);
}
