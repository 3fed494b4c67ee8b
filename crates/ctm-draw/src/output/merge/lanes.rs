//! Depth and stencil of many pixels at once, before the program: the tests of [`Merger::sample_passes`] for lanes of one sample each.
//!
//! The tests of a draw are resolved once. The loops below have one form for every format and state, so that the compiler vectorises them; their arithmetic is that of
//! [`DepthFormat::quantised`] and [`StencilFace::after`].

use super::Merger;
use super::compare::{Ways, compared, compared_floats, ways};
use super::planes::{NewDepths, PlaneTest, fraction};
use super::stencil::StencilTest;
use crate::lanes::{COLUMNS, LANES, Shape, Wide, bits, mask, widely};
use crate::raster::QuadCoverage;
use crate::setup::{DepthPlane, Depths, Setup, depth_bounds, limited};
use crate::state::{DepthState, RasterState, StencilFace, StencilOp};
use crate::surface::depth::{DepthFormat, DepthKind};
use crate::surface::targets::OpenDepth;
use crate::surface::value::FillValue;

/// What pixels of a face are tested for.
#[derive(Clone, Copy)]
pub(super) struct LaneTest {
    format: DepthFormat,
    kind: DepthKind,
    /// See [`DepthFormat::turn`].
    turn: u32,
    /// The bits of depth in the first dword.
    field: u32,
    ways: Ways,
    written: u32,
    /// Depth counts for nothing: every one passes, and none is written.
    ignores_depth: bool,
    clear: Option<f64>,
    stencil: Option<StencilTest>,
    /// The same, where it is one loop.
    plane: Option<PlaneTest>,
}

impl LaneTest {
    pub(super) fn of(state: &DepthState, format: DepthFormat, is_front: bool) -> Self {
        let front = state.stencil.filter(|_| format.has_stencil());
        let face = if is_front { front } else { front.map(|front| state.stencil_back.unwrap_or(front)) };
        // Lanes hold samples that are turned back.
        let turn = format.turn();
        let field = (format.pack(0, u32::MAX, 0) as u32).rotate_right(turn);
        let ways_of_depth = state.test.map_or([u32::MAX; 4], ways);
        let written = if state.write && state.test.is_some() { field } else { 0 };
        let stencil = face.map(|face| {
            let StencilFace { compare, reference, mask, write_mask, fail, depth_fail, pass } = face;
            let reference = u32::from(reference);
            let pass = state.clear_stencil.map_or((pass, reference), |clear| (StencilOp::Replace, clear.into()));
            StencilTest {
                mask: mask.into(),
                reference: reference & u32::from(mask),
                ways: ways(compare),
                after: [(fail, reference), (depth_fail, reference), pass],
                written: write_mask.into(),
            }
        });
        let kind = format.kind();
        let is_float = kind == DepthKind::Float32;
        let plane =
            PlaneTest { bytes: format.bytes(), is_float, is_turned: turn != 0, field, ways: ways_of_depth, written };
        let is_one_loop = stencil.is_none() && kind != DepthKind::Float24;
        Self {
            format,
            kind,
            turn,
            field,
            ways: ways_of_depth,
            written,
            ignores_depth: ways_of_depth == [u32::MAX; 4] && written == 0,
            clear: state.clear_depth.map(f64::from),
            stencil,
            plane: is_one_loop.then_some(plane),
        }
    }

    /// The same test without writes, if a failure writes nothing.
    fn probe(self) -> Option<Self> {
        let is_kept =
            |test: &StencilTest| test.written == 0 || test.after[..2].iter().all(|(op, _)| *op == StencilOp::Keep);
        let stencil = self.stencil.map(|test| StencilTest { written: 0, ..test });
        let ignores_depth = self.ways == [u32::MAX; 4];
        let plane = self.plane.map(|plane| PlaneTest { written: 0, ..plane });
        self.stencil.as_ref().is_none_or(is_kept).then_some(Self { written: 0, ignores_depth, stencil, plane, ..self })
    }

    /// Whether every pixel passes.
    fn passes_all(&self) -> bool {
        self.ways == [u32::MAX; 4] && self.stencil.as_ref().is_none_or(|test| test.ways == [u32::MAX; 4])
    }

    /// Whether pixels that pass leave all as it is.
    fn writes_nothing(&self) -> bool {
        let is_kept = |test: &StencilTest| test.written == 0 || test.after[2].0 == StencilOp::Keep;
        self.written == 0 && self.stencil.as_ref().is_none_or(is_kept)
    }

    /// What every pixel of a piece holds then, if that is the same for all and all of them pass.
    fn constant(&self, setup: &Setup, format: DepthFormat) -> Option<FillValue> {
        let (mut depth, mut stencil, mut mask) = (0, 0, 0);
        if let Some(test) = &self.stencil {
            let (op, reference) = test.after[2];
            let written = match op {
                StencilOp::Keep => 0,
                StencilOp::Zero | StencilOp::Replace => test.written as u8,
                _ => return None,
            };
            if test.ways != [u32::MAX; 4] {
                return None;
            }
            stencil = if op == StencilOp::Replace { reference as u8 } else { 0 };
            mask |= format.pack(0, 0, written);
        }
        if self.ways != [u32::MAX; 4] {
            return None;
        }
        if self.written != 0 {
            depth = format.quantised(setup.clamped(self.clear.or_else(|| setup.constant_depth())?));
            mask |= format.pack(0, u32::MAX, 0);
        }
        Some(FillValue { bits: format.pack(0, depth, stencil).into(), mask: mask.into() })
    }

    /// The depths that are tested and written.
    fn depths<const N: usize>(&self, of_pixels: [f64; N]) -> [f64; N] {
        self.clear.map_or(of_pixels, |clear| [clear; N])
    }

    /// The bounds of depths, given the viewport's.
    #[inline(always)]
    fn bounds(&self, range: [f32; 2]) -> [f64; 2] {
        let [mut least, mut most] = depth_bounds(range);
        if matches!(self.kind, DepthKind::Fraction(_)) {
            // Both ranges at once: the viewport's, and 0 to 1. One that is upside down: the upper bound counts.
            (least, most) = (least.clamp(0.0, 1.0), most.clamp(0.0, 1.0));
        }
        [least, most]
    }

    /// Depths as they are stored.
    #[inline(always)]
    pub(super) fn quantised<const N: usize>(&self, depths: &[f64; N], range: [f32; 2]) -> [u32; N] {
        let (mut new, bounds) = ([0; N], self.bounds(range));
        match self.kind {
            DepthKind::Fraction(_) => {
                for (new, &depth) in new.iter_mut().zip(depths) {
                    *new = fraction(limited(depth, bounds), self.field);
                }
            }
            DepthKind::Float24 => {
                for (new, &depth) in new.iter_mut().zip(depths) {
                    *new = DepthFormat::X8D24Float.quantised(limited(depth, bounds));
                }
            }
            DepthKind::Float32 => {
                for (new, &depth) in new.iter_mut().zip(depths) {
                    *new = (limited(depth, bounds) as f32).to_bits();
                }
            }
        }
        new
    }

    /// The depth that all pixels of a piece have, as it is stored; `None` where theirs differ. Where depths count for nothing, any is right.
    pub(super) fn same(&self, setup: &Setup) -> Option<u32> {
        if self.ignores_depth {
            return Some(0);
        }
        let depth = self.clear.or_else(|| setup.constant_depth())?;
        Some(self.format.quantised(setup.clamped(depth)))
    }

    /// Tests those lanes whose bits are set, and changes the dwords of those that pass; gives their bits. `new`: their depths. `HIGH`: stencil lies in the second dwords.
    #[inline(always)]
    fn test<const HIGH: bool, const N: usize>(
        &self,
        low: &mut [u32; N],
        high: &mut [u32; N],
        new: &[u32; N],
        marked: u32,
    ) -> u32 {
        let mut passes = [u32::MAX; N];
        if !self.ignores_depth {
            if self.kind == DepthKind::Float32 {
                for n in 0..N {
                    passes[n] = compared_floats(f32::from_bits(new[n]), f32::from_bits(low[n]), self.ways);
                }
            } else {
                for n in 0..N {
                    passes[n] = compared(new[n].cast_signed(), (low[n] & self.field).cast_signed(), self.ways);
                }
            }
        }
        let mut lanes = [0; N];
        for (n, lane) in lanes.iter_mut().enumerate() {
            *lane = mask(marked & 1 << n != 0);
        }
        if let Some(test) = &self.stencil {
            test.test::<HIGH, N>(if HIGH { &mut *high } else { &mut *low }, &mut passes, &lanes);
        }
        for n in 0..N {
            passes[n] &= lanes[n];
            let written = passes[n] & self.written;
            low[n] = low[n] & !written | new[n] & written;
        }
        bits(&passes)
    }

    /// The same of stored elements. Depths are the sum of one and of steps from there.
    #[inline(always)]
    pub(super) fn test_sums<const N: usize>(
        &self,
        bytes: &mut [u8],
        (first, steps): (f64, &[f64; N]),
        range: [f32; 2],
        marked: u32,
    ) -> u32 {
        if let Some(plane) = &self.plane
            && let Some(passed) = plane.test(bytes, &NewDepths { first, steps, bounds: self.bounds(range) }, marked)
        {
            return passed;
        }
        let mut depths = *steps;
        for depth in &mut depths {
            *depth += first;
        }
        self.test_bytes(bytes, &self.quantised(&depths, range), marked)
    }

    /// The same of depths in whole dwords, half dwords or two dwords.
    #[inline(always)]
    pub(super) fn test_bytes<const N: usize>(&self, bytes: &mut [u8], new: &[u32; N], marked: u32) -> u32 {
        let (mut low, mut high) = ([0; N], [0; N]);
        match self.format.bytes() {
            2 => {
                each::<2, N>(bytes, |n, two| low[n] = u16::from_le_bytes(*two).into());
                let passed = self.test::<false, N>(&mut low, &mut high, new, marked);
                each::<2, N>(bytes, |n, two| *two = (low[n] as u16).to_le_bytes());
                passed
            }
            8 => {
                each::<8, N>(bytes, |n, eight| {
                    let both = u64::from_le_bytes(*eight);
                    (low[n], high[n]) = (both as u32, (both >> 32) as u32);
                });
                let passed = self.test::<true, N>(&mut low, &mut high, new, marked);
                each::<8, N>(bytes, |n, eight| {
                    *eight = (u64::from(high[n]) << 32 | u64::from(low[n])).to_le_bytes();
                });
                passed
            }
            _ if self.turn != 0 => {
                each::<4, N>(bytes, |n, four| low[n] = u32::from_le_bytes(*four).rotate_right(self.turn));
                let passed = self.test::<false, N>(&mut low, &mut high, new, marked);
                each::<4, N>(bytes, |n, four| *four = low[n].rotate_left(self.turn).to_le_bytes());
                passed
            }
            _ => {
                each::<4, N>(bytes, |n, four| low[n] = u32::from_le_bytes(*four));
                let passed = self.test::<false, N>(&mut low, &mut high, new, marked);
                each::<4, N>(bytes, |n, four| *four = low[n].to_le_bytes());
                passed
            }
        }
    }
}

/// Calls `tell` with the number of each of the first `N` elements of `BYTES` bytes, and the element; with all of them where there are fewer.
#[inline(always)]
fn each<const BYTES: usize, const N: usize>(bytes: &mut [u8], mut tell: impl FnMut(usize, &mut [u8; BYTES])) {
    let all = bytes.as_chunks_mut::<BYTES>().0;
    // Loops of a known length become vectors; others call functions that copy memory.
    match all.first_chunk_mut::<N>() {
        Some(all) => all.iter_mut().enumerate().for_each(|(n, of)| tell(n, of)),
        None => all.iter_mut().enumerate().for_each(|(n, of)| tell(n, of)),
    }
}

/// Depths of the pixels of a piece, ready to be tested.
pub(crate) struct Tested<'s> {
    depths: Depths<'s>,
    /// All of them, as they are stored, where they are the same.
    same: Option<u32>,
}

/// A test of blocks or rows of lanes side by side, the first lane at this pixel.
struct LaneTests<'w, 't, 's> {
    test: &'w LaneTest,
    target: &'w mut OpenDepth<'t>,
    of: &'w Tested<'s>,
    at: [i32; 2],
    /// Of each block the lanes to be tested; those that pass are left.
    marks: &'w mut [u32],
}

impl Wide for LaneTests<'_, '_, '_> {
    type Out = ();

    const TAKES_AVX512: bool = true;

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        /// The blocks from one that is tested to the one that begins to be loaded then.
        const AHEAD: i32 = 4;
        let Self { test, target, of, at: [x, y], marks } = self;
        let shape = of.depths.shape;
        for (x, marked) in (x..).step_by(shape.columns() as usize).zip(marks) {
            if *marked == 0 {
                continue;
            }
            if shape == Shape::Block {
                target.surface.prefetch_block([x + AHEAD * COLUMNS, y]);
            }
            *marked = target.test_block(test, of, [x, y], *marked);
        }
    }
}

/// Depths of a piece at the samples of pixels, ready to be tested.
pub(crate) struct SampleDepths {
    /// At each sample, of triangles whose pixels differ.
    planes: Option<[DepthPlane; 8]>,
    /// All of them, as they are stored, where they are the same.
    same: Option<u32>,
}

/// A test of the samples of a quad.
struct Samples<'w, 't, 's> {
    test: &'w LaneTest,
    target: &'w mut OpenDepth<'t>,
    depths: &'s SampleDepths,
    setup: &'s Setup,
    raster: &'s RasterState,
    quad: &'w mut QuadCoverage,
}

/// The place of a sample in each pixel, in units. Where samples are not looked at by themselves, they have the depth of the centre.
fn place_of(raster: &RasterState, sample: usize) -> [i64; 2] {
    let moved = if raster.multisample { raster.samples.at[sample % 8] } else { [0; 2] };
    moved.map(|units| raster.centre() + 16 * i64::from(units))
}

impl Wide for Samples<'_, '_, '_> {
    /// How many pass.
    type Out = u32;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> u32 {
        match self.raster.samples.count {
            ..=2 => self.test::<2, 8>(),
            3..=4 => self.test::<4, 16>(),
            _ => self.test::<8, LANES>(),
        }
    }
}

impl Samples<'_, '_, '_> {
    /// Tests the samples of four pixels, which are lanes: those of a pixel are side by side. `N`: four times `COUNT`, the samples of a pixel.
    #[inline(always)]
    fn test<const COUNT: usize, const N: usize>(self) -> u32 {
        let Self { test, target, depths, setup, raster, quad } = self;
        let (count, at, layer) = (COUNT, [quad.x, quad.y], setup.layer);
        let mut marked = 0;
        for (pixel, mask) in quad.masks.into_iter().enumerate() {
            marked |= u32::from(mask) << (pixel * count);
        }
        let mut of_samples = [0.0; N];
        if depths.same.is_none() {
            if let Some(planes) = &depths.planes {
                let mut firsts = [0.0; COUNT];
                for (first, plane) in firsts.iter_mut().zip(planes) {
                    *first = plane.first_of(DepthPlane::block_of(at));
                }
                // Steps are the same at all samples.
                let steps = planes[0].steps_of_quad(at);
                for (of_pixel, step) in of_samples.as_chunks_mut::<COUNT>().0.iter_mut().zip(steps) {
                    for (depth, first) in of_pixel.iter_mut().zip(&firsts) {
                        *depth = first + step;
                    }
                }
            } else {
                for sample in 0..count {
                    let of = setup.depths_of_quad(at, place_of(raster, sample));
                    for pixel in 0..4 {
                        of_samples[pixel * count + sample] = of[pixel];
                    }
                }
            }
        }
        let passed = if let Some(bytes) = target.surface.samples_of_quad(at, layer) {
            match depths.same {
                Some(same) => test.test_bytes(bytes, &[same; N], marked),
                // -0 is the neutral element of addition.
                None => test.test_sums(bytes, (-0.0, &of_samples), setup.depth_range, marked),
            }
        } else {
            let new = depths.same.map_or_else(|| test.quantised(&of_samples, setup.depth_range), |same| [same; N]);
            let place = |target: &OpenDepth<'_>, lane: usize| {
                let (pixel, sample) = ((lane / count) as i32, (lane % count) as u32);
                target.surface.place(at[0] + (pixel & 1), at[1] + (pixel >> 1), layer, sample)
            };
            target.test_scattered(test, place, &new, marked)
        };
        for (pixel, mask) in quad.masks.iter_mut().enumerate() {
            *mask = (passed >> (pixel * count)) as u8 & raster.samples.all();
        }
        passed.count_ones()
    }
}

impl OpenDepth<'_> {
    /// Tests marked lanes, the first of them at a pixel; gives those that pass.
    #[inline(always)]
    fn test_block(&mut self, test: &LaneTest, of: &Tested<'_>, at: [i32; 2], marked: u32) -> u32 {
        let Tested { depths, same } = of;
        let (shape, layer, range) = (depths.shape, depths.setup.layer, depths.setup.depth_range);
        let count = if shape == Shape::Row { LANES - marked.leading_zeros() as usize } else { LANES };
        let mut bytes = self.surface.lanes(shape, at, layer, count);
        let new = if let Some(same) = same {
            [*same; LANES]
        } else if let (Some(bytes), Some(first)) = (&mut bytes, depths.first_of_block(at)) {
            return test.test_sums(bytes, (first, &depths.steps), range, marked);
        } else {
            let mut of = [0.0; LANES];
            depths.lanes(at, &mut of);
            test.quantised(&of, range)
        };
        if let Some(bytes) = bytes {
            return test.test_bytes(bytes, &new, marked);
        }
        let place = |target: &OpenDepth<'_>, lane: usize| {
            let [x, y] = shape.at(lane);
            target.surface.place(at[0] + x, at[1] + y, layer, 0)
        };
        self.test_scattered(test, place, &new, marked)
    }

    /// Tests lanes that do not lie together, each at its place. `depths`: of them, before they are limited to a range.
    #[inline(always)]
    pub(super) fn test_places(
        &mut self,
        test: &LaneTest,
        places: impl Fn(&Self, usize) -> Option<u64>,
        depths: [f64; LANES],
        range: [f32; 2],
        marked: u32,
    ) -> u32 {
        let new = if test.ignores_depth { [0; LANES] } else { test.quantised(&test.depths(depths), range) };
        self.test_scattered(test, places, &new, marked)
    }

    /// Tests lanes that do not lie together, each at its place.
    #[inline(always)]
    pub(super) fn test_scattered<const N: usize>(
        &mut self,
        test: &LaneTest,
        places: impl Fn(&Self, usize) -> Option<u64>,
        new: &[u32; N],
        marked: u32,
    ) -> u32 {
        let (mut low, mut high) = ([0; N], [0; N]);
        let (mut there, mut stored) = (0, [None; N]);
        for lane in (0..N).filter(|lane| marked >> lane & 1 == 1) {
            let Some(place) = places(self, lane) else { continue };
            let bits = self.load(place);
            (low[lane], high[lane]) = ((bits as u32).rotate_right(test.turn), (bits >> 32) as u32);
            (stored[lane], there) = (Some(place), there | 1 << lane);
        }
        let passed = match test.format.bytes() {
            8 => test.test::<true, N>(&mut low, &mut high, new, there),
            _ => test.test::<false, N>(&mut low, &mut high, new, there),
        };
        for (lane, place) in stored.into_iter().enumerate() {
            if let Some(place) = place {
                self.store(place, u64::from(high[lane]) << 32 | u64::from(low[lane].rotate_left(test.turn)));
            }
        }
        passed
    }
}

impl Merger<'_, '_> {
    /// How lanes lie whose depths lie together.
    pub(crate) fn shape(&self) -> Shape {
        let is_tiled = self.open.depth.as_ref().is_some_and(|target| !target.surface.is_linear());
        if is_tiled { Shape::Block } else { Shape::Row }
    }

    /// The depths of the pixels of a piece, in lanes of a shape.
    #[inline]
    pub(crate) fn depths<'s>(&self, setup: &'s Setup, shape: Shape) -> Tested<'s> {
        let same = self.lanes.as_ref().and_then(|tests| tests[usize::from(!setup.is_front)].same(setup));
        Tested { depths: Depths::new(setup, self.state.raster.centre(), shape), same }
    }

    /// Tests those lanes before the program whose bits are set, one sample each, in blocks or rows side by side; leaves those that pass.
    #[inline]
    pub(crate) fn test_lanes(&mut self, of: &Tested<'_>, at: [i32; 2], marks: &mut [u32]) {
        if let (Some(tests), Some(target)) = (&self.lanes, &mut self.open.depth) {
            let test = &tests[usize::from(!of.depths.setup.is_front)];
            widely(LaneTests { test, target, of, at, marks });
        }
    }

    /// Whether pixels can be tested without writes first, as a failure writes nothing.
    pub(crate) fn is_probed(&self) -> bool {
        self.tests() && self.lanes.as_ref().is_some_and(|tests| tests.iter().all(|test| test.probe().is_some()))
    }

    /// Whether every pixel of a piece passes the tests.
    pub(crate) fn passes_all(&self, setup: &Setup) -> bool {
        self.lanes.as_ref().is_some_and(|tests| tests[usize::from(!setup.is_front)].passes_all())
    }

    /// Whether the pixels of a piece that pass the tests leave depth and stencil as they are.
    pub(crate) fn writes_nothing(&self, setup: &Setup) -> bool {
        self.lanes.as_ref().is_some_and(|tests| tests[usize::from(!setup.is_front)].writes_nothing())
    }

    /// Leaves the lanes that [`Self::test_lanes`] would let pass. Nothing is written.
    pub(crate) fn probe_lanes(&mut self, of: &Tested<'_>, at: [i32; 2], marks: &mut [u32]) {
        let (Some(tests), Some(target)) = (&self.lanes, &mut self.open.depth) else { return };
        if let Some(test) = &tests[usize::from(!of.depths.setup.is_front)].probe() {
            widely(LaneTests { test, target, of, at, marks });
        }
    }

    /// The depths of a piece at samples; `None` where samples are not tested together.
    pub(crate) fn sample_depths(&self, setup: &Setup) -> Option<SampleDepths> {
        let raster = &self.state.raster;
        let tests = self.lanes.as_ref().filter(|_| raster.samples.count > 1)?;
        let same = tests[usize::from(!setup.is_front)].same(setup);
        let plane = |sample| setup.depth_plane(place_of(raster, sample));
        let planes = plane(0).filter(|_| same.is_none());
        let planes = planes.map(|first| std::array::from_fn(|sample| plane(sample).unwrap_or(first)));
        Some(SampleDepths { planes, same })
    }

    /// Tests the covered samples of a quad together, and keeps those that pass.
    pub(super) fn test_samples(&mut self, setup: &Setup, depths: &SampleDepths, quad: &mut QuadCoverage) {
        let (Some(tests), Some(target)) = (&self.lanes, &mut self.open.depth) else { return };
        let test = &tests[usize::from(!setup.is_front)];
        let passed = widely(Samples { test, target, depths, setup, raster: &self.state.raster, quad });
        if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(passed);
        }
    }

    /// The value that every pixel of a piece leaves in the depth target, if it is the same for all and all of them pass.
    pub(crate) fn constant_depth(&self, setup: &Setup) -> Option<FillValue> {
        let (tests, target) = (self.lanes.as_ref()?, self.open.depth.as_ref()?);
        tests[usize::from(!setup.is_front)].constant(setup, target.format)
    }

    /// Stores a value in pixels of the depth target.
    pub(crate) fn fill_depth(&mut self, top: i32, spans: &[[i32; 2]], layer: u32, value: FillValue) {
        if let Some(target) = &mut self.open.depth {
            target.surface.fill(top, spans, layer, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Compare;

    /// Truth: the same tests of one sample, as the state's functions say.
    #[test]
    fn lanes_are_tested_as_samples_are() {
        let ops = [
            StencilOp::Keep,
            StencilOp::Zero,
            StencilOp::Replace,
            StencilOp::IncrementClamp,
            StencilOp::DecrementClamp,
            StencilOp::Invert,
            StencilOp::IncrementWrap,
            StencilOp::DecrementWrap,
        ];
        let values = [0.0, 1.0, 0.5, 0.25, 0.499_999, 0.75, -1.5, 3.0, f64::NAN, f64::INFINITY, 1.0 / 65535.0, 1e-9];
        for (case, format) in (0..60).flat_map(|n| DepthFormat::ALL.map(|format| (n, format))) {
            let compare = Compare::ALL[case % 8];
            let face = StencilFace {
                compare: Compare::ALL[(case / 3) % 8],
                reference: (case * 37 % 256) as u8,
                mask: [0xff, 0x0f][case % 2],
                write_mask: [0xff, 0xf3][case / 2 % 2],
                fail: ops[case % 8],
                depth_fail: ops[(case + 3) % 8],
                pass: ops[(case + 5) % 8],
            };
            let state = DepthState {
                test: (case % 7 != 0).then_some(compare),
                write: case % 3 != 0,
                stencil: (case % 2 == 0).then_some(face),
                clear_stencil: (case % 11 == 0).then_some(0x5a),
                ..DepthState::default()
            };
            let test = LaneTest::of(&state, format, true);
            let range = [[0.0, 1.0], [0.25, 0.75], [f32::NEG_INFINITY, f32::INFINITY], [0.9, 0.1]][case % 4];
            let depths: [f64; LANES] = std::array::from_fn(|n| values[(n + case) % values.len()]);
            let size = format.bytes();
            let stored: [u64; LANES] = std::array::from_fn(|n| {
                let depth = format.quantised(values[(n * 5 + case) % 8]);
                format.pack(u64::MAX >> (64 - 8 * size), depth, (n * 29 + case) as u8)
            });
            let mut bytes: Vec<u8> = stored.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect();
            let marked = 0xf0f3_5a7fu32.rotate_left(case as u32);
            let mut by_quads = bytes.clone();
            let mut by_sums = [bytes.clone(), bytes.clone()];
            let passed = test.test_bytes(&mut bytes, &test.quantised(&depths, range), marked);
            let of_quads = by_quads.chunks_exact_mut(4 * size).zip(depths.as_chunks::<4>().0).enumerate();
            let of_quads = of_quads.fold(0, |all, (n, (bytes, depths))| {
                let passed = test.test_bytes(bytes, &test.quantised(depths, range), marked >> (4 * n) & 15);
                all | passed << (4 * n)
            });
            let [whole, quads] = &mut by_sums;
            let passed_by_sums = test.test_sums(whole, (-0.0, &depths), range, marked);
            let sums_of_quads = quads.chunks_exact_mut(4 * size).zip(depths.as_chunks::<4>().0).enumerate();
            let sums_of_quads = sums_of_quads.fold(0, |all, (n, (bytes, depths))| {
                all | test.test_sums(bytes, (-0.0, depths), range, marked >> (4 * n) & 15) << (4 * n)
            });
            for (passed_so, after) in [passed_by_sums, sums_of_quads].into_iter().zip(&by_sums) {
                assert_eq!((passed_so, after), (passed, &bytes), "{format:?}, {state:?}, {range:?}");
            }
            assert_eq!((passed, &bytes), (of_quads, &by_quads), "{format:?}, {state:?}, {range:?}");
            let (mut expected, mut after) = (0, Vec::new());
            for (n, bits) in stored.into_iter().enumerate() {
                let (depth, stencil) = format.unpack(bits);
                let clamped = depths[n].max(range[0].into()).min(range[1].into());
                let new = format.quantised(clamped);
                let holds = state.test.is_none_or(|compare| format.passes(compare, new, depth));
                let face = state.stencil.filter(|_| format.has_stencil());
                let stencil_holds = face.is_none_or(|face| face.passes(face.reference, stencil));
                let passes = holds && stencil_holds;
                let mut changed = bits;
                if marked >> n & 1 == 1 {
                    expected |= u32::from(passes) << n;
                    let of = face.map_or(stencil, |face| match (stencil_holds, holds, state.clear_stencil) {
                        (false, ..) => face.after(face.fail, face.reference, stencil),
                        (true, false, _) => face.after(face.depth_fail, face.reference, stencil),
                        (true, true, None) => face.after(face.pass, face.reference, stencil),
                        (true, true, Some(clear)) => stencil & !face.write_mask | clear & face.write_mask,
                    });
                    let writes = passes && state.write && state.test.is_some();
                    changed = format.pack(bits, if writes { new } else { depth }, of);
                }
                after.extend_from_slice(&changed.to_le_bytes()[..size]);
            }
            assert_eq!((passed, bytes), (expected, after), "{format:?}, {state:?}, {range:?}");
        }
    }
}
