//! The rules on R700 programs: cases in `tests/vectors/r700/check`, programs of real compilers, random words.
//!
//! A vector file is a list of blocks:
//!
//! ```text
//! rule NAME                       the cases that follow are about this rule
//! rejects TITLE                   the rule finds exactly what the `=` lines say
//! accepts TITLE                   it finds nothing
//! program TITLE                   the findings of every rule are exactly the `=` lines
//!   set pixel, gprs 4, stack 1    differences from a program of bare words
//!   from mesa/r700/life.hex       the words of a file of tests/corpus (with its registers and stack), or
//!   ALU KCACHE_MODE0=LOCK_1       a control-flow instruction: its operation and the fields that are not 0, by the manual's
//!                                 names and values; `set` and control flow are indented by two, a clause's contents by four
//!     MUL dst=R1.x a=R0.y b=PV.x  an instruction of its clause; the clause is placed after the control flow, ADDR and COUNT are
//!                                 made so. dst, a, b, c are short for the fields of destination and operands: `dst=_.x` writes
//!                                 nothing, `a=KC0[3].x`, `a=C[3].x`, `a=LITERAL.z`, `a=1.0f`, `-` in front negates, `*` after
//!                                 indexes. LAST is set where a blank `;` follows or the clause ends.
//!     ;                           ends a group
//!     = 3f800000 40000000         literals, after the `;`
//!     SAMPLE SRC_GPR=1            a fetch
//!   words 00000000 80200000       any control-flow slot as words; four-fold indented within a clause
//!   = 1: message                  slot (or `-`) and message; in a `program` also the rule
//! ```
//!
//! `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite r700_check` rewrites the `=` lines; review the difference.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::diag::{Severity, Span};
use ctm_isa::r700::Program;
use ctm_isa::r700::check::{Theme, check, check_allowing, rule, rules};
use ctm_isa::r700::formats;
use ctm_isa::r700::ops::{CfAluOp, CfOp, Chan, ExportOp, MemOp, Op2, Op3, SpecialSel, TexOp, VtxOp};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_isa::table::WordFormat;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

fn vectors(name: &str) -> PathBuf {
    ctm_testkit::vectors("r700/check").join(name)
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

fn hex(words: &str) -> Vec<u32> {
    words
        .split_whitespace()
        .map(|w| u32::from_str_radix(w, 16).unwrap_or_else(|_| panic!("`{w}` is not a word")))
        .collect()
}

/// An instruction being put together: its words' formats and its words.
struct Inst {
    formats: Vec<WordFormat>,
    words: Vec<u32>,
}

impl Inst {
    fn new(formats: &[WordFormat]) -> Self {
        let size = if formats[0].name.starts_with("CF") || formats[0].name.starts_with("ALU") { 2 } else { 4 };
        Self { formats: formats.to_vec(), words: vec![0; size] }
    }

    fn set(&mut self, name: &str, value: &str) {
        let found: Vec<_> = self.formats.iter().filter_map(|f| f.field(name).map(|field| (f.dword, field))).collect();
        let [(dword, field)] = found[..] else {
            panic!("`{name}` names {} fields of {}", found.len(), self.formats[0].name)
        };
        let named = field.values.iter().find(|v| v.name == value).map(|v| v.code);
        self.set_bits(dword, field.mask(), named.unwrap_or_else(|| number(value)) << field.lsb);
    }

    fn set_bits(&mut self, dword: usize, mask: u32, bits: u32) {
        assert_eq!(bits & !mask, 0, "too large");
        self.words[dword] = self.words[dword] & !mask | bits;
    }

    /// `R1.x`, `-KC0[3].y`, `PV.z*`, `LITERAL.x`, `1.0f`.
    fn operand(&mut self, n: usize, text: &str) {
        let (neg, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (rel, text) = text.strip_suffix('*').map_or((false, text), |rest| (true, rest));
        let special = |name: &str| SpecialSel::from_name(name).map(SpecialSel::code);
        let (name, chan) = match special(text) {
            Some(_) => (text, "x"),
            None => text.rsplit_once('.').unwrap_or_else(|| panic!("operand `{text}`")),
        };
        let inside = |prefix: &str| name.strip_prefix(prefix)?.strip_suffix(']').map(number);
        let sel = special(name)
            .or_else(|| inside("KC0[").map(|n| n + 128))
            .or_else(|| inside("KC1[").map(|n| n + 160))
            .or_else(|| inside("C[").map(|n| n + 256))
            .or_else(|| name.strip_prefix("SEL").map(number))
            .or_else(|| name.strip_prefix('R').map(number))
            .unwrap_or_else(|| panic!("operand `{text}`"));
        self.set(&format!("SRC{n}_SEL"), &sel.to_string());
        self.set(&format!("SRC{n}_CHAN"), chan);
        self.set(&format!("SRC{n}_REL"), if rel { "1" } else { "0" });
        self.set(&format!("SRC{n}_NEG"), if neg { "1" } else { "0" });
    }

    fn destination(&mut self, text: &str) {
        let (rel, text) = text.strip_suffix('*').map_or((false, text), |rest| (true, rest));
        let (name, chan) = text.split_once('.').unwrap();
        assert!(Chan::from_name(chan).is_some(), "destination `{text}`");
        self.set("DST_CHAN", chan);
        self.set("DST_REL", if rel { "1" } else { "0" });
        if name != "_" {
            self.set("DST_GPR", name.strip_prefix('R').unwrap());
            if self.formats.iter().any(|f| f.field("WRITE_MASK").is_some()) {
                self.set("WRITE_MASK", "1");
            }
        }
    }

    fn fields(&mut self, tokens: &[&str]) {
        for token in tokens {
            let (name, value) = token.split_once('=').unwrap_or_else(|| panic!("`{token}` is not FIELD=value"));
            match name {
                "dst" => self.destination(value),
                "a" => self.operand(0, value),
                "b" => self.operand(1, value),
                "c" => self.operand(2, value),
                _ => self.set(name, value),
            }
        }
    }
}

fn control_flow(line: &str) -> Inst {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let name = tokens[0];
    let mut inst = if CfAluOp::from_name(name).is_some() {
        Inst::new(&[formats::CfAluWord0::FORMAT, formats::CfAluWord1::FORMAT])
    } else if let Some(op) = ExportOp::from_name(name) {
        let word1 = if op.is_export() { formats::CfExportSwiz::FORMAT } else { formats::CfExportBuf::FORMAT };
        let mut inst = Inst::new(&[formats::CfExportWord0::FORMAT, word1]);
        if op.is_export() {
            for (sel, value) in [("SEL_X", "x"), ("SEL_Y", "y"), ("SEL_Z", "z"), ("SEL_W", "w")] {
                inst.set(sel, value);
            }
        }
        inst
    } else {
        assert!(CfOp::from_name(name).is_some(), "`{name}` is no operation");
        Inst::new(&[formats::CfWord0::FORMAT, formats::CfWord1::FORMAT])
    };
    inst.set("CF_INST", name);
    inst.fields(&tokens[1..]);
    inst
}

/// One line of a clause.
fn clause_line(line: &str) -> Inst {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let name = tokens[0];
    let mut inst = if Op2::from_name(name).is_some() {
        let mut inst = Inst::new(&[formats::AluWord0::FORMAT, formats::AluOp2::FORMAT]);
        inst.set("ALU_INST", name);
        inst
    } else if Op3::from_name(name).is_some() {
        let mut inst = Inst::new(&[formats::AluWord0::FORMAT, formats::AluOp3::FORMAT]);
        inst.set("ALU_INST", name);
        inst
    } else if let Some(op) = MemOp::from_name(name) {
        let formats = match op {
            MemOp::LocalDsWrite => {
                [formats::MemDswWord0::FORMAT, formats::MemDswWord1::FORMAT, formats::MemDswWord2::FORMAT]
            }
            MemOp::LocalDsRead => {
                [formats::MemDsrWord0::FORMAT, formats::MemDsrWord1::FORMAT, formats::MemDsrWord2::FORMAT]
            }
            _ => [formats::MemRdWord0::FORMAT, formats::MemRdWord1::FORMAT, formats::MemRdWord2::FORMAT],
        };
        let mut inst = Inst::new(&formats);
        inst.set("VTX_INST", "MEM");
        inst.set("MEM_OP", name);
        inst
    } else if VtxOp::from_name(name).is_some() {
        let word1 = if name == "FETCH" { formats::VtxWord1Gpr::FORMAT } else { formats::VtxWord1Sem::FORMAT };
        let mut inst = Inst::new(&[formats::VtxWord0::FORMAT, word1, formats::VtxWord2::FORMAT]);
        inst.set("VTX_INST", name);
        inst
    } else {
        assert!(TexOp::from_name(name).is_some(), "`{name}` is no operation");
        let mut inst = Inst::new(&[formats::TexWord0::FORMAT, formats::TexWord1::FORMAT, formats::TexWord2::FORMAT]);
        inst.set("TEX_INST", name);
        inst
    };
    inst.fields(&tokens[1..]);
    inst
}

/// The lines of a case, without comments: control flow with its clause.
fn program_of(lines: &[&str]) -> Program {
    const LAST: u32 = 1 << 31;
    let mut flow: Vec<(Option<Inst>, Vec<u32>)> = Vec::new();
    let mut sets = Vec::new();
    let mut from = None;
    for line in lines {
        let (clause, text) = (line.starts_with("    "), line.trim());
        if let Some(set) = text.strip_prefix("set ") {
            sets.push(set);
        } else if let Some(name) = text.strip_prefix("from ") {
            from = Some(name);
        } else if !clause {
            let entry = match text.strip_prefix("words ") {
                Some(words) => Inst { formats: Vec::new(), words: hex(words) },
                None => control_flow(text),
            };
            flow.push((Some(entry), Vec::new()));
        } else {
            let body = &mut flow.last_mut().unwrap().1;
            if text == ";" {
                let at = body.len() - 2;
                body[at] |= LAST;
            } else if let Some(words) = text.strip_prefix("= ").or_else(|| text.strip_prefix("words ")) {
                body.extend(hex(words));
            } else {
                body.extend(clause_line(text).words);
            }
        }
    }
    let mut words = Vec::new();
    let mut at = flow.len();
    for (inst, body) in &mut flow {
        let inst = inst.as_mut().unwrap();
        if !body.is_empty() {
            let is_alu = inst.formats[0].name == "CF_ALU_WORD0";
            let count = if is_alu { body.len() / 2 } else { body.len() / 4 } as u32 - 1;
            at += if is_alu { 0 } else { at % 2 };
            inst.set("ADDR", &at.to_string());
            inst.set("COUNT", &(if is_alu { count } else { count & 7 }).to_string());
            if !is_alu && count > 7 {
                inst.set("COUNT_3", "1");
            }
            at += body.len() / 2;
        }
        words.extend(&inst.words);
    }
    for (inst, body) in &flow {
        let is_alu = inst.as_ref().unwrap().formats.first().is_some_and(|f| f.name == "CF_ALU_WORD0");
        if !body.is_empty() && !is_alu && words.len() % 4 != 0 {
            words.extend([0, 0]);
        }
        words.extend(body);
    }
    let mut program = match from {
        Some(name) => corpus_program(name),
        None => Program::from_words(words),
    };
    for item in sets.iter().flat_map(|set| set.split(',')) {
        match item.split_whitespace().collect::<Vec<_>>()[..] {
            ["gprs", n] => program.gprs = number(n) as u8,
            ["stack", n] => program.stack = number(n) as u8,
            ["entry", n] => program.entry = number(n),
            ["cut", n] => program.words.truncate(number(n) as usize * 2),
            [stage] => program.stage = Some(Stage::from_name(stage).unwrap_or_else(|| panic!("`{stage}` is no kind"))),
            _ => panic!("`{item}` sets nothing"),
        }
    }
    program
}

/// A program of tests/corpus with the registers and stack that its compiler asked for.
fn corpus_program(name: &str) -> Program {
    let path = corpus().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut words = Vec::new();
    let (mut gprs, mut stack) = (None, None);
    for line in text.lines() {
        let (code, comment) = line.split_once('#').unwrap_or((line, ""));
        words.extend(hex(code));
        // LLVM's objects: SQ_PGM_RESOURCES of pixel (28850) and vertex (28868) programs.
        for register in ["00028850=", "00028868="] {
            if let Some((_, rest)) = comment.split_once(register) {
                let value = u32::from_str_radix(&rest[..8], 16).unwrap();
                (gprs, stack) = (Some(value as u8), Some((value >> 8) as u8));
            }
        }
    }
    if let Ok(json) = std::fs::read_to_string(path.with_extension("json")) {
        let find = |key: &str| {
            let line = json.lines().find_map(|l| l.trim().strip_prefix(&format!("\"{key}\": ")))?;
            line.trim_end_matches(',').parse().ok()
        };
        (gprs, stack) = (find("gprs"), find("stack"));
    }
    let mut program = Program::from_words(words);
    program.gprs = gprs.unwrap_or(program.gprs);
    program.stack = stack.unwrap_or(program.stack);
    let vertex = path.file_stem().unwrap().to_str().unwrap().ends_with("_vs");
    program.stage = Some(if vertex { Stage::Vertex } else { Stage::Pixel });
    program
}

/// Runs a vector file; returns for each rule how many cases reject and accept.
fn run(name: &str) -> BTreeMap<String, (u32, u32)> {
    ctm_testkit::check_vectors::run(&vectors(name), |name| rule(name).is_some(), |lines| check(&program_of(lines)))
}

#[test]
fn every_rule_rejects_and_accepts() {
    let counts = run("rules.txt");
    let mut missing = String::new();
    // `not-all-read` needs programs too large for a vector: `what_was_not_read_is_said`.
    for rule in rules().filter(|rule| rule.name != "not-all-read") {
        let (rejects, accepts) = counts.get(rule.name).copied().unwrap_or_default();
        if rejects == 0 || accepts == 0 {
            writeln!(missing, "{}: {rejects} cases that reject, {accepts} that accept", rule.name).unwrap();
        }
    }
    assert!(missing.is_empty(), "{missing}");
}

/// Constants that are not locked: the message names the lines to lock.
#[test]
fn unlocked_constants_say_what_locks_them() {
    for (operand, lock) in
        [("KC0[0]", "`KCACHE0(CB0:0-15)`"), ("KC0[16]", "`KCACHE0(CB0:0-31)`"), ("KC1[15]", "`KCACHE1(CB0:0-15)`")]
    {
        let source = format!("ALU:\n x: MOV R0.x, {operand}.x\nEXP_DONE: PIX0, R0.xxxx\nEND_OF_PROGRAM\n");
        let program = assemble(&source, &TextOptions::default()).program.unwrap();
        let found = check(&program);
        let found: Vec<_> = found.iter().filter(|d| d.rule == "kcache-window").collect();
        let [one] = found[..] else { panic!("{operand}: {found:?}") };
        assert!(one.help.as_deref().is_some_and(|help| help.contains(lock)), "{operand}: {one:?}");
        // That fixes it.
        let locked = source.replace("ALU:", &format!("ALU: {}", lock.trim_matches('`')));
        let program = assemble(&locked, &TextOptions::default()).program.unwrap();
        assert!(!check(&program).iter().any(|d| d.rule == "kcache-window"), "{locked}");
    }
}

#[test]
fn programs_of_real_compilers() {
    run("corpus.txt");
    let text = std::fs::read_to_string(vectors("corpus.txt")).unwrap();
    for directory in ["mesa/r700", "llvm"] {
        for file in std::fs::read_dir(corpus().join(directory)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(
                !name.ends_with(".hex") || text.contains(&format!("  from {directory}/{name}\n")),
                "{name} has no case"
            );
        }
    }
    // No program of those compilers is called wrong, except for the one in which LLVM is.
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  = "))
        .filter(|line| rule(line.split([' ', ':']).nth(4).unwrap()).unwrap().severity == Severity::Error)
        .collect();
    let [error] = errors[..] else { panic!("{errors:?}") };
    assert!(error.contains("MOVA_INT of Evergreen"), "{error}");
}

/// Clauses that overlap too often are not read, and the checker says so.
#[test]
fn what_was_not_read_is_said() {
    let overlapping = |clauses: u32| {
        let mut words: Vec<u32> = (0..clauses).flat_map(|i| [clauses + 1 + i, 0xa1fc_0000]).collect();
        words.extend([0, 0x8020_0000]);
        words.extend(std::iter::repeat_n([0x8000_0000, 0x0000_0c90], 256).flatten());
        let findings = check(&Program::from_words(words));
        findings.into_iter().filter(|f| f.rule == "not-all-read").map(|f| f.message).collect::<Vec<_>>()
    };
    assert_eq!(overlapping(40), [""; 0]);
    assert_eq!(overlapping(100), ["46 clauses overlap others too often to be read; they were not checked"]);
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

    /// A control-flow slot that can be decoded, with addresses within `slots`.
    fn control_flow(&mut self, slots: u32) -> [u32; 2] {
        let target = self.below(slots + 2);
        let any = self.next();
        match self.below(4) {
            0 => {
                let op = CfAluOp::ALL[self.below(CfAluOp::ALL.len() as u32) as usize].code();
                let count = self.below(8);
                [target | any & 0xffc0_0000, any & 0x8203_ffff | op << 26 | count << 18]
            }
            1 => {
                let op = ExportOp::ALL[self.below(ExportOp::ALL.len() as u32) as usize].code();
                [any, self.next() & 0xe05f_0000 | op << 23 | 0x688]
            }
            _ => {
                let op = CfOp::ALL[self.below(CfOp::ALL.len() as u32) as usize].code();
                let rare_end = u32::from(self.below(16) == 0) << 21;
                [target, any & 0xc047_fff9 & !(3 << 29) | op << 23 | rare_end | self.below(3)]
            }
        }
    }
}

fn check_any(program: &Program) {
    let slots = program.words.len() as u32 / 2;
    for finding in check(program) {
        assert_eq!(rule(finding.rule).map(|rule| rule.severity), Some(finding.severity));
        assert!(finding.pc.is_none_or(|pc| pc < slots), "{finding:?}");
        assert!(finding.cite.is_some());
    }
}

/// No words make the checker panic or run on; every finding names a rule and a place.
#[test]
fn any_words_are_checked() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..6_000 {
        let slots = 1 + random.below(40);
        let mut words: Vec<u32> = (0..slots)
            .flat_map(|_| if round % 3 == 0 { [random.next(), random.next()] } else { random.control_flow(slots) })
            .collect();
        if random.below(4) == 0 {
            words.pop();
        }
        let mut program = Program::from_words(words);
        program.stage = Stage::from_code(random.below(9));
        if random.below(2) == 0 {
            (program.gprs, program.stack) = (random.below(256) as u8, random.below(256) as u8);
            program.entry = random.below(slots + 2);
        }
        check_any(&program);
    }
}

/// Corpus programs with a few bits changed look like programs and break every rule in some way.
#[test]
fn damaged_programs_are_checked() {
    let mut random = Random(0x9abc_def1_2345_6781);
    for directory in ["mesa/r700", "llvm"] {
        for file in std::fs::read_dir(corpus().join(directory)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if !name.ends_with(".hex") {
                continue;
            }
            let program = corpus_program(&format!("{directory}/{name}"));
            for _ in 0..40 {
                let mut damaged = program.clone();
                for _ in 0..=random.below(4) {
                    let at = random.below(damaged.words.len() as u32) as usize;
                    damaged.words[at] ^= 1 << random.below(32);
                }
                check_any(&damaged);
            }
        }
    }
}

/// Large tangled programs are checked in no time.
#[test]
fn tangled_programs_are_checked_quickly() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut slowest = std::time::Duration::ZERO;
    let mut time = |program: &Program| {
        let start = std::time::Instant::now();
        check_any(program);
        slowest = slowest.max(start.elapsed());
    };
    for _ in 0..8 {
        let slots = 4096;
        let words = (0..slots).flat_map(|_| random.control_flow(slots)).collect();
        time(&Program::from_words(words));
    }
    // Every slot calls another, so that every function is as long as the code after it.
    let slots = 4096;
    let calls = (0..slots).flat_map(|i| [(i * 7 + 1) % slots, 18 << 23 | 1 << 13]).collect();
    time(&Program::from_words(calls));
    // Every slot pushes, so that the stack is as deep as the program is long.
    let pushes = (0..slots).flat_map(|i| [(i + 1) % slots, 11 << 23]).collect();
    time(&Program::from_words(pushes));
    // Every slot names the same clause, with other constants locked.
    let mut locks: Vec<u32> = (0..slots).flat_map(|i| [slots, 0xa1fc_0000 | (i & 0xffff) << 2]).collect();
    locks.extend(std::iter::repeat_n([0x8000_0080, 0x0000_0c90], 128).flatten());
    time(&Program::from_words(locks));
    // A loose bound, for busy machines and builds without optimisation; 100 ms is usual, and seconds in an emulator.
    let most = if ctm_testkit::in_emulator() { 60_000 } else { 5000 };
    assert!(slowest.as_millis() < most, "{slowest:?}");
}

#[test]
fn rules_can_be_allowed_by_name() {
    // EXPORT of pixel 0 with a reserved bit set, at the end.
    let program = Program::from_words(vec![0xc000_0000, 0x93a0_1688]);
    let names = |allowed: &[&str]| -> Vec<_> { check_allowing(&program, allowed).iter().map(|f| f.rule).collect() };
    assert_eq!(names(&[]), ["reserved-bits", "export-not-done"]);
    assert_eq!(names(&["reserved-bits"]), ["export-not-done"]);
    assert_eq!(names(&["export-not-done", "reserved-bits", "no-such-rule"]), [""; 0]);
}

#[test]
fn findings_point_into_the_source() {
    let mut program = Program::from_words(vec![0xc000_0000, 0x93a0_1688]);
    program.spans = vec![Span::new(3, 9)];
    let findings = check(&program);
    assert_eq!(findings[0].labels[0].span, Span::new(3, 9));
    assert_eq!((findings[0].cite, findings[0].pc), (Some("R700 §10"), Some(0)));
}

#[test]
fn rule_names_are_kebab_case_and_unique() {
    for (i, rule) in rules().enumerate() {
        assert!(rule.name.chars().all(|c| c == '-' || c.is_ascii_lowercase() || c.is_ascii_digit()), "{}", rule.name);
        assert!(rules().take(i).all(|other| other.name != rule.name), "{}", rule.name);
        assert!(rules().take(i).last().is_none_or(|before| before.theme <= rule.theme), "{}", rule.name);
    }
}

/// `docs/r700-checks.md` is printed from the table.
#[test]
fn the_page_of_rules_is_up_to_date() {
    let mut page = String::from(
        "# Checks on R700 programs\n\n\
         `ctm check` applies these rules; in Rust, `ctm_isa::r700::check`. An error means that the program breaks a rule of the\n\
         manual, whatever its constants hold; a warning, that it is very likely unintended, or unpredictable on\n\
         the real machine; a note, that it is worth knowing. Any rule can be allowed by its name. Rules on kinds of program are silent\n\
         where the kind is not known. `R700` is the R700-Family ISA manual; `r700-encoding` is explained in [manuals.md](manuals.md).\n\n\
         This page is printed from the table of rules: `UPDATE_EXPECT=1 cargo test -p ctm-isa --test suite r700_check` writes it.\n\
         Each rule has a program that breaks it and one that does not in `tests/vectors/r700/check/rules.txt`.\n",
    );
    for theme in Theme::ALL {
        writeln!(page, "\n## {}\n\n| rule | severity | section | requirement |\n|---|---|---|---|", theme.title())
            .unwrap();
        for rule in rules().filter(|rule| rule.theme == *theme) {
            writeln!(page, "| `{}` | {} | {} | {} |", rule.name, rule.severity.name(), rule.cite, rule.doc).unwrap();
        }
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/r700-checks.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "run with UPDATE_EXPECT=1");
    }
}
