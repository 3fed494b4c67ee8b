//! Runs shaders in the reference interpreter and compares every pixel with the evaluator.

use crate::eval::{Shader, World};
use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane, Sampler};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
use ctm_isa::diag::Severity;
use ctm_isa::x1k::program::{Literal, Preload};
use ctm_isa::x1k::{Program, check};
use ctm_ps3::{Options, compile};
use std::collections::HashMap;

/// Columns and rows of the domain.
pub const SIZE: u32 = 6;
/// The value of unwritten outputs.
const UNTOUCHED: u32 = 0xdead_beef;

pub fn world() -> World {
    let mut floats = HashMap::new();
    for n in 0..32usize {
        let k = n as f32;
        floats.insert(n, [0.25 * k - 1.0, 1.5 - 0.5 * k, 0.125 * k * k, 2.0 - 0.25 * k]);
    }
    let ints = HashMap::from([(0, [3, 0, 1]), (1, [4, 1, 1]), (2, [0, 0, 1]), (3, [2, 3, -1])]);
    let bools = HashMap::from([(0, true), (1, false)]);
    let interpolants = (0..8)
        .map(|n| {
            let k = n as f32;
            [
                [0.5 + 0.25 * k, -1.0 + 0.5 * k, 0.75 - 0.125 * k, 1.0],
                [0.25, 0.5, -0.375, 0.125 * (k + 1.0)],
                [-0.5, 0.25, 0.5, 0.0625],
            ]
        })
        .collect();
    let picture = |seed: u32| {
        Picture::from_fn(8, 8, |x, y| {
            std::array::from_fn(|c| ((x * 7 + y * 13 + c as u32 * 5 + seed) % 17) as f32 * 0.25 - 1.5)
        })
    };
    World { floats, ints, bools, interpolants, pictures: vec![picture(0), picture(5), picture(11)] }
}

/// Compiles, and fails with the findings and the text.
pub fn compiled(shader: &str, options: &Options) -> Program {
    let result = compile(shader, options);
    let Some(program) = result.program else { panic!("not compiled:\n{shader}\n{:#?}", result.diagnostics) };
    let findings: Vec<_> = check::check(&program)
        .into_iter()
        .filter(|d| d.severity != Severity::Note)
        .map(|d| (d.rule, d.message, d.pc))
        .collect();
    assert!(findings.is_empty(), "the checker finds {findings:#?}\n{shader}\n{}", result.text);
    program
}

pub fn run(program: &Program, world: &World, group: u16) -> Arrays {
    let mut constants = Constants::default();
    for (&n, v) in &world.floats {
        constants.float[n] = v.map(f32::to_bits);
    }
    for (&n, v) in &world.ints {
        constants.int[n] = [v[0] as u8, v[1] as u8, v[2] as u8, 0];
    }
    for (&n, &v) in &world.bools {
        constants.bool[n] = v;
    }
    for literal in &program.literals {
        match *literal {
            Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
            Literal::Int { index, value } => constants.int[usize::from(index)] = value,
            Literal::Bool { index, value } => constants.bool[usize::from(index)] = value,
        }
    }
    let planes: Vec<Plane> = program
        .preloads
        .iter()
        .map(|p| match *p {
            Preload::Position { temp } => Plane::position(temp),
            Preload::Interpolant { index, temp } => {
                let [origin, di, dj] = world.interpolants[usize::from(index)].map(|v| v.map(f64::from));
                Plane { temp, origin, di, dj, bits: false }
            }
        })
        .collect();
    let mut memory = Arrays::default();
    for (n, picture) in world.pictures.iter().enumerate() {
        memory.inputs[n] = Some((picture.clone(), Sampler::default()));
    }
    for out in &mut memory.outputs {
        *out = Some(Picture::filled(SIZE, SIZE, [f32::from_bits(UNTOUCHED); 4]));
    }
    let launch = Launch {
        program,
        constants: &constants,
        planes: &planes,
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: SIZE - 1, j1: SIZE - 1 },
        group: GroupSize::new(group).unwrap(),
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget { instructions_per_group: Some(100_000), time: None },
        threads: 1,
        checks: false,
        counters: true,
    };
    Interp.run_x1k(&launch, &mut memory).unwrap_or_else(|f| panic!("{f:?}"));
    memory
}

/// How many channels were compared, and how many could not be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub known: usize,
    pub unknown: usize,
}

/// Compiles, runs and compares every pixel.
pub fn compare(text: &str) -> Compared {
    let options = Options::default();
    let world = world();
    let program = compiled(text, &options);
    let shader = Shader::new(text);
    let mut compared = Compared::default();
    for group in [4, 16] {
        let memory = run(&program, &world, group);
        for y in 0..SIZE {
            for x in 0..SIZE {
                let pixel = shader.run(&world, i64::from(x), i64::from(y));
                let Some(outputs) = pixel.outputs else {
                    compared.unknown += 1;
                    continue;
                };
                let context = || format!("pixel ({x}, {y})\n{text}\n{}", compile(text, &options).text);
                let depth =
                    memory.conditional_values.iter().find(|v| (v.0.i, v.0.j) == (x, y)).map(|v| f32::from_bits(v.1));
                match pixel.depth.filter(|_| !pixel.killed) {
                    Some(wanted) => {
                        let got = f64::from(depth.unwrap_or_else(|| panic!("no depth: {}", context())));
                        assert!((got - wanted.v).abs() <= wanted.e, "depth is {got}, not {wanted:?}: {}", context());
                    }
                    None => assert!(depth.is_none(), "depth is {depth:?} {}", context()),
                }
                for (o, channels) in outputs.iter().enumerate() {
                    let bits = memory.outputs[o].as_ref().unwrap().get(x, y).unwrap();
                    for (c, wanted) in channels.iter().enumerate() {
                        match wanted.filter(|_| !pixel.killed) {
                            None => assert_eq!(bits[c], UNTOUCHED, "oC{o} channel {c} is written: {}", context()),
                            Some(wanted) if wanted.e.is_finite() => {
                                compared.known += 1;
                                let got = f64::from(f32::from_bits(bits[c]));
                                assert!(
                                    (got - wanted.v).abs() <= wanted.e,
                                    "oC{o} channel {c} is {got}, not {wanted:?}: {}",
                                    context()
                                );
                            }
                            Some(_) => compared.unknown += 1,
                        }
                    }
                }
            }
        }
    }
    compared
}
