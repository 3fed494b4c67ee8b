//! Draws of captured command streams, looked into as jobs are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::EngineKind;
use ctm::job::AnyProgram;
use ctm::trace::observe::{Place, Read};
use ctm::trace::{
    Ancestry, Apart, Choice, DrawStage, Draws, Limits, Profile, Subject, Trace, apart, draws_parting, targets_behind,
};
use ctm_exec::r700::Target;
use ctm_exec::{Interp, Position};
use ctm_ide::captures::Capture;
use ctm_isa::r700;
use ctm_radeon::capture::{CaptureEvent, Reader, Writer};
use ctm_testkit::changed::{Changed, LaunchRun};
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

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(root().join("crates/ctm-radeon/tests/captures").join(name).with_extension("capture")).unwrap()
}

/// The same capture with other words where it has these.
fn changed(bytes: &[u8], from: &[u32], to: &[u32]) -> Vec<u8> {
    let flat = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (from, to) = (flat(from), flat(to));
    let mut reader = Reader::new(bytes).unwrap();
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, serde_json::json!({})).unwrap();
    let mut found = false;
    while let Some(event) = reader.next().unwrap() {
        let CaptureEvent::Submission(submission) = event else { continue };
        let mut buffers: Vec<_> = reader.buffers().iter().collect();
        buffers.sort_by_key(|(number, _)| **number);
        for (number, buffer) in buffers {
            let mut bytes = buffer.bytes.clone();
            for at in (0..bytes.len().saturating_sub(from.len())).step_by(4) {
                if bytes[at] == from[0] && bytes[at..at + from.len()] == from {
                    bytes[at..at + to.len()].copy_from_slice(&to);
                    found = true;
                }
            }
            let read = |at: u64, into: &mut [u8]| {
                let at = usize::try_from(at).unwrap();
                into.copy_from_slice(&bytes[at..at + into.len()]);
                Ok(())
            };
            writer.buffer(*number, buffer.info, [(0, buffer.info.size_bytes)], read).unwrap();
        }
        writer.submission(&submission.words, &submission.relocations).unwrap();
    }
    assert!(found, "the words are in a buffer");
    out
}

fn draws(bytes: &[u8]) -> Arc<dyn Draws> {
    Arc::new(Capture::from_bytes(bytes.to_vec()))
}

fn apart_from(a: &Arc<dyn Draws>, b: &Arc<dyn Draws>) -> Option<Apart> {
    let engine = || EngineKind::default().engine().unwrap();
    apart((&**a, engine()), (&**b, engine()), 0.0).unwrap_or_else(|e| panic!("{e}"))
}

/// The line with its first source negated, if it has one.
fn negated(line: &str) -> Option<String> {
    let at = line.find(", ")? + 2;
    let starts = line[at..].chars().next()?;
    let negates = ["MULADD", "MUL", "ADD", "MOV", "DOT4"].iter().any(|op| line.contains(op));
    (negates && starts.is_ascii_uppercase()).then(|| format!("{}-{}", &line[..at], &line[at..]))
}

/// Plants one changed instruction after the other in the programs of captures: the draw, a pixel, and the instruction are found.
#[test]
fn changed_instructions_of_captures_are_found() {
    // None with loops: faults planted there may never end.
    let names =
        ["plasma", "arith_mad", "arith_dot", "absneg_sat", "explog", "minmax", "swizzle_const", "trig", "varying"];
    let (mut found, mut vertices) = (0, 0);
    for name in names {
        let bytes = bytes_of(name);
        let whole = draws(&bytes);
        assert_eq!(apart_from(&whole, &draws(&bytes)), None, "{name}");
        for stage in [DrawStage::Pixel, DrawStage::Vertex] {
            let subject = Subject::Drawing(Arc::clone(&whole), stage);
            let at = if stage == DrawStage::Pixel { Position { i: 30, j: 21 } } else { Position::default() };
            let chosen = subject.choose(PICTURE, Some(at)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let trace = Trace::of(&subject, &chosen, at, &Limits::default()).unwrap();
            let AnyProgram::R700(program) = &chosen.program.program else { panic!("R700") };
            let text = r700::text::disassemble(program, &r700::text::TextOptions::default());
            let lines: Vec<&str> = text.lines().collect();
            let mut planted = 0;
            for line in 1..=lines.len() {
                let runs = trace.of_lane(trace.lane).any(|(step, _)| trace.listing.line(step.event.at) == Some(line));
                let Some(other) = negated(lines[line - 1]).filter(|_| planted < 4 && runs) else { continue };
                let mut other_lines = lines.clone();
                other_lines[line - 1] = &other;
                let assembled = r700::text::assemble(&other_lines.join("\n"), &r700::text::TextOptions::default());
                let Some(other_program) = assembled.program else { continue };
                if other_program.words.len() != program.words.len() {
                    continue;
                }
                let other_draws = draws(&changed(&bytes, &program.words, &other_program.words));
                // Changes without effect on pixels are not found, and need not be.
                let Some(Apart::Draw(draw, first)) = apart_from(&whole, &other_draws) else { continue };
                assert_eq!((draw, first.target.as_str()), (1, "colour0"), "{name}");
                let limits = Limits { quad_only: true, ..Limits::default() };
                let parted = draws_parting((&whole, draw), (&other_draws, draw), first.at, &limits, 0.0);
                let parted = parted.unwrap_or_else(|e| panic!("{name}: {e}")).expect("programs part");
                assert_eq!(parted.stage, stage, "{name}: `{}`", lines[line - 1]);
                let store = parted.parting.a.expect("a store of both");
                let place = parted.a.steps[store.step].event.at;
                assert_eq!(parted.a.listing.line(place), Some(line), "{name}: `{}`", lines[line - 1]);
                planted += 1;
                found += 1;
                vertices += u32::from(stage == DrawStage::Vertex);
            }
        }
    }
    assert!(found >= 20, "{found} planted changes were found");
    println!("{found} planted changes were found, {vertices} of them in vertex programs");
}

/// The values of vertices differ, programs do not: the vertex programs part where they fetch them.
#[test]
fn changed_vertices_of_captures_are_found() {
    let bytes = bytes_of("varying");
    let whole = draws(&bytes);
    let vertices = Subject::Drawing(Arc::clone(&whole), DrawStage::Vertex);
    // All four: the bits of one alone are those of the clear colour, too.
    let of_vertex = |n: u32| -> Vec<u32> {
        let trace = trace(&vertices, (n, 0));
        let events = trace.of_lane(trace.lane).flat_map(|(_, event)| event.reads.clone());
        events.filter(|read: &Read| matches!(read.place, Place::Buffer(..))).map(|read| read.bits).collect()
    };
    let fetched: Vec<u32> = (0..4).flat_map(of_vertex).collect();
    assert_eq!(fetched.len(), 8, "{fetched:x?}");
    let mut other = fetched.clone();
    // 0.5 in place of 1.
    other[2] ^= 0x0080_0000;
    let other = draws(&changed(&bytes, &fetched, &other));
    let Some(Apart::Draw(draw, first)) = apart_from(&whole, &other) else { panic!("the pictures differ") };
    let limits = Limits::default();
    let parted = draws_parting((&whole, draw), (&other, draw), first.at, &limits, 0.0).unwrap();
    let parted = parted.expect("the vertex programs part");
    let text = |trace: &Trace, store: Option<ctm::trace::Store>| {
        store.map(|store| trace.listing.text(trace.steps[store.step].event.at).to_owned())
    };
    let said = text(&parted.a, parted.parting.a);
    assert!(said.as_ref().is_some_and(|said| said.contains("FETCH")), "{said:?}");
    assert_eq!(
        (parted.stage, parted.at),
        (DrawStage::Vertex, Position { i: 1, j: 0 }),
        "draw {draw}, {first:?}, {:?}: {said:?}",
        parted.parting
    );
}

#[test]
fn captures_with_other_draws_are_told_apart() {
    let bytes = bytes_of("plasma");
    let whole = draws(&bytes);
    // The last record that matters is missing: fewer draws.
    let cut = draws(&bytes[..bytes.len() - bytes.len() / 8]);
    match apart_from(&whole, &cut) {
        Some(Apart::Count { a: 3, b }) => assert!(b < 3),
        other => panic!("{other:?}"),
    }
    match apart_from(&cut, &whole) {
        Some(Apart::Count { a, b: 3 }) => assert!(a < 3),
        other => panic!("{other:?}"),
    }
    let other = draws(&bytes_of("mrt2"));
    let said = apart((&*whole, Box::new(Interp)), (&*other, Box::new(Interp)), 0.0).unwrap_err().to_string();
    assert!(said.contains("draw ") && said.contains("colour1"), "{said}");
    let (draw, targets) = targets_behind(&*whole, Box::new(Interp), Some(1)).unwrap();
    assert_eq!((draw, targets[0].name.as_str(), targets[0].size), (1, "colour0", [64, 64]));
    let said = targets_behind(&*whole, Box::new(Interp), Some(7)).unwrap_err().to_string();
    assert!(said.contains("there is no draw 8, there are draws 1 to 3"), "{said}");
    assert_eq!(whole.list().unwrap().len(), 3);
    // Bytes that are no capture, and a capture that is damaged.
    let mut damaged = bytes.clone();
    let at = damaged.len() / 2;
    damaged[at] ^= 0x55;
    for (bytes, why) in [(b"nothing".to_vec(), "capture"), (damaged, "damaged")] {
        let bad = draws(&bytes);
        let said = apart((&*bad, Box::new(Interp)), (&*whole, Box::new(Interp)), 0.0).unwrap_err().to_string();
        assert!(said.contains(why) || said.contains("checksum"), "{said}");
    }
}

#[test]
fn an_engine_that_is_wrong_is_told_apart() {
    let whole = draws(&bytes_of("plasma"));
    let subject = Subject::Drawing(Arc::clone(&whole), DrawStage::Pixel);
    let chosen = subject.choose(PICTURE, None).unwrap();
    let AnyProgram::R700(program) = &chosen.program.program else { panic!("R700") };
    let text = r700::text::disassemble(program, &r700::text::TextOptions::default());
    let line = text.lines().find_map(|line| Some((line, negated(line)?))).unwrap();
    let other = r700::text::assemble(&text.replacen(line.0, &line.1, 1), &r700::text::TextOptions::default());
    let (from, to) = (program.words.clone(), other.program.unwrap());
    let change = move |launch: &ctm_exec::r700::Launch<'_>, run: LaunchRun<'_>| {
        if launch.program.words == from {
            run(&ctm_exec::r700::Launch { program: &to, ..*launch })
        } else {
            run(launch)
        }
    };
    let wrong = Changed { engine: Interp, change };
    match apart((&*whole, Box::new(Interp)), (&*whole, Box::new(wrong)), 0.0).unwrap() {
        Some(Apart::Draw(1, found)) => assert_eq!(found.target, "colour0"),
        other => panic!("{other:?}"),
    }
}
