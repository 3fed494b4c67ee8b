//! Effects of options, client data in the image, and values that no evaluator with finite numbers can give.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::harness;

use ctm_exec::arrays::Picture;
use ctm_isa::x1k::Inst;
use ctm_isa::x1k::program::{Literal, Symbol, SymbolKind};
use ctm_ps3::{Options, compile};

/// Output 0 of pixel (x, y).
fn at(text: &str, options: Options, x: u32, y: u32) -> [f32; 4] {
    let program = harness::compiled(text, &options);
    let memory = harness::run(&program, &harness::world(), 16);
    memory.outputs[0].as_ref().unwrap().get(x, y).unwrap().map(f32::from_bits)
}

const ZEROS: &str = "ps_3_0
def c20, 0, 0, 0, 0
dcl vPos.xy
mul r0, vPos.xyxy, c20
nrm r1.xyz, r0
pow r1.w, r0.x, r0.y
mov oC0, r1
";

#[test]
fn zero_times_infinity_is_zero_unless_ieee_is_asked_for() {
    assert_eq!(at(ZEROS, Options::default(), 3, 2), [0.0, 0.0, 0.0, 1.0]);
    let ieee = Options { ieee_products: true, ..Options::default() };
    assert!(at(ZEROS, ieee, 3, 2).iter().all(|v| v.is_nan()));
}

#[test]
fn special_values_are_those_of_the_machine() {
    let text = "ps_3_0
def c20, 0, -1, 4, -4
dcl vPos.xy
mul r0, vPos.x, c20.x
rcp r1.x, r0.x
rsq r1.y, r0.x
log r1.z, r0.x
rsq r1.w, c20.w
mov oC0, r1
";
    assert_eq!(at(text, Options::default(), 1, 0), [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, 0.5]);
    // A comparison with infinity: it is not equal to itself.
    let text = "ps_3_0
def c20, 0, 1, 2, 3
dcl vPos.xy
mul r0, vPos.x, c20.x
rcp r1, r0.x
mov r2, c20.x
if_gt r1.x, vPos.x
mov r2.x, c20.y
endif
if_eq r1.x, r1.y
mov r2.y, c20.z
endif
mov oC0, r2
";
    assert_eq!(at(text, Options::default(), 2, 2), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn coordinates_count_elements_or_go_from_zero_to_one() {
    let text = "ps_3_0
def c20, 0.125, 0.0625, 0, 0
dcl vPos.xy
dcl_2d s1
mad r0.xy, vPos, c20.x, c20.y
texld r0, r0, s1
mov oC0, r0
";
    let world = harness::world();
    let element = |x, y| world.pictures[1].get(x, y).unwrap().map(f32::from_bits);
    let normalized = Options { normalized_coordinates: true, ..Options::default() };
    assert_eq!(at(text, normalized, 3, 5), element(3, 5));
    assert_eq!(at(text, Options::default(), 3, 5), element(0, 0));
}

#[test]
fn constants_are_symbols_or_literals() {
    let text = "ps_3_0
def c3, 7, 0.3, 0, 0
defi i1, 5, 0, 1, 0
defb b1, true
dcl vPos.xy
dcl_2d s2
texld r0, vPos, s2
rep i0
add r0, r0, c8
endrep
rep i1
if b0
mad r0, r0, c3.y, c3.x
endif
endrep
if b1
mov oC2, r0
endif
sincos r1.xy, r0.x
mov oC0, r1.xyxx
";
    let program = compile(text, &Options::default()).program.unwrap();
    let symbol = |name: &str, kind, index| Symbol { name: name.to_owned(), kind, index };
    let mut wanted = vec![
        symbol("s2", SymbolKind::Input, 2),
        symbol("oC0", SymbolKind::Output, 0),
        symbol("oC2", SymbolKind::Output, 2),
        symbol("c8", SymbolKind::Float, 8),
        symbol("i0", SymbolKind::Int, 0),
        symbol("b0", SymbolKind::Bool, 0),
    ];
    let mut found = program.symbols.clone();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
    let bits = |v: f32| v.to_bits();
    assert!(program.literals.contains(&Literal::Float { index: 3, bits: [bits(7.0), bits(0.3), 0, 0] }));
    assert!(program.literals.contains(&Literal::Int { index: 1, value: [5, 0, 1, 0] }));
    assert!(program.literals.contains(&Literal::Bool { index: 1, value: true }));
    // The compiler's own number is used where the shader has none.
    let own: Vec<u8> = program
        .literals
        .iter()
        .filter_map(|l| if let Literal::Float { index, .. } = l { Some(*index) } else { None })
        .filter(|i| ![3, 8].contains(i))
        .collect();
    assert_eq!(own.len(), 1);
}

#[test]
fn spans_are_places_in_the_shader() {
    let text = "ps_3_0\ndcl vPos.xy\nrep i0\nadd oC0, vPos.xyxy, c0\nendrep\n";
    let program = compile(text, &Options::default()).program.unwrap();
    let words: Vec<&str> =
        program.spans.iter().map(|s| &text[s.start as usize..s.end as usize]).filter(|s| !s.is_empty()).collect();
    assert!(words.contains(&"rep i0") && words.contains(&"add oC0, vPos.xyxy, c0"), "{words:?}");
}

#[test]
fn older_versions_are_read() {
    let text = "ps_2_0
def c20, 0.5, 1, 2, 3
dcl t0.xyz
dcl t1.xy
dcl_2d s0
texld r0, t1, s0
texkill t0
mad_sat r0, r0, c20.x, t0.xyzz
mov oC0, r0
";
    let result = compile(text, &Options::default());
    let program = result.program.unwrap_or_else(|| panic!("{:?}", result.diagnostics));
    // Without a mask `texkill` examines x, y and z.
    let mask = program.words.iter().find_map(|w| match Inst::decode(w).unwrap() {
        Inst::Tex(tex) if tex.inst.op == ctm_isa::x1k::ops::TexOp::KillLt0 => {
            Some((tex.cmn.rgb_wmask, tex.cmn.alpha_wmask))
        }
        _ => None,
    });
    assert_eq!(mask, Some((7, false)));
}

#[test]
fn two_halves_share_a_slot_where_they_can() {
    // Four independent sums of one channel, and a whole vector: an RGB and an alpha operation in each slot.
    let text = "ps_3_0
dcl_texcoord0 v0
dcl_texcoord1 v1
mul r0, v0, v1
mad oC0, r0, c0, c1
";
    let program = compile(text, &Options::default()).program.unwrap();
    assert_eq!(program.words.len(), 2);
    // The last steps of a linear interpolation, a doubling and a clamp cost nothing of their own.
    let text = "ps_3_0
def c20, 2, 2, 2, 2
dcl_texcoord0 v0
dcl_texcoord1 v1
lrp r0, c0.x, v0, v1
mul_sat r0, r0, c20
mov oC0, r0
";
    let program = compile(text, &Options::default()).program.unwrap();
    assert_eq!(program.words.len(), 1, "{}", compile(text, &Options::default()).text);
}

/// Output 0 of pixel (x, y), with a picture of so many columns and rows as input 0 and the constant that says its texture's size.
fn with_texture(text: &str, options: Options, [columns, rows]: [u32; 2], size: [f32; 4], [x, y]: [u32; 2]) -> [f32; 4] {
    let program = harness::compiled(text, &options);
    let mut world = harness::world();
    world.pictures[0] = Picture::from_fn(columns, rows, |x, y| [x as f32, y as f32, 0.5, 1.0]);
    if let Some(symbol) = program.symbols.iter().find(|s| s.name == "s0_size") {
        assert_eq!(symbol.kind, SymbolKind::Float);
        world.floats.insert(symbol.index.into(), size);
    }
    let memory = harness::run(&program, &world, 16);
    memory.outputs[0].as_ref().unwrap().get(x, y).unwrap().map(f32::from_bits)
}

#[test]
fn slices_of_volumes_lie_below_each_other() {
    // 5 columns, 3 rows, 4 slices; the pixel is (3, 2).
    let size = [5.0, 3.0, 4.0, 0.0];
    let read = |options, [x, y, z]: [f32; 3], how: &str| {
        let text = format!(
            "ps_3_0\ndef c20, {x:?}, {y:?}, {z:?}, 2\ndcl vPos.xy\ndcl_volume s0\nmov r0, c20\n{how} r1, r0, s0\nmov oC0, r1\n"
        );
        let [x, y, ..] = with_texture(&text, options, [5, 12], size, [3, 2]);
        [x, y]
    };
    let elements = Options::default();
    assert_eq!(read(elements, [1.0, 2.0, 0.0], "texld"), [1.0, 2.0]);
    assert_eq!(read(elements, [4.9, 1.5, 2.7], "texld"), [4.0, 7.0]);
    assert_eq!(read(elements, [2.0, 9.0, 1.0], "texldl"), [2.0, 5.0]);
    assert_eq!(read(elements, [-3.0, -1.0, 9.0], "texldb"), [0.0, 9.0]);
    assert_eq!(read(elements, [2.0, 4.0, 5.0], "texldp"), [1.0, 8.0]);
    let normalized = Options { normalized_coordinates: true, ..elements };
    assert_eq!(read(normalized, [0.5, 0.5, 0.6], "texld"), [2.0, 7.0]);
    assert_eq!(read(normalized, [0.99, 1.0, 0.3], "texld"), [4.0, 5.0]);
    assert_eq!(read(normalized, [0.0, 0.0, 1.0], "texld"), [0.0, 9.0]);
    assert_eq!(read(normalized, [0.1, -2.0, -1.0], "texld"), [0.0, 0.0]);
}

#[test]
fn faces_of_cubes_lie_below_each_other() {
    const N: u32 = 8;
    let mut state = 7u32;
    for round in 0..60 {
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from((state >> 8) % 400) / 100.0 - 2.0
        };
        let [x, y, z] = match round {
            0 => [1.0, 0.1, 0.2],
            1 => [-1.0, 0.1, 0.2],
            2 => [0.1, 1.0, 0.2],
            3 => [0.1, -1.0, 0.2],
            4 => [0.1, 0.2, 1.0],
            5 => [0.1, 0.2, -1.0],
            _ => [number() + 0.003, number() + 0.001, number() + 0.002],
        };
        // The table of Direct3D: the axis with the largest component, and the right and down axes of its face.
        let (face, s, t, m) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
            if z >= 0.0 { (4, x, -y, z) } else { (5, -x, -y, z) }
        } else if y.abs() >= x.abs() {
            if y >= 0.0 { (2, x, z, y) } else { (3, x, -z, y) }
        } else if x >= 0.0 {
            (0, -z, -y, x)
        } else {
            (1, z, -y, x)
        };
        let place = |c: f64| (((c / m.abs() + 1.0) / 2.0 * f64::from(N)).floor() as i64).clamp(0, i64::from(N) - 1);
        let near = |c: f64| (((c / m.abs() + 1.0) / 2.0 * f64::from(N)).fract() - 0.5).abs() > 0.499;
        if near(s) || near(t) {
            continue;
        }
        let wanted = [place(s) as f32, (face * i64::from(N) + place(t)) as f32];
        let text = format!(
            "ps_3_0\ndef c20, {x:?}, {y:?}, {z:?}, 0\ndcl vPos.xy\ndcl_cube s0\ntexld r1, c20, s0\nmov oC0, r1\n"
        );
        for normalized_coordinates in [false, true] {
            let options = Options { normalized_coordinates, ..Options::default() };
            let [x, y, ..] = with_texture(&text, options, [N, 6 * N], [N as f32; 4], [1, 1]);
            assert_eq!([x, y], wanted, "{text}");
        }
    }
}
