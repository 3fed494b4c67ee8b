//! Cases for comparisons: they hold everything but the program, made of random numbers or for programs of the corpus;
//! and the comparison.

use super::*;

/// All parts of a case but the program.
pub(super) struct Case {
    pub(super) stage: Stage,
    pub(super) constants: Constants,
    pub(super) planes: Vec<Plane>,
    pub(super) domain: Domain,
    pub(super) wavefront: GroupSize,
    pub(super) budget: Budget,
    pub(super) counters: bool,
    pub(super) memory: Arrays,
    pub(super) group_threads: u32,
    pub(super) global_gprs: u8,
    pub(super) chip: Chip,
    /// Start values lane by lane: register, element, values.
    pub(super) rows: Vec<(u8, u8, Vec<u32>)>,
    /// Lanes whose exports are sent.
    pub(super) covered: Option<Vec<u64>>,
    /// A divisor, and the elements that it divides.
    #[allow(clippy::type_complexity, reason = "a plane, and what it divides")]
    pub(super) divisor: Option<([f64; 3], Vec<(u8, u8)>)>,
}

const SEMANTICS: [Semantic; 4] =
    [Semantic { id: 0, gpr: 1 }, Semantic { id: 1, gpr: 2 }, Semantic { id: 2, gpr: 3 }, Semantic { id: 3, gpr: 4 }];

fn textures(r: &mut Random, memory: &mut Arrays) {
    let kinds = [TextureKind::TwoD, TextureKind::TwoD, TextureKind::Cube, TextureKind::ThreeD];
    for id in 0..RESOURCES {
        let kind = kinds[usize::from(id) % kinds.len()];
        let (width, height) = if kind == TextureKind::Cube { (4, 4) } else { (8, 4) };
        let depth = [1, 1, 6, 3][usize::from(id) % 4];
        // Textures that machine code looks up itself, and all others.
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
            max_anisotropy: r.of(&[1, 1, 2, 16]),
            seamless: r.one_in(2),
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
    pub(super) fn new(seed: u64, stage: Stage) -> Self {
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
            let stride_bytes = r.of(&[4, 8, 16, 32]);
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

    /// New targets. They are a little larger than the domain, because each run copies them, or have gaps between their rows.
    pub(super) fn add_targets(&mut self, seed: u64) {
        let width = if seed % 8 == 1 { 64 } else { (self.domain.i1 + 1).next_multiple_of(1 << (seed % 4)) };
        let blank = Picture::filled(width, self.domain.j1 + 1, [-3.0; 4]);
        self.memory.targets = Target::all().map(|target| (target, blank.clone())).collect();
    }

    /// The case of this number for compiled programs: ordinary numbers for the most part, textures of every kind.
    pub(super) fn compiled(seed: u64, stage: Stage) -> Self {
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

    /// Other start values, lane by lane, of these elements; returns their number.
    pub(super) fn change(&mut self, elements: &Channels, r: &mut Random) -> usize {
        let (constants, program) = (Constants::default(), Program::from_words(Vec::new()));
        let order = Launch { stage: self.stage, ..Launch::new(&program, &constants, self.domain) }.lane_order();
        let before = self.rows.len();
        let all = (0..GPRS).flat_map(|register| (0..4).map(move |element| (register, element)));
        for (register, element) in all.filter(|&(register, element)| elements.of(register) >> element & 1 == 1) {
            self.rows.push((register, element, (0..order.count()).map(|_| r.value()).collect()));
        }
        self.rows.len() - before
    }

    pub(super) fn launch<'a>(&'a self, program: &'a Program, rows: &'a [StartRow<'a>], threads: usize) -> Launch<'a> {
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

    pub(super) fn run(
        &self,
        program: &Program,
        engine: &dyn Engine,
        threads: usize,
    ) -> (Result<Outcome, Fault>, Arrays) {
        let mut memory = self.memory.clone();
        let rows = self.rows.iter();
        let rows: Vec<_> =
            rows.map(|(register, element, bits)| StartRow { register: *register, element: *element, bits }).collect();
        let result = engine.run_r700(&self.launch(program, &rows, threads), &mut memory);
        (result, memory)
    }
}

/// Compares one engine with the reference interpreter; gives the difference.
pub(super) fn difference(
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
pub(super) fn engines() -> Vec<Jit> {
    Backend::available().map(Jit::with_backend).collect()
}

/// Reduces a program by changing words while an engine still differs; as text. Some changes undo each other, so the
/// passes are counted.
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
    let text = ctm_isa::r700::text::disassemble(&program, &ctm_isa::r700::text::TextOptions::default());
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
pub(super) fn compare(engines: &[Jit], seed: u64, case: &Case, program: &Program, differences: &Differences) {
    let expected = case.run(program, &Interp, 1);
    for jit in engines {
        if let Some(text) = difference(case, program, &expected, jit) {
            let small = if differences.is_empty() { reduced(case, program, jit) } else { String::new() };
            differences.add(seed, format!("{} ({:?}): {text}\n{small}", jit.backend(), case.stage));
        }
    }
}

const SIZE: u32 = 64;

pub(super) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa")
}

pub(super) fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// A corpus program with its constants and the places of its inputs.
pub(super) fn corpus_case(name: &str, wavefront: u16) -> (Program, Case) {
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

/// The program that a text describes.
pub(super) fn text(source: &str) -> Program {
    let assembly = ctm_isa::r700::text::assemble(source, &ctm_isa::r700::text::TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{source}{:?}", assembly.diagnostics))
}

/// The Mandelbrot set of `ctm bench`, or a part of it.
pub(super) fn bench_mandelbrot(side: u32) -> (Program, Case) {
    let path = corpus().join("../../../bench/r700/mandelbrot.psh");
    let source = std::fs::read_to_string(path).unwrap();
    let (program, mut case) = (text(&source), Case::new(3, Stage::Pixel));
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
