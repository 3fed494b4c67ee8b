//! The cost of a launch from a job: run by name only,
//! `cargo test --release -p ctm-jobs --test cost -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a measurement prints its table")]

use ctm_jobs::job::Job;
use ctm_testkit::clock::thread_time;
use std::fmt::Write as _;
use std::path::Path;

/// Launches of a job.
const LAUNCHES: u32 = 4096;
/// Jobs whose fastest one counts.
const ROUNDS: u32 = 8;

/// A program that adds `constants` constants to the position, for each instruction set.
fn text(is_r700: bool, constants: u8) -> String {
    let mut out = String::from(if is_r700 { ".stage pixel\nALU:\n" } else { ".output b = o0\n" });
    for n in 0..constants {
        let line = if is_r700 { " x: ADD R0.x, R0.x, C" } else { "add r0, r0, c" };
        writeln!(out, "{line}{n}{}", if is_r700 { ".x" } else { "" }).unwrap();
    }
    out + if is_r700 { "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n" } else { "mov b, r0\n" }
}

/// The job of `LAUNCHES` launches over 8 x 8 processors.
fn job(is_r700: bool, constants: u8) -> Job {
    let (program, slot) = if is_r700 { ("program.r700", "\"pix0\"") } else { ("program.x1k", "0") };
    let floats: String = (0..constants).map(|n| format!("{n} = [{n}.0, 1.0, 2.0, 3.0]\n")).collect();
    let text = format!(
        "[run]\nengine = \"jit\"\nthreads = 1\n[constants.float]\n{floats}[[pass]]\nprogram = \"{program}\"\n\
         domain = [0, 0, 7, 7]\nrepeat = {LAUNCHES}\n[[pass.output]]\nslot = {slot}\n"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join(program), self::text(is_r700, constants)).unwrap();
    Job::parse(&text, "job.toml", folder).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
#[ignore = "a measurement"]
fn launches_from_jobs() {
    println!("| instruction set | constants | us of processor time for a launch |\n|---|--:|--:|");
    for is_r700 in [false, true] {
        for constants in [1, 32] {
            let job = job(is_r700, constants);
            let fastest = (0..ROUNDS).map(|_| {
                let before = thread_time();
                job.run(|_| {}).unwrap_or_else(|e| panic!("{e}"));
                thread_time() - before
            });
            let us = fastest.min().unwrap() as f64 / 1e3 / f64::from(LAUNCHES);
            println!("| {} | {constants} | {us:.2} |", if is_r700 { "R700" } else { "X1K" });
        }
    }
}
