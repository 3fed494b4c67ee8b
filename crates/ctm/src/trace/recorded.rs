//! Launches of recordings: which there are, and what one of them leaves in its outputs.

use super::Left;
use super::subject::{Chosen, Subject, replayed, wrong};
use crate::array::{Array, Values};
use crate::job::{AnyProgram, JobError, PassProgram};
use ctm_exec::engine::MemoryFault;
use ctm_exec::observe::Place;
use ctm_exec::r700::resources::{Buffer, Sampler, Texture};
use ctm_exec::r700::{Exports, Space, Target, VertexEvent};
use ctm_exec::watch::Control;
use ctm_exec::x1k::{Elements, Input, Outputs, Written};
use ctm_exec::{Domain, Engine, Fault, Outcome, Position, r700, x1k};
use ctm_isa::x1k::INPUTS;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sees the launches of a recording; those that it wants with a memory that tells what is left.
struct Listening<S> {
    inner: Box<dyn Engine>,
    heard: Arc<Heard>,
    /// Told of each launch, with its number.
    launch: S,
    /// The launch whose outputs are kept.
    kept: Option<u64>,
    patience: Option<Duration>,
}

/// What launches left.
#[derive(Default)]
struct Heard {
    seen: AtomicU64,
    left: Mutex<Left>,
    fault: Mutex<Option<Fault>>,
}

impl Heard {
    /// What the launch that is kept left.
    fn keep(&self, left: Left, result: &Result<Outcome, Fault>) {
        *lock(&self.left) = left;
        *lock(&self.fault) = result.as_ref().err().cloned();
    }
}

impl<S: Fn(u64, Domain, PassProgram)> Listening<S> {
    /// A launch begins; says whether it is the one to keep.
    fn hears(&self, domain: Domain, program: PassProgram) -> bool {
        let number = self.heard.seen.fetch_add(1, Ordering::Relaxed);
        (self.launch)(number, domain, program);
        self.kept == Some(number)
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
        let is_kept = self.hears(launch.domain, launch.into());
        let mut launch = *launch;
        launch.budget.time = shorter(launch.budget.time, self.patience);
        if !is_kept {
            return self.inner.run_x1k_under(control, &launch, memory);
        }
        let mut memory = Keeping { inner: memory, left: Left::new() };
        let result = self.inner.run_x1k_under(control, &launch, &mut memory);
        self.heard.keep(memory.left, &result);
        result
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let is_kept = self.hears(launch.domain, launch.into());
        let mut launch = *launch;
        launch.budget.time = shorter(launch.budget.time, self.patience);
        if !is_kept {
            return self.inner.run_r700_under(control, &launch, memory);
        }
        let mut memory = Keeping { inner: memory, left: Left::new() };
        let result = self.inner.run_r700_under(control, &launch, &mut memory);
        self.heard.keep(memory.left, &result);
        result
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

/// What a launch of a recording sends to its outputs, on the engine of the recording, and the fault that ended it. Masks of the device are not looked at.
///
/// # Errors
/// The file is no recording, cannot be read, or has no such launch.
pub fn launch_outputs(
    path: &Path,
    which: u64,
    patience: Option<Duration>,
    control: &Control,
) -> Result<(Left, Option<Fault>), JobError> {
    let heard = Arc::new(Heard::default());
    let wrap = |inner| -> Box<dyn Engine> {
        let heard = Arc::clone(&heard);
        Box::new(Listening { inner, heard, launch: |_, _, _| {}, kept: Some(which), patience })
    };
    replayed(path, control, &wrap)?;
    let seen = heard.seen.load(Ordering::Relaxed);
    if which >= seen {
        let message = format!("the recording has {seen} launches, there is no launch {which}");
        return Err(wrong("no-such-launch", message));
    }
    let left = std::mem::take(&mut *lock(&heard.left));
    let fault = lock(&heard.fault).take();
    Ok((left, fault))
}

/// The most columns or rows of a picture of scattered values.
const MOST: u32 = 4096;

/// What processors left as pictures: of each output four channels over the domain, of scattered values one channel as far as they reach. What nobody wrote is 0.
#[must_use]
pub fn pictures(left: &Left, domain: Domain) -> Vec<(String, Array)> {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Of {
        Output(u8),
        Export(Target),
        Uncached,
    }
    let split = |place: &Place| match *place {
        Place::Output(n, channel) => Some((Of::Output(n), channel)),
        Place::Export(target, channel) => Some((Of::Export(target), channel)),
        Place::Uncached(..) => Some((Of::Uncached, 0)),
        _ => None,
    };
    let all: BTreeSet<Of> = left.values().flat_map(|places| places.keys()).filter_map(split).map(|of| of.0).collect();
    let picture = |of: Of| {
        let scattered = || left.values().flat_map(|places| places.iter());
        let place = |place: &Place| if let Place::Uncached(x, y) = *place { Some([x, y]) } else { None };
        if of == Of::Uncached {
            let near = || {
                scattered()
                    .filter_map(|(p, bits)| Some((place(p)?, *bits)))
                    .filter(|(at, _)| *at < [MOST; 2] && at[1] < MOST)
            };
            let [width, height] = near().fold([0, 0], |[w, h], ([x, y], _)| [w.max(x + 1), h.max(y + 1)]);
            let mut values = vec![0.0; width as usize * height as usize];
            for ([x, y], bits) in near() {
                values[(y * width + x) as usize] = f32::from_bits(bits);
            }
            let (width, height) = (width as usize, height as usize);
            return ("o0, uncached".to_owned(), Array { width, height, channels: 1, values: Values::F32(values) });
        }
        let (width, height) = (domain.width() as usize, domain.height() as usize);
        let mut values = vec![0.0; width * height * 4];
        for (at, places) in left.iter().filter(|(at, _)| domain.contains(**at)) {
            let first = ((at.j - domain.j0) as usize * width + (at.i - domain.i0) as usize) * 4;
            for (place, bits) in places {
                if let Some((_, channel)) = split(place).filter(|found| found.0 == of) {
                    values[first + usize::from(channel & 3)] = f32::from_bits(*bits);
                }
            }
        }
        let name = match of {
            Of::Output(n) => format!("o{n}"),
            Of::Export(target) => Place::Export(target, 0).to_string().trim_end_matches(".x").to_owned(),
            Of::Uncached => String::new(),
        };
        (name, Array { width, height, channels: 4, values: Values::F32(values) })
    };
    all.into_iter().map(picture).collect()
}

impl Subject {
    /// The text of the program of a launch, and its name in traces.
    #[must_use]
    pub fn program_of(chosen: &Chosen) -> (String, String) {
        let listing = super::Listing::new(&chosen.program);
        let text = listing.lines.iter().map(|line| format!("{}\n", line.text)).collect();
        (listing.name, text)
    }
}

/// A memory that notes what is sent to outputs.
struct Keeping<'a, M: ?Sized> {
    inner: &'a mut M,
    left: Left,
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

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let written = self.inner.commit(at, outputs)?;
        if !self.inner.last_test_failed() {
            let places = self.left.entry(at).or_default();
            for (n, (values, elements)) in (0..).zip(outputs.values.iter().zip(outputs.written)) {
                for channel in (0..4u8).filter(|channel| elements >> channel & 1 == 1) {
                    places.insert(Place::Output(n, channel), values[usize::from(channel)]);
                }
            }
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let written = self.inner.write_uncached(x, y, bits)?;
        // Whoever it was: later writes win.
        self.left.entry(Position { i: x, j: y }).or_default().insert(Place::Uncached(x, y), bits);
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
    fn begin_lane(&self, at: Position, item: usize) {
        self.inner.begin_lane(at, item);
    }

    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.inner.constant(bank, index)
    }

    fn alternate(&self) -> Option<&dyn r700::Memory> {
        self.inner.alternate()
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.inner.buffer(id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        self.inner.read_buffer(id, offset_bytes, bytes)
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.inner.texture(id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.inner.sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.inner.texel(id, level, at)
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.inner.space(space)
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
        let places = self.left.entry(at).or_default();
        for target in Target::all() {
            let Some((values, elements)) = exports.get(target) else { continue };
            for channel in (0..4u8).filter(|channel| elements >> channel & 1 == 1) {
                places.insert(Place::Export(target, channel), values[usize::from(channel)]);
            }
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.inner.outputs_alias_inputs()
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.inner.buffer_bytes(id)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.inner.texels(id, level)
    }
}
