//! The domain cut into wavefronts, their order, and what becomes of their exports.
//!
//! Wavefronts run one after the other in domain order. Those of one thread group (compute programs) take turns, one control-flow
//! instruction each, so that what all of them write before an instruction is there when the next one reads it.

use super::checks::Checks;
use super::memory::Shared;
use super::wavefront::{Context, Wavefront};
use super::{Launch, Memory};
use crate::engine::{Fault, FaultKind, Outcome, Position};
use crate::watch::{Control, Watch};
use crate::x1k::interp::Groups;
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

/// Runs a launch.
///
/// # Errors
/// The fault of the first wavefront that did wrong.
pub fn run(control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
    if launch.group_threads > GROUP_THREADS {
        let feature = format!("thread groups of {}, at most {GROUP_THREADS} are allowed", launch.group_threads);
        let kind = FaultKind::Unsupported { feature, section: "R700 §2.6.2" };
        return Err(Fault { kind, pc: launch.program.entry, position: None });
    }
    let watch = Watch::new(&launch.budget, control, launch.domain.processors());
    let context = Context {
        launch,
        main: launch.program.decode(),
        fetch: launch.fetch_program.map(ctm_isa::r700::Program::decode),
    };
    let order = Order::of(launch);
    let lanes = launch.wavefront.lanes();
    let globals = vec![vec![[0; 4]; usize::from(launch.global_gprs.min(124))]; lanes];
    let checks = launch.checks.then(Checks::default);
    let mut shared = Shared { globals, checks, ..Shared::default() };
    let per_group = match launch.stage {
        Stage::Compute => u64::from(launch.group_threads).div_ceil(lanes as u64).max(1),
        Stage::Pixel | Stage::Vertex | Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Copy => 1,
    };
    let mut outcome = Outcome::default();
    let mut wavefronts: Vec<Wavefront> = Vec::new();
    let count = order.count(launch);
    let mut first = 0;
    while first < count {
        let end = (first + per_group).min(count);
        let size = usize::try_from(end - first).unwrap_or(0);
        wavefronts.resize_with(size.max(wavefronts.len()), Wavefront::default);
        shared.data_share.clear();
        shared.part = Some(watch.part(first));
        if let Some(checks) = &mut shared.checks {
            checks.new_group();
        }
        for (n, (wavefront, index)) in wavefronts.iter_mut().zip(first..end).enumerate() {
            wavefront.start(&context, &order.positions(launch, index), index * lanes as u64, n * lanes);
        }
        while wavefronts[..size].iter().any(Wavefront::is_running) {
            for wavefront in &mut wavefronts[..size] {
                wavefront.step(&context, &mut shared, memory)?;
            }
        }
        for wavefront in &mut wavefronts[..size] {
            outcome.counters.add(wavefront.counters());
            watch.done(wavefront.counters().processors);
            let refused =
                |fault, at| Fault { kind: FaultKind::Memory(fault), pc: launch.program.entry, position: Some(at) };
            for (at, event) in wavefront.events() {
                memory.vertex_event(at, event).map_err(|fault| refused(fault, at))?;
            }
            for (at, exports) in wavefront.exports() {
                let written = memory.commit(at, exports).map_err(|fault| refused(fault, at))?;
                outcome.counters.writes += written.elements;
                outcome.counters.write_bytes += written.bytes;
            }
        }
        first = end;
    }
    outcome.findings = shared.checks.map(|mut checks| checks.take()).unwrap_or_default();
    Ok(outcome)
}
