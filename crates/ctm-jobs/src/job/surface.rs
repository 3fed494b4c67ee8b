//! Arrays into device memory and back: conversion to the device's formats, and the memory controller's order.
//!
//! ```
//! use ctm::job::surface::{Rect, download, fill, with_rows};
//! use ctm::mc::{Format, Surface, Tiling};
//! use ctm::memory::{ArenaId, ArenaOptions, DeviceMemory};
//!
//! let mut memory = DeviceMemory::new(&ArenaOptions::with_sizes([1 << 20; 4])?)?;
//! let surface = Surface::for_size(8, 4, Format::Float32x1, Tiling::Linear)?;
//! let surface = surface.at(memory.allocate(ArenaId::Gpu, surface.bytes())?);
//! fill(&mut memory, &surface, [2f32.to_bits(); 4])?;
//! let rect = Rect { x: 0, y: 0, width: 3, height: 2 };
//! assert_eq!(download(&memory, &surface, rect)?.to_f32(), [2.0; 6]);
//! let mut row = Vec::new();
//! with_rows(&memory, &surface, rect, false, |rows| rows(1, &mut row))?;
//! assert_eq!(row, [2.0; 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use ctm_device::mc::{ByteOrder, Format, Surface};
use ctm_device::memory::{DeviceMemory, MemoryError};
use ctm_exec::Domain;
use ctm_files::FileKind;
use ctm_files::array::{Array, ArrayError, FillRow, Layout, Values};
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

/// The elements of an input: in memory, or in a file that is read row by row when they are needed.
///
/// ```
/// use ctm::array::{Array, Values};
/// use ctm::job::surface::Elements;
/// use ctm::mc::Format;
///
/// let picture = Array { height: 1, width: 2, channels: 4, values: Values::U8(vec![0, 0, 0, 255, 9, 9, 9, 255]) };
/// let elements = Elements::Array(picture.into());
/// assert_eq!((elements.shape(), elements.natural_format()), ([1, 2, 4], Format::Uint8x4));
/// ```
#[derive(Clone, Debug)]
pub enum Elements {
    /// In memory.
    Array(Arc<Array>),
    /// In a file.
    Rows(PathBuf, Layout),
}

impl Elements {
    /// Rows, elements per row, values per element.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        match self {
            Self::Array(a) => [a.height, a.width, a.channels],
            Self::Rows(_, l) => [l.height, l.width, l.channels],
        }
    }

    /// The device format that they suggest: their own where the device has it, single precision otherwise.
    #[must_use]
    pub fn natural_format(&self) -> Format {
        let integer_bits = match self {
            Self::Array(a) => match a.values {
                Values::U8(_) => Some(8),
                Values::U16(_) => Some(16),
                Values::F32(_) => None,
            },
            Self::Rows(_, l) => l.integer_bits(),
        };
        match (integer_bits, self.shape()[2]) {
            (Some(8), 3 | 4) => Format::Uint8x4,
            (Some(16), 1) => Format::Uint16x1,
            (_, 1) => Format::Float32x1,
            (_, 2) => Format::Float32x2,
            _ => Format::Float32x4,
        }
    }

    /// Writes them to the upper left corner of a surface. Channels that they lack are 0, alpha 1.
    ///
    /// # Errors
    /// When the surface lies outside memory, or the file cannot be read any more.
    pub fn upload(&self, memory: &mut DeviceMemory, surface: &Surface) -> Result<(), ArrayError> {
        match self {
            Self::Array(array) => {
                let mut values = Vec::new();
                for y in 0..array.height {
                    values.clear();
                    array.append_row(y, &mut values);
                    upload_row(memory, surface, y, array.channels, &values)?;
                }
                Ok(())
            }
            Self::Rows(path, layout) => {
                let file = ctm_files::open(path, FileKind::Array).map_err(|e| ArrayError::new(e.to_string()))?;
                layout.read(&mut BufReader::new(file), |y, values| {
                    let row = Array { height: 1, width: layout.width, channels: layout.channels, values };
                    upload_row(memory, surface, y, layout.channels, &row.to_f32())
                })
            }
        }
    }
}

fn upload_row(
    memory: &mut DeviceMemory,
    surface: &Surface,
    y: usize,
    channels: usize,
    values: &[f32],
) -> Result<(), ArrayError> {
    if y >= surface.height as usize {
        return Ok(());
    }
    for (x, element) in values.chunks_exact(channels.max(1)).take(surface.pitch as usize).enumerate() {
        // Bits of floats go through untouched, those of a NaN too.
        let bits = std::array::from_fn(|c| element.get(c).map_or(if c == 3 { 1.0 } else { 0.0 }, |v| *v).to_bits());
        #[allow(clippy::cast_possible_truncation, reason = "within the surface")]
        let at = (x as u32, y as u32);
        surface.store(memory, at, bits, 0xf, ByteOrder::Rgba).map_err(|e| ArrayError::new(e.to_string()))?;
    }
    Ok(())
}

/// Fills a surface with one value.
///
/// # Errors
/// When the surface lies outside memory.
pub fn fill(memory: &mut DeviceMemory, surface: &Surface, bits: [u32; 4]) -> Result<(), MemoryError> {
    // The order of elements does not matter when all are the same, and neither do the bytes between them.
    let element = surface.format.element_bytes() as usize;
    let mut one = [0; 16];
    surface.format.encode(bits, 0xf, &mut one[..element], ByteOrder::Rgba);
    let bytes = memory.slice_mut(surface.base, usize::try_from(surface.bytes()).unwrap_or(usize::MAX))?;
    for slot in bytes.chunks_mut(element) {
        slot.copy_from_slice(&one[..slot.len()]);
    }
    Ok(())
}

/// A rectangle of elements: columns `x..x + width`, rows `y..y + height`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Rect {
    /// The least rectangle around a domain and `old`.
    pub(super) fn around(old: Option<Self>, domain: Domain) -> Self {
        let (mut x0, mut y0, mut x1, mut y1) = (domain.i0, domain.j0, domain.i1 + 1, domain.j1 + 1);
        if let Some(r) = old {
            (x0, y0) = (x0.min(r.x), y0.min(r.y));
            (x1, y1) = (x1.max(r.x + r.width), y1.max(r.y + r.height));
        }
        Self { x: x0, y: y0, width: x1 - x0, height: y1 - y0 }
    }

    /// Rows, elements per row, and the channels of a format, as arrays have them.
    #[must_use]
    pub fn shape(&self, format: Format) -> [usize; 3] {
        [self.height as usize, self.width as usize, format.info().channels]
    }
}

/// Calls `use_rows` with a function that gives the rows of a rectangle as single precision, with the channels of the surface's
/// format; the last row first when `flip` is set.
pub fn with_rows<T>(
    memory: &DeviceMemory,
    surface: &Surface,
    rect: Rect,
    flip: bool,
    use_rows: impl FnOnce(&mut FillRow<'_>) -> T,
) -> T {
    let channels = surface.format.info().channels;
    use_rows(&mut |y, row| {
        let y = u32::try_from(y).unwrap_or(u32::MAX);
        let y = rect.y + if flip { rect.height - 1 - y } else { y };
        for x in rect.x..rect.x + rect.width {
            let bits = surface.load(memory, x, y, ByteOrder::Rgba).map_err(|e| ArrayError::new(e.to_string()))?;
            row.extend(bits[..channels].iter().map(|&b| f32::from_bits(b)));
        }
        Ok(())
    })
}

/// Reads a rectangle of a surface as single precision, with the channels of its format.
///
/// # Errors
/// When it lies outside memory.
pub fn download(memory: &DeviceMemory, surface: &Surface, rect: Rect) -> Result<Array, ArrayError> {
    let [height, width, channels] = rect.shape(surface.format);
    let mut values = Vec::with_capacity(height * width * channels);
    with_rows(memory, surface, rect, false, |row| (0..height).try_for_each(|y| row(y, &mut values)))?;
    Ok(Array { height, width, channels, values: Values::F32(values) })
}
