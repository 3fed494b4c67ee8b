//! Spans: consecutive wavefronts in one call of machine code.

use super::{Direct, Task};
use crate::codegen::x86::masked::spans::SpanParameters;
use crate::passes::table::Pass;
use crate::runtime::batches::written;
use crate::runtime::wavefronts::Wavefronts;

/// The parameters of a thread's spans.
pub struct Spans<'a> {
    given: SpanParameters<'a>,
    /// Wavefronts of a call: code that does not count instructions down does not test the stop flag.
    most: u64,
}

impl<'a> Spans<'a> {
    /// `None` where no code supports them.
    pub fn of(of: &'a Wavefronts<'_>, direct: &'a Direct<'_>) -> Option<Self> {
        of.backend.target().filter(|_| Pass::Waves.is_on())?;
        let all = of.waves.count().saturating_mul(of.lanes as u64);
        let is_short = |covered: &[u64]| (64 * covered.len() as u64) < all;
        if of.program.keeps || !of.starts.are_finite || of.covered.is_some_and(is_short) {
            return None;
        }
        // Spans that count may run wavefronts once more, and their values may be in the buffer by then.
        if of.counters && direct.outputs.conditional.is_some() {
            return None;
        }
        let bound = of.program.bound.filter(|&bound| bound <= of.per_look);
        let most = bound.map_or(u64::MAX, |bound| (8 * of.per_look / bound.max(1)).max(1));
        let given = SpanParameters {
            waves: &of.waves,
            starts: &of.starts,
            outputs: direct.outputs,
            covered: of.covered,
            survivors: of.survivors,
        };
        Some(Self { most, given })
    }
}

impl Task<'_, '_> {
    /// Runs wavefronts from one on and before `end`, in one call. Gives the number of ended ones, and `false` where the
    /// next one has to run alone.
    pub(super) fn span(&mut self, spans: &Spans<'_>, index: u64, end: u64) -> (u64, bool) {
        let Self { of, direct, ref mut runner, .. } = *self;
        let asked = of.waves.alike(index, end).min(spans.most);
        let mut waves = asked;
        let ended = loop {
            runner.begin(of, index, (0, u64::MAX), false);
            let shared = runner.shared(of, direct.given, self.part);
            let Some((native, frame, wave)) = runner.native(of, &shared) else { return (0, false) };
            let ended = native.run_span(frame, &shared, wave, &spans.given, index..index + waves);
            if ended.waves == waves || !of.counters || ended.waves == 0 {
                break ended;
            }
            // The counts include those of the wavefront that did not end. So the others run once more, with the same
            // result.
            waves = ended.waves;
        };
        self.done.ended(of, (ended.waves, ended.processors), runner, direct.given.guest);
        written(&mut self.done.counters, ended.stored);
        (ended.waves, ended.waves == asked)
    }
}
