//! Program containers: files with programs and their metadata.
//!
//! | module | formats |
//! |---|---|
//! | [`ctm_elf`] | the CTM executable (CTM §4): X1K programs with their seven notes |
//! | [`hex`] | bare words as text or bytes |
//! | [`dump`] | programs in logs of Mesa's drivers, by their words; nothing to write |
//! | [`r700`] | R700 programs in GFD containers, CAL images and LLVM's objects |
//! | [`info`] | nothing to write: describes a file of any kind, for people and machines |
//! | [`elf`] | the 32-bit ELF structures that the containers share |
//!
//! This room knows where words are in files; the meaning of words is in `ctm-isa`. It does no I/O: it turns bytes into
//! programs and programs into bytes. Begin with [`ctm_elf`]; `docs/image.md` describes every format.
//!
//! **Invariants.** No input panics. An error names the byte, the field, the found and the allowed values. What is odd
//! but usable becomes a [`Remark`].

mod bytes;
pub mod ctm_elf;
pub mod dump;
pub mod elf;
mod error;
mod foreign;
pub mod hex;
mod identify;
pub mod info;
mod kind;
pub mod r700;

pub use bytes::ByteOrder;
pub use error::{ImageError, Remark};
pub use foreign::{Foreign, foreign};
pub use identify::{InstructionSet, identify, is_r700, is_x1k, machine_of, swap_words, swapped};
pub use kind::Kind;
