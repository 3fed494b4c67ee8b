//! Labels and declared names: where they are defined and used, and renaming.

use super::words::{Word, WordForm};
use super::{Document, Language};
use ctm_isa::diag::Span;
use ctm_isa::vocabulary::WordKind;
use std::collections::HashMap;

/// The meaning of a name of the text. Labels and other names are separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A place in the program.
    Label,
    /// A register, a constant, an input, an output, a resource, a sampler or a buffer.
    Declared,
}

/// A name where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Its kind.
    pub kind: NameKind,
    /// Where.
    pub span: Span,
    /// Its meaning, as written: `r3`, `KC0[5]`; empty for labels.
    pub stands_for: String,
}

fn span(word: &Word) -> Span {
    let at = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    Span::new(at(word.start), at(word.end))
}

/// The directive of PVS assembly whose operands are places in the program.
pub(super) const PVS_FLOW: &str = "flow";

/// Whether a place in the program follows a word of [`PVS_FLOW`].
pub(super) fn leads_to(word: &str) -> bool {
    matches!(word, "after" | "to" | "begin" | "end" | "back")
}

impl Document {
    /// Words of a line, by index.
    fn line_words(&self, line: usize) -> std::ops::Range<usize> {
        let first = self.words.partition_point(|word| word.line < line);
        first..self.words.partition_point(|word| word.line <= line)
    }

    fn is_punctuation(&self, at: usize, c: char) -> bool {
        self.words.get(at).is_some_and(|word| word.form == WordForm::Punctuation(c))
    }

    /// Whether a word in front of a colon is a label there: no unit of a group, no control-flow instruction.
    fn can_be_label(&self, name: &str) -> bool {
        match self.language {
            Language::X1k | Language::Pvs => true,
            Language::R700 => {
                let unit = matches!(name, "x" | "y" | "z" | "w" | "t" | "X" | "Y" | "Z" | "W" | "T");
                !unit && !self.language.has(name, &[WordKind::Flow, WordKind::Export])
            }
        }
    }

    /// Every label and declared name, in the order of the text.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let words = self.line_words(self.words[at].line);
            at = words.end;
            let mut first = words.start;
            // `one: two: instruction`
            while self.words[first].form == WordForm::Name
                && first + 1 < words.end
                && self.is_punctuation(first + 1, ':')
                && self.can_be_label(self.of(&self.words[first]))
            {
                let word = &self.words[first];
                let name = self.of(word).to_owned();
                found.push(Symbol { name, kind: NameKind::Label, span: span(word), stands_for: String::new() });
                first += 2;
                if first >= words.end {
                    break;
                }
            }
            if first < words.end && self.words[first].form == WordForm::Dotted {
                self.declared(first..words.end, &mut found);
            }
        }
        found
    }

    /// The names that a directive declares.
    fn declared(&self, words: std::ops::Range<usize>, found: &mut Vec<Symbol>) {
        let directive = self.of(&self.words[words.start]);
        let text = |from: usize, to: usize| {
            let (from, to) = (self.words.get(from), self.words.get(to.saturating_sub(1)));
            from.zip(to).and_then(|(from, to)| self.text.get(from.start..to.end)).unwrap_or("").to_owned()
        };
        match (self.language, directive) {
            (Language::X1k, "input" | "output" | "const" | "int" | "bool" | "reg" | "interp")
            | (Language::Pvs, "input" | "output" | "const" | "reg") => {
                for at in words.clone().skip(1) {
                    let word = &self.words[at];
                    if word.form == WordForm::Name && at + 2 < words.end && self.is_punctuation(at + 1, '=') {
                        // An interpolant arrives in a register, which the name means.
                        let arrow = (at + 2..words.end).find(|&n| self.is_punctuation(n, '>'));
                        let from = if directive == "interp" { arrow.map_or(at + 2, |n| n + 1) } else { at + 2 };
                        let stands_for = text(from, from + 1);
                        found.push(Symbol {
                            name: self.of(word).to_owned(),
                            kind: NameKind::Declared,
                            span: span(word),
                            stands_for,
                        });
                    }
                }
            }
            (Language::R700, "reg" | "const" | "resource" | "sampler" | "buffer") if words.len() >= 3 => {
                let word = &self.words[words.start + 1];
                let stands_for = text(words.start + 2, words.end);
                let name = self.of(word).to_owned();
                found.push(Symbol { name, kind: NameKind::Declared, span: span(word), stands_for });
            }
            _ => {}
        }
    }

    /// The kind of name that a word can be, by where it is.
    fn kind_at(&self, at: usize) -> Option<NameKind> {
        let word = self.words.get(at).filter(|word| word.form == WordForm::Name)?;
        let words = self.line_words(word.line);
        let before = |n: usize| (at >= words.start + n).then(|| self.of(&self.words[at - n]));
        let followed = at + 1 < words.end && self.is_punctuation(at + 1, ':');
        if followed && word.leads && self.can_be_label(self.of(word)) {
            return Some(NameKind::Label);
        }
        let is_label = match self.language {
            Language::X1k => {
                matches!(before(1), Some("call" | "entry" | "last"))
                    || before(1) == Some("=") && before(2) == Some("to")
            }
            Language::Pvs => {
                let of_flow = self.of(&self.words[words.start]) == PVS_FLOW;
                before(1).is_some_and(|word| if of_flow { leads_to(word) } else { matches!(word, "entry" | "last") })
            }
            Language::R700 => {
                let parenthesised = before(1) == Some("(") || before(1) == Some("@") && before(2) == Some("(");
                let name = if before(1) == Some("@") { before(3) } else { before(2) };
                before(1) == Some("entry") || parenthesised && name.is_some_and(|name| name.ends_with("ADDR"))
            }
        };
        Some(if is_label { NameKind::Label } else { NameKind::Declared })
    }

    /// The definition that a word at an offset means.
    #[must_use]
    pub fn symbol_at(&self, offset: usize) -> Option<Symbol> {
        let at = self.word_at(offset)?;
        let (kind, name) = (self.kind_at(at)?, self.of(&self.words[at]));
        self.symbols().into_iter().find(|symbol| symbol.kind == kind && symbol.name == name)
    }

    /// The meaning of a name: `r3` for `z` after `.reg z = r3`.
    pub(super) fn stands_for(&self, name: &str) -> Option<String> {
        let symbol = self.symbols().into_iter().find(|s| s.kind == NameKind::Declared && s.name == name)?;
        Some(symbol.stands_for)
    }

    /// Every place of a name, its definition too.
    #[must_use]
    pub fn references(&self, symbol: &Symbol) -> Vec<Span> {
        let is_it = |at: &usize| self.of(&self.words[*at]) == symbol.name && self.kind_at(*at) == Some(symbol.kind);
        (0..self.words.len()).filter(is_it).map(|at| span(&self.words[at])).collect()
    }

    /// The places that change when the name at an offset gets another one.
    ///
    /// # Errors
    /// In words: there is no name, or the new one is taken or cannot be one.
    pub fn rename(&self, offset: usize, to: &str) -> Result<Vec<Span>, String> {
        let symbol = self.symbol_at(offset).ok_or("there is no label and no declared name here")?;
        let mut letters = to.chars();
        let fits = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !fits {
            return Err(format!("`{to}` is no name: letters, digits and `_`, no digit first"));
        }
        if self.symbols().iter().any(|other| other.kind == symbol.kind && other.name == to) {
            return Err(format!("`{to}` is taken"));
        }
        let places = self.references(&symbol);
        // The assembler knows best whether a word can be a name.
        let after = Self::new(self.language, replaced(&self.text, &places, to));
        if after.program_words() != self.program_words() || after.has_errors() != self.has_errors() {
            return Err(format!("`{to}` means something else in {}", self.language.title()));
        }
        let count = |document: &Self| {
            let mut rules: HashMap<&str, usize> = HashMap::new();
            document.findings.iter().for_each(|finding| *rules.entry(finding.rule).or_default() += 1);
            rules.into_iter().map(|(rule, n)| (rule.to_owned(), n)).collect::<HashMap<_, _>>()
        };
        if count(&after) != count(self) {
            return Err(format!("`{to}` means something else in {}", self.language.title()));
        }
        Ok(places)
    }
}

/// A text with something else at some places.
pub(super) fn replaced(text: &str, places: &[Span], with: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        out.push_str(text.get(at..place.start as usize).unwrap_or(""));
        out.push_str(with);
        at = place.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}
