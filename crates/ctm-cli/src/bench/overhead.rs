//! `ctm bench --launch` and `--scaling`: the fixed cost of a launch, and whether the rest grows with their number.

use super::kernels::Size;
use super::session::BenchSession;
use super::{engine, engine_name};
use crate::args::bench::BenchArgs;
use crate::console::{Console, Ending, Exit, Failure};
use crate::values::IsaName;
use std::time::{Duration, Instant};

/// Launches whose mean is taken.
const LAUNCHES: u32 = 10_000;
/// Sides of the domains.
const SIDES: [u32; 4] = [64, 256, 1024, 4096];

/// The kernels to measure: those that were named, else these. Domains of others are no squares of any size.
fn chosen<'a>(args: &'a BenchArgs, usual: &[&'a str]) -> Result<Vec<&'a str>, Failure> {
    const SQUARE: [&str; 4] = ["saxpy", "mandelbrot", "conv5x5", "black-scholes"];
    if args.names.is_empty() {
        return Ok(usual.to_vec());
    }
    let one = |name: &'a String| match SQUARE.contains(&name.as_str()) {
        true => Ok(name.as_str()),
        false => {
            let names = SQUARE.join(", ");
            Err(Failure::usage("unknown-kernel", format!("`{name}` has no domain of any size; {names} have")))
        }
    };
    args.names.iter().map(one).collect()
}

fn session(name: &str, args: &BenchArgs, side: u32, threads: usize) -> Result<BenchSession, Failure> {
    let isa = args.isa.unwrap_or(IsaName::X1k).into();
    BenchSession::new(name, isa, Size::Side(side), engine(args.engine)?, threads)
}

/// The time of a launch of one processor: its command buffer submitted again and again.
pub(super) fn launch(console: &Console, args: &BenchArgs) -> Ending {
    let names = chosen(args, &["saxpy", "mandelbrot", "black-scholes"])?;
    console.print("| kernel | first us | mean us | fastest us |\n|---|--:|--:|--:|\n")?;
    for name in names {
        let mut session = session(name, args, 1, args.threads)?;
        let first = session.run()?;
        let mut fastest = Duration::MAX;
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            fastest = fastest.min(session.run()?);
        }
        let mean = start.elapsed() / LAUNCHES;
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        console.print(&format!("| {name} | {:.1} | {:.2} | {:.2} |\n", us(first), us(mean), us(fastest)))?;
    }
    console.print(&format!("\nEngine {}, {LAUNCHES} launches of one processor each.\n", engine_name(args.engine)?))?;
    Ok(Exit::Done)
}

/// The time per processor by domain size: the fastest run, because disturbances only add.
pub(super) fn scaling(console: &Console, args: &BenchArgs) -> Ending {
    let names = chosen(args, &["mandelbrot", "black-scholes"])?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if args.threads == 0 { cores } else { args.threads };
    console
        .print("| kernel | threads | 64 x 64 | 256 x 256 | 1024 x 1024 | 4096 x 4096 |\n|---|--:|--:|--:|--:|--:|\n")?;
    for name in names {
        let counts = if threads > 1 { vec![1, threads] } else { vec![1] };
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); counts.len()];
        for side in SIDES {
            let mut sessions: Vec<BenchSession> =
                counts.iter().map(|&threads| session(name, args, side, threads)).collect::<Result<_, _>>()?;
            let mut best = vec![Duration::MAX; sessions.len()];
            // About as many processors of each size, with one thread and with several in turns.
            let runs = (1 << 24 >> (2 * side.ilog2())).clamp(args.runs.max(1), 1000) + 1;
            for run in 0..runs {
                for (session, best) in sessions.iter_mut().zip(&mut best) {
                    let time = session.run()?;
                    // The first one compiles.
                    if run > 0 {
                        *best = (*best).min(time);
                    }
                }
            }
            let processors = f64::from(side) * f64::from(side);
            rows.iter_mut().zip(best).for_each(|(row, best)| row.push(best.as_secs_f64() * 1e9 / processors));
        }
        for (threads, row) in counts.iter().zip(&rows) {
            let cells: Vec<String> = row.iter().map(|ns| format!("{ns:.3}")).collect();
            console.print(&format!("| {name} | {threads} | {} |\n", cells.join(" | ")))?;
        }
        if let [one, several] = rows.as_slice() {
            let cells: Vec<String> = one.iter().zip(several).map(|(one, all)| format!("{:.2}x", one / all)).collect();
            console.print(&format!("| {name} | {threads} against 1 | {} |\n", cells.join(" | ")))?;
        }
    }
    let engine = engine_name(args.engine)?;
    console.print(&format!("\nNanoseconds for each processor, engine {engine}, the fastest of several runs.\n"))?;
    Ok(Exit::Done)
}
