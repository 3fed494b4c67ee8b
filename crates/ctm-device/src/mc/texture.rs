//! A texture of R700 programs in memory (R700 chapter 6): linear, mipmap levels one after another.

use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use ctm_exec::r700::Surface as Packed;
use ctm_exec::r700::formats::{Format, convert, size_bytes, swapped};
use ctm_exec::r700::resources::{Image, Texture, TextureKind};
use ctm_exec::x1k::{Elements, Form};
use ctm_isa::ops;
use ctm_isa::r700::ops::{DataFormat, EndianSwap};

ops! {
    /// How the texels of a texture are arranged.
    pub enum TextureShape cite "R700 §6" info TextureKind {
        /// One row.
        OneD "1D" 0 => TextureKind::OneD;
        /// Rows.
        TwoD "2D" 1 => TextureKind::TwoD;
        /// Slices.
        ThreeD "3D" 2 => TextureKind::ThreeD;
        /// Six faces: +x, -x, +y, -y, +z, -z.
        Cube "CUBE" 3 => TextureKind::Cube;
        /// Layers of one row.
        OneDArray "1D_ARRAY" 4 => TextureKind::OneDArray;
        /// Layers.
        TwoDArray "2D_ARRAY" 5 => TextureKind::TwoDArray;
        /// Cubes, six faces each; SET_CUBEMAP_INDEX chooses one.
        CubeArray "CUBE_ARRAY" 6 => TextureKind::CubeArray;
    }
}

/// Address and format of a texture: the parameters of `set_texture`.
///
/// Level 0 comes first; in each level the slices, in each slice the rows. Rows of level n are `pitch >> n` texels apart, but at least as
/// many as the level has in a row. Textures of formats whose texels share bytes (compressed blocks, one bit, video), and those with the sRGB
/// curve, lie as [`ctm_exec::r700::Surface`] says: nothing is padded, and there is no pitch.
///
/// ```
/// use ctm_device::mc::{TextureShape, TextureSurface};
/// use ctm_exec::r700::formats::Format;
/// let t = TextureSurface { levels: 3, ..TextureSurface::two_d(8, 4, Format::default()) };
/// assert_eq!((t.texel_offset(0, [1, 2, 0]), t.texel_offset(1, [0, 0, 0])), (Some(17 * 16), Some(32 * 16)));
/// assert_eq!(t.bytes(), (32 + 8 + 2) * 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureSurface {
    /// Address of its first texel, a multiple of 2048.
    pub base: GpuAddr,
    /// How its texels are arranged.
    pub shape: TextureShape,
    /// Texels of a row of level 0, 1..=[`Self::LARGEST`].
    pub width: u16,
    /// Rows of level 0, 1..=[`Self::LARGEST`]; one-dimensional ones always have 1.
    pub height: u16,
    /// Slices or layers, 1..=[`Self::LARGEST`], of an array of cubes six times their number; cubes always have 6, two-dimensional ones 1.
    pub depth: u16,
    /// Mipmap levels, 1..=[`Self::LEVELS`].
    pub levels: u8,
    /// Texels from one row of level 0 to the next; 0: the width.
    pub pitch: u16,
    /// The texel format.
    pub format: Format,
    /// Whether x, y and z of unsigned fractions are stored with the sRGB curve and made linear.
    pub gamma: bool,
}

impl TextureSurface {
    /// Largest width, height and depth.
    pub const LARGEST: u16 = 8192;
    /// Most mipmap levels.
    pub const LEVELS: u8 = 14;

    /// A two-dimensional texture of one level at address 0: see [`Self::at`].
    #[must_use]
    pub const fn two_d(width: u16, height: u16, format: Format) -> Self {
        let (base, shape) = (GpuAddr(0), TextureShape::TwoD);
        Self { base, shape, width, height, depth: 1, levels: 1, pitch: 0, format, gamma: false }
    }

    /// The same texture at another address.
    #[must_use]
    pub const fn at(mut self, base: GpuAddr) -> Self {
        self.base = base;
        self
    }

    /// The same with the sizes that its shape leaves open.
    fn surface(&self) -> Packed {
        let (height, depth) = match self.shape {
            TextureShape::OneD => (1, 1),
            TextureShape::OneDArray => (1, self.depth),
            TextureShape::TwoD => (self.height, 1),
            TextureShape::Cube => (self.height, 6),
            TextureShape::ThreeD | TextureShape::TwoDArray | TextureShape::CubeArray => (self.height, self.depth),
        };
        Packed {
            kind: self.shape.info(),
            width: self.width.into(),
            height: height.into(),
            depth: depth.into(),
            levels: self.levels.into(),
            format: self.format,
            gamma: self.gamma,
        }
    }

    /// The texture as fetches see it; `None` when its format has no meaning.
    #[must_use]
    pub fn texture(&self) -> Option<Texture> {
        self.surface().texture().ok()
    }

    /// Whether each texel has bytes of its own and needs no conversion.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.gamma && size_bytes(self.format.data).is_ok()
    }

    /// All texels of a texture that is not plain.
    ///
    /// # Errors
    /// When it lies outside memory. `None` when its format or its sizes cannot be.
    pub fn image(&self, memory: &DeviceMemory) -> Result<Option<Image>, MemoryError> {
        let Some(bytes) = self.surface().bytes().ok().and_then(|bytes| usize::try_from(bytes).ok()) else {
            return Ok(None);
        };
        Ok(self.image_of(memory.slice(self.base, bytes)?))
    }

    /// The same from its bytes; `None` when its format or its sizes cannot be, or there are too few bytes.
    #[must_use]
    pub fn image_of(&self, bytes: &[u8]) -> Option<Image> {
        self.surface().image(bytes).ok()
    }

    /// Level 0 as an array of single-precision channels, and how many bytes it has; `None` when it is something else.
    #[must_use]
    pub fn elements(&self) -> Option<(Elements<()>, usize)> {
        let channels = match self.format.data {
            DataFormat::Fmt32Float => 1,
            DataFormat::Fmt32_32Float => 2,
            DataFormat::Fmt32_32_32_32Float => 4,
            _ => return None,
        };
        let texture = self.texture().filter(|_| self.is_plain())?;
        let Texture { width, height, .. } = texture;
        let apart = self.shape == TextureShape::TwoD && self.format.endian == EndianSwap::None;
        let pitch = u32::try_from(self.row(0, width)).ok()?;
        let last = u64::from(height).checked_sub(1)? * u64::from(pitch) + u64::from(width);
        let bytes = usize::try_from(last * 4 * u64::from(channels)).ok()?;
        let form = Form::Floats;
        apart.then_some((Elements { bytes: (), pitch, width, height, form, channels, mask: 0xf, tiles: None }, bytes))
    }

    /// Texels from one row of a level to the next.
    fn row(&self, level: u32, width: u32) -> u64 {
        let pitch = u32::from(self.pitch).checked_shr(level).unwrap_or(0);
        u64::from(pitch.max(width))
    }

    /// Where a texel of a level begins, in bytes from the base; `None` when there is no such texel, or the texture is not plain.
    #[must_use]
    pub fn texel_offset(&self, level: u32, at: [u32; 3]) -> Option<u64> {
        let texture = self.texture().filter(|_| self.is_plain())?;
        let size = texture.size(level);
        if level >= texture.levels || at.iter().zip(size).any(|(&at, size)| at >= size) {
            return None;
        }
        let before: u64 = (0..level).map(|level| self.level_texels(&texture, level)).sum();
        let [x, y, z] = at.map(u64::from);
        let row = self.row(level, size[0]);
        let texel = before + (z * u64::from(size[1]) + y) * row + x;
        Some(texel * u64::from(texture.texel_bytes))
    }

    fn level_texels(&self, texture: &Texture, level: u32) -> u64 {
        let [width, height, depth] = texture.size(level);
        self.row(level, width) * u64::from(height) * u64::from(depth)
    }

    /// Bytes of all levels; 0 when its format or its sizes cannot be.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let Ok(packed) = self.surface().bytes() else { return 0 };
        self.texture().filter(|_| self.is_plain()).map_or(packed, |texture| {
            let texels: u64 = (0..texture.levels).map(|level| self.level_texels(&texture, level)).sum();
            texels * u64::from(texture.texel_bytes)
        })
    }

    /// Reads a texel: bits of its four elements; `None` when there is no such texel, or the texture is not plain.
    ///
    /// # Errors
    /// When it lies outside memory.
    pub fn load(&self, memory: &DeviceMemory, level: u32, at: [u32; 3]) -> Result<Option<[u32; 4]>, MemoryError> {
        self.texel_by(level, at, |offset| Ok(read_at(memory, u64::from(self.base.0) + offset, 1)?[0]))
    }

    /// The same from its bytes; `None` also where there are too few.
    #[must_use]
    pub fn texel_of(&self, bytes: &[u8], level: u32, at: [u32; 3]) -> Option<[u32; 4]> {
        let byte = |offset| usize::try_from(offset).ok().and_then(|offset| bytes.get(offset).copied()).ok_or(());
        self.texel_by(level, at, byte).ok().flatten()
    }

    fn texel_by<E>(
        &self,
        level: u32,
        at: [u32; 3],
        byte: impl Fn(u64) -> Result<u8, E>,
    ) -> Result<Option<[u32; 4]>, E> {
        let (Some(first), Ok(size)) = (self.texel_offset(level, at), size_bytes(self.format.data)) else {
            return Ok(None);
        };
        let mut texel = [0; 16];
        for (to, offset) in texel[..size].iter_mut().zip(first..) {
            *to = byte(swapped(offset, self.format.endian))?;
        }
        Ok(convert(&self.format, &texel[..size]).ok())
    }
}

/// The bytes at a place that may lie beyond the 32 bits of addresses.
///
/// # Errors
/// When some of them lie in no arena.
pub fn read_at(memory: &DeviceMemory, place: u64, bytes: usize) -> Result<&[u8], MemoryError> {
    match u32::try_from(place) {
        Ok(address) => memory.slice(GpuAddr(address), bytes),
        Err(_) => Err(MemoryError::Outside { address: GpuAddr(u32::MAX), bytes: bytes as u64, within: None }),
    }
}
