//! Links of the book: their targets exist, and so do the headings.

use super::{files, root, told};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links of a Markdown text that are relative, outside code: the text of each from the parenthesis on.
fn links(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Code within a line is not looked at: odd parts between backticks.
        for part in line.split('`').step_by(2).collect::<Vec<_>>().join("\u{1}").split("](").skip(1) {
            if let Some(end) = part.find(')') {
                // The joined text is a copy; find the link in the line itself.
                if let Some(at) = line.find(&format!("]({}", &part[..=end])) {
                    out.push(&line[at + 2..at + 2 + end]);
                }
            }
        }
    }
    out.retain(|link| !link.contains("://") && !link.starts_with("mailto:") && !link.is_empty());
    out
}

/// A path without `..`, relative to the book; `None` when it leaves it.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => out.push(part),
            Component::ParentDir if !out.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

/// Copies further link targets into the book, and theirs: files of the project at their own places. Of directories, a page that lists them.
pub(super) fn bring(src: &Path) -> Result<(), String> {
    let is_page = |file: &PathBuf| file.extension().is_some_and(|e| e == "md");
    let mut pages: Vec<PathBuf> = files(src)?.into_iter().filter(is_page).collect();
    while let Some(page) = pages.pop() {
        let text = fs::read_to_string(src.join(&page)).map_err(|e| told(&page, &e))?;
        for link in links(&text) {
            let file = link.split('#').next().unwrap_or_default();
            let target = page.parent().unwrap_or(Path::new("")).join(file);
            let Some(target) = normal(&target).filter(|_| !file.is_empty()) else { continue };
            let (from, to) = (root().join(&target), src.join(&target));
            if to.exists() && !from.is_dir() || !from.exists() {
                continue;
            }
            if from.is_dir() {
                list(&from, &to.join("index.md"), &target)?;
                continue;
            }
            if let Some(directory) = to.parent() {
                fs::create_dir_all(directory).map_err(|e| told(directory, &e))?;
            }
            fs::copy(&from, &to).map_err(|e| told(&from, &e))?;
            pages.extend(Some(target).filter(is_page));
        }
    }
    Ok(())
}

/// A page that lists a directory of the project.
fn list(from: &Path, to: &Path, name: &Path) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    let mut entries: Vec<String> = Vec::new();
    for entry in fs::read_dir(from).map_err(|e| told(from, &e))?.flatten() {
        entries.push(format!("- `{}`\n", entry.file_name().to_string_lossy()));
    }
    entries.sort();
    super::write(to, &format!("# {}\n\n{}", name.display(), entries.concat()))
}

/// Every link of every page leads to a file of the book, and to a heading of it; how many there are.
pub(super) fn check(src: &Path) -> Result<usize, String> {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in files(src)?.iter().filter(|f| f.extension().is_some_and(|e| e == "md")) {
        let text = fs::read_to_string(src.join(page)).map_err(|e| told(page, &e))?;
        for link in links(&text) {
            count += 1;
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() {
                Some(page.clone())
            } else {
                normal(&page.parent().unwrap_or(Path::new("")).join(file))
            };
            let Some(target) = target.filter(|t| src.join(t).exists()) else {
                wrong.push(format!("{}: {link} leads nowhere", page.display()));
                continue;
            };
            let is_page = target.extension().is_some_and(|e| e == "md");
            if let Some(anchor) = anchor.filter(|_| is_page) {
                let text = fs::read_to_string(src.join(&target)).map_err(|e| told(&target, &e))?;
                if !anchors(&text).contains(anchor) {
                    wrong.push(format!("{}: {} has no heading #{anchor}", page.display(), target.display()));
                }
            }
        }
    }
    if wrong.is_empty() { Ok(count) } else { Err(format!("wrong links:\n{}", wrong.join("\n"))) }
}

/// The anchors of a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| -> String {
        let kept =
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        kept.replace(' ', "-")
    };
    headings.map(anchor).collect()
}
