//! The Python package: built, installed into an environment of its own, and tested, where Python is there.
//!
//! Nothing has to be installed by hand: where there is no `maturin`, an environment below `target` gets one from the package index. Without Python, its module `venv`
//! or the network the step is skipped, and says so.

use crate::install::{self, Profile, target};
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
    let Some(maturin) = maturin() else { return Ok(None) };
    let wheels = root().join("target/wheels");
    // Earlier builds are stale.
    if let Ok(entries) = std::fs::read_dir(&wheels) {
        for entry in entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "whl")) {
            std::fs::remove_file(entry.path()).map_err(|e| format!("{}: {e}", entry.path().display()))?;
        }
    }
    let mut build = Command::new(maturin);
    build.args(["build", "--profile", "wheel", "--manifest-path", "python/Cargo.toml", "--out"]).arg(&wheels);
    run(build.current_dir(root()))?;
    let entries = std::fs::read_dir(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    let found = entries.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|x| x == "whl"));
    found.map(Some).ok_or_else(|| "maturin has built no wheel".to_owned())
}

/// Builds the wheel, and installs and tests it with each of these interpreters; with the usual one where none is named.
pub(crate) fn check(interpreters: &[&str]) -> Result<(), String> {
    let Some(wheel) = wheel()? else { return Ok(()) };
    let interpreters = if interpreters.is_empty() { &[PYTHON] } else { interpreters };
    interpreters.iter().try_for_each(|interpreter| {
        let Some(environment) = environment(interpreter, "python", TESTS) else { return Ok(()) };
        let mut install = Command::new(program(&environment, "python"));
        run(install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(&wheel))?;
        check_in(&environment, None)
    })
}

/// Tests the package without a wheel: the modules beside the library that the workspace was built with, in the profile of tests.
pub(crate) fn check_built() -> Result<(), String> {
    let Some(environment) = environment(PYTHON, "python", &[&["numpy"], TESTS].concat()) else { return Ok(()) };
    install::build(Profile::Dev)?;
    let modules = target().join("python-modules");
    install::copy_tree(&root().join("python/python"), &modules)?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = target().join(format!("debug/{prefix}_native{suffix}"));
    let extension = if cfg!(windows) { "pyd" } else { "abi3.so" };
    install::copy(&library, &modules.join(format!("ctm/_native.{extension}")))?;
    check_in(&environment, Some(&modules))
}

/// Runs the tests and the examples in an environment, with these modules.
fn check_in(environment: &Path, modules: Option<&Path>) -> Result<(), String> {
    let python = || {
        let mut python = Command::new(program(environment, "python"));
        modules.into_iter().for_each(|modules| _ = python.env("PYTHONPATH", modules));
        python
    };
    say(&format!("== tested in {}", environment.display()));
    run(python().args(["-m", "pytest", "-q"]).current_dir(root().join("python")))?;
    let picture = environment.join("mandelbrot.png");
    run(python().arg(root().join("examples/python/mandelbrot.py")).arg(picture))?;
    run(python().arg(root().join("examples/python/dask_sweep.py")).arg("1024"))
}
