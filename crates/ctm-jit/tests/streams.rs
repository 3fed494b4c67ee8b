//! Launches in which every processor does the same, against the reference interpreter: the examples, and small programs for every way of
//! reading and writing.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod kit;

use ctm_exec::x1k::Interp;
use ctm_jit::{Backend, Jit};
use kit::{Array, Case, Surfaces, noise};

/// Runs with the interpreter and every back end; compares outputs and counters.
fn compare(name: &str, case: &Case, memory: &Surfaces) {
    let mut expected = memory.clone();
    let outcome = Case { threads: 1, ..case.clone() }.run(&Interp, &mut expected);
    for backend in Backend::available().filter(|&b| b != Backend::Portable) {
        for threads in [0, 1] {
            for direct in [true, false] {
                let mut found = Surfaces { direct, ..memory.clone() };
                let case = Case { threads, ..case.clone() };
                let found_outcome = case.run(&Jit::with_backend(backend), &mut found);
                assert_eq!(found_outcome, outcome, "{name}, {backend}, direct {direct}");
                for (target, (f, e)) in found.outputs.iter().zip(&expected.outputs).enumerate() {
                    for y in 0..e.height {
                        for x in 0..e.width {
                            assert_eq!(f.get(x, y), e.get(x, y), "{name}, {backend}, output {target}, ({x}, {y})");
                        }
                    }
                }
            }
        }
    }
}

fn array(width: u32, height: u32, channels: u8) -> Array {
    Array::new(width, height, channels, noise)
}

fn out(width: u32, height: u32, channels: u8) -> Array {
    Array::new(width, height, channels, |_, _, _| 7)
}

#[test]
fn the_examples_give_the_same() {
    for (w, h) in [(64, 32), (37, 41), (45, 33)] {
        let domain = [0, 0, w - 1, h - 1];
        let saxpy = Case::example("examples/saxpy/saxpy.x1k", domain).float("a", [2.5, 0.0, 0.0, 0.0]);
        let memory = Surfaces {
            inputs: vec![array(w, h, 4), array(w, h, 4)],
            outputs: vec![out(w, h, 4)],
            ..Surfaces::default()
        };
        compare("saxpy", &saxpy, &memory);
        let mut conv = Case::example("examples/conv5x5/conv5x5.x1k", domain);
        (1..26).for_each(|n| conv.constants.float[n] = [(n as f32 / 64.0).to_bits(), 0, 0, 0]);
        let memory = Surfaces { inputs: vec![array(w, h, 4)], outputs: vec![out(w, h, 4)], ..Surfaces::default() };
        compare("conv5x5", &conv, &memory);
        let options = Array::new(w, h, 4, |x, y, c| {
            let n = f32::from_bits(noise(x, y, c)) + 1.0;
            (0.1 + n * [20.0, 30.0, 4.0, 0.0][usize::from(c)]).to_bits()
        });
        let market = [0.02, 0.3, 0.065, 1.0 / 0.3];
        let black = Case::example("examples/black-scholes/black-scholes.x1k", domain).float("market", market);
        let memory = Surfaces { inputs: vec![options], outputs: vec![out(w, h, 4)], ..Surfaces::default() };
        compare("black-scholes", &black, &memory);
    }
    for n in [32, 80] {
        let case = Case::example("examples/matmul/matmul.x1k", [0, 0, n / 4 - 1 + 16, n - 1]);
        let case = case.int("blocks", [2, 0, 0]).int("steps", [(n / 8) as u8, 0, 0]);
        let memory = Surfaces {
            inputs: vec![array(n / 4, n, 4), array(n / 4 + 16, n, 4)],
            outputs: vec![out(n / 4 + 16, n, 4)],
            ..Surfaces::default()
        };
        compare("matmul", &case, &memory);
    }
    let bodies = 40;
    let nbody = Case::example("examples/nbody/nbody.x1k", [0, 0, bodies - 1, bodies - 1]);
    let nbody = nbody.float("k", [0.01, 0.1, 0.0, 0.0]).int("rows", [3, 0, 0]).int("columns", [bodies as u8, 0, 0]);
    let memory = Surfaces {
        inputs: vec![array(bodies, bodies, 4), array(bodies, bodies, 4)],
        outputs: vec![out(bodies, bodies, 4), out(bodies, bodies, 4)],
        ..Surfaces::default()
    };
    compare("nbody", &nbody, &memory);
    let sum = Case::example("bench/x1k/sum.x1k", [0, 0, 15, 79]).int("turns", [3, 0, 0]);
    let memory = Surfaces { inputs: vec![array(200, 80, 4)], outputs: vec![out(16, 80, 1)], ..Surfaces::default() };
    compare("sum", &sum, &memory);
}
