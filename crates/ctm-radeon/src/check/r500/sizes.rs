//! Sizes of pixels and texels by the numbers of their formats, as the kernel counts them.

/// Bytes of a pixel by the number of a colour format; `None` for those that the kernel refuses.
pub(super) const fn pixel_bytes(format: u32) -> Option<u64> {
    Some(match format {
        9 | 11 | 12 => 1,
        3 | 4 | 13 | 15 => 2,
        5 | 6 => 4,
        10 => 8,
        7 => 16,
        _ => return None,
    })
}

/// Bytes of a pixel by the number of a depth format.
pub(super) const fn depth_bytes(format: u32) -> Option<u64> {
    match format {
        0 | 1 => Some(2),
        2 => Some(4),
        _ => None,
    }
}

/// Blocks of 4 by 4 texels, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Blocks {
    #[default]
    None,
    /// 8 bytes, at least four in a row.
    Dxt1,
    /// 16 bytes, at least two in a row.
    Dxt35,
}

impl Blocks {
    /// Bytes of a level, or texels where there are no blocks.
    pub(super) fn size(self, width: u64, height: u64) -> u64 {
        let (bytes, least) = match self {
            Self::None => return width * height,
            Self::Dxt1 => (8, 4),
            Self::Dxt35 => (16, 2),
        };
        width.div_ceil(4).max(least) * height.div_ceil(4) * bytes
    }
}

/// Bytes of a texel, or 1 for blocks, by the number of a texture format; `None` for those that the kernel refuses.
pub(super) const fn texel_bytes(format: u32) -> Option<(u64, Blocks)> {
    Some(match format {
        0 | 2 | 5 => (1, Blocks::None),
        1 | 3 | 6 | 7 | 10 | 11 | 18 | 20 | 21 | 24 => (2, Blocks::None),
        4 | 8 | 9 | 12 | 13 | 23 | 25 | 27 | 30 => (4, Blocks::None),
        14 | 26 | 28 => (8, Blocks::None),
        29 => (16, Blocks::None),
        15 => (1, Blocks::Dxt1),
        16 | 17 | 31 => (1, Blocks::Dxt35),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's sizes of compressed levels: short rows have padding.
    #[test]
    fn blocks_have_the_kernels_sizes() {
        for (blocks, [width, height], bytes) in [
            (Blocks::None, [5, 3], 15),
            (Blocks::Dxt1, [16, 4], 32),
            (Blocks::Dxt1, [1, 1], 32),
            (Blocks::Dxt35, [1, 1], 32),
            (Blocks::Dxt35, [9, 5], 96),
        ] {
            assert_eq!(blocks.size(width, height), bytes, "{blocks:?} {width} x {height}");
        }
    }

    /// Every format that the table of registers names has a size, or is refused.
    #[test]
    fn formats_of_the_tables_have_sizes() {
        let refused = |values: &[ctm_isa::table::Value], of: &dyn Fn(u32) -> bool| -> Vec<&'static str> {
            values.iter().filter(|value| !of(value.code)).map(|value| value.name).collect()
        };
        let textures = refused(crate::registers::values::R500_TEXTURE_FORMATS, &|n| texel_bytes(n).is_some());
        assert_eq!(textures, ["AVYU444", "16_MPEG"]);
        let colours = refused(crate::registers::values::R500_COLOUR_FORMATS, &|n| pixel_bytes(n).is_some());
        assert_eq!(colours, ["ARGB10101010", "UV1010", "CI8", "I10"]);
    }
}
