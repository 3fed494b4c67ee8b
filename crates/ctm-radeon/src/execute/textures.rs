//! Textures and samplers, of the words that resources hold.

use crate::Error;
use crate::registers::resource;
use crate::table::{from_256, one_bit, signed};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::levels::{Extent, Level, levels};
use ctm_exec::r700::Sampler;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Compare, Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::surface::{LARGEST, Surface};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel, SrfMode};
use ctm_isa::table::FieldValue;

/// The words of a texture, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureWords {
    /// Its surface as programs see it: levels and layers of the view only.
    pub surface: Surface,
    /// Each level in memory with its first byte; those before the view's first are among them.
    pub levels: Vec<(u64, Level)>,
    /// The first level of the view, and its first layer.
    pub first: [u32; 2],
    /// The sources of red, green, blue and alpha.
    pub selects: [Sel; 4],
    /// Samples of a texel.
    pub samples: u32,
    /// The format has a sign for each element, and they differ.
    pub mixed_signs: bool,
}

pub(super) fn unsupported(error: impl ToString) -> Error {
    Error::new("unsupported-texture", error.to_string())
}

/// The supported array modes: the number of the register, and the mode.
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
    /// Unsupported formats and tilings, and invalid sizes.
    pub fn of(words: &[u32; 7]) -> Result<Self, Error> {
        use resource::{
            SQ_TEX_RESOURCE_WORD0_0 as Word0, SQ_TEX_RESOURCE_WORD1_0 as Word1, SQ_TEX_RESOURCE_WORD4_0 as Word4,
            SQ_TEX_RESOURCE_WORD5_0 as Word5,
        };
        let of = |bits| resource::field(words, bits);
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
            0 => (TextureKind::OneD, last_layer + 1, 1),
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
        let samples = if multisample { one_bit(last_level.min(3)) } else { 1 };
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
        let [base, mips] = [words[2], words[3]].map(from_256);
        let second = all.get(1).map_or(0, |level| level.offset);
        // The words give the pitch of level 0; the others follow from the size.
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
        // Elements that no select reads may have any sign.
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

    /// The bytes of level 0, and of all other levels, as ranges of addresses.
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
}

/// A sampler, of its words and its border colour.
///
/// # Errors
/// Ways of wrapping that are not done.
pub fn sampler(words: &[u32; 3], border: [u32; 4], seamless: bool) -> Result<Sampler, Error> {
    use resource::{SQ_TEX_SAMPLER_WORD0_0 as Word0, SQ_TEX_SAMPLER_WORD1_0 as Word1};
    let of = |bits| resource::sampler_field(words, bits);
    let filter = |number| if number % 4 == 0 { Filter::Nearest } else { Filter::Linear };
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
        lod_bias: signed(of(Word1::LOD_BIAS), Word1::LOD_BIAS.field.width()) as f32 / 64.0,
        compare: Compare::ALL[of(Word0::DEPTH_COMPARE_FUNCTION) as usize % 8],
        max_anisotropy: if anisotropic { one_bit(of(Word0::MAX_ANISO_RATIO).min(4)) as u8 } else { 1 },
        seamless,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use crate::registers::resource::{
        SQ_TEX_RESOURCE_WORD0_0 as Word0, SQ_TEX_RESOURCE_WORD1_0 as Word1, SQ_TEX_RESOURCE_WORD4_0 as Word4,
        SQ_TEX_RESOURCE_WORD5_0 as Word5,
    };
    use ctm_isa::r700::ops::DataFormat;
    use ctm_testkit::seeded::Random;

    /// Words of a texture at address 0 whose levels above the first follow it.
    pub(in crate::execute) fn words(r: &mut Random) -> [u32; 7] {
        let mut words = [0; 7];
        let mut set = |bits: crate::Bits, value: u32| {
            let word = (bits.register.offset - Word0::REGISTER.offset) as usize / 4;
            words[word] |= value << bits.field.lsb;
        };
        let dim = r.below(8) as u32;
        let (width, height) = (1 + r.below(70) as u32, if dim == 3 { 0 } else { 1 + r.below(40) as u32 });
        let height = if dim == 3 { width } else { height };
        let tiling = [0, 1, 2, 4][r.below(4)];
        set(Word0::DIM, dim);
        set(Word0::TILE_MODE, if dim >= 6 { 4 } else { tiling });
        set(Word0::PITCH, width.next_multiple_of(64) / 8 - 1);
        set(Word0::TEX_WIDTH, width - 1);
        set(Word1::TEX_HEIGHT, height - 1);
        let slices = 1 + r.below(6) as u32;
        set(Word1::TEX_DEPTH, slices - 1);
        let format =
            [DataFormat::Fmt8_8_8_8, DataFormat::Fmt5_6_5, DataFormat::Fmt32_32Float, DataFormat::FmtBc1][r.below(4)];
        set(Word1::DATA_FORMAT, if dim >= 6 { DataFormat::Fmt8_8_8_8 } else { format } as u32);
        let first_layer = r.below(slices as usize) as u32;
        set(Word5::BASE_ARRAY, if dim == 3 { 0 } else { first_layer });
        set(Word5::LAST_ARRAY, slices - 1);
        let levels = if dim >= 6 { r.below(4) as u32 } else { r.below(5) as u32 };
        set(Word5::LAST_LEVEL, levels);
        set(Word4::BASE_LEVEL, if dim >= 6 { 0 } else { r.below(levels as usize + 1) as u32 });
        for (select, element) in [Word4::DST_SEL_X, Word4::DST_SEL_Y, Word4::DST_SEL_Z, Word4::DST_SEL_W]
            .into_iter()
            .zip([[0, 1, 2, 3], [2, 1, 0, 5]][r.below(2)])
        {
            set(select, element);
        }
        words[3] = 1 << 12;
        words
    }
}
