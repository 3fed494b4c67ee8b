//! Launches of recordings: a list of them, and the outputs of one.

use crate::subject::{Chosen, Subject, no_launch, replayed};
use ctm_exec::engine::MemoryFault;
use ctm_exec::observe::Place;
use ctm_exec::r700::{Exports, Space, Target, VertexEvent};
use ctm_exec::watch::Control;
use ctm_exec::x1k::{Elements, Input, Outputs, Written};
use ctm_exec::{Domain, Engine, Fault, FaultKind, Outcome, Position, r700, x1k};
use ctm_files::array::{Array, Values};
use ctm_isa::x1k::INPUTS;
use ctm_jobs::job::{AnyProgram, JobError, PassProgram};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches the launches of a recording; the chosen one runs on a memory that records its outputs.
struct Listening<S> {
    inner: Box<dyn Engine>,
    heard: Arc<Heard>,
    /// Called with each launch and its number.
    launch: S,
    /// The launch whose outputs are recorded.
    kept: Option<u64>,
    patience: Option<Duration>,
}

/// Results of watching.
#[derive(Default)]
struct Heard {
    seen: AtomicU64,
    kept: Mutex<Option<LaunchOutputs>>,
}

/// The outputs of a launch of a recording.
#[derive(Clone, Debug)]
pub struct LaunchOutputs {
    /// The launch.
    pub chosen: Chosen,
    /// For each output by its name a picture of four channels over the domain; for scattered values one of one channel as far as they reach. Elements
    /// without a write are 0.
    pub outputs: Vec<(String, Array)>,
    /// The fault that ended it.
    pub fault: Option<Fault>,
}

impl<S: Fn(u64, Domain, PassProgram)> Listening<S> {
    /// Runs a launch. The chosen one runs on another memory; later ones do not run.
    fn hear(
        &self,
        (domain, program): (Domain, PassProgram),
        run: impl FnOnce(Option<&mut Contents>) -> Result<Outcome, Fault>,
    ) -> Result<Outcome, Fault> {
        let which = self.heard.seen.fetch_add(1, Ordering::Relaxed);
        match self.kept {
            Some(kept) if which > kept => return Err(Fault { kind: FaultKind::Stopped, pc: 0, position: None }),
            Some(kept) if which == kept => {}
            _ => {
                (self.launch)(which, domain, program);
                return run(None);
            }
        }
        let mut left = Contents { domain, outputs: BTreeMap::new(), scattered: HashMap::new() };
        let result = run(Some(&mut left));
        let chosen = Chosen { pass: 0, which, domain, program, glsl: None, lane: None };
        let fault = result.as_ref().err().cloned();
        *lock(&self.heard.kept) = Some(LaunchOutputs { chosen, outputs: left.pictures(), fault });
        result
    }
}

impl<S: Fn(u64, Domain, PassProgram) + Send + Sync> Engine for Listening<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        let mut launch = *launch;
        launch.budget.time = shorter(launch.budget.time, self.patience);
        self.hear((launch.domain, (&launch).into()), |left| match left {
            None => self.inner.run_x1k_under(control, &launch, memory),
            Some(left) => self.inner.run_x1k_under(control, &launch, &mut Keeping { inner: memory, left }),
        })
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let mut launch = *launch;
        launch.budget.time = shorter(launch.budget.time, self.patience);
        self.hear((launch.domain, (&launch).into()), |left| match left {
            None => self.inner.run_r700_under(control, &launch, memory),
            Some(left) => self.inner.run_r700_under(control, &launch, &mut Keeping { inner: memory, left }),
        })
    }
}

fn shorter(time: Option<Duration>, patience: Option<Duration>) -> Option<Duration> {
    match (time, patience) {
        (Some(time), Some(patience)) => Some(time.min(patience)),
        (time, patience) => time.or(patience),
    }
}

/// Each launch of a recording in a line, from launch 0 on. They are run for that, each for as long as `patience` lasts.
///
/// # Errors
/// The file is no recording, or cannot be read.
pub fn launches(path: &Path, patience: Option<Duration>, control: &Control) -> Result<Vec<String>, JobError> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::new(Heard::default());
    let wrap = |inner| -> Box<dyn Engine> {
        let told = Arc::clone(&lines);
        let launch = move |number, domain: Domain, program: PassProgram| {
            let (isa, words) = match &program.program {
                AnyProgram::X1k(program) => ("X1K", program.words.len()),
                AnyProgram::R700(program) => ("R700", program.words.len()),
            };
            let Domain { i0, j0, i1, j1 } = domain;
            let unit = if isa == "X1K" { "instructions" } else { "dwords" };
            lock(&told).push(format!("launch {number}: {isa}, {words} {unit}, ({i0}, {j0}) to ({i1}, {j1})"));
        };
        Box::new(Listening { inner, heard: Arc::clone(&heard), launch, kept: None, patience })
    };
    replayed(path, control, &wrap)?;
    let lines = std::mem::take(&mut *lock(&lines));
    Ok(lines)
}

/// The values that a launch of a recording exports to its outputs, on the engine of the recording. The device's write masks are ignored.
///
/// # Errors
/// The file is no recording, cannot be read, or has no such launch.
pub fn launch_outputs(
    path: &Path,
    which: u64,
    patience: Option<Duration>,
    control: &Control,
) -> Result<LaunchOutputs, JobError> {
    let heard = Arc::new(Heard::default());
    let wrap = |inner| -> Box<dyn Engine> {
        let heard = Arc::clone(&heard);
        Box::new(Listening { inner, heard, launch: |_, _, _| {}, kept: Some(which), patience })
    };
    replayed(path, control, &wrap)?;
    let kept = lock(&heard.kept).take();
    kept.ok_or_else(|| no_launch(which, heard.seen.load(Ordering::Relaxed)))
}

/// The most columns or rows of a picture of scattered values.
const MOST: u32 = 4096;

/// Where processors send values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SentValues {
    Output(u8),
    Export(Target),
}

impl SentValues {
    fn name(self) -> String {
        match self {
            Self::Output(n) => format!("o{n}"),
            Self::Export(target) => Place::Export(target, 0).to_string().trim_end_matches(".x").to_owned(),
        }
    }
}

/// The values that the launch's processors have exported so far.
struct Contents {
    domain: Domain,
    /// Four channels of each processor, row by row.
    outputs: BTreeMap<SentValues, Vec<f32>>,
    scattered: HashMap<[u32; 2], u32>,
}

impl Contents {
    /// The elements that a processor sent to an output.
    fn put(&mut self, at: Position, of: SentValues, values: [u32; 4], elements: u8) {
        let domain = self.domain;
        if elements & 15 == 0 || !domain.contains(at) {
            return;
        }
        let (width, height) = (domain.width() as usize, domain.height() as usize);
        let all = self.outputs.entry(of).or_insert_with(|| vec![0.0; width * height * 4]);
        let first = ((at.j - domain.j0) as usize * width + (at.i - domain.i0) as usize) * 4;
        for (channel, bits) in values.into_iter().enumerate().filter(|(channel, _)| elements >> channel & 1 == 1) {
            all[first + channel] = f32::from_bits(bits);
        }
    }

    fn pictures(self) -> Vec<(String, Array)> {
        let (width, height) = (self.domain.width() as usize, self.domain.height() as usize);
        let outputs = self.outputs.into_iter();
        let mut all: Vec<_> = outputs
            .map(|(of, values)| (of.name(), Array { width, height, channels: 4, values: Values::F32(values) }))
            .collect();
        if !self.scattered.is_empty() {
            let near = || self.scattered.iter().filter(|([x, y], _)| *x < MOST && *y < MOST);
            let [width, height] = near().fold([0, 0], |[w, h], ([x, y], _)| [w.max(x + 1), h.max(y + 1)]);
            let (width, height) = (width as usize, height as usize);
            let mut values = vec![0.0; width * height];
            for ([x, y], bits) in near() {
                values[*y as usize * width + *x as usize] = f32::from_bits(*bits);
            }
            all.push(("o0, uncached".to_owned(), Array { width, height, channels: 1, values: Values::F32(values) }));
        }
        all
    }
}

impl Subject {
    /// The text of the program of a launch, and its name in traces.
    #[must_use]
    pub fn program_of(chosen: &Chosen) -> (String, String) {
        let listing = chosen.listing();
        let text = listing.lines.iter().map(|line| format!("{}\n", line.text)).collect();
        (listing.name, text)
    }
}

/// A memory that records writes to outputs.
struct Keeping<'a, M: ?Sized> {
    inner: &'a mut M,
    left: &'a mut Contents,
}

impl x1k::Memory for Keeping<'_, dyn x1k::Memory + '_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.inner.schedule(at)
    }

    fn begin_lane(&self, at: Position, item: usize) {
        self.inner.begin_lane(at, item);
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.inner.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.inner.read(index, x, y, uncached)
    }

    fn textures(&self) -> Option<&dyn r700::Memory> {
        self.inner.textures()
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let written = self.inner.commit(at, outputs)?;
        if !self.inner.last_test_failed() {
            for (n, (values, elements)) in (0..).zip(outputs.values.iter().zip(outputs.written)) {
                self.left.put(at, SentValues::Output(n), *values, elements);
            }
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let written = self.inner.write_uncached(x, y, bits)?;
        // Later writes win, of any processor.
        self.left.scattered.insert([x, y], bits);
        Ok(written)
    }

    fn take_stale_read(&self) -> Option<(u8, u32, u32)> {
        self.inner.take_stale_read()
    }

    fn last_test_failed(&self) -> bool {
        self.inner.last_test_failed()
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.inner.outputs_alias_inputs()
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        self.inner.input_arrays()
    }
}

impl r700::Memory for Keeping<'_, dyn r700::Memory + '_> {
    ctm_exec::forward_r700_reads!(inner);

    fn begin_lane(&self, at: Position, item: usize) {
        self.inner.begin_lane(at, item);
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.inner.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.inner.store(space, dword, bits)
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.inner.vertex_event(at, event)
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let written = self.inner.commit(at, exports)?;
        for target in Target::all() {
            if let Some((values, elements)) = exports.get(target) {
                self.left.put(at, SentValues::Export(target), values, elements);
            }
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.inner.outputs_alias_inputs()
    }
}
