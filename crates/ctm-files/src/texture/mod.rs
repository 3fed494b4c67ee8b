//! Texture files: DDS, KTX2, and the surfaces of the console's GFD containers (GTX). They become an [`Image`], with texels converted as the chip's
//! formats define.
//!
//! | file | subject |
//! |---|---|
//! | `formats` | the formats of the files by their numbers, as formats of the chip (table) |
//! | `dds` | DirectDraw surfaces, with the header of Direct3D 10 or without |
//! | `ktx2` | Khronos textures, version 2, plain or supercompressed by Zstandard or ZLIB |
//! | `gtx` | GX2 surfaces of GFD containers, linear and tiled |
//! | `stored` | textures as files store them, for converters |
//! | `mipmaps` | smaller levels of a texture that has none |
//!
//! **Invariant.** Hostile bytes give a [`TextureError`], never a panic or more memory than the described texture needs.
//!
//! ```
//! use ctm_exec::r700::resources::TextureKind;
//! use ctm_files::texture::{EXTENSIONS, FORMATS, FileFormat, TextureError, is_texture, read, stacked, with_levels};
//! use std::path::Path;
//!
//! assert!(EXTENSIONS.contains(".dds") && is_texture(Path::new("wood.dds")));
//! let row: &FileFormat = &FORMATS[0];
//! assert!(row.dxgi != 0 || row.vk != 0);
//! let wrong: TextureError = read(Path::new("wood.dds"), b"DDS ").unwrap_err();
//! assert!(!wrong.0.is_empty());
//!
//! // Two pictures become the layers of an array, with their mipmap levels.
//! let picture = ctm_files::array::npy_bytes(ctm_files::array::ItemType::Float32, &[2, 2, 4], &[0; 16])?;
//! let image = || read(Path::new("layer.npy"), &picture);
//! let layers = with_levels(stacked(TextureKind::TwoDArray, vec![image()?, image()?])?);
//! assert_eq!((layers.texture.depth, layers.texture.levels), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dds;
mod formats;
mod gtx;
mod ktx2;
mod mipmaps;
mod stored;

pub use formats::{FORMATS, FileFormat};
pub use mipmaps::with_levels;
pub use stored::StoredTexture;

use crate::array::{Array, ArrayFileKind};
use ctm_draw::console::TileMode;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Image, Levels, Texture};
use ctm_exec::r700::surface::{LARGEST, SurfaceError};
use std::path::Path;

/// The extensions of files that [`read`] knows besides those of arrays.
pub const EXTENSIONS: &str = ".dds, .ktx2, .gtx, .png, .npy, .pfm";

/// Why a file is no texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureError(pub String);

impl std::fmt::Display for TextureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TextureError {}

impl From<SurfaceError> for TextureError {
    fn from(error: SurfaceError) -> Self {
        Self(error.to_string())
    }
}

fn wrong<T>(message: impl Into<String>) -> Result<T, TextureError> {
    Err(TextureError(message.into()))
}

/// Whether the name is one of a file that holds a texture in a format of its own, and not an array.
#[must_use]
pub fn is_texture(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(extension.as_str(), "dds" | "ktx2" | "gtx")
}

/// Reads a texture by its bytes' own marks, or an array (one level, two-dimensional) by the extension.
///
/// # Errors
/// The bytes are invalid, or use a feature that is not supported.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Image, TextureError> {
    match marked(bytes) {
        Some(stored) => stored?.image(),
        None => {
            let array = array(path, bytes)?;
            let mut image = Image::from(array.picture());
            image.texture.format = array.texel_format();
            Ok(image)
        }
    }
}

/// The same in the file's own format; for arrays see [`StoredTexture::of_array`].
///
/// # Errors
/// As [`read`].
pub fn read_stored(path: &Path, bytes: &[u8]) -> Result<StoredTexture, TextureError> {
    match marked(bytes) {
        Some(stored) => stored,
        None => StoredTexture::of_array(&array(path, bytes)?),
    }
}

/// The layout of the file that [`write()`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The tile mode of `.gtx`.
    pub mode: TileMode,
    /// The pipe (bit 0) and bank (bits 2:1) of the first tile of `.gtx`.
    pub swizzle: u32,
    /// The level that an array is made of.
    pub level: u32,
}

impl Default for WriteOptions {
    /// 2D thin tiles, not moved; level 0.
    fn default() -> Self {
        Self { mode: TileMode::THIN_2D, swizzle: 0, level: 0 }
    }
}

/// The bytes of a texture file: `.gtx` and `.dds` with all levels as they are stored, or an array (`.png`, `.npy`, `.pfm`) of one level.
///
/// # Errors
/// The file cannot hold the image.
///
/// ```
/// use ctm_files::array::{Array, Values};
/// use ctm_files::texture::{StoredTexture, WriteOptions, read_stored, write};
/// use std::path::Path;
/// let picture = Array { height: 2, width: 2, channels: 4, values: Values::U8((0..16).collect()) };
/// let stored = StoredTexture::of_array(&picture)?;
/// let bytes = write(Path::new("a.gtx"), &stored, &WriteOptions::default())?;
/// assert_eq!(read_stored(Path::new("a.gtx"), &bytes)?, stored);
/// # Ok::<(), ctm_files::texture::TextureError>(())
/// ```
pub fn write(path: &Path, stored: &StoredTexture, options: &WriteOptions) -> Result<Vec<u8>, TextureError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "gtx" => gtx::write(stored, options.mode, options.swizzle),
        "dds" => dds::write(stored),
        _ => match ArrayFileKind::of(path) {
            Some(kind) => {
                let array = stored.array(options.level)?;
                array.to_bytes(kind).map_err(|error| TextureError(error.to_string()))
            }
            None => wrong(format!(
                "textures are not written as `.{extension}`; .gtx, .dds and {} are",
                ArrayFileKind::EXTENSIONS
            )),
        },
    }
}

/// A texture of a file whose first bytes identify its format.
fn marked(bytes: &[u8]) -> Option<Result<StoredTexture, TextureError>> {
    match bytes {
        [b'D', b'D', b'S', b' ', ..] => Some(dds::read(bytes)),
        [0xab, b'K', b'T', b'X', b' ', b'2', b'0', ..] => Some(ktx2::read(bytes)),
        [b'G', b'f', b'x', b'2', ..] => Some(gtx::read(bytes)),
        _ => None,
    }
}

fn array(path: &Path, bytes: &[u8]) -> Result<Array, TextureError> {
    match ArrayFileKind::of(path) {
        Some(kind) => Array::from_bytes(kind, bytes, None).map_err(|error| TextureError(error.to_string())),
        None => wrong(format!("this is no texture or picture that is known; known are {EXTENSIONS}")),
    }
}

/// Several pictures of one size as the faces, layers or slices of one texture.
///
/// # Errors
/// Pictures that do not fit together.
pub fn stacked(kind: ctm_exec::r700::resources::TextureKind, images: Vec<Image>) -> Result<Image, TextureError> {
    use ctm_exec::r700::resources::TextureKind::{Cube, CubeArray, OneD, OneDArray, ThreeD, TwoD, TwoDArray};
    let count = images.len();
    let Some(first) = images.first().map(|image| image.texture) else { return wrong("there are no pictures") };
    if images.iter().any(|image| (image.texture.width, image.texture.height) != (first.width, first.height)) {
        return wrong("the pictures of a texture have one size, and these differ");
    }
    if count == 1 && images[0].texture.kind == kind {
        return Ok(images.into_iter().next().unwrap_or(Image { texture: first, levels: Levels::default() }));
    }
    // Rows of one picture can be the layers of a one-dimensional array, or the faces and slices one below the other.
    let rows: u32 = images.iter().map(|image| image.texture.height).sum();
    let (height, depth) = match kind {
        OneD | TwoD if count > 1 => return wrong(format!("{count} pictures, and the texture has one")),
        OneD => (1, 1),
        TwoD => (first.height, 1),
        OneDArray => (1, rows),
        Cube if count == 1 && first.height == 6 * first.width => (first.width, 6),
        CubeArray if count == 1 && first.height.is_multiple_of(6 * first.width.max(1)) => {
            (first.width, first.height / first.width.max(1))
        }
        Cube if count != 6 => return wrong(format!("{count} pictures, a cube has 6 faces: +x, -x, +y, -y, +z, -z")),
        CubeArray if !count.is_multiple_of(6) => {
            return wrong(format!("{count} pictures, an array of cubes has 6 for each"));
        }
        Cube | CubeArray | TwoDArray | ThreeD => (first.height, u32::try_from(count).unwrap_or(u32::MAX)),
    };
    if matches!(kind, Cube | CubeArray) && first.width != height {
        return wrong(format!("a face is {} x {height}, faces of cubes are squares", first.width));
    }
    // Texels of several formats are floats.
    let same = images.iter().all(|image| image.texture.format == first.format);
    let format = if same { first.format } else { Format::default() };
    let texels = images.into_iter().flat_map(|image| image.levels.into_first()).collect::<Vec<_>>();
    Ok(Image { texture: Texture { kind, height, depth, levels: 1, format, ..first }, levels: texels.into() })
}

/// A number of a header as an extent of a surface.
fn extent(what: &str, found: u32) -> Result<u32, TextureError> {
    if found == 0 || found > LARGEST {
        return wrong(format!("the {what} is {found}, allowed is 1..={LARGEST}"));
    }
    Ok(found)
}

/// Little-endian dword `at` of a header.
fn dword(bytes: &[u8], at: usize) -> Result<u32, TextureError> {
    match bytes.get(at..at + 4).and_then(|four| four.try_into().ok()) {
        Some(four) => Ok(u32::from_le_bytes(four)),
        None => wrong(format!("the file ends at byte {}, its header reaches to {}", bytes.len(), at + 4)),
    }
}

fn format_of(row: &FileFormat) -> Format {
    Format { data: row.data, numbers: row.numbers, sign: row.sign, ..Format::default() }
}
