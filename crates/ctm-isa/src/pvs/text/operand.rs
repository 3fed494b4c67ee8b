//! Sources and destinations of an instruction: printed and parsed.

use super::names::{self, RegisterNames};
use crate::diag::{Diagnostic, Span};
use crate::lexer::{Cursor, Parse, Tok};
use crate::pvs::access::WrittenFile;
use crate::pvs::formats::{OpDst, Src};
use crate::pvs::inst::RegisterAddress;
use crate::pvs::ops::{DstType, Select, SrcType};

/// The letter of a selected component.
const fn letter(select: Select) -> char {
    match select {
        Select::X => 'x',
        Select::Y => 'y',
        Select::Z => 'z',
        Select::W => 'w',
        Select::Zero => '0',
        Select::One => '1',
        Select::Unused => '_',
    }
}

fn select(letter: char) -> Option<Select> {
    Select::ALL.iter().copied().find(|&select| self::letter(select) == letter)
}

const IDENTITY: [Select; 4] = [Select::X, Select::Y, Select::Z, Select::W];

/// The letters of a write mask.
pub(super) fn mask_letters(mask: u8) -> String {
    "xyzw".chars().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, letter)| letter).collect()
}

/// `r5.xyz`; a mask of nothing is `._`.
pub(super) fn print_destination(dst: &OpDst) -> String {
    let register = names::print(names::of_destination(WrittenFile::from(dst.reg_type)), dst.address());
    match dst.write_mask() {
        15 => register,
        0 => format!("{register}._"),
        mask => format!("{register}.{}", mask_letters(mask)),
    }
}

/// A parsed destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub reg_type: DstType,
    pub address: RegisterAddress,
    pub mask: u8,
    pub span: Span,
}

pub(super) fn parse_destination<'a>(cursor: &mut Cursor<'_, 'a>, names: &RegisterNames<'a>) -> Parse<Destination> {
    let register = names.register(cursor, true)?;
    let file = register.kind.destination.unwrap_or(WrittenFile::Temporary);
    let reg_type =
        DstType::ALL.iter().copied().find(|&kind| WrittenFile::from(kind) == file).unwrap_or(DstType::Temporary);
    let mask = match cursor.eat_dotted() {
        None => 15,
        Some(("_", _)) => 0,
        Some((text, span)) => {
            let places: Option<Vec<usize>> = text.chars().map(|c| "xyzw".find(c)).collect();
            match places {
                Some(places) if places.windows(2).all(|pair| pair[0] < pair[1]) => {
                    places.iter().fold(0, |mask, place| mask | 1 << place)
                }
                _ => {
                    let found = Diagnostic::error("mask", format!("`.{text}` is no write mask")).at(span, "");
                    return Err(Box::new(found.help("a write mask is some of xyzw in this order, or `_` for none")));
                }
            }
        }
    };
    Ok(Destination { reg_type, address: register.address, mask, span: register.span })
}

/// `-|v0.xyz1|`, or `v0(x, -y, 0, _)` where only some components are negated.
pub(super) fn print_source(src: &Src) -> String {
    let register = names::print(names::of_source(src.reg_type), src.address());
    let swizzle = src.swizzle();
    let bar = if src.abs { "|" } else { "" };
    match src.negate() {
        sign @ (0 | 15) => {
            let minus = if sign == 0 { "" } else { "-" };
            let letters: String = if swizzle == IDENTITY {
                String::new()
            } else if swizzle.iter().all(|&s| s == swizzle[0]) {
                format!(".{}", letter(swizzle[0]))
            } else {
                format!(".{}", swizzle.map(letter).iter().collect::<String>())
            };
            format!("{minus}{bar}{register}{letters}{bar}")
        }
        signs => {
            let components: Vec<String> = (0..4)
                .map(|i| format!("{}{}", if signs >> i & 1 == 1 { "-" } else { "" }, letter(swizzle[i])))
                .collect();
            format!("{bar}{register}{bar}({})", components.join(", "))
        }
    }
}

/// A parsed source; without a register it is the number 0 or 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParsedSource {
    pub register: Option<(SrcType, RegisterAddress)>,
    pub abs: bool,
    pub swizzle: [Select; 4],
    pub negate: u8,
    pub span: Span,
}

impl ParsedSource {
    /// The fields; a number takes the register of the source before it.
    pub fn fields(&self, before: Option<&Src>) -> Src {
        let mut src = match self.register {
            Some((kind, address)) => Src::register(kind, address),
            None => before.map_or(Src::ZERO_WORD, Src::idle_after),
        };
        src.abs = self.abs;
        src.set_swizzle(self.swizzle);
        src.set_negate(self.negate);
        src
    }
}

pub(super) fn parse_source<'a>(cursor: &mut Cursor<'_, 'a>, names: &RegisterNames<'a>) -> Parse<ParsedSource> {
    let start = cursor.span();
    let minus = cursor.eat('-');
    let negate = if minus { 15 } else { 0 };
    if let Some(Tok::Number(number)) = cursor.peek() {
        let swizzle = match (number.integer, number.value) {
            (Some(0), _) => Select::Zero,
            (Some(1), _) => Select::One,
            (_, 0.0) => Select::Zero,
            (_, 1.0) => Select::One,
            _ => {
                let found = Diagnostic::error("operand", "0 and 1 are the only numbers that an operand can be");
                let found = found.at(cursor.span(), "");
                return Err(Box::new(
                    found.help("put the number into a constant: `.const half = c0 (0.5, 0.5, 0.5, 0.5)`"),
                ));
            }
        };
        cursor.advance();
        let span = cursor.span_from(start);
        return Ok(ParsedSource { register: None, abs: false, swizzle: [swizzle; 4], negate, span });
    }
    let abs = cursor.eat('|');
    let register = names.register(cursor, false)?;
    let kind = register.kind.source.unwrap_or(SrcType::Temporary);
    let mut source =
        ParsedSource { register: Some((kind, register.address)), abs, swizzle: IDENTITY, negate, span: register.span };
    let dotted = cursor.eat_dotted();
    if let Some((text, span)) = dotted {
        source.swizzle = swizzle(text, span)?;
    }
    if abs {
        cursor.expect('|', "after the magnitude")?;
    }
    if cursor.at_punct('(') {
        let span = cursor.span();
        if minus || dotted.is_some() {
            let message = "components in parentheses have signs of their own, and take the place of a swizzle";
            return Err(Box::new(Diagnostic::error("operand", message).at(span, "")));
        }
        cursor.advance();
        for i in 0..4 {
            if i > 0 {
                cursor.expect(',', "between the four components")?;
            }
            if cursor.eat('-') {
                source.negate |= 1 << i;
            }
            source.swizzle[i] = component(cursor)?;
        }
        cursor.expect(')', "after the four components")?;
    }
    source.span = cursor.span_from(start);
    Ok(source)
}

/// One component within parentheses.
fn component(cursor: &mut Cursor<'_, '_>) -> Parse<Select> {
    let found = match cursor.peek() {
        Some(Tok::Word(word)) if word.len() == 1 => word.chars().next().and_then(select),
        Some(Tok::Number(number)) => match number.integer {
            Some(0) => Some(Select::Zero),
            Some(1) => Some(Select::One),
            _ => None,
        },
        _ => None,
    };
    match found {
        Some(select) => {
            cursor.advance();
            Ok(select)
        }
        None => Err(cursor.unexpected("a component (x, y, z, w, 0, 1 or _)")),
    }
}

/// One letter for every component, or four.
fn swizzle(text: &str, span: Span) -> Parse<[Select; 4]> {
    let selects: Option<Vec<Select>> = text.chars().map(select).collect();
    match selects.as_deref() {
        Some([one]) => Ok([*one; 4]),
        Some(&[x, y, z, w]) => Ok([x, y, z, w]),
        _ => {
            let found = Diagnostic::error("swizzle", format!("`.{text}` is no swizzle")).at(span, "");
            Err(Box::new(found.help(
                "a swizzle is one component for all four, or four, each one of x, y, z, w, 0, 1, or _ for a component that nothing reads",
            )))
        }
    }
}
