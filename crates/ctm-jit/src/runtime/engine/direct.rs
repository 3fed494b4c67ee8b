//! Launches over memory that lets engines write: each group's outputs are written as soon as it has ended, in any order.
//!
//! A group that may fault is left to the reference interpreter before anything of it is written; those behind it may have been written then.
//!
//! Machine code goes over groups that lie side by side by itself (`spans`). Others run pass by pass, and what they leave is written here.

use super::run::Run;
use super::worker::{self, Held, Job, Worker};
use crate::launch::direct::{self, Targets, Views};
use crate::launch::grid::Order;
use crate::launch::source::Source;
use crate::runtime::work::{share, threads};
use ctm_exec::watch::Part;
use ctm_exec::x1k::Memory;
use ctm_exec::{Counters, Position};
use std::ops::Range;

/// Groups of a task: as many as make this many tasks for each thread, within bounds. Tasks are small as groups differ in cost, and large as
/// each fills some pages of output.
const TASKS_PER_THREAD: u64 = 16;
const GROUPS_PER_TASK: [u64; 2] = [64, 128];
/// Instructions of groups that code goes over before it is looked whether to stop, if one group has no more.
#[cfg(target_arch = "x86_64")]
const INSTRUCTIONS_PER_STRIP: u64 = 1 << 20;

/// What a task left.
pub(super) struct Done {
    pub(super) did: worker::Done,
    pub(super) counters: Counters,
    pub(super) refused: Vec<Job>,
    /// Places of the order that it did not come to, as it was stopped.
    left: Range<u64>,
}

/// What tasks work on.
pub(super) struct Scene<'a> {
    pub(super) run: &'a Run<'a>,
    /// Groups of a pass.
    pub(super) copies: usize,
    pub(super) targets: Targets<'a>,
    views: &'a Views<'a>,
    pub(super) order: Order<'a>,
}

impl Run<'_> {
    /// Runs the groups of a launch, if memory lets us write; gives the first group that is left, and those that
    /// did not run after all: some, and where the launch was stopped all that its tasks did not come to.
    pub(super) fn write_directly(&mut self, memory: &mut dyn Memory) -> (u64, Vec<Job>, Vec<Range<u64>>) {
        let none = (0, Vec::new(), Vec::new());
        if self.counts_down || memory.outputs_alias_inputs() {
            return none;
        }
        let inputs = std::array::from_fn(|index| memory.input(index as u8));
        let last = Position { i: self.launch.domain.i1, j: self.launch.domain.j1 };
        let halves = memory.direct().and_then(|d| direct::halves(d, inputs, &self.artifact.code, &self.grid, last));
        let Some((views, targets)) = halves else { return none };
        let groups = self.grid.groups();
        // All passes but the last of a task are full.
        let copies = self.copies() as u64;
        let [fewest, most] = GROUPS_PER_TASK;
        let per_task = if groups <= fewest || self.launch.threads == 1 {
            most
        } else {
            (groups / (TASKS_PER_THREAD * threads(self.launch.threads) as u64)).clamp(fewest, most)
        } / copies
            * copies;
        let copies = self.copies();
        let scene = Scene { run: self, copies, targets, views: &views, order: self.grid.order(copies) };
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
            self.did.add(&done.did);
            self.counters.add(&done.counters);
        }
        // The first fault in the order of the domain is the launch's.
        refused.sort_unstable_by_key(|job| job.group);
        (groups, refused, left)
    }

    /// The groups at these places of the order, if some of their processors are in the domain.
    pub(super) fn jobs_at(&self, places: Range<u64>) -> Vec<Job> {
        let order = self.grid.order(self.copies());
        places.filter_map(|n| self.job(order.group(n))).collect()
    }

    /// A group, if some of its processors are in the domain.
    fn job(&self, group: u64) -> Option<Job> {
        let covered = self.grid.inside(&self.grid.places(group)) & self.existing(group);
        (covered != 0).then_some(Job { group, covered })
    }
}

impl Scene<'_> {
    pub(super) fn source(&self) -> Source<'_> {
        Source::reading(self.views, Some(self.views))
    }

    fn task(&self, worker: &mut Held<'_>, groups: Range<u64>) -> Done {
        let worker = worker.get();
        let mut done = Done {
            did: worker::Done::new(&self.run.artifact.code),
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
            #[cfg(target_arch = "x86_64")]
            if let Some((native, strip)) = self.strip(next, self.before_look(next, groups.end)) {
                self.span(native, worker, next, strip, &part, &mut done);
                next += strip.groups;
                continue;
            }
            let mut wave = Vec::with_capacity(self.copies);
            // The last group runs by itself when it is short.
            let end = if next < full { groups.end.min(full) } else { groups.end };
            while next < end && wave.len() < self.copies {
                match self.run.job(self.order.group(next)) {
                    // This code is for groups whose processors are all covered.
                    Some(job) if self.run.artifact.covered && job.covered != self.run.existing(job.group) => {
                        done.refused.push(job);
                    }
                    job => wave.extend(job),
                }
                next += 1;
                #[cfg(target_arch = "x86_64")]
                if self.strip(next, end).is_some() {
                    break;
                }
            }
            self.pass(worker, &mut wave, &part, false, &mut done);
        }
        self.run.watch.done(done.counters.processors);
        done
    }

    /// How far code may go on from this place of the order before it has to be looked whether to stop.
    #[cfg(target_arch = "x86_64")]
    fn before_look(&self, next: u64, end: u64) -> u64 {
        let Some(bound) = self.run.bound.filter(|&bound| bound > 0) else { return end };
        let most = 2 * self.copies as u64;
        end.min(next + (INSTRUCTIONS_PER_STRIP / bound).next_multiple_of(most).max(most))
    }

    /// Runs groups in one pass, and writes what they leave.
    pub(super) fn pass(&self, worker: &mut Worker, wave: &mut Vec<Job>, part: &Part, careful: bool, done: &mut Done) {
        let Some(job) = wave.first() else { return };
        let short = job.group >= self.run.grid.full_groups();
        worker.places.clear();
        worker.places.extend(wave.iter().map(|job| self.run.grid.places(job.group)));
        if worker.pass(self.run, wave, self.source(), part, careful).is_err() {
            done.refused.append(wave);
            return;
        }
        done.did.pass(short, &worker.visits, &worker.tallies);
        self.write(worker, wave, done);
    }

    /// Writes what the groups of a pass have left.
    pub(super) fn write(&self, worker: &Worker, wave: &[Job], done: &mut Done) {
        for ((job, lanes), places) in wave.iter().zip(&worker.lanes).zip(&worker.places) {
            let written = self.targets.write(places, lanes);
            done.counters.groups += 1;
            done.counters.processors += u64::from(job.covered.count_ones());
            done.counters.writes += written.elements;
            done.counters.write_bytes += written.bytes;
        }
    }
}
