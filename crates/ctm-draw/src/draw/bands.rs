//! The pixels of pieces, in bands of rows.
//!
//! Bands are rows of the targets with memory of their own, so that each can be drawn by a thread, in the order of primitives. Small
//! amounts are drawn by one thread for all bands, with quads of many primitives in a launch.

mod apart;
mod batch;
mod late;
mod parts;
mod tiles;

use self::apart::Apart;
use self::batch::Batch;
use self::tiles::{LeastPixels, SIDE, WaitingParts};
use crate::draw::ready::Ready;
use crate::output::merge::Merger;
use crate::pixel::band::{self, Hidden};
use crate::pixel::shade::{PER_LAUNCH, Scratch, ShadeQuad, Shader};
use crate::program::{Packed, Runner, Staged};
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::piece::{Coverer, Piece};
use crate::state::{DrawError, DrawState};
use crate::surface::targets::Open;
use crate::vertex::Vertices;
use rayon::prelude::*;
use std::sync::OnceLock;

/// The approximate number of quads from which on bands are drawn by themselves. It does not depend on the number of threads, so the state after a
/// fault does not, either.
pub(super) const MANY: u64 = 8 * PER_LAUNCH as u64;

/// Pixels that wait for blending.
const MOST_STAGED: i32 = 1 << 15;

/// The number of pixels of several samples from which on fills are faster.
const LEAST_FILLED: u64 = 64;

/// The number of quads from which on a launch with epilogues is faster than rows of exports: its fixed cost is larger.
const LEAST_MERGED: usize = 48;

/// The approximate number of quads from which on untested pieces are covered block by block.
const LEAST_BLOCKS: u64 = 12;

/// The stored depths and colours of a piece begin to load this many pieces before it is drawn: tiles lie in an order that processors do not foresee.
const PIECES_AHEAD: usize = 8;

/// The bands of a draw's targets, and the program that runs for their pixels.
pub(crate) struct Bands<'a, 't> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) shader: Option<Shader<'a>>,
    /// One for each band, from the top. Targets are one band until a batch has many quads: most draws are small, and bands take as long to make.
    pub(crate) mergers: Vec<Merger<'a, 't>>,
    /// The merger that was there before.
    pub(crate) whole: Option<Merger<'a, 't>>,
    /// Rows of a band, even.
    pub(crate) rows: u32,
    pub(crate) bounds: Rect,
    pub(crate) one_thread: bool,
    /// Quads and pixels that were shaded.
    pub(crate) shaded: [u64; 2],
}

impl<'a, 't> Bands<'a, 't> {
    /// Of a draw; `whole`: with all its targets.
    pub(crate) fn new(
        (runner, state, shader): (&'a Runner<'a>, &'a DrawState<'a>, Option<Shader<'a>>),
        whole: Merger<'a, 't>,
        bounds: Rect,
        one_thread: bool,
    ) -> Self {
        let (mergers, rows) = (vec![whole], Open::rows_of_all(bounds));
        Self { runner, state, shader, mergers, whole: None, rows, bounds, one_thread, shaded: [0; 2] }
    }

    /// Makes the bands, if there are none.
    fn split(&mut self) {
        if self.whole.is_none()
            && let Some(mut whole) = self.mergers.pop()
        {
            (self.rows, self.mergers) = whole.split(self.bounds);
            self.whole = Some(whole);
        }
    }

    /// Draws pieces, in order.
    pub(crate) fn draw(&mut self, Ready { pieces, vertices, .. }: &Ready) -> Result<(), DrawError> {
        if pieces.is_empty() {
            return Ok(());
        }
        let quads = most_quads(pieces);
        if quads >= MANY {
            self.split();
        }
        let is_idle = self.mergers.first().is_some_and(|merger| merger.is_idle(self.shader.is_some()));
        let over = Over::new((self.runner, self.state, self.shader.as_ref()), (pieces, vertices), self.rows, is_idle);
        let done: Vec<Result<[u64; 2], DrawError>> = if quads < MANY || self.mergers.len() == 1 {
            vec![over.draw(&mut self.mergers, self.bounds, 0, pieces, 0..pieces.len() as u32)]
        } else {
            let of_bands = over.pieces_of_bands(self.mergers.len(), pieces);
            let band = |(n, merger): (usize, &mut Merger<'_, '_>)| {
                over.draw_band(std::slice::from_mut(merger), self.bounds, n, pieces, &of_bands[n])
            };
            if self.one_thread {
                self.mergers.iter_mut().enumerate().map(band).collect()
            } else {
                // Bands differ in their work, so threads take them one by one.
                self.mergers.par_iter_mut().enumerate().with_max_len(1).map(band).collect()
            }
        };
        for shaded in done {
            let [quads, pixels] = shaded?;
            self.shaded[0] += quads;
            self.shaded[1] += pixels;
        }
        Ok(())
    }
}

/// The approximate number of quads of pieces.
pub(super) fn most_quads(pieces: &[Piece]) -> u64 {
    pieces.iter().map(Piece::most_quads).fold(0, u64::saturating_add)
}

/// Common data of the bands of a batch.
pub(super) struct Over<'r> {
    runner: &'r Runner<'r>,
    shader: Option<&'r Shader<'r>>,
    coverer: Coverer<'r>,
    /// Samples that the program runs for, one by one; 0: for pixels.
    samples: u8,
    /// The mask of all samples of a pixel.
    all: u8,
    rows: u32,
    vertices: &'r Vertices,
    /// Pixels have several samples.
    state_has_samples: bool,
    /// All pieces lie in layer 0.
    is_flat: bool,
    /// The numbers of large pieces, where all lie in layer 0; otherwise none.
    large: Vec<u32>,
    /// The colours that every pixel exports, computed on first use.
    exported: OnceLock<u8>,
    /// Whether pixels with the same initial values export the same, computed on first use.
    uniform: OnceLock<bool>,
    /// Pixels that pass the tests before the program have no effect, so it does not run.
    is_idle: bool,
}

impl<'r> Over<'r> {
    /// `is_idle`: pixels that pass the tests before the program have no effect.
    pub(super) fn new(
        (runner, state, shader): (&'r Runner<'r>, &'r DrawState<'r>, Option<&'r Shader<'r>>),
        (pieces, vertices): (&[Piece], &'r Vertices),
        rows: u32,
        is_idle: bool,
    ) -> Self {
        let raster = &state.raster;
        let is_flat = pieces.iter().all(|piece| piece.setup.layer == 0);
        let large = (0u32..).zip(pieces).filter(|(_, piece)| is_flat && band::is_large(piece));
        Self {
            runner,
            shader,
            coverer: Coverer::new(raster),
            samples: if raster.per_sample && raster.samples.count > 1 { raster.samples.count as u8 } else { 0 },
            all: raster.samples.all(),
            rows,
            vertices,
            state_has_samples: raster.samples.count > 1,
            is_flat,
            large: large.map(|(number, _)| number).collect(),
            exported: OnceLock::new(),
            uniform: OnceLock::new(),
            is_idle: is_idle && !runner.is_observed(),
        }
    }

    /// The numbers of the pieces that each band may have pixels of.
    pub(super) fn pieces_of_bands(&self, bands: usize, pieces: &[Piece]) -> Vec<Vec<u32>> {
        let rows = self.rows as i32;
        let mut all: Vec<Vec<u32>> = vec![Vec::new(); bands];
        for (number, piece) in (0u32..).zip(pieces) {
            let Rect { top, bottom, .. } = piece.bounds();
            let (first, last) = (top.max(0) / rows, (bottom - 1).max(0) / rows);
            let bands = all.iter_mut().take(last as usize + 1).skip(first as usize);
            bands.for_each(|numbers| numbers.push(number));
        }
        all
    }

    /// Draws the pixels of these pieces in a band.
    pub(super) fn draw_band(
        &self,
        merger: &mut [Merger<'_, '_>],
        bounds: Rect,
        number: usize,
        pieces: &[Piece],
        numbers: &[u32],
    ) -> Result<[u64; 2], DrawError> {
        if numbers.is_empty() {
            return Ok([0; 2]);
        }
        let top = number as i32 * self.rows as i32;
        let within = Rect { top, bottom: top + self.rows as i32, ..bounds }.and(bounds);
        self.draw(merger, within, number, pieces, numbers.iter().copied())
    }

    /// The colours that every pixel exports, or every one that is not killed, where kills count.
    fn exported(&self, shader: &Shader<'_>) -> u8 {
        let kills = shader.state.depth.kill;
        let of = || if kills { shader.exported_by_survivors() } else { shader.always_exported() };
        *self.exported.get_or_init(of)
    }

    /// Whether the program exports the same for all pixels with the same initial values, so that it runs for one of them only.
    fn is_uniform(&self, shader: &Shader<'_>) -> bool {
        !self.runner.is_observed() && *self.uniform.get_or_init(|| shader.is_uniform())
    }

    /// Pixels of pieces that are parts of launches; `None` where launches may not have several parts, or cannot store the colours of each.
    fn least_of_parts(&self, merger: &Merger<'_, '_>) -> Option<LeastPixels> {
        let takes_parts = |shader: &&Shader<'_>| {
            let exported = self.exported(shader);
            let is_merged = || merger.epilogues(exported).is_some() && merger.merges_late(shader.takes_tests());
            self.is_flat
                && self.samples == 0
                && !self.is_idle
                && !self.runner.is_observed()
                && shader.takes_parts()
                && !merger.is_late()
                && merger.has_tiles_of_dwords()
                && (merger.is_replaced(exported) || is_merged())
        };
        self.shader.filter(takes_parts).map(|shader| LeastPixels::of(shader.is_short()))
    }

    /// Quads and pixels of a piece within a rectangle.
    fn count(&self, piece: &Piece, within: Rect) -> [u64; 2] {
        let mut count = [0; 2];
        if self.coverer.has_spans(piece) {
            // The last row of pixels: its number, its first quad, and the one after its last.
            let mut last = [i32::MIN; 3];
            self.coverer.spans(piece, within, &mut |y, left, right| {
                let [begin, end] = [left >> 1, (right + 1) >> 1];
                let both =
                    if last[0] ^ 1 == y && y & 1 == 1 { (end.min(last[2]) - begin.max(last[1])).max(0) } else { 0 };
                count[0] += u64::from((end - begin - both).unsigned_abs());
                count[1] += u64::from((right - left).unsigned_abs());
                last = [y, begin, end];
            });
            return count;
        }
        self.coverer.cover(piece, within, &mut |quad| {
            count[0] += 1;
            count[1] += quad.masks.iter().filter(|&&mask| mask != 0).count() as u64;
        });
        count
    }

    /// Draws the pixels of these pieces within a rectangle, in order; returns the counts of shaded quads and pixels. `first`: the number of the first
    /// of these bands; `numbers`: those of the pieces.
    pub(super) fn draw(
        &self,
        mergers: &mut [Merger<'_, '_>],
        within: Rect,
        first: usize,
        pieces: &[Piece],
        numbers: impl Iterator<Item = u32>,
    ) -> Result<[u64; 2], DrawError> {
        let Some(first_merger) = mergers.first() else { return Ok([0; 2]) };
        let (early, least_of_parts) = (first_merger.early, self.least_of_parts(first_merger));
        let mut batch = Batch {
            over: self,
            mergers,
            first,
            pieces,
            quads: Vec::new(),
            waiting: WaitingParts::default(),
            least_of_parts,
            scratch: Scratch::kept(),
            packed: Packed::default(),
            apart: Apart::default(),
            staged: Staged::default(),
            shaded: [0; 2],
            prefetched: Rect { left: 0, top: 0, right: 0, bottom: 0 },
        };
        let hidden = self.hidden(&batch, within);
        let mut prepared = None;
        for number in numbers {
            let piece = &pieces[number as usize];
            if let Some(soon) = pieces.get(number as usize + PIECES_AHEAD) {
                batch.prefetch(soon.bounds().and(within));
            }
            if !piece.bounds().meets(within) {
                continue;
            }
            let Rect { top, bottom, .. } = piece.bounds().and(within);
            let bands = batch.band_of(top)..=batch.band_of(bottom - 1);
            if prepared.as_ref() != Some(&bands) {
                bands.clone().for_each(|band| batch.mergers[band].prepare());
                prepared = Some(bands);
            }
            let Some(hidden) = &hidden else {
                self.piece(&mut batch, number, within, early)?;
                continue;
            };
            for (part, is_hidden) in hidden.parts(number, within) {
                if is_hidden {
                    batch.count(self.count(piece, part));
                } else {
                    self.piece(&mut batch, number, part, early)?;
                }
            }
        }
        batch.flush()?;
        let Batch { shaded, scratch, .. } = batch;
        scratch.keep();
        Ok(shaded)
    }

    /// The part of a band that later pieces hide; `None` where everything has to run.
    fn hidden(&self, batch: &Batch<'_, '_, '_, '_>, within: Rect) -> Option<Hidden> {
        if self.large.len() < 2 || self.runner.is_observed() {
            return None;
        }
        let (Some(shader), [merger], 0) = (self.shader, &*batch.mergers, self.samples) else { return None };
        if merger.is_replaced(self.exported(shader)) && !merger.tests() {
            Hidden::of(batch.pieces, &self.large, &self.coverer, within)
        } else {
            None
        }
    }

    /// Draws the pixels of the piece of this number within a rectangle.
    fn piece(
        &self,
        batch: &mut Batch<'_, '_, '_, '_>,
        number: u32,
        within: Rect,
        early: bool,
    ) -> Result<(), DrawError> {
        let piece = &batch.pieces[number as usize];
        if batch.copy(piece, within)? {
            return Ok(());
        }
        if self.state_has_samples && self.samples == 0 {
            let inside = self.coverer.whole_quads(piece, within);
            if batch.fill(number, inside)? {
                let Rect { left, top, right, bottom } = inside;
                let around = [
                    Rect { bottom: top, ..within },
                    Rect { top, right: left, bottom, ..within },
                    Rect { left: right, top, bottom, ..within },
                    Rect { top: bottom, ..within },
                ];
                let mut parts = around.into_iter().filter(|part| part.meets(within));
                return parts.try_for_each(|part| self.quads(batch, number, part, early));
            }
        }
        if !band::is_large(piece) || self.samples != 0 {
            return self.quads(batch, number, within, early);
        }
        let Rect { top, bottom, .. } = piece.bounds().and(within);
        for n in batch.band_of(top)..=batch.band_of(bottom - 1) {
            let rows = self.rows as i32;
            let first_row = (batch.first + n) as i32 * rows;
            let part = Rect { top: first_row, bottom: first_row + rows, ..within }.and(within);
            // Few staged colours, so that they stay in caches, and so that memory is bounded.
            let strip = if batch.waits(n) { (MOST_STAGED / (part.right - part.left).max(1)).max(SIDE) } else { rows };
            let mut top = part.top & !1;
            while top < part.bottom {
                // Strips end where tiles do.
                let bottom = (top + strip) & -SIDE;
                let part = Rect { top, bottom, ..part }.and(part);
                if !batch.band(number, part, n)? {
                    self.quads(batch, number, part, early)?;
                }
                top = bottom;
            }
        }
        Ok(())
    }

    /// The same, quad by quad.
    fn quads(
        &self,
        batch: &mut Batch<'_, '_, '_, '_>,
        number: u32,
        within: Rect,
        early: bool,
    ) -> Result<(), DrawError> {
        let piece = &batch.pieces[number as usize];
        batch.settle(piece.bounds().and(within));
        let tests_lanes = |merger: &Merger<'_, '_>| self.samples == 0 && merger.tests_lanes();
        if !batch.mergers.first().is_some_and(tests_lanes) {
            return self.each_quad(batch, number, within, early);
        }
        if batch.small(number, within)? {
            return Ok(());
        }
        let tests = batch.mergers.first().is_some_and(Merger::tests);
        if (tests || piece.most_quads() >= LEAST_BLOCKS) && self.coverer.has_spans(piece) {
            return batch.blocks(number, within);
        }
        self.each_quad(batch, number, within, early)
    }

    /// The same for every kind of piece, with all samples of its pixels.
    fn each_quad(
        &self,
        batch: &mut Batch<'_, '_, '_, '_>,
        number: u32,
        within: Rect,
        early: bool,
    ) -> Result<(), DrawError> {
        let piece = &batch.pieces[number as usize];
        let depths = batch.mergers.first().filter(|_| early).and_then(|merger| merger.sample_depths(&piece.setup));
        let (depths, mut result) = (depths.as_ref(), Ok(()));
        self.coverer.cover(piece, within, &mut |quad: QuadCoverage| {
            if result.is_err() {
                return;
            }
            if self.samples == 0 {
                result = batch.add(ShadeQuad { setup: number, quad, sample: None }, depths, early);
            }
            for sample in 0..self.samples {
                let masks = quad.masks.map(|mask| mask & 1 << sample);
                let quad = QuadCoverage { masks, ..quad };
                if result.is_ok() {
                    result = batch.add(ShadeQuad { setup: number, quad, sample: Some(sample) }, depths, early);
                }
            }
        });
        result
    }
}
