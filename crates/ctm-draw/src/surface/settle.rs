//! Clears that are noted, and stored when something else is drawn there.

use crate::rect::Rect;
use crate::surface::cleared::FastClear;
use crate::surface::layout::ArrayMode;
use crate::surface::samples::Surface;
use crate::surface::value::{FillValue, Pattern, TILE};

impl FastClear {
    /// Stores the values of all cleared parts; none are left. `bytes`: from the first byte of slice 0 to the end of this one.
    pub fn store(&mut self, bytes: &mut [u8]) {
        let (layout, slice) = (self.layout, self.slice);
        let all = Rect { left: 0, top: 0, right: layout.pitch.cast_signed(), bottom: layout.height.cast_signed() };
        Surface::new(bytes, layout, [slice; 2]).with_clears(Some(self)).settle(all);
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

    /// Clears the parts of layer 0 that lie in spans as a whole, and stores the value in all other pixels of the spans.
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

    /// Clears parts of a row of tiles.
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
    use crate::surface::layout::{Layout, Tiling};
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
