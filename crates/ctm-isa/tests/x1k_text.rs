//! The assembly language against its vectors: words and text both ways, flow control, refusals, choices.

use ctm_isa::diag::Severity;
use ctm_isa::x1k::formats::WORDS;
use ctm_isa::x1k::inst::{Inst, Words};
use ctm_isa::x1k::ops::{InstType, RenderTarget, UmrtTarget};
use ctm_isa::x1k::program::{Literal, Preload, Program, Symbol, SymbolKind};
use ctm_isa::x1k::text::{ListingOptions, assemble, disassemble};
use std::collections::BTreeSet;

const LINES: &str = include_str!("../../../tests/vectors/x1k/text/lines.txt");
const FLOW: &str = include_str!("../../../tests/vectors/x1k/text/flow.txt");
const REJECTS: &str = include_str!("../../../tests/vectors/x1k/text/rejects.txt");

fn words(hex: &str) -> Words {
    let words: Vec<u32> =
        hex.split_whitespace().map(|w| u32::from_str_radix(w, 16).expect("a hexadecimal word")).collect();
    words.try_into().expect("six words")
}

/// The vectors of `lines.txt`: `(uncached, words, text)`.
fn lines() -> Vec<(bool, Words, &'static str)> {
    let mut uncached = false;
    let mut list = Vec::new();
    for line in LINES.lines() {
        match line {
            "#! uncached" => uncached = true,
            "#! cached" => uncached = false,
            _ => {}
        }
        if let Some((hex, text)) = line.split_once('\t') {
            list.push((uncached, words(hex), text));
        }
    }
    list
}

fn program(source: &str) -> Program {
    let assembly = assemble(source);
    assembly.program.unwrap_or_else(|| panic!("{:#?}\n{source}", assembly.diagnostics))
}

fn squeezed(line: &str) -> String {
    let code = line.split(" ;").next().unwrap_or("");
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_line_gives_its_words() {
    for (uncached, expected, text) in lines() {
        let directive = if uncached { ".uncached\n" } else { "" };
        let found = program(&format!("{directive}{text}\nL1: end\n"));
        assert_eq!(found.words[0], expected, "{text}\n{:08x?}\n{expected:08x?}", found.words[0]);
        assert_eq!(found.words.len(), 2);
    }
}

#[test]
fn words_give_their_line() {
    for (uncached, words, text) in lines() {
        let mut program = Program::from_words(vec![words, [5, 0, 0, 0, 0, 0]]);
        program.uncached = uncached;
        let listing = disassemble(&program, &ListingOptions::default());
        let line = listing.lines().find(|l| l.starts_with("  ")).unwrap_or("");
        assert_eq!(squeezed(line), text);
    }
}

/// Every field of every word, and every value that a field can have, occurs in a vector.
#[test]
fn vectors_cover_the_tables() {
    let vectors: Vec<Words> =
        lines().into_iter().filter(|(_, _, text)| !text.starts_with(".word")).map(|(_, words, _)| words).collect();
    let mut missing = Vec::new();
    for (kinds, format) in WORDS {
        for field in format.fields {
            let of_kind = vectors.iter().filter(|w| kinds.iter().any(|k| k.code() == w[0] & 3));
            let seen: BTreeSet<u32> = of_kind.map(|w| field.extract(w[format.dword])).collect();
            if field.values.is_empty() {
                let others = seen.iter().filter(|&&v| v != 0).count();
                // A flag needs both states, a number at least 0 and something else.
                if !seen.contains(&0) || others == 0 {
                    missing.push(format!("{}.{}: only {seen:x?}", format.name, field.name));
                }
            }
            for value in field.values {
                if !seen.contains(&value.code) {
                    missing.push(format!("{}.{} {}", format.name, field.name, value.name));
                }
            }
        }
    }
    let target = |uncached: bool| -> BTreeSet<u32> {
        lines()
            .into_iter()
            .filter(|v| v.0 == uncached)
            .filter_map(|v| match Inst::decode(&v.1) {
                Ok(Inst::Alu(alu)) if alu.cmn.kind == InstType::Output => Some(u32::from(alu.rgb.target)),
                _ => None,
            })
            .collect()
    };
    for row in RenderTarget::ALL {
        if !target(false).contains(&row.code()) {
            missing.push(format!("RenderTarget {}", row.name()));
        }
    }
    for row in UmrtTarget::ALL {
        if !target(true).contains(&row.code()) {
            missing.push(format!("UmrtTarget {}", row.name()));
        }
    }
    assert!(missing.is_empty(), "no encoding vector for {missing:#?}");
}

#[test]
fn flow_control_follows_the_guide() {
    for block in FLOW.split("\n\n").filter(|b| b.contains("\n>")) {
        let source: String = block.lines().filter(|l| !l.starts_with(['#', '>'])).map(|l| format!("{l}\n")).collect();
        let source = format!("{source}end\n");
        let found = program(&source);
        let mut fcs = BTreeSet::new();
        for line in block.lines().filter_map(|l| l.strip_prefix("> ")) {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let hex = |text: &str| u32::from_str_radix(text, 16).expect("a hexadecimal word");
            let pc: usize = parts[0].parse().expect("a slot");
            let [cmn, _, inst, addr, ..] = found.words[pc];
            match parts[1..] {
                [expected, target] => {
                    assert_eq!(inst, hex(expected), "slot {pc}: {inst:08x} in\n{source}");
                    assert_eq!((addr >> 16).to_string(), target, "slot {pc} in\n{source}");
                }
                [c, i, a] => assert_eq!([cmn, inst, addr], [hex(c), hex(i), hex(a)], "slot {pc} in\n{source}"),
                _ => panic!("{line}"),
            }
            fcs.insert(pc);
        }
        let all: BTreeSet<usize> = (0..found.words.len()).filter(|&pc| found.words[pc][0] & 3 == 2).collect();
        assert_eq!(all, fcs, "the FC instructions of\n{source}");
        let listing = disassemble(&found, &ListingOptions { addresses: false, ..ListingOptions::default() });
        let listed: Vec<String> = listing.lines().map(squeezed).filter(|l| !l.is_empty()).collect();
        let written: Vec<String> = source.lines().map(squeezed).collect();
        assert_eq!(listed, written);
        assert_eq!(program(&listing).words, found.words);
    }
}

/// Every refused program gives exactly its findings.
#[test]
fn what_is_refused_and_why() {
    let mut blocks = 0;
    for block in REJECTS.split("\n\n") {
        let block: Vec<&str> = block.lines().filter(|l| !l.starts_with('#')).collect();
        let expected: Vec<&str> = block.iter().filter_map(|l| l.strip_prefix("! ")).collect();
        if expected.is_empty() {
            continue;
        }
        blocks += 1;
        let source: String = block.iter().filter(|l| !l.starts_with("! ")).map(|l| format!("{l}\n")).collect();
        let assembly = assemble(&source);
        assert_eq!(assembly.program, None, "accepted:\n{source}");
        let found: Vec<String> = assembly.diagnostics.iter().map(|d| finding(&source, d)).collect();
        assert_eq!(found, expected, "in\n{source}");
    }
    assert!(blocks > 100);
}

fn finding(source: &str, d: &ctm_isa::diag::Diagnostic) -> String {
    let at = d.labels.first().map_or(0, |l| l.span.start as usize);
    let line = source[..at].matches('\n').count() + 1;
    let column = at - source[..at].rfind('\n').map_or(0, |n| n + 1) + 1;
    let cite = d.cite.map_or_else(String::new, |c| format!(" [{c}]"));
    let help = d.help.as_ref().map_or_else(String::new, |h| format!(" help: {h}"));
    assert_eq!(d.severity, Severity::Error);
    format!("{line}:{column} {}{cite}{help}", d.message)
}

#[test]
fn a_program_fits_into_512_slots() {
    let fits = "mov r1, r0\n".repeat(511);
    assert_eq!(program(&fits).words.len(), 512);
    let assembly = assemble(&"mov r1, r0\n".repeat(512));
    assert_eq!(assembly.program, None);
    assert_eq!(assembly.diagnostics[0].message, "the program has 513 instructions, the machine has 512 slots");
}

#[test]
fn an_empty_program_is_refused() {
    for source in ["", "\n\n", "; nothing\n", ".const k = c0\n"] {
        let assembly = assemble(source);
        assert_eq!(assembly.program, None);
        assert_eq!(assembly.diagnostics[0].message, "there is no instruction");
    }
}

#[test]
fn directives_say_everything_about_a_program() {
    let found = program(
        ".input map = s3\n.output colour = o1\n.const view = c7, k = c2 (1, -0, inf, 0x7fc00001)\n\
         .const c9 (0.1, 2.5, -1e-20, 3)\n.int turns = i4 (255, 3, -1)\n.bool on = b5 (true), off = b6\n\
         .reg z = r3\n.interp uv = t2 -> r4\n.position r5\n.zero_times_anything\n.mode full\n.conditional_value yes\n\
         tex z, map, uv.rg\n.entry\nmad colour, z, view, k\n.last\nend\n",
    );
    assert_eq!((found.first, found.last, found.words.len()), (1, 1, 3));
    assert!(found.full_flow_control && found.zero_times_anything && found.conditional_value && !found.uncached);
    assert_eq!(found.preloads, [Preload::Interpolant { index: 2, temp: 4 }, Preload::Position { temp: 5 }]);
    let symbol = |name: &str, kind, index| Symbol { name: name.to_owned(), kind, index };
    assert_eq!(
        found.symbols,
        [
            symbol("map", SymbolKind::Input, 3),
            symbol("colour", SymbolKind::Output, 1),
            symbol("view", SymbolKind::Float, 7),
            symbol("k", SymbolKind::Float, 2),
            symbol("turns", SymbolKind::Int, 4),
            symbol("on", SymbolKind::Bool, 5),
            symbol("off", SymbolKind::Bool, 6),
        ]
    );
    assert_eq!(
        found.literals,
        [
            Literal::Float { index: 2, bits: [0x3f80_0000, 0x8000_0000, 0x7f80_0000, 0x7fc0_0001] },
            Literal::Float {
                index: 9,
                bits: [0.1f32.to_bits(), 2.5f32.to_bits(), (-1e-20f32).to_bits(), 3f32.to_bits()]
            },
            Literal::Int { index: 4, value: [255, 3, 255, 0] },
            Literal::Bool { index: 5, value: true },
        ]
    );
}

/// Where numbers go: swizzle, inline constant, constant register.
#[test]
fn numbers_find_their_place() {
    let assembly = assemble(
        ".const view = c0\nmad r1.rgb, r0.rgb, 0.1, view.rgb\nmul r1.a, r0.a, 0.2\nmul r2.rgb, r0.rgb, 2\n\
         add r2, r0, 1\nmul r3.rgb, r0.rgb, (0.1, 0.3, 0.7)\nmul o0, r0, -0.2\n",
    );
    let found = assembly.program.expect("no errors");
    let bits = |list: [f32; 4]| list.map(f32::to_bits);
    assert_eq!(
        found.literals,
        // The last line reads 0.2 from c1.a in both halves.
        [Literal::Float { index: 1, bits: bits([0.1, 0.3, 0.7, 0.2]) }]
    );
    let texts: Vec<(Option<u32>, &str)> = assembly.explanations.iter().map(|e| (e.pc, e.text.as_str())).collect();
    for expected in [
        (Some(0), "0.1 is in the constant register c1.r"),
        (Some(1), "0.2 is in the constant register c1.a"),
        (Some(2), "2 is an inline constant"),
        (Some(3), "1 is a swizzle"),
        (Some(4), "0.3 is in the constant register c1.g"),
    ] {
        assert!(texts.contains(&expected), "{expected:?} is not in {texts:#?}");
    }
}

/// Derived bits: the example of CTM §3.4.2, and others.
#[test]
fn waits_and_idle_cycles_are_filled_in() {
    for (source, expected) in [
        // CTM §3.4.2: the third lookup acquires, the fourth addition waits.
        (
            "tex r4, s0, r1\ntex r5, s1, r2\ntex r6, s2, r3\nadd r1, r1, 1\nadd r2, r2, 1\nadd r3, r3, 1\nadd r4, r4, 1\nend",
            "- - wait+acquire - - - wait wait",
        ),
        // Other channels of the same register are not in the way.
        ("tex r4.r, s0, r1\nmov r4.g, r1.g\nmov r4.r, r1.g\nend", "wait+acquire - wait wait"),
        // CTM §3.3.2: the idle cycle goes to the instruction before the presubtract.
        ("mov r1, r0\nmov r2.rgb, (1 - r1).rgb\nend", "nop - wait"),
        // It is registers that are compared, not their channels.
        ("mov r1.a, r0.a\nmov r2.rgb, (1 - r1).rgb\nend", "nop - wait"),
        ("mov r3.a, r0.a\nmov r2.rgb, (1 - r1).rgb\nend", "- - wait"),
        ("tex r1, s0, r0\nmov r2, (1 - r1)\nend", "wait+acquire wait wait"),
        // CTM §3.2.1: TEX and FC wait for the ALU; constants need no wait.
        ("mov r1, r0\ntex r2, s0, r1\nend", "- wait+acquire+aluwait wait"),
        ("mov p.r(lt), r0.r\nif p.r\nmov r1, r0\nendif\nend", "- aluwait - - wait"),
        ("mov r1, r0\nif b0\nmov r1, r0\nendif\nend", "- - - wait"),
        // A lookup that depends on a lookup waits and begins a new block.
        ("tex r1, s0, r0\ntex r2, s0, r1\nmov o0, r2", "wait+acquire wait+acquire wait"),
        // CTM §3.7: flow control waits for the instruction after it.
        ("tex r1, s0, r0\nif b0\nmov r2, r1\nendif\nend", "wait+acquire wait - wait"),
        // Around a loop: the lookup of the last turn is read in the next one.
        ("loop i0\nadd r2, r2, r1\ntex r1, s0, r0\nendloop\nend", "- - wait+acquire wait wait"),
    ] {
        let found = program(source);
        let flags = |w: &Words| {
            let mut list = Vec::new();
            let bit = |n: u32| w[0] >> n & 1 == 1;
            if bit(2) {
                list.push("wait");
            }
            if w[0] & 3 == 3 && w[1] >> 25 & 1 == 1 {
                list.push("acquire");
            }
            if bit(10) {
                list.push("aluwait");
            }
            if bit(9) {
                list.push("nop");
            }
            if list.is_empty() { "-".to_owned() } else { list.join("+") }
        };
        let flags: Vec<String> = found.words.iter().map(flags).collect();
        assert_eq!(flags.join(" "), expected, "in\n{source}");
    }
}

/// Explicit settings of the source stay.
#[test]
fn settings_of_the_source_win() {
    let found = program("tex r1, s0, r0 nowait noacquire\nmov r2, (1 - r1) nowait nop\nend nowait");
    assert_eq!(found.words.iter().map(|w| w[0] & 0x604).collect::<Vec<_>>(), [0, 0x200, 0]);
}

#[test]
fn the_end_is_filled_in() {
    // (source, slots, last)
    for (source, slots, last) in [
        ("mov o0, r0", 1, 0),
        ("mov r1, r0", 2, 1),
        ("mov o0, r0\nend", 2, 1),
        ("call sub\nend\nsub: mov r1, r0\nret", 4, 1),
        ("if b0\nmov o0, r0\nendif", 3, 2),
        ("mov r1, r0\n.last", 1, 0),
        ("mov o0, r0\nmov r1, r0\n.last 0", 2, 0),
    ] {
        let found = program(source);
        assert_eq!((found.words.len(), found.last), (slots, last), "{source}");
    }
}

/// Partial flow-control mode unless something needs the full one (CTM §3.5).
#[test]
fn the_mode_is_chosen() {
    let nested = |n: usize| "if p.r\n".repeat(n) + &"endif\n".repeat(n);
    for (source, full) in [
        (nested(4), false),
        (nested(5), true),
        ("loop i0\nendloop\n".to_owned(), true),
        ("call sub\nend\nsub: ret\n".to_owned(), true),
        (".mode full\nend\n".to_owned(), true),
    ] {
        assert_eq!(program(&source).full_flow_control, full, "{source}");
    }
}

/// No text, however broken, makes the assembler panic.
#[test]
fn no_text_panics() {
    let mut seed = 0x1234_5678u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let sources: Vec<&str> = lines().iter().map(|l| l.2).chain(REJECTS.lines()).collect();
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..1 + next() % 4 {
            let line = sources[next() % sources.len()];
            let mut chars: Vec<char> = line.chars().collect();
            for _ in 0..next() % 4 {
                if !chars.is_empty() {
                    let at = next() % chars.len();
                    match next() % 4 {
                        0 => drop(chars.remove(at)),
                        1 => {
                            chars.insert(at, "|()[],.-+*/=:!;\"é 0123rgba"[..].chars().nth(next() % 25).unwrap_or(' '))
                        }
                        2 => chars.swap(0, at),
                        _ => chars.truncate(at),
                    }
                }
            }
            text.extend(chars);
            text.push(if next() % 8 == 0 { ' ' } else { '\n' });
        }
        let assembly = assemble(&text);
        assert!(assembly.program.is_some() || !assembly.diagnostics.is_empty());
    }
}

/// Comments and numbers of other assemblers are read; their operations get a hint.
#[test]
fn texts_of_other_assemblers() {
    let program = |text: &str| assemble(text).program.map(|p| p.words);
    assert_eq!(program("// first\nmov o0, r0 // after\n"), program("mov o0, r0\n"));
    assert_eq!(program("mul r0, r1, 2.0f\nmov o0, r0\n"), program("mul r0, r1, 2.0\nmov o0, r0\n"));
    for (text, message, help) in [
        ("div r0, r1, r2\n", "`div` is not an instruction", "rcp"),
        ("slt r0, r1, r2\n", "`slt` is not an instruction", "cmp r0, 0, 1, r2"),
        ("mov_sat r0, r1\n", "`mov_sat` is not an instruction", "mov r0, r1 sat"),
        ("mov r0, abs(r1)\n", "nothing is called `abs`", "|r1|"),
        ("if r0 > r1\nendif\n", "found `r0`", "if p.r"),
        ("mov o0 r0\n", "`,` is missing in front of `r0`", ""),
        ("rcp r0, r1.rgb\n", "reads one channel, 3 are named", "one of .r"),
    ] {
        let found = assemble(text).diagnostics;
        let first = found.first().unwrap_or_else(|| panic!("{text}: nothing is said"));
        assert!(first.message.contains(message), "{text}: {first:?}");
        assert!(first.help.as_deref().unwrap_or("").contains(help), "{text}: {first:?}");
    }
    // The hints assemble.
    for text in [
        "sub r2, r0, r1\ncmp r0, 0, 1, r2\nmov o0, r0\n",
        "rcp r1, r2.r\nmul r0, r0, r1\nmov o0, r0 sat\n",
        "sub p.r(lt), r1, r0\nif p.r\nmov r0, r1\nendif\nmov o0, r0\n",
        "tex r0, s0, r1.rg\nmov o0, r0\n",
        "rsq r1, |r2.r|\nrcp r1, r1.r\nmov o0, r1\n",
        "ln2 r1, r2.r\nmul r1, r1, r3\nex2 r1, r1.r\nmov o0, r1\n",
        "frc r1, r0\nsub r0, r0, r1\nmov o0, r0\n",
    ] {
        let assembly = assemble(text);
        assert!(assembly.program.is_some(), "{text}: {:?}", assembly.diagnostics);
    }
}
