//! Rows of pixels with one sample each: tests before the program, and blending of what launches left beside the targets.

use super::Merger;
use crate::output::blend;
use crate::pixel::band::Covered;
use crate::program::Staged;
use crate::rect::Rect;
use crate::setup::{DepthRow, Depths, Setup};
use crate::state::Compare;
use crate::surface::depth::DepthFormat;
use crate::surface::format::{TOGETHER, pack_bytes, unpack_bytes};

/// Pixels of a row that are asked for at a time at most: the bits of a word.
const WORD: usize = u64::BITS as usize;

/// A depth test of words whose low bits are a fraction. The arithmetic is that of [`DepthFormat::quantised`], in forms that a compiler makes vectors of.
#[derive(Clone, Copy)]
pub(super) struct FractionTest {
    /// The bits of depth.
    field: u32,
    /// Those of them that are written.
    written: u32,
    /// All bits, where the test passes if the new depth is less, equal or greater; otherwise none.
    passes: [u32; 3],
}

impl FractionTest {
    /// Of a format; `None` of one whose depths are no such fractions.
    pub(super) fn of(format: DepthFormat, compare: Compare, writes: bool) -> Option<Self> {
        let field = (1u32 << format.fraction_bits()?) - 1;
        let passes = [(0, 1), (0, 0), (1, 0)].map(|(new, stored)| mask(compare.holds(&new, &stored)));
        Some(Self { field, written: if writes { field } else { 0 }, passes })
    }

    /// Tests those of eight pixels whose bits are set, and stores the depths of those that pass, whose bits it gives.
    #[inline]
    fn eight(&self, words: &mut [[u8; 4]; 8], depths: &[f64; 8], [least, most]: [f64; 2], marked: u8) -> u8 {
        let Self { field, written, passes: [less, equal, greater] } = *self;
        let scale = f64::from(field);
        // Sums with it are whole numbers, which are the low bits of the sum.
        let whole = (1u64 << 52) as f64;
        let mut new = [0i32; 8];
        for n in 0..8 {
            let depth = if depths[n] > least { depths[n] } else { least };
            let depth = if depth < most { depth } else { most };
            let value = depth * scale + 0.5;
            let nearest = value + whole;
            let is_above = if nearest - whole > value { 1 } else { 0 };
            new[n] = nearest.to_bits().wrapping_sub(is_above) as i32;
        }
        let mut passed = 0;
        for n in 0..8 {
            let bits = u32::from_le_bytes(words[n]);
            let stored = (bits & field).cast_signed();
            let passes =
                mask(new[n] < stored) & less | mask(new[n] == stored) & equal | mask(new[n] > stored) & greater;
            let passes = passes & mask(u32::from(marked) & 1 << n != 0);
            let written = passes & written;
            words[n] = (bits & !written | new[n].cast_unsigned() & written).to_le_bytes();
            passed |= passes & 1 << n;
        }
        passed as u8
    }

    /// The same of a row of up to 64 pixels, which begins with these words. `range`: of depths.
    fn row(&self, words: &mut [[u8; 4]], depths: &DepthRow<'_>, range: [f32; 2], marked: u64) -> u64 {
        // Both ranges at once: the viewport's, and 0 to 1. One that is upside down: the upper bound counts.
        let [least, most] = range.map(|bound| f64::from(bound.clamp(0.0, 1.0)));
        let range = [if least.is_nan() { 0.0 } else { least }, if most.is_nan() { 1.0 } else { most }];
        let mut passed = 0;
        for first in (0..WORD).step_by(8) {
            let eight = (marked >> first) as u8;
            if eight == 0 {
                continue;
            }
            let (of, words) = (depths.eight(first), words.get_mut(first..).unwrap_or_default());
            // What is not marked stays, and may be of another row; at the end of memory there may be fewer.
            let mut copy = [[0; 4]; 8];
            let count = words.len().min(8);
            let is_copied = count < 8;
            let passes = {
                let words = match words.first_chunk_mut() {
                    Some(words) => words,
                    None => {
                        copy[..count].copy_from_slice(words);
                        &mut copy
                    }
                };
                self.eight(words, &of, range, eight)
            };
            if is_copied {
                words.copy_from_slice(&copy[..count]);
            }
            passed |= u64::from(passes) << first;
        }
        passed
    }
}

const fn mask(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// The bits of the first pixels of a row: of at most 64.
const fn first(count: usize) -> u64 {
    match count {
        0 => 0,
        1..WORD => u64::MAX >> (WORD - count),
        _ => u64::MAX,
    }
}

impl Merger<'_, '_> {
    /// Tests pixels of one sample each, and keeps those that pass.
    pub(crate) fn test_band(&mut self, setup: &Setup, covered: &mut Covered) {
        if let Some(target) = &self.open.depth {
            target.surface.find_tiles();
        }
        let depths = self.depths(setup, covered.rect);
        covered.only(|at, count| self.row_passes(&depths, at, first(count)));
    }

    /// Tests up to 64 pixels side by side before the program, of one sample each; gives those that pass, bit by bit, and counts them.
    #[inline]
    pub(crate) fn test_row(&mut self, depths: &Depths<'_>, at: [i32; 2], count: usize) -> u64 {
        let mut passed = first(count);
        if self.tests() {
            passed = self.row_passes(depths, at, passed);
        }
        if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(passed.count_ones());
        }
        passed
    }

    /// Whether rows of pixels can be tested before the program.
    pub(crate) const fn tests_rows(&self) -> bool {
        self.simple
    }

    /// The depths of the pixels of a rectangle.
    #[inline]
    pub(crate) fn depths<'s>(&self, setup: &'s Setup, rect: Rect) -> Depths<'s> {
        setup.depths(rect, self.state.raster.centre())
    }

    /// Tests those of 64 pixels side by side, of one sample each, whose bits are set; gives those that pass.
    pub(super) fn row_passes(&mut self, depths: &Depths<'_>, [left, y]: [i32; 2], marked: u64) -> u64 {
        let (setup, depths) = (depths.setup, depths.row([left, y]));
        let (Some(compare), Some(target)) = (self.only_depth, &mut self.open.depth) else {
            return depths.each(marked, |n, depth| self.sample_passes(setup, [left + n, y], 0, depth, None));
        };
        if let (Some(test), 0) = (&self.fractions, setup.layer)
            && let Some(words) = target.surface.words_from(left, y, WORD - marked.leading_zeros() as usize)
        {
            return test.row(words, &depths, setup.depth_range, marked);
        }
        let (format, writes) = (target.format, self.state.depth.write);
        depths.each(marked, |n, depth| {
            let Some(place) = target.surface.place(left + n, y, setup.layer, 0) else { return false };
            let before = target.load(place);
            let (stored, stencil) = format.unpack(before);
            let new = format.quantised(setup.clamped(depth));
            let passes = format.passes(compare, new, stored);
            if passes && writes && new != stored {
                target.store(place, format.pack(before, new, stencil));
            }
            passes
        })
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
