//! The domain of a launch: index pairs, rectangles of them, and how many lanes run together.

/// An index pair of the domain (CTM §2.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Column, 0..=4095.
    pub i: u32,
    /// Row, 0..=4095.
    pub j: u32,
}

/// The rectangle `i0..=i1` x `j0..=j1` (CTM §2.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// First column.
    pub i0: u32,
    /// First row.
    pub j0: u32,
    /// Last column, inclusive.
    pub i1: u32,
    /// Last row, inclusive.
    pub j1: u32,
}

impl Domain {
    /// Columns; 0 when the rectangle is empty (`i1 < i0`).
    #[must_use]
    pub const fn width(&self) -> u32 {
        if self.i1 < self.i0 { 0 } else { (self.i1 - self.i0).saturating_add(1) }
    }

    /// Rows; 0 when the rectangle is empty (`j1 < j0`).
    #[must_use]
    pub const fn height(&self) -> u32 {
        if self.j1 < self.j0 { 0 } else { (self.j1 - self.j0).saturating_add(1) }
    }

    /// Processors: index pairs of the rectangle.
    #[must_use]
    pub const fn processors(&self) -> u64 {
        self.width() as u64 * self.height() as u64
    }

    /// Whether the pair lies in the rectangle.
    #[must_use]
    pub const fn contains(&self, at: Position) -> bool {
        self.i0 <= at.i && at.i <= self.i1 && self.j0 <= at.j && at.j <= self.j1
    }
}

/// How many lanes decide a jump together: a multiple of 4, because lanes come as 2x2 quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSize(u16);

impl GroupSize {
    /// Largest size.
    pub const MAX: u16 = 1024;
    /// X1K's default.
    pub const X1K: Self = Self(16);
    /// R700's default: the wavefront of RV770.
    pub const R700: Self = Self(64);

    /// A group of `lanes`, if that is a multiple of 4 between 4 and [`Self::MAX`].
    #[must_use]
    pub const fn new(lanes: u16) -> Option<Self> {
        if lanes >= 4 && lanes <= Self::MAX && lanes.is_multiple_of(4) { Some(Self(lanes)) } else { None }
    }

    /// The number of lanes.
    #[must_use]
    pub const fn lanes(self) -> usize {
        self.0 as usize
    }
}
