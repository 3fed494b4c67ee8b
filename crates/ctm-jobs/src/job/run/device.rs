//! X1K programs of a job on a device: inputs and outputs in its memory, each launch one command buffer.

use super::session::{Backing, HeldOutput, JobState, OutputSet, SaveOrder};
use crate::job::located::Located;
use crate::job::model::{Conditional, Job, Output};
use crate::job::ready::{Own, PreparedJob, ReadyTexture, of_pass};
use crate::job::report::{JobReport, OutputResult, command_report};
use crate::job::surface::{Elements, Rect, fill, with_rows};
use ctm_device::device::{Caches, Device, DeviceOptions};
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::{Control, Engine};
use ctm_files::Saving;
use ctm_files::array::{ArrayFileKind, write_rows};
use ctm_files::error::JobError;
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_launch::source::of_input;
use ctm_launch::{Binding, Client, DeviceArray, OutputArray, Ref};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// A block of device memory; reused when it is free.
#[derive(Debug)]
struct DeviceBlock {
    address: GpuAddr,
    bytes: u64,
}

/// An output in device memory.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    block: Rc<DeviceBlock>,
    surface: Surface,
    width: u32,
}

/// A texture's array in memory: its file, format and tiling.
type ArrayKey = (usize, Format, Tiling);

/// The device of a job.
pub(super) struct DeviceBacking {
    client: Client,
    blocks: Vec<Rc<DeviceBlock>>,
    arrays: HashMap<ArrayKey, (Surface, u32)>,
    /// The conditional buffer, and the part of it that belongs to domains.
    conditional: Option<(Surface, Rect)>,
}

impl DeviceBacking {
    pub(super) fn open(
        (job, control): (&Job, &Control),
        prepared: &PreparedJob,
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
        let client = Client::new(device);
        let mut backing = Self { client, blocks: Vec::new(), arrays: HashMap::new(), conditional: None };
        backing.conditional_buffer(job, prepared.conditional_buffer.as_ref())?;
        Ok(backing)
    }

    /// A free surface in memory, and whether it was never used before: then it holds zeros.
    fn surface(
        &mut self,
        (width, height): (u32, u32),
        format: Format,
        tiling: Tiling,
    ) -> Result<(Rc<DeviceBlock>, Surface, bool), JobError> {
        let surface = Surface::for_size(width, height, format, tiling).map_err(|e| internal(&e))?;
        let bytes = surface.bytes();
        let unused = self.blocks.iter().find(|b| Rc::strong_count(b) == 1 && b.bytes == bytes);
        let is_new = unused.is_none();
        let block = match unused {
            Some(block) => Rc::clone(block),
            None => {
                let address = self.client.device_mut().allocate(ArenaId::Gpu, bytes).map_err(|e| internal(&e))?;
                let block = Rc::new(DeviceBlock { address, bytes });
                self.blocks.push(Rc::clone(&block));
                block
            }
        };
        let surface = surface.at(block.address);
        Ok((block, surface, is_new))
    }

    fn fill(&mut self, surface: &Surface, bits: [u32; 4]) -> Result<(), JobError> {
        fill(self.client.device_mut().memory_mut(), surface, bits).map_err(|e| internal(&e))?;
        self.client.device_mut().host_writes(surface.base, surface.bytes());
        Ok(())
    }

    fn upload(&mut self, surface: &Surface, elements: &Elements) -> Result<(), JobError> {
        elements.upload(self.client.device_mut().memory_mut(), surface).map_err(|e| internal(&e))?;
        self.client.device_mut().host_writes(surface.base, surface.bytes());
        Ok(())
    }

    /// One buffer for all passes, as large as the largest domain that uses it.
    fn conditional_buffer(&mut self, job: &Job, elements: Option<&Elements>) -> Result<(), JobError> {
        let mut rect: Option<Rect> = None;
        for pass in job.passes.iter().filter(|p| p.conditional().is_some()) {
            rect = Some(Rect::around(rect, pass.domain));
        }
        let Some(rect) = rect else { return Ok(()) };
        let clear = job.passes.iter().find_map(|p| p.conditional()).map_or(0, |c| c.clear);
        let (mut width, mut height) = (rect.x + rect.width, rect.y + rect.height);
        if let Some([rows, columns, _]) = elements.map(Elements::shape) {
            width = width.max(u32::try_from(columns).unwrap_or(u32::MAX));
            height = height.max(u32::try_from(rows).unwrap_or(u32::MAX));
        }
        let surface = Surface::for_size(width, height, Format::Float32x1, Tiling::Linear).map_err(|e| internal(&e))?;
        let address = self.client.device_mut().allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| internal(&e))?;
        let surface = surface.at(address);
        self.fill(&surface, [clear; 4])?;
        if let Some(elements) = elements {
            self.upload(&surface, elements)?;
        }
        self.conditional = Some((surface, rect));
        Ok(())
    }

    /// The surface that a texture reads in this launch: an output, or its own array.
    fn input(
        &mut self,
        texture: &ReadyTexture,
        from: Option<(u8, &HeldOutput<Placed>)>,
    ) -> Result<(Surface, u32), JobError> {
        if let Some((output, held)) = from {
            let mut surface = held.array.surface;
            if let Some(tiling) = texture.texture.tiling() {
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
            // `PreparedJob` has checked that there is one.
            return Err(JobError::Wrong(vec![texture.texture.slot.error("missing-key", "the input has no `data`")]));
        };
        let format = texture.texture.format.as_ref().map_or_else(|| elements.natural_format(), |f| f.value);
        let tiling = texture.texture.tiling().unwrap_or(Tiling::Linear);
        let key = (Arc::as_ptr(elements) as usize, format, tiling);
        if let Some(known) = self.arrays.get(&key) {
            return Ok(*known);
        }
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let [height, width, _] = elements.shape().map(size);
        let surface = Surface::for_size(width, height, format, tiling).map_err(|e| internal(&e))?;
        let address = self.client.device_mut().allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| internal(&e))?;
        let surface = surface.at(address);
        self.upload(&surface, elements)?;
        self.arrays.insert(key, (surface, width));
        Ok((surface, width))
    }

    fn save_conditional(
        &self,
        state: &mut JobState<'_, Placed>,
        path: Option<&Located<PathBuf>>,
    ) -> Result<(), JobError> {
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
        let kind = ArrayFileKind::of(&path.value).ok_or_else(|| {
            wrong(
                "unknown-extension",
                format!("{shown} names no kind of array; known are {}", ArrayFileKind::EXTENSIONS),
            )
        })?;
        let unwritable = |e: std::io::Error| wrong("cannot-write", format!("{shown} cannot be written: {e}"));
        let mut out = Saving::begin(&path.value).map_err(unwritable)?;
        with_rows(self.client.device().memory(), surface, rect, flip, |row| {
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
        let fits = [array.width, height] == size && format == output.device_format() && tiling == output.tiling;
        fits.then(|| array.clone())
    }

    fn fresh(&mut self, [width, height]: [u32; 2], output: &Output) -> Result<Placed, JobError> {
        let (block, surface, is_new) = self.surface((width, height), output.device_format(), output.tiling)?;
        if is_new && output.clear == [0; 4] {
            // Memory without writes holds zeros; its pages are allocated by the first write.
            self.client.device_mut().host_writes(surface.base, surface.bytes());
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
        state: &mut JobState<'_, Placed>,
        index: usize,
        mut next: OutputSet<Placed>,
    ) -> Result<(), JobError> {
        let (pass, ready) = (&state.job.passes[index], &state.ready[index]);
        let Own::X1k(textures) = &ready.own else { return Ok(()) };
        let mut launch = ready.launch(state.job, pass, state.report.passes[index].launches, state.control);
        for texture in textures {
            let from = ready.reads.iter().find(|read| read.texture == texture.slot).and_then(|read| {
                // An uncached program reads its own writes.
                let own = next.get(&read.output).filter(|_| ready.reads_own_writes() && read.pass.is_none());
                Some((read.output, own.or_else(|| state.read(read.output, read.pass.as_deref()))?))
            });
            let (surface, columns) = self.input(texture, from)?;
            let sampler = of_input(&texture.texture.sampler);
            let array = DeviceArray { surface, columns }.into();
            launch.bindings.push(Binding::Input(Ref::Index(texture.slot), array, Some(sampler)));
        }
        for output in &ready.outputs {
            let Some(held) = next.get(&output.slot) else { continue };
            let place = OutputArray::Device { surface: held.array.surface, mask: output.output.mask };
            launch.bindings.push(Binding::Output(Ref::Index(output.slot), place));
        }
        if let (Some((buffer, _)), Some(c)) = (self.conditional, pass.conditional()) {
            let Conditional { location, test, value, write, .. } = *c;
            launch.bindings.push(Binding::Conditional(ctm_launch::Conditional {
                buffer,
                location,
                test,
                value,
                write,
            }));
        }
        let done = launch.run_on(&mut self.client).map_err(|error| of_pass(error, index, pass))?;
        state.report.commands.extend_from_slice(self.client.commands());
        state.current.append(&mut next);
        state.report.launched(index, done);
        Ok(())
    }

    fn save(&mut self, path: &Located<PathBuf>, held: &HeldOutput<Placed>, how: SaveOrder) -> Result<(), JobError> {
        self.write(path, &held.array.surface, held.rect, how)
    }

    fn end_pass(&mut self, state: &mut JobState<'_, Placed>, index: usize) -> Result<(), JobError> {
        let conditional = state.job.passes[index].conditional();
        self.save_conditional(state, conditional.and_then(|c| c.save.as_ref()))
    }

    fn end(&mut self, state: &mut JobState<'_, Placed>) -> Result<(), JobError> {
        self.save_conditional(state, state.job.own_saves.conditional())?;
        for finding in self.client.device_mut().take_findings() {
            state.report.found(command_report(&finding));
        }
        Ok(())
    }

    fn result(slot: u8, name: Option<String>, held: HeldOutput<Placed>) -> OutputResult {
        OutputResult::of_device(slot, name, held.array.surface, held.rect)
    }

    fn finish(self, report: &mut JobReport) {
        report.conditional = self.conditional;
        report.device = Some(self.client.into_device());
    }
}

fn order(tiling: Tiling) -> &'static str {
    if tiling.is_tiled() { "in tiles" } else { "in rows" }
}

/// Estimated device memory of the job: its arrays, three times each pass's outputs, programs and constants.
fn estimate(job: &Job, prepared: &PreparedJob) -> u64 {
    let mut total = 1 << 20;
    let mut seen = Vec::new();
    let surface = |width: usize, height: usize, format, tiling| {
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Surface::for_size(size(width), size(height), format, tiling).map_or(0, |s| s.bytes() + 2048)
    };
    for (pass, ready) in job.passes.iter().zip(&prepared.passes) {
        total += 1 << 16;
        let Own::X1k(textures) = &ready.own else { continue };
        for texture in textures {
            if let Some(elements) = &texture.data {
                let format = texture.texture.format.as_ref().map_or_else(|| elements.natural_format(), |f| f.value);
                let tiling = texture.texture.tiling().unwrap_or(Tiling::Linear);
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
            total += surface(w, h, o.device_format(), o.tiling) * if reread { 3 } else { 1 };
        }
        if pass.conditional().is_some() {
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
