//! The back ends for x86-64: machine code made from the forms.
//!
//! | file | what |
//! |---|---|
//! | `masked/` | from the form with masks to machine code: programs of both instruction sets |
//! | `stream/` | streams |
//! | `lir`, `scalar` | vector instructions; the transcendental functions in them |
//! | `allocate` | registers |
//! | `isa` | the instruction sets, and what differs between them |
//! | `frame` | the memory that code works on |
//! | `kept` | literals and constants with registers |
//! | `lookups` | lookups of texels and items, in Rust |
//! | `transfer` | tiles and elements of 8 and 16 bits as rows of numbers, and back |
//! | `vectors` | instructions on vectors, for both instruction sets |
//! | `avx512`, `avx2` | masks of lanes, which each instruction set has in its own way |
//!
//! Bytes are made by `ctm-x86`.
//!
//! Code is made executable only after it has been written (W^X). The processor flushes denormals (MXCSR) while it runs; whoever is called
//! from it runs with the host's MXCSR, but for lookups of what memory lends.

mod allocate;
mod avx2;
mod avx512;
mod frame;
mod isa;
mod kept;
mod lir;
mod lookups;
pub mod masked;
mod scalar;
pub mod stream;
pub mod transfer;
mod vectors;

pub use frame::Frame;
use frame::Line;
pub use isa::Isa;
use memmap2::{Mmap, MmapOptions};
use std::arch::asm;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Flush denormal results and operands; no exceptions; round to nearest.
const MXCSR: u32 = 0x9fc0;
/// The largest frame.
const FRAME_LIMIT: i32 = 1 << 20;

/// Sets MXCSR, and gives what it was.
#[allow(unsafe_code, reason = "an instruction is asked for")]
fn exchange_mxcsr(bits: u32) -> u32 {
    let mut before = 0;
    // SAFETY: all x86-64 processors have it. What runs under other bits than the host's is machine code, and Rust code that gives the same under both; compilers
    // move nothing over it that reads or writes memory, where start values come from and go.
    unsafe { asm!("stmxcsr [{}]", "ldmxcsr [{}]", in(reg) &raw mut before, in(reg) &raw const bits) }
    before
}

/// Does something while the processor flushes denormals, as machine code wants it; Rust code in it must not depend on that. It is told the host's MXCSR.
fn flushing<T>(done: impl FnOnce(u32) -> T) -> T {
    let host = exchange_mxcsr(MXCSR);
    let done = catch_unwind(AssertUnwindSafe(|| done(host)));
    exchange_mxcsr(host);
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Whether memory can be made executable here.
pub fn executes() -> bool {
    executable(&[0xc3]).is_some()
}

/// Code in memory that can be executed, and no longer written.
fn executable(bytes: &[u8]) -> Option<Mmap> {
    // All of it is written at once.
    let mut writable = MmapOptions::new().len(bytes.len()).populate().map_anon().ok()?;
    writable.copy_from_slice(bytes);
    writable.make_exec().ok()
}
