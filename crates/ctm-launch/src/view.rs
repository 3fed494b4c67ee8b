//! Arrays that programs read, where they lie.

use ctm_exec::r700::formats::Format as TexelFormat;
use ctm_isa::r700::ops::DataFormat;

/// Columns of the rows into which long arrays of one dimension are folded, and the most that a domain has.
pub const COLUMNS: u32 = 4096;

/// The numbers of a [`View`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Numbers<'a> {
    /// Single precision; all bits are preserved, those of NaN too.
    F32(&'a [f32]),
    /// Normalised: 255 means 1.
    U8(&'a [u8]),
    /// Normalised: 65535 means 1.
    U16(&'a [u16]),
    /// Bits, for R700 programs that compute with integers.
    U32(&'a [u32]),
}

impl Numbers<'_> {
    /// Their format in a texture of R700.
    #[must_use]
    pub fn texel_format(&self) -> TexelFormat {
        let data = match self {
            Self::F32(_) | Self::U32(_) => DataFormat::Fmt32_32_32_32Float,
            Self::U8(_) => DataFormat::Fmt8_8_8_8,
            Self::U16(_) => DataFormat::Fmt16_16_16_16,
        };
        TexelFormat { data, ..TexelFormat::default() }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::U8(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::U32(v) => v.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number `n` as the bits that programs read; 0 beyond the end.
    #[must_use]
    pub fn bits(&self, n: usize) -> u32 {
        match self {
            Self::F32(v) => v.get(n).map_or(0, |x| x.to_bits()),
            Self::U8(v) => v.get(n).map_or(0, |&x| (f32::from(x) / 255.0).to_bits()),
            Self::U16(v) => v.get(n).map_or(0, |&x| (f32::from(x) / 65535.0).to_bits()),
            Self::U32(v) => v.get(n).copied().unwrap_or(0),
        }
    }
}

macro_rules! numbers {
    ($($of:ty => $variant:ident),*) => {$(
        impl<'a> From<&'a [$of]> for Numbers<'a> {
            fn from(values: &'a [$of]) -> Self {
                Self::$variant(values)
            }
        }
        impl<'a> From<&'a Vec<$of>> for Numbers<'a> {
            fn from(values: &'a Vec<$of>) -> Self {
                Self::$variant(values)
            }
        }
        impl<'a, const N: usize> From<&'a [$of; N]> for Numbers<'a> {
            fn from(values: &'a [$of; N]) -> Self {
                Self::$variant(values)
            }
        }
    )*};
}

numbers!(f32 => F32, u8 => U8, u16 => U16, u32 => U32);

/// How the elements of a view lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewLayout {
    /// A line; longer ones than a domain has columns are folded as the domain is.
    Line,
    /// Rows and columns.
    Rows(usize, usize),
}

/// An array that a program reads: numbers of the caller's, in C order, and their shape.
///
/// ```
/// use ctm_launch::View;
///
/// let four = [0.0_f32; 4];
/// let picture = [0_u8; 2 * 3 * 4];
/// let _line = View::from(&four);                     // four elements of one channel
/// let _pairs = View::line(&four, 2);                 // two elements of two
/// let _picture = View::rows(&picture, [2, 3, 4]);    // two rows of three elements of four
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) numbers: Numbers<'a>,
    pub(crate) shape: ViewLayout,
    pub(crate) channels: usize,
}

impl View<'_> {
    /// Its elements as programs read them: channels that the view lacks are as in `rest`.
    #[must_use]
    pub fn elements(&self, rest: [f32; 4]) -> Option<Vec<[u32; 4]>> {
        let [rows, columns] = self.size()?;
        let channel = |n: usize, c: usize| match c < self.channels {
            true => self.numbers.bits(n * self.channels + c),
            false => rest[c].to_bits(),
        };
        let count = self.numbers.len() / self.channels;
        debug_assert!(rows * columns >= count);
        Some((0..count).map(|n| std::array::from_fn(|c| channel(n, c))).collect())
    }
}

impl<'a> View<'a> {
    /// A line of elements of 1 to 4 channels.
    pub fn line(numbers: impl Into<Numbers<'a>>, channels: usize) -> Self {
        Self { numbers: numbers.into(), shape: ViewLayout::Line, channels }
    }

    /// Rows, columns, channels (1 to 4).
    pub fn rows(numbers: impl Into<Numbers<'a>>, [rows, columns, channels]: [usize; 3]) -> Self {
        Self { numbers: numbers.into(), shape: ViewLayout::Rows(rows, columns), channels }
    }

    /// The format of its numbers in a texture of R700.
    #[must_use]
    pub fn texel_format(&self) -> TexelFormat {
        self.numbers.texel_format()
    }

    /// Channels of an element.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Rows and columns of the elements as programs see them, if there are as many numbers as that takes.
    #[must_use]
    pub fn size(&self) -> Option<[usize; 2]> {
        let most = COLUMNS as usize;
        if !(1..=4).contains(&self.channels) || self.numbers.is_empty() {
            return None;
        }
        let elements = self.numbers.len() / self.channels;
        match self.shape {
            _ if elements * self.channels != self.numbers.len() => None,
            ViewLayout::Line => Some([elements.div_ceil(most), elements.min(most)]),
            ViewLayout::Rows(rows, columns) => (rows.checked_mul(columns) == Some(elements)).then_some([rows, columns]),
        }
    }
}

impl<'a, T: Into<Numbers<'a>>> From<T> for View<'a> {
    /// A line of elements of one channel.
    fn from(numbers: T) -> Self {
        Self::line(numbers, 1)
    }
}
