//! Files of cases for the checkers: a program and its expected findings. The tests that use them describe the format.

use ctm_isa::diag::Diagnostic;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

fn expectation(finding: &Diagnostic, with_rule: bool) -> String {
    let pc = finding.pc.map_or_else(|| "-".to_owned(), |pc| pc.to_string());
    let rule = if with_rule { format!(" {}", finding.rule) } else { String::new() };
    format!("  = {pc}{rule}: {}", finding.message)
}

/// Runs a vector file through `check`, which reads the lines of a program (without comments); returns for each rule how many cases reject
/// and accept. With UPDATE_EXPECT set, the findings are written to the file instead.
pub fn run(
    path: &Path,
    is_rule: impl Fn(&str) -> bool,
    check: impl Fn(&[&str]) -> Vec<Diagnostic>,
) -> BTreeMap<String, (u32, u32)> {
    let name = path.display();
    let text = std::fs::read_to_string(path).unwrap();
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let (mut updated, mut failures) = (String::new(), String::new());
    let mut current = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        writeln!(updated, "{line}").unwrap();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "rule" => {
                assert!(is_rule(rest), "{name}:{at}: no rule is named `{rest}`");
                rest.clone_into(&mut current);
                continue;
            }
            "rejects" | "accepts" | "program" => {}
            _ => {
                assert!(line.is_empty() || line.starts_with('#'), "{name}:{at}: `{line}`");
                continue;
            }
        }
        let start = at;
        while at < lines.len() && lines[at].starts_with("  ") {
            at += 1;
        }
        let (expected, body): (Vec<&str>, Vec<&str>) =
            lines[start..at].iter().copied().partition(|line| line.starts_with("  = "));
        let instructions: Vec<&str> = body
            .iter()
            .map(|line| line.split('#').next().unwrap().trim_end())
            .filter(|line| !line.is_empty())
            .collect();
        let whole = word == "program";
        let found: Vec<String> = check(&instructions)
            .iter()
            .filter(|finding| whole || finding.rule == current)
            .map(|finding| expectation(finding, whole))
            .collect();
        body.iter().for_each(|line| writeln!(updated, "{line}").unwrap());
        found.iter().for_each(|line| writeln!(updated, "{line}").unwrap());
        let wrong_kind = match word {
            "rejects" => found.is_empty(),
            "accepts" => !found.is_empty(),
            _ => false,
        };
        let update = std::env::var_os("UPDATE_EXPECT").is_some();
        assert!(!(update && wrong_kind), "{name}:{start}: {line}: {found:?}");
        if wrong_kind || found != expected {
            let (found, expected) = (found.join("\n"), expected.join("\n"));
            writeln!(failures, "{name}:{start}: {line}\nexpected\n{expected}\nfound\n{found}\n").unwrap();
        }
        let count = counts.entry(current.clone()).or_default();
        count.0 += u32::from(word == "rejects" && !wrong_kind);
        count.1 += u32::from(word == "accepts" && !wrong_kind);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, updated).unwrap();
    } else {
        assert!(failures.is_empty(), "{failures}");
    }
    counts
}
