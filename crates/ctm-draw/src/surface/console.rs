//! Surfaces of the console's chip, an R700: all of its tile modes, as the headers of its textures name them, and the levels of a texture in them.
//!
//! Micro tiles are 8x8 elements, one or four slices thick. Macro tiles have one micro tile for each pipe and bank; some modes make them narrower and
//! higher, some rotate pipes from slice to slice too, and some exchange banks from one stripe of columns to the next. The address equations are those of
//! the published address library of these chips.

use crate::surface::layout::{LARGEST, Tiling, in_tile};
use crate::surface::levels::Extent;

/// The arrangement of a tile mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// Row by row.
    Linear,
    /// Micro tiles, row by row.
    Micro,
    /// Macro tiles, row by row.
    Macro,
}

/// A tile mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileMode {
    /// Its number in headers of textures.
    pub code: u32,
    /// Its name.
    pub name: &'static str,
    /// Its arrangement.
    pub arrangement: Arrangement,
    /// Slices of a tile: 1 or 4.
    pub thickness: u32,
    /// How many times as high, and as narrow, macro tiles are: 1, 2 or 4.
    pub aspect: u32,
    /// Whether stripes of columns exchange banks.
    pub swaps_banks: bool,
    /// Whether the next slice begins in the next pipe, and not only in another bank.
    pub is_3d: bool,
}

const fn mode(
    code: u32,
    name: &'static str,
    arrangement: Arrangement,
    of: [u32; 2],
    swaps_banks: bool,
    is_3d: bool,
) -> TileMode {
    TileMode { code, name, arrangement, thickness: of[0], aspect: of[1], swaps_banks, is_3d }
}

/// The tile modes by their numbers: name, arrangement, thickness and aspect, whether banks are exchanged, whether pipes rotate.
#[rustfmt::skip]
pub const TILE_MODES: [TileMode; 17] = [
    mode(0,  "linear_general", Arrangement::Linear, [1, 1], false, false),
    mode(1,  "linear_aligned", Arrangement::Linear, [1, 1], false, false),
    mode(2,  "1d_thin1",       Arrangement::Micro,  [1, 1], false, false),
    mode(3,  "1d_thick",       Arrangement::Micro,  [4, 1], false, false),
    mode(4,  "2d_thin1",       Arrangement::Macro,  [1, 1], false, false),
    mode(5,  "2d_thin2",       Arrangement::Macro,  [1, 2], false, false),
    mode(6,  "2d_thin4",       Arrangement::Macro,  [1, 4], false, false),
    mode(7,  "2d_thick",       Arrangement::Macro,  [4, 1], false, false),
    mode(8,  "2b_thin1",       Arrangement::Macro,  [1, 1], true,  false),
    mode(9,  "2b_thin2",       Arrangement::Macro,  [1, 2], true,  false),
    mode(10, "2b_thin4",       Arrangement::Macro,  [1, 4], true,  false),
    mode(11, "2b_thick",       Arrangement::Macro,  [4, 1], true,  false),
    mode(12, "3d_thin1",       Arrangement::Macro,  [1, 1], false, true),
    mode(13, "3d_thick",       Arrangement::Macro,  [4, 1], false, true),
    mode(14, "3b_thin1",       Arrangement::Macro,  [1, 1], true,  true),
    mode(15, "3b_thick",       Arrangement::Macro,  [4, 1], true,  true),
    mode(16, "linear_special", Arrangement::Linear, [1, 1], false, false),
];

/// Bytes of a row of the console's memory.
const ROW_BYTES: u32 = 2048;
/// Bytes after which the console's banks may be exchanged.
const SWAP_BYTES: u32 = 256;
/// By which number a bank is changed in each stripe of columns.
const BANK_SWAPS: [u32; 4] = [0, 1, 3, 2];

const PIPES: u32 = Tiling::CONSOLE.pipes;
const BANKS: u32 = Tiling::CONSOLE.banks;
const GROUP_BYTES: u32 = Tiling::CONSOLE.group_bytes;

impl TileMode {
    /// 2D_TILED_THIN1, the console's usual one.
    pub const THIN_2D: Self = TILE_MODES[4];

    /// The mode of a number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        TILE_MODES.into_iter().find(|mode| mode.code == code)
    }

    /// The mode of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TILE_MODES.into_iter().find(|mode| mode.name == name)
    }

    /// Columns and rows of a macro tile in elements.
    const fn macro_tile(self) -> [u32; 2] {
        [8 * BANKS / self.aspect, 8 * PIPES * self.aspect]
    }

    /// The multiples that pitch and height must be of, by the size of an element.
    #[must_use]
    pub fn multiples(self, element_bytes: u32) -> [u32; 2] {
        let bytes = element_bytes.max(1);
        match self.arrangement {
            Arrangement::Linear if self.code == 16 => [1, 1],
            Arrangement::Linear => [(GROUP_BYTES / bytes).max(64), 1],
            Arrangement::Micro => [(GROUP_BYTES / (8 * bytes * self.thickness)).max(8), 8],
            Arrangement::Macro => {
                let [columns, rows] = self.macro_tile();
                [columns * (GROUP_BYTES / (8 * 8 * bytes * self.thickness)).max(1), rows]
            }
        }
    }

    /// The mode of a smaller level, by its columns, rows and slices (powers of two) and an element's size: without exchanged banks, and with
    /// micro tiles once a macro tile does not fit. Fewer than four slices have thin tiles.
    #[must_use]
    pub fn of_level(self, [columns, rows, slices]: [u32; 3], element_bytes: u32) -> Self {
        let by_code = |code: usize| TILE_MODES[code];
        let mut mode = match self.code {
            8..=11 => by_code(self.code as usize - 4),
            14 | 15 => by_code(self.code as usize - 2),
            _ => self,
        };
        let [width, height] = mode.multiples(element_bytes);
        if mode.arrangement == Arrangement::Macro && (columns < width || rows < height) {
            mode = by_code(if mode.thickness > 1 { 3 } else { 2 });
        }
        let splits = mode.thickness > 1 && 4 * 64 * element_bytes > Tiling::CONSOLE.sample_split_bytes;
        match mode.code {
            3 if slices < 4 => by_code(2),
            7 if slices < 4 || splits => by_code(4),
            13 if slices < 4 || splits => by_code(12),
            _ => mode,
        }
    }
}

/// How the elements of a level of a texture lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileLayout {
    /// Its tile mode.
    pub mode: TileMode,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Rows of a slice, those that only fill it up included.
    pub height: u32,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element_bytes: u32,
    /// Moves macro tiles to other pipes (bit 0) and banks (bits 2:1).
    pub swizzle: u32,
}

impl TileLayout {
    /// The layout of a level of `width` x `height` elements: padded to the mode's multiples.
    #[must_use]
    pub fn padded(mode: TileMode, [width, height]: [u32; 2], element_bytes: u32, swizzle: u32) -> Self {
        let [columns, rows] = mode.multiples(element_bytes);
        let (pitch, height) = (width.max(1).next_multiple_of(columns), height.max(1).next_multiple_of(rows));
        Self { mode, pitch, height, element_bytes, swizzle }
    }

    /// Whether the equations are defined for all numbers.
    ///
    /// # Errors
    /// The first value that is not allowed, and the allowed ones.
    pub fn check(&self) -> Result<(), String> {
        let Self { mode, pitch, height, element_bytes, swizzle } = *self;
        if !matches!(element_bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(format!("an element has {element_bytes} bytes, allowed are 1, 2, 4, 8 and 16"));
        }
        let [columns, rows] =
            if mode.arrangement == Arrangement::Linear { [1, 1] } else { mode.multiples(element_bytes) };
        for (what, found, multiple) in [("pitch", pitch, columns), ("height", height, rows)] {
            if found == 0 || found > LARGEST || !found.is_multiple_of(multiple) {
                let name = mode.name;
                return Err(format!(
                    "the {what} is {found}; in tile mode {name} it is a multiple of {multiple} up to {LARGEST}"
                ));
            }
        }
        if swizzle >= PIPES * BANKS {
            return Err(format!("the swizzle is {swizzle}, it must be less than {}", PIPES * BANKS));
        }
        Ok(())
    }

    /// Bytes that the start of such a level is a multiple of.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        let [columns, rows] = self.mode.multiples(self.element_bytes);
        match self.mode.arrangement {
            Arrangement::Linear | Arrangement::Micro => GROUP_BYTES.into(),
            Arrangement::Macro => {
                let tiles = u64::from(columns) * u64::from(rows) * u64::from(self.element_bytes * self.mode.thickness);
                tiles.max(GROUP_BYTES.into())
            }
        }
    }

    /// Bytes of `slices` slices, those that fill up the last tile included.
    #[must_use]
    pub fn bytes(&self, slices: u32) -> u64 {
        let slices = u64::from(slices.next_multiple_of(self.mode.thickness));
        u64::from(self.pitch) * u64::from(self.height) * u64::from(self.element_bytes) * slices
    }

    /// The first byte of an element. One to one onto the bytes of the slices, for layouts that [`Self::check`] accepts.
    #[must_use]
    pub fn offset(&self, x: u32, y: u32, z: u32) -> u64 {
        let Self { mode, pitch, height, element_bytes, swizzle } = *self;
        let (bytes, thickness) = (u64::from(element_bytes), mode.thickness);
        let slab_bytes = u64::from(pitch) * u64::from(height) * bytes * u64::from(thickness);
        let slabs = slab_bytes * u64::from(z / thickness);
        // The slices of a thick tile are consecutive.
        let element = u64::from(in_tile(x, y, element_bytes, false) | (z % thickness) << 6) * bytes;
        match mode.arrangement {
            Arrangement::Linear => slabs + (u64::from(y) * u64::from(pitch) + u64::from(x)) * bytes,
            Arrangement::Micro => {
                let tile = u64::from(x / 8) + u64::from(pitch / 8) * u64::from(y / 8);
                slabs + tile * 64 * u64::from(thickness) * bytes + element
            }
            Arrangement::Macro => {
                let (pipe, bank) = Tiling::CONSOLE.pipe_and_bank(x, y);
                // Thick tiles of the 2D modes move banks by the same step as thin ones, from one tile to the next.
                let step = if mode.is_3d { 1 } else { PIPES * (BANKS / 2 - 1) };
                let rotation = swizzle.wrapping_add(z / thickness * step);
                let place = ((pipe + PIPES * bank) ^ rotation) % (PIPES * BANKS);
                let [columns, rows] = mode.macro_tile();
                let [tile_x, tile_y] = [x / columns, y / rows];
                let tile_bytes = u64::from(columns * rows * thickness) * bytes;
                let tiles = u64::from(tile_x) + u64::from(pitch / columns) * u64::from(tile_y);
                let swap = if mode.swaps_banks {
                    BANK_SWAPS[(columns * tile_x / self.swap_width() % BANKS) as usize]
                } else {
                    0
                };
                let total = element + (tile_bytes * tiles + slabs) / u64::from(PIPES * BANKS);
                Tiling::CONSOLE.interleaved(total, place % PIPES, (place / PIPES) ^ swap)
            }
        }
    }

    /// Columns of a stripe in which banks are the same.
    fn swap_width(&self) -> u32 {
        let bits = 8 * self.element_bytes;
        // A thick tile counts as four samples.
        let samples = self.mode.thickness;
        let tile_bytes = samples * 64 * self.element_bytes;
        let by_swaps = (SWAP_BYTES / 2 / bits).max(1) * 8 * BANKS;
        let most = PIPES * BANKS * ROW_BYTES / (samples * self.mode.aspect * PIPES * bits);
        let least = GROUP_BYTES * 8 * BANKS / tile_bytes;
        let mut width = most.min(least.max(by_swaps)).max(1);
        while width >= 2 * self.pitch && width > 1 {
            width /= 2;
        }
        width
    }
}

/// A level of a texture of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLevel {
    /// How its elements lie.
    pub layout: TileLayout,
    /// Columns and rows of elements that are of use, and slices.
    pub size: [u32; 3],
    /// Slices, those that only fill it up included.
    pub slices: u32,
}

/// The levels of a texture of the console. Level 0 has the mode of the texture, however small it is; sizes of the others are rounded up to powers of two, and
/// their modes are those of [`TileMode::of_level`].
///
/// ```
/// use ctm_draw::console::{TileMode, tile_levels};
/// use ctm_draw::levels::Extent;
///
/// // 64 x 64 texels in blocks of 4 x 4: half a macro tile.
/// let extent = Extent { width: 64, height: 64, depth: 1, is_3d: false, levels: 2, block: [4; 2], element_bytes: 8 };
/// let levels = tile_levels(&extent, TileMode::THIN_2D, 0);
/// assert_eq!([levels[0].layout.mode.name, levels[1].layout.mode.name], ["2d_thin1", "1d_thin1"]);
/// assert_eq!([levels[0].layout.pitch, levels[0].layout.height], [32, 16]);
/// ```
#[must_use]
pub fn tile_levels(extent: &Extent, mode: TileMode, swizzle: u32) -> Vec<TileLevel> {
    let of = |level: u32| {
        let part = |whole: u32| (whole >> level).max(1);
        let texels = [part(extent.width), part(extent.height)];
        let depth = if extent.is_3d { part(extent.depth) } else { extent.depth.max(1) };
        let padded = |n: u32| if level == 0 { n } else { n.next_power_of_two() };
        let elements = |n: u32, axis: usize| n.div_ceil(extent.block[axis].max(1));
        let full = [0, 1].map(|axis| elements(padded(texels[axis]), axis));
        let slices = padded(depth);
        let bytes = extent.element_bytes;
        let mode = if level == 0 { mode } else { mode.of_level([full[0], full[1], slices], bytes) };
        // Only macro tiles have pipes and banks that could be moved.
        let swizzle = if mode.arrangement == Arrangement::Macro { swizzle } else { 0 };
        let layout = TileLayout::padded(mode, full, bytes, swizzle);
        let slices = slices.next_multiple_of(mode.thickness);
        TileLevel { layout, size: [elements(texels[0], 0), elements(texels[1], 1), depth], slices }
    };
    (0..extent.levels.clamp(1, 14)).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::layout::{ArrayMode, Layout};

    /// Truth: the addresses of one sample in thin tiles, which are tested against the published library.
    #[test]
    fn thin_tiles_are_those_of_targets() {
        for bytes in [1, 2, 4, 8, 16] {
            for (code, array) in [(2, ArrayMode::Tiled1d), (4, ArrayMode::Tiled2d)] {
                let mode = TILE_MODES[code];
                let [columns, rows] = mode.multiples(bytes);
                for swizzle in [0, 5].into_iter().take(if code == 4 { 2 } else { 1 }) {
                    let layout = TileLayout::padded(mode, [2 * columns, 3 * rows], bytes, swizzle);
                    let tiling = Tiling { swizzle, ..Tiling::CONSOLE };
                    let other = Layout::padded(array, [2 * columns, 3 * rows], bytes, 1, tiling);
                    assert_eq!(
                        (layout.pitch, layout.height, layout.alignment()),
                        (other.pitch, other.height, other.alignment())
                    );
                    for (x, y, z) in
                        (0..layout.height).flat_map(|y| (0..layout.pitch).map(move |x| (x, y, (x + y) % 5)))
                    {
                        assert_eq!(layout.offset(x, y, z), other.offset(x, y, z, 0), "{layout:?} ({x}, {y}, {z})");
                    }
                }
            }
        }
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        for mode in TILE_MODES {
            for bytes in [1u32, 2, 4, 8, 16] {
                let [columns, rows] = mode.multiples(bytes);
                for (width, swizzle) in [(columns, 0), (5 * columns, 3)] {
                    let swizzle = if mode.arrangement == Arrangement::Macro { swizzle } else { 0 };
                    let layout = TileLayout::padded(mode, [width, 2 * rows], bytes, swizzle);
                    assert_eq!(layout.check(), Ok(()), "{mode:?}");
                    let slices = 8;
                    let mut seen = vec![false; (layout.bytes(slices) / u64::from(bytes)) as usize];
                    for z in 0..slices {
                        for (x, y) in (0..layout.height).flat_map(|y| (0..layout.pitch).map(move |x| (x, y))) {
                            let at = layout.offset(x, y, z);
                            assert_eq!(at % u64::from(bytes), 0);
                            let place = (at / u64::from(bytes)) as usize;
                            assert!(!std::mem::replace(&mut seen[place], true), "{layout:?} ({x}, {y}, {z})");
                        }
                    }
                    assert!(seen.into_iter().all(|one| one), "{layout:?}");
                }
            }
        }
    }

    /// Truth: worked out by hand from the equations: a tile of four slices has 256 elements; tiles of aspect 2 and 4 go down in rows of micro tiles.
    #[test]
    fn thick_narrow_and_swapped_tiles_lie_where_the_equations_say() {
        let at = |code: usize, bytes: u32, [pitch, height]: [u32; 2], [x, y, z]: [u32; 3]| {
            let layout = TileLayout { mode: TILE_MODES[code], pitch, height, element_bytes: bytes, swizzle: 0 };
            assert_eq!(layout.check(), Ok(()));
            layout.offset(x, y, z)
        };
        // 1D thick, 4 bytes: slice 1 of a micro tile begins at element 64, slice 4 in the next slab, the tile to the right at element 256.
        assert_eq!(at(3, 4, [16, 8], [0, 0, 1]), 256);
        assert_eq!(at(3, 4, [16, 8], [8, 0, 0]), 1024);
        assert_eq!(at(3, 4, [16, 8], [0, 0, 4]), 2048);
        // 2D thick, 4 bytes: the second slice is the second group of 256 bytes of pipe 0, bank 0.
        assert_eq!(at(7, 4, [32, 16], [0, 0, 1]), 8 * 256);
        // Slab 1 begins after 32 x 16 x 4 elements, in bank 1 (rotation 2 of pipe and bank).
        assert_eq!(at(7, 4, [32, 16], [0, 0, 4]), 32 * 16 * 4 * 4 + 2 * 256);
        // 3D thick: in pipe 1.
        assert_eq!(at(13, 4, [32, 16], [0, 0, 4]), 32 * 16 * 4 * 4 + 256);
        // Aspect 2: macro tiles are 16 x 32. Row 16 is bank bit 1 (y4), row 32 the next macro tile (bank bit 0: y5).
        assert_eq!(at(5, 4, [16, 64], [0, 16, 0]), 2 * 2 * 256);
        assert_eq!(at(5, 4, [16, 64], [0, 32, 0]), 16 * 32 * 4 + 2 * 256);
        // Aspect 4: macro tiles are 8 x 64; the one to the right is the next (x3: pipe 1, bank 1).
        assert_eq!(at(6, 4, [16, 64], [8, 0, 0]), 8 * 64 * 4 + 256 + 2 * 256);
        // Exchanged banks, 4 bytes: stripes of 128 columns (128 / 32 bits = 4 tiles of 32). Column 128 is bank 1, macro tile 4.
        assert_eq!(at(8, 4, [256, 16], [128, 0, 0]), 4 * 2048 + 2 * 256);
        assert_eq!(at(4, 4, [256, 16], [128, 0, 0]), 4 * 2048);
    }

    #[test]
    fn smaller_levels_lose_what_does_not_fit() {
        let name = |code: usize, size: [u32; 3], bytes| TILE_MODES[code].of_level(size, bytes).name;
        assert_eq!(name(4, [32, 16, 1], 4), "2d_thin1");
        assert_eq!(name(4, [16, 16, 1], 4), "1d_thin1");
        assert_eq!(name(4, [32, 16, 1], 1), "1d_thin1");
        assert_eq!(name(8, [64, 64, 1], 4), "2d_thin1");
        assert_eq!(name(10, [8, 64, 1], 4), "2d_thin4");
        assert_eq!(name(10, [8, 32, 1], 4), "1d_thin1");
        assert_eq!(name(7, [32, 16, 4], 4), "2d_thick");
        assert_eq!(name(7, [32, 16, 2], 4), "2d_thin1");
        assert_eq!(name(7, [32, 16, 4], 16), "2d_thin1");
        assert_eq!(name(7, [16, 8, 4], 4), "1d_thick");
        assert_eq!(name(15, [16, 8, 2], 4), "1d_thin1");
        assert_eq!(name(1, [4, 4, 1], 4), "linear_aligned");
    }
}
