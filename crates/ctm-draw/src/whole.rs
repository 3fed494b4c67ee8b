//! Rectangles of pixels that a piece covers wholly: one launch for each, which stores into the targets itself.
//!
//! That is done where colours replace what targets hold and every pixel of the program exports them, so that nothing is left to do between the two.
//! The rest of the piece, along its edges, goes the way of all quads ([`crate::shade`]).

use crate::planes::{Starts, starts};
use crate::primitives::{Coverer, Piece};
use crate::raster::Rect;
use crate::shade::{Program, Shader};
use crate::stage::{StageMemory, Window};
use crate::vertices::Vertices;
use ctm_exec::r700::Launch;
use ctm_exec::{Domain, Fault, LaneOrder, LaneRows, Position};
use ctm_isa::r700::program::{Stage as StageKind, Usage};

/// Rows that are looked at together, from a row on that is a multiple of this: at most as many as bands have.
const ROWS: i32 = 32;
/// Quads, roughly, from which on pieces are looked at.
const LEAST_QUADS: u64 = 256;
/// Pixels from which on a launch is worth it.
const LEAST_PIXELS: u64 = 512;

/// Whether a piece is looked at: by the box around it.
pub(crate) const fn is_large(piece: &Piece) -> bool {
    piece.most_quads() >= LEAST_QUADS
}

/// A piece within a band: what is covered wholly, and where the rest lies.
#[derive(Default)]
pub(crate) struct Divided {
    /// Rectangles whose sides are even.
    pub(crate) whole: Vec<Rect>,
    /// Rectangles that hold all other pixels.
    pub(crate) rest: Vec<Rect>,
    /// What pixels start with.
    pub(crate) starts: Starts,
}

/// Columns of a hidden square, roughly.
const SQUARE: i32 = 64;

/// What of a band is hidden by later pieces that cover it wholly, where the last colour is all that stays.
pub(crate) struct Hidden {
    left: i32,
    /// Of each [`SQUARE`] columns the number of the first piece that is seen there.
    first: Vec<u32>,
}

impl Hidden {
    /// Of these pieces, all of them in layer 0, within a band; `large`: the numbers of those that can hide others. `None` where nothing is hidden.
    pub(crate) fn of(pieces: &[Piece], large: &[u32], coverer: &Coverer<'_>, within: Rect) -> Option<Self> {
        let left = within.left.div_euclid(SQUARE) * SQUARE;
        let columns = (within.right - left).max(0) as usize;
        let mut first = vec![0; columns.div_ceil(SQUARE as usize)];
        for &number in large.iter().filter(|&&number| number > 0) {
            let piece = &pieces[number as usize];
            let inside = coverer.inside(piece, within);
            if inside.is_empty() || (inside.top, inside.bottom) != (within.top, within.bottom) {
                continue;
            }
            for (square, first) in (0..).zip(&mut first) {
                let from = (left + square * SQUARE).max(within.left);
                let to = (left + (square + 1) * SQUARE).min(within.right);
                *first = if inside.left <= from && to <= inside.right { number } else { *first };
            }
        }
        first.iter().any(|&first| first > 0).then_some(Self { left, first })
    }

    /// A band as columns where a piece is seen and columns where it is hidden.
    pub(crate) fn parts(&self, number: u32, within: Rect) -> Vec<(Rect, bool)> {
        let mut parts: Vec<(Rect, bool)> = Vec::new();
        for (square, &first) in (0..).zip(&self.first) {
            let left = (self.left + square * SQUARE).max(within.left);
            let right = (self.left + (square + 1) * SQUARE).min(within.right);
            let is_hidden = number < first;
            match parts.last_mut() {
                Some((last, was_hidden)) if *was_hidden == is_hidden => last.right = right,
                _ => parts.push((Rect { left, right, ..within }, is_hidden)),
            }
        }
        parts
    }
}

/// Divides a piece, within a rectangle: what is covered wholly, and where the rest lies. `None` where the first is not worth it.
fn divide(piece: &Piece, coverer: &Coverer<'_>, within: Rect) -> Option<Divided> {
    if piece.setup.layer != 0 || !is_large(piece) {
        return None;
    }
    let [top, bottom] = piece.rows();
    let (top, bottom) = (top.max(within.top), bottom.min(within.bottom));
    let mut divided = Divided::default();
    let mut row = top & !1;
    while row < bottom {
        let end = (row + ROWS).div_euclid(ROWS) * ROWS;
        let rows = Rect { top: row, bottom: end.min(bottom), ..within };
        let inside = coverer.inside(piece, rows);
        let even = Rect {
            left: (inside.left + 1) & !1,
            right: inside.right & !1,
            top: (inside.top + 1) & !1,
            bottom: inside.bottom & !1,
        };
        let pixels = even.pixels();
        match divided.whole.last_mut() {
            _ if pixels < LEAST_PIXELS => divided.rest.push(rows),
            last => {
                let sides = [
                    Rect { right: even.left, ..rows },
                    Rect { left: even.right, ..rows },
                    Rect { bottom: even.top, left: even.left, right: even.right, ..rows },
                    Rect { top: even.bottom, left: even.left, right: even.right, ..rows },
                ];
                divided.rest.extend(sides.into_iter().filter(|side| !side.is_empty()));
                match last.filter(|last| (last.left, last.right, last.bottom) == (even.left, even.right, even.top)) {
                    Some(last) => last.bottom = even.bottom,
                    None => divided.whole.push(even),
                }
            }
        }
        row = end;
    }
    (!divided.whole.is_empty()).then_some(divided)
}

/// Quads and pixels of a piece within a rectangle.
pub(crate) fn count(piece: &Piece, coverer: &Coverer<'_>, within: Rect) -> [u64; 2] {
    let divided = divide(piece, coverer, within);
    let (mut quads, mut pixels) = (0, 0);
    let all = [within];
    for rest in divided.as_ref().map_or(all.as_slice(), |divided| &divided.rest) {
        coverer.cover(piece, *rest, &mut |quad| {
            quads += 1;
            pixels += quad.masks.iter().filter(|&&mask| mask != 0).count() as u64;
        });
    }
    for rect in divided.iter().flat_map(|divided| &divided.whole) {
        let covered = rect.pixels();
        (quads, pixels) = (quads + covered / 4, pixels + covered);
    }
    [quads, pixels]
}

impl Shader<'_> {
    /// The colour outputs that every pixel exports, and nothing else that matters (bit n = output n).
    pub(crate) fn always_exported(&self) -> u8 {
        match &self.program {
            Program::R700(stage, _) if stage.fetch_program.is_none() => Usage::always_exported(&stage.program.decode()),
            Program::R700(..) | Program::X1k(_) => 0,
        }
    }

    /// Divides a piece, within a rectangle of even sides; `first_row` is row 0 of launches. `None` where launches of rectangles are not worth it, or
    /// planes cannot say what pixels start with.
    pub(crate) fn divide(
        &self,
        piece: &Piece,
        coverer: &Coverer<'_>,
        (within, first_row): (Rect, i32),
        vertices: &Vertices,
    ) -> Option<Divided> {
        let mut divided = divide(piece, coverer, within)?;
        divided.starts = starts(self.state, &piece.setup, vertices, (self.registers(), first_row))?;
        Some(divided)
    }

    /// Runs the program for the pixels of a rectangle, which its exports replace.
    pub(crate) fn run_whole(&self, rect: Rect, starts: &Starts, window: Window<'_, '_>) -> Result<(), Fault> {
        let Program::R700(stage, _) = &self.program else { return Ok(()) };
        let first_row = window.first_row;
        let row = |y: i32| (y.cast_unsigned()).saturating_sub(first_row);
        let domain = Domain {
            i0: rect.left.cast_unsigned(),
            i1: (rect.right - 1).cast_unsigned(),
            j0: row(rect.top),
            j1: row(rect.bottom - 1),
        };
        let place = |at: Position| Position { i: at.i, j: at.j + first_row };
        let mut memory =
            StageMemory::new(stage.memory, LaneRows::new(LaneOrder::quads(Domain { i1: 0, j1: 0, ..domain }), &[]));
        memory.window = Some(window);
        let launch = Launch {
            stage: StageKind::Pixel,
            chip: self.state.chip,
            semantics: stage.semantics,
            planes: &starts.planes,
            divisor: starts.divisor(),
            once: true,
            ..Launch::new(stage.program, stage.constants, domain)
        };
        self.runner.r700("pixel", launch, &mut memory, (&place, &|at| domain.contains(at)))
    }
}
