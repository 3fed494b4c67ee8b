//! Launches over mapped targets: wavefronts store their exports as soon as they end, in any order, several in one call
//! of machine code where there is code for that.

#[cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))),
    path = "direct/none.rs"
)]
mod spans;

use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::outputs::Outputs;
use crate::launch::wavefronts::places::Places;
use crate::launch::wavefronts::wave::{Reads, Wave};
use crate::runtime::batches::written;
use crate::runtime::wavefronts::{Done, Runner, Wavefronts};
use crate::runtime::work::{share, threads};
use ctm_exec::rows::survive;
use ctm_exec::watch::Part;
use ctm_exec::{Counters, Fault, FaultKind};
use spans::Spans;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Wavefronts of one task: as many as make this many tasks for each thread, within bounds.
const TASKS_PER_THREAD: u64 = 16;
const LANES_PER_TASK: [u64; 2] = [8 * 64, 64 * 64];
/// A task has whole wavefronts of this size, which no launch exceeds.
const WIDEST: u64 = 64;

/// The memory that wavefronts of a launch read and write.
pub struct Direct<'a> {
    /// The destination of exports.
    pub outputs: &'a Outputs<'a>,
    /// The memory that they read.
    pub given: Reads<'a>,
    /// Runs a wavefront by the reference interpreter, and stores its exports.
    pub reference: &'a Reference<'a>,
}

/// See [`Direct::reference`].
pub type Reference<'a> = dyn Fn(u64, &mut Counters) -> Result<(), Fault> + Sync + 'a;

impl Wavefronts<'_> {
    /// Runs all wavefronts. Those after one that faults may or may not have run.
    ///
    /// # Errors
    /// The first fault in domain order.
    pub fn direct(&self, direct: &Direct<'_>, all: &mut Done) -> Result<(), Fault> {
        let count = self.waves.count();
        let [fewest, most] = LANES_PER_TASK.map(|lanes| lanes / self.lanes as u64);
        let tasks = TASKS_PER_THREAD * threads(self.threads) as u64;
        let per_task = if self.threads == 1 { most } else { (count / tasks).clamp(fewest, most) };
        let per_task = per_task.next_multiple_of(WIDEST / self.lanes as u64);
        let task = |(runner, spans, before): &mut (Runner<'_>, Option<Spans<'_>>, Vec<u32>), task: usize| {
            let mut done = Done::new(self);
            let first = task as u64 * per_task;
            let part = self.watch.part(first);
            let has_given_up = self.gives_up && self.bailed_out.load(Ordering::Relaxed) > 0;
            let mut ended = Ok(());
            // Those after one that faulted need not run.
            if !part.is_abandoned() && !has_given_up {
                let waves = first..(first + per_task).min(count);
                before.clear();
                if self.gives_up {
                    let load = |cell: &AtomicU32| cell.load(Ordering::Relaxed);
                    self.cells(direct, waves.clone(), |cells| before.extend(cells.iter().map(load)));
                }
                let mut task = Task { of: self, direct, part: &part, runner, done: &mut done };
                ended = task.run(spans.as_ref(), waves.clone());
                if ended.is_err() && self.gives_up {
                    // The wavefront of the launch's own size may fault, and has stored nothing then.
                    let store = |(cell, &bits): (&AtomicU32, _)| cell.store(bits, Ordering::Relaxed);
                    let mut before = before.iter();
                    self.cells(direct, waves, |cells| cells.iter().zip(&mut before).for_each(store));
                } else if ended.is_err() {
                    part.fault();
                }
            }
            (done, ended)
        };
        let state = || (Runner::new(self.program), Spans::of(self, direct), Vec::new());
        let mut first = Ok(());
        for (done, ended) in share(self.threads, count.div_ceil(per_task) as usize, state, task) {
            all.add(&done);
            first = first.and(ended);
        }
        first
    }

    /// Gives all cells that these wavefronts may store to.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn cells(&self, direct: &Direct<'_>, waves: Range<u64>, mut look: impl FnMut(&[AtomicU32])) {
        let mut places = Places::new();
        for index in waves {
            self.waves.place(index, &mut places);
            direct.outputs.cells(&places).for_each(&mut look);
        }
    }
}

/// Launches of one program that follow each other on this thread.
pub struct Sequence<'a> {
    runner: Runner<'a>,
    part: Part,
    /// Their results.
    pub done: Done,
}

impl<'a> Sequence<'a> {
    /// Of launches like this one, under its watch.
    pub fn new(of: &Wavefronts<'a>) -> Self {
        Self { runner: Runner::new(of.program), part: of.watch.part(0), done: Done::new(of) }
    }

    /// Runs all wavefronts of the next launch.
    ///
    /// # Errors
    /// Its first fault.
    pub fn run(&mut self, of: &Wavefronts<'_>, direct: &Direct<'_>) -> Result<(), Fault> {
        let spans = Spans::of(of, direct);
        let mut task = Task { of, direct, part: &self.part, runner: &mut self.runner, done: &mut self.done };
        task.run(spans.as_ref(), 0..of.waves.count())
    }
}

/// A task in progress.
struct Task<'t, 'a> {
    of: &'t Wavefronts<'t>,
    direct: &'t Direct<'t>,
    part: &'t Part,
    runner: &'t mut Runner<'a>,
    done: &'t mut Done,
}

impl Task<'_, '_> {
    /// Runs wavefronts up to the first fault.
    fn run(&mut self, spans: Option<&Spans<'_>>, waves: Range<u64>) -> Result<(), Fault> {
        let mut next = waves.start;
        while next < waves.end {
            if let Some(spans) = spans
                && !self.part.is_stopped()
            {
                let (ended, goes_on) = self.span(spans, next, waves.end);
                next += ended;
                if goes_on {
                    continue;
                }
            }
            if self.here(next).is_err() {
                self.reference(next)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Runs a wavefront, and stores its exports.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn here(&mut self, index: u64) -> Result<(), BailOut> {
        let Self { of, direct, ref mut runner, .. } = *self;
        if self.part.is_stopped() {
            return Err(BailOut);
        }
        runner.begin(of, index, (0, u64::MAX), true);
        let Wave { places, start, .. } = &mut **runner.wave;
        direct.outputs.load(places, start);
        let shared = runner.shared(of, direct.given, self.part);
        runner.run(of, &shared, false)?;
        let Runner { wave, covered, .. } = &**runner;
        let exports = &of.program.exports;
        let by = |place: usize| wave.written[exports[place]];
        let valid = wave.valid & covered;
        if let Some(survivors) = of.survivors {
            survive(survivors, wave.places.first, valid);
        }
        let stored = direct.outputs.store(&wave.places, valid, by, &wave.exports);
        self.done.ended(of, (1, wave.places.inside.count_ones().into()), runner, direct.given.guest);
        written(&mut self.done.counters, stored);
        Ok(())
    }

    /// Leaves a wavefront to the reference interpreter. A run that gives up ends with an error that is no fault of the
    /// launch.
    fn reference(&mut self, index: u64) -> Result<(), Fault> {
        self.of.bailed_out.fetch_add(1, Ordering::Relaxed);
        if self.of.gives_up {
            return Err(Fault { kind: FaultKind::Cancelled, pc: 0, position: None });
        }
        (self.direct.reference)(index, &mut self.done.counters)
    }
}
