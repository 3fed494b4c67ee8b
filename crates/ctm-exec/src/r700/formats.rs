//! From bytes in memory to the four elements of a register (R700 §10.3, `DATA_FORMAT`).
//!
//! The first element of a format lies in the lowest bits; the numbers in a format's name are those of its elements from the highest
//! bits down. Elements that a format lacks read 0, the fourth 1 (1.0, or the integer). Formats whose texels share bytes are in `surface`.

use crate::fault::FaultKind;
use crate::float::bits;
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, SrfMode};

/// A format with how its numbers are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Sizes and kinds of the elements.
    pub data: DataFormat,
    /// Fractions, integers, or integers as floats.
    pub numbers: NumFormat,
    /// Signed or not.
    pub sign: FormatComp,
    /// How signed fractions become floats.
    pub srf: SrfMode,
    /// Byte order.
    pub endian: EndianSwap,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            data: DataFormat::Fmt32_32_32_32Float,
            numbers: NumFormat::Norm,
            sign: FormatComp::Unsigned,
            srf: SrfMode::ZeroClampMinusOne,
            endian: EndianSwap::None,
        }
    }
}

/// The element layout of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Bit widths of the elements, first element first: fractions or integers as the fetch says.
    Packed(&'static [u32]),
    /// Bit widths of the elements: floating point.
    Float(&'static [u32]),
    /// Three fractions of 9 bits with a common exponent of 5.
    SharedExponent,
    /// A float of 24 bits and a fraction or integer of 8, the float first or last.
    SmallDepth {
        /// Whether the float lies in the lower bits.
        float_first: bool,
    },
    /// A float of 32 bits, then an integer of 8.
    FloatAndStencil,
    /// Not for fetches into registers, or not done.
    Other(&'static str),
}

/// The elements of a format.
#[must_use]
pub const fn elements(format: DataFormat) -> Elements {
    use Elements::{Float, Other, Packed};
    match format {
        DataFormat::FmtInvalid
        | DataFormat::FmtReserved4
        | DataFormat::FmtReserved33
        | DataFormat::FmtReserved36
        | DataFormat::FmtReserved63 => Other("a reserved format"),
        DataFormat::Fmt8 => Packed(&[8]),
        DataFormat::Fmt4_4 => Packed(&[4, 4]),
        DataFormat::Fmt3_3_2 => Packed(&[2, 3, 3]),
        DataFormat::Fmt16 => Packed(&[16]),
        DataFormat::Fmt16Float => Float(&[16]),
        DataFormat::Fmt8_8 => Packed(&[8, 8]),
        DataFormat::Fmt5_6_5 => Packed(&[5, 6, 5]),
        DataFormat::Fmt6_5_5 => Packed(&[5, 5, 6]),
        DataFormat::Fmt1_5_5_5 => Packed(&[5, 5, 5, 1]),
        DataFormat::Fmt4_4_4_4 => Packed(&[4, 4, 4, 4]),
        DataFormat::Fmt5_5_5_1 => Packed(&[1, 5, 5, 5]),
        DataFormat::Fmt32 => Packed(&[32]),
        DataFormat::Fmt32Float => Float(&[32]),
        DataFormat::Fmt16_16 => Packed(&[16, 16]),
        DataFormat::Fmt16_16Float => Float(&[16, 16]),
        DataFormat::Fmt8_24 => Packed(&[24, 8]),
        DataFormat::Fmt24_8 => Packed(&[8, 24]),
        DataFormat::Fmt8_24Float => Elements::SmallDepth { float_first: true },
        DataFormat::Fmt24_8Float => Elements::SmallDepth { float_first: false },
        DataFormat::Fmt10_11_11 => Packed(&[11, 11, 10]),
        DataFormat::Fmt10_11_11Float => Float(&[11, 11, 10]),
        DataFormat::Fmt11_11_10 => Packed(&[10, 11, 11]),
        DataFormat::Fmt11_11_10Float => Float(&[10, 11, 11]),
        DataFormat::Fmt2_10_10_10 => Packed(&[10, 10, 10, 2]),
        DataFormat::Fmt8_8_8_8 => Packed(&[8, 8, 8, 8]),
        DataFormat::Fmt10_10_10_2 => Packed(&[2, 10, 10, 10]),
        DataFormat::FmtX24_8_32Float => Elements::FloatAndStencil,
        DataFormat::Fmt32_32 => Packed(&[32, 32]),
        DataFormat::Fmt32_32Float => Float(&[32, 32]),
        DataFormat::Fmt16_16_16_16 => Packed(&[16, 16, 16, 16]),
        DataFormat::Fmt16_16_16_16Float => Float(&[16, 16, 16, 16]),
        DataFormat::Fmt32_32_32_32 => Packed(&[32, 32, 32, 32]),
        DataFormat::Fmt32_32_32_32Float => Float(&[32, 32, 32, 32]),
        DataFormat::Fmt1 | DataFormat::Fmt1Reversed => Other("texels of one bit"),
        DataFormat::FmtGbGr | DataFormat::FmtBgRg => Other("video formats"),
        DataFormat::Fmt32As8 | DataFormat::Fmt32As8_8 => Other("32 bits as 8"),
        DataFormat::Fmt5_9_9_9Sharedexp => Elements::SharedExponent,
        DataFormat::Fmt8_8_8 => Packed(&[8, 8, 8]),
        DataFormat::Fmt16_16_16 => Packed(&[16, 16, 16]),
        DataFormat::Fmt16_16_16Float => Float(&[16, 16, 16]),
        DataFormat::Fmt32_32_32 => Packed(&[32, 32, 32]),
        DataFormat::Fmt32_32_32Float => Float(&[32, 32, 32]),
        DataFormat::FmtBc1
        | DataFormat::FmtBc2
        | DataFormat::FmtBc3
        | DataFormat::FmtBc4
        | DataFormat::FmtBc5
        | DataFormat::FmtApc0
        | DataFormat::FmtApc1
        | DataFormat::FmtApc2
        | DataFormat::FmtApc3
        | DataFormat::FmtApc4
        | DataFormat::FmtApc5
        | DataFormat::FmtApc6
        | DataFormat::FmtApc7
        | DataFormat::FmtCtx1 => Other("compressed blocks"),
    }
}

/// Bytes of one item of a format.
///
/// # Errors
/// A format that cannot be fetched.
pub fn size_bytes(format: DataFormat) -> Result<usize, FaultKind> {
    match elements(format) {
        Elements::Packed(sizes) | Elements::Float(sizes) => Ok(sizes.iter().sum::<u32>() as usize / 8),
        Elements::SharedExponent | Elements::SmallDepth { .. } => Ok(4),
        Elements::FloatAndStencil => Ok(8),
        Elements::Other(what) => Err(FaultKind::Unsupported {
            feature: format!("fetches of {}: {what}", format.name()),
            section: "R700 §10.3",
        }),
    }
}

/// The byte of memory that is at `offset` in the order that a fetch reads (R700 §10.3, ENDIAN_SWAP).
#[must_use]
pub const fn swapped(offset: u64, endian: EndianSwap) -> u64 {
    match endian {
        EndianSwap::None => offset,
        EndianSwap::Swap8In16 => offset ^ 1,
        EndianSwap::Swap8In32 => offset ^ 3,
    }
}

/// The bits of the four elements of an item; `item` holds [`size_bytes`] bytes.
///
/// # Errors
/// A format that cannot be fetched.
pub fn convert(format: &Format, item: &[u8]) -> Result<[u32; 4], FaultKind> {
    size_bytes(format.data)?;
    let mut whole = [0u8; 16];
    for (place, byte) in whole.iter_mut().zip(item) {
        *place = *byte;
    }
    let whole = u128::from_le_bytes(whole);
    #[allow(clippy::cast_possible_truncation, reason = "cut to the element's bits")]
    let field = |at: u32, size: u32| (whole >> at) as u32 & (u32::MAX >> (32 - size));
    let one = if format.numbers == NumFormat::Int { 1 } else { 1f32.to_bits() };
    let mut result = [0, 0, 0, one];
    match elements(format.data) {
        Elements::Packed(sizes) | Elements::Float(sizes) => {
            if matches!(elements(format.data), Elements::Float(_)) {
                result[3] = 1f32.to_bits();
            }
            let mut at = 0;
            for (place, &size) in result.iter_mut().zip(sizes) {
                *place = element(format, field(at, size), size);
                at += size;
            }
        }
        Elements::SharedExponent => {
            // Each fraction counts 2^-9 of 2^(exponent - 15).
            let scale = 2f64.powi(field(27, 5).cast_signed() - 15 - 9);
            #[allow(clippy::cast_possible_truncation, reason = "the product is exact")]
            for (element, place) in (0..3).zip(&mut result) {
                *place = ((f64::from(field(9 * element, 9)) * scale) as f32).to_bits();
            }
            result[3] = 1f32.to_bits();
        }
        Elements::SmallDepth { float_first: true } => {
            result = [float_24(field(0, 24)), number(format, field(24, 8), 8), 0, one]
        }
        Elements::SmallDepth { float_first: false } => {
            result = [number(format, field(0, 8), 8), float_24(field(8, 24)), 0, one]
        }
        Elements::FloatAndStencil => result = [field(0, 32), field(32, 8), 0, one],
        Elements::Other(_) => {}
    }
    Ok(result)
}

/// The element layout for `size` bits, in a format of [`Elements::Packed`] or [`Elements::Float`].
pub(super) fn element(format: &Format, field: u32, size: u32) -> u32 {
    match elements(format.data) {
        Elements::Float(_) => small_float(field, size),
        _ => number(format, field, size),
    }
}

/// A float of 24 bits: no sign, 4 bits of exponent, 20 of fraction, 0..2; the exponent counts from 2^-15, that of denormals is 2^-14.
///
/// UNVERIFIED: the manual names the formats only. Direct3D 9 gives its format D24FS8 this shape; a depth buffer of a real card would settle it.
fn float_24(field: u32) -> u32 {
    let (exponent, fraction) = (field >> 20, field & 0xf_ffff);
    if exponent == 0 {
        // Exact: at most 20 bits times a power of two.
        #[allow(clippy::cast_precision_loss, reason = "20 bits")]
        let small = fraction as f32 * 2f32.powi(-34);
        small.to_bits()
    } else {
        (exponent + 127 - 15) << 23 | fraction << 3
    }
}

/// Whether the first element of a format holds any single-precision number, so that [`in_format`] changes none.
#[must_use]
pub const fn keeps_single(format: &Format) -> bool {
    match elements(format.data) {
        Elements::Float(sizes) => sizes[0] == 32,
        Elements::FloatAndStencil | Elements::Other(_) | Elements::SharedExponent => true,
        Elements::Packed(_) => matches!(format.numbers, NumFormat::Int),
        Elements::SmallDepth { .. } => false,
    }
}

/// The largest whole number of a format's first element where that is an unsigned fraction: 1.0 is this number.
#[must_use]
pub const fn unsigned_fraction(format: &Format) -> Option<u32> {
    match (elements(format.data), format.numbers, format.sign) {
        (Elements::Packed(sizes), NumFormat::Norm, FormatComp::Unsigned) => Some(u32::MAX >> (32 - sizes[0])),
        _ => None,
    }
}

/// A reference value as the first element of a format would hold it (R700 §9.4, SAMPLE_C: "converted to the source format before the
/// compare"): the nearest number of the format, ties to even, kept in its range. A NaN stays one where the format has NaNs, and is 0
/// elsewhere. Integers, shared exponents and compressed blocks are compared as they are returned.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within the format's range")]
pub fn in_format(format: &Format, reference: f32) -> f32 {
    if keeps_single(format) {
        return reference;
    }
    let x = f64::from(reference);
    let packed = |size: u32| {
        if x.is_nan() {
            return 0.0;
        }
        let most = ((1i64 << size) - 1) as f64;
        let signed_most = ((1i64 << (size - 1)) - 1).max(1) as f64;
        let signed = format.sign == FormatComp::Signed;
        // The integer that the element holds.
        let (value, lowest, highest) = match (format.numbers, signed, format.srf) {
            (NumFormat::Norm, false, _) => (x.clamp(0.0, 1.0) * most, 0.0, most),
            (NumFormat::Norm, true, SrfMode::ZeroClampMinusOne) => (x * signed_most, -signed_most, signed_most),
            (NumFormat::Norm, true, SrfMode::NoZero) => ((x * most - 1.0) / 2.0, -signed_most - 1.0, signed_most),
            (NumFormat::Scaled | NumFormat::Int, false, _) => (x, 0.0, most),
            (NumFormat::Scaled | NumFormat::Int, true, _) => (x, -signed_most - 1.0, signed_most),
        };
        let field = value.round_ties_even().clamp(lowest, highest) as i64;
        f32::from_bits(number(format, field as u32 & (u32::MAX >> (32 - size)), size))
    };
    match elements(format.data) {
        Elements::Packed(sizes) => packed(sizes[0]),
        Elements::SmallDepth { float_first: false } => packed(8),
        Elements::SmallDepth { float_first: true } => {
            // The largest number is just below 2.
            let kept = if x > 0.0 { x } else { 0.0 };
            rounded(kept, 20).min(2.0 - 2f64.powi(-20)) as f32
        }
        Elements::Float(sizes) => {
            let fraction = if sizes[0] == 16 { 10 } else { sizes[0] - 5 };
            let kept = if sizes[0] != 16 && x < 0.0 { 0.0 } else { x };
            let near = rounded(kept, fraction);
            // Beyond the largest number lies infinity.
            if near.abs() >= 65536.0 { near.signum() as f32 * f32::INFINITY } else { near as f32 }
        }
        Elements::SharedExponent | Elements::FloatAndStencil | Elements::Other(_) => reference,
    }
}

/// The nearest number with this number of fraction bits and exponents from -14 on; denormals below.
fn rounded(x: f64, fraction_bits: u32) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    // Not `log2`, which is rounded as the host's library likes.
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-14);
    let step = 2f64.powi(exponent - fraction_bits.cast_signed());
    (x / step).round_ties_even() * step
}

/// One element of `size` bits as the format returns it (NUM_FORMAT_ALL, FORMAT_COMP_ALL, SRF_MODE_ALL).
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "each is the one rounding")]
fn number(format: &Format, field: u32, size: u32) -> u32 {
    let signed = i64::from((field << (32 - size)).cast_signed() >> (32 - size));
    let unsigned = i64::from(field);
    let value = if format.sign == FormatComp::Signed { signed } else { unsigned };
    let most = (1i64 << size) - 1;
    match (format.numbers, format.sign, format.srf) {
        (NumFormat::Int, _, _) => value as i32 as u32,
        (NumFormat::Scaled, _, _) => (value as f32).to_bits(),
        (NumFormat::Norm, FormatComp::Unsigned, _) => bits((value as f64 / most as f64) as f32),
        (NumFormat::Norm, FormatComp::Signed, SrfMode::ZeroClampMinusOne) => {
            // One bit has only the two numbers 0 and -1.
            let largest = (1i64 << (size - 1)) - 1;
            bits((value as f64 / largest.max(1) as f64).max(-1.0) as f32)
        }
        (NumFormat::Norm, FormatComp::Signed, SrfMode::NoZero) => bits(((2 * value + 1) as f64 / most as f64) as f32),
    }
}

/// A floating-point element as single precision: 32 bits as they are; 16 bits with sign, 5 bits of exponent, 10 of fraction; 11 and 10
/// bits without sign, 5 of exponent. Denormals of the small ones are exact numbers.
fn small_float(field: u32, size: u32) -> u32 {
    if size == 32 {
        return field;
    }
    let fraction_bits = match size {
        16 => 10,
        _ => size - 5,
    };
    let fraction = field & ((1 << fraction_bits) - 1);
    let exponent = field >> fraction_bits & 31;
    let sign = if size == 16 { (field >> 15 & 1) << 31 } else { 0 };
    let magnitude = match (exponent, fraction) {
        (31, fraction) => 0x7f80_0000 | fraction << (23 - fraction_bits),
        (0, fraction) => {
            let scale = 2f64.powi(-14 - fraction_bits.cast_signed());
            #[allow(clippy::cast_possible_truncation, reason = "the product is exact")]
            let small = (f64::from(fraction) * scale) as f32;
            small.to_bits()
        }
        (exponent, fraction) => (exponent + 127 - 15) << 23 | fraction << (23 - fraction_bits),
    };
    sign | magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data: DataFormat, numbers: NumFormat, sign: FormatComp) -> Format {
        Format { data, numbers, sign, ..Format::default() }
    }

    #[test]
    fn references_become_numbers_of_the_format() {
        let unsigned = |data| of(data, NumFormat::Norm, FormatComp::Unsigned);
        let byte = unsigned(DataFormat::Fmt8);
        for (given, expected) in
            [(0.5, 128.0 / 255.0), (-1.0, 0.0), (7.0, 1.0), (f32::NAN, 0.0), (f32::INFINITY, 1.0), (0.001, 0.0)]
        {
            assert_eq!(in_format(&byte, given), expected, "{given}");
        }
        // The texel's value stays.
        for field in 0..=255u8 {
            let [texel, ..] = convert(&byte, &[field]).unwrap_or_default();
            assert_eq!(in_format(&byte, f32::from_bits(texel)).to_bits(), texel);
        }
        let signed = of(DataFormat::Fmt16, NumFormat::Norm, FormatComp::Signed);
        assert_eq!(in_format(&signed, -3.0), -1.0);
        assert_eq!(in_format(&signed, 0.25), 8192.0 / 32767.0);
        let scaled = of(DataFormat::Fmt8, NumFormat::Scaled, FormatComp::Signed);
        assert_eq!([-200.0, 2.5, 3.5].map(|x| in_format(&scaled, x)), [-128.0, 2.0, 4.0]);
        let depth = unsigned(DataFormat::Fmt8_24);
        assert_eq!(in_format(&depth, 0.5), (f64::from(1 << 23) / f64::from((1 << 24) - 1)) as f32);
        let half = unsigned(DataFormat::Fmt16Float);
        assert_eq!(in_format(&half, 1.0 + 2f32.powi(-12)), 1.0);
        assert_eq!(in_format(&half, 70000.0), f32::INFINITY);
        assert!(in_format(&half, f32::NAN).is_nan());
        for bits in (0..0x7c00u16).step_by(7) {
            let [texel, ..] = convert(&half, &bits.to_le_bytes()).unwrap_or_default();
            assert_eq!(in_format(&half, f32::from_bits(texel)).to_bits(), texel);
        }
        let small = unsigned(DataFormat::Fmt8_24Float);
        assert_eq!([-1.0, 0.75, 5.0].map(|x| in_format(&small, x)), [0.0, 0.75, 2.0 - 2f32.powi(-20)]);
        let single = Format::default();
        assert_eq!(in_format(&single, 0.1), 0.1);
    }
}
