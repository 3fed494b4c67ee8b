//! The run vectors of `tests/vectors/r700` on the fast engine, with every back end that this host can run.
#![allow(dead_code, reason = "shared code")]

use ctm_jit::{Backend, Jit};
use std::process::Command;
use std::sync::LazyLock;

#[path = "../../ctm-exec/tests/r700_alu.rs"]
mod r700_alu;
#[path = "../../ctm-exec/tests/r700_fetch.rs"]
mod r700_fetch;

/// What runs the vectors: the fastest back end, or the one that the environment names.
fn engine() -> &'static Jit {
    static ENGINE: LazyLock<Jit> = LazyLock::new(|| Jit::from_environment().unwrap_or_else(|error| panic!("{error}")));
    &ENGINE
}

/// The other back ends, each in a process of its own.
#[test]
fn every_back_end() {
    for backend in Backend::available().filter(|&backend| backend != engine().backend()) {
        let program = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        let output = command.args(["--skip", "every_back_end"]).env("CTM_ENGINE_ISA", backend.name()).output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        assert!(output.status.success(), "{backend}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
