//! The times of the kernels of `docs/performance.md`, straight on the engine.
//!
//! `cargo test --release -p ctm-jit --test suite -- peers --ignored --nocapture`; with `CTM_COUNTERS` everything is counted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and stops at what it did not expect"
)]

use ctm_jit::{Backend, Jit};
use ctm_testkit::clock::thread_time;
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces, noise};
use std::time::Instant;

/// Runs with every back end that makes machine code, in turns; gives the least of each.
fn measure(name: &str, case: &Case, memory: &mut Surfaces) {
    memory.direct = true;
    let backends: Vec<Backend> = Backend::available().filter(|&b| b != Backend::Portable).collect();
    let engines: Vec<Jit> = backends.iter().map(|&backend| Jit::with_backend(backend)).collect();
    for threads in [1, 0] {
        let case = Case { threads, counters: std::env::var_os("CTM_COUNTERS").is_some(), ..case.clone() };
        let mut first = Vec::new();
        for engine in &engines {
            let start = Instant::now();
            case.run(engine, memory).unwrap();
            first.push(start.elapsed().as_secs_f64());
        }
        let mut least = vec![(f64::INFINITY, f64::INFINITY); engines.len()];
        for _ in 0..30 {
            for (engine, (wall, own)) in engines.iter().zip(&mut least) {
                let (start, busy) = (Instant::now(), thread_time());
                case.run(engine, memory).unwrap();
                *wall = wall.min(start.elapsed().as_secs_f64());
                *own = own.min((thread_time() - busy) as f64 * 1e-9);
            }
        }
        for ((backend, first), (wall, own)) in backends.iter().zip(first).zip(&least) {
            let own_ratio = own / least[0].1;
            let own = if threads == 1 {
                format!(", thread time {:.3} ms ({own_ratio:.2})", own * 1e3)
            } else {
                String::new()
            };
            println!("{name}, {backend}, {threads} threads: {:.3} ms{own} (first {:.3} ms)", wall * 1e3, first * 1e3);
        }
    }
}

fn array(width: u32, height: u32) -> PaddedArray {
    PaddedArray::with_pitch(width, [width, height], 4, noise)
}

fn out(width: u32, height: u32, channels: u8) -> PaddedArray {
    PaddedArray::with_pitch(width, [width, height], channels, |_, _, _| 0)
}

fn wanted(name: &str) -> bool {
    std::env::var("CTM_KERNEL").map_or(true, |kernel| name.starts_with(&kernel))
}

#[test]
#[ignore = "a measurement"]
fn kernels() {
    if wanted("saxpy") {
        let case = Case::example("examples/saxpy/saxpy.x1k", [0, 0, 2047, 2047]).float("a", [2.5, 0.0, 0.0, 0.0]);
        let inputs = vec![array(2048, 2048), array(2048, 2048)];
        measure("saxpy 16M", &case, &mut Surfaces { inputs, outputs: vec![out(2048, 2048, 4)], ..Surfaces::default() });
    }
    if wanted("mandelbrot") {
        let case = Case::example("bench/x1k/mandelbrot.x1k", [0, 0, 1023, 1023])
            .float("view", [-2.0, -1.5, 3.0 / 1024.0, 0.0]);
        measure("mandelbrot 1024", &case, &mut Surfaces { outputs: vec![out(1024, 1024, 1)], ..Surfaces::default() });
    }
    if wanted("sgemm") {
        let case = Case::example("examples/matmul/matmul.x1k", [0, 0, 255, 1023])
            .int("blocks", [4, 0, 0])
            .int("steps", [64, 0, 0]);
        let inputs = vec![array(256, 1024), array(256, 1024)];
        measure("sgemm 1024", &case, &mut Surfaces { inputs, outputs: vec![out(256, 1024, 4)], ..Surfaces::default() });
    }
    if wanted("conv") {
        let mut case = Case::example("examples/conv5x5/conv5x5.x1k", [0, 0, 2047, 2047]);
        (1..26).for_each(|n| case.constants.float[n] = [(n as f32 / 64.0).to_bits(), 0, 0, 0]);
        let inputs = vec![array(2048, 2048)];
        measure(
            "conv5x5 2048",
            &case,
            &mut Surfaces { inputs, outputs: vec![out(2048, 2048, 4)], ..Surfaces::default() },
        );
    }
    if wanted("n-body") {
        let case = Case::example("examples/nbody/nbody.x1k", [0, 0, 63, 63]).float("k", [0.01, 0.1, 0.0, 0.0]);
        let case = case.int("rows", [64, 0, 0]).int("columns", [64, 0, 0]);
        let inputs = vec![array(64, 64), array(64, 64)];
        let outputs = vec![out(64, 64, 4), out(64, 64, 4)];
        measure("n-body 4096", &case, &mut Surfaces { inputs, outputs, ..Surfaces::default() });
    }
    if wanted("black-scholes") {
        let options = PaddedArray::new(2048, 2048, 4, |x, y, c| {
            let n = f32::from_bits(noise(x, y, c)).mul_add(0.5, 0.5);
            let (low, high) = [(5.0, 30.0), (1.0, 100.0), (0.25, 10.0), (0.0, 0.0)][usize::from(c)];
            (low + n * (high - low)).to_bits()
        });
        let market = [0.02, 0.3, 0.065, 1.0 / 0.3];
        let case =
            Case::example("examples/black-scholes/black-scholes.x1k", [0, 0, 2047, 2047]).float("market", market);
        measure(
            "black-scholes 4M",
            &case,
            &mut Surfaces { inputs: vec![options], outputs: vec![out(2048, 2048, 4)], ..Surfaces::default() },
        );
    }
    if wanted("sum") {
        let case = Case::example("bench/x1k/sum.x1k", [0, 0, 15, 1023]).int("turns", [64, 0, 0]);
        let inputs = vec![array(4096, 1024)];
        measure("sum 16M", &case, &mut Surfaces { inputs, outputs: vec![out(16, 1024, 1)], ..Surfaces::default() });
    }
}
