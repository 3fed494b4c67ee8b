//! `ctm bench`: how fast programs run on this machine.
//!
//! Each kernel is set up once: a device, arrays of random numbers in its memory, one command buffer. The timed part is submitting that
//! buffer until its results are in memory, as any client of the device would. The first run, which compiles, is reported by itself. Kernels take
//! turns, so that whatever else the machine does meets all of them. Results are compared with a computation in double precision.

mod kernels;
mod overhead;
mod programs;
mod session;

use crate::args::bench::{BenchArgs, BenchEngine};
use crate::console::{Console, Ending, Exit, Failure};
use crate::values::IsaName;
use ctm::job::Isa;
use ctm_exec::{Engine, Interp};
use ctm_jit::{Backend, Jit};
use kernels::{Size, WorkUnit, names};
use session::BenchSession;
use std::time::Duration;

struct Measured {
    session: BenchSession,
    first: Duration,
    times: Vec<Duration>,
}

impl Measured {
    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

pub(crate) fn run(console: &Console, args: &BenchArgs) -> Ending {
    if args.launch {
        return overhead::launch(console, args);
    }
    if args.scaling {
        return overhead::scaling(console, args);
    }
    if let Some(directory) = &args.programs {
        return programs::run(console, args, directory);
    }
    let size = if args.quick { Size::Quick } else { Size::Full };
    let chosen: Vec<&str> =
        if args.names.is_empty() { names() } else { args.names.iter().map(String::as_str).collect() };
    let isa = args.isa.unwrap_or(IsaName::X1k).into();
    let mut measured = Vec::new();
    for name in chosen {
        let mut session = BenchSession::new(name, isa, size, engine(args.engine)?, args.threads)?;
        let first = session.run()?;
        session.check()?;
        measured.push(Measured { session, first, times: Vec::new() });
    }
    let runs = args.runs.max(1);
    for _ in 0..args.rounds.max(1) {
        for m in &mut measured {
            // One run to bring caches back, then those that count.
            m.session.run()?;
            for _ in 0..runs {
                let time = m.session.run()?;
                m.times.push(time);
            }
        }
    }
    for m in &measured {
        m.session.check()?;
    }
    let engine = engine_name(args.engine)?;
    let isa_name = isa_name(isa);
    if !args.json && !args.tsv {
        console
            .print("| kernel | what | median ms | fastest ms | rate | first run ms |\n|---|---|--:|--:|--:|--:|\n")?;
    }
    for m in &mut measured {
        let (median, fastest) = (m.median(), m.times[0]);
        let kernel = &m.session.kernel;
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let line = if args.json {
            let value = serde_json::json!({
                "kernel": kernel.name, "isa": isa_name, "engine": engine, "threads": args.threads, "median_ms": ms(median),
                "fastest_ms": ms(fastest), "first_ms": ms(m.first), "runs": m.times.len(),
            });
            format!("{value}\n")
        } else if args.tsv {
            format!("RESULT\tctm-{isa_name}-{engine}\t{}\t{:.6}\n", kernel.name, ms(median))
        } else {
            let rate = rate(kernel.work / median.as_secs_f64(), kernel.unit);
            let (name, summary) = (kernel.name, &kernel.summary);
            format!("| {name} | {summary} | {:.3} | {:.3} | {rate} | {:.3} |\n", ms(median), ms(fastest), ms(m.first))
        };
        console.print(&line)?;
    }
    if !args.json && !args.tsv {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if args.threads == 0 { cores } else { args.threads };
        let runs = measured.first().map_or(0, |m| m.times.len());
        console.print(&format!(
            "\nPrograms of {isa_name}, engine {engine}, {threads} of {cores} cores, {runs} runs each.\n"
        ))?;
    }
    Ok(Exit::Done)
}

const fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::X1k => "x1k",
        Isa::R700 => "r700",
    }
}

fn rate(per_second: f64, unit: WorkUnit) -> String {
    match unit {
        WorkUnit::Bytes => format!("{:.1} GB/s", per_second / 1e9),
        WorkUnit::Operations => format!("{:.1} GFLOP/s", per_second / 1e9),
        WorkUnit::Elements => format!("{:.0} M/s", per_second / 1e6),
    }
}

fn backend(kind: BenchEngine) -> Result<Option<Backend>, Failure> {
    let backend = match kind {
        BenchEngine::Interp => return Ok(None),
        BenchEngine::Jit => Backend::from_environment(),
        BenchEngine::Avx512 => Backend::named("avx512"),
        BenchEngine::Avx2 => Backend::named("avx2"),
        BenchEngine::Cranelift => Backend::named("cranelift"),
        BenchEngine::Portable => Backend::named("portable"),
    };
    backend.map(Some).map_err(|error| Failure::usage("no-back-end", error.to_string()))
}

/// A new engine of this kind.
fn engine(kind: BenchEngine) -> Result<Box<dyn Engine>, Failure> {
    ctm_jit::check_passes().map_err(|error| Failure::usage("no-pass", error.to_string()))?;
    Ok(match backend(kind)? {
        None => Box::new(Interp),
        Some(backend) => Box::new(Jit::with_backend(backend)),
    })
}

fn engine_name(kind: BenchEngine) -> Result<String, Failure> {
    Ok(match backend(kind)? {
        None => "interp".to_owned(),
        Some(backend) => format!("jit-{}", backend.name()),
    })
}
