//! Quads of pieces on their way through the pixel program, to the mergers of bands.

use super::apart::Apart;
use super::tiles::{LeastPixels, WaitingParts};
use super::{LEAST_FILLED, LEAST_MERGED, Over};
use crate::lanes::{COLUMNS, Shape, whole};
use crate::output::merge::{Merger, SampleDepths, SmallTriangle, Sources};
use crate::pixel::band::Covered;
use crate::pixel::shade::{Exports, PER_LAUNCH, Scratch, ShadeQuad, Shader, count_covered};
use crate::pixel::starts::Starts;
use crate::program::{LaunchOutput, Packed, Staged, Window};
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::Setup;
use crate::setup::piece::{MOST_SMALL, Piece};
use crate::state::DrawError;
use std::sync::atomic::AtomicU64;

/// A window for the colours of these outputs in a box (bit n = output n), which wait there.
pub(super) fn staged_window<'w>(colours: &'w mut Staged, rect: Rect, outputs: u8) -> Window<'w, 'w> {
    let width = (rect.right - rect.left).cast_unsigned();
    let pixels = width as usize * (rect.bottom - rect.top) as usize;
    for (n, colours) in colours.iter_mut().enumerate() {
        colours.resize(if outputs >> n & 1 == 1 { pixels } else { 0 }, [0; 4]);
    }
    Window::Staged { colours, width }
}

/// Words for the lanes of quads side by side, without any.
fn no_lanes(quads: &[ShadeQuad]) -> Vec<AtomicU64> {
    quads.chunks(16).map(|_| AtomicU64::new(0)).collect()
}

/// The pixels of a band where tests come after the program, and their launch.
pub(super) struct LateBand {
    pub(super) covered: Covered,
    pub(super) starts: Starts,
    /// The column and row of the launch's (0, 0).
    pub(super) first: [i32; 2],
    /// The outputs whose colours are used (bit n = output n).
    pub(super) outputs: u8,
    /// The launch stores its colours itself.
    pub(super) is_merged: bool,
}

/// Quads that wait for the pixel program.
pub(super) struct Batch<'b, 'r, 'a, 't> {
    pub(super) over: &'b Over<'r>,
    pub(super) mergers: &'b mut [Merger<'a, 't>],
    pub(super) first: usize,
    pub(super) pieces: &'b [Piece],
    pub(super) quads: Vec<ShadeQuad>,
    pub(super) waiting: WaitingParts,
    /// Pixels of pieces that are parts of launches; `None` where launches have no parts.
    pub(super) least_of_parts: Option<LeastPixels>,
    pub(super) scratch: Scratch,
    pub(super) packed: Packed,
    pub(super) apart: Apart,
    /// Colours that wait for blending, of the last piece.
    pub(super) staged: Staged,
    pub(super) shaded: [u64; 2],
    /// The blocks that were last loaded ahead.
    pub(super) prefetched: Rect,
}

impl Batch<'_, '_, '_, '_> {
    /// The band of a row.
    pub(super) fn band_of(&self, y: i32) -> usize {
        if self.mergers.len() == 1 {
            return 0;
        }
        ((y.max(0).cast_unsigned() / self.over.rows) as usize).saturating_sub(self.first).min(self.mergers.len() - 1)
    }

    /// Stores a launch's exports for quads in the targets' formats.
    pub(super) fn store_packed(&mut self, quads: &[ShadeQuad]) {
        let pieces = self.pieces;
        let layer = |quad: &ShadeQuad| pieces[quad.setup as usize].setup.layer;
        let layer: Option<&dyn Fn(&ShadeQuad) -> u32> = if self.over.is_flat { None } else { Some(&layer) };
        let mut number = 0;
        while number < quads.len() {
            let (band, count) = self.of_band(&quads[number..]);
            self.mergers[band].store_packed(&quads[number..number + count], layer, number, &self.packed);
            number += count;
        }
    }

    /// Merges quads in layer 0 with a launch's exports for them.
    pub(super) fn merge_quads(&mut self, quads: &[ShadeQuad], exports: &Exports) {
        let mut number = 0;
        while number < quads.len() {
            let (band, count) = self.of_band(&quads[number..]);
            self.mergers[band].merge_quads(&quads[number..number + count], number, self.pieces, exports);
            number += count;
        }
    }

    /// The band of the first quad, and the count of quads from there on in it.
    pub(super) fn of_band(&self, quads: &[ShadeQuad]) -> (usize, usize) {
        let band = quads.first().map_or(0, |quad| self.band_of(quad.quad.y));
        let top = (self.first + band) as i32 * self.over.rows as i32;
        let is_there = |quad: &&ShadeQuad| (top..top + self.over.rows as i32).contains(&quad.quad.y);
        let all = self.mergers.len() == 1;
        (band, if all { quads.len() } else { quads.iter().take_while(is_there).count().max(1) })
    }

    /// Adds a quad. `samples`: of its piece; `early`: it is tested before the program.
    pub(super) fn add(
        &mut self,
        mut quad: ShadeQuad,
        samples: Option<&SampleDepths>,
        early: bool,
    ) -> Result<(), DrawError> {
        if early {
            let band = self.band_of(quad.quad.y);
            self.mergers[band].test_early(&self.pieces[quad.setup as usize].setup, samples, &mut quad);
        }
        if quad.quad.masks != [0; 4] {
            self.quads.push(quad);
            if self.quads.len() >= PER_LAUNCH {
                self.launch(false)?;
            }
        }
        Ok(())
    }

    /// Stores the values of fast clears in a rectangle of all targets.
    pub(super) fn settle(&mut self, rect: Rect) {
        if rect.is_empty() {
            return;
        }
        let bands = self.band_of(rect.top)..=self.band_of(rect.bottom - 1);
        for merger in &mut self.mergers[bands] {
            merger.settle_depth(rect);
            merger.settle_colours(rect);
        }
    }

    /// Begins to load the contents of the targets at a piece that is drawn soon.
    pub(super) fn prefetch(&mut self, piece: Rect) {
        let blocks = whole(piece);
        // Pieces that follow each other often lie in one block.
        if piece.is_empty() || blocks == self.prefetched {
            return;
        }
        self.prefetched = blocks;
        let band = self.band_of(blocks.top);
        self.mergers[band].prefetch(blocks);
    }

    /// Adds the quads of a small triangle, tested one by one; returns whether it is one.
    pub(super) fn small(&mut self, number: u32, within: Rect) -> Result<bool, DrawError> {
        let (over, piece) = (self.over, &self.pieces[number as usize]);
        let Some((edges, bounds)) = over.coverer.small(piece, within) else { return Ok(false) };
        let band = self.band_of(bounds.top);
        if self.band_of(bounds.bottom - 1) != band {
            return Ok(false);
        }
        if self.quads.len() + MOST_SMALL as usize > PER_LAUNCH {
            self.launch(false)?;
        }
        let quads = if over.is_idle { None } else { Some(&mut self.quads) };
        let of = SmallTriangle { number, setup: &piece.setup, edges: &edges, bounds, all: over.all, quads };
        let Some([quads, pixels]) = self.mergers[band].small_triangle(of) else { return Ok(false) };
        if over.is_idle && over.shader.is_some() {
            self.shaded[0] += quads;
            self.shaded[1] += pixels;
        }
        Ok(true)
    }

    /// Adds the quads of a piece, tested block by block.
    pub(super) fn blocks(&mut self, number: u32, within: Rect) -> Result<(), DrawError> {
        let (over, piece) = (self.over, &self.pieces[number as usize]);
        let Some(merger) = self.mergers.first() else { return Ok(()) };
        let (tests, rect) = (merger.tests(), piece.bounds().and(within));
        let depths = tests.then(|| merger.depths(&piece.setup, Shape::Block));
        let is_gathered = self.begin_part(piece, rect)?;
        let mut result = Ok(());
        over.coverer.blocks(piece, within, &mut |at, lanes| {
            if result.is_err() {
                return;
            }
            let band = self.band_of(at[1]);
            let merger = &mut self.mergers[band];
            if let Some(depths) = &depths {
                merger.test_lanes(depths, at, lanes);
            }
            merger.count_passed(lanes.iter().map(|lanes| lanes.count_ones()).sum());
            let passed = (at[0]..).step_by(COLUMNS as usize).zip(lanes).filter(|(_, lanes)| **lanes != 0);
            for (x, lanes) in passed {
                if is_gathered {
                    self.add_to_part([x, at[1]], *lanes);
                } else if result.is_ok() {
                    result = self.quads_of_block(number, [x, at[1]], *lanes);
                }
            }
        });
        result?;
        if is_gathered { self.end_part(number, rect) } else { Ok(()) }
    }

    /// Adds the quads of a block's lanes.
    pub(super) fn quads_of_block(&mut self, number: u32, [x, y]: [i32; 2], lanes: u32) -> Result<(), DrawError> {
        self.quads_of_lanes(number, lanes.into(), |lane| {
            let [column, row] = Shape::Block.at(lane);
            [x + column, y + row]
        })
    }

    /// Adds the quads of lanes, four side by side to each; `at`: the place of a quad's first lane.
    pub(super) fn quads_of_lanes(
        &mut self,
        number: u32,
        lanes: u64,
        at: impl Fn(usize) -> [i32; 2],
    ) -> Result<(), DrawError> {
        let all = u32::from(self.over.all);
        let mut left = lanes;
        while left != 0 {
            let first = left.trailing_zeros() & !3;
            let four = (left >> first & 15) as u32;
            left &= !(15 << first);
            // Each bit becomes a byte.
            let bytes = (four & 1 | (four & 2) << 7 | (four & 4) << 14 | (four & 8) << 21) * all;
            let [x, y] = at(first as usize);
            let quad = QuadCoverage { x, y, masks: bytes.to_le_bytes() };
            self.quads.push(ShadeQuad { setup: number, quad, sample: None });
            if self.quads.len() >= PER_LAUNCH {
                self.launch(false)?;
            }
        }
        Ok(())
    }

    /// Counts quads and pixels that are hidden.
    pub(super) fn count(&mut self, [quads, pixels]: [u64; 2]) {
        self.shaded[0] += quads;
        self.shaded[1] += pixels;
        self.mergers[0].count(pixels);
    }

    /// Whether colours wait for blending where launches draw in a band.
    pub(super) fn waits(&self, band: usize) -> bool {
        let (over, merger) = (self.over, &self.mergers[band]);
        over.shader.is_some_and(|shader| {
            let exported = over.exported(shader);
            !merger.is_replaced(exported)
                && (merger.epilogues(exported).is_none() || !merger.merges_late(shader.takes_tests()))
        })
    }

    fn copy_rows(&mut self, top: i32, spans: &[[i32; 2]]) {
        let band = self.band_of(top);
        self.mergers[band].copy_rows(top, spans);
    }

    /// Copies depth and stencil to a colour target in the pixels of a piece, if that is all there is to do; returns whether it did.
    pub(super) fn copy(&mut self, piece: &Piece, within: Rect) -> Result<bool, DrawError> {
        let over = self.over;
        let copies = self.mergers.first().is_some_and(Merger::copies_rows);
        if !copies || over.runner.is_observed() || piece.setup.layer != 0 || !over.coverer.has_spans(piece) {
            return Ok(false);
        }
        self.flush()?;
        self.settle(piece.bounds().and(within));
        over.runner.goes_on("pixel")?;
        // Rows of a band that follow each other, the first of which is at `top`.
        let (mut top, mut spans) = (0, Vec::new());
        over.coverer.spans(piece, within, &mut |y, left, right| {
            if y != top + spans.len() as i32 || self.band_of(y) != self.band_of(top) {
                self.copy_rows(top, &spans);
                (top, spans) = (y, Vec::new());
            }
            spans.push([left, right]);
        });
        self.copy_rows(top, &spans);
        if over.shader.is_some() {
            let [quads, pixels] = over.count(piece, within);
            self.shaded[0] += quads;
            self.shaded[1] += pixels;
        }
        Ok(true)
    }

    /// Fills pixels of a piece whose samples are all covered, if a fill is faster and complete; returns whether it did.
    pub(super) fn fill(&mut self, number: u32, inside: Rect) -> Result<bool, DrawError> {
        let (over, piece) = (self.over, &self.pieces[number as usize]);
        let pixels = u64::from(inside.right.abs_diff(inside.left)) * u64::from(inside.bottom.abs_diff(inside.top));
        if inside.is_empty() || pixels < LEAST_FILLED || over.runner.is_observed() {
            return Ok(false);
        }
        let exported = over.shader.map_or(u8::MAX, |shader| over.exported(shader));
        let Some(outputs) = self.mergers.first().and_then(|merger| merger.filled(&piece.setup, exported)) else {
            return Ok(false);
        };
        let starts = over.shader.map(|shader| shader.starts(piece, [0; 2], over.vertices));
        let is_uniform = |shader: &Shader<'_>| {
            starts.as_ref().is_some_and(|starts| starts.as_ref().is_some_and(Starts::are_uniform))
                && over.is_uniform(shader)
        };
        if outputs != 0 && !over.shader.is_some_and(is_uniform) {
            return Ok(false);
        }
        if self.quads.iter().any(|quad| quad.quad.rect().meets(inside)) {
            self.flush()?;
        }
        self.make_way(inside)?;
        over.runner.goes_on("pixel")?;
        let colours = match (over.shader, starts.flatten()) {
            (Some(shader), Some(starts)) if outputs != 0 => {
                let fault = |fault| DrawError::Program { stage: "pixel", fault };
                Some(shader.run_one(&starts, outputs).map_err(fault)?)
            }
            _ => None,
        };
        for n in self.band_of(inside.top)..=self.band_of(inside.bottom - 1) {
            let first_row = (self.first + n) as i32 * over.rows as i32;
            let rows = Rect { top: first_row, bottom: first_row + over.rows as i32, ..inside };
            let rows = if self.mergers.len() == 1 { inside } else { rows.and(inside) };
            self.mergers[n].fill(&piece.setup, rows, colours.as_ref());
        }
        if over.shader.is_some() {
            self.shaded[0] += pixels / 4;
            self.shaded[1] += pixels;
        }
        Ok(true)
    }

    /// Draws the pixels of a piece in one band as a whole, if that is legal and faster; returns whether it did.
    pub(super) fn band(&mut self, number: u32, within: Rect, band: usize) -> Result<bool, DrawError> {
        let over = self.over;
        let piece = &self.pieces[number as usize];
        let merger = &self.mergers[band];
        let columns = merger.columns_together();
        if over.is_idle {
            let Some(covered) = Covered::of(piece, &over.coverer, within, columns) else { return Ok(false) };
            over.runner.goes_on("pixel")?;
            self.test(band, &piece.setup, covered);
            return Ok(true);
        }
        let Some(shader) = over.shader else { return Ok(false) };
        let exported = over.exported(shader);
        let is_replaced = merger.is_replaced(exported);
        let staged = merger.staged(exported);
        let is_merged = merger.epilogues(exported).is_some() && merger.merges_late(shader.takes_tests());
        if !is_replaced && staged == 0 {
            return Ok(false);
        }
        let Some(covered) = Covered::of(piece, &over.coverer, within, columns) else { return Ok(false) };
        let rect = covered.rect;
        let first_row = (self.first + band) as i32 * over.rows as i32;
        let first = if is_replaced || is_merged { [0, first_row] } else { [rect.left, rect.top] };
        let Some(starts) = shader.starts(piece, first, over.vertices) else { return Ok(false) };
        // Waiting quads and parts there come first.
        if self.quads.iter().any(|quad| quad.quad.rect().meets(rect)) {
            self.flush()?;
        }
        self.make_way(rect)?;
        over.runner.goes_on("pixel")?;
        if self.mergers[band].is_late() {
            let late = LateBand { covered, starts, first, outputs: staged, is_merged };
            return self.late_band(piece, band, shader, late).map(|()| true);
        }
        let Some(covered) = self.test(band, &piece.setup, covered) else { return Ok(true) };
        let merger = &mut self.mergers[band];
        let fault = |fault| DrawError::Program { stage: "pixel", fault };
        // One colour for all pixels is merged at once, unless blending reads the target: compiled code does that faster.
        let is_one = staged != 0 && !(is_merged && merger.reads_stored());
        if is_one && starts.are_uniform() && over.is_uniform(shader) {
            let colours = shader.run_one(&starts, staged).map_err(fault)?;
            merger.merge_band(&covered, &Sources::One(colours));
            return Ok(true);
        }
        if is_merged || is_replaced {
            merger.settle_colours(covered.rect);
        }
        if is_merged {
            let (window, epilogues) = merger.merged_window(first[1]);
            shader.run_band(&covered, &starts, first, LaunchOutput::all(window, epilogues)).map_err(fault)?;
            return Ok(true);
        }
        if is_replaced {
            let output = LaunchOutput::all(merger.window(first[1]), &[]);
            shader.run_band(&covered, &starts, first, output).map_err(fault)?;
            return Ok(true);
        }
        let window = staged_window(&mut self.staged, rect, staged);
        shader.run_band(&covered, &starts, first, LaunchOutput::all(window, &[])).map_err(fault)?;
        merger.merge_band(&covered, &Sources::Each(&self.staged));
        Ok(true)
    }

    /// Tests pixels of a band before the program, and counts those that pass; returns them if there are any.
    pub(super) fn test(&mut self, band: usize, setup: &Setup, mut covered: Covered) -> Option<Covered> {
        let merger = &mut self.mergers[band];
        if merger.tests() {
            merger.test_band(setup, &mut covered);
        }
        let [quads, pixels] = covered.count();
        if self.over.shader.is_some() {
            self.shaded[0] += quads;
            self.shaded[1] += pixels;
        }
        merger.count(pixels);
        (pixels > 0).then_some(covered)
    }

    /// Draws the parts that wait; then runs the pixel program for all quads, and merges them in order.
    pub(super) fn flush(&mut self) -> Result<(), DrawError> {
        self.launch(true)
    }

    /// The same for all quads, or for most of them: those that are left have places of others.
    pub(super) fn launch(&mut self, all: bool) -> Result<(), DrawError> {
        self.run_parts()?;
        if self.quads.is_empty() {
            return Ok(());
        }
        let mut quads = std::mem::take(&mut self.quads);
        if self.over.is_idle {
            self.over.runner.goes_on("pixel")?;
            if self.over.shader.is_some() {
                self.count_shaded(&quads);
            }
        } else if let Some(shader) = self.over.shader {
            self.over.runner.goes_on("pixel")?;
            self.merge_apart(shader, &mut quads, all)?;
            if !all && quads.len() <= PER_LAUNCH / 2 {
                self.quads = quads;
                return Ok(());
            }
            self.run(shader, &quads)?;
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

    fn count_shaded(&mut self, quads: &[ShadeQuad]) {
        self.shaded[0] += quads.len() as u64;
        self.shaded[1] += count_covered(quads);
    }

    /// Draws quads by launches that merge them with the targets themselves, as long as many of them have places of their own. Leaves the others, in order. `all`: no
    /// more quads follow; otherwise a rest waits for them, as a few large launches take less time than many small ones.
    fn merge_apart(&mut self, shader: &Shader<'_>, quads: &mut Vec<ShadeQuad>, all: bool) -> Result<(), DrawError> {
        let (over, pieces) = (self.over, self.pieces);
        if quads.len() < LEAST_MERGED || !over.is_flat || self.mergers.len() > 1 {
            return Ok(());
        }
        let merger = &self.mergers[0];
        let (is_late, takes_tests) = (merger.is_late(), shader.takes_tests());
        let is_tested =
            if is_late { merger.tests() || !merger.merges_late(takes_tests) } else { !merger.tests_lanes() };
        if is_tested || merger.epilogues(over.exported(shader)).is_none() {
            return Ok(());
        }
        let keeps = merger.keeps().filter(|_| is_late);
        let least = if all { LEAST_MERGED } else { PER_LAUNCH / 2 + 1 };
        while quads.len() >= least {
            let later = self.apart.split(quads);
            let survivors = is_late.then(|| no_lanes(quads));
            let merger = Some(&mut self.mergers[0]).filter(|_| quads.len() >= LEAST_MERGED);
            let Some((window, epilogues)) = merger.and_then(|merger| merger.window_of_quads(quads)) else {
                // At each place they are still in order.
                quads.extend(later);
                return Ok(());
            };
            let output = LaunchOutput { window, epilogues, keeps: keeps.as_ref(), survivors: survivors.as_deref() };
            shader
                .run_merged((quads, pieces, over.vertices), &mut self.scratch, output)
                .map_err(|fault| DrawError::Program { stage: "pixel", fault })?;
            self.count_shaded(quads);
            match survivors {
                Some(survivors) => {
                    let left = survivors.into_iter().map(|lanes| u64::from(lanes.into_inner().count_ones())).sum();
                    self.mergers[0].count(left);
                }
                None => self.mergers[0].count_written(count_covered(quads)),
            }
            quads.clear();
            quads.extend(later);
        }
        Ok(())
    }

    /// Runs the pixel program for quads, and merges its exports in order.
    fn run(&mut self, shader: &Shader<'_>, quads: &[ShadeQuad]) -> Result<(), DrawError> {
        if quads.is_empty() {
            return Ok(());
        }
        self.count_shaded(quads);
        let exports = shader
            .run(quads, self.pieces, self.over.vertices, &mut self.scratch)
            .map_err(|fault| DrawError::Program { stage: "pixel", fault })?;
        if self.mergers[0].pack(&exports, &mut self.packed) {
            self.store_packed(quads);
        } else if self.over.is_flat && self.mergers[0].merges_quads() {
            self.merge_quads(quads, &exports);
        } else {
            for (number, quad) in quads.iter().enumerate() {
                let (band, setup) = (self.band_of(quad.quad.y), &self.pieces[quad.setup as usize].setup);
                self.mergers[band].merge(quad, setup, Some((&exports, number)));
            }
        }
        self.scratch.exports = Some(exports);
        Ok(())
    }
}
