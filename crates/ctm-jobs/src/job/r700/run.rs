//! R700 programs of a job on plain arrays.

use super::save;
use crate::job::located::Located;
use crate::job::model::Output;
use crate::job::r700::model::{Elements, MemoryBlock, R700Pass, Vertex, target_slot};
use crate::job::ready::{Own, Ready, target_at};
use crate::job::report::{JobReport, OutputResult, Place};
use crate::job::run::session::{Backing, Held, Outputs, SaveOrder, State};
use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{BufferData, Image};
use ctm_exec::r700::{Launch, Space, Target, VertexEvent};
use ctm_exec::{Engine, Position};
use ctm_files::error::{JobError, finding_report, run_fault};
use ctm_files::render::Report;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// An output as a picture.
#[derive(Clone, Debug)]
pub(in crate::job) struct Pictured {
    picture: Arc<Picture>,
    elements: Elements,
}

/// The engine of a job on plain arrays, which each pass has.
pub(in crate::job) struct ArraysBacking {
    pub engine: Box<dyn Engine>,
}

type Arrays<'j> = State<'j, Pictured>;

/// Binds textures that read outputs, buffers that show memories, and memories, with their contents from the begin of the launch.
fn bind(state: &mut Arrays<'_>, index: usize) {
    let Ready { reads, own: Own::R700(own), .. } = &mut state.ready[index] else { return };
    for read in reads.iter() {
        let outputs = match &read.pass {
            Some(name) => state.named.get(name),
            None => Some(&state.current),
        };
        // Until it has been written, the texture's own data is there.
        if let Some(held) = outputs.and_then(|outputs| outputs.get(&read.output)) {
            own.arrays.textures.insert(read.texture, Image::from(Picture::clone(&held.array.picture)));
        }
    }
    for (slot, space, buffer) in &own.buffers {
        let words = state.report.memories.get(space).map_or(&[][..], Vec::as_slice);
        let bytes = words.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let data = BufferData { stride_bytes: buffer.stride_bytes, format: buffer.format, bytes };
        own.arrays.buffers.insert(*slot, data);
    }
    for memory in &own.memories {
        let there = state.report.memories.contains_key(&memory.space);
        if let Some(initial) = &memory.initial
            && (memory.fresh || !there)
        {
            state.report.memories.insert(memory.space, Vec::clone(initial));
        }
    }
}

fn save_memory(report: &mut JobReport, block: &MemoryBlock) -> Result<(), JobError> {
    let Some((path, space)) = block.save.as_ref().zip(block.space.value) else { return Ok(()) };
    let words = report.memories.get(&space).map_or(&[][..], Vec::as_slice);
    save::memory(path, block, words)?;
    report.wrote(&path.value);
    Ok(())
}

impl Backing for ArraysBacking {
    type Array = Pictured;

    fn reuse(&self, array: &Pictured, size: [u32; 2], output: &Output) -> Option<Pictured> {
        let fits = [array.picture.width, array.picture.height] == size;
        fits.then(|| Pictured { picture: Arc::clone(&array.picture), elements: output.elements })
    }

    fn fresh(&mut self, [width, height]: [u32; 2], output: &Output) -> Result<Pictured, JobError> {
        let elements = vec![output.clear; width as usize * height as usize];
        Ok(Pictured { picture: Arc::new(Picture { width, height, elements }), elements: output.elements })
    }

    fn same(a: &Pictured, b: &Pictured) -> bool {
        Arc::ptr_eq(&a.picture, &b.picture)
    }

    fn launch(&mut self, state: &mut Arrays<'_>, index: usize, next: Outputs<Pictured>) -> Result<(), JobError> {
        bind(state, index);
        let pass = &state.job.passes[index];
        let Ready { source, varying, outputs, own: Own::R700(own), .. } = &mut state.ready[index] else {
            return Ok(());
        };
        let masks = outputs.iter().filter(|o| o.output.mask & 15 != 15);
        let masks: Vec<(Target, u8)> = masks.filter_map(|o| Some((target_at(o.slot)?, o.output.mask))).collect();
        let before: Vec<Arc<Picture>> =
            masks.iter().map(|(target, _)| Arc::clone(&next[&target_slot(*target)].array.picture)).collect();
        let mut held = BTreeMap::new();
        for (slot, Held { array, rect }) in next {
            // The written picture has no other owner then, so that it need not be copied.
            state.current.remove(&slot);
            let Some(target) = target_at(slot) else { continue };
            held.insert(target, (rect, array.elements));
            let picture = Arc::try_unwrap(array.picture).unwrap_or_else(|shared| Picture::clone(&shared));
            own.arrays.targets.insert(target, picture);
        }
        own.arrays.spaces = std::mem::take(&mut state.report.memories);
        own.arrays.events.clear();
        let launches = state.report.passes[index].launches;
        for (constant, varying) in varying {
            own.constants.file[usize::from(*constant)] = varying.at(launches);
        }
        let default = R700Pass::default();
        let of_job = pass.r700.as_ref().unwrap_or(&default);
        let mut launch = Launch {
            fetch_program: own.fetch_program.as_ref(),
            stage: own.stage,
            chip: own.chip,
            wavefront: state.job.run.group,
            group_threads: of_job.group_threads.unwrap_or(0),
            vertex_offset: of_job.vertex_offset.unwrap_or(0),
            instance_offset: of_job.instance_offset.unwrap_or(0),
            global_gprs: of_job.global_gprs.unwrap_or(0),
            semantics: &own.semantics,
            planes: &own.planes,
            budget: state.job.run.budget,
            threads: state.job.run.threads,
            checks: state.job.run.check,
            counters: state.job.run.counters,
            ..Launch::new(&own.program, &own.constants, pass.domain)
        };
        for memory in &of_job.memories {
            match memory.space.value {
                Some(Space::Ring) => launch.ring_item_dwords = memory.item_dwords.unwrap_or(0),
                Some(Space::Stream(n)) => {
                    launch.stream_item_dwords[usize::from(n) & 3] = memory.item_dwords.unwrap_or(0);
                }
                Some(Space::Reduction) => launch.reduction_stride = memory.stride.unwrap_or(0),
                Some(Space::Scatter) | None => {}
            }
        }
        let started = Instant::now();
        let result = self.engine.run_r700_under(state.control, &launch, &mut own.arrays);
        state.report.elapsed += started.elapsed();
        state.report.memories = std::mem::take(&mut own.arrays.spaces);
        let mut targets = std::mem::take(&mut own.arrays.targets);
        for ((target, mask), before) in masks.iter().zip(before) {
            if let Some(picture) = targets.get_mut(target) {
                for (new, old) in picture.elements.iter_mut().zip(&before.elements) {
                    (0..4).filter(|n| mask >> n & 1 == 0).for_each(|n| new[n] = old[n]);
                }
            }
        }
        for (target, picture) in targets {
            if let Some((rect, elements)) = held.remove(&target) {
                let array = Pictured { picture: Arc::new(picture), elements };
                state.current.insert(target_slot(target), Held { array, rect });
            }
        }
        if !own.arrays.events.is_empty() {
            state.report.vertices = numbered(&own.arrays.events);
        }
        let outcome = result.map_err(|f| {
            let name = pass.name.as_ref().map(|n| n.value.clone());
            let fault = run_fault(index, name, &f, &own.program.spans, source.as_ref());
            JobError::Fault(Box::new(fault))
        })?;
        let noticed: Vec<Report> = outcome
            .findings
            .iter()
            .map(|finding| finding_report(finding, &own.program.spans, source.as_ref()))
            .collect();
        noticed.into_iter().for_each(|report| state.report.found(report));
        state.report.passes[index].launches += 1;
        state.report.passes[index].counters.add(&outcome.counters);
        Ok(())
    }

    fn save(&mut self, path: &Located<PathBuf>, held: &Held<Pictured>, how: SaveOrder) -> Result<(), JobError> {
        save::output(path, &held.array.picture, held.rect, held.array.elements, (how.flip, how.flat))
    }

    fn end_pass(&mut self, state: &mut Arrays<'_>, index: usize) -> Result<(), JobError> {
        let Some(own) = &state.job.passes[index].r700 else { return Ok(()) };
        for memory in &own.memories {
            save_memory(&mut state.report, memory)?;
        }
        if let Some(path) = &own.vertices {
            save::vertices(path, &state.report.vertices)?;
            state.report.wrote(&path.value);
        }
        Ok(())
    }

    fn end(&mut self, state: &mut Arrays<'_>) -> Result<(), JobError> {
        state.job.memory_saves.iter().try_for_each(|memory| save_memory(&mut state.report, memory))
    }

    fn result(slot: u8, name: Option<String>, held: Held<Pictured>) -> OutputResult {
        let Held { array: Pictured { picture, elements }, rect } = held;
        let (name, place) = (name.unwrap_or_default(), Place::Picture(picture));
        OutputResult { slot, name, rect, items: elements.items, channels: elements.channels, place }
    }

    fn finish(self, _report: &mut JobReport) {}
}

/// Events with the numbers of vertices and strips of their thread.
fn numbered(events: &[(Position, VertexEvent)]) -> Vec<Vertex> {
    let mut threads: BTreeMap<Position, (u32, u32)> = BTreeMap::new();
    let vertex = |&(at, event): &(Position, VertexEvent)| {
        let (number, strip) = threads.entry(at).or_default();
        let vertex = Vertex { at, event, number: *number, strip: *strip };
        *number += u32::from(event != VertexEvent::Cut);
        *strip += u32::from(event != VertexEvent::Emit);
        vertex
    };
    events.iter().map(vertex).collect()
}
