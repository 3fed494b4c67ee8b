//! Rectangles of pixels, and the units of positions.

/// The unit of positions in the window: whole numbers of them, so that coverage is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PositionUnit {
    /// 1/256 pixel.
    #[default]
    Of256,
    /// 1/192 pixel: multiples of 1/12 are whole numbers of them.
    Of192,
}

impl PositionUnit {
    /// Units of a pixel's side.
    #[must_use]
    #[inline(always)]
    pub const fn count(self) -> i64 {
        match self {
            Self::Of256 => 256,
            Self::Of192 => 192,
        }
    }

    /// The pixel that a place lies in: the place's quotient, rounded down.
    #[must_use]
    #[inline(always)]
    pub const fn pixel(self, at: i64) -> i64 {
        match self {
            Self::Of256 => at >> 8,
            Self::Of192 => at.div_euclid(192),
        }
    }

    /// The corner of a pixel.
    #[must_use]
    #[inline(always)]
    pub fn corner(self, pixel: i32) -> i64 {
        i64::from(pixel) * self.count()
    }

    /// A place in pixels.
    #[must_use]
    pub const fn in_pixels(self, at: i64) -> f64 {
        at as f64 / self.count() as f64
    }
}

/// A place in every pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelPlace {
    /// The unit.
    pub unit: PositionUnit,
    /// Right of and below the pixel's corner.
    pub at: [i64; 2],
}

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

    /// The rectangle, widened to whole quads.
    #[must_use]
    pub(crate) const fn quads(self) -> Self {
        Self { left: self.left & !1, top: self.top & !1, right: (self.right + 1) & !1, bottom: (self.bottom + 1) & !1 }
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
