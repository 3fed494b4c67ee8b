//! The transcendental operations of ALU.Trans (R700 §9.2).
//!
//! They are the sequences of `x1k::transcendental`, bit for bit; `_CLAMPED`, `_FF` and `_IEEE` differ at the special values only.
//! Square roots are made of a reciprocal square root and one correction.

use crate::x1k::float::{INFINITY, NAN, SIGN, flush, fma};
use crate::x1k::transcendental::{self as sequence, Fused};

/// The bits of MAX_FLOAT.
pub const MAX_FLOAT: u32 = f32::MAX.to_bits();

/// An infinite result replaced by a magnitude of the same sign.
#[inline]
#[must_use]
pub const fn infinity_becomes(bits: u32, magnitude: u32) -> u32 {
    if bits & !SIGN == INFINITY { bits & SIGN | magnitude } else { bits }
}

/// `EXP_IEEE`: `2 ^ src0`.
///
/// | src0 | ±0 | +inf | -inf | NaN |
/// |---|---|---|---|---|
/// | result | 1 | +inf | +0 | NaN |
#[must_use]
pub fn exp_ieee(a: u32) -> u32 {
    sequence::ex2(a)
}

/// `LOG_IEEE`: `log2(src0)`; 0 of 1.0.
///
/// | src0 | ±0 | +inf | below zero | NaN |
/// |---|---|---|---|---|
/// | result | -inf | +inf | NaN | NaN |
#[must_use]
pub fn log_ieee(a: u32) -> u32 {
    sequence::ln2(a)
}

/// `LOG_CLAMPED`: as [`log_ieee`], with -MAX_FLOAT for -infinity (and only for that).
#[must_use]
pub fn log_clamped(a: u32) -> u32 {
    log_becomes_finite(log_ieee(a))
}

/// A logarithm with -MAX_FLOAT for -infinity.
#[inline]
#[must_use]
pub const fn log_becomes_finite(log: u32) -> u32 {
    if log == SIGN | INFINITY { SIGN | MAX_FLOAT } else { log }
}

/// `RECIP_IEEE`: `1 / src0`; 1.0 of 1.0.
///
/// | src0 | +0 | -0 | +inf | -inf | NaN |
/// |---|---|---|---|---|---|
/// | result | +inf | -inf | +0 | -0 | NaN |
#[must_use]
pub fn recip_ieee(a: u32) -> u32 {
    sequence::rcp(a)
}

/// `RECIP_CLAMPED`: as [`recip_ieee`], with MAX_FLOAT of the same sign for infinities.
#[must_use]
pub fn recip_clamped(a: u32) -> u32 {
    infinity_becomes(recip_ieee(a), MAX_FLOAT)
}

/// `RECIP_FF`: as [`recip_ieee`], with zero of the same sign for infinities.
#[must_use]
pub fn recip_ff(a: u32) -> u32 {
    infinity_becomes(recip_ieee(a), 0)
}

/// `RECIPSQRT_IEEE`: `1 / sqrt(src0)`; 1.0 of 1.0.
///
/// | src0 | +0 | -0 | +inf | below zero | NaN |
/// |---|---|---|---|---|---|
/// | result | +inf | -inf | +0 | NaN | NaN |
///
/// -0 gives -infinity as in IEEE (X1K differs): only so can the -infinity occur that the pages of the clamped forms name.
#[must_use]
pub fn recipsqrt_ieee(a: u32) -> u32 {
    recipsqrt_ieee_by(a, fma)
}

/// [`recipsqrt_ieee`] with this fused multiply-add.
#[inline(always)]
#[must_use]
pub fn recipsqrt_ieee_by(a: u32, fma: impl Fused) -> u32 {
    if flush(a) == SIGN { SIGN | INFINITY } else { sequence::rsq_by(a, fma) }
}

/// `RECIPSQRT_CLAMPED`: as [`recipsqrt_ieee`], with MAX_FLOAT of the same sign for infinities.
#[must_use]
pub fn recipsqrt_clamped(a: u32) -> u32 {
    infinity_becomes(recipsqrt_ieee(a), MAX_FLOAT)
}

/// `RECIPSQRT_FF`: as [`recipsqrt_ieee`], with zero of the same sign for infinities.
#[must_use]
pub fn recipsqrt_ff(a: u32) -> u32 {
    infinity_becomes(recipsqrt_ieee(a), 0)
}

/// `SQRT_IEEE`: the square root; 1.0 of 1.0.
///
/// | src0 | +0 | -0 | +inf | below zero | NaN |
/// |---|---|---|---|---|---|
/// | result | +0 | -0 | +inf | NaN | NaN |
///
/// Within 1 ulp. Sequence: A = m * 4^k with m in [0.5, 2); y = the sequence of the reciprocal square root of m; s = m * y;
/// s + (m - s*s) * (y/2), where the difference is one fused multiply-add; k added to the exponent.
#[must_use]
pub fn sqrt_ieee(a: u32) -> u32 {
    sqrt_ieee_by(a, fma)
}

/// [`sqrt_ieee`] with this fused multiply-add.
#[inline(always)]
#[must_use]
pub fn sqrt_ieee_by(a: u32, fma: impl Fused) -> u32 {
    let x = flush(a);
    let m = f32::from_bits((x & 0x00ff_ffff) + (126 << 23));
    let k = ((x >> 23).cast_signed() - 126) >> 1;
    let y = f32::from_bits(sequence::rsq_by(m.to_bits(), fma));
    let s = m * y;
    let root = fma(fma(-s, s, m), 0.5 * y, s);
    let magnitude = root.to_bits().cast_signed().wrapping_add(k << 23);
    if x & !SIGN == 0 || x == INFINITY {
        x
    } else if x & !SIGN > INFINITY || x & SIGN != 0 {
        NAN
    } else {
        magnitude.cast_unsigned()
    }
}

/// `SIN`: `sin(2pi * src0)`, src0 in turns (r700-encoding §10 E1); NaN of infinities.
#[must_use]
pub fn sin(a: u32) -> u32 {
    sequence::sin(a)
}

/// `COS`: `cos(2pi * src0)`, src0 in turns (r700-encoding §10 E1); NaN of infinities.
#[must_use]
pub fn cos(a: u32) -> u32 {
    sequence::cos(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x1k::float::ONE;

    #[test]
    fn roots_are_within_one_ulp() {
        assert_eq!(sqrt_ieee(ONE), ONE);
        // Every seventh fraction of two neighbouring exponents, and the ends of the range.
        let fractions = (0..1u32 << 24).step_by(7).map(|f| ONE + f);
        for bits in fractions.chain([0x0080_0000, 0x0080_0001, 0x00ff_ffff, 0x7f7f_ffff, 0x7f00_0000]) {
            let exact = f64::from(f32::from_bits(bits)).sqrt();
            let ulp = f64::from(f32::from_bits(sqrt_ieee(bits) + 1)) - f64::from(f32::from_bits(sqrt_ieee(bits)));
            let error = (f64::from(f32::from_bits(sqrt_ieee(bits))) - exact).abs();
            assert!(error <= ulp, "{bits:#010x}");
        }
    }
}
