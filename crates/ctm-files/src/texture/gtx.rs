//! Textures of the console: GX2 surfaces in GFD containers (`.gtx`).
//!
//! The header of a texture is a GX2Texture as libraries for the console publish it (wut's `gx2/surface.h` and `gx2/texture.h`): big-endian words. The
//! layout of its levels in memory follows from the chip's layout rules ([`ctm_draw::console`]). UNVERIFIED: levels above 0 of a file of the console's
//! own converter, and where it pads the file.

use super::{StoredTexture, TextureError, wrong};
use ctm_draw::console::{Arrangement, TileMode, tile_levels};
use ctm_draw::levels::Extent;
use ctm_exec::r700::formats::{Format, size_bytes};
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::Surface;
use ctm_image::r700::gfd::{BlockKind, Gfd};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel};

/// Bytes of the container's header and of a block's.
const FILE_HEADER_BYTES: usize = 32;
const BLOCK_HEADER_BYTES: usize = 32;
/// The word of the container's header that says whether its blocks are aligned.
const ALIGNED: usize = 5;
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
const USE: usize = 7;
const IMAGE_BYTES: usize = 8;
const MIPMAP_BYTES: usize = 10;
const ALIGNMENT: usize = 14;
const PITCH: usize = 15;
/// Thirteen words: where levels begin.
const LEVEL_OFFSETS: usize = 16;
/// After the surface: four words of a view (first level, levels, first slice, slices), then which element is which channel.
const VIEW_LEVELS: usize = 30;
const VIEW_SLICES: usize = 32;
const CHANNELS: usize = 33;
/// The rest are five words of registers.
const HEADER_WORDS: usize = CHANNELS + 6;

pub(super) fn read(bytes: &[u8]) -> Result<StoredTexture, TextureError> {
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
    let Some(mode) = TileMode::from_code(words[TILE_MODE]) else {
        return wrong(format!("tile mode {} is not known; known are 0 to 16", words[TILE_MODE]));
    };
    let (block, element_bytes) = element(format.data)?;
    let extent = extent_of(&surface, block, element_bytes);
    let all = tile_levels(&extent, mode, words[SWIZZLE] >> 8 & 7);
    let mut rows = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0).min(image.len() + mipmap.len()));
    for (n, level) in all.iter().enumerate() {
        let mut layout = level.layout;
        let (data, first) = match n {
            0 => {
                // The header says the pitch of level 0.
                let narrow = mode.arrangement == Arrangement::Linear && words[PITCH] >= level.size[0];
                layout.pitch = if narrow { words[PITCH] } else { words[PITCH].max(layout.pitch) };
                (image, 0)
            }
            1 => (mipmap, 0),
            n => (mipmap, u64::from(words.get(LEVEL_OFFSETS + n - 1).copied().unwrap_or(0))),
        };
        layout.check().map_err(|error| TextureError(format!("level {n}: {error}")))?;
        for [x, y, z] in elements_of(level.size) {
            let at = usize::try_from(first + layout.offset(x, y, z)).unwrap_or(usize::MAX);
            let Some(element) = data.get(at..at.saturating_add(element_bytes as usize)) else {
                let message = format!("level {n} reaches to byte {}", at.saturating_add(element_bytes as usize));
                return wrong(format!("{message}, its block has {}", data.len()));
            };
            rows.extend_from_slice(element);
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
    Ok(StoredTexture { surface, swizzle, bytes: rows })
}

/// Elements of a level in the order of rows.
fn elements_of([width, height, depth]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])))
}

fn extent_of(surface: &Surface, block: [u32; 2], element_bytes: u32) -> Extent {
    let Surface { width, height, depth, levels, .. } = *surface;
    Extent { width, height, depth, is_3d: surface.kind == TextureKind::ThreeD, levels, block, element_bytes }
}

/// A container with one texture. The words that loaders make of the header (the resource's registers) are 0, as are pointers.
pub(super) fn write(stored: &StoredTexture, mode: TileMode, swizzle: u32) -> Result<Vec<u8>, TextureError> {
    let surface = &stored.surface;
    if swizzle > 7 {
        return wrong(format!("the swizzle is {swizzle}, it is 0 to 7: a pipe in bit 0, a bank in bits 2:1"));
    }
    let dimension = match surface.kind {
        TextureKind::OneD => 0,
        TextureKind::TwoD => 1,
        TextureKind::ThreeD => 2,
        TextureKind::Cube => 3,
        TextureKind::OneDArray => 4,
        TextureKind::TwoDArray => 5,
        TextureKind::CubeArray => return wrong("GTX has no arrays of cubes"),
    };
    let (block, element_bytes) = element(surface.format.data)?;
    let all = tile_levels(&extent_of(surface, block, element_bytes), mode, swizzle);
    let mut rest = stored.bytes.as_slice();
    let (mut image, mut mipmap, mut offsets) = (Vec::new(), Vec::new(), [0u32; 13]);
    let place = |at: u64| u32::try_from(at).map_err(|_| TextureError("the texture is larger than 4 GiB".into()));
    for (n, level) in all.iter().enumerate() {
        level.layout.check().map_err(|error| TextureError(format!("level {n}: {error}")))?;
        let data = if n == 0 { &mut image } else { &mut mipmap };
        let first = (data.len() as u64).next_multiple_of(level.layout.alignment());
        let end = usize::try_from(first + level.layout.bytes(level.slices)).unwrap_or(usize::MAX);
        data.resize(end, 0u8);
        for [x, y, z] in elements_of(level.size) {
            let Some((element, after)) = rest.split_at_checked(element_bytes as usize) else {
                return wrong(format!("the texture ends in level {n}"));
            };
            rest = after;
            let at = usize::try_from(first + level.layout.offset(x, y, z)).unwrap_or(usize::MAX);
            let Some(to) = data.get_mut(at..at.saturating_add(element.len())) else {
                return wrong(format!("level {n} does not fit"));
            };
            to.copy_from_slice(element);
        }
        match n {
            0 => {}
            // Counted from the first byte of level 0, as if the two blocks followed each other.
            1 => offsets[0] = place((image.len() as u64).next_multiple_of(level.layout.alignment()))?,
            n => {
                if let Some(offset) = offsets.get_mut(n - 1) {
                    *offset = place(first)?;
                }
            }
        }
    }
    let tiled = all.iter().take_while(|level| level.layout.mode.arrangement == Arrangement::Macro).count();
    // Without smaller levels in other tiles all thirteen count.
    let tiled = if tiled == all.len() { offsets.len() } else { tiled };
    let mut words = [0u32; HEADER_WORDS];
    (words[DIM], words[WIDTH], words[HEIGHT]) = (dimension, surface.width, surface.height);
    (words[DEPTH], words[LEVELS], words[FORMAT]) = (surface.depth, surface.levels, format_word(stored)?);
    (words[USE], words[IMAGE_BYTES], words[MIPMAP_BYTES]) =
        (1, place(image.len() as u64)?, place(mipmap.len() as u64)?);
    words[TILE_MODE] = mode.code;
    words[SWIZZLE] = swizzle << 8 | u32::try_from(tiled).unwrap_or(0) << 16;
    if let Some(level) = all.first() {
        (words[ALIGNMENT], words[PITCH]) = (place(level.layout.alignment())?, level.layout.pitch);
    }
    words[LEVEL_OFFSETS..LEVEL_OFFSETS + 13].copy_from_slice(&offsets);
    (words[VIEW_LEVELS], words[VIEW_SLICES]) = (surface.levels, surface.depth);
    words[CHANNELS] = u32::from_be_bytes(stored.swizzle.map(|sel| match sel {
        Sel::X => 0,
        Sel::Y => 1,
        Sel::Z => 2,
        Sel::W => 3,
        Sel::Zero | Sel::Mask => 4,
        Sel::One => 5,
    }));
    let header: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut blocks = vec![(BlockKind::TextureHeader, header)];
    for (kind, data) in [(BlockKind::TextureImage, image), (BlockKind::TextureMipmap, mipmap)] {
        if !data.is_empty() {
            // Elements begin at a multiple of their alignment in the file, too.
            let before: usize =
                FILE_HEADER_BYTES + blocks.iter().map(|block| BLOCK_HEADER_BYTES + block.1.len()).sum::<usize>();
            let alignment = (words[ALIGNMENT] as usize).max(1);
            let padding =
                (before + 2 * BLOCK_HEADER_BYTES).next_multiple_of(alignment) - before - 2 * BLOCK_HEADER_BYTES;
            blocks.push((BlockKind::Padding, vec![0; padding]));
            blocks.push((kind, data));
        }
    }
    let mut gfd = Gfd::of_blocks(blocks).map_err(|error| TextureError(error.to_string()))?;
    gfd.header[ALIGNED] = 1;
    Ok(gfd.write())
}

/// A format as GX2 numbers it.
fn format_word(stored: &StoredTexture) -> Result<u32, TextureError> {
    let format = stored.surface.format;
    let numbers = match (format.numbers, format.sign) {
        _ if StoredTexture::is_float(format.data) => 8,
        (NumFormat::Norm, FormatComp::Unsigned) if stored.surface.gamma => 4,
        (NumFormat::Norm, FormatComp::Unsigned) => 0,
        (NumFormat::Int, FormatComp::Unsigned) => 1,
        (NumFormat::Norm, FormatComp::Signed) => 2,
        (NumFormat::Int, FormatComp::Signed) => 3,
        _ => return wrong("numbers that are neither fractions nor integers have no format of the console"),
    };
    Ok(format.data.code() | numbers << 8)
}

/// A GX2 format: the chip's format in bits 5:0, the type of its numbers in bits 11:8. Elements of textures are little-endian, as the texture unit
/// reads them.
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
