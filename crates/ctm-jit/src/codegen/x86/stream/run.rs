//! Runs kernels: fills in addresses and steps, and calls the code.

use super::super::transfer::{Part, Stored, TileRows};
use super::memory::table;
use super::panels::{Origin, Origins};
use super::tiles::columns;
use super::{Base, Frame, Kernel, SLOT, Slot, at, slot_at};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::{Line, MXCSR};
use crate::launch::lanes::LANES;
use crate::stream::affine::{Fetch, LOOPS, Linear};
use ctm_exec::Position;
use ctm_exec::arrays::{Elements, Form};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::sync::atomic::AtomicU32;

/// An input.
#[derive(Clone)]
pub struct InputView<'a> {
    /// The bytes, from element (0, 0) on.
    pub bytes: &'a [u8],
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Columns that may be read.
    pub width: u32,
    /// Rows that may be read.
    pub height: u32,
    /// Channels of an element: 1, 2 or 4.
    pub channels: u8,
    /// What elements are for the code.
    pub form: Form,
    /// How it is stored, if not so, row by row.
    pub stored: Option<Stored>,
}

/// An output.
#[derive(Clone)]
pub struct OutputView<'a> {
    /// Its dwords; threads write different ones.
    pub cells: &'a [AtomicU32],
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Channels of an element: 1, 2 or 4.
    pub channels: u8,
    /// What elements are.
    pub form: Form,
    /// How they are stored, if not row by row.
    pub stored: Option<Stored>,
}

impl<'a> InputView<'a> {
    /// Of an array, of which so many columns and rows may be read; `None` where streams do not read such arrays.
    pub fn of(isa: Isa, array: &Elements<&'a [u8]>, [width, height]: [u32; 2]) -> Option<Self> {
        let (bytes, pitch, channels) = (array.bytes, array.pitch, array.channels);
        let fits = width <= array.width && height <= array.height && matches!(channels, 1 | 2 | 4);
        let stored = Stored::of(isa, array, bytes.len()).filter(|_| fits)?;
        Some(Self { bytes, pitch, width, height, channels, form: array.form, stored })
    }

    /// How the code reads it that takes its elements as numbers of this form.
    pub fn read_as(&mut self, form: Form) {
        if self.form == form {
            self.stored = self.stored.take().and_then(Stored::unconverted);
        }
        self.form = form;
    }

    /// Whole tiles of it as rows.
    fn as_rows(&self, of: &TileRows) -> Option<Self> {
        let bytes = self.bytes.get(of.first..)?;
        Some(Self { bytes, pitch: of.pitch, width: of.columns, height: of.rows, stored: None, ..self.clone() })
    }

    /// Bytes of an element for the code.
    pub fn element_bytes(&self) -> u32 {
        self.form.element_bytes(self.channels)
    }
}

impl<'a> OutputView<'a> {
    /// Whole tiles of it as rows.
    fn as_rows(&self, of: &TileRows) -> Option<Self> {
        let cells = self.cells.get(of.first / 4..)?;
        Some(Self { cells, pitch: of.pitch, stored: None, ..self.clone() })
    }

    /// Of an array whose last element that is written lies there; `None` where streams do not write such arrays, or not all channels may be
    /// written.
    pub fn of(isa: Isa, array: &Elements<&'a [AtomicU32]>, last: Position) -> Option<Self> {
        let (cells, pitch, channels) = (array.bytes, array.pitch, array.channels);
        let all = (1u32 << channels) - 1;
        let fits = last.i < array.width && last.j < array.height && matches!(channels, 1 | 2 | 4);
        let stored = Stored::of(isa, array, 4 * cells.len()).filter(|_| fits && u32::from(array.mask) & all == all)?;
        let stored = stored.and_then(Stored::unconverted);
        Some(Self { cells, pitch, channels, form: array.form, stored })
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        self.form.element_bytes(self.channels).into()
    }
}

/// What a launch reads and writes.
#[derive(Clone, Default)]
pub struct Surfaces<'a> {
    /// Inputs that are fetched.
    pub inputs: [Option<InputView<'a>>; INPUTS],
    /// Outputs that are written.
    pub outputs: [Option<OutputView<'a>>; OUTPUTS],
}

impl Surfaces<'_> {
    /// Whole tiles of this part of the domain, and all surfaces with these as rows, of which there are so many columns and rows; `None` where the surfaces are no tiles that lie alike, or there is no whole one. `least`: so many columns are
    /// left at a side, or none.
    pub fn as_rows(&self, part: &Part, least: u32) -> Option<(Part, [u32; 2], Self)> {
        let inputs = || self.inputs.iter().flatten();
        let mut all = inputs().map(|view| &view.stored).chain(self.outputs.iter().flatten().map(|view| &view.stored));
        let first = all.next()?.as_ref()?;
        let whole = first.whole_tiles(part, least)?;
        let alike = all.all(|stored| stored.as_ref().is_some_and(|stored| stored.lies_like(first, &whole)));
        let inside = inputs().all(|view| whole.x.end <= view.width && whole.y.end <= view.height);
        if !alike || !inside {
            return None;
        }
        let rows = |stored: &Option<Stored>| stored.as_ref().and_then(|stored| stored.as_rows(&whole));
        let TileRows { columns, rows: count, .. } = first.as_rows(&whole)?;
        let mut surfaces = self.clone();
        for view in surfaces.inputs.iter_mut().flatten() {
            *view = view.as_rows(&rows(&view.stored)?)?;
        }
        for view in surfaces.outputs.iter_mut().flatten() {
            *view = view.as_rows(&rows(&view.stored)?)?;
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

/// Whether no column that the fetch reads has to be clamped, for these columns and rows of the domain.
pub fn columns_inside(fetch: &Fetch, columns: [i64; 2], rows: [i64; 2], width: u32) -> bool {
    let [first, last] = range(&fetch.x, columns, rows, &fetch.iterations);
    first >= 0 && last < i64::from(width)
}

/// The same for rows.
pub fn rows_inside(fetch: &Fetch, columns: [i64; 2], rows: [i64; 2], height: u32) -> bool {
    let [first, last] = range(&fetch.y, columns, rows, &fetch.iterations);
    first >= 0 && last < i64::from(height)
}

impl Kernel {
    /// A frame for this code, with what never changes in it.
    pub fn frame(&self) -> Frame {
        let mut frame = Frame::new(self.layout.size);
        frame.put(at::MXCSR, &MXCSR.to_le_bytes());
        let lanes = self.isa.lanes();
        let mut lane_of = [0; LANES];
        if !self.packed {
            (0..lanes).for_each(|lane| lane_of[self.column(lane)] = lane);
        }
        // What one shuffle of two vectors of pairs leaves of a channel: element 0, 1, 4, 5, 2, 3, 6, 7. It is its own inverse.
        let order = |place: usize| 2 * (place / 4) + 4 * (place / 2 % 2) + place % 2;
        let entry = |row: usize, lane: usize| match (row, self.isa) {
            (table::READ, _) => self.column(lane),
            (table::WRITE, _) => lane_of[lane],
            (table::CHANNEL, _) => lane % 4,
            (table::SHIFTS.., _) => self.form_entry(row, lane),
            (table::READ_PAIRS..table::WRITE_PAIRS, Isa::Avx512) => 2 * self.column(lane) + row - table::READ_PAIRS,
            (table::READ_PAIRS..table::WRITE_PAIRS, Isa::Avx2) => order(self.column(lane)),
            (_, Isa::Avx512) => lane_of[LANES / 2 * (row - table::WRITE_PAIRS) + lane / 2] + LANES * (lane % 2),
            (_, Isa::Avx2) => lane_of[order(lane)],
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
        columns(self.isa, self.packed) as usize
    }

    /// The column of a lane among its vector's.
    const fn column(&self, lane: usize) -> usize {
        match (self.packed, self.transposed) {
            (true, _) => lane / 4,
            (false, true) => self.isa.lanes() / 4 * (lane % 4) + lane / 4,
            (false, false) => lane,
        }
    }

    /// Where a slot begins, and its steps, in bytes or as numbers.
    fn steps(&self, slot: &Slot, rect: &Rect, origins: &Origins, constants: &[u32]) -> Option<[i64; SLOT]> {
        let elements = |origin: &Option<Origin>, size: i32| {
            origin.map(|Origin { address, pitch }| (address, i64::from(size), i64::from(size) * pitch))
        };
        // Where it counts from, and what columns and rows weigh.
        let (base, column, row) = match slot.base {
            Base::Input(input) => elements(&origins.inputs[usize::from(input)], self.geometry.input_bytes(input))?,
            Base::Output(target) => {
                elements(&origins.outputs[usize::from(target)], self.geometry.output_bytes(target.into()))?
            }
            Base::Constants => (constants.as_ptr() as i64, 16, 0),
            Base::Zero => (0, 1, 0),
        };
        let sum = |of: &dyn Fn(&Linear) -> i64| of(&slot.x) * column + of(&slot.y) * row;
        let (i, j) = (i64::from(rect.i), i64::from(rect.j) + i64::from(slot.row));
        let tile = sum(&|l| l.i) * i64::from(self.columns);
        let mut numbers = [0; SLOT];
        numbers[0] = base + sum(&|l| l.c + l.i * i + l.j * j);
        numbers[1] = tile;
        numbers[2] = sum(&|l| l.j) * i64::from(self.options.tile.rows) - tile * i64::from(rect.tiles);
        (0..LOOPS).for_each(|depth| numbers[3 + depth] = sum(&|l| l.iterations[depth]));
        Some(numbers)
    }

    /// Whether everything that the code touches lies where it should.
    fn is_inside(&self, rect: &Rect, surfaces: &Surfaces<'_>, constants: &[u32]) -> bool {
        let (i, j) = (i64::from(rect.i), i64::from(rect.j));
        let columns = [i, i + i64::from(rect.tiles) * i64::from(self.columns) - 1];
        let rows = [j, j + i64::from(rect.rows) * i64::from(self.options.tile.rows) - 1];
        let fetches = self.fetches.iter().all(|fetch| {
            surfaces.inputs[usize::from(fetch.input)].as_ref().is_some_and(|view| {
                let last = (i64::from(view.height) - 1) * i64::from(view.pitch) + i64::from(view.width);
                let exists = view.width.min(view.height) > 0;
                // Gathers read whole dwords.
                let bytes = (last as u64 * u64::from(view.element_bytes())).next_multiple_of(4);
                let is_long = view.width <= view.pitch && bytes <= view.bytes.len() as u64;
                let holds = exists && (view.stored.is_some() || is_long);
                // Gathers count elements in 32 bits.
                let small = last * i64::from(view.channels) < i64::from(i32::MAX);
                let safe = self.options.careful
                    || (columns_inside(fetch, columns, rows, view.width)
                        && rows_inside(fetch, columns, rows, view.height));
                let input = usize::from(fetch.input);
                let is_same =
                    (view.channels, view.form) == (self.geometry.inputs[input], self.geometry.input_forms[input]);
                holds && small && safe && is_same
            })
        });
        let outputs = (0..OUTPUTS).all(|target| {
            let (channels, view) = (self.geometry.outputs[target], &surfaces.outputs[target]);
            channels == 0
                || view.as_ref().is_some_and(|view| {
                    let is_same = view.channels == channels && view.form == self.geometry.output_forms[target];
                    if view.stored.is_some() {
                        return is_same && !self.options.past_caches;
                    }
                    let last = rows[1] * i64::from(view.pitch) + columns[1] + 1;
                    let aligned = |x: u64| !self.options.past_caches || x.is_multiple_of(self.isa.bytes() as u64);
                    let size = view.element_bytes();
                    is_same
                        && columns[1] < i64::from(view.pitch)
                        && last as u64 * size <= 4 * view.cells.len() as u64
                        && aligned(view.cells.as_ptr() as u64)
                        && aligned(size * u64::from(view.pitch))
                        && aligned(size * u64::from(rect.i))
                })
        });
        fetches && outputs && self.constants <= constants.len()
    }

    /// Runs tiles; `false`, and nothing has happened, when they would reach beyond what is there. `past_caches`: what panels hold of outputs passes the caches by.
    pub fn run(
        &self,
        frame: &mut Frame,
        rect: &Rect,
        surfaces: &Surfaces<'_>,
        constants: &[u32],
        past_caches: bool,
    ) -> bool {
        if rect.tiles == 0 || rect.rows == 0 || !self.is_inside(rect, surfaces, constants) {
            return false;
        }
        frame.put(at::CONSTANTS, &(constants.as_ptr() as usize).to_le_bytes());
        for (input, view) in surfaces.inputs.iter().enumerate() {
            let Some(view) = view else { continue };
            let at = at::INPUTS + 32 * input as i32;
            frame.put(at + 8, &(view.width - 1).to_le_bytes());
            frame.put(at + 12, &(view.height - 1).to_le_bytes());
        }
        let mut origins = Origins::of(surfaces);
        for piece in self.pieces(rect, surfaces) {
            self.fill(&mut origins, frame, &piece, surfaces);
            if !self.run_piece(frame, &piece, &origins, constants) {
                return false;
            }
            Self::write_back(&origins, frame, surfaces, past_caches);
        }
        if let Some(stored) = surfaces.outputs.iter().flatten().find_map(|view| view.stored.as_ref())
            && past_caches
        {
            stored.fence();
        }
        true
    }

    /// Runs tiles whose elements are there.
    #[allow(unsafe_code, reason = "machine code is called")]
    fn run_piece(&self, frame: &mut Frame, rect: &Rect, origins: &Origins, constants: &[u32]) -> bool {
        frame.put(at::TILES, &rect.tiles.to_le_bytes());
        frame.put(at::ROWS_LEFT, &rect.rows.to_le_bytes());
        for (input, origin) in origins.inputs.iter().enumerate() {
            let Some(origin) = origin else { continue };
            let at = at::INPUTS + 32 * input as i32;
            frame.put(at, &origin.address.to_le_bytes());
            frame.put(at + 16, &(origin.pitch as u32).to_le_bytes());
        }
        for (number, slot) in self.slots.iter().enumerate() {
            let Some(numbers) = self.steps(slot, rect, origins, constants) else { return false };
            frame.put(slot_at(number), numbers.map(i64::to_le_bytes).as_flattened());
        }
        type Entry = unsafe extern "sysv64" fn(*mut Line);
        // SAFETY: the text is code that `emit` made for this signature, mapped executable and kept by `self`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.text.as_ptr()) };
        // SAFETY: the frame has the layout's size. The code reads constants and inputs and writes outputs where the slots lead: `is_inside` has
        // found all of that within the slices, which outlive the call (careful code clamps each lane instead), and panels hold all that is
        // read and written of the arrays that they stand for; relative constants were found within those that it may read when the program was looked at. Outputs are cells that other threads may write, but not the same ones.
        unsafe { entry(frame.bytes.as_mut_ptr()) };
        true
    }
}
