//! R700 programs of a real compiler (`tests/corpus/mesa`) give their pictures, for every wavefront width.
//!
//! Truth: the pictures were drawn by an independent implementation of the shaders' language; see the README beside them.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{Filter, Wrap};
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Sampler, Target};
use ctm_exec::{Domain, Engine, Fault, GroupSize, Interp};
use ctm_isa::r700::Program;
use serde_json::Value;
use std::path::{Path, PathBuf};

const SIZE: u32 = 64;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa")
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn program(name: &str, info: &Value) -> Program {
    let text = std::fs::read_to_string(corpus().join(format!("r700/{name}.hex"))).unwrap();
    let mut program = Program::from_words(text.split_whitespace().map(hex).collect());
    program.gprs = info["gprs"].as_u64().unwrap() as u8;
    program.stack = info["stack"].as_u64().unwrap() as u8;
    program
}

/// Constant buffer 0.
fn constants(info: &Value) -> Vec<[u32; 4]> {
    let mut values = Vec::new();
    for constant in info["constants"].as_array().unwrap() {
        let index = constant["index"].as_u64().unwrap() as usize;
        values.resize(values.len().max(index + 1), [0; 4]);
        values[index] = std::array::from_fn(|c| hex(constant["hex"][c].as_str().unwrap()));
    }
    values
}

/// Where a program finds its inputs: the varying `v`, or the window position.
fn planes(info: &Value) -> Vec<Plane> {
    let plane = |input: &Value| {
        let temp = input["gpr"].as_u64().unwrap() as u8;
        if input["is"].as_str().unwrap().starts_with("window position") {
            let (di, dj) = ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]);
            Plane { temp, origin: [0.5, 0.5, 0.5, 1.0], di, dj, bits: false }
        } else {
            let s = f64::from(SIZE);
            let (di, dj) = ([1.0 / s, 0.0, 0.0, 0.0], [0.0, 1.0 / s, 0.0, 0.0]);
            Plane { temp, origin: [0.5 / s, 0.5 / s, 0.0, 0.0], di, dj, bits: false }
        }
    };
    info["inputs"].as_array().unwrap().iter().map(plane).collect()
}

fn reference_picture(path: &str) -> Vec<f32> {
    let bytes = std::fs::read(corpus().join(path)).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn read_json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(corpus().join(path)).unwrap()).unwrap()
}

fn bind_textures(memory: &mut Arrays) {
    let tex = Picture::from_fn(16, 16, |i, j| {
        [
            ((7 * i + 13 * j) & 31) as f32 / 32.0,
            ((i * i + 3 * j) & 63) as f32 / 64.0,
            (i ^ j) as f32 / 16.0,
            ((5 * i + 11 * j) & 15) as f32 / 16.0 - 0.25,
        ]
    });
    let tex1 = Picture::from_fn(8, 4, |i, j| {
        let (x, y) = (i as f32, j as f32);
        [((3 * i + 5 * j) & 7) as f32 / 8.0, x * y / 32.0, (x + y) / 16.0, 1.0 - x / 8.0]
    });
    memory.textures.insert(18, tex.into());
    memory.textures.insert(19, tex1.into());
    let sampler = |wrap| Sampler { magnify: Filter::Nearest, wrap: [wrap; 3], ..Sampler::default() };
    memory.samplers.insert(0, sampler(Wrap::Repeat));
    memory.samplers.insert(1, sampler(Wrap::Clamp));
}

fn run(name: &str, info: &Value, targets: u8, wavefront: u16) -> Result<Arrays, Fault> {
    let program = program(name, info);
    let mut memory = Arrays::default();
    memory.bind_constants(0, Some(0), constants(info));
    bind_textures(&mut memory);
    for target in 0..targets {
        memory.targets.insert(Target::Pixel(target), Picture::filled(SIZE, SIZE, [-1.0; 4]));
    }
    let constants = Constants::default();
    let domain = Domain { i0: 0, j0: 0, i1: SIZE - 1, j1: SIZE - 1 };
    let planes = planes(info);
    let launch = Launch {
        planes: &planes,
        wavefront: GroupSize::new(wavefront).unwrap(),
        checks: wavefront == 64,
        ..Launch::new(&program, &constants, domain)
    };
    let outcome = Interp.run_r700(&launch, &mut memory)?;
    // A checked run has no findings on compiled programs, but that one program samples in its branches.
    let rules: Vec<&str> = outcome.findings.iter().map(|f| f.rule).collect();
    let allowed: &[&str] = if name == "nested_if" && wavefront == 64 { &["divergent-gradient"; 2] } else { &[] };
    assert_eq!(rules, allowed, "{name}: {:?}", outcome.findings);
    Ok(memory)
}

/// Runs one program and compares each of its targets; gives a line for each one with values outside the tolerance. Integer programs
/// must match exactly.
fn differences(name: &str, info: &Value, refs: &[Value], wavefront: u16) -> Vec<String> {
    let memory = match run(name, info, refs.len() as u8, wavefront) {
        Ok(memory) => memory,
        Err(fault) => return vec![format!("{name}, wavefront {wavefront}: {fault}")],
    };
    let tolerance = if name.starts_with("i_") { 0.0 } else { 1e-4 };
    let mut wrong = Vec::new();
    for (target, reference) in (0u8..).zip(refs) {
        let expected = reference_picture(reference.as_str().unwrap());
        let picture = &memory.targets[&Target::Pixel(target)];
        let got = picture.elements.iter().flatten().map(|&bits| f32::from_bits(bits));
        let outside: Vec<_> = got
            .zip(expected)
            .enumerate()
            .filter(|(_, (got, expected))| {
                // NaN on either side fails the comparison and counts as a difference.
                let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
                !close
            })
            .collect();
        if let Some((at, (got, expected))) = outside.first() {
            let (x, y, c) = (at / 4 % SIZE as usize, at / 4 / SIZE as usize, at % 4);
            wrong.push(format!(
                "{name}, wavefront {wavefront}, target {target}: {} values differ, first at ({x}, {y}) element {c}: {got} for {expected}",
                outside.len()
            ));
        }
    }
    wrong
}

#[test]
fn every_program_gives_its_picture() {
    let index = read_json("index.json");
    let mut wrong = Vec::new();
    let mut programs = 0;
    // An emulator tries one width.
    let widths: &[u16] = if ctm_testkit::in_emulator() { &[64] } else { &[16, 32, 64] };
    for (name, entry) in index.as_object().unwrap() {
        if !entry["isas"].as_array().unwrap().contains(&Value::from("r700")) {
            continue;
        }
        programs += 1;
        let info = read_json(&format!("r700/{name}.json"));
        for &wavefront in widths {
            wrong.extend(differences(name, &info, entry["refs"].as_array().unwrap(), wavefront));
        }
    }
    assert_eq!(programs, 33);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
