//! Single precision as X1K keeps it, and R700 mostly (CTM §3.6): flushed denormals, one NaN, and the wide values between an
//! operation and its output modifier.
//!
//! Registers hold bits. Arithmetic reads them through [`flush`], works on a [`WideResult`] value, and [`WideResult::round`] makes bits again.
//! Two numbers are enough to follow every rounding here: an `f64` holds the product of two `f32` exactly (48 bits of 53), and a
//! sum that is rounded *to odd* in `f64` can be rounded again to 24 bits as if it had been exact.

/// The bits of +1.0.
pub const ONE: u32 = 0x3f80_0000;
/// The bits of +0.5.
pub const HALF: u32 = 0x3f00_0000;
/// The one NaN that arithmetic makes (CTM §3.3.5).
pub const NAN: u32 = 0x7fff_ffff;
/// The bits of +infinity.
pub const INFINITY: u32 = 0x7f80_0000;
/// The sign bit.
pub const SIGN: u32 = 0x8000_0000;
/// The smallest normal number, 2^-126: smaller numbers are denormals.
pub const MIN_NORMAL: u32 = 0x0080_0000;

/// `bits` with a denormal replaced by the zero of its sign (CTM §3.6.1).
#[inline]
#[must_use]
pub const fn flush(bits: u32) -> u32 {
    if bits & !SIGN < MIN_NORMAL { bits & SIGN } else { bits }
}

/// The number that arithmetic sees in `bits`.
#[inline]
#[must_use]
pub const fn number(bits: u32) -> f32 {
    f32::from_bits(flush(bits))
}

/// The bits of a single-precision result: a denormal becomes the zero of its sign, every NaN becomes [`NAN`].
#[inline]
#[must_use]
pub const fn bits(x: f32) -> u32 {
    if x.is_nan() { NAN } else { flush(x.to_bits()) }
}

/// A result on its way to the output modifier: unbounded in exponent, and precise enough for one correct rounding to
/// single precision (CTM §3.6.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideResult(f64);

impl WideResult {
    /// Positive zero.
    pub const ZERO: Self = Self(0.0);
    /// Negative zero, which changes no sum.
    pub const NEGATIVE_ZERO: Self = Self(-0.0);

    /// The single-precision number in `bits`, a denormal read as zero.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(number(bits) as f64)
    }

    /// `product + c`, where `product` is exact, rounded to odd.
    ///
    /// TwoSum gives the nearest sum and its rounding error. If the error is not zero and the nearest sum is even, the odd neighbour on
    /// the side of the loss is the rounding to odd; a later rounding to 24 bits then sees that the value was not exact.
    #[inline]
    #[must_use]
    pub fn sum(product: f64, c: f64) -> Self {
        let sum = product + c;
        let c_part = sum - product;
        let lost = (product - (sum - c_part)) + (c - c_part);
        // `lost` is NaN when the sum is infinite or NaN; those are left alone. No branches: which it is changes from lane to lane.
        let to_odd = (sum.to_bits() & 1 == 0) & (lost.abs() > 0.0);
        let away_from_zero = (lost > 0.0) == (sum > 0.0);
        let step = i64::from(to_odd) * (2 * i64::from(away_from_zero) - 1);
        Self(f64::from_bits(sum.to_bits().wrapping_add_signed(step)))
    }

    /// Rounds to the 24 bits of single precision, ties to even, and keeps the exponent unbounded: an intermediate result of an operation that takes more than one step.
    #[inline]
    #[must_use]
    pub fn step(self) -> Self {
        /// Bits of an `f64` below the 24 that stay.
        const DROPPED: u64 = (1 << 29) - 1;
        if !self.0.is_finite() {
            return self;
        }
        let bits = self.0.to_bits();
        let is_odd = bits >> 29 & 1;
        Self(f64::from_bits((bits + (DROPPED >> 1) + is_odd) & !DROPPED))
    }

    /// The value times a power of two.
    #[inline]
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }

    /// Rounds to single precision, ties to even.
    ///
    /// | value | result |
    /// |---|---|
    /// | beyond the finite range after rounding | infinity |
    /// | below 2^-126 after rounding to 24 bits | zero of its sign |
    /// | NaN | 0x7fffffff |
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "this is the one rounding")]
    pub fn round(self) -> u32 {
        /// 2^-126 - 2^-151: from here on a number rounds to 2^-126 or more at 24 bits (the tie goes to the even 2^-126).
        const SMALLEST: f64 = f64::from_bits(0x380f_ffff_f000_0000);
        if self.0.abs() < SMALLEST {
            return if self.0.is_sign_negative() { SIGN } else { 0 };
        }
        if self.0.is_nan() { NAN } else { (self.0 as f32).to_bits() }
    }

    /// The value itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl From<f32> for WideResult {
    fn from(x: f32) -> Self {
        Self(f64::from(x))
    }
}

/// `a * b + c` with one rounding, in single precision: a step of a dot product, a presubtract, a texture weight.
#[inline]
#[must_use]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    f32::from_bits(WideResult::sum(f64::from(a) * f64::from(b), f64::from(c)).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_number_that_survives_rounding() {
        let smallest = 2f64.powi(-126) - 2f64.powi(-151);
        assert_eq!(smallest.to_bits(), 0x380f_ffff_f000_0000);
        assert_eq!(WideResult(smallest).round(), MIN_NORMAL);
        assert_eq!(WideResult(-smallest).round(), SIGN | MIN_NORMAL);
        assert_eq!(WideResult(f64::from_bits(smallest.to_bits() - 1)).round(), 0);
        assert_eq!(WideResult(-f64::from_bits(smallest.to_bits() - 1)).round(), SIGN);
    }

    #[test]
    fn the_largest_number_and_infinity() {
        assert_eq!(WideResult(f64::from(f32::MAX)).round(), f32::MAX.to_bits());
        // Half an ulp above the largest number: the tie goes to even, which is 2^128.
        assert_eq!(WideResult(2f64.powi(128) - 2f64.powi(103)).round(), INFINITY);
        assert_eq!(WideResult(2f64.powi(128) - 2f64.powi(103) - 2f64.powi(75)).round(), f32::MAX.to_bits());
        assert_eq!(WideResult(f64::NEG_INFINITY).round(), INFINITY | SIGN);
        assert_eq!(WideResult(-f64::NAN).round(), NAN);
    }

    #[test]
    fn a_sum_remembers_what_it_lost() {
        // 1 + 2^-24 is a tie in single precision and goes down to even; with anything beyond the tie it goes up.
        let tie = WideResult::sum(1.0, 2f64.powi(-24));
        assert_eq!(tie.round(), ONE);
        assert_eq!(WideResult::sum(tie.get(), 2f64.powi(-200)).round(), ONE + 1);
        assert_eq!(WideResult::sum(tie.get(), -2f64.powi(-200)).round(), ONE);
        assert_eq!(WideResult::sum(1.0 + 3.0 * 2f64.powi(-24), -2f64.powi(-200)).round(), ONE + 1);
        assert_eq!(WideResult::sum(-1.0 - 2f64.powi(-24), -2f64.powi(-200)).round(), SIGN | (ONE + 1));
    }

    #[test]
    fn a_step_keeps_24_bits_and_any_exponent() {
        let bits_24 = 1.0 + 2f64.powi(-23);
        for scale in [0, 127, 255, -126, -252, -275].map(|exponent| 2f64.powi(exponent)) {
            for sign in [1.0, -1.0] {
                let step = |x: f64| WideResult(sign * x * scale).step().get() / (sign * scale);
                assert_eq!(step(bits_24), bits_24);
                // Ties round to even, values above a tie up.
                assert_eq!(step(1.0 + 2f64.powi(-24)), 1.0);
                assert_eq!(step(1.0 + 3.0 * 2f64.powi(-24)), 1.0 + 2.0 * 2f64.powi(-23));
                assert_eq!(step(1.0 + 2f64.powi(-24) + 2f64.powi(-52)), bits_24);
                assert_eq!(step(2.0 - 2f64.powi(-25)), 2.0);
            }
        }
        assert_eq!(WideResult(-0.0).step().get().to_bits(), (-0.0f64).to_bits());
        assert_eq!(WideResult(f64::NEG_INFINITY).step().get(), f64::NEG_INFINITY);
        assert!(WideResult(f64::NAN).step().get().is_nan());
    }

    #[test]
    fn zeros_keep_the_signs_of_round_to_nearest() {
        assert_eq!(WideResult::sum(0.0, -0.0).round(), 0);
        assert_eq!(WideResult::sum(-0.0, -0.0).round(), SIGN);
        assert_eq!(WideResult::sum(1.0, -1.0).round(), 0);
    }
}
