//! One channel of a target: from the bits that a program exports to a field, by the number type.

use super::NumberType;

/// A fraction as a byte, rounded to the nearest; NaN is 0.
///
/// The product is exact. Added to 2^52 it is rounded to a whole number, which the low bits are then; the only product that lies in the middle of two is
/// 127.5, for which an even number and the one away from zero are the same.
#[inline]
pub(super) fn byte(value: u32) -> u32 {
    let scaled = f64::from(f32::from_bits(value)).clamp(0.0, 1.0) * 255.0;
    (scaled + (1u64 << 52) as f64).to_bits() as u32 & 255
}

/// The same of a number within 0 to 1.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the low bits of a number below 2^53")]
pub(super) fn byte_within(value: f32) -> u32 {
    (f64::from(value) * 255.0 + (1u64 << 52) as f64).to_bits() as u32 & 255
}

/// A number in a field of `size` bits.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "numbers within the field's range, after the one rounding that is meant"
)]
pub(super) fn packed_number(bits: u32, number: NumberType, size: u32, truncates: bool) -> u32 {
    let all = u32::MAX >> (32 - size);
    let (most_unsigned, most_signed) = (f64::from(all), f64::from(all >> 1));
    let value = f64::from(f32::from_bits(bits));
    // NaN is 0.
    let value = if value.is_nan() { 0.0 } else { value };
    // Halves go away from zero.
    let whole = |x: f64| if truncates { x.trunc() } else { x.round() };
    let signed = |x: f64| (x as i64 as u32) & all;
    match number {
        NumberType::Unorm => whole(value.clamp(0.0, 1.0) * most_unsigned) as u32,
        NumberType::Srgb => whole(encoded(value.clamp(0.0, 1.0)) * most_unsigned) as u32,
        // One bit has only the numbers 0 and -1.
        NumberType::Snorm => signed(whole((value.clamp(-1.0, 1.0) * most_signed.max(1.0)).min(most_signed))),
        NumberType::Uscaled => whole(value.clamp(0.0, most_unsigned)) as u32,
        NumberType::Sscaled => signed(whole(value.clamp(-most_signed - 1.0, most_signed))),
        NumberType::Uint => bits.min(all),
        NumberType::Sint => {
            let most = (all >> 1).cast_signed();
            bits.cast_signed().clamp(-most - 1, most).cast_unsigned() & all
        }
        // Fields of floats are packed elsewhere.
        NumberType::Float => bits & all,
    }
}

/// The sRGB curve: from a linear fraction to the stored one.
fn encoded(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// The sRGB curve: from a stored fraction to the linear one.
#[allow(clippy::cast_possible_truncation, reason = "the one rounding")]
pub(super) fn linear(stored: f32) -> f32 {
    let c = f64::from(stored);
    (if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
}

/// A float of 32, 16, 11 or 10 bits, rounded to the nearest, halves to even. Those of 11 and 10 bits have no sign: values below zero are 0. Too large
/// numbers become infinite.
pub(super) fn small_float(value: f32, size: u32) -> u32 {
    match size {
        32 => value.to_bits(),
        16 => (value.to_bits() >> 31) << 15 | unsigned_float(value.abs(), 5, 10, 15, true),
        _ if value < 0.0 => 0,
        _ => unsigned_float(value.abs(), 5, size - 5, 15, true),
    }
}

/// The depth buffer's float of 24 bits, 0 to almost 2, as [`ctm_exec::r700::formats`] reads it.
#[must_use]
pub fn float_24(value: f32) -> u32 {
    let value = if value.is_nan() { 0.0 } else { value.max(0.0) };
    unsigned_float(value, 4, 20, 15, false)
}

/// A float without sign. `specials`: the largest exponent is for infinity and NaN; otherwise too large numbers are the largest one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers within the field's range")]
fn unsigned_float(value: f32, exponent_bits: u32, fraction_bits: u32, bias: i32, specials: bool) -> u32 {
    let largest_exponent = (1u32 << exponent_bits) - 1;
    let special = largest_exponent << fraction_bits;
    if value.is_nan() {
        return special | 1 << (fraction_bits - 1);
    }
    let most = if specials { special } else { special | ((1 << fraction_bits) - 1) };
    if value.is_infinite() {
        return most;
    }
    if value == 0.0 {
        return 0;
    }
    let value = f64::from(value);
    let exponent = ((value.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    // In units of the last place; exact, as the scale is a power of two. Rounding up carries into the exponent by itself.
    let units = (value * 2f64.powi(fraction_bits.cast_signed() - exponent)).round_ties_even() as u64;
    let biased = (exponent + bias - 1) as u64;
    let bits = (biased << fraction_bits) + units;
    u32::try_from(bits).unwrap_or(u32::MAX).min(most)
}
