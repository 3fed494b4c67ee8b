//! The layout of values in a file.

use super::checked_count;

/// The element types that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dtype {
    F2,
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    Bool,
}

impl Dtype {
    pub const fn bytes(self) -> usize {
        match self {
            Self::U1 | Self::I1 | Self::Bool => 1,
            Self::U2 | Self::I2 | Self::F2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
        }
    }
}

/// The layout of a file's values: C order, uncompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows.
    pub height: usize,
    /// Elements per row.
    pub width: usize,
    /// Values per element, 1..=4.
    pub channels: usize,
    /// Where row 0 begins, in bytes.
    pub(super) offset: u64,
    pub(super) dtype: Dtype,
    pub(super) big_endian: bool,
}

impl Layout {
    /// One past the last byte of the last row.
    pub(super) fn end(&self) -> Option<u64> {
        let values = checked_count(self.height, self.width, self.channels).ok()? as u64;
        self.offset.checked_add(values * self.dtype.bytes() as u64)
    }

    /// Whether the file's values are integers of 8 or 16 bits.
    #[must_use]
    pub const fn integer_bits(&self) -> Option<u32> {
        match self.dtype {
            Dtype::U1 => Some(8),
            Dtype::U2 => Some(16),
            Dtype::F2
            | Dtype::F4
            | Dtype::F8
            | Dtype::I1
            | Dtype::I2
            | Dtype::I4
            | Dtype::I8
            | Dtype::U4
            | Dtype::U8
            | Dtype::Bool => None,
        }
    }
}
