//! A line that is read token by token.

use crate::lexer::{Tok, Token};
use ctm_isa::diag::{Diagnostic, Span};

/// A value that was read, or the finding in its place.
pub(crate) type Parse<T> = Result<T, Box<Diagnostic>>;

/// A line and how far it has been read.
pub(crate) struct Cursor<'a, 'b> {
    pub tokens: &'b [Token<'a>],
    pub at: usize,
    pub end: Span,
    pub major: u8,
}

impl<'a> Cursor<'a, '_> {
    pub fn peek(&self) -> Option<Tok<'a>> {
        self.tokens.get(self.at).map(|t| t.tok)
    }

    /// The place of the next token, or the end of the line.
    pub fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::new(self.end.end, self.end.end), |t| t.span)
    }

    /// From `start` to the token before the cursor.
    pub fn since(&self, start: Span) -> Span {
        match self.at.checked_sub(1).and_then(|n| self.tokens.get(n)) {
            Some(token) if token.span.end >= start.start => start.to(token.span),
            _ => start,
        }
    }

    pub fn eat(&mut self, punct: char) -> bool {
        let found = self.peek() == Some(Tok::Punct(punct));
        self.at += usize::from(found);
        found
    }

    pub fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            None => "the line ends".to_owned(),
            Some(Tok::Word(word)) => format!("found `{word}`"),
            Some(Tok::Number(n)) => format!("found `{n}`"),
            Some(Tok::Punct(c)) => format!("found `{c}`"),
        };
        Box::new(Diagnostic::error("syntax", format!("{found} where {wanted} is expected")).at(self.span(), ""))
    }

    pub fn expect(&mut self, punct: char, why: &str) -> Parse<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.unexpected(&format!("`{punct}` {why}"))) }
    }

    pub fn word(&mut self, wanted: &str) -> Parse<&'a str> {
        match self.peek() {
            Some(Tok::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    pub fn end(&self) -> Parse<()> {
        if self.at == self.tokens.len() { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    pub fn number(&mut self, wanted: &str) -> Parse<(f64, Span)> {
        let start = self.span();
        let negative = self.eat('-');
        if !negative {
            self.eat('+');
        }
        match self.peek() {
            Some(Tok::Number(n)) => {
                self.at += 1;
                Ok((if negative { -n } else { n }, self.since(start)))
            }
            _ => Err(self.unexpected(wanted)),
        }
    }
}

/// An error at a place.
pub(crate) fn error(rule: &'static str, message: String, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(rule, message).at(span, ""))
}
