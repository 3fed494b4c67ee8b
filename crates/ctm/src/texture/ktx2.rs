//! Khronos textures, version 2 (KTX 2.0 specification), without supercompression.

use super::formats::of_vk;
use super::{Stored, TextureError, dword, extent, format_of, wrong};
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::Surface;

/// The first byte of the level index; each level has three numbers of 64 bits there.
const INDEX: usize = 80;

pub(super) fn read(bytes: &[u8]) -> Result<Image, TextureError> {
    let at = |offset: usize| dword(bytes, offset);
    let number = at(12)?;
    let Some(row) = of_vk(number) else { return wrong(format!("VkFormat {number} is not known here")) };
    let scheme = at(44)?;
    if scheme != 0 {
        let name = match scheme {
            1 => " (BasisLZ)",
            2 => " (Zstandard)",
            3 => " (ZLIB)",
            _ => "",
        };
        return wrong(format!("supercompression {scheme}{name} is not done; `ktx` of the Khronos tools takes it away"));
    }
    let (width, height, depth) = (extent("width", at(20)?)?, at(24)?, at(28)?);
    let (layers, faces, levels) = (at(32)?, at(36)?, at(40)?.max(1));
    let (kind, slices) = match (height, depth, layers, faces) {
        (_, _, 0, 6) => (TextureKind::Cube, 6),
        (_, _, layers, 6) => (TextureKind::CubeArray, layers.saturating_mul(6)),
        (_, 1.., 0, 1) => (TextureKind::ThreeD, depth),
        (0, 0, 0, 1) => (TextureKind::OneD, 1),
        (0, 0, layers, 1) => (TextureKind::OneDArray, layers),
        (_, 0, 0, 1) => (TextureKind::TwoD, 1),
        (_, 0, layers, 1) => (TextureKind::TwoDArray, layers),
        _ => return wrong(format!("{faces} faces, {layers} layers and {depth} slices are no texture")),
    };
    let slices = extent("number of slices", slices)?;
    let height = extent("height", height.max(1))?;
    let surface = Surface { kind, width, height, depth: slices, levels, format: format_of(&row), gamma: row.gamma };
    surface.bytes()?;
    let mut all = Vec::new();
    for level in 0..levels {
        let entry = INDEX + 24 * level as usize;
        let long = |at: usize| -> Result<u64, TextureError> {
            Ok(u64::from(dword(bytes, at)?) | u64::from(dword(bytes, at + 4)?) << 32)
        };
        let (offset, length) = (long(entry)?, long(entry + 8)?);
        let range =
            usize::try_from(offset).ok().zip(offset.checked_add(length).and_then(|end| usize::try_from(end).ok()));
        let Some(data) = range.and_then(|(from, to)| bytes.get(from..to)) else {
            let message = format!("level {level} has bytes {offset}..{}", offset.saturating_add(length));
            return wrong(format!("{message}, the file has {}", bytes.len()));
        };
        all.extend_from_slice(data);
    }
    Stored { surface, swizzle: row.swizzle, bytes: &all }.image()
}
