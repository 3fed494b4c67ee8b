//! `ctm bench`: kernels and folders of jobs, and a host without its needs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
#[cfg(target_os = "linux")]
use std::process::Command;

#[test]
fn bench_measures_every_kernel_and_checks_its_results() {
    let dir = Dir::new("bench");
    for isa in ["x1k", "r700"] {
        let table = dir.good(&["bench", "--isa", isa, "--quick", "--json", "--rounds", "1", "--runs", "2"]);
        let lines: Vec<serde_json::Value> = table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = lines.iter().map(|line| line["kernel"].as_str().unwrap()).collect();
        assert_eq!(names, ["saxpy", "mandelbrot", "sgemm", "conv5x5", "nbody", "black-scholes", "sum"]);
        assert!(lines.iter().all(|line| line["median_ms"].as_f64().unwrap() > 0.0 && line["runs"] == 2), "{table}");
    }
    let table = dir.good(&["bench", "saxpy", "--quick", "--engine", "interp", "--rounds", "1", "--runs", "1"]);
    assert!(table.contains("| saxpy |") && table.contains("engine interp"), "{table}");
    dir.bad(&["bench", "sexpy"], 2, &["`sexpy`", "saxpy, mandelbrot"]);
}

#[test]
fn bench_measures_the_jobs_of_a_folder() {
    let dir = Dir::new("bench-programs");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
    let once = ["--rounds", "1", "--runs", "2"];
    let of = |more: &[&str]| dir.good(&[&["bench", "--programs", corpus], &once[..], more].concat());
    let table = of(&["--json", "--size", "128x32", "fragcoord", "mrt2", "i_gcd"]);
    let lines: Vec<serde_json::Value> = table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_line = |line: &serde_json::Value| format!("{} {}", line["isa"], line["program"]).replace('"', "");
    let names: Vec<String> = lines.iter().map(of_line).collect();
    assert_eq!(names, ["x1k fragcoord", "x1k mrt2", "r700 fragcoord", "r700 i_gcd", "r700 mrt2"]);
    for line in &lines {
        let ms = |key: &str| line[key].as_f64().unwrap();
        assert_eq!(line["domain"], serde_json::json!([128, 32]), "{table}");
        assert!(ms("fastest_ms") > 0.0 && ms("fastest_ms") <= ms("median_ms") && line["runs"] == 2, "{table}");
        assert!(!cfg!(target_os = "linux") || ms("cpu_ms") > 0.0, "{table}");
    }
    let fields = of(&["--tsv", "--isa", "r700", "--engine", "interp", "mrt2"]);
    assert_eq!(fields.split('\t').take(3).collect::<Vec<_>>(), ["RESULT", "ctm-r700-interp", "mrt2"]);
    assert_eq!(fields.lines().count(), 1);
    assert!(of(&["mrt2"]).contains("| mrt2 | x1k | 64x64 |"));
    let seconds = dir.good(&[
        "bench",
        "--programs",
        corpus,
        "--seconds",
        "0.05",
        "--rounds",
        "1",
        "--isa",
        "x1k",
        "--json",
        "varying",
    ]);
    let line: serde_json::Value = serde_json::from_str(&seconds).unwrap();
    assert!(line["runs"].as_u64().unwrap() > 5, "{seconds}");

    dir.bad(&["bench", "--programs", corpus, "mrt3"], 2, &["no job `mrt3`"]);
    dir.bad(&["bench", "--programs", corpus, "--size", "0x7"], 2, &["`0x7`", "1 to 4096"]);
    dir.bad(&["bench", "--programs", "nowhere"], 1, &["nowhere", "cannot be read"]);
    dir.bad(&["bench", "--programs", "."], 2, &["no job"]);
    dir.bad(&["bench", "--size", "8x8"], 2, &["--programs"]);
}

#[test]
fn bench_measures_the_back_end_that_the_environment_names() {
    let dir = Dir::new("bench-environment");
    let once = ["bench", "saxpy", "--isa", "x1k", "--quick", "--tsv", "--rounds", "1", "--runs", "1"];
    let (code, table, stderr) = dir.ctm_under(&[("CTM_ENGINE_ISA", "portable")], &once);
    assert_eq!((code, stderr.as_str()), (0, ""), "{table}");
    assert!(table.starts_with("RESULT\tctm-x1k-jit-portable\tsaxpy\t"), "{table}");
    let (code, _, stderr) = dir.ctm_under(&[("CTM_ENGINE_ISA", "avx3")], &once);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("CTM_ENGINE_ISA: `avx3` is no back end of the engine"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_host_without_memory_is_told() {
    let script = format!("ulimit -v 150000; exec '{}' bench saxpy --runs 1 --threads 1", env!("CARGO_BIN_EXE_ctm"));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the host has no") && stderr.contains("for arena GPU"), "{stderr}");
}
