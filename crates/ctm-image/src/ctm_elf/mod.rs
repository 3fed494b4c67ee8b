//! The CTM executable: an ELF file with the program in `.text` and seven notes beside it (CTM §4.1).
//!
//! [`read`] and [`write()`] turn files into programs and back; [`read_image`] also keeps further data of the file and
//! remarks on oddities. A file may be followed by other bytes: [`extent`] finds where it ends.
//!
//! **Invariant.** `read(write(program)) == program` for every program that can be stored, except for the places in the
//! source text, which do not travel; and `write(read(file))` is the same for its own output.

mod data;
mod read;
mod write;

pub mod program_info;

pub use crate::elf::extent;
pub use read::{Image, Notes, read, read_image};
pub use write::write;

use ctm_isa::{ops, x1k};

/// `e_ident[EI_OSABI]`: the ABI of ATI's DPP devices.
pub const OSABI: u64 = 98;
/// `e_ident[EI_ABIVERSION]`.
pub const ABIVERSION: u64 = 1;
/// `e_machine`: the X1K series' encoding.
pub const MACHINE: u64 = 122;
/// `e_flags`: required.
pub const FLAGS: u64 = 1;
/// The section that holds the instructions.
pub const TEXT: &str = ".text";
/// The owner of the Guide's notes.
pub const OWNER: &str = "ATI DPP";
/// The owner of our own note, which holds literals.
pub const OWN_OWNER: &str = "ctm";
/// The number of our own note.
pub const OWN_LITERALS: u32 = 1;
/// Words of one literal in our own note: kind, index, and four words of value.
pub const LITERAL_WORDS: usize = 6;
/// Bytes of one instruction in `.text`.
pub const INSTRUCTION_BYTES: u64 = 24;

/// The kind of a note's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteForm {
    /// The program information's 28 words.
    ProgramInfo,
    /// A list of indices below the limit.
    Indices(u32),
    /// One word, 0 or 1.
    Flag,
}

ops! {
    /// The Guide's notes.
    pub enum NoteKind cite "CTM §4.1.4" info NoteForm {
        /// Ancillary information used by the loader to set up the program.
        ProgInfo "PROGINFO" 1 => NoteForm::ProgramInfo;
        /// Which inputs the program reads.
        Inputs "INPUTS" 2 => NoteForm::Indices(x1k::INPUTS as u32);
        /// Which outputs the program writes.
        Outputs "OUTPUTS" 3 => NoteForm::Indices(x1k::OUTPUTS as u32);
        /// Whether the program writes a conditional value.
        CondOut "CONDOUT" 4 => NoteForm::Flag;
        /// Which floating-point constants the program reads.
        Float32Consts "FLOAT32CONSTS" 5 => NoteForm::Indices(x1k::FLOAT_CONSTANTS as u32);
        /// Which integer constants the program reads.
        Int32Consts "INT32CONSTS" 6 => NoteForm::Indices(x1k::INT_CONSTANTS as u32);
        /// Whether the program may end early.
        EarlyExit "EARLYEXIT" 7 => NoteForm::Flag;
    }
}

ops! {
    /// The kind of a symbol's item: the low four bits of `st_info`. The value is the index.
    ///
    /// The numbers are those of AMD's later images; [`DataKind::Output`] is ours, from the range for operating systems.
    pub enum DataKind cite "CAL amuABI symbol types" {
        /// A program input.
        Sampler "SAMPLER" 0;
        /// A program output.
        Output "OUTPUT" 12 cite "docs/image.md";
        /// A floating-point constant.
        Float32 "FLOAT32" 13;
        /// An integer constant.
        Int32 "INT32" 14;
        /// A boolean constant.
        Bool32 "BOOL32" 15;
    }
}

impl DataKind {
    /// How many of them there are.
    #[must_use]
    pub const fn limit(self) -> usize {
        match self {
            Self::Sampler => x1k::INPUTS,
            Self::Output => x1k::OUTPUTS,
            Self::Float32 => x1k::FLOAT_CONSTANTS,
            Self::Int32 => x1k::INT_CONSTANTS,
            Self::Bool32 => x1k::BOOL_CONSTANTS,
        }
    }
}
