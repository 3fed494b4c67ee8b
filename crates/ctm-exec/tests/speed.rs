//! How long the interpreter takes for a picture; run with `cargo test --release -p ctm-exec --test speed -- --ignored --nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
use ctm_isa::x1k::{Program, Words};
use std::time::Instant;

/// The corpus's `mandelbrot`, 512 x 512 with up to 255 turns.
#[test]
#[ignore = "a measurement"]
fn mandelbrot() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/x1k/mandelbrot.hex");
    let hex = |word: &str| u32::from_str_radix(word, 16).unwrap();
    let words: Vec<Words> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().map(hex).collect::<Vec<_>>().try_into().unwrap())
        .collect();
    let program = Program { zero_times_anything: true, ..Program::from_words(words) };
    let mut constants = Constants::default();
    constants.float[0] = [-0.75f32, 0.0, 1.25, 256.0].map(f32::to_bits);
    constants.int[0] = [255, 0, 0, 0];
    let plane = Plane {
        temp: 0,
        origin: [0.5 / 512.0, 0.5 / 512.0, 0.0, 0.0],
        di: [1.0 / 512.0, 0.0, 0.0, 0.0],
        dj: [0.0, 1.0 / 512.0, 0.0, 0.0],
        bits: false,
    };
    for (group, threads) in [(16, 0), (16, 1), (64, 0), (4, 0)] {
        let launch = Launch {
            program: &program,
            constants: &constants,
            planes: &[plane],
            rows: &[],
            domain: Domain { i0: 0, j0: 0, i1: 511, j1: 511 },
            group: GroupSize::new(group).unwrap(),
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: Budget::default(),
            threads,
            checks: false,
            counters: true,
        };
        let mut memory = Arrays::default();
        memory.outputs[0] = Some(Picture::filled(512, 512, [0.0; 4]));
        let start = Instant::now();
        let outcome = Interp.run_x1k(&launch, &mut memory).unwrap();
        println!("group {group}, threads {threads}: {:.2} s, {:?}", start.elapsed().as_secs_f64(), outcome.counters);
    }
}
