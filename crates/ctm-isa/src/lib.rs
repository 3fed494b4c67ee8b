//! Words, instructions and text of the X1K (R5xx), PVS (R5xx vertex programs) and R700 instruction sets, and the rules on programs.
//!
//! This room turns words into instructions, instructions into text, and text back into the same words; it knows which
//! programs the manuals forbid. It runs nothing and does no I/O.
//!
//! Begin with [`x1k::formats`] and [`x1k::ops`]: they are the manual's tables, and everything else is derived from them.
//! `macros.rs` explains the expansion of a row of such a table. [`isa_help`] prints the tables for readers.
//!
//! **Invariants.** A bit position or an opcode number is in one row of one table. `assemble(disassemble(words))`
//! gives the same words for every word sequence, valid or not.

pub mod diag;
pub mod isa_help;
mod lexer;
pub mod live;
#[macro_use]
mod macros;
pub mod number;
pub mod pvs;
pub mod r700;
mod rules;
pub mod suggest;
pub mod table;
pub mod vocabulary;
pub mod x1k;

pub use rules::ProgramRule;
