//! The two instruction sets are machines of their own: neither folder of `src` names the other.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

/// Every Rust file below a folder, with its code: the text outside of comments.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            found.push((path.display().to_string(), code.join("\n")));
        }
    }
}

/// Whether code has this word.
fn names(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

#[test]
fn neither_instruction_set_names_the_other() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (own, other, least) in [("x1k", "r700", 15), ("r700", "x1k", 25)] {
        let mut found = Vec::new();
        files(&src.join(own), &mut found);
        assert!(found.len() >= least, "{own} has {} files", found.len());
        // The same search finds existing uses: each folder reads its own part of `ctm_isa`.
        assert!(found.iter().filter(|(_, code)| names(code, own)).count() >= least / 2, "{own} is not found");
        // Users of both, as `Interp`, are above both. The textures of draws are looked up by one unit, for both chips.
        let unit = ["unit.rs", "tex.rs", "mod.rs"].map(|file| src.join("x1k").join(file).display().to_string());
        let wrong: Vec<_> = found
            .iter()
            .filter(|(file, code)| names(code, other) && !unit.contains(file) || names(code, "Interp"))
            .map(|(file, _)| file)
            .collect();
        assert!(wrong.is_empty(), "{own} uses {other}: {wrong:#?}");
    }
}

/// Vertex programs use functions of the pixel processor of the same chip, and nothing of the other one.
#[test]
fn vertex_programs_name_no_r700() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pvs"), &mut found);
    assert!(found.len() >= 3 && found.iter().any(|(_, code)| names(code, "x1k")));
    let wrong: Vec<_> = found.iter().filter(|(_, code)| names(code, "r700")).map(|(file, _)| file).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_both_share_uses_neither() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in [
        "arrays",
        "checks",
        "domain",
        "fault",
        "float",
        "groups",
        "outcome",
        "plane",
        "rows",
        "sample",
        "transcendental",
        "watch",
    ] {
        let text = fs::read_to_string(src.join(name).with_extension("rs")).unwrap();
        let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let code = code.join("\n");
        assert!(!names(&code, "x1k") && !names(&code, "r700"), "{name} uses an instruction set");
    }
}
