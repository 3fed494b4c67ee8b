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
        let is_of_one =
            |copy: &DepthCopy| self.state.raster.samples.count == 1 && (copy.first_covered || copy.sample == 0);
        self.state.depth.copy.filter(|copy| is_plain && are_alike && is_of_one(copy))
    }

    /// Whether pixels in layer 0 are copied by [`Self::copy_row`].
    pub(crate) fn copies_rows(&self) -> bool {
        self.plain_copy().is_some()
    }

    /// Copies adjacent pixels of a row in layer 0.
    pub(crate) fn copy_row(&mut self, y: i32, [left, right]: [i32; 2]) {
        let Some(copy) = self.plain_copy() else { return };
        let (Some(depth), Some(to)) = (&self.open.depth, &mut self.open.colour[0]) else { return };
        let size = depth.format.bytes();
        let field = |is_copied: bool, bits: u64| if is_copied { bits } else { 0 };
        let mask = field(copy.depth, depth.format.pack(0, u32::MAX, 0))
            | field(copy.stencil, depth.format.pack(0, 0, u8::MAX));
        // The mask of each element in eight bytes.
        let mask = match size {
            2 => mask * 0x0001_0001_0001_0001,
            4 => mask * 0x0000_0001_0000_0001,
            _ => mask,
        };
        let (mut from, mut old) = ([0; LARGEST * TOGETHER], [0; LARGEST * TOGETHER]);
        for x in (left..right).step_by(TOGETHER) {
            let bytes = size * ((right - x) as usize).min(TOGETHER);
            depth.surface.read_row([x, y], 0, &mut from[..bytes]);
            to.surface.read_row([x, y], 0, &mut old[..bytes]);
            for (old, from) in old.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
                let [before, new] = [*old, *from].map(u64::from_le_bytes);
                *old = (before & !mask | new & mask).to_le_bytes();
            }
            to.surface.write_row([x, y], 0, &old[..bytes]);
        }
        let pixels = u64::from(right.abs_diff(left));
        if !self.state.depth.counts_nothing {
            self.samples_passed += pixels;
        }
        self.pixels_written += pixels;
    }
}
