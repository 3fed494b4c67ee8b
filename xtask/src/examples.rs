//! Every directory of `examples/` and `examples/r700/` with a `job.toml`: its programs are checked and the job is run by the command line, as a
//! reader would. Results are compared by `crates/ctm/tests/examples.rs`
//! and `r700_examples.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::{cargo, root, say};

/// Extensions of programs as text.
const PROGRAMS: [&str; 5] = ["x1k", "psh", "vsh", "gsh", "csh"];

/// The whole of `cargo xtask examples`.
pub(crate) fn run() -> Result<(), String> {
    run_with(&binary()?)
}

/// The same by a command that is built already.
pub(crate) fn run_with(ctm: &Path) -> Result<(), String> {
    let mut failed = Vec::new();
    let examples = root().join("examples");
    let all = [entries(&examples)?, entries(&examples.join("r700"))?].concat();
    for directory in all.iter().filter(|d| d.join("job.toml").is_file()) {
        let name = directory.strip_prefix(&examples).unwrap_or(directory).display().to_string();
        match example(ctm, directory) {
            Ok(()) => say(&format!("{name}: done")),
            Err(message) => {
                say(&format!("{name}: {message}"));
                failed.push(name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("wrong examples: {}", failed.join(", "))) }
}

/// Builds the command in the profile and with the features of the tests; it lies beside this program. `--package` would select other features of its dependencies,
/// and compile most of them once more.
pub(crate) fn binary() -> Result<PathBuf, String> {
    cargo("building ctm", &["build", "--workspace", "--bin", "ctm"], &[])?;
    let own = std::env::current_exe().map_err(|e| format!("the place of this program is unknown: {e}"))?;
    let ctm = own.with_file_name(format!("ctm{}", std::env::consts::EXE_SUFFIX));
    if ctm.is_file() { Ok(ctm) } else { Err(format!("{} is missing", ctm.display())) }
}

fn example(ctm: &Path, directory: &Path) -> Result<(), String> {
    let is_program = |p: &&PathBuf| p.extension().and_then(|e| e.to_str()).is_some_and(|e| PROGRAMS.contains(&e));
    for program in entries(directory)?.iter().filter(is_program) {
        xtask::run(Command::new(ctm).args(["check", "--strict"]).arg(program))?;
    }
    xtask::run(Command::new(ctm).arg("run").arg(directory.join("job.toml")))
}

/// The contents of a directory, sorted.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |e| format!("{} cannot be read: {e}", directory.display());
    let mut out = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        out.push(entry.map_err(unreadable)?.path());
    }
    out.sort();
    Ok(out)
}
