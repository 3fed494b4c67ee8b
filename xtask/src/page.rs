//! The script of the page: bundled by npm, with the licences of its parts.

use std::path::Path;
use std::process::Command;

/// Bundles the script of the page. It needs npm, and the network for the packages that `package-lock.json` names.
pub(crate) fn bundle(root: &Path) -> Result<(), String> {
    let directory = root.join("editors/page");
    xtask::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&directory))?;
    xtask::run(Command::new("npm").args(["run", "build"]).current_dir(&directory))?;
    licences(&directory.join("node_modules"), &root.join("crates/ctm-ide/assets/page.licenses.txt"))
}

/// Packages that make and test the script, and are no part of it.
const TOOLS: [&str; 3] = ["esbuild", "typescript", "axe-core"];

/// The licences of the script's parts.
fn licences(packages: &Path, to: &Path) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("the licences of the page: {e}");
    let mut found = Vec::new();
    let mut open = vec![packages.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            let name = path.strip_prefix(packages).unwrap_or(&path).display().to_string();
            if name.starts_with('.') || TOOLS.iter().any(|tool| name.contains(tool)) {
                continue;
            }
            if path.join("LICENSE").is_file() {
                let text = std::fs::read_to_string(path.join("LICENSE")).map_err(cannot)?;
                found.push(format!("{name}\n\n{}\n", text.trim()));
            } else if path.is_dir() && name.starts_with('@') {
                open.push(path);
            }
        }
    }
    found.sort();
    let text = format!(
        "page.js is made of these packages of npm, beside what editors/page holds.\n\n{}",
        found.join("\n----\n\n")
    );
    std::fs::write(to, text).map_err(cannot)
}
