//! The samples of a target during a draw: addresses, loads and stores.

use crate::lanes::{LANES, Shape, prefetch};
use crate::surface::cleared::{ClearedParts, FastClear};
use crate::surface::layout::{ArrayMode, Layout};
use ctm_exec::r700::Tiles;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// Reads an element of 1 to 16 bytes. Elements lie within the bytes: [`crate::Targets`] were checked.
#[inline]
fn load(bytes: &[u8], at: u64, size: u32) -> u128 {
    let at = at as usize;
    if size == 4 {
        let four = bytes.get(at..at.saturating_add(4)).and_then(|four| four.try_into().ok());
        return four.map_or(0, |four| u32::from_le_bytes(four).into());
    }
    let (mut whole, size) = ([0; 16], size as usize);
    if let Some(element) = bytes.get(at..at.saturating_add(size)) {
        whole[..size].copy_from_slice(element);
    }
    u128::from_le_bytes(whole)
}

#[inline]
fn store(bytes: &mut [u8], at: u64, size: u32, bits: u128) {
    let at = at as usize;
    if size == 4 {
        if let Some(element) = bytes.get_mut(at..at.saturating_add(4)) {
            element.copy_from_slice(&(bits as u32).to_le_bytes());
        }
        return;
    }
    let size = size as usize;
    if let Some(element) = bytes.get_mut(at..at.saturating_add(size)) {
        element.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// A linear surface, resolved once: the offset of its first slice, and bytes from row to row, pixel to pixel and sample to sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolvedRows {
    first: u64,
    row: u64,
    pub(super) pixel: u64,
    sample: u64,
}

impl ResolvedRows {
    fn of(layout: &Layout, [slice, last]: [u32; 2]) -> Option<Self> {
        (layout.mode == ArrayMode::Linear && slice <= last).then(|| {
            let sample = u64::from(layout.element_bytes);
            let pixel = sample * u64::from(layout.samples);
            let first = u64::from(slice) * layout.slice_bytes();
            Self { first, row: u64::from(layout.pitch) * pixel, pixel, sample }
        })
    }

    #[inline]
    pub(super) fn place(&self, x: i32, y: i32, sample: u32) -> u64 {
        self.first + u64::from(y as u32) * self.row + u64::from(x as u32) * self.pixel + u64::from(sample) * self.sample
    }
}

/// The samples of some rows of a target: of all, or of a band.
#[derive(Debug)]
pub(crate) struct Surface<'t> {
    pub(super) bytes: &'t mut [u8],
    /// Where these bytes lie among those of the whole target.
    pub(super) first_byte: u64,
    /// The row of layer 0 that begins there.
    pub(super) first_row: u32,
    pub(super) layout: Layout,
    /// The slice that layer 0 is, and the last one.
    pub(super) slices: [u32; 2],
    pub(super) rows: Option<ResolvedRows>,
    /// Offsets of columns among tiles, computed on first use; of all bands.
    columns: Arc<OnceLock<Arc<[u32]>>>,
    /// Where rows lie, too: of each sample.
    pub(super) tiles: OnceLock<Arc<FoundTiles>>,
    /// Parts of layer 0 whose value is not in memory. They are to be [settled](Self::settle) before anything but [`Self::fill`] reads or writes there.
    pub(super) clears: Option<ClearedParts<'t>>,
}

/// The byte ranges of a tile of 8x8 pixels, counted from its first element of a sample: their starts and lengths.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) sample: u32,
    pub(super) runs: Vec<[u32; 2]>,
}

impl Runs {
    /// The byte ranges of elements of `bytes` bytes at these places.
    pub(super) fn of(sample: u32, mut places: Vec<u32>, bytes: u32) -> Self {
        places.sort_unstable();
        let mut runs: Vec<[u32; 2]> = Vec::new();
        for place in places {
            match runs.last_mut() {
                Some([first, length]) if *first + *length == place => *length += bytes,
                _ => runs.push([place, bytes]),
            }
        }
        Self { sample, runs }
    }
}

/// Where columns and rows of layer 0 lie among tiles.
#[derive(Debug)]
pub(super) struct FoundTiles {
    /// For each sample.
    of_samples: Vec<Tiles>,
    /// The bytes from the upper row of a quad to its lower one in all quads and samples, whose columns are beside each other; of elements of 4 bytes.
    quad_row: Option<u32>,
    /// The byte ranges of every tile, found when pixels are filled.
    pub(super) runs: OnceLock<Vec<Runs>>,
}

impl FoundTiles {
    fn of(of_samples: Vec<Tiles>, layout: &Layout) -> Self {
        let first = of_samples.first().filter(|_| layout.element_bytes == 4).and_then(quad_row);
        let quad_row = first.filter(|_| of_samples.iter().all(|tiles| quad_row(tiles) == first));
        Self { of_samples, quad_row, runs: OnceLock::new() }
    }
}

/// See [`FoundTiles::quad_row`]. The first row is even.
fn quad_row(tiles: &Tiles) -> Option<u32> {
    let within = tiles.tile_bytes.wrapping_sub(1);
    let &[upper, lower, ..] = &*tiles.rows else { return None };
    let row = upper ^ lower;
    // Bits of a tile that some even column or row has: those in which a quad's second ones differ have to be free, so that they add up.
    let used = |all: &[u32]| all.iter().step_by(2).fold(0, |used, at| used | at & within);
    let is_free = |bits: u32| bits & !within == 0 && (used(&tiles.columns) | used(&tiles.rows)) & bits == 0;
    let differ = |all: &[u32], by: u32| all.as_chunks::<2>().0.iter().all(|[even, odd]| even ^ odd == by);
    let beside = row & 4 == 0 && is_free(4) && is_free(row);
    (beside && differ(&tiles.columns, 4) && differ(&tiles.rows, row)).then_some(row)
}

/// The inputs of the tiles of a surface: the arrangement, the slice, the first row and its byte, and the count of bytes.
type TilesKey = (Layout, u32, u32, u64, usize);

/// Tiles of the surfaces of earlier draws: draws that follow each other mostly have the same targets.
static TILES: LazyLock<Mutex<HashMap<TilesKey, Arc<FoundTiles>>>> = LazyLock::new(Mutex::default);

/// Most of them.
const MOST_TILES: usize = 512;

/// Copies a few bytes: mostly 16 or 8.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    if let (Ok(from), Ok(to)) = (<&[u8; 16]>::try_from(from), <&mut [u8; 16]>::try_from(&mut *to)) {
        *to = *from;
    } else if let (Ok(from), Ok(to)) = (<&[u8; 8]>::try_from(from), <&mut [u8; 8]>::try_from(&mut *to)) {
        *to = *from;
    } else {
        to.copy_from_slice(from);
    }
}

/// Layer 0 as lines of elements.
pub(crate) struct Lines<'l> {
    pub(crate) bytes: &'l mut [u8],
    pub(crate) pitch: u32,
    pub(crate) height: u32,
    /// Where elements lie, if not line by line.
    pub(crate) tiles: Option<Tiles>,
}

impl<'t> Surface<'t> {
    /// Of a whole target.
    pub(crate) fn new(bytes: &'t mut [u8], layout: Layout, slices: [u32; 2]) -> Self {
        let rows = ResolvedRows::of(&layout, slices);
        let (columns, tiles) = (Arc::default(), OnceLock::new());
        Self { bytes, first_byte: 0, first_row: 0, layout, slices, rows, columns, tiles, clears: None }
    }

    /// With the fast clears of layer 0, if they are of its layout and slice.
    pub(crate) fn with_clears(self, clear: Option<&'t mut FastClear>) -> Self {
        let clear = clear.filter(|clear| clear.is_of(&self.layout, self.slices[0]));
        Self { clears: clear.map(ClearedParts::of), ..self }
    }

    /// The arrangement of the whole target.
    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The place of a sample; `None` in a layer that does not exist.
    #[inline]
    pub(crate) fn place(&self, x: i32, y: i32, layer: u32, sample: u32) -> Option<u64> {
        if layer == 0 {
            if let Some(rows) = &self.rows {
                return Some(rows.place(x, y, sample));
            }
            if let Some(tiles) = self.tiles.get().and_then(|tiles| tiles.of_samples.get(sample as usize))
                && let Some(offset) = tiles.offset(x as u32, (y as u32).wrapping_sub(self.first_row))
            {
                return Some(self.first_byte + u64::from(offset));
            }
        }
        let slice = self.slices[0].checked_add(layer).filter(|&slice| slice <= self.slices[1])?;
        Some(self.layout.offset(x as u32, y as u32, slice, sample))
    }

    #[inline]
    pub(crate) fn load(&self, place: u64) -> u128 {
        load(self.bytes, place.wrapping_sub(self.first_byte), self.layout.element_bytes)
    }

    #[inline]
    pub(crate) fn store(&mut self, place: u64, bits: u128) {
        store(self.bytes, place.wrapping_sub(self.first_byte), self.layout.element_bytes, bits);
    }

    /// Stores the covered pixels of a quad, of one sample and four bytes each; `false` where they are not adjacent, or at the end of memory.
    #[inline]
    pub(crate) fn store_quad(&mut self, [x, y]: [i32; 2], layer: u32, covered: [bool; 4], bits: &[u32; 4]) -> bool {
        // The two pixels of each row are side by side in tiles, too.
        let Layout { element_bytes: 4, samples: 1, .. } = self.layout else { return false };
        if layer > 0 {
            return false;
        }
        let places = if let Some(rows) = &self.rows {
            let first = rows.place(x, y, 0).wrapping_sub(self.first_byte) as usize;
            [first, first.wrapping_add(rows.row as usize)]
        } else {
            let Some(tiles) = self.tiles.get().and_then(|tiles| tiles.of_samples.first()) else { return false };
            let row = (y as u32).wrapping_sub(self.first_row);
            let (first, second) = (tiles.offset(x as u32, row), tiles.offset(x as u32, row.wrapping_add(1)));
            let (Some(first), Some(second)) = (first, second) else { return false };
            [first as usize, second as usize]
        };
        // The ends first, so that all is stored or nothing.
        if places.into_iter().any(|at| at.saturating_add(8) > self.bytes.len()) {
            return false;
        }
        let mask = |is_covered: bool, n: u32| if is_covered { u64::from(u32::MAX) << (32 * n) } else { 0 };
        for (row, at) in places.into_iter().enumerate() {
            let Some(of_row) = self.bytes.get_mut(at..at + 8) else { continue };
            let [left, right] = [covered[2 * row], covered[2 * row + 1]];
            let kept = !(mask(left, 0) | mask(right, 1));
            let new = u64::from(bits[2 * row + 1]) << 32 | u64::from(bits[2 * row]);
            if let Some(two) = of_row.first_chunk_mut() {
                *two = (u64::from_le_bytes(*two) & kept | new & !kept).to_le_bytes();
            }
        }
        true
    }

    /// The range of adjacent pixels of one sample in layer 0, within `bytes` bytes; `None` where they are not contiguous or not within.
    fn line(&self, bytes: usize, [x, y]: [i32; 2], pixels: usize) -> Option<std::ops::Range<usize>> {
        let rows = self.rows.as_ref()?;
        let first = usize::try_from(rows.place(x, y, 0).checked_sub(self.first_byte)?).ok()?;
        let end = first.checked_add(pixels.checked_mul(usize::try_from(rows.pixel).ok()?)?)?;
        (self.layout.samples == 1 && end <= bytes).then_some(first..end)
    }

    /// Calls `tell` with the contiguous parts of a sample of adjacent pixels in layer 0, within `bytes` bytes: their offsets and pixels.
    #[inline(always)]
    pub(super) fn parts(
        &self,
        bytes: usize,
        ([x, y], sample): ([i32; 2], u32),
        count: usize,
        mut tell: impl FnMut(usize, std::ops::Range<usize>),
    ) {
        if let Some(line) = self.line(bytes, [x, y], count) {
            tell(line.start, 0..count);
            return;
        }
        // Neighbours in the tiles of one surface: the lowest bits of the column come first there.
        let most = if self.layout.depth_order { 2 } else { (16 / self.layout.element_bytes).clamp(1, 8) as usize };
        // In depth order, the samples of a pixel lie side by side.
        let is_spread = self.layout.depth_order && self.layout.samples > 1;
        let most = if self.rows.is_some() || is_spread { 1 } else { most };
        let tiles = self.tiles.get().and_then(|tiles| tiles.of_samples.get(sample as usize));
        let row = tiles.and_then(|tiles| tiles.rows.get(y.cast_unsigned().wrapping_sub(self.first_row) as usize));
        let known = tiles.zip(row.copied());
        let mut done = 0;
        while done < count {
            let column = (x as u32 as usize).wrapping_add(done);
            let part = (most - column % most).min(count - done);
            let place = match known.and_then(|(tiles, row)| Some(tiles.folded(*tiles.columns.get(column)?, row))) {
                Some(place) => Some(place as usize),
                None => {
                    self.place(column as i32, y, 0, sample).map(|place| place.wrapping_sub(self.first_byte) as usize)
                }
            };
            if let Some(place) = place {
                tell(place, done..done + part);
            }
            done += part;
        }
    }

    /// Reads the elements of a sample of adjacent pixels in layer 0.
    #[inline(always)]
    pub(crate) fn read_row(&self, at: [i32; 2], sample: u32, to: &mut [u8]) {
        let size = self.layout.element_bytes as usize;
        self.parts(self.bytes.len(), (at, sample), to.len() / size, |place, pixels| {
            let to = &mut to[pixels.start * size..pixels.end * size];
            if let Some(from) = self.bytes.get(place..place.saturating_add(to.len())) {
                copy(from, to);
            }
        });
    }

    /// Stores them.
    #[inline(always)]
    pub(crate) fn write_row(&mut self, at: [i32; 2], sample: u32, from: &[u8]) {
        let size = self.layout.element_bytes as usize;
        // The places belong to the surface, and its bytes are borrowed meanwhile.
        let bytes = std::mem::take(&mut self.bytes);
        self.parts(bytes.len(), (at, sample), from.len() / size, |place, pixels| {
            let from = &from[pixels.start * size..pixels.end * size];
            if let Some(to) = bytes.get_mut(place..place.saturating_add(from.len())) {
                copy(from, to);
            }
        });
        self.bytes = bytes;
    }

    /// Stores the elements of a sample of a quad's pixels in layer 0, of 4 bytes each; `false` where they do not lie as [`FoundTiles::quad_row`] says.
    #[inline(always)]
    pub(crate) fn write_quad(&mut self, [x, y]: [i32; 2], sample: u32, from: &[u8; 16]) -> bool {
        let found = self.tiles.get().and_then(|found| Some((found.of_samples.get(sample as usize)?, found.quad_row?)));
        let Some((tiles, row)) = found else { return false };
        let Some(first) = tiles.offset(x as u32, (y as u32).wrapping_sub(self.first_row)) else { return false };
        let (upper, lower) = (first as usize, first as usize + row as usize);
        if upper.max(lower) + 8 > self.bytes.len() {
            return false;
        }
        self.bytes[upper..upper + 8].copy_from_slice(&from[..8]);
        self.bytes[lower..lower + 8].copy_from_slice(&from[8..]);
        true
    }

    /// Whether it is linear.
    pub(crate) const fn is_linear(&self) -> bool {
        self.rows.is_some()
    }

    /// The elements of a block or of the first `count` pixels of a row, lane after lane, of one sample; `None` where they are elsewhere.
    #[inline]
    pub(crate) fn lanes(&mut self, shape: Shape, [x, y]: [i32; 2], layer: u32, count: usize) -> Option<&mut [u8]> {
        let bytes = self.layout.element_bytes as usize;
        let (is_together, length) = match shape {
            Shape::Row => (self.rows.is_some_and(|rows| rows.pixel as usize == bytes), count * bytes),
            Shape::Block => {
                let fits =
                    self.layout.mode == ArrayMode::Tiled1d || LANES * bytes <= self.layout.tiling.group_bytes as usize;
                (self.rows.is_none() && self.layout.samples == 1 && self.layout.depth_order && fits, LANES * bytes)
            }
        };
        if !is_together || layer > 0 && shape == Shape::Row {
            return None;
        }
        let first = self.place(x, y, layer, 0)?.checked_sub(self.first_byte)? as usize;
        self.bytes.get_mut(first..first.checked_add(length)?)
    }

    /// The elements of a quad, pixel after pixel, of one sample; `None` where they are elsewhere.
    #[inline]
    pub(crate) fn quad(&mut self, [x, y]: [i32; 2], layer: u32) -> Option<&mut [u8]> {
        let Layout { mode, element_bytes, samples, depth_order, tiling, .. } = self.layout;
        let length = 4 * element_bytes;
        let fits = mode == ArrayMode::Tiled1d || length <= tiling.group_bytes;
        if self.rows.is_some() || samples > 1 || !depth_order || !fits {
            return None;
        }
        let first = self.place(x, y, layer, 0)?.checked_sub(self.first_byte)? as usize;
        self.bytes.get_mut(first..first.checked_add(length as usize)?)
    }

    /// Begins to load the block of layer 0 at this place, if [`Self::find_tiles`] knows it. Tiles lie in an order that processors do not foresee.
    #[inline]
    pub(crate) fn prefetch_block(&self, [x, y]: [i32; 2]) {
        if let Some(tiles) = self.tiles.get().and_then(|tiles| tiles.of_samples.first())
            && let Some(offset) = tiles.offset(x as u32, (y as u32).wrapping_sub(self.first_row))
        {
            prefetch(self.bytes, offset as usize, LANES * self.layout.element_bytes as usize);
        }
    }

    /// The elements of all samples of a quad, pixel after pixel; `None` where they are elsewhere.
    #[inline]
    pub(crate) fn samples_of_quad(&mut self, [x, y]: [i32; 2], layer: u32) -> Option<&mut [u8]> {
        let Layout { mode, element_bytes, samples, depth_order, tiling, .. } = self.layout;
        let (of_quad, of_tile) = (4 * samples * element_bytes, 64 * samples * element_bytes);
        let is_together = mode == ArrayMode::Tiled2d && depth_order && of_quad <= tiling.group_bytes;
        if !is_together || of_tile > tiling.sample_split_bytes {
            return None;
        }
        let first = self.place(x, y, layer, 0)?.checked_sub(self.first_byte)? as usize;
        self.bytes.get_mut(first..first.checked_add(of_quad as usize)?)
    }

    /// Whether [`Self::lines`] can return layer 0, aligned to dwords: linear or tiled, one sample.
    pub(crate) fn can_be_lent(&self) -> bool {
        let aligned = (self.bytes.as_ptr() as usize).is_multiple_of(4);
        let laid_out = self.rows.is_some() && self.layout.samples == 1 || self.layout.folded_bytes().is_some();
        laid_out && self.slices[0] <= self.slices[1] && aligned
    }

    /// Layer 0, whose row 0 is the first of these; of one sample.
    pub(crate) fn lines(&mut self) -> Option<Lines<'_>> {
        let pitch = self.layout.pitch;
        if let Some(rows) = &self.rows {
            let first = rows.place(0, self.first_row.cast_signed(), 0).checked_sub(self.first_byte)?;
            let bytes = self.bytes.get_mut(usize::try_from(first).ok()?..)?;
            let height = (bytes.len() as u64 / rows.row.max(1)) as u32;
            return Some(Lines { bytes, pitch, height, tiles: None });
        }
        self.find_tiles();
        let [tiles] = self.tiles.get()?.of_samples.as_slice() else { return None };
        let tiles = tiles.clone();
        Some(Lines { bytes: self.bytes, pitch, height: tiles.rows.len() as u32, tiles: Some(tiles) })
    }

    /// The places of the pixels of quads in layer 0, which begin at these even columns and rows: a launch has a column for each pixel of a quad's row, and two rows. Offsets are
    /// counted from the first byte of [`Self::lines`]. `None` where the two rows of quads do not always lie equally far apart, or a quad does not lie in these bytes. Elements have 4 bytes.
    pub(crate) fn tiles_of_quads(&self, quads: impl Iterator<Item = [i32; 2]>) -> Option<Tiles> {
        let Layout { element_bytes: 4, samples: 1, .. } = self.layout else { return None };
        let mut columns: Vec<[u32; 2]> = Vec::with_capacity(quads.size_hint().0);
        let row = if let Some(rows) = &self.rows {
            let base = rows.place(0, self.first_row.cast_signed(), 0);
            let end = (self.first_byte + self.bytes.len() as u64).checked_sub(base)?;
            for [x, y] in quads {
                let first = rows.place(x, y, 0).checked_sub(base).filter(|first| first + rows.row + 8 <= end)?;
                let first = u32::try_from(first).ok()?;
                columns.push([first, first + 4]);
            }
            u32::try_from(rows.row).ok()?
        } else {
            self.find_tiles();
            let found = self.tiles.get()?;
            let (tiles, row) = (found.of_samples.first()?, found.quad_row?);
            let last = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).checked_sub(row)?.checked_sub(8)?;
            for [x, y] in quads {
                let (x, y) = (x.cast_unsigned() as usize, y.cast_unsigned().wrapping_sub(self.first_row) as usize);
                let first = tiles.folded(*tiles.columns.get(x)?, *tiles.rows.get(y)?);
                if x & 1 == 1 || y & 1 == 1 || last < first {
                    return None;
                }
                columns.push([first, first + 4]);
            }
            row
        };
        Some(Tiles { columns: columns.into_flattened().into(), rows: [0, row].into(), tile_bytes: 4 })
    }

    /// Computes the offsets of columns and rows of layer 0, which makes [`Self::place`] faster for many pixels.
    pub(crate) fn find_tiles(&self) {
        if self.rows.is_none() {
            self.tiles.get_or_init(|| {
                let key = (self.layout, self.slices[0], self.first_row, self.first_byte, self.bytes.len());
                let known = || TILES.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(tiles) = known().get(&key) {
                    return Arc::clone(tiles);
                }
                let tiles = Arc::new(FoundTiles::of(self.tiles(), &self.layout));
                let mut known = known();
                if known.len() >= MOST_TILES {
                    known.clear();
                }
                known.insert(key, Arc::clone(&tiles));
                tiles
            });
        }
    }

    fn tiles(&self) -> Vec<Tiles> {
        let Some(tile_bytes) = self.layout.folded_bytes_of_samples() else { return Vec::new() };
        let tile = u64::from(tile_bytes);
        let place = |x: u32, y: u32, sample: u32| self.layout.offset(x, y, self.slices[0], sample);
        // The offsets of the slice and the sample are counted to rows.
        let first = place(0, 0, 0);
        let column = |x: u32| {
            let at = place(x, 0, 0);
            u32::try_from(at / tile * tile - first / tile * tile).ok().map(|whole| whole | ((at ^ first) % tile) as u32)
        };
        let columns = self.columns.get_or_init(|| (0..self.layout.pitch).map_while(column).collect());
        let ends = |at: &u32| (*at as usize) < self.bytes.len();
        let of_sample = |sample: u32| {
            let row = |y: u32| u32::try_from(place(0, y, sample).checked_sub(self.first_byte)?).ok();
            let rows = (self.first_row..self.layout.height).map_while(row).take_while(ends).collect();
            Tiles { columns: columns.clone(), rows, tile_bytes }
        };
        (0..self.layout.samples).map(of_sample).collect()
    }

    /// Whether bands of `rows` rows have memory of their own.
    pub(crate) fn splits(&self, rows: u32) -> bool {
        self.slices[0] == self.slices[1] && self.layout.bytes_of_rows(rows).is_some_and(|bytes| bytes > 0)
    }

    /// Bands of `rows` rows, from row 0 on, where [`Self::splits`] is true.
    pub(crate) fn split(self, rows: u32) -> Vec<Self> {
        let Self { bytes, layout, slices, rows: of_rows, columns, clears, .. } = self;
        let Some(of_band) = layout.bytes_of_rows(rows).filter(|&bytes| bytes > 0) else { return Vec::new() };
        let (slice, of_slice) = (u64::from(slices[0]) * layout.slice_bytes(), layout.slice_bytes());
        let parts = bytes.get_mut(slice as usize..(slice + of_slice) as usize).unwrap_or_default();
        let mut clears = clears.map(|clears| clears.split(rows));
        let band = |(n, bytes): (u32, &'t mut [u8])| Self {
            bytes,
            first_byte: slice + u64::from(n) * of_band,
            first_row: n * rows,
            layout,
            slices,
            rows: of_rows,
            columns: Arc::clone(&columns),
            tiles: OnceLock::new(),
            clears: clears.as_mut().and_then(Iterator::next),
        };
        (0u32..).zip(parts.chunks_mut(of_band as usize)).map(band).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::layout::Tiling;

    #[test]
    fn samples_lie_where_the_layout_says() {
        let (mut tiled, mut blocks, mut quads) = (0, 0, 0);
        for (mode, element_bytes, samples) in [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d]
            .into_iter()
            .flat_map(|mode| [1, 2, 4, 8, 16].map(|bytes| (mode, bytes)))
            .flat_map(|(mode, bytes)| [1, 2, 4, 8].map(|samples| (mode, bytes, samples)))
        {
            for (depth_order, pipes, swizzle) in [(false, 1, 0), (true, 1, 0), (false, 2, 5), (true, 2, 5)] {
                let tiling = Tiling { pipes, swizzle, ..Tiling::default() };
                // Small tiles are folded where they fill groups.
                let pitch = if pipes == 2 { 128 } else { 96 };
                let layout = Layout { mode, pitch, height: 48, element_bytes, samples, depth_order, tiling };
                if layout.check().is_err() || swizzle >= pipes * tiling.banks {
                    continue;
                }
                let mut bytes = vec![0; 2 * layout.slice_bytes() as usize];
                let surface = Surface::new(&mut bytes, layout, [1, 1]);
                let mut rows = if surface.splits(16) { surface.split(16) } else { vec![surface] };
                let of_band = layout.height / rows.len() as u32;
                for (n, band) in (0u32..).zip(&mut rows) {
                    band.find_tiles();
                    tiled += band.tiles.get().map_or(0, |tiles| tiles.of_samples.len());
                    if samples == 1 {
                        let first = (n * of_band) as i32;
                        for (x, y) in (first..first + of_band as i32).map(|y| (5 + y % 9, y)) {
                            let size = element_bytes as usize;
                            let row: Vec<u8> = (0..40 * size).map(|n| (n as i32 * 7 + y) as u8).collect();
                            band.write_row([x, y], 0, &row);
                            let mut read = vec![0; row.len()];
                            band.read_row([x, y], 0, &mut read);
                            assert_eq!(read, row);
                            for (x, element) in (x..).zip(row.chunks(size)) {
                                let bits = element.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                                let place = band.place(x, y, 0, 0).unwrap_or_default();
                                assert_eq!(band.load(place), bits, "{layout:?} {x} {y}");
                            }
                        }
                    }
                    let all = || (n * of_band..(n + 1) * of_band).flat_map(|y| (0..pitch).map(move |x| (x, y)));
                    let of_quads: Vec<(u32, u32)> = all().filter(|(x, y)| x % 2 == 0 && y % 2 == 0).collect();
                    let found = band.tiles_of_quads(of_quads.iter().map(|&(x, y)| [x as i32, y as i32]));
                    if let Some(tiles) = found {
                        let in_lines =
                            if band.rows.is_some() { layout.offset(0, n * of_band, 1, 0) } else { band.first_byte };
                        for (number, &(x, y)) in of_quads.iter().enumerate() {
                            for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                                let place = tiles.folded(tiles.columns[2 * number + column], tiles.rows[row]);
                                let expected = layout.offset(x + column as u32, y + row as u32, 1, 0);
                                assert_eq!(u64::from(place) + in_lines, expected, "{layout:?} {x} {y}");
                            }
                        }
                        quads += 1;
                    }
                    for (x, y) in all() {
                        if let (0, 0, 1) = (x % 8, y % 4, samples)
                            && let Some(lanes) = band.lanes(Shape::Block, [x as i32, y as i32], 0, LANES)
                        {
                            lanes[31 * element_bytes as usize] = 77;
                            let last = band.place(x as i32 + 7, y as i32 + 3, 0, 0).unwrap_or_default();
                            assert_eq!(band.load(last) as u8, 77, "{layout:?} {x} {y}");
                            blocks += 1;
                        }
                        for sample in 0..samples {
                            let place = band.place(x as i32, y as i32, 0, sample);
                            assert_eq!(place, Some(layout.offset(x, y, 1, sample)), "{layout:?} {x} {y} {sample}");
                        }
                    }
                }
            }
        }
        assert!(tiled > 100, "{tiled} arrangements of samples were folded");
        assert!(blocks > 100, "{blocks} blocks lay together");
        assert!(quads > 10, "places of quads in {quads} bands");
    }
}
