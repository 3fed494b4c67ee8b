//! R700 programs started by command buffers: every stage, with what it reads and writes reached through commands.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tests")]

mod device_support;

use ctm::commands::{
    BufferPlace, CommandBuffer, CondTest, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot,
    ResourceSet,
};
use ctm::device::{DeviceOptions, plane_bytes, vertex_events};
use ctm::mc::{Format, Surface, TextureShape, TextureSurface, Tiling};
use ctm::memory::{ArenaId, GpuAddr};
use ctm_exec::Domain;
use ctm_exec::r700::formats::Format as FetchFormat;
use ctm_exec::r700::resources::{Filter, MipFilter, Wrap};
use ctm_exec::r700::{Plane, Sampler, Target, VertexEvent};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::text::{Options, assemble};
use device_support::Rig;
use std::path::{Path, PathBuf};

fn rig() -> Rig {
    Rig::new(DeviceOptions::r700(Chip::Rv770))
}

fn row(columns: u32) -> Domain {
    Domain { i0: 0, j0: 0, i1: columns - 1, j1: 0 }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// Stores a program's words.
fn stored(rig: &mut Rig, program: &Program) -> ProgramPlace {
    ProgramPlace::words(rig.bytes(&words(&program.words)), program)
}

fn text(rig: &mut Rig, source: &str) -> ProgramPlace {
    let assembly = assemble(source, &Options::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    stored(rig, &program)
}

fn array(rig: &mut Rig, width: u32, height: u32) -> Surface {
    rig.surface(width, height, Format::Float32x4, Tiling::Linear)
}

/// A buffer that starts a program of a stage over a domain.
fn start(stage: Stage, program: &ProgramPlace, domain: Domain, setup: CommandBuffer) -> CommandBuffer {
    setup.set_stage(stage).set_program(ProgramSlot::Main, program).set_domain(domain).start_program().flush_out_cache()
}

fn bits(rig: &Rig, surface: &Surface, width: u32, height: u32) -> Vec<[u32; 4]> {
    rig.device.read_surface(surface, (0, 0), (width, height)).unwrap()
}

fn dwords(rig: &Rig, at: GpuAddr, count: usize) -> Vec<u32> {
    let bytes = rig.device.read(at, count * 4).unwrap();
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

// ---- pixel programs -------------------------------------------------------------------------------------------

const SIZE: u32 = 64;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

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
    let fast = Rig { device: ctm::Device::open(ctm::EngineKind::Jit.engine().unwrap(), options).unwrap() };
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
        let plane_count = (planes.len() / ctm::device::PLANE_BYTES) as u8;
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
    let pe = CommandBuffer::new().set_cond_loc(ctm::commands::CondLoc::Pe);
    let error = rig.submit(&start(Stage::Pixel, &program, domain, pe)).unwrap_err();
    assert_eq!(error.reason.code(), "unsupported");
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

// ---- vertex programs ------------------------------------------------------------------------------------------

/// LLVM's vertex program out of its object file, by `set_inst_fmt` and by `set_program`, with a fetch subroutine.
#[test]
fn a_vertex_program_from_an_image_transforms() {
    let mut rig = rig();
    let object = std::fs::read(corpus().join("llvm/07_const_vs.o")).unwrap();
    let image = rig.bytes(&object);
    let fetch = text(
        &mut rig,
        "VTX:\n FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\n FETCH R2.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)\nRETURN\n",
    );
    let value = |n: u32| [0, 1, 2, 3].map(|c| (n * 4 + c) as f32 * 0.25 - 3.0);
    let buffers = [0..20, 20..40].map(|range| {
        let base = rig.bytes(&floats(&range.flat_map(value).collect::<Vec<_>>()));
        ConstantsPlace { base, constants: 20 }
    });
    let attribute = |v: u32| [0, 1, 2, 3, 4, 5, 6, 7].map(|c| (v * 8 + c) as f32 * 0.5 - 4.0);
    let vertices = rig.bytes(&floats(&(0..5).flat_map(attribute).collect::<Vec<_>>()));
    let format = FetchFormat::default();
    let whole = ProgramPlace::image(image, object.len() as u32, 0);
    for by_guide in [true, false] {
        let (position, parameter) = (array(&mut rig, 5, 1), array(&mut rig, 5, 1));
        let buffer = CommandBuffer::new()
            .set_program(ProgramSlot::Fetch, &fetch)
            .set_stage(Stage::Vertex)
            .set_const_buffer(0, &buffers[0])
            .set_const_buffer(1, &buffers[1])
            .set_vtx_buffer(0, &BufferPlace { base: vertices, bytes: 160, stride_bytes: 32, format })
            .set_export(Target::Position(0), &position)
            .set_export(Target::Parameter(0), &parameter)
            .set_domain(row(5));
        let buffer = if by_guide { buffer.set_inst_fmt(image) } else { buffer.set_program(ProgramSlot::Main, &whole) };
        rig.submit(&buffer.start_program().flush_out_cache()).unwrap();
        let (positions, parameters) = (rig.floats(&position, 5, 1), rig.floats(&parameter, 5, 1));
        for v in 0..5 {
            let a = attribute(v);
            let dot = |row: [f32; 4]| ((a[3] * row[3] + a[2] * row[2]) + a[1] * row[1]) + a[0] * row[0];
            assert_eq!(positions[v as usize], [0, 1, 2, 17].map(|n| dot(value(n))), "{v}");
            assert_eq!(parameters[v as usize], std::array::from_fn(|c| a[4 + c] * value(25)[c]), "{v}");
        }
    }
}

#[test]
fn vertex_fetches_have_offsets() {
    let mut rig = rig();
    let program = text(
        &mut rig,
        "VTX:\n FETCH R1.x___, R0.x, b0 FORMAT(32 INT)\n FETCH R2.x___, R0.x, b0 FORMAT(32 INT) FETCH_TYPE(INSTANCE_DATA)\n\
         FETCH R3.x___, R0.x, b0 FORMAT(32 INT) FETCH_TYPE(NO_INDEX_OFFSET)\n\
         ALU:\n  0  y: MOV R1.y, R2.x\n     z: MOV R1.z, R3.x\nEXP_DONE: PARAM0, R1.xyz0\nEND_OF_PROGRAM\n",
    );
    let numbers = rig.bytes(&words(&(0..100).collect::<Vec<_>>()));
    let format = FetchFormat::default();
    let out = array(&mut rig, 4, 1);
    let setup = CommandBuffer::new()
        .set_vtx_buffer(0, &BufferPlace { base: numbers, bytes: 400, stride_bytes: 4, format })
        .set_index_offsets(10, 50)
        .set_export(Target::Parameter(0), &out);
    rig.submit(&start(Stage::Vertex, &program, row(4), setup)).unwrap();
    assert_eq!(bits(&rig, &out, 4, 1), [0, 1, 2, 3].map(|n| [n + 10, n + 50, n, 0]));
}

#[test]
fn vertex_programs_write_streams() {
    let mut rig = rig();
    let program = text(
        &mut rig,
        "MEM_STREAM0: WRITE(0), R0.x___ ARRAY_SIZE(4095)\nMEM_STREAM3: WRITE(4), R0.x___ ARRAY_SIZE(4095)\nNOP\nEND_OF_PROGRAM\n",
    );
    let (first, last) = (rig.bytes(&[0xff; 400]), rig.bytes(&[0xff; 800]));
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Stream0, &MemoryPlace { base: first, bytes: 400, item: 1 })
        .set_memory(MemoryKind::Stream3, &MemoryPlace { base: last, bytes: 800, item: 2 });
    rig.submit(&start(Stage::Vertex, &program, row(100), setup)).unwrap();
    assert_eq!(dwords(&rig, first, 100), (0..100).collect::<Vec<_>>());
    let expected: Vec<u32> = (0..100).flat_map(|n| [u32::MAX, n]).collect();
    assert_eq!(dwords(&rig, last, 200), expected);
}

// ---- geometry and copy programs (the whole chain is in r700_chain.rs) --------------------------------------------

#[test]
fn geometry_programs_write_their_ring_and_report_vertices() {
    let mut rig = rig();
    let program =
        text(&mut rig, "MEM_RING: WRITE(4), R0.x___ ARRAY_SIZE(4095)\nEMIT_VERTEX\nCUT_VERTEX\nNOP\nEND_OF_PROGRAM\n");
    let (ring, events) = (rig.bytes(&[0; 66 * 8]), rig.bytes(&[0xff; 4 * 133]));
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Ring, &MemoryPlace { base: ring, bytes: 66 * 8, item: 2 })
        .set_vertex_events(events, 133);
    rig.submit(&start(Stage::Geometry, &program, row(66), setup.clone())).unwrap();
    assert_eq!(dwords(&rig, ring, 132), (0..66).flat_map(|n| [0, n]).collect::<Vec<_>>());
    let found = vertex_events(&dwords(&rig, events, 133));
    assert_eq!(found.len(), 132);
    let of = |i| found.iter().filter(|(at, _)| at.i == i).map(|(_, event)| *event).collect::<Vec<_>>();
    assert!((0..66).all(|i| of(i) == [VertexEvent::Emit, VertexEvent::Cut]));
    let error = rig.submit(&start(Stage::Geometry, &program, row(66), setup.set_vertex_events(events, 100)));
    let error = error.unwrap_err();
    assert_eq!(error.reason.code(), "memory");
    assert!(error.to_string().contains("there is room for 99 events"), "{error}");
    let error = rig.submit(&start(Stage::Vertex, &program, row(1), CommandBuffer::new())).unwrap_err();
    assert_eq!(error.reason.code(), "unsupported");
}

// ---- compute programs -----------------------------------------------------------------------------------------

#[test]
fn compute_threads_know_themselves_and_scatter_and_gather() {
    let mut rig = rig();
    // Element i + 32 * j of the shared memory: reads what lies there, adds 1000, writes it back.
    let program = text(
        &mut rig,
        "ALU:\n  0  x: LSHL_INT R1.x, R0.y, (0x00000005, 0.0f).x\n  1  x: ADD_INT R1.x, R1.x, R0.x\n\
         VTX:\n RD_SCATTER R2.x___, READ(0 + R1.x) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT)\n\
         ALU:\n  2  x: ADD_INT R2.x, R2.x, (0x000003e8, 0.0f).x\n\
         MEM_EXPORT: WRITE_ACK(0 + R1), R2.x___ ARRAY_SIZE(0)\nWAIT_ACK ADDR(0)\nNOP\nEND_OF_PROGRAM\n",
    );
    let before: Vec<u32> = (0..32 * 20).map(|n| n * 7).collect();
    let shared = rig.bytes(&words(&before));
    let place = MemoryPlace { base: shared, bytes: 32 * 20 * 4, item: 0 };
    let setup = CommandBuffer::new().set_memory(MemoryKind::Scatter, &place);
    let domain = Domain { i0: 2, j0: 1, i1: 30, j1: 18 };
    let report = rig.submit(&start(Stage::Compute, &program, domain, setup)).unwrap();
    assert_eq!(report.counters().processors, 29 * 18);
    for (n, found) in dwords(&rig, shared, before.len()).into_iter().enumerate() {
        let (i, j) = (n as u32 % 32, n as u32 / 32);
        let inside = (2..=30).contains(&i) && (1..=18).contains(&j);
        assert_eq!(found, before[n] + if inside { 1000 } else { 0 }, "({i}, {j})");
    }
    // Half of the memory: the first thread beyond it is named.
    let half = CommandBuffer::new().set_memory(MemoryKind::Scatter, &MemoryPlace { bytes: 32 * 10 * 4, ..place });
    let error = rig.submit(&start(Stage::Compute, &program, domain, half)).unwrap_err();
    assert_eq!(error.reason.code(), "memory");
    assert!(error.to_string().contains("for processor ("), "{error}");
}

#[test]
fn thread_groups_share_local_data() {
    let mut rig = rig();
    // Thread t of a group writes its own number, then reads that of thread 127 - t: another wavefront's.
    let program = text(
        &mut rig,
        "ALU:\n x: SUB_INT R1.x, (0x7f, 0.0f), R0.x\n y: MOV R1.y, 0.0f\n\n x: AND_INT R1.x, R1.x, (0x7f, 0.0f)\n\
         TEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\n\
         TEX:\n LOCAL_DS_READ R2.xyzw, R1.xy OFFSET(0)\n\
         EXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n",
    );
    let out = array(&mut rig, 256, 1);
    for (chip, wavefront) in [(Chip::Rv770, 0), (Chip::Rv710, 0), (Chip::Rv730, 64)] {
        let setup = CommandBuffer::new().set_chip(chip, wavefront).set_thread_group(128).set_out_fmt(0, &out);
        rig.submit(&start(Stage::Compute, &program, row(256), setup)).unwrap();
        for (i, found) in (0..).zip(bits(&rig, &out, 256, 1)) {
            assert_eq!(found, [(i & !127) | (127u32.wrapping_sub(i) & 127); 4], "{chip:?} {i}");
        }
    }
}

#[test]
fn reduction_memory_and_global_registers() {
    let mut rig = rig();
    let program = text(&mut rig, "MEM_REDUCTION: WRITE(0), R0.xyzw ARRAY_SIZE(0) ELEM_SIZE(3)\nNOP\nEND_OF_PROGRAM\n");
    let reduction = rig.bytes(&[0; 128 * 16]);
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Reduction, &MemoryPlace { base: reduction, bytes: 128 * 16, item: 1 })
        .set_global_gprs(8);
    rig.submit(&start(Stage::Compute, &program, row(128), setup)).unwrap();
    assert_eq!(rig.device.registers().r700.global_gprs, 8);
    assert_eq!(dwords(&rig, reduction, 512), (0..128).flat_map(|n| [n, 0, 0, 0]).collect::<Vec<_>>());
}

// ---- what goes wrong ------------------------------------------------------------------------------------------

#[test]
fn wrong_commands_stop_their_buffer_only() {
    let mut rig = rig();
    let good = text(&mut rig, "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let out = array(&mut rig, 4, 4);
    let domain = Domain { i0: 0, j0: 0, i1: 3, j1: 3 };
    let nowhere = GpuAddr(0x0800_0000);
    let texture = TextureSurface::two_d(4, 4, FetchFormat::default());
    let reserved = FetchFormat { data: DataFormat::FmtApc0, ..FetchFormat::default() };
    let compressed = FetchFormat { data: DataFormat::FmtBc1, ..FetchFormat::default() };
    let new = CommandBuffer::new;
    let begin = |setup: CommandBuffer| setup.set_domain(domain).start_program();
    // commands, code, part of the message
    let table = [
        (begin(new()), "no-program", "`set_program`"),
        (new().set_chip(Chip::Rv770, 6), "parameter-out-of-range", "`wavefront` is 6, allowed are multiples of 4"),
        (new().set_thread_group(1025), "parameter-out-of-range", "`threads` is 1025, allowed are 0..=1024"),
        (new().set_global_gprs(125), "parameter-out-of-range", "`gprs` is 125, allowed are 0..=124"),
        (new().set_texture(1, &TextureSurface { width: 9000, ..texture }), "parameter-out-of-range", "`width` is 9000"),
        (new().set_texture(1, &TextureSurface { height: 0, ..texture }), "parameter-out-of-range", "`height` is 0"),
        (new().set_texture(1, &TextureSurface { levels: 15, ..texture }), "parameter-out-of-range", "`levels` is 15"),
        (new().set_texture(1, &TextureSurface { format: reserved, ..texture }), "unsupported", "FMT_APC0"),
        (
            new().set_texture(1, &TextureSurface { format: compressed, pitch: 4, ..texture }),
            "parameter-out-of-range",
            "`pitch` is 4, allowed are 0",
        ),
        (new().set_export(Target::Pixel(8), &out), "parameter-out-of-range", "`index` is 8, allowed are 0..=7"),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace { bytes: 12, ..good })),
            "parameter-out-of-range",
            "`bytes` is 12, allowed are multiples of 8",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace { base: nowhere, ..good })),
            "outside-memory",
            "the program: 8 bytes at 0x08000000 lie in no arena",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace::image(good.base, 16, 0))),
            "image-kind",
            "cannot be loaded",
        ),
        (begin(new().set_inst_fmt(good.base)), "image-field", "cannot be loaded"),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_loop_consts(nowhere)),
            "outside-memory",
            "the loop constants",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_semantics(nowhere, 1)),
            "outside-memory",
            "the semantic table",
        ),
        (
            begin(
                new()
                    .set_program(ProgramSlot::Main, &good)
                    .set_memory(MemoryKind::Ring, &MemoryPlace { base: nowhere, bytes: 4, item: 1 }),
            ),
            "outside-memory",
            "ring memory",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good)),
            "memory",
            "output 0: it is not set; `set_out_fmt` or `set_export` says where it lies",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_interpolants(0, 1)),
            "no-params",
            "`set_params` says where",
        ),
    ];
    for (buffer, code, message) in table {
        rig.device.reset();
        let error = rig.submit(&buffer).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(message) && shown.contains("at dword "), "{shown}");
        assert_eq!(error.reason.code(), code, "{shown}");
        // The device goes on.
        rig.device.reset();
        rig.submit(&start(Stage::Pixel, &good, domain, new().set_out_fmt(0, &out))).unwrap();
    }
    let mut x1k = Rig::new(DeviceOptions::default());
    let error = x1k.submit(&new().set_stage(Stage::Vertex)).unwrap_err();
    assert_eq!(error.reason.code(), "wrong-device");
    assert!(error.to_string().starts_with("`set_stage` is a command of R700 devices"), "{error}");
}

#[test]
fn programs_are_read_again_when_commands_say_so() {
    let mut rig = rig();
    let (one, zero) = ("EXP_DONE: PIX0, R0.1111\nEND_OF_PROGRAM\n", "EXP_DONE: PIX0, R0.0000\nEND_OF_PROGRAM\n");
    let (place, other) = (text(&mut rig, one), text(&mut rig, zero));
    let out = array(&mut rig, 1, 1);
    let again = CommandBuffer::new().start_program();
    rig.submit(&start(Stage::Pixel, &place, row(1), CommandBuffer::new().set_out_fmt(0, &out))).unwrap();
    let bytes = rig.device.read(other.base, 16).unwrap().to_vec();
    rig.device.write(place.base, &bytes).unwrap();
    rig.submit(&again).unwrap();
    assert_eq!(rig.floats(&out, 1, 1), [[1.0; 4]]);
    rig.submit(&CommandBuffer::new().inv_inst_cache().append(&again)).unwrap();
    assert_eq!(rig.floats(&out, 1, 1), [[0.0; 4]]);
}

#[test]
fn checked_mode_misses_commands_of_r700_chains_too() {
    let options = DeviceOptions { group: ctm_exec::GroupSize::R700, ..DeviceOptions::checked() };
    let mut rig = Rig::new(DeviceOptions { kind: ctm::device::DeviceKind::R700, ..options });
    let write = text(&mut rig, "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let read = text(
        &mut rig,
        "VTX:\n FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n",
    );
    let (between, out) = (array(&mut rig, 8, 1), array(&mut rig, 8, 1));
    let format = FetchFormat::default();
    let place = BufferPlace { base: between.base, bytes: 128, stride_bytes: 16, format };
    let first = start(Stage::Compute, &write, row(8), CommandBuffer::new().set_out_fmt(0, &between));
    let second = |setup: CommandBuffer| {
        start(Stage::Compute, &read, row(8), setup.set_vtx_buffer(0, &place).set_out_fmt(0, &out))
    };
    let hasty = first.clone().append(&second(CommandBuffer::new()));
    let rules: Vec<_> = rig.submit(&hasty).unwrap().findings.into_iter().map(|f| f.rule).collect();
    assert!(rules.contains(&"missing-wait-for-idle"), "{rules:?}");
    let patient = first.append(&second(CommandBuffer::new().wait_for_idle().inv_inp_cache()));
    assert_eq!(rig.submit(&patient).unwrap().findings, []);
    assert_eq!(bits(&rig, &out, 8, 1)[5], [5, 0, 0, 0]);
}
