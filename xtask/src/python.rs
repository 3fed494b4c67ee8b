//! The Python package: built, installed into an environment of its own, and tested, where Python and maturin are there.

use super::{root, run, say};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a command can be run.
fn is_there(command: &str) -> bool {
    let status = Command::new(command).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Builds the wheel; `None` where there is no maturin, which is said.
pub(crate) fn wheel() -> Result<Option<PathBuf>, String> {
    if !is_there("maturin") {
        say("skipped: there is no maturin, which builds the Python package (pip install maturin)");
        return Ok(None);
    }
    let wheels = root().join("target/wheels");
    // What was built before is not what is built now.
    if let Ok(entries) = std::fs::read_dir(&wheels) {
        for entry in entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "whl")) {
            std::fs::remove_file(entry.path()).map_err(|e| format!("{}: {e}", entry.path().display()))?;
        }
    }
    run(Command::new("maturin").args(["build", "--release", "--out"]).arg(&wheels).current_dir(root().join("python")))?;
    let entries = std::fs::read_dir(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    let found = entries.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|x| x == "whl"));
    found.map(Some).ok_or_else(|| "maturin has built no wheel".to_owned())
}

/// Builds, installs and tests the package.
pub(crate) fn check() -> Result<(), String> {
    if !is_there("python3") {
        say("skipped: there is no python3, which the Python package is tested with");
        return Ok(());
    }
    let Some(wheel) = wheel()? else { return Ok(()) };
    let environment = root().join("target/python");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let install = |what: &[&str], wheel: &Path| {
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(what).arg(wheel))
    };
    install(&["pytest", "hypothesis", "dask[array]", "distributed", "zarr"], &wheel)?;
    run(Command::new(&python).args(["-m", "pytest", "-q"]).current_dir(root().join("python")))?;
    let picture = environment.join("mandelbrot.png");
    run(Command::new(&python).arg(root().join("examples/python/mandelbrot.py")).arg(picture))?;
    run(Command::new(&python).arg(root().join("examples/python/dask_sweep.py")).arg("1024"))
}
