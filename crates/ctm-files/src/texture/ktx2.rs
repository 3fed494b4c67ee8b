//! Khronos textures, version 2 (KTX 2.0 specification); levels may be supercompressed by Zstandard or ZLIB.

use super::formats::of_vk;
use super::{StoredTexture, TextureError, dword, extent, format_of, wrong};
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::surface::{Surface, SurfaceError};
use std::io::Read;

#[cfg(feature = "compressed-ktx2")]
mod decoders {
    use super::{Read, TextureError, wrong};
    use flate2::read::ZlibDecoder;
    use ruzstd::decoding::StreamingDecoder;

    pub(super) type Decoder<'a> = Box<dyn Read + 'a>;

    pub(super) fn zstandard(number: u32, data: &[u8]) -> Result<Decoder<'_>, TextureError> {
        match StreamingDecoder::new(data) {
            Ok(decoder) => Ok(Box::new(decoder)),
            Err(error) => wrong(format!("level {number} is no Zstandard frame: {error}")),
        }
    }

    #[allow(clippy::unnecessary_wraps, reason = "builds without decoders have an error")]
    pub(super) fn zlib(data: &[u8]) -> Result<Decoder<'_>, TextureError> {
        Ok(Box::new(ZlibDecoder::new(data)))
    }
}

/// Builds without decoders: each use is an error.
#[cfg(not(feature = "compressed-ktx2"))]
mod decoders {
    use super::{Read, TextureError, wrong};

    fn missing<'a>() -> Result<Box<dyn Read + 'a>, TextureError> {
        wrong("this build reads no compressed levels: it was made without the feature `compressed-ktx2`")
    }

    pub(super) fn zstandard(_: u32, _: &[u8]) -> Result<Box<dyn Read + 'static>, TextureError> {
        missing()
    }

    pub(super) fn zlib(_: &[u8]) -> Result<Box<dyn Read + 'static>, TextureError> {
        missing()
    }
}

/// The first byte of the level index; each level has three numbers of 64 bits there: offset, bytes, and bytes without supercompression.
const INDEX: usize = 80;

/// How the bytes of levels are stored (supercompressionScheme).
#[derive(Clone, Copy, Debug)]
enum Scheme {
    Plain,
    Zstandard,
    Zlib,
}

impl Scheme {
    fn of(number: u32) -> Result<Self, TextureError> {
        match number {
            0 => Ok(Self::Plain),
            1 => wrong("supercompression 1 (BasisLZ) is not done; `ktx transcode` of the Khronos tools takes it away"),
            2 => Ok(Self::Zstandard),
            3 => Ok(Self::Zlib),
            _ => wrong(format!("supercompression {number} is not known; known are 0, 2 (Zstandard) and 3 (ZLIB)")),
        }
    }

    /// The bytes of a level, which become `length` bytes.
    fn level(self, number: u32, data: &[u8], length: u64) -> Result<Vec<u8>, TextureError> {
        let from: Box<dyn Read + '_> = match self {
            Self::Plain => Box::new(data),
            Self::Zstandard => decoders::zstandard(number, data)?,
            Self::Zlib => decoders::zlib(data)?,
        };
        let mut bytes = Vec::new();
        // One byte more than there may be, so that too many are seen.
        if let Err(error) = from.take(length + 1).read_to_end(&mut bytes) {
            return wrong(format!("level {number} cannot be decompressed: {error}"));
        }
        if bytes.len() as u64 != length {
            let found = if bytes.len() as u64 > length { "more".to_owned() } else { bytes.len().to_string() };
            return wrong(format!("level {number} becomes {found} bytes, its index says {length}"));
        }
        Ok(bytes)
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<StoredTexture, TextureError> {
    let at = |offset: usize| dword(bytes, offset);
    let number = at(12)?;
    let Some(row) = of_vk(number) else { return wrong(format!("VkFormat {number} is not known here")) };
    let scheme = Scheme::of(at(44)?)?;
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
    // Levels together have no more than the whole: hostile lengths ask for no more memory than that.
    let mut left = surface.bytes()?;
    let mut all = Vec::new();
    for level in 0..levels {
        let entry = INDEX + 24 * level as usize;
        let long = |at: usize| -> Result<u64, TextureError> {
            Ok(u64::from(dword(bytes, at)?) | u64::from(dword(bytes, at + 4)?) << 32)
        };
        let (offset, length, plain) = (long(entry)?, long(entry + 8)?, long(entry + 16)?);
        let range =
            usize::try_from(offset).ok().zip(offset.checked_add(length).and_then(|end| usize::try_from(end).ok()));
        let Some(data) = range.and_then(|(from, to)| bytes.get(from..to)) else {
            let message = format!("level {level} has bytes {offset}..{}", offset.saturating_add(length));
            return wrong(format!("{message}, the file has {}", bytes.len()));
        };
        if matches!(scheme, Scheme::Plain) {
            all.extend_from_slice(data);
            continue;
        }
        left = match left.checked_sub(plain) {
            Some(left) => left,
            None => {
                return wrong(format!("level {level} becomes {plain} bytes, and the texture has {left} left for it"));
            }
        };
        all.append(&mut scheme.level(level, data, plain)?);
    }
    let (found, wanted) = (all.len() as u64, surface.bytes()?);
    if found < wanted {
        return Err(SurfaceError::Length { found, wanted }.into());
    }
    all.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
    Ok(StoredTexture { surface, swizzle: row.swizzle, bytes: all })
}
