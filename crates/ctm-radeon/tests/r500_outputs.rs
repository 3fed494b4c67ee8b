//! Pixels of an R500 after its pixel program: alpha tests, constants of blending, samples and their resolve, stippled lines. Truth: the register chapters of AMD's guide,
//! the words that Mesa's r300 driver writes for the same, and OpenGL 2.1 where these say nothing.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::r500_vertices::{STATE, embedded, program};
use ctm_exec::{Engine, Interp};
use ctm_jit::Jit;
use ctm_radeon::Relocation;
use ctm_radeon::execute::{Buffers, Device, GpuMemory};
use ctm_radeon::packets::r500::RV530;
use ctm_radeon::text::assemble_for;

/// Where the target lies; pixels that are resolved come after it.
const BASE: u64 = 1 << 20;
const BYTES: usize = 1 << 14;

/// A vertex program whose set of texture coordinates is constant 1.
fn coloured() -> String {
    let state = "REGISTERS\n    VAP_PVS_CONST_CNTL = {PVS_MAX_CONST_ADDR: 7}\nREGISTERS\n    VAP_OUT_VTX_FMT_0 = 1\n    VAP_OUT_VTX_FMT_1 = 4\nREGISTERS\n    \
                 RS_IP_0 = 0xc2040\nREGISTERS\n    RS_INST_0 = 0x10\n";
    format!("{}{state}", program("mov o0, v0\nmov o1, c1\n"))
}

/// The colour of the following draws.
fn colour(colour: [f32; 4]) -> String {
    let words: String = colour.iter().map(|x| format!("    VAP_PVS_VECTOR_DATA_REG_128 = {x:?}\n")).collect();
    format!("REGISTERS\n    VAP_PVS_VECTOR_INDX_REG = 0x401\nREGISTERS one\n{words}")
}

/// A register.
fn set(name: &str, value: &str) -> String {
    format!("REGISTERS\n    {name} = {value}\n")
}

/// A square from column 0 to `right` of the eight, over all rows.
fn square(right: f32) -> String {
    let x = right / 4.0 - 1.0;
    embedded("QUADS", &[[-1.0, -1.0, 0.0, 1.0], [x, -1.0, 0.0, 1.0], [x, 1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 1.0]])
}

/// The bytes of the two buffers after a stream, which both engines leave.
fn drawn(parts: &[String]) -> [Vec<u8>; 2] {
    let run = |engine: Box<dyn Engine>| {
        let text = format!("{STATE}{}{}", coloured(), parts.concat());
        let words = assemble_for(&RV530, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut memory = Buffers::default();
        let relocations = [1, 2].map(|n| Relocation { handle: n, base: u64::from(n) * BASE, size: BYTES as u64 });
        for of in &relocations {
            memory.insert(of.base, vec![0; BYTES]);
        }
        let mut device = Device::new(engine);
        device.set_chip(&RV530);
        assert_eq!(device.submit(&words, &relocations, &mut memory).problems, []);
        relocations.map(|of| memory.bytes(of.base, BYTES as u64).unwrap().to_vec())
    };
    let all = run(Box::<Jit>::default());
    assert!(all == run(Box::new(Interp)), "the engines differ");
    all
}

/// The first pixel as floats.
fn first(bytes: &[u8]) -> [f32; 4] {
    std::array::from_fn(|n| f32::from_le_bytes(bytes[4 * n..][..4].try_into().unwrap()))
}

/// Alphas are rounded to the numbers that the test compares: 8 bits, 10 bits, half floats. 0.4 is none of them, and equal to itself (piglit's fbo-alphatest-formats).
#[test]
fn alpha_tests_compare_rounded_alphas() {
    for (form, value, near) in [
        ("AF_EN_8BIT: 1, AF_VAL: 102", 0, 0.4019),
        ("AF_EN: 1", 409, 0.3997),
        // The nearest half float, as a driver writes it.
        ("FP16: 1", 0x3666, 0.40001),
    ] {
        for (function, passes) in [("EQUAL", true), ("NOTEQUAL", false), ("LEQUAL", true), ("LESS", false)] {
            for alpha in [0.4, near, 0.7] {
                let form = if form.contains("AF_EN:") { form.to_string() } else { format!("AF_EN: 1, {form}") };
                let all = drawn(&[
                    colour([1.0, 1.0, 1.0, alpha]),
                    set("FG_ALPHA_VALUE", &value.to_string()),
                    set("FG_ALPHA_FUNC", &format!("{{AF_FUNC: {function}, {form}}}")),
                    square(8.0),
                ]);
                let expected = if alpha == 0.7 { function == "NOTEQUAL" } else { passes };
                assert_eq!(all[0][0] != 0, expected, "{form} {function} {alpha}");
            }
        }
    }
}

/// The constant colour has 10 bits for targets of one or two floats, under the names of its channels, and half floats in the order of the cell for four half floats.
#[test]
fn constants_of_blending_have_the_form_of_the_target() {
    let blend =
        set("RB3D_BLENDCNTL", "{ALPHA_BLEND_ENABLE: 1, READ_ENABLE: 1, SRCBLEND: CONST_COLOR, DESTBLEND: ZERO}");
    let draw = |target: &str, output: &str, constants: [&str; 2]| {
        let all = drawn(&[
            set("RB3D_COLORPITCH0", &format!("{{COLORPITCH: 4, COLORFORMAT: {target}}}")),
            set("US_OUT_FMT_0", &format!("{{OUT_FMT: {output}}}")),
            set("RB3D_CONSTANT_COLOR_AR", constants[0]),
            set("RB3D_CONSTANT_COLOR_GB", constants[1]),
            colour([1.0; 4]),
            blend.clone(),
            square(8.0),
        ]);
        all[0].clone()
    };
    // 0.2, 0.8, 0.4 and 0.6 as red, green, blue and alpha: the words of Mesa's driver for all targets but those of four half floats.
    let tens = ["{RED: 204, ALPHA: 614}", "{BLUE: 409, GREEN: 819}"];
    let near = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
    near(first(&draw("ARGB8888", "C_32_FP, C0_SEL: RED", tens))[0], 0.2);
    let two = first(&draw("ARGB16161616", "C2_32_FP, C0_SEL: RED, C2_SEL: GREEN", tens));
    near(two[0], 0.2);
    near(two[1], 0.8);
    // 8 bits: red in the lowest component, whose slot is named blue.
    let bytes = draw("ARGB8888", "C4_8, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA", tens);
    assert_eq!(bytes[..4], [102, 204, 51, 153]);
    let bits = draw("ARGB2101010", "C4_10, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA", tens);
    assert_eq!(u32::from_le_bytes(bits[..4].try_into().unwrap()), 2 << 30 | 409 << 20 | 819 << 10 | 204);
    // One component of 8 bits has the slot named green, where the driver puts red or alpha; of two, the second has the slot named blue.
    let alpha = ["{RED: 204, ALPHA: 614}", "{BLUE: 409, GREEN: 614}"];
    assert_eq!(draw("I8", "C4_8, C2_SEL: ALPHA", alpha)[0], 153);
    let green = ["{RED: 204, ALPHA: 614}", "{BLUE: 819, GREEN: 819}"];
    assert_eq!(draw("UV88", "C4_8, C2_SEL: RED, C0_SEL: GREEN", green)[..2], [51, 204]);
    // 1, 2, 0.5 and 0.25 as half floats, red in the slot named blue.
    let halves = ["{RED: 0x3800, ALPHA: 0x3400}", "{BLUE: 0x3c00, GREEN: 0x4000}"];
    let bytes = draw("ARGB16161616", "C4_16_FP, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA", halves);
    assert_eq!(bytes[..8], [0, 0x3c, 0, 0x40, 0, 0x38, 0, 0x34]);
}

/// Masks of channels by the slots of the stored components: the table of cells in the reference. A slot that is on lets the bytes change that are listed.
#[test]
fn masks_have_the_slots_of_the_cell() {
    // Cell, output, and for the slots 0 to 3 the bytes of a pixel that a mask of this slot alone lets change.
    type Row<'r> = (&'r str, &'r str, [&'r [usize]; 4]);
    let table: [Row<'_>; 9] = [
        ("ARGB8888", "C4_8, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA", [&[0], &[1], &[2], &[3]]),
        ("ARGB8888", "C4_8, C0_SEL: BLUE, C1_SEL: GREEN, C2_SEL: RED, C3_SEL: ALPHA", [&[0], &[1], &[2], &[3]]),
        (
            "ARGB16161616",
            "C4_16, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA",
            [&[0, 1], &[2, 3], &[4, 5], &[6, 7]],
        ),
        (
            "ARGB32323232",
            "C4_32_FP, C0_SEL: RED, C1_SEL: GREEN, C2_SEL: BLUE, C3_SEL: ALPHA",
            [&[0, 1, 2, 3], &[4, 5, 6, 7], &[8, 9, 10, 11], &[12, 13, 14, 15]],
        ),
        ("UV88", "C4_8, C2_SEL: RED, C0_SEL: GREEN", [&[1], &[], &[0], &[]]),
        ("UV88", "C4_8, C2_SEL: RED, C0_SEL: ALPHA", [&[1], &[], &[0], &[]]),
        ("UV88", "C_16, C0_SEL: RED", [&[0, 1], &[], &[], &[]]),
        // Drivers set slots 1 and 2, or 0 and 3, alike.
        ("ARGB8888", "C2_16, C0_SEL: RED, C1_SEL: GREEN", [&[2, 3], &[], &[0, 1], &[]]),
        ("ARGB16161616", "C2_32_FP, C0_SEL: RED, C2_SEL: GREEN", [&[4, 5, 6, 7], &[], &[0, 1, 2, 3], &[]]),
    ];
    for (cell, output, slots) in table {
        let draw = |mask: u32| {
            let [bytes, _] = drawn(&[
                set("RB3D_COLORPITCH0", &format!("{{COLORPITCH: 4, COLORFORMAT: {cell}}}")),
                set("US_OUT_FMT_0", &format!("{{OUT_FMT: {output}}}")),
                set("RB3D_COLOR_CHANNEL_MASK", "15"),
                // No byte of it is zero in any cell.
                colour([0.1; 4]),
                square(8.0),
                set("RB3D_COLOR_CHANNEL_MASK", &mask.to_string()),
                colour([0.0; 4]),
                square(8.0),
            ]);
            let zeros: Vec<usize> = (0..16).filter(|&n| bytes[n] == 0).collect();
            zeros
        };
        for (slot, expected) in slots.iter().enumerate() {
            let size = slots.iter().flat_map(|bytes| bytes.iter()).max().unwrap() + 1;
            let found: Vec<usize> = draw(1 << slot).into_iter().filter(|&n| n < size).collect();
            assert_eq!(found, *expected, "{cell}, {output}, slot {slot}");
        }
    }
}

/// Samples lie at the places of GB_MSPOS in twelfths of a pixel, and the resolve stores their mean: an edge through a pixel leaves the share of the samples on its left.
/// The places are those of Mesa's driver.
#[test]
fn the_resolve_stores_the_mean_of_samples() {
    for (samples, count, places, edges) in [
        ("2_SUBSAMPLES", 2, [0x3393_3993u32, 0x0099_3993], [(3.5, 1), (3.1, 0), (4.0, 2)]),
        ("4_SUBSAMPLES", 4, [0x22a2_8844, 0x022a_2a2a], [(3.5, 2), (3.25, 1), (3.75, 3)]),
        ("6_SUBSAMPLES", 6, [0x115b_3713, 0x01a9_9571], [(3.5, 3), (3.17, 1), (3.8, 5)]),
    ] {
        for (edge, covered) in edges {
            let [_, resolved] = drawn(&[
                set("GB_MSPOS0", &format!("{:#x}", places[0])),
                set("GB_MSPOS1", &format!("{:#x}", places[1])),
                set("GB_AA_CONFIG", &format!("{{AA_ENABLE: 1, NUM_AA_SUBSAMPLES: {samples}}}")),
                colour([0.0, 0.0, 0.0, 1.0]),
                square(8.0),
                colour([1.0; 4]),
                square(edge),
                "REGISTERS\n    RB3D_AARESOLVE_OFFSET = 0\nRELOC 1\n".into(),
                set("RB3D_AARESOLVE_PITCH", "{AARESOLVE_PITCH: 4}"),
                set("RB3D_AARESOLVE_CTL", "{AARESOLVE_MODE: RESOLVE, AARESOLVE_ALPHA: AVERAGE}"),
                colour([0.5; 4]),
                square(8.0),
            ]);
            for (column, share) in [(2, count), (3, covered), (4, 0)] {
                let expected = 255.0 * share as f32 / count as f32;
                for row in 0..8 {
                    let pixel = &resolved[4 * (8 * row + column)..][..4];
                    assert!(
                        (f32::from(pixel[0]) - expected).abs() <= 1.0,
                        "{samples} {edge}: {column}, {row}: {pixel:?}"
                    );
                    assert_eq!(pixel[3], 255);
                }
            }
        }
    }
}

/// With alpha to coverage no sample is covered at 0, every sample at 1, and not fewer with more.
#[test]
fn alpha_becomes_coverage() {
    let mut before = 0;
    for (alpha, expected) in [(0.0, Some(0)), (0.25, None), (0.5, None), (0.75, None), (1.0, Some(255))] {
        let [_, resolved] = drawn(&[
            set("GB_MSPOS0", "0x22a28844"),
            set("GB_MSPOS1", "0x022a2a2a"),
            set("GB_AA_CONFIG", "{AA_ENABLE: 1, NUM_AA_SUBSAMPLES: 4_SUBSAMPLES}"),
            set("FG_ALPHA_FUNC", "{AM_EN: 1, AM_CFG: 2_OR_4}"),
            colour([1.0, 1.0, 1.0, alpha]),
            square(8.0),
            set("FG_ALPHA_FUNC", "0"),
            "REGISTERS\n    RB3D_AARESOLVE_OFFSET = 0\nRELOC 1\n".into(),
            set("RB3D_AARESOLVE_PITCH", "{AARESOLVE_PITCH: 4}"),
            set("RB3D_AARESOLVE_CTL", "{AARESOLVE_MODE: RESOLVE, AARESOLVE_ALPHA: AVERAGE}"),
            square(8.0),
        ]);
        let red = resolved[0];
        assert!(red >= before && expected.is_none_or(|expected| red == expected), "{alpha}: {red}");
        before = red;
    }
}

/// The pattern of a line begins with its lowest bit at each line, and each bit holds for the repetitions (OpenGL 2.1 §3.4.2).
#[test]
fn lines_are_stippled() {
    for (pattern, factor, expected) in [
        (0xffffu32, 1, [1, 1, 1, 1, 1, 1, 1, 1]),
        (0x3333, 1, [1, 1, 0, 0, 1, 1, 0, 0]),
        (0xfff1, 1, [1, 0, 0, 0, 1, 1, 1, 1]),
        (0x0005, 2, [1, 1, 0, 0, 1, 1, 0, 0]),
        (0x0002, 3, [0, 0, 0, 1, 1, 1, 0, 0]),
    ] {
        // The driver writes the repetitions less one, as a float.
        let config = (factor as f32 - 1.0).to_bits() | 1;
        // From 0.25, in the diamond of column 0, to 8, which is not beyond that of column 7.
        let line = |y: f32| embedded("LINES", &[[-0.9375, y, 0.0, 1.0], [1.0, y, 0.0, 1.0]]);
        let [pixels, _] = drawn(&[
            set("GA_LINE_CNTL", "{WIDTH: 6}"),
            set("GA_LINE_STIPPLE_CONFIG", &format!("{config:#x}")),
            set("GA_LINE_STIPPLE_VALUE", &format!("{pattern:#x}")),
            colour([1.0; 4]),
            line(0.125),
            line(0.625),
        ]);
        for row in [4, 6] {
            let found: Vec<u8> = (0..8).map(|column| pixels[4 * (8 * row + column)] / 255).collect();
            assert_eq!(found[..7], expected[..7], "{pattern:#x} {factor} in row {row}");
        }
    }
}
