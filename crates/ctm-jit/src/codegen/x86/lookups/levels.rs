//! Lookups of textures with mipmap levels, slices, layers or faces, with comparisons and levels of detail: as `ctm_exec::r700::sample` does them.

#![allow(unsafe_code, reason = "levels are arrays of their own")]

use super::texels::Axis;
use super::{Lanes, Looked, What};
use crate::launch::wavefronts::bindings::Levels;
use crate::launch::wavefronts::wave::CUBE;
use ctm_exec::float::{HALF, INFINITY, ONE, SIGN};
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::sample::{FACES, compared, filtered_axes, is_cube};
use ctm_exec::r700::texture::Detail;
use ctm_exec::transcendental::{LN2_POLYNOMIAL, THREE_QUARTERS};
use ctm_x86::simd::{Array, Simd, each};

/// A lookup of a texture, and what is the same for all levels.
#[derive(Clone, Copy)]
struct Of<'a> {
    levels: &'a Levels<'a>,
    unnormalised: [bool; 3],
    offset: [f32; 3],
    what: What,
    detail: Detail,
    /// Axes that filters see.
    axes: usize,
    array: Array<'a>,
}

/// A level, which may be another one in each lane.
#[derive(Clone, Copy)]
struct Level<V> {
    /// Columns.
    width: V,
    /// Where it begins, in texels.
    offset: V,
    /// Texels of a slice, layer or face.
    slice: V,
    /// Columns, rows and slices, as numbers.
    sizes: [V; 3],
}

/// Neighbours along an axis, which of them lie beyond the border, and how much the second one weighs.
struct Pair<S: Simd> {
    at: [(S::V, S::M); 2],
    weight: S::V,
}

impl Of<'_> {
    /// Slices, layers or faces of level 0.
    const fn slices(&self) -> f32 {
        f32::from_bits(self.levels.tables[5][0])
    }

    /// Channels that are found.
    const fn channels(&self) -> usize {
        if matches!(self.what, What::Texels) { 4 } else { 1 }
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// What a lookup finds in a texture; `None` where the reference has to look.
    #[inline(always)]
    pub(super) fn levels(&mut self, levels: &Levels<'_>) -> Option<[S::V; 4]> {
        let (unnormalised, offset, what, detail) = match *self.looked {
            Looked::Sample { unnormalised, offset, what, detail } => (unnormalised, offset, what, detail),
            Looked::Load { .. } | Looked::Sizes => ([true; 3], [0.0; 3], What::Texels, Detail::Zero),
            Looked::Item { .. } => return None,
        };
        // SAFETY: columns, rows and slices are kept within the level, which is kept within those that there are, and these lie there.
        let array = unsafe { Array::among(bytemuck::cast_slice(levels.first), 16 * levels.texels) };
        let axes = filtered_axes(levels.texture.kind);
        let of = Of { levels, unnormalised, offset, what, detail, axes, array };
        match *self.looked {
            Looked::Load { offset } => Some(self.load_level(&of, offset)),
            Looked::Sizes => Some(self.sizes(&of)),
            _ => self.sample(&of),
        }
    }

    /// The level with a number.
    #[inline(always)]
    fn level_of(&self, of: &Of<'_>, level: S::V) -> Level<S::V> {
        let (s, tables) = (self.s, &of.levels.tables);
        let [width, offset, slice] = each!(3, n => s.choose(&tables[n], level));
        Level { width, offset, slice, sizes: each!(3, n => s.choose(&tables[3 + n], level)) }
    }

    /// A level by its number, as one that exists, and whether it does.
    #[inline(always)]
    fn existing_level(&self, of: &Of<'_>, level: S::V) -> (Level<S::V>, S::M) {
        let (level, exists) = self.inside(level, self.s.splat(of.levels.texture.levels));
        (self.level_of(of, level), exists)
    }

    /// `GET_TEXTURE_RESINFO`: the sizes of a level, 0 where there is none; and how many there are.
    #[inline(always)]
    fn sizes(&self, of: &Of<'_>) -> [S::V; 4] {
        let s = self.s;
        let (level, exists) = self.existing_level(of, self.at[0]);
        let [x, y, z] = each!(3, n => s.select(exists, s.to_int(level.sizes[n]), s.splat(0)));
        [x, y, z, s.splat(of.levels.texture.levels)]
    }

    /// `LD`: texels by whole numbers, zeros outside.
    #[inline(always)]
    fn load_level(&self, of: &Of<'_>, offset: [i32; 3]) -> [S::V; 4] {
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
        let found = self.whole(of.array, index);
        each!(4, n => s.select(outside, s.splat(0), found[n]))
    }

    /// A lookup.
    #[inline(always)]
    fn sample(&mut self, of: &Of<'_>) -> Option<[S::V; 4]> {
        let s = self.s;
        let &Levels { ref texture, ref sampler, detail_matters, .. } = of.levels;
        if of.what == What::Detail {
            return self.level_of_detail(of);
        }
        let filters = [sampler.magnify, sampler.minify];
        let linear = each!(2, n => s.mask(if filters[n] == Filter::Linear { !0 } else { 0 }));
        let (mut levels, mut weight, mut weighs) = ([s.splat(0); 2], s.splat(0), linear[0]);
        if detail_matters {
            let last = if sampler.mip == MipFilter::None { 0 } else { texture.levels - 1 };
            let last = self.number(last as f32);
            // Of what is no number, minimum and maximum are their second operand.
            let detail = self.detail(of)?;
            let detail = s.min(s.max(detail, self.number(sampler.min_lod)), self.number(sampler.max_lod));
            let reduces = s.less(s.splat(0), detail);
            weighs = s.either(s.both(reduces, linear[1]), s.both(s.not(reduces), linear[0]));
            let detail = s.min(s.max(detail, s.splat(0)), last);
            let detail = if sampler.mip == MipFilter::Nearest { s.add(detail, s.splat(HALF)) } else { detail };
            let low = s.floor(detail);
            if sampler.mip == MipFilter::Linear {
                weight = s.sub(detail, low);
            }
            levels = [s.to_int(low), s.to_int(s.min(s.add(low, s.splat(ONE)), last))];
        }
        let slice = self.slice(of);
        if of.what == What::Four {
            return Some(self.in_level(of, levels[0], slice, s.mask(!0)));
        }
        let mut found = self.in_level(of, levels[0], slice, weighs);
        let other = s.not(s.equal(weight, s.splat(0)));
        if s.bits(other) != 0 {
            let second = self.in_level(of, levels[1], slice, weighs);
            self.mix_where(of, other, &mut found, second, weight);
        }
        if of.what == What::Compared {
            (found[1], found[2], found[3]) = (s.splat(0), s.splat(0), s.splat(ONE));
        }
        Some(found)
    }

    /// Weighs what was found with what is found in another place, where a mask holds.
    #[inline(always)]
    fn mix_where(&self, of: &Of<'_>, mask: S::M, found: &mut [S::V; 4], other: [S::V; 4], weight: S::V) {
        for n in 0..of.channels() {
            found[n] = self.s.select(mask, self.one_nan(self.mix(found[n], other[n], weight)), found[n]);
        }
    }

    /// `GET_COMP_TEX_LOD`: the level of detail within what there is, and as it is.
    #[inline(always)]
    fn level_of_detail(&self, of: &Of<'_>) -> Option<[S::V; 4]> {
        let (s, sampler) = (self.s, &of.levels.sampler);
        let detail = self.detail(of)?;
        let within = s.min(s.max(detail, self.number(sampler.min_lod)), self.number(sampler.max_lod));
        let within = s.min(s.max(within, s.splat(0)), self.number((of.levels.texture.levels - 1) as f32));
        Some([within, self.one_nan(detail), s.splat(0), s.splat(0)])
    }

    /// The level of detail; `None` where quads look at several faces of a cube: their gradients are the reference's.
    #[inline(always)]
    fn detail(&self, of: &Of<'_>) -> Option<S::V> {
        let (s, bias) = (self.s, self.number(of.levels.bias));
        let set = match of.detail {
            Detail::Zero => return Some(s.splat(0)),
            Detail::Given => return Some(s.add(self.at[3], bias)),
            Detail::Computed { set } | Detail::Biased { set } => set,
        };
        let mut detail = s.splat(0);
        if set || of.levels.quads {
            if !set && is_cube(of.levels.texture.kind) {
                let face = s.nearest(self.at[2]);
                if s.bits(s.not(s.equal(face, s.quad_lane(face, 0)))) != 0 {
                    return None;
                }
            }
            let longer = s.max(self.gradient(of, set, false), self.gradient(of, set, true));
            detail = s.mul(self.ln2(longer), s.splat(HALF));
        }
        let detail = s.add(detail, bias);
        Some(if let Detail::Biased { .. } = of.detail { s.add(detail, self.at[3]) } else { detail })
    }

    /// The squared length of a gradient in texels of level 0.
    #[inline(always)]
    fn gradient(&self, of: &Of<'_>, set: bool, vertical: bool) -> S::V {
        let s = self.s;
        // Quads that have the other lane.
        let other = if vertical { 2 } else { 1 };
        let complete = s.mask((self.existing >> other & 0x1111) * 15);
        let mut sum = s.splat(0);
        for axis in 0..of.axes {
            let slope = if set {
                s.load(&self.set[axis + if vertical { 3 } else { 0 }][self.first..])
            } else {
                let at = self.at[axis];
                let slope = s.sub(s.quad_lane(at, other), s.quad_lane(at, 0));
                s.select(complete, self.one_nan(slope), s.splat(0))
            };
            let slope =
                if of.unnormalised[axis] { slope } else { s.mul(slope, s.splat(of.levels.tables[3 + axis][0])) };
            sum = s.fma(slope, slope, sum);
        }
        sum
    }

    /// The logarithm by 2 of what is not less than 0: [`ctm_exec::transcendental::ln2`].
    #[inline(always)]
    fn ln2(&self, x: S::V) -> S::V {
        let s = self.s;
        // Exponents with a sign, counted from 256 on.
        let exponent = s.right(s.add_int(x, s.splat(SIGN - THREE_QUARTERS)), 23);
        let exponent = s.sub_int(exponent, s.splat(256));
        let fraction = s.sub(s.sub_int(x, s.left(exponent, 23)), s.splat(ONE));
        let [rest @ .., highest] = LN2_POLYNOMIAL;
        let mut sum = self.number(highest);
        for c in rest.into_iter().rev() {
            sum = s.fma(sum, fraction, self.number(c));
        }
        let sum = s.fma(sum, fraction, s.add(s.of_int(exponent), fraction));
        let sum = s.select(s.equal(x, s.splat(0)), s.splat(SIGN | INFINITY), sum);
        s.select(s.less(x, s.splat(INFINITY)), sum, x)
    }

    /// The layer or face.
    #[inline(always)]
    fn slice(&self, of: &Of<'_>) -> S::V {
        let (s, texture) = (self.s, &of.levels.texture);
        if texture.kind != TextureKind::CubeArray {
            return s.to_int(self.named(self.at[2], of.slices() - 1.0));
        }
        let face = self.named(self.at[2], (of.slices() - 1.0).min((FACES - 1) as f32));
        let last = (texture.depth / FACES).saturating_sub(1);
        let cube = self.named(s.load(&self.set[CUBE][self.first..]), last as f32);
        s.to_int(s.fma(cube, self.number(FACES as f32), face))
    }

    /// The nearest whole number from 0 to the last one.
    #[inline(always)]
    fn named(&self, at: S::V, last: f32) -> S::V {
        let s = self.s;
        s.min(s.max(s.nearest(at), s.splat(0)), self.number(last))
    }

    /// A coordinate in texels of a level.
    #[inline(always)]
    fn coordinate(&self, of: &Of<'_>, axis: usize, level: &Level<S::V>) -> S::V {
        let (s, u) = (self.s, self.at[axis]);
        let u = if is_cube(of.levels.texture.kind) { s.sub(u, s.splat(ONE)) } else { u };
        let u = if of.unnormalised[axis] { u } else { s.mul(u, level.sizes[axis]) };
        s.add(u, self.number(of.offset[axis]))
    }

    /// Neighbours along an axis: half a texel back in lanes that weigh texels.
    #[inline(always)]
    fn pair(&mut self, of: &Of<'_>, axis: usize, level: &Level<S::V>, linear: S::M) -> Pair<S> {
        let s = self.s;
        let u = self.coordinate(of, axis, level);
        let (at, weight) = self.split(s.select(linear, s.sub(u, s.splat(HALF)), u));
        let along = Axis::new(s, level.sizes[axis], of.levels.wrap[axis]);
        Pair { at: [self.wrapped(at[0], &along), self.wrapped(at[1], &along)], weight }
    }

    /// A lookup in one level: in lanes that weigh texels of these, in others of the nearest one.
    #[inline(always)]
    fn in_level(&mut self, of: &Of<'_>, level: S::V, slice: S::V, linear: S::M) -> [S::V; 4] {
        let s = self.s;
        let level = self.level_of(of, level);
        let none = s.mask(0);
        let depth = if of.axes == 3 {
            self.pair(of, 2, &level, linear)
        } else {
            Pair { at: [(slice, none); 2], weight: s.splat(0) }
        };
        let [near, far] = each!(2, n => {
            let (slice, beyond) = depth.at[n];
            (s.add_int(s.mul_int(slice, level.slice), level.offset), beyond)
        });
        if s.bits(linear) == 0 {
            let [x, y] = each!(2, axis => {
                let along = Axis::new(s, level.sizes[axis], of.levels.wrap[axis]);
                self.wrapped(self.coordinate(of, axis, &level), &along)
            });
            let y = (s.mul_int(y.0, level.width), y.1);
            return self.texel(of, x, y, near);
        }
        let x = self.pair(of, 0, &level, linear);
        let mut y = self.pair(of, 1, &level, linear);
        y.at = each!(2, n => (s.mul_int(y.at[n].0, level.width), y.at[n].1));
        let mut found = self.square(of, &x, &y, near, linear);
        if of.axes == 3 && of.what != What::Four {
            let other = self.square(of, &x, &y, far, linear);
            self.mix_where(of, linear, &mut found, other, depth.weight);
        }
        found
    }

    /// The texels of four corners, weighed.
    #[inline(always)]
    fn square(&self, of: &Of<'_>, x: &Pair<S>, y: &Pair<S>, slice: (S::V, S::M), linear: S::M) -> [S::V; 4] {
        let s = self.s;
        if of.what == What::Texels && of.axes > 1 && !of.levels.wrap.contains(&Wrap::Border) {
            let [above, below] = each!(2, row => s.add_int(y.at[row].0, slice.0));
            let corners = [(x.at[0].0, above), (x.at[1].0, above), (x.at[0].0, below), (x.at[1].0, below)];
            let corners = each!(4, n => s.add_int(corners[n].0, corners[n].1));
            let weighed = self.weighed(of.array, corners, [x.weight, y.weight]);
            if s.bits(s.not(linear)) == 0 {
                return weighed;
            }
            let nearest = self.whole(of.array, corners[0]);
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

    /// The texels in columns, rows and slices, or the border, compared if a comparison is asked for.
    #[inline(always)]
    fn texel(
        &self,
        of: &Of<'_>,
        (x, beyond_x): (S::V, S::M),
        (y, beyond_y): (S::V, S::M),
        (z, beyond_z): (S::V, S::M),
    ) -> [S::V; 4] {
        let (s, sampler) = (self.s, &of.levels.sampler);
        let mut found = self.whole(of.array, s.add_int(s.add_int(x, y), z));
        if of.levels.wrap.contains(&Wrap::Border) {
            let beyond = s.either(s.either(beyond_x, beyond_y), beyond_z);
            found = each!(4, n => s.select(beyond, s.splat(sampler.border[n]), found[n]));
        }
        if of.what == What::Compared {
            let reference = self.at[of.levels.reference];
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
