//! `ctm replay`.

use crate::args::streams::ReplayArgs;
use crate::console::{Console, Ending, Exit, Failure};
use crate::interrupt;
use ctm::job::not_foreign;
use ctm::record::{Difference, Found, Noticed, ReadError, RecordingEnd, ReplayOptions, ReplayReport, replay_under};
use ctm::render::{Report, json as finding_json};
use ctm_files::FileKind;
use ctm_isa::diag::Diagnostic;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::io::{BufReader, IsTerminal, Read as _};
use std::time::{Duration, Instant};

pub(crate) fn run(console: &Console, args: &ReplayArgs) -> Ending {
    let shown = args.file.display();
    let file =
        ctm_files::open(&args.file, FileKind::Recording).map_err(|e| Failure::wrong("cannot-read", e.to_string()))?;
    let options = ReplayOptions { engine: args.engine, checks: args.check, threads: args.threads };
    let start = Instant::now();
    let bar = progress_bar(args);
    let from = BufReader::with_capacity(1 << 20, file);
    let report = replay_under(&interrupt::control(), from, &options, |done| bar.set_position(done));
    bar.finish_and_clear();
    let report = match report {
        Ok(report) => report,
        Err(ReadError::Engine(why)) => return Err(Failure::wrong("no-such-engine", why)),
        Err(e) => {
            let mut begin = Vec::new();
            if let Ok(file) = ctm_files::open(&args.file, FileKind::Recording)
                && file.take(1 << 16).read_to_end(&mut begin).is_ok()
            {
                not_foreign(&begin, &args.file, None)?;
            }
            return Err(Failure::wrong("not-a-recording", format!("{shown}: {e}")));
        }
    };
    let exit = match report.end {
        RecordingEnd::Difference => Exit::Differs,
        RecordingEnd::Damaged { .. } => Exit::Wrong,
        RecordingEnd::Cancelled => Exit::Interrupted,
        _ => Exit::Done,
    };
    if args.json {
        console.print(&format!("{}\n", report_json(&report, exit, start.elapsed())))?;
        return Ok(exit);
    }
    for noticed in &report.noticed {
        console.report(&finding(noticed));
    }
    if let Some(difference) = &report.difference {
        console.report(&Report::bare(Diagnostic::error("replay-difference", difference.to_string())));
    }
    match &report.end {
        RecordingEnd::Damaged { .. } => {
            console.report(&Report::bare(Diagnostic::error("damaged-recording", end(args, &report))))
        }
        RecordingEnd::Cut { .. } | RecordingEnd::Open { .. } | RecordingEnd::Cancelled => {
            console.report(&Report::bare(Diagnostic::warning("recording-not-complete", end(args, &report))));
        }
        _ => {}
    }
    if report.timed_out > 0 {
        let message = format!(
            "{} submissions ran out of time or were cancelled when they were recorded; they were not compared",
            report.timed_out
        );
        console.report(&Report::bare(Diagnostic::warning("recorded-time-out", message)));
    }
    let verdict = if report.difference.is_some() { "not as recorded" } else { "as recorded" };
    console.print(&format!(
        "{} submissions, {} launches, {} devices, {} bytes compared: {verdict}\n",
        report.submissions, report.launches, report.devices, report.compared_bytes
    ))?;
    Ok(exit)
}

fn end(args: &ReplayArgs, report: &ReplayReport) -> String {
    format!("{}: {}", args.file.display(), report.end)
}

fn finding(noticed: &Noticed) -> Report {
    let diagnostic = Diagnostic::warning(noticed.rule, format!("{}: {}", noticed.place, noticed.message));
    Report::bare(match noticed.pc {
        Some(pc) => diagnostic.pc(pc),
        None => diagnostic,
    })
}

/// A count of submissions on a terminal; how many there are is not known before the end.
fn progress_bar(args: &ReplayArgs) -> ProgressBar {
    if args.no_progress || args.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} submissions, {elapsed}") {
        bar.set_style(style);
    }
    bar
}

fn report_json(report: &ReplayReport, exit: Exit, time: Duration) -> Value {
    let status = match exit {
        Exit::Differs => "different",
        Exit::Wrong => "damaged",
        Exit::Interrupted => "cancelled",
        _ => "same",
    };
    let mut ending = json!({ "kind": report.end.name(), "message": report.end.to_string() });
    if let RecordingEnd::Cut { offset } | RecordingEnd::Damaged { offset, .. } = report.end {
        ending["offset"] = offset.into();
    }
    json!({
        "status": status,
        "devices": report.devices,
        "submissions": report.submissions,
        "launches": report.launches,
        "compared_bytes": report.compared_bytes,
        "timed_out": report.timed_out,
        "end": ending,
        "difference": report.difference.as_ref().map(difference_json),
        "findings": report.noticed.iter().map(|n| finding_json(&finding(n))).collect::<Vec<_>>(),
        "seconds": time.as_secs_f64(),
    })
}

fn difference_json(difference: &Difference) -> Value {
    let place = difference.place;
    let mut out = json!({ "device": place.device, "submission": place.submission, "message": difference.to_string() });
    let add = match &difference.found {
        Found::Memory { address, arena, expected, found, dwords } => json!({
            "kind": "memory",
            "address": format!("0x{address:08x}"),
            "arena": arena.name(),
            "expected": format!("0x{expected:08x}"),
            "found": format!("0x{found:08x}"),
            "dwords": dwords,
        }),
        Found::Outcome { expected, found } => json!({ "kind": "outcome", "expected": expected, "found": found }),
        _ => json!({ "kind": "engines" }),
    };
    if let (Some(out), Value::Object(add)) = (out.as_object_mut(), add) {
        out.extend(add);
    }
    out
}
