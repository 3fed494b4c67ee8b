//! Where inputs are read: in place, or from a *panel*, a copy of the columns that all rows of tiles read again and again.
//!
//! Rows of a wide input lie some multiple of a large power of two apart, so that few of them stay in a cache at once, and no processor
//! guesses which one comes next. In a panel they lie side by side.

use super::super::Frame;
use super::Kernel;
use super::run::{Rect, Surfaces, range};
use crate::passes::table::Pass;
use crate::stream::affine::Fetch;
use ctm_isa::x1k::INPUTS;

/// Rows of tiles that a panel pays for.
const LEAST_ROWS: u32 = 4;
/// Bytes of all panels together: what a core's second cache holds beside other things.
const MOST_BYTES: i64 = 512 << 10;

/// Where the elements of an input are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The address of element (0, 0), as if all were there.
    pub address: i64,
    /// Elements from one row to the next.
    pub pitch: i64,
}

/// The part of an input that is copied: columns and rows, first and last.
#[derive(Clone, Copy, Debug)]
struct Part {
    x: [i64; 2],
    y: [i64; 2],
}

impl Part {
    const fn width(&self) -> i64 {
        self.x[1] - self.x[0] + 1
    }

    const fn elements(&self) -> i64 {
        self.width() * (self.y[1] - self.y[0] + 1)
    }
}

impl Kernel {
    /// Where inputs are read. All that the tiles read must lie inside.
    pub(super) fn origins(&self, frame: &mut Frame, rect: &Rect, surfaces: &Surfaces<'_>) -> [Option<Origin>; INPUTS] {
        let mut origins = surfaces
            .inputs
            .map(|view| view.map(|view| Origin { address: view.bytes.as_ptr() as i64, pitch: view.pitch.into() }));
        let mut parts = Vec::new();
        let mut left = MOST_BYTES;
        for (input, view) in surfaces.inputs.iter().enumerate() {
            let Some(view) = view else { continue };
            let Some(part) = self.part(input, rect) else { continue };
            let size = 4 * i64::from(view.channels);
            let lines = (part.elements() * size + 63) / 64;
            if 2 * part.width() <= i64::from(view.pitch) && 64 * lines <= left {
                left -= 64 * lines;
                parts.push((input, view, part, size, lines));
            }
        }
        let total = (MOST_BYTES - left) as usize;
        if total == 0 {
            return origins;
        }
        let mut rest = frame.panels(total);
        for (input, view, part, size, lines) in parts {
            let (panel, behind) = rest.split_at_mut(64 * lines as usize);
            rest = behind;
            let row_bytes = (part.width() * size) as usize;
            let address = panel.as_ptr() as i64 - (part.x[0] + part.y[0] * part.width()) * size;
            let rows = panel.chunks_exact_mut(row_bytes).zip(part.y[0]..=part.y[1]);
            let copied = rows.map(|(to, y)| {
                let first = ((y * i64::from(view.pitch) + part.x[0]) * size) as usize;
                view.bytes.get(first..first + row_bytes).map(|from| to.copy_from_slice(from))
            });
            if copied.into_iter().all(|row| row.is_some()) {
                origins[input] = Some(Origin { address, pitch: part.width() });
            }
        }
        origins
    }

    /// What all rows of tiles read of an input, if it is the same.
    fn part(&self, input: usize, rect: &Rect) -> Option<Part> {
        if !Pass::Panels.is_on() || self.options.careful || rect.tiles != 1 || rect.rows < LEAST_ROWS {
            return None;
        }
        let columns = [i64::from(rect.i), i64::from(rect.i) + i64::from(self.columns) - 1];
        let same = |fetch: &Fetch| fetch.x.j == 0 && fetch.y.j == 0;
        let mut part: Option<Part> = None;
        for fetch in self.fetches.iter().filter(|fetch| usize::from(fetch.input) == input) {
            if !same(fetch) {
                return None;
            }
            let [x, y] = [&fetch.x, &fetch.y].map(|of| range(of, columns, [0, 0], &fetch.iterations));
            let join = |a: [i64; 2], b: [i64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
            part = Some(part.map_or(Part { x, y }, |part| Part { x: join(part.x, x), y: join(part.y, y) }));
        }
        part
    }
}
