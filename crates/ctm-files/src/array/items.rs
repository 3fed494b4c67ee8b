//! Arrays of any shape and element type as their bytes: the contents of buffers and memories of programs.
//!
//! An [`Array`](super::Array) is a picture: numbers in rows of elements, integers normalised. Here nothing is converted.

use super::ArrayError;
use super::npy::{self, Header, header_at};

/// The type of a file's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemType {
    /// Single precision.
    Float32,
    /// Double precision: two dwords, the low one first.
    Float64,
    /// Signed integers of 32 bits.
    Int32,
    /// Unsigned integers of 32 bits.
    Uint32,
}

impl ItemType {
    /// All of them, by the names that people type.
    pub const NAMES: [(&'static str, Self); 4] =
        [("float32", Self::Float32), ("float64", Self::Float64), ("int32", Self::Int32), ("uint32", Self::Uint32)];

    /// NumPy's name, little endian.
    const fn descr(self) -> &'static str {
        match self {
            Self::Float32 => "<f4",
            Self::Float64 => "<f8",
            Self::Int32 => "<i4",
            Self::Uint32 => "<u4",
        }
    }

    /// Bytes of one.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Float64 => 8,
            Self::Float32 | Self::Int32 | Self::Uint32 => 4,
        }
    }

    /// Whether it is an integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Int32 | Self::Uint32)
    }
}

/// The items of a file: their bytes, little endian, in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// `f`, `i`, `u` or `b`, as in NumPy.
    pub class: u8,
    /// Bytes of one item: 1, 2, 4 or 8.
    pub item_bytes: usize,
    /// How many there are along each axis.
    pub shape: Vec<usize>,
    /// The items.
    pub bytes: Vec<u8>,
}

impl Items {
    /// Reads the bytes of an `.npy` file.
    ///
    /// # Errors
    /// They are no such file, or the items are neither integers nor floating-point numbers.
    pub fn from_npy(bytes: &[u8]) -> Result<Self, ArrayError> {
        read_npy(bytes)
    }

    /// The bytes of an `.npy` file with these items.
    #[must_use]
    pub fn to_npy(&self) -> Vec<u8> {
        let order = if self.item_bytes == 1 { '|' } else { '<' };
        let mut out = npy::header_of(&format!("{order}{}{}", char::from(self.class), self.item_bytes), &self.shape);
        out.extend_from_slice(&self.bytes);
        out
    }

    /// The bytes as dwords, the last one filled up with zeros.
    #[must_use]
    pub fn dwords(&self) -> Vec<u32> {
        dwords(&self.bytes)
    }
}

/// The items unchanged; see [`Items`].
fn read_npy(bytes: &[u8]) -> Result<Items, ArrayError> {
    let (header, start) = header_at(bytes)?;
    let Header { class, item_bytes, shape, .. } = header;
    let count = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
    let size = count.and_then(|n| n.checked_mul(item_bytes));
    let data = bytes.get(start..).unwrap_or_default();
    let Some((data, count)) = size.and_then(|size| data.get(..size)).zip(count) else {
        let message = format!("the file ends after {} bytes of items, its shape {shape:?} takes more", data.len());
        return Err(ArrayError::at(bytes.len(), message));
    };
    let mut out = Vec::with_capacity(data.len());
    for index in 0..count {
        let at = if header.fortran_order { fortran_index(index, &shape) } else { index };
        let item = &data[at * item_bytes..(at + 1) * item_bytes];
        if header.big_endian {
            out.extend(item.iter().rev());
        } else {
            out.extend_from_slice(item);
        }
    }
    Ok(Items { class, item_bytes, shape, bytes: out })
}

/// The index in Fortran order of the item that is number `index` in C order.
fn fortran_index(mut index: usize, shape: &[usize]) -> usize {
    let mut place = vec![0; shape.len()];
    for (at, &side) in place.iter_mut().zip(shape).rev() {
        *at = index % side.max(1);
        index /= side.max(1);
    }
    place.iter().zip(shape).rev().fold(0, |sum, (&at, &side)| sum * side + at)
}

/// Bytes as little-endian dwords, the last one filled up with zeros.
#[must_use]
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    let (whole, rest) = bytes.as_chunks::<4>();
    let mut out: Vec<u32> = whole.iter().map(|&c| u32::from_le_bytes(c)).collect();
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        out.push(u32::from_le_bytes(last));
    }
    out
}

/// The bytes of an `.npy` file with these items, of which `dwords` are the bits. There must be as many as the shape says.
///
/// # Errors
/// When there are more or fewer.
pub fn npy_bytes(kind: ItemType, shape: &[usize], dwords: &[u32]) -> Result<Vec<u8>, ArrayError> {
    let wanted = shape.iter().try_fold(kind.bytes() / 4, |n, &side| n.checked_mul(side));
    if wanted != Some(dwords.len()) {
        return Err(ArrayError::new(format!("the shape {shape:?} does not take {} dwords", dwords.len())));
    }
    let mut out = npy::header_of(kind.descr(), shape);
    out.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (_, kind) in ItemType::NAMES {
            let dwords: Vec<u32> = (0..12 * (kind.bytes() as u32 / 4)).map(|n| n.wrapping_mul(0x9e37_79b9)).collect();
            let bytes = npy_bytes(kind, &[2, 3, 2], &dwords).expect("an array");
            let items = Items::from_npy(&bytes).expect("an array");
            assert_eq!((items.shape.as_slice(), items.item_bytes), (&[2, 3, 2][..], kind.bytes()));
            assert_eq!(items.dwords(), dwords);
            assert!(npy_bytes(kind, &[5], &dwords).is_err());
        }
        assert_eq!(dwords(&[1, 0, 0, 0, 2]), [1, 2]);
    }

    #[test]
    fn other_orders_are_put_right() {
        // [[1, 2, 3], [4, 5, 6]] as big-endian 16-bit integers, column by column.
        let mut bytes = npy::header_of(">i2", &[2, 3]);
        let at = bytes.windows(5).position(|w| w == b"False").expect("the key");
        bytes.splice(at..at + 5, *b"True ");
        bytes.extend([1u16, 4, 2, 5, 3, 6].into_iter().flat_map(u16::to_be_bytes));
        let items = Items::from_npy(&bytes).expect("an array");
        assert_eq!(items.bytes, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        assert!(Items::from_npy(&bytes[..bytes.len() - 1]).is_err());
    }
}
