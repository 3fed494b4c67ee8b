//! Run vectors of R700's fetches, exports and memory instructions (`tests/vectors/r700/run/fetch.txt`, where the format is explained), and their
//! completeness by mutation: every operation has a vector, and every field of every word, changed in some vector, changes the result -
//! or is in the list of fields that must change nothing.

use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{Arrays, Constants, Launch, LoopConstant, Plane, Sampler, Semantic, Space, Target, Texture};
use ctm_exec::{Budget, Domain, Engine, GroupSize};
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{Cf, ClauseBody};
use ctm_isa::r700::ops::{DataFormat, ExportOp, MemOp, NumFormat, Sel, TexOp};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_isa::table::{Field, WordFormat};
use std::collections::{BTreeMap, BTreeSet};

/// Fields that change no result: they affect speed, or conditions that do not arise.
const INERT: &[(&str, &str)] = &[
    // A mega-fetch reads more at once (R700 §10.3).
    ("VTX_WORD0", "MEGA_FETCH_COUNT"),
    ("VTX_WORD2", "MEGA_FETCH"),
    // W is never scaled.
    ("TEX_WORD1", "COORD_TYPE_W"),
    // Caches; the others are fixed on R700.
    ("MEM_RD_WORD0", "UNCACHED"),
    ("MEM_RD_WORD0", "MEM_REQ_SIZE"),
    ("MEM_RD_WORD2", "MEGA_FETCH"),
    // Four passes instead of one.
    ("MEM_DSR_WORD1", "WATERFALL"),
    // Instructions execute in order.
    ("CF_ALLOC_EXPORT_WORD1_SWIZ", "BARRIER"),
    ("CF_ALLOC_EXPORT_WORD1_BUF", "BARRIER"),
    // Exports and memory writes of invalid pixels are dropped in any mode.
    ("CF_ALLOC_EXPORT_WORD1_SWIZ", "VALID_PIXEL_MODE"),
    ("CF_ALLOC_EXPORT_WORD1_BUF", "VALID_PIXEL_MODE"),
];

/// Fields that say which instruction it is.
const OPCODES: &[&str] = &["VTX_INST", "TEX_INST", "MEM_OP", "CF_INST"];

#[derive(Clone, Debug, Default)]
pub(super) struct Vector {
    pub(super) line: usize,
    truth: String,
    source: String,
    /// Code after END_OF_PROGRAM: subroutines.
    behind: String,
    stage: Option<Stage>,
    rv710: bool,
    columns: Option<u32>,
    loop_start: Option<u16>,
    planes: Vec<Plane>,
    want: Vec<String>,
}

/// A number and whether it is an integer.
fn value(token: &str) -> (f64, u32, bool) {
    if let Some(integer) = token.strip_suffix('i') {
        let bits = match integer.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
            None => integer.parse::<i64>().unwrap() as u32,
        };
        return (f64::from(bits.cast_signed()), bits, true);
    }
    match token.strip_prefix("0x") {
        Some(hex) => {
            let bits = u32::from_str_radix(hex, 16).unwrap();
            (f64::from(f32::from_bits(bits)), bits, false)
        }
        None => {
            let float: f32 = token.parse().unwrap();
            (float.into(), float.to_bits(), false)
        }
    }
}

fn four(tokens: &[&str]) -> [f64; 4] {
    assert_eq!(tokens.len(), 4, "{tokens:?}");
    std::array::from_fn(|n| value(tokens[n]).0)
}

fn plane(text: &str) -> Plane {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut plane = Plane {
        temp: tokens[0][1..].parse().unwrap(),
        origin: [0.0; 4],
        di: [0.0; 4],
        dj: [0.0; 4],
        bits: value(tokens[1]).2,
    };
    plane.origin = four(&tokens[1..5]);
    for by in tokens[5..].chunks(6) {
        let slope = four(&by[2..6]);
        if by[1] == "i" { plane.di = slope } else { plane.dj = slope }
    }
    plane
}

fn vectors() -> Vec<Vector> {
    read("r700/run/fetch.txt")
}

pub(super) fn read(file: &str) -> Vec<Vector> {
    let text = crate::run_vectors(file);
    let mut truth = String::new();
    let mut is_behind = false;
    let mut all: Vec<Vector> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if let Some(source) = line.strip_prefix("truth ") {
            truth = source.into();
            continue;
        }
        if line == "vector" {
            assert!(!truth.is_empty(), "line {}: a vector without its truth", number + 1);
            all.push(Vector { line: number + 1, truth: truth.clone(), ..Vector::default() });
            is_behind = false;
            continue;
        }
        let vector = all.last_mut().unwrap();
        if line == "behind" {
            is_behind = true;
        } else if line.starts_with(' ') {
            let text = if is_behind { &mut vector.behind } else { &mut vector.source };
            *text += line.trim();
            *text += "\n";
        } else if let Some(given) = line.strip_prefix("given ") {
            match given.split_once(' ').unwrap() {
                ("stage", name) => vector.stage = Stage::ALL.iter().copied().find(|s| s.name() == name),
                ("chip", name) => vector.rv710 = name == "rv710",
                ("columns", count) => vector.columns = Some(count.parse().unwrap()),
                ("loop", index) => vector.loop_start = Some(index.parse().unwrap()),
                _ => vector.planes.push(plane(given)),
            }
        } else {
            vector.want.push(line.strip_prefix("want").unwrap_or_else(|| panic!("line {}: {line}", number + 1)).into());
        }
    }
    all
}

fn image(kind: TextureKind, size: [u32; 3], levels: u32, texel: impl Fn([f32; 3], f32) -> [f32; 4]) -> Image {
    filled(Texture { kind, width: size[0], height: size[1], depth: size[2], levels, ..Default::default() }, texel)
}

fn filled(texture: Texture, texel: impl Fn([f32; 3], f32) -> [f32; 4]) -> Image {
    let of_level = |level: u32| {
        let [w, h, d] = texture.size(level);
        let one = |n: u32| texel([n % w, n / w % h, n / w / h].map(|c| c as f32), level as f32).map(f32::to_bits);
        (0..w * h * d).map(one).collect()
    };
    Image { texture, levels: (0..texture.levels).map(of_level).collect() }
}

fn memory(domain: Domain) -> Arrays {
    let bytes = |of: fn(u8) -> u8| {
        let format = Format { data: DataFormat::Fmt16_16, numbers: NumFormat::Int, ..Format::default() };
        BufferData { stride_bytes: 4, format, bytes: (0..=255).map(of).collect() }
    };
    let mut memory = Arrays::default();
    let mut other = Arrays::default();
    memory.buffers.insert(1, bytes(|n| n));
    other.buffers.insert(1, bytes(|n| 255 - n));
    let items = (0..40u16).flat_map(|n| (f32::from(n / 4) + f32::from(n % 4) * 0.25).to_le_bytes()).collect();
    memory.buffers.insert(2, BufferData { stride_bytes: 16, format: Format::default(), bytes: items });
    memory.textures.insert(0, image(TextureKind::TwoD, [4, 4, 1], 3, |[x, y, _], level| [x, y, level, 0.5]));
    memory.textures.insert(1, image(TextureKind::ThreeD, [4, 4, 4], 2, |[x, y, z], level| [x, y, z, level]));
    memory.textures.insert(2, image(TextureKind::CubeArray, [2, 2, 12], 1, |[x, y, z], _| [x, y, z, 0.0]));
    memory.textures.insert(3, image(TextureKind::TwoDArray, [4, 4, 3], 1, |[x, y, z], _| [x, y, z, 0.0]));
    memory
        .textures
        .insert(4, image(TextureKind::TwoD, [2, 2, 1], 1, |[x, y, _], _| [x * 0.25 + y * 0.5, 0.0, 0.0, 0.0]));
    memory.textures.insert(5, image(TextureKind::Cube, [2, 2, 6], 1, |_, _| [0.0; 4]));
    let two_samples = Texture { width: 2, height: 2, levels: 2, samples: 2, ..Default::default() };
    memory.textures.insert(6, filled(two_samples, |[x, y, _], sample| [x, y, sample, 0.0]));
    let mut compared = memory.textures[&4].clone();
    compared.texture.compared = [Sel::X, Sel::X, Sel::X, Sel::One];
    memory.textures.insert(7, compared);
    other.textures.insert(0, image(TextureKind::TwoD, [1, 1, 1], 1, |_, _| [9.0; 4]));
    let nearest = Sampler { mip: MipFilter::Nearest, ..Sampler::default() };
    memory.samplers.insert(0, nearest);
    let border = [8f32.to_bits(), 0, 0, 0];
    let linear = Sampler {
        magnify: Filter::Linear,
        minify: Filter::Linear,
        wrap: [Wrap::Border; 3],
        border,
        ..Sampler::default()
    };
    memory.samplers.insert(1, linear);
    memory.samplers.insert(2, Sampler { compare: Compare::Less, ..nearest });
    memory.alternate = Some(Box::new(other));
    memory.spaces.insert(Space::Scatter, (100..164).collect());
    memory.spaces.insert(Space::Reduction, (200..712).collect());
    for space in [Space::Ring, Space::Stream(0), Space::Stream(1), Space::Stream(2), Space::Stream(3)] {
        memory.spaces.insert(space, vec![0; 128]);
    }
    for target in Target::all() {
        memory.targets.insert(target, Picture::filled(domain.i1 + 1, domain.j1 + 1, [-1.0; 4]));
    }
    memory
}

/// The results of a run, or the code of its fault.
pub(super) type Left = Result<(BTreeMap<Target, Vec<[u32; 4]>>, BTreeMap<Space, Vec<u32>>), &'static str>;

impl Vector {
    fn stage(&self) -> Stage {
        self.stage.unwrap_or(Stage::Pixel)
    }

    fn domain(&self) -> Domain {
        let (columns, rows) = if self.stage() == Stage::Pixel { (2, 2) } else { (4, 1) };
        Domain { i0: 0, j0: 0, i1: self.columns.unwrap_or(columns) - 1, j1: rows - 1 }
    }

    pub(super) fn program(&self) -> Program {
        let body = match self.loop_start {
            None => self.source.clone(),
            Some(_) => format!(
                "LOOP_START CF_CONST(0) FAIL_JUMP_ADDR(behind)\nbody:\n{}LOOP_END CF_CONST(0) PASS_JUMP_ADDR(body)\nbehind:\n",
                self.source
            ),
        };
        let source = format!("{body}EXP: PIX0, R1.xyzw\nEXP_DONE: PIX1, R2.xyzw\nEND_OF_PROGRAM\n{}", self.behind);
        let assembly = assemble(&source, &TextOptions::default());
        let mut program =
            assembly.program.unwrap_or_else(|| panic!("line {}: {source}\n{:?}", self.line, assembly.diagnostics));
        program.gprs = 8;
        program
    }

    pub(super) fn run(&self, engine: &dyn Engine, program: &Program) -> Left {
        let mut constants = Constants::default();
        constants.loops[0] = LoopConstant { count: 1, start: self.loop_start.unwrap_or(0), step: 1 };
        let domain = self.domain();
        let mut memory = memory(domain);
        let launch = Launch {
            stage: self.stage(),
            chip: if self.rv710 { Chip::Rv710 } else { Chip::Rv770 },
            wavefront: GroupSize::new(16).unwrap(),
            group_threads: if self.stage() == Stage::Compute { 32 } else { 0 },
            reduction_stride: 2,
            ring_item_dwords: 8,
            stream_item_dwords: [4; 4],
            vertex_offset: 5,
            instance_offset: 9,
            global_gprs: 4,
            semantics: &[Semantic { id: 3, gpr: 2 }],
            planes: &self.planes,
            budget: Budget { instructions_per_group: Some(1000), time: None },
            ..Launch::new(program, &constants, domain)
        };
        engine.run_r700(&launch, &mut memory).map_err(|fault| fault.code())?;
        let targets = memory.targets.into_iter().map(|(target, picture)| (target, picture.elements)).collect();
        Ok((targets, memory.spaces))
    }

    /// The error in a run's results.
    fn wrong(&self, left: &Left) -> Option<String> {
        for want in &self.want {
            if let Some(code) = want.strip_prefix(" fault ") {
                if left.as_ref().err() != Some(&code) {
                    return Some(format!("not the fault {code}: {:?}", left.as_ref().err()));
                }
                continue;
            }
            let (targets, spaces) = match left {
                Ok(left) => left,
                Err(code) => return Some(format!("fault {code}")),
            };
            let (place, values) = want.split_once('=').unwrap();
            let (lane, name) = match place.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').map(|(lane, name)| (lane.parse::<usize>().unwrap(), name)).unwrap(),
                None => (0, place),
            };
            let wanted: Vec<u32> = values.split_whitespace().map(|token| value(token).1).collect();
            let name = name.trim();
            let got: Vec<u32> = match name.split_once(' ') {
                Some((space, dword)) => {
                    let dwords = spaces.iter().find(|(s, _)| s.name() == space).unwrap().1;
                    vec![dwords[dword.parse::<usize>().unwrap()]]
                }
                None => targets[&target(name)][lane].to_vec(),
            };
            if got != wanted {
                return Some(format!("{name} of lane {lane} is {got:x?}, wanted {wanted:x?}"));
            }
        }
        None
    }
}

fn target(name: &str) -> Target {
    let number = |prefix: &str| name.strip_prefix(prefix).map(|n| n.parse::<u8>().unwrap());
    match (number("R"), number("PIX"), number("POS"), number("PARAM")) {
        (Some(register), ..) => Target::Pixel(register - 1),
        (_, Some(61), ..) => Target::Depth,
        (_, Some(pixel), ..) => Target::Pixel(pixel),
        (_, _, Some(position), _) => Target::Position(position),
        (_, _, _, Some(parameter)) => Target::Parameter(parameter),
        _ => panic!("no target {name}"),
    }
}

/// The words of fetches, exports and memory writes in a program: their names, places and formats.
fn instructions(program: &Program) -> Vec<(&'static str, usize, Vec<&'static WordFormat>)> {
    let mut found = Vec::new();
    let decoded = program.decode();
    for slot in 0..program.words.len() / 2 {
        let Some(entry) = decoded.at(slot as u32) else { continue };
        let Ok(cf) = &entry.cf else { continue };
        if let Cf::Export(_) | Cf::Mem(_) = cf {
            found.push((cf.name(), slot * 2, cf.formats().to_vec()));
        }
        if let (ClauseBody::Fetch(clause), Some((address, _))) = (&entry.clause, cf.clause()) {
            for (n, fetch) in clause.fetches.iter().enumerate() {
                let fetch = fetch.inst.unwrap().fetch;
                found.push((fetch.name(), address as usize * 2 + 4 * n, fetch.formats().to_vec()));
            }
        }
    }
    found
}

pub fn every_vector_holds(engine: &dyn Engine) {
    all_hold(&vectors(), engine);
}

/// Fails with all that is wrong.
pub(super) fn all_hold(vectors: &[Vector], engine: &dyn Engine) {
    let wrong: Vec<String> = vectors
        .iter()
        .filter_map(|vector| {
            let left = vector.run(engine, &vector.program());
            vector
                .wrong(&left)
                .map(|why| format!("line {}: {why}; truth: {}\n{}", vector.line, vector.truth, vector.source))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub fn every_operation_has_a_vector() {
    let seen: BTreeSet<&str> =
        vectors().iter().flat_map(|vector| instructions(&vector.program())).map(|(name, ..)| name).collect();
    // Numbers 0 to 2 of texture clauses are the fetches of vertex clauses.
    let fetches = TexOp::ALL[3..].iter().map(|op| op.name()).chain(["FETCH", "SEMANTIC"]);
    let all = fetches.chain(MemOp::ALL.iter().map(|op| op.name())).chain(ExportOp::ALL.iter().map(|op| op.name()));
    let missing: Vec<&str> = all.filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

pub fn every_field_matters(engine: &dyn Engine) {
    let (mut all, mut matters) = (BTreeSet::new(), BTreeSet::new());
    for vector in vectors() {
        let program = vector.program();
        let left = vector.run(engine, &program);
        for (_, place, formats) in instructions(&program) {
            for (dword, format) in formats.iter().enumerate() {
                for field in format.fields.iter().filter(|field| !OPCODES.contains(&field.name)) {
                    let key = (format.name, field.name);
                    all.insert(key);
                    if matters.contains(&key) && !INERT.contains(&key) {
                        continue;
                    }
                    let mut changed = program.clone();
                    let word = &mut changed.words[place + dword];
                    *word = toggled(field, *word);
                    if vector.run(engine, &changed) != left {
                        assert!(!INERT.contains(&key), "line {}: {key:?} changes the result", vector.line);
                        matters.insert(key);
                    }
                }
            }
        }
    }
    let missing: Vec<_> = all.iter().filter(|key| !matters.contains(*key) && !INERT.contains(key)).collect();
    assert!(missing.is_empty(), "no vector in which these fields matter: {missing:?}");
    let formats = all.iter().map(|(format, _)| *format).collect::<BTreeSet<_>>();
    assert_eq!(formats.len(), 19, "{formats:?}");
}

/// A word with a field made 0 where it is not, and 1 where it is.
fn toggled(field: &Field, word: u32) -> u32 {
    let cleared = word & !field.mask();
    if field.extract(word) == 0 { cleared | 1 << field.lsb } else { cleared }
}
