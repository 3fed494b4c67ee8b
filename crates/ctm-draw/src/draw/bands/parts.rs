//! Pieces of middle size: tiles of 8x8 pixels, which wait for one launch of many of them.
//!
//! Quads wait for launches too. A part waits only if no quad does that comes before it at one of its pixels, and the parts are drawn before the quads: so at every
//! pixel all are drawn in the order of pieces.

use super::batch::Batch;
use crate::pixel::starts::Starts;
use crate::program::LaunchOutput;
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::Share;
use crate::setup::piece::Piece;
use crate::state::DrawError;
use ctm_exec::r700::LaunchPart;
use std::ops::Range;

/// Whether a piece is a part: it covers enough pixels of its tiles. Those at its edges, where a tile is covered in part, are about as many as the columns and
/// rows of its bounds, some of them on each side.
fn is_part(piece: &Piece) -> bool {
    let Share::Triangle(twice_the_area) = piece.setup.share else { return false };
    let unit = piece.setup.unit.count();
    let Rect { left, top, right, bottom } = piece.bounds();
    let around = i64::from(right - left) + i64::from(bottom - top);
    let [a, b, c] = piece.setup.corners.map(|corner| corner.reciprocal_w);
    let per_side = if a == b && a == c { LEAST_PER_SIDE } else { LEAST_PER_SIDE_IN_PERSPECTIVE };
    twice_the_area / (unit * unit) >= per_side * around
}

/// Twice the pixels of a part, at least, for each column and row of its bounds: from about there on a part takes less time than quads.
const LEAST_PER_SIDE: i64 = 12;
/// The same where start values are divided: those of pixels that are not covered are, too.
const LEAST_PER_SIDE_IN_PERSPECTIVE: i64 = 20;

/// Most tiles of a launch.
const MOST_TILES: usize = 2048;

/// Columns and rows of a tile.
const SIDE: i32 = LaunchPart::SIDE as i32;

/// The part of a piece in one band: its pixels have passed their tests, and the launch stores their colours.
struct WaitingPart {
    starts: Starts,
    /// Its place among the tiles.
    tiles: Range<usize>,
    rect: Rect,
}

/// The parts that wait, all of them in one band, in the order of pieces.
#[derive(Default)]
pub(super) struct WaitingParts {
    band: usize,
    parts: Vec<WaitingPart>,
    /// The first pixels of tiles, counted from the band's first row.
    tiles: Vec<[u32; 2]>,
    /// Their covered pixels, as in [`LaunchPart::covered`].
    covered: Vec<u64>,
    /// The tiles before those of the part under way; all of them where none is.
    begun: usize,
}

impl WaitingParts {
    /// Adds lanes of a block to the part under way.
    pub(super) fn add(&mut self, [x, y]: [i32; 2], lanes: u32) {
        let tile = [x.cast_unsigned(), (y & -SIDE).cast_unsigned()];
        // A block is two squares of 4x4 pixels side by side; a tile has its quads row by row.
        let [a, b, c, d] = lanes.to_le_bytes();
        let bits = u64::from(u32::from_le_bytes([a, c, b, d])) << if y & 4 == 0 { 0 } else { 32 };
        // Blocks come row by row.
        let of_row = self.tiles[self.begun..].iter().rev().take_while(|of| of[1] == tile[1]);
        match of_row.into_iter().position(|of| *of == tile) {
            Some(from_end) => {
                let place = self.tiles.len() - 1 - from_end;
                self.covered[place] |= bits;
            }
            None => {
                self.tiles.push(tile);
                self.covered.push(bits);
            }
        }
    }

    /// Whether the part under way has a pixel of a quad, whose place is counted as those of tiles.
    fn meets(&self, QuadCoverage { x, y, masks }: &QuadCoverage) -> bool {
        let tile = [x & -SIDE, y & -SIDE].map(i32::cast_unsigned);
        let first = (y % SIDE / 2 * 4 + x % SIDE / 2) * 4;
        let marks = (0..4).filter(|&n| masks[n as usize] != 0).fold(0, |marks, n| marks | 1 << (first + n));
        let mut parts = self.tiles[self.begun..].iter().zip(&self.covered[self.begun..]);
        parts.any(|(of, covered)| *of == tile && covered & marks != 0u64)
    }
}

impl Batch<'_, '_, '_, '_> {
    /// Begins a part of a piece within a rectangle of a band; `None` where it goes another way.
    pub(super) fn begin_part(&mut self, piece: &Piece, within: Rect) -> Result<Option<Starts>, DrawError> {
        let Some(shader) = self.over.shader.filter(|_| self.takes_parts && is_part(piece)) else {
            return Ok(None);
        };
        let rect = piece.bounds().and(within);
        let band = self.band_of(rect.top);
        if band != self.band_of(rect.bottom - 1) || piece.setup.layer != 0 {
            return Ok(None);
        }
        if self.waiting.band != band || self.waiting.tiles.len() >= MOST_TILES {
            self.run_parts()?;
            self.waiting.band = band;
        }
        self.waiting.begun = self.waiting.tiles.len();
        Ok(shader.starts(piece, [0, self.first_row(band)], self.over.vertices))
    }

    /// Ends the part under way, which is within a rectangle.
    pub(super) fn end_part(&mut self, starts: Starts, rect: Rect) -> Result<(), DrawError> {
        let pixels = &self.waiting.covered[self.waiting.begun..];
        if pixels.is_empty() {
            return Ok(());
        }
        let quads = |word: u64| (word | word >> 1 | word >> 2 | word >> 3) & 0x1111_1111_1111_1111;
        for &word in pixels {
            self.shaded[0] += u64::from(quads(word).count_ones());
            self.shaded[1] += u64::from(word.count_ones());
        }
        let top = self.first_row(self.waiting.band);
        let meets = |quad: &QuadCoverage| {
            quad.rect().meets(rect) && self.waiting.meets(&QuadCoverage { y: quad.y - top, ..*quad })
        };
        if self.quads.iter().any(|quad| meets(&quad.quad)) {
            self.launch(true)?;
        }
        let tiles = self.waiting.begun..self.waiting.tiles.len();
        self.waiting.begun = tiles.end;
        self.waiting.parts.push(WaitingPart { starts, tiles, rect });
        Ok(())
    }

    /// The first row of a band.
    fn first_row(&self, band: usize) -> i32 {
        (self.first + band) as i32 * self.over.rows as i32
    }

    /// Draws the parts that wait, if one of them meets a rectangle: others will be drawn there.
    pub(super) fn make_way(&mut self, rect: Rect) -> Result<(), DrawError> {
        if self.waiting.parts.iter().any(|part| part.rect.meets(rect)) { self.run_parts() } else { Ok(()) }
    }

    /// Draws the parts that wait.
    pub(super) fn run_parts(&mut self) -> Result<(), DrawError> {
        let Some(shader) = self.over.shader.filter(|_| !self.waiting.parts.is_empty()) else { return Ok(()) };
        self.over.runner.goes_on("pixel")?;
        let first_row = self.first_row(self.waiting.band);
        let WaitingParts { band, parts, tiles, covered, begun } = &mut self.waiting;
        let merger = &mut self.mergers[*band];
        let output = if merger.is_replaced(self.over.exported(shader)) {
            LaunchOutput::all(merger.window(first_row), &[])
        } else {
            let (window, epilogues) = merger.merged_window(first_row);
            LaunchOutput::all(window, epilogues)
        };
        let launched: Vec<LaunchPart<'_>> = parts
            .iter()
            .map(|WaitingPart { starts, tiles: place, .. }| LaunchPart {
                planes: &starts.planes,
                divisor: starts.divisor(),
                tiles: &tiles[place.clone()],
                covered: &covered[place.clone()],
            })
            .collect();
        let done = shader.run_parts(&launched, [0, first_row], output);
        // The part under way waits on.
        let drawn = parts.last().map_or(0, |part| part.tiles.end);
        tiles.drain(..drawn);
        covered.drain(..drawn);
        *begun -= drawn;
        parts.clear();
        done.map_err(|fault| DrawError::Program { stage: "pixel", fault })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Shape;
    use ctm_exec::{Domain, LaneOrder, Position};

    /// Truth: the lane of a launch over the tile alone.
    #[test]
    fn lanes_of_blocks_are_those_of_their_tile() {
        let mut waiting = WaitingParts::default();
        for (y, x) in [(40, 16), (40, 24), (44, 8), (44, 16), (44, 24)] {
            for lane in 0..32 {
                let begun = waiting.tiles.len();
                let [column, row] = Shape::Block.at(lane);
                let at = [x + column, y + row];
                waiting.begun = begun;
                waiting.add([x, y], 1 << lane);
                let [i0, j0] = [x, y & -SIDE].map(i32::cast_unsigned);
                let order = LaneOrder::quads(Domain { i0, j0, i1: i0 + 7, j1: j0 + 7 });
                let place = order.lane(Position { i: at[0].cast_unsigned(), j: at[1].cast_unsigned() });
                assert_eq!((waiting.tiles[begun], waiting.covered[begun]), ([i0, j0], 1 << place.unwrap_or(64)));
                let quad = |[x, y]: [i32; 2]| {
                    let [first, n] = [[x & !1, y & !1], [x & 1, y & 1]];
                    let mut masks = [0; 4];
                    masks[(n[0] + 2 * n[1]) as usize] = 1;
                    QuadCoverage { x: first[0], y: first[1], masks }
                };
                assert!(waiting.meets(&quad(at)) && !waiting.meets(&quad([at[0] ^ 1, at[1]])));
            }
        }
    }

    #[test]
    fn both_blocks_of_a_tile_are_one_entry() {
        let mut waiting = WaitingParts::default();
        for (at, lanes) in [([0, 8], 1), ([8, 8], 2), ([16, 8], 4), ([0, 12], 8), ([16, 12], 16), ([24, 12], 32)] {
            waiting.add(at, lanes);
        }
        assert_eq!(waiting.tiles, [[0, 8], [8, 8], [16, 8], [24, 8]]);
        assert_eq!(waiting.covered, [1 | 8 << 32, 2, 4 | 16 << 32, 32 << 32]);
    }
}
