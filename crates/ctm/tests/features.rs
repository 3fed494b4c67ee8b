//! Behaviour of the library with and without each of its features: `cargo test -p close-to-metal --no-default-features --test features` runs the
//! other half.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::array::{Array, ArrayFileKind, Values};
use ctm::{EngineKind, Error, Job, Program, Run};
use std::path::Path;

const DOUBLE: &str = ".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nadd y, r1, r1\n";

#[test]
fn programs_run_in_every_build() {
    let program = Program::assemble(DOUBLE).unwrap_or_else(|e| panic!("{e}"));
    let x = [1.0, -2.5, 3.0];
    let run = || Run::of(&program).elements(3).input("x", &x).output("y", 1);
    assert_eq!(run().run().unwrap().values("y"), [2.0, -5.0, 6.0]);
    let fast = run().engine(EngineKind::Jit).run();
    if cfg!(feature = "jit") {
        assert_eq!(EngineKind::default(), EngineKind::Jit);
        assert_eq!(fast.unwrap().values("y"), [2.0, -5.0, 6.0]);
    } else {
        assert_eq!(EngineKind::default(), EngineKind::Interp);
        let Err(Error::Engine(error)) = fast else { panic!("there is no such engine in this build") };
        assert_eq!(error.code(), "not-built");
        assert_eq!(
            error.to_string(),
            "this build has no engine `jit`: it was made without the feature `jit`; there is interp"
        );
    }
}

#[test]
fn jobs_run_in_every_build() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("features");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("one.x1k"), "mov o0, 1\n").unwrap();
    let text = |engine: &str| format!("program = \"one.x1k\"\ndomain = [0, 0, 1, 0]\n{engine}\n[[output]]\nslot = 0\n");
    if !cfg!(feature = "toml") {
        let error = Job::parse(&text(""), "job.toml", &place).unwrap_err();
        assert!(error.to_string().contains("without the feature `toml`"), "{error}");
        return;
    }
    let run = |engine: &str| Job::parse(&text(engine), "job.toml", &place).unwrap().run(|_| {});
    assert_eq!(run("").unwrap().array(0).unwrap().to_f32(), [1.0; 8]);
    let fast = run("[run]\nengine = \"jit\"");
    assert_eq!(fast.is_ok(), cfg!(feature = "jit"));
    if let Err(error) = fast {
        assert!(error.to_string().contains("without the feature `jit`"), "{error}");
    }
}

#[test]
fn pictures_need_png() {
    let array = Array { height: 1, width: 2, channels: 3, values: Values::U8(vec![255, 0, 0, 0, 0, 255]) };
    let made = array.to_bytes(ArrayFileKind::Png);
    assert_eq!(made.is_ok(), cfg!(feature = "png"));
    match made {
        Ok(bytes) => {
            assert_eq!(Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap(), array);
        }
        Err(error) => {
            assert!(error.to_string().contains("without the feature `png`"), "{error}");
        }
    }
    // The others need nothing.
    let bytes = array.to_bytes(ArrayFileKind::Npy).unwrap();
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &bytes, None).unwrap(), array);
}

#[test]
fn shaders_need_their_compiler() {
    let found = Program::assemble("ps_3_0\ndef c0, 1, 2, 3, 4\nmov oC0, c0\n");
    assert_eq!(found.is_ok(), cfg!(feature = "ps3"));
    match found {
        Ok(program) => {
            let done = Run::of(&program).elements(1).run().unwrap();
            assert_eq!(done.values(&program.outputs()[0].0), [1.0, 2.0, 3.0, 4.0]);
        }
        Err(error) => {
            assert_eq!(error.code(), "not-built");
        }
    }
}

/// A KTX2 file of one texel (R8G8B8A8, without a description of its format), whose level is compressed by ZLIB.
fn compressed_texture() -> Vec<u8> {
    const TEXEL: [u8; 12] = [120, 156, 99, 100, 98, 118, 0, 0, 0, 84, 0, 71];
    let mut bytes = vec![0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, 13, 10, 26, 10];
    let words = [37u32, 1, 1, 1, 0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0];
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    let level = [104u64, TEXEL.len() as u64, 4];
    level.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.extend(TEXEL);
    bytes
}

#[test]
fn compressed_textures_need_their_decoders() {
    let read = ctm::texture::read(Path::new("a.ktx2"), &compressed_texture());
    assert_eq!(read.is_ok(), cfg!(feature = "compressed-ktx2"), "{:?}", read.err());
    if let Err(error) = read {
        assert!(error.to_string().contains("without the feature `compressed-ktx2`"), "{error}");
    }
}
