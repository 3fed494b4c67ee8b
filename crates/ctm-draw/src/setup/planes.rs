//! A primitive in the window: how parameters and depth change over its pixels.
//!
//! Everything is computed in double precision from positions on the grid, and rounded once where it becomes a start value. Parameters are
//! interpolated between the vertices that the program exported, also where clipping has cut the primitive.

use crate::rect::PositionUnit;
use crate::setup::DepthPlane;
use crate::setup::clip::ClipVertex;
use crate::state::Interpolation;

/// A corner of the drawn part of a primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// x and y on the grid, in units.
    pub at: [i64; 2],
    /// The depth.
    pub z: f64,
    /// 1/w.
    pub reciprocal_w: f64,
}

/// How much of each vertex of the primitive a corner is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// With perspective.
    pub weights: [f64; 3],
    /// In the window.
    pub linear: [f64; 3],
}

impl Shares {
    /// Of a vertex that clipping left; `w` of the primitive's vertices.
    #[must_use]
    pub fn of(vertex: &ClipVertex, w: [f64; 3]) -> Self {
        // In the window a vertex counts by its share of w; vertices that are not cut are themselves.
        let (weights, own) = (vertex.weights, vertex.position[3]);
        let whole = weights.contains(&1.0) || own == 0.0;
        let linear = if whole { weights } else { std::array::from_fn(|n| weights[n] * w[n] / own) };
        Self { weights, linear }
    }
}

/// The bounds of a range of depths. NaN bounds nothing.
#[inline(always)]
pub(crate) fn depth_bounds([least, most]: [f32; 2]) -> [f64; 2] {
    let least = if least.is_nan() { f64::NEG_INFINITY } else { least.into() };
    [least, if most.is_nan() { f64::INFINITY } else { most.into() }]
}

/// A depth within bounds. If they are upside down, the upper bound counts. NaN becomes the lower bound.
#[inline(always)]
pub(crate) fn limited(depth: f64, [least, most]: [f64; 2]) -> f64 {
    let depth = if depth > least { depth } else { least };
    if depth < most { depth } else { most }
}

/// Data that the pixels of a primitive share.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The corners; a line repeats its end, a point its only one.
    pub corners: [Corner; 3],
    /// The corners' weights of the primitive's vertices; `None`: each corner is the vertex of its number, as clipping has cut nothing.
    pub cut: Option<Box<[Shares; 3]>>,
    /// How a place in the window is divided among corners.
    pub share: Share,
    /// Places of the primitive's vertices among the vertices that ran.
    pub slots: [u32; 3],
    /// The place of the vertex that gives flat values.
    pub provoking: u32,
    /// Which primitive of the draw and instance it is a part of.
    pub primitive: u32,
    /// The instance.
    pub instance: u32,
    /// Front faces, points and lines.
    pub is_front: bool,
    /// Added to depths.
    pub offset: f64,
    /// Depths are clamped to these.
    pub depth_range: [f32; 2],
    /// The layer.
    pub layer: u32,
    /// Where a point lies: left, top, width, height in units. `None` of others.
    pub sprite: Option<Box<[i64; 4]>>,
    /// The unit of positions.
    pub unit: PositionUnit,
}

/// How a place in the window is divided among corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Three corners; twice the area.
    Triangle(i64),
    /// Along a line.
    Line,
    /// One corner.
    Point,
}

/// The weights of the primitive's vertices at four places.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// With perspective: the weights of the second and the third vertex; the rest is the first one's.
    pub perspective: [[f64; 4]; 2],
    /// In the window.
    pub linear: [[f64; 4]; 2],
}

impl Setup {
    /// The weights of the corners at a place in units.
    #[inline]
    pub(super) fn shares(&self, [x, y]: [i64; 2]) -> [f64; 3] {
        let [[x0, y0], [x1, y1], [x2, y2]] = self.corners.map(|corner| corner.at);
        match self.share {
            Share::Triangle(area) => {
                let inverse = 1.0 / area as f64;
                let second = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) as f64 * inverse;
                let third = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) as f64 * inverse;
                [1.0 - second - third, second, third]
            }
            Share::Line => {
                let (dx, dy) = ((x1 - x0) as f64, (y1 - y0) as f64);
                let along = (x - x0) as f64 * dx + (y - y0) as f64 * dy;
                let length = dx * dx + dy * dy;
                let second = if length == 0.0 { 0.0 } else { along / length };
                [1.0 - second, second, 0.0]
            }
            Share::Point => [1.0, 0.0, 0.0],
        }
    }

    /// The depth at a place in units, offset included, not clamped.
    #[must_use]
    pub fn depth(&self, at: [i64; 2]) -> f64 {
        let pixel = at.map(|at| self.unit.pixel(at) as i32);
        let place = std::array::from_fn(|axis| at[axis] - self.unit.corner(pixel[axis]));
        if let Some(plane) = self.depth_plane(place) {
            return plane.pixel(pixel);
        }
        let [_, second, third] = self.shares(at);
        let [z0, z1, z2] = self.corners.map(|corner| corner.z);
        z0 + second * (z1 - z0) + third * (z2 - z0) + self.offset
    }

    /// The depths of a triangle at a place in every pixel, in units; `None` of lines and points.
    #[inline(always)]
    pub(crate) fn depth_plane(&self, place: [i64; 2]) -> Option<DepthPlane> {
        let Share::Triangle(area) = self.share else { return None };
        Some(DepthPlane::new(area, self.area_planes(place), self.corners.map(|corner| corner.z), self.offset))
    }

    /// Twice the areas that pixels make with the edges opposite the second and the third corner, as planes over the window. `place`: the place in a pixel.
    #[inline(always)]
    fn area_planes(&self, place: [i64; 2]) -> [[i64; 3]; 2] {
        let [[x0, y0], [x1, y1], [x2, y2]] = self.corners.map(|corner| corner.at);
        let (x, y, units) = (place[0] - x0, place[1] - y0, self.unit.count());
        let second = [x * (y2 - y0) - (x2 - x0) * y, units * (y2 - y0), units * (x0 - x2)];
        let third = [(x1 - x0) * y - x * (y1 - y0), units * (y0 - y1), units * (x1 - x0)];
        [second, third]
    }

    /// The depth of every pixel, if it is the same for all.
    pub(crate) fn constant_depth(&self) -> Option<f64> {
        let [a, b, c] = self.corners.map(|corner| corner.z.to_bits());
        // Minus zero would be zero in some pixels.
        let z = self.corners[0].z + 0.0;
        (a == b && a == c && z.is_finite() && z.to_bits() == a).then_some(z + self.offset)
    }

    /// A depth within the range of the viewport.
    #[must_use]
    pub fn clamped(&self, depth: f64) -> f64 {
        limited(depth, depth_bounds(self.depth_range))
    }

    /// The weights of the corners at four places in units: equal to [`Self::shares`] for each, as products of differences are exact within 2^18
    /// pixels.
    #[inline(always)]
    pub(crate) fn shares_of_four(&self, places: &[[i64; 2]; 4]) -> [[f64; 4]; 3] {
        let Share::Triangle(area) = self.share else {
            let shares = places.map(|at| self.shares(at));
            return std::array::from_fn(|corner| shares.map(|shares| shares[corner]));
        };
        let [[x0, y0], [x1, y1], [x2, y2]] = self.corners.map(|corner| corner.at);
        let [ex1, ey1, ex2, ey2] = [x1 - x0, y1 - y0, x2 - x0, y2 - y0].map(|edge| edge as f64);
        let inverse = 1.0 / area as f64;
        let (x, y) = (places.map(|[x, _]| (x - x0) as f64), places.map(|[_, y]| (y - y0) as f64));
        let second: [f64; 4] = std::array::from_fn(|n| (x[n] * ey2 - ex2 * y[n]) * inverse);
        let third: [f64; 4] = std::array::from_fn(|n| (ex1 * y[n] - x[n] * ey1) * inverse);
        [std::array::from_fn(|n| 1.0 - second[n] - third[n]), second, third]
    }

    /// w at a place in units.
    #[must_use]
    pub fn w(&self, at: [i64; 2]) -> f64 {
        let [first, second, third] = self.shares(at);
        let [a, b, c] = self.corners.map(|corner| corner.reciprocal_w);
        1.0 / (first * a + second * b + third * c)
    }

    /// The weights at four places in units.
    #[must_use]
    #[inline(always)]
    pub fn weights(&self, places: [[i64; 2]; 4]) -> Weights {
        self.weights_of(self.shares_of_four(&places))
    }

    #[inline(always)]
    fn weights_of(&self, of: [[f64; 4]; 3]) -> Weights {
        let [a, b, c] = self.corners.map(|corner| corner.reciprocal_w);
        if a == b && a == c && self.cut.is_none() {
            // Without perspective both are the same.
            let shares = [of[1], of[2]];
            return Weights { perspective: shares, linear: shares };
        }
        let over_w = [of[0].map(|share| share * a), of[1].map(|share| share * b), of[2].map(|share| share * c)];
        let w: [f64; 4] = std::array::from_fn(|n| 1.0 / (over_w[0][n] + over_w[1][n] + over_w[2][n]));
        let perspective = over_w.map(|parts| std::array::from_fn(|n| parts[n] * w[n]));
        let Some(cut) = &self.cut else {
            return Weights { perspective: [perspective[1], perspective[2]], linear: [of[1], of[2]] };
        };
        let of_vertex = |shares: &[[f64; 4]; 3], vertex: usize, pick: fn(&Shares) -> &[f64; 3]| -> [f64; 4] {
            let [a, b, c] = cut.each_ref().map(|corner| pick(corner)[vertex]);
            std::array::from_fn(|n| shares[0][n] * a + shares[1][n] * b + shares[2][n] * c)
        };
        Weights {
            perspective: [1, 2].map(|vertex| of_vertex(&perspective, vertex, |v| &v.weights)),
            linear: [1, 2].map(|vertex| of_vertex(&of, vertex, |v| &v.linear)),
        }
    }

    /// The depths of the pixels of a quad, from its first pixel on: equal to [`Self::depth`] for each, at this place within it.
    #[inline]
    pub(crate) fn depths_of_quad(&self, at: [i32; 2], place: [i64; 2]) -> [f64; 4] {
        match self.depth_plane(place) {
            Some(plane) => plane.quad(at),
            None => [[0, 0], [1, 0], [0, 1], [1, 1]].map(|by: [i32; 2]| {
                self.depth(std::array::from_fn(|axis| self.unit.corner(at[axis] + by[axis]) + place[axis]))
            }),
        }
    }

    /// w by the weights of the corners: equal to [`Self::w`] for each place.
    #[inline(always)]
    pub(crate) fn ws_by(&self, [first, second, third]: &[[f64; 4]; 3]) -> [f64; 4] {
        let [a, b, c] = self.corners.map(|corner| corner.reciprocal_w);
        let mut ws = [0.0; 4];
        for (w, (first, (second, third))) in ws.iter_mut().zip(first.iter().zip(second.iter().zip(third))) {
            *w = 1.0 / (first * a + second * b + third * c);
        }
        ws
    }

    /// How much depth changes from pixel to pixel, to the right and downwards.
    #[must_use]
    pub fn slopes(&self) -> [f64; 2] {
        let pixel = self.unit.count();
        let here = self.corners[0].at;
        let z = |at: [i64; 2]| {
            let [_, second, third] = self.shares(at);
            let [z0, z1, z2] = self.corners.map(|corner| corner.z);
            second * (z1 - z0) + third * (z2 - z0)
        };
        [z([here[0] + pixel, here[1]]), z([here[0], here[1] + pixel])]
    }
}

/// An element of a parameter at three vertices, to be interpolated.
#[derive(Clone, Copy)]
pub(crate) struct Mix {
    first: f64,
    /// The differences of the other two from the first one.
    by: [f64; 2],
}

impl Mix {
    #[inline(always)]
    pub(crate) fn of([a, b, c]: [f32; 3]) -> Self {
        let (a, b, c) = (f64::from(a), f64::from(b), f64::from(c));
        Self { first: a, by: [b - a, c - a] }
    }

    /// The element between the vertices at the four places of weights: computed in double precision, rounded once.
    #[inline(always)]
    pub(crate) fn at(self, weights: &Weights, interpolation: Interpolation) -> [f32; 4] {
        let Self { first, by: [b, c] } = self;
        let [second, third] = match interpolation {
            Interpolation::Perspective => &weights.perspective,
            Interpolation::Linear => &weights.linear,
            // Numbers of pixels are no mixes.
            Interpolation::Flat | Interpolation::PixelNumber => return [first as f32; 4],
        };
        let mut mixed = [first; 4];
        // Values that are equal at all vertices are constant, beyond the horizon too.
        if b != 0.0 {
            for (mixed, second) in mixed.iter_mut().zip(second) {
                *mixed += b * second;
            }
        }
        if c != 0.0 {
            for (mixed, third) in mixed.iter_mut().zip(third) {
                *mixed += c * third;
            }
        }
        mixed.map(|mixed| mixed as f32)
    }
}

#[cfg(test)]
impl Setup {
    /// A point at the corner of the window.
    pub(super) fn nothing() -> Self {
        Self {
            corners: [Corner { at: [0; 2], z: 0.0, reciprocal_w: 1.0 }; 3],
            cut: None,
            share: Share::Point,
            slots: [0, 1, 2],
            provoking: 0,
            primitive: 0,
            instance: 0,
            is_front: true,
            offset: 0.0,
            depth_range: [0.0, 1.0],
            layer: 0,
            sprite: None,
            unit: PositionUnit::Of256,
        }
    }
}
