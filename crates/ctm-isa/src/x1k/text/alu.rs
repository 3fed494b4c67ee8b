//! ALU and OUTPUT instructions: a line, parsed into the two halves.

use super::Parse;
use super::attrs::Attrs;
use super::halves::{both, single};
use super::lexer::{Cursor, Tok, unknown_word};
use super::mnemonics::{Mnemonic, mnemonics};
use super::names::{Names, RegisterFile};
use super::operand::{mask, operand};
use super::pair::{Dests, Pair, Predicate, WrittenHalf};
use crate::diag::Diagnostic;
use crate::x1k::ops::{AluResultSel, CompareOp, InstType, Omod, PredSel, RgbOp};

/// The names of the comparisons with zero.
pub(super) const COMPARISONS: [(&str, CompareOp); 4] =
    [("eq", CompareOp::Equal), ("lt", CompareOp::Less), ("ge", CompareOp::GreaterEqual), ("ne", CompareOp::NotEqual)];

fn comparison(cursor: &mut Cursor<'_, '_>) -> Parse<CompareOp> {
    let span = cursor.span();
    let word = cursor.word("a comparison: eq, lt, ge or ne")?;
    COMPARISONS.iter().find(|(name, _)| *name == word).map(|c| c.1).ok_or_else(|| {
        let help = match word {
            "gt" => Some("change the sign of the value and compare with `lt`"),
            "le" => Some("change the sign of the value and compare with `ge`"),
            _ => None,
        };
        let finding =
            Diagnostic::error("comparison", format!("`{word}` is not a comparison with zero: eq, lt, ge and ne are"))
                .at(span, "")
                .cite("CTM §3.3.9");
        Box::new(match help {
            Some(help) => finding.help(help),
            None => finding,
        })
    })
}

/// Parses `(p.r)`, `(!p.rgba)`, `(p.r | !p.a)`, `(always)`, if one follows.
pub(super) fn predicate(cursor: &mut Cursor<'_, '_>) -> Parse<Option<(Predicate, Predicate)>> {
    if !cursor.eat('(') {
        return Ok(None);
    }
    let rgb = predicate_bits(cursor)?;
    let alpha = if cursor.eat('|') { predicate_bits(cursor)? } else { rgb };
    cursor.expect(')', "after the predicate")?;
    Ok(Some((rgb, alpha)))
}

pub(super) fn predicate_bits(cursor: &mut Cursor<'_, '_>) -> Parse<Predicate> {
    if cursor.eat_word("always") {
        return Ok(Predicate::NONE);
    }
    let start = cursor.span();
    let invert = cursor.eat('!');
    let wrong = |cursor: &Cursor<'_, '_>| {
        Box::new(
            Diagnostic::error("predicate", "a predicate is p.rgba, p.r, p.g, p.b or p.a, with `!` for its inverse")
                .at(cursor.span_from(start), "")
                .cite("CTM §3.3.6"),
        )
    };
    if !cursor.eat_word("p") {
        return Err(cursor.unexpected("a predicate such as `p.r` or `!p.rgba`"));
    }
    let sel = match cursor.eat_dotted() {
        Some(("rgba", _)) => PredSel::Rgba,
        Some(("r", _)) => PredSel::Rrrr,
        Some(("g", _)) => PredSel::Gggg,
        Some(("b", _)) => PredSel::Bbbb,
        Some(("a", _)) => PredSel::Aaaa,
        Some(_) | None => return Err(wrong(cursor)),
    };
    Ok(Predicate { sel, invert })
}

/// `p.r`, `!p.rgba` or `always`.
pub(super) fn print_predicate(predicate: Predicate) -> String {
    let bits = match predicate.sel {
        // INV without a predicate has no effect; it is printed as a raw field.
        PredSel::None => return "always".to_owned(),
        PredSel::Rgba => "rgba",
        PredSel::Rrrr => "r",
        PredSel::Gggg => "g",
        PredSel::Bbbb => "b",
        PredSel::Aaaa => "a",
    };
    format!("{}p.{bits}", if predicate.invert { "!" } else { "" })
}

fn is_destination_only(cursor: &Cursor<'_, '_>, names: &Names<'_>) -> bool {
    match cursor.peek() {
        Some(Tok::Word("res" | "w" | "umrt" | "p")) => true,
        Some(Tok::Word(word)) => names.file_of(word) == Some(RegisterFile::Output),
        _ => false,
    }
}

fn destination<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>, dests: &mut Dests) -> Parse<()> {
    let start = cursor.span();
    match cursor.peek() {
        Some(Tok::Word("_")) => cursor.advance(),
        Some(Tok::Word("w")) => {
            cursor.advance();
            dests.w = true;
        }
        Some(Tok::Word("res")) => {
            cursor.advance();
            cursor.expect('(', "and the channel and comparison of the ALU result, such as `res(r ge)`")?;
            let channel = if cursor.eat_word("a") {
                AluResultSel::Alpha
            } else if cursor.eat_word("r") {
                AluResultSel::Red
            } else {
                return Err(cursor.unexpected("the channel of the ALU result, `r` or `a`,"));
            };
            let result = (channel, comparison(cursor)?);
            cursor.expect(')', "after the ALU result")?;
            if dests.result.replace(result).is_some() {
                return Err(Box::new(
                    Diagnostic::error("destination", "an instruction has one ALU result")
                        .at(start, "")
                        .cite("CTM §3.3.10"),
                ));
            }
        }
        Some(Tok::Word("p")) => {
            cursor.advance();
            let mask = mask(cursor)?;
            cursor.expect('(', "and the comparison that sets the predicate bits, such as `p.r(lt)`")?;
            let op = comparison(cursor)?;
            cursor.expect(')', "after the comparison")?;
            dests.predicates.push((op, mask, cursor.span_from(start)));
        }
        Some(Tok::Word("umrt")) => {
            cursor.advance();
            cursor.expect('[', "and `same` or `each`")?;
            let span = cursor.span();
            let target = match cursor.word("`same` or `each`")? {
                "same" => 0,
                "each" => 2,
                other => {
                    return Err(unknown_word(
                        "destination",
                        "a kind of uncached write",
                        other,
                        span,
                        &["same", "each"],
                    ));
                }
            };
            cursor.expect(']', "after the kind of uncached write")?;
            dests.uncached = true;
            dests.outputs.push((target, mask(cursor)?, cursor.span_from(start)));
        }
        _ => {
            let register = names.register(cursor, "a destination")?;
            let mask = mask(cursor)?;
            let span = cursor.span_from(start);
            match register.file {
                RegisterFile::Temp => dests.temp = Some((register.index, register.relative, mask)),
                RegisterFile::Output => dests.outputs.push((register.index, mask, span)),
                other => {
                    return Err(Box::new(
                        Diagnostic::error("destination", format!("{} cannot be written", other.what()))
                            .at(span, "")
                            .cite("CTM §3.3.7")
                            .help("destinations are r0 to r127, o0 to o3, p.mask(comparison), res(channel comparison) and w"),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The equivalent of an operation of other assemblers: ARB programs, Direct3D, TGSI.
#[rustfmt::skip]
static OTHER_DIALECTS: &[(&str, &str)] = &[
    ("div", "multiply by the reciprocal: `rcp r1, r2.r`, then `mul r0, r0, r1`"),
    ("sqrt", "`rsq r1, |r2.r|`, then `rcp r1, r1.r`"),
    ("pow", "`ln2 r1, r2.r`, `mul r1, r1, r3`, then `ex2 r1, r1.r`"),
    ("exp", "`ex2 r0, r1.r`: two to the power of r1.r"),
    ("log", "`ln2 r0, r1.r`: the logarithm to base two"),
    ("slt", "subtract and choose: `sub r2, r0, r1`, then `cmp r0, 0, 1, r2` (third operand at or above 0: the first)"),
    ("sge", "subtract and choose: `sub r2, r0, r1`, then `cmp r0, 1, 0, r2` (third operand at or above 0: the first)"),
    ("abs", "bars take the absolute value of an operand: `mov r0, |r1|`"),
    ("neg", "a sign negates an operand: `mov r0, -r1`"),
    ("flr", "`frc r1, r0`, then `sub r0, r0, r1`"),
    ("floor", "`frc r1, r0`, then `sub r0, r0, r1`"),
    ("frac", "`frc r0, r1`"),
    ("dot", "`dp3` and `dp4`"),
    ("kil", "`texkill`"),
    ("kill", "`texkill`"),
    ("tex2d", "`tex r0, s0, r1.rg`"),
    ("texld", "`tex r0, s0, r1.rg`"),
    ("def", "`.const` names constants and says their values"),
    ("dcl", "`.input`, `.output` and `.const` declare"),
];

pub(super) fn other_dialect(word: &str) -> Option<String> {
    let small = word.to_ascii_lowercase();
    if let Some(plain) = small.strip_suffix("_sat").filter(|plain| Mnemonic::of(plain).is_some()) {
        return Some(format!("a clamped result has `sat` at the end of the line: `{plain} r0, r1 sat`"));
    }
    OTHER_DIALECTS.iter().find(|row| row.0 == small).map(|row| row.1.to_owned())
}

/// Parses mnemonic, destinations, operands, modifiers and attributes of a statement, up to `|` or the end.
fn half<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>, attrs: &mut Attrs, beside_dp4: bool) -> Parse<WrittenHalf> {
    let predicate = predicate(cursor)?;
    let start = cursor.span();
    let word = cursor.word("an instruction")?;
    let Some(mnemonic) = Mnemonic::of(word) else {
        if let Some(instead) = other_dialect(word) {
            let finding = Diagnostic::error("mnemonic", format!("`{word}` is not an instruction of the ALU"));
            return Err(Box::new(finding.at(start, "").cite("CTM §3.3.4").help(instead)));
        }
        let known: Vec<&str> = mnemonics().map(|m| m.0).collect();
        return Err(unknown_word("mnemonic", "an instruction of the ALU", word, start, &known));
    };
    let mut dests = Dests::default();
    let mut operands = Vec::new();
    if mnemonic != Mnemonic::Idle {
        let before = cursor.span();
        destination(cursor, names, &mut dests)?;
        let mut more = cursor.eat(',');
        while more && is_destination_only(cursor, names) {
            destination(cursor, names, &mut dests)?;
            more = cursor.eat(',');
        }
        dests.span = cursor.span_from(before);
        while more {
            operands.push(operand(cursor, names)?);
            more = cursor.eat(',');
        }
    }
    if let (Some(Tok::Word(next)), true) = (cursor.peek(), operands.len() < mnemonic.operands().0)
        && names.is_register(next)
    {
        let message = format!("`,` is missing in front of `{next}`");
        return Err(Box::new(Diagnostic::error("syntax", message).at(cursor.span(), "")));
    }
    let span = cursor.span_from(start);
    let (mut least, mut most) = mnemonic.operands();
    if beside_dp4 {
        // A and B of the alpha half are the fourth pair of the DP4, whatever the alpha half does with them.
        (least, most) = (least.min(2), most.max(2));
    }
    if operands.len() < least || operands.len() > most {
        let takes = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        let finding = Diagnostic::error(
            "operand",
            format!("`{word}` takes {takes} operand{plural} besides the destination, found {}", operands.len()),
        )
        .at(span, "")
        .cite("CTM §3.3.4");
        let reads_output = operands.len() < least && dests.temp.is_some() && !dests.outputs.is_empty();
        return Err(Box::new(if reads_output {
            finding.help("an output is always a destination: it cannot be read")
        } else {
            finding
        }));
    }
    let mut written = WrittenHalf { mnemonic, span, predicate, dests, operands, omod: None, clamp: false };
    while !cursor.is_at_end() && !cursor.at_punct('|') {
        modifier(cursor, names, &mut written, attrs)?;
    }
    Ok(written)
}

/// `*2`, `/4`, `raw`, `sat`, or an attribute.
fn modifier<'a>(
    cursor: &mut Cursor<'_, 'a>,
    names: &Names<'a>,
    written: &mut WrittenHalf,
    attrs: &mut Attrs,
) -> Parse<()> {
    let start = cursor.span();
    let multiply = cursor.at_punct('*');
    if multiply || cursor.at_punct('/') {
        cursor.advance();
        let by = cursor.number("2, 4 or 8")?.integer;
        written.omod = Some(match (multiply, by) {
            (true, Some(2)) => Omod::U2,
            (true, Some(4)) => Omod::U4,
            (true, Some(8)) => Omod::U8,
            (false, Some(2)) => Omod::D2,
            (false, Some(4)) => Omod::D4,
            (false, Some(8)) => Omod::D8,
            _ => {
                return Err(Box::new(
                    Diagnostic::error("omod", "the output modifiers are *2, *4, *8, /2, /4, /8 and raw")
                        .at(cursor.span_from(start), "")
                        .cite("CTM §3.3.5"),
                ));
            }
        });
    } else if cursor.eat_word("raw") {
        written.omod = Some(Omod::Disabled);
    } else if cursor.eat_word("sat") {
        written.clamp = true;
    } else {
        attrs.parse(cursor, names, &[InstType::Alu, InstType::Output])?;
    }
    Ok(())
}

/// Parses a whole line: one statement, or two with `|` between them.
pub(super) fn parse<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>, uncached: bool) -> Parse<(Pair, Attrs)> {
    let mut attrs = Attrs::default();
    let first = half(cursor, names, &mut attrs, false)?;
    let beside_dp4 = first.mnemonic == Mnemonic::Dot(RgbOp::Dp4);
    let second = if cursor.eat('|') { Some(half(cursor, names, &mut attrs, beside_dp4)?) } else { None };
    if !cursor.is_at_end() {
        return Err(cursor.unexpected("the end of the line (an instruction has two halves)"));
    }
    for written in std::iter::once(&first).chain(&second) {
        check_kinds(written, uncached)?;
    }
    let halves = || std::iter::once(&first).chain(&second);
    let outputs = halves().find_map(|h| h.dests.outputs.first());
    // The conditional value belongs to OUTPUT instructions, but an ALU instruction can carry its bit.
    let is_output = outputs.is_some() || halves().any(|h| h.dests.w) && attrs.kind != Some(InstType::Alu);
    let predicates = halves().find_map(|h| h.dests.predicates.first());
    if let (true, Some((_, _, span))) = (is_output || attrs.kind == Some(InstType::Output), predicates) {
        return Err(Box::new(
            Diagnostic::error("destination", "an instruction sets predicate bits or writes outputs, not both")
                .at(*span, "")
                .cite("CTM §3.3.9")
                .help("use a second instruction for one of them"),
        ));
    }
    if let (Some(InstType::Alu), Some((_, _, span))) = (attrs.kind, outputs) {
        return Err(Box::new(
            Diagnostic::error("attribute", "an instruction that writes an output is no `alu` instruction")
                .at(*span, "")
                .cite("CTM §3.1"),
        ));
    }
    let mut pair = match second {
        None => single(first)?,
        Some(second) => both(first, second)?,
    };
    pair.kind = attrs.kind.take().unwrap_or(if is_output { InstType::Output } else { InstType::Alu });
    Ok((pair, attrs))
}

fn check_kinds(written: &WrittenHalf, uncached: bool) -> Parse<()> {
    let Some(&(_, _, span)) = written.dests.outputs.first() else { return Ok(()) };
    if written.dests.uncached == uncached {
        return Ok(());
    }
    let (message, help) = if uncached {
        (
            "a program with uncached writes cannot write o0 to o3",
            "write `umrt[each]` or `umrt[same]`, or remove `.uncached`",
        )
    } else {
        ("`umrt` is for programs with uncached writes", "add the directive `.uncached`, or write o0 to o3")
    };
    Err(Box::new(Diagnostic::error("destination", message).at(span, "").cite("CTM §3.3.8").help(help)))
}
