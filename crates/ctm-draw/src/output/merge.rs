//! What becomes of a pixel's colours: kill, alpha test, coverage, depth and stencil, blending, storing. Tests of many pixels at once: `merge/lanes.rs`; rows of
//! colours: `merge/rows.rs`.

mod compare;
mod copies;
mod epilogues;
mod fills;
mod lanes;
mod pixels;
mod planes;
mod quads;
mod rows;
mod small;
mod stencil;

use self::lanes::LaneTest;
pub(crate) use self::lanes::SampleDepths;
pub(crate) use self::small::SmallTriangle;
use crate::lanes::{COLUMNS, ROWS};
use crate::output::blend::{self, blend};
use crate::output::watch::{Ending, Fragment, SampleTest, Watch};
use crate::pixel::shade::{Exports, ShadeQuad, count_covered};
use crate::program::{Packed, Staged, Window};
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::Setup;
use crate::state::{AlphaTest, Blend, ColourState, DrawState, LogicOp, Loss, Losses, PixelSource, StencilOp};
use crate::surface::format::Colours;
use crate::surface::samples::Surface;
use crate::surface::targets::{Open, OpenColour, OpenDepth};
use ctm_exec::ExportRow;
use ctm_exec::r700::TargetEpilogue;
use std::sync::{Arc, OnceLock};

/// Colours that pixels of a band have, by output, as bits.
pub(crate) enum Sources<'s> {
    /// Each its own, in rows of the box's width.
    Each(&'s Staged),
    /// All the same.
    One([[u32; 4]; 8]),
}

/// What the program exported for one pixel.
#[derive(Clone, Copy, Default)]
struct Exported {
    depth: Option<f32>,
    stencil: Option<u8>,
    mask: Option<u8>,
}

/// How a target takes colours, looked up once for a draw.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The stored bits that are written.
    pub(super) bits: u128,
    /// Nothing of what is there stays.
    pub(super) replaces: bool,
    /// Blending, where there is one.
    pub(super) blend: Option<Blend>,
}

/// Targets under way, and what is counted.
pub(crate) struct Merger<'a, 't> {
    state: &'a DrawState<'a>,
    open: Open<'t>,
    plans: Arc<Plans>,
    /// Colours replace what is there, and nothing is left to test: [`Self::replace`] is all there is to do.
    plain: bool,
    /// Nothing is left to test, and every pixel has one sample.
    simple: bool,
    /// Quads can be merged many at a time: nothing is left to test, or pixels have one sample and the program decides nothing but colours and kills.
    groups: bool,
    /// The program or the alpha test may drop pixels of one sample each, and all other tests come after that.
    late: bool,
    /// Nothing is left to test after the program, and draws store colours.
    is_early_draw: bool,
    /// The tests of samples, of front and back faces; `None` where a pixel is watched.
    lanes: Option<[LaneTest; 2]>,
    watch: Option<Watch>,
    /// Counts where pixels end, if that is asked for.
    pub(crate) losses: Option<Losses>,
    /// Where the last pixel ended.
    ended: Option<Loss>,
    /// Depth and stencil can be tested before the program.
    pub(crate) early: bool,
    /// Samples that passed all tests.
    pub(crate) samples_passed: u64,
    /// Pixels that something was stored for.
    pub(crate) pixels_written: u64,
}

/// Whether depth and stencil can be tested before the program: it cannot change which samples there are, nor their depth.
fn tests_early(state: &DrawState<'_>) -> bool {
    let depth = &state.depth;
    let exports = depth.export_depth || depth.export_stencil || depth.export_mask;
    let program = !matches!(state.pixels, PixelSource::Nothing);
    let drops = depth.kill || state.colour.alpha_test.is_some() || state.colour.alpha_to_coverage.is_some();
    !(program && (exports || drops))
}

impl Plan {
    /// What a sample of target `n` holds after a colour has come to it; `source1`: the second output.
    #[inline]
    pub(crate) fn after(
        &self,
        colours: &Colours,
        state: &ColourState,
        n: usize,
        stored: u128,
        value: [u32; 4],
        source1: [u32; 4],
    ) -> u128 {
        let of = &state.targets[n];
        let new = if let Some(equations) = &self.blend {
            let given = blend::Colours {
                source: value.map(f32::from_bits),
                source1: source1.map(f32::from_bits),
                destination: colours.unpack(stored).map(f32::from_bits),
                constant: state.constant,
            };
            let blended = blend(equations, given, colours.format().number, of.blend_clamp);
            colours.pack(blended.map(f32::to_bits), of.truncate)
        } else {
            state.logic.apply(colours.pack(value, of.truncate), stored)
        };
        stored & !self.bits | new & self.bits
    }
}

/// How targets take colours; of those that are not written, nothing.
pub(crate) struct Plans {
    of: [Option<Plan>; 8],
    /// The epilogues of the targets that are written, computed on first use; `None`: some have none.
    epilogues: OnceLock<Option<Vec<TargetEpilogue>>>,
}

impl Plans {
    pub(crate) fn of(state: &DrawState<'_>, open: &Open<'_>) -> Self {
        let of = std::array::from_fn(|n| {
            let target = open.colour[n].as_ref()?;
            let of = &state.colour.targets[n];
            let bits = target.colours.mask(of.write_mask);
            let copies = state.colour.logic == LogicOp::COPY;
            let blend = of.blend.filter(|_| copies && !target.colours.format().number.is_integer());
            let whole = bits.count_ones() as usize == 8 * target.colours.bytes();
            (bits != 0).then_some(Plan { bits, replaces: whole && copies && blend.is_none(), blend })
        });
        Self { of, epilogues: OnceLock::new() }
    }
}

impl<'a, 't> Merger<'a, 't> {
    /// `plans`: of all bands; `watch`: the pixel whose fragments are reported; `losses`: counts where pixels end.
    pub(crate) fn new(
        state: &'a DrawState<'a>,
        open: Open<'t>,
        plans: &Arc<Plans>,
        watch: Option<[i32; 2]>,
        losses: Option<Losses>,
    ) -> Self {
        let (early, watch) = (tests_early(state), watch.map(Watch::new));
        let is_inspected = watch.is_some() || losses.is_some();
        let special = state.colour.resolve || state.depth.copy.is_some() || is_inspected;
        let one = state.raster.samples.count == 1;
        let simple = early && one && !special;
        let depth = &state.depth;
        let decides = depth.export_depth || depth.export_stencil || depth.export_mask;
        let groups = !special && (early || one && !decides && state.colour.alpha_to_coverage.is_none());
        let has_program = !matches!(state.pixels, PixelSource::Nothing);
        let late = groups && !early && has_program;
        let plain = simple && plans.of.iter().flatten().all(|plan: &Plan| plan.replaces);
        let plans = Arc::clone(plans);
        let lanes = open.depth.as_ref().filter(|_| !is_inspected);
        let is_early_draw = early && !special;
        let lanes = lanes.map(|target| [true, false].map(|face| LaneTest::of(&state.depth, target.format, face)));
        let (samples_passed, pixels_written) = (0, 0);
        Self {
            state,
            open,
            plans,
            plain,
            simple,
            groups,
            late,
            is_early_draw,
            lanes,
            watch,
            losses,
            ended: None,
            early,
            samples_passed,
            pixels_written,
        }
    }

    /// The targets.
    pub(crate) fn into_targets(self) -> Open<'t> {
        self.open
    }

    /// Takes the targets out of it, for mergers of bands, whose results are counted beside its own.
    pub(crate) fn split(&mut self, bounds: Rect) -> (u32, Vec<Self>) {
        let open = std::mem::replace(&mut self.open, Open::nothing(bounds));
        let (rows, bands) = open.split(bounds);
        let watch = self.watch.as_ref().map(|watch| watch.at);
        let losses = || self.losses.as_ref().map(|_| Losses::default());
        let new = |open: Open<'t>| Self::new(self.state, open, &self.plans, watch, losses());
        (rows, bands.into_iter().map(new).collect())
    }

    /// Whether launches may store themselves, if every pixel exports these colours: they replace what targets hold, and nothing is tested after the program.
    pub(crate) fn is_replaced(&self, exported: u8) -> bool {
        let takes = |n: usize, target: &OpenColour<'_>| exported >> n & 1 == 1 && target.can_be_lent();
        let mut targets = self.open.colour.iter().enumerate().filter(|(n, _)| self.plans.of[*n].is_some());
        self.plain
            && !self.state.colour.multiwrite
            && targets.all(|(n, target)| target.as_ref().is_some_and(|target| takes(n, target)))
    }

    /// Whether pixels can be tested many at a time before the program, and nothing is left to test then.
    pub(crate) const fn tests_lanes(&self) -> bool {
        self.simple
    }

    /// Whether pixels may be dropped after the program, and are tested then.
    pub(crate) const fn is_late(&self) -> bool {
        self.late
    }

    /// Whether launches may merge colours before the last tests, or have none. `takes_tests`: as of [`Shader`](crate::pixel::shade::Shader).
    pub(crate) fn merges_late(&self, takes_tests: bool) -> bool {
        let is_kept = self.state.colour.alpha_test.is_none() || self.keeps().is_some();
        !self.late || takes_tests && is_kept && (!self.tests() || self.is_probed())
    }

    /// The alpha test.
    pub(crate) const fn alpha_test(&self) -> Option<AlphaTest> {
        self.state.colour.alpha_test
    }

    /// Whether nothing is left to do with pixels that passed the tests before the program: no colour is stored, if the program's are.
    pub(crate) fn is_idle(&self, has_program: bool) -> bool {
        self.simple && (!has_program || self.plans.of.iter().all(Option::is_none))
    }

    /// Whether depth or stencil decide about pixels before the program.
    pub(crate) fn tests(&self) -> bool {
        self.open.depth.is_some() && (self.state.depth.test.is_some() || self.state.depth.stencil.is_some())
    }

    /// Gets ready for many pixels.
    pub(crate) fn prepare(&self) {
        let colours = self.open.colour.iter().flatten().map(|target| &target.surface);
        colours.chain(self.open.depth.iter().map(|target| &target.surface)).for_each(Surface::find_tiles);
    }

    /// Stores the values of fast clears in a rectangle of the depth target.
    #[inline]
    pub(crate) fn settle_depth(&mut self, rect: Rect) {
        if let Some(target) = &mut self.open.depth {
            target.surface.settle(rect);
        }
    }

    /// The same in the colour targets.
    #[inline]
    pub(crate) fn settle_colours(&mut self, rect: Rect) {
        self.open.colour.iter_mut().flatten().for_each(|target| target.surface.settle(rect));
    }

    /// Begins to load the contents of the targets in the first of these blocks: depth, and the first colour.
    #[inline]
    pub(crate) fn prefetch(&self, blocks: Rect) {
        const COLUMNS_AHEAD: i32 = 4 * COLUMNS;
        const ROWS_AHEAD: i32 = 2 * ROWS;
        let (right, bottom) =
            (blocks.right.min(blocks.left + COLUMNS_AHEAD), blocks.bottom.min(blocks.top + ROWS_AHEAD));
        let depth = self.open.depth.as_ref().filter(|_| self.tests()).map(|target| &target.surface);
        let colour = self.open.colour.iter().flatten().map(|target| &target.surface).next();
        for surface in [depth, colour].into_iter().flatten() {
            let [mut x, mut y] = [blocks.left, blocks.top];
            while y < bottom {
                surface.prefetch_block([x, y]);
                x += COLUMNS;
                if x >= right {
                    (x, y) = (blocks.left, y + ROWS);
                }
            }
        }
    }

    /// Counts lanes of one sample each that passed the tests before the program.
    #[inline]
    pub(crate) fn count_passed(&mut self, lanes: u32) {
        if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(lanes);
        }
    }

    /// Counts pixels, of one sample each, as drawn by launches that store themselves.
    pub(crate) fn count(&mut self, pixels: u64) {
        if !self.state.depth.counts_nothing {
            self.samples_passed += pixels;
        }
        let has_program = !matches!(self.state.pixels, PixelSource::Nothing);
        self.pixels_written += if has_program && self.plans.of.iter().any(Option::is_some) { pixels } else { 0 };
    }

    /// The targets for a launch that stores itself, whose row 0 is this row.
    pub(crate) fn window(&mut self, first_row: i32) -> Window<'_, 't> {
        let of = |is: &dyn Fn(usize) -> bool| (0..8).filter(|&n| is(n)).fold(0, |set, n| set | 1 << n);
        let written = of(&|n| self.plans.of[n].is_some());
        let truncates = of(&|n| self.state.colour.targets[n].truncate) & written;
        Window::Targets { colour: &mut self.open.colour, first_row: first_row.cast_unsigned(), written, truncates }
    }

    /// The outputs that launches store beside targets for blending (bit n = output n), if every pixel exports these colours; 0 where that may not be.
    pub(crate) fn staged(&self, exported: u8) -> u8 {
        let mut wanted = 0;
        for n in 0..8 {
            let Some(plan) = &self.plans.of[n] else { continue };
            wanted |= if self.state.colour.multiwrite { 1 } else { 1 << n };
            wanted |= if plan.blend.as_ref().is_some_and(Blend::reads_source1) { 2 } else { 0 };
        }
        wanted |= u8::from(self.late && self.state.colour.alpha_test.is_some());
        if (self.simple || self.late) && wanted & exported == wanted { wanted } else { 0 }
    }

    /// What came to the watched pixel.
    pub(crate) fn fragments(self) -> Vec<Fragment> {
        self.watch.map(|watch| watch.fragments).unwrap_or_default()
    }

    /// Whoever watches this pixel.
    fn watched(&mut self, at: [i32; 2]) -> Option<&mut Watch> {
        self.watch.as_mut().filter(|watch| watch.at == at)
    }

    /// Tells a fragment's end to whoever watches its pixel.
    fn ends(&mut self, setup: &Setup, at: [i32; 2], covered: u8, sample: Option<u8>, ending: Ending) {
        if let Some(fragment) = self.watched(at).and_then(|watch| watch.fragment(setup, covered, sample)) {
            fragment.ending = ending;
        }
    }

    /// The samples of a quad that pass depth and stencil before the program runs.
    #[inline]
    pub(crate) fn test_early(&mut self, setup: &Setup, samples: Option<&SampleDepths>, quad: &mut ShadeQuad) {
        if self.open.depth.is_some() || self.watch.is_some() {
            self.test_quad(setup, samples, quad);
        } else if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(u32::from_ne_bytes(quad.quad.masks).count_ones());
        }
    }

    fn test_quad(&mut self, setup: &Setup, samples: Option<&SampleDepths>, quad: &mut ShadeQuad) {
        if let Some(depths) = samples {
            self.test_samples(setup, depths, &mut quad.quad);
            return;
        }
        for pixel in 0..4 {
            let mask = quad.quad.masks[pixel];
            if mask != 0 {
                let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                let passed = self.tested(setup, at, mask, Exported::default());
                quad.quad.masks[pixel] = passed;
                if self.watch.is_some() {
                    // What passes goes on to the program.
                    let ending = if passed == 0 { Ending::Tests } else { Ending::Unfinished };
                    self.ends(setup, at, mask, quad.sample, ending);
                }
                if passed == 0 {
                    self.lose(self.ended);
                }
            }
        }
    }

    /// Counts a pixel that ended at a stage, or that was stored.
    fn lose(&mut self, ended: Option<Loss>) {
        match (&mut self.losses, ended) {
            (Some(losses), Some(loss)) => losses.lose(loss, 1),
            (Some(losses), None) => losses.stored += 1,
            (None, _) => {}
        }
    }

    /// The samples of a pixel that pass depth and stencil; their depth and stencil are written.
    fn tested(&mut self, setup: &Setup, at: [i32; 2], mask: u8, exported: Exported) -> u8 {
        let mut passed = 0u8;
        self.ended = Some(Loss::Stencil);
        let raster = &self.state.raster;
        let several = raster.multisample && raster.samples.count > 1;
        // Where samples are not looked at by themselves, they have the depth of the centre.
        let place = |sample: u32| {
            let [x, y] = if several { raster.samples.at[sample as usize % 8] } else { [0; 2] };
            let centre = raster.centre();
            [
                raster.unit.corner(at[0]) + centre + 16 * i64::from(x),
                raster.unit.corner(at[1]) + centre + 16 * i64::from(y),
            ]
        };
        let mut centre = None;
        let mut left = mask;
        while left != 0 {
            let sample = left.trailing_zeros();
            left &= left - 1;
            let depth = match (exported.depth, self.open.depth.is_some()) {
                (_, false) => 0.0,
                (Some(depth), true) => f64::from(depth),
                (None, true) if several => setup.depth(place(sample)),
                (None, true) => *centre.get_or_insert_with(|| setup.depth(place(sample))),
            };
            if self.sample_passes(setup, at, sample, depth, exported.stencil) {
                passed |= 1 << sample;
            }
        }
        if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(passed.count_ones());
        }
        passed
    }

    fn sample_passes(&mut self, setup: &Setup, at: [i32; 2], sample: u32, depth: f64, reference: Option<u8>) -> bool {
        let state = &self.state.depth;
        let Some(target) = &mut self.open.depth else { return true };
        let Some(place) = target.surface.place(at[0], at[1], setup.layer, sample) else { return false };
        let front = state.stencil.filter(|_| target.format.has_stencil());
        let stencil = if setup.is_front { front } else { front.map(|front| state.stencil_back.unwrap_or(front)) };
        if state.test.is_none() && stencil.is_none() {
            return true;
        }
        let bits = target.load(place);
        let (stored_depth, stored_stencil) = target.format.unpack(bits);
        let value = |face: &crate::state::StencilFace| reference.unwrap_or(face.reference);
        let stencil_passes = stencil.is_none_or(|face| face.passes(value(&face), stored_stencil));
        let is_inspected = self.watch.is_some() || self.losses.is_some();
        if !stencil_passes && !is_inspected && stencil.is_some_and(|face| face.fail == StencilOp::Keep) {
            // Nothing changes, whatever the depth is.
            return false;
        }
        let new = target.format.quantised(setup.clamped(state.clear_depth.map_or(depth, f64::from)));
        if let (None, Some(compare), false) = (&stencil, state.test, is_inspected) {
            // What is mostly asked.
            let passes = target.format.passes(compare, new, stored_depth);
            if passes && state.write && new != stored_depth {
                target.store(place, target.format.pack(bits, new, stored_stencil));
            }
            return passes;
        }
        let depth_passes = state.test.is_none_or(|compare| target.format.passes(compare, new, stored_depth));
        let passes = stencil_passes && depth_passes;
        if stencil_passes && !depth_passes {
            self.ended = Some(Loss::Depth);
        }
        if let Some(watch) = self.watch.as_mut().filter(|watch| watch.at == at) {
            let [depth, stored_depth] = [new, stored_depth].map(|bits| target.format.number(bits));
            let sample = sample as u8;
            watch.tests.push(SampleTest { sample, depth, stored_depth, stored_stencil, stencil_passes, depth_passes });
        }
        let new_stencil = stencil.map_or(stored_stencil, |face| {
            let op = match (stencil_passes, depth_passes) {
                (false, _) => face.fail,
                (true, false) => face.depth_fail,
                (true, true) => face.pass,
            };
            match state.clear_stencil.filter(|_| passes) {
                Some(clear) => stored_stencil & !face.write_mask | clear & face.write_mask,
                None => face.after(op, value(&face), stored_stencil),
            }
        });
        let writes = passes && state.write && state.test.is_some();
        let after = target.format.pack(bits, if writes { new } else { stored_depth }, new_stencil);
        if after != bits {
            target.store(place, after);
        }
        passes
    }

    /// What a launch exported for the targets, as they store it, where that is all there is to do with it and they store bytes. Reuses `old`.
    pub(crate) fn pack(&self, exports: &Exports, old: &mut Packed) -> bool {
        let colours = exports.colours(self.state);
        self.plain
            && (0..8).all(|n| {
                let (Some(target), true) = (&self.open.colour[n], self.plans.of[n].is_some()) else { return true };
                let Some(rows) = colours[n] else { return false };
                let truncates = self.state.colour.targets[n].truncate;
                let rows = [0, 1, 2, 3].map(|element: usize| rows[element].bits.as_slice());
                let packed = target.colours.pack_rows(rows, truncates, std::mem::take(&mut old[n]));
                packed.map(|packed| old[n] = packed).is_some()
            })
    }

    /// Stores the colours of quads that [`Self::pack`] has packed: from the quad of this number of a launch on. `layer`: of each quad, if not all lie in layer 0.
    pub(crate) fn store_packed(
        &mut self,
        quads: &[ShadeQuad],
        layer: Option<&dyn Fn(&ShadeQuad) -> u32>,
        number: usize,
        packed: &Packed,
    ) {
        let layer = |quad: &ShadeQuad| layer.map_or(0, |layer| layer(quad));
        let mut has_targets = false;
        let mut dropped = 0;
        for (n, target) in self.open.colour.iter_mut().enumerate() {
            let (Some(target), true) = (target, self.plans.of[n].is_some()) else { continue };
            let Some(bits) = packed[n].get(4 * number..4 * (number + quads.len())) else { continue };
            // The layers of all targets are the same ones for all pixels of a quad.
            (has_targets, dropped) = (true, 0);
            for (quad, bits) in quads.iter().zip(bits.as_chunks::<4>().0) {
                let (QuadCoverage { x, y, masks }, layer) = (quad.quad, layer(quad));
                if target.surface.store_quad([x, y], layer, masks.map(|mask| mask != 0), bits) {
                    continue;
                }
                for (pixel, _) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                    match target.surface.place(x + (pixel as i32 & 1), y + (pixel as i32 >> 1), layer, 0) {
                        Some(place) => target.surface.store(place, bits[pixel].into()),
                        None => dropped += 1,
                    }
                }
            }
        }
        if has_targets {
            self.pixels_written += count_covered(quads) - dropped;
        }
    }

    /// Counts pixels that a launch has merged.
    pub(crate) fn count_written(&mut self, pixels: u64) {
        self.pixels_written += if self.plans.of.iter().any(Option::is_some) { pixels } else { 0 };
    }

    /// Merges a quad, with what the program exported for it: the quad of this number of a launch.
    pub(crate) fn merge(&mut self, quad: &ShadeQuad, setup: &Setup, exports: Option<(&Exports, usize)>) {
        let colours = exports.map(|(exports, _)| exports.colours(self.state)).unwrap_or_default();
        if let (true, Some((_, number))) = (self.plain, exports) {
            self.replace(quad, setup.layer, 4 * number, &colours);
            return;
        }
        for pixel in 0..4 {
            let mask = quad.quad.masks[pixel];
            if mask != 0 {
                let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                let of = exports.map(|(exports, number)| (exports, 4 * number + pixel));
                let ending = self.pixel(setup, at, pixel, mask, of, &colours, quad.sample);
                if self.watch.is_some() {
                    self.ends(setup, at, mask, quad.sample, ending);
                }
                self.lose(match ending {
                    Ending::Killed => Some(Loss::Killed),
                    Ending::AlphaTest => Some(Loss::AlphaTest),
                    Ending::Mask => Some(Loss::Coverage),
                    _ => self.ended,
                });
            }
        }
    }

    /// Stores the colours of a quad where they replace what is there, one sample a pixel: what [`Self::pixel`] does then.
    fn replace(&mut self, quad: &ShadeQuad, layer: u32, first: usize, colours: &[Option<&[ExportRow; 4]>; 8]) {
        let mut written = [false; 4];
        for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.of).enumerate() {
            let (Some(target), true) = (target, plan.is_some()) else { continue };
            let truncates = self.state.colour.targets[n].truncate;
            for pixel in (0..4).filter(|&pixel| quad.quad.masks[pixel] != 0) {
                let value =
                    colours[n].map(|row| [0, 1, 2, 3].map(|e: usize| row[e].bits[first + pixel])).unwrap_or_default();
                let (x, y) = (quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1));
                let Some(place) = target.surface.place(x, y, layer, 0) else { continue };
                let bits = target.colours.pack(value, truncates);
                target.surface.store(place, bits);
                written[pixel] = true;
            }
        }
        self.pixels_written += written.iter().filter(|&&written| written).count() as u64;
    }
}
