//! One line of text being parsed, and the errors that parsing gives.

use rustc_hash::FxHashMap as Map;
use std::fmt;

/// A text that is no program: the place, and the allowed text there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// The finding.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// A line, and the parser's place in it.
#[derive(Clone)]
pub struct TextLine<'a> {
    text: &'a str,
    number: usize,
    at: usize,
    /// The result before `=`: its first byte and the one after it.
    result: Option<(usize, usize)>,
    /// Of each name `v3` of the block, the place of its operation.
    names: &'a Map<u32, u32>,
}

const fn separates(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b',')
}

impl<'a> TextLine<'a> {
    /// A line of a text. `number` counts from 1.
    pub fn new(text: &'a str, number: usize, names: &'a Map<u32, u32>) -> Self {
        let text = text.split(';').next().unwrap_or_default();
        Self { text, number, at: 0, result: None, names }
    }

    /// Reads `result =`, if that comes next; the field `dst` reads it later.
    pub fn begin(&mut self) -> Option<&'a str> {
        let mut ahead = self.clone();
        let first = ahead.word()?;
        let end = ahead.at;
        if ahead.word() == Some("=") {
            self.result = Some((end - first.len(), end));
            self.at = ahead.at;
            return Some(first);
        }
        None
    }

    /// Reads the next word, if there is one.
    pub fn word(&mut self) -> Option<&'a str> {
        self.at = self.start();
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|&byte| !separates(byte)).count();
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// The next word, without reading it.
    pub fn peek(&self) -> Option<&'a str> {
        self.clone().word()
    }

    /// The place of the next word.
    fn start(&self) -> usize {
        self.at + self.text[self.at..].bytes().take_while(|&byte| separates(byte)).count()
    }

    /// Reads `name=`, if that comes next, or a word that is the name alone.
    pub fn takes(&mut self, name: &str, with_value: bool) -> bool {
        let start = self.start();
        let Some(rest) = self.text[start..].strip_prefix(name) else { return false };
        if with_value {
            if rest.starts_with('=') {
                self.at = start + name.len() + 1;
                return true;
            }
        } else if rest.bytes().next().is_none_or(separates) {
            self.at = start + name.len();
            return true;
        }
        false
    }

    /// A line of the result alone.
    ///
    /// # Errors
    /// The line has no result.
    pub fn result(&self) -> Result<Self, TextError> {
        let Some((from, to)) = self.result else { return Err(self.error("expected `result =` at the beginning")) };
        Ok(Self { text: &self.text[..to], at: from, result: None, ..self.clone() })
    }

    /// The place of the operation that has this name in the block.
    pub fn place(&self, name: u32) -> Option<u32> {
        self.names.get(&name).copied()
    }

    /// Checks that the line is at its end.
    ///
    /// # Errors
    /// It is not.
    pub fn end(&self) -> Result<(), TextError> {
        self.peek().map_or(Ok(()), |word| Err(self.error(format!("`{word}` is left; expected the end of the line"))))
    }

    /// An error at the next word.
    pub fn error(&self, message: impl Into<String>) -> TextError {
        TextError { line: self.number, column: self.start() + 1, message: message.into() }
    }

    /// Reads the next word, which has to be one of these; gives its number.
    ///
    /// # Errors
    /// It is none of them.
    pub fn one_of(&mut self, names: &[&str], kind: &str) -> Result<usize, TextError> {
        let before = self.clone();
        let word = self.word().unwrap_or_default();
        let found = names.iter().position(|&name| name == word);
        found.ok_or_else(|| before.error(format!("`{word}` is no {kind}; allowed: {}", listed(names))))
    }

    /// Reads the next word by `parse`.
    ///
    /// # Errors
    /// `parse` rejects it.
    pub fn parsed<T>(&mut self, expected: &str, parse: impl FnOnce(&str, &Self) -> Option<T>) -> Result<T, TextError> {
        let before = self.clone();
        let word = self.word().unwrap_or_default();
        let parsed = parse(word, self);
        parsed.ok_or_else(|| before.error(format!("`{word}` is no {expected}")))
    }
}

/// Names as a list in a message.
pub fn listed(names: &[&str]) -> String {
    names.iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
