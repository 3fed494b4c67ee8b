//! The meaning of words: the pages of `ctm isa`, and the rows of the tables of the languages' own pages.

use super::words::WordForm;
use super::{Document, Language, NameKind};
use ctm_exec::observe::{Place, WatchedIsa};
use ctm_isa::diag::Span;
use ctm_isa::vocabulary::WordKind;
use ctm_isa::{pvs, r700, x1k};
use std::fmt::Write as _;

/// The description of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The word.
    pub span: Span,
    /// As Markdown.
    pub markdown: String,
}

/// The pages of a language.
const fn pages(language: Language) -> &'static [&'static str] {
    match language {
        Language::X1k => &[
            include_str!("../../embedded/docs/x1k-assembly.md"),
            include_str!("../../embedded/docs/x1k-assembly-flow.md"),
        ],
        Language::R700 => &[
            include_str!("../../embedded/docs/r700-assembly.md"),
            include_str!("../../embedded/docs/r700-assembly-fetches.md"),
        ],
        Language::Pvs => &[include_str!("../../embedded/docs/pvs-assembly.md")],
    }
}

/// The row of a table of the language's pages whose first cell has `code`: the cells, without their bars.
pub(super) fn row(language: Language, code: &str) -> Option<Vec<&'static str>> {
    let is_it = |cell: &str| {
        cell.split('`').skip(1).step_by(2).any(|written| written == code || written.split(' ').next() == Some(code))
    };
    rows(language).find(|cells| is_it(cells[0]))
}

/// The rows of the tables of the language's pages: their cells, without their bars.
fn rows(language: Language) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = pages(language).iter().flat_map(|page| page.lines()).filter(|line| line.starts_with('|'));
    // `\|` is a bar of the text.
    let cells = lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<&str>>());
    cells.filter(|cells| cells.len() >= 2)
}

/// The row of the flow-control directive of PVS assembly that a word belongs to.
fn flow_row(word: &str) -> Option<Vec<&'static str>> {
    let has = |cell: &str| cell.split(|c: char| !c.is_ascii_alphanumeric()).any(|of| of == word);
    rows(Language::Pvs).find(|cells| cells[0].contains(".flow ") && cells.iter().any(|cell| has(cell)))
}

/// The description of a word of the language as text: its meaning, then the manual's pages. A word may be the name of something else in the tables.
pub(super) fn describe(language: Language, word: &str) -> Option<String> {
    let manual = language.manual();
    let meaning = match language {
        Language::X1k => x1k::text::meaning(word),
        Language::R700 => r700::text::meaning(word),
        Language::Pvs => pvs::text::meaning(word),
    };
    let other = meaning.filter(|(_, names)| !names.iter().any(|name| name.eq_ignore_ascii_case(word)));
    match other {
        Some((says, names)) => {
            let pages: Vec<String> = names.iter().filter_map(|name| manual.describe(name)).collect();
            Some(format!("{word}: {says}\n\n{}", pages.join("\n")))
        }
        None => manual.describe(word),
    }
}

/// A row as a line of text.
fn row_text(cells: &[&str]) -> String {
    format!("{}: {}", cells[0], cells[1..].join("; "))
}

impl Document {
    /// The meaning of the word at an offset.
    #[must_use]
    pub fn hover(&self, offset: usize) -> Option<Hover> {
        let at = self.word_at(offset)?;
        let word = self.words[at];
        let text = self.of(&word);
        let markdown = match word.form {
            WordForm::Punctuation(_) | WordForm::Number => return None,
            WordForm::Dotted if word.first => self.of_table(&format!(".{text}"))?,
            WordForm::Dotted => return self.hover(word.start.checked_sub(2)?),
            WordForm::Name => self.of_name(at, text)?,
        };
        let byte = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Some(Hover { span: Span::new(byte(word.start), byte(word.end)), markdown })
    }

    fn of_table(&self, code: &str) -> Option<String> {
        row(self.language, code).map(|cells| row_text(&cells))
    }

    fn of_name(&self, at: usize, text: &str) -> Option<String> {
        let word = &self.words[at];
        let mut out = String::new();
        if let Some(symbol) = self.symbol_at(word.start) {
            let line = self.line_of(symbol.span.start as usize);
            match symbol.kind {
                NameKind::Label => {
                    let _ = writeln!(out, "`{text}`: label, line {}", line + 1);
                    return Some(out);
                }
                NameKind::Declared => {
                    let _ = writeln!(out, "`{text}` stands for `{}`, line {}\n", symbol.stands_for, line + 1);
                    let _ = writeln!(out, "```{}\n{}\n```", self.language.id(), self.line(line).trim());
                }
            }
        }
        let register = self.stands_for(text).unwrap_or_else(|| text.to_owned());
        let section = self.section(register.split(['.', '[']).next().unwrap_or(""));
        // A few mnemonics could be read as names of places; the first word of a line is an instruction.
        if let Some(section) = section.filter(|_| !self.vocabulary_has(text) || !word.first) {
            let _ = writeln!(out, "{}, see {section}", self.what(&register));
            let story = self.register_story(at);
            if !story.is_empty() {
                let _ = writeln!(out, "\n{story}");
            }
            return Some(out);
        }
        if !out.is_empty() {
            return Some(out);
        }
        // As it is written first: a modifier of the language may be a field's name as well.
        if let Some(row) = self.of_table(text).filter(|_| describe(self.language, text).is_none()) {
            return Some(row);
        }
        if self.language == Language::Pvs && self.language.has(text, &[WordKind::Flow]) {
            return flow_row(text).map(|cells| row_text(&cells));
        }
        let manual = describe(self.language, text)?;
        Some(format!("```text\n{}\n```", manual.trim_end()))
    }

    /// The section that defines a register.
    fn section(&self, register: &str) -> Option<&'static str> {
        let isa = match self.language {
            Language::X1k => WatchedIsa::X1k,
            Language::R700 => WatchedIsa::R700,
            Language::Pvs => return pvs::text::register(register).map(|(_, section)| section),
        };
        Place::parse(isa, register).ok().and_then(|places| places.first().map(Place::section))
    }

    fn vocabulary_has(&self, word: &str) -> bool {
        self.language.vocabulary().iter().any(|(_, known)| *known == word)
    }

    /// A register in words.
    fn what(&self, register: &str) -> String {
        let letter: String = register.chars().take_while(|c| !c.is_ascii_digit()).collect();
        let row = match self.language {
            Language::X1k => row(Language::X1k, &format!("{letter}5")).or_else(|| {
                ["r5", "c12", "s0", "o0", "i0"]
                    .iter()
                    .find(|r| r.starts_with(&letter))
                    .and_then(|r| super::manual::row(Language::X1k, r))
            }),
            Language::R700 => None,
            Language::Pvs => rows(Language::Pvs).find(|cells| {
                let form = cells[0].trim_matches('`');
                pvs::text::register(form).is_some_and(|(letters, _)| letters == letter)
            }),
        };
        match row {
            Some(cells) if cells.len() > 1 => format!("`{register}`: {}", cells[1]),
            _ => format!("`{register}`"),
        }
    }
}
