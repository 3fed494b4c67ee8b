//! The run vectors of `tests/vectors/r700` on the fast engine.
#![allow(dead_code, reason = "shared code")]

use ctm_jit::Jit;
use std::sync::LazyLock;

#[path = "../../ctm-exec/tests/r700_alu.rs"]
mod r700_alu;
#[path = "../../ctm-exec/tests/r700_fetch.rs"]
mod r700_fetch;

/// What runs the vectors.
fn engine() -> &'static Jit {
    static ENGINE: LazyLock<Jit> = LazyLock::new(Jit::new);
    &ENGINE
}
