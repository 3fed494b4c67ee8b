//! From clip space to the window: cutting primitives at planes, division by w, viewports.
//!
//! Positions are computed in double precision. A cut vertex does not get parameters of its own: it has weights of the primitive's vertices, so that
//! parameters are interpolated between the program's exports.

use crate::state::{ClipState, Loss, Viewport};
use crate::vertex::ClipInput;

/// Planes of the view volume, user planes, distances.
const PLANES: usize = 7 + 6 + 8;

/// The loss of primitives outside a plane of [`ClipState::distances`].
const fn loss_of_plane(plane: usize) -> Loss {
    match plane {
        0 => Loss::BehindViewer,
        1 => Loss::Left,
        2 => Loss::Right,
        3 => Loss::Below,
        4 => Loss::Above,
        5 => Loss::Near,
        6 => Loss::Far,
        7..13 => Loss::UserPlane,
        _ => Loss::ClipDistance,
    }
}

/// w of vertices in front of the viewer is at least this.
const LEAST_W: f64 = 1.0 / (1u128 << 100) as f64;

/// A vertex of a primitive after clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipVertex {
    /// The position in clip space.
    pub position: [f64; 4],
    /// How much of each vertex of the primitive it is.
    pub weights: [f64; 3],
    /// The edge to the next vertex is one of the primitive.
    pub edge: bool,
}

impl ClipState<'_> {
    /// The viewport of a number.
    #[must_use]
    pub fn viewport(&self, number: u32) -> Viewport {
        self.viewports.get(number as usize).copied().unwrap_or_default()
    }

    /// Signed distances of positions from the planes of the view volume.
    #[inline(always)]
    fn volume_distances<const N: usize>(&self, [x, y, z, w]: &[[f64; N]; 4]) -> [[f64; N]; 7] {
        let [gx, gy] = self.guard_band.map(f64::from);
        let mut all = [[0.0; N]; 7];
        for n in 0..N {
            let near = if self.half_z { z[n] } else { z[n] + w[n] };
            all[0][n] = w[n] - LEAST_W;
            all[1][n] = gx * w[n] + x[n];
            all[2][n] = gx * w[n] - x[n];
            all[3][n] = gy * w[n] + y[n];
            all[4][n] = gy * w[n] - y[n];
            all[5][n] = if self.no_near { 0.0 } else { near };
            all[6][n] = if self.no_far { 0.0 } else { w[n] - z[n] };
        }
        all
    }

    /// Which positions lie in the view volume.
    #[inline(always)]
    pub(crate) fn in_volume<const N: usize>(&self, positions: &[[f64; N]; 4]) -> [bool; N] {
        let mut inside = [true; N];
        for distances in self.volume_distances(positions) {
            // NaN distances are outside.
            inside.iter_mut().zip(distances).for_each(|(inside, distance)| *inside &= distance >= 0.0);
        }
        inside
    }

    /// Signed distances of a vertex from each plane; those of disabled planes are 0. User planes and distances come last.
    fn distances(&self, vertex: &ClipInput) -> [f64; PLANES] {
        let [x, y, z, w] = vertex.position.map(f64::from);
        let mut all = [0.0; PLANES];
        all[..7].copy_from_slice(self.volume_distances(&[[x], [y], [z], [w]]).as_flattened());
        for (place, plane) in all[7..13].iter_mut().zip(self.user_planes) {
            if let Some(plane) = plane {
                let [a, b, c, d] = plane.map(f64::from);
                *place = a * x + b * y + c * z + d * w;
            }
        }
        for (n, (place, distance)) in all[13..].iter_mut().zip(vertex.distances).enumerate() {
            if self.clip_distances >> n & 1 == 1 {
                *place = f64::from(distance);
            }
        }
        all
    }

    /// Whether a primitive of these vertices is dropped for its kill flags or cull distances, and for which.
    fn culled(&self, vertices: &[ClipInput]) -> Option<Loss> {
        let culls = |n: usize| {
            let outside = |vertex: &ClipInput| vertex.distances[n].is_nan() || vertex.distances[n] < 0.0;
            self.cull_distances >> n & 1 == 1 && vertices.iter().all(outside)
        };
        let killed = if self.any_kill {
            vertices.iter().any(|vertex| vertex.killed)
        } else {
            vertices.iter().all(|vertex| vertex.killed)
        };
        match () {
            () if killed => Some(Loss::VertexKill),
            () if (0..8).any(culls) => Some(Loss::CullDistance),
            () => None,
        }
    }

    /// Whether a primitive of vertices in the view volume is not clipped or dropped, unless they are killed.
    pub(crate) fn is_only_volume(&self) -> bool {
        let counts = !self.discard && !self.disabled && self.cull_distances == 0;
        counts && self.clip_distances == 0 && self.user_planes.iter().all(Option::is_none)
    }

    /// Whether a primitive of such vertices is not clipped or dropped: they lie in the volume.
    #[must_use]
    pub fn is_inside(&self, vertex: &ClipInput) -> bool {
        let counts = !self.discard && !self.disabled && self.cull_distances == 0 && !vertex.killed;
        // NaN distances are outside.
        counts && self.distances(vertex).iter().all(|&distance| distance >= 0.0)
    }

    /// The clipped remainder of a primitive of 1 to 3 vertices: a polygon, a line, a point, or nothing. `edges`: bit k, the edge from vertex k is
    /// one.
    #[must_use]
    pub fn clip(&self, vertices: &[ClipInput], edges: u8) -> Vec<ClipVertex> {
        self.clipped(vertices, edges).unwrap_or_default()
    }

    /// The same; where nothing is left, the reason.
    ///
    /// # Errors
    /// Nothing is left of the primitive.
    pub(crate) fn clipped(&self, vertices: &[ClipInput], edges: u8) -> Result<Vec<ClipVertex>, Loss> {
        if self.discard {
            return Err(Loss::Discarded);
        }
        if let Some(loss) = self.culled(vertices) {
            return Err(loss);
        }
        let mut polygon: Vec<ClipVertex> = Vec::with_capacity(4);
        for (n, vertex) in vertices.iter().enumerate() {
            let mut weights = [0.0; 3];
            weights[n % 3] = 1.0;
            let position = vertex.position.map(f64::from);
            polygon.push(ClipVertex { position, weights, edge: edges >> n & 1 == 1 });
        }
        if self.disabled {
            return Ok(polygon);
        }
        // Positions that are no numbers lie nowhere.
        if polygon.iter().flat_map(|vertex| vertex.position).any(f64::is_nan) {
            return Err(Loss::NotANumber);
        }
        let all: Vec<[f64; PLANES]> = vertices.iter().map(|vertex| self.distances(vertex)).collect();
        let outside = |distance: f64| distance < 0.0 || distance.is_nan();
        for plane in 0..PLANES {
            let of_plane = || all.iter().map(|distances| distances[plane]);
            if of_plane().all(outside) {
                return Err(loss_of_plane(plane));
            }
            if of_plane().any(outside) {
                if self.planes_only_cull && plane >= 7 {
                    continue;
                }
                let distance = |vertex: &ClipVertex| {
                    of_plane()
                        .zip(vertex.weights)
                        .map(|(d, weight)| if weight == 0.0 { 0.0 } else { d * weight })
                        .sum::<f64>()
                };
                match vertices.len() {
                    1 => return Err(loss_of_plane(plane)),
                    2 => cut_line(&mut polygon, distance),
                    _ => polygon = self.cut_polygon(&polygon, distance),
                }
                if polygon.len() < vertices.len().min(3) {
                    return Err(Loss::ClippedAway);
                }
            }
        }
        Ok(polygon)
    }

    fn cut_polygon(&self, polygon: &[ClipVertex], distance: impl Fn(&ClipVertex) -> f64) -> Vec<ClipVertex> {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (n, a) in polygon.iter().enumerate() {
            let b = &polygon[(n + 1) % polygon.len()];
            let (da, db) = (distance(a), distance(b));
            match (da >= 0.0, db >= 0.0) {
                (true, true) => kept.push(*a),
                // The edge that follows the cut is the plane's.
                (true, false) => {
                    kept.push(*a);
                    kept.push(ClipVertex { edge: self.cut_edges_are_drawn, ..between(a, b, da, db) });
                }
                (false, true) => kept.push(ClipVertex { edge: a.edge, ..between(a, b, da, db) }),
                (false, false) => {}
            }
        }
        kept
    }

    /// The window position of a vertex: x and y in pixels, depth, 1/w. `None` where the division has no result.
    #[must_use]
    pub fn window(&self, viewport: &Viewport, position: [f64; 4]) -> Option<[f64; 4]> {
        let at = self.windows(viewport, &position.map(|element| [element])).map(|[element]| element);
        has_place(at).then_some(at)
    }

    /// The same of several positions; where the division has no result, [`has_place`] is false.
    #[inline(always)]
    pub(crate) fn windows<const N: usize>(&self, viewport: &Viewport, [x, y, z, w]: &[[f64; N]; 4]) -> [[f64; N]; 4] {
        let [sx, sy, sz] = viewport.scale.map(f64::from);
        let [ox, oy, oz] = viewport.offset.map(f64::from);
        let mut at = [[0.0; N]; 4];
        for n in 0..N {
            let reciprocal = if self.w_is_reciprocal { w[n] } else { 1.0 / w[n] };
            let xy = if self.xy_divided { 1.0 } else { reciprocal };
            let z_by = if self.z_divided { 1.0 } else { reciprocal };
            at[0][n] = x[n] * xy * sx + ox;
            at[1][n] = y[n] * xy * sy + oy;
            at[2][n] = z[n] * z_by * sz + oz;
            at[3][n] = reciprocal;
        }
        at
    }
}

/// Whether a result of [`ClipState::windows`] is one.
#[inline(always)]
pub(crate) const fn has_place([x, y, z, _]: [f64; 4]) -> bool {
    x.is_finite() && y.is_finite() && !z.is_nan()
}

/// The intersection of the plane with the edge from a to b, at these distances of different sign. Both directions give the same vertex.
fn between(a: &ClipVertex, b: &ClipVertex, da: f64, db: f64) -> ClipVertex {
    // From the vertex inside to the one outside.
    let (a, b, da, db) = if da >= 0.0 { (a, b, da, db) } else { (b, a, db, da) };
    let t = da / (da - db);
    let mix = |a: f64, b: f64| a + (b - a) * t;
    ClipVertex {
        position: std::array::from_fn(|n| mix(a.position[n], b.position[n])),
        weights: std::array::from_fn(|n| mix(a.weights[n], b.weights[n])),
        edge: true,
    }
}

fn cut_line(line: &mut Vec<ClipVertex>, distance: impl Fn(&ClipVertex) -> f64) {
    let &[a, b] = line.as_slice() else { return };
    let (da, db) = (distance(&a), distance(&b));
    match (da >= 0.0, db >= 0.0) {
        (true, true) => {}
        (true, false) => line[1] = between(&a, &b, da, db),
        (false, true) => line[0] = between(&a, &b, da, db),
        (false, false) => line.clear(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(position: [f32; 4]) -> ClipInput {
        ClipInput { position, ..ClipInput::default() }
    }

    #[test]
    fn triangles_inside_are_left_alone() {
        let triangle = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, -1.0, 1.0], [0.0, -1.0, 1.0, 1.0]].map(vertex);
        let found = ClipState::default().clip(&triangle, 0b101);
        assert_eq!(found.len(), 3);
        for (n, (found, given)) in found.iter().zip(triangle).enumerate() {
            assert_eq!(found.position, given.position.map(f64::from));
            assert_eq!(found.weights[n], 1.0);
            assert_eq!(found.edge, n != 1);
        }
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        // Half of it is left of the volume, and one corner has a negative w.
        let triangle = [[-3.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, 1.0], [0.0, -0.5, -2.0, -1.0]].map(vertex);
        let state = ClipState::default();
        let found = state.clip(&triangle, 7);
        assert!(found.len() >= 3);
        for vertex in &found {
            let [x, y, z, w] = vertex.position;
            assert!(w > 0.0);
            assert!([x, y, z].iter().all(|c| c.abs() <= w * (1.0 + 1e-9)), "{vertex:?}");
            let sum: f64 = vertex.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9);
            for c in 0..4 {
                let of = |n: usize| f64::from(triangle[n].position[c]) * vertex.weights[n];
                assert!((of(0) + of(1) + of(2) - vertex.position[c]).abs() < 1e-9, "{vertex:?}");
            }
        }
        assert!(found.iter().any(|vertex| !vertex.edge));
        assert!(
            state.clip(&[[2.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.0, 1.0], [2.0, 9.0, 0.0, 1.0]].map(vertex), 7).is_empty()
        );
    }

    #[test]
    fn a_guard_band_lets_more_through_and_planes_can_be_left_out() {
        let wide = [[-3.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, 1.0], [0.0, -0.5, 5.0, 1.0]].map(vertex);
        let state = ClipState { guard_band: [4.0, 1.0], no_far: true, ..ClipState::default() };
        assert_eq!(state.clip(&wide, 7).len(), 3);
        assert_eq!(ClipState { no_far: false, ..state }.clip(&wide, 7).len(), 4);
        let half = ClipState { half_z: true, ..state };
        let behind = [[0.0, 0.0, -0.5, 1.0], [1.0, 0.5, -0.5, 1.0], [0.0, -0.5, -0.1, 1.0]].map(vertex);
        assert!(half.clip(&behind, 7).is_empty());
        assert_eq!(state.clip(&behind, 7).len(), 3);
    }

    #[test]
    fn user_planes_and_distances_cut_or_cull() {
        let plain = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]].map(vertex);
        let mut state = ClipState::default();
        state.user_planes[3] = Some([1.0, 0.0, 0.0, -0.5]);
        assert_eq!(state.clip(&plain, 7).len(), 3);
        assert!(state.clip(&plain, 7).iter().all(|vertex| vertex.position[0] >= 0.5));
        let only = ClipState { planes_only_cull: true, ..state };
        assert!(only.clip(&plain, 7).iter().any(|vertex| vertex.position[0] == 0.0));
        let mut far = plain;
        for (n, vertex) in far.iter_mut().enumerate() {
            vertex.distances[2] = 1.0 - n as f32 * 2.0;
            vertex.distances[5] = -1.0;
        }
        let clips = ClipState { clip_distances: 1 << 2, ..ClipState::default() };
        assert_eq!(clips.clip(&far, 7).len(), 3);
        assert_eq!(clips.clip(&far, 7)[0].weights, [1.0, 0.0, 0.0]);
        assert_eq!(clips.clip(&far, 7)[1].weights, [0.5, 0.5, 0.0]);
        assert!(ClipState { cull_distances: 1 << 5, ..ClipState::default() }.clip(&far, 7).is_empty());
        assert!(!ClipState { cull_distances: 1 << 2, ..ClipState::default() }.clip(&far, 7).is_empty());
        far[1].killed = true;
        assert!(!ClipState::default().clip(&far, 7).is_empty());
        assert!(ClipState { any_kill: true, ..ClipState::default() }.clip(&far, 7).is_empty());
    }

    #[test]
    fn lines_and_points_are_cut_and_dropped() {
        let state = ClipState::default();
        let line = [[0.0, 0.0, 0.0, 1.0], [4.0, 2.0, 0.0, 1.0]].map(vertex);
        let found = state.clip(&line, 1);
        assert_eq!(found[1].position, [1.0, 0.5, 0.0, 1.0]);
        assert_eq!(found[1].weights, [0.75, 0.25, 0.0]);
        assert!(state.clip(&[vertex([1.5, 0.0, 0.0, 1.0])], 0).is_empty());
        assert!(state.clip(&[vertex([f32::NAN, 0.0, 0.0, 1.0])], 0).is_empty());
        assert_eq!(state.clip(&[vertex([1.0, 0.0, 0.0, 1.0])], 0).len(), 1);
        assert!(state.clip(&[vertex([0.0, 0.0, 0.0, 0.0])], 0).is_empty());
    }

    #[test]
    fn both_sides_of_an_edge_are_cut_at_the_same_place() {
        let a = vertex([-7.3, 0.1, 0.3, 1.7]);
        let b = vertex([0.3, 0.2, 0.1, 0.9]);
        let cut = |vertices: [ClipInput; 3]| {
            let found = ClipState::default().clip(&vertices, 7);
            let mut positions: Vec<_> = found.iter().map(|vertex| vertex.position.map(f64::to_bits)).collect();
            positions.retain(|p| f64::from_bits(p[0]) == -f64::from_bits(p[3]) || f64::from_bits(p[0]) < 0.0);
            positions
        };
        let left = cut([a, b, vertex([0.2, 0.9, 0.0, 1.0])]);
        let right = cut([b, a, vertex([0.2, -0.9, 0.0, 1.0])]);
        assert!(left.iter().any(|position| right.contains(position)), "{left:?} {right:?}");
    }

    #[test]
    fn positions_become_window_positions() {
        let viewport = Viewport::of_size(100, 50, false);
        let state = ClipState::default();
        assert_eq!(state.window(&viewport, [2.0, 2.0, -2.0, 2.0]), Some([100.0, 0.0, 0.0, 0.5]));
        let plain = ClipState { xy_divided: true, z_divided: true, w_is_reciprocal: true, ..state };
        assert_eq!(plain.window(&Viewport::default(), [3.0, 4.0, 0.25, 2.0]), Some([3.0, 4.0, 0.25, 2.0]));
        assert_eq!(state.window(&viewport, [1.0, 0.0, 0.0, 0.0]), None);
    }
}
