//! One value for many pixels: clears and rectangles of one colour, in the layout of the target.
//!
//! Rows of linear targets and whole tiles are ranges of bytes; the pixels of tiles that are covered in part are stored one by one.

use crate::lanes::prefetch;
use crate::surface::layout::ArrayMode;
use crate::surface::samples::{Runs, Surface};
use crate::surface::value::{FillValue, Pattern, TILE};

/// Tiles between one that is stored and one that begins to be loaded.
pub(super) const AHEAD: i32 = 4;

/// Rows of pixels that lie in the same tiles.
pub(super) struct Strip<'s> {
    /// The first row.
    pub(super) y: i32,
    /// The columns of each row, from the first up to the one after the last.
    pub(super) spans: &'s [[i32; 2]],
    /// The columns of tiles all of whose pixels are in the spans; after all columns where there are none.
    pub(super) tiles: [i32; 2],
}

/// Calls `tell` with each strip of the spans, from row `top` on. `has_tiles`: [`Strip::tiles`] names the tiles that are covered as a whole.
pub(super) fn strips(top: i32, spans: &[[i32; 2]], has_tiles: bool, mut tell: impl FnMut(Strip<'_>)) {
    let (mut y, bottom) = (top, top + spans.len() as i32);
    while y < bottom {
        let end = ((y.div_euclid(TILE) + 1) * TILE).min(bottom);
        let spans = &spans[(y - top) as usize..(end - top) as usize];
        let left = spans.iter().map(|span| span[0]).max().unwrap_or(0);
        let right = spans.iter().map(|span| span[1]).min().unwrap_or(0);
        let mut tiles = [(left + TILE - 1).div_euclid(TILE) * TILE, right.div_euclid(TILE) * TILE];
        if !has_tiles || end - y < TILE || tiles[0] >= tiles[1] {
            tiles = [i32::MAX; 2];
        }
        tell(Strip { y, spans, tiles });
        y = end;
    }
}

impl Surface<'_> {
    /// The byte ranges of every tile, which together are all samples of its pixels; none where tiles differ.
    fn runs(&self) -> Vec<Runs> {
        let bytes = self.layout.element_bytes;
        let tiles: Option<Vec<[u32; 64]>> = (0..self.layout.samples).map(|sample| self.layout.tile(sample)).collect();
        let Some(tiles) = tiles else { return Vec::new() };
        if self.layout.depth_order {
            // The samples of a pixel lie side by side.
            let of_sample = |(n, tile): (u32, &[u32; 64])| tile.map(|place| place + n * bytes);
            return vec![Runs::of(0, (0..).zip(&tiles).flat_map(of_sample).collect(), bytes)];
        }
        (0..).zip(&tiles).map(|(sample, tile)| Runs::of(sample, tile.to_vec(), bytes)).collect()
    }

    /// Gives every sample of pixels a value: of a span of columns, from the first up to the one after the last, in each row from `top` on.
    pub(crate) fn fill(&mut self, top: i32, spans: &[[i32; 2]], layer: u32, value: FillValue) {
        if value.mask == 0 || self.slices[0].checked_add(layer).is_none_or(|slice| slice > self.slices[1]) {
            return;
        }
        if layer == 0 && self.clears.is_some() {
            self.clear_parts(top, spans, value);
        } else {
            self.store_value(top, spans, layer, value);
        }
    }

    /// Stores a value in pixels, none of which is cleared.
    pub(super) fn store_value(&mut self, top: i32, spans: &[[i32; 2]], layer: u32, value: FillValue) {
        let pattern = Pattern::new(value, self.layout.element_bytes);
        if let Some(rows) = self.rows {
            let of_layer = u64::from(layer) * self.layout.slice_bytes();
            for (y, &[left, right]) in (top..).zip(spans).filter(|(_, [left, right])| left < right) {
                let first = (rows.place(left, y, 0) + of_layer).wrapping_sub(self.first_byte) as usize;
                let length = right.abs_diff(left) as usize * rows.pixel as usize;
                if let Some(row) = self.bytes.get_mut(first..first.saturating_add(length)) {
                    pattern.store(row);
                }
            }
            return;
        }
        if let Some(rows) = self.whole_rows(top, spans, layer) {
            pattern.store(rows);
            return;
        }
        self.find_tiles();
        // Fewer rows have no whole tile.
        let has_tiles = self.layout.mode != ArrayMode::Linear && spans.len() >= TILE as usize;
        let found = self.tiles.get().filter(|_| has_tiles).cloned();
        let runs = found.as_ref().map_or(&[][..], |found| found.runs.get_or_init(|| self.runs()));
        let mut starts = Vec::new();
        strips(top, spans, !runs.is_empty(), |Strip { y, spans, tiles }| {
            for of in runs {
                starts.clear();
                let first = |x| self.place(x, y, layer, of.sample).unwrap_or(u64::MAX).wrapping_sub(self.first_byte);
                starts.extend((tiles[0]..tiles[1]).step_by(TILE as usize).map(|x| first(x) as usize));
                for &[at, length] in &of.runs {
                    let (at, length, mut n) = (at as usize, length as usize, 0);
                    while let Some(&start) = starts.get(n) {
                        // Tiles lie in an order that processors do not foresee.
                        if let Some(soon) = starts.get(n + AHEAD as usize) {
                            prefetch(self.bytes, soon.saturating_add(at), length);
                        }
                        let follows = |(n, next): &(usize, &usize)| start.checked_add((n + 1) * length) == Some(**next);
                        // Some are contiguous.
                        let more = starts[n + 1..].iter().enumerate().take_while(follows).count();
                        let begin = start.saturating_add(at);
                        if let Some(run) = self.bytes.get_mut(begin..begin.saturating_add((more + 1) * length)) {
                            pattern.store(run);
                        }
                        n += more + 1;
                    }
                }
            }
            for (y, &[left, right]) in (y..).zip(spans) {
                let beside = [[left, right.min(tiles[0])], [left.max(tiles[1]), right]];
                for part in beside.into_iter().filter(|[left, right]| left < right) {
                    if layer == 0 && self.layout.samples == 1 {
                        self.fill_row([part[0], y], part[1], &pattern);
                    } else {
                        (part[0]..part[1]).for_each(|x| self.fill_pixel([x, y], layer, value));
                    }
                }
            }
        });
    }

    /// The bytes of all samples of rows, if the spans cover these from the first column to the last one, and they are contiguous.
    fn whole_rows(&mut self, top: i32, spans: &[[i32; 2]], layer: u32) -> Option<&mut [u8]> {
        let (pitch, top) = (i32::try_from(self.layout.pitch).ok()?, u32::try_from(top).ok()?);
        if !spans.iter().all(|&[left, right]| left <= 0 && right >= pitch) {
            return None;
        }
        let bottom =
            top.checked_add(u32::try_from(spans.len()).ok()?).filter(|&bottom| bottom <= self.layout.height)?;
        let of_layer = u64::from(self.slices[0] + layer) * self.layout.slice_bytes();
        let place = |row: u32| (of_layer + self.layout.bytes_of_rows(row)?).checked_sub(self.first_byte);
        let [begin, end] = [place(top)?, place(bottom)?].map(|place| place as usize);
        self.bytes.get_mut(begin..end)
    }

    /// Stores a value in pixels of a row of layer 0, of one sample, up to the one before `right`.
    fn fill_row(&mut self, at: [i32; 2], right: i32, pattern: &Pattern) {
        let (size, count) = (self.layout.element_bytes as usize, (right - at[0]).max(0) as usize);
        let bytes = std::mem::take(&mut self.bytes);
        self.parts(bytes.len(), (at, 0), count, |place, pixels| {
            if let Some(part) = bytes.get_mut(place..place.saturating_add(pixels.len() * size)) {
                pattern.store(part);
            }
        });
        self.bytes = bytes;
    }

    fn fill_pixel(&mut self, [x, y]: [i32; 2], layer: u32, value: FillValue) {
        for sample in 0..self.layout.samples {
            if let Some(place) = self.place(x, y, layer, sample) {
                self.store(place, value.after(self.load(place)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::layout::{Layout, Tiling};

    /// Truth: each sample where the layout says, one by one.
    #[test]
    fn fills_change_the_samples_of_their_pixels_alone() {
        let ragged: Vec<[i32; 2]> =
            (0..45).map(|y| [y % 11, 118 - y % 7 * (y / 30)]).chain([[40, 40], [9, 3]]).collect();
        let whole = vec![[0, 128]; 32];
        let mut layouts = 0;
        for (mode, element_bytes, samples) in [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d]
            .into_iter()
            .flat_map(|mode| [1, 2, 4, 8, 16].map(|bytes| (mode, bytes)))
            .flat_map(|(mode, bytes)| [1, 2, 4, 8].map(|samples| (mode, bytes, samples)))
        {
            for (depth_order, pipes) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
                let tiling = Tiling { pipes, ..Tiling::default() };
                let layout = Layout { mode, pitch: 128, height: 48, element_bytes, samples, depth_order, tiling };
                if layout.check().is_err() {
                    continue;
                }
                layouts += 1;
                let fine = u128::MAX >> (128 - 8 * element_bytes);
                let bits = 0x0123_4567_89ab_cdef_1032_5476_98ba_dcfe & fine;
                let part = fine & 0x00ff_0f00_ff00_00ff_ffff_0000_ff00_00f0;
                for (mask, layer, top, spans) in
                    [(fine, 0, 1, &ragged), (part, 1, 1, &ragged), (fine, 1, 0, &whole), (part, 0, 16, &whole)]
                {
                    let before: Vec<u8> = (0..3 * layout.slice_bytes()).map(|n| (n * 7 % 251) as u8).collect();
                    let (mut found, mut expected) = (before.clone(), before.clone());
                    Surface::new(&mut found, layout, [1, 2]).fill(top, spans, layer, FillValue { bits, mask });
                    let mut one = Surface::new(&mut expected, layout, [1, 2]);
                    for (y, &[left, right]) in (top.cast_unsigned()..).zip(spans) {
                        for (x, sample) in (left..right).flat_map(|x| (0..samples).map(move |sample| (x, sample))) {
                            let place = layout.offset(x.cast_unsigned(), y, 1 + layer, sample);
                            let stored = one.load(place);
                            one.store(place, stored & !mask | bits & mask);
                        }
                    }
                    assert!(found == expected, "{layout:?}, layer {layer}");
                }
            }
        }
        assert!(layouts > 50, "{layouts}");
    }
}
