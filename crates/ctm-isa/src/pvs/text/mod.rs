//! The PVS assembly language: text to programs and back (`docs/pvs-assembly.md`).
//!
//! One line is one instruction; a math operation beside a vector operation follows `+`. [`assemble`] reads a whole file and reports everything that
//! is wrong with it; [`disassemble`] prints a program so that assembling the listing gives the same words again.
//!
//! | file | content |
//! |---|---|
//! | `names` | registers and their names |
//! | `operand` | sources and destinations, there and back |
//! | `line` | instructions, there and back |
//! | `raw` | fields by their manual names, for bits that the rest of a line does not say |
//! | `directive` | code range, constants, flow control, names |
//! | `assembler`, `listing` | whole programs, there and back |
//!
//! **Invariants.** `assemble(&disassemble(p)).program` is `p` but for its spans, for every program of at most 1,024 instructions.

mod assembler;
mod directive;
mod line;
mod listing;
mod names;
mod operand;
mod raw;

pub use assembler::{Assembly, assemble};
pub use listing::{ListingOptions, disassemble};

use super::ops::Op;
use crate::vocabulary::{Vocabulary, WordKind, sorted};

/// The meaning of a word of the assembly, in words and as names of the tables (`ctm isa` has their pages): `mov` is VE_ADD(a, 0). `None` for words that
/// begin no instruction.
#[must_use]
pub fn meaning(word: &str) -> Option<(&'static str, Vec<&'static str>)> {
    if word == line::MOV {
        return Some(("a copy: the sum of the source and zero", vec![super::ops::VectorOp::Add.name()]));
    }
    let (word, clamped) = word.strip_suffix(line::SAT).map_or((word, false), |word| (word, true));
    let op = Op::from_mnemonic(word)?;
    let says = match (op, clamped) {
        (Op::Vector(_), false) => "an operation of the vector engine",
        (Op::Vector(_), true) => "an operation of the vector engine, its result clamped to 0..1",
        (Op::Math(_), false) => "an operation of the math engine",
        (Op::Math(_), true) => "an operation of the math engine, its result clamped to 0..1",
        (Op::Macro(_), false) => "a macro of the vector engine",
        (Op::Macro(_), true) => "a macro of the vector engine, its result clamped to 0..1",
    };
    Some((says, vec![op.name()]))
}

/// The letters of the register that a word names, and the section that defines it: `at` of `at3`. `None` for other words.
#[must_use]
pub fn register(word: &str) -> Option<(&'static str, &'static str)> {
    names::register(word)
}

/// Every word of the language that is no register and no name.
#[must_use]
pub fn vocabulary() -> Vocabulary {
    let all = |kind: WordKind, words: &[&'static str]| words.iter().map(|&word| (kind, word)).collect::<Vec<_>>();
    let mut words: Vocabulary = Op::all().map(|op| (WordKind::Arithmetic, op.info().mnemonic)).collect();
    words.extend(all(WordKind::Arithmetic, &[line::MOV]));
    words.extend(all(WordKind::Flow, directive::FLOW_WORDS));
    words.extend(all(WordKind::Modifier, &["p"]));
    words.extend(all(WordKind::Directive, directive::DIRECTIVES));
    words.extend(all(WordKind::Directive, directive::PLACED));
    words.extend(all(WordKind::Special, &["a0", "aL"]));
    sorted(words)
}
