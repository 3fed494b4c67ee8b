//! Files and flags into a job or a draw: one translation for all commands.
//!
//! `ctm run` takes jobs and programs, `ctm draw` draw jobs and programs of draws; `why`, `trace`, `debug`, `profile`, `compare` and `reduce` take all of these, and
//! [`Source::of`] says which it is.

use crate::check::is_job;
use crate::console::program_bytes;
use crate::file_kinds::is_pair;
use crate::values::IsaName;
use ctm::Drawing;
use ctm::draw::DRAW_FLAGS;
use ctm::job::{FLAGS, Isa, JobError, Reader};
use ctm::render::Report;
use ctm::trace::Subject;
use ctm_isa::diag::Diagnostic;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A flag with its value.
pub(crate) type GivenFlag = (&'static str, OsString);

/// A job of passes or a draw, read as far as its flags.
pub(crate) enum GivenJob {
    Job(Reader),
    Draw(Reader),
}

/// The job of a file or of a program, with the flags over it.
pub(crate) fn job_reader(file: &Path, isa: Option<IsaName>, flags: &[GivenFlag]) -> Result<Reader, JobError> {
    let mut reader = if is_job(file) {
        Reader::for_file(file)?
    } else {
        // A read error precedes errors on missing flags. A pipe can be read only once.
        let (bytes, file) = program_bytes(file)?;
        Reader::for_program_bytes(file, bytes)
    };
    if let Some(isa) = isa {
        reader.isa(Isa::from(isa));
    }
    for (flag, value) in flags {
        reader.flag_os(flag, value);
    }
    Ok(reader)
}

/// The draw of a job file or of programs, with the flags over it.
pub(crate) fn draw_reader(files: &[PathBuf], flags: &[GivenFlag]) -> Result<Reader, JobError> {
    let mut reader = match files {
        [job] if is_job(job) => Reader::for_file(job)?,
        programs => Reader::for_draw(programs),
    };
    for (flag, value) in flags {
        reader.draw_flag_os(flag, value);
    }
    Ok(reader)
}

fn usage(message: String) -> JobError {
    JobError::Usage(vec![Report::bare(Diagnostic::error("draw-flags", message))])
}

/// A flag that only one of the tables has.
fn only(flags: &[GivenFlag], of_draws: bool) -> Option<&'static str> {
    let is_of = |name: &str| {
        let (job, draw) = (FLAGS.iter().any(|flag| flag.name == name), DRAW_FLAGS.iter().any(|flag| flag.name == name));
        if of_draws { draw && !job } else { job && !draw }
    };
    flags.iter().map(|(flag, _)| *flag).find(|flag| is_of(flag))
}

/// Whether files and flags mean a draw: two programs, a container of two of which none is chosen, a draw job, or a flag that only draws have.
pub(crate) fn is_draw(files: &[PathBuf], flags: &[GivenFlag]) -> bool {
    match files {
        [job] if is_job(job) => Subject::is_drawing(job),
        [one] => {
            let is_chosen = flags.iter().any(|(flag, _)| *flag == "program");
            only(flags, true).is_some() || !is_chosen && is_pair(one)
        }
        _ => true,
    }
}

impl GivenJob {
    /// The job or the draw that files and flags mean.
    pub(crate) fn of(files: &[PathBuf], isa: Option<IsaName>, flags: &[GivenFlag]) -> Result<Self, JobError> {
        let shown = || files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" and ");
        if is_draw(files, flags) {
            return match (only(flags, false), isa) {
                (Some(flag), _) => Err(usage(format!("--{flag} is a flag of `ctm run`, and {} is a draw", shown()))),
                (_, Some(_)) => Err(usage(format!("--isa is a flag of `ctm run`, and {} is a draw", shown()))),
                _ => draw_reader(files, flags).map(Self::Draw),
            };
        }
        let Some(file) = files.first() else { return Err(usage("no file is named".into())) };
        if let Some(flag) = only(flags, true) {
            return Err(usage(format!("--{flag} is a flag of `ctm draw`, and {} is a job of `ctm run`", shown())));
        }
        job_reader(file, isa, flags).map(Self::Job)
    }

    /// Writes the job with its files into a directory; the job file.
    pub(crate) fn saved(self, directory: &Path) -> Result<PathBuf, JobError> {
        let files = match self {
            Self::Job(reader) => {
                let saved = reader.saved();
                saved.write(directory, &reader.finish()?.programs()?)?
            }
            Self::Draw(reader) => {
                let saved = reader.saved();
                Drawing::from_reader(reader)?;
                saved.write(directory, &[])?
            }
        };
        Ok(files.into_iter().next().unwrap_or_default())
    }
}
