//! Words and names, held to budgets that only sink: `cargo xtask tidy`.
//!
//! Each word of [`WORDS`] makes sentences that have to be read twice. The check counts it in comments and in pages; more than the budget is an error,
//! and so is a budget that is higher than the count by [`SLACK`]: then lower it. A type name should mean one thing, so names that many modules define
//! are counted, too. Subjects of commits are reported only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use xtask::{root, say};

/// A group of words, and the number of uses that the tree may have.
const WORDS: &[(&str, &[&str], usize)] = &[
    ("what", &["what"], 80),
    ("behind", &["behind"], 22),
    ("stands", &["stand", "stands"], 8),
    ("told, hears", &["tell", "tells", "told", "hear", "hears"], 20),
    ("somebody, nobody, whoever", &["somebody", "nobody", "whoever"], 6),
];

/// Type names that more than [`MODULES`] modules define.
const SHARED_NAMES: usize = 0;
/// Modules that may define one type name.
const MODULES: usize = 3;
/// A count so far below its budget asks for a lower budget.
const SLACK: usize = 60;
/// The longest subject of a commit.
const SUBJECT: usize = 72;

/// Counts, and compares the counts with the budgets.
pub(crate) fn check() -> Result<(), String> {
    let mut files = Vec::new();
    collect(&root(), &mut files)?;
    let mut wrong = Vec::new();
    let mut counts = vec![0; WORDS.len()];
    let mut types: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in &files {
        let is_rust = path.ends_with(".rs");
        for line in text.lines() {
            let prose = if is_rust { line.find("//").map(|at| &line[at..]) } else { Some(line) };
            for (count, (_, words, _)) in counts.iter_mut().zip(WORDS) {
                *count += prose.map_or(0, |prose| uses(prose, words));
            }
        }
        if is_rust && path.starts_with("crates/") && path.contains("/src/") {
            for name in text.lines().filter_map(type_name) {
                types.entry(name).or_default().insert(path);
            }
        }
    }
    for (&count, (name, _, budget)) in counts.iter().zip(WORDS) {
        compare(name, count, *budget, &mut wrong);
    }
    let shared: Vec<_> = types.iter().filter(|(_, modules)| modules.len() > MODULES).collect();
    compare("type names of more than three modules", shared.len(), SHARED_NAMES, &mut wrong);
    subjects();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn compare(name: &str, count: usize, budget: usize, wrong: &mut Vec<String>) {
    say(&format!("{name}: {count}, allowed are {budget}"));
    if count > budget {
        wrong.push(format!("`{name}` is used {count} times, allowed are {budget}: use a noun, or the field's word"));
    } else if count + SLACK < budget {
        wrong.push(format!("`{name}` is used {count} times: lower its budget of {budget} in xtask/src/tidy.rs"));
    }
}

/// The words of a line that are among `words`.
fn uses(line: &str, words: &[&str]) -> usize {
    let all = line.split(|c: char| !c.is_ascii_alphabetic());
    all.filter(|word| words.iter().any(|w| word.eq_ignore_ascii_case(w))).count()
}

/// The type that a line of Rust defines. An indented `type` is an associated type, whose name its trait gives.
fn type_name(line: &str) -> Option<String> {
    if line.starts_with(' ') && line.trim_start().starts_with("type ") {
        return None;
    }
    let mut rest = line.trim_start();
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => after,
        };
        rest = rest.trim_start();
    }
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Rust files and pages of the tree, with paths from its root. Pages that are made from tables are left out.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) -> Result<(), String> {
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules" | "corpus") && !name.starts_with('.') {
                collect(&path, files)?;
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") && !name.starts_with("commands") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let from_root = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push((from_root, text));
        }
    }
    Ok(())
}

/// Reports subjects of the last commits that are too long or do not begin with an imperative verb. Without git, nothing is reported.
fn subjects() {
    let log = Command::new("git").args(["log", "-40", "--format=%s"]).current_dir(root()).output();
    let Ok(log) = log else { return };
    for subject in String::from_utf8_lossy(&log.stdout).lines() {
        let first = subject.split(' ').next().unwrap_or_default();
        let is_verb = first.starts_with(char::is_uppercase)
            && !first.ends_with([':', ','])
            && !first.ends_with("ed")
            && !first.ends_with("ing");
        if subject.chars().count() > SUBJECT || !is_verb {
            say(&format!("a commit's subject: {subject}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_types_are_found() {
        assert_eq!(uses("/// What stands behind it, somewhat.", &["what"]), 1);
        assert_eq!(uses("nobody, somebody", &["somebody", "nobody"]), 2);
        assert_eq!(type_name("    pub(crate) struct Place<'a> {").as_deref(), Some("Place"));
        assert_eq!(type_name("pub type Wrap<'a> = u8;").as_deref(), Some("Wrap"));
        assert_eq!(type_name("    let structure = 1;"), None);
    }
}
