//! The funnel of a draw: each state that can end a primitive or a pixel, and the counts that it must give.
//!
//! Truth: areas of rectangles in pixels, and the definitions of `docs/drawing.md`.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    AlphaTest, Compare, DepthState, Draw, DrawState, Indices, PixelSource, Rect, SamplePattern, StageProgram,
    StencilFace, Topology, VertexSource, Viewport,
};
use ctm_draw::{
    ColourTarget, DepthTarget, Drawn, Ending, Funnel, Loss, LossUnit, Options, Targets, clear_depth, draw_watched,
};
use ctm_exec::Interp;
use ctm_exec::r700::{Arrays, Constants};
use ctm_isa::r700::Program;
use ctm_isa::r700::text::{TextOptions, assemble};

const SIDE: u32 = 16;
const PIXELS: u64 = (SIDE * SIDE) as u64;

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

const WHITE: &str = "ALU:\n x: MOV R0.x, 1.0\n y: MOV R0.y, 1.0\n z: MOV R0.z, 1.0\n w: MOV R0.w, 1.0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";

/// Two triangles over the whole picture, moved and scaled.
fn square([x, y, z, w]: [f32; 4], scale: f32) -> Vec<[u32; 4]> {
    let corner = |i: f32, j: f32| [x + i * scale, y + j * scale, z, w].map(f32::to_bits);
    let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)];
    vec![a, b, c, c, b, d]
}

/// Draws triangles over a black picture whose depths are 0.5.
fn drawn(
    positions: &[[u32; 4]],
    program: &str,
    options: &Options,
    change: impl FnOnce(&mut DrawState<'_>),
) -> (Drawn, Vec<u8>) {
    let program = text(program);
    let (constants, memory) = (Constants::default(), Arrays::default());
    let stage =
        StageProgram { program: &program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
    let all: [&[_]; 1] = [positions];
    let source = VertexSource::Given { positions: &all, parameters: &[] };
    let mut state = DrawState::new(source, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip.viewports = &viewports;
    change(&mut state);
    let samples = state.raster.samples.count;
    let pixels = (SIDE * SIDE * samples) as usize;
    let (mut colour, mut depth) = (vec![0; pixels * 4], vec![0; pixels * 4]);
    let mut targets = Targets::default();
    let (layout, size, slices) = (Layout::linear(SIDE, SIDE, 4, samples), [SIDE; 2], [0; 2]);
    targets.colour[0] = Some(ColourTarget { bytes: &mut colour, layout, format: ColourFormat::RGBA8, size, slices });
    targets.depth = Some(DepthTarget { bytes: &mut depth, layout, format: DepthFormat::S8D24, size, slices });
    let whole = Rect { left: 0, top: 0, right: SIDE as i32, bottom: SIDE as i32 };
    clear_depth(&mut targets, 0.5, 0, whole).unwrap();
    let count = positions.len() as u32;
    let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count, instances: 1 };
    let drawn = draw_watched(&Interp, &state, &call, &mut targets, options).unwrap();
    (drawn, colour)
}

fn funnel(positions: &[[u32; 4]], program: &str, change: impl Fn(&mut DrawState<'_>)) -> Funnel {
    let options = Options { funnel: true, ..Options::default() };
    let (with, colours) = drawn(positions, program, &options, &change);
    // It changes nothing of the picture and its counts.
    let (without, others) = drawn(positions, program, &Options::default(), &change);
    assert_eq!((with.counts, colours), (without.counts, others));
    let funnel = with.funnel.unwrap();
    let lost = |unit| funnel.lost.iter().filter(|of| of.loss.unit() == unit).map(|of| of.count).sum::<u64>();
    assert_eq!(funnel.primitives, funnel.rasterised + lost(LossUnit::Primitive), "{funnel}");
    assert_eq!(funnel.covered, funnel.stored + lost(LossUnit::Pixel), "{funnel}");
    funnel
}

const CENTRE: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

#[test]
fn primitives_end_where_their_state_says() {
    type Change = fn(&mut DrawState<'_>);
    let plain: Change = |_| {};
    #[rustfmt::skip]
    let cases: &[(Loss, [f32; 4], f32, Change, &str)] = &[
        (Loss::Discarded, CENTRE, 1.0, |s| s.clip.discard = true, "every primitive"),
        (Loss::NotANumber, [f32::NAN, 0.0, 0.0, 1.0], 1.0, plain, ""),
        (Loss::BehindViewer, [0.0, 0.0, 0.0, -1.0], 1.0, plain, ""),
        (Loss::Left, [-4.0, 0.0, 0.0, 1.0], 1.0, plain, ""),
        (Loss::Right, [4.0, 0.0, 0.0, 1.0], 1.0, plain, ""),
        (Loss::Below, [0.0, -4.0, 0.0, 1.0], 1.0, plain, ""),
        (Loss::Above, [0.0, 4.0, 0.0, 1.0], 1.0, plain, ""),
        (Loss::Near, [0.0, 0.0, -2.0, 1.0], 1.0, plain, "z < -w"),
        (Loss::Far, [0.0, 0.0, 2.0, 1.0], 1.0, plain, ""),
        (Loss::UserPlane, CENTRE, 1.0, |s| s.clip.user_planes[2] = Some([0.0, 0.0, 0.0, -1.0]), "plane 2: 0, 0, 0, -1"),
        (Loss::NoArea, CENTRE, 0.0, plain, ""),
        (Loss::FrontFace, CENTRE, 1.0, |s| s.raster.cull_front = true, "front faces are culled, counter-clockwise"),
        (Loss::BackFace, CENTRE, 1.0, |s| (s.raster.cull_back, s.raster.clockwise_is_front) = (true, true), "back faces are culled, clockwise"),
        // A hundredth of a pixel around a corner of pixels.
        (Loss::NoSample, CENTRE, 0.001, plain, ""),
        (Loss::OutsideTargets, [4.0, 0.0, 0.0, 1.0], 1.0, |s| s.clip.guard_band = [16.0; 2], ""),
    ];
    for &(loss, at, scale, change, state) in cases {
        let found = funnel(&square(at, scale), WHITE, change);
        assert_eq!((found.primitives, found.rasterised), (2, 0), "{loss:?}: {found}");
        let [lost] = found.lost.as_slice() else { panic!("{loss:?}: {found}") };
        assert_eq!((lost.loss, lost.count), (loss, 2), "{found}");
        assert!(lost.state.contains(state), "{loss:?}: {}", lost.state);
    }
}

#[test]
fn pixels_end_where_their_state_says() {
    type Change = fn(&mut DrawState<'_>);
    let plain: Change = |_| {};
    let kills = "ALU:\n x: KILLE ____, 0.0, 0.0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let elsewhere = "EXP_DONE: PIX1, R0.xyzw\nEND_OF_PROGRAM\n";
    let black = "ALU:\n x: MOV R0.x, 0.0\n y: MOV R0.y, 0.0\n z: MOV R0.z, 0.0\n w: MOV R0.w, 0.0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    #[rustfmt::skip]
    let cases: &[(Option<Loss>, &str, Change, u64, &str)] = &[
        (None, WHITE, plain, 0, ""),
        (Some(Loss::Scissor), WHITE, |s| s.raster.scissor = HALF, PIXELS / 2, "columns 0..8, rows 0..16"),
        (Some(Loss::ViewportScissor), WHITE, |s| s.clip.viewports = &LEFT, PIXELS / 2, "columns 0..8, rows 0..16"),
        (Some(Loss::ClipRectangles), WHITE, |s| s.raster.clip_rectangles = Some(([HALF; 4], 0x8000)), PIXELS / 2, "0x8000"),
        (Some(Loss::SampleMask), WHITE, |s| s.raster.sample_mask = [0; 4], PIXELS, "[0, 0, 0, 0]"),
        (Some(Loss::Depth), WHITE, |s| s.depth = DepthState { test: Some(Compare::Greater), write: true, ..s.depth }, PIXELS, "Greater, depth is written"),
        (Some(Loss::Stencil), WHITE, |s| s.depth.stencil = Some(StencilFace { compare: Compare::Equal, reference: 3, ..StencilFace::default() }), PIXELS, "Equal with reference 3"),
        (Some(Loss::Killed), kills, |s| s.depth.kill = true, PIXELS, ""),
        (Some(Loss::AlphaTest), WHITE, |s| s.colour.alpha_test = Some(AlphaTest { compare: Compare::Less, reference: 0.5, steps: None }), PIXELS, "Less 0.5"),
        (Some(Loss::Coverage), black, |s| (s.colour.alpha_to_coverage, s.raster.samples) = (Some([0; 4]), SamplePattern::FOUR), PIXELS, "alpha to coverage"),
        (Some(Loss::DepthOnly), WHITE, |s| s.pixels = PixelSource::Nothing, PIXELS, "no pixel program"),
        (Some(Loss::Masked), WHITE, |s| s.colour.targets.iter_mut().for_each(|t| t.write_mask = 0), PIXELS, "is 0"),
        (Some(Loss::Unexported), elsewhere, plain, PIXELS, ""),
        (Some(Loss::Unchanged), black, plain, PIXELS, ""),
    ];
    for &(loss, program, change, count, state) in cases {
        let found = funnel(&square(CENTRE, 1.0), program, change);
        // A pixel on the diagonal is one of both triangles, where samples are covered one by one.
        let several = if loss == Some(Loss::Coverage) { found.covered - PIXELS } else { 0 };
        assert_eq!((found.primitives, found.covered - several), (2, PIXELS), "{loss:?}: {found}");
        let Some(loss) = loss else {
            assert_eq!((found.stored, found.lost.len()), (PIXELS, 0), "{found}");
            continue;
        };
        let [lost] = found.lost.as_slice() else { panic!("{loss:?}: {found}") };
        assert_eq!((lost.loss, lost.count - several), (loss, count), "{found}");
        assert!(lost.state.contains(state), "{loss:?}: {}", lost.state);
        assert!(found.to_string().contains(loss.words()), "{found}");
    }
}

const HALF: Rect = Rect { left: 0, top: 0, right: 8, bottom: 16 };
static LEFT: [Viewport; 1] =
    [Viewport { scale: [8.0, -8.0, 0.5], offset: [8.0, 8.0, 0.5], depth: [0.0, 1.0], scissor: Some(HALF) }];

#[test]
fn a_history_has_fragments_that_never_reach_the_tests() {
    let two = [square(CENTRE, 1.0), square([0.0, 0.0, -0.5, 1.0], 1.0)].concat();
    let watch = Options { watch: Some([12, 3]), ..Options::default() };
    let endings = |change: &dyn Fn(&mut DrawState<'_>)| {
        let (drawn, _) = drawn(&two, WHITE, &watch, change);
        drawn.fragments.iter().map(|of| (of.primitive, of.ending)).collect::<Vec<_>>()
    };
    assert_eq!(endings(&|_| {}), [(1, Ending::Stored), (3, Ending::Stored)]);
    assert_eq!(endings(&|s| s.raster.cull_front = true), [(1, Ending::Culled), (3, Ending::Culled)]);
    assert_eq!(endings(&|s| s.raster.scissor = HALF), [(1, Ending::Scissor), (3, Ending::Scissor)]);
    assert_eq!(endings(&|s| s.raster.sample_mask = [0; 4]), [(1, Ending::SampleMask), (3, Ending::SampleMask)]);
    let rectangles = |s: &mut DrawState<'_>| s.raster.clip_rectangles = Some(([HALF; 4], 0x8000));
    assert_eq!(endings(&rectangles), [(1, Ending::ClipRectangles), (3, Ending::ClipRectangles)]);
    let nearer = |s: &mut DrawState<'_>| s.depth = DepthState { test: Some(Compare::Less), write: true, ..s.depth };
    assert_eq!(endings(&nearer), [(1, Ending::Tests), (3, Ending::Stored)]);
}

#[test]
fn primitives_are_listed_as_they_lie_in_the_window() {
    let options = Options { funnel: true, ..Options::default() };
    let (drawn, _) = drawn(&square([0.0, 0.0, 0.0, 1.0], 0.5), WHITE, &options, |s| s.raster.cull_back = true);
    let first = &drawn.outlines[0];
    assert_eq!((drawn.outlines.len(), first.vertices, first.loss), (2, [0, 1, 2], None));
    assert_eq!(first.corners.unwrap().map(|[x, y, _]| [x, y]), [[4.0, 12.0], [12.0, 12.0], [4.0, 4.0]]);
}
