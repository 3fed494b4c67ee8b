//! Large triangles are drawn in two ways: their part of a band of rows by one launch that stores colours itself, or quad by quad. Here each draw is
//! made in both: a watched pixel, far away, prevents the first.
//!
//! `CTM_RANDOM=n` tries n times as many.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, NumberType, Swap};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ClipState, Combine, Compare, DepthCopy, DepthState, Draw, DrawState, Factor,
    Indices, Interpolation, PixelInput, PixelInputs, PixelSource, Rect, StageProgram, StencilFace, StencilOp, Topology,
    VertexOutputs, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, Counts, DepthTarget, Notice, Options, Targets, clear_depth, draw};
use ctm_exec::r700::{Arrays, Constants};
use ctm_exec::{Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % u64::from(n)) as u32
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// From -1 to 1.
    fn fraction(&mut self) -> f32 {
        self.below(2001) as f32 / 1000.0 - 1.0
    }
}

const SIDE: u32 = 192;
const INTERPOLATIONS: [Interpolation; 4] =
    [Interpolation::Perspective, Interpolation::Linear, Interpolation::Flat, Interpolation::PixelNumber];

/// Colour targets of a draw: their layouts and formats.
const FLOATS: [ColourFormat; 3] = [
    ColourFormat::RGBA32F,
    ColourFormat { data: DataFormat::Fmt32Float, number: NumberType::Float, swap: Swap::Std },
    ColourFormat { data: DataFormat::Fmt32_32Float, number: NumberType::Float, swap: Swap::Std },
];
const OTHERS: [ColourFormat; 4] = [
    ColourFormat::RGBA8,
    ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Srgb, swap: Swap::Std },
    ColourFormat { data: DataFormat::Fmt8_8, number: NumberType::Unorm, swap: Swap::Std },
    ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Snorm, swap: Swap::AltRev },
];
const FACTORS: [Factor; 5] =
    [Factor::SourceAlpha, Factor::OneMinusSourceAlpha, Factor::One, Factor::Source1Colour, Factor::DestinationColour];
const BYTES: [ColourFormat; 2] =
    [ColourFormat::RGBA8, ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Unorm, swap: Swap::Alt }];

/// Targets whose contents launches merge themselves.
const MERGED: [ColourFormat; 4] = [
    ColourFormat::RGBA8,
    ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Unorm, swap: Swap::Alt },
    ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Unorm, swap: Swap::StdRev },
    ColourFormat { data: DataFormat::Fmt8_8_8_8, number: NumberType::Unorm, swap: Swap::AltRev },
];

/// How triangles are drawn.
enum Way<'a> {
    /// As is; counts the launches of rectangles.
    Whole(&'a mut usize),
    /// Quad by quad.
    Quads,
    /// Without a function that is called with launches: quads that later triangles hide are left out.
    Alone,
}

/// A draw of triangles.
struct Case {
    positions: Vec<[u32; 4]>,
    parameters: Vec<Vec<[u32; 4]>>,
    inputs: Vec<PixelInput>,
    position: Option<u8>,
    face: Option<(u8, u8)>,
    fixed_position: Option<u8>,
    targets: Vec<(ColourFormat, Layout)>,
    /// Factors of blending, and the channels that are written, of the first two targets.
    merges: Option<(Factor, Factor, u8)>,
    /// The tests.
    depth: Option<(DepthFormat, Layout, Compare, Option<StencilFace>, bool)>,
    /// The program kills pixels.
    kills: bool,
    alpha_test: Option<AlphaTest>,
    triangles: u32,
}

fn layout(r: &mut Random, bytes: u32) -> Layout {
    let mode = r.of(&[ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d]);
    let tiling = Tiling { pipes: r.of(&[1, 2, 4, 8]), banks: r.of(&[4, 8]), ..Tiling::default() };
    // Two more macro tiles than are drawn to.
    Layout { mode, tiling, ..Layout::linear(SIDE + 64, SIDE + 64, bytes, 1) }
}

impl Case {
    fn new(r: &mut Random) -> Self {
        let triangles = 1 + r.below(3);
        let vertex = |r: &mut Random| {
            let w = if r.one_in(2) { 1.0 } else { 0.2 + r.below(40) as f32 / 10.0 };
            // Some are cut by the sides of the window.
            let [x, y, z] = [1.5, 1.5, 0.9].map(|most| r.fraction() * most * w);
            [x, y, z, w].map(f32::to_bits)
        };
        let positions = (0..3 * triangles).map(|_| vertex(r)).collect();
        Self::of(r, positions)
    }

    /// Many triangles of up to 25 columns and rows, in pairs that have a side in common; some lie over others.
    fn of_small(r: &mut Random) -> Self {
        let mut positions = Vec::new();
        for _ in 0..40 + r.below(100) {
            let [x, y, z] = [1.0, 1.0, 0.9].map(|most| r.fraction() * most);
            let [width, height] = [0; 2].map(|_| r.fraction() / 8.0);
            let corner = |right: f32, bottom: f32| [x + right * width, y + bottom * height, z, 1.0].map(f32::to_bits);
            let [a, b, c, d] = [corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0)];
            positions.extend([a, b, c, b, d, c]);
        }
        Self::of(r, positions)
    }

    fn of(r: &mut Random, mut positions: Vec<[u32; 4]>) -> Self {
        let triangles = positions.len() as u32 / 3;
        // Some hide all earlier ones.
        if r.one_in(3) {
            let all = [[-1.0f32, -1.0, 0.1, 1.0], [3.0, -1.0, 0.1, 1.0], [-1.0, 3.0, 0.1, 1.0]];
            let last = positions.len() - 3;
            positions[last..].copy_from_slice(&all.map(|at| at.map(f32::to_bits)));
        }
        // Every pixel of some starts with the same values, so that the program runs for one of them.
        let is_flat = r.one_in(3);
        let value = |r: &mut Random| if r.one_in(5) { r.below(2) as f32 } else { r.fraction() * 3.0 };
        let parameter = |r: &mut Random| {
            let is_constant = is_flat || r.one_in(5);
            let first = [0; 4].map(|_| value(r).to_bits());
            let mut one = |_| if is_constant { first } else { [0; 4].map(|_| value(r).to_bits()) };
            positions.iter().map(&mut one).collect()
        };
        let parameters: Vec<Vec<[u32; 4]>> = (0..2).map(|_| parameter(r)).collect();
        let input = |r: &mut Random, semantic| PixelInput {
            semantic,
            back: r.of(&[None, None, Some(1), Some(2), Some(7)]),
            interpolation: r.of(&INTERPOLATIONS),
            ..PixelInput::default()
        };
        let inputs = vec![input(r, 1), input(r, 2), input(r, 9)];
        let target = |r: &mut Random, formats: &[ColourFormat]| {
            let format = r.of(formats);
            let bytes = ctm_draw::format::Colours::new(format).unwrap().bytes() as u32;
            (format, layout(r, bytes))
        };
        let targets = if r.one_in(3) {
            vec![target(r, &MERGED), target(r, &MERGED)]
        } else {
            vec![target(r, &FLOATS), target(r, &BYTES), target(r, &FLOATS), target(r, &OTHERS)]
        };
        // Where a part of the old colours stays, or formats are unusual, colours are blended after the launch.
        let merges = r.one_in(2).then(|| (r.of(&FACTORS), r.of(&FACTORS), 1 + r.below(15) as u8));
        let format = r.of(&DepthFormat::ALL);
        let mut layout = layout(r, format.bytes() as u32);
        layout.depth_order = layout.mode != ArrayMode::Linear;
        let compare = r.of(&[Compare::Less, Compare::GreaterEqual, Compare::Always, Compare::Equal]);
        let stencil = r.one_in(3).then(|| StencilFace {
            compare: r.of(&[Compare::Always, Compare::NotEqual]),
            pass: r.of(&[StencilOp::IncrementWrap, StencilOp::Keep]),
            depth_fail: r.of(&[StencilOp::Invert, StencilOp::Keep]),
            ..StencilFace::default()
        });
        let depth = r.one_in(2).then_some((format, layout, compare, stencil, !r.one_in(4)));
        let alpha_test =
            r.one_in(4).then(|| AlphaTest { compare: r.of(&Compare::ALL), reference: 0.2137, steps: None });
        Self {
            positions,
            parameters,
            inputs,
            position: (!is_flat && r.one_in(2)).then_some(2),
            face: r.one_in(2).then_some((3, r.below(2) as u8)),
            fixed_position: (!is_flat && r.one_in(3)).then_some(4),
            targets,
            merges,
            depth,
            kills: r.one_in(3),
            alpha_test,
            triangles,
        }
    }

    /// The targets' bytes.
    fn draw(
        &self,
        engine: &dyn Engine,
        programs: &[Program; 2],
        way: Way<'_>,
        one_thread: bool,
    ) -> (Vec<Vec<u8>>, Counts) {
        let (constants, memory) = (Constants::default(), Arrays::default());
        let program = &programs[usize::from(self.kills)];
        let parameters: Vec<&[[u32; 4]]> = self.parameters.iter().map(Vec::as_slice).collect();
        let positions: [&[[u32; 4]]; 1] = [&self.positions];
        let vertices = VertexSource::Given { positions: &positions, parameters: &parameters };
        let stage =
            StageProgram { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
        let mut state = DrawState::new(vertices, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip = ClipState { viewports: &viewports, ..state.clip };
        state.outputs = VertexOutputs { semantics: &[1, 2], ..VertexOutputs::default() };
        let (position, face, fixed_position) = (self.position, self.face, self.fixed_position);
        state.inputs =
            PixelInputs { parameters: &self.inputs, position, face, fixed_position, ..PixelInputs::default() };
        // Small numbers in every format: blending with large ones would enlarge a difference of the last bit.
        let mut bytes: Vec<Vec<u8>> =
            self.targets.iter().map(|(_, layout)| vec![0x3d; layout.slice_bytes() as usize]).collect();
        let mut targets = Targets::default();
        for ((place, bytes), &(format, layout)) in targets.colour.iter_mut().zip(&mut bytes).zip(&self.targets) {
            *place = Some(ColourTarget { bytes, layout, format, size: [SIDE; 2], slices: [0; 2] });
        }
        if let Some((source, destination, write_mask)) = self.merges {
            let colour = BlendEquation { source, destination, combine: Combine::Add };
            for target in &mut state.colour.targets[..2] {
                target.blend = Some(Blend { colour, alpha: None });
                target.write_mask = write_mask;
            }
        }
        let mut depth_bytes = Vec::new();
        if let Some((format, layout, compare, stencil, write)) = self.depth {
            depth_bytes = vec![0; layout.slice_bytes() as usize];
            targets.depth =
                Some(DepthTarget { bytes: &mut depth_bytes, layout, format, size: [SIDE; 2], slices: [0; 2] });
            let all = Rect { left: 0, top: 0, right: SIDE as i32, bottom: SIDE as i32 };
            clear_depth(&mut targets, 0.5, 1, all).unwrap();
            state.depth = DepthState { test: Some(compare), write, stencil, ..DepthState::default() };
        }
        state.depth.kill = self.kills;
        state.colour.alpha_test = self.alpha_test;
        let call =
            Draw { topology: Topology::Triangles, indices: Indices::Counted, count: 3 * self.triangles, instances: 1 };
        let launches = Arc::new(AtomicUsize::new(0));
        let heard = Arc::clone(&launches);
        let notice = Notice::new(move |launch| {
            heard.fetch_add(usize::from(launch.domain.j1 > 1), Relaxed);
        });
        let watch = matches!(way, Way::Quads).then_some([16000; 2]);
        let notice = if matches!(way, Way::Alone) { Notice::default() } else { notice };
        let options = Options { one_thread, watch, notice, ..Options::default() };
        let counts = draw(engine, &state, &call, &mut targets, &options).unwrap();
        match way {
            Way::Whole(rectangles) => *rectangles += launches.load(Relaxed),
            Way::Quads | Way::Alone => assert_eq!(launches.load(Relaxed), 0),
        }
        bytes.push(depth_bytes);
        (bytes, counts)
    }
}

impl Case {
    /// Two ways made the same of all targets.
    fn assert_alike(&self, [one, other]: [&[Vec<u8>]; 2], seed: u64) {
        for (n, (format, layout)) in self.targets.iter().enumerate() {
            let same = alike(*format, [&one[n], &other[n]]);
            assert!(same.is_ok(), "seed {seed}, target {n}, {format:?}, {layout:?}: {same:?}");
        }
        assert!(one.last() == other.last(), "seed {seed}, {:?}", self.depth);
    }
}

/// Whether two ways made the same of a target: bytes to the last step, numbers to the last bits of those that gradients are differences of.
fn alike(format: ColourFormat, [one, other]: [&[u8]; 2]) -> Result<(), String> {
    if format.number == NumberType::Float {
        let numbers =
            |bytes: &[u8]| -> Vec<f32> { bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect() };
        let (one, other) = (numbers(one), numbers(other));
        return match one
            .iter()
            .zip(&other)
            .position(|(a, b)| a.to_bits() != b.to_bits() && (a - b).abs() > 1e-6 * a.abs().max(1.0))
        {
            Some(n) => Err(format!("number {n}: {} and {}", one[n], other[n])),
            None => Ok(()),
        };
    }
    match one.iter().zip(other).position(|(a, b)| a.abs_diff(*b) > 1) {
        Some(n) => Err(format!("byte {n}: {} and {}", one[n], other[n])),
        None => Ok(()),
    }
}

fn programs() -> [Program; 2] {
    // Kills after gradients, of no values that lie near to the bound.
    ["", "ALU:\n 1 x: KILLGT ____, R1.y, 0.4137f\n"].map(program_with)
}

fn program_with(kill: &str) -> Program {
    // The third output is a gradient: pixels that are not covered are operands of it.
    let source = "TEX:\n GET_GRADIENTS_H R6.xyzw, R0.xyzw, t0, s0\nALU:\n 0 x: ADD R5.x, R3.x, R4.x\n y: ADD R5.y, R3.y, R4.y\n z: MOV R5.z, R2.z\n w: MOV R5.w, R2.w\n\
                  EXP: PIX0, R0.xyzw\nEXP: PIX1, R1.xyzw\nEXP: PIX2, R6.xyzw\nEXP_DONE: PIX3, R5.xyzw\nEND_OF_PROGRAM\n";
    let source = source.replace("EXP: PIX0", &format!("{kill}EXP: PIX0"));
    let assembly = assemble(&source, &TextOptions::default());
    Program { gprs: 8, ..assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics)) }
}

#[test]
fn both_ways_draw_the_same() {
    let tries: u64 = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (programs, jit) = (programs(), ctm_jit::Jit::default());
    let (mut rectangles, mut late) = (0, 0);
    for seed in 1..=60 * tries {
        let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let case = Case::new(r);
        let before = rectangles;
        let (whole, counts) = case.draw(&jit, &programs, Way::Whole(&mut rectangles), true);
        late += if case.kills || case.alpha_test.is_some() { rectangles - before } else { 0 };
        let (quads, expected) = case.draw(&jit, &programs, Way::Quads, true);
        assert_eq!(Counts { quads: 0, ..counts }, Counts { quads: 0, ..expected }, "seed {seed}");
        case.assert_alike([&whole, &quads], seed);
        // Hidden quads count as if they had run.
        assert_eq!(case.draw(&jit, &programs, Way::Alone, true), (whole.clone(), counts), "seed {seed}, hidden");
        // The engine and the number of threads make no difference at all.
        assert_eq!(
            case.draw(&jit, &programs, Way::Whole(&mut 0), false),
            (whole.clone(), counts),
            "seed {seed}, threads"
        );
        if seed % 4 == 0 || case.targets.len() == 2 {
            assert_eq!(
                case.draw(&Interp, &programs, Way::Whole(&mut 0), true),
                (whole, counts),
                "seed {seed}, interpreter"
            );
        }
    }
    // Launches of quads of any place have two rows.
    assert!(rectangles > 60 && late > 20, "{rectangles} rectangles, {late} with tests after them");
}

/// Quads of many small triangles are merged by launches, but in draws with a watched pixel.
#[test]
fn small_triangles_are_merged_as_their_quads_are() {
    let tries: u64 = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (programs, jit) = (programs(), ctm_jit::Jit::default());
    let mut merged = 0;
    // An emulator tries a quarter.
    let cases = if ctm_testkit::in_emulator() { 15 } else { 60 * tries };
    for seed in 1..=cases {
        let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut case = Case::of_small(r);
        case.targets.truncate(if r.one_in(2) { 1 } else { 4 });
        if r.one_in(2) {
            (case.depth, case.kills) = (None, false);
        }
        merged += usize::from(MERGED.contains(&case.targets[0].0) && case.depth.is_none());
        let (all, counts) = case.draw(&jit, &programs, Way::Alone, true);
        let (quads, expected) = case.draw(&jit, &programs, Way::Quads, true);
        assert_eq!(Counts { quads: 0, ..counts }, Counts { quads: 0, ..expected }, "seed {seed}");
        case.assert_alike([&all, &quads], seed);
        assert_eq!(case.draw(&jit, &programs, Way::Alone, false), (all.clone(), counts), "seed {seed}, threads");
        assert_eq!(case.draw(&Interp, &programs, Way::Alone, true), (all, counts), "seed {seed}, interpreter");
    }
    assert!(merged as u64 * 12 > cases, "{merged} draws can be merged");
}

/// Depth and stencil are copied row by row, but in draws with a watched pixel: there pixel by pixel.
#[test]
fn copies_of_depth_are_those_of_pixels() {
    let (program, constants, memory) = (program_with(""), Constants::default(), Arrays::default());
    let r = &mut Random(0x9e37_79b9_7f4a_7c15);
    let jit = ctm_jit::Jit::default();
    for case in 0..40 {
        let corner = |r: &mut Random| [r.fraction() * 1.2, r.fraction() * 1.2, 0.3, 1.0];
        let [a, b] = [corner(r), corner(r)];
        let positions: Vec<[u32; 4]> =
            [a, [b[0], a[1], 0.3, 1.0], [a[0], b[1], 0.3, 1.0]].map(|p| p.map(f32::to_bits)).into();
        let all: [&[[u32; 4]]; 1] = [&positions];
        let vertices = VertexSource::Given { positions: &all, parameters: &[] };
        let stage = StageProgram {
            program: &program,
            fetch_program: None,
            constants: &constants,
            memory: &memory,
            semantics: &[],
        };
        let mut state = DrawState::new(vertices, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip = ClipState { viewports: &viewports, disabled: true, ..state.clip };
        let depth_format = r.of(&[DepthFormat::D16, DepthFormat::S8D24, DepthFormat::X8D24, DepthFormat::D32Float]);
        let data = match depth_format.bytes() {
            2 => DataFormat::Fmt16,
            _ => DataFormat::Fmt32,
        };
        let format = ColourFormat { data, number: NumberType::Uint, swap: Swap::Std };
        let element = depth_format.bytes() as u32;
        let (colour_layout, mut depth_layout) = (layout(r, element), layout(r, element));
        depth_layout.depth_order = depth_layout.mode != ArrayMode::Linear;
        let copy = DepthCopy { depth: !r.one_in(3), stencil: r.one_in(2), first_covered: r.one_in(2), sample: 0 };
        state.depth.copy = Some(copy);
        // Of one sample.
        state.raster.sample_mask = [r.of(&[1, u8::MAX]); 4];
        let contents: Vec<u8> = (0..depth_layout.slice_bytes()).map(|_| r.below(256) as u8).collect();
        let triangles = if r.one_in(3) { Topology::Triangles } else { Topology::Rectangles };
        let call = Draw { topology: triangles, indices: Indices::Counted, count: 3, instances: 1 };
        let run = |watch: Option<[u32; 2]>| {
            let mut bytes = vec![0x3d; colour_layout.slice_bytes() as usize];
            let mut depth = contents.clone();
            let mut targets = Targets::default();
            targets.colour[0] = Some(ColourTarget {
                bytes: &mut bytes,
                layout: colour_layout,
                format,
                size: [SIDE; 2],
                slices: [0; 2],
            });
            let (layout, format) = (depth_layout, depth_format);
            targets.depth = Some(DepthTarget { bytes: &mut depth, layout, format, size: [SIDE; 2], slices: [0; 2] });
            let counts = draw(&jit, &state, &call, &mut targets, &Options { watch, ..Options::default() }).unwrap();
            (bytes, depth, counts)
        };
        let (rows, pixels) = (run(None), run(Some([16000; 2])));
        assert!(rows.0 == pixels.0, "case {case}: {depth_format:?}, {copy:?}");
        assert!(rows.1 == contents && pixels.1 == contents, "case {case}");
        assert_eq!(Counts { quads: 0, ..rows.2 }, Counts { quads: 0, ..pixels.2 }, "case {case}");
    }
}

/// Targets may be wider than the domains of jobs.
#[test]
fn bands_of_the_widest_targets() {
    let (program, constants, memory) = (program_with(""), Constants::default(), Arrays::default());
    let positions =
        [[-1.0f32, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]].map(|p| p.map(f32::to_bits));
    let parameters =
        [[0.0f32, 0.0, 1.0, 1.0], [16384.0, 0.0, 1.0, 1.0], [0.0, 64.0, 1.0, 1.0]].map(|p| p.map(f32::to_bits));
    let all: [&[[u32; 4]]; 1] = [&positions];
    let other: [&[[u32; 4]]; 1] = [&parameters];
    let vertices = VertexSource::Given { positions: &all, parameters: &other };
    let stage =
        StageProgram { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let mut state = DrawState::new(vertices, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(16384, 64, false)];
    state.clip = ClipState { viewports: &viewports, ..state.clip };
    state.outputs = VertexOutputs { semantics: &[1], ..VertexOutputs::default() };
    let inputs = [PixelInput { semantic: 1, ..PixelInput::default() }];
    state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
    let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count: 3, instances: 1 };
    let run = |engine: &dyn Engine, watch: Option<[u32; 2]>| {
        let mut bytes = vec![0; 16384 * 64 * 16];
        let mut targets = Targets::default();
        let (layout, format) = (Layout::linear(16384, 64, 16, 1), ColourFormat::RGBA32F);
        targets.colour[0] = Some(ColourTarget { bytes: &mut bytes, layout, format, size: [16384, 64], slices: [0; 2] });
        let counts = draw(engine, &state, &call, &mut targets, &Options { watch, ..Options::default() }).unwrap();
        (bytes, counts.pixels)
    };
    let jit = ctm_jit::Jit::default();
    let (whole, pixels) = run(&jit, None);
    assert_eq!(pixels, 16384 * 64 / 2);
    let (quads, of_quads) = run(&jit, Some([16383, 63]));
    assert_eq!(pixels, of_quads);
    assert!(alike(ColourFormat::RGBA32F, [&whole, &quads]).is_ok());
}
