//! Arrays: element formats, pictures in host memory, and the effect of a write.

use crate::float;
use std::sync::Arc;

/// A picture: rows of elements of four channels, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bits of r, g, b, a of each element, row by row.
    pub elements: Vec<[u32; 4]>,
}

impl Picture {
    /// A picture of one value.
    #[must_use]
    pub fn filled(width: u32, height: u32, value: [f32; 4]) -> Self {
        let elements = vec![value.map(f32::to_bits); width as usize * height as usize];
        Self { width, height, elements }
    }

    /// A picture whose element (x, y) is `value(x, y)`.
    #[must_use]
    pub fn from_fn(width: u32, height: u32, value: impl Fn(u32, u32) -> [f32; 4]) -> Self {
        let elements = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self { width, height, elements: elements.map(|(x, y)| value(x, y).map(f32::to_bits)).collect() }
    }

    /// Element (x, y), if there is one.
    #[must_use]
    pub fn get(&self, x: u32, y: u32) -> Option<[u32; 4]> {
        self.index(x, y).map(|index| self.elements[index])
    }

    /// The offset of element (x, y), if there is one.
    pub(crate) fn index(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }
}

/// The element format of an array, little-endian, and its conversion on reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// 1 to 4 single-precision channels: channel c of element (x, y) is the dword `(y * pitch + x) * channels + c`. X1K outputs have no other form.
    #[default]
    Floats,
    /// One single-precision channel. A read gives four elements: to the right, below, right and below, the element itself; beyond the edge of the
    /// input it is the edge (CTM §2.1.4).
    Square,
    /// Four channels of 8 bits, byte by byte; 0..=255 means 0..=1.
    Bytes {
        /// The first and the third channel change places.
        swapped: bool,
    },
    /// One channel of 16 bits; 0..=65535 means 0..=1. The bytes are whole dwords.
    Words,
}

impl Form {
    /// Bytes of an element with this number of channels.
    #[must_use]
    #[inline]
    pub const fn element_bytes(self, channels: u8) -> u32 {
        match self {
            Self::Floats => 4 * channels as u32,
            Self::Square | Self::Bytes { .. } => 4,
            Self::Words => 2,
        }
    }

    /// Where a channel of an element begins, in bytes, and how many it has.
    #[must_use]
    #[inline]
    pub const fn channel(self, channel: usize) -> (usize, usize) {
        match (self, channel) {
            (Self::Floats | Self::Square, _) => (4 * channel, 4),
            (Self::Bytes { swapped: true }, 0 | 2) => (2 - channel, 1),
            (Self::Bytes { .. }, _) => (channel, 1),
            (Self::Words, _) => (2 * channel, 2),
        }
    }
}

/// An array.
#[derive(Clone, Debug)]
pub struct Elements<B> {
    /// The bytes, from element (0, 0) on.
    pub bytes: B,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Columns that exist.
    pub width: u32,
    /// Rows that exist.
    pub height: u32,
    /// The element format.
    pub form: Form,
    /// Channels of an element, 1 to 4: of its form, where that has a fixed number.
    pub channels: u8,
    /// Channels that may be written (bit 0 = r); for inputs without meaning.
    pub mask: u8,
    /// Where elements lie, if not row by row; then the pitch has no meaning.
    pub tiles: Option<Tiles>,
}

impl<B> Elements<B> {
    /// The same array of these bytes.
    pub fn with<C>(&self, bytes: C) -> Elements<C> {
        let Self { bytes: _, pitch, width, height, form, channels, mask, ref tiles } = *self;
        Elements { bytes, pitch, width, height, form, channels, mask, tiles: tiles.clone() }
    }

    /// Where element (x, y) begins, in bytes; `None` where tiles have no such column or row.
    #[must_use]
    #[inline]
    pub fn offset(&self, x: u32, y: u32) -> Option<usize> {
        match &self.tiles {
            Some(tiles) => Some(tiles.offset(x, y)? as usize),
            None => {
                let element = y as usize * self.pitch as usize + x as usize;
                Some(element * self.form.element_bytes(self.channels) as usize)
            }
        }
    }

    /// Bytes up to the end of the last element, in whole dwords or tiles.
    #[must_use]
    pub fn bytes_needed(&self) -> u64 {
        if let Some(tiles) = &self.tiles {
            return tiles.last(self.width.saturating_sub(1), self.height.saturating_sub(1)).unwrap_or(u64::MAX);
        }
        let last = u64::from(self.height).saturating_sub(1) * u64::from(self.pitch) + u64::from(self.width);
        (last * u64::from(self.form.element_bytes(self.channels))).next_multiple_of(4)
    }
}

impl Elements<&[u8]> {
    /// The result of [`x1k::Memory::read`](crate::x1k::Memory::read) for element (x, y) of an input of these dimensions: bits of r, g, b, a. Channels that elements lack read 0,
    /// alpha 1.
    ///
    /// # Panics
    /// When the bytes do not hold the element.
    #[must_use]
    pub fn read(&self, x: u32, y: u32, [width, height]: [u32; 2]) -> [u32; 4] {
        let mut texel = [0, 0, 0, float::ONE];
        let bytes = self.form.element_bytes(self.channels) as usize;
        let at = |x: u32, y: u32| {
            let first = self.offset(x, y).unwrap_or(self.bytes.len());
            &self.bytes[first..first + bytes]
        };
        let dword = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        match self.form {
            Form::Floats => texel.iter_mut().zip(at(x, y).chunks_exact(4)).for_each(|(to, from)| *to = dword(from)),
            Form::Square => {
                let (right, below) = (x.saturating_add(1).min(width - 1), y.saturating_add(1).min(height - 1));
                texel = [(right, y), (x, below), (right, below), (x, y)].map(|(x, y)| dword(at(x, y)));
            }
            Form::Bytes { swapped } => {
                texel.iter_mut().zip(at(x, y)).for_each(|(to, &byte)| *to = normalised(byte.into(), u8::MAX.into()));
                if swapped {
                    texel.swap(0, 2);
                }
            }
            Form::Words => texel[0] = normalised(dword(at(x, y)), u16::MAX.into()),
        }
        texel
    }
}

impl Elements<&mut [u8]> {
    /// Stores the channels of element (x, y) that are `written` (bit 0 = r), as far as it has them and they may be written. Returns the effect: nothing where there is
    /// no such element.
    pub fn write(&mut self, x: u32, y: u32, bits: &[u32; 4], written: u8) -> Written {
        let mut done = Written::default();
        let size = self.form.element_bytes(self.channels) as usize;
        let there = self.offset(x, y).filter(|_| x < self.width && y < self.height);
        let Some(element) = there.and_then(|first| self.bytes.get_mut(first..first + size)) else { return done };
        for (channel, &bits) in bits.iter().enumerate().take(self.channels.into()) {
            if written & self.mask & 1 << channel == 0 {
                continue;
            }
            let (first, bytes) = self.form.channel(channel);
            let number = match self.form {
                Form::Floats | Form::Square => bits,
                Form::Bytes { .. } => scaled(bits, u8::MAX.into()),
                Form::Words => scaled(bits, u16::MAX.into()),
            };
            element[first..first + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
            done.elements = 1;
            done.bytes += bytes as u64;
        }
        done
    }
}

/// A whole number of 0 to `most` as a number of 0 to 1, rounded once.
#[allow(clippy::cast_precision_loss, reason = "numbers of at most 16 bits")]
fn normalised(n: u32, most: u32) -> u32 {
    (n as f32 / most as f32).to_bits()
}

/// 0 to 1 as a whole number of 0 to `most`, rounded to nearest even; NaN gives 0. The product is exact in double precision, so there is one rounding.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 65535 after the clamp")]
pub fn scaled(bits: u32, most: u32) -> u32 {
    let value = f64::from(f32::from_bits(bits));
    // `max` and `min` would also pass NaN on to the conversion, which makes it 0.
    (value.clamp(0.0, 1.0) * f64::from(most)).round_ties_even() as u32
}

/// The effect of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Elements.
    pub elements: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Where the elements of an array lie whose columns and rows are folded into one another within tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Where element (x, 0) of each column begins, in bytes from the first element on.
    pub columns: Arc<[u32]>,
    /// Where element (0, y) of each row begins.
    pub rows: Arc<[u32]>,
    /// Bytes of a tile: a power of two.
    pub tile_bytes: u32,
}

impl Tiles {
    /// No byte of the tiles up to column x and row y lies after this; `None` where there are fewer columns or rows.
    #[must_use]
    pub fn last(&self, x: u32, y: u32) -> Option<u64> {
        let largest = |of: &[u32], last: u32| of.get(..=last as usize)?.iter().max().copied();
        let (column, row) = (largest(&self.columns, x)?, largest(&self.rows, y)?);
        Some(u64::from(column / self.tile_bytes + row / self.tile_bytes + 1) * u64::from(self.tile_bytes))
    }

    /// Where element (x, y) begins.
    #[must_use]
    #[inline]
    pub fn offset(&self, x: u32, y: u32) -> Option<u32> {
        Some(self.folded(*self.columns.get(x as usize)?, *self.rows.get(y as usize)?))
    }

    /// Where the element of a column and a row begins: tiles add up; within a tile, bits of columns and rows are folded by exclusive or.
    #[must_use]
    #[inline]
    pub const fn folded(&self, column: u32, row: u32) -> u32 {
        let within = self.tile_bytes.wrapping_sub(1);
        (column & !within).wrapping_add(row & !within) | (column ^ row) & within
    }
}
