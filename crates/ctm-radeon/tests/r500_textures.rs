//! The texture units of an R500 in draws: levels, filters, kinds, formats, borders. Truth: AMD's register descriptions (R5xx Acceleration, TX_*), and the rules of
//! OpenGL 2.1 §3.8 where these name a filter only.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Engine, Interp};
use ctm_isa::x1k::text::assemble;
use ctm_jit::Jit;
use ctm_radeon::Relocation;
use ctm_radeon::execute::{Buffers, Device, GpuMemory};
use ctm_radeon::packets::r500::RV530;
use ctm_radeon::text::assemble_for;

/// Columns and rows of the target; its pixels are four floats.
const SIZE: u32 = 8;
const TARGET: u64 = 1 << 20;
const TEXTURE: u64 = 2 << 20;

/// Draws a square over the whole target whose texture coordinates go from 0 to `s` and `t`, with `r` and `q` everywhere. Gives the memory after it.
fn run(engine: Box<dyn Engine>, program: &str, state: &str, texture: &[u8], [s, t, r, q]: [f32; 4]) -> Buffers {
    let program = assemble(program).program.unwrap();
    let data = |word: &u32| format!("    GA_US_VECTOR_DATA = {word:#010x}\n");
    let code: String = program.words.iter().flatten().map(data).collect();
    let corners = [[0.0, 0.0], [8.0, 0.0], [8.0, 8.0], [0.0, 8.0]];
    let vertex = |[x, y]: [f32; 2]| [x, y, 0.5, 1.0, s * x / 8.0, t * y / 8.0, r, q];
    let vertices: String =
        corners.into_iter().flat_map(vertex).map(|x| format!(", word={:#010x}", x.to_bits())).collect();
    let text = format!(
        "
REGISTERS
    SC_SCISSOR0 = 0
    SC_SCISSOR1 = {{XS1: 7, YS1: 7}}
REGISTERS
    SC_CLIP_RULE = 0xffff
REGISTERS
    SC_SCREENDOOR = 0xffffff
REGISTERS
    RB3D_CCTL = {{INDEPENDENT_COLORFORMAT_ENABLE: 1}}
REGISTERS
    RB3D_COLOROFFSET0 = 0
RELOC 0
REGISTERS
    RB3D_COLORPITCH0 = {{COLORPITCH: 4, COLORFORMAT: ARGB32323232}}
REGISTERS
    RB3D_COLOR_CHANNEL_MASK = 15
REGISTERS
    VAP_CNTL_STATUS = {{PVS_BYPASS: 1}}
REGISTERS
    VAP_PROG_STREAM_CNTL_0 = {{DATA_TYPE_0: FLOAT_4, DATA_TYPE_1: FLOAT_4, DST_VEC_LOC_1: 6, LAST_VEC_1: 1}}
REGISTERS
    VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688f688
REGISTERS
    VAP_VTX_SIZE = 8
REGISTERS
    VAP_VTE_CNTL = 0x300
REGISTERS
    VAP_OUT_VTX_FMT_0 = 1
    VAP_OUT_VTX_FMT_1 = 4
REGISTERS
    RS_IP_0 = {{TEX_PTR_S: 0, TEX_PTR_T: 1, TEX_PTR_R: 2, TEX_PTR_Q: 3}}
REGISTERS
    RS_COUNT = {{IT_COUNT: 4}}
    RS_INST_COUNT = 0
REGISTERS
    RS_INST_0 = {{TEX_CN: 1, TEX_ADDR: 0}}
REGISTERS
    US_OUT_FMT_0 = {{OUT_FMT: C4_32_FP, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA}}
REGISTERS
    US_CODE_ADDR = {{START_ADDR: 0, END_ADDR: {last}}}
REGISTERS
    GA_US_VECTOR_INDEX = 0
REGISTERS one
{code}REGISTERS
    GA_ROUND_MODE = 0x31
REGISTERS
    TX_ENABLE = 1
REGISTERS
    TX_OFFSET_0 = 0
RELOC 1
{state}
3D_DRAW_IMMD_2 initiator={{PRIM_TYPE: QUADS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 4}}{vertices}
",
        last = program.last,
    );
    let words = assemble_for(&RV530, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut memory = Buffers::default();
    memory.insert(TARGET, vec![0; 4096]);
    memory.insert(TEXTURE, texture.to_vec());
    let of = |base, size| Relocation { handle: 1, base, size };
    let mut device = Device::new(engine);
    device.set_chip(&RV530);
    let relocations = [of(TARGET, 4096), of(TEXTURE, texture.len() as u64)];
    assert_eq!(device.submit(&words, &relocations, &mut memory).problems, []);
    memory
}

/// The pixels of the target after [`run`].
fn drawn(engine: Box<dyn Engine>, program: &str, state: &str, texture: &[u8], to: [f32; 4]) -> Vec<[f32; 4]> {
    let memory = run(engine, program, state, texture, to);
    let bytes = memory.bytes(TARGET, 16 * u64::from(SIZE * SIZE)).unwrap();
    let float = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap());
    bytes.chunks_exact(16).map(|pixel| std::array::from_fn(|n| float(&pixel[4 * n..][..4]))).collect()
}

/// The same with both engines, whose pixels are alike.
fn both(program: &str, state: &str, texture: &[u8], to: [f32; 4]) -> Vec<[f32; 4]> {
    let of = |engine| drawn(engine, program, state, texture, to);
    let (fast, reference) = (of(Box::<Jit>::default()), of(Box::new(Interp)));
    let bits = |all: &[[f32; 4]]| all.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&fast), bits(&reference), "{program} {state}");
    fast
}

const LOOKUP: &str = ".output o = o0\n.input map = s0\n texp r0, map, r0.rgba scaled\n mov o, r0\n end\n";
const PLAIN: &str = ".output o = o0\n.input map = s0\n tex r0, map, r0.rgba scaled\n mov o, r0\n end\n";
const BIASED: &str = ".output o = o0\n.input map = s0\n texb r0, map, r0.rgba scaled\n mov o, r0\n end\n";
const OF_LEVEL: &str = ".output o = o0\n.input map = s0\n texl r0, map, r0.rgba scaled\n mov o, r0\n end\n";
const BY_GRADIENTS: &str =
    ".output o = o0\n.input map = s0\n mov r1, 0.25\n texg r0, map, r0.rg, r1.rg, r1.rg scaled\n mov o, r0\n end\n";

/// State of a texture of eight-bit components, with the step of bias that drivers add.
fn rgba(width: u32, height: u32, levels: u32, filter: &str) -> String {
    format!(
        "REGISTERS
    TX_FILTER0_0 = {{{filter}}}
REGISTERS
    TX_FILTER1_0 = {{LOD_BIAS: 1}}
REGISTERS
    TX_FORMAT0_0 = {{TXWIDTH: {}, TXHEIGHT: {}, NUM_LEVELS: {levels}}}
REGISTERS
    TX_FORMAT1_0 = {{TXFORMAT: 12, SEL_RED: 0, SEL_GREEN: 1, SEL_BLUE: 2, SEL_ALPHA: 3}}
",
        width - 1,
        height - 1
    )
}

/// Texels of a level with rows of eight, which fill 32 bytes: all of one red.
fn level(rows: usize, red: u8) -> Vec<u8> {
    [red, 0, 0, 255].repeat(8 * rows)
}

const BETWEEN: &str = "MAG_FILTER: POINT, MIN_FILTER: POINT, MIP_FILTER: LINEAR";

/// Levels 0 to 3 of 8 x 8 texels; the red of level n is 50 n.
fn mipmap() -> Vec<u8> {
    [level(8, 0), level(4, 50), level(2, 100), level(1, 150)].concat()
}

fn reds(pixels: &[[f32; 4]]) -> Vec<f32> {
    let mut all: Vec<f32> = pixels.iter().map(|pixel| (pixel[0] * 255.0 * 64.0).round() / 64.0).collect();
    all.dedup();
    all
}

/// The logarithm of the texels that a pixel steps over is the level, with the bias of the unit, of the program, or instead of it the program's own.
#[test]
fn levels_follow_the_steps_of_a_quad() {
    let state = rgba(8, 8, 3, BETWEEN);
    for (program, to, expected) in [
        (PLAIN, [1.0, 1.0, 0.0, 0.0], 0.0),
        (PLAIN, [2.0, 1.0, 0.0, 0.0], 50.0),
        (PLAIN, [2.0, 4.0, 0.0, 0.0], 100.0),
        (PLAIN, [64.0, 1.0, 0.0, 0.0], 150.0),
        (BIASED, [2.0, 1.0, 0.0, 0.5], 75.0),
        (BIASED, [2.0, 1.0, 0.0, -3.0], 0.0),
        (OF_LEVEL, [2.0, 1.0, 0.0, 1.5], 75.0),
        // Steps of two texels along both sides: a length of the root of 8.
        (BY_GRADIENTS, [1.0, 1.0, 0.0, 0.0], 75.0),
    ] {
        assert_eq!(reds(&both(program, &state, &mipmap(), to)), [expected], "{program} {to:?}");
    }
    let biased = format!("{state}REGISTERS\n    TX_FILTER1_0 = {{LOD_BIAS: 49}}\n");
    assert_eq!(reds(&both(PLAIN, &biased, &mipmap(), [1.0, 1.0, 0.0, 0.0])), [75.0]);
    let nearest = rgba(8, 8, 3, "MAG_FILTER: POINT, MIN_FILTER: POINT, MIP_FILTER: POINT, MAX_MIP_LEVEL: 1");
    assert_eq!(reds(&both(PLAIN, &nearest, &mipmap(), [1.0, 1.0, 0.0, 0.0])), [50.0]);
}

/// Without a filter between levels every scale samples the base level, for any MAX_MIP_LEVEL (OpenGL 2.1 §3.8.8; UNVERIFIED for the chip).
#[test]
fn without_a_filter_between_levels_there_is_the_base_level() {
    for filter in ["", ", MAX_MIP_LEVEL: 2", ", MAX_MIP_LEVEL: 9"] {
        let none = rgba(8, 8, 3, &format!("MAG_FILTER: POINT, MIN_FILTER: POINT{filter}"));
        for to in [[1.0, 1.0, 0.0, 0.0], [2.0, 4.0, 0.0, 0.0], [64.0, 1.0, 0.0, 0.0]] {
            assert_eq!(reds(&both(PLAIN, &none, &mipmap(), to)), [0.0], "{filter} {to:?}");
            assert_eq!(reds(&both(OF_LEVEL, &none, &mipmap(), to)), [0.0], "{filter} {to:?}");
        }
    }
    // A least level above the last is the last.
    let above = rgba(8, 8, 2, "MAG_FILTER: POINT, MIN_FILTER: POINT, MIP_FILTER: POINT, MAX_MIP_LEVEL: 9");
    assert_eq!(reds(&both(PLAIN, &above, &mipmap(), [1.0, 1.0, 0.0, 0.0])), [100.0]);
}

/// A projected lookup divides by Q, and the level follows the quotient.
#[test]
fn projected_coordinates_have_levels() {
    let state = rgba(8, 8, 3, BETWEEN);
    assert_eq!(reds(&both(LOOKUP, &state, &mipmap(), [4.0, 4.0, 0.0, 4.0])), [0.0]);
    assert_eq!(reds(&both(LOOKUP, &state, &mipmap(), [8.0, 4.0, 0.0, 4.0])), [50.0]);
}

/// Rows of tiles begin at whole tiles: a level of 4 x 4 texels in micro tiles of 4 x 2 has rows of four, in no tiles rows of eight.
#[test]
fn tiles_decide_where_levels_lie() {
    let state = rgba(4, 4, 1, BETWEEN).replace(
        "REGISTERS\n    TX_FORMAT1_0",
        "REGISTERS\n    TX_OFFSET_0 = {MICRO_TILE: TILED}\nRELOC 1\nREGISTERS\n    TX_FORMAT1_0",
    );
    let texture = [[20, 0, 0, 255].repeat(16), [40, 0, 0, 255].repeat(8)].concat();
    assert_eq!(reds(&both(PLAIN, &state, &texture, [4.0, 1.0, 0.0, 0.0])), [40.0]);
    assert_eq!(reds(&both(PLAIN, &state, &texture, [2.0, 1.0, 0.0, 0.0])), [20.0]);
}

/// Slices of a texture of three dimensions are weighed, and become fewer from level to level.
#[test]
fn slices_are_weighed() {
    let of = |filter: &str| {
        rgba(4, 4, 1, filter)
            .replace("NUM_LEVELS: 1", "TXDEPTH: 1, NUM_LEVELS: 1")
            .replace("TXFORMAT: 12", "TXFORMAT: 12, TEX_COORD_TYPE: 3D")
    };
    let texture = [level(4, 0), level(4, 100), level(2, 200)].concat();
    let linear = of("MAG_FILTER: LINEAR, MIN_FILTER: LINEAR, MIP_FILTER: POINT, CLAMP_R: 2");
    assert_eq!(reds(&both(PLAIN, &linear, &texture, [0.5, 0.5, 0.5, 0.0])), [50.0]);
    assert_eq!(reds(&both(PLAIN, &linear, &texture, [0.5, 0.5, 0.25, 0.0])), [0.0]);
    assert_eq!(reds(&both(PLAIN, &linear, &texture, [4.0, 0.5, 0.25, 0.0])), [200.0]);
}

/// The face of the longest component, in OpenGL's order of faces.
#[test]
fn cubes_have_faces() {
    let texture: Vec<u8> = (0..6).flat_map(|face| level(4, 40 * face)).collect();
    let state = rgba(4, 4, 0, "MAG_FILTER: POINT, MIN_FILTER: POINT")
        .replace("TXFORMAT: 12", "TXFORMAT: 12, TEX_COORD_TYPE: CUBE");
    assert_eq!(reds(&both(PLAIN, &state, &texture, [0.5, 0.5, 1.0, 0.0])), [160.0]);
    assert_eq!(reds(&both(PLAIN, &state, &texture, [0.5, 0.5, -1.0, 0.0])), [200.0]);
    let all = both(PLAIN, &state, &texture, [8.0, 0.0, 2.0, 0.0]);
    // S is 0.5, 1.5, ... 7.5 from left to right: beyond 2 it is the longest.
    assert_eq!(
        all[..8].iter().map(|pixel| (pixel[0] * 255.0).round()).collect::<Vec<_>>(),
        [160.0, 160.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
}

/// Formats by number, their texel at (0, 0), and its red, green, blue and alpha. Components are counted from the lowest bits.
#[test]
fn formats_are_read() {
    let of = |format: &str, selects: [u32; 4]| {
        rgba(1, 1, 0, "MAG_FILTER: POINT, MIN_FILTER: POINT").replace(
            "TXFORMAT: 12, SEL_RED: 0, SEL_GREEN: 1, SEL_BLUE: 2, SEL_ALPHA: 3",
            &format!(
                "{format}, SEL_RED: {}, SEL_GREEN: {}, SEL_BLUE: {}, SEL_ALPHA: {}",
                selects[0], selects[1], selects[2], selects[3]
            ),
        )
    };
    let plain = [0, 1, 2, 3];
    let half = |x: u16| x.to_le_bytes().to_vec();
    // Format, selects, bytes, the texel.
    type Row = (&'static str, [u32; 4], Vec<u8>, [f32; 4]);
    let rows: [Row; 16] = [
        ("TXFORMAT: 0", [0, 0, 0, 5], vec![51], [0.2, 0.2, 0.2, 1.0]),
        ("TXFORMAT: 2", [0, 1, 4, 5], vec![0xf3], [0.2, 1.0, 0.0, 1.0]),
        ("TXFORMAT: 3", [0, 1, 4, 5], vec![51, 102], [0.2, 0.4, 0.0, 1.0]),
        ("TXFORMAT: 5", [0, 1, 2, 5], vec![0b1110_0011], [1.0, 0.0, 1.0, 1.0]),
        ("TXFORMAT: 6", [2, 1, 0, 5], half(31 << 11), [1.0, 0.0, 0.0, 1.0]),
        ("TXFORMAT: 7", [0, 1, 2, 5], half(63 << 10), [0.0, 0.0, 1.0, 1.0]),
        ("TXFORMAT: 10", plain, half(0xf630), [0.0, 0.2, 0.4, 1.0]),
        ("TXFORMAT: 11", plain, half(1 << 15 | 31), [1.0, 0.0, 0.0, 1.0]),
        (
            "TXFORMAT: 12, SIGNED_COMP0: 1, SIGNED_COMP1: 1, SIGNED_COMP2: 1, SIGNED_COMP3: 1",
            plain,
            vec![127, 0, 0x81, 127],
            [1.0, 0.0, -1.0, 1.0],
        ),
        ("TXFORMAT: 13", plain, (3u32 << 30 | 1023 << 10).to_le_bytes().to_vec(), [0.0, 1.0, 0.0, 1.0]),
        ("TXFORMAT: 25", [0, 1, 4, 5], [half(0x3c00), half(0xc000)].concat(), [1.0, -2.0, 0.0, 1.0]),
        ("TXFORMAT: 27", [0, 0, 0, 5], 2.5f32.to_le_bytes().to_vec(), [2.5, 2.5, 2.5, 1.0]),
        // A block of one colour; DXTC_SWIZZLE exchanges red and blue, and the selects exchange them again.
        ("TXFORMAT: 15", plain, vec![0, 0xf8, 0, 0xf8, 0, 0, 0, 0], [1.0, 0.0, 0.0, 1.0]),
        ("TXFORMAT: 12, GAMMA: 1", plain, vec![255, 0, 0, 51], [1.0, 0.0, 0.0, 0.2]),
        (
            "TXFORMAT: 17",
            plain,
            [vec![51, 51, 0, 0, 0, 0, 0, 0], vec![0x1f, 0, 0x1f, 0, 0, 0, 0, 0]].concat(),
            [0.0, 0.0, 1.0, 0.2],
        ),
        ("TXFORMAT: 14", plain, [half(0xffff), half(0), half(0), half(0xffff)].concat(), [1.0, 0.0, 0.0, 1.0]),
    ];
    for (format, selects, mut texel, expected) in rows {
        texel.resize(64, 0);
        let found = both(PLAIN, &of(format, selects), &texel, [1.0, 1.0, 0.0, 0.0])[0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{format}: {found:?}, not {expected:?}");
    }
    // Depth in bits 31:8, stencil below.
    let depth = of("TXFORMAT: 6", [0, 0, 0, 1]) + "REGISTERS\n    TX_FORMAT2_0 = {TXFORMAT_MSB: 1}\n";
    let mut texel = 0x8000_00ffu32.to_le_bytes().to_vec();
    texel.resize(64, 0);
    let found = both(PLAIN, &depth, &texel, [1.0, 1.0, 0.0, 0.0])[0];
    assert!((found[0] - 0.5).abs() < 1e-6 && found[3] == 1.0, "{found:?}");
    let swizzled = of("TXFORMAT: 15", [2, 1, 0, 3]) + "REGISTERS\n    TX_FILTER1_0 = {DXTC_SWIZZLE: 1}\n";
    let mut block = vec![0, 0xf8, 0, 0xf8, 0, 0, 0, 0];
    block.resize(64, 0);
    assert_eq!(both(PLAIN, &swizzled, &block, [1.0, 1.0, 0.0, 0.0])[0], [1.0, 0.0, 0.0, 1.0]);
}

/// Bit 11 of widths and heights is in another register: textures of 4096 columns or rows.
#[test]
fn sides_of_4096_texels_are_read() {
    let state = |side: &str, msb: &str| {
        let points = "MAG_FILTER: POINT, MIN_FILTER: POINT, CLAMP_S: 2, CLAMP_T: 2";
        rgba(1, 1, 0, points)
            .replace("TXWIDTH: 0, TXHEIGHT: 0", side)
            .replace("TXFORMAT: 12, SEL_RED: 0, SEL_GREEN: 1, SEL_BLUE: 2, SEL_ALPHA: 3", "TXFORMAT: 0, SEL_ALPHA: 5")
            + &format!("REGISTERS\n    TX_FORMAT2_0 = {{{msb}: 1}}\n")
    };
    let red = |pixel: &[f32; 4]| (pixel[0] * 255.0).round() as u32;
    // Texel n of a row is n / 16, and the pixels' centres lie at 256, 768 and so on.
    let row: Vec<u8> = (0..4096u32).map(|n| (n / 16) as u8).collect();
    let found = both(PLAIN, &state("TXWIDTH: 2047, TXHEIGHT: 0", "TXWIDTH_11"), &row, [1.0, 1.0, 0.0, 0.0]);
    let expected: Vec<u32> = (0..8).map(|n| 16 + 32 * n).collect();
    assert_eq!(found[..8].iter().map(red).collect::<Vec<_>>(), expected);
    // Rows have 32 bytes.
    let column: Vec<u8> = (0..4096u32).flat_map(|n| [(n / 16) as u8; 32]).collect();
    let found = both(PLAIN, &state("TXWIDTH: 0, TXHEIGHT: 2047", "TXHEIGHT_11"), &column, [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(found.chunks(8).map(|pixels| red(&pixels[0])).collect::<Vec<_>>(), expected);
}

/// Beyond the edge there is the border, whose register has the format of the texture.
#[test]
fn borders_have_the_format_of_the_texture() {
    let state = |format: &str, border: u32| {
        rgba(1, 1, 0, "MAG_FILTER: POINT, MIN_FILTER: POINT, CLAMP_S: 6, CLAMP_T: 6").replace("TXFORMAT: 12", format)
            + &format!("REGISTERS\n    TX_BORDER_COLOR_0 = {border:#x}\n")
    };
    for (format, border, expected) in [
        ("TXFORMAT: 12", 0xff66_3300, [0.0, 0.2, 0.4, 1.0]),
        // The words that Mesa's driver writes for 0.1, 0.9, 0.5 and 0.8 as red, green, blue and alpha, where the texel's lowest field is blue.
        ("TXFORMAT: 10", 0xc1e8, [8.0 / 15.0, 14.0 / 15.0, 1.0 / 15.0, 0.8]),
        ("TXFORMAT: 11", 0x8f90, [16.0 / 31.0, 28.0 / 31.0, 3.0 / 31.0, 1.0]),
        ("TXFORMAT: 5", 0x3a, [2.0 / 3.0, 6.0 / 7.0, 1.0 / 7.0, 1.0]),
        ("TXFORMAT: 2", 0xc1, [1.0 / 15.0, 0.8, 0.0, 1.0]),
        ("TXFORMAT: 4", 0xffff_0000, [0.0, 1.0, 0.0, 1.0]),
        ("TXFORMAT: 13", 0xc000_03ff, [1.0, 0.0, 0.0, 1.0]),
        ("TXFORMAT: 15", 0xff00_00ff, [0.0, 0.0, 1.0, 1.0]),
        ("TXFORMAT: 27", 2.5f32.to_bits(), [2.5, 0.0, 0.0, 1.0]),
        // Luminance and alpha in sRGB, as Mesa writes them: 89 of 255 in sRGB is 0.1 (IEC 61966-2-1), and an alpha is linear.
        ("TXFORMAT: 3, GAMMA: 1", 0xcc59, [0.099_899, 0.8, 0.0, 0.0]),
    ] {
        // The last pixel lies at 7.5.
        let found = both(PLAIN, &state(format, border), &[0x80; 64], [8.0, 8.0, 0.0, 0.0])[63];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{format}: {found:?}, not {expected:?}");
    }
}

/// Wrap modes by number, and the texel of a row of two at each coordinate.
#[test]
fn coordinates_wrap() {
    let texture = [[10, 0, 0, 0, 20, 0, 0, 0].to_vec(), vec![0; 64]].concat();
    for (mode, expected) in [
        (0, [10, 20, 10, 20, 10, 20, 10, 20]),
        (1, [10, 20, 20, 10, 10, 20, 20, 10]),
        (2, [10, 20, 20, 20, 20, 20, 20, 20]),
        (3, [10, 20, 20, 20, 20, 20, 20, 20]),
        (6, [10, 20, 255, 255, 255, 255, 255, 255]),
    ] {
        let state = rgba(2, 1, 0, &format!("MAG_FILTER: POINT, MIN_FILTER: POINT, CLAMP_S: {mode}, CLAMP_T: 2"))
            + "REGISTERS\n    TX_BORDER_COLOR_0 = 0xff\n";
        let found = both(PLAIN, &state, &texture, [4.0, 1.0, 0.0, 0.0]);
        let found: Vec<u32> = found[..8].iter().map(|pixel| (pixel[0] * 255.0).round() as u32).collect();
        assert_eq!(found, expected, "mode {mode}");
    }
}

/// A unit that is off gives (0, 0, 0, 1).
#[test]
fn a_unit_that_is_off_is_black() {
    let state = rgba(8, 8, 0, BETWEEN) + "REGISTERS\n    TX_ENABLE = 0\n";
    assert_eq!(both(PLAIN, &state, &mipmap(), [1.0, 1.0, 0.0, 0.0])[9], [0.0, 0.0, 0.0, 1.0]);
}

/// The program's depth, its fourth channel, goes to a target of 16 bits in place of the interpolated one, which is 0.5.
#[test]
fn programs_have_depths() {
    let program = ".output o = o0\n.conditional_value yes\n mov o, w, r0\n end\n";
    let state = "REGISTERS
    ZB_CNTL = {Z_ENABLE: 1, ZWRITEENABLE: 1}
    ZB_ZSTENCILCNTL = {ZFUNC: ALWAYS}
REGISTERS
    ZB_FORMAT = 0
REGISTERS
    ZB_DEPTHOFFSET = 0x800
RELOC 0
REGISTERS
    ZB_DEPTHPITCH = 8
REGISTERS
    US_W_FMT = {W_FMT: W24}
";
    for (source, expected) in [("SCAN", 32768u16), ("SHADER", 16384)] {
        let state = format!("{state}REGISTERS\n    FG_DEPTH_SRC = {{DEPTH_SRC: {source}}}\n");
        let memory = run(Box::<Jit>::default(), program, &state, &[0; 64], [1.0, 1.0, 0.0, 0.25]);
        let bytes = memory.bytes(TARGET + 0x800, 128).unwrap();
        let depths: Vec<u16> = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
        // Half of the largest number may be rounded to either side.
        assert!(depths.len() == 64 && depths.iter().all(|depth| depth.abs_diff(expected) <= 1), "{source}: {depths:?}");
    }
}

/// The alpha test of 8 bits rounds alpha first.
#[test]
fn alpha_is_compared_in_eight_bits() {
    let program = ".output o = o0\n mov o, r0\n end\n";
    let state = "REGISTERS\n    FG_ALPHA_FUNC = {AF_VAL: 51, AF_FUNC: 2, AF_EN: 1, AF_EN_8BIT: 1}\n";
    for (alpha, passes) in [(0.2, true), (0.2015, true), (0.203, false)] {
        let found = both(program, state, &[0; 64], [1.0, 1.0, 0.0, alpha])[0];
        assert_eq!(found[3] == alpha, passes, "{alpha}: {found:?}");
    }
}

/// Texels of luma and chroma become red, green and blue: black, white, grey and the colours of ITU-R BT.601's bars at 75 % (its rounded numbers), in packed and in whole texels.
#[test]
fn luma_and_chroma_become_colours() {
    // Y, U, V, and the colour.
    const BARS: [([u8; 3], [f32; 3]); 8] = [
        ([16, 128, 128], [0.0; 3]),
        ([235, 128, 128], [1.0; 3]),
        ([180, 128, 128], [0.75; 3]),
        ([162, 44, 142], [0.75, 0.75, 0.0]),
        ([131, 156, 44], [0.0, 0.75, 0.75]),
        ([112, 72, 58], [0.0, 0.75, 0.0]),
        ([65, 100, 212], [0.75, 0.0, 0.0]),
        ([35, 212, 114], [0.0, 0.0, 0.75]),
    ];
    let state = |format: u32, more: &str| {
        rgba(8, 1, 0, "MAG_FILTER: POINT, MIN_FILTER: POINT")
            .replace("TXFORMAT: 12", &format!("TXFORMAT: {format}{more}"))
    };
    // One texel of each: alpha, V, Y and U from high to low.
    let whole: Vec<u8> = BARS.iter().flat_map(|([y, u, v], _)| [*u, *y, *v, 51]).collect();
    for (more, swaps) in [(", YUV_TO_RGB: CLAMP", false), (", YUV_TO_RGB: NO_CLAMP, SWAP_YUV: 1", true)] {
        let mut whole = whole.clone();
        if swaps {
            whole.as_chunks_mut::<4>().0.iter_mut().for_each(|texel| texel.swap(0, 2));
        }
        let found = both(PLAIN, &state(19, more), &[whole, vec![0; 64]].concat(), [1.0, 1.0, 0.0, 0.0]);
        for (n, (_, colour)) in BARS.iter().enumerate() {
            let near = found[n].iter().zip(colour).all(|(a, b)| (a - b).abs() < 0.006);
            assert!(near && found[n][3] == 0.2, "bar {n}: {:?}, not {colour:?}", found[n]);
        }
    }
    // Two texels share their chroma: Y, U, Y, V for VYUY, and U, Y, V, Y for YVYU, from the lowest byte up.
    for (format, order) in [(20, [0, 1, 3, 2]), (21, [1, 0, 2, 3])] {
        let pairs: Vec<u8> = BARS
            .iter()
            .flat_map(|([y, u, v], _)| {
                let mut texels = [0; 4];
                let [first, blue, red, second] = order;
                (texels[first], texels[blue], texels[red], texels[second]) = (*y, *u, *v, 16);
                texels
            })
            .collect();
        let texture = [pairs, vec![0; 64]].concat();
        let state = state(format, ", YUV_TO_RGB: CLAMP").replace("TXWIDTH: 7", "TXWIDTH: 15");
        let found = both(PLAIN, &state, &texture, [0.5, 1.0, 0.0, 0.0]);
        for (n, (_, colour)) in BARS.iter().enumerate().take(4) {
            let near = found[2 * n].iter().zip(colour).all(|(a, b)| (a - b).abs() < 0.006);
            assert!(near, "format {format}, bar {n}: {:?}, not {colour:?}", found[2 * n]);
        }
    }
    // Without a limit luma above 235 is more than 1; without a conversion components stay.
    let bright =
        |more: &str| both(PLAIN, &state(19, more), &[[128, 255, 128, 0]; 24].concat(), [1.0, 1.0, 0.0, 0.0])[0];
    assert_eq!(bright(", YUV_TO_RGB: CLAMP")[1], 1.0);
    assert!((bright(", YUV_TO_RGB: NO_CLAMP")[1] - 239.0 / 219.0).abs() < 0.01);
    assert_eq!(bright("")[1], 1.0);
    assert!((bright("")[0] - 128.0 / 255.0).abs() < 1e-6);
}
