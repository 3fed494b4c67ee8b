//! Bounded reading of bytes: every access is checked, every failure names the field and its place.

use crate::error::ImageError;

/// The byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// `little-endian` or `big-endian`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Little => "little-endian",
            Self::Big => "big-endian",
        }
    }

    /// The number that four bytes are.
    #[must_use]
    pub const fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The four bytes of a number.
    #[must_use]
    pub const fn bytes(self, word: u32) -> [u8; 4] {
        match self {
            Self::Little => word.to_le_bytes(),
            Self::Big => word.to_be_bytes(),
        }
    }

    /// The words of `bytes`; an incomplete word at the end is left out.
    #[must_use]
    pub fn words(self, bytes: &[u8]) -> Vec<u32> {
        bytes.chunks_exact(4).map(|c| self.word([c[0], c[1], c[2], c[3]])).collect()
    }
}

/// The longest name that is read, in bytes: a bound, so that a hostile file cannot make many copies of a long one.
pub const LONGEST_TEXT: u64 = 1024;

/// A file's bytes. Offsets are 64 bits wide, so that sums of hostile 32-bit numbers do not wrap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileBytes<'a> {
    pub bytes: &'a [u8],
    pub order: ByteOrder,
}

impl<'a> FileBytes<'a> {
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, order }
    }

    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// `size` bytes at `offset`; `what` names them in the error.
    pub fn slice(&self, what: &'static str, offset: u64, size: u64) -> Result<&'a [u8], ImageError> {
        let error = ImageError::Truncated { what, offset, size, available: self.len() };
        let end = offset.checked_add(size).ok_or_else(|| error.clone())?;
        match (usize::try_from(offset), usize::try_from(end)) {
            (Ok(start), Ok(end)) => self.bytes.get(start..end).ok_or(error),
            _ => Err(error),
        }
    }

    pub fn u8(&self, what: &'static str, offset: u64) -> Result<u8, ImageError> {
        Ok(self.slice(what, offset, 1)?[0])
    }

    pub fn u16(&self, what: &'static str, offset: u64) -> Result<u16, ImageError> {
        let b = self.slice(what, offset, 2)?;
        Ok(match self.order {
            ByteOrder::Little => u16::from_le_bytes([b[0], b[1]]),
            ByteOrder::Big => u16::from_be_bytes([b[0], b[1]]),
        })
    }

    pub fn u32(&self, what: &'static str, offset: u64) -> Result<u32, ImageError> {
        let b = self.slice(what, offset, 4)?;
        Ok(self.order.word([b[0], b[1], b[2], b[3]]))
    }

    /// Text up to the next NUL, which must come before `end` and within [`LONGEST_TEXT`].
    pub fn text(&self, what: &'static str, offset: u64, end: u64) -> Result<String, ImageError> {
        let end = end.min(self.len()).min(offset.saturating_add(LONGEST_TEXT));
        let bytes = self.slice(what, offset, end.saturating_sub(offset))?;
        let length = bytes.iter().position(|&b| b == 0).ok_or(ImageError::Truncated {
            what,
            offset,
            size: bytes.len() as u64 + 1,
            available: end,
        })?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}
