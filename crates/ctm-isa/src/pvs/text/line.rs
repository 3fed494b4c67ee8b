//! Instructions: printed and parsed.

use super::names::RegisterNames;
use super::operand::{Destination, ParsedSource, parse_destination, parse_source, print_destination, print_source};
use super::raw::{self, Raw};
use crate::diag::{Diagnostic, Span};
use crate::lexer::{Cursor, Parse, unknown_word};
use crate::pvs::access::{WrittenFile, dual_operands};
use crate::pvs::formats::{DualMath, OpDst, Src};
use crate::pvs::inst::{Inst, RegisterAddress, Third, Words};
use crate::pvs::ops::{Class, Component, MathOp, Op, VectorOp};

/// The mnemonic of a copy: `VE_ADD` with zeros of the same register.
pub(super) const MOV: &str = "mov";
/// Follows a mnemonic whose result is clamped to 0..1.
pub(super) const SAT: &str = "_sat";

/// The source that compilers write into place `n`, which the operation does not read: zeros of the register before it.
fn idle(op: Op, sources: &[Src], n: usize) -> Src {
    match n.checked_sub(1).and_then(|before| sources.get(before)) {
        Some(before) if op.info().class != Class::Nothing => before.idle_after(),
        _ => Src::ZERO_WORD,
    }
}

fn is_mov(inst: &Inst) -> bool {
    inst.op == Op::Vector(VectorOp::Add) && inst.sources[1] == inst.sources[0].idle_after()
}

/// The instruction as text, if there is one: everything but undecodable words and reserved bits.
pub(super) fn print(words: &Words) -> Option<String> {
    let inst = Inst::decode(words).ok()?;
    let info = inst.op.info();
    let mut text = match (inst.dst.pred_enable, inst.dst.pred_sense) {
        (false, _) => String::new(),
        (true, true) => "(p) ".to_owned(),
        (true, false) => "(!p) ".to_owned(),
    };
    let mov = is_mov(&inst);
    let clamped = if inst.op.is_math() { inst.dst.me_sat } else { inst.dst.ve_sat };
    let sat = if clamped { SAT } else { "" };
    text.push_str(&format!("{:<6}", format!("{}{sat}", if mov { MOV } else { info.mnemonic })));
    let mut operands = Vec::new();
    if info.class != Class::Nothing {
        operands.push(print_destination(&inst.dst));
    }
    let shown = |n: usize| info.reads_source(n) && !(mov && n == 1);
    operands.extend((0..3).filter(|&n| shown(n)).filter_map(|n| inst.source(n)).map(print_source));
    if !operands.is_empty() {
        text.push(' ');
        text.push_str(&operands.join(", "));
    }
    if let Some((op, dual)) = inst.dual() {
        let sat = if inst.dst.me_sat { SAT } else { "" };
        text.push_str(&format!(" + {}{sat}", op.info().mnemonic));
        if op.info().class != Class::Nothing {
            let component = dual.we_sel.name().to_ascii_lowercase();
            text.push_str(&format!(" at{}.{component}", dual.dst_offset));
        }
        for (second, used) in [false, true].into_iter().zip(dual_operands(op)) {
            if used {
                text.push_str(&format!(", {}", print_source(&dual.operand(second))));
            }
        }
    }
    let text = text.trim_end().to_owned();
    // The line says this much; the rest follows by the names of fields.
    let said = reread(&text)?;
    let rest = raw::differences(words, &said, inst.dual().is_some())?;
    Some(if rest.is_empty() { text } else { format!("{text}  {}", rest.join(" ")) })
}

/// The words that a line gives.
fn reread(text: &str) -> Option<Words> {
    let mut tokens = Vec::new();
    crate::lexer::tokens(text, 0, &mut tokens).ok()?;
    let mut cursor = Cursor::new(&tokens, text.len() as u32);
    let words = parse(&mut cursor, &RegisterNames::default()).ok()?;
    cursor.is_at_end().then_some(words)
}

/// Parses an instruction; the cursor is at its predicate or mnemonic.
pub(super) fn parse<'a>(cursor: &mut Cursor<'_, 'a>, names: &RegisterNames<'a>) -> Parse<Words> {
    let predicate = predicate(cursor)?;
    let (op, mov, clamped) = mnemonic(cursor)?;
    let info = op.info();
    let mut dst = OpDst::nothing();
    if let Some(sense) = predicate {
        (dst.pred_enable, dst.pred_sense) = (true, sense);
    }
    if clamped {
        *(if op.is_math() { &mut dst.me_sat } else { &mut dst.ve_sat }) = true;
    }
    let mut first = true;
    let mut comma = |cursor: &mut Cursor<'_, 'a>, what: &str| {
        if std::mem::take(&mut first) { Ok(()) } else { cursor.expect(',', &format!("and {what}")) }
    };
    if info.class != Class::Nothing {
        comma(cursor, "a destination")?;
        let Destination { reg_type, address, mask, .. } = parse_destination(cursor, names)?;
        dst.reg_type = reg_type;
        dst.set_address(address);
        dst.set_write_mask(mask);
    }
    let mut sources: Vec<Src> = Vec::with_capacity(3);
    for n in 0..3 {
        let src = if info.reads_source(n) && !(mov && n == 1) {
            comma(cursor, &format!("source {} of {}", n + 1, if mov { MOV } else { info.mnemonic }))?;
            parse_source(cursor, names)?.fields(sources.last())
        } else {
            idle(op, &sources, n)
        };
        sources.push(src);
    }
    let mut third = Third::Source(sources[2]);
    if cursor.at_punct('+') {
        let plus = cursor.span();
        cursor.advance();
        if !matches!(op, Op::Vector(_)) || info.reads_source(2) {
            let message = format!("no operation can be beside `{}`", info.mnemonic);
            let found = Diagnostic::error("dual-math", message).at(plus, "").cite("pvs-encoding §3");
            return Err(Box::new(found.help("math operations can be beside vector operations of at most two sources")));
        }
        let (math, dual, clamped) = parse_dual(cursor, names)?;
        dst.me_sat |= clamped;
        third = Third::Dual(math, dual);
    }
    let dual = matches!(third, Third::Dual(..));
    let mut words = Inst { op, dst, sources: [sources[0], sources[1]], third }.encode();
    let mut raws: Vec<Raw> = Vec::new();
    while raw::at_field(cursor) {
        raws.push(raw::parse(cursor, dual)?);
    }
    raws.iter().for_each(|raw| raw.apply(&mut words));
    if !cursor.is_at_end() {
        let expected = if cursor.at_punct(',') {
            let count = (0..3).filter(|&n| info.reads_source(n) && !(mov && n == 1)).count();
            let plural = if count == 1 { "" } else { "s" };
            format!("the end of the line (`{}` has {count} source{plural})", if mov { MOV } else { info.mnemonic })
        } else {
            "the end of the line, `+` or a field".to_owned()
        };
        return Err(cursor.unexpected(&expected));
    }
    Ok(words)
}

/// `(p)` or `(!p)`: the sense of the predicate.
fn predicate(cursor: &mut Cursor<'_, '_>) -> Parse<Option<bool>> {
    if !cursor.eat('(') {
        return Ok(None);
    }
    let sense = !cursor.eat('!');
    if !cursor.eat_word("p") {
        return Err(cursor.unexpected("`p` or `!p`"));
    }
    cursor.expect(')', "after the predicate")?;
    Ok(Some(sense))
}

/// The operation, whether it is `mov`, and whether the result is clamped. AMD's names are read as well as mnemonics.
fn mnemonic(cursor: &mut Cursor<'_, '_>) -> Parse<(Op, bool, bool)> {
    let span = cursor.span();
    let word = cursor.word("an instruction")?;
    let by_name = |word: &str| Op::all().find(|op| op.name().eq_ignore_ascii_case(word));
    let found = |word: &str| match word {
        MOV => Some((Op::Vector(VectorOp::Add), true)),
        _ => Op::from_mnemonic(word).or_else(|| by_name(word)).map(|op| (op, false)),
    };
    if let Some((op, mov)) = found(word) {
        return Ok((op, mov, false));
    }
    if let Some((op, mov)) = word.strip_suffix(SAT).and_then(found) {
        return Ok((op, mov, true));
    }
    let known: Vec<&str> = Op::all().map(|op| op.info().mnemonic).chain([MOV]).collect();
    Err(unknown_word("mnemonic", "an instruction", word, span, &known))
}

/// The operation beside a vector operation; the cursor follows `+`.
fn parse_dual<'a>(cursor: &mut Cursor<'_, 'a>, names: &RegisterNames<'a>) -> Parse<(MathOp, DualMath, bool)> {
    let start = cursor.span();
    let (op, _, clamped) = mnemonic(cursor)?;
    let span = cursor.span_from(start);
    let wrong = |message: String, span: Span| {
        Box::new(Diagnostic::error("dual-math", message).at(span, "").cite("pvs-encoding §3"))
    };
    let Op::Math(op) = op else {
        return Err(wrong(format!("`{}` is no math operation", op.info().mnemonic), span));
    };
    let mut dual = DualMath::IDLE;
    if op.info().class == Class::Nothing {
        return Ok((op, dual, clamped));
    }
    let destination = parse_destination(cursor, names)?;
    let component = Component::ALL.iter().copied().find(|c| destination.mask == 1 << c.code());
    match (WrittenFile::from(destination.reg_type), destination.address, component) {
        (WrittenFile::AltTemporary, address, Some(component))
            if address == RegisterAddress::absolute(address.offset) && address.offset < 4 =>
        {
            (dual.dst_offset, dual.we_sel) = (address.offset, component);
        }
        _ => {
            let mut dst = OpDst::nothing();
            dst.reg_type = destination.reg_type;
            dst.set_address(destination.address);
            dst.set_write_mask(destination.mask);
            let message = format!(
                "`{}` is written beside a vector operation; allowed is one component of at0 to at3",
                print_destination(&dst)
            );
            return Err(wrong(message, destination.span));
        }
    }
    let mut register: Option<ParsedSource> = None;
    for (second, used) in [false, true].into_iter().zip(dual_operands(op)) {
        if !used {
            continue;
        }
        cursor.expect(',', "and a source")?;
        let source = parse_source(cursor, names)?;
        let [select, ..] = source.swizzle;
        if source.swizzle != [select; 4] || !matches!(source.negate, 0 | 15) {
            return Err(wrong(
                "the source of a dual math operation is one component, such as `v0.x`".to_owned(),
                source.span,
            ));
        }
        if let Some(before) = &register {
            let same = source.register.is_none() || before.register.is_none() || source.register == before.register;
            let both = source.register.is_some() && before.register.is_some();
            if !same || both && source.abs != before.abs {
                let message = "both sources of a dual math operation are of one register, with one choice of `| |`";
                return Err(wrong(message.to_owned(), source.span));
            }
        }
        if let Some((kind, address)) = source.register {
            dual.reg_type = kind;
            dual.set_address(address);
            dual.abs = source.abs;
        }
        if second {
            (dual.swizzle_y, dual.negate_y) = (select, source.negate == 15);
        } else {
            (dual.swizzle_x, dual.negate_x) = (select, source.negate == 15);
        }
        register = match (register, source.register) {
            (Some(before), None) => Some(before),
            _ => Some(source),
        };
    }
    Ok((op, dual, clamped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nop_is_zeros() {
        assert_eq!(print(&[0; 4]).as_deref(), Some("nop"));
        assert_eq!(reread("nop"), Some([0; 4]));
    }

    #[test]
    fn clearing_the_predicate_reads_nothing() {
        // Mesa's: a source that nothing reads, and two idle ones after it.
        assert_eq!(print(&[0x0c81_c059, 0, 0x0124_8000, 0x0124_8000]).as_deref(), Some("(p) psclr  r14.w"));
    }
}
