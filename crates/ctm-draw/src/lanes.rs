//! Lanes: pixels that are tested together, in loops that compilers make vectors of.
//!
//! A block is 8x4 pixels in the order of depth surfaces, in which half a tile of 8x8 lies; its quads are four lanes side by side each. A row is pixels side by side, for linear surfaces.

use crate::rect::Rect;

/// Lanes of a block, and of a row.
pub(crate) const LANES: usize = 32;
/// Columns of a block.
pub(crate) const COLUMNS: i32 = 8;
/// Rows of a block.
pub(crate) const ROWS: i32 = 4;

/// How lanes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A block; it begins at multiples of its columns and rows.
    Block,
    /// A row.
    Row,
}

impl Shape {
    /// The columns from a block to the next one.
    pub(crate) const fn columns(self) -> i32 {
        match self {
            Self::Row => LANES as i32,
            Self::Block => COLUMNS,
        }
    }

    /// Column and row of a lane, counted from the first one.
    #[inline(always)]
    pub(crate) const fn at(self, lane: usize) -> [i32; 2] {
        let n = lane as i32;
        match self {
            Self::Row => [n, 0],
            Self::Block => [n & 1 | n >> 1 & 2 | n >> 2 & 4, n >> 1 & 1 | n >> 2 & 2],
        }
    }
}

/// The lanes of a block's row whose columns are set in a byte.
#[inline(always)]
pub(crate) const fn of_row(columns: u32, row: i32) -> u32 {
    let spread = columns & 3 | (columns & 0xc) << 2 | (columns & 0x30) << 12 | (columns & 0xc0) << 14;
    spread << (2 * (row & 1) + 8 * (row >> 1 & 1))
}

/// The columns of a block at this column that lie in a span.
#[inline(always)]
pub(crate) fn columns([left, right]: [i32; 2], x: i32) -> u32 {
    let (first, last) = ((left - x).clamp(0, COLUMNS), (right - x).clamp(0, COLUMNS));
    if first < last { (0xff >> (COLUMNS - last)) & (0xff << first) } else { 0 }
}

/// The lanes of a block at this place that lie in a rectangle.
#[inline(always)]
pub(crate) fn inside(rect: Rect, [x, y]: [i32; 2]) -> u32 {
    if rect.left <= x && x + COLUMNS <= rect.right && rect.top <= y && y + ROWS <= rect.bottom {
        return u32::MAX;
    }
    let columns = columns([rect.left, rect.right], x);
    (0..ROWS).filter(|row| (rect.top..rect.bottom).contains(&(y + row))).fold(0, |all, row| all | of_row(columns, row))
}

/// The pixels of a quad at this place that lie in a rectangle (bit 0 is the first).
#[inline(always)]
pub(crate) fn of_quad(rect: Rect, [x, y]: [i32; 2]) -> u32 {
    let within =
        |from: i32, to: i32, at: i32| (u32::from(from <= at && at < to), u32::from(from <= at + 1 && at + 1 < to));
    let (left, right) = within(rect.left, rect.right, x);
    let (upper, lower) = within(rect.top, rect.bottom, y);
    (left | right << 1) * (upper | lower << 2)
}

/// The blocks of four rows from the first one to the last one in which spans lie: the first column, and the lanes of each that lie in spans.
pub(crate) fn blocks(spans: [[i32; 2]; 4], lanes: &mut Vec<u32>) -> i32 {
    let there = || spans.into_iter().filter(|[left, right]| left < right);
    let left = there().map(|span| span[0]).min().unwrap_or(0) & -COLUMNS;
    let right = there().map(|span| span[1]).max().unwrap_or(left);
    // Between these, all lanes do.
    let from = spans.iter().map(|span| span[0]).max().unwrap_or(0);
    let to = spans.iter().map(|span| span[1]).min().unwrap_or(0);
    lanes.clear();
    lanes.extend((left..right).step_by(COLUMNS as usize).map(|x| {
        if from <= x && x + COLUMNS <= to {
            return u32::MAX;
        }
        (0..).zip(spans).fold(0, |all, (row, span)| all | of_row(columns(span, x), row))
    }));
    left
}

/// The rectangle, widened to whole blocks.
pub(crate) const fn whole(rect: Rect) -> Rect {
    Rect {
        left: rect.left & -COLUMNS,
        top: rect.top & -ROWS,
        right: (rect.right + COLUMNS - 1) & -COLUMNS,
        bottom: (rect.bottom + ROWS - 1) & -ROWS,
    }
}

/// All bits where something holds, otherwise none.
#[inline(always)]
pub(crate) const fn mask(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// The bits of the lanes whose masks are set; a multiple of four lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn bits<const N: usize>(masks: &[u32; N]) -> u32 {
    ctm_x86::simd::high_bits(masks)
}

/// The bits of the lanes whose masks are set; a multiple of four lanes.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn bits<const N: usize>(masks: &[u32; N]) -> u32 {
    // Four lanes at a time, so that whole vectors are combined before single lanes.
    let mut four = [0; 4];
    for (n, of) in masks.as_chunks::<4>().0.iter().enumerate() {
        for (k, (all, mask)) in four.iter_mut().zip(of).enumerate() {
            *all |= mask & 1 << (4 * n + k);
        }
    }
    four.into_iter().fold(0, |all, bits| all | bits)
}

/// Evaluates an expression whose loops are compiled for the widest vectors of the processor. The expression is compiled twice, so that each of both is inlined.
///
/// Only for small ones, which compilers inline without being asked: [`widely`] takes work of any size.
macro_rules! wide {
    ($body:expr) => {{
        #[cfg(target_arch = "x86_64")]
        let done = ctm_x86::simd::on_avx2(|| $body);
        #[cfg(not(target_arch = "x86_64"))]
        let done = None;
        match done {
            Some(result) => result,
            None => $body,
        }
    }};
}
pub(crate) use wide;

/// Work that is compiled for vectors of several widths.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait Wide: Sized {
    type Out;
    #[allow(dead_code, reason = "only x86-64 has several widths")]
    const TAKES_AVX512: bool = false;
    fn run<const FMA: bool>(self) -> Self::Out;
}
#[cfg(target_arch = "x86_64")]
pub(crate) use ctm_x86::simd::Wide;

/// Does work, compiled for the widest vectors of the processor.
#[inline]
pub(crate) fn widely<W: Wide>(work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    let work = match ctm_x86::simd::on_avx2_of(work) {
        Ok(result) => return result,
        Err(work) => work,
    };
    work.run::<false>()
}

/// Begins to load a part of some bytes into the cache, where the processor can; otherwise it does nothing.
#[cfg(target_arch = "x86_64")]
pub(crate) use ctm_x86::prefetch;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const fn prefetch(_: &[u8], _: usize, _: usize) {}

/// Puts colours into rows, a row for each channel; at most as many as a row has.
#[inline(always)]
pub(crate) fn transpose<const N: usize>(from: &[[u32; 4]], to: &mut [[f32; N]; 4]) {
    #[cfg(target_arch = "x86_64")]
    ctm_x86::simd::transpose(from, to);
    #[cfg(not(target_arch = "x86_64"))]
    for (n, element) in from.iter().enumerate().take(N) {
        to.iter_mut().zip(element).for_each(|(row, &bits)| row[n] = f32::from_bits(bits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_lie_in_their_rows_and_columns() {
        let rect = Rect { left: 3, top: 9, right: 14, bottom: 11 };
        for (x, y) in [(0, 8), (8, 8), (16, 8), (0, 4)] {
            let lanes = (0..LANES).filter(|&lane| {
                let [column, row] = Shape::Block.at(lane);
                rect.contains(x + column, y + row)
            });
            assert_eq!(inside(rect, [x, y]), lanes.fold(0, |all, lane| all | 1 << lane));
        }
        assert_eq!((0..ROWS).map(|row| of_row(0xff, row)).fold(0, |all, row| all ^ row), u32::MAX);
        assert_eq!(whole(rect), Rect { left: 0, top: 8, right: 16, bottom: 12 });
        // A quad is four lanes side by side.
        assert_eq!([0, 1, 2, 3].map(|lane| Shape::Block.at(8 + lane)), [[0, 2], [1, 2], [0, 3], [1, 3]]);
        assert_eq!(bits::<LANES>(&std::array::from_fn(|n| mask(n % 3 == 0))), 0x4924_9249);
        for count in [0, 3, 6, 8, 11] {
            let from: Vec<[u32; 4]> =
                (0..count).map(|n| [0, 1, 2, 3].map(|c| (4.0 * n as f32 + c as f32).to_bits())).collect();
            let mut rows = [[-1.0; 8]; 4];
            transpose(&from, &mut rows);
            let expected = |c: usize, n: usize| if n < count { (4 * n + c) as f32 } else { -1.0 };
            assert_eq!(rows, std::array::from_fn(|c| std::array::from_fn(|n| expected(c, n))));
        }
    }
}
