//! Fixed functions of an R500 that Mesa's r300 driver leaves off: fog, depths of w, the pixel's number as an input, a moved depth target, the scale of depths. And the grid of
//! positions. Truth: the register chapters of AMD's guide; where they are silent, the choices in docs/radeon.md, computed here from their formulas.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Engine, Interp};
use ctm_isa::x1k::text::assemble;
use ctm_jit::Jit;
use ctm_radeon::Relocation;
use ctm_radeon::execute::{Buffers, Device, GpuMemory};
use ctm_radeon::packets::r500::RV530;
use ctm_radeon::text::assemble_for;

const SIDE: usize = 8;
const TARGET: u64 = 1 << 20;
const DEPTH: u64 = 2 << 20;
/// Bytes of the depth target: ten rows of 16 pixels.
const DEPTH_BYTES: usize = 10 * 16 * 4;

/// A vertex: the position in the window, where the fourth component is 1/w; colour 1; a set of texture coordinates.
type Vertex = [[f32; 4]; 3];

/// State of all draws here: a target of four floats, a depth target, vertices without a vertex program, a pixel program that stores its register 0.
const STATE: &str = "
REGISTERS
    SC_SCISSOR0 = 0
    SC_SCISSOR1 = {XS1: 7, YS1: 7}
REGISTERS
    SC_CLIP_RULE = 0xffff
REGISTERS
    SC_SCREENDOOR = 0xffffff
REGISTERS
    RB3D_CCTL = {INDEPENDENT_COLORFORMAT_ENABLE: 1}
REGISTERS
    RB3D_COLOROFFSET0 = 0
RELOC 0
REGISTERS
    RB3D_COLORPITCH0 = {COLORPITCH: 4, COLORFORMAT: ARGB32323232}
REGISTERS
    RB3D_COLOR_CHANNEL_MASK = 15
REGISTERS
    ZB_FORMAT = 2
REGISTERS
    ZB_DEPTHOFFSET = 0
RELOC 1
REGISTERS
    ZB_DEPTHPITCH = {DEPTHPITCH: 4}
REGISTERS
    VAP_CNTL_STATUS = {PVS_BYPASS: 1}
REGISTERS
    VAP_PROG_STREAM_CNTL_0 = {DATA_TYPE_0: FLOAT_4, DATA_TYPE_1: FLOAT_4, DST_VEC_LOC_1: 3}
    VAP_PROG_STREAM_CNTL_1 = {DATA_TYPE_0: FLOAT_4, DST_VEC_LOC_0: 6, LAST_VEC_0: 1}
REGISTERS
    VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688f688
    VAP_PROG_STREAM_CNTL_EXT_1 = 0xf688
REGISTERS
    VAP_VTX_SIZE = 12
REGISTERS
    VAP_VTE_CNTL = 0x300
REGISTERS
    VAP_OUT_VTX_FMT_0 = {VTX_POS_PRESENT: 1, VTX_COLOR_1_PRESENT: 1}
    VAP_OUT_VTX_FMT_1 = 4
REGISTERS
    RS_IP_0 = {TEX_PTR_S: 0, TEX_PTR_T: 1, TEX_PTR_R: 2, TEX_PTR_Q: 3}
REGISTERS
    RS_COUNT = {IT_COUNT: 4, W_ADDR: 4}
    RS_INST_COUNT = 0
REGISTERS
    RS_INST_0 = {TEX_CN: 1, TEX_ADDR: 0}
REGISTERS
    US_OUT_FMT_0 = {OUT_FMT: C4_32_FP, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA}
REGISTERS
    GA_ROUND_MODE = 0x31
REGISTERS
    GA_COLOR_CONTROL = 0x3aaaa
";

/// What draws leave: colours, and the words of the depth target.
#[derive(Debug, PartialEq)]
struct Picture {
    pixels: Vec<[u32; 4]>,
    depths: Vec<u32>,
}

impl Picture {
    fn at(&self, x: usize, y: usize) -> [f32; 4] {
        self.pixels[SIDE * y + x].map(f32::from_bits)
    }
}

fn run(engine: Box<dyn Engine>, parts: &[&str]) -> Picture {
    let program = assemble(".output o = o0\n mov o, r0\n end\n").program.unwrap();
    let code: String =
        program.words.as_flattened().iter().map(|word| format!("    GA_US_VECTOR_DATA = {word:#010x}\n")).collect();
    let program =
        format!("REGISTERS\n    US_CODE_ADDR = 0\nREGISTERS\n    GA_US_VECTOR_INDEX = 0\nREGISTERS one\n{code}");
    let text = format!("{STATE}{program}{}", parts.concat());
    let words = assemble_for(&RV530, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut memory = Buffers::default();
    memory.insert(TARGET, vec![0; 16 * SIDE * SIDE]);
    memory.insert(DEPTH, vec![0x11; DEPTH_BYTES]);
    let of = |base, size: usize| Relocation { handle: 1, base, size: size as u64 };
    let mut device = Device::new(engine);
    device.set_chip(&RV530);
    let relocations = [of(TARGET, 16 * SIDE * SIDE), of(DEPTH, DEPTH_BYTES)];
    assert_eq!(device.submit(&words, &relocations, &mut memory).problems, []);
    let words = |at, bytes: usize| -> Vec<u32> {
        let bytes = memory.bytes(at, bytes as u64).unwrap();
        bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
    };
    let pixels = words(TARGET, 16 * SIDE * SIDE).chunks_exact(4).map(|four| four.try_into().unwrap()).collect();
    Picture { pixels, depths: words(DEPTH, DEPTH_BYTES) }
}

/// The same with both engines.
fn drawn(parts: &[&str]) -> Picture {
    let picture = run(Box::<Jit>::default(), parts);
    assert!(picture == run(Box::new(Interp), parts), "the engines differ");
    picture
}

fn set(name: &str, value: &str) -> String {
    format!("REGISTERS\n    {name} = {value}\n")
}

fn draw(primitive: &str, vertices: &[Vertex]) -> String {
    let words: String =
        vertices.as_flattened().as_flattened().iter().map(|x| format!(", word={:#010x}", x.to_bits())).collect();
    let count = vertices.len();
    format!(
        "3D_DRAW_IMMD_2 initiator={{PRIM_TYPE: {primitive}, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: {count}}}{words}\n"
    )
}

const OWN: [f32; 4] = [0.25, 0.5, 0.75, 0.375];

/// A square over the window. From its left side to its right one z, 1/w and the alpha of colour 1 change from the first value to the second.
fn square(z: [f32; 2], reciprocal_w: [f32; 2], alpha: [f32; 2]) -> String {
    let vertex =
        |side: usize, y: f32| [[[0.0, 8.0][side], y, z[side], reciprocal_w[side]], [0.5, 0.5, 0.5, alpha[side]], OWN];
    draw("QUADS", &[vertex(0, 0.0), vertex(1, 0.0), vertex(1, 8.0), vertex(0, 8.0)])
}

/// The place of a column's centre between the left side and the right one.
fn across(x: usize) -> f64 {
    (x as f64 + 0.5) / 8.0
}

fn near(found: f32, expected: f64, what: &str) {
    assert!((f64::from(found) - expected).abs() < 1e-5, "{found}, not {expected}: {what}");
}

/// Fog by each of its sources and functions: the colour's share is 1 - d, 2^(-16 d), 2^(-16 d^2) or a constant, d being limited to 0 to 1. Alpha stays.
#[test]
fn fog_mixes_colours_with_its_own() {
    let fog = [51.0 / 1023.0, 1.0, 0.0];
    let colour = [set("FG_FOG_COLOR_R", "51"), set("FG_FOG_COLOR_G", "1023"), set("FG_FOG_COLOR_B", "0")].concat();
    let square = square([0.0, 1.0], [1.0, 0.5], [1.0, 0.0]);
    let share = |function: &str, d: f64| match function {
        "LINEAR" => 1.0 - d,
        "EXP" => (-16.0 * d).exp2(),
        "EXP2" => (-16.0 * d * d).exp2(),
        _ => 256.0 / 1023.0,
    };
    for function in ["LINEAR", "EXP", "EXP2", "CONSTANT"] {
        for (source, scale, offset) in [(5, 1.0, 0.0), (5, 3.0, -0.5), (4, 0.5, -0.5), (1, -1.0, 1.0)] {
            let picture = drawn(&[
                &colour,
                &set("FG_FOG_BLEND", &format!("{{ENABLE: 1, FN: {function}}}")),
                &set("FG_FOG_FACTOR", "256"),
                &set("GA_FOG_SCALE", &format!("{scale:?}")),
                &set("GA_FOG_OFFSET", &format!("{offset:?}")),
                &set("GB_SELECT", &format!("{{FOG_SELECT: {source}}}")),
                &square,
            ]);
            for x in 0..SIDE {
                let t = across(x);
                let reciprocal_w = 1.0 - 0.5 * t;
                let value = match source {
                    5 => t,
                    4 => 1.0 / reciprocal_w,
                    // With perspective: 1 on the left, 0 on the right.
                    _ => (1.0 - t) / reciprocal_w,
                };
                let distance: f64 = value * scale + offset;
                let share = share(function, distance.clamp(0.0, 1.0));
                for y in [0, 7] {
                    let found = picture.at(x, y);
                    for n in 0..3 {
                        let expected = f64::from(OWN[n]) * share + fog[n] * (1.0 - share);
                        near(found[n], expected, &format!("{function} of {source}, column {x}"));
                    }
                    assert_eq!(found[3], OWN[3]);
                }
            }
        }
    }
}

/// The distance of fog goes to a component of texture coordinates.
#[test]
fn fog_is_stuffed_into_texture_coordinates() {
    let select = set("GB_SELECT", "{FOG_SELECT: 5, FOG_STUFF_ENABLE: 1, FOG_STUFF_TEX: 0, FOG_STUFF_COMP: 2}");
    let picture = drawn(&[&select, &set("GA_FOG_SCALE", "2.0"), &square([0.0, 1.0], [1.0, 1.0], [1.0; 2])]);
    for x in 0..SIDE {
        let [r, g, b, a] = picture.at(x, 3);
        assert_eq!([r, g, a], [OWN[0], OWN[1], OWN[3]]);
        near(b, 2.0 * across(x), "the distance");
    }
}

/// The input FB_XY is the column and the row of the pixel, for large and small triangles.
#[test]
fn the_number_of_a_pixel_is_an_input() {
    let input = set("RS_INST_0", "{COL_CN: FB_XY, COL_ADDR: 0}");
    let small = draw(
        "TRIANGLES",
        &[[[2.0, 2.0, 0.0, 1.0], OWN, OWN], [[7.0, 2.0, 0.0, 1.0], OWN, OWN], [[2.0, 7.0, 0.0, 1.0], OWN, OWN]],
    );
    for (call, covered) in [(square([0.0; 2], [1.0; 2], [1.0; 2]), SIDE * SIDE), (small, 10)] {
        let picture = drawn(&[&call]);
        let count = picture.pixels.iter().filter(|pixel| **pixel != [0; 4]).count();
        assert_eq!(count, covered);
        let numbered = drawn(&[&input, &call]);
        for n in 0..SIDE * SIDE {
            let expected =
                if picture.pixels[n] == [0; 4] { [0.0; 4] } else { [(n % SIDE) as f32, (n / SIDE) as f32, 0.0, 0.0] };
            assert_eq!(numbered.at(n % SIDE, n / SIDE), expected, "pixel {n}");
        }
    }
}

const WRITES: &str =
    "REGISTERS\n    ZB_CNTL = {Z_ENABLE: 1, ZWRITEENABLE: 1}\nREGISTERS\n    ZB_ZSTENCILCNTL = {ZFUNC: ALWAYS}\n";
/// The largest depth.
const MOST: f64 = 16_777_215.0;

/// The depths of the first row, without the stencil bits, which stay.
fn row(picture: &Picture, y: usize) -> [u32; SIDE] {
    std::array::from_fn(|x| {
        let word = picture.depths[16 * y + x];
        assert_eq!(word & 0xff, 0x11);
        word >> 8
    })
}

fn near_depth(found: u32, expected: f64, what: &str) {
    assert!((f64::from(found) - (expected * MOST).round()).abs() <= 1.0, "{found}, not {expected}: {what}");
}

/// SU_DEPTH_SCALE and SU_DEPTH_OFFSET make integers of depths.
#[test]
fn depths_are_scaled() {
    let square = square([0.0, 1.0], [1.0; 2], [1.0; 2]);
    for (scale, offset) in [(16_777_215.0, 0.0), (8_388_607.5, 0.0), (8_388_607.5, 4_194_303.75)] {
        let scales = format!("REGISTERS\n    SU_DEPTH_SCALE = {scale:?}\n    SU_DEPTH_OFFSET = {offset:?}\n");
        let picture = drawn(&[WRITES, &scales, &square]);
        for (x, found) in row(&picture, 0).into_iter().enumerate() {
            near_depth(found, (across(x) * scale + offset) / MOST, "scaled");
        }
    }
}

/// w as depth: in place of z, scaled; by the interpolator for the program's W output, as fractions and as floats; none.
#[test]
fn w_can_be_the_depth() {
    // w from 0.25 to 0.5; the texture's third component is 0.75.
    let square = square([0.9, 0.1], [4.0, 2.0], [1.0; 2]);
    let w = |x: usize| 1.0 / (4.0 - 2.0 * across(x));
    let from_w = set("RS_INST_0", "{TEX_CN: 1, TEX_ADDR: 0, W_CN: 1}");
    let source = |format: &str| {
        let format = set("US_W_FMT", &format!("{{W_FMT: {format}, W_SRC: RAS}}"));
        format!("{from_w}{format}{}", set("FG_DEPTH_SRC", "{DEPTH_SRC: 1}"))
    };
    let selected = set("GB_SELECT", "{DEPTH_SELECT: 1}");
    let half = set("SU_DEPTH_SCALE", "8388607.5");
    let at_r = set("RS_COUNT", "{IT_COUNT: 4, W_ADDR: 2}");
    type Expected<'a> = &'a dyn Fn(usize) -> f64;
    let cases: [(&str, String, Expected<'_>); 4] = [
        ("w in place of z", format!("{selected}{half}"), &|x| w(x) / 2.0),
        ("w of the interpolator", source("W24"), &w),
        ("a texture component", format!("{}{at_r}", source("W24")), &|_| 0.75),
        ("zero", source("W0"), &|_| 0.0),
    ];
    for (what, state, expected) in cases {
        let picture = drawn(&[WRITES, &state, &square]);
        for (x, found) in row(&picture, 2).into_iter().enumerate() {
            near_depth(found, expected(x), what);
        }
        // The program's colours are as without.
        assert_eq!(picture.at(3, 3), OWN, "{what}");
    }
    // Floats of 4 and 20 bits: 0.75 is 1.5 times 2^-1, whose exponent is 15 - 1.
    let picture = drawn(&[WRITES, &source("W24_FP"), &at_r, &square]);
    assert_eq!(row(&picture, 5), [0xe8_0000; SIDE]);
    // Depths of w are tested as others are.
    let tests = set("ZB_ZSTENCILCNTL", "{ZFUNC: LESS}");
    let background =
        "REGISTERS\n    FG_DEPTH_SRC = 0\nREGISTERS\n    GB_SELECT = 0\nREGISTERS\n    SU_DEPTH_SCALE = 16777215.0\n";
    let nearer = self::square([0.375; 2], [1.0; 2], [1.0; 2]);
    let picture = drawn(&[WRITES, background, &nearer, &tests, &source("W24"), &square]);
    for (x, found) in row(&picture, 6).into_iter().enumerate() {
        near_depth(found, w(x).min(0.375), "tested");
    }
}

/// ZB_DEPTHXY_OFFSET: the depth of pixel (0, 0) lies in another column and row. The last row ends with the memory.
#[test]
fn a_depth_target_is_moved() {
    let square = square([0.5; 2], [1.0; 2], [1.0; 2]);
    let picture = drawn(&[WRITES, &set("ZB_DEPTHXY_OFFSET", "{DEPTHX_OFFSET: 3, DEPTHY_OFFSET: 1}"), &square]);
    for n in 0..picture.depths.len() {
        let (x, y) = (n % 16, n / 16);
        let is_inside = (6..14).contains(&x) && (2..10).contains(&y);
        let expected = if is_inside { 0x80_0000 << 8 | 0x11 } else { 0x1111_1111 };
        assert_eq!(picture.depths[n], expected, "column {x}, row {y}");
    }
    // Pixels without a place are not drawn.
    let picture = drawn(&[WRITES, &set("ZB_DEPTHXY_OFFSET", "{DEPTHX_OFFSET: 5, DEPTHY_OFFSET: 1}"), &square]);
    assert_eq!([5, 6].map(|x| picture.at(x, 0) == OWN), [true, false]);
}

/// Positions are multiples of 1/12 pixel: sides near the centre of a pixel come to lie on it, where the left one has the pixel and the right one has not.
#[test]
fn positions_are_twelfths() {
    let covers = |mode: &str, from: f32, to: f32| {
        let vertex = |x: f32, y: f32| [[x, y, 0.0, 1.0], OWN, OWN];
        let call = draw("QUADS", &[vertex(from, 0.0), vertex(to, 0.0), vertex(to, 8.0), vertex(from, 8.0)]);
        let picture = drawn(&[&set("GA_ROUND_MODE", mode), &call]);
        (0..SIDE).filter(|&x| picture.at(x, 4) != [0.0; 4]).collect::<Vec<_>>()
    };
    let (nearest, truncates) = ("0x31", "0x30");
    assert_eq!(covers(nearest, 4.53, 6.0), [4, 5]);
    assert_eq!(covers(nearest, 4.55, 6.0), [5]);
    assert_eq!(covers(nearest, 2.0, 4.53), [2, 3]);
    assert_eq!(covers(nearest, 2.0, 4.55), [2, 3, 4]);
    assert_eq!(covers(truncates, 4.57, 6.0), [4, 5]);
    assert_eq!(covers(truncates, 2.0, 4.57), [2, 3]);
    assert_eq!(covers(truncates, 2.0, 4.59), [2, 3, 4]);
}
