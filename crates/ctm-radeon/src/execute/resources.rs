//! What programs reach: constant buffers, buffers, textures and samplers, of the words that registers hold.

use super::memory::GpuMemory;
use super::programs::Lookup;
use super::registers::Registers;
use super::surfaces::Surfaces;
use crate::Error;
use crate::registers::{colour, resource, sq, texture};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::levels::{Extent, Level, levels};
use ctm_exec::engine::{MemoryFault, Position};
use ctm_exec::r700::formats::{self, Format};
use ctm_exec::r700::resources::{AS_THEY_ARE, Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::surface::{LARGEST, Surface};
use ctm_exec::r700::{Buffer, Exports, Memory, Sampler, Space, Texture, VertexEvent, Written};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel, SrfMode};
use ctm_isa::table::FieldValue;
use std::sync::Arc;

/// The sets of resources that stages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// Of pixel programs.
    Pixel,
    /// Of vertex, export and copy programs.
    Vertex,
    /// Of geometry programs.
    Geometry,
}

impl Set {
    /// The first fetch resource, of all of them.
    #[must_use]
    pub const fn first_resource(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 160,
            Self::Geometry => 336,
        }
    }

    /// The first sampler, of all of them.
    #[must_use]
    pub const fn first_sampler(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 18,
            Self::Geometry => 36,
        }
    }

    /// The number of its loop, boolean and file constants.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 1,
            Self::Geometry => 2,
        }
    }

    /// Where constant buffer `bank` lies, and how many bytes it has.
    #[must_use]
    pub fn constants(self, registers: &Registers, bank: u32) -> (u64, u64) {
        let (row, size) = match self {
            Self::Pixel => (sq::ALU_CONST_CACHE_PS_0::REGISTER, "ALU_CONST_BUFFER_SIZE_PS"),
            Self::Vertex => (sq::ALU_CONST_CACHE_VS_0::REGISTER, "ALU_CONST_BUFFER_SIZE_VS"),
            Self::Geometry => (sq::ALU_CONST_CACHE_GS_0::REGISTER, "ALU_CONST_BUFFER_SIZE_GS"),
        };
        (registers.address(row, bank), u64::from(registers.named(size, bank) & 0x1ff) * 256)
    }
}

/// What kind of resource seven words are.
#[must_use]
pub const fn kind_of(words: &[u32; 7]) -> u32 {
    words[6] >> 30
}

/// A texture.
pub const VALID_TEXTURE: u32 = 2;
/// A buffer.
pub const VALID_BUFFER: u32 = 3;

fn field(words: &[u32], bits: crate::Bits, first: &crate::Register) -> u32 {
    let word = (bits.register.offset - first.offset) as usize / 4;
    bits.field.extract(words.get(word).copied().unwrap_or(0))
}

/// What the words of a buffer say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferWords {
    /// Its first byte.
    pub address: u64,
    /// The buffer.
    pub buffer: Buffer,
}

impl BufferWords {
    /// Of seven words.
    #[must_use]
    pub fn of(words: &[u32; 7]) -> Self {
        use resource::SQ_VTX_CONSTANT_WORD2_0 as Word2;
        let of = |bits| field(words, bits, resource::SQ_VTX_CONSTANT_WORD0_0::REGISTER);
        let format = Format {
            data: DataFormat::from_bits(of(Word2::DATA_FORMAT)).unwrap_or(DataFormat::FmtInvalid),
            numbers: NumFormat::from_bits(of(Word2::NUM_FORMAT_ALL)).unwrap_or(NumFormat::Norm),
            sign: FormatComp::from_bits(of(Word2::FORMAT_COMP_ALL)).unwrap_or(FormatComp::Unsigned),
            srf: SrfMode::from_bits(of(Word2::SRF_MODE_ALL)).unwrap_or(SrfMode::ZeroClampMinusOne),
            endian: EndianSwap::from_bits(of(Word2::ENDIAN_SWAP)).unwrap_or(EndianSwap::None),
        };
        Self {
            address: u64::from(words[0]) | u64::from(of(Word2::BASE_ADDRESS_HI)) << 32,
            buffer: Buffer { size_bytes: u64::from(words[1]) + 1, stride_bytes: of(Word2::STRIDE), format },
        }
    }
}

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
        let mut image = self.sample_image(memory, 0)?;
        for sample in 1..self.samples {
            image.levels.extend(self.sample_image(memory, sample)?.levels);
        }
        image.texture.samples = self.samples;
        image.texture.levels *= self.samples;
        image.texture.compared = self.selects;
        if self.selects != AS_THEY_ARE && !compared {
            self.select(&mut image);
        }
        Ok(image)
    }

    /// The texture with its texels of one sample, as they are in memory.
    fn sample_image(&self, memory: &dyn GpuMemory, sample: u32) -> Result<Image, Error> {
        let wrong = |message: String| Error::new("unsupported-texture", message);
        let mut rows = Vec::new();
        let total = self.surface.bytes().map_err(|error| wrong(error.to_string()))?;
        rows.reserve(usize::try_from(total).unwrap_or(0));
        for (address, level) in self.levels.iter().skip(self.first[0] as usize) {
            let layout = &level.layout;
            let bytes = layout.element_bytes as usize;
            let slices = match self.surface.kind {
                TextureKind::ThreeD => level.size[2],
                _ => self.surface.depth,
            };
            let slice_bytes = layout.slice_bytes();
            for slice in 0..slices {
                let slice = slice + self.first[1];
                // A slice of 2D tiles lies together, so each is looked up by itself.
                let start = address.saturating_add(slice_bytes * u64::from(slice));
                let whole = memory.bytes(start, slice_bytes);
                for y in 0..level.size[1] {
                    if let (ArrayMode::Linear, 1, Some(whole)) = (layout.mode, layout.samples, whole) {
                        let from = (u64::from(y) * u64::from(layout.pitch)) as usize * bytes;
                        let row = whole.get(from..from + level.size[0] as usize * bytes);
                        if let Some(row) = row {
                            rows.extend_from_slice(row);
                            continue;
                        }
                    }
                    for x in 0..level.size[0] {
                        let at = layout.offset(x, y, slice, sample);
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
        self.surface.image(&rows).map_err(|error| wrong(error.to_string()))
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
        compare: match of(Word0::DEPTH_COMPARE_FUNCTION) {
            0 => Compare::Never,
            1 => Compare::Less,
            2 => Compare::Equal,
            3 => Compare::LessEqual,
            4 => Compare::Greater,
            5 => Compare::NotEqual,
            6 => Compare::GreaterEqual,
            _ => Compare::Always,
        },
        max_anisotropy: if anisotropic { 1 << of(Word0::MAX_ANISO_RATIO).min(4) } else { 1 },
        seamless,
    })
}

/// The border colour of a sampler of a set, from its registers.
fn border(registers: &Registers, set: Set, n: u32) -> [u32; 4] {
    use texture::{
        TD_GS_SAMPLER0_BORDER_RED as OfGeometry, TD_PS_SAMPLER0_BORDER_RED as OfPixels,
        TD_VS_SAMPLER0_BORDER_RED as OfVertices,
    };
    let row = match set {
        Set::Pixel => OfPixels::REGISTER,
        Set::Vertex => OfVertices::REGISTER,
        Set::Geometry => OfGeometry::REGISTER,
    };
    std::array::from_fn(|c| registers.at(row.at(n) + 4 * c as u32))
}

/// What one program reaches.
pub(super) struct Bound<'m> {
    constants: [Option<&'m [u8]>; 16],
    buffers: Vec<(u8, Buffer, &'m [u8])>,
    textures: Vec<(u8, Arc<Image>)>,
    samplers: Vec<(u8, Sampler)>,
}

/// What a program asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) banks: u16,
    pub(super) buffers: Vec<u8>,
    pub(super) textures: Vec<Lookup>,
}

/// The ranges of memory that are read, so that what is held of them can be brought back before.
pub(super) fn ranges(registers: &Registers, set: Set, wanted: &Wanted) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for bank in (0..16).filter(|bank| wanted.banks >> bank & 1 == 1) {
        all.push(set.constants(registers, bank));
    }
    for &id in &wanted.buffers {
        let words = registers.resource(set.first_resource() + u32::from(id));
        if kind_of(&words) == VALID_BUFFER {
            let of = BufferWords::of(&words);
            all.push((of.address, of.buffer.size_bytes));
        }
    }
    for &Lookup { texture: id, .. } in &wanted.textures {
        let words = registers.resource(set.first_resource() + u32::from(id));
        if kind_of(&words) == VALID_TEXTURE
            && let Ok(of) = TextureWords::of(&words)
        {
            all.extend(of.ranges());
        }
    }
    all
}

/// As many of these bytes as there are.
fn available(memory: &dyn GpuMemory, address: u64, length: u64) -> Option<&[u8]> {
    if let Some(bytes) = memory.bytes(address, length) {
        return Some(bytes);
    }
    memory.bytes(address, 1)?;
    // The largest length that there is, by halving.
    let (mut good, mut bad) = (1, length);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if memory.bytes(address, middle).is_some() { good = middle } else { bad = middle }
    }
    memory.bytes(address, good)
}

/// The textures that a program asks for, converted; those that have been converted before are not again.
pub(super) fn convert_textures(
    registers: &Registers,
    set: Set,
    wanted: &Wanted,
    memory: &dyn GpuMemory,
    surfaces: &mut Surfaces,
) -> Result<Vec<(u8, Arc<Image>)>, Error> {
    let mut all = Vec::new();
    for &Lookup { texture: id, compares, .. } in &wanted.textures {
        let words = registers.resource(set.first_resource() + u32::from(id));
        if kind_of(&words) != VALID_TEXTURE {
            continue;
        }
        if let Some(image) = surfaces.texture(&words, compares) {
            all.push((id, image));
            continue;
        }
        let named = |error: Error| Error::new(error.kind, format!("texture {id}: {}", error.message));
        let of = TextureWords::of(&words).map_err(named)?;
        let image = of.image(memory, compares).map_err(named)?;
        let image = Arc::new(image);
        all.push((id, image.clone()));
        surfaces.keep_texture((words, compares), of.ranges(), image);
    }
    Ok(all)
}

impl<'m> Bound<'m> {
    /// What a program of a set reaches.
    pub(super) fn new(
        registers: &Registers,
        set: Set,
        wanted: &Wanted,
        memory: &'m dyn GpuMemory,
        textures: &[(u8, Arc<Image>)],
    ) -> Result<Self, Error> {
        let textures = textures.to_vec();
        let mut bound = Self { constants: [None; 16], buffers: Vec::new(), textures, samplers: Vec::new() };
        for (bank, place) in (0u32..).zip(&mut bound.constants) {
            if wanted.banks >> bank & 1 == 1 {
                let (address, size) = set.constants(registers, bank);
                *place = if size == 0 { None } else { available(memory, address, size) };
            }
        }
        for &id in &wanted.buffers {
            let words = registers.resource(set.first_resource() + u32::from(id));
            if kind_of(&words) == VALID_BUFFER {
                let BufferWords { address, mut buffer } = BufferWords::of(&words);
                let bytes = available(memory, address, buffer.size_bytes).unwrap_or_default();
                buffer.size_bytes = bytes.len() as u64;
                bound.buffers.push((id, buffer, bytes));
            }
        }
        let seamless = !registers.flag(texture::TA_CNTL_AUX::DISABLE_CUBE_WRAP);
        // Borders are not selected from as texels are: drivers say what is returned.
        for &Lookup { sampler: sampler_id, .. } in &wanted.textures {
            let words = registers.sampler(set.first_sampler() + u32::from(sampler_id));
            let border = border(registers, set, u32::from(sampler_id));
            let of = sampler(&words, border, seamless)
                .map_err(|error| Error::new(error.kind, format!("sampler {sampler_id}: {}", error.message)))?;
            bound.samplers.push((sampler_id, of));
        }
        Ok(bound)
    }

    fn buffer_of(&self, id: u8) -> Option<&(u8, Buffer, &'m [u8])> {
        self.buffers.iter().find(|of| of.0 == id)
    }

    fn image(&self, id: u8) -> Option<&Image> {
        self.textures.iter().find(|of| of.0 == id).map(|of| of.1.as_ref())
    }
}

fn refused(what: &str, reason: &str) -> MemoryFault {
    MemoryFault { what: what.into(), address: None, reason: reason.into() }
}

impl Memory for Bound<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        let bytes = self.constants.get(usize::from(bank)).copied().flatten().unwrap_or_default();
        let at = index as usize * 16;
        let mut value = [0; 4];
        if let Some(four) = bytes.get(at..at + 16) {
            for (element, bytes) in value.iter_mut().zip(four.chunks_exact(4)) {
                *element = bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            }
        }
        Ok(value)
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.buffer_of(id).map(|of| of.1)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let from = usize::try_from(offset_bytes).unwrap_or(usize::MAX);
        let data = self.buffer_of(id).map(|of| of.2).unwrap_or_default();
        let part = from.checked_add(bytes.len()).and_then(|end| data.get(from..end));
        bytes.copy_from_slice(part.ok_or_else(|| refused("a buffer", "these bytes lie behind its end"))?);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.image(id).map(|image| image.texture)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.samplers.iter().find(|of| of.0 == id).map(|of| of.1)
    }

    fn texel(&self, id: u8, level: u32, [x, y, z]: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let texel = self.image(id).and_then(|image| {
            let [width, height, _] = image.texture.size(level);
            let at = (z as usize * height as usize + y as usize) * width as usize + x as usize;
            image.levels.get(level as usize)?.get(at).copied()
        });
        texel.ok_or_else(|| refused("a texture", "this texel lies outside it"))
    }

    fn space(&self, _: Space) -> Option<u64> {
        None
    }

    fn load(&self, _: Space, _: u64) -> Result<u32, MemoryFault> {
        Err(refused("a memory", "nothing is bound there"))
    }

    fn store(&mut self, _: Space, _: u64, _: u32) -> Result<(), MemoryFault> {
        Err(refused("a memory", "nothing is bound there"))
    }

    fn vertex_event(&mut self, _: Position, _: VertexEvent) -> Result<(), MemoryFault> {
        Err(refused("a vertex", "there is no geometry program"))
    }

    fn commit(&mut self, _: Position, _: &Exports) -> Result<Written, MemoryFault> {
        Err(refused("an export", "nothing takes it"))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.buffer_of(id).map(|of| of.2)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.image(id)?.levels.get(level as usize).map(Vec::as_slice)
    }
}

/// Where a colour target lies and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetWords {
    /// Its first byte: that of slice 0.
    pub address: u64,
    /// How its samples lie.
    pub layout: Layout,
    /// The number of its format.
    pub format: u32,
    /// First and last slice.
    pub slices: [u32; 2],
}

impl TargetWords {
    /// Bytes of all slices up to the last one.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.layout.slice_bytes().saturating_mul(u64::from(self.slices[1]) + 1)
    }

    /// Cuts rows off that lie behind `end`, where a buffer ends; of linear surfaces only.
    #[must_use]
    pub fn cut(mut self, end: Option<u64>) -> Self {
        let room = end.map_or(u64::MAX, |end| end.saturating_sub(self.address));
        if self.layout.mode == ArrayMode::Linear && self.bytes() > room && self.slices[1] == 0 {
            let row = u64::from(self.layout.pitch) * u64::from(self.layout.element_bytes * self.layout.samples);
            self.layout.height = u32::try_from((room / row.max(1)).max(1)).unwrap_or(u32::MAX);
        }
        self
    }
}

/// Pitch and height of SIZE's fields: tiles of 8 elements in a row, and of 64 in a slice, each minus 1.
pub(crate) fn extent(pitch_tiles: u32, slice_tiles: u32) -> [u32; 2] {
    let pitch = (pitch_tiles + 1) * 8;
    [pitch, ((slice_tiles + 1) * 64 / pitch).max(1)]
}

/// Colour target `n`; `None` where there is none.
///
/// # Errors
/// Formats and tilings that are not done.
pub fn colour_target(registers: &Registers, n: u32, samples: u32) -> Result<Option<TargetWords>, Error> {
    use colour::{CB_COLOR0_INFO as Info, CB_COLOR0_SIZE as Size, CB_COLOR0_VIEW as View};
    let format = registers.nth(Info::FORMAT, n);
    if format == 0 {
        return Ok(None);
    }
    let wrong = |message: String| Error::new("unsupported-target", format!("colour target {n}: {message}"));
    let data = DataFormat::from_bits(format).ok_or_else(|| wrong(format!("format {format} is not known")))?;
    let bytes = element(data).filter(|of| of.0 == [1, 1]).map(|of| of.1);
    let element_bytes = bytes.ok_or_else(|| wrong(format!("{} is no format of a target", data.name())))?;
    let mode = registers.nth(Info::ARRAY_MODE, n);
    let mode = array_mode(mode).ok_or_else(|| wrong(format!("array mode {mode} is not done")))?;
    let [pitch, height] = extent(registers.nth(Size::PITCH_TILE_MAX, n), registers.nth(Size::SLICE_TILE_MAX, n));
    let layout = Layout { mode, pitch, height, element_bytes, samples, depth_order: false, tiling: Tiling::default() };
    let slices = [registers.nth(View::SLICE_START, n), registers.nth(View::SLICE_MAX, n)];
    let address = registers.address(colour::CB_COLOR0_BASE::REGISTER, n);
    Ok(Some(TargetWords { address, layout, format, slices }))
}

/// The depth target; `None` where there is none.
///
/// # Errors
/// Formats and tilings that are not done.
pub fn depth_target(registers: &Registers, samples: u32) -> Result<Option<TargetWords>, Error> {
    use crate::registers::depth::{
        DB_DEPTH_BASE as Base, DB_DEPTH_INFO as Info, DB_DEPTH_SIZE as Size, DB_DEPTH_VIEW as View,
    };
    let format = registers.get(Info::FORMAT);
    let Some(of) = depth_format(format) else { return Ok(None) };
    let mode = registers.get(Info::ARRAY_MODE);
    let mode = array_mode(mode)
        .ok_or_else(|| Error::new("unsupported-target", format!("the depth target: array mode {mode} is not done")))?;
    let [pitch, height] = extent(registers.get(Size::PITCH_TILE_MAX), registers.get(Size::SLICE_TILE_MAX));
    let layout = Layout {
        mode,
        pitch,
        height,
        element_bytes: of.bytes() as u32,
        samples,
        depth_order: mode != ArrayMode::Linear,
        tiling: Tiling::default(),
    };
    let slices = [registers.get(View::SLICE_START), registers.get(View::SLICE_MAX)];
    Ok(Some(TargetWords { address: registers.address(Base::REGISTER, 0), layout, format, slices }))
}

/// The depth format of a number; `None` for none.
#[must_use]
pub const fn depth_format(number: u32) -> Option<ctm_draw::depth::DepthFormat> {
    use ctm_draw::depth::DepthFormat;
    match number {
        1 => Some(DepthFormat::D16),
        2 => Some(DepthFormat::X8D24),
        3 => Some(DepthFormat::S8D24),
        4 => Some(DepthFormat::X8D24Float),
        5 => Some(DepthFormat::S8D24Float),
        6 => Some(DepthFormat::D32Float),
        7 => Some(DepthFormat::X24S8D32Float),
        _ => None,
    }
}
