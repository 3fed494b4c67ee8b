//! A driver's streams, decoded, checked and drawn: whole, with clears, vertex programs and the copy that is read back.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::Engine;
use ctm_jit::Jit;
use ctm_radeon::capture::{CaptureEvent, Reader};
use ctm_radeon::execute::{DrawOptions, Next};
use ctm_radeon::replay::Replay;
use ctm_radeon::{check, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

fn captures() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in [folder(), folder().join("tiled"), folder().join("scenes")] {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.extend(files.filter(|path| path.extension().is_some_and(|e| e == "capture")));
    }
    all.sort();
    assert!(all.len() >= 50, "{}", all.len());
    all
}

/// The targets of each submission: name and bits.
fn drawn(path: &Path, engine: Box<dyn Engine>) -> Vec<BTreeMap<String, Vec<[u32; 4]>>> {
    let mut replay = Replay::new(std::fs::File::open(path).unwrap(), engine).unwrap();
    let mut all = Vec::new();
    while let Some(replayed) = replay.step(&mut |_| Next::Continue).unwrap() {
        assert!(replayed.submitted.problems.is_empty(), "{}: {:?}", path.display(), replayed.submitted.problems);
        all.push(replay.targets().unwrap().into_iter().map(|picture| (picture.name, picture.pixels)).collect());
    }
    all
}

/// Truth: the pictures of the corpus, which llvmpipe drew.
#[test]
fn streams_give_the_pictures_of_the_corpus() {
    let refs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/refs");
    let mut compared = 0;
    for path in captures().into_iter().filter(|path| !path.with_extension("rgba").exists()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let submissions = drawn(&path, Box::new(Jit::default()));
        // The first clears, the second draws, and each of the others copies a target to where the process reads it.
        for (target, copy) in submissions[2..].iter().enumerate() {
            let file = if target == 0 { format!("{name}.f32") } else { format!("{name}.{target}.f32") };
            let expected = std::fs::read(refs.join(file)).unwrap();
            let expected: Vec<f32> =
                expected.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
            let found: Vec<f32> = copy["colour0"].as_flattened().iter().map(|&bits| f32::from_bits(bits)).collect();
            assert_eq!(found.len(), expected.len());
            for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let error = (found - expected).abs() / expected.abs().max(1.0);
                assert!(error <= 1e-4, "{}: element {n} is {found}, expected is {expected}", path.display());
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 38);
}

/// Both engines give the same bits.
#[test]
fn the_interpreter_gives_the_same_bits() {
    for name in ["conv5x5", "mandelbrot", "mrt2", "trig"] {
        let path = folder().join(format!("{name}.capture"));
        assert_eq!(drawn(&path, Box::new(ctm_exec::Interp)), drawn(&path, Box::new(Jit::default())), "{name}");
    }
}

/// The scenes of OpenGL: 1, 2 and 8 threads give the same bits, and so does the interpreter.
#[test]
fn scenes_have_the_same_bits_with_any_number_of_threads() {
    let mut scenes: Vec<PathBuf> = captures().into_iter().filter(|path| path.with_extension("rgba").exists()).collect();
    scenes.sort();
    assert!(scenes.len() >= 10, "{}", scenes.len());
    for (n, path) in scenes.iter().enumerate() {
        let with = |threads: usize, engine: Box<dyn Engine>| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| drawn(path, engine))
        };
        let expected = with(1, Box::<Jit>::default());
        for threads in [2, 8] {
            assert!(with(threads, Box::<Jit>::default()) == expected, "{}: {threads} threads", path.display());
        }
        // The interpreter is slow: every third scene.
        if n % 3 == 0 {
            assert!(with(2, Box::new(ctm_exec::Interp)) == expected, "{}: interpreter", path.display());
        }
    }
}

#[test]
fn streams_become_text_and_the_same_words_again() {
    for path in captures() {
        let mut reader = Reader::new(std::fs::File::open(&path).unwrap()).unwrap();
        while let Some(event) = reader.next().unwrap() {
            let CaptureEvent::Submission(submission) = event else { continue };
            let shown = text::disassemble(&submission.words, &[]);
            assert!(!shown.contains(".word") && !shown.contains("PACKET") && !shown.contains("\n    0x"), "{shown}");
            assert_eq!(text::assemble(&shown).unwrap(), submission.words, "{}", path.display());
        }
    }
}

#[test]
fn nothing_is_wrong_with_them() {
    for path in captures() {
        let mut replay = Replay::new(std::fs::File::open(&path).unwrap(), Box::new(ctm_exec::Interp)).unwrap();
        while let Some(submission) = replay.read().unwrap() {
            let relocations = replay.relocations(&submission);
            let found = check::check(&submission.words, Some(&relocations), Some(&replay.memory()));
            assert_eq!(found, [], "{}", path.display());
        }
    }
}

/// A replay can stop at a draw, and its list has the draw's counts.
#[test]
fn a_replay_stops_behind_a_draw() {
    let file = std::fs::File::open(folder().join("plasma.capture")).unwrap();
    let mut replay = Replay::new(file, Box::new(Jit::default())).unwrap();
    let mut outlines = Vec::new();
    let replayed = replay
        .step(&mut |stepped| {
            outlines.push(stepped.outline.clone());
            Next::Stop
        })
        .unwrap()
        .unwrap();
    assert!(replayed.submitted.stopped);
    assert_eq!((outlines[0].count, outlines[0].counts.pixels, outlines[0].indexed), (3, 4096, false));
    let mask = outlines[0].changes.iter().find(|change| ctm_radeon::registers::name(change.0) == "CB_TARGET_MASK");
    assert_eq!(mask.map(|change| change.1), Some(15));
    let pictures = replay.targets().unwrap();
    assert_eq!(pictures[0].pixels[0].map(f32::from_bits), [-1.0; 4]);
}

/// The last fragment of a pixel in a scene is the target's value there; a checked run of these programs has no notes.
#[test]
fn a_replay_tells_what_came_to_a_pixel() {
    let file = std::fs::File::open(folder().join("plasma.capture")).unwrap();
    let mut replay = Replay::new(file, Box::new(Jit::default())).unwrap();
    let at = [9, 20];
    replay.device().set_options(DrawOptions { watch: Some(at), checks: true, ..DrawOptions::default() });
    let (mut fragments, mut notes) = (Vec::new(), Vec::new());
    let mut draws = 0;
    replay
        .step(&mut |stepped| {
            draws += 1;
            fragments = stepped.fragments.to_vec();
            notes.extend(stepped.notes.to_vec());
            assert_eq!(stepped.programs.iter().map(|program| program.0).collect::<Vec<_>>(), ["vertex", "pixel"]);
            if draws == 2 { Next::Stop } else { Next::Continue }
        })
        .unwrap()
        .unwrap();
    assert_eq!(notes, []);
    let pictures = replay.targets().unwrap();
    let [width, _] = pictures[0].size;
    let held = pictures[0].pixels[(at[1] * width + at[0]) as usize];
    assert!(!fragments.is_empty());
    assert_eq!(fragments.last().map(|last| last.stored[0].after), Some(held));
}

/// Scenes of many kinds beside llvmpipe's pictures of the same calls: how far a value of 0 to 255 may be off, and how many may be further off.
#[test]
fn scenes_are_those_of_llvmpipe() {
    let table = [
        ("depth", 1.01, 0),
        ("stencil", 1.01, 0),
        ("cull", 1.01, 0),
        ("index", 1.01, 0),
        ("points", 1.01, 0),
        ("geom", 1.01, 0),
        ("query", 1.01, 0),
        ("dtex", 1.01, 0),
        // Two roundings in sequence.
        ("blend", 2.01, 0),
        // Vertices between the steps of the grid: some pixels on edges belong to the other side.
        ("inst", 1.01, 8),
        ("xfb", 1.01, 36),
        // Texels on the border of two.
        ("fmt", 1.01, 20),
        // llvmpipe blends levels by a simpler formula.
        ("mip", 10.0, 0),
        // Samples lie elsewhere.
        ("msaa", 1.01, 320),
    ];
    for (name, tolerance, most) in table {
        let path = folder().join("scenes").join(format!("{name}.capture"));
        let submissions = drawn(&path, Box::new(Jit::default()));
        let found = &submissions.last().unwrap()["colour0"];
        let expected = std::fs::read(path.with_extension("rgba")).unwrap();
        assert_eq!(found.len() * 4, expected.len());
        let found = found.as_flattened().iter().map(|&bits| f32::from_bits(bits) * 255.0);
        let off = found.zip(&expected).filter(|(found, expected)| (found - f32::from(**expected)).abs() > tolerance);
        let off = off.count();
        assert!(off <= most, "{name}: {off} values are off by more than {tolerance}, allowed are {most}");
    }
}
