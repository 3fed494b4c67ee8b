//! The rules on vertex programs, by text vectors (`tests/vectors/pvs/check`): cases as for the X1K (`x1k_check.rs`), with programs as assembly.
//!
//! `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite pvs_check` rewrites the findings; review the difference.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::pvs::check::{Theme, check, check_allowing, rule, rules};
use ctm_isa::pvs::flow;
use ctm_isa::pvs::text::assemble;
use ctm_isa::pvs::{VertexProgram, Words};
use std::fmt::Write as _;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn program(text: &str) -> VertexProgram {
    let assembly = assemble(text);
    assert!(assembly.diagnostics.is_empty(), "{:#?}\n{text}", assembly.diagnostics);
    assembly.program.unwrap()
}

#[test]
fn every_rule_rejects_and_accepts() {
    let path = ctm_testkit::vectors("pvs/check").join("rules.txt");
    let counts =
        ctm_testkit::check_vectors::run(&path, |name| rule(name).is_some(), |lines| check(&program(&lines.join("\n"))));
    for rule in rules() {
        let (rejects, accepts) = counts.get(rule.name).copied().unwrap_or_default();
        assert!(rejects > 0 && accepts > 0, "{}: {rejects} cases that reject, {accepts} that accept", rule.name);
    }
}

/// The compiler's programs have no findings. Those with loops came without the registers of flow control, so that values of a later place may be missing.
#[test]
fn programs_of_a_real_compiler_are_clean() {
    let text = std::fs::read_to_string(root().join("tests/corpus/pvs/programs.hex")).unwrap();
    for block in text.split("\n\n") {
        let (name, lines) = block.split_once('\n').unwrap();
        let word = |w: &str| u32::from_str_radix(w, 16).unwrap();
        let words: Vec<Words> = lines
            .lines()
            .map(|line| <Words>::try_from(line.split(' ').map(word).collect::<Vec<u32>>()).unwrap())
            .collect();
        let found = check(&VertexProgram::from_words(words));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// xorshift64*: the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
}

/// No words and no slots make the checker panic or run on; every finding names a rule and a place.
#[test]
fn any_words_are_checked() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut slowest = std::time::Duration::ZERO;
    for round in 0..600 {
        let size = 1 + random.next() % if round % 50 == 0 { 1024 } else { 40 };
        let mut program =
            VertexProgram::from_words((0..size).map(|_| std::array::from_fn(|_| random.next())).collect());
        let mask = size.next_power_of_two() - 1;
        let masks = mask << 16 | mask;
        let registers = std::array::from_fn(|_| [random.next() & masks, random.next() & masks, random.next()]);
        program.flow = flow::from_registers(random.next(), &registers);
        (program.first, program.last) = ((random.next() & mask) as u16, (random.next() & mask) as u16);
        let start = std::time::Instant::now();
        for finding in check(&program) {
            assert_eq!(rule(finding.rule).map(|rule| rule.severity), Some(finding.severity));
            assert!(finding.pc.is_none_or(|pc| pc <= mask));
        }
        slowest = slowest.max(start.elapsed());
    }
    // A loose bound, for busy machines and builds without optimisation.
    assert!(slowest.as_secs() < 20, "{slowest:?}");
}

#[test]
fn rules_can_be_allowed_by_name() {
    let program = program("add o1, c0, c1");
    let names = |allowed: &[&str]| -> Vec<_> { check_allowing(&program, allowed).iter().map(|f| f.rule).collect() };
    assert_eq!(names(&[]), ["unwritten-position", "constant-port"]);
    assert_eq!(names(&["unwritten-position"]), ["constant-port"]);
    assert!(check(&program).iter().all(|found| found.pc.is_none() || !found.labels.is_empty()));
}

/// `docs/pvs-checks.md` is printed from the table.
#[test]
fn the_page_of_rules_is_up_to_date() {
    let mut page = String::from(
        "# Checks on vertex programs\n\n\
         `ctm check` applies these rules to PVS programs; in Rust, `ctm_isa::pvs::check`. An error means that the program breaks a limit of the\n\
         machine or names something that does not exist; a warning, that it is very likely unintended. Any rule can be allowed by its name. `R5xx` and\n\
         `pvs-encoding` are explained in [manuals.md](manuals.md).\n\n\
         This page is printed from the table of rules: `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite pvs_check` writes it.\n\
         Each rule has a program that breaks it and one that does not in `tests/vectors/pvs/check/rules.txt`.\n",
    );
    for theme in Theme::ALL {
        writeln!(page, "\n## {}\n\n| rule | severity | source | requirement |\n|---|---|---|---|", theme.title())
            .unwrap();
        for rule in rules().filter(|rule| rule.theme == *theme) {
            writeln!(page, "| `{}` | {} | {} | {} |", rule.name, rule.severity.name(), rule.cite, rule.doc).unwrap();
        }
    }
    let path = root().join("docs/pvs-checks.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "run with UPDATE_EXPECT=1");
    }
}
