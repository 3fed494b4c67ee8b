//! One launch: its groups in batches on all cores, what they send in order.

use super::journal::{Journal, Log};
use super::worker::{Done, Held, Job, Left, TaskDone, Worker};
use super::{Artifact, Variant};
#[cfg(target_arch = "x86_64")]
use crate::codegen::x86::Native;
use crate::ir::x1k::{OUTPUT_VARS, Tally, Var};
use crate::launch::direct::Views;
use crate::launch::grid::{Grid, Ramp};
use crate::launch::lanes::{Mask, Row, count, instruction_bound, lanes_of, mask_of, output_var};
use crate::launch::source::Source;
use crate::passes::table::Pass;
use crate::runtime::work::share;
use ctm_exec::watch::Watch;
use ctm_exec::x1k::plan::Step;
use ctm_exec::x1k::{Launch, Memory, Outputs, Written};
use ctm_exec::{Counters, Fault, FaultKind, Outcome, Position};
use std::sync::{MutexGuard, OnceLock, PoisonError};

/// Groups that run side by side before their outputs are committed.
const GROUPS_PER_BATCH: u64 = 4096;
/// Groups that one task of a batch runs.
const GROUPS_PER_TASK: usize = 64;
/// Instructions of a group within which machine code need not look whether to stop.
const INSTRUCTIONS_PER_LOOK: u64 = if cfg!(test) { 200 } else { 1 << 24 };
/// A fetch may take as long as so many other instructions.
const INSTRUCTIONS_PER_FETCH: u32 = 16;

/// A launch under way.
pub(super) struct Run<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) artifact: &'a Artifact,
    pub(super) grid: Grid,
    pub(super) ramps: Vec<Ramp>,
    pub(super) watch: &'a Watch,
    pub(super) steps: OnceLock<Vec<Step>>,
    pub(super) counters: Counters,
    pub(super) did: Done,
    /// How many instructions one group can issue at most, if that is known.
    pub(super) bound: Option<u64>,
    #[cfg(target_arch = "x86_64")]
    pub(super) native: Option<&'a Native>,
    /// The machine code counts instructions down, looks whether to stop, and may bail out.
    pub(super) counts_down: bool,
    /// Instructions that one group may issue.
    pub(super) fuel: u64,
    /// See [`Variant::ordinary`].
    ordinary: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(watch: &'a Watch, launch: &'a Launch<'a>, artifact: &'a Artifact) -> Self {
        let fuel = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let bound_of = |weight: fn(&Tally) -> u32| instruction_bound(&artifact.code, launch.constants, weight);
        let bound = bound_of(Tally::instructions);
        let work = bound_of(|tally| tally.instructions() + (INSTRUCTIONS_PER_FETCH - 1) * tally.tex_wide);
        let counts_down =
            bound.is_none_or(|bound| bound > fuel) || work.is_none_or(|work| work > INSTRUCTIONS_PER_LOOK);
        Self {
            bound,
            counts_down,
            #[cfg(target_arch = "x86_64")]
            native: None,
            fuel,
            ordinary: Pass::Ordinary.is_on() && artifact.has_ordinary(launch.constants),
            launch,
            artifact,
            grid: Grid::new(launch.domain, launch.group.lanes()),
            ramps: artifact.start.iter().filter_map(|&var| Ramp::of(var, launch.planes)).collect(),
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
        let mut whole = self.artifact.whole.as_deref().map(|whole| Self::new(self.watch, self.launch, whole));
        let first_choice = whole.as_mut().unwrap_or(&mut self);
        if first_choice.stream(memory) {
            let counters = first_choice.counters;
            return Ok(Outcome { counters, findings: Vec::new() });
        }
        #[cfg(target_arch = "x86_64")]
        {
            self.native = self.artifact.native(self.variant());
        }
        if self.artifact.code.writes {
            self.one_by_one(memory)?;
            return Ok(self.finish(memory));
        }
        let (mut first, mut refused, mut left) = (0, Vec::new(), Vec::new());
        if let Some(mut whole) = whole {
            (first, refused, left) = whole.write_groups_directly(memory);
            self.counters.add(&whole.finish(memory).counters);
        }
        if first == 0 {
            (first, refused, left) = self.write_groups_directly(memory);
        }
        for jobs in refused.chunks(GROUPS_PER_BATCH as usize) {
            self.batch(jobs, memory)?;
        }
        // Those that were not come to are told to stop in turn, until the first of them has ended.
        for jobs in left {
            if !jobs.is_empty() {
                let task = self.worker().get().task(&self, &jobs, Source::reading(memory, None));
                self.commit(task, memory)?;
            }
        }
        let groups_per_batch = if memory.outputs_alias_inputs() { 1 } else { GROUPS_PER_BATCH };
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

    /// Runs groups on all cores, and sends what they leave in order.
    fn batch(&mut self, jobs: &[Job], memory: &mut dyn Memory) -> Result<(), Fault> {
        let this = &*self;
        let views = self.views(memory);
        let memory_of_all: &dyn Memory = memory;
        let done = share(
            this.launch.threads,
            jobs.len().div_ceil(GROUPS_PER_TASK),
            || this.worker(),
            |worker, task| {
                let end = ((task + 1) * GROUPS_PER_TASK).min(jobs.len());
                let source = Source::reading(memory_of_all, views.as_ref());
                worker.get().task(this, &jobs[task * GROUPS_PER_TASK..end], source)
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
                let task = self.worker().get().task(self, &jobs, Source::alone(&journal));
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

    /// Groups that run together.
    pub(super) fn copies(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if let Some(native) = self.native {
            return native.copies;
        }
        self.artifact.copies
    }

    /// Which code it runs.
    pub(super) const fn variant(&self) -> Variant {
        Variant {
            fuel: self.counts_down,
            counters: self.launch.counters,
            ordinary: self.ordinary,
            careful: self.artifact.code.writes,
        }
    }

    /// Workers that nobody uses.
    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.artifact.idle[self.variant().number() % self.artifact.idle.len()]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What one thread needs, until it is dropped.
    pub(super) fn worker(&self) -> Held<'_> {
        Held { run: self, worker: self.idle().pop() }
    }

    /// Runs a launch in which every processor does the same; says whether it was one.
    #[cfg(target_arch = "x86_64")]
    fn stream(&mut self, memory: &mut dyn Memory) -> bool {
        if self.artifact.code.writes {
            return false;
        }
        let limit = self.launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let (Some(bound), Some(options)) = (self.bound.filter(|&bound| bound <= limit), self.artifact.options) else {
            return false;
        };
        let (streams, lowered, isa) = (&self.artifact.streams, &self.artifact.lowered, options.isa);
        let done = crate::runtime::streams::run(streams, isa, lowered, self.launch, bound, self.watch, memory);
        let Some(done) = done else { return false };
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
            let visits = crate::runtime::streams::visits(&done.passes, groups, processors);
            count(&self.artifact.code, &visits, lanes, memory, &mut self.counters);
        }
        self.counters.groups += self.grid.groups();
        self.counters.processors += processors;
        [self.counters.writes, self.counters.write_bytes] = done.written;
        true
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn stream(&mut self, _memory: &mut dyn Memory) -> bool {
        false
    }

    /// Writes outputs as groups end, where memory and code allow it; gives the first group that is left, and those before it that did not run
    /// after all: in order, and where the launch was stopped by task.
    fn write_groups_directly(&mut self, memory: &mut dyn Memory) -> (u64, Vec<Job>, Vec<Vec<Job>>) {
        #[cfg(target_arch = "x86_64")]
        {
            self.native = self.artifact.native(self.variant());
        }
        let (first, refused, left) = self.write_directly(memory);
        let left = left.into_iter().map(|places| self.jobs_at(places)).collect();
        (first, refused, left)
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
        for (&index, row) in self.artifact.outputs.iter().zip(rows) {
            if written[index] >> lane & 1 == 0 {
                continue;
            }
            if output_var(index) == Var::W {
                outputs.conditional_value = Some(row[lane]);
            } else {
                outputs.values[index / 4][index % 4] = row[lane];
                outputs.written[index / 4] |= 1 << (index % 4);
            }
        }
        outputs
    }
}
