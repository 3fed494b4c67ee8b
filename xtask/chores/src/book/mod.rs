//! `cargo xtask book`: the documentation as one book, below `target/book`.
//!
//! Its pages are those of `docs/`, and pages generated from the tables: the instruction sets from their tables (`isa`), the commands from their
//! definitions, the gallery from the examples, which are run for their pictures (`gallery`). Every link within the book is checked (`links`), whether or not mdBook is
//! there to make HTML of it.

mod gallery;
mod isa;
mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xtask::{root, run, say};

/// The installer of the HTML renderer.
const INSTALL: &str = "cargo install mdbook --version ^0.4.52 --locked";

/// Parts of the book, and the pages of `docs/` in each; a page's title is its heading.
const PARTS: &[(&str, &[&str])] = &[
    (
        "Where to begin",
        &[
            "start/console.md",
            "start/drivers.md",
            "start/emulators.md",
            "start/teaching.md",
            "start/compilers.md",
            "start/ctm-code.md",
        ],
    ),
    ("From your language", &["cli.md", "cli-run.md", "python.md", "rust.md", "c-api.md", "many-machines.md"]),
    (
        "Writing programs",
        &[
            "x1k-assembly.md",
            "x1k-assembly-flow.md",
            "pvs-assembly.md",
            "r700-assembly.md",
            "r700-assembly-fetches.md",
            "r700-containers.md",
            "ps3.md",
            "x1k-checks.md",
            "pvs-checks.md",
            "r700-checks.md",
        ],
    ),
    (
        "Running programs",
        &[
            "jobs.md",
            "passes.md",
            "r700-jobs.md",
            "drawing.md",
            "draw-jobs.md",
            "checked-runs.md",
            "inside.md",
            "inside/differences.md",
            "inside/reference.md",
            "page.md",
            "editors.md",
            "replay.md",
            "radeon.md",
        ],
    ),
    (
        "The machines",
        &[
            "device.md",
            "commands.md",
            "commands-launch.md",
            "commands-memory.md",
            "commands-extensions.md",
            "commands-r700.md",
            "commands-r700-memory.md",
            "image.md",
            "flow-control.md",
            "arithmetic.md",
            "clocks.md",
        ],
    ),
    (
        "The project",
        &[
            "engine.md",
            "engine/form.md",
            "engine/r700.md",
            "engine/launches.md",
            "engine/streams.md",
            "engine/code.md",
            "engine/adding.md",
            "engine/passes.md",
            "engine/comparing.md",
            "engine/cost.md",
            "engine/gaps.md",
            "performance.md",
            "manuals.md",
            "r700-open-questions.md",
            "known-gaps.md",
            "known-gaps-isa.md",
            "add-an-opcode.md",
        ],
    ),
];

/// A file that cannot be read or written.
fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|e| told(directory, &e))?;
    }
    fs::write(path, text).map_err(|e| told(path, &e))
}

/// Every file below a directory, relative to it, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).map_err(|e| told(&next, &e))? {
            let path = entry.map_err(|e| told(&next, &e))?.path();
            if path.is_dir() {
                left.push(path);
            } else if let Ok(inside) = path.strip_prefix(directory) {
                out.push(inside.to_owned());
            }
        }
    }
    out.sort();
    Ok(out)
}

/// The whole of `cargo xtask book`. The built command's help is the reference of the commands.
pub(crate) fn book(ctm: &Path) -> Result<(), String> {
    let place = root().join("target/book");
    let src = place.join("src");
    if src.exists() {
        fs::remove_dir_all(&src).map_err(|e| told(&src, &e))?;
    }
    let docs = root().join("docs");
    for file in files(&docs)? {
        let (from, to) = (docs.join(&file), src.join("docs").join(&file));
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory).map_err(|e| told(directory, &e))?;
        }
        fs::copy(&from, &to).map_err(|e| told(&from, &e))?;
    }
    for (page, _) in
        [("README.md", ()), ("CHANGELOG.md", ()), ("CONTRIBUTING.md", ()), ("SECURITY.md", ()), ("ARCHITECTURE.md", ())]
    {
        let (from, to) = (root().join(page), src.join(page));
        fs::copy(&from, &to).map_err(|e| told(&from, &e))?;
    }
    let commands = commands(ctm, &src)?;
    let isa = isa::pages(&src)?;
    let gallery = gallery::pages(&src)?;
    links::bring(&src)?;
    let title = |page: &str| heading(&src.join(page));
    let mut summary = String::from("# Summary\n\n[ctm](README.md)\n");
    let mut part = |name: &str, pages: &[(usize, String)]| -> Result<(), String> {
        summary.push_str(&format!("\n# {name}\n\n"));
        for (depth, page) in pages {
            summary.push_str(&format!("{}- [{}]({page})\n", "  ".repeat(*depth), title(page)?));
        }
        Ok(())
    };
    for (name, pages) in PARTS {
        // Pages of a directory lie below the page that is named like it.
        let depth = |page: &str| {
            page.split_once('/').map_or(0, |(first, _)| usize::from(pages.contains(&format!("{first}.md").as_str())))
        };
        let pages: Vec<(usize, String)> = pages.iter().map(|page| (depth(page), format!("docs/{page}"))).collect();
        part(name, &pages)?;
        match *name {
            "Where to begin" => part("Gallery", &gallery)?,
            "The machines" => part("Instruction sets", &isa)?,
            "From your language" => part("Commands", &commands)?,
            _ => {}
        }
    }
    let rest = ["CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|page| (0, page.to_owned()));
    part("More", &rest)?;
    // Nothing of docs/ is forgotten.
    for file in files(&docs)?.iter().filter(|f| f.extension().is_some_and(|e| e == "md")) {
        let named = format!("(docs/{})", file.display().to_string().replace('\\', "/"));
        if !summary.contains(&named) {
            return Err(format!("docs/{} is in no part of the book; xtask/src/book/mod.rs lists them", file.display()));
        }
    }
    write(&src.join("SUMMARY.md"), &summary)?;
    write(&place.join("book.toml"), BOOK)?;
    let checked = links::check(&src)?;
    say(&format!(
        "{} pages, {checked} links checked",
        files(&src)?.iter().filter(|f| f.extension().is_some_and(|e| e == "md")).count()
    ));
    let there = Command::new("mdbook").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        say(&format!("skipped: there is no mdbook, which makes HTML of {}; {INSTALL}", src.display()));
        return Ok(());
    }
    run(Command::new("mdbook").arg("build").current_dir(&place))?;
    say(&format!("{}", place.join("html/index.html").display()));
    Ok(())
}

/// How mdBook makes the book.
const BOOK: &str = "[book]
title = \"ctm\"
description = \"ATI's Close To the Metal device in software\"
language = \"en\"
src = \"src\"

[build]
build-dir = \"html\"
create-missing = false

[output.html]
default-theme = \"light\"
preferred-dark-theme = \"navy\"

[output.html.search]
limit-results = 20

[output.html.fold]
enable = true
level = 0
";

/// The first heading of a page.
fn heading(page: &Path) -> Result<String, String> {
    let text = fs::read_to_string(page).map_err(|e| told(page, &e))?;
    let line = text.lines().find_map(|line| line.strip_prefix("# "));
    line.map(str::to_owned).ok_or_else(|| format!("{} has no heading", page.display()))
}

/// A page for each subcommand, from its own help.
fn commands(ctm: &Path, src: &Path) -> Result<Vec<(usize, String)>, String> {
    let help = |arguments: &[&str]| -> Result<String, String> {
        let output = Command::new(ctm).args(arguments).arg("--help").output().map_err(|e| told(ctm, &e))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let whole = help(&[])?;
    let list = whole.split("Commands:\n").nth(1).unwrap_or_default();
    let names: Vec<&str> = list
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    if names.len() < 10 {
        return Err(format!("the help of ctm names {} subcommands only", names.len()));
    }
    let fenced = |text: &str| format!("```text\n{}\n```\n", text.trim_end());
    write(&src.join("commands/README.md"), &format!("# All commands\n\n{}", fenced(&whole)))?;
    let mut out = vec![(0, "commands/README.md".to_owned())];
    for name in names {
        let page = format!("commands/{name}.md");
        write(&src.join(&page), &format!("# ctm {name}\n\n{}", fenced(&help(&[name])?)))?;
        out.push((1, page));
    }
    Ok(out)
}
