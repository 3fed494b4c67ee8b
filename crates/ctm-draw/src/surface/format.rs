//! Formats of colour targets: from exported colours to stored bits and back.
//!
//! The fields of a format are those of [`ctm_exec::r700::formats`]; this file adds the further parts of a colour target: a number type, the order
//! of channels, and the way back from numbers to bits. Numbers are computed in double precision and rounded once.

mod fractions;
mod numbers;

use crate::lanes::{Wide, widely};
use ctm_exec::r700::formats::{Elements, Format, convert, elements, size_bytes};
use ctm_exec::x1k::Form;
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};
pub(crate) use fractions::{Dwords, Fractions};
pub use numbers::float_24;
use numbers::{byte, byte_within, linear, packed_number, small_float};
use std::sync::LazyLock;

/// Pixels that are blended together.
pub(crate) const TOGETHER: usize = 64;

/// A channel of pixels side by side.
pub(crate) type ChannelRow = [f32; TOGETHER];

/// The number type of a colour target's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NumberType {
    /// Fractions of 0 to 1.
    #[default]
    Unorm,
    /// Fractions of -1 to 1.
    Snorm,
    /// Unsigned integers; exports and blending are floats.
    Uscaled,
    /// Signed integers; exports and blending are floats.
    Sscaled,
    /// Unsigned integers; exports are integers.
    Uint,
    /// Signed integers; exports are integers.
    Sint,
    /// Fractions of 0 to 1, red, green and blue by the sRGB curve. Blending is done on linear values.
    Srgb,
    /// Floating point.
    Float,
}

impl NumberType {
    /// Whether exports are integers: no blending, no alpha test.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }
}

/// Which colour channel lies in which field of a colour target.
///
/// | fields | `Std` | `Alt` | `StdRev` | `AltRev` |
/// |---|---|---|---|---|
/// | 4 | R G B A | B G R A | A B G R | A R G B |
/// | 3 | R G B | R G A | B G R | A G R |
/// | 2 | R G | R A | G R | A R |
/// | 1 | R | G | B | A |
///
/// The first field is the one in the lowest bits. UNVERIFIED: `Alt` and `AltRev` with three fields, `Alt` and `StdRev` with one; a
/// target of a real card would settle them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swap {
    /// Red first.
    #[default]
    Std,
    /// Blue first, alpha last.
    Alt,
    /// Alpha first, red last.
    StdRev,
    /// Alpha first, blue last.
    AltRev,
}

const R: usize = 0;
const G: usize = 1;
const B: usize = 2;
const A: usize = 3;

impl Swap {
    /// The channel (0 = red .. 3 = alpha) of each field, of a format with 1 to 4 fields.
    const fn channels(self, fields: usize) -> &'static [usize] {
        match (self, fields) {
            (Self::Std, 4..) => &[R, G, B, A],
            (Self::Alt, 4..) => &[B, G, R, A],
            (Self::StdRev, 4..) => &[A, B, G, R],
            (Self::AltRev, 4..) => &[A, R, G, B],
            (Self::Std, 3) => &[R, G, B],
            (Self::Alt, 3) => &[R, G, A],
            (Self::StdRev, 3) => &[B, G, R],
            (Self::AltRev, 3) => &[A, G, R],
            (Self::Std, 2) => &[R, G],
            (Self::Alt, 2) => &[R, A],
            (Self::StdRev, 2) => &[G, R],
            (Self::AltRev, 2) => &[A, R],
            (Self::Std, _) => &[R],
            (Self::Alt, _) => &[G],
            (Self::StdRev, _) => &[B],
            (Self::AltRev, _) => &[A],
        }
    }
}

/// The format of a colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColourFormat {
    /// Sizes and kinds of the fields.
    pub data: DataFormat,
    /// Their number type.
    pub number: NumberType,
    /// Which channel each of them is.
    pub swap: Swap,
}

impl ColourFormat {
    /// 8 bits each of red, green, blue and alpha, in this order in memory.
    pub const RGBA8: Self = Self { data: DataFormat::Fmt8_8_8_8, number: NumberType::Unorm, swap: Swap::Std };
    /// Four floats of 32 bits.
    pub const RGBA32F: Self =
        Self { data: DataFormat::Fmt32_32_32_32Float, number: NumberType::Float, swap: Swap::Std };
}

/// Why a format cannot be that of a colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// It is no format of a colour target.
    NotATarget(DataFormat),
    /// Its fields are floats and the number type is not, or the reverse.
    Number(DataFormat, NumberType),
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotATarget(format) => write!(f, "{} cannot be the format of a colour target", format.name()),
            Self::Number(format, number) => {
                write!(f, "{} with numbers {number:?}: formats of floats have Float, others have not", format.name())
            }
        }
    }
}

impl std::error::Error for FormatError {}

/// One field of a stored colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ColourField {
    /// Its lowest bit and its size.
    at: u32,
    size: u32,
    kind: FieldKind,
    /// 0 = red .. 3 = alpha.
    channel: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Number(NumberType),
    /// IEEE-like: 32 bits; 16 with sign; 11 and 10 without.
    Float,
    /// The depth buffer's float of 24 bits.
    Float24,
}

/// A colour format, checked, with the data to store and load colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colours {
    format: ColourFormat,
    bytes: usize,
    fields: [Option<ColourField>; 4],
    /// How the fields are read back.
    read: Format,
    /// Four fractions of 8 bits: where that of each channel lies.
    bytes_at: Option<[u32; 4]>,
}

/// The fractions of 8 bits, as they are read back.
static FRACTIONS: LazyLock<[u32; 256]> = LazyLock::new(|| {
    let format = Format { data: DataFormat::Fmt8, ..Format::default() };
    std::array::from_fn(|n| convert(&format, &[n as u8]).unwrap_or_default()[0])
});

/// Whether formats of this name can be colour targets: those with fields of 1 to 32 bits in 1, 2, 4, 8 or 16 bytes.
fn can_be_target(data: DataFormat) -> bool {
    let shared = matches!(elements(data), Elements::SharedExponent | Elements::Other(_));
    !shared && matches!(size_bytes(data), Ok(1 | 2 | 4 | 8 | 16))
}

/// Bytes of channels, to be added to dwords.
struct Packed<'p> {
    to: &'p mut [u32],
    rgba: [&'p [u32]; 4],
    /// Where the byte of each begins.
    at: [u32; 4],
}

impl Wide for Packed<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (row, at) in self.rgba.into_iter().zip(self.at) {
            for (to, &value) in self.to.iter_mut().zip(row) {
                let value = f32::from_bits(value);
                // NaN becomes 0.
                let raised = if value > 0.0 { value } else { 0.0 };
                *to |= byte_within(if raised < 1.0 { raised } else { 1.0 }) << at;
            }
        }
    }
}

impl Colours {
    /// Of a format.
    ///
    /// # Errors
    /// It is no format of a colour target.
    pub fn new(format: ColourFormat) -> Result<Self, FormatError> {
        let ColourFormat { data, number, swap } = format;
        if !can_be_target(data) {
            return Err(FormatError::NotATarget(data));
        }
        let bytes = size_bytes(data).map_err(|_| FormatError::NotATarget(data))?;
        // Stencil beside a float is an integer; beside a fraction it is a fraction like the rest.
        let integer = FieldKind::Number(NumberType::Uint);
        let all_float = matches!(elements(data), Elements::Float(_) | Elements::FloatAndStencil);
        let some_float = all_float || matches!(elements(data), Elements::SmallDepth { .. });
        if some_float != (number == NumberType::Float) {
            return Err(FormatError::Number(data, number));
        }
        let (float, float24) = (FieldKind::Float, FieldKind::Float24);
        let sizes: Vec<(u32, FieldKind)> = match elements(data) {
            Elements::Packed(sizes) => sizes.iter().map(|&size| (size, FieldKind::Number(number))).collect(),
            Elements::Float(sizes) => sizes.iter().map(|&size| (size, float)).collect(),
            Elements::SmallDepth { float_first: true } => vec![(24, float24), (8, integer)],
            Elements::SmallDepth { float_first: false } => vec![(8, integer), (24, float24)],
            Elements::FloatAndStencil => vec![(32, float), (8, integer)],
            Elements::SharedExponent | Elements::Other(_) => return Err(FormatError::NotATarget(data)),
        };
        let channels = swap.channels(sizes.len());
        let mut fields = [None; 4];
        let mut at = 0;
        for ((place, (size, kind)), &channel) in fields.iter_mut().zip(sizes).zip(channels) {
            *place = Some(ColourField { at, size, kind, channel });
            at += size;
        }
        let (numbers, sign) = match number {
            NumberType::Unorm | NumberType::Srgb => (NumFormat::Norm, FormatComp::Unsigned),
            NumberType::Snorm => (NumFormat::Norm, FormatComp::Signed),
            NumberType::Uscaled => (NumFormat::Scaled, FormatComp::Unsigned),
            NumberType::Sscaled => (NumFormat::Scaled, FormatComp::Signed),
            NumberType::Uint | NumberType::Float => (NumFormat::Int, FormatComp::Unsigned),
            NumberType::Sint => (NumFormat::Int, FormatComp::Signed),
        };
        let mut bytes_at = [0; 4];
        fields.iter().flatten().for_each(|field| bytes_at[field.channel] = field.at);
        let is_bytes = data == DataFormat::Fmt8_8_8_8 && number == NumberType::Unorm;
        let bytes_at = is_bytes.then_some(bytes_at);
        Ok(Self { format, bytes, fields, read: Format { data, numbers, sign, ..Format::default() }, bytes_at })
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> ColourFormat {
        self.format
    }

    /// The format of a texture that shows the target, channels in their order: its first element is red, the operand of comparisons (R700 §9.4).
    /// Where red's field is not the first one, this is a format whose first element has red's size; four floats where there is none (3 and 6 bits).
    #[must_use]
    pub fn texel_format(&self) -> Format {
        if self.format.number == NumberType::Srgb {
            // Its curve is no part of a texel's format here: comparisons use the results of lookups.
            return Format::default();
        }
        let first = |data: DataFormat| match elements(data) {
            Elements::Packed(sizes) => Some((false, sizes[0])),
            Elements::Float(sizes) => Some((true, sizes[0])),
            Elements::SharedExponent | Elements::SmallDepth { .. } | Elements::FloatAndStencil | Elements::Other(_) => {
                None
            }
        };
        let red = self.fields.iter().flatten().find(|field| field.channel == R);
        let red = red.map(|field| (field.kind == FieldKind::Float, field.size));
        let same = |data: &DataFormat| first(*data) == red;
        if red.is_none() || same(&self.read.data) {
            return self.read;
        }
        if first(self.read.data).is_none() {
            // Depth and stencil together: the float, where it comes first.
            let begins = self.fields[0]
                .is_some_and(|field| field.channel == R && matches!(field.kind, FieldKind::Float | FieldKind::Float24));
            return if begins { self.read } else { Format::default() };
        }
        match DataFormat::ALL.iter().copied().find(same) {
            Some(data) => Format { data, ..self.read },
            None => Format::default(),
        }
    }

    /// Bytes of a stored colour: 1, 2, 4, 8 or 16.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The stored bits of a colour. `rgba` are floats as bits, or integers where the number type says so. `truncates`: towards zero instead of to
    /// the nearest.
    #[must_use]
    #[inline]
    pub fn pack(&self, rgba: [u32; 4], truncates: bool) -> u128 {
        if let (Some(at), false) = (&self.bytes_at, truncates) {
            return rgba.into_iter().zip(at).fold(0, |bits, (value, at)| bits | byte(value) << at).into();
        }
        self.pack_fields(rgba, truncates)
    }

    /// The format's name in engines that store colours themselves, and its count of channels; `None` where they do not support it.
    pub(crate) fn form(&self) -> Option<(Form, u8)> {
        if let Some(at) = self.bytes_at {
            return match at {
                [0, 8, 16, 24] => Some((Form::Bytes { swapped: false }, 4)),
                [16, 8, 0, 24] => Some((Form::Bytes { swapped: true }, 4)),
                _ => None,
            };
        }
        let channels = self.fields.iter().flatten().count();
        let is_plain =
            |(n, field): (usize, &ColourField)| (field.channel, field.size, field.kind) == (n, 32, FieldKind::Float);
        let is_float = self.bytes == 4 * channels && self.fields.iter().flatten().enumerate().all(is_plain);
        is_float.then_some((Form::Floats, channels as u8))
    }

    /// The stored bits of colours, channel by channel, as [`Self::pack`] makes them, where every channel is a byte; `None` for other
    /// formats. Reuses `to`.
    pub(crate) fn pack_rows(&self, rgba: [&[u32]; 4], truncates: bool, mut to: Vec<u32>) -> Option<Vec<u32>> {
        let at = self.bytes_at.filter(|_| !truncates)?;
        to.clear();
        to.resize(rgba.iter().map(|row| row.len()).min().unwrap_or(0), 0);
        widely(Packed { to: &mut to, rgba, at });
        Some(to)
    }

    /// The colours of stored bits, channel by channel, as by [`Self::unpack`].
    pub(crate) fn unpack_rows(&self, stored: &[u128], rgba: &mut [ChannelRow; 4]) {
        for (n, &bits) in stored.iter().enumerate().take(TOGETHER) {
            rgba.iter_mut().zip(self.unpack(bits)).for_each(|(row, value)| row[n] = f32::from_bits(value));
        }
    }

    fn pack_fields(&self, rgba: [u32; 4], truncates: bool) -> u128 {
        let mut bits = 0;
        for field in self.fields.iter().flatten() {
            let value = rgba[field.channel];
            let packed = match field.kind {
                FieldKind::Float => small_float(f32::from_bits(value), field.size),
                FieldKind::Float24 => float_24(f32::from_bits(value)),
                FieldKind::Number(number) => {
                    // The sRGB curve is for colours, not for alpha.
                    let number = match number {
                        NumberType::Srgb if field.channel == A => NumberType::Unorm,
                        number => number,
                    };
                    packed_number(value, number, field.size, truncates)
                }
            };
            bits |= u128::from(packed) << field.at;
        }
        bits
    }

    /// The colour of stored bits: floats as bits, or integers. Red, green and blue that the format lacks are 0, alpha is 1.
    #[must_use]
    #[inline]
    pub fn unpack(&self, bits: u128) -> [u32; 4] {
        if let Some(at) = self.bytes_at {
            return at.map(|at| FRACTIONS[(bits as u32 >> at & 255) as usize]);
        }
        self.unpack_fields(bits)
    }

    fn unpack_fields(&self, bits: u128) -> [u32; 4] {
        let fields = convert(&self.read, &bits.to_le_bytes()[..self.bytes]).unwrap_or_default();
        let one = if self.format.number.is_integer() { 1 } else { 1f32.to_bits() };
        let mut rgba = [0, 0, 0, one];
        for (field, value) in self.fields.iter().zip(fields) {
            let Some(field) = field else { continue };
            rgba[field.channel] = match self.format.number {
                NumberType::Srgb if field.channel != A => linear(f32::from_bits(value)).to_bits(),
                _ => value,
            };
        }
        rgba
    }

    /// The stored bits that belong to channels of a write mask (bit 0 = red). Bits of no field, as the unused ones of `X24_8_32_FLOAT`, belong to
    /// none.
    #[must_use]
    pub fn mask(&self, channels: u8) -> u128 {
        let fields = self.fields.iter().flatten().filter(|field| channels >> field.channel & 1 == 1);
        fields.fold(0, |mask, field| mask | ((1 << field.size) - 1) << field.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(data: DataFormat, number: NumberType, swap: Swap) -> Colours {
        match Colours::new(ColourFormat { data, number, swap }) {
            Ok(colours) => colours,
            Err(error) => panic!("{error}"),
        }
    }

    const NUMBERS: [NumberType; 8] = [
        NumberType::Unorm,
        NumberType::Snorm,
        NumberType::Uscaled,
        NumberType::Sscaled,
        NumberType::Uint,
        NumberType::Sint,
        NumberType::Srgb,
        NumberType::Float,
    ];
    const SWAPS: [Swap; 4] = [Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev];

    #[test]
    fn what_is_loaded_is_stored_again() {
        let mut formats = 0;
        for &data in DataFormat::ALL {
            for number in NUMBERS {
                for swap in SWAPS {
                    let Ok(colours) = Colours::new(ColourFormat { data, number, swap }) else { continue };
                    formats += 1;
                    // The curve is steeper than single precision is fine there.
                    if number == NumberType::Srgb && colours.fields.iter().flatten().any(|field| field.size > 12) {
                        continue;
                    }
                    let mut state = 0x9e37_79b9_7f4a_7c15u128 << 32 | 1;
                    for n in 0..300u128 {
                        state = state.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(41) ^ n;
                        let bits = match n {
                            0 => 0,
                            1 => u128::MAX,
                            _ => state,
                        } & colours.mask(15);
                        let again = colours.pack(colours.unpack(bits), false);
                        // Two patterns mean -1; NaN patterns become one.
                        let same = colours.unpack(again) == colours.unpack(bits)
                            || colours.unpack(bits).iter().any(|&x| f32::from_bits(x).is_nan());
                        assert!(same, "{data:?} {number:?} {swap:?}: {bits:x} became {again:x}");
                    }
                }
            }
        }
        assert!(formats > 300, "{formats}");
    }

    #[test]
    fn channels_lie_where_the_swap_says() {
        // (format, swap, red, green, blue, alpha as bits of the stored word); names from Mesa's formats of the same order.
        use DataFormat::{Fmt1_5_5_5, Fmt2_10_10_10, Fmt4_4_4_4, Fmt5_6_5, Fmt8, Fmt8_8, Fmt8_8_8_8};
        let table = [
            (Fmt8_8_8_8, Swap::Std, [0xff, 0xff00, 0xff_0000, 0xff00_0000]),
            (Fmt8_8_8_8, Swap::Alt, [0xff_0000, 0xff00, 0xff, 0xff00_0000]),
            (Fmt8_8_8_8, Swap::AltRev, [0xff00, 0xff_0000, 0xff00_0000, 0xff]),
            (Fmt8_8_8_8, Swap::StdRev, [0xff00_0000, 0xff_0000, 0xff00, 0xff]),
            (Fmt5_6_5, Swap::StdRev, [0xf800, 0x7e0, 0x1f, 0]),
            (Fmt1_5_5_5, Swap::Alt, [0x7c00, 0x3e0, 0x1f, 0x8000]),
            (Fmt4_4_4_4, Swap::Alt, [0xf00, 0xf0, 0xf, 0xf000]),
            (Fmt2_10_10_10, Swap::Alt, [0x3ff0_0000, 0xf_fc00, 0x3ff, 0xc000_0000]),
            (Fmt8, Swap::AltRev, [0, 0, 0, 0xff]),
            (Fmt8, Swap::Std, [0xff, 0, 0, 0]),
            (Fmt8_8, Swap::Alt, [0xff, 0, 0, 0xff00]),
        ];
        for (data, swap, expected) in table {
            let colours = colours(data, NumberType::Unorm, swap);
            for (channel, expected) in expected.into_iter().enumerate() {
                let mut rgba = [0; 4];
                rgba[channel] = 1f32.to_bits();
                assert_eq!(colours.pack(rgba, false), expected, "{data:?} {swap:?} channel {channel}");
                assert_eq!(colours.mask(1 << channel), expected);
            }
        }
    }

    #[test]
    fn numbers_are_clamped_and_rounded() {
        let one = |value: f32, number, size| packed_number(value.to_bits(), number, size, false);
        assert_eq!(one(0.5, NumberType::Unorm, 8), 128);
        assert_eq!(packed_number(0.5f32.to_bits(), NumberType::Unorm, 8, true), 127);
        assert_eq!(one(2.0, NumberType::Unorm, 10), 1023);
        assert_eq!(one(-1.0, NumberType::Unorm, 10), 0);
        assert_eq!(one(f32::NAN, NumberType::Unorm, 8), 0);
        assert_eq!(one(-1.0, NumberType::Snorm, 8), 0x81);
        assert_eq!(one(-7.6, NumberType::Sscaled, 4), 8);
        assert_eq!(one(300.0, NumberType::Uscaled, 8), 255);
        assert_eq!(one(0.5, NumberType::Srgb, 8), 188);
        assert_eq!(packed_number(300, NumberType::Uint, 8, false), 255);
        assert_eq!(packed_number((-300i32).cast_unsigned(), NumberType::Sint, 8, false), 0x80);
        assert_eq!(one(1.0, NumberType::Unorm, 32), u32::MAX);
    }

    #[test]
    fn floats_are_rounded_to_the_nearest() {
        for (value, expected) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2f32.powi(-24), 1),
            (2f32.powi(-25), 0),
            (1.5 * 2f32.powi(-25), 1),
            (2f32.powi(-14), 0x400),
            (f32::INFINITY, 0x7c00),
        ] {
            assert_eq!(small_float(value, 16), expected, "{value}");
        }
        assert_eq!(small_float(-1.0, 11), 0);
        assert_eq!(small_float(1.0, 11), 0x3c0);
        assert_eq!(small_float(1.0, 10), 0x1e0);
        assert_eq!(float_24(1.0), 0xf0_0000);
        assert_eq!(float_24(100.0), 0xff_ffff);
        // Every half is stored as itself.
        for half in 0..=u16::MAX {
            let colours = colours(DataFormat::Fmt16Float, NumberType::Float, Swap::Std);
            let value = colours.unpack(half.into());
            if !f32::from_bits(value[0]).is_nan() {
                assert_eq!(colours.pack(value, false), half.into());
            }
        }
    }

    #[test]
    fn formats_of_no_target_are_refused() {
        let of = |data, number| Colours::new(ColourFormat { data, number, swap: Swap::Std });
        assert_eq!(of(DataFormat::FmtBc1, NumberType::Unorm), Err(FormatError::NotATarget(DataFormat::FmtBc1)));
        assert_eq!(of(DataFormat::Fmt8_8_8, NumberType::Unorm), Err(FormatError::NotATarget(DataFormat::Fmt8_8_8)));
        let error = FormatError::Number(DataFormat::Fmt16Float, NumberType::Unorm);
        assert_eq!(of(DataFormat::Fmt16Float, NumberType::Unorm), Err(error));
    }
}
