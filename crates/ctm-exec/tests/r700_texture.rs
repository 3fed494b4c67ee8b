//! Texture sampling of R700 against a separately written texture unit (`texture_reference`): a grid of instructions, kinds of textures, sizes,
//! filters, mipmap filters, wraps, modifiers and coordinates.
//!
//! The grid has some 220,000 places of 64 pixels each; a spread of them is tried, `CTM_RANDOM=n` tries n times as many, `CTM_TEXTURES=all` every one.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::texture_reference;

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Sampler, Target, Texture};
use ctm_exec::{Domain, Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::collections::{BTreeMap, BTreeSet};
use texture_reference::{Query, Unit};

const OPS: &[&str] = &[
    "SAMPLE",
    "SAMPLE_L",
    "SAMPLE_LB",
    "SAMPLE_LZ",
    "SAMPLE_G",
    "SAMPLE_G_L",
    "SAMPLE_G_LB",
    "SAMPLE_G_LZ",
    "SAMPLE_C",
    "SAMPLE_C_L",
    "SAMPLE_C_LB",
    "SAMPLE_C_LZ",
    "SAMPLE_C_G",
    "SAMPLE_C_G_L",
    "SAMPLE_C_G_LB",
    "SAMPLE_C_G_LZ",
    "GET_COMP_TEX_LOD",
    "GET_GRADIENTS_H",
    "GET_GRADIENTS_V",
    "GET_LERP",
    "KEEP_GRADIENTS",
    "FETCH4",
];
const KINDS: [TextureKind; 7] = [
    TextureKind::OneD,
    TextureKind::TwoD,
    TextureKind::ThreeD,
    TextureKind::Cube,
    TextureKind::OneDArray,
    TextureKind::TwoDArray,
    TextureKind::CubeArray,
];
const FILTERS: [[Filter; 2]; 4] = [
    [Filter::Nearest, Filter::Nearest],
    [Filter::Linear, Filter::Linear],
    [Filter::Nearest, Filter::Linear],
    [Filter::Linear, Filter::Nearest],
];
const MIPS: [MipFilter; 3] = [MipFilter::None, MipFilter::Nearest, MipFilter::Linear];
const WRAPS: [[Wrap; 3]; 6] = [
    [Wrap::Clamp; 3],
    [Wrap::Repeat; 3],
    [Wrap::Mirror; 3],
    [Wrap::Border; 3],
    [Wrap::Border, Wrap::Repeat, Wrap::Clamp],
    [Wrap::Mirror, Wrap::Border, Wrap::Repeat],
];
/// Text of the modifiers, LOD_BIAS, offsets, normalised axes, BC_FRAC_MODE.
type Modifiers = (&'static str, f64, [f64; 3], [bool; 3], bool);
const MODIFIERS: [Modifiers; 5] = [
    ("", 0.0, [0.0; 3], [true; 3], false),
    ("DENORM(XYZ)", 0.0, [0.0; 3], [false; 3], false),
    ("LOD(-0.5) XOFFSET(1.5) YOFFSET(-2) ZOFFSET(0.5)", -0.5, [1.5, -2.0, 0.5], [true; 3], false),
    ("LOD(1.25) DENORM(Y) XOFFSET(-8)", 1.25, [-8.0, 0.0, 0.0], [true, false, true], false),
    ("BC_FRAC_MODE", 0.0, [0.0; 3], [true; 3], true),
];
const SIDE: u32 = 8;

fn image(kind: TextureKind, odd: bool) -> Image {
    let (width, height, depth) = match (kind, odd) {
        (TextureKind::OneD, false) => (8, 1, 1),
        (TextureKind::OneD, true) => (7, 1, 1),
        (TextureKind::TwoD, false) => (8, 4, 1),
        (TextureKind::TwoD, true) => (5, 3, 1),
        (TextureKind::ThreeD, false) => (4, 8, 4),
        (TextureKind::ThreeD, true) => (3, 5, 2),
        (TextureKind::Cube, false) => (4, 4, 6),
        (TextureKind::Cube, true) => (5, 5, 6),
        (TextureKind::OneDArray, false) => (8, 1, 4),
        (TextureKind::OneDArray, true) => (5, 1, 3),
        (TextureKind::TwoDArray, false) => (4, 4, 2),
        (TextureKind::TwoDArray, true) => (3, 6, 5),
        (TextureKind::CubeArray, false) => (4, 4, 18),
        (TextureKind::CubeArray, true) => (3, 3, 12),
    };
    let texture = Texture { kind, width, height, depth, levels: 3, ..Default::default() };
    let levels = (0..3u32).map(|level| {
        let [w, h, d] = texture.size(level);
        // Texels of no pattern, quarters, so that every mixture of them is nearly exact and comparisons meet equal numbers.
        let texel = |n: u32| {
            [1u32, 2, 3, 4].map(|c| {
                let mixed = (n + 1)
                    .wrapping_mul(0x9e37_79b1)
                    .wrapping_add(level * 77 + c)
                    .wrapping_mul(c.wrapping_mul(0x85eb_ca6b) | 1);
                ((mixed >> 27) as f32 * 0.25 - 2.0).to_bits()
            })
        };
        (0..w * h * d).map(texel).collect()
    });
    Image { texture, levels: levels.collect() }
}

/// One place of the grid.
#[derive(Clone, Copy, Debug)]
struct Case {
    op: usize,
    kind: usize,
    odd: bool,
    filter: usize,
    mip: usize,
    wrap: usize,
    modifier: usize,
    planes: usize,
}

const CASES: u64 = 22 * 7 * 2 * 4 * 3 * 6 * 5 * 2;

impl Case {
    fn new(mut n: u64) -> Self {
        let mut next = |count: usize| {
            let part = n % count as u64;
            n /= count as u64;
            part as usize
        };
        Self {
            op: next(OPS.len()),
            kind: next(7),
            odd: next(2) == 1,
            filter: next(4),
            mip: next(3),
            wrap: next(6),
            modifier: next(5),
            planes: next(2),
        }
    }

    fn sampler(&self) -> Sampler {
        let [magnify, minify] = FILTERS[self.filter];
        let place = self.op + self.kind + self.filter + self.wrap;
        Sampler {
            magnify,
            minify,
            mip: MIPS[self.mip],
            wrap: WRAPS[self.wrap],
            mirrors_once: [place % 4 == 1, place % 8 == 3, place % 8 == 5],
            half_border: [place % 6 == 4, place % 6 == 5, place % 12 == 7],
            border: [0.5f32, -1.5, 7.0, 0.25].map(f32::to_bits),
            min_lod: if place % 5 == 1 { 0.75 } else { -8.0 },
            max_lod: if place % 7 == 2 { 1.25 } else { 15.0 },
            lod_bias: if place % 3 == 1 { 0.5 } else { 0.0 },
            compare: Compare::ALL[(self.op + self.wrap + self.mip) % 8],
            ..Sampler::default()
        }
    }

    /// Coordinates in R0, gradients in R1 and R2, the cube in R3. All numbers have few bits, so that scaling them is exact.
    fn planes(&self) -> Vec<Plane> {
        let plane = |temp, origin, di, dj| Plane { temp, origin, di, dj, bits: false };
        let slices = if self.kind >= 3 { [0.75, 0.75] } else { [0.1875, 0.0625] };
        let scale = |[x, y, z, w]: [f64; 4]| {
            // Coordinates that count texels reach further.
            let [nx, ny, nz] = MODIFIERS[self.modifier].3;
            let by = |normalised: bool| if normalised { 1.0 } else { 4.0 };
            [x * by(nx), y * by(ny), if self.kind >= 3 { z } else { z * by(nz) }, w]
        };
        let first = if self.planes == 0 {
            // About a texel a pixel and less.
            plane(
                0,
                scale([-0.46875, 1.28125, -0.5, -1.0]),
                scale([0.15625, 0.03125, slices[0], 0.375]),
                scale([0.046875, -0.171875, slices[1], 0.25]),
            )
        } else {
            plane(
                0,
                scale([1.5, -1.25, 2.25, 2.5]),
                scale([-0.53125, 0.28125, -0.125, -0.5]),
                scale([0.28125, 0.40625, 0.25, 0.125]),
            )
        };
        let (h, v) = ([0.4375, 0.125, 0.0625, 0.0], [0.1875, -0.28125, 0.25, 0.0]);
        vec![
            first,
            plane(1, h, [0.03125, 0.0, 0.0, 0.0], [0.0; 4]),
            plane(2, v, [0.0; 4], [0.0, 0.0625, 0.0, 0.0]),
            plane(3, [-0.75, 0.0, 0.0, 0.0], [0.4375, 0.0, 0.0, 0.0], [0.0; 4]),
        ]
    }

    fn run(&self, programs: &mut BTreeMap<(usize, usize), Program>) -> Result<u64, String> {
        let (text, bias, offset, normalised, black) = MODIFIERS[self.modifier];
        let program = programs.entry((self.op, self.modifier)).or_insert_with(|| {
            let source = format!(
                "TEX:\n SET_GRADIENTS_H R4.____, R1.xyz0, t4, s2\n SET_GRADIENTS_V R4.____, R2.xyz0, t4, s2\n \
                 SET_CUBEMAP_INDEX R4.____, R3.xxx0, t4, s2\n {} R4.xyzw, R0.xyzw, t4, s2 {text}\nEXP_DONE: PIX0, R4.xyzw\nEND_OF_PROGRAM\n",
                OPS[self.op]
            );
            let assembly = assemble(&source, &TextOptions::default());
            assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
        });
        let (image, sampler, planes) = (image(KINDS[self.kind], self.odd), self.sampler(), self.planes());
        let constants = Constants::default();
        let domain = Domain { i0: 0, j0: 0, i1: SIDE - 1, j1: SIDE - 1 };
        let mut memory = Arrays::default();
        memory.textures.insert(4, image.clone());
        memory.samplers.insert(2, sampler);
        memory.targets.insert(Target::Pixel(0), Picture::filled(SIDE, SIDE, [-99.0; 4]));
        Interp
            .run_r700(&Launch { planes: &planes, ..Launch::new(program, &constants, domain) }, &mut memory)
            .map_err(|fault| format!("{self:?}: {fault}"))?;
        let mut compared = 0;
        for (i, j) in (0..SIDE * SIDE).map(|n| (n % SIDE, n / SIDE)) {
            let of = |plane: &Plane, i: u32, j: u32| plane.at(i.into(), j.into()).map(|b| f64::from(f32::from_bits(b)));
            let three = |[x, y, z, _]: [f64; 4]| [x, y, z];
            let corner = |n: u32| of(&planes[0], (i & !1) + n % 2, (j & !1) + n / 2);
            let index = of(&planes[3], i, j)[0].round_ties_even().max(0.0) as u32;
            let query = Query {
                op: OPS[self.op],
                quad: [corner(0), corner(1), corner(2), corner(3)],
                lane: (i % 2 + j % 2 * 2) as usize,
                bias,
                offset,
                normalised,
                set: [three(of(&planes[1], i, j)), three(of(&planes[2], i, j))],
                cube: index,
                black,
            };
            let unit = Unit { image: &image, sampler, query };
            if !unit.is_settled(unit.lod()) {
                continue;
            }
            let expected = unit.answer();
            let got = memory.targets[&Target::Pixel(0)].get(i, j).unwrap().map(f32::from_bits);
            for (got, expected) in got.into_iter().zip(expected) {
                let got = f64::from(got);
                if got != expected && (got - expected).abs() > 3e-5 * expected.abs().max(1.0) || got.is_nan() {
                    return Err(format!("{self:?} pixel ({i}, {j}): {got} for {expected}, {:?}", unit.query));
                }
            }
            compared += 1;
        }
        Ok(compared)
    }
}

#[test]
fn lookups_agree_with_a_separate_texture_unit() {
    let all = std::env::var("CTM_TEXTURES").is_ok_and(|v| v == "all");
    let times: u64 = std::env::var("CTM_RANDOM").map_or(1, |v| v.parse().unwrap());
    let count = if all { CASES } else { (8000 * times).min(CASES) };
    let mut programs = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut compared = 0;
    for n in 0..count {
        // A step without common divisors visits every place once, and soon all values of every column.
        let case = Case::new(if all { n } else { n * 87_433 % CASES });
        seen.insert((OPS[case.op], case.kind));
        compared += case.run(&mut programs).unwrap_or_else(|difference| panic!("{difference}"));
    }
    assert_eq!(seen.len(), OPS.len() * KINDS.len());
    assert!(compared > count * 40, "{compared} pixels of {count} places");
}
