//! Whole programs to text.

use super::{directive, line};
use crate::pvs::inst::{Inst, Words, stray_bits};
use crate::pvs::program::VertexProgram;
use std::fmt::Write as _;

/// How a listing looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingOptions {
    /// Say the address of each instruction in a comment.
    pub addresses: bool,
    /// Repeat the four words of each instruction in a comment.
    pub words: bool,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self { addresses: true, words: false }
    }
}

/// Prints a program so that [`assemble`](super::assemble) gives it back.
///
/// An instruction that the language cannot say is printed as `.word` with a comment that says why. Programs of more than
/// 1,024 instructions are printed too, but do not assemble.
///
/// ```
/// use ctm_isa::pvs::{VertexProgram, text};
/// let words = vec![[0x0010_4046, 0x0000_0040, 0x0124_8040, 0x0124_8040]];
/// let listing = text::disassemble(&VertexProgram::from_words(words.clone()), &text::ListingOptions::default());
/// assert!(listing.contains("rcp    r2.x, r2.x"));
/// assert_eq!(text::assemble(&listing).program.map(|p| p.words), Some(words));
/// ```
#[must_use]
pub fn disassemble(program: &VertexProgram, options: &ListingOptions) -> String {
    let mut out = directive::print(program);
    let end = program.words.len().saturating_sub(1);
    if program.first != 0 {
        let _ = writeln!(out, ".entry {}", program.first);
    }
    if usize::from(program.last) != end {
        let _ = writeln!(out, ".last {}", program.last);
    }
    let labels = directive::labelled(program);
    for (pc, words) in program.words.iter().enumerate() {
        if labels.iter().any(|&at| usize::from(at) == pc) {
            let _ = writeln!(out, "L{pc}:");
        }
        let (text, why) = statement(words);
        let mut comment = String::new();
        if options.addresses {
            let _ = write!(comment, "{pc:>4}");
        }
        if options.words {
            let [a, b, c, d] = words;
            let _ = write!(comment, "  {a:08X} {b:08X} {c:08X} {d:08X}");
        }
        if let Some(why) = why {
            let _ = write!(comment, "  {why}");
        }
        if comment.is_empty() {
            let _ = writeln!(out, "        {text}");
        } else {
            let _ = writeln!(out, "        {text:<56};{comment}");
        }
    }
    out
}

/// The text of an instruction, and the reason where it has to be `.word`.
fn statement(words: &Words) -> (String, Option<String>) {
    if let Some(text) = line::print(words) {
        return (text, None);
    }
    let [a, b, c, d] = words;
    let why = match Inst::decode(words) {
        Err(error) => error.to_string(),
        Ok(_) => match stray_bits(words) {
            Ok(bits) if bits != [0; 4] => "reserved bits are set".to_owned(),
            _ => "its fields contradict each other".to_owned(),
        },
    };
    (format!(".word {a:#010x}, {b:#010x}, {c:#010x}, {d:#010x}"), Some(why))
}
