//! Wavefronts that follow one another in a row of quads and store what they export themselves: one call of machine code goes over all of them.

use super::{Member, Worker};
use crate::r700::engine::Run;
use crate::r700::outputs::Outputs;
use crate::r700::wave::Shared;
use crate::x86::r700::spans::{Span, SpanEnd};
use ctm_exec::Counters;
use ctm_exec::r700::Memory;

/// How spans went: those of which too many end early are not worth their beginning.
#[derive(Clone, Copy, Default)]
pub(super) struct Attempts {
    made: u64,
    ended_early: u64,
}

impl Attempts {
    const fn are_worth_it(self) -> bool {
        self.ended_early <= 8 + self.made / 2
    }
}

impl Worker<'_> {
    /// Runs wavefronts from this one on and before `end`, each a group by itself, of a launch that cannot fault; they store what they export. Gives how
    /// many have ended: none where code does not go over several by itself.
    pub fn span(
        &mut self,
        run: &Run<'_>,
        outputs: &Outputs<'_>,
        (index, end): (u64, u64),
        (uniforms, memory): (&[u32], &dyn Memory),
        counters: &mut Counters,
    ) -> u64 {
        let waves = run.waves.follow(index, end);
        if waves < 2 || !self.attempts.are_worth_it() {
            return 0;
        }
        let exports = &self.artifact.exports;
        let artifact = self.artifact;
        let lanes = run.launch.wavefront.lanes();
        let shared = Shared {
            launch: run.launch,
            memory,
            fetches: &artifact.code.fetches,
            stores: &artifact.code.stores,
            reads_back: artifact.reads_back,
            uniforms,
            lanes,
            fuel: run.fuel,
            bindings: &[],
        };
        let member = &mut self.members[0];
        if !Member::code(&mut member.frame, artifact, run, &shared).is_some_and(|(native, _)| native.spans) {
            return 0;
        }
        member.begin(run, index, 0);
        let Member { frame, wave, places, .. } = member;
        let Some(gains) = run.starts.gains(places, waves) else { return 0 };
        let Some(targets) = outputs.of_span(places, waves) else { return 0 };
        let Some((native, frame)) = Member::code(frame, artifact, run, &shared) else { return 0 };
        let span = Span { waves: waves as u32, gains: &gains, targets: &targets };
        let ended = native.run_span(frame, &shared, wave, &span);
        let passed = match ended {
            Ok(SpanEnd::Done) => waves,
            Ok(SpanEnd::Left(left)) | Err((_, left)) => waves - u64::from(left),
        };
        self.attempts.made += 1 + passed;
        counters.writes += passed * targets.iter().flatten().count() as u64 * lanes as u64;
        let channels: usize = targets.iter().flatten().map(|target| target.channels).sum();
        counters.write_bytes += passed * 4 * (channels * lanes) as u64;
        let mut all = passed;
        match ended {
            Ok(SpanEnd::Done) => {}
            Ok(SpanEnd::Left(_)) => {
                self.attempts.ended_early += 1;
                run.waves.place(index + passed, places);
                let written = outputs.store(places, wave.valid, |place| wave.written[exports[place]], &wave.exports);
                counters.writes += written.elements;
                counters.write_bytes += written.bytes;
                all += 1;
            }
            // What has been counted of those that ended is lost with the one that did not; nothing leads there.
            Err(_) => self.attempts.ended_early += 1,
        }
        wave.count(counters);
        self.visits.iter_mut().zip(&wave.visits).for_each(|(all, n)| *all += n);
        counters.groups += all;
        counters.processors += all * lanes as u64;
        all
    }
}
