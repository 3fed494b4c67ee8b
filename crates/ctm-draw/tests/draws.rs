//! Whole draws, from vertex numbers to stored bits, on the reference interpreter and the fast engine.
//!
//! Truth: derived from the rules of `docs/drawing.md`; where a number is computed in another way here, the comment says how.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ClipState, Combine, Compare, DepthState, Draw, DrawState, Factor, Indices,
    Interpolation, PixelInput, PixelSource, Place, RasterState, Rect, SamplePattern, Stage, StencilFace, StencilOp,
    Topology, VertexSource, Viewport,
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
use ctm_isa::r700::text::{Options as TextOptions, assemble};
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
    let stage = Stage { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
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
        let stage =
            Stage { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
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
        Stage { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
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
        Stage { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
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

/// Buffer 0: position and colour of each vertex, 32 bytes.
const FETCH: &str = "
VTX:
  SEMANTIC SEM[5].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
  SEMANTIC SEM[9].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
RETURN
";

/// Moved to the right by a quarter of the instance's number.
const VERTEX: &str = "
CALL_FS
ALU:
 t: INT_TO_FLT R3.x, R0.w
ALU:
 x: MULADD R1.x, R3.x, (0x3e800000, 0.25f).x, R1.x
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";

const SEMANTICS: [Semantic; 2] = [Semantic { id: 5, gpr: 1 }, Semantic { id: 9, gpr: 2 }];

/// A scene of random triangles, with depth and blending, through a vertex program with indices.
fn scene(engine: &dyn Engine, options: Options, seed: u64, samples: u32) -> (Vec<u8>, Vec<u8>, Counts) {
    let mut state = seed | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 16_777_216.0
    };
    let mut vertices: Vec<f32> = Vec::new();
    for _ in 0..60 {
        let w = 0.5 + random();
        let mut coordinate = || (random() * 2.6 - 1.3) * w;
        vertices.extend([coordinate(), coordinate(), coordinate(), w]);
        vertices.extend([random(), random(), random(), random()]);
    }
    let indices: Vec<u16> = (0..150).map(|_| if random() < 0.05 { 0xffff } else { (random() * 60.0) as u16 }).collect();
    let bytes = vertices.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut memory = Arrays::default();
    memory.buffers.insert(0, BufferData { stride_bytes: 32, format: Format::default(), bytes });
    let (constants, none) = (Constants::default(), Arrays::default());
    let (fetch, vertex, pixel) = (text(FETCH), text(VERTEX), passes_on());
    let vertex = Stage {
        program: &vertex,
        fetch_program: Some(&fetch),
        constants: &constants,
        memory: &memory,
        semantics: &SEMANTICS,
    };
    let pixel = Stage { program: &pixel, fetch_program: None, constants: &constants, memory: &none, semantics: &[] };
    let mut state = DrawState::new(VertexSource::Program(vertex), PixelSource::Program(pixel));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip = ClipState { viewports: &viewports, guard_band: [8.0; 2], ..ClipState::default() };
    state.input.restart = Some(0xffff);
    state.outputs.semantics = &SEMANTIC;
    state.inputs.parameters = &INPUT;
    state.raster = RasterState { samples: SamplePattern::of(samples).unwrap(), ..RasterState::default() };
    state.depth = DepthState { test: Some(Compare::LessEqual), write: true, ..DepthState::default() };
    let over =
        BlendEquation { source: Factor::SourceAlpha, destination: Factor::OneMinusSourceAlpha, combine: Combine::Add };
    state.colour.targets[0].blend = Some(Blend { colour: over, alpha: None });
    let mut canvas = Canvas::new(ColourFormat::RGBA8, samples);
    let call = Draw { topology: Topology::TriangleStrip, indices: Indices::U16(&indices), count: 150, instances: 2 };
    let counts = draw(engine, &state, &call, &mut canvas.targets(), &options).unwrap();
    (canvas.colour, canvas.depth, counts)
}

#[test]
fn engines_and_threads_draw_the_same_bits() {
    let jit = Jit::new();
    for (seed, samples) in [(11, 1), (12, 4), (13, 8), (14, 1)] {
        let expected = scene(&Interp, Options { one_thread: true, ..Options::default() }, seed, samples);
        assert!(expected.2.pixels > 500, "{:?}", expected.2);
        for one_thread in [false, true] {
            assert!(
                scene(&jit, Options { one_thread, ..Options::default() }, seed, samples) == expected,
                "seed {seed}"
            );
        }
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for engine in [&jit as &dyn Engine, &Interp] {
                let found = pool.install(|| scene(engine, Options::default(), seed, samples));
                assert!(found == expected, "seed {seed}, {threads} threads, {}", engine.name());
            }
        }
    }
}

/// Quads are merged many at a time, and the samples of a quad tested together, but in draws with a watched pixel: there sample by sample.
#[test]
fn quads_are_merged_as_samples_are() {
    use ctm_draw::format::{NumberType, Swap};
    use ctm_draw::layout::ArrayMode;
    use ctm_draw::state::LogicOp;
    use ctm_isa::r700::ops::DataFormat;
    let format = |data, number, swap| ColourFormat { data, number, swap };
    let formats = [
        ColourFormat::RGBA8,
        format(DataFormat::Fmt5_6_5, NumberType::Unorm, Swap::Std),
        format(DataFormat::Fmt1_5_5_5, NumberType::Unorm, Swap::Alt),
        format(DataFormat::Fmt16_16_16_16, NumberType::Unorm, Swap::Std),
        ColourFormat::RGBA32F,
        format(DataFormat::Fmt8, NumberType::Unorm, Swap::AltRev),
        format(DataFormat::Fmt8_8_8_8, NumberType::Srgb, Swap::Std),
        format(DataFormat::Fmt16_16_16_16Float, NumberType::Float, Swap::Std),
        format(DataFormat::Fmt32, NumberType::Uint, Swap::Std),
    ];
    let factors = [Factor::SourceAlpha, Factor::OneMinusSourceAlpha, Factor::One, Factor::Source1Colour, Factor::Zero];
    let combines = [Combine::Add, Combine::Subtract, Combine::ReverseSubtract, Combine::Min, Combine::Max];
    let programs = ["", "ALU:\n x: KILLGT ____, R0.z, R0.x\n"]
        .map(|kill| text(&format!("{kill}EXP: PIX0, R0.xyzw\nEXP_DONE: PIX1, R0.wzyx\nEND_OF_PROGRAM\n")));
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 40) as f32 / 16_777_216.0
    };
    let (constants, memory, jit) = (Constants::default(), Arrays::default(), Jit::new());
    let mut passed = 0;
    for case in 0..270 {
        let vertices: Vec<([f32; 4], [f32; 4])> = (0..36)
            .map(|_| {
                let w = if case % 2 == 0 { 1.0 } else { 0.5 + random() };
                ([0; 3].map(|_| (random() * 2.4 - 1.2) * w), [0; 4].map(|_| random() * 1.4 - 0.2), w)
            })
            .map(|([x, y, z], colour, w)| ([x, y, z * 0.4, w], colour))
            .collect();
        let given = Given::new(&vertices);
        let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
        let source = VertexSource::Given { positions: &positions, parameters: &parameters };
        let kills = case / 2 % 2 == 1;
        let program = &programs[usize::from(kills)];
        let stage = Stage { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
        let mut state = DrawState::new(source, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip.viewports = &viewports;
        state.outputs.semantics = &SEMANTIC;
        state.inputs.parameters = &INPUT;
        state.depth = DepthState {
            kill: kills,
            test: Compare::ALL.get(case % 10).copied(),
            write: case % 3 != 0,
            stencil: (case % 4 == 1).then(|| StencilFace {
                compare: Compare::ALL[case / 4 % 8],
                reference: 2,
                pass: StencilOp::IncrementWrap,
                depth_fail: StencilOp::Invert,
                ..StencilFace::default()
            }),
            ..DepthState::default()
        };
        let of_alpha = AlphaTest { compare: Compare::Less, reference: 0.6, steps: None };
        state.colour.alpha_test = (case % 5 == 2).then_some(of_alpha);
        let equation = |n: usize| BlendEquation {
            source: factors[(case + n) % 5],
            destination: factors[(case / 5 + n) % 5],
            combine: combines[(case / 7 + n) % 5],
        };
        state.colour.targets[0].blend =
            (case % 3 != 1).then(|| Blend { colour: equation(0), alpha: (case % 2 == 0).then(|| equation(2)) });
        state.colour.targets[0].write_mask = [15, 15, 5, 8][case / 3 % 4];
        state.colour.targets[0].truncate = case % 13 == 5;
        state.colour.logic = if case % 6 == 1 { LogicOp(6) } else { LogicOp::COPY };
        let format = formats[case % formats.len()];
        let depth = DepthFormat::ALL[case / 2 % DepthFormat::ALL.len()];
        let mode = [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d][case / 9 % 3];
        let bytes = ctm_draw::format::Colours::new(format).unwrap().bytes() as u32;
        let samples = if mode == ArrayMode::Tiled1d { 1 } else { [1, 4, 2, 8][case / 27 % 4] };
        state.raster.samples = SamplePattern::of(samples).unwrap();
        state.raster.multisample = case % 11 != 4;
        state.raster.per_sample = case % 7 == 3;
        let layout = |bytes, depth_order| Layout { mode, depth_order, ..Layout::linear(SIDE, SIDE, bytes, samples) };
        let layouts = [layout(bytes, false), layout(depth.bytes() as u32, mode != ArrayMode::Linear)];
        let run = |watch| {
            let mut memories = layouts.map(|layout| vec![0x4b; layout.slice_bytes() as usize]);
            let [colour, depths] = &mut memories;
            let mut targets = Targets::default();
            let (size, slices) = ([SIDE; 2], [0; 2]);
            targets.colour[0] = Some(ColourTarget { bytes: colour, layout: layouts[0], format, size, slices });
            targets.depth = Some(DepthTarget { bytes: depths, layout: layouts[1], format: depth, size, slices });
            let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count: 36, instances: 1 };
            let options = Options { watch, funnel: watch.is_some(), ..Options::default() };
            let drawn = draw_watched(&jit, &state, &call, &mut targets, &options).unwrap();
            // Every primitive and every covered pixel ends once.
            if let Some(funnel) = &drawn.funnel {
                let lost =
                    |unit| funnel.lost.iter().filter(|of| of.loss.unit() == unit).map(|of| of.count).sum::<u64>();
                assert_eq!(funnel.primitives, funnel.rasterised + lost(LossUnit::Primitive), "case {case}: {funnel}");
                assert_eq!(funnel.covered, funnel.stored + lost(LossUnit::Pixel), "case {case}: {funnel}");
            }
            (memories, drawn.counts)
        };
        let together = run(None);
        assert!(together == run(Some([16000; 2])), "case {case}: {format:?}, {depth:?}, {mode:?}");
        passed += together.1.samples_passed;
    }
    assert!(passed > 20_000, "{passed} samples");
}

/// Rectangles of one colour and depth fill targets of several samples; in draws with a watched pixel they are stored sample by sample.
#[test]
fn rectangles_fill_all_samples() {
    use ctm_draw::layout::ArrayMode;
    let program = passes_on();
    for case in 0..48u32 {
        // From a place between pixels, or over all.
        let (low, high) = if case % 3 == 0 { (-1.0, 1.0) } else { (-0.83, 0.71) };
        let corners = [[low, low, 0.25, 1.0], [high, low, 0.25, 1.0], [low, high, 0.25, 1.0]];
        let given = Given::new(&corners.map(|at| (at, [0.25, 0.5, 0.75, 0.125])));
        let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&given.positions], [&given.parameter]);
        let (constants, memory) = (Constants::default(), Arrays::default());
        let stage =
            Stage { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
        let source = VertexSource::Given { positions: &positions, parameters: &parameters };
        let mut state = DrawState::new(source, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip.viewports = &viewports;
        state.outputs.semantics = &SEMANTIC;
        state.inputs.parameters = &INPUT;
        state.raster = RasterState { samples: SamplePattern::FOUR, multisample: case % 2 == 0, ..state.raster };
        let replaces =
            StencilFace { reference: 77, pass: StencilOp::Replace, write_mask: 0xf3, ..StencilFace::default() };
        state.depth = DepthState {
            test: [Some(Compare::Always), None, Some(Compare::Greater)][case as usize / 2 % 3],
            write: true,
            stencil: (case % 4 != 0).then_some(replaces),
            ..DepthState::default()
        };
        state.colour.targets[0].write_mask = [15, 5][case as usize / 6 % 2];
        let mode = [ArrayMode::Linear, ArrayMode::Tiled2d][case as usize / 12 % 2];
        let layout = |depth_order| Layout { mode, depth_order, ..Layout::linear(SIDE, SIDE, 4, 4) };
        let run = |watch| {
            let mut memories = [vec![0x4b; 4 * 4 * (SIDE * SIDE) as usize], vec![0x4b; 4 * 4 * (SIDE * SIDE) as usize]];
            let [colour, depths] = &mut memories;
            let (mut targets, size, slices) = (Targets::default(), [SIDE; 2], [0; 2]);
            let (of_depth, format) = (layout(mode != ArrayMode::Linear), DepthFormat::S8D24);
            targets.colour[0] =
                Some(ColourTarget { bytes: colour, layout: layout(false), format: ColourFormat::RGBA8, size, slices });
            targets.depth = Some(DepthTarget { bytes: depths, layout: of_depth, format, size, slices });
            let call = Draw { topology: Topology::Rectangles, indices: Indices::Counted, count: 3, instances: 1 };
            let options = Options { watch, ..Options::default() };
            let counts = draw(&Interp, &state, &call, &mut targets, &options).unwrap();
            (memories, counts)
        };
        assert!(run(None) == run(Some([16000; 2])), "case {case}");
    }
}

#[test]
fn targets_that_cannot_be_drawn_to_are_told() {
    let mut canvas = Canvas::new(ColourFormat::RGBA8, 1);
    let (positions, parameters): ([&[_]; 1], [&[_]; 1]) = ([&[[0; 4]; 3]], [&[]]);
    let source = VertexSource::Given { positions: &positions, parameters: &parameters };
    let state = DrawState::new(source, PixelSource::Nothing);
    let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count: 3, instances: 1 };
    let mut told = |state: &DrawState<'_>, change: fn(&mut Targets<'_>)| {
        let mut targets = canvas.targets();
        change(&mut targets);
        draw(&Interp, state, &call, &mut targets, &Options::default()).unwrap_err().to_string()
    };
    let four = DrawState { raster: RasterState { samples: SamplePattern::FOUR, ..state.raster }, ..state };
    assert_eq!(told(&four, |_| {}), "colour target 0 cannot be drawn to: it has 1 samples, the draw 4");
    let short = told(&state, |targets| {
        targets.colour = [const { None }; 8];
        targets.depth.as_mut().unwrap().slices = [0, 1];
    });
    assert_eq!(short, "the depth target cannot be drawn to: its memory has 4096 bytes, its slices need 8192");
    // Sizes beyond any memory are added up without allocating.
    let eight = DrawState { raster: RasterState { samples: SamplePattern::EIGHT, ..state.raster }, ..state };
    let large = told(&eight, |targets| {
        let colour = targets.colour[0].as_mut().unwrap();
        (colour.format, colour.layout) = (ColourFormat::RGBA32F, Layout::linear(16384, 16384, 16, 8));
        (colour.size, colour.slices) = ([16384; 2], [0, 2047]);
    });
    let bytes = 16384u64.pow(2) * 16 * 8 * 2048;
    assert!(large.starts_with("colour target 0 cannot be drawn to: its memory has"), "{large}");
    assert!(large.ends_with(&format!("its slices need {bytes}")), "{large}");
    let five = SamplePattern { count: 5, ..SamplePattern::ONE };
    let odd = DrawState { raster: RasterState { samples: five, ..state.raster }, ..state };
    assert_eq!(told(&odd, |_| {}), "`raster.samples.count` is 5, allowed is 1, 2, 3, 4, 6 or 8");
    let error = DrawError::State { field: "x", reason: "is wrong".into() };
    assert_eq!(error.to_string(), "`x` is wrong");
}
