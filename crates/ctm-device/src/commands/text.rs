//! The printed form of a command buffer, both ways.
//!
//! One command per line: its name, then `field=value` for every field, separated by commas. Words that are no command, or whose
//! reserved bits would be lost, are printed as `.word`, so that [`parse`] gives back every buffer that [`print`] was given.
//! A comment runs from `;` to the end of the line.

use super::{Command, CommandKind, Param, Show};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::suggest::closest;
use ctm_isa::table::Field;
use std::fmt::Write;

/// Prints the buffer; the comment of each line is the offset of its first word, in dwords.
///
/// ```
/// use ctm_device::commands::{parse, print};
/// let words = [0xc003_0700, 0, 0, 63, 31, 0xc000_0800, 0, 0xdead_beef];
/// let text = print(&words);
/// assert!(text.starts_with("set_domain            i0=0, j0=0, i1=63, j1=31"));
/// assert_eq!(parse(&text).unwrap(), words);
/// ```
#[must_use]
pub fn print(words: &[u32]) -> String {
    let mut out = String::new();
    let mut offset = 0;
    while let Some(&word) = words.get(offset) {
        let (line, note, length) = match Command::decode(&words[offset..]) {
            Ok(command) => match statement(&command) {
                Some(line) => (line, String::new(), command.len_dwords()),
                None => (raw(&command.words()), format!(" {}", command.kind().name()), command.len_dwords()),
            },
            Err(e) => (raw(&[word]), format!(" {e}"), 1),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{line:<70} ; {offset}{note}");
        offset += length;
    }
    out
}

fn raw(words: &[u32]) -> String {
    let words: Vec<_> = words.iter().map(|w| format!("0x{w:08x}")).collect();
    format!(".word                 {}", words.join(", "))
}

/// The line of a command, if it says everything about its words.
fn statement(command: &Command) -> Option<String> {
    let kind = command.kind();
    if command.header() != kind.header() {
        return None;
    }
    let mut fields = Vec::new();
    for (param, &word) in kind.info().params.iter().zip(command.params()) {
        match param.show {
            Show::Hex if param.optional && word == 0 => {}
            Show::Hex => fields.push(format!("{}=0x{word:08x}", param.format.name)),
            Show::Fields | Show::InPlace => {
                if word & param.format.reserved_mask() != 0 {
                    return None;
                }
                for field in param.format.fields {
                    fields.push(format!("{}={}", field.name, print_value(param, field, word)?));
                }
            }
        }
    }
    let name = kind.name();
    Some(if fields.is_empty() { name.to_owned() } else { format!("{name:<21} {}", fields.join(", ")) })
}

/// The value of a field, or `None` when its number has no meaning.
fn print_value(param: &Param, field: &Field, word: u32) -> Option<String> {
    let number = field.extract(word);
    if !field.values.is_empty() {
        return field.values.iter().find(|v| v.code == number).map(|v| v.name.to_ascii_lowercase());
    }
    Some(if param.show == Show::InPlace { (word & field.mask()).to_string() } else { number.to_string() })
}

/// Parses the output of [`print()`] or hand-written text to words.
///
/// Numbers are decimal or hexadecimal (`0x`); where a word holds the bits of a number, `0.5` may mean them.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse(text: &str) -> Result<Vec<u32>, Vec<Diagnostic>> {
    let mut words = Vec::new();
    let mut errors = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split(';').next().unwrap_or("");
        let mut tokens = Tokens { code, start, at: 0 };
        if let Some((name, span)) = tokens.word() {
            match parse_line(name, span, &mut tokens) {
                Ok(line) => words.extend(line),
                Err(error) => errors.push(error),
            }
        }
        start += line.len();
    }
    if errors.is_empty() { Ok(words) } else { Err(errors) }
}

/// One line without its comment.
struct Tokens<'a> {
    code: &'a str,
    /// Byte offset of the line in the text.
    start: usize,
    /// Byte offset in the line.
    at: usize,
}

impl<'a> Tokens<'a> {
    fn span(&self, from: usize, to: usize) -> Span {
        let offset = |at: usize| u32::try_from(self.start + at).unwrap_or(u32::MAX);
        Span::new(offset(from), offset(to))
    }

    fn skip_spaces(&mut self) {
        let rest = &self.code[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next run of characters that are neither space nor `,` nor `=`.
    fn word(&mut self) -> Option<(&'a str, Span)> {
        self.skip_spaces();
        let rest = &self.code[self.at..];
        let length = rest.find(|c: char| c.is_whitespace() || c == ',' || c == '=').unwrap_or(rest.len());
        let from = self.at;
        self.at += length;
        (length > 0).then(|| (&rest[..length], self.span(from, self.at)))
    }

    /// Takes the character if it comes next.
    fn take(&mut self, c: char) -> bool {
        self.skip_spaces();
        let found = self.code[self.at..].starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Whether only spaces are left.
    fn is_done(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.code.len()
    }

    fn here(&self) -> Span {
        self.span(self.at, self.code.trim_end().len().max(self.at))
    }
}

fn error(rule: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic::error(rule, message).at(span, "").cite("CTM §2.2")
}

fn parse_line(name: &str, span: Span, tokens: &mut Tokens<'_>) -> Result<Vec<u32>, Diagnostic> {
    if name == ".word" {
        return parse_words(tokens);
    }
    let Some(kind) = CommandKind::from_name(name) else {
        let mut e = error("unknown-command", span, format!("there is no command `{name}`"));
        if let Some(near) = closest(name, CommandKind::ALL.iter().map(|k| k.name())) {
            e = e.help(format!("did you mean `{near}`?"));
        }
        return Err(e);
    };
    let params = kind.info().params;
    let mut words = vec![0u32; params.len()];
    let mut given: Vec<&str> = Vec::new();
    while !tokens.is_done() {
        if !given.is_empty() && !tokens.take(',') {
            return Err(error("command-syntax", tokens.here(), "expected `,` before the next field".into()));
        }
        let Some((key, key_span)) = tokens.word() else {
            return Err(error("command-syntax", tokens.here(), "expected the name of a field".into()));
        };
        if !tokens.take('=') {
            return Err(error("command-syntax", tokens.here(), format!("expected `=` after `{key}`")));
        }
        let Some((value, value_span)) = tokens.word() else {
            return Err(error("command-syntax", tokens.here(), format!("expected a value for `{key}`")));
        };
        let Some((index, field)) = find(params, key) else {
            let allowed: Vec<_> = params.iter().flat_map(names).collect();
            let message = format!("`{name}` has no field `{key}`; it has {}", allowed.join(", "));
            return Err(error("unknown-field", key_span, message));
        };
        if given.contains(&key) {
            return Err(error("command-syntax", key_span, format!("`{key}` is given twice")));
        }
        given.push(key);
        words[index] |=
            parse_value(&params[index], field, value).map_err(|message| error("bad-value", value_span, message))?;
    }
    let missing = params.iter().filter(|p| !p.optional).flat_map(names).find(|n| !given.contains(n));
    if let Some(missing) = missing {
        return Err(error("missing-field", span, format!("`{name}` lacks the field `{missing}`")));
    }
    words.insert(0, kind.header());
    Ok(words)
}

fn parse_words(tokens: &mut Tokens<'_>) -> Result<Vec<u32>, Diagnostic> {
    let mut words = Vec::new();
    loop {
        let Some((text, span)) = tokens.word() else {
            return Err(error("command-syntax", tokens.here(), "expected a word such as 0xc0000800".into()));
        };
        words.push(number(text).ok_or_else(|| {
            error("bad-value", span, format!("`{text}` is no 32-bit number; write it as 123 or 0x7b"))
        })?);
        if tokens.is_done() {
            return Ok(words);
        }
        if !tokens.take(',') {
            return Err(error("command-syntax", tokens.here(), "expected `,` before the next word".into()));
        }
    }
}

/// The names by which the fields of a parameter are given.
fn names(param: &Param) -> Vec<&'static str> {
    match param.show {
        Show::Hex => vec![param.format.name],
        Show::Fields | Show::InPlace => param.format.fields.iter().map(|f| f.name).collect(),
    }
}

/// The parameter and, unless it is given whole, the field that `key` names.
fn find(params: &'static [Param], key: &str) -> Option<(usize, Option<&'static Field>)> {
    params.iter().enumerate().find_map(|(index, param)| match param.show {
        Show::Hex => (param.format.name == key).then_some((index, None)),
        Show::Fields | Show::InPlace => param.format.field(key).map(|f| (index, Some(f))),
    })
}

/// The bits that `text` puts into the word.
fn parse_value(param: &Param, field: Option<&Field>, text: &str) -> Result<u32, String> {
    let Some(field) = field else {
        return number(text)
            .or_else(|| text.parse::<f32>().ok().map(f32::to_bits))
            .ok_or_else(|| format!("`{text}` is no 32-bit number; write it as 123, 0x7b or 0.5"));
    };
    if let Some(value) = field.values.iter().find(|v| v.name.eq_ignore_ascii_case(text)) {
        return Ok(value.code << field.lsb);
    }
    let Some(value) = number(text).filter(|_| field.values.is_empty()) else {
        let allowed: Vec<_> = field.values.iter().map(|v| v.name.to_ascii_lowercase()).collect();
        return Err(if allowed.is_empty() {
            format!("`{text}` is no 32-bit number; write it as 123 or 0x7b")
        } else {
            format!("`{}` cannot be `{text}`; allowed are {}", field.name, allowed.join(", "))
        });
    };
    if param.show == Show::InPlace {
        if value & !field.mask() != 0 {
            let (step, top) = (1u32 << field.lsb, field.mask());
            return Err(format!("`{}` is {value}; allowed are multiples of {step} up to {top}", field.name));
        }
        Ok(value)
    } else {
        let top = field.extract(u32::MAX);
        if value > top {
            return Err(format!("`{}` is {value}; the field holds 0..={top}", field.name));
        }
        Ok(value << field.lsb)
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::commands::{CommandBuffer, CondLoc, CondTest};
    use crate::mc::{Format, Surface, Tiling};
    use crate::memory::GpuAddr;
    use ctm_exec::Domain;

    #[test]
    fn prints_what_people_read() {
        let surface = Surface::for_size(100, 50, Format::Float32x4, Tiling::Tiled).unwrap().at(GpuAddr(0x1000_0000));
        let buffer = CommandBuffer::new()
            .set_inp_fmt(3, &surface)
            .set_cond_test(CondTest::LessEqual)
            .set_cond_loc(CondLoc::Pe)
            .set_cond_val(0.5)
            .set_out_mask(0b0101)
            .init_perf_counters(true)
            .set_inst_fmt(GpuAddr(0x8010_0000))
            .set_domain(Domain { i0: 0, j0: 1, i1: 99, j1: 49 })
            .start_program();
        let text = print(buffer.words());
        let lines: Vec<_> = text.lines().map(|l| l.split(';').next().unwrap().trim_end()).collect();
        assert_eq!(
            lines,
            [
                "set_inp_fmt           input=3, address=0x10000000, pitch=112, tiling=tiled, format=float32_4, height=50",
                "set_cond_test         test=less_equal",
                "set_cond_loc          location=pe",
                "set_cond_val          value=0x3f000000",
                "set_out_mask          c0=1, c1=0, c2=1, c3=0",
                "init_perf_counters    enable=1",
                "set_inst_fmt          address=0x80100000",
                "set_domain            i0=0, j0=1, i1=99, j1=49",
                "start_program",
            ]
        );
        assert_eq!(parse(&text).unwrap(), buffer.words());
        assert_eq!(parse("set_cond_val value=0.5").unwrap(), [0xc000_0600, 0x3f00_0000]);
    }

    #[test]
    fn words_that_would_lose_something_stay_words() {
        for words in [
            &[0xc000_0100, 0x8000_0000][..],
            &[0xc000_0200, 1],
            &[0xc003_0700, 0, 0, 0x1_0000, 0],
            &[0xc003_0b00, 0, 0, 0x0700_0000, 0],
            &[0xc000_0800, 5],
            &[0xc003_0700, 0],
            &[0, 1, 2],
        ] {
            assert_eq!(parse(&print(words)).unwrap(), words, "{}", print(words));
        }
    }

    #[test]
    fn every_field_of_every_command_goes_both_ways() {
        let mut seed = 1u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = (seed >> 32) as u32;
            let kind = CommandKind::ALL[random as usize % CommandKind::ALL.len()];
            let params: Vec<u32> =
                kind.info().params.iter().map(|p| random.rotate_left(7) & !p.format.reserved_mask()).collect();
            let words = Command::new(kind, &params).words();
            assert_eq!(parse(&print(&words)).unwrap(), words, "{}", print(&words));
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        // text, message, what the span covers
        let table = [
            ("set_domian i0=1", "there is no command `set_domian`", "set_domian"),
            ("start_program\nset_domain i0=1, k=2", "`set_domain` has no field `k`; it has i0, j0, i1, j1", "k"),
            ("set_domain i0=5000", "`i0` is 5000; the field holds 0..=4095", "5000"),
            ("set_domain i0=1 j0=2", "expected `,` before the next field", "j0=2"),
            ("set_domain i0=1", "`set_domain` lacks the field `j0`", "set_domain"),
            ("set_cond_test test=maybe", "`test` cannot be `maybe`; allowed are never, less, less_equal", "maybe"),
            ("set_inp_fmt input=0, pitch=6", "`pitch` is 6; allowed are multiples of 4 up to 8188", "6"),
            (".word 12, x", "`x` is no 32-bit number", "x"),
            ("set_cond_val value", "expected `=` after `value`", ""),
        ];
        for (text, message, covered) in table {
            let errors = parse(text).unwrap_err();
            assert_eq!(errors.len(), 1);
            assert!(errors[0].message.starts_with(message), "{}", errors[0].message);
            let span = errors[0].labels[0].span;
            assert_eq!(&text[span.start as usize..span.end as usize], covered, "{text}");
        }
        assert_eq!(parse("x\ny\nz").unwrap_err().len(), 3);
        assert!(parse("start_progam").unwrap_err()[0].help.as_ref().unwrap().contains("start_program"));
    }
}
