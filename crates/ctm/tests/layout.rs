//! Memory, device and recordings stand in an order, and none uses one behind it: so there is no cycle among them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

/// From the first, which uses none of the others, to the last. They use no module of the crate but these.
const ORDER: [&str; 7] = ["memory", "mc", "commands", "engine", "device", "record", "open"];

/// Every Rust file of a module, with its text.
fn files(path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.extension().is_some_and(|e| e == "rs") {
        found.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
}

/// The names that a text has behind `crate::`, outside of comments and unit tests.
fn uses(text: &str) -> Vec<String> {
    let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let end = code.iter().position(|line| *line == "mod tests {").unwrap_or(code.len());
    let code = code[..end].join("\n");
    let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for behind in code.split("crate::").skip(1) {
        match behind.strip_prefix('{') {
            // The heads of the group's items; those within braces of their own belong to a head.
            Some(group) => {
                let (mut depth, mut item) = (0, String::new());
                for c in group.split(';').next().unwrap_or_default().chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => found.push(name(std::mem::take(&mut item).trim())),
                        _ if depth == 0 => item.push(c),
                        _ => (),
                    }
                }
                found.push(name(item.trim()));
            }
            None => found.push(name(behind)),
        }
    }
    found.retain(|name| !name.is_empty());
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
fn uses_are_found_in_groups_too() {
    let text =
        "use crate::device::{Device, DeviceKind};\nuse crate::{memory::{ArenaId, GpuAddr}, record};\n// crate::job\n";
    assert_eq!(uses(text), ["device", "memory", "record"]);
    assert_eq!(most_supers("use super::super::record;"), 2);
}

#[test]
fn no_module_uses_one_behind_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut arrows, mut wrong) = (0, Vec::new());
    for (rank, module) in ORDER.iter().enumerate() {
        let mut found = Vec::new();
        let (folder, file) = (src.join(module), src.join(module).with_extension("rs"));
        assert!(folder.is_dir() || file.is_file(), "{module} is a module");
        [folder, file].iter().filter(|path| path.exists()).for_each(|path| files(path, &mut found));
        for (file, text) in found {
            let below = Path::new(&file).strip_prefix(&src).unwrap().with_extension("");
            let depth = below.components().count() - usize::from(below.ends_with("mod"));
            if most_supers(&text) >= depth {
                wrong.push(format!("{file} leaves {module} by super"));
            }
            for used in uses(&text).into_iter().filter(|used| used != module) {
                arrows += 1;
                if !ORDER[..rank].contains(&used.as_str()) {
                    wrong.push(format!("{file} uses {used}"));
                }
            }
        }
    }
    assert!(arrows > 40, "uses are found: {arrows}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
