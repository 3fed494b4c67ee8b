//! Every block of the pages on R700 assembly (`docs/r700-assembly.md` and the two after it) is as the page says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::text::{TextOptions, assemble, disassemble};

fn blocks(tag: &str) -> Vec<String> {
    let page = ["r700-assembly", "r700-assembly-fetches", "r700-containers"]
        .map(|name| std::fs::read_to_string(format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let page = page.join("\n");
    let mut all = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{tag}") {
            all.push(lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect());
        }
    }
    all
}

#[test]
fn examples_assemble_and_print_to_the_same_words() {
    let all = blocks("r700");
    assert!(all.len() >= 9, "{}", all.len());
    for source in &all {
        let assembly = assemble(source, &TextOptions::default());
        let allowed = ["no-end", "slot-element"];
        assert!(assembly.diagnostics.iter().all(|d| allowed.contains(&d.rule)), "{source}\n{:?}", assembly.diagnostics);
        let program = assembly.program.unwrap();
        let text = disassemble(&program, &TextOptions::default());
        let again = assemble(&text, &TextOptions::default()).program.unwrap();
        assert_eq!(
            (again.words, again.stage, again.symbols),
            (program.words, program.stage, program.symbols),
            "{text}"
        );
    }
    // The second block is the first as it is printed.
    let words = |i: usize| assemble(&all[i], &TextOptions::default()).program.unwrap().words;
    assert_eq!(words(0), words(1));
    let first = assemble(&all[0], &TextOptions::default()).program.unwrap();
    assert_eq!(disassemble(&first, &TextOptions { header: false, ..TextOptions::default() }), all[1]);
}

#[test]
fn wrong_examples_are_refused() {
    for source in blocks("r700-error") {
        let rules: Vec<_> = assemble(&source, &TextOptions::default()).diagnostics.iter().map(|d| d.rule).collect();
        assert_eq!(rules, ["unknown-mnemonic", "two-slots", "label"]);
    }
}
