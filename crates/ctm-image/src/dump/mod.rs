//! Logs in which Mesa's drivers print the programs that they compile: `R600_DEBUG=ps,vs` of the r600 driver, `RADEON_DEBUG=fp` of the r300 driver.
//!
//! Only the words in the columns are read, never the operations beside them: the columns are the same in every version of the driver, and the words are
//! the words for the chip. A log may be whole or pasted in part into a report: the rest of each line, other lines, quote marks and time stamps are ignored.
//!
//! | driver | a program begins | a line |
//! |---|---|---|
//! | r600 (`r600`) | `bytecode 8 dw -- 1 gprs -- 0 nstack`, `===== SHADER #3 ===== PS/RV770/R700 =====`, or word 0 | the dword's number with four or more decimal digits, one to four words of eight hexadecimal digits |
//! | r300 (`r500`) | `R500 Fragment Program:`, or instruction 0 | a word's name, and the word after `0x` |
//!
//! The r600 driver leaves out the fourth dword of fetches and the padding after an odd number of literals: they are 0.

mod r500;
mod r600;

use crate::kind::Kind;
use ctm_isa::r700::program::Stage;
use std::ops::Range;

/// The chips whose programs the drivers print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Fragment programs of the R5xx: X1K programs.
    R500,
    /// R600 and RV6xx.
    R600,
    /// RV7xx.
    R700,
    /// Evergreen.
    Evergreen,
    /// Cayman.
    Cayman,
}

impl Family {
    /// Its name, for a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::R500 => "R500",
            Self::R600 => "R600",
            Self::R700 => "R700",
            Self::Evergreen => "Evergreen",
            Self::Cayman => "Cayman",
        }
    }
}

/// The missing part of a program in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The dump ends early: the program goes on after its last word.
    End,
    /// These dwords are not there, although something needs them. R500: instructions.
    Missing(Vec<Range<u32>>),
}

/// One program of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The chip, where the log names it.
    pub family: Option<Family>,
    /// Its name in the log.
    pub name: String,
    /// The line of the log where it begins, from 1.
    pub line: u32,
    /// Its words; those that are missing are 0.
    pub words: Vec<u32>,
    /// Its stage: by the log, or by its exports.
    pub stage: Option<Stage>,
    /// Registers that the driver gives it.
    pub gprs: Option<u8>,
    /// Stack entries that the driver gives it.
    pub stack: Option<u8>,
    /// The missing parts.
    pub cut: Option<Cut>,
}

impl Dump {
    /// Its label in lists: name and line.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}, line {}", self.name, self.line)
    }
}

/// Every program of a log, in its order.
#[must_use]
pub fn read(text: &str) -> Vec<Dump> {
    match kind(text) {
        Some(Kind::X1kDump) => r500::read(text),
        Some(_) => r600::read(text),
        None => Vec::new(),
    }
}

/// Which driver's log a text is, if it is one.
pub(crate) fn kind(text: &str) -> Option<Kind> {
    let mut header = false;
    for line in text.lines() {
        if is_comment(line) {
            continue;
        }
        if r500::is_first_word(line) {
            return Some(Kind::X1kDump);
        }
        header |= r600::is_header(line);
        if r600::WordLine::of(line).is_some_and(|found| header || found.names_instruction()) {
            return Some(Kind::R700Dump);
        }
    }
    None
}

/// Whether the line is a comment of a text of ours.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(';') || line.starts_with("//")
}

/// The number of a line, from 1.
fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}
