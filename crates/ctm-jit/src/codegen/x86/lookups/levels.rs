//! Lookups of textures with mipmap levels, slices, layers or faces, with comparisons and levels of detail: as `ctm_exec::r700::sample` does them.

#![allow(clippy::needless_range_loop, reason = "numbers index several arrays, as in the reference")]

use super::detail::Steps;
use super::level_lookup::LevelLookup;
use super::texels::Axis;
use super::{Lanes, Looked, What};
use crate::launch::wavefronts::bindings::{Levels, MOST_LEVELS, References};
use crate::launch::wavefronts::wave::CUBE;
use ctm_exec::float::{HALF, ONE, SIGN};
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind};
use ctm_exec::r700::sample::{FACES, compared};
use ctm_isa::r700::ops::Sel;
use ctm_x86::simd::{Simd, each};

/// A level, which can differ from lane to lane.
#[derive(Clone, Copy)]
pub(super) struct Level<V> {
    /// Columns.
    pub width: V,
    /// Its first texel.
    pub offset: V,
    /// Texels of a slice, layer or face.
    pub slice: V,
    /// Columns, rows and slices, as numbers.
    pub sizes: [V; 3],
}

/// A level with its axes: the same for all lookups that lanes take in it.
pub(super) struct Prepared<S: Simd> {
    pub level: Level<S::V>,
    axes: [Axis<S::V>; 3],
}

/// The two levels that a lookup weighs: their numbers, the weight of the second one, and the lanes that weigh texels.
pub(super) struct Mips<S: Simd> {
    pub numbers: [S::V; 2],
    pub weight: S::V,
    pub linear: S::M,
}

/// Lookups in the levels that are weighed.
pub(super) trait LookUpInLevel<S: Simd> {
    /// The result in the first level or in the second one, if that has a weight. It has to be marked
    /// `#[inline(always)]`.
    fn look_up(&self, lanes: &mut Lanes<'_, S>, of: &LevelLookup<'_>, number: usize) -> [S::V; 4];
}

/// Those of any texture.
struct InLevels<'m, S: Simd> {
    low: Prepared<S>,
    high: Option<Prepared<S>>,
    slice: S::V,
    mips: &'m Mips<S>,
}

impl<S: Simd> LookUpInLevel<S> for InLevels<'_, S> {
    #[inline(always)]
    fn look_up(&self, lanes: &mut Lanes<'_, S>, of: &LevelLookup<'_>, number: usize) -> [S::V; 4] {
        let levels = [Some(&self.low), self.high.as_ref()];
        let level = levels[number].unwrap_or(&self.low);
        lanes.in_level(of, level, self.slice, self.mips.linear)
    }
}

/// Neighbours along an axis, the lanes beyond the border, and the weight of the second one.
pub(super) struct Neighbours<S: Simd> {
    pub at: [(S::V, S::M); 2],
    pub weight: S::V,
}

impl<S: Simd> Lanes<'_, S> {
    /// The result of a lookup in a texture.
    #[inline(always)]
    pub(super) fn levels(&mut self, of: &LevelLookup<'_>) -> [S::V; 4] {
        if of.what == What::Compared {
            self.reference = self.in_format(self.at[of.levels.reference], of.levels.compared);
        }
        match *self.looked {
            Looked::Load { offset } => self.load_level(of, offset),
            Looked::Sizes => self.sizes(of),
            _ => self.sample(of),
        }
    }

    /// The level with a number. `SAME`: it is the same one in all lanes.
    #[inline(always)]
    fn level_of<const SAME: bool>(&self, of: &LevelLookup<'_>, level: S::V) -> Level<S::V> {
        let tables = &of.levels.tables;
        let [width, offset, slice] = each!(3, n => self.chosen::<SAME>(&tables[n], level));
        Level { width, offset, slice, sizes: each!(3, n => self.chosen::<SAME>(&tables[3 + n], level)) }
    }

    /// The entry of a level in a table.
    #[inline(always)]
    pub(super) fn chosen<const SAME: bool>(&self, table: &[u32; MOST_LEVELS], level: S::V) -> S::V {
        if SAME {
            return self.s.splat(table[self.s.first_lane(level) as usize % MOST_LEVELS]);
        }
        self.s.choose(table, level)
    }

    /// A level by its number, clamped to the existing ones, and whether it exists.
    #[inline(always)]
    fn existing_level(&self, of: &LevelLookup<'_>, level: S::V) -> (Level<S::V>, S::M) {
        let (level, exists) = self.inside(level, self.s.splat(of.levels.texture.levels));
        (self.level_of::<false>(of, level), exists)
    }

    /// `GET_TEXTURE_RESINFO`: the sizes of a level, 0 where there is none; and the number of levels.
    #[inline(always)]
    fn sizes(&self, of: &LevelLookup<'_>) -> [S::V; 4] {
        let s = self.s;
        let (level, exists) = self.existing_level(of, self.at[0]);
        let [x, y, z] = each!(3, n => s.select(exists, s.to_int(level.sizes[n]), s.splat(0)));
        [x, y, z, s.splat(of.levels.texture.levels)]
    }

    /// `LD`: texels by integers, zeros outside.
    #[inline(always)]
    fn load_level(&self, of: &LevelLookup<'_>, offset: [i32; 3]) -> [S::V; 4] {
        let s = self.s;
        let (level, exists) = self.existing_level(of, self.at[3]);
        let (mut index, mut outside) = (level.offset, s.not(exists));
        let used = [true, of.axes > 1, of.axes > 2 || of.slices() > 1.0];
        for axis in 0..3 {
            if !used[axis] {
                continue;
            }
            let at = s.add_int(self.at[axis], s.splat(offset[axis].cast_unsigned()));
            let (at, inside) = self.inside(at, s.to_int(level.sizes[axis]));
            outside = s.either(outside, s.not(inside));
            let steps = [at, s.mul_int(at, level.width), s.mul_int(at, level.slice)];
            index = s.add_int(index, steps[axis]);
        }
        let found = self.whole(of.texture, index);
        each!(4, n => s.select(outside, s.splat(0), found[n]))
    }

    /// A reference value in the precision of the texture's first element: `ctm_exec::r700::formats::in_format`. NaN
    /// becomes 0.
    ///
    /// The nearest integer to the exact product, ties to even: that of the rounded product, unless this is a tie and
    /// the product is not.
    #[inline(always)]
    fn in_format(&self, reference: S::V, references: References) -> S::V {
        let s = self.s;
        let References::Fractions(most) = references else { return reference };
        let most = self.number(most as f32);
        let x = s.min(s.max(reference, s.splat(0)), s.splat(ONE));
        let product = s.mul(x, most);
        let lost = s.fma(x, most, s.xor(product, s.splat(SIGN)));
        let near = s.nearest(product);
        let beyond = s.sub(product, near);
        let [half, less_half, one] = [HALF, SIGN | HALF, ONE].map(|bits| s.splat(bits));
        let up = s.both(s.equal(beyond, half), s.less(s.splat(0), lost));
        let down = s.both(s.equal(beyond, less_half), s.less(lost, s.splat(0)));
        let near = s.select(up, s.add(near, one), near);
        let near = s.select(down, s.sub(near, one), near);
        s.div(near, most)
    }

    /// A lookup.
    #[inline(always)]
    fn sample(&mut self, of: &LevelLookup<'_>) -> [S::V; 4] {
        let s = self.s;
        if of.what == What::Detail {
            return self.level_of_detail(of);
        }
        let gradients = self.gradients(of);
        let steps = if let Some(gradients) = gradients { self.steps(of, gradients) } else { None };
        let detail =
            if of.levels.detail_matters { self.sampled_detail(of, gradients, steps.as_ref()) } else { s.splat(0) };
        let mut mips = self.mips(of, detail);
        if of.what == What::Four {
            (mips.weight, mips.linear) = (s.splat(0), s.mask(!0));
        }
        let high = if self.any_weight(&mips) { Some(self.prepared(of, mips.numbers[1])) } else { None };
        let levels = InLevels { low: self.prepared(of, mips.numbers[0]), high, slice: self.slice(of), mips: &mips };
        let found = self.stepped(of, &levels, &mips, steps.as_ref());
        if of.what != What::Compared {
            return found;
        }
        // The outcome is the first element, the others are 0, 0 and 1.
        each!(4, n => match of.levels.texture.compared[n] {
            Sel::X => found[0],
            Sel::W | Sel::One => s.splat(ONE),
            Sel::Y | Sel::Z | Sel::Zero | Sel::Mask => s.splat(0),
        })
    }

    /// The levels that a lookup weighs, by its level of detail; the first one where that does not matter.
    #[inline(always)]
    pub(super) fn mips(&self, of: &LevelLookup<'_>, detail: S::V) -> Mips<S> {
        let s = self.s;
        let &Levels { ref texture, ref sampler, detail_matters, .. } = of.levels;
        let filters = [sampler.magnify, sampler.minify];
        let filters = each!(2, n => s.mask(if filters[n] == Filter::Linear { !0 } else { 0 }));
        let mut mips = Mips { numbers: [s.splat(0); 2], weight: s.splat(0), linear: filters[0] };
        if !detail_matters {
            return mips;
        }
        let last = if sampler.mip == MipFilter::None { 0 } else { texture.levels - 1 };
        let last = self.number(last as f32);
        if sampler.magnify != sampler.minify {
            let reduces = s.less(s.splat(0), detail);
            mips.linear = s.either(s.both(reduces, filters[1]), s.both(s.not(reduces), filters[0]));
        }
        let detail = s.min(s.max(detail, s.splat(0)), last);
        let detail = if sampler.mip == MipFilter::Nearest { s.add(detail, s.splat(HALF)) } else { detail };
        let low = s.floor(detail);
        if sampler.mip == MipFilter::Linear {
            mips.weight = s.sub(detail, low);
        }
        mips.numbers = [s.to_int(low), s.to_int(s.min(s.add(low, s.splat(ONE)), last))];
        mips
    }

    /// Whether the second level has a weight in any lane.
    #[inline(always)]
    pub(super) fn any_weight(&self, mips: &Mips<S>) -> bool {
        self.s.bits(self.s.not(self.s.equal(mips.weight, self.s.splat(0)))) & self.wanted != 0
    }

    /// The mean of lookups along a gradient, in lanes that take several; in others the one lookup.
    ///
    /// All lookups of a level are this one call, as all of its code is inlined into the caller.
    #[inline(always)]
    pub(super) fn stepped(
        &mut self,
        of: &LevelLookup<'_>,
        levels: &impl LookUpInLevel<S>,
        mips: &Mips<S>,
        steps: Option<&Steps<S>>,
    ) -> [S::V; 4] {
        let (s, at) = (self.s, self.at);
        let (mut found, mut sum) = ([s.splat(0); 4], [s.splat(0); 4]);
        let other = s.not(s.equal(mips.weight, s.splat(0)));
        let count = if self.any_weight(mips) { 2 } else { 1 };
        let mut step = 0.0;
        loop {
            if let Some(steps) = steps {
                let part = s.sub(s.div(self.number(step + 0.5), steps.count), s.splat(HALF));
                for axis in 0..2 {
                    let moved = s.fma(part, steps.along[axis], at[axis]);
                    self.at[axis] = s.select(steps.several, moved, at[axis]);
                }
            }
            let mut one = [s.splat(0); 4];
            for number in 0..count {
                let in_level = levels.look_up(self, of, number);
                if number == 0 {
                    one = in_level;
                } else {
                    self.mix_where(of, other, &mut one, in_level, mips.weight);
                }
            }
            let Some(steps) = steps else { return one };
            if step == 0.0 {
                found = one;
            }
            let takes = s.less(self.number(step), steps.count);
            for n in 0..of.channels() {
                sum[n] = s.select(takes, s.add(sum[n], one[n]), sum[n]);
            }
            step += 1.0;
            if s.bits(s.less(self.number(step), steps.count)) & self.wanted == 0 {
                break;
            }
        }
        self.at = at;
        if let Some(steps) = steps {
            for n in 0..of.channels() {
                found[n] = s.select(steps.several, self.one_nan(s.div(sum[n], steps.count)), found[n]);
            }
        }
        found
    }

    /// Mixes the result with the one of another place, in the lanes of a mask.
    #[inline(always)]
    fn mix_where(&self, of: &LevelLookup<'_>, mask: S::M, found: &mut [S::V; 4], other: [S::V; 4], weight: S::V) {
        for n in 0..of.channels() {
            found[n] = self.s.select(mask, self.one_nan(self.mix(found[n], other[n], weight)), found[n]);
        }
    }

    /// The layer or face.
    #[inline(always)]
    fn slice(&self, of: &LevelLookup<'_>) -> S::V {
        let (s, texture) = (self.s, &of.levels.texture);
        if of.flat {
            return s.splat(0);
        }
        if texture.kind != TextureKind::CubeArray {
            return s.to_int(self.named(self.at[2], of.slices() - 1.0));
        }
        let face = self.named(self.at[2], (of.slices() - 1.0).min((FACES - 1) as f32));
        let last = (texture.depth / FACES).saturating_sub(1);
        let cube = self.named(s.load(&self.set[CUBE][self.first..]), last as f32);
        s.to_int(s.fma(cube, self.number(FACES as f32), face))
    }

    /// The nearest integer from 0 to the last one.
    #[inline(always)]
    pub(super) fn named(&self, at: S::V, last: f32) -> S::V {
        let s = self.s;
        s.min(s.max(s.nearest(at), s.splat(0)), self.number(last))
    }

    /// A coordinate in texels of a level, clamped where the sampler clamps.
    #[inline(always)]
    fn coordinate(&self, of: &LevelLookup<'_>, axis: usize, level: &Level<S::V>) -> S::V {
        let (s, sampler, zero) = (self.s, &of.levels.sampler, self.s.splat(0));
        let mut u = self.in_texels(of, axis, level);
        if !of.bends {
            return u;
        }
        if sampler.mirrors_once[axis] {
            u = s.and(u, s.splat(!SIGN));
        }
        if sampler.half_border[axis] {
            u = s.min(s.max(zero, u), level.sizes[axis]);
        }
        u
    }

    /// A coordinate in texels of a level.
    #[inline(always)]
    fn in_texels(&self, of: &LevelLookup<'_>, axis: usize, level: &Level<S::V>) -> S::V {
        let (s, u) = (self.s, self.at[axis]);
        let u = if of.cube { s.sub(u, s.splat(ONE)) } else { u };
        let u = if of.unnormalised[axis] { u } else { s.mul(u, level.sizes[axis]) };
        s.add(u, self.number(of.offset[axis]))
    }

    /// The first of two neighbours along an axis, which may lie outside, and the weight of the second one, without the
    /// sampler's wraps.
    #[inline(always)]
    pub(super) fn low(&self, of: &LevelLookup<'_>, axis: usize, level: &Level<S::V>) -> (S::V, S::V) {
        let ([low, _], weight) = self.split(self.s.sub(self.in_texels(of, axis, level), self.s.splat(HALF)));
        (low, weight)
    }

    /// A floored coordinate as the number of a column, row or slice, and the lanes beyond a border.
    #[inline(always)]
    fn placed(&mut self, of: &LevelLookup<'_>, axis: usize, floored: S::V, along: &Axis<S::V>) -> (S::V, S::M) {
        // The column at -1 is the mirror image of that at 0.
        let once = of.bends && of.levels.sampler.mirrors_once[axis];
        let floored = if once { self.s.max(self.s.splat(0), self.s.floor(floored)) } else { floored };
        self.wrapped(floored, along)
    }

    /// Neighbours along an axis: half a texel back in lanes that weigh texels.
    #[inline(always)]
    fn pair(&mut self, of: &LevelLookup<'_>, axis: usize, level: &Prepared<S>, linear: S::M) -> Neighbours<S> {
        let s = self.s;
        let u = self.coordinate(of, axis, &level.level);
        let (at, weight) = self.split(s.select(linear, s.sub(u, s.splat(HALF)), u));
        let along = &level.axes[axis];
        if !of.bends {
            return Neighbours { at: self.neighbours(at, along), weight };
        }
        Neighbours { at: [self.placed(of, axis, at[0], along), self.placed(of, axis, at[1], along)], weight }
    }

    /// A level with its axes.
    #[inline(always)]
    fn prepared(&self, of: &LevelLookup<'_>, level: S::V) -> Prepared<S> {
        if self.are_same(level) { self.prepared_of::<true>(of, level) } else { self.prepared_of::<false>(of, level) }
    }

    /// The same; `SAME`: all lanes have one level.
    #[inline(always)]
    fn prepared_of<const SAME: bool>(&self, of: &LevelLookup<'_>, number: S::V) -> Prepared<S> {
        let &Levels { wrap, folds, ref axes, .. } = of.levels;
        let level = self.level_of::<SAME>(of, number);
        let axes = each!(3, axis => {
            let [last, period, inverse] = each!(3, n => self.chosen::<SAME>(&axes[axis][n], number));
            Axis { wrap: wrap[axis], folds: folds[axis], size: level.sizes[axis], last, period, inverse }
        });
        Prepared { level, axes }
    }

    /// A lookup in one level: in lanes that weigh texels of these, in others of the nearest one.
    #[inline(always)]
    fn in_level(&mut self, of: &LevelLookup<'_>, prepared: &Prepared<S>, slice: S::V, linear: S::M) -> [S::V; 4] {
        let s = self.s;
        let over_edges = of.over_edges && of.what != What::Four && s.bits(linear) & self.wanted != 0;
        let on_face = if over_edges { s.mask(0) } else { linear };
        let mut found = [s.splat(0); 4];
        if !over_edges || s.bits(s.not(linear)) & self.wanted != 0 {
            found = self.in_face(of, prepared, slice, on_face);
        }
        if over_edges {
            let across = self.over_edges(of, prepared, slice, linear);
            found = each!(4, n => s.select(linear, across[n], found[n]));
        }
        found
    }

    /// The same in a cube, without texels beyond the edges of the face.
    #[inline(always)]
    fn in_face(&mut self, of: &LevelLookup<'_>, prepared: &Prepared<S>, slice: S::V, linear: S::M) -> [S::V; 4] {
        let s = self.s;
        let level = &prepared.level;
        let none = s.mask(0);
        let depth = if of.axes == 3 {
            self.pair(of, 2, prepared, linear)
        } else {
            Neighbours { at: [(slice, none); 2], weight: s.splat(0) }
        };
        let [near, far] = each!(2, n => {
            let (slice, beyond) = depth.at[n];
            let first = if of.flat { level.offset } else { s.add_int(s.mul_int(slice, level.slice), level.offset) };
            (first, beyond)
        });
        if s.bits(linear) == 0 {
            let [x, y] = each!(2, axis => {
                let u = self.coordinate(of, axis, level);
                self.placed(of, axis, u, &prepared.axes[axis])
            });
            let y = (s.mul_int(y.0, level.width), y.1);
            return self.texel(of, x, y, near);
        }
        let x = self.pair(of, 0, prepared, linear);
        let mut y = self.pair(of, 1, prepared, linear);
        y.at = each!(2, n => (s.mul_int(y.at[n].0, level.width), y.at[n].1));
        let mut found = [s.splat(0); 4];
        let slices = if of.axes == 3 && of.what != What::Four { 2 } else { 1 };
        for number in 0..slices {
            let slice = if number == 0 { near } else { far };
            let in_slice = self.square(of, &x, &y, slice, linear);
            if number == 0 {
                found = in_slice;
            } else {
                self.mix_where(of, linear, &mut found, in_slice, depth.weight);
            }
        }
        found
    }

    /// The texels of four corners, weighed.
    #[inline(always)]
    pub(super) fn square(
        &self,
        of: &LevelLookup<'_>,
        x: &Neighbours<S>,
        y: &Neighbours<S>,
        slice: (S::V, S::M),
        linear: S::M,
    ) -> [S::V; 4] {
        let s = self.s;
        let mut has_border = of.has_border;
        if has_border {
            let along = [x, y];
            let [x, y] = each!(2, n => s.either(along[n].at[0].1, along[n].at[1].1));
            has_border = s.bits(s.either(s.either(x, y), slice.1)) & self.wanted != 0;
        }
        if of.what == What::Texels && of.axes > 1 && !has_border {
            let [above, below] = each!(2, row => s.add_int(y.at[row].0, slice.0));
            let corners = [(x.at[0].0, above), (x.at[1].0, above), (x.at[0].0, below), (x.at[1].0, below)];
            let corners = each!(4, n => s.add_int(corners[n].0, corners[n].1));
            let weighed = self.weighed(of.texture, corners, [x.weight, y.weight]);
            if s.bits(s.not(linear)) == 0 {
                return weighed;
            }
            let nearest = self.whole(of.texture, corners[0]);
            return each!(4, n => s.select(linear, weighed[n], nearest[n]));
        }
        let [a, b] = each!(2, column => self.texel(of, x.at[column], y.at[0], slice));
        let [mut c, mut d] = [a, b];
        if of.axes > 1 || of.what == What::Four {
            [c, d] = each!(2, column => self.texel(of, x.at[column], y.at[1], slice));
        }
        if of.what == What::Four {
            // In the order of the manual.
            return [b[0], c[0], d[0], a[0]];
        }
        let mut found = a;
        for n in 0..of.channels() {
            let above = self.mix(a[n], b[n], x.weight);
            let weighed = if of.axes > 1 { self.mix(above, self.mix(c[n], d[n], x.weight), y.weight) } else { above };
            found[n] = s.select(linear, self.one_nan(weighed), a[n]);
        }
        found
    }

    /// The texels in columns, rows and slices, or the border, compared if the lookup compares.
    #[inline(always)]
    pub(super) fn texel(
        &self,
        of: &LevelLookup<'_>,
        (x, beyond_x): (S::V, S::M),
        (y, beyond_y): (S::V, S::M),
        (z, beyond_z): (S::V, S::M),
    ) -> [S::V; 4] {
        let (s, sampler) = (self.s, &of.levels.sampler);
        let index = s.add_int(s.add_int(x, y), z);
        let mut found = self.whole(of.texture, index);
        if of.has_border {
            let beyond = s.either(s.either(beyond_x, beyond_y), beyond_z);
            found = each!(4, n => s.select(beyond, s.splat(sampler.border[n]), found[n]));
        }
        if of.what == What::Compared {
            let reference = self.reference;
            let outcomes = [f32::NAN, 0.0, 1.0, 2.0].map(|reference| compared(sampler.compare, reference, ONE)[0]);
            let [unordered, less, equal, greater] = each!(4, n => s.splat(outcomes[n]));
            let texel = found[0];
            let above = s.select(s.less(texel, reference), greater, unordered);
            let at = s.select(s.equal(texel, reference), equal, above);
            found[0] = s.select(s.less(reference, texel), less, at);
        }
        found
    }
}
