//! PNG pictures: 8 and 16 bits per channel in, 8 bits out. Grey is read as equal red, green and blue.

use super::fill::{FillRow, unwritable};
use super::{Array, ArrayError, Values, checked_count};
use png::{BitDepth, ColorType};
use std::io::Write;

/// 8192x8192 pixels of four channels: twice as wide and high as anything the device addresses.
const MOST_VALUES: usize = 8192 * 8192 * 4;

pub(super) fn read(bytes: &[u8]) -> Result<Array, ArrayError> {
    let Array { height, width, channels, values } = samples(bytes)?;
    let grey = |rest: usize| {
        let channels = 3 + rest;
        let values = match &values {
            Values::U8(v) => Values::U8(spread(v, rest)),
            Values::U16(v) => Values::U16(spread(v, rest)),
            Values::F32(v) => Values::F32(spread(v, rest)),
        };
        Array { height, width, channels, values }
    };
    Ok(match channels {
        1 => grey(0),
        2 => grey(1),
        _ => Array { height, width, channels, values },
    })
}

/// Each grey value three times, then its alpha, if there is one.
fn spread<T: Copy>(values: &[T], rest: usize) -> Vec<T> {
    let element = |e: &[T]| [e[0], e[0]].into_iter().chain(e.to_vec());
    values.chunks_exact(1 + rest).flat_map(element).collect()
}

/// The samples without conversion.
pub(super) fn samples(bytes: &[u8]) -> Result<Array, ArrayError> {
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), png::Limits { bytes: 1 << 30 });
    // Palettes and 1, 2, 4-bit gray become 8 bits, transparency becomes alpha.
    decoder.set_transformations(png::Transformations::EXPAND);
    let bad = |e: png::DecodingError| ArrayError::new(format!("the PNG file cannot be read: {e}"));
    let mut reader = decoder.read_info().map_err(bad)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    // A picture of a few bytes can claim any size: the memory is taken before the data is seen.
    if checked_count(height, width, 4)? > MOST_VALUES {
        return Err(ArrayError::new(format!("a picture of {width}x{height} is too large, 8192x8192 can be read")));
    }
    let size = reader.output_buffer_size().ok_or_else(|| ArrayError::new("the picture is too large"))?;
    let mut data = vec![0; size];
    let frame = reader.next_frame(&mut data).map_err(bad)?;
    data.truncate(frame.buffer_size());
    let channels = frame.color_type.samples();
    let values = if frame.bit_depth == BitDepth::Sixteen {
        // PNG is big-endian.
        Values::U16(data.as_chunks::<2>().0.iter().map(|&c| u16::from_be_bytes(c)).collect())
    } else {
        Values::U8(data)
    };
    Ok(Array { height, width, channels, values })
}

/// One channel as gray, two as red and green, three and four unchanged; values clamped to 0..=1, rounded to 8 bits.
pub(super) fn write_rows(
    [height, width, channels]: [usize; 3],
    out: &mut impl Write,
    row: &mut FillRow<'_>,
) -> Result<(), ArrayError> {
    let (color, taken) = match channels {
        1 => (ColorType::Grayscale, 1),
        2 | 3 => (ColorType::Rgb, 3),
        _ => (ColorType::Rgba, 4),
    };
    let size = |n: usize| u32::try_from(n).map_err(|_| ArrayError::new(format!("{n} pixels do not fit in a picture")));
    let bad = |e: png::EncodingError| ArrayError::new(format!("the picture cannot be written: {e}"));
    let mut encoder = png::Encoder::new(out, size(width)?, size(height)?);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(bad)?;
    let mut stream = writer.stream_writer().map_err(bad)?;
    let (mut values, mut bytes) = (Vec::new(), Vec::new());
    for y in 0..height {
        values.clear();
        row(y, &mut values)?;
        bytes.clear();
        for element in values.chunks_exact(channels) {
            bytes.extend((0..taken).map(|c| element.get(c).map_or(0, |&v| to_byte(v))));
        }
        stream.write_all(&bytes).map_err(unwritable)?;
    }
    stream.finish().map_err(bad)?;
    writer.finish().map_err(bad)
}

/// An animated picture of frames of red, green, blue, alpha, each shown for the same time; it repeats for ever.
pub fn animation([width, height]: [u32; 2], milliseconds: u16, frames: &[Vec<u8>]) -> Result<Vec<u8>, ArrayError> {
    let bad = |error: png::EncodingError| ArrayError::new(format!("the animation cannot be encoded: {error}"));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let count = u32::try_from(frames.len()).map_err(|_| ArrayError::new("too many pictures"))?;
    encoder.set_animated(count, 0).map_err(bad)?;
    encoder.set_frame_delay(milliseconds, 1000).map_err(bad)?;
    let mut writer = encoder.write_header().map_err(bad)?;
    for frame in frames {
        writer.write_image_data(frame).map_err(bad)?;
    }
    writer.finish().map_err(bad)?;
    Ok(bytes)
}

/// Clamped to 0..=1, NaN as 0, to the nearest of 256 steps.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is within 0..=255")]
fn to_byte(value: f32) -> u8 {
    // A NaN stays one, and becomes 0 as an integer.
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}
