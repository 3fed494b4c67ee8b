//! Textures of an R500: units with their formats, levels, samplers and borders.
//!
//! A unit has no address for each level: the levels follow one another, and their sizes come from the texture's size, format and tiling. Tiles are stored
//! row by row here (`targets`), so tiling decides the sizes of rows and levels alone.

use super::super::converted::TextureImage;
use super::super::memory::GpuMemory;
use super::super::registers::Registers;
use super::super::textures::{TextureWords, element};
use super::half::half;
use super::srgb::linear;
use super::yuv::Yuv;
use crate::Error;
use crate::registers::texture::r500 as tx;
use crate::table::{bit, bits_at, one_bit, signed};
use ctm_draw::layout::Layout;
use ctm_draw::levels::Level;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::formats::{Format, convert};
use ctm_exec::r700::resources::{Filter, Image, MipFilter, Texture, TextureKind, Wrap};
use ctm_exec::r700::surface::Surface;
use ctm_exec::r700::{self, Buffer, Exports, Sampler, Space, VertexEvent};
use ctm_exec::x1k::{self, Outputs, Written};
use ctm_isa::r700::ops::{DataFormat, FormatComp, Sel};
use std::sync::Arc;

/// Texture units.
pub(super) const UNITS: usize = 16;

/// Most cached textures.
const MOST_CACHED: usize = 64;

/// A converted texture with the bytes that it was made of.
#[derive(Clone, Debug)]
struct Converted {
    words: TextureWords,
    yuv: Option<Yuv>,
    bytes: Vec<u8>,
    image: Arc<TextureImage>,
}

/// Converted textures, the last used one last.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache(Vec<Converted>);

impl Cache {
    /// The texels of a texture, converted unless memory has the bytes of a conversion in the cache.
    fn image(
        &mut self,
        memory: &dyn GpuMemory,
        words: TextureWords,
        yuv: Option<Yuv>,
    ) -> Result<Arc<TextureImage>, Error> {
        let ranges = words.ranges();
        let read = ranges.map(|(at, length)| super::super::memory::available(memory, at, length).unwrap_or_default());
        let same = |of: &Converted| {
            let (first, second) = of.bytes.split_at_checked(read[0].len()).unwrap_or((&[], &[]));
            (&of.words, of.yuv) == (&words, yuv) && first == read[0] && second == read[1]
        };
        if let Some(at) = self.0.iter().position(same) {
            let of = self.0.remove(at);
            let image = of.image.clone();
            self.0.push(of);
            return Ok(image);
        }
        let bytes = read.concat();
        let image = Arc::new(match yuv {
            Some(yuv) => yuv.converted(&words, memory)?.into(),
            None => converted(&words, memory)?,
        });
        self.0.retain(|of| (&of.words, of.yuv) != (&words, yuv));
        if self.0.len() >= MOST_CACHED {
            self.0.remove(0);
        }
        self.0.push(Converted { words, yuv, bytes, image: image.clone() });
        Ok(image)
    }
}

/// Converts a texture. The second of two elements is an alpha, which sRGB leaves as it is.
fn converted(words: &TextureWords, memory: &dyn GpuMemory) -> Result<TextureImage, Error> {
    if !words.surface.gamma || words.surface.format.data != DataFormat::Fmt8_8 {
        return words.converted_to_bytes(memory);
    }
    let surface = Surface { gamma: false, ..words.surface };
    let mut image = TextureWords { surface, ..words.clone() }.image(memory, false)?;
    // Constants stay: 0 and 1 are the same in both.
    image.levels.texels_mut().iter_mut().for_each(|texel| *texel = linear(*texel));
    Ok(image.into())
}

/// The textures of a draw.
#[derive(Clone, Debug)]
pub(super) struct Textures {
    units: [Option<(Arc<TextureImage>, Sampler)>; UNITS],
    /// The texture of units that are off: (0, 0, 0, 1).
    off: TextureImage,
}

impl Textures {
    /// The textures of these units.
    ///
    /// # Errors
    /// Textures that are not read, and those outside memory.
    pub(super) fn of(
        registers: &Registers,
        memory: &dyn GpuMemory,
        cache: &mut Cache,
        units: impl Iterator<Item = u8>,
    ) -> Result<Self, Error> {
        let off = Image { texture: Texture::default(), levels: vec![vec![[0, 0, 0, 1f32.to_bits()]]].into() };
        let mut all = Self { units: [const { None }; UNITS], off: off.into() };
        let enabled = registers.get(tx::TX_ENABLE::TEX_ENABLE);
        for unit in units.filter(|&unit| bit(enabled, unit.into())) {
            if let Some(place) = all.units.get_mut(usize::from(unit)) {
                let unit_of = TextureUnit { registers, n: unit.into() };
                let (words, sampler) = unit_of.bound()?;
                check_bounds(&words, memory)
                    .map_err(|error| Error::new(error.kind, format!("texture unit {unit}: {}", error.message)))?;
                *place = Some((cache.image(memory, words, unit_of.yuv())?, sampler));
            }
        }
        Ok(all)
    }

    /// Units with cubes, bit 0 = unit 0.
    pub(super) fn cubes(&self) -> u16 {
        let is_cube = |n: &u16| self.image(*n as u8).texture.kind == TextureKind::Cube;
        (0..UNITS as u16).filter(is_cube).fold(0, |all, n| all | 1 << n)
    }

    fn unit(&self, id: u8) -> Option<&(Arc<TextureImage>, Sampler)> {
        self.units.get(usize::from(id))?.as_ref()
    }

    fn image(&self, id: u8) -> &TextureImage {
        self.unit(id).map_or(&self.off, |(image, _)| image)
    }
}

/// Whether the bytes of all levels lie in memory.
fn check_bounds(words: &TextureWords, memory: &dyn GpuMemory) -> Result<(), Error> {
    for (address, level) in &words.levels {
        let [width, height, _] = level.size;
        // The last row ends with its last element.
        let rows = u64::from(level.slices - 1) * u64::from(level.layout.height) + u64::from(height - 1);
        let elements = rows * u64::from(level.layout.pitch) + u64::from(width);
        let length = elements * u64::from(level.layout.element_bytes);
        if memory.bytes(*address, length).is_none() {
            let message = format!("{length} bytes at {address:#x} lie outside their buffer");
            return Err(Error::new("outside-memory", message));
        }
    }
    Ok(())
}

/// The fields of a texture's format: how its texels lie, and where the components of a select are among the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Texel {
    data: DataFormat,
    /// The field of each component.
    components: [usize; 4],
}

/// The format of a number; `None` for those that are not read. `second_list`: TXFORMAT_MSB.
const fn texel(format: u32, second_list: bool) -> Option<Texel> {
    use DataFormat as Data;
    const PLAIN: [usize; 4] = [0, 1, 2, 3];
    // Stencil lies below depth.
    const STENCIL_FIRST: [usize; 4] = [1, 0, 2, 3];
    let data = if second_list {
        match format {
            0 => Data::Fmt1,
            1 => Data::Fmt1Reversed,
            5 => Data::FmtBc4,
            6 => return Some(Texel { data: Data::Fmt24_8, components: STENCIL_FIRST }),
            _ => return None,
        }
    } else {
        match format {
            0 => Data::Fmt8,
            1 => Data::Fmt16,
            2 => Data::Fmt4_4,
            3 | 18 => Data::Fmt8_8,
            4 => Data::Fmt16_16,
            5 => Data::Fmt3_3_2,
            6 => Data::Fmt5_6_5,
            7 => Data::Fmt6_5_5,
            8 => Data::Fmt11_11_10,
            9 => Data::Fmt10_11_11,
            10 => Data::Fmt4_4_4_4,
            11 => Data::Fmt1_5_5_5,
            12 | 19 => Data::Fmt8_8_8_8,
            13 => Data::Fmt2_10_10_10,
            14 => Data::Fmt16_16_16_16,
            15 => Data::FmtBc1,
            16 => Data::FmtBc2,
            17 => Data::FmtBc3,
            20 => Data::FmtBgRg,
            21 => Data::FmtGbGr,
            24 => Data::Fmt16Float,
            25 => Data::Fmt16_16Float,
            26 => Data::Fmt16_16_16_16Float,
            27 => Data::Fmt32Float,
            28 => Data::Fmt32_32Float,
            29 => Data::Fmt32_32_32_32Float,
            31 => Data::FmtBc5,
            _ => return None,
        }
    };
    Some(Texel { data, components: PLAIN })
}

/// Columns and rows of pixels of a tile, by bytes of a pixel, micro tiling and whether tiles of 2 KB are used.
pub(super) const fn tile(bytes: u32, micro: u32, is_macro: bool) -> [u32; 2] {
    let small = match (micro, bytes) {
        (1, 1) => [8, 4],
        (1, 2) => [8, 2],
        (1, 4) => [4, 2],
        (1, 8) => [2, 2],
        (2, 2) => [4, 4],
        (_, 0) => [1, 1],
        _ => [if bytes < 32 { 32 / bytes } else { 1 }, 1],
    };
    if is_macro { [8 * small[0], 8 * small[1]] } else { small }
}

/// A texture unit and its registers.
struct TextureUnit<'r> {
    registers: &'r Registers,
    n: u32,
}

impl TextureUnit<'_> {
    fn get(&self, bits: crate::Bits) -> u32 {
        self.registers.nth(bits, self.n)
    }

    fn refused(&self, what: &str) -> Error {
        Error::new("unsupported-texture", format!("texture unit {}: {what}", self.n))
    }

    fn texel(&self) -> Result<Texel, Error> {
        let (number, second) = (self.get(tx::TX_FORMAT1_0::TXFORMAT), self.get(tx::TX_FORMAT2_0::TXFORMAT_MSB) == 1);
        let list = if second { " of the second list" } else { "" };
        texel(number, second).ok_or_else(|| self.refused(&format!("format {number}{list} is not read")))
    }

    /// The sources of red, green, blue and alpha among the components.
    fn selects(&self) -> [u32; 4] {
        use tx::TX_FORMAT1_0 as Kind;
        [Kind::SEL_RED, Kind::SEL_GREEN, Kind::SEL_BLUE, Kind::SEL_ALPHA].map(|bits| self.get(bits))
    }

    /// The component that a select names: with DXTC_SWIZZLE the first and the third of compressed colours change places.
    fn component(&self, data: DataFormat, select: u32) -> usize {
        let swaps = self.get(tx::TX_FILTER1_0::DXTC_SWIZZLE) == 1
            && matches!(data, DataFormat::FmtBc1 | DataFormat::FmtBc2 | DataFormat::FmtBc3);
        match select {
            0 if swaps => 2,
            2 if swaps => 0,
            select => select as usize % 4,
        }
    }

    /// The conversion of its colours.
    fn yuv(&self) -> Option<Yuv> {
        use tx::TX_FORMAT1_0 as Kind;
        let swapped = self.get(Kind::SWAP_YUV) == 1;
        match self.get(Kind::YUV_TO_RGB) {
            0 => None,
            how => Some(Yuv { clamps: how == 1, swapped }),
        }
    }

    /// The texture with its levels, and how it is sampled.
    fn bound(&self) -> Result<(TextureWords, Sampler), Error> {
        use tx::{TX_FILTER0_0 as Filter0, TX_FILTER1_0 as Filter1, TX_FORMAT0_0 as Size, TX_FORMAT1_0 as Kind};
        use tx::{TX_FORMAT2_0 as Pitch, TX_OFFSET_0 as Offset};
        let Texel { data, components } = self.texel()?;
        let (kind, faces) = match self.get(Kind::TEX_COORD_TYPE) {
            0 => (TextureKind::TwoD, 1),
            1 => (TextureKind::ThreeD, 1),
            2 => (TextureKind::Cube, 6),
            other => return Err(self.refused(&format!("textures of type {other} are not read"))),
        };
        let (block, element_bytes) = element(data).ok_or_else(|| self.refused("its format is not read"))?;
        let upper = |bits| if self.get(bits) == 1 { one_bit(11) } else { 0 };
        let width = (self.get(Size::TXWIDTH) | upper(Pitch::TXWIDTH_11)) + 1;
        let height = (self.get(Size::TXHEIGHT) | upper(Pitch::TXHEIGHT_11)) + 1;
        let depth = if kind == TextureKind::ThreeD { one_bit(self.get(Size::TXDEPTH).min(12)) } else { 1 };
        let mip = match self.get(Filter0::MIP_FILTER) {
            0 => MipFilter::None,
            1 => MipFilter::Nearest,
            _ => MipFilter::Linear,
        };
        // No texture has more levels than its longest side. UNVERIFIED: without a filter between levels there is level 0 alone, for any MAX_MIP_LEVEL. The driver
        // writes the least level there in any case, and OpenGL 2.1 §3.8.8 wants the base level, which the driver makes level 0.
        let most = if mip == MipFilter::None { 0 } else { width.max(height).max(depth).ilog2() };
        let last = self.get(Size::NUM_LEVELS).min(most);
        let finest = self.get(Filter0::MAX_MIP_LEVEL).min(last);
        let micro = self.get(Offset::MICRO_TILE);
        let is_padded = last > 0 || kind != TextureKind::TwoD;
        let compressed = block != [1, 1];
        let address = u64::from(self.registers.word(Offset::REGISTER, self.n) & Offset::TXOFFSET.field.mask());
        let (mut levels, mut at) = (Vec::new(), address);
        for level in 0..=last {
            let part = |whole: u32| (whole >> level).max(1);
            let [columns, rows, slices] = [width, height, depth].map(part);
            let whole = tile(element_bytes, micro, true);
            let is_macro = self.get(Offset::MACRO_TILE) == 1 && {
                let [first, second] = [columns.cmp(&whole[0]), rows.cmp(&whole[1])];
                // The rule of older chips takes sides of exactly one tile as too short.
                let older = self.get(Filter1::MACRO_SWITCH) == 1;
                let holds = |order: std::cmp::Ordering| if older { order.is_gt() } else { order.is_ge() };
                holds(first) && holds(second)
            };
            let unit = if compressed { tile(element_bytes, 0, false) } else { tile(element_bytes, micro, is_macro) };
            let size = [columns.div_ceil(block[0]), rows.div_ceil(block[1])];
            let pitch = if self.get(Size::TXPITCH_EN) == 1 && level == 0 {
                ((self.get(Pitch::TXPITCH) + 1) / block[0]).max(size[0])
            } else {
                size[0].next_multiple_of(unit[0])
            };
            let lines = if is_padded { rows.next_power_of_two() } else { rows };
            let lines = lines.div_ceil(block[1]).next_multiple_of(unit[1]);
            let layout = Layout::linear(pitch, lines, element_bytes, 1);
            layout.check().map_err(|error| self.refused(&error.to_string()))?;
            let slices = slices * faces;
            levels.push((at, Level { offset: at - address, layout, size: [size[0], size[1], slices], slices }));
            at += layout.slice_bytes() * u64::from(slices);
        }
        let selects = self.selects();
        let signs = [Kind::SIGNED_COMP0, Kind::SIGNED_COMP1, Kind::SIGNED_COMP2, Kind::SIGNED_COMP3];
        let signs: Vec<u32> = selects.iter().filter(|&&s| s < 4).map(|&s| self.get(signs[s as usize % 4])).collect();
        let sign = signs.first().copied().unwrap_or(0);
        let is_signed = sign == 1;
        let format = Format {
            data,
            sign: if is_signed { FormatComp::Signed } else { FormatComp::Unsigned },
            ..Format::default()
        };
        let select = |number: u32| match number {
            0..=3 => [Sel::X, Sel::Y, Sel::Z, Sel::W][components[self.component(data, number)]],
            5 => Sel::One,
            _ => Sel::Zero,
        };
        let words = TextureWords {
            surface: Surface {
                kind,
                width,
                height,
                depth: if kind == TextureKind::ThreeD { depth } else { faces },
                levels: last + 1,
                format,
                gamma: self.get(Kind::GAMMA) == 1,
            },
            levels,
            first: [0, 0],
            selects: selects.map(select),
            samples: 1,
            mixed_signs: signs.iter().any(|&of| of != sign),
        };
        let sampler = self.sampler(mip, (finest, last), self.border(data, is_signed, selects));
        Ok((words, sampler))
    }

    fn sampler(&self, mip: MipFilter, (finest, last): (u32, u32), border: [u32; 4]) -> Sampler {
        use tx::{TX_FILTER0_0 as Filter0, TX_FILTER1_0 as Filter1};
        let filter = |bits| if self.get(bits) == 1 { Filter::Nearest } else { Filter::Linear };
        let (magnify, minify) = (filter(Filter0::MAG_FILTER), filter(Filter0::MIN_FILTER));
        let linear = magnify == Filter::Linear || minify == Filter::Linear;
        let clamps = [Filter0::CLAMP_S, Filter0::CLAMP_T, Filter0::CLAMP_R].map(|bits| self.get(bits));
        let wrap = |number: u32| match number {
            0 => Wrap::Repeat,
            1 => Wrap::Mirror,
            2 | 3 => Wrap::Clamp,
            // Half of the border at the last texel: the nearest texel never is the border.
            4 | 5 if !linear => Wrap::Clamp,
            _ => Wrap::Border,
        };
        let anisotropic = [Filter0::MAG_FILTER, Filter0::MIN_FILTER].iter().any(|&bits| self.get(bits) == 3);
        // Without a filter between levels the level decides between the other two filters only.
        let levels = if mip == MipFilter::None { [0.0, 15.0] } else { [finest as f32, last as f32] };
        let bias = signed(self.get(Filter1::LOD_BIAS), Filter1::LOD_BIAS.field.width());
        Sampler {
            magnify,
            minify,
            mip,
            wrap: clamps.map(wrap),
            mirrors_once: clamps.map(|number| matches!(number, 3 | 5 | 7)),
            half_border: clamps.map(|number| matches!(number, 4 | 5)),
            border,
            min_lod: levels[0],
            max_lod: levels[1],
            // UNVERIFIED: drivers add one step to every bias because the chip's levels come out a little too small; so one is taken away here.
            lod_bias: (bias - 1) as f32 / 32.0,
            max_anisotropy: if anisotropic { one_bit(self.get(Filter0::MAX_ANISO).min(4)) as u8 } else { 1 },
            ..Sampler::default()
        }
    }

    /// The border's red, green, blue and alpha: the register holds its components in a format of the texture's kind.
    fn border(&self, data: DataFormat, is_signed: bool, selects: [u32; 4]) -> [u32; 4] {
        let word = self.registers.word(tx::TX_BORDER_COLOR_0::REGISTER, self.n);
        let components = border_components(data, word, is_signed, self.get(tx::TX_FORMAT1_0::GAMMA) == 1);
        selects.map(|select| match select {
            0..=3 => components[self.component(data, select)],
            5 => 1f32.to_bits(),
            _ => 0,
        })
    }
}

/// The components of a border colour.
///
/// | texels of | the register holds |
/// |---|---|
/// | 8 bits, compressed colours, four elements of more bits | four bytes; of compressed colours the first and the third change places |
/// | two elements of 8 bits in sRGB | two bytes, of which the second is an alpha |
/// | ATI1N | four bits, the second of four components |
/// | 2 to 6 bits, 10 bits, one or two of 16 bits, one of 32 bits | the texel |
/// | depth | the depth, in its place |
fn border_components(data: DataFormat, word: u32, is_signed: bool, gamma: bool) -> [u32; 4] {
    use DataFormat as Data;
    let sign = if is_signed { FormatComp::Signed } else { FormatComp::Unsigned };
    let of = |data: DataFormat| {
        let format = Format { data, sign, ..Format::default() };
        convert(&format, &word.to_le_bytes()).unwrap_or_default()
    };
    let unsigned = |data: DataFormat| {
        let format = Format { data, ..Format::default() };
        convert(&format, &word.to_le_bytes()).unwrap_or_default()
    };
    let swapped = |[x, y, z, w]: [u32; 4]| [z, y, x, w];
    match data {
        Data::Fmt3_3_2 | Data::Fmt4_4 | Data::Fmt4_4_4_4 | Data::Fmt5_6_5 | Data::Fmt1_5_5_5 | Data::Fmt6_5_5 => {
            unsigned(data)
        }
        Data::FmtBc4 => [unsigned(Data::Fmt4_4_4_4)[1], 0, 0, 1f32.to_bits()],
        Data::FmtBc1 | Data::FmtBc2 | Data::FmtBc3 => {
            let bytes = swapped(unsigned(Data::Fmt8_8_8_8));
            if gamma { linear(bytes) } else { bytes }
        }
        Data::Fmt8_8 if gamma => {
            let [x, y, z, w] = unsigned(Data::Fmt8_8_8_8);
            let [x, ..] = linear([x, y, z, w]);
            [x, y, z, w]
        }
        Data::Fmt2_10_10_10 => unsigned(Data::Fmt2_10_10_10),
        Data::Fmt16 | Data::Fmt16_16 => of(Data::Fmt16_16),
        Data::Fmt16Float | Data::Fmt16_16Float => {
            let [low, high] = [0, 16].map(|at| half(bits_at(word, at, 16)).to_bits());
            [low, high, 0, 1f32.to_bits()]
        }
        Data::Fmt32Float => [word, 0, 0, 1f32.to_bits()],
        Data::Fmt24_8 => {
            let [stencil, depth, ..] = unsigned(Data::Fmt24_8);
            [depth, stencil, 0, 1f32.to_bits()]
        }
        _ => {
            let bytes = of(Data::Fmt8_8_8_8);
            if gamma { linear(bytes) } else { bytes }
        }
    }
}

fn refused(what: &str, reason: &str) -> MemoryFault {
    MemoryFault { what: what.into(), address: None, reason: reason.into() }
}

/// Units by number; a program of a draw reaches no other memory.
impl r700::Memory for Textures {
    fn constant(&self, _: u8, _: u32) -> Result<[u32; 4], MemoryFault> {
        Ok([0; 4])
    }

    fn buffer(&self, _: u8) -> Option<Buffer> {
        None
    }

    fn read_buffer(&self, _: u8, _: u64, _: &mut [u8]) -> Result<(), MemoryFault> {
        Err(refused("a buffer", "nothing is bound there"))
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        Some(self.image(id).texture)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        Some(self.unit(id).map(|(_, sampler)| *sampler).unwrap_or_default())
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.image(id).texel(level, at).ok_or_else(|| refused("a texture", "this texel lies outside it"))
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

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.image(id).dwords(level)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.image(id).bytes(level)
    }
}

impl x1k::Memory for Textures {
    fn schedule(&mut self, _: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, _: u8) -> Option<x1k::Input> {
        None
    }

    fn read(&self, _: u8, _: u32, _: u32, _: bool) -> Result<[u32; 4], MemoryFault> {
        Err(refused("an input", "draws have textures"))
    }

    fn textures(&self) -> Option<&dyn r700::Memory> {
        Some(self)
    }

    fn commit(&mut self, _: Position, _: &Outputs) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn write_uncached(&mut self, x: u32, y: u32, _: u32) -> Result<Written, MemoryFault> {
        Err(refused(&format!("element ({x}, {y}) of output 0"), "programs of a draw write no memory"))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}
