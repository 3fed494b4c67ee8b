//! Traces of pixels and vertices of draws: their exports are the targets' contents.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::draw::{Draw, Drawing};
use ctm::trace::observe::Place;
use ctm::trace::{Ancestry, Choice, DrawStage, Limits, Profile, Subject, Trace};
use ctm::{Position, Program, View};
use ctm_exec::r700::Target;
use std::path::Path;
use std::sync::Arc;

fn trace(drawing: &Drawing, stage: DrawStage, choice: Choice, (i, j): (u32, u32)) -> Result<Trace, String> {
    let (subject, at) = (Subject::Drawing(Arc::new(drawing.clone()), stage), Position { i, j });
    let chosen = subject.choose(choice, Some(at)).map_err(|e| e.to_string())?;
    Trace::of(&subject, &chosen, at, &Limits::default()).map_err(|e| e.to_string())
}

fn end(trace: &Trace, place: impl Fn(u8) -> Place) -> [f32; 4] {
    [0, 1, 2, 3].map(|c| f32::from_bits(*trace.end.get(&(trace.lane, place(c))).unwrap_or(&0)))
}

fn example(name: &str) -> Drawing {
    Drawing::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw").join(name).join("job.toml"))
        .unwrap()
}

#[test]
fn pixels_of_the_examples_are_what_their_programs_exported() {
    for name in ["cube", "pair"] {
        let mut drawing = example(name);
        // The exported values are stored unchanged.
        drawing.samples = 1;
        drawing.draws.iter_mut().for_each(|draw| draw.colour.targets.iter_mut().for_each(|target| target.blend = None));
        let drawn = drawing.prepare().unwrap().draw(0.0).unwrap();
        let [width, height] = drawn.size;
        let pixels = drawn.pixels();
        let mut compared = 0;
        for (i, j) in
            [(width / 2, height / 2), (width / 3, height / 2), (width / 2, height / 3), (width * 5 / 8, height / 2)]
        {
            let Ok(found) = trace(&drawing, DrawStage::Pixel, Choice::default(), (i, j)) else { continue };
            assert_eq!(found.positions[found.lane], Position { i, j });
            let colour = end(&found, |c| Place::Export(Target::Pixel(0), c));
            let at = (4 * (j * width + i)) as usize;
            let stored = colour.map(|x| (f64::from(x.clamp(0.0, 1.0)) * 255.0).round() as u8);
            assert_eq!(stored, pixels[at..at + 4], "{name} ({i}, {j}): {colour:?}");
            let tree = Ancestry::of(&found, found.lane, Place::Export(Target::Pixel(0), 0), None);
            assert!(tree.is_some(), "{name} ({i}, {j})");
            compared += 1;
        }
        assert!(compared >= 2, "{name}: {compared}");
    }
}

#[test]
fn vertices_are_what_their_program_exported() {
    let drawing = example("cube");
    for vertex in [0, 7, 23] {
        let found = trace(&drawing, DrawStage::Vertex, Choice::default(), (vertex, 0)).unwrap();
        let [x, y, _, w] = end(&found, |c| Place::Export(Target::Position(0), c));
        // The cube is in front of the viewer and in the picture.
        assert!(w > 1.0 && x.abs() < w && y.abs() < w, "vertex {vertex}: {x} {y} {w}");
    }
    let error = trace(&drawing, DrawStage::Vertex, Choice::default(), (24, 0)).unwrap_err();
    assert!(error.contains("the vertex program does not run for vertex 24 of instance 0"), "{error}");
}

#[test]
fn fragments_of_a_pixel_are_counted() {
    // Two squares over each other, the second half as large, of one draw; without depth both cover the middle.
    let program = Program::assemble(".output o = o0\nmov o, r0").unwrap();
    let square = |s: f32| [[-s, -s], [s, -s], [s, s], [-s, -s], [s, s], [-s, s]];
    let corners: Vec<f32> = [square(1.0), square(0.5)].concat().concat();
    let colours: Vec<f32> = [[0.25f32; 6], [0.75; 6]].concat();
    let draw = Draw::whole(&program)
        .size(16, 16)
        .attribute("position", View::line(&corners, 2))
        .attribute("texcoord", &colours)
        .depth(None);
    let drawing = draw.drawing().unwrap();
    let red = |choice, at| trace(&drawing, DrawStage::Pixel, choice, at).map(|t| end(&t, |c| Place::Output(0, c))[0]);
    let nth = |n| Choice { launch: Some(n), ..Choice::default() };
    assert_eq!(red(nth(0), (9, 6)), Ok(0.25));
    assert_eq!(red(nth(1), (9, 6)), Ok(0.75));
    assert_eq!(red(Choice::default(), (9, 6)), Ok(0.75));
    assert_eq!(red(Choice::default(), (1, 14)), Ok(0.25));
    let error = red(nth(2), (9, 6)).unwrap_err();
    assert!(error.contains("runs 2 times for pixel (9, 6), there is no time 2"), "{error}");
    let error = red(Choice { pass: Some(1), launch: None }, (9, 6)).unwrap_err();
    assert!(error.contains("there is no draw 1, there are draws 0 to 0"), "{error}");
    let error = red(Choice::default(), (99, 6)).unwrap_err();
    assert!(error.contains("the pixel program does not run for pixel (99, 6)"), "{error}");
    // On the diagonal, where two triangles meet, each pixel has one fragment of each square.
    for n in 4..12 {
        assert_eq!(red(nth(1), (n, 15 - n)), Ok(0.75), "{n}");
        assert!(red(nth(2), (n, 15 - n)).is_err(), "{n}");
    }
    // Counted for all pixels: where both squares are, twice as much.
    let (subject, none) = (Subject::Drawing(Arc::new(drawing.clone()), DrawStage::Pixel), Choice::default());
    let profile = Profile::of(&subject, &subject.choose(none, None).unwrap()).unwrap();
    assert_eq!((profile.domain.width(), profile.domain.height()), (16, 16));
    let of = |i: usize, j: usize| profile.instructions[j * 16 + i];
    let once = of(1, 14);
    assert!(once > 0);
    for (n, &count) in profile.instructions.iter().enumerate() {
        let inside = (4..12).contains(&(n % 16)) && (4..12).contains(&(n / 16));
        assert_eq!(count, if inside { 2 * once } else { once }, "({}, {})", n % 16, n / 16);
    }
    let error = subject.choose(nth(0), None).unwrap_err().to_string();
    assert!(error.contains("no pixel is named"), "{error}");
}

/// The programs of a draw have their text: a file's, and of a container the text that `ctm dis` prints of it.
#[test]
fn instructions_have_lines_of_the_text_that_the_user_has() {
    let drawing = example("cube");
    let stages = [(DrawStage::Pixel, "cube.psh", (160, 120)), (DrawStage::Vertex, "cube.vsh", (3, 0))];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/cube");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for (stage, name, at) in stages {
        let found = trace(&drawing, stage, Choice::default(), at).unwrap();
        assert!(found.listing.name.ends_with(name), "{}", found.listing.name);
        let lines: Vec<&str> = found.listing.lines.iter().map(|line| line.text.as_str()).collect();
        // The fetch program comes after a vertex program's text.
        assert_eq!(lines[..text(name).lines().count()], text(name).lines().collect::<Vec<_>>());
        let export = found.steps.iter().find(|step| found.listing.text(step.event.at).starts_with("EXP_DONE")).unwrap();
        let line = found.listing.line(export.event.at).unwrap();
        assert!(text(name).lines().nth(line - 1).unwrap().starts_with("EXP_DONE"), "{name}: {line}");
    }

    let load = |name: &str| {
        let isa = Some(ctm::job::Isa::R700);
        ctm::r700::Loaded::from_file(&folder.join(name), isa, None, &ctm_isa::r700::text::TextOptions::default())
            .unwrap()
    };
    let container = ctm::r700::write_gfd(&[&load("cube.vsh"), &load("cube.psh")]).unwrap();
    let listing = ctm::r700::gfd_text(&container).unwrap();
    let mut drawing = drawing;
    drawing.draws[0].programs = vec![ctm::draw::ProgramSource::Bytes(container.into(), "cube.gsh".into())];
    for (stage, _, at) in stages {
        let found = trace(&drawing, stage, Choice::default(), at).unwrap();
        assert_eq!(found.listing.name, "cube.gsh");
        let lines: Vec<&str> = found.listing.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines[..listing.lines().count()], listing.lines().collect::<Vec<_>>());
        let marked = |at| found.listing.line(at).is_some_and(|line| line <= listing.lines().count());
        assert!(found.steps.iter().all(|step| step.event.at.fetch || marked(step.event.at)), "{stage:?}");
    }
}
