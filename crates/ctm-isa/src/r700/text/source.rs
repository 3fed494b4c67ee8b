//! Text as statements: lines, groups, clauses, directives.

pub(super) mod directives;

use super::TextOptions;
use super::alu;
use super::cf::{self, ParsedCf};
use super::cursor::{Cursor, Parsed};
use super::fetch;
use super::group::{self, Lines};
use super::mnemonics;
use super::names::Names;
use super::reading::{Reading, ReadyGroup};
use super::split::group_reads_previous;
use crate::diag::{Diagnostic, Span};
use crate::r700::formats::CfAluWord0;
use crate::r700::inst::Cf;
use crate::r700::ops::{AluUnit, CfOp, Clause};
use crate::r700::program::{Setting, Stage};
use crate::suggest::{Suggester, closest};
use std::collections::HashMap;

/// The clause that lines after a control-flow instruction make.
#[derive(Debug)]
pub(super) enum Body {
    /// Groups, and words that are literal after them.
    Alu { groups: Vec<ReadyGroup>, tail: Vec<u32> },
    /// Fetches.
    Fetch(Vec<([u32; 4], Span)>),
}

impl Body {
    /// How many slots it takes.
    pub(super) fn slots(&self) -> u32 {
        match self {
            Self::Alu { groups, tail } => {
                groups.iter().map(|g| g.group.size()).sum::<u32>() + u32::try_from(tail.len() / 2).unwrap_or(u32::MAX)
            }
            Self::Fetch(fetches) => u32::try_from(fetches.len() * 2).unwrap_or(u32::MAX),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots() == 0
    }
}

/// The output of a statement.
#[derive(Debug)]
pub(super) enum StatementOutput {
    /// A control-flow instruction and its clause.
    Cf(Box<ParsedCf>, Option<Body>),
    /// Two dwords of control flow that are literal.
    Word([u32; 2]),
    /// Dwords that are literal.
    Data(Vec<u32>),
    /// The next statement is at this slot.
    Org(u32),
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) what: StatementOutput,
    /// The number in front of the line.
    pub(super) number: Option<(u32, Span)>,
    pub(super) span: Span,
    /// The line or one of its clause's could not be read; consequences of its absence are not reported.
    pub(super) broken: bool,
}

/// Everything that the text says.
#[derive(Default)]
pub(super) struct Statements {
    pub(super) list: Vec<Statement>,
    /// Where each label points: the index of the statement after it.
    pub(super) labels: HashMap<String, (usize, Span)>,
    pub(super) names: Names,
    pub(super) settings: Vec<Setting>,
    pub(super) stage: Option<Stage>,
    pub(super) gprs: Option<u8>,
    pub(super) stack: Option<u8>,
    pub(super) entry: Option<(u32, Span)>,
    /// A label in place of the slot; it becomes one when the program is laid out.
    pub(super) entry_label: Option<(String, Span)>,
    pub(super) size: Option<(u32, Span)>,
    pub(super) unchecked: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Context {
    /// Between clauses.
    Outside,
    /// In an ALU clause.
    Alu,
    /// In a fetch clause; whether it is a texture clause.
    Fetch(bool),
}

struct TextReader<'a> {
    /// The last place of each setting.
    settings: HashMap<String, Span>,
    options: &'a TextOptions,
    s: Statements,
    context: Context,
    /// The group that is being read.
    lines: Lines,
    /// Groups in this clause begin with numbers.
    numbered: Option<bool>,
    /// The number of the next group or fetch.
    next_number: u32,
    /// The previous group of the clause was made two.
    was_split: bool,
    /// That instructions are written in capitals.
    said_capitals: bool,
    suggester: Suggester,
}

/// The approximate number of mnemonics that an unknown one is compared with.
const MNEMONICS: usize = 500;

/// Reads the whole text.
pub(super) fn read(source: &str, options: &TextOptions) -> Statements {
    let mut reader = TextReader {
        options,
        s: Statements { unchecked: has_unchecked(source), ..Statements::default() },
        context: Context::Outside,
        lines: Lines::default(),
        numbered: None,
        next_number: 0,
        was_split: false,
        said_capitals: false,
        settings: HashMap::new(),
        suggester: Suggester::default(),
    };
    let mut base = 0u32;
    for line in source.split('\n') {
        reader.line(line, base);
        base = base.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX)).saturating_add(1);
    }
    reader.end_group();
    reader.s
}

/// `.unchecked` concerns the whole text at any place.
fn has_unchecked(source: &str) -> bool {
    source.contains(".unchecked")
        && source.lines().any(|l| l.split(';').next().is_some_and(|l| l.trim() == ".unchecked"))
}

fn unit_of(word: &str) -> Option<AluUnit> {
    match word.as_bytes() {
        [b'x' | b'X'] => Some(AluUnit::X),
        [b'y' | b'Y'] => Some(AluUnit::Y),
        [b'z' | b'Z'] => Some(AluUnit::Z),
        [b'w' | b'W'] => Some(AluUnit::W),
        [b't' | b'T'] => Some(AluUnit::T),
        _ => None,
    }
}

impl TextReader<'_> {
    fn line(&mut self, line: &str, base: u32) {
        let mut diagnostics = std::mem::take(&mut self.s.diagnostics);
        let (text, comment) = match line.find(';') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, ""),
        };
        let text = text.find("//").map_or(text, |at| &text[..at]);
        if let Some(setting) = comment.trim_start().strip_prefix('$')
            && let Some((name, value)) = setting.split_once('=')
        {
            let start = base + (line.len() - comment.trim_start().len()) as u32;
            let span = Span::new(start, base + line.trim_end().len() as u32);
            if let Some(first) = self.settings.insert(name.trim().to_ascii_uppercase(), span) {
                let d = Diagnostic::warning(
                    "setting-twice",
                    format!("`${}` is set twice; the last value counts", name.trim()),
                );
                diagnostics.push(d.at(span, "").at(first, "the first is here"));
            }
            self.s.settings.push(Setting { name: name.trim().to_owned(), value: value.trim().to_owned(), span });
        }
        let mut c = Cursor::new(text, base, &mut diagnostics);
        if c.at_end() {
            let blank = line.trim().is_empty();
            self.s.diagnostics = diagnostics;
            if blank && self.context == Context::Alu && self.numbered == Some(false) {
                self.end_group();
            }
            return;
        }
        let outcome = self.statement(&mut c);
        if outcome.is_err() && self.context != Context::Outside {
            self.lines.broken = self.context == Context::Alu;
            self.mark_broken();
        }
        self.s.diagnostics = diagnostics;
    }

    fn statement(&mut self, c: &mut Cursor<'_>) -> Parsed<()> {
        c.peek();
        let start = c.place();
        let number = c.digits().map(|n| (n, c.span(start)));
        if number.is_some() && c.next_byte().is_ascii_alphanumeric() {
            let found = c.found();
            return c.fail("syntax", start, format!("a space is expected behind the number, not {found}"));
        }
        c.peek();
        let at = c.place();
        if c.next_byte() == b'.' {
            return self.directive(c, number);
        }
        let Some(word) = c.word() else {
            let found = c.found();
            return c.fail("syntax", at, format!("an instruction is expected here, not {found}"));
        };
        // Slots are the most frequent lines.
        if let Some(unit) = unit_of(word)
            && c.next_byte() == b':'
        {
            c.eat_adjacent(b':');
            return self.slot(c, number, Some(unit));
        }
        if let Some(what) = fetch::mnemonic(word) {
            return self.fetch(c, what, at, number);
        }
        // NOP is an instruction of either kind; a destination makes it one of the clause.
        let of_the_clause = word == "NOP" && self.context == Context::Alu && matches!(c.peek(), b'R' | b'_');
        if let Some(what) = cf::mnemonic(word).filter(|_| !of_the_clause) {
            self.end_clause(c);
            let parsed = cf::parse(c, &self.s.names, what);
            // A line that cannot be read still takes its place, and its clause's lines are read.
            let broken = parsed.is_err();
            let parsed = parsed.unwrap_or_else(|_| cf::placeholder(what, c.line_span()));
            let (context, body) = match &parsed.cf {
                Cf::Alu(_) => (Context::Alu, Some(Body::Alu { groups: Vec::new(), tail: Vec::new() })),
                Cf::Plain(i) if i.word1.op.info().clause == Clause::Fetch => {
                    (Context::Fetch(i.word1.op == CfOp::Tex), Some(Body::Fetch(Vec::new())))
                }
                Cf::Plain(_) | Cf::Export(_) | Cf::Mem(_) => (Context::Outside, None),
            };
            let span = parsed.span;
            self.push(StatementOutput::Cf(Box::new(parsed), body), number, span);
            if broken {
                self.mark_broken();
            }
            self.context = context;
            (self.numbered, self.was_split) = (None, false);
            return Ok(());
        }
        if word == "END_OF_PROGRAM" {
            self.end_clause(c);
            return self.end_of_program(c);
        }
        if mnemonics::mnemonic(word).is_some() {
            c.back_to(at);
            return self.slot(c, number, None);
        }
        let capitals = word.to_ascii_uppercase();
        let means = |word: &str| {
            word == "END_OF_PROGRAM"
                || cf::mnemonic(word).is_some()
                || fetch::mnemonic(word).is_some()
                || mnemonics::mnemonic(word).is_some()
        };
        // `loop:` alone on its line is a label; `alu:` is a clause.
        let clause = matches!(capitals.as_str(), "TEX" | "VTX" | "VTX_TC") || capitals.starts_with("ALU");
        let behind = c.place();
        let label = !clause && number.is_none() && c.eat(b':') && c.at_end();
        c.back_to(behind);
        if capitals != word && means(&capitals) && !label {
            return self.small_letters(c, &capitals, at);
        }
        if number.is_none() && c.eat(b':') {
            if c.at_end() {
                self.end_clause(c);
                return self.label(c, word, at);
            }
            // A label in front of an instruction on the same line.
            let behind = c.place();
            let follows = c.word().is_some_and(means);
            c.back_to(behind);
            if follows {
                self.end_clause(c);
                self.label(c, word, at)?;
                return self.statement(c);
            }
        }
        c.back_to(at);
        c.word();
        self.unknown(c, word, at)
    }

    /// An instruction in small letters: said once, and the lines of the clause that it begins are read without further ado.
    fn small_letters(&mut self, c: &mut Cursor<'_>, capitals: &str, at: usize) -> Parsed<()> {
        c.back_to(at);
        c.word();
        if !self.said_capitals {
            let span = c.span(at);
            let d = Diagnostic::error("small-letters", "instructions of the R700 are written in capitals".to_owned())
                .at(span, "")
                .help(format!("write `{capitals}`; registers are R0, PV, KC0[0]"));
            c.report(d);
        }
        self.said_capitals = true;
        if let Some(what) = cf::mnemonic(capitals) {
            self.end_clause(c);
            let placeholder = cf::placeholder(what, c.line_span());
            let (context, body) = match &placeholder.cf {
                Cf::Alu(_) => (Context::Alu, Some(Body::Alu { groups: Vec::new(), tail: Vec::new() })),
                Cf::Plain(i) if i.word1.op.info().clause == Clause::Fetch => {
                    (Context::Fetch(i.word1.op == CfOp::Tex), Some(Body::Fetch(Vec::new())))
                }
                Cf::Plain(_) | Cf::Export(_) | Cf::Mem(_) => (Context::Outside, None),
            };
            let span = placeholder.span;
            self.push(StatementOutput::Cf(Box::new(placeholder), body), None, span);
            self.mark_broken();
            self.context = context;
        }
        Err(super::cursor::Reported)
    }

    fn unknown(&mut self, c: &mut Cursor<'_>, word: &str, at: usize) -> Parsed<()> {
        let names = || cf::all_mnemonics().chain(fetch::all_mnemonics()).chain(mnemonics::all_mnemonics());
        let near =
            if self.suggester.allows(MNEMONICS) { closest(word, names().chain(["END_OF_PROGRAM"])) } else { None };
        let span = c.span(at);
        let mut d = Diagnostic::error("unknown-mnemonic", format!("`{word}` is not an instruction of the R700"))
            .at(span, "")
            .cite("R700 §10");
        if let Some(instead) = super::dialects::instead(word) {
            d = d.help(instead);
        } else if let Some(near) = near {
            d = d.help(format!("did you mean `{near}`?"));
        }
        c.report(d);
        Err(super::cursor::Reported)
    }

    fn mark_broken(&mut self) {
        if let Some(statement) = self.s.list.last_mut() {
            statement.broken = true;
        }
    }

    fn push(&mut self, what: StatementOutput, number: Option<(u32, Span)>, span: Span) {
        self.s.list.push(Statement { what, number, span, broken: false });
    }

    fn body(&mut self) -> Option<&mut Body> {
        match self.s.list.last_mut().map(|s| &mut s.what) {
            Some(StatementOutput::Cf(_, Some(body))) => Some(body),
            _ => None,
        }
    }

    /// Finishes the group that is being read; findings go to the cursor's list.
    fn end_clause(&mut self, c: &mut Cursor<'_>) {
        std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
        self.end_group();
        std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
        self.context = Context::Outside;
    }

    fn end_group(&mut self) {
        if self.lines.slots.is_empty() && !self.lines.broken {
            return;
        }
        let lines = std::mem::take(&mut self.lines);
        let number = lines.number.unwrap_or(self.next_number);
        self.next_number = number.wrapping_add(1);
        let mut reading =
            Reading { options: self.options, unchecked: self.s.unchecked, diagnostics: &mut self.s.diagnostics };
        let Some(groups) = group::settle(lines, number, &mut reading) else { return self.mark_broken() };
        if self.was_split && groups.first().is_some_and(|g| group_reads_previous(&g.group)) {
            let d = Diagnostic::error(
                "read-port",
                "the group before was made two, so PV and PS are those of its second part",
            );
            self.s.diagnostics.push(d.at(groups[0].spans[0], "").cite("R700 §4.6.2").help("read the register instead"));
        }
        self.was_split = groups.len() > 1;
        if let Some(Body::Alu { groups: all, .. }) = self.body() {
            all.extend(groups);
        }
    }

    fn slot(&mut self, c: &mut Cursor<'_>, number: Option<(u32, Span)>, unit: Option<AluUnit>) -> Parsed<()> {
        if self.context != Context::Alu {
            let span = c.line_span();
            let d = Diagnostic::error(
                "outside-clause",
                "an ALU instruction stands in an ALU clause; no ALU line comes before it",
            );
            c.report(d.at(span, "").cite("R700 §3.3"));
            return Err(super::cursor::Reported);
        }
        let numbered = *self.numbered.get_or_insert(number.is_some());
        // Without numbers a group ends where the order x, y, z, w, t does.
        let repeats = !numbered
            && unit.is_some()
            && self.lines.slots.last().is_some_and(|last| last.unit.is_some() && last.unit >= unit);
        if number.is_some() || repeats {
            std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
            self.end_group();
            std::mem::swap(&mut self.s.diagnostics, c.diagnostics);
            self.lines.number = number.map(|(n, _)| n);
        }
        if let Some(Body::Alu { tail, .. }) = self.body()
            && !tail.is_empty()
        {
            let span = c.line_span();
            let d = Diagnostic::error(
                "outside-clause",
                "instructions cannot stand behind the `.word` lines of an ALU clause",
            );
            c.report(d.at(span, ""));
            return Err(super::cursor::Reported);
        }
        let slot = alu::parse(c, &self.s.names, unit)?;
        self.lines.slots.push(slot);
        Ok(())
    }

    fn fetch(
        &mut self,
        c: &mut Cursor<'_>,
        what: fetch::FetchMnemonic,
        at: usize,
        number: Option<(u32, Span)>,
    ) -> Parsed<()> {
        let Context::Fetch(texture) = self.context else {
            let span = c.line_span();
            let d = Diagnostic::error("outside-clause", "a fetch stands in a TEX, VTX or VTX_TC clause");
            c.report(d.at(span, "").cite("R700 §3.3"));
            return Err(super::cursor::Reported);
        };
        self.next_number = number.map_or(self.next_number, |(n, _)| n).wrapping_add(1);
        let parsed = fetch::parse(c, &self.s.names, what)?;
        if parsed.texture && !texture {
            return c.fail(
                "fetch-clause",
                at,
                "a vertex clause holds FETCH, SEMANTIC and memory reads; texture fetches need a TEX clause",
            );
        }
        if let Some(Body::Fetch(fetches)) = self.body() {
            fetches.push((parsed.words, parsed.span));
        }
        Ok(())
    }

    fn label(&mut self, c: &mut Cursor<'_>, word: &str, at: usize) -> Parsed<()> {
        let span = c.span(at);
        let target = self.s.list.len();
        if let Some((_, first)) = self.s.labels.insert(word.to_owned(), (target, span)) {
            let d = Diagnostic::error("label", format!("label `{word}` is defined twice"))
                .at(span, "")
                .at(first, "first here");
            c.report(d);
            return Err(super::cursor::Reported);
        }
        Ok(())
    }

    fn end_of_program(&mut self, c: &mut Cursor<'_>) -> Parsed<()> {
        let span = c.line_span();
        if !c.at_end() {
            let at = c.place();
            let found = c.found();
            return c.fail("syntax", at, format!("nothing stands behind END_OF_PROGRAM, but {found} does"));
        }
        if let Some(Statement { what: StatementOutput::Cf(parsed, _), .. }) = self.s.list.last_mut()
            && cf::set_end(&mut parsed.cf)
        {
            return Ok(());
        }
        // An ALU clause cannot end a program: an instruction that does nothing does (r700-encoding §1).
        let nop =
            ParsedCf { cf: cf::nop_that_ends(), address: cf::Address::Missing, count: None, extras: Vec::new(), span };
        self.push(StatementOutput::Cf(Box::new(nop), None), None, span);
        Ok(())
    }
}

/// The last slot of the longest program: the reach of an ALU clause's address, in the lowest bits of its word.
pub(super) const MAX_SLOT: u32 = CfAluWord0::FORMAT.known_field("ADDR").mask();
