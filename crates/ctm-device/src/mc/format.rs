//! Data formats and tilings, and the word that carries them in commands (CTM §2.2.2).

use super::translate::ElementSize;
use ctm_exec::arrays::scaled;
use ctm_isa::{ops, word_format};

/// The number type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelType {
    /// 0..=255 means 0..=1.
    Unorm8,
    /// 0..=65535 means 0..=1.
    Unorm16,
    /// A single-precision number.
    Float32,
}

impl ChannelType {
    /// Bytes of one channel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Unorm8 => 1,
            Self::Unorm16 => 2,
            Self::Float32 => 4,
        }
    }
}

/// The further columns of [`Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatInfo {
    /// Channels of one element.
    pub channels: usize,
    /// The number type of each.
    pub channel: ChannelType,
    /// Bytes of one element.
    pub element: ElementSize,
}

const fn row(channels: usize, channel: ChannelType, element: ElementSize) -> FormatInfo {
    FormatInfo { channels, channel, element }
}

ops! {
    /// Data format of memory.
    pub enum Format cite "CTM §2.2.2" info FormatInfo {
        /// One channel of 16 bits; 0..65535 means 0..1.
        Uint16x1 "UINT16_1" 0 => row(1, ChannelType::Unorm16, ElementSize::B2);
        /// Four channels of 8 bits; 0..255 means 0..1.
        Uint8x4 "UINT8_4" 1 => row(4, ChannelType::Unorm8, ElementSize::B4);
        /// One single-precision channel.
        Float32x1 "FLOAT32_1" 2 => row(1, ChannelType::Float32, ElementSize::B4);
        /// Two single-precision channels.
        Float32x2 "FLOAT32_2" 3 => row(2, ChannelType::Float32, ElementSize::B8);
        /// Four single-precision channels.
        Float32x4 "FLOAT32_4" 4 => row(4, ChannelType::Float32, ElementSize::B16);
    }
}

ops! {
    /// How elements are laid out in memory.
    pub enum Tiling cite "CTM §2.2.2" {
        /// Row by row (table 1).
        Linear "LINEAR" 0;
        /// In tiles of 2048 bytes (table 2).
        Tiled "TILED" 1;
        /// Row by row; an input read returns the four elements of a 2x2 square.
        LinearInp2x2 "LINEAR_INP_2X2" 2;
        /// In tiles; an input read returns the four elements of a 2x2 square.
        TiledInp2x2 "TILED_INP_2X2" 3;
    }
}

impl Tiling {
    /// Whether addresses follow table 2.
    #[must_use]
    pub const fn is_tiled(self) -> bool {
        matches!(self, Self::Tiled | Self::TiledInp2x2)
    }

    /// Whether an input read returns a 2x2 square; ignored by everything but inputs (CTM §2.1.4).
    #[must_use]
    pub const fn is_superfine(self) -> bool {
        matches!(self, Self::LinearInp2x2 | Self::TiledInp2x2)
    }
}

word_format! {
    /// Pitch, tiling and data format of an array in memory.
    pub struct FormatWord "format" dword 0 cite "CTM §2.2.2" {
        /// Elements from one row to the next, in multiples of 4.
        12:2    pitch: u16 = "pitch";
        /// How elements are laid out.
        17:16   tiling: Tiling = "tiling";
        /// The element format.
        26:24   format: Format = "format";
        reserved 1:0, 15:13, 23:18, 31:27;
    }
}

/// How the four channels of `UINT8_4` lie in memory.
///
/// *The Guide does not say. Byte n holds channel n, as for integer constants; one known client stores pictures as B, G, R, A.*
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Byte 0 is channel 0 (red).
    #[default]
    Rgba,
    /// Byte 0 is channel 2 (blue), byte 2 is channel 0 (red).
    Bgra,
}

impl ByteOrder {
    const fn byte_of(self, channel: usize) -> usize {
        match (self, channel) {
            (Self::Bgra, 0) => 2,
            (Self::Bgra, 2) => 0,
            (_, channel) => channel,
        }
    }
}

impl Format {
    /// Reads the element that `bytes` begins with: the bits of r, g, b, a. Channels the format lacks read 0, alpha 1.
    ///
    /// Integers are divided by 255 or 65535, rounded once.
    ///
    /// # Panics
    /// When `bytes` is shorter than the element.
    #[must_use]
    pub fn decode(self, bytes: &[u8], order: ByteOrder) -> [u32; 4] {
        let mut out = [0, 0, 0, 1f32.to_bits()];
        let info = self.info();
        match info.channel {
            ChannelType::Unorm8 => {
                for (c, out) in out.iter_mut().enumerate().take(info.channels) {
                    *out = (f32::from(bytes[order.byte_of(c)]) / 255.0).to_bits();
                }
            }
            ChannelType::Unorm16 => {
                for (out, b) in out.iter_mut().zip(bytes.chunks_exact(2)).take(info.channels) {
                    *out = (f32::from(u16::from_le_bytes([b[0], b[1]])) / 65535.0).to_bits();
                }
            }
            ChannelType::Float32 => {
                for (out, b) in out.iter_mut().zip(bytes.chunks_exact(4)).take(info.channels) {
                    *out = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                }
            }
        }
        out
    }

    /// Writes the channels whose bit is set in `mask` into the element that `bytes` begins with; the others stay as they are.
    ///
    /// Integers: NaN becomes 0, the value is clamped to 0..=1, scaled, and rounded to the nearest, ties to even.
    /// Returns how many channels were written.
    ///
    /// # Panics
    /// When `bytes` is shorter than the element.
    pub fn encode(self, bits: [u32; 4], mask: u8, bytes: &mut [u8], order: ByteOrder) -> usize {
        let info = self.info();
        let mut written = 0;
        for (c, &bits) in bits.iter().enumerate().take(info.channels) {
            if mask >> c & 1 == 0 {
                continue;
            }
            written += 1;
            match info.channel {
                ChannelType::Unorm8 => bytes[order.byte_of(c)] = scaled(bits, u8::MAX.into()).to_le_bytes()[0],
                ChannelType::Unorm16 => {
                    let [low, high, ..] = scaled(bits, u16::MAX.into()).to_le_bytes();
                    bytes[2 * c..2 * c + 2].copy_from_slice(&[low, high]);
                }
                ChannelType::Float32 => bytes[4 * c..4 * c + 4].copy_from_slice(&bits.to_le_bytes()),
            }
        }
        written
    }

    /// The channels the format has, as a mask with channel 0 in bit 0.
    #[must_use]
    pub const fn channel_mask(self) -> u8 {
        (1 << self.info().channels) - 1
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn element_bytes(self) -> u32 {
        self.info().element.bytes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn element_is_channels_times_bytes() {
        for &f in Format::ALL {
            let info = f.info();
            assert_eq!(info.channels * info.channel.bytes(), info.element.bytes() as usize, "{}", f.name());
        }
    }

    #[test]
    fn normalised_integers_survive_a_round_trip() {
        for n in 0..=u16::MAX {
            let bits = Format::Uint16x1.decode(&n.to_le_bytes(), ByteOrder::Rgba);
            assert_eq!(bits[1..], [0, 0, 1f32.to_bits()]);
            let mut back = [0; 2];
            assert_eq!(Format::Uint16x1.encode(bits, 0xf, &mut back, ByteOrder::Rgba), 1);
            assert_eq!(u16::from_le_bytes(back), n);
        }
        for n in 0..=u8::MAX {
            let bytes = [n, 255 - n, n / 2, 7];
            for order in [ByteOrder::Rgba, ByteOrder::Bgra] {
                let mut back = [0; 4];
                Format::Uint8x4.encode(Format::Uint8x4.decode(&bytes, order), 0xf, &mut back, order);
                assert_eq!(back, bytes);
            }
        }
    }

    #[test]
    fn integers_clamp_and_round_to_even() {
        // value, byte: 0.5/255 is a tie between 0 and 1, 1.5/255 between 1 and 2 (as nearly as single precision can say it).
        let table: [(f32, u8); 10] = [
            (f32::NAN, 0),
            (-1.0, 0),
            (-0.0, 0),
            (f32::NEG_INFINITY, 0),
            (f32::INFINITY, 255),
            (2.0, 255),
            (1.0, 255),
            (0.5, 128),
            (1e-40, 0),
            (100.4 / 255.0, 100),
        ];
        for (value, byte) in table {
            let mut out = [9; 4];
            Format::Uint8x4.encode([value.to_bits(); 4], 0b0001, &mut out, ByteOrder::Rgba);
            assert_eq!(out, [byte, 9, 9, 9], "{value}");
        }
        // 0.5 * 65535 = 32767.5: the even neighbour is 32768. 0.5 * 255 = 127.5: 128 above.
        let mut out = [0; 2];
        Format::Uint16x1.encode([0.5f32.to_bits(); 4], 1, &mut out, ByteOrder::Rgba);
        assert_eq!(u16::from_le_bytes(out), 32768);
    }

    #[test]
    fn floats_keep_their_bits_and_masks_their_channels() {
        let bits = [0x7fc0_1234, 0x0000_0001, 0x8000_0000, 0xff80_0000];
        let mut out = [0xaa; 16];
        assert_eq!(Format::Float32x4.encode(bits, 0b1010, &mut out, ByteOrder::Rgba), 2);
        let seen = Format::Float32x4.decode(&out, ByteOrder::Rgba);
        assert_eq!(seen, [0xaaaa_aaaa, bits[1], 0xaaaa_aaaa, bits[3]]);
        assert_eq!(Format::Float32x2.decode(&out, ByteOrder::Rgba)[2..], [0, 1f32.to_bits()]);
    }

    #[test]
    fn format_word_is_the_guides() {
        let word = FormatWord { pitch: 64, tiling: Tiling::Tiled, format: Format::Float32x4 }.encode();
        assert_eq!(word, 0x0401_0100);
        assert_eq!(FormatWord::RESERVED, 0xf8fc_e003);
        assert!(FormatWord::decode(0x0500_0000).is_err());
    }
}
