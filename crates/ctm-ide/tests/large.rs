//! Large texts: every question about them takes time in proportion to their length, whatever they are full of.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_ide::language::{Document, Language, shown_findings};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A name, a language, and a text of so many lines.
type Text = (&'static str, Language, fn(usize) -> String);

/// Texts by their content.
const TEXTS: [Text; 20] = [
    ("x1k labels", Language::X1k, |n| each(n, |n| format!("l{n}:\n")) + "end\n"),
    ("x1k labels of jumps", Language::X1k, |n| each(n / 2, |n| format!("l{n}: jmp to=l{n}\n")) + "end\n"),
    ("x1k labels that are not there", Language::X1k, |n| each(n / 2, |n| format!("l{n}: jmp to=m{n}\n")) + "end\n"),
    ("x1k names", Language::X1k, |n| each(n, |n| format!(".reg n{n} = r{}\n", n % 128)) + "mov o0, n0\n"),
    ("x1k names that are not there", Language::X1k, |n| {
        each(n / 2, |n| format!(".reg n{n} = r1\n")) + &each(n / 2, |n| format!("mov o0, m{n}\n"))
    }),
    ("x1k constants", Language::X1k, |n| each(n, |n| format!("mul r0, r0, {n}.5\n")) + "mov o0, r0\n"),
    ("x1k instructions", Language::X1k, |n| each(n, |n| format!("add r{}, r0, r1 ; note\n", n % 100)) + "mov o0, r0\n"),
    ("x1k blocks", Language::X1k, |n| each(n / 2, |_| "if p\n".into()) + &each(n / 2, |_| "endif\n".into())),
    ("x1k errors", Language::X1k, |n| each(n, |_| "mvo o0, r0\n".into())),
    ("x1k comments", Language::X1k, |n| each(n, |n| format!("; {n} \u{fc}\u{1f600}\n"))),
    ("r700 labels", Language::R700, |n| each(n, |n| format!("l{n}:\n")) + "END_OF_PROGRAM\n"),
    ("r700 labels of jumps", Language::R700, |n| {
        each(n / 2, |n| format!("l{n}: JUMP ADDR(l{n})\n")) + "END_OF_PROGRAM\n"
    }),
    ("r700 labels that are not there", Language::R700, |n| {
        each(n / 2, |n| format!("l{n}: JUMP ADDR(m{n})\n")) + "END_OF_PROGRAM\n"
    }),
    ("r700 names", Language::R700, |n| {
        each(n, |n| format!(".reg n{n} R{}\n", n % 120)) + "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"
    }),
    ("r700 names that are not there", Language::R700, |n| {
        each(n / 2, |n| format!(".reg n{n} R1\n")) + "ALU:\n" + &each(n / 2, |n| format!(" x: MOV R0.x, m{n}.x\n"))
    }),
    ("r700 clauses", Language::R700, |n| {
        each(n / 2, |_| "ALU:\n  x: ADD R0.x, R0.x, R1.x\n".into()) + "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"
    }),
    ("r700 groups", Language::R700, |n| {
        "ALU:\n".to_owned()
            + &each(n, |n| format!("  {n}  x: ADD R{}.x, R0.x, {n}.5f\n", n % 100))
            + "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"
    }),
    ("r700 fetches", Language::R700, |n| {
        "TEX:\n".to_owned()
            + &each(n, |_| "  SAMPLE R0, R0.xyxx, t0, s0\n".into())
            + "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"
    }),
    ("r700 loops", Language::R700, |n| {
        each(n / 2, |n| format!("a{n}: LOOP_DX10 FAIL_JUMP_ADDR(b{n})\n"))
            + &each(n / 2, |n| format!("b{n}: ENDLOOP PASS_JUMP_ADDR(a{n})\n"))
            + "END_OF_PROGRAM\n"
    }),
    ("r700 errors", Language::R700, |n| "ALU:\n".to_owned() + &each(n, |n| format!("  {n}  x: MVO R0.x, R0.x\n"))),
];

fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = write!(text, "{}", line(n));
        text
    })
}

/// A name, and the question.
type Question = (&'static str, fn(&Document));

/// Queries on a parsed text.
const QUESTIONS: [Question; 8] = [
    ("completion", |document| {
        for place in places(document) {
            black_box(document.completions(place));
        }
    }),
    ("hover", |document| {
        for place in places(document) {
            black_box(document.hover(place));
        }
    }),
    ("definition", |document| {
        for place in places(document) {
            black_box((document.symbol_at(place), document.register_places(place)));
        }
    }),
    ("references", |document| {
        for place in places(document) {
            black_box(document.symbol_at(place).map(|symbol| document.references(&symbol)));
        }
    }),
    ("rename", |document| _ = document.rename(places(document)[1], "another_name")),
    ("symbols", |document| _ = document.symbols()),
    ("hints", |document| _ = document.hints(0, usize::MAX)),
    ("layout", |document| _ = document.formatted()),
];

/// Places at the beginning, in the middle, and at the end.
fn places(document: &Document) -> [usize; 3] {
    let middle = document.text.len() / 2;
    let middle = document.text[..middle].rfind('\n').map_or(0, |at| at + 1);
    [0, middle, document.text.len()]
}

fn timed(work: &dyn Fn()) -> Duration {
    let since = Instant::now();
    work();
    since.elapsed()
}

/// Four times the text takes about four times as long: ten leaves room for noise, and a search of every line in every line takes sixteen. Both are done up to
/// three times, as something else may run meanwhile; times of less than a fifth of a second say nothing.
fn is_linear(small: &dyn Fn(), large: &dyn Fn()) -> Result<(), [Duration; 2]> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..3 {
        best = [best[0].min(timed(small)), best[1].min(timed(large))];
        if best[1] < Duration::from_millis(200) || best[1] < best[0] * 10 {
            return Ok(());
        }
    }
    Err(best)
}

#[test]
fn questions_about_large_texts_take_time_in_proportion() {
    let lines = std::env::var("CTM_LARGE_LINES").ok().and_then(|lines| lines.parse().ok()).unwrap_or(4_000);
    let mut slow = String::new();
    for (name, language, text) in TEXTS {
        let (small, large) = (text(lines), text(4 * lines));
        let read = |text: &str| _ = black_box(Document::new(language, text));
        if let Err(times) = is_linear(&|| read(&small), &|| read(&large)) {
            let _ = writeln!(slow, "{name}: read {times:?}");
        }
        let (small, large) = (Document::new(language, small), Document::new(language, large));
        for (question, ask) in QUESTIONS {
            if let Err(times) = is_linear(&|| ask(&small), &|| ask(&large)) {
                let _ = writeln!(slow, "{name}: {question} {times:?}");
            }
        }
    }
    assert!(slow.is_empty(), "\n{slow}");
}

/// Findings that an editor is given do not grow with the text.
#[test]
fn findings_are_bounded_and_the_last_says_how_many_more() {
    for (language, line) in [(Language::X1k, "mvo o0, r0\n"), (Language::R700, "FROB: R0.x\n")] {
        let document = Document::new(language, line.repeat(5_000));
        let (shown, more) = shown_findings(&document.findings);
        assert_eq!(shown.len(), 1000);
        let rest = document.findings.len() - 1000;
        assert!(rest >= 4_000, "{rest}");
        assert!(more.unwrap().message.starts_with(&format!("{rest} more findings are not shown")));
        let few = Document::new(language, line.repeat(3));
        assert_eq!(shown_findings(&few.findings).1, None);
    }
}

/// Programs as listings. An X1K program has 512 slots: those of the R700 can be large.
#[test]
fn listings_of_large_programs_take_time_in_proportion() {
    use ctm_isa::r700::text::{TextOptions, assemble, disassemble};
    let mut slow = String::new();
    for (name, _, text) in
        TEXTS.iter().filter(|(name, language, _)| *language == Language::R700 && !name.contains("not there"))
    {
        let program = |lines| assemble(&text(lines), &TextOptions::default()).program;
        let (Some(small), Some(large)) = (program(4_000), program(16_000)) else { continue };
        let print = |program| _ = black_box(disassemble(program, &TextOptions::default()));
        if let Err(times) = is_linear(&|| print(&small), &|| print(&large)) {
            let _ = writeln!(slow, "{name}: {times:?}");
        }
    }
    assert!(slow.is_empty(), "\n{slow}");
}
