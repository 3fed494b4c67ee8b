//! Vertices in the window: computed once for all primitives of each, and for several vertices at a time.

use crate::lanes::{Wide, widely};
use crate::setup::Corner;
use crate::setup::clip::has_place;
use crate::state::{ClipState, RasterState, Viewport};
use crate::vertex::Vertices;

/// A vertex in the window, where clipping leaves every primitive of such vertices unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) corner: Corner,
    /// The number of its viewport.
    pub(crate) viewport: u32,
}

/// Vertices that are computed together.
const TOGETHER: usize = 8;

/// Finds vertices in the window.
pub(super) fn see(clip: &ClipState<'_>, raster: &RasterState, vertices: &Vertices, seen: &mut Vec<Option<Seen>>) {
    seen.clear();
    let positions = vertices.positions.as_slice();
    if clip.is_only_volume() && vertices.misc.is_empty() {
        widely(All { clip, raster, positions, seen });
        return;
    }
    seen.extend((0..).zip(positions).map(|(vertex, position)| {
        if !clip.is_inside(&vertices.clip_input(vertex)) {
            return None;
        }
        let viewport = vertices.misc(vertex).viewport;
        let [corner] = corners(clip, raster, &clip.viewport(viewport), &position.map(|element| [f64::from(element)]));
        corner.map(|corner| Seen { corner, viewport })
    }));
}

/// Vertices of the first viewport, which nothing but the view volume clips.
struct All<'s> {
    clip: &'s ClipState<'s>,
    raster: &'s RasterState,
    positions: &'s [[f32; 4]],
    seen: &'s mut Vec<Option<Seen>>,
}

impl Wide for All<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { clip, raster, positions, seen } = self;
        seen.reserve(positions.len());
        let (all, rest) = positions.as_chunks::<TOGETHER>();
        for positions in all {
            seen.extend(in_volume(clip, raster, positions));
        }
        for position in rest {
            seen.extend(in_volume(clip, raster, &[*position]));
        }
    }
}

/// Vertices of the first viewport in the window; `None`: outside of the view volume.
#[inline(always)]
fn in_volume<const N: usize>(
    clip: &ClipState<'_>,
    raster: &RasterState,
    positions: &[[f32; 4]; N],
) -> [Option<Seen>; N] {
    let mut elements = [[0.0; N]; 4];
    for (n, position) in positions.iter().enumerate() {
        for (row, element) in elements.iter_mut().zip(position) {
            row[n] = f64::from(*element);
        }
    }
    let (inside, corners) = (clip.in_volume(&elements), corners(clip, raster, &clip.viewport(0), &elements));
    let mut seen = [None; N];
    for (seen, (corner, inside)) in seen.iter_mut().zip(corners.into_iter().zip(inside)) {
        if let Some(corner) = corner
            && inside
        {
            *seen = Some(Seen { corner, viewport: 0 });
        }
    }
    seen
}

/// Positions in the window, by their elements; `None` where the division has no result.
#[inline(always)]
pub(super) fn corners<const N: usize>(
    clip: &ClipState<'_>,
    raster: &RasterState,
    viewport: &Viewport,
    elements: &[[f64; N]; 4],
) -> [Option<Corner>; N] {
    let at = clip.windows(viewport, elements);
    let (x, y) = (raster.snap_all(at[0]), raster.snap_all(at[1]));
    let mut corners = [None; N];
    for (n, corner) in corners.iter_mut().enumerate() {
        if has_place([at[0][n], at[1][n], at[2][n], at[3][n]]) {
            let reciprocal_w = if raster.no_perspective { 1.0 } else { at[3][n] };
            *corner = Some(Corner { at: [x[n], y[n]], z: at[2][n], reciprocal_w });
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Rounding;

    /// Truth: each vertex by itself, as a corner that clipping makes is computed.
    #[test]
    fn several_vertices_are_seen_as_each_is() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as u32
        };
        let roundings = [Rounding::Truncate, Rounding::Nearest, Rounding::NearestEven, Rounding::NearestOdd];
        let (mut inside, mut outside) = (0, 0);
        for case in 0..400 {
            let viewports = [Viewport::of_size(random() % 4000 + 1, random() % 4000 + 1, case % 2 == 0)];
            let (half_z, xy_divided, w_is_reciprocal) = (case % 2 == 0, case % 7 == 1, case % 5 == 1);
            let clip = ClipState { viewports: &viewports, half_z, xy_divided, w_is_reciprocal, ..ClipState::default() };
            let (rounding, grid) = (roundings[case / 3 % 4], [1, 16, 3, 256][case % 4]);
            let raster = RasterState { rounding, grid, no_perspective: case % 11 == 0, ..RasterState::default() };
            let mut element = || match random() % 40 {
                0 => f32::from_bits(random() << 8 | random() & 0xff),
                1 => 0.0,
                _ => random() as f32 / (1u64 << 30) as f32 - 0.9,
            };
            let positions: Vec<[f32; 4]> =
                (0..21).map(|_| [element(), element(), element(), element().abs() * 1.5]).collect();
            let vertices = Vertices { positions, ..Vertices::default() };
            let mut seen = Vec::new();
            see(&clip, &raster, &vertices, &mut seen);
            assert_eq!(seen.len(), vertices.positions.len());
            for (vertex, seen) in (0..).zip(&seen) {
                let input = vertices.clip_input(vertex);
                let window = clip.window(&viewports[0], input.position.map(f64::from));
                let corner = window.filter(|_| clip.is_inside(&input)).map(|[x, y, z, w]| Corner {
                    at: [raster.snap(x), raster.snap(y)],
                    z,
                    reciprocal_w: if raster.no_perspective { 1.0 } else { w },
                });
                let bits = |of: &Corner| (of.at, of.z.to_bits(), of.reciprocal_w.to_bits());
                assert_eq!(seen.as_ref().map(|seen| bits(&seen.corner)), corner.as_ref().map(bits), "case {case}");
                (inside, outside) = (inside + u32::from(seen.is_some()), outside + u32::from(seen.is_none()));
            }
        }
        assert!(inside > 500 && outside > 500, "{inside} and {outside}");
    }
}
