//! Cubes where a lookup meets several faces: filters across edges, and gradients of quads whose lanes are on different
//! faces. As `ctm_exec::r700::{cube, sample}` do them.

#![allow(clippy::needless_range_loop, reason = "numbers index several arrays, as in the reference")]

use super::Lanes;
use super::level_lookup::LevelLookup;
use super::levels::{Neighbours, Prepared};
use ctm_exec::float::ONE;
use ctm_exec::r700::cube::across;
use ctm_exec::r700::sample::FACES;
use ctm_exec::r700::texture::slope_on_face;
use ctm_x86::simd::{Simd, each};
use std::sync::LazyLock;

/// The places of texels beyond the edges of a face: by the face's number, plus [`END`] beyond the last column or row;
/// one table for edges of columns, and one for those of rows. With `k` the place along the edge and `last` the last
/// column or row, the place is `last * a + k * b`:
///
/// | bits | field |
/// |--:|---|
/// | 0..=2 | the other face |
/// | 4 | `a` of its column |
/// | 5, 6 | `b` of its column, plus 1 |
/// | 8 | `a` of its row |
/// | 9, 10 | `b` of its row, plus 1 |
static EDGES: LazyLock<[[u32; 16]; 2]> = LazyLock::new(|| {
    // Two places along the edge of a face of four by four determine all coefficients.
    const SIZE: u32 = 4;
    let entry = |axis: usize, face: u32, end: bool| {
        let beyond = if end { i64::from(SIZE) } else { -1 };
        let texel = |k: i64| if axis == 0 { across(face, beyond, k, SIZE) } else { across(face, k, beyond, SIZE) };
        let (Some((other, x0, y0)), Some((_, x1, y1))) = (texel(0), texel(1)) else { return 0 };
        let line = |first: u32, second: u32| u32::from(first > 0) | (second + 1 - first) << 1;
        other | line(x0, x1) << 4 | line(y0, y1) << 8
    };
    [0, 1].map(|axis| {
        let mut table = [0; 16];
        for (face, end) in (0..FACES).flat_map(|face| [(face, false), (face, true)]) {
            table[(face + if end { END } else { 0 }) as usize] = entry(axis, face, end);
        }
        table
    })
});

/// Lanes of a quad.
const QUAD: usize = 4;

/// Added to a face's number beyond its last column or row.
const END: u32 = 8;

impl<S: Simd> Lanes<'_, S> {
    /// A linear lookup in a level of a cube, in these lanes. `slice`: the face's place among all.
    #[inline(always)]
    pub(super) fn over_edges(
        &mut self,
        of: &LevelLookup<'_>,
        level: &Prepared<S>,
        slice: S::V,
        lanes: S::M,
    ) -> [S::V; 4] {
        let s = self.s;
        let (level, size, one) = (&level.level, level.level.sizes[0], s.splat(ONE));
        let last = s.to_int(s.sub(size, one));
        // Columns and rows, those before the first one and after the last one among them. NaN counts as infinite.
        let [(x, across_x), (y, across_y)] = each!(2, axis => {
            let (low, weight) = self.low(of, axis, level);
            let low = s.min(s.max(s.splat((-1.0f32).to_bits()), low), size);
            ([s.to_int(low), s.to_int(s.min(s.add(low, one), size))], weight)
        });
        let [x_out, y_out] = each!(2, axis => {
            let at = [x, y][axis];
            each!(2, n => s.not(s.equal_bits(s.least(at[n], last), at[n])))
        });
        let none = s.mask(0);
        let any_out = s.either(s.either(x_out[0], x_out[1]), s.either(y_out[0], y_out[1]));
        if s.bits(s.both(any_out, lanes)) & self.wanted == 0 {
            // All lie on the face; those of other lanes are clamped to it.
            let columns = each!(2, n => (s.least(x[n], last), none));
            let rows = each!(2, n => (s.mul_int(s.least(y[n], last), level.width), none));
            let x = Neighbours { at: columns, weight: across_x };
            let y = Neighbours { at: rows, weight: across_y };
            let slice = s.add_int(s.mul_int(slice, level.slice), level.offset);
            return self.square(of, &x, &y, (slice, none), lanes);
        }
        let face = s.to_int(self.named(self.at[2], (FACES - 1) as f32));
        let cube = s.sub_int(slice, face);
        let edges = LazyLock::force(&EDGES);
        let mut texels = [[s.splat(0); 4]; 4];
        let mut corners = [none; 4];
        for n in 0..4 {
            let (x, y) = ((x[n % 2], x_out[n % 2]), (y[n / 2], y_out[n / 2]));
            corners[n] = s.both(x.1, y.1);
            let (inside_x, inside_y) = (s.least(x.0, last), s.least(y.0, last));
            let at = [x.0, y.0];
            let entries = each!(2, axis => {
                let is_end = s.equal_bits(at[axis], s.add_int(last, s.splat(1)));
                s.choose(&edges[axis], s.add_int(face, s.select(is_end, s.splat(END), s.splat(0))))
            });
            let entry = s.select(x.1, entries[0], entries[1]);
            let along = s.select(x.1, inside_y, inside_x);
            let lines = each!(2, axis => {
                let first = 4 + 4 * axis as i32;
                let a = s.and(s.right(entry, first), s.splat(1));
                let b = s.sub_int(s.and(s.right(entry, first + 1), s.splat(3)), s.splat(1));
                s.add_int(s.mul_int(last, a), s.mul_int(along, b))
            });
            let beyond = s.both(s.either(x.1, y.1), s.not(corners[n]));
            let column = s.select(beyond, lines[0], inside_x);
            let row = s.select(beyond, lines[1], inside_y);
            let face = s.select(beyond, s.and(entry, s.splat(7)), face);
            let slice = s.add_int(s.mul_int(s.add_int(cube, face), level.slice), level.offset);
            texels[n] = self.texel(of, (column, none), (s.mul_int(row, level.width), none), (slice, none));
        }
        // Far from the face several texels lie beyond corners: the lookup is left to the reference.
        let out = [x_out, y_out];
        let (both, any) = (
            each!(2, axis => s.both(out[axis][0], out[axis][1])),
            each!(2, axis => s.either(out[axis][0], out[axis][1])),
        );
        let several = s.either(s.both(both[0], any[1]), s.both(both[1], any[0]));
        self.large = s.either(self.large, s.both(several, lanes));
        for missing in 0..4 {
            if s.bits(s.both(corners[missing], lanes)) & self.wanted == 0 {
                continue;
            }
            for channel in 0..of.channels() {
                let mut sum = s.splat(0);
                for n in 0..4 {
                    if n != missing {
                        sum = s.add(sum, texels[n][channel]);
                    }
                }
                let mean = s.div(sum, self.number(3.0));
                texels[missing][channel] = s.select(corners[missing], mean, texels[missing][channel]);
            }
        }
        let [a, b, c, d] = texels;
        let mut found = a;
        for n in 0..of.channels() {
            let (above, below) = (self.mix(a[n], b[n], across_x), self.mix(c[n], d[n], across_x));
            found[n] = self.one_nan(self.mix(above, below, across_y));
        }
        found
    }

    /// The slope of a cube's coordinates along columns and rows on the plane of each lane's face. `raw`: that of the
    /// untransformed coordinates.
    #[inline(always)]
    pub(super) fn on_faces(&self, of: &LevelLookup<'_>, raw: [S::V; 2], vertical: bool) -> [S::V; 2] {
        let s = self.s;
        if !of.cube {
            return raw;
        }
        let face = self.named(self.at[2], (FACES - 1) as f32);
        let differs = s.bits(s.not(s.equal(face, s.quad_lane(face, 0))));
        if differs & self.existing == 0 {
            return raw;
        }
        let (mut at, mut found) = ([[0; 16]; 3], [[0; 16]; 2]);
        for axis in 0..3 {
            s.store(self.at[axis], &mut at[axis]);
        }
        for axis in 0..2 {
            s.store(raw[axis], &mut found[axis]);
        }
        for first in (0..S::LANES).step_by(QUAD) {
            let existing = (self.existing >> first & 15).trailing_ones() as usize;
            if differs >> first & 15 == 0 {
                continue;
            }
            let quad: [[u32; 4]; QUAD] =
                std::array::from_fn(|n| [at[0][first + n], at[1][first + n], at[2][first + n], 0]);
            for lane in 0..existing {
                if let Some(slope) = slope_on_face(&quad[..existing], lane, vertical) {
                    for axis in 0..2 {
                        found[axis][first + lane] = slope[axis].to_bits();
                    }
                }
            }
        }
        each!(2, axis => s.load(&found[axis]))
    }
}
