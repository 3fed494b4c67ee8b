//! R700 launches: programs are lowered once, wavefronts run in batches on all cores, what they export is committed in order.

use super::form::{Code, Op, Var};
use super::lower::lower;
#[cfg(target_arch = "x86_64")]
use super::passes::VarSet;
use super::portable::Machine;
use super::verify::reads;
use super::wave::{Binding, EXPORTS, Row, Shared, Stored, Wave, lanes_of};
use crate::backend::Backend;
use crate::lanes::Refer;
#[cfg(target_arch = "x86_64")]
use crate::stream::Streams;
use crate::work::share;
#[cfg(target_arch = "x86_64")]
use crate::x86::{
    Frame,
    r700::{Native, Variant},
};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::clocks;
use ctm_exec::r700::interp::Order;
use ctm_exec::r700::memory::Shared as OnChip;
use ctm_exec::r700::wavefront::{Context, Wavefront};
use ctm_exec::r700::{
    Buffer, DirectTarget, Exports, Interp, Launch, LoopConstant, Memory, Plane, Sampler, Space, Target, Texture,
    VertexEvent, Written,
};
use ctm_exec::{Counters, Engine, Fault, FaultKind, Outcome, Position};
use ctm_isa::r700::program::{Chip, Stage};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
pub type Streams = ();

/// Wavefronts that run side by side before their exports are committed.
const WAVES_PER_BATCH: u64 = 1024;
/// Wavefronts that one task of a batch runs.
const WAVES_PER_TASK: usize = 16;
/// Instructions after which a wavefront goes to the reference interpreter, which looks at the clock, when time is limited.
const FUEL_PER_LOOK: u64 = 20_000_000;
/// Programs that an engine remembers.
const CACHED_PROGRAMS: usize = 256;

/// The R700 programs that an engine has lowered; `None`: what has to be left to the reference interpreter.
pub type Programs = Mutex<HashMap<Key, Option<Arc<Artifact>>>>;

/// All that lowering depends on.
#[derive(PartialEq, Eq, Hash)]
pub struct Key {
    words: [Vec<u32>; 2],
    entries: [u32; 2],
    has_fetch_program: bool,
    gprs: u8,
    stage: Stage,
    chip: Chip,
    lanes: usize,
    booleans: u32,
    loops: Vec<(u16, u16, i8)>,
    semantics: Vec<(u8, u8)>,
    /// Registers that hold something at the start.
    planes: u128,
}

impl Key {
    fn of(launch: &Launch<'_>) -> Self {
        let fetch = launch.fetch_program;
        let words = |program: Option<&ctm_isa::r700::Program>| program.map(|p| p.words.clone()).unwrap_or_default();
        let constant = |c: &LoopConstant| (c.count, c.start, c.step);
        Self {
            words: [words(Some(launch.program)), words(fetch)],
            entries: [launch.program.entry, fetch.map_or(0, |program| program.entry)],
            has_fetch_program: fetch.is_some(),
            gprs: launch.program.gprs,
            stage: launch.stage,
            chip: launch.chip,
            lanes: launch.wavefront.lanes(),
            booleans: launch.constants.bool.iter().fold(0, |all, &b| all << 1 | u32::from(b)),
            loops: launch.constants.loops.iter().map(constant).collect(),
            semantics: launch.semantics.iter().map(|row| (row.id, row.gpr)).collect(),
            planes: launch.planes.iter().fold(0, |set, plane| set | 1 << (plane.temp % 128)),
        }
    }
}

fn artifact(programs: &Programs, streams: &dyn Fn() -> Streams, launch: &Launch<'_>) -> Option<Arc<Artifact>> {
    let key = Key::of(launch);
    let mut cache = programs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(artifact) = cache.get(&key) {
        return artifact.clone();
    }
    if cache.len() >= CACHED_PROGRAMS {
        cache.clear();
    }
    let artifact = Artifact::new(launch, streams()).map(Arc::new);
    cache.insert(key, artifact.clone());
    artifact
}

/// A program, ready to run.
pub struct Artifact {
    pub(super) code: Code,
    /// The variables that somebody may still read at the beginning of each block.
    #[cfg(target_arch = "x86_64")]
    live: Vec<VarSet>,
    /// Its machine code, for any uniform values and for ordinary ones, without and with weighed texels; made when first needed.
    #[cfg(target_arch = "x86_64")]
    native: [OnceLock<Option<Native>>; 4],
    /// Its form for streams, if every thread does the same; made when first needed.
    #[cfg(target_arch = "x86_64")]
    pub(super) uniform: OnceLock<Option<super::uniform::Uniform>>,
    /// Its code for streams.
    #[cfg(target_arch = "x86_64")]
    pub(super) streams: Streams,
    /// The variables that a wavefront has to be given: read somewhere and covered by a plane.
    start: Vec<Var>,
    /// The exported elements that it may write.
    exports: Vec<usize>,
}

impl Artifact {
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "there are no streams"))]
    fn new(launch: &Launch<'_>, streams: Streams) -> Option<Self> {
        let mut code = lower(launch)?;
        let live = super::passes::optimise(&mut code);
        #[cfg(not(target_arch = "x86_64"))]
        drop(live);
        let ops = || code.blocks.iter().flat_map(|block| &block.ops);
        let gprs = usize::from(launch.program.gprs).clamp(1, ctm_isa::r700::GPRS);
        let mut given = vec![false; Var::COUNT];
        for plane in launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs) {
            (0..4).for_each(|e| given[Var::gpr(usize::from(plane.temp), e).index()] = true);
        }
        let mut read = vec![code.relative_gprs; Var::COUNT];
        let mut written = [false; EXPORTS];
        for op in ops() {
            match op {
                Op::Get(var) => read[var.index()] = true,
                Op::Mark(var, _) => var.export_index().into_iter().for_each(|index| written[index] = true),
                _ => {}
            }
        }
        let start = (0..Var::COUNT).filter(|&v| given[v] && read[v]).map(|v| Var(v as u16)).collect();
        let exports = (0..EXPORTS).filter(|&e| written[e]).collect();
        Some(Self {
            code,
            #[cfg(target_arch = "x86_64")]
            live,
            #[cfg(target_arch = "x86_64")]
            native: Default::default(),
            #[cfg(target_arch = "x86_64")]
            uniform: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            streams,
            start,
            exports,
        })
    }

    /// Whether it writes memory that threads share. Nobody reads that here, so what has been written can be written again.
    fn writes_memory(&self) -> bool {
        !self.code.stores.is_empty()
    }

    /// The machine code for these uniform values, if there is any; `linear`: some lookup weighs texels.
    #[cfg(target_arch = "x86_64")]
    fn native(&self, lanes: usize, uniforms: &[u32], linear: bool) -> Option<&Native> {
        let make = |assume| {
            let variant = Variant { assume, linear };
            let make = || Native::new(&self.code, &self.live, &self.start, &self.exports, lanes, variant);
            self.native[usize::from(assume) + 2 * usize::from(linear)].get_or_init(make).as_ref()
        };
        let ordinary = |&index: &u16| uniforms.get(usize::from(index)).is_some_and(|&x| f32::from_bits(x).is_normal());
        let assuming = make(true)?;
        if assuming.assumed.iter().all(ordinary) { Some(assuming) } else { make(false) }
    }
}

/// What one wavefront left.
enum Left {
    /// It ran here.
    Here { positions: Vec<Position>, valid: u64, written: Vec<u64>, rows: Vec<Row>, stored: Vec<Stored> },
    /// The reference interpreter ran it.
    Reference { events: Vec<(Position, VertexEvent)>, exports: Vec<(Position, Exports)> },
}

/// What one task left: its wavefronts up to the first fault.
struct TaskDone {
    counters: Counters,
    visits: Vec<u64>,
    waves: Vec<Left>,
    fault: Option<Fault>,
    /// The reference interpreter has to run the whole launch.
    gives_up: bool,
}

/// A launch under way.
pub(super) struct Run<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) artifact: &'a Artifact,
    /// The programs as the reference interpreter reads them, once it has to.
    context: OnceLock<Context<'a>>,
    pub(super) deadline: Option<Instant>,
    pub(super) order: Order,
    fuel: u64,
    #[cfg(target_arch = "x86_64")]
    pub(super) backend: Backend,
}

/// Runs a launch.
///
/// # Errors
/// The fault of the first wavefront that did wrong.
pub fn run(
    programs: &Programs,
    backend: Backend,
    streams: &dyn Fn() -> Streams,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
) -> Result<Outcome, Fault> {
    let lanes = launch.wavefront.lanes();
    let shares = launch.stage == Stage::Compute && launch.group_threads as usize > lanes;
    if launch.checks || !matches!(lanes, 16 | 32 | 64) || shares {
        return Interp.run_r700(launch, memory);
    }
    let Some(artifact) = artifact(programs, streams, launch) else { return Interp.run_r700(launch, memory) };
    if artifact.writes_memory() && memory.outputs_alias_inputs() {
        return Interp.run_r700(launch, memory);
    }
    let limit = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
    let run = Run {
        launch,
        artifact: &artifact,
        context: OnceLock::new(),
        deadline: launch.budget.time.and_then(|limit| Instant::now().checked_add(limit)),
        order: Order::of(launch),
        fuel: if launch.budget.time.is_some() { limit.min(FUEL_PER_LOOK) } else { limit },
        #[cfg(target_arch = "x86_64")]
        backend,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = backend;
    run.go(memory)
}

impl Run<'_> {
    fn go(&self, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        #[cfg(target_arch = "x86_64")]
        if let Some(counters) = self.stream(memory) {
            return Ok(Outcome { counters, findings: Vec::new() });
        }
        let alias = memory.outputs_alias_inputs();
        let batch = if alias { 1 } else { WAVES_PER_BATCH };
        let count = self.order.count(self.launch);
        let mut outcome = Outcome::default();
        let mut visits = vec![0; self.artifact.code.blocks.len()];
        let mut uniforms = self.uniforms(memory);
        let mut worker = None;
        let mut first = 0;
        while first < count {
            let end = (first + batch).min(count);
            if alias && first > 0 {
                uniforms = self.uniforms(memory);
            }
            let waves: Vec<u64> = (first..end).collect();
            let (shared, table): (&dyn Memory, _) = (memory, uniforms.as_deref());
            let done = if alias {
                vec![worker.get_or_insert_with(|| Worker::new(self)).task(self, &waves, table, shared)]
            } else {
                let tasks: Vec<&[u64]> = waves.chunks(WAVES_PER_TASK).collect();
                let one = |worker: &mut Worker<'_>, task: usize| worker.task(self, tasks[task], table, shared);
                share(self.launch.threads, tasks.len(), || Worker::new(self), one)
            };
            for task in done {
                if task.gives_up || self.write(&task, memory, &mut outcome.counters).is_err() {
                    return Interp.run_r700(self.launch, memory);
                }
                visits.iter_mut().zip(&task.visits).for_each(|(all, n)| *all += n);
                outcome.counters.add(&task.counters);
                self.commit(&task, memory, &mut outcome.counters)?;
            }
            first = end;
        }
        self.count(&visits, self.launch.wavefront.lanes() as u64, &mut outcome.counters);
        Ok(outcome)
    }

    /// The table of uniform values; `None` when memory refuses a constant, which the reference interpreter will tell.
    pub(super) fn uniforms(&self, memory: &dyn Memory) -> Option<Vec<u32>> {
        let mut table: Vec<u32> = self.launch.constants.file.as_flattened().to_vec();
        for locked in &self.artifact.code.locked {
            for index in 0..u32::from(locked.count) {
                table.extend(memory.constant(locked.bank, locked.first + index).ok()?);
            }
        }
        Some(table)
    }

    /// What passages of blocks count (`Wavefront::charge` of the reference interpreter).
    pub(super) fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        for (block, &n) in self.artifact.code.blocks.iter().zip(visits) {
            let tally = &block.tally;
            counters.alu += n * u64::from(tally.alu);
            counters.output += n * u64::from(tally.output);
            counters.tex += n * u64::from(tally.tex);
            counters.fc += n * u64::from(tally.fc);
            counters.total_lanes += n * lanes * u64::from(tally.instructions());
            // Reads of the local data share, which may take several passes, are not lowered.
            let groups = u64::from(tally.alu + tally.delays);
            counters.alu_clocks += n * groups * lanes.div_ceil(clocks::GROUP_LANES);
            counters.tex_clocks += n * u64::from(tally.tex) * lanes.div_ceil(clocks::FETCH_LANES);
            counters.fc_clocks += n * clocks::CONTROL_CLOCKS * u64::from(tally.fc + tally.output);
        }
    }

    /// Whether the exports of every thread to a target can be stored here.
    fn is_direct(&self, target: Target, memory: &mut dyn Memory) -> bool {
        let domain = &self.launch.domain;
        match memory.direct_target(target) {
            None => false,
            Some(DirectTarget::Nowhere) => true,
            Some(DirectTarget::Elements { width, elements }) => {
                let last = u64::from(domain.j1) * u64::from(width) + u64::from(domain.i1);
                domain.i1 < width && last < elements.len() as u64
            }
        }
    }

    /// Stores the exports of a wavefront whose targets are all direct; false if one of them is not.
    #[allow(clippy::too_many_arguments, reason = "what a wavefront left, and where it goes")]
    fn store(
        &self,
        positions: &[Position],
        valid: u64,
        written: &[u64],
        rows: &[Row],
        targets: &[Target],
        memory: &mut dyn Memory,
        counters: &mut Counters,
    ) -> bool {
        let exports = &self.artifact.exports;
        let mut next = 0;
        while next < exports.len() {
            let target = exports[next] / 4;
            let count = exports[next..].iter().take_while(|&&e| e / 4 == target).count();
            let of = next..next + count;
            next += count;
            let any = written[of.clone()].iter().fold(0, |all, lanes| all | lanes) & valid;
            let (width, elements) = match memory.direct_target(targets[target]) {
                None => return false,
                Some(DirectTarget::Nowhere) => continue,
                Some(DirectTarget::Elements { width, elements }) => (width as usize, elements),
            };
            counters.writes += u64::from(any.count_ones());
            let place = |lane: usize| positions[lane].j as usize * width + positions[lane].i as usize;
            let whole = count == 4 && written[of.clone()].iter().all(|lanes| lanes & any == any);
            if whole {
                let [x, y, z, w] = [0, 1, 2, 3].map(|e| &rows[of.start + e]);
                for lane in lanes_of(any) {
                    if let Some(element) = elements.get_mut(place(lane)) {
                        *element = [x[lane], y[lane], z[lane], w[lane]];
                    }
                }
                counters.write_bytes += 16 * u64::from(any.count_ones());
                continue;
            }
            for export in of {
                let lanes = written[export] & valid;
                for lane in lanes_of(lanes) {
                    if let Some(element) = elements.get_mut(place(lane)) {
                        element[exports[export] % 4] = rows[export][lane];
                    }
                }
                counters.write_bytes += 4 * u64::from(lanes.count_ones());
            }
        }
        true
    }

    /// Writes what a task's wavefronts wrote to memory that threads share.
    fn write(&self, task: &TaskDone, memory: &mut dyn Memory, counters: &mut Counters) -> Result<(), MemoryFault> {
        for left in &task.waves {
            let Left::Here { stored, .. } = left else { continue };
            for &Stored { space, dword, bits } in stored {
                memory.store(space, dword, bits)?;
            }
            counters.writes += stored.len() as u64;
            counters.write_bytes += 4 * stored.len() as u64;
        }
        Ok(())
    }

    /// Sends what a task's wavefronts left.
    fn commit(&self, task: &TaskDone, memory: &mut dyn Memory, counters: &mut Counters) -> Result<(), Fault> {
        let refused = |fault: MemoryFault, at| Fault {
            kind: FaultKind::Memory(fault),
            pc: self.launch.program.entry,
            position: Some(at),
        };
        let targets: Vec<Target> = Target::all().collect();
        let direct = self.artifact.exports.iter().all(|&e| self.is_direct(targets[e / 4], memory));
        let send = |at, exports: &Exports, memory: &mut dyn Memory, counters: &mut Counters| {
            let written = memory.commit(at, exports).map_err(|fault| refused(fault, at))?;
            counters.writes += written.elements;
            counters.write_bytes += written.bytes;
            Ok(())
        };
        let mut exports = Exports::default();
        for left in &task.waves {
            match left {
                Left::Here { positions, valid, written, rows, .. }
                    if direct && self.store(positions, *valid, written, rows, &targets, memory, counters) => {}
                Left::Here { positions, valid, written, rows, .. } => {
                    for lane in lanes_of(*valid) {
                        exports.clear();
                        let mut next = 0;
                        while let Some(&element) = self.artifact.exports.get(next) {
                            let mut values = [None; 4];
                            let target = element / 4;
                            while let Some(&element) = self.artifact.exports.get(next)
                                && element / 4 == target
                            {
                                if written[next] >> lane & 1 == 1 {
                                    values[element % 4] = Some(rows[next][lane]);
                                }
                                next += 1;
                            }
                            exports.set(targets[target], values);
                        }
                        send(positions[lane], &exports, memory, counters)?;
                    }
                }
                Left::Reference { events, exports } => {
                    for &(at, event) in events {
                        memory.vertex_event(at, event).map_err(|fault| refused(fault, at))?;
                    }
                    for (at, exports) in exports {
                        send(*at, exports, memory, counters)?;
                    }
                }
            }
        }
        task.fault.clone().map_or(Ok(()), Err)
    }
}

/// What one thread needs to run wavefronts.
struct Worker<'a> {
    machine: Option<Machine>,
    /// For machine code, and which.
    #[cfg(target_arch = "x86_64")]
    frame: Option<(&'a Native, Frame)>,
    artifact: &'a Artifact,
    wave: Wave,
    reference: Option<(Wavefront, OnChip)>,
}

impl<'a> Worker<'a> {
    fn new(run: &Run<'a>) -> Self {
        let artifact = run.artifact;
        Self {
            machine: None,
            #[cfg(target_arch = "x86_64")]
            frame: None,
            artifact,
            wave: Wave::new(artifact.start.len(), artifact.exports.len(), artifact.code.blocks.len()),
            reference: None,
        }
    }

    fn task(&mut self, run: &Run<'_>, waves: &[u64], uniforms: Option<&[u32]>, memory: &dyn Memory) -> TaskDone {
        let mut done = TaskDone {
            counters: Counters::default(),
            visits: vec![0; run.artifact.code.blocks.len()],
            waves: Vec::with_capacity(waves.len()),
            fault: None,
            gives_up: false,
        };
        let bindings: Vec<_> =
            run.artifact.code.fetches.iter().map(|fetch| Binding::of(run.launch, memory, fetch)).collect();
        for &index in waves {
            let positions = run.order.positions(run.launch, index);
            let ran = match uniforms {
                Some(uniforms) => self.here(run, index, &positions, uniforms, &bindings, memory, &mut done.counters),
                None => Err(Refer),
            };
            let left = match ran {
                Err(Refer) if run.artifact.writes_memory() => {
                    done.gives_up = true;
                    break;
                }
                Ok(left) => {
                    done.visits.iter_mut().zip(&self.wave.visits).for_each(|(all, n)| *all += n);
                    Ok(left)
                }
                Err(Refer) => self.reference(run, index, &positions, memory, &mut done.counters),
            };
            match left {
                Ok(left) => done.waves.push(left),
                Err(fault) => {
                    done.fault = Some(fault);
                    break;
                }
            }
        }
        done
    }

    /// Runs a wavefront here.
    #[allow(clippy::too_many_arguments, reason = "a wavefront, and what it may read")]
    fn here(
        &mut self,
        run: &Run<'_>,
        index: u64,
        positions: &[Position],
        uniforms: &[u32],
        bindings: &[Option<Binding<'_>>],
        memory: &dyn Memory,
        counters: &mut Counters,
    ) -> Result<Left, Refer> {
        let lanes = run.launch.wavefront.lanes();
        if run.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Refer);
        }
        let artifact = self.artifact;
        self.wave.reset();
        self.wave.fetched.first_thread = index * lanes as u64;
        let valid = |mask, (lane, &at): (usize, &Position)| mask | u64::from(run.launch.domain.contains(at)) << lane;
        self.wave.valid = positions.iter().enumerate().fold(0, valid);
        let processors = u64::from(self.wave.valid.count_ones());
        for plane in run.launch.planes {
            let first = Var::gpr(usize::from(plane.temp), 0).index();
            let places = (0..4).map(|e| artifact.start.iter().position(|v| v.index() == first + e));
            let places = places.enumerate().filter_map(|(e, p)| Some((e, p?)));
            for (element, place) in places {
                ramp(plane, element, positions, &mut self.wave.start[place]);
            }
        }
        let shared = Shared {
            launch: run.launch,
            memory,
            fetches: &artifact.code.fetches,
            stores: &artifact.code.stores,
            uniforms,
            lanes: positions.len(),
            fuel: run.fuel,
            bindings,
        };
        #[cfg(target_arch = "x86_64")]
        let native = match run.backend {
            Backend::Avx512 => {
                let linear = bindings.iter().flatten().any(Binding::is_linear);
                artifact.native(lanes, uniforms, linear)
            }
            Backend::Avx2 | Backend::Portable => None,
        };
        #[cfg(target_arch = "x86_64")]
        let ran = native.map(|native| {
            let frame = match &mut self.frame {
                Some((of, frame)) if std::ptr::eq(*of, native) => frame,
                place => &mut place.insert((native, native.frame())).1,
            };
            native.run(frame, &shared, &mut self.wave)
        });
        #[cfg(not(target_arch = "x86_64"))]
        let ran: Option<Result<(), Refer>> = None;
        match ran {
            Some(ran) => ran?,
            None => {
                let machine = self.machine.get_or_insert_with(Machine::new);
                machine.run(&artifact.code, &artifact.start, &artifact.exports, &shared, &mut self.wave)?;
            }
        }
        counters.groups += 1;
        counters.processors += processors;
        self.wave.count(counters);
        if positions.len() < lanes {
            // Only the last wavefront may be short.
            run.count(&self.wave.visits, positions.len() as u64, counters);
            self.wave.visits.fill(0);
        }
        let written = artifact.exports.iter().map(|&index| self.wave.written[index]).collect();
        Ok(Left::Here {
            positions: positions.to_vec(),
            valid: self.wave.valid,
            written,
            rows: self.wave.exports.clone(),
            stored: std::mem::take(&mut self.wave.fetched.stored),
        })
    }

    /// Runs a wavefront by the reference interpreter.
    fn reference(
        &mut self,
        run: &Run<'_>,
        index: u64,
        positions: &[Position],
        memory: &dyn Memory,
        counters: &mut Counters,
    ) -> Result<Left, Fault> {
        let lanes = run.launch.wavefront.lanes();
        let (wavefront, on_chip) = self.reference.get_or_insert_with(|| {
            let globals = vec![vec![[0; 4]; usize::from(run.launch.global_gprs.min(124))]; lanes];
            (Wavefront::default(), OnChip { globals, ..OnChip::default() })
        });
        let context = run.context.get_or_init(|| Context {
            launch: run.launch,
            main: run.launch.program.decode(),
            fetch: run.launch.fetch_program.map(ctm_isa::r700::Program::decode),
            deadline: run.deadline,
        });
        wavefront.start(context, positions, index * lanes as u64, 0);
        let mut memory = Reader { memory };
        while wavefront.is_running() {
            wavefront.step(context, on_chip, &mut memory)?;
        }
        counters.add(wavefront.counters());
        let exports = wavefront.exports().map(|(at, exports)| (at, exports.clone())).collect();
        Ok(Left::Reference { events: wavefront.events().collect(), exports })
    }
}

/// An element of a plane at the lanes' index pairs: as `Plane::at`, bit for bit.
fn ramp(plane: &Plane, element: usize, positions: &[Position], row: &mut Row) {
    let (origin, di, dj) = (plane.origin[element], plane.di[element], plane.dj[element]);
    let value = |at: &Position| origin + f64::from(at.i) * di + f64::from(at.j) * dj;
    if plane.bits {
        row.iter_mut().zip(positions).for_each(|(bits, at)| *bits = value(at).round_ties_even() as i64 as u32);
    } else {
        row.iter_mut().zip(positions).for_each(|(bits, at)| *bits = (value(at) as f32).to_bits());
    }
}

/// Memory for wavefronts of programs that write none.
struct Reader<'a> {
    memory: &'a dyn Memory,
}

fn only_reads() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "the program was taken for one that only reads".into() }
}

impl Memory for Reader<'_> {
    reads!();

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.memory.load(space, dword)
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn commit(&mut self, _at: Position, _exports: &Exports) -> Result<Written, MemoryFault> {
        Err(only_reads())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_exec::Domain;
    use ctm_exec::r700::{Arrays, Constants};
    use ctm_exec::x1k::arrays::Picture;
    use std::path::Path;

    /// None of the compiled programs is left to the reference interpreter.
    #[test]
    fn corpus_programs_run_here() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/r700");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut programs = 0;
        for path in files.filter(|path| path.extension().is_some_and(|e| e == "hex")) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let words = text.split_whitespace().flat_map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16));
            let program = ctm_isa::r700::Program::from_words(words.collect());
            let constants = Constants::default();
            let launch = Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
            let Some(artifact) = Artifact::new(&launch, Streams::new(Default::default(), Arc::default())) else {
                panic!("{} is not lowered", path.display())
            };
            let run = Run {
                launch: &launch,
                artifact: &artifact,
                context: OnceLock::new(),
                deadline: None,
                order: Order::of(&launch),
                fuel: 1_000_000,
                #[cfg(target_arch = "x86_64")]
                backend: Backend::detect(),
            };
            let mut memory = Arrays::default();
            memory.textures.insert(18, Picture::filled(4, 4, [0.5; 4]).into());
            memory.textures.insert(19, Picture::filled(4, 4, [0.5; 4]).into());
            memory.bind_constants(0, Some(0), vec![[0; 4]; 64]);
            let uniforms = run.uniforms(&memory).unwrap_or_default();
            let positions = run.order.positions(&launch, 0);
            let left = Worker::new(&run).here(&run, 0, &positions, &uniforms, &[], &memory, &mut Counters::default());
            assert!(left.is_ok(), "{} is referred", path.display());
            #[cfg(target_arch = "x86_64")]
            if Backend::detect() == Backend::Avx512 {
                assert!(artifact.native(64, &uniforms, false).is_some(), "{} has no machine code", path.display());
            }
            programs += 1;
        }
        assert_eq!(programs, 33);
    }
}
