//! Tiles of 8x8 pixels of pieces that wait for one launch of many of them.

use crate::pixel::starts::Starts;
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use ctm_exec::r700::LaunchPart;
use std::ops::Range;

/// Columns and rows of a tile.
pub(super) const SIDE: i32 = LaunchPart::SIDE as i32;

/// Pixels that a piece has to have to be a part: with fewer, quads take less time, as a wavefront of a tile runs for all of its lanes.
#[derive(Clone, Copy)]
pub(super) struct LeastPixels {
    /// For each of its tiles.
    pub(super) of_tile: u32,
    /// Twice the pixels of a triangle for each column and row around it: with fewer it leaves most of its tiles empty, as tiles at its sides are about as many.
    pub(super) of_side: i64,
}

impl LeastPixels {
    /// For short programs and for others.
    pub(super) const fn of(is_short: bool) -> Self {
        if is_short { Self { of_tile: 16, of_side: 5 } } else { Self { of_tile: 32, of_side: 13 } }
    }
}

/// The part of a piece in one band: its pixels have passed their tests, and the launch stores their colours.
pub(super) struct WaitingPart {
    pub(super) starts: Starts,
    /// Its place among the tiles.
    pub(super) tiles: Range<usize>,
    pub(super) rect: Rect,
}

/// The parts that wait, all of them in one band, in the order of pieces.
#[derive(Default)]
pub(super) struct WaitingParts {
    pub(super) band: usize,
    pub(super) parts: Vec<WaitingPart>,
    /// The first pixels of tiles, counted from the band's first row.
    pub(super) tiles: Vec<[u32; 2]>,
    /// Their covered pixels, as in [`LaunchPart::covered`].
    pub(super) covered: Vec<u64>,
    /// The tiles before those of the part under way; all of them where none is.
    pub(super) begun: usize,
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
    pub(super) fn meets(&self, QuadCoverage { x, y, masks }: &QuadCoverage) -> bool {
        let tile = [x & -SIDE, y & -SIDE].map(i32::cast_unsigned);
        let first = (y % SIDE / 2 * 4 + x % SIDE / 2) * 4;
        let marks = (0..4).filter(|&n| masks[n as usize] != 0).fold(0, |marks, n| marks | 1 << (first + n));
        let mut parts = self.tiles[self.begun..].iter().zip(&self.covered[self.begun..]);
        parts.any(|(of, covered)| *of == tile && covered & marks != 0u64)
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
