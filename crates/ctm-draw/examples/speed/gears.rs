//! Three gears: a frame clears colour and depth and draws the flat and the round sides of each gear. `bench/peers/scenes.c` draws the same.

use super::program;
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    ClipState, Compare, DepthState, Draw, DrawState, Indices, Interpolation, PixelInput, PixelInputs, PixelSource,
    RasterState, Rect, StageProgram, Topology, VertexOutputs, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, DepthTarget, Options, Targets, clear_colour, clear_depth, draw};
use ctm_exec::Engine;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::BufferData;
use ctm_exec::r700::{Arrays, Constants};
use ctm_isa::r700::Program;
use std::f32::consts::PI;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

const VERTEX: &str = "
VTX:
  FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
  FETCH R2.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
ALU:
  x: MUL R4.x, R1.w, C3.x
  y: MUL R4.y, R1.w, C3.y
  z: MUL R4.z, R1.w, C3.z
  w: MUL R4.w, R1.w, C3.w

  x: MULADD R4.x, R1.z, C2.x, R4.x
  y: MULADD R4.y, R1.z, C2.y, R4.y
  z: MULADD R4.z, R1.z, C2.z, R4.z
  w: MULADD R4.w, R1.z, C2.w, R4.w

  x: MULADD R4.x, R1.y, C1.x, R4.x
  y: MULADD R4.y, R1.y, C1.y, R4.y
  z: MULADD R4.z, R1.y, C1.z, R4.z
  w: MULADD R4.w, R1.y, C1.w, R4.w

  x: MULADD R4.x, R1.x, C0.x, R4.x
  y: MULADD R4.y, R1.x, C0.y, R4.y
  z: MULADD R4.z, R1.x, C0.z, R4.z
  w: MULADD R4.w, R1.x, C0.w, R4.w

  x: DOT4_e R3.x, R2.x, C4.x
  y: DOT4_e ____, R2.y, C4.y
  z: DOT4_e ____, R2.z, C4.z
  w: DOT4_e ____, R2.w, C4.w

  x: MAX R3.x, R3.x, 0.0f
  x: MULADD R3.x, R3.x, (0x3f4ccccd, 0.8f).x, (0x3e4ccccd, 0.2f).y

  x: MUL R5.x, R3.x, C5.x
  y: MUL R5.y, R3.x, C5.y
  z: MUL R5.z, R3.x, C5.z
  w: MOV R5.w, 1.0f
EXP_DONE: POS0, R4.xyzw
EXP_DONE: PARAM0, R5.xyzw
END_OF_PROGRAM
";

/// Corners with normals: place, then direction.
type Corners = Vec<[[f32; 4]; 2]>;

/// A piece between two edges: triangles (a, b, c) and (a, c, d).
fn quad(to: &mut Corners, corners: [[f32; 3]; 4], normals: [[f32; 3]; 4]) {
    for n in [0, 1, 2, 0, 2, 3] {
        let ([x, y, z], [nx, ny, nz]) = (corners[n], normals[n]);
        to.push([[x, y, z, 1.0], [nx, ny, nz, 0.0]]);
    }
}

fn flat(to: &mut Corners, corners: [[f32; 3]; 4]) {
    let [a, b, _, d] = corners;
    let edge = |to: [f32; 3]| [to[0] - a[0], to[1] - a[1], to[2] - a[2]];
    let ([ux, uy, uz], [vx, vy, vz]) = (edge(b), edge(d));
    let normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    let length = normal.iter().map(|n| n * n).sum::<f32>().sqrt();
    quad(to, corners, [normal.map(|n| n / length); 4]);
}

/// A gear: its flat sides, and the hole's round one.
fn gear([inner, outer, width, depth]: [f32; 4], teeth: u32) -> [Corners; 2] {
    let (mut sides, mut hole) = (Vec::new(), Vec::new());
    let steps = teeth * 4;
    for k in 0..steps {
        let turn = [k, k + 1].map(|k| 2.0 * PI * k as f32 / steps as f32);
        // Rising, top, falling and bottom of a tooth.
        let is_high = |step: u32| matches!(step % 4, 1 | 2);
        let radius = [is_high(k), is_high(k + 1)].map(|high| outer + if high { depth / 2.0 } else { -depth / 2.0 });
        let at = |edge: usize, r: f32, z: f32| [r * turn[edge].cos(), r * turn[edge].sin(), z];
        let (back, front) = (-width / 2.0, width / 2.0);
        let [r0, r1] = radius;
        flat(&mut sides, [at(0, inner, front), at(0, r0, front), at(1, r1, front), at(1, inner, front)]);
        flat(&mut sides, [at(1, inner, back), at(1, r1, back), at(0, r0, back), at(0, inner, back)]);
        flat(&mut sides, [at(0, r0, back), at(1, r1, back), at(1, r1, front), at(0, r0, front)]);
        let inwards = turn.map(|turn| [-turn.cos(), -turn.sin(), 0.0]);
        let corners = [at(1, inner, back), at(0, inner, back), at(0, inner, front), at(1, inner, front)];
        quad(&mut hole, corners, [inwards[1], inwards[0], inwards[0], inwards[1]]);
    }
    [sides, hole]
}

/// Matrix columns, light, colour of a gear: seen from above and the side, from 40 away.
fn constants([x, y]: [f32; 2], turn: f32, colour: [f32; 3]) -> Constants {
    let (near, far, eye) = (5.0f32, 60.0, 40.0);
    let (c, s) = (0.35f32.cos(), 0.35f32.sin());
    let (a, b) = (-(far + near) / (far - near), -2.0 * far * near / (far - near));
    let aspect = HEIGHT as f32 / WIDTH as f32;
    // x' = 5 x, y' = 5 (c y - s z), z' = a (s y + c z - eye) + b, w = eye - (s y + c z).
    let seen = |[x, y, z, w]: [f32; 4]| {
        let away = s * y + c * z - eye * w;
        [near * aspect * x, near * (c * y - s * z), a * away + b * w, -away]
    };
    let (tc, ts) = (turn.cos(), turn.sin());
    let columns = [[tc, ts, 0.0, 0.0], [-ts, tc, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, y, 0.0, 1.0]].map(seen);
    // The light's direction, turned back.
    let light = [1.0, 1.0, 2.0].map(|n: f32| n / 6f32.sqrt());
    let light = [tc * light[0] + ts * light[1], -ts * light[0] + tc * light[1], light[2], 0.0];
    let [red, green, blue] = colour;
    let mut constants = Constants::default();
    let all = columns.into_iter().chain([light, [red, green, blue, 1.0]]);
    constants.file.iter_mut().zip(all).for_each(|(to, from)| *to = from.map(f32::to_bits));
    constants
}

/// Sources and targets of frames.
pub(crate) struct Gears {
    vertex: Program,
    pixel: Program,
    /// Vertices of a gear, and how many of each kind.
    parts: Vec<[(Arrays, u32); 2]>,
    colour: Vec<u8>,
    depth: Vec<u8>,
    frame: u32,
}

impl Gears {
    pub(crate) fn new() -> Self {
        let shapes = [([1.0, 4.0, 1.0, 0.7], 20), ([0.5, 2.0, 2.0, 0.7], 10), ([1.3, 2.0, 0.5, 0.7], 10)];
        let parts = shapes.map(|(sizes, teeth)| {
            gear(sizes, teeth).map(|corners| {
                let bytes = corners.as_flattened().as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
                let mut memory = Arrays::default();
                memory.buffers.insert(0, BufferData { stride_bytes: 32, format: Format::default(), bytes });
                (memory, corners.len() as u32)
            })
        });
        let bytes = (WIDTH * HEIGHT * 4) as usize;
        Self {
            vertex: program(VERTEX),
            pixel: program("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM"),
            parts: parts.into(),
            colour: vec![0; bytes],
            depth: vec![0; bytes],
            frame: 0,
        }
    }

    /// Draws the next frame.
    pub(crate) fn draw(&mut self, engine: &dyn Engine, options: &Options) {
        let angle = 0.03 * self.frame as f32;
        self.frame += 1;
        let size = [WIDTH, HEIGHT];
        let layout = Layout::linear(WIDTH, HEIGHT, 4, 1);
        let mut targets = Targets::default();
        let (format, slices) = (ColourFormat::RGBA8, [0; 2]);
        targets.colour[0] = Some(ColourTarget { bytes: &mut self.colour, layout, format, size, slices });
        let format = DepthFormat::S8D24;
        targets.depth = Some(DepthTarget { bytes: &mut self.depth, layout, format, size, slices });
        let whole = Rect { left: 0, top: 0, right: WIDTH as i32, bottom: HEIGHT as i32 };
        clear_colour(&mut targets, 0, [0; 4], whole).unwrap();
        clear_depth(&mut targets, 1.0, 0, whole).unwrap();
        let gears = [
            ([-3.0, -2.0], angle, [0.8, 0.1, 0.0]),
            ([3.1, -2.0], -2.0 * angle - PI / 20.0, [0.0, 0.8, 0.2]),
            ([-3.1, 4.2], -2.0 * angle - 25.0 * PI / 180.0, [0.2, 0.2, 1.0]),
        ];
        let (none, nothing) = (Arrays::default(), Constants::default());
        let viewports = [Viewport::of_size(WIDTH, HEIGHT, false)];
        for ((at, turn, colour), parts) in gears.into_iter().zip(&self.parts) {
            let constants = constants(at, turn, colour);
            for ((memory, count), interpolation) in parts.iter().zip([Interpolation::Flat, Interpolation::Perspective])
            {
                let stage = |program, constants, memory| StageProgram {
                    program,
                    fetch_program: None,
                    constants,
                    memory,
                    semantics: &[],
                };
                let vertices = VertexSource::Program(stage(&self.vertex, &constants, memory));
                let pixels = PixelSource::Program(stage(&self.pixel, &nothing, &none));
                let mut state = DrawState::new(vertices, pixels);
                state.clip = ClipState { viewports: &viewports, ..state.clip };
                state.outputs = VertexOutputs { semantics: &[1], ..VertexOutputs::default() };
                let inputs = [PixelInput { semantic: 1, interpolation, ..PixelInput::default() }];
                state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
                state.raster = RasterState { cull_back: true, ..state.raster };
                state.depth = DepthState { test: Some(Compare::Less), write: true, ..DepthState::default() };
                let (topology, indices) = (Topology::Triangles, Indices::Counted);
                let call = Draw { topology, indices, count: *count, instances: 1 };
                draw(engine, &state, &call, &mut targets, options).unwrap();
            }
        }
    }

    /// The picture as a portable pixel map.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let mut file = format!("P6 {WIDTH} {HEIGHT} 255\n").into_bytes();
        file.extend(self.colour.chunks_exact(4).flat_map(|pixel| &pixel[..3]));
        file
    }
}
