//! Texture files made byte by byte: DDS with and without the header of Direct3D 10, KTX2, GTX; and damaged ones.
//!
//! Truth: the formats' specifications; texels computed by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_exec::r700::resources::{Image, TextureKind};
use ctm_files::texture::{read, with_levels};
use std::path::Path;

fn floats(image: &Image, level: usize, texel: usize) -> [f32; 4] {
    image.levels[level][texel].map(f32::from_bits)
}

/// A DDS file: words of the header by their byte offsets, and the bytes that follow it.
fn dds(words: &[(usize, u32)], rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    bytes[..4].copy_from_slice(b"DDS ");
    for &(at, word) in [(4, 124), (76, 32)].iter().chain(words) {
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(rest);
    bytes
}

fn told(bytes: &[u8]) -> String {
    read(Path::new("a.dds"), bytes).unwrap_err().to_string()
}

#[test]
fn dds_files_of_both_kinds() {
    // Red and blue of 5 bits, then four choices a row: red, blue, two thirds of red, one third.
    let block: Vec<u8> = [0x00, 0xf8, 0x1f, 0x00, 0b1110_0100, 0, 0, 0].to_vec();
    let old = dds(&[(12, 4), (16, 4), (80, 4), (84, u32::from_le_bytes(*b"DXT1"))], &block);
    let image = read(Path::new("a.dds"), &old).unwrap();
    assert_eq!((image.texture.width, image.texture.height, image.texture.levels), (4, 4, 1));
    assert_eq!(floats(&image, 0, 0), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(&image, 0, 1), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(floats(&image, 0, 2), [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]);
    let new_header = [71u32, 3, 0, 1, 0].map(u32::to_le_bytes).concat();
    let new = dds(&[(12, 4), (16, 4), (80, 4), (84, u32::from_le_bytes(*b"DX10"))], &[new_header, block].concat());
    assert_eq!(read(Path::new("a.dds"), &new).unwrap(), image);
    // Blue, green, red, alpha of 8 bits.
    let masks = [(88, 32), (92, 0xff_0000), (96, 0xff00), (100, 0xff), (104, 0xff00_0000)];
    let words: Vec<(usize, u32)> = [(12, 1), (16, 2), (80, 0x41)].into_iter().chain(masks).collect();
    let image = read(Path::new("a.dds"), &dds(&words, &[255, 0, 0, 255, 0, 0, 51, 0])).unwrap();
    assert_eq!(floats(&image, 0, 0), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(floats(&image, 0, 1), [0.2, 0.0, 0.0, 0.0]);
}

#[test]
fn faces_of_dds_cubes_have_all_their_levels_together() {
    // Six faces of 2 x 2 and 1 x 1, one byte each: face n is n, its smaller level n + 10.
    let data: Vec<u8> = (0..6u8).flat_map(|n| [n, n, n, n, n + 10]).collect();
    let masks = [(80, 0x2_0000), (88, 8), (92, 0xff), (112, 0xfe00)];
    let words: Vec<(usize, u32)> = [(12, 2), (16, 2), (28, 2)].into_iter().chain(masks).collect();
    let image = read(Path::new("a.dds"), &dds(&words, &data)).unwrap();
    assert_eq!((image.texture.kind, image.texture.depth, image.texture.levels), (TextureKind::Cube, 6, 2));
    assert_eq!(floats(&image, 0, 4 * 5)[0], 5.0 / 255.0);
    assert_eq!(floats(&image, 1, 3)[0], 13.0 / 255.0);
}

/// A KTX2 file of these numbers (format, size, layers, faces) and levels, the smallest first in the file.
fn ktx2(vk: u32, [width, height, depth]: [u32; 3], layers: u32, faces: u32, levels: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, 13, 10, 26, 10];
    for word in [vk, 1, width, height, depth, layers, faces, levels.len() as u32, 0, 0, 0, 0, 0] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.resize(80, 0);
    let mut end = 80 + 24 * levels.len();
    let mut entries: Vec<[u64; 3]> = Vec::new();
    for level in levels.iter().rev() {
        entries.push([end as u64, level.len() as u64, level.len() as u64]);
        end += level.len();
    }
    for entry in entries.iter().rev() {
        entry.iter().for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
    }
    levels.iter().rev().for_each(|level| bytes.extend_from_slice(level));
    bytes
}

#[test]
fn ktx2_files_have_their_levels_by_an_index() {
    let levels = [vec![255, 0, 0, 255, 0, 255, 0, 255], vec![0, 0, 255, 51]];
    let image = read(Path::new("a.ktx2"), &ktx2(37, [2, 1, 0], 0, 1, &levels)).unwrap();
    assert_eq!((image.texture.kind, image.texture.levels), (TextureKind::TwoD, 2));
    assert_eq!(floats(&image, 0, 1), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(floats(&image, 1, 0), [0.0, 0.0, 1.0, 0.2]);
    // Two layers of one half float each; the third sample of a shared exponent.
    let half = |x: u16| x.to_le_bytes().to_vec();
    let image =
        read(Path::new("a.ktx2"), &ktx2(76, [1, 1, 0], 2, 1, &[[half(0x3c00), half(0xc000)].concat()])).unwrap();
    assert_eq!((image.texture.kind, image.texture.depth), (TextureKind::TwoDArray, 2));
    assert_eq!([floats(&image, 0, 0)[0], floats(&image, 0, 1)[0]], [1.0, -2.0]);
    let srgb = read(Path::new("a.ktx2"), &ktx2(43, [1, 1, 0], 0, 1, &[vec![128, 128, 128, 128]])).unwrap();
    assert!((floats(&srgb, 0, 0)[0] - 0.2158).abs() < 1e-3 && (floats(&srgb, 0, 0)[3] - 128.0 / 255.0).abs() < 1e-6);
}

/// Truth: the bytes of `zstd -19` and of zlib for rows of one colour each.
#[test]
#[cfg(feature = "compressed-ktx2")]
fn ktx2_files_may_be_supercompressed() {
    const ZSTANDARD: [u8; 41] = [
        40, 181, 47, 253, 4, 104, 229, 0, 0, 88, 0, 7, 7, 255, 30, 60, 90, 120, 150, 180, 210, 8, 160, 16, 224, 233,
        192, 15, 77, 211, 108, 54, 141, 27, 99, 8, 9, 250, 207, 168, 206,
    ];
    const ZLIB: [u8; 34] = [
        120, 218, 99, 96, 103, 255, 207, 128, 7, 203, 17, 192, 54, 4, 112, 20, 1, 92, 65, 0, 79, 35, 128, 183, 16, 192,
        151, 8, 96, 0, 205, 231, 93, 129,
    ];
    for (scheme, data) in [(2, &ZSTANDARD[..]), (3, &ZLIB[..])] {
        let file = |plain: u64| {
            let mut bytes = ktx2(37, [8, 8, 0], 0, 1, &[data.to_vec()]);
            bytes[44] = scheme;
            bytes[80 + 16..80 + 24].copy_from_slice(&plain.to_le_bytes());
            bytes
        };
        let image = read(Path::new("a.ktx2"), &file(256)).unwrap();
        for n in 0..64 {
            let texel = floats(&image, 0, n).map(|v| (v * 255.0).round() as u8);
            assert_eq!(texel, [(n / 8) as u8 * 30, 7, 7, 255], "{scheme}, {n}");
        }
        // Lengths that are not true.
        assert!(told(&file(255)).contains("becomes more bytes, its index says 255"));
        assert!(told(&file(1 << 40)).contains("and the texture has 256 left for it"));
        let mut longer = ktx2(37, [8, 9, 0], 0, 1, &[data.to_vec()]);
        longer[44] = scheme;
        longer[96..104].copy_from_slice(&288u64.to_le_bytes());
        assert!(told(&longer).contains("becomes 256 bytes, its index says 288"), "{}", told(&longer));
        // Damage is reported or changes a colour; nothing panics.
        for at in 0..data.len() {
            let mut damaged = file(256);
            let place = damaged.len() - data.len() + at;
            damaged[place] ^= 0x5a;
            let _ = read(Path::new("a.ktx2"), &damaged);
        }
    }
}

/// A GTX file with a surface of 2D tiles, RGBA of 8 bits.
fn gtx(width: u32, height: u32, swizzle: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
    let tiling = Tiling { swizzle: swizzle >> 8 & 7, ..Tiling::CONSOLE };
    let layout = Layout::padded(ArrayMode::Tiled2d, [width, height], 4, 1, tiling);
    let mut image = vec![0; layout.slice_bytes() as usize];
    for y in 0..height {
        for x in 0..width {
            let at = layout.offset(x, y, 0, 0) as usize;
            image[at..at + 4].copy_from_slice(&texel(x, y));
        }
    }
    let mut header = [0u32; 40];
    (header[0], header[1], header[2], header[3], header[4], header[5]) = (1, width, height, 1, 1, 0x1a);
    (header[12], header[13], header[15]) = (4, swizzle, layout.pitch);
    header[33] = 0x0001_0203;
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
    let block = |kind: u32, data: &[u8]| {
        [words(&[0x424c_4b7b, 32, 1, 0, kind, data.len() as u32, 0, 0]), data.to_vec()].concat()
    };
    let file = words(&[0x4766_7832, 32, 7, 1, 2, 1, 0, 0]);
    [file, block(11, &words(&header)), block(12, &image), block(1, &[])].concat()
}

#[test]
fn surfaces_of_the_console_are_untiled() {
    for swizzle in [0, 0x100, 0x500] {
        let image = read(Path::new("a.gtx"), &gtx(48, 40, swizzle, |x, y| [x as u8, y as u8, 7, 255])).unwrap();
        assert_eq!((image.texture.width, image.texture.height), (48, 40));
        for (x, y) in [(0, 0), (1, 0), (47, 39), (33, 17)] {
            let texel = floats(&image, 0, y * 48 + x).map(|v| (v * 255.0).round() as u8);
            assert_eq!(texel, [x as u8, y as u8, 7, 255], "swizzle {swizzle:#x}");
        }
    }
}

#[test]
fn what_is_wrong_is_told() {
    assert!(told(b"DDS ").contains("the file ends at byte 4"));
    let short = dds(&[(12, 4), (16, 4), (80, 4), (84, u32::from_le_bytes(*b"DXT1"))], &[0; 7]);
    assert_eq!(told(&short), "the texture has 7 bytes, its size and format need 8");
    assert!(told(&dds(&[(12, 4), (16, 4), (80, 4), (84, u32::from_le_bytes(*b"ABCD"))], &[])).contains("`ABCD`"));
    assert!(told(&dds(&[(12, 0), (16, 4)], &[])).contains("the height is 0"));
    let mut packed = ktx2(37, [1, 1, 0], 0, 1, &[vec![0; 4]]);
    for (scheme, why) in [
        (1, "BasisLZ"),
        (2, "level 0 is no Zstandard frame"),
        (3, "level 0 cannot be decompressed"),
        (4, "supercompression 4 is not known"),
    ] {
        packed[44] = scheme;
        assert!(told(&packed).contains(why), "{scheme}: {}", told(&packed));
    }
    assert!(told(&ktx2(9999, [1, 1, 0], 0, 1, &[vec![0; 4]])).contains("VkFormat 9999"));
    // Every beginning of a file is refused, not more.
    let whole = gtx(48, 40, 0, |_, _| [0; 4]);
    for end in (0..whole.len()).step_by(97) {
        assert!(read(Path::new("a.gtx"), &whole[..end]).is_err());
    }
}

#[test]
fn a_whole_pyramid_is_made() {
    let bytes = ktx2(37, [4, 2, 0], 0, 1, &[(0..32).collect()]);
    let image = with_levels(read(Path::new("a.ktx2"), &bytes).unwrap());
    assert_eq!(image.levels.iter().map(<[_]>::len).collect::<Vec<_>>(), [8, 2, 1]);
    assert!((floats(&image, 1, 0)[0] * 255.0 - 10.0).abs() < 1e-3);
}
