//! Where inputs are read and outputs written: in place, or in *panels*, rows of single-precision numbers that lie side by side.
//!
//! Arrays of tiles and inputs whose elements are converted beforehand have panels: what some tiles read is copied into them, the code runs, and what it has written is copied out. So
//! tiles are run in *pieces*, whose panels stay in a core's second cache.
//!
//! Other inputs have panels where all rows of tiles read the same columns again and again: rows of a wide input lie some multiple of a large power of two apart, so that few of them stay in a cache at once, and no processor
//! guesses which one comes next.

use super::super::Frame;
use super::super::transfer::{Panel, Part, Stored};
use super::Kernel;
use super::run::{InputView, Rect, Surfaces, View, range};
use crate::passes::table::Pass;
use crate::stream::affine::Fetch;
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::ops::Range;

/// Rows of tiles that a panel of numbers pays for.
const LEAST_ROWS: u32 = 4;
/// Bytes of all panels of numbers together: what a core's second cache holds beside other things.
const MOST_BYTES: usize = 512 << 10;
/// Bytes of a piece's panels.
const PIECE_BYTES: u32 = 256 << 10;
/// Rows of a piece, where it is more than one: at least so many, and those of a tile.
const PIECE_ROWS: u32 = 16;
/// Columns of a piece are a multiple of this where possible: those of most tiles.
const PIECE_COLUMNS: u32 = 32;
/// How many times as many elements as it has processors a piece may read of an input.
const MOST_READ: i64 = 4;

/// Where the elements of an array are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The address of element (0, 0), as if all were there.
    pub address: i64,
    /// Elements from one row to the next.
    pub pitch: i64,
}

/// A part of an array in a panel.
struct InPanel {
    /// The number of the input or output.
    array: usize,
    part: Part,
    panel: Panel,
    /// Where it lies among all panels.
    place: Range<usize>,
}

/// Where elements are, input by input and output by output.
pub(super) struct Origins {
    pub inputs: [Option<Origin>; INPUTS],
    pub outputs: [Option<Origin>; OUTPUTS],
    read: Vec<InPanel>,
    written: Vec<InPanel>,
    /// Bytes of all panels.
    bytes: usize,
}

impl Origins {
    /// Where arrays lie in memory.
    fn of(surfaces: &Surfaces<'_>) -> Self {
        fn origin<T>(view: &Option<View<'_, T>>) -> Option<Origin> {
            view.as_ref().map(|view| Origin { address: view.data.as_ptr() as i64, pitch: view.pitch.into() })
        }
        let (inputs, outputs) = (surfaces.inputs.each_ref().map(origin), surfaces.outputs.each_ref().map(origin));
        Self { inputs, outputs, read: Vec::new(), written: Vec::new(), bytes: 0 }
    }

    fn take(&mut self, array: usize, part: Part, panel: Panel) -> InPanel {
        let place = self.bytes..self.bytes + panel.bytes;
        self.bytes += panel.bytes.next_multiple_of(64);
        InPanel { array, part, panel, place }
    }
}

/// The columns and rows of a domain that tiles cover.
fn covered(kernel: &Kernel, rect: &Rect) -> [[i64; 2]; 2] {
    let of = |first: u32, count: u32, each: u32| [first.into(), i64::from(first) + i64::from(count * each) - 1];
    [of(rect.i, rect.tiles, kernel.columns), of(rect.j, rect.rows, kernel.options.tile.rows.into())]
}

/// From the first to the last one.
fn indices([first, last]: [i64; 2]) -> Range<u32> {
    first as u32..last as u32 + 1
}

/// What fetches of an input read of it for these columns and rows of the domain: at least one element. In line, as what was stored just before can be had
/// from registers alone while stores to arrays wait.
#[inline(always)]
fn part_of<'a>(
    fetches: impl Iterator<Item = &'a Fetch>,
    columns: [i64; 2],
    rows: [i64; 2],
    view: &InputView<'_>,
) -> Option<Part> {
    let clamped = |of: [i64; 2], size: u32| of.map(|at| at.clamp(0, i64::from(size) - 1));
    let join = |a: [i64; 2], b: [i64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let areas = fetches.map(|fetch| {
        let [x, y] = [&fetch.x, &fetch.y].map(|of| range(of, columns, rows, &fetch.iterations));
        [clamped(x, view.width), clamped(y, view.height)]
    });
    let [x, y] = areas.reduce(|all, of| [join(all[0], of[0]), join(all[1], of[1])])?;
    Some(Part { x: indices(x), y: indices(y) })
}

/// Whether neighbours read elements near each other: otherwise the input is better converted as a whole.
pub fn is_local<'a>(fetches: impl Iterator<Item = &'a Fetch>, view: &InputView<'_>) -> bool {
    let [columns, rows] = [PIECE_COLUMNS, PIECE_ROWS].map(|count| [0, i64::from(count) - 1]);
    let elements = |part: &Part| part.x.len() as i64 * part.y.len() as i64;
    let read: i64 = fetches
        .map(|fetch| part_of([fetch].into_iter(), columns, rows, view).map_or(0, |part| elements(&part)))
        .max()
        .unwrap_or(0);
    read <= MOST_READ * i64::from(PIECE_COLUMNS * PIECE_ROWS)
}

impl Kernel {
    /// Cuts tiles into rectangles of at most so many side by side, and so many rows, which end where a row of the domain is a multiple of `high`.
    pub fn cut(&self, rect: &Rect, [wide, most]: [u32; 2], high: u32) -> Vec<Rect> {
        let each = u32::from(self.options.tile.rows);
        let (mut parts, mut row) = (Vec::new(), 0);
        while row < rect.rows {
            let j = rect.j + row * each;
            let to_next = (high - j % high).div_ceil(each);
            let rows = most.min(to_next).min(rect.rows - row);
            for tile in (0..rect.tiles).step_by(wide as usize) {
                let (i, tiles) = (rect.i + tile * self.columns, wide.min(rect.tiles - tile));
                parts.push(Rect { i, j, tiles, rows });
            }
            row += rows;
        }
        parts
    }

    /// Tiles that are run one after the other, with panels for what they reach. One thread runs neighbours: threads that take pieces in turns copy a fifth slower.
    pub(super) fn pieces(&self, rect: &Rect, surfaces: &Surfaces<'_>) -> Vec<Rect> {
        let inputs = surfaces.inputs.iter().flatten().filter_map(|view| view.stored.as_ref());
        let outputs = surfaces.outputs.iter().flatten().filter_map(|view| view.stored.as_ref());
        let loops = self.fetches.iter().any(|fetch| fetch.iterations[0] > 1);
        let (mut bytes, mut high) = (0, if loops { PIECE_ROWS } else { 1 });
        for stored in inputs.chain(outputs) {
            bytes += stored.panel_bytes();
            // As tiles lie.
            high = stored.tile_rows().map_or(high, |rows| high.max(rows).max(PIECE_ROWS));
        }
        let Some(elements) = PIECE_BYTES.checked_div(bytes) else { return vec![*rect] };
        let each = u32::from(self.options.tile.rows);
        let most = (high / each).max(1);
        let columns = elements / (most * each) / PIECE_COLUMNS * PIECE_COLUMNS;
        self.cut(rect, [(columns.max(PIECE_COLUMNS) / self.columns).max(1), most], high)
    }

    /// Gives panels to what tiles read and write in some, and copies what is read. All that the tiles reach must lie inside.
    pub(super) fn fill(&self, frame: &mut Frame, rect: &Rect, surfaces: &Surfaces<'_>) -> Origins {
        let mut origins = Origins::of(surfaces);
        let [columns, rows] = covered(self, rect);
        for (input, view) in surfaces.inputs.iter().enumerate() {
            let Some(view) = view else { continue };
            let fetches = || self.fetches.iter().filter(|fetch| usize::from(fetch.input) == input);
            if view.stored.is_none() && !self.reads_again(rect, fetches()) {
                continue;
            }
            let Some(part) = part_of(fetches(), columns, rows, view) else { continue };
            let panel = match &view.stored {
                Some(stored) => stored.panel(&part),
                None => Panel::of_rows(&part, view.element.bytes()),
            };
            let is_worth = 2 * part.x.len() <= view.pitch as usize && origins.bytes + panel.bytes <= MOST_BYTES;
            if view.stored.is_some() || is_worth {
                let read = origins.take(input, part, panel);
                origins.read.push(read);
            }
        }
        for (output, view) in surfaces.outputs.iter().enumerate() {
            if let Some(stored) = view.as_ref().and_then(|view| view.stored.as_ref()) {
                let part = Part { x: indices(columns), y: indices(rows) };
                let panel = stored.panel(&part);
                let written = origins.take(output, part, panel);
                origins.written.push(written);
            }
        }
        if origins.bytes == 0 {
            return origins;
        }
        let panels = frame.panels(origins.bytes);
        let begin = panels.as_ptr() as i64;
        let origin = |of: &InPanel| {
            Some(Origin { address: begin + of.place.start as i64 + of.panel.origin, pitch: of.panel.pitch })
        };
        for of in &origins.written {
            origins.outputs[of.array] = origin(of);
        }
        for of in &origins.read {
            origins.inputs[of.array] = origin(of);
            let (Some(view), to) = (&surfaces.inputs[of.array], &mut panels[of.place.clone()]) else { continue };
            match &view.stored {
                Some(stored) => stored.read(view.data, &of.part, &of.panel, to),
                None => of.panel.copy((view.data, view.pitch, view.element.bytes()), &of.part, to),
            }
        }
        origins
    }

    /// Copies what the code has written out of panels.
    pub(super) fn write_back(origins: &Origins, frame: &mut Frame, surfaces: &Surfaces<'_>, past_caches: bool) {
        for of in &origins.written {
            let Some(view) = &surfaces.outputs[of.array] else { continue };
            let Some(stored) = &view.stored else { continue };
            let from = &frame.panels(origins.bytes)[of.place.clone()];
            stored.write(view.data, &of.part, &of.panel, from, past_caches);
        }
    }

    /// Whether all rows of tiles read the same of an input, and are enough of them.
    fn reads_again<'a>(&self, rect: &Rect, mut fetches: impl Iterator<Item = &'a Fetch>) -> bool {
        let is_worth = Pass::Panels.is_on() && !self.options.careful && rect.tiles == 1 && rect.rows >= LEAST_ROWS;
        is_worth && fetches.all(|fetch| fetch.x.j == 0 && fetch.y.j == 0)
    }
}

impl Stored {
    /// All numbers of an array, row by row, and elements from row to row.
    pub fn whole(&self, view: &InputView<'_>) -> (Vec<u8>, u32) {
        let part = Part { x: 0..view.width, y: 0..view.height };
        let panel = self.panel(&part);
        let mut numbers = vec![0; panel.bytes];
        self.read(view.data, &part, &panel, &mut numbers);
        (numbers, panel.pitch as u32)
    }
}
