//! Copies of depth and stencil to a colour target, row by row. Truth: [`Merger::copy_depth`] of each pixel.

use super::Merger;
use crate::state::DepthCopy;
use crate::surface::format::TOGETHER;

/// Bytes of the largest element of depth.
const LARGEST: usize = 8;

impl Merger<'_, '_> {
    /// The copy that is all there is to do with pixels, of one sample each, so that no program need run for them.
    fn plain_copy(&self) -> Option<DepthCopy> {
        let (depth, to) = (self.open.depth.as_ref()?, self.open.colour[0].as_ref()?);
        let are_alike = depth.format.bytes() == to.colours.bytes() && depth.format.bytes() <= LARGEST;
        let is_inspected = self.watch.is_some() || self.losses.is_some();
        let is_plain = self.early && !is_inspected && !self.state.colour.resolve && !self.tests();
        self.state.depth.copy.filter(|_| is_plain && are_alike && self.state.raster.samples.count == 1)
    }

    /// Whether pixels in layer 0 are copied by [`Self::copy_row`].
    pub(crate) fn copies_rows(&self) -> bool {
        self.plain_copy().is_some()
    }

    /// Copies adjacent pixels of a row in layer 0.
    pub(crate) fn copy_row(&mut self, y: i32, [left, right]: [i32; 2]) {
        let Some(copy) = self.plain_copy() else { return };
        let (Some(depth), Some(to)) = (&self.open.depth, &mut self.open.colour[0]) else { return };
        let sample = if copy.first_covered { 0 } else { u32::from(copy.sample).min(7) };
        let size = depth.format.bytes();
        let field = |is_copied: bool, bits: u64| if is_copied { bits } else { 0 };
        let mask = field(copy.depth, depth.format.pack(0, u32::MAX, 0))
            | field(copy.stencil, depth.format.pack(0, 0, u8::MAX));
        let mask = &mask.to_le_bytes()[..size];
        let (mut from, mut old) = ([0; LARGEST * TOGETHER], [0; LARGEST * TOGETHER]);
        for x in (left..right).step_by(TOGETHER) {
            let bytes = size * ((right - x) as usize).min(TOGETHER);
            let (from, old) = (&mut from[..bytes], &mut old[..bytes]);
            depth.surface.read_row([x, y], sample, from);
            to.surface.read_row([x, y], 0, old);
            for (old, from) in old.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
                for ((old, from), mask) in old.iter_mut().zip(from).zip(mask) {
                    *old = *old & !mask | from & mask;
                }
            }
            to.surface.write_row([x, y], 0, old);
        }
        let pixels = u64::from(right.abs_diff(left));
        if !self.state.depth.counts_nothing {
            self.samples_passed += pixels;
        }
        self.pixels_written += pixels;
    }
}
