//! The location of inputs and outputs: in place, or in *panels*, rows of single-precision numbers that are contiguous.
//!
//! Tiled arrays and inputs whose elements are converted beforehand have panels: the elements that some tiles read are
//! copied into them, the code runs, and written elements are copied out. So tiles are run in *pieces*, whose panels
//! stay in a core's second-level cache.
//!
//! Other inputs have panels where all rows of tiles read the same columns again and again: rows of a wide input are
//! some multiple of a large power of two apart, so that few of them stay in a cache at once, and no processor predicts
//! the next one.

use super::super::Frame;
use super::super::transfer::{Area, Panel, PanelPart, Stored};
use super::run::{InputView, Rect, Surfaces, View, range};
use super::types::{Kernel, bytes};
use crate::launch::events::note;
use crate::passes::table::Pass;
use crate::stream::affine::Fetch;
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::ops::Range;

/// The least rows of tiles for which a panel of numbers pays.
const LEAST_ROWS: u32 = 4;
/// Bytes of all panels of numbers together: the share of a core's second-level cache.
const MOST_BYTES: usize = 512 << 10;
/// Bytes of a panel with a part beyond an edge.
const MOST_BEYOND: usize = 4 << 20;
/// Bytes of a piece's panels.
const PIECE_BYTES: u32 = 256 << 10;
/// Rows of a piece that has more than one: at least this many, and at least a tile's.
const PIECE_ROWS: u32 = 16;
/// The number of columns of a piece is a multiple of this where possible: most tiles have this many columns.
const PIECE_COLUMNS: u32 = 32;
/// The most elements of an input that a piece may read, for each of its processors.
const MOST_READ: i64 = 4;

/// The addresses of an array's elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The address of element (0, 0), which may be outside.
    pub address: i64,
    /// Elements from one row to the next.
    pub pitch: i64,
}

/// Elements of an array in a panel.
struct InPanel {
    /// The number of the input or output.
    array: usize,
    area: Area,
    panel: Panel,
    /// Its place among all panels.
    place: Range<usize>,
}

/// The addresses of elements, input by input and output by output.
pub(super) struct Origins {
    pub inputs: [Option<Origin>; INPUTS],
    pub outputs: [Option<Origin>; OUTPUTS],
    read: Vec<InPanel>,
    written: Vec<InPanel>,
    /// Bytes of all panels.
    bytes: usize,
}

impl Origins {
    /// The addresses of arrays.
    fn of(surfaces: &Surfaces<'_>) -> Self {
        fn origin<T>(view: &Option<View<'_, T>>) -> Option<Origin> {
            view.as_ref().map(|view| Origin { address: view.data.as_ptr() as i64, pitch: view.pitch.into() })
        }
        let (inputs, outputs) = (surfaces.inputs.each_ref().map(origin), surfaces.outputs.each_ref().map(origin));
        Self { inputs, outputs, read: Vec::new(), written: Vec::new(), bytes: 0 }
    }

    fn take(&mut self, array: usize, area: Area, panel: Panel) -> InPanel {
        let place = self.bytes..self.bytes + panel.bytes;
        self.bytes += panel.bytes.next_multiple_of(64);
        InPanel { array, area, panel, place }
    }
}

/// The area of a domain that tiles cover.
pub(super) fn covered(kernel: &Kernel, rect: &Rect) -> Area {
    let of = |first: u32, count: u32, each: u32| [first.into(), i64::from(first) + i64::from(count * each) - 1];
    [of(rect.i, rect.tiles, kernel.columns), of(rect.j, rect.rows, kernel.options.tile.rows.into())]
}

/// An area clamped to an array: at least one element of each row and column.
fn clamped(area: Area, view: &InputView<'_>) -> Area {
    let sizes = [view.width, view.height];
    std::array::from_fn(|axis| area[axis].map(|at| at.clamp(0, i64::from(sizes[axis]) - 1)))
}

/// An existing area as a part of an array.
pub(super) fn part([x, y]: Area) -> PanelPart {
    let indices = |[first, last]: [i64; 2]| first as u32..last as u32 + 1;
    PanelPart { x: indices(x), y: indices(y) }
}

/// The area that fetches read for this part of the domain, before it is clamped: at least one element. Inlined, so that
/// recently stored values are in registers: loads would wait for the stores to arrays.
#[inline(always)]
fn reach<'a>(fetches: impl Iterator<Item = &'a Fetch>, [columns, rows]: Area) -> Option<Area> {
    let join = |a: [i64; 2], b: [i64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let areas = fetches.map(|fetch| [&fetch.x, &fetch.y].map(|of| range(of, columns, rows, &fetch.iterations)));
    areas.reduce(|all, of| [join(all[0], of[0]), join(all[1], of[1])])
}

/// Whether neighbours read elements near each other: otherwise the input is better converted as a whole.
pub fn is_local<'a>(fetches: impl Iterator<Item = &'a Fetch>, view: &InputView<'_>) -> bool {
    let piece = [PIECE_COLUMNS, PIECE_ROWS].map(|count| [0, i64::from(count) - 1]);
    let elements = |area: Area| area.map(|[first, last]| last - first + 1).iter().product::<i64>();
    let read = fetches.filter_map(|fetch| reach([fetch].into_iter(), piece)).map(|area| elements(clamped(area, view)));
    read.max().unwrap_or(0) <= MOST_READ * i64::from(PIECE_COLUMNS * PIECE_ROWS)
}

impl Kernel {
    /// Cuts tiles into rectangles of at most `wide` side by side and `most` rows, which end where a row of the domain
    /// is a multiple of `high`.
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

    /// The tiles whose fetches stay within all edges of their inputs: ranges of columns and rows of tiles.
    fn inner(&self, rect: &Rect, surfaces: &Surfaces<'_>) -> PanelPart {
        let passes = |tiles: Rect, axis: usize| {
            self.fetches.iter().any(|fetch| {
                let view = surfaces.inputs[usize::from(fetch.input)].as_ref();
                let area = reach([fetch].into_iter(), covered(self, &tiles));
                view.zip(area).is_none_or(|(view, area)| clamped(area, view)[axis] != area[axis])
            })
        };
        // They are contiguous, as coordinates are linear; there may be none.
        let inner = |count: u32, passes: &dyn Fn(u32) -> bool| {
            let first = (0..count).find(|&n| !passes(n)).unwrap_or(count);
            first..(first..count).rev().find(|&n| !passes(n)).map_or(first, |last| last + 1)
        };
        let tile_rows = u32::from(self.options.tile.rows);
        let x = inner(rect.tiles, &|n| passes(Rect { i: rect.i + n * self.columns, tiles: 1, ..*rect }, 0));
        let y = inner(rect.rows, &|n| passes(Rect { j: rect.j + n * tile_rows, rows: 1, ..*rect }, 1));
        if x.is_empty() { PanelPart { x, y: 0..0 } } else { PanelPart { x, y } }
    }

    /// Cuts tiles into groups that run one after the other, with panels for the elements that they reach. One thread
    /// runs neighbours: threads that take pieces in turns copy a fifth slower.
    pub(super) fn pieces(&self, rect: &Rect, surfaces: &Surfaces<'_>) -> Vec<Rect> {
        let each = u32::from(self.options.tile.rows);
        let cut = |tiles: &PanelPart, passes_edges: bool| {
            let rect = Rect {
                i: rect.i + tiles.x.start * self.columns,
                j: rect.j + tiles.y.start * each,
                tiles: tiles.x.len() as u32,
                rows: tiles.y.len() as u32,
            };
            let of = |stored: &Option<Stored>, channels: u8| match stored {
                Some(stored) => (stored.panel_bytes(), stored.tile_rows()),
                None => (if passes_edges { bytes(channels) as u32 } else { 0 }, None),
            };
            let inputs = surfaces.inputs.iter().flatten().map(|view| of(&view.stored, view.channels));
            let outputs = surfaces.outputs.iter().flatten().map(|view| of(&view.stored, 0));
            let (mut in_panels, mut high) = (0, PIECE_ROWS);
            for (panel_bytes, tile_rows) in inputs.chain(outputs) {
                in_panels += panel_bytes;
                // Aligned to tiles.
                high = tile_rows.map_or(high, |rows| high.max(rows));
            }
            let Some(elements) = PIECE_BYTES.checked_div(in_panels) else { return vec![rect] };
            let most = (high / each).max(1);
            let columns = elements / (most * each) / PIECE_COLUMNS * PIECE_COLUMNS;
            self.cut(&rect, [(columns.max(PIECE_COLUMNS) / self.columns).max(1), most], high)
        };
        let inner = self.inner(rect, surfaces);
        let around = PanelPart { x: 0..rect.tiles, y: 0..rect.rows }.around(&inner);
        let mut pieces: Vec<Rect> = around.flat_map(|tiles| cut(&tiles, true)).collect();
        if !inner.y.is_empty() {
            pieces.extend(cut(&inner, false));
        }
        pieces
    }

    /// Gives panels to the surfaces of tiles that need them, and copies the elements to read; `None` where the area
    /// beyond an edge takes too much.
    pub(super) fn fill(&self, frame: &mut Frame, rect: &Rect, surfaces: &Surfaces<'_>) -> Option<Origins> {
        let mut origins = Origins::of(surfaces);
        let covered = covered(self, rect);
        for (input, view) in surfaces.inputs.iter().enumerate() {
            let Some(view) = view else { continue };
            let fetches = || self.fetches.iter().filter(|fetch| usize::from(fetch.input) == input);
            let Some(area) = reach(fetches(), covered) else { continue };
            let passes_edge = clamped(area, view) != area;
            if passes_edge || view.stored.is_some() || self.reads_again(rect, fetches()) {
                let panel = match &view.stored {
                    Some(stored) if !passes_edge => stored.panel(&part(area)),
                    _ => Panel::of_rows(area, bytes(view.channels) as u32),
                };
                if passes_edge && panel.bytes > MOST_BEYOND {
                    return None;
                }
                let is_worth = 2 * panel.pitch <= view.pitch.into() && origins.bytes + panel.bytes <= MOST_BYTES;
                if passes_edge || view.stored.is_some() || is_worth {
                    let read = origins.take(input, area, panel);
                    origins.read.push(read);
                }
            }
        }
        for (output, view) in surfaces.outputs.iter().enumerate() {
            if let Some(stored) = view.as_ref().and_then(|view| view.stored.as_ref()) {
                let panel = stored.panel(&part(covered));
                let written = origins.take(output, covered, panel);
                origins.written.push(written);
            }
        }
        if origins.bytes == 0 {
            return Some(origins);
        }
        note(|events| events.panels += origins.read.len() as u64);
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
            let there = clamped(of.area, view);
            match &view.stored {
                Some(stored) if there == of.area => {
                    stored.read(self.target.isa, view.data, &part(there), &of.panel, to)
                }
                Some(stored) => {
                    let (numbers, panel) = stored.numbers(self.target.isa, view.data, &part(there));
                    of.panel.copy(&numbers, [panel.origin, panel.pitch], there, of.area, to);
                }
                None => of.panel.copy(view.data, [0, view.pitch.into()], there, of.area, to),
            }
        }
        Some(origins)
    }

    /// Copies the elements that the code has written out of panels.
    pub(super) fn write_back(&self, origins: &Origins, frame: &mut Frame, surfaces: &Surfaces<'_>, past_caches: bool) {
        for of in &origins.written {
            let Some(view) = &surfaces.outputs[of.array] else { continue };
            let Some(stored) = &view.stored else { continue };
            let from = &mut frame.panels(origins.bytes)[of.place.clone()];
            stored.write(self.target.isa, view.data, (&part(of.area), &of.panel), from, past_caches);
        }
    }

    /// Whether all rows of tiles read the same elements of an input, and their number is large enough.
    fn reads_again<'a>(&self, rect: &Rect, mut fetches: impl Iterator<Item = &'a Fetch>) -> bool {
        let is_worth = Pass::Panels.is_on() && rect.tiles == 1 && rect.rows >= LEAST_ROWS;
        is_worth && fetches.all(|fetch| fetch.x.j == 0 && fetch.y.j == 0)
    }
}
