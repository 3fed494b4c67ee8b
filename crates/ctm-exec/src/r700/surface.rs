//! Textures from bytes: a surface in one of the formats that a resource can have (R700 §10.3), untiled, becomes texels.
//!
//! Levels follow each other, in each the slices (layers, faces), in each the rows; nothing is padded, but a row of one-bit texels begins at a
//! byte and compressed blocks are whole. Element layouts are in `formats`; here are the formats whose texels share bytes.

use super::convert::{Change, Converter, Selected, SelectedBytes};
use super::formats::{Elements, Format, elements, size_bytes};
use super::resources::{AS_THEY_ARE, Image, Levels, NumberConstants, Texture, TextureKind};
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat, Sel};

/// Largest width, height and depth of a surface here.
pub const LARGEST: u32 = 8192;

/// The format of a texture's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// How its texels are arranged.
    pub kind: TextureKind,
    /// Texels of a row of level 0, 1..=[`LARGEST`].
    pub width: u32,
    /// Rows of level 0, 1..=[`LARGEST`].
    pub height: u32,
    /// Slices of level 0, layers of an array, 6 for a cube, six times the cubes of an array of them.
    pub depth: u32,
    /// Mipmap levels, 1..=14.
    pub levels: u32,
    /// Its format.
    pub format: Format,
    /// Whether x, y and z of unsigned fractions are stored with the sRGB curve and made linear.
    pub gamma: bool,
}

/// Why bytes are not the surface they are said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfaceError {
    /// The format has no meaning here.
    Format(DataFormat),
    /// A size or a number of levels outside the allowed range.
    Extent {
        /// `width`, `height`, `depth` or `levels`.
        what: &'static str,
        /// Its kind.
        found: u32,
        /// The largest allowed number; the smallest is 1.
        most: u32,
    },
    /// Too few or too many bytes.
    Length {
        /// How many there are.
        found: u64,
        /// How many there must be.
        wanted: u64,
    },
}

impl std::fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format(format) => write!(f, "textures of {} cannot be read", format.name()),
            Self::Extent { what, found, most } => {
                write!(f, "the {what} of the texture is {found}, allowed is 1..={most}")
            }
            Self::Length { found, wanted } => {
                write!(f, "the texture has {found} bytes, its size and format need {wanted}")
            }
        }
    }
}

impl std::error::Error for SurfaceError {}

/// A conversion of rows of a [`Surface`]'s texels.
pub struct Rows {
    of: Selected,
    select: [Sel; 4],
    one: u32,
}

/// The same to fractions of 255: see [`Rows::bytes`].
pub struct ByteRows(SelectedBytes);

impl ByteRows {
    /// Converts texels that follow each other, as many as there are of both.
    pub fn write(&self, bytes: &[u8], to: &mut [[u8; 4]]) {
        self.0.write(bytes, to);
    }
}

impl Rows {
    /// The conversion to bytes that are fractions of 255, if it changes no element.
    #[must_use]
    pub fn bytes(&self) -> Option<ByteRows> {
        self.of.bytes(self.select, self.one).map(ByteRows)
    }

    /// The element that is the number of all texels, and the elements that are not it, where texels are one number each; of these elements (bit 0 is x).
    #[must_use]
    pub fn number(&self, elements: u8) -> Option<(usize, NumberConstants)> {
        self.of.number(elements)
    }

    /// Converts one element of texels that follow each other, as many as there are of both.
    pub fn write_numbers(&self, element: usize, bytes: &[u8], to: &mut [u32]) {
        // As below.
        let written = self.of.write_numbers(element, bytes, to);
        debug_assert!(written.is_ok(), "{written:?}");
    }

    /// Converts texels that follow each other, as many as there are of both.
    pub fn write(&self, bytes: &[u8], to: &mut [[u32; 4]]) {
        // Formats that are not done were refused when it was made.
        let written = self.of.write(bytes, to);
        debug_assert!(written.is_ok(), "{written:?}");
    }
}

/// How texels share bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// Bytes of each texel.
    Own(usize),
    /// Eight in a byte.
    Bits,
    /// Two in four bytes.
    Pairs,
    /// Bytes of a block of 4 x 4 texels.
    Blocks(usize),
}

fn packing(format: DataFormat) -> Result<Packing, SurfaceError> {
    match format {
        DataFormat::Fmt1 | DataFormat::Fmt1Reversed => Ok(Packing::Bits),
        DataFormat::FmtGbGr | DataFormat::FmtBgRg => Ok(Packing::Pairs),
        DataFormat::FmtBc1 | DataFormat::FmtBc4 => Ok(Packing::Blocks(8)),
        DataFormat::FmtBc2 | DataFormat::FmtBc3 | DataFormat::FmtBc5 => Ok(Packing::Blocks(16)),
        _ => size_bytes(format).map(Packing::Own).map_err(|_| SurfaceError::Format(format)),
    }
}

impl Surface {
    /// The texture without its texels.
    ///
    /// # Errors
    /// A format that cannot be read.
    pub fn texture(&self) -> Result<Texture, SurfaceError> {
        let texel_bytes = match packing(self.format.data)? {
            Packing::Own(bytes) => u32::try_from(bytes).unwrap_or(0),
            Packing::Bits | Packing::Blocks(_) => 1,
            Packing::Pairs => 2,
        };
        let Self { kind, width, height, depth, levels, .. } = *self;
        let format = self.format;
        Ok(Texture { kind, width, height, depth, levels, texel_bytes, format, samples: 1, compared: AS_THEY_ARE })
    }

    fn row(&self, width: u32) -> Result<(u64, u32), SurfaceError> {
        Ok(match packing(self.format.data)? {
            Packing::Own(bytes) => (u64::from(width) * bytes as u64, 1),
            Packing::Bits => (u64::from(width.div_ceil(8)), 1),
            Packing::Pairs => (u64::from(width.div_ceil(2)) * 4, 1),
            Packing::Blocks(bytes) => (u64::from(width.div_ceil(4)) * bytes as u64, 4),
        })
    }

    /// Bytes of all levels.
    ///
    /// # Errors
    /// A format that cannot be read, sizes outside the limits.
    pub fn bytes(&self) -> Result<u64, SurfaceError> {
        let extents = [("width", self.width), ("height", self.height), ("depth", self.depth)];
        for (what, found, most) in
            extents.map(|(what, found)| (what, found, LARGEST)).into_iter().chain([("levels", self.levels, 14)])
        {
            if found == 0 || found > most {
                return Err(SurfaceError::Extent { what, found, most });
            }
        }
        let texture = self.texture()?;
        let mut sum = 0u64;
        for level in 0..self.levels {
            let [width, height, depth] = texture.size(level);
            let (row, lines) = self.row(width)?;
            sum = sum.saturating_add(row * u64::from(height.div_ceil(lines)) * u64::from(depth));
        }
        Ok(sum)
    }

    /// The texture with its texels.
    ///
    /// # Errors
    /// A format that cannot be read, sizes outside the limits, another number of bytes than [`Self::bytes`].
    pub fn image(&self, bytes: &[u8]) -> Result<Image, SurfaceError> {
        let (found, wanted) = (bytes.len() as u64, self.bytes()?);
        if found != wanted {
            return Err(SurfaceError::Length { found, wanted });
        }
        let texture = self.texture()?;
        let own = self.rows([Sel::X, Sel::Y, Sel::Z, Sel::W])?;
        let mut rest = bytes;
        let texels = |level| texture.size(level).map(|size| size as usize).iter().product::<usize>();
        let mut levels = Levels::with_capacity((0..self.levels).map(texels).sum());
        for level in 0..self.levels {
            let [width, height, depth] = texture.size(level);
            let (row, lines) = self.row(width)?;
            let slice_bytes = usize::try_from(row * u64::from(height.div_ceil(lines))).unwrap_or(usize::MAX);
            let mut texels = Vec::with_capacity(width as usize * height as usize * depth as usize);
            for _ in 0..depth {
                let (slice, after) = rest.split_at_checked(slice_bytes).unwrap_or((rest, &[]));
                rest = after;
                if let Some(rows) = &own {
                    let first = texels.len();
                    texels.resize(first + slice.len() / rows.of.item_bytes(), [0; 4]);
                    rows.write(slice, &mut texels[first..]);
                    continue;
                }
                for y in 0..height {
                    for x in 0..width {
                        texels.push(self.texel(slice, usize::try_from(row).unwrap_or(0), x as usize, y as usize)?);
                    }
                }
            }
            levels.push(texels);
        }
        Ok(Image { texture, levels })
    }

    /// Converts rows of texels of its format, and selects elements; `None` where texels share bytes.
    ///
    /// # Errors
    /// A format that cannot be read.
    pub fn rows(&self, select: [Sel; 4]) -> Result<Option<Rows>, SurfaceError> {
        let Packing::Own(bytes) = packing(self.format.data)? else { return Ok(None) };
        let items = self.bytes()? / bytes as u64;
        let change = self.gamma.then_some((|n, bits| if n < 3 { linear_bits(bits) } else { bits }) as Change);
        let of = Converter::new(self.format, items, change).map_err(|_| self.refused())?;
        let one = self.one();
        Ok(Some(Rows { of: Selected::new(of, select, one), select, one }))
    }

    /// The bits of 1 as an instruction sees it: an integer of formats of integers.
    #[must_use]
    pub const fn one(&self) -> u32 {
        let floats = matches!(elements(self.format.data), Elements::Float(_));
        if matches!(self.format.numbers, NumFormat::Int) && !floats { 1 } else { 1f32.to_bits() }
    }

    const fn refused(&self) -> SurfaceError {
        SurfaceError::Format(self.format.data)
    }

    /// Texel (x, y) of a slice whose rows have `row` bytes, in a format whose texels share bytes.
    fn texel(&self, slice: &[u8], row: usize, x: usize, y: usize) -> Result<[u32; 4], SurfaceError> {
        let part = |at: usize, bytes: usize| slice.get(at..at + bytes).unwrap_or(&[]);
        let data = self.format.data;
        let mut texel = match packing(data)? {
            Packing::Own(_) => return Err(self.refused()),
            Packing::Bits => {
                let byte = part(y * row + x / 8, 1).first().copied().unwrap_or(0);
                // UNVERIFIED: which end of a byte comes first; a picture from a real card would settle it.
                let bit = if data == DataFormat::Fmt1 { x % 8 } else { 7 - x % 8 };
                let set = if byte >> bit & 1 == 1 { 1f32.to_bits() } else { 0 };
                [set, 0, 0, 1f32.to_bits()]
            }
            Packing::Pairs => {
                let pair = part(y * row + x / 2 * 4, 4);
                let unit = |n: usize| fraction(f64::from(pair.get(n).copied().unwrap_or(0)) / 255.0);
                // From the highest byte down the names are GB_GR: R, G, B, G in memory.
                let (red, green, blue) = if data == DataFormat::FmtGbGr { (0, 1, 2) } else { (1, 0, 3) };
                [unit(red), unit(green + 2 * (x % 2)), unit(blue), 1f32.to_bits()]
            }
            Packing::Blocks(bytes) => {
                let block = part(y / 4 * row + x / 4 * bytes, bytes);
                let signed = self.format.sign == FormatComp::Signed;
                block_texel(data, signed, block, x % 4 + y % 4 * 4).map(fraction)
            }
        };
        if self.gamma {
            for element in &mut texel[..3] {
                *element = linear_bits(*element);
            }
        }
        Ok(texel)
    }
}

/// The one rounding of a computed element.
#[allow(clippy::cast_possible_truncation, reason = "the one rounding")]
fn fraction(x: f64) -> u32 {
    (x as f32).to_bits()
}

/// An element that is stored with the sRGB curve, without it.
fn linear_bits(bits: u32) -> u32 {
    fraction(linear(f64::from(f32::from_bits(bits))))
}

/// The sRGB curve: from a stored fraction to a linear one.
fn linear(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Texel `n` of a compressed block of four by four.
fn block_texel(format: DataFormat, signed: bool, block: &[u8], n: usize) -> [f64; 4] {
    let (first, second) = block.split_at_checked(8).unwrap_or((block, &[]));
    match format {
        DataFormat::FmtBc1 => colour(first, n, false),
        DataFormat::FmtBc2 => {
            let nibble = bits(first, 4 * n, 4);
            let [x, y, z, _] = colour(second, n, true);
            [x, y, z, f64::from(nibble) / 15.0]
        }
        DataFormat::FmtBc3 => {
            let [x, y, z, _] = colour(second, n, true);
            [x, y, z, ramp(first, n, false)]
        }
        DataFormat::FmtBc4 => [ramp(first, n, signed), 0.0, 0.0, 1.0],
        _ => [ramp(first, n, signed), ramp(second, n, signed), 0.0, 1.0],
    }
}

/// `count` bits of little-endian bytes from bit `at` on.
fn bits(bytes: &[u8], at: usize, count: usize) -> u32 {
    (0..count).fold(0, |sum, bit| {
        let byte = bytes.get((at + bit) / 8).copied().unwrap_or(0);
        sum | u32::from(byte >> ((at + bit) % 8) & 1) << bit
    })
}

/// A colour of a block: two ends of 5, 6 and 5 bits, and two bits a texel that choose an end or a mixture. `four` makes four colours
/// whatever the order of the ends; otherwise a first end that is not larger means one mixture and transparent black.
fn colour(block: &[u8], n: usize, four: bool) -> [f64; 4] {
    let ends = [bits(block, 0, 16), bits(block, 16, 16)];
    let [a, b] =
        ends.map(|end| [f64::from(end >> 11) / 31.0, f64::from(end >> 5 & 63) / 63.0, f64::from(end & 31) / 31.0]);
    let mix = |of_a: f64, of_b: f64, whole: f64| {
        let part = |c: usize| (a[c] * of_a + b[c] * of_b) / whole;
        [part(0), part(1), part(2), 1.0]
    };
    match (bits(block, 32 + 2 * n, 2), four || ends[0] > ends[1]) {
        (0, _) => mix(1.0, 0.0, 1.0),
        (1, _) => mix(0.0, 1.0, 1.0),
        (2, true) => mix(2.0, 1.0, 3.0),
        (2, false) => mix(1.0, 1.0, 2.0),
        (_, true) => mix(1.0, 2.0, 3.0),
        (_, false) => [0.0; 4],
    }
}

/// A number of a block: two ends of 8 bits, and three bits a texel that choose an end or a mixture; a first end that is not larger means
/// four mixtures, the smallest number and 1.
fn ramp(block: &[u8], n: usize, signed: bool) -> f64 {
    let end = |at: usize| {
        let byte = block.get(at).copied().unwrap_or(0);
        if signed { f64::from(byte.cast_signed()).max(-127.0) / 127.0 } else { f64::from(byte) / 255.0 }
    };
    let (a, b) = (end(0), end(1));
    let least = if signed { -1.0 } else { 0.0 };
    let choice = bits(block, 16 + 3 * n, 3);
    let weight = f64::from(choice) - 1.0;
    match choice {
        0 => a,
        1 => b,
        _ if a > b => (a * (7.0 - weight) + b * weight) / 7.0,
        6 => least,
        7 => 1.0,
        _ => (a * (5.0 - weight) + b * weight) / 5.0,
    }
}
