//! `ctm run`.

use crate::args::jobs::RunArgs;
use crate::batch;
use crate::console::{Console, Ending, Exit, Failure, exit_of, failure_json};
use crate::interrupt;
use crate::source;
use ctm::array::{Array, ArrayFileKind, ItemType, RawFormat, RawShape};
use ctm::commands;
use ctm::job::{Job, JobError, JobReport, Progress};
use ctm::record;
use ctm_exec::r700::VertexEvent;
use ctm_isa::number::Short;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) fn run(console: &Console, args: &RunArgs) -> Ending {
    let recording = record::environment().map_err(|e| Failure::wrong("cannot-record", e.to_string()))?;
    let ending = match (&args.batch, &args.file) {
        (Some(list), _) => batch::run(console, args, list),
        (None, Some(file)) => run_job(console, args, file),
        (None, None) => Err(Failure::usage("no-file", "a job file or a program is wanted")),
    };
    if let Some(why) = recording.and_then(|recording| recording.failure()) {
        return Err(Failure::wrong("cannot-record", format!("the recording is not complete: {why}")));
    }
    ending
}

fn run_job(console: &Console, args: &RunArgs, file: &Path) -> Ending {
    let result = read(console, args, file).and_then(|job| {
        let bar = progress_bar(args);
        let report = run_shown(&job, &bar);
        bar.finish_and_clear();
        report.map(|report| (job, report))
    });
    let (job, report) = match result {
        Ok(ok) => ok,
        Err(e) if args.json => {
            console.print(&format!("{}\n", failure_json(&e)))?;
            return Ok(exit_of(&e));
        }
        Err(e) => {
            if let JobError::Fault(fault) = &e
                && job_has_passes(fault.pass, fault.pass_name.as_ref())
            {
                let name = fault.pass_name.as_ref().map(|n| format!(" (`{n}`)")).unwrap_or_default();
                console.note(&format!("in pass {}{name}:", fault.pass));
            }
            return Err(e.into());
        }
    };
    report.files.iter().for_each(|file| console.wrote(file));
    if let Some(path) = &args.dump_commands {
        dump(console, path, &report.commands)?;
    }
    let comparisons = compare(args, &report)?;
    let differs = comparisons.iter().any(|c| c.differing > 0);
    let exit = if differs { Exit::Differs } else { Exit::Done };
    if args.json {
        let compared = comparisons.iter().map(OutputComparison::json).collect();
        let more = [("comparisons", compared)];
        let object = report.json(if comparisons.is_empty() { &[] } else { &more });
        console.print(&format!("{object}\n"))?;
        return Ok(exit);
    }
    console.reports(&report.reports);
    for comparison in &comparisons {
        console.print(&format!("{comparison}\n"))?;
    }
    if report.files.is_empty() && !args.stats && args.dump_commands.is_none() && comparisons.is_empty() {
        print_outputs(console, &report)?;
    }
    if args.stats {
        console.print(&statistics(&job, &report))?;
    }
    Ok(exit)
}

/// An output and its reference file.
struct OutputComparison {
    output: String,
    reference: String,
    values: usize,
    /// Values that are further apart than is allowed; a NaN beside a number is.
    differing: usize,
    /// The largest distance of two numbers.
    largest: f64,
    /// The first that differs: column, row, channel, found and expected value.
    first: Option<(usize, usize, usize, f32, f32)>,
}

impl OutputComparison {
    fn json(&self) -> Value {
        let number = |v: f32| if v.is_finite() { json!(v) } else { json!(v.to_string()) };
        let first = self.first.map(|(x, y, channel, found, expected)| {
            json!({ "position": [x, y], "channel": channel, "found": number(found), "expected": number(expected) })
        });
        json!({
            "output": self.output,
            "reference": self.reference,
            "values": self.values,
            "differing": self.differing,
            "largest": self.largest,
            "first": first,
        })
    }
}

impl std::fmt::Display for OutputComparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { output, reference, values, differing, largest, .. } = self;
        match self.first {
            None => write!(f, "{output} is as {reference}: {values} values, at most {largest:e} apart"),
            Some((x, y, channel, found, expected)) => write!(
                f,
                "{output} is not as {reference}: {differing} of {values} values differ, at most by {largest:e}; first ({x}, {y}) channel {channel}: {found}, {expected} expected"
            ),
        }
    }
}

/// Compares outputs with the files of `--compare`.
fn compare(args: &RunArgs, report: &JobReport) -> Result<Vec<OutputComparison>, Failure> {
    let one = |given: &(String, PathBuf)| {
        let (name, path) = given;
        let output = report.output(name).ok_or_else(|| {
            let names: Vec<&str> = report.outputs.iter().map(|o| o.name.as_str()).collect();
            Failure::usage("unknown-name", format!("there is no output `{name}`; there are {}", names.join(", ")))
        })?;
        let wrong = |why: String| Failure::wrong("bad-array", format!("{}: {why}", path.display()));
        let found = report.array(output.slot).ok_or_else(|| wrong(format!("output {name} cannot be read")))?;
        let bytes = ctm::job::read_file(path, ArrayFileKind::file_kind(path), None)?;
        let kind = ArrayFileKind::of(path)
            .ok_or_else(|| wrong(format!("no kind of array; known are {}", ArrayFileKind::EXTENSIONS)))?;
        let [height, width, channels] = output.shape();
        let shape = RawShape { width, height, format: RawFormat::Float32(channels) };
        let expected = Array::from_bytes(kind, &bytes, Some(shape)).map_err(|e| wrong(e.to_string()))?;
        let other = [expected.height, expected.width, expected.channels];
        if other != [height, width, channels] {
            return Err(wrong(format!(
                "its shape is {other:?}, that of output {name} is {:?}",
                [height, width, channels]
            )));
        }
        let mut out = OutputComparison {
            output: output.name.clone(),
            reference: path.display().to_string(),
            values: found.to_f32().len(),
            differing: 0,
            largest: 0.0,
            first: None,
        };
        for (n, (found, expected)) in found.to_f32().into_iter().zip(expected.to_f32()).enumerate() {
            let apart = (f64::from(found) - f64::from(expected)).abs();
            if found.to_bits() == expected.to_bits() || found == expected || found.is_nan() && expected.is_nan() {
                continue;
            }
            out.largest = out.largest.max(if apart.is_nan() { f64::INFINITY } else { apart });
            if apart <= args.tolerance {
                continue;
            }
            out.differing += 1;
            let element = n / channels;
            out.first.get_or_insert((element % width, element / width, n % channels, found, expected));
        }
        Ok(out)
    };
    args.compare.iter().map(one).collect()
}

fn job_has_passes(pass: usize, name: Option<&String>) -> bool {
    pass > 0 || name.is_some()
}

/// The job of a file or of a program, with the flags over it.
fn read(console: &Console, args: &RunArgs, file: &Path) -> Result<Job, JobError> {
    let reader = source::job_reader(file, args.isa, &args.job.given)?;
    let saved = args.save_job.as_ref().map(|directory| (directory, reader.saved()));
    let mut job = reader.finish()?;
    if let Some((directory, saved)) = saved {
        saved.write(directory, &job.programs()?)?.iter().for_each(|file| console.wrote(file));
    }
    job.run.counters = args.stats || args.json;
    if let Some(shard) = args.shard {
        job = job.shard(shard)?;
    }
    Ok(job)
}

/// A bar on a terminal, and nothing elsewhere; it appears only when a run takes a while.
fn progress_bar(args: &RunArgs) -> ProgressBar {
    if args.no_progress || args.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_bar} {percent} %{msg}, {elapsed}") {
        bar.set_style(style);
    }
    bar
}

/// Parts of a launch that the bar shows.
const PARTS: u64 = 1000;
/// How often it is drawn.
const DRAWN: Duration = Duration::from_millis(100);

/// Runs a job; the bar shows how much of its launches is done, and how long the rest will take.
fn run_shown(job: &Job, bar: &ProgressBar) -> Result<JobReport, JobError> {
    let control = interrupt::control();
    if bar.is_hidden() {
        return job.run_under(&control, |_| {});
    }
    let launches = Mutex::new(Progress { done: 0, total: 1, elapsed: Duration::ZERO });
    let (ended, ends) = mpsc::channel::<()>();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (launches, control) = (&launches, &control);
        scope.spawn(move || {
            while ends.recv_timeout(DRAWN) == Err(RecvTimeoutError::Timeout) {
                let launches = *launches.lock().unwrap_or_else(PoisonError::into_inner);
                show(bar, launches, &control.progress(), started.elapsed());
            }
        });
        let report = job.run_under(control, |p| *launches.lock().unwrap_or_else(PoisonError::into_inner) = p);
        drop(ended);
        report
    })
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for people")]
fn show(bar: &ProgressBar, launches: Progress, launch: &ctm_exec::Progress, elapsed: Duration) {
    // Between two launches the last one is still shown.
    let share = if launches.done < launches.total && launch.elapsed <= elapsed { launch.share() } else { 0.0 };
    let share = if share >= 1.0 { 0.0 } else { share };
    let done = (launches.done as f64 + share) / launches.total.max(1) as f64;
    bar.set_length(PARTS);
    bar.set_position((done * PARTS as f64) as u64);
    let of_several = if launches.total > 1 {
        format!(", launch {} of {}", (launches.done + 1).min(launches.total), launches.total)
    } else {
        String::new()
    };
    let left = Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - done) / done).ok();
    let left = left.map(|left| format!(", {} s left", left.as_secs())).unwrap_or_default();
    bar.set_message(format!("{of_several}{left}"));
}

fn dump(console: &Console, path: &Path, words: &[u32]) -> Result<(), Failure> {
    match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "txt" => console.write(path, commands::print(words).as_bytes()),
        "cmd" | "bin" => console.write(path, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()),
        other => Err(Failure::usage(
            "unknown-extension",
            format!(
                "{}: `.{other}` names no form of command buffer; .cmd, .bin (words) and .txt (text) can be written",
                path.display()
            ),
        )),
    }
}

/// Small outputs as numbers, others by their size.
fn print_outputs(console: &Console, report: &JobReport) -> Result<(), Failure> {
    let mut out = String::new();
    for o in &report.outputs {
        let Some(array) = report.few(o) else {
            let (width, height) = (o.rect.width, o.rect.height);
            let _ = writeln!(
                out,
                "{}: {width}x{height} elements; --out {}=FILE saves them (.npy, .png, .pfm, .raw)",
                o.name, o.name
            );
            continue;
        };
        let (width, values) = (o.rect.width as usize, array.to_f32());
        for (n, element) in values.chunks_exact(array.channels).enumerate() {
            let (i, j) = (o.rect.x as usize + n % width, o.rect.y as usize + n / width);
            let element: Vec<String> = element.iter().map(|&v| value(v, o.items)).collect();
            let _ = writeln!(out, "{} ({i}, {j}) = {}", o.name, element.join(" "));
        }
    }
    for (space, dwords) in &report.memories {
        let name = space.name();
        let _ = writeln!(out, "{name}: {} bytes; --memory {name}:save=FILE saves them (.npy, .raw)", dwords.len() * 4);
    }
    if !report.vertices.is_empty() {
        let count = report.vertices.iter().filter(|v| v.event != VertexEvent::Cut).count();
        let _ = writeln!(out, "vertices: {count} emitted; --vertices FILE saves their list (.npy)");
    }
    console.print(&out)
}

/// A value of an output.
#[allow(clippy::cast_possible_wrap, reason = "the bits are those of a signed integer")]
fn value(value: f32, items: ItemType) -> String {
    match items {
        ItemType::Int32 => (value.to_bits() as i32).to_string(),
        ItemType::Uint32 => value.to_bits().to_string(),
        ItemType::Float32 | ItemType::Float64 => number(value),
    }
}

/// The shortest decimal number that is this value; NaN by its bits.
fn number(value: f32) -> String {
    if value.is_nan() { format!("nan(0x{:08x})", value.to_bits()) } else { Short(value).to_string() }
}

fn statistics(job: &Job, report: &JobReport) -> String {
    let mut out = String::new();
    if report.passes.len() > 1 {
        for (n, pass) in report.passes.iter().enumerate() {
            let name = pass.name.as_ref().map(|n| format!(" `{n}`")).unwrap_or_default();
            let domain = job.passes[n].domain;
            let _ = writeln!(
                out,
                "pass {n}{name}: {} launches of {}x{}, {} instructions, {} clocks",
                pass.launches,
                domain.width(),
                domain.height(),
                pass.counters.instructions(),
                pass.counters.clocks()
            );
        }
    }
    let c = report.counters();
    let launches: u64 = report.passes.iter().map(|p| p.launches).sum();
    let seconds = report.elapsed.as_secs_f64();
    let lanes = if c.total_lanes == 0 { 0.0 } else { percent(c.active_lanes, c.total_lanes) };
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<14} {text}");
    };
    line("launches", launches.to_string());
    line("processors", format!("{} in {} groups", c.processors, c.groups));
    line(
        "instructions",
        format!("{} (ALU {}, OUTPUT {}, TEX {}, FC {})", c.instructions(), c.alu, c.output, c.tex, c.fc),
    );
    line("lanes active", format!("{} of {} ({lanes:.1} %)", c.active_lanes, c.total_lanes));
    line("fetches", format!("{}, {} bytes", c.fetches, c.fetch_bytes));
    line("writes", format!("{}, {} bytes", c.writes, c.write_bytes));
    line("clocks", format!("{} (ALU {}, TEX {}, FC {})", c.clocks(), c.alu_clocks, c.tex_clocks, c.fc_clocks));
    line("time", format!("{seconds:.3} s"));
    out
}

#[allow(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
