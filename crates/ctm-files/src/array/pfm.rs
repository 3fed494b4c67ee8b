//! Portable float maps: a text header (`PF` three channels, `Pf` one), then single-precision rows, the bottom row first.
//!
//! The header's third number is negative for little-endian data. Its size is a scale that we neither apply nor need.

use super::fill::{FillRow, unwritable};
use super::{Array, ArrayError, Values, checked_count};
use std::io::Write;

pub(super) fn read(bytes: &[u8]) -> Result<Array, ArrayError> {
    let channels = match bytes.get(..2) {
        Some(b"PF") => 3,
        Some(b"Pf") => 1,
        _ => return Err(ArrayError::at(0, "this is no PFM file: it begins with neither `PF` nor `Pf`")),
    };
    let mut at = 2;
    let width = number(bytes, &mut at, "width")?;
    let height = number(bytes, &mut at, "height")?;
    let (scale_at, scale) = word(bytes, &mut at);
    let little_endian = match scale.parse::<f32>() {
        Ok(s) if s < 0.0 => true,
        Ok(s) if s > 0.0 => false,
        _ => return Err(ArrayError::at(scale_at, format!("the scale is `{scale}`, it must be a number other than 0"))),
    };
    // Exactly one white-space byte ends the header.
    at += 1;
    let count = checked_count(height, width, channels)?;
    let data = bytes.get(at..).unwrap_or_default();
    if data.len() < count * 4 {
        return Err(ArrayError::at(
            at,
            format!("the file ends after {} of {} bytes of its {width}x{height} pixels", data.len(), count * 4),
        ));
    }
    let values = data.as_chunks::<4>().0[..count]
        .iter()
        .map(|&c| f32::from_bits(if little_endian { u32::from_le_bytes(c) } else { u32::from_be_bytes(c) }))
        .collect();
    Ok(Array { height, width, channels, values: Values::F32(values) }.flipped())
}

/// One channel as `Pf`; of four channels the first three; of two the third is 0.
pub(super) fn write_rows(
    [height, width, channels]: [usize; 3],
    out: &mut impl Write,
    row: &mut FillRow<'_>,
) -> Result<(), ArrayError> {
    let gray = channels == 1;
    let taken = if gray { 1 } else { 3 };
    let header = format!("{}\n{width} {height}\n-1.0\n", if gray { "Pf" } else { "PF" });
    out.write_all(header.as_bytes()).map_err(unwritable)?;
    let (mut values, mut bytes) = (Vec::new(), Vec::new());
    for y in (0..height).rev() {
        values.clear();
        row(y, &mut values)?;
        bytes.clear();
        for element in values.chunks_exact(channels) {
            for c in 0..taken {
                let value = element.get(c).copied().unwrap_or(0.0);
                bytes.extend_from_slice(&value.to_bits().to_le_bytes());
            }
        }
        out.write_all(&bytes).map_err(unwritable)?;
    }
    Ok(())
}

fn word<'b>(bytes: &'b [u8], at: &mut usize) -> (usize, &'b str) {
    while bytes.get(*at).is_some_and(u8::is_ascii_whitespace) {
        *at += 1;
    }
    let start = *at;
    while bytes.get(*at).is_some_and(|b| !b.is_ascii_whitespace()) && *at < start + 32 {
        *at += 1;
    }
    (start, std::str::from_utf8(&bytes[start..*at]).unwrap_or(""))
}

fn number(bytes: &[u8], at: &mut usize, what: &str) -> Result<usize, ArrayError> {
    let (start, text) = word(bytes, at);
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(ArrayError::at(start, format!("the {what} is `{text}`, it must be a positive number"))),
    }
}
