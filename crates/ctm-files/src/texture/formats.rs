//! Formats of texture files by their numbers, as formats of the chip.

use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat, Sel};

/// One format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// Its number in DDS files (`DXGI_FORMAT`); 0: none.
    pub dxgi: u32,
    /// Its number in KTX2 files (`VkFormat`); 0: none.
    pub vk: u32,
    /// The chip's format (R700 §10.3).
    pub data: DataFormat,
    /// Fractions, integers or floats of integers.
    pub numbers: NumFormat,
    /// Signed or not.
    pub sign: FormatComp,
    /// Red, green and blue have the sRGB curve.
    pub gamma: bool,
    /// Which element of the chip's format is red, green, blue and alpha.
    pub swizzle: [Sel; 4],
}

/// `x`, `y`, `z`, `w`, `0`, `1`.
const fn swizzle(text: &str) -> [Sel; 4] {
    let text = text.as_bytes();
    let mut all = [Sel::Zero; 4];
    let mut n = 0;
    while n < 4 {
        all[n] = match text[n] {
            b'x' => Sel::X,
            b'y' => Sel::Y,
            b'z' => Sel::Z,
            b'w' => Sel::W,
            b'1' => Sel::One,
            _ => Sel::Zero,
        };
        n += 1;
    }
    all
}

const fn row(dxgi: u32, vk: u32, data: DataFormat, kind: &str, order: &str) -> FileFormat {
    let (numbers, sign, gamma) = match kind.as_bytes() {
        b"snorm" => (NumFormat::Norm, FormatComp::Signed, false),
        b"uint" => (NumFormat::Int, FormatComp::Unsigned, false),
        b"sint" => (NumFormat::Int, FormatComp::Signed, false),
        b"srgb" => (NumFormat::Norm, FormatComp::Unsigned, true),
        // Fractions; of floats the numbers do not matter.
        _ => (NumFormat::Norm, FormatComp::Unsigned, false),
    };
    FileFormat { dxgi, vk, data, numbers, sign, gamma, swizzle: swizzle(order) }
}

/// The table: DXGI, Vulkan, the chip's format, kind of numbers, order of elements. Channels that the chip's format lacks are 0, alpha 1.
#[rustfmt::skip]
pub const FORMATS: &[FileFormat] = &[
    row(61,   9, DataFormat::Fmt8,       "unorm", "xyzw"),
    row(62,  13, DataFormat::Fmt8,       "uint",  "xyzw"),
    row(63,  10, DataFormat::Fmt8,       "snorm", "xyzw"),
    row(64,  14, DataFormat::Fmt8,       "sint",  "xyzw"),
    row(65,   0, DataFormat::Fmt8,       "unorm", "000x"),
    row(49,  16, DataFormat::Fmt8_8,     "unorm", "xyzw"),
    row(50,  20, DataFormat::Fmt8_8,     "uint",  "xyzw"),
    row(51,  17, DataFormat::Fmt8_8,     "snorm", "xyzw"),
    row(52,  21, DataFormat::Fmt8_8,     "sint",  "xyzw"),
    row(56,  70, DataFormat::Fmt16,      "unorm", "xyzw"),
    row(57,  74, DataFormat::Fmt16,      "uint",  "xyzw"),
    row(58,  71, DataFormat::Fmt16,      "snorm", "xyzw"),
    row(59,  75, DataFormat::Fmt16,      "sint",  "xyzw"),
    row(54,  76, DataFormat::Fmt16Float, "float", "xyzw"),
    row(55, 124, DataFormat::Fmt16,      "unorm", "xyzw"),
    row(85,   4, DataFormat::Fmt5_6_5,   "unorm", "zyx1"),
    row(0,    5, DataFormat::Fmt5_6_5,   "unorm", "xyz1"),
    row(86,   8, DataFormat::Fmt1_5_5_5, "unorm", "zyxw"),
    row(0,    6, DataFormat::Fmt5_5_5_1, "unorm", "wzyx"),
    row(0,    7, DataFormat::Fmt5_5_5_1, "unorm", "yzwx"),
    row(115, 1_000_340_000, DataFormat::Fmt4_4_4_4, "unorm", "zyxw"),
    row(0,    2, DataFormat::Fmt4_4_4_4, "unorm", "wzyx"),
    row(0,    3, DataFormat::Fmt4_4_4_4, "unorm", "yzwx"),
    row(28,  37, DataFormat::Fmt8_8_8_8, "unorm", "xyzw"),
    row(29,  43, DataFormat::Fmt8_8_8_8, "srgb",  "xyzw"),
    row(30,  41, DataFormat::Fmt8_8_8_8, "uint",  "xyzw"),
    row(31,  38, DataFormat::Fmt8_8_8_8, "snorm", "xyzw"),
    row(32,  42, DataFormat::Fmt8_8_8_8, "sint",  "xyzw"),
    row(87,  44, DataFormat::Fmt8_8_8_8, "unorm", "zyxw"),
    row(91,  50, DataFormat::Fmt8_8_8_8, "srgb",  "zyxw"),
    row(88,   0, DataFormat::Fmt8_8_8_8, "unorm", "zyx1"),
    row(93,   0, DataFormat::Fmt8_8_8_8, "srgb",  "zyx1"),
    row(0,   23, DataFormat::Fmt8_8_8,   "unorm", "xyz1"),
    row(0,   29, DataFormat::Fmt8_8_8,   "srgb",  "xyz1"),
    row(0,   30, DataFormat::Fmt8_8_8,   "unorm", "zyx1"),
    row(24,  64, DataFormat::Fmt2_10_10_10, "unorm", "xyzw"),
    row(25,  68, DataFormat::Fmt2_10_10_10, "uint",  "xyzw"),
    row(0,   58, DataFormat::Fmt2_10_10_10, "unorm", "zyxw"),
    row(26, 122, DataFormat::Fmt10_11_11Float,     "float", "xyz1"),
    row(67, 123, DataFormat::Fmt5_9_9_9Sharedexp,  "float", "xyz1"),
    row(35,  77, DataFormat::Fmt16_16,      "unorm", "xyzw"),
    row(36,  81, DataFormat::Fmt16_16,      "uint",  "xyzw"),
    row(37,  78, DataFormat::Fmt16_16,      "snorm", "xyzw"),
    row(38,  82, DataFormat::Fmt16_16,      "sint",  "xyzw"),
    row(34,  83, DataFormat::Fmt16_16Float, "float", "xyzw"),
    row(11,  91, DataFormat::Fmt16_16_16_16,      "unorm", "xyzw"),
    row(12,  95, DataFormat::Fmt16_16_16_16,      "uint",  "xyzw"),
    row(13,  92, DataFormat::Fmt16_16_16_16,      "snorm", "xyzw"),
    row(14,  96, DataFormat::Fmt16_16_16_16,      "sint",  "xyzw"),
    row(10,  97, DataFormat::Fmt16_16_16_16Float, "float", "xyzw"),
    row(42,  98, DataFormat::Fmt32,      "uint",  "xyzw"),
    row(43,  99, DataFormat::Fmt32,      "sint",  "xyzw"),
    row(41, 100, DataFormat::Fmt32Float, "float", "xyzw"),
    row(40, 126, DataFormat::Fmt32Float, "float", "xyzw"),
    row(17, 101, DataFormat::Fmt32_32,      "uint",  "xyzw"),
    row(18, 102, DataFormat::Fmt32_32,      "sint",  "xyzw"),
    row(16, 103, DataFormat::Fmt32_32Float, "float", "xyzw"),
    row(7,  104, DataFormat::Fmt32_32_32,      "uint",  "xyzw"),
    row(8,  105, DataFormat::Fmt32_32_32,      "sint",  "xyzw"),
    row(6,  106, DataFormat::Fmt32_32_32Float, "float", "xyzw"),
    row(3,  107, DataFormat::Fmt32_32_32_32,      "uint",  "xyzw"),
    row(4,  108, DataFormat::Fmt32_32_32_32,      "sint",  "xyzw"),
    row(2,  109, DataFormat::Fmt32_32_32_32Float, "float", "xyzw"),
    row(45, 129, DataFormat::Fmt8_24,          "unorm", "xyzw"),
    row(20, 130, DataFormat::FmtX24_8_32Float, "float", "xyzw"),
    row(71, 133, DataFormat::FmtBc1, "unorm", "xyzw"),
    row(72, 134, DataFormat::FmtBc1, "srgb",  "xyzw"),
    row(0,  131, DataFormat::FmtBc1, "unorm", "xyz1"),
    row(0,  132, DataFormat::FmtBc1, "srgb",  "xyz1"),
    row(74, 135, DataFormat::FmtBc2, "unorm", "xyzw"),
    row(75, 136, DataFormat::FmtBc2, "srgb",  "xyzw"),
    row(77, 137, DataFormat::FmtBc3, "unorm", "xyzw"),
    row(78, 138, DataFormat::FmtBc3, "srgb",  "xyzw"),
    row(80, 139, DataFormat::FmtBc4, "unorm", "xyzw"),
    row(81, 140, DataFormat::FmtBc4, "snorm", "xyzw"),
    row(83, 141, DataFormat::FmtBc5, "unorm", "xyzw"),
    row(84, 142, DataFormat::FmtBc5, "snorm", "xyzw"),
];

/// A format of DDS files before Direct3D 10: a swizzle with a row of the table, by its number there.
pub(super) fn of_dxgi(number: u32) -> Option<FileFormat> {
    FORMATS.iter().copied().find(|row| row.dxgi == number && number != 0)
}

/// A format of KTX2 files.
pub(super) fn of_vk(number: u32) -> Option<FileFormat> {
    FORMATS.iter().copied().find(|row| row.vk == number && number != 0)
}

/// A format that no number names: fractions with another order of elements.
pub(super) const fn fractions(data: DataFormat, order: &str) -> FileFormat {
    row(0, 0, data, "unorm", order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_stands_twice() {
        for (n, row) in FORMATS.iter().enumerate() {
            for other in &FORMATS[n + 1..] {
                assert!(row.dxgi == 0 || row.dxgi != other.dxgi, "{row:?}");
                assert!(row.vk == 0 || row.vk != other.vk, "{row:?}");
            }
        }
    }
}
