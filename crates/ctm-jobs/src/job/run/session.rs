//! A running job on a device: its memory there, its launches in order, and its saves.

use super::super::frames::{frame, is_numbered};
use super::super::prepare::{Prepared, Ready, ReadyOutput, ReadyTexture};
use super::super::report::{JobReport, OutputResult, PassReport, command_report, fault};
use super::super::surface::{Elements, Rect, fill, with_rows};
use super::super::{Job, JobError, Located, Pass, Save, finding_report};
use super::{Passes, union};
use ctm_device::commands::{CommandBuffer, CondTest};
use ctm_device::device::{Caches, Device, DeviceOptions, plane_bytes};
use ctm_device::engine::EngineError;
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::Engine;
use ctm_exec::x1k::Sampler;
use ctm_files::Saving;
use ctm_files::array::{Kind, write_rows};
use ctm_files::render::Report;
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use ctm_isa::x1k::program::{Symbol, SymbolKind};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Passes for Session<'_> {
    fn launch(&mut self, index: usize) -> Result<(), JobError> {
        Session::launch(self, index)
    }

    fn frame(&mut self, index: usize) -> Result<(), JobError> {
        let number = self.report.passes[index].launches.saturating_sub(1);
        let ready = self.ready;
        for output in &ready[index].outputs {
            for save in output.output.saves.iter().filter(|save| is_numbered(&save.path.value)) {
                self.save_output(output.slot, save, number)?;
            }
        }
        Ok(())
    }

    fn end_pass(&mut self, index: usize) -> Result<(), JobError> {
        Session::end_pass(self, index)
    }

    fn end_round(&mut self, round: u32) -> Result<(), JobError> {
        let saves = self.saves;
        for (slot, save) in saves.iter().filter(|(_, save)| is_numbered(&save.path.value)) {
            self.save_output(*slot, save, round.into())?;
        }
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.report.elapsed
    }
}

/// A block of device memory; reused when it is free.
#[derive(Debug)]
struct Block {
    address: GpuAddr,
    bytes: u64,
}

/// The current contents of an output.
#[derive(Clone, Debug)]
struct Held {
    block: Rc<Block>,
    surface: Surface,
    width: u32,
    /// The written part: the union of the passes' domains, or all of it.
    rect: Rect,
}

/// The part of a pass that stays the same from launch to launch.
struct Loaded {
    image: GpuAddr,
    float: GpuAddr,
    int: GpuAddr,
    bool: GpuAddr,
    planes: Option<(GpuAddr, u8)>,
}

/// A texture's array in memory: its file, format and tiling.
type ArrayKey = (usize, Format, Tiling);

pub(super) struct Session<'j> {
    job: &'j Job,
    ready: &'j [Ready],
    saves: &'j [(u8, Save)],
    loaded: Vec<Loaded>,
    blocks: Vec<Rc<Block>>,
    arrays: HashMap<ArrayKey, (Surface, u32)>,
    current: [Option<Held>; 4],
    named: HashMap<String, [Option<Held>; 4]>,
    buffer: GpuAddr,
    pub(super) device: Device,
    report: JobReport,
}

/// Room for one launch's commands, in dwords; the largest takes less than 300.
const BUFFER_DWORDS: u32 = 1024;

impl<'j> Session<'j> {
    pub(super) fn open(job: &'j Job, prepared: &'j Prepared, engine: Box<dyn Engine>) -> Result<Self, JobError> {
        let need = estimate(job, prepared);
        let most = (1u64 << 31) - 2048;
        if need > most {
            let message = format!("the job takes {need} bytes of device memory, the device has {most}");
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("too-large", message))]));
        }
        let gpu = u32::try_from(need.next_multiple_of(2048)).unwrap_or(u32::MAX);
        let arenas = ArenaOptions::with_sizes([gpu, 0, 1 << 20, 0]).map_err(|e| internal(&e))?;
        let options = DeviceOptions {
            arenas,
            group: job.run.group,
            budget: job.run.budget,
            threads: job.run.threads,
            checks: job.run.check,
            counters: job.run.counters,
            caches: if job.run.check { Caches::Modelled } else { Caches::Coherent },
            ..DeviceOptions::default()
        };
        let mut device = Device::open(engine, options).map_err(|e| internal(&e))?;
        let buffer = device.allocate(ArenaId::Sys, u64::from(BUFFER_DWORDS) * 4).map_err(|e| internal(&e))?;
        let report = JobReport {
            passes: job
                .passes
                .iter()
                .map(|p| PassReport { name: p.name.as_ref().map(|n| n.value.clone()), ..PassReport::default() })
                .collect(),
            outputs: Vec::new(),
            conditional: None,
            device: None,
            memories: BTreeMap::new(),
            vertices: Vec::new(),
            files: Vec::new(),
            reports: prepared.reports.clone(),
            commands: Vec::new(),
            elapsed: Duration::ZERO,
        };
        let mut session = Self {
            job,
            ready: &prepared.passes,
            saves: &prepared.saves,
            loaded: Vec::new(),
            blocks: Vec::new(),
            arrays: HashMap::new(),
            current: [const { None }; 4],
            named: HashMap::new(),
            buffer,
            device,
            report,
        };
        for (pass, ready) in job.passes.iter().zip(&prepared.passes) {
            let loaded = session.load(pass, ready)?;
            session.loaded.push(loaded);
        }
        session.conditional_buffer(prepared.conditional_buffer.as_ref())?;
        Ok(session)
    }

    /// Writes a pass's program, constants and planes to memory.
    fn load(&mut self, pass: &Pass, ready: &Ready) -> Result<Loaded, JobError> {
        let image = ctm_elf::write(&ready.program).map_err(|e| {
            JobError::Wrong(vec![pass.program.error(e.name(), format!("{}: {e}", pass.program.value.display()))])
        })?;
        let c = &ready.constants;
        let float: Vec<u8> = c.float.iter().flatten().flat_map(|bits| bits.to_le_bytes()).collect();
        let int: Vec<u8> = c.int.iter().flatten().copied().collect();
        let bool: Vec<u8> = c.bool.iter().flat_map(|&b| u32::from(b).to_le_bytes()).collect();
        let planes = match &pass.registers {
            Some(planes) => {
                let bytes: Vec<u8> = planes.iter().flat_map(plane_bytes).collect();
                let count = u8::try_from(planes.len()).unwrap_or(u8::MAX);
                Some((self.place(&bytes)?, count))
            }
            None => None,
        };
        Ok(Loaded {
            image: self.place(&image)?,
            float: self.place(&float)?,
            int: self.place(&int)?,
            bool: self.place(&bool)?,
            planes,
        })
    }

    fn place(&mut self, bytes: &[u8]) -> Result<GpuAddr, JobError> {
        let address = self.device.allocate(ArenaId::Gpu, bytes.len() as u64).map_err(|e| internal(&e))?;
        self.device.write(address, bytes).map_err(|e| internal(&e))?;
        Ok(address)
    }

    /// A free surface in memory, and whether it was never used before: then it holds zeros.
    fn surface(
        &mut self,
        (width, height): (u32, u32),
        format: Format,
        tiling: Tiling,
    ) -> Result<(Rc<Block>, Surface, bool), JobError> {
        let surface = Surface::for_size(width, height, format, tiling).map_err(|e| internal(&e))?;
        let bytes = surface.bytes();
        let unused = self.blocks.iter().find(|b| Rc::strong_count(b) == 1 && b.bytes == bytes);
        let is_new = unused.is_none();
        let block = match unused {
            Some(block) => Rc::clone(block),
            None => {
                let address = self.device.allocate(ArenaId::Gpu, bytes).map_err(|e| internal(&e))?;
                let block = Rc::new(Block { address, bytes });
                self.blocks.push(Rc::clone(&block));
                block
            }
        };
        let surface = surface.at(block.address);
        Ok((block, surface, is_new))
    }

    fn fill(&mut self, surface: &Surface, bits: [u32; 4]) -> Result<(), JobError> {
        fill(self.device.memory_mut(), surface, bits).map_err(|e| internal(&e))?;
        self.device.host_writes(surface.base, surface.bytes());
        Ok(())
    }

    fn upload(&mut self, surface: &Surface, elements: &Elements) -> Result<(), JobError> {
        elements.upload(self.device.memory_mut(), surface).map_err(|e| internal(&e))?;
        self.device.host_writes(surface.base, surface.bytes());
        Ok(())
    }

    /// One buffer for all passes, as large as the largest domain that uses it.
    fn conditional_buffer(&mut self, elements: Option<&Elements>) -> Result<(), JobError> {
        let mut rect: Option<Rect> = None;
        for pass in self.job.passes.iter().filter(|p| p.conditional.is_some()) {
            rect = Some(union(rect, pass.domain));
        }
        let Some(rect) = rect else { return Ok(()) };
        let clear = self.job.passes.iter().find_map(|p| p.conditional.as_ref()).map_or(0, |c| c.clear);
        let (mut width, mut height) = (rect.x + rect.width, rect.y + rect.height);
        if let Some([rows, columns, _]) = elements.map(Elements::shape) {
            width = width.max(u32::try_from(columns).unwrap_or(u32::MAX));
            height = height.max(u32::try_from(rows).unwrap_or(u32::MAX));
        }
        let surface = Surface::for_size(width, height, Format::Float32x1, Tiling::Linear).map_err(|e| internal(&e))?;
        let address = self.device.allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| internal(&e))?;
        let surface = surface.at(address);
        self.fill(&surface, [clear; 4])?;
        if let Some(elements) = elements {
            self.upload(&surface, elements)?;
        }
        self.report.conditional = Some((surface, rect));
        Ok(())
    }

    /// The surface that a texture reads in this launch: an output, or its own array.
    fn input(
        &mut self,
        texture: &ReadyTexture,
        uncached: bool,
        next: &[Option<Held>; 4],
    ) -> Result<(Surface, u32), JobError> {
        if let Some((output, pass)) = &texture.from {
            let slot = usize::from(*output);
            let held = match pass {
                Some(name) => self.named.get(name).and_then(|outputs| outputs[slot].as_ref()),
                // An uncached program reads its own writes.
                None if uncached && next[slot].is_some() => next[slot].as_ref(),
                None => self.current[slot].as_ref(),
            };
            if let Some(held) = held {
                let mut surface = held.surface;
                if let Some(tiling) = texture.texture.tiling {
                    if tiling.is_tiled() != surface.tiling.is_tiled() {
                        let message = format!(
                            "output {output} lies {} in memory, and this input reads it {}; one of them must change",
                            order(surface.tiling),
                            order(tiling)
                        );
                        return Err(JobError::Wrong(vec![texture.texture.slot.error("bad-tiling", message)]));
                    }
                    surface.tiling = tiling;
                }
                return Ok((surface, held.width));
            }
        }
        let Some(elements) = &texture.data else {
            // `Prepared` has checked that there is one.
            return Err(JobError::Wrong(vec![texture.texture.slot.error("missing-key", "the input has no `data`")]));
        };
        let format = texture.texture.format.as_ref().map_or_else(|| elements.natural_format(), |f| f.value);
        let tiling = texture.texture.tiling.unwrap_or(Tiling::Linear);
        let key = (Arc::as_ptr(elements) as usize, format, tiling);
        if let Some(known) = self.arrays.get(&key) {
            return Ok(*known);
        }
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let [height, width, _] = elements.shape().map(size);
        let surface = Surface::for_size(width, height, format, tiling).map_err(|e| internal(&e))?;
        let address = self.device.allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| internal(&e))?;
        let surface = surface.at(address);
        self.upload(&surface, elements)?;
        self.arrays.insert(key, (surface, width));
        Ok((surface, width))
    }

    /// The memory that a launch writes output `ready` to: the existing one, or fresh memory.
    fn output(&mut self, pass: &Pass, ready: &Ready, output: &ReadyOutput) -> Result<Held, JobError> {
        let (slot, o) = (usize::from(output.slot), &output.output);
        let size = o.size.unwrap_or([pass.domain.i1 + 1, pass.domain.j1 + 1]);
        // With uncached writes a program may read its own writes: that is their purpose.
        let reads = !ready.program.uncached
            && ready.textures.iter().any(|t| match (&t.from, &self.current[slot]) {
                (Some((from, None)), _) => *from == output.slot,
                (Some((from, Some(name))), Some(current)) => {
                    let held = self.named.get(name).and_then(|outputs| outputs[usize::from(*from)].as_ref());
                    held.is_some_and(|h| Rc::ptr_eq(&h.block, &current.block))
                }
                _ => false,
            });
        let rect = |old: Option<Rect>| match o.size {
            Some([width, height]) => Rect { x: 0, y: 0, width, height },
            None => union(old, pass.domain),
        };
        if let Some(held) = &self.current[slot]
            && !reads
            && !o.fresh
            && [held.width, held.surface.height] == size
            && held.surface.format == output.format
            && held.surface.tiling == o.tiling
        {
            return Ok(Held { rect: rect(Some(held.rect)), ..held.clone() });
        }
        let (block, surface, is_new) = self.surface((size[0], size[1]), output.format, o.tiling)?;
        if is_new && o.clear == [0; 4] {
            // Memory without writes holds zeros; its pages are allocated by the first write.
            self.device.host_writes(surface.base, surface.bytes());
        } else {
            self.fill(&surface, o.clear)?;
        }
        Ok(Held { block, surface, width: size[0], rect: rect(None) })
    }

    pub(super) fn launch(&mut self, index: usize) -> Result<(), JobError> {
        let job = self.job;
        let (pass, ready) = (&job.passes[index], &self.ready[index]);
        let mut next: [Option<Held>; 4] = [const { None }; 4];
        for output in &ready.outputs {
            next[usize::from(output.slot)] = Some(self.output(pass, ready, output)?);
        }
        let mut commands = CommandBuffer::new();
        for texture in &ready.textures {
            let (surface, width) = self.input(texture, ready.program.uncached, &next)?;
            let t = &texture.texture;
            let sampler = Sampler { filter: t.filter, wrap: t.wrap, border: t.border };
            let width = u16::try_from(width).unwrap_or(u16::MAX);
            commands = commands.set_inp_fmt(texture.slot, &surface).set_inp_sampler(texture.slot, &sampler, width);
        }
        for (slot, held) in (0..).zip(&next) {
            if let Some(held) = held {
                commands = commands.set_out_fmt(slot, &held.surface);
            }
        }
        let launches = self.report.passes[index].launches;
        for (constant, varying) in &ready.varying {
            let at = GpuAddr(self.loaded[index].float.0 + 16 * u32::from(*constant));
            let bytes = varying.at(launches).map(u32::to_le_bytes);
            self.device.write(at, bytes.as_flattened()).map_err(|e| internal(&e))?;
        }
        let loaded = &self.loaded[index];
        commands = commands
            .set_out_mask(ready.mask)
            .set_inst_fmt(loaded.image)
            .set_constf_fmt(loaded.float)
            .set_consti_fmt(loaded.int)
            .set_constb_fmt(loaded.bool)
            .inv_inst_cache()
            .inv_constf_cache()
            .inv_consti_cache()
            .inv_constb_cache()
            .inv_inp_cache();
        if let Some((surface, _)) = &self.report.conditional {
            commands = match &pass.conditional {
                Some(c) => commands
                    .set_cond_out_fmt(surface)
                    .set_cond_test(c.test)
                    .set_cond_loc(c.location)
                    .set_cond_val(f32::from_bits(c.value))
                    .set_cond_out_mask(c.write),
                None => commands.set_cond_test(CondTest::Always).set_cond_out_mask(false),
            }
            .inv_cond_out_cache();
        }
        let any_planes = self.loaded.iter().any(|l| l.planes.is_some());
        commands = match loaded.planes {
            Some((address, count)) => commands.set_planes(address, count),
            None if any_planes => commands.set_planes(GpuAddr(0), 0),
            None => commands,
        };
        commands =
            commands.set_domain(pass.domain).start_program().flush_out_cache().flush_cond_out_cache().wait_for_idle();
        self.device.write(self.buffer, &commands.to_bytes()).map_err(|e| internal(&e))?;
        let started = Instant::now();
        let size = u32::try_from(commands.len_dwords()).unwrap_or(u32::MAX);
        let result = self.device.submit(self.buffer, size);
        self.report.elapsed += started.elapsed();
        self.report.commands.extend_from_slice(commands.words());
        for (current, next) in self.current.iter_mut().zip(next) {
            if next.is_some() {
                *current = next;
            }
        }
        match result {
            Ok(report) => {
                for launch in &report.launches {
                    for finding in &launch.findings {
                        self.found(finding_report(finding, &ready.program.spans, ready.source.as_ref()));
                    }
                    self.report.passes[index].launches += 1;
                    self.report.passes[index].counters.add(&launch.counters);
                }
                for finding in &report.findings {
                    self.found(command_report(finding));
                }
                Ok(())
            }
            Err(error) => Err(JobError::Fault(Box::new(fault(index, pass, ready, &error)))),
        }
    }

    /// The same finding in every launch of a pass is one finding.
    fn found(&mut self, report: Report) {
        if !self.report.reports.contains(&report) {
            self.report.reports.push(report);
        }
    }

    /// Saves and names the outputs of a pass when all of its launches are done.
    pub(super) fn end_pass(&mut self, index: usize) -> Result<(), JobError> {
        let (job, ready) = (self.job, self.ready);
        let pass = &job.passes[index];
        if let Some(name) = &pass.name {
            self.named.insert(name.value.clone(), self.current.clone());
        }
        for output in &ready[index].outputs {
            for save in output.output.saves.iter().filter(|save| !is_numbered(&save.path.value)) {
                self.save_output(output.slot, save, 0)?;
            }
        }
        if let Some(path) = pass.conditional.as_ref().and_then(|c| c.save.as_ref()) {
            self.save_conditional(path)?;
        }
        Ok(())
    }

    /// Saves an output; `number`: in numbered names.
    fn save_output(&mut self, slot: u8, save: &Save, number: u64) -> Result<(), JobError> {
        match &self.current[usize::from(slot)] {
            Some(held) => {
                let (surface, rect, flat) = (held.surface, held.rect, self.job.is_one_dimensional());
                let path = Located { value: frame(&save.path.value, number), place: save.path.place.clone() };
                self.write(&path, &surface, rect, (save.flip_y, flat))
            }
            None => Ok(()),
        }
    }

    fn save_conditional(&mut self, path: &Located<PathBuf>) -> Result<(), JobError> {
        match self.report.conditional {
            Some((surface, rect)) => self.write(path, &surface, rect, (false, false)),
            None => Ok(()),
        }
    }

    /// Writes a rectangle of a surface to a file, row by row: with `flip` the last one first, with `flat` an `.npy` of one row without a side for rows.
    fn write(
        &mut self,
        path: &Located<PathBuf>,
        surface: &Surface,
        rect: Rect,
        (flip, flat): (bool, bool),
    ) -> Result<(), JobError> {
        let wrong = |rule, message: String| JobError::Wrong(vec![path.error(rule, message)]);
        let shown = path.value.display();
        let kind = Kind::of(&path.value).ok_or_else(|| {
            wrong("unknown-extension", format!("{shown} names no kind of array; known are {}", Kind::EXTENSIONS))
        })?;
        let unwritable = |e: std::io::Error| wrong("cannot-write", format!("{shown} cannot be written: {e}"));
        let mut out = Saving::begin(&path.value).map_err(unwritable)?;
        with_rows(self.device.memory(), surface, rect, flip, |row| {
            write_rows(kind, rect.shape(surface.format), flat, &mut out, row)
        })
        .map_err(|e| wrong("cannot-write", format!("{shown}: {e}")))?;
        out.finish().map_err(unwritable)?;
        if !self.report.files.contains(&path.value) {
            self.report.files.push(path.value.clone());
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<JobReport, JobError> {
        let saves = self.saves;
        for (slot, save) in saves.iter().filter(|(_, save)| !is_numbered(&save.path.value)) {
            self.save_output(*slot, save, 0)?;
        }
        if let Some(path) = &self.job.conditional_save {
            self.save_conditional(path)?;
        }
        for finding in self.device.take_findings() {
            self.found(command_report(&finding));
        }
        for (slot, held) in (0..).zip(&self.current) {
            if let Some(held) = held {
                let named = self.ready.iter().rev().find_map(|ready| {
                    let is_it = |s: &&Symbol| s.kind == SymbolKind::Output && s.index == slot;
                    ready.program.symbols.iter().find(is_it).map(|s| s.name.clone())
                });
                self.report.outputs.push(OutputResult::of_device(slot, named, held.surface, held.rect));
            }
        }
        self.report.device = Some(self.device);
        Ok(self.report)
    }
}

/// The engine that runs a job.
pub(super) fn engine(job: &Job) -> Result<Box<dyn Engine>, JobError> {
    let wrong = |e: EngineError| JobError::Usage(vec![Report::bare(Diagnostic::error(e.code(), e.to_string()))]);
    job.run.engine.value.engine().map_err(wrong)
}

fn order(tiling: Tiling) -> &'static str {
    if tiling.is_tiled() { "in tiles" } else { "in rows" }
}

/// Estimated device memory of the job: its arrays, three times each pass's outputs, programs and constants.
fn estimate(job: &Job, prepared: &Prepared) -> u64 {
    let mut total = 1 << 20;
    let mut seen = Vec::new();
    let surface = |width: usize, height: usize, format, tiling| {
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Surface::for_size(size(width), size(height), format, tiling).map_or(0, |s| s.bytes() + 2048)
    };
    for (pass, ready) in job.passes.iter().zip(&prepared.passes) {
        total += 1 << 16;
        for texture in &ready.textures {
            if let Some(elements) = &texture.data {
                let format = texture.texture.format.as_ref().map_or_else(|| elements.natural_format(), |f| f.value);
                let tiling = texture.texture.tiling.unwrap_or(Tiling::Linear);
                let key = (Arc::as_ptr(elements), format, tiling);
                if !seen.contains(&key) {
                    seen.push(key);
                    let [height, width, _] = elements.shape();
                    total += surface(width, height, format, tiling);
                }
            }
        }
        let (w, h) = (pass.domain.i1 as usize + 1, pass.domain.j1 as usize + 1);
        for output in &ready.outputs {
            let o = &output.output;
            let [w, h] = o.size.map_or([w, h], |[w, h]| [w as usize, h as usize]);
            let reread = ready.textures.iter().any(|t| t.from.is_some());
            total += surface(w, h, output.format, o.tiling) * if reread { 3 } else { 1 };
        }
        if pass.conditional.is_some() {
            total += surface(4096.min(w.max(1)), 4096.min(h.max(1)), Format::Float32x1, Tiling::Linear);
        }
    }
    if let Some([height, width, _]) = prepared.conditional_buffer.as_ref().map(Elements::shape) {
        total += surface(width.max(4096), height.max(4096), Format::Float32x1, Tiling::Linear);
    }
    total
}

/// An internal error: memory was laid out by this module. Reported all the same.
fn internal(e: &impl std::fmt::Display) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(
        "device-memory",
        format!("the job does not fit the device: {e}"),
    ))])
}
