//! Characters to tokens: the text as statements, one a line.

use ctm_isa::diag::{Diagnostic, Span};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'a> {
    /// Letters, digits and `_`, beginning with a letter or `_`.
    Word(&'a str),
    /// A number without its sign.
    Number(f64),
    /// Anything else that means something: `, . ( ) [ ] + - !`.
    Punct(char),
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
}

/// A line that holds at least one token.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub tokens: Vec<Token<'a>>,
}

impl Line<'_> {
    /// From the first to the last token.
    pub fn span(&self) -> Span {
        match (self.tokens.first(), self.tokens.last()) {
            (Some(a), Some(b)) => a.span.to(b.span),
            _ => Span::default(),
        }
    }
}

/// Texts longer than this are refused: spans are 32 bits wide.
const LONGEST: usize = 16 << 20;

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Cuts the text into lines of tokens. Lines that cannot be read are reported and left out.
pub(crate) fn lines<'a>(source: &'a str, findings: &mut Vec<Diagnostic>) -> Vec<Line<'a>> {
    if source.len() > LONGEST {
        findings.push(Diagnostic::error(
            "too-long",
            format!("the text has {} bytes, at most {LONGEST} can be compiled", source.len()),
        ));
        return Vec::new();
    }
    let bytes = source.as_bytes();
    let (mut lines, mut tokens) = (Vec::new(), Vec::new());
    let (mut at, mut bad) = (0, false);
    while at < bytes.len() {
        let start = at;
        let span = |end: usize| Span::new(offset(start), offset(end));
        match bytes[at] {
            b'\n' => {
                finish(&mut lines, &mut tokens, &mut bad);
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b';' => at = end_of_line(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of_line(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => match source[at + 2..].find("*/") {
                Some(length) => at += length + 4,
                None => {
                    findings.push(
                        Diagnostic::error("comment", "the comment has no end: `*/` is missing").at(span(at + 2), ""),
                    );
                    at = bytes.len();
                }
            },
            b'#' => {
                at = end_of_line(bytes, at);
                findings.push(
                    Diagnostic::error("preprocessor", "lines of the preprocessor are not understood")
                        .at(span(at), "")
                        .help("run the preprocessor first, or leave the line out"),
                );
            }
            c if c.is_ascii_alphabetic() || c == b'_' => {
                at += bytes[at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
                tokens.push(Token { tok: Tok::Word(&source[start..at]), span: span(at) });
            }
            c if c.is_ascii_digit() || c == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let (value, end) = number(source, at);
                at = end;
                match value {
                    Some(value) => tokens.push(Token { tok: Tok::Number(value), span: span(at) }),
                    None => {
                        findings.push(
                            Diagnostic::error("number", format!("`{}` is no number", &source[start..at]))
                                .at(span(at), "")
                                .help("numbers are written as 2, 0.5, 1e-3 or 1.#INF"),
                        );
                        bad = true;
                    }
                }
            }
            c @ (b',' | b'.' | b'(' | b')' | b'[' | b']' | b'+' | b'-' | b'!') => {
                at += 1;
                tokens.push(Token { tok: Tok::Punct(c as char), span: span(at) });
            }
            _ => {
                let length = source[at..].chars().next().map_or(1, char::len_utf8);
                at += length;
                let shown = source[start..at].escape_debug().to_string();
                findings.push(
                    Diagnostic::error("character", format!("`{shown}` means nothing here")).at(span(at), "").help(
                        "comments begin with `//` or `;`; everything else is letters, digits and , . ( ) [ ] + - !",
                    ),
                );
                bad = true;
            }
        }
    }
    finish(&mut lines, &mut tokens, &mut bad);
    lines
}

fn finish<'a>(lines: &mut Vec<Line<'a>>, tokens: &mut Vec<Token<'a>>, bad: &mut bool) {
    let tokens = std::mem::take(tokens);
    if !std::mem::take(bad) && !tokens.is_empty() {
        lines.push(Line { tokens });
    }
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&c| c == b'\n').map_or(bytes.len(), |n| at + n)
}

/// A number that begins at `at`, and where it ends. `1.#INF` and `1.#QNAN` are printed by compilers.
fn number(source: &str, at: usize) -> (Option<f64>, usize) {
    let bytes = source.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut end = digits(at);
    // A point that no digit follows ends a number like `1.`, unless a letter follows: then it begins a swizzle.
    if bytes.get(end) == Some(&b'.') && !bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) {
        if bytes.get(end + 1) == Some(&b'#') {
            let word = end + 2;
            end = word + bytes[word..].iter().take_while(|c| c.is_ascii_alphanumeric()).count();
            return match source[word..end].to_ascii_uppercase().as_str() {
                "INF" => (Some(f64::INFINITY), end),
                "QNAN" | "SNAN" | "IND" => (Some(f64::NAN), end),
                _ => (None, end),
            };
        }
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let value = source[at..end].parse().ok();
    if matches!(bytes.get(end), Some(b'f' | b'F')) {
        end += 1;
    }
    // `2x` is no number.
    let rest = bytes[end..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    (value.filter(|_| rest == 0), end + rest)
}
