//! The parts that all chores share: where the project lies, and how they run commands and report progress.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line of progress.
#[allow(clippy::print_stderr, reason = "a program for people")]
pub fn say(text: &str) {
    eprintln!("{text}");
}

/// The workspace's directory.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Runs cargo in the workspace's directory, with further variables; `what` is the line of progress.
///
/// # Errors
///
/// As [`run`].
pub fn cargo(what: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    say(&format!("== {what}"));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(arguments).envs(environment.iter().copied()).current_dir(root());
    run(&mut command)
}

/// The packages of the workspace, as `cargo metadata` describes them.
///
/// # Errors
///
/// When cargo cannot be run, or lists none.
pub fn packages() -> Result<Vec<Value>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--no-deps"]).current_dir(root());
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    let mut metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata lists no packages".to_owned()),
    }
}

/// Runs a command.
///
/// # Errors
///
/// The command line, and how it ended.
pub fn run(command: &mut Command) -> Result<(), String> {
    let line = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{line} ended with {status}")),
        Err(e) => Err(format!("{line} cannot be run: {e}")),
    }
}
