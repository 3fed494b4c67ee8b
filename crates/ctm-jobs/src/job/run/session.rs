//! A running job: its launches in order, the outputs between them, and its saves. Outputs lie in a backing: device memory for X1K programs, plain arrays
//! for R700 programs.

use crate::job::frames::{frame, is_numbered};
use crate::job::located::Located;
use crate::job::model::{Job, Output, Save};
use crate::job::ready::{PreparedJob, Ready};
use crate::job::report::{JobReport, OutputResult, PassReport, Progress};
use crate::job::surface::Rect;
use ctm_exec::Control;
use ctm_files::error::{JobError, not_cancelled};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// The arrays of outputs, and the runner of a launch on them.
pub(in crate::job) trait Backing: Sized {
    /// An output's array. Clones share it.
    type Array: Clone;

    /// The array, for another launch that writes the same output in this size; `None`: it does not fit.
    fn reuse(&self, array: &Self::Array, size: [u32; 2], output: &Output) -> Option<Self::Array>;

    /// A new array, full of the output's `clear`.
    fn fresh(&mut self, size: [u32; 2], output: &Output) -> Result<Self::Array, JobError>;

    /// Whether two arrays are the same memory.
    fn same(a: &Self::Array, b: &Self::Array) -> bool;

    /// Runs a pass once. `next` are its outputs, which become the current ones.
    fn launch(
        &mut self,
        state: &mut JobState<'_, Self::Array>,
        index: usize,
        next: OutputSet<Self::Array>,
    ) -> Result<(), JobError>;

    /// Writes an output to a file.
    fn save(&mut self, path: &Located<PathBuf>, held: &HeldOutput<Self::Array>, how: SaveOrder)
    -> Result<(), JobError>;

    /// Saves everything else of a pass when all of its launches are done.
    fn end_pass(&mut self, state: &mut JobState<'_, Self::Array>, index: usize) -> Result<(), JobError>;

    /// Saves everything else at the end of the job.
    fn end(&mut self, state: &mut JobState<'_, Self::Array>) -> Result<(), JobError>;

    /// An output at the end of the job.
    fn result(slot: u8, name: Option<String>, held: HeldOutput<Self::Array>) -> OutputResult;

    /// The final state, into the report.
    fn finish(self, report: &mut JobReport);
}

/// The order of a saved array.
#[derive(Clone, Copy)]
pub(in crate::job) struct SaveOrder {
    /// Last row first.
    pub flip: bool,
    /// An `.npy` of one row without a side for rows.
    pub flat: bool,
}

/// The current contents of an output.
#[derive(Clone, Debug)]
pub(in crate::job) struct HeldOutput<A> {
    pub array: A,
    /// The written part: the union of the passes' domains, or all of it.
    pub rect: Rect,
}

/// Outputs by number.
pub(in crate::job) type OutputSet<A> = BTreeMap<u8, HeldOutput<A>>;

/// The state that lives from one launch to the next.
pub(in crate::job) struct JobState<'j, A> {
    pub job: &'j Job,
    pub control: &'j Control,
    pub ready: Vec<Ready>,
    pub current: OutputSet<A>,
    /// Outputs as the passes of these names left them.
    pub named: HashMap<String, OutputSet<A>>,
    pub report: JobReport,
}

impl<A> JobState<'_, A> {
    /// The output that a texture reads: of a pass by name, or the last one.
    pub fn read(&self, output: u8, pass: Option<&str>) -> Option<&HeldOutput<A>> {
        match pass {
            Some(name) => self.named.get(name)?.get(&output),
            None => self.current.get(&output),
        }
    }
}

/// A running job.
pub(in crate::job) struct Session<'j, B: Backing> {
    state: JobState<'j, B::Array>,
    /// Outputs that are saved at the end of the job.
    saves: Vec<(u8, Save)>,
    backing: B,
}

impl<'j, B: Backing> Session<'j, B> {
    pub fn new((job, control): (&'j Job, &'j Control), prepared: PreparedJob, backing: B) -> Self {
        let PreparedJob { passes, saves, reports, .. } = prepared;
        let names = job.passes.iter().map(|p| p.name.as_ref().map(|n| n.value.clone()));
        let of_passes = names.map(|name| PassReport { name, ..PassReport::default() });
        let report = JobReport { passes: of_passes.collect(), reports, ..JobReport::default() };
        let (current, named) = (BTreeMap::new(), HashMap::new());
        Self { state: JobState { job, control, ready: passes, current, named, report }, saves, backing }
    }

    /// All launches of all passes, in order, and the results.
    pub fn run(mut self, progress: &mut dyn FnMut(Progress)) -> Result<JobReport, JobError> {
        let JobState { job, control, .. } = self.state;
        let total = job.passes.iter().map(|p| u64::from(p.repeat)).sum::<u64>().saturating_mul(u64::from(job.repeat));
        let mut done = 0;
        progress(Progress { done, total, elapsed: self.state.report.elapsed });
        for round in 0..job.repeat {
            for (index, pass) in job.passes.iter().enumerate() {
                for _ in 0..pass.repeat {
                    not_cancelled(control)?;
                    let next = self.outputs(index)?;
                    self.backing.launch(&mut self.state, index, next)?;
                    let number = self.state.report.passes[index].launches.saturating_sub(1);
                    self.save_pass(index, Some(number))?;
                    done += 1;
                    progress(Progress { done, total, elapsed: self.state.report.elapsed });
                }
                if let Some(name) = &pass.name {
                    self.state.named.insert(name.value.clone(), self.state.current.clone());
                }
                self.save_pass(index, None)?;
                self.backing.end_pass(&mut self.state, index)?;
            }
            self.save_job(Some(round.into()))?;
        }
        self.save_job(None)?;
        self.backing.end(&mut self.state)?;
        let JobState { ready, current, mut report, .. } = self.state;
        for (slot, held) in current {
            let name = ready.iter().rev().find_map(|ready| ready.output_name(slot));
            report.outputs.push(B::result(slot, name, held));
        }
        self.backing.finish(&mut report);
        Ok(report)
    }

    /// The arrays that a launch writes: the existing ones, or fresh ones.
    fn outputs(&mut self, index: usize) -> Result<OutputSet<B::Array>, JobError> {
        let Self { state, backing, .. } = self;
        let (pass, ready) = (&state.job.passes[index], &state.ready[index]);
        let mut next = OutputSet::new();
        for output in &ready.outputs {
            let (slot, output) = (output.slot, &output.output);
            let size = output.size.unwrap_or([pass.domain.i1 + 1, pass.domain.j1 + 1]);
            let current = state.current.get(&slot);
            // Only uncached writes are read by the launch that makes them.
            let reads = !ready.reads_own_writes()
                && ready.reads.iter().any(|read| match &read.pass {
                    None => read.output == slot,
                    Some(name) => {
                        let named = state.read(read.output, Some(name));
                        named.zip(current).is_some_and(|(a, b)| B::same(&a.array, &b.array))
                    }
                });
            let rect = |old: Option<Rect>| match output.size {
                Some([width, height]) => Rect { x: 0, y: 0, width, height },
                None => Rect::around(old, pass.domain),
            };
            let kept = current.filter(|_| !reads && !output.fresh);
            let kept = kept.and_then(|held| Some((backing.reuse(&held.array, size, output)?, held.rect)));
            let held = match kept {
                Some((array, old)) => HeldOutput { array, rect: rect(Some(old)) },
                None => HeldOutput { array: backing.fresh(size, output)?, rect: rect(None) },
            };
            next.insert(slot, held);
        }
        Ok(next)
    }

    /// Saves outputs of a pass: those of numbered names after each launch, all others when the pass is done.
    fn save_pass(&mut self, index: usize, number: Option<u64>) -> Result<(), JobError> {
        let outputs = self.state.ready[index].outputs.iter();
        let saves = outputs.flat_map(|output| output.output.saves.iter().map(|save| (output.slot, save.clone())));
        self.save(saves.collect(), number)
    }

    /// Saves outputs of the job: those of numbered names after each round, all others at the end.
    fn save_job(&mut self, number: Option<u64>) -> Result<(), JobError> {
        self.save(self.saves.clone(), number)
    }

    fn save(&mut self, saves: Vec<(u8, Save)>, number: Option<u64>) -> Result<(), JobError> {
        let flat = self.state.job.is_one_dimensional();
        for (slot, save) in saves.into_iter().filter(|(_, s)| is_numbered(&s.path.value) == number.is_some()) {
            let Some(held) = self.state.current.get(&slot) else { continue };
            let path = Located { value: frame(&save.path.value, number.unwrap_or(0)), place: save.path.place };
            self.backing.save(&path, held, SaveOrder { flip: save.flip_y, flat })?;
            self.state.report.wrote(&path.value);
        }
        Ok(())
    }
}
