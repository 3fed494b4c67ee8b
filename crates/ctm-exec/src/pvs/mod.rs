//! Execution of vertex programs (PVS): one vertex at a time, as pvs-encoding of `docs/manuals.md` describes the machine.
//!
//! | file | content |
//! |---|---|
//! | `ops` | one pure function per operation |
//! | `interp` | operands, write masks, predicate, flow control |
//! | `launch` | a program on many vertices |
//!
//! Vertices know nothing of each other: each has its own path. [`DecodedProgram`] is a program with its words decoded, [`Vertex`] the registers of one vertex,
//! and [`run`] executes one on the other. Functions that are the same on the X1K, the pixel processor of the same chip, are those of [`crate::x1k::ops`].

pub mod interp;
mod launch;
pub mod ops;

pub use interp::{DecodedProgram, Vertex, run};
pub use launch::{Outputs, PvsLaunch, run_launch};

/// The bits of x, y, z and w.
pub type Vector = [u32; 4];

/// Instructions that a vertex may execute before it ends with a fault, unless its caller says otherwise: two nested loops of 255 iterations through a whole
/// program.
pub const BUDGET: u64 = 255 * 255 * 1024;
