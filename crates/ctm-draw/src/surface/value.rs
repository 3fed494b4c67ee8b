//! Values of elements that are stored again and again.

/// Rows and columns of a tile.
pub(super) const TILE: i32 = 8;

/// A value for pixels: the bits of an element, and the mask of written bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FillValue {
    pub(crate) bits: u128,
    pub(crate) mask: u128,
}

impl FillValue {
    /// An element's bits after a store to it.
    #[inline]
    pub(super) const fn after(self, stored: u128) -> u128 {
        stored & !self.mask | self.bits & self.mask
    }
}

/// Bytes of a pattern: whole elements of every size.
const PATTERN: usize = 64;

/// A value again and again.
pub(super) struct Pattern {
    bits: [u8; PATTERN],
    mask: [u8; PATTERN],
    is_whole: bool,
}

impl Pattern {
    pub(super) fn new(value: FillValue, element_bytes: u32) -> Self {
        let repeated = |of: u128| std::array::from_fn(|n| of.to_le_bytes()[n % (element_bytes.clamp(1, 16) as usize)]);
        let mask = repeated(value.mask);
        Self { bits: repeated(value.bits & value.mask), mask, is_whole: mask == [u8::MAX; PATTERN] }
    }

    /// Stores the value in whole elements side by side.
    pub(super) fn store(&self, bytes: &mut [u8]) {
        let (whole, rest) = bytes.as_chunks_mut::<PATTERN>();
        if self.is_whole {
            whole.fill(self.bits);
            if !rest.is_empty() {
                rest.copy_from_slice(&self.bits[..rest.len()]);
            }
            return;
        }
        let merge = |to: &mut [u8]| {
            for (byte, (bits, mask)) in to.iter_mut().zip(self.bits.iter().zip(&self.mask)) {
                *byte = *byte & !mask | bits;
            }
        };
        whole.iter_mut().for_each(|chunk| merge(chunk));
        merge(rest);
    }
}
