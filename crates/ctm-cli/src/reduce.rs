//! `ctm reduce`.

use crate::args::jobs::{Flags, OfBoth};
use crate::check::is_job;
use crate::console::{Console, Ending, Exit, Failure};
use crate::interrupt;
use crate::source::{self, GivenJob};
use crate::values::IsaName;
use crate::watched::stage;
use clap::Args;
use ctm::draw::{Pair, ProgramSource};
use ctm::job::{AnyProgram, JobError};
use ctm::trace::{DrawStage, program_text, reduce, reduce_job};
use ctm::{Control, Drawing};
use ctm_files::save::scratch;
use ctm_ide::folder::TemporaryFolder;
use ctm_isa::{r700, x1k};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Make a program, or a whole job, smaller while a command still succeeds
///
/// Takes lines, halves and modifiers away as long as the command ends with 0. In the command, {} means the program file that is tried; texts
/// that do not assemble are not tried. The smallest program goes to stdout or to -o.
///
/// Where the command has {job}, all of a job is made smaller, also of one that flags describe: its domain, keys, constants, arrays, meshes, draws and programs. {job} means the job file that is tried,
/// in a directory with all that it names. -o is the directory in which the smallest job is left; it runs on its own.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm reduce skin.gsh --mesh skin.glb --while 'ctm draw {job} --engine verify --json | grep -q difference' -o small
  ctm reduce bad.x1k --while 'ctm run {} --size 4x4 --engine verify --json | grep -q engine-difference' -o small.x1k
  ctm reduce job.toml --while './fails.sh {}'       the program of the job's last pass
  ctm reduce draw.toml --while './fails.sh {}'      the pixel program of the last draw; --draw-stage vertex: its vertex program
  ctm reduce job.toml --while 'ctm run {job} --json | grep -q NaN' -o small
                                                    small/job.toml, with the programs and arrays that it still needs
The command should ask for the failure itself: a smaller job may be wrong in other ways. Ctrl-C ends it and leaves the smallest so far, which still makes the command succeed.

Exit codes: 0 done, 1 the command does not succeed for the program as it is, 130 ended by Ctrl-C.")]
pub(crate) struct ReduceArgs {
    /// A program, a job whose last program it is, or a draw: a draw job, a container, or a vertex and a pixel program
    #[arg(value_name = "JOB", num_args = 1..=2, required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags<OfBoth>,
    /// The command, run by `sh -c`
    #[arg(long = "while", value_name = "COMMAND")]
    pub(crate) command: String,
    /// Where the smallest program goes, instead of stdout; with {job}, the directory of the smallest job
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The instruction set, where the file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// Of a draw: which program of the last one
    #[arg(long = "draw-stage", id = "draw_stage", value_name = "STAGE", value_parser = stage)]
    pub(crate) stage: Option<DrawStage>,
}

/// The text of a program of the last draw, and the extension of such texts: a file's own, or the listing of a program of a container.
fn drawn(drawing: &Drawing, stage: DrawStage) -> Result<(String, &'static str), JobError> {
    let programs = drawing.draws.last().map_or(&[][..], |draw| draw.programs.as_slice());
    let file = match (stage, programs) {
        (DrawStage::Vertex, [first, _]) => Some(first),
        (DrawStage::Pixel, [_, last]) => Some(last),
        (DrawStage::Pixel, [ProgramSource::File(one)]) if !is_container(one) => programs.last(),
        _ => None,
    };
    if let Some(ProgramSource::File(path)) = file {
        return program_text(path, None);
    }
    let pair = Pair::load(programs).map_err(|error| match error {
        ctm::draw::Error::Job(error) => error,
        other => wrong("no-program", other.to_string()),
    })?;
    let part = match stage {
        DrawStage::Vertex => pair.vertex,
        DrawStage::Pixel => pair.pixel,
    };
    Ok((r700::text::disassemble(&part.program, &r700::text::TextOptions::default()), "psh"))
}

fn is_container(path: &Path) -> bool {
    ctm_files::begins_with(path, b"Gfx2")
}

fn wrong(rule: &'static str, message: String) -> JobError {
    use ctm_isa::diag::Diagnostic;
    JobError::Wrong(vec![ctm::render::Report::bare(Diagnostic::error(rule, message))])
}

impl ReduceArgs {
    /// Whether the only input is a job file as it is.
    fn job_file(&self) -> Option<&Path> {
        match self.files.as_slice() {
            [one] if is_job(one) && self.flags.given.is_empty() => Some(one),
            _ => None,
        }
    }
}

/// The text of a program and the extension of such texts.
fn text_of(args: &ReduceArgs) -> Result<(String, &'static str), Failure> {
    let isa = args.isa.map(ctm::job::Isa::from);
    let is_draw = source::is_draw(&args.files, &args.flags.given);
    if args.stage.is_some() && !is_draw {
        return Err(Failure::usage("draw-flags", "--draw-stage is for draws"));
    }
    if let ([program], true, false) = (args.files.as_slice(), args.flags.given.is_empty(), is_draw)
        && !is_job(program)
    {
        return Ok(program_text(program, isa)?);
    }
    match GivenJob::of(&args.files, args.isa, &args.flags.given)? {
        GivenJob::Draw(reader) => Ok(drawn(&Drawing::from_reader(reader)?, args.stage.unwrap_or_default())?),
        GivenJob::Job(reader) => {
            let job = reader.finish()?;
            let path = job.passes.last().map(|pass| pass.program.value.clone()).unwrap_or_default();
            if !is_container(&path) {
                return Ok(program_text(&path, isa)?);
            }
            match job.programs()?.pop().map(|pass| pass.program) {
                Some(AnyProgram::R700(program)) => {
                    Ok((r700::text::disassemble(&program, &r700::text::TextOptions::default()), "psh"))
                }
                _ => Ok(program_text(&path, isa)?),
            }
        }
    }
}

fn assembles(text: &str, extension: &str) -> bool {
    if extension == "x1k" {
        x1k::text::assemble(text).program.is_some_and(|program| !program.words.is_empty())
    } else {
        r700::text::assemble(text, &r700::text::TextOptions::default())
            .program
            .is_some_and(|program| !program.words.is_empty())
    }
}

/// The longest interval between two polls of a command.
const LOOK: Duration = Duration::from_millis(10);

/// A command line, for the system's shell.
fn shell(command: &str) -> Command {
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        let mut shell = Command::new("cmd");
        // With `/S` the shell removes the outer quotes, and leaves those of the command as they are.
        shell.args(["/D", "/S", "/C"]).raw_arg(format!("\"{command}\""));
        shell
    }
    #[cfg(not(windows))]
    {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell
    }
}

/// Whether a command succeeds; no when it is cancelled before its end.
fn succeeds(command: &str, program: &Path, control: &Control) -> bool {
    let begun = shell(command)
        .env("CTM_PROGRAM", program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = begun else { return false };
    let mut wait = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success() && !control.is_cancelled(),
            Ok(None) if !control.is_cancelled() => {}
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
        std::thread::sleep(wait);
        wait = (wait * 2).min(LOOK);
    }
}

/// Ends a reduction that has left something.
fn ended(console: &Console, control: &Control, left: &str) -> Exit {
    let (begin, exit) = if control.is_cancelled() {
        ("ended by Ctrl-C; of the smallest so far ", Exit::Interrupted)
    } else {
        ("", Exit::Done)
    };
    console.note(&format!("{begin}{left}"));
    exit
}

fn cannot(path: &Path, e: &std::io::Error) -> Failure {
    Failure::wrong("cannot-write", format!("{} cannot be written: {e}", path.display()))
}

pub(crate) fn run(console: &Console, args: &ReduceArgs) -> Ending {
    if args.command.contains("{job}") {
        return job(console, args);
    }
    let (text, extension) = text_of(args)?;
    let file = std::env::temp_dir().join(format!("ctm-reduce-{}.{extension}", std::process::id()));
    scratch(&file, text.as_bytes()).map_err(|e| cannot(&file, &e))?;
    let command = args.command.replace("{}", &file.display().to_string());
    let control = interrupt::control();
    let mut tries = 0u32;
    let mut holds = |text: &str| {
        if !assembles(text, extension) || scratch(&file, text.as_bytes()).is_err() {
            return false;
        }
        tries += 1;
        succeeds(&command, &file, &control)
    };
    let first = holds(&text);
    let small = if first { reduce(&text, &control, &mut holds) } else { String::new() };
    let _ = std::fs::remove_file(&file);
    if !first && control.is_cancelled() {
        return Err(nothing_yet());
    }
    if !first {
        let message = "the command does not succeed for the program as it is, so there is nothing to keep".to_owned();
        return Err(Failure::wrong("nothing-to-reduce", message));
    }
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    match &args.output {
        Some(path) => console.write(path, small.as_bytes())?,
        None => console.print(&small)?,
    }
    let left = format!("{} of {} lines are left, after {tries} runs of the command", lines(&small), lines(&text));
    Ok(ended(console, &control, &left))
}

fn nothing_yet() -> Failure {
    let message = "ended by Ctrl-C before the command had succeeded once; nothing is written".to_owned();
    Failure::Message(Exit::Interrupted, "cancelled", message)
}

/// All of a job.
fn job(console: &Console, args: &ReduceArgs) -> Ending {
    let usage = |message: String| Err(Failure::usage("reduce-job", message));
    // Programs and flags become a job file of their own first.
    let (folder, file) = match args.job_file() {
        Some(file) => (None, file.to_owned()),
        None => {
            let folder = TemporaryFolder::new("ctm-reduce").map_err(|e| cannot(Path::new("a temporary folder"), &e))?;
            let directory = folder.path().join("job");
            let source = GivenJob::of(&args.files, None, &args.flags.given)?;
            let saved = source.saved(&directory)?;
            (Some(folder), saved)
        }
    };
    if args.stage.is_some() || args.isa.is_some() {
        return usage("with {job} all programs are made smaller; --draw-stage and --isa are for one of them".into());
    }
    let Some(output) = &args.output else {
        return usage("with {job} several files are left; -o names the directory for them".into());
    };
    let is_empty = match std::fs::read_dir(output) {
        Ok(mut entries) => entries.next().is_none(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => true,
        Err(e) => return Err(cannot(output, &e)),
    };
    if !is_empty {
        return usage(format!("{} is not empty; -o names a new directory", output.display()));
    }
    let control = interrupt::control();
    let is_new = !output.exists();
    std::fs::create_dir_all(output).map_err(|e| cannot(output, &e))?;
    let made = std::fs::canonicalize(output).map_err(|e| cannot(output, &e)).and_then(|directory| {
        let mut holds = |kept: ctm::trace::Kept<'_>| {
            let command = args.command.replace("{job}", &kept.job.display().to_string());
            succeeds(&command.replace("{}", &kept.program.display().to_string()), kept.program, &control)
        };
        reduce_job(&file, &directory, &control, &mut holds).map_err(Failure::from)
    });
    drop(folder);
    let made = match made {
        Ok(made) => made,
        Err(failure) => {
            // The partial result is of no use.
            for entry in std::fs::read_dir(output).into_iter().flatten().flatten() {
                let _ = std::fs::remove_file(entry.path());
            }
            if is_new {
                let _ = std::fs::remove_dir(output);
            }
            return Err(if control.is_cancelled() { nothing_yet() } else { failure });
        }
    };
    let ([bytes, bytes_now], [lines, lines_now]) = ((made.bytes), (made.lines));
    console.print(&format!("{}\n", output.join("job.toml").display()))?;
    let left = format!(
        "{lines_now} of {lines} lines of programs and {bytes_now} of {bytes} bytes are left, after {} runs of the command",
        made.tries
    );
    Ok(ended(console, &control, &left))
}
