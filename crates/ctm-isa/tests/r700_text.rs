//! The R700 listing syntax: what it prints it reads, for programs and for noise.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::Program;
use ctm_isa::r700::text::{Options, assemble, disassemble};
use std::path::{Path, PathBuf};

fn read_hex(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| line.split('#').next().unwrap())
        .flat_map(str::split_whitespace)
        .map(|word| u32::from_str_radix(word, 16).unwrap())
        .collect()
}

fn corpus() -> Vec<(PathBuf, Vec<u32>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut files = Vec::new();
    for directory in ["mesa/r700", "llvm"] {
        files.extend(std::fs::read_dir(root.join(directory)).unwrap().map(|f| f.unwrap().path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "hex"));
    files.sort();
    files.into_iter().map(|f| (f.clone(), read_hex(&f))).collect()
}

fn exact(words: &[u32], name: &str) -> String {
    let program = Program { words: words.to_vec(), ..Program::default() };
    let text = disassemble(&program, &Options { header: false, ..Options::default() });
    let again = assemble(&text, &Options::default());
    let Some(assembled) = again.program else { panic!("{name}: {:#?}\n{text}", again.diagnostics) };
    if assembled.words != words {
        let at = assembled.words.iter().zip(words).position(|(a, b)| a != b);
        panic!(
            "{name}: {} dwords became {}, first difference {at:?}: {:08X?} became {:08X?}\n{text}",
            words.len(),
            assembled.words.len(),
            at.map(|i| words[i]),
            at.map(|i| assembled.words[i]),
        );
    }
    text
}

#[test]
fn corpus_round_trips_exactly() {
    for (path, words) in corpus() {
        let name = path.display().to_string();
        let text = exact(&words, &name);
        let invalid = name.contains("11_indirect");
        assert!(!text.contains(".unchecked"), "{name}\n{text}");
        assert_eq!(text.contains(".word"), invalid || name.contains("llvm"), "{name}\n{text}");
    }
}
