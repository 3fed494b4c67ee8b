//! Pictures of pairs of programs: the example, both engines, what is told when something is missing.
//!
//! Truth: the example's picture was looked at; engines agree bit for bit.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm::EngineKind;
use ctm::array::{Array, Kind, Values};
use ctm::draw::{BUILT_IN, Camera, Drawing, Drawn, TextureBinding, animation};
use ctm_exec::x1k::{Filter, Wrap};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cube() -> Drawing {
    let example = root().join("examples/draw/cube");
    let mut drawing = Drawing::new(vec![example.join("cube.vsh"), example.join("cube.psh")]);
    drawing.mesh = "cube".into();
    drawing.size = [320, 240];
    drawing.cameras.push(("mvp".into(), Camera::default()));
    let (name, file) = ("colour".into(), root().join("docs/mandelbrot.png"));
    drawing.textures.push(TextureBinding { name, file, filter: Filter::Linear, wrap: Wrap::Repeat });
    drawing
}

fn drawn(drawing: &Drawing) -> Drawn {
    drawing.prepare().unwrap().draw(0.0).unwrap()
}

#[test]
fn the_example_draws_its_picture() {
    let picture = drawn(&cube());
    assert_eq!(picture.findings, <Vec<String>>::new());
    let bytes = std::fs::read(root().join("examples/draw/cube/cube.png")).unwrap();
    let expected = Array::from_bytes(Kind::Png, &bytes, None).unwrap();
    assert_eq!(expected.values, Values::U8(picture.pixels));
}

#[test]
fn engines_and_threads_draw_the_same() {
    let mut drawing = cube();
    drawing.samples = 4;
    drawing.size = [96, 64];
    let jit = drawn(&drawing);
    drawing.engine = EngineKind::Interp;
    drawing.one_thread = true;
    let interp = drawn(&drawing);
    assert!(jit.pixels == interp.pixels && jit.counts == interp.counts);
    assert!(jit.depths.iter().zip(&interp.depths).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn every_mesh_and_an_animation() {
    let mut drawing = cube();
    drawing.size = [40, 30];
    for mesh in BUILT_IN {
        drawing.mesh = mesh.into();
        assert!(drawn(&drawing).counts.pixels > 40, "{mesh}");
    }
    let mut prepared = drawing.prepare().unwrap();
    let frames: Vec<Drawn> = [0.0, 0.25].iter().map(|&time| prepared.draw(time).unwrap()).collect();
    assert!(frames[0].pixels != frames[1].pixels);
    let bytes = animation(&frames, 40).unwrap();
    let first = Array::from_bytes(Kind::Png, &bytes, None).unwrap();
    assert_eq!(first.values, Values::U8(frames[0].pixels.clone()));
    assert!(bytes.windows(4).any(|four| four == b"acTL"));
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let mut bare = cube();
    bare.cameras.clear();
    bare.textures.clear();
    let findings = bare.prepare().unwrap().draw(0.0).map(|drawn| drawn.findings);
    // A lookup without a texture is a fault.
    assert!(findings.is_err() || findings.is_ok_and(|all| all.len() == 2));
    let told = |change: fn(&mut Drawing)| {
        let mut drawing = cube();
        change(&mut drawing);
        drawing.prepare().err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(
        told(|d| d.constants.push(("mpv".into(), vec![1.0]))),
        "the programs have no constant `mpv`; they have mvp; did you mean `mvp`?"
    );
    assert_eq!(told(|d| d.size = [0, 5]), "the picture is 0 x 5, allowed is 1..=8192 each");
    assert_eq!(told(|d| d.samples = 3), "3 samples, allowed is 1, 2, 4 or 8");
    assert!(told(|d| d.mesh = "sofa".into()).starts_with("there is no mesh `sofa`; there are triangle, quad"));
    assert!(told(|d| d.textures[0].name = "color".into()).ends_with("did you mean `colour`?"));
    assert!(
        told(|d| d.attributes.push(("x".into(), ctm::draw::Channel::Colour))).contains("position, normal, texcoord")
    );
    assert!(told(|d| d.programs.truncate(1)).contains("is no GFD container"));
}
