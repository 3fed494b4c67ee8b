//! DirectDraw surfaces (DDS): the layout that Microsoft's programming guide for DDS gives.

use super::formats::{FORMATS, fractions, of_dxgi};
use super::{FileFormat, StoredTexture, TextureError, dword, extent, format_of, wrong};
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::{Surface, SurfaceError};
use ctm_isa::r700::ops::{DataFormat, Sel};

/// Bytes of the mark and the header, and of the header of Direct3D 10 after it.
const HEADER: usize = 128;
const HEADER_10: usize = 20;

const HAS_FOUR_CC: u32 = 4;
const CAPS_CUBE: u32 = 0x200;
const CAPS_VOLUME: u32 = 0x20_0000;

pub(super) fn read(bytes: &[u8]) -> Result<StoredTexture, TextureError> {
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
    let stored = StoredTexture { surface, swizzle: row.swizzle, bytes: Vec::new() };
    let wanted = surface.bytes()?;
    let Some(data) = usize::try_from(wanted).ok().and_then(|wanted| data.get(..wanted)) else {
        return Err(SurfaceError::Length { found: data.len() as u64, wanted }.into());
    };
    let bytes = if layers_hold_levels(&surface) { reordered(&stored, data, true)? } else { data.to_vec() };
    Ok(StoredTexture { bytes, ..stored })
}

/// Whether layers and faces follow each other with all their levels, where a surface has level after level.
fn layers_hold_levels(surface: &Surface) -> bool {
    let is_plain = matches!(surface.kind, TextureKind::ThreeD | TextureKind::TwoD | TextureKind::OneD);
    !is_plain && surface.levels > 1
}

/// The slices of layers with all their levels in the order of levels with all their layers, or back.
fn reordered(stored: &StoredTexture, data: &[u8], from_layers: bool) -> Result<Vec<u8>, TextureError> {
    let (levels, layers) = (stored.surface.levels as usize, stored.surface.depth as usize);
    let sizes = (0..stored.surface.levels).map(|level| stored.slice_bytes(level)).collect::<Result<Vec<_>, _>>()?;
    let of_layer: usize = sizes.iter().sum();
    let place = |level: usize, layer: usize, by_layer: bool| match by_layer {
        true => layer * of_layer + sizes[..level].iter().sum::<usize>(),
        false => layers * sizes[..level].iter().sum::<usize>() + layer * sizes[level],
    };
    let mut out = vec![0; data.len()];
    for (level, layer) in (0..levels).flat_map(|level| (0..layers).map(move |layer| (level, layer))) {
        let (from, to) = (place(level, layer, from_layers), place(level, layer, !from_layers));
        if let (Some(to), Some(from)) = (out.get_mut(to..to + sizes[level]), data.get(from..from + sizes[level])) {
            to.copy_from_slice(from);
        }
    }
    Ok(out)
}

/// A file with the header of Direct3D 10.
pub(super) fn write(stored: &StoredTexture) -> Result<Vec<u8>, TextureError> {
    const ALL_FACES: u32 = 0xfe00;
    let surface = &stored.surface;
    let row = FORMATS.iter().find(|row| {
        let same_numbers = (row.numbers, row.sign) == (surface.format.numbers, surface.format.sign);
        let is_float = StoredTexture::is_float(row.data);
        row.dxgi != 0
            && row.data == surface.format.data
            && (same_numbers || is_float)
            && row.gamma == surface.gamma
            && same_elements(row, stored.swizzle)
    });
    let Some(row) = row else {
        let name = surface.format.data.name();
        return wrong(format!(
            "DDS has no format like {name} with these numbers and this order of elements; --format chooses another"
        ));
    };
    let (dimension, is_cube, layers) = match surface.kind {
        TextureKind::OneD => (2, false, 1),
        TextureKind::OneDArray => (2, false, surface.depth),
        TextureKind::TwoD => (3, false, 1),
        TextureKind::TwoDArray => (3, false, surface.depth),
        TextureKind::Cube => (3, true, 1),
        TextureKind::CubeArray => (3, true, surface.depth / 6),
        TextureKind::ThreeD => (4, false, 1),
    };
    let volume = surface.kind == TextureKind::ThreeD;
    let bytes = usize::try_from(surface.bytes()?).unwrap_or(usize::MAX);
    let data = stored
        .bytes
        .get(..bytes)
        .ok_or(SurfaceError::Length { found: stored.bytes.len() as u64, wanted: bytes as u64 })?;
    let data = if layers_hold_levels(surface) { reordered(stored, data, false)? } else { data.to_vec() };
    let mut words = [0u32; (HEADER + HEADER_10) / 4];
    words[0] = u32::from_le_bytes(*b"DDS ");
    words[1] = 124;
    // Capabilities, height, width, pixel format; levels; bytes of level 0; depth.
    words[2] = 0x1007 | 0x8_0000 | if surface.levels > 1 { 0x2_0000 } else { 0 } | if volume { 0x80_0000 } else { 0 };
    (words[3], words[4]) = (surface.height, surface.width);
    words[5] = u32::try_from(stored.slice_bytes(0)?).unwrap_or(u32::MAX);
    words[6] = if volume { surface.depth } else { 0 };
    words[7] = surface.levels;
    (words[19], words[20], words[21]) = (32, HAS_FOUR_CC, u32::from_le_bytes(*b"DX10"));
    let complex = surface.levels > 1 || is_cube || volume;
    words[27] = 0x1000 | if complex { 8 } else { 0 } | if surface.levels > 1 { 0x40_0000 } else { 0 };
    words[28] = if is_cube { ALL_FACES } else { 0 } | if volume { CAPS_VOLUME } else { 0 };
    words[32] = row.dxgi;
    (words[33], words[34], words[35]) = (dimension, if is_cube { 4 } else { 0 }, layers);
    let header = words.iter().flat_map(|word| word.to_le_bytes());
    Ok(header.chain(data).collect())
}

/// Whether the elements that a format has go to the same channels; where it has none, any choice of it is the same 0 and 1.
fn same_elements(row: &FileFormat, swizzle: [Sel; 4]) -> bool {
    let count = match row.data {
        DataFormat::Fmt8 | DataFormat::Fmt16 | DataFormat::Fmt16Float | DataFormat::Fmt32 | DataFormat::Fmt32Float => 1,
        DataFormat::FmtBc4 => 1,
        DataFormat::Fmt8_8 | DataFormat::Fmt16_16 | DataFormat::Fmt16_16Float => 2,
        DataFormat::Fmt32_32 | DataFormat::Fmt32_32Float | DataFormat::FmtBc5 => 2,
        _ => 4,
    };
    let plain = |at: usize, sel: Sel| match sel {
        Sel::Y if count < 2 => Sel::Zero,
        Sel::Z if count < 3 => Sel::Zero,
        Sel::W if count < 4 && at == 3 => Sel::One,
        other => other,
    };
    (0..4).all(|at| plain(at, row.swizzle[at]) == plain(at, swizzle[at]))
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
    // Masks of channels that a pixel format lacks are 0.
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
