//! Depths of the pixels of pieces, in lanes.

use crate::lanes::{LANES, Shape};
use crate::setup::{DepthPlane, Setup};

/// Depths of pixels in lanes of a shape.
pub(crate) struct Depths<'s> {
    pub(crate) setup: &'s Setup,
    pub(crate) shape: Shape,
    centre: i64,
    plane: Option<DepthPlane>,
    /// The steps from the first lane of a block to each of them.
    pub(crate) steps: [f64; LANES],
}

impl<'s> Depths<'s> {
    /// Of a piece. `centre`: the place in a pixel.
    #[inline]
    pub(crate) fn new(setup: &'s Setup, centre: i64, shape: Shape) -> Self {
        let plane = setup.depth_plane([centre; 2]);
        let mut steps = [0.0; LANES];
        if let Some(plane) = &plane {
            for (lane, step) in steps.iter_mut().enumerate() {
                *step = plane.step(Shape::Block.at(lane));
            }
        }
        Self { setup, shape, centre, plane, steps }
    }

    /// The depth of the first pixel of a block, from where steps lead to the others; `None` where lanes are no blocks, or depths have no steps.
    #[inline(always)]
    pub(crate) fn first_of_block(&self, at: [i32; 2]) -> Option<f64> {
        self.plane.as_ref().filter(|_| self.shape == Shape::Block).map(|plane| plane.first_of(at))
    }

    /// The depths of lanes, whose first is this pixel.
    #[inline(always)]
    pub(crate) fn lanes(&self, at: [i32; 2], to: &mut [f64; LANES]) {
        let Self { setup, shape, centre, plane, steps } = self;
        match (plane, shape) {
            (Some(plane), Shape::Block) => {
                let first = plane.first_of(at);
                for (to, step) in to.iter_mut().zip(steps) {
                    *to = first + step;
                }
            }
            (Some(plane), Shape::Row) => {
                for (x, to) in (at[0]..).zip(to) {
                    *to = plane.pixel([x, at[1]]);
                }
            }
            (None, _) => {
                for (lane, to) in to.iter_mut().enumerate() {
                    let [x, y] = shape.at(lane);
                    *to = setup.depth([at[0] + x, at[1] + y].map(|pixel| setup.unit.corner(pixel) + centre));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rect::PositionUnit;
    use crate::setup::{Corner, Share};

    /// Truth: one pixel by itself, and the depth that its shares of the corners give.
    #[test]
    fn all_ways_give_the_depth_of_a_pixel() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % n
        };
        for case in 0..2000 {
            let far = [1 << 12, 1 << 16, 1 << 20][case % 3];
            let mut corner = || Corner {
                at: [0, 1].map(|_| below(far) as i64 - far as i64 / 4),
                z: below(1000) as f64 / 999.0,
                reciprocal_w: 1.0,
            };
            let corners = [corner(), corner(), corner()];
            let area = crate::raster::Triangle::new(corners.map(|corner| corner.at)).area;
            if area < far as i64 {
                continue;
            }
            let unit = [PositionUnit::Of256, PositionUnit::Of192][case / 4 % 2];
            let offset = if case % 5 == 0 { 0.125 } else { 0.0 };
            let setup = Setup { corners, share: Share::Triangle(area), offset, unit, ..Setup::nothing() };
            let (place, side) = ([below(unit.count() as u64), 96].map(|at| at as i64), (far >> 8) as i32 + 16);
            let bits = |of: &[f64]| of.iter().map(|depth| depth.to_bits()).collect::<Vec<_>>();
            let pixel = |at: [i32; 2], place: [i64; 2]| {
                setup.depth([0, 1].map(|axis| setup.unit.corner(at[axis]) + place[axis]))
            };
            for _ in 0..8 {
                let at = [0, 1].map(|_| below(side as u64) as i32 - 8);
                let quad = at.map(|at| at & !1);
                let expected = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[x, y]| pixel([quad[0] + x, quad[1] + y], place));
                let plane = setup.depth_plane(place).expect("it is a triangle");
                assert_eq!(bits(&plane.quad(quad)), bits(&expected), "case {case}, {quad:?}");
                let centre = unit.count() / 2;
                for (shape, first) in [(Shape::Block, DepthPlane::block_of(at)), (Shape::Row, at)] {
                    let mut found = [0.0; LANES];
                    Depths::new(&setup, centre, shape).lanes(first, &mut found);
                    let expected: [f64; LANES] = std::array::from_fn(|lane| {
                        let [x, y] = shape.at(lane);
                        pixel([first[0] + x, first[1] + y], [centre; 2])
                    });
                    assert_eq!(bits(&found), bits(&expected), "case {case}, {shape:?} at {first:?}");
                }
                let [_, second, third] = setup.shares([0, 1].map(|axis| setup.unit.corner(at[axis]) + place[axis]));
                let [z0, z1, z2] = corners.map(|corner| corner.z);
                let by_shares = z0 + second * (z1 - z0) + third * (z2 - z0) + offset;
                // Both are sums of a few terms in double precision, of which none is larger than these.
                let largest =
                    1.0 + second.abs() + third.abs() + 8.0 * plane.steps.iter().map(|step| step.abs()).sum::<f64>();
                let error = (pixel(at, place) - by_shares).abs();
                assert!(error <= largest * 1e-14, "case {case}, {at:?}: {error} of {largest}");
            }
        }
    }
}
