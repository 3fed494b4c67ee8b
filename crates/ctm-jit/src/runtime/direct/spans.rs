//! Wavefronts that follow one another in one call of machine code.

use super::{Direct, Task};
use crate::codegen::x86::Isa;
use crate::codegen::x86::masked::spans::{Block, Given};
use crate::launch::ramp::Coefficients;
use crate::launch::wavefronts::outputs::Surface;
use crate::launch::wavefronts::places::Steps;
use crate::passes::table::Pass;
use crate::runtime::wavefronts::Wavefronts;

/// How code goes from wavefront to wavefront.
pub struct Way<'a> {
    steps: Steps,
    /// What start values are made of; `None`: Rust code makes them, for one wavefront at a time.
    starts: Option<Vec<Coefficients>>,
    single: bool,
    divisor: Option<[f64; 3]>,
    surfaces: Vec<Surface<'a>>,
}

impl<'a> Way<'a> {
    /// `None` where it does not.
    pub fn of(of: &Wavefronts<'_>, direct: &'a Direct<'_>) -> Option<Self> {
        let isa = of.backend.isa()?;
        let single = of.starts.are_exact(&of.domain);
        let makes = !of.program.keeps && (single || isa == Isa::Avx512);
        let starts = of.starts.coefficients(&of.domain).filter(|_| makes);
        let all = of.waves.count().saturating_mul(of.lanes as u64);
        let fits = of.covered.is_none_or(|covered| 64 * covered.len() as u64 >= all && starts.is_some());
        let (steps, divisor, surfaces) = (of.waves.steps(), of.starts.divisor(), direct.outputs.surfaces());
        (Pass::Waves.is_on() && fits).then_some(Self { steps, starts, single, divisor, surfaces })
    }
}

/// What spans of a thread work on.
pub struct Spans<'a> {
    block: Block<'a>,
    /// Wavefronts of a call: code that counts nothing down does not look whether to stop.
    most: u64,
    /// Code makes start values.
    starts: bool,
}

impl<'a> Spans<'a> {
    /// `None` where there is no code for them.
    pub fn of(of: &Wavefronts<'_>, way: &'a Way<'a>) -> Option<Self> {
        let Way { steps, starts, single, divisor, surfaces } = way;
        let given = Given { steps, starts: starts.as_deref(), single: *single, divisor: *divisor, surfaces };
        let block = Block::new(of.backend.isa()?, of.lanes, given)?;
        let bound = of.program.bound.filter(|&bound| bound <= of.per_look);
        let most = bound.map_or(u64::MAX, |bound| (8 * of.per_look / bound.max(1)).max(1));
        let starts = starts.is_some();
        Some(Self { block, most: if starts { most } else { 1 }, starts })
    }
}

impl Task<'_, '_> {
    /// Runs wavefronts from one on and before `end`, in one call. Gives how many have ended, and `false` where the next one has to run by itself.
    pub(super) fn span(&mut self, spans: &mut Spans<'_>, index: u64, end: u64) -> (u64, bool) {
        let Self { of, direct, ref mut runner, .. } = *self;
        runner.begin(of, index, (0, u64::MAX), !spans.starts);
        let shared = runner.shared(of, direct.guest, (direct.uniforms, direct.bindings), self.part);
        let places = runner.places;
        let covered = of.covered.map(|all| (all, index * of.lanes as u64));
        let asked = of.waves.alike(index, end).min(spans.most);
        let mut waves = asked;
        let ended = loop {
            let Some((native, frame, wave)) = runner.span(of, &shared) else { return (0, false) };
            let ended = native.run_span(frame, &shared, wave, &mut spans.block, (&places, covered, waves));
            if ended.waves == waves || !of.counters || ended.waves == 0 {
                break ended;
            }
            // What the one that did not end has counted is among what has been counted. So the others run once more, to the same end.
            waves = ended.waves;
            runner.begin(of, index, (0, u64::MAX), false);
        };
        runner.note(ended.waves, ended.underflows);
        self.done.ended(of, (ended.waves, ended.processors), runner, direct.guest);
        self.done.counters.writes += ended.elements;
        self.done.counters.write_bytes += ended.bytes;
        (ended.waves, ended.waves == asked)
    }
}
