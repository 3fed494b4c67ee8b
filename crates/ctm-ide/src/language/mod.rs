//! The assembly languages as an editor sees them.
//!
//! | file | content |
//! |---|---|
//! | `words` | a text as words with their places |
//! | `names` | labels and declared names: where they are defined and used, renaming |
//! | `registers` | which register a word means, who wrote its value, who reads it |
//! | `manual` | the meaning of words: the pages of `ctm isa`, and the rows of the tables of the languages' own pages |
//! | `complete` | completions at a place |
//! | `format` | the layout of lines |
//!
//! Offsets are bytes of the text. Begin with [`Document`].

mod complete;
mod format;
mod manual;
mod names;
mod registers;
mod words;

pub use complete::{Completion, CompletionKind};
pub use manual::Hover;
pub use names::{NameKind, Symbol};
pub use registers::Hint;

use ctm_isa::diag::{Diagnostic, Severity, Span};
use ctm_isa::isa_help::Isa as Manual;
use ctm_isa::live::Liveness;
use ctm_isa::vocabulary::{Vocabulary, WordKind};
use ctm_isa::{pvs, r700, x1k};
use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;
use words::Word;

/// The three languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// X1K assembly (`docs/x1k-assembly.md`).
    X1k,
    /// R700 assembly, AMD's listing syntax (`docs/r700-assembly.md`).
    R700,
    /// PVS assembly, vertex programs of the R5xx (`docs/pvs-assembly.md`).
    Pvs,
}

impl Language {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::X1k, Self::R700, Self::Pvs];

    /// By the extension of a file's name; `None` where it says nothing.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension.as_str()))
    }

    /// By the form of the text: a listing of the R700 has lines that begin with a control-flow instruction in capitals. Others are taken for X1K.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let flow = |line: &str| {
            let head = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            let end = head.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(head.len());
            Self::R700.has(&head[..end], &[WordKind::Flow, WordKind::Export])
        };
        if text.lines().any(|line| flow(line) || line.trim_start().starts_with(".stage")) {
            Self::R700
        } else {
            Self::X1k
        }
    }

    /// Extensions of its files.
    #[must_use]
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::X1k => &["x1k"],
            Self::R700 => &["r700", "psh", "vsh", "gsha", "r7"],
            Self::Pvs => &["pvs"],
        }
    }

    /// Its name in editors.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::X1k => "ctm-x1k",
            Self::R700 => "ctm-r700",
            Self::Pvs => "ctm-pvs",
        }
    }

    /// The language that an editor calls so.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.id() == id)
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::X1k => "X1K assembly",
            Self::R700 => "R700 assembly",
            Self::Pvs => "PVS assembly",
        }
    }

    /// Its words.
    #[must_use]
    pub fn vocabulary(self) -> Vocabulary {
        match self {
            Self::X1k => x1k::text::vocabulary(),
            Self::R700 => r700::text::vocabulary(),
            Self::Pvs => pvs::text::vocabulary(),
        }
    }

    /// Whether a word is one of these kinds.
    fn has(self, word: &str, kinds: &[WordKind]) -> bool {
        static X1K: OnceLock<WordKinds> = OnceLock::new();
        static R700: OnceLock<WordKinds> = OnceLock::new();
        static PVS: OnceLock<WordKinds> = OnceLock::new();
        let words = match self {
            Self::X1k => &X1K,
            Self::R700 => &R700,
            Self::Pvs => &PVS,
        };
        let words = words.get_or_init(|| {
            let mut words = WordKinds::new();
            self.vocabulary().into_iter().for_each(|(kind, word)| words.entry(word).or_default().push(kind));
            words
        });
        words.get(word).is_some_and(|of| of.iter().any(|kind| kinds.contains(kind)))
    }

    /// Its manual.
    #[must_use]
    pub fn manual(self) -> Manual {
        match self {
            Self::X1k => Manual::x1k(),
            Self::R700 => Manual::r700(),
            Self::Pvs => Manual::pvs(),
        }
    }

    /// Whether names can be in quotes.
    pub(crate) const fn has_quotes(self) -> bool {
        !matches!(self, Self::R700)
    }
}

/// The kinds of each word.
type WordKinds = HashMap<&'static str, Vec<WordKind>>;

/// A program of one of the machines.
#[derive(Clone, Debug)]
enum AnyProgram {
    X1k(Box<x1k::Program>),
    R700(Box<r700::Program>),
    Pvs(Box<pvs::program::VertexProgram>),
}

/// A text in one of the languages, read once.
#[derive(Clone, Debug)]
pub struct Document {
    /// The language.
    pub language: Language,
    /// The text.
    pub text: String,
    /// The findings of the assembler and, for a text without errors, of the checker.
    pub findings: Vec<Diagnostic>,
    program: Option<AnyProgram>,
    words: Vec<Word>,
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// Lines and slots of the instructions, by line.
    slots: Vec<(usize, u32)>,
    live: Option<Liveness>,
}

impl Document {
    /// Reads a text.
    #[must_use]
    pub fn new(language: Language, text: impl Into<String>) -> Self {
        let text = text.into();
        let (findings, program) = read(language, &text);
        let live = program.as_ref().map(|program| match program {
            AnyProgram::X1k(program) => x1k::check::live(program),
            AnyProgram::R700(program) => r700::check::live(program),
            AnyProgram::Pvs(program) => pvs::check::live(program),
        });
        let words = words::words(language, &text);
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut document = Self { language, text, findings, program, words, starts, slots: Vec::new(), live };
        let written = |(slot, span): (u32, &Span)| (span.end > span.start).then_some((span.start as usize, slot));
        let slots = (0..).zip(document.spans()).filter_map(written);
        let mut slots: Vec<(usize, u32)> = slots.map(|(at, slot)| (document.line_of(at), slot)).collect();
        slots.sort_unstable();
        document.slots = slots;
        document
    }

    /// A text of which nothing but its findings is known.
    #[must_use]
    pub(crate) fn foreign(text: String, findings: Vec<Diagnostic>) -> Self {
        Self {
            language: Language::X1k,
            text,
            findings,
            program: None,
            words: Vec::new(),
            starts: vec![0],
            slots: Vec::new(),
            live: None,
        }
    }

    /// Whether a finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The words of the program; none of a text with errors.
    #[must_use]
    pub fn program_words(&self) -> Vec<u32> {
        match &self.program {
            None => Vec::new(),
            Some(AnyProgram::X1k(program)) => program.words.iter().flatten().copied().collect(),
            Some(AnyProgram::R700(program)) => program.words.clone(),
            Some(AnyProgram::Pvs(program)) => program.words.iter().flatten().copied().collect(),
        }
    }

    fn spans(&self) -> &[Span] {
        match &self.program {
            None => &[],
            Some(AnyProgram::X1k(program)) => &program.spans,
            Some(AnyProgram::R700(program)) => &program.spans,
            Some(AnyProgram::Pvs(program)) => &program.spans,
        }
    }

    /// The word at an offset, or right before it.
    fn word_at(&self, offset: usize) -> Option<usize> {
        let inside = |word: &Word| (word.start..=word.end).contains(&offset);
        let found = self.words.iter().position(|word| inside(word) && offset < word.end);
        found.or_else(|| self.words.iter().position(inside))
    }

    /// The text of a word.
    fn of(&self, word: &Word) -> &str {
        self.text.get(word.start..word.end).unwrap_or("")
    }

    /// The line of an offset, from 0.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset.min(self.text.len())).saturating_sub(1)
    }

    /// A line, counted from 0, without its end.
    #[must_use]
    pub fn line(&self, number: usize) -> &str {
        self.text.lines().nth(number).unwrap_or("")
    }
}

/// Findings of a text that an editor or a page is given. More would be larger than the text.
const MOST_FINDINGS: usize = 1000;

/// The findings that are shown; where there are more, with a last one, without a place, that says how many.
#[must_use]
pub fn shown_findings(findings: &[Diagnostic]) -> (&[Diagnostic], Option<Diagnostic>) {
    match findings.split_at_checked(MOST_FINDINGS) {
        Some((shown, rest)) if !rest.is_empty() => {
            let errors = rest.iter().filter(|finding| finding.severity == Severity::Error).count();
            let message = format!("{} more findings are not shown, {errors} of them errors", rest.len());
            (shown, Some(Diagnostic::error("more-findings", message)))
        }
        _ => (findings, None),
    }
}

/// The findings of the assembler and the checker on a text, without anything else of a [`Document`].
#[must_use]
pub fn findings(language: Language, text: &str) -> Vec<Diagnostic> {
    read(language, text).0
}

/// The findings of the assembler and the checker on a text.
fn read(language: Language, text: &str) -> (Vec<Diagnostic>, Option<AnyProgram>) {
    match language {
        Language::X1k => {
            let assembly = x1k::text::assemble(text);
            let mut findings = assembly.diagnostics;
            findings.extend(assembly.program.iter().flat_map(x1k::check::check));
            (findings, assembly.program.map(|program| AnyProgram::X1k(Box::new(program))))
        }
        Language::R700 => {
            let assembly = r700::text::assemble(text, &r700::text::TextOptions::default());
            let mut findings = assembly.diagnostics;
            findings.extend(assembly.program.iter().flat_map(r700::check::check));
            (findings, assembly.program.map(|program| AnyProgram::R700(Box::new(program))))
        }
        Language::Pvs => {
            let assembly = pvs::text::assemble(text);
            let mut findings = assembly.diagnostics;
            findings.extend(assembly.program.iter().flat_map(pvs::check::check));
            (findings, assembly.program.map(|program| AnyProgram::Pvs(Box::new(program))))
        }
    }
}
