//! Spans in machine code.

use super::Direct;
use crate::codegen::x86::Isa;
use crate::codegen::x86::r700::spans::{Block, Given};
use crate::launch::r700::bindings::Binding;
use crate::launch::r700::outputs::Outputs;
use crate::launch::r700::outputs::Surface;
use crate::launch::r700::wave::{Guest, Shared};
use crate::passes::table::Pass;
use crate::runtime::r700::engine::Run;
use crate::runtime::r700::worker::{Member, Worker};
use ctm_exec::Counters;
use ctm_exec::watch::Part;

/// How code goes from wavefront to wavefront.
pub struct Way<'a> {
    isa: Isa,
    steps: crate::launch::r700::places::Steps,
    /// What start values are made of; `None`: Rust code makes them, for one wavefront at a time.
    starts: Option<Vec<crate::launch::grid::Coefficients>>,
    single: bool,
    divisor: Option<[f64; 3]>,
    surfaces: Vec<Surface<'a>>,
}

impl<'a> Way<'a> {
    /// Of a launch that stores there.
    pub fn of(run: &Run<'_>, outputs: &Outputs<'a>) -> Option<Self> {
        let domain = &run.launch.domain;
        let isa = run.backend.isa()?;
        let single = run.starts.are_exact(domain);
        let makes = !run.artifact.keeps && (single || isa == Isa::Avx512);
        let starts = run.starts.coefficients(domain).filter(|_| makes);
        let (divisor, surfaces) = (run.starts.divisor(), outputs.surfaces());
        let all = run.waves.count().saturating_mul(run.launch.wavefront.lanes() as u64);
        let fits = run.launch.covered.is_none_or(|covered| 64 * covered.len() as u64 >= all && starts.is_some());
        let steps = run.waves.steps();
        (Pass::Waves.is_on() && fits).then_some(Self { isa, steps, starts, single, divisor, surfaces })
    }

    fn given(&self) -> Given<'_> {
        let Self { steps, starts, single, divisor, surfaces, .. } = self;
        Given { steps, starts: starts.as_deref(), single: *single, divisor: *divisor, surfaces }
    }
}

/// What spans of a thread work on.
pub struct Spans<'a> {
    block: Block<'a>,
    /// Wavefronts of a call: code that counts nothing down does not look whether to stop.
    most: u64,
}

impl<'a> Spans<'a> {
    /// `None` where there is no code for them.
    pub fn new(run: &Run<'_>, direct: &'a Direct<'_>) -> Option<Self> {
        let way = direct.way.as_ref()?;
        let block = Block::new(way.isa, run.launch.wavefront.lanes(), way.given())?;
        let of_code = if run.artifact.may_exceed(run.per_look) { None } else { run.artifact.bound };
        let most = of_code.map_or(u64::MAX, |bound| (8 * run.per_look / bound.max(1)).max(1));
        Some(Self { block, most: if way.starts.is_none() { 1 } else { most } })
    }
}

impl Worker<'_> {
    /// Runs wavefronts from one on and before `end`, in one call. Gives how many have ended, and `false` where the next one is for the reference interpreter.
    pub(super) fn span(
        &mut self,
        (run, part): (&Run<'_>, &Part),
        spans: &mut Spans<'_>,
        direct: &Direct<'_>,
        (index, end): (u64, u64),
        bindings: &[Option<Binding<'_>>],
        counters: &mut Counters,
    ) -> (u64, bool) {
        if part.is_stopped() {
            return (0, false);
        }
        let artifact = self.artifact;
        let member = &mut self.members[0];
        member.begin(run, index, 0, direct.way.as_ref().is_none_or(|way| way.starts.is_none()));
        let shared = Shared {
            guest: Guest::R700(run.launch, direct.reads),
            fetches: &artifact.code.fetches,
            stores: &artifact.code.stores,
            reads_back: artifact.reads_back,
            uniforms: direct.uniforms,
            lanes: member.places.lanes,
            fuel: run.fuel,
            stop: part.flag(),
            bindings,
        };
        let covered = run.launch.covered.map(|all| (all, index * run.launch.wavefront.lanes() as u64));
        let mut waves = run.waves.alike(index, end).min(spans.most);
        let mut all = None;
        let ended = loop {
            let Some((native, frame)) = Member::code(&mut member.frame, artifact, run, &shared) else {
                return (0, false);
            };
            let block = &mut spans.block;
            let ended = native.run_span(frame, &shared, &mut member.wave, block, (&member.places, covered, waves));
            let ends = ended.waves == waves;
            let goes_on = *all.get_or_insert(ends);
            if ends || goes_on || !run.launch.counters || ended.waves == 0 {
                break ended;
            }
            // What the one that did not end has counted is among what has been counted. So the others run once more, to the same end.
            waves = ended.waves;
            member.begin(run, index, 0, false);
        };
        let goes_on = all.unwrap_or(false);
        let Member { wave, places, .. } = member;
        counters.groups += ended.waves;
        counters.processors += ended.processors;
        run.watch.done(ended.processors);
        counters.writes += ended.elements;
        counters.write_bytes += ended.bytes;
        if run.launch.counters && ended.waves > 0 {
            wave.count(counters);
            if places.lanes < run.launch.wavefront.lanes() {
                // Only the last wavefront may be short.
                run.count(&wave.visits, places.lanes as u64, counters);
            } else {
                self.visits.iter_mut().zip(&wave.visits).for_each(|(all, n)| *all += n);
            }
        }
        (ended.waves, goes_on)
    }
}
