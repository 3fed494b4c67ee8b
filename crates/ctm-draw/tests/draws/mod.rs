//! Whole draws, from vertex numbers to stored bits, on the reference interpreter and the fast engine.
//!
//! Truth: derived from the rules of `docs/drawing.md`; where a number is computed in another way here, the comment says how.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod scenes;

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ClipState, Combine, Compare, DepthState, Draw, DrawState, Factor, Indices,
    Interpolation, PixelInput, PixelSource, Place, RasterState, Rect, SamplePattern, StageProgram, StencilFace,
    StencilOp, Topology, VertexSource, Viewport,
};
use ctm_draw::{
    ColourTarget, Counts, DepthTarget, DrawError, LossUnit, Options, Targets, clear_colour, clear_depth, draw,
    draw_watched,
};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::BufferData;
use ctm_exec::r700::{Arrays, Constants, Semantic};
use ctm_exec::{Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::Jit;

const SIDE: u32 = 32;
const WHOLE: Rect = Rect { left: 0, top: 0, right: SIDE as i32, bottom: SIDE as i32 };

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    Program { gprs: program.gprs.max(4), ..program }
}

/// A colour target and a depth target with a number of samples.
struct Canvas {
    colour: Vec<u8>,
    depth: Vec<u8>,
    samples: u32,
    format: ColourFormat,
}

impl Canvas {
    fn new(format: ColourFormat, samples: u32) -> Self {
        let bytes = ctm_draw::format::Colours::new(format).unwrap().bytes();
        let pixels = (SIDE * SIDE * samples) as usize;
        let mut canvas = Self { colour: vec![0; pixels * bytes], depth: vec![0; pixels * 4], samples, format };
        clear_depth(&mut canvas.targets(), 1.0, 0, WHOLE).unwrap();
        canvas
    }

    fn targets(&mut self) -> Targets<'_> {
        let bytes = self.colour.len() / (SIDE * SIDE * self.samples) as usize;
        let mut targets = Targets::default();
        targets.colour[0] = Some(ColourTarget {
            layout: Layout::linear(SIDE, SIDE, bytes as u32, self.samples),
            bytes: &mut self.colour,
            format: self.format,
            size: [SIDE; 2],
            slices: [0, 0],
        });
        targets.depth = Some(DepthTarget {
            bytes: &mut self.depth,
            layout: Layout::linear(SIDE, SIDE, 4, self.samples),
            format: DepthFormat::S8D24,
            size: [SIDE; 2],
            slices: [0, 0],
        });
        targets
    }

    fn rgba(&self, x: u32, y: u32) -> [u8; 4] {
        let at = 4 * (y * SIDE + x) as usize;
        self.colour[at..at + 4].try_into().unwrap()
    }

    fn floats(&self, x: u32, y: u32) -> [f32; 4] {
        let at = 16 * (y * SIDE + x) as usize;
        std::array::from_fn(|c| f32::from_le_bytes(self.colour[at + 4 * c..at + 4 * c + 4].try_into().unwrap()))
    }
}

/// Vertices that a vertex program would have exported: positions, one parameter.
struct Given {
    positions: Vec<[u32; 4]>,
    parameter: Vec<[u32; 4]>,
}

impl Given {
    fn new(vertices: &[([f32; 4], [f32; 4])]) -> Self {
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        Self {
            positions: vertices.iter().map(|v| bits(v.0)).collect(),
            parameter: vertices.iter().map(|v| bits(v.1)).collect(),
        }
    }
}

/// The pixel program that exports its first register.
fn passes_on() -> Program {
    text("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n")
}

const SEMANTIC: [u8; 1] = [5];
const INPUT: [PixelInput; 1] = [PixelInput {
    semantic: 5,
    back: None,
    default: [0; 4],
    interpolation: Interpolation::Perspective,
    place: Place::Centre,
    sprite: false,
}];

/// Draws given vertices with a pixel program.
fn drawn(
    given: &Given,
    program: &Program,
    topology: Topology,
    canvas: &mut Canvas,
    change: impl FnOnce(&mut DrawState<'_>),
) -> Counts {
    let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
    let (constants, memory) = (Constants::default(), Arrays::default());
    let stage = StageProgram { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let source = VertexSource::Given { positions: &positions, parameters: &parameters };
    let mut state = DrawState::new(source, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip.viewports = &viewports;
    state.outputs.semantics = &SEMANTIC;
    state.inputs.parameters = &INPUT;
    state.raster.samples = SamplePattern::of(canvas.samples).unwrap();
    change(&mut state);
    let count = given.positions.len() as u32;
    let call = Draw { topology, indices: Indices::Counted, count, instances: 1 };
    draw(&Interp, &state, &call, &mut canvas.targets(), &Options::default()).unwrap()
}

const COVER: [[f32; 4]; 4] =
    [[-1.0, -1.0, 0.0, 1.0], [1.0, -1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]];

fn cover(z: f32, colour: [f32; 4]) -> Given {
    Given::new(&COVER.map(|[x, y, _, w]| ([x, y, z, w], colour)))
}

#[test]
fn a_strip_covers_the_whole_target_once() {
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let counts = drawn(&cover(0.0, [1.0, 0.5, 0.0, 1.0]), &passes_on(), Topology::TriangleStrip, &mut canvas, |_| {});
    assert!((0..SIDE * SIDE).all(|n| canvas.rgba(n % SIDE, n / SIDE) == [255, 128, 0, 255]));
    let pixels = u64::from(SIDE * SIDE);
    assert_eq!((counts.pixels, counts.samples_passed, counts.pixels_written), (pixels, pixels, pixels));
    assert_eq!((counts.primitives, counts.visible, counts.vertices, counts.indices), (2, 2, 4, 4));
}

/// Truth: the ray through a pixel meets the triangle's plane in clip space, computed by Cramer's rule from homogeneous positions.
#[test]
fn parameters_are_interpolated_with_perspective() {
    let corners = [[-3.0, -2.0, 0.5, 2.0], [4.0, -1.0, 1.0, 3.0], [0.0, 2.5, 0.25, 1.5]];
    // The last one has a corner with negative w, so it is cut.
    for corners in [corners, [corners[0], corners[1], [0.5, 1.0, -1.5, -0.5]]] {
        let values = [[1.0, 0.0, 0.0, 7.0], [0.0, 1.0, 0.0, 7.0], [0.0, 0.0, 1.0, 7.0]];
        let given = Given::new(&[(corners[0], values[0]), (corners[1], values[1]), (corners[2], values[2])]);
        let mut canvas = Canvas::new(ColourFormat::RGBA32F, 1);
        let counts = drawn(&given, &passes_on(), Topology::Triangles, &mut canvas, |state| {
            state.clip.guard_band = [64.0; 2];
        });
        assert!(counts.pixels > 50);
        let mut seen = 0;
        for n in 0..SIDE * SIDE {
            let found = canvas.floats(n % SIDE, n / SIDE);
            if found == [0.0; 4] {
                continue;
            }
            seen += 1;
            let x = (f64::from(n % SIDE) + 0.5) / f64::from(SIDE) * 2.0 - 1.0;
            let y = 1.0 - (f64::from(n / SIDE) + 0.5) / f64::from(SIDE) * 2.0;
            // Columns (x, y, w) of the corners; the weights are proportional to the solution for (x, y, 1).
            let m = corners.map(|[x, y, _, w]| [f64::from(x), f64::from(y), f64::from(w)]);
            let determinant = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
                a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1])
                    + c[0] * (a[1] * b[2] - a[2] * b[1])
            };
            let at = [x, y, 1.0];
            let parts = [determinant(at, m[1], m[2]), determinant(m[0], at, m[2]), determinant(m[0], m[1], at)];
            let sum: f64 = parts.iter().sum();
            for c in 0..3 {
                let expected = parts[c] / sum;
                // Positions are on a grid of 1/256 pixel.
                assert!((f64::from(found[c]) - expected).abs() < 4e-3, "pixel {n}: {found:?}, {expected} for {c}");
            }
            assert_eq!(found[3], 7.0);
        }
        assert_eq!(seen, counts.pixels);
    }
}

#[test]
fn linear_and_flat_parameters() {
    let given = Given::new(&[
        ([-1.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]),
        ([4.0, -4.0, 0.0, 4.0], [8.0, 2.0, 0.0, 0.0]),
        ([-1.0, 1.0, 0.0, 1.0], [0.0, 3.0, 0.0, 0.0]),
    ]);
    let with = |interpolation, last_provokes, no_perspective| {
        let input = [PixelInput { interpolation, ..INPUT[0] }];
        let mut canvas = Canvas::new(ColourFormat::RGBA32F, 1);
        let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
        let (constants, memory, program) = (Constants::default(), Arrays::default(), passes_on());
        let stage = StageProgram {
            program: &program,
            fetch_program: None,
            constants: &constants,
            memory: &memory,
            semantics: &[],
        };
        let source = VertexSource::Given { positions: &positions, parameters: &parameters };
        let mut state = DrawState::new(source, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip.viewports = &viewports;
        state.outputs.semantics = &SEMANTIC;
        state.inputs.parameters = &input;
        state.raster.last_provokes = last_provokes;
        state.raster.no_perspective = no_perspective;
        let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count: 3, instances: 1 };
        draw(&Interp, &state, &call, &mut canvas.targets(), &Options::default()).unwrap();
        canvas.floats(8, SIDE - 9)
    };
    assert_eq!(with(Interpolation::Flat, true, false)[1], 3.0);
    assert_eq!(with(Interpolation::Flat, false, false)[1], 1.0);
    // Half way between the corners, a quarter to the right: 8.5 of 32 columns.
    assert_eq!(with(Interpolation::Linear, true, false)[0], 8.0 * 8.5 / 32.0);
    assert_eq!(with(Interpolation::Perspective, true, true)[0], 8.0 * 8.5 / 32.0);
    assert!(with(Interpolation::Perspective, true, false)[0] < 1.0);
}

#[test]
fn parameters_that_nobody_exports_have_their_default() {
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let input = [PixelInput { semantic: 9, default: [0, 1f32.to_bits(), 0, 0], ..INPUT[0] }];
    let given = cover(0.0, [1.0; 4]);
    let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
    let (constants, memory, program) = (Constants::default(), Arrays::default(), passes_on());
    let stage =
        StageProgram { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let source = VertexSource::Given { positions: &positions, parameters: &parameters };
    let mut state = DrawState::new(source, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip.viewports = &viewports;
    state.outputs.semantics = &SEMANTIC;
    state.inputs.parameters = &input;
    let call = Draw { topology: Topology::TriangleStrip, indices: Indices::Counted, count: 4, instances: 1 };
    draw(&Interp, &state, &call, &mut canvas.targets(), &Options::default()).unwrap();
    assert_eq!(canvas.rgba(3, 3), [0, 255, 0, 0]);
}

#[test]
fn nearer_triangles_hide_farther_ones_in_any_order() {
    let near = cover(-0.5, [1.0, 0.0, 0.0, 1.0]);
    let far = cover(0.5, [0.0, 1.0, 0.0, 1.0]);
    let tests = |state: &mut DrawState<'_>| {
        state.depth = DepthState { test: Some(Compare::Less), write: true, ..DepthState::default() };
    };
    for order in [[&near, &far], [&far, &near]] {
        let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
        let counts = order.map(|given| drawn(given, &passes_on(), Topology::TriangleStrip, &mut canvas, tests));
        assert_eq!(canvas.rgba(5, 5), [255, 0, 0, 255]);
        let passed: u64 = counts.iter().map(|counts| counts.samples_passed).sum();
        assert_eq!(passed, u64::from(SIDE * SIDE) * if std::ptr::eq(order[0], &near) { 1 } else { 2 });
    }
}

#[test]
fn stencil_counts_and_cuts_out() {
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let face = StencilFace { pass: StencilOp::IncrementClamp, ..StencilFace::default() };
    let half = Given::new(&[
        ([-1.0, -1.0, 0.0, 1.0], [0.0; 4]),
        ([1.0, -1.0, 0.0, 1.0], [0.0; 4]),
        ([-1.0, 1.0, 0.0, 1.0], [0.0; 4]),
    ]);
    let counts = drawn(&half, &passes_on(), Topology::Triangles, &mut canvas, |state| {
        state.depth.stencil = Some(face);
    });
    let only = StencilFace { compare: Compare::Equal, reference: 1, ..StencilFace::default() };
    let again = drawn(&cover(0.0, [1.0; 4]), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.depth.stencil = Some(only);
    });
    assert_eq!(counts.samples_passed, again.samples_passed);
    assert_eq!(canvas.rgba(0, SIDE - 1), [255; 4]);
    assert_eq!(canvas.rgba(SIDE - 1, 0), [0; 4]);
}

#[test]
fn colours_are_blended_masked_and_combined() {
    let over =
        BlendEquation { source: Factor::SourceAlpha, destination: Factor::OneMinusSourceAlpha, combine: Combine::Add };
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let white = [1f32.to_bits(); 4];
    clear_colour(&mut canvas.targets(), 0, white, WHOLE).unwrap();
    let red = cover(0.0, [1.0, 0.0, 0.0, 0.25]);
    drawn(&red, &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.colour.targets[0].blend = Some(Blend { colour: over, alpha: None });
    });
    // 0.25 * 0 + 0.75 * 255, and of alpha 0.25 * 0.25 + 0.75.
    assert_eq!(canvas.rgba(1, 1), [255, 191, 191, 207]);
    drawn(&cover(0.0, [0.0; 4]), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.colour.targets[0].write_mask = 0b0010;
    });
    assert_eq!(canvas.rgba(1, 1), [255, 0, 191, 207]);
    drawn(&cover(0.0, [1.0, 1.0, 0.0, 0.0]), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.colour.logic = ctm_draw::state::LogicOp(0b0110);
    });
    assert_eq!(canvas.rgba(1, 1), [0, 255, 191, 207]);
}

#[test]
fn overlapping_primitives_blend_in_order() {
    // Three layers in one draw: each adds half of the missing part, so the order shows.
    let mut vertices = Vec::new();
    for colour in [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.5]] {
        vertices.extend([0, 1, 2, 2, 1, 3].map(|n| (COVER[n], colour)));
    }
    let over =
        BlendEquation { source: Factor::SourceAlpha, destination: Factor::OneMinusSourceAlpha, combine: Combine::Add };
    let mut canvas = Canvas::new(ColourFormat::RGBA32F, 1);
    drawn(&Given::new(&vertices), &passes_on(), Topology::Triangles, &mut canvas, |state| {
        state.colour.targets[0].blend = Some(Blend { colour: over, alpha: None });
    });
    assert_eq!(canvas.floats(9, 9)[..3], [0.125, 0.25, 0.5]);
}

#[test]
fn killed_pixels_and_alpha_leave_nothing() {
    // Left of the middle, red is below 0.5: killed.
    let slope: Vec<_> = COVER.iter().map(|&at| (at, [(at[0] + 1.0) / 2.0, 0.0, 0.0, (at[1] + 1.0) / 2.0])).collect();
    let given = Given::new(&slope);
    let kills = text("ALU:\n x: KILLGT ____, 0.5, R0.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let counts = drawn(&given, &kills, Topology::TriangleStrip, &mut canvas, |state| {
        state.depth = DepthState { test: Some(Compare::Less), write: true, kill: true, ..DepthState::default() };
        state.colour.alpha_test = Some(AlphaTest { compare: Compare::Greater, reference: 0.5, steps: None });
    });
    assert_eq!(counts.samples_passed, u64::from(SIDE * SIDE / 4));
    assert_ne!(canvas.rgba(SIDE - 1, 0), [0; 4]);
    assert_eq!(canvas.rgba(0, 0), [0; 4]);
    assert_eq!(canvas.rgba(SIDE - 1, SIDE - 1), [0; 4]);
    // Killed pixels left no depth.
    let later = drawn(&cover(0.9, [1.0; 4]), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.depth.test = Some(Compare::Less);
    });
    assert_eq!(later.samples_passed, u64::from(SIDE * SIDE * 3 / 4));
}

#[test]
fn pixels_that_export_nothing_leave_depth_unless_they_are_killed() {
    let slope: Vec<_> = COVER.iter().map(|&at| (at, [(at[0] + 1.0) / 2.0, 0.0, 0.0, 1.0])).collect();
    // A masked export is an end, and stores nothing.
    let kills = text("ALU:\n x: KILLGT ____, 0.5, R0.x\nEXP_DONE: PIX0, R0.____\nEND_OF_PROGRAM\n");
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let counts = drawn(&Given::new(&slope), &kills, Topology::TriangleStrip, &mut canvas, |state| {
        state.depth = DepthState { test: Some(Compare::Less), write: true, kill: true, ..DepthState::default() };
    });
    assert_eq!(counts.samples_passed, u64::from(SIDE * SIDE / 2));
    let later = drawn(&cover(0.9, [1.0; 4]), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.depth.test = Some(Compare::Less);
    });
    assert_eq!(later.samples_passed, u64::from(SIDE * SIDE / 2));
}

#[test]
fn exported_depth_is_tested() {
    let exports = text("EXP: PIX0, R0.xyzw\nEXP_DONE: PIX61, R0.x___\nEND_OF_PROGRAM\n");
    let slope: Vec<_> = COVER.iter().map(|&at| (at, [(at[0] + 1.0) / 2.0; 4])).collect();
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    clear_depth(&mut canvas.targets(), 0.5, 0, WHOLE).unwrap();
    let counts = drawn(&Given::new(&slope), &exports, Topology::TriangleStrip, &mut canvas, |state| {
        let test = Some(Compare::Less);
        state.depth = DepthState { test, write: true, export_depth: true, ..DepthState::default() };
    });
    assert_eq!(counts.samples_passed, u64::from(SIDE * SIDE / 2));
    assert_ne!(canvas.rgba(1, 1), [0; 4]);
    assert_eq!(canvas.rgba(SIDE - 1, 1), [0; 4]);
}

#[test]
fn samples_are_covered_and_resolved() {
    // A vertical edge through the middle of column 8: two of four samples lie left of it.
    let x = 8.5 / 16.0 - 1.0;
    let given = Given::new(&[
        ([-1.0, -1.0, 0.0, 1.0], [1.0; 4]),
        ([x, -1.0, 0.0, 1.0], [1.0; 4]),
        ([-1.0, 1.0, 0.0, 1.0], [1.0; 4]),
        ([x, 1.0, 0.0, 1.0], [1.0; 4]),
    ]);
    let mut several = Canvas::new(ColourFormat::RGBA8, 4);
    let counts = drawn(&given, &passes_on(), Topology::TriangleStrip, &mut several, |_| {});
    assert_eq!(counts.samples_passed, u64::from(SIDE) * (4 * 8 + 2));
    let mut one = Canvas::new(ColourFormat::RGBA8, 1);
    {
        let mut targets = several.targets();
        targets.colour[1] = one.targets().colour[0].take();
        let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
        let source = VertexSource::Given { positions: &positions, parameters: &parameters };
        let mut state = DrawState::new(source, PixelSource::Nothing);
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip.viewports = &viewports;
        state.raster.samples = SamplePattern::FOUR;
        state.colour.resolve = true;
        let call = Draw { topology: Topology::TriangleStrip, indices: Indices::Counted, count: 4, instances: 1 };
        draw(&Interp, &state, &call, &mut targets, &Options::default()).unwrap();
    }
    assert_eq!(one.rgba(7, 3), [255; 4]);
    assert_eq!(one.rgba(8, 3), [128; 4]);
    assert_eq!(one.rgba(9, 3), [0; 4]);
}

#[test]
fn per_sample_programs_run_at_their_samples() {
    let slope: Vec<_> = COVER.iter().map(|&at| (at, [at[0] * 16.0 + 16.0; 4])).collect();
    let mut canvas = Canvas::new(ColourFormat::RGBA32F, 4);
    let counts = drawn(&Given::new(&slope), &passes_on(), Topology::TriangleStrip, &mut canvas, |state| {
        state.raster.per_sample = true;
    });
    assert_eq!(counts.pixels, u64::from(4 * SIDE * SIDE));
    for (sample, [x, _]) in SamplePattern::FOUR.at[..4].iter().enumerate() {
        let at = 16 * (4 * (2 * SIDE + 5) as usize + sample);
        let found = f32::from_le_bytes(canvas.colour[at..at + 4].try_into().unwrap());
        assert_eq!(found, 5.5 + f32::from(*x) / 16.0);
    }
}

#[test]
fn faces_are_culled_and_told() {
    // Clockwise on the screen: x to the right, then down.
    let given = Given::new(&[
        ([-1.0, 1.0, 0.0, 1.0], [1.0; 4]),
        ([1.0, 1.0, 0.0, 1.0], [1.0; 4]),
        ([-1.0, -1.0, 0.0, 1.0], [1.0; 4]),
    ]);
    let shows = |front: bool, back: bool, clockwise: bool| {
        let mut canvas = Canvas::new(ColourFormat::RGBA32F, 1);
        let counts = drawn(&given, &passes_on(), Topology::Triangles, &mut canvas, |state| {
            state.raster.cull_front = front;
            state.raster.cull_back = back;
            state.raster.clockwise_is_front = clockwise;
            state.inputs.face = Some((0, 0));
        });
        (counts.pixels > 0, canvas.floats(1, 1)[0])
    };
    assert_eq!(shows(false, false, true), (true, 1.0));
    assert_eq!(shows(false, false, false), (true, -1.0));
    assert_eq!(shows(true, false, true), (false, 0.0));
    assert_eq!(shows(true, false, false), (true, -1.0));
    assert_eq!(shows(false, true, false), (false, 0.0));
}

#[test]
fn points_and_lines() {
    let given = Given::new(&[([0.0, 0.0, 0.0, 1.0], [1.0; 4]), ([0.5, 0.25, 0.0, 1.0], [1.0; 4])]);
    let count = |topology, width: f32| {
        let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
        let change = |state: &mut DrawState<'_>| {
            (state.raster.point_size, state.raster.line_width) = ([width; 2], width);
        };
        drawn(&given, &passes_on(), topology, &mut canvas, change).pixels
    };
    assert_eq!(count(Topology::Points, 1.0), 2);
    assert_eq!(count(Topology::Points, 3.0), 18);
    assert_eq!(count(Topology::Lines, 1.0), 8);
    assert_eq!(count(Topology::Lines, 2.0), 16);
}

#[test]
fn sprites_have_coordinates() {
    use ctm_draw::state::SpriteElement::{One, S, T, Zero};
    let given = Given::new(&[([0.0, 0.0, 0.0, 1.0], [9.0; 4])]);
    let input = [PixelInput { sprite: true, ..INPUT[0] }];
    let mut canvas = Canvas::new(ColourFormat::RGBA32F, 1);
    let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
    let (constants, memory, program) = (Constants::default(), Arrays::default(), passes_on());
    let stage =
        StageProgram { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let source = VertexSource::Given { positions: &positions, parameters: &parameters };
    let mut state = DrawState::new(source, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip.viewports = &viewports;
    state.outputs.semantics = &SEMANTIC;
    state.inputs.parameters = &input;
    state.inputs.sprite = [S, T, Zero, One];
    state.raster.point_size = [8.0, 4.0];
    let call = Draw { topology: Topology::Points, indices: Indices::Counted, count: 1, instances: 1 };
    draw(&Interp, &state, &call, &mut canvas.targets(), &Options::default()).unwrap();
    // 8 x 4 pixels around (16, 16).
    assert_eq!(canvas.floats(12, 14), [1.0 / 16.0, 1.0 / 8.0, 0.0, 1.0]);
    assert_eq!(canvas.floats(19, 17), [15.0 / 16.0, 7.0 / 8.0, 0.0, 1.0]);
    assert_eq!(canvas.floats(20, 17), [0.0; 4]);
}

// ---- vertex programs -------------------------------------------------------------------------------------------
