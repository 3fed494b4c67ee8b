//! Each file of tests runs: it is a module of its crate's `tests/suite.rs`, or a program of tests in the manifest.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_testkit::root;
use std::fs;

#[test]
fn every_file_of_tests_runs() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        if !manifest.contains("autotests = false") {
            continue;
        }
        let suite = fs::read_to_string(folder.join("tests/suite.rs")).unwrap();
        for file in fs::read_dir(folder.join("tests")).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let runs = suite.lines().any(|line| line == format!("mod {name};"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            assert!(runs, "{}: add `mod {name};` to tests/suite.rs beside it", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} files of tests");
}
