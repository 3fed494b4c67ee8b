//! `ctm profile`.

use crate::console::{Console, Ending, Exit, Failure};
use crate::watched::{LaunchArgs, position};
use clap::{Args, ValueEnum};
use ctm::array::{Array, ArrayFileKind, Values};
use ctm::job::{AnyProgram, JobError};
use ctm::trace::{Count, Limits, Profile, Trace};
use ctm_exec::Position;
use ctm_isa::r700::inst::ClauseBody;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Count executions, lanes and clocks of every instruction of a launch
///
/// The launch runs on the reference interpreter; launches before it run on the job's engine. No file of the job is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm profile job.toml                                beside the listing
  ctm profile job.toml -o profile.html                .txt, .json, .html; .dot and .svg: the control flow that was executed
  ctm profile job.toml --map iterations -o map.png    a picture: brighter is more; also .npy
  ctm profile job.toml --live --at 35,22              live ranges, pressure and the longest chain of one processor

Counts: `runs` is how often groups executed the line, `lanes` how many covered lanes did on average, `split` in how many of these executions some
covered lanes waited. Clocks are those of docs/clocks.md.")]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) launch: LaunchArgs,
    /// The output file; the extension selects its form: .txt, .json, .html, .dot, .svg; with --map .png, .npy
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// A picture of a count for each processor
    #[arg(long, value_enum, value_name = "COUNT", requires = "output", conflicts_with = "live")]
    pub(crate) map: Option<Map>,
    /// Live ranges, pressure and the longest chain of dependent instructions, of one processor
    #[arg(long)]
    pub(crate) live: bool,
    /// The processor for --live: column,row; the first one of the domain when left out
    #[arg(long, value_name = "I,J", value_parser = position, requires = "live")]
    pub(crate) at: Option<Position>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The quantity of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Map {
    /// Instructions that the processor executed
    Instructions,
    /// How often it executed the instruction that it executed most
    Iterations,
    /// Instructions of its group for which it waited
    Divergence,
}

pub(crate) fn run(console: &Console, args: &ProfileArgs) -> Ending {
    if args.live {
        return live(console, args);
    }
    let subject = args.launch.subject()?;
    let chosen = subject.choose(args.launch.choice(), None)?;
    let profile = Profile::of(&subject, &chosen)?;
    if let Some(fault) = &profile.fault {
        console.note(&format!("the launch faults; what is counted ends there: {fault}"));
    }
    if let (Some(map), Some(path)) = (args.map, &args.output) {
        save_map(console, &profile, map, path)?;
        return Ok(Exit::Done);
    }
    let slots = slots(&chosen.program.program, &profile);
    let extension = args.output.as_deref().and_then(Path::extension).and_then(|e| e.to_str()).unwrap_or("");
    let text = match (extension, args.json) {
        ("json", _) | ("" | "txt", true) => format!("{}\n", as_json(&profile, slots)),
        ("" | "txt", false) => as_text(&profile, slots),
        ("html", _) => as_html(&profile, slots),
        ("dot", _) => profile.dot(),
        ("svg", _) => profile.svg(),
        (other, _) => {
            let message = format!("`.{other}` names no form of profile; there are .txt, .json, .html, .dot, .svg");
            return Err(Failure::usage("unknown-extension", message));
        }
    };
    match &args.output {
        Some(path) => console.write(path, text.as_bytes())?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// R700: instructions in executed groups, of five slots each: how many, and how many there could have been.
fn slots(program: &AnyProgram, profile: &Profile) -> Option<(u64, u64)> {
    let AnyProgram::R700(program) = program else { return None };
    let decoded = program.decode();
    let (mut used, mut all) = (0, 0);
    for (at, count) in profile.counts.iter().filter(|(at, _)| !at.fetch) {
        if let (Some(item), Some(ClauseBody::Alu(clause))) = (at.item, decoded.at(at.pc).map(|entry| &entry.clause))
            && let Some(group) = clause.groups.get(usize::from(item))
        {
            used += group.slots.len() as u64 * count.executed;
            all += 5 * count.executed;
        }
    }
    Some((used, all))
}

#[allow(clippy::cast_precision_loss, reason = "numbers for people")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn clocks(count: &Count) -> u64 {
    count.cost.alu_clocks + count.cost.tex_clocks + count.cost.fc_clocks
}

fn summary(profile: &Profile, slots: Option<(u64, u64)>) -> String {
    let total = profile.total();
    let mut out = format!(
        "{} instructions, {:.1} lanes on average, {:.1} % of covered lanes active, {} fetches of {} bytes, {} clocks\n",
        total.executed,
        share(total.lanes, total.executed),
        100.0 * share(total.lanes, total.covered),
        total.cost.fetches,
        total.cost.fetch_bytes,
        clocks(&total)
    );
    if let Some((used, all)) = slots {
        let _ = writeln!(out, "{used} of {all} slots of executed groups are used ({:.1} %)", 100.0 * share(used, all));
    }
    out
}

fn as_text(profile: &Profile, slots: Option<(u64, u64)>) -> String {
    let mut out = summary(profile, slots);
    let _ = writeln!(out, "lines of {}", profile.listing.name);
    let _ =
        writeln!(out, "{:>10} {:>6} {:>6} {:>9} {:>10} {:>10}", "runs", "lanes", "split", "fetches", "bytes", "clocks");
    for (n, line) in (1..).zip(&profile.listing.lines) {
        match profile.of_line(n) {
            None => {
                let _ = writeln!(out, "{:56}{n:>5}  {}", "", line.text);
            }
            Some(count) => {
                let _ = writeln!(
                    out,
                    "{:>10} {:>6.1} {:>5.0}% {:>9} {:>10} {:>10} {n:>5}  {}",
                    count.executed,
                    share(count.lanes, count.executed),
                    100.0 * share(count.divergent, count.executed),
                    count.cost.fetches,
                    count.cost.fetch_bytes,
                    clocks(&count),
                    line.text
                );
            }
        }
    }
    out.push_str(&glsl_text(profile));
    out
}

/// The counts of each line of the GLSL that the program was compiled from, where it is known.
fn glsl_text(profile: &Profile) -> String {
    let Some(glsl) = &profile.listing.glsl else { return String::new() };
    let mut all = BTreeMap::<usize, (u64, Vec<usize>)>::new();
    for (line, of) in profile.listing.glsl_pairs() {
        let (sum, lines) = all.entry(of).or_default();
        *sum += profile.of_line(line).map_or(0, |count| clocks(&count));
        lines.push(line);
    }
    let mut out = format!("\n{:>10}  lines of {}; clocks of a group are with its first line\n", "clocks", glsl.name);
    for (n, text) in (1..).zip(&glsl.lines) {
        let (sum, of) = all.get(&n).map_or((String::new(), String::new()), |(sum, lines)| {
            let names: Vec<String> = lines.iter().map(ToString::to_string).collect();
            (sum.to_string(), format!("   <- {}", names.join(" ")))
        });
        let _ = writeln!(out, "{sum:>10} {n:>5}  {text}{of}");
    }
    out
}

fn as_json(profile: &Profile, slots: Option<(u64, u64)>) -> Value {
    let count = |count: &Count| {
        json!({
            "executed": count.executed,
            "lanes": count.lanes,
            "covered": count.covered,
            "divergent": count.divergent,
            "fetches": count.cost.fetches,
            "fetch_bytes": count.cost.fetch_bytes,
            "clocks": { "alu": count.cost.alu_clocks, "tex": count.cost.tex_clocks, "fc": count.cost.fc_clocks },
        })
    };
    let instructions: Vec<Value> = profile
        .counts
        .iter()
        .map(|(at, of)| {
            let mut value = count(of);
            value["pc"] = at.pc.into();
            value["item"] = at.item.into();
            value["line"] = profile.listing.line(*at).into();
            value["text"] = profile.listing.text(*at).into();
            value["glsl_line"] = profile.listing.glsl.as_ref().and_then(|glsl| glsl.line(*at)).into();
            value
        })
        .collect();
    json!({
        "program": profile.listing.name,
        "glsl": profile.listing.glsl.as_ref().map(|glsl| &glsl.name),
        "total": count(&profile.total()),
        "slots": slots.map(|(used, all)| json!({ "used": used, "all": all })),
        "instructions": instructions,
        "fault": profile.fault.as_ref().map(ToString::to_string),
    })
}

/// The page of a profile.
const PAGE: &str = include_str!("profile/page.html");

fn as_html(profile: &Profile, slots: Option<(u64, u64)>) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let most = profile.counts.values().map(clocks).max().unwrap_or(1).max(1);
    let mut rows = String::new();
    for (n, line) in (1..).zip(&profile.listing.lines) {
        let text = escaped(&line.text);
        let _ = match profile.of_line(n) {
            None => writeln!(rows, "<tr><td colspan=\"6\"></td><td class=n>{n}</td><td class=c>{text}</td></tr>"),
            Some(count) => writeln!(
                rows,
                "<tr style=\"--heat:{:.3}\"><td>{}</td><td>{:.1}</td><td>{:.0}%</td><td>{}</td><td>{}</td><td>{}</td><td class=n>{n}</td><td class=c>{text}</td></tr>",
                share(clocks(&count), most).min(1.0),
                count.executed,
                share(count.lanes, count.executed),
                100.0 * share(count.divergent, count.executed),
                count.cost.fetches,
                count.cost.fetch_bytes,
                clocks(&count),
            ),
        };
    }
    PAGE.replace("@PALETTE@", ctm::trace::PALETTE)
        .replace("@TITLE@", &escaped(&profile.listing.name))
        .replace("@SUMMARY@", &escaped(&summary(profile, slots)))
        .replace("@GRAPH@", &profile.svg())
        .replace("@ROWS@", &rows)
}

/// A count for each processor as a picture: black is none, white the most there is.
fn save_map(console: &Console, profile: &Profile, map: Map, path: &Path) -> Result<(), Failure> {
    let counts = match map {
        Map::Instructions => &profile.instructions,
        Map::Iterations => &profile.iterations,
        Map::Divergence => &profile.waited,
    };
    let kind = ArrayFileKind::of(path).ok_or_else(|| {
        let message = format!("{} names no kind of array; known are {}", path.display(), ArrayFileKind::EXTENSIONS);
        Failure::usage("unknown-extension", message)
    })?;
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    // Pictures go from 0 to 1; arrays hold the counts themselves.
    let scale = if kind == ArrayFileKind::Png { f64::from(most) } else { 1.0 };
    #[allow(clippy::cast_possible_truncation, reason = "counts of a picture")]
    let values = counts.iter().map(|&n| (f64::from(n) / scale) as f32).collect();
    let (width, height) = (profile.domain.width() as usize, profile.domain.height() as usize);
    let array = Array { width, height, channels: 1, values: Values::F32(values) };
    let bytes = array
        .to_bytes(kind)
        .map_err(|e| Failure::wrong("cannot-write", format!("{} cannot be written: {e}", path.display())))?;
    console.write(path, &bytes)
}

fn live(console: &Console, args: &ProfileArgs) -> Ending {
    let (subject, chosen, at) = args.launch.chosen(args.at)?;
    let limits = Limits { quad_only: true, ..Limits::default() };
    let trace = Trace::of(&subject, &chosen, at, &limits).map_err(JobError::from)?;
    let live = trace.liveness(trace.lane);
    let most = live.pressure.iter().copied().max().unwrap_or(0);
    let busiest = live.pressure.iter().position(|&n| n == most);
    if args.json {
        let ranges: Vec<Value> = live
            .ranges
            .iter()
            .map(|range| json!({ "place": range.place.to_string(), "from": range.from, "to": range.to }))
            .collect();
        let value =
            json!({ "pressure": most, "ranges": ranges, "chain": live.chain.len(), "executed": trace.executed });
        console.print(&format!("{value}\n"))?;
        return Ok(Exit::Done);
    }
    let mut out = format!("{}\n", trace.title());
    let unread = live.ranges.iter().filter(|range| range.to.is_none()).count();
    let _ = writeln!(
        out,
        "{} values in registers, {unread} of them never read; at most {most} live at once",
        live.ranges.len()
    );
    if let Some(step) = busiest.and_then(|n| trace.steps.get(n)) {
        let line = trace.listing.line(step.event.at).unwrap_or(0);
        let _ =
            writeln!(out, "most live before time {}, line {line}: {}", step.time, trace.listing.text(step.event.at));
    }
    let _ = writeln!(out, "the longest chain of dependent instructions has {} of {}", live.chain.len(), trace.executed);
    let _ = writeln!(out, "\n{:>8} {:>8} {:>5}  live", "from", "to", "line");
    for range in live.ranges.iter().take(400) {
        let from = range.from.map_or("start".into(), |from| from.to_string());
        let to = range.to.map_or("never".into(), |to| to.to_string());
        let step = range.from.and_then(|from| trace.steps.iter().find(|step| step.time == from));
        let line =
            step.and_then(|step| trace.listing.line(step.event.at)).map_or(String::new(), |line| line.to_string());
        let _ = writeln!(out, "{from:>8} {to:>8} {line:>5}  {}", range.place);
    }
    if live.ranges.len() > 400 {
        let _ = writeln!(out, "... {} values more; --json has all", live.ranges.len() - 400);
    }
    console.print(&out)?;
    Ok(Exit::Done)
}
