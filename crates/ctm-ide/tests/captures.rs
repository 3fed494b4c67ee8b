//! Draws of captured command streams, looked into as jobs are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::trace::observe::Place;
use ctm::trace::{Ancestry, Choice, DrawStage, Limits, Profile, Subject, Trace};
use ctm_exec::Position;
use ctm_exec::r700::Target;
use ctm_ide::captures::Capture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn subject(name: &str, stage: DrawStage) -> Subject {
    let path = root().join("crates/ctm-radeon/tests/captures").join(name).with_extension("capture");
    assert!(Capture::is_one(&path));
    Subject::Drawing(Arc::new(Capture::read(&path).unwrap()), stage)
}

/// Draw 2 of these captures draws the picture; `Choice` counts from 0.
const PICTURE: Choice = Choice { pass: Some(1), launch: None };

fn trace(subject: &Subject, (i, j): (u32, u32)) -> Trace {
    let at = Position { i, j };
    let chosen = subject.choose(PICTURE, Some(at)).unwrap_or_else(|e| panic!("{e}"));
    Trace::of(subject, &chosen, at, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Truth: the pictures of the corpus, which llvmpipe drew.
#[test]
fn pixels_of_captures_are_those_of_the_corpus() {
    for name in ["plasma", "loop_break_continue", "tex2d", "nested_if"] {
        let picture = std::fs::read(root().join("tests/corpus/mesa/refs").join(name).with_extension("f32")).unwrap();
        let picture: Vec<f32> = picture.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        let subject = subject(name, DrawStage::Pixel);
        for (i, j) in [(0, 0), (17, 40), (63, 63), (50, 3)] {
            let found = trace(&subject, (i, j));
            assert_eq!(found.positions[found.lane], Position { i, j });
            for channel in 0..4 {
                let place = Place::Export(Target::Pixel(0), channel);
                let bits = found.end.get(&(found.lane, place)).copied().unwrap_or(0);
                let expected = picture[(j * 64 + i) as usize * 4 + usize::from(channel)];
                let error = (f32::from_bits(bits) - expected).abs() / expected.abs().max(1.0);
                assert!(error <= 1e-4, "{name} ({i}, {j}) {place}: {}, not {expected}", f32::from_bits(bits));
            }
            let tree = Ancestry::of(&found, found.lane, Place::Export(Target::Pixel(0), 0), None);
            assert!(tree.is_some_and(|tree| !tree.nodes.is_empty()), "{name}");
        }
    }
}

#[test]
fn vertices_and_counts_of_captures() {
    let vertices = subject("plasma", DrawStage::Vertex);
    // A strip of four: the corners of the picture.
    let mut corners = Vec::new();
    for vertex in 0..4 {
        let found = trace(&vertices, (vertex, 0));
        let [x, y] = [0, 1].map(|c| found.end[&(found.lane, Place::Export(Target::Position(0), c))]);
        corners.push([f32::from_bits(x), f32::from_bits(y)]);
    }
    assert!(corners.iter().all(|corner| corner.iter().all(|c| c.abs() == 1.0)), "{corners:?}");
    let pixels = subject("plasma", DrawStage::Pixel);
    let profile = Profile::of(&pixels, &pixels.choose(PICTURE, None).unwrap()).unwrap();
    assert_eq!((profile.domain.width(), profile.domain.height()), (64, 64));
    assert!(profile.fault.is_none() && profile.instructions.iter().all(|&n| n > 5 && n == profile.instructions[0]));
}

#[test]
fn what_a_capture_does_not_have_is_said() {
    let pixels = subject("plasma", DrawStage::Pixel);
    let said = |choice, at: (u32, u32)| {
        pixels.choose(choice, Some(Position { i: at.0, j: at.1 })).map(|_| ()).unwrap_err().to_string()
    };
    let beyond = said(Choice { pass: Some(3), launch: None }, (1, 1));
    assert!(beyond.contains("there is no draw 4, there are draws 1 to 3"), "{beyond}");
    let outside = said(PICTURE, (64, 1));
    assert!(outside.contains("the pixel program does not run for pixel (64, 1)"), "{outside}");
    let fragments = said(Choice { launch: Some(1), ..PICTURE }, (1, 1));
    assert!(fragments.contains("runs 1 times for pixel (1, 1), there is no time 1"), "{fragments}");
}
