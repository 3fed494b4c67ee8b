//! Parameters over the pixels of a triangle: planes whose sums are exact.
//!
//! The three numbers of a plane are rounded to multiples of one power of two, so large that no sum on the way to a pixel of the triangle needs more digits than
//! double precision has. So a value depends neither on the order of its sums nor on the pixel from which columns and rows are counted: all ways to a start value
//! give the same bits.

use crate::setup::{Setup, Share};
use std::array::from_fn;

/// The place of a triangle, for planes over the pixels of the window.
#[derive(Clone, Copy)]
pub(crate) struct ParameterPlanes {
    /// The columns and rows from the centre of pixel (0, 0) to the first corner.
    first: [f64; 2],
    /// How a value changes by column, for each unit by which the second and the third corner's differ from the first one's.
    by_column: [f64; 2],
    /// The same by row.
    by_row: [f64; 2],
    /// At least twice as many columns and rows as any pixel of the triangle is away from pixel (0, 0).
    reach: f64,
    /// 1/w of the corners.
    reciprocals: [f64; 3],
    /// 1/w at the centre of pixel (0, 0), and its change by column and row, where it changes.
    divisor: Option<[f64; 3]>,
}

/// The four elements of a parameter.
#[derive(Clone, Copy)]
pub(crate) struct ElementPlanes {
    /// The elements at the centre of pixel (0, 0), and their changes by column and row.
    pub(crate) of: [[f64; 4]; 3],
    /// Which elements are divided by 1/w.
    pub(crate) divided: [bool; 4],
}

/// Columns and rows around a triangle up to which quads and wavefronts reach.
const AROUND: f64 = 64.0;

impl ParameterPlanes {
    /// Of a triangle; `centre`: the place in each pixel, in units. `None` of lines and points.
    #[inline(always)]
    pub(crate) fn of(setup: &Setup, centre: i64) -> Option<Self> {
        let Share::Triangle(area) = setup.share else { return None };
        // Loops and expressions alone: in a function for other vectors, compilers leave calls of closures as calls.
        let [first, second, third] = &setup.corners;
        let ([x0, y0], [x1, y1], [x2, y2]) = (first.at, second.at, third.at);
        let (units, mut farthest) = (setup.unit.count() as f64, 0);
        for at in [x0, y0, x1, y1, x2, y2] {
            farthest = farthest.max(at.abs());
        }
        let (scale, side) = (units / area as f64, 1.0 / units);
        let reciprocals = [first.reciprocal_w, second.reciprocal_w, third.reciprocal_w];
        let planes = Self {
            first: [(x0 - centre) as f64 * side, (y0 - centre) as f64 * side],
            by_column: [(y2 - y0) as f64 * scale, (y0 - y1) as f64 * scale],
            by_row: [(x0 - x2) as f64 * scale, (x1 - x0) as f64 * scale],
            reach: 2.0 * (farthest as f64 * side + AROUND),
            reciprocals,
            divisor: None,
        };
        let [a, b, c] = reciprocals;
        if a == b && a == c {
            return Some(planes);
        }
        let [[origin], [di], [dj]] = planes.linear(&[[a], [b], [c]]);
        Some(Self { divisor: Some([origin, di, dj]), ..planes })
    }

    /// 1/w at the centre of pixel (0, 0), and its change by column and row, where it changes.
    #[inline(always)]
    pub(crate) const fn divisor(&self) -> Option<[f64; 3]> {
        self.divisor
    }

    /// Numbers that are linear in the window, by their values at the corners: at the centre of pixel (0, 0), and their changes by column and row. NaN where numbers
    /// that are not finite differ.
    #[inline(always)]
    pub(crate) fn linear<const N: usize>(&self, corners: &[[f64; N]; 3]) -> [[f64; N]; 3] {
        let Self { first: [x, y], by_column, by_row, reach, .. } = *self;
        let mut planes = [[0.0; N]; 3];
        for n in 0..N {
            let [a, b, c] = [corners[0][n], corners[1][n], corners[2][n]];
            let second = if b == a { 0.0 } else { b - a };
            let third = if c == a { 0.0 } else { c - a };
            let di = second * by_column[0] + third * by_column[1];
            let dj = second * by_row[0] + third * by_row[1];
            let bound = a.abs() + reach * (di.abs() + dj.abs());
            // Numbers up to the bound that are added to this are rounded to multiples of its last bit, of which no sum has 2^53.
            let large = f64::from_bits(((bound.to_bits() >> 52) + 2) << 52 | 1 << 51);
            let (di, dj) = ((di + large) - large, (dj + large) - large);
            let origin = ((a - x * di - y * dj) + large) - large;
            let is_number = bound < f64::INFINITY || second == 0.0 && third == 0.0;
            planes[0][n] = if is_number { origin } else { f64::NAN };
            (planes[1][n], planes[2][n]) = (di, dj);
        }
        planes
    }

    /// The depths, not limited: as [`Self::linear`]; and whether the range contains those of all corners.
    #[inline(always)]
    pub(crate) fn depths(&self, setup: &Setup) -> ([f64; 3], bool) {
        let corners = setup.corners.map(|corner| [corner.z + setup.offset]);
        let is_inside = corners.iter().all(|&[depth]| setup.clamped(depth) == depth);
        (self.linear(&corners).map(|[of]| of), is_inside)
    }

    /// The elements of a parameter, by those at the vertices of a primitive of which the triangle is a part.
    #[inline(always)]
    pub(crate) fn parameter(&self, setup: &Setup, perspective: bool, vertices: [&[u32; 4]; 3]) -> ElementPlanes {
        let mut corners = [[0.0; 4]; 3];
        for (corner, of) in corners.iter_mut().zip(vertices) {
            for n in 0..4 {
                corner[n] = f64::from(f32::from_bits(of[n]));
            }
        }
        if setup.cut.is_some() {
            corners = of_corners(setup, perspective, &corners);
        }
        let mut divided = [false; 4];
        if perspective && self.divisor.is_some() {
            for n in 0..4 {
                let [a, b, c] = [corners[0][n], corners[1][n], corners[2][n]];
                divided[n] = !(a == b && a == c);
                for (corner, reciprocal) in corners.iter_mut().zip(self.reciprocals) {
                    corner[n] *= if divided[n] { reciprocal } else { 1.0 };
                }
            }
        }
        ElementPlanes { of: self.linear(&corners), divided }
    }
}

/// The elements of a parameter at the corners of a piece, by those at the primitive's vertices.
fn of_corners(setup: &Setup, perspective: bool, vertices: &[[f64; 4]; 3]) -> [[f64; 4]; 3] {
    let Some(cut) = &setup.cut else { return *vertices };
    cut.each_ref().map(|corner| {
        let shares = if perspective { &corner.weights } else { &corner.linear };
        from_fn(|n| {
            let [first, second, third] = vertices.map(|of| of[n]);
            // Values that are equal at all vertices are constant.
            let more = |share: f64, value: f64| if value == first { 0.0 } else { share * (value - first) };
            first + more(shares[1], second) + more(shares[2], third)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::Triangle;
    use crate::rect::PositionUnit;
    use crate::setup::Corner;

    /// Truth: weights in double precision, by the areas of the corners' triangles.
    #[test]
    fn sums_are_exact_in_any_order_and_near_the_values_between_the_corners() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % n
        };
        let (mut pixels, mut most) = (0, 0f64);
        for case in 0..4000 {
            let far = [1 << 12, 1 << 16, 1 << 18, 1 << 21][case % 4];
            let mut corner = || [0, 1].map(|_| below(far) as i64 - far as i64 / 8);
            let triangle = Triangle::new([corner(), corner(), corner()]);
            let area = triangle.area;
            let unit = [PositionUnit::Of256, PositionUnit::Of192][case / 4 % 2];
            let corners = triangle.at.map(|at| Corner { at, z: 0.0, reciprocal_w: 1.0 });
            let setup = Setup { corners, share: Share::Triangle(area.max(1)), unit, ..Setup::nothing() };
            let centre = unit.count() / 2;
            let (Some(planes), true) = (ParameterPlanes::of(&setup, centre), area > 0) else { continue };
            let values = [0; 3].map(|_| [(below(2000) as f32 - 1000.0) / 999.0].map(f64::from));
            let [[origin], [di], [dj]] = planes.linear(&values);
            let largest = values.iter().fold(0f64, |most, [value]| most.max(value.abs()));
            for _ in 0..8 {
                // A place in the triangle, and its pixel.
                let shares = [0; 3].map(|_| below(1000) as i64 + 1);
                let at: [i32; 2] = from_fn(|axis| {
                    let sum: i64 = (0..3).map(|n| shares[n] * triangle.at[n][axis]).sum();
                    unit.pixel(sum / shares.iter().sum::<i64>()) as i32
                });
                if at[0] < 0 || at[1] < 0 {
                    continue;
                }
                let [x, y] = at.map(f64::from);
                let found = origin + x * di + y * dj;
                // From another pixel, in another order.
                let [column, row] = [0, 1].map(|axis| below(at[axis] as u64 + 1) as f64);
                let moved = origin + row * dj + column * di;
                assert_eq!((y - row) * dj + ((x - column) * di + moved), found, "case {case}");
                let [_, second, third] = setup.shares(at.map(|pixel| unit.corner(pixel) + centre));
                let [[a], [b], [c]] = values;
                let expected = a + second * (b - a) + third * (c - a);
                most = most.max((found - expected).abs() / (largest + expected.abs()));
                pixels += 1;
            }
        }
        assert!(pixels > 15000, "{pixels} pixels were compared");
        // Below the last bit of single precision, also of triangles much longer than wide.
        assert!(most < f64::from(f32::EPSILON) / 8.0, "a difference of {most}");
    }

    #[test]
    fn equal_values_are_constant_and_different_ones_that_are_no_numbers_are_nan() {
        let corners = [[0, 0], [0, 2560], [5120, 0]].map(|at| Corner { at, z: 0.0, reciprocal_w: 1.0 });
        let setup = Setup { corners, share: Share::Triangle(2560 * 5120), ..Setup::nothing() };
        let planes = ParameterPlanes::of(&setup, 128).expect("it is a triangle");
        let linear = |corners: [f64; 3]| planes.linear(&corners.map(|corner| [corner])).map(|[of]| of);
        for value in [0.0, 1.0, f64::from(0.1f32), f64::from(f32::MIN_POSITIVE) / 8.0, f32::MAX.into(), f64::INFINITY] {
            assert_eq!(linear([value; 3]), [value, 0.0, 0.0]);
        }
        for other in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(linear([1.0, other, 1.0])[0].is_nan() && linear([other, 1.0, 1.0])[0].is_nan());
        }
    }
}
