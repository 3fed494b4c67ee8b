//! Jobs run: everything checked first, then one session over one of two backings.
//!
//! Every launch is one submission: its inputs are written to memory, the commands follow, and the next launch sees the device's memory after it. Free
//! surfaces are reused.

mod device;
pub(in crate::job) mod session;

use super::ready::{Own, PreparedJob, Ready};
use super::report::{JobReport, Progress};
use crate::job::model::{Job, OwnPass, OwnSaves};
use crate::job::program::PassProgram;
use crate::job::r700::run::ArraysBacking;
use ctm_device::engine::EngineError;
use ctm_exec::{Control, Engine};
use ctm_files::error::{JobError, not_cancelled};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use device::DeviceBacking;
use session::Session;

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
        let prepared = PreparedJob::new(self)?;
        self.check_files()?;
        let (job, engine) = ((self, control), engine(self)?);
        if matches!(prepared.passes.first().map(|pass| &pass.own), Some(Own::R700(_))) {
            return Session::new(job, prepared, ArraysBacking { engine }).run(&mut progress);
        }
        let device = DeviceBacking::open(job, &prepared, engine)?;
        Session::new(job, prepared, device).run(&mut progress)
    }

    /// The same job, writing no files.
    #[must_use]
    pub fn without_files(&self) -> Self {
        let mut job = self.clone();
        job.saves.clear();
        job.own_saves = OwnSaves::none(job.program_isa());
        for pass in &mut job.passes {
            pass.outputs.iter_mut().for_each(|output| output.saves.clear());
            match &mut pass.own {
                OwnPass::X1k(conditional) => {
                    if let Some(conditional) = conditional {
                        conditional.save = None;
                    }
                }
                OwnPass::R700(own) => {
                    own.memories.iter_mut().for_each(|memory| memory.save = None);
                    own.vertices = None;
                }
            }
        }
        job
    }

    /// The program of each pass, as it was loaded.
    ///
    /// # Errors
    /// Everything that is wrong with the job.
    pub fn programs(&self) -> Result<Vec<PassProgram>, JobError> {
        Ok(PreparedJob::new(self)?.passes.iter().map(Ready::program).collect())
    }

    /// Loads the programs and arrays and reports mismatches, without running anything.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self) -> Result<Vec<Report>, JobError> {
        PreparedJob::new(self).map(|p| p.reports)
    }
}

/// The engine that runs a job.
fn engine(job: &Job) -> Result<Box<dyn Engine>, JobError> {
    let wrong = |e: EngineError| JobError::Usage(vec![Report::bare(Diagnostic::error(e.code(), e.to_string()))]);
    job.run.engine.value.engine().map_err(wrong)
}
