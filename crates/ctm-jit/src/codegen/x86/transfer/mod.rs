//! Rectangles of arrays that code does not take where they lie: of tiles, read and written, and of elements of 8 and 16 bits that are converted before code reads them.
//!
//! In a tile, elements that are neighbours lie together in *blocks*: some columns of some rows, row by row. Routines that are the same for all programs take blocks
//! apart and put them together, a row of blocks in one call; others convert whole lines of 64 bytes. The former take whole lines of 64 bytes, too: two blocks,
//! or one. What covers a block in part is moved in runs of bytes that lie together, so nothing beside it is touched.

use super::isa::Isa;
use blocks::{BlockRows, Blocks, Shape};
use ctm_exec::arrays::{Elements, Form};
pub use panel::{Panel, Part};
pub use routines::{Decoding, MAGIC, SWAP, largest};
use routines::{FORMS, Routines};
pub use rows::TileRows;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

mod blocks;
mod panel;
mod routines;
mod rows;

/// Bytes of a line, what conversions go by.
const LINE: usize = 64;

/// An array that code does not read or write where it lies.
#[derive(Clone)]
pub struct Stored {
    routines: &'static Routines,
    /// What is converted.
    form: Option<usize>,
    element_bytes: u32,
    channels: u8,
    pitch: u32,
    blocks: Option<Blocks>,
}

impl Stored {
    /// How an array of so many bytes is stored; nothing where numbers lie row by row, and `None` where it cannot be read or written so.
    #[allow(clippy::option_option, reason = "two answers")]
    pub fn of<B>(isa: Isa, array: &Elements<B>, bytes: usize) -> Option<Option<Self>> {
        let element_bytes = array.form.element_bytes(array.channels);
        let form = FORMS.iter().position(|&form| form == array.form);
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
                Some(Some(Self { routines: Routines::of(isa)?, form, element_bytes, channels, pitch, blocks }))
            }
        }
    }

    /// Rows of a tile.
    pub fn tile_rows(&self) -> Option<u32> {
        self.blocks.as_ref().map(|blocks| blocks.tile[1])
    }

    /// The same with elements that remain as they are; nothing where they lie row by row.
    pub fn unconverted(self) -> Option<Self> {
        self.blocks.is_some().then_some(Self { form: None, ..self })
    }

    /// Bytes of an element for the code.
    const fn read_bytes(&self) -> u32 {
        if self.form.is_some() { 4 * self.channels as u32 } else { self.element_bytes }
    }

    /// Bytes that an element takes in a panel.
    pub const fn panel_bytes(&self) -> u32 {
        self.read_bytes() + if self.form.is_some() { self.element_bytes } else { 0 }
    }

    /// The panel for a part.
    pub fn panel(&self, part: &Part) -> Panel {
        let [step, rows] = self.blocks.as_ref().map_or([1; 2], |of| [of.shape().step(), of.shape().rows]);
        let first = [part.x.start / step * step, part.y.start / rows * rows];
        let width = part.x.end.next_multiple_of(step) - first[0];
        let rows = part.y.end.next_multiple_of(rows) - first[1];
        // An odd number of lines: then rows do not share a place in caches.
        let row_bytes = ((width * self.element_bytes) as usize).next_multiple_of(LINE) | LINE;
        let pitch = row_bytes as i64 / i64::from(self.element_bytes);
        let size = i64::from(self.read_bytes());
        let origin = -size * (i64::from(first[0]) + i64::from(first[1]) * pitch);
        let each = self.panel_bytes() as usize;
        Panel { origin, pitch, bytes: pitch as usize * rows as usize * each, first, rows, row_bytes }
    }

    /// Where the part of a panel that has numbers ends; behind it are elements as they are stored, if those are no numbers.
    const fn split(&self, panel: &Panel) -> usize {
        if self.form.is_some() { panel.bytes - panel.row_bytes * panel.rows as usize } else { 0 }
    }

    /// Copies a part of the array into its panel.
    pub fn read(&self, bytes: &[u8], part: &Part, panel: &Panel, to: &mut [u8]) {
        let (numbers, elements) = to[..panel.bytes].split_at_mut(self.split(panel));
        if let Some(blocks) = &self.blocks {
            let ([x, y], shape) = (panel.first, blocks.shape());
            let x = x..part.x.end.next_multiple_of(shape.step());
            let whole = Part { x, y: y..part.y.end.next_multiple_of(shape.rows) };
            self.move_blocks(0, whole, (bytes.as_ptr(), bytes.len()), (panel, elements.as_mut_ptr(), elements.len()));
        } else {
            panel.copy((bytes, self.pitch, self.element_bytes), part, elements);
        }
        self.convert(elements, numbers);
    }

    /// Copies a part, whose elements remain as they are, out of its panel. `past_caches`: whole blocks pass the caches by; then [`Self::fence`] has to follow.
    pub fn write(&self, cells: &[AtomicU32], part: &Part, panel: &Panel, elements: &[u8], past_caches: bool) {
        let Some(blocks) = &self.blocks else { return };
        let past_caches = past_caches && cells.as_ptr().addr().is_multiple_of(LINE);
        let (&Shape { rows, columns, .. }, step) = (blocks.shape(), blocks.shape().step());
        // What consists of whole blocks, and what is left around it.
        let inner = |of: &Range<u32>, step: u32| {
            let start = of.start.next_multiple_of(step).min(of.end);
            start..(of.end / step * step).max(start)
        };
        let whole = Part { x: inner(&part.x, step), y: inner(&part.y, rows) };
        let routine = if past_caches { 2 } else { 1 };
        let (array, from) = ((cells.as_ptr().cast(), 4 * cells.len()), (panel, elements.as_ptr(), elements.len()));
        self.move_blocks(routine, whole.clone(), array, from);
        for y in part.y.clone() {
            let sides = if whole.y.contains(&y) {
                [part.x.start..whole.x.start, whole.x.end..part.x.end]
            } else {
                [part.x.clone(), 0..0]
            };
            for side in sides {
                let mut x = side.start;
                while x < side.end {
                    let next = (x / columns + 1) * columns;
                    self.run(cells, x..next.min(side.end), y, (panel, elements));
                    x = next;
                }
            }
        }
    }

    /// Moves whole blocks from an array of so many bytes to a panel of so many (0), or back (1), or back past the caches (2).
    fn move_blocks(&self, way: usize, whole: Part, array: (*const u8, usize), to: (&Panel, *const u8, usize)) {
        let Some(blocks) = &self.blocks else { return };
        let (panel, first, bytes) = to;
        for part in blocks.by_tiles(whole) {
            let place = panel.offset([part.x.start, part.y.start], self.element_bytes);
            if blocks.are_held(&part, array.1, panel, bytes.saturating_sub(place)) {
                let mut rows = blocks.rows(array.0, &part, panel);
                let steps = part.x.len() / blocks.shape().step() as usize;
                let routine = self.routines.blocks[blocks.shape][way];
                self.call(routine, array.0, first.wrapping_add(place), steps, Some(&mut rows));
            }
        }
    }

    /// Copies elements that lie side by side out of a panel.
    fn run(&self, cells: &[AtomicU32], x: Range<u32>, y: u32, (panel, from): (&Panel, &[u8])) {
        let place =
            self.blocks.as_ref().and_then(|blocks| blocks.tiles.offset(x.start, y)).map(|offset| offset as usize);
        let bytes = x.len() * self.element_bytes as usize;
        let first = panel.offset([x.start, y], self.element_bytes);
        let (Some(place), Some(from)) = (place, from.get(first..first + bytes)) else { return };
        if place + bytes <= 4 * cells.len() {
            let to = cells.as_ptr().cast::<u8>().wrapping_add(place);
            self.call(self.routines.bytes, to, from.as_ptr(), bytes, None);
        }
    }

    /// Whole lines from elements to numbers.
    fn convert(&self, from: &[u8], to: &mut [u8]) {
        let Some(form) = self.form else { return };
        let lines = from.len() / LINE;
        let each = LINE * self.read_bytes() as usize / self.element_bytes as usize;
        if lines > 0 && to.len() >= lines * each {
            self.call(self.routines.forms[form], from.as_ptr(), to.as_ptr(), lines, None);
        }
    }

    /// Ends stores that pass the caches by.
    pub fn fence(&self) {
        self.call(self.routines.fence, std::ptr::null(), std::ptr::null(), 0, None);
    }

    #[allow(unsafe_code, reason = "machine code is called")]
    fn call(&self, routine: usize, first: *const u8, second: *const u8, count: usize, rows: Option<&mut BlockRows>) {
        let entry = self.routines.entry(routine);
        // SAFETY: callers have compared what the routine reads and writes with the slices that these pointers begin, of which those that it writes are
        // borrowed for that, or cells that other threads may write, but not the same bytes.
        unsafe { entry(first, second, count, rows) }
    }
}
