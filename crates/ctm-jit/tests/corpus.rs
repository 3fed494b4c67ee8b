//! The programs of a real compiler (`tests/corpus/mesa`) through `Verify`: every back end against the reference interpreter.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Filter, Launch, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_isa::x1k::{Program, Words};
use ctm_jit::{Backend, Jit};
use ctm_verify::Verify;
use serde_json::Value;
use std::path::Path;

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

#[test]
fn the_corpus_gives_the_same() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/x1k");
    let mut programs = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "hex") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let words: Vec<Words> =
            text.lines().map(|l| l.split_whitespace().map(hex).collect::<Vec<_>>().try_into().unwrap()).collect();
        let info: Value = serde_json::from_str(&std::fs::read_to_string(path.with_extension("json")).unwrap()).unwrap();
        let mut constants = Constants::default();
        for constant in info["constants"].as_array().unwrap() {
            let index = constant["index"].as_u64().unwrap() as usize;
            constants.float[index] = std::array::from_fn(|c| hex(constant["hex"][c].as_str().unwrap()));
        }
        constants.int[0] = [255, 0, 0, 0];
        let program = Program { zero_times_anything: true, ..Program::from_words(words) };
        let inputs = info["inputs"].as_array().unwrap();
        let plane = |temp| Plane {
            temp,
            origin: [1.0 / 64.0, 1.0 / 64.0, 0.0, 1.0],
            di: [1.0 / 32.0, 0.0, 0.0, 0.0],
            dj: [0.0, 1.0 / 32.0, 0.0, 0.0],
            bits: false,
        };
        let planes: Vec<_> = inputs.iter().map(|input| plane(input["temp"].as_u64().unwrap() as u8)).collect();
        let mut memory = Arrays::default();
        let texture = Picture::from_fn(16, 16, |i, j| [i as f32 / 16.0, j as f32 / 16.0, (i ^ j) as f32, 0.25]);
        let sampler = Sampler { filter: Filter::Nearest, wrap: [Wrap::Repeat; 2], border: [0; 4] };
        memory.inputs[0] = Some((texture, sampler));
        for output in &mut memory.outputs {
            *output = Some(Picture::filled(32, 32, [-1.0; 4]));
        }
        let launch = Launch {
            program: &program,
            constants: &constants,
            planes: &planes,
            rows: &[],
            domain: Domain { i0: 0, j0: 0, i1: 31, j1: 31 },
            group: GroupSize::X1K,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: Budget::default(),
            threads: 1,
            checks: false,
            counters: true,
        };
        for backend in Backend::available() {
            let (result, difference) = Verify::new(Jit::with_backend(backend)).compare(&launch, &mut memory.clone());
            assert_eq!(difference, None, "{}, {backend}", path.display());
            result.unwrap();
        }
        programs += 1;
    }
    assert!(programs > 10, "{programs} programs");
}
