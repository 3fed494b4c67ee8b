//! The folders of `src` stand in an order, and none uses one behind it: so there is no cycle among them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

/// From the first, which uses none of the others, to the last.
const ORDER: [&str; 7] = ["ir", "launch", "lower", "passes", "stream", "codegen", "runtime"];

/// Every Rust file below a folder, with its text.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The folders that a text names behind `crate::`, outside of comments, and the items of the library's root.
fn uses(text: &str) -> Vec<String> {
    let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    // Unit tests may look at everything.
    let end = code.iter().position(|line| *line == "mod tests {").unwrap_or(code.len());
    let code = code[..end].join("\n");
    let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for behind in code.split("crate::").skip(1) {
        match behind.strip_prefix('{') {
            Some(group) => {
                let group = group.split(';').next().unwrap_or_default();
                found.extend(group.split([',', '{', '}']).map(|item| name(item.trim())));
            }
            None => found.push(name(behind)),
        }
    }
    found
}

/// How many modules up the longest run of `super::` leads, outside of comments and unit tests.
fn most_supers(text: &str) -> usize {
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let runs = |line: &str| (0..=8).rev().find(|&n| line.contains(&"super::".repeat(n))).unwrap_or(0);
    code.map(runs).max().unwrap_or(0)
}

#[test]
fn no_folder_uses_one_behind_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: Vec<_> =
        fs::read_dir(&src).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    folders.retain(|name| name != "lib.rs");
    folders.sort_unstable();
    let mut order = ORDER.to_vec();
    order.sort_unstable();
    assert_eq!(folders, order, "the order above names every folder");
    let (mut arrows, mut wrong) = (0, Vec::new());
    for (rank, folder) in ORDER.iter().enumerate() {
        let mut found = Vec::new();
        files(&src.join(folder), &mut found);
        for (file, text) in found {
            let below = Path::new(&file).strip_prefix(&src).unwrap().with_extension("");
            let depth = below.components().count() - usize::from(below.ends_with("mod"));
            if most_supers(&text) >= depth {
                wrong.push(format!("{file} leaves {folder} by super"));
            }
            for used in uses(&text) {
                let to = ORDER.iter().position(|name| *name == used);
                // The root's items are those of the runtime.
                let to = to.or(used.starts_with(char::is_uppercase).then_some(ORDER.len() - 1));
                arrows += usize::from(to.is_some_and(|to| to != rank));
                if to.is_some_and(|to| to > rank) {
                    wrong.push(format!("{file} uses {used}"));
                }
            }
        }
    }
    assert!(arrows > 100, "uses are found: {arrows}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
