//! Addresses of a surface's elements: linear, and the tiles of R6xx and R7xx that are one element thick.
//!
//! An element is a pixel's sample here (for textures: a texel or a block of them). The address equations are those of the published
//! address library of these chips.

/// How the elements of a surface are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ArrayMode {
    /// Row by row. Real surfaces of this mode have one sample; here the samples of a pixel lie side by side.
    #[default]
    Linear,
    /// Tiles of 8x8 elements, row by row (1D_TILED_THIN1). One sample.
    Tiled1d,
    /// Tiles of 8x8 elements, spread over pipes and banks (2D_TILED_THIN1).
    Tiled2d,
}

/// How a chip spreads tiles over its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// 1, 2, 4 or 8.
    pub pipes: u32,
    /// 4 or 8.
    pub banks: u32,
    /// Bytes that lie in one pipe before the next one follows: 256 or 512.
    pub group_bytes: u32,
    /// Largest tile of several samples before it is split, in bytes: 1024, 2048, 4096 or 8192.
    pub sample_split_bytes: u32,
    /// Moves tiles to other pipes and banks: pipe plus pipes times bank, below their product. 0 in surfaces of drivers.
    pub swizzle: u32,
}

impl Tiling {
    /// The console's chip: two pipes, four banks.
    pub const CONSOLE: Self = Self { pipes: 2, banks: 4, group_bytes: 256, sample_split_bytes: 2048, swizzle: 0 };
}

impl Default for Tiling {
    /// One pipe, four banks, groups of 256 bytes, tiles split at 1 KB.
    fn default() -> Self {
        Self { pipes: 1, banks: 4, group_bytes: 256, sample_split_bytes: 1024, swizzle: 0 }
    }
}

/// The arrangement of a surface's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Linear or tiled.
    pub mode: ArrayMode,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Rows of a slice, those that only fill it up included.
    pub height: u32,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element_bytes: u32,
    /// Samples of a pixel: 1, 2, 4 or 8; without tiles 3 and 6 too.
    pub samples: u32,
    /// Whether the elements of a tile have the order of depth surfaces.
    pub depth_order: bool,
    /// How tiles are spread ([`ArrayMode::Tiled2d`]).
    pub tiling: Tiling,
}

/// Largest pitch and height of a surface here.
pub const LARGEST: u32 = 16384;

/// Why a layout cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutError {
    what: &'static str,
    found: u32,
    allowed: &'static str,
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} of the surface is {}, allowed is {}", self.what, self.found, self.allowed)
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    /// Linear, without anything between rows.
    #[must_use]
    pub fn linear(width: u32, height: u32, element_bytes: u32, samples: u32) -> Self {
        let (mode, tiling) = (ArrayMode::Linear, Tiling::default());
        Self { mode, pitch: width, height, element_bytes, samples, depth_order: false, tiling }
    }

    /// Whether the equations are defined for all numbers.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), LayoutError> {
        let error = |what, found, allowed| Err(LayoutError { what, found, allowed });
        let Self { mode, pitch, height, element_bytes, samples, tiling, .. } = *self;
        if !matches!(element_bytes, 1 | 2 | 4 | 8 | 16) {
            return error("element size", element_bytes, "1, 2, 4, 8 or 16 bytes");
        }
        if !(matches!(samples, 1 | 2 | 4 | 8) || mode == ArrayMode::Linear && matches!(samples, 3 | 6)) {
            return error("number of samples", samples, "1, 2, 4 or 8, and 3 or 6 without tiles");
        }
        if pitch == 0 || pitch > LARGEST {
            return error("pitch", pitch, "1..=16384");
        }
        if height == 0 || height > LARGEST {
            return error("height", height, "1..=16384");
        }
        match mode {
            ArrayMode::Linear => {}
            ArrayMode::Tiled1d | ArrayMode::Tiled2d => {
                let (columns, rows) =
                    if mode == ArrayMode::Tiled1d { (8, 8) } else { (8 * tiling.banks, 8 * tiling.pipes) };
                if !pitch.is_multiple_of(columns.max(1)) {
                    return error("pitch", pitch, "a multiple of a tile's columns (8; 8 for each bank in 2D)");
                }
                if !height.is_multiple_of(rows.max(1)) {
                    return error("height", height, "a multiple of a tile's rows (8; 8 for each pipe in 2D)");
                }
                if mode == ArrayMode::Tiled1d && samples > 1 {
                    return error("number of samples", samples, "1 in 1D tiles");
                }
            }
        }
        if !matches!(tiling.pipes, 1 | 2 | 4 | 8) {
            return error("number of pipes", tiling.pipes, "1, 2, 4 or 8");
        }
        if !matches!(tiling.banks, 4 | 8) {
            return error("number of banks", tiling.banks, "4 or 8");
        }
        if !matches!(tiling.group_bytes, 256 | 512) {
            return error("group size", tiling.group_bytes, "256 or 512 bytes");
        }
        if !matches!(tiling.sample_split_bytes, 1024 | 2048 | 4096 | 8192) {
            return error("sample split", tiling.sample_split_bytes, "1024, 2048, 4096 or 8192 bytes");
        }
        if tiling.swizzle >= tiling.pipes * tiling.banks {
            return error("swizzle", tiling.swizzle, "less than pipes times banks");
        }
        Ok(())
    }

    /// The layout of a surface, or of one of its levels, by its size in elements: its width and height are padded as the chips need. A surface of 2D
    /// tiles that is
    /// smaller than they need has 1D tiles instead. Surfaces of several samples are 2D.
    #[must_use]
    pub fn padded(
        mode: ArrayMode,
        [width, height]: [u32; 2],
        element_bytes: u32,
        samples: u32,
        tiling: Tiling,
    ) -> Self {
        let (bytes, group) = (element_bytes.max(1) * samples.max(1), tiling.group_bytes);
        let depth_order = false;
        let of = |mode, columns: u32, rows: u32| {
            let pitch = width.max(1).next_multiple_of(columns.max(1));
            let height = height.max(1).next_multiple_of(rows.max(1));
            Self { mode, pitch, height, element_bytes, samples, depth_order, tiling }
        };
        let flat = |mode| of(mode, (group / (8 * bytes)).max(8), 8);
        match mode {
            ArrayMode::Linear => of(mode, (group / element_bytes.max(1)).max(64), 1),
            ArrayMode::Tiled1d => flat(mode),
            ArrayMode::Tiled2d => {
                let columns = (8 * tiling.banks).max(group * tiling.banks / (8 * bytes));
                let rows = 8 * tiling.pipes;
                if samples <= 1 && (width < columns || height < rows) {
                    return flat(ArrayMode::Tiled1d);
                }
                of(mode, columns, rows)
            }
        }
    }

    /// Bytes that the start of such a surface is a multiple of.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        let Self { element_bytes, samples, tiling, .. } = *self;
        let bytes = u64::from(element_bytes * samples);
        match self.mode {
            ArrayMode::Linear | ArrayMode::Tiled1d => tiling.group_bytes.into(),
            ArrayMode::Tiled2d => {
                let columns =
                    u64::from(8 * tiling.banks).max(u64::from(tiling.group_bytes * tiling.banks) / (8 * bytes));
                let (pipes, banks) = (u64::from(tiling.pipes), u64::from(tiling.banks));
                (pipes * banks * bytes * 64).max(columns * 8 * pipes * bytes)
            }
        }
    }

    /// Bytes of a slice.
    #[must_use]
    pub fn slice_bytes(&self) -> u64 {
        u64::from(self.pitch) * u64::from(self.height) * u64::from(self.element_bytes) * u64::from(self.samples)
    }

    /// Bytes of `rows` rows of a slice, where they are contiguous; else `None`.
    #[must_use]
    pub fn bytes_of_rows(&self, rows: u32) -> Option<u64> {
        let Tiling { pipes, banks, group_bytes, sample_split_bytes, .. } = self.tiling;
        let row = u64::from(self.pitch) * u64::from(self.element_bytes) * u64::from(self.samples);
        match self.mode {
            ArrayMode::Linear => Some(row * u64::from(rows)),
            ArrayMode::Tiled1d => rows.is_multiple_of(8).then(|| row * u64::from(rows)),
            ArrayMode::Tiled2d => {
                let whole = row * u64::from(8 * pipes);
                let is_split = self.samples > 1 && 64 * self.element_bytes * self.samples > sample_split_bytes;
                let spread = u64::from(group_bytes) * u64::from(pipes) * u64::from(banks);
                (rows.is_multiple_of(8 * pipes) && !is_split && whole.is_multiple_of(spread))
                    .then(|| row * u64::from(rows))
            }
        }
    }

    /// Bytes of tiles of which this is true, for one sample: an element's place is the sum of two multiples of them, one of its column and one of its
    /// row, and of bits within, which are those of its column and those of its row folded by exclusive or. `None` where there are no such tiles.
    #[must_use]
    pub fn folded_bytes(&self) -> Option<u32> {
        let Tiling { pipes, banks, group_bytes, .. } = self.tiling;
        let of_tile = 64 * self.element_bytes;
        match self.mode {
            ArrayMode::Tiled1d if self.samples == 1 => Some(of_tile),
            ArrayMode::Tiled2d if self.samples == 1 && of_tile >= group_bytes => Some(of_tile * pipes * banks),
            // Several small tiles share a group: the tile's part of it is counted to its column, if the macro tiles of a row fill groups.
            ArrayMode::Tiled2d
                if self.samples == 1 && (self.pitch / (8 * banks)).is_multiple_of(group_bytes / of_tile) =>
            {
                Some(group_bytes * pipes * banks)
            }
            ArrayMode::Linear | ArrayMode::Tiled1d | ArrayMode::Tiled2d => None,
        }
    }

    /// The same for pixels of several samples: tiles that can be folded for each sample, if a sample's own offset and swizzle are counted to the row.
    pub(crate) fn folded_bytes_of_samples(&self) -> Option<u32> {
        let Tiling { pipes, banks, group_bytes, sample_split_bytes, .. } = self.tiling;
        if self.samples == 1 {
            return self.folded_bytes();
        }
        let (of_sample, of_all) = (64 * self.element_bytes, 64 * self.element_bytes * self.samples);
        let is_split = of_all > sample_split_bytes;
        let of_tile = if is_split { sample_split_bytes.max(of_sample) } else { of_all };
        let folds = self.mode == ArrayMode::Tiled2d && of_tile >= group_bytes && !(is_split && self.depth_order);
        folds.then_some(of_tile * pipes * banks)
    }

    /// The first byte of a sample. The sum of all is one to one onto the bytes of the slices, for layouts that [`Self::check`] accepts.
    #[must_use]
    pub fn offset(&self, x: u32, y: u32, slice: u32, sample: u32) -> u64 {
        let bytes = u64::from(self.element_bytes);
        let pitch = u64::from(self.pitch);
        let slice_start = u64::from(slice) * self.slice_bytes();
        match self.mode {
            ArrayMode::Linear => {
                let pixel = u64::from(y) * pitch + u64::from(x);
                slice_start + (pixel * u64::from(self.samples) + u64::from(sample)) * bytes
            }
            ArrayMode::Tiled1d => {
                let tile = u64::from(x / 8) + pitch / 8 * u64::from(y / 8);
                slice_start + (tile * 64 + u64::from(self.in_tile(x, y))) * bytes
            }
            ArrayMode::Tiled2d => self.offset_2d(x, y, slice, sample),
        }
    }

    /// The offsets of the elements of a tile of 8x8, row by row, counted from its first one, if they are the same for all tiles: always, but for
    /// depth surfaces whose samples are split, and for linear surfaces, which have no tiles.
    #[must_use]
    pub fn tile(&self, sample: u32) -> Option<[u32; 64]> {
        let split = 64 * self.element_bytes * self.samples > self.tiling.sample_split_bytes;
        if self.mode == ArrayMode::Linear || self.samples > 1 && self.depth_order && split {
            return None;
        }
        let first = self.offset(0, 0, 0, sample);
        let mut tile = [0; 64];
        for (at, place) in (0..).zip(&mut tile) {
            *place = u32::try_from(self.offset(at % 8, at / 8, 0, sample).checked_sub(first)?).ok()?;
        }
        Some(tile)
    }

    const fn in_tile(&self, x: u32, y: u32) -> u32 {
        in_tile(x, y, self.element_bytes, self.depth_order)
    }

    fn offset_2d(&self, x: u32, y: u32, slice: u32, sample: u32) -> u64 {
        let Tiling { pipes, banks, sample_split_bytes, swizzle, .. } = self.tiling;
        let (bytes, samples) = (self.element_bytes, self.samples);
        let p = self.in_tile(x, y);
        let mut element = if self.depth_order { (p * samples + sample) * bytes } else { (sample * 64 + p) * bytes };
        // A tile of many samples is split into parts, each of which is like a surface of its own.
        let tile_bytes = 64 * bytes * samples;
        let (mut samples_of_part, mut parts, mut part) = (samples, 1, 0);
        if samples > 1 && tile_bytes > sample_split_bytes {
            samples_of_part = (sample_split_bytes / (64 * bytes)).max(1);
            parts = samples / samples_of_part;
            let part_bytes = tile_bytes / parts;
            part = element / part_bytes;
            element %= part_bytes;
        }
        let (pipe, bank) = self.tiling.pipe_and_bank(x, y);
        let mut place = pipe + pipes * bank;
        // Numbers of pipes and banks are powers of two, and this runs once for each tile: so it has no divisions.
        let [pipe_bits, bank_bits] = [pipes, banks].map(u32::trailing_zeros);
        place ^= pipes * part * (banks / 2 + 1);
        place ^= swizzle.wrapping_add(slice * pipes * (banks / 2 - 1).max(1)) & (pipes * banks - 1);
        let (pipe, bank) = (place & (pipes - 1), place >> pipe_bits & (banks - 1));
        let (width, height) = (3 + bank_bits, 3 + pipe_bits);
        let macro_bytes = 64 * u64::from(banks) * u64::from(pipes) * u64::from(bytes) * u64::from(samples_of_part);
        let macro_tile = u64::from(x >> width) + u64::from(self.pitch >> width) * u64::from(y >> height);
        let part_slice = u64::from(self.pitch) * u64::from(self.height) * u64::from(bytes) * u64::from(samples_of_part);
        let start = macro_bytes * macro_tile + part_slice * (u64::from(part) + u64::from(parts) * u64::from(slice));
        self.tiling.interleaved(u64::from(element) + (start >> (pipe_bits + bank_bits)), pipe, bank)
    }
}

impl Tiling {
    /// Pipe and bank of the tile of 8x8 with this element, before any rotation.
    pub(crate) const fn pipe_and_bank(&self, x: u32, y: u32) -> (u32, u32) {
        const fn bit(value: u32, n: u32) -> u32 {
            value >> n & 1
        }
        let pipe = match self.pipes {
            2 => bit(y, 3) ^ bit(x, 3),
            4 => bit(y, 3) ^ bit(x, 4) | (bit(y, 4) ^ bit(x, 3)) << 1,
            8 => bit(y, 3) ^ bit(x, 5) | (bit(y, 4) ^ bit(x, 5) ^ bit(x, 4)) << 1 | (bit(y, 5) ^ bit(x, 3)) << 2,
            _ => 0,
        };
        let t = y >> self.pipes.trailing_zeros();
        let bank = match self.banks {
            8 => bit(t, 5) ^ bit(x, 3) | (bit(t, 5) ^ bit(t, 4) ^ bit(x, 4)) << 1 | (bit(t, 3) ^ bit(x, 5)) << 2,
            _ => bit(t, 4) ^ bit(x, 3) | (bit(t, 3) ^ bit(x, 4)) << 1,
        };
        (pipe, bank)
    }

    /// The byte of a surface for byte `total` of one pipe's bank.
    pub(crate) fn interleaved(&self, total: u64, pipe: u32, bank: u32) -> u64 {
        let (pipes, group) = (u64::from(self.pipes), u64::from(self.group_bytes));
        let (all, in_group) = (pipes * u64::from(self.banks), total & (group - 1));
        (total - in_group) * all + (u64::from(bank) * pipes + u64::from(pipe)) * group + in_group
    }
}

/// The number of an element in its tile of 8x8: the bits of column and row, mixed by the size of elements.
pub(crate) const fn in_tile(x: u32, y: u32, element_bytes: u32, depth_order: bool) -> u32 {
    /// The order of bits, from the lowest: columns 0..=2, rows 3..=5.
    const fn mixed(x: u32, y: u32, order: [u32; 6]) -> u32 {
        let both = x & 7 | (y & 7) << 3;
        let (mut number, mut bit) = (0, 0);
        while bit < 6 {
            number |= (both >> order[bit] & 1) << bit;
            bit += 1;
        }
        number
    }
    let order = match (depth_order, element_bytes) {
        (true, _) => [0, 3, 1, 4, 2, 5],
        (false, 1) => [0, 1, 2, 4, 3, 5],
        (false, 2) => [0, 1, 2, 3, 4, 5],
        (false, 4) => [0, 1, 3, 2, 4, 5],
        (false, 8) => [0, 3, 1, 2, 4, 5],
        (false, _) => [3, 0, 1, 2, 4, 5],
    };
    mixed(x, y, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled(
        mode: ArrayMode,
        element_bytes: u32,
        samples: u32,
        depth_order: bool,
        [pitch, height]: [u32; 2],
    ) -> Layout {
        Layout { mode, pitch, height, element_bytes, samples, depth_order, tiling: Tiling::default() }
    }

    /// Truth: the published address library (x, y, slice, sample, address).
    #[test]
    fn tiles_are_all_alike() {
        for mode in [ArrayMode::Tiled1d, ArrayMode::Tiled2d] {
            for element_bytes in [1, 2, 4, 8, 16] {
                for samples in [1, 2, 4, 8] {
                    for depth_order in [false, true] {
                        let layout = tiled(mode, element_bytes, samples, depth_order, [256, 64]);
                        if layout.check().is_err() {
                            continue;
                        }
                        for sample in 0..samples {
                            let Some(tile) = layout.tile(sample) else {
                                assert!(depth_order && samples > 1);
                                continue;
                            };
                            for (x, y, slice) in (0..64).flat_map(|y| (0..256).map(move |x| (x, y, (x + y) % 3))) {
                                let first = layout.offset(x & !7, y & !7, slice, sample);
                                let place = tile[(x % 8 + y % 8 * 8) as usize];
                                assert_eq!(layout.offset(x, y, slice, sample), first + u64::from(place), "{layout:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn addresses_are_those_of_the_published_equations() {
        use ArrayMode::{Tiled1d, Tiled2d};
        type Row = (ArrayMode, u32, u32, bool, [u32; 2], &'static [[u32; 5]]);
        let table: [Row; 10] = [
            (
                Tiled2d,
                1,
                1,
                false,
                [256, 64],
                &[
                    [1, 0, 0, 0, 1],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 63],
                    [37, 21, 0, 0, 4469],
                    [255, 63, 0, 0, 15615],
                    [37, 21, 1, 0, 20597],
                ],
            ),
            (
                Tiled2d,
                2,
                1,
                false,
                [128, 64],
                &[
                    [1, 0, 0, 0, 2],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 126],
                    [37, 21, 0, 0, 4570],
                    [127, 63, 0, 0, 15614],
                    [37, 21, 1, 0, 20698],
                ],
            ),
            (
                Tiled2d,
                4,
                1,
                false,
                [64, 64],
                &[
                    [1, 0, 0, 0, 4],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 252],
                    [37, 21, 0, 0, 5556],
                    [63, 63, 0, 0, 15612],
                    [37, 21, 1, 0, 21684],
                ],
            ),
            (
                Tiled2d,
                8,
                1,
                false,
                [64, 64],
                &[
                    [1, 0, 0, 0, 8],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 1272],
                    [37, 21, 0, 0, 11608],
                    [63, 63, 0, 0, 31992],
                    [37, 21, 1, 0, 44120],
                ],
            ),
            (
                Tiled2d,
                16,
                1,
                false,
                [64, 64],
                &[
                    [1, 0, 0, 0, 32],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 3312],
                    [37, 21, 0, 0, 22960],
                    [63, 63, 0, 0, 64752],
                    [37, 21, 1, 0, 88240],
                ],
            ),
            (
                Tiled2d,
                4,
                1,
                true,
                [64, 64],
                &[
                    [1, 0, 0, 0, 4],
                    [0, 1, 0, 0, 8],
                    [7, 7, 0, 0, 252],
                    [37, 21, 0, 0, 5580],
                    [63, 63, 0, 0, 15612],
                    [37, 21, 1, 0, 21708],
                ],
            ),
            (
                Tiled2d,
                4,
                4,
                false,
                [64, 64],
                &[
                    [0, 0, 0, 1, 1024],
                    [0, 0, 0, 3, 3072],
                    [1, 0, 0, 0, 4],
                    [37, 21, 0, 2, 22964],
                    [63, 63, 0, 3, 64764],
                    [37, 21, 1, 2, 88244],
                ],
            ),
            (
                Tiled2d,
                4,
                8,
                true,
                [64, 64],
                &[
                    [0, 0, 0, 1, 4],
                    [0, 0, 0, 4, 16],
                    [1, 0, 0, 0, 32],
                    [37, 21, 0, 6, 88696],
                    [63, 63, 0, 7, 131_068],
                    [37, 21, 1, 6, 220_024],
                ],
            ),
            (
                Tiled2d,
                8,
                8,
                false,
                [64, 64],
                &[
                    [0, 0, 0, 1, 2048],
                    [0, 0, 0, 2, 66304],
                    [1, 0, 0, 0, 8],
                    [37, 21, 0, 6, 218_200],
                    [63, 63, 0, 7, 261_624],
                    [37, 21, 1, 6, 480_600],
                ],
            ),
            (
                Tiled1d,
                2,
                1,
                false,
                [128, 64],
                &[
                    [1, 0, 0, 0, 2],
                    [0, 1, 0, 0, 16],
                    [7, 7, 0, 0, 126],
                    [37, 21, 0, 0, 4698],
                    [127, 63, 0, 0, 16382],
                    [37, 21, 1, 0, 21082],
                ],
            ),
        ];
        for (mode, bytes, samples, depth, size, cases) in table {
            let layout = tiled(mode, bytes, samples, depth, size);
            assert_eq!(layout.check(), Ok(()));
            for &[x, y, slice, sample, address] in cases {
                let found = layout.offset(x, y, slice, sample);
                assert_eq!(found, u64::from(address), "{layout:?} ({x}, {y}) slice {slice} sample {sample}");
            }
        }
    }

    #[test]
    fn every_sample_has_a_place_of_its_own() {
        for pipes in [1, 2, 4, 8] {
            for banks in [4, 8] {
                for (element_bytes, samples, depth_order) in
                    [(1, 1, false), (4, 8, false), (4, 4, true), (16, 2, false)]
                {
                    let tiling = Tiling { pipes, banks, ..Tiling::default() };
                    let mode = ArrayMode::Tiled2d;
                    let layout = Layout { mode, pitch: 128, height: 128, element_bytes, samples, depth_order, tiling };
                    let mut seen = vec![false; (2 * layout.slice_bytes()) as usize / element_bytes as usize];
                    for slice in 0..2 {
                        for y in 0..128 {
                            for x in 0..128 {
                                for sample in 0..samples {
                                    let at = layout.offset(x, y, slice, sample);
                                    assert_eq!(at % u64::from(element_bytes), 0);
                                    let place = (at / u64::from(element_bytes)) as usize;
                                    assert!(!std::mem::replace(&mut seen[place], true), "{layout:?} ({x}, {y})");
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn layouts_that_cannot_be_are_refused() {
        let good = Layout::linear(5, 3, 4, 1);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(good.offset(2, 1, 1, 0), (15 + 7) * 4);
        let text = |layout: Layout| layout.check().map_err(|error| error.to_string());
        let pitch =
            "the pitch of the surface is 5, allowed is a multiple of a tile's columns (8; 8 for each bank in 2D)";
        assert_eq!(text(Layout { mode: ArrayMode::Tiled1d, ..good }), Err(pitch.into()));
        assert!(text(Layout { element_bytes: 3, ..good }).is_err());
        assert!(text(Layout { samples: 5, ..good }).is_err());
        assert!(text(Layout { samples: 3, mode: ArrayMode::Tiled2d, ..good }).is_err());
        assert!(text(Layout { height: 0, ..good }).is_err());
        assert!(text(Layout { pitch: 20000, ..good }).is_err());
    }
}
