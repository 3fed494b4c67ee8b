//! The engine against the reference interpreter, R700: random programs of every stage, random structured programs, and the programs of
//! `tests/corpus/mesa`; the same exports, memory, counters and faults.
//!
//! Truth: the reference interpreter. `CTM_RANDOM=n` tries n times as many, from `CTM_FIRST` on; `CTM_SEED=n` repeats
//! one. A million programs of all kinds: `cargo test --release -p ctm-jit --test suite -- --ignored r700::million`, with their
//! number in `CTM_PROGRAMS`, and the first in `CTM_SEED`.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{BufferData, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{
    Arrays, Constants, Divisor, Launch, LoopConstant, Plane, Sampler, Semantic, Space, Target, Texture,
};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, LaneRows, Outcome, StartRow};
use ctm_isa::live::Channels;
use ctm_isa::r700::Program;
use ctm_isa::r700::check::unused_at_start;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::random::{GPRS, RESOURCES, Random, RandomContents, program};
use ctm_jit::{Backend, Jit};
use ctm_testkit::far::FAR;
use ctm_testkit::tries::{Differences, many, on_all_cores, seeds, without_each};
use ctm_verify::Verify;
use r700_case::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "r700_case/mod.rs"]
mod r700_case;
#[path = "r700_groups/mod.rs"]
mod r700_groups;
#[path = "r700_lookups/mod.rs"]
mod r700_lookups;

/// The control-flow machine: every instruction of control flow in any nesting, for wavefronts of every size.
#[test]
fn random_structured_programs() {
    // The last ones once differed on AVX2: of a wavefront that used up its budget, narrower ones had stored their part.
    let once = [1536, 114_480, 210_081, 245_985, 246_627, 247_809, 317_025];
    on_all_cores(seeds(200).chain(once), engines, structured_program);
}

#[allow(clippy::ptr_arg, reason = "each thread's state")]
fn structured_program(engines: &Vec<Jit>, seed: u64, differences: &Differences) {
    let tree = ctm_testkit::r700::structured::Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).tree();
    let program = ctm_testkit::r700::structured::words::Words::program(&tree);
    let r = &mut Random::new(seed);
    let start = Plane {
        temp: ctm_testkit::r700::structured::words::ACC,
        origin: [0.0; 4],
        di: [f64::from(0x1234_5671), 0.0, 0.0, 0.0],
        dj: [f64::from(0x0765_4321), 0.0, 0.0, 0.0],
        bits: true,
    };
    let mut memory = Arrays::default();
    memory.targets.insert(Target::Pixel(0), Picture::filled(32, 16, [-3.0; 4]));
    let (i0, j0) = (r.below(4), r.below(3));
    let case = Case {
        covered: None,
        divisor: None,
        stage: Stage::Pixel,
        constants: tree.constants.clone(),
        planes: vec![start],
        domain: Domain { i0, j0, i1: i0 + 1 + r.below(18), j1: j0 + r.below(9) },
        wavefront: GroupSize::new(r.of(&[64, 64, 32, 16])).unwrap(),
        budget: Budget { instructions_per_group: Some(r.of(&[100_000, 100_000, 100_000, 60])), time: None },
        counters: !seed.is_multiple_of(3),
        memory,
        group_threads: 0,
        global_gprs: 0,
        chip: Chip::Rv770,
        rows: Vec::new(),
    };
    compare(engines, seed, &case, &program, differences);
}

const STAGES: [Stage; 5] = [Stage::Pixel, Stage::Pixel, Stage::Pixel, Stage::Vertex, Stage::Compute];

#[test]
fn random_programs() {
    // The last ones once differed: gradients read idle lanes in programs of every stage, and registers that a loop
    // index names.
    on_all_cores(seeds(200).chain([961_316, 112_003_860]), engines, random_program);
}

/// A gradient of a register that the loop index names includes the values of idle lanes of the quad, too: their first
/// values, as they have not executed the earlier instructions.
#[test]
fn gradients_look_at_idle_lanes_of_registers_at_an_index() {
    let source = ".gprs 3\nALU:\n x: MOV R0.x, 0.0f\nLOOP_START i0 FAIL_JUMP_ADDR(done)\nagain:\n\
        TEX:\n GET_GRADIENTS_V R1.xyzw, R0[AL].xxxx, t0, s0\nLOOP_END i0 PASS_JUMP_ADDR(again)\ndone:\n\
        EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let program = text(source);
    let domain = Domain { i0: 3, j0: 0, i1: 20, j1: 4 };
    let mut case = Case { domain, budget: Budget::default(), covered: None, ..Case::new(3, Stage::Pixel) };
    case.constants.loops[0] = LoopConstant { count: 1, start: 0, step: 0 };
    let expected = case.run(&program, &Interp, 1);
    assert!(expected.0.is_ok(), "{:?}", expected.0);
    let picture = &expected.1.targets[&Target::Pixel(0)];
    // Below the last row an idle lane holds the column.
    assert_eq!(picture.elements[(4 * picture.width + 8) as usize][0], 8f32.to_bits());
    for jit in engines() {
        assert_eq!(difference(&case, &program, &expected, &jit), None, "{}", jit.backend());
    }
}

#[allow(clippy::ptr_arg, reason = "each thread's state")]
fn random_program(engines: &Vec<Jit>, seed: u64, differences: &Differences) {
    let (program, case) = random(seed);
    compare(engines, seed, &case, &program, differences);
}

/// The random program and the case of this number.
fn random(seed: u64) -> (Program, Case) {
    let r = &mut Random::new(seed ^ 0x57a6e);
    let stage = r.of(&STAGES);
    let shape = RandomContents {
        clauses: 1 + r.below(10) as usize,
        groups: 1 + r.below(8) as usize,
        flow: !r.one_in(4),
        fetches: r.one_in(2),
        relative: r.one_in(3),
        doubles: r.one_in(3),
        memory: r.one_in(16),
        ..RandomContents::all(stage)
    };
    let program = program(seed, &shape);
    let mut case = Case::new(seed, stage);
    case.add_targets(seed);
    (program, case)
}

#[test]
fn programs_as_compilers_write_them() {
    on_all_cores(seeds(300), engines, compiled_program);
    let ends_well = |&seed: &u64| {
        let (program, case) = compiled(seed);
        case.run(&program, &Interp, 1).0.is_ok()
    };
    let well = (0..100).filter(ends_well).count();
    assert!(well > 60, "{well} of 100 end well");
}

#[allow(clippy::ptr_arg, reason = "each thread's state")]
fn compiled_program(engines: &Vec<Jit>, seed: u64, differences: &Differences) {
    let (program, case) = compiled(seed);
    compare(engines, seed, &case, &program, differences);
}

/// The program and the case of this number.
fn compiled(seed: u64) -> (Program, Case) {
    let r = &mut Random::new(seed ^ 0xc0de);
    let stage = r.of(&STAGES);
    let shape = RandomContents {
        clauses: r.of(&[1, 2, 3, 4, 6]),
        groups: 1 + r.below(4) as usize,
        flow: !r.one_in(8),
        fetches: !r.one_in(3),
        relative: r.one_in(4),
        doubles: false,
        memory: r.one_in(24),
        compiled: true,
        ..RandomContents::all(stage)
    };
    (program(seed, &shape), Case::compiled(seed, stage))
}

/// With other values in the elements that are named as unused, programs do the same.
#[test]
fn unused_initial_values_change_nothing() {
    let changed = AtomicUsize::new(0);
    on_all_cores(
        seeds(400),
        || (),
        |(), seed, differences| {
            let cases = [compiled as fn(u64) -> (Program, Case), random];
            for of in cases {
                let ((program, case), (_, mut other)) = (of(seed), of(seed));
                let unused = unused_at_start(&program);
                changed.fetch_add(other.change(&unused, &mut Random::new(seed)), Ordering::Relaxed);
                let (expected, found) = (case.run(&program, &Interp, 1), other.run(&program, &Interp, 1));
                let rows = |memory: &Arrays| memory.lanes.clone();
                let same = found.0 == expected.0
                    && found.1.targets == expected.1.targets
                    && rows(&found.1) == rows(&expected.1);
                if !same || found.1.spaces != expected.1.spaces || found.1.events != expected.1.events {
                    let text = ctm_isa::r700::text::disassemble(&program, &ctm_isa::r700::text::TextOptions::default());
                    differences.add(seed, format!("{text}\n{unused:?}\n{:?} and {:?}", found.0, expected.0));
                }
            }
        },
    );
    let changed = changed.into_inner();
    assert!(
        changed as u64 > ctm_testkit::tries::part(1000) || std::env::var_os("CTM_SEED").is_some(),
        "{changed} elements"
    );
}

/// Programs of every kind, each on every back end.
#[test]
#[ignore = "takes long"]
fn million() {
    let levels = r700_lookups::programs_of_levels();
    on_all_cores(many(), engines, |engines, seed, differences| match seed % 16 {
        0..4 => structured_program(engines, seed, differences),
        4..7 => random_program(engines, seed, differences),
        7..9 => drop(r700_groups::program_that_shares(engines, seed, differences)),
        9 => drop(r700_lookups::levels(engines, &levels, seed, differences)),
        _ => compiled_program(engines, seed, differences),
    });
}

#[test]
fn corpus_programs() {
    let engines = engines();
    let mut wrong = Vec::new();
    let mut programs = 0;
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(corpus().join("r700")).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for path in names.iter().filter(|path| path.extension().is_some_and(|e| e == "hex")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        programs += 1;
        let (program, case) = corpus_case(name, 64);
        let expected = case.run(&program, &Interp, 1);
        for jit in &engines {
            let text = difference(&case, &program, &expected, jit);
            wrong.extend(text.map(|text| format!("{name}, {}: {text}", jit.backend())));
        }
    }
    assert_eq!(programs, 33);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A group that waits for the address register, and a constant that it indexes.
#[test]
fn waits_are_counted() {
    let source = "ALU:\n x: MOVA_INT ____, R0.x\n x: MOV R1.x, C3[AR.x].x\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n";
    let program = text(source);
    let case = Case { counters: true, ..Case::new(3, Stage::Pixel) };
    let expected = case.run(&program, &Interp, 1);
    let counters = expected.0.as_ref().unwrap().counters;
    assert!(counters.alu_clocks > counters.alu, "nothing waits");
    for jit in engines() {
        assert_eq!(difference(&case, &program, &expected, &jit), None, "{}", jit.backend());
    }
}

#[test]
fn threads_make_no_difference() {
    let (program, case) = corpus_case("mandelbrot", 64);
    let jit = Jit::new();
    let (one, pictures) = case.run(&program, &jit, 1);
    for threads in [0, 2, 3] {
        let (found, memory) = case.run(&program, &jit, threads);
        assert_eq!(found, one);
        assert_eq!(memory.targets, pictures.targets);
    }
}

/// Lanes that leave a loop one by one.
#[test]
fn lanes_leave_a_loop() {
    let (program, mut case) = bench_mandelbrot(48);
    for wavefront in [64, 32, 16] {
        case.wavefront = GroupSize::new(wavefront).unwrap();
        let expected = case.run(&program, &Interp, 1);
        assert!(expected.0.is_ok());
        for jit in engines() {
            assert_eq!(difference(&case, &program, &expected, &jit), None, "{}", jit.backend());
        }
    }
}

/// Times of corpus programs at 512 x 512, one thread: `cargo test --release -p ctm-jit --test suite -- r700 --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn speed() {
    let corpus = ["mandelbrot", "conv5x5", "life", "plasma", "i_hash", "i_divmod", "trig", "arith_mad"].map(|name| {
        let (program, mut case) = corpus_case(name, 64);
        case.domain = Domain { i0: 0, j0: 0, i1: 511, j1: 511 };
        for picture in case.memory.targets.values_mut() {
            *picture = Picture::filled(512, 512, [0.0; 4]);
        }
        (name, program, case)
    });
    let (program, case) = bench_mandelbrot(512);
    for (name, program, case) in corpus.into_iter().chain([("mandelbrot of ctm bench", program, case)]) {
        for jit in engines() {
            let mut best = f64::MAX;
            for _ in 0..5 {
                let start = std::time::Instant::now();
                let (result, _) = case.run(&program, &jit, 1);
                assert!(result.is_ok());
                best = best.min(start.elapsed().as_secs_f64() * 1e3);
                if best > 1e3 {
                    break;
                }
            }
            println!("{name}, {}: {best:.2} ms", jit.backend());
        }
    }
}

/// Numbers in double precision at which operations change their behaviour: zeros, denormals, ends of the range,
/// infinities, NaNs of both kinds, integers and halves, numbers that round to the smallest ones of both precisions.
const DOUBLES: [u64; 28] = [
    0,
    1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x001f_ffff_ffff_ffff,
    0x0020_0000_0000_0000,
    0x1ff0_0000_0000_0001,
    0x2007_ffff_ffff_ffff,
    0x380f_ffff_efff_ffff,
    0x380f_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0x3ca0_0000_0000_0000,
    0x3fdf_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_1000_0000,
    0x3ff8_0000_3000_0000,
    0x4021_a0f4_f077_bca7,
    0x4340_0000_0000_0001,
    0x47ef_ffff_efff_ffff,
    0x47ef_ffff_f000_0000,
    0x5fff_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7ff4_0000_0000_0000,
    0x7ff8_0000_dead_beef,
];

/// Every 64-bit operation on pairs of special numbers, of both signs, with every modifier.
#[test]
fn doubles_at_their_edges() {
    let pair = |op: &str, a: &str| {
        let low = a.replace(".y", ".x").replace(".w", ".z").replace('-', "");
        format!("  x: {op} R3.x, {a}\n  y: {op} R3.y, {low}\n")
    };
    let quad = |op: &str, a: &str| {
        let low = a.replace(".y", ".x").replace(".w", ".z").replace('-', "");
        format!("  x: {op} R3.x, {a}\n  y: {op} R3.y, {a}\n  z: {op} R3.z, {a}\n  w: {op} R3.w, {low}\n")
    };
    let mut lines = Vec::new();
    for modifier in ["", "*2", "*4", "/2"] {
        for clamp in ["", " CLAMP"] {
            lines.push((pair("ADD_64", "R1.y, R1.w"), modifier, clamp));
            lines.push((quad("MUL_64", "R1.y, -R1.w"), modifier, clamp));
            lines.push((pair("FRACT_64", "R1.y"), modifier, clamp));
            lines.push((pair("LDEXP_64", "R1.y, R2.z"), modifier, clamp));
            lines.push((pair("FLT32_TO_FLT64", "R1.y"), modifier, clamp));
            lines.push((pair("FLT64_TO_FLT32", "R1.y"), modifier, clamp));
        }
    }
    for op in ["MULADD_64", "MULADD_64_M2", "MULADD_64_M4", "MULADD_64_D2"] {
        lines.push((quad(op, "R1.y, R1.w, R2.y"), "", ""));
    }
    for op in ["PRED_SETE_64", "PRED_SETGT_64", "PRED_SETGE_64"] {
        lines.push((pair(op, "R1.y, R1.w"), "", ""));
    }
    let frexp =
        ["x: FREXP_64 R3.x, R1.y", "y: FREXP_64 R3.y, R1.x", "z: FREXP_64 R3.z, 0.0f", "w: FREXP_64 R3.w, 0.0f"];
    lines.push((frexp.map(|line| format!("  {line}\n")).concat(), "", ""));
    let signed: Vec<u64> = DOUBLES.iter().flat_map(|&bits| [bits, bits | 1 << 63]).collect();
    let size = signed.len() as u32;
    let halves = |bits: u64| [bits as u32, (bits >> 32) as u32];
    let both = |turn: usize| {
        let texel = move |n: usize, signed: &[u64]| {
            let (a, b) = (signed[n % signed.len()], signed[(n / signed.len() + turn) % signed.len()]);
            let ([al, ah], [bl, bh]) = (halves(a), halves(b));
            // In the second texture, a power of two.
            let power = (n as i32 * 37 % 4400 - 2200).cast_unsigned();
            if turn == 0 { [al, ah, bl, bh] } else { [al, ah, power, bh] }
        };
        Picture { width: size, height: size, elements: (0..signed.len().pow(2)).map(|n| texel(n, &signed)).collect() }
    };
    let mut memory = Arrays::default();
    memory.textures.insert(0, both(0).into());
    memory.textures.insert(1, both(5).into());
    memory.targets.insert(Target::Pixel(0), Picture::filled(size, size, [7.0; 4]));
    let mut case = Case::new(5, Stage::Pixel);
    case.planes = vec![Plane::position(0)];
    case.domain = Domain { i0: 0, j0: 0, i1: size - 1, j1: size - 1 };
    case.wavefront = GroupSize::new(64).unwrap();
    case.budget = Budget::default();
    case.memory = memory;
    let lookups =
        "TEX:\n SAMPLE R1.xyzw, R0.xyxx, t0, s0 DENORM(XY)\n SAMPLE R2.xyzw, R0.yxxx, t1, s0 DENORM(XY)\nALU:\n";
    for (line, modifier, clamp) in lines {
        let line = line.lines().map(|line| {
            let (op, rest) = line.trim().split_once(' ').unwrap();
            let (name, operands) = rest.split_once(' ').unwrap();
            format!("  {op} {name}{modifier} {operands}{clamp}\n")
        });
        let source = format!("{lookups}{}EXP_DONE: PIX0, R3.xyzw\nEND_OF_PROGRAM\n", line.collect::<String>());
        let program = text(&source);
        let expected = case.run(&program, &Interp, 1);
        assert!(expected.0.is_ok(), "{source}");
        for jit in engines() {
            assert_eq!(difference(&case, &program, &expected, &jit), None, "{}, {source}", jit.backend());
        }
    }
}

/// Writes to memory that threads share: many to the same place, under a condition, after the end of the memory, and
/// none where it is missing.
#[test]
fn memory_writes_keep_their_order() {
    let start = "ALU:\n x: AND_INT R2.x, R1.x, 255\n y: LSHR_INT R2.y, R1.x, 3\n z: MOV R2.z, R1.x\n";
    let branch =
        "ALU_PUSH_BEFORE:\n x: PRED_SETGT_INT ____, R2.x, 40 UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(on)\n";
    let end = "EXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n";
    let every = "MEM_EXPORT: WRITE(4 + R2), R2.zxy_ ARRAY_SIZE(0) ELEM_SIZE(3)\n".replace("zxy_", "xyz_");
    let sources = [
        format!("{start}{every}{end}"),
        format!("{start}{branch}{every}POP POP_CNT(1)\non:\n{every}{end}"),
        format!("{start}MEM_RING: WRITE(4), R2.xyzw ARRAY_SIZE(9) ELEM_SIZE(3)\n{end}"),
        format!("{start}MEM_STREAM0: WRITE(4), R2.x_z_ ARRAY_SIZE(9) ELEM_SIZE(1)\n{end}"),
        // Some lie outside.
        format!("{start}{}{end}", every.replace("R2)", "R1)")),
        format!("{start}MEM_STREAM1: WRITE(4), R2.xyzw ARRAY_SIZE(9) ELEM_SIZE(3)\n{end}"),
    ];
    let mut faults = 0;
    for source in sources {
        let program = text(&source);
        for wavefront in [64, 16] {
            let mut case = Case::new(4, Stage::Pixel);
            let number = Plane { temp: 1, origin: [0.0; 4], di: [1.0; 4], dj: [40.0; 4], bits: true };
            case.planes = vec![Plane::position(0), number];
            case.domain = Domain { i0: 1, j0: 0, i1: 38, j1: 12 };
            case.wavefront = GroupSize::new(wavefront).unwrap();
            case.budget = Budget::default();
            let spaces = [(Space::Scatter, 300), (Space::Ring, 40), (Space::Stream(0), 30)];
            case.memory.spaces = spaces.into_iter().map(|(space, size)| (space, vec![7; size])).collect();
            let expected = case.run(&program, &Interp, 1);
            faults += u32::from(expected.0.is_err());
            for jit in engines() {
                assert_eq!(difference(&case, &program, &expected, &jit), None, "{}, {source}", jit.backend());
                // Writes and exports in their order, none of them twice.
                let launch = case.launch(&program, &[], 1);
                let backend = jit.backend();
                let (_, found) = Verify::new(jit).compare_r700(&launch, &mut case.memory.clone());
                assert_eq!(found, None, "{backend}, {source}");
            }
        }
    }
    assert_eq!(faults, 4);
}

/// Results do not depend on the passes that are left out.
#[test]
fn each_pass_may_be_left_out() {
    let passes = ctm_jit::passes().filter(|(_, precondition)| !precondition.starts_with("X1K")).map(|(name, _)| name);
    without_each(passes, &["r700::corpus_programs", "r700::lanes_leave_a_loop"]);
}
