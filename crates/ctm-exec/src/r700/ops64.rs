//! One pure function per double-precision operation (R700 §4.12, §9.2), on the 64 bits of the numbers.
//!
//! Sums and products round to nearest, ties to even. The tables of the pages treat denormal operands as zeros of their sign; we
//! do the same with results: values below 2^-1022 after rounding to 53 bits, as in single precision. A NaN operand is the result unchanged, src0's first; a NaN that an operation makes is [`NAN64`].

use crate::float::{INFINITY, SIGN, WideResult, flush};

/// `NaN64`: the NaN of operations without a NaN operand (R700 tables 9.1 to 9.9).
pub const NAN64: u64 = 0xfff8_0000_0000_0000;
/// The bits of +infinity.
const INFINITY64: u64 = 0x7ff0_0000_0000_0000;
/// The sign bit.
pub const SIGN64: u64 = 0x8000_0000_0000_0000;
/// The smallest normal number.
const MIN_NORMAL64: u64 = 0x0010_0000_0000_0000;
/// The fraction bits.
const FRACTION64: u64 = MIN_NORMAL64 - 1;

/// `bits` with a denormal replaced by the zero of its sign.
#[must_use]
pub const fn flush64(bits: u64) -> u64 {
    if bits & !SIGN64 < MIN_NORMAL64 { bits & SIGN64 } else { bits }
}

const fn is_nan64(bits: u64) -> bool {
    bits & !SIGN64 > INFINITY64
}

const fn exponent(bits: u64) -> i64 {
    (bits >> 52 & 0x7ff).cast_signed()
}

/// The bits of a result that no NaN went into.
const fn result(x: f64) -> u64 {
    if x.is_nan() { NAN64 } else { flush64(x.to_bits()) }
}

const fn number(bits: u64) -> f64 {
    f64::from_bits(flush64(bits))
}

/// The bits of a product that no NaN goes into.
///
/// A host rounds a denormal product to fewer bits, which may lift it to 2^-1022. Where that is the result, the product is made again with
/// an exponent in the middle of the range.
fn product(a: f64, b: f64) -> u64 {
    let product = a * b;
    if product.abs().to_bits() == MIN_NORMAL64 {
        let (small, other) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
        let raised = small * 2f64.powi(200) * other;
        if raised.abs() < 2f64.powi(200 - 1022) {
            return product.to_bits() & SIGN64;
        }
    }
    result(product)
}

/// `ADD_64`: `src0 + src1` (table 9.1).
#[must_use]
pub fn add_64(a: u64, b: u64) -> u64 {
    if is_nan64(a) {
        a
    } else if is_nan64(b) {
        b
    } else {
        result(number(a) + number(b))
    }
}

/// `MUL_64`: `src0 * src1` (table 9.7); zero times infinity is NaN.
#[must_use]
pub fn mul_64(a: u64, b: u64) -> u64 {
    if is_nan64(a) {
        a
    } else if is_nan64(b) {
        b
    } else {
        product(number(a), number(b))
    }
}

/// `MULADD_64`: `src0 * src1 + src2`: the product of table 9.8, rounded, then the sum of table 9.9.
#[must_use]
pub fn muladd_64(a: u64, b: u64, c: u64) -> u64 {
    add_64(mul_64(a, b), c)
}

/// `FREXP_64`: the exponent as a signed integer, and the fraction in (-1, -0.5] or [0.5, 1) (table 9.5).
///
/// | src0 | infinity | NaN | zero, denormal |
/// |---|---|---|---|
/// | exponent | 0xffffffff | 0xffffffff | 0 |
/// | fraction | NaN64 | src0 | zero of src0's sign |
#[must_use]
pub const fn frexp_64(a: u64) -> (i32, u64) {
    let e = exponent(a);
    if e == 0x7ff {
        (-1, if a & FRACTION64 == 0 { NAN64 } else { a })
    } else if e == 0 {
        (0, a & SIGN64)
    } else {
        (e as i32 - 1023 + 1, a & (SIGN64 | FRACTION64) | 0x3fe << 52)
    }
}

/// `LDEXP_64`: `src0 * 2 ^ src1`, src1 an integer (the page's example and its note on modifiers; its formula exchanges the two).
/// Infinities and NaN stay; beyond the range infinity, below it zero.
#[must_use]
pub const fn ldexp_64(a: u64, power: u32) -> u64 {
    let e = exponent(a);
    if e == 0x7ff {
        return a;
    }
    let sum = e + power.cast_signed() as i64;
    if e == 0 || sum <= 0 {
        a & SIGN64
    } else if sum >= 0x7ff {
        a & SIGN64 | INFINITY64
    } else {
        a & (SIGN64 | FRACTION64) | sum.cast_unsigned() << 52
    }
}

/// `FRACT_64`: `src0 - floor(src0)`, in [+0, 1) (table 9.4): where the difference rounds to 1.0 it is the number below 1.0.
/// Infinities give NaN64, a NaN stays, zeros and denormals give +0.
#[must_use]
pub fn fract_64(a: u64) -> u64 {
    let x = number(a);
    if is_nan64(a) {
        a
    } else if x.is_infinite() {
        NAN64
    } else {
        let fraction = x - x.floor();
        if fraction < 1.0 { result(fraction) } else { 1.0f64.to_bits() - 1 }
    }
}

/// `FLT64_TO_FLT32`: the nearest single-precision number (table 9.3). Denormals, on either side, are zeros of their sign; a NaN is
/// 0x7fc00000 with its sign.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the upper half")]
pub fn flt64_to_flt32(a: u64) -> u32 {
    let sign = (a >> 32) as u32 & SIGN;
    // Less nothing, which changes no number and no sign.
    if is_nan64(a) { sign | 0x7fc0_0000 } else { WideResult::sum(number(a), -0.0).round() }
}

/// `FLT32_TO_FLT64`: the same number (table 9.2). Denormals are zeros of their sign; the fraction of a NaN becomes the upper bits
/// of the result's.
#[must_use]
pub fn flt32_to_flt64(a: u32) -> u64 {
    let a = flush(a);
    if a & !SIGN > INFINITY {
        u64::from(a & SIGN) << 32 | INFINITY64 | u64::from(a & 0x007f_ffff) << 29
    } else {
        f64::from(f32::from_bits(a)).to_bits()
    }
}

/// The result of `PRED_SETE_64`, `PRED_SETGT_64` and `PRED_SETGE_64`: 0 for execute, all ones for skip, in both dwords.
#[must_use]
pub const fn pred_set_64(holds: bool) -> u32 {
    if holds { 0 } else { u32::MAX }
}

/// `PRED_SETE_64`: `src0 == src1` (table 9.10).
#[must_use]
pub const fn sete_64(a: u64, b: u64) -> bool {
    number(a) == number(b)
}

/// `PRED_SETGT_64`: `src0 > src1` (table 9.12).
#[must_use]
pub const fn setgt_64(a: u64, b: u64) -> bool {
    number(a) > number(b)
}

/// `PRED_SETGE_64`: `src0 >= src1` (table 9.11).
#[must_use]
pub const fn setge_64(a: u64, b: u64) -> bool {
    number(a) >= number(b)
}

/// A result times a power of two (OMOD, or `_M2`, `_M4`, `_D2`), then clamped to 0..1 if `clamp`; NaN clamps to +0.
#[must_use]
pub fn modified(bits: u64, factor: f64, clamp: bool) -> u64 {
    let scaled = if is_nan64(bits) || factor == 1.0 { bits } else { product(number(bits), factor) };
    if !clamp {
        return scaled;
    }
    let x = f64::from_bits(scaled);
    if x > 0.0 { if x < 1.0 { scaled } else { 1.0f64.to_bits() } } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_zeros_and_made_nans() {
        assert_eq!(add_64(1f64.to_bits(), (-1f64).to_bits()), 0);
        assert_eq!(add_64(SIGN64, SIGN64 | 1), SIGN64);
        assert_eq!(add_64(INFINITY64, SIGN64 | INFINITY64), NAN64);
        assert_eq!(mul_64(SIGN64 | 1, 3f64.to_bits()), SIGN64);
        assert_eq!(mul_64(0, INFINITY64), NAN64);
    }

    #[test]
    fn the_smallest_products() {
        let power = |n: i32| 2f64.powi(n);
        let times = |a: f64, b: f64| mul_64(a.to_bits(), b.to_bits());
        // Less than half a unit of 53 bits below 2^-1022, and half a unit, which goes to even.
        let below = 1.0 - power(-53);
        assert_eq!(times(below, power(-1022)), 0);
        assert_eq!(times(-below, power(-1022)), SIGN64);
        assert_eq!(times(1.0 - power(-27), (1.0 + power(-27)) * power(-1022)), MIN_NORMAL64);
        assert_eq!(times(1.0, power(-1022)), MIN_NORMAL64);
        assert_eq!(modified((2.0 * below * power(-1022)).to_bits(), 0.5, false), 0);
        assert_eq!(modified(power(-1021).to_bits(), 0.5, false), MIN_NORMAL64);
        // The same in single precision.
        let single = |x: f64| flt64_to_flt32(x.to_bits());
        assert_eq!(single((1.0 - power(-25)) * power(-126)), 0x0080_0000);
        assert_eq!(single((1.0 - power(-24)) * power(-126)), 0);
        assert_eq!(single(-0.0), SIGN);
        assert_eq!(single(-(1.0 - power(-24)) * power(-126)), SIGN);
        assert_eq!(single(f64::INFINITY), INFINITY);
        assert_eq!(single(1e39), INFINITY);
    }
}
