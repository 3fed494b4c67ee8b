//! Public items of the crate `ctm` stand in examples that run: looked up in rustdoc's own pages, which list the items and hold the examples.
//!
//! An item is a type, trait, function, constant or macro. It has an example when some example of the crate names it: its own, one of its methods', or one of
//! a module. Examples that are not run (`ignore`) do not count; `cargo test` runs the others.

use super::{root, say};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How rustdoc marks an example of Rust.
const EXAMPLE: &str = "rust rust-example-rendered";
/// How it marks what surrounds one; the words behind say that it is not run.
const WRAP: &str = "<div class=\"example-wrap";

/// Looks at the pages below `target/doc/ctm`, which `cargo doc` has made.
pub(crate) fn check() -> Result<(), String> {
    let pages = root().join("target/doc/ctm");
    let items = items(&read(&pages.join("all.html"))?);
    if items.len() < 50 {
        return Err(format!("{} names {} items only", pages.join("all.html").display(), items.len()));
    }
    let mut words = BTreeSet::new();
    of_folder(&pages, &mut words)?;
    let without: Vec<&String> = items.iter().filter(|item| !words.contains(name(item))).collect();
    say(&format!("{} items, {} without an example", items.len(), without.len()));
    if without.is_empty() {
        return Ok(());
    }
    let list: String = without.iter().map(|item| format!("\n{}", item.trim_end_matches(".html"))).collect();
    Err(format!("public items that no example names:{list}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The words of the examples of all pages in a folder and below.
fn of_folder(folder: &Path, words: &mut BTreeSet<String>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            of_folder(&path, words)?;
        } else if path.extension().is_some_and(|e| e == "html") {
            of_page(&read(&path)?, words);
        }
    }
    Ok(())
}

/// The pages that the list of all items links to.
fn items(list: &str) -> Vec<String> {
    let links = list.split("<li><a href=\"").skip(1).filter_map(|link| link.split('"').next());
    links.filter(|link| !link.starts_with('#')).map(str::to_owned).collect()
}

/// The name of an item, from its page: `run/struct.Done.html`.
fn name(page: &str) -> &str {
    page.rsplit('/').next().and_then(|file| file.split('.').nth(1)).unwrap_or(page)
}

/// The words of the examples of a page that run.
fn of_page(page: &str, words: &mut BTreeSet<String>) {
    for from in page.split(WRAP).skip(1) {
        let (classes, rest) = from.split_once('>').unwrap_or((from, ""));
        let example =
            rest.split("</pre>").next().filter(|inside| inside.contains(EXAMPLE) && !classes.contains("ignore"));
        // Colours are tags around words.
        for piece in example.into_iter().flat_map(|inside| inside.split('<')) {
            let text = piece.split_once('>').map_or(piece, |(_, text)| text);
            let found = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            words.extend(found.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_what_the_list_links_to() {
        let list = "<ul><li><a href=\"#structs\">Structs</a></li><li><a href=\"struct.A.html\">A</a></li><li><a href=\"m/fn.b.html\">m::b</a></li></ul>";
        let items = items(list);
        assert_eq!(items, ["struct.A.html", "m/fn.b.html"]);
        assert_eq!(items.iter().map(|item| name(item)).collect::<Vec<_>>(), ["A", "b"]);
    }

    #[test]
    fn only_examples_of_rust_that_run_count() {
        let words = |classes: &str, language: &str| {
            let code = "<span class=\"kw\">use </span>ctm::Done;";
            let page = format!(
                "<p>text</p><div class=\"example-wrap{classes}\"><pre class=\"{language}\"><code>{code}</code></pre></div>"
            );
            let mut words = BTreeSet::new();
            of_page(&page, &mut words);
            words.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(words("", EXAMPLE), ["Done", "ctm", "use"]);
        assert!(words(" ignore", EXAMPLE).is_empty());
        assert!(words("", "language-text").is_empty());
    }
}
