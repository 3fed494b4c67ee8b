//! `ctm compare`: of jobs and recordings here, of draws in `draws`.

mod draws;

use crate::args::jobs::JobFlags;
use crate::console::{Console, Ending, Exit, Failure};
use crate::watched::LaunchArgs;
use clap::Args;
use ctm::EngineKind;
use ctm::array::{Array, Kind};
use ctm::job::{Job, JobError, JobReport};
use ctm::trace::observe::{Place, Read};
use ctm::trace::{Choice, Chosen, Limits, Parting, Store, Subject, Trace, agree, difference, left_by, number, parting};
use ctm_ide::captures::Capture;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Find where two runs part
///
/// Runs two jobs and compares their outputs value by value. At the first value that differs, both processors are traced, and the first
/// instruction whose store differs is shown: the n-th store to a register in one is the counterpart of the n-th in the other. Captures and draw jobs are drawn side by
/// side: the first draw after which a target differs, the first pixel, and where the pixel programs, or the vertex programs before them, part.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm compare old.toml new.toml                   two jobs with the same outputs
  ctm compare job.toml --program-b changed.x1k    one job, two programs
  ctm compare job.toml --engines interp,jit       two engines
  ctm compare job.toml expected.npy               output 0 against a picture or array
  ctm compare job.toml tape                       a job and a recording: what the last launches leave
  ctm compare old.capture new.capture             two captures of the same program, draw by draw
  ctm compare trace.capture --engines interp,jit  a capture on two engines
  ctm compare trace.capture want.png --draw 2     what target 0 holds behind draw 2, against a picture
  ctm compare a.toml b.toml --tolerance 1e-4      relative above 1

Exit codes: 0 the same, 4 different, 1, 2, 3 as `ctm run`. `ctm replay` compares a recording with itself.")]
pub(crate) struct CompareArgs {
    /// A job file, a draw job, a capture of command streams, or a recording of devices
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Another one, or an array (.npy, .png, .pfm)
    #[arg(value_name = "B", required_unless_present_any = ["engines", "program_b"])]
    pub(crate) b: Option<PathBuf>,
    /// The program of the second run's last pass, in place of the job's
    #[arg(long, value_name = "FILE", conflicts_with = "b")]
    pub(crate) program_b: Option<PathBuf>,
    /// Two engines for the same job
    #[arg(long, value_name = "ENGINE,ENGINE", conflicts_with_all = ["b", "program_b"])]
    pub(crate) engines: Option<String>,
    /// How far values may be apart, relative above 1; 0: bit for bit
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) tolerance: f32,
    /// Of captures: only targets after this draw, from 1, as `ctm replay --list` counts
    #[arg(long, value_name = "N")]
    pub(crate) draw: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn job(path: &Path) -> Result<Job, JobError> {
    let launch = LaunchArgs {
        file: path.to_owned(),
        job: JobFlags::default(),
        isa: None,
        pass: None,
        launch: None,
        draw: None,
        stage: None,
    };
    launch.read().map(|job| job.without_files())
}

pub(crate) fn run(console: &Console, args: &CompareArgs) -> Ending {
    if args.tolerance.is_nan() || args.tolerance < 0.0 {
        return Err(Failure::usage(
            "bad-tolerance",
            format!("the tolerance is {}, it is a number from 0 up", args.tolerance),
        ));
    }
    let either = |is: fn(&Path) -> bool| [Some(&args.a), args.b.as_ref()].into_iter().flatten().any(|path| is(path));
    if either(|path| Subject::is_drawing(path) || Capture::is_one(path)) {
        return draws::run(console, args);
    }
    if args.draw.is_some() {
        return Err(Failure::usage("draw-flags", "--draw is for captures, and neither is one"));
    }
    if either(Subject::is_recording) {
        return launches(console, args);
    }
    let mut a = job(&args.a)?;
    if let Some(path) = args.b.as_deref().filter(|path| Kind::of(path).is_some()) {
        return picture(console, args, &a, path);
    }
    let mut b = match &args.b {
        Some(path) => job(path)?,
        None => a.clone(),
    };
    if let (Some(program), Some(pass)) = (&args.program_b, b.passes.last_mut()) {
        pass.program = program.clone().into();
    }
    if let Some(engines) = &args.engines {
        let (x, y) = two_engines(engines)?;
        (a.run.engine, b.run.engine) = (x.into(), y.into());
    }
    let (left, right) = (a.run(|_| {})?, b.run(|_| {})?);
    let found =
        difference(&left, &right, args.tolerance).map_err(|why| Failure::wrong("no-comparison", why.to_string()))?;
    let Some(found) = found else { return same(console, args) };
    let mut text = format!(
        "{} differs in {} values, first at ({}, {}) channel {}: {} and {}\n",
        found.output,
        found.count,
        found.at.i,
        found.at.j,
        found.channel,
        number(found.a.to_bits()),
        number(found.b.to_bits())
    );
    let mut value = json!({
        "status": "different",
        "output": found.output,
        "position": [found.at.i, found.at.j],
        "channel": found.channel,
        "a": format!("0x{:08x}", found.a.to_bits()),
        "b": format!("0x{:08x}", found.b.to_bits()),
        "count": found.count,
    });
    if args.engines.is_some() {
        text.push_str("instructions are compared by `ctm run --engine verify`\n");
    } else {
        let limits = Limits::default();
        let trace = |job: &Job| Trace::of_job(job, Choice::default(), found.at, &limits).map_err(JobError::from);
        let (x, y) = (trace(&a)?, trace(&b)?);
        say_parting(&x, &y, args.tolerance, &mut text, &mut value);
    }
    console.print(&if args.json { format!("{value}\n") } else { text })?;
    Ok(Exit::Differs)
}

/// Where two processors part, as text and as JSON.
fn say_parting(x: &Trace, y: &Trace, tolerance: f32, text: &mut String, value: &mut Value) {
    match parting(x, y, tolerance) {
        None => text.push_str("the stores of the two processors are the same as far as they were followed\n"),
        Some(parting) => say_parted(x, y, &parting, tolerance, text, value),
    }
}

/// The same where it is known where they part.
fn say_parted(x: &Trace, y: &Trace, parting: &Parting, tolerance: f32, text: &mut String, value: &mut Value) {
    let shown = |trace: &Trace, store: &Store| {
        let step = &trace.steps[store.step];
        let line = trace.listing.line(step.event.at).unwrap_or(0);
        let text = trace.listing.text(step.event.at);
        let (time, bits) = (step.time, number(store.bits));
        let json = json!({
            "time": time, "pc": step.event.at.pc, "item": step.event.at.item, "line": line, "text": text,
            "place": store.place.to_string(), "bits": format!("0x{:08x}", store.bits),
        });
        (
            format!(
                "{}:{line}, time {time}: {text}\n     {} = {bits} (0x{:08x})\n",
                trace.listing.name, store.place, store.bits
            ),
            json,
        )
    };
    for (name, trace, store) in [("a", x, parting.a), ("b", y, parting.b)] {
        match store {
            Some(store) => {
                let (line, json) = shown(trace, &store);
                text.push_str(&format!("  {name}: {line}"));
                value[format!("instruction_{name}")] = json;
            }
            None => text.push_str(&format!("  {name}: has no such store\n")),
        }
    }
    let read = read_apart(x, y, parting, tolerance);
    for (place, p, q) in &read {
        text.push_str(&format!("  reads {place} = {} and {}\n", number(*p), number(*q)));
    }
    let hex = |bits: u32| format!("0x{bits:08x}");
    value["reads"] =
        read.iter().map(|(place, p, q)| json!({ "place": place.to_string(), "a": hex(*p), "b": hex(*q) })).collect();
}

/// Operands with one source and two values, of the two differing instructions.
fn read_apart(x: &Trace, y: &Trace, parting: &Parting, tolerance: f32) -> Vec<(Place, u32, u32)> {
    let reads = |trace: &Trace, store: Option<Store>| -> Vec<Read> {
        let lanes = store.map_or(&[][..], |store| &trace.steps[store.step].event.lanes);
        let own = lanes.iter().filter(|event| usize::from(event.lane) == trace.lane);
        own.flat_map(|event| event.reads.iter().copied()).collect()
    };
    let (a, b) = (reads(x, parting.a), reads(y, parting.b));
    let differs = |p: u32, q: u32| p != q && !agree(f32::from_bits(p), f32::from_bits(q), tolerance);
    let both = a.iter().zip(&b).filter(|(p, q)| p.place == q.place && differs(p.bits, q.bits));
    let mut all: Vec<_> = both.map(|(p, q)| (p.place, p.bits, q.bits)).collect();
    all.dedup();
    all
}

/// Two engines by their names.
fn two_engines(engines: &str) -> Result<(EngineKind, EngineKind), Failure> {
    let names = EngineKind::ALL.map(EngineKind::name).join(", ");
    let wrong = || Failure::usage("no-such-engine", format!("`{engines}` are not two engines; there are {names}"));
    let (x, y) = engines.split_once(',').ok_or_else(wrong)?;
    Ok((EngineKind::from_name(x).ok_or_else(wrong)?, EngineKind::from_name(y).ok_or_else(wrong)?))
}

/// The outputs of two launches by processor; one of them at least is of a recording.
fn launches(console: &Console, args: &CompareArgs) -> Ending {
    if args.program_b.is_some() || args.engines.is_some() {
        return Err(Failure::usage("recording-flags", "a recording has its own programs and engines"));
    }
    let Some(path_b) = &args.b else { return Err(Failure::usage("recording-flags", "compare it with what?")) };
    let of = |path: &Path| -> Result<(Subject, Chosen), JobError> {
        let subject = if Subject::is_recording(path) {
            Subject::Recording(path.to_owned())
        } else {
            Subject::Job(Box::new(job(path)?))
        };
        let chosen = subject.choose(Choice::default(), None)?;
        Ok((subject, chosen))
    };
    let (a, b) = (of(&args.a)?, of(path_b)?);
    if a.1.domain != b.1.domain {
        let shown = |d: ctm_exec::Domain| format!("({}, {}) to ({}, {})", d.i0, d.j0, d.i1, d.j1);
        let message = format!("the domains are {} and {}", shown(a.1.domain), shown(b.1.domain));
        return Err(Failure::wrong("no-comparison", message));
    }
    let ((left, fault_a), (right, fault_b)) = (left_by(&a.0, &a.1)?, left_by(&b.0, &b.1)?);
    for (path, fault) in [(&args.a, fault_a), (path_b, fault_b)] {
        if let Some(fault) = fault {
            console.note(&format!("{} faults; what comes after it is not compared: {fault}", path.display()));
        }
    }
    let same_bits = |x: Option<&u32>, y: Option<&u32>| match (x, y) {
        (Some(&x), Some(&y)) => x == y || agree(f32::from_bits(x), f32::from_bits(y), args.tolerance),
        (x, y) => x == y,
    };
    let empty = BTreeMap::new();
    let mut first = None;
    let mut count = 0u64;
    let mut at = BTreeSet::from_iter(left.keys().copied());
    at.extend(right.keys().copied());
    let mut at: Vec<_> = at.into_iter().collect();
    at.sort_by_key(|at| (at.j, at.i));
    for at in at {
        let (x, y) = (left.get(&at).unwrap_or(&empty), right.get(&at).unwrap_or(&empty));
        let places: BTreeSet<_> = x.keys().chain(y.keys()).copied().collect();
        for place in places.into_iter().filter(|place| !same_bits(x.get(place), y.get(place))) {
            count += 1;
            first.get_or_insert((at, place, x.get(&place).copied(), y.get(&place).copied()));
        }
    }
    let Some((at, place, x, y)) = first else { return same(console, args) };
    let shown = |bits: Option<u32>| bits.map_or("nothing".to_owned(), number);
    let mut text =
        format!("{count} values differ, first {place} of ({}, {}): {} and {}\n", at.i, at.j, shown(x), shown(y));
    let hex = |bits: Option<u32>| bits.map(|bits| format!("0x{bits:08x}"));
    let mut value = json!({
        "status": "different", "place": place.to_string(), "position": [at.i, at.j], "a": hex(x), "b": hex(y), "count": count,
    });
    let limits = Limits::default();
    let trace = |(subject, chosen): &(Subject, Chosen)| Trace::of(subject, chosen, at, &limits).map_err(JobError::from);
    say_parting(&trace(&a)?, &trace(&b)?, args.tolerance, &mut text, &mut value);
    console.print(&if args.json { format!("{value}\n") } else { text })?;
    Ok(Exit::Differs)
}

fn same(console: &Console, args: &CompareArgs) -> Ending {
    console.print(if args.json { "{\"status\":\"same\"}\n" } else { "the same\n" })?;
    Ok(Exit::Done)
}

/// Output 0 against an array.
fn picture(console: &Console, args: &CompareArgs, job: &Job, path: &Path) -> Ending {
    let wrong = |message: String| Failure::wrong("no-comparison", message);
    let kind = Kind::of(path).ok_or_else(|| wrong(format!("{} is no array", path.display())))?;
    let bytes = ctm_files::read(path, Kind::file_kind(path)).map_err(|e| wrong(e.to_string()))?;
    let expected = Array::from_bytes(kind, &bytes, None).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
    let report: JobReport = job.run(|_| {})?;
    let Some(output) = report.outputs.first() else { return Err(wrong("the job has no output".into())) };
    let found = report.array(output.slot).ok_or_else(|| wrong("the output cannot be read".into()))?;
    let shape = |a: &Array| [a.width, a.height, a.channels];
    if shape(&found) != shape(&expected) {
        return Err(wrong(format!(
            "{} is {:?}, {} is {:?} (columns, rows, channels)",
            output.name,
            shape(&found),
            path.display(),
            shape(&expected)
        )));
    }
    let count = found.height * found.row_values();
    let differ = (0..count).filter(|&n| !agree(found.value(n), expected.value(n), args.tolerance)).collect::<Vec<_>>();
    let Some(&first) = differ.first() else { return same(console, args) };
    let element = first / found.channels;
    let (i, j) = (element % found.width + output.rect.x as usize, element / found.width + output.rect.y as usize);
    let (a, b) = (found.value(first), expected.value(first));
    if args.json {
        let value = json!({"status": "different", "output": output.name, "position": [i, j], "channel": first % found.channels,
            "a": format!("0x{:08x}", a.to_bits()), "b": format!("0x{:08x}", b.to_bits()), "count": differ.len()});
        console.print(&format!("{value}\n"))?;
    } else {
        let (count, channel) = (differ.len(), first % found.channels);
        console.print(&format!(
            "{} differs in {count} values, first at ({i}, {j}) channel {channel}: {a}, expected {b}\n`ctm why {} --at {i},{j}` shows what made it\n",
            output.name,
            args.a.display()
        ))?;
    }
    Ok(Exit::Differs)
}
