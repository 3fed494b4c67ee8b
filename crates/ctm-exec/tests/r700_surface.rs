//! Textures from bytes: every format of the manual's list (R700 §10.3), by hand-made texels, blocks and rows.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::r700::formats::{Format, convert};
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::{Surface, SurfaceError};
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};

fn surface(data: DataFormat, width: u32, height: u32) -> Surface {
    let format = Format { data, ..Format::default() };
    Surface { kind: TextureKind::TwoD, width, height, depth: 1, levels: 1, format, gamma: false }
}

fn texels(surface: &Surface, bytes: &[u8]) -> Vec<[f32; 4]> {
    let image = surface.image(bytes).unwrap();
    image.levels.texels().iter().map(|texel| texel.map(f32::from_bits)).collect()
}

/// A texture of one format equals the fetch of an item; formats without fetches have their own test here, or no meaning.
#[test]
fn every_format_is_read_or_refused() {
    let mut refused = Vec::new();
    for &data in DataFormat::ALL {
        let plain = surface(data, 5, 3);
        let Ok(bytes) = plain.bytes() else {
            refused.push(data.name());
            continue;
        };
        let pattern: Vec<u8> = (0..bytes).map(|n| (n * 37 + 11) as u8).collect();
        let image = plain.image(&pattern).unwrap();
        assert_eq!(image.levels[0].len(), 15, "{data:?}");
        if let Ok(size) = ctm_exec::r700::formats::size_bytes(data) {
            for (n, texel) in image.levels[0].iter().enumerate() {
                let item = &pattern[n * size..][..size];
                assert_eq!(*texel, convert(&plain.format, item).unwrap(), "{data:?} texel {n}");
            }
        }
    }
    let apc: Vec<String> = (0..8).map(|n| format!("FMT_APC{n}")).collect();
    let mut wanted = vec!["FMT_INVALID", "FMT_RESERVED_4", "FMT_RESERVED_33", "FMT_RESERVED_36", "FMT_32_AS_8"];
    wanted.push("FMT_32_AS_8_8");
    wanted.extend(apc.iter().map(String::as_str));
    wanted.extend(["FMT_CTX1", "FMT_RESERVED_63"]);
    assert_eq!(refused, wanted);
}

/// 24-bit floats, in the shape of Direct3D's D24FS8: 20e4.
#[test]
fn small_depths() {
    let cases = [(0x00_0000u32, 0.0), (0xf0_0000, 1.0), (0xe0_0000, 0.5), (0xff_ffff, 2.0 - 2f32.powi(-20))];
    for (field, value) in cases.into_iter().chain([(0x00_0001, 2f32.powi(-34)), (0x10_0000, 2f32.powi(-14))]) {
        let low = texels(&surface(DataFormat::Fmt8_24Float, 1, 1), &(field | 0xff00_0000).to_le_bytes());
        assert_eq!(low, [[value, 1.0, 0.0, 1.0]], "{field:#x}");
        let high = texels(&surface(DataFormat::Fmt24_8Float, 1, 1), &(field << 8).to_le_bytes());
        assert_eq!(high, [[0.0, value, 0.0, 1.0]], "{field:#x}");
    }
}

#[test]
fn bits_and_pairs() {
    let rows = [0b0000_0101, 0b1, 0b1000_0000, 0b0];
    let set = |data| texels(&surface(data, 9, 2), &rows).iter().map(|t| t[0] as u8).collect::<Vec<_>>();
    assert_eq!(set(DataFormat::Fmt1), [1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(set(DataFormat::Fmt1Reversed), [0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Direct3D's R8G8_B8G8 and G8R8_G8B8: both texels have the red and the blue.
    let bytes = [255, 0, 51, 102, 0, 255, 0, 0];
    let pairs = texels(&surface(DataFormat::FmtGbGr, 3, 1), &bytes);
    assert_eq!(pairs, [[1.0, 0.0, 0.2, 1.0], [1.0, 0.4, 0.2, 1.0], [0.0, 1.0, 0.0, 1.0]]);
    let pairs = texels(&surface(DataFormat::FmtBgRg, 3, 1), &bytes);
    assert_eq!(pairs, [[0.0, 1.0, 0.4, 1.0], [0.0, 0.2, 0.4, 1.0], [1.0, 0.0, 0.0, 1.0]]);
}

/// The blocks of Direct3D's BC1 to BC5.
#[test]
fn compressed_blocks() {
    // Ends red and blue; choices 0, 1, 2, 3 in the first row.
    let (red, blue) = (0xf800u16.to_le_bytes(), 0x001fu16.to_le_bytes());
    let block = |a: [u8; 2], b: [u8; 2]| [a[0], a[1], b[0], b[1], 0b11_10_01_00, 0, 0, 0];
    let near = |got: [f32; 4], wanted: [f64; 4]| got.iter().zip(wanted).all(|(g, w)| (f64::from(*g) - w).abs() < 1e-7);
    let four = texels(&surface(DataFormat::FmtBc1, 4, 1), &block(red, blue));
    let thirds = [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]];
    assert!(thirds.into_iter().zip(&four).all(|(w, &g)| near(g, w)), "{four:?}");
    assert!(near(four[3], [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]));
    let three = texels(&surface(DataFormat::FmtBc1, 4, 1), &block(blue, red));
    assert!(near(three[2], [0.5, 0.0, 0.5, 1.0]) && near(three[3], [0.0; 4]), "{three:?}");
    // BC2: alpha 1, 2, 3, 4 fifteenths; the order of the ends does not matter.
    let bytes = [&[0x21, 0x43, 0, 0, 0, 0, 0, 0][..], &block(blue, red)].concat();
    let two = texels(&surface(DataFormat::FmtBc2, 4, 1), &bytes);
    assert!(near(two[2], [1.0 / 3.0, 0.0, 2.0 / 3.0, 0.2]) && near(two[3], [2.0 / 3.0, 0.0, 1.0 / 3.0, 4.0 / 15.0]));
    // BC3, BC4: ends 210 and 70 (mixtures by sevenths), choices 0, 1, 2, 7.
    let ramp = [210u8, 70, 0b10_001_000, 0b0000_1110, 0, 0, 0, 0];
    let alpha = texels(&surface(DataFormat::FmtBc3, 4, 1), &[&ramp[..], &block(red, blue)].concat());
    let wanted = [210.0, 70.0, 190.0, 90.0].map(|n| n / 255.0);
    assert!(alpha.iter().zip(wanted).all(|(t, w)| (f64::from(t[3]) - w).abs() < 1e-7), "{alpha:?}");
    let one = texels(&surface(DataFormat::FmtBc4, 4, 1), &ramp);
    assert!(one.iter().zip(wanted).all(|(&t, w)| near(t, [w, 0.0, 0.0, 1.0])), "{one:?}");
    // Signed, ends -128 and 127: choices 6 and 7 are -1 and 1, choice 2 a fifth of the way.
    let ramp = [0x80u8, 0x7f, 0b10_111_110, 0, 0, 0, 0, 0];
    let mut signed = surface(DataFormat::FmtBc5, 4, 4);
    signed.format.sign = FormatComp::Signed;
    let both = texels(&signed, &[ramp, ramp].concat());
    assert!(near(both[0], [-1.0, -1.0, 0.0, 1.0]) && near(both[1], [1.0, 1.0, 0.0, 1.0]));
    assert!(near(both[2], [-0.6, -0.6, 0.0, 1.0]) && near(both[3], [-1.0, -1.0, 0.0, 1.0]), "{both:?}");
}

#[test]
fn levels_layers_and_gamma() {
    let mut cubes = surface(DataFormat::Fmt8, 4, 4);
    (cubes.kind, cubes.depth, cubes.levels) = (TextureKind::CubeArray, 12, 3);
    cubes.format.numbers = NumFormat::Int;
    assert_eq!(cubes.bytes().unwrap(), 12 * (16 + 4 + 1));
    let image = cubes.image(&(0..252u32).map(|n| n as u8).collect::<Vec<_>>()).unwrap();
    assert_eq!(image.levels.iter().map(<[_]>::len).collect::<Vec<_>>(), [192, 48, 12]);
    assert_eq!((image.levels[1][0][0], image.levels[2][11][0]), (192, 251));
    let mut stored = surface(DataFormat::Fmt8_8_8_8, 2, 1);
    stored.gamma = true;
    let [first, second] = texels(&stored, &[0, 255, 10, 128, 188, 188, 188, 188])[..] else { panic!("two texels") };
    assert_eq!((first[0], first[1], first[3]), (0.0, 1.0, 128.0 / 255.0));
    assert!((first[2] - 10.0 / 255.0 / 12.92).abs() < 1e-8 && (second[0] - 0.502_886).abs() < 1e-5, "{second:?}");
}

#[test]
fn wrong_surfaces_are_refused() {
    let message = |surface: Surface, bytes: &[u8]| surface.image(bytes).unwrap_err().to_string();
    assert_eq!(message(surface(DataFormat::FmtApc0, 1, 1), &[]), "textures of FMT_APC0 cannot be read");
    assert_eq!(message(surface(DataFormat::Fmt8, 0, 1), &[]), "the width of the texture is 0, allowed is 1..=8192");
    let huge = Surface { depth: u32::MAX, ..surface(DataFormat::Fmt8, 8192, 8192) };
    assert!(matches!(huge.image(&[]), Err(SurfaceError::Extent { what: "depth", .. })));
    let large =
        Surface { kind: TextureKind::ThreeD, depth: 8192, ..surface(DataFormat::Fmt32_32_32_32Float, 8192, 8192) };
    assert!(matches!(large.image(&[0; 16]), Err(SurfaceError::Length { found: 16, wanted: 8_796_093_022_208 })));
    let short = surface(DataFormat::FmtBc1, 5, 5);
    assert_eq!(message(short, &[0; 8]), "the texture has 8 bytes, its size and format need 32");
}

/// The contents of a format's name: bits of its elements, lowest first, and whether they are floats.
fn named(name: &str) -> Option<(Vec<u32>, bool)> {
    let (sizes, float) = match name.strip_prefix("FMT_")?.strip_suffix("_FLOAT") {
        Some(sizes) => (sizes, true),
        None => (&name[4..], false),
    };
    let sizes: Option<Vec<u32>> = sizes.split('_').rev().map(|size| size.parse().ok()).collect();
    sizes.filter(|sizes| sizes.iter().sum::<u32>() >= 8).map(|sizes| (sizes, float))
}

/// A float of so many bits by its definition: 5 bits of exponent and no sign below 16 bits, 4 of 24.
fn float_by_definition(field: u64, size: u32) -> f64 {
    let (sign, exponent, fraction) = match size {
        32 => (1, 8, 23),
        24 => (0, 4, 20),
        16 => (1, 5, 10),
        _ => (0, 5, size - 5),
    };
    let part = |at: u32, count: u32| (field >> at & ((1 << count) - 1)) as f64;
    let (m, e) = (part(0, fraction) / 2f64.powi(fraction as i32), part(fraction, exponent));
    let bias = if size == 24 { 15 } else { (1 << (exponent - 1)) - 1 };
    let magnitude = if e == 0.0 { m * 2f64.powi(1 - bias) } else { (1.0 + m) * 2f64.powi(e as i32 - bias) };
    if sign == 1 && field >> (size - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// Every format whose name lists its elements, with every way to return numbers, against the definitions in double precision.
#[test]
fn formats_are_what_their_names_say() {
    use ctm_isa::r700::ops::SrfMode;
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut formats = 0;
    for &data in DataFormat::ALL {
        let Some((sizes, float)) = named(data.name()) else { continue };
        formats += 1;
        for round in 0..400 {
            let item: u128 = match round {
                0 => 0,
                1 => u128::MAX,
                _ => u128::from(next()) << 64 | u128::from(next()),
            };
            let numbers = NumFormat::ALL[round % 3];
            let sign = FormatComp::ALL[round / 3 % 2];
            let srf = SrfMode::ALL[round / 6 % 2];
            let format = Format { data, numbers, sign, srf, ..Format::default() };
            let bytes = item.to_le_bytes();
            let got = convert(&format, &bytes[..sizes.iter().sum::<u32>() as usize / 8]).unwrap();
            let mut at = 0;
            for (element, &size) in sizes.iter().enumerate() {
                let field = (item >> at) as u64 & (u64::MAX >> (64 - size));
                at += size;
                let signed = if field >> (size - 1) == 1 { field as i64 - (1i64 << size) } else { field as i64 };
                let value = if sign == FormatComp::Signed { signed } else { field as i64 };
                let is_float = float && (size != 8 || sizes.len() != 2 || sizes.iter().sum::<u32>() != 32);
                let expected = match (is_float, numbers, sign, srf) {
                    (true, ..) if size == 32 => field as u32,
                    // Infinities and NaNs of the small ones have the largest exponent.
                    (true, ..) if size < 24 && field >> (if size == 16 { 10 } else { size - 5 }) & 31 == 31 => continue,
                    (true, ..) => (float_by_definition(field, size) as f32).to_bits(),
                    (false, NumFormat::Int, ..) => value as u32,
                    (false, NumFormat::Scaled, ..) => (value as f32).to_bits(),
                    (false, NumFormat::Norm, FormatComp::Unsigned, _) => {
                        { (field as f64 / ((1u64 << size) - 1) as f64) as f32 }.to_bits()
                    }
                    (false, NumFormat::Norm, FormatComp::Signed, SrfMode::ZeroClampMinusOne) => {
                        // One bit holds 0 and -1 only.
                        let largest = ((1i64 << (size - 1)) - 1).max(1);
                        ((signed as f64 / largest as f64).max(-1.0) as f32).to_bits()
                    }
                    (false, NumFormat::Norm, FormatComp::Signed, SrfMode::NoZero) => {
                        (((2 * signed + 1) as f64 / ((1u64 << size) - 1) as f64) as f32).to_bits()
                    }
                };
                assert_eq!(
                    got[element], expected,
                    "{data:?} {numbers:?} {sign:?} {srf:?} element {element} of {item:#x}"
                );
            }
        }
    }
    assert_eq!(formats, 37);
}
