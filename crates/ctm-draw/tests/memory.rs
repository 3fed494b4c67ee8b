//! The largest possible targets: a draw's memory besides its targets and buffers is bounded. Linux reports a process's use.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect, and says what it saw"
)]

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    Blend, BlendEquation, ClipState, Combine, Compare, DepthState, Draw, DrawState, Factor, Indices, PixelInput,
    PixelInputs, PixelSource, StageProgram, Topology, VertexOutputs, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, DepthTarget, Options, Targets, clear_depth, draw};
use ctm_exec::r700::{Arrays, Constants};
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::Jit;

const SIDE: u32 = 16384;

/// Bytes that the process holds (`VmRSS:`), or has held at most (`VmHWM:`).
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn largest_targets_need_64_megabytes_beside_them() {
    // A cover of the window, and 200,000 small triangles.
    let mut positions = vec![[-1.0, -1.0, 0.5, 1.0f32], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    for n in 0..200_000u32 {
        let (x, y) = (n % 1000, n / 1000);
        let [x, y] = [x as f32 / 500.0 - 1.0, y as f32 / 100.0 - 1.0];
        positions.extend([[x, y, 0.25, 1.0], [x + 0.001, y, 0.25, 1.0], [x, y + 0.001, 0.25, 1.0]]);
    }
    let positions: Vec<[u32; 4]> = positions.into_iter().map(|at| at.map(f32::to_bits)).collect();
    let all: [&[[u32; 4]]; 1] = [&positions];
    let text = "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM";
    let program = assemble(text, &TextOptions::default()).program.unwrap();
    let (constants, nothing) = (Constants::default(), Arrays::default());
    let stage = StageProgram {
        program: &program,
        fetch_program: None,
        constants: &constants,
        memory: &nothing,
        semantics: &[],
    };
    let given = VertexSource::Given { positions: &all, parameters: &all };
    let mut state = DrawState::new(given, PixelSource::Program(stage));
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip = ClipState { viewports: &viewports, ..state.clip };
    state.raster.scissor.right = SIDE as i32;
    state.outputs = VertexOutputs { semantics: &[1], ..VertexOutputs::default() };
    let inputs = [PixelInput { semantic: 1, ..PixelInput::default() }];
    state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
    let pixels = (SIDE as usize).pow(2);
    // Both are touched before anything is measured.
    let (mut colour, mut depth) = (vec![1u8; 4 * pixels], vec![1u8; 2 * pixels]);
    let mut targets = Targets::default();
    let (size, slices) = ([SIDE; 2], [0; 2]);
    let layout = Layout::linear(SIDE, SIDE, 4, 1);
    targets.colour[0] = Some(ColourTarget { bytes: &mut colour, layout, format: ColourFormat::RGBA8, size, slices });
    let (layout, format) = (Layout::linear(SIDE, SIDE, 2, 1), DepthFormat::D16);
    targets.depth = Some(DepthTarget { bytes: &mut depth, layout, format, size, slices });
    clear_depth(&mut targets, 1.0, 0, state.raster.scissor).unwrap();
    let engine = Jit::new();
    let before = memory("VmRSS:");
    let blend = BlendEquation { source: Factor::One, destination: Factor::One, combine: Combine::Add };
    for (way, count, test) in [("replaced", 3, None), ("tested", 600_003, Some(Compare::Less)), ("blended", 3, None)] {
        state.depth = DepthState { test, write: true, ..DepthState::default() };
        state.colour.targets[0].blend = (way == "blended").then_some(Blend { colour: blend, alpha: None });
        let call = Draw { topology: Topology::Triangles, indices: Indices::Counted, count, instances: 1 };
        let counts = draw(&engine, &state, &call, &mut targets, &Options::default()).unwrap();
        let more = memory("VmHWM:").saturating_sub(before);
        eprintln!("{way}: {} pixels, {} KiB", counts.pixels, more >> 10);
        assert!(counts.pixels >= pixels as u64, "{counts:?}");
        assert!(more <= 64 << 20, "{way}: {} MiB beside targets and buffers", more >> 20);
    }
}
