//! Rows of pixels with one sample each: tests before the program, and blending of what launches left beside the targets.

use super::Merger;
use crate::band::Covered;
use crate::blend::{self, TOGETHER};
use crate::format::{pack_bytes, unpack_bytes};
use crate::raster::UNITS;
use crate::setup::Setup;
use crate::stage::Staged;

impl Merger<'_, '_> {
    /// Tests pixels of one sample each, and keeps those that pass.
    pub(crate) fn test_band(&mut self, setup: &Setup, covered: &mut Covered) {
        let centre = self.state.raster.centre();
        if let Some(target) = &self.open.depth {
            target.surface.find_tiles();
        }
        let mut depths = Vec::new();
        covered.only(|left, y, marks| {
            depths.resize(marks.len(), 0.0);
            setup.depths([i64::from(left) * UNITS + centre, i64::from(y) * UNITS + centre], UNITS, &mut depths);
            self.row_passes(setup, [left, y], &depths, marks);
        });
    }

    /// Tests pixels side by side before the program, of one sample each, all marked; unmarks those that do not pass, and counts the others.
    pub(crate) fn test_row(&mut self, setup: &Setup, at: [i32; 2], depths: &mut Vec<f64>, marks: &mut [bool]) {
        if self.tests() {
            let centre = self.state.raster.centre();
            depths.resize(marks.len(), 0.0);
            setup.depths(at.map(|pixel| i64::from(pixel) * UNITS + centre), UNITS, depths);
            self.row_passes(setup, at, depths, marks);
        }
        if !self.state.depth.counts_nothing {
            self.samples_passed += marks.iter().filter(|&&mark| mark).count() as u64;
        }
    }

    /// Whether rows of pixels can be tested before the program.
    pub(crate) const fn tests_rows(&self) -> bool {
        self.simple
    }

    /// Tests pixels side by side, of one sample each; unmarks those that do not pass. Only marked ones are looked at.
    #[inline]
    pub(super) fn row_passes(&mut self, setup: &Setup, [left, y]: [i32; 2], depths: &[f64], marks: &mut [bool]) {
        let (Some(compare), Some(target)) = (self.only_depth, &mut self.open.depth) else {
            for ((x, &depth), mark) in (left..).zip(depths).zip(marks) {
                *mark = *mark && self.sample_passes(setup, [x, y], 0, depth, None);
            }
            return;
        };
        let (format, writes) = (target.format, self.state.depth.write);
        let test = |depth: f64, bits: u64| {
            let (stored, stencil) = format.unpack(bits);
            let new = format.quantised(setup.clamped(depth));
            let passes = format.passes(compare, new, stored);
            (passes, if passes && writes { format.pack(bits, new, stencil) } else { bits })
        };
        if setup.layer == 0
            && let Some(words) = target.surface.words(left, y, depths.len())
        {
            for ((word, &depth), mark) in words.iter_mut().zip(depths).zip(marks) {
                if *mark {
                    let (passes, bits) = test(depth, u32::from_le_bytes(*word).into());
                    (*word, *mark) = ((bits as u32).to_le_bytes(), passes);
                }
            }
            return;
        }
        for ((x, &depth), mark) in (left..).zip(depths).zip(marks).filter(|of| *of.1) {
            let Some(place) = target.surface.place(x, y, setup.layer, 0) else {
                *mark = false;
                continue;
            };
            let before = target.load(place);
            let (passes, bits) = test(depth, before);
            *mark = passes;
            if bits != before {
                target.store(place, bits);
            }
        }
    }

    /// Merges the colours of pixels of one sample, which passed all tests and wait in rows of the box's width.
    pub(crate) fn merge_band(&mut self, covered: &Covered, staged: &Staged) {
        let (state, rect) = (&self.state.colour, covered.rect);
        let width = (rect.right - rect.left) as usize;
        for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.0).enumerate() {
            let (Some(target), Some(plan)) = (target, plan) else { continue };
            target.surface.find_tiles();
            let (source, second) = (&staged[if state.multiwrite { 0 } else { n }], &staged[1]);
            let (mut rows, mut blended) = (blend::Rows::default(), [[0.0; TOGETHER]; 4]);
            let (mut marks, mut held) = (Vec::new(), [[0; 4]; TOGETHER]);
            let number = target.colours.format().number;
            let of = &state.targets[n];
            for (y, &[left, right]) in (rect.top..).zip(&covered.spans) {
                covered.marks(y, [left, right], &mut marks);
                let of_row = (y - rect.top) as usize * width;
                for (x, marks) in (left..).step_by(TOGETHER).zip(marks.chunks(TOGETHER)) {
                    let pixels = marks.len();
                    let first = of_row + (x - rect.left) as usize;
                    let Some(values) = source.get(first..first + pixels) else { continue };
                    if plan.blend.is_some() {
                        rows.set_sources(values, second.get(first..first + pixels).unwrap_or_default());
                    }
                    if let (Some(equations), Some(at), false) = (&plan.blend, target.colours.bytes_at(), of.truncate)
                        && target.surface.load_words(x, y, &mut held[..pixels])
                    {
                        unpack_bytes(&held, at, &mut rows.destination);
                        rows.blend(equations, state.constant, number, of.blend_clamp, &mut blended);
                        if !of.blend_clamp {
                            blended.iter_mut().for_each(|row| blend::limit_row(row, (0.0, 1.0)));
                        }
                        let (new, bits) = (pack_bytes(&blended, at), plan.bits as u32);
                        for ((word, new), &is_marked) in held.iter_mut().zip(new).zip(marks) {
                            let bits = if is_marked { bits } else { 0 };
                            *word = (u32::from_le_bytes(*word) & !bits | new & bits).to_le_bytes();
                        }
                        target.surface.store_words(x, y, &held[..pixels]);
                        continue;
                    }
                    let (mut stored, mut new) = ([0; TOGETHER], [0; TOGETHER]);
                    let (stored, new) = (&mut stored[..pixels], &mut new[..pixels]);
                    if !plan.replaces {
                        target.surface.load_row(x, y, stored);
                    }
                    if let Some(equations) = &plan.blend {
                        target.colours.unpack_rows(stored, &mut rows.destination);
                        rows.blend(equations, state.constant, number, of.blend_clamp, &mut blended);
                        target.colours.pack_floats(&blended, of.truncate, new);
                    } else {
                        for ((new, &value), &stored) in new.iter_mut().zip(values).zip(&*stored) {
                            *new = state.logic.apply(target.colours.pack(value, of.truncate), stored);
                        }
                    }
                    let both = stored.iter_mut().zip(new);
                    both.for_each(|(stored, new)| *stored = *stored & !plan.bits | *new & plan.bits);
                    target.surface.store_row(x, y, stored, marks);
                }
            }
        }
    }
}
