//! Shared by the fetches: registers, swizzles, resources, formats, fixed-point numbers.

use crate::diag::Diagnostic;
use crate::r700::ops::{Chan, DataFormat, EndianSwap, FormatComp, NumFormat, RelMode, Sel, SrfMode};
use crate::r700::program::SymbolKind;
use crate::r700::text::cursor::{Cursor, Parsed, Reported};
use crate::r700::text::names::Names;
use crate::r700::text::operand::chan_from_byte;
use crate::suggest::closest;
use crate::table::Field;
use std::fmt::Write as _;

/// Prints `.xyzw`, with `0`, `1` and `_`.
pub(in crate::r700::text) fn print_swizzle(out: &mut String, swizzle: [Sel; 4]) {
    out.push('.');
    swizzle.iter().for_each(|s| out.push_str(s.name()));
}

pub(super) fn sel_from_byte(byte: u8) -> Option<Sel> {
    match byte {
        b'0' => Some(Sel::Zero),
        b'1' => Some(Sel::One),
        b'_' => Some(Sel::Mask),
        byte => chan_from_byte(byte).and_then(|c| Sel::from_code(c.code())),
    }
}

/// Reads up to four elements after a dot; without a dot `.xyzw`. Missing elements are masked.
pub(in crate::r700::text) fn parse_swizzle(c: &mut Cursor<'_>) -> Parsed<[Sel; 4]> {
    if !c.eat_adjacent(b'.') {
        return Ok([Sel::X, Sel::Y, Sel::Z, Sel::W]);
    }
    let start = c.place();
    let mut swizzle = [Sel::Mask; 4];
    let mut n = 0;
    while let Some(sel) = sel_from_byte(c.next_byte()) {
        c.eat_adjacent(c.next_byte());
        if n == 4 {
            return c.fail("swizzle", start, "a swizzle has at most four elements");
        }
        swizzle[n] = sel;
        n += 1;
    }
    if n == 0 || c.next_byte().is_ascii_alphanumeric() {
        return c.fail("swizzle", start, "a swizzle is made of x, y, z, w, 0, 1 and _");
    }
    Ok(swizzle)
}

/// Reads `R5`, `R5[AL]`, `R[AL+5]` or a register's name.
pub(in crate::r700::text) fn parse_register(c: &mut Cursor<'_>, names: &Names) -> Parsed<(u8, bool)> {
    let (gpr, mode) = parse_register_mode(c, names)?;
    match mode {
        RelMode::None => Ok((gpr, false)),
        RelMode::Loop => Ok((gpr, true)),
        RelMode::Global => {
            let at = c.place();
            c.fail("index", at, "only data share operations have global registers")
        }
    }
}

pub(super) fn parse_register_mode(c: &mut Cursor<'_>, names: &Names) -> Parsed<(u8, RelMode)> {
    c.peek();
    let start = c.place();
    let word = c.word().unwrap_or_default();
    let digits = word.strip_prefix('R').filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
    let mut number: Option<u32> = match (digits, names.get(word)) {
        (Some(digits), _) => digits.parse().ok(),
        (None, Some((SymbolKind::Gpr, index))) => Some(u32::from(index)),
        (None, _) if names.is_refused(word) => return Err(Reported),
        (None, _) => {
            let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
            return c.fail("operand", start, format!("a register is expected here, not {found}: R5 or R5[AL]"));
        }
    };
    let mut mode = RelMode::None;
    if c.eat_adjacent(b'[') {
        loop {
            c.peek();
            let at = c.place();
            if c.peek().is_ascii_digit() {
                number = Some(number.unwrap_or(0).saturating_add(c.integer("a register", 127)?));
            } else {
                mode = match c.word() {
                    Some("AL" | "aL") => RelMode::Loop,
                    Some("GLOBAL") => RelMode::Global,
                    _ => return c.fail("index", at, "a fetch's register is relative to AL only"),
                };
            }
            if c.eat(b']') {
                break;
            }
            c.expect(b'+', "inside an index")?;
        }
        // `R[AL]` is register 0.
        number = number.or(Some(0));
    }
    match number.and_then(|n| u8::try_from(n).ok()).filter(|&n| n < 128) {
        Some(n) => Ok((n, mode)),
        None => c.fail("range", start, "registers are R0 to R127"),
    }
}

pub(super) fn print_register(out: &mut String, gpr: u8, mode: RelMode) {
    let _ = match mode {
        RelMode::None => write!(out, "R{gpr}"),
        RelMode::Loop => write!(out, "R{gpr}[AL]"),
        RelMode::Global => write!(out, "R{gpr}[GLOBAL]"),
    };
}

pub(super) fn rel(relative: bool) -> RelMode {
    if relative { RelMode::Loop } else { RelMode::None }
}

/// Reads a resource, sampler or buffer: `t18`, or a name.
pub(super) fn parse_id(c: &mut Cursor<'_>, names: &Names, letter: char, kind: SymbolKind, max: u8) -> Parsed<u8> {
    c.peek();
    let start = c.place();
    let word = c.word().unwrap_or_default();
    let index = match names.get(word) {
        Some((found, index)) if found == kind => Some(u32::from(index)),
        _ => word.strip_prefix(letter).and_then(|d| d.parse().ok()),
    };
    match index.and_then(|n| u8::try_from(n).ok()).filter(|&n| n <= max) {
        Some(n) => Ok(n),
        None if names.is_refused(word) => Err(Reported),
        None => {
            let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
            let what = match kind {
                SymbolKind::Resource => "a texture",
                SymbolKind::Sampler => "a sampler",
                _ => "a buffer",
            };
            c.fail("operand", start, format!("{what} is expected here, not {found}: {letter}0 to {letter}{max}"))
        }
    }
}

pub(super) fn parse_element(c: &mut Cursor<'_>) -> Parsed<Chan> {
    let start = c.place();
    let chan = if c.eat_adjacent(b'.') { chan_from_byte(c.next_byte()) } else { None };
    let Some(chan) = chan else {
        return c.fail("operand", start, "the source needs one element: .x, .y, .z or .w");
    };
    c.eat_adjacent(c.next_byte());
    Ok(chan)
}

pub(super) fn parenthesised(c: &mut Cursor<'_>, what: &str, max: u32) -> Parsed<u32> {
    c.expect(b'(', "here")?;
    let value = c.integer(what, max)?;
    c.expect(b')', "behind the number")?;
    Ok(value)
}

pub(super) fn named<T: Copy>(c: &mut Cursor<'_>, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
    c.expect(b'(', "here")?;
    c.peek();
    let start = c.place();
    // Some names begin with a digit.
    let text = c.word().or_else(|| c.number_text()).unwrap_or_default();
    let found = all.iter().copied().find(|&v| name(v) == text);
    let Some(value) = found else {
        let allowed: Vec<_> = all.iter().map(|&v| name(v)).collect();
        return c.fail("modifier", start, format!("`{text}` is none of {}", allowed.join(", ")));
    };
    c.expect(b')', "behind the name")?;
    Ok(value)
}

pub(super) fn narrow(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) data: DataFormat,
    pub(super) num: NumFormat,
    pub(super) comp: FormatComp,
    pub(super) srf: SrfMode,
}
impl Format {
    pub(super) const NONE: Self = Self {
        data: DataFormat::FmtInvalid,
        num: NumFormat::Norm,
        comp: FormatComp::Unsigned,
        srf: SrfMode::ZeroClampMinusOne,
    };

    pub(super) fn print(self, out: &mut String) {
        let data = self.data.name();
        let _ = write!(out, " FORMAT({} {}", data.strip_prefix("FMT_").unwrap_or(data), self.num.name());
        out.push(' ');
        out.push_str(self.comp.name());
        if self.srf != SrfMode::ZeroClampMinusOne {
            out.push(' ');
            out.push_str(self.srf.name());
        }
        out.push(')');
    }

    /// Reads `(32_32_FLOAT NORM UNSIGNED NO_ZERO)`: all but the first may be left out, numbers mean names.
    pub(super) fn parse(c: &mut Cursor<'_>) -> Parsed<Self> {
        c.expect(b'(', "behind FORMAT")?;
        c.peek();
        let start = c.place();
        let text = c.word().or_else(|| c.number_text()).unwrap_or_default();
        let bare = text.strip_prefix("FMT_").unwrap_or(text);
        let data = DataFormat::ALL
            .iter()
            .copied()
            .find(|f| f.name().strip_prefix("FMT_") == Some(bare))
            .or_else(|| bare.parse().ok().and_then(DataFormat::from_code));
        let Some(data) = data else {
            let near = closest(bare, DataFormat::ALL.iter().map(|f| f.name().strip_prefix("FMT_").unwrap_or(f.name())));
            let span = c.span(start);
            let mut d =
                Diagnostic::error("format", format!("`{text}` is not a data format")).at(span, "").cite("R700 §10.3");
            if let Some(near) = near {
                d = d.help(format!("did you mean `{near}`?"));
            }
            c.report(d);
            return Err(Reported);
        };
        let mut format = Self { data, ..Self::NONE };
        while !c.eat(b')') {
            let at = c.place();
            match c.word().or_else(|| c.number_text()) {
                Some("NORM") => format.num = NumFormat::Norm,
                Some("INT") => format.num = NumFormat::Int,
                Some("SCALED") => format.num = NumFormat::Scaled,
                Some("SIGNED") => format.comp = FormatComp::Signed,
                Some("UNSIGNED") => format.comp = FormatComp::Unsigned,
                Some("NO_ZERO" | "1") => format.srf = SrfMode::NoZero,
                Some("ZERO_CLAMP_MINUS_ONE" | "0") => format.srf = SrfMode::ZeroClampMinusOne,
                _ => {
                    return c.fail(
                        "format",
                        at,
                        "a format is a data format, NORM, INT or SCALED, SIGNED or UNSIGNED, and NO_ZERO",
                    );
                }
            }
        }
        Ok(format)
    }
}

/// Reads `(1.5)` as a two's complement field of at most 8 bits, `fraction` of them after the point.
pub(super) fn parse_fixed(c: &mut Cursor<'_>, field: Field, fraction: u32) -> Parsed<u8> {
    c.expect(b'(', "here")?;
    let negative = c.eat(b'-');
    c.peek();
    let start = c.place();
    let text = c.number_text().unwrap_or_default();
    let Ok(value) = text.strip_suffix(['f', 'F']).unwrap_or(text).parse::<f32>() else {
        return c.fail("syntax", start, "a number is expected here");
    };
    let scale = f32::from(1u8 << fraction);
    let scaled = if negative { -value } else { value } * scale;
    let bits = field.width();
    let limit = f32::from(1u8 << (bits - 1));
    if scaled.fract() != 0.0 || !(-limit..limit).contains(&scaled) {
        return c.fail(
            "range",
            start,
            format!("the value goes from {} to {} in steps of {}", -limit / scale, (limit - 1.0) / scale, 1.0 / scale),
        );
    }
    c.expect(b')', "behind the number")?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number in range, as two's complement"
    )]
    Ok((scaled as i8 as u8) & ((1u16 << bits) - 1) as u8)
}

pub(super) fn print_endian(out: &mut String, swap: EndianSwap) {
    if swap != EndianSwap::None {
        let _ = write!(out, " ENDIAN_SWAP({})", swap.name());
    }
}

pub(super) fn pad_name(out: &mut String, name: &str) {
    let _ = write!(out, "{name:<15} ");
}
