//! The minimum Rust version that the workspace states: no dependency's manifest may ask for a later one, and the fuzz targets state none of their own.

use serde_json::Value;
use std::process::Command;
use xtask::root;

/// Looks at the manifests of everything that is built.
pub(crate) fn check() -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root());
    // Of other platforms' packages nothing is here.
    if let Some(host) = host() {
        command.args(["--filter-platform", &host]);
    }
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let is_ours = |package: &&Value| package["source"].is_null();
    let stated = packages.iter().filter(is_ours).map(|p| version(&p["rust_version"]));
    let stated = stated.min().flatten().ok_or("a crate of the workspace states no rust-version")?;
    let later = packages.iter().filter(|p| version(&p["rust_version"]).is_some_and(|needs| needs > stated));
    let later: Vec<String> =
        later.map(|p| format!("{} {} needs {}", p["name"], p["version"], p["rust_version"])).collect();
    if !later.is_empty() {
        return Err(format!("later than the stated minimum: {}", later.join(", ")));
    }
    repeated(&format!("{}.{}", stated[0], stated[1]))
}

/// The README, which cannot inherit the version, agrees with the workspace's manifest.
fn repeated(stated: &str) -> Result<(), String> {
    let readme =
        std::fs::read_to_string(root().join("README.md")).map_err(|e| format!("README.md cannot be read: {e}"))?;
    let text = format!("Rust {stated} or later");
    if readme.contains(&text) {
        Ok(())
    } else {
        Err(format!("README.md does not say `{text}`, as the workspace's manifest does"))
    }
}

/// The platform that this compiler builds for.
fn host() -> Option<String> {
    let output = Command::new("rustc").arg("-vV").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
}

/// `1.88` and `1.88.0` are one version.
fn version(text: &Value) -> Option<[u32; 3]> {
    let mut out = [0; 3];
    for (place, part) in out.iter_mut().zip(text.as_str()?.split('.')) {
        *place = part.parse().ok()?;
    }
    Some(out)
}
