//! One launch: its groups in batches on all cores, what they send in order.

use super::Artifact;
use super::form::Form;
use super::journal::{Journal, Log};
use super::worker::{Done, Job, Left, TaskDone, Worker};
use crate::ir::x1k::{OUTPUT_VARS, Tally};
use crate::launch::direct::Views;
use crate::launch::grid::Grid;
use crate::launch::lanes::{Mask, Row, count, instruction_bound, lanes_of, mask_of};
use crate::launch::source::Source;
use crate::runtime::backend::Backend;
use crate::runtime::wavefronts::per_look;
use crate::runtime::work::share;
use ctm_exec::watch::Watch;
use ctm_exec::x1k::plan::Step;
use ctm_exec::x1k::{Launch, Memory, Outputs, Written};
use ctm_exec::{Counters, Fault, FaultKind, Outcome, Position};
use std::sync::OnceLock;

/// Groups that run side by side before their outputs are committed.
const GROUPS_PER_BATCH: u64 = 4096;
/// Groups that one task of a batch runs.
const GROUPS_PER_TASK: usize = 64;
/// A launch under way.
pub(super) struct Run<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) artifact: &'a Artifact,
    pub(super) grid: Grid,
    pub(super) watch: &'a Watch,
    pub(super) steps: OnceLock<Vec<Step>>,
    pub(super) counters: Counters,
    pub(super) did: Done,
    /// How many instructions one group can issue at most, if that is known.
    pub(super) bound: Option<u64>,
    /// Its wavefronts may have to be stopped.
    counts_down: bool,
    /// Instructions that one group may issue.
    pub(super) fuel: u64,
    pub(super) backend: Backend,
}

impl<'a> Run<'a> {
    pub(super) fn new(watch: &'a Watch, launch: &'a Launch<'a>, artifact: &'a Artifact, backend: Backend) -> Self {
        let fuel = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let bound = instruction_bound(&artifact.code, launch.constants, Tally::instructions);
        Self {
            bound,
            counts_down: bound.is_none_or(|bound| bound > per_look(&artifact.form().program, fuel)),
            fuel,
            backend,
            launch,
            artifact,
            grid: Grid::new(launch.domain, launch.group.lanes()),
            watch,
            steps: OnceLock::new(),
            counters: Counters::default(),
            did: Done::new(&artifact.code),
        }
    }

    /// Whether it ends when it is told to, however long its groups are.
    pub(super) fn can_stop(&self) -> bool {
        !self.counts_down || self.watch.sets_flags()
    }

    pub(super) fn go(mut self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        // Where some processor of a group lies outside of the domain, the program runs as it is.
        if let Some(whole) = self.artifact.whole.as_deref().filter(|_| self.grid.is_whole()) {
            let mut run = Self::new(self.watch, self.launch, whole, self.backend);
            if let Some(done) = run.at_once(memory) {
                return done.map(|()| run.finish(memory));
            }
        }
        if let Some(done) = self.at_once(memory) {
            return done.map(|()| self.finish(memory));
        }
        if self.artifact.code.writes {
            self.one_by_one(memory)?;
            return Ok(self.finish(memory));
        }
        let groups_per_batch = if memory.outputs_alias_inputs() { 1 } else { GROUPS_PER_BATCH };
        let mut first = 0;
        while first < self.grid.groups() {
            let end = (first + groups_per_batch).min(self.grid.groups());
            let (jobs, refused) = self.schedule(first..end, memory);
            self.batch(&jobs, memory)?;
            if let Some(fault) = refused {
                return Err(fault);
            }
            first = end;
        }
        Ok(self.finish(memory))
    }

    /// Runs the launch as a stream, or so that it stores its outputs itself; `None`, and nothing has happened, where it can do neither.
    fn at_once(&mut self, memory: &mut dyn Memory) -> Option<Result<(), Fault>> {
        if self.artifact.code.writes {
            return None;
        }
        if self.stream(memory) {
            return Some(Ok(()));
        }
        self.stores(memory)
    }

    /// Runs groups on all cores, and sends what they leave in order.
    fn batch(&mut self, jobs: &[Job], memory: &mut dyn Memory) -> Result<(), Fault> {
        let this = &*self;
        let views = self.views(memory);
        let memory_of_all: &dyn Memory = memory;
        let done = share(
            this.launch.threads,
            jobs.len().div_ceil(GROUPS_PER_TASK),
            || Worker::new(this),
            |worker, task| {
                let end = ((task + 1) * GROUPS_PER_TASK).min(jobs.len());
                let source = Source::reading(memory_of_all, views.as_ref());
                worker.task(this, &jobs[task * GROUPS_PER_TASK..end], source)
            },
        );
        done.into_iter().try_for_each(|task| self.commit(task, memory))
    }

    /// Runs a launch that writes uncached: each group sees what those before it have written.
    fn one_by_one(&mut self, memory: &mut dyn Memory) -> Result<(), Fault> {
        let mut log = Log::default();
        for group in 0..self.grid.groups() {
            let (jobs, refused) = self.schedule(group..group + 1, memory);
            if !jobs.is_empty() {
                let journal = Journal::new(memory, log);
                let task = Worker::new(self).task(self, &jobs, Source::alone(&journal));
                log = journal.into_log();
                if task.groups.iter().any(|(_, left)| matches!(left, Left::Here { .. })) {
                    let Written { elements, bytes } = log.written();
                    self.counters.writes += elements;
                    self.counters.write_bytes += bytes;
                }
                self.commit(task, memory)?;
            }
            if let Some(fault) = refused {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// What all its groups have done.
    fn finish(mut self, memory: &dyn Memory) -> Outcome {
        self.did.tallies.count(memory, &mut self.counters);
        for (visits, lanes) in self.did.visits.iter().zip([self.launch.group.lanes(), self.grid.lanes_of_last()]) {
            count(&self.artifact.code, visits, lanes, memory, &mut self.counters);
        }
        Outcome { counters: self.counters, findings: Vec::new() }
    }

    /// The inputs as arrays, where elements are looked up.
    fn views<'m>(&self, memory: &'m dyn Memory) -> Option<Views<'m>> {
        (self.artifact.code.inputs != 0).then(|| Views::of(memory))
    }

    /// Runs a launch in which every processor does the same; says whether it was one.
    #[cfg(target_arch = "x86_64")]
    fn stream(&mut self, memory: &mut dyn Memory) -> bool {
        if self.artifact.code.writes || !self.launch.rows.is_empty() {
            return false;
        }
        let limit = self.launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let (Some(bound), Some(isa)) = (self.bound.filter(|&bound| bound <= limit), self.backend.isa()) else {
            return false;
        };
        let Artifact { streams, code, constants, .. } = self.artifact;
        if !streams.take(self.launch.domain, bound) {
            return false;
        }
        let uniform = self.artifact.uniform.get_or_init(|| crate::runtime::streams::uniform(code, constants));
        let Some(uniform) = uniform else { return false };
        let of = (code, uniform);
        let Some(written) = crate::runtime::streams::run(streams, isa, of, self.launch, self.watch, memory) else {
            return false;
        };
        let lanes = self.launch.group.lanes();
        let domain = self.launch.domain;
        let processors = u64::from(domain.width()) * u64::from(domain.height());
        // The last group may be short.
        let full = self.grid.full_groups();
        let last = if self.grid.groups() > full {
            let places = self.grid.places(full);
            u64::from((self.grid.inside(&places) & mask_of(self.grid.lanes_of_last())).count_ones())
        } else {
            0
        };
        for (groups, lanes, processors) in
            [(full, lanes, processors - last), (self.grid.groups() - full, self.grid.lanes_of_last(), last)]
        {
            // Behind the block that only begins come those of the code.
            let visits = crate::runtime::streams::visits(&uniform.visits[1..], groups, processors);
            count(&self.artifact.code, &visits, lanes, memory, &mut self.counters);
        }
        self.counters.groups += self.grid.groups();
        self.counters.processors += processors;
        [self.counters.writes, self.counters.write_bytes] = written;
        true
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn stream(&mut self, _memory: &mut dyn Memory) -> bool {
        false
    }

    /// Asks which processors are to run. A conditional buffer that cannot be read concerns the group at which it happens: those
    /// before it still run.
    fn schedule(&self, groups: std::ops::Range<u64>, memory: &mut dyn Memory) -> (Vec<Job>, Option<Fault>) {
        let mut jobs = Vec::with_capacity((groups.end - groups.start) as usize);
        for group in groups {
            let places = self.grid.places(group);
            let mut covered = 0;
            let inside = self.grid.inside(&places) & self.existing(group);
            for lane in lanes_of(inside) {
                let at = places.position(lane);
                match memory.schedule(at) {
                    Ok(runs) => covered |= Mask::from(runs) << lane,
                    Err(fault) => {
                        let pc = u32::from(self.launch.program.first);
                        return (jobs, Some(Fault { kind: FaultKind::Memory(fault), pc, position: Some(at) }));
                    }
                }
            }
            if covered != 0 {
                jobs.push(Job { group, covered });
            }
        }
        (jobs, None)
    }

    /// The lanes of a group: the last one may be short.
    pub(super) fn existing(&self, group: u64) -> Mask {
        let lanes = self.launch.group.lanes();
        if group < self.grid.full_groups() { mask_of(lanes) } else { mask_of(self.grid.lanes_of_last()) }
    }

    /// Adds up what a task did and sends its outputs.
    fn commit(&mut self, task: TaskDone, memory: &mut dyn Memory) -> Result<(), Fault> {
        self.did.add(&task.did);
        self.counters.processors += task.processors;
        for (group, left) in task.groups {
            match left {
                Left::Here { covered, written, rows } => {
                    self.counters.groups += 1;
                    let places = self.grid.places(group);
                    for lane in lanes_of(covered) {
                        let outputs = self.outputs_of(lane, &written, &rows);
                        self.send(places.position(lane), &outputs, memory)?;
                    }
                }
                Left::Reference { counters, outputs } => {
                    self.counters.add(&counters);
                    for (at, outputs) in outputs {
                        self.send(at, &outputs, memory)?;
                    }
                }
            }
        }
        task.fault.map_or(Ok(()), Err)
    }

    fn send(&mut self, at: Position, outputs: &Outputs, memory: &mut dyn Memory) -> Result<(), Fault> {
        let pc = u32::from(self.launch.program.last);
        let fault = |fault| Fault { kind: FaultKind::Memory(fault), pc, position: Some(at) };
        let written = memory.commit(at, outputs).map_err(fault)?;
        self.counters.writes += written.elements;
        self.counters.write_bytes += written.bytes;
        Ok(())
    }

    /// What one lane sends when its program ends.
    fn outputs_of(&self, lane: usize, written: &[Mask; OUTPUT_VARS], rows: &[Row]) -> Outputs {
        let mut outputs = Outputs::default();
        for (index, row) in self.artifact.form().outputs().zip(rows) {
            if written[index] >> lane & 1 == 0 {
                continue;
            }
            if index >= Form::CONDITIONAL {
                outputs.conditional_value = Some(row[lane]);
            } else {
                outputs.values[index / 4][index % 4] = row[lane];
                outputs.written[index / 4] |= 1 << (index % 4);
            }
        }
        outputs
    }
}
