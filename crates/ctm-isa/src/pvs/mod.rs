//! The programmable vertex shader (PVS) of the R5xx: vertex programs.
//!
//! | file | content |
//! |---|---|
//! | `formats` | the words of an instruction and of the registers that describe a program, every field (table) |
//! | `ops` | opcodes and field values (table) |
//! | `inst` | one decoded instruction of four words, and its operands |
//! | `access` | which components of which registers an instruction reads and writes |
//! | `flow` | the slots of flow control, and the paths of a program |
//! | `program` | a program: words, code range, flow control, constants, names |
//! | `check` | the rules on programs |
//! | `random` | random programs for tests |
//! | `text` | the assembly language, there and back |
//!
//! SlotFacts are cited as `R5xx` (register chapters of AMD's *R5xx Acceleration*) and `pvs-encoding` (`docs/manuals.md`).

pub mod access;
pub mod check;
pub mod flow;
pub mod formats;
pub mod inst;
pub mod ops;
pub mod program;
pub mod random;
pub mod text;

pub use inst::{Inst, Words};
pub use program::VertexProgram;

/// Instructions of the program memory (pvs-encoding §7).
pub const INSTRUCTION_SLOTS: usize = 1024;
/// Temporaries that a program may use. The address has 7 bits; compilers stay below 32 (pvs-encoding §7).
pub const TEMPORARIES: usize = 32;
/// Temporaries that an address can name.
pub const TEMPORARY_ADDRESSES: usize = 128;
/// Alternate temporaries: the field of the dual operation has two bits (pvs-encoding §3).
pub const ALTERNATE_TEMPORARIES: usize = 4;
/// Constant vectors (pvs-encoding §7).
pub const CONSTANTS: usize = 256;
/// Input vectors (pvs-encoding §7).
pub const INPUTS: usize = 16;
/// Output vectors: position, point size, four colours, eight texture sets, and two that no format names (pvs-encoding §7).
pub const OUTPUTS: usize = 16;
/// Slots of flow control (pvs-encoding §6).
pub const FLOW_SLOTS: usize = 16;
/// Depth of nested loops and subroutines together (pvs-encoding §6).
pub const FLOW_STACK: usize = 8;
