//! A launch of an X1K program, and its memory.

use super::artifact::{Artifact, CONDITIONAL};
use crate::codegen::backend::Backend;
use crate::compile::program::CompiledProgram;
use crate::launch::direct::{Arrays, Views, binding};
use crate::launch::lanes::{LANES, count_lookups};
use crate::launch::wavefronts::conditional::ConditionalRows;
use crate::launch::wavefronts::group::Stored;
use crate::launch::wavefronts::outputs;
use crate::launch::wavefronts::places::{Places, StartLanes, Starts, Waves};
use crate::launch::wavefronts::wave::{Guest, Reads, lanes_of, mask_of};
use crate::passes::computed;
use crate::runtime::batches::{EndedAt, Launched, Result, each_lane, written};
use crate::runtime::direct::Direct;
use crate::runtime::wavefronts::{Done, Wavefronts};
use crate::runtime::worker::Job;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::{
    codegen::x86::stream::{InputView, Surfaces},
    runtime::streams,
    stream::affine::LaunchParameters,
};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Cells, Written};
use ctm_exec::watch::Watch;
use ctm_exec::x1k::group::{self, Access, Context};
use ctm_exec::x1k::lanes::LaneMask;
use ctm_exec::x1k::plan::plan;
use ctm_exec::x1k::{ConditionalTest, Elements, Filter, Input, Launch, Memory, Merged, Outputs, Target, Wrap};
use ctm_exec::{Counters, Fault, FaultKind, Position};
use ctm_ir::masked::{Fetch, Op};
use ctm_isa::x1k::{INPUTS, OUTPUTS, TEMPORARIES};
use std::borrow::Cow;
use std::ops::Range;

/// The launch.
pub struct X1k<'a> {
    launch: &'a Launch<'a>,
    artifact: &'a Artifact,
    memory: &'a mut dyn Memory,
    /// Groups with a processor to run.
    groups: u64,
}

/// A mapped output.
fn cells(elements: Elements<&mut [u8]>) -> Elements<Cells<'_>> {
    elements.with(()).with(Cells::Bytes(elements.bytes))
}

/// The table of uniform values.
fn uniforms<'l>(launch: &Launch<'l>, program: &CompiledProgram) -> Cow<'l, [u32]> {
    let mut table = Cow::Borrowed(launch.constants.float.as_flattened());
    computed::append(&program.code.computed, &mut table);
    table
}

/// Runs the groups of a wavefront by the reference interpreter, and sends their results.
fn interpret(
    launch: &Launch<'_>,
    of: &Wavefronts<'_>,
    job: Job,
    memory: &mut dyn Memory,
    counters: &mut Counters,
) -> Result {
    let context = Context { launch, steps: &plan(launch.program) };
    let mut group = group::Group::new(launch);
    let part = of.watch.part(job.group);
    let mut places = Places::new();
    of.waves.place(job.group, &mut places);
    let (runs, lanes) = (places.inside & job.lanes, launch.group.lanes());
    for first in (0..places.lanes).step_by(lanes) {
        let covered = LaneMask::of(|lane| lane < lanes && runs >> (first + lane) & 1 == 1);
        let positions: Vec<_> = (first..places.lanes.min(first + lanes)).map(|lane| places.position(lane)).collect();
        if covered.is_empty() || !positions.iter().any(|&at| launch.sends(at)) {
            continue;
        }
        group.run(&context, &part, &positions, &[covered], &mut Access::Exclusive(memory))?;
        counters.add(group.counters());
        for (at, outputs) in group.outputs().filter(|(at, _)| launch.sends(*at)) {
            written(counters, memory.commit(at, &outputs).map_err(|fault| refused(launch, fault, at))?);
        }
    }
    Ok(())
}

fn refused(launch: &Launch<'_>, fault: MemoryFault, at: Position) -> Fault {
    Fault { kind: FaultKind::Memory(fault), pc: u32::from(launch.program.last), position: Some(at) }
}

impl<'a> X1k<'a> {
    /// A launch that has not begun.
    pub fn new(launch: &'a Launch<'a>, artifact: &'a Artifact, memory: &'a mut dyn Memory) -> Self {
        Self { launch, artifact, memory, groups: 0 }
    }

    /// Its wavefronts. `alone`: each group sees the sends of those before it.
    pub fn wavefronts(
        launch: &'a Launch<'a>,
        artifact: &'a Artifact,
        (watch, backend): (&'a Watch, Backend),
        alone: bool,
    ) -> Wavefronts<'a> {
        let program = artifact.program();
        let (domain, group) = (launch.domain, launch.group.lanes());
        // Groups of other sizes decide like these, if any may decide together.
        let joint = program.lanes > LANES && LANES.is_multiple_of(group) && !alone;
        let lanes = if joint { program.lanes } else { group };
        let first_stored = artifact.stored.first().map_or(TEMPORARIES, |of| of.0.index() / 4);
        let given = (launch.planes, launch.rows, launch.draw.divisor);
        let starts =
            Starts::with_stored(&program.start, first_stored, given, StartLanes { domain, quads: true, few: false });
        Wavefronts {
            waits: artifact.code.writes,
            joint,
            covered: launch.draw.covered,
            counters: launch.counters,
            threads: launch.threads,
            ..Wavefronts::new(program, (domain, lanes, true), starts, launch.budget, (watch, backend))
        }
    }
}

/// Runs wavefronts that store their own outputs; gives the number of groups, too.
fn stores(
    launch: &Launch<'_>,
    of: &Wavefronts<'_>,
    (outputs, views, arrays): (&outputs::Outputs<'_>, Views<'_>, Arrays<'_>),
) -> (Result<Done>, u64) {
    let bindings: Vec<_> = of.program.code.fetches.iter().map(|fetch| binding(fetch, &views, arrays)).collect();
    let uniforms = &*uniforms(launch, of.program);
    let given = Reads { guest: Guest::X1k(&views), uniforms, bindings: &bindings };
    let run = |of: &Wavefronts<'_>| {
        let reference = |group: u64, counters: &mut Counters| {
            let mut memory = views;
            memory.outputs = Some(outputs);
            interpret(launch, of, Job { group, lanes: u64::MAX }, &mut memory, counters)
        };
        let mut done = Done::new(of);
        let direct = Direct { outputs, given, reference: &reference };
        of.direct(&direct, &mut done).map(|()| done)
    };
    let narrower = if of.joint { of.narrower((uniforms, &bindings)) } else { None };
    let mut done = match narrower {
        Some(lanes) => run(&of.of_lanes(lanes)),
        None => run(of),
    };
    let waves = Waves::new(launch.domain, launch.group.lanes(), true);
    let mut groups = waves.count();
    if let (Some(covered), Ok(done)) = (launch.draw.covered, &mut done) {
        [groups, done.counters.processors] = waves.that_run(covered);
    }
    (done, groups)
}

impl Launched for X1k<'_> {
    fn reading<T>(&self, with: impl FnOnce(Option<Reads<'_>>) -> T) -> T {
        let memory = &*self.memory;
        let arrays = memory.input_arrays();
        let program = self.artifact.program();
        let bindings: Vec<_> = program.code.fetches.iter().map(|fetch| binding(fetch, memory, &arrays)).collect();
        let uniforms = &*uniforms(self.launch, program);
        with(Some(Reads { guest: Guest::X1k(memory), uniforms, bindings: &bindings }))
    }

    fn is_aliased(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }

    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    fn stream(&mut self, of: &Wavefronts<'_>) -> Option<Counters> {
        let Self { launch, artifact, .. } = *self;
        let Artifact { streams: own, code, .. } = artifact;
        if code.writes
            || !launch.rows.is_empty()
            || !launch.draw.is_empty()
            || !own.take(launch.domain, of.program.bound)
        {
            return None;
        }
        let uniform = artifact.uniform.get_or_init(|| crate::compile::stream::uniform(code)).as_ref()?;
        let executed = uniform.executed?;
        if self.is_aliased() || !own.takes(of, uniform) {
            return None;
        }
        let descriptors: [_; INPUTS] = std::array::from_fn(|index| self.memory.input(index as u8));
        let direct = self.memory.direct()?;
        if direct.conditional.as_ref().is_some_and(ConditionalTest::matters) {
            return None;
        }
        let mut surfaces = Surfaces::default();
        for (index, elements) in
            direct.inputs.into_iter().enumerate().filter(|(index, _)| code.inputs >> index & 1 == 1)
        {
            let (Input { width, height, sampler, .. }, elements) = (descriptors[index]?, elements?);
            let nearest = sampler.filter == Filter::Nearest && sampler.wrap == [Wrap::Clamp; 2];
            surfaces.inputs[index] = Some(InputView::new(&elements, [width, height]).filter(|_| nearest)?);
        }
        for (index, elements) in direct.outputs.into_iter().enumerate() {
            if let Some(elements) = elements.filter(|_| code.outputs >> (4 * index) & 0xf != 0) {
                surfaces.outputs[index] = Some(streams::output(cells(elements), launch.domain)?);
            }
        }
        let lanes = launch.group.lanes();
        let waves = (&Waves::new(launch.domain, lanes, true), lanes);
        let count = |visits: &[u64], lanes, counters: &mut Counters| artifact.count(visits, lanes, counters);
        let given = LaunchParameters::of(launch, Some(of.watch));
        let mut counters = streams::run(own, of, uniform, &given, &surfaces, waves, count)?;
        counters.active_lanes = executed * counters.processors;
        // The block that only begins comes first, then those of the code.
        for (block, visits) in code.blocks.iter().zip(&uniform.visits[1..]) {
            for op in &block.ops {
                let Op::Fetch { number, .. } = *op else { continue };
                let Fetch::Input { input, .. } = code.fetches[usize::from(number)] else { continue };
                count_lookups(&*self.memory, input, visits * counters.processors, &mut counters);
            }
        }
        Some(counters)
    }

    fn stores(&mut self, of: &Wavefronts<'_>) -> Option<Result<Done>> {
        let Self { launch, artifact, .. } = *self;
        if !of.lanes.is_multiple_of(LANES) || of.waves.count() == 0 {
            return None;
        }
        let read = artifact.code.inputs;
        let descriptor = |index: usize| if read >> index & 1 == 1 { self.memory.input(index as u8) } else { None };
        let descriptors = std::array::from_fn(descriptor);
        let exports = &of.program.exports;
        let list = launch.draw.epilogues;
        if !list.is_empty() {
            let numbers: Vec<u8> = list.iter().map(|of| of.target).collect();
            let Merged { targets, textures } = self.memory.merged(&numbers)?;
            // An epilogue may have no use for a value that it reads.
            let stored = artifact.stored.iter().filter(|(var, _)| of.program.start.contains(var));
            let stored: Vec<u8> = stored.map(|of| of.1).collect();
            let outputs = outputs::Outputs::with_epilogues((exports, &stored), list, targets, &launch.domain)?;
            let arrays = [const { None }; INPUTS];
            let views = Views::lent(descriptors, &arrays, textures, read)?;
            let (done, groups) = stores(launch, of, (&outputs, views, &arrays));
            self.groups = groups;
            return Some(done);
        }
        let mut direct = self.memory.direct()?;
        let views = Views::lent(descriptors, &direct.inputs, direct.textures, read)?;
        // The number of the conditional value comes after those of the outputs.
        let lent = |number: usize| direct.outputs.get_mut(number)?.take().map(cells);
        let mut outputs = outputs::Outputs::lent(exports, lent, &launch.domain, true)?;
        let from = exports.iter().position(|&export| export == CONDITIONAL);
        match direct.conditional.take() {
            Some(test) => outputs.conditional = Some(ConditionalRows::lent(test, from, &launch.domain)?),
            // Memory receives the program's value.
            None if from.is_some() => return None,
            None => {}
        }
        let (done, groups) = stores(launch, of, (&outputs, views, &direct.inputs));
        self.groups = groups;
        Some(done)
    }

    fn schedule(&mut self, of: &Wavefronts<'_>, groups: Range<u64>) -> (Vec<Job>, Option<Fault>) {
        let mut jobs = Vec::with_capacity((groups.end - groups.start) as usize);
        let mut places = Places::new();
        let launch = self.launch;
        let lanes_of_group = launch.group.lanes();
        for group in groups {
            of.waves.place(group, &mut places);
            let mut job = Job { group, lanes: 0 };
            let mut refused = None;
            for lane in lanes_of(places.inside) {
                let at = places.position(lane);
                match self.memory.schedule(at) {
                    Ok(runs) => job.lanes |= u64::from(runs) << lane,
                    Err(fault) => {
                        let pc = u32::from(self.launch.program.first);
                        refused = Some(Fault { kind: FaultKind::Memory(fault), pc, position: Some(at) });
                        // The groups before it still run.
                        job.lanes &= mask_of(lane / lanes_of_group * lanes_of_group);
                        break;
                    }
                }
            }
            if launch.draw.covered.is_some() {
                let covered = of.covered_from(group * of.lanes as u64);
                let is_idle = |first: &usize| covered >> first & mask_of(lanes_of_group) == 0;
                let idle = (0..places.lanes).step_by(lanes_of_group).filter(is_idle);
                idle.for_each(|first| job.lanes &= !(mask_of(lanes_of_group) << first));
            }
            let runs = |first: usize| job.lanes >> first & mask_of(lanes_of_group) != 0;
            self.groups += (0..places.lanes).step_by(lanes_of_group).filter(|&first| runs(first)).count() as u64;
            if job.lanes != 0 {
                jobs.push(job);
            }
            if refused.is_some() {
                return (jobs, refused);
            }
        }
        (jobs, None)
    }

    fn store(&mut self, &Stored { dword, bits, .. }: &Stored) -> Result<Written, MemoryFault> {
        self.memory.write_uncached(dword as u32, (dword >> 32) as u32, bits)
    }

    fn send(&mut self, of: &Wavefronts<'_>, (index, places, wave): EndedAt<'_>, counters: &mut Counters) -> Result {
        let order = self.launch.lane_order();
        if let Some(rows) = self.memory.lane_rows().filter(|rows| rows.order() == order) {
            let target = |n: usize| if n < OUTPUTS { Target::Colour(n as u8) } else { Target::ConditionalValue };
            wave.exports(&of.program.exports, index as usize * of.lanes, counters).keep(target, rows);
            return Ok(());
        }
        each_lane(&of.program.exports, wave, |lane, elements| {
            let mut outputs = Outputs::default();
            for &(element, bits) in elements {
                if element >= CONDITIONAL {
                    outputs.conditional_value = Some(bits);
                } else {
                    outputs.values[element / 4][element % 4] = bits;
                    outputs.written[element / 4] |= 1 << (element % 4);
                }
            }
            let at = places.position(lane);
            let sent = self.memory.commit(at, &outputs).map_err(|fault| refused(self.launch, fault, at))?;
            written(counters, sent);
            Ok(())
        })
    }

    fn reference(&mut self, of: &Wavefronts<'_>, job: Job, counters: &mut Counters) -> Result {
        interpret(self.launch, of, job, &mut *self.memory, counters)
    }

    fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        self.artifact.count(visits, lanes, counters);
    }

    fn groups(&self) -> Option<u64> {
        Some(self.groups)
    }
}
