//! Textures of the console: GX2 surfaces in GFD containers (`.gtx`).
//!
//! The header of a texture is a GX2Texture as libraries for the console publish it (wut's `gx2/surface.h` and `gx2/texture.h`): big-endian words. What
//! its levels look like in memory follows from the chip's layout rules. UNVERIFIED: levels above 0 of a file of the console's own converter.

use super::{Stored, TextureError, wrong};
use ctm_draw::layout::{ArrayMode, Tiling};
use ctm_draw::levels::{Extent, levels};
use ctm_exec::r700::formats::{Format, size_bytes};
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::Surface;
use ctm_image::r700::gfd::{BlockKind, Gfd};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel};

/// The words of a surface, by their places.
const DIM: usize = 0;
const WIDTH: usize = 1;
const HEIGHT: usize = 2;
const DEPTH: usize = 3;
const LEVELS: usize = 4;
const FORMAT: usize = 5;
const SAMPLES: usize = 6;
const TILE_MODE: usize = 12;
const SWIZZLE: usize = 13;
const PITCH: usize = 15;
/// Thirteen words: where levels begin.
const LEVEL_OFFSETS: usize = 16;
/// Behind the surface: four words of a view, then which element is which channel.
const CHANNELS: usize = 33;

pub(super) fn read(bytes: &[u8]) -> Result<Image, TextureError> {
    let gfd = Gfd::read(bytes).map_err(|error| TextureError(error.to_string()))?;
    let header = gfd.blocks.iter().position(|block| block.kind() == Some(BlockKind::TextureHeader));
    let Some(header) = header else { return wrong("the container holds no texture") };
    let behind = &gfd.blocks[header..];
    let data =
        |kind: BlockKind| behind.iter().find(|block| block.kind() == Some(kind)).map(|block| block.data.as_slice());
    let Some(image) = data(BlockKind::TextureImage) else {
        return wrong("the container holds no elements of its texture");
    };
    let mipmap = data(BlockKind::TextureMipmap).unwrap_or_default();
    let words: Vec<u32> = behind[0].data.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
    if words.len() <= CHANNELS {
        return wrong(format!("the texture's header has {} words, it must have more than {CHANNELS}", words.len()));
    }
    if words[SAMPLES] != 0 {
        return wrong("textures with several samples are not done");
    }
    let (kind, slices) = match words[DIM] {
        0 => (TextureKind::OneD, 1),
        1 => (TextureKind::TwoD, 1),
        2 => (TextureKind::ThreeD, words[DEPTH].max(1)),
        3 => (TextureKind::Cube, 6),
        4 => (TextureKind::OneDArray, words[DEPTH].max(1)),
        5 => (TextureKind::TwoDArray, words[DEPTH].max(1)),
        other => return wrong(format!("dimension {other} is not known; known are 0 to 5")),
    };
    let (format, gamma) = format(words[FORMAT])?;
    let surface = Surface {
        kind,
        width: words[WIDTH],
        height: words[HEIGHT].max(1),
        depth: slices,
        levels: words[LEVELS].max(1),
        format,
        gamma,
    };
    let wanted = surface.bytes()?;
    let mode = match words[TILE_MODE] {
        0 | 1 | 16 => ArrayMode::Linear,
        2 => ArrayMode::Tiled1d,
        4 => ArrayMode::Tiled2d,
        other => {
            return wrong(format!("tile mode {other} is not done; 0 and 1 (linear), 2 (1D thin) and 4 (2D thin) are"));
        }
    };
    let (block, element_bytes) = element(format.data)?;
    let extent = Extent {
        width: surface.width,
        height: surface.height,
        depth: slices,
        is_3d: kind == TextureKind::ThreeD,
        levels: surface.levels,
        block,
        element_bytes,
    };
    // Bit 8 moves pipes, bits 10:9 banks.
    let swizzle = words[SWIZZLE] >> 8 & 7;
    let (all, _) = levels(&extent, mode, Tiling { swizzle, ..Tiling::CONSOLE });
    let mut rows = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0).min(image.len() + mipmap.len()));
    for (n, level) in all.iter().enumerate() {
        let mut layout = level.layout;
        let (data, first) = match n {
            0 => {
                // The header says the pitch of level 0.
                layout.pitch = words[PITCH].max(layout.pitch);
                (image, 0)
            }
            1 => (mipmap, 0),
            n => (mipmap, u64::from(words.get(LEVEL_OFFSETS + n - 1).copied().unwrap_or(0))),
        };
        if layout.mode != ArrayMode::Tiled2d {
            layout.tiling.swizzle = 0;
        }
        layout.check().map_err(|error| TextureError(format!("level {n}: {error}")))?;
        for z in 0..level.size[2] {
            for y in 0..level.size[1] {
                for x in 0..level.size[0] {
                    let at = first + layout.offset(x, y, z, 0);
                    let at = usize::try_from(at).unwrap_or(usize::MAX);
                    let Some(element) = data.get(at..at.saturating_add(element_bytes as usize)) else {
                        let message =
                            format!("level {n} reaches to byte {}", at.saturating_add(element_bytes as usize));
                        return wrong(format!("{message}, its block has {}", data.len()));
                    };
                    rows.extend_from_slice(element);
                }
            }
        }
    }
    let mut swizzle = [Sel::X; 4];
    for (sel, code) in swizzle.iter_mut().zip(words[CHANNELS].to_be_bytes()) {
        *sel = match code {
            0 => Sel::X,
            1 => Sel::Y,
            2 => Sel::Z,
            3 => Sel::W,
            4 => Sel::Zero,
            5 => Sel::One,
            other => return wrong(format!("channel selector {other} is not known; known are 0 to 5")),
        };
    }
    Stored { surface, swizzle, bytes: &rows }.image()
}

/// A GX2 format: the chip's format in bits 5:0, what its numbers are in bits 11:8. Elements of textures are little-endian, as the texture unit reads
/// them.
fn format(word: u32) -> Result<(Format, bool), TextureError> {
    let Some(data) = DataFormat::from_code(word & 0x3f) else {
        return wrong(format!("format {word:#x} is not known"));
    };
    let (numbers, sign, gamma) = match word >> 8 & 15 {
        0 | 8 => (NumFormat::Norm, FormatComp::Unsigned, false),
        1 => (NumFormat::Int, FormatComp::Unsigned, false),
        2 => (NumFormat::Norm, FormatComp::Signed, false),
        3 => (NumFormat::Int, FormatComp::Signed, false),
        4 => (NumFormat::Norm, FormatComp::Unsigned, true),
        other => return wrong(format!("format {word:#x} has numbers of kind {other}, which is not known")),
    };
    Ok((Format { data, numbers, sign, endian: EndianSwap::None, ..Format::default() }, gamma))
}

/// Columns and rows of texels of an element, and its bytes.
pub(crate) fn element(data: DataFormat) -> Result<([u32; 2], u32), TextureError> {
    match data {
        DataFormat::FmtBc1 | DataFormat::FmtBc4 => Ok(([4; 2], 8)),
        DataFormat::FmtBc2 | DataFormat::FmtBc3 | DataFormat::FmtBc5 => Ok(([4; 2], 16)),
        _ => match size_bytes(data) {
            Ok(bytes @ (1 | 2 | 4 | 8 | 16)) => Ok(([1; 2], u32::try_from(bytes).unwrap_or(0))),
            _ => wrong(format!("{} is no format of surfaces here", data.name())),
        },
    }
}
