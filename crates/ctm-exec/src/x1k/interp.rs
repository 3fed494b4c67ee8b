//! The reference interpreter: cuts the domain into groups, runs them, commits their outputs in order.
//!
//! Groups of a program with cached writes are independent, so batches of them run side by side; their outputs are committed in
//! domain order afterwards. Programs that write uncached, and launches whose outputs are also their inputs, run group by group.
//! Which of the two is taken depends on the program and the memory alone, and so do the batches; the number of threads only
//! says who does the work.

use super::checks::{self, Findings};
use super::group::{Access, Context, Group};
use super::lanes::{BLOCK, LaneMask};
use super::plan::{PlannedSlot, plan};
use super::{Launch, Memory, Outputs};
use crate::domain::Position;
use crate::fault::{Budget, Fault, FaultKind, MemoryFault};
use crate::groups::Groups;
use crate::observe::{Unit, Watcher, Wish};
use crate::outcome::{Counters, Outcome};
use crate::watch::{Control, Watch};
use rayon::prelude::*;

/// Lanes of the groups that run side by side before their outputs are committed.
const LANES_PER_BATCH: usize = 16 * 1024;

/// Threads that a launch may ask for; more are cut to this.
const MAX_THREADS: usize = 256;

/// One group that is to run.
struct GroupTask {
    index: u64,
    positions: Vec<Position>,
    covered: Vec<LaneMask>,
}

/// The results of one group.
struct GroupResult {
    counters: Counters,
    findings: Findings,
    outputs: Vec<(Position, Outputs)>,
}

/// A launch under way.
struct RunningLaunch<'a> {
    watch: Watch,
    context: Context<'a>,
    groups: Groups,
    outcome: Outcome,
    findings: Findings,
}

impl<'a> RunningLaunch<'a> {
    fn new(control: &Control, launch: &'a Launch<'a>, steps: &'a [PlannedSlot], budget: &Budget) -> Self {
        Self {
            watch: Watch::new(budget, control, launch.domain.processors()),
            context: Context { launch, steps },
            groups: Groups::new(launch.domain, launch.group.lanes()),
            outcome: Outcome::default(),
            findings: Findings::default(),
        }
    }

    /// Asks which processors are to run; `None` when none of the group is.
    fn schedule(&self, index: u64, memory: &mut dyn Memory) -> Result<Option<GroupTask>, Fault> {
        let positions = self.groups.positions(index);
        let mut covered = vec![LaneMask::NONE; positions.len().div_ceil(BLOCK)];
        for (mask, at) in covered.iter_mut().zip(positions.chunks(BLOCK)) {
            let mut refused = None;
            *mask = LaneMask::of(|lane| match at.get(lane) {
                Some(&at) if refused.is_none() && self.context.launch.domain.contains(at) => {
                    memory.schedule(at).unwrap_or_else(|fault| {
                        refused = Some((fault, at));
                        false
                    })
                }
                _ => false,
            });
            if let Some((fault, at)) = refused {
                return Err(memory_fault(fault, u32::from(self.context.launch.program.first), at));
            }
        }
        let launch = self.context.launch;
        let sends = |&at: &Position| launch.domain.contains(at) && launch.sends(at);
        let runs = launch.draw.covered.is_none() || positions.iter().any(sends);
        let runs = runs && covered.iter().any(|mask| !mask.is_empty());
        Ok(runs.then_some(GroupTask { index, positions, covered }))
    }

    /// Adds the statistics of a group and sends its outputs; the group knows which processors have written uncached.
    fn commit(&mut self, done: GroupResult, memory: &mut dyn Memory, group: Option<&Group>) -> Result<(), Fault> {
        self.outcome.counters.add(&done.counters);
        self.findings.add(done.findings);
        let launch = self.context.launch;
        for (at, outputs) in done.outputs.into_iter().filter(|(at, _)| launch.sends(*at)) {
            let last = u32::from(self.context.launch.program.last);
            let written = memory.commit(at, &outputs).map_err(|fault| memory_fault(fault, last, at))?;
            self.outcome.counters.writes += written.elements;
            self.outcome.counters.write_bytes += written.bytes;
            if self.context.launch.checks
                && memory.last_test_failed()
                && group.is_some_and(|group| group.has_scattered(at))
            {
                self.findings.note(checks::UMRT_CONDITIONAL, last, Some(at), || {
                    "the conditional test at location DPP failed, and uncached writes made before it stay".to_owned()
                });
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        self.outcome.findings = self.findings.into_vec();
        self.outcome
    }

    fn one_by_one(mut self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let mut group = Group::new(self.context.launch);
        for index in 0..self.groups.count() {
            if let Some(job) = self.schedule(index, memory)? {
                let done = run_group(&mut group, (&self.context, &self.watch), &job, &mut Access::Exclusive(memory))?;
                self.commit(done, memory, Some(&group))?;
            }
        }
        Ok(self.finish())
    }

    fn watched(mut self, memory: &mut dyn Memory, watcher: &mut dyn Watcher) -> Result<Outcome, Fault> {
        let dependent = self.context.launch.program.uncached || memory.outputs_alias_inputs();
        let mut group = Group::new(self.context.launch);
        for index in 0..self.groups.count() {
            if self.watch.is_over() {
                return Err(Fault { kind: self.watch.part(index).fault_kind(), pc: 0, position: None });
            }
            let wish = watcher.wish(&self.groups.positions(index));
            if wish == Wish::Skip && !dependent {
                continue;
            }
            let Some(job) = self.schedule(index, memory)? else { continue };
            let done = if wish == Wish::Watch {
                let part = self.watch.part(job.index);
                let unit = super::observe::Unit::new(&self.context, part, &job.positions, &job.covered, memory);
                let mut unit = Unit::X1k(unit);
                if watcher.watch(&mut unit)?.is_break() {
                    return Err(Fault { kind: FaultKind::Stopped, pc: unit.pc().unwrap_or(0), position: None });
                }
                let Unit::X1k(unit) = unit else { continue };
                group = unit.finish()?;
                GroupResult {
                    counters: *group.counters(),
                    findings: group.take_findings(),
                    outputs: group.outputs().collect(),
                }
            } else {
                run_group(&mut group, (&self.context, &self.watch), &job, &mut Access::Exclusive(memory))?
            };
            self.commit(done, memory, Some(&group))?;
        }
        Ok(self.finish())
    }

    fn in_batches(mut self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let launch = self.context.launch;
        let pool = match launch.threads {
            0 | 1 => None,
            threads => rayon::ThreadPoolBuilder::new().num_threads(threads.min(MAX_THREADS)).build().ok(),
        };
        let groups_per_batch = (LANES_PER_BATCH / launch.group.lanes()).max(1) as u64;
        let mut first = 0;
        let mut alone = Group::new(launch);
        while first < self.groups.count() {
            let end = (first + groups_per_batch).min(self.groups.count());
            let mut jobs = Vec::new();
            // A conditional buffer that cannot be read concerns the group at which it happens: those before it still run.
            let mut refused = None;
            for index in first..end {
                match self.schedule(index, memory) {
                    Ok(job) => jobs.extend(job),
                    Err(fault) => {
                        refused = Some(fault);
                        break;
                    }
                }
            }
            let shared: &dyn Memory = memory;
            let context = (&self.context, &self.watch);
            let side_by_side = || {
                jobs.par_iter()
                    .map_init(
                        || Group::new(launch),
                        |group, job| run_group(group, context, job, &mut Access::Shared(shared)),
                    )
                    .collect::<Vec<_>>()
            };
            let done: Vec<_> = match (launch.threads, &pool) {
                (1, _) => {
                    jobs.iter().map(|job| run_group(&mut alone, context, job, &mut Access::Shared(shared))).collect()
                }
                (_, Some(pool)) => pool.install(side_by_side),
                (_, None) => side_by_side(),
            };
            for result in done {
                self.commit(result?, memory, None)?;
            }
            if let Some(fault) = refused {
                return Err(fault);
            }
            first = end;
        }
        Ok(self.finish())
    }
}

/// Runs a launch.
///
/// # Errors
/// The fault of the first group that did wrong.
pub fn run(control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
    let steps = plan(launch.program);
    let run = RunningLaunch::new(control, launch, &steps, &launch.budget);
    if launch.program.uncached || memory.outputs_alias_inputs() {
        run.one_by_one(memory)
    } else {
        run.in_batches(memory)
    }
}

/// Runs a launch under a watcher's eyes.
///
/// # Errors
/// The fault of the first group that did wrong; [`FaultKind::Stopped`] when the watcher wants no more.
pub fn watch(
    control: &Control,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, Fault> {
    let steps = plan(launch.program);
    let budget = Budget { time: None, ..launch.budget };
    RunningLaunch::new(control, launch, &steps, &budget).watched(memory, watcher)
}

/// Runs a group; one that comes after a group that has faulted does not run.
fn run_group(
    group: &mut Group,
    (context, watch): (&Context<'_>, &Watch),
    job: &GroupTask,
    memory: &mut Access<'_>,
) -> Result<GroupResult, Fault> {
    let part = watch.part(job.index);
    if part.is_abandoned() {
        // It is never read.
        let pc = u32::from(context.launch.program.first);
        return Err(Fault { kind: part.fault_kind(), pc, position: None });
    }
    group.run(context, &part, &job.positions, &job.covered, memory).inspect_err(|_| part.fault())?;
    watch.done(group.counters().processors);
    Ok(GroupResult { counters: *group.counters(), findings: group.take_findings(), outputs: group.outputs().collect() })
}

fn memory_fault(fault: MemoryFault, pc: u32, at: Position) -> Fault {
    Fault { kind: FaultKind::Memory(fault), pc, position: Some(at) }
}
