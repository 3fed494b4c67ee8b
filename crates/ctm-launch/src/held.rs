//! Inputs as engines read them: borrowed, or converted where no engine reads their form.

use crate::view::{Numbers, View, ViewLayout};
use ctm_exec::x1k::{Elements, Form};

/// The bytes of an input, and how they are read.
pub(crate) struct HeldInput<'a> {
    bytes: HeldBytes<'a>,
    /// Sizes and form.
    pub like: Elements<()>,
}

enum HeldBytes<'a> {
    Borrowed(&'a [u8]),
    /// Little-endian dwords.
    Converted(Vec<u32>),
}

impl<'a> HeldInput<'a> {
    /// The borrowed array, if engines can read its form; otherwise a copy in single precision. It has at most `most` rows and columns.
    ///
    /// # Errors
    /// The shape does not take this count of numbers, or is too large.
    pub fn of(view: &View<'a>, most: usize) -> Result<Self, String> {
        let numbers = view.numbers.len();
        let [rows, columns] = view.size().ok_or_else(|| match view.shape {
            ViewLayout::Line => {
                format!("{numbers} numbers are no line of elements of {} channels; 1 to 4 are possible", view.channels)
            }
            ViewLayout::Rows(rows, columns) => format!(
                "{numbers} numbers are no {rows} rows of {columns} elements of {} channels; 1 to 4 channels are possible",
                view.channels
            ),
        })?;
        if rows == 0 || columns == 0 || rows > most || columns > most {
            return Err(format!("it has {rows} rows and {columns} columns, inputs have 1 to {most} of each"));
        }
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let like = |form, channels: usize| Elements {
            bytes: (),
            pitch: size(columns),
            width: size(columns),
            height: size(rows),
            form,
            channels: u8::try_from(channels).unwrap_or(4),
            mask: 0xf,
            tiles: None,
        };
        let whole = rows * columns * view.channels == numbers && cfg!(target_endian = "little");
        let there = match (view.numbers, view.channels) {
            _ if !whole => None,
            (Numbers::F32(v), 1 | 2 | 4) => Some((bytemuck::cast_slice(v), Form::Floats)),
            (Numbers::U32(v), 1 | 2 | 4) => Some((bytemuck::cast_slice(v), Form::Floats)),
            (Numbers::U8(v), 4) => Some((v, Form::Bytes { swapped: false })),
            (Numbers::U16(v), 1) if numbers.is_multiple_of(2) => Some((bytemuck::cast_slice(v), Form::Words)),
            _ => None,
        };
        if let Some((bytes, form)) = there {
            return Ok(Self { bytes: HeldBytes::Borrowed(bytes), like: like(form, view.channels) });
        }
        // Three channels become four, the last one 1; the end of a folded line is filled up with zeros.
        let channels = if view.channels == 3 { 4 } else { view.channels };
        let mut dwords = Vec::with_capacity(rows * columns * channels);
        for element in 0..rows * columns {
            for c in 0..channels {
                let bits = match c {
                    3 if view.channels == 3 => 1.0_f32.to_bits(),
                    _ => view.numbers.bits(element * view.channels + c),
                };
                dwords.push(bits.to_le());
            }
        }
        Ok(Self { bytes: HeldBytes::Converted(dwords), like: like(Form::Floats, channels) })
    }

    /// The bytes from element (0, 0) on.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            HeldBytes::Borrowed(bytes) => bytes,
            HeldBytes::Converted(dwords) => bytemuck::cast_slice(dwords),
        }
    }

    pub fn elements(&self) -> Elements<&[u8]> {
        self.like.with(self.bytes())
    }

    /// Rows and columns; those of a line that is shorter than a domain's row are its elements.
    pub fn size(&self) -> [usize; 2] {
        [self.like.height as usize, self.like.width as usize]
    }
}
