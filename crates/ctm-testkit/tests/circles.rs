//! Circles of files in the whole tree, held to a budget that only sinks.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_testkit::circles::{self, Arrows};
use ctm_testkit::root;
use std::collections::BTreeMap;
use std::fs;

/// Circles that the whole tree may have.
const MOST: usize = 8;
/// Files that a circle may have.
const LARGEST: usize = 4;
/// Crates whose files are in no circle.
const NONE: [&str; 13] = [
    "ctm-cli",
    "ctm-device",
    "ctm-draw",
    "ctm-exec",
    "ctm-files",
    "ctm-glsl",
    "ctm-ide",
    "ctm-image",
    "ctm-ir",
    "ctm-isa",
    "ctm-launch",
    "ctm-trace",
    "ctm-verify",
];

#[test]
fn circles_of_files_are_few_and_small() {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.insert(name, circles::of_crate(&path.join("src")));
    }
    let shown = || {
        let text = |(name, circles): (&String, &Vec<_>)| {
            circles.iter().map(|circle| format!("{name}: {circle}")).collect::<String>()
        };
        found.iter().map(text).collect::<String>()
    };
    let count: usize = found.values().map(Vec::len).sum();
    let largest = found.values().flatten().map(|circle| circle.files.len()).max().unwrap_or(0);
    assert!(
        count <= MOST,
        "{count} circles of files, allowed are {MOST}: move shared items below their users\n{}",
        shown()
    );
    assert!(largest <= LARGEST, "a circle of {largest} files, allowed are {LARGEST}\n{}", shown());
    for name in NONE {
        assert!(found[name].is_empty(), "{name}: {}", found[name][0]);
    }
}

/// The search finds uses by each kind of path. A module's own parts may use it.
#[test]
fn uses_are_found() {
    let folder = std::env::temp_dir().join(format!("ctm-circles-{}", std::process::id()));
    fs::create_dir_all(folder.join("b")).unwrap();
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use c::Third;"),
        (
            "a.rs",
            "use crate::b::{self, part::First as One, Plain};\nfn a(_: One, _: Plain) { b::call('\"', \"crate::d::Not\") }",
        ),
        ("b/mod.rs", "pub mod part; pub struct Plain; pub fn call<'a>() { part::first(); } // crate::c::Third"),
        ("b/part.rs", "use super::Plain; pub struct First; pub fn first() -> crate::Third { todo!() }"),
        ("c.rs", "pub struct Third; pub fn up() { super::a::a() }\n#[cfg(test)] mod tests { use crate::d::Last; }"),
        ("d.rs", "use crate::c::*; pub struct Last(Third);"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let found = circles::arrows(&folder);
    fs::remove_dir_all(&folder).unwrap();
    let short = |path: &str| path.rsplit(['/', '\\']).next().unwrap().to_owned();
    let mut found: Vec<_> = found.iter().map(|((from, to), names)| (short(from), short(to), names.len())).collect();
    let wanted = [
        ("a.rs", "mod.rs", 2),
        ("a.rs", "part.rs", 1),
        ("mod.rs", "part.rs", 1),
        ("part.rs", "c.rs", 1),
        ("c.rs", "a.rs", 1),
        ("d.rs", "c.rs", 1),
    ];
    let mut wanted: Vec<_> = wanted.iter().map(|(a, b, n)| ((*a).to_owned(), (*b).to_owned(), *n)).collect();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn circles_are_split_by_reach() {
    let arrow = |from: &str, to: &str| ((from.to_owned(), to.to_owned()), ["x".to_owned()].into());
    let arrows: Arrows = [
        arrow("a", "b"),
        arrow("b", "c"),
        arrow("c", "a"),
        arrow("c", "d"),
        arrow("d", "e"),
        arrow("e", "d"),
        arrow("e", "f"),
    ]
    .into();
    let found = circles::circles(&arrows);
    let files: Vec<Vec<&str>> = found.iter().map(|circle| circle.files.iter().map(String::as_str).collect()).collect();
    assert_eq!(files, [vec!["a", "b", "c"], vec!["d", "e"]]);
    assert_eq!(found[1].arrows.len(), 2);
}
