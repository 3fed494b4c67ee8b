//! Bands of large pieces whose program or alpha test may drop pixels: tests of depth and stencil come after it.
//!
//! No pixel of a piece depends on another one of it. So where a failed test leaves depth and stencil as they are, pixels are tested before the program without
//! writes, the launch stores colours of the survivors itself, and these are tested once more, with writes. Elsewhere colours wait until the survivors are tested.

use super::batch::{Batch, LateBand, staged_window};
use crate::lanes::{LANES, Shape};
use crate::output::merge::Sources;
use crate::pixel::shade::Shader;
use crate::program::LaunchOutput;
use crate::setup::piece::Piece;
use crate::state::DrawError;

impl Batch<'_, '_, '_, '_> {
    /// Draws them.
    pub(super) fn late_band(
        &mut self,
        piece: &Piece,
        band: usize,
        shader: &Shader<'_>,
        LateBand { mut covered, starts, first, outputs, is_merged }: LateBand,
    ) -> Result<(), DrawError> {
        let [quads, pixels] = covered.count();
        self.shaded[0] += quads;
        self.shaded[1] += pixels;
        self.settle(covered.rect);
        let merger = &mut self.mergers[band];
        let is_probed = merger.is_probed();
        if is_probed {
            merger.probe_band(&piece.setup, &mut covered);
            if covered.count()[1] == 0 {
                return Ok(());
            }
        }
        let survivors = shader.takes_tests().then(|| covered.no_lanes());
        let keeps = merger.keeps().filter(|_| shader.takes_tests());
        let is_tested = keeps.is_some();
        let fault = |fault| DrawError::Program { stage: "pixel", fault };
        if is_merged {
            let (window, epilogues) = merger.merged_window(first[1]);
            let output = LaunchOutput { window, epilogues, keeps: keeps.as_ref(), survivors: survivors.as_deref() };
            shader.run_band(&covered, &starts, first, output).map_err(fault)?;
        } else {
            let window = staged_window(&mut self.staged, covered.rect, outputs);
            let output =
                LaunchOutput { window, epilogues: &[], keeps: keeps.as_ref(), survivors: survivors.as_deref() };
            shader.run_band(&covered, &starts, first, output).map_err(fault)?;
        }
        if let Some(survivors) = survivors {
            covered.keep(survivors);
        }
        if let (Some(test), false) = (merger.alpha_test(), is_tested) {
            let rect = covered.rect;
            let width = (rect.right - rect.left) as usize;
            let colours = self.staged[0].as_slice();
            covered.only(Shape::Row, |[x, y], marks| {
                let first = (y - rect.top) as usize * width + (x - rect.left) as usize;
                for (marked, first) in marks.iter_mut().zip((first..).step_by(LANES)) {
                    let passes = |column: &usize| {
                        let colour = colours.get(first + column);
                        colour.is_some_and(|colour| test.passes(f32::from_bits(colour[3])))
                    };
                    let passed = (0..LANES).filter(|column| *marked >> column & 1 == 1 && passes(column));
                    *marked = passed.fold(0, |set, n| set | 1 << n);
                }
            });
        }
        if merger.tests() && !(is_probed && merger.writes_nothing(&piece.setup)) {
            merger.test_band(&piece.setup, &mut covered);
        }
        merger.count(covered.count()[1]);
        if !is_merged {
            merger.merge_band(&covered, &Sources::Each(&self.staged));
        }
        Ok(())
    }
}
