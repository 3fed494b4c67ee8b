//! Run vectors and random programs, for the comparison of machines: the same numbers give the same lines on each, if each computes the same bits.

use ctm_exec::arrays::Picture;
use ctm_exec::pvs::{self, Vertex};
use ctm_exec::r700::resources::{BufferData, Image, TextureKind};
use ctm_exec::r700::{self, Arrays, LoopConstant, Plane, Sampler, Semantic, Space, Target, Texture};
use ctm_exec::{Budget, Control, Domain, Engine, Interp};
use ctm_isa::pvs::INPUTS;
use ctm_isa::pvs::random::{Random as VertexRandom, RandomContents as VertexShape};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::random::{GPRS, RESOURCES, Random, RandomContents, program};
use ctm_jit::Jit;
use ctm_testkit::r700::{alu_vectors, fetch_vectors, flow_vectors};
use ctm_testkit::{pvs as pvs_cases, x1k};
use std::fmt::{self, Write};

/// A digest of text: FNV-1a.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| self.byte(byte));
    }

    fn debug(&mut self, value: &dyn fmt::Debug) {
        // Writing to it never fails.
        let _ = write!(self, "{value:?};");
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.byte(byte));
        Ok(())
    }
}

/// Random programs of all three machines from the number `first` on: a line for each, with a digest of its results on the interpreter. A program whose results differ on
/// the fast engine says so in its line.
#[must_use]
pub fn random(first: u64, count: u64) -> String {
    let fast = Jit::new();
    let mut out = String::new();
    for number in first..first + count {
        let run = match number % 4 {
            0 | 2 => x1k_program,
            1 => r700_program,
            _ => vertex_program,
        };
        let (reference, other) = (run(number, &Interp), run(number, &fast));
        let verdict = if reference == other { "" } else { " and another one on the fast engine" };
        // A string takes everything.
        let _ = writeln!(out, "{number} {reference:016x}{verdict}");
    }
    out
}

fn x1k_program(number: u64, engine: &dyn Engine) -> u64 {
    let (program, case) = x1k::case::CaseKind::of_many(number).make(number);
    let (outcome, memory) = case.run(&program, engine, 1);
    let mut digest = Digest::default();
    digest.debug(&outcome);
    for output in &memory.outputs {
        for (x, y) in (0..output.height).flat_map(|y| (0..output.width).map(move |x| (x, y))) {
            digest.words(&output.get(x, y));
        }
    }
    digest.debug(&memory.conditional_values);
    digest.debug(&memory.rows);
    digest.0
}

/// Memory for R700 programs: textures, buffers, constants, and everything that they write.
fn memory(r: &mut Random, domain: Domain) -> Arrays {
    let mut memory = Arrays::default();
    for id in 0..RESOURCES {
        let (width, height) = (1 + r.below(9), 1 + r.below(6));
        let texture = Texture { kind: TextureKind::TwoD, width, height, depth: 1, levels: 1, ..Default::default() };
        let texels = (0..width * height).map(|_| std::array::from_fn(|_| r.value())).collect();
        memory.textures.insert(id, Image { texture, levels: vec![texels].into_iter().collect() });
        memory.samplers.insert(id, Sampler::default());
        memory.constants.insert(id, (0..48).map(|_| std::array::from_fn(|_| r.value())).collect());
        let bytes = (0..256).flat_map(|_| r.value().to_le_bytes()).collect();
        memory.buffers.insert(id, BufferData { stride_bytes: 16, bytes, ..BufferData::default() });
    }
    for space in [Space::Reduction, Space::Ring, Space::Scatter, Space::Stream(0)] {
        memory.spaces.insert(space, vec![0; 4096]);
    }
    let blank = Picture::filled(domain.i1 + 1, domain.j1 + 1, [-3.0; 4]);
    memory.targets = Target::all().map(|target| (target, blank.clone())).collect();
    memory
}

const SEMANTICS: [Semantic; 2] = [Semantic { id: 0, gpr: 1 }, Semantic { id: 1, gpr: 2 }];

fn r700_program(number: u64, engine: &dyn Engine) -> u64 {
    let r = &mut Random::new(number ^ 0x0700_5eed);
    let stage = r.of(&[Stage::Pixel, Stage::Pixel, Stage::Vertex, Stage::Compute]);
    let shape = RandomContents {
        clauses: 1 + r.below(10) as usize,
        groups: 1 + r.below(8) as usize,
        flow: !r.one_in(4),
        fetches: r.one_in(2),
        relative: r.one_in(3),
        doubles: r.one_in(3),
        memory: r.one_in(16),
        compiled: r.one_in(2),
        ..RandomContents::all(stage)
    };
    let program = program(number, &shape);
    let mut constants = r700::Constants::default();
    constants.file.iter_mut().take(64).for_each(|constant| *constant = std::array::from_fn(|_| r.value()));
    for constant in &mut constants.loops {
        *constant = LoopConstant { count: r.below(4) as u16, start: r.below(4) as u16, step: r.of(&[0, 1, 2, -1]) };
    }
    let mut planes = vec![Plane::position(0)];
    planes.extend((1..GPRS).map(|temp| Plane {
        temp,
        origin: std::array::from_fn(|_| f64::from(r.below(33)) / 8.0 - 2.0),
        di: std::array::from_fn(|_| f64::from(r.below(17)) / 32.0 - 0.25),
        dj: std::array::from_fn(|_| f64::from(r.below(17)) / 16.0 - 0.5),
        bits: false,
    }));
    let (i0, j0) = (r.below(4), r.below(3));
    let domain = Domain { i0, j0, i1: i0 + r.below(20), j1: j0 + r.below(6) };
    let mut memory = memory(r, domain);
    let launch = r700::Launch {
        stage,
        planes: &planes,
        budget: Budget { instructions_per_group: Some(5000), time: None },
        semantics: &SEMANTICS,
        threads: 1,
        ..r700::Launch::new(&program, &constants, domain)
    };
    let outcome = engine.run_r700(&launch, &mut memory);
    let mut digest = Digest::default();
    digest.debug(&outcome);
    memory.targets.values().flat_map(|picture| &picture.elements).for_each(|element| digest.words(element));
    memory.spaces.values().for_each(|words| digest.words(words));
    digest.debug(&memory.events);
    digest.0
}

fn vertex_program(number: u64, engine: &dyn Engine) -> u64 {
    let r = &mut VertexRandom::new(number);
    let program = ctm_isa::pvs::random::program(number, &VertexShape::all());
    let constants: Vec<pvs::Vector> = (0..256).map(|_| std::array::from_fn(|_| r.value())).collect();
    let vertices: Vec<[pvs::Vector; INPUTS]> =
        (0..37).map(|_| std::array::from_fn(|_| std::array::from_fn(|_| r.value()))).collect();
    let launch = pvs::PvsLaunch {
        program: &program,
        constants: &constants,
        vertices: &vertices,
        budget: Budget { instructions_per_group: Some(5000), time: None },
        one_thread: true,
    };
    let mut digest = Digest::default();
    digest.debug(&engine.run_pvs_under(&Control::none(), &launch));
    digest.0
}

/// Runs every run vector of `tests/vectors` on both engines: the differences in lines, none if every vector has its bits.
///
/// # Panics
/// Vectors of R700 programs whose results are others stop with a message.
#[must_use]
pub fn vectors() -> String {
    let mut out = String::new();
    let fast = Jit::new();
    for (name, engine) in [("interpreter", &Interp as &dyn Engine), ("fast engine", &fast)] {
        for vector in x1k::run_vectors::all() {
            for case in &vector.cases {
                if let Err(difference) = x1k::run_vectors::run(case, engine) {
                    // A string takes everything.
                    let _ = writeln!(out, "{}, {name}: {difference}", vector.at);
                }
            }
        }
        alu_vectors::every_vector_gives_its_bits_and_every_operation_has_one(engine);
        alu_vectors::the_trans_unit_computes_the_same(engine);
        fetch_vectors::every_vector_holds(engine);
        flow_vectors::every_vector_holds(engine);
    }
    let cases = pvs_cases::run_vectors::alu().into_iter().chain(pvs_cases::run_vectors::flow());
    for case in cases {
        let run = |program: &_, constants: &[pvs::Vector], vertex: &mut Vertex, budget: u64| {
            pvs::run(&pvs::DecodedProgram::new(program), constants, vertex, budget)
        };
        if let Some(difference) = pvs_cases::run_vectors::difference(&case, run) {
            let _ = writeln!(out, "vertex program: {difference}");
        }
    }
    out
}
