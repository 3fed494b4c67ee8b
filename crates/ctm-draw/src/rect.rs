//! Rectangles of pixels, and the grid that positions lie on.

/// Units of a pixel's side: positions are multiples of 1/256 pixel.
pub const UNITS: i64 = 256;

/// Positions are limited to this many pixels on both sides of 0, so that products of differences stay exact.
pub const FARTHEST: f64 = (1 << 20) as f64;

/// A rectangle of pixels: left and top belong to it, right and bottom do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they say what they are")]
pub struct Rect {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Rect {
    /// The intersection of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// Whether a pixel lies in both.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Whether there is no pixel in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// Whether a pixel lies in it.
    #[must_use]
    pub const fn contains(self, x: i32, y: i32) -> bool {
        self.left <= x && x < self.right && self.top <= y && y < self.bottom
    }
}
