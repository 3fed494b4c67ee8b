//! Comparisons of texels with reference values, and gradients that are set: every comparison, wrap mode and filter, at
//! critical values.

use super::*;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{AS_THEY_ARE, Levels, NumberTexels, texel_of_bytes};
use ctm_isa::r700::ops::{DataFormat, Sel};
use std::sync::atomic::{AtomicU64, Ordering};

/// Texels and reference values that meet: zeros, denormals, ends of the range, NaNs.
const VALUES: [u32; 12] = [
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x3f00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_1234,
];

/// The selectors of a comparison's result.
const SELECTS: [Sel; 6] = [Sel::X, Sel::Y, Sel::Z, Sel::W, Sel::Zero, Sel::One];

/// Lookups that compare.
const COMPARISONS_OF: [&str; 5] = ["SAMPLE_C", "SAMPLE_C_LZ", "SAMPLE_C_L", "SAMPLE_C_LB", "SAMPLE_C_G"];

/// Texture 1, eight by four, gives each processor its coordinates and its reference value; R0 walks through it.
fn case(r: &mut Random) -> Case {
    let mut case = Case::new(u64::from(r.below(1 << 20)) | 1, Stage::Pixel);
    case.planes = vec![Plane {
        temp: 0,
        origin: [0.0625, 0.125, 0.0, 0.0],
        di: [0.125, 0.0, 1.0, 0.0],
        dj: [0.0, 0.25, 0.0, 1.0],
        bits: false,
    }];
    case.domain = Domain { i0: 0, j0: 0, i1: 15, j1: 7 };
    case.wavefront = GroupSize::new(r.of(&[64, 64, 32, 16])).unwrap();
    case.budget = Budget::default();
    let coordinates = [0.0f32, 0.1, 0.24, 0.26, 0.5, 0.76, 0.99, 1.0, -0.3, 3.7, -1e9, 3e6, f32::INFINITY, f32::NAN];
    let mut texture = |width: u32, height: u32, places: usize| {
        let texture = Texture { kind: TextureKind::TwoD, width, height, depth: 1, levels: 1, ..Default::default() };
        let texel = |r: &mut Random| -> [u32; 4] {
            std::array::from_fn(|e| if e < places { r.of(&coordinates).to_bits() } else { r.of(&VALUES) })
        };
        Image { texture, levels: (0..width * height).map(|_| texel(r)).collect::<Vec<_>>().into() }
    };
    let (places, size) = (texture(8, 4, 2), [1 + (case.domain.i1 % 5), 3]);
    let compared = texture(size[0] + 1, size[1], 0);
    case.memory.textures.insert(1, places);
    case.memory.textures.insert(0, compared);
    let repeats = Sampler { wrap: [Wrap::Repeat; 3], ..Sampler::default() };
    case.memory.samplers.insert(1, repeats);
    case
}

/// Compares engines with the reference interpreter; returns whether the latter ended without a fault.
fn check(case: &Case, program: &Program, engines: &[Jit], what: &dyn Fn() -> String) -> bool {
    let expected = case.run(program, &Interp, 1);
    for jit in engines {
        let difference = difference(case, program, &expected, jit);
        assert!(difference.is_none(), "{}, {}: {difference:?}", jit.backend(), what());
    }
    expected.0.is_ok()
}

#[test]
fn comparisons() {
    let engines = engines();
    let r = &mut Random::new(24);
    let mut ran = 0;
    let programs = COMPARISONS_OF.map(|op| {
        // Half of the processors alone, then all; coordinates in texels and offsets, too.
        let modifiers = if op == "SAMPLE_C" { [" UNNORM(XYZW)", " XOFFSET(0.5) YOFFSET(-1.5)"] } else { ["", ""] };
        text(&format!(
            "TEX:\n SAMPLE R1.xyzw, R0.xyzw, t1, s1\nALU_PUSH_BEFORE:\n 0 x: PRED_SETGT ____, R0.z, 6.0f UPDATE_EXEC_MASK UPDATE_PRED\n\
             JUMP POP_CNT(1) ADDR(end)\nTEX:\n {op} R2.xyzw, R1.xyzw, t0, s0{}\nPOP POP_CNT(1)\nend:\n\
             TEX:\n {op} R1.wxyz, R1.xyzw, t0, s0{}\nEXP: PIX0, R1.xyzw\nEXP_DONE: PIX1, R2.xyzw\nEND_OF_PROGRAM\n",
            modifiers[0], modifiers[1]
        ))
    });
    for compare in Compare::ALL {
        for filter in [Filter::Nearest, Filter::Linear] {
            for wrap in [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border] {
                let mut case = case(r);
                let border = [0.25f32.to_bits(); 4];
                let sampler =
                    Sampler { magnify: filter, minify: filter, wrap: [wrap; 3], border, compare, ..Sampler::default() };
                case.memory.samplers.insert(0, sampler);
                if wrap == Wrap::Mirror
                    && let Some(image) = case.memory.textures.get_mut(&0)
                {
                    // As luminance, intensity and alpha.
                    let all =
                        [[Sel::X, Sel::X, Sel::X, Sel::One], [Sel::X; 4], [Sel::Zero, Sel::Zero, Sel::Zero, Sel::X]];
                    image.texture.compared = r.of(&all);
                }
                for (op, program) in COMPARISONS_OF.iter().zip(&programs) {
                    let what = || format!("{op}, {compare:?}, {filter:?}, {wrap:?}");
                    ran += u32::from(check(&case, program, &engines, &what));
                }
            }
        }
    }
    assert_eq!(ran, 8 * 2 * 4 * 5);
}

/// Gradients set by some processors, kept by others, changed again; lookups that choose among levels by them.
#[test]
fn gradients_that_are_set() {
    let engines = engines();
    let r = &mut Random::new(11);
    let set = |op: &str| format!("SET_GRADIENTS_{op}");
    let program = text(&format!(
        "TEX:\n SAMPLE R1.xyzw, R0.xyzw, t1, s1\n SAMPLE R2.xyzw, R0.yxzw, t1, s1\n {h} R4.xyz1, R1.zwyx, t0, s0\n\
         ALU_PUSH_BEFORE:\n 0 x: PRED_SETGT ____, R0.z, 6.0f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(end)\n\
         TEX:\n {v} R4.____, R2.xy10, t0, s0\n SAMPLE_G R5.xyzw, R0.xyzw, t0, s0\n {h} R6.w___, R1.xzy0, t0, s0\nPOP POP_CNT(1)\nend:\n\
         TEX:\n SAMPLE_G R3.xyzw, R0.xyzw, t0, s0\n KEEP_GRADIENTS R7.xyzw, R0.xyzw, t0, s0\n SAMPLE_C_G_LB R8.xyzw, R0.xyzw, t0, s0\n \
         {v} R9.____, R1.wwww, t0, s0\n SAMPLE_G_LB R9.xyzw, R0.xyzw, t0, s0\n\
         EXP: PIX0, R3.xyzw\nEXP: PIX1, R4.xyzw\nEXP: PIX2, R5.xyzw\nEXP: PIX3, R6.xyzw\nEXP: PIX4, R7.xyzw\nEXP: PIX5, R8.xyzw\n\
         EXP_DONE: PIX6, R9.xyzw\nEND_OF_PROGRAM\n",
        h = set("H"),
        v = set("V"),
    ));
    let mut ran = 0;
    for mip in [MipFilter::Nearest, MipFilter::Linear, MipFilter::None] {
        for _ in 0..8 {
            let mut case = case(r);
            let texture =
                Texture { kind: TextureKind::TwoD, width: 8, height: 8, depth: 1, levels: 4, ..Default::default() };
            let levels = (0..4).map(|level| {
                let texels = texture.size(level).iter().product::<u32>();
                (0..texels).map(|n| [level as f32, n as f32, r.below(9) as f32, 0.5].map(f32::to_bits)).collect()
            });
            case.memory.textures.insert(0, Image { texture, levels: levels.collect() });
            case.memory.samplers.insert(0, Sampler { mip, compare: Compare::Less, ..Sampler::default() });
            let source = &mut case.memory.textures.get_mut(&1).unwrap().levels[0];
            let steps = [0.0f32, 0.01, 0.125, 0.25, 0.5, 1.0, 1e-40, -0.7];
            source.iter_mut().for_each(|texel| *texel = std::array::from_fn(|_| r.of(&steps).to_bits()));
            ran += u32::from(check(&case, &program, &engines, &|| format!("{mip:?}")));
        }
    }
    assert_eq!(ran, 24);
}

pub(super) const KINDS: [TextureKind; 7] = [
    TextureKind::OneD,
    TextureKind::OneDArray,
    TextureKind::TwoD,
    TextureKind::TwoDArray,
    TextureKind::ThreeD,
    TextureKind::Cube,
    TextureKind::CubeArray,
];

/// Lookups at levels that gradients, instructions and samplers choose, with their names.
pub(super) fn programs_of_levels() -> Vec<(String, Program)> {
    let ops = [
        "SAMPLE",
        "SAMPLE_L",
        "SAMPLE_LB",
        "SAMPLE_LZ",
        "SAMPLE_G",
        "SAMPLE_G_LB",
        "SAMPLE_C",
        "SAMPLE_C_L",
        "SAMPLE_C_LB",
        "SAMPLE_C_LZ",
        "SAMPLE_C_G",
        "FETCH4",
        "GET_COMP_TEX_LOD",
        "LD",
        "GET_TEXTURE_RESINFO",
    ];
    let modifiers = ["", " XOFFSET(0.5) YOFFSET(-1.5) ZOFFSET(1.0)", " LOD_BIAS(8)", " UNNORM(XYZ)"];
    ops.iter()
        .flat_map(|op| modifiers.map(|modifier| (op, modifier)))
        .map(|(op, modifier)| {
            // Half of the processors alone, then all. The third coordinate is a layer or face, or names a cube; the fourth is a level.
            let again = if is_whole(op) { "R1" } else { "R3" };
            let source = format!(
                "TEX:\n SAMPLE R1.xyzw, R0.xyzw, t1, s1\nALU:\n 0 x: MUL R3.x, R0.x, R0.y\n y: MULADD R3.y, R0.y, 1.7f, R0.x\n\
                 z: MOV R3.z, R1.z\n w: MOV R3.w, R1.w\n\
                 TEX:\n SET_GRADIENTS_H R4.____, R3.xyzw, t0, s0\n SET_GRADIENTS_V R4.____, R1.yxzw, t0, s0\n\
                 ALU_PUSH_BEFORE:\n 1 x: PRED_SETGT ____, R0.z, 6.0f UPDATE_EXEC_MASK UPDATE_PRED\n\
                 JUMP POP_CNT(1) ADDR(end)\nTEX:\n SET_CUBEMAP_INDEX R4.____, R1.xyyw, t0, s0\n \
                 {op} R2.xyzw, {again}.xyzw, t0, s0{modifier}\nPOP POP_CNT(1)\nend:\n\
                 TEX:\n {op} R1.wxyz, R1.xyzw, t0, s0{modifier}\nEXP: PIX0, R1.xyzw\nEXP_DONE: PIX1, R2.xyzw\nEND_OF_PROGRAM\n"
            );
            (format!("{op}{modifier}"), text(&source))
        })
        .collect()
}

/// A sampler of any kind; numbers that follow one another have all filters.
pub(super) fn sampler(r: &mut Random, number: u64) -> Sampler {
    let filters = [Filter::Nearest, Filter::Linear];
    let mips = [MipFilter::None, MipFilter::Nearest, MipFilter::Linear];
    let [magnify, minify] = [7, 14].map(|part| filters[number as usize / part % 2]);
    let wrap = r.of(&[Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Clamp, Wrap::Border]);
    Sampler {
        magnify,
        minify,
        mip: mips[number as usize / 28 % 3],
        wrap: [wrap, r.of(&[wrap, Wrap::Repeat]), wrap],
        border: [0.25f32.to_bits(); 4],
        min_lod: r.of(&[0.0, 0.0, 0.3, 1.5]),
        max_lod: r.of(&[15.0, 15.0, 1.0, 2.25]),
        lod_bias: r.of(&[0.0, 0.5, -0.75, 2.0]),
        compare: r.of(&Compare::ALL),
        seamless: r.one_in(2),
        mirrors_once: std::array::from_fn(|_| r.one_in(12)),
        half_border: std::array::from_fn(|_| r.one_in(12)),
        max_anisotropy: r.of(&[1, 1, 1, 2, 3, 8, 16]),
    }
}

/// Textures of every kind with every filter.
#[test]
fn levels_layers_and_faces() {
    let programs = programs_of_levels();
    let ran = AtomicU64::new(0);
    let tries = seeds(7 * 12 * 12);
    let count = tries.end - tries.start;
    on_all_cores(tries, engines, |engines, seed, differences| {
        ran.fetch_add(u64::from(levels(engines, &programs, seed, differences)), Ordering::Relaxed);
    });
    assert_eq!(ran.into_inner(), count);
}

/// Levels of two-dimensional textures whose sizes are powers of two or not, with every filter and every wrap but borders; quads with one level, and with several.
#[test]
fn levels_of_two_dimensional_textures() {
    let (engines, r) = (engines(), &mut Random::new(45));
    let ops = ["SAMPLE", "SAMPLE_L", "SAMPLE_LB", "SAMPLE_G", "SAMPLE XOFFSET(0.5) YOFFSET(-1.5) ZOFFSET(1.0)"];
    let mut programs = programs_of_levels();
    programs.retain(|(name, _)| ops.contains(&name.as_str()));
    assert_eq!(programs.len(), ops.len());
    let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror];
    let (mut ran, mut of_bytes) = (0, 0);
    for number in 0..3 * 4 * 9 * 2 {
        let mut case = case(r);
        let pick = |part: usize, count: usize| number / part % count;
        let filters = [Filter::Nearest, Filter::Linear];
        let sampler = Sampler {
            mip: [MipFilter::Nearest, MipFilter::Linear, MipFilter::None][pick(1, 3)],
            magnify: filters[pick(3, 2)],
            minify: filters[pick(6, 2)],
            wrap: [wraps[pick(12, 3)], wraps[pick(36, 3)], Wrap::Clamp],
            max_anisotropy: r.of(&[1, 1, 1, 4]),
            lod_bias: r.of(&[0.0, 0.5, -0.75]),
            ..Sampler::default()
        };
        let [width, height] = if pick(108, 2) == 0 { [16, 8] } else { [12, 10] };
        let texture = Texture { kind: TextureKind::TwoD, width, height, depth: 1, levels: 4, ..Default::default() };
        let levels = (0..4).map(|level| {
            let texels = texture.size(level).iter().product::<u32>();
            (0..texels).map(|_| std::array::from_fn(|_| (r.below(256) as f32 / 255.0).to_bits())).collect()
        });
        let image = Image { levels: levels.collect(), texture };
        if r.one_in(2) {
            case.memory.byte_texels.extend(bytes_of(&image).map(|bytes| (0, bytes)));
            of_bytes += case.memory.byte_texels.len();
        }
        case.memory.textures.insert(0, image);
        case.memory.samplers.insert(0, sampler);
        if number % 2 == 0 {
            // Coordinates of a picture: quads have one level.
            let source = case.memory.textures.get_mut(&1).unwrap();
            let places = (0..32u32).map(|n| [(n % 8) as f32 / 7.0, (n / 8) as f32 / 3.0, 0.0, 1.0].map(f32::to_bits));
            source.levels[0].iter_mut().zip(places).for_each(|(texel, place)| *texel = place);
            case.memory.samplers.get_mut(&1).unwrap().magnify = Filter::Linear;
            case.memory.samplers.get_mut(&1).unwrap().minify = Filter::Linear;
            case.planes[0].di[0] = 0.02;
            case.planes[0].dj[1] = 0.03;
        }
        let (name, program) = &programs[number % programs.len()];
        ran += u32::from(check(&case, program, &engines, &|| format!("{name}, {width} x {height}, {sampler:?}")));
    }
    assert_eq!(ran, 216);
    assert!(of_bytes > 80, "{of_bytes} textures of bytes");
}

/// Compares one of the programs with textures and samplers of this number; returns whether the reference interpreter
/// ended without a fault.
pub(super) fn levels(engines: &[Jit], programs: &[(String, Program)], seed: u64, differences: &Differences) -> bool {
    let r = &mut Random::new(seed ^ 0x1e_5e15);
    let mut case = case(r);
    let kind = KINDS[seed as usize % 7];
    let sampler = sampler(r, seed);
    case.memory.samplers.insert(0, sampler);
    let mut image = image(r, kind);
    if r.one_in(4) {
        // Elements that are one number, or the same in all texels: a denormal is the 1 of integers.
        let constants = std::array::from_fn(|_| r.one_in(2).then(|| r.of(&[0, 1, 1f32.to_bits()])));
        let first = |level: &[[u32; 4]]| level.iter().map(|texel| texel[0]).collect::<Vec<_>>();
        let numbers = image.levels.iter().map(first).collect();
        let texels = image.levels.texels_mut();
        texels.iter_mut().for_each(|texel| *texel = NumberTexels::texel(constants, texel[0]));
        case.memory.number_texels.insert(0, (numbers, constants));
    } else if r.one_in(2) {
        case.memory.byte_texels.extend(bytes_of(&image).map(|bytes| (0, bytes)));
    }
    case.memory.textures.insert(0, image);
    if r.one_in(3) {
        // Coordinates that vary slowly, as those of pictures do.
        case.planes[0].di = [0.03, 0.001, 1.0, 0.0];
        case.planes[0].dj = [0.002, 0.02, 0.0, 1.0];
    }
    let mut number = r.below(programs.len() as u32) as usize;
    while programs[number].0.starts_with("LD") && matches!(kind, TextureKind::Cube | TextureKind::CubeArray) {
        number = r.below(programs.len() as u32) as usize;
    }
    let (name, program) = &programs[number];
    if matches!(kind, TextureKind::Cube | TextureKind::CubeArray) && !r.one_in(3) {
        // Places near edges and corners of all faces.
        let along = [1.0f32, 1.01, 1.02, 1.1, 1.37, 1.5, 1.8, 1.93, 1.99, 2.0, 0.97, 2.04];
        let source = case.memory.textures.get_mut(&1).unwrap();
        source.levels[0].iter_mut().for_each(|texel| {
            *texel = [r.of(&along), r.of(&along), r.below(6) as f32, r.below(5) as f32 / 2.0].map(f32::to_bits);
        });
        (case.planes[0].origin[0], case.planes[0].origin[1]) = (1.02, 1.06);
    }
    if name.starts_with("SAMPLE_C") && r.one_in(2) {
        // The program only compares texels of this texture.
        let first = |level: &[[u32; 4]]| level.iter().map(|texel| texel[0]).collect::<Vec<_>>();
        let firsts = case.memory.textures[&0].levels.iter().map(first).collect();
        case.memory.byte_texels.remove(&0);
        case.memory.number_texels.insert(0, (firsts, [None; 4]));
    }
    if is_whole(name) {
        // Columns, rows, slices and levels, some of which do not exist.
        let whole =
            |r: &mut Random| std::array::from_fn(|e| (r.below(if e == 3 { 6 } else { 14 }) as i32 - 1).cast_unsigned());
        let source = case.memory.textures.get_mut(&1).unwrap();
        source.levels[0].iter_mut().for_each(|texel| *texel = whole(r));
    }
    let expected = case.run(program, &Interp, 1);
    for jit in engines {
        if let Some(text) = difference(&case, program, &expected, jit) {
            let what = format!("{name}, {kind:?}, {sampler:?}");
            differences.add(seed, format!("{}: {what}: {text}", jit.backend()));
        }
    }
    expected.0.is_ok()
}

/// The sizes of levels that the program names, of which some do not exist: by all processors and by half of them.
#[test]
fn sizes_of_levels_that_are_known() {
    let engines = engines();
    let r = &mut Random::new(31);
    let mut ran = 0;
    for (kind, level) in KINDS.into_iter().flat_map(|kind| [0, 1, 3, 7, u32::MAX].map(|level| (kind, level))) {
        let program = text(&format!(
            "ALU_PUSH_BEFORE:\n 0 x: MOV R1.x, {level:#x}\n 1 x: PRED_SETGT ____, R0.z, 6.0f UPDATE_EXEC_MASK UPDATE_PRED\n\
             JUMP POP_CNT(1) ADDR(end)\nTEX:\n GET_TEXTURE_RESINFO R2.xyzw, R1.xyzw, t0, s0\nPOP POP_CNT(1)\nend:\n\
             ALU:\n 2 x: MOV R1.x, {level:#x}\n\
             TEX:\n GET_TEXTURE_RESINFO R3.wx_y, R1.xyzw, t0, s0\n GET_TEXTURE_RESINFO R4.xyzw, R0.0000, t0, s0\n\
             EXP: PIX0, R2.xyzw\nEXP: PIX1, R3.xyzw\nEXP_DONE: PIX2, R4.xyzw\nEND_OF_PROGRAM\n"
        ));
        for counters in [false, true] {
            let mut case = case(r);
            case.memory.textures.insert(0, image(r, kind));
            case.counters = counters;
            ran += u32::from(check(&case, &program, &engines, &|| format!("{kind:?}, level {level}, {counters}")));
        }
    }
    assert_eq!(ran, 7 * 5 * 2);
}

/// Stores at an index of each lane, in half of the lanes, into registers of a program that has too many to compare them all; some do not exist.
#[test]
fn stores_at_an_index_of_many_registers() {
    let engines = engines();
    let r = &mut Random::new(12);
    let program = text(
        "ALU_PUSH_BEFORE:\n 0 x: MUL R1.x, R0.z, 2.0f\n y: MUL R1.y, R0.w, 3.0f\n 1 z: ADD R1.z, R1.x, R1.y\n\
         3 x: PRED_SETGT ____, R0.z, 6.0f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(end)\n\
         ALU:\n 4 x: MOVA_FLOOR ____, R1.z\n 5 x: MOV R2[AR.x].x, R0.w\n y: MOV R2[AR.x].y, R0.z\nPOP POP_CNT(1)\nend:\n\
         EXP: PIX0, R14.xyzw\nEXP: PIX1, R17.xyzw\nEXP: PIX2, R20.xyzw\nEXP_DONE: PIX3, R23.xyzw\nEND_OF_PROGRAM\n",
    );
    for _ in 0..4 {
        assert!(check(&case(r), &program, &engines, &|| "stores at an index".into()));
    }
}

/// Whether coordinates are whole numbers.
fn is_whole(op: &str) -> bool {
    op.starts_with("LD") || op.starts_with("GET_TEXTURE_RESINFO")
}

/// The texels of a texture as bytes, if all are fractions of 255.
fn bytes_of(image: &Image) -> Option<Levels<[u8; 4]>> {
    let bytes = |texel: &[u32; 4]| {
        let bytes = texel.map(|bits| (f32::from_bits(bits) * 255.0).round() as u8);
        (texel_of_bytes(bytes) == *texel).then_some(bytes)
    };
    image.levels.iter().map(|level| level.iter().map(bytes).collect::<Option<Vec<_>>>()).collect()
}

/// A texture with some of its mipmap levels.
pub(super) fn image(r: &mut Random, kind: TextureKind) -> Image {
    let (width, height) = (1 + r.below(20), 1 + r.below(20));
    let (width, height) = if r.one_in(2) { (16, 8) } else { (width, height) };
    let (width, height, depth) = match kind {
        TextureKind::OneD => (width, 1, 1),
        TextureKind::OneDArray => (width, 1, 3),
        TextureKind::TwoD => (width, height, 1),
        TextureKind::TwoDArray => (width, height, 1 + r.below(4)),
        TextureKind::ThreeD => (width, height, 5),
        TextureKind::Cube => (width, width, 6),
        TextureKind::CubeArray => (width, width, 12),
    };
    let levels = if r.one_in(3) { 1 } else { 1 + r.below(5) };
    // Formats that reference values are converted to, which see the results of a comparison in any order.
    let data = r.of(&[
        DataFormat::Fmt32_32_32_32Float,
        DataFormat::Fmt32Float,
        DataFormat::Fmt8,
        DataFormat::Fmt16,
        DataFormat::Fmt8_24,
        DataFormat::Fmt16Float,
    ]);
    let format = Format { data, ..Format::default() };
    let compared = if r.one_in(2) { AS_THEY_ARE } else { std::array::from_fn(|_| r.of(&SELECTS)) };
    let texture = Texture { kind, width, height, depth, levels, format, compared, ..Default::default() };
    let (ordinary, fractions) = (!r.one_in(4), r.one_in(3));
    let texel = |r: &mut Random| -> [u32; 4] {
        std::array::from_fn(|_| match (ordinary, fractions) {
            (true, true) => (r.below(256) as f32 / 255.0).to_bits(),
            (true, false) => (r.below(2000) as f32 / 500.0 - 2.0).to_bits(),
            (false, _) => r.of(&VALUES),
        })
    };
    let levels = (0..levels).map(|level| {
        let texels: u32 = texture.size(level).iter().product();
        (0..texels).map(|_| texel(r)).collect()
    });
    Image { levels: levels.collect(), texture }
}
