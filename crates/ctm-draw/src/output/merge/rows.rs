//! Bands of pixels with one sample each: tests before the program, and blending of what launches left beside the targets.

use super::{Merger, Plan, Sources};
use crate::lanes::{Wide, mask, widely};
use crate::output::blend;
use crate::pixel::band::Covered;
use crate::setup::Setup;
use crate::state::{ColourState, LogicOp};
use crate::surface::format::{ChannelRow, Colours, Dwords, Fractions, NumberType, TOGETHER};
use crate::surface::samples::Surface;
use crate::surface::targets::OpenColour;
use crate::surface::value::FillValue;
use std::ops::Range;

impl Merger<'_, '_> {
    /// Tests pixels of one sample each, and keeps those that pass.
    pub(crate) fn test_band(&mut self, setup: &Setup, covered: &mut Covered) {
        if let Some(target) = &self.open.depth {
            target.surface.find_tiles();
        }
        if let Some(value) = self.constant_depth(setup).filter(|_| !covered.has_holes()) {
            self.fill_depth(covered.rect.top, &covered.spans, setup.layer, value);
            return;
        }
        self.settle_depth(covered.rect);
        let shape = self.shape();
        let depths = self.depths(setup, shape);
        covered.only(shape, |at, marks| self.test_lanes(&depths, at, marks));
    }

    /// Keeps the pixels that pass the tests, and writes nothing.
    pub(crate) fn probe_band(&mut self, setup: &Setup, covered: &mut Covered) {
        if let Some(target) = &self.open.depth {
            target.surface.find_tiles();
        }
        if self.passes_all(setup) {
            return;
        }
        self.settle_depth(covered.rect);
        let shape = self.shape();
        let depths = self.depths(setup, shape);
        covered.only(shape, |at, marks| self.probe_lanes(&depths, at, marks));
    }

    /// Whether the contents of some target make a difference for what is stored there.
    pub(crate) fn reads_stored(&self) -> bool {
        self.plans.of.iter().flatten().any(|plan| plan.reads_stored(self.state.colour.logic))
    }

    /// Merges the colours of pixels of one sample, which passed all tests.
    pub(crate) fn merge_band(&mut self, covered: &Covered, sources: &Sources<'_>) {
        let state = &self.state.colour;
        for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.of).enumerate() {
            let (Some(target), Some(plan)) = (target, plan) else { continue };
            target.surface.find_tiles();
            let output = if state.multiwrite { 0 } else { n };
            let (rows, band) = (ColourRows { state, n, plan }, Band { covered });
            if let (Sources::One(colours), false) = (sources, plan.reads_stored(state.logic)) {
                let [value, source1] = [colours[output], colours[1]];
                let bits = plan.after(&target.colours, state, n, 0, value, source1);
                band.fill(&mut target.surface, FillValue { bits, mask: plan.bits });
                continue;
            }
            target.surface.settle(covered.rect);
            match sources {
                Sources::One(colours) => {
                    band.merge(&rows, target, &|_, rows| rows.set_source(colours[output], colours[1]))
                }
                Sources::Each(staged) => band.merge(&rows, target, &|pixels, rows| {
                    let of = |output: usize| staged[output].get(pixels.clone()).unwrap_or_default();
                    rows.set_sources(of(output), of(1));
                }),
            }
        }
    }
}

impl Plan {
    /// Whether what is stored makes a difference for the bits that are written.
    pub(super) fn reads_stored(&self, logic: LogicOp) -> bool {
        let both = |bit: u8| logic.0 >> bit & 1 == logic.0 >> (bit + 1) & 1;
        self.blend.map_or(!(both(0) && both(2)), |blend| blend.reads_destination())
    }
}

/// Merges rows of colours into a target.
pub(super) struct ColourRows<'r> {
    pub(super) state: &'r ColourState,
    /// The target's number.
    pub(super) n: usize,
    pub(super) plan: &'r Plan,
}

/// Pixels of a band, row by row.
struct Band<'c> {
    covered: &'c Covered,
}

/// Puts the colours of these pixels of the box into rows.
type SetSources<'s> = dyn Fn(Range<usize>, &mut blend::Rows) + 's;

impl Band<'_> {
    /// Tells pixels side by side, at most [`TOGETHER`]: their place, their marks, and their numbers in the box.
    fn each(&self, mut tell: impl FnMut([i32; 2], u64, Range<usize>)) {
        let rect = self.covered.rect;
        let width = (rect.right - rect.left) as usize;
        for (y, &[left, right]) in (rect.top..).zip(&self.covered.spans) {
            let first = (y - rect.top) as usize * width;
            for x in (left..right).step_by(TOGETHER) {
                let count = ((right - x) as usize).min(TOGETHER);
                let from = first + (x - rect.left) as usize;
                let marks = self.covered.marks([x, y], count);
                if marks != 0 {
                    tell([x, y], marks, from..from + count);
                }
            }
        }
    }

    /// Stores one value.
    fn fill(&self, surface: &mut Surface<'_>, value: FillValue) {
        if !self.covered.has_holes() {
            surface.fill(self.covered.rect.top, &self.covered.spans, 0, value);
            return;
        }
        self.each(|[x, y], mut marks, _| {
            // Runs of marked pixels.
            while marks != 0 {
                let first = marks.trailing_zeros();
                let count = (marks >> first).trailing_ones();
                marks &= !(u64::MAX >> (64 - count) << first);
                let left = x + first as i32;
                surface.fill(y, &[[left, left + count as i32]], 0, value);
            }
        });
    }

    /// Blends and stores.
    fn merge(&self, colours: &ColourRows<'_>, target: &mut OpenColour<'_>, set_sources: &SetSources<'_>) {
        let ColourRows { state, n, plan } = *colours;
        let (of, size) = (&state.targets[n], target.colours.bytes());
        let fractions = Fractions::of(&target.colours).filter(|_| !of.truncate);
        let (mut rows, mut blended) = (blend::Rows::default(), [[0.0; TOGETHER]; 4]);
        let mut bytes = [0; 16 * TOGETHER];
        self.each(|at, marks, pixels| {
            let bytes = &mut bytes[..pixels.len() * size];
            let is_whole = marks == u64::MAX >> (TOGETHER - pixels.len());
            set_sources(pixels, &mut rows);
            if !(plan.replaces && is_whole) {
                target.surface.read_row(at, 0, bytes);
            }
            match &fractions {
                Some(fractions) => colours.merge_fractions(fractions, (bytes, size), marks, &mut rows),
                None => colours.merge_others(&target.colours, (bytes, size), marks, (&mut rows, &mut blended)),
            }
            target.surface.write_row(at, 0, bytes);
        });
    }
}

/// Elements of fractions to be merged.
struct Merged<'r, 'c> {
    of: &'r ColourRows<'c>,
    fractions: &'r Fractions,
    /// With the size of an element.
    bytes: (&'r mut [u8], usize),
    marks: u64,
    rows: &'r mut blend::Rows,
}

impl Wide for Merged<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Merged { of, fractions, bytes: (bytes, size), marks, rows } = self;
        let ColourRows { state, n, plan } = *of;
        let (mut stored, mut new) = (Dwords::ZERO, Dwords::ZERO);
        stored.load(bytes, size);
        if let Some(equations) = &plan.blend {
            fractions.unpack::<FMA>(&stored, &mut rows.destination);
            let ready = rows.ready(equations, state.constant, NumberType::Unorm, state.targets[n].blend_clamp);
            fractions.pack_each::<FMA>(&mut new, |channel, packer| {
                ready.channel(channel, |n, value| packer.of(n, value));
            });
        } else {
            fractions.pack::<FMA>(&rows.source, &mut new);
            if state.logic != LogicOp::COPY {
                let dwords = |new: &mut [u32; TOGETHER], stored: &[u32; TOGETHER]| {
                    for (new, &stored) in new.iter_mut().zip(stored) {
                        *new = state.logic.apply((*new).into(), stored.into()) as u32;
                    }
                };
                dwords(&mut new.first, &stored.first);
                dwords(&mut new.second, &stored.second);
            }
        }
        if marks == u64::MAX && plan.bits.count_ones() as usize == 8 * size {
            new.store(bytes, size);
            return;
        }
        let select = |stored: &mut [u32; TOGETHER], new: &[u32; TOGETHER], bits: u32| {
            for (n, (stored, &new)) in stored.iter_mut().zip(new).enumerate() {
                let half = if n < 32 { marks as u32 } else { (marks >> 32) as u32 };
                let written = bits & mask(half & 1 << (n % 32) != 0);
                *stored = *stored & !written | new & written;
            }
        };
        select(&mut stored.first, &new.first, plan.bits as u32);
        select(&mut stored.second, &new.second, (plan.bits >> 32) as u32);
        stored.store(bytes, size);
    }
}

impl ColourRows<'_> {
    /// Merges elements of fractions, those of them that are marked.
    #[inline]
    pub(super) fn merge_fractions(
        &self,
        fractions: &Fractions,
        bytes: (&mut [u8], usize),
        marks: u64,
        rows: &mut blend::Rows,
    ) {
        widely(Merged { of: self, fractions, bytes, marks, rows });
    }

    /// Merges elements of other numbers.
    pub(super) fn merge_others(
        &self,
        colours: &Colours,
        (bytes, size): (&mut [u8], usize),
        marks: u64,
        (rows, blended): (&mut blend::Rows, &mut [ChannelRow; 4]),
    ) {
        let Self { state, n, plan } = *self;
        let of = &state.targets[n];
        let mut stored = [0u128; TOGETHER];
        for (to, element) in stored.iter_mut().zip(bytes.chunks(size)) {
            let mut whole = [0; 16];
            whole[..size].copy_from_slice(element);
            *to = u128::from_le_bytes(whole);
        }
        if let Some(equations) = &plan.blend {
            colours.unpack_rows(&stored[..bytes.len() / size], &mut rows.destination);
            rows.blend(equations, state.constant, colours.format().number, of.blend_clamp, blended);
        }
        let from = if plan.blend.is_some() { &*blended } else { &rows.source };
        for (n, element) in bytes.chunks_mut(size).enumerate().filter(|(n, _)| marks >> n & 1 == 1) {
            let mut new = colours.pack([0, 1, 2, 3].map(|c: usize| from[c][n].to_bits()), of.truncate);
            if plan.blend.is_none() {
                new = state.logic.apply(new, stored[n]);
            }
            let new = stored[n] & !plan.bits | new & plan.bits;
            element.copy_from_slice(&new.to_le_bytes()[..size]);
        }
    }
}
