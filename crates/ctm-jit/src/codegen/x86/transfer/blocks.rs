//! Tiled arrays as blocks: their positions, and the parameters of routines that move them.

#![allow(unsafe_code, reason = "elements are moved several at once")]

use super::panel::{Panel, PanelPart};
use super::{LINE, Range};
use crate::launch::CACHED_BYTES;
use ctm_exec::arrays::Tiles;
use ctm_exec::float::{INFINITY, NAN, SIGN};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_loadu2_m128i, _mm256_permute2x128_si256,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_storeu2_m128i, _mm256_stream_si256,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};

/// The smallest normal number.
const LEAST: u32 = 1 << 23;

/// A block.
pub struct BlockShape {
    pub element_bytes: u32,
    pub columns: u32,
    pub rows: u32,
}

impl BlockShape {
    /// Columns of the blocks that are moved at once: those of a line.
    pub const fn step(&self) -> u32 {
        LINE as u32 / self.rows / self.element_bytes
    }
}

/// The blocks that are moved.
const SHAPES: [BlockShape; 4] = [
    BlockShape { element_bytes: 2, columns: 4, rows: 4 },
    BlockShape { element_bytes: 4, columns: 4, rows: 2 },
    BlockShape { element_bytes: 8, columns: 2, rows: 2 },
    BlockShape { element_bytes: 16, columns: 4, rows: 1 },
];

/// The way in which blocks are moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// From arrays to panels; else back.
    pub reads: bool,
    /// Writes begin at a line and bypass the caches; a fence has to follow.
    pub past_caches: bool,
    /// Numbers become results of arithmetic: [`as_sum`].
    pub sums: bool,
    /// By vectors of 256 bits: the processor has AVX2.
    pub is_wide: bool,
}

/// `x + 0`: denormals and -0 become 0, and NaNs the one that arithmetic makes.
const fn as_sum(x: u32) -> u32 {
    match x & !SIGN {
        0..LEAST => 0,
        LEAST..=INFINITY => x,
        _ => NAN,
    }
}

/// [`as_sum`] in each dword.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn as_sums(x: __m256i) -> __m256i {
    let infinity = _mm256_set1_epi32(INFINITY as i32);
    let is_zero = _mm256_cmpeq_epi32(_mm256_and_si256(x, infinity), _mm256_setzero_si256());
    let magnitude = _mm256_and_si256(x, _mm256_set1_epi32(i32::MAX));
    let is_nan = _mm256_cmpgt_epi32(magnitude, infinity);
    _mm256_blendv_epi8(_mm256_andnot_si256(is_zero, x), _mm256_set1_epi32(NAN as i32), is_nan)
}

/// The prefetch distance in bytes of lines of tiles, in the order of addresses: processors continue that order by
/// themselves; they do not predict the order in which a tile's lines are read.
#[cfg(target_arch = "x86_64")]
const PREFETCH_DISTANCE: usize = 4096;

/// The prefetch distance in lines where rows of blocks are moved across tiles; measured.
#[cfg(target_arch = "x86_64")]
const LINES_AHEAD: usize = 16;

/// An array's tiles, which consist of blocks.
#[derive(Clone)]
pub struct Blocks {
    pub shape: &'static BlockShape,
    pub tiles: Tiles,
    /// Columns and rows of a tile.
    pub tile: [u32; 2],
    /// Columns and rows, up to the end of blocks.
    size: [u32; 2],
    /// Bytes that hold them.
    bytes: usize,
}

impl Blocks {
    /// `None` where such blocks are not supported, or the bytes are too few.
    pub fn of(tiles: &Tiles, element_bytes: u32, [width, height]: [u32; 2], bytes: usize) -> Option<Self> {
        let shape = SHAPES.iter().find(|shape| shape.element_bytes == element_bytes)?;
        let BlockShape { columns, rows, .. } = *shape;
        let (step, row) = (shape.step(), element_bytes * columns);
        let [width, height] = [width.next_multiple_of(step), height.next_multiple_of(rows)];
        // Every `each` columns or rows begin a line, and are contiguous in it.
        let follow = |table: &[u32], count: u32, each: u32, place: &dyn Fn(u32) -> u32| {
            let table = table.get(..count as usize).unwrap_or(&[]);
            let is_line = |of: &[u32]| {
                of[0].is_multiple_of(LINE as u32) && of.iter().zip(0..).all(|(&at, n)| at == of[0] + place(n))
            };
            !table.is_empty() && table.chunks(each as usize).all(is_line)
        };
        let fits = tiles.tile_bytes.is_power_of_two()
            && tiles.tile_bytes.is_multiple_of(LINE as u32)
            && follow(&tiles.columns, width, step, &|n| n / columns * rows * row + n % columns * element_bytes)
            && follow(&tiles.rows, height, rows, &|n| n * row)
            && tiles.last(width - 1, height - 1)? <= bytes as u64;
        // The end of the tile: the first column or row of the next one.
        let tile = [&tiles.columns, &tiles.rows]
            .map(|table| table.iter().position(|&place| place >= tiles.tile_bytes).unwrap_or(table.len()) as u32);
        let are_whole = tile.iter().zip([step, rows]).all(|(&size, each)| size > 0 && size.is_multiple_of(each));
        (fits && are_whole).then(|| Self { shape, tiles: tiles.clone(), tile, size: [width, height], bytes })
    }

    /// The first column or row of the tile of `place`.
    pub const fn tile_of(&self, place: u32) -> u32 {
        place & !(self.tiles.tile_bytes - 1)
    }

    /// Whether caches may hold the array, so that rows of blocks are moved across all tiles: lines of many rows of a
    /// panel share sets of a cache.
    const fn is_cached(&self) -> bool {
        (self.bytes as u64) < CACHED_BYTES
    }

    /// Whole blocks; tile by tile, as memory is fastest, where caches do not hold them.
    fn by_tiles(&self, part: PanelPart) -> impl Iterator<Item = PanelPart> + use<> {
        let cut = |of: Range<u32>, step: u32| {
            let first = of.start / step;
            (first..of.end.div_ceil(step))
                .map(move |n| of.start.max(n * step)..of.end.min((n + 1).saturating_mul(step)))
        };
        let [columns, rows] = if self.is_cached() { [u32::MAX, self.tile[1]] } else { self.tile };
        cut(part.y, rows).flat_map(move |y| cut(part.x.clone(), columns).map(move |x| PanelPart { x, y: y.clone() }))
    }

    /// Whether these bytes of tiles and of a panel hold whole blocks, at least one.
    fn are_held(&self, part: &PanelPart, bytes: usize, panel: &Panel, left: usize) -> bool {
        let wanted =
            panel.row_bytes * part.y.len().saturating_sub(1) + part.x.len() * self.shape.element_bytes as usize;
        let exists = part.x.end <= self.size[0] && part.y.end <= self.size[1];
        exists && !part.x.is_empty() && !part.y.is_empty() && self.bytes <= bytes && wanted <= left
    }

    /// Moves whole blocks between arrays and panels of these positions and sizes, as far as they hold them.
    ///
    /// # Safety
    ///
    /// The processor has AVX2 if `way` relies on it. The source may be read, and the destination written: elements of arrays while other
    /// threads write others.
    pub unsafe fn transfer(
        &self,
        way: Way,
        whole: PanelPart,
        array: (*mut u8, usize),
        (panel, first, bytes): InMemory<'_>,
    ) {
        for part in self.by_tiles(whole) {
            let place = panel.offset([part.x.start, part.y.start], self.shape.element_bytes);
            if self.are_held(&part, array.1, panel, bytes.saturating_sub(place)) {
                let to = (first.wrapping_add(place), panel.row_bytes);
                #[cfg(target_arch = "x86_64")]
                if way.is_wide {
                    let fills_lines = way.reads && way.past_caches && to.0.addr().is_multiple_of(LINE);
                    // SAFETY: as above, and both sides hold the blocks.
                    unsafe {
                        match self.shape.element_bytes {
                            2 if fills_lines => self.read_lines(part, array.0, to),
                            2 => self.move_tile::<4, 8>(way, &part, array.0, to),
                            4 => self.move_tile::<2, 8>(way, &part, array.0, to),
                            8 => self.move_tile::<2, 4>(way, &part, array.0, to),
                            _ => self.move_tile::<1, 4>(way, &part, array.0, to),
                        }
                    }
                    continue;
                }
                // SAFETY: as above, and both sides hold the blocks.
                unsafe { self.move_rows(way, &part, array.0, to) }
            }
        }
    }

    /// Moves whole blocks, one row of each after the other.
    ///
    /// # Safety
    ///
    /// As of [`Self::transfer`]; and all blocks are there.
    unsafe fn move_rows(&self, way: Way, part: &PanelPart, array: *mut u8, to: (*mut u8, usize)) {
        // SAFETY: as above.
        unsafe {
            match self.shape.columns * self.shape.element_bytes {
                8 => self.move_rows_of::<8>(way, part, array, to),
                16 => self.move_rows_of::<16>(way, part, array, to),
                _ => self.move_rows_of::<LINE>(way, part, array, to),
            }
        }
    }

    /// The same where the row of a block has this many bytes.
    ///
    /// # Safety
    ///
    /// As of [`Self::transfer`]; and all blocks are there.
    unsafe fn move_rows_of<const BYTES: usize>(
        &self,
        way: Way,
        part: &PanelPart,
        array: *mut u8,
        (panel, row_bytes): (*mut u8, usize),
    ) {
        let columns = &self.tiles.columns[part.x.start as usize..part.x.end as usize];
        let rows = &self.tiles.rows[part.y.start as usize..part.y.end as usize];
        for (n, &row) in rows.iter().enumerate() {
            for (m, &column) in columns.iter().step_by(self.shape.columns as usize).enumerate() {
                let inside = array.wrapping_add(self.tiles.folded(column, row) as usize).cast::<[u8; BYTES]>();
                let beside = panel.wrapping_add(n * row_bytes + m * BYTES).cast::<[u8; BYTES]>();
                let (from, to) = if way.reads { (inside, beside) } else { (beside, inside) };
                // SAFETY: the columns and rows are those of whole blocks, which have these bytes on both sides.
                unsafe {
                    let mut bytes = from.read_unaligned();
                    if way.sums {
                        for dword in bytes.as_chunks_mut().0 {
                            *dword = as_sum(u32::from_le_bytes(*dword)).to_le_bytes();
                        }
                    }
                    to.write_unaligned(bytes);
                }
            }
        }
    }

    /// Moves whole blocks of 16-bit elements to rows past the caches: these need whole lines, which have elements of
    /// eight blocks.
    ///
    /// # Safety
    ///
    /// As of [`Self::transfer`]; and all blocks are there.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn read_lines(&self, mut part: PanelPart, array: *mut u8, (panel, row_bytes): (*mut u8, usize)) {
        const COLUMNS: usize = LINE / 2;
        const ROWS: usize = 4;
        let lines = part.x.len() / COLUMNS;
        let columns = self.tiles.columns[part.x.start as usize..].as_chunks::<COLUMNS>().0;
        for (n, row) in part.y.clone().step_by(ROWS).enumerate() {
            let row = self.tiles.rows[row as usize];
            for (m, columns) in columns[..lines].iter().enumerate() {
                let to = panel.wrapping_add(ROWS * n * row_bytes + m * LINE);
                let mut rows = [[_mm256_setzero_si256(); ROWS]; 2];
                for n in 0..ROWS {
                    let at = self.tiles.folded(columns[COLUMNS / ROWS * n], row);
                    let line = array.wrapping_add(at as usize).cast::<__m256i>();
                    // SAFETY: as of `move_tile`.
                    let [a, b] = unsafe { [_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))] };
                    _mm_prefetch::<_MM_HINT_T0>(line.wrapping_byte_add(PREFETCH_DISTANCE).cast());
                    (rows[0][n], rows[1][n]) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
                }
                for (n, [a, b, c, d]) in rows.into_iter().enumerate() {
                    let [upper, lower] = [n, n + 2].map(|row| to.wrapping_add(row * row_bytes).cast::<__m256i>());
                    // SAFETY: as of `move_tile`.
                    unsafe {
                        _mm256_stream_si256(upper, _mm256_permute2x128_si256::<0x20>(a, b));
                        _mm256_stream_si256(upper.add(1), _mm256_permute2x128_si256::<0x20>(c, d));
                        _mm256_stream_si256(lower, _mm256_permute2x128_si256::<0x31>(a, b));
                        _mm256_stream_si256(lower.add(1), _mm256_permute2x128_si256::<0x31>(c, d));
                    }
                }
            }
        }
        part.x.start += (lines * COLUMNS) as u32;
        if !part.x.is_empty() {
            let to = (panel.wrapping_add(lines * LINE), row_bytes);
            // SAFETY: as above.
            unsafe { self.move_tile::<4, 8>(Way { reads: true, is_wide: true, ..Way::default() }, &part, array, to) }
        }
    }

    /// Moves whole blocks between a tile and a panel, one row of blocks after the other, line by line. The panel has a
    /// fixed pitch in bytes.
    ///
    /// # Safety
    ///
    /// As of [`Self::transfer`]; and all blocks are there.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn move_tile<const ROWS: usize, const STEP: usize>(
        &self,
        way: Way,
        part: &PanelPart,
        array: *mut u8,
        (panel, row_bytes): (*mut u8, usize),
    ) {
        let within = self.tiles.tile_bytes - 1;
        let columns = &self.tiles.columns[part.x.start as usize..part.x.end as usize];
        let rows = &self.tiles.rows[part.y.start as usize..part.y.end as usize];
        let tile = self.tile_of(columns[0]) + self.tile_of(rows[0]);
        let is_cached = self.is_cached();
        let mut next = array.wrapping_add(tile as usize + PREFETCH_DISTANCE);
        for (n, of) in rows.as_chunks::<ROWS>().0.iter().enumerate() {
            let (array, row) = (array.wrapping_add(self.tile_of(of[0]) as usize), of[0] & within);
            let line_of = |column: &u32| array.wrapping_add((column ^ row) as usize);
            let panel = panel.wrapping_add(n * ROWS * row_bytes);
            for (n, of) in columns.as_chunks::<STEP>().0.iter().enumerate() {
                let line = line_of(&of[0]).cast::<__m256i>();
                // Rows of the blocks, or two halves of a row.
                let other = if ROWS == 1 { LINE / 2 } else { row_bytes };
                let row = |of: usize| panel.wrapping_add(n * (LINE / ROWS) + of * other).cast::<__m128i>();
                // SAFETY: the columns and rows are those of whole blocks: the line is one of theirs, and the rows have their elements.
                unsafe {
                    let later = if is_cached {
                        columns.get((n + LINES_AHEAD) * STEP).map(line_of)
                    } else {
                        (way.reads || !way.past_caches).then_some(next)
                    };
                    if let Some(later) = later {
                        _mm_prefetch::<_MM_HINT_T0>(later.cast());
                    }
                    next = next.wrapping_add(LINE);
                    if !(is_cached || way.reads && way.past_caches) {
                        // The same rows beside the tile, line by line.
                        let beside = columns.len() * (LINE / ROWS / STEP) + n / ROWS * LINE;
                        _mm_prefetch::<_MM_HINT_T0>(panel.wrapping_add(n % ROWS * row_bytes + beside).cast());
                    }
                    let [a, b] = match (way.reads, ROWS) {
                        (true, _) => [_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))],
                        (_, 4) => [_mm256_loadu2_m128i(row(2), row(0)), _mm256_loadu2_m128i(row(3), row(1))],
                        _ => [_mm256_loadu_si256(row(0).cast()), _mm256_loadu_si256(row(1).cast())],
                    };
                    let [a, b] = match ROWS {
                        4 => [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)],
                        2 => [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)],
                        _ => [a, b],
                    };
                    let [a, b] = if way.sums { [as_sums(a), as_sums(b)] } else { [a, b] };
                    if way.reads && ROWS == 4 {
                        _mm256_storeu2_m128i(row(2), row(0), a);
                        _mm256_storeu2_m128i(row(3), row(1), b);
                        continue;
                    }
                    let to = if way.reads { [row(0).cast(), row(1).cast()] } else { [line, line.add(1)] };
                    for (to, from) in to.into_iter().zip([a, b]) {
                        if way.past_caches { _mm256_stream_si256(to, from) } else { _mm256_storeu_si256(to, from) }
                    }
                }
            }
        }
    }
}

/// A panel, its first byte, and its bytes.
pub type InMemory<'a> = (&'a Panel, *mut u8, usize);
