//! Fast clears: parts of a target whose elements all have one value, which is stored when something else is drawn there.
//!
//! Real chips note cleared tiles beside the target (CMASK, HTILE). Here a row of tiles is 8 rows of pixels, and a bit of its word stands for some columns of it.

use crate::rect::Rect;
use crate::surface::fill::{FillValue, Pattern, TILE};
use crate::surface::layout::{ArrayMode, LARGEST, Layout, Tiling};
use crate::surface::samples::Surface;

/// Parts of a row of tiles: the bits of a word.
const PARTS: u32 = 64;

/// The fast clears of a row of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClearedRow {
    /// The value of elements: some bits may be those of memory.
    value: FillValue,
    /// The parts whose elements have it, and of which memory is out of date (bit n = part n).
    parts: u64,
}

/// Columns of a part: parts of tiled surfaces are contiguous where rows of tiles are.
fn columns_of_part(layout: &Layout) -> i32 {
    let of_column = 8 * layout.element_bytes * layout.samples;
    let unit = match layout.mode {
        ArrayMode::Linear | ArrayMode::Tiled1d => 32,
        ArrayMode::Tiled2d => {
            let spread = layout.tiling.group_bytes * layout.tiling.pipes * layout.tiling.banks;
            (8 * layout.tiling.banks).max(spread / of_column.max(1))
        }
    };
    layout.pitch.div_ceil(PARTS).next_multiple_of(unit.max(1)).cast_signed()
}

/// Fast clears of one slice of a target, kept between draws. Its memory is out of date until [`Self::store`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FastClear {
    layout: Layout,
    slice: u32,
    rows: Vec<ClearedRow>,
}

impl FastClear {
    /// Without cleared parts.
    #[must_use]
    pub fn new(layout: Layout, slice: u32) -> Self {
        Self { layout, slice, rows: vec![ClearedRow::default(); layout.height.div_ceil(TILE as u32) as usize] }
    }

    /// Whether it is of this slice of a target with this layout.
    #[must_use]
    pub fn is_of(&self, layout: &Layout, slice: u32) -> bool {
        self.layout == *layout && self.slice == slice
    }

    /// Whether another one is of the same slice of such a target.
    #[must_use]
    pub fn is_same_target(&self, other: &Self) -> bool {
        self.is_of(&other.layout, other.slice)
    }

    /// Leaves no part cleared: another copy has them.
    pub fn forget(&mut self) {
        self.rows.fill(ClearedRow::default());
    }

    /// Whether no part is cleared: memory has all values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.parts == 0)
    }

    /// The first byte of the slice, counted from that of slice 0, and its length.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        (u64::from(self.slice) * self.layout.slice_bytes(), self.layout.slice_bytes())
    }

    /// Stores the values of all cleared parts; none are left. `bytes`: from the first byte of slice 0 to the end of this one.
    pub fn store(&mut self, bytes: &mut [u8]) {
        let (layout, slice) = (self.layout, self.slice);
        let all = Rect { left: 0, top: 0, right: layout.pitch.cast_signed(), bottom: layout.height.cast_signed() };
        Surface::new(bytes, layout, [slice; 2]).with_clears(Some(self)).settle(all);
    }

    /// As words: [`HEADER_WORDS`](Self::HEADER_WORDS), then [`ROW_WORDS`](Self::ROW_WORDS) for each row of tiles.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let Layout { mode, pitch, height, element_bytes, samples, depth_order, tiling } = self.layout;
        let Tiling { pipes, banks, group_bytes, sample_split_bytes, swizzle } = tiling;
        let layout = [mode as u32, pitch, height, element_bytes, samples, depth_order.into()];
        let header = layout.into_iter().chain([pipes, banks, group_bytes, sample_split_bytes, swizzle, self.slice]);
        let both = |of: u128| [of as u64, (of >> 64) as u64];
        let row = move |row: &ClearedRow| {
            let [low, high] = both(row.value.bits);
            let [mask_low, mask_high] = both(row.value.mask);
            [low, high, mask_low, mask_high, row.parts]
        };
        header.map(u64::from).chain(self.rows.iter().flat_map(row))
    }

    /// Words of the target.
    pub const HEADER_WORDS: usize = 12;
    /// Words of a row of tiles, 8 rows of pixels.
    pub const ROW_WORDS: usize = 5;

    /// From such words; `None` where they are no such target's.
    #[must_use]
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (header, rows) = words.split_first_chunk::<{ Self::HEADER_WORDS }>()?;
        let mut header = header.iter().map(|&word| u32::try_from(word).ok());
        let mut next = || header.next().flatten();
        let modes = [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d];
        let layout = Layout {
            mode: modes.into_iter().nth(next()? as usize)?,
            pitch: next()?,
            height: next()?,
            element_bytes: next()?,
            samples: next()?,
            depth_order: next()? != 0,
            tiling: Tiling {
                pipes: next()?,
                banks: next()?,
                group_bytes: next()?,
                sample_split_bytes: next()?,
                swizzle: next()?,
            },
        };
        layout.check().ok()?;
        let mut clear = Self::new(layout, next().filter(|&slice| slice < LARGEST)?);
        let rows = rows.as_chunks::<{ Self::ROW_WORDS }>().0;
        if rows.len() < clear.rows.len() {
            return None;
        }
        let both = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
        for (row, &[low, high, mask_low, mask_high, parts]) in clear.rows.iter_mut().zip(rows) {
            *row = ClearedRow { value: FillValue { bits: both(low, high), mask: both(mask_low, mask_high) }, parts };
        }
        Some(clear)
    }
}

/// The fast clears of the rows of a surface.
#[derive(Debug)]
pub(crate) struct ClearedParts<'t> {
    rows: &'t mut [ClearedRow],
    columns: i32,
}

impl<'t> ClearedParts<'t> {
    pub(super) fn of(clear: &'t mut FastClear) -> Self {
        Self { columns: columns_of_part(&clear.layout), rows: &mut clear.rows }
    }

    /// Those of bands of `rows` rows, a multiple of those of tiles.
    pub(super) fn split(self, rows: u32) -> impl Iterator<Item = Self> {
        let Self { rows: all, columns } = self;
        all.chunks_mut((rows / TILE as u32).max(1) as usize).map(move |rows| ClearedParts { rows, columns })
    }

    /// The parts of these columns, up to the one before the last: those that lie in them as a whole, or those that have some of them.
    fn parts(&self, [left, right]: [i32; 2], pitch: i32, whole: bool) -> u64 {
        let round = |x: i32, up: bool| (x.max(0) + if up { self.columns - 1 } else { 0 }) / self.columns;
        // The last part may have fewer columns.
        let last = if whole && right >= pitch { round(pitch, true) } else { round(right, !whole) };
        let [first, last] = [round(left, whole), last].map(|n| n.clamp(0, PARTS as i32));
        if first < last { (u64::MAX << first) & (u64::MAX >> (PARTS as i32 - last)) } else { 0 }
    }
}

/// All of four parts, of which some are wanted: their neighbours are mostly drawn to soon, and long runs of memory are stored in less time.
const fn groups(parts: u64) -> u64 {
    let first = (parts | parts >> 1 | parts >> 2 | parts >> 3) & 0x1111_1111_1111_1111;
    first * 0xf
}

/// Calls `visit` with the runs of set bits: the first one, and the one after the last.
fn runs(mut parts: u64, mut visit: impl FnMut([i32; 2])) {
    let mut at = 0;
    while parts != 0 {
        at += parts.trailing_zeros();
        parts = parts.checked_shr(parts.trailing_zeros()).unwrap_or(0);
        let count = parts.trailing_ones();
        visit([at, at + count].map(u32::cast_signed));
        at += count;
        parts = parts.checked_shr(count).unwrap_or(0);
    }
}

impl Surface<'_> {
    /// Stores the values of cleared parts in which pixels of a rectangle lie: before these are read or written in layer 0.
    #[inline]
    pub(crate) fn settle(&mut self, rect: Rect) {
        let Some(clears) = &self.clears else { return };
        let [top, bottom] = [rect.top, rect.bottom].map(|y| y.saturating_sub(self.first_row.cast_signed()).max(0));
        let last = clears.rows.len().min(((bottom + TILE - 1) / TILE) as usize);
        let wanted = groups(clears.parts([rect.left, rect.right], self.layout.pitch.cast_signed(), false));
        for number in (top / TILE) as usize..last {
            if self.clears.as_ref().is_some_and(|clears| clears.rows[number].parts & wanted != 0) {
                self.settle_row(number, wanted);
            }
        }
    }

    /// Stores the value of these parts of a row of tiles, those of them that are cleared.
    fn settle_row(&mut self, number: usize, wanted: u64) {
        let Some(clears) = &mut self.clears else { return };
        let columns = clears.columns;
        let Some(row) = clears.rows.get_mut(number) else { return };
        let (parts, value) = (row.parts & wanted, row.value);
        if parts == 0 {
            return;
        }
        row.parts &= !wanted;
        let pattern = Pattern::new(value, self.layout.element_bytes);
        let (pitch, top) = (self.layout.pitch, self.first_row + TILE as u32 * number as u32);
        let height = (TILE as u32).min(self.layout.height.saturating_sub(top));
        let of_slice = u64::from(self.slices[0]) * self.layout.slice_bytes();
        let place = |row: u32| (of_slice + self.layout.bytes_of_rows(row)?).checked_sub(self.first_byte);
        // The parts of a row of tiles follow each other.
        let bytes = place(top).zip(place(top + height)).filter(|_| self.layout.mode != ArrayMode::Linear);
        runs(parts, |[from, to]| {
            let [left, right] = [from, to].map(|part| (part * columns).min(pitch.cast_signed()));
            let Some((begin, end)) = bytes else {
                return self.store_value(top.cast_signed(), &vec![[left, right]; height as usize], 0, value);
            };
            let at =
                |column: i32| (begin + (end - begin) / u64::from(pitch) * u64::from(column.cast_unsigned())) as usize;
            if let Some(bytes) = self.bytes.get_mut(at(left)..at(right)) {
                pattern.store(bytes);
            }
        });
    }

    /// ClearedParts the parts of layer 0 that lie in spans as a whole, and stores the value in all other pixels of the spans.
    pub(super) fn clear_parts(&mut self, top: i32, spans: &[[i32; 2]], value: FillValue) {
        let bottom = top + spans.len() as i32;
        let left = spans.iter().map(|span| span[0]).max().unwrap_or(0);
        let right = spans.iter().map(|span| span[1]).min().unwrap_or(0);
        let (pitch, height) = (self.layout.pitch.cast_signed(), self.layout.height.cast_signed());
        // Rows of tiles that lie in the spans; narrow ones are not worth it.
        let begin = (top + TILE - 1) & -TILE;
        let end = if bottom == height { height } else { bottom & -TILE };
        let parts = self.clears.as_ref().map_or(0, |clears| clears.parts([left, right], pitch, true));
        if begin >= end || parts == 0 || 2 * (right - left) < pitch {
            self.settle_spans(top, spans);
            return self.store_value(top, spans, 0, value);
        }
        let columns = self.clears.as_ref().map_or(1, |clears| clears.columns);
        let beside = [parts.trailing_zeros(), u64::BITS - parts.leading_zeros()];
        let [from, to] = beside.map(|part| (part.cast_signed() * columns).min(pitch));
        let whole = u128::MAX >> (128 - 8 * self.layout.element_bytes.clamp(1, 16));
        let of_parts = FillValue { bits: value.bits & value.mask & whole, mask: value.mask & whole };
        for first in (begin..end).step_by(TILE as usize) {
            self.clear_row(((first - self.first_row.cast_signed()) / TILE) as usize, parts, of_parts);
        }
        let rows = |first: i32, last: i32| &spans[(first - top) as usize..(last - top) as usize];
        let before: Vec<[i32; 2]> = rows(begin, end).iter().map(|span| [span[0], from]).collect();
        let after: Vec<[i32; 2]> = rows(begin, end).iter().map(|span| [to, span[1]]).collect();
        let others = [(top, rows(top, begin)), (begin, &before), (begin, &after), (end, rows(end, bottom))];
        let is_there = |(_, spans): &(i32, &[[i32; 2]])| spans.iter().any(|[left, right]| left < right);
        for (top, spans) in others.into_iter().filter(is_there) {
            self.settle_spans(top, spans);
            self.store_value(top, spans, 0, value);
        }
    }

    /// ClearedParts parts of a row of tiles.
    fn clear_row(&mut self, number: usize, parts: u64, mut value: FillValue) {
        let Some(row) = self.clears.as_ref().and_then(|clears| clears.rows.get(number)).copied() else { return };
        let before = row.parts & parts;
        if before != 0 && row.value.mask & !value.mask != 0 {
            // Some bits keep the value of an earlier clear: of all parts, or it is stored.
            if before == parts {
                value = FillValue { bits: value.after(row.value.bits), mask: row.value.mask | value.mask };
            } else {
                self.settle_row(number, before);
            }
        }
        if value != row.value {
            self.settle_row(number, row.parts & !parts);
        }
        if let Some(row) = self.clears.as_mut().and_then(|clears| clears.rows.get_mut(number)) {
            (row.value, row.parts) = (value, row.parts | parts);
        }
    }

    fn settle_spans(&mut self, top: i32, spans: &[[i32; 2]]) {
        let there = || spans.iter().filter(|[left, right]| left < right);
        let left = there().map(|span| span[0]).min().unwrap_or(0);
        let right = there().map(|span| span[1]).max().unwrap_or(0);
        self.settle(Rect { left, top, right, bottom: top + spans.len() as i32 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_testkit::seeded::Random;

    fn layouts() -> Vec<Layout> {
        let mut all = Vec::new();
        for mode in [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d] {
            for (element_bytes, samples) in [1, 2, 4, 8, 16].into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 4)]) {
                for (depth_order, pipes, pitch) in [(false, 1, 256), (true, 1, 4224), (false, 2, 192), (true, 1, 96)] {
                    let tiling = Tiling { pipes, ..Tiling::default() };
                    let layout = Layout { mode, pitch, height: 96, element_bytes, samples, depth_order, tiling };
                    all.extend(layout.check().is_ok().then_some(layout));
                }
            }
        }
        all
    }

    /// Truth: the same fills and stores without fast clears.
    #[test]
    fn fast_clears_leave_the_bytes_of_stores() {
        let (mut r, mut cleared) = (Random::new(7), 0);
        for (case, layout) in (0..).zip(layouts()) {
            let bytes: Vec<u8> = (0..2 * layout.slice_bytes()).map(|n| (n * 11 % 253) as u8).collect();
            let (mut expected, mut found) = (bytes.clone(), bytes);
            let mut clear = FastClear::new(layout, 1);
            {
                let plain = Surface::new(&mut expected, layout, [1; 2]);
                let noted = Surface::new(&mut found, layout, [1; 2]).with_clears(Some(&mut clear));
                let is_split = case % 2 == 1 && plain.splits(32);
                let [mut plain, mut noted] = [plain, noted].map(|of| if is_split { of.split(32) } else { vec![of] });
                let rows = if is_split { 32 } else { 96 };
                for _ in 0..12 {
                    let band = r.below(plain.len());
                    let (plain, noted) = (&mut plain[band], &mut noted[band]);
                    let first = (rows * band) as i32;
                    let whole = r.below(2) == 0;
                    let top = first + if whole { 0 } else { r.below(rows) as i32 };
                    let count = if whole { rows } else { 1 + r.below(rows - (top - first) as usize) };
                    let pitch = layout.pitch as usize;
                    let left = if r.below(3) > 0 { 0 } else { r.below(pitch) as i32 };
                    let right =
                        if r.below(3) > 0 { pitch as i32 } else { left + r.below(pitch - left as usize) as i32 };
                    let ragged = r.below(4) == 0;
                    let spans: Vec<[i32; 2]> =
                        (0..count as i32).map(|n| [left + if ragged { n % 3 } else { 0 }, right]).collect();
                    let bits = u128::from(r.below(1 << 30) as u64) * 0x1_0000_0001_0000_0001_0000_0001;
                    let mask = if r.below(3) == 0 { 0x00ff_00ff_00ff_00f0 } else { u128::MAX };
                    if r.below(4) > 0 {
                        plain.fill(top, &spans, 0, FillValue { bits, mask });
                        noted.fill(top, &spans, 0, FillValue { bits, mask });
                        cleared += usize::from(noted.clears.as_ref().is_some_and(|of| of.rows[0].parts != 0));
                        continue;
                    }
                    noted.settle(Rect { left, top, right, bottom: top + count as i32 });
                    for (y, &[left, right]) in (top..).zip(&spans) {
                        for x in (left..right).filter(|x| x % 7 == 0) {
                            for of in [&mut *plain, &mut *noted] {
                                let place = of.place(x, y, 0, 0).unwrap_or_default();
                                of.store(place, of.load(place) ^ bits);
                            }
                        }
                    }
                }
            }
            let words: Vec<u64> = clear.words().collect();
            assert_eq!(FastClear::from_words(&words).as_ref(), Some(&clear));
            assert_eq!(FastClear::from_words(&words[1..]), None);
            clear.store(&mut found);
            assert!(clear.is_empty() && found == expected, "{layout:?}");
        }
        assert!(cleared > 100, "{cleared} fills were put off");
    }
}
