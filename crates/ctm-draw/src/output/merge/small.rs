//! Small triangles: coverage, and depth and stencil before the program, quad by quad. Blocks of lanes would be empty for the most part.

use super::Merger;
use super::lanes::LaneTest;
use crate::lanes::{Wide, of_quad, widely};
use crate::pixel::shade::ShadeQuad;
use crate::raster::{QuadCoverage, QuadEdges};
use crate::rect::Rect;
use crate::setup::{DepthPlane, Setup};
use crate::surface::targets::OpenDepth;

/// A small triangle, with the quads of which some pixel passes.
pub(crate) struct SmallTriangle<'w> {
    /// Its number among pieces.
    pub(crate) number: u32,
    pub(crate) setup: &'w Setup,
    pub(crate) edges: &'w QuadEdges,
    /// It has no pixels outside.
    pub(crate) bounds: Rect,
    /// The mask of a pixel's only sample.
    pub(crate) all: u8,
    /// The quads are added to these; if they are only counted, to none.
    pub(crate) quads: Option<&'w mut Vec<ShadeQuad>>,
}

/// Depths of a triangle's pixels.
enum TestedDepths {
    /// The same for all, as they are stored.
    Same(u32),
    Each(DepthPlane),
}

/// The tests of a small triangle, if there are any.
struct SmallTests<'w, 't> {
    of: SmallTriangle<'w>,
    tests: Option<(&'w LaneTest, &'w mut OpenDepth<'t>, TestedDepths)>,
}

impl Wide for SmallTests<'_, '_> {
    /// Quads of which a pixel passes, and such pixels.
    type Out = [u64; 2];

    #[inline(always)]
    fn run<const FMA: bool>(self) -> [u64; 2] {
        let Self { of: SmallTriangle { number, setup, edges, bounds, all, mut quads }, mut tests } = self;
        let mut count = [0; 2];
        for y in ((bounds.top & !1)..bounds.bottom).step_by(2) {
            for x in ((bounds.left & !1)..bounds.right).step_by(2) {
                let at = [x, y];
                let mut pixels = edges.covered(at) & of_quad(bounds, at);
                if pixels == 0 {
                    continue;
                }
                if let Some((test, target, depths)) = &mut tests {
                    let range = setup.depth_range;
                    pixels = match (target.surface.quad(at, setup.layer), &depths) {
                        (Some(bytes), TestedDepths::Same(same)) => test.test_bytes(bytes, &[*same; 4], pixels),
                        (Some(bytes), TestedDepths::Each(depths)) => {
                            let first = depths.first_of(DepthPlane::block_of(at));
                            test.test_sums(bytes, (first, &depths.steps_of_quad(at)), range, pixels)
                        }
                        (None, depths) => {
                            let new = match depths {
                                TestedDepths::Same(same) => [*same; 4],
                                TestedDepths::Each(depths) => test.quantised(&depths.quad(at), range),
                            };
                            let place = |target: &OpenDepth<'_>, pixel: usize| {
                                let [column, row] = [pixel & 1, pixel >> 1].map(|of| of as i32);
                                target.surface.place(x + column, y + row, setup.layer, 0)
                            };
                            target.test_scattered(test, place, &new, pixels)
                        }
                    };
                    if pixels == 0 {
                        continue;
                    }
                }
                count[0] += 1;
                count[1] += u64::from(pixels.count_ones());
                if let Some(quads) = &mut quads {
                    // Each bit becomes a byte.
                    let bytes =
                        (pixels & 1 | (pixels & 2) << 7 | (pixels & 4) << 14 | (pixels & 8) << 21) * u32::from(all);
                    let quad = QuadCoverage { x, y, masks: bytes.to_le_bytes() };
                    quads.push(ShadeQuad { setup: number, quad, sample: None });
                }
            }
        }
        count
    }
}

impl Merger<'_, '_> {
    /// Covers a small triangle, tests its pixels before the program, and counts those that pass; gives the counts of quads and pixels. `None`, and nothing is done, where
    /// it is no triangle.
    pub(crate) fn small_triangle(&mut self, of: SmallTriangle<'_>) -> Option<[u64; 2]> {
        let has_tests = self.tests();
        let mut tests = None;
        if let (true, Some(faces), Some(target)) = (has_tests, &self.lanes, &mut self.open.depth) {
            let test = &faces[usize::from(!of.setup.is_front)];
            let depths = match test.same(of.setup) {
                Some(same) => TestedDepths::Same(same),
                None => TestedDepths::Each(of.setup.depth_plane([self.state.raster.centre(); 2])?),
            };
            tests = Some((test, target, depths));
        }
        let count = widely(SmallTests { of, tests });
        if !self.state.depth.counts_nothing {
            self.samples_passed += count[1];
        }
        Some(count)
    }
}
