//! The rules on X1K programs, by text vectors (`tests/vectors/x1k/check`).
//!
//! A vector file is made of cases:
//!
//! ```text
//! rule presubtract-nop            the rule that the cases below are about
//! rejects TITLE                   its findings are exactly the `=` lines
//! accepts TITLE                   it finds nothing
//! program TITLE                   the findings of every rule are exactly the `=` lines
//!   set full, last 3, int 0 = 4 0 1     program information that differs from that of bare words
//!   from mesa/x1k/life.hex        the words of a file of tests/corpus, or
//!   00000005 00000000 ...         an instruction as six words, or
//!   ALU RGB_WMASK=7 RGB_OP=FRC    as its type and the fields that are not 0, by the manual's names and values
//!   = 1: message                  pc (or `-`) and message; in a `program` also the rule
//! ```
//!
//! `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite x1k_check` rewrites the `=` lines; review the difference.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::diag::{Severity, Span};
use ctm_isa::x1k::check::{Theme, check, check_allowing, rule, rules};
use ctm_isa::x1k::formats::WORDS;
use ctm_isa::x1k::ops::InstType;
use ctm_isa::x1k::program::{Literal, Preload, Symbol, SymbolKind};
use ctm_isa::x1k::{Program, Words};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

fn vectors(name: &str) -> PathBuf {
    ctm_testkit::vectors("x1k/check").join(name)
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("`{text}` is not a number")),
        None => text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number")),
    }
}

/// One instruction: six words, or a type and `FIELD=value` or `WORD.FIELD=value`.
fn instruction(line: &str) -> Words {
    let mut tokens = line.split_whitespace();
    let first = tokens.next().unwrap();
    let Some(kind) = InstType::from_name(first) else {
        let words: Vec<u32> = line.split_whitespace().map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        return words.try_into().unwrap_or_else(|_| panic!("`{line}` is not six words"));
    };
    let mut words = [kind.code(), 0, 0, 0, 0, 0];
    for token in tokens {
        let (name, value) = token.split_once('=').unwrap_or_else(|| panic!("`{token}` is not FIELD=value"));
        let (word, field) = name.split_once('.').map_or((None, name), |(word, field)| (Some(word), field));
        let found: Vec<_> = WORDS
            .iter()
            .filter(|(kinds, format)| kinds.contains(&kind) && word.is_none_or(|word| word == format.name))
            .filter_map(|(_, format)| format.field(field).map(|field| (format.dword, field)))
            .collect();
        let [(dword, field)] = found[..] else { panic!("`{name}` names {} fields of {first}", found.len()) };
        let named = field.values.iter().find(|v| v.name == value).map(|v| v.code);
        words[dword] |= named.unwrap_or_else(|| number(value)) << field.lsb;
    }
    words
}

/// Applies the `set` lines of a case.
fn set(program: &mut Program, line: &str) {
    for item in line.split(',').map(str::trim) {
        let tokens: Vec<&str> = item.split_whitespace().collect();
        match tokens[..] {
            ["full"] => program.full_flow_control = true,
            ["partial"] => program.full_flow_control = false,
            ["uncached"] => program.uncached = true,
            ["conditional"] => program.conditional_value = true,
            ["unconditional"] => program.conditional_value = false,
            ["first", n] => program.first = number(n) as u16,
            ["last", n] => program.last = number(n) as u16,
            ["preload", "none"] => program.preloads.clear(),
            ["preload", n, temp] => {
                program.preloads.push(Preload::Interpolant { index: number(n) as u8, temp: number(temp) as u8 });
            }
            ["int", n, "=", count, start, step] => program.literals.push(Literal::Int {
                index: number(n) as u8,
                value: [number(count) as u8, number(start) as u8, step.parse::<i32>().unwrap() as u8, 0],
            }),
            ["output", name, n] => {
                program.symbols.push(Symbol { name: name.into(), kind: SymbolKind::Output, index: number(n) as u8 });
            }
            _ => panic!("`{item}` sets nothing"),
        }
    }
}

fn program_of(lines: &[&str]) -> Program {
    let is_set = |line: &&&str| line.starts_with("set ");
    let words = lines
        .iter()
        .filter(|line| !is_set(line))
        .flat_map(|line| match line.strip_prefix("from ") {
            Some(name) => {
                let text = std::fs::read_to_string(corpus().join(name)).unwrap();
                text.lines().map(instruction).collect()
            }
            None => vec![instruction(line)],
        })
        .collect();
    let mut program = Program::from_words(words);
    lines.iter().filter(is_set).for_each(|line| set(&mut program, &line[4..]));
    program
}

/// Runs a vector file; returns for each rule how many cases reject and accept.
fn run(name: &str) -> BTreeMap<String, (u32, u32)> {
    ctm_testkit::check_vectors::run(
        &vectors(name),
        |name| rule(name).is_some(),
        |lines| {
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            check(&program_of(&lines))
        },
    )
}

#[test]
fn every_rule_rejects_and_accepts() {
    let counts = run("rules.txt");
    for rule in rules() {
        let (rejects, accepts) = counts.get(rule.name).copied().unwrap_or_default();
        assert!(rejects > 0 && accepts > 0, "{}: {rejects} cases that reject, {accepts} that accept", rule.name);
    }
}

#[test]
fn programs_of_a_real_compiler() {
    run("corpus.txt");
    let text = std::fs::read_to_string(vectors("corpus.txt")).unwrap();
    for file in std::fs::read_dir(corpus().join("mesa/x1k")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".hex") || text.contains(&format!("  from mesa/x1k/{name}\n")), "{name} has no case");
    }
    // No program of that compiler is called wrong.
    for line in text.lines().filter(|line| line.starts_with("  = ")) {
        let name = line.split([' ', ':']).nth(4).unwrap();
        assert!(rule(name).unwrap().severity < Severity::Error, "{line}");
    }
}

/// A generator of random numbers: xorshift64*, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// Any six words.
    fn words(&mut self) -> Words {
        std::array::from_fn(|_| self.next())
    }

    /// An instruction that can be decoded, of the given type.
    fn decodable(&mut self, kind: InstType, targets: u32) -> Words {
        let mut words = self.words();
        words[0] = words[0] & !3 | kind.code();
        for (_, format) in WORDS.iter().filter(|(kinds, _)| kinds.contains(&kind)) {
            for field in format.fields.iter().filter(|field| field.name != "TYPE") {
                let value = match field.values {
                    [] if field.name == "JUMP_ADDR" => self.below(targets),
                    [] => field.extract(words[format.dword]),
                    values => values[self.below(values.len() as u32) as usize].code,
                };
                words[format.dword] = words[format.dword] & !field.mask() | value << field.lsb;
            }
        }
        words
    }
}

/// No words make the checker panic or run on; every finding names a rule and a place.
#[test]
fn any_words_are_checked() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..12_000 {
        let size = 1 + random.below(32);
        let mut program = Program::from_words((0..size).map(|_| random.words()).collect());
        program.full_flow_control = random.below(2) == 0;
        program.uncached = random.below(2) == 0;
        (program.first, program.last) = (random.below(40) as u16, random.below(40) as u16);
        for finding in check(&program) {
            assert_eq!(rule(finding.rule).map(|rule| rule.severity), Some(finding.severity));
            assert!(finding.pc.is_none_or(|pc| pc < size));
        }
    }
}

/// Whole programs of decodable instructions, mostly flow control, are checked in no time.
#[test]
fn tangled_programs_are_checked_quickly() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut slowest = std::time::Duration::ZERO;
    for round in 0..60 {
        let size = 512;
        let of_four = round % 4;
        let words = (0..size)
            .map(|_| match random.below(4) {
                n if n < of_four => random.decodable(InstType::Fc, size),
                0 => random.decodable(InstType::Tex, size),
                1 => random.decodable(InstType::Output, size),
                _ => random.decodable(InstType::Alu, size),
            })
            .collect();
        let mut program = Program::from_words(words);
        program.full_flow_control = true;
        let start = std::time::Instant::now();
        let _ = check(&program);
        slowest = slowest.max(start.elapsed());
    }
    // A loose bound, for busy machines and builds without optimisation; 10 ms is usual.
    assert!(slowest.as_millis() < 2000, "{slowest:?}");
}

#[test]
fn rules_can_be_allowed_by_name() {
    let program = Program::from_words(vec![[0x0000_0000, 0, 0, 0, 0, 0]]);
    let names = |allowed: &[&str]| -> Vec<_> { check_allowing(&program, allowed).iter().map(|f| f.rule).collect() };
    assert_eq!(names(&[]), ["last-not-output", "last-without-wait"]);
    assert_eq!(names(&["last-not-output"]), ["last-without-wait"]);
    assert_eq!(names(&["last-without-wait", "last-not-output", "no-such-rule"]), [""; 0]);
}

#[test]
fn findings_point_into_the_source() {
    let mut program = Program::from_words(vec![[0x0000_0001, 0, 0, 0, 0, 0]]);
    program.spans = vec![Span::new(3, 9)];
    let findings = check(&program);
    assert_eq!(findings[0].labels[0].span, Span::new(3, 9));
    assert_eq!((findings[0].cite, findings[0].pc), (Some("CTM §3.4.2"), Some(0)));
    assert_eq!(findings[0].help.as_deref(), Some("set `TEX_SEM_WAIT`"));
}

#[test]
fn rule_names_are_kebab_case_and_unique() {
    for (i, rule) in rules().enumerate() {
        assert!(rule.name.chars().all(|c| c == '-' || c.is_ascii_lowercase() || c.is_ascii_digit()), "{}", rule.name);
        assert!(rules().take(i).all(|other| other.name != rule.name), "{}", rule.name);
        assert!(rules().take(i).last().is_none_or(|before| before.theme <= rule.theme), "{}", rule.name);
    }
}

/// `docs/x1k-checks.md` is printed from the table.
#[test]
fn the_page_of_rules_is_up_to_date() {
    let mut page = String::from(
        "# Checks on X1K programs\n\n\
         `ctm check` applies these rules; in Rust, `ctm_isa::x1k::check`. An error means that the program breaks a rule of the\n\
         manual, whatever its constants hold; a warning, that it is very likely unintended, or unpredictable on\n\
         the real machine; a note, that it could be better. Any rule can be allowed by its name. `CTM` is the CTM Guide;\n\
         `x1k-encoding` is explained in [manuals.md](manuals.md).\n\n\
         This page is printed from the table of rules: `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite x1k_check` writes it.\n\
         Each rule has a program that breaks it and one that does not in `tests/vectors/x1k/check/rules.txt`.\n",
    );
    for theme in Theme::ALL {
        writeln!(page, "\n## {}\n\n| rule | severity | section | requirement |\n|---|---|---|---|", theme.title())
            .unwrap();
        for rule in rules().filter(|rule| rule.theme == *theme) {
            writeln!(page, "| `{}` | {} | {} | {} |", rule.name, rule.severity.name(), rule.cite, rule.doc).unwrap();
        }
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/x1k-checks.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "run with UPDATE_EXPECT=1");
    }
}
