//! R700 programs of a job on plain arrays.

use super::save;
use crate::job::located::Located;
use crate::job::model::Output;
use crate::job::r700::model::{FetchBuffer, MemoryBlock, SavedElements, Vertex};
use crate::job::ready::{Own, R700Ready, of_pass, target_at};
use crate::job::report::{JobReport, OutputPlace as ResultPlace, OutputResult};
use crate::job::run::session::{Backing, HeldOutput, JobState, OutputSet, SaveOrder};
use crate::job::surface::Rect;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Space, VertexEvent};
use ctm_exec::{Engine, Position};
use ctm_files::error::JobError;
use ctm_files::r700::target_name;
use ctm_launch::{Binding, Bound, HostRegisters, InputArray, Items, OutputArray, Ref, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// An output as a picture.
#[derive(Clone, Debug)]
pub(in crate::job) struct Pictured {
    picture: Arc<Picture>,
    elements: SavedElements,
}

/// The engine of a job on plain arrays, which each pass has.
pub(in crate::job) struct ArraysBacking {
    pub engine: Box<dyn Engine>,
}

type RunArrays<'j> = JobState<'j, Pictured>;

/// Memories with their contents from the begin of the launch, and the bytes of buffers that show one as it was before.
fn memories(report: &mut JobReport, own: &R700Ready) -> BTreeMap<u8, Vec<u8>> {
    let of_memory = |(slot, space, _): &(u8, Space, FetchBuffer)| {
        let words = report.memories.get(space).map_or(&[][..], Vec::as_slice);
        (*slot, words.iter().flat_map(|dword| dword.to_le_bytes()).collect())
    };
    let shown = own.buffers.iter().map(of_memory).collect();
    for memory in &own.memories {
        let there = report.memories.contains_key(&memory.space);
        if let Some(initial) = &memory.initial
            && (memory.fresh || !there)
        {
            report.memories.insert(memory.space, Vec::clone(initial));
        }
    }
    shown
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
        fits.then(|| Pictured { picture: Arc::clone(&array.picture), elements: output.elements() })
    }

    fn fresh(&mut self, [width, height]: [u32; 2], output: &Output) -> Result<Pictured, JobError> {
        let elements = vec![output.clear; width as usize * height as usize];
        Ok(Pictured { picture: Arc::new(Picture { width, height, elements }), elements: output.elements() })
    }

    fn same(a: &Pictured, b: &Pictured) -> bool {
        Arc::ptr_eq(&a.picture, &b.picture)
    }

    fn launch(&mut self, state: &mut RunArrays<'_>, index: usize, next: OutputSet<Pictured>) -> Result<(), JobError> {
        let (pass, ready) = (&state.job.passes[index], &state.ready[index]);
        let Own::R700(own) = &ready.own else { return Ok(()) };
        let shown = memories(&mut state.report, own);
        let mut launch = ready.launch(state.job, pass, state.report.passes[index].launches, state.control);
        launch.options.engine = Some(&*self.engine);
        let Some(of_job) = pass.r700() else { return Ok(()) };
        launch.bindings.push(Binding::Host(HostRegisters {
            stage: own.stage,
            chip: own.chip,
            fetch_program: own.fetch_program.as_ref(),
            group_threads: of_job.group_threads.unwrap_or(0),
            global_gprs: of_job.global_gprs.unwrap_or(0),
            index_offsets: [of_job.vertex_offset, of_job.instance_offset].map(Option::unwrap_or_default),
            semantics: &own.semantics,
        }));
        for (space, dwords) in std::mem::take(&mut state.report.memories) {
            let of_space = of_job.memories.iter().find(|memory| memory.space.value == Some(space));
            let item = of_space.and_then(|memory| memory.item_dwords.or(memory.stride)).unwrap_or(0);
            launch.bindings.push(Binding::Memory { space, dwords, item });
        }
        // Until an output has been written, the texture's own data is there.
        let reads = ready.reads.iter().filter_map(|read| {
            let held = state.read(read.output, read.pass.as_deref())?;
            Some((read.texture, Arc::clone(&held.array.picture)))
        });
        let reads: BTreeMap<u8, Arc<Picture>> = reads.collect();
        let r700 = &own.arrays;
        let buffers = r700.constants.iter().map(|(bank, rows)| Binding::ConstantBuffer(*bank, Cow::Borrowed(&**rows)));
        launch.bindings.extend(buffers);
        launch.bindings.extend(r700.samplers.iter().map(|(id, sampler)| Binding::Sampler(*id, *sampler)));
        let of_memory = own.buffers.iter().filter_map(|(slot, _, buffer)| {
            Some((*slot, Items { bytes: shown.get(slot)?, stride_bytes: buffer.stride_bytes, format: buffer.format }))
        });
        let of_files = r700.buffers.iter().filter(|(slot, _)| !shown.contains_key(slot)).map(|(slot, buffer)| {
            (*slot, Items { bytes: &buffer.bytes, stride_bytes: buffer.stride_bytes, format: buffer.format })
        });
        let items = of_memory.chain(of_files).map(|(slot, items)| Binding::Buffer(Ref::Index(slot), items));
        launch.bindings.extend(items);
        let images = r700.textures.iter().filter(|(slot, _)| !reads.contains_key(slot));
        let images = images.map(|(slot, image)| (*slot, InputArray::Texture(image)));
        let pictures = reads.iter().map(|(slot, picture)| {
            let shape = [picture.height as usize, picture.width as usize, 4];
            (*slot, View::rows(picture.elements.as_flattened(), shape).into())
        });
        let textures = images.chain(pictures).map(|(slot, source)| Binding::Input(Ref::Index(slot), source, None));
        launch.bindings.extend(textures);
        let mut written: Vec<(u8, Rect, SavedElements, Picture)> = Vec::new();
        for (slot, HeldOutput { array: Pictured { picture, elements }, rect }) in next {
            // The written picture has no other owner then, so that it need not be copied.
            state.current.remove(&slot);
            let picture = Arc::try_unwrap(picture).unwrap_or_else(|shared| Picture::clone(&shared));
            written.push((slot, rect, elements, picture));
        }
        for (slot, _, _, picture) in &mut written {
            let output = ready.outputs.iter().find(|output| output.slot == *slot);
            let mask = output.map_or(0xf, |output| output.output.mask);
            let name = target_at(*slot).map(target_name).unwrap_or_default();
            launch.bindings.push(Binding::Output(Ref::Name(name), OutputArray::picture(picture, mask)));
        }
        let done = launch.bind().and_then(Bound::run).map_err(|error| of_pass(error, index, pass))?;
        for (slot, rect, elements, picture) in written {
            state.current.insert(slot, HeldOutput { array: Pictured { picture: Arc::new(picture), elements }, rect });
        }
        if !done.events.is_empty() {
            state.report.vertices = numbered(&done.events);
        }
        state.report.launched(index, done);
        Ok(())
    }

    fn save(&mut self, path: &Located<PathBuf>, held: &HeldOutput<Pictured>, how: SaveOrder) -> Result<(), JobError> {
        save::output(path, &held.array.picture, held.rect, held.array.elements, (how.flip, how.flat))
    }

    fn end_pass(&mut self, state: &mut RunArrays<'_>, index: usize) -> Result<(), JobError> {
        let Some(own) = state.job.passes[index].r700() else { return Ok(()) };
        for memory in &own.memories {
            save_memory(&mut state.report, memory)?;
        }
        if let Some(path) = &own.vertices {
            save::vertices(path, &state.report.vertices)?;
            state.report.wrote(&path.value);
        }
        Ok(())
    }

    fn end(&mut self, state: &mut RunArrays<'_>) -> Result<(), JobError> {
        state.job.own_saves.memories().iter().try_for_each(|memory| save_memory(&mut state.report, memory))
    }

    fn result(slot: u8, name: Option<String>, held: HeldOutput<Pictured>) -> OutputResult {
        let HeldOutput { array: Pictured { picture, elements }, rect } = held;
        let (name, place) = (name.unwrap_or_default(), ResultPlace::Picture(picture));
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
