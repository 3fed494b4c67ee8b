//! Shared by the commands that inspect a launch: which job, which launch, which processor.

use crate::args::jobs::JobFlags;
use crate::console::Failure;
use crate::values::{Budget, IsaName, seconds};
use clap::Args;
use ctm::Drawing;
use ctm::job::{Isa, Job, JobError, Reader, read_file};
use ctm::render::Report;
use ctm::trace::{Choice, Chosen, DrawStage, Draws, Subject};
use ctm_exec::Position;
use ctm_files::FileKind;
use ctm_ide::captures::Capture;
pub(crate) use ctm_ide::debugger::position;
use ctm_isa::diag::Diagnostic;
use std::path::PathBuf;
use std::sync::Arc;

/// A launch of a job.
#[derive(Args, Clone, Debug)]
pub(crate) struct LaunchArgs {
    /// A job file (.toml) or a program, as `ctm run` takes it, a draw job, a recording of devices (CTM_RECORD), or a capture of command streams (`ctm radeon`)
    #[arg(value_name = "JOB")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) job: JobFlags,
    /// The instruction set, where the program does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// Which pass of the job, or which draw, from 0; the last one that has the processor when left out
    #[arg(long, value_name = "N")]
    pub(crate) pass: Option<usize>,
    /// Which launch of that pass or of the recording, which fragment of a draw's pixel, from 0; the last one that has the processor when left out
    #[arg(long, value_name = "N")]
    pub(crate) launch: Option<u64>,
    /// Of a capture: which draw, from 1, as `ctm replay --list` counts; the last one that has the pixel when left out
    #[arg(long = "draw", id = "draw_number", value_name = "N")]
    pub(crate) draw: Option<usize>,
    /// Of a draw job or a capture: the program that is looked into; processors are pixels, or vertices by number and instance
    #[arg(long = "draw-stage", id = "draw_stage", value_name = "STAGE", value_parser = stage)]
    pub(crate) stage: Option<DrawStage>,
}

/// A program of a draw by its name.
pub(crate) fn stage(name: &str) -> Result<DrawStage, String> {
    let all = DrawStage::ALL;
    all.iter()
        .find(|row| row.0 == name)
        .map(|row| row.1)
        .ok_or_else(|| format!("there are {}", all.map(|row| row.0).join(", ")))
}

impl LaunchArgs {
    /// The job, with the flags over it.
    pub(crate) fn read(&self) -> Result<Job, JobError> {
        let is_job = self.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let mut reader = if is_job {
            Reader::for_file(&self.file)?
        } else {
            read_file(&self.file, FileKind::Program, None)?;
            Reader::for_program(&self.file)
        };
        if let Some(isa) = self.isa {
            reader.isa(Isa::from(isa));
        }
        for (flag, value) in &self.job.given {
            reader.flag_os(flag, value);
        }
        reader.finish()
    }

    /// The inspected input: the job, or a draw job, a capture or a recording, which take no flags.
    pub(crate) fn subject(&self) -> Result<Subject, JobError> {
        let usage = |rule, message: String| Err(JobError::Usage(vec![Report::bare(Diagnostic::error(rule, message))]));
        let shown = self.file.display();
        let (is_draw_job, is_capture) = (Subject::is_drawing(&self.file), Capture::is_one(&self.file));
        let is_recording = Subject::is_recording(&self.file);
        // The one flag of jobs that captures have, too: time.
        let of_capture = |flag: &str| is_capture && flag == "budget-seconds";
        let flag = self.job.given.iter().map(|(flag, _)| *flag).find(|flag| !of_capture(flag));
        if self.stage.is_some() && !is_draw_job && !is_capture {
            return usage("draw-flags", format!("--draw-stage is for draw jobs and captures, which {shown} is not"));
        }
        match (self.draw, self.pass) {
            (Some(_), _) if !is_capture => {
                return usage("draw-flags", format!("--draw is for captures, which {shown} is not; there is --pass"));
            }
            (Some(0), _) => return usage("no-such-launch", "there is no draw 0, draws count from 1".into()),
            (_, Some(_)) if is_capture => {
                return usage("draw-flags", "of a capture, --draw says which draw, from 1".into());
            }
            _ => {}
        }
        let draws: Arc<dyn Draws> = match (is_draw_job, is_capture, flag) {
            (true, _, Some(flag)) => {
                return usage("draw-flags", format!("a draw job takes no flags of jobs, such as --{flag}"));
            }
            (_, true, Some(flag)) => {
                return usage("draw-flags", format!("a capture takes no flags of jobs, such as --{flag}"));
            }
            (true, ..) => Arc::new(Drawing::read(&self.file)?),
            (_, true, _) => {
                let capture = Capture::read(&self.file)?;
                let time = self.job.given.iter().rev().find(|(flag, _)| of_capture(flag));
                Arc::new(match time.map(|(_, value)| seconds(&value.to_string_lossy())) {
                    None => capture,
                    Some(Ok(Budget(time))) => capture.within(time),
                    Some(Err(why)) => return usage("bad-flag", format!("--budget-seconds: {why}")),
                })
            }
            _ if !is_recording => return self.read().map(|job| Subject::Job(Box::new(job))),
            (.., Some(flag)) => {
                return usage("recording-flags", format!("a recording takes no flags of jobs, such as --{flag}"));
            }
            _ => return Ok(Subject::Recording(self.file.clone())),
        };
        Ok(Subject::Drawing(draws, self.stage.unwrap_or_default()))
    }

    /// The inspected input, its launch, and which processor.
    pub(crate) fn chosen(&self, at: Option<Position>) -> Result<(Subject, Chosen, Position), JobError> {
        let subject = self.subject()?;
        let at = match &subject {
            Subject::Job(job) => Some(self.position(job, at)),
            Subject::Recording(_) => at,
            Subject::Drawing(..) => Some(at.unwrap_or_default()),
        };
        let chosen = subject.choose(self.choice(), at)?;
        let first = Position { i: chosen.domain.i0, j: chosen.domain.j0 };
        Ok((subject, chosen, at.unwrap_or(first)))
    }

    pub(crate) fn choice(&self) -> Choice {
        Choice { pass: self.pass.or(self.draw.map(|draw| draw.saturating_sub(1))), launch: self.launch }
    }

    /// The requested processor, or the first of the domain.
    pub(crate) fn position(&self, job: &Job, at: Option<Position>) -> Position {
        let pass = self.pass.and_then(|n| job.passes.get(n)).or_else(|| job.passes.last());
        at.or_else(|| pass.map(|p| Position { i: p.domain.i0, j: p.domain.j0 })).unwrap_or_default()
    }
}

/// Places by name, also by the names that the program gives.
pub(crate) fn places(chosen: &Chosen, name: &str) -> Result<Vec<ctm::trace::observe::Place>, Failure> {
    chosen.places(name).map_err(|why| Failure::usage("no-such-place", why.to_string()))
}
