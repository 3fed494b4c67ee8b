//! `ctm compare`: of jobs and recordings here, of draws in `draws`.

mod draws;

use crate::args::jobs::{Flags, OfBoth};
use crate::console::{Console, Ending, Exit, Failure};
use crate::source::{GivenFlag, GivenJob, is_draw};
use crate::values::IsaName;
use clap::Args;
use ctm::EngineKind;
use ctm::array::{Array, ArrayFileKind};
use ctm::job::{Job, JobError, JobReport};
use ctm::render::Report;
use ctm::trace::observe::{Place, Read};
use ctm::trace::{Choice, Chosen, Limits, Parting, Store, Subject, Trace, agree, difference, left_by, number, parting};
use ctm_ide::captures::Capture;
use ctm_isa::diag::Diagnostic;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
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
  ctm compare old.x1k new.x1k --size 64x64 --in s0=photo.png   two programs with the same flags
  ctm compare a.vsh a.psh b.vsh b.psh --mesh cube --camera mvp   two draws with the same flags
  ctm compare job.toml expected.npy               output 0 against a picture or array
  ctm compare job.toml tape                       a job and a recording: what the last launches leave
  ctm compare old.capture new.capture             two captures of the same program, draw by draw
  ctm compare trace.capture --engines interp,jit  a capture on two engines
  ctm compare trace.capture want.png --draw 2     what target 0 holds behind draw 2, against a picture
  ctm compare a.toml b.toml --tolerance 1e-4      relative above 1

Exit codes: 0 the same, 4 different, 1, 2, 3 as `ctm run`. `ctm replay` compares a recording with itself.")]
pub(crate) struct CompareArgs {
    /// Two of these: a job file, a program, a draw job, a container or a vertex and a pixel program, a capture of command streams, a recording of devices; the second may be an array (.npy, .png, .pfm)
    #[arg(value_name = "FILE", num_args = 1..=4, required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags<OfBoth>,
    /// The instruction set, where programs do not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// The program of the second run's last pass, in place of the job's
    #[arg(long, value_name = "FILE")]
    pub(crate) program_b: Option<PathBuf>,
    /// Two engines for the same job
    #[arg(long, value_name = "ENGINE,ENGINE", conflicts_with = "program_b")]
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

/// One of the compared things: its files, and the flags over them.
struct Side<'a> {
    files: &'a [PathBuf],
    flags: &'a [GivenFlag],
    isa: Option<IsaName>,
}

impl Side<'_> {
    /// The first file.
    fn file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    fn is_capture(&self) -> bool {
        Capture::is_one(self.file())
    }

    fn is_recording(&self) -> bool {
        Subject::is_recording(self.file())
    }

    /// Whether it is an array.
    fn is_array(&self) -> bool {
        ArrayFileKind::of(self.file()).is_some()
    }

    fn is_draw(&self) -> bool {
        !self.is_array() && !self.is_recording() && !self.is_capture() && is_draw(self.files, self.flags)
    }

    fn source(&self) -> Result<GivenJob, JobError> {
        GivenJob::of(self.files, self.isa, self.flags)
    }

    fn job(&self) -> Result<Job, JobError> {
        match self.source()? {
            GivenJob::Job(reader) => reader.finish().map(|job| job.without_files()),
            GivenJob::Draw(_) => {
                let message = format!("{self} is a draw, and the other is not; draws are compared with draws");
                Err(JobError::Usage(vec![Report::bare(Diagnostic::error("draw-flags", message))]))
            }
        }
    }
}

/// The files and flags as they are typed.
impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        f.write_str(&files.join(" "))?;
        self.flags.iter().try_for_each(|(flag, value)| match value.to_string_lossy() {
            value if value.is_empty() => write!(f, " --{flag}"),
            value => write!(f, " --{flag} {value}"),
        })
    }
}

/// Whether two files are a vertex and a pixel program of one draw.
fn are_one_draw(a: &Path, b: &Path) -> bool {
    let is = |path: &Path, extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    is(a, "vsh") && is(b, "psh") || is(a, "psh") && is(b, "vsh")
}

/// The files of the two sides; of one where the flags make the other.
fn sides(args: &CompareArgs) -> Result<(Side<'_>, Option<Side<'_>>), Failure> {
    let side = |files| Side { files, flags: &args.flags.given, isa: args.isa };
    let all = args.files.as_slice();
    let one_draw = |files: &[PathBuf]| matches!(files, [a, b] if are_one_draw(a, b));
    let first = match all.len() {
        1 => 1,
        2 if one_draw(all) => 2,
        2 => 1,
        3 if one_draw(&all[..2]) => 2,
        3 if one_draw(&all[1..]) => 1,
        4 if one_draw(&all[..2]) && one_draw(&all[2..]) => 2,
        n => {
            let message = format!("{n} files are no two things; a vertex and a pixel program (.vsh, .psh) are one");
            return Err(Failure::usage("compare-files", message));
        }
    };
    let (a, b) = all.split_at(first);
    let makes_b = args.engines.is_some() || args.program_b.is_some();
    match (b.is_empty(), makes_b) {
        (true, true) => Ok((side(a), None)),
        (false, false) => Ok((side(a), Some(side(b)))),
        (true, false) => {
            let message = format!("{} is to be compared with another one, or by --engines or --program-b", side(a));
            Err(Failure::usage("compare-files", message))
        }
        (false, true) => {
            let message = "--engines and --program-b compare a job with itself; one is named, not two";
            Err(Failure::usage("compare-files", message))
        }
    }
}

pub(crate) fn run(console: &Console, args: &CompareArgs) -> Ending {
    let (a_side, b_side) = sides(args)?;
    if args.tolerance.is_nan() || args.tolerance < 0.0 {
        return Err(Failure::usage(
            "bad-tolerance",
            format!("the tolerance is {}, it is a number from 0 up", args.tolerance),
        ));
    }
    let either = |is: fn(&Side<'_>) -> bool| is(&a_side) || b_side.as_ref().is_some_and(is);
    if either(|side| side.is_draw() || side.is_capture()) {
        return draws::run(console, args, (&a_side, b_side.as_ref()));
    }
    if args.draw.is_some() {
        return Err(Failure::usage("draw-flags", "--draw is for captures, and neither is one"));
    }
    if either(|side| side.is_recording()) {
        return launches(console, args, (&a_side, b_side.as_ref()));
    }
    let mut a = a_side.job()?;
    if let Some(array) = b_side.as_ref().filter(|side| side.is_array()) {
        return picture(console, args, (&a_side, &a), array.file());
    }
    let mut b = match &b_side {
        Some(side) => side.job()?,
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
        // Of a group the instruction that made the stored value.
        let own = step.event.lanes.iter().filter(|event| usize::from(event.lane) == trace.lane);
        let write = own.flat_map(|event| &event.writes).find(|write| write.place == store.place);
        let part = write.map_or(0, |write| write.part);
        let line = trace.listing.line_of_part(step.event.at, part).unwrap_or(0);
        let text = trace.listing.text_of_part(step.event.at, part);
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
fn launches(console: &Console, args: &CompareArgs, (a_side, b_side): (&Side<'_>, Option<&Side<'_>>)) -> Ending {
    if args.program_b.is_some() || args.engines.is_some() {
        return Err(Failure::usage("recording-flags", "a recording has its own programs and engines"));
    }
    let Some(b_side) = b_side else { return Err(Failure::usage("recording-flags", "compare it with what?")) };
    let of = |side: &Side<'_>| -> Result<(Subject, Chosen), JobError> {
        let subject = if side.is_recording() {
            Subject::Recording(side.file().to_owned())
        } else {
            Subject::Job(Box::new(side.job()?))
        };
        let chosen = subject.choose(Choice::default(), None)?;
        Ok((subject, chosen))
    };
    let (a, b) = (of(a_side)?, of(b_side)?);
    if a.1.domain != b.1.domain {
        let shown = |d: ctm_exec::Domain| format!("({}, {}) to ({}, {})", d.i0, d.j0, d.i1, d.j1);
        let message = format!("the domains are {} and {}", shown(a.1.domain), shown(b.1.domain));
        return Err(Failure::wrong("no-comparison", message));
    }
    let ((left, fault_a), (right, fault_b)) = (left_by(&a.0, &a.1)?, left_by(&b.0, &b.1)?);
    for (side, fault) in [(a_side, fault_a), (b_side, fault_b)] {
        if let Some(fault) = fault {
            console.note(&format!("{} faults; what comes after it is not compared: {fault}", side.file().display()));
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
fn picture(console: &Console, args: &CompareArgs, (side, job): (&Side<'_>, &Job), path: &Path) -> Ending {
    let wrong = |message: String| Failure::wrong("no-comparison", message);
    let kind = ArrayFileKind::of(path).ok_or_else(|| wrong(format!("{} is no array", path.display())))?;
    let bytes = ctm_files::read(path, ArrayFileKind::file_kind(path)).map_err(|e| wrong(e.to_string()))?;
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
            side
        ))?;
    }
    Ok(Exit::Differs)
}
