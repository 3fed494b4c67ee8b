//! Directives: names, constants, flow control; parsed and printed.

use super::names::{KINDS, RegisterLetters, RegisterNames, at_name, is_free_name};
use crate::diag::{Diagnostic, Span};
use crate::lexer::{Cursor, Parse, Tok, float_text, quote, unknown_word};
use crate::pvs::flow::FlowSlot;
use crate::pvs::formats::{FlowLoopIndex, FlowLower, FlowUpper};
use crate::pvs::ops::FlowOp;
use crate::pvs::program::{Literal, SymbolKind, VertexProgram, VertexSymbol};
use crate::pvs::{FLOW_SLOTS, INSTRUCTION_SLOTS};

/// Every directive that says something about the whole program. `.word`, `.entry` and `.last` have a place among the
/// instructions and are read with them.
pub(super) const DIRECTIVES: &[&str] = &["input", "output", "const", "reg", "flow", "const_range"];

/// Directives among the instructions.
pub(super) const PLACED: &[&str] = &["word", "entry", "last"];

/// The words of `.flow`.
pub(super) const FLOW_WORDS: &[&str] =
    &["none", "jump", "loop", "jsr", "after", "to", "begin", "end", "back", "count", "init", "step", "inherit"];

/// An instruction by its number or its label.
#[derive(Clone, Copy, Debug)]
pub(super) enum InstTarget<'a> {
    Number(u16),
    Label(&'a str, Span),
}

/// A `.flow` line before its labels are known.
#[derive(Debug)]
pub(super) struct FlowLine<'a> {
    pub slot: usize,
    op: FlowOp,
    after: Option<InstTarget<'a>>,
    to: Option<InstTarget<'a>>,
    back: Option<InstTarget<'a>>,
    end: Option<InstTarget<'a>>,
    count: Option<u16>,
    init: u8,
    step: Option<u8>,
    inherit: bool,
}

impl<'a> FlowLine<'a> {
    /// The slot, with the instructions that `resolve` gives for labels.
    pub fn resolve(&self, mut resolve: impl FnMut(InstTarget<'a>) -> u16) -> FlowSlot {
        let [after, to, back, end] = [self.after, self.to, self.back, self.end].map(|target| target.map(&mut resolve));
        let act = after.unwrap_or(0);
        let next = if self.op == FlowOp::Loop || self.op == FlowOp::Jsr { act.saturating_add(1) } else { 0 };
        FlowSlot {
            op: self.op,
            lower: FlowLower { act, target_or_count: self.count.or(to).unwrap_or(0) },
            upper: FlowUpper { last: end.unwrap_or(0), back: back.unwrap_or(next) },
            index: FlowLoopIndex {
                init: self.init,
                step: self.step.unwrap_or(u8::from(self.op == FlowOp::Loop)),
                inherit: self.inherit,
            },
        }
    }
}

/// The contents of a program's directives.
#[derive(Debug, Default)]
pub(super) struct Information<'a> {
    pub symbols: Vec<VertexSymbol>,
    pub literals: Vec<Literal>,
    pub flow: Vec<(FlowLine<'a>, Span)>,
    pub const_range: Option<(u8, u8)>,
}

fn kind_of(letters: &str) -> &'static RegisterLetters {
    KINDS.iter().find(|kind| kind.letters == letters).unwrap_or(&KINDS[0])
}

impl<'a> Information<'a> {
    /// Parses the directive `name`; the cursor follows it.
    pub fn parse(
        &mut self,
        name: &str,
        span: Span,
        cursor: &mut Cursor<'_, 'a>,
        names: &mut RegisterNames<'a>,
    ) -> Parse<Option<Diagnostic>> {
        let mut warning = None;
        match name {
            "input" => self.list(cursor, names, Some(SymbolKind::Input), "v", &mut warning)?,
            "output" => self.list(cursor, names, Some(SymbolKind::Output), "o", &mut warning)?,
            "const" => self.list(cursor, names, Some(SymbolKind::Constant), "c", &mut warning)?,
            "reg" => self.list(cursor, names, None, "r", &mut warning)?,
            "flow" => {
                let line = flow_line(cursor)?;
                if let Some((_, old)) = self.flow.iter().find(|(other, _)| other.slot == line.slot) {
                    let message = format!("flow-control slot {} is described already", line.slot);
                    return Err(Box::new(Diagnostic::error("flow", message).at(span, "").at(*old, "first here")));
                }
                self.flow.push((line, cursor.span_from(span)));
            }
            "const_range" => {
                let base = cursor.integer("the base of constants", 255)?;
                cursor.expect(',', "and the greatest address")?;
                let max = cursor.integer("the greatest address of a constant", 255)?;
                self.const_range = Some((base as u8, max as u8));
            }
            _ => {
                let known: Vec<String> = DIRECTIVES.iter().chain(PLACED).map(|d| format!(".{d}")).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(unknown_word("directive", "a directive", &format!(".{name}"), span, &known));
            }
        }
        if cursor.is_at_end() { Ok(warning) } else { Err(cursor.unexpected("the end of the line")) }
    }

    /// `name = c1 (…), other = c2, c3 (…)`
    fn list(
        &mut self,
        cursor: &mut Cursor<'_, 'a>,
        names: &mut RegisterNames<'a>,
        symbol: Option<SymbolKind>,
        letters: &str,
        warning: &mut Option<Diagnostic>,
    ) -> Parse<()> {
        let most = match letters {
            "c" => 255,
            "v" => 255,
            _ => 127,
        };
        loop {
            let start = cursor.span();
            let mut quoted = None;
            let mut known = None;
            match cursor.peek() {
                Some(Tok::Word(word)) if at_name(cursor) => {
                    cursor.advance();
                    known = Some((*word, start));
                }
                Some(Tok::Quoted(text)) => {
                    cursor.advance();
                    quoted = Some(text.clone());
                }
                _ => {}
            }
            let named = known.is_some() || quoted.is_some();
            if named {
                cursor.expect('=', "and a register")?;
            }
            let (_, index) = names.plain(cursor, letters, most)?;
            let has_value = cursor.at_punct('(') && letters == "c";
            if !named && !has_value {
                return Err(cursor.unexpected("a value in parentheses (or a name and `=` before the register)"));
            }
            if has_value {
                let bits = vector(cursor)?;
                if self.literals.iter().any(|old| old.index == index) {
                    let message = format!("c{index} has a value already; the later one holds");
                    *warning = Some(Diagnostic::warning("literal", message).at(cursor.span_from(start), ""));
                }
                self.literals.push(Literal { index, bits });
            }
            if let Some((word, span)) = known {
                names.declare(word, kind_of(letters), index, span)?;
            }
            let name = quoted.or_else(|| known.map(|(word, _)| word.to_owned()));
            if let (Some(kind), Some(name)) = (symbol, name) {
                self.symbols.push(VertexSymbol { name, kind, index });
            }
            if !cursor.eat(',') {
                return Ok(());
            }
        }
    }
}

/// `(1, 2.5, -0, inf)`: the bits of four numbers.
fn vector(cursor: &mut Cursor<'_, '_>) -> Parse<[u32; 4]> {
    let start = cursor.span();
    cursor.expect('(', "before the value")?;
    let mut bits = [0; 4];
    for (i, bits) in bits.iter_mut().enumerate() {
        if i > 0 && !cursor.eat(',') {
            let message = format!("the value has {i} numbers, a constant has 4 components");
            return Err(Box::new(Diagnostic::error("literal", message).at(cursor.span_from(start), "")));
        }
        let negative = cursor.eat('-');
        let number =
            if cursor.eat_word("inf") { f32::INFINITY.to_bits() } else { cursor.number("a number")?.float_bits() };
        *bits = number ^ u32::from(negative) << 31;
    }
    cursor.expect(')', "after the value")?;
    Ok(bits)
}

/// An instruction's number or label.
pub(super) fn target<'a>(cursor: &mut Cursor<'_, 'a>) -> Parse<InstTarget<'a>> {
    let span = cursor.span();
    match cursor.peek() {
        Some(Tok::Number(_)) => Ok(InstTarget::Number(cursor.integer("the address", u32::from(u16::MAX))? as u16)),
        _ => Ok(InstTarget::Label(cursor.word("a label or an address")?, span)),
    }
}

/// `0 loop after 3 end 9 count 255`
fn flow_line<'a>(cursor: &mut Cursor<'_, 'a>) -> Parse<FlowLine<'a>> {
    let start = cursor.span();
    let slot = cursor.integer("the flow-control slot", FLOW_SLOTS as u32 - 1)? as usize;
    let span = cursor.span();
    let op = match cursor.word("none, jump, loop or jsr")? {
        "none" => FlowOp::None,
        "jump" => FlowOp::Jump,
        "loop" => FlowOp::Loop,
        "jsr" => FlowOp::Jsr,
        other => return Err(unknown_word("flow", "an action", other, span, &["none", "jump", "loop", "jsr"])),
    };
    let mut line = FlowLine {
        slot,
        op,
        after: None,
        to: None,
        back: None,
        end: None,
        count: None,
        init: 0,
        step: None,
        inherit: false,
    };
    let is_loop = op == FlowOp::Loop;
    while !cursor.is_at_end() {
        let span = cursor.span();
        match cursor.word("a word of `.flow`")? {
            "after" => line.after = Some(target(cursor)?),
            "end" => line.end = Some(target(cursor)?),
            "to" if !is_loop => line.to = Some(target(cursor)?),
            "back" if !is_loop => line.back = Some(target(cursor)?),
            "begin" if is_loop => line.back = Some(target(cursor)?),
            "count" if is_loop => line.count = Some(cursor.integer("the iteration count", u32::from(u16::MAX))? as u16),
            "init" => line.init = cursor.integer("the initial aL", 255)? as u8,
            "step" => {
                let negative = cursor.eat('-');
                let size = cursor.integer("the step of aL", if negative { 128 } else { 127 })? as u8;
                line.step = Some(if negative { size.wrapping_neg() } else { size });
            }
            "inherit" => line.inherit = true,
            other => {
                let known: &[&str] = if is_loop {
                    &["after", "begin", "end", "count", "init", "step", "inherit"]
                } else {
                    &["after", "to", "end", "back", "init", "step", "inherit"]
                };
                return Err(unknown_word("flow", "a word of this action", other, span, known));
            }
        }
    }
    let needed: &[(&str, bool)] = match op {
        FlowOp::None => &[],
        FlowOp::Jump => &[("after", line.after.is_none()), ("to", line.to.is_none())],
        FlowOp::Loop => {
            &[("after", line.after.is_none()), ("end", line.end.is_none()), ("count", line.count.is_none())]
        }
        FlowOp::Jsr => &[("after", line.after.is_none()), ("to", line.to.is_none()), ("end", line.end.is_none())],
    };
    match needed.iter().find(|(_, missing)| *missing) {
        Some((word, _)) => {
            let found = Diagnostic::error("flow", format!("`{word}` is missing")).at(cursor.span_from(start), "");
            Err(Box::new(found.help(
                "`.flow 0 jump after A to B`, `.flow 0 loop after A end B count N`, `.flow 0 jsr after A to B end C`",
            )))
        }
        None => Ok(line),
    }
}

/// An instruction in a listing: by its label if it has one.
fn place(at: u16, size: usize) -> String {
    if usize::from(at) < size { format!("L{at}") } else { at.to_string() }
}

/// The instructions that directives name: those need labels.
pub(super) fn labelled(program: &VertexProgram) -> Vec<u16> {
    let size = program.words.len().min(INSTRUCTION_SLOTS);
    let mut list = Vec::new();
    for slot in program.flow.iter().filter(|slot| **slot != FlowSlot::IDLE) {
        list.extend([slot.lower.act, slot.upper.last]);
        list.extend((slot.op != FlowOp::Loop).then_some(slot.lower.target_or_count));
        list.push(slot.upper.back);
    }
    list.retain(|&at| usize::from(at) < size);
    list.sort_unstable();
    list.dedup();
    list
}

fn flow_text(n: usize, slot: &FlowSlot, size: usize) -> String {
    let (name, is_loop) = match slot.op {
        FlowOp::None => ("none", false),
        FlowOp::Jump => ("jump", false),
        FlowOp::Loop => ("loop", true),
        FlowOp::Jsr => ("jsr", false),
    };
    let place = |at| place(at, size);
    let mut text = format!(".flow {n} {name} after {}", place(slot.lower.act));
    let next = if matches!(slot.op, FlowOp::Loop | FlowOp::Jsr) { slot.lower.act.saturating_add(1) } else { 0 };
    let ends = matches!(slot.op, FlowOp::Loop | FlowOp::Jsr) || slot.upper.last != 0;
    let back = slot.upper.back != next;
    if is_loop {
        if back {
            text.push_str(&format!(" begin {}", place(slot.upper.back)));
        }
        text.push_str(&format!(" end {} count {}", place(slot.upper.last), slot.lower.target_or_count));
    } else {
        if slot.op != FlowOp::None || slot.lower.target_or_count != 0 {
            text.push_str(&format!(" to {}", place(slot.lower.target_or_count)));
        }
        if ends {
            text.push_str(&format!(" end {}", place(slot.upper.last)));
        }
        if back {
            text.push_str(&format!(" back {}", place(slot.upper.back)));
        }
    }
    if slot.index.init != 0 {
        text.push_str(&format!(" init {}", slot.index.init));
    }
    if slot.index.step != u8::from(is_loop) {
        text.push_str(&format!(" step {}", slot.step()));
    }
    if slot.index.inherit {
        text.push_str(" inherit");
    }
    text
}

/// Whether a name can be used in the source as it is.
fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    let word = bytes.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_')
        && bytes.all(|c| c.is_ascii_alphanumeric() || c == b'_');
    word && is_free_name(name)
}

/// Prints every directive that the program needs.
pub(super) fn print(program: &VertexProgram) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if (program.const_base, program.const_max) != (0, 255) {
        line(format!(".const_range {}, {}", program.const_base, program.const_max));
    }
    let count = |name: &str| program.symbols.iter().filter(|s| s.name == name).count();
    let mut literals = program.literals.iter().peekable();
    let value = |literal: &Literal| format!(" ({})", literal.bits.map(float_text).join(", "));
    for symbol in &program.symbols {
        let (directive, letters) = match symbol.kind {
            SymbolKind::Input => ("input", 'v'),
            SymbolKind::Output => ("output", 'o'),
            SymbolKind::Constant => ("const", 'c'),
        };
        let plain = is_plain(&symbol.name) && count(&symbol.name) == 1;
        let name = if plain { symbol.name.clone() } else { quote(&symbol.name) };
        // A value is printed with its name where that keeps both lists in order.
        let constant = symbol.kind == SymbolKind::Constant;
        let value = literals.next_if(|l| constant && l.index == symbol.index).map_or_else(String::new, value);
        line(format!(".{directive} {name} = {letters}{}{value}", symbol.index));
    }
    for literal in literals {
        line(format!(".const c{}{}", literal.index, value(literal)));
    }
    let size = program.words.len().min(INSTRUCTION_SLOTS);
    for (n, slot) in program.flow.iter().enumerate().filter(|(_, slot)| **slot != FlowSlot::IDLE) {
        line(flow_text(n, slot, size));
    }
    text
}
