//! Draws of anything: random states, vertices of every kind of number, targets of every format and layout. Nothing panics, hangs, or writes
//! outside of targets; the same draw gives the same bits.
//!
//! `CTM_RANDOM=n` tries n times as many.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, Colours, NumberType, Swap};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ClipState, Combine, Compare, DepthCopy, DepthOffset, DepthState, DepthStep, Draw,
    DrawState, Factor, Fill, Indices, Interpolation, LogicOp, PixelInput, PixelInputs, PixelSource, Place,
    PositionUnit, RasterState, Rect, Rounding, SamplePattern, SpriteElement, StageProgram, StencilFace, StencilOp,
    Stipple, Topology, VertexOutputs, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, DepthTarget, DrawError, Options, Targets, draw};
use ctm_exec::Interp;
use ctm_exec::r700::{Arrays, Constants};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::text::{TextOptions, assemble};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Mostly small numbers, sometimes others.
    fn number(&mut self) -> f32 {
        const ODD: [f32; 12] = [
            0.0,
            -0.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-40,
            -1e20,
            65536.0,
            1.0,
            -1.0,
        ];
        if self.one_in(6) { self.of(&ODD) } else { self.below(4001) as f32 / 1000.0 - 2.0 }
    }
}

const OPS: [StencilOp; 8] = [
    StencilOp::Keep,
    StencilOp::Zero,
    StencilOp::Replace,
    StencilOp::IncrementClamp,
    StencilOp::DecrementClamp,
    StencilOp::Invert,
    StencilOp::IncrementWrap,
    StencilOp::DecrementWrap,
];
const FACTORS: [Factor; 9] = [
    Factor::Zero,
    Factor::One,
    Factor::SourceAlpha,
    Factor::OneMinusDestinationColour,
    Factor::SourceAlphaSaturate,
    Factor::BothSourceAlpha,
    Factor::ConstantColour,
    Factor::Source1Colour,
    Factor::DestinationAlpha,
];

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    Program { gprs: 8, ..program }
}

fn face(r: &mut Random) -> StencilFace {
    StencilFace {
        compare: r.of(&Compare::ALL),
        reference: r.below(256) as u8,
        mask: r.below(256) as u8,
        write_mask: r.below(256) as u8,
        fail: r.of(&OPS),
        depth_fail: r.of(&OPS),
        pass: r.of(&OPS),
    }
}

fn equation(r: &mut Random) -> BlendEquation {
    let combines = [Combine::Add, Combine::Subtract, Combine::ReverseSubtract, Combine::Min, Combine::Max];
    BlendEquation { source: r.of(&FACTORS), destination: r.of(&FACTORS), combine: r.of(&combines) }
}

fn raster(r: &mut Random, samples: SamplePattern) -> RasterState {
    let fills = [Fill::Points, Fill::Lines, Fill::Triangles, Fill::Triangles];
    let offset =
        |r: &mut Random| r.one_in(4).then(|| DepthOffset { scale: r.number(), units: r.number(), clamp: r.number() });
    let side = |r: &mut Random| r.below(60) as i32 - 10;
    RasterState {
        clockwise_is_front: r.one_in(2),
        cull_front: r.one_in(6),
        cull_back: r.one_in(6),
        fill_front: r.of(&fills),
        fill_back: r.of(&fills),
        offset_front: offset(r),
        offset_back: offset(r),
        offset_others: r.one_in(2),
        depth_step: r.of(&[
            DepthStep::Fixed(-24),
            DepthStep::Float(-23),
            DepthStep::Fixed(127),
            DepthStep::Float(-128),
        ]),
        last_provokes: r.one_in(2),
        no_perspective: r.one_in(5),
        half_pixel_centres: !r.one_in(4),
        rounding: r.of(&[Rounding::Truncate, Rounding::Nearest, Rounding::NearestEven, Rounding::NearestOdd]),
        unit: r.of(&[PositionUnit::Of256, PositionUnit::Of192]),
        grid: r.of(&[1, 1, 16, 256]),
        point_size: [r.number() * 8.0, r.number() * 8.0],
        point_limits: [r.number(), r.number() * 10.0],
        line_width: r.number() * 6.0,
        rectangular_lines: r.one_in(3),
        stipple: r.one_in(4).then(|| Stipple {
            pattern: r.below(65536) as u16,
            repeat: r.below(4) as u16,
            high_first: r.one_in(2),
            restarts: r.one_in(2),
        }),
        scissor: if r.one_in(3) {
            Rect { left: side(r), top: side(r), right: side(r) + 30, bottom: side(r) + 30 }
        } else {
            // Without targets this is the only limit of drawing.
            Rect { left: 0, top: 0, right: 40, bottom: 40 }
        },
        clip_rectangles: r.one_in(12).then(|| {
            let mut one = || Rect { left: side(r), top: side(r), right: side(r), bottom: side(r) };
            ([one(), one(), one(), one()], 0x5af0)
        }),
        samples,
        multisample: !r.one_in(4),
        sample_mask: std::array::from_fn(|_| if r.one_in(12) { r.below(256) as u8 } else { 0xff }),
        per_sample: r.one_in(5),
    }
}

/// The layout of a target: format or layout may be impossible.
fn layout(r: &mut Random, bytes: u32, samples: u32) -> Layout {
    let one_d = if samples == 1 || r.one_in(8) { ArrayMode::Tiled1d } else { ArrayMode::Linear };
    let mode = r.of(&[ArrayMode::Linear, one_d, ArrayMode::Tiled2d]);
    let tiling = Tiling { pipes: r.of(&[1, 1, 2, 8]), banks: r.of(&[4, 8]), ..Tiling::default() };
    let (pitch, height) = if r.one_in(30) { (33, 17) } else { (64, 64) };
    Layout { mode, pitch, height, element_bytes: bytes, samples, depth_order: r.one_in(3), tiling }
}

/// Draws a random state; returns its count of pixels, and the targets' contents. `None`: it was refused.
fn one(seed: u64) -> Option<(u64, Vec<u8>, Vec<u8>)> {
    let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        r.next();
    }
    let kinds = [1, 2, 4, 8];
    let samples = SamplePattern::of(r.of(&kinds)).unwrap();
    let outputs = VertexOutputs {
        semantics: &[1, 2],
        misc: r.one_in(3),
        point_size: r.one_in(2),
        edge_flag: r.one_in(3),
        layer: r.one_in(3),
        viewport: r.one_in(3),
        kill: r.one_in(30),
        distances_low: r.one_in(3),
        distances_high: r.one_in(3),
    };
    let count = 4 + r.below(24) as usize;
    let mut exports = |odd: bool| -> Vec<[u32; 4]> {
        let one = |r: &mut Random| match (odd, r.below(3)) {
            (true, 0) => [r.next() as u32, r.below(3), r.below(4), r.below(20)],
            _ => std::array::from_fn(|c| {
                if c == 3 && !r.one_in(5) { (0.2 + r.below(20) as f32 / 10.0).to_bits() } else { r.number().to_bits() }
            }),
        };
        (0..count).map(|_| one(r)).collect()
    };
    let positions = [exports(false), exports(true), exports(false), exports(false)];
    let parameters = [exports(false), exports(false)];
    let positions: Vec<&[[u32; 4]]> = positions.iter().map(Vec::as_slice).collect();
    let parameters: Vec<&[[u32; 4]]> = parameters.iter().map(Vec::as_slice).collect();
    let programs = [
        "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
        "ALU:\n x: KILLGT ____, R0.x, R1.y\nEXP: PIX0, R0.xyzw\nEXP: PIX1, R1.xyzw\nEXP_DONE: PIX61, R1.xyz_\nEND_OF_PROGRAM\n",
    ];
    let program = text(r.of(&programs));
    let (constants, memory) = (Constants::default(), Arrays::default());
    let stage =
        StageProgram { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let pixels = if r.one_in(8) { PixelSource::Nothing } else { PixelSource::Program(stage) };
    let mut state = DrawState::new(VertexSource::Given { positions: &positions, parameters: &parameters }, pixels);
    state.outputs = outputs;
    let viewports: Vec<Viewport> = (0..r.below(4))
        .map(|_| {
            let mut viewport = Viewport::of_size(64, 64, r.one_in(2));
            if r.one_in(6) {
                viewport.scale = std::array::from_fn(|_| r.number() * 1000.0);
                viewport.depth = [r.number(), r.number()];
            }
            viewport
        })
        .collect();
    state.clip = ClipState {
        viewports: &viewports,
        disabled: r.one_in(6),
        half_z: r.one_in(2),
        no_near: r.one_in(4),
        no_far: r.one_in(4),
        user_planes: std::array::from_fn(|_| r.one_in(30).then(|| std::array::from_fn(|_| r.number()))),
        planes_only_cull: r.one_in(4),
        clip_distances: if r.one_in(8) { r.below(256) as u8 } else { 0 },
        cull_distances: if r.one_in(8) { r.below(256) as u8 } else { 0 },
        guard_band: if r.one_in(10) {
            r.of(&[[f32::NAN; 2], [-3.0, f32::INFINITY]])
        } else {
            r.of(&[[1.0; 2], [100.0; 2]])
        },
        any_kill: r.one_in(2),
        cut_edges_are_drawn: r.one_in(2),
        discard: r.one_in(30),
        xy_divided: r.one_in(8),
        z_divided: r.one_in(8),
        w_is_reciprocal: r.one_in(8),
    };
    state.raster = raster(r, samples);
    let elements = [SpriteElement::S, SpriteElement::T, SpriteElement::One, SpriteElement::Parameter];
    let list: Vec<PixelInput> = (0..r.below(4))
        .map(|_| PixelInput {
            semantic: r.below(4) as u8,
            back: r.one_in(3).then(|| r.below(4) as u8),
            default: [1, 2, 3, 4],
            interpolation: r.of(&[
                Interpolation::Perspective,
                Interpolation::Linear,
                Interpolation::Flat,
                Interpolation::PixelNumber,
            ]),
            place: r.of(&[Place::Centre, Place::Centroid, Place::Sample]),
            sprite: r.one_in(2),
        })
        .collect();
    state.inputs = PixelInputs {
        parameters: &list,
        sprite: std::array::from_fn(|_| r.of(&elements)),
        sprite_top_is_one: r.one_in(2),
        position: r.one_in(3).then(|| r.below(200) as u8),
        position_place: r.of(&[Place::Centre, Place::Centroid, Place::Sample]),
        face: r.one_in(3).then(|| (r.below(200) as u8, r.below(256) as u8)),
        fixed_position: r.one_in(4).then(|| r.below(200) as u8),
        generated: r.one_in(4).then(|| (r.below(200) as u8, r.below(256) as u8)),
        ..PixelInputs::default()
    };
    state.depth = DepthState {
        test: (!r.one_in(4)).then(|| r.of(&Compare::ALL)),
        write: r.one_in(2),
        stencil: r.one_in(2).then(|| face(r)),
        stencil_back: r.one_in(2).then(|| face(r)),
        export_depth: r.one_in(4),
        export_stencil: r.one_in(4),
        export_mask: r.one_in(4),
        export_start: None,
        kill: r.one_in(2),
        clear_depth: r.one_in(8).then(|| r.number()),
        clear_stencil: r.one_in(8).then(|| r.below(256) as u8),
        copy: r.one_in(8).then(|| DepthCopy {
            depth: r.one_in(2),
            stencil: r.one_in(2),
            first_covered: r.one_in(2),
            sample: r.below(256) as u8,
        }),
        counts_nothing: r.one_in(4),
    };
    for target in &mut state.colour.targets {
        target.write_mask = if r.one_in(3) { r.below(256) as u8 } else { 15 };
        target.blend = r.one_in(2).then(|| Blend { colour: equation(r), alpha: r.one_in(2).then(|| equation(r)) });
        (target.blend_clamp, target.truncate) = (r.one_in(2), r.one_in(4));
    }
    state.colour.constant = std::array::from_fn(|_| r.number());
    state.colour.logic = if r.one_in(4) { LogicOp(r.below(256) as u8) } else { LogicOp::COPY };
    state.colour.multiwrite = r.one_in(6);
    state.colour.alpha_test =
        r.one_in(6).then(|| AlphaTest { compare: r.of(&Compare::ALL), reference: r.number(), steps: None });
    state.colour.alpha_to_coverage = r.one_in(8).then(|| std::array::from_fn(|_| r.below(256) as u8));
    let numbers = [
        NumberType::Unorm,
        NumberType::Snorm,
        NumberType::Uint,
        NumberType::Sint,
        NumberType::Srgb,
        NumberType::Float,
        NumberType::Uscaled,
        NumberType::Sscaled,
    ];
    let mut format = ColourFormat::RGBA8;
    for _ in 0..if r.one_in(20) { 1 } else { 50 } {
        let (data, number) = (r.of(DataFormat::ALL), r.of(&numbers));
        format = ColourFormat { data, number, swap: r.of(&[Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev]) };
        if Colours::new(format).is_ok() {
            break;
        }
    }
    let bytes = Colours::new(format).map_or(4, |colours| colours.bytes()) as u32;
    let depth_format = r.of(&DepthFormat::ALL);
    let layouts = [layout(r, bytes, samples.count), layout(r, depth_format.bytes() as u32, samples.count)];
    // Bytes after the slices, which have to stay.
    const BEHIND: usize = 64;
    let memory_of = |layout: &Layout| vec![0x5a; 2 * layout.slice_bytes() as usize + BEHIND];
    let (mut colour, mut depth) = (memory_of(&layouts[0]), memory_of(&layouts[1]));
    let mut targets = Targets::default();
    let size = if r.one_in(30) { [9, 70] } else { [33, 17] };
    let slices = [r.below(2), 1];
    if !r.one_in(8) {
        targets.colour[0] = Some(ColourTarget { bytes: &mut colour, layout: layouts[0], format, size, slices });
    }
    if !r.one_in(3) {
        let format = depth_format;
        targets.depth = Some(DepthTarget { bytes: &mut depth, layout: layouts[1], format, size, slices });
    }
    let indices: Vec<u16> =
        (0..40).map(|_| if r.one_in(10) { 0xffff } else { r.below(count as u32 + 3) as u16 }).collect();
    state.input.restart = r.one_in(2).then_some(0xffff);
    state.input.index_offset = if r.one_in(8) { i32::MIN } else { 0 };
    state.input.primitive_number = r.one_in(4);
    let indices = if r.one_in(2) { Indices::Counted } else { Indices::U16(&indices) };
    let call = Draw { topology: r.of(&Topology::ALL), indices, count: r.below(60), instances: r.below(3) };
    let result = draw(&Interp, &state, &call, &mut targets, &Options { one_thread: true, ..Options::default() });
    match result {
        Ok(_) | Err(DrawError::Target { .. }) => {}
        Err(error) => panic!("seed {seed}: {error}"),
    }
    for memory in [&colour, &depth] {
        assert!(memory[memory.len() - BEHIND..].iter().all(|&byte| byte == 0x5a), "seed {seed}");
    }
    result.ok().map(|counts| (counts.pixels, colour, depth))
}

#[test]
fn anything_is_drawn_or_refused() {
    let times: u64 = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut drawn = 0;
    for seed in 0..1500 * times {
        let first = one(seed);
        drawn += u32::from(first.as_ref().is_some_and(|(pixels, ..)| *pixels > 20));
        if seed % 8 == 0 {
            assert!(first == one(seed), "seed {seed} draws differently");
        }
    }
    assert!(drawn > 80, "{drawn}");
}
