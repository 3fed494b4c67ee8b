//! DirectDraw surfaces (DDS): the layout that Microsoft's programming guide for DDS gives.

use super::formats::{fractions, of_dxgi};
use super::{FileFormat, Stored, TextureError, dword, extent, format_of, wrong};
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::Surface;
use ctm_isa::r700::ops::DataFormat;

/// Bytes of the mark and the header, and of the header of Direct3D 10 behind it.
const HEADER: usize = 128;
const HEADER_10: usize = 20;

const HAS_FOUR_CC: u32 = 4;
const CAPS_CUBE: u32 = 0x200;
const CAPS_VOLUME: u32 = 0x20_0000;

pub(super) fn read(bytes: &[u8]) -> Result<Image, TextureError> {
    let at = |offset: usize| dword(bytes, offset);
    if at(4)? != 124 {
        return wrong(format!("the header's size is {}, it must be 124", at(4)?));
    }
    let (height, width, depth) = (extent("height", at(12)?)?, extent("width", at(16)?)?, at(24)?.max(1));
    let levels = at(28)?.max(1);
    let (flags, four_cc, caps) = (at(80)?, at(84)?, at(112)?);
    let is_10 = flags & HAS_FOUR_CC != 0 && four_cc.to_le_bytes() == *b"DX10";
    let (row, kind, depth) = if is_10 {
        let (number, dimension, misc, layers) = (at(128)?, at(132)?, at(136)?, at(140)?.max(1));
        let Some(row) = of_dxgi(number) else { return wrong(format!("DXGI format {number} is not known here")) };
        let is_cube = misc & 4 != 0;
        let (kind, depth) = match (dimension, is_cube, layers) {
            (2, _, 1) => (TextureKind::OneD, 1),
            (2, _, layers) => (TextureKind::OneDArray, layers),
            (3, true, 1) => (TextureKind::Cube, 6),
            (3, true, cubes) => (TextureKind::CubeArray, cubes.saturating_mul(6)),
            (3, false, 1) => (TextureKind::TwoD, 1),
            (3, false, layers) => (TextureKind::TwoDArray, layers),
            (4, ..) => (TextureKind::ThreeD, depth),
            (other, ..) => return wrong(format!("the resource dimension is {other}, it must be 2, 3 or 4")),
        };
        (row, kind, depth)
    } else {
        let row = old_format(flags, four_cc, [at(88)?, at(92)?, at(96)?, at(100)?, at(104)?])?;
        let (kind, depth) = match () {
            () if caps & CAPS_CUBE != 0 && caps & 0xfc00 != 0xfc00 => {
                return wrong("a cube with some of its faces only is not known here");
            }
            () if caps & CAPS_CUBE != 0 => (TextureKind::Cube, 6),
            () if caps & CAPS_VOLUME != 0 => (TextureKind::ThreeD, depth),
            () => (TextureKind::TwoD, 1),
        };
        (row, kind, depth)
    };
    let depth = extent("number of slices", depth)?;
    let surface = Surface { kind, width, height, depth, levels, format: format_of(&row), gamma: row.gamma };
    let data = bytes.get(HEADER + if is_10 { HEADER_10 } else { 0 }..).unwrap_or_default();
    if matches!(kind, TextureKind::ThreeD | TextureKind::TwoD | TextureKind::OneD) || levels == 1 {
        return Stored { surface, swizzle: row.swizzle, bytes: data }.image();
    }
    // Layers and faces follow each other with all their levels; a surface has level after level.
    let layer = Surface { kind: TextureKind::TwoD, depth: 1, ..surface };
    let of_layer = usize::try_from(layer.bytes()?).unwrap_or(usize::MAX);
    let images: Vec<Image> = (0..depth as usize)
        .map(|n| {
            let from = n.checked_mul(of_layer).and_then(|from| data.get(from..)).unwrap_or_default();
            Stored { surface: layer, swizzle: row.swizzle, bytes: from }.image()
        })
        .collect::<Result<_, _>>()?;
    let levels =
        (0..levels as usize).map(|level| images.iter().flat_map(|image| image.levels[level].clone()).collect());
    Ok(Image { texture: surface.texture()?, levels: levels.collect() })
}

/// The formats before Direct3D 10: a code of four letters or a number in its place, or masks.
fn old_format(flags: u32, four_cc: u32, masks: [u32; 5]) -> Result<FileFormat, TextureError> {
    let known = |dxgi: u32| of_dxgi(dxgi).ok_or_else(|| TextureError("a format is missing".into()));
    if flags & HAS_FOUR_CC != 0 {
        return match &four_cc.to_le_bytes() {
            b"DXT1" => known(71),
            b"DXT2" | b"DXT3" => known(74),
            b"DXT4" | b"DXT5" => known(77),
            b"ATI1" | b"BC4U" => known(80),
            b"BC4S" => known(81),
            b"ATI2" | b"BC5U" => known(83),
            b"BC5S" => known(84),
            [36, 0, 0, 0] => known(11),
            [110, 0, 0, 0] => known(13),
            [111, 0, 0, 0] => known(54),
            [112, 0, 0, 0] => known(34),
            [113, 0, 0, 0] => known(10),
            [114, 0, 0, 0] => known(41),
            [115, 0, 0, 0] => known(16),
            [116, 0, 0, 0] => known(2),
            code => wrong(format!("the format `{}` is not known here", code.escape_ascii())),
        };
    }
    const ALPHA: u32 = 1;
    let [bits, red, green, blue, alpha] = masks;
    // Masks of what a pixel format does not have are 0.
    let alpha = if flags & (ALPHA | 2) != 0 { alpha } else { 0 };
    Ok(match (bits, red, green, blue, alpha) {
        (32, 0xff_0000, 0xff00, 0xff, 0xff00_0000) => known(87)?,
        (32, 0xff_0000, 0xff00, 0xff, 0) => known(88)?,
        (32, 0xff, 0xff00, 0xff_0000, 0xff00_0000) => known(28)?,
        (32, 0xff, 0xff00, 0xff_0000, 0) => fractions(DataFormat::Fmt8_8_8_8, "xyz1"),
        (32, 0x3ff, 0xf_fc00, 0x3ff0_0000, _) => known(24)?,
        (32, 0xffff, 0xffff_0000, 0, _) => known(35)?,
        (24, 0xff_0000, 0xff00, 0xff, _) => fractions(DataFormat::Fmt8_8_8, "zyx1"),
        (24, 0xff, 0xff00, 0xff_0000, _) => fractions(DataFormat::Fmt8_8_8, "xyz1"),
        (16, 0xf800, 0x7e0, 0x1f, _) => known(85)?,
        (16, 0x7c00, 0x3e0, 0x1f, 0x8000) => known(86)?,
        (16, 0x7c00, 0x3e0, 0x1f, 0) => fractions(DataFormat::Fmt1_5_5_5, "zyx1"),
        (16, 0xf00, 0xf0, 0xf, 0xf000) => known(115)?,
        (16, 0xff, 0, 0, 0xff00) => fractions(DataFormat::Fmt8_8, "xxxy"),
        (16, 0xffff, 0, 0, 0) => fractions(DataFormat::Fmt16, "xxx1"),
        (8, 0xff, 0, 0, 0) => fractions(DataFormat::Fmt8, "xxx1"),
        (8, _, _, _, 0xff) => known(65)?,
        _ => {
            return wrong(format!(
                "pixels of {bits} bits with the masks {red:#x}, {green:#x}, {blue:#x} and {alpha:#x} are not known here"
            ));
        }
    })
}
