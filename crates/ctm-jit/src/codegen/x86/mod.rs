//! The back ends for x86-64: machine code made from the forms.
//!
//! | file | contents |
//! |---|---|
//! | `masked/` | from the form with masks to machine code: programs of both instruction sets |
//! | `stream/` | streams |
//! | `lir`, `scalar` | vector instructions; the transcendental functions in them |
//! | `allocate` | registers |
//! | `text`, `fields` | the text of the fields of instructions |
//! | `isa` | the targets |
//! | `frame` | the memory of the code |
//! | `kept` | literals and constants with registers |
//! | `lookups` | lookups of texels and items, in Rust |
//! | `transfer` | tiles and elements of 8 and 16 bits as rows of numbers, and back |
//! | `mode` | the floating-point mode, and the cache of instructions |
//! | `vectors`, `lines` | instructions on vectors, for all targets; those and instructions on masks |
//! | `mask_registers`, `mask_vectors` | masks of lanes in mask registers, and in vectors |
//!
//! `ctm-x86` encodes the instructions.
//!
//! Code is made executable only after it has been written, and is no longer writable then (W^X; `tests/pages.rs`).
//!
//! # The floating-point mode
//!
//! The processor flushes denormals while code runs: MXCSR is set before and restored after it, even after a panic
//! ([`flushing`]). Functions that code calls run in the host's mode, as all Rust code does but for two parts. The
//! compiler assumes the host's mode, so it may evaluate or move an operation as if denormals were preserved; rounding
//! is to nearest and exceptions are masked in either mode, and no flags are read. Neither part has an operation for
//! which that matters.
//!
//! | Rust code in the mode of machine code | why it may |
//! |---|---|
//! | lookups of mapped arrays (`lookups`) | operands come from memory at run time, so none is evaluated before; each operation is one vector instruction (`ctm_x86::simd`), and has to flush as the program's own do |
//! | the work of a span between wavefronts (`masked::spans`), if no start value can be a denormal (`Starts::are_normal`); otherwise it sets the host's mode | stores move bits; start values are sums and products of normal numbers, and are normal |
//!
//! Rust code between a change of the mode and the machine code handles pointers, integers and bits alone.

pub mod allocate;
mod fields;
mod frame;
pub mod isa;
pub mod kept;
mod lines;
pub mod lir;
mod lookups;
mod mask_registers;
mod mask_vectors;
pub mod masked;
pub mod mode;
mod scalar;
pub mod stream;
mod text;
pub mod transfer;
mod vectors;

use frame::CacheLine;
pub use frame::Frame;
pub use isa::X86Target;
use memmap2::{Mmap, MmapOptions};
use mode::{FLUSHING, exchange_mode, mode_now, synchronise};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The largest frame.
pub const FRAME_LIMIT: i32 = 1 << 20;

/// The present MXCSR, for tests.
#[cfg(test)]
pub fn present_mode() -> u32 {
    mode_now()
}

/// Runs a function while the processor flushes denormals, as machine code needs it; Rust code in it must not depend on
/// that.
fn flushing<T>(done: impl FnOnce() -> T) -> T {
    let host = exchange_mode(FLUSHING);
    let done = catch_unwind(AssertUnwindSafe(done));
    exchange_mode(host);
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Whether memory can be made executable here.
pub fn executes() -> bool {
    executable(&[0xc3]).is_some()
}

/// Executable code in memory, which is no longer writable.
fn executable(bytes: &[u8]) -> Option<Mmap> {
    // All of it is written at once.
    let mut writable = MmapOptions::new().len(bytes.len()).populate().map_anon().ok()?;
    writable.copy_from_slice(bytes);
    let code = writable.make_exec().ok()?;
    synchronise(&code);
    Some(code)
}
