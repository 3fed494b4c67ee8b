//! A texture as files store it: bytes in rows, level after level, which converters copy unchanged.

use super::{TextureError, wrong};
use crate::array::{Array, Values};
use ctm_draw::format::{ColourFormat, Colours, NumberType, Swap};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Image, TextureKind};
use ctm_exec::r700::surface::{Surface, SurfaceError};
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat, Sel};

/// Elements in the order x, y, z, w.
const IN_ORDER: [Sel; 4] = [Sel::X, Sel::Y, Sel::Z, Sel::W];

/// A texture in its own format: as [`Surface`] describes, with its elements in another order.
///
/// ```
/// use ctm_files::array::{Array, Values};
/// use ctm_files::texture::StoredTexture;
/// let grey = Array { height: 1, width: 2, channels: 1, values: Values::U8(vec![0, 255]) };
/// let stored = StoredTexture::of_array(&grey)?;
/// assert_eq!(stored.bytes, [0, 255]);
/// assert_eq!(stored.image()?.levels[0][1], [1f32.to_bits(); 4]);
/// # Ok::<(), ctm_files::texture::TextureError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTexture {
    /// Size, levels and format.
    pub surface: Surface,
    /// Which element of the format is red, green, blue and alpha.
    pub swizzle: [Sel; 4],
    /// The levels in order, in each the slices, in each the rows; compressed formats have rows of blocks.
    pub bytes: Vec<u8>,
}

impl StoredTexture {
    /// The texels.
    ///
    /// # Errors
    /// Too few bytes, or a format that cannot be read.
    pub fn image(&self) -> Result<Image, TextureError> {
        let wanted = usize::try_from(self.surface.bytes()?).unwrap_or(usize::MAX);
        let Some(bytes) = self.bytes.get(..wanted) else {
            let found = self.bytes.len() as u64;
            return Err(SurfaceError::Length { found, wanted: wanted as u64 }.into());
        };
        let mut image = self.surface.image(bytes)?;
        if self.swizzle != IN_ORDER {
            let one = if self.surface.format.numbers == NumFormat::Int { 1 } else { 1f32.to_bits() };
            for texel in image.levels.texels_mut() {
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

    /// An array as a texture of one level, its numbers unchanged. Grey has the same red, green and blue; without alpha it is 1.
    ///
    /// # Errors
    /// Sizes and numbers of channels that no texture has.
    pub fn of_array(array: &Array) -> Result<Self, TextureError> {
        use DataFormat as D;
        let channels = array.channels;
        // Three channels get a fourth.
        let stored = if channels == 3 { 4 } else { channels };
        let (bytes, data): (Vec<u8>, _) = match &array.values {
            Values::U8(v) => {
                let all =
                    v.chunks(channels.max(1)).flat_map(|of| (0..stored).map(|c| of.get(c).copied().unwrap_or(u8::MAX)));
                (all.collect(), [D::Fmt8, D::Fmt8_8, D::Fmt8_8_8_8, D::Fmt8_8_8_8])
            }
            Values::U16(v) => {
                let all = v
                    .chunks(channels.max(1))
                    .flat_map(|of| (0..stored).map(|c| of.get(c).copied().unwrap_or(u16::MAX)));
                (
                    all.flat_map(u16::to_le_bytes).collect(),
                    [D::Fmt16, D::Fmt16_16, D::Fmt16_16_16_16, D::Fmt16_16_16_16],
                )
            }
            Values::F32(v) => {
                let all =
                    v.chunks(channels.max(1)).flat_map(|of| (0..stored).map(|c| of.get(c).copied().unwrap_or(1.0)));
                let formats = [D::Fmt32Float, D::Fmt32_32Float, D::Fmt32_32_32_32Float, D::Fmt32_32_32_32Float];
                (all.flat_map(f32::to_le_bytes).collect(), formats)
            }
        };
        let Some(&data) = channels.checked_sub(1).and_then(|at| data.get(at)) else {
            return wrong(format!("the array has {channels} channels, a texture has 1 to 4"));
        };
        let swizzle = match channels {
            1 => [Sel::X, Sel::X, Sel::X, Sel::One],
            2 => [Sel::X, Sel::X, Sel::X, Sel::Y],
            _ => IN_ORDER,
        };
        let format = Format { data, numbers: NumFormat::Norm, sign: FormatComp::Unsigned, ..Format::default() };
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (width, height) = (size(array.width), size(array.height));
        let surface = Surface { kind: TextureKind::TwoD, width, height, depth: 1, levels: 1, format, gamma: false };
        surface.bytes()?;
        Ok(Self { surface, swizzle, bytes })
    }

    /// The texels in an uncompressed format, each rounded to its nearest number.
    ///
    /// # Errors
    /// Formats that cannot be written here, such as compressed ones.
    pub fn encode(image: &Image, data: DataFormat, numbers: NumberType) -> Result<Self, TextureError> {
        let format = ColourFormat { data, number: numbers, swap: Swap::Std };
        let colours =
            Colours::new(format).map_err(|error| TextureError(format!("{error}; nothing is compressed here")))?;
        let texels = image.levels.texels().iter();
        let bytes = texels.flat_map(|texel| {
            let packed = colours.pack(*texel, false).to_le_bytes();
            packed.into_iter().take(colours.bytes())
        });
        let bytes = bytes.collect();
        let (numbers, sign) = match numbers {
            // The number format of float formats has no effect.
            NumberType::Unorm | NumberType::Srgb | NumberType::Float => (NumFormat::Norm, FormatComp::Unsigned),
            NumberType::Snorm => (NumFormat::Norm, FormatComp::Signed),
            NumberType::Uscaled => (NumFormat::Scaled, FormatComp::Unsigned),
            NumberType::Sscaled => (NumFormat::Scaled, FormatComp::Signed),
            NumberType::Uint => (NumFormat::Int, FormatComp::Unsigned),
            NumberType::Sint => (NumFormat::Int, FormatComp::Signed),
        };
        let (texture, gamma) = (image.texture, format.number == NumberType::Srgb);
        let format = Format { data, numbers, sign, ..Format::default() };
        let surface = Surface {
            kind: texture.kind,
            width: texture.width,
            height: texture.height,
            depth: texture.depth,
            levels: texture.levels,
            format,
            gamma,
        };
        Ok(Self { surface, swizzle: IN_ORDER, bytes })
    }

    /// Whether fields are floats, by the format alone.
    pub(super) fn is_float(data: DataFormat) -> bool {
        data.name().ends_with("FLOAT") || data == DataFormat::Fmt5_9_9_9Sharedexp
    }

    /// The number type, as colour targets name it.
    #[must_use]
    pub fn numbers(&self) -> NumberType {
        let Format { data, numbers, sign, .. } = self.surface.format;
        match (numbers, sign) {
            _ if Self::is_float(data) => NumberType::Float,
            (NumFormat::Norm, FormatComp::Unsigned) if self.surface.gamma => NumberType::Srgb,
            (NumFormat::Norm, FormatComp::Unsigned) => NumberType::Unorm,
            (NumFormat::Norm, FormatComp::Signed) => NumberType::Snorm,
            (NumFormat::Int, FormatComp::Unsigned) => NumberType::Uint,
            (NumFormat::Int, FormatComp::Signed) => NumberType::Sint,
            (_, FormatComp::Unsigned) => NumberType::Uscaled,
            (_, FormatComp::Signed) => NumberType::Sscaled,
        }
    }

    /// Bytes of one slice of a level.
    pub(super) fn slice_bytes(&self, level: u32) -> Result<usize, TextureError> {
        let [width, height, _] = self.surface.texture()?.size(level);
        let one = Surface { kind: TextureKind::TwoD, width, height, depth: 1, levels: 1, ..self.surface };
        Ok(usize::try_from(one.bytes()?).unwrap_or(usize::MAX))
    }

    /// The first `levels` levels.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn with_levels(mut self, levels: u32) -> Result<Self, TextureError> {
        if levels == 0 || levels > self.surface.levels {
            return wrong(format!("{levels} levels are asked for, the texture has {}", self.surface.levels));
        }
        self.surface.levels = levels;
        self.bytes.truncate(usize::try_from(self.surface.bytes()?).unwrap_or(usize::MAX));
        Ok(self)
    }

    /// With all smaller levels down to one texel, each the mean of the one above ([`with_levels`](super::with_levels)); level 0 stays as it is.
    ///
    /// # Errors
    /// Formats that cannot be written here, such as compressed ones.
    pub fn with_made_levels(self) -> Result<Self, TextureError> {
        let base = Self { swizzle: IN_ORDER, ..self.clone().with_levels(1)? };
        let made = Self::encode(&super::with_levels(base.image()?), self.surface.format.data, self.numbers())?;
        let mut bytes = base.bytes;
        bytes.extend_from_slice(made.bytes.get(bytes.len()..).unwrap_or_default());
        Ok(Self { surface: Surface { levels: made.surface.levels, ..self.surface }, swizzle: self.swizzle, bytes })
    }

    /// One level as an array, its slices one below the other, of four channels; numbers with the sRGB curve are as they are stored, integers as floats.
    ///
    /// # Errors
    /// When there is no such level, and as [`Self::image`].
    pub fn array(&self, level: u32) -> Result<Array, TextureError> {
        if level >= self.surface.levels {
            return wrong(format!("level {level} is asked for, the texture has 0 to {}", self.surface.levels - 1));
        }
        let plain = Self { surface: Surface { gamma: false, ..self.surface }, ..self.clone() };
        let image = plain.image()?;
        let [width, height, depth] = image.texture.size(level);
        let (height, width) = (height as usize * depth as usize, width as usize);
        let texels = image.levels.get(level as usize).unwrap_or_default().as_flattened();
        #[allow(clippy::cast_precision_loss, reason = "what a float holds of an integer")]
        let number = |bits: &u32| match self.numbers() {
            NumberType::Uint => *bits as f32,
            NumberType::Sint => bits.cast_signed() as f32,
            _ => f32::from_bits(*bits),
        };
        let is_bytes = size_of_fields(self.surface.format.data) == Some(8) && plain.numbers() == NumberType::Unorm;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of eight bits")]
        let values = if is_bytes {
            Values::U8(texels.iter().map(|bits| (f32::from_bits(*bits) * 255.0).round() as u8).collect())
        } else {
            Values::F32(texels.iter().map(number).collect())
        };
        Ok(Array { height, width, channels: 4, values })
    }
}

/// Bits of each field, where all have as many.
fn size_of_fields(data: DataFormat) -> Option<u32> {
    match data {
        DataFormat::Fmt8 | DataFormat::Fmt8_8 | DataFormat::Fmt8_8_8 | DataFormat::Fmt8_8_8_8 => Some(8),
        _ => None,
    }
}
