//! Plain lookups in textures with levels: texels at normalised coordinates of two axes, without borders.
//!
//! Most lookups of drawn frames are of this kind. They give the same as those of `levels`. Code is compiled for two usual
//! cases ([`Axes`]) and for all others.

#![allow(clippy::needless_range_loop, reason = "numbers index several arrays, as in the reference")]

use super::detail::Steps;
use super::level_lookup::LevelLookup;
use super::levels::{LookUpInLevel, Mips};
use super::texels::{Axis, LookupArray};
use super::{Lanes, Looked, What};
use crate::launch::wavefronts::bindings::Levels;
use crate::launch::wavefronts::wave::Row;
use ctm_exec::float::{HALF, ONE};
use ctm_exec::r700::resources::{Filter, Wrap};
use ctm_x86::simd::{Simd, each};

/// Whether texels are sampled at normalised coordinates of two axes.
pub(super) const fn is_plain(looked: &Looked) -> bool {
    matches!(looked, Looked::Sample { unnormalised: [false, false, _], what: What::Texels, .. })
}

/// The case of a plain lookup that code is compiled for.
pub(super) type Axes = u8;

/// Both axes repeat with a power of two ([`Levels::folds`]); filters are linear, and lanes take no steps along gradients.
pub(super) const FOLDED: Axes = 0;
/// Both axes clamp; otherwise the same.
pub(super) const CLAMPED: Axes = 1;
/// All others.
pub(super) const ANY: Axes = 2;

/// The case of plain lookups in a texture.
pub(super) fn axes(levels: &Levels<'_>) -> Axes {
    let Levels { sampler, wrap: [x, y, _], folds: [folds_x, folds_y, _], most_steps, .. } = levels;
    let usual = sampler.magnify == Filter::Linear && sampler.minify == Filter::Linear && *most_steps <= 1;
    match (x, y) {
        _ if usual && *folds_x && *folds_y => FOLDED,
        (Wrap::Clamp, Wrap::Clamp) if usual => CLAMPED,
        _ => ANY,
    }
}

/// The values that all plain lookups of a texture share, with constants for the compiler. `BYTES`: its texels are bytes.
#[inline(always)]
pub(super) const fn lookup<const BYTES: bool>(of: LevelLookup<'_>) -> LevelLookup<'_> {
    LevelLookup {
        texture: LookupArray {
            are_bytes: BYTES,
            constants: if BYTES { None } else { of.texture.constants },
            ..of.texture
        },
        unnormalised: [false; 3],
        what: What::Texels,
        axes: 2,
        cube: false,
        flat: true,
        bends: false,
        has_border: false,
        over_edges: false,
        ..of
    }
}

/// The levels of detail of all lanes. They are found before the lookups, so that the long sums of their logarithms
/// overlap: each lookup would wait for its own.
pub(super) struct Details {
    /// As [`Lanes::sampled_detail`].
    detail: Row,
    /// Where lookups may take steps along a gradient: [`Steps::count`] and [`Steps::along`].
    steps: Option<[Row; 3]>,
}

impl Details {
    /// Space for those of a texture; `None` where nothing depends on them.
    pub fn new(levels: &Levels<'_>) -> Option<Self> {
        let steps = levels.most_steps > 1;
        let empty = [0; size_of::<Row>() / 4];
        (levels.detail_matters || steps).then(|| Self { detail: empty, steps: steps.then_some([empty; 3]) })
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// Finds the levels of detail of these lanes.
    #[inline(always)]
    pub(super) fn find_details<const AXES: Axes>(&self, of: &LevelLookup<'_>, details: &mut Details) {
        let (s, first) = (self.s, self.first);
        let gradients = self.gradients(of);
        let mut steps = None;
        if let (ANY, Some(rows)) = (AXES, &mut details.steps) {
            steps = if let Some(gradients) = gradients { self.steps(of, gradients) } else { None };
            let [count, along @ ..] = rows;
            let one = s.splat(ONE);
            s.store(if let Some(steps) = &steps { steps.count } else { one }, &mut count[first..]);
            if let Some(steps) = &steps {
                for axis in 0..2 {
                    s.store(steps.along[axis], &mut along[axis][first..]);
                }
            }
        }
        if of.levels.detail_matters {
            s.store(self.sampled_detail(of, gradients, steps.as_ref()), &mut details.detail[first..]);
        }
    }

    /// The result of a plain lookup.
    #[inline(always)]
    pub(super) fn plain<const AXES: Axes>(&mut self, of: &LevelLookup<'_>, details: Option<&Details>) -> [S::V; 4] {
        let (s, first) = (self.s, self.first);
        let (mut detail, mut steps) = (s.splat(0), None);
        if let Some(details) = details {
            detail = s.load(&details.detail[first..]);
            if let (ANY, Some([count, along @ ..])) = (AXES, &details.steps) {
                let count = s.load(&count[first..]);
                let several = s.less(s.splat(ONE), count);
                if s.bits(several) & self.wanted != 0 {
                    steps = Some(Steps { count, several, along: each!(2, axis => s.load(&along[axis][first..])) });
                }
            }
        }
        let mips = self.mips(of, detail);
        let (all, half) = (!0 >> (32 - S::LANES), s.splat(HALF));
        let levels: InPlainLevels<'_, S, AXES> = match AXES {
            ANY => InPlainLevels {
                back: s.select(mips.linear, half, s.splat(0)),
                linear: s.bits(mips.linear),
                all,
                mips: &mips,
            },
            _ => InPlainLevels { back: half, linear: all, all, mips: &mips },
        };
        self.stepped(of, &levels, &mips, steps.as_ref())
    }

    /// The first texels of the rows, and the columns, of neighbours along both axes; and the weights of the second ones.
    /// `back`: subtracted from coordinates, in texels.
    #[inline(always)]
    fn plain_corners<const AXES: Axes, const SAME: bool>(
        &mut self,
        of: &LevelLookup<'_>,
        number: S::V,
        back: S::V,
    ) -> ([S::V; 4], [S::V; 2]) {
        let (s, levels) = (self.s, of.levels);
        let [widths, offsets, ..] = &levels.tables;
        let [x, y] = each!(2, axis => {
            let size = self.chosen::<SAME>(&levels.tables[3 + axis], number);
            let at = s.add(s.mul(self.at[axis], size), self.number(of.offset[axis]));
            let (at, weight) = self.split(s.sub(at, back));
            let wrap = if AXES == CLAMPED { Wrap::Clamp } else { levels.wrap[axis] };
            let last = self.chosen::<SAME>(&levels.axes[axis][0], number);
            let mut along = Axis { wrap, folds: true, size, last, period: size, inverse: size };
            let at = if AXES == FOLDED || AXES == ANY && levels.folds[axis] {
                self.neighbours(at, &along)
            } else {
                along.folds = false;
                along.period = self.chosen::<SAME>(&levels.axes[axis][1], number);
                along.inverse = self.chosen::<SAME>(&levels.axes[axis][2], number);
                self.neighbours(at, &along)
            };
            ([at[0].0, at[1].0], weight)
        });
        let (width, offset) = (self.chosen::<SAME>(widths, number), self.chosen::<SAME>(offsets, number));
        let [above, below] = each!(2, n => s.add_int(s.mul_int(y.0[n], width), offset));
        let [left, right] = x.0;
        let corners =
            [s.add_int(left, above), s.add_int(right, above), s.add_int(left, below), s.add_int(right, below)];
        (corners, [x.1, y.1])
    }
}

/// Plain lookups in the levels that are weighed.
struct InPlainLevels<'m, S: Simd, const AXES: Axes> {
    mips: &'m Mips<S>,
    /// Half a texel in lanes that weigh texels, 0 in others.
    back: S::V,
    /// The lanes that weigh texels.
    linear: u32,
    /// All lanes.
    all: u32,
}

impl<S: Simd, const AXES: Axes> LookUpInLevel<S> for InPlainLevels<'_, S, AXES> {
    #[inline(always)]
    fn look_up(&self, lanes: &mut Lanes<'_, S>, of: &LevelLookup<'_>, number: usize) -> [S::V; 4] {
        let s = lanes.s;
        let level = self.mips.numbers[number];
        let (corners, weights) = if lanes.are_same(level) {
            lanes.plain_corners::<AXES, true>(of, level, self.back)
        } else {
            lanes.plain_corners::<AXES, false>(of, level, self.back)
        };
        if self.linear == 0 {
            return lanes.whole(of.texture, corners[0]);
        }
        let weighed = lanes.weighed(of.texture, corners, weights);
        if self.linear == self.all {
            return weighed;
        }
        let nearest = lanes.whole(of.texture, corners[0]);
        each!(4, n => s.select(self.mips.linear, weighed[n], nearest[n]))
    }
}
