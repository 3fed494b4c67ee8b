//! `ctm reduce`.

use crate::console::{Console, Ending, Exit, Failure};
use crate::interrupt;
use crate::values::IsaName;
use crate::watched::stage;
use clap::Args;
use ctm::Control;
use ctm::draw::ProgramSource;
use ctm::job::Reader;
use ctm::trace::{DrawStage, Subject, program_text, reduce, reduce_job};
use ctm_files::save::scratch;
use ctm_isa::{r700, x1k};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Make a program, or a whole job, smaller while a command still succeeds
///
/// Takes lines, halves and modifiers away as long as the command ends with 0. In the command, {} means the program file that is tried; texts
/// that do not assemble are not tried. The smallest program goes to stdout or to -o.
///
/// Where the command has {job}, all of a job is made smaller: its domain, keys, constants, arrays, meshes, draws and programs. {job} means the job file that is tried,
/// in a directory with all that it names. -o is the directory in which the smallest job is left; it runs on its own.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm reduce bad.x1k --while 'ctm run {} --size 4x4 --engine verify --json | grep -q engine-difference' -o small.x1k
  ctm reduce job.toml --while './fails.sh {}'       the program of the job's last pass
  ctm reduce draw.toml --while './fails.sh {}'      the pixel program of the last draw; --draw-stage vertex: its vertex program
  ctm reduce job.toml --while 'ctm run {job} --json | grep -q NaN' -o small
                                                    small/job.toml, with the programs and arrays that it still needs
The command should ask for the failure itself: a smaller job may be wrong in other ways. Ctrl-C ends it and leaves the smallest so far, which still makes the command succeed.

Exit codes: 0 done, 1 the command does not succeed for the program as it is, 130 ended by Ctrl-C.")]
pub(crate) struct ReduceArgs {
    /// A program, a job whose last program it is, or a draw job
    #[arg(value_name = "JOB")]
    pub(crate) file: PathBuf,
    /// The command, run by `sh -c`
    #[arg(long = "while", value_name = "COMMAND")]
    pub(crate) command: String,
    /// Where the smallest program goes, instead of stdout; with {job}, the directory of the smallest job
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The instruction set, where the file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// Of a draw job: which program of its last draw
    #[arg(long = "draw-stage", value_name = "STAGE", value_parser = stage)]
    pub(crate) stage: Option<DrawStage>,
}

/// The file of a program of a draw job's last draw.
fn drawn(args: &ReduceArgs) -> Result<PathBuf, Failure> {
    let drawing = ctm::Drawing::read(&args.file)?;
    let programs = drawing.draws.last().map_or(&[][..], |draw| draw.programs.as_slice());
    let program = match args.stage.unwrap_or_default() {
        DrawStage::Vertex if programs.len() > 1 => programs.first(),
        DrawStage::Vertex => None,
        DrawStage::Pixel => programs.last(),
    };
    match program {
        Some(ProgramSource::File(path)) => Ok(path.clone()),
        _ => Err(Failure::wrong("no-program", format!("{} has no file of that program", args.file.display()))),
    }
}

fn is_job(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// The text of a program and the extension of such texts.
fn text_of(args: &ReduceArgs) -> Result<(String, &'static str), Failure> {
    let isa = args.isa.map(ctm::job::Isa::from);
    if Subject::is_drawing(&args.file) {
        return Ok(program_text(&drawn(args)?, isa)?);
    }
    if args.stage.is_some() {
        return Err(Failure::usage("draw-flags", "--draw-stage is for draw jobs"));
    }
    if !is_job(&args.file) {
        return Ok(program_text(&args.file, isa)?);
    }
    let mut reader = Reader::for_file(&args.file)?;
    if let Some(isa) = isa {
        reader.isa(isa);
    }
    let path = reader.finish()?.passes.pop().map(|pass| pass.program.value).unwrap_or_default();
    Ok(program_text(&path, isa)?)
}

fn assembles(text: &str, extension: &str) -> bool {
    if extension == "x1k" {
        x1k::text::assemble(text).program.is_some_and(|program| !program.words.is_empty())
    } else {
        r700::text::assemble(text, &r700::text::Options::default())
            .program
            .is_some_and(|program| !program.words.is_empty())
    }
}

/// The longest interval between two polls of a command.
const LOOK: Duration = Duration::from_millis(10);

/// Whether a command succeeds; no when it is cancelled before its end.
fn succeeds(command: &str, program: &Path, control: &Control) -> bool {
    let begun = Command::new("sh")
        .args(["-c", command])
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
    if !is_job(&args.file) {
        return usage(format!("{{job}} is for job files (.toml), which {} is not", args.file.display()));
    }
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
        reduce_job(&args.file, &directory, &control, &mut holds).map_err(Failure::from)
    });
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
