//! Every instruction and modifier of the language, executed and compared with the evaluator.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::harness;

use harness::compare;

/// The shaders of `tests/shaders.txt`: blocks that begin with a `#` line.
fn shaders() -> Vec<(String, String)> {
    let text = include_str!("shaders.txt");
    let mut list: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            list.push((name.to_owned(), String::new()));
        } else if let Some((_, body)) = list.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    list
}

#[test]
fn shaders_give_what_the_language_says() {
    for (name, text) in shaders() {
        let compared = compare(&text);
        assert!(compared.known > 30, "{name}: only {compared:?}");
        assert!(compared.unknown < compared.known, "{name}: {compared:?}");
    }
}

#[test]
fn every_instruction_is_executed() {
    let all = shaders().into_iter().map(|s| s.1).collect::<String>();
    let used = |name: &str| {
        all.lines().any(|l| {
            let l = l.rsplit(')').next().unwrap().trim();
            l.split([' ', '_']).next() == Some(name)
        })
    };
    for row in ctm_ps3::table::ROWS {
        assert!(used(row.name), "no shader uses {}", row.name);
    }
}
