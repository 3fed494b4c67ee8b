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

/// Pixels that wait for blending.
const MOST_STAGED: i32 = 1 << 15;

/// Quads, roughly, from which on pieces are looked at row by row.
const LEAST_SPANS: u64 = 12;

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
            all: raster.samples.all(),
            rows: self.rows,
            vertices,
            large: &large,
            exported: OnceLock::new(),
        };
        let quads = pieces.iter().map(Piece::most_quads).fold(0, u64::saturating_add);
        let rows = self.rows as i32;
        let done: Vec<Result<[u64; 2], DrawError>> = if quads < MANY || self.mergers.len() == 1 {
            vec![over.draw(&mut self.mergers, self.bounds, 0, pieces, 0..pieces.len() as u32)]
        } else {
            // The numbers of the pieces that each band may have pixels of.
            let mut of_bands: Vec<Vec<u32>> = vec![Vec::new(); self.mergers.len()];
            for (number, piece) in (0u32..).zip(pieces) {
                let [top, bottom] = piece.rows();
                if top < bottom {
                    let (first, last) = (top.max(0) / rows, (bottom - 1).max(0) / rows);
                    let bands = of_bands.iter_mut().take(last as usize + 1).skip(first as usize);
                    bands.for_each(|numbers| numbers.push(number));
                }
            }
            let band = |(n, merger): (usize, &mut Merger<'_, '_>)| {
                let top = n as i32 * rows;
                let within = Rect { top, bottom: top + rows, ..self.bounds }.and(self.bounds);
                let numbers = &of_bands[n];
                if numbers.is_empty() {
                    return Ok([0; 2]);
                }
                merger.prepare();
                over.draw(std::slice::from_mut(merger), within, n, pieces, numbers.iter().copied())
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
    /// The mask of all samples of a pixel.
    all: u8,
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
    /// these bands; `numbers`: those of the pieces.
    fn draw(
        &self,
        mergers: &mut [Merger<'_, '_>],
        within: Rect,
        first: usize,
        pieces: &[Piece],
        numbers: impl Iterator<Item = u32>,
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
            marks: [Vec::new(), Vec::new()],
            depths: Vec::new(),
            shaded: [0; 2],
        };
        let hidden = self.hidden(&batch, within);
        for number in numbers {
            let piece = &pieces[number as usize];
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
            // What waits for blending is little, so that it stays in caches, and so that memory is bounded.
            let strip = if batch.waits(n) { (MOST_STAGED / (part.right - part.left).max(1)).max(2) & !1 } else { rows };
            let mut top = part.top & !1;
            while top < part.bottom {
                let part = Rect { top, bottom: top + strip, ..part }.and(part);
                if !batch.band(number, part, n)? {
                    self.quads(batch, number, part, early)?;
                }
                top += strip;
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
        let tests_rows = batch.mergers.first().is_some_and(Merger::tests_rows);
        if self.samples == 0 && tests_rows && piece.most_quads() >= LEAST_SPANS && self.coverer.has_spans(piece) {
            return batch.spans(number, within);
        }
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
    /// Memory for rows under way.
    marks: [Vec<bool>; 2],
    depths: Vec<f64>,
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

    /// Adds the quads of a piece that covers one span of each row, tested row by row.
    fn spans(&mut self, number: u32, within: Rect) -> Result<(), DrawError> {
        let (over, piece) = (self.over, &self.pieces[number as usize]);
        let [top, bottom] = piece.rows();
        let rows = Rect { top: top.max(within.top), bottom: bottom.min(within.bottom), ..within };
        // Of the two rows of quads under way: the first column, and which pixels are to be drawn.
        let mut marks: [Vec<bool>; 2] = std::mem::take(&mut self.marks);
        let mut begin = [0; 2];
        let mut y = i32::MIN;
        marks.iter_mut().for_each(Vec::clear);
        let mut result = Ok(());
        over.coverer.spans(piece, rows, &mut |row, left, right| {
            if row & !1 != y {
                if result.is_ok() {
                    result = self.quads_of_rows(number, y, begin, &marks);
                }
                y = row & !1;
                marks.iter_mut().for_each(Vec::clear);
            }
            let n = (row & 1) as usize;
            begin[n] = left;
            marks[n].resize((right - left) as usize, true);
            let band = self.band_of(row);
            self.mergers[band].test_row(&piece.setup, [left, row], &mut self.depths, &mut marks[n]);
        });
        let result = result.and_then(|()| self.quads_of_rows(number, y, begin, &marks));
        self.marks = marks;
        result
    }

    /// Adds the quads of two rows of pixels that passed all tests.
    fn quads_of_rows(&mut self, number: u32, y: i32, begin: [i32; 2], marks: &[Vec<bool>; 2]) -> Result<(), DrawError> {
        let all = self.over.all;
        let first = |n: usize| if marks[n].is_empty() { i32::MAX } else { begin[n] };
        let end = |n: usize| if marks[n].is_empty() { i32::MIN } else { begin[n] + marks[n].len() as i32 };
        let (left, right) = (first(0).min(first(1)), end(0).max(end(1)));
        let mut x = left & !1;
        while x < right {
            let mask = |n: usize, x: i32| {
                let is_drawn = x >= begin[n] && marks[n].get((x - begin[n]) as usize).is_some_and(|&mark| mark);
                if is_drawn { all } else { 0 }
            };
            let masks = [mask(0, x), mask(0, x + 1), mask(1, x), mask(1, x + 1)];
            if masks != [0; 4] {
                self.quads.push(ShadeQuad { setup: number, quad: QuadCoverage { x, y, masks }, sample: None });
                if self.quads.len() == PER_LAUNCH {
                    self.flush()?;
                }
            }
            x += 2;
        }
        Ok(())
    }

    /// Counts quads and pixels that are hidden.
    fn count(&mut self, [quads, pixels]: [u64; 2]) {
        self.shaded[0] += quads;
        self.shaded[1] += pixels;
        self.mergers[0].count(pixels);
    }

    /// Whether colours wait for blending where launches draw in a band.
    fn waits(&self, band: usize) -> bool {
        self.over.shader.is_some_and(|shader| !self.mergers[band].is_replaced(self.over.exported(shader)))
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
