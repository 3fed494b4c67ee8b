//! Streams as text, and text as streams: `assemble(disassemble(words)) == words` for every list of words.
//!
//! A line for each packet, and below those that write registers a line for each register:
//!
//! ```text
//! 00012: SET_CONTEXT_REG
//!     CB_COLOR0_BASE = 0x0
//! 00015: RELOC 3                                      ; buffer 8 at 0x100000, 65536 bytes
//! 00017: NUM_INSTANCES count=1
//! 00019: DRAW_INDEX_AUTO count=4, initiator={SOURCE_SELECT: COUNTED}   ; draw 1
//! ```
//!
//! | line | packet |
//! |---|---|
//! | `NAME word=value, word=value` | type 3; words beyond the table's are called `word` |
//! | `NAME predicated word=value` | type 3 with the predicate's bit |
//! | `NAME` and lines `REGISTER = value` | type 3 that writes registers |
//! | `PACKET 0x33 word=value` | type 3 with an opcode that the table does not have |
//! | `RELOC n` | NOP of one word, 4 times n |
//! | `REGISTERS` and lines `REGISTER = value` | type 0 |
//! | `REGISTERS one` and lines `REGISTER = value` | type 0 that writes all words to one register, on chips that can |
//! | `FILL n` | n words of type 2 |
//! | `.word value` | a word that is none of these |
//!
//! Values are numbers (`12`, `0x1f`), floats (with a point or an exponent: their bits), or fields: `{FORMAT: FMT_8_8_8_8, ARRAY_MODE: LINEAR_ALIGNED}`; fields
//! that are not named are 0, and bits outside all fields are called `BITS`. A number and a colon in front of a line, and the text after `;`, are not
//! read.

mod parse;
mod print;

pub use parse::{assemble, assemble_for};
pub use print::{disassemble, disassemble_for};

/// The name of a type-3 packet whose opcode has no row, before its opcode.
const UNNAMED: &str = "PACKET";
/// A type-0 packet.
const TYPE_0: &str = "REGISTERS";
/// A type-0 packet whose words go to one register.
const ONE_REGISTER: &str = "one";
/// Type-2 packets.
const FILL: &str = "FILL";
/// A relocation.
const RELOC: &str = "RELOC";
/// A word that is no packet.
const WORD: &str = ".word";
/// Bits that belong to no field.
const REST: &str = "BITS";
/// A word of a packet that has no name.
const NAMELESS: &str = "word";
/// A packet that may be dropped.
const PREDICATED: &str = "predicated";
