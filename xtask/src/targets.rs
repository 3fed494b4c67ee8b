//! Other processors and systems: code for them is type-checked where their standard libraries are installed.

use super::{cargo, root, say};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The checked packages of a target.
enum Scope {
    /// Every package, with its tests.
    Workspace,
    /// The library packages of the registry, without packages that open files and sockets.
    Libraries,
}

/// The targets, and the checked packages of each.
const TARGETS: [(&str, Scope); 2] =
    [("aarch64-unknown-linux-gnu", Scope::Workspace), ("wasm32-unknown-unknown", Scope::Libraries)];

/// Packages that need a system: a C library, sockets, processes, or its random numbers.
const NEED_A_SYSTEM: [&str; 6] = ["ctm-capi", "ctm-cli", "ctm-glsl", "ctm-ide", "ctm-radeon-shim", "xtask"];

/// Type-checks each target with warnings as errors; one whose standard library is missing is skipped, and that is said.
pub(crate) fn check() -> Result<(), String> {
    for (target, scope) in TARGETS {
        if !is_installed(target) {
            say(&format!("skipped: {target}: no standard library is installed (rustup target add {target})"));
            continue;
        }
        let packages = match scope {
            Scope::Workspace => vec!["--workspace".to_owned(), "--all-targets".to_owned()],
            Scope::Libraries => libraries()?.into_iter().flat_map(|name| ["--package".to_owned(), name]).collect(),
        };
        let mut arguments = vec!["check", "--target", target];
        arguments.extend(packages.iter().map(String::as_str));
        cargo(target, &arguments, &[("RUSTFLAGS", "-D warnings")])?;
    }
    Ok(())
}

/// Whether the compiler finds a target's standard library.
fn is_installed(target: &str) -> bool {
    let Ok(output) = Command::new(rustc()).args(["--print", "target-libdir", "--target", target]).output() else {
        return false;
    };
    let directory = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    output.status.success()
        && files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("libcore-"))
}

/// The compiler that cargo calls.
fn rustc() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned())
}

/// The packages of the workspace that need no system.
fn libraries() -> Result<Vec<String>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--no-deps"]).current_dir(root());
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let names = packages.iter().filter_map(|package| package["name"].as_str());
    Ok(names.filter(|name| !NEED_A_SYSTEM.contains(name)).map(str::to_owned).collect())
}
