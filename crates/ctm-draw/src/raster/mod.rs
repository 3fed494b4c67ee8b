//! From primitives in the window to pixels: the covered samples of each pixel.
//!
//! Positions lie on a grid, and coverage is decided in whole numbers, so that every sample on a shared edge belongs to exactly one of the
//! triangles. Rows are counted from the top.

mod line;
mod triangle;

pub use line::{LinePixels, wide_line};
pub(crate) use triangle::{BLOCKS, BlockEdges, QuadEdges, around, triangle_quads};
pub use triangle::{Triangle, cover_box, cover_triangle, inside_box, inside_triangle, point_box, triangle_spans};

use crate::rect::Rect;

impl QuadCoverage {
    /// Its four pixels.
    #[must_use]
    pub const fn rect(&self) -> Rect {
        Rect { left: self.x, top: self.y, right: self.x + 2, bottom: self.y + 2 }
    }
}

/// Covered samples of a 2x2 quad of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadCoverage {
    /// Column of the left pixels, even.
    pub x: i32,
    /// Row of the upper pixels, even.
    pub y: i32,
    /// Covered samples of each pixel: upper left, upper right, lower left, lower right.
    pub masks: [u8; 4],
}
