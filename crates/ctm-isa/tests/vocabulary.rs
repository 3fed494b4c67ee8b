//! The words that editors know are those of the languages: every word of a printed program is one of them, a register, or a number.

use ctm_isa::r700::program::Stage;
use ctm_isa::vocabulary::{Vocabulary, WordKind};
use ctm_isa::x1k::random::FlowControl;
use ctm_isa::{r700, x1k};
use std::collections::BTreeSet;

/// Words of a listing without its comments.
fn words(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or(""));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    lines.flat_map(|line| line.split(move |c| !is_word(c))).map(str::to_owned).collect()
}

/// The words that are neither known, nor registers, numbers, swizzles or names of fields.
fn unknown(text: &str, vocabulary: &Vocabulary, fields: &BTreeSet<&str>, letters: &str) -> Vec<String> {
    let known = |word: &str| vocabulary.iter().any(|(_, known)| *known == word);
    let names = |word: &str| {
        // `R3.x`, `.const`, `CB0`: the text before the point, without its digits.
        let head = word.trim_start_matches('.').split('.').next().unwrap_or("");
        let stem = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let register = stem.len() < head.len() && letters.split(' ').any(|letter| letter == stem);
        known(head) || register || known(stem) || fields.contains(head) || stem.is_empty()
    };
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || word.parse::<f32>().is_ok();
    let swizzle = |word: &str| word.trim_start_matches('.').chars().all(|c| "rgbaxyzwt01h_.".contains(c));
    words(text).into_iter().filter(|word| !number(word) && !swizzle(word) && !names(word)).collect()
}

#[test]
fn the_words_of_printed_r700_programs_are_known() {
    let vocabulary = r700::text::vocabulary();
    let fields: BTreeSet<&str> = r700::formats::WORDS.iter().flat_map(|w| w.fields.iter().map(|f| f.name)).collect();
    // The parentheses of modifiers: values of tables, printed by their names.
    let values: BTreeSet<&str> = r700::formats::WORDS
        .iter()
        .flat_map(|w| w.fields.iter())
        .flat_map(|f| f.values.iter().map(|v| v.name))
        .collect();
    let mut fields: BTreeSet<&str> = fields.union(&values).copied().collect();
    fields.extend([
        "SCALED", "SIGNED", "NOT_BOOL", "BOOL", "X", "XY", "XYZ", "XYZW", "XZ", "YZ", "ZW", "XW", "YW", "Y", "Z", "W",
    ]);
    fields.extend(["NaNf", "inff", "pixel", "vertex", "geometry", "export", "copy", "compute", "fetch"]);
    let mut missing = BTreeSet::new();
    for seed in 0..200 {
        for stage in [Stage::Pixel, Stage::Vertex, Stage::Geometry, Stage::Compute] {
            let shape = r700::random::RandomContents { sharing: true, ..r700::random::RandomContents::all(stage) };
            let text =
                r700::text::disassemble(&r700::random::program(seed, &shape), &r700::text::TextOptions::default());
            missing.extend(unknown(&text, &vocabulary, &fields, "R C KC t s b i CB PIX POS PARAM T PV PS XYZW"));
        }
    }
    assert!(missing.iter().all(|word| word.chars().all(|c| "XYZW".contains(c))), "{missing:?}");
}

#[test]
fn the_words_of_printed_x1k_programs_are_known() {
    let vocabulary = x1k::text::vocabulary();
    let fields: BTreeSet<&str> =
        x1k::formats::WORDS.iter().flat_map(|(_, w)| w.fields.iter().map(|f| f.name)).collect();
    let mut missing = BTreeSet::new();
    for seed in 0..400 {
        for flow in [FlowControl::None, FlowControl::Statements, FlowControl::Raw] {
            let shape = x1k::random::RandomContents {
                instructions: 40,
                flow,
                inputs: 2,
                watches_idle_lanes: true,
                relative: true,
            };
            let text =
                x1k::text::disassemble(&x1k::random::program(seed, &shape), &x1k::text::ListingOptions::default());
            missing.extend(unknown(&text, &vocabulary, &fields, "r c s o i b t L"));
        }
    }
    // Words of operands and of the raw form that are no words of their own: conditions, table entries.
    let inside = [
        "c", "r", "lt", "ge", "eq", "ne", "func", "any", "bool", "int", "pop", "incr", "decr", "push", "to", "same",
        "each", "always", "b0", "b1", "full", "partial", "yes", "no", "inf", "nan", "none", "true", "false",
    ];
    missing.retain(|word| !inside.contains(&word.as_str()) && !word.starts_with('L'));
    let names: BTreeSet<&str> = x1k::formats::WORDS
        .iter()
        .flat_map(|(_, w)| w.fields.iter())
        .flat_map(|f| f.values.iter().map(|v| v.name))
        .chain(x1k::formats::WORDS.iter().map(|(_, w)| w.name))
        .collect();
    missing.retain(|word| !names.contains(word.split('.').next().unwrap_or("")));
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_words_of_printed_vertex_programs_are_known() {
    use ctm_isa::pvs;
    let vocabulary = pvs::text::vocabulary();
    assert!(vocabulary.windows(2).all(|pair| pair[0] < pair[1]));
    let path = ctm_testkit::root().join("tests/corpus/pvs/programs.hex");
    let mut missing = BTreeSet::new();
    for block in std::fs::read_to_string(path).expect("a file of the project").split("\n\n") {
        let word = |w: &str| u32::from_str_radix(w, 16).expect("a word");
        let lines = block.lines().skip(1).map(|line| line.split(' ').map(word).collect::<Vec<u32>>());
        let words = lines.map(|words| words.try_into().expect("four words")).collect();
        let text =
            pvs::text::disassemble(&pvs::VertexProgram::from_words(words), &pvs::text::ListingOptions::default());
        let without_clamps = text.replace("_sat", "");
        missing.extend(unknown(&without_clamps, &vocabulary, &BTreeSet::new(), "r v c at a o ox L"));
    }
    // `c[a0.x+5]`
    missing.retain(|word| !["r", "v", "c", "o"].contains(&word.as_str()));
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_word_is_there_once_for_its_kind() {
    for vocabulary in [x1k::text::vocabulary(), r700::text::vocabulary()] {
        assert!(vocabulary.windows(2).all(|pair| pair[0] < pair[1]));
        for kind in WordKind::ALL.iter().filter(|kind| **kind != WordKind::Export) {
            assert!(vocabulary.iter().any(|(of, _)| of == kind), "{kind:?}");
        }
    }
}
