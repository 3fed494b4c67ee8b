//! Arrays row by row, so that large ones never lie in memory as a whole beside the device's.

use super::fill::{FillRow, unwritable};
use super::layout::{Dtype, Layout};
use super::{Array, ArrayError, ArrayFileKind, RawFormat, RawShape, Values, npy, pfm, png};
use std::io::{Read, Seek, SeekFrom, Write};

/// The most bytes of a header that are read: version 1 headers end below 65546.
const HEADER: u64 = 1 << 17;

impl Layout {
    /// The layout of a file that can be read row by row: `.npy` in C order, and raw bytes of a stated shape. `None` for all others.
    ///
    /// # Errors
    /// The file is invalid, or cannot be read.
    pub fn of(
        kind: ArrayFileKind,
        file: &mut (impl Read + Seek),
        shape: Option<RawShape>,
    ) -> Result<Option<Self>, ArrayError> {
        let length = file.seek(SeekFrom::End(0)).and_then(|n| file.rewind().map(|()| n)).map_err(unreadable)?;
        let layout = match (kind, shape) {
            (ArrayFileKind::Npy, _) => {
                let mut start = Vec::new();
                file.take(HEADER).read_to_end(&mut start).map_err(unreadable)?;
                match npy::layout(&start) {
                    Ok((layout, false)) => layout,
                    // Fortran order, or an error that is better reported with the whole file.
                    Ok((_, true)) | Err(_) => return Ok(None),
                }
            }
            (ArrayFileKind::Raw, Some(RawShape { width, height, format })) => {
                let (channels, dtype) = match format {
                    RawFormat::Uint16x1 => (1, Dtype::U2),
                    RawFormat::Uint8x4 => (4, Dtype::U1),
                    RawFormat::Float32(channels) => (channels, Dtype::F4),
                };
                let layout = Self { height, width, channels, offset: 0, dtype, big_endian: false };
                if layout.end() != Some(length) {
                    return Ok(None);
                }
                layout
            }
            _ => return Ok(None),
        };
        Ok(layout.end().is_some_and(|end| end <= length).then_some(layout))
    }

    /// Reads all rows, one after another.
    ///
    /// # Errors
    /// When the file cannot be read, or `each` fails.
    pub fn read(
        &self,
        file: &mut (impl Read + Seek),
        mut each: impl FnMut(usize, Values) -> Result<(), ArrayError>,
    ) -> Result<(), ArrayError> {
        file.seek(SeekFrom::Start(self.offset)).map_err(unreadable)?;
        let mut bytes = vec![0; self.width * self.channels * self.dtype.bytes()];
        for y in 0..self.height {
            file.read_exact(&mut bytes).map_err(unreadable)?;
            each(y, npy::values(&bytes, self.dtype, self.big_endian))?;
        }
        Ok(())
    }
}

fn unreadable(e: std::io::Error) -> ArrayError {
    ArrayError::new(format!("it cannot be read: {e}"))
}

/// Writes an array of single-precision values whose rows come from `row`: it appends the values of row `y` to an empty list.
/// PFM asks for the last row first, the others for row 0. With `flat`, an `.npy` of one row has no side for rows.
///
/// # Errors
/// The format cannot hold the array, or `out` or `row` fails.
pub fn write_rows(
    kind: ArrayFileKind,
    [height, width, channels]: [usize; 3],
    flat: bool,
    out: &mut impl Write,
    row: &mut FillRow<'_>,
) -> Result<(), ArrayError> {
    match kind {
        ArrayFileKind::Png => return png::write_rows([height, width, channels], out, row),
        ArrayFileKind::Pfm => return pfm::write_rows([height, width, channels], out, row),
        ArrayFileKind::Npy => {
            let header = npy::header_of("<f4", super::sides(&[height, width, channels], flat));
            out.write_all(&header).map_err(unwritable)?;
        }
        ArrayFileKind::Raw => {}
    }
    let mut values = Vec::with_capacity(width * channels);
    let mut bytes = Vec::with_capacity(width * channels * 4);
    for y in 0..height {
        values.clear();
        row(y, &mut values)?;
        bytes.clear();
        bytes.extend(values.iter().flat_map(|v| v.to_bits().to_le_bytes()));
        out.write_all(&bytes).map_err(unwritable)?;
    }
    Ok(())
}

impl Array {
    /// Row `y` as single precision, appended to `out`.
    pub fn append_row(&self, y: usize, out: &mut Vec<f32>) {
        let first = y * self.row_values();
        out.extend((first..first + self.row_values()).map(|n| self.value(n)));
    }
}
