//! R700 launches: wavefronts run in batches on all cores, what they export is committed in order.

use super::artifact::{Artifact, Programs, Streams, artifact};
use super::worker::{BailedOut, Ended, Left, Reader, TaskDone, Worker};
#[cfg(target_arch = "x86_64")]
use crate::codegen::x86::masked::Variant;
use crate::launch::wavefronts::bindings::{Binding, resources};
use crate::launch::wavefronts::group::Stored;
use crate::launch::wavefronts::outputs::Outputs;
use crate::launch::wavefronts::places::{Places, Starts, Waves};
use crate::launch::wavefronts::wave::{Guest, Row, Wave, lanes_of};
use crate::lower::r700::waves_per_group;
use crate::passes::computed;
#[cfg(target_arch = "x86_64")]
use crate::passes::table::Pass;
use crate::runtime::backend::Backend;
use crate::runtime::direct::{Direct, Done, Host};
use crate::runtime::wavefronts::{Wavefronts, per_look};
use crate::runtime::work::share;
#[cfg(target_arch = "x86_64")]
use ctm_exec::GroupSize;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::wavefront::Context;
use ctm_exec::r700::{Exports, Launch, Memory, Target, VertexEvent, clocks};
use ctm_exec::watch::Watch;
use ctm_exec::{Control, Counters, Domain, Fault, FaultKind, LaneOrder, LaneRows, Outcome, Position};
use ctm_isa::r700::program::Stage;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Wavefronts that run side by side before their exports are committed.
const WAVES_PER_BATCH: u64 = 1024;
/// Wavefronts that one task of a batch runs.
const WAVES_PER_TASK: usize = 16;
/// Threads of a group; what is beyond, the reference interpreter says.
const GROUP_THREADS: u32 = 1024;

/// A launch under way.
pub struct Run<'a> {
    pub launch: &'a Launch<'a>,
    pub artifact: &'a Artifact,
    /// The programs as the reference interpreter reads them, once it has to.
    pub context: OnceLock<Context<'a>>,
    /// Wavefronts of a thread group.
    pub per_group: u64,
    of: Wavefronts<'a>,
}

impl<'a> Deref for Run<'a> {
    type Target = Wavefronts<'a>;

    fn deref(&self) -> &Wavefronts<'a> {
        &self.of
    }
}

/// Runs a launch.
///
/// # Errors
/// The fault of the first wavefront that did wrong.
pub fn run(
    programs: &Programs,
    backend: Backend,
    streams: &dyn Fn() -> Streams,
    (control, launch): (&Control, &Launch<'_>),
    memory: &mut dyn Memory,
) -> Result<Outcome, Fault> {
    let lanes = launch.wavefront.lanes();
    let partial = launch.stage == Stage::Compute && !launch.group_threads.is_multiple_of(lanes as u32);
    if launch.checks
        || !matches!(lanes, 16 | 32 | 64)
        || launch.group_threads > GROUP_THREADS
        || partial
        || !launch.dx10_clamp
    {
        return programs.reference(control, launch, memory);
    }
    let Some(artifact) = artifact(programs, streams, launch) else {
        return programs.reference(control, launch, memory);
    };
    if artifact.writes_memory() && memory.outputs_alias_inputs() {
        return programs.reference(control, launch, memory);
    }
    let watch = Watch::new(&launch.budget, control, launch.domain.processors());
    let run = Run::new(launch, &artifact, &watch, backend);
    if artifact.may_exceed(run.per_look) && !run.watch.sets_flags() {
        return programs.reference(control, launch, memory);
    }
    let outcome = run.go(memory);
    programs.bail_out(run.of.bailed_out.into_inner());
    outcome
}

impl<'a> Run<'a> {
    /// A launch that has not begun.
    pub fn new(launch: &'a Launch<'a>, artifact: &'a Artifact, watch: &'a Watch, backend: Backend) -> Self {
        let fuel = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let of = Wavefronts {
            program: artifact,
            waves: Waves::of(launch),
            starts: Starts::of(&artifact.start, launch),
            domain: launch.domain,
            lanes: launch.wavefront.lanes(),
            covered: launch.covered,
            counters: launch.counters,
            threads: launch.threads,
            watch,
            fuel,
            per_look: per_look(artifact, fuel),
            bailed_out: AtomicU64::new(0),
            backend,
            narrows: false,
            once: false,
            gives_up: false,
        };
        Self { launch, artifact, context: OnceLock::new(), per_group: waves_per_group(launch), of }
    }

    /// The wavefronts that machine code wants, if they are narrower than the launch's and nobody can see the difference: lanes share nothing, and nothing is counted. Where
    /// one could come to a fault, which names an instruction and depends on how far others have come, the launch gives up.
    #[cfg(target_arch = "x86_64")]
    fn narrower(&self, reads: &dyn Memory, uniforms: &[u32]) -> Option<GroupSize> {
        if !Pass::Narrow.is_on() {
            return None;
        }
        let Launch { counters, covered, wavefront, .. } = *self.launch;
        // How many lanes run of covered ones is counted by words.
        let counts = covered.is_none() || wavefront.lanes() == 64 && self.waves.steps().whole;
        if counters || !counts || !self.artifact.is_of_quads() {
            return None;
        }
        let fetches = &self.artifact.code.fetches;
        let bindings: Vec<_> = fetches.iter().map(|fetch| Binding::of(self.launch, reads, fetch)).collect();
        let of = Variant { narrows: true, ..self.variant(&bindings)? };
        if bindings.iter().any(Option::is_none) {
            return None;
        }
        let lanes = self.artifact.native(of, uniforms, self.starts.are_moderate())?.lanes();
        if lanes < wavefront.lanes() { GroupSize::new(lanes as u16) } else { None }
    }

    fn go(&self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        #[cfg(target_arch = "x86_64")]
        if let Some(counters) = self.stream(memory) {
            return Ok(Outcome { counters, findings: Vec::new() });
        }
        let alias = memory.outputs_alias_inputs();
        let alone = alias || self.artifact.follows();
        let batch = if alone { 1 } else { (WAVES_PER_BATCH / self.per_group).max(1) };
        let count = self.waves.count().div_ceil(self.per_group);
        let mut all = Done::new(self.artifact.code.blocks.len());
        let mut uniforms = self.uniforms(memory);
        // Memory writes, vertex events and exports keep the order of groups.
        let waits = alone || self.artifact.sends_in_order() || self.per_group > 1;
        if !waits
            && let Some(uniforms) = &uniforms
            && let Some((outputs, reads)) = Outputs::of(memory, &self.artifact.exports, self.launch)
        {
            #[cfg(target_arch = "x86_64")]
            if let Some(wavefront) = self.narrower(&*reads, uniforms) {
                let launch = Launch { wavefront, ..*self.launch };
                // What all parts of a wavefront issue is no less than what it issues.
                let parts = (self.launch.wavefront.lanes() / wavefront.lanes()) as u64;
                let gives_up = self.artifact.may_exceed(self.fuel);
                let fuel = if gives_up { self.fuel / parts } else { self.fuel };
                let mut run = Run::new(&launch, self.artifact, self.watch, self.backend);
                (run.of.narrows, run.of.gives_up, run.of.fuel) = (true, gives_up, fuel);
                let done = run.stores(&outputs, &*reads, uniforms, &mut all);
                if !gives_up || run.bailed_out.load(Ordering::Relaxed) == 0 {
                    done?;
                    all.counters.groups = self.waves.count();
                    if let Some(covered) = self.launch.covered {
                        all.counters.processors = self.waves.lanes_that_run(covered);
                    }
                    return Ok(Outcome { counters: all.counters, findings: Vec::new() });
                }
                self.watch.undone(all.counters.processors);
                all = Done::new(self.artifact.code.blocks.len());
            }
            self.stores(&outputs, &*reads, uniforms, &mut all)?;
            self.count_all(&mut all);
            return Ok(Outcome { counters: all.counters, findings: Vec::new() });
        }
        let mut worker = None;
        let mut first = 0;
        if !waits
            && self.launch.threads == 1
            && let Some(uniforms) = &uniforms
            && let Some(rows) = memory.lane_rows().filter(|rows| rows.order() == self.launch.lane_order())
        {
            // Nobody reads them meanwhile.
            let nothing = LaneRows::new(LaneOrder::rows(Domain { i0: 0, j0: 0, i1: 0, j1: 0 }), &[]);
            let mut taken = std::mem::replace(rows, nothing);
            first = self.in_rows(&mut taken, memory, uniforms, &mut all);
            if let Some(rows) = memory.lane_rows() {
                *rows = taken;
            }
        }
        while first < count {
            let end = (first + batch).min(count);
            if alias && first > 0 {
                uniforms = self.uniforms(memory);
            }
            let groups: Vec<u64> = (first..end).collect();
            let (shared, table): (&dyn Memory, _) = (memory, uniforms.as_deref());
            let done = if alone {
                vec![worker.get_or_insert_with(|| Worker::new(self)).task(self, &groups, table, shared)]
            } else {
                let tasks: Vec<&[u64]> = groups.chunks(WAVES_PER_TASK.div_ceil(self.per_group as usize)).collect();
                let one = |worker: &mut Worker<'_>, task: usize| worker.task(self, tasks[task], table, shared);
                share(self.launch.threads, tasks.len(), || Worker::new(self), one)
            };
            for task in done {
                all.counters.add(&task.counters);
                all.visits[0].iter_mut().zip(&task.visits).for_each(|(all, n)| *all += n);
                self.commit(&task, &mut worker, memory, &mut all.counters)?;
            }
            first = end;
        }
        self.count_all(&mut all);
        Ok(Outcome { counters: all.counters, findings: Vec::new() })
    }

    /// Runs wavefronts that store what they export themselves, in any order.
    fn stores(&self, outputs: &Outputs<'_>, reads: &dyn Memory, uniforms: &[u32], all: &mut Done) -> Result<(), Fault> {
        let fetches = &self.artifact.code.fetches;
        let bindings = fetches.iter().map(|fetch| Binding::of(self.launch, reads, fetch)).collect();
        self.direct(&Direct { outputs, uniforms, bindings, host: &Stores { run: self, outputs, reads } }, all)
    }

    /// Runs wavefronts, each a group by itself, in order, and stores what they export in rows, as long as they run here. Gives the number of the first that does not.
    fn in_rows(&self, rows: &mut LaneRows<Target>, memory: &dyn Memory, uniforms: &[u32], all: &mut Done) -> u64 {
        let targets: Vec<Target> = Target::all().collect();
        let fetches = &self.artifact.code.fetches;
        let bindings: Vec<_> = fetches.iter().map(|fetch| Binding::of(self.launch, memory, fetch)).collect();
        let mut worker = Worker::new(self);
        let mut counters = Counters::default();
        worker.begin();
        let part = self.watch.part(0);
        let mut next = 0;
        while next < self.waves.count()
            && !part.is_stopped()
            && worker.here((self, &part), next, uniforms, &bindings, memory, &mut counters).is_ok()
        {
            let (wave, valid) = worker.last_wave();
            let written = |place: usize| wave.written[self.artifact.exports[place]];
            self.keep((valid, &written, &wave.exports), next, &targets, rows, &mut counters);
            next += 1;
        }
        all.add(&Done { counters, visits: [worker.end(), Vec::new()] });
        next
    }

    /// The table of uniform values; `None` when memory refuses a constant, which the reference interpreter will tell.
    pub fn uniforms(&self, memory: &dyn Memory) -> Option<Vec<u32>> {
        let mut table: Vec<u32> = self.launch.constants.file.as_flattened().to_vec();
        for locked in &self.artifact.code.locked {
            let memory = resources(memory, locked.alternate)?;
            for index in (0..i32::from(locked.count)).map(|index| locked.first + index) {
                match u32::try_from(index) {
                    Ok(index) => table.extend(memory.constant(locked.bank, index).ok()?),
                    Err(_) => table.extend([0; 4]),
                }
            }
        }
        computed::append(&self.artifact.code.computed, &mut table);
        Some(table)
    }

    /// The wavefronts of a group.
    pub fn waves_of(&self, group: u64) -> std::ops::Range<u64> {
        let first = group * self.per_group;
        first..(first + self.per_group).min(self.waves.count())
    }

    /// Counts what all passages of blocks do.
    fn count_all(&self, all: &mut Done) {
        let lanes = [self.lanes as u64, self.waves.lanes_of_last()];
        all.visits.iter().zip(lanes).for_each(|(visits, lanes)| self.count(visits, lanes, &mut all.counters));
    }

    /// What passages of blocks count (`Wavefront::charge` of the reference interpreter).
    pub fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        for (block, &n) in self.artifact.code.blocks.iter().zip(visits) {
            let tally = &block.tally;
            counters.alu += n * u64::from(tally.alu);
            counters.output += n * u64::from(tally.output);
            counters.tex += n * u64::from(tally.tex);
            counters.fc += n * u64::from(tally.fc);
            counters.total_lanes += n * lanes * u64::from(tally.instructions());
            let groups = u64::from(tally.alu + tally.delays);
            counters.alu_clocks += n * groups * lanes.div_ceil(clocks::GROUP_LANES);
            counters.tex_clocks += n * u64::from(tally.tex + tally.tex_passes) * lanes.div_ceil(clocks::FETCH_LANES);
            counters.fc_clocks += n * clocks::CONTROL_CLOCKS * u64::from(tally.fc + tally.output);
        }
    }

    /// Sends what a task's groups left: of each in turn what it wrote to memory that threads share, then what each of its wavefronts said of
    /// vertices and exports. Groups that are left to the reference interpreter run by `worker`.
    fn commit(
        &self,
        task: &TaskDone,
        worker: &mut Option<Worker<'a>>,
        memory: &mut dyn Memory,
        counters: &mut Counters,
    ) -> Result<(), Fault> {
        let targets: Vec<Target> = Target::all().collect();
        let mut exports = Exports::default();
        let mut places = Places::new();
        let order = self.launch.lane_order();
        for (group, left) in &task.groups {
            let writes = match left {
                Left::Here { stored, .. } => {
                    counters.writes += stored.len() as u64;
                    counters.write_bytes += 4 * stored.len() as u64;
                    let store = |&Stored { space, dword, bits, .. }: &Stored| memory.store(space, dword, bits);
                    stored.iter().try_for_each(store).is_ok()
                }
                Left::Reference { .. } => true,
                Left::Later => false,
            };
            // Where memory refuses, the reference interpreter says what and where.
            let again = if writes {
                None
            } else {
                let worker = worker.get_or_insert_with(|| Worker::new(self));
                Some(worker.reference(self, *group, memory, counters)?)
            };
            match again.as_ref().unwrap_or(left) {
                Left::Here { waves, .. } => {
                    for (index, wave) in self.waves_of(*group).zip(waves) {
                        self.waves.place(index, &mut places);
                        for &(lane, event) in &wave.events {
                            self.say(places.position(lane.into()), event, memory)?;
                        }
                        if let Some(rows) = memory.lane_rows().filter(|rows| rows.order() == order) {
                            let written = |place: usize| wave.written[place];
                            let of: (u64, &dyn Fn(usize) -> u64, &[Row]) = (wave.valid, &written, &wave.rows);
                            self.keep(of, index, &targets, rows, counters);
                            continue;
                        }
                        for lane in lanes_of(wave.valid) {
                            exports.clear();
                            self.exports_of(wave, lane, &targets, &mut exports);
                            if !exports.is_empty() {
                                self.send(places.position(lane), &exports, memory, counters)?;
                            }
                        }
                    }
                }
                Left::Reference(waves) => {
                    for BailedOut { events, exports, survivors } in waves {
                        for &(at, event) in events {
                            self.say(at, event, memory)?;
                        }
                        for (at, exports) in exports {
                            self.send(*at, exports, memory, counters)?;
                        }
                        if let Some(rows) = memory.lane_rows() {
                            survivors.iter().for_each(|&at| _ = rows.survive(at));
                        }
                    }
                }
                Left::Later => {}
            }
        }
        task.fault.clone().map_or(Ok(()), Err)
    }

    /// Stores what a wavefront exports lane beside lane: as [`Exports::store`] does for each lane. Given are its valid lanes, those that wrote each element that
    /// the program may export, and the rows of these.
    fn keep(
        &self,
        (valid, written, from): (u64, &dyn Fn(usize) -> u64, &[Row]),
        index: u64,
        targets: &[Target],
        rows: &mut LaneRows<Target>,
        counters: &mut Counters,
    ) {
        let first = index as usize * self.launch.wavefront.lanes();
        let elements = self.artifact.exports.iter().enumerate().zip(from);
        let mut elements = elements.map(|((place, &export), row)| (export, written(place) & valid, row)).peekable();
        while let Some(&(export, ..)) = elements.peek() {
            let target = export / 4;
            let place = rows.targets().iter().position(|&t| t == targets[target]);
            let mut any = 0;
            while let Some((export, written, row)) = elements.next_if(|(export, ..)| export / 4 == target) {
                any |= written;
                if let Some(place) = place.filter(|_| written != 0) {
                    rows.store_all(first, (place, export % 4), row, written);
                    counters.write_bytes += 4 * u64::from(written.count_ones());
                }
            }
            counters.writes += if place.is_some() { u64::from(any.count_ones()) } else { 0 };
        }
        rows.survive_all(first, valid);
    }

    /// What a lane of a wavefront exports.
    fn exports_of(&self, wave: &Ended, lane: usize, targets: &[Target], exports: &mut Exports) {
        let all = &self.artifact.exports;
        let mut next = 0;
        while let Some(&element) = all.get(next) {
            let mut values = [None; 4];
            let target = element / 4;
            while let Some(&element) = all.get(next)
                && element / 4 == target
            {
                if wave.written[next] >> lane & 1 == 1 {
                    values[element % 4] = Some(wave.rows[next][lane]);
                }
                next += 1;
            }
            exports.set(targets[target], values);
        }
    }

    fn refused(&self, fault: MemoryFault, at: Position) -> Fault {
        Fault { kind: FaultKind::Memory(fault), pc: self.launch.program.entry, position: Some(at) }
    }

    fn say(&self, at: Position, event: VertexEvent, memory: &mut dyn Memory) -> Result<(), Fault> {
        memory.vertex_event(at, event).map_err(|fault| self.refused(fault, at))
    }

    fn send(
        &self,
        at: Position,
        exports: &Exports,
        memory: &mut dyn Memory,
        counters: &mut Counters,
    ) -> Result<(), Fault> {
        let written = memory.commit(at, exports).map_err(|fault| self.refused(fault, at))?;
        counters.writes += written.elements;
        counters.write_bytes += written.bytes;
        Ok(())
    }
}

/// A launch whose wavefronts store what they export themselves.
struct Stores<'a, 'r> {
    run: &'a Run<'r>,
    outputs: &'a Outputs<'a>,
    reads: &'a dyn Memory,
}

impl Host for Stores<'_, '_> {
    fn guest(&self) -> Guest<'_> {
        Guest::R700(self.run.launch, self.reads)
    }

    fn reference(&self, index: u64, counters: &mut Counters) -> Result<(), Fault> {
        let mut reads = Reader { memory: self.reads };
        let Left::Reference(waves) = Worker::new(self.run).reference(self.run, index, &mut reads, counters)? else {
            return Ok(());
        };
        for (at, exports) in waves.iter().flat_map(|BailedOut { exports, .. }| exports) {
            let written = self.outputs.send(*at, &|target| exports.get(target));
            counters.writes += written.elements;
            counters.write_bytes += written.bytes;
        }
        Ok(())
    }

    fn count(&self, wave: &Wave, counters: &mut Counters) {
        wave.count(counters);
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/r700/engine.rs"]
mod tests;
