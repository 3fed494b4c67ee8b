//! Operations of one slot (R700 §4.8): from an opcode and the bits of its operands to its result and side effect.
//!
//! The functions themselves are in `ops` and `transcendental`; operations that take several slots are in `alu`.

use super::{ops, transcendental};
use crate::fault::FaultKind;
use crate::float::{WideResult, bits, number};
use ctm_isa::r700::ops::{Omod, Op2, Op3};

/// The side effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Sets the predicate: whether the pixel executes.
    Predicate(bool),
    /// Kills the pixel if this is true.
    Kill(bool),
    /// Writes the address register.
    Address(i32),
}

/// A result before the output modifiers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotResult {
    /// A number: modifiers apply, NaN becomes the one pattern.
    Float(f32),
    /// Copied bits: modifiers, where there are any, make a number of them.
    Bits(u32),
    /// An integer, or bits that no modifier changes (R700 §4.9.1).
    Plain(u32),
}

/// The outcome of a single-slot operation.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// Its result.
    pub value: SlotResult,
    /// Its side effect.
    pub effect: Effect,
}

pub(super) fn float(x: f32) -> Scalar {
    Scalar { value: SlotResult::Float(x), effect: Effect::None }
}

fn float_bits(x: u32) -> Scalar {
    float(f32::from_bits(x))
}

pub(super) fn plain(x: u32) -> Scalar {
    Scalar { value: SlotResult::Plain(x), effect: Effect::None }
}

fn moved(x: u32) -> Scalar {
    Scalar { value: SlotResult::Bits(x), effect: Effect::None }
}

fn address(index: i32) -> Scalar {
    Scalar { value: SlotResult::Plain(index.cast_unsigned()), effect: Effect::Address(index) }
}

fn predicate(p: ops::Predicate) -> Scalar {
    Scalar { value: SlotResult::Float(p.dst), effect: Effect::Predicate(p.execute) }
}

fn kill(holds: bool) -> Scalar {
    Scalar { value: SlotResult::Float(ops::kill(holds)), effect: Effect::Kill(holds) }
}

/// One single-slot operation on the bits of its operands; `None` for operations that take several slots, and for NOP.
///
/// # Errors
/// `MOVA_GPR_INT`, which R700 chips do not have.
pub fn op2(op: Op2, a: u32, b: u32) -> Result<Option<Scalar>, FaultKind> {
    let (x, y) = (number(a), number(b));
    let (i, j) = (a.cast_signed(), b.cast_signed());
    Ok(Some(match op {
        Op2::Add => float(ops::add(x, y)),
        Op2::Mul => float(ops::mul(x, y)),
        Op2::MulIeee => float(ops::mul_ieee(x, y)),
        Op2::Max => float(ops::max(x, y)),
        Op2::Min => float(ops::min(x, y)),
        Op2::MaxDx10 => float(ops::max_dx10(x, y)),
        Op2::MinDx10 => float(ops::min_dx10(x, y)),
        Op2::Sete => float(ops::sete(x, y)),
        Op2::Setgt => float(ops::setgt(x, y)),
        Op2::Setge => float(ops::setge(x, y)),
        Op2::Setne => float(ops::setne(x, y)),
        Op2::SeteDx10 => plain(ops::sete_dx10(x, y)),
        Op2::SetgtDx10 => plain(ops::setgt_dx10(x, y)),
        Op2::SetgeDx10 => plain(ops::setge_dx10(x, y)),
        Op2::SetneDx10 => plain(ops::setne_dx10(x, y)),
        Op2::Fract => float(ops::fract(x)),
        Op2::Trunc => float(ops::trunc(x)),
        Op2::Ceil => float(ops::ceil(x)),
        Op2::Rndne => float(ops::rndne(x)),
        Op2::Floor => float(ops::floor(x)),
        Op2::Mova => address(ops::mova(x)),
        Op2::MovaFloor => address(ops::mova_floor(x)),
        Op2::MovaInt => address(ops::mova_int(a)),
        Op2::Mov => moved(a),
        Op2::PredSetgtUint => predicate(ops::pred_set(a > b)),
        Op2::PredSetgeUint => predicate(ops::pred_set(a >= b)),
        Op2::PredSete => predicate(ops::pred_set(x == y)),
        Op2::PredSetgt => predicate(ops::pred_set(x > y)),
        Op2::PredSetge => predicate(ops::pred_set(x >= y)),
        Op2::PredSetne => predicate(ops::pred_set(x != y)),
        Op2::PredSetInv => predicate(ops::pred_set_inv(x)),
        Op2::PredSetPop => predicate(ops::pred_set_pop(x, y)),
        Op2::PredSetClr => predicate(ops::pred_set_clr()),
        Op2::PredSetRestore => predicate(ops::pred_set_restore(x)),
        Op2::PredSetePush => predicate(ops::pred_set_push(x, y == 0.0)),
        Op2::PredSetgtPush => predicate(ops::pred_set_push(x, y > 0.0)),
        Op2::PredSetgePush => predicate(ops::pred_set_push(x, y >= 0.0)),
        Op2::PredSetnePush => predicate(ops::pred_set_push(x, y != 0.0)),
        Op2::Kille => kill(x == y),
        Op2::Killgt => kill(x > y),
        Op2::Killge => kill(x >= y),
        Op2::Killne => kill(x != y),
        Op2::AndInt => plain(ops::and_int(a, b)),
        Op2::OrInt => plain(ops::or_int(a, b)),
        Op2::XorInt => plain(ops::xor_int(a, b)),
        Op2::NotInt => plain(ops::not_int(a)),
        Op2::AddInt => plain(ops::add_int(a, b)),
        Op2::SubInt => plain(ops::sub_int(a, b)),
        Op2::MaxInt => plain(ops::max_int(a, b)),
        Op2::MinInt => plain(ops::min_int(a, b)),
        Op2::MaxUint => plain(ops::max_uint(a, b)),
        Op2::MinUint => plain(ops::min_uint(a, b)),
        Op2::SeteInt => plain(ops::sete_int(a, b)),
        Op2::SetgtInt => plain(ops::setgt_int(a, b)),
        Op2::SetgeInt => plain(ops::setge_int(a, b)),
        Op2::SetneInt => plain(ops::setne_int(a, b)),
        Op2::SetgtUint => plain(ops::setgt_uint(a, b)),
        Op2::SetgeUint => plain(ops::setge_uint(a, b)),
        Op2::KillgtUint => kill(a > b),
        Op2::KillgeUint => kill(a >= b),
        Op2::PredSeteInt => predicate(ops::pred_set(i == j)),
        Op2::PredSetgtInt => predicate(ops::pred_set(i > j)),
        Op2::PredSetgeInt => predicate(ops::pred_set(i >= j)),
        Op2::PredSetneInt => predicate(ops::pred_set(i != j)),
        Op2::KilleInt => kill(i == j),
        Op2::KillgtInt => kill(i > j),
        Op2::KillgeInt => kill(i >= j),
        Op2::KillneInt => kill(i != j),
        Op2::PredSetePushInt => predicate(ops::pred_set_push(x, j == 0)),
        Op2::PredSetgtPushInt => predicate(ops::pred_set_push(x, j > 0)),
        Op2::PredSetgePushInt => predicate(ops::pred_set_push(x, j >= 0)),
        Op2::PredSetnePushInt => predicate(ops::pred_set_push(x, j != 0)),
        Op2::PredSetltPushInt => predicate(ops::pred_set_push(x, j < 0)),
        Op2::PredSetlePushInt => predicate(ops::pred_set_push(x, j <= 0)),
        Op2::ExpIeee => float_bits(transcendental::exp_ieee(a)),
        Op2::LogClamped => float_bits(transcendental::log_clamped(a)),
        Op2::LogIeee => float_bits(transcendental::log_ieee(a)),
        Op2::RecipClamped => float_bits(transcendental::recip_clamped(a)),
        Op2::RecipFf => float_bits(transcendental::recip_ff(a)),
        Op2::RecipIeee => float_bits(transcendental::recip_ieee(a)),
        Op2::RecipsqrtClamped => float_bits(transcendental::recipsqrt_clamped(a)),
        Op2::RecipsqrtFf => float_bits(transcendental::recipsqrt_ff(a)),
        Op2::RecipsqrtIeee => float_bits(transcendental::recipsqrt_ieee(a)),
        Op2::SqrtIeee => float_bits(transcendental::sqrt_ieee(a)),
        Op2::FltToInt => plain(ops::flt_to_int(x)),
        Op2::IntToFlt => float(ops::int_to_flt(a)),
        Op2::UintToFlt => float(ops::uint_to_flt(a)),
        Op2::Sin => float_bits(transcendental::sin(a)),
        Op2::Cos => float_bits(transcendental::cos(a)),
        Op2::AshrInt => plain(ops::ashr_int(a, b)),
        Op2::LshrInt => plain(ops::lshr_int(a, b)),
        Op2::LshlInt => plain(ops::lshl_int(a, b)),
        Op2::MulloInt => plain(ops::mullo_int(a, b)),
        Op2::MulhiInt => plain(ops::mulhi_int(a, b)),
        Op2::MulloUint => plain(ops::mullo_uint(a, b)),
        Op2::MulhiUint => plain(ops::mulhi_uint(a, b)),
        Op2::RecipInt => plain(ops::recip_int(a)),
        Op2::RecipUint => plain(ops::recip_uint(a)),
        Op2::FltToUint => plain(ops::flt_to_uint(x)),
        Op2::MovaGprInt => {
            return Err(FaultKind::Unsupported {
                feature: "MOVA_GPR_INT, which is an instruction of R600".into(),
                section: "R700 §10.2",
            });
        }
        Op2::Nop
        | Op2::Dot4
        | Op2::Dot4Ieee
        | Op2::Cube
        | Op2::Max4
        | Op2::Frexp64
        | Op2::Add64
        | Op2::Mul64
        | Op2::Flt64ToFlt32
        | Op2::Flt32ToFlt64
        | Op2::Ldexp64
        | Op2::Fract64
        | Op2::PredSetgt64
        | Op2::PredSete64
        | Op2::PredSetge64 => return Ok(None),
    }))
}

/// One three-operand operation; `None` for those that take several slots.
#[must_use]
pub fn op3(op: Op3, a: u32, b: u32, c: u32) -> Option<Scalar> {
    let (x, y, z) = (number(a), number(b), number(c));
    // The power of two in the operation's name (`_M2`, `_M4`, `_D2`).
    let named = |x| match op.info().scale {
        Omod::Off => float(x),
        scale => float(scaled(x, factor(scale))),
    };
    Some(match op.unscaled() {
        Op3::MulLit => named(ops::mul_lit(x, y, z)),
        Op3::Muladd => named(ops::muladd(x, y, z)),
        Op3::MuladdIeee => named(ops::muladd_ieee(x, y, z)),
        Op3::Cnde => moved(ops::cnde(x, b, c)),
        Op3::Cndgt => moved(ops::cndgt(x, b, c)),
        Op3::Cndge => moved(ops::cndge(x, b, c)),
        Op3::CndeInt => plain(ops::cnde_int(a, b, c)),
        Op3::CndgtInt => plain(ops::cndgt_int(a, b, c)),
        Op3::CndgeInt => plain(ops::cndge_int(a, b, c)),
        _ => return None,
    })
}

/// A result times a power of two.
#[inline]
fn scaled(x: f32, factor: f64) -> f32 {
    f32::from_bits(WideResult::from(x).scaled(factor).round())
}

/// The factor of an output modifier (R700 §4.9.1).
#[inline]
#[must_use]
pub const fn factor(omod: Omod) -> f64 {
    match omod {
        Omod::Off => 1.0,
        Omod::M2 => 2.0,
        Omod::M4 => 4.0,
        Omod::D2 => 0.5,
    }
}

/// The bits that are written: scaled, then clamped to 0..1 (NaN, zero and negative values become +0).
#[inline]
#[must_use]
pub fn output(value: SlotResult, omod: Omod, clamp: bool) -> u32 {
    let x = match value {
        SlotResult::Plain(bits) => return bits,
        SlotResult::Bits(bits) if omod == Omod::Off && !clamp => return bits,
        SlotResult::Bits(bits) => number(bits),
        SlotResult::Float(x) => x,
    };
    let x = if omod == Omod::Off { x } else { scaled(x, factor(omod)) };
    if !clamp {
        bits(x)
    } else if x > 0.0 {
        bits(if x < 1.0 { x } else { 1.0 })
    } else {
        0
    }
}
