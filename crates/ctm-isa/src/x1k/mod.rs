//! The X1K (R5xx) fragment processor: the DPP array's instruction set (CTM Guide chapter 3).
//!
//! | file | content |
//! |---|---|
//! | `formats` | the words of an instruction, every field (table) |
//! | `ops` | opcodes and field values (table) |
//! | `inst` | one decoded instruction of six words, and its operands |
//! | `access` | which channels of which registers an instruction reads and writes |
//! | `program` | a program: words, program information, names, literals |
//! | `check` | the rules on programs |
//! | `text` | the assembly language, there and back |

pub(crate) mod access;
pub mod check;
pub mod formats;
pub mod inst;
pub mod ops;
mod position;
pub mod program;
pub mod random;
pub mod text;

pub use inst::{Inst, Words};
pub use program::Program;

/// Instruction slots of the machine (CTM §3.1).
pub const INSTRUCTION_SLOTS: usize = 512;
/// Temporary registers of one processor (CTM §3.3.1).
pub const TEMPORARIES: usize = 128;
/// Floating-point constants (CTM §3.3.1).
pub const FLOAT_CONSTANTS: usize = 256;
/// Integer constants for loops (CTM §3.5.3).
pub const INT_CONSTANTS: usize = 32;
/// Boolean constants (CTM §3.5.3).
pub const BOOL_CONSTANTS: usize = 32;
/// Program inputs (CTM §2.1.4).
pub const INPUTS: usize = 16;
/// Cached program outputs (CTM §2.1.4).
pub const OUTPUTS: usize = 4;
/// Depth of the loop stack in full flow-control mode (CTM §3.5.2).
pub const LOOP_STACK: usize = 4;
/// Depth of the address stack in full flow-control mode (CTM §3.5.2).
pub const ADDRESS_STACK: usize = 4;
/// Largest branch counter in partial flow-control mode (CTM §3.5.2).
pub const BRANCH_COUNTER_PARTIAL: u8 = 3;
/// Largest branch counter in full flow-control mode (CTM §3.5.2).
pub const BRANCH_COUNTER_FULL: u8 = 31;
