//! Command streams of R5xx, R6xx and R7xx Radeons: their words as text, checks, and a device that draws.
//!
//! A stream is a list of words that a driver hands to the kernel, with relocations that name the buffers of its addresses.
//!
//! | file | subject |
//! |---|---|
//! | `table` | rows of the tables of registers and packets |
//! | `registers/` | every register, with its fields (tables) |
//! | `chip` | a chip as a value |
//! | `packets/` | the packets of each chip (tables), a stream cut into packets |
//! | `text/` | streams as text |
//! | `stream` | relocations |
//! | `check/` | rules and their findings |
//! | `execute/` | a device that runs streams |
//! | `capture` | captures of submissions with their buffers |
//! | `replay` | captures, run again |
//! | `shown` | buffers as a display shows them |
//! | `shared_picture` | the picture on a display, in a file that a viewer reads |

#[macro_use]
mod table;
pub mod capture;
pub mod check;
pub mod chip;
pub mod environment;
mod error;
pub mod execute;
pub mod packets;
pub mod registers;
pub mod replay;
#[cfg(unix)]
pub mod shared_picture;
pub mod shown;
pub mod stream;
pub mod text;

pub use error::Error;
pub use stream::Relocation;
pub use table::{Bits, FieldLayout, Info, Length, PacketShape, Register, RegisterKind, Sender, Word};
