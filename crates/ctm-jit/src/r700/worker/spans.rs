//! Wavefronts that store what they export themselves, each a group by itself: several in one call of machine code, where there is code for that.

use super::{Left, Member, Reader, Referred, Worker};
use crate::lanes::Refer;
use crate::r700::engine::Run;
use crate::r700::outputs::Outputs;
use crate::r700::wave::Binding;
use crate::{
    backend::Backend,
    r700::wave::Shared,
    x86::r700::spans::{Block, Given, Surface},
};
use ctm_exec::r700::Memory;
use ctm_exec::{Counters, Fault};
use std::time::{Duration, Instant};

/// What wavefronts of a launch read and write.
pub struct Direct<'a> {
    pub outputs: Outputs<'a>,
    pub reads: Box<dyn Memory + 'a>,
    pub uniforms: &'a [u32],
    /// What code stores to.
    pub surfaces: Vec<Surface<'a>>,
    /// How code goes from wavefront to wavefront; `None` where it does not.
    pub way: Option<Way>,
}

/// How code goes from wavefront to wavefront.
pub struct Way {
    steps: crate::r700::places::Steps,
    /// What start values are made of; `None`: Rust code makes them, for one wavefront at a time.
    starts: Option<Vec<crate::grid::Coefficients>>,
    single: bool,
}

impl Way {
    /// Of a launch.
    pub fn of(run: &Run<'_>) -> Option<Self> {
        let domain = &run.launch.domain;
        let starts = run.starts.coefficients(domain).filter(|_| !run.artifact.keeps);
        let single = run.starts.are_exact(domain);
        (run.backend == Backend::Avx512).then(|| Self { steps: run.waves.steps(), starts, single })
    }

    fn given<'a>(&'a self, surfaces: &'a [Surface<'a>]) -> Given<'a> {
        Given { steps: &self.steps, starts: self.starts.as_deref(), single: self.single, surfaces }
    }
}

/// How long a call may take when time is limited, if wavefronts take as long as those before them.
const CALL: Duration = Duration::from_millis(2);

impl<'a> Worker<'a> {
    /// Runs wavefronts up to the first fault.
    pub fn direct(
        &mut self,
        run: &Run<'_>,
        direct: &Direct<'_>,
        bindings: &[Option<Binding<'_>>],
        spans: &mut Option<Spans<'_>>,
        waves: std::ops::Range<u64>,
        counters: &mut Counters,
    ) -> Result<(), Fault> {
        let mut next = waves.start;
        while next < waves.end {
            if let Some(spans) = spans {
                let (ended, goes_on) = self.span(run, spans, direct, (next, waves.end), bindings, counters);
                next += ended;
                if goes_on {
                    continue;
                }
                self.left(run, direct, next, counters)?;
                next += 1;
                continue;
            }
            match self.here(run, next, direct.uniforms, bindings, &*direct.reads, counters) {
                Ok(_) => {
                    let written = self.store(&direct.outputs);
                    counters.writes += written.elements;
                    counters.write_bytes += written.bytes;
                }
                Err(Refer) => self.left(run, direct, next, counters)?,
            }
            next += 1;
        }
        Ok(())
    }

    /// Runs a wavefront by the reference interpreter, and stores what it exports.
    fn left(&mut self, run: &Run<'_>, direct: &Direct<'_>, index: u64, counters: &mut Counters) -> Result<(), Fault> {
        let mut memory = Reader { memory: &*direct.reads };
        if let Left::Reference(waves) = self.reference(run, index, &mut memory, counters)? {
            for (at, exports) in waves.iter().flat_map(|Referred { exports, .. }| exports) {
                let written = direct.outputs.send(*at, exports);
                counters.writes += written.elements;
                counters.write_bytes += written.bytes;
            }
        }
        Ok(())
    }
}

/// What spans of a thread work on.
pub struct Spans<'a> {
    block: Block<'a>,
    /// Wavefronts of a call, where time is limited.
    most: u64,
}

impl<'a> Spans<'a> {
    /// `None` where there is no code for them.
    pub fn new(run: &Run<'_>, direct: &'a Direct<'_>) -> Option<Self> {
        let way = direct.way.as_ref()?;
        let block = Block::new(run.launch.wavefront.lanes(), way.given(&direct.surfaces))?;
        Some(Self { block, most: if way.starts.is_none() || run.deadline.is_some() { 1 } else { u64::MAX } })
    }
}

impl Worker<'_> {
    /// Runs wavefronts from one on and before `end`, in one call. Gives how many have ended, and `false` where the next one is for the reference interpreter.
    fn span(
        &mut self,
        run: &Run<'_>,
        spans: &mut Spans<'_>,
        direct: &Direct<'_>,
        (index, end): (u64, u64),
        bindings: &[Option<Binding<'_>>],
        counters: &mut Counters,
    ) -> (u64, bool) {
        let began = run.deadline.map(|deadline| (deadline, Instant::now()));
        if began.is_some_and(|(deadline, now)| now >= deadline) {
            return (0, false);
        }
        let artifact = self.artifact;
        let member = &mut self.members[0];
        member.begin(run, index, 0, direct.way.as_ref().is_none_or(|way| way.starts.is_none()));
        let shared = Shared {
            launch: run.launch,
            memory: &*direct.reads,
            fetches: &artifact.code.fetches,
            stores: &artifact.code.stores,
            reads_back: artifact.reads_back,
            uniforms: direct.uniforms,
            lanes: member.places.lanes,
            fuel: run.fuel,
            bindings,
        };
        let mut waves = run.waves.alike(index, end).min(spans.most);
        let mut all = None;
        let ended = loop {
            let Some((native, frame)) = Member::code(&mut member.frame, artifact, run, &shared) else {
                return (0, false);
            };
            let block = &mut spans.block;
            let ended = native.run_span(frame, &shared, &mut member.wave, block, (&member.places, waves));
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
        if let Some((_, began)) = began
            && direct.way.as_ref().is_some_and(|way| way.starts.is_some())
        {
            spans.most = if began.elapsed() < CALL / 2 { spans.most.saturating_mul(2) } else { 1 };
        }
        let Member { wave, places, .. } = member;
        counters.groups += ended.waves;
        counters.processors += ended.processors;
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
