//! X1K programs of a job on a device: inputs and outputs in its memory, each launch one command buffer.

use super::session::{Backing, Held, Outputs, SaveOrder, State};
use crate::job::located::Located;
use crate::job::model::{Job, Output, Pass};
use crate::job::ready::{Prepared, ReadyTexture, X1kReady};
use crate::job::report::{JobReport, OutputResult, command_report, fault};
use crate::job::surface::{Elements, Rect, fill, with_rows};
use ctm_device::commands::{CommandBuffer, CondTest};
use ctm_device::device::{Caches, Device, DeviceOptions, plane_bytes};
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::x1k::Sampler;
use ctm_exec::{Control, Engine};
use ctm_files::Saving;
use ctm_files::array::{Kind, write_rows};
use ctm_files::error::{JobError, finding_report};
use ctm_files::render::Report;
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A block of device memory; reused when it is free.
#[derive(Debug)]
struct Block {
    address: GpuAddr,
    bytes: u64,
}

/// An output in device memory.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    block: Rc<Block>,
    surface: Surface,
    width: u32,
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

/// The device of a job.
pub(super) struct DeviceBacking {
    device: Device,
    loaded: Vec<Loaded>,
    blocks: Vec<Rc<Block>>,
    arrays: HashMap<ArrayKey, (Surface, u32)>,
    /// The conditional buffer, and the part of it that belongs to domains.
    conditional: Option<(Surface, Rect)>,
    buffer: GpuAddr,
}

/// Room for one launch's commands, in dwords; the largest takes less than 300.
const BUFFER_DWORDS: u32 = 1024;

impl DeviceBacking {
    pub(super) fn open(
        (job, control): (&Job, &Control),
        prepared: &Prepared,
        engine: Box<dyn Engine>,
    ) -> Result<Self, JobError> {
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
        device.set_control(control.clone());
        let buffer = device.allocate(ArenaId::Sys, u64::from(BUFFER_DWORDS) * 4).map_err(|e| internal(&e))?;
        let (loaded, blocks, arrays) = (Vec::new(), Vec::new(), HashMap::new());
        let mut backing = Self { device, loaded, blocks, arrays, conditional: None, buffer };
        for (pass, ready) in job.passes.iter().zip(prepared.passes.iter().filter_map(|ready| ready.x1k())) {
            let loaded = backing.load(pass, ready)?;
            backing.loaded.push(loaded);
        }
        backing.conditional_buffer(job, prepared.conditional_buffer.as_ref())?;
        Ok(backing)
    }

    /// Writes a pass's program, constants and planes to memory.
    fn load(&mut self, pass: &Pass, ready: &X1kReady) -> Result<Loaded, JobError> {
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
    fn conditional_buffer(&mut self, job: &Job, elements: Option<&Elements>) -> Result<(), JobError> {
        let mut rect: Option<Rect> = None;
        for pass in job.passes.iter().filter(|p| p.conditional.is_some()) {
            rect = Some(Rect::around(rect, pass.domain));
        }
        let Some(rect) = rect else { return Ok(()) };
        let clear = job.passes.iter().find_map(|p| p.conditional.as_ref()).map_or(0, |c| c.clear);
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
        self.conditional = Some((surface, rect));
        Ok(())
    }

    /// The surface that a texture reads in this launch: an output, or its own array.
    fn input(&mut self, texture: &ReadyTexture, from: Option<(u8, &Held<Placed>)>) -> Result<(Surface, u32), JobError> {
        if let Some((output, held)) = from {
            let mut surface = held.array.surface;
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
            return Ok((surface, held.array.width));
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

    fn save_conditional(&self, state: &mut State<'_, Placed>, path: Option<&Located<PathBuf>>) -> Result<(), JobError> {
        if let (Some((surface, rect)), Some(path)) = (&self.conditional, path) {
            self.write(path, surface, *rect, SaveOrder { flip: false, flat: false })?;
            state.report.wrote(&path.value);
        }
        Ok(())
    }

    /// Writes a rectangle of a surface to a file, row by row.
    fn write(
        &self,
        path: &Located<PathBuf>,
        surface: &Surface,
        rect: Rect,
        SaveOrder { flip, flat }: SaveOrder,
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
        out.finish().map_err(unwritable)
    }
}

impl Backing for DeviceBacking {
    type Array = Placed;

    fn reuse(&self, array: &Placed, size: [u32; 2], output: &Output) -> Option<Placed> {
        let Surface { height, format, tiling, .. } = array.surface;
        let fits = [array.width, height] == size && format == format_of(output) && tiling == output.tiling;
        fits.then(|| array.clone())
    }

    fn fresh(&mut self, [width, height]: [u32; 2], output: &Output) -> Result<Placed, JobError> {
        let (block, surface, is_new) = self.surface((width, height), format_of(output), output.tiling)?;
        if is_new && output.clear == [0; 4] {
            // Memory without writes holds zeros; its pages are allocated by the first write.
            self.device.host_writes(surface.base, surface.bytes());
        } else {
            self.fill(&surface, output.clear)?;
        }
        Ok(Placed { block, surface, width })
    }

    fn same(a: &Placed, b: &Placed) -> bool {
        Rc::ptr_eq(&a.block, &b.block)
    }

    fn launch(
        &mut self,
        state: &mut State<'_, Placed>,
        index: usize,
        mut next: Outputs<Placed>,
    ) -> Result<(), JobError> {
        let (pass, ready) = (&state.job.passes[index], &state.ready[index]);
        let Some(own) = ready.x1k() else { return Ok(()) };
        let mut commands = CommandBuffer::new();
        for texture in &own.textures {
            let from = ready.reads.iter().find(|read| read.texture == texture.slot).and_then(|read| {
                // An uncached program reads its own writes.
                let own = next.get(&read.output).filter(|_| ready.reads_own_writes() && read.pass.is_none());
                Some((read.output, own.or_else(|| state.read(read.output, read.pass.as_deref()))?))
            });
            let (surface, width) = self.input(texture, from)?;
            let t = &texture.texture;
            let sampler = Sampler { filter: t.filter, wrap: t.wrap, border: t.border };
            let width = u16::try_from(width).unwrap_or(u16::MAX);
            commands = commands.set_inp_fmt(texture.slot, &surface).set_inp_sampler(texture.slot, &sampler, width);
        }
        for (slot, held) in &next {
            commands = commands.set_out_fmt(*slot, &held.array.surface);
        }
        let launches = state.report.passes[index].launches;
        for (constant, varying) in &ready.varying {
            let at = GpuAddr(self.loaded[index].float.0 + 16 * u32::from(*constant));
            let bytes = varying.at(launches).map(u32::to_le_bytes);
            self.device.write(at, bytes.as_flattened()).map_err(|e| internal(&e))?;
        }
        let loaded = &self.loaded[index];
        commands = commands
            .set_out_mask(own.mask)
            .set_inst_fmt(loaded.image)
            .set_constf_fmt(loaded.float)
            .set_consti_fmt(loaded.int)
            .set_constb_fmt(loaded.bool)
            .inv_inst_cache()
            .inv_constf_cache()
            .inv_consti_cache()
            .inv_constb_cache()
            .inv_inp_cache();
        if let Some((surface, _)) = &self.conditional {
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
        state.report.elapsed += started.elapsed();
        state.report.commands.extend_from_slice(commands.words());
        state.current.append(&mut next);
        match result {
            Ok(report) => {
                for launch in &report.launches {
                    for finding in &launch.findings {
                        state.report.found(finding_report(finding, ready.spans(), ready.source.as_ref()));
                    }
                    state.report.passes[index].launches += 1;
                    state.report.passes[index].counters.add(&launch.counters);
                }
                for finding in &report.findings {
                    state.report.found(command_report(finding));
                }
                Ok(())
            }
            Err(error) => Err(JobError::Fault(Box::new(fault(index, pass, ready, &error)))),
        }
    }

    fn save(&mut self, path: &Located<PathBuf>, held: &Held<Placed>, how: SaveOrder) -> Result<(), JobError> {
        self.write(path, &held.array.surface, held.rect, how)
    }

    fn end_pass(&mut self, state: &mut State<'_, Placed>, index: usize) -> Result<(), JobError> {
        let conditional = state.job.passes[index].conditional.as_ref();
        self.save_conditional(state, conditional.and_then(|c| c.save.as_ref()))
    }

    fn end(&mut self, state: &mut State<'_, Placed>) -> Result<(), JobError> {
        self.save_conditional(state, state.job.conditional_save.as_ref())?;
        for finding in self.device.take_findings() {
            state.report.found(command_report(&finding));
        }
        Ok(())
    }

    fn result(slot: u8, name: Option<String>, held: Held<Placed>) -> OutputResult {
        OutputResult::of_device(slot, name, held.array.surface, held.rect)
    }

    fn finish(self, report: &mut JobReport) {
        report.conditional = self.conditional;
        report.device = Some(self.device);
    }
}

/// The layout of an output in device memory.
fn format_of(output: &Output) -> Format {
    output.format.unwrap_or(Format::Float32x4)
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
        for texture in ready.x1k().map(|own| &own.textures).into_iter().flatten() {
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
            let reread = !ready.reads.is_empty();
            total += surface(w, h, format_of(o), o.tiling) * if reread { 3 } else { 1 };
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
