//! An R700 job: its passes in order, and the state that lives from one to the next.

use super::prepare::{Prepared, Ready};
use super::{Elements, R700Pass, Vertex, save, target_name, target_slot};
use crate::job::frames::{frame, is_numbered};
use crate::job::report::{OutputResult, PassReport, Place};
use crate::job::run::Passes;
use crate::job::surface::Rect;
use crate::job::{Job, JobError, JobReport, Located, Output, Pass, Progress, Save, finding_report, run_fault};
use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{BufferData, Image};
use ctm_exec::r700::{Launch, Space, Target, VertexEvent};
use ctm_exec::{Control, Engine, Position};
use ctm_files::render::Report;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The current contents of an output.
#[derive(Clone, Debug)]
struct Held {
    picture: Arc<Picture>,
    /// The written part: the union of the passes' domains, or all of it.
    rect: Rect,
    elements: Elements,
}

struct Session<'j> {
    job: &'j Job,
    control: &'j Control,
    /// Outputs that are saved at the end of the job.
    saves: &'j [(Target, Save)],
    ready: Vec<Ready>,
    engine: &'j dyn Engine,
    targets: BTreeMap<Target, Held>,
    named: HashMap<String, BTreeMap<Target, Held>>,
    report: JobReport,
}

/// Runs a job and writes the files that it names.
///
/// # Errors
/// The fault that ended it, or a file that cannot be written.
pub(in crate::job) fn run(
    (job, control): (&Job, &Control),
    prepared: Prepared,
    engine: &dyn Engine,
    progress: &mut dyn FnMut(Progress),
) -> Result<JobReport, JobError> {
    let pass_report = |p: &Pass| PassReport { name: p.name.as_ref().map(|n| n.value.clone()), ..PassReport::default() };
    let report = JobReport {
        passes: job.passes.iter().map(pass_report).collect(),
        outputs: Vec::new(),
        conditional: None,
        device: None,
        memories: BTreeMap::new(),
        vertices: Vec::new(),
        files: Vec::new(),
        reports: prepared.reports,
        commands: Vec::new(),
        elapsed: Duration::ZERO,
    };
    let saves = prepared.saves;
    let mut session = Session {
        job,
        control,
        saves: &saves,
        ready: prepared.passes,
        engine,
        targets: BTreeMap::new(),
        named: HashMap::new(),
        report,
    };
    job.drive(control, &mut session, progress)?;
    for (target, save) in saves.iter().filter(|(_, save)| !is_numbered(&save.path.value)) {
        session.save_output(*target, save, 0)?;
    }
    for memory in &job.memory_saves {
        session.save_memory(memory)?;
    }
    let Session { targets, mut report, .. } = session;
    report.outputs = targets.into_iter().map(|(target, held)| result(target, held)).collect();
    Ok(report)
}

fn result(target: Target, held: Held) -> OutputResult {
    let Held { picture, rect, elements } = held;
    let (slot, name) = (target_slot(target), target_name(target));
    let place = Place::Picture(picture);
    OutputResult { slot, name, rect, items: elements.items, channels: elements.channels, place }
}

impl Session<'_> {
    /// Textures that read outputs, and buffers that show memories, with their contents from the begin of the pass.
    fn bind(&mut self, index: usize) {
        let ready = &mut self.ready[index];
        for (slot, target, pass) in &ready.textures {
            let held = match pass {
                Some(name) => self.named.get(name).and_then(|targets| targets.get(target)),
                None => self.targets.get(target),
            };
            // Until it has been written, the texture's own data is there.
            if let Some(held) = held {
                ready.arrays.textures.insert(*slot, Image::from(Picture::clone(&held.picture)));
            }
        }
        for (slot, space, buffer) in &ready.buffers {
            let words = self.report.memories.get(space).map_or(&[][..], Vec::as_slice);
            let bytes = words.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            let data = BufferData { stride_bytes: buffer.stride_bytes, format: buffer.format, bytes };
            ready.arrays.buffers.insert(*slot, data);
        }
    }

    /// The memories of a pass: the existing ones, or fresh ones.
    fn memories(&mut self, index: usize) {
        for memory in &self.ready[index].memories {
            let there = self.report.memories.contains_key(&memory.space);
            if let Some(initial) = &memory.initial
                && (memory.fresh || !there)
            {
                self.report.memories.insert(memory.space, Vec::clone(initial));
            }
        }
    }

    /// The picture that a launch writes an output to: the existing one, or a fresh one.
    fn output(&self, pass: &Pass, ready: &Ready, target: Target, output: &Output) -> Result<Held, JobError> {
        let [width, height] = output.size.unwrap_or([pass.domain.i1 + 1, pass.domain.j1 + 1]);
        let rect = |old: Option<Rect>| match output.size {
            Some([width, height]) => Rect { x: 0, y: 0, width, height },
            None => crate::job::run::union(old, pass.domain),
        };
        let held = self.targets.get(&target);
        // A pass that reads an output never reads its own writes.
        let reads = ready.textures.iter().any(|(_, from, name)| match name {
            None => *from == target,
            Some(name) => {
                let named = self.named.get(name).and_then(|targets| targets.get(from));
                named.zip(held).is_some_and(|(a, b)| Arc::ptr_eq(&a.picture, &b.picture))
            }
        });
        if let Some(held) = held
            && !reads
            && !output.fresh
            && (held.picture.width, held.picture.height) == (width, height)
        {
            return Ok(Held {
                rect: rect(Some(held.rect)),
                elements: output.elements,
                picture: Arc::clone(&held.picture),
            });
        }
        let elements = vec![output.clear; width as usize * height as usize];
        let picture = Arc::new(Picture { width, height, elements });
        Ok(Held { picture, rect: rect(None), elements: output.elements })
    }

    fn found(&mut self, report: Report) {
        if !self.report.reports.contains(&report) {
            self.report.reports.push(report);
        }
    }

    /// Saves an output; `number`: in numbered names.
    fn save_output(&mut self, target: Target, save: &Save, number: u64) -> Result<(), JobError> {
        let path = Located { value: frame(&save.path.value, number), place: save.path.place.clone() };
        let Some(held) = self.targets.get(&target) else { return Ok(()) };
        save::output(&path, &held.picture, held.rect, held.elements, (save.flip_y, self.job.is_one_dimensional()))?;
        self.wrote(&path.value);
        Ok(())
    }

    fn save_memory(&mut self, block: &super::MemoryBlock) -> Result<(), JobError> {
        let Some((path, space)) = block.save.as_ref().zip(block.space.value) else { return Ok(()) };
        let words = self.report.memories.get(&space).map_or(&[][..], Vec::as_slice);
        save::memory(path, block, words)?;
        self.wrote(&path.value);
        Ok(())
    }

    fn wrote(&mut self, path: &std::path::Path) {
        if !self.report.files.iter().any(|f| f == path) {
            self.report.files.push(path.to_owned());
        }
    }
}

impl Session<'_> {
    /// The outputs that a pass saves, with or without numbers.
    fn saves_of(&self, index: usize, numbered: bool) -> Vec<(Target, Save)> {
        let all =
            self.ready[index].outputs.iter().flat_map(|(target, output)| output.saves.iter().map(|s| (*target, s)));
        all.filter(|(_, save)| is_numbered(&save.path.value) == numbered).map(|(t, save)| (t, save.clone())).collect()
    }
}

impl Passes for Session<'_> {
    fn launch(&mut self, index: usize) -> Result<(), JobError> {
        self.bind(index);
        self.memories(index);
        let pass = &self.job.passes[index];
        let mut next: BTreeMap<Target, Held> = BTreeMap::new();
        for (target, output) in &self.ready[index].outputs {
            next.insert(*target, self.output(pass, &self.ready[index], *target, output)?);
        }
        let masks: Vec<(Target, u8)> =
            self.ready[index].outputs.iter().map(|(t, o)| (*t, o.mask)).filter(|(_, mask)| mask & 15 != 15).collect();
        let before: Vec<Arc<Picture>> = masks.iter().map(|(target, _)| Arc::clone(&next[target].picture)).collect();
        for target in next.keys() {
            // The written picture has no other owner then, so that it need not be copied.
            self.targets.remove(target);
        }
        let ready = &mut self.ready[index];
        let mut held: BTreeMap<Target, (Rect, Elements)> = BTreeMap::new();
        for (target, one) in next {
            held.insert(target, (one.rect, one.elements));
            let picture = Arc::try_unwrap(one.picture).unwrap_or_else(|shared| Picture::clone(&shared));
            ready.arrays.targets.insert(target, picture);
        }
        ready.arrays.spaces = std::mem::take(&mut self.report.memories);
        ready.arrays.events.clear();
        let launches = self.report.passes[index].launches;
        let Ready { constants, varying, .. } = ready;
        for (constant, varying) in &*varying {
            constants.file[usize::from(*constant)] = varying.at(launches);
        }
        let default = R700Pass::default();
        let own = pass.r700.as_ref().unwrap_or(&default);
        let mut launch = Launch {
            fetch_program: ready.fetch_program.as_ref(),
            stage: ready.stage,
            chip: ready.chip,
            wavefront: self.job.run.group,
            group_threads: own.group_threads,
            vertex_offset: own.vertex_offset,
            instance_offset: own.instance_offset,
            global_gprs: own.global_gprs,
            semantics: &ready.semantics,
            planes: &ready.planes,
            budget: self.job.run.budget,
            threads: self.job.run.threads,
            checks: self.job.run.check,
            counters: self.job.run.counters,
            ..Launch::new(&ready.program, &ready.constants, pass.domain)
        };
        for memory in &own.memories {
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
        let result = self.engine.run_r700_under(self.control, &launch, &mut ready.arrays);
        self.report.elapsed += started.elapsed();
        self.report.memories = std::mem::take(&mut ready.arrays.spaces);
        let mut targets = std::mem::take(&mut ready.arrays.targets);
        for ((target, mask), before) in masks.iter().zip(before) {
            if let Some(picture) = targets.get_mut(target) {
                for (new, old) in picture.elements.iter_mut().zip(&before.elements) {
                    (0..4).filter(|n| mask >> n & 1 == 0).for_each(|n| new[n] = old[n]);
                }
            }
        }
        for (target, picture) in targets {
            if let Some((rect, elements)) = held.remove(&target) {
                self.targets.insert(target, Held { picture: Arc::new(picture), rect, elements });
            }
        }
        let ready = &self.ready[index];
        if !ready.arrays.events.is_empty() {
            self.report.vertices = numbered(&ready.arrays.events);
        }
        let outcome = result.map_err(|f| {
            let name = pass.name.as_ref().map(|n| n.value.clone());
            let fault = run_fault(index, name, &f, &ready.program.spans, ready.source.as_ref());
            JobError::Fault(Box::new(fault))
        })?;
        let noticed: Vec<Report> = outcome
            .findings
            .iter()
            .map(|finding| finding_report(finding, &ready.program.spans, ready.source.as_ref()))
            .collect();
        noticed.into_iter().for_each(|report| self.found(report));
        self.report.passes[index].launches += 1;
        self.report.passes[index].counters.add(&outcome.counters);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.report.elapsed
    }

    fn frame(&mut self, index: usize) -> Result<(), JobError> {
        let number = self.report.passes[index].launches.saturating_sub(1);
        for (target, save) in self.saves_of(index, true) {
            self.save_output(target, &save, number)?;
        }
        Ok(())
    }

    fn end_round(&mut self, round: u32) -> Result<(), JobError> {
        let saves = self.saves;
        for (target, save) in saves.iter().filter(|(_, save)| is_numbered(&save.path.value)) {
            self.save_output(*target, save, round.into())?;
        }
        Ok(())
    }

    fn end_pass(&mut self, index: usize) -> Result<(), JobError> {
        let pass = &self.job.passes[index];
        if let Some(name) = &pass.name {
            self.named.insert(name.value.clone(), self.targets.clone());
        }
        for (target, save) in self.saves_of(index, false) {
            self.save_output(target, &save, 0)?;
        }
        let Some(own) = &pass.r700 else { return Ok(()) };
        for memory in &own.memories {
            self.save_memory(memory)?;
        }
        if let Some(path) = &own.vertices {
            save::vertices(path, &self.report.vertices)?;
            self.wrote(&path.value);
        }
        Ok(())
    }
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
