//! The order of a crate's modules: each top-level file or folder of `src` uses only those before it, so that there is no cycle among them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Stops unless each module of `src` below `manifest_dir` uses only modules before it in `order`; `order` has to name all of them but `lib.rs`.
///
/// An item that a file takes from the crate's root (`crate::Item`) counts as one of `root`, the module that the root re-exports. Gives the number of
/// arrows between modules, so that a caller can see that the search finds some.
pub fn check(manifest_dir: &str, order: &[&str], root: &str) -> usize {
    let src = Path::new(manifest_dir).join("src");
    let entries = fs::read_dir(&src).unwrap().map(|e| e.unwrap().path());
    let found: BTreeSet<String> =
        entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let named: BTreeSet<String> = order.iter().map(|name| (*name).to_owned()).chain(["lib".to_owned()]).collect();
    assert_eq!(found, named, "the order names every module");
    let rank = |name: &str| order.iter().position(|module| *module == name);
    let (mut arrows, mut wrong) = (0, Vec::new());
    for (place, module) in order.iter().enumerate() {
        let mut sources = Vec::new();
        for path in [src.join(module), src.join(module).with_extension("rs")] {
            files(&path, &mut sources);
        }
        for (file, text) in sources {
            let below = Path::new(&file).strip_prefix(&src).unwrap().with_extension("");
            let depth = below.components().count() - usize::from(below.ends_with("mod"));
            if most_supers(&text) >= depth {
                wrong.push(format!("{file} leaves {module} by super"));
            }
            for used in uses(&text) {
                let to = if used.starts_with(char::is_uppercase) { rank(root) } else { rank(&used) };
                arrows += usize::from(to.is_some_and(|to| to != place));
                if to.is_some_and(|to| to > place) {
                    wrong.push(format!("{file} uses {used}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    arrows
}

/// Stops unless each file of a folder of `src` uses only its siblings of the same or an earlier group; the groups have to name all of them but `mod.rs`.
/// Files of a group may use each other. Gives the number of arrows between siblings.
pub fn check_folder(manifest_dir: &str, folder: &str, groups: &[&[&str]]) -> usize {
    let below = Path::new(manifest_dir).join("src").join(folder);
    let found: BTreeSet<String> = fs::read_dir(&below)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "mod")
        .collect();
    let named: BTreeSet<String> = groups.iter().flat_map(|group| group.iter().map(|name| (*name).to_owned())).collect();
    assert_eq!(found, named, "the groups name every file");
    let rank = |name: &str| groups.iter().position(|group| group.contains(&name));
    let (mut arrows, mut wrong) = (0, Vec::new());
    for module in &found {
        for path in [below.join(module).with_extension("rs"), below.join(module)] {
            let mut sources = Vec::new();
            files(&path, &mut sources);
            for (file, text) in sources {
                let depth = Path::new(&file).strip_prefix(&below).unwrap().components().count();
                let code = code(&text);
                for after in code.split(&"super::".repeat(depth)).skip(1) {
                    let used: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let Some(to) = rank(&used).filter(|_| used != *module) else {
                        if used.starts_with(char::is_uppercase) && depth == 1 {
                            wrong.push(format!("{file} uses {used} of the folder's own module"));
                        }
                        continue;
                    };
                    arrows += 1;
                    if Some(to) > rank(module) {
                        wrong.push(format!("{file} uses {used}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    arrows
}

/// The text of each file of `src` with its path there, parted by `/` on every system, without comments and unit tests.
pub fn sources(manifest_dir: &str) -> Vec<(String, String)> {
    let src = Path::new(manifest_dir).join("src");
    let mut all = Vec::new();
    files(&src, &mut all);
    all.iter()
        .map(|(path, text)| {
            let within = Path::new(path).strip_prefix(&src).unwrap();
            let parts: Vec<_> = within.iter().map(|part| part.to_str().unwrap()).collect();
            (parts.join("/"), code(text))
        })
        .collect()
}

/// Every Rust file of a module, with its text.
fn files(path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.is_file() && path.extension().is_some_and(|e| e == "rs") {
        found.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
}

/// A text without its comments and unit tests.
fn code(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let end = lines.iter().position(|line| line.ends_with("mod tests {")).unwrap_or(lines.len());
    lines[..end].join("\n")
}

/// The names after `crate::`, also those of a group in braces.
fn uses(text: &str) -> Vec<String> {
    let code = code(text);
    let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            // The heads of the group's items; names within inner braces belong to a head.
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
            None => found.push(name(after)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The number of modules that the longest run of `super::` leads up.
fn most_supers(text: &str) -> usize {
    let code = code(text);
    let runs = |line: &str| (0..=8).rev().find(|&n| line.contains(&"super::".repeat(n))).unwrap_or(0);
    code.lines().map(runs).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_found_in_groups_too() {
        let text = "use crate::device::{Device, DeviceKind};\nuse crate::{memory::{ArenaId, GpuAddr}, record};\n// crate::job\n";
        assert_eq!(uses(text), ["device", "memory", "record"]);
        assert_eq!(most_supers("use super::super::record;"), 2);
    }
}
