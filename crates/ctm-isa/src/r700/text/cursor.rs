//! Reading one line of source: tokens with their places, and findings.

use crate::diag::{Diagnostic, Span};

/// A finding has been recorded; the rest of the statement is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// The result of a parse function.
pub(super) type Parsed<T> = Result<T, Reported>;

/// One line of source without its comment.
pub(super) struct Cursor<'a> {
    /// The line.
    text: &'a str,
    /// Byte offset of the line in the source.
    base: u32,
    /// Next byte.
    pos: usize,
    /// All findings of the source.
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, base: u32, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self { text, base, pos: 0, diagnostics }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Skips blanks and returns the next byte, 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        let bytes = self.bytes();
        while matches!(bytes.get(self.pos), Some(b' ' | b'\t' | b'\r')) {
            self.pos += 1;
        }
        bytes.get(self.pos).copied().unwrap_or(0)
    }

    /// The byte right here, blanks not skipped, 0 at the end.
    pub(super) fn next_byte(&self) -> u8 {
        self.bytes().get(self.pos).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.peek() == 0
    }

    /// Takes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.pos += usize::from(found);
        found
    }

    /// Takes `byte` if it is right here.
    pub(super) fn eat_adjacent(&mut self, byte: u8) -> bool {
        let found = self.next_byte() == byte;
        self.pos += usize::from(found);
        found
    }

    /// Takes `text` if it is right here.
    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.text[self.pos..].starts_with(text);
        self.pos += if found { text.len() } else { 0 };
        found
    }

    /// The place here, of `len` bytes.
    pub(super) fn place(&self) -> usize {
        self.pos
    }

    /// Goes back to a place.
    pub(super) fn back_to(&mut self, place: usize) {
        self.pos = place;
    }

    /// From `start` to here, at least one byte: at the end of the line the last one.
    #[allow(clippy::cast_possible_truncation, reason = "sources are below 4 GiB: assemble checks")]
    pub(super) fn span(&self, start: usize) -> Span {
        let start = start.min(self.text.trim_end().len().saturating_sub(1));
        Span::new(self.base + start as u32, self.base + self.pos.max(start + 1).min(self.text.len().max(1)) as u32)
    }

    /// The whole line.
    #[allow(clippy::cast_possible_truncation, reason = "sources are below 4 GiB: assemble checks")]
    pub(super) fn line_span(&self) -> Span {
        let trimmed = self.text.trim_start();
        let start = self.text.len() - trimmed.len();
        Span::new(self.base + start as u32, self.base + (start + trimmed.trim_end().len()) as u32)
    }

    /// A name: letters, digits and `_`, not beginning with a digit.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        if self.peek().is_ascii_digit() {
            return None;
        }
        let start = self.pos;
        while is_word(self.next_byte()) {
            self.pos += 1;
        }
        (self.pos > start).then(|| &self.text[start..self.pos])
    }

    /// A number as it is written: digits, letters, `.` and `_`, and a sign after an exponent.
    pub(super) fn number_text(&mut self) -> Option<&'a str> {
        if !self.peek().is_ascii_digit() {
            return None;
        }
        let start = self.pos;
        let hex = self.text[start..].starts_with("0x") || self.text[start..].starts_with("0X");
        loop {
            let byte = self.next_byte();
            let exponent_sign = !hex
                && matches!(byte, b'+' | b'-')
                && matches!(self.bytes()[self.pos - 1], b'e' | b'E')
                && self.bytes().get(self.pos + 1).is_some_and(u8::is_ascii_digit);
            if !is_word(byte) && byte != b'.' && !exponent_sign {
                break;
            }
            self.pos += 1;
        }
        Some(&self.text[start..self.pos])
    }

    /// Decimal digits right here, as a number of at most `max`; nothing is taken if there are none.
    pub(super) fn digits(&mut self) -> Option<u32> {
        let start = self.pos;
        let mut value: u32 = 0;
        while self.next_byte().is_ascii_digit() {
            value = value.saturating_mul(10).saturating_add(u32::from(self.next_byte() - b'0'));
            self.pos += 1;
        }
        (self.pos > start).then_some(value)
    }

    /// A whole number, decimal or `0x…`, of at most `max`.
    pub(super) fn integer(&mut self, what: &str, max: u32) -> Parsed<u32> {
        self.peek();
        let start = self.pos;
        let Some(text) = self.number_text() else {
            let found = self.found();
            return self.fail("syntax", start, format!("{what} is expected here, not {found}"));
        };
        let value = parse_integer(text);
        match value {
            Some(v) if v <= u64::from(max) => Ok(u32::try_from(v).unwrap_or(u32::MAX)),
            Some(v) => self.fail("range", start, format!("{what} is {v}; at most {max} is allowed")),
            None => self.fail("syntax", start, format!("`{text}` is not a whole number; {what} is expected")),
        }
    }

    /// The next token, for messages.
    pub(super) fn found(&mut self) -> String {
        if self.at_end() {
            return "the end of the line".to_owned();
        }
        let rest = &self.text[self.pos..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        format!("`{}`", &rest[..end])
    }

    /// Takes `byte` or reports its absence.
    pub(super) fn expect(&mut self, byte: u8, behind: &str) -> Parsed<()> {
        if self.eat(byte) {
            return Ok(());
        }
        let start = self.pos;
        let message = format!("`{}` is expected {behind}, not {}", char::from(byte), self.found());
        self.fail("syntax", start, message)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Records an error that begins at `start` and ends here.
    pub(super) fn fail<T>(&mut self, rule: &'static str, start: usize, message: impl Into<String>) -> Parsed<T> {
        let span = self.span(start);
        self.report(Diagnostic::error(rule, message).at(span, ""));
        Err(Reported)
    }
}

/// A whole number, decimal or `0x…`.
pub(super) fn parse_integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
