//! Printing: results to stdout, findings to stderr, exit codes.

use crate::values::When;
use ctm::job::JobError;
use ctm::render::{self, Report};
use ctm_files::FileKind;
use ctm_isa::diag::Diagnostic;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    /// An error of the library.
    Job(JobError),
    /// Something of the program's own: exit code, rule and message.
    Message(Exit, &'static str, String),
    /// The reader of stdout has gone: no output, and no error.
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

/// The result of a subcommand: an exit code, or something that has not been reported yet.
pub(crate) type Ending = Result<Exit, Failure>;

/// The exit code of a library error.
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

/// An error of a job as an object: `status` is `wrong` or `fault`.
pub(crate) fn failure_json(e: &JobError) -> Value {
    let mut value = json!({
        "status": "wrong",
        "findings": e.reports().iter().map(render::json).collect::<Vec<_>>(),
    });
    if let JobError::Fault(fault) = e {
        value["status"] = json!("fault");
        value["fault"] = json!({
            "code": fault.code,
            "pass": fault.pass,
            "pass_name": fault.pass_name,
            "pc": fault.pc,
            "position": fault.position.map(|p| [p.i, p.j]),
        });
    }
    value
}

/// Where things are printed, and how.
#[derive(Debug)]
pub(crate) struct Console {
    color: bool,
    /// Whether [`Self::tell_written`] prints.
    tells_written: bool,
    started: Instant,
    /// The files that the command has written, in order.
    written: RefCell<Vec<PathBuf>>,
}

/// Whether a command says which files it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    Always,
    Never,
    /// When stderr is a terminal.
    OnTerminal,
}

impl Console {
    pub(crate) fn new(when: When, tells: Tells) -> Self {
        let color = match when {
            When::Always => {
                knows_colors();
                true
            }
            When::Never => false,
            When::Auto => {
                let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
                is_wanted && std::io::stderr().is_terminal() && knows_colors()
            }
        };
        let tells_written = match tells {
            Tells::Always => true,
            Tells::Never => false,
            Tells::OnTerminal => std::io::stderr().is_terminal(),
        };
        Self { color, tells_written, started: Instant::now(), written: RefCell::default() }
    }

    /// A result, to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|e| not_printed(&e))
    }

    /// A result, to a file, or to stdout for `-`.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if path == Path::new("-") {
            let mut stdout = std::io::stdout().lock();
            return stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| not_printed(&e));
        }
        ctm_files::save(path, bytes)
            .map_err(|e| Failure::wrong("cannot-write", format!("{} cannot be written: {e}", path.display())))?;
        self.wrote(path);
        Ok(())
    }

    /// Takes note of a file that was written without [`Self::write`].
    pub(crate) fn wrote(&self, path: &Path) {
        self.written.borrow_mut().push(path.to_owned());
    }

    /// Says at the end of a command which files it wrote, their sizes, and how long it took.
    pub(crate) fn tell_written(&self) {
        let written = self.written.borrow();
        if !self.tells_written || written.is_empty() {
            return;
        }
        self.note(&written_text(&written, self.started.elapsed().as_secs_f64()));
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

    /// A line for the reader, to stderr. When stderr is closed, it is dropped.
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

/// Why stdout takes nothing more.
fn not_printed(error: &std::io::Error) -> Failure {
    /// Windows's `ERROR_PIPE_NOT_CONNECTED`: the other end of a named pipe has gone.
    const NOT_CONNECTED: i32 = 233;
    let is_gone =
        error.kind() == std::io::ErrorKind::BrokenPipe || cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    if is_gone {
        return Failure::Gone;
    }
    Failure::wrong("cannot-write", format!("stdout cannot be written: {error}"))
}

/// Whether a terminal understands escape sequences. Consoles of Windows have to be asked to, and those before Windows 10 never do.
fn knows_colors() -> bool {
    #[cfg(windows)]
    return anstyle_query::windows::enable_ansi_colors() != Some(false);
    #[cfg(not(windows))]
    true
}

/// Files that are named; of more, only the count is printed.
const NAMED_FILES: usize = 8;

/// The lines of [`Console::tell_written`]. Devices and pipes have no size.
fn written_text(written: &[PathBuf], seconds: f64) -> String {
    let bytes_of = |path: &PathBuf| std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
    let line = |path: &PathBuf| match bytes_of(path) {
        Some(bytes) => format!("wrote {}: {}", path.display(), size(bytes)),
        None => format!("wrote {}", path.display()),
    };
    let took = format!("in {seconds:.2} s");
    if let [path] = written {
        return format!("{}, {took}", line(path));
    }
    let mut lines: Vec<String> = written.iter().take(NAMED_FILES).map(line).collect();
    let total = size(written.iter().filter_map(bytes_of).sum());
    lines.push(format!("{} files, {total}, {took}", written.len()));
    lines.join("\n")
}

/// A count of bytes with three digits at least, in units of 1000.
fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let scaled = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} KB", scaled(1000)),
        10_000_000..10_000_000_000 => format!("{:.1} MB", scaled(1_000_000)),
        _ => format!("{:.1} GB", scaled(1_000_000_000)),
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

/// The name of stdin in messages.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        let all = [(0, "0 bytes"), (9_999, "9999 bytes"), (10_000, "10.0 KB"), (83_249, "83.2 KB")];
        all.iter().for_each(|(bytes, text)| assert_eq!(size(*bytes), *text));
        assert_eq!(size(12_345_678), "12.3 MB");
        assert_eq!(size(u64::MAX), "18446744073.7 GB");
    }

    #[test]
    fn many_files_are_counted_and_not_all_named() {
        let files: Vec<PathBuf> = (0..20).map(|n| PathBuf::from(format!("/nowhere/frame-{n}.png"))).collect();
        let text = written_text(&files, 1.5);
        assert_eq!(text.lines().count(), NAMED_FILES + 1);
        assert!(text.ends_with("20 files, 0 bytes, in 1.50 s"), "{text}");
        assert_eq!(written_text(&files[..1], 0.25), "wrote /nowhere/frame-0.png, in 0.25 s");
    }
}
