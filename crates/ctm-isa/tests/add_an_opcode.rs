//! `docs/add-an-opcode.md` stays true: the files and items that it names are there, its numbers are free, and its words are those of its texts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::Inst;
use ctm_isa::x1k::ops::{AlphaOp, RgbOp};
use ctm_isa::{r700, x1k};
use std::path::{Path, PathBuf};

fn page() -> String {
    std::fs::read_to_string(ctm_testkit::root().join("docs/add-an-opcode.md")).unwrap()
}

/// Words in backquotes, outside code blocks and program texts.
fn quoted(page: &str) -> Vec<&str> {
    let lines = page.lines().scan(false, |in_block, line| {
        let is_fence = line.trim_start().starts_with("```");
        *in_block ^= is_fence;
        Some((!*in_block && !is_fence).then_some(line))
    });
    lines.flatten().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn files(below: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if !path.is_dir() {
            all.push(path);
        } else if name != "target" && name != ".git" {
            files(&path, all);
        }
    }
}

fn all_files() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["crates", "tests/vectors", "docs"] {
        files(&ctm_testkit::root().join(folder), &mut all);
    }
    all
}

#[test]
fn the_files_that_it_names_are_there() {
    let (page, all) = (page(), all_files());
    let is_name =
        |word: &&str| !word.contains(' ') && (word.ends_with(".rs") || word.ends_with(".txt") || word.ends_with(".md"));
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let names: Vec<&str> = quoted(&page).into_iter().filter(is_name).chain(links).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(
            all.iter().any(|path| path.ends_with(name)) || ctm_testkit::root().join(name).exists(),
            "there is no {name}"
        );
    }
    let folder = "ctm-isa/src/x1k/check/";
    assert!(page.contains(folder) && ctm_testkit::root().join("crates").join(folder).is_dir(), "{folder}");
}

/// Functions, types and tests by their names, each where the page says.
#[test]
fn the_items_that_it_names_are_there() {
    let page = page();
    for (file, item, as_named) in [
        ("ctm-isa/src/x1k/ops.rs", "pub enum RgbOp ", "`RgbOp`"),
        ("ctm-isa/src/x1k/ops.rs", "pub enum AlphaOp ", "`AlphaOp`"),
        ("ctm-isa/src/x1k/ops.rs", "pub enum Class", "`Class`"),
        ("ctm-isa/src/x1k/ops.rs", "const AB:", "`AB`"),
        ("ctm-isa/src/r700/ops/alu.rs", "pub enum Op2 ", "`Op2`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn set(", "`set`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn pred(", "`pred`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn kill(", "`kill`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn choose(", "`choose`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn trans(", "`trans`"),
        ("ctm-isa/src/r700/ops/columns.rs", "const fn reduce(", "`reduce`"),
        ("ctm-isa/src/r700/ops/columns.rs", "fn of(", "`.of(Int)`"),
        ("ctm-isa/src/r700/ops/columns.rs", "fn reads(", "`.reads(..)`"),
        ("ctm-isa/src/r700/ops/columns.rs", "fn writes(", "`.writes(..)`"),
        ("ctm-isa/src/r700/ops/columns.rs", "fn scaled(", "`.scaled(..)`"),
        ("ctm-isa/src/r700/ops/columns.rs", "fn listed(", "`.listed(\"..\")`"),
        ("ctm-exec/src/x1k/functions.rs", "const fn function(", "`UnitOp::function`"),
        ("ctm-exec/src/r700/single.rs", "pub fn op2(", "`op2`"),
        ("ctm-ir/src/masked.rs", "Alu", "`Op::Alu`"),
        ("ctm-ir/src/lower/x1k/units.rs", "self.choice(finish, (", "self.choice(finish, ("),
        ("ctm-ir/src/lower/x1k/units.rs", "fn result(", "`Units::result`"),
        (
            "ctm-ir/src/lower/x1k/units.rs",
            "[0, 1].map(|n| self.operand(n, channel))",
            "[0, 1].map(|n| self.operand(n, channel))",
        ),
        (
            "ctm-isa/tests/r700_tables.rs",
            "fn every_opcode_of_chapter_10_is_there(",
            "`every_opcode_of_chapter_10_is_there`",
        ),
        ("ctm-isa/src/r700/ops/notes.rs", "row(&[", "`ctm-isa/src/r700/ops/notes.rs`"),
    ] {
        let path = ctm_testkit::root().join("crates").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(text.contains(item), "{file} has no `{item}`, which the page speaks of");
        assert!(page.contains(as_named), "the page no longer names {as_named}");
    }
    for rules in ["x1k", "r700"] {
        assert!(ctm_testkit::root().join("crates/ctm-isa/src").join(rules).join("check/rules.rs").is_file());
    }
}

#[test]
fn its_numbers_are_free() {
    assert!(RgbOp::from_code(6).is_none() && AlphaOp::from_code(4).is_none() && Op2::from_code(84).is_none());
    assert!(Op2::ALL.iter().all(|op| op.name() != "SETLT") && RgbOp::from_name("SGE").is_none());
}

/// The words are those of operations that there are, with the other numbers in their places.
#[test]
fn its_words_are_those_of_its_texts() {
    let page = page();
    let line = "mov r0, r0\n min r1, r2, r3\n end\n";
    let program = x1k::text::assemble(line).program.unwrap();
    let mut words = program.words[1];
    let Ok(Inst::Alu(alu)) = Inst::decode(&words) else { panic!("an ALU instruction") };
    assert_eq!((alu.rgba.op, alu.alpha.op), (RgbOp::Min, AlphaOp::Min));
    // RGB_OP and ALPHA_OP are bits 3:0 of the last word and of the one before it.
    for (place, from, to) in [(5, RgbOp::Min as u32, 6), (4, AlphaOp::Min as u32, 4)] {
        let dword: &mut u32 = &mut words[place];
        assert_eq!(*dword & 15, from);
        *dword = *dword & !15 | to;
    }
    let words: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
    assert!(page.contains(&format!("`{}`, a tab, `sge r1, r2, r3`", words.join(" "))), "{words:?}");

    let text = "ALU:\n 0 z: SETGE R37.z, R78.z, R10.z\nEND_OF_PROGRAM\n";
    let program = r700::text::assemble(text, &r700::text::TextOptions::default()).program.unwrap();
    let place = program.words.len() - 2;
    let (first, second) = (program.words[place], program.words[place + 1]);
    assert_eq!(second >> 7 & 0x7ff, Op2::Setge as u32);
    let second = second & !(0x7ff << 7) | 84 << 7;
    assert!(
        page.contains(&format!("`{first:08X} {second:08X}`, a tab,\n`z: SETLT R37.z, R78.z, R10.z`")),
        "{first:08X} {second:08X}"
    );
}
