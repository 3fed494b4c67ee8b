//! Launches over memory that lets engines write: each group's outputs are written as soon as it has ended, in any order.
//!
//! A group that may fault is left to the reference interpreter before anything of it is written; those behind it may have been written then.
//!
//! Groups that lie side by side, in one row of quads or in two, are *spans*: machine code goes over them by itself. Odd groups (at the ends of rows, not wholly covered,
//! of fewer than 16 lanes) run pass by pass, and what they leave is written here.

use super::Source;
use super::run::Run;
use super::worker::{AllVisits, Attempts, Engines, Held, Job, Worker, no_visits};
use crate::direct::{self, Targets, Views};
use crate::grid::{Order, Ramp, Strip};
use crate::lanes::{LANES, Mask, Row};
use crate::work::{share, threads};
use crate::x86::{Native, Span, SpanEnd, StartsOfSpan};
use ctm_exec::watch::Part;
use ctm_exec::x1k::Memory;
use ctm_exec::{Counters, Position};
use std::ops::Range;

/// Groups of a task: as many as make this many tasks for each thread, within bounds. Tasks are small as groups differ in cost, and large as
/// each fills some pages of output.
const TASKS_PER_THREAD: u64 = 16;
const GROUPS_PER_TASK: [u64; 2] = [64, 128];
/// Groups of a span whose start values have to be made beforehand.
const GROUPS_PREPARED: u64 = 24;

/// Instructions of groups that code goes over before it is looked whether to stop, if one group has no more.
const INSTRUCTIONS_PER_STRIP: u64 = 1 << 20;

/// What a task left.
struct Done {
    visits: AllVisits,
    counters: Counters,
    refused: Vec<Job>,
    /// Places of the order that it did not come to, as it was stopped.
    left: Range<u64>,
}

/// What tasks work on.
struct Scene<'a> {
    run: &'a Run<'a>,
    native: &'a Native,
    targets: Targets<'a>,
    views: &'a Views<'a>,
    order: Order<'a>,
}

impl Run<'_> {
    /// Runs the groups of a launch, if memory lets us write; gives the first group that is left, and those that
    /// did not run after all: some, and where the launch was stopped all that its tasks did not come to.
    pub(super) fn write_directly(&mut self, memory: &mut dyn Memory) -> (u64, Vec<Job>, Vec<Range<u64>>) {
        let none = (0, Vec::new(), Vec::new());
        let Some(native) = self.native.filter(|_| !self.counts_down) else { return none };
        if memory.outputs_alias_inputs() {
            return none;
        }
        let inputs = std::array::from_fn(|index| memory.input(index as u8));
        let last = Position { i: self.launch.domain.i1, j: self.launch.domain.j1 };
        let halves = memory.direct().and_then(|d| direct::halves(d, inputs, &self.artifact.code, &self.grid, last));
        let Some((views, targets)) = halves else { return none };
        let groups = self.grid.groups();
        // All passes but the last of a task are full.
        let copies = native.copies as u64;
        let [fewest, most] = GROUPS_PER_TASK;
        let per_task = if groups <= fewest || self.launch.threads == 1 {
            most
        } else {
            (groups / (TASKS_PER_THREAD * threads(self.launch.threads) as u64)).clamp(fewest, most)
        } / copies
            * copies;
        let scene = Scene { run: self, native, targets, views: &views, order: self.grid.order(native.copies) };
        let tasks = groups.div_ceil(per_task) as usize;
        let done = share(
            self.launch.threads,
            tasks,
            || self.worker(),
            |worker, task| {
                let first = task as u64 * per_task;
                scene.task(worker, first..(first + per_task).min(groups))
            },
        );
        let (mut refused, mut left) = (Vec::new(), Vec::new());
        for mut done in done {
            refused.append(&mut done.refused);
            left.push(done.left);
            self.add_visits(&done.visits);
            self.counters.add(&done.counters);
        }
        // The first fault in the order of the domain is the launch's.
        refused.sort_unstable_by_key(|job| job.group);
        (groups, refused, left)
    }

    /// The groups at these places of the order, if some of their processors are in the domain.
    pub(super) fn jobs_at(&self, places: Range<u64>) -> Vec<Job> {
        let copies = self.native.map_or(1, |native| native.copies);
        let order = self.grid.order(copies);
        places.filter_map(|n| self.job(order.group(n))).collect()
    }

    /// A group, if some of its processors are in the domain.
    fn job(&self, group: u64) -> Option<Job> {
        let covered = self.grid.inside(&self.grid.places(group)) & self.existing(group);
        (covered != 0).then_some(Job { group, covered })
    }
}

impl Scene<'_> {
    fn source(&self) -> Source<'_> {
        Source::reading(self.views, Some(self.views))
    }

    fn task(&self, worker: &mut Held<'_>, groups: Range<u64>) -> Done {
        let worker = worker.get();
        let mut done = Done {
            visits: no_visits(&self.run.artifact.code),
            counters: Counters::default(),
            refused: Vec::new(),
            left: 0..0,
        };
        let full = self.run.grid.full_groups();
        let part = self.run.watch.part(groups.start);
        let mut next = groups.start;
        while next < groups.end {
            if part.is_stopped() {
                done.left = next..groups.end;
                break;
            }
            let strip = self.strip(next, self.before_look(next, groups.end));
            if strip.groups > 0 {
                self.span(worker, next, strip, &part, &mut done);
                next += strip.groups;
                continue;
            }
            let mut wave = Vec::with_capacity(self.native.copies);
            // The last group runs by itself when it is short.
            let end = if next < full { groups.end.min(full) } else { groups.end };
            while next < end && wave.len() < self.native.copies {
                match self.run.job(self.order.group(next)) {
                    // This code is for groups whose processors are all covered.
                    Some(job) if self.run.artifact.covered && job.covered != self.run.existing(job.group) => {
                        done.refused.push(job);
                    }
                    job => wave.extend(job),
                }
                next += 1;
                if self.strip(next, end).groups > 0 {
                    break;
                }
            }
            self.pass(worker, &mut wave, &part, false, &mut done);
        }
        self.run.watch.done(done.counters.processors);
        done
    }

    /// How far code may go on from this place of the order before it has to be looked whether to stop.
    fn before_look(&self, next: u64, end: u64) -> u64 {
        let Some(bound) = self.run.bound.filter(|&bound| bound > 0) else { return end };
        let most = 2 * self.native.copies as u64;
        end.min(next + (INSTRUCTIONS_PER_STRIP / bound).next_multiple_of(most).max(most))
    }

    /// Groups from this place of the order on that code goes over by itself.
    fn strip(&self, next: u64, end: u64) -> Strip {
        if self.native.spans { self.order.strip(next, end) } else { Strip { groups: 0, rows: 1 } }
    }

    /// Runs groups in one pass, and writes what they leave.
    fn pass(&self, worker: &mut Worker, wave: &mut Vec<Job>, part: &Part, careful: bool, done: &mut Done) {
        let Some(job) = wave.first() else { return };
        let short = usize::from(job.group >= self.run.grid.full_groups());
        worker.places.clear();
        worker.places.extend(wave.iter().map(|job| self.run.grid.places(job.group)));
        if worker.pass(self.run, wave, self.source(), part, careful).is_err() {
            done.refused.append(wave);
            return;
        }
        done.visits[short].iter_mut().zip(&worker.visits).for_each(|(all, visits)| all.add(visits));
        self.write(worker, wave, done);
    }

    /// Writes what the groups of a pass have left.
    fn write(&self, worker: &Worker, wave: &[Job], done: &mut Done) {
        for ((job, lanes), places) in wave.iter().zip(&worker.lanes).zip(&worker.places) {
            let written = self.targets.write(places, lanes);
            done.counters.groups += 1;
            done.counters.processors += u64::from(job.covered.count_ones());
            done.counters.writes += written.elements;
            done.counters.write_bytes += written.bytes;
        }
    }

    /// Runs groups that lie side by side, from this place of the order on.
    fn span(&self, worker: &mut Worker, first: u64, strip: Strip, part: &Part, done: &mut Done) {
        let copies = self.native.copies as u64;
        let (mut next, end) = (first, first + strip.groups);
        while next < end {
            let left = Strip { groups: end - next, ..strip };
            let (ended, many) = match &mut worker.machine {
                Engines::Native(attempts) if attempts.are_worth_it() => {
                    self.attempt(attempts, &mut worker.starts, &mut worker.visits, next, left, done)
                }
                // Careful code runs pass by pass.
                _ => (SpanEnd::Fell { left: left.groups as u32 }, left.groups),
            };
            let (SpanEnd::Left { left } | SpanEnd::Fell { left } | SpanEnd::Refer { left }) = ended else {
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
                        self.native.collect(&mut attempts.frame, &mut worker.lanes[..wave.len()]);
                    }
                    self.write(worker, &wave, done);
                }
                SpanEnd::Refer { .. } => done.refused.append(&mut wave),
                SpanEnd::Done | SpanEnd::Fell { .. } => self.pass(worker, &mut wave, part, true, done),
            }
        }
    }

    /// Runs groups that lie side by side up to the first pass that code does not finish; says how it ended, and how many groups it would have
    /// been.
    fn attempt(
        &self,
        attempts: &mut Attempts,
        starts: &mut Vec<Row>,
        visits: &mut [crate::lanes::Visits],
        first: u64,
        Strip { groups: most, rows }: Strip,
        done: &mut Done,
    ) -> (SpanEnd, u64) {
        let (run, copies) = (self.run, self.native.copies);
        let place = run.grid.first(self.order.group(first));
        // Visits of a pass that does not count must not be among the others'.
        let most = if self.native.counts { most.min(copies as u64) } else { most };
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
        visits.fill(crate::lanes::Visits::default());
        let ended = self.native.run_span(&mut attempts.frame, &span, run.launch.constants, &self.source(), visits);
        let passed = match ended {
            SpanEnd::Done => groups,
            SpanEnd::Left { left } | SpanEnd::Fell { left } | SpanEnd::Refer { left } => groups - u64::from(left),
        };
        attempts.made += groups.div_ceil(copies as u64).min(passed / copies as u64 + 1);
        attempts.failed += u64::from(matches!(ended, SpanEnd::Fell { .. }));
        if matches!(ended, SpanEnd::Done | SpanEnd::Left { .. }) {
            done.visits[0].iter_mut().zip(&*visits).for_each(|(all, visits)| all.add(visits));
        }
        done.counters.groups += passed;
        done.counters.processors += passed * LANES as u64;
        for (output, target) in span.targets.iter().enumerate() {
            let (whole, partial) = (target.written(), self.native.partial(&mut attempts.frame, output));
            let groups = passed - partial.groups;
            done.counters.writes += groups * whole.elements + partial.elements;
            done.counters.write_bytes += groups * whole.bytes + 4 * partial.channels;
        }
        (ended, groups)
    }
}
