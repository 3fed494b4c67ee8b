//! No other crate opens, creates or renames a file itself, in Rust or in Python; and the modules of this one have an order.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

/// Names that only this crate uses.
const RUST: [&str; 9] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "File::open(",
    "File::create",
    "File::options(",
    "OpenOptions",
];
const PYTHON: [&str; 7] = ["with open(", "= open(", "(open(", "os.open(", ".tofile(", "fromfile(", "np.load("];

/// Files that may, and why.
const EXCEPTIONS: [(&str, &str); 9] = [
    ("crates/ctm-files/src/", "this crate"),
    ("crates/ctm-testkit/src/", "tests alone use it"),
    ("crates/ctm-capi/src/", "adds to the log, and reads the system's list of mapped memory"),
    ("crates/ctm-ide/src/folder.rs", "locks its own temporary folders"),
    ("crates/ctm-ide/src/serve/tests.rs", "unit tests"),
    ("crates/ctm-radeon/src/shared_picture.rs", "opens the memory of a viewer, in a stranger's process"),
    ("crates/ctm-radeon-shim/src/process.rs", "makes a capture, always a new file, in a stranger's process"),
    ("crates/ctm-radeon-shim/src/prime.rs", "reads the system's list of mapped memory"),
    ("python/python/ctm_dask/_shared.py", "opens shared memory"),
];

/// Every file below a folder with one of these extensions, with its text.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "py") {
            found.push((slashed(&path), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A path as this file writes it, on every system.
fn slashed(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// The lines of a text outside of comments and unit tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// The line and the words of a text that only this crate may have.
fn bare<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    code(text).find(|line| words.iter().any(|word| line.contains(word)))
}

#[test]
fn no_module_uses_a_later_one() {
    let order = [
        "kinds", "memory", "open", "beside", "save", "render", "error", "array", "texture", "mesh", "dump", "load",
        "pvs", "r700", "program",
    ];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "program");
    assert!(arrows > 20, "uses are found: {arrows}");
}

#[test]
fn files_are_opened_and_saved_here_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &mut found);
    }
    files(&root.join("python/src"), &mut found);
    files(&root.join("python/python"), &mut found);
    assert!(found.len() > 400, "{} files", found.len());
    let (mut wrong, mut excepted) = (Vec::new(), [false; EXCEPTIONS.len()]);
    for (path, text) in &found {
        let words: &[&str] = if path.ends_with(".rs") { &RUST } else { &PYTHON };
        let Some(line) = bare(text, words) else { continue };
        let path = path.strip_prefix(&format!("{}/", slashed(&root))).unwrap();
        match EXCEPTIONS.iter().position(|(place, _)| path.starts_with(place)) {
            Some(n) => excepted[n] = true,
            None => wrong.push(format!("{path}: {}", line.trim())),
        }
    }
    assert!(wrong.is_empty(), "use ctm_files: {wrong:#?}");
    // An exception without a use is none, and the search finds uses.
    assert_eq!(excepted, [true; EXCEPTIONS.len()], "{EXCEPTIONS:?}");
}

#[test]
fn uses_are_found_outside_of_comments_and_tests() {
    let text = "// fs::read(x)\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fs::write(x)\n";
    assert_eq!(bare(text, &RUST), None);
    assert_eq!(
        bare(&text.replace("fn a() {}", "fn a() { std::fs::read(x) }"), &RUST),
        Some("fn a() { std::fs::read(x) }")
    );
}
