//! The depth of the pixels of a triangle.
//!
//! A pixel's depth is that of the first pixel of its block of 8x4 pixels, at the same place within the pixel, plus the steps from there, in double precision: so
//! each lane of a block takes one sum. All ways to a depth give the same bits.

use crate::lanes::{COLUMNS, ROWS};

/// The depths of a triangle at one place in every pixel.
#[derive(Clone, Copy)]
pub(crate) struct DepthPlane {
    /// Twice the areas that a pixel makes with the edges opposite the second and the third corner: at pixel (0, 0), and their changes by column and row.
    areas: [[i64; 3]; 2],
    /// How depth changes by each of them.
    by: [f64; 2],
    /// How it changes by column and row.
    pub(super) steps: [f64; 2],
    /// The depth of the first corner, and the depth that is added to all.
    first: f64,
    offset: f64,
}

impl DepthPlane {
    /// Of a triangle with this double area, the areas as above, and the depths of its corners; `offset`: added to all.
    #[inline(always)]
    pub(super) fn new(area: i64, areas: [[i64; 3]; 2], [z0, z1, z2]: [f64; 3], offset: f64) -> Self {
        let inverse = 1.0 / area as f64;
        let by = [(z1 - z0) * inverse, (z2 - z0) * inverse];
        let step = |n: usize| areas[0][n] as f64 * by[0] + areas[1][n] as f64 * by[1];
        Self { areas, by, steps: [step(1), step(2)], first: z0, offset }
    }

    /// The first pixel of a pixel's block.
    #[inline(always)]
    pub(crate) const fn block_of([x, y]: [i32; 2]) -> [i32; 2] {
        [x & -COLUMNS, y & -ROWS]
    }

    /// The depth of the first pixel of a block.
    #[inline(always)]
    pub(crate) fn first_of(&self, [x, y]: [i32; 2]) -> f64 {
        let area = |[origin, di, dj]: [i64; 3]| (origin + i64::from(x) * di + i64::from(y) * dj) as f64;
        self.first + area(self.areas[0]) * self.by[0] + area(self.areas[1]) * self.by[1] + self.offset
    }

    /// The steps to a pixel from the first one of its block.
    #[inline(always)]
    pub(super) fn step(&self, [x, y]: [i32; 2]) -> f64 {
        f64::from(x) * self.steps[0] + f64::from(y) * self.steps[1]
    }

    /// The depth of a pixel.
    #[inline(always)]
    pub(crate) fn pixel(&self, at: [i32; 2]) -> f64 {
        let block = Self::block_of(at);
        self.first_of(block) + self.step([at[0] - block[0], at[1] - block[1]])
    }

    /// The steps to the pixels of a quad from the first pixel of its block. `at`: the quad's first pixel, at even columns and rows.
    #[inline(always)]
    pub(crate) fn steps_of_quad(&self, at: [i32; 2]) -> [f64; 4] {
        let block = Self::block_of(at);
        let [x, y] = [at[0] - block[0], at[1] - block[1]];
        [self.step([x, y]), self.step([x + 1, y]), self.step([x, y + 1]), self.step([x + 1, y + 1])]
    }

    /// The depths of the pixels of a quad, from its first pixel on, which is at even columns and rows.
    #[inline(always)]
    pub(crate) fn quad(&self, at: [i32; 2]) -> [f64; 4] {
        let first = self.first_of(Self::block_of(at));
        self.steps_of_quad(at).map(|step| first + step)
    }
}
