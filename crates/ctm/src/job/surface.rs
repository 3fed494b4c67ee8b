//! Arrays into device memory and back: conversion to the device's formats, and the memory controller's order.

use crate::array::{Array, Values};
use crate::mc::{ByteOrder, Format, Surface};
use crate::memory::{DeviceMemory, MemoryError};

/// The device format that an array suggests: its own where the device has it, single precision otherwise.
#[must_use]
pub fn natural_format(array: &Array) -> Format {
    match (&array.values, array.channels) {
        (Values::U8(_), 3 | 4) => Format::Uint8x4,
        (Values::U16(_), 1) => Format::Uint16x1,
        (_, 1) => Format::Float32x1,
        (_, 2) => Format::Float32x2,
        _ => Format::Float32x4,
    }
}

/// Writes an array to the upper left corner of a surface. Channels that the array lacks are 0, alpha 1.
///
/// # Errors
/// When the surface lies outside memory.
pub fn upload(memory: &mut DeviceMemory, surface: &Surface, array: &Array) -> Result<(), MemoryError> {
    let (width, channels) = (array.width, array.channels);
    for y in 0..array.height.min(surface.height as usize) {
        for x in 0..width.min(surface.pitch as usize) {
            let first = (y * width + x) * channels;
            let bits = std::array::from_fn(|c| match (&array.values, c < channels) {
                // Bits of floats go through untouched, those of a NaN too.
                (Values::F32(v), true) => v.get(first + c).map_or(0, |f| f.to_bits()),
                (_, true) => array.value(first + c).to_bits(),
                (_, false) => if c == 3 { 1.0f32 } else { 0.0 }.to_bits(),
            });
            #[allow(clippy::cast_possible_truncation, reason = "within the surface")]
            surface.store(memory, (x as u32, y as u32), bits, 0xf, ByteOrder::Rgba)?;
        }
    }
    Ok(())
}

/// Fills a surface with one value.
///
/// # Errors
/// When the surface lies outside memory.
pub fn fill(memory: &mut DeviceMemory, surface: &Surface, bits: [u32; 4]) -> Result<(), MemoryError> {
    // The order of elements does not matter when all are the same, and neither does what lies between them.
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

/// Reads a rectangle of a surface as single precision, with the channels of its format.
///
/// # Errors
/// When it lies outside memory.
pub fn download(memory: &DeviceMemory, surface: &Surface, rect: Rect) -> Result<Array, MemoryError> {
    let channels = surface.format.info().channels;
    let mut values = Vec::with_capacity(rect.width as usize * rect.height as usize * channels);
    for y in rect.y..rect.y + rect.height {
        for x in rect.x..rect.x + rect.width {
            let bits = surface.load(memory, x, y, ByteOrder::Rgba)?;
            values.extend(bits[..channels].iter().map(|&b| f32::from_bits(b)));
        }
    }
    let (height, width) = (rect.height as usize, rect.width as usize);
    Ok(Array { height, width, channels, values: Values::F32(values) })
}
