//! GTX files: levels smaller than a macro tile, all tile modes, and files that are written and read again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_draw::console::{TILE_MODES, TileMode};
use ctm_draw::format::NumberType;
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::Surface;
use ctm_files::array::{Array, Values};
use ctm_files::texture::{StoredTexture, WriteOptions, read_stored, write};
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat, Sel};
use proptest::prelude::*;
use std::path::Path;

fn read(bytes: &[u8]) -> StoredTexture {
    read_stored(Path::new("a.gtx"), bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn options(mode: TileMode, swizzle: u32) -> WriteOptions {
    WriteOptions { mode, swizzle, ..WriteOptions::default() }
}

fn gtx(stored: &StoredTexture, mode: TileMode, swizzle: u32) -> Vec<u8> {
    write(Path::new("a.gtx"), stored, &options(mode, swizzle)).unwrap_or_else(|error| panic!("{error}"))
}

/// Two files with the same 2048 bytes in tile mode 4 and a pitch of 32: 32 x 16 and 16 x 16 texels. The left 16 columns are the same, because the console's
/// library keeps the tile mode of level 0, however small it is.
#[test]
fn level_0_keeps_its_tile_mode() {
    let wide = read(include_bytes!("gtx_data/w32.gtx"));
    let narrow = read(include_bytes!("gtx_data/w16.gtx"));
    assert_eq!((wide.surface.width, narrow.surface.width), (32, 16));
    for y in 0..16 {
        assert_eq!(wide.bytes[y * 128..y * 128 + 64], narrow.bytes[y * 64..y * 64 + 64], "row {y}");
    }
}

/// A GTX file of one level, its elements put where `layout` says: element n is n in every byte's turn.
fn placed(format: u32, [width, height]: [u32; 2], [columns, rows]: [u32; 2], layout: &Layout) -> Vec<u8> {
    let mut image = vec![0; layout.slice_bytes() as usize];
    for n in 0..columns * rows {
        let at = layout.offset(n % columns, n / columns, 0, 0) as usize;
        image[at..at + layout.element_bytes as usize].copy_from_slice(&element(n, layout.element_bytes));
    }
    let mut header = [0u32; 39];
    (header[0], header[1], header[2], header[3], header[4], header[5]) = (1, width, height, 1, 1, format);
    (header[12], header[13], header[15]) = (4, 13 << 16, layout.pitch);
    header[33] = 0x0001_0203;
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
    let block = |kind: u32, data: &[u8]| {
        [words(&[0x424c_4b7b, 32, 1, 0, kind, data.len() as u32, 0, 0]), data.to_vec()].concat()
    };
    [words(&[0x4766_7832, 32, 7, 1, 2, 1, 0, 0]), block(11, &words(&header)), block(12, &image), block(1, &[])].concat()
}

fn element(n: u32, bytes: u32) -> Vec<u8> {
    (0..bytes).map(|byte| (n.wrapping_mul(0x9e37_79b1).rotate_left(7 * byte) >> 11) as u8).collect()
}

/// Truth: the addresses of 2D tiles, tested against the published library, with the macro tile of the console: 32 x 16 elements, 128 columns of one byte.
#[test]
fn surfaces_smaller_than_a_macro_tile_have_2d_tiles() {
    let blocks = [(0x31, 8), (0x32, 16), (0x33, 16), (0x34, 8), (0x35, 16)];
    let mut cases: Vec<(u32, u32, [u32; 2], u32)> = Vec::new();
    for size in [[64, 64], [100, 52], [128, 60]] {
        cases.extend(blocks.map(|(format, bytes)| (format, bytes, size, 4)));
    }
    cases.extend([(0x1a, 4, [16, 64], 1), (0x01, 1, [16, 64], 1), (0x1a, 4, [64, 8], 1), (0x01, 1, [3, 3], 1)]);
    for (format, element_bytes, [width, height], block) in cases {
        let [columns, rows] = [width, height].map(|n: u32| n.div_ceil(block));
        let pitch = columns.next_multiple_of(if element_bytes == 1 { 128 } else { 32 });
        let (mode, tiling) = (ArrayMode::Tiled2d, Tiling::CONSOLE);
        let layout = Layout {
            mode,
            pitch,
            height: rows.next_multiple_of(16),
            element_bytes,
            samples: 1,
            depth_order: false,
            tiling,
        };
        let file = placed(format, [width, height], [columns, rows], &layout);
        let stored = read(&file);
        let expected: Vec<u8> = (0..columns * rows).flat_map(|n| element(n, element_bytes)).collect();
        assert!(stored.bytes == expected, "format {format:#x}, {width} x {height}");
        // Written again, the elements lie at the same places.
        let written = gtx(&stored, TileMode::THIN_2D, 0);
        let image = |bytes: &[u8]| {
            let gfd = ctm_image::r700::gfd::Gfd::read(bytes).unwrap();
            gfd.blocks.into_iter().find(|block| block.header[4] == 12).unwrap().data
        };
        assert!(image(&written) == image(&file), "format {format:#x}, {width} x {height}");
    }
}

fn stored(kind: TextureKind, [width, height, depth, levels]: [u32; 4], data: DataFormat, seed: u32) -> StoredTexture {
    let format = Format { data, numbers: NumFormat::Norm, sign: FormatComp::Unsigned, ..Format::default() };
    let surface = Surface { kind, width, height, depth, levels, format, gamma: false };
    let count = surface.bytes().unwrap() as u32;
    let bytes = (0..count).map(|n| (n.wrapping_add(seed).wrapping_mul(0x9e37_79b1) >> 13) as u8).collect();
    StoredTexture { surface, swizzle: [Sel::X, Sel::Y, Sel::Z, Sel::W], bytes }
}

const FORMATS: [DataFormat; 13] = [
    DataFormat::Fmt8,
    DataFormat::Fmt8_8,
    DataFormat::Fmt5_6_5,
    DataFormat::Fmt8_8_8_8,
    DataFormat::Fmt32Float,
    DataFormat::Fmt16_16Float,
    DataFormat::Fmt16_16_16_16Float,
    DataFormat::Fmt32_32_32_32Float,
    DataFormat::FmtBc1,
    DataFormat::FmtBc2,
    DataFormat::FmtBc3,
    DataFormat::FmtBc4,
    DataFormat::FmtBc5,
];

const KINDS: [TextureKind; 6] = [
    TextureKind::OneD,
    TextureKind::TwoD,
    TextureKind::ThreeD,
    TextureKind::Cube,
    TextureKind::OneDArray,
    TextureKind::TwoDArray,
];

#[test]
fn every_mode_and_format_is_read_as_it_was_written() {
    for mode in TILE_MODES {
        for data in FORMATS {
            let all = stored(TextureKind::TwoD, [100, 52, 1, 7], data, mode.code);
            assert!(read(&gtx(&all, mode, 5)) == all, "{} {}", mode.name, data.name());
            let volume = stored(TextureKind::ThreeD, [40, 36, 9, 6], data, mode.code);
            assert!(read(&gtx(&volume, mode, 3)) == volume, "{} {}", mode.name, data.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 48 } else { 256 }))]

    #[test]
    fn any_texture_is_read_as_it_was_written(
        mode in 0usize..17, data in 0usize..13, kind in 0usize..6, swizzle in 0u32..8,
        width in 1u32..150, height in 1u32..90, depth in 1u32..7, levels in 1u32..8, seed: u32,
    ) {
        let kind = KINDS[kind];
        let [height, depth] = match kind {
            TextureKind::OneD => [1, 1],
            TextureKind::OneDArray => [1, depth],
            TextureKind::TwoD => [height, 1],
            TextureKind::Cube => [width, 6],
            _ => [height, depth],
        };
        let all = stored(kind, [width, height, depth, levels], FORMATS[data], seed);
        let again = read(&gtx(&all, TILE_MODES[mode], swizzle));
        prop_assert!(again == all);
        let dds = write(Path::new("a.dds"), &all, &WriteOptions::default());
        // 5:6:5 of DDS has red in the upper bits.
        prop_assert_eq!(dds.is_err(), FORMATS[data] == DataFormat::Fmt5_6_5);
        if let Ok(dds) = dds {
            let again = read_stored(Path::new("a.dds"), &dds).unwrap();
            prop_assert!(again.bytes == all.bytes);
            // An array of one layer is none in DDS.
            let is_array = matches!(kind, TextureKind::OneDArray | TextureKind::TwoDArray);
            prop_assert!(again.surface == all.surface || is_array && depth == 1);
        }
    }
}

#[test]
fn pictures_become_textures_and_pictures_again() {
    let picture = Array { height: 5, width: 7, channels: 4, values: Values::U8((0..140).collect()) };
    let png = picture.to_bytes(ctm_files::array::ArrayFileKind::Png).unwrap();
    let all = read_stored(Path::new("a.png"), &png).unwrap();
    let again = read(&gtx(&all, TileMode::THIN_2D, 0));
    assert_eq!(write(Path::new("b.png"), &again, &WriteOptions::default()).unwrap(), png);
    // Grey pictures stay grey, in one byte a texel.
    let grey = Array { height: 2, width: 3, channels: 1, values: Values::U8(vec![0, 50, 100, 150, 200, 255]) };
    let grey = StoredTexture::of_array(&grey).unwrap();
    let again = read(&gtx(&grey, TILE_MODES[2], 0));
    assert_eq!((&again.bytes, again.swizzle), (&grey.bytes, grey.swizzle));
    assert_eq!(
        again.array(0).unwrap().values,
        Values::U8([0, 50, 100, 150, 200, 255].iter().flat_map(|&g| [g, g, g, 255]).collect())
    );
    // Made levels follow a level 0 that stays as it is; a format of fewer bits rounds.
    let made = all.clone().with_made_levels().unwrap();
    assert_eq!((made.surface.levels, &made.bytes[..140]), (3, &all.bytes[..]));
    let small = StoredTexture::encode(&all.image().unwrap(), DataFormat::Fmt5_6_5, NumberType::Unorm).unwrap();
    assert_eq!(small.bytes.len(), 70);
    assert_eq!(read(&gtx(&small, TileMode::THIN_2D, 1)).bytes, small.bytes);
}

#[test]
fn what_cannot_be_written_is_told() {
    let plain = stored(TextureKind::TwoD, [8, 8, 1, 1], DataFormat::Fmt8_8_8_8, 0);
    let told = |stored: &StoredTexture, path: &str, options: &WriteOptions| {
        write(Path::new(path), stored, options).unwrap_err().to_string()
    };
    let usual = WriteOptions::default();
    let cubes = StoredTexture {
        surface: Surface { kind: TextureKind::CubeArray, depth: 12, ..plain.surface },
        ..plain.clone()
    };
    assert_eq!(told(&cubes, "a.gtx", &usual), "GTX has no arrays of cubes");
    assert!(told(&plain, "a.ktx2", &usual).contains("textures are not written as `.ktx2`; .gtx, .dds and"));
    assert!(told(&plain, "a.gtx", &WriteOptions { swizzle: 8, ..usual }).contains("the swizzle is 8, it is 0 to 7"));
    assert!(
        told(&plain, "a.png", &WriteOptions { level: 1, ..usual })
            .contains("level 1 is asked for, the texture has 0 to 0")
    );
    let short = StoredTexture { bytes: vec![0; 255], ..plain.clone() };
    assert_eq!(told(&short, "a.gtx", &usual), "the texture ends in level 0");
    assert!(plain.with_levels(2).unwrap_err().to_string().contains("2 levels are asked for, the texture has 1"));
    let image = stored(TextureKind::TwoD, [4, 4, 1, 1], DataFormat::Fmt8_8_8_8, 0).image().unwrap();
    let error = StoredTexture::encode(&image, DataFormat::FmtBc1, NumberType::Unorm).unwrap_err().to_string();
    assert!(error.contains("nothing is compressed here"), "{error}");
}
