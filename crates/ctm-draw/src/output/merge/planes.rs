//! Depths of lanes against stored ones, without stencil: one loop from the plane to the store, whose values stay in registers.

use super::compare::{Ways, compared, compared_floats};
use crate::lanes::{bits, mask};
use crate::setup::limited;

/// Depths of lanes: sums of one depth and the steps from there, within bounds.
pub(super) struct NewDepths<'d, const N: usize> {
    pub(super) first: f64,
    pub(super) steps: &'d [f64; N],
    pub(super) bounds: [f64; 2],
}

/// A test of depths as fractions or as floats of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct PlaneTest {
    /// Bytes of an element.
    pub(super) bytes: usize,
    /// Depths are floats; otherwise fractions.
    pub(super) is_float: bool,
    /// See [`crate::surface::depth::DepthFormat::turn`]: 8 or nothing.
    pub(super) is_turned: bool,
    /// The bits of depth in the first dword, turned back.
    pub(super) field: u32,
    pub(super) ways: Ways,
    /// The bits of depth that are written.
    pub(super) written: u32,
}

/// A depth of 0 to 1 as a fraction, whose largest value is `most`.
#[inline(always)]
pub(super) fn fraction(depth: f64, most: u32) -> u32 {
    // Sums with it are whole numbers, which are the low bits of the sum.
    const WHOLE: f64 = (1u64 << 52) as f64;
    (depth * f64::from(most) + WHOLE).to_bits() as u32
}

/// Bytes of elements, the first of which hold the dword of depth, turned by 8 bits or not.
trait DepthBytes: Copy {
    fn dword(self) -> u32;
    fn with(self, dword: u32) -> Self;
}

impl DepthBytes for [u8; 2] {
    #[inline(always)]
    fn dword(self) -> u32 {
        u16::from_le_bytes(self).into()
    }

    #[inline(always)]
    fn with(self, dword: u32) -> Self {
        (dword as u16).to_le_bytes()
    }
}

impl DepthBytes for [u8; 4] {
    #[inline(always)]
    fn dword(self) -> u32 {
        u32::from_le_bytes(self)
    }

    #[inline(always)]
    fn with(self, dword: u32) -> Self {
        dword.to_le_bytes()
    }
}

impl DepthBytes for [u8; 8] {
    #[inline(always)]
    fn dword(self) -> u32 {
        u64::from_le_bytes(self) as u32
    }

    #[inline(always)]
    fn with(self, dword: u32) -> Self {
        (u64::from_le_bytes(self) & !0xffff_ffff | u64::from(dword)).to_le_bytes()
    }
}

impl PlaneTest {
    /// Tests those lanes whose bits are set, and stores the depths of those that pass; gives their bits. `None`, and nothing is done: there are too few bytes.
    #[inline(always)]
    pub(super) fn test<const N: usize>(&self, bytes: &mut [u8], new: &NewDepths<'_, N>, marked: u32) -> Option<u32> {
        match (self.bytes, self.is_float, self.is_turned) {
            (2, ..) => self.each::<2, false, false, N>(bytes, new, marked),
            (8, ..) => self.each::<8, true, false, N>(bytes, new, marked),
            (_, true, _) => self.each::<4, true, false, N>(bytes, new, marked),
            (_, false, true) => self.each::<4, false, true, N>(bytes, new, marked),
            (_, false, false) => self.each::<4, false, false, N>(bytes, new, marked),
        }
    }

    #[inline(always)]
    fn each<const BYTES: usize, const FLOAT: bool, const TURNED: bool, const N: usize>(
        &self,
        bytes: &mut [u8],
        new: &NewDepths<'_, N>,
        marked: u32,
    ) -> Option<u32>
    where
        [u8; BYTES]: DepthBytes,
    {
        let stored = bytes.as_chunks_mut::<BYTES>().0.first_chunk_mut::<N>()?;
        let Self { field, ways, written, .. } = *self;
        let NewDepths { first, steps, bounds } = *new;
        let mut passes = [0; N];
        for n in 0..N {
            let depth = limited(first + steps[n], bounds);
            let element = stored[n].dword();
            let old = if TURNED { element.rotate_right(8) } else { element };
            let is_marked = mask(marked & 1 << n != 0);
            let (new, passed) = if FLOAT {
                let new = depth as f32;
                (new.to_bits(), compared_floats(new, f32::from_bits(old), ways))
            } else {
                let new = fraction(depth, field);
                (new, compared(new.cast_signed(), (old & field).cast_signed(), ways))
            };
            passes[n] = passed & is_marked;
            let written = passes[n] & written;
            let dword = old & !written | new & written;
            stored[n] = stored[n].with(if TURNED { dword.rotate_left(8) } else { dword });
        }
        Some(bits(&passes))
    }
}
