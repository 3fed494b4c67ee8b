//! A job into device memory, command buffers and results.
//!
//! Every launch is one submission: its inputs are written to memory, the commands follow, and the next launch sees the device's memory after it. Free
//! surfaces are reused.

mod session;

use super::prepare::{Prepared, Ready};
use super::report::{JobReport, Progress};
use super::surface::Rect;
use super::{Job, JobError, not_cancelled, r700};
use ctm_exec::{Control, Domain, Engine};
use ctm_files::render::{Report, Source};
use session::{Session, engine};
use std::sync::Arc;
use std::time::Duration;

impl Job {
    /// Runs the job and writes the files that it names. `progress` is called before the first launch and after each.
    ///
    /// # Errors
    /// Everything that is wrong with the job, its programs and arrays, before anything runs; or the fault that ended it.
    pub fn run(&self, progress: impl FnMut(Progress)) -> Result<JobReport, JobError> {
        self.run_with(&Control::none(), engine, progress)
    }

    /// The same under a [`Control`]: another thread may cancel it, and see how far the launch is that runs.
    ///
    /// # Errors
    /// As [`Self::run`]; a job that was cancelled ended with a fault `cancelled`, and has not saved anything after it.
    pub fn run_under(&self, control: &Control, progress: impl FnMut(Progress)) -> Result<JobReport, JobError> {
        self.run_with(control, engine, progress)
    }

    /// Runs the job as [`run`](Self::run) does, on this engine in place of the one that the job names.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on(&self, engine: Box<dyn Engine>, progress: impl FnMut(Progress)) -> Result<JobReport, JobError> {
        self.run_on_under(&Control::none(), engine, progress)
    }

    /// The same under a [`Control`].
    ///
    /// # Errors
    /// As [`run_under`](Self::run_under).
    pub fn run_on_under(
        &self,
        control: &Control,
        engine: Box<dyn Engine>,
        progress: impl FnMut(Progress),
    ) -> Result<JobReport, JobError> {
        self.run_with(control, |_| Ok(engine), progress)
    }

    /// The engine is made when everything else has been found to be right.
    fn run_with(
        &self,
        control: &Control,
        engine: impl FnOnce(&Self) -> Result<Box<dyn Engine>, JobError>,
        mut progress: impl FnMut(Progress),
    ) -> Result<JobReport, JobError> {
        not_cancelled(control)?;
        if self.is_r700() {
            let prepared = r700::Prepared::new(self)?;
            self.check_files()?;
            return r700::run((self, control), prepared, &*engine(self)?, &mut progress);
        }
        let prepared = Prepared::new(self)?;
        self.check_files()?;
        let mut session = Session::open(self, &prepared, engine(self)?)?;
        session.device.set_control(control.clone());
        self.drive(control, &mut session, &mut progress)?;
        session.finish()
    }

    /// All launches of all passes, in order.
    pub(super) fn drive(
        &self,
        control: &Control,
        session: &mut dyn Passes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), JobError> {
        let total = self.passes.iter().map(|p| u64::from(p.repeat)).sum::<u64>().saturating_mul(u64::from(self.repeat));
        let mut done = 0;
        progress(Progress { done, total, elapsed: session.elapsed() });
        for round in 0..self.repeat {
            for index in 0..self.passes.len() {
                for _ in 0..self.passes[index].repeat {
                    not_cancelled(control)?;
                    session.launch(index)?;
                    session.frame(index)?;
                    done += 1;
                    progress(Progress { done, total, elapsed: session.elapsed() });
                }
                session.end_pass(index)?;
            }
            session.end_round(round)?;
        }
        Ok(())
    }

    /// The same job, writing no files.
    #[must_use]
    pub fn without_files(&self) -> Self {
        let mut job = self.clone();
        job.saves.clear();
        job.conditional_save = None;
        job.memory_saves.clear();
        for pass in &mut job.passes {
            pass.outputs.iter_mut().for_each(|output| output.saves.clear());
            if let Some(conditional) = &mut pass.conditional {
                conditional.save = None;
            }
            if let Some(own) = &mut pass.r700 {
                own.memories.iter_mut().for_each(|memory| memory.save = None);
                own.vertices = None;
            }
        }
        job
    }

    /// The program of each pass, as it was loaded.
    ///
    /// # Errors
    /// Everything that is wrong with the job.
    pub fn programs(&self) -> Result<Vec<PassProgram>, JobError> {
        if self.is_r700() {
            let prepared = r700::Prepared::new(self)?;
            let program = |ready: r700::Ready| PassProgram {
                program: AnyProgram::R700(ready.program),
                fetch: ready.fetch_program,
                source: ready.source,
            };
            return Ok(prepared.passes.into_iter().map(program).collect());
        }
        let prepared = Prepared::new(self)?;
        let program =
            |ready: Ready| PassProgram { program: AnyProgram::X1k(ready.program), fetch: None, source: ready.source };
        Ok(prepared.passes.into_iter().map(program).collect())
    }

    /// Loads the programs and arrays and reports mismatches, without running anything.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self) -> Result<Vec<Report>, JobError> {
        if self.is_r700() {
            return r700::Prepared::new(self).map(|p| p.reports);
        }
        Prepared::new(self).map(|p| p.reports)
    }
}

/// The program of a pass.
#[derive(Clone, Debug)]
pub struct PassProgram {
    /// It.
    pub program: AnyProgram,
    /// R700: the fetch program that it calls.
    pub fetch: Option<ctm_isa::r700::Program>,
    /// The text that it came from; its spans point there.
    pub source: Option<Arc<Source>>,
}

/// The program of a launch, without a text.
impl From<&ctm_exec::x1k::Launch<'_>> for PassProgram {
    fn from(launch: &ctm_exec::x1k::Launch<'_>) -> Self {
        Self { program: AnyProgram::X1k(launch.program.clone()), fetch: None, source: None }
    }
}

/// The program of a launch, without a text.
impl From<&ctm_exec::r700::Launch<'_>> for PassProgram {
    fn from(launch: &ctm_exec::r700::Launch<'_>) -> Self {
        let fetch = launch.fetch_program.cloned();
        Self { program: AnyProgram::R700(launch.program.clone()), fetch, source: None }
    }
}

/// A program of either instruction set.
#[derive(Clone, Debug)]
pub enum AnyProgram {
    /// For the X1K.
    X1k(ctm_isa::x1k::Program),
    /// For the R700.
    R700(ctm_isa::r700::Program),
}

/// The runner of a job's passes.
pub(super) trait Passes {
    /// Runs a pass once.
    fn launch(&mut self, index: usize) -> Result<(), JobError>;

    /// Saves the numbered outputs of a pass after each launch.
    fn frame(&mut self, index: usize) -> Result<(), JobError>;

    /// Saves and names the outputs of a pass when all of its launches are done.
    fn end_pass(&mut self, index: usize) -> Result<(), JobError>;

    /// Saves the numbered outputs of the job when all passes have run once more.
    fn end_round(&mut self, round: u32) -> Result<(), JobError>;

    /// The time that launches took so far.
    fn elapsed(&self) -> Duration;
}

pub(super) fn union(old: Option<Rect>, domain: Domain) -> Rect {
    let (mut x0, mut y0, mut x1, mut y1) = (domain.i0, domain.j0, domain.i1 + 1, domain.j1 + 1);
    if let Some(r) = old {
        (x0, y0) = (x0.min(r.x), y0.min(r.y));
        (x1, y1) = (x1.max(r.x + r.width), y1.max(r.y + r.height));
    }
    Rect { x: x0, y: y0, width: x1 - x0, height: y1 - y0 }
}
