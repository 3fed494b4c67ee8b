//! Whole R700 programs: LLVM's, and small ones for memory, the local data share, fetches, stages and faults.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::{Format, convert, size_bytes};
use ctm_exec::r700::resources::{BufferData, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Sampler, Semantic, Space, Target, Texture, VertexEvent};
use ctm_exec::{Budget, Domain, Engine, Fault, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat, SrfMode};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::path::Path;

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

fn llvm(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/llvm").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| line.split('#').next().unwrap());
    Program::from_words(lines.flat_map(str::split_whitespace).map(|w| u32::from_str_radix(w, 16).unwrap()).collect())
}

fn row(columns: u32) -> Domain {
    Domain { i0: 0, j0: 0, i1: columns - 1, j1: 0 }
}

/// R0.x = i as an integer.
const THREAD: Plane = Plane { temp: 0, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0; 4], bits: true };

fn bind(memory: &mut Arrays, target: Target, domain: Domain) {
    memory.targets.insert(target, Picture::filled(domain.width(), domain.height(), [-1.0; 4]));
}

fn floats(memory: &Arrays, target: Target, i: u32) -> [f32; 4] {
    memory.targets[&target].get(i, 0).unwrap().map(f32::from_bits)
}

fn go(program: &Program, stage: Stage, domain: Domain, planes: &[Plane], memory: &mut Arrays) -> Result<(), Fault> {
    let constants = Constants::default();
    let launch = Launch { stage, planes, ..Launch::new(program, &constants, domain) };
    Interp.run_r700(&launch, memory).map(|_| ())
}

// ---- LLVM's programs ------------------------------------------------------------------------------------------

#[test]
fn llvm_loop_counts_like_its_source() {
    let domain = row(40);
    let at = |i: u32| (f64::from(i) * 0.0625 - 1.75, f64::from(i) * 0.03125 - 0.5);
    let plane = Plane { temp: 1, origin: [at(0).0, at(0).1, 0.0, 0.0], di: [0.0625, 0.03125, 0.0, 0.0], ..THREAD };
    let plane = Plane { bits: false, ..plane };
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), domain);
    go(&llvm("04_loop_ps.hex"), Stage::Pixel, domain, &[plane], &mut memory).unwrap();
    for i in 0..40 {
        let (cx, cy) = (at(i).0 as f32, at(i).1 as f32);
        let (mut x, mut y, mut n) = (0f32, 0f32, 0u32);
        while n < 64 {
            let (xx, yy) = (x * x, y * y);
            if xx + yy > 4.0 {
                break;
            }
            let xy = x * y;
            (x, y) = (xx - yy + cx, xy * 2.0 + cy);
            n += 1;
        }
        let [count, .., one] = floats(&memory, Target::Pixel(0), i);
        assert_eq!((count, one), (n as f32 * 0.015625, 1.0), "{i}");
    }
}

#[test]
fn llvm_float_operations() {
    let domain = row(24);
    let ramp = |temp, origin: [f64; 4], di: [f64; 4]| Plane { temp, origin, di, dj: [0.0; 4], bits: false };
    let planes = [
        ramp(1, [-2.5, 0.75, 1.5, -0.25], [0.375, 0.25, 0.0, 0.5]),
        ramp(2, [-3.0, 0.5, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0]),
    ];
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), domain);
    go(&llvm("01_float_ps.hex"), Stage::Pixel, domain, &planes, &mut memory).unwrap();
    for i in 0..24 {
        let [x, y, z, w] = planes[0].at(i.into(), 0).map(f32::from_bits);
        let [p, q, ..] = planes[1].at(i.into(), 0).map(f32::from_bits);
        let s = x * y + z - w;
        let mn = s.abs().min(-p);
        let mx = s.abs().max(q);
        let fl = mx.floor();
        let t0 = mn.ceil() + x.trunc();
        let t1 = y.round_ties_even() + (mx - fl);
        let k = t1 * f32::from_bits(0x4048_f5c3);
        let expected = [t0, k + 0.5, mn, mx];
        assert_eq!(floats(&memory, Target::Pixel(0), i), expected, "{i}");
    }
}

#[test]
fn llvm_transcendental_operations() {
    let domain = row(16);
    let origin = [0.5, 1.25, 0.75, 2.0];
    let plane = Plane { temp: 1, origin, di: [0.25, 0.5, 0.125, 0.75], dj: [0.0; 4], bits: false };
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), domain);
    go(&llvm("05_trans_ps.hex"), Stage::Pixel, domain, &[plane], &mut memory).unwrap();
    for i in 0..16 {
        let [x, y, z, w] = plane.at(i.into(), 0).map(|b| f64::from(f32::from_bits(b)));
        let expected = [
            x.sin() + y.cos() + x.trunc() + y.trunc(),
            z.exp2() + w.log2(),
            1.0 / x.sqrt() + 1.0 / y.sqrt(),
            z.sqrt() + 1.0 / w,
        ];
        for (got, expected) in floats(&memory, Target::Pixel(0), i).into_iter().zip(expected) {
            assert!((f64::from(got) - expected).abs() <= 2e-6 * expected.abs().max(1.0), "{i}: {got} for {expected}");
        }
    }
}

#[test]
fn llvm_vertex_program_transforms() {
    let domain = row(5);
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Position(0), domain);
    bind(&mut memory, Target::Parameter(0), domain);
    let value = |n: u32| [0, 1, 2, 3].map(|c| ((n * 4 + c) as f32 * 0.25 - 3.0).to_bits());
    memory.bind_constants(0, None, (0..20).map(value).collect());
    memory.bind_constants(1, None, (20..40).map(value).collect());
    let program = llvm("07_const_vs.hex");
    // The fetch program reads two attributes of four floats.
    let fetch = text(
        "VTX:\n FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\n FETCH R2.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)\nRETURN\n",
    );
    let attribute = |v: u32| [0, 1, 2, 3, 4, 5, 6, 7].map(|c| (v * 8 + c) as f32 * 0.5 - 4.0);
    let bytes = (0..5).flat_map(attribute).flat_map(f32::to_le_bytes).collect();
    memory.buffers.insert(0, BufferData { stride_bytes: 32, format: Format::default(), bytes });
    let constants = Constants::default();
    let launch = Launch {
        stage: Stage::Vertex,
        planes: &[THREAD],
        fetch_program: Some(&fetch),
        ..Launch::new(&program, &constants, domain)
    };
    Interp.run_r700(&launch, &mut memory).unwrap();
    let m = |n: u32| value(n).map(f32::from_bits);
    for v in 0..5 {
        let a = attribute(v);
        let dot = |row: [f32; 4]| ((a[3] * row[3] + a[2] * row[2]) + a[1] * row[1]) + a[0] * row[0];
        assert_eq!(floats(&memory, Target::Position(0), v), [dot(m(0)), dot(m(1)), dot(m(2)), dot(m(17))]);
        let k = m(25);
        assert_eq!(floats(&memory, Target::Parameter(0), v), std::array::from_fn(|c| a[4 + c] * k[c]));
    }
}

#[test]
fn llvm_invalid_program_is_a_fault() {
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), row(1));
    let fault = go(&llvm("11_indirect_ps.hex"), Stage::Pixel, row(1), &[], &mut memory).unwrap_err();
    assert_eq!(fault.code(), "undecodable-instruction");
}

// ---- memory ---------------------------------------------------------------------------------------------------

#[test]
fn scatter_and_gather() {
    let program = text(
        "ALU:\n x: LSHL_INT R1.x, R0.x, 1\n t: MULLO_INT R2.x, R0.x, R0.x\n\ny: ADD_INT R2.y, R0.x, 1\n\
         MEM_EXPORT: WRITE(0 + R1), R2.xy__ ARRAY_SIZE(0) ELEM_SIZE(1)\n\
         WAIT_ACK ADDR(0)\n\
         VTX:\n RD_SCATTER R3.xy__, READ(0 + R1.x) ARRAY_SIZE(0) ELEM_SIZE(1) FORMAT(32_32 INT)\n\
         EXP_DONE: PIX0, R3.xy01\nEND_OF_PROGRAM\n",
    );
    let mut memory = Arrays::default();
    memory.spaces.insert(Space::Scatter, vec![0; 200]);
    bind(&mut memory, Target::Pixel(0), row(100));
    go(&program, Stage::Compute, row(100), &[THREAD], &mut memory).unwrap();
    for i in 0..100u32 {
        assert_eq!(memory.spaces[&Space::Scatter][2 * i as usize..][..2], [i * i, i + 1]);
        assert_eq!(memory.targets[&Target::Pixel(0)].get(i, 0).unwrap()[..2], [i * i, i + 1]);
    }
    memory.spaces.insert(Space::Scatter, vec![0; 150]);
    let fault = go(&program, Stage::Compute, row(100), &[THREAD], &mut memory).unwrap_err();
    assert_eq!((fault.code(), fault.position.unwrap().i), ("memory", 75));
}

#[test]
fn scratch_is_the_threads_own() {
    let program = text(
        "ALU:\n x: AND_INT R1.x, R0.x, 3\n\nx: ADD_INT R2.x, R0.x, 7\ny: MOV R2.y, R0.x\n\
         MEM_SCRATCH: WRITE(16 + R1), R2.xy__ ARRAY_SIZE(7) ELEM_SIZE(3)\n\
         VTX:\n RD_SCRATCH R3.xyzw, READ(16 + R1.x) ARRAY_SIZE(7) ELEM_SIZE(3) FORMAT(32_32_32_32 INT)\n\
         EXP_DONE: PIX0, R3.xyzw\nEND_OF_PROGRAM\n",
    );
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), row(70));
    go(&program, Stage::Compute, row(70), &[THREAD], &mut memory).unwrap();
    for i in 0..70 {
        assert_eq!(memory.targets[&Target::Pixel(0)].get(i, 0), Some([i + 7, i, 0, 0]));
    }
}

#[test]
fn rings_and_streams_hold_an_item_for_each_thread() {
    let program = text(
        "MEM_RING: WRITE(4), R0.x___ ARRAY_SIZE(4095)\nMEM_STREAM2: WRITE(0), R0.x___ ARRAY_SIZE(4095)\nEMIT_VERTEX\nCUT_VERTEX\nEMIT_CUT_VERTEX\nNOP\nEND_OF_PROGRAM\n",
    );
    let constants = Constants::default();
    let launch = Launch {
        stage: Stage::Geometry,
        planes: &[THREAD],
        ring_item_dwords: 2,
        stream_item_dwords: [0, 0, 3, 0],
        ..Launch::new(&program, &constants, row(66))
    };
    let mut memory = Arrays::default();
    memory.spaces.insert(Space::Ring, vec![99; 132]);
    memory.spaces.insert(Space::Stream(2), vec![99; 198]);
    Interp.run_r700(&launch, &mut memory).unwrap();
    for i in 0..66u32 {
        assert_eq!(memory.spaces[&Space::Ring][2 * i as usize..][..2], [99, i]);
        assert_eq!(memory.spaces[&Space::Stream(2)][3 * i as usize..][..3], [i, 99, 99]);
    }
    assert_eq!(memory.events.len(), 198);
    assert_eq!((memory.events[0].0.i, memory.events[0].1), (0, VertexEvent::Emit));
    assert_eq!((memory.events[64].1, memory.events[128].1), (VertexEvent::Cut, VertexEvent::EmitCut));
}

#[test]
fn threads_of_a_group_exchange_data() {
    // Thread t writes t; then it reads the write of thread 127 - t, in another wavefront of the group.
    let program = text(
        "ALU:\n x: SUB_INT R1.x, (0x7f, 0.0f), R0.x\n y: MOV R1.y, 0.0f\n\n x: AND_INT R1.x, R1.x, (0x7f, 0.0f)\n\
         TEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\n\
         TEX:\n LOCAL_DS_READ R2.xyzw, R1.xy OFFSET(0)\n\
         EXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n",
    );
    let constants = Constants::default();
    let launch = Launch {
        stage: Stage::Compute,
        planes: &[THREAD],
        group_threads: 128,
        ..Launch::new(&program, &constants, row(256))
    };
    let mut memory = Arrays::default();
    bind(&mut memory, Target::Pixel(0), row(256));
    Interp.run_r700(&launch, &mut memory).unwrap();
    for i in 0..256u32 {
        let partner = (i & !127) | (127u32.wrapping_sub(i) & 127);
        assert_eq!(memory.targets[&Target::Pixel(0)].get(i, 0), Some([partner; 4]), "{i}");
    }
}

// ---- fetches --------------------------------------------------------------------------------------------------

#[test]
fn formats() {
    use DataFormat::{
        Fmt2_10_10_10, Fmt5_6_5, Fmt5_9_9_9Sharedexp, Fmt8, Fmt8_8_8_8, Fmt10_11_11Float, Fmt16_16Float, Fmt32,
    };
    let format = |data, numbers, sign| Format { data, numbers, sign, ..Format::default() };
    let (norm, int, scaled) = (NumFormat::Norm, NumFormat::Int, NumFormat::Scaled);
    let (unsigned, signed) = (FormatComp::Unsigned, FormatComp::Signed);
    let f = |x: f32| x.to_bits();
    let cases: &[(Format, &[u8], [u32; 4])] = &[
        (format(Fmt8, norm, unsigned), &[255], [f(1.0), 0, 0, f(1.0)]),
        (format(Fmt8, norm, signed), &[0x80], [f(-1.0), 0, 0, f(1.0)]),
        (format(Fmt8, norm, signed), &[0x81], [f(-1.0), 0, 0, f(1.0)]),
        (format(Fmt8, int, signed), &[0xfe], [-2i32 as u32, 0, 0, 1]),
        (format(Fmt8_8_8_8, int, unsigned), &[1, 2, 3, 254], [1, 2, 3, 254]),
        (format(Fmt8_8_8_8, scaled, signed), &[1, 2, 3, 254], [f(1.0), f(2.0), f(3.0), f(-2.0)]),
        (format(Fmt5_6_5, norm, unsigned), &[0x1f, 0x00], [f(1.0), 0, 0, f(1.0)]),
        (format(Fmt5_6_5, int, unsigned), &[0xe0, 0x0f], [0, 0x3f, 1, 1]),
        (format(Fmt2_10_10_10, int, unsigned), &[0xff, 0x03, 0x00, 0xc0], [0x3ff, 0, 0, 3]),
        (format(Fmt32, scaled, unsigned), &[0, 0, 0, 0x80], [f(2147483648.0), 0, 0, f(1.0)]),
        (format(Fmt16_16Float, norm, unsigned), &[0x00, 0x3c, 0x01, 0x80], [f(1.0), f(-5.960_464_5e-8), 0, f(1.0)]),
        (format(Fmt10_11_11Float, norm, unsigned), &[0xc0, 0x03, 0x1e, 0x78], [f(1.0), f(1.0), f(1.0), f(1.0)]),
        (format(Fmt5_9_9_9Sharedexp, norm, unsigned), &[0x00, 0x01, 0x00, 0x80], [f(1.0), 0, 0, f(1.0)]),
    ];
    for (format, bytes, expected) in cases {
        assert_eq!(size_bytes(format.data).unwrap(), bytes.len(), "{format:?}");
        assert_eq!(convert(format, bytes).unwrap(), *expected, "{format:?} {bytes:x?}");
    }
    let no_zero = Format { srf: SrfMode::NoZero, ..format(Fmt8, norm, signed) };
    assert_eq!(convert(&no_zero, &[0x7f]).unwrap()[0], f(1.0));
    assert_eq!(convert(&no_zero, &[0x00]).unwrap()[0], f(1.0 / 255.0));
    // Every format has a size or a reason.
    for &data in DataFormat::ALL {
        assert!(
            size_bytes(data).map_or_else(|kind| format!("{kind:?}").contains("10.3"), |size| size <= 16),
            "{data:?}"
        );
    }
}

#[test]
fn vertex_fetches() {
    let program = text(
        "VTX:\n FETCH R1.xyzw, R0.x, b7\n SEMANTIC SEM[3].xyzw, R0.x, b7 FORMAT(8_8 INT) OFFSET(2) ENDIAN_SWAP(8IN16)\n\
         EXP: PIX0, R1.xyzw\nEXP_DONE: PIX1, R2.xyzw\nEND_OF_PROGRAM\n",
    );
    let constants = Constants::default();
    let semantics = [Semantic { id: 3, gpr: 2 }];
    let launch = Launch {
        stage: Stage::Vertex,
        planes: &[THREAD],
        semantics: &semantics,
        ..Launch::new(&program, &constants, row(4))
    };
    let mut memory = Arrays::default();
    let format =
        Format { data: DataFormat::Fmt16_16, numbers: NumFormat::Int, sign: FormatComp::Unsigned, ..Format::default() };
    memory.buffers.insert(7, BufferData { stride_bytes: 4, format, bytes: (0..12).collect() });
    bind(&mut memory, Target::Pixel(0), row(4));
    bind(&mut memory, Target::Pixel(1), row(4));
    Interp.run_r700(&launch, &mut memory).unwrap();
    let got = |t: u8, i: u32| memory.targets[&Target::Pixel(t)].get(i, 0).unwrap();
    assert_eq!(got(0, 1), [0x0504, 0x0706, 0, 1]);
    assert_eq!(got(1, 1), [7, 6, 0, 1]);
    // The fourth item lies after the buffer.
    assert_eq!((got(0, 3), got(1, 3)), ([0; 4], [0; 4]));
}

fn image(kind: TextureKind, size: [u32; 3], levels: u32) -> Image {
    let texture = Texture { kind, width: size[0], height: size[1], depth: size[2], levels, ..Default::default() };
    let texels = |level: u32| {
        let [w, h, d] = texture.size(level);
        let texel = |n: u32| {
            let (x, y, z) = (n % w, n / w % h, n / w / h);
            [x as f32, y as f32, z as f32 + 0.5 * (x * y) as f32, level as f32].map(f32::to_bits)
        };
        (0..w * h * d).map(texel).collect()
    };
    Image { texture, levels: (0..levels).map(texels).collect() }
}

/// Samples at (s, t, p, q) with a fetch line; gives the four elements.
fn sample(line: &str, image: Image, sampler: Sampler, at: [f32; 4]) -> [f32; 4] {
    let program = text(&format!("TEX:\n {line}\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"));
    let plane = Plane { temp: 0, origin: at.map(f64::from), di: [0.0; 4], dj: [0.0; 4], bits: false };
    let mut memory = Arrays::default();
    memory.textures.insert(4, image);
    memory.samplers.insert(2, sampler);
    bind(&mut memory, Target::Pixel(0), row(1));
    go(&program, Stage::Pixel, row(1), &[plane], &mut memory).unwrap();
    floats(&memory, Target::Pixel(0), 0)
}

/// A computation of its own in double precision: 2D, linear, by the definition of each wrap.
fn linear_2d(size: [u32; 2], wrap: Wrap, border: f64, s: f64, t: f64) -> f64 {
    let texel = |x: i64, y: i64| {
        let place = |c: i64, n: i64| match wrap {
            Wrap::Clamp => Some(c.max(0).min(n - 1)),
            Wrap::Repeat => Some(((c % n) + n) % n),
            Wrap::Mirror => {
                let c = ((c % (2 * n)) + 2 * n) % (2 * n);
                Some(if c < n { c } else { 2 * n - 1 - c })
            }
            Wrap::Border => (0..n).contains(&c).then_some(c),
        };
        match (place(x, size[0].into()), place(y, size[1].into())) {
            (Some(x), Some(y)) => 0.5 * (x * y) as f64,
            _ => border,
        }
    };
    let (u, v) = (s * f64::from(size[0]) - 0.5, t * f64::from(size[1]) - 0.5);
    let (x, y) = (u.floor(), v.floor());
    let (a, b) = (u - x, v - y);
    let at = |dx: i64, dy: i64| texel(x as i64 + dx, y as i64 + dy);
    (at(0, 0) * (1.0 - a) + at(1, 0) * a) * (1.0 - b) + (at(0, 1) * (1.0 - a) + at(1, 1) * a) * b
}

#[test]
fn linear_filter_and_wraps_agree_with_a_separate_computation() {
    for wrap in [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border] {
        let border = [7f32.to_bits(); 4];
        let sampler = Sampler { magnify: Filter::Linear, wrap: [wrap; 3], border, ..Sampler::default() };
        for step in 0..60 {
            let (s, t) = (step as f32 * 0.07 - 1.9, 2.3 - step as f32 * 0.061);
            let got = sample(
                "SAMPLE R1.xyzw, R0.xyzw, t4, s2",
                image(TextureKind::TwoD, [8, 4, 1], 1),
                sampler,
                [s, t, 0.0, 0.0],
            );
            let expected = linear_2d([8, 4], wrap, 7.0, s.into(), t.into());
            assert!((f64::from(got[2]) - expected).abs() < 1e-4, "{wrap:?} ({s}, {t}): {} for {expected}", got[2]);
        }
    }
}

#[test]
fn lookups_of_every_kind() {
    let nearest = Sampler::default();
    let levels = Sampler { mip: MipFilter::Nearest, ..nearest };
    let trilinear = Sampler { mip: MipFilter::Linear, ..nearest };
    let two = || image(TextureKind::TwoD, [8, 4, 1], 3);
    let rows = || {
        let mut picture = image(TextureKind::TwoD, [8, 4, 1], 1);
        let texels = picture.levels[0].iter_mut().enumerate();
        texels.for_each(|(n, texel)| texel[0] = ((n / 8 * 10 + n % 8) as f32).to_bits());
        picture
    };
    let line = "SAMPLE_L R1.xyzw, R0.xyzw, t4, s2";
    assert_eq!(sample(line, two(), levels, [0.9, 0.9, 0.0, 1.0]), [3.0, 1.0, 1.5, 1.0]);
    assert_eq!(sample(line, two(), levels, [0.9, 0.9, 0.0, 9.0])[3], 2.0);
    assert_eq!(sample(line, two(), trilinear, [0.1, 0.1, 0.0, 0.25])[3], 0.25);
    assert_eq!(sample("SAMPLE_LZ R1.xyzw, R0.xyzw, t4, s2", two(), levels, [0.9, 0.9, 0.0, 2.0])[3], 0.0);
    assert_eq!(
        sample(
            "SAMPLE_LB R1.xyzw, R0.xyzw, t4, s2 LOD(1)",
            two(),
            Sampler { min_lod: -99.0, ..levels },
            [0.9, 0.9, 0.0, 0.0]
        )[3],
        0.0
    );
    let three = image(TextureKind::ThreeD, [4, 4, 4], 1);
    assert_eq!(sample("SAMPLE R1.xyzw, R0.xyzw, t4, s2", three, nearest, [0.3, 0.0, 0.8, 0.0]), [1.0, 0.0, 3.0, 0.0]);
    let array = image(TextureKind::TwoDArray, [4, 4, 3], 1);
    assert_eq!(sample("SAMPLE R1.xyzw, R0.xyzw, t4, s2 DENORM(Z)", array, nearest, [0.3, 0.0, 1.6, 0.0])[2], 2.0);
    let cube = image(TextureKind::Cube, [4, 4, 6], 1);
    assert_eq!(sample("SAMPLE R1.xyzw, R0.xyzw, t4, s2", cube, nearest, [1.3, 1.0, 5.0, 0.0]), [1.0, 0.0, 5.0, 0.0]);
    let less = Sampler { compare: Compare::Less, ..nearest };
    let compare = "SAMPLE_C R1.xyzw, R0.xyzw, t4, s2";
    assert_eq!(sample(compare, two(), less, [0.3, 0.0, 0.0, 1.5])[0], 1.0);
    assert_eq!(sample(compare, two(), less, [0.3, 0.0, 0.0, 2.5])[0], 0.0);
    // A level of detail from gradients that the program sets: one texel of level 1 a pixel.
    let set = "SET_GRADIENTS_H R2.____, R0.zzzz, t4, s2\n SET_GRADIENTS_V R2.____, R0.0000, t4, s2\n SAMPLE_G R1.xyzw, R0.xyzw, t4, s2";
    assert_eq!(sample(set, two(), levels, [0.9, 0.9, 0.25, 0.0])[3], 1.0);
    let offset = "SAMPLE R1.xyzw, R0.xyzw, t4, s2 XOFFSET(2) YOFFSET(-1)";
    assert_eq!(sample(offset, two(), nearest, [0.3, 0.6, 0.0, 0.0])[..2], [4.0, 1.0]);
    let info = sample("GET_TEXTURE_INFO R1.xyzw, R0.0000, t4, s2", two(), nearest, [0.0; 4]);
    assert_eq!(info.map(f32::to_bits), [8, 4, 1, 3]);
    let layers = image(TextureKind::OneDArray, [8, 1, 5], 3);
    let info = sample("GET_TEXTURE_INFO R1.xyzw, R0.0000, t4, s2", layers, nearest, [0.0; 4]);
    assert_eq!(info.map(f32::to_bits), [8, 5, 1, 3]);
    let less = Sampler { compare: Compare::Less, ..nearest };
    // The reference in Z where W holds the level or its bias, in W where Z is a layer.
    for compare in ["SAMPLE_C_L", "SAMPLE_C_LB", "SAMPLE_C_G_L", "SAMPLE_C_G_LB"] {
        let compare = format!("{compare} R1.xyzw, R0.xyzw, t4, s2");
        assert_eq!(sample(&compare, two(), less, [0.3, 0.0, 1.5, 9.0])[0], 1.0, "{compare}");
        assert_eq!(sample(&compare, two(), less, [0.3, 0.0, 2.5, 0.0])[0], 0.0, "{compare}");
        let array = image(TextureKind::TwoDArray, [8, 4, 3], 3);
        assert_eq!(sample(&compare, array, less, [0.3, 0.0, 9.0, 1.5])[0], 1.0, "{compare}");
    }
    // 0.5 in eight bits is 128 / 255, which is more; a NaN is 0 there.
    let eight = |reference: f32| {
        let mut picture = image(TextureKind::TwoD, [1, 1, 1], 1);
        picture.texture.format.data = ctm_isa::r700::ops::DataFormat::Fmt8;
        picture.levels = vec![[(128.0f32 / 255.0).to_bits(), 0, 0, 0]].into();
        let equal = Sampler { compare: Compare::Equal, ..nearest };
        sample("SAMPLE_C R1.xyzw, R0.xyzw, t4, s2", picture, equal, [0.0, 0.0, 0.0, reference])[0]
    };
    assert_eq!([eight(0.5), eight(0.503), eight(0.51), eight(f32::NAN)], [1.0, 1.0, 0.0, 0.0]);
    let four = sample("FETCH4 R1.xyzw, R0.xyzw, t4, s2", two(), nearest, [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(four, [4.0, 3.0, 4.0, 3.0]);
    let four = sample("FETCH4 R1.xyzw, R0.xyzw, t4, s2", rows(), nearest, [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(four, [14.0, 23.0, 24.0, 13.0]);
}

// ---- faults ---------------------------------------------------------------------------------------------------

#[test]
fn wrong_programs_are_faults() {
    let code = |source: &str| {
        let constants = Constants::default();
        let program = text(source);
        let budget = Budget { instructions_per_group: Some(10_000), time: None };
        let launch = Launch { budget, ..Launch::new(&program, &constants, row(1)) };
        Interp.run_r700(&launch, &mut Arrays::default()).unwrap_err().code()
    };
    assert_eq!(code("again:\nJUMP CND(FALSE) ADDR(again)\nNOP\nEND_OF_PROGRAM\n"), "instruction-budget");
    assert_eq!(code("POP POP_CNT(1) ADDR(1)\nNOP\nEND_OF_PROGRAM\n"), "stack-underflow");
    assert_eq!(code("RETURN\nNOP\nEND_OF_PROGRAM\n"), "stack-underflow");
    assert_eq!(code("PUSH ADDR(0)\nRETURN\nNOP\nEND_OF_PROGRAM\n"), "stack-mismatch");
    assert_eq!(code("again:\nPUSH ADDR(0)\nJUMP CND(FALSE) ADDR(again)\nNOP\nEND_OF_PROGRAM\n"), "stack-overflow");
    assert_eq!(code("EMIT_VERTEX\nNOP\nEND_OF_PROGRAM\n"), "unsupported");
    assert_eq!(code("TEX:\n SAMPLE R0.xyzw, R0.xyzw, t9, s0\nNOP\nEND_OF_PROGRAM\n"), "memory");
    assert_eq!(code("MEM_EXPORT: WRITE(0), R0.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n"), "memory");
}

/// Random words never panic, and end.
#[test]
fn random_words() {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let constants = Constants::default();
    for round in 0..3000 {
        let mut words: Vec<u32> = (0..64).map(|_| next()).collect();
        // Often control flow that stays inside: small addresses, known operations.
        for pair in words.as_chunks_mut::<2>().0.iter_mut().take(12) {
            pair[0] = if round % 2 == 0 { pair[0] & 0x1f } else { pair[0] & 0xffc0_001f };
            pair[1] = pair[1] & 0xff9f_e3ff & !(0x3c << 18);
        }
        let program = Program::from_words(words);
        let stage = Stage::ALL[round % Stage::ALL.len()];
        let budget = Budget { instructions_per_group: Some(2000), time: None };
        let launch = Launch { stage, budget, ..Launch::new(&program, &constants, row(3)) };
        let mut memory = Arrays::default();
        memory.spaces.insert(Space::Scatter, vec![0; 64]);
        memory.textures.insert(0, image(TextureKind::TwoD, [4, 4, 1], 1));
        let _ = Interp.run_r700(&launch, &mut memory);
    }
}
