//! One operand of an ALU instruction as text: printer and parser.

use super::cursor::{Cursor, Parsed, Reported, parse_integer};
use super::names::Names;
use crate::diag::{Diagnostic, Span};
use crate::r700::inst::{AluInst, Group, Operand};
use crate::r700::ops::{Chan, IndexMode, Source, SpecialSel};
use crate::r700::program::SymbolKind;
use std::fmt::Write as _;

/// How an element name is written.
pub(super) fn chan_from_byte(byte: u8) -> Option<Chan> {
    match byte {
        b'x' | b'X' => Some(Chan::X),
        b'y' | b'Y' => Some(Chan::Y),
        b'z' | b'Z' => Some(Chan::Z),
        b'w' | b'W' => Some(Chan::W),
        _ => None,
    }
}

/// Reads `AL`, `GLOBAL` or `AR.x`; `None` for anything else.
fn parse_index_mode(c: &mut Cursor<'_>, start: usize) -> Parsed<Option<IndexMode>> {
    Ok(match c.word() {
        Some("AL" | "aL") => Some(IndexMode::Loop),
        Some("GLOBAL") => Some(IndexMode::Global),
        Some("AR") => {
            let chan = if c.eat_adjacent(b'.') { chan_from_byte(c.next_byte()) } else { None };
            let Some(chan) = chan else {
                return c.fail("syntax", start, "`AR` needs an element: AR.x, AR.y, AR.z or AR.w");
            };
            c.eat_adjacent(c.next_byte());
            IndexMode::from_code(chan.code())
        }
        _ => None,
    })
}

/// Reads the brackets after a register or constant: `AR.x`, `AL`, `GLOBAL`, and a number added to it.
fn parse_index(c: &mut Cursor<'_>, base: &mut u32) -> Parsed<Option<IndexMode>> {
    let mut mode = None;
    loop {
        c.peek();
        let start = c.place();
        if let Some(n) = c.number_text() {
            let Some(n) = parse_integer(n).and_then(|n| u32::try_from(n).ok()) else {
                return c.fail("syntax", start, "an index is a whole number");
            };
            *base = base.saturating_add(n);
        } else {
            mode = match (mode, parse_index_mode(c, start)?) {
                (None, Some(found)) => Some(found),
                (Some(IndexMode::Global), Some(IndexMode::ArX)) => Some(IndexMode::GlobalArX),
                _ => {
                    return c.fail("index", start, "an index is a number, AR.x to AR.w, AL, GLOBAL or GLOBAL+AR.x");
                }
            };
        }
        if c.eat(b']') {
            return Ok(mode);
        }
        c.expect(b'+', "inside an index")?;
    }
}

/// Prints a register or constant with its index after it.
pub(super) fn print_indexed(out: &mut String, relative: bool, mode: IndexMode) {
    if relative {
        let _ = write!(out, "[{}]", mode.name());
    }
}

/// Prints an operand, and clears in `said` the fields that the text omits.
pub(super) fn print_operand(out: &mut String, inst: &AluInst, index: usize, group: &Group, number: u32) -> Operand {
    let operand = inst.operand(index);
    let mut said = operand;
    let mode = inst.word0.index_mode;
    if operand.neg {
        out.push('-');
    }
    if operand.abs {
        out.push('|');
    }
    let mut relative = false;
    let mut chan = true;
    match operand.source {
        Source::Gpr(n) => {
            let _ = write!(out, "R{n}");
            relative = true;
        }
        Source::Kcache { set, index } => {
            let _ = write!(out, "KC{set}[{index}]");
            relative = true;
        }
        Source::Constant(n) => {
            let _ = write!(out, "C{n}");
            relative = true;
        }
        Source::Reserved(sel) => {
            let _ = write!(out, "SRC[{sel}]");
            relative = true;
        }
        Source::Special(SpecialSel::Literal) => {
            let bits = group.literals[operand.chan as usize];
            let _ = write!(out, "(0x{bits:08X}, {:?}f)", f32::from_bits(bits));
        }
        Source::Special(SpecialSel::Pv) => {
            let _ = write!(out, "PV{}", number.saturating_sub(1));
        }
        Source::Special(SpecialSel::Ps) => {
            let _ = write!(out, "PS{}", number.saturating_sub(1));
            chan = false;
        }
        Source::Special(special) => {
            // `-1` is a constant of its own, so a negated integer is in parentheses.
            if (operand.neg || operand.abs) && matches!(special, SpecialSel::OneInt | SpecialSel::MinusOneInt) {
                let _ = write!(out, "({})", special.name());
            } else {
                out.push_str(special.name());
            }
            chan = false;
        }
    }
    if relative {
        print_indexed(out, operand.relative, mode);
    } else {
        said.relative = false;
    }
    if chan {
        out.push('.');
        out.push_str(operand.chan.name());
    } else {
        said.chan = Chan::X;
    }
    if operand.abs {
        out.push('|');
    }
    said
}

/// A parsed operand: fields, and values that depend on the whole group.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParsedOperand {
    pub(super) operand: Operand,
    pub(super) index: Option<IndexMode>,
    /// A literal: its bits, and its place if the text says one.
    pub(super) literal: Option<(u32, Option<Chan>)>,
    /// The group number after PV or PS.
    pub(super) previous: Option<u32>,
    pub(super) span: Span,
}

fn number_operand(text: &str) -> Option<Result<SpecialSel, u32>> {
    if let Some(special) = SpecialSel::ALL.iter().find(|s| s.name() == text) {
        return Some(Ok(*special));
    }
    if text.starts_with("0x") || text.starts_with("0X") {
        return Some(Err(u32::try_from(parse_integer(text)?).ok()?));
    }
    let float = text.strip_suffix(['f', 'F']);
    if float.is_some() || text.contains(['.', 'e', 'E']) {
        let value: f32 = float.unwrap_or(text).parse().ok()?;
        return Some(match value.to_bits() {
            0 => Ok(SpecialSel::Zero),
            bits if bits == 1f32.to_bits() => Ok(SpecialSel::One),
            bits if bits == 0.5f32.to_bits() => Ok(SpecialSel::Half),
            bits => Err(bits),
        });
    }
    Some(match text.parse::<u32>().ok()? {
        0 => Ok(SpecialSel::Zero),
        1 => Ok(SpecialSel::OneInt),
        n => Err(n),
    })
}

/// The source of an operand, without sign, bars and element.
struct Named {
    source: Source,
    index: Option<IndexMode>,
    /// The bits of a literal.
    literal: Option<u32>,
    /// The group number after PV or PS.
    previous: Option<u32>,
    /// Whether an element must follow.
    needs_chan: bool,
    /// Whether the sign is part of the number.
    took_sign: bool,
}

impl Named {
    fn plain(source: Source) -> Self {
        Self { source, index: None, literal: None, previous: None, needs_chan: true, took_sign: false }
    }

    fn constant(special: SpecialSel) -> Self {
        Self { needs_chan: false, ..Self::plain(Source::Special(special)) }
    }

    fn literal(bits: u32) -> Self {
        Self { literal: Some(bits), ..Self::constant(SpecialSel::Literal) }
    }
}

/// Reads an operand.
pub(super) fn parse_operand(c: &mut Cursor<'_>, names: &Names) -> Parsed<ParsedOperand> {
    c.peek();
    let start = c.place();
    let sign = c.eat(b'-');
    let abs = c.eat(b'|');
    c.peek();
    let at = c.place();
    let named = if c.eat_adjacent(b'(') {
        parse_parenthesised(c, at)?
    } else if let Some(text) = c.number_text() {
        parse_number(c, at, text, sign && !abs)?
    } else {
        parse_named(c, at, names)?
    };
    let closed = !abs || c.eat_adjacent(b'|');
    let chan = if c.eat_adjacent(b'.') {
        let Some(chan) = chan_from_byte(c.next_byte()) else {
            return c.fail("syntax", start, "an element is expected behind the dot: x, y, z or w");
        };
        c.eat_adjacent(c.next_byte());
        Some(chan)
    } else {
        None
    };
    if !closed && !c.eat(b'|') {
        return c.fail("syntax", start, "the closing bar of the absolute value is missing");
    }
    if named.needs_chan && chan.is_none() {
        return c.fail("operand", start, "the operand needs an element: .x, .y, .z or .w");
    }
    Ok(ParsedOperand {
        operand: Operand {
            source: named.source,
            relative: named.index.is_some(),
            chan: chan.unwrap_or(Chan::X),
            neg: sign && !named.took_sign,
            abs,
        },
        index: named.index,
        literal: named.literal.map(|bits| (bits, chan)),
        previous: named.previous,
        span: c.span(start),
    })
}

/// Reads `(0xHEX, float)`, or an integer constant in parentheses, after the first of them.
fn parse_parenthesised(c: &mut Cursor<'_>, at: usize) -> Parsed<Named> {
    if c.eat(b'-') {
        // (-1): the integer constant -1, which a sign in front negates.
        if c.integer("a number", 1)? != 1 {
            return c.fail("syntax", at, "only -1 can stand in parentheses without its bits");
        }
        c.expect(b')', "behind the number")?;
        return Ok(Named::constant(SpecialSel::MinusOneInt));
    }
    let text = c.number_text().unwrap_or_default();
    if text == "1" && c.eat(b')') {
        return Ok(Named::constant(SpecialSel::OneInt));
    }
    let bits = parse_integer(text).and_then(|b| u32::try_from(b).ok()).filter(|_| text.starts_with("0x"));
    let Some(bits) = bits else {
        return c.fail("syntax", at, "a literal is written `(0xHEX, float)`");
    };
    if c.eat(b',') {
        let negative = c.eat(b'-');
        c.peek();
        let value_at = c.place();
        let text = c.number_text().or_else(|| c.word()).unwrap_or_default();
        let value: Option<f32> = text.strip_suffix(['f', 'F']).unwrap_or(text).parse().ok();
        let value = value.map(|v| if negative { -v } else { v });
        let held = f32::from_bits(bits);
        let agrees = match value {
            Some(v) => v.is_nan() || held.is_nan() || v == held || (v - held).abs() <= held.abs() * 1e-3,
            // `inf` and `NaN` may lose their suffix to the name.
            None => held.is_nan() || held.is_infinite(),
        };
        if !agrees {
            let span = c.span(value_at);
            let message = format!("0x{bits:08X} is {held:?}, not {text}; the bits count");
            c.report(Diagnostic::warning("literal", message).at(span, ""));
        }
    }
    c.expect(b')', "behind the literal")?;
    Ok(Named::literal(bits))
}

/// Makes an inline constant or a literal of a number; `negative` means that a sign precedes it.
fn parse_number(c: &mut Cursor<'_>, at: usize, text: &str, negative: bool) -> Parsed<Named> {
    match number_operand(text) {
        Some(Ok(SpecialSel::OneInt)) if negative => {
            Ok(Named { took_sign: true, ..Named::constant(SpecialSel::MinusOneInt) })
        }
        Some(Ok(special)) => Ok(Named::constant(special)),
        // A decimal integer's sign belongs to its bits; a float's is the operand's modifier.
        Some(Err(bits)) if negative && text.bytes().all(|b| b.is_ascii_digit()) => {
            Ok(Named { took_sign: true, ..Named::literal(bits.wrapping_neg()) })
        }
        Some(Err(bits)) => Ok(Named::literal(bits)),
        None => c.fail("syntax", at, format!("`{text}` is not a number")),
    }
}

/// Reads a register, a constant, PV, PS, or a name of the source.
fn parse_named(c: &mut Cursor<'_>, at: usize, names: &Names) -> Parsed<Named> {
    let word = c.word().unwrap_or_default();
    let (letters, digits) = word.split_at(word.find(|ch: char| ch.is_ascii_digit()).unwrap_or(word.len()));
    let number: Option<u32> = if digits.is_empty() { None } else { digits.parse().ok() };
    let whole = digits.is_empty() || number.is_some();
    let mut base = 0;
    let mut index = None;
    let source = match letters {
        "R" if whole => {
            index = indexed(c, number, &mut base)?;
            register(c, at, base)?
        }
        "C" if whole => {
            index = indexed(c, number, &mut base)?;
            Source::Constant(bounded(c, at, "a constant of the constant file", base, 255)?)
        }
        "KC" if matches!(number, Some(0 | 1)) => {
            index = bracketed(c, &mut base)?;
            let set = u8::from(number == Some(1));
            Source::Kcache { set, index: bounded(c, at, "a constant of locked lines", base, 31)? }
        }
        "PV" if whole => return Ok(Named { previous: number, ..Named::plain(Source::Special(SpecialSel::Pv)) }),
        "PS" if whole => return Ok(Named { previous: number, ..Named::constant(SpecialSel::Ps) }),
        "SRC" if digits.is_empty() && c.next_byte() == b'[' => {
            index = bracketed(c, &mut base)?;
            match u16::try_from(base) {
                Ok(sel) if sel < 512 => Source::from_sel(sel),
                _ => return c.fail("range", at, format!("a source select is 0 to 511, not {base}")),
            }
        }
        _ => {
            let Some((kind, first)) = names.get(word) else {
                if names.is_refused(word) {
                    return Err(Reported);
                }
                if let Some(instead) = super::dialects::instead(word).filter(|_| c.next_byte() == b'(') {
                    let d = Diagnostic::error("operand", format!("an operand is expected here, not `{word}(`"));
                    let span = c.span(at);
                    c.report(d.at(span, "").help(instead));
                    return Err(Reported);
                }
                let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
                let examples = "R5.x, KC0[4].x, C3.x, PV.x, PS, 1.0f, (0x3F000000, 0.5f)";
                return c.fail("operand", at, format!("an operand is expected here, not {found}: {examples}"));
            };
            base = u32::from(first);
            if c.next_byte() == b'[' {
                index = indexed(c, Some(base), &mut base)?;
            }
            match kind {
                SymbolKind::Gpr => register(c, at, base)?,
                SymbolKind::Constant => Source::Constant(bounded(c, at, "a constant", base, 255)?),
                SymbolKind::Kcache(set) => {
                    Source::Kcache { set, index: bounded(c, at, "a constant of locked lines", base, 31)? }
                }
                SymbolKind::Resource | SymbolKind::Sampler | SymbolKind::Buffer => {
                    return c.fail("operand", at, format!("`{word}` is not a register or constant"));
                }
            }
        }
    };
    Ok(Named { index, ..Named::plain(source) })
}

/// Reads `[4]`, `[AL+4]` or `[4][AL]`.
fn bracketed(c: &mut Cursor<'_>, base: &mut u32) -> Parsed<Option<IndexMode>> {
    let inside = indexed(c, None, base)?;
    let behind = if c.next_byte() == b'[' { indexed(c, Some(*base), base)? } else { None };
    Ok(behind.or(inside))
}

/// Reads the index after a name that has its number (`R5[AR.x]`), or with the number inside (`R[AL+5]`).
pub(super) fn indexed(c: &mut Cursor<'_>, number: Option<u32>, base: &mut u32) -> Parsed<Option<IndexMode>> {
    *base = number.unwrap_or(0);
    if c.eat_adjacent(b'[') {
        return parse_index(c, base);
    }
    if number.is_none() {
        let start = c.place();
        return c.fail("operand", start.saturating_sub(1), "a number is expected behind the name");
    }
    Ok(None)
}

pub(super) fn bounded(c: &mut Cursor<'_>, at: usize, what: &str, value: u32, max: u8) -> Parsed<u8> {
    match u8::try_from(value) {
        Ok(v) if v <= max => Ok(v),
        _ => c.fail("range", at, format!("{what} is 0 to {max}, not {value}")),
    }
}

fn register(c: &mut Cursor<'_>, at: usize, value: u32) -> Parsed<Source> {
    Ok(Source::Gpr(bounded(c, at, "a register", value, 127)?))
}
