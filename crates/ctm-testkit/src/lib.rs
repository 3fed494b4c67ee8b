//! Shared by tests of several crates. Only tests, benches and fuzz targets use it; it panics on unexpected results.
//!
//! | module | content |
//! |---|---|
//! | [`vectors`], [`check_vectors`] | where the files of `tests/vectors` lie; cases for the checkers |
//! | [`x1k`] | X1K: run vectors, random cases and how to make them smaller, structured programs, memories, instructions field by field |
//! | [`pvs`] | vertex programs: run vectors |
//! | [`r700`] | R700: run vectors, structured programs, a chain with a geometry program |
//! | [`far`], [`starts`] | values where planes of coordinates begin |
//! | [`circles`] | files of a crate that use each other in a circle |
//! | [`layout`] | the order of a crate's modules |
//! | [`tries`] | random tries on all cores, and their selection |
//! | [`changed`] | engines with planted errors |
//! | [`tape`] | where a recording goes |
//! | [`seeded`], [`clock`] | numbers that are the same in every run; the time that a thread has run |
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "test helpers: they stop at what they did not expect"
)]

pub mod changed;
pub mod check_vectors;
pub mod circles;
pub mod clock;
pub mod far;
pub mod layout;
pub mod pvs;
pub mod r700;
pub mod seeded;
pub mod starts;
pub mod tape;
pub mod tries;
pub mod x1k;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's directory.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The variable with the program that runs tests of another processor, and its arguments (`cargo xtask everywhere`). It is empty where tests can start programs themselves.
pub const RUNNER: &str = "CTM_TEST_RUNNER";

/// Whether the test runs in an emulator, which may take ten times as long or more: it tries fewer cases.
pub fn in_emulator() -> bool {
    std::env::var_os(RUNNER).is_some()
}

/// This test program once more, as a process of its own; in an emulator, by the emulator.
pub fn again() -> Command {
    let program = std::env::current_exe().unwrap();
    let runner = std::env::var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}

/// A file of `tests/vectors`.
pub fn vectors(file: &str) -> PathBuf {
    root().join("tests/vectors").join(file)
}

/// The files of run vectors in `tests/vectors`, each by the name that [`run_vectors`] takes.
macro_rules! embedded {
    ($($file:literal)*) => {
        [$(($file, include_str!(concat!("../../../tests/vectors/", $file)))),*]
    };
}

/// The text of a file of run vectors. It is part of the program: tests of other systems have no files.
pub fn run_vectors(file: &str) -> &'static str {
    let all = embedded! {
        "x1k/run/alu.txt" "x1k/run/fields.txt" "x1k/run/tex.txt"
        "pvs/run/alu.txt" "pvs/run/flow.txt"
        "r700/run/alu.txt" "r700/run/fetch.txt" "r700/run/flow.txt"
    };
    all.into_iter().find(|known| known.0 == file).unwrap_or_else(|| panic!("{file} is no file of run vectors")).1
}
