//! Draws of an R500 with vertex programs. Truth: the register chapters of AMD's guide, and the words that Mesa's r300 driver writes for the same.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::{Engine, Interp};
use ctm_jit::Jit;
use ctm_radeon::Relocation;
use ctm_radeon::check::check_for;
use ctm_radeon::execute::{Buffers, Device, GpuMemory};
use ctm_radeon::packets::r500::RV530;
use ctm_radeon::text::assemble_for;

/// Where the target lies, and where vertices do.
const BASE: u64 = 1 << 20;
const SIDE: usize = 8;

/// State of all draws here: a target of 8 x 8 pixels in R8G8B8A8, a viewport of its size, and a pixel program that stores its register 0.
pub(crate) const STATE: &str = "
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
    ZB_CNTL = 0
REGISTERS
    RB3D_COLOROFFSET0 = 0
RELOC 0
REGISTERS
    RB3D_COLORPITCH0 = 0xc00008
REGISTERS
    RB3D_COLOR_CHANNEL_MASK = 15
REGISTERS
    VAP_VPORT_XSCALE = 4.0
    VAP_VPORT_XOFFSET = 4.0
    VAP_VPORT_YSCALE = 4.0
    VAP_VPORT_YOFFSET = 4.0
    VAP_VPORT_ZSCALE = 0.5
    VAP_VPORT_ZOFFSET = 0.5
REGISTERS
    VAP_VTE_CNTL = 0x43f
REGISTERS
    VAP_CLIP_CNTL = 0xc000
REGISTERS
    VAP_PVS_CONST_CNTL = 0
REGISTERS
    VAP_PVS_VECTOR_INDX_REG = 0x400
REGISTERS one
    VAP_PVS_VECTOR_DATA_REG_128 = 0.5
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0
REGISTERS
    VAP_PROG_STREAM_CNTL_0 = 0x2003
REGISTERS
    VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688
REGISTERS
    VAP_VTX_SIZE = 4
REGISTERS
    RS_COUNT = 0x40004
    RS_INST_COUNT = 0
REGISTERS
    US_OUT_FMT_0 = 0x3900
REGISTERS
    US_CODE_ADDR = 0
REGISTERS
    GA_US_VECTOR_INDEX = 0
REGISTERS one
    GA_US_VECTOR_DATA = 0x00078005
    GA_US_VECTOR_DATA = 0x08020000
    GA_US_VECTOR_DATA = 0x08020000
    GA_US_VECTOR_DATA = 0x00db0220
    GA_US_VECTOR_DATA = 0x00c0c000
    GA_US_VECTOR_DATA = 0x20490000
REGISTERS
    GA_ROUND_MODE = 0x31
REGISTERS
    GA_COLOR_CONTROL = 0x3aaaa
REGISTERS
    VAP_VF_MAX_VTX_INDX = 0xffffff
    VAP_VF_MIN_VTX_INDX = 0
";

/// A position and set 0 of texture coordinates: `out1 = in0 * c0.xxxx + c0.xxxx; out0 = in0`. The words are those of the driver.
const TEXTURE: &str = "
REGISTERS
    VAP_PVS_VECTOR_INDX_REG = 0
REGISTERS one
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00f02204
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00d10001
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00000002
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00000002
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00f00203
    VAP_PVS_VECTOR_DATA_REG_128 = 0x00d10001
    VAP_PVS_VECTOR_DATA_REG_128 = 0x01248001
    VAP_PVS_VECTOR_DATA_REG_128 = 0x01248001
REGISTERS
    VAP_PVS_CODE_CNTL_0 = 0x100400
REGISTERS
    VAP_OUT_VTX_FMT_0 = 1
    VAP_OUT_VTX_FMT_1 = 4
REGISTERS
    RS_IP_0 = 0xc2040
REGISTERS
    RS_INST_0 = 0x10
";

/// Words of a vertex program: text of `ctm asm` to the port.
pub(crate) fn program(text: &str) -> String {
    let assembled = ctm_isa::pvs::text::assemble(text);
    let program = assembled.program.unwrap_or_else(|| panic!("{:?}", assembled.diagnostics));
    let words =
        program.words.as_flattened().iter().map(|word| format!("    VAP_PVS_VECTOR_DATA_REG_128 = {word:#x}\n"));
    let words: String = words.collect();
    let last = u32::from(program.last) << 20;
    format!(
        "REGISTERS\n    VAP_PVS_VECTOR_INDX_REG = 0\nREGISTERS one\n{words}REGISTERS\n    VAP_PVS_CODE_CNTL_0 = {last:#x}\n"
    )
}

/// A draw with its vertices in the packet.
pub(crate) fn embedded(primitive: &str, vertices: &[[f32; 4]]) -> String {
    let words: String = vertices.as_flattened().iter().map(|x| format!(", word={x:?}")).collect();
    let count = vertices.len();
    format!(
        "3D_DRAW_IMMD_2 initiator={{PRIM_TYPE: {primitive}, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: {count}}}{words}\n"
    )
}

/// The pixels after a stream whose second buffer holds `vertices`.
fn run(engine: Box<dyn Engine>, parts: &[&str], vertices: &[[f32; 4]]) -> (Vec<[u8; 4]>, Vec<String>) {
    let words = assemble_for(&RV530, &parts.concat()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut memory = Buffers::default();
    memory.insert(BASE, vec![0x11; 4096]);
    let bytes = vertices.as_flattened().iter().flat_map(|x| x.to_le_bytes());
    memory.insert(2 * BASE, bytes.chain(std::iter::repeat_n(0, 4096)).take(4096).collect());
    let relocations = [1, 2].map(|n| Relocation { handle: n, base: u64::from(n) * BASE, size: 4096 });
    if vertices.is_empty() {
        assert_eq!(check_for(&RV530, &words, Some(&relocations), None), []);
    }
    let mut device = Device::new(engine);
    device.set_chip(&RV530);
    let problems = device.submit(&words, &relocations, &mut memory).problems;
    let bytes = memory.bytes(BASE, (4 * SIDE * SIDE) as u64).unwrap();
    let pixels = bytes.as_chunks::<4>().0.to_vec();
    (pixels, problems.iter().map(|problem| problem.error.to_string()).collect())
}

/// The same with both engines, without errors.
fn drawn(parts: &[&str], vertices: &[[f32; 4]]) -> Vec<[u8; 4]> {
    let (pixels, problems) = run(Box::<Jit>::default(), parts, vertices);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(run(Box::new(Interp), parts, vertices) == (pixels.clone(), problems), "the engines differ");
    pixels
}

fn at(pixels: &[[u8; 4]], x: usize, y: usize) -> [u8; 4] {
    pixels[SIDE * y + x]
}

const NOTHING: [u8; 4] = [0x11; 4];

/// The columns and rows that are drawn: first and last of each.
fn covered(pixels: &[[u8; 4]]) -> [usize; 4] {
    let places = (0..SIDE * SIDE).filter(|&n| pixels[n] != NOTHING).map(|n| [n % SIDE, n / SIDE]);
    places.fold([SIDE, SIDE, 0, 0], |[left, top, right, bottom], [x, y]| {
        [left.min(x), top.min(y), right.max(x), bottom.max(y)]
    })
}

const SQUARE: [[f32; 4]; 4] =
    [[-1.0, -1.0, 0.0, 1.0], [1.0, -1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]];

/// A strip over the whole window: the texture set is half of the position and a half, and the pixel program stores it.
#[test]
fn a_vertex_program_makes_position_and_varying() {
    let pixels = drawn(&[STATE, TEXTURE, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    for (n, pixel) in pixels.iter().enumerate() {
        let expected = [n % SIDE, n / SIDE].map(|at| ((at as f32 + 0.5) / 8.0 * 255.0).round() as u8);
        assert!(pixel[0].abs_diff(expected[0]) <= 1 && pixel[1].abs_diff(expected[1]) <= 1, "{n}: {pixel:?}");
        assert!(pixel[2].abs_diff(128) <= 1 && pixel[3] == 255, "{n}: {pixel:?}");
    }
}

/// Arrays by indices, with an offset of all indices: the picture of the same vertices in the packet.
#[test]
fn arrays_by_indices_are_the_vertices_of_the_packet() {
    let expected = drawn(&[STATE, TEXTURE, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    let away = [9.0, 9.0, 9.0, 1.0];
    let array = "3D_LOAD_VBPNTR count={ARRAYS: 1}, word=0x404, word=0\nRELOC 1\n";
    let list = "3D_DRAW_VBUF_2 initiator={PRIM_TYPE: TRIANGLE_STRIP, PRIM_WALK: VERTEX_LIST, NUM_VERTICES: 4}\n";
    assert_eq!(drawn(&[STATE, TEXTURE, array, list], &SQUARE), expected);
    let moved = "REGISTERS\n    VAP_INDEX_OFFSET = 2\n";
    let [a, b, c, d] = SQUARE;
    let indexed = "3D_DRAW_INDX_2 initiator={PRIM_TYPE: TRIANGLES, PRIM_WALK: INDICES, NUM_VERTICES: 6}, word=0x10000, word=0x20002, word=0x30001\n";
    assert_eq!(drawn(&[STATE, TEXTURE, array, moved, indexed], &[away, away, a, b, c, d]), expected);
}

/// A user clip plane removes the left half of the picture.
#[test]
fn user_planes_cut() {
    let plane = "
REGISTERS
    VAP_PVS_VECTOR_INDX_REG = 0x602
REGISTERS one
    VAP_PVS_VECTOR_DATA_REG_128 = 1.0
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0
REGISTERS
    VAP_CLIP_CNTL = 0xc004
";
    let pixels = drawn(&[STATE, TEXTURE, plane, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    assert_eq!(covered(&pixels), [4, 0, 7, 7]);
    // A point of 8 x 8 pixels in the middle is cut, too: the driver says that points become fans.
    let point = "REGISTERS\n    GA_POINT_SIZE = 0x300030\n";
    let pixels = drawn(&[STATE, TEXTURE, plane, point, &embedded("POINTS", &[[0.0, 0.0, 0.0, 1.0]])], &[]);
    assert_eq!(covered(&pixels), [4, 0, 7, 7]);
    // Planes that reject points by their centres leave the others whole.
    let centre = "REGISTERS\n    VAP_CLIP_CNTL = 0x4\n";
    let size = "REGISTERS\n    GA_POINT_SIZE = 0xc000c\n";
    let points = [[-0.25, 0.0, 0.0, 1.0], [0.25, 0.0, 0.0, 1.0]];
    let pixels = drawn(&[STATE, TEXTURE, plane, centre, size, &embedded("POINTS", &points)], &[]);
    assert_eq!(covered(&pixels), [4, 3, 5, 4]);
}

/// The point size is the output after the position, in pixels; the limits are half sizes in 1/12 pixel.
#[test]
fn a_vertex_program_sets_the_size_of_points() {
    let sized = program("mov o0, v0\nmov o1.x, c0.x\nmov o2, v0\n");
    let format = "REGISTERS\n    VAP_OUT_VTX_FMT_0 = 0x10001\n    VAP_OUT_VTX_FMT_1 = 4\nREGISTERS\n    RS_IP_0 = 0xc2040\nREGISTERS\n    RS_INST_0 = 0x10\n";
    let four = "REGISTERS\n    VAP_PVS_VECTOR_INDX_REG = 0x400\nREGISTERS one\n    VAP_PVS_VECTOR_DATA_REG_128 = 4.0\n";
    let limits = |least: u32, most: u32| format!("REGISTERS\n    GA_POINT_MINMAX = {:#x}\n", most << 16 | least);
    let point = embedded("POINTS", &[[0.0, 0.0, 0.0, 1.0]]);
    let of = |limits: &str| covered(&drawn(&[STATE, &sized, format, four, limits, &point], &[]));
    assert_eq!(of(&limits(0, 600)), [2, 2, 5, 5]);
    assert_eq!(of(&limits(0, 12)), [3, 3, 4, 4]);
    assert_eq!(of(&limits(36, 600)), [1, 1, 6, 6]);
}

/// Back faces take colours 2 and 3, and B000 is 1 there.
#[test]
fn back_faces_have_colours_of_their_own() {
    // Colour 0 is red, colour 2 green.
    let colours = program("mov o0, v0\nmov o1, v0.1001\nmov o2, v0.0000\nmov o3, v0.0101\nmov o4, v0.0000\n");
    let format = "REGISTERS\n    VAP_OUT_VTX_FMT_0 = 0x1f\n    VAP_OUT_VTX_FMT_1 = 0\nREGISTERS\n    RS_IP_0 = 0\n";
    let colour = "REGISTERS\n    RS_INST_0 = {COL_CN: 1}\n";
    let face = "REGISTERS\n    RS_INST_0 = {COL_CN: 3}\n";
    let [a, b, c, _] = SQUARE;
    // y goes down: a, b, c is clockwise as seen.
    for (triangle, of_face) in [([a, b, c], 0), ([a, c, b], 1)] {
        for clockwise_is_front in [false, true] {
            let is_back = (of_face == 0) != clockwise_is_front;
            let cull = format!("REGISTERS\n    SU_CULL_MODE = {{FACE: {}}}\n", u32::from(clockwise_is_front));
            let draw = embedded("TRIANGLES", &triangle);
            let pixels = drawn(&[STATE, &colours, format, colour, &cull, &draw], &[]);
            let expected = if is_back { [0, 255, 0, 255] } else { [255, 0, 0, 255] };
            assert_eq!(at(&pixels, 1, 1), expected, "{of_face} {clockwise_is_front}");
            let pixels = drawn(&[STATE, &colours, format, face, &cull, &draw], &[]);
            assert_eq!(at(&pixels, 1, 1), [if is_back { 255 } else { 0 }, 0, 0, 0]);
        }
    }
    // Points are front faces.
    let size = "REGISTERS\n    GA_POINT_SIZE = 0xc000c\n";
    for front in ["SU_CULL_MODE = {FACE: 0, CULL_BACK: 1}", "SU_CULL_MODE = {FACE: 1, CULL_BACK: 1}"] {
        let cull = format!("REGISTERS\n    {front}\n");
        let point = embedded("POINTS", &[[0.0, 0.0, 0.0, 1.0]]);
        let pixels = drawn(&[STATE, &colours, format, colour, &cull, size, &point], &[]);
        assert_eq!((covered(&pixels), at(&pixels, 3, 3)), ([3, 3, 4, 4], [255, 0, 0, 255]));
    }
}

/// A program that does wrong is an error that names the vertex, and nothing is drawn.
#[test]
fn a_program_that_leaves_its_words_is_an_error() {
    let wrong = "REGISTERS\n    VAP_PVS_CODE_CNTL_0 = {PVS_FIRST_INST: 9, PVS_LAST_INST: 3}\n";
    let (pixels, problems) =
        run(Box::<Jit>::default(), &[STATE, TEXTURE, wrong, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    assert!(pixels.iter().all(|pixel| *pixel == NOTHING));
    assert!(problems.len() == 1 && problems[0].contains("vertex program, vertex 0"), "{problems:?}");
}

/// So is a pixel program that begins after its last instruction.
#[test]
fn a_pixel_program_that_begins_after_its_end_is_an_error() {
    let begin = "REGISTERS\n    US_CODE_ADDR = {START_ADDR: 5, END_ADDR: 0}\n";
    let parts = [STATE, TEXTURE, begin, &embedded("TRIANGLE_STRIP", &SQUARE)];
    let (pixels, problems) = run(Box::<Jit>::default(), &parts, &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(pixels.iter().all(|&pixel| pixel == NOTHING));
    assert_eq!(run(Box::new(Interp), &parts, &[]), (pixels, problems));
}

/// Loops of the flow-control slots: three times a quarter is added to a half.
#[test]
fn loops_of_slots_run() {
    let text = "mov r0, v0.0000\nadd r0, r0, c1\nmov o0, v0\nmov o1, r0\n";
    let slots = "
REGISTERS
    VAP_PVS_FLOW_CNTL_OPC = {OPC_0: LOOP}
REGISTERS
    VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = {ACT_ADRS: 0, LOOP_CNT_JMP_INST: 3}
    VAP_PVS_FLOW_CNTL_ADDRS_UW_0 = {LAST_INST: 1, RTN_INST: 1}
REGISTERS
    VAP_PVS_FLOW_CNTL_LOOP_INDEX_0 = 0x100
REGISTERS
    VAP_PVS_CONST_CNTL = {PVS_MAX_CONST_ADDR: 1}
REGISTERS
    VAP_PVS_VECTOR_INDX_REG = 0x401
REGISTERS one
    VAP_PVS_VECTOR_DATA_REG_128 = 0.25
    VAP_PVS_VECTOR_DATA_REG_128 = 0.125
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0.5
";
    let parts = [STATE, TEXTURE, &program(text), slots, &embedded("TRIANGLE_STRIP", &SQUARE)];
    let pixels = drawn(&parts, &[]);
    assert!(
        pixels.iter().all(|pixel| pixel[0].abs_diff(191) <= 1 && pixel[1].abs_diff(96) <= 1 && pixel[3] == 255),
        "{:?}",
        pixels[9]
    );
}

/// Constant 1 of the following draws, which is (0.25, 0.125, 0, 0.25).
const STEP: &str = "
REGISTERS
    VAP_PVS_CONST_CNTL = {PVS_MAX_CONST_ADDR: 1}
REGISTERS
    VAP_PVS_VECTOR_INDX_REG = 0x401
REGISTERS one
    VAP_PVS_VECTOR_DATA_REG_128 = 0.25
    VAP_PVS_VECTOR_DATA_REG_128 = 0.125
    VAP_PVS_VECTOR_DATA_REG_128 = 0
    VAP_PVS_VECTOR_DATA_REG_128 = 0.25
";

/// Whether all pixels have this colour, to the nearest fraction of 255.
fn is_whole(pixels: &[[u8; 4]], colour: [f32; 4]) -> bool {
    let expected = colour.map(|x| (x * 255.0).round() as u8);
    pixels.iter().all(|pixel| pixel.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1))
}

/// Jumps and subroutines of the flow-control slots: a jump leaves out an addition; a subroutine behind a jump is called twice.
#[test]
fn jumps_and_subroutines_of_slots_run() {
    let jump = "
REGISTERS
    VAP_PVS_FLOW_CNTL_OPC = {OPC_0: JUMP}
REGISTERS
    VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = {ACT_ADRS: 0, LOOP_CNT_JMP_INST: 2}
";
    let over = program("mov r0, c1\nadd r0, r0, c1\nmov o0, v0\nmov o1, r0\n");
    let pixels = drawn(&[STATE, TEXTURE, &over, STEP, jump, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    assert!(is_whole(&pixels, [0.25, 0.125, 0.0, 0.25]), "{:?}", pixels[9]);
    // 0 and 1 call instruction 3, which goes on at 1 and 2; 2 jumps over it.
    let calls = "
REGISTERS
    VAP_PVS_FLOW_CNTL_OPC = {OPC_0: JSR, OPC_1: JSR, OPC_2: JUMP}
REGISTERS
    VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = {ACT_ADRS: 0, LOOP_CNT_JMP_INST: 3}
    VAP_PVS_FLOW_CNTL_ADDRS_UW_0 = {LAST_INST: 3, RTN_INST: 1}
    VAP_PVS_FLOW_CNTL_ADDRS_LW_1 = {ACT_ADRS: 1, LOOP_CNT_JMP_INST: 3}
    VAP_PVS_FLOW_CNTL_ADDRS_UW_1 = {LAST_INST: 3, RTN_INST: 2}
    VAP_PVS_FLOW_CNTL_ADDRS_LW_2 = {ACT_ADRS: 2, LOOP_CNT_JMP_INST: 4}
";
    let called = program("mov r0, c1\nadd r0, r0, c1\nmov o0, v0\nadd r0, r0, c1\nmov o1, r0\n");
    let pixels = drawn(&[STATE, TEXTURE, &called, STEP, calls, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    assert!(is_whole(&pixels, [1.0, 0.5, 0.0, 1.0]), "{:?}", pixels[9]);
}

/// A math operation beside a vector operation: the reciprocal of 0.25 is a quarter of 16, which the next instruction reads.
#[test]
fn math_operations_run_beside_vector_operations() {
    let text = "mul r0, c1, c1 + rcp at0.x, c1.x\nmov o0, v0\nmul o1, r0, at0.x\n";
    let pixels = drawn(&[STATE, TEXTURE, &program(text), STEP, &embedded("TRIANGLE_STRIP", &SQUARE)], &[]);
    assert!(is_whole(&pixels, [0.25, 0.0625, 0.0, 0.25]), "{:?}", pixels[9]);
}

/// An element of eight floats fills two vectors: here position and colour.
#[test]
fn eight_floats_are_two_vectors() {
    let state = "REGISTERS
    VAP_PROG_STREAM_CNTL_0 = {DATA_TYPE_0: FLOAT_8, DST_VEC_LOC_0: 2, LAST_VEC_0: 1}
REGISTERS
    VAP_VTX_SIZE = 8
REGISTERS
    VAP_OUT_VTX_FMT_0 = 1
    VAP_OUT_VTX_FMT_1 = 4
REGISTERS
    RS_IP_0 = 0xc2040
REGISTERS
    RS_INST_0 = 0x10
";
    let words: String = SQUARE
        .iter()
        .flat_map(|position| position.iter().chain(&[1.0, 0.2, 0.4, 0.6]))
        .map(|x| format!(", word={x:?}"))
        .collect();
    let draw = format!(
        "3D_DRAW_IMMD_2 initiator={{PRIM_TYPE: TRIANGLE_STRIP, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 4}}{words}\n"
    );
    let pixels = drawn(&[STATE, state, &program("mov o0, v2\nmov o1, v3\n"), &draw], &[]);
    assert_eq!(covered(&pixels), [0, 0, 7, 7]);
    assert_eq!(at(&pixels, 3, 4), [255, 51, 102, 153]);
}
