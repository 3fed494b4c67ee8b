//! The Python package: built, installed into an environment of its own, and tested, where Python is there.
//!
//! Nothing has to be installed by hand: where there is no `maturin`, an environment below `target` gets one from the package index. Without Python, its module `venv`
//! or the network the step is skipped, and says so.

use crate::install::Profile;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xtask::{root, run, say};

/// Dependencies of the tests besides the wheel.
const TESTS: &[&str] = &["pytest", "hypothesis", "dask[array]", "distributed", "zarr"];

/// Whether a command can be run.
fn is_there(command: &Path) -> bool {
    let status = Command::new(command).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A program of an environment.
fn program(environment: &Path, name: &str) -> PathBuf {
    let directory = if cfg!(windows) { "Scripts" } else { "bin" };
    environment.join(directory).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The obstacle, if a command that depends on the machine or the network does not succeed.
fn attempt(command: &mut Command, what: &str) -> bool {
    let output = command.output();
    if output.as_ref().is_ok_and(|output| output.status.success()) {
        return true;
    }
    let why = match output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or("no message").trim().to_owned(),
        Err(error) => error.to_string(),
    };
    say(&format!("skipped: {what}: {why}"));
    false
}

/// The default Python interpreter.
const PYTHON: &str = "python3";

/// A new environment of an interpreter; `None`, with a message, if it cannot be made or lacks a dependency.
fn environment(interpreter: &str, name: &str, packages: &[&str]) -> Option<PathBuf> {
    if !is_there(Path::new(interpreter)) {
        say(&format!("skipped: there is no {interpreter}, which the Python package is built for"));
        return None;
    }
    let place = root().join("target").join(name);
    let mut make = Command::new(interpreter);
    make.args(["-m", "venv", "--clear"]).arg(&place);
    let mut install = Command::new(program(&place, "python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    let made = attempt(&mut make, &format!("{interpreter} makes no environment (its module venv is missing?)"))
        && attempt(&mut install, &format!("pip cannot install {} (no network?)", packages.join(", ")));
    made.then_some(place)
}

/// Where maturin is, the caller's or one of ours.
fn maturin() -> Option<PathBuf> {
    let own = program(&root().join("target/maturin"), "maturin");
    let found = [PathBuf::from("maturin"), own.clone()].into_iter().find(|command| is_there(command));
    found.or_else(|| environment(PYTHON, "maturin", &["maturin>=1.7,<2"]).map(|_| own))
}

/// Builds the wheel as it is published; `None` where there is no maturin, after a message.
pub(crate) fn wheel() -> Result<Option<PathBuf>, String> {
    build(None)
}

/// `for_tests`: with this profile, the build reuses the crates of that profile's command, so it does not optimise across crates.
fn build(for_tests: Option<Profile>) -> Result<Option<PathBuf>, String> {
    let Some(maturin) = maturin() else { return Ok(None) };
    let wheels = root().join("target/wheels");
    // Earlier builds are stale.
    if let Ok(entries) = std::fs::read_dir(&wheels) {
        for entry in entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "whl")) {
            std::fs::remove_file(entry.path()).map_err(|e| format!("{}: {e}", entry.path().display()))?;
        }
    }
    let mut build = Command::new(maturin);
    build.args(["build", "--manifest-path", "python/Cargo.toml", "--out"]).arg(&wheels);
    if for_tests != Some(Profile::Dev) {
        build.arg("--release");
    }
    if for_tests.is_some() {
        build.env("CARGO_PROFILE_RELEASE_LTO", "false").env("CARGO_TARGET_DIR", root().join("target"));
    }
    run(build.current_dir(root()))?;
    let entries = std::fs::read_dir(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    let found = entries.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|x| x == "whl"));
    found.map(Some).ok_or_else(|| "maturin has built no wheel".to_owned())
}

/// Builds the package, and installs and tests it with each of these interpreters; with the usual one where none is named.
pub(crate) fn check(interpreters: &[&str], profile: Profile) -> Result<(), String> {
    let Some(wheel) = build(Some(profile))? else { return Ok(()) };
    let interpreters = if interpreters.is_empty() { &[PYTHON] } else { interpreters };
    interpreters.iter().try_for_each(|interpreter| check_with(interpreter, &wheel))
}

fn check_with(interpreter: &str, wheel: &Path) -> Result<(), String> {
    say(&format!("== tested with {interpreter}"));
    let Some(environment) = environment(interpreter, "python", TESTS) else { return Ok(()) };
    let python = program(&environment, "python");
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(wheel))?;
    run(Command::new(&python).args(["-m", "pytest", "-q"]).current_dir(root().join("python")))?;
    let picture = environment.join("mandelbrot.png");
    run(Command::new(&python).arg(root().join("examples/python/mandelbrot.py")).arg(picture))?;
    run(Command::new(&python).arg(root().join("examples/python/dask_sweep.py")).arg("1024"))
}
