//! The samples of a target under way: where they lie, loads and stores.

use crate::surface::layout::{ArrayMode, Layout};
use ctm_exec::r700::Tiles;
use std::sync::{Arc, OnceLock};

/// Reads an element of 1 to 16 bytes. Elements lie within the bytes: [`crate::Targets`] were looked at.
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

/// A linear surface, looked up once: where its first slice begins, and bytes from row to row, pixel to pixel and sample to sample.
#[derive(Clone, Copy, Debug)]
struct Rows {
    first: u64,
    row: u64,
    pixel: u64,
    sample: u64,
}

impl Rows {
    fn of(layout: &Layout, [slice, last]: [u32; 2]) -> Option<Self> {
        (layout.mode == ArrayMode::Linear && slice <= last).then(|| {
            let sample = u64::from(layout.element_bytes);
            let pixel = sample * u64::from(layout.samples);
            let first = u64::from(slice) * layout.slice_bytes();
            Self { first, row: u64::from(layout.pitch) * pixel, pixel, sample }
        })
    }

    #[inline]
    fn place(&self, x: i32, y: i32, sample: u32) -> u64 {
        self.first + u64::from(y as u32) * self.row + u64::from(x as u32) * self.pixel + u64::from(sample) * self.sample
    }
}

/// The samples of some rows of a target: of all, or of a band.
#[derive(Debug)]
pub(crate) struct Surface<'t> {
    bytes: &'t mut [u8],
    /// Where these bytes lie among those of the whole target.
    first_byte: u64,
    /// The row of layer 0 that begins there.
    first_row: u32,
    layout: Layout,
    /// The slice that layer 0 is, and the last one.
    slices: [u32; 2],
    rows: Option<Rows>,
    /// Where columns lie among tiles, once somebody has asked; of all bands.
    columns: Arc<OnceLock<Arc<[u32]>>>,
    /// Where rows lie, too: of each sample.
    tiles: OnceLock<Vec<Tiles>>,
}

/// Where elements side by side lie among tiles, of one sample, if that is known.
fn tiled_row(tiles: Option<&Vec<Tiles>>, x: u32, y: u32, count: usize) -> Option<impl Iterator<Item = usize>> {
    let [tiles] = tiles?.as_slice() else { return None };
    let last = x.checked_add(u32::try_from(count.checked_sub(1)?).ok()?)?;
    tiles.offset(last, y)?;
    Some((x..=last).map(move |x| tiles.offset(x, y).unwrap_or_default() as usize))
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
        let rows = Rows::of(&layout, slices);
        let (columns, tiles) = (Arc::default(), OnceLock::new());
        Self { bytes, first_byte: 0, first_row: 0, layout, slices, rows, columns, tiles }
    }

    /// The arrangement of the whole target.
    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The place of a sample; `None` in a layer that there is not.
    #[inline]
    pub(crate) fn place(&self, x: i32, y: i32, layer: u32, sample: u32) -> Option<u64> {
        if layer == 0 {
            if let Some(rows) = &self.rows {
                return Some(rows.place(x, y, sample));
            }
            if let Some(tiles) = self.tiles.get().and_then(|tiles| tiles.get(sample as usize))
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

    /// Stores those pixels of a quad that are covered, of one sample and four bytes each; `false` where they do not lie side by side, or at the end of memory.
    #[inline]
    pub(crate) fn store_quad(&mut self, [x, y]: [i32; 2], layer: u32, covered: [bool; 4], bits: &[u32; 4]) -> bool {
        let (Some(rows), 0) = (&self.rows, layer) else { return false };
        if rows.pixel != 4 {
            return false;
        }
        let first = rows.place(x, y, 0).wrapping_sub(self.first_byte) as usize;
        let second = first.wrapping_add(rows.row as usize);
        // The ends first, so that all is stored or nothing.
        let (two, end) = (first.saturating_add(8), second.saturating_add(8));
        if end > self.bytes.len() || two > second {
            return false;
        }
        let (above, below) = self.bytes.split_at_mut(second);
        let rows = [&mut above[first..two], &mut below[..8]];
        let mask = |is_covered: bool, n: u32| if is_covered { u64::from(u32::MAX) << (32 * n) } else { 0 };
        for (row, of_row) in rows.into_iter().enumerate() {
            let [left, right] = [covered[2 * row], covered[2 * row + 1]];
            let kept = !(mask(left, 0) | mask(right, 1));
            let new = u64::from(bits[2 * row + 1]) << 32 | u64::from(bits[2 * row]);
            if let Some(two) = of_row.first_chunk_mut() {
                *two = (u64::from_le_bytes(*two) & kept | new & !kept).to_le_bytes();
            }
        }
        true
    }

    /// The elements of pixels side by side in layer 0, of one sample; `None` where they do not lie so.
    fn line(&self, x: i32, y: i32, pixels: usize) -> Option<std::ops::Range<usize>> {
        let rows = self.rows.as_ref()?;
        let first = usize::try_from(rows.place(x, y, 0).checked_sub(self.first_byte)?).ok()?;
        let end = first.checked_add(pixels.checked_mul(usize::try_from(rows.pixel).ok()?)?)?;
        (rows.pixel == 4 && end <= self.bytes.len()).then_some(first..end)
    }

    /// Stores one value in every sample of pixels side by side, from the first column up to the one behind the last; `false` where they do not lie so.
    pub(crate) fn fill_row(&mut self, [left, right]: [i32; 2], y: i32, layer: u32, bits: u128) -> bool {
        let Some(rows) = &self.rows else { return false };
        if self.slices[0].checked_add(layer).is_none_or(|slice| slice > self.slices[1]) {
            return false;
        }
        let first = rows.place(left, y, 0) + u64::from(layer) * self.layout.slice_bytes();
        let first = first.wrapping_sub(self.first_byte) as usize;
        let pixels = right.saturating_sub(left).max(0) as usize;
        let end = pixels.checked_mul(rows.pixel as usize).and_then(|bytes| first.checked_add(bytes));
        let Some(row) = end.and_then(|end| self.bytes.get_mut(first..end)) else { return false };
        let value = bits.to_le_bytes();
        match self.layout.element_bytes as usize {
            4 => row.as_chunks_mut().0.fill([value[0], value[1], value[2], value[3]]),
            size => row.chunks_exact_mut(size.max(1)).for_each(|element| element.copy_from_slice(&value[..size])),
        }
        true
    }

    /// Reads pixels side by side in layer 0, of one sample and four bytes each; `false` where their places are not known.
    pub(crate) fn load_words(&self, x: i32, y: i32, to: &mut [[u8; 4]]) -> bool {
        if let Some(line) = self.line(x, y, to.len()) {
            to.copy_from_slice(self.bytes[line].as_chunks().0);
            return true;
        }
        let tiles = self.tiles.get().filter(|_| self.layout.element_bytes == 4);
        let y = y.cast_unsigned().wrapping_sub(self.first_row);
        let Some(places) = tiled_row(tiles, x.cast_unsigned(), y, to.len()) else { return false };
        let words = self.bytes.as_chunks().0;
        for (to, place) in to.iter_mut().zip(places) {
            *to = words.get(place / 4).copied().unwrap_or_default();
        }
        true
    }

    /// Stores what [`Self::load_words`] has read, changed.
    pub(crate) fn store_words(&mut self, x: i32, y: i32, from: &[[u8; 4]]) {
        if let Some(line) = self.line(x, y, from.len()) {
            self.bytes[line].as_chunks_mut().0.copy_from_slice(from);
            return;
        }
        let y = y.cast_unsigned().wrapping_sub(self.first_row);
        let places = tiled_row(self.tiles.get(), x.cast_unsigned(), y, from.len()).into_iter().flatten();
        let words = self.bytes.as_chunks_mut().0;
        for (from, place) in from.iter().zip(places) {
            if let Some(word) = words.get_mut(place / 4) {
                *word = *from;
            }
        }
    }

    /// The elements from a pixel of layer 0 on, where so many pixels, of one sample and four bytes each, lie side by side; later ones may be of other rows.
    pub(crate) fn words_from(&mut self, x: i32, y: i32, pixels: usize) -> Option<&mut [[u8; 4]]> {
        let line = self.line(x, y, pixels)?;
        Some(self.bytes[line.start..].as_chunks_mut().0)
    }

    /// Reads pixels side by side in layer 0, of one sample.
    pub(crate) fn load_row(&self, x: i32, y: i32, to: &mut [u128]) {
        if let Some(line) = self.line(x, y, to.len()) {
            let elements = self.bytes[line].as_chunks().0;
            to.iter_mut().zip(elements).for_each(|(to, &element)| *to = u32::from_le_bytes(element).into());
            return;
        }
        for (x, to) in (x..).zip(to) {
            *to = self.place(x, y, 0, 0).map_or(0, |place| self.load(place));
        }
    }

    /// Stores those of pixels side by side in layer 0, of one sample, that are marked.
    pub(crate) fn store_row(&mut self, x: i32, y: i32, bits: &[u128], marks: &[bool]) {
        if let Some(line) = self.line(x, y, bits.len()) {
            let elements = self.bytes[line].as_chunks_mut().0.iter_mut();
            for ((element, &bits), &is_marked) in elements.zip(bits).zip(marks) {
                let new = (bits as u32).to_le_bytes();
                *element = if is_marked { new } else { *element };
            }
            return;
        }
        for ((x, &bits), _) in (x..).zip(bits).zip(marks).filter(|(_, is_marked)| **is_marked) {
            if let Some(place) = self.place(x, y, 0, 0) {
                self.store(place, bits);
            }
        }
    }

    /// Whether [`Self::lines`] gives layer 0, aligned to dwords: linear or tiled, one sample.
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
        let [tiles] = self.tiles.get()?.as_slice() else { return None };
        let tiles = tiles.clone();
        Some(Lines { bytes: self.bytes, pitch, height: tiles.rows.len() as u32, tiles: Some(tiles) })
    }

    /// Finds where columns and rows of layer 0 lie, which makes [`Self::place`] faster; worth it for many pixels.
    pub(crate) fn find_tiles(&self) {
        if self.rows.is_none() {
            self.tiles.get_or_init(|| self.tiles());
        }
    }

    fn tiles(&self) -> Vec<Tiles> {
        let Some(tile_bytes) = self.layout.folded_bytes_of_samples() else { return Vec::new() };
        let tile = u64::from(tile_bytes);
        let place = |x: u32, y: u32, sample: u32| self.layout.offset(x, y, self.slices[0], sample);
        // What the slice and the sample add belongs to rows.
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

    /// Whether bands of so many rows lie in memory of their own.
    pub(crate) fn splits(&self, rows: u32) -> bool {
        self.slices[0] == self.slices[1] && self.layout.bytes_of_rows(rows).is_some_and(|bytes| bytes > 0)
    }

    /// Bands of so many rows, from row 0 on, where [`Self::splits`] says so.
    pub(crate) fn split(self, rows: u32) -> Vec<Self> {
        let Self { bytes, layout, slices, rows: of_rows, columns, .. } = self;
        let Some(of_band) = layout.bytes_of_rows(rows).filter(|&bytes| bytes > 0) else { return Vec::new() };
        let (slice, of_slice) = (u64::from(slices[0]) * layout.slice_bytes(), layout.slice_bytes());
        let parts = bytes.get_mut(slice as usize..(slice + of_slice) as usize).unwrap_or_default();
        let band = |(n, bytes): (u32, &'t mut [u8])| Self {
            bytes,
            first_byte: slice + u64::from(n) * of_band,
            first_row: n * rows,
            layout,
            slices,
            rows: of_rows,
            columns: Arc::clone(&columns),
            tiles: OnceLock::new(),
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
        let mut tiled = 0;
        for (mode, element_bytes, samples) in [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d]
            .into_iter()
            .flat_map(|mode| [1, 2, 4, 8, 16].map(|bytes| (mode, bytes)))
            .flat_map(|(mode, bytes)| [1, 2, 4, 8].map(|samples| (mode, bytes, samples)))
        {
            for (depth_order, pipes, swizzle) in [(false, 1, 0), (true, 1, 0), (false, 2, 5), (true, 2, 5)] {
                let tiling = Tiling { pipes, swizzle, ..Tiling::default() };
                let layout = Layout { mode, pitch: 96, height: 48, element_bytes, samples, depth_order, tiling };
                if layout.check().is_err() || swizzle >= pipes * tiling.banks {
                    continue;
                }
                let mut bytes = vec![0; 2 * layout.slice_bytes() as usize];
                let surface = Surface::new(&mut bytes, layout, [1, 1]);
                let mut rows = if surface.splits(16) { surface.split(16) } else { vec![surface] };
                let of_band = layout.height / rows.len() as u32;
                for (n, band) in (0u32..).zip(&mut rows) {
                    band.find_tiles();
                    tiled += band.tiles.get().map_or(0, Vec::len);
                    if samples == 1 && element_bytes == 4 {
                        let first = (n * of_band) as i32;
                        for (x, y) in (first..first + of_band as i32).map(|y| (5, y)) {
                            let words: [[u8; 4]; 40] = std::array::from_fn(|n| [n as u8, x as u8, y as u8, 1]);
                            band.store_words(x, y, &words);
                            let (mut read, mut elements) = ([[0; 4]; 40], [0; 40]);
                            assert!(band.load_words(x, y, &mut read));
                            band.load_row(x, y, &mut elements);
                            assert_eq!((read, elements), (words, words.map(|word| u32::from_le_bytes(word).into())));
                        }
                    }
                    for (x, y) in (n * of_band..(n + 1) * of_band).flat_map(|y| (0..96).map(move |x| (x, y))) {
                        for sample in 0..samples {
                            let place = band.place(x as i32, y as i32, 0, sample);
                            assert_eq!(place, Some(layout.offset(x, y, 1, sample)), "{layout:?} {x} {y} {sample}");
                        }
                    }
                }
            }
        }
        assert!(tiled > 100, "{tiled} arrangements of samples were folded");
    }
}
