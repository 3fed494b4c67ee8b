//! The results of pure operations of the form, lane by lane, by the reference functions of `ctm-exec`.
//!
//! The portable back end runs them for every operation, machine code for operations without instructions.

use crate::masked::{ChannelOp, Dot, Op};
use ctm_exec::float::{SIGN, WideResult, flush, number};
use ctm_exec::r700::single::{Effect, SlotResult, factor, op2, op3, output};
use ctm_exec::r700::{ops, ops64};
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::ops::ZeroRule;
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::x1k::ops::RgbOp;

/// The result of a pure operation that reads only vectors, for one lane; `args` are the operands of [`Op::reads`], in
/// that order.
pub fn lane(op: &Op, args: &[u32; Op::OPERANDS]) -> u32 {
    match *op {
        Op::Bits(bits) => bits,
        Op::Abs(_) => args[0] & !SIGN,
        Op::Neg(_) => args[0] ^ SIGN,
        Op::Alu { op, omod, clamp, .. } => alu(op, [args[0], args[1], args[2]], omod, clamp),
        Op::Holds { op, wanted, .. } => {
            let effect = op2(op, args[0], args[1]).ok().flatten().map(|scalar| scalar.effect);
            let holds = matches!(effect, Some(Effect::Predicate(true) | Effect::Kill(true)));
            if holds == wanted { u32::MAX } else { 0 }
        }
        Op::Select(..) if args[0] != 0 => args[1],
        Op::Select(..) => args[2],
        Op::Cube { element, omod, clamp, .. } => {
            let elements = ops::cube(number(args[0]), number(args[1]), number(args[2]));
            let x = elements[usize::from(element & 3)];
            output(if element == 3 { SlotResult::Plain(x.to_bits()) } else { SlotResult::Float(x) }, omod, clamp)
        }
        Op::Wide { op, part, omod, clamp, .. } => wide(op, part, args, omod, clamp),
        Op::Dot(dot, _) => dot_lane(dot, args),
        Op::Unit(unit, _) => unit_lane(unit, [args[0], args[1], args[2]]),
        // Others read more than vectors.
        _ => 0,
    }
}

/// An operation of one slot with its modifiers.
pub fn alu(op: AluOp, [a, b, c]: [u32; 3], omod: Omod, clamp: bool) -> u32 {
    let scalar = match op {
        AluOp::Op2(op) => op2(op, a, b).ok().flatten(),
        AluOp::Op3(op) => op3(op, a, b, c),
    };
    scalar.map_or(0, |scalar| output(scalar.value, omod, clamp))
}

/// An operation of the X1K.
pub fn unit_lane(unit: ChannelOp, [a, b, c]: [u32; 3]) -> u32 {
    use ctm_exec::x1k::ops::{clamp, frc, mad, output_modifier};
    match unit {
        ChannelOp::Mad { zero_wins, omod } => output_modifier(mad(a, b, c, rule(zero_wins)), omod, false),
        ChannelOp::Scale(omod) => output_modifier(WideResult::from_bits(a), omod, false),
        ChannelOp::Min => flush(if number(a) < number(b) { a } else { b }),
        ChannelOp::Max => flush(if number(a) > number(b) { a } else { b }),
        ChannelOp::Clamp => clamp(a),
        ChannelOp::Fraction(omod) => output_modifier(frc(a), omod, false),
        ChannelOp::Scalar(op) => {
            UnitOp::Alpha(op).channel([a; 3], ZeroRule::Ieee, ctm_isa::x1k::ops::Omod::U1, false).unwrap_or(0)
        }
    }
}

/// A dot product of the X1K, computed from its factors.
pub fn dot_lane(dot: Dot, args: &[u32; Op::OPERANDS]) -> u32 {
    use ctm_exec::x1k::ops::{d2a, dp3, dp4, output_modifier};
    let [_, mut ar, br, mut ag, bg, mut ab, bb, mut aa, ba] = *args;
    for (term, factor) in [&mut ar, &mut ag, &mut ab, &mut aa].into_iter().enumerate() {
        *factor ^= if dot.negated >> term & 1 == 1 { SIGN } else { 0 };
    }
    let zero = rule(dot.zero_wins);
    let sum = match dot.op {
        RgbOp::Dp4 => dp4([ar, ag, ab, aa], [br, bg, bb, ba], zero),
        RgbOp::D2a => d2a([ar, ag], [br, bg], ab, zero),
        _ => dp3([ar, ag, ab], [br, bg, bb], zero),
    };
    output_modifier(sum, dot.omod, false)
}

/// The rule for products of zero.
const fn rule(zero_wins: bool) -> ZeroRule {
    if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee }
}

/// A dword of a 64-bit operation's result, or whether its predicate holds (R700 §4.12).
fn wide(op: AluOp, part: u8, args: &[u32; Op::OPERANDS], omod: Omod, clamp: bool) -> u32 {
    let double = |index: usize| u64::from(args[2 * index]) << 32 | u64::from(args[2 * index + 1]);
    let (a, b, c) = (double(0), double(1), double(2));
    let dword = |bits: u64| (bits >> (32 * u32::from(part & 1))) as u32;
    let modified = |bits: u64, factor: f64| dword(ops64::modified(bits, factor, clamp));
    let compared = |holds: bool| match (part, holds) {
        (4, true) => u32::MAX,
        (4, false) => 0,
        _ => ops64::pred_set_64(holds),
    };
    match op {
        AluOp::Op2(Op2::Add64) => modified(ops64::add_64(a, b), factor(omod)),
        AluOp::Op2(Op2::Fract64) => modified(ops64::fract_64(a), factor(omod)),
        AluOp::Op2(Op2::Ldexp64) => modified(ops64::ldexp_64(a, args[2]), factor(omod)),
        AluOp::Op2(Op2::Flt32ToFlt64) => modified(ops64::flt32_to_flt64(args[0]), factor(omod)),
        AluOp::Op2(Op2::Flt64ToFlt32) => {
            let single = f32::from_bits(ops64::flt64_to_flt32(a));
            let plain = omod == Omod::Off && !clamp;
            let value = if plain { SlotResult::Plain(single.to_bits()) } else { SlotResult::Float(single) };
            if part == 0 { output(value, omod, clamp) } else { 0 }
        }
        AluOp::Op2(Op2::PredSete64) => compared(ops64::sete_64(a, b)),
        AluOp::Op2(Op2::PredSetgt64) => compared(ops64::setgt_64(a, b)),
        AluOp::Op2(Op2::PredSetge64) => compared(ops64::setge_64(a, b)),
        AluOp::Op2(Op2::Mul64) => modified(ops64::mul_64(a, b), factor(omod)),
        AluOp::Op3(op) if op.unscaled() == Op3::Muladd64 => {
            modified(ops64::muladd_64(a, b, c), factor(op.info().scale))
        }
        AluOp::Op2(Op2::Frexp64) => {
            let (exponent, fraction) = ops64::frexp_64(a);
            match part {
                0 => exponent.cast_unsigned(),
                1 => (exponent >> 31).cast_unsigned(),
                _ => dword(fraction),
            }
        }
        AluOp::Op2(_) | AluOp::Op3(_) => 0,
    }
}
