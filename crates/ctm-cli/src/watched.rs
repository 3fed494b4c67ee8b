//! Shared by the commands that inspect a launch: which job, which launch, which processor.

use crate::args::jobs::{Flags, OfBoth};
use crate::console::Failure;
use crate::source::{self, GivenJob};
use crate::values::{Budget, IsaName, seconds};
use clap::Args;
use ctm::Drawing;
use ctm::job::{Job, JobError};
use ctm::render::Report;
use ctm::trace::{Choice, Chosen, DrawStage, Subject};
use ctm_exec::Position;
use ctm_ide::captures::Capture;
pub(crate) use ctm_ide::debugger::position;
use ctm_isa::diag::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A launch of a job.
#[derive(Args, Clone, Debug)]
pub(crate) struct LaunchArgs {
    /// A job file (.toml) or a program, as `ctm run` takes it; a draw job, a container or a vertex and a pixel program, as `ctm draw` takes them; a recording of devices (CTM_RECORD); or a capture of command streams (`ctm radeon`)
    #[arg(value_name = "JOB", num_args = 1..=2, required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) job: Flags<OfBoth>,
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
    /// Of a draw or a capture: the program that is looked into; processors are pixels, or vertices by number and instance
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
    /// The first file.
    fn file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The inspected input: a job or a draw with the flags over it, or a capture or a recording, which take no flags.
    pub(crate) fn subject(&self) -> Result<Subject, JobError> {
        let usage = |rule, message: String| Err(JobError::Usage(vec![Report::bare(Diagnostic::error(rule, message))]));
        let file = self.file();
        let shown = file.display();
        let (is_recording, is_capture) = (Subject::is_recording(file), Capture::is_one(file));
        let is_draw = !is_recording && !is_capture && source::is_draw(&self.files, &self.job.given);
        if self.stage.is_some() && !is_draw && !is_capture {
            return usage("draw-flags", format!("--draw-stage is for draws and captures, which {shown} is not"));
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
        let stage = self.stage.unwrap_or_default();
        if !is_recording && !is_capture {
            return Ok(match GivenJob::of(&self.files, self.isa, &self.job.given)? {
                GivenJob::Job(reader) => Subject::Job(Box::new(reader.finish()?)),
                GivenJob::Draw(reader) => Subject::Drawing(Arc::new(Drawing::from_reader(reader)?), stage),
            });
        }
        // The one flag of jobs that captures have, too: time.
        let of_capture = |flag: &str| is_capture && flag == "budget-seconds";
        let (what, rule) = if is_capture { ("a capture", "draw-flags") } else { ("a recording", "recording-flags") };
        if let Some((flag, _)) = self.job.given.iter().find(|(flag, _)| !of_capture(flag)) {
            return usage(rule, format!("{what} takes no flags of jobs, such as --{flag}"));
        }
        if let Some(other) = self.files.get(1) {
            return usage(rule, format!("{shown} is {what}, which is one file; {} is one too many", other.display()));
        }
        if is_recording {
            return Ok(Subject::Recording(file.to_owned()));
        }
        let capture = Capture::read(file)?;
        let time = self.job.given.iter().rev().find(|(flag, _)| of_capture(flag));
        let capture = match time.map(|(_, value)| seconds(&value.to_string_lossy())) {
            None => capture,
            Some(Ok(Budget(time))) => capture.within(time),
            Some(Err(why)) => return usage("bad-flag", format!("--budget-seconds: {why}")),
        };
        Ok(Subject::Drawing(Arc::new(capture), stage))
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
