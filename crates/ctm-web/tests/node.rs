//! The same bits in WebAssembly as here: run vectors, and random programs of all machines, in node.
//!
//! `cargo xtask site-checks DIR` builds the engine with them; `CTM_SITE_CHECKS=DIR` names it. `CTM_PROGRAMS` is the number of random programs.
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use super::checks;
use std::path::PathBuf;
use std::process::Command;

/// The lines of a function of the engine in node.
fn in_node(folder: &str, arguments: &[&str]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/checks.mjs");
    let output = Command::new("node").arg(script).arg(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The built engine, or a message.
fn built() -> Option<String> {
    let folder = std::env::var("CTM_SITE_CHECKS").ok();
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if folder.is_none() || !has_node {
        println!("skipped: it needs node, and CTM_SITE_CHECKS, a folder that `cargo xtask site-checks` has made");
    }
    folder.filter(|_| has_node)
}

/// Programs here, on as many threads as there are cores.
fn here(count: u64) -> String {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let part = count.div_ceil(threads);
    std::thread::scope(|scope| {
        let begin = |n: u64| scope.spawn(move || checks::random(n * part, part.min(count.saturating_sub(n * part))));
        let running: Vec<_> = (0..threads).map(begin).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn random_programs_have_the_same_results_in_webassembly() {
    let number = std::env::var("CTM_PROGRAMS").ok().and_then(|number| number.parse().ok());
    let folder = built();
    let count = number.unwrap_or(if folder.is_some() { 10_000 } else { 200 });
    let native = here(count);
    assert_eq!(native.lines().count() as u64, count);
    let wrong: Vec<&str> = native.lines().filter(|line| line.contains("another")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // Programs that all fail alike would prove nothing.
    let mut digests: Vec<&str> = native.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    digests.sort_unstable();
    digests.dedup();
    assert!(digests.len() as u64 * 10 > count * 9, "{} different results of {count}", digests.len());
    let Some(folder) = folder else { return };
    let other = in_node(&folder, &["random", "0", &count.to_string()]);
    let differ = native.lines().zip(other.lines()).filter(|(native, other)| native != other);
    let differ: Vec<_> = differ.collect();
    assert!(differ.is_empty() && native.len() == other.len(), "{} of {count} differ: {differ:.10?}", differ.len());
}

#[test]
fn run_vectors_hold_in_webassembly() {
    assert_eq!(checks::vectors(), "");
    let Some(folder) = built() else { return };
    assert_eq!(in_node(&folder, &["vectors"]), "");
}
