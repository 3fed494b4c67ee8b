//! Copies of pixels of one sample from a target to another whose elements are as large.
//!
//! Whole tiles are copied by their contiguous parts; pixels of tiles that are covered in part are copied row by row.

use crate::lanes::prefetch;
use crate::surface::fill::{AHEAD, Strip, strips};
use crate::surface::format::TOGETHER;
use crate::surface::layout::ArrayMode;
use crate::surface::samples::Surface;
use crate::surface::value::TILE;

/// Bytes of the largest element that is copied.
pub(crate) const LARGEST_COPIED: usize = 8;

/// Bytes that are adjacent in the tiles of both targets, counted from the first element of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CopiedRun {
    from: u32,
    to: u32,
    bytes: u32,
}

/// The runs of a tile of 8x8 pixels; none where tiles differ, or where there are none.
fn runs(from: &Surface<'_>, to: &Surface<'_>) -> Vec<CopiedRun> {
    let bytes = to.layout().element_bytes;
    let are_tiled = [from, to].iter().all(|of| of.layout().mode != ArrayMode::Linear && of.layout().samples == 1);
    let (Some(from), Some(to), true) = (from.layout().tile(0), to.layout().tile(0), are_tiled) else {
        return Vec::new();
    };
    let mut elements: Vec<CopiedRun> = from.iter().zip(to).map(|(&from, to)| CopiedRun { from, to, bytes }).collect();
    elements.sort_unstable_by_key(|run| run.to);
    let mut runs: Vec<CopiedRun> = Vec::new();
    for element in elements {
        match runs.last_mut() {
            Some(last) if [last.from + last.bytes, last.to + last.bytes] == [element.from, element.to] => {
                last.bytes += bytes;
            }
            _ => runs.push(element),
        }
    }
    runs
}

/// Copies the bits of a mask.
#[inline(always)]
fn merge_eight(from: [u8; 8], to: &mut [u8; 8], mask: u64) {
    let (from, stored) = (u64::from_le_bytes(from), u64::from_le_bytes(*to));
    *to = (stored & !mask | from & mask).to_le_bytes();
}

/// The same of any number of bytes; the mask has bits for eight. Both have as many bytes.
#[inline]
fn merge(from: &[u8], to: &mut [u8], mask: u64) {
    if mask == u64::MAX {
        to.copy_from_slice(from);
        return;
    }
    let ((to, last), (from, last_from)) = (to.as_chunks_mut::<8>(), from.as_chunks::<8>());
    to.iter_mut().zip(from).for_each(|(to, from)| merge_eight(*from, to, mask));
    let (mut eight, mut eight_from) = ([0; 8], [0; 8]);
    eight[..last.len()].copy_from_slice(last);
    eight_from[..last.len()].copy_from_slice(last_from);
    merge_eight(eight_from, &mut eight, mask);
    last.copy_from_slice(&eight[..last.len()]);
}

impl Surface<'_> {
    /// Copies pixels of layer 0: of a span of columns, from the first up to the one after the last, in each row from `top` on. The mask has the copied bits of
    /// eight bytes. Elements of both have as many bytes, at most [`LARGEST_COPIED`].
    pub(crate) fn copy_from(&mut self, from: &mut Surface<'_>, top: i32, spans: &[[i32; 2]], mask: u64) {
        from.find_tiles();
        self.find_tiles();
        let runs = if spans.len() < TILE as usize { Vec::new() } else { runs(from, self) };
        strips(top, spans, !runs.is_empty(), |Strip { y, spans, tiles }| {
            for x in (tiles[0]..tiles[1]).step_by(TILE as usize) {
                let soon = x + AHEAD * TILE;
                if soon < tiles[1] {
                    self.prefetch_tile([soon, y]);
                    from.prefetch_tile([soon, y]);
                }
                self.copy_tile(from, &runs, [x, y], mask);
            }
            for (y, &[left, right]) in (y..).zip(spans) {
                for [left, right] in [[left, right.min(tiles[0])], [left.max(tiles[1]), right]] {
                    self.copy_row(from, y, [left, right], mask);
                }
            }
        });
    }

    /// Begins to load a tile of layer 0.
    fn prefetch_tile(&self, at: [i32; 2]) {
        if let Some(place) = self.place(at[0], at[1], 0, 0) {
            let place = place.wrapping_sub(self.first_byte) as usize;
            prefetch(self.bytes, place, (TILE * TILE) as usize * self.layout().element_bytes as usize);
        }
    }

    /// Copies a whole tile.
    fn copy_tile(&mut self, from: &Surface<'_>, runs: &[CopiedRun], [x, y]: [i32; 2], mask: u64) {
        let first = |of: &Surface<'_>| Some(of.place(x, y, 0, 0)?.wrapping_sub(of.first_byte) as usize);
        let (Some(first_from), Some(first_to)) = (first(from), first(self)) else { return };
        let (from, to) = (from.bytes.get(first_from..), self.bytes.get_mut(first_to..));
        let (Some(from), Some(to)) = (from, to) else { return };
        for &CopiedRun { from: from_at, to: to_at, bytes } in runs {
            let (from_at, to_at, bytes) = (from_at as usize, to_at as usize, bytes as usize);
            let (Some(from), Some(to)) = (from.get(from_at..from_at + bytes), to.get_mut(to_at..to_at + bytes)) else {
                continue;
            };
            // Two elements of four bytes are adjacent in tiles of both orders.
            match (from.try_into(), to.first_chunk_mut()) {
                (Ok(eight), Some(to)) => merge_eight(eight, to, mask),
                _ => merge(from, to, mask),
            }
        }
    }

    /// Copies adjacent pixels of a row, up to the one before `right`.
    fn copy_row(&mut self, from: &Surface<'_>, y: i32, [left, right]: [i32; 2], mask: u64) {
        let size = self.layout().element_bytes as usize;
        let (mut new, mut stored) = ([0; LARGEST_COPIED * TOGETHER], [0; LARGEST_COPIED * TOGETHER]);
        for x in (left..right).step_by(TOGETHER) {
            let bytes = size * ((right - x) as usize).min(TOGETHER);
            from.read_row([x, y], 0, &mut new[..bytes]);
            self.read_row([x, y], 0, &mut stored[..bytes]);
            merge(&new, &mut stored, mask);
            self.write_row([x, y], 0, &stored[..bytes]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::layout::{Layout, Tiling};
    use ctm_testkit::seeded::Random;

    /// Truth: each pixel where the layouts say, one by one.
    #[test]
    fn copies_change_the_masked_bits_of_their_pixels_alone() {
        let spans: Vec<[i32; 2]> =
            (0..45).map(|y| [y % 11, 118 - y % 7 * (y / 30)]).chain([[40, 40], [9, 3]]).collect();
        let mut r = Random::new(1);
        let modes = [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d];
        let orders = [(false, 1), (true, 1), (false, 2), (true, 2)];
        let arrangements: Vec<_> = modes.iter().flat_map(|&mode| orders.map(|order| (mode, order))).collect();
        let mut whole = 0;
        for element_bytes in [1, 2, 4, 8] {
            let layout = |(mode, (depth_order, pipes))| {
                let tiling = Tiling { pipes, ..Tiling::default() };
                Layout { mode, pitch: 128, height: 48, element_bytes, samples: 1, depth_order, tiling }
            };
            for [from, to] in arrangements.iter().flat_map(|&from| arrangements.iter().map(move |&to| [from, to])) {
                let [from, to] = [from, to].map(layout);
                if from.check().is_err() || to.check().is_err() {
                    continue;
                }
                let element: u64 = [u64::MAX, 0x00ff_ff0f_f0ff_ffff, 0xff00_0000_ff00_0000][r.below(3)];
                let repeated = match element_bytes {
                    1 => (element & 0xff) * 0x0101_0101_0101_0101,
                    2 => (element & 0xffff) * 0x0001_0001_0001_0001,
                    4 => (element & 0xffff_ffff) * 0x0000_0001_0000_0001,
                    _ => element,
                };
                let mut random = |of: &Layout| (0..of.slice_bytes()).map(|_| r.below(256) as u8).collect::<Vec<u8>>();
                let (mut source, mut found) = (random(&from), random(&to));
                let mut expected = found.clone();
                let mut source = Surface::new(&mut source, from, [0, 0]);
                let mut target = Surface::new(&mut found, to, [0, 0]);
                target.copy_from(&mut source, 1, &spans, repeated);
                whole += usize::from(!runs(&source, &target).is_empty());
                let mut one = Surface::new(&mut expected, to, [0, 0]);
                let mask = u128::from(repeated) & (u128::MAX >> (128 - 8 * element_bytes));
                for (y, &[left, right]) in (1u32..).zip(&spans) {
                    for x in left..right {
                        let [from, to] = [&from, &to].map(|of| of.offset(x.cast_unsigned(), y, 0, 0));
                        let bits = one.load(to) & !mask | source.load(from) & mask;
                        one.store(to, bits);
                    }
                }
                assert!(found == expected, "{from:?} to {to:?}");
            }
        }
        assert!(whole > 100, "{whole} copies had whole tiles");
    }
}
