//! Textures and samplers, of the words that resources hold.

use super::memory::GpuMemory;
use crate::Error;
use crate::registers::resource;
use crate::table::{from_256, one_bit, signed};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_draw::levels::{Extent, Level, levels};
use ctm_exec::r700::Sampler;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{AS_THEY_ARE, Compare, Filter, Image, Levels, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::surface::{LARGEST, Rows, Surface};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, Sel, SrfMode};
use ctm_isa::table::FieldValue;
use std::ops::Range;

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

/// Rows of a part where rows are contiguous: those of a tile.
const BAND: u32 = 8;

/// A part of a texture's memory that can be converted separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TexturePart {
    /// Which of the [ranges](TextureWords::ranges) holds it.
    pub(super) range: usize,
    /// Its bytes there.
    pub(super) bytes: Range<usize>,
    /// The view's place in memory; `None`: nothing of it exists.
    place: Option<ViewElements>,
}

/// Elements of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ViewElements {
    level: u32,
    slice: u32,
    /// `None`: all.
    rows: Option<Range<u32>>,
}

/// The conversion of a texture's texels: made once for all of its parts.
pub(super) struct Conversion {
    /// Of rows; `None` where texels share bytes.
    rows: Option<Rows>,
    selects: [Sel; 4],
    /// Elements of the rows that are being converted.
    elements: Vec<u8>,
}

fn unsupported(error: impl ToString) -> Error {
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

    /// The conversion of its texels. `compared`: as for [`Self::image`].
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn conversion(&self, compared: bool) -> Result<Conversion, Error> {
        if self.mixed_signs {
            return Err(unsupported("textures whose elements have different signs are not read"));
        }
        self.surface.bytes().map_err(unsupported)?;
        let selects = if compared { AS_THEY_ARE } else { self.selects };
        let rows = self.surface.rows(selects).map_err(unsupported)?;
        Ok(Conversion { rows, selects, elements: Vec::new() })
    }

    /// The texture with its texels. Texels after the end of memory are 0. `compared`: elements stay in the order of memory, as the first one is
    /// compared before any is selected.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub fn image(&self, memory: &dyn GpuMemory, compared: bool) -> Result<Image, Error> {
        let mut conversion = self.conversion(compared)?;
        let mut texture = self.surface.texture().map_err(unsupported)?;
        let texels = |level| texture.size(level).map(|size| size as usize).iter().product::<usize>();
        let counts: Vec<usize> = (0..self.surface.levels).map(texels).collect();
        let mut levels = Levels::with_capacity(counts.iter().sum::<usize>() * self.samples as usize);
        for _ in 0..self.samples {
            counts.iter().for_each(|&count| levels.push(std::iter::repeat_n([0; 4], count)));
        }
        (texture.samples, texture.levels, texture.compared) =
            (self.samples, self.surface.levels * self.samples, self.selects);
        let mut image = Image { texture, levels };
        for (n, (_, level)) in (0..self.surface.levels).zip(self.levels.iter().skip(self.first[0] as usize)) {
            for slice in 0..self.slices(level) {
                self.convert(&mut image, memory, &mut conversion, &ViewElements { level: n, slice, rows: None })?;
            }
        }
        Ok(image)
    }

    /// The parts of the [ranges](Self::ranges) that can be converted separately: rows that are contiguous in memory, or slices.
    pub(super) fn parts(&self) -> Vec<TexturePart> {
        let ranges = self.ranges();
        let mut parts = Vec::new();
        for (n, (address, level)) in (0..).zip(&self.levels) {
            let range = usize::from(n > 0);
            let slice_bytes = level.layout.slice_bytes();
            let in_view = u32::checked_sub(n, self.first[0]);
            let height = (self.surface.height >> in_view.unwrap_or(0)).max(1);
            let band = level.layout.bytes_of_rows(BAND).filter(|_| self.samples == 1 && level.size[1] == height);
            let slices = self.slices(level);
            for slice in 0..level.slices {
                let slice_in_view = slice.checked_sub(self.first[1]).filter(|&slice| slice < slices);
                let place = in_view.zip(slice_in_view);
                let start = address.wrapping_sub(ranges[range].0) + slice_bytes * u64::from(slice);
                let bytes = band.unwrap_or(slice_bytes).max(1);
                for (row, from) in (0..).step_by(BAND as usize).zip((0..slice_bytes).step_by(bytes as usize)) {
                    let rows = band.map(|_| row..row + BAND);
                    let to = (from + bytes).min(slice_bytes);
                    let of = [start + from, start + to].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                    parts.push(TexturePart {
                        range,
                        bytes: of[0]..of[1],
                        place: place.map(|(level, slice)| ViewElements { level, slice, rows }),
                    });
                }
            }
        }
        parts
    }

    /// Converts a part again.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn convert_part(
        &self,
        image: &mut Image,
        memory: &dyn GpuMemory,
        conversion: &mut Conversion,
        part: &TexturePart,
    ) -> Result<(), Error> {
        part.place.as_ref().map_or(Ok(()), |place| self.convert(image, memory, conversion, place))
    }

    fn convert(
        &self,
        image: &mut Image,
        memory: &dyn GpuMemory,
        conversion: &mut Conversion,
        place: &ViewElements,
    ) -> Result<(), Error> {
        let &ViewElements { level, slice, ref rows } = place;
        let [width, height, _] = image.texture.size(level);
        let texels = rows.clone().map_or(0..height, |rows| rows.start.min(height)..rows.end.min(height));
        let lines = texels.end - texels.start;
        if lines == 0 {
            return Ok(());
        }
        let first = (slice as usize * height as usize + texels.start as usize) * width as usize;
        let count = width as usize * lines as usize;
        for sample in 0..self.samples {
            let of_level = image.levels.get_mut((sample * self.surface.levels + level) as usize);
            let Some(to) = of_level.and_then(|texels| texels.get_mut(first..first + count)) else { continue };
            let elements = &mut conversion.elements;
            self.read_rows(memory, sample, (level, slice), rows.clone().unwrap_or(0..u32::MAX), elements);
            if let Some(rows) = &conversion.rows {
                rows.write(elements, to);
                continue;
            }
            let (kind, selects) = (TextureKind::TwoD, conversion.selects);
            let surface = Surface { kind, width, height: lines, depth: 1, levels: 1, ..self.surface };
            let found = surface.image(elements).map_err(unsupported)?;
            to.copy_from_slice(found.levels.texels());
            if selects != AS_THEY_ARE {
                to.iter_mut().for_each(|texel| *texel = self.selected(selects, *texel));
            }
        }
        Ok(())
    }

    /// Slices of a level that the view has.
    fn slices(&self, level: &Level) -> u32 {
        if self.surface.kind == TextureKind::ThreeD { level.size[2] } else { self.surface.depth }
    }

    /// Reads the elements of rows of one sample: of a level and a slice of the view. Those after the end of memory are 0.
    fn read_rows(
        &self,
        memory: &dyn GpuMemory,
        sample: u32,
        (level, slice): (u32, u32),
        part: Range<u32>,
        to: &mut Vec<u8>,
    ) {
        to.clear();
        let Some((address, level)) = self.levels.get((self.first[0] + level) as usize) else { return };
        let (layout, slice) = (&level.layout, slice + self.first[1]);
        let (bytes, slice_bytes) = (layout.element_bytes as usize, layout.slice_bytes());
        let (columns, lines) = (level.size[0], part.start..level.size[1].min(part.end));
        let row_bytes = columns as usize * bytes;
        to.resize(row_bytes * lines.len(), 0);
        if to.is_empty() {
            return;
        }
        // A slice of 2D tiles is contiguous, so each is found by itself.
        let before = slice_bytes * u64::from(slice);
        let whole = memory.bytes(address.saturating_add(before), slice_bytes);
        let rows = to.chunks_exact_mut(row_bytes).zip(lines.clone());
        match (whole, layout.tile(sample)) {
            (Some(whole), _) if layout.mode == ArrayMode::Linear && layout.samples == 1 => {
                for (row, y) in rows {
                    let from = (u64::from(y) * u64::from(layout.pitch)) as usize * bytes;
                    if let Some(elements) = whole.get(from..from + row_bytes) {
                        row.copy_from_slice(elements);
                    }
                }
            }
            (Some(whole), Some(tile)) => {
                let of_tile = |x: u32, y: u32| (layout.offset(x, y / 8 * 8, slice, sample) - before) as usize;
                match bytes {
                    1 => untile::<1>(whole, &tile, lines, to, of_tile),
                    2 => untile::<2>(whole, &tile, lines, to, of_tile),
                    4 => untile::<4>(whole, &tile, lines, to, of_tile),
                    8 => untile::<8>(whole, &tile, lines, to, of_tile),
                    _ => untile::<16>(whole, &tile, lines, to, of_tile),
                }
            }
            _ => {
                for (row, y) in rows {
                    for (element, x) in row.chunks_exact_mut(bytes).zip(0..) {
                        let at = address.saturating_add(layout.offset(x, y, slice, sample));
                        if let Some(found) = memory.bytes(at, bytes as u64) {
                            element.copy_from_slice(found);
                        }
                    }
                }
            }
        }
    }

    /// The elements that a resource selects.
    fn selected(&self, selects: [Sel; 4], from: [u32; 4]) -> [u32; 4] {
        selects.map(|select| match select {
            Sel::X => from[0],
            Sel::Y => from[1],
            Sel::Z => from[2],
            Sel::W => from[3],
            Sel::One => self.surface.one(),
            Sel::Zero | Sel::Mask => 0,
        })
    }
}

/// Copies elements of `BYTES` bytes out of tiles of 8x8 into consecutive rows. `tile`: the offsets of a tile's elements from its first one;
/// `first`: the offset in the slice of the tile with a column and row. Elements after the slice's end stay.
fn untile<const BYTES: usize>(
    slice: &[u8],
    tile: &[u32; 64],
    lines: Range<u32>,
    to: &mut [u8],
    first: impl Fn(u32, u32) -> usize,
) {
    let to = to.as_chunks_mut::<BYTES>().0;
    let columns = to.len() / lines.len().max(1);
    let mut y = lines.start;
    while y < lines.end {
        // Rows of this tile.
        let end = (y / 8 * 8 + 8).min(lines.end);
        for (x, column) in (0..).step_by(8).zip((0..columns).step_by(8)) {
            let elements = slice.get(first(x, y)..).unwrap_or_default();
            let count = (columns - column).min(8);
            for y in y..end {
                let row = &mut to[(y - lines.start) as usize * columns + column..][..count];
                let places = &tile[y as usize % 8 * 8..][..8];
                for (element, &place) in row.iter_mut().zip(places) {
                    if let Some(found) = elements.get(place as usize..).and_then(|rest| rest.first_chunk()) {
                        *element = *found;
                    }
                }
            }
        }
        y = end;
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
    use super::*;
    use crate::execute::Buffers;
    use crate::registers::resource::{
        SQ_TEX_RESOURCE_WORD0_0 as Word0, SQ_TEX_RESOURCE_WORD1_0 as Word1, SQ_TEX_RESOURCE_WORD4_0 as Word4,
        SQ_TEX_RESOURCE_WORD5_0 as Word5,
    };
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

    #[test]
    fn parts_that_change_are_converted_as_the_whole_is() {
        let mut r = Random::new(1);
        let (mut bands, mut slices, mut kept) = (0, 0, 0);
        for case in 0..400 {
            let words = words(&mut r);
            let Ok(of) = TextureWords::of(&words) else { continue };
            let mut memory = Buffers::default();
            memory.insert(0, (0..1 << 20).map(|_| r.below(256) as u8).collect());
            memory.insert(1 << 20, (0..1 << 20).map(|_| r.below(256) as u8).collect());
            let compared = r.below(4) == 0;
            let Ok(mut image) = of.image(&memory, compared) else { continue };
            let Ok(mut conversion) = of.conversion(compared) else { continue };
            let mut before = memory.clone();
            for (address, bytes) in of.ranges() {
                for _ in 0..3 {
                    let at = address + r.below(bytes.max(1) as usize) as u64;
                    if let Some(byte) = memory.bytes_mut(at, 1) {
                        byte[0] ^= 0xff;
                    }
                }
            }
            for part in of.parts() {
                let start = of.ranges()[part.range].0 + part.bytes.start as u64;
                let length = part.bytes.len() as u64;
                let same = memory.bytes(start, length) == before.bytes(start, length);
                kept += u32::from(same);
                if !same {
                    of.convert_part(&mut image, &memory, &mut conversion, &part)
                        .unwrap_or_else(|e| panic!("case {case}: {e}"));
                    let rows = part.place.as_ref().map(|place| place.rows.is_some());
                    bands += u32::from(rows == Some(true));
                    slices += u32::from(rows == Some(false));
                    let new = memory.bytes(start, length).map(<[u8]>::to_vec);
                    if let (Some(old), Some(new)) = (before.bytes_mut(start, length), new) {
                        old.copy_from_slice(&new);
                    }
                }
            }
            let whole = of.image(&memory, compared).unwrap_or_else(|e| panic!("case {case}: {e}"));
            assert!(image == whole, "case {case}: {of:?}");
            for (address, bytes) in of.ranges() {
                assert_eq!(
                    memory.bytes(address, bytes),
                    before.bytes(address, bytes),
                    "case {case}: every byte is in a part"
                );
            }
        }
        assert!(bands > 50 && slices > 50 && kept > 500, "{bands} {slices} {kept}");
    }
}
