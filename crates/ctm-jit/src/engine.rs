//! The engine: lowers a program once, runs its groups in batches on all cores, commits what they send in order.

use crate::backend::{Backend, BackendError};
#[cfg(target_arch = "x86_64")]
use crate::direct;
use crate::form::{Code, OUTPUT_VARS, Var};
use crate::grid::{Grid, Places, Ramp};
use crate::lanes::{ENTRY, LANES, Lanes, Mask, Refer, Row, Visits, count, instruction_bound, mask_of, output_var};
use crate::passes::optimise;
use crate::portable::{Machine, Shared};
use crate::work::share;
#[cfg(target_arch = "x86_64")]
use crate::work::threads;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Frame, Native};
use ctm_exec::x1k::group::{Access, Context, Group};
use ctm_exec::x1k::lanes::LaneMask;
use ctm_exec::x1k::plan::{Step, plan};
use ctm_exec::x1k::{Interp, Launch, Memory, Outputs};
use ctm_exec::{Counters, Engine, Fault, FaultKind, Outcome, Position};
use ctm_isa::x1k::Words;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Groups that run side by side before their outputs are committed.
const GROUPS_PER_BATCH: u64 = 4096;
/// Groups that one task of a batch runs.
const GROUPS_PER_TASK: usize = 64;
/// Groups that one task runs when it writes directly: as many as make this many tasks for each thread, within bounds.
#[cfg(target_arch = "x86_64")]
const DIRECT_TASKS_PER_THREAD: u64 = 16;
#[cfg(target_arch = "x86_64")]
const DIRECT_GROUPS_PER_TASK: [u64; 2] = [64, 128];
/// Instructions after which machine code gives a group to the reference interpreter, which looks at the clock, when time is limited.
const FUEL_PER_LOOK: u64 = 20_000_000;
/// Programs that an engine remembers.
const CACHED_PROGRAMS: usize = 256;

/// When launches run as streams (`docs/engine.md`), and how.
///
/// Results do not depend on it; the tests of streams use small domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Domains of fewer processors are not worth code of their own.
    pub processors: u64,
    /// Outputs of so many bytes and more, added up, are stored past the caches.
    pub past_caches_bytes: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { processors: 1024, past_caches_bytes: 8 << 20 }
    }
}

/// The fast engine: gives the same bits, faults and counters as [`Interp`].
///
/// Programs are lowered to micro-operations on vectors of 16 lanes. What cannot be lowered, and every group that may fault, is run by
/// the reference interpreter: launches with checks, programs with uncached writes, groups of more than 16 lanes, and flow control
/// whose stacks have no fixed depth at some instruction.
///
/// An engine remembers what it has lowered. It can be shared between threads.
///
/// ```
/// use ctm_exec::x1k::arrays::Picture;
/// use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
/// use ctm_exec::{Budget, Domain, Engine, GroupSize};
/// use ctm_isa::x1k::Program;
/// use ctm_jit::Jit;
///
/// // o0 = r0, by MAX with the output modifier disabled; r0 is the index pair.
/// let words = [0x0007_8105, 0x0802_0000, 0x0802_0000, 0x1c44_0220, 0x1c60_c003, 0x0000_0005];
/// let program = Program::from_words(vec![words]);
/// let launch = Launch {
///     program: &program,
///     constants: &Constants::default(),
///     planes: &[Plane::position(0)],
///     domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
///     group: GroupSize::X1K,
///     budget: Budget::default(),
///     threads: 0,
///     checks: false,
/// };
/// let mut memory = Arrays::default();
/// memory.outputs[0] = Some(Picture::filled(8, 8, [0.0; 4]));
/// Jit::new().run_x1k(&launch, &mut memory)?;
/// let out = memory.outputs[0].as_ref().and_then(|o| o.get(5, 2)).unwrap_or_default();
/// assert_eq!(out.map(f32::from_bits), [5.0, 2.0, 0.0, 0.0]);
/// # Ok::<(), ctm_exec::Fault>(())
/// ```
pub struct Jit {
    backend: Backend,
    counters: bool,
    copies: Option<u8>,
    streams: StreamLimits,
    streams_run: Arc<AtomicU64>,
    cache: Mutex<Vec<Remembered>>,
    r700: crate::r700::Programs,
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl Default for Jit {
    fn default() -> Self {
        Self::new()
    }
}

impl Jit {
    /// An engine with the back end that [`Backend::from_environment`] finds.
    ///
    /// # Errors
    /// When `CTM_ENGINE_ISA` names a back end that cannot be had.
    pub fn from_environment() -> Result<Self, BackendError> {
        Backend::from_environment().map(Self::with_backend)
    }

    /// An engine with the back end that [`Backend::detect`] finds.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// An engine with this back end. Where the host cannot run it after all, the portable one runs.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let can = Backend::available().any(|available| available == backend);
        let backend = if can { backend } else { Backend::Portable };
        Self {
            backend,
            counters: true,
            copies: None,
            streams: StreamLimits::default(),
            streams_run: Arc::default(),
            cache: Mutex::default(),
            r700: Mutex::default(),
        }
    }

    /// The same engine without counting code: of the counters it gives groups, processors and writes only, which cost nothing. For
    /// measurements of speed alone.
    #[must_use]
    pub fn without_counters(self) -> Self {
        Self { counters: false, cache: Mutex::default(), ..self }
    }

    /// The same engine, running so many groups at once (1 to 3) instead of as many as registers allow. For tests: results do not
    /// depend on it.
    #[must_use]
    pub fn with_copies(self, copies: u8) -> Self {
        Self { copies: Some(copies), cache: Mutex::default(), ..self }
    }

    /// The same engine with other limits for streams. For tests: results do not depend on them.
    #[must_use]
    pub fn with_stream_limits(self, limits: StreamLimits) -> Self {
        Self { streams: limits, cache: Mutex::default(), r700: Mutex::default(), ..self }
    }

    /// How many launches ran as streams so far.
    #[must_use]
    pub fn streams_run(&self) -> u64 {
        self.streams_run.load(Ordering::Relaxed)
    }

    /// What executes the form.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The program in micro-operations; `None` when it has to be left to the reference interpreter.
    fn artifact(&self, launch: &Launch<'_>) -> Option<Arc<Artifact>> {
        let (state, words) = (State::of(launch), &launch.program.words);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &Remembered| entry.state == state && entry.words.as_flattened() == words.as_flattened();
        if let Some(place) = cache.iter().position(same) {
            // What is used again is looked at first.
            cache.swap(0, place);
            return cache[0].artifact.clone();
        }
        if cache.len() >= CACHED_PROGRAMS {
            cache.truncate(CACHED_PROGRAMS / 2);
        }
        let artifact = Artifact::new(launch, self).map(Arc::new);
        cache.insert(0, Remembered { state, words: words.clone(), artifact: artifact.clone() });
        artifact
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run_x1k(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        if launch.checks || launch.group.lanes() > LANES {
            return Interp.run_x1k(launch, memory);
        }
        let Some(artifact) = self.artifact(launch) else { return Interp.run_x1k(launch, memory) };
        Run::new(launch, &artifact).go(memory)
    }

    fn run_r700(
        &self,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        #[cfg(target_arch = "x86_64")]
        let streams = || crate::stream::Streams::new(self.streams, Arc::clone(&self.streams_run));
        #[cfg(not(target_arch = "x86_64"))]
        let streams = || ();
        crate::r700::run(&self.r700, self.backend, &streams, launch, memory)
    }
}

/// A program that was lowered, or could not be.
struct Remembered {
    state: State,
    words: Vec<Words>,
    artifact: Option<Arc<Artifact>>,
}

/// All that lowering depends on, beside the instructions.
#[derive(PartialEq, Eq)]
struct State {
    first: u16,
    last: u16,
    flags: u8,
    /// Boolean constants decide which way jumps go.
    booleans: u32,
    /// Temporaries that hold something at the start.
    planes: u128,
    lanes: usize,
}

impl State {
    fn of(launch: &Launch<'_>) -> Self {
        let program = launch.program;
        let flags =
            [program.full_flow_control, program.uncached, program.zero_times_anything, program.conditional_value];
        let bit = |set: u128, index: usize| set | 1 << (index % 128);
        Self {
            first: program.first,
            last: program.last,
            flags: flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)),
            booleans: launch.constants.bool.iter().fold(0, |all, &b| all << 1 | u32::from(b)),
            planes: launch.planes.iter().map(|plane| usize::from(plane.temp)).fold(0, bit),
            lanes: launch.group.lanes(),
        }
    }
}

/// A program, ready to run.
pub struct Artifact {
    /// Its form, as lowered: what back ends begin with.
    #[cfg(target_arch = "x86_64")]
    lowered: Code,
    /// The liveness of [`Self::code`].
    #[cfg(target_arch = "x86_64")]
    liveness: crate::passes::Liveness,
    /// Its machine code, without and with a count of instructions, each as it is first tried and careful; made when first needed.
    #[cfg(target_arch = "x86_64")]
    native: [OnceLock<Option<Native>>; 4],
    #[cfg(target_arch = "x86_64")]
    options: Option<crate::x86::Options>,
    /// Its code for launches without masks.
    #[cfg(target_arch = "x86_64")]
    streams: crate::stream::Streams,
    /// Its form for one group at a time.
    pub code: Code,
    /// The variables that a group has to be given: live at the start and covered by a plane.
    pub start: Vec<Var>,
    /// The output components that it may write.
    outputs: Vec<usize>,
    /// What threads need to run groups, kept from launch to launch: for code that does not count instructions down, and for code that
    /// does.
    idle: [Mutex<Vec<Worker>>; 2],
}

impl Artifact {
    fn new(launch: &Launch<'_>, engine: &Jit) -> Option<Self> {
        let lowered = crate::x1k::lower(launch.program, launch.constants)?;
        let mut code = lowered.clone();
        let liveness = optimise(&mut code, false);
        let start = liveness.at(ENTRY).iter().filter(|&var| Ramp::of(var, launch.planes).is_some()).collect();
        let outputs = (0..OUTPUT_VARS).filter(|index| code.outputs >> index & 1 == 1).collect();
        Some(Self {
            #[cfg(target_arch = "x86_64")]
            lowered,
            #[cfg(target_arch = "x86_64")]
            liveness,
            #[cfg(target_arch = "x86_64")]
            native: Default::default(),
            #[cfg(target_arch = "x86_64")]
            options: engine.backend.isa().map(|isa| crate::x86::Options {
                isa,
                lanes: launch.group.lanes(),
                fuel: false,
                careful: false,
                counters: engine.counters,
                copies: engine.copies,
            }),
            #[cfg(target_arch = "x86_64")]
            streams: crate::stream::Streams::new(engine.streams, Arc::clone(&engine.streams_run)),
            code,
            start,
            outputs,
            idle: Default::default(),
        })
    }

    /// The machine code, if this host lets us make it.
    #[cfg(target_arch = "x86_64")]
    fn native(&self, fuel: bool, careful: bool) -> Option<&Native> {
        let make = || {
            let mut options = crate::x86::Options { fuel, careful, ..self.options? };
            if careful {
                // It runs the same groups once more.
                options.copies = self.native(fuel, false).map(|native| native.copies as u8);
            }
            Native::new(&self.lowered, (&self.code, &self.liveness), &self.start, &self.outputs, options)
        };
        self.native[2 * usize::from(careful) + usize::from(fuel)].get_or_init(make).as_ref()
    }
}

/// A group that is to run.
#[derive(Clone, Copy)]
struct Job {
    group: u64,
    covered: Mask,
}

/// What one group left.
enum Left {
    /// It ran here: rows of the output components that the program may write.
    Here { covered: Mask, written: [Mask; OUTPUT_VARS], rows: Vec<Row> },
    /// The reference interpreter ran it.
    Reference { counters: Box<Counters>, outputs: Vec<(Position, Outputs)> },
}

/// Visits of blocks by groups that have all their lanes, and by the last one of a domain when it is short.
type AllVisits = [Vec<Visits>; 2];

/// What one task left: what each of its groups did, up to the first fault.
struct TaskDone {
    visits: AllVisits,
    processors: u64,
    groups: Vec<(u64, Left)>,
    fault: Option<Fault>,
}

/// A launch under way.
struct Run<'a> {
    launch: &'a Launch<'a>,
    artifact: &'a Artifact,
    grid: Grid,
    ramps: Vec<Ramp>,
    deadline: Option<Instant>,
    steps: OnceLock<Vec<Step>>,
    counters: Counters,
    visits: AllVisits,
    /// How many instructions one group can issue at most, if that is known.
    bound: Option<u64>,
    #[cfg(target_arch = "x86_64")]
    native: Option<&'a Native>,
    /// The machine code counts instructions down, and may refer.
    counts_down: bool,
    /// Instructions that one group may issue before the reference interpreter has to look at it.
    fuel: u64,
}

impl<'a> Run<'a> {
    fn new(launch: &'a Launch<'a>, artifact: &'a Artifact) -> Self {
        let limit = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let fuel = if launch.budget.time.is_some() { limit.min(FUEL_PER_LOOK) } else { limit };
        let bound = instruction_bound(&artifact.code, launch.constants);
        let bounded = bound.is_some_and(|bound| bound <= fuel);
        let counts_down = fuel != u64::MAX && !bounded;
        Self {
            bound,
            counts_down,
            #[cfg(target_arch = "x86_64")]
            native: None,
            fuel,
            launch,
            artifact,
            grid: Grid::new(launch.domain, launch.group.lanes()),
            ramps: artifact.start.iter().filter_map(|&var| Ramp::of(var, launch.planes)).collect(),
            deadline: launch.budget.time.and_then(|limit| Instant::now().checked_add(limit)),
            steps: OnceLock::new(),
            counters: Counters::default(),
            visits: no_visits(&artifact.code),
        }
    }

    fn go(mut self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        if self.stream(memory) {
            return Ok(Outcome { counters: self.counters, findings: Vec::new() });
        }
        #[cfg(target_arch = "x86_64")]
        {
            self.native = self.artifact.native(self.counts_down, false);
        }
        let (mut first, refused) = self.write_directly(memory);
        if !refused.is_empty() {
            let task = self.worker().get().task(&self, &refused, memory);
            self.commit(task, memory)?;
        }
        let groups_per_batch = if memory.outputs_alias_inputs() { 1 } else { GROUPS_PER_BATCH };
        while first < self.grid.groups() {
            let end = (first + groups_per_batch).min(self.grid.groups());
            let (jobs, refused) = self.schedule(first..end, memory);
            let this = &self;
            let shared: &dyn Memory = memory;
            let tasks = jobs.len().div_ceil(GROUPS_PER_TASK);
            let done = share(
                this.launch.threads,
                tasks,
                || this.worker(),
                |worker, task| {
                    let end = ((task + 1) * GROUPS_PER_TASK).min(jobs.len());
                    worker.get().task(this, &jobs[task * GROUPS_PER_TASK..end], shared)
                },
            );
            for task in done {
                self.commit(task, memory)?;
            }
            if let Some(fault) = refused {
                return Err(fault);
            }
            first = end;
        }
        for (visits, lanes) in self.visits.iter().zip([self.launch.group.lanes(), self.grid.lanes_of_last()]) {
            count(&self.artifact.code, visits, lanes, memory, &mut self.counters);
        }
        Ok(Outcome { counters: self.counters, findings: Vec::new() })
    }

    /// Workers that nobody uses.
    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.artifact.idle[usize::from(self.counts_down)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one thread needs, until it is dropped.
    fn worker(&self) -> Held<'_> {
        Held { run: self, worker: self.idle().pop() }
    }

    /// Runs a launch in which every processor does the same; says whether it was one.
    #[cfg(target_arch = "x86_64")]
    fn stream(&mut self, memory: &mut dyn Memory) -> bool {
        let limit = self.launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let bounded = self.bound.is_some_and(|bound| bound <= limit);
        let Some(options) = self.artifact.options.filter(|_| bounded) else { return false };
        let (streams, lowered) = (&self.artifact.streams, &self.artifact.lowered);
        let Some(done) = crate::stream::run(streams, options.isa, lowered, self.launch, self.deadline, memory) else {
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
            let visits = crate::stream::visits(&done.passes, groups, processors);
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

    /// Runs the groups of a launch that cannot fault, if memory lets us write; gives the first group that is left, and those that
    /// did not run after all.
    #[cfg(target_arch = "x86_64")]
    fn write_directly(&mut self, memory: &mut dyn Memory) -> (u64, Vec<Job>) {
        let Some(native) = self.native.filter(|_| !self.counts_down) else { return (0, Vec::new()) };
        if memory.outputs_alias_inputs() || self.deadline.is_some() {
            return (0, Vec::new());
        }
        let inputs = std::array::from_fn(|index| memory.input(index as u8));
        let last = Position { i: self.launch.domain.i1, j: self.launch.domain.j1 };
        let halves = memory.direct().and_then(|d| direct::halves(d, inputs, &self.artifact.code, &self.grid, last));
        let Some((views, targets)) = halves else { return (0, Vec::new()) };
        let (groups, full) = (self.grid.groups(), self.grid.full_groups());
        let this = &*self;
        // Tasks are small as groups differ in cost, and large as each fills some pages of output. All passes but the last of a task are full.
        let [fewest, most] = DIRECT_GROUPS_PER_TASK;
        let copies = native.copies as u64;
        let per_task = if groups <= fewest || self.launch.threads == 1 {
            most
        } else {
            (groups / (DIRECT_TASKS_PER_THREAD * threads(self.launch.threads) as u64)).clamp(fewest, most)
        } / copies
            * copies;
        let task = |worker: &mut Held<'_>, task: usize| {
            let worker = worker.get();
            let mut done = (no_visits(&this.artifact.code), Counters::default(), Vec::new());
            let end = ((task as u64 + 1) * per_task).min(groups);
            let mut next = task as u64 * per_task;
            let mut wave = Vec::with_capacity(native.copies);
            while next < end {
                wave.clear();
                worker.places.clear();
                // The last group runs by itself when it is short.
                let last = if next < full { end.min(full) } else { end };
                while next < last && wave.len() < native.copies {
                    let places = this.grid.places(next);
                    let covered = this.grid.inside(&places) & this.existing(next);
                    if covered != 0 {
                        wave.push(Job { group: next, covered });
                        worker.places.push(places);
                    }
                    next += 1;
                }
                let source = Source { memory: &views, views: Some(&views) };
                let Some(job) = wave.first() else { continue };
                let short = usize::from(job.group >= full);
                if worker.pass(this, &wave, source).is_err() {
                    done.2.append(&mut wave);
                    continue;
                }
                done.0[short].iter_mut().zip(&worker.visits).for_each(|(all, visits)| all.add(visits));
                for ((job, lanes), places) in wave.iter().zip(&worker.lanes).zip(&worker.places) {
                    let written = targets.write(places, lanes);
                    done.1.groups += 1;
                    done.1.processors += u64::from(job.covered.count_ones());
                    done.1.writes += written.elements;
                    done.1.write_bytes += written.bytes;
                }
            }
            done
        };
        let tasks = groups.div_ceil(per_task) as usize;
        let done = share(this.launch.threads, tasks, || this.worker(), task);
        let mut refused = Vec::new();
        for (visits, counters, mut jobs) in done {
            refused.append(&mut jobs);
            self.add_visits(&visits);
            self.counters.add(&counters);
        }
        (groups, refused)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn write_directly(&mut self, _memory: &mut dyn Memory) -> (u64, Vec<Job>) {
        (0, Vec::new())
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
    fn existing(&self, group: u64) -> Mask {
        let lanes = self.launch.group.lanes();
        if group < self.grid.full_groups() { mask_of(lanes) } else { mask_of(self.grid.lanes_of_last()) }
    }

    fn add_visits(&mut self, done: &AllVisits) {
        for (all, done) in self.visits.iter_mut().zip(done) {
            all.iter_mut().zip(done).for_each(|(all, visits)| all.add(visits));
        }
    }

    /// Adds up what a task did and sends its outputs.
    fn commit(&mut self, task: TaskDone, memory: &mut dyn Memory) -> Result<(), Fault> {
        self.add_visits(&task.visits);
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

fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// What back ends read inputs from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Through this, always.
    pub memory: &'a dyn Memory,
    /// From these, where it is the same.
    #[cfg(target_arch = "x86_64")]
    pub views: Option<&'a direct::Views<'a>>,
}

fn source(memory: &dyn Memory) -> Source<'_> {
    Source {
        memory,
        #[cfg(target_arch = "x86_64")]
        views: None,
    }
}

fn no_visits(code: &Code) -> AllVisits {
    std::array::from_fn(|_| vec![Visits::default(); code.blocks.len()])
}

/// A worker in use.
struct Held<'a> {
    run: &'a Run<'a>,
    worker: Option<Worker>,
}

impl Held<'_> {
    fn get(&mut self) -> &mut Worker {
        self.worker.get_or_insert_with(|| Worker::new(self.run))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            // It belongs to a launch.
            worker.reference = None;
            self.run.idle().push(worker);
        }
    }
}

/// What one thread needs to run groups.
struct Worker {
    machine: Engines,
    lanes: Vec<Lanes>,
    visits: Vec<Visits>,
    reference: Option<Group>,
    /// Where the groups lie that run now.
    places: Vec<Places>,
}

/// What runs them.
enum Engines {
    Portable(Box<Machine>),
    #[cfg(target_arch = "x86_64")]
    Native(Attempts),
}

/// Runs of machine code that may have to be repeated by careful code.
#[cfg(target_arch = "x86_64")]
struct Attempts {
    frame: Frame,
    careful: Option<Frame>,
    made: u64,
    failed: u64,
}

#[cfg(target_arch = "x86_64")]
impl Attempts {
    fn new(native: &Native) -> Self {
        Self { frame: native.frame(), careful: None, made: 0, failed: 0 }
    }

    /// Not where more than a quarter has failed.
    const fn are_worth_it(&self) -> bool {
        self.failed < 16 || 4 * self.failed < self.made
    }
}

impl Worker {
    fn new(run: &Run<'_>) -> Self {
        #[cfg(target_arch = "x86_64")]
        let native = run.native.map(|native| (Engines::Native(Attempts::new(native)), native.copies));
        #[cfg(not(target_arch = "x86_64"))]
        let native = None;
        let (machine, copies) =
            native.unwrap_or_else(|| (Engines::Portable(Box::new(Machine::new(&run.artifact.code))), 1));
        Self {
            machine,
            lanes: vec![Lanes::new(run.launch.group.lanes(), run.ramps.len()); copies],
            visits: vec![Visits::default(); run.artifact.code.blocks.len()],
            reference: None,
            places: Vec::with_capacity(copies),
        }
    }

    fn task(&mut self, run: &Run<'_>, jobs: &[Job], memory: &dyn Memory) -> TaskDone {
        let mut done = TaskDone {
            visits: no_visits(&run.artifact.code),
            processors: 0,
            groups: Vec::with_capacity(jobs.len()),
            fault: None,
        };
        // Only the last group of a domain may be short. Then it runs by itself.
        let full = jobs.iter().take_while(|job| job.group < run.grid.full_groups()).count();
        let waves = jobs[..full].chunks(self.lanes.len()).chain(jobs[full..].chunks(1));
        for (wave, short) in waves.map(|wave| (wave, wave[0].group >= run.grid.full_groups())) {
            if self.wave(run, wave, source(memory)).is_ok() {
                done.visits[usize::from(short)].iter_mut().zip(&self.visits).for_each(|(all, visits)| all.add(visits));
                for (job, lanes) in wave.iter().zip(&self.lanes) {
                    done.processors += u64::from(job.covered.count_ones());
                    let rows = run.artifact.outputs.iter().map(|&index| lanes.outputs[index]).collect();
                    let left = Left::Here { covered: lanes.covered, written: lanes.written, rows };
                    done.groups.push((job.group, left));
                }
            } else if let Err(fault) = self.references(run, wave, memory, &mut done) {
                done.fault = Some(fault);
                return done;
            }
        }
        done
    }

    /// Runs groups together.
    fn wave(&mut self, run: &Run<'_>, wave: &[Job], memory: Source<'_>) -> Result<(), Refer> {
        // The reference interpreter says so, with the right instruction.
        if run.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Refer);
        }
        self.places.clear();
        self.places.extend(wave.iter().map(|job| run.grid.places(job.group)));
        self.pass(run, wave, memory)
    }

    /// Runs groups together whose [`Self::places`] are there.
    fn pass(&mut self, run: &Run<'_>, wave: &[Job], memory: Source<'_>) -> Result<(), Refer> {
        for ((job, lanes), places) in wave.iter().zip(&mut self.lanes).zip(&self.places) {
            (lanes.existing, lanes.covered) = (run.existing(job.group), job.covered);
            lanes.start.iter_mut().zip(&run.ramps).for_each(|(row, ramp)| *row = ramp.row(places));
        }
        self.visits.fill(Visits::default());
        let lanes = &mut self.lanes[..wave.len()];
        match &mut self.machine {
            #[cfg(target_arch = "x86_64")]
            Engines::Native(attempts) => {
                let constants = run.launch.constants;
                let native = run.native.ok_or(Refer)?;
                if attempts.are_worth_it() {
                    attempts.made += 1;
                    if native.run(&mut attempts.frame, lanes, constants, &memory, &mut self.visits, run.fuel)? {
                        return Ok(());
                    }
                    attempts.failed += 1;
                    self.visits.fill(Visits::default());
                }
                let careful = run.artifact.native(run.counts_down, true).ok_or(Refer)?;
                let frame = attempts.careful.get_or_insert_with(|| careful.frame());
                careful.run(frame, lanes, constants, &memory, &mut self.visits, run.fuel).map(drop)
            }
            Engines::Portable(machine) => {
                let shared = Shared {
                    code: &run.artifact.code,
                    start: &run.artifact.start,
                    constants: run.launch.constants,
                    memory: memory.memory,
                    limit: run.launch.budget.instructions_per_group.unwrap_or(u64::MAX),
                    deadline: run.deadline,
                };
                lanes.iter_mut().try_for_each(|lanes| machine.run(&shared, lanes, &mut self.visits))
            }
        }
    }

    /// Runs groups by the reference interpreter.
    fn references(
        &mut self,
        run: &Run<'_>,
        jobs: &[Job],
        memory: &dyn Memory,
        done: &mut TaskDone,
    ) -> Result<(), Fault> {
        for job in jobs {
            let places = run.grid.places(job.group);
            done.groups.push((job.group, self.reference(run, job, &places, memory)?));
        }
        Ok(())
    }

    fn reference(&mut self, run: &Run<'_>, job: &Job, places: &Places, memory: &dyn Memory) -> Result<Left, Fault> {
        let steps = run.steps.get_or_init(|| plan(run.launch.program));
        let context = Context { launch: run.launch, steps, deadline: run.deadline };
        let group = self.reference.get_or_insert_with(|| Group::new(run.launch));
        let lanes = run.existing(job.group).count_ones() as usize;
        let positions: Vec<_> = (0..lanes).map(|lane| places.position(lane)).collect();
        let covered = LaneMask::of(|lane| job.covered >> lane & 1 == 1);
        group.run(&context, &positions, &[covered], &mut Access::Shared(memory))?;
        Ok(Left::Reference { counters: Box::new(*group.counters()), outputs: group.outputs().collect() })
    }
}
