//! Lines that are no instructions: directives, literals and bare words.

use super::super::cursor::{Cursor, Parsed};
use super::super::{cf, fetch, mnemonics, operand};
use super::{Body, Context, MAX_SLOT, Statement, StatementOutput, TextReader};
use crate::diag::{Diagnostic, Span};
use crate::r700::program::{Stage, SymbolKind};
use crate::suggest::closest;

/// Whether a name could be read as something else: a register, a constant, a literal keyword.
fn is_reserved(name: &str) -> bool {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    matches!(
        letters,
        "R" | "C"
            | "KC"
            | "PV"
            | "PS"
            | "SRC"
            | "AR"
            | "AL"
            | "t"
            | "s"
            | "b"
            | "i"
            | "PIX"
            | "POS"
            | "PARAM"
            | "x"
            | "y"
            | "z"
            | "w"
    ) || cf::is_mnemonic(name)
        || mnemonics::mnemonic(name).is_some()
        || fetch::is_mnemonic(name)
}

/// Every directive.
pub(in crate::r700::text) const DIRECTIVES: &[&str] = &[
    "word",
    "literal",
    "org",
    "size",
    "entry",
    "gprs",
    "stack",
    "unchecked",
    "stage",
    "reg",
    "const",
    "resource",
    "sampler",
    "buffer",
];

impl TextReader<'_> {
    pub(super) fn directive(&mut self, c: &mut Cursor<'_>, number: Option<(u32, Span)>) -> Parsed<()> {
        let start = c.place();
        c.eat_adjacent(b'.');
        let name = c.word().unwrap_or_default();
        if name != "word" && name != "literal" {
            if let Some((_, span)) = number {
                let d = Diagnostic::error("syntax", "a directive has no number in front of it");
                c.report(d.at(span, ""));
            }
            self.end_clause(c);
        }
        match name {
            "word" => return self.words(c, number),
            "literal" => return self.literal(c),
            "org" => {
                let slot = c.integer("a slot", MAX_SLOT)?;
                let span = c.span(start);
                self.push(StatementOutput::Org(slot), None, span);
            }
            "size" => {
                let n = c.integer("the number of dwords", MAX_SLOT * 2)?;
                self.s.size = Some((n, c.span(start)));
            }
            "entry" => {
                if let Some(label) = c.word() {
                    self.s.entry_label = Some((label.to_owned(), c.span(start)));
                    return Ok(());
                }
                let n = c.integer("a slot", MAX_SLOT)?;
                self.s.entry = Some((n, c.span(start)));
            }
            "gprs" => self.s.gprs = Some(u8::try_from(c.integer("the number of registers", 255)?).unwrap_or(u8::MAX)),
            "stack" => {
                self.s.stack = Some(u8::try_from(c.integer("the number of stack entries", 255)?).unwrap_or(u8::MAX))
            }
            "unchecked" => self.s.unchecked = true,
            "stage" => {
                c.peek();
                let at = c.place();
                let word = c.word().unwrap_or_default();
                let Some(stage) = Stage::from_name(word) else {
                    let all: Vec<_> = Stage::ALL.iter().map(|s| s.name()).collect();
                    return c.fail("directive", at, format!("`{word}` is none of {}", all.join(", ")));
                };
                self.s.stage = Some(stage);
            }
            "reg" | "const" | "resource" | "sampler" | "buffer" => self.define(c, name)?,
            _ => {
                let span = c.span(start);
                let mut d =
                    Diagnostic::error("unknown-directive", format!("`.{name}` is not a directive")).at(span, "");
                if let Some(near) = closest(name, DIRECTIVES.iter().copied()) {
                    d = d.help(format!("did you mean `.{near}`?"));
                }
                c.report(d);
                return Err(super::super::cursor::Reported);
            }
        }
        if c.at_end() {
            return Ok(());
        }
        let at = c.place();
        let found = c.found();
        c.fail("syntax", at, format!("the line should end here, but {found} follows"))
    }

    /// `.reg position R1`, `.const mvp C4`, `.const mvp KC0[4]`, `.resource picture t18`, `.sampler nearest s0`, `.buffer vertices b160`.
    fn define(&mut self, c: &mut Cursor<'_>, directive: &str) -> Parsed<()> {
        c.peek();
        let start = c.place();
        let Some(name) = c.word() else {
            let found = c.found();
            return c.fail("name", start, format!("a name is expected here, not {found}"));
        };
        if is_reserved(name) {
            let what = match name {
                "t" | "s" | "b" | "i" => {
                    format!("`{name}` is the letter of {name}0, {name}1 and so on; a name is another word")
                }
                _ => format!("`{name}` means something else already"),
            };
            self.s.names.refuse(name);
            return c.fail("name", start, what);
        }
        c.peek();
        let at = c.place();
        let word = c.word().unwrap_or_default();
        let (letters, digits) = word.split_at(word.find(|ch: char| ch.is_ascii_digit()).unwrap_or(word.len()));
        let index: Option<u32> = digits.parse().ok();
        let target = match (directive, letters, index) {
            ("reg", "R", Some(n)) if n < 128 => Some((SymbolKind::Gpr, n)),
            ("const", "C", Some(n)) if n < 256 => Some((SymbolKind::Constant, n)),
            ("resource", "t", Some(n)) if n < 256 => Some((SymbolKind::Resource, n)),
            ("sampler", "s", Some(n)) if n < 32 => Some((SymbolKind::Sampler, n)),
            ("buffer", "b", Some(n)) if n < 256 => Some((SymbolKind::Buffer, n)),
            ("const", "KC", Some(set @ 0..=1)) if c.eat_adjacent(b'[') => {
                let n = c.integer("a constant of locked lines", 31)?;
                c.expect(b']', "behind the constant")?;
                Some((SymbolKind::Kcache(if set == 0 { 0 } else { 1 }), n))
            }
            _ => None,
        };
        let Some((kind, index)) = target else {
            self.s.names.refuse(name);
            return c.fail(
                "name",
                at,
                "a name stands for R0 to R127, C0 to C255, KC0[0] to KC1[31], t0 to t255, s0 to s31 or b0 to b255",
            );
        };
        if !self.s.names.define(name, kind, u8::try_from(index).unwrap_or(u8::MAX)) {
            return c.fail("name", start, format!("`{name}` is defined twice"));
        }
        Ok(())
    }

    fn literal(&mut self, c: &mut Cursor<'_>) -> Parsed<()> {
        while !c.at_end() {
            let start = c.place();
            let chan = operand::chan_from_byte(c.next_byte()).filter(|_| c.word().is_some_and(|w| w.len() == 1));
            let Some(chan) = chan else {
                return c.fail("literal", start, "a literal is written `.literal y=0x3F800000`");
            };
            c.expect(b'=', "behind the element")?;
            let bits = c.integer("the literal's bits", u32::MAX)?;
            let span = c.span(start);
            self.lines.literals.push((chan, bits, span));
        }
        Ok(())
    }

    pub(super) fn words(&mut self, c: &mut Cursor<'_>, number: Option<(u32, Span)>) -> Parsed<()> {
        let start = c.place();
        let mut words = Vec::new();
        loop {
            words.push(c.integer("a dword", u32::MAX)?);
            if !c.eat(b',') {
                break;
            }
        }
        if !c.at_end() {
            let at = c.place();
            let found = c.found();
            return c.fail("syntax", at, format!("`,` or the end of the line is expected, not {found}"));
        }
        let span = c.line_span();
        if number.is_some() {
            // A number in front makes it an instruction of the control flow.
            self.end_clause(c);
            let Ok(pair) = <[u32; 2]>::try_from(words.as_slice()) else {
                return c.fail(
                    "word",
                    start,
                    format!("a control-flow instruction has two dwords, not {}", words.len()),
                );
            };
            self.push(StatementOutput::Word(pair), number, span);
            return Ok(());
        }
        match self.context {
            Context::Alu => {
                std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
                self.end_group();
                std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
                if words.len() % 2 != 0 {
                    return c.fail("word", start, "an ALU clause is made of slots of two dwords");
                }
                if let Some(Body::Alu { tail, .. }) = self.body() {
                    tail.extend(words);
                }
            }
            Context::Fetch(_) => {
                let Ok(fetch) = <[u32; 4]>::try_from(words.as_slice()) else {
                    return c.fail("word", start, format!("a fetch has four dwords, not {}", words.len()));
                };
                self.next_number = self.next_number.wrapping_add(1);
                if let Some(Body::Fetch(fetches)) = self.body() {
                    fetches.push((fetch, span));
                }
            }
            Context::Outside => {
                if let Some(Statement { what: StatementOutput::Data(data), span: whole, .. }) = self.s.list.last_mut() {
                    data.extend(words);
                    *whole = whole.to(span);
                } else {
                    self.push(StatementOutput::Data(words), None, span);
                }
            }
        }
        Ok(())
    }
}
