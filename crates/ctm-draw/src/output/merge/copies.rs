//! Copies of depth and stencil to a colour target. Truth: [`Merger::copy_depth`] of each pixel.

use super::Merger;
use crate::state::DepthCopy;
use crate::surface::copy::LARGEST_COPIED;

impl Merger<'_, '_> {
    /// The copy that is all there is to do with pixels, of one sample each, so that no program need run for them.
    fn plain_copy(&self) -> Option<DepthCopy> {
        let (depth, to) = (self.open.depth.as_ref()?, self.open.colour[0].as_ref()?);
        let are_alike = depth.format.bytes() == to.colours.bytes() && depth.format.bytes() <= LARGEST_COPIED;
        let is_inspected = self.watch.is_some() || self.losses.is_some();
        let is_plain = self.early && !is_inspected && !self.state.colour.resolve && !self.tests();
        let is_of_one =
            |copy: &DepthCopy| self.state.raster.samples.count == 1 && (copy.first_covered || copy.sample == 0);
        self.state.depth.copy.filter(|copy| is_plain && are_alike && is_of_one(copy))
    }

    /// Whether pixels in layer 0 are copied by [`Self::copy_rows`].
    pub(crate) fn copies_rows(&self) -> bool {
        self.plain_copy().is_some()
    }

    /// Copies pixels of layer 0: of a span of columns, from the first up to the one after the last, in each row from `top` on.
    pub(crate) fn copy_rows(&mut self, top: i32, spans: &[[i32; 2]]) {
        let Some(copy) = self.plain_copy() else { return };
        let (Some(depth), Some(to)) = (&mut self.open.depth, &mut self.open.colour[0]) else { return };
        let field = |is_copied: bool, bits: u64| if is_copied { bits } else { 0 };
        let mask = field(copy.depth, depth.format.pack(0, u32::MAX, 0))
            | field(copy.stencil, depth.format.pack(0, 0, u8::MAX));
        // The mask of each element in eight bytes.
        let mask = match depth.format.bytes() {
            2 => mask * 0x0001_0001_0001_0001,
            4 => mask * 0x0000_0001_0000_0001,
            _ => mask,
        };
        to.surface.copy_from(&mut depth.surface, top, spans, mask);
        let pixels: u64 = spans.iter().map(|&[left, right]| u64::from((right - left).max(0).unsigned_abs())).sum();
        if !self.state.depth.counts_nothing {
            self.samples_passed += pixels;
        }
        self.pixels_written += pixels;
    }
}
