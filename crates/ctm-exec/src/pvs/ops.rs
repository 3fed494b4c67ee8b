//! One pure function per operation, in the order of the tables (pvs-encoding §4, §5).
//!
//! Functions take and give the bits of components. They know no registers, swizzles, masks or clamps. Denormals are read as the zero of their
//! sign, results are rounded once to single precision where not said otherwise, tiny ones become zeros, every NaN becomes 0x7fffffff: the arithmetic of
//! the X1K (pvs-encoding §8). Comparisons are IEEE's: false when an operand is NaN, except *not equal*; zeros of both signs are equal.

use crate::float::{INFINITY, NAN, ONE, SIGN, WideResult, fma, number};
use crate::transcendental as sequence;
use crate::x1k::ops::{self as x1k, ZeroRule};

/// Products with a zero are zero (pvs-encoding §8).
const ZERO: ZeroRule = ZeroRule::ZeroTimesAnything;

/// The bits of the largest number.
pub const MAX_FLOAT: u32 = f32::MAX.to_bits();

/// 1.0 for true, 0.0 for false.
const fn one_or_zero(truth: bool) -> u32 {
    if truth { ONE } else { 0 }
}

/// The bits of an operand as a result: a denormal becomes a zero, every NaN 0x7fffffff.
#[must_use]
pub fn copy(a: u32) -> u32 {
    WideResult::from_bits(a).round()
}

/// `VE_DOT_PRODUCT`: `A.x*B.x + A.y*B.y + A.z*B.z + A.w*B.w`, as DP4 of the X1K.
#[must_use]
pub fn dot_product(a: [u32; 4], b: [u32; 4]) -> u32 {
    x1k::dp4(a, b, ZERO).round()
}

/// `VE_MULTIPLY`, `ME_MULTIPLY`: `A * B`; zero times infinity or NaN is +0.
#[must_use]
pub fn multiply(a: u32, b: u32) -> u32 {
    // Adding -0 changes no product.
    multiply_add(a, b, SIGN)
}

/// `VE_ADD`: `A + B`. -0 + 0 is +0.
#[must_use]
pub fn add(a: u32, b: u32) -> u32 {
    WideResult::sum(f64::from(number(a)), f64::from(number(b))).round()
}

/// `VE_MULTIPLY_ADD`, `PVS_MACRO_OP_2CLK_MADD`: `A * B + C`, rounded once.
#[must_use]
pub fn multiply_add(a: u32, b: u32, c: u32) -> u32 {
    x1k::mad(a, b, c, ZERO).round()
}

/// `VE_DISTANCE_VECTOR`: `(1, A.y*B.y, A.z, B.w)`.
#[must_use]
pub fn distance_vector(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    [ONE, multiply(a[1], b[1]), copy(a[2]), copy(b[3])]
}

/// `VE_FRACTION`: `A - floor(A)`; NaN of infinities. As FRC of the X1K.
#[must_use]
pub fn fraction(a: u32) -> u32 {
    x1k::frc(a).round()
}

/// `VE_MAXIMUM`: `A >= B ? A : B`; B when either is NaN, and of equal zeros. As MAX of the X1K.
#[must_use]
pub fn maximum(a: u32, b: u32) -> u32 {
    copy(x1k::max(a, b))
}

/// `VE_MINIMUM`: `A < B ? A : B`; B when either is NaN, and of equal zeros. As MIN of the X1K.
#[must_use]
pub fn minimum(a: u32, b: u32) -> u32 {
    copy(x1k::min(a, b))
}

/// `VE_SET_GREATER_THAN_EQUAL`: `A >= B ? 1 : 0`.
#[must_use]
pub const fn set_greater_than_equal(a: u32, b: u32) -> u32 {
    one_or_zero(number(a) >= number(b))
}

/// `VE_SET_LESS_THAN`: `A < B ? 1 : 0`.
#[must_use]
pub const fn set_less_than(a: u32, b: u32) -> u32 {
    one_or_zero(number(a) < number(b))
}

/// `VE_MULTIPLYX2_ADD`, `PVS_MACRO_OP_2CLK_M2X_ADD`: `2 * A * B + C`, rounded once.
#[must_use]
pub fn multiply_x2_add(a: u32, b: u32, c: u32) -> u32 {
    // Doubling changes no digit of the product in double precision.
    WideResult::sum(2.0 * x1k::product(number(a), number(b), ZERO), f64::from(number(c))).round()
}

/// `VE_MULTIPLY_CLAMP`: `min(max(A * B, 0), C)`. UNVERIFIED (pvs-encoding §4).
#[must_use]
pub fn multiply_clamp(a: u32, b: u32, c: u32) -> u32 {
    minimum(maximum(multiply(a, b), 0), c)
}

/// `VE_FLT2FIX_DX`: `floor(A)`, as a float; [`to_integer`] makes the integer of A0.
#[must_use]
pub fn flt2fix_dx(a: u32) -> u32 {
    WideResult::from(number(a).floor()).round()
}

/// `VE_FLT2FIX_DX_RND`: `floor(A + 0.5)`, the sum exact.
#[must_use]
pub fn flt2fix_dx_rnd(a: u32) -> u32 {
    // Any sum of a float and a half has at most 25 bits of a fraction beside an integer: exact in double precision but for tiny operands, whose floor
    // is the same.
    #[allow(clippy::cast_possible_truncation, reason = "an integer of the size of a float")]
    let floor = (f64::from(number(a)) + 0.5).floor() as f32;
    WideResult::from(floor).round()
}

/// The integer of A0 for a float: its floor, clamped to -32768..=32767; 0 of NaN (pvs-encoding §4).
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "it is clamped")]
pub fn to_integer(a: u32) -> i32 {
    let a = number(a).floor();
    if a.is_nan() { 0 } else { a.clamp(-32768.0, 32767.0) as i32 }
}

/// The condition of `COND_WRITE` and `COND_MUX`, and of predicates: a component compared with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a == 0`
    Eq,
    /// `a > 0`
    Gt,
    /// `a >= 0`
    Gte,
    /// `a != 0`
    Neq,
}

impl Comparison {
    /// Whether it holds. NaN is not equal to zero, and neither more nor less.
    #[must_use]
    pub const fn holds(self, a: u32) -> bool {
        let a = number(a);
        match self {
            Self::Eq => a == 0.0,
            Self::Gt => a > 0.0,
            Self::Gte => a >= 0.0,
            Self::Neq => a != 0.0,
        }
    }
}

/// `VE_COND_MUX_EQ`, `_GT`, `_GTE`: `A cond 0 ? B : C`.
#[must_use]
pub fn cond_mux(condition: Comparison, a: u32, b: u32, c: u32) -> u32 {
    copy(if condition.holds(a) { b } else { c })
}

/// `VE_SET_GREATER_THAN`: `A > B ? 1 : 0`.
#[must_use]
pub const fn set_greater_than(a: u32, b: u32) -> u32 {
    one_or_zero(number(a) > number(b))
}

/// `VE_SET_EQUAL`: `A == B ? 1 : 0`.
#[must_use]
pub const fn set_equal(a: u32, b: u32) -> u32 {
    one_or_zero(number(a) == number(b))
}

/// `VE_SET_NOT_EQUAL`: `A != B ? 1 : 0`.
#[must_use]
pub const fn set_not_equal(a: u32, b: u32) -> u32 {
    one_or_zero(number(a) != number(b))
}

/// An infinite result replaced by a magnitude of the same sign.
const fn infinity_becomes(bits: u32, magnitude: u32) -> u32 {
    if bits & !SIGN == INFINITY { bits & SIGN | magnitude } else { bits }
}

/// `ME_EXP_BASE2_DX`: `(2^floor(a), a - floor(a), 2^a, 1)`; z is as precise as [`exp_base2_full_dx`].
#[must_use]
pub fn exp_base2_dx(a: u32) -> [u32; 4] {
    [sequence::ex2(flt2fix_dx(a)), fraction(a), sequence::ex2(a), ONE]
}

/// `ME_LOG_BASE2_DX`: `(exponent, mantissa, log2, 1)` of the magnitude of a.
///
/// | magnitude | 0 | infinity | NaN |
/// |---|---|---|---|
/// | result | (-MAX, 1, -MAX, 1) | (inf, 1, inf, 1) | (NaN, NaN, NaN, 1) |
///
/// The row of infinity is a choice (UNVERIFIED).
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an exponent has 8 bits")]
pub fn log_base2_dx(a: u32) -> [u32; 4] {
    let magnitude = number(a).to_bits() & !SIGN;
    match magnitude {
        0 => [SIGN | MAX_FLOAT, ONE, SIGN | MAX_FLOAT, ONE],
        INFINITY => [INFINITY, ONE, INFINITY, ONE],
        _ if magnitude > INFINITY => [NAN, NAN, NAN, ONE],
        _ => {
            let exponent = (magnitude >> 23).cast_signed() - 127;
            let mantissa = magnitude & 0x007f_ffff | ONE;
            [(exponent as f32).to_bits(), mantissa, sequence::ln2(magnitude), ONE]
        }
    }
}

/// `ME_EXP_BASEE_FF`: `e ^ a`, as 2 to the power of the rounded product of a and log2(e).
#[must_use]
pub fn exp_basee_ff(a: u32) -> u32 {
    sequence::ex2(multiply(a, std::f32::consts::LOG2_E.to_bits()))
}

/// The range to which [`light_coeff_dx`] clamps its exponent.
pub const LIGHT_EXPONENT: f32 = 128.0;

/// `ME_LIGHT_COEFF_DX`: `(1, max(b, 0), b > 0 ? max(a, 0)^c : 0, 1)` with c clamped to -128..128.
#[must_use]
pub fn light_coeff_dx(a: u32, b: u32, c: u32) -> [u32; 4] {
    let exponent = minimum(maximum(c, (-LIGHT_EXPONENT).to_bits()), LIGHT_EXPONENT.to_bits());
    let specular = if Comparison::Gt.holds(b) { power_func_ff(maximum(a, 0), exponent) } else { 0 };
    [ONE, maximum(b, 0), specular, ONE]
}

/// `ME_POWER_FUNC_FF`: `a ^ c`, as 2 to the power of the rounded product of c and log2 of a's magnitude.
///
/// | a | c | result |
/// |---|---|---|
/// | any but NaN | 0 | 1 |
/// | 0 | positive | 0 |
/// | 0 | negative | +inf |
/// | below zero | other | -(magnitude of a ^ c) |
#[must_use]
pub fn power_func_ff(a: u32, c: u32) -> u32 {
    let (base, exponent) = (number(a), number(c));
    if base.is_nan() || exponent.is_nan() {
        NAN
    } else if exponent == 0.0 {
        ONE
    } else if base == 0.0 {
        if exponent < 0.0 { INFINITY } else { 0 }
    } else {
        let magnitude = base.abs().to_bits();
        // The logarithm of 1 is 0, and 1 to the power of infinity is 1.
        let power = if magnitude == ONE { ONE } else { sequence::ex2(multiply(c, sequence::ln2(magnitude))) };
        power | base.to_bits() & SIGN
    }
}

/// `ME_RECIP_DX`: `1 / a`; the largest number of its sign for zeros (the sign of -0: UNVERIFIED).
#[must_use]
pub fn recip_dx(a: u32) -> u32 {
    infinity_becomes(sequence::rcp(a), MAX_FLOAT)
}

/// `ME_RECIP_FF`: `1 / a`; zero of its sign for zeros.
#[must_use]
pub fn recip_ff(a: u32) -> u32 {
    infinity_becomes(sequence::rcp(a), 0)
}

/// `ME_RECIP_SQRT_DX`: `1 / sqrt` of the magnitude of a; the largest number for zeros.
#[must_use]
pub fn recip_sqrt_dx(a: u32) -> u32 {
    infinity_becomes(sequence::rsq(a & !SIGN), MAX_FLOAT)
}

/// `ME_RECIP_SQRT_FF`: `1 / sqrt` of the magnitude of a; zero for zeros.
#[must_use]
pub fn recip_sqrt_ff(a: u32) -> u32 {
    infinity_becomes(sequence::rsq(a & !SIGN), 0)
}

/// `ME_EXP_BASE2_FULL_DX`: `2 ^ a`.
#[must_use]
pub fn exp_base2_full_dx(a: u32) -> u32 {
    sequence::ex2(a)
}

/// `ME_LOG_BASE2_FULL_DX`: log2 of the magnitude of a; the most negative number for zeros.
#[must_use]
pub fn log_base2_full_dx(a: u32) -> u32 {
    let log = sequence::ln2(a & !SIGN);
    if log == SIGN | INFINITY { SIGN | MAX_FLOAT } else { log }
}

/// `ME_POWER_FUNC_FF_CLAMP_B`: `a < b ? 0 : a ^ c`.
#[must_use]
pub fn power_func_ff_clamp_b(a: u32, b: u32, c: u32) -> u32 {
    if number(a) < number(b) { 0 } else { power_func_ff(a, c) }
}

/// `ME_POWER_FUNC_FF_CLAMP_B1`: `a < b ? 0 : a > 1 ? 1 : a ^ c`.
#[must_use]
pub fn power_func_ff_clamp_b1(a: u32, b: u32, c: u32) -> u32 {
    if number(a) >= number(b) && number(a) > 1.0 { ONE } else { power_func_ff_clamp_b(a, b, c) }
}

/// `ME_POWER_FUNC_FF_CLAMP_01`: `a <= 0 ? 0 : a > 1 ? 1 : a ^ c`.
#[must_use]
pub fn power_func_ff_clamp_01(a: u32, c: u32) -> u32 {
    if number(a) <= 0.0 {
        0
    } else if number(a) > 1.0 {
        ONE
    } else {
        power_func_ff(a, c)
    }
}

/// One turn of a radian, rounded: 1 / 2pi.
pub const TURNS: f32 = std::f32::consts::FRAC_1_PI / 2.0;

/// `ME_SIN`: the sine of a radians.
#[must_use]
pub fn sin(a: u32) -> u32 {
    sequence::sin(multiply(a, TURNS.to_bits()))
}

/// `ME_COS`: the cosine of a radians.
#[must_use]
pub fn cos(a: u32) -> u32 {
    sequence::cos(multiply(a, TURNS.to_bits()))
}

/// `ME_LOG_BASE2_IEEE`: log2(a); -infinity of zeros, NaN below.
#[must_use]
pub fn log_base2_ieee(a: u32) -> u32 {
    sequence::ln2(a)
}

/// `ME_RECIP_IEEE`: `1 / a`; infinity of its sign for zeros.
#[must_use]
pub fn recip_ieee(a: u32) -> u32 {
    sequence::rcp(a)
}

/// `ME_RECIP_SQRT_IEEE`: `1 / sqrt(a)`; infinity for zeros, NaN below.
#[must_use]
pub fn recip_sqrt_ieee(a: u32) -> u32 {
    sequence::rsq(a)
}

/// `ME_PRED_SET_EQ`, `_GT`, `_GTE`, `_NEQ`: (0, true) if the condition holds, else (1, false).
#[must_use]
pub const fn pred_set(condition: Comparison, a: u32) -> (u32, bool) {
    let holds = condition.holds(a);
    (one_or_zero(!holds), holds)
}

/// `ME_PRED_SET_CLR`: the largest number, and false.
#[must_use]
pub const fn pred_set_clr() -> (u32, bool) {
    (MAX_FLOAT, false)
}

/// `ME_PRED_SET_INV`: 1 becomes (0, true), 0 becomes (1, false), other counters stay, and false.
#[must_use]
pub fn pred_set_inv(a: u32) -> (u32, bool) {
    match number(a) {
        1.0 => (0, true),
        0.0 => (ONE, false),
        _ => (copy(a), false),
    }
}

/// `ME_PRED_SET_POP`: the counter less 1, at least 0; true where that is 0. A NaN becomes 0, and false.
#[must_use]
pub fn pred_set_pop(a: u32) -> (u32, bool) {
    let less = fma(1.0, number(a), -1.0);
    (maximum(less.to_bits(), 0), less <= 0.0)
}

/// `ME_PRED_SET_RESTORE`: the counter, and whether it is 0.
#[must_use]
pub fn pred_set_restore(a: u32) -> (u32, bool) {
    (copy(a), Comparison::Eq.holds(a))
}

/// `VE_PRED_SET_EQ_PUSH`, `_GT`, `_GTE`, `_NEQ`: (0, true) if the counter is 0 and the condition of the value holds, else (counter + 1, false).
#[must_use]
pub fn pred_set_push(condition: Comparison, counter: u32, value: u32) -> (u32, bool) {
    if Comparison::Eq.holds(counter) && condition.holds(value) { (0, true) } else { (add(counter, ONE), false) }
}
