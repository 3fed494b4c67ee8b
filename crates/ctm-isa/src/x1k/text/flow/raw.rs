//! The raw form of flow control, `fc`: every field by its name.

use super::super::Parse;
use super::super::alu::print_predicate;
use super::super::attrs::Attrs;
use super::super::lexer::{Cursor, Tok};
use super::super::names::{Names, RegisterFile};
use super::super::pair::Predicate;
use super::{A_OPS, B_OPS, Line, OPS, blank, choice, target};
use crate::x1k::formats::FcInst;
use crate::x1k::inst::FcInstruction;
use crate::x1k::ops::{BOp, FcOp, InstType, PredSel};

/// `jump func=0x0f any else a=push b0=incr b1=decr pop=1 to=label bool=b3 int=i0 global covered`
pub(super) fn raw<'a>(
    cursor: &mut Cursor<'_, 'a>,
    names: &Names<'a>,
    pred: Option<Predicate>,
) -> Parse<(Line<'a>, Attrs)> {
    let mut fc = blank();
    let mut attrs = Attrs::default();
    let mut to = None;
    if let Some(pred) = pred {
        (fc.cmn.rgb_pred_sel, fc.cmn.rgb_pred_inv) = (pred.sel, pred.invert);
    }
    fc.inst.op = choice(cursor, "a flow-control operation", &OPS)?;
    while !cursor.is_at_end() {
        let has_value = matches!(cursor.peek_after(1), Some(Tok::Punct('=')));
        match cursor.peek() {
            Some(Tok::Word("any")) => {
                cursor.advance();
                fc.inst.jump_any = true;
            }
            Some(Tok::Word("else")) => {
                cursor.advance();
                fc.inst.b_else = true;
            }
            Some(Tok::Word("global")) => {
                cursor.advance();
                fc.addr.jump_global = true;
            }
            Some(Tok::Word(key @ ("func" | "a" | "b0" | "b1" | "pop" | "to" | "bool" | "int"))) if has_value => {
                cursor.advance();
                cursor.advance();
                match *key {
                    "func" => fc.inst.jump_func = cursor.integer("the truth table", 255)? as u8,
                    "a" => fc.inst.a_op = choice(cursor, "an address-stack operation", &A_OPS)?,
                    "b0" => fc.inst.b_op0 = choice(cursor, "a branch-counter operation", &B_OPS)?,
                    "b1" => fc.inst.b_op1 = choice(cursor, "a branch-counter operation", &B_OPS)?,
                    "pop" => fc.inst.b_pop_cnt = cursor.integer("the pop count", 31)? as u8,
                    "to" => to = Some(target(cursor)?),
                    "bool" => fc.addr.bool_addr = names.plain(cursor, RegisterFile::Bool)?,
                    _ => fc.addr.int_addr = names.plain(cursor, RegisterFile::Int)?,
                }
            }
            _ => attrs.parse(cursor, names, &[InstType::Fc])?,
        }
    }
    Ok((Line::Raw(Box::new(fc), to), attrs))
}

/// The raw form of an instruction, without jump target and attributes.
pub(in crate::x1k::text) fn print_raw(fc: &FcInstruction, target: &str) -> String {
    let name = |rows: &[(&'static str, FcOp)]| rows.iter().find(|r| r.1 == fc.inst.op).map_or("jump", |r| r.0);
    let (i, a) = (&fc.inst, &fc.addr);
    let mut text = String::new();
    let pred = Predicate { sel: fc.cmn.rgb_pred_sel, invert: fc.cmn.rgb_pred_inv };
    if pred.sel != PredSel::None {
        text = format!("({}) ", print_predicate(pred));
    }
    text.push_str(&format!("fc {}", name(&OPS)));
    text.push_str(&format!(" func={:#04x}", i.jump_func));
    if i.jump_any {
        text.push_str(" any");
    }
    if i.b_else {
        text.push_str(" else");
    }
    for (row, key) in [(A_OPS.iter().find(|r| r.1 == i.a_op).map(|r| r.0), "a")] {
        if let Some(row) = row.filter(|&r| r != "none") {
            text.push_str(&format!(" {key}={row}"));
        }
    }
    for (op, key) in [(i.b_op0, "b0"), (i.b_op1, "b1")] {
        if let Some((row, _)) = B_OPS.iter().find(|r| r.1 == op && op != BOp::None) {
            text.push_str(&format!(" {key}={row}"));
        }
    }
    if i.b_pop_cnt != 0 {
        text.push_str(&format!(" pop={}", i.b_pop_cnt));
    }
    if !target.is_empty() {
        text.push_str(&format!(" to={target}"));
    }
    if a.bool_addr != 0 {
        text.push_str(&format!(" bool=b{}", a.bool_addr));
    }
    if a.int_addr != 0 {
        text.push_str(&format!(" int=i{}", a.int_addr));
    }
    if a.jump_global {
        text.push_str(" global");
    }
    text
}

/// The fields that `fc` can express; `covered` and derived bits are attributes.
pub(in crate::x1k::text) fn lift_raw(fc: &FcInstruction) -> FcInstruction {
    let mut raw = blank();
    raw.cmn.rgb_pred_sel = fc.cmn.rgb_pred_sel;
    raw.cmn.rgb_pred_inv = fc.cmn.rgb_pred_inv && fc.cmn.rgb_pred_sel != PredSel::None;
    raw.inst = FcInst { ignore_uncovered: false, ..fc.inst };
    raw.addr = fc.addr;
    raw
}
