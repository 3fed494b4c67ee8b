//! A camera and a turning object: the matrix that takes positions of a mesh to clip space.

use super::matrices::MatrixKind;
use ctm_files::mesh::vector::{cross, dot, minus, unit};

/// Where an object is seen from.
///
/// ```
/// use ctm::draw::Camera;
///
/// // Two units away from the origin, which is in the middle, and x goes to the right.
/// let camera = Camera { eye: [0.0, 0.0, 2.0], turn: [0.0; 3], rows: true, ..Camera::default() };
/// let m = camera.matrix(1.0, 0.0);
/// assert!(m[0] > 0.0 && m[1] == 0.0);
/// // The last column is the image of the origin.
/// assert_eq!([m[3], m[7], m[15]], [0.0, 0.0, 2.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The viewer.
    pub eye: [f32; 3],
    /// The point at which the viewer is directed.
    pub at: [f32; 3],
    /// The angle from the lower to the upper edge, in degrees.
    pub fov: f32,
    /// The object's turn about x, then y, then z, in degrees.
    pub turn: [f32; 3],
    /// How much further it is turned in the course of an animation.
    pub spin: [f32; 3],
    /// The program gets the matrix row by row, instead of column by column.
    pub rows: bool,
    /// Which of its matrices; `None`: the one that the constants' name speaks of, else all of the way to clip space.
    pub matrix: Option<MatrixKind>,
}

impl Default for Camera {
    fn default() -> Self {
        let (eye, turn) = ([0.0, 0.0, 4.5], [25.0, 35.0, 0.0]);
        Self { eye, at: [0.0; 3], fov: 40.0, turn, spin: [0.0, 360.0, 0.0], rows: false, matrix: None }
    }
}

/// A movement of the viewer of a [`Drawing`](super::Drawing).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewMove {
    /// Degrees around the point at which the viewer is directed: to the right, and up.
    pub turn: [f32; 2],
    /// The distance from that point, as a multiple of the job's.
    pub distance: f32,
    /// The point of the animation, 0 to 1: meshes are turned by so much of their `spin`.
    pub time: f32,
}

impl Default for ViewMove {
    /// No movement.
    fn default() -> Self {
        Self { turn: [0.0; 2], distance: 1.0, time: 0.0 }
    }
}

/// The highest viewer, in degrees: straight from above, nothing would be up.
const HIGHEST: f32 = 89.0;

impl super::Drawing {
    /// The camera of the viewer: the first of the last draw that has one.
    #[must_use]
    pub fn viewer(&self) -> Option<Camera> {
        self.draws.iter().rev().find_map(|draw| draw.cameras.first()).map(|(_, camera)| *camera)
    }

    /// Moves the viewer. Cameras elsewhere, such as a light's, stay.
    pub fn move_viewer(&mut self, by: ViewMove) {
        let Some(Camera { eye, at, .. }) = self.viewer() else { return };
        let moved = if by.turn == [0.0; 2] && by.distance == 1.0 { eye } else { around(eye, at, by) };
        for (_, camera) in self.draws.iter_mut().flat_map(|draw| &mut draw.cameras) {
            if camera.eye == eye && camera.at == at {
                camera.eye = moved;
            }
            camera.turn = std::array::from_fn(|n| camera.turn[n] + camera.spin[n] * by.time);
        }
    }
}

/// A viewer, moved around a point.
fn around(eye: [f32; 3], at: [f32; 3], by: ViewMove) -> [f32; 3] {
    let from = minus(eye, at);
    let distance = dot(from, from).sqrt().max(f32::MIN_POSITIVE);
    let up = (from[1] / distance).clamp(-1.0, 1.0).asin().to_degrees();
    let up = (up + by.turn[1]).clamp(-HIGHEST, HIGHEST).to_radians();
    let right = from[0].atan2(from[2]) + by.turn[0].to_radians();
    let distance = distance * by.distance;
    let [x, y, z] = [up.cos() * right.sin(), up.sin(), up.cos() * right.cos()];
    [at[0] + distance * x, at[1] + distance * y, at[2] + distance * z]
}

/// Rows of a matrix.
type Matrix = [[f32; 4]; 4];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

impl Camera {
    /// The matrix from the mesh to clip space for a picture of this shape, at a point of an animation (0 to 1): sixteen numbers as the program takes them.
    #[must_use]
    pub fn matrix(&self, width_by_height: f32, time: f32) -> [f32; 16] {
        self.matrix_of(MatrixKind::ModelViewProjection, width_by_height, time)
    }

    /// One of its matrices, as [`Self::matrix`].
    #[must_use]
    pub fn matrix_of(&self, kind: MatrixKind, width_by_height: f32, time: f32) -> [f32; 16] {
        let back = unit(minus(self.eye, self.at));
        // Straight from above, z is up.
        let above = if back[0] == 0.0 && back[2] == 0.0 { [0.0, 0.0, -1.0] } else { [0.0, 1.0, 0.0] };
        let right = unit(cross(above, back));
        let up = cross(back, right);
        let row = |axis: [f32; 3]| [axis[0], axis[1], axis[2], -dot(axis, self.eye)];
        let view = [row(right), row(up), row(back), [0.0, 0.0, 0.0, 1.0]];
        let (near, far) = (0.1f32, 100.0f32);
        let scale = 1.0 / (self.fov.to_radians() / 2.0).tan();
        let projection = [
            [scale / width_by_height, 0.0, 0.0, 0.0],
            [0.0, scale, 0.0, 0.0],
            [0.0, 0.0, (far + near) / (near - far), 2.0 * far * near / (near - far)],
            [0.0, 0.0, -1.0, 0.0],
        ];
        let angle = |n: usize| (self.turn[n] + self.spin[n] * time).to_radians().sin_cos();
        let [(sx, cx), (sy, cy), (sz, cz)] = [angle(0), angle(1), angle(2)];
        let about_x = [[1.0, 0.0, 0.0, 0.0], [0.0, cx, -sx, 0.0], [0.0, sx, cx, 0.0], [0.0, 0.0, 0.0, 1.0]];
        let about_y = [[cy, 0.0, sy, 0.0], [0.0, 1.0, 0.0, 0.0], [-sy, 0.0, cy, 0.0], [0.0, 0.0, 0.0, 1.0]];
        let about_z = [[cz, -sz, 0.0, 0.0], [sz, cz, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        // The spin about y comes first, so that an object keeps its tilt towards the viewer.
        let model = times(&about_z, &times(&about_x, &about_y));
        let whole = match kind {
            MatrixKind::Model => model,
            MatrixKind::View => view,
            MatrixKind::Projection => projection,
            MatrixKind::ModelView => times(&view, &model),
            MatrixKind::ViewProjection => times(&projection, &view),
            MatrixKind::ModelViewProjection => times(&projection, &times(&view, &model)),
            // Both turn and neither scales, so the inverse transpose is the turn itself.
            MatrixKind::Normal => {
                let mut turn = times(&view, &model);
                (0..3).for_each(|row| turn[row][3] = 0.0);
                turn
            }
        };
        std::array::from_fn(|n| if self.rows { whole[n / 4][n % 4] } else { whole[n % 4][n / 4] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_move_around_what_they_see() {
        let job = "programs = [\"a.gsh\"]\n[[draw]]\n[[draw.camera]]\nconstant = \"l\"\neye = [0, 9, 1]\n[[draw]]\n[[draw.camera]]\nconstant = \"m\"\neye = [1, 2, 5]\nat = [1, 2, 3]\nturn = [0, 10, 0]\nspin = [0, 360, 0]\n[[draw.camera]]\nconstant = \"l\"\neye = [0, 9, 1]";
        let drawing = super::super::Drawing::parse(job, "job.toml", std::path::Path::new("")).unwrap();
        let moved = |by| {
            let mut moved = drawing.clone();
            moved.move_viewer(by);
            moved.draws.iter().flat_map(|draw| draw.cameras.iter().map(|c| c.1)).collect::<Vec<_>>()
        };
        let still = moved(ViewMove::default());
        assert_eq!(still[1], drawing.viewer().unwrap());
        let close = |a: [f32; 3], b: [f32; 3]| assert!((0..3).all(|n| (a[n] - b[n]).abs() < 1e-5), "{a:?} {b:?}");
        // A quarter to the right: from z to x, at the same height and distance. The light stays.
        let right = moved(ViewMove { turn: [90.0, 0.0], ..ViewMove::default() });
        close(right[1].eye, [3.0, 2.0, 3.0]);
        assert_eq!((right[0].eye, right[2].eye), ([0.0, 9.0, 1.0], [0.0, 9.0, 1.0]));
        // Never over the top, and twice as far.
        let above = moved(ViewMove { turn: [0.0, 400.0], distance: 2.0, ..ViewMove::default() });
        let (sin, cos) = HIGHEST.to_radians().sin_cos();
        close(above[1].eye, [1.0, 2.0 + 4.0 * sin, 3.0 + 4.0 * cos]);
        assert_eq!(moved(ViewMove { time: 0.25, ..ViewMove::default() })[1].turn, [0.0, 100.0, 0.0]);
    }

    #[test]
    fn what_is_looked_at_is_in_the_middle() {
        for eye in [[0.0, 0.0, 4.5], [3.0, 2.0, 1.0], [0.0, 5.0, 0.0]] {
            let camera = Camera { eye, at: [0.0; 3], rows: true, ..Camera::default() };
            let m = camera.matrix(1.5, 0.25);
            // The origin: the last column.
            let [x, y, z, w] = [m[3], m[7], m[11], m[15]];
            assert!(x.abs() < 1e-5 && y.abs() < 1e-5, "{m:?}");
            assert!((w - dot(eye, eye).sqrt()).abs() < 1e-4 && z.abs() < w);
        }
        let rows = Camera { rows: true, ..Camera::default() }.matrix(1.0, 0.0);
        let columns = Camera::default().matrix(1.0, 0.0);
        assert_eq!(rows[1], columns[4]);
    }
}
