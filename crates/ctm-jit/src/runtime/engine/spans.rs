//! Groups that lie side by side, in one row of quads or in two, are *spans*: machine code goes over them by itself.

use super::direct::{Done, Scene};
use super::worker::{Attempts, Engines, Job, Worker};
use crate::codegen::x86::{Native, Span, SpanEnd, StartsOfSpan};
use crate::launch::grid::{Ramp, Strip};
use crate::launch::lanes::{LANES, Mask, Row, Tallies};
use ctm_exec::Position;
use ctm_exec::watch::Part;

/// Groups of a span whose start values have to be made beforehand.
const GROUPS_PREPARED: u64 = 24;

impl Scene<'_> {
    /// Groups from this place of the order on that code goes over by itself.
    pub(super) fn strip(&self, next: u64, end: u64) -> Option<(&Native, Strip)> {
        let native = self.run.native.filter(|native| native.spans)?;
        let strip = self.order.strip(next, end);
        (strip.groups > 0).then_some((native, strip))
    }

    /// Runs groups that lie side by side, from this place of the order on.
    pub(super) fn span(
        &self,
        native: &Native,
        worker: &mut Worker,
        first: u64,
        strip: Strip,
        part: &Part,
        done: &mut Done,
    ) {
        let copies = native.copies as u64;
        let (mut next, end) = (first, first + strip.groups);
        while next < end {
            let left = Strip { groups: end - next, ..strip };
            let (ended, many) = match &mut worker.machine {
                Engines::Native(attempts) if attempts.are_worth_it() => {
                    self.attempt((native, attempts), &mut worker.starts, &mut worker.visits, next, left, done)
                }
                // Careful code runs pass by pass.
                _ => (SpanEnd::Underflow { left: left.groups as u32 }, left.groups),
            };
            let (SpanEnd::Left { left } | SpanEnd::Underflow { left } | SpanEnd::BailOut { left }) = ended else {
                next += many;
                continue;
            };
            next += many - u64::from(left);
            let mut wave: Vec<Job> = (next..next + copies.min(left.into()))
                .map(|n| Job { group: self.order.group(n), covered: Mask::MAX })
                .collect();
            next += wave.len() as u64;
            match ended {
                SpanEnd::Left { .. } => {
                    worker.places.clear();
                    worker.places.extend(wave.iter().map(|job| self.run.grid.places(job.group)));
                    if let Engines::Native(attempts) = &mut worker.machine {
                        native.collect(&mut attempts.frame, &mut worker.lanes[..wave.len()]);
                    }
                    self.write(worker, &wave, done);
                }
                SpanEnd::BailOut { .. } => done.refused.append(&mut wave),
                SpanEnd::Done | SpanEnd::Underflow { .. } => self.pass(worker, &mut wave, part, true, done),
            }
        }
    }

    /// Runs groups that lie side by side up to the first pass that code does not finish; says how it ended, and how many groups it would have
    /// been.
    fn attempt(
        &self,
        (native, attempts): (&Native, &mut Attempts),
        starts: &mut Vec<Row>,
        visits: &mut [crate::launch::lanes::Visits],
        first: u64,
        Strip { groups: most, rows }: Strip,
        done: &mut Done,
    ) -> (SpanEnd, u64) {
        let (run, copies) = (self.run, native.copies);
        let place = run.grid.first(self.order.group(first));
        // Visits of a pass that does not count must not be among the others'.
        let most = if native.counts { most.min(copies as u64) } else { most };
        let gain = |ramp: &Ramp| {
            let last_row = place.j + 2 * (rows as u32 - 1);
            let of_row = |j| ramp.gain(place.i, j, most.div_ceil(rows));
            of_row(place.j).and(of_row(last_row)).map(|gain| gain * (copies as u64 / rows) as f32)
        };
        let gains: Option<Vec<f32>> = run.ramps.iter().map(gain).collect();
        starts.clear();
        let groups = if gains.is_some() { most } else { most.min(GROUPS_PREPARED) };
        let prepared = if gains.is_some() { copies as u64 } else { groups.next_multiple_of(copies as u64) };
        // What has no meaning may be anything: groups behind the last one are as the first.
        starts.reserve(prepared as usize * run.ramps.len());
        for group in 0..prepared {
            let Position { i, j } = run.grid.first(self.order.group(first + if group < groups { group } else { 0 }));
            starts.extend(run.ramps.iter().map(|ramp| ramp.quads(i, j)));
        }
        let span = Span {
            groups: groups as u32,
            starts: match &gains {
                Some(steps) => StartsOfSpan::Steps { first: starts, steps },
                None => StartsOfSpan::Ready(starts),
            },
            rows: rows as u8,
            targets: self.targets.of_span(place, Strip { groups, rows }, &run.artifact.outputs),
        };
        visits.fill(crate::launch::lanes::Visits::default());
        let ended = native.run_span(&mut attempts.frame, &span, run.launch.constants, &self.source(), visits);
        let passed = match ended {
            SpanEnd::Done => groups,
            SpanEnd::Left { left } | SpanEnd::Underflow { left } | SpanEnd::BailOut { left } => {
                groups - u64::from(left)
            }
        };
        attempts.made += groups.div_ceil(copies as u64).min(passed / copies as u64 + 1);
        attempts.failed += u64::from(matches!(ended, SpanEnd::Underflow { .. }));
        if matches!(ended, SpanEnd::Done | SpanEnd::Left { .. }) {
            done.did.pass(false, visits, &Tallies::default());
        }
        done.counters.groups += passed;
        done.counters.processors += passed * LANES as u64;
        for (output, target) in span.targets.iter().enumerate() {
            let (whole, partial) = (target.written(), native.partial(&mut attempts.frame, output));
            let groups = passed - partial.groups;
            done.counters.writes += groups * whole.elements + partial.elements;
            done.counters.write_bytes += groups * whole.bytes + 4 * partial.channels;
        }
        (ended, groups)
    }
}
