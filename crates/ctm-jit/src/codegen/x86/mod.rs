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
mod kept;
mod lines;
pub mod lir;
mod lookups;
mod mask_registers;
mod mask_vectors;
pub mod masked;
mod scalar;
pub mod stream;
mod text;
pub mod transfer;
mod vectors;

pub use frame::Frame;
use frame::Line;
pub use isa::X86Target;
use memmap2::{Mmap, MmapOptions};
use std::arch::asm;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Flush denormal results and operands; no exceptions; round to nearest.
const MXCSR: u32 = 0x9fc0;
/// The largest frame.
pub const FRAME_LIMIT: i32 = 1 << 20;

/// Sets MXCSR, and returns its old value.
#[allow(unsafe_code, reason = "an instruction is asked for")]
fn exchange_mxcsr(bits: u32) -> u32 {
    let mut before = 0;
    // SAFETY: all x86-64 processors have it. Under other bits than the host's run only machine code, and Rust code that
    // gives the same results under both; compilers move no access to memory over it, and start values and results are
    // in memory.
    unsafe { asm!("stmxcsr [{}]", "ldmxcsr [{}]", in(reg) &raw mut before, in(reg) &raw const bits) }
    before
}

/// The present MXCSR.
#[allow(unsafe_code, reason = "an instruction is asked for")]
fn mxcsr() -> u32 {
    let mut now = 0;
    // SAFETY: all x86-64 processors have it; it only writes the number.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut now, options(nostack, preserves_flags)) }
    now
}

/// The present MXCSR, for tests.
#[cfg(test)]
pub fn mode() -> u32 {
    mxcsr()
}

/// Runs a function while the processor flushes denormals, as machine code needs it; Rust code in it must not depend on
/// that.
fn flushing<T>(done: impl FnOnce() -> T) -> T {
    let host = exchange_mxcsr(MXCSR);
    let done = catch_unwind(AssertUnwindSafe(done));
    exchange_mxcsr(host);
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
    writable.make_exec().ok()
}
