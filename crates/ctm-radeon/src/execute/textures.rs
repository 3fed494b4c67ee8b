//! Textures and samplers, of the words that resources hold.

use super::memory::GpuMemory;
use super::resources::field;
use crate::Error;
use crate::registers::resource;
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::levels::{Extent, Level, levels};
use ctm_exec::r700::Sampler;
use ctm_exec::r700::formats::{self, Format};
use ctm_exec::r700::resources::{AS_THEY_ARE, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::surface::{LARGEST, Surface};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel, SrfMode};
use ctm_isa::table::FieldValue;

/// What the words of a texture say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureWords {
    /// What it looks like to programs: levels and layers of the view only.
    pub surface: Surface,
    /// Each level in memory with its first byte; those before the view's first are among them.
    pub levels: Vec<(u64, Level)>,
    /// The first level of the view, and its first layer.
    pub first: [u32; 2],
    /// What red, green, blue and alpha are read from.
    pub selects: [Sel; 4],
    /// Samples of a texel.
    pub samples: u32,
    /// The format says signs of each element by itself, and they differ.
    pub mixed_signs: bool,
}

/// The array modes that are done: the number of the register, and the mode.
pub(crate) const fn array_mode(number: u32) -> Option<ArrayMode> {
    match number {
        0 | 1 => Some(ArrayMode::Linear),
        2 => Some(ArrayMode::Tiled1d),
        4 => Some(ArrayMode::Tiled2d),
        _ => None,
    }
}

/// Columns and rows of texels of an element, and its bytes.
pub(crate) fn element(format: DataFormat) -> Option<([u32; 2], u32)> {
    match format {
        DataFormat::FmtBc1 | DataFormat::FmtBc4 => Some(([4, 4], 8)),
        DataFormat::FmtBc2 | DataFormat::FmtBc3 | DataFormat::FmtBc5 => Some(([4, 4], 16)),
        DataFormat::FmtGbGr | DataFormat::FmtBgRg => Some(([2, 1], 4)),
        other => {
            let bytes = u32::try_from(ctm_exec::r700::formats::size_bytes(other).ok()?).ok()?;
            bytes.is_power_of_two().then_some(([1, 1], bytes))
        }
    }
}

impl TextureWords {
    /// Of seven words.
    ///
    /// # Errors
    /// Formats and tilings that are not done, and sizes that cannot be.
    pub fn of(words: &[u32; 7]) -> Result<Self, Error> {
        use resource::{
            SQ_TEX_RESOURCE_WORD0_0 as Word0, SQ_TEX_RESOURCE_WORD1_0 as Word1, SQ_TEX_RESOURCE_WORD4_0 as Word4,
            SQ_TEX_RESOURCE_WORD5_0 as Word5,
        };
        let of = |bits| field(words, bits, Word0::REGISTER);
        let wrong = |message: String| Error::new("unsupported-texture", message);
        let dim = of(Word0::DIM);
        let number = of(Word1::DATA_FORMAT);
        let data = DataFormat::from_bits(number).ok_or_else(|| wrong(format!("format {number} is not known")))?;
        let (block, element_bytes) =
            element(data).ok_or_else(|| wrong(format!("textures of {} are not read", data.name())))?;
        let tiling = of(Word0::TILE_MODE);
        let mode = array_mode(tiling).ok_or_else(|| wrong(format!("array mode {tiling} is not done")))?;
        let width = of(Word0::TEX_WIDTH) + 1;
        let height = if matches!(dim, 0 | 4) { 1 } else { of(Word1::TEX_HEIGHT) + 1 };
        let slices = of(Word1::TEX_DEPTH) + 1;
        let (first_layer, last_layer) = (of(Word5::BASE_ARRAY), of(Word5::LAST_ARRAY));
        let is_array = matches!(dim, 4 | 5 | 7);
        let (kind, in_memory, depth) = match dim {
            0 => (TextureKind::OneD, 1, 1),
            1 | 6 => (TextureKind::TwoD, last_layer + 1, 1),
            2 => (TextureKind::ThreeD, slices, slices),
            3 => (TextureKind::Cube, 8, 6),
            4 => (TextureKind::OneDArray, slices.max(last_layer + 1), 0),
            _ => (TextureKind::TwoDArray, slices.max(last_layer + 1), 0),
        };
        if width > LARGEST || height > LARGEST || in_memory > LARGEST {
            return Err(wrong(format!("{width} x {height} x {in_memory}, allowed is {LARGEST} each")));
        }
        if last_layer < first_layer && kind != TextureKind::ThreeD {
            return Err(wrong(format!("the last layer {last_layer} lies before the first, {first_layer}")));
        }
        let (depth, first_layer) = match kind {
            _ if is_array => (last_layer - first_layer + 1, first_layer),
            TextureKind::ThreeD => (depth, 0),
            _ => (depth, first_layer),
        };
        let multisample = matches!(dim, 6 | 7);
        let last_level = of(Word5::LAST_LEVEL);
        let samples = if multisample { 1 << last_level.min(3) } else { 1 };
        let last_level = if multisample { 0 } else { last_level.min(14) };
        let first_level = of(Word4::BASE_LEVEL).min(last_level);
        let extent = Extent {
            width,
            height,
            depth: in_memory,
            is_3d: kind == TextureKind::ThreeD,
            levels: last_level + 1,
            block,
            element_bytes,
        };
        let depth_order = of(Word0::TILE_TYPE) == 1;
        let (mut all, _) = levels(&extent, mode, Tiling::default());
        let base = u64::from(words[2]) << 8;
        let mips = u64::from(words[3]) << 8;
        let second = all.get(1).map_or(0, |level| level.offset);
        // The pitch of level 0 is told; the others follow from the size.
        if let Some(level) = all.first_mut() {
            let pitch = (of(Word0::PITCH) + 1) * 8;
            level.layout = Layout { mode, pitch: (pitch / block[0]).max(1), samples, ..level.layout };
            let columns = match mode {
                ArrayMode::Tiled2d => 32,
                ArrayMode::Tiled1d => 8,
                ArrayMode::Linear => 1,
            };
            if mode != ArrayMode::Linear {
                level.layout.height = level.size[1].next_multiple_of(8);
                level.layout.pitch = level.layout.pitch.next_multiple_of(columns);
            }
        }
        for level in &mut all {
            level.layout.depth_order = depth_order;
            level.layout.check().map_err(|error| wrong(error.to_string()))?;
        }
        let levels = all
            .into_iter()
            .enumerate()
            .map(|(n, level)| (if n == 0 { base } else { mips.wrapping_add(level.offset - second) }, level))
            .collect();
        let select = |bits| Sel::from_bits(of(bits)).unwrap_or(Sel::Zero);
        let selects = [Word4::DST_SEL_X, Word4::DST_SEL_Y, Word4::DST_SEL_Z, Word4::DST_SEL_W].map(select);
        let signs = [Word4::FORMAT_COMP_X, Word4::FORMAT_COMP_Y, Word4::FORMAT_COMP_Z, Word4::FORMAT_COMP_W].map(of);
        // Elements that nobody sees have any sign.
        let all = [Sel::X, Sel::Y, Sel::Z, Sel::W];
        let selected = || signs.iter().zip(all).filter(|(_, element)| selects.contains(element)).map(|(sign, _)| sign);
        let sign_of = selected().next().copied().unwrap_or(signs[0]);
        let format = Format {
            data,
            numbers: NumFormat::from_bits(of(Word4::NUM_FORMAT_ALL)).unwrap_or(NumFormat::Norm),
            sign: if sign_of == 1 { FormatComp::Signed } else { FormatComp::Unsigned },
            srf: SrfMode::from_bits(of(Word4::SRF_MODE_ALL)).unwrap_or(SrfMode::ZeroClampMinusOne),
            endian: EndianSwap::from_bits(of(Word4::ENDIAN_SWAP)).unwrap_or(EndianSwap::None),
        };
        let part = |n: u32| (n >> first_level).max(1);
        Ok(Self {
            surface: Surface {
                kind,
                width: part(width),
                height: part(height),
                depth: if kind == TextureKind::ThreeD { part(depth) } else { depth },
                levels: last_level - first_level + 1,
                format,
                gamma: of(Word4::FORCE_DEGAMMA) == 1,
            },
            levels,
            first: [first_level, first_layer],
            selects,
            samples,
            mixed_signs: selected().any(|&sign| sign != sign_of),
        })
    }

    /// The bytes of level 0, and of all levels behind it, as ranges of addresses.
    #[must_use]
    pub fn ranges(&self) -> [(u64, u64); 2] {
        let mut ranges = [(0, 0); 2];
        for (n, (address, level)) in self.levels.iter().enumerate() {
            let bytes = level.layout.slice_bytes() * u64::from(level.slices);
            match n {
                0 => ranges[0] = (*address, bytes),
                1 => ranges[1] = (*address, bytes),
                _ => ranges[1].1 = address.saturating_add(bytes).saturating_sub(ranges[1].0),
            }
        }
        ranges
    }

    /// The texture with its texels. Texels behind the end of memory are 0.
    ///
    /// # Errors
    /// What cannot be read.
    ///
    /// `compared`: its elements stay where they are in memory, as the first one is compared before any is selected.
    pub fn image(&self, memory: &dyn GpuMemory, compared: bool) -> Result<Image, Error> {
        let wrong = |message: String| Error::new("unsupported-texture", message);
        if self.mixed_signs {
            return Err(wrong("textures whose elements have different signs are not read".into()));
        }
        let mut image = self.rows_image(memory, 0, 0..u32::MAX)?;
        for sample in 1..self.samples {
            image.levels.extend(self.rows_image(memory, sample, 0..u32::MAX)?.levels);
        }
        image.texture.samples = self.samples;
        image.texture.levels *= self.samples;
        image.texture.compared = self.selects;
        if self.selects != AS_THEY_ARE && !compared {
            self.select(&mut image);
        }
        Ok(image)
    }

    /// Of a texture with one level, slice and sample: rows that lie together in memory, and their bytes. So a part of such a texture can be converted again.
    #[must_use]
    pub fn band(&self) -> Option<(u32, usize)> {
        let [(_, level)] = self.levels.as_slice() else { return None };
        let is_plain = self.surface.kind == TextureKind::TwoD
            && (self.samples, self.surface.depth) == (1, 1)
            && level.size[1] == self.surface.height
            && self.first == [0, 0]
            && !self.mixed_signs;
        let bytes = level.layout.bytes_of_rows(8).filter(|_| is_plain)?;
        Some((8, usize::try_from(bytes).ok()?))
    }

    /// Converts so many rows of a texture that has a [band](Self::band) again.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn convert_rows(
        &self,
        image: &mut Image,
        memory: &dyn GpuMemory,
        compared: bool,
        rows: std::ops::Range<u32>,
    ) -> Result<(), Error> {
        let rows = rows.start.min(self.surface.height)..rows.end.min(self.surface.height);
        if rows.is_empty() {
            return Ok(());
        }
        let mut found = self.rows_image(memory, 0, rows.clone())?;
        if self.selects != AS_THEY_ARE && !compared {
            self.select(&mut found);
        }
        let width = self.surface.width as usize;
        let places = image.levels.first_mut().and_then(|level| level.get_mut(rows.start as usize * width..));
        for (place, texel) in places.into_iter().flatten().zip(found.levels.into_iter().flatten()) {
            *place = texel;
        }
        Ok(())
    }

    /// These rows of the texture with its texels of one sample, as they are in memory; fewer than all only of textures with a [band](Self::band).
    fn rows_image(&self, memory: &dyn GpuMemory, sample: u32, part: std::ops::Range<u32>) -> Result<Image, Error> {
        let wrong = |message: String| Error::new("unsupported-texture", message);
        let mut rows = Vec::new();
        let surface = Surface { height: self.surface.height.min(part.end) - part.start, ..self.surface };
        let total = surface.bytes().map_err(|error| wrong(error.to_string()))?;
        rows.reserve(usize::try_from(total).unwrap_or(0));
        for (address, level) in self.levels.iter().skip(self.first[0] as usize) {
            let layout = &level.layout;
            let bytes = layout.element_bytes as usize;
            let slices = match self.surface.kind {
                TextureKind::ThreeD => level.size[2],
                _ => self.surface.depth,
            };
            let slice_bytes = layout.slice_bytes();
            let tile = layout.tile(sample);
            for slice in 0..slices {
                let slice = slice + self.first[1];
                // A slice of 2D tiles lies together, so each is looked up by itself.
                let start = address.saturating_add(slice_bytes * u64::from(slice));
                let whole = memory.bytes(start, slice_bytes);
                for y in part.start..level.size[1].min(part.end) {
                    if let (ArrayMode::Linear, 1, Some(whole)) = (layout.mode, layout.samples, whole) {
                        let from = (u64::from(y) * u64::from(layout.pitch)) as usize * bytes;
                        let row = whole.get(from..from + level.size[0] as usize * bytes);
                        if let Some(row) = row {
                            rows.extend_from_slice(row);
                            continue;
                        }
                    }
                    let mut first = 0;
                    for x in 0..level.size[0] {
                        let at = match &tile {
                            Some(tile) => {
                                if x % 8 == 0 {
                                    first = layout.offset(x, y & !7, slice, sample);
                                }
                                first + u64::from(tile[(x % 8 + y % 8 * 8) as usize])
                            }
                            None => layout.offset(x, y, slice, sample),
                        };
                        let element = match whole {
                            Some(whole) => {
                                let from = (at - slice_bytes * u64::from(slice)) as usize;
                                whole.get(from..from + bytes)
                            }
                            None => memory.bytes(address.saturating_add(at), bytes as u64),
                        };
                        match element {
                            Some(element) => rows.extend_from_slice(element),
                            None => rows.resize(rows.len() + bytes, 0),
                        }
                    }
                }
            }
        }
        surface.image(&rows).map_err(|error| wrong(error.to_string()))
    }

    /// Gives texels the elements that the resource selects. What is compared stays the first one.
    fn select(&self, image: &mut Image) {
        let floats = matches!(formats::elements(self.surface.format.data), formats::Elements::Float(_));
        let integers = self.surface.format.numbers == NumFormat::Int && !floats;
        let one = if integers { 1 } else { 1f32.to_bits() };
        for texel in image.levels.iter_mut().flatten() {
            let from = *texel;
            *texel = self.selects.map(|select| match select {
                Sel::X => from[0],
                Sel::Y => from[1],
                Sel::Z => from[2],
                Sel::W => from[3],
                Sel::One => one,
                Sel::Zero | Sel::Mask => 0,
            });
        }
    }
}

/// A sampler, of its words and its border colour.
///
/// # Errors
/// Ways of wrapping that are not done.
pub fn sampler(words: &[u32; 3], border: [u32; 4], seamless: bool) -> Result<Sampler, Error> {
    use resource::{SQ_TEX_SAMPLER_WORD0_0 as Word0, SQ_TEX_SAMPLER_WORD1_0 as Word1};
    let of = |bits| field(words, bits, Word0::REGISTER);
    let filter = |number| if number & 3 == 0 { Filter::Nearest } else { Filter::Linear };
    let (magnify, minify) = (of(Word0::XY_MAG_FILTER), of(Word0::XY_MIN_FILTER));
    let linear = filter(magnify) == Filter::Linear || filter(minify) == Filter::Linear;
    // Odd numbers mirror at 0 once, and go on as the even ones before them (CLAMP_X).
    let clamps = [of(Word0::CLAMP_X), of(Word0::CLAMP_Y), of(Word0::CLAMP_Z)];
    let wrap = |number: u32| match number {
        0 => Wrap::Repeat,
        1 => Wrap::Mirror,
        2 | 3 => Wrap::Clamp,
        // Half of the border at the last texel: the nearest texel never is the border.
        4 | 5 if !linear => Wrap::Clamp,
        _ => Wrap::Border,
    };
    let one = 1f32.to_bits();
    let anisotropic = magnify >= 4 || minify >= 4;
    Ok(Sampler {
        magnify: filter(magnify),
        minify: filter(minify),
        mip: match of(Word0::MIP_FILTER) {
            0 => MipFilter::None,
            1 => MipFilter::Nearest,
            _ => MipFilter::Linear,
        },
        wrap: clamps.map(wrap),
        mirrors_once: clamps.map(|number| matches!(number, 3 | 5 | 7)),
        half_border: clamps.map(|number| matches!(number, 4 | 5)),
        border: match of(Word0::BORDER_COLOR_TYPE) {
            0 => [0; 4],
            1 => [0, 0, 0, one],
            2 => [one; 4],
            _ => border,
        },
        min_lod: of(Word1::MIN_LOD) as f32 / 64.0,
        max_lod: of(Word1::MAX_LOD) as f32 / 64.0,
        lod_bias: ((of(Word1::LOD_BIAS) << 20).cast_signed() >> 20) as f32 / 64.0,
        compare: Compare::ALL[of(Word0::DEPTH_COMPARE_FUNCTION) as usize & 7],
        max_anisotropy: if anisotropic { 1 << of(Word0::MAX_ANISO_RATIO).min(4) } else { 1 },
        seamless,
    })
}
