//! `ctm bench --programs`: how long launches of the jobs in a folder take.
//!
//! A job runs as `ctm run` runs it. Only its launches are timed, each from its start until its results are in memory; the first, which compiles,
//! is reported by itself. Programs take turns, so that whatever else the machine does meets all of them.

use super::{engine, engine_name, isa_name};
use crate::args::bench::BenchArgs;
use crate::console::{Console, Ending, Exit, Failure};
use ctm::job::{Isa, Job, JobError, Reader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One job file, and the times of its launches so far.
struct TimedProgram {
    name: String,
    isa: Isa,
    job: Job,
    /// The first launch, which compiles.
    first: Duration,
    times: Vec<Duration>,
    /// Processor time of all threads; empty if the system does not report it.
    cpu: Vec<Duration>,
}

pub(super) fn run(console: &Console, args: &BenchArgs, directory: &Path) -> Ending {
    let mut programs = load(args, directory)?;
    for _ in 0..args.rounds.max(1) {
        for program in &mut programs {
            let runs = match args.seconds {
                None => args.runs.max(1),
                Some(seconds) => {
                    program.measure(args, 3)?;
                    let one = median(&mut program.times).as_secs_f64().max(1e-7);
                    // A whole number from 1 up: the conversion saturates.
                    (seconds / one).ceil().max(1.0) as u32
                }
            };
            program.measure(args, runs)?;
        }
    }
    print(console, args, &mut programs)
}

/// The requested jobs, by instruction set and name.
fn load(args: &BenchArgs, directory: &Path) -> Result<Vec<TimedProgram>, Failure> {
    let size = args.size.as_deref().map(size).transpose()?;
    let mut files = Vec::new();
    find(directory, &mut files)?;
    let name_of = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(unknown) = args.names.iter().find(|&n| !files.iter().any(|path| name_of(path) == *n)) {
        let message = format!("there is no job `{unknown}` in {}", directory.display());
        return Err(Failure::usage("unknown-program", message));
    }
    let mut programs = Vec::new();
    for path in files {
        let name = name_of(&path);
        if !args.names.is_empty() && !args.names.contains(&name) {
            continue;
        }
        let mut job = Reader::for_file(&path).and_then(Reader::finish)?;
        let isa = job.program_isa();
        if args.isa.is_some_and(|wanted| Isa::from(wanted) != isa) {
            continue;
        }
        if let Some(size) = size {
            job.stretch(size);
        }
        job.run.threads = args.threads;
        job.run.counters = false;
        programs.push(TimedProgram { name, isa, job, first: Duration::ZERO, times: Vec::new(), cpu: Vec::new() });
    }
    if programs.is_empty() {
        let message = format!("{} holds no job (.toml) to measure", directory.display());
        return Err(Failure::usage("no-programs", message));
    }
    programs.sort_by(|a, b| (isa_name(b.isa), &a.name).cmp(&(isa_name(a.isa), &b.name)));
    Ok(programs)
}

/// All job files in a folder and the folders in it; links to folders are not followed.
fn find(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let wrong =
        |e: std::io::Error| Failure::wrong("cannot-read", format!("{} cannot be read: {e}", directory.display()));
    let mut entries = std::fs::read_dir(directory).map_err(wrong)?.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(wrong)?.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
            files.push(path);
        }
    }
    Ok(())
}

/// `WxH`.
fn size(text: &str) -> Result<[u32; 2], Failure> {
    let side = |t: &str| t.trim().parse::<u32>().ok().filter(|n| (1..=4096).contains(n));
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| {
        Failure::usage(
            "bad-size",
            format!("the size is `{text}`; it is columns and rows, each 1 to 4096, such as 1024x1024"),
        )
    })
}

impl TimedProgram {
    /// One turn: a launch that compiles, and `runs` that count.
    fn measure(&mut self, args: &BenchArgs, runs: u32) -> Result<(), Failure> {
        let Self { name, job, first, times, cpu, .. } = self;
        job.repeat = runs.saturating_add(1);
        let mut before = (Duration::ZERO, cpu_time());
        let launches_of_job = job.passes.iter().map(|p| u64::from(p.repeat)).sum::<u64>().max(1);
        let result = job.run_on(engine(args.engine)?, |progress| {
            if progress.done % launches_of_job != 0 {
                return;
            }
            let now = (progress.elapsed, cpu_time());
            let wall = now.0.saturating_sub(before.0);
            if progress.done == launches_of_job {
                *first = wall;
            } else if progress.done > 0 {
                times.push(wall);
                cpu.extend(now.1.zip(before.1).map(|(now, before)| now.saturating_sub(before)));
            }
            before = now;
        });
        match result {
            Ok(_) => Ok(()),
            Err(e @ JobError::Fault(_)) => Err(Failure::wrong("fault", format!("{name}: {e}"))),
            Err(e) => Err(e.into()),
        }
    }
}

/// Processor time of all threads of this process until now.
#[cfg(target_os = "linux")]
#[allow(clippy::unnecessary_wraps, reason = "other systems do not tell")]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Option<Duration> {
    None
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn print(console: &Console, args: &BenchArgs, programs: &mut [TimedProgram]) -> Ending {
    let engine = engine_name(args.engine)?;
    let table = !args.json && !args.tsv;
    if table {
        let head = "| program | isa | domain | median ms | fastest ms | cpu ms | first ms | runs |\n|---|---|--:|--:|--:|--:|--:|--:|\n";
        console.print(head)?;
    }
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    for p in programs {
        let time = median(&mut p.times);
        let fastest = p.times.first().copied().unwrap_or_default();
        let cpu = if p.cpu.is_empty() { None } else { Some(ms(median(&mut p.cpu))) };
        let isa = isa_name(p.isa);
        let (first, runs) = (ms(p.first), p.times.len());
        let domain = p.job.passes.first().map(|pass| pass.domain);
        let domain = domain.map_or([0, 0], |d| [d.i1 - d.i0 + 1, d.j1 - d.j0 + 1]);
        let name = &p.name;
        let line = if args.json {
            let value = serde_json::json!({
                "program": name, "isa": isa, "engine": engine, "threads": args.threads, "domain": domain, "median_ms": ms(time),
                "fastest_ms": ms(fastest), "cpu_ms": cpu, "first_ms": first, "runs": runs,
            });
            format!("{value}\n")
        } else {
            let cpu = cpu.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3}"));
            let (time, fastest) = (ms(time), ms(fastest));
            if args.tsv {
                format!("RESULT\tctm-{isa}-{engine}\t{name}\t{time:.6}\t{fastest:.6}\t{cpu}\n")
            } else {
                let [w, h] = domain;
                format!("| {name} | {isa} | {w}x{h} | {time:.3} | {fastest:.3} | {cpu} | {first:.3} | {runs} |\n")
            }
        };
        console.print(&line)?;
    }
    if table {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if args.threads == 0 { cores } else { args.threads };
        console.print(&format!("\nEngine {engine}, {threads} of {cores} cores. `cpu` is the processor time of all threads for one launch.\n"))?;
    }
    Ok(Exit::Done)
}
