//! Fast clears: parts of a target whose elements all have one value, which is stored when something else is drawn there.
//!
//! Chips keep such metadata beside the target (CMASK, HTILE). Here each row of tiles, 8 rows of pixels, has a value and a word; each bit of the word is a group of columns.

use crate::surface::layout::{ArrayMode, LARGEST, Layout, Tiling};
use crate::surface::value::{FillValue, TILE};

/// Parts of a row of tiles: the bits of a word.
const PARTS: u32 = 64;

/// The fast clears of a row of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClearedRow {
    /// The value of elements: some bits may be those of memory.
    pub(super) value: FillValue,
    /// The parts whose elements have it, and of which memory is out of date (bit n = part n).
    pub(super) parts: u64,
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
    pub(super) layout: Layout,
    pub(super) slice: u32,
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
    pub(super) rows: &'t mut [ClearedRow],
    pub(super) columns: i32,
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
    pub(super) fn parts(&self, [left, right]: [i32; 2], pitch: i32, whole: bool) -> u64 {
        let round = |x: i32, up: bool| (x.max(0) + if up { self.columns - 1 } else { 0 }) / self.columns;
        // The last part may have fewer columns.
        let last = if whole && right >= pitch { round(pitch, true) } else { round(right, !whole) };
        let [first, last] = [round(left, whole), last].map(|n| n.clamp(0, PARTS as i32));
        if first < last { (u64::MAX << first) & (u64::MAX >> (PARTS as i32 - last)) } else { 0 }
    }
}
