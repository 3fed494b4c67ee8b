//! One ALU instruction as text: printer and parser of each part are next to each other.

use super::cursor::{Cursor, Parsed};
use super::extra::{self, Extra};
use super::mnemonics::{all_mnemonics, mnemonic};
use super::names::Names;
use super::operand::{ParsedOperand, bounded, chan_from_byte, indexed, parse_operand, print_indexed, print_operand};
use crate::diag::{Diagnostic, Span};
use crate::r700::inst::{AluInst, AluWord1, Group, Slot};
use crate::r700::ops::{AluOp, AluUnit, Chan, IndexMode, Omod, PredSel, SclSwizzle, Units, VecSwizzle};
use crate::r700::program::SymbolKind;
use crate::suggest::closest;
use std::fmt::Write as _;

// ---- mnemonics

/// Reads a mnemonic with its output modifier: `MUL_e*2`.
fn parse_mnemonic(c: &mut Cursor<'_>) -> Parsed<(AluOp, Omod)> {
    c.peek();
    let start = c.place();
    let Some(name) = c.word() else {
        let found = c.found();
        return c.fail("syntax", start, format!("an ALU operation is expected here, not {found}"));
    };
    let behind_name = c.place();
    let suffix = Omod::ALL.iter().copied().find(|o| *o != Omod::Off && c.eat_text(o.name()));
    // A modifier can be part of the name: MULADD*2 is an operation of its own.
    if let Some(omod) = suffix {
        let whole = format!("{name}{}", omod.name());
        if let Some(op) = mnemonic(&whole) {
            return Ok((op, Omod::Off));
        }
    }
    let Some(op) = mnemonic(name) else {
        c.back_to(behind_name);
        let span = c.span(start);
        if let Some(op) = mnemonic(&name.to_ascii_uppercase()) {
            // Reported once; in a text with many findings, only the last ones are compared.
            if c.diagnostics.iter().rev().take(64).any(|d| d.rule == "small-letters") {
                return Err(super::cursor::Reported);
            }
            let d = Diagnostic::error("small-letters", format!("`{name}` is written in capitals: `{}`", op.listing()));
            c.report(d.at(span, ""));
            return Err(super::cursor::Reported);
        }
        let mut d = Diagnostic::error("unknown-mnemonic", format!("`{name}` is not an ALU operation of the R700"))
            .at(span, "")
            .cite("R700 §10.2");
        if let Some(instead) = super::dialects::instead(name) {
            d = d.help(instead);
        } else if let Some(near) = closest(name, all_mnemonics()) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        c.report(d);
        return Err(super::cursor::Reported);
    };
    if let (Some(omod), AluOp::Op3(_)) = (suffix, op) {
        return c.fail(
            "output-modifier",
            behind_name,
            format!("`{}` has no output modifier `{}`: three-operand words have no field for one", name, omod.name()),
        );
    }
    Ok((op, suffix.unwrap_or(Omod::Off)))
}

// ---- whole instructions

/// The element that `____` means: the unit's own, and in t the first that another instruction of the group makes t the
/// unit for.
fn unwritten_chan(unit: AluUnit, op: AluOp, before: &[Slot]) -> Chan {
    match unit {
        AluUnit::X => Chan::X,
        AluUnit::Y => Chan::Y,
        AluUnit::Z => Chan::Z,
        AluUnit::W => Chan::W,
        AluUnit::T if op.info().units == Units::Trans => Chan::X,
        AluUnit::T => Chan::ALL
            .iter()
            .copied()
            .find(|&chan| before.iter().any(|s| s.unit == AluUnit::from(chan)))
            .unwrap_or(Chan::X),
    }
}

fn swizzle_name(unit: AluUnit, swizzle: u8) -> Option<&'static str> {
    if unit == AluUnit::T {
        SclSwizzle::from_code(u32::from(swizzle)).map(SclSwizzle::name)
    } else {
        VecSwizzle::from_code(u32::from(swizzle)).map(VecSwizzle::name)
    }
}

/// How a group is printed.
pub(super) struct Style {
    /// Print the bank swizzle of every instruction, also where it is the one the assembler would choose.
    pub(super) all_swizzles: bool,
    /// The number of the group.
    pub(super) number: u32,
}

/// Prints one instruction from its mnemonic on.
pub(super) fn print(out: &mut String, group: &Group, index: usize, style: &Style) {
    let Slot { unit, inst } = &group.slots[index];
    let op = inst.op();
    let start = out.len();
    out.push_str(op.listing());
    if inst.omod() != Omod::Off {
        out.push_str(inst.omod().name());
    }
    let width = out.len() - start;
    out.extend(std::iter::repeat_n(' ', 15usize.saturating_sub(width) + 1));

    // `said` collects the fields of the text; the fields it leaves out follow at the end.
    let mut said = AluInst::blank(op);
    said.word0.last = inst.word0.last;
    let (gpr, relative, chan) = inst.destination();
    if inst.writes() {
        let _ = write!(out, "R{gpr}");
        print_indexed(out, relative, inst.word0.index_mode);
        out.push('.');
        out.push_str(chan.name());
        said.set_destination(gpr, relative, chan, true);
    } else {
        out.push_str("____");
        said.set_destination(0, false, unwritten_chan(*unit, op, &group.slots[..index]), false);
    }
    for i in 0..usize::from(op.info().operands) {
        out.push_str(", ");
        let operand = print_operand(out, inst, i, group, style.number);
        said.set_operand(i, operand);
    }
    if said.operands().any(|o| o.relative) || (inst.writes() && relative) {
        said.word0.index_mode = inst.word0.index_mode;
    }
    if let (AluWord1::Op2(said), AluWord1::Op2(w)) = (&mut said.word1, &inst.word1) {
        said.omod = w.omod;
        said.update_execute_mask = w.update_execute_mask;
        said.update_pred = w.update_pred;
    }
    match &mut said.word1 {
        AluWord1::Op2(w) => w.clamp = inst.clamp(),
        AluWord1::Op3(w) => w.clamp = inst.clamp(),
    }
    if inst.clamp() {
        out.push_str(" CLAMP");
    }
    if let Some(name) = swizzle_name(*unit, inst.bank_swizzle()) {
        if inst.bank_swizzle() != 0 || style.all_swizzles {
            out.push(' ');
            out.push_str(name);
        }
        said.set_bank_swizzle(inst.bank_swizzle());
    }
    if inst.word0.pred_sel != PredSel::Off {
        out.push(' ');
        out.push_str(inst.word0.pred_sel.name());
    }
    said.word0.pred_sel = inst.word0.pred_sel;
    if inst.updates_execute_mask() {
        out.push_str(" UPDATE_EXEC_MASK");
    }
    if inst.updates_predicate() {
        out.push_str(" UPDATE_PRED");
    }
    let (words, said) = (inst.encode(), said.encode());
    if words != said {
        extra::print(out, &inst.formats(), &words, &said);
    }
}

/// One instruction as it is read.
#[derive(Clone, Debug)]
pub(super) struct ParsedSlot {
    /// The unit that the text names.
    pub(super) unit: Option<AluUnit>,
    pub(super) inst: AluInst,
    /// The destination is `____` and its element follows from the group.
    pub(super) unwritten: bool,
    /// The destination has no element: the unit's own.
    pub(super) chan_missing: bool,
    pub(super) swizzle: Option<(u8, Span)>,
    pub(super) operands: Vec<ParsedOperand>,
    pub(super) extras: Vec<Extra>,
    pub(super) span: Span,
    pub(super) mnemonic: Span,
}

/// Reads one instruction from its mnemonic on; `unit` is its label.
pub(super) fn parse(c: &mut Cursor<'_>, names: &Names, unit: Option<AluUnit>) -> Parsed<ParsedSlot> {
    c.peek();
    let start = c.place();
    let (op, omod) = parse_mnemonic(c)?;
    let mnemonic = c.span(start);
    let info = op.info();
    let mut inst = AluInst::blank(op);
    if let AluWord1::Op2(w) = &mut inst.word1 {
        w.omod = omod;
    }
    let mut mode: Option<IndexMode> = None;
    c.peek();
    let at = c.place();
    let mut unwritten = false;
    let mut chan_missing = false;
    if c.peek() == b'_' {
        while c.eat_adjacent(b'_') {}
        if let AluOp::Op3(_) = op {
            return c.fail(
                "destination",
                at,
                format!("`{}` always writes its result: it needs a register", op.listing()),
            );
        }
        unwritten = true;
    } else {
        let word = c.word().unwrap_or_default();
        let mut base = 0;
        let number = word.strip_prefix('R').filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
        match (number, names.get(word)) {
            (Some(digits), _) => mode = indexed(c, digits.parse().ok(), &mut base)?,
            (None, Some((SymbolKind::Gpr, index))) => {
                base = u32::from(index);
                if c.next_byte() == b'[' {
                    mode = indexed(c, Some(base), &mut base)?;
                }
            }
            (None, _) if names.is_refused(word) => return Err(super::cursor::Reported),
            (None, _) => {
                let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
                return c.fail("destination", at, format!("a destination is expected here, not {found}: R5.x or ____"));
            }
        }
        let gpr = bounded(c, at, "a register", base, 127)?;
        let chan = if c.eat_adjacent(b'.') {
            let Some(chan) = chan_from_byte(c.next_byte()) else {
                return c.fail("syntax", at, "an element is expected behind the dot: x, y, z or w");
            };
            c.eat_adjacent(c.next_byte());
            chan
        } else {
            chan_missing = true;
            Chan::X
        };
        inst.set_destination(gpr, mode.is_some(), chan, true);
    }
    let mut operands = Vec::with_capacity(usize::from(info.operands));
    for i in 0..info.operands {
        c.peek();
        let here = c.place();
        if !c.eat(b',') {
            let found = c.found();
            if matches!(c.peek(), b'R' | b'K' | b'P' | b'(' | b'|' | b'-' | b'0'..=b'9') {
                return c.fail("syntax", here, format!("`,` is missing in front of {found}"));
            }
            return c.fail(
                "operand-count",
                here,
                format!("`{}` reads {}, {i} found; `,` is expected, not {found}", op.listing(), count(info.operands)),
            );
        }
        operands.push(parse_operand(c, names)?);
    }
    c.peek();
    let here = c.place();
    if c.eat(b',') {
        return c.fail(
            "operand-count",
            here,
            format!("`{}` reads {}, more are written", op.listing(), count(info.operands)),
        );
    }
    for (i, operand) in operands.iter().enumerate() {
        if operand.operand.abs && matches!(op, AluOp::Op3(_)) {
            let d = Diagnostic::error(
                "absolute-value",
                format!("`{}` has no absolute value: three-operand words have no field for it", op.listing()),
            );
            c.report(d.at(operand.span, "").cite("R700 §4.7.2"));
            return Err(super::cursor::Reported);
        }
        if let Some(index) = operand.index {
            if mode.is_some_and(|m| m != index) {
                let d = Diagnostic::error("index", "an instruction has one index; another operand uses another");
                c.report(d.at(operand.span, "").cite("R700 §4.6.1"));
                return Err(super::cursor::Reported);
            }
            mode = Some(index);
        }
        inst.set_operand(i, operand.operand);
    }
    if let Some(mode) = mode {
        inst.word0.index_mode = mode;
    }
    let mut slot = ParsedSlot {
        unit,
        inst,
        unwritten,
        chan_missing,
        swizzle: None,
        operands,
        extras: Vec::new(),
        span: c.line_span(),
        mnemonic,
    };
    while !c.at_end() {
        parse_modifier(c, &mut slot)?;
    }
    Ok(slot)
}

fn count(operands: u8) -> String {
    format!("{operands} operand{}", if operands == 1 { "" } else { "s" })
}

/// Reads one modifier after the operands.
fn parse_modifier(c: &mut Cursor<'_>, slot: &mut ParsedSlot) -> Parsed<()> {
    let start = c.place();
    let Some(name) = c.word() else {
        let found = c.found();
        return c.fail("syntax", start, format!("a modifier is expected here, not {found}"));
    };
    let scalar = SclSwizzle::from_name(name).map(SclSwizzle::code);
    let vector = VecSwizzle::from_name(name).map(VecSwizzle::code);
    if let Some(code) = scalar.or(vector) {
        let span = c.span(start);
        let trans = slot.unit == Some(AluUnit::T) || slot.inst.op().info().units == Units::Trans;
        // AMD's tools name the field of an operation of all units by VEC_… in t too: its code counts, of which t has four.
        let by_code = trans && slot.inst.op().info().units == Units::Any && vector.is_some_and(|code| code < 4);
        if (slot.unit.is_some() || trans) && trans != scalar.is_some() && !by_code {
            return c.fail(
                "bank-swizzle",
                start,
                format!("`{name}` is not for this unit: x, y, z and w take VEC_…, t takes SCL_…"),
            );
        }
        slot.swizzle = Some((u8::try_from(code).unwrap_or(0), span));
        return Ok(());
    }
    if name == "BANK_SWIZZLE" {
        c.expect(b'(', "behind the name of a field")?;
        let swizzle = c.integer("a bank swizzle", 7)?;
        c.expect(b')', "behind the field's number")?;
        slot.swizzle = Some((u8::try_from(swizzle).unwrap_or(0), c.span(start)));
        return Ok(());
    }
    if let Some(pred) = PredSel::from_name(name) {
        slot.inst.word0.pred_sel = pred;
        return Ok(());
    }
    match (name, &mut slot.inst.word1) {
        ("CLAMP", AluWord1::Op2(w)) => w.clamp = true,
        ("CLAMP", AluWord1::Op3(w)) => w.clamp = true,
        ("UPDATE_EXEC_MASK" | "UPDATE_EXECUTE_MASK", AluWord1::Op2(w)) if c.next_byte() != b'(' => {
            w.update_execute_mask = true;
        }
        ("UPDATE_EXEC_MASK", AluWord1::Op2(w)) => {
            // Later chips name the action on pixels; R700 always deactivates.
            w.update_execute_mask = true;
            c.expect(b'(', "")?;
            if c.word() != Some("DEACTIVATE") {
                return c.fail("modifier", start, "only DEACTIVATE is possible on the R700");
            }
            c.expect(b')', "behind DEACTIVATE")?;
        }
        ("UPDATE_PRED", AluWord1::Op2(w)) if c.next_byte() != b'(' => w.update_pred = true,
        _ => {
            let formats = slot.inst.formats();
            match extra::parse(c, &formats, name) {
                Some(found) => slot.extras.push(found?),
                None => {
                    return c.fail(
                        "modifier",
                        start,
                        format!("`{name}` is not a modifier of an ALU instruction: CLAMP, VEC_…, SCL_…, PRED_SEL_ZERO, PRED_SEL_ONE, UPDATE_EXEC_MASK, UPDATE_PRED, or the name of a field"),
                    );
                }
            }
        }
    }
    Ok(())
}

/// Resolves fields that depend on the group: the elements of unwritten results, the fields set by name.
pub(super) fn finish(slot: &mut ParsedSlot, before: &[Slot]) -> AluInst {
    let op = slot.inst.op();
    let unit = slot.unit.unwrap_or(if op.info().units == Units::Trans { AluUnit::T } else { AluUnit::X });
    if slot.unwritten {
        let chan = unwritten_chan(unit, op, before);
        slot.inst.set_destination(0, false, chan, false);
    } else if slot.chan_missing {
        let (gpr, relative, _) = slot.inst.destination();
        slot.inst.set_destination(gpr, relative, unwritten_chan(unit, op, before), true);
    }
    if let Some((swizzle, _)) = slot.swizzle {
        slot.inst.set_bank_swizzle(swizzle);
    }
    if !slot.extras.is_empty() {
        let mut words = slot.inst.encode();
        slot.extras.iter().for_each(|e| e.apply(&mut words));
        // A number without a meaning is found when the words are read again.
        if let Ok(inst) = AluInst::decode(words) {
            slot.inst = inst;
        }
    }
    slot.inst
}
