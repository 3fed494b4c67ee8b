//! Commands in pages (```console blocks) run. A line `$ ctm ...` is a command, which must end well; lines below it are its output, `...` is anything.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The Markdown files of a directory and those below it.
fn pages(directory: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            pages(&path, out);
        } else if path.extension().is_some_and(|e| e == "md") {
            out.push(path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|e| e.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

/// Commands of a block, with their output.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut out: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), out.last_mut()) {
            (Some(command), _) => out.push((command, Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("`{line}` comes before any command"),
        }
    }
    out
}

/// Words as a shell has them, with single and double quotes, and comments left out.
fn words(line: &str) -> Vec<String> {
    let (mut out, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => out.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

#[test]
fn every_session_of_the_pages_runs() {
    let root = root();
    let mut all = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages(&root.join("docs"), &mut all);
    pages(&root.join("examples"), &mut all);
    let mut ran = 0;
    for (n, page) in all.iter().enumerate() {
        let text = std::fs::read_to_string(page).unwrap();
        let blocks: Vec<&str> =
            text.split("```console\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
        if blocks.is_empty() {
            continue;
        }
        let d = Dir::new(&format!("pages-{n}"));
        copy(&root.join("examples"), &d.0.join("examples"));
        for directory in ["docs", "crates", "tests"] {
            #[cfg(unix)]
            std::os::unix::fs::symlink(root.join(directory), d.0.join(directory)).unwrap();
            #[cfg(not(unix))]
            copy(&root.join(directory), &d.0.join(directory));
        }
        for (command, printed) in blocks.iter().flat_map(|block| commands(block)) {
            let command =
                command.strip_prefix("cargo run --release -- ").map_or(command.to_owned(), |c| format!("ctm {c}"));
            let words = words(&command);
            let ["ctm", arguments @ ..] = &*words.iter().map(String::as_str).collect::<Vec<_>>() else {
                panic!("{}: `{command}` cannot be tried", page.display())
            };
            let (code, stdout, stderr) = d.ctm(arguments);
            assert_eq!(code, 0, "{}: {command}\n{stdout}{stderr}", page.display());
            if !printed.is_empty() && printed != ["..."] {
                let stdout = if cfg!(windows) { stdout.replace('\\', "/") } else { stdout };
                assert_eq!(stdout.trim_end(), printed.join("\n").trim_end(), "{}: {command}", page.display());
            }
            ran += 1;
        }
    }
    assert!(ran >= 20, "{ran} commands");
}
