//! Geometry programs and stream output.
//!
//! Truth: a geometry program that passes triangles on draws the same as the vertex program alone; the streamed vertices are those of the buffers.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    Draw, DrawState, GeometryOutput, GeometryState, Indices, PixelInput, PixelSource, StageProgram, StreamOutput,
    Topology, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, Counts, Options, StreamBuffer, Targets, draw};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::BufferData;
use ctm_exec::r700::{Arrays, Constants};
use ctm_exec::{Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::Jit;
use ctm_testkit::r700::chain::{EXPORT, FETCH, GEOMETRY, SEMANTICS, STREAMING};

const SIDE: u32 = 32;

const PLAIN: &str = "CALL_FS\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R2.xyzw\nEND_OF_PROGRAM\n";

const COPY: &str = "
VTX:
  FETCH R1.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT)
  FETCH R2.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
MEM_STREAM0: WRITE(0), R1.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    Program { gprs: program.gprs.max(8), ..program }
}

/// Ten vertices of a strip across the target, with colours.
fn vertices() -> Vec<[[f32; 4]; 2]> {
    let at = |n: u32| {
        let n = n as f32;
        let (x, y) = (n / 5.0 - 0.95, if n % 2.0 == 0.0 { -0.8 } else { 0.7 + n / 40.0 });
        [[x, y, n / 20.0, 1.0], [n / 10.0, 1.0 - n / 10.0, 0.5, 1.0]]
    };
    (0..10).map(at).collect()
}

enum Way {
    Plain,
    Geometry,
}

struct Result {
    colour: Vec<u8>,
    streamed: Vec<f32>,
    offset: u32,
    counts: Counts,
}

fn drawn(engine: &dyn Engine, way: &Way, stream_size: Option<u32>) -> Result {
    let bytes = vertices().as_flattened().as_flattened().iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut memory = Arrays::default();
    memory.buffers.insert(0, BufferData { stride_bytes: 32, format: Format::default(), bytes });
    let (constants, none) = (Constants::default(), Arrays::default());
    let vertex = match (way, stream_size) {
        (Way::Geometry, _) => text(EXPORT),
        (Way::Plain, Some(_)) => text(STREAMING),
        (Way::Plain, None) => text(PLAIN),
    };
    let (fetch, geometry, copy) = (text(FETCH), text(GEOMETRY), text(COPY));
    let pixel = text("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let stage =
        |program| StageProgram { program, fetch_program: None, constants: &constants, memory: &none, semantics: &[] };
    let first = StageProgram { fetch_program: Some(&fetch), memory: &memory, semantics: &SEMANTICS, ..stage(&vertex) };
    let mut state = DrawState::new(VertexSource::Program(first), PixelSource::Program(stage(&pixel)));
    if matches!(way, Way::Geometry) {
        state.geometry = Some(GeometryState {
            program: stage(&geometry),
            copy: stage(&copy),
            output: GeometryOutput::TriangleStrip,
            input_vertex_dwords: 8,
            invocation_dwords: 24,
            vertex_dwords: 8,
            most_vertices: 3,
            input_buffer: 17,
            copy_buffer: 17,
        });
    }
    // The copy program streams with or without a stream buffer.
    let buffers = u8::from(stream_size.is_some());
    state.stream_output = Some(StreamOutput { vertex_dwords: [5, 0, 0, 0], buffers });
    let viewports = [Viewport::of_size(SIDE, SIDE, false)];
    state.clip.viewports = &viewports;
    let (semantics, inputs) = ([5], [PixelInput { semantic: 5, ..PixelInput::default() }]);
    state.outputs.semantics = &semantics;
    state.inputs.parameters = &inputs;
    let mut colour = vec![0; (SIDE * SIDE * 4) as usize];
    let mut streamed = [7f32; 400].map(f32::to_le_bytes).concat();
    let mut targets = Targets::default();
    let layout = Layout::linear(SIDE, SIDE, 4, 1);
    let (format, size, slices) = (ColourFormat::RGBA8, [SIDE; 2], [0, 0]);
    targets.colour[0] = Some(ColourTarget { bytes: &mut colour, layout, format, size, slices });
    if let Some(size_dwords) = stream_size {
        targets.streams[0] = Some(StreamBuffer { bytes: &mut streamed, offset_dwords: 2, size_dwords });
    }
    let call = Draw { topology: Topology::TriangleStrip, indices: Indices::Counted, count: 10, instances: 1 };
    let counts = draw(engine, &state, &call, &mut targets, &Options::default()).unwrap();
    let offset = targets.streams[0].as_ref().map_or(0, |stream| stream.offset_dwords);
    let streamed = streamed.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    Result { colour, streamed, offset, counts }
}

#[test]
fn a_geometry_program_that_passes_triangles_on_changes_nothing() {
    let plain = drawn(&Interp, &Way::Plain, None);
    assert!(plain.counts.pixels > 300);
    for engine in [&Interp as &dyn Engine, &Jit::new()] {
        let chain = drawn(engine, &Way::Geometry, None);
        assert!(chain.colour == plain.colour);
        assert_eq!((chain.counts.invocations, chain.counts.vertices, chain.counts.emitted), (8, 24, 8));
        assert_eq!(chain.counts.pixels, plain.counts.pixels);
    }
}

#[test]
fn primitives_are_streamed_in_order_as_long_as_they_fit() {
    let all = vertices();
    for engine in [&Interp as &dyn Engine, &Jit::new()] {
        for way in [Way::Plain, Way::Geometry] {
            // After two dwords, triangles of three vertices of five dwords: five fit.
            let result = drawn(engine, &way, Some(2 + 5 * 15 + 14));
            assert_eq!(result.counts.stream_primitives, [8, 5]);
            assert_eq!(result.offset, 2 + 5 * 15);
            assert_eq!(result.streamed[..2], [7.0; 2]);
            for n in 0..5 {
                let triangle = if n % 2 == 0 { [n, n + 1, n + 2] } else { [n + 1, n, n + 2] };
                for (k, vertex) in triangle.into_iter().enumerate() {
                    let at = 2 + n * 15 + k * 5;
                    assert_eq!(result.streamed[at..at + 4], all[vertex][0], "triangle {n}, vertex {k}");
                    // Dwords that the program does not write stay.
                    assert_eq!(result.streamed[at + 4], 7.0);
                }
            }
            assert!(result.streamed[2 + 75..].iter().all(|&value| value == 7.0));
        }
    }
}
