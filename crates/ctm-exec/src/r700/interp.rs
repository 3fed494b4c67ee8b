//! The domain cut into wavefronts, their order, and the commit of their exports.
//!
//! Wavefronts run one after the other in domain order. Those of one thread group (compute programs) take turns, one control-flow
//! instruction each, so that a read sees all writes before its instruction.

use super::checks::Checks;
use super::shared::Shared;
use super::wavefront::{Context, Wavefront};
use super::{Launch, Memory, Space};
use crate::domain::Position;
use crate::fault::{Budget, Fault, FaultKind};
use crate::groups::Groups;
use crate::observe::{Unit, Watcher, Wish};
use crate::outcome::Outcome;
use crate::watch::{Control, Watch};
use ctm_isa::r700::program::Stage;

/// Most threads of a group (R700 §2.6.2).
const GROUP_THREADS: u32 = 1024;

/// The index pairs of each wavefront of a launch.
#[derive(Debug)]
pub enum Order {
    /// 2x2 quads.
    Quads(Groups),
    /// Row by row.
    Rows {
        /// Lanes of a wavefront.
        lanes: u64,
        /// Threads of a group. Each group begins a wavefront; its last one has fewer threads where this is no multiple (R700 §2.6.2).
        group: u64,
    },
}

impl Order {
    /// The order that the launch's kind of program has.
    #[must_use]
    pub fn of(launch: &Launch<'_>) -> Self {
        let lanes = launch.wavefront.lanes() as u64;
        match launch.stage {
            Stage::Pixel => Self::Quads(Groups::new(launch.domain, launch.wavefront.lanes())),
            Stage::Compute if launch.group_threads > 0 => Self::Rows { lanes, group: launch.group_threads.into() },
            Stage::Vertex | Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Copy | Stage::Compute => {
                Self::Rows { lanes, group: lanes }
            }
        }
    }

    /// How many wavefronts there are.
    #[must_use]
    pub fn count(&self, launch: &Launch<'_>) -> u64 {
        match self {
            Self::Quads(groups) => groups.count(),
            Self::Rows { lanes, group } => {
                let (groups, rest) = (threads(launch) / group, threads(launch) % group);
                groups * group.div_ceil(*lanes) + rest.div_ceil(*lanes)
            }
        }
    }

    /// The index pairs of the lanes of a wavefront; the last one may have fewer. Some may lie outside the domain.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "index pairs have 13 bits")]
    pub fn positions(&self, launch: &Launch<'_>, index: u64) -> Vec<Position> {
        match self {
            Self::Quads(groups) => groups.positions(index),
            Self::Rows { lanes, group } => {
                let width = u64::from(launch.domain.width()).max(1);
                let waves = group.div_ceil(*lanes);
                let of_group = index / waves * group;
                let first = of_group + index % waves * lanes;
                let end = (first + lanes).min(of_group + group).min(threads(launch));
                let at = |t: u64| Position {
                    i: launch.domain.i0 + (t % width) as u32,
                    j: launch.domain.j0 + (t / width) as u32,
                };
                (first..end).map(at).collect()
            }
        }
    }
}

fn threads(launch: &Launch<'_>) -> u64 {
    u64::from(launch.domain.width()) * u64::from(launch.domain.height())
}

/// A launch under way: state shared by its wavefronts, and results of finished ones.
struct RunningLaunch<'a> {
    context: Context<'a>,
    order: Order,
    /// Wavefronts of a thread group.
    per_group: u64,
    shared: Shared,
    outcome: Outcome,
}

impl<'a> RunningLaunch<'a> {
    fn new(launch: &'a Launch<'a>) -> Result<Self, Fault> {
        if launch.group_threads > GROUP_THREADS {
            let feature = format!("thread groups of {}, at most {GROUP_THREADS} are allowed", launch.group_threads);
            let kind = FaultKind::Unsupported { feature, section: "R700 §2.6.2" };
            return Err(Fault { kind, pc: launch.program.entry, position: None });
        }
        let context = Context {
            launch,
            main: launch.program.decode(),
            fetch: launch.fetch_program.map(ctm_isa::r700::Program::decode),
        };
        let lanes = launch.wavefront.lanes();
        let globals = vec![vec![[0; 4]; usize::from(launch.global_gprs.min(124))]; lanes];
        let checks = launch.checks.then(Checks::default);
        let shared = Shared { globals, checks, ..Shared::default() };
        let per_group = match launch.stage {
            Stage::Compute => u64::from(launch.group_threads).div_ceil(lanes as u64).max(1),
            Stage::Pixel | Stage::Vertex | Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Copy => 1,
        };
        Ok(Self { context, order: Order::of(launch), per_group, shared, outcome: Outcome::default() })
    }

    /// The wavefronts of each thread group, first and one past the last.
    fn groups(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let (count, per_group) = (self.order.count(self.context.launch), self.per_group);
        (0..count.div_ceil(per_group)).map(move |n| (n * per_group, ((n + 1) * per_group).min(count)))
    }

    /// Puts the wavefronts of a thread group at the start of the program.
    fn start(&mut self, (first, end): (u64, u64), wavefronts: &mut [Wavefront]) {
        let lanes = self.context.launch.wavefront.lanes();
        self.shared.data_share.clear();
        if let Some(checks) = &mut self.shared.checks {
            checks.new_group();
        }
        for (n, (wavefront, index)) in wavefronts.iter_mut().zip(first..end).enumerate() {
            let positions = self.order.positions(self.context.launch, index);
            wavefront.start(&self.context, &positions, index * lanes as u64, n * lanes);
        }
    }

    /// Adds the statistics of a thread group and sends its events and exports.
    fn commit(&mut self, wavefronts: &[Wavefront], memory: &mut dyn Memory) -> Result<(), Fault> {
        for wavefront in wavefronts {
            self.outcome.counters.add(wavefront.counters());
            let pc = self.context.launch.program.entry;
            let refused = |fault, at| Fault { kind: FaultKind::Memory(fault), pc, position: Some(at) };
            for (at, event) in wavefront.events() {
                memory.vertex_event(at, event).map_err(|fault| refused(fault, at))?;
            }
            for (at, exports) in wavefront.exports() {
                let written = memory.commit(at, exports).map_err(|fault| refused(fault, at))?;
                self.outcome.counters.writes += written.elements;
                self.outcome.counters.write_bytes += written.bytes;
            }
            if let Some(rows) = memory.lane_rows() {
                wavefront.survivors().for_each(|at| _ = rows.survive(at));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        self.outcome.findings = self.shared.checks.map(|mut checks| checks.take()).unwrap_or_default();
        self.outcome
    }

    /// Runs a thread group to its end: its wavefronts take turns.
    fn group(&mut self, wavefronts: &mut [Wavefront], memory: &mut dyn Memory) -> Result<(), Fault> {
        while wavefronts.iter().any(Wavefront::is_running) {
            for wavefront in &mut *wavefronts {
                wavefront.step(&self.context, &mut self.shared, memory)?;
            }
        }
        self.commit(wavefronts, memory)
    }
}

/// Runs a launch.
///
/// # Errors
/// The fault of the first wavefront that did wrong.
pub fn run(control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
    let mut run = RunningLaunch::new(launch)?;
    let watch = Watch::new(&launch.budget, control, launch.domain.processors());
    let mut wavefronts: Vec<Wavefront> = Vec::new();
    for (first, end) in run.groups() {
        let size = usize::try_from(end - first).unwrap_or(0);
        wavefronts.resize_with(size.max(wavefronts.len()), Wavefront::default);
        run.start((first, end), &mut wavefronts[..size]);
        run.shared.part = Some(watch.part(first));
        run.group(&mut wavefronts[..size], memory)?;
        wavefronts[..size].iter().for_each(|wavefront| watch.done(wavefront.counters().processors));
    }
    Ok(run.finish())
}

/// Runs a launch under a watcher's eyes.
///
/// # Errors
/// The fault of the first wavefront that did wrong; [`FaultKind::Stopped`] when the watcher wants no more.
pub fn watch(
    control: &Control,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, Fault> {
    let mut run = RunningLaunch::new(launch)?;
    let budget = Budget { time: None, ..launch.budget };
    let watch = Watch::new(&budget, control, launch.domain.processors());
    let writes_memory = Space::ALL.iter().any(|&space| memory.space(space).is_some());
    let dependent = writes_memory || launch.global_gprs > 0 || launch.stage == Stage::Geometry;
    for (first, end) in run.groups() {
        let part = watch.part(first);
        if part.is_stopped() {
            return Err(Fault { kind: part.fault_kind(), pc: 0, position: None });
        }
        let positions = (first..end).flat_map(|index| run.order.positions(launch, index)).collect::<Vec<_>>();
        let wish = watcher.wish(&positions);
        if wish == Wish::Skip && !dependent {
            continue;
        }
        let mut wavefronts = vec![Wavefront::default(); usize::try_from(end - first).unwrap_or(0)];
        run.start((first, end), &mut wavefronts);
        run.shared.part = Some(part);
        if wish != Wish::Watch {
            run.group(&mut wavefronts, memory)?;
            continue;
        }
        let shared = std::mem::take(&mut run.shared);
        let mut unit = Unit::R700(super::observe::Unit::new(&run.context, wavefronts, shared, memory, dependent));
        if watcher.watch(&mut unit)?.is_break() {
            return Err(Fault { kind: FaultKind::Stopped, pc: unit.pc().unwrap_or(0), position: None });
        }
        let Unit::R700(unit) = unit else { continue };
        let (wavefronts, shared) = unit.finish()?;
        run.shared = shared;
        run.commit(&wavefronts, memory)?;
    }
    Ok(run.finish())
}
