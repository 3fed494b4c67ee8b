//! The X1K assembly language: text to programs and back (`docs/x1k-assembly.md`).
//!
//! One line is one instruction slot; the RGB and the alpha half of an ALU instruction are side by side. [`assemble`] reads
//! a whole file and reports everything that is wrong with it; [`disassemble`] prints a program so that assembling the
//! listing gives the same words again, whatever they are.
//!
//! | file | content |
//! |---|---|
//! | `names`, `directive` | registers and their names; program information |
//! | `operand`, `mnemonics`, `pair`, `alu`, `halves`, `alu_listing` | operands, the halves of an instruction, and ALU lines; `sources` and `constants` give them addresses |
//! | `tex`, `flow`, `attrs` | texture lines, flow control, attributes at the end of a line |
//! | `hazards` | waits, semaphores and idle cycles |
//! | `assembler`, `listing` | whole programs, there and back |
//!
//! **Invariants.** `assemble(&disassemble(p, …)).program` has the words, addresses, modes, preloads, symbols and literals
//! of `p` for every program of at most 512 slots. Derived bits depend on the rest of the program only,
//! so both directions agree about them.

mod alu;
mod alu_listing;
mod assembler;
mod attrs;
mod constants;
mod directive;
mod flow;
mod halves;
mod hazards;
mod listing;
mod mnemonics;
mod names;
mod operand;
mod pair;
mod sources;
mod tex;

pub use assembler::{Assembly, Explanation, assemble};
pub use listing::{ListingOptions, disassemble};

/// The meaning of a word of the assembly, in words and as names of the tables (`ctm isa` has their pages): `mul` is MAD(a, b, 0). `None` for words that
/// begin no instruction.
#[must_use]
pub fn meaning(word: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let texture = tex::MNEMONICS.iter().find(|(name, _)| *name == word);
    let texture = texture.map(|(_, op)| ("a texture instruction", vec![op.name()]));
    let flow = || flow::meaning(word).map(|(says, name)| (says, vec![name]));
    mnemonics::Mnemonic::of(word).map(mnemonics::Mnemonic::meaning).or(texture).or_else(flow)
}

/// Every word of the language that is no register and no name.
#[must_use]
pub fn vocabulary() -> Vocabulary {
    let all = |kind: WordKind, words: &[&'static str]| words.iter().map(|&word| (kind, word)).collect::<Vec<_>>();
    let mut words: Vocabulary = mnemonics::mnemonics().map(|(name, _)| (WordKind::Arithmetic, name)).collect();
    words.extend(tex::MNEMONICS.iter().map(|(name, _)| (WordKind::Memory, *name)));
    words.extend(flow::words().map(|name| (WordKind::Flow, name)));
    words.extend(all(WordKind::Modifier, attrs::WORDS_AT_END));
    words.extend(all(WordKind::Directive, directive::DIRECTIVES));
    words.extend(all(WordKind::Directive, directive::PLACED));
    words.extend(all(WordKind::Special, names::RESERVED).into_iter().filter(|(_, word)| *word != "_"));
    sorted(words)
}

use crate::lexer::{self, Parse};
use crate::vocabulary::{Vocabulary, WordKind, sorted};

/// The words of an OUTPUT instruction that does nothing, before its wait is set: compilers end programs with it.
const EMPTY_OUTPUT: [u32; 6] = [1, 0, 0, 0, 0, 0];
