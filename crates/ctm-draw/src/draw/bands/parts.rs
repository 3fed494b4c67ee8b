//! Pieces of middle size: tiles of 8x8 pixels, which wait for one launch of many of them.
//!
//! Quads wait for launches too. A part waits only if no quad does that comes before it at one of its pixels, and the parts are drawn before the quads: so at every
//! pixel all are drawn in the order of pieces.

use super::batch::Batch;
use super::tiles::{WaitingPart, WaitingParts};
use crate::program::LaunchOutput;
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::Share;
use crate::setup::piece::Piece;
use crate::state::DrawError;
use ctm_exec::r700::LaunchPart;

/// Most tiles of a launch.
const MOST_TILES: usize = 2048;

impl Batch<'_, '_, '_, '_> {
    /// Begins to gather the pixels of a piece within a rectangle in tiles; returns whether it does.
    pub(super) fn begin_part(&mut self, piece: &Piece, rect: Rect) -> Result<bool, DrawError> {
        let band = self.band_of(rect.top);
        let Some(least) = self.least_of_parts else { return Ok(false) };
        let is_large = match piece.setup.share {
            Share::Triangle(twice_the_area) => {
                let (units, Rect { left, top, right, bottom }) = (piece.setup.unit.count(), piece.bounds());
                let around = i64::from(right - left) + i64::from(bottom - top);
                twice_the_area / (units * units) >= least.of_side * around
            }
            Share::Line | Share::Point => false,
        };
        if !is_large || band != self.band_of(rect.bottom - 1) {
            return Ok(false);
        }
        if self.waiting.band != band || self.waiting.tiles.len() >= MOST_TILES {
            self.run_parts()?;
            self.waiting.band = band;
        }
        self.waiting.begun = self.waiting.tiles.len();
        Ok(true)
    }

    /// Adds lanes of a block to the part under way.
    pub(super) fn add_to_part(&mut self, [x, y]: [i32; 2], lanes: u32) {
        let top = self.first_row(self.waiting.band);
        self.waiting.add([x, y - top], lanes);
    }

    /// Ends the part under way, of the piece of this number within a rectangle. Those with few pixels become quads.
    pub(super) fn end_part(&mut self, number: u32, rect: Rect) -> Result<(), DrawError> {
        let (begun, top) = (self.waiting.begun, self.first_row(self.waiting.band));
        let words = &self.waiting.covered[begun..];
        if words.is_empty() {
            return Ok(());
        }
        let pixels: u32 = words.iter().map(|word| word.count_ones()).sum();
        let piece = &self.pieces[number as usize];
        let is_dense = self.least_of_parts.is_some_and(|least| pixels >= least.of_tile * words.len() as u32);
        let starts =
            self.over.shader.filter(|_| is_dense).and_then(|shader| shader.starts(piece, [0, top], self.over.vertices));
        let Some(starts) = starts else {
            while self.waiting.tiles.len() > self.waiting.begun
                && let (Some([x, y]), Some(word)) = (self.waiting.tiles.pop(), self.waiting.covered.pop())
            {
                self.quads_of_lanes(number, word, |lane| {
                    let quad = lane as i32 / 4;
                    [x.cast_signed() + 2 * (quad % 4), top + y.cast_signed() + 2 * (quad / 4)]
                })?;
            }
            return Ok(());
        };
        let quads = |word: u64| (word | word >> 1 | word >> 2 | word >> 3) & 0x1111_1111_1111_1111;
        self.shaded[0] += words.iter().map(|&word| u64::from(quads(word).count_ones())).sum::<u64>();
        self.shaded[1] += u64::from(pixels);
        self.mergers[self.waiting.band].count_written(pixels.into());
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
