//! Panels: parts of arrays, row by row, which code reads and writes.

use std::ops::Range;

/// The distance in rows of prefetched lines.
const ROWS_AHEAD: i64 = 8;

/// The first and the last columns and rows, which may lie beyond an array.
pub type Area = [[i64; 2]; 2];

/// Columns and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelPart {
    /// Columns.
    pub x: Range<u32>,
    /// Rows.
    pub y: Range<u32>,
}

/// The layout of a part's numbers in a panel.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// The offset of the row of element (0, 0), in bytes from the panel's first byte; it may be outside.
    pub origin: i64,
    /// Elements from row to row.
    pub pitch: i64,
    /// Bytes of the panel.
    pub bytes: usize,
    /// Its columns and rows: whole blocks.
    pub first: [u32; 2],
    pub rows: u32,
    pub row_bytes: usize,
}

impl PanelPart {
    /// Its first and last columns and rows.
    pub fn area(&self) -> Area {
        [&self.x, &self.y].map(|of| [of.start.into(), i64::from(of.end) - 1])
    }

    /// The rest of it around another part.
    pub fn around(&self, inner: &Self) -> impl Iterator<Item = Self> + use<> {
        let Self { x, y } = self.clone();
        let sides = [
            (x.clone(), y.start..inner.y.start),
            (x.start..inner.x.start, inner.y.clone()),
            (inner.x.end..x.end, inner.y.clone()),
            (x, inner.y.end..y.end),
        ];
        sides.into_iter().map(|(x, y)| Self { x, y }).filter(|part| !part.x.is_empty() && !part.y.is_empty())
    }
}

impl Panel {
    /// For these columns and rows, from the first to the last ones, of elements of `element_bytes` bytes, row by row.
    pub fn of_rows([x, y]: Area, element_bytes: u32) -> Self {
        let size = i64::from(element_bytes);
        let [pitch, rows] = [x, y].map(|[first, last]| last - first + 1);
        let origin = -size * (x[0] + y[0] * pitch);
        let (row_bytes, rows) = ((pitch * size) as usize, rows as u32);
        Self { origin, pitch, bytes: row_bytes * rows as usize, first: [0; 2], rows, row_bytes }
    }

    /// Copies elements of `area` from rows whose element (0, 0) would begin at `origin`; outside of `there` the nearest
    /// element at the edge is repeated.
    pub fn copy(&self, from: &[u8], [origin, pitch]: [i64; 2], there: Area, area: Area, to: &mut [u8]) {
        let ([[left, right], [top, bottom]], [[first, last], rows]) = (there, area);
        let size = self.row_bytes as i64 / self.pitch;
        let place = |x: i64, y: i64| (origin + size * (x + y * pitch)) as usize;
        let to = to.chunks_exact_mut(self.row_bytes);
        let side_by_side = left.max(first)..right.min(last) + 1;
        for (y, to) in (rows[0]..=rows[1]).zip(to) {
            let y = y.clamp(top, bottom);
            // Rows are far apart, and no processor predicts the next one.
            let ahead = from.as_ptr().wrapping_add(place(left.max(first), y + ROWS_AHEAD));
            prefetch(ahead);
            let mut x = first;
            while x <= last {
                let count = if side_by_side.contains(&x) { side_by_side.end - x } else { 1 };
                let bytes = (size * count) as usize;
                let from = &from[place(x.clamp(left, right), y)..][..bytes];
                to[(size * (x - first)) as usize..][..bytes].copy_from_slice(from);
                x += count;
            }
        }
    }

    /// The offset of an element of `element_bytes` bytes in the panel.
    pub fn offset(&self, [x, y]: [u32; 2], element_bytes: u32) -> usize {
        (y - self.first[1]) as usize * self.row_bytes + ((x - self.first[0]) * element_bytes) as usize
    }
}

/// Prefetches a line; elsewhere than on x86-64 nothing.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "processors decide themselves"))]
#[allow(unsafe_code, reason = "an instruction is asked for")]
pub fn prefetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all x86-64 processors have it, and any address is allowed.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
}
