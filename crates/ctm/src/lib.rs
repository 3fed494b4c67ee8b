//! ATI's Close To the Metal device in software, and the public interface of the project.
//!
//! ```
//! use ctm::{Program, Run};
//!
//! // y = k * x + k, four processors.
//! let program = Program::assemble(
//!     ".input x = s0
//!      .output y = o0
//!      .const k = c0
//!      tex r1, x, r0.rg
//!      mad y, r1, k, k",
//! )?;
//! let done = Run::of(&program).elements(4).input("x", &[1.0, 2.0, 3.0, 4.0]).constant("k", [10.0; 4]).output("y", 1).run()?;
//! assert_eq!(done.values("y"), [20.0, 30.0, 40.0, 50.0]);
//! # Ok::<(), ctm::Error>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`run`] | one run of a program on arrays in memory: begin here |
//! | [`memory`] | the 32-bit address space and its arenas |
//! | [`mc`] | the Memory Controller: address translation, data formats |
//! | [`commands`] | command buffers: table, encoding, text, builder |
//! | [`device`] | the device: PE, CO, program loader, caches, counters |
//! | [`engine`] | which engine runs programs |
//! | [`job`] | jobs: programs with domains and arrays, and the runner |
//! | [`draw`] | pictures of a vertex and a pixel program |
//! | [`saved`] | jobs of either kind with copies of their files |
//! | [`random`] | random jobs with their data |
//! | [`files`] | opening and saving files: limits, whole replacements |
//! | [`mod@array`] | arrays and pictures as files |
//! | [`r700`] | files that hold R700 programs |
//! | [`record`] | recordings of submissions, and running them again |
//! | [`trace`] | launches, instruction by instruction: traces, ancestry, profiles, sessions |
//! | [`render`] | findings as text and as JSON |
//! | [`texture`] | texture files: DDS, KTX2, GTX |
//!
//! | feature | by default | without it |
//! |---|---|---|
//! | `jit`: the fast engine, `ctm_jit` | on | programs run on the reference interpreter, with the same results |
//! | `cranelift`: machine code for 64-bit ARM, and for x86-64 without AVX2 | off | programs run there on the portable machine of `ctm_jit`, with the same results |
//! | `ps3`: the compiler for `ps_3_0` shaders, `ctm_ps3` | on | such programs are errors that say so |
//! | `formats`: the next three | off | |
//! | `toml`: job files | off | such files are errors that say so |
//! | `png`: pictures as PNG files | off | such files are errors that say so; `.npy`, `.pfm` and raw files remain |
//! | `compressed-ktx2`: KTX2 textures compressed by Zstandard or ZLIB | off | such files are errors that say so; other KTX2 files remain |

pub use ctm_device::{
    ArenaId, Caches, CommandBuffer, CommandError, Device, DeviceOptions, EngineError, EngineKind, GpuAddr,
    SubmitReport, commands, device, engine, mc, memory, record,
};
pub use ctm_files::{Isa, JobError, Program, Report, Source};
pub use ctm_jobs::{Draw, Drawing, Drawn, Job, draw, job, random, saved};
pub use ctm_launch::{ArgumentError, Done, Error, Launch, Plane, Run, View};
pub use ctm_trace::{self as trace, Session, Trace};

// Types of the other crates in this crate's signatures, so that a client needs no further dependency.
pub use ctm_draw;
pub use ctm_exec::{self, Budget, Control, Counters, Domain, Engine, GroupSize, Position, Progress};
/// One launch on arrays in memory.
pub mod run {
    pub use ctm_files::program::Program;
    pub use ctm_launch::*;
}

pub use ctm_files::{self as files, array, r700, render, texture};
pub use ctm_image;
pub use ctm_isa::{
    self,
    diag::{Diagnostic, Label, Severity, Span},
};
#[cfg(feature = "jit")]
pub use ctm_jit;
#[cfg(feature = "ps3")]
pub use ctm_ps3;
// Compares an engine of the caller's with the reference interpreter.
pub use ctm_verify;

/// The code of the pages runs, too.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/rust.md")]
    struct Rust;
}
