//! The words of the two assembly languages, by kind: for completion and for syntax colouring.
//!
//! [`crate::x1k::text::vocabulary`] and [`crate::r700::text::vocabulary`] take them from the tables that the assemblers read with.

/// The kind of a word of an assembly language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// An operation of the arithmetic units.
    Arithmetic,
    /// A lookup, a fetch, or another access to memory.
    Memory,
    /// Flow control; of the R700, every control-flow instruction but exports.
    Flow,
    /// Output of the program: exports and memory writes of the R700.
    Export,
    /// Words after an instruction.
    Modifier,
    /// A directive, without its point.
    Directive,
    /// A name that the language gives to something other than a register with a number.
    Special,
}

impl WordKind {
    /// Every kind.
    pub const ALL: &'static [Self] =
        &[Self::Arithmetic, Self::Memory, Self::Flow, Self::Export, Self::Modifier, Self::Directive, Self::Special];
}

/// A language's words, each with its kind, sorted by kind and name. A word can have several kinds.
pub type Vocabulary = Vec<(WordKind, &'static str)>;

/// Sorts, and removes duplicates.
pub(crate) fn sorted(mut words: Vocabulary) -> Vocabulary {
    words.sort_unstable();
    words.dedup();
    words
}
