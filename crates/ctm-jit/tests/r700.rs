//! The engine against the reference interpreter, R700: random programs of every stage, random structured programs, and the programs of
//! `tests/corpus/mesa`; the same exports, memory, counters and faults.
//!
//! Truth: the reference interpreter. `CTM_RANDOM=n` tries n times as many, from `CTM_FIRST` on; `CTM_SEED=n` repeats one. A million programs of all kinds:
//! `cargo test --release -p ctm-jit --test r700 -- --ignored million`; `CTM_PROGRAMS` says how many, `CTM_SEED` where to begin.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{BufferData, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{
    Arrays, Constants, Divisor, Launch, LoopConstant, Plane, Sampler, Semantic, Space, Target, Texture,
};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, LaneRows, Outcome, StartRow};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::random::{GPRS, RESOURCES, Random, Shape, program};
use ctm_jit::{Backend, Jit, Verify};
use ctm_testkit::far::FAR;
use ctm_testkit::tries::{Differences, many, on_all_cores, seeds, without_each};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[path = "r700_groups/mod.rs"]
mod r700_groups;
#[path = "r700_lookups/mod.rs"]
mod r700_lookups;

/// Everything of one case that is not the program.
struct Case {
    stage: Stage,
    constants: Constants,
    planes: Vec<Plane>,
    domain: Domain,
    wavefront: GroupSize,
    budget: Budget,
    counters: bool,
    memory: Arrays,
    group_threads: u32,
    global_gprs: u8,
    chip: Chip,
    /// Start values lane by lane: register, element, values.
    rows: Vec<(u8, u8, Vec<u32>)>,
    /// Lanes whose exports are sent.
    covered: Option<Vec<u64>>,
    /// A divisor, and what it divides.
    #[allow(clippy::type_complexity, reason = "a plane, and what it divides")]
    divisor: Option<([f64; 3], Vec<(u8, u8)>)>,
}

const SEMANTICS: [Semantic; 4] =
    [Semantic { id: 0, gpr: 1 }, Semantic { id: 1, gpr: 2 }, Semantic { id: 2, gpr: 3 }, Semantic { id: 3, gpr: 4 }];

fn textures(r: &mut Random, memory: &mut Arrays) {
    let kinds = [TextureKind::TwoD, TextureKind::TwoD, TextureKind::Cube, TextureKind::ThreeD];
    for id in 0..RESOURCES {
        let kind = kinds[usize::from(id) % kinds.len()];
        let (width, height) = if kind == TextureKind::Cube { (4, 4) } else { (8, 4) };
        let depth = [1, 1, 6, 3][usize::from(id) % 4];
        // What machine code looks up itself, and everything else.
        let plain = kind == TextureKind::TwoD && r.one_in(2);
        let (width, height) = if plain { (1 + r.below(9), 1 + r.below(6)) } else { (width, height) };
        let count = if plain { 1 } else { 3 };
        let texture = Texture { kind, width, height, depth, levels: count, ..Default::default() };
        let levels = (0..count).map(|level| {
            let texels = texture.size(level).iter().product::<u32>();
            (0..texels).map(|_| std::array::from_fn(|_| r.value())).collect()
        });
        memory.textures.insert(id, Image { texture, levels: levels.collect() });
        let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border];
        let filters = [Filter::Nearest, Filter::Linear];
        let sampler = Sampler {
            magnify: r.of(&filters),
            minify: r.of(&filters),
            mip: r.of(&[MipFilter::None, MipFilter::Nearest, MipFilter::Linear]),
            wrap: std::array::from_fn(|_| r.of(&wraps)),
            border: std::array::from_fn(|_| r.value()),
            compare: r.of(&Compare::ALL),
            ..Sampler::default()
        };
        // Without mipmaps and with one filter, and mostly without a border.
        let wrap = if r.one_in(6) { sampler.wrap } else { std::array::from_fn(|_| r.of(&wraps[..3])) };
        let one_level = Sampler { minify: sampler.magnify, mip: MipFilter::None, wrap, ..sampler };
        let sampler = if plain { one_level } else { sampler };
        memory.samplers.insert(id, sampler);
    }
}

impl Case {
    fn new(seed: u64, stage: Stage) -> Self {
        let r = &mut Random::new(seed ^ 0x0700_5eed);
        let mut constants = Constants::default();
        for constant in constants.file.iter_mut().take(64) {
            *constant = std::array::from_fn(|_| r.value());
        }
        for constant in &mut constants.loops {
            *constant = LoopConstant { count: r.below(4) as u16, start: r.below(4) as u16, step: r.of(&[0, 1, 2, -1]) };
        }
        constants.bool = std::array::from_fn(|_| r.one_in(2));
        let mut planes = vec![Plane::position(0)];
        for temp in 1..GPRS {
            planes.push(if r.one_in(4) {
                // Special values as bits: every lane another denormal, then NaNs.
                Plane { temp, origin: [8e6, 4.29e9, 3e9, 5.0], di: [1.0; 4], dj: [1e5; 4], bits: true }
            } else if r.one_in(6) {
                let [origin, di] = [FAR, &[0.0, 1.0, -0.5, 1e-40, 1e9]].map(|of| std::array::from_fn(|_| r.of(of)));
                Plane { temp, origin, di, dj: [0.25; 4], bits: false }
            } else {
                Plane {
                    temp,
                    origin: std::array::from_fn(|_| f64::from(r.below(33)) / 8.0 - 2.0),
                    di: std::array::from_fn(|_| f64::from(r.below(17)) / 32.0 - 0.25),
                    dj: std::array::from_fn(|_| f64::from(r.below(17)) / 16.0 - 0.5),
                    bits: false,
                }
            });
        }
        let mut memory = Arrays::default();
        textures(r, &mut memory);
        for id in 0..RESOURCES {
            memory.constants.insert(id, (0..48).map(|_| std::array::from_fn(|_| r.value())).collect());
            let bytes = (0..256).flat_map(|_| r.value().to_le_bytes()).collect();
            let stride_bytes = r.of(&[4, 8, 16]);
            memory.buffers.insert(id, BufferData { stride_bytes, bytes, ..BufferData::default() });
        }
        for space in [Space::Reduction, Space::Ring, Space::Scatter, Space::Stream(0)] {
            memory.spaces.insert(space, vec![0; 4096]);
        }
        let (i0, j0) = (r.below(4), r.below(3));
        let domain = Domain { i0, j0, i1: i0 + 10 + r.below(20), j1: j0 + r.below(9) };
        Target::all().for_each(|target| {
            memory.targets.insert(target, Picture::filled(64, 16, [-3.0; 4]));
        });
        memory.lends_nothing = seed.is_multiple_of(4);
        let wavefront = GroupSize::new(r.of(&[64, 64, 32, 16])).unwrap();
        let instructions_per_group = Some(if r.one_in(8) { u64::from(r.below(200)) } else { 5000 });
        let budget = Budget { instructions_per_group, time: None };
        let counters = !seed.is_multiple_of(3);
        let (group_threads, global_gprs, chip) = (0, 0, Chip::Rv770);
        let mut case = Self {
            stage,
            constants,
            planes,
            domain,
            wavefront,
            budget,
            counters,
            memory,
            group_threads,
            global_gprs,
            chip,
            rows: Vec::new(),
            covered: None,
            divisor: None,
        };
        let odd = &mut Random::new(seed ^ 0xd1_1e5e);
        if odd.one_in(6) {
            case.covered = Some((0..odd.below(20)).map(|_| u64::from(odd.value()) << odd.below(33)).collect());
        }
        if odd.one_in(6) {
            let of = [odd.of(&[1.0, -3.5, 1e-3]), odd.of(&[0.0, 0.25, 1e6]), odd.of(&[0.0, -0.125, 1e-9])];
            case.divisor = Some((of, (0..GPRS).map(|n| (n, odd.below(16) as u8)).collect()));
        }
        if r.one_in(3) {
            case.add_rows(r);
        }
        case
    }

    /// Every target anew, little larger than the domain, as each run copies them; or with room between the rows.
    fn add_targets(&mut self, seed: u64) {
        let width = if seed % 8 == 1 { 64 } else { (self.domain.i1 + 1).next_multiple_of(1 << (seed % 4)) };
        let blank = Picture::filled(width, self.domain.j1 + 1, [-3.0; 4]);
        self.memory.targets = Target::all().map(|target| (target, blank.clone())).collect();
    }

    /// The case of this number for programs as compilers write them: ordinary numbers for the most part, textures of every kind.
    fn compiled(seed: u64, stage: Stage) -> Self {
        let mut case = Self::new(seed, stage);
        let r = &mut Random::new(seed ^ 0xc0de_5eed);
        let number = |r: &mut Random, other: u32| match r.below(8) {
            0 => other,
            1 | 2 => r.of(&[0.0f32, 1.0, -1.0, 0.5, 2.0]).to_bits(),
            _ => ((r.below(129) as f32 - 64.0) / 32.0).to_bits(),
        };
        let values = case.constants.file.iter_mut().take(64).chain(case.memory.constants.values_mut().flatten());
        values.flatten().for_each(|bits| *bits = number(r, *bits));
        for row in &mut case.rows {
            let ordinary = !r.one_in(4);
            row.2.iter_mut().filter(|_| ordinary).for_each(|bits| *bits = number(r, *bits));
        }
        for id in 0..RESOURCES {
            let kind = r.of(&r700_lookups::KINDS);
            let image = r700_lookups::image(r, kind);
            case.memory.textures.insert(id, image);
            let sampler = r700_lookups::sampler(r, seed);
            case.memory.samplers.insert(id, Sampler { compare: r.of(&Compare::ALL), ..sampler });
        }
        if !r.one_in(16) {
            case.budget.instructions_per_group = Some(r.of(&[1 << 20, 100_000]));
        }
        if r.one_in(2) {
            // Few wavefronts take less time.
            case.domain.i1 = case.domain.i0 + r.below(12);
            case.domain.j1 = case.domain.j0 + r.below(6);
            case.rows.clear();
            case.memory.lanes = None;
            if r.one_in(2) {
                case.add_rows(r);
            }
        }
        case.add_targets(seed);
        case
    }

    /// Start values lane by lane, some rows too short or for registers that are not there; and, mostly, rows that take exports.
    fn add_rows(&mut self, r: &mut Random) {
        let constants = Constants::default();
        let program = Program::from_words(Vec::new());
        let order = Launch { stage: self.stage, ..Launch::new(&program, &constants, self.domain) }.lane_order();
        for _ in 0..1 + r.below(6) {
            let lanes = if r.one_in(4) { r.below(order.count() as u32) as usize } else { order.count() };
            let bits = (0..lanes).map(|_| r.value()).collect();
            self.rows.push((r.below(u32::from(GPRS) + 2) as u8, r.below(4) as u8, bits));
        }
        if !r.one_in(4) {
            let targets: Vec<Target> = Target::all().filter(|_| !r.one_in(4)).collect();
            self.memory.lanes = Some(LaneRows::new(order, &targets));
        }
    }

    fn launch<'a>(&'a self, program: &'a Program, rows: &'a [StartRow<'a>], threads: usize) -> Launch<'a> {
        Launch {
            covered: self.covered.as_deref(),
            divisor: self.divisor.as_ref().map(|(of, elements)| Divisor { of: *of, elements }),
            stage: self.stage,
            planes: &self.planes,
            rows,
            wavefront: self.wavefront,
            budget: self.budget,
            semantics: &SEMANTICS,
            threads,
            group_threads: self.group_threads,
            global_gprs: self.global_gprs,
            chip: self.chip,
            counters: self.counters,
            ..Launch::new(program, &self.constants, self.domain)
        }
    }

    fn run(&self, program: &Program, engine: &dyn Engine, threads: usize) -> (Result<Outcome, Fault>, Arrays) {
        let mut memory = self.memory.clone();
        let rows = self.rows.iter();
        let rows: Vec<_> =
            rows.map(|(register, element, bits)| StartRow { register: *register, element: *element, bits }).collect();
        let result = engine.run_r700(&self.launch(program, &rows, threads), &mut memory);
        (result, memory)
    }
}

/// Compares one engine with the reference interpreter; says what differs.
fn difference(
    case: &Case,
    program: &Program,
    expected: &(Result<Outcome, Fault>, Arrays),
    jit: &Jit,
) -> Option<String> {
    let found = case.run(program, jit, 1);
    if found.0 != expected.0 {
        return Some(format!("{:?} for {:?}", found.0, expected.0));
    }
    for (target, picture) in &expected.1.targets {
        let other = &found.1.targets[target];
        for (at, (found, expected)) in other.elements.iter().zip(&picture.elements).enumerate() {
            if found != expected {
                let (i, j) = (at as u32 % picture.width, at as u32 / picture.width);
                return Some(format!("{target:?} at ({i}, {j}): {found:08x?} for {expected:08x?}"));
            }
        }
    }
    if found.1.lanes != expected.1.lanes {
        return Some("rows of exports, or survivors, differ".into());
    }
    if found.1.spaces != expected.1.spaces || found.1.events != expected.1.events {
        return Some("memory or vertex events differ".into());
    }
    None
}

/// Machine code for both instruction sets, and the portable back end.
fn engines() -> Vec<Jit> {
    Backend::available().map(Jit::with_backend).collect()
}

/// A small program, found by changing words, for which an engine still differs; as text. Some ways undo each other, so the passes are counted.
fn reduced(case: &Case, program: &Program, jit: &Jit) -> String {
    let mut program = program.clone();
    // Control flow that does nothing; ALU instructions that write nothing, of two operands and plain operands; a fetch that writes nothing.
    let ways: [fn(&mut [u32]); 7] = [
        |slot| (slot[0], slot[1]) = (0, 0x8000_0000),
        |slot| slot[1] &= !(1 << 4),
        |slot| slot[1] &= !(0b1100),
        |slot| slot[1] &= !(0b11 << 5 | 1 << 31),
        |slot| slot[0] &= !(0b11 << 29),
        |slot| slot[0] &= !(1 << 12 | 1 << 25),
        |slot| slot[1] |= 7 << 9 | 7 << 12 | 7 << 15 | 7 << 18,
    ];
    for _ in 0..4 {
        let before = program.words.clone();
        for at in (0..program.words.len() - 1).step_by(2).rev() {
            for way in ways {
                let mut changed = program.clone();
                way(&mut changed.words[at..at + 2]);
                if changed.words == program.words {
                    continue;
                }
                let expected = case.run(&changed, &Interp, 1);
                if expected.0.is_ok() && difference(case, &changed, &expected, jit).is_some() {
                    program = changed;
                }
            }
        }
        if program.words == before {
            break;
        }
    }
    let text = ctm_isa::r700::text::disassemble(&program, &ctm_isa::r700::text::Options::default());
    format!(
        "{text}\n{:?}, {:?}\nplanes {:?}\nrows of {:?}\nloops {:?}",
        case.domain,
        case.wavefront,
        case.planes,
        case.rows.iter().map(|(register, element, _)| (register, element)).collect::<Vec<_>>(),
        &case.constants.loops[..4]
    )
}

/// Compares an engine of each kind with the reference interpreter.
fn compare(engines: &[Jit], seed: u64, case: &Case, program: &Program, differences: &Differences) {
    let expected = case.run(program, &Interp, 1);
    for jit in engines {
        if let Some(text) = difference(case, program, &expected, jit) {
            let small = if differences.is_empty() { reduced(case, program, jit) } else { String::new() };
            differences.add(seed, format!("{} ({:?}): {text}\n{small}", jit.backend(), case.stage));
        }
    }
}

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
    // The last one once differed: gradients look at idle lanes in programs of every stage.
    on_all_cores(seeds(200).chain([961_316]), engines, random_program);
}

#[allow(clippy::ptr_arg, reason = "each thread's state")]
fn random_program(engines: &Vec<Jit>, seed: u64, differences: &Differences) {
    let r = &mut Random::new(seed ^ 0x57a6e);
    let stage = r.of(&STAGES);
    let shape = Shape {
        clauses: 1 + r.below(10) as usize,
        groups: 1 + r.below(8) as usize,
        flow: !r.one_in(4),
        fetches: r.one_in(2),
        relative: r.one_in(3),
        doubles: r.one_in(3),
        memory: r.one_in(16),
        ..Shape::all(stage)
    };
    let program = program(seed, &shape);
    let mut case = Case::new(seed, stage);
    case.add_targets(seed);
    compare(engines, seed, &case, &program, differences);
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
    let shape = Shape {
        clauses: r.of(&[1, 2, 3, 4, 6]),
        groups: 1 + r.below(4) as usize,
        flow: !r.one_in(8),
        fetches: !r.one_in(3),
        relative: r.one_in(4),
        doubles: false,
        memory: r.one_in(24),
        compiled: true,
        ..Shape::all(stage)
    };
    (program(seed, &shape), Case::compiled(seed, stage))
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

const SIZE: u32 = 64;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa")
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// A corpus program with its constants and where it finds its inputs.
fn corpus_case(name: &str, wavefront: u16) -> (Program, Case) {
    let text = std::fs::read_to_string(corpus().join(format!("r700/{name}.hex"))).unwrap();
    let info: Value =
        serde_json::from_str(&std::fs::read_to_string(corpus().join(format!("r700/{name}.json"))).unwrap()).unwrap();
    let mut program = Program::from_words(text.split_whitespace().map(hex).collect());
    program.gprs = info["gprs"].as_u64().unwrap() as u8;
    let mut values: Vec<[u32; 4]> = Vec::new();
    for constant in info["constants"].as_array().unwrap() {
        let index = constant["index"].as_u64().unwrap() as usize;
        values.resize(values.len().max(index + 1), [0; 4]);
        values[index] = std::array::from_fn(|c| hex(constant["hex"][c].as_str().unwrap()));
    }
    let plane = |input: &Value| {
        let temp = input["gpr"].as_u64().unwrap() as u8;
        let scale = if input["is"].as_str().unwrap().starts_with("window position") { 1.0 } else { 1.0 / 64.0 };
        let (di, dj) = ([scale, 0.0, 0.0, 0.0], [0.0, scale, 0.0, 0.0]);
        Plane { temp, origin: [scale / 2.0, scale / 2.0, 0.5, 1.0], di, dj, bits: false }
    };
    let mut memory = Arrays::default();
    memory.bind_constants(0, Some(0), values);
    let texture = |w, h| Picture::from_fn(w, h, |i, j| [i as f32, j as f32, (i ^ j) as f32, 0.25].map(|x| x / 16.0));
    memory.textures.insert(18, texture(16, 16).into());
    memory.textures.insert(19, texture(8, 4).into());
    memory.samplers.insert(0, Sampler { wrap: [Wrap::Repeat; 3], ..Sampler::default() });
    for target in 0..4 {
        memory.targets.insert(Target::Pixel(target), Picture::filled(SIZE, SIZE, [-1.0; 4]));
    }
    let case = Case {
        covered: None,
        divisor: None,
        stage: Stage::Pixel,
        constants: Constants::default(),
        planes: info["inputs"].as_array().unwrap().iter().map(plane).collect(),
        domain: Domain { i0: 0, j0: 0, i1: SIZE - 1, j1: SIZE - 1 },
        wavefront: GroupSize::new(wavefront).unwrap(),
        budget: Budget::default(),
        counters: true,
        memory,
        group_threads: 0,
        global_gprs: 0,
        chip: Chip::Rv770,
        rows: Vec::new(),
    };
    (program, case)
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
    let assembly = ctm_isa::r700::text::assemble(source, &ctm_isa::r700::text::Options::default());
    let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
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

/// The Mandelbrot set of `ctm bench`, or a part of it.
fn bench_mandelbrot(side: u32) -> (Program, Case) {
    let path = corpus().join("../../../bench/r700/mandelbrot.psh");
    let source = std::fs::read_to_string(path).unwrap();
    let assembly = ctm_isa::r700::text::assemble(&source, &ctm_isa::r700::text::Options::default());
    let (program, mut case) = (assembly.program.unwrap(), Case::new(3, Stage::Pixel));
    case.planes = vec![Plane::position(0)];
    case.constants.loops[0] = LoopConstant { count: 256, start: 0, step: 1 };
    case.domain = Domain { i0: 0, j0: 0, i1: side - 1, j1: side - 1 };
    case.wavefront = GroupSize::new(64).unwrap();
    case.budget = Budget::default();
    case.memory = Arrays::default();
    let view = [-2.0, -1.5, 3.0 / side as f32, 0.0].map(f32::to_bits);
    case.memory.bind_constants(0, Some(0), vec![view]);
    case.memory.targets.insert(Target::Pixel(0), Picture::filled(side, side, [0.0; 4]));
    (program, case)
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

/// Times of corpus programs at 512 x 512, one thread: `cargo test --release -p ctm-jit --test r700 -- --ignored --nocapture`.
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

/// Numbers in double precision where operations change what they do: zeros, denormals, ends of the range, infinities, NaNs of both kinds, integers
/// and halves, what rounds to the smallest numbers of both precisions.
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

/// Every 64-bit operation on pairs of numbers that hurt, of both signs, with every modifier.
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
        let assembly = ctm_isa::r700::text::assemble(&source, &ctm_isa::r700::text::Options::default());
        let Some(program) = assembly.program else { panic!("{source}{:?}", assembly.diagnostics) };
        let expected = case.run(&program, &Interp, 1);
        assert!(expected.0.is_ok(), "{source}");
        for jit in engines() {
            assert_eq!(difference(&case, &program, &expected, &jit), None, "{}, {source}", jit.backend());
        }
    }
}

/// Writes to memory that threads share: many to the same place, under a condition, behind the end of the memory, and none where it is missing.
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
        let assembly = ctm_isa::r700::text::assemble(&source, &ctm_isa::r700::text::Options::default());
        let Some(program) = assembly.program else { panic!("{source}{:?}", assembly.diagnostics) };
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
    without_each(passes, &["corpus_programs", "lanes_leave_a_loop"]);
}
