//! The transcendental operations of ALU.Trans (R700 §9.2).
//!
//! They are the sequences of [`crate::transcendental`], bit for bit; `_CLAMPED`, `_FF` and `_IEEE` differ at the special values only.
//! Square roots are rounded once.

use crate::float::{INFINITY, NAN, SIGN, flush, fma, number};
use crate::transcendental::{self as sequence, Fused};

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
/// Rounded to the nearest number.
#[must_use]
pub fn sqrt_ieee(a: u32) -> u32 {
    let root = number(a).sqrt();
    if root.is_nan() { NAN } else { root.to_bits() }
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
