//! Levels of detail: gradients of quads or of earlier instructions, and the steps that anisotropic lookups take along them.
//!
//! NaNs are not canonical here: results depend on whether a number is a NaN, but not on its bits.

#![allow(clippy::needless_range_loop, reason = "numbers index several arrays, as in the reference")]

use super::level_lookup::LevelLookup;
use super::{Lanes, What};
use ctm_exec::float::{HALF, INFINITY, ONE, SIGN};
use ctm_exec::r700::texture::Detail;
use ctm_exec::transcendental::{LN2_POLYNOMIAL, THREE_QUARTERS};
use ctm_x86::simd::{Simd, each};

/// Lookups along a gradient (`max_anisotropy`): their count, as a number; the lanes with several; and the gradient.
pub(super) struct Steps<S: Simd> {
    pub count: S::V,
    pub several: S::M,
    pub along: [S::V; 2],
}

impl<S: Simd> Lanes<'_, S> {
    /// The gradient along which lanes take steps, and their number: the ratio of the lengths, rounded up. `None` where
    /// no lane takes several.
    #[inline(always)]
    pub(super) fn steps(&self, of: &LevelLookup<'_>, gradients: [S::V; 2]) -> Option<Steps<S>> {
        let s = self.s;
        let most_steps = of.levels.most_steps;
        let (Detail::Computed { set } | Detail::Biased { set }) = of.detail else { return None };
        if most_steps <= 1 || of.what == What::Four {
            return None;
        }
        let [h, v] = gradients;
        let wide = s.less(v, h);
        let (long, short) = (s.select(wide, h, v), s.select(wide, v, h));
        let ratio = s.ceil(s.sqrt(s.div(long, short)));
        let several = s.less(s.splat(ONE), ratio);
        if s.bits(several) & self.wanted == 0 {
            return None;
        }
        let count = s.select(several, s.min(ratio, self.number(most_steps.into())), s.splat(ONE));
        let [h, v] = each!(2, n => self.slopes(of, set, n == 1));
        Some(Steps { count, several, along: each!(2, axis => s.select(wide, h[axis], v[axis])) })
    }

    /// `GET_COMP_TEX_LOD`: the level of detail clamped to the existing levels, and unclamped.
    #[inline(always)]
    pub(super) fn level_of_detail(&self, of: &LevelLookup<'_>) -> [S::V; 4] {
        let (s, sampler) = (self.s, &of.levels.sampler);
        let detail = self.detail(of, self.gradients(of));
        let within = s.min(s.max(detail, self.number(sampler.min_lod)), self.number(sampler.max_lod));
        let within = s.min(s.max(within, s.splat(0)), self.number((of.levels.texture.levels - 1) as f32));
        [within, self.one_nan(detail), s.splat(0), s.splat(0)]
    }

    /// The squared lengths of both gradients in texels of level 0, where they matter and lanes have them.
    #[inline(always)]
    pub(super) fn gradients(&self, of: &LevelLookup<'_>) -> Option<[S::V; 2]> {
        let (Detail::Computed { set } | Detail::Biased { set }) = of.detail else { return None };
        let matter = of.levels.detail_matters || of.levels.most_steps > 1;
        if !matter || !(set || of.levels.quads) {
            return None;
        }
        Some(each!(2, n => self.gradient(of, set, n == 1)))
    }

    /// The level of detail.
    #[inline(always)]
    pub(super) fn detail(&self, of: &LevelLookup<'_>, gradients: Option<[S::V; 2]>) -> S::V {
        let (s, bias) = (self.s, self.number(of.levels.bias));
        match of.detail {
            Detail::Zero => return s.splat(0),
            Detail::Given => return s.add(self.at[3], bias),
            Detail::Computed { .. } | Detail::Biased { .. } => {}
        }
        let detail = match gradients {
            Some([h, v]) => s.mul(self.ln2(s.max(h, v)), s.splat(HALF)),
            None => s.splat(0),
        };
        let detail = s.add(detail, bias);
        if let Detail::Biased { .. } = of.detail { s.add(detail, self.at[3]) } else { detail }
    }

    /// The level of detail of a sample, within the range of the sampler: any number up to 0 where texels are enlarged.
    #[inline(always)]
    pub(super) fn sampled_detail(
        &self,
        of: &LevelLookup<'_>,
        gradients: Option<[S::V; 2]>,
        steps: Option<&Steps<S>>,
    ) -> S::V {
        let (s, sampler) = (self.s, &of.levels.sampler);
        if let (Detail::Computed { .. }, Some([h, v])) = (of.detail, gradients) {
            // The logarithm of numbers up to 1 is not above 0, nor is that of a NaN after the minimum and maximum.
            let reduces = s.less(s.splat(ONE), s.max(h, v));
            if of.levels.bias <= 0.0 && sampler.min_lod <= 0.0 && s.bits(reduces) & self.wanted == 0 {
                return s.splat(0);
            }
        }
        let mut detail = self.detail(of, gradients);
        if let Some(steps) = steps {
            detail = s.select(steps.several, s.sub(detail, self.ln2(steps.count)), detail);
        }
        // Minimum and maximum of NaNs are their second operand.
        s.min(s.max(detail, self.number(sampler.min_lod)), self.number(sampler.max_lod))
    }

    /// A gradient along columns, rows and slices.
    #[inline(always)]
    fn slopes(&self, of: &LevelLookup<'_>, set: bool, vertical: bool) -> [S::V; 3] {
        let s = self.s;
        if set {
            return each!(3, axis => s.load(&self.set[axis + if vertical { 3 } else { 0 }][self.first..]));
        }
        // Quads in which the other lane exists.
        let other = if vertical { 2 } else { 1 };
        let complete = (self.existing >> other & 0x1111) * 15;
        let all = !0 >> (32 - S::LANES);
        let mut slopes = [s.splat(0); 3];
        for axis in 0..of.axes {
            let at = self.at[axis];
            slopes[axis] = s.sub(s.quad_lane(at, other), s.quad_lane(at, 0));
            if complete & all != all {
                slopes[axis] = s.select(s.mask(complete), slopes[axis], s.splat(0));
            }
        }
        let [x, y] = self.on_faces(of, [slopes[0], slopes[1]], vertical);
        [x, y, slopes[2]]
    }

    /// The squared length of a gradient in texels of level 0.
    #[inline(always)]
    fn gradient(&self, of: &LevelLookup<'_>, set: bool, vertical: bool) -> S::V {
        let (s, slopes) = (self.s, self.slopes(of, set, vertical));
        let mut sum = s.splat(0);
        for axis in 0..of.axes {
            let slope = slopes[axis];
            let slope =
                if of.unnormalised[axis] { slope } else { s.mul(slope, s.splat(of.levels.tables[3 + axis][0])) };
            sum = s.fma(slope, slope, sum);
        }
        sum
    }

    /// The logarithm to base 2 of numbers not less than 0: [`ctm_exec::transcendental::ln2`].
    #[inline(always)]
    pub(super) fn ln2(&self, x: S::V) -> S::V {
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
}
