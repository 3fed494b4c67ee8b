//! The programs of a real compiler (`tests/corpus/mesa`) give their pictures, for every group size.
//!
//! Truth: the pictures were drawn by an independent implementation of the shaders' language; see the README beside them.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Filter, Launch, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp};
use ctm_isa::x1k::{Program, Words};
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
    let text = std::fs::read_to_string(corpus().join(format!("x1k/{name}.hex"))).unwrap();
    let words: Vec<Words> =
        text.lines().map(|line| line.split_whitespace().map(hex).collect::<Vec<_>>().try_into().unwrap()).collect();
    let field = |key: &str| hex(info[key].as_str().unwrap());
    let mut program = Program::from_words(words);
    program.first = (field("us_code_addr") & 0x1ff) as u16;
    program.last = (field("us_code_addr") >> 16 & 0x1ff) as u16;
    program.full_flow_control = field("us_fc_ctrl") >> 31 == 1;
    program.uncached = field("us_config") & 1 == 1;
    program.zero_times_anything = field("us_config") & 2 == 2;
    program
}

fn constants(info: &Value) -> Constants {
    let mut constants = Constants::default();
    for constant in info["constants"].as_array().unwrap() {
        let index = constant["index"].as_u64().unwrap() as usize;
        for channel in 0..4 {
            constants.float[index][channel] = hex(constant["hex"][channel].as_str().unwrap());
        }
    }
    for (register, value) in info["integer_constants"].as_object().unwrap() {
        let index = (hex(register) as usize - 0x4c00) / 4;
        constants.int[index] = hex(value.as_str().unwrap()).to_le_bytes();
    }
    constants
}

/// Where a program finds its inputs: the varying `v`, or the position in clip space.
fn planes(info: &Value) -> Vec<Plane> {
    let inputs = info["inputs"].as_array().unwrap();
    let plane = |input: &Value| {
        let temp = input["temp"].as_u64().unwrap() as u8;
        let s = f64::from(SIZE);
        if input["is"].as_str().unwrap().starts_with("clip-space position") {
            let origin = [1.0 / s - 1.0, 1.0 / s - 1.0, 0.0, 1.0];
            Plane { temp, origin, di: [2.0 / s, 0.0, 0.0, 0.0], dj: [0.0, 2.0 / s, 0.0, 0.0], bits: false }
        } else {
            let origin = [0.5 / s, 0.5 / s, 0.0, 0.0];
            Plane { temp, origin, di: [1.0 / s, 0.0, 0.0, 0.0], dj: [0.0, 1.0 / s, 0.0, 0.0], bits: false }
        }
    };
    inputs.iter().map(plane).collect()
}

fn reference_picture(path: &str) -> Vec<f32> {
    let bytes = std::fs::read(corpus().join(path)).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn read_json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(corpus().join(path)).unwrap()).unwrap()
}

fn texture() -> (Picture, Sampler) {
    let picture = Picture::from_fn(16, 16, |i, j| {
        [
            ((7 * i + 13 * j) & 31) as f32 / 32.0,
            ((i * i + 3 * j) & 63) as f32 / 64.0,
            (i ^ j) as f32 / 16.0,
            ((5 * i + 11 * j) & 15) as f32 / 16.0 - 0.25,
        ]
    });
    (picture, Sampler { filter: Filter::Nearest, wrap: [Wrap::Repeat; 2], border: [0; 4] })
}

fn run(name: &str, info: &Value, targets: usize, group: u16) -> Result<Arrays, Fault> {
    let program = program(name, info);
    let mut memory = Arrays::default();
    memory.inputs[0] = Some(texture());
    for target in 0..targets {
        memory.outputs[target] = Some(Picture::filled(SIZE, SIZE, [-1.0; 4]));
    }
    let launch = Launch {
        program: &program,
        constants: &constants(info),
        planes: &planes(info),
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: SIZE - 1, j1: SIZE - 1 },
        group: GroupSize::new(group).unwrap(),
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: true,
    };
    Interp.run_x1k(&launch, &mut memory).map(|_| memory)
}

/// The one value of all pictures that is not within the tolerance: program, target, x, y, channel.
///
/// `loop_break_continue` iterates `x = fract(x*1.75 + 0.125*v.y)`, which multiplies a rounding error by 1.75 each turn; this pixel
/// takes 23 turns. The picture was drawn with the product rounded before the sum, an X1K MAD is fused (docs/arithmetic.md),
/// and exact arithmetic lies between the two. [`the_one_difference_is_the_fused_mad`] shows that nothing else is at work.
const FUSED_MAD_DIFFERENCE: (&str, usize, usize, usize, usize) = ("loop_break_continue", 0, 35, 22, 2);

/// Runs one program and compares each of its targets; gives a line for each one with values outside the tolerance.
fn differences(name: &str, info: &Value, refs: &[Value], group: u16) -> Vec<String> {
    let memory = match run(name, info, refs.len(), group) {
        Ok(memory) => memory,
        Err(fault) => return vec![format!("{name}, group {group}: {fault}")],
    };
    let mut wrong = Vec::new();
    for (target, reference) in refs.iter().enumerate() {
        let expected = reference_picture(reference.as_str().unwrap());
        let picture = memory.outputs[target].as_ref().unwrap();
        let got = picture.elements.iter().flatten().map(|&bits| f32::from_bits(bits));
        let outside: Vec<_> = got
            .zip(expected)
            .enumerate()
            .filter(|(_, (got, expected))| {
                // NaN on either side fails the comparison and counts as a difference.
                let close = (got - expected).abs() <= 1e-4 * expected.abs().max(1.0);
                !close
            })
            .filter(|(at, _)| {
                let (x, y, channel) = (at / 4 % SIZE as usize, at / 4 / SIZE as usize, at % 4);
                (name, target, x, y, channel) != FUSED_MAD_DIFFERENCE
            })
            .collect();
        if let Some((at, (got, expected))) = outside.first() {
            let (x, y, c) = (at / 4 % SIZE as usize, at / 4 / SIZE as usize, at % 4);
            wrong.push(format!(
                "{name}, group {group}, target {target}: {} values differ, first at ({x}, {y}) channel {c}: {got} for {expected}",
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
    // An emulator tries one size of groups.
    let groups: &[u16] = if ctm_testkit::in_emulator() { &[16] } else { &[4, 16, 64] };
    for (name, entry) in index.as_object().unwrap() {
        if !entry["isas"].as_array().unwrap().contains(&Value::from("x1k")) {
            continue;
        }
        programs += 1;
        let info = read_json(&format!("x1k/{name}.json"));
        for &group in groups {
            wrong.extend(differences(name, &info, entry["refs"].as_array().unwrap(), group));
        }
    }
    assert_eq!(programs, 26);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Replays `loop_break_continue` in plain single precision, once with a fused and once with a split multiply-add: the fused replay is
/// ours bit for bit, and the split one is the picture's value bit for bit.
#[test]
fn the_one_difference_is_the_fused_mad() {
    let (name, target, x, y, channel) = FUSED_MAD_DIFFERENCE;
    let replay = |multiply_add: fn(f32, f32, f32) -> f32| -> f32 {
        let (vx, vy) = ((x as f32 + 0.5) / 64.0, (y as f32 + 0.5) / 64.0);
        let (mut value, mut sum) = (vx, 0.0);
        for _ in 0..40 {
            value = multiply_add(value, 1.75, 0.125 * vy);
            value -= value.floor();
            if value >= 0.25 {
                sum += value;
                if sum > 5.0 + vy {
                    break;
                }
            }
        }
        value
    };
    let at = (y * SIZE as usize + x) * 4 + channel;
    let memory = run(name, &read_json(&format!("x1k/{name}.json")), 1, 16).unwrap();
    let ours = memory.outputs[target].as_ref().unwrap().elements.as_flattened()[at];
    let picture = reference_picture(&format!("refs/{name}.f32"))[at];
    assert_eq!(ours, replay(f32::mul_add).to_bits());
    assert_eq!(picture.to_bits(), replay(|a, b, c| a * b + c).to_bits());
}
