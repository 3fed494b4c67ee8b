//! `cargo xtask dist`: the files of a release.
//!
//! An archive of the files of `cargo xtask install` (stripped command, static on Linux, manual pages, completions, headers, libraries), with licences and the change
//! log; the packages of the registry, in one archive; the Python wheel, where Python is there; the notes of the release; and SHA-256 sums of all of them. The same sources and tools give the same names; archives also hold the times of their files.

use super::install::{Profile, install_with, make_relocatable, target};
use super::python;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::process::Command;
use xtask::{cargo, root, run, say};

/// Files besides the installed ones.
const PAGES: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Names of files in a directory that end so, sorted.
fn files_ending(directory: &Path, end: &str) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(directory).map_err(|e| told(directory, &e))?;
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(end));
    names.sort();
    Ok(names)
}

/// The change log's section of a version.
fn release_notes(version: &str) -> Result<String, String> {
    let path = root().join("CHANGELOG.md");
    let text = fs::read_to_string(&path).map_err(|e| told(&path, &e))?;
    let heading = format!("## {version}");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&heading));
    let first = lines.next().ok_or_else(|| format!("CHANGELOG.md has no section `{heading}`"))?;
    let section: Vec<&str> = std::iter::once(first).chain(lines.take_while(|line| !line.starts_with("## "))).collect();
    Ok(format!("{}\n", section.join("\n").trim_end()))
}

/// Which packages the registry gets. Needs a cargo that packs packages which depend on each other (1.90).
const PUBLISHED: &[&str] = &[
    "--workspace",
    "--exclude",
    "xtask",
    "--exclude",
    "chores",
    "--exclude",
    "ctm-testkit",
    "--exclude",
    "close-to-metal-python",
    "--allow-dirty",
];

/// Packs every package for the registry, and builds each from its archive against the others'. It is the dry run of publishing them.
pub(crate) fn packages() -> Result<(), String> {
    let publish = [&["publish", "--dry-run"], PUBLISHED].concat();
    cargo("packages for the registry, each built from its archive", &publish, &[])
}

/// The whole of `cargo xtask dist`.
pub(crate) fn dist() -> Result<(), String> {
    let place = root().join("target/dist");
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|e| told(&place, &e))?;
    }
    let name = format!("ctm-{}-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    let prefix = place.join(&name);
    install_with(&prefix, Profile::Release, true)?;
    make_relocatable(&prefix)?;
    for page in PAGES {
        let (from, to) = (root().join(page), prefix.join(page));
        fs::copy(&from, &to).map_err(|e| told(&from, &e))?;
    }
    let archive = format!("{name}.tar.gz");
    run(Command::new("tar").args(["--owner=0", "--group=0", "-czf"]).arg(&archive).arg(&name).current_dir(&place))?;
    // `packages` builds them, which takes as long as everything else here together.
    cargo("packages for the registry", &[&["package", "--no-verify"], PUBLISHED].concat(), &[])?;
    let version = env!("CARGO_PKG_VERSION");
    let packages = target().join("package");
    let mut crates = Command::new("tar");
    crates.args(["--owner=0", "--group=0", "-cf"]).arg(place.join(format!("ctm-{version}-crates.tar")));
    for file in files_ending(&packages, &format!("-{version}.crate"))? {
        crates.arg(file);
    }
    run(crates.current_dir(&packages))?;
    let notes = place.join("NOTES.md");
    fs::write(&notes, release_notes(version)?).map_err(|e| told(&notes, &e))?;
    if let Some(wheel) = python::wheel()? {
        let to = place.join(wheel.file_name().unwrap_or_default());
        fs::copy(&wheel, &to).map_err(|e| told(&wheel, &e))?;
    }
    let mut sums = Vec::new();
    for entry in fs::read_dir(&place).map_err(|e| told(&place, &e))? {
        let path = entry.map_err(|e| told(&place, &e))?.path();
        if path.is_file() {
            let bytes = fs::read(&path).map_err(|e| told(&path, &e))?;
            let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            say(&format!("{file}: {} bytes", bytes.len()));
            sums.push(format!("{sum}  {file}\n"));
        }
    }
    sums.sort_by(|a, b| a[66..].cmp(&b[66..]));
    let list = place.join("SHA256SUMS");
    fs::write(&list, sums.concat()).map_err(|e| told(&list, &e))?;
    say(&format!("{}", place.display()));
    Ok(())
}
