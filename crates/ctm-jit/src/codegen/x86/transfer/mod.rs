//! Rectangles of arrays that code does not access in place: tiles, read and written, and elements of 8 and 16 bits that
//! are converted before code reads them.
//!
//! In a tile, neighbouring elements lie together in *blocks*: some columns of some rows, row by row. Blocks are taken
//! apart and put together in whole lines of 64 bytes: two blocks, or one. A block that is covered in part is moved in
//! contiguous byte ranges, so nothing beside it is touched.

use crate::codegen::x86::isa::Isa;
pub use blocks::Way;
use blocks::{Blocks, InMemory};
use ctm_exec::arrays::{Elements, Form};
use ctm_x86::simd::with;
pub use numbers::scaled;
use numbers::{Load, Store};
use panel::prefetch;
pub use panel::{Area, Panel, PanelPart};
pub use rows::TileRows;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

mod blocks;
mod numbers;
mod panel;
mod rows;

/// Bytes of a line, the unit in which blocks are moved.
const LINE: usize = 64;

/// An array that code does not access in place.
#[derive(Clone)]
pub struct Stored {
    /// The form to convert.
    form: Option<Form>,
    element_bytes: u32,
    channels: u8,
    pitch: u32,
    blocks: Option<Blocks>,
}

impl Stored {
    /// The layout of an array of `bytes` bytes; an inner `None` where numbers lie row by row, and `None` where the
    /// array is not supported.
    #[allow(clippy::option_option, reason = "two answers")]
    pub fn of<B>(array: &Elements<B>, bytes: usize) -> Option<Option<Self>> {
        let element_bytes = array.form.element_bytes(array.channels);
        let form = Some(array.form).filter(|form| matches!(form, Form::Bytes { .. } | Form::Words));
        match &array.tiles {
            _ if form.is_none() && array.form != Form::Floats => None,
            None if form.is_none() => Some(None),
            None if array.bytes_needed() > bytes as u64 => None,
            tiles => {
                let blocks = match tiles {
                    Some(tiles) => Some(Blocks::of(tiles, element_bytes, [array.width, array.height], bytes)?),
                    None => None,
                };
                let (pitch, channels) = (array.pitch, array.channels);
                Some(Some(Self { form, element_bytes, channels, pitch, blocks }))
            }
        }
    }

    /// Rows of a tile.
    pub fn tile_rows(&self) -> Option<u32> {
        self.blocks.as_ref().map(|blocks| blocks.tile[1])
    }

    /// Whether it has tiles.
    pub const fn has_tiles(&self) -> bool {
        self.blocks.is_some()
    }

    /// The same in rows of `pitch` elements; `None` where the code accepts them as they are.
    pub fn in_rows(&self, pitch: u32) -> Option<Self> {
        self.form.is_some().then_some(Self { pitch, blocks: None, ..*self })
    }

    /// Bytes of an element for the code.
    const fn read_bytes(&self) -> u32 {
        if self.form.is_some() { 4 * self.channels as u32 } else { self.element_bytes }
    }

    /// Bytes of an element in a panel: converted blocks have both forms.
    pub const fn panel_bytes(&self) -> u32 {
        self.read_bytes() + if self.form.is_some() && self.has_tiles() { self.element_bytes } else { 0 }
    }

    /// The offset of an element of rows.
    const fn place(&self, x: u32, y: u32) -> usize {
        (y as usize * self.pitch as usize + x as usize) * self.element_bytes as usize
    }

    /// The panel for a part.
    pub fn panel(&self, part: &PanelPart) -> Panel {
        let Some(blocks) = &self.blocks else { return Panel::of_rows(part.area(), self.read_bytes()) };
        let [step, rows] = [blocks.shape.step(), blocks.shape.rows];
        let first = [part.x.start / step * step, part.y.start / rows * rows];
        let width = part.x.end.next_multiple_of(step) - first[0];
        let rows = part.y.end.next_multiple_of(rows) - first[1];
        // An odd number of lines: then rows do not map to the same sets of a cache.
        let row_bytes = ((width * self.element_bytes) as usize).next_multiple_of(LINE) | LINE;
        let pitch = row_bytes as i64 / i64::from(self.element_bytes);
        let size = i64::from(self.read_bytes());
        let origin = -size * (i64::from(first[0]) + i64::from(first[1]) * pitch);
        let each = self.panel_bytes() as usize;
        Panel { origin, pitch, bytes: pitch as usize * rows as usize * each, first, rows, row_bytes }
    }

    /// The end of the panel's part with numbers; after it come elements in their stored form, if those are no numbers.
    const fn split(&self, panel: &Panel) -> usize {
        if self.form.is_some() { panel.bytes - panel.row_bytes * panel.rows as usize } else { 0 }
    }

    /// Copies a part of the array into its panel.
    #[allow(unsafe_code, reason = "elements are moved several at once")]
    pub fn read(&self, isa: Isa, bytes: &[u8], part: &PanelPart, panel: &Panel, to: &mut [u8]) {
        if let Some(blocks) = &self.blocks {
            let (numbers, elements) = to[..panel.bytes].split_at_mut(self.split(panel));
            let [x, y] = panel.first;
            let (x, y) = (
                x..part.x.end.next_multiple_of(blocks.shape.step()),
                y..part.y.end.next_multiple_of(blocks.shape.rows),
            );
            let array = (bytes.as_ptr().cast_mut(), bytes.len());
            // SAFETY: streams are run where the processor has their instruction set; blocks are read from the array and written to the panel.
            unsafe {
                let way = Way { reads: true, is_wide: is_wide(isa), ..Way::default() };
                blocks.transfer(way, PanelPart { x, y }, array, (panel, elements.as_mut_ptr(), elements.len()));
                with(isa, Load(self.form, elements, numbers));
            }
        } else {
            for (y, to) in part.y.clone().zip(to.chunks_exact_mut(panel.row_bytes)) {
                let (row, below) = (self.place(part.x.start, y), self.place(part.x.start, y + 1));
                for line in (0..part.x.len() * self.element_bytes as usize).step_by(LINE) {
                    prefetch(bytes.as_ptr().wrapping_add(below + line));
                }
                // SAFETY: streams are run where the processor has their instruction set.
                unsafe { with(isa, Load(self.form, &bytes[row..], to)) };
            }
        }
    }

    /// The numbers of a part, and their layout.
    pub fn numbers(&self, isa: Isa, bytes: &[u8], part: &PanelPart) -> (Vec<u8>, Panel) {
        let panel = self.panel(part);
        let mut numbers = vec![0; panel.bytes];
        self.read(isa, bytes, part, &panel, &mut numbers);
        (numbers, panel)
    }

    /// Copies a part out of its panel, which holds numbers. `large`: whole blocks bypass the caches; then [`fence`] has
    /// to follow.
    #[allow(unsafe_code, reason = "vector instructions are used")]
    pub fn write(
        &self,
        isa: Isa,
        cells: &[AtomicU32],
        (part, panel): (&PanelPart, &Panel),
        from: &mut [u8],
        large: bool,
    ) {
        if self.has_tiles() {
            let (numbers, elements) = from[..panel.bytes].split_at_mut(self.split(panel));
            // SAFETY: streams are run where the processor has their instruction set.
            unsafe { with(isa, Store(self.form, numbers, elements)) };
            let way = Way { past_caches: large, is_wide: is_wide(isa), ..Way::default() };
            return self.write_elements(cells, part, panel, elements, way);
        }
        for (y, from) in part.y.clone().zip(from.chunks_exact(panel.row_bytes)) {
            let (place, bytes) = (self.place(part.x.start, y), part.x.len() * self.element_bytes as usize);
            if place + bytes <= 4 * cells.len() {
                let to = cells.as_ptr().cast::<u8>().cast_mut().wrapping_add(place);
                // SAFETY: as above; `bytes` bytes are there, and other threads write others of the cells.
                unsafe { with(isa, Store(self.form, from, std::slice::from_raw_parts_mut(to, bytes))) };
            }
        }
    }

    /// The whole blocks of a part.
    pub fn whole_blocks(&self, part: &PanelPart) -> PanelPart {
        let [step, rows] = self.blocks.as_ref().map_or([1; 2], |of| [of.shape.step(), of.shape.rows]);
        let inner = |of: &Range<u32>, step: u32| {
            let start = of.start.next_multiple_of(step).min(of.end);
            start..(of.end / step * step).max(start)
        };
        PanelPart { x: inner(&part.x, step), y: inner(&part.y, rows) }
    }

    /// Copies a part of elements out of a panel; sums only parts of whole blocks.
    pub fn write_elements(&self, cells: &[AtomicU32], part: &PanelPart, panel: &Panel, from: &[u8], way: Way) {
        let past_caches = way.past_caches && cells.as_ptr().addr().is_multiple_of(LINE);
        let array = (cells.as_ptr().cast::<u8>().cast_mut(), 4 * cells.len());
        let way = Way { reads: false, past_caches, ..way };
        self.exchange(way, part, array, (panel, from.as_ptr().cast_mut(), from.len()));
    }

    /// Copies a part of elements into the rows of another array; sums only parts of whole blocks.
    pub fn read_rows(&self, bytes: &[u8], part: &PanelPart, (cells, pitch): (&[AtomicU32], u32), way: Way) {
        let to = (cells.as_ptr().cast::<u8>().cast_mut(), 4 * cells.len());
        let array = (bytes.as_ptr().cast_mut(), bytes.len());
        let rows = self.rows(to.1, pitch);
        let past_caches = way.past_caches && to.0.addr().is_multiple_of(LINE) && rows.row_bytes.is_multiple_of(LINE);
        self.exchange(Way { reads: true, past_caches, ..way }, part, array, (&rows, to.0, to.1));
    }

    /// The rows of another array of such elements, which has `bytes` bytes, as a panel.
    pub fn rows(&self, bytes: usize, pitch: u32) -> Panel {
        let row_bytes = pitch as usize * self.element_bytes as usize;
        Panel {
            origin: 0,
            pitch: pitch.into(),
            bytes,
            first: [0; 2],
            rows: (bytes / row_bytes.max(1)) as u32,
            row_bytes,
        }
    }

    /// Moves a part of elements between the array and a panel, nothing beside it. The destination is cells, of which
    /// other threads write others.
    #[allow(unsafe_code, reason = "elements are moved several at once")]
    fn exchange(&self, way: Way, part: &PanelPart, array: (*mut u8, usize), elements: InMemory<'_>) {
        let mut whole = self.whole_blocks(part);
        debug_assert!(!way.sums || whole == *part, "what lies in a part of a block is moved as it is");
        match &self.blocks {
            // SAFETY: with `is_wide` the processor has AVX2; both sides may be read, and the side that is written may be written.
            Some(blocks) => unsafe { blocks.transfer(way, whole.clone(), array, elements) },
            None => whole.x = part.x.end..part.x.end,
        }
        let side_by_side = self.blocks.as_ref().map_or(u32::MAX, |blocks| blocks.shape.columns);
        for around in part.around(&whole) {
            for y in around.y {
                let mut x = around.x.start;
                while x < around.x.end {
                    let next = (x / side_by_side + 1).saturating_mul(side_by_side).min(around.x.end);
                    self.run(way, x..next, y, array, elements);
                    x = next;
                }
            }
        }
    }

    /// Moves elements that lie side by side.
    #[allow(unsafe_code, reason = "cells are written byte by byte")]
    fn run(&self, way: Way, x: Range<u32>, y: u32, array: (*mut u8, usize), (panel, first, bytes): InMemory<'_>) {
        let place = match &self.blocks {
            Some(blocks) => blocks.tiles.offset(x.start, y).map(|place| place as usize),
            None => Some(self.place(x.start, y)),
        };
        let count = x.len() * self.element_bytes as usize;
        let (Some(at), other) = (place, panel.offset([x.start, y], self.element_bytes)) else { return };
        if at + count <= array.1 && other + count <= bytes {
            let (array, panel) = (array.0.wrapping_add(at), first.wrapping_add(other));
            let (from, to) = if way.reads { (array, panel) } else { (panel, array) };
            // SAFETY: `count` bytes are there on both sides; other threads write others of the cells.
            unsafe { to.copy_from_nonoverlapping(from, count) }
        }
    }
}

/// Ends stores that bypass the caches.
#[allow(unsafe_code, reason = "an instruction is asked for")]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all x86-64 processors have it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Whether blocks are moved by vectors of 256 bits.
pub const fn is_wide(isa: Isa) -> bool {
    cfg!(target_arch = "x86_64") && !matches!(isa, Isa::Four)
}
