//! A two-dimensional array in memory.

use super::MAX_INDEX;
use super::format::{ByteOrder, Format, FormatWord, Tiling};
use super::translate::{linear_address, tiled_address};
use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use std::fmt;

/// Address and format of an array: the parameters of `set_inp_fmt` and its relatives.
///
/// ```
/// use ctm_device::mc::{Format, Surface, Tiling};
/// use ctm_device::memory::GpuAddr;
/// let s = Surface::for_size(100, 100, Format::Float32x1, Tiling::Tiled)?.at(GpuAddr(0x1000_0000));
/// assert_eq!((s.pitch, s.bytes()), (128, 4 * 128 * 112));
/// assert_eq!(s.address_of(32, 16), GpuAddr(0x1000_0000 + 5 * 2048 + 0x600));
/// # Ok::<(), ctm_device::mc::SurfaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Address of element (0, 0), a multiple of 2048.
    pub base: GpuAddr,
    /// Elements from one row to the next: a multiple of 4, at most 8188.
    pub pitch: u32,
    /// Rows, at most 8191.
    pub height: u32,
    /// The element format.
    pub format: Format,
    /// How elements are laid out.
    pub tiling: Tiling,
}

/// An array that the commands cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SurfaceError {
    /// Index pairs have twelve bits.
    TooLarge {
        /// Requested columns.
        width: u32,
        /// Requested rows.
        height: u32,
    },
}

impl fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { width, height } => {
                write!(
                    f,
                    "the array has {width} x {height} elements, at most {MAX_INDEX} x {MAX_INDEX} can be addressed"
                )
            }
        }
    }
}

impl std::error::Error for SurfaceError {}

impl Surface {
    /// The smallest array of at least `width` x `height` elements, at address 0: see [`Self::at`].
    ///
    /// The pitch is rounded up so that tables 1 and 2 use all of it.
    ///
    /// # Errors
    /// When there are more columns or rows than can be addressed.
    pub fn for_size(width: u32, height: u32, format: Format, tiling: Tiling) -> Result<Self, SurfaceError> {
        if width > MAX_INDEX || height > MAX_INDEX {
            return Err(SurfaceError::TooLarge { width, height });
        }
        let unit = format.info().element.pitch_unit(tiling.is_tiled());
        Ok(Self { base: GpuAddr(0), pitch: width.next_multiple_of(unit), height, format, tiling })
    }

    /// The same array at another address.
    #[must_use]
    pub const fn at(mut self, base: GpuAddr) -> Self {
        self.base = base;
        self
    }

    /// Columns that can be distinguished: the pitch, at most [`MAX_INDEX`].
    #[must_use]
    pub const fn width(&self) -> u32 {
        if self.pitch < MAX_INDEX { self.pitch } else { MAX_INDEX }
    }

    /// Rows that can be distinguished: the height, at most [`MAX_INDEX`].
    #[must_use]
    pub const fn rows(&self) -> u32 {
        if self.height < MAX_INDEX { self.height } else { MAX_INDEX }
    }

    /// Whether element (x, y) is inside the array.
    #[must_use]
    pub const fn contains(&self, x: u32, y: u32) -> bool {
        x < self.width() && y < self.rows()
    }

    /// The address of element (x, y), by table 1 or 2 of CTM §2.1.4.
    #[must_use]
    pub const fn address_of(&self, x: u32, y: u32) -> GpuAddr {
        let size = self.format.info().element;
        GpuAddr(if self.tiling.is_tiled() {
            tiled_address(size, x, y, self.pitch, self.base.0)
        } else {
            linear_address(size, x, y, self.pitch, self.base.0)
        })
    }

    /// The part of the pitch that the tables use, in elements.
    #[must_use]
    pub const fn effective_pitch(&self) -> u32 {
        let unit = if self.tiling.is_tiled() {
            self.format.info().element.tile().0
        } else {
            32u32.div_ceil(self.format.element_bytes())
        };
        self.pitch - self.pitch % unit
    }

    /// Bytes from the base to the end of the last element, rounded up to whole lines or tiles.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        let element = self.format.info().element;
        if self.width() == 0 || self.rows() == 0 {
            return 0;
        }
        let pitch = self.effective_pitch() as u64;
        if self.tiling.is_tiled() {
            let (columns, rows) = element.tile();
            let last_row = (self.rows() - 1) as u64 / rows as u64 * (pitch / columns as u64);
            (last_row + self.width().div_ceil(columns) as u64) * 2048
        } else {
            let last_row = (self.rows() - 1) as u64 * pitch * element.bytes() as u64;
            last_row + (self.width() as u64 * element.bytes() as u64).next_multiple_of(32)
        }
    }

    /// The format word of commands.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a pitch that fits is at most 8188; others are cut to the field"
    )]
    pub fn format_word(&self) -> u32 {
        FormatWord { pitch: (self.pitch / 4) as u16, tiling: self.tiling, format: self.format }.encode()
    }

    /// Reads element (x, y): the bits of r, g, b, a.
    ///
    /// # Errors
    /// When the element lies outside memory.
    pub fn load(&self, memory: &DeviceMemory, x: u32, y: u32, order: ByteOrder) -> Result<[u32; 4], MemoryError> {
        let bytes = memory.slice(self.address_of(x, y), self.format.element_bytes() as usize)?;
        Ok(self.format.decode(bytes, order))
    }

    /// Writes the channels of element (x, y) whose bit is set in `mask`. Returns how many channels were written.
    ///
    /// # Errors
    /// When the element lies outside memory.
    pub fn store(
        &self,
        memory: &mut DeviceMemory,
        (x, y): (u32, u32),
        bits: [u32; 4],
        mask: u8,
        order: ByteOrder,
    ) -> Result<usize, MemoryError> {
        let bytes = memory.slice_mut(self.address_of(x, y), self.format.element_bytes() as usize)?;
        Ok(self.format.encode(bits, mask, bytes, order))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_element_lies_within_its_bytes() {
        for &format in Format::ALL {
            for &tiling in Tiling::ALL {
                for (width, height) in [(1, 1), (3, 5), (64, 64), (100, 33), (257, 130)] {
                    let s = Surface::for_size(width, height, format, tiling).unwrap();
                    assert!(s.pitch >= width && s.pitch.is_multiple_of(4) && s.effective_pitch() == s.pitch);
                    let mut end = 0;
                    for y in 0..s.rows() {
                        for x in 0..s.width() {
                            end = end.max(u64::from(s.address_of(x, y).0) + u64::from(format.element_bytes()));
                        }
                    }
                    assert!(end <= s.bytes(), "{s:?}: {end} > {}", s.bytes());
                    assert!(s.bytes() - end < 2048, "{s:?}: {end} << {}", s.bytes());
                }
            }
        }
    }

    #[test]
    fn a_pitch_below_the_unit_is_dropped_as_in_the_tables() {
        let s = Surface { pitch: 12, height: 2, ..Surface::for_size(8, 2, Format::Float32x1, Tiling::Linear).unwrap() };
        assert_eq!((s.effective_pitch(), s.address_of(0, 1), s.bytes()), (8, GpuAddr(32), 32 + 64));
        let s = Surface { pitch: 4, ..s };
        assert_eq!((s.effective_pitch(), s.address_of(0, 1), s.bytes()), (0, GpuAddr(0), 32));
    }

    #[test]
    fn refuses_more_than_can_be_addressed() {
        assert!(Surface::for_size(4096, 4096, Format::Float32x4, Tiling::Tiled).is_ok());
        assert_eq!(
            Surface::for_size(4097, 1, Format::Uint8x4, Tiling::Linear).unwrap_err().to_string(),
            "the array has 4097 x 1 elements, at most 4096 x 4096 can be addressed"
        );
    }
}
