//! Hostile R700 programs: words of compilers and of our own with bits changed, wild launches, resources that lie. They end with a result or a
//! fault, never with a panic, never in memory that was not given to them; checked runs give the same results.
//!
//! `CTM_RANDOM=n` runs n times as many.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{
    Arrays, Buffer, Constants, Exports, Launch, LoopConstant, Memory, Plane, Sampler, Semantic, Space, Target, Texture,
    VertexEvent, Written,
};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, Position};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::text::{TextOptions, assemble};
use std::path::Path;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }
    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }
}

/// Memory that notices an access outside its ranges; a forbidden one is a panic, and the test fails.
struct Guarded {
    inner: Arrays,
    buffer: Buffer,
    texture: Texture,
    spaces: u64,
}

impl Memory for Guarded {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        assert!(bank < 16, "bank {bank}");
        self.inner.constant(bank, index)
    }
    fn alternate(&self) -> Option<&dyn Memory> {
        self.inner.alternate()
    }
    fn buffer(&self, id: u8) -> Option<Buffer> {
        (id % 4 != 3).then_some(self.buffer)
    }
    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        assert!(id % 4 != 3, "buffer {id} was never given");
        let end = offset_bytes.checked_add(bytes.len() as u64).unwrap();
        assert!(end <= self.buffer.size_bytes, "byte {offset_bytes} of {}", self.buffer.size_bytes);
        bytes.fill(offset_bytes as u8);
        Ok(())
    }
    fn texture(&self, id: u8) -> Option<Texture> {
        (id % 4 != 3).then_some(self.texture)
    }
    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.inner.sampler(id % 4)
    }
    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        assert!(id % 4 != 3, "texture {id} was never given");
        assert!(level < self.texture.levels, "level {level} of {}", self.texture.levels);
        let size = self.texture.size(level);
        assert!((0..3).all(|axis| at[axis] < size[axis]), "texel {at:?} of {size:?} in level {level}");
        Ok([at[0], at[1], at[2], level])
    }
    fn space(&self, space: Space) -> Option<u64> {
        (space != Space::Stream(3)).then_some(self.spaces)
    }
    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        assert!(space != Space::Stream(3) && dword < self.spaces, "{space:?} {dword}");
        Ok(dword as u32)
    }
    fn store(&mut self, space: Space, dword: u64, _: u32) -> Result<(), MemoryFault> {
        assert!(space != Space::Stream(3) && dword < self.spaces, "{space:?} {dword}");
        Ok(())
    }
    fn vertex_event(&mut self, _: Position, _: VertexEvent) -> Result<(), MemoryFault> {
        Ok(())
    }
    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        self.inner.commit(at, exports)
    }
}

/// Programs to change: the corpora, and texts with every kind of fetch and memory instruction.
fn programs() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut found = Vec::new();
    for folder in ["corpus/mesa/r700", "corpus/llvm"] {
        let mut files: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "hex")) {
            let text = std::fs::read_to_string(file).unwrap();
            let lines = text.lines().map(|line| line.split('#').next().unwrap());
            let words: Result<Vec<u32>, _> =
                lines.flat_map(str::split_whitespace).map(|w| u32::from_str_radix(w, 16)).collect();
            found.extend(words.ok().filter(|words| !words.is_empty()).map(Program::from_words));
        }
    }
    assert!(found.len() > 35, "{} programs", found.len());
    let vectors = std::fs::read_to_string(root.join("vectors/r700/run/fetch.txt")).unwrap();
    for block in vectors.split("\nvector\n").skip(1) {
        let body: String =
            block.lines().take_while(|line| line.starts_with(' ')).map(|line| format!("{}\n", line.trim())).collect();
        let source = format!(
            "LOOP_START CF_CONST(0) FAIL_JUMP_ADDR(b)\na:\n{body}LOOP_END CF_CONST(0) PASS_JUMP_ADDR(a)\nb:\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"
        );
        found.extend(assemble(&source, &TextOptions::default()).program);
    }
    found
}

/// Numbers that hurt.
const WILD: [u32; 16] = [
    0,
    1,
    2,
    3,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x4f80_0000,
    0x0000_0001,
    0x5f00_0000,
    0xfffe_0000,
];

fn mutated(random: &mut Random, programs: &[Program]) -> Program {
    let mut program = programs[random.below(programs.len())].clone();
    for _ in 0..random.below(4) {
        let at = random.below(program.words.len());
        match random.below(4) {
            0 => program.words[at] ^= 1 << random.below(32),
            1 => program.words[at] = random.next(),
            2 => program.words[at] = program.words[random.below(program.words.len())],
            _ => program.words.swap(at, 0),
        }
    }
    if random.below(8) == 0 {
        program.words.truncate(random.below(program.words.len() + 1));
    }
    program.gprs = [0, 1, 4, 16, 124, 128, 255][random.below(7)];
    program
}

fn memory(random: &mut Random) -> Guarded {
    let mut inner = Arrays::default();
    let pick = |random: &mut Random| WILD[random.below(16)];
    inner.bind_constants(0, None, (0..40).map(|_| [pick(random), pick(random), 1, 2]).collect());
    for id in 0..3 {
        let float = |random: &mut Random| f32::from_bits(pick(random));
        let sampler = Sampler {
            magnify: if id == 0 { Filter::Nearest } else { Filter::Linear },
            minify: Filter::Linear,
            mip: [MipFilter::None, MipFilter::Nearest, MipFilter::Linear][random.below(3)],
            wrap: std::array::from_fn(|_| [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border][random.below(4)]),
            min_lod: float(random),
            max_lod: float(random),
            lod_bias: float(random),
            ..Sampler::default()
        };
        inner.samplers.insert(id, sampler);
    }
    let kinds = [
        TextureKind::OneD,
        TextureKind::TwoD,
        TextureKind::ThreeD,
        TextureKind::Cube,
        TextureKind::OneDArray,
        TextureKind::TwoDArray,
        TextureKind::CubeArray,
    ];
    let size = |random: &mut Random| [0, 1, 2, 3, 7, 8192, 65_536, u32::MAX][random.below(8)];
    let texture = Texture {
        kind: kinds[random.below(7)],
        width: size(random),
        height: size(random),
        depth: size(random),
        levels: [0, 1, 3, 14, 40, u32::MAX][random.below(6)],
        texel_bytes: size(random),
        ..Default::default()
    };
    let buffer = Buffer {
        size_bytes: [0, 1, 15, 16, 4096, u64::from(u32::MAX), u64::MAX][random.below(7)],
        stride_bytes: size(random),
        format: Format::default(),
    };
    inner.targets.insert(Target::Pixel(0), Picture::filled(8, 8, [0.0; 4]));
    Guarded { inner, buffer, texture, spaces: [0, 1, 64, 100_000, u64::MAX][random.below(5)] }
}

fn try_one(seed: u64, programs: &[Program]) -> Result<(), Fault> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        random.next();
    }
    let program = mutated(&mut random, programs);
    let fetch = mutated(&mut random, programs);
    let mut constants = Constants::default();
    for value in constants.file.iter_mut().take(64) {
        *value = [WILD[random.below(16)]; 4];
    }
    for constant in &mut constants.loops {
        *constant = LoopConstant {
            count: [0, 1, 3, 4095, u16::MAX][random.below(5)],
            start: [0, 1, 100, 4095, u16::MAX][random.below(5)],
            step: [0, 1, -1, i8::MIN, i8::MAX][random.below(5)],
        };
    }
    let planes: Vec<Plane> = (0..4)
        .map(|n| {
            let wild = |random: &mut Random| f64::from(f32::from_bits(WILD[random.below(16)]));
            Plane {
                temp: n * 43,
                origin: [wild(&mut random); 4],
                di: [wild(&mut random), 1.0, 0.25, 0.0],
                dj: [0.5; 4],
                bits: random.below(2) == 0,
            }
        })
        .collect();
    let any = |random: &mut Random| WILD[random.below(16)];
    let launch = Launch {
        fetch_program: (random.below(2) == 0).then_some(&fetch),
        stage: Stage::ALL[random.below(Stage::ALL.len())],
        chip: if random.below(2) == 0 { Chip::Rv770 } else { Chip::Rv710 },
        wavefront: GroupSize::new([4, 16, 32, 64][random.below(4)]).unwrap(),
        group_threads: [0, 1, 64, 1024, 1025, u32::MAX][random.below(6)],
        reduction_stride: any(&mut random),
        ring_item_dwords: any(&mut random),
        stream_item_dwords: [any(&mut random); 4],
        vertex_offset: any(&mut random),
        instance_offset: any(&mut random),
        global_gprs: [0, 4, 124, 255][random.below(4)],
        semantics: &[Semantic { id: 3, gpr: 2 }, Semantic { id: 4, gpr: 255 }],
        planes: &planes,
        budget: Budget { instructions_per_group: Some(300), time: None },
        ..Launch::new(&program, &constants, Domain { i0: 1, j0: 0, i1: 5, j1: 2 })
    };
    let given = random.0;
    let run = |checks: bool| {
        let mut memory = memory(&mut Random(given));
        let outcome = Interp.run_r700(&Launch { checks, ..launch }, &mut memory);
        (outcome.map(|outcome| outcome.counters), memory.inner.targets)
    };
    let plain = run(false);
    assert_eq!(run(true), plain, "checks change seed {seed}");
    plain.0.map(|_| ())
}

#[test]
fn changed_programs_end_within_their_memory() {
    let programs = programs();
    let times: u64 = std::env::var("CTM_RANDOM").map_or(1, |v| v.parse().unwrap());
    let first: u64 = std::env::var("CTM_HOSTILE_SEED").map_or(1, |v| v.parse().unwrap());
    let mut codes = std::collections::BTreeMap::<&str, u32>::new();
    for seed in first..first + 6000 * times {
        let outcome = std::panic::catch_unwind(|| try_one(seed, &programs)).unwrap_or_else(|_| panic!("seed {seed}"));
        *codes.entry(outcome.map_or_else(|fault| fault.code(), |()| "done")).or_default() += 1;
    }
    // The sample reaches most ways to end.
    for code in [
        "done",
        "memory",
        "undecodable-instruction",
        "pc-out-of-range",
        "instruction-budget",
        "stack-underflow",
        "unsupported",
    ] {
        assert!(codes.contains_key(code), "none ended with {code}: {codes:?}");
    }
}
