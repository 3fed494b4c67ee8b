//! The levels of a texture in memory: their offsets and layouts.
//!
//! The rules are those by which the open drivers' library lays surfaces out for these chips.

use crate::surface::layout::{ArrayMode, Layout, Tiling};

/// A texture's extent and format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Texels of a row of level 0.
    pub width: u32,
    /// Rows of level 0.
    pub height: u32,
    /// Slices of level 0, or layers, or faces.
    pub depth: u32,
    /// Slices become fewer from level to level.
    pub is_3d: bool,
    /// Levels, 1..=15.
    pub levels: u32,
    /// Columns and rows of texels of an element: 4 and 4 of compressed blocks, otherwise 1 and 1.
    pub block: [u32; 2],
    /// Bytes of an element.
    pub element_bytes: u32,
}

/// One level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its first byte.
    pub offset: u64,
    /// How its elements lie.
    pub layout: Layout,
    /// Columns and rows of elements that are of use, and slices.
    pub size: [u32; 3],
    /// Slices, those that only fill it up included.
    pub slices: u32,
}

/// The levels of a texture, and their size in bytes.
///
/// Sizes of levels above 0 are rounded up to powers of two; layers, but not slices of 3D textures, are as many as the next power of two. Once a level
/// of 2D tiles is too small for them, it and all later ones have 1D tiles. Level 1 begins at a multiple of the alignment, the others follow one
/// another.
#[must_use]
pub fn levels(extent: &Extent, mode: ArrayMode, tiling: Tiling) -> (Vec<Level>, u64) {
    let (mut mode, mut offset) = (mode, 0u64);
    let mut all = Vec::new();
    for level in 0..extent.levels.clamp(1, 15) {
        let part = |whole: u32| (whole >> level).max(1);
        let texels = [part(extent.width), part(extent.height)];
        let depth = if extent.is_3d { part(extent.depth) } else { extent.depth };
        let padded = |n: u32| if level == 0 { n } else { n.next_power_of_two() };
        let elements = |n: u32, axis: usize| n.div_ceil(extent.block[axis].max(1));
        let full = [elements(padded(texels[0]), 0), elements(padded(texels[1]), 1)];
        let layout = Layout::padded(mode, full, extent.element_bytes, 1, tiling);
        mode = layout.mode;
        let slices = if extent.is_3d { padded(depth) } else { depth.next_power_of_two() };
        let size = [elements(texels[0], 0), elements(texels[1], 1), depth];
        if level == 1 {
            offset = offset.next_multiple_of(all.first().map_or(1, |level: &Level| level.layout.alignment()));
        }
        all.push(Level { offset, layout, size, slices });
        offset += layout.slice_bytes() * u64::from(slices);
    }
    (all, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Truth: sizes and offsets that the open drivers' library gives for one pipe and four banks.
    #[test]
    fn levels_lie_where_drivers_put_them() {
        use ArrayMode::{Linear, Tiled1d, Tiled2d};
        let plain = |size: [u32; 3], levels, bytes| Extent {
            width: size[0],
            height: size[1],
            depth: size[2],
            is_3d: false,
            levels,
            block: [1; 2],
            element_bytes: bytes,
        };
        type Row = (Extent, ArrayMode, u64, &'static [(ArrayMode, u32, u32, u64)]);
        let blocks = Extent { block: [4; 2], ..plain([100, 100, 1], 7, 8) };
        let volume = Extent { is_3d: true, ..plain([32, 32, 20], 6, 4) };
        let table: [Row; 9] = [
            (plain([250, 250, 1], 1, 4), Tiled2d, 262_144, &[(Tiled2d, 256, 256, 0)]),
            (plain([250, 250, 1], 1, 4), Linear, 256_000, &[(Linear, 256, 250, 0)]),
            (plain([100, 30, 1], 1, 1), Tiled2d, 4096, &[(Tiled1d, 128, 32, 0)]),
            (
                plain([160, 160, 1], 8, 4),
                Tiled2d,
                190_208,
                &[
                    (Tiled2d, 160, 160, 0),
                    (Tiled2d, 128, 128, 102_400),
                    (Tiled2d, 64, 64, 167_936),
                    (Tiled2d, 32, 32, 184_320),
                    (Tiled1d, 16, 16, 188_416),
                    (Tiled1d, 8, 8, 189_440),
                ],
            ),
            (
                plain([64, 64, 1], 7, 16),
                Tiled2d,
                90_112,
                &[(Tiled2d, 64, 64, 0), (Tiled2d, 32, 32, 65_536), (Tiled1d, 16, 16, 81_920)],
            ),
            (blocks, Tiled2d, 12_800, &[(Tiled1d, 32, 32, 0), (Tiled1d, 16, 16, 8192), (Tiled1d, 8, 8, 10_240)]),
            (
                plain([64, 64, 6], 7, 4),
                Tiled2d,
                180_224,
                &[(Tiled2d, 64, 64, 0), (Tiled2d, 32, 32, 131_072), (Tiled1d, 16, 16, 163_840)],
            ),
            (
                volume,
                Tiled2d,
                101_376,
                &[(Tiled2d, 32, 32, 0), (Tiled1d, 16, 16, 81_920), (Tiled1d, 8, 8, 98_304), (Tiled1d, 8, 8, 100_352)],
            ),
            (
                plain([256, 1, 1], 9, 4),
                Linear,
                3328,
                &[(Linear, 256, 1, 0), (Linear, 128, 1, 1024), (Linear, 64, 1, 1536), (Linear, 64, 1, 1792)],
            ),
        ];
        for (extent, mode, total, expected) in table {
            let (found, bytes) = levels(&extent, mode, Tiling::default());
            assert_eq!(bytes, total, "{extent:?}");
            for (level, &(mode, pitch, height, offset)) in found.iter().zip(expected) {
                let Layout { mode: m, pitch: p, height: h, .. } = level.layout;
                assert_eq!((m, p, h, level.offset), (mode, pitch, height, offset), "{extent:?}");
                assert_eq!(level.layout.check(), Ok(()));
            }
        }
    }
}
