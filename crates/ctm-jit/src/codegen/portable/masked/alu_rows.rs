//! Operations of one slot on rows: the results of [`ctm_ir::values::alu`] for each lane.
//!
//! The functions are those of `ctm_exec::r700::single`, each in a loop of its own; the others are done lane by lane.

use crate::codegen::portable::rows::{Row, canonical, fma, map, map2, map3, product, product_and_sum, sum};
use ctm_exec::float::number;
use ctm_exec::r700::single::{SlotResult, op2, op3, output};
use ctm_exec::r700::{ops, transcendental as exact};
use ctm_exec::transcendental as sequence;
use ctm_ir::values::alu;
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};

/// An operation of one slot with its modifiers.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn alu_rows<const FUSED: bool>(op: AluOp, [a, b, c]: [&Row; 3], omod: Omod, clamp: bool) -> Row {
    let row = match op {
        AluOp::Op2(op) => two::<FUSED>(op, a, b),
        AluOp::Op3(op) => three(op, a, b, c),
    };
    let Some(row) = row else { return map3(a, b, c, |a, b, c| alu(op, [a, b, c], omod, clamp)) };
    if omod == Omod::Off && !clamp {
        return row;
    }
    match result(op) {
        Some(SlotResult::Float(_)) => map(&row, |x| output(SlotResult::Float(f32::from_bits(x)), omod, clamp)),
        Some(SlotResult::Bits(_)) => map(&row, |x| output(SlotResult::Bits(x), omod, clamp)),
        // No modifier changes it.
        Some(SlotResult::Plain(_)) | None => row,
    }
}

/// A result of an operation; all results of one have the same type.
fn result(op: AluOp) -> Option<SlotResult> {
    let scalar = match op {
        AluOp::Op2(op) => op2(op, 0, 0).ok().flatten(),
        AluOp::Op3(op) => op3(op, 0, 0, 0),
    };
    scalar.map(|scalar| scalar.value)
}

/// A number of two numbers.
#[inline(always)]
fn numbers(a: &Row, b: &Row, function: impl Fn(f32, f32) -> f32) -> Row {
    map2(a, b, |a, b| canonical(function(number(a), number(b))))
}

/// A number of one number.
#[inline(always)]
fn of_number(a: &Row, function: impl Fn(f32) -> f32) -> Row {
    map(a, |a| canonical(function(number(a))))
}

/// Bits of two numbers.
#[inline(always)]
fn compared(a: &Row, b: &Row, function: impl Fn(f32, f32) -> u32) -> Row {
    map2(a, b, |a, b| function(number(a), number(b)))
}

/// The result of a predicate operation.
#[inline(always)]
fn predicate(a: &Row, b: &Row, holds: impl Fn(u32, u32) -> bool) -> Row {
    map2(a, b, |a, b| ops::pred_set(holds(a, b)).dst.to_bits())
}

#[inline(always)]
fn two<const FUSED: bool>(op: Op2, a: &Row, b: &Row) -> Option<Row> {
    let fma = fma::<FUSED>;
    Some(match op {
        Op2::Add => sum(a, b),
        Op2::Mul => product(a, b, true),
        Op2::MulIeee => product(a, b, false),
        Op2::Max => numbers(a, b, ops::max),
        Op2::Min => numbers(a, b, ops::min),
        Op2::MaxDx10 => numbers(a, b, ops::max_dx10),
        Op2::MinDx10 => numbers(a, b, ops::min_dx10),
        Op2::Sete => numbers(a, b, ops::sete),
        Op2::Setgt => numbers(a, b, ops::setgt),
        Op2::Setge => numbers(a, b, ops::setge),
        Op2::Setne => numbers(a, b, ops::setne),
        Op2::SeteDx10 => compared(a, b, ops::sete_dx10),
        Op2::SetgtDx10 => compared(a, b, ops::setgt_dx10),
        Op2::SetgeDx10 => compared(a, b, ops::setge_dx10),
        Op2::SetneDx10 => compared(a, b, ops::setne_dx10),
        Op2::Fract => of_number(a, ops::fract),
        Op2::Trunc => of_number(a, ops::trunc),
        Op2::Ceil => of_number(a, ops::ceil),
        Op2::Rndne => of_number(a, ops::rndne),
        Op2::Floor => of_number(a, ops::floor),
        Op2::Mov => *a,
        Op2::PredSete => predicate(a, b, |a, b| number(a) == number(b)),
        Op2::PredSetgt => predicate(a, b, |a, b| number(a) > number(b)),
        Op2::PredSetge => predicate(a, b, |a, b| number(a) >= number(b)),
        Op2::PredSetne => predicate(a, b, |a, b| number(a) != number(b)),
        Op2::PredSeteInt => predicate(a, b, |a, b| a == b),
        Op2::PredSetgtInt => predicate(a, b, |a, b| a.cast_signed() > b.cast_signed()),
        Op2::PredSetgeInt => predicate(a, b, |a, b| a.cast_signed() >= b.cast_signed()),
        Op2::PredSetneInt => predicate(a, b, |a, b| a != b),
        Op2::AndInt => map2(a, b, ops::and_int),
        Op2::OrInt => map2(a, b, ops::or_int),
        Op2::XorInt => map2(a, b, ops::xor_int),
        Op2::NotInt => map(a, ops::not_int),
        Op2::AddInt => map2(a, b, ops::add_int),
        Op2::SubInt => map2(a, b, ops::sub_int),
        Op2::MaxInt => map2(a, b, ops::max_int),
        Op2::MinInt => map2(a, b, ops::min_int),
        Op2::MaxUint => map2(a, b, ops::max_uint),
        Op2::MinUint => map2(a, b, ops::min_uint),
        Op2::SeteInt => map2(a, b, ops::sete_int),
        Op2::SetgtInt => map2(a, b, ops::setgt_int),
        Op2::SetgeInt => map2(a, b, ops::setge_int),
        Op2::SetneInt => map2(a, b, ops::setne_int),
        Op2::SetgtUint => map2(a, b, ops::setgt_uint),
        Op2::SetgeUint => map2(a, b, ops::setge_uint),
        Op2::ExpIeee => map(a, |x| sequence::ex2_by(x, fma)),
        Op2::LogIeee => map(a, |x| sequence::ln2_by(x, fma)),
        Op2::LogClamped => map(a, |x| exact::log_becomes_finite(sequence::ln2_by(x, fma))),
        Op2::RecipIeee => map(a, |x| sequence::rcp_by(x, fma)),
        Op2::RecipClamped => map(a, |x| exact::infinity_becomes(sequence::rcp_by(x, fma), exact::MAX_FLOAT)),
        Op2::RecipsqrtIeee => map(a, |x| exact::recipsqrt_ieee_by(x, fma)),
        Op2::RecipsqrtClamped => {
            map(a, |x| exact::infinity_becomes(exact::recipsqrt_ieee_by(x, fma), exact::MAX_FLOAT))
        }
        Op2::SqrtIeee => map(a, exact::sqrt_ieee),
        Op2::Sin => map(a, |x| sequence::sin_by(x, fma)),
        Op2::Cos => map(a, |x| sequence::cos_by(x, fma)),
        Op2::FltToInt => map(a, |x| ops::flt_to_int(number(x))),
        Op2::FltToUint => map(a, |x| ops::flt_to_uint(number(x))),
        Op2::IntToFlt => map(a, |x| canonical(ops::int_to_flt(x))),
        Op2::UintToFlt => map(a, |x| canonical(ops::uint_to_flt(x))),
        Op2::AshrInt => map2(a, b, ops::ashr_int),
        Op2::LshrInt => map2(a, b, ops::lshr_int),
        Op2::LshlInt => map2(a, b, ops::lshl_int),
        Op2::MulloInt | Op2::MulloUint => map2(a, b, ops::mullo_int),
        Op2::MulhiInt => map2(a, b, ops::mulhi_int),
        Op2::MulhiUint => map2(a, b, ops::mulhi_uint),
        _ => return None,
    })
}

#[inline(always)]
fn three(op: Op3, a: &Row, b: &Row, c: &Row) -> Option<Row> {
    Some(match op {
        Op3::Muladd => product_and_sum(a, b, c, true),
        Op3::MuladdIeee => product_and_sum(a, b, c, false),
        Op3::Cnde => map3(a, b, c, |a, b, c| ops::cnde(number(a), b, c)),
        Op3::Cndgt => map3(a, b, c, |a, b, c| ops::cndgt(number(a), b, c)),
        Op3::Cndge => map3(a, b, c, |a, b, c| ops::cndge(number(a), b, c)),
        Op3::CndeInt => map3(a, b, c, ops::cnde_int),
        Op3::CndgtInt => map3(a, b, c, ops::cndgt_int),
        Op3::CndgeInt => map3(a, b, c, ops::cndge_int),
        _ => return None,
    })
}

/// All ones where the operation's predicate is execute or its comparison kills; `None` where that is done lane by lane.
#[inline(always)]
pub fn holds(op: Op2, a: &Row, b: &Row) -> Option<Row> {
    Some(match op {
        Op2::PredSete | Op2::Kille => compared(a, b, ops::sete_dx10),
        Op2::PredSetgt | Op2::Killgt => compared(a, b, ops::setgt_dx10),
        Op2::PredSetge | Op2::Killge => compared(a, b, ops::setge_dx10),
        Op2::PredSetne | Op2::Killne => compared(a, b, ops::setne_dx10),
        Op2::PredSeteInt | Op2::KilleInt => map2(a, b, ops::sete_int),
        Op2::PredSetgtInt | Op2::KillgtInt => map2(a, b, ops::setgt_int),
        Op2::PredSetgeInt | Op2::KillgeInt => map2(a, b, ops::setge_int),
        Op2::PredSetneInt | Op2::KillneInt => map2(a, b, ops::setne_int),
        Op2::PredSetgtUint | Op2::KillgtUint => map2(a, b, ops::setgt_uint),
        Op2::PredSetgeUint | Op2::KillgeUint => map2(a, b, ops::setge_uint),
        _ => return None,
    })
}
