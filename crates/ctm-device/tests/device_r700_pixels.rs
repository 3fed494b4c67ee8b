//! R700 pixel programs started by command buffers: their inputs by number, and the targets of their colours.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{BufferPlace, CommandBuffer, CondTest, ConstantsPlace, ResourceSet};
use ctm_device::device::{DeviceOptions, plane_bytes};
use ctm_device::mc::{Format, Surface, TextureShape, TextureSurface, Tiling};
use ctm_device::memory::ArenaId;
use ctm_exec::Domain;
use ctm_exec::r700::formats::Format as FetchFormat;
use ctm_exec::r700::resources::{Filter, MipFilter, Wrap};
use ctm_exec::r700::{Plane, Sampler, Target};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};
use ctm_isa::r700::program::{Chip, Stage};
use device_support::r700::*;
use device_support::{Rig, special};

const SIZE: u32 = 64;

fn json(path: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(corpus().join(path)).unwrap()).unwrap()
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// The textures of the corpus: its README has the formulas.
fn corpus_textures(rig: &mut Rig) -> CommandBuffer {
    let texture = |rig: &mut Rig, width: u16, height: u16, texel: &dyn Fn(u32, u32) -> [f32; 4]| {
        let texels = (0..u32::from(height)).flat_map(|j| (0..u32::from(width)).flat_map(move |i| texel(i, j)));
        let at = rig.bytes(&floats(&texels.collect::<Vec<_>>()));
        TextureSurface::two_d(width, height, FetchFormat::default()).at(at)
    };
    let first = texture(rig, 16, 16, &|i, j| {
        [
            ((7 * i + 13 * j) & 31) as f32 / 32.0,
            ((i * i + 3 * j) & 63) as f32 / 64.0,
            (i ^ j) as f32 / 16.0,
            ((5 * i + 11 * j) & 15) as f32 / 16.0 - 0.25,
        ]
    });
    let second = texture(rig, 8, 4, &|i, j| {
        let (x, y) = (i as f32, j as f32);
        [((3 * i + 5 * j) & 7) as f32 / 8.0, x * y / 32.0, (x + y) / 16.0, 1.0 - x / 8.0]
    });
    let sampler = |wrap| Sampler { wrap: [wrap; 3], ..Sampler::default() };
    CommandBuffer::new()
        .set_texture(18, &first)
        .set_texture(19, &second)
        .set_sampler(0, &sampler(Wrap::Repeat))
        .set_sampler(1, &sampler(Wrap::Clamp))
}

fn corpus_planes(info: &serde_json::Value) -> Vec<u8> {
    let plane = |input: &serde_json::Value| {
        let temp = input["gpr"].as_u64().unwrap() as u8;
        let (di, dj) = ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]);
        if input["is"].as_str().unwrap().starts_with("window position") {
            Plane { temp, origin: [0.5, 0.5, 0.5, 1.0], di, dj, bits: false }
        } else {
            let s = f64::from(SIZE);
            let half = [0.5 / s, 0.5 / s, 0.0, 0.0];
            Plane { temp, origin: half, di: di.map(|d| d / s), dj: dj.map(|d| d / s), bits: false }
        }
    };
    info["inputs"].as_array().unwrap().iter().flat_map(|input| plane_bytes(&plane(input))).collect()
}

/// Every program of the corpus through a device gives its picture (the pictures were drawn by another implementation), and the fast
/// engine the same bits.
#[test]
fn pixel_programs_of_a_real_compiler_give_their_pictures() {
    let options = DeviceOptions { threads: 2, ..DeviceOptions::r700(Chip::Rv770) };
    let fast =
        Rig { device: ctm_device::Device::open(ctm_device::EngineKind::Jit.engine().unwrap(), options).unwrap() };
    let (reference, fast) = (corpus_pictures(rig()), corpus_pictures(fast));
    assert_eq!(reference.len(), 33);
    for ((name, expected), (_, found)) in reference.iter().zip(&fast) {
        assert!(expected == found, "{name}: the engines differ");
    }
}

/// The pictures of the corpus as bits, compared with those they must be.
fn corpus_pictures(mut rig: Rig) -> Vec<(String, Vec<[u32; 4]>)> {
    let textures = corpus_textures(&mut rig);
    let domain = Domain { i0: 0, j0: 0, i1: SIZE - 1, j1: SIZE - 1 };
    let mut pictures = Vec::new();
    for (name, entry) in json("mesa/index.json").as_object().unwrap() {
        if !entry["isas"].as_array().unwrap().iter().any(|isa| isa == "r700") {
            continue;
        }
        let info = json(&format!("mesa/r700/{name}.json"));
        let source = std::fs::read_to_string(corpus().join(format!("mesa/r700/{name}.hex"))).unwrap();
        let mut program = Program::from_words(source.split_whitespace().map(hex).collect());
        program.gprs = info["gprs"].as_u64().unwrap() as u8;
        let program = stored(&mut rig, &program);

        let mut values: Vec<u32> = Vec::new();
        for constant in info["constants"].as_array().unwrap() {
            let first = constant["index"].as_u64().unwrap() as usize * 4;
            values.resize(values.len().max(first + 4), 0);
            values[first..first + 4].copy_from_slice(&[0, 1, 2, 3].map(|c| hex(constant["hex"][c].as_str().unwrap())));
        }
        let count = values.len() as u32 / 4;
        let constants = rig.bytes(&words(&values));
        let (bytes, format) = (count * 16, FetchFormat::default());
        let planes = corpus_planes(&info);
        let plane_count = (planes.len() / ctm_device::device::PLANE_BYTES) as u8;
        let planes = rig.bytes(&planes);
        let refs = entry["refs"].as_array().unwrap();
        let mut setup = textures
            .clone()
            .set_const_buffer(0, &ConstantsPlace { base: constants, constants: count })
            .set_vtx_buffer(0, &BufferPlace { base: constants, bytes, stride_bytes: 16, format })
            .set_planes(planes, plane_count);
        let targets: Vec<Surface> = refs.iter().map(|_| array(&mut rig, SIZE, SIZE)).collect();
        for (target, surface) in (0..).zip(&targets) {
            rig.fill(surface, SIZE, SIZE, |_, _| [-1.0; 4]);
            setup = setup.set_export(Target::Pixel(target), surface);
        }
        rig.submit(&start(Stage::Pixel, &program, domain, setup)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let tolerance = if name.starts_with("i_") { 0.0 } else { 1e-4 };
        for (surface, reference) in targets.iter().zip(refs) {
            let picture = std::fs::read(corpus().join("mesa").join(reference.as_str().unwrap())).unwrap();
            let expected = picture.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
            let found = rig.floats(surface, SIZE, SIZE).into_iter().flatten();
            let outside = found.zip(expected).filter(|(f, e)| {
                let close = (f - e).abs() <= tolerance * e.abs().max(1.0);
                !close
            });
            assert_eq!(outside.count(), 0, "{name}");
        }
        let all = targets.iter().flat_map(|surface| bits(&rig, surface, SIZE, SIZE)).collect();
        pictures.push((name.clone(), all));
        rig.device.memory_mut().free_all(ArenaId::Gpu);
    }
    pictures
}

#[test]
fn colours_pass_masks_and_the_conditional_unit() {
    let mut rig = rig();
    // Colour (i, j, 0, 0), depth i.
    let program = text(&mut rig, "EXP_DONE: PIX0, R0.xyzw\nEXP_DONE: PIX61, R0.x___\nEND_OF_PROGRAM\n");
    let (out, cond) = (array(&mut rig, 8, 2), rig.surface(8, 2, Format::Float32x1, Tiling::Linear));
    rig.fill(&out, 8, 2, |_, _| [9.0; 4]);
    rig.fill(&cond, 8, 2, |_, _| [3.0; 4]);
    let domain = Domain { i0: 0, j0: 0, i1: 7, j1: 1 };
    let setup = CommandBuffer::new()
        .set_out_fmt(0, &out)
        .set_out_mask(0b0110)
        .set_cond_out_fmt(&cond)
        .set_cond_test(CondTest::GreaterEqual);
    rig.submit(&start(Stage::Pixel, &program, domain, setup)).unwrap();
    for (n, found) in rig.floats(&out, 8, 2).into_iter().enumerate() {
        let (i, j) = (n % 8, n / 8);
        assert_eq!(found, if i >= 3 { [9.0, j as f32, 0.0, 9.0] } else { [9.0; 4] }, "({i}, {j})");
    }
    let left: Vec<f32> = rig.floats(&cond, 8, 1).into_iter().map(|e| e[0]).collect();
    assert_eq!(left, [3.0, 3.0, 3.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let pe = CommandBuffer::new().set_cond_loc(ctm_device::commands::CondLoc::Pe);
    let error = rig.submit(&start(Stage::Pixel, &program, domain, pe)).unwrap_err();
    assert_eq!(error.reason.code(), "unsupported");
}

/// Programs whose threads differ leave the same elements and counts in targets of every kind with both engines.
#[test]
fn both_engines_store_what_divergent_threads_export() {
    // The first kills some; in the second the others look something up, and only some of them export twice.
    let kills = "ALU:\n 0 x: KILLGT ____, R0.x, 30.0f\n y: ADD R1.y, R0.x, R0.y\nALU:\n 1 x: KILLGT ____, R0.y, R0.x\n\
        EXP: PIX0, R0.xy_1\nEXP_DONE: PIX1, R1.yy0y\nEND_OF_PROGRAM\n";
    let fetches = "ALU:\n 0 x: KILLGT ____, R0.y, R0.x\nTEX:\n SAMPLE R2.xyzw, R0.xy__, t0, s0 DENORM(XY)\nALU_PUSH_BEFORE:\n\
        2 x: PRED_SETGT ____, R2.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(on)\n\
        EXP: PIX1, R0.yxyx\nPOP POP_CNT(1)\non:\nEXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n";
    let kinds = [Format::Float32x1, Format::Float32x2, Format::Float32x4, Format::Uint8x4];
    for (n, source) in [kills, fetches].into_iter().enumerate() {
        for (first, second) in [(0, 2), (1, 0), (2, 1), (3, 2)] {
            for mask in [0xf, 0b0101, 0b1110] {
                let run = |engine: Box<dyn ctm_exec::Engine>| {
                    let options = DeviceOptions { threads: 2, ..DeviceOptions::r700(Chip::Rv770) };
                    let mut rig = Rig { device: ctm_device::Device::open(engine, options).unwrap() };
                    let program = text(&mut rig, source);
                    let input = array(&mut rig, 16, 16);
                    rig.fill(&input, 16, 16, |x, y| [((x ^ y) & 1) as f32, x as f32, y as f32, -1.0]);
                    let outputs = [first, second].map(|kind: usize| rig.surface(50, 40, kinds[kind], Tiling::Linear));
                    outputs.iter().for_each(|surface| rig.fill(surface, 50, 40, |_, _| [0.25; 4]));
                    let setup = CommandBuffer::new()
                        .set_inp_fmt(0, &input)
                        .set_out_fmt(0, &outputs[0])
                        .set_out_fmt(1, &outputs[1])
                        .set_out_mask(mask);
                    let domain = Domain { i0: 3, j0: 1, i1: 40, j1: 37 };
                    let report = rig.submit(&start(Stage::Pixel, &program, domain, setup)).unwrap();
                    (outputs.map(|surface| bits(&rig, &surface, 50, 40)), report.counters())
                };
                let expected = run(ctm_device::EngineKind::Interp.engine().unwrap());
                assert!(expected.1.writes > 200);
                assert_eq!(
                    run(ctm_device::EngineKind::Jit.engine().unwrap()),
                    expected,
                    "program {n}, {first}, {second}, {mask:04b}"
                );
            }
        }
    }
}

/// Textures far larger than the launch, of four numbers a texel: rows one after the other, which engines look up where they are, and rows apart.
#[test]
fn both_engines_look_up_the_same_in_textures_of_four_numbers() {
    // Some are killed, so that no launch is a stream.
    let source = "ALU:\n 0 x: KILLGT ____, R0.x, R0.y\nALU:\n 1 x: ADD R1.x, R0.x, R0.x\n y: MULADD R1.y, R0.y, 3.0f, 4.0f\n\
        TEX:\n SAMPLE R2.xyzw, R1.xy__, t0, s0 DENORM(XY)\nEXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n";
    let texels: Vec<u32> = (0..48 * 40).flat_map(|n| special(n % 48, n / 48).map(f32::to_bits)).collect();
    let format = FetchFormat { data: DataFormat::Fmt32_32_32_32Float, ..FetchFormat::default() };
    for (width, pitch) in [(48, 0), (48, 48), (40, 48)] {
        let run = |engine: Box<dyn ctm_exec::Engine>| {
            let mut rig = Rig { device: ctm_device::Device::open(engine, DeviceOptions::r700(Chip::Rv770)).unwrap() };
            let program = text(&mut rig, source);
            let at = rig.bytes(bytemuck::cast_slice(&texels));
            let texture = TextureSurface { pitch, ..TextureSurface::two_d(width, 40, format) }.at(at);
            let out = rig.surface(12, 12, Format::Float32x4, Tiling::Linear);
            rig.fill(&out, 12, 12, |_, _| [0.25; 4]);
            let setup = CommandBuffer::new().set_texture(0, &texture).set_out_fmt(0, &out);
            let domain = Domain { i0: 0, j0: 0, i1: 11, j1: 11 };
            let report = rig.submit(&start(Stage::Pixel, &program, domain, setup)).unwrap();
            (bits(&rig, &out, 12, 12), report.counters())
        };
        let expected = run(ctm_device::EngineKind::Interp.engine().unwrap());
        assert_eq!(run(ctm_device::EngineKind::Jit.engine().unwrap()), expected, "{width} columns, pitch {pitch}");
    }
}

/// Textures and targets of every format and tiling: copies, and sums of neighbours, of special numbers, at places that fit no tile.
#[test]
fn both_engines_store_the_same_in_every_format_and_tiling() {
    let copies = "TEX:\n SAMPLE R1.xyzw, R0.xy__, t0, s0 DENORM(XY)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let sums = "ALU:\n 0 x: ADD R2.x, R0.x, -2.0f\n y: ADD R2.y, R0.y, -1.0f\n\
        TEX:\n SAMPLE R1.xyzw, R0.xy__, t0, s0 DENORM(XY)\n SAMPLE R2.xyzw, R2.xy__, t0, s0 DENORM(XY)\n\
        ALU:\n 1 x: ADD R1.x, R1.x, R2.y\n y: MULADD R1.y, R1.y, R2.x, R2.z\n z: MOV R1.z, R2.w\n w: MAX R1.w, R1.w, R2.w\n\
        EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let domains = [(0, 0, 63, 31), (3, 5, 66, 37), (1, 2, 45, 40), (0, 0, 65, 39)];
    let cases = Format::ALL.iter().flat_map(|&from| Format::ALL.iter().map(move |&to| (from, to)));
    let tilings = [Tiling::Linear, Tiling::Tiled];
    let cases = cases.flat_map(|formats| tilings.into_iter().flat_map(move |a| tilings.map(|b| (formats, [a, b]))));
    // An emulator tries a seventh.
    let step = if ctm_testkit::in_emulator() { 7 } else { 1 };
    for (number, ((from, to), tilings)) in cases.flat_map(|case| [case; 2]).enumerate().step_by(step) {
        let (i0, j0, i1, j1) = domains[number / 3 % 4];
        let run = |engine: Box<dyn ctm_exec::Engine>| {
            let options = DeviceOptions { threads: 2, ..DeviceOptions::r700(Chip::Rv770) };
            let mut rig = Rig { device: ctm_device::Device::open(engine, options).unwrap() };
            let program = text(&mut rig, if number % 2 == 0 { copies } else { sums });
            let (input, out) = (rig.surface(66, 40, from, tilings[0]), rig.surface(68, 43, to, tilings[1]));
            rig.fill(&input, 66, 40, special);
            rig.fill(&out, 68, 43, |x, y| [x as f32 / 68.0, y as f32 / 43.0, 0.25, 1.0]);
            let setup = CommandBuffer::new().set_inp_fmt(0, &input).set_out_fmt(0, &out);
            let report = rig.submit(&start(Stage::Pixel, &program, Domain { i0, j0, i1, j1 }, setup)).unwrap();
            (bits(&rig, &out, 68, 43), report.counters())
        };
        let expected = run(ctm_device::EngineKind::Interp.engine().unwrap());
        for backend in ctm_jit::Backend::available() {
            let found = run(Box::new(ctm_jit::Jit::with_backend(backend)));
            assert!(
                found == expected,
                "{from:?} to {to:?}, {tilings:?}, ({i0}, {j0}), program {}, {backend}",
                number % 2
            );
        }
    }
}

#[test]
fn constants_of_every_kind() {
    let mut rig = rig();
    // C7.x, then a loop of i2 turns that adds its index, then one more if boolean 3.
    let program = text(
        &mut rig,
        "ALU:\n  0  x: MOV R1.x, C7.x\n     y: MOV R1.y, 0.0f\n     z: MOV R1.z, 0.0f\n\
         LOOP_START i2 FAIL_JUMP_ADDR(behind)\nagain:\n\
         ALU:\n  1  x: MOV R2.x, C[AL+0].x\n  2  y: ADD R1.y, R1.y, R2.x\n\
         LOOP_END i2 PASS_JUMP_ADDR(again)\nbehind:\n\
         PUSH CND(BOOL) CF_CONST(3) ADDR(no)\n\
         ALU_POP_AFTER:\n  3  z: MOV R1.z, 1.0f\n\
         no:\nEXP_DONE: PIX0, R1.xyz0\nEND_OF_PROGRAM\n",
    );
    let file = rig.bytes(&floats(&(0..1024).map(|n| (n / 4) as f32 + 100.0).collect::<Vec<_>>()));
    // Three turns from 10 by 5; the same in bytes.
    let mut loops = vec![0; 32];
    loops[2] = 3 | 10 << 12 | 5 << 24;
    let loops = rig.bytes(&words(&loops));
    let bytes = rig.bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 2, 20, 0xfe, 0]);
    let mut booleans = [0u8; 128];
    booleans[12] = 1;
    let booleans = rig.bytes(&booleans);
    let out = array(&mut rig, 1, 1);
    let setup = CommandBuffer::new().set_out_fmt(0, &out).set_constf_fmt(file);
    let mut run = |setup: CommandBuffer| {
        rig.submit(&start(Stage::Pixel, &program, row(1), setup)).unwrap();
        rig.floats(&out, 1, 1)[0]
    };
    let words_of = run(setup.clone().set_loop_consts(loops).set_constb_fmt(booleans));
    assert_eq!(words_of, [107.0, 110.0 + 115.0 + 120.0, 1.0, 0.0]);
    assert_eq!(run(setup.set_consti_fmt(bytes)), [107.0, 120.0 + 118.0, 1.0, 0.0]);
}

// ---- textures -------------------------------------------------------------------------------------------------

/// Fetches (s, t, p, q) of texture 4 with sampler 2.
fn fetch(rig: &mut Rig, line: &str, setup: CommandBuffer, at: [f64; 4]) -> [f32; 4] {
    let program = text(rig, &format!("TEX:\n {line}\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"));
    let plane = Plane { temp: 0, origin: at, di: [0.0; 4], dj: [0.0; 4], bits: false };
    let planes = rig.bytes(&plane_bytes(&plane));
    let out = array(rig, 1, 1);
    rig.submit(&start(Stage::Pixel, &program, row(1), setup.set_out_fmt(0, &out).set_planes(planes, 1))).unwrap();
    rig.floats(&out, 1, 1)[0]
}

#[test]
fn textures_of_every_shape_lie_in_memory_as_documented() {
    let mut rig = rig();
    let shapes = [
        (TextureShape::OneD, [8, 1, 1], [1u16, 1]),
        (TextureShape::TwoD, [8, 4, 1], [4, 1]),
        (TextureShape::ThreeD, [8, 4, 2], [4, 2]),
        (TextureShape::Cube, [4, 4, 6], [4, 1]),
        (TextureShape::OneDArray, [8, 1, 3], [1, 3]),
        (TextureShape::TwoDArray, [8, 4, 3], [4, 3]),
    ];
    for (shape, size, [height, depth]) in shapes {
        let texture = TextureSurface {
            shape,
            width: size[0] as u16,
            height,
            depth,
            levels: 3,
            pitch: 12,
            ..TextureSurface::two_d(1, 1, FetchFormat::default())
        };
        // The layout once more, from its description: level by level, slice by slice, rows of pitch >> n texels.
        let mut memory: Vec<f32> = Vec::new();
        for level in 0..3 {
            let part = |n: u32| (n >> level).max(1);
            let layers = !matches!(shape, TextureShape::ThreeD);
            let [w, h, d] = [part(size[0]), part(size[1]), if layers { size[2] } else { part(size[2]) }];
            for z in 0..d {
                for y in 0..h {
                    for x in 0..(12 >> level).max(w) {
                        let texel = [x, y, z, level].map(|n| n as f32);
                        memory.extend(if x < w { texel } else { [-7.0; 4] });
                    }
                }
            }
        }
        assert_eq!(texture.bytes(), memory.len() as u64 * 4, "{shape:?}");
        let texture = texture.at(rig.bytes(&floats(&memory)));
        let sampler = Sampler { mip: MipFilter::Nearest, ..Sampler::default() };
        for level in 0..3u32 {
            let part = |n: u32| (n >> level).max(1);
            let (w, h) = (part(size[0]), part(size[1]));
            let (x, y) = (w - 1, h - 1);
            let z = match shape {
                TextureShape::ThreeD => part(size[2]) - 1,
                TextureShape::OneD | TextureShape::TwoD => 0,
                _ => size[2] - 1,
            };
            let (s, t) = ((f64::from(x) + 0.5) / f64::from(w), (f64::from(y) + 0.5) / f64::from(h));
            let (line, at) = match shape {
                TextureShape::OneDArray | TextureShape::TwoDArray => {
                    ("SAMPLE_L R1.xyzw, R0.xyzw, t4, s2 DENORM(Z)", [s, t, f64::from(z)])
                }
                TextureShape::Cube => ("SAMPLE_L R1.xyzw, R0.xyzw, t4, s2", [1.0 + s, 1.0 + t, f64::from(z)]),
                _ => {
                    let p = (f64::from(z) + 0.5) / f64::from(part(size[2]));
                    ("SAMPLE_L R1.xyzw, R0.xyzw, t4, s2", [s, t, p])
                }
            };
            let setup = CommandBuffer::new().set_texture(4, &texture).set_sampler(2, &sampler);
            let found = fetch(&mut rig, line, setup, [at[0], at[1], at[2], f64::from(level)]);
            assert_eq!(found, [x, y, z, level].map(|n| n as f32), "{shape:?} level {level}");
        }
    }
}

#[test]
fn inputs_of_the_guide_are_textures_too() {
    let mut rig = rig();
    for tiling in [Tiling::Linear, Tiling::Tiled] {
        let surface = rig.surface(70, 20, Format::Float32x2, tiling);
        rig.fill(&surface, 70, 20, |x, y| [x as f32, y as f32, 0.0, 0.0]);
        let linear = ctm_exec::x1k::Sampler { filter: Filter::Linear, ..Default::default() };
        let nearest = CommandBuffer::new().set_inp_fmt(4, &surface);
        let line = "SAMPLE R1.xyzw, R0.xyzw, t4, s4 DENORM(XY)";
        assert_eq!(fetch(&mut rig, line, nearest.clone(), [69.5, 13.5, 0.0, 0.0]), [69.0, 13.0, 0.0, 1.0]);
        let found = fetch(&mut rig, line, nearest.set_inp_sampler(4, &linear, 0), [10.75, 13.5, 0.0, 0.0]);
        assert_eq!(found, [10.25, 13.0, 0.0, 1.0]);
    }
    // Bytes in the manual's format: signed integers.
    let format = FetchFormat {
        data: DataFormat::Fmt8_8_8_8,
        numbers: NumFormat::Scaled,
        sign: FormatComp::Signed,
        ..FetchFormat::default()
    };
    let at = rig.bytes(&[0, 0, 0, 0, 1, 0xfe, 127, 0x80]);
    let texture = TextureSurface::two_d(2, 1, format).at(at);
    let setup = CommandBuffer::new().set_texture(4, &texture);
    let found = fetch(&mut rig, "SAMPLE R1.xyzw, R0.xyzw, t4, s9", setup, [0.9, 0.5, 0.0, 0.0]);
    assert_eq!(found, [1.0, -2.0, 127.0, -128.0]);
}

#[test]
fn textures_whose_texels_share_bytes_and_arrays_of_cubes() {
    let mut rig = rig();
    let line = "SAMPLE R1.xyzw, R0.xyzw, t4, s2 DENORM(XY)";
    let format = |data| FetchFormat { data, ..FetchFormat::default() };
    // BC1: two blocks side by side. The first is red (5:6:5) throughout, the second blue with index 1, its second colour.
    let blocks = [0x00, 0xf8, 0x1f, 0x00, 0, 0, 0, 0, 0x00, 0xf8, 0x1f, 0x00, 0x55, 0x55, 0x55, 0x55];
    let at = rig.bytes(&blocks);
    let texture = TextureSurface::two_d(8, 4, format(DataFormat::FmtBc1)).at(at);
    assert_eq!(texture.bytes(), 16);
    let setup = CommandBuffer::new().set_texture(4, &texture);
    assert_eq!(fetch(&mut rig, line, setup.clone(), [3.5, 3.5, 0.0, 0.0]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(fetch(&mut rig, line, setup, [4.5, 0.5, 0.0, 0.0]), [0.0, 0.0, 1.0, 1.0]);
    // sRGB: 188 of 255 is nearly one half.
    let at = rig.bytes(&[188, 0, 255, 51]);
    let texture = TextureSurface { gamma: true, ..TextureSurface::two_d(1, 1, format(DataFormat::Fmt8_8_8_8)) };
    let setup = CommandBuffer::new().set_texture(4, &texture.at(at));
    let found = fetch(&mut rig, line, setup, [0.5, 0.5, 0.0, 0.0]);
    assert!((found[0] - 0.5).abs() < 0.005, "{found:?}");
    assert_eq!(found[1..], [0.0, 1.0, 0.2]);
    // Two cubes of one texel a face: the texel says which face of which cube it is.
    let texels: Vec<f32> = (0..12).flat_map(|n| [n as f32, 0.0, 0.0, 1.0]).collect();
    let shape = TextureShape::CubeArray;
    let texture = TextureSurface { shape, depth: 12, ..TextureSurface::two_d(1, 1, FetchFormat::default()) };
    let setup = CommandBuffer::new().set_texture(4, &texture.at(rig.bytes(&floats(&texels))));
    let line = "SET_CUBEMAP_INDEX R1.____, R0.wwww, t4, s2\n SAMPLE R1.xyzw, R0.xyzw, t4, s2";
    assert_eq!(fetch(&mut rig, line, setup, [1.5, 1.5, 4.0, 1.0])[0], 10.0);
}

#[test]
fn resources_of_another_program_type() {
    let mut rig = rig();
    let program = text(
        &mut rig,
        "ALU: KCACHE0(CB2:0-15) ALT_CONST\n  0  x: MOV R1.x, KC0[1].x\n\
         ALU: KCACHE0(CB2:0-15)\n  1  y: MOV R1.y, KC0[1].x\n\
         VTX:\n FETCH R2.x___, R0.x, b3 FORMAT(32_FLOAT) ALT_CONST\n\
         TEX:\n SAMPLE R3.x___, R0.xyzw, t4, s2 ALT_CONST\n\
         ALU:\n  2  z: MOV R1.z, R2.x\n     w: MOV R1.w, R3.x\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n",
    );
    let constants = [10.0f32, 20.0].map(|n| rig.bytes(&floats(&[0.0, 0.0, 0.0, 0.0, n, 0.0, 0.0, 0.0])));
    let (number, texel) = (rig.bytes(&floats(&[30.0])), rig.bytes(&floats(&[40.0, 0.0, 0.0, 0.0])));
    let of = |base| ConstantsPlace { base, constants: 2 };
    let out = array(&mut rig, 1, 1);
    let format = FetchFormat::default();
    let setup = CommandBuffer::new()
        .set_const_buffer(2, &of(constants[0]))
        .select_resources(ResourceSet::Alternate)
        .set_const_buffer(2, &of(constants[1]))
        .set_vtx_buffer(3, &BufferPlace { base: number, bytes: 4, stride_bytes: 4, format })
        .set_texture(4, &TextureSurface::two_d(1, 1, format).at(texel))
        .select_resources(ResourceSet::Own)
        .set_out_fmt(0, &out);
    rig.submit(&start(Stage::Pixel, &program, row(1), setup)).unwrap();
    assert_eq!(rig.floats(&out, 1, 1), [[20.0, 10.0, 30.0, 40.0]]);
}
