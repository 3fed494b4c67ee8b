//! Wrong R700 texts: everything that is said of them, with line and column.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::text::{TextOptions, assemble};

fn findings(source: &str) -> Vec<String> {
    let assembly = assemble(source, &TextOptions::default());
    assembly
        .diagnostics
        .iter()
        .map(|d| {
            let place = d.labels.first().map_or_else(String::new, |label| {
                let before = &source[..label.span.start as usize];
                let line = before.matches('\n').count() + 1;
                let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
                assert!(label.span.end > label.span.start, "an empty place: {d:?}");
                assert!(
                    !source[label.span.start as usize..label.span.end as usize].contains('\n') || d.labels.len() == 1
                );
                format!("{line}:{column}")
            });
            let help = d.help.as_ref().map_or_else(String::new, |h| format!(" ({h})"));
            format!("=> {place} {} {}: {}{help}", d.severity.name(), d.rule, d.message)
        })
        .collect()
}

/// `UPDATE_EXPECT=1` writes the findings into the file, to be read as a diff.
#[test]
fn rejects() {
    let path = ctm_testkit::vectors("r700/text/rejects.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, cases) = text.split_once("\n-- ").unwrap();
    let mut blessed = head.to_owned();
    let mut wrong = Vec::new();
    for case in cases.split("\n-- ") {
        let (title, body) = case.split_once('\n').unwrap();
        let source: String = body.lines().filter(|l| !l.starts_with("=> ")).map(|l| format!("{l}\n")).collect();
        let expected: Vec<&str> = body.lines().filter(|l| l.starts_with("=> ")).collect();
        let found = findings(&source);
        blessed += &format!("\n-- {title}\n{source}{}", found.join("\n"));
        if found != expected {
            wrong.push(format!("{title}:\n{}", found.join("\n")));
        }
        assert!(!found.is_empty(), "{title}: nothing is said");
    }
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(&path, blessed + "\n").unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn no_text_makes_the_assembler_panic() {
    // Listings with single bytes replaced, doubled and taken away.
    let seed = std::fs::read_to_string(ctm_testkit::vectors("r700/text/rejects.txt")).unwrap();
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let cases: Vec<&str> = seed.split("\n-- ").collect();
    for _ in 0..4_000 {
        let mut text = cases[below(cases.len())].as_bytes().to_vec();
        for _ in 0..1 + below(4) {
            let at = below(text.len());
            match below(4) {
                0 => text[at] = b"xyzw0123456789.,:()[]|-+_ \n;@AR"[below(30)],
                1 => text.insert(at, text[at]),
                2 => {
                    text.remove(at);
                }
                _ => text[at] = u8::try_from(below(256)).unwrap(),
            }
        }
        let text = String::from_utf8_lossy(&text);
        let assembly = assemble(&text, &TextOptions { split_groups: true, ..TextOptions::default() });
        for d in &assembly.diagnostics {
            for label in &d.labels {
                assert!(label.span.end as usize <= text.len(), "{d:?}");
            }
        }
    }
}
