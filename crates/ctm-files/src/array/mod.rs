//! Arrays and pictures as files: `.npy`, `.png`, `.pfm` and raw little-endian bytes.
//!
//! Everything becomes an [`Array`]: rows of elements of one to four channels, row 0 first. Of pictures, row 0 is the top
//! row. [`Items`] are arrays of any shape and element type, without conversion. Nothing here knows the device.
//!
//! **Invariant.** Reading hostile bytes gives an [`ArrayError`] that says where, never a panic or a huge allocation.
//!
//! ```
//! use ctm_files::array::{Array, ArrayError, FillRow, ItemType, Items, ArrayFileKind, Layout, RawFormat, RawShape, Values, dwords, npy_bytes, write_rows};
//! use std::io::Cursor;
//!
//! // An array becomes a file, and comes back.
//! let array = Array { height: 1, width: 2, channels: 1, values: Values::F32(vec![0.5, 2.0]) };
//! let file = array.to_bytes(ArrayFileKind::Npy)?;
//! assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &file, None)?.to_f32(), [0.5, 2.0]);
//! let layout: Option<Layout> = Layout::of(ArrayFileKind::Npy, &mut Cursor::new(&file), None)?;
//! assert!(layout.is_some_and(|layout| (layout.width, layout.channels) == (2, 1)));
//!
//! // Raw bytes need a shape.
//! let shape = RawShape { width: 2, height: 1, format: RawFormat::Float32(1) };
//! assert_eq!(Array::from_bytes(ArrayFileKind::Raw, &[0; 8], Some(shape))?.to_f32(), [0.0; 2]);
//! let wrong: ArrayError = Array::from_bytes(ArrayFileKind::Raw, &[0; 7], Some(shape)).unwrap_err();
//! assert!(wrong.message.contains('7'));
//!
//! // Rows that are made one after the other; items as they are.
//! let mut out = Vec::new();
//! let row: &mut FillRow<'_> = &mut |y, values| Ok(values.push(y as f32));
//! write_rows(ArrayFileKind::Npy, [3, 1, 1], false, &mut out, row)?;
//! assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &out, None)?.to_f32(), [0.0, 1.0, 2.0]);
//! let integers = npy_bytes(ItemType::NAMES[0].1, &[2], &[1, 2])?;
//! assert_eq!(Items::from_npy(&integers)?.shape, [2]);
//! assert_eq!(dwords(&[1, 0, 0, 0]), [1]);
//! # Ok::<(), ArrayError>(())
//! ```

mod fill;
mod items;
mod layout;
mod npy;
mod pfm;
#[cfg(feature = "png")]
mod png;
#[cfg(not(feature = "png"))]
#[path = "no_png.rs"]
mod png;
mod raw;
mod rows;

pub use png::animation;

pub use fill::FillRow;
pub use items::{ItemType, Items, dwords, npy_bytes};
pub use layout::Layout;
pub use raw::RawFormat;
pub use rows::write_rows;

use crate::kinds::FileKind;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::Format as TexelFormat;
use ctm_isa::r700::ops::DataFormat;
use std::fmt;
use std::path::Path;

/// Rows of elements, `[row][column][channel]`, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Rows.
    pub height: usize,
    /// Elements per row.
    pub width: usize,
    /// Values per element, 1..=4.
    pub channels: usize,
    /// `height * width * channels` values.
    pub values: Values,
}

/// The values of an [`Array`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Normalised: 255 means 1.
    U8(Vec<u8>),
    /// Normalised: 65535 means 1.
    U16(Vec<u16>),
    /// Single precision; all bits are preserved, those of NaN too.
    F32(Vec<f32>),
}

/// Bytes that are no valid array, or an array that a file format cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayError {
    /// The byte of the file it is about, where one is.
    pub offset: Option<u64>,
    /// The value and the allowed ones; lower case, no full stop.
    pub message: String,
}

impl ArrayError {
    /// An error that says this.
    pub fn new(message: impl Into<String>) -> Self {
        Self { offset: None, message: message.into() }
    }

    fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { offset: Some(offset as u64), message: message.into() }
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.offset {
            Some(offset) => write!(f, ", at byte {offset}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ArrayError {}

/// The format of an array's file; named by the file's extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayFileKind {
    /// NumPy's format.
    Npy,
    /// Portable Network Graphics.
    Png,
    /// Portable float map.
    Pfm,
    /// Bare little-endian values, row 0 first.
    Raw,
}

impl ArrayFileKind {
    /// The extensions that [`ArrayFileKind::of`] knows, for messages.
    pub const EXTENSIONS: &'static str = ".npy, .png, .pfm, .raw, .f32";

    /// The kind by the file's extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "npy" => Some(Self::Npy),
            "png" => Some(Self::Png),
            "pfm" => Some(Self::Pfm),
            "raw" | "f32" => Some(Self::Raw),
            _ => None,
        }
    }

    /// The kind of file that arrays come from: a picture by its extension, or an array.
    #[must_use]
    pub fn file_kind(path: &Path) -> FileKind {
        match Self::of(path) {
            Some(Self::Png | Self::Pfm) => FileKind::Picture,
            Some(Self::Npy | Self::Raw) | None => FileKind::Array,
        }
    }
}

/// The layout of raw bytes; the other kinds have it in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawShape {
    /// Elements per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The format of an element.
    pub format: RawFormat,
}

impl Array {
    /// The number of values in one row.
    #[must_use]
    pub fn row_values(&self) -> usize {
        self.width * self.channels
    }

    /// Value `index` as single precision, integers normalised to 0..=1 (one division, rounded once).
    /// 0 beyond the end.
    #[must_use]
    pub fn value(&self, index: usize) -> f32 {
        match &self.values {
            Values::U8(v) => v.get(index).map_or(0.0, |&x| f32::from(x) / 255.0),
            Values::U16(v) => v.get(index).map_or(0.0, |&x| f32::from(x) / 65535.0),
            Values::F32(v) => v.get(index).copied().unwrap_or(0.0),
        }
    }

    /// All values as single precision, integers normalised to 0..=1.
    #[must_use]
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.values {
            Values::F32(v) => v.clone(),
            Values::U8(v) => v.iter().map(|&x| f32::from(x) / 255.0).collect(),
            Values::U16(v) => v.iter().map(|&x| f32::from(x) / 65535.0).collect(),
        }
    }

    /// The type of its values in a texture of R700: fractions of 8 or 16 bits, or floats.
    #[must_use]
    pub fn texel_format(&self) -> TexelFormat {
        let data = match self.values {
            Values::F32(_) => DataFormat::Fmt32_32_32_32Float,
            Values::U8(_) => DataFormat::Fmt8_8_8_8,
            Values::U16(_) => DataFormat::Fmt16_16_16_16,
        };
        TexelFormat { data, ..TexelFormat::default() }
    }

    /// Its texels. Grey pictures have the same red, green and blue; without alpha it is 1.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let values = self.to_f32();
        let texel = |at: &[f32]| match *at {
            [grey] => [grey, grey, grey, 1.0],
            [grey, alpha] => [grey, grey, grey, alpha],
            [red, green, blue] => [red, green, blue, 1.0],
            [red, green, blue, alpha, ..] => [red, green, blue, alpha],
            [] => [0.0; 4],
        };
        let elements = values.chunks_exact(self.channels.max(1)).map(|at| texel(at).map(f32::to_bits)).collect();
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Picture { width: side(self.width), height: side(self.height), elements }
    }

    /// The same array with its rows in the opposite order.
    #[must_use]
    pub fn flipped(mut self) -> Self {
        let row = self.row_values().max(1);
        match &mut self.values {
            Values::U8(v) => *v = v.rchunks(row).flatten().copied().collect(),
            Values::U16(v) => *v = v.rchunks(row).flatten().copied().collect(),
            Values::F32(v) => *v = v.rchunks(row).flatten().copied().collect(),
        }
        self
    }

    /// Reads an array from the bytes of a file.
    ///
    /// # Errors
    /// The bytes are not such a file, or hold no array of one to four channels. Raw bytes need `shape`.
    pub fn from_bytes(kind: ArrayFileKind, bytes: &[u8], shape: Option<RawShape>) -> Result<Self, ArrayError> {
        match kind {
            ArrayFileKind::Npy => npy::read(bytes),
            ArrayFileKind::Png => png::read(bytes),
            ArrayFileKind::Pfm => pfm::read(bytes),
            ArrayFileKind::Raw => raw::read(
                bytes,
                shape.ok_or_else(|| {
                    ArrayError::new("raw bytes say nothing about themselves: `size` and `format` must be given")
                })?,
            ),
        }
    }

    /// The samples of a picture as they are; of a grey one, one for each pixel.
    ///
    /// # Errors
    /// As [`Self::from_bytes`].
    pub fn samples(kind: ArrayFileKind, bytes: &[u8]) -> Result<Self, ArrayError> {
        if kind == ArrayFileKind::Png { png::samples(bytes) } else { Self::from_bytes(kind, bytes, None) }
    }

    /// The bytes of a file. Pictures convert or refuse values: see each format in `docs/jobs.md`.
    ///
    /// # Errors
    /// When the format cannot hold the array.
    pub fn to_bytes(&self, kind: ArrayFileKind) -> Result<Vec<u8>, ArrayError> {
        match kind {
            ArrayFileKind::Npy => Ok(npy::write(self)),
            ArrayFileKind::Raw => Ok(raw::write(self)),
            ArrayFileKind::Png | ArrayFileKind::Pfm => {
                let mut out = Vec::new();
                write_rows(kind, [self.height, self.width, self.channels], false, &mut out, &mut |y, row| {
                    self.append_row(y, row);
                    Ok(())
                })?;
                Ok(out)
            }
        }
    }
}

/// The sides that a file of `[height, width, channels]` has: none for one channel, and with `flat` none for one row.
#[must_use]
pub const fn sides(shape: &[usize; 3], flat: bool) -> &[usize] {
    let [height, _, channels] = *shape;
    let (sides, _) = shape.split_at(if channels == 1 { 2 } else { 3 });
    if flat && height == 1 { sides.split_at(1).1 } else { sides }
}

/// The number of values, if it is one that this process can hold.
fn checked_count(height: usize, width: usize, channels: usize) -> Result<usize, ArrayError> {
    height
        .checked_mul(width)
        .and_then(|n| n.checked_mul(channels))
        .filter(|&n| n as u64 <= 1 << 32)
        .ok_or_else(|| ArrayError::new(format!("an array of {height}x{width}x{channels} values is too large")))
}
