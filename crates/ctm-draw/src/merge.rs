//! What becomes of a pixel's colours: kill, alpha test, coverage, depth and stencil, blending, storing.

use crate::blend::{self, blend};
use crate::raster::UNITS;
use crate::setup::Setup;
use crate::shade::ShadeQuad;
use crate::state::{ColourState, DepthCopy, DrawState, LogicOp, PixelSource};
use crate::targets::Open;
use ctm_exec::LaneRows;
use ctm_exec::r700::Target;

/// What the program exported for one pixel.
#[derive(Clone, Copy, Default)]
struct Exported {
    depth: Option<f32>,
    stencil: Option<u8>,
    mask: Option<u8>,
}

/// Targets under way, and what is counted.
pub(crate) struct Merger<'a, 't> {
    state: &'a DrawState<'a>,
    open: Open<'t>,
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

impl<'a, 't> Merger<'a, 't> {
    pub(crate) fn new(state: &'a DrawState<'a>, open: Open<'t>) -> Self {
        Self { state, open, early: tests_early(state), samples_passed: 0, pixels_written: 0 }
    }

    /// The samples of a quad that pass depth and stencil before the program runs.
    pub(crate) fn test_early(&mut self, setup: &Setup, quad: &mut ShadeQuad) {
        for pixel in 0..4 {
            let mask = quad.quad.masks[pixel];
            if mask != 0 {
                let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                quad.quad.masks[pixel] = self.tested(setup, at, mask, Exported::default());
            }
        }
    }

    /// The samples of a pixel that pass depth and stencil; their depth and stencil are written.
    fn tested(&mut self, setup: &Setup, at: [i32; 2], mask: u8, exported: Exported) -> u8 {
        let mut passed = 0u8;
        let raster = &self.state.raster;
        let several = raster.multisample && raster.samples.count > 1;
        // Where samples are not looked at by themselves, they have the depth of the centre.
        let place = |sample: u32| {
            let [x, y] = if several { raster.samples.at[sample as usize % 8] } else { [0; 2] };
            let centre = raster.centre();
            [
                i64::from(at[0]) * UNITS + centre + 16 * i64::from(x),
                i64::from(at[1]) * UNITS + centre + 16 * i64::from(y),
            ]
        };
        let mut centre = None;
        for sample in (0..8).filter(|sample| mask >> sample & 1 == 1) {
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
        let Some(place) = target.place(at[0], at[1], setup.layer, sample) else { return false };
        let front = state.stencil.filter(|_| target.format.has_stencil());
        let stencil = if setup.is_front { front } else { front.map(|front| state.stencil_back.unwrap_or(front)) };
        if state.test.is_none() && stencil.is_none() {
            return true;
        }
        let bits = target.load(place);
        let (stored_depth, stored_stencil) = target.format.unpack(bits);
        let new = target.format.quantised(setup.clamped(state.clear_depth.map_or(depth, f64::from)));
        let value = |face: &crate::state::StencilFace| reference.unwrap_or(face.reference);
        let stencil_passes = stencil.is_none_or(|face| face.passes(value(&face), stored_stencil));
        let depth_passes = state.test.is_none_or(|compare| target.format.passes(compare, new, stored_depth));
        let passes = stencil_passes && depth_passes;
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

    /// Merges quads in order, with what the program exported for them.
    pub(crate) fn merge(&mut self, quads: &[ShadeQuad], setups: &[Setup], rows: Option<&LaneRows<Target>>) {
        for (number, quad) in quads.iter().enumerate() {
            let setup = &setups[quad.setup as usize];
            for pixel in 0..4 {
                let (lane, mask) = (4 * number + pixel, quad.quad.masks[pixel]);
                if mask != 0 {
                    let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                    self.pixel(setup, at, pixel, mask, rows, lane);
                }
            }
        }
    }

    fn pixel(
        &mut self,
        setup: &Setup,
        at: [i32; 2],
        in_quad: usize,
        mut mask: u8,
        rows: Option<&LaneRows<Target>>,
        lane: usize,
    ) {
        let output = |n: u8| -> [u32; 4] {
            let row = rows.and_then(|rows| rows.get(Target::Pixel(n)));
            row.map(|row| std::array::from_fn(|e| row[e].bits[lane])).unwrap_or_default()
        };
        if let Some(rows) = rows {
            if self.state.depth.kill && !rows.survived(lane) {
                return;
            }
            let alpha = f32::from_bits(output(0)[3]);
            if let Some(test) = &self.state.colour.alpha_test
                && !test.compare.holds(&alpha, &test.reference)
            {
                return;
            }
            if let Some(offsets) = self.state.colour.alpha_to_coverage {
                mask &= coverage_of(alpha, self.state.raster.samples.count, offsets[in_quad]);
            }
            let exported = self.exported(rows, lane);
            mask &= exported.mask.unwrap_or(u8::MAX);
            if !self.early {
                mask = self.tested(setup, at, mask, exported);
            }
        }
        if mask == 0 {
            return;
        }
        if self.state.colour.resolve {
            self.resolve(at, setup.layer);
        } else if let Some(copy) = self.state.depth.copy {
            self.copy_depth(at, setup.layer, mask, copy);
        } else if rows.is_some() {
            self.colours(at, setup.layer, mask, output);
        }
    }

    /// The depth export, as far as the state wants it and the program wrote it.
    fn exported(&self, rows: &LaneRows<Target>, lane: usize) -> Exported {
        let depth = &self.state.depth;
        let Some(row) = rows.get(Target::Depth) else { return Exported::default() };
        let element = |n: usize, wanted: bool| {
            let written = row[n].written.get(lane / 64).is_some_and(|word| word >> (lane % 64) & 1 == 1);
            (wanted && written).then(|| row[n].bits[lane])
        };
        Exported {
            depth: element(0, depth.export_depth).map(f32::from_bits),
            stencil: element(1, depth.export_stencil).map(|bits| bits as u8),
            mask: element(2, depth.export_mask).map(|bits| bits as u8),
        }
    }

    /// Blends and stores a pixel's colours in all targets.
    fn colours(&mut self, at: [i32; 2], layer: u32, mask: u8, output: impl Fn(u8) -> [u32; 4]) {
        let ColourState { targets, constant, logic, multiwrite, .. } = &self.state.colour;
        let mut written = false;
        for (n, target) in (0u8..).zip(&mut self.open.colour) {
            let Some(target) = target else { continue };
            let state = &targets[usize::from(n)];
            let format = target.colours.format();
            let bits = target.colours.mask(state.write_mask);
            if bits == 0 {
                continue;
            }
            let value = output(if *multiwrite { 0 } else { n });
            let blends = state.blend.filter(|_| !format.number.is_integer() && *logic == LogicOp::COPY);
            let packed = target.colours.pack(value, state.truncate);
            let all = target.colours.mask(15) == bits && bits.count_ones() as usize == 8 * target.colours.bytes();
            for sample in (0..8).filter(|sample| mask >> sample & 1 == 1) {
                let Some(place) = target.place(at[0], at[1], layer, sample) else { continue };
                let reads = blends.is_some() || *logic != LogicOp::COPY || !all;
                let stored = if reads { target.load(place) } else { 0 };
                let new = if let Some(equations) = &blends {
                    let colours = blend::Colours {
                        source: value.map(f32::from_bits),
                        source1: output(1).map(f32::from_bits),
                        destination: target.colours.unpack(stored).map(f32::from_bits),
                        constant: *constant,
                    };
                    let blended = blend(equations, colours, format.number, state.blend_clamp);
                    target.colours.pack(blended.map(f32::to_bits), state.truncate)
                } else {
                    logic.apply(packed, stored)
                };
                target.store(place, stored & !bits | new & bits);
                written = true;
            }
        }
        self.pixels_written += u64::from(written);
    }

    /// Target 1 gets the mean of the samples of target 0.
    fn resolve(&mut self, at: [i32; 2], layer: u32) {
        let [Some(from), Some(to), ..] = &mut self.open.colour else { return };
        let samples = from.samples();
        let mut sum = [0.0f64; 4];
        let mut first = [0; 4];
        for sample in 0..samples {
            let Some(place) = from.place(at[0], at[1], layer, sample) else { return };
            let colour = from.colours.unpack(from.load(place));
            if sample == 0 {
                first = colour;
            }
            sum.iter_mut().zip(colour).for_each(|(sum, bits)| *sum += f64::from(f32::from_bits(bits)));
        }
        // Integers have no mean: the first sample stands for all.
        let mean = if from.colours.format().number.is_integer() {
            first
        } else {
            sum.map(|sum| ((sum / f64::from(samples)) as f32).to_bits())
        };
        let Some(place) = to.place(at[0], at[1], layer, 0) else { return };
        let bits = to.colours.mask(self.state.colour.targets[1].write_mask);
        let new = to.colours.pack(mean, self.state.colour.targets[1].truncate);
        to.store(place, to.load(place) & !bits | new & bits);
        self.pixels_written += 1;
    }

    /// Target 0 gets stored depth and stencil.
    fn copy_depth(&mut self, at: [i32; 2], layer: u32, mask: u8, copy: DepthCopy) {
        let (Some(depth), Some(to)) = (&self.open.depth, &mut self.open.colour[0]) else { return };
        let from = if copy.first_covered { mask.trailing_zeros() } else { copy.sample.into() };
        let Some(place) = depth.place(at[0], at[1], layer, from.min(7)) else { return };
        let (z, stencil) = depth.format.unpack(depth.load(place));
        for sample in (0..to.samples()).filter(|sample| mask >> sample & 1 == 1) {
            let Some(place) = to.place(at[0], at[1], layer, sample) else { continue };
            // Colours that take depths have the same fields.
            let old = to.load(place) as u64;
            let (old_z, old_stencil) = depth.format.unpack(old);
            let (z, stencil) = (if copy.depth { z } else { old_z }, if copy.stencil { stencil } else { old_stencil });
            to.store(place, depth.format.pack(old, z, stencil).into());
        }
        self.pixels_written += 1;
    }
}

/// The samples that stay for an alpha value ([`ColourState::alpha_to_coverage`]).
fn coverage_of(alpha: f32, samples: u32, offset: u8) -> u8 {
    let stays = |k: &u32| {
        let moved = (k + u32::from(offset)) % samples.max(1);
        f64::from(alpha) * f64::from(samples) > f64::from(moved) + 0.5
    };
    (0..samples.min(8)).filter(stays).fold(0, |set, k| set | 1 << k)
}
