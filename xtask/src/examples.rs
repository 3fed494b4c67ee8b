//! Every directory of `examples/` with a `job.toml`: its programs are assembled and checked, the job is run, and each file of its
//! `expected/` is compared with the file of the same name that the run has written.

use crate::{cargo, root, say};
use ctm::array::{Array, Kind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Relative above 1, absolute below.
const TOLERANCE: f32 = 1e-5;

/// The whole of `cargo xtask examples`.
pub(crate) fn run() -> Result<(), String> {
    cargo("building ctm", &["build", "--package", "ctm-cli"], &[])?;
    let ctm = binary()?;
    let mut failed = Vec::new();
    for directory in entries(&root().join("examples"))? {
        if !directory.join("job.toml").is_file() {
            continue;
        }
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match example(&ctm, &directory) {
            Ok(compared) => say(&format!("{name}: done, {compared} files compared")),
            Err(message) => {
                say(&format!("{name}: {message}"));
                failed.push(name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("wrong examples: {}", failed.join(", "))) }
}

/// The program that the build has just made: it lies beside this one.
fn binary() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| format!("where this program lies is unknown: {e}"))?;
    let ctm = own.with_file_name(format!("ctm{}", std::env::consts::EXE_SUFFIX));
    if ctm.is_file() { Ok(ctm) } else { Err(format!("{} is not there", ctm.display())) }
}

fn example(ctm: &Path, directory: &Path) -> Result<usize, String> {
    for program in entries(directory)?.iter().filter(|p| p.extension().is_some_and(|e| e == "x1k")) {
        crate::run(Command::new(ctm).arg("check").arg(program))?;
    }
    crate::run(Command::new(ctm).arg("run").arg(directory.join("job.toml")))?;
    let expected = directory.join("expected");
    if !expected.is_dir() {
        return Ok(0);
    }
    let files = entries(&expected)?;
    for file in &files {
        compare(&directory.join(file.file_name().unwrap_or_default()), file)?;
    }
    Ok(files.len())
}

/// What a directory holds, sorted.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |e| format!("{} cannot be read: {e}", directory.display());
    let mut out = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        out.push(entry.map_err(unreadable)?.path());
    }
    out.sort();
    Ok(out)
}

fn compare(found: &Path, expected: &Path) -> Result<(), String> {
    let (a, b) = (load(found)?, load(expected)?);
    if (a.height, a.width, a.channels) != (b.height, b.width, b.channels) {
        return Err(format!(
            "{} is {}x{}x{}, expected is {}x{}x{}",
            found.display(),
            a.height,
            a.width,
            a.channels,
            b.height,
            b.width,
            b.channels
        ));
    }
    // A step of an 8-bit picture may be rounded either way.
    let step = if Kind::of(expected) == Some(Kind::Png) { 1.0 / 255.0 } else { 0.0 };
    for (n, (x, y)) in a.to_f32().into_iter().zip(b.to_f32()).enumerate() {
        let same = x.to_bits() == y.to_bits() || (x - y).abs() <= TOLERANCE * y.abs().max(1.0) + step;
        if !same {
            let (row, column, channel) = (n / a.row_values(), n % a.row_values() / a.channels, n % a.channels);
            return Err(format!(
                "{}: row {row}, column {column}, channel {channel} is {x}, expected is {y}",
                found.display()
            ));
        }
    }
    Ok(())
}

fn load(path: &Path) -> Result<Array, String> {
    let kind = Kind::of(path).ok_or_else(|| format!("{} is no array", path.display()))?;
    let bytes = std::fs::read(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    Array::from_bytes(kind, &bytes, None).map_err(|e| format!("{}: {e}", path.display()))
}
