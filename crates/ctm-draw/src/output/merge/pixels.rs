//! Single pixels: kills and coverage of the program, late tests, colours, resolves.

use super::{Exported, Merger};
use crate::output::watch::{Ending, Stored};
use crate::pixel::shade::Exports;
use crate::setup::Setup;
use crate::state::{DepthCopy, Loss};
use ctm_exec::ExportRow;

impl Merger<'_, '_> {
    #[allow(clippy::too_many_arguments, reason = "a pixel, and what is known of it")]
    pub(super) fn pixel(
        &mut self,
        setup: &Setup,
        at: [i32; 2],
        in_quad: usize,
        mut mask: u8,
        exports: Option<(&Exports, usize)>,
        colours: &[Option<&[ExportRow; 4]>; 8],
        sample: Option<u8>,
    ) -> Ending {
        let covered = mask;
        if let Some((exports, lane)) = exports {
            if let Some(fragment) = self.watched(at).and_then(|watch| watch.fragment(setup, covered, sample)) {
                fragment.exports(exports, lane);
            }
            if self.state.depth.kill && !exports.survived(lane) {
                return Ending::Killed;
            }
            let alpha = || colours[0].map_or(0.0, |row| f32::from_bits(row[3].bits[lane]));
            if let Some(test) = &self.state.colour.alpha_test
                && !test.passes(alpha())
            {
                return Ending::AlphaTest;
            }
            if let Some(offsets) = self.state.colour.alpha_to_coverage {
                mask &= coverage_of(alpha(), self.state.raster.samples.count, offsets[in_quad]);
            }
            let exported = self.exported(exports, lane);
            mask &= exported.mask.unwrap_or(u8::MAX);
            if mask == 0 {
                return Ending::Mask;
            }
            if !self.early {
                mask = self.tested(setup, at, mask, exported);
            }
        }
        if mask == 0 {
            return Ending::Tests;
        }
        if let Some(fragment) = self.watched(at).and_then(|watch| watch.fragment(setup, covered, sample)) {
            fragment.passed = mask;
        }
        self.ended = None;
        if self.state.colour.resolve {
            self.resolve(at, setup.layer);
        } else if let Some(copy) = self.state.depth.copy {
            self.copy_depth(at, setup.layer, mask, copy);
        } else if let Some((_, lane)) = exports {
            self.colours(setup, at, mask, lane, colours, (covered, sample));
        } else {
            self.ended = Some(Loss::DepthOnly);
        }
        Ending::Stored
    }

    /// The depth export, as far as the state wants it and the program wrote it.
    fn exported(&self, exports: &Exports, lane: usize) -> Exported {
        let depth = &self.state.depth;
        let Some(row) = exports.depth() else { return Exported::default() };
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

    /// Blends and stores a pixel's colours in all targets. `fragment`: its covered samples and the sample that it is.
    fn colours(
        &mut self,
        setup: &Setup,
        at: [i32; 2],
        mask: u8,
        lane: usize,
        colours: &[Option<&[ExportRow; 4]>; 8],
        (covered, sample_of): (u8, Option<u8>),
    ) {
        let state = &self.state.colour;
        let value_of = |n: usize| -> [u32; 4] {
            colours[n].map(|row| [0, 1, 2, 3].map(|e: usize| row[e].bits[lane])).unwrap_or_default()
        };
        let is_counted = self.losses.is_some();
        let is_exported = |n: usize| {
            let of = |row: &ExportRow| row.written.get(lane / 64).is_some_and(|word| word >> (lane % 64) & 1 == 1);
            colours[n].is_some_and(|row| row.iter().any(of))
        };
        let (mut written, mut exported, mut changed) = (false, false, false);
        for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.of).enumerate() {
            let (Some(target), Some(plan)) = (target, plan) else { continue };
            exported |= is_counted && is_exported(n);
            let (value, source1) = (value_of(n), value_of(1));
            let mut left = mask;
            while left != 0 {
                let sample = left.trailing_zeros();
                left &= left - 1;
                let Some(place) = target.surface.place(at[0], at[1], setup.layer, sample) else { continue };
                let watches = self.watch.as_ref().is_some_and(|watch| watch.at == at);
                let stored = if plan.replaces && !watches && !is_counted { 0 } else { target.surface.load(place) };
                let after = plan.after(&target.colours, state, n, stored, value, source1);
                target.surface.store(place, after);
                (written, changed) = (true, changed || after != stored);
                if let (true, Some(watch)) = (watches, &mut self.watch)
                    && let Some(fragment) = watch.fragment(setup, covered, sample_of)
                    && !fragment.stored.iter().any(|stored| usize::from(stored.target) == n)
                {
                    let [before, after] = [stored, after].map(|bits| target.colours.unpack(bits));
                    fragment.stored.push(Stored { target: n as u8, sample: sample as u8, before, after });
                }
            }
        }
        self.pixels_written += u64::from(written);
        self.ended = match () {
            () if !written => Some(Loss::Masked),
            () if !exported => Some(Loss::Unexported),
            () if !changed => Some(Loss::Unchanged),
            () => None,
        };
    }

    /// Target 1 gets the mean of the samples of target 0.
    fn resolve(&mut self, at: [i32; 2], layer: u32) {
        let [Some(from), Some(to), ..] = &mut self.open.colour else { return };
        let samples = from.surface.layout().samples;
        let mut sum = [0.0f64; 4];
        let mut first = [0; 4];
        for sample in 0..samples {
            let Some(place) = from.surface.place(at[0], at[1], layer, sample) else { return };
            let colour = from.colours.unpack(from.surface.load(place));
            if sample == 0 {
                first = colour;
            }
            sum.iter_mut().zip(colour).for_each(|(sum, bits)| *sum += f64::from(f32::from_bits(bits)));
        }
        // Integers have no mean: the first sample is the result.
        let mean = if from.colours.format().number.is_integer() {
            first
        } else {
            sum.map(|sum| ((sum / f64::from(samples)) as f32).to_bits())
        };
        let Some(place) = to.surface.place(at[0], at[1], layer, 0) else { return };
        let bits = to.colours.mask(self.state.colour.targets[1].write_mask);
        let new = to.colours.pack(mean, self.state.colour.targets[1].truncate);
        to.surface.store(place, to.surface.load(place) & !bits | new & bits);
        self.pixels_written += 1;
    }

    /// Target 0 gets stored depth and stencil.
    fn copy_depth(&mut self, at: [i32; 2], layer: u32, mask: u8, copy: DepthCopy) {
        let (Some(depth), Some(to)) = (&self.open.depth, &mut self.open.colour[0]) else { return };
        let from = if copy.first_covered { mask.trailing_zeros() } else { copy.sample.into() };
        let Some(place) = depth.surface.place(at[0], at[1], layer, from.min(7)) else { return };
        let (z, stencil) = depth.format.unpack(depth.load(place));
        for sample in (0..to.surface.layout().samples).filter(|sample| mask >> sample & 1 == 1) {
            let Some(place) = to.surface.place(at[0], at[1], layer, sample) else { continue };
            // Colours that take depths have the same fields.
            let old = to.surface.load(place) as u64;
            let (old_z, old_stencil) = depth.format.unpack(old);
            let (z, stencil) = (if copy.depth { z } else { old_z }, if copy.stencil { stencil } else { old_stencil });
            to.surface.store(place, depth.format.pack(old, z, stencil).into());
        }
        self.pixels_written += 1;
    }
}

/// The samples that stay for an alpha value ([`ColourState::alpha_to_coverage`](crate::state::ColourState::alpha_to_coverage)).
fn coverage_of(alpha: f32, samples: u32, offset: u8) -> u8 {
    let stays = |k: &u32| {
        let moved = (k + u32::from(offset)) % samples.max(1);
        f64::from(alpha) * f64::from(samples) > f64::from(moved) + 0.5
    };
    (0..samples.min(8)).filter(stays).fold(0, |set, k| set | 1 << k)
}
