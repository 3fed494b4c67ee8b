//! How long draws take: scenes of `bench/peers/scenes.c`, which draws the same with OpenGL. Prints `NAME MILLISECONDS PROCESSOR-MILLISECONDS`, medians.
//!
//! `cargo run --release -p ctm-draw --example speed -- [THREADS] [RUNS] [SCENE]`. `GEARS=file.ppm` keeps the last picture of the gears.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measuring program"
)]

mod gears;

use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    Blend, BlendEquation, ClipState, Combine, Draw, DrawState, Factor, Indices, PixelInput, PixelInputs, PixelSource,
    Rect, StageProgram, Topology, VertexOutputs, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, Options, Targets, clear_colour, draw};
use ctm_exec::r700::resources::{Filter, Image, Texture, Wrap};
use ctm_exec::r700::{Arrays, Constants, Sampler};
use ctm_isa::r700::Program;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::time::Instant;

const SIDE: u32 = 1024;

fn program(text: &str) -> Program {
    let assembly = assemble(text, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

/// Columns and rows of squares over the whole picture, as triangles.
fn grid(columns: u32, rows: u32) -> (Vec<[u32; 4]>, Vec<u32>) {
    let mut positions = Vec::new();
    let mut indices = Vec::new();
    for y in 0..=rows {
        for x in 0..=columns {
            let at = [2.0 * x as f32 / columns as f32 - 1.0, 2.0 * y as f32 / rows as f32 - 1.0, 0.0, 1.0];
            positions.push(at.map(f32::to_bits));
        }
    }
    for y in 0..rows {
        for x in 0..columns {
            let first = y * (columns + 1) + x;
            let above = first + columns + 1;
            indices.extend([first, first + 1, above + 1, first, above + 1, above]);
        }
    }
    (positions, indices)
}

/// Seconds of processor time of all threads so far.
fn cpu() -> f64 {
    let of_thread = |entry: std::io::Result<std::fs::DirEntry>| -> Option<f64> {
        let text = std::fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(of_thread).sum::<f64>() / 1e9
}

/// Prints how long it takes, in the middle of these runs.
fn measure(name: &str, runs: usize, mut run: impl FnMut()) {
    run();
    let busy = cpu();
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let busy = (cpu() - busy) * 1e3 / runs as f64;
    times.sort_by(f64::total_cmp);
    println!("{name} {:.4} {busy:.4}", times[runs / 2]);
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |other: usize| args.next().and_then(|a| a.parse().ok()).unwrap_or(other);
    let (threads, runs) = (number(0), number(10));
    let only = args.next();
    let plain = program("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM");
    let textured = program("TEX:\n  SAMPLE R0.xyzw, R0.xyxx, t0, s0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM");
    let mut heavy = String::from("ALU:\n");
    for _ in 0..28 {
        heavy += "  x: MULADD R0.x, R0.x, (0x3fd9999a), R0.y\n  x: FRACT R0.x, R0.x\n  y: MULADD R0.y, R0.y, R0.x, (0x3e99999a)\n  y: FRACT R0.y, R0.y\n";
    }
    let heavy = program(&format!("{heavy}EXP_DONE: PIX0, R0.xyxy\nEND_OF_PROGRAM"));
    let mut memory = Arrays::default();
    let texels: Vec<_> =
        (0..256 * 256).map(|n: u32| [n % 256, n / 256, 128, 255].map(|b| (b as f32 / 255.0).to_bits())).collect();
    let texture = Texture { width: 256, height: 256, ..Texture::default() };
    memory.textures.insert(0, Image { texture, levels: texels.into() });
    let filter = Filter::Linear;
    memory
        .samplers
        .insert(0, Sampler { magnify: filter, minify: filter, wrap: [Wrap::Repeat; 3], ..Sampler::default() });
    let constants = Constants::default();
    let engine = ctm_jit::Jit::default();
    // Name, program, squares, how often over one another.
    let scenes: [(&str, &Program, [u32; 2], u32); 6] = [
        ("one_triangle", &plain, [1, 1], 1),
        ("million_triangles", &plain, [1000, 500], 1),
        ("million_bilinear_pixels", &textured, [1, 1], 1),
        ("overdraw_10", &plain, [1, 1], 10),
        ("heavy_pixels", &heavy, [1, 1], 1),
        ("blended_10", &plain, [1, 1], 10),
    ];
    for (name, program, [columns, rows], instances) in scenes {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let (mut positions, mut indices) = grid(columns, rows);
        if name == "one_triangle" {
            indices.truncate(3);
            positions.iter_mut().for_each(|p| (0..2).for_each(|n| p[n] = (f32::from_bits(p[n]) / 64.0).to_bits()));
        }
        let parameters: Vec<[u32; 4]> =
            positions.iter().map(|p| p.map(|v| (f32::from_bits(v) * 0.5 + 0.5).to_bits())).collect();
        let all: [&[[u32; 4]]; 1] = [&positions];
        let other: [&[[u32; 4]]; 1] = [&parameters];
        let vertices = VertexSource::Given { positions: &all, parameters: &other };
        let stage =
            StageProgram { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
        let mut state = DrawState::new(vertices, PixelSource::Program(stage));
        let viewports = [Viewport::of_size(SIDE, SIDE, false)];
        state.clip = ClipState { viewports: &viewports, ..state.clip };
        state.outputs = VertexOutputs { semantics: &[1], ..VertexOutputs::default() };
        let inputs = [PixelInput { semantic: 1, ..PixelInput::default() }];
        state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
        if name == "blended_10" {
            let (source, destination) = (Factor::SourceAlpha, Factor::OneMinusSourceAlpha);
            let colour = BlendEquation { source, destination, combine: Combine::Add };
            state.colour.targets[0].blend = Some(Blend { colour, alpha: None });
        }
        let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
        let mut targets = Targets::default();
        let layout = Layout::linear(SIDE, SIDE, 4, 1);
        targets.colour[0] = Some(ColourTarget {
            bytes: &mut bytes,
            layout,
            format: ColourFormat::RGBA8,
            size: [SIDE; 2],
            slices: [0; 2],
        });
        let whole = Rect { left: 0, top: 0, right: SIDE as i32, bottom: SIDE as i32 };
        clear_colour(&mut targets, 0, [0; 4], whole).unwrap();
        let call = Draw {
            topology: Topology::Triangles,
            indices: Indices::U32(&indices),
            count: indices.len() as u32,
            instances,
        };
        let options = Options { one_thread: threads == 1, ..Options::default() };
        let runs = if name == "one_triangle" { 1000 * runs } else { runs };
        measure(name, runs, || {
            draw(&engine, &state, &call, &mut targets, &options).unwrap();
        });
    }
    if only.as_deref().is_none_or(|only| only == "gears") {
        let options = Options { one_thread: threads == 1, ..Options::default() };
        let mut gears = gears::Gears::new();
        measure("gears", 20 * runs, || gears.draw(&engine, &options));
        if let Some(path) = std::env::var_os("GEARS") {
            std::fs::write(path, gears.picture()).unwrap();
        }
    }
}
