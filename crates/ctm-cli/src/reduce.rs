//! `ctm reduce`.

use crate::Ending;
use crate::args::IsaName;
use crate::console::{Console, Exit, Failure};
use crate::watched::stage;
use clap::Args;
use ctm::draw::ProgramSource;
use ctm::job::{AnyProgram, Reader};
use ctm::trace::{DrawStage, Subject, reduce};
use ctm_isa::{r700, x1k};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Make a program smaller while a command still succeeds
///
/// Takes lines, halves and modifiers away as long as the command ends with 0. In the command, {} stands for the program file that is tried; texts
/// that do not assemble are not tried. The smallest program goes to stdout or to -o.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm reduce bad.x1k --while 'ctm run {} --size 4x4 --engine verify --json | grep -q engine-difference' -o small.x1k
  ctm reduce job.toml --while './fails.sh {}'       the program of the job's last pass
  ctm reduce draw.toml --while './fails.sh {}'      the pixel program of the last draw; --draw-stage vertex: its vertex program

Exit codes: 0 done, 1 the command does not succeed for the program as it is.")]
pub(crate) struct ReduceArgs {
    /// A program, a job whose last program it is, or a draw job
    #[arg(value_name = "JOB")]
    pub(crate) file: PathBuf,
    /// The command, run by `sh -c`
    #[arg(long = "while", value_name = "COMMAND")]
    pub(crate) command: String,
    /// Where the smallest program goes, instead of stdout
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

/// The text of a program and the extension of such texts.
fn text_of(args: &ReduceArgs) -> Result<(String, &'static str), Failure> {
    if Subject::is_drawing(&args.file) {
        return text_in(args, drawn(args)?);
    }
    if args.stage.is_some() {
        return Err(Failure::usage("draw-flags", "--draw-stage is for draw jobs"));
    }
    let is_job = args.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let mut reader = if is_job { Reader::for_file(&args.file)? } else { Reader::for_program(&args.file) };
    if let Some(isa) = args.isa {
        reader.isa(isa.into());
    }
    if !is_job {
        reader.flag("size", "1x1");
    }
    let path = reader.finish()?.passes.pop().map(|pass| pass.program.value).unwrap_or_default();
    text_in(args, path)
}

/// The same of a program's file.
fn text_in(args: &ReduceArgs, path: PathBuf) -> Result<(String, &'static str), Failure> {
    let isa = args.isa.map(ctm::job::Isa::from);
    let (bytes, _) = crate::console::program_bytes(&path)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match extension.as_str() {
        "x1k" => return Ok((String::from_utf8_lossy(&bytes).into_owned(), "x1k")),
        "psh" | "vsh" | "gsh" | "csh" | "r700" if std::str::from_utf8(&bytes).is_ok() => {
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), "psh"));
        }
        _ => {}
    }
    // Words and images: their disassembly.
    let mut reader = Reader::for_program(&path);
    if let Some(isa) = isa {
        reader.isa(isa);
    }
    reader.flag("size", "1x1");
    let programs = reader.finish()?.programs()?;
    match programs.last().map(|pass| &pass.program) {
        Some(AnyProgram::X1k(program)) => Ok((x1k::text::disassemble(program, &x1k::text::Options::default()), "x1k")),
        Some(AnyProgram::R700(program)) => {
            Ok((r700::text::disassemble(program, &r700::text::Options::default()), "psh"))
        }
        None => Err(Failure::wrong("no-program", format!("{} has no program", args.file.display()))),
    }
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

pub(crate) fn run(console: &Console, args: &ReduceArgs) -> Ending {
    let (text, extension) = text_of(args)?;
    let file = std::env::temp_dir().join(format!("ctm-reduce-{}.{extension}", std::process::id()));
    let cannot = |path: &Path, e: &std::io::Error| {
        Failure::wrong("cannot-write", format!("{} cannot be written: {e}", path.display()))
    };
    std::fs::write(&file, &text).map_err(|e| cannot(&file, &e))?;
    let command = args.command.replace("{}", &file.display().to_string());
    let mut tries = 0u32;
    let mut holds = |text: &str| {
        if !assembles(text, extension) || std::fs::write(&file, text).is_err() {
            return false;
        }
        tries += 1;
        let status = Command::new("sh")
            .args(["-c", &command])
            .env("CTM_PROGRAM", &file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let first = holds(&text);
    let small = if first { reduce(&text, &mut holds) } else { String::new() };
    let _ = std::fs::remove_file(&file);
    if !first {
        let message = "the command does not succeed for the program as it is, so there is nothing to keep".to_owned();
        return Err(Failure::wrong("nothing-to-reduce", message));
    }
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    console.note(&format!("{} of {} lines are left, after {tries} runs of the command", lines(&small), lines(&text)));
    match &args.output {
        Some(path) => console.write(path, small.as_bytes())?,
        None => console.print(&small)?,
    }
    Ok(Exit::Done)
}
