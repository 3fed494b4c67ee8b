//! Vertex, geometry, copy and pixel programs of an R700 in sequence, without a rasteriser.
//!
//! The vertex program moves vertices and writes them to the VS ring. The geometry program reads three of them for each triangle, and emits
//! the triangle; of every second triangle also a square beside it. It writes the GS ring. The copy program (DC) reads that ring and exports
//! position and colour. Then the pixel program receives the colours of one triangle, interpolated over a square of pixels.
//!
//! All of it is done twice: with the interpreter and plain arrays ([`plain`]), and by a device that reads command buffers ([`device`]). The work that
//! hardware does between the stages, as the vertex geometry translator, is in `strips` and a list of vertices.
//!
//!     cargo run --release -p close-to-metal --example geometry_chain

use ctm::EngineKind;
use ctm::commands::{BufferPlace, CommandBuffer, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot};
use ctm::device::{Device, DeviceOptions, Strip, strips, vertex_events, vertex_plane};
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::{ArenaId, GpuAddr};
use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::BufferData;
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Semantic, Space, Target, formats};
use ctm_exec::{Domain, Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::text::{TextOptions, assemble};
use std::error::Error;

/// Position and colour of a vertex.
pub type Vertex = [[f32; 4]; 2];

/// Dwords of a vertex in memory and in both rings.
const VERTEX_DWORDS: u32 = 8;
/// The most vertices that the geometry program emits for a triangle.
const MOST: u32 = 7;
/// Pixels of a row and of a column.
pub const PIXELS: u32 = 16;

/// Fetches position and colour through the semantic table.
const FETCH: &str = "
VTX:
  SEMANTIC SEM[5].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
  SEMANTIC SEM[9].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
RETURN
";

/// Position times the matrix in constant buffer 0; the colour goes on as it is.
const VERTEX: &str = "
CALL_FS
ALU: KCACHE0(CB0:0-15)
  0  x: DOT4_e R3.x, R1.x, KC0[0].x
     y: DOT4_e ____, R1.y, KC0[0].y
     z: DOT4_e ____, R1.z, KC0[0].z
     w: DOT4_e ____, R1.w, KC0[0].w
  1  x: DOT4_e ____, R1.x, KC0[1].x
     y: DOT4_e R3.y, R1.y, KC0[1].y
     z: DOT4_e ____, R1.z, KC0[1].z
     w: DOT4_e ____, R1.w, KC0[1].w
  2  x: DOT4_e ____, R1.x, KC0[2].x
     y: DOT4_e ____, R1.y, KC0[2].y
     z: DOT4_e R3.z, R1.z, KC0[2].z
     w: DOT4_e ____, R1.w, KC0[2].w
  3  x: DOT4_e ____, R1.x, KC0[3].x
     y: DOT4_e ____, R1.y, KC0[3].y
     z: DOT4_e ____, R1.z, KC0[3].z
     w: DOT4_e R3.w, R1.w, KC0[3].w
MEM_RING: WRITE(0), R3.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
MEM_RING: WRITE(16), R2.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
NOP
END_OF_PROGRAM
";

/// Three vertices in R2 to R7 (position, colour); R0.x is the triangle. For odd ones a strip of four: the first vertex, moved by
/// (R8.y & 1, R8.y >> 1); R8.x is its place in the thread's item, in elements of four dwords.
const GEOMETRY: &str = "
ALU:
  0  t: MULLO_INT R1.x, R0.x, (0x00000003, 0.0f).x
  1  y: ADD_INT R1.y, R1.x, 1
  2  z: ADD_INT R1.z, R1.y, 1
VTX:
  FETCH R2.xyzw, R1.x, b0 FORMAT(32_32_32_32_FLOAT)
  FETCH R3.xyzw, R1.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
  FETCH R4.xyzw, R1.y, b0 FORMAT(32_32_32_32_FLOAT)
  FETCH R5.xyzw, R1.y, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
  FETCH R6.xyzw, R1.z, b0 FORMAT(32_32_32_32_FLOAT)
  FETCH R7.xyzw, R1.z, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
MEM_RING: WRITE(0), R2.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_VERTEX
MEM_RING: WRITE(32), R4.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_VERTEX
MEM_RING: WRITE(64), R6.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_CUT_VERTEX
ALU_PUSH_BEFORE:
  3  x: MOV R8.x, (0x00000006, 0.0f).x
     y: MOV R8.y, 0.0f
     w: AND_INT R8.w, R0.x, 1
  4  x: PRED_SETNE_INT ____, R8.w, 0.0f UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(end)
LOOP_START_NO_AL i0 FAIL_JUMP_ADDR(behind)
again:
ALU:
  5  x: AND_INT R9.x, R8.y, 1
     y: LSHR_INT R9.y, R8.y, 1
  6  t: INT_TO_FLT R9.x, R9.x
  7  t: INT_TO_FLT R9.y, R9.y
  8  x: ADD R10.x, R2.x, R9.x
     y: ADD R10.y, R2.y, R9.y
     z: MOV R10.z, R2.z
     w: MOV R10.w, R2.w
  9  x: MOV R11.x, R3.x
     y: MOV R11.y, R3.y
     z: MOV R11.z, R3.z
     w: MOV R11.w, R3.w
MEM_RING: WRITE(0 + R8), R10.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_VERTEX
ALU:
  10 x: ADD_INT R8.x, R8.x, (0x00000002, 0.0f).x
     y: ADD_INT R8.y, R8.y, 1
LOOP_END i0 PASS_JUMP_ADDR(again)
behind:
POP POP_CNT(1) ADDR(end)
end:
CUT_VERTEX
NOP
END_OF_PROGRAM
";

/// R0.x counts vertices; buffer 1 says where each lies in the GS ring, buffer 0 is that ring.
const COPY: &str = "
VTX:
  FETCH R1.x___, R0.x, b1 FORMAT(32 INT)
VTX:
  FETCH R2.xyzw, R1.x, b0 FORMAT(32_32_32_32_FLOAT)
  FETCH R3.xyzw, R1.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
EXP_DONE: POS0, R2.xyzw
EXP_DONE: PARAM0, R3.xyzw
END_OF_PROGRAM
";

/// The colour, which arrives in R1, squared.
const PIXEL: &str = "
ALU:
  0  x: MUL_e R1.x, R1.x, R1.x
     y: MUL_e R1.y, R1.y, R1.y
     z: MUL_e R1.z, R1.z, R1.z
     w: MUL_e R1.w, R1.w, R1.w
EXP_DONE: PIX0, R1.xyzw
END_OF_PROGRAM
";

/// The results of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The strips, triangle by triangle.
    pub strips: Vec<Strip>,
    /// The vertices that the copy program exported, strip by strip.
    pub vertices: Vec<Vertex>,
    /// The pixel program's picture of the first triangle, row by row.
    pub picture: Vec<[f32; 4]>,
}

/// The vertices of five triangles: numbers that single precision adds and multiplies without rounding.
#[must_use]
pub fn vertices() -> Vec<Vertex> {
    let number = |n: u32, k: u32| f32::from((n * k % 16) as u16) * 0.5;
    let vertex = |n: u32| {
        // The first triangle lies along the axes, around the pixels.
        let (x, y) = match n {
            0 => (0.0, 0.0),
            1 => (4.0, 0.0),
            2 => (0.0, 8.0),
            n => (number(n, 5), number(n, 3)),
        };
        [[x, y, number(n, 7), 1.0], [number(n, 9), number(n, 11), number(n, 13), 0.25]]
    };
    (0..15).map(vertex).collect()
}

/// The matrix: x times 4, y times 2, z moved, and a copy of w.
pub const MATRIX: [[f32; 4]; 4] =
    [[4.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0], [0.0, 0.0, 0.0, 1.0]];

/// The same result, computed directly.
#[must_use]
pub fn direct() -> Outcome {
    let transformed = |[position, colour]: Vertex| -> Vertex {
        [MATRIX.map(|row| position.iter().zip(row).map(|(p, m)| p * m).sum()), colour]
    };
    let transformed: Vec<Vertex> = vertices().into_iter().map(transformed).collect();
    let mut result = Outcome { strips: Vec::new(), vertices: Vec::new(), picture: Vec::new() };
    for (i, triangle) in (0..).zip(transformed.chunks_exact(3)) {
        let thread = ctm_exec::Position { i, j: 0 };
        result.strips.push(Strip { thread, first: 0, vertices: 3 });
        result.vertices.extend(triangle);
        if i % 2 == 1 {
            result.strips.push(Strip { thread, first: 3, vertices: 4 });
            for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                let [[x, y, z, w], colour] = triangle[0];
                result.vertices.push([[x + dx, y + dy, z, w], colour]);
            }
        }
    }
    // Colours are linear between (0, 0), (16, 0) and (0, 16), at the centres of pixels.
    let colour = |n: usize, c: usize| f64::from(result.vertices[n][1][c]);
    for j in 0..PIXELS {
        for i in 0..PIXELS {
            let (s, t) = ((f64::from(i) + 0.5) / 16.0, (f64::from(j) + 0.5) / 16.0);
            let at = |c: usize| {
                let value = colour(0, c) + (colour(1, c) - colour(0, c)) * s + (colour(2, c) - colour(0, c)) * t;
                (value as f32) * (value as f32)
            };
            result.picture.push([at(0), at(1), at(2), at(3)]);
        }
    }
    result
}

fn program(text: &str) -> Result<Program, Box<dyn Error>> {
    let assembly = assemble(text, &TextOptions::default());
    assembly.program.ok_or_else(|| format!("{:?}", assembly.diagnostics).into())
}

fn row(columns: u32) -> Domain {
    Domain { i0: 0, j0: 0, i1: columns.saturating_sub(1), j1: 0 }
}

fn bytes(vertices: &[Vertex]) -> Vec<u8> {
    vertices.as_flattened().as_flattened().iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// The vertices of the strips as items of the GS ring.
fn ring_items(strips: &[Strip]) -> Vec<u32> {
    strips.iter().flat_map(|s| (0..s.vertices).map(move |k| s.thread.i * MOST + s.first + k)).collect()
}

fn vertex_of(position: [u32; 4], colour: [u32; 4]) -> Vertex {
    [position, colour].map(|element| element.map(f32::from_bits))
}

/// The registers that semantic fetches write.
const SEMANTICS: [Semantic; 2] = [Semantic { id: 5, gpr: 1 }, Semantic { id: 9, gpr: 2 }];
/// R0.x counts threads.
const INDEX: Plane = Plane { temp: 0, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0; 4], bits: true };

/// The chain with the interpreter and plain arrays.
///
/// # Errors
/// A fault of a program; none for the programs here.
pub fn plain() -> Result<Outcome, Box<dyn Error>> {
    let input = vertices();
    let count = u32::try_from(input.len())?;
    let triangles = count / 3;
    let mut constants = Constants::default();
    constants.loops[0].count = 4;
    let buffer = |stride_bytes, bytes| BufferData { stride_bytes, format: formats::Format::default(), bytes };
    let of_words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();

    let mut memory = Arrays::default();
    memory.bind_constants(0, None, MATRIX.map(|row| row.map(f32::to_bits)).to_vec());
    memory.buffers.insert(0, buffer(32, bytes(&input)));
    memory.spaces.insert(Space::Ring, vec![0; (count * VERTEX_DWORDS) as usize]);
    let (vertex, fetch) = (program(VERTEX)?, program(FETCH)?);
    let launch = Launch {
        stage: Stage::Export,
        fetch_program: Some(&fetch),
        semantics: &SEMANTICS,
        planes: &[INDEX],
        ring_item_dwords: VERTEX_DWORDS,
        ..Launch::new(&vertex, &constants, row(count))
    };
    Interp.run_r700(&launch, &mut memory)?;

    let vs_ring = memory.spaces.insert(Space::Ring, vec![0; (triangles * MOST * VERTEX_DWORDS) as usize]);
    memory.buffers.insert(0, buffer(32, of_words(&vs_ring.unwrap_or_default())));
    let geometry = program(GEOMETRY)?;
    let launch = Launch {
        stage: Stage::Geometry,
        planes: &[INDEX],
        ring_item_dwords: MOST * VERTEX_DWORDS,
        ..Launch::new(&geometry, &constants, row(triangles))
    };
    Interp.run_r700(&launch, &mut memory)?;

    let strips = strips(memory.events.drain(..));
    let items = ring_items(&strips);
    let emitted = u32::try_from(items.len())?;
    memory.buffers.insert(0, buffer(32, of_words(&memory.spaces[&Space::Ring])));
    memory.buffers.insert(1, buffer(4, of_words(&items)));
    for target in [Target::Position(0), Target::Parameter(0)] {
        memory.targets.insert(target, Picture::filled(emitted, 1, [0.0; 4]));
    }
    let copy = program(COPY)?;
    let launch = Launch { stage: Stage::Copy, planes: &[INDEX], ..Launch::new(&copy, &constants, row(emitted)) };
    Interp.run_r700(&launch, &mut memory)?;
    let exported = |target| memory.targets[&target].elements.clone();
    let (positions, colours) = (exported(Target::Position(0)), exported(Target::Parameter(0)));
    let vertices: Vec<Vertex> = positions.into_iter().zip(colours).map(|(p, c)| vertex_of(p, c)).collect();

    let at = |n: usize| vertices[n].map(|element| element.map(f64::from));
    let positions = [0, 1, 2].map(|n| [at(n)[0][0], at(n)[0][1]]);
    let plane = vertex_plane(positions, [0, 1, 2].map(|n| at(n)[1]), 1).ok_or("the vertices lie on one line")?;
    memory.targets.insert(Target::Pixel(0), Picture::filled(PIXELS, PIXELS, [0.0; 4]));
    let pixel = program(PIXEL)?;
    let domain = Domain { i0: 0, j0: 0, i1: PIXELS - 1, j1: PIXELS - 1 };
    let launch = Launch { planes: &[plane], ..Launch::new(&pixel, &constants, domain) };
    Interp.run_r700(&launch, &mut memory)?;
    let picture = memory.targets[&Target::Pixel(0)].elements.iter().map(|e| e.map(f32::from_bits)).collect();
    Ok(Outcome { strips, vertices, picture })
}

/// A device and the addresses in its memory.
struct Host {
    device: Device,
}

type Any<T> = Result<T, Box<dyn Error>>;

impl Host {
    fn put(&mut self, bytes: &[u8]) -> Any<GpuAddr> {
        let at = self.device.allocate(ArenaId::Gpu, bytes.len() as u64)?;
        self.device.write(at, bytes)?;
        Ok(at)
    }

    fn program(&mut self, text: &str) -> Any<ProgramPlace> {
        let program = program(text)?;
        let bytes: Vec<u8> = program.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        Ok(ProgramPlace::words(self.put(&bytes)?, &program))
    }

    fn array(&mut self, width: u32, height: u32) -> Any<Surface> {
        let surface = Surface::for_size(width, height, Format::Float32x4, Tiling::Linear)?;
        Ok(surface.at(self.device.allocate(ArenaId::Gpu, surface.bytes())?))
    }

    fn submit(&mut self, buffer: &CommandBuffer) -> Any<()> {
        let at = self.put(&buffer.to_bytes())?;
        let report = self.device.submit(at, u32::try_from(buffer.len_dwords())?)?;
        match report.launches.iter().find_map(|launch| launch.findings.first()) {
            Some(finding) => Err(finding.message.clone().into()),
            None => Ok(()),
        }
    }
}

/// The chain by a device's commands.
///
/// # Errors
/// An error of a command buffer; none for those here.
pub fn device(engine: EngineKind, options: DeviceOptions) -> Any<Outcome> {
    let mut host = Host { device: Device::open(engine.engine()?, options)? };
    let input = vertices();
    let count = u32::try_from(input.len())?;
    let triangles = count / 3;
    let format = formats::Format::default();
    let buffer = |base, bytes, stride_bytes| BufferPlace { base, bytes, stride_bytes, format };
    let (vs_bytes, gs_bytes) = (count * VERTEX_DWORDS * 4, triangles * MOST * VERTEX_DWORDS * 4);
    let attributes = host.put(&bytes(&input))?;
    let matrix = host.put(&MATRIX.as_flattened().iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>())?;
    let table = host.put(&SEMANTICS.iter().flat_map(|s| [s.id, s.gpr, 0, 0]).collect::<Vec<u8>>())?;
    let loops = host.put(&4u32.to_le_bytes())?;
    let (vs_ring, gs_ring) = (host.put(&vec![0; vs_bytes as usize])?, host.put(&vec![0; gs_bytes as usize])?);
    let event_dwords = 1 + triangles * (MOST + 1);
    let events = host.put(&vec![0; event_dwords as usize * 4])?;
    let (vertex, fetch, geometry) = (host.program(VERTEX)?, host.program(FETCH)?, host.program(GEOMETRY)?);

    // Vertices to the VS ring, triangles to the GS ring: one buffer.
    host.submit(
        &CommandBuffer::new()
            .set_chip(Chip::Rv770, 0)
            .set_stage(Stage::Export)
            .set_program(ProgramSlot::Main, &vertex)
            .set_program(ProgramSlot::Fetch, &fetch)
            .set_semantics(table, 2)
            .set_loop_consts(loops)
            .set_const_buffer(0, &ConstantsPlace { base: matrix, constants: 4 })
            .set_vtx_buffer(0, &buffer(attributes, count * 32, 32))
            .set_memory(MemoryKind::Ring, &MemoryPlace { base: vs_ring, bytes: vs_bytes, item: VERTEX_DWORDS })
            .set_domain(row(count))
            .start_program()
            .wait_for_idle()
            .inv_inp_cache()
            .set_stage(Stage::Geometry)
            .set_program(ProgramSlot::Main, &geometry)
            .set_vtx_buffer(0, &buffer(vs_ring, vs_bytes, 32))
            .set_memory(MemoryKind::Ring, &MemoryPlace { base: gs_ring, bytes: gs_bytes, item: MOST * VERTEX_DWORDS })
            .set_vertex_events(events, event_dwords)
            .set_domain(row(triangles))
            .start_program(),
    )?;

    // The host plays the vertex geometry translator: which vertices there are, and where.
    let words: Vec<u32> = host
        .device
        .read(events, event_dwords as usize * 4)?
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let strips = strips(vertex_events(&words));
    let items = ring_items(&strips);
    let emitted = u32::try_from(items.len())?;
    let list = host.put(&items.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>())?;
    let (positions, colours) = (host.array(emitted, 1)?, host.array(emitted, 1)?);
    let copy = host.program(COPY)?;
    host.submit(
        &CommandBuffer::new()
            .set_stage(Stage::Copy)
            .set_program(ProgramSlot::Main, &copy)
            .set_vtx_buffer(0, &buffer(gs_ring, gs_bytes, 32))
            .set_vtx_buffer(1, &buffer(list, emitted * 4, 4))
            .inv_inp_cache()
            .set_export(Target::Position(0), &positions)
            .set_export(Target::Parameter(0), &colours)
            .set_domain(row(emitted))
            .start_program()
            .flush_out_cache(),
    )?;
    let exported = |surface| host.device.read_surface(surface, (0, 0), (emitted, 1));
    let vertices: Vec<Vertex> =
        exported(&positions)?.into_iter().zip(exported(&colours)?).map(|(p, c)| vertex_of(p, c)).collect();

    // The parameters of the first triangle become the inputs of the pixel program: three records of position and interpolants.
    let mut records = vec![0f32; 3 * 32];
    for (record, [position, colour]) in records.chunks_exact_mut(32).zip(&vertices) {
        record[..4].copy_from_slice(position);
        record[4..8].copy_from_slice(colour);
    }
    let records = host.put(&records.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>())?;
    let (pixel, picture) = (host.program(PIXEL)?, host.array(PIXELS, PIXELS)?);
    host.submit(
        &CommandBuffer::new()
            .set_stage(Stage::Pixel)
            .set_program(ProgramSlot::Main, &pixel)
            .set_params(records)
            .set_interpolants(1, 1)
            .set_out_fmt(0, &picture)
            .set_domain(Domain { i0: 0, j0: 0, i1: PIXELS - 1, j1: PIXELS - 1 })
            .start_program()
            .flush_out_cache(),
    )?;
    let picture = host.device.read_surface(&picture, (0, 0), (PIXELS, PIXELS))?;
    let picture = picture.into_iter().map(|e| e.map(f32::from_bits)).collect();
    Ok(Outcome { strips, vertices, picture })
}

#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "a test includes this file and calls the two chains itself; an example prints"
)]
fn main() -> Any<()> {
    let expected = direct();
    for (name, found) in
        [("plain", plain()?), ("device", device(EngineKind::default(), DeviceOptions::r700(Chip::Rv770))?)]
    {
        if found != expected {
            return Err(format!("{name}: the result differs from the direct computation").into());
        }
        println!(
            "{name}: {} strips, {} vertices, {} pixels",
            found.strips.len(),
            found.vertices.len(),
            found.picture.len()
        );
    }
    Ok(())
}
