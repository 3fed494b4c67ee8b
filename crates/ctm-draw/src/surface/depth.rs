//! Formats of the depth target: depth and stencil as bits.

use super::format::float_24;
use ctm_exec::r700::formats::{Format, convert};
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};

/// The format of a depth target. Depth and stencil of a sample lie side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DepthFormat {
    /// 16 bits, fractions.
    D16,
    /// 24 bits, fractions, in bits 23:0; the others are unused.
    #[default]
    X8D24,
    /// 24 bits, fractions, in bits 23:0; stencil in bits 31:24.
    S8D24,
    /// A float of 24 bits in bits 23:0; the others are unused.
    X8D24Float,
    /// A float of 24 bits in bits 23:0; stencil in bits 31:24.
    S8D24Float,
    /// 24 bits, fractions, in bits 31:8; stencil in bits 7:0.
    D24S8,
    /// A float of 24 bits in bits 31:8; stencil in bits 7:0.
    D24FloatS8,
    /// A float of 32 bits.
    D32Float,
    /// A float of 32 bits; stencil in bits 39:32; the others are unused.
    X24S8D32Float,
}

/// The depth part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DepthKind {
    Fraction(u32),
    Float24,
    Float32,
}

impl DepthFormat {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::D16,
        Self::X8D24,
        Self::S8D24,
        Self::X8D24Float,
        Self::S8D24Float,
        Self::D24S8,
        Self::D24FloatS8,
        Self::D32Float,
        Self::X24S8D32Float,
    ];

    /// The bits by which a sample is turned to the left: those of formats whose stencil lies below depth. Turned back it is one of another format.
    pub(crate) const fn turn(self) -> u32 {
        match self {
            Self::D24S8 | Self::D24FloatS8 => 8,
            _ => 0,
        }
    }

    /// A sample, turned back.
    const fn turned_back(self, bits: u64) -> u64 {
        bits & !0xffff_ffff | (bits as u32).rotate_right(self.turn()) as u64
    }

    /// A sample, turned again.
    const fn turned(self, bits: u64) -> u64 {
        bits & !0xffff_ffff | (bits as u32).rotate_left(self.turn()) as u64
    }

    /// Bytes of a sample, kind and bits of depth, and where stencil begins, if there is one; of a sample that is turned back.
    const fn row(self) -> (usize, DepthKind, Option<u32>) {
        match self {
            Self::D16 => (2, DepthKind::Fraction(16), None),
            Self::X8D24 => (4, DepthKind::Fraction(24), None),
            Self::S8D24 | Self::D24S8 => (4, DepthKind::Fraction(24), Some(24)),
            Self::X8D24Float => (4, DepthKind::Float24, None),
            Self::S8D24Float | Self::D24FloatS8 => (4, DepthKind::Float24, Some(24)),
            Self::D32Float => (4, DepthKind::Float32, None),
            Self::X24S8D32Float => (8, DepthKind::Float32, Some(32)),
        }
    }

    /// Bytes of a sample.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.row().0
    }

    /// Whether a sample has a stencil value.
    #[must_use]
    pub const fn has_stencil(self) -> bool {
        self.row().2.is_some()
    }

    /// The format of a texture that shows the depth, its first element: comparisons convert their reference value to it (R700 §9.4).
    #[must_use]
    pub fn texel_format(self) -> Format {
        let data = match self.row().1 {
            DepthKind::Fraction(16) => DataFormat::Fmt16,
            DepthKind::Fraction(_) => DataFormat::Fmt8_24,
            DepthKind::Float24 => DataFormat::Fmt8_24Float,
            DepthKind::Float32 => DataFormat::Fmt32Float,
        };
        Format { data, ..Format::default() }
    }

    /// Whether depth is a float, whose steps depend on its exponent.
    #[must_use]
    pub const fn is_float(self) -> bool {
        !matches!(self.row().1, DepthKind::Fraction(_))
    }

    /// The depth part.
    pub(crate) const fn kind(self) -> DepthKind {
        self.row().1
    }

    /// A stored depth; stored depths compare as their numbers do, but for negative floats ([`Self::passes`], which compares them). Fractions are
    /// clamped to 0 to 1 and rounded to the nearest, halves to even numbers.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the format's range")]
    pub fn quantised(self, depth: f64) -> u32 {
        match self.row().1 {
            DepthKind::Fraction(bits) => {
                let most = f64::from((1u32 << bits) - 1);
                // NaN becomes 0.
                (depth.clamp(0.0, 1.0) * most).round_ties_even() as u32
            }
            DepthKind::Float24 => float_24(depth as f32),
            DepthKind::Float32 => (depth as f32).to_bits(),
        }
    }

    /// The number of a stored depth.
    #[must_use]
    pub fn number(self, stored: u32) -> f64 {
        match self.row().1 {
            DepthKind::Fraction(bits) => f64::from(stored) / f64::from((1u32 << bits) - 1),
            DepthKind::Float24 => {
                // The fetch unit's table knows this float.
                let format = Format { data: DataFormat::Fmt8_24Float, ..Format::default() };
                let format = Format { numbers: NumFormat::Int, sign: FormatComp::Unsigned, ..format };
                let value = convert(&format, &stored.to_le_bytes()).unwrap_or_default();
                f64::from(f32::from_bits(value[0]))
            }
            DepthKind::Float32 => f64::from(f32::from_bits(stored)),
        }
    }

    /// Depth and stencil of a stored sample.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "fields")]
    pub const fn unpack(self, bits: u64) -> (u32, u8) {
        let (_, depth, stencil) = self.row();
        let bits = self.turned_back(bits);
        let depth = match depth {
            DepthKind::Fraction(16) => bits as u32 & 0xffff,
            DepthKind::Fraction(_) | DepthKind::Float24 => bits as u32 & 0xff_ffff,
            DepthKind::Float32 => bits as u32,
        };
        (depth, if let Some(at) = stencil { (bits >> at) as u8 } else { 0 })
    }

    /// A stored sample with another depth and stencil; unused bits stay.
    #[must_use]
    pub const fn pack(self, bits: u64, depth: u32, stencil: u8) -> u64 {
        let (_, kind, at) = self.row();
        let depth_mask = match kind {
            DepthKind::Fraction(16) => 0xffff,
            DepthKind::Fraction(_) | DepthKind::Float24 => 0xff_ffff,
            DepthKind::Float32 => 0xffff_ffff,
        };
        let with_depth = self.turned_back(bits) & !depth_mask | depth as u64 & depth_mask;
        self.turned(match at {
            Some(at) => with_depth & !(0xff << at) | (stencil as u64) << at,
            None => with_depth,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_stored_and_loaded() {
        for format in DepthFormat::ALL {
            let depth = format.quantised(0.625);
            let bits = format.pack(u64::MAX, depth, 0xa5);
            assert_eq!(format.unpack(bits).0, depth, "{format:?}");
            assert!((format.number(depth) - 0.625).abs() < 1e-4, "{format:?}");
            assert_eq!(format.unpack(bits).1, if format.has_stencil() { 0xa5 } else { 0 });
            if format.bytes() < 8 {
                let beyond = u64::MAX << (8 * format.bytes());
                assert_eq!(bits & beyond, beyond, "{format:?} changes what is not its own");
            }
        }
        assert_eq!(DepthFormat::X8D24.pack(0xff00_0000, 1, 2), 0xff00_0001);
        assert_eq!(DepthFormat::D24S8.pack(0x7_0000_0000, 0x12_3456, 0x78), 0x7_1234_5678);
        assert_eq!(DepthFormat::X24S8D32Float.pack(0xabcd_ef00_0000_0000, 7, 9), 0xabcd_ef09_0000_0007);
    }

    #[test]
    fn depths_are_clamped_and_rounded() {
        assert_eq!(DepthFormat::D16.quantised(2.0), 0xffff);
        assert_eq!(DepthFormat::D16.quantised(-1.0), 0);
        assert_eq!(DepthFormat::D16.quantised(f64::NAN), 0);
        assert_eq!(DepthFormat::D16.quantised(0.5), 0x8000);
        assert_eq!(DepthFormat::X8D24.quantised(0.5), 0x80_0000);
        assert_eq!(DepthFormat::D32Float.quantised(-2.5), (-2.5f32).to_bits());
    }
}
