//! Completions at a place.

use super::manual::{describe, row};
use super::names::{PVS_FLOW, leads_to};
use super::words::{WordForm, code_end};
use super::{Document, Language, NameKind};
use ctm_isa::vocabulary::WordKind;

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// An instruction.
    Instruction,
    /// Something after an instruction.
    Modifier,
    /// A directive.
    Directive,
    /// A declared name.
    Name,
    /// A label.
    Label,
    /// A register.
    Register,
}

/// Something that can be at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The inserted text.
    pub text: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// A few words about it.
    pub detail: String,
}

impl Document {
    /// Completions at an offset, independent of the text there; the client chooses by what has been typed.
    #[must_use]
    pub fn completions(&self, offset: usize) -> Vec<Completion> {
        let offset = offset.min(self.text.len());
        let line = self.line_of(offset);
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let Some(before) = self.text.get(start..offset) else { return Vec::new() };
        if code_end(self.language, before) < before.len() {
            // A comment.
            return Vec::new();
        }
        let typed = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let head = typed.trim();
        if typed.ends_with('.') {
            return if head == "." { self.directives() } else { Vec::new() };
        }
        // After labels, numbers and units an instruction begins.
        let behind = head.rsplit([':', '|']).next().unwrap_or("").trim();
        let begins = behind.is_empty() || behind.chars().all(|c| c.is_ascii_digit());
        let first = self.words.iter().find(|word| word.line == line && word.first);
        let directive = first.is_some_and(|word| word.form == WordForm::Dotted && word.start < offset);
        if begins && !directive {
            let mut found = self.instructions();
            found.extend(self.directives().into_iter().filter(|_| head.is_empty()).map(|mut c| {
                c.text.insert(0, '.');
                c
            }));
            return found;
        }
        let last = head.rsplit(char::is_whitespace).next().unwrap_or("");
        let of_flow = directive && first.is_some_and(|word| self.of(word) == PVS_FLOW);
        let wants_label = match self.language {
            Language::X1k => head.ends_with("call") || head.ends_with("to="),
            Language::R700 => head.ends_with("ADDR("),
            Language::Pvs if of_flow => leads_to(last),
            Language::Pvs => matches!(last, ".entry" | ".last"),
        };
        let symbols = self.symbols();
        let labels = symbols.iter().filter(|s| s.kind == NameKind::Label && wants_label);
        let mut found: Vec<Completion> = labels
            .map(|s| Completion { text: s.name.clone(), kind: CompletionKind::Label, detail: "label".into() })
            .collect();
        if wants_label {
            return found;
        }
        if of_flow {
            return self.of_kind(&[WordKind::Flow], CompletionKind::Modifier);
        }
        found.extend(symbols.iter().filter(|s| s.kind == NameKind::Declared).map(|s| Completion {
            text: s.name.clone(),
            kind: CompletionKind::Name,
            detail: s.stands_for.clone(),
        }));
        found.extend(self.registers());
        if !directive {
            found.extend(self.of_kind(&[WordKind::Modifier], CompletionKind::Modifier));
            found.extend(self.of_kind(&[WordKind::Special], CompletionKind::Register));
        }
        found
    }

    fn of_kind(&self, kinds: &[WordKind], kind: CompletionKind) -> Vec<Completion> {
        let words = self.language.vocabulary();
        let chosen = words.into_iter().filter(|(of, _)| kinds.contains(of));
        let mut found: Vec<Completion> = chosen
            .map(|(_, word)| {
                let detail = row(self.language, word).map_or(String::new(), |cells| cells[1..].join("; "));
                Completion { text: word.to_owned(), kind, detail }
            })
            .collect();
        found.dedup_by(|a, b| a.text == b.text);
        found
    }

    fn instructions(&self) -> Vec<Completion> {
        // Flow control of vertex programs is a directive.
        let kinds: &[WordKind] = match self.language {
            Language::Pvs => &[WordKind::Arithmetic],
            Language::X1k | Language::R700 => {
                &[WordKind::Arithmetic, WordKind::Memory, WordKind::Flow, WordKind::Export]
            }
        };
        self.of_kind(kinds, CompletionKind::Instruction)
    }

    fn directives(&self) -> Vec<Completion> {
        let mut found = self.of_kind(&[WordKind::Directive], CompletionKind::Directive);
        for completion in &mut found {
            let cells = row(self.language, &format!(".{}", completion.text));
            completion.detail = cells.map_or(String::new(), |cells| cells[1..].join("; "));
        }
        found
    }

    /// Registers that the text names already, and the next one of each file.
    fn registers(&self) -> Vec<Completion> {
        let letters: &[&str] = match self.language {
            Language::X1k => &["r", "c", "s", "o", "i", "b"],
            Language::R700 => &["R", "C", "t", "s", "b"],
            Language::Pvs => &["r", "v", "c", "o", "at"],
        };
        let mut found = Vec::new();
        for letter in letters {
            let number = |word: &str| word.strip_prefix(letter)?.parse::<u16>().ok();
            let names = self.words.iter().filter(|word| word.form == WordForm::Name);
            let mut numbers: Vec<u16> = names.filter_map(|word| number(self.of(word))).filter(|&n| n < 256).collect();
            numbers.push(numbers.iter().max().map_or(0, |n| n + 1));
            numbers.sort_unstable();
            numbers.dedup();
            found.extend(numbers.into_iter().map(|n| Completion {
                text: format!("{letter}{n}"),
                kind: CompletionKind::Register,
                detail: String::new(),
            }));
        }
        found
    }

    /// The manual's page of a completion, as text.
    #[must_use]
    pub fn completion_page(&self, text: &str) -> Option<String> {
        describe(self.language, text.trim_start_matches('.'))
    }
}
