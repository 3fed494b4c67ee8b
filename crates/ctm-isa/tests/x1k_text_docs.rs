//! Every block of `docs/x1k-assembly.md` and `docs/x1k-assembly-flow.md` is as the page says.

use ctm_isa::x1k::program::Program;
use ctm_isa::x1k::text::{ListingOptions, assemble, disassemble};

const PAGES: &str =
    concat!(include_str!("../../../docs/x1k-assembly.md"), include_str!("../../../docs/x1k-assembly-flow.md"));

/// The fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGES.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn examples_assemble_and_come_back() {
    let blocks = blocks("x1k");
    assert!(blocks.len() >= 9, "found {}", blocks.len());
    for block in blocks {
        let assembly = assemble(block);
        assert!(assembly.diagnostics.is_empty(), "{:#?}\n{block}", assembly.diagnostics);
        let program = assembly.program.expect("no findings");
        let listing = disassemble(&program, &ListingOptions::default());
        assert!(!listing.contains(".word"), "{listing}");
        let back = assemble(&listing).program.expect("a listing assembles");
        assert_eq!(Program { spans: Vec::new(), ..back }, Program { spans: Vec::new(), ..program }, "{listing}");
    }
}

#[test]
fn wrong_examples_give_their_messages() {
    let blocks = blocks("x1k-error");
    assert!(blocks.len() >= 2);
    for block in blocks {
        let expected: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix("; error: ")).collect();
        let found: Vec<String> = assemble(block).diagnostics.into_iter().map(|d| d.message).collect();
        assert_eq!(found, expected, "{block}");
    }
}

/// Every mnemonic and directive that the error messages suggest is on the pages.
#[test]
fn the_pages_name_every_statement() {
    let known = "mad min max cnd cmp frc dp3 dp4 d2a ex2 lg2 rcp rsq sin cos mov add sub mul lrp mdh mdv dp sop idle \
                 tex texp texkill texu texb texl texg texnop if else endif loop endloop rep endrep break continue call \
                 ret end fc .input .output .const .int .bool .reg .interp .position .uncached .zero_times_anything \
                 .mode .conditional_value .entry .last .word";
    for word in known.split_whitespace() {
        assert!(PAGES.contains(&format!("`{word}")) || PAGES.contains(&format!(" {word} ")), "{word}");
    }
}
