//! Filters across the edges of a cube's faces, and gradients there.
//!
//! The manual says nothing of filters; this is OpenGL 3.3's seamless filter (GL §3.8.10): texels beyond an edge are those of the face on the
//! other side. Beyond a corner there is none: its value is the mean of the three that meet there, which OpenGL leaves open. It does not define gradients
//! where the lanes of a quad select several faces. Drivers compute none themselves, and mipmaps of cubes have no seams on cards: so the other
//! lanes' coordinates are projected to the plane of the lane's own face.

/// A texel of a cube: face (0 to 5: +x, -x, +y, -y, +z, -z), column, row.
pub type FaceTexel = (u32, u32, u32);

/// For each face the axis and sign of the direction that its columns, its rows and its middle mean (GL table 3.18).
const AXES: [[(usize, i64); 3]; 6] = [
    [(2, -1), (1, -1), (0, 1)],
    [(2, 1), (1, -1), (0, -1)],
    [(0, 1), (2, 1), (1, 1)],
    [(0, 1), (2, -1), (1, -1)],
    [(0, 1), (1, -1), (2, 1)],
    [(0, -1), (1, -1), (2, -1)],
];

/// Where a place on a face (column, row; 1..2 each) lies on the plane of another face; `None` on the other side of the cube.
#[must_use]
pub fn on_plane(of: u32, face: u32, [column, row]: [f32; 2]) -> Option<[f32; 2]> {
    let (from, to) = (AXES.get(face as usize)?, AXES.get(of as usize)?);
    let mut direction = [0.0; 3];
    let middle = |at: f32| 2.0 * (f64::from(at) - 1.5);
    for ((axis, sign), value) in from.iter().zip([middle(column), middle(row), 1.0]) {
        direction[*axis] = *sign as f64 * value;
    }
    let along = |(axis, sign): (usize, i64)| sign as f64 * direction[axis];
    let major = along(to[2]);
    (major > 0.0).then(|| [to[0], to[1]].map(|axis| (along(axis) / major / 2.0 + 1.5) as f32))
}

/// The texel at column `x` and row `y` of a face with sides of `size` texels, at most one beyond an edge; `None` beyond a corner.
#[must_use]
pub fn across(face: u32, x: i64, y: i64, size: u32) -> Option<FaceTexel> {
    let n = i64::from(size);
    let within = |at: i64| (0..n).contains(&at);
    let index = |at: i64| u32::try_from(at.clamp(0, n - 1)).unwrap_or(0);
    let axes = AXES.get(face as usize)?;
    match (within(x), within(y)) {
        (true, true) => Some((face, index(x), index(y))),
        (false, false) => None,
        _ => {
            // Twice the place of the texel's centre, from the middle of the face; edges lie at n.
            let mut direction = [0i64; 3];
            for ((axis, sign), value) in axes.iter().zip([2 * x + 1 - n, 2 * y + 1 - n, n]) {
                direction[*axis] = sign * value;
            }
            let major = (0..3).find(|&axis| direction[axis].abs() > n)?;
            let length = direction[major].abs();
            let other = (0u32..).zip(&AXES).find(|(_, axes)| axes[2] == (major, direction[major].signum()))?;
            let place = |(axis, sign): (usize, i64)| (sign * direction[axis] + length) * n / (2 * length);
            Some((other.0, index(place(other.1[0])), index(place(other.1[1]))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The direction of a texel's centre, computed apart.
    fn centre((face, x, y): FaceTexel, n: u32) -> [f64; 3] {
        let part = |at: u32| (2.0 * f64::from(at) + 1.0) / f64::from(n) - 1.0;
        let (s, t) = (part(x), part(y));
        match face {
            0 => [1.0, -t, -s],
            1 => [-1.0, -t, s],
            2 => [s, 1.0, t],
            3 => [s, -1.0, -t],
            4 => [s, -t, 1.0],
            _ => [-s, -t, -1.0],
        }
    }

    #[test]
    fn beyond_an_edge_lies_the_nearest_texel_of_the_other_face() {
        for n in [1, 2, 5, 8] {
            for face in 0..6 {
                for k in 0..n {
                    let (at, last) = (i64::from(k), i64::from(n));
                    for (x, y) in [(-1, at), (last, at), (at, -1), (at, last)] {
                        let inside = (face, x.clamp(0, last - 1) as u32, y.clamp(0, last - 1) as u32);
                        let found = across(face, x, y, n).unwrap();
                        assert_ne!(found.0, face);
                        let distance =
                            |a: [f64; 3], b: [f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>();
                        let here = centre(inside, n);
                        let all = (0..6)
                            .filter(|&f| f != face)
                            .flat_map(|f| (0..n).flat_map(move |x| (0..n).map(move |y| (f, x, y))));
                        let least = all.map(|t| distance(here, centre(t, n))).fold(f64::MAX, f64::min);
                        assert!((distance(here, centre(found, n)) - least).abs() < 1e-9, "{face} {x} {y} of {n}");
                        // And back.
                        let back = [(-1, 0), (1, 0), (0, -1), (0, 1)]
                            .map(|(dx, dy)| across(found.0, i64::from(found.1) + dx, i64::from(found.2) + dy, n));
                        assert!(back.contains(&Some(inside)), "{face} {x} {y} of {n}");
                    }
                }
            }
        }
        // One texel further on the plane is one texel further beyond the edge.
        for (face, x, y) in [(0, -1, 3), (2, 8, 5), (5, 4, -1)] {
            let (other, column, row) = across(face, x, y, 8).unwrap();
            let place = on_plane(face, other, [column, row].map(|at| 1.0 + (at as f32 + 0.5) / 8.0)).unwrap();
            let texel = place.map(|at| f64::from(at - 1.0) * 8.0 - 0.5);
            assert!(
                (texel[0] - x as f64).abs() < 0.7 && (texel[1] - y as f64).abs() < 0.7,
                "{face} {x} {y}: {texel:?}"
            );
        }
        assert_eq!(on_plane(3, 3, [1.25, 1.75]), Some([1.25, 1.75]));
        assert_eq!(on_plane(0, 1, [1.5, 1.5]), None);
        assert_eq!(across(0, -1, -1, 4), None);
        assert_eq!(across(3, 4, 4, 4), None);
    }
}
