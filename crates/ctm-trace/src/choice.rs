//! Which launch of a job is watched.

use ctm_device::engine::EngineError;
use ctm_exec::observe::Watcher;
use ctm_exec::watch::Control;
use ctm_exec::{Domain, Engine, Fault, Interp, Outcome, Position, pvs, r700, x1k};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_jobs::job::{Job, JobError, JobReport};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A launch of a job, by pass and by how often that pass ran before. An absent choice means the last one that fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The pass, from 0.
    pub pass: Option<usize>,
    /// Which launch of that pass, from 0.
    pub launch: Option<u64>,
}

impl Choice {
    /// The pass, and the number of the launch among all launches of the job. `at` must lie in the domain of the pass.
    ///
    /// # Errors
    /// There is no such pass or launch, or no pass's domain has the processor.
    pub fn resolve(self, job: &Job, at: Option<Position>) -> Result<(usize, u64), JobError> {
        let wrong =
            |message: String| Err(JobError::Usage(vec![Report::bare(Diagnostic::error("no-such-launch", message))]));
        let passes = job.passes.len();
        let domain = |n: usize| job.passes.get(n).map(|p| p.domain);
        let holds = |n: usize| domain(n).is_some_and(|d| at.is_none_or(|at| d.contains(at)));
        let shown = |d: Domain| format!("({}, {}) to ({}, {})", d.i0, d.j0, d.i1, d.j1);
        let pass = match self.pass {
            Some(pass) if pass >= passes => {
                return wrong(format!("there is no pass {pass}, the job has passes 0 to {}", passes.saturating_sub(1)));
            }
            Some(pass) => pass,
            None => (0..passes).rev().find(|&n| holds(n)).unwrap_or(passes.saturating_sub(1)),
        };
        if let (Some(at), Some(domain), false) = (at, domain(pass), holds(pass)) {
            let (i, j) = (at.i, at.j);
            return wrong(format!("processor ({i}, {j}) is not in the domain of pass {pass}: {}", shown(domain)));
        }
        let repeat = |n: usize| job.passes.get(n).map_or(0, |p| u64::from(p.repeat));
        let per_round: u64 = (0..passes).map(repeat).sum();
        let total = repeat(pass) * u64::from(job.repeat);
        let nth = match self.launch {
            Some(n) if n >= total => {
                return wrong(format!("pass {pass} is launched {total} times, there is no launch {n}"));
            }
            Some(n) => n,
            None if total == 0 => return wrong(format!("pass {pass} is never launched")),
            None => total - 1,
        };
        let before: u64 = (0..pass).map(repeat).sum();
        Ok((pass, nth / repeat(pass) * per_round + before + nth % repeat(pass)))
    }
}

/// An engine that runs launches on `inner`, and on `picked` the launch number `which` (from 0) of all that `seen` counts.
pub(super) struct Picking {
    pub(super) inner: Box<dyn Engine>,
    pub(super) picked: Arc<dyn Engine>,
    pub(super) which: u64,
    pub(super) seen: Arc<AtomicU64>,
}

impl Picking {
    fn engine(&self) -> &dyn Engine {
        if self.seen.fetch_add(1, Ordering::Relaxed) == self.which { &*self.picked } else { &*self.inner }
    }
}

impl Engine for Picking {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        self.engine().run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        self.engine().run_r700_under(control, launch, memory)
    }

    fn run_pvs_under(&self, control: &Control, launch: &pvs::PvsLaunch<'_>) -> Result<Vec<pvs::Outputs>, Fault> {
        self.inner.run_pvs_under(control, launch)
    }
}

/// The reference interpreter, which shows launches to a watcher.
pub(super) struct Shown<W>(pub(super) Mutex<W>);

impl<W: Watcher + Send> Engine for Shown<W> {
    fn name(&self) -> &'static str {
        Interp.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        Interp.watch_x1k_under(control, launch, memory, &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        Interp.watch_r700_under(control, launch, memory, &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An engine that shows the launch number `which` (from 0) of all that it runs to a watcher, and runs the others on `inner`.
#[must_use]
pub fn watching(inner: Box<dyn Engine>, which: u64, watcher: impl Watcher + Send + 'static) -> Box<dyn Engine> {
    Box::new(Picking { inner, picked: Arc::new(Shown(Mutex::new(watcher))), which, seen: Arc::default() })
}

/// Runs a job without writing files, and shows one of its launches to a watcher; `None` when the watcher stopped it.
///
/// # Errors
/// Everything that is wrong with the job, or the fault that ended it.
pub fn watch_job(job: &Job, which: u64, watcher: impl Watcher + Send + 'static) -> Result<Option<JobReport>, JobError> {
    watch_job_under(job, &Control::none(), which, watcher)
}

/// The same under a control.
pub(super) fn watch_job_under(
    job: &Job,
    control: &Control,
    which: u64,
    watcher: impl Watcher + Send + 'static,
) -> Result<Option<JobReport>, JobError> {
    let job = job.without_files();
    let wrong = |e: EngineError| JobError::Usage(vec![Report::bare(Diagnostic::error(e.code(), e.to_string()))]);
    let inner = job.run.engine.value.engine().map_err(wrong)?;
    match job.run_on_under(control, watching(inner, which, watcher), |_| {}) {
        Err(JobError::Fault(fault)) if fault.code == "stopped" => Ok(None),
        result => result.map(Some),
    }
}
