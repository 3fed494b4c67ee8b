//! `ctm pm4`, and `ctm replay` of captures.

use crate::args::streams::{Action, Pm4Args, ReplayArgs};
use crate::bare;
use crate::console::{Console, Ending, Exit, Failure, input};
use crate::draw::{at, fragment_json, fragment_text, funnel_json};
use crate::interrupt;
use crate::stream_output::{finding_report, save};
use ctm::EngineKind;
use ctm::render::{Report, Source};
use ctm_draw::Note;
use ctm_files::FileKind;
use ctm_isa::diag::{Diagnostic, Severity};
use ctm_radeon::capture::{FORMAT, ReadError};
use ctm_radeon::environment::Chip;
use ctm_radeon::execute::{Deadline, DrawOptions, GpuMemory, Next, Notes, Outline, Stepped, told_note};
use ctm_radeon::packets::words::Type3Header;
use ctm_radeon::replay::Replay;
use ctm_radeon::{check, text};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// A stream of a file.
struct Stream {
    number: u64,
    text: String,
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
    let is_bare = args.action == Action::Run || args.action == Action::Check && args.absolute;
    if !args.mem.is_empty() && !is_bare {
        return Err(Failure::usage("bad-flag", "--mem is for run, and for check with --absolute"));
    }
    if !args.dump.is_empty() && args.action != Action::Run {
        return Err(Failure::usage("bad-flag", "--dump is for run"));
    }
    if is_bare && is_capture(&bytes) {
        let message = format!("{} is a capture: its addresses are relocated (ctm replay runs it)", file.display());
        return Err(Failure::wrong("wrong-file", message));
    }
    match args.action {
        Action::Run => bare::run(console, args, &words_of(console, args, &bytes, file)?, file),
        Action::Check if args.absolute => {
            let memory = bare::image(&args.mem)?;
            let memory = (!args.mem.is_empty()).then_some(&memory as &dyn GpuMemory);
            let found = check::check_absolute(&words_of(console, args, &bytes, file)?, memory);
            let found: Vec<_> = found.into_iter().map(|finding| (None, finding)).collect();
            told(console, args.json, file, &found)
        }
        Action::Dis => dis(console, args, &bytes, file),
        Action::Asm => {
            let words = assemble(console, args.chip, &bytes, file)?;
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

/// The words of a stream: bytes, hexadecimal words as text, or the text of `ctm pm4 dis`.
fn words_of(console: &Console, args: &Pm4Args, bytes: &[u8], file: &Path) -> Result<Vec<u32>, Failure> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && !text.contains('\0'));
    if let Some(text) = text {
        let is_hex = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("hex"));
        return match ctm_image::hex::read_words(text, 0) {
            Ok(words) if args.big_endian => Ok(words.into_iter().map(u32::swap_bytes).collect()),
            Ok(words) => Ok(words),
            Err(error) if is_hex => Err(Failure::wrong("bad-text", format!("{}: {error}", file.display()))),
            Err(_) => assemble(console, args.chip, bytes, file),
        };
    }
    if !bytes.len().is_multiple_of(4) {
        let message = format!("{} has {} bytes; a stream is made of words of 4", file.display(), bytes.len());
        return Err(Failure::wrong("wrong-file", message));
    }
    let (order, other) = if args.big_endian {
        (ctm_image::ByteOrder::Big, ctm_image::ByteOrder::Little)
    } else {
        (ctm_image::ByteOrder::Little, ctm_image::ByteOrder::Big)
    };
    let words = order.words(bytes);
    // A stream begins with a header; one that does so only in the other order gets a hint.
    if !begins(args.chip, &words) && begins(args.chip, &other.words(bytes)) {
        let flag = if args.big_endian { "without --big-endian" } else { "with --big-endian" };
        let message = format!("{} begins with no packet; it does {flag}", file.display());
        console.report(&Report::bare(Diagnostic::warning("byte-order", message)));
    }
    Ok(words)
}

/// Whether the first word is the header of a packet of type 3 that is known, or of a register that is.
fn begins(chip: Chip, words: &[u32]) -> bool {
    let chip = chip.streams();
    let known = |header: Type3Header| match header.packet_type() {
        0 => chip.registers.is_known(4 * chip.register_header.register.extract(header.0)),
        3 => chip.packet(header.opcode() as u8).is_some(),
        _ => false,
    };
    words.first().is_some_and(|&word| known(Type3Header(word)))
}

fn assemble(console: &Console, chip: Chip, bytes: &[u8], file: &Path) -> Result<Vec<u32>, Failure> {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return Err(Failure::wrong("wrong-file", format!("{} is no text", file.display())));
    };
    text::assemble_for(chip.streams(), source).map_err(|errors| {
        let shown = Source::new(file.display().to_string(), source);
        let count = errors.len();
        for diagnostic in errors {
            console.report(&Report { diagnostic, source: Some(shown.clone().into()) });
        }
        Failure::wrong("bad-text", format!("{}: {count} errors", file.display()))
    })
}

/// The texts of a capture's streams; of a damaged one those before the damage.
fn submissions(bytes: &[u8], file: &Path) -> Result<(Vec<Stream>, Option<Failure>), Failure> {
    let engine = EngineKind::Interp.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
    let mut replay = Replay::new(bytes, engine).map_err(|error| bad_capture(file, &error))?;
    let mut streams = Vec::new();
    loop {
        match replay.read() {
            Ok(Some(submission)) => {
                streams.push(Stream { number: submission.number, text: replay.text(&submission) });
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
        for stream in streams.iter().filter(|stream| args.submission.is_none_or(|n| stream.number == n)) {
            let _ = writeln!(out, "; submission {}", stream.number);
            out.push_str(&stream.text);
        }
        out
    } else {
        text::disassemble_for(args.chip.streams(), &words_of(console, args, bytes, file)?, &[])
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
                    let list = replay.findings(&submission);
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
        let words = words_of(console, args, bytes, file)?;
        found.extend(
            check::check_for(args.chip.streams(), &words, None, None).into_iter().map(|finding| (None, finding)),
        );
    }
    let exit = told(console, args.json, file, &found)?;
    ending.map_or(Ok(exit), Err)
}

/// Reports findings; the exit code.
fn told(console: &Console, json: bool, file: &Path, found: &[(Option<u64>, check::Finding)]) -> Ending {
    let mut errors = 0;
    for (submission, finding) in found {
        errors += usize::from(finding.severity == Severity::Error);
        let report = finding_report(file, *submission, finding);
        if json { console.json(&report)? } else { console.report(&report) }
    }
    Ok(if errors > 0 { Exit::Wrong } else { Exit::Done })
}

/// A finding with its file and submission.
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
        funnel: args.funnel,
        deadline: args.budget_seconds.0.and_then(Deadline::after),
        // The time is that of all draws together.
        budget: ctm_exec::Budget::default(),
        ..DrawOptions::default()
    };
    replay.device().set_options(options);
    let (mut draws, mut submissions, mut outlines, mut problems) = (0u32, 0u32, Vec::new(), Vec::new());
    let (mut fragments, mut funnels, mut noted) = (Vec::new(), Vec::new(), Notes::default());
    let mut ending = None;
    // Findings of the streams: requested, or the reason why no fragment reached a pixel.
    let mut wrong: Vec<(u64, u32, check::Finding)> = Vec::new();
    let mut all_notes: Vec<(u32, Note)> = Vec::new();
    loop {
        let submission = match replay.read() {
            Ok(Some(submission)) => submission,
            Ok(None) => break,
            Err(error) => {
                ending = Some(bad_capture(&args.file, &error));
                break;
            }
        };
        if args.check || args.at.is_some() {
            let found = replay.findings(&submission);
            wrong.extend(found.into_iter().map(|finding| (submission.number, draws, finding)));
        }
        let wanted = args.draw;
        let mut step = |stepped: &Stepped<'_>| {
            draws += 1;
            if args.list {
                outlines.push((draws, stepped.outline.clone()));
            }
            if wanted.is_none_or(|wanted| wanted == draws) {
                funnels
                    .extend(stepped.funnel.map(|funnel| (draws, stepped.outline.line(draws as usize), funnel.clone())));
                fragments.extend(stepped.fragments.iter().map(|fragment| (draws, fragment.clone())));
                for (draw, note) in noted.new_of(draws, stepped) {
                    all_notes.push((draw, note));
                }
            }
            if wanted == Some(draws) { Next::Stop } else { Next::Continue }
        };
        let replayed = replay.run(submission, &mut step);
        submissions += 1;
        let number = replayed.submission.number;
        problems.extend(replayed.submitted.problems.into_iter().map(|problem| (number, problem)));
        if replayed.submitted.stopped || replayed.submitted.is_over {
            break;
        }
    }
    // Of the draws that were asked about; findings between draws are of the whole capture.
    let is_asked = |first: u32, finding: &check::Finding| match (args.draw, finding.draw) {
        (Some(wanted), Some(draw)) => first + draw == wanted,
        (Some(_), None) => false,
        (None, _) => true,
    };
    wrong.retain(|(_, first, finding)| {
        is_asked(*first, finding) && (args.check || finding.draw.is_some() && fragments.is_empty())
    });
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
        let funnels: Vec<Value> = funnels
            .iter()
            .map(|(draw, _, funnel)| {
                let mut all = funnel_json(funnel);
                all["draw"] = json!(draw);
                all
            })
            .collect();
        let mut findings: Vec<Value> = all_notes.iter().map(|(draw, note)| note_json(*draw, note)).collect();
        findings.extend(wrong.iter().map(|(submission, first, finding)| {
            json!({ "submission": submission, "draw": finding.draw.map(|draw| first + draw), "dword": finding.dword,
                "rule": finding.rule, "severity": finding.severity.name(), "message": finding.message })
        }));
        let told = json!({ "submissions": submissions, "draws": draws, "problems": problems, "list": outlines,
            "fragments": fragments, "funnels": funnels, "findings": findings, "saved": saved });
        console.print(&format!("{told}\n"))?;
    } else {
        for (number, outline) in &outlines {
            console.print(&listed(*number as usize, outline))?;
        }
        for (_, line, funnel) in &funnels {
            console.print(&format!("{line}\n{funnel}"))?;
        }
        if args.at.is_some() && fragments.is_empty() {
            console.print("nothing came to this pixel\n")?;
        }
        for (draw, fragment) in &fragments {
            console.print(&fragment_text(&format!("draw {draw}"), fragment))?;
        }
        for (submission, first, finding) in &wrong {
            let draw = finding.draw.map_or_else(String::new, |draw| format!(", draw {}", first + draw));
            let message = format!("submission {submission}, dword {}{draw}: {}", finding.dword, finding.message);
            console.report(&Report::bare(Diagnostic::new(finding.severity, finding.rule, message)));
        }
        for (draw, note) in &all_notes {
            let message = told_note(*draw, note);
            console.report(&Report::bare(Diagnostic::warning(note.finding.rule, message).pc(note.finding.pc)));
        }
        for (submission, problem) in &problems {
            let message = format!("submission {submission}, {problem}");
            let diagnostic = Diagnostic::error(problem.error.kind, message);
            console.report(&Report::bare(match problem.error.kind {
                "time-budget" => diagnostic.help("--budget-seconds S gives all draws more time, 0 any"),
                _ => diagnostic,
            }));
        }
        console.print(&format!("{submissions} submissions, {draws} draws, {} problems\n", problems.len()))?;
    }
    match ending {
        Some(ending) => Err(ending),
        None if problems.is_empty() => Ok(Exit::Done),
        None => Ok(Exit::Fault),
    }
}

fn note_json(draw: u32, note: &Note) -> Value {
    let Note { stage, finding } = note;
    let at = finding.position.map(|at| json!([at.i, at.j]));
    json!({ "draw": draw, "program": stage, "rule": finding.rule, "pc": finding.pc, "at": at, "message": finding.message })
}

/// Saves a target: its numbers as they are (.npy), and colours as a picture (.png).
fn listed(number: usize, outline: &Outline) -> String {
    let mut out = format!("{}\n", outline.line(number));
    for target in &outline.targets {
        let _ = writeln!(out, "    to {target}");
    }
    for (offset, value) in &outline.changes {
        let _ = writeln!(out, "    {} = {value:#x}", outline.family.registers().name(*offset));
    }
    out
}
