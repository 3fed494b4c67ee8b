//! `ctm trace` and `ctm why`.

use crate::console::{Console, Ending, Exit, Failure};
use crate::watched::{LaunchArgs, places, position};
use clap::{Args, ValueEnum};
use ctm::job::JobError;
use ctm::trace::observe::Lanes;
use ctm::trace::{Ancestry, Limits, Subject, Trace};
use ctm_exec::Position;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Show the execution of a processor and its group, instruction by instruction
///
/// The group of the processor runs on the reference interpreter; launches before it run on the job's engine. No file of the job is written.
/// In masks, `#` is a lane that executes, a digit the branch counter of one that a branch made inactive, `c` and `b` lanes that wait for the next
/// iteration or have left the loop, `.` one that is not covered.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm trace job.toml --at 35,22                     text
  ctm trace job.toml --at 35,22 -o trace.html       one page with a slider
  ctm trace job.toml --at 35,22 -o trace.jsonl      one JSON object per instruction
  ctm trace job.toml --at 35,22 -o trace.perfetto   for https://ui.perfetto.dev, opened from the file
  ctm trace job.toml --at 35,22 --range 4..9 --writes r3.x
  ctm trace job.toml --until fault                  the processor that faults

Exit codes: 0 done, also when the group faults (the trace says so); 1, 2 as `ctm run`.")]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) launch: LaunchArgs,
    /// The processor: column,row; the first one of the domain when left out
    #[arg(long, value_name = "I,J", value_parser = position)]
    pub(crate) at: Option<Position>,
    /// Whose values are shown: the processor's (one), its quad's, its group's, or lanes by number such as 0-3,8
    #[arg(long, value_name = "LANES", default_value = "one")]
    pub(crate) lanes: String,
    /// The group by number, in place of a processor
    #[arg(long, value_name = "N", conflicts_with = "at")]
    pub(crate) group_index: Option<u64>,
    /// Only instructions at these slots
    #[arg(long, value_name = "PC..PC", value_parser = range)]
    pub(crate) range: Option<RangeInclusive<u32>>,
    /// Only instructions that write this register; may be given several times
    #[arg(long, value_name = "REGISTER")]
    pub(crate) writes: Vec<String>,
    /// `fault`: the processor whose group faults when the job runs
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["at", "group_index"])]
    pub(crate) until: Option<Until>,
    /// Instructions that are recorded at most
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) limit: usize,
    /// Where the trace goes; its extension says how: .txt, .jsonl, .perfetto, .html
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// How it is written, whatever the extension
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) format: Option<TraceForm>,
}

/// Where a trace stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// At the fault that ends the job
    Fault,
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceForm {
    /// Text
    Text,
    /// One JSON object per instruction
    Jsonl,
    /// Chrome's trace events, which Perfetto opens
    Perfetto,
    /// One page
    Html,
}

fn range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let wrong = || format!("`{text}` is no range of slots; write first..last, such as 4..9");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let last = last.strip_prefix('=').unwrap_or(last);
    let (first, last): (u32, u32) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    if first > last { Err(wrong()) } else { Ok(first..=last) }
}

impl TraceForm {
    fn of(format: Option<Self>, path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|_| format.is_none()) else { return Ok(format.unwrap_or(Self::Text)) };
        match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
            "txt" => Ok(Self::Text),
            "jsonl" | "json" => Ok(Self::Jsonl),
            "perfetto" => Ok(Self::Perfetto),
            "html" => Ok(Self::Html),
            _ if path == Path::new("-") => Ok(Self::Text),
            other => Err(Failure::usage(
                "unknown-extension",
                format!(
                    "{}: `.{other}` names no form of trace; there are .txt, .jsonl, .perfetto, .html",
                    path.display()
                ),
            )),
        }
    }
}

pub(crate) fn run(console: &Console, args: &TraceArgs) -> Ending {
    let form = TraceForm::of(args.format, args.output.as_deref())?;
    let subject = args.launch.subject()?;
    let mut choice = args.launch.choice();
    let mut at = args.at;
    if let (Some(group), Subject::Job(job)) = (args.group_index, &subject) {
        at = Some(group_start(&args.launch, job, group)?);
    }
    if let (Some(Until::Fault), Subject::Job(job)) = (args.until, &subject) {
        match job.without_files().run(|_| {}) {
            Ok(_) => return Err(Failure::wrong("no-fault", "the job runs to its end without a fault")),
            Err(JobError::Fault(fault)) => {
                choice.pass = Some(fault.pass);
                at = fault.position.or(at);
                console.report(&fault.report);
            }
            Err(e) => return Err(e.into()),
        }
    }
    let by_place = args.group_index.is_none() && args.until.is_none();
    match &subject {
        Subject::Recording(_) if !by_place => {
            return Err(Failure::usage("recording-flags", "of a recording, --at says which processor"));
        }
        Subject::Drawing(..) if !by_place => {
            return Err(Failure::usage("draw-flags", "of draws, --at says which pixel or vertex"));
        }
        _ => {}
    }
    let at = match &subject {
        Subject::Job(job) => Some(args.launch.position(job, at)),
        Subject::Recording(_) => at,
        Subject::Drawing(..) => Some(at.unwrap_or_default()),
    };
    let chosen = subject.choose(choice, at)?;
    let at = at.unwrap_or(Position { i: chosen.domain.i0, j: chosen.domain.j0 });
    let mut limits = Limits { range: args.range.clone(), instructions: args.limit, ..Limits::default() };
    for name in &args.writes {
        limits.writes.extend(places(&chosen, name)?);
    }
    let trace = Trace::of(&subject, &chosen, at, &limits).map_err(JobError::from)?;
    let lanes = lanes(&trace, &args.lanes)?;
    let text = match form {
        TraceForm::Text => trace.text(&lanes),
        TraceForm::Jsonl => trace.json_lines(),
        TraceForm::Perfetto => trace.perfetto(),
        TraceForm::Html => trace.html(),
    };
    match &args.output {
        Some(path) => console.write(path, text.as_bytes())?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// The first processor of a group.
fn group_start(launch: &LaunchArgs, job: &ctm::job::Job, group: u64) -> Result<Position, Failure> {
    let (pass, _) = launch.choice().resolve(job, None)?;
    let Some(pass) = job.passes.get(pass) else { return Ok(Position::default()) };
    let groups = ctm_exec::groups::Groups::new(pass.domain, job.run.group.lanes());
    if group >= groups.count() {
        let count = groups.count();
        return Err(Failure::usage("no-such-group", format!("there is no group {group}, the domain has {count}")));
    }
    let inside = groups.positions(group).into_iter().find(|&at| pass.domain.contains(at));
    Ok(inside.unwrap_or_default())
}

/// The lanes that `--lanes` names.
fn lanes(trace: &Trace, text: &str) -> Result<Lanes, Failure> {
    let count = trace.positions.len();
    let wrong = || {
        let message =
            format!("`{text}` names no lanes; write one, quad, group or numbers up to {} such as 0-3,8", count - 1);
        Failure::usage("no-such-lanes", message)
    };
    match text {
        "one" => return Ok(std::iter::once(trace.lane).collect()),
        "quad" => return Ok((trace.lane & !3..((trace.lane & !3) + 4).min(count)).collect()),
        "group" => return Ok(Lanes::first(count)),
        _ => {}
    }
    let mut lanes = Lanes::none();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<usize>().ok().filter(|&n| n < count);
        let (first, last) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
        (first..=last).for_each(|lane| lanes.insert(lane));
    }
    Ok(lanes)
}

/// Show the operands that a value depends on
///
/// Prints the tree of instructions, inputs, constants and elements of memory that a value was made of, with their values. Without --value, all
/// outputs that the processor wrote.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm why job.toml --at 35,22 --value o0.g
  ctm why job.toml --at 35,22 --value r3.x --time 120
  ctm why job.toml --at 35,22 --nan           where the first NaN, infinity or denormal loss arose")]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) launch: LaunchArgs,
    /// The processor: column,row; the first one of the domain when left out
    #[arg(long, value_name = "I,J", value_parser = position)]
    pub(crate) at: Option<Position>,
    /// The register or output
    #[arg(long, value_name = "REGISTER")]
    pub(crate) value: Vec<String>,
    /// Before the instruction at this time (as `ctm trace` counts it), in place of the end
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<u64>,
    /// Where the first NaN, infinity or lost denormal arose
    #[arg(long)]
    pub(crate) nan: bool,
    /// Levels of the tree
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) depth: usize,
    /// Lines of each tree
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) lines: usize,
    /// The most instructions to search
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) limit: usize,
    /// Print JSON, one object a value
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn why(console: &Console, args: &WhyArgs) -> Ending {
    let (subject, chosen, at) = args.launch.chosen(args.at)?;
    let mut wanted = Vec::new();
    for name in &args.value {
        wanted.extend(places(&chosen, name)?.into_iter().map(|place| (place, true)));
    }
    let limits = Limits { instructions: args.limit, ..Limits::default() };
    let trace = Trace::of(&subject, &chosen, at, &limits).map_err(JobError::from)?;
    if let Some(fault) = &trace.fault {
        console.note(&format!("the group faults: {fault}"));
    }
    if trace.cut {
        console
            .note(&format!("only the first {} instructions were looked at; --limit sets how many", trace.steps.len()));
    }
    if args.nan {
        return nan(console, args, &trace);
    }
    if wanted.is_empty() {
        let mut outputs: Vec<_> =
            trace.end.keys().filter(|(lane, place)| *lane == trace.lane && place.is_output()).map(|k| k.1).collect();
        outputs.sort_unstable();
        wanted = outputs.into_iter().map(|place| (place, false)).collect();
    }
    let before = args.time.map(|time| trace.steps.partition_point(|step| step.time < time));
    let mut found = 0;
    for (place, _) in &wanted {
        let Some(ancestry) = Ancestry::of(&trace, trace.lane, *place, before) else { continue };
        found += 1;
        if args.json {
            console.print(&format!("{}\n", ancestry.json(&trace)))?;
        } else {
            console.print(&ancestry.text(&trace, args.depth, args.lines))?;
        }
    }
    if found == 0 {
        let names = args.value.join(", ");
        let what = if names.is_empty() { "an output".to_owned() } else { names };
        let message = format!("no instruction of processor ({}, {}) writes {what}", at.i, at.j);
        return Err(Failure::wrong("never-written", message));
    }
    Ok(Exit::Done)
}

fn nan(console: &Console, args: &WhyArgs, trace: &Trace) -> Ending {
    let oddities = trace.oddities(trace.lane);
    if oddities.is_empty() && !args.json {
        console.print("no NaN, no infinity and no lost denormal arises\n")?;
    }
    for oddity in oddities {
        let step = &trace.steps[oddity.step];
        let at = step.event.at;
        let place = oddity.write.place;
        if args.json {
            let value = serde_json::json!({
                "kind": oddity.kind.text(),
                "place": place.to_string(),
                "bits": format!("0x{:08x}", oddity.write.bits),
                "pc": at.pc,
                "item": at.item,
                "line": trace.listing.line_of_part(at, oddity.write.part),
                "time": step.time,
                "text": trace.listing.text_of_part(at, oddity.write.part),
            });
            console.print(&format!("{value}\n"))?;
            continue;
        }
        console.print(&format!("{}:\n", oddity.kind.text()))?;
        if let Some(ancestry) = Ancestry::of(trace, trace.lane, place, Some(oddity.step + 1)) {
            console.print(&ancestry.text(trace, 1, args.lines))?;
        }
    }
    Ok(Exit::Done)
}
