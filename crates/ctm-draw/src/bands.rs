//! The pixels of pieces, in bands of rows.
//!
//! Bands are rows of the targets that lie in memory of their own, so that each can be drawn by a thread, in the order of primitives. What is
//! little is drawn by one thread for all bands, with quads of many primitives in a launch.

use crate::band::{self, Covered, Hidden};
use crate::draw::DrawError;
use crate::merge::{Merger, Packed};
use crate::primitives::{Coverer, Piece};
use crate::raster::{QuadCoverage, Rect};
use crate::run::Ready;
use crate::shade::{Exports, PER_LAUNCH, Scratch, ShadeQuad, Shader};
use crate::stage::{Runner, Staged, Window};
use crate::state::DrawState;
use crate::vertices::Vertices;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Quads, roughly, from which on bands are drawn by themselves. It does not depend on the number of threads, so that neither does what a
/// fault leaves behind.
const MANY: u64 = 4 * PER_LAUNCH as u64;

/// The bands of a draw's targets, and the program that runs for their pixels.
pub(crate) struct Bands<'a, 't> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) shader: Option<Shader<'a>>,
    /// One for each band, from the top.
    pub(crate) mergers: Vec<Merger<'a, 't>>,
    /// Rows of a band, even.
    pub(crate) rows: u32,
    pub(crate) bounds: Rect,
    pub(crate) one_thread: bool,
    /// Quads and pixels that were shaded.
    pub(crate) shaded: [u64; 2],
}

impl Bands<'_, '_> {
    /// Draws pieces, in order.
    pub(crate) fn draw(&mut self, Ready { pieces, vertices }: &Ready) -> Result<(), DrawError> {
        if pieces.is_empty() {
            return Ok(());
        }
        let coverer = Coverer::new(&self.state.raster);
        let raster = &self.state.raster;
        let samples = if raster.per_sample && raster.samples.count > 1 { raster.samples.count as u8 } else { 0 };
        let (runner, shader) = (self.runner, self.shader.as_ref());
        let mut large = Vec::new();
        if pieces.iter().all(|piece| piece.setup.layer == 0) {
            large.extend((0u32..).zip(pieces).filter(|(_, piece)| band::is_large(piece)).map(|(number, _)| number));
        }
        let over = Over {
            runner,
            shader,
            coverer: &coverer,
            samples,
            rows: self.rows,
            vertices,
            large: &large,
            exported: OnceLock::new(),
        };
        let quads = pieces.iter().map(Piece::most_quads).fold(0, u64::saturating_add);
        let rows = self.rows as i32;
        let done: Vec<Result<[u64; 2], DrawError>> = if quads < MANY || self.mergers.len() == 1 {
            vec![over.draw(&mut self.mergers, self.bounds, 0, pieces)]
        } else {
            let band = |(n, merger): (usize, &mut Merger<'_, '_>)| {
                let top = n as i32 * rows;
                let within = Rect { top, bottom: top + rows, ..self.bounds }.and(self.bounds);
                if pieces.iter().any(|piece| piece.rows()[0] < within.bottom && within.top < piece.rows()[1]) {
                    merger.prepare();
                }
                over.draw(std::slice::from_mut(merger), within, n, pieces)
            };
            if self.one_thread {
                self.mergers.iter_mut().enumerate().map(band).collect()
            } else {
                self.mergers.par_iter_mut().enumerate().map(band).collect()
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

/// What bands of a batch have in common.
struct Over<'r> {
    runner: &'r Runner<'r>,
    shader: Option<&'r Shader<'r>>,
    coverer: &'r Coverer<'r>,
    /// Samples that the program runs for, each by itself; 0: for pixels.
    samples: u8,
    rows: u32,
    vertices: &'r Vertices,
    /// The numbers of large pieces, where all lie in layer 0; otherwise none.
    large: &'r [u32],
    /// The colours that every pixel exports, once somebody has asked.
    exported: OnceLock<u8>,
}

impl Over<'_> {
    /// The colours that every pixel exports.
    fn exported(&self, shader: &Shader<'_>) -> u8 {
        *self.exported.get_or_init(|| shader.always_exported())
    }

    /// Quads and pixels of a piece within a rectangle.
    fn count(&self, piece: &Piece, within: Rect) -> [u64; 2] {
        if let Some(covered) = Covered::of(piece, self.coverer, within) {
            return covered.count();
        }
        let mut count = [0; 2];
        self.coverer.cover(piece, within, &mut |quad| {
            count[0] += 1;
            count[1] += quad.masks.iter().filter(|&&mask| mask != 0).count() as u64;
        });
        count
    }

    /// Draws the pixels of these pieces within a rectangle, in order; gives how many quads and pixels were shaded. `first`: the number of the first of
    /// these bands.
    fn draw(
        &self,
        mergers: &mut [Merger<'_, '_>],
        within: Rect,
        first: usize,
        pieces: &[Piece],
    ) -> Result<[u64; 2], DrawError> {
        let Some(early) = mergers.first().map(|merger| merger.early) else { return Ok([0; 2]) };
        let mut batch = Batch {
            over: self,
            mergers,
            first,
            pieces,
            quads: Vec::new(),
            scratch: Scratch::default(),
            exports: None,
            packed: Packed::default(),
            staged: Staged::default(),
            shaded: [0; 2],
        };
        let hidden = self.hidden(&batch, within);
        for (number, piece) in (0u32..).zip(pieces) {
            let [top, bottom] = piece.rows();
            if bottom <= within.top || within.bottom <= top {
                continue;
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
        Ok(batch.shaded)
    }

    /// What later pieces hide of a band; `None` where everything is to run.
    fn hidden(&self, batch: &Batch<'_, '_, '_, '_>, within: Rect) -> Option<Hidden> {
        if self.large.len() < 2 || self.runner.is_observed() {
            return None;
        }
        let (Some(shader), [merger], 0) = (self.shader, &*batch.mergers, self.samples) else { return None };
        if merger.is_replaced(self.exported(shader)) && !merger.tests() {
            Hidden::of(batch.pieces, self.large, self.coverer, within)
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
        if !band::is_large(piece) || self.samples != 0 {
            return self.quads(batch, number, within, early);
        }
        let [top, bottom] = piece.rows();
        let (top, bottom) = (top.max(within.top), bottom.min(within.bottom));
        for n in batch.band_of(top)..=batch.band_of(bottom - 1) {
            let rows = self.rows as i32;
            let first_row = (batch.first + n) as i32 * rows;
            let part = Rect { top: first_row, bottom: first_row + rows, ..within }.and(within);
            if !batch.band(number, part, n)? {
                self.quads(batch, number, part, early)?;
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
        let mut result = Ok(());
        self.coverer.cover(piece, within, &mut |quad: QuadCoverage| {
            if result.is_err() {
                return;
            }
            if self.samples == 0 {
                result = batch.add(ShadeQuad { setup: number, quad, sample: None }, early);
            }
            for sample in 0..self.samples {
                let masks = quad.masks.map(|mask| mask & 1 << sample);
                let quad = QuadCoverage { masks, ..quad };
                if result.is_ok() {
                    result = batch.add(ShadeQuad { setup: number, quad, sample: Some(sample) }, early);
                }
            }
        });
        result
    }
}

/// Quads that wait for the pixel program.
struct Batch<'b, 'r, 'a, 't> {
    over: &'b Over<'r>,
    mergers: &'b mut [Merger<'a, 't>],
    first: usize,
    pieces: &'b [Piece],
    quads: Vec<ShadeQuad>,
    scratch: Scratch,
    /// Rows of the last launch, for the next one.
    exports: Option<Exports>,
    packed: Packed,
    /// Colours that wait for blending, of the last piece.
    staged: Staged,
    shaded: [u64; 2],
}

impl Batch<'_, '_, '_, '_> {
    /// The band that a row lies in.
    fn band_of(&self, y: i32) -> usize {
        (y.max(0) as usize / self.over.rows as usize - self.first).min(self.mergers.len() - 1)
    }

    fn add(&mut self, mut quad: ShadeQuad, early: bool) -> Result<(), DrawError> {
        if early {
            let band = self.band_of(quad.quad.y);
            self.mergers[band].test_early(&self.pieces[quad.setup as usize].setup, &mut quad);
        }
        if quad.quad.masks != [0; 4] {
            self.quads.push(quad);
            if self.quads.len() == PER_LAUNCH {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Counts quads and pixels that are hidden.
    fn count(&mut self, [quads, pixels]: [u64; 2]) {
        self.shaded[0] += quads;
        self.shaded[1] += pixels;
        self.mergers[0].count(pixels);
    }

    /// Draws the pixels of a piece in one band by a launch of its own, if that is worth it and may be; says whether it did.
    fn band(&mut self, number: u32, within: Rect, band: usize) -> Result<bool, DrawError> {
        let over = self.over;
        let piece = &self.pieces[number as usize];
        let (Some(shader), merger) = (over.shader, &self.mergers[band]) else { return Ok(false) };
        let exported = over.exported(shader);
        let is_replaced = merger.is_replaced(exported);
        let staged = if is_replaced { 0 } else { merger.staged(exported) };
        if !is_replaced && staged == 0 {
            return Ok(false);
        }
        let Some(mut covered) = Covered::of(piece, over.coverer, within) else { return Ok(false) };
        let rect = covered.rect;
        let first_row = (self.first + band) as i32 * over.rows as i32;
        let first = if is_replaced { [0, first_row] } else { [rect.left, rect.top] };
        let Some(starts) = shader.starts(piece, first, over.vertices) else { return Ok(false) };
        // What waits there comes first.
        if self.quads.iter().any(|quad| quad.quad.rect().meets(rect)) {
            self.flush()?;
        }
        over.runner.goes_on("pixel")?;
        let merger = &mut self.mergers[band];
        if merger.tests() {
            merger.test_band(&piece.setup, &mut covered);
        }
        let count = covered.count();
        self.shaded[0] += count[0];
        self.shaded[1] += count[1];
        merger.count(count[1]);
        if count[1] == 0 {
            return Ok(true);
        }
        let fault = |fault| DrawError::Program { stage: "pixel", fault };
        if is_replaced {
            shader.run_band(&covered, &starts, first, merger.window(first[1])).map_err(fault)?;
            return Ok(true);
        }
        let width = (rect.right - rect.left).cast_unsigned();
        let pixels = width as usize * (rect.bottom - rect.top) as usize;
        for (n, colours) in self.staged.iter_mut().enumerate() {
            colours.resize(if staged >> n & 1 == 1 { pixels } else { 0 }, [0; 4]);
        }
        let window = Window::Staged { colours: &mut self.staged, width };
        shader.run_band(&covered, &starts, first, window).map_err(fault)?;
        merger.merge_band(&covered, &self.staged);
        Ok(true)
    }

    /// Runs the pixel program for all quads, then merges them in order.
    fn flush(&mut self) -> Result<(), DrawError> {
        if self.quads.is_empty() {
            return Ok(());
        }
        let quads = std::mem::take(&mut self.quads);
        if let Some(shader) = self.over.shader {
            self.over.runner.goes_on("pixel")?;
            let covered = quads.iter().flat_map(|quad| quad.quad.masks).filter(|&mask| mask != 0).count();
            self.shaded[0] += quads.len() as u64;
            self.shaded[1] += covered as u64;
            let exports = shader
                .run(&quads, self.pieces, self.over.vertices, &mut self.scratch, self.exports.take())
                .map_err(|fault| DrawError::Program { stage: "pixel", fault })?;
            let is_packed = self.mergers[0].pack(&exports, &mut self.packed);
            for (number, quad) in quads.iter().enumerate() {
                let (band, setup) = (self.band_of(quad.quad.y), &self.pieces[quad.setup as usize].setup);
                if is_packed {
                    self.mergers[band].store_packed(quad, setup.layer, number, &self.packed);
                } else {
                    self.mergers[band].merge(quad, setup, Some((&exports, number)));
                }
            }
            self.exports = Some(exports);
        } else {
            for quad in &quads {
                let band = self.band_of(quad.quad.y);
                self.mergers[band].merge(quad, &self.pieces[quad.setup as usize].setup, None);
            }
        }
        self.quads = quads;
        self.quads.clear();
        Ok(())
    }
}
