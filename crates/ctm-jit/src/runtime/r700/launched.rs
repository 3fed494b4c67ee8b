//! A launch of an R700 program, and its memory.

use super::artifact::Artifact;
use crate::codegen::backend::Backend;
use crate::launch::wavefronts::bindings::{Binding, resources};
use crate::launch::wavefronts::group::Stored;
use crate::launch::wavefronts::outputs::{Outputs, targets};
use crate::launch::wavefronts::places::{Places, Starts, Waves};
use crate::launch::wavefronts::wave::{Guest, Reads, Wave};
use crate::passes::computed;
use crate::runtime::batches::{EndedAt, Launched, Result, each_lane, written};
use crate::runtime::direct;
use crate::runtime::wavefronts::{Done, Wavefronts};
use crate::runtime::worker::{Job, WaveExports, Worker};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::{
    codegen::x86::{
        masked::exists,
        stream::{InputView, Surfaces},
    },
    runtime::streams,
    stream::affine::LaunchParameters,
    stream::uniform::Uniform,
};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::memory::Shared as OnChip;
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::wavefront::{Context, Wavefront};
use ctm_exec::r700::{
    Direct, Exports, Launch, LaunchPart, Memory, Space, Target, Texels, Texture, VertexEvent, Written,
};
use ctm_exec::rows::survive;
use ctm_exec::watch::Watch;
use ctm_exec::{Counters, Fault, FaultKind, GroupSize, Position};
use ctm_ir::lower::r700::{epilogues, waves_per_group};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use ctm_ir::masked::Fetch;
use ctm_isa::r700::program::Stage;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// The launch.
pub struct R700<'a> {
    launch: &'a Launch<'a>,
    artifact: &'a Artifact,
    memory: &'a mut dyn Memory,
}

/// Runs a group by the reference interpreter, and sends its results.
fn interpret(
    launch: &Launch<'_>,
    of: &Wavefronts<'_>,
    group: u64,
    memory: &mut dyn Memory,
    counters: &mut Counters,
) -> Result {
    let lanes = launch.wavefront.lanes();
    let fetch = launch.fetch_program.map(ctm_isa::r700::Program::decode);
    let context = Context { launch, main: launch.program.decode(), fetch };
    // No instruction names SIMD-global registers.
    let globals = vec![Vec::new(); lanes];
    let mut on_chip = OnChip { part: Some(of.watch.part(group)), globals, ..OnChip::default() };
    let mut places = Places::new();
    let mut wavefronts = Vec::new();
    for (n, index) in of.waves_of(group).enumerate() {
        of.waves.place(index, &mut places);
        let positions: Vec<Position> = (0..places.lanes).map(|lane| places.position(lane)).collect();
        let mut wavefront = Wavefront::default();
        wavefront.start(&context, &positions, index * lanes as u64, n * lanes);
        wavefronts.push(wavefront);
    }
    while wavefronts.iter().any(Wavefront::is_running) {
        for wavefront in &mut wavefronts {
            wavefront.step(&context, &mut on_chip, memory)?;
        }
    }
    for wave in &wavefronts {
        counters.add(wave.counters());
        wave.events()
            .try_for_each(|(at, event)| memory.vertex_event(at, event).map_err(|fault| refused(launch, fault, at)))?;
        for (at, exports) in wave.exports() {
            written(counters, memory.commit(at, exports).map_err(|fault| refused(launch, fault, at))?);
        }
        if let Some(rows) = memory.lane_rows() {
            wave.survivors().for_each(|at| _ = rows.survive(at));
        }
    }
    Ok(())
}

fn refused(launch: &Launch<'_>, fault: MemoryFault, at: Position) -> Fault {
    Fault { kind: FaultKind::Memory(fault), pc: launch.program.entry, position: Some(at) }
}

/// The lanes of narrower wavefronts that machine code prefers, if the difference is not visible: lanes share nothing,
/// and nothing is counted. Where a wavefront could fault, the launch gives up: the fault names an instruction and
/// depends on the progress of the others.
fn narrower(
    of: &Wavefronts<'_>,
    launch: &Launch<'_>,
    artifact: &Artifact,
    given: (&[u32], &[Option<Binding<'_>>]),
) -> Option<GroupSize> {
    let Launch { counters, covered, wavefront, .. } = *launch;
    // Running lanes among the covered ones are counted by words.
    let counts = covered.is_none() || wavefront.lanes() == 64 && of.waves.is_of_quads();
    if counters || !counts || !artifact.is_of_quads() || given.1.iter().any(Option::is_none) {
        return None;
    }
    GroupSize::new(of.narrower(given)? as u16)
}

/// The table of uniform values of a launch; `None` when memory refuses a constant.
pub fn uniforms<'l>(launch: &Launch<'l>, artifact: &Artifact, memory: &dyn Memory) -> Option<Cow<'l, [u32]>> {
    let file = launch.constants.file.as_flattened();
    let mut table = Cow::Borrowed(file);
    let locked: usize = artifact.code.locked.iter().map(|locked| usize::from(locked.count)).sum();
    let others = 4 * locked + artifact.code.computed.len();
    if others > 0 {
        let mut own = Vec::with_capacity(file.len() + others);
        own.extend_from_slice(file);
        table = Cow::Owned(own);
    }
    for locked in &artifact.code.locked {
        let memory = resources(memory, locked.alternate)?;
        for index in (0..i32::from(locked.count)).map(|index| locked.first + index) {
            match u32::try_from(index) {
                Ok(index) => table.to_mut().extend(memory.constant(locked.bank, index).ok()?),
                Err(_) => table.to_mut().extend([0; 4]),
            }
        }
    }
    computed::append(&artifact.code.computed, &mut table);
    Some(table)
}

/// The direct access of fetches to mapped memory.
pub fn bindings<'m>(launch: &Launch<'_>, artifact: &Artifact, memory: &'m dyn Memory) -> Vec<Option<Binding<'m>>> {
    artifact.code.fetches.iter().map(|fetch| Binding::of(launch, memory, fetch)).collect()
}

/// The destinations of a launch's exports, and the memory that it reads; `None` where exports have to be committed.
fn outputs<'m>(
    launch: &Launch<'m>,
    artifact: &Artifact,
    memory: &'m mut dyn Memory,
) -> Option<(Outputs<'m>, Box<dyn Memory + 'm>)> {
    if launch.epilogues.is_empty() {
        return Outputs::of(memory, &artifact.exports, launch);
    }
    // An epilogue may have no use for a value that it reads.
    let stored = epilogues::stored(launch)?.into_iter().filter(|(var, _)| artifact.start.contains(var));
    let stored: Vec<u8> = stored.map(|of| of.1).collect();
    Outputs::merged(memory, (&artifact.exports, &stored), launch)
}

impl<'a> R700<'a> {
    /// A launch that has not begun.
    pub fn new(launch: &'a Launch<'a>, artifact: &'a Artifact, memory: &'a mut dyn Memory) -> Self {
        Self { launch, artifact, memory }
    }

    /// Runs the parts of a launch of a pixel program, in order, on this thread, with wavefronts that store their exports as they end; gives their counters. `None`, and no
    /// effect, when memory maps no array for a target, or where wavefronts have to wait or may exceed the budget.
    pub fn parts(
        &mut self,
        parts: &[LaunchPart<'_>],
        given: (&Watch, Backend),
        bailed_out: &AtomicU64,
    ) -> Option<Result<Counters>> {
        let Self { launch, artifact, .. } = *self;
        let first = parts.first()?.launches(launch).next()?;
        let of_first = Self::wavefronts(&first, artifact, given);
        if of_first.waits || artifact.may_exceed(of_first.fuel) || !of_first.can_stop() {
            return None;
        }
        let (outputs, reads) = outputs(launch, artifact, &mut *self.memory)?;
        let reads = &*reads;
        let (uniforms, bindings) = (uniforms(launch, artifact, reads)?, bindings(launch, artifact, reads));
        let narrow = narrower(&of_first, &first, artifact, (&uniforms, &bindings));
        let mut sequence = direct::Sequence::new(&of_first);
        for &LaunchPart { planes, divisor, tiles, covered } in parts {
            let wavefront = narrow.unwrap_or(launch.wavefront);
            let part = Launch { wavefront, planes, divisor, covered: Some(covered), ..*launch };
            let of = Wavefronts {
                waves: Waves::of_tiles(launch.domain, tiles, wavefront.lanes()),
                narrows: narrow.is_some(),
                ..Self::wavefronts(&part, artifact, given)
            };
            let reference = |group: u64, counters: &mut Counters| {
                let mut memory = ExportMemory { memory: reads, outputs: &outputs };
                interpret(&part, &of, group, &mut memory, counters)
            };
            let given = Reads { guest: Guest::R700(&part, reads), uniforms: &uniforms, bindings: &bindings };
            let ended = sequence.run(&of, &direct::Direct { outputs: &outputs, given, reference: &reference });
            bailed_out.fetch_add(of.bailed_out.load(Ordering::Relaxed), Ordering::Relaxed);
            if let Err(fault) = ended {
                return Some(Err(fault));
            }
        }
        Some(Ok(sequence.done.counters))
    }

    /// Its wavefronts.
    pub fn wavefronts<'l>(
        launch: &'l Launch<'l>,
        artifact: &'l Artifact,
        given: (&'l Watch, Backend),
    ) -> Wavefronts<'l> {
        let lanes = (launch.domain, launch.wavefront.lanes(), launch.stage == Stage::Pixel);
        let per_group = waves_per_group(launch);
        Wavefronts {
            covered: launch.covered,
            survivors: launch.survivors.filter(|_| launch.stage == Stage::Pixel),
            counters: launch.counters,
            threads: launch.threads,
            per_group,
            reads_back: artifact.reads_back,
            waits: artifact.reads_back || artifact.sends_in_order() || per_group > 1,
            ..Wavefronts::new(artifact, lanes, Starts::of(&artifact.start, launch), launch.budget, given)
        }
    }
}

impl Launched for R700<'_> {
    fn reading<T>(&self, with: impl FnOnce(Option<Reads<'_>>) -> T) -> T {
        let Self { launch, artifact, .. } = *self;
        let (uniforms, guest) = (uniforms(launch, artifact, &*self.memory), Guest::R700(launch, &*self.memory));
        let bindings = &*bindings(launch, artifact, &*self.memory);
        with(uniforms.as_deref().map(|uniforms| Reads { guest, uniforms, bindings }))
    }

    fn is_aliased(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }

    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    fn stream(&mut self, of: &Wavefronts<'_>) -> Option<Counters> {
        let Self { launch, artifact, .. } = *self;
        let is_plain = launch.rows.is_empty() && launch.divisor.is_none() && launch.covered.is_none() && !launch.once;
        let is_plain = is_plain && launch.epilogues.is_empty() && launch.keeps.is_none() && launch.survivors.is_none();
        if !is_plain || !artifact.streams.take(launch.domain, artifact.bound) || self.is_aliased() {
            return None;
        }
        let uniform = artifact.uniform.get_or_init(|| Uniform::of(&artifact.code, exists, Vec::new())).as_ref()?;
        if !artifact.streams.takes(of, uniform) {
            return None;
        }
        let constants = uniforms(launch, artifact, &*self.memory)?.into_owned();
        let textures = uniform.textures.iter().map(|&of| texture(&*self.memory, of));
        let textures: Vec<Texture> = textures.collect::<Option<_>>()?;
        let targets: Vec<Target> = uniform.targets.iter().map(|&target| targets()[target]).collect();
        let ids: Vec<u8> = uniform.textures.iter().map(|texture| texture.0).collect();
        let Direct { textures: arrays, targets: cells, reads } = self.memory.direct(&ids, &targets)?;
        drop(reads);
        let mut surfaces = Surfaces::default();
        for ((place, of), texture) in surfaces.inputs.iter_mut().zip(arrays).zip(&textures) {
            let bytes = match of.bytes {
                Texels::Bytes(bytes) => bytes,
                Texels::Dwords(texels) => bytemuck::cast_slice(texels),
            };
            *place = Some(InputView::new(&of.with(bytes), [texture.width, texture.height])?);
        }
        for (place, elements) in surfaces.outputs.iter_mut().zip(cells) {
            if let Some(elements) = elements {
                *place = Some(streams::output(elements, launch.domain)?);
            }
        }
        let gprs = usize::from(launch.program.gprs).clamp(1, ctm_isa::r700::GPRS);
        let planes: Vec<_> = launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs).copied().collect();
        let (domain, threads, watch) = (launch.domain, launch.threads, Some(of.watch));
        let given = LaunchParameters { domain, planes: &planes, constants: &constants, threads, watch };
        let (waves, count) =
            ((&of.waves, of.lanes), |visits: &[u64], lanes, all: &mut _| artifact.count(visits, lanes, all));
        let mut counters = streams::run(&artifact.streams, of, uniform, &given, &surfaces, waves, count)?;
        counters.active_lanes = uniform.active * counters.processors;
        for (inst, &times) in artifact.code.fetches.iter().zip(&uniform.fetches) {
            let Fetch::Texture(inst) = inst else { continue };
            let of = (inst.word0.resource_id, inst.word2.sampler_id);
            let Some(input) = uniform.textures.iter().position(|&texture| texture == of) else { continue };
            counters.fetches += times * counters.processors;
            counters.fetch_bytes += times * counters.processors * u64::from(textures[input].texel_bytes);
        }
        Some(counters)
    }

    fn stores(&mut self, of: &Wavefronts<'_>) -> Option<Result<Done>> {
        let Self { launch, artifact, .. } = *self;
        let has_epilogues = !launch.epilogues.is_empty();
        let (outputs, reads) = outputs(launch, artifact, &mut *self.memory)?;
        let reads = &*reads;
        let (uniforms, bindings) = (uniforms(launch, artifact, reads)?, bindings(launch, artifact, reads));
        let run = |of: &Wavefronts<'_>, launch: &Launch<'_>| {
            let reference = |group: u64, counters: &mut Counters| {
                let mut memory = ExportMemory { memory: reads, outputs: &outputs };
                interpret(launch, of, group, &mut memory, counters)
            };
            let mut done = Done::new(of);
            let guest = Guest::R700(launch, reads);
            let given = Reads { guest, uniforms: &uniforms, bindings: &bindings };
            let direct = direct::Direct { outputs: &outputs, given, reference: &reference };
            (of.direct(&direct, &mut done), done)
        };
        let gives_up = artifact.may_exceed(of.fuel);
        // The results of epilogues cannot be computed twice.
        let narrows = !(gives_up && has_epilogues);
        if let Some(wavefront) = narrower(of, launch, artifact, (&uniforms, &bindings)).filter(|_| narrows) {
            // All parts of a wavefront together issue at least as many instructions as the wavefront.
            let parts = (of.lanes / wavefront.lanes()) as u64;
            let fuel = if gives_up { of.fuel / parts } else { of.fuel };
            let narrow = Wavefronts { gives_up, fuel, ..of.of_lanes(wavefront.lanes()) };
            let (ran, mut done) = run(&narrow, &Launch { wavefront, ..*launch });
            if !gives_up || narrow.bailed_out.load(Ordering::Relaxed) == 0 {
                done.counters.groups = of.waves.count();
                if let Some(covered) = launch.covered {
                    done.counters.processors = of.waves.that_run(covered)[1];
                }
                return Some(ran.map(|()| done));
            }
            of.watch.undone(done.counters.processors);
        }
        let (ran, done) = run(of, launch);
        Some(ran.map(|()| done))
    }

    fn fills_rows(&mut self, of: &Wavefronts<'_>) -> Option<Result<Done>> {
        let (order, exports) = (self.launch.lane_order(), &of.program.exports);
        let mut rows = self.memory.lane_rows().filter(|rows| rows.order() == order)?.take();
        let (mut done, mut worker, mut ended) = (Done::new(of), Worker::default(), Ok(()));
        let (mut next, count) = (0, of.waves.count());
        while next < count && ended.is_ok() {
            let mut keep = |index: u64, wave: &Wave, valid: u64, counters: &mut Counters| {
                if let Some(survivors) = of.survivors {
                    survive(survivors, index * of.lanes as u64, valid);
                }
                let elements =
                    exports.iter().zip(&wave.exports).map(|(&export, row)| (export, wave.written[export], row));
                let exports = WaveExports { valid, elements, first: index as usize * of.lanes, counters };
                exports.keep(|target| targets()[target], &mut rows);
            };
            next += self.reading(|given| worker.until_left(of, next..count, given, &mut done, &mut keep));
            if next < count {
                of.bailed_out.fetch_add(1, Ordering::Relaxed);
                // The reference interpreter stores there, too.
                if let Some(place) = self.memory.lane_rows() {
                    std::mem::swap(place, &mut rows);
                }
                ended = self.reference(of, Job { group: next, lanes: u64::MAX }, &mut done.counters);
                if let Some(place) = self.memory.lane_rows() {
                    std::mem::swap(place, &mut rows);
                }
                next += 1;
            }
        }
        if let Some(place) = self.memory.lane_rows() {
            *place = rows;
        }
        Some(ended.map(|()| done))
    }

    fn store(&mut self, &Stored { space, dword, bits, .. }: &Stored) -> Result<Written, MemoryFault> {
        self.memory.store(space, dword, bits).map(|()| Written { elements: 1, bytes: 4 })
    }

    fn say(&mut self, at: Position, event: VertexEvent) -> Result {
        self.memory.vertex_event(at, event).map_err(|fault| refused(self.launch, fault, at))
    }

    fn send(&mut self, of: &Wavefronts<'_>, (index, places, wave): EndedAt<'_>, counters: &mut Counters) -> Result {
        if let Some(survivors) = of.survivors {
            survive(survivors, index * of.lanes as u64, wave.valid);
        }
        let order = self.launch.lane_order();
        if let Some(rows) = self.memory.lane_rows().filter(|rows| rows.order() == order) {
            let exports = wave.exports(&of.program.exports, index as usize * of.lanes, counters);
            exports.keep(|target| targets()[target], rows);
            return Ok(());
        }
        let mut exports = Exports::default();
        each_lane(&of.program.exports, wave, |lane, elements| {
            exports.clear();
            for elements in elements.chunk_by(|a, b| a.0 / 4 == b.0 / 4) {
                let mut values = [None; 4];
                elements.iter().for_each(|&(element, bits)| values[element % 4] = Some(bits));
                exports.set(targets()[elements[0].0 / 4], values);
            }
            if !exports.is_empty() {
                let at = places.position(lane);
                let sent = self.memory.commit(at, &exports).map_err(|fault| refused(self.launch, fault, at))?;
                written(counters, sent);
            }
            Ok(())
        })
    }

    fn reference(&mut self, of: &Wavefronts<'_>, job: Job, counters: &mut Counters) -> Result {
        interpret(self.launch, of, job.group, &mut *self.memory, counters)
    }

    fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters) {
        self.artifact.count(visits, lanes, counters);
    }
}

/// A texture whose nearest texels are sampled as whole texels, clamped to its edges.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn texture(memory: &dyn Memory, (resource, sampler): (u8, u8)) -> Option<Texture> {
    let texture = memory.texture(resource)?;
    let sampler = memory.sampler(sampler).unwrap_or_default();
    let nearest = sampler.mip == MipFilter::None && [sampler.magnify, sampler.minify] == [Filter::Nearest; 2];
    // Coordinates in texels do not repeat.
    let clamps = sampler.wrap[..2].iter().all(|&wrap| wrap != Wrap::Border);
    let plain = texture.kind == TextureKind::TwoD && texture.levels > 0 && texture.width.min(texture.height) > 0;
    (nearest && clamps && plain).then_some(texture)
}

/// Memory for groups that only export, to mapped arrays.
struct ExportMemory<'a> {
    memory: &'a dyn Memory,
    outputs: &'a Outputs<'a>,
}

fn only_reads() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "the program was taken for one that only reads".into() }
}

impl Memory for ExportMemory<'_> {
    ctm_exec::forward_r700_reads!(memory);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.memory.load(space, dword)
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        Ok(self.outputs.send(at, None, &|target| exports.get(target)))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/r700/launched.rs"]
mod tests;
