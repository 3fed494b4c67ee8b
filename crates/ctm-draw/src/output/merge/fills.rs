//! Pieces whose pixels all leave the same in targets, in all of their samples.

use super::Merger;
use crate::rect::Rect;
use crate::setup::Setup;
use crate::state::Blend;
use crate::surface::value::FillValue;

impl Merger<'_, '_> {
    /// The outputs whose colours fill targets, where every pixel of a piece has the same (bit n = output n), if every pixel exports them; `None` where more than filling is to be
    /// done with the samples of its pixels.
    pub(crate) fn filled(&self, setup: &Setup, exported: u8) -> Option<u8> {
        let mut wanted = 0;
        for (n, plan) in self.plans.of.iter().enumerate() {
            let Some(plan) = plan else { continue };
            wanted |= if self.state.colour.multiwrite { 1 } else { 1 << n };
            wanted |= if plan.blend.as_ref().is_some_and(Blend::reads_source1) { 2 } else { 0 };
            if plan.reads_stored(self.state.colour.logic) {
                return None;
            }
        }
        let is_constant = !self.tests() || self.constant_depth(setup).is_some();
        (self.is_early_draw && is_constant && wanted & exported == wanted).then_some(wanted)
    }

    /// Fills a rectangle of targets with what every pixel of a piece leaves there in all of its samples. `colours`: by output; none without a program.
    pub(crate) fn fill(&mut self, setup: &Setup, rect: Rect, colours: Option<&[[u32; 4]; 8]>) {
        let rows = (rect.bottom - rect.top).max(0) as usize;
        let spans = vec![[rect.left, rect.right]; rows];
        if let Some(value) = self.constant_depth(setup).filter(|_| self.tests()) {
            self.fill_depth(rect.top, &spans, setup.layer, value);
        }
        let state = &self.state.colour;
        let mut is_written = false;
        for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.of).enumerate() {
            let (Some(target), Some(plan), Some(colours)) = (target, plan, colours) else { continue };
            let value = colours[if state.multiwrite { 0 } else { n }];
            let bits = plan.after(&target.colours, state, n, 0, value, colours[1]);
            target.surface.fill(rect.top, &spans, setup.layer, FillValue { bits, mask: plan.bits });
            is_written = true;
        }
        let pixels = u64::from(rect.right.abs_diff(rect.left)) * rows as u64;
        if !self.state.depth.counts_nothing {
            self.samples_passed += pixels * u64::from(self.state.raster.samples.count);
        }
        self.pixels_written += if is_written { pixels } else { 0 };
    }
}
