//! Stores the exports of wavefronts in arrays.

mod vectors;

use crate::codegen::x86::masked::Native;
use crate::codegen::x86::masked::layout::head;
use crate::codegen::x86::transfer::scaled;
use crate::launch::wavefronts::outputs::{Pairs, TargetOutput};
use crate::launch::wavefronts::places::{LaneShape, Places};
use crate::launch::wavefronts::wave::{LANES, Row, lanes_of, mask_of};
use ctm_exec::Position;
#[cfg(target_arch = "x86_64")]
use ctm_exec::arrays::Tiles;
use ctm_exec::r700::Written;
use ctm_exec::x1k::Form;
use ctm_ir::masked::M;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use vectors::store_four;
#[cfg(target_arch = "x86_64")]
use vectors::{load_line, load_two_quads, store_eight, store_line, store_sixteen, store_two_quads};

/// The least lanes of a vector on x86-64: processors have AVX2.
#[cfg(target_arch = "x86_64")]
const EIGHT: usize = 8;
/// The lanes of a vector of AVX-512.
#[cfg(target_arch = "x86_64")]
const SIXTEEN: usize = 16;
/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// The destination and the source of elements.
pub struct ExportTarget<'a> {
    output: &'a TargetOutput<'a>,
    /// The lanes that wrote each channel of an element, none for one that is not exported.
    written: [*mut u64; 4],
    /// The rows of channels, which have as many dwords as wavefronts have lanes.
    rows: [*const u32; 4],
}

/// Four quads side by side each, whose elements are contiguous.
#[cfg(target_arch = "x86_64")]
struct QuadLines<'a> {
    first: *mut u8,
    tiles: &'a Tiles,
    /// Offsets of columns and rows, from the first ones on.
    columns: &'a [u32],
    rows: &'a [u32],
    /// Columns and rows from one to the next.
    steps: [usize; 2],
    count: usize,
}

#[cfg(target_arch = "x86_64")]
impl QuadLines<'_> {
    /// The first element of four quads.
    #[inline(always)]
    fn at(&self, n: usize) -> *mut u8 {
        let [right, down] = self.steps;
        self.first.wrapping_add(self.tiles.folded(self.columns[right * n], self.rows[down * n]) as usize)
    }
}

impl Native {
    /// Of an exported element, by its place in the list: the frame's mask of the lanes that wrote it, the empty mask
    /// where there is none, and its row.
    pub(super) fn exported(&self, from: Option<usize>, frame: *mut u8) -> (*mut u64, *const u32) {
        let at = |offset: i32| frame.wrapping_add(offset as usize);
        let written = from.map_or(head::mask(M::NONE), |from| head::WRITTEN + 8 * self.exports[from] as i32);
        (at(written).cast(), at(from.map_or(head::ROWS, |from| self.rows[from])).cast_const().cast())
    }
}

impl<'a> ExportTarget<'a> {
    /// For a frame of this code.
    pub fn new(output: &'a TargetOutput<'a>, native: &Native, frame: *mut u8) -> Self {
        let exported = output.from.map(|from| native.exported(from, frame));
        Self { output, written: exported.map(|(written, _)| written), rows: exported.map(|(_, row)| row) }
    }

    /// Stores the exports of valid lanes; the next wavefront has written nothing. The frame must have no other users,
    /// and the processor has to have AVX2 and FMA, and AVX-512 if vectors have 16 lanes; vectors of 4 lanes take no instructions of x86-64's own.
    #[inline(always)]
    pub unsafe fn store(&self, width: usize, places: &Places, valid: u64, done: &mut Written) {
        let array = &self.output.array;
        let mut lanes = [0; 4];
        for (lanes, written) in lanes.iter_mut().zip(&self.written[..array.channels.into()]) {
            // SAFETY: it lies in the frame.
            *lanes = unsafe { written.replace(0) } & valid;
        }
        let any = lanes.iter().fold(0, |any, lanes| any | lanes);
        let is_whole = lanes[..array.channels.into()].iter().all(|&lanes| lanes == any);
        self.output.count_lanes(&lanes, done);
        // SAFETY: the lanes lie in the domain, all of whose elements are among the cells; rows lie in the frame.
        unsafe {
            if places.order == LaneShape::Strip && self.output.pairs == Pairs::Quads {
                self.store_quads(places, any);
            } else if self.stores_pairs(places) && array.channels == 1 {
                self.store_pairs(width, places, any, self.rows[0]);
            } else if self.stores_pairs(places) && is_whole && matches!(array.form, Form::Bytes { .. }) {
                let packed = self.scaled(u8::MAX.into(), places.lanes);
                self.store_pairs(width, places, any, packed.as_ptr());
            } else if places.order == LaneShape::Strip && array.tiles.is_none() && is_whole {
                let [i, j] = places.from();
                let [i, j, pitch] = [i, j, array.pitch].map(|elements| elements as usize);
                let first = array.bytes.as_ptr().cast::<u8>().cast_mut();
                let to = [j, j + 1].map(|j| first.wrapping_add((j * pitch + i) * self.output.element_bytes));
                self.store_strip(width, to, (any, places.lanes));
            } else if lanes.iter().all(|&lanes| lanes == 0 || lanes == any) {
                match self.output.element_bytes {
                    2 => self.store_each::<2>(width, places, any, lanes),
                    4 => self.store_each::<4>(width, places, any, lanes),
                    8 => self.store_each::<8>(width, places, any, lanes),
                    12 => self.store_each::<12>(width, places, any, lanes),
                    _ => self.store_each::<16>(width, places, any, lanes),
                }
            } else {
                self.output.store(places, lanes, |channel, lane| *self.rows[channel].add(lane));
            }
        }
    }

    /// Whether lanes are pairs of quads that are loaded and stored together: [`Self::pairs`].
    #[inline(always)]
    fn stores_pairs(&self, places: &Places) -> bool {
        places.order != LaneShape::Any && matches!(self.output.pairs, Pairs::Line | Pairs::Block | Pairs::Rows)
    }

    /// The places of each four quads side by side. Arrays as [`Pairs::Line`] describes them; quads as in [`Self::pairs`]. `None`: a place lies outside.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn lines(&self, places: &Places) -> Option<QuadLines<'_>> {
        let array = &self.output.array;
        let tiles = array.tiles.as_ref()?;
        let [i, j] = places.from().map(|from| from as usize);
        let count = places.lanes / 16;
        // QuadLines are one below the other in tiles, side by side elsewhere.
        let [right, down] = if places.order == LaneShape::Tile { [0, 2] } else { [8, 0] };
        let (columns, rows) = (tiles.columns.get(i..)?, tiles.rows.get(j..)?);
        let last = count.checked_sub(1)?;
        let is_inside = right * last < columns.len() && down * last < rows.len();
        let first = array.bytes.as_ptr().cast::<u8>().cast_mut();
        is_inside.then_some(QuadLines { first, tiles, columns, rows, steps: [right, down], count })
    }

    /// Whether [`Self::lines`] are all of a wavefront.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn stores_lines(&self, places: &Places) -> bool {
        self.output.pairs == Pairs::Line && places.lanes.is_multiple_of(16) && places.from()[0].is_multiple_of(8)
    }

    /// The places of the lanes of each two quads side by side, by the number of the first lane: of the upper row, and of the lower one. Arrays as [`Pairs`] describes them; quads are side by
    /// side, or those of a tile.
    #[inline(always)]
    fn pairs(&self, places: &Places) -> impl Iterator<Item = (usize, [*mut u8; 2])> {
        let array = &self.output.array;
        let first = array.bytes.as_ptr().cast::<u8>().cast_mut();
        let [i, j] = places.from().map(|from| from as usize);
        let pitch = array.pitch as usize;
        // The number of pairs in a row, as a power of two.
        let power = if places.order == LaneShape::Tile { 1 } else { LANES.ilog2() };
        let width = 1 << power;
        let rows = 2 * (places.lanes / 8).div_ceil(width);
        let tiles = array.tiles.as_ref().and_then(|tiles| {
            let columns = tiles.columns.get(i..i + (4 * width).min(places.lanes / 2))?;
            Some((tiles, columns, tiles.rows.get(j..j + rows)?))
        });
        (0..places.lanes / 8).map(move |pair| {
            let (column, row) = (4 * (pair & (width - 1)), 2 * (pair >> power));
            let at = match &tiles {
                Some((tiles, columns, rows)) => {
                    [rows[row], rows[row + 1]].map(|row| tiles.folded(columns[column], row) as usize)
                }
                None => [j + row, j + row + 1].map(|j| 4 * (j * pitch + i + column)),
            };
            (8 * pair, at.map(|at| first.wrapping_add(at)))
        })
    }

    /// The two rows of each quad, by the number of its first lane. Arrays as [`Pairs::Quads`] describes them; quads are side by side in the launch.
    #[inline(always)]
    fn quads(&self, places: &Places) -> impl Iterator<Item = (usize, [*mut u8; 2])> {
        let array = &self.output.array;
        let first = array.bytes.as_ptr().cast::<u8>().cast_mut();
        let [i, j] = places.from().map(|from| from as usize);
        let tables = array.tiles.as_ref().and_then(|tiles| {
            let columns = tiles.columns.get(i..i + places.lanes / 2)?;
            Some((columns.as_chunks().0, *tiles.rows.get(j..)?.first_chunk::<2>()?))
        });
        let (columns, rows) = tables.unwrap_or((&[], [0; 2]));
        let place = move |(n, &[column, _]): (usize, &[u32; 2])| {
            (4 * n, rows.map(|row| first.wrapping_add(column as usize + row as usize)))
        };
        columns.iter().enumerate().map(place)
    }

    /// Stores a row of elements of 4 bytes in some lanes of a wavefront whose quads lie anywhere.
    #[inline(always)]
    unsafe fn store_quads(&self, places: &Places, lanes: u64) {
        let [row, ..] = self.rows;
        for (lane, to) in self.quads(places) {
            let marks = lanes >> lane & 0xf;
            for (to, lane, marks) in [(to[0], lane, marks & 3), (to[1], lane + 2, marks >> 2)] {
                // SAFETY: as of `store`; rows have as many dwords as there are lanes.
                unsafe {
                    let from = row.add(lane);
                    let to = to.cast::<u32>();
                    match marks {
                        3 => to.cast::<[u32; 2]>().write_unaligned(from.cast::<[u32; 2]>().read_unaligned()),
                        1 => to.write_unaligned(*from),
                        2 => to.add(1).write_unaligned(*from.add(1)),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Asks for the memory that the next wavefront on the right has its elements in, so that it is in the cache when that runs.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "only x86-64 has these instructions"))]
    #[inline(always)]
    pub fn prefetch(&self, places: &Places) {
        #[cfg(target_arch = "x86_64")]
        if places.order == LaneShape::Strip && matches!(self.output.pairs, Pairs::Line | Pairs::Block | Pairs::Rows) {
            let array = &self.output.array;
            let first = array.bytes.as_ptr().cast::<u8>();
            let [i, j] = places.from().map(|from| from as usize);
            let columns = i + places.lanes / 2..i + places.lanes;
            let ask = |at: usize| {
                // SAFETY: a processor may ask for any address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at).cast()) };
            };
            match &array.tiles {
                Some(tiles) => {
                    let (columns, rows) = (tiles.columns.get(columns), tiles.rows.get(j..j + 2));
                    let (Some(columns), Some(&[upper, lower])) = (columns, rows) else { return };
                    for &column in columns.iter().step_by(CACHE_LINE / 8) {
                        ask(tiles.folded(column, upper) as usize);
                        if self.output.pairs == Pairs::Rows {
                            ask(tiles.folded(column, lower) as usize);
                        }
                    }
                }
                None => {
                    for column in columns.step_by(CACHE_LINE / 4) {
                        [j, j + 1].into_iter().for_each(|j| ask(4 * (j * array.pitch as usize + column)));
                    }
                }
            }
        }
    }

    /// Loads the elements of a wavefront whose quads are side by side, or of any other, into a row. An element has 4 bytes.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "only x86-64 has these instructions"))]
    #[inline(always)]
    pub unsafe fn load(&self, width: usize, places: &Places, row: &mut Row) {
        let are_whole = places.lanes.is_multiple_of(if self.output.pairs == Pairs::Quads { 4 } else { 8 });
        let are_quads = places.order == LaneShape::Strip && self.output.pairs == Pairs::Quads;
        if !are_whole || !(are_quads || self.stores_pairs(places)) {
            self.output.load_each(places, row);
            return;
        }
        if self.output.pairs == Pairs::Quads {
            for (lane, from) in self.quads(places) {
                // SAFETY: as below.
                let [[a, b], [c, d]] = from.map(|from| unsafe { from.cast::<[u32; 2]>().read_unaligned() });
                if let Some(to) = row.get_mut(lane..).and_then(<[u32]>::first_chunk_mut::<4>) {
                    *to = [a, b, c, d];
                }
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if width == SIXTEEN
            && self.stores_lines(places)
            && let Some(lines) = self.lines(places)
        {
            for n in 0..lines.count {
                // SAFETY: as below; the row has as many dwords as there are lanes.
                unsafe { load_line(lines.at(n), row.as_mut_ptr().add(16 * n)) };
            }
            return;
        }
        for (lane, [upper, lower]) in self.pairs(places) {
            #[cfg(target_arch = "x86_64")]
            if width >= EIGHT {
                // SAFETY: as below; the row has as many dwords as there are lanes.
                unsafe { load_two_quads(self.output.pairs, [upper, lower], row.as_mut_ptr().add(lane)) };
                continue;
            }
            // SAFETY: the lanes lie in the domain, all of whose elements are among the cells; no other thread writes them.
            let ([a, b, e, f], [c, d, g, h]) =
                unsafe { (upper.cast::<[u32; 4]>().read_unaligned(), lower.cast::<[u32; 4]>().read_unaligned()) };
            if let Some(to) = row.get_mut(lane..).and_then(<[u32]>::first_chunk_mut::<8>) {
                *to = [a, b, c, d, e, f, g, h];
            }
        }
    }

    /// Stores a row of elements of 4 bytes, as many as a wavefront has lanes, in some lanes of one whose quads are side by side.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "only x86-64 has these instructions"))]
    #[inline(always)]
    unsafe fn store_pairs(&self, width: usize, places: &Places, lanes: u64, row: *const u32) {
        #[cfg(target_arch = "x86_64")]
        if width == SIXTEEN
            && self.stores_lines(places)
            && let Some(lines) = self.lines(places)
        {
            for n in 0..lines.count {
                // SAFETY: as below.
                unsafe { store_line(lines.at(n), row.add(16 * n), (lanes >> (16 * n)) as u16) };
            }
            return;
        }
        for (lane, [upper, lower]) in self.pairs(places) {
            let marks = lanes >> lane & 0xff;
            #[cfg(target_arch = "x86_64")]
            if width >= EIGHT {
                // SAFETY: as below.
                unsafe { store_two_quads(self.output.pairs, [upper, lower], row.add(lane), marks as u8) };
                continue;
            }
            // SAFETY: as of `store`; rows have as many dwords as there are lanes.
            unsafe {
                let [a, b, c, d, e, f, g, h] = row.add(lane).cast::<[u32; 8]>().read_unaligned();
                if marks == 0xff {
                    upper.cast::<[u32; 4]>().write_unaligned([a, b, e, f]);
                    lower.cast::<[u32; 4]>().write_unaligned([c, d, g, h]);
                    continue;
                }
                for (n, dword) in [a, b, c, d, e, f, g, h].into_iter().enumerate() {
                    if marks >> n & 1 == 1 {
                        let to = if n / 2 % 2 == 0 { upper } else { lower };
                        to.cast::<u32>().add(column(n)).write_unaligned(dword);
                    }
                }
            }
        }
        // A wavefront of an odd number of quads has one more.
        for lane in (places.lanes / 8 * 8..places.lanes).filter(|lane| lanes >> lane & 1 == 1) {
            // SAFETY: as above.
            self.output.put(places.position(lane), [unsafe { *row.add(lane) }, 0, 0, 0], 1);
        }
    }

    /// Stores elements of `BYTES` bytes at any places, or the same channels of each, in some lanes: as
    /// [`Self::store_strip`].
    #[inline(always)]
    unsafe fn store_each<const BYTES: usize>(&self, width: usize, places: &Places, lanes: u64, channels: [u64; 4]) {
        let array = &self.output.array;
        let mut mask = [0; BYTES];
        for channel in (0..array.channels.into()).filter(|&channel| channels[channel] != 0) {
            let (begin, bytes) = array.form.channel(channel);
            mask[begin..begin + bytes].fill(u8::MAX);
        }
        let is_whole = mask == [u8::MAX; BYTES];
        let mut elements = [[[0u8; BYTES]; LANES / 2]; 2];
        let rows = elements.each_mut().map(|row| row.as_mut_ptr().cast());
        let mut at = [[0; LANES / 2]; 2];
        let ([i, j], columns) = (places.from().map(|from| from as usize), places.lanes / 2);
        let tables = array.tiles.as_ref();
        let tables = tables.and_then(|of| Some((of, of.columns.get(i..i + columns)?, of.rows.get(j..j + 2)?)));
        if places.order == LaneShape::Strip && array.tiles.is_some() == tables.is_some() {
            for (row, at) in at.iter_mut().enumerate() {
                let first = (j + row) * array.pitch as usize + i;
                if let Some((tiles, columns, rows)) = tables {
                    at.iter_mut().zip(columns).for_each(|(at, &column)| *at = tiles.folded(column, rows[row]) as usize);
                } else {
                    at.iter_mut().zip(first..).for_each(|(at, element)| *at = element * BYTES);
                }
            }
        } else {
            for lane in 0..places.lanes {
                let Position { i, j } = places.position(lane);
                at[lane / 2 % 2][column(lane)] = array.offset(i, j).unwrap_or(0);
            }
        }
        let first = array.bytes.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: as above; no other thread writes these elements.
        unsafe {
            self.store_strip(width, rows, (mask_of(places.lanes), places.lanes));
            for even in lanes_of((lanes | lanes >> 1) & (u64::MAX / 3)) {
                let (row, column) = (even / 2 % 2, column(even));
                let from = &elements[row][column..][..2];
                let to = [at[row][column], at[row][column + 1]];
                if lanes >> even & 3 == 3 && to[1] == to[0] + BYTES && is_whole {
                    first.add(to[0]).copy_from_nonoverlapping(from.as_ptr().cast(), 2 * BYTES);
                    continue;
                }
                for n in 0..2 {
                    let to = first.add(to[n]).cast::<[u8; BYTES]>();
                    if lanes >> (even + n) & 1 == 1 {
                        let mut element = to.read();
                        for byte in 0..BYTES {
                            element[byte] = element[byte] & !mask[byte] | from[n][byte] & mask[byte];
                        }
                        to.write(element);
                    }
                }
            }
        }
    }

    /// Stores elements of quads side by side, in some of `count` lanes, to two rows. These have to be among the
    /// output's cells, or owned by the caller; other threads may write others of the cells.
    #[inline(always)]
    unsafe fn store_strip(&self, width: usize, to: [*mut u8; 2], (lanes, count): (u64, usize)) {
        let (array, [r, g, b, a]) = (&self.output.array, self.rows);
        // SAFETY: as above.
        unsafe {
            match (array.form, array.channels) {
                (Form::Floats | Form::Square, 1) => store_elements(width, to, (lanes, count), [r]),
                (Form::Floats | Form::Square, 2) => store_elements(width, to, (lanes, count), [r, g]),
                (Form::Floats | Form::Square, 3) => store_elements(width, to, (lanes, count), [r, g, b]),
                (Form::Floats | Form::Square, _) => store_elements(width, to, (lanes, count), [r, g, b, a]),
                (Form::Bytes { .. }, _) => {
                    let all = self.scaled(u8::MAX.into(), count);
                    store_elements(width, to, (lanes, count), [all.as_ptr()]);
                }
                (Form::Words, _) => {
                    let all = self.scaled(u16::MAX.into(), count);
                    if lanes == mask_of(count) {
                        for (quad, &[a, b, c, d]) in all[..count].as_chunks().0.iter().enumerate() {
                            to[0].cast::<u32>().add(quad).write_unaligned(a | b << 16);
                            to[1].cast::<u32>().add(quad).write_unaligned(c | d << 16);
                        }
                        return;
                    }
                    for lane in lanes_of(lanes) {
                        to[lane / 2 % 2].cast::<u16>().add(column(lane)).write_unaligned(all[lane] as u16);
                    }
                }
            }
        }
    }

    /// Channels as numbers of 0 to `most`, side by side in a dword. Compilers vectorise it.
    #[inline(always)]
    unsafe fn scaled(&self, most: u32, count: usize) -> Row {
        let array = &self.output.array;
        let mut all = [0; LANES];
        for (channel, &row) in self.rows[..array.channels.into()].iter().enumerate() {
            let shift = 8 * array.form.channel(channel).0;
            // SAFETY: rows have `count` dwords.
            let row = unsafe { std::slice::from_raw_parts(row, count) };
            for (all, &bits) in all.iter_mut().zip(row) {
                *all |= scaled(bits, most) << shift;
            }
        }
        all
    }
}

/// The column of a lane of quads.
const fn column(lane: usize) -> usize {
    lane / 4 * 2 + lane % 2
}

/// Stores the elements of quads side by side, in some of `count` lanes, to two rows: as [`ExportTarget::store_strip`].
#[inline(always)]
unsafe fn store_elements<const N: usize>(
    width: usize,
    to: [*mut u8; 2],
    (lanes, count): (u64, usize),
    rows: [*const u32; N],
) {
    let each = width;
    for first in (0..count).step_by(each) {
        let [upper, lower] = to.map(|to| to.wrapping_add(2 * N * first).cast::<f32>());
        let from = rows.map(|row| row.wrapping_add(first).cast::<f32>());
        let here = lanes >> first & ((1 << each) - 1);
        // SAFETY: as above.
        unsafe {
            if here == (1 << each) - 1 && N != 3 {
                match width {
                    #[cfg(target_arch = "x86_64")]
                    16 => store_sixteen([upper, lower], from),
                    #[cfg(target_arch = "x86_64")]
                    8 => store_eight([upper, lower], from),
                    _ => store_four([upper, lower], from),
                }
                continue;
            }
            for lane in lanes_of(here) {
                let to = if lane / 2 % 2 == 0 { upper } else { lower };
                to.cast::<[f32; N]>().add(column(lane)).write_unaligned(from.map(|row| *row.add(lane)));
            }
        }
    }
}
