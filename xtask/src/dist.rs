//! `cargo xtask dist`: the files of a release.
//!
//! An archive of the files of `cargo xtask install` (stripped command, static on Linux, manual pages, completions, headers, libraries), with licences and the change
//! log; the packages of the registry, in one archive; the Python wheel, where Python is there; the notes of the release; and SHA-256 sums of all of them. The same sources and tools give the same names; archives also hold the times of their files.

use super::install::{Profile, install_with, make_relocatable, target};
use super::python;
use serde_json::Value;
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

/// Arguments that select the packages for the registry: those whose manifest does not say `publish = false`. `cargo package` takes these packages, too, if it is not told so.
/// Needs a cargo that packs packages which depend on each other (1.90).
fn published() -> Result<Vec<String>, String> {
    let packages = xtask::packages()?;
    let kept_here = packages.iter().filter(|package| !is_published(package));
    let excluded = kept_here.filter_map(|package| Some(["--exclude".to_owned(), package["name"].as_str()?.to_owned()]));
    Ok(["--workspace".to_owned(), "--allow-dirty".to_owned()].into_iter().chain(excluded.flatten()).collect())
}

/// Whether the registry gets a package. `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

/// Runs a command of cargo on the packages for the registry.
fn cargo_on_published(what: &str, command: &[&str]) -> Result<(), String> {
    let published = published()?;
    let arguments: Vec<&str> = command.iter().copied().chain(published.iter().map(String::as_str)).collect();
    cargo(what, &arguments, &[])
}

/// Packs every package for the registry, and builds each from its archive against the others'. It is the dry run of publishing them.
pub(crate) fn packages() -> Result<(), String> {
    cargo_on_published("packages for the registry, each built from its archive", &["publish", "--dry-run"])
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
    cargo_on_published("packages for the registry", &["package", "--no-verify"])?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The registry refuses a package with a dependency that it does not get; those of tests are left out of archives.
    #[test]
    fn packages_of_the_registry_need_no_package_that_stays_here() {
        let packages = xtask::packages().unwrap();
        let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
        let (gets, stays): (Vec<&Value>, Vec<&Value>) = packages.iter().partition(|package| is_published(package));
        let stays: Vec<String> = stays.into_iter().map(name).collect();
        assert!(gets.iter().any(|package| name(package) == "close-to-metal"));
        for left_out in ["ctm-testkit", "ctm-web", "xtask"] {
            assert!(stays.iter().any(|name| name == left_out), "{left_out} is for the registry");
        }
        for package in gets {
            for dependency in package["dependencies"].as_array().unwrap() {
                let of_tests = dependency["kind"] == "dev";
                assert!(of_tests || !stays.contains(&name(dependency)), "{} needs {}", name(package), name(dependency));
            }
        }
    }
}
