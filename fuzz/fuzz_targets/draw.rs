//! Draws of any state: positions, indices, formats, layouts, tests and blending of bytes. They draw or are refused; nothing panics or hangs.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, NumberType, Swap};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::state::{ClipState, Compare, Draw, DrawState, Fill, Indices, PixelSource, Rect, SamplePattern, StencilFace, Topology, VertexOutputs, VertexSource, Viewport};
use ctm_draw::{ColourTarget, DepthTarget, Options, Targets, clear_colour, draw};
use ctm_isa::r700::ops::DataFormat;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    positions: Vec<[f32; 4]>,
    indices: Vec<u16>,
    topology: u8,
    size: [u8; 2],
    pitch: u8,
    format: u8,
    number: u8,
    mode: u8,
    samples: u8,
    fill: u8,
    depth: u8,
    scissor: [i16; 4],
    scale: [f32; 3],
    line_width: f32,
    point_size: f32,
    stipple: Option<(u16, u16)>,
    test: u8,
    instances: u8,
    slices: u8,
    clip: bool,
    restart: Option<u16>,
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(bytes)) else { return };
    let positions: Vec<[u32; 4]> = input.positions.iter().map(|p| p.map(f32::to_bits)).collect();
    let all: [&[[u32; 4]]; 1] = [&positions];
    let parameters: [&[[u32; 4]]; 0] = [];
    let vertices = VertexSource::Given { positions: &all, parameters: &parameters };
    let mut state = DrawState::new(vertices, PixelSource::Nothing);
    let viewports = [Viewport { scale: input.scale, offset: [8.0, 8.0, 0.5], depth: [0.0, 1.0], scissor: None }];
    state.clip = ClipState { viewports: &viewports, disabled: input.clip, ..ClipState::default() };
    state.outputs = VertexOutputs::default();
    state.input.restart = input.restart.map(u32::from);
    let samples = [1, 2, 4, 8, 3][usize::from(input.samples) % 5];
    state.raster.samples = SamplePattern::of(samples).unwrap_or(SamplePattern { count: samples, at: [[0; 2]; 8] });
    state.raster.fill_front = [Fill::Points, Fill::Lines, Fill::Triangles][usize::from(input.fill) % 3];
    let [left, top, right, bottom] = input.scissor.map(i32::from);
    state.raster.scissor = Rect { left, top, right, bottom };
    (state.raster.line_width, state.raster.point_size) = (input.line_width, [input.point_size; 2]);
    state.raster.stipple = input.stipple.map(|(pattern, repeat)| ctm_draw::state::Stipple {
        pattern,
        repeat,
        high_first: pattern & 1 == 1,
        restarts: repeat & 1 == 1,
    });
    state.depth.test = (input.test & 1 == 1).then_some(Compare::LessEqual);
    state.depth.stencil = (input.test & 2 == 2).then(StencilFace::default);
    state.depth.write = true;
    let format = ColourFormat {
        data: DataFormat::from_code(u32::from(input.format & 63)).unwrap_or(DataFormat::Fmt8_8_8_8),
        number: [NumberType::Unorm, NumberType::Float, NumberType::Uint, NumberType::Srgb][usize::from(input.number) % 4],
        swap: Swap::Std,
    };
    let mode = [ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d][usize::from(input.mode) % 3];
    let size = input.size.map(u32::from);
    let layout = |element_bytes| Layout {
        mode,
        pitch: u32::from(input.pitch),
        height: size[1].next_multiple_of(8),
        element_bytes,
        samples,
        depth_order: false,
        tiling: Tiling::default(),
    };
    let (mut colours, mut depths) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut targets = Targets::default();
    let slices = [0, u32::from(input.slices)];
    targets.colour[0] = Some(ColourTarget { bytes: &mut colours, layout: layout(4), format, size, slices });
    let format = DepthFormat::ALL[usize::from(input.depth) % DepthFormat::ALL.len()];
    let layout = layout(format.bytes() as u32);
    targets.depth = Some(DepthTarget { bytes: &mut depths, layout, format, size, slices });
    let call = Draw {
        topology: Topology::ALL[usize::from(input.topology) % Topology::ALL.len()],
        indices: Indices::U16(&input.indices),
        count: input.indices.len() as u32 + 3,
        instances: u32::from(input.instances % 4),
    };
    let options = Options { one_thread: true, ..Options::default() };
    let _ = draw(&ctm_exec::Interp, &state, &call, &mut targets, &options);
    let _ = clear_colour(&mut targets, 0, [0; 4], state.raster.scissor);
});
