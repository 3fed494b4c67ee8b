//! Wavefronts that follow one another in one call of machine code.

use super::{Direct, Task};
use crate::codegen::x86::Isa;
use crate::codegen::x86::masked::spans::{Block, Given};
use crate::passes::table::Pass;
use crate::runtime::batches::written;
use crate::runtime::wavefronts::Wavefronts;

/// What spans of a thread work on.
pub struct Spans<'a> {
    block: Block<'a>,
    /// Wavefronts of a call: code that counts nothing down does not look whether to stop.
    most: u64,
    /// Code makes start values; otherwise Rust code does, for one wavefront at a time.
    starts: bool,
}

impl<'a> Spans<'a> {
    /// `None` where there is no code for them.
    pub fn of(of: &'a Wavefronts<'_>, direct: &'a Direct<'_>) -> Option<Self> {
        let isa = of.backend.isa().filter(|_| Pass::Waves.is_on())?;
        let single = of.starts.are_exact(&of.domain);
        let makes = !of.program.keeps && (single || isa == Isa::Avx512);
        let starts = makes && of.starts.coefficients(&of.domain).all(|of| of.is_some());
        let all = of.waves.count().saturating_mul(of.lanes as u64);
        if of.covered.is_some_and(|covered| (64 * covered.len() as u64) < all || !starts) {
            return None;
        }
        let (steps, outputs) = (of.waves.steps(), direct.outputs.0.as_slice());
        let given = Given { steps, starts: starts.then_some(&of.starts), single, outputs };
        let block = Block::new(isa, of.lanes, given, &of.program.blocks)?;
        let bound = of.program.bound.filter(|&bound| bound <= of.per_look);
        let most = bound.map_or(u64::MAX, |bound| (8 * of.per_look / bound.max(1)).max(1));
        Some(Self { block, most: if starts { most } else { 1 }, starts })
    }
}

impl Task<'_, '_> {
    /// Runs wavefronts from one on and before `end`, in one call. Gives how many have ended, and `false` where the next one has to run by itself.
    pub(super) fn span(&mut self, spans: &mut Spans<'_>, index: u64, end: u64) -> (u64, bool) {
        let Self { of, direct, ref mut runner, .. } = *self;
        runner.begin(of, index, (0, u64::MAX), !spans.starts);
        let shared = runner.shared(of, direct.given, self.part);
        let covered = of.covered.map(|all| (all, index * of.lanes as u64));
        let asked = of.waves.alike(index, end).min(spans.most);
        let mut waves = asked;
        let ended = loop {
            let Some((native, frame, wave)) = runner.span(of, &shared) else { return (0, false) };
            let ended = native.run_span(frame, &shared, wave, &mut spans.block, (covered, waves));
            if ended.waves == waves || !of.counters || ended.waves == 0 {
                break ended;
            }
            // What the one that did not end has counted is among what has been counted. So the others run once more, to the same end.
            waves = ended.waves;
            runner.begin(of, index, (0, u64::MAX), false);
        };
        runner.note(ended.waves, ended.underflows);
        self.done.ended(of, (ended.waves, ended.processors), runner, direct.given.guest);
        written(&mut self.done.counters, ended.stored);
        (ended.waves, ended.waves == asked)
    }
}
