//! Printing: results to stdout, findings to stderr, exit codes.

use crate::args::When;
use ctm::job::JobError;
use ctm::render::{self, Report};
use ctm_files::FileKind;
use ctm_isa::diag::Diagnostic;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Exit codes of `docs/cli.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The program or job is wrong.
    Wrong,
    /// Usage.
    Usage,
    /// A fault while running.
    Fault,
    /// A replay gives something else.
    Differs,
    /// Ended by Ctrl-C, as shells number it.
    Interrupted = 130,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// Why a subcommand could not go on; not reported yet.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the library says.
    Job(JobError),
    /// Something of the program's own: exit code, rule and message.
    Message(Exit, &'static str, String),
    /// Whoever reads stdout has gone: nothing more to say, and nothing wrong.
    Gone,
}

impl From<JobError> for Failure {
    fn from(e: JobError) -> Self {
        Self::Job(e)
    }
}

impl Failure {
    pub(crate) fn wrong(rule: &'static str, message: impl Into<String>) -> Self {
        Self::Message(Exit::Wrong, rule, message.into())
    }

    pub(crate) fn usage(rule: &'static str, message: impl Into<String>) -> Self {
        Self::Message(Exit::Usage, rule, message.into())
    }

    /// Prints it; the exit code.
    pub(crate) fn report(self, console: &Console) -> Exit {
        match self {
            Self::Job(e) => {
                console.reports(e.reports());
                exit_of(&e)
            }
            Self::Message(exit, rule, message) => {
                console.report(&Report::bare(Diagnostic::error(rule, message)));
                exit
            }
            Self::Gone => Exit::Done,
        }
    }
}

/// The exit code of what the library says.
pub(crate) fn exit_of(e: &JobError) -> Exit {
    if matches!(e, JobError::Fault(fault) if fault.code == "cancelled") {
        return Exit::Interrupted;
    }
    match e.exit_code() {
        2 => Exit::Usage,
        3 => Exit::Fault,
        _ => Exit::Wrong,
    }
}

/// Where things are printed, and how.
#[derive(Debug)]
pub(crate) struct Console {
    color: bool,
}

impl Console {
    pub(crate) fn new(when: When) -> Self {
        let color = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self { color }
    }

    /// A result, to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|e| match e.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Gone,
            _ => Failure::wrong("cannot-write", format!("stdout cannot be written: {e}")),
        })
    }

    /// A result, to a file, or to stdout for `-`.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if path == Path::new("-") {
            let mut stdout = std::io::stdout().lock();
            return stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| match e.kind() {
                std::io::ErrorKind::BrokenPipe => Failure::Gone,
                _ => Failure::wrong("cannot-write", format!("stdout cannot be written: {e}")),
            });
        }
        ctm_files::save(path, bytes)
            .map_err(|e| Failure::wrong("cannot-write", format!("{} cannot be written: {e}", path.display())))
    }

    /// A finding, to stderr.
    pub(crate) fn report(&self, report: &Report) {
        self.note(&render::text(report, self.color));
    }

    pub(crate) fn reports(&self, reports: &[Report]) {
        for report in reports {
            self.report(report);
        }
    }

    /// A line for the reader, to stderr. When stderr is gone, there is nobody to tell.
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A finding as one line of JSON, to stdout.
    pub(crate) fn json(&self, report: &Report) -> Result<(), Failure> {
        self.print(&format!("{}\n", render::json(report)))
    }
}

impl Console {
    /// As [`Self::json`]; a finding without a text names the file that it is about.
    pub(crate) fn json_of(&self, report: &Report, file: &Path) -> Result<(), Failure> {
        let mut value = render::json(report);
        if value["file"].is_null() {
            value["file"] = file.display().to_string().into();
        }
        self.print(&format!("{value}\n"))
    }
}

/// `N errors, M warnings` for the end of a list of findings.
pub(crate) fn tally(errors: usize, warnings: usize) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, n) => count(n, "warning"),
        (n, 0) => count(n, "error"),
        (e, w) => format!("{}, {}", count(e, "error"), count(w, "warning")),
    }
}

/// Does something with each file, and goes on with the others when one fails.
pub(crate) fn each_file(
    console: &Console,
    files: &[PathBuf],
    json: bool,
    mut one: impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for file in files {
        match one(file) {
            Ok(()) => {}
            Err(Failure::Job(e)) => {
                if json {
                    e.reports().iter().try_for_each(|r| console.json(r))?;
                } else {
                    console.reports(e.reports());
                }
                exit = exit_of(&e);
            }
            Err(failure @ Failure::Gone) => return Err(failure),
            Err(failure) => exit = failure.report(console),
        }
    }
    Ok(exit)
}

/// The name of what comes from stdin, in messages.
pub(crate) const STDIN: &str = "stdin";

/// The bytes of a file, or of stdin for `-`, and the name that they have from then on.
pub(crate) fn input(path: &Path, kind: FileKind) -> Result<(Vec<u8>, &Path), JobError> {
    input_called(path, kind, kind.noun())
}

/// As [`input`], for a file that messages call by another name.
pub(crate) fn input_called<'p>(path: &'p Path, kind: FileKind, noun: &str) -> Result<(Vec<u8>, &'p Path), JobError> {
    let bytes = ctm_files::read_argument(path, kind).map_err(|e| ctm::job::unreadable(&e.called(noun), None))?;
    let name = if path == Path::new("-") { Path::new(STDIN) } else { path };
    ctm::job::not_foreign(&bytes, name, None)?;
    Ok((bytes, name))
}

/// The bytes of a program file, and its name.
pub(crate) fn program_bytes(path: &Path) -> Result<(Vec<u8>, &Path), JobError> {
    input(path, FileKind::Program)
}
