//! Draw states made of bytes: no bytes, or zeros, are a good state that draws; each other byte changes one thing, mostly to a legal value, sometimes
//! to an illegal one. The fuzz target `draw_states` uses this file, too.

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, Colours, NumberType, Swap};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ClipState, Combine, Compare, DepthCopy, DepthOffset, Draw, DrawState, Factor,
    Fill, GeometryOutput, GeometryState, Indices, Interpolation, LogicOp, PixelInput, PixelSource, Place, Rect,
    SamplePattern, StageProgram, StencilFace, StencilOp, Stipple, StreamOutput, Topology, VertexSource, Viewport,
};
use ctm_draw::{ColourTarget, Counts, DepthTarget, Options, StreamBuffer, Targets, clear_colour, clear_depth, draw};
use ctm_exec::Engine;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Filter, Image, Texture, Wrap};
use ctm_exec::r700::{Arrays, Constants, Sampler};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_testkit::r700::chain::{EXPORT, FETCH, GEOMETRY, SEMANTICS, STREAMING};

/// How many bytes a state reads.
pub const BYTES: usize = 96;

/// The next choice.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// One of these; the first one is the good one.
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    fn number(&mut self) -> f32 {
        const ODD: [f32; 10] =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, 1e-40, -0.0, 1e20, 65536.5, -1e9];
        match self.byte() {
            0 => 1.0,
            n if n < 200 => f32::from(n) / 16.0 - 5.0,
            n => ODD[usize::from(n) % ODD.len()],
        }
    }

    /// Something else where the byte is not 0.
    fn changed<T>(&mut self, good: T, other: impl FnOnce(u8) -> T) -> T {
        match self.byte() {
            0 => good,
            n => other(n),
        }
    }
}

const PLAIN: &str = "
CALL_FS
EXP: POS0, R1.xyzw
EXP_DONE: POS1, R2.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";
const COPY: &str = "
VTX:
  FETCH R1.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT)
  FETCH R2.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";
const PIXELS: [&str; 5] = [
    "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
    "TEX:\n  SAMPLE R0.xyzw, R0.xyxx, t0, s0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
    "ALU:\n x: KILLGT ____, R0.x, R0.y\nEXP: PIX0, R0.xyzw\nEXP_DONE: PIX1, R1.xyzw\nEND_OF_PROGRAM\n",
    "EXP: PIX0, R0.xyzw\nEXP_DONE: PIX61, R0.xyz_\nEND_OF_PROGRAM\n",
    "EXP: PIX0, R0.xyzw\nEXP_DONE: PIX1, R0.wzyx\nEND_OF_PROGRAM\n",
];

/// A program that has a few registers beside its own.
fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    Program { gprs: program.gprs.max(8), ..program }
}

/// The outcome of a state.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Its counts, or the error.
    pub result: Result<Counts, String>,
    /// Bytes of colour targets 0 and 1, of the depth target, and of the stream buffer.
    pub bytes: [Vec<u8>; 4],
    /// The stream buffer's offset.
    pub offset: Option<u32>,
}

/// Bytes after each target, which have to stay.
pub const BEHIND: usize = 64;
const FILL: u8 = 0x5a;

impl Outcome {
    /// Whether no byte after the targets was changed.
    pub fn is_within(&self) -> bool {
        self.bytes.iter().all(|bytes| bytes[bytes.len() - BEHIND..].iter().all(|&byte| byte == FILL))
    }
}

/// Draws the state of these bytes.
pub fn drawn(bytes: &[u8], engine: &dyn Engine, options: &Options) -> Outcome {
    let c = &mut Choices(bytes.iter());
    // Vertices and indices: two rings of triangles, near and far.
    let mut values: Vec<f32> = Vec::new();
    for n in 0..40u8 {
        let (n, turn) = (f32::from(n), f32::from(n) * 0.7);
        let w = 1.0 + n / 40.0;
        values.extend([turn.cos() * w, turn.sin() * w, n / 40.0 - 0.5, w, n / 40.0, 1.0 - n / 40.0, 0.5, 0.75]);
    }
    let odd_at = c.changed(None, |n| Some(usize::from(n) % values.len()));
    let odd = c.number();
    if let Some(at) = odd_at {
        values[at..].iter_mut().step_by(37).for_each(|value| *value = odd);
    }
    let all: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let length = c.of(&[all.len(), 0, 1, 31, 100, all.len() - 4]);
    let stride_bytes = c.of(&[32, 0, 4, 16, 31, 1000, u32::MAX]);
    let mut memory = Arrays::default();
    if c.byte() < 240 {
        let bytes = all[..length].to_vec();
        memory.buffers.insert(0, BufferData { stride_bytes, format: Format::default(), bytes });
    }
    let far = c.changed(0u32, |n| u32::from(n) << (n % 28));
    let indices: Vec<u32> = (0..60).map(|n| if n % 13 == 7 { (n * 11 % 40) ^ far } else { n * 11 % 40 }).collect();
    let (short, bytes): (Vec<u16>, Vec<u8>) = indices.iter().map(|&n| (n as u16, n as u8)).unzip();
    let kinds = [Indices::U32(&indices), Indices::U16(&short), Indices::U8(&bytes), Indices::Counted];
    let call = Draw {
        topology: c.of(&[&[Topology::Triangles], Topology::ALL.as_slice()].concat()),
        indices: c.of(&kinds),
        count: c.changed(60, |n| u32::from(n) * 2),
        instances: c.of(&[1, 0, 2, 3]),
    };
    // Programs.
    let (constants, mut looked_up) = (Constants::default(), Arrays::default());
    let side = c.of(&[8u32, 1, 3]);
    let texels: Vec<_> =
        (0..side * side).map(|n| [n % 3, n % 5, n % 7, 6].map(|v| (v as f32 / 6.0).to_bits())).collect();
    if c.byte() < 200 {
        let texture = Texture { width: side, height: side, ..Texture::default() };
        looked_up.textures.insert(0, Image { texture, levels: texels.into() });
        let (filter, wrap) = (c.of(&[Filter::Linear, Filter::Nearest]), [c.of(&[Wrap::Repeat, Wrap::Border]); 3]);
        looked_up.samplers.insert(0, Sampler { magnify: filter, minify: filter, wrap, ..Sampler::default() });
    }
    let way = c.of(&[0, 0, 0, 1, 2]);
    let vertex = text([PLAIN, STREAMING, EXPORT][way]);
    let (fetch, geometry, copy) = (text(FETCH), text(GEOMETRY), text(COPY));
    let which = c.byte();
    let pixel = text(PIXELS[usize::from(which) % PIXELS.len()]);
    let stage = |program| StageProgram {
        program,
        fetch_program: None,
        constants: &constants,
        memory: &looked_up,
        semantics: &[],
    };
    let first = StageProgram { fetch_program: Some(&fetch), memory: &memory, semantics: &SEMANTICS, ..stage(&vertex) };
    let pixels = if which < 240 { PixelSource::Program(stage(&pixel)) } else { PixelSource::Nothing };
    let mut state = DrawState::new(VertexSource::Program(first), pixels);
    if way == 2 {
        state.geometry = Some(GeometryState {
            program: stage(&geometry),
            copy: stage(&copy),
            output: c.of(&[GeometryOutput::TriangleStrip, GeometryOutput::LineStrip, GeometryOutput::Points]),
            input_vertex_dwords: c.of(&[8, 8, 4, 0, 9]),
            invocation_dwords: c.of(&[24, 24, 0, 8, 100]),
            vertex_dwords: c.of(&[8, 8, 0, 100]),
            most_vertices: c.of(&[3, 3, 0, 1, 1000]),
            input_buffer: 17,
            copy_buffer: 17,
        });
    }
    if way == 1 {
        let buffers = c.of(&[1, 0, 3, 255]);
        state.stream_output = Some(StreamOutput { vertex_dwords: [c.of(&[5, 0, 4, 1000]), 0, 0, 0], buffers });
    }
    state.input.restart = c.changed(None, |n| Some(u32::from(n)));
    state.input.index_offset = c.of(&[0, 1, -1, i32::MIN, i32::MAX]);
    state.input.most_index = c.of(&[u32::MAX, 0, 20]);
    state.input.primitive_number = c.byte() > 127;
    state.input.vertex_offset = c.of(&[0, 1, u32::MAX]);
    state.outputs.semantics = &[1];
    let misc = c.byte();
    state.outputs.misc = misc & 1 == 1;
    (state.outputs.point_size, state.outputs.edge_flag) = (misc & 2 == 2, misc & 4 == 4);
    (state.outputs.layer, state.outputs.viewport) = (misc & 8 == 8, misc & 16 == 16);
    (state.outputs.distances_low, state.outputs.kill) = (misc & 32 == 32, misc & 64 == 64);
    let semantic = c.of(&[1, 2]);
    let interpolation = c.of(&[Interpolation::Perspective, Interpolation::Linear, Interpolation::Flat]);
    let place = c.of(&[Place::Centre, Place::Centroid, Place::Sample]);
    let input =
        PixelInput { semantic, back: None, interpolation, place, default: [1, 2, 3, 4], sprite: c.byte() & 1 == 1 };
    let inputs = [input; 33];
    state.inputs.parameters = &inputs[..c.of(&[1, 0, 8, 33])];
    state.inputs.position = c.changed(None, Some);
    state.inputs.face = c.changed(None, |n| Some((n, n)));
    // Window.
    let size = [c.of(&[40u32, 1, 64, 17, 0]), c.of(&[36u32, 1, 64, 150, 0])];
    let mut viewport = Viewport::of_size(size[0], size[1], false);
    if c.byte() > 127 {
        viewport.scale = [c.number(), c.number(), c.number()];
        viewport.offset = [c.number(), c.number(), c.number()];
        viewport.depth = [c.number(), c.number()];
    }
    let viewports = [viewport; 17];
    let clip = c.byte();
    state.clip = ClipState {
        viewports: &viewports[..c.of(&[1, 0, 16, 17])],
        disabled: clip & 1 == 1,
        half_z: clip & 2 == 2,
        no_near: clip & 4 == 4,
        no_far: clip & 8 == 8,
        xy_divided: clip & 16 == 16,
        w_is_reciprocal: clip & 32 == 32,
        clip_distances: c.byte(),
        cull_distances: c.byte(),
        guard_band: [c.number(), c.number()],
        ..ClipState::default()
    };
    if c.byte() > 200 {
        state.clip.user_planes[0] = Some([c.number(), c.number(), c.number(), c.number()]);
    }
    let raster = &mut state.raster;
    let count = c.of(&[1u32, 1, 2, 4, 8, 3]);
    raster.samples = SamplePattern::of(count).unwrap_or(SamplePattern { count, ..SamplePattern::ONE });
    raster.fill_front = c.of(&[Fill::Triangles, Fill::Lines, Fill::Points]);
    raster.fill_back = raster.fill_front;
    let flags = c.byte();
    (raster.cull_front, raster.cull_back) = (flags & 3 == 3, flags & 5 == 5);
    (raster.multisample, raster.per_sample) = (flags & 8 == 0, flags & 16 == 16);
    (raster.rectangular_lines, raster.no_perspective) = (flags & 32 == 32, flags & 64 == 64);
    raster.grid = c.of(&[1, 1, 16, 256, 7]);
    (raster.line_width, raster.point_size) = (c.number(), [c.number(), c.number()]);
    raster.offset_front = c.changed(None, |n| {
        let units = f32::from(n);
        Some(DepthOffset { scale: 1e30, units, clamp: 0.0 })
    });
    raster.stipple = c.changed(None, |n| {
        Some(Stipple {
            pattern: u16::from(n) * 257,
            repeat: u16::from(n % 3),
            high_first: n & 1 == 1,
            restarts: n > 99,
        })
    });
    raster.scissor = c.changed(Rect { left: 0, top: 0, right: 64, bottom: 64 }, |n| {
        let n = i32::from(n);
        Rect { left: n - 100, top: 3, right: n, bottom: if n > 250 { i32::MAX } else { n / 2 } }
    });
    raster.sample_mask[0] = c.changed(0xff, |n| n - 1);
    // Tests.
    state.depth.test = c.changed(Some(Compare::LessEqual), |n| Compare::ALL.get(usize::from(n) % 9).copied());
    state.depth.write = c.byte() < 200;
    state.depth.stencil = c.changed(None, |n| {
        let compare = Compare::ALL[usize::from(n) % 8];
        Some(StencilFace { compare, reference: n, pass: StencilOp::IncrementWrap, ..StencilFace::default() })
    });
    let flags = c.byte();
    (state.depth.kill, state.depth.export_depth) = (flags & 1 == 1, flags & 2 == 2);
    (state.depth.export_stencil, state.depth.export_mask) = (flags & 4 == 4, flags & 8 == 8);
    state.depth.clear_depth = c.changed(None, |n| Some(f32::from(n) - 100.0));
    state.depth.copy = c.changed(None, |n| {
        Some(DepthCopy { depth: n & 1 == 1, stencil: n & 2 == 2, first_covered: n & 4 == 4, sample: n })
    });
    // Colours.
    let factors = [
        Factor::SourceAlpha,
        Factor::OneMinusSourceAlpha,
        Factor::Zero,
        Factor::One,
        Factor::DestinationColour,
        Factor::SourceAlphaSaturate,
        Factor::Source1Colour,
        Factor::OneMinusConstantAlpha,
    ];
    let (source, destination) = (c.of(&factors), c.of(&factors));
    let combine = c.of(&[Combine::Add, Combine::Subtract, Combine::ReverseSubtract, Combine::Min, Combine::Max]);
    let equation = BlendEquation { source, destination, combine };
    let is_blended = c.byte() > 127;
    for target in &mut state.colour.targets {
        target.blend = is_blended.then_some(Blend { colour: equation, alpha: None });
    }
    state.colour.targets[0].write_mask = c.changed(15, |n| n - 1);
    state.colour.targets[0].blend_clamp = c.byte() < 128;
    state.colour.targets[0].truncate = c.byte() > 128;
    state.colour.constant = [c.number(); 4];
    state.colour.logic = c.changed(LogicOp::COPY, LogicOp);
    let flags = c.byte();
    (state.colour.multiwrite, state.colour.resolve) = (flags & 1 == 1, flags & 6 == 6);
    state.colour.alpha_test =
        c.changed(None, |n| Some(AlphaTest { compare: Compare::ALL[usize::from(n) % 8], reference: 0.5, steps: None }));
    state.colour.alpha_to_coverage = c.changed(None, |n| Some([n; 4]));
    // Targets.
    let tiling = Tiling::default();
    let mode = c.of(&[ArrayMode::Linear, ArrayMode::Tiled1d, ArrayMode::Tiled2d]);
    let samples = if c.byte() < 230 { count } else { 4 };
    let layout = |bytes: u32, size| Layout::padded(mode, size, bytes, samples, tiling);
    let numbers = [
        NumberType::Unorm,
        NumberType::Float,
        NumberType::Uint,
        NumberType::Sint,
        NumberType::Srgb,
        NumberType::Snorm,
        NumberType::Uscaled,
    ];
    let format = |c: &mut Choices<'_>| {
        let data = c.changed(DataFormat::Fmt8_8_8_8, |n| DataFormat::ALL[usize::from(n) % DataFormat::ALL.len()]);
        let (number, swap) = (c.of(&numbers), c.of(&[Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev]));
        // Mostly one that there is: numbers of floats are floats.
        let fits = |number| Colours::new(ColourFormat { data, number, swap }).is_ok();
        let number = if fits(number) || c.byte() > 200 { number } else { NumberType::Float };
        ColourFormat { data, number, swap }
    };
    let formats = [format(c), format(c)];
    let depth_format = c.of(&DepthFormat::ALL);
    let smaller = [size[0].min(20), size[1].min(100)];
    let sizes = [size, c.of(&[size, smaller]), c.of(&[size, smaller])];
    let slices = c.of(&[[0, 0], [0, 1], [1, 1], [1, 0], [0, u32::MAX]]);
    let of_format = |format| Colours::new(format).map_or(4, |colours| colours.bytes()) as u32;
    let layouts = [
        layout(of_format(formats[0]), sizes[0]),
        layout(of_format(formats[1]), sizes[1]),
        layout(depth_format.bytes() as u32, sizes[2]),
    ];
    let lacks = c.of(&[0usize, 0, 0, 1]);
    let room = |layout: &Layout| vec![FILL; (2 * layout.slice_bytes() as usize).saturating_sub(lacks) + BEHIND];
    let mut memories = [room(&layouts[0]), room(&layouts[1]), room(&layouts[2]), vec![FILL; 4000 + BEHIND]];
    let is_there = [c.byte() < 240, c.byte() > 127, c.byte() < 200];
    let mut targets = Targets::default();
    let [colour, second, depth, stream] = &mut memories;
    for (n, bytes) in [colour, second].into_iter().enumerate().filter(|(n, _)| is_there[*n]) {
        let end = bytes.len() - BEHIND;
        let (bytes, layout, format, size) = (&mut bytes[..end], layouts[n], formats[n], sizes[n]);
        targets.colour[n] = Some(ColourTarget { bytes, layout, format, size, slices });
    }
    if is_there[2] {
        let end = depth.len() - BEHIND;
        let (bytes, layout, format, size) = (&mut depth[..end], layouts[2], depth_format, sizes[2]);
        targets.depth = Some(DepthTarget { bytes, layout, format, size, slices });
    }
    if way == 1 {
        let size_dwords = c.of(&[1000, 1000, 0, 7, 1001, u32::MAX]);
        let offset_dwords = c.of(&[0, 3, 999, u32::MAX]);
        targets.streams[0] = Some(StreamBuffer { bytes: &mut stream[..4000], offset_dwords, size_dwords });
    }
    let whole = Rect { left: i32::MIN, top: -5, right: i32::MAX, bottom: i32::MAX };
    let cleared = [clear_colour(&mut targets, 0, [0; 4], whole), clear_depth(&mut targets, 1.0, 0, whole)];
    let result = cleared.into_iter().collect::<Result<Vec<()>, _>>();
    let result = result.and_then(|_| draw(engine, &state, &call, &mut targets, options));
    let offset = targets.streams[0].as_ref().map(|stream| stream.offset_dwords);
    Outcome { result: result.map_err(|error| error.to_string()), bytes: memories, offset }
}
