//! Results of operations for special values, open questions of the manual, and the function of the reference interpreter for each
//! (tables). `ctm isa r700` shows it.

use super::{AluOp, SideEffect, Slots};

/// One fact about operations.
struct OpNote {
    /// Their names; a `*` means any ending.
    ops: &'static [&'static str],
    text: &'static str,
}

const fn row(ops: &'static [&'static str], text: &'static str) -> OpNote {
    OpNote { ops, text }
}

/// Results at zeros, infinities, NaN, denormals and the ends of ranges.
#[rustfmt::skip]
static SPECIAL: &[OpNote] = &[
    row(&["MUL", "MULADD", "MULADD_M2", "MULADD_M4", "MULADD_D2", "DOT4"], "zero times anything, infinity and NaN included, is zero; denormals are zeros"),
    row(&["MUL_IEEE", "MULADD_IEEE*", "DOT4_IEEE"], "0 times infinity is NaN; denormals are zeros"),
    row(&["MULADD*", "MULADD_IEEE*", "MULADD_64*"], "two roundings: of the product, then of the sum"),
    row(&["DOT4", "DOT4_IEEE"], "rounded after every step, in the order w, z, y, x"),
    row(&["MAX", "MIN"], "if src0 is NaN the result is src1; a NaN in src1 is the result; of equal zeros MAX gives src0, MIN src1"),
    row(&["MAX_DX10", "MIN_DX10"], "of a NaN and a number the number"),
    row(&["MAX4"], "MAX in the order w, z, y, x: a NaN gives way to the element behind it, and stays in x"),
    row(&["SETE", "SETGT", "SETGE", "SETNE", "SETE_DX10", "SETGT_DX10", "SETGE_DX10", "SETNE_DX10", "PRED_SETE", "PRED_SETGT", "PRED_SETGE", "PRED_SETNE", "KILLE", "KILLGT", "KILLGE", "KILLNE"],
        "a comparison with NaN is false, but NE, which is true; +0 equals -0; denormals are zeros"),
    row(&["CNDE", "CNDGT", "CNDGE"], "src0 NaN takes src2; -0 is 0; the chosen operand is handed on bit for bit"),
    row(&["CNDE_INT", "CNDGT_INT", "CNDGE_INT"], "the chosen operand is handed on bit for bit; a negation flips its highest bit"),
    row(&["MOVA", "MOVA_FLOOR", "MOVA_INT"], "an index above 255 or below -256, and NaN, becomes -256"),
    row(&["RECIP_IEEE"], "of +-0 +-infinity, of +-infinity +-0, of NaN NaN"),
    row(&["RECIP_CLAMPED"], "of +-0 +- the largest number, of +-infinity +-0, of NaN NaN"),
    row(&["RECIP_FF"], "of +-0 +-0, of +-infinity +-0, of NaN NaN"),
    row(&["RECIPSQRT_IEEE"], "of +-0 +-infinity, of +infinity 0, of negative numbers NaN"),
    row(&["RECIPSQRT_CLAMPED"], "of +-0 +- the largest number, of +infinity 0, of negative numbers NaN"),
    row(&["RECIPSQRT_FF"], "of +-0 +-0, of +infinity 0, of negative numbers NaN"),
    row(&["SQRT_IEEE"], "of -0 -0, of +infinity itself, of negative numbers NaN"),
    row(&["LOG_IEEE"], "of +-0 -infinity, of negative numbers NaN"),
    row(&["LOG_CLAMPED"], "of +-0 the lowest number, of negative numbers NaN"),
    row(&["EXP_IEEE"], "of -infinity 0, of +infinity itself"),
    row(&["SIN", "COS"], "src0 counts turns; NaN for infinities, and what lies outside -256..256 turns is less exact"),
    row(&["FLT_TO_INT", "FLT_TO_UINT"], "toward zero; the low 32 bits of numbers beyond the range; 0 for infinities and NaN"),
    row(&["RECIP_INT", "RECIP_UINT"], "2^32 / src0 toward zero, kept in range; of 0 the largest number"),
    row(&["ASHR_INT", "LSHR_INT", "LSHL_INT"], "the low five bits of src1 count: by 32 is by 0, by 33 by 1"),
    row(&["MULLO_INT", "MULLO_UINT", "ADD_INT", "SUB_INT"], "modulo 2^32"),
    row(&["ADD_64", "MUL_64", "MULADD_64*", "FRACT_64", "LDEXP_64", "FREXP_64"], "denormals are zeros of their sign; NaN is handed on, src0's first"),
];

/// Open questions of the manual: rows of docs/r700-open-questions.md.
#[rustfmt::skip]
static OPEN: &[OpNote] = &[
    row(&["MUL"], "the sign of the zero of zero times infinity or NaN: +"),
    row(&["SUB_INT"], "the page prints src1 - src0; programs need src0 - src1"),
    row(&["ASHR_INT", "LSHR_INT", "LSHL_INT"], "counts above 31: the low five bits, as table 4.4 says of ASHR_INT; the pages say 0 (or the sign). Checked runs report them"),
    row(&["MOVA", "MOVA_FLOOR", "MOVA_INT"], "the pages' pseudocode makes -256 of large indices, their descriptions clamp"),
    row(&["FLT_TO_INT", "FLT_TO_UINT"], "beyond 32 bits: the page; other chips of the time saturate"),
    row(&["RECIP_INT", "RECIP_UINT"], "`fractional integer`, undefined for 0"),
    row(&["RECIPSQRT_IEEE"], "of -0: -infinity"),
    row(&["RNDNE"], "ties to even; the page's formula fails just below 0.5"),
    row(&["DOT4", "DOT4_IEEE", "MAX4"], "all four elements of PV hold the result; the pages promise x"),
    row(&["CUBE"], "faces, signs and ties: Direct3D's, z before y before x"),
    row(&["MULADD_64*"], "two roundings"),
    row(&["LDEXP_64"], "the exponent is src1"),
    row(&["PRED_SET*_64"], "each slot's own UPDATE bits count"),
    row(&["MOVA_GPR_INT"], "only R600 executes it"),
];

fn names(row: &OpNote, name: &str) -> bool {
    row.ops.iter().any(|op| match op.split_once('*') {
        None => *op == name,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    })
}

fn texts(rows: &'static [OpNote], name: &str) -> Vec<&'static str> {
    rows.iter().filter(|row| names(row, name)).map(|row| row.text).collect()
}

/// Results for special values.
#[must_use]
pub fn special_values(op: AluOp) -> Vec<&'static str> {
    texts(SPECIAL, op.name())
}

/// Open questions about it, and our choices.
#[must_use]
pub fn open_questions(op: AluOp) -> Vec<&'static str> {
    texts(OPEN, op.name())
}

/// The function of the reference interpreter (`ctm_exec::r700`) that computes it; `None` for NOP, moves, and operations that no chip of the family has.
#[must_use]
pub fn reference_function(op: AluOp) -> Option<String> {
    let name = op.name().to_ascii_lowercase();
    let name = ["_m2", "_m4", "_d2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let info = op.info();
    Some(match (name, info.kind, info.slots) {
        ("nop" | "mov" | "mova_gpr_int", ..) => return None,
        ("pred_set_inv" | "pred_set_pop" | "pred_set_clr" | "pred_set_restore", ..) => format!("ops::{name}"),
        (_, SideEffect::PredSet, Slots::Pair64) => format!("ops64::{}", name.strip_prefix("pred_").unwrap_or(name)),
        (_, SideEffect::PredSet, _) if name.contains("_push") => "ops::pred_set_push".to_owned(),
        (_, SideEffect::PredSet, _) => "ops::pred_set".to_owned(),
        (_, SideEffect::Kill, _) => "ops::kill".to_owned(),
        (_, _, Slots::Pair64 | Slots::Quad64) => format!("ops64::{name}"),
        ("dot4_ieee", ..) => "ops::dot4".to_owned(),
        ("exp_ieee" | "log_ieee" | "log_clamped" | "sqrt_ieee" | "sin" | "cos", ..) => {
            format!("transcendental::{name}")
        }
        ("recip_int" | "recip_uint", ..) => format!("ops::{name}"),
        _ if name.starts_with("recip") => format!("transcendental::{name}"),
        _ => format!("ops::{name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_operations() {
        for row in SPECIAL.iter().chain(OPEN) {
            for op in row.ops {
                let alone = OpNote { ops: std::slice::from_ref(op), text: "" };
                assert!(AluOp::all().any(|known| names(&alone, known.name())), "{op}");
            }
        }
    }
}
