//! Bare words, as text or as bytes. They say nothing about a program but its instructions.
//!
//! Text: hexadecimal words of up to eight digits, one instruction a line (X1K: six words; PVS: four; R700: the two words of a
//! 64-bit slot), or the same number of words on every line, as dumps have it: one dword a line, or eight. `0x` before a word and commas between words are accepted; `;`, `#` and `//` begin a comment that goes to
//! the end of the line; empty lines mean nothing.

use crate::bytes::ByteOrder;
use crate::error::ImageError;
use ctm_isa::x1k::{self, Program};
use std::fmt::Write;

/// Words of an X1K instruction.
pub const X1K_WORDS: usize = 6;
/// Words of an instruction of a vertex program (PVS).
pub const PVS_WORDS: usize = 4;
/// Words of an R700 slot.
pub const R700_WORDS: usize = 2;

/// Reads an X1K program: six words a line. Other properties are as in [`Program::from_words`].
///
/// # Errors
/// Something that is not a word, another number of words on a line, or more instructions than the machine has slots.
///
/// # Examples
/// ```
/// let program = ctm_image::hex::read("00000005 0 0 0 0 0  ; writes nothing, and ends")?;
/// assert_eq!(program.words, [[5, 0, 0, 0, 0, 0]]);
/// # Ok::<(), ctm_image::ImageError>(())
/// ```
pub fn read(text: &str) -> Result<Program, ImageError> {
    let words = read_words(text, X1K_WORDS)?;
    x1k_program(&words)
}

/// Writes an X1K program's words: one instruction a line, eight upper-case digits a word.
#[must_use]
pub fn write(program: &Program) -> String {
    let words: Vec<u32> = program.words.iter().flatten().copied().collect();
    write_words(&words, X1K_WORDS)
}

/// Reads lines of `per_line` words each.
///
/// # Errors
/// Something that is not a word, or another number of words on a line.
pub fn read_words(text: &str, per_line: usize) -> Result<Vec<u32>, ImageError> {
    let per_line = if is_dump(text, per_line) { 0 } else { per_line };
    let mut words = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let code = code_part(line);
        let error = |at: usize, found: String, allowed| ImageError::HexText {
            line: u32::try_from(number + 1).unwrap_or(u32::MAX),
            column: u32::try_from(line[..at].chars().count() + 1).unwrap_or(u32::MAX),
            offset: (offset + at) as u64,
            found,
            allowed,
        };
        let mut on_this_line = 0;
        for (at, token) in tokens(code) {
            let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).unwrap_or(token);
            let is_word = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
            match u32::from_str_radix(digits, 16) {
                Ok(word) if is_word => words.push(word),
                _ => {
                    let shown: String = token.chars().take(20).collect();
                    return Err(error(at, format!("`{}`", shown.escape_debug()), "words of 1 to 8 hexadecimal digits"));
                }
            }
            on_this_line += 1;
        }
        if per_line != 0 && on_this_line != 0 && on_this_line != per_line {
            let allowed = match per_line {
                X1K_WORDS => "6 words, the dwords of one instruction",
                PVS_WORDS => "4 words, the dwords of one instruction",
                R700_WORDS => "2 words, one 64-bit slot",
                _ => "the number of words of one instruction",
            };
            return Err(error(code.trim_end().len(), format!("the end of a line of {on_this_line} words"), allowed));
        }
        offset += line.len();
    }
    Ok(words)
}

/// Whether lines are as wide as a dump has them, and not as instructions are: all but the last have the same number of words, and all
/// together make whole instructions.
fn is_dump(text: &str, per_line: usize) -> bool {
    let counts: Vec<usize> = text.lines().map(|line| tokens(code_part(line)).count()).filter(|&n| n > 0).collect();
    let (Some(&first), Some((last, rest))) = (counts.first(), counts.split_last()) else { return false };
    let same = rest.iter().all(|&n| n == first) && *last <= first;
    same && first != per_line
        && (counts.len() > 1 || first > per_line)
        && counts.iter().sum::<usize>().is_multiple_of(per_line)
}

/// The same text with the bytes of each word in the other order.
pub(crate) fn swap(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let code = code_part(line);
        let mut done = 0;
        for (at, token) in tokens(code) {
            let digits = token.trim_start_matches("0x").trim_start_matches("0X");
            if let Ok(word) = u32::from_str_radix(digits, 16) {
                out.push_str(&line[done..at]);
                let _ = write!(out, "{:08X}", word.swap_bytes());
                done = at + token.len();
            }
        }
        out.push_str(&line[done..]);
    }
    out
}

/// Writes words, `per_line` on each line, with eight upper-case digits.
#[must_use]
pub fn write_words(words: &[u32], per_line: usize) -> String {
    let mut out = String::with_capacity(words.len() * 9);
    for line in words.chunks(per_line.max(1)) {
        for (i, word) in line.iter().enumerate() {
            let separator = if i == 0 { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(out, "{separator}{word:08X}");
        }
        out.push('\n');
    }
    out
}

/// Reads an X1K program from little-endian bytes, 24 for each instruction.
///
/// # Errors
/// The size is not a multiple of 24, or there are more instructions than the machine has slots.
pub fn read_binary(bytes: &[u8]) -> Result<Program, ImageError> {
    x1k_program(&read_binary_words(bytes, X1K_WORDS, ByteOrder::Little)?)
}

/// Writes an X1K program as little-endian bytes, 24 for each instruction.
#[must_use]
pub fn write_binary(program: &Program) -> Vec<u8> {
    program.words.iter().flatten().flat_map(|w| w.to_le_bytes()).collect()
}

/// Reads words from bytes of either order; there must be a multiple of `per_instruction` words.
///
/// # Errors
/// The size is not a multiple of an instruction's.
pub fn read_binary_words(bytes: &[u8], per_instruction: usize, order: ByteOrder) -> Result<Vec<u32>, ImageError> {
    let size = per_instruction.max(1) * 4;
    if !bytes.len().is_multiple_of(size) {
        return Err(ImageError::Truncated {
            what: "the last instruction",
            offset: (bytes.len() / size * size) as u64,
            size: size as u64,
            available: bytes.len() as u64,
        });
    }
    Ok(order.words(bytes))
}

/// Writes words as bytes of either order.
#[must_use]
pub fn write_binary_words(words: &[u32], order: ByteOrder) -> Vec<u8> {
    words.iter().flat_map(|&w| order.bytes(w)).collect()
}

/// An X1K program of its words, six for each instruction.
///
/// # Errors
/// There are more instructions than the machine has slots.
pub fn x1k_program(words: &[u32]) -> Result<Program, ImageError> {
    let found = words.len() / X1K_WORDS;
    if found > x1k::INSTRUCTION_SLOTS {
        let (found, allowed) = (found as u64, x1k::INSTRUCTION_SLOTS as u64);
        return Err(ImageError::TooMany { what: "instructions", found, allowed });
    }
    Ok(Program::from_words(words.chunks_exact(X1K_WORDS).map(|w| [w[0], w[1], w[2], w[3], w[4], w[5]]).collect()))
}

/// The line without its comment and its end.
pub(crate) fn code_part(line: &str) -> &str {
    let end = [";", "#", "//"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    line[..end].trim_end()
}

/// A token between blanks and commas, with its byte offset in the line.
fn tokens(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split(|c: char| c.is_whitespace() || c == ',')
        .filter(|token| !token.is_empty())
        .map(move |token| (token.as_ptr() as usize - start, token))
}
