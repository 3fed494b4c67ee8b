//! Runs kernels: fills in addresses and steps, and calls the code.

use super::super::transfer::{PanelPart, Stored, TileRows, fence};
use super::Frame;
use super::panels::{Origin, Origins};
use super::tiles::columns;
use super::types::{Base, Geometry, Kernel, SLOT, Slot, at, bytes, slot_at, table};
use crate::codegen::x86::mode::{forget_underflow, underflowed};
use crate::codegen::x86::{CacheLine, flushing};
use crate::launch::lanes::LANES;
use crate::stream::affine::{LOOPS, Linear};
use ctm_exec::Position;
use ctm_exec::arrays::{Elements, Form};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::sync::atomic::AtomicU32;

/// An array that code reads or writes.
pub struct View<'a, T> {
    /// Its bytes or dwords, from element (0, 0) on; threads write different dwords.
    pub data: &'a [T],
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Columns that may be reached.
    pub width: u32,
    /// Rows that may be reached.
    pub height: u32,
    /// Channels: 1, 2 or 4.
    pub channels: u8,
    /// The form of the elements.
    pub form: Form,
    /// The layout of elements, if not numbers row by row.
    pub stored: Option<Stored>,
}

/// An input.
pub type InputView<'a> = View<'a, u8>;

/// An output.
pub type OutputView<'a> = View<'a, AtomicU32>;

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        Self { stored: self.stored.clone(), ..*self }
    }
}

impl<'a, T> View<'a, T> {
    /// A view of an array, of which `width` columns and `height` rows may be reached; `None` where streams do not
    /// support the array.
    pub fn new(array: &Elements<&'a [T]>, [width, height]: [u32; 2]) -> Option<Self> {
        let (data, pitch, channels, form) = (array.bytes, array.pitch, array.channels, array.form);
        let fits = width <= array.width && height <= array.height && matches!(channels, 1 | 2 | 4);
        let stored = Stored::of(array, size_of_val(data)).filter(|_| fits)?;
        Some(Self { data, pitch, width, height, channels, form, stored })
    }

    /// Whole tiles of it as rows.
    fn as_rows(&self, whole: &PanelPart) -> Option<Self> {
        let TileRows { first, columns: width, rows: height, pitch } = self.stored.as_ref()?.as_rows(whole)?;
        let data = self.data.get(first / size_of::<T>()..)?;
        let stored = self.stored.as_ref().and_then(|stored| stored.in_rows(pitch));
        Some(Self { data, pitch, width, height, stored, ..*self })
    }

    /// Bytes of an element.
    pub const fn element_bytes(&self) -> u64 {
        self.form.element_bytes(self.channels) as u64
    }
}

impl<'a> OutputView<'a> {
    /// A view of an array that holds `last`, the last element written; `None` where streams do not write such arrays,
    /// or not all channels may be written.
    pub fn of(array: &Elements<&'a [AtomicU32]>, last: Position) -> Option<Self> {
        let view = Self::new(array, [last.i + 1, last.j + 1])?;
        let all = (1u32 << array.channels) - 1;
        (u32::from(array.mask) & all == all).then_some(view)
    }
}

/// The arrays that a launch reads and writes.
#[derive(Clone, Default)]
pub struct Surfaces<'a> {
    /// Inputs that are fetched.
    pub inputs: [Option<InputView<'a>>; INPUTS],
    /// Outputs that are written.
    pub outputs: [Option<OutputView<'a>>; OUTPUTS],
}

impl Surfaces<'_> {
    /// The whole tiles of this part of the domain, the count of columns and rows, and all surfaces with these tiles as
    /// rows; `None` where the surfaces are not tiled alike, or no tile is whole. `least`: at least this number of
    /// columns is left at a side, or none.
    pub fn as_rows(&self, part: &PanelPart, least: u32) -> Option<(PanelPart, [u32; 2], Self)> {
        let inputs = || self.inputs.iter().flatten();
        let mut all = inputs().map(|view| &view.stored).chain(self.outputs.iter().flatten().map(|view| &view.stored));
        let first = all.next()?.as_ref()?;
        let whole = first.whole_tiles(part, least)?;
        let alike = all.all(|stored| stored.as_ref().is_some_and(|stored| stored.lies_like(first, &whole)));
        let inside = inputs().all(|view| whole.x.end <= view.width && whole.y.end <= view.height);
        if !alike || !inside {
            return None;
        }
        let TileRows { columns, rows: count, .. } = first.as_rows(&whole)?;
        let mut surfaces = self.clone();
        for view in surfaces.inputs.iter_mut().flatten() {
            *view = view.as_rows(&whole)?;
        }
        for view in surfaces.outputs.iter_mut().flatten() {
            *view = view.as_rows(&whole)?;
        }
        Some((whole, [columns, count], surfaces))
    }
}

/// Tiles to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Column of the first one.
    pub i: u32,
    /// Row of the first one.
    pub j: u32,
    /// Tiles side by side, at least one.
    pub tiles: u32,
    /// Tiles one below the other, at least one.
    pub rows: u32,
}

/// The smallest and the largest value over an area and all iterations.
pub(super) fn range(of: &Linear, columns: [i64; 2], rows: [i64; 2], iterations: &[u16; LOOPS]) -> [i64; 2] {
    let mut range = [of.c; 2];
    let mut add = |step: i64, [first, last]: [i64; 2]| {
        let ends = [step * first, step * last];
        range[0] += ends[0].min(ends[1]);
        range[1] += ends[0].max(ends[1]);
    };
    add(of.i, columns);
    add(of.j, rows);
    for (step, &iterations) in of.iterations.iter().zip(iterations) {
        add(*step, [0, i64::from(iterations.max(1)) - 1]);
    }
    range
}

impl Kernel {
    /// A frame for this code, with its constant fields.
    pub fn frame(&self) -> Frame {
        let mut frame = Frame::new(self.layout.size);
        let lanes = self.target.lanes;
        let mut lane_of = [0; LANES];
        if !self.packed {
            (0..lanes).for_each(|lane| lane_of[self.column(lane)] = lane);
        }
        // Elements of a channel after one shuffle of two vectors of pairs, quarter by quarter: two elements of the
        // first vector, two of the second; and the new place of an element.
        let half = lanes / 2;
        let pair = |place: usize| 2 * (place / 4) + half * (place / 2 % 2) + place % 2;
        let place = |element: usize| 4 * (element % half / 2) + 2 * (element / half) + element % 2;
        let entry = |row: usize, lane: usize| match row {
            table::READ => self.column(lane),
            table::WRITE => lane_of[lane],
            table::READ_PAIRS => place(self.column(lane)),
            _ => lane_of[pair(lane)],
        };
        for row in 0..table::ROWS {
            let entries = std::array::from_fn(|lane| entry(row, lane % lanes) as u32);
            frame.put_row(self.layout.tables + 64 * row as i32, &entries);
        }
        let each = self.each();
        for vector in 0..usize::from(self.options.tile.vectors) {
            let row = std::array::from_fn(|lane| (each * vector + self.column(lane % lanes)) as u32);
            frame.put_row(self.layout.lanes + 64 * vector as i32, &row);
        }
        frame
    }

    /// Columns of a vector.
    const fn each(&self) -> usize {
        columns(self.target.target, self.packed) as usize
    }

    /// The column of a lane among its vector's.
    const fn column(&self, lane: usize) -> usize {
        match (self.packed, self.transposed) {
            (true, _) => lane / 4,
            (false, true) => self.target.target.lanes / 4 * (lane % 4) + lane / 4,
            (false, false) => lane,
        }
    }

    /// The address of a slot, and its steps, in bytes or as numbers.
    fn steps(&self, slot: &Slot, rect: &Rect, origins: &Origins, constants: &[u32]) -> Option<[i64; SLOT]> {
        let elements = |origin: &Option<Origin>, channels: u8| {
            let size = i64::from(bytes(channels));
            origin.map(|Origin { address, pitch }| (address, size, size * pitch))
        };
        // The origin, and the weights of columns and rows.
        let (base, column, row) = match slot.base {
            Base::Input(input) => {
                elements(&origins.inputs[usize::from(input)], self.geometry.inputs[usize::from(input)])?
            }
            Base::Output(target) => {
                elements(&origins.outputs[usize::from(target)], self.geometry.outputs[usize::from(target)])?
            }
            Base::Constants => (constants.as_ptr() as i64, 16, 0),
            Base::Zero => (0, 1, 0),
        };
        let sum = |of: &dyn Fn(&Linear) -> i64| of(&slot.x) * column + of(&slot.y) * row;
        let (i, j) = (i64::from(rect.i), i64::from(rect.j));
        let tile = sum(&|l| l.i) * i64::from(self.columns);
        let mut numbers = [0; SLOT];
        numbers[0] = base + sum(&|l| l.c + l.i * i + l.j * j);
        numbers[1] = tile;
        numbers[2] = sum(&|l| l.j) * i64::from(self.options.tile.rows) - tile * i64::from(rect.tiles);
        (0..LOOPS).for_each(|depth| numbers[3 + depth] = sum(&|l| l.iterations[depth]));
        Some(numbers)
    }

    /// Whether all accesses of the code lie within its arrays.
    fn is_inside(&self, rect: &Rect, surfaces: &Surfaces<'_>, constants: &[u32]) -> bool {
        let (i, j) = (i64::from(rect.i), i64::from(rect.j));
        let columns = [i, i + i64::from(rect.tiles) * i64::from(self.columns) - 1];
        let rows = [j, j + i64::from(rect.rows) * i64::from(self.options.tile.rows) - 1];
        let fetches = self.fetches.iter().all(|fetch| {
            surfaces.inputs[usize::from(fetch.input)].as_ref().is_some_and(|view| {
                let last = (i64::from(view.height) - 1) * i64::from(view.pitch) + i64::from(view.width);
                let exists = view.width.min(view.height) > 0;
                let bytes = last as u64 * view.element_bytes();
                let is_long = view.width <= view.pitch && bytes <= view.data.len() as u64;
                exists && (view.stored.is_some() || is_long) && view.channels == self.geometry.input(fetch)
            })
        });
        let outputs = self.geometry.outputs.iter().zip(&surfaces.outputs).all(|(&channels, view)| {
            channels == 0
                || view.as_ref().is_some_and(|view| {
                    let is_same = view.channels == channels;
                    if view.stored.is_some() {
                        return is_same && !self.options.past_caches;
                    }
                    let last = rows[1] * i64::from(view.pitch) + columns[1] + 1;
                    let aligned = |x: u64| !self.options.past_caches || x.is_multiple_of(self.target.bytes() as u64);
                    let size = view.element_bytes();
                    is_same
                        && columns[1] < i64::from(view.pitch)
                        && last as u64 * size <= 4 * view.data.len() as u64
                        && aligned(view.data.as_ptr() as u64)
                        && aligned(size * u64::from(view.pitch))
                        && aligned(size * u64::from(rect.i))
                })
        });
        fetches && outputs && self.constants <= constants.len()
    }

    /// Runs tiles; `false` when they would reach outside of the arrays, or a result may differ from the reference's: then all has to be run otherwise. `large`: panels of outputs are
    /// stored past the caches.
    pub fn run(&self, frame: &mut Frame, rect: &Rect, surfaces: &Surfaces<'_>, constants: &[u32], large: bool) -> bool {
        if rect.tiles == 0 || rect.rows == 0 || !self.is_inside(rect, surfaces, constants) {
            return false;
        }
        frame.put(at::CONSTANTS, &(constants.as_ptr() as usize).to_le_bytes());
        let pieces = if self.copy(rect, surfaces, large) { Vec::new() } else { self.pieces(rect, surfaces) };
        for piece in pieces {
            let Some(origins) = self.fill(frame, &piece, surfaces) else { return false };
            if !self.run_piece(frame, &piece, &origins, constants) {
                return false;
            }
            self.write_back(&origins, frame, surfaces, large);
        }
        if large || self.options.past_caches {
            fence();
        }
        true
    }

    /// Runs tiles whose elements are in place; `false` when a result may differ from the reference's ([`underflowed`]).
    #[allow(unsafe_code, reason = "machine code is called")]
    fn run_piece(&self, frame: &mut Frame, rect: &Rect, origins: &Origins, constants: &[u32]) -> bool {
        forget_underflow();
        frame.put(at::TILES, &rect.tiles.to_le_bytes());
        frame.put(at::ROWS_LEFT, &rect.rows.to_le_bytes());
        for (number, slot) in self.slots.iter().enumerate() {
            let Some(numbers) = self.steps(slot, rect, origins, constants) else { return false };
            frame.put(slot_at(number), numbers.map(i64::to_le_bytes).as_flattened());
        }
        #[cfg(target_arch = "x86_64")]
        type Entry = unsafe extern "sysv64" fn(*mut CacheLine);
        #[cfg(not(target_arch = "x86_64"))]
        type Entry = unsafe extern "C" fn(*mut CacheLine);
        // SAFETY: the text is code that `emit` made for this signature; it is mapped executable, and `self` owns it.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.text.as_ptr()) };
        // SAFETY: the frame has the layout's size. The code reads constants and inputs and writes outputs at the slots'
        // addresses: `is_inside` and `fill` have checked that all of these lie within the slices, which outlive the
        // call, and panels hold all elements that are read and written of their arrays; relative constants were checked
        // against the readable range when the program was analysed. Outputs are cells; other threads may write, but not
        // the same ones.
        flushing(|| unsafe { entry(frame.bytes.as_mut_ptr()) });
        !underflowed()
    }
}

impl Geometry {
    /// The geometry of a launch's arrays.
    pub fn of(surfaces: &Surfaces<'_>) -> Self {
        Self {
            inputs: surfaces.inputs.each_ref().map(|view| view.as_ref().map_or(0, |view| view.channels)),
            outputs: surfaces.outputs.each_ref().map(|view| view.as_ref().map_or(0, |view| view.channels)),
        }
    }
}
