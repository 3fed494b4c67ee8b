//! The fast engine: programs become micro-operations on lane vectors, and those run on all cores.
//!
//! What this is: [`Jit`], an engine that gives the same bits, faults and counters as the reference interpreter; and [`Verify`], which
//! runs both and compares. What it is not: a second definition of what programs do. Every operation that a back end has not lowered
//! itself calls its reference function, and every group that may fault is run by the reference interpreter.
//!
//! | file | what |
//! |---|---|
//! | `form` | the micro-operation form, for both instruction sets |
//! | `x1k/lower`, `x1k/flow` | from X1K instructions to the form |
//! | `awake` | where some lane runs, whatever the data are |
//! | `passes` | liveness, dead code, masks that nobody sees |
//! | `portable`, `rows` | the form in plain Rust; rows of 64 lanes |
//! | `x86/` | the form as machine code |
//! | `backend` | which of them runs |
//! | `lanes`, `grid` | what goes into a group and comes out; where its lanes lie |
//! | `optional` | which passes may be left out, and the switch that leaves them out |
//! | `map` | tables for looking things up while compiling |
//! | `direct` | outputs written without asking memory for each |
//! | `stream/` | launches in which every processor does the same, tile by tile |
//! | `work` | tasks on several threads |
//! | `engine` | batches of groups on all cores, commits in order |
//! | `verify` | two engines compared |
//! | `r700/` | the same for R700: its own form, wavefronts, comparison |
//!
//! Begin with `form`. `docs/engine.md` tells the whole, page by page.
//!
//! **Invariants.** Results never depend on the back end or the number of threads. Nothing is sent to memory before a whole group has
//! run, so a group can always be run again by the reference interpreter. `unsafe` is allowed in this room alone, and there in
//! `x86/mod`, `x86/r700/mod` and `x86/stream/run`, which call code, `x86/frame`, which code works on, `direct`, and `rows`, which
//! asks what the processor has.

#![allow(
    clippy::cast_possible_truncation,
    reason = "registers, blocks and operations are counted in numbers that hold their limits"
)]

mod awake;
mod backend;
#[cfg(all(test, unix, target_arch = "x86_64"))]
mod cost;
mod dense;
mod direct;
mod engine;
mod form;
mod grid;
mod lanes;
mod map;
mod optional;
mod passes;
mod portable;
mod r700;
mod rows;
#[cfg(target_arch = "x86_64")]
mod stream;
mod verify;
mod work;
mod x1k;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "machine code is made and called here")]
mod x86;

pub use backend::{Backend, BackendError};
pub use engine::{Jit, StreamLimits};
pub use optional::{PassesError, check as check_passes, passes};
pub use verify::{DIFFERENCE, Difference, Verify};
