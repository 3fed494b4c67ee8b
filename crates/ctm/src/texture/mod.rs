//! Texture files: DDS, KTX2, and the surfaces of the console's GFD containers (GTX). What they hold becomes an [`Image`], texels converted as the
//! chip's formats say.
//!
//! | file | what |
//! |---|---|
//! | `formats` | the formats of the files by their numbers, as formats of the chip (table) |
//! | `dds` | DirectDraw surfaces, with the header of Direct3D 10 or without |
//! | `ktx2` | Khronos textures, version 2, plain or supercompressed by Zstandard or ZLIB |
//! | `gtx` | GX2 surfaces of GFD containers, linear and tiled |
//! | `mipmaps` | smaller levels of a texture that has none |
//!
//! **Invariant.** Hostile bytes give a [`TextureError`], never a panic or more memory than the texture that the file describes has.
//!
//! ```
//! use ctm::ctm_exec::r700::resources::TextureKind;
//! use ctm::texture::{EXTENSIONS, FORMATS, FileFormat, TextureError, is_texture, read, stacked, with_levels};
//! use std::path::Path;
//!
//! assert!(EXTENSIONS.contains(".dds") && is_texture(Path::new("wood.dds")));
//! let row: &FileFormat = &FORMATS[0];
//! assert!(row.dxgi != 0 || row.vk != 0);
//! let wrong: TextureError = read(Path::new("wood.dds"), b"DDS ").unwrap_err();
//! assert!(!wrong.0.is_empty());
//!
//! // Two pictures become the layers of an array, with their mipmap levels.
//! let picture = ctm::array::npy_bytes(ctm::array::ItemType::Float32, &[2, 2, 4], &[0; 16])?;
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

pub use formats::{FORMATS, FileFormat};
pub use mipmaps::with_levels;

use crate::array::{Array, Kind};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Image, Texture};
use ctm_exec::r700::surface::{LARGEST, Surface, SurfaceError};
use ctm_isa::r700::ops::Sel;
use std::path::Path;

/// The extensions of files that [`read`] knows beside those of arrays.
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
/// What the bytes say that cannot be, or that is not done.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Image, TextureError> {
    match bytes {
        [b'D', b'D', b'S', b' ', ..] => dds::read(bytes),
        [0xab, b'K', b'T', b'X', b' ', b'2', b'0', ..] => ktx2::read(bytes),
        [b'G', b'f', b'x', b'2', ..] => gtx::read(bytes),
        _ => match Kind::of(path) {
            Some(kind) => {
                let array = Array::from_bytes(kind, bytes, None).map_err(|error| TextureError(error.to_string()))?;
                let mut image = Image::from(crate::draw::picture(&array));
                image.texture.format = array.texel_format();
                Ok(image)
            }
            None => wrong(format!("this is no texture or picture that is known; known are {EXTENSIONS}")),
        },
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
        return Ok(images.into_iter().next().unwrap_or(Image { texture: first, levels: Vec::new() }));
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
    let texels = images.into_iter().flat_map(|image| image.levels.into_iter().next().unwrap_or_default()).collect();
    Ok(Image { texture: Texture { kind, height, depth, levels: 1, format, ..first }, levels: vec![texels] })
}

/// A surface in rows, with its elements in another order.
struct Stored<'a> {
    surface: Surface,
    swizzle: [Sel; 4],
    bytes: &'a [u8],
}

impl Stored<'_> {
    fn image(&self) -> Result<Image, TextureError> {
        let wanted = usize::try_from(self.surface.bytes()?).unwrap_or(usize::MAX);
        let Some(bytes) = self.bytes.get(..wanted) else {
            let found = self.bytes.len() as u64;
            return Err(SurfaceError::Length { found, wanted: wanted as u64 }.into());
        };
        let mut image = self.surface.image(bytes)?;
        if self.swizzle != [Sel::X, Sel::Y, Sel::Z, Sel::W] {
            let one =
                if self.surface.format.numbers == ctm_isa::r700::ops::NumFormat::Int { 1 } else { 1f32.to_bits() };
            for texel in image.levels.iter_mut().flatten() {
                let of = *texel;
                *texel = self.swizzle.map(|sel| match sel {
                    Sel::X => of[0],
                    Sel::Y => of[1],
                    Sel::Z => of[2],
                    Sel::W => of[3],
                    Sel::Zero | Sel::Mask => 0,
                    Sel::One => one,
                });
            }
        }
        Ok(image)
    }
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
