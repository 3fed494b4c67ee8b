//! The fast engine: programs become micro-operations on lane vectors, and those run on all cores.
//!
//! This crate is [`Jit`], an engine that gives the same bits, faults and counters as the reference interpreter;
//! `ctm_verify` runs both and compares. It is not a second definition of the instruction sets. An operation that a back
//! end has not lowered itself calls its reference function, and a group that may fault is run by the reference
//! interpreter.
//!
//! | folder | contents |
//! |---|---|
//! | `launch/` | inputs and results of wavefronts; arrays that memory maps |
//! | `passes/` | liveness, dead code, mask propagation; the table of optional passes |
//! | `stream/` | uniform programs |
//! | `codegen/` | the form as machine code, and in plain Rust |
//! | `compile/` | the pipeline: all stages in their order, dumps of each |
//! | `runtime/` | wavefronts on all cores, commits in order |
//!
//! A folder uses only those above it (`tests/layout.rs`). The form and the lowering of programs to it are in `ctm_ir`; begin there. `docs/engine.md` describes the whole, page
//! by page.
//!
//! **Invariants.** Results never depend on the back end or the number of threads. Nothing is sent to memory before a
//! whole group has run, so a group can always be run again by the reference interpreter. Of this crate's files,
//! `unsafe` is allowed in `codegen/x86/mode`, which sets the processor's mode, `codegen/x86/masked/mod`, `codegen/x86/masked/spans` and `codegen/x86/stream/run`, which call
//! code, `codegen/x86/masked/spans/stores` and `codegen/x86/lookups`, which it calls, `codegen/x86/transfer`, which
//! moves elements of tiles, `codegen/x86/frame`, the memory of code, `launch/direct`, which sees arrays as dwords, and
//! `codegen/portable/rows`, which detects the processor's features.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_imports,
        reason = "some code only serves machine code, which other processors do not have"
    )
)]

mod codegen;
mod compile;
mod launch;
mod passes;
mod runtime;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
mod stream;
#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;

pub use codegen::backend::{Backend, BackendError};
pub use compile::Stage;
pub use compile::emit::{EmitError, EmitLaunch, TextOptions, emit, emit_stream, emit_text};
pub use compile::observe::check as check_dump;
pub use launch::events::{Events, events};
pub use passes::switches::SwitchError;
pub use passes::table::{check as check_passes, passes};
pub use runtime::engine::Jit;
pub use runtime::options::StreamLimits;
