//! One pure function per operation, in the order of CTM §3.3.2 to §3.3.5.
//!
//! Functions take and give the bits of registers, or a [`WideResult`] value where the output modifier follows. They know no lanes,
//! masks, swizzles or modifiers. Denormals are read as the zero of their sign by all of them; the result for NaN, zeros and
//! infinities is in its comment. The transcendental functions are in [`crate::transcendental`].

use crate::float::{HALF, ONE, SIGN, WideResult, fma, number};
use ctm_isa::x1k::ops::{CompareOp, Imod, Omod, SrcpOp};

/// `SRCP_OP`: extra arithmetic on sources (CTM §3.3.2), one channel, rounded once to single precision.
///
/// | operation | result |
/// |---|---|
/// | BIAS | `1 - 2*src0` |
/// | SUB | `src1 - src0` |
/// | ADD | `src1 + src0` |
/// | INV | `1 - src0` |
///
/// The Guide gives no precision; single precision is our choice. NaN gives 0x7fffffff.
#[must_use]
pub fn presubtract(op: SrcpOp, src0: u32, src1: u32) -> u32 {
    let (s0, s1) = (number(src0), number(src1));
    match op {
        SrcpOp::Bias => fma(-2.0, s0, 1.0),
        SrcpOp::Sub => fma(-1.0, s0, s1),
        SrcpOp::Add => fma(1.0, s0, s1),
        SrcpOp::Inv => fma(-1.0, s0, 1.0),
    }
    .to_bits()
}

/// `IMOD`: input modifier (CTM §3.3.3). It acts on the sign bit alone, of every value, NaN included.
#[inline]
#[must_use]
pub const fn input_modifier(op: Imod, x: u32) -> u32 {
    match op {
        Imod::Off => x,
        Imod::Neg => x ^ SIGN,
        Imod::Abs => x & !SIGN,
        Imod::Nab => x | SIGN,
    }
}

/// The rule for products of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRule {
    /// 0*inf and 0*NaN are NaN (CTM §3.6.2).
    Ieee,
    /// 0*inf and 0*NaN are +0 (`US_CONFIG` bit 1; x1k-encoding §2). 0 times a number keeps the sign of IEEE.
    ZeroTimesAnything,
}

/// The exact product of two single-precision numbers.
#[inline]
pub(crate) fn product(a: f32, b: f32, zero: ZeroRule) -> f64 {
    let exact = f64::from(a) * f64::from(b);
    match zero {
        ZeroRule::Ieee => exact,
        ZeroRule::ZeroTimesAnything if exact.is_nan() && (a == 0.0 || b == 0.0) => 0.0,
        ZeroRule::ZeroTimesAnything => exact,
    }
}

/// A product as a term of a dot product: rounded to 24 bits, its exponent unbounded.
fn term(a: u32, b: u32, zero: ZeroRule) -> WideResult {
    WideResult::sum(product(number(a), number(b), zero), NO_TERM.get()).step()
}

/// The term that changes no sum.
const NO_TERM: WideResult = WideResult::NEGATIVE_ZERO;

/// The sum of the terms of a dot product: `(r + g) + (b + a)`, or zero where the same terms crosswise, `(r + b) + (g + a)`, make zero.
///
/// A sum that loses a small term between two large ones that cancel loses it in one of the two orders whatever the order of the operands: each two
/// terms are in different parentheses in one of them, and there each large one absorbs terms smaller by 2^25. So the result is +0.0
/// as §3.6.2 says. All sums but the last are rounded to 24 bits; no exponent is bounded.
fn sum_of_terms([r, g, b, a]: [WideResult; 4]) -> WideResult {
    let wide = |x: WideResult, y: WideResult| WideResult::sum(x.get(), y.get());
    let add = |x: WideResult, y: WideResult| wide(x, y).step();
    let crosswise = add(add(r, b), add(g, a));
    if crosswise.get() == 0.0 { crosswise } else { wide(add(r, g), add(b, a)) }
}

/// `OP_RGB_MAD`, `OP_ALPHA_MAD`: `A * B + C` (CTM §3.3.4), fused: one rounding, after the output modifier (§3.6.2).
///
/// NaN, infinities and zeros follow IEEE (tables of §3.6.2): inf*0 and inf-inf are NaN, 0 + -0 is +0, -0 + -0 is -0. An exact
/// cancellation is +0.
#[inline]
#[must_use]
pub fn mad(a: u32, b: u32, c: u32, zero: ZeroRule) -> WideResult {
    WideResult::sum(product(number(a), number(b), zero), f64::from(number(c)))
}

/// `OP_RGB_DP3`: `A.r*B.r + A.g*B.g + A.b*B.b` (CTM §3.3.4).
///
/// Each product is rounded to 24 bits. Their sum is taken in two orders, `(r + g) + b` and `(r + b) + g`, each step rounded to 24 bits:
/// where the second gives zero, that is the result, otherwise the first, whose last step is wide. So, in whatever order the operands come, two
/// products that cancel leave +0.0 of a third that is smaller by 2^25 or more, as the Guide says (§3.6.2).
/// No step leaves the range: products and sums have single precision's 24 bits, but an exponent without bounds, until the output modifier has been applied (§3.6.2).
/// *The Guide leaves all else about the order and the roundings open; they are our choice.*
#[must_use]
pub fn dp3(a: [u32; 3], b: [u32; 3], zero: ZeroRule) -> WideResult {
    sum_of_terms([term(a[0], b[0], zero), term(a[1], b[1], zero), term(a[2], b[2], zero), NO_TERM])
}

/// `OP_RGB_DP4`: `A.r*B.r + A.g*B.g + A.b*B.b + A.a*B.a` (CTM §3.3.4). As [`dp3`]; the orders are `(r + g) + (b + a)` and
/// `(r + b) + (g + a)`.
#[must_use]
pub fn dp4(a: [u32; 4], b: [u32; 4], zero: ZeroRule) -> WideResult {
    sum_of_terms(std::array::from_fn(|c| term(a[c], b[c], zero)))
}

/// `OP_RGB_D2A`: `A.r*B.r + A.g*B.g + C.b` (CTM §3.3.4). As [`dp3`], with C in the place of the third product.
#[must_use]
pub fn d2a(a: [u32; 2], b: [u32; 2], c: u32, zero: ZeroRule) -> WideResult {
    sum_of_terms([term(a[0], b[0], zero), term(a[1], b[1], zero), WideResult::from_bits(c), NO_TERM])
}

/// `OP_RGB_MIN`, `OP_ALPHA_MIN`: `A < B ? A : B` (CTM §3.3.4); gives the bits of A or B.
///
/// B when either is NaN, and when both are zeros of whatever sign (§3.6.2): `min(+0, -0)` is -0.
#[inline]
#[must_use]
pub fn min(a: u32, b: u32) -> u32 {
    if number(a) < number(b) { a } else { b }
}

/// `OP_RGB_MAX`, `OP_ALPHA_MAX`: `A >= B ? A : B` (CTM §3.3.4); gives the bits of A or B.
///
/// B when either is NaN, and when both are zeros of whatever sign (§3.6.2). *The formula of §3.3.4 would give A for equal zeros;
/// §3.6.2 says B, and for other equal values the bits are the same.*
#[inline]
#[must_use]
pub fn max(a: u32, b: u32) -> u32 {
    if number(a) > number(b) { a } else { b }
}

/// `OP_RGB_CND`, `OP_ALPHA_CND`: `C > 0.5 ? A : B` (CTM §3.3.4); gives the bits of A or B.
///
/// B when C is NaN (§3.6.2). A and B are not inspected: a NaN there is selected like any other value.
#[must_use]
pub fn cnd(a: u32, b: u32, c: u32) -> u32 {
    if number(c) > 0.5 { a } else { b }
}

/// `OP_RGB_CMP`, `OP_ALPHA_CMP`: `C >= 0 ? A : B` (CTM §3.3.4); gives the bits of A or B.
///
/// B when C is NaN; A when C is -0 or a denormal of either sign (§3.6.1, §3.6.2).
#[must_use]
pub fn cmp(a: u32, b: u32, c: u32) -> u32 {
    if number(c) >= 0.0 { a } else { b }
}

/// `OP_RGB_FRC`, `OP_ALPHA_FRC`: `A - floor(A)` (CTM §3.3.4), rounded once.
///
/// +0 for integers and zeros of either sign. A negative number no further from zero than 2^-25 gives 1. NaN for infinities and NaN.
#[inline]
#[must_use]
pub fn frc(a: u32) -> WideResult {
    let a = f64::from(number(a));
    WideResult::sum(a, -a.floor())
}

/// `OP_RGB_MDH`, `OP_RGB_MDV` and their alpha forms: `A * B + C` with A and C from other processors of the quad
/// (x1k-encoding §1.5); as [`mad`].
#[must_use]
pub fn quad_mad(top_left: u32, b: u32, neighbour: u32, zero: ZeroRule) -> WideResult {
    mad(top_left, b, neighbour, zero)
}

/// The factor of an output modifier (CTM §3.3.5). `OMOD_DISABLED` on an operation that does not allow it counts as U1.
#[inline]
#[must_use]
pub const fn omod_factor(omod: Omod) -> f64 {
    match omod {
        Omod::U1 | Omod::Disabled => 1.0,
        Omod::U2 => 2.0,
        Omod::U4 => 4.0,
        Omod::U8 => 8.0,
        Omod::D2 => 0.5,
        Omod::D4 => 0.25,
        Omod::D8 => 0.125,
    }
}

/// The clamp to 0..1 (CTM §3.3.5): `MIN(MAX(x, +0), 1)` by the Guide's own [`min`] and [`max`], so NaN and -0 become +0.
#[inline]
#[must_use]
pub fn clamp(x: u32) -> u32 {
    min(max(x, 0), ONE)
}

/// Output modifier and clamp (CTM §3.3.5): applied to every result but a move.
///
/// The wide value is multiplied, rounded once, a NaN becomes 0x7fffffff, a denormal a zero, then the clamp.
#[inline]
#[must_use]
pub fn output_modifier(value: WideResult, omod: Omod, clamped: bool) -> u32 {
    let bits = value.scaled(omod_factor(omod)).round();
    if clamped { clamp(bits) } else { bits }
}

/// Comparison with zero, for predicate bits and the ALU result (CTM §3.3.9, §3.3.10).
///
/// | value | LESS | GREATER_EQUAL | EQUAL | NOT_EQUAL |
/// |---|---|---|---|---|
/// | +0, -0, denormal | 0 | 1 | 1 | 0 |
/// | +inf | 0 | 1 | 0 | 1 |
/// | -inf | 1 | 0 | 0 | 1 |
/// | NaN | 0 | 0 | 0 | 1 |
///
/// (the table of §3.6.1).
#[inline]
#[must_use]
pub fn compare(op: CompareOp, x: u32) -> bool {
    let x = number(x);
    match op {
        CompareOp::Equal => x == 0.0,
        CompareOp::Less => x < 0.0,
        CompareOp::GreaterEqual => x >= 0.0,
        CompareOp::NotEqual => x != 0.0,
    }
}

/// `TEX_INST_KILL_LT_0` (CTM §3.4.1): whether one channel kills, by the table of [`compare`]; -0 and NaN do not.
#[inline]
#[must_use]
pub fn kills(x: u32) -> bool {
    compare(CompareOp::Less, x)
}

/// The constants that a swizzle can select (CTM §3.3.3).
pub const SWIZZLE_CONSTANTS: [u32; 3] = [0, HALF, ONE];

/// The result of `RGB_SOP` beside an alpha operation that is not transcendental, and of `ALPHA_DP` beside an RGB operation that is
/// not a dot product. The Guide (§3.3.4) calls both invalid; +0 is our choice.
pub const INVALID_COPY: WideResult = WideResult::ZERO;
