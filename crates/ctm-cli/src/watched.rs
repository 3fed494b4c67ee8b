//! What the commands have in common that look inside a launch: which job, which launch, which processor.

use crate::args::{IsaName, JobFlags};
use crate::console::Failure;
use clap::Args;
use ctm::job::{Isa, Job, JobError, Reader, read_file};
use ctm::trace::Choice;
use ctm_exec::Position;
pub(crate) use ctm_ide::debugger::position;
use std::path::PathBuf;

/// A launch of a job.
#[derive(Args, Clone, Debug)]
pub(crate) struct LaunchArgs {
    /// A job file (.toml) or a program, as `ctm run` takes it
    #[arg(value_name = "JOB")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) job: JobFlags,
    /// The instruction set, where the program does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// Which pass of the job, from 0; the last one that has the processor when left out
    #[arg(long, value_name = "N")]
    pub(crate) pass: Option<usize>,
    /// Which launch of that pass, from 0; the last one when left out
    #[arg(long, value_name = "N")]
    pub(crate) launch: Option<u64>,
}

impl LaunchArgs {
    /// The job, with the flags over it.
    pub(crate) fn read(&self) -> Result<Job, JobError> {
        let is_job = self.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let mut reader = if is_job {
            Reader::for_file(&self.file)?
        } else {
            read_file(&self.file, "the program", None)?;
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

    pub(crate) fn choice(&self) -> Choice {
        Choice { pass: self.pass, launch: self.launch }
    }

    /// The processor that was asked for, or the first of the domain.
    pub(crate) fn position(&self, job: &Job, at: Option<Position>) -> Position {
        let pass = self.pass.and_then(|n| job.passes.get(n)).or_else(|| job.passes.last());
        at.or_else(|| pass.map(|p| Position { i: p.domain.i0, j: p.domain.j0 })).unwrap_or_default()
    }
}

/// Places by name.
pub(crate) fn places(isa: ctm::trace::observe::Isa, name: &str) -> Result<Vec<ctm::trace::observe::Place>, Failure> {
    ctm::trace::observe::Place::parse(isa, name).map_err(|why| Failure::usage("no-such-place", why))
}

/// Which machine a job is for.
pub(crate) fn isa_of(job: &Job) -> ctm::trace::observe::Isa {
    if job.is_r700() { ctm::trace::observe::Isa::R700 } else { ctm::trace::observe::Isa::X1k }
}
