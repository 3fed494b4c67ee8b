//! The pixels of pieces, in bands of rows.
//!
//! Bands are rows of the targets that lie in memory of their own, so that each can be drawn by a thread, in the order of primitives. What is
//! little is drawn by one thread for all bands, with quads of many primitives in a launch.

use crate::draw::run::Ready;
use crate::output::merge::{Merger, Packed};
use crate::pixel::band::{self, Covered, Hidden};
use crate::pixel::shade::{Exports, PER_LAUNCH, Scratch, ShadeQuad, Shader};
use crate::program::{Runner, Staged, Window};
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::piece::{Coverer, Piece};
use crate::state::{DrawError, DrawState};
use crate::vertex::Vertices;
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
        let is_flat = pieces.iter().all(|piece| piece.setup.layer == 0);
        if is_flat {
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
            is_flat,
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
                let Rect { top, bottom, .. } = piece.bounds();
                let (first, last) = (top.max(0) / rows, (bottom - 1).max(0) / rows);
                let bands = of_bands.iter_mut().take(last as usize + 1).skip(first as usize);
                bands.for_each(|numbers| numbers.push(number));
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

/// Pixels of a row that are to be drawn: bits of words of 64 columns.
struct Marks {
    /// The number of the first word.
    first: i32,
    words: Vec<u64>,
}

impl Default for Marks {
    fn default() -> Self {
        Self { first: i32::MAX, words: Vec::new() }
    }
}

impl Marks {
    fn clear(&mut self) {
        self.first = i32::MAX;
        self.words.clear();
    }

    /// Marks those pixels of a span, which begins here, that pass: it is asked for up to 64 pixels from a column on.
    fn fill(&mut self, left: i32, right: i32, mut passes: impl FnMut(i32, usize) -> u64) {
        self.first = left.div_euclid(64);
        let mut x = left;
        while x < right {
            let count = (64 - x.rem_euclid(64)).min(right - x);
            self.words.push(passes(x, count as usize) << x.rem_euclid(64));
            x += count;
        }
    }

    /// The word of this number.
    fn word(&self, number: i32) -> u64 {
        let place = usize::try_from(i64::from(number) - i64::from(self.first));
        place.ok().and_then(|place| self.words.get(place)).copied().unwrap_or(0)
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
    /// All pieces lie in layer 0.
    is_flat: bool,
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
        let mut count = [0; 2];
        if self.coverer.has_spans(piece) {
            // The last row of pixels: its number, its first quad, and the one behind its last.
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
            marks: [Marks::default(), Marks::default()],
            shaded: [0; 2],
        };
        let hidden = self.hidden(&batch, within);
        for number in numbers {
            let piece = &pieces[number as usize];
            if !piece.bounds().meets(within) {
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
        let Rect { top, bottom, .. } = piece.bounds().and(within);
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
    /// Memory for two rows under way.
    marks: [Marks; 2],
    shaded: [u64; 2],
}

impl Batch<'_, '_, '_, '_> {
    /// The band that a row lies in.
    fn band_of(&self, y: i32) -> usize {
        let row = if self.mergers.len() == 1 { 0 } else { y.max(0).cast_unsigned() };
        ((row / self.over.rows) as usize).saturating_sub(self.first).min(self.mergers.len() - 1)
    }

    /// Stores what a launch exported for quads, as targets take it.
    fn store_packed(&mut self, quads: &[ShadeQuad]) {
        let pieces = self.pieces;
        let layer = |quad: &ShadeQuad| pieces[quad.setup as usize].setup.layer;
        let layer: Option<&dyn Fn(&ShadeQuad) -> u32> = if self.over.is_flat { None } else { Some(&layer) };
        let mut number = 0;
        while let Some(first) = quads.get(number) {
            // Quads one after the other that lie in one band.
            let band = self.band_of(first.quad.y);
            let top = (self.first + band) as i32 * self.over.rows as i32;
            let is_there = |quad: &&ShadeQuad| (top..top + self.over.rows as i32).contains(&quad.quad.y);
            let of_band = if self.mergers.len() == 1 {
                quads.len()
            } else {
                quads[number..].iter().take_while(is_there).count().max(1)
            };
            self.mergers[band].store_packed(&quads[number..number + of_band], layer, number, &self.packed);
            number += of_band;
        }
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
        let depths = self.mergers.first().map(|merger| merger.depths(&piece.setup, piece.bounds().and(within)));
        let Some(depths) = depths else { return Ok(()) };
        let mut marks = std::mem::take(&mut self.marks);
        let mut y = i32::MIN;
        marks.iter_mut().for_each(Marks::clear);
        let mut result = Ok(());
        over.coverer.spans(piece, within, &mut |row, left, right| {
            if row & !1 != y {
                if result.is_ok() {
                    result = self.quads_of_rows(number, y, &marks);
                }
                y = row & !1;
                marks.iter_mut().for_each(Marks::clear);
            }
            let band = self.band_of(row);
            let merger = &mut self.mergers[band];
            marks[(row & 1) as usize].fill(left, right, |x, count| merger.test_row(&depths, [x, row], count));
        });
        let result = result.and_then(|()| self.quads_of_rows(number, y, &marks));
        self.marks = marks;
        result
    }

    /// Adds the quads of two rows of pixels that passed all tests.
    fn quads_of_rows(&mut self, number: u32, y: i32, marks: &[Marks; 2]) -> Result<(), DrawError> {
        let all = self.over.all;
        let end =
            |marks: &Marks| if marks.words.is_empty() { i32::MIN } else { marks.first + marks.words.len() as i32 };
        for word in marks[0].first.min(marks[1].first)..end(&marks[0]).max(end(&marks[1])) {
            let [upper, lower] = [&marks[0], &marks[1]].map(|marks| marks.word(word));
            let any = upper | lower;
            // The first bit of each quad.
            let mut left = (any | any >> 1) & 0x5555_5555_5555_5555;
            while left != 0 {
                let at = left.trailing_zeros();
                left &= left - 1;
                let mask = |row: u64, bit: u32| if row >> (at + bit) & 1 == 1 { all } else { 0 };
                let masks = [mask(upper, 0), mask(upper, 1), mask(lower, 0), mask(lower, 1)];
                let quad = QuadCoverage { x: word * 64 + at as i32, y, masks };
                self.quads.push(ShadeQuad { setup: number, quad, sample: None });
                if self.quads.len() == PER_LAUNCH {
                    self.flush()?;
                }
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
            if is_packed {
                self.store_packed(&quads);
            } else {
                for (number, quad) in quads.iter().enumerate() {
                    let (band, setup) = (self.band_of(quad.quad.y), &self.pieces[quad.setup as usize].setup);
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
