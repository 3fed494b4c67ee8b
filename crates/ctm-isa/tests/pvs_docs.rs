//! Every block of `docs/pvs-assembly.md` is as the page says, and its tables of operations are those of the instruction set.
//!
//! `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite pvs_docs` rewrites the tables.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::pvs::VertexProgram;
use ctm_isa::pvs::ops::Op;
use ctm_isa::pvs::text::{ListingOptions, assemble, disassemble, vocabulary};
use ctm_isa::vocabulary::WordKind;
use std::fmt::Write as _;
use std::path::PathBuf;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/pvs-assembly.md")
}

fn page() -> String {
    std::fs::read_to_string(path()).unwrap()
}

/// The fenced blocks of one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

#[test]
fn examples_assemble_and_come_back() {
    let blocks = blocks(&page(), "pvs");
    assert!(blocks.len() >= 6, "found {}", blocks.len());
    for block in blocks {
        let assembly = assemble(&block);
        assert!(assembly.diagnostics.is_empty(), "{:#?}\n{block}", assembly.diagnostics);
        let program = assembly.program.unwrap();
        let listing = disassemble(&program, &ListingOptions::default());
        assert!(!listing.contains(".word"), "{listing}");
        let back = assemble(&listing).program.unwrap();
        assert_eq!(
            VertexProgram { spans: Vec::new(), ..back },
            VertexProgram { spans: Vec::new(), ..program },
            "{listing}"
        );
    }
}

/// The first example is a whole program: it has no findings.
#[test]
fn the_first_example_is_clean() {
    let program = assemble(&blocks(&page(), "pvs")[0]).program.unwrap();
    assert_eq!(ctm_isa::pvs::check::check(&program), []);
}

#[test]
fn wrong_examples_give_their_messages() {
    for block in blocks(&page(), "pvs-error") {
        let expected: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix("; error: ")).collect();
        let found: Vec<String> = assemble(&block).diagnostics.into_iter().map(|d| d.message).collect();
        assert_eq!(found, expected, "{block}");
    }
}

#[test]
fn the_page_names_every_word() {
    let page = page();
    for (kind, word) in vocabulary() {
        let shown = if kind == WordKind::Directive { format!("`.{word}") } else { word.to_owned() };
        assert!(page.contains(&shown), "{word}");
    }
}

#[test]
fn the_tables_of_operations_are_up_to_date() {
    let table = |math: bool| {
        let mut text = String::from("| mnemonic | AMD's name | result |\n|---|---|---|\n");
        for op in Op::all().filter(|op| op.is_math() == math) {
            let info = op.info();
            let formula =
                if info.formula.is_empty() { String::new() } else { format!("`{}`", info.formula.replace('|', "\\|")) };
            writeln!(text, "| `{}` | `{}` | {formula} |", info.mnemonic, op.name()).unwrap();
        }
        text
    };
    let page = page();
    let mut updated = page.clone();
    for (heading, math) in [("## Vector operations", false), ("## Math operations", true)] {
        let start = updated.find(heading).unwrap();
        let from = start + updated[start..].find("| mnemonic |").unwrap();
        let to = from + updated[from..].find("\n\n").unwrap() + 1;
        updated.replace_range(from..to, &table(math));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path(), updated).unwrap();
    } else {
        assert_eq!(updated, page, "run with UPDATE_EXPECT=1");
    }
}
