//! The words of the two assembly languages, by what they are: for completion and for syntax colouring.
//!
//! [`crate::x1k::text::vocabulary`] and [`crate::r700::text::vocabulary`] take them from the tables that the assemblers read with.

/// What a word of an assembly language is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// An operation of the arithmetic units.
    Arithmetic,
    /// A lookup, a fetch, or another access to memory.
    Memory,
    /// Flow control; of the R700, every control-flow instruction but exports.
    Flow,
    /// What leaves the program: exports and memory writes of the R700.
    Export,
    /// What stands behind an instruction.
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

/// Sorts, and leaves out what is there twice.
pub(crate) fn sorted(mut words: Vocabulary) -> Vocabulary {
    words.sort_unstable();
    words.dedup();
    words
}
