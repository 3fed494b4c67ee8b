//! The R700 (RV7xx) shader core's instruction set (R700-Family ISA, chapters 3 to 10).
//!
//! | file | content |
//! |---|---|
//! | `formats` | the words of every instruction, every field (table) |
//! | `ops` | opcodes and field values (tables) |
//! | `inst` | words as instructions, clauses and programs |
//! | `ports` | read ports of a group, and the bank swizzles that respect them |
//! | `text` | the listing syntax, both ways |
//! | `check` | the rules on programs |
//! | `random` | random legal programs (feature `random`) |

pub mod check;
pub mod formats;
pub mod inst;
pub mod ops;
pub mod ports;
pub mod program;
pub mod random;
pub mod text;

/// Registers of one thread (R700 §4.6).
pub const GPRS: usize = 128;
/// Constants of the constant file (R700 §4.6.4).
pub const CONSTANT_FILE: usize = 256;
/// Constants in one line of the constant cache (R700 §4.6.4.1).
pub const KCACHE_LINE: u32 = 16;
/// Most slots of an ALU clause, literals counted (R700 §3.3).
pub const ALU_CLAUSE_SLOTS: usize = 128;
/// Most instructions of a fetch clause (R700 §10.1, r700-encoding §10 E11).
pub const FETCH_CLAUSE_INSTRUCTIONS: usize = 16;
/// Most dwords of literals in a group (R700 §4.3).
pub const GROUP_LITERALS: usize = 4;
/// Deepest nesting of calls (R700 §3.7.6).
pub const CALL_DEPTH: usize = 32;

pub use program::Program;
