//! `ctm pm4`, and `ctm replay` of captures.

use crate::Ending;
use crate::args::ReplayArgs;
use crate::console::{Console, Exit, Failure, input};
use crate::draw::{at, fragment_json, fragment_text};
use crate::interrupt;
use clap::{Args, ValueEnum};
use ctm::EngineKind;
use ctm::array::{Array, ItemType, Kind, Values, npy_bytes};
use ctm::render::{Report, Source};
use ctm_draw::Note;
use ctm_files::FileKind;
use ctm_isa::diag::{Diagnostic, Severity};
use ctm_radeon::capture::{FORMAT, ReadError, Submission};
use ctm_radeon::execute::{DrawOptions, Next, Outline, Stepped, TargetPicture};
use ctm_radeon::replay::Replay;
use ctm_radeon::{Relocation, check, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What is done with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// Words to text
    Dis,
    /// Text to words
    Asm,
    /// Look for mistakes
    Check,
}

/// Command streams of Radeons as text, and what is wrong with them
///
/// A stream is a file of words (little-endian, 4 bytes each), a text that `ctm pm4 dis` wrote, or a capture with many of them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm pm4 dis stream.ib                  every packet and register by name
  ctm pm4 dis trace.capture --submission 3
  ctm pm4 dis stream.ib -o stream.pm4 && ctm pm4 asm stream.pm4 -o again.ib     the same words again
  ctm pm4 check trace.capture            what the kernel refuses, and what does not fit together
  ctm pm4 check --rules                  every rule

Exit codes: 0 done, 1 the file is wrong or something was found.")]
pub(crate) struct Pm4Args {
    /// What to do
    pub(crate) action: Action,
    /// Words, text or a capture; - for stdin
    #[arg(value_name = "FILE", required_unless_present = "rules")]
    pub(crate) file: Option<PathBuf>,
    /// Where text or words go, instead of stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Only this submission of a capture, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) submission: Option<u64>,
    /// Findings as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// List the rules of check
    #[arg(long)]
    pub(crate) rules: bool,
}

/// A stream of a file.
struct Stream {
    number: Option<u64>,
    words: Vec<u32>,
    relocations: Vec<Relocation>,
}

pub(crate) fn pm4(console: &Console, args: &Pm4Args) -> Ending {
    if args.rules {
        let mut out = String::new();
        for rule in check::RULES {
            let _ = writeln!(out, "{:<28} {:<8} {}", rule.name, rule.severity.name(), rule.doc);
        }
        console.print(&out)?;
        return Ok(Exit::Done);
    }
    let Some(file) = &args.file else {
        return Err(Failure::usage("missing-file", "a file is missing"));
    };
    let (bytes, file) = input(file, FileKind::Commands)?;
    match args.action {
        Action::Dis => dis(console, args, &bytes, file),
        Action::Asm => {
            let words = assemble(console, &bytes, file)?;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let output = args.output.clone().unwrap_or_else(|| file.with_extension("ib"));
            console.write(&output, &bytes)?;
            Ok(Exit::Done)
        }
        Action::Check => find(console, args, &bytes, file),
    }
}

fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&FORMAT.magic)
}

fn bad_capture(file: &Path, error: &ReadError) -> Failure {
    Failure::wrong("bad-capture", format!("{}: {error}", file.display()))
}

fn words_of(bytes: &[u8], file: &Path) -> Result<Vec<u32>, Failure> {
    if !bytes.len().is_multiple_of(4) {
        let message = format!("{} has {} bytes; a stream is made of words of 4", file.display(), bytes.len());
        return Err(Failure::wrong("wrong-file", message));
    }
    Ok(ctm_image::ByteOrder::Little.words(bytes))
}

fn assemble(console: &Console, bytes: &[u8], file: &Path) -> Result<Vec<u32>, Failure> {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return Err(Failure::wrong("wrong-file", format!("{} is no text", file.display())));
    };
    text::assemble(source).map_err(|errors| {
        let shown = Source::new(file.display().to_string(), source);
        let count = errors.len();
        for diagnostic in errors {
            console.report(&Report { diagnostic, source: Some(shown.clone().into()) });
        }
        Failure::wrong("bad-text", format!("{}: {count} errors", file.display()))
    })
}

/// The streams of a capture, with where their buffers are named; of a damaged one those before the damage.
fn submissions(bytes: &[u8], file: &Path) -> Result<(Vec<Stream>, Option<Failure>), Failure> {
    let engine = EngineKind::Interp.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
    let mut replay = Replay::new(bytes, engine).map_err(|error| bad_capture(file, &error))?;
    let mut streams = Vec::new();
    loop {
        match replay.read() {
            Ok(Some(Submission { number, words, relocations })) => {
                let submission = Submission { number, words: Vec::new(), relocations };
                let relocations = replay.relocations(&submission);
                streams.push(Stream { number: Some(number), words, relocations });
            }
            Ok(None) => return Ok((streams, None)),
            Err(error) => return Ok((streams, Some(bad_capture(file, &error)))),
        }
    }
}

fn dis(console: &Console, args: &Pm4Args, bytes: &[u8], file: &Path) -> Ending {
    let mut ending = None;
    let text = if is_capture(bytes) {
        let (streams, end) = submissions(bytes, file)?;
        ending = end;
        let mut out = String::new();
        for stream in streams.iter().filter(|stream| args.submission.is_none_or(|n| stream.number == Some(n))) {
            let _ = writeln!(out, "; submission {}", stream.number.unwrap_or(0));
            out.push_str(&text::disassemble(&stream.words, &stream.relocations));
        }
        out
    } else {
        text::disassemble(&words_of(bytes, file)?, &[])
    };
    match &args.output {
        Some(output) => console.write(output, text.as_bytes())?,
        None => console.print(&text)?,
    }
    ending.map_or(Ok(Exit::Done), Err)
}

fn find(console: &Console, args: &Pm4Args, bytes: &[u8], file: &Path) -> Ending {
    let mut found: Vec<(Option<u64>, check::Finding)> = Vec::new();
    let mut ending = None;
    if is_capture(bytes) {
        let engine = EngineKind::Interp.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
        let mut replay = Replay::new(bytes, engine).map_err(|error| bad_capture(file, &error))?;
        loop {
            match replay.read() {
                Ok(Some(submission)) if args.submission.is_none_or(|n| n == submission.number) => {
                    let relocations = replay.relocations(&submission);
                    let list = check::check(&submission.words, Some(&relocations), Some(&replay.memory()));
                    found.extend(list.into_iter().map(|finding| (Some(submission.number), finding)));
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    ending = Some(bad_capture(file, &error));
                    break;
                }
            }
        }
    } else {
        let is_text = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("pm4"));
        let words = if is_text { assemble(console, bytes, file)? } else { words_of(bytes, file)? };
        found.extend(check::check(&words, None, None).into_iter().map(|finding| (None, finding)));
    }
    let mut errors = 0;
    for (submission, finding) in &found {
        errors += usize::from(finding.severity == Severity::Error);
        let of = submission.map_or_else(String::new, |number| format!("submission {number}, "));
        let message = format!("{}: {of}{finding}", file.display());
        let report = Report::bare(Diagnostic::new(finding.severity, finding.rule, message));
        if args.json { console.json(&report)? } else { console.report(&report) }
    }
    if let Some(ending) = ending {
        return Err(ending);
    }
    Ok(if errors > 0 { Exit::Wrong } else { Exit::Done })
}

pub(crate) fn replay(console: &Console, args: &ReplayArgs) -> Ending {
    let bytes = ctm::job::read_file(&args.file, FileKind::Capture, None)?;
    let kind = args.engine.unwrap_or_default();
    let engine = kind.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
    let mut replay = Replay::new(bytes.as_slice(), engine).map_err(|error| bad_capture(&args.file, &error))?;
    let options = DrawOptions {
        one_thread: args.threads == Some(1),
        control: interrupt::control(),
        checks: args.check,
        watch: args.at.as_deref().map(at).transpose()?,
        ..DrawOptions::default()
    };
    replay.device().set_options(options);
    let (mut draws, mut submissions, mut outlines, mut problems) = (0u32, 0u32, Vec::new(), Vec::new());
    let (mut fragments, mut noted) = (Vec::new(), Noted::default());
    let mut ending = None;
    loop {
        let wanted = args.draw;
        let mut step = |stepped: &Stepped<'_>| {
            draws += 1;
            if args.list {
                outlines.push((draws, stepped.outline.clone()));
            }
            if wanted.is_none_or(|wanted| wanted == draws) {
                fragments.extend(stepped.fragments.iter().map(|fragment| (draws, fragment.clone())));
                noted.add(draws, stepped);
            }
            if wanted == Some(draws) { Next::Stop } else { Next::Continue }
        };
        match replay.step(&mut step) {
            Ok(Some(replayed)) => {
                submissions += 1;
                let number = replayed.submission.number;
                problems.extend(replayed.submitted.problems.into_iter().map(|problem| (number, problem)));
                if replayed.submitted.stopped {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                ending = Some(bad_capture(&args.file, &error));
                break;
            }
        }
    }
    if let Some(wanted) = args.draw.filter(|&wanted| wanted == 0 || wanted > draws) {
        let message = format!("{} has {draws} draws, {wanted} is asked for", args.file.display());
        return Err(Failure::wrong("no-such-draw", message));
    }
    let mut saved = Vec::new();
    if let Some(directory) = &args.output {
        std::fs::create_dir_all(directory)
            .map_err(|e| Failure::wrong("cannot-write", format!("{}: {e}", directory.display())))?;
        let pictures = replay.targets().map_err(|error| Failure::wrong(error.kind, error.message))?;
        for picture in &pictures {
            for path in save(console, directory, picture)? {
                saved.push(path.display().to_string());
            }
        }
    }
    if args.json {
        let outlines: Vec<Value> = outlines.iter().map(|(number, outline)| outline.json(*number)).collect();
        let problems: Vec<Value> = problems
            .iter()
            .map(|(submission, problem)| {
                json!({ "submission": submission, "dword": problem.dword, "draw": problem.draw,
                    "rule": problem.error.kind, "message": problem.error.message })
            })
            .collect();
        let fragments: Vec<Value> = fragments
            .iter()
            .map(|(draw, fragment)| {
                let mut all = fragment_json(fragment);
                all["draw"] = json!(draw);
                all
            })
            .collect();
        let findings: Vec<Value> = noted.first.values().map(|(draw, note)| note_json(*draw, note)).collect();
        let told = json!({ "submissions": submissions, "draws": draws, "problems": problems, "list": outlines,
            "fragments": fragments, "findings": findings, "saved": saved });
        console.print(&format!("{told}\n"))?;
    } else {
        for (number, outline) in &outlines {
            console.print(&listed(*number as usize, outline))?;
        }
        if args.at.is_some() && fragments.is_empty() {
            console.print("nothing came to this pixel\n")?;
        }
        for (draw, fragment) in &fragments {
            console.print(&fragment_text(&format!("draw {draw}"), fragment))?;
        }
        for (draw, note) in noted.first.values() {
            let (stage, finding) = (note.stage, &note.finding);
            let message = format!("draw {draw}, the {stage} program{}: {}", place(note), finding.message);
            console.report(&Report::bare(Diagnostic::warning(finding.rule, message).pc(finding.pc)));
        }
        for (submission, problem) in &problems {
            let message = format!("submission {submission}, {problem}");
            console.report(&Report::bare(Diagnostic::error(problem.error.kind, message)));
        }
        console.print(&format!("{submissions} submissions, {draws} draws, {} problems\n", problems.len()))?;
        for path in &saved {
            console.note(path);
        }
    }
    match ending {
        Some(ending) => Err(ending),
        None if problems.is_empty() => Ok(Exit::Done),
        None => Ok(Exit::Fault),
    }
}

/// What programs did that is legal but suspicious, with the number of the draw: of each program, rule and instruction the first.
#[derive(Default)]
struct Noted {
    first: BTreeMap<(u64, &'static str, u32, &'static str), (u32, Note)>,
}

impl Noted {
    fn add(&mut self, draw: u32, stepped: &Stepped<'_>) {
        for note in stepped.notes {
            // Programs are told apart by where they begin.
            let program =
                stepped.programs.iter().find(|program| program.0 == note.stage).map_or(0, |program| program.1);
            let key = (program, note.stage, note.finding.pc, note.finding.rule);
            self.first.entry(key).or_insert_with(|| (draw, note.clone()));
        }
    }
}

/// Where a finding is: a pixel, a primitive or a vertex.
fn place(note: &Note) -> String {
    let Some(at) = note.finding.position else { return String::new() };
    match note.stage {
        "pixel" => format!(" at pixel ({}, {})", at.i, at.j),
        "geometry" => format!(" for primitive {}", at.i),
        _ => format!(" for vertex {} of instance {}", at.i, at.j),
    }
}

fn note_json(draw: u32, note: &Note) -> Value {
    let Note { stage, finding } = note;
    let at = finding.position.map(|at| json!([at.i, at.j]));
    json!({ "draw": draw, "program": stage, "rule": finding.rule, "pc": finding.pc, "at": at, "message": finding.message })
}

/// Saves a target: its numbers as they are (.npy), and colours as a picture (.png).
fn save(console: &Console, directory: &Path, picture: &TargetPicture) -> Result<Vec<PathBuf>, Failure> {
    let [width, height] = picture.size.map(|side| side as usize);
    let channels = if picture.name.starts_with("colour") { 4 } else { 1 };
    let dwords: Vec<u32> = picture.pixels.iter().flat_map(|pixel| pixel.iter().take(channels).copied()).collect();
    let kind = if picture.integers { ItemType::Uint32 } else { ItemType::Float32 };
    let wrong = |error: ctm::array::ArrayError| Failure::wrong("cannot-save", error.to_string());
    let path = directory.join(format!("{}.npy", picture.name));
    console.write(&path, &npy_bytes(kind, &[height, width, channels], &dwords).map_err(wrong)?)?;
    let mut paths = vec![path];
    if channels == 4 && !picture.integers {
        let values = Values::F32(dwords.iter().map(|&bits| f32::from_bits(bits)).collect());
        let path = directory.join(format!("{}.png", picture.name));
        console.write(&path, &Array { height, width, channels, values }.to_bytes(Kind::Png).map_err(wrong)?)?;
        paths.push(path);
    }
    Ok(paths)
}

fn listed(number: usize, outline: &Outline) -> String {
    let mut out = format!("{}\n", outline.line(number));
    for target in &outline.targets {
        let _ = writeln!(out, "    to {target}");
    }
    for (offset, value) in &outline.changes {
        let _ = writeln!(out, "    {} = {value:#x}", ctm_radeon::registers::name(*offset));
    }
    out
}
