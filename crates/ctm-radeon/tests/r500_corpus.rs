//! The pixel programs of the corpus, drawn from whole streams of Mesa's r300 driver: clears, vertex programs, textures in tiles, and copies that are read back.
//!
//! Truth: the pictures of `tests/corpus/mesa/refs`, which llvmpipe drew.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Engine, Interp};
use ctm_jit::Jit;
use ctm_radeon::check::check_for;
use ctm_radeon::execute::Next;
use ctm_radeon::packets::r500::RV530;
use ctm_radeon::replay::Replay;
use ctm_radeon::text::{assemble_for, disassemble_for};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The program, and the place of an element that is farther from its picture: a rounding error of the fused multiplication and addition grows in the program's loop
/// (`ctm-exec/tests/corpus.rs` shows it).
const FUSED: (&str, usize) = ("loop_break_continue", 4 * (64 * 22 + 35) + 2);

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/r500/corpus");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    assert_eq!(all.len(), 26);
    all
}

/// Colour target 0 after each submission, as bits.
fn drawn(path: &Path, engine: Box<dyn Engine>) -> Vec<Vec<u32>> {
    let mut replay = Replay::new(File::open(path).unwrap(), engine).unwrap();
    let mut all = Vec::new();
    while let Some(replayed) = replay.step(&mut |_| Next::Continue).unwrap() {
        assert!(replayed.submitted.problems.is_empty(), "{}: {:?}", path.display(), replayed.submitted.problems);
        let target = replay.targets().unwrap().into_iter().find(|picture| picture.name == "colour0");
        all.push(target.map(|picture| picture.pixels.into_flattened()).unwrap_or_default());
    }
    all
}

fn number(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().unwrap())
}

#[test]
fn streams_give_the_pictures_of_the_corpus() {
    let refs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/refs");
    let mut compared = 0;
    for path in captures() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let files: Vec<PathBuf> =
            [format!("{name}.f32"), format!("{name}.1.f32")].map(|file| refs.join(file)).into_iter().collect();
        let files: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
        let mut submissions = drawn(&path, Box::<Jit>::default());
        submissions.retain(|target| !target.is_empty());
        // The last submissions copy a target each to where the process reads it.
        let copies = &submissions[submissions.len() - files.len()..];
        for (copy, file) in copies.iter().zip(files) {
            let expected: Vec<f32> = std::fs::read(file).unwrap().chunks_exact(4).map(number).collect();
            assert_eq!(copy.len(), expected.len(), "{name}");
            for (n, (found, expected)) in copy.iter().map(|&bits| f32::from_bits(bits)).zip(expected).enumerate() {
                let most = if (name, n) == FUSED { 1e-3 } else { 1e-4 };
                let error = (found - expected).abs() / expected.abs().max(1.0);
                assert!(error <= most, "{name}: element {n} is {found}, expected is {expected}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 27);
}

#[test]
fn the_interpreter_gives_the_same_bits() {
    for path in captures().into_iter().step_by(5) {
        assert!(drawn(&path, Box::new(Interp)) == drawn(&path, Box::<Jit>::default()), "{}", path.display());
    }
}

#[test]
fn nothing_is_wrong_with_the_streams() {
    for path in captures() {
        let mut replay = Replay::new(File::open(&path).unwrap(), Box::new(Interp)).unwrap();
        while let Some(submission) = replay.read().unwrap() {
            let relocations = replay.relocations(&submission);
            assert_eq!(check_for(&RV530, &submission.words, Some(&relocations), Some(&replay.memory())), []);
            let shown = disassemble_for(&RV530, &submission.words, &relocations);
            assert_eq!(assemble_for(&RV530, &shown).unwrap(), submission.words, "{}", path.display());
        }
    }
}
