//! Bare little-endian values, row 0 first. Elements are named after the device's element formats.

use super::{Array, ArrayError, RawShape, Values, checked_count};

/// The format of one element of raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RawFormat {
    /// One 16-bit normalised value.
    Uint16x1,
    /// Four 8-bit normalised values.
    Uint8x4,
    /// One to four single-precision values.
    Float32(usize),
}

impl RawFormat {
    const fn channels(self) -> usize {
        match self {
            Self::Uint16x1 => 1,
            Self::Uint8x4 => 4,
            Self::Float32(n) => n,
        }
    }

    const fn value_bytes(self) -> usize {
        match self {
            Self::Uint16x1 => 2,
            Self::Uint8x4 => 1,
            Self::Float32(_) => 4,
        }
    }
}

pub(super) fn read(bytes: &[u8], shape: RawShape) -> Result<Array, ArrayError> {
    let channels = shape.format.channels();
    let count = checked_count(shape.height, shape.width, channels)?;
    let expected = count * shape.format.value_bytes();
    if bytes.len() != expected {
        return Err(ArrayError::new(format!(
            "the file has {} bytes, {} elements per row and {} rows of {} bytes take {expected}",
            bytes.len(),
            shape.width,
            shape.height,
            channels * shape.format.value_bytes()
        )));
    }
    let values = match shape.format {
        RawFormat::Uint8x4 => Values::U8(bytes.to_vec()),
        RawFormat::Uint16x1 => Values::U16(u16s(bytes)),
        RawFormat::Float32(_) => Values::F32(f32s(bytes)),
    };
    Ok(Array { height: shape.height, width: shape.width, channels, values })
}

pub(super) fn write(array: &Array) -> Vec<u8> {
    match &array.values {
        Values::U8(v) => v.clone(),
        Values::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::F32(v) => v.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect(),
    }
}

/// Little-endian 16-bit values; a rest of one byte is left out.
pub(super) fn u16s(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks::<2>().0.iter().map(|&c| u16::from_le_bytes(c)).collect()
}

/// Little-endian single-precision values, all bits preserved; a rest below four bytes is left out.
pub(super) fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&c| f32::from_bits(u32::from_le_bytes(c))).collect()
}
