//! Operands of the ALU: source, swizzle, input modifier, presubtract, numbers; and masks.

use super::Parse;
use super::lexer::{Cursor, Number, Tok};
use super::names::{Names, RegisterFile};
use crate::diag::{Diagnostic, Span};
use crate::number::Short;
use crate::x1k::inst::{Source, inline_code, inline_constant};
use crate::x1k::ops::{Imod, SrcpOp, Swizzle};

/// Channels as bits: red 1, green 2, blue 4, alpha 8.
pub(super) type Mask = u8;
/// The channels of the RGB unit.
pub(super) const RGB: Mask = 7;
/// The channel of the alpha unit.
pub(super) const ALPHA: Mask = 8;

/// A presubtract (CTM §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presub {
    pub op: SrcpOp,
    pub src0: Source,
    /// For SUB and ADD.
    pub src1: Option<Source>,
}

/// The source of an operand's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Plain(Source),
    Presub(Presub),
}

/// One component of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comp {
    /// The operation reads no such component; the field holds 0.
    Absent,
    /// 0, 0.5, 1 or UNUSED, by the swizzle alone.
    Fixed(Swizzle),
    /// A number (its bits) whose place the assembler chooses.
    Number(u32),
    /// A channel of a source.
    Read(Base, Swizzle),
}

/// An operand of a unit, or of both: the RGB unit uses components 0 to 2, the alpha unit component 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub imod: Imod,
    pub comps: [Comp; 4],
}

impl Operand {
    /// An operand that the operation does not read.
    pub const ABSENT: Self = Self { imod: Imod::Off, comps: [Comp::Absent; 4] };

    /// The same constant in the wanted channels, 0 elsewhere.
    pub fn fixed(value: Swizzle, wanted: Mask) -> Self {
        Self { imod: Imod::Off, comps: spread(wanted, |_| Comp::Fixed(value)) }
    }
}

fn spread(wanted: Mask, mut comp: impl FnMut(usize) -> Comp) -> [Comp; 4] {
    std::array::from_fn(|i| if wanted & 1 << i != 0 { comp(i) } else { Comp::Fixed(Swizzle::Zero) })
}

/// The four channels, in order.
pub(super) const CHANNELS: [Swizzle; 4] = [Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];

/// The letter of a swizzle component.
pub(super) const fn letter(swizzle: Swizzle) -> char {
    match swizzle {
        Swizzle::R => 'r',
        Swizzle::G => 'g',
        Swizzle::B => 'b',
        Swizzle::A => 'a',
        Swizzle::Zero => '0',
        Swizzle::Half => 'h',
        Swizzle::One => '1',
        Swizzle::Unused => '_',
    }
}

fn swizzle_of(letter: char) -> Option<Swizzle> {
    Swizzle::ALL.iter().copied().find(|&s| self::letter(s) == letter)
}

/// A swizzle as it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters {
    list: [Swizzle; 4],
    len: usize,
}

impl Letters {
    fn as_slice(&self) -> &[Swizzle] {
        &self.list[..self.len]
    }
}

/// Parses `rgb`, `00r`, `a`, … (after a point).
fn letters(text: &str, span: Span) -> Parse<Letters> {
    let wrong = |message: String| Box::new(Diagnostic::error("swizzle", message).at(span, "").cite("CTM §3.3.3"));
    let mut found = Letters { list: [Swizzle::Zero; 4], len: 0 };
    for c in text.chars() {
        let Some(swizzle) = swizzle_of(c) else {
            let hint = wrong(format!("`{c}` is not a component: r, g, b, a, 0, h (one half) and 1 are"));
            return Err(match "xyzw".find(c) {
                Some(n) => {
                    Box::new((*hint).help(format!("the manual's letter for `{c}` is `{}`", letter(CHANNELS[n]))))
                }
                None => hint,
            });
        };
        if found.len == 4 {
            return Err(wrong(format!(
                "the swizzle `.{text}` has {} components, an operand has at most 4",
                text.len()
            )));
        }
        found.list[found.len] = swizzle;
        found.len += 1;
    }
    Ok(found)
}

/// Parses a write mask such as `.rg` or `._` (none), if one follows.
pub(super) fn mask(cursor: &mut Cursor<'_, '_>) -> Parse<Option<Mask>> {
    let Some((text, span)) = cursor.eat_dotted() else { return Ok(None) };
    if text == "_" {
        return Ok(Some(0));
    }
    let mut mask = 0;
    for c in text.chars() {
        let bit = "rgba".find(c).map_or(0, |n| 1u8 << n);
        if bit == 0 || mask >= bit {
            let finding = Diagnostic::error("mask", format!("`.{text}` is not a mask")).at(span, "");
            return Err(Box::new(
                finding
                    .cite("CTM §3.3.6")
                    .help("a mask names some of r, g, b, a, in this order; `._` is the empty one"),
            ));
        }
        mask |= bit;
    }
    Ok(Some(mask))
}

/// A mask as text, with its point; nothing for all four channels.
pub(super) fn print_mask(mask: Mask) -> String {
    match mask {
        15 => String::new(),
        0 => "._".to_owned(),
        _ => std::iter::once('.').chain((0..4).filter(|i| mask & 1 << i != 0).map(|i| letter(CHANNELS[i]))).collect(),
    }
}

/// An operand as it was written; [`Written::place`] fits it to the channels that want it.
#[derive(Clone, Debug)]
pub(super) struct WrittenOperand {
    imod: Imod,
    what: OperandForm,
    pub span: Span,
}

#[derive(Clone, Debug)]
enum OperandForm {
    /// A source or presubtract, and its swizzle.
    Base(Base, Option<Letters>),
    /// A number without sign, and its swizzle.
    Number(Number, Option<Letters>),
    /// `(x, y, …)`
    List(Vec<Comp>),
}

impl WrittenOperand {
    /// Spreads the operand over the `wanted` channels (not empty).
    ///
    /// One component goes to every requested channel; n components go to n requested channels in order; three (or
    /// four, with alpha) are the channels r, g, b (and a) themselves. Unused components read 0.
    pub fn place(&self, wanted: Mask) -> Parse<Operand> {
        let of_letters = |letters: &[Swizzle], read: &dyn Fn(Swizzle) -> Comp| -> Parse<[Comp; 4]> {
            let comps: Vec<Comp> = letters
                .iter()
                .map(|&s| match s {
                    Swizzle::R | Swizzle::G | Swizzle::B | Swizzle::A => read(s),
                    Swizzle::Zero | Swizzle::Half | Swizzle::One | Swizzle::Unused => Comp::Fixed(s),
                })
                .collect();
            self.place_list(&comps, wanted)
        };
        let comps = match &self.what {
            OperandForm::Base(base, None) => spread(wanted, |i| Comp::Read(*base, CHANNELS[i])),
            OperandForm::Base(base, Some(letters)) => of_letters(letters.as_slice(), &|s| Comp::Read(*base, s))?,
            OperandForm::Number(number, None) => {
                let comp = number_comp(*number);
                spread(wanted, |_| comp)
            }
            OperandForm::Number(number, Some(letters)) => {
                let Some(code) = inline_code(number.value) else {
                    return Err(Box::new(
                        Diagnostic::error(
                            "number",
                            format!("{} is not an inline constant and has no channels", number.value),
                        )
                        .at(self.span, "")
                        .cite("CTM §3.3.1")
                        .help("write it without a swizzle: it then gets a constant register"),
                    ));
                };
                let base = Base::Plain(Source::Inline { code, relative: false });
                of_letters(letters.as_slice(), &|s| Comp::Read(base, s))?
            }
            OperandForm::List(list) => self.place_list(list, wanted)?,
        };
        Ok(Operand { imod: self.imod, comps })
    }

    fn place_list(&self, list: &[Comp], wanted: Mask) -> Parse<[Comp; 4]> {
        let channels = wanted.count_ones() as usize;
        if list.len() == 1 {
            return Ok(spread(wanted, |_| list[0]));
        }
        if list.len() == channels {
            let mut next = list.iter();
            return Ok(spread(wanted, |_| next.next().copied().unwrap_or(Comp::Absent)));
        }
        let positional = if wanted & ALPHA == 0 { 3 } else { 4 };
        if list.len() == positional {
            return Ok(std::array::from_fn(|i| list.get(i).copied().unwrap_or(Comp::Fixed(Swizzle::Zero))));
        }
        let mut allowed = vec![1, channels, positional];
        allowed.dedup();
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        Err(Box::new(
            Diagnostic::error(
                "swizzle",
                format!("the operand has {} components, {} fit here", list.len(), allowed.join(" or ")),
            )
            .at(self.span, "")
            .cite("CTM §3.3.3")
            .help(format!("the result's channels are {}", print_mask(wanted).get(1..).unwrap_or("rgba"))),
        ))
    }

    /// How many components its swizzle or list names; 0 without one.
    pub fn letters(&self) -> usize {
        match &self.what {
            OperandForm::Base(_, letters) | OperandForm::Number(_, letters) => letters.map_or(0, |letters| letters.len),
            OperandForm::List(list) => list.len(),
        }
    }

    /// Whether the operand names a register or presubtract without a swizzle.
    pub fn is_bare(&self) -> bool {
        matches!(self.what, OperandForm::Base(_, None))
    }

    /// The register, its swizzle and no modifier: the operands that `lrp` can subtract.
    pub fn plain(&self) -> Option<(Source, Option<Letters>)> {
        match (&self.what, self.imod) {
            (OperandForm::Base(Base::Plain(source), letters), Imod::Off) => Some((*source, *letters)),
            _ => None,
        }
    }

    /// `a - b` as a presubtract with the swizzle of `a`.
    pub fn difference(a: (Source, Option<Letters>), b: Source, span: Span) -> Self {
        let base = Base::Presub(Presub { op: SrcpOp::Sub, src0: b, src1: Some(a.0) });
        Self { imod: Imod::Off, what: OperandForm::Base(base, a.1), span }
    }
}

impl PartialEq for Letters {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

fn number_comp(number: Number) -> Comp {
    match number.value {
        0.0 if number.value.is_sign_positive() => Comp::Fixed(Swizzle::Zero),
        0.5 => Comp::Fixed(Swizzle::Half),
        1.0 => Comp::Fixed(Swizzle::One),
        _ => Comp::Number(number.float_bits()),
    }
}

/// Parses an operand.
pub(super) fn operand<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<WrittenOperand> {
    let start = cursor.span();
    let negative = cursor.eat('-');
    let absolute = cursor.eat('|');
    let what = if cursor.at_punct('(') {
        parenthesis(cursor, names)?
    } else if let Some(Tok::Number(number)) = cursor.peek() {
        cursor.advance();
        OperandForm::Number(*number, swizzle(cursor)?)
    } else if let Some(Tok::Dotted(digits)) = cursor.peek()
        && digits.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(Box::new((*cursor.unexpected("an operand")).help(format!("write `0.{digits}`"))));
    } else {
        let source = source(cursor, names)?;
        OperandForm::Base(Base::Plain(source), swizzle(cursor)?)
    };
    if absolute {
        cursor.expect('|', "to end the absolute value")?;
    }
    let imod = match (negative, absolute) {
        (false, false) => Imod::Off,
        (true, false) => Imod::Neg,
        (false, true) => Imod::Abs,
        (true, true) => Imod::Nab,
    };
    Ok(WrittenOperand { imod, what, span: cursor.span_from(start) })
}

fn swizzle(cursor: &mut Cursor<'_, '_>) -> Parse<Option<Letters>> {
    cursor.eat_dotted().map(|(text, span)| letters(text, span)).transpose()
}

/// A temporary or constant register.
fn source<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Source> {
    let span = cursor.span();
    let register = names.register(cursor, "an operand")?;
    match register.file {
        RegisterFile::Temp => Ok(Source::Temp { index: register.index, relative: register.relative }),
        RegisterFile::Float => Ok(Source::Const { index: register.index, relative: register.relative }),
        RegisterFile::Input
        | RegisterFile::Output
        | RegisterFile::Int
        | RegisterFile::Bool
        | RegisterFile::Interpolant => {
            let finding =
                Diagnostic::error("operand", format!("{} cannot be an operand of the ALU", register.file.what()))
                    .at(span, "")
                    .cite("CTM §3.3.1");
            Err(Box::new(match register.file {
                RegisterFile::Input => finding.help("fetch it first: `tex r1, s0, r0.rg`"),
                _ => finding.help("operands are temporaries, floating-point constants and numbers"),
            }))
        }
    }
}

/// A source of a presubtract: a register or an inline constant.
fn presub_source<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Source> {
    let span = cursor.span();
    if let Some(Tok::Number(number)) = cursor.peek() {
        cursor.advance();
        return inline_code(number.value).map(|code| Source::Inline { code, relative: false }).ok_or_else(|| {
            Box::new(
                Diagnostic::error(
                    "number",
                    format!("{} is not an inline constant, so it cannot be presubtracted", number.value),
                )
                .at(span, "")
                .cite("CTM §3.3.2")
                .help("put it into a constant register with .const"),
            )
        });
    }
    source(cursor, names)
}

/// `(1 - 2*r0)`, `(r1 - r0)`, `(r1 + r0)`, `(1 - r0)` with a swizzle, or a list `(r0.r, c1.a, 0)`.
fn parenthesis<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<OperandForm> {
    if let Some(presub) = try_presub(cursor, names)? {
        return Ok(OperandForm::Base(Base::Presub(presub), swizzle(cursor)?));
    }
    cursor.expect('(', "to begin the list")?;
    let mut list = Vec::new();
    loop {
        let span = cursor.span();
        if list.len() == 4 {
            return Err(Box::new(Diagnostic::error("swizzle", "a list has at most 4 components").at(span, "")));
        }
        list.push(component(cursor, names)?);
        if !cursor.eat(',') {
            break;
        }
    }
    cursor.expect(')', "after the list")?;
    Ok(OperandForm::List(list))
}

/// A presubtract, if the parenthesis under the cursor is one: its first term is followed by `+` or `-`.
fn try_presub<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Option<Presub>> {
    let mut ahead = 1;
    ahead += match cursor.peek_after(ahead) {
        Some(Tok::Number(_)) => 1,
        Some(Tok::Word(_)) if matches!(cursor.peek_after(ahead + 1), Some(Tok::Punct('['))) => {
            let mut n = 2;
            while !matches!(cursor.peek_after(ahead + n), Some(Tok::Punct(']')) | None) {
                n += 1;
            }
            n + 1
        }
        Some(Tok::Word(_)) => 1,
        _ => return Ok(None),
    };
    let Some(Tok::Punct(sign @ ('+' | '-'))) = cursor.peek_after(ahead) else { return Ok(None) };
    cursor.advance();
    let start = cursor.span();
    let is_one = matches!(cursor.peek(), Some(Tok::Number(n)) if n.value == 1.0);
    let presub = if is_one && *sign == '-' {
        cursor.advance();
        cursor.advance();
        let double = matches!(cursor.peek_after(1), Some(Tok::Punct('*')));
        if double {
            let span = cursor.span();
            if cursor.number("the factor 2")?.value != 2.0 {
                return Err(Box::new(
                    Diagnostic::error("presubtract", "the factor of a presubtract is 2")
                        .at(span, "")
                        .cite("CTM §3.3.2")
                        .help("the sums are (1 - 2*a), (a - b), (a + b) and (1 - a)"),
                ));
            }
            cursor.advance();
        }
        let op = if double { SrcpOp::Bias } else { SrcpOp::Inv };
        Presub { op, src0: presub_source(cursor, names)?, src1: None }
    } else {
        let op = if *sign == '-' { SrcpOp::Sub } else { SrcpOp::Add };
        let src1 = Some(presub_source(cursor, names)?);
        cursor.advance();
        Presub { op, src0: presub_source(cursor, names)?, src1 }
    };
    if !cursor.eat(')') {
        return Err(Box::new(
            Diagnostic::error("presubtract", "this is not a sum that the presubtract can make")
                .at(cursor.span_from(start), "")
                .cite("CTM §3.3.2")
                .help("the sums are (1 - 2*a), (a - b), (a + b) and (1 - a), of registers without swizzles; the swizzle stands behind the parenthesis"),
        ));
    }
    Ok(Some(presub))
}

/// One component of a list.
fn component<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Comp> {
    let span = cursor.span();
    if cursor.eat_word("_") {
        return Ok(Comp::Fixed(Swizzle::Unused));
    }
    if cursor.eat('-') {
        let number = cursor.number("a number")?;
        return Ok(Comp::Number(number.float_bits() ^ 0x8000_0000));
    }
    let base = if cursor.at_punct('(') {
        match try_presub(cursor, names)? {
            Some(presub) => Base::Presub(presub),
            None => return Err(cursor.unexpected("a component such as `r0.r`, `c1.a`, `0` or `2.5`")),
        }
    } else if let Some(Tok::Number(number)) = cursor.peek() {
        if !matches!(cursor.peek_after(1), Some(Tok::Dotted(_))) {
            cursor.advance();
            return Ok(number_comp(*number));
        }
        Base::Plain(presub_source(cursor, names)?)
    } else {
        Base::Plain(source(cursor, names)?)
    };
    match swizzle(cursor)? {
        Some(one) if one.len == 1 && (one.list[0] as u32) < 4 => Ok(Comp::Read(base, one.list[0])),
        _ => Err(Box::new(
            Diagnostic::error("swizzle", "a component of a list names one channel")
                .at(cursor.span_from(span), "")
                .help("write `r0.g`, or `r0.rgb` without the parenthesis"),
        )),
    }
}

/// A register or inline constant as text.
pub(super) fn print_source(source: Source, constant: &dyn Fn(u8) -> Option<String>) -> String {
    match source {
        Source::Temp { index, relative: false } => format!("r{index}"),
        Source::Temp { index: 0, relative: true } => "r[aL]".to_owned(),
        Source::Temp { index, relative: true } => format!("r[aL+{index}]"),
        Source::Const { index, relative: false } => constant(index).unwrap_or_else(|| format!("c{index}")),
        Source::Const { index: 0, relative: true } => "c[aL]".to_owned(),
        Source::Const { index, relative: true } => format!("c[aL+{index}]"),
        Source::Inline { code, .. } => format!("{:?}", inline_constant(code)),
    }
}

fn print_base(base: Base, constant: &dyn Fn(u8) -> Option<String>) -> String {
    match base {
        Base::Plain(source) => print_source(source, constant),
        Base::Presub(Presub { op, src0, src1 }) => {
            let src0 = print_source(src0, constant);
            let src1 = src1.map_or_else(String::new, |s| print_source(s, constant));
            match op {
                SrcpOp::Bias => format!("(1 - 2*{src0})"),
                SrcpOp::Sub => format!("({src1} - {src0})"),
                SrcpOp::Add => format!("({src1} + {src0})"),
                SrcpOp::Inv => format!("(1 - {src0})"),
            }
        }
    }
}

/// Prints the components that are in the `wanted` channels, the shortest way that [`Written::place`] reads back.
pub(super) fn print_operand(operand: &Operand, wanted: Mask, constant: &dyn Fn(u8) -> Option<String>) -> String {
    let text = print_comps(&operand.comps, wanted, constant);
    match operand.imod {
        Imod::Off => text,
        Imod::Neg => format!("-{text}"),
        Imod::Abs => format!("|{text}|"),
        Imod::Nab => format!("-|{text}|"),
    }
}

fn print_comps(comps: &[Comp; 4], wanted: Mask, constant: &dyn Fn(u8) -> Option<String>) -> String {
    let in_unit = if wanted & ALPHA == 0 {
        RGB
    } else if wanted & RGB == 0 {
        ALPHA
    } else {
        15
    };
    let packed = (0..4).all(|i| (in_unit & !wanted) & 1 << i == 0 || comps[i] == Comp::Fixed(Swizzle::Zero));
    let shown = if packed { wanted } else { in_unit };
    let list: Vec<Comp> = (0..4).filter(|i| shown & 1 << i != 0).map(|i| comps[i]).collect();
    let all_equal = list.iter().all(|&c| c == list[0]);
    if all_equal && (packed || list[0] == Comp::Fixed(Swizzle::Zero)) {
        match list[0] {
            Comp::Fixed(Swizzle::Zero) => return "0".to_owned(),
            Comp::Fixed(Swizzle::Half) => return "0.5".to_owned(),
            Comp::Fixed(Swizzle::One) => return "1".to_owned(),
            Comp::Number(bits) => return Short(f32::from_bits(bits)).to_string(),
            Comp::Fixed(_) | Comp::Absent | Comp::Read(..) => {}
        }
    }
    let mut base = None;
    let one_base = list.iter().all(|&c| match c {
        Comp::Read(found, _) => *base.get_or_insert(found) == found,
        Comp::Fixed(_) | Comp::Absent => true,
        Comp::Number(_) => false,
    });
    match base {
        Some(base) if one_base => {
            let text = print_base(base, constant);
            // A bare name fills the wanted channels only, and the rest with 0.
            let identity = wanted == 15 && (0..4).all(|i| comps[i] == Comp::Read(base, CHANNELS[i]));
            if identity && !matches!(base, Base::Plain(Source::Inline { .. })) {
                return text;
            }
            let swizzle: String = list
                .iter()
                .map(|c| match c {
                    Comp::Read(_, s) | Comp::Fixed(s) => letter(*s),
                    Comp::Absent | Comp::Number(_) => '_',
                })
                .collect();
            format!("{text}.{swizzle}")
        }
        _ => {
            let texts: Vec<String> = list.iter().map(|&c| print_comp(c, constant)).collect();
            format!("({})", texts.join(", "))
        }
    }
}

fn print_comp(comp: Comp, constant: &dyn Fn(u8) -> Option<String>) -> String {
    match comp {
        Comp::Fixed(Swizzle::Zero) => "0".to_owned(),
        Comp::Fixed(Swizzle::Half) => "0.5".to_owned(),
        Comp::Fixed(Swizzle::One) => "1".to_owned(),
        Comp::Absent | Comp::Fixed(_) => "_".to_owned(),
        Comp::Number(bits) => Short(f32::from_bits(bits)).to_string(),
        Comp::Read(base, swizzle) => format!("{}.{}", print_base(base, constant), letter(swizzle)),
    }
}
