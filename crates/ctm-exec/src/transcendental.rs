//! The transcendental operations of the alpha unit (CTM §3.3.4), each one fixed sequence of plain operations.
//!
//! Every result is defined by its sequence, bit for bit; engines repeat it on vectors. A sequence uses only single-precision
//! `+`, `-`, `*` and fused multiply-add ([`fma`]), integer operations on bits, and at its end selects for the special values of
//! CTM §3.6.3. It has no loop, no branch on data, no division, no table and no instruction of the host that approximates. All
//! intermediate values that matter are normal numbers, so flushing denormals or keeping them makes no difference.
//!
//! | operation | error bound (tested against double precision) |
//! |---|---|
//! | RCP, RSQ | 1 ulp |
//! | EX2, LN2 | 2 ulp |
//! | SIN, COS | 2^-21 absolute for up to 256 turns |
//!
//! Results beyond the finite range are infinite and tiny ones are zeros *before* the output modifier (§3.6.3).

use crate::float::{INFINITY, MIN_NORMAL, NAN, ONE, SIGN, flush, fma};

/// A fused multiply-add of single precision: [`fma`], or that of a host. As only normal numbers matter in the sequences, it may keep denormals; and as
/// special values are selected at their ends, it may make any NaN.
pub trait Fused: Fn(f32, f32, f32) -> f32 + Copy {}
impl<F: Fn(f32, f32, f32) -> f32 + Copy> Fused for F {}

/// The fraction bits of a number.
pub const FRACTION: u32 = 0x007f_ffff;
/// The exponent bits of a number.
pub const EXPONENT: u32 = 0x7f80_0000;

/// The constant from which the bits of a number in [1, 2) are subtracted for a first reciprocal ([`rcp`]): exact for 1, never too small.
pub const RCP_SEED: u32 = 0x7f00_0000;
/// The constant from which half the bits of a number in [0.5, 2) are subtracted for a first reciprocal root ([`rsq`]).
pub const RSQ_SEED: u32 = 0x5f0b_6b8a;
/// The first step of [`rsq`] multiplies y by this less y*y*m.
pub const RSQ_FIRST: f32 = f32::from_bits(0x3ff2_0c4a);
/// Coefficients of the last step of [`rsq`]: of e and of its square.
pub const RSQ_STEP: [f32; 2] = [f32::from_bits(0x3f00_0011), 0.375];

/// 1.5 * 2^23: adding it leaves the nearest integer in the low bits of a sum.
pub const TO_SIGNED_INTEGER: f32 = 12_582_912.0;
/// 2^23: adding it to a smaller positive number rounds that to an integer.
pub const TO_INTEGER: f32 = 8_388_608.0;

/// The range to which [`ex2`] clamps.
pub const EX2_RANGE: [f32; 2] = [-127.0, 128.0];
/// The polynomial of [`ex2`] without its constant term 1, lowest power first.
pub const EX2_POLYNOMIAL: [f32; 6] = [
    f32::from_bits(0x3f31_7219),
    f32::from_bits(0x3e75_fdf1),
    f32::from_bits(0x3d63_5739),
    f32::from_bits(0x3c1d_9387),
    f32::from_bits(0x3aaf_b93b),
    f32::from_bits(0x3923_85a5),
];

/// The bits of three quarters: where [`ln2`] divides exponents.
pub const THREE_QUARTERS: u32 = 0x3f40_0000;
/// The polynomial of [`ln2`], lowest power first.
pub const LN2_POLYNOMIAL: [f32; 9] = [
    f32::from_bits(0x3ee2_a8ec),
    f32::from_bits(0xbf38_aa4b),
    f32::from_bits(0x3ef6_38cc),
    f32::from_bits(0xbeb8_9d68),
    f32::from_bits(0x3e93_8dd6),
    f32::from_bits(0xbe78_8c83),
    f32::from_bits(0x3e5d_8443),
    f32::from_bits(0xbe32_6968),
    f32::from_bits(0x3d9f_e173),
];

/// The polynomial of [`sin`] and [`cos`] in the square of a quarter turn, lowest power first.
pub const SINE_POLYNOMIAL: [f32; 5] = [
    f32::from_bits(0x40c9_0fdb),
    f32::from_bits(0xc225_5de1),
    f32::from_bits(0x42a3_3458),
    f32::from_bits(0xc299_2665),
    f32::from_bits(0x421e_d7fb),
];

/// `magnitude`, which integer arithmetic on exponents has made, with values below the normal range replaced by 0.
#[inline]
const fn flush_magnitude(magnitude: i32) -> u32 {
    if magnitude < MIN_NORMAL.cast_signed() { 0 } else { magnitude.cast_unsigned() }
}

/// Whether the bits are those of a NaN.
#[inline]
const fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

/// `OP_ALPHA_RCP`: `1 / A`.
///
/// | A | +0 | -0 | +inf | -inf | NaN |
/// |---|---|---|---|---|---|
/// | result | +inf | -inf | +0 | -0 | NaN |
///
/// Magnitudes above 2^126 give a zero of their sign (the result would be a denormal). Within 1 ulp.
///
/// Sequence: the fraction as a number m in [1, 2); a linear seed for 1/m, which is an integer subtraction; two steps of third
/// order (relative error e becomes e^3: 2^-3, 2^-9, 2^-27); the exponent subtracted. As the seed is never too small, the same steps on
/// A itself stay within the normal numbers for every result that does, and give the same bits.
#[inline]
#[must_use]
pub fn rcp(a: u32) -> u32 {
    rcp_by(a, fma)
}

/// [`rcp`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
pub fn rcp_by(a: u32, fma: impl Fused) -> u32 {
    let x = flush(a);
    let m = f32::from_bits(x & FRACTION | ONE);
    let step = |y: f32| {
        let e = fma(-m, y, 1.0);
        fma(y, fma(e, e, e), y)
    };
    let y = step(step(f32::from_bits(RCP_SEED - m.to_bits())));
    let magnitude = y.to_bits().cast_signed() + ONE.cast_signed() - (x & EXPONENT).cast_signed();
    let sign = x & SIGN;
    if is_nan(x) {
        NAN
    } else if x & !SIGN == 0 {
        sign | INFINITY
    } else {
        sign | flush_magnitude(magnitude)
    }
}

/// `OP_ALPHA_RSQ`: `1 / squareRoot(A)`. It does not take the absolute value by itself.
///
/// | A | +0 | -0 | +inf | below zero | NaN |
/// |---|---|---|---|---|---|
/// | result | +inf | +inf | +0 | NaN | NaN |
///
/// *-0 gives +inf and not -inf: the X1K deviates from IEEE's square root here (§3.6.3).* Within 1 ulp.
///
/// Sequence: A = m * 4^k with m in [0.5, 2); a linear seed, which is a shift and an integer subtraction; a step of Newton's method
/// whose factor 1/2 is part of the seed (relative error 2^-10.1); a step of third order (relative error e of y*y*m becomes 5/16 e^3,
/// 2^-29, evened out by the first coefficient); k subtracted from the exponent. The same steps on A itself give the same bits.
#[inline]
#[must_use]
pub fn rsq(a: u32) -> u32 {
    rsq_by(a, fma)
}

/// [`rsq`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
pub fn rsq_by(a: u32, fma: impl Fused) -> u32 {
    let x = flush(a);
    // The lowest exponent bit stays with the fraction: with 126 added it makes m, and the rest of the exponent is even.
    let m = f32::from_bits((x & (FRACTION | MIN_NORMAL)) + (126 << 23));
    let k = ((x >> 23).cast_signed() - 126) >> 1;
    let y = f32::from_bits(RSQ_SEED - (m.to_bits() >> 1));
    let y = y * fma(-(m * y), y, RSQ_FIRST);
    let e = fma(-(m * y), y, 1.0);
    let y = fma(y, fma(e, RSQ_STEP[1], RSQ_STEP[0]) * e, y);
    let magnitude = y.to_bits().cast_signed() - (k << 23);
    if x & !SIGN == 0 {
        INFINITY
    } else if is_nan(x) || x & SIGN != 0 {
        NAN
    } else if x == INFINITY {
        0
    } else {
        magnitude.cast_unsigned()
    }
}

/// `OP_ALPHA_EX2`: `2 ^ A`.
///
/// | A | +0 | -0 | +inf | -inf | NaN |
/// |---|---|---|---|---|---|
/// | result | 1 | 1 | +inf | +0 | NaN |
///
/// +inf from 128 on, +0 below -126; exact for integers between. Within 2 ulp.
///
/// Sequence: A clamped to -127..128; n = the nearest integer, f = A - n; 2^f by a polynomial of degree 6 (relative error 2^-28.5,
/// its constant term is 1); n added to the exponent. The clamps make the special values by themselves, NaN apart.
#[inline]
#[must_use]
pub fn ex2(a: u32) -> u32 {
    ex2_by(a, fma)
}

/// [`ex2`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
pub fn ex2_by(a: u32, fma: impl Fused) -> u32 {
    const C: [f32; 6] = EX2_POLYNOMIAL;
    let x = f32::from_bits(flush(a));
    let [least, most] = EX2_RANGE;
    let above = if x > least { x } else { least };
    let x_in = if above < most { above } else { most };
    let shifted = x_in + TO_SIGNED_INTEGER;
    let n = shifted.to_bits().cast_signed() - TO_SIGNED_INTEGER.to_bits().cast_signed();
    let f = x_in - (shifted - TO_SIGNED_INTEGER);
    let p = fma(f, C[5], C[4]);
    let p = fma(f, p, C[3]);
    let p = fma(f, p, C[2]);
    let p = fma(f, p, C[1]);
    let p = fma(f, p, C[0]);
    let y = fma(f, p, 1.0);
    let magnitude = y.to_bits().cast_signed() + (n << 23);
    if is_nan(a) { NAN } else { flush_magnitude(magnitude) }
}

/// `OP_ALPHA_LN2`: `log2(A)`.
///
/// | A | +0 | -0 | +inf | below zero | NaN |
/// |---|---|---|---|---|---|
/// | result | -inf | -inf | +inf | NaN | NaN |
///
/// Exact for powers of two. Within 2 ulp, also near 1 where the result is small.
///
/// Sequence: A = m * 2^e with m in [0.75, 1.5); f = m - 1, exact; log2(1 + f) = f + f * P(f) with P of degree 8 (relative error
/// 2^-25.2); the result is one fused multiply-add of f, P and e + f.
#[inline]
#[must_use]
pub fn ln2(a: u32) -> u32 {
    ln2_by(a, fma)
}

/// [`ln2`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "the exponent has 8 bits")]
pub fn ln2_by(a: u32, fma: impl Fused) -> u32 {
    const C: [f32; 9] = LN2_POLYNOMIAL;
    let x = flush(a);
    let e = (x & !SIGN).cast_signed().wrapping_sub(THREE_QUARTERS.cast_signed()) >> 23;
    let m = f32::from_bits((x & !SIGN).wrapping_sub((e << 23).cast_unsigned()));
    let f = m - 1.0;
    let p = fma(f, C[8], C[7]);
    let p = fma(f, p, C[6]);
    let p = fma(f, p, C[5]);
    let p = fma(f, p, C[4]);
    let p = fma(f, p, C[3]);
    let p = fma(f, p, C[2]);
    let p = fma(f, p, C[1]);
    let p = fma(f, p, C[0]);
    let y = fma(f, p, e as f32 + f);
    if x & !SIGN == 0 {
        SIGN | INFINITY
    } else if is_nan(x) || x & SIGN != 0 {
        NAN
    } else if x == INFINITY {
        INFINITY
    } else {
        y.to_bits()
    }
}

/// `OP_ALPHA_SIN`: `sin(A * 2pi)`, A in turns.
///
/// | A | +0 | -0 | infinities | NaN |
/// |---|---|---|---|---|
/// | result | +0 | -0 | NaN | NaN |
///
/// Every number from 2^23 on is an integer and gives a zero of its sign. Within 2^-21.
///
/// Sequence: r = |A| less its nearest integer, exact, in [-0.5, 0.5]; |r| folded to [0, 0.25] by min(|r|, 0.5 - |r|), exact;
/// then `sine_of_quarter`; then the signs of A and r.
#[inline]
#[must_use]
pub fn sin(a: u32) -> u32 {
    sin_by(a, fma)
}

/// [`sin`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
pub fn sin_by(a: u32, fma: impl Fused) -> u32 {
    let x = flush(a);
    let r = turns(x);
    let (near, far) = (r.abs(), 0.5 - r.abs());
    let q = if near < far { near } else { far };
    let y = sine_of_quarter(q, fma).to_bits() ^ (r.to_bits() ^ x) & SIGN;
    if x & !SIGN >= INFINITY { NAN } else { y }
}

/// `OP_ALPHA_COS`: `cos(A * 2pi)`, A in turns.
///
/// | A | +0 | -0 | infinities | NaN |
/// |---|---|---|---|---|
/// | result | 1 | 1 | NaN | NaN |
///
/// Every number from 2^23 on is an integer and gives 1. Within 2^-21.
///
/// Sequence: r as for [`sin`]; cos(r) = sin(0.25 - |r|) by `sine_of_quarter` of its magnitude, with its sign.
#[inline]
#[must_use]
pub fn cos(a: u32) -> u32 {
    cos_by(a, fma)
}

/// [`cos`] with this fused multiply-add: see [`Fused`].
#[inline(always)]
#[must_use]
pub fn cos_by(a: u32, fma: impl Fused) -> u32 {
    let x = flush(a);
    let q = 0.25 - turns(x).abs();
    let y = sine_of_quarter(q.abs(), fma).to_bits() ^ q.to_bits() & SIGN;
    if x & !SIGN >= INFINITY { NAN } else { y }
}

/// `|x|` less its nearest integer (ties to even), exact; 0 from 2^23 on.
#[inline(always)]
fn turns(x: u32) -> f32 {
    let magnitude = f32::from_bits(x & !SIGN);
    let nearest = (magnitude + TO_INTEGER) - TO_INTEGER;
    if magnitude < TO_INTEGER { magnitude - nearest } else { 0.0 }
}

/// sin(2pi q) for q in [0, 0.25]: q times a polynomial of degree 4 in q*q (relative error 2^-27.5), at most 1.
#[inline(always)]
fn sine_of_quarter(q: f32, fma: impl Fused) -> f32 {
    const C: [f32; 5] = SINE_POLYNOMIAL;
    // The square of a tiny q may be a denormal or zero; either way the last addition gives C[0].
    let s = q * q;
    let p = fma(s, C[4], C[3]);
    let p = fma(s, p, C[2]);
    let p = fma(s, p, C[1]);
    let p = fma(s, p, C[0]);
    let y = q * p;
    if y < 1.0 { y } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values() {
        assert_eq!(rcp(ONE), ONE);
        assert_eq!(rsq(ONE), ONE);
        assert_eq!(ex2(3f32.to_bits()), 8f32.to_bits());
        assert_eq!(ln2(8f32.to_bits()), 3f32.to_bits());
        assert_eq!(cos(0), ONE);
        assert_eq!(sin(0.25f32.to_bits()), ONE);
    }
}
