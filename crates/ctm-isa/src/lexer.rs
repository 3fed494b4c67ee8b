//! Characters to tokens, and a cursor over the tokens of one line: shared by the X1K and the PVS assembly.

use crate::diag::{Diagnostic, Span};
use crate::suggest::closest;

/// The result of parsing: a value, or the finding that ends the line.
pub(crate) type Parse<T> = Result<T, Box<Diagnostic>>;

/// A number as it was written. A minus sign in front of it is a token of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// The value as a float; for hexadecimal numbers the bits they mean are in `integer`.
    pub value: f32,
    /// The value as an integer, where it was written without fraction and exponent.
    pub integer: Option<u32>,
    /// Written as `0x…`.
    pub hexadecimal: bool,
}

impl Number {
    /// The bits of the float: a hexadecimal number is the bits themselves.
    pub fn float_bits(self) -> u32 {
        if self.hexadecimal { self.integer.unwrap_or(0) } else { self.value.to_bits() }
    }
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok<'a> {
    /// A letter or underscore, then letters, digits and underscores.
    Word(&'a str),
    /// A point and its suffix: a swizzle, a mask or a directive. Without the point.
    Dotted(&'a str),
    /// A number without sign.
    Number(Number),
    /// A name in quotes, unescaped.
    Quoted(String),
    /// One character of punctuation.
    Punct(char),
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
    /// Follows the token before it without a blank.
    pub glued: bool,
}

fn is_word_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_'
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// Reads the tokens of one line (without its line end) that begins at byte `base` of the source.
pub(crate) fn tokens<'a>(line: &'a str, base: u32, out: &mut Vec<Token<'a>>) -> Parse<()> {
    let bytes = line.as_bytes();
    let end_of =
        |from: usize, of: fn(u8) -> bool| bytes[from..].iter().position(|&c| !of(c)).map_or(bytes.len(), |n| from + n);
    let span = |start: usize, end: usize| Span::new(base + start as u32, base + end as u32);
    let (mut at, mut glued) = (0, false);
    while at < bytes.len() {
        let c = bytes[at];
        let (tok, end) = match c {
            b' ' | b'\t' | b'\r' => {
                at += 1;
                glued = false;
                continue;
            }
            b';' => break,
            // As other assemblers write comments.
            b'/' if bytes.get(at + 1) == Some(&b'/') => break,
            b'.' if bytes.get(at + 1).is_some_and(|&c| is_word(c)) => {
                let end = end_of(at + 1, is_word);
                (Tok::Dotted(&line[at + 1..end]), end)
            }
            b'"' => quoted(line, at, span)?,
            _ if is_word_start(c) => {
                let end = end_of(at, is_word);
                (Tok::Word(&line[at..end]), end)
            }
            _ if c.is_ascii_digit() => number(line, at, span)?,
            b',' | b'=' | b'(' | b')' | b'[' | b']' | b'|' | b'-' | b'+' | b'*' | b'/' | b'!' | b':' | b'>' | b'.' => {
                (Tok::Punct(c as char), at + 1)
            }
            _ => {
                let found = line[at..].chars().next().unwrap_or('?');
                return Err(Box::new(
                    Diagnostic::error(
                        "syntax",
                        format!("the character `{}` has no meaning here", found.escape_default()),
                    )
                    .at(span(at, at + found.len_utf8()), "")
                    .help("a comment begins with `;`"),
                ));
            }
        };
        out.push(Token { tok, span: span(at, end), glued });
        glued = true;
        at = end;
    }
    Ok(())
}

fn number(line: &str, start: usize, span: impl Fn(usize, usize) -> Span) -> Parse<(Tok<'_>, usize)> {
    let bytes = line.as_bytes();
    let digits = |from: usize| bytes[from..].iter().position(|c| !c.is_ascii_digit()).map_or(bytes.len(), |n| from + n);
    let wrong =
        |end: usize, message: String| Err(Box::new(Diagnostic::error("number", message).at(span(start, end), "")));
    if bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X')) {
        let end = bytes[start + 2..].iter().position(|&c| !is_word(c)).map_or(bytes.len(), |n| start + 2 + n);
        return match u32::from_str_radix(&line[start + 2..end], 16) {
            Ok(integer) => {
                let value = f32::from_bits(integer);
                Ok((Tok::Number(Number { value, integer: Some(integer), hexadecimal: true }), end))
            }
            Err(_) => wrong(end, format!("`{}` is not a hexadecimal number of at most 32 bits", &line[start..end])),
        };
    }
    let mut end = digits(start);
    let mut plain = true;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
        plain = false;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
            plain = false;
        }
    }
    let text = &line[start..end];
    let value: f32 = text.parse().unwrap_or(f32::INFINITY);
    if value.is_infinite() {
        return wrong(end, format!("`{text}` is too large for a 32-bit float"));
    }
    let integer = if plain { text.parse().ok() } else { None };
    // The suffix that C has for floats.
    let suffix =
        !plain && matches!(bytes.get(end), Some(b'f' | b'F')) && !bytes.get(end + 1).is_some_and(|&c| is_word(c));
    let end = end + usize::from(suffix);
    Ok((Tok::Number(Number { value, integer, hexadecimal: false }), end))
}

fn quoted(line: &str, start: usize, span: impl Fn(usize, usize) -> Span) -> Parse<(Tok<'_>, usize)> {
    let mut text = String::new();
    let mut chars = line[start + 1..].char_indices();
    let unfinished =
        || Box::new(Diagnostic::error("syntax", "the quoted name has no end").at(span(start, line.len()), ""));
    loop {
        let (at, c) = chars.next().ok_or_else(unfinished)?;
        match c {
            '"' => return Ok((Tok::Quoted(text), start + 1 + at + 1)),
            '\\' => match chars.next().ok_or_else(unfinished)?.1 {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                other => text.push(other),
            },
            _ => text.push(c),
        }
    }
}

/// A name as [`quoted`] reads it.
pub(crate) fn quote(name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{escaped}\"")
}

/// A float so that reading it gives the same bits: a NaN is printed as its bits.
pub(crate) fn float_text(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        format!("{bits:#010x}")
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else if value.fract() == 0.0 && value.abs() < 1e6 && bits != 0x8000_0000 {
        format!("{value}")
    } else {
        format!("{value:?}")
    }
}

/// A position within the tokens of one line.
pub(crate) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    /// Where the line ends, for findings about something missing.
    end: u32,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub fn new(tokens: &'t [Token<'a>], end: u32) -> Self {
        Self { tokens, at: 0, end }
    }

    pub fn peek(&self) -> Option<&'t Tok<'a>> {
        self.tokens.get(self.at).map(|t| &t.tok)
    }

    pub fn peek_after(&self, n: usize) -> Option<&'t Tok<'a>> {
        self.tokens.get(self.at + n).map(|t| &t.tok)
    }

    pub fn advance(&mut self) {
        self.at += 1;
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The place of the next token, or of the end of the line.
    pub fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::new(self.end, self.end), |t| t.span)
    }

    /// From `start` to the last token taken.
    pub fn span_from(&self, start: Span) -> Span {
        let last = self.tokens[..self.at].last().map_or(start, |t| t.span);
        if last.end < start.start { start } else { start.to(last) }
    }

    pub fn at_punct(&self, c: char) -> bool {
        matches!(self.peek(), Some(Tok::Punct(p)) if *p == c)
    }

    pub fn eat(&mut self, c: char) -> bool {
        let found = self.at_punct(c);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, c: char, context: &str) -> Parse<()> {
        if self.eat(c) { Ok(()) } else { Err(self.unexpected(&format!("`{c}` {context}"))) }
    }

    pub fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Tok::Word(w)) if *w == word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.at += usize::from(found);
        found
    }

    /// Takes a word.
    pub fn word(&mut self, what: &str) -> Parse<&'a str> {
        match self.peek() {
            Some(Tok::Word(w)) => {
                self.at += 1;
                Ok(w)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Takes a point and its suffix, if it directly follows the previous token.
    pub fn eat_dotted(&mut self) -> Option<(&'a str, Span)> {
        match self.tokens.get(self.at) {
            Some(Token { tok: Tok::Dotted(text), span, glued: true }) => {
                self.at += 1;
                Some((text, *span))
            }
            _ => None,
        }
    }

    /// Takes a number without sign.
    pub fn number(&mut self, what: &str) -> Parse<Number> {
        match self.peek() {
            Some(Tok::Number(n)) => {
                self.at += 1;
                Ok(*n)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Takes an integer of `0..=max`.
    pub fn integer(&mut self, what: &str, max: u32) -> Parse<u32> {
        let span = self.span();
        let number = self.number(what)?;
        match number.integer {
            Some(n) if n <= max => Ok(n),
            Some(n) => {
                Err(Box::new(Diagnostic::error("range", format!("{what} is {n}, allowed is 0 to {max}")).at(span, "")))
            }
            None => Err(Box::new(
                Diagnostic::error("range", format!("{what} is not a whole number of 0 to {max}")).at(span, ""),
            )),
        }
    }

    /// The finding that something else should be here.
    pub fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            None => "the line ends".to_owned(),
            Some(tok) => format!("found {}", describe(tok)),
        };
        Box::new(Diagnostic::error("syntax", format!("{found} where {expected} is expected")).at(self.span(), ""))
    }
}

fn describe(tok: &Tok<'_>) -> String {
    match tok {
        Tok::Word(w) => format!("`{w}`"),
        Tok::Dotted(w) => format!("`.{w}`"),
        Tok::Number(n) if n.hexadecimal => format!("`{:#x}`", n.integer.unwrap_or(0)),
        Tok::Number(n) => format!("`{}`", n.value),
        Tok::Quoted(s) => quote(s),
        Tok::Punct(c) => format!("`{c}`"),
    }
}

/// The finding that `word` is none of the words allowed here, with the nearest one as help.
pub(crate) fn unknown_word(rule: &'static str, what: &str, word: &str, span: Span, known: &[&str]) -> Box<Diagnostic> {
    let found = Diagnostic::error(rule, format!("`{word}` is not {what}")).at(span, "");
    Box::new(with_near(found, closest(word, known.iter().copied().filter(|&k| k != word)), known))
}

/// A finding about a word with the nearest one, or with all of them where they are few.
pub(crate) fn with_near(found: Diagnostic, near: Option<&str>, known: &[&str]) -> Diagnostic {
    match near {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None if !known.is_empty() && known.len() <= 12 => found.help(format!("allowed are {}", known.join(", "))),
        None => found,
    }
}
