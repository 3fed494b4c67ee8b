//! Scenes through vertex programs: engines, threads, merged quads and filled rectangles give the same bits.

use super::*;

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
    let vertex = StageProgram {
        program: &vertex,
        fetch_program: Some(&fetch),
        constants: &constants,
        memory: &memory,
        semantics: &SEMANTICS,
    };
    let pixel =
        StageProgram { program: &pixel, fetch_program: None, constants: &constants, memory: &none, semantics: &[] };
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
        let stage =
            StageProgram { program, fetch_program: None, constants: &constants, memory: &memory, semantics: &[] };
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
