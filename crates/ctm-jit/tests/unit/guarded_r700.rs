//! Random R700 programs in machine code: no access outside of their memory.
//!
//! Frames (in all tests inside this crate), uniform values, texels and items of buffers lie between pages that may not
//! be touched; an access beyond ends the test process by a signal. The portable back end gives the expected ends of
//! wavefronts and counters; `tests/r700.rs` compares their exports.

use crate::codegen::backend::Backend;
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::wave::{Guest, Reads};
use crate::runtime::options::LoweringOptions;
use crate::runtime::r700::artifact::Artifact;
use crate::runtime::r700::launched::{R700, bindings, uniforms};
use crate::runtime::wavefronts::Done;
use crate::runtime::worker::{Job, Worker};
use crate::tests::guarded::Guarded;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::resources::{Compare, Filter, Image, MipFilter, TextureKind, Wrap, texel_of_bytes};
use ctm_exec::r700::{
    Arrays, Buffer, Constants, Exports, Launch, LoopConstant, Memory, Plane, Sampler, Space, Texture, VertexEvent,
    Written,
};
use ctm_exec::watch::Watch;
use ctm_exec::{Budget, Control, Domain, GroupSize, Position};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::random::{GPRS, RESOURCES, Random, RandomContents, program};
use std::collections::BTreeMap;

/// Memory whose arrays lie between walls.
struct Walls {
    arrays: Arrays,
    /// By texture and level.
    texels: BTreeMap<(u8, u32), Guarded<[u32; 4]>>,
    byte_texels: BTreeMap<(u8, u32), Guarded<[u8; 4]>>,
    items: BTreeMap<u8, Guarded<u8>>,
}

impl Memory for Walls {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.arrays.constant(bank, index)
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.arrays.alternate()
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.arrays.buffer(id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        self.arrays.read_buffer(id, offset_bytes, bytes)
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.arrays.texture(id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.arrays.sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.arrays.texel(id, level, at)
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.arrays.space(space)
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.arrays.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.arrays.store(space, dword, bits)
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.arrays.vertex_event(at, event)
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        self.arrays.commit(at, exports)
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.items.get(&id).map(|items| &**items)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.texels.get(&(id, level)).map(|texels| &**texels)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.byte_texels.get(&(id, level)).map(|texels| &**texels)
    }
}

/// A texture of some kind; half of them are pictures of one level, which code looks up in another way than levels.
fn image(r: &mut Random) -> Image {
    let kind = match r.one_in(2) {
        true => TextureKind::TwoD,
        false => r.of(&[
            TextureKind::OneD,
            TextureKind::OneDArray,
            TextureKind::TwoDArray,
            TextureKind::ThreeD,
            TextureKind::Cube,
            TextureKind::CubeArray,
        ]),
    };
    let (width, height) = (1 + r.below(9), 1 + r.below(6));
    let (height, depth) = match kind {
        TextureKind::OneD => (1, 1),
        TextureKind::OneDArray => (1, 1 + r.below(4)),
        TextureKind::TwoDArray | TextureKind::ThreeD => (height, 1 + r.below(4)),
        TextureKind::Cube => (width, 6),
        TextureKind::CubeArray => (width, 6 * (1 + r.below(2))),
        _ => (height, 1),
    };
    let levels = if r.one_in(2) { 1 } else { 1 + width.max(height).ilog2() };
    let texture = Texture { kind, width, height, depth, levels, ..Default::default() };
    let level = |level: u32, r: &mut Random| {
        (0..texture.size(level).iter().product()).map(|_| std::array::from_fn(|_| r.value())).collect()
    };
    Image { texture, levels: (0..levels).map(|n| level(n, r)).collect() }
}

fn memory(r: &mut Random) -> Walls {
    let mut walls = Walls {
        arrays: Arrays::default(),
        texels: BTreeMap::new(),
        byte_texels: BTreeMap::new(),
        items: BTreeMap::new(),
    };
    for id in 0..RESOURCES {
        let mut image = image(r);
        let are_bytes = r.one_in(2);
        for level in 0..image.levels.len() {
            let (place, texels) = ((id, level as u32), &mut image.levels[level]);
            if are_bytes {
                let bytes: Vec<[u8; 4]> = texels.iter().map(|_| r.value().to_le_bytes()).collect();
                texels.iter_mut().zip(&bytes).for_each(|(texel, bytes)| *texel = texel_of_bytes(*bytes));
                walls.byte_texels.insert(place, Guarded::of(&bytes));
            } else {
                walls.texels.insert(place, Guarded::of(texels));
            }
        }
        walls.arrays.textures.insert(id, image);
        let filter = r.of(&[Filter::Nearest, Filter::Nearest, Filter::Linear]);
        let wrap = std::array::from_fn(|_| r.of(&[Wrap::Clamp, Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border]));
        let compare = r.of(&[Compare::Less, Compare::Equal, Compare::GreaterEqual, Compare::NotEqual]);
        let minify = r.of(&[filter, filter, Filter::Nearest, Filter::Linear]);
        let mip = r.of(&[MipFilter::None, MipFilter::Nearest, MipFilter::Linear]);
        let (max_anisotropy, seamless) = (r.of(&[1, 1, 4, 16]), r.one_in(2));
        let sampler =
            Sampler { magnify: filter, minify, mip, wrap, compare, max_anisotropy, seamless, ..Sampler::default() };
        walls.arrays.samplers.insert(id, sampler);
        let bytes: Vec<u8> = (0..1 + r.below(64)).flat_map(|_| r.value().to_le_bytes()).collect();
        walls.items.insert(id, Guarded::of(&bytes));
        let stride_bytes = r.of(&[4, 8, 16, 32]);
        let data = ctm_exec::r700::resources::BufferData { stride_bytes, bytes, ..Default::default() };
        walls.arrays.buffers.insert(id, data);
        walls.arrays.constants.insert(id, (0..48).map(|_| std::array::from_fn(|_| r.value())).collect());
    }
    for space in [Space::Reduction, Space::Ring, Space::Scatter, Space::Stream(0)] {
        walls.arrays.spaces.insert(space, vec![0; 256]);
    }
    walls.arrays.alternate = Some(Box::new(walls.arrays.clone()));
    walls
}

#[test]
fn programs_stay_inside() {
    Backend::available().filter(|&backend| backend != Backend::Portable).for_each(stay_inside);
}

fn stay_inside(backend: Backend) {
    let tries: u64 = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut ran, mut looked_up, mut levels, mut yields) = (0, 0, 0, 0);
    for seed in 0..250 * tries {
        let r = &mut Random::new(seed ^ 0x7a11_ed00);
        let stage = r.of(&[Stage::Pixel, Stage::Pixel, Stage::Vertex, Stage::Compute]);
        let (clauses, groups) = (1 + r.below(8) as usize, 1 + r.below(6) as usize);
        let program = program(
            seed,
            &RandomContents {
                clauses,
                groups,
                memory: r.one_in(16),
                sharing: stage == Stage::Compute || r.one_in(8),
                ..RandomContents::all(stage)
            },
        );
        let mut constants = Constants::default();
        constants.file.iter_mut().take(64).for_each(|of| *of = std::array::from_fn(|_| r.value()));
        for of in &mut constants.loops {
            *of = LoopConstant { count: r.below(4) as u16, start: r.below(4) as u16, step: r.of(&[0, 1, 2, -1]) };
        }
        let mut planes = vec![Plane::position(0)];
        for temp in 1..GPRS {
            let far = r.of(&[0.0, 1.5, -3.0, 1e9, -1e30, 4.29e9]);
            let di = [r.of(&[0.0, 1.0, -0.5, 1e8]); 4];
            planes.push(Plane { temp, origin: [far; 4], di, dj: [0.25; 4], bits: r.one_in(3) });
        }
        let Some(wavefront) = GroupSize::new(r.of(&[64, 64, 32, 16])) else { continue };
        let domain = Domain { i0: 1, j0: 0, i1: 1 + r.below(40), j1: r.below(4) };
        let budget = Budget { instructions_per_group: Some(3000), time: None };
        let (group_threads, global_gprs) = (r.of(&[0, 50, 128, 256]), r.of(&[0, 2]));
        let launch = Launch {
            stage,
            wavefront,
            planes: &planes,
            budget,
            group_threads,
            global_gprs,
            ..Launch::new(&program, &constants, domain)
        };
        let Some(artifact) = Artifact::new(&launch, &LoweringOptions::default()) else {
            continue;
        };
        let walls = memory(r);
        let watch = Watch::new(&launch.budget, &Control::none(), 0);
        let of = |backend| R700::wavefronts(&launch, &artifact, (&watch, backend));
        let (native, portable) = (of(backend), of(Backend::Portable));
        let Some(uniforms) = uniforms(&launch, &artifact, &walls) else { continue };
        let uniforms = Guarded::of(&uniforms);
        let bindings = bindings(&launch, &artifact, &walls);
        let given = Reads { guest: Guest::R700(&launch, &walls), uniforms: &uniforms, bindings: &bindings };
        let of_levels = bindings.iter().flatten().any(|binding| matches!(binding, Binding::Levels(_)));
        let (mut first, mut second) = (Worker::default(), Worker::default());
        for group in 0..native.waves.count().div_ceil(native.per_group) {
            let job = Job { group, lanes: u64::MAX };
            let [mut here, mut there] = [0; 2].map(|_| Done::new(&native));
            let found = first.here((&native, &watch.part(group)), job, given, &mut here).is_ok();
            let expected = second.here((&portable, &watch.part(group)), job, given, &mut there).is_ok();
            assert_eq!(found, expected, "{backend}, seed {seed}, group {group}");
            if found {
                yields += u64::from(!artifact.code.yields.is_empty());
                for Done { counters, visits } in [&mut here, &mut there] {
                    let lanes = [wavefront.lanes() as u64, native.waves.lanes_of_last()];
                    visits.iter().zip(lanes).for_each(|(visits, lanes)| artifact.count(visits, lanes, counters));
                }
                assert_eq!(here.counters, there.counters, "{backend}, seed {seed}, group {group}");
                ran += 1;
                looked_up += u64::from(here.counters.fetches > 0);
                levels += u64::from(of_levels && here.counters.fetches > 0);
            }
        }
    }
    assert!(ran > 150 && looked_up > 20, "{backend}: {ran} groups ran, {looked_up} looked something up");
    assert!(levels > 10, "{backend}: {levels} groups may have looked at levels");
    assert!(yields > 5, "{backend}: {yields} groups yielded");
}
