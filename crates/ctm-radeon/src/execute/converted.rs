//! Textures as programs look them up: texels of memory, converted.

use super::memory::GpuMemory;
use super::textures::{TextureWords, unsupported};
use super::untile::untile;
use crate::Error;
use crate::registers::resource;
use crate::table::bit;
use ctm_draw::layout::ArrayMode;
use ctm_draw::levels::Level;
use ctm_exec::r700::Texture;
use ctm_exec::r700::resources::{
    AS_THEY_ARE, Image, Levels, NumberConstants, NumberTexels, TextureKind, texel_of_bytes,
};
use ctm_exec::r700::surface::{ByteRows, Rows, Surface};
use ctm_isa::r700::ops::Sel;
use rayon::prelude::*;
use std::ops::Range;

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

/// The most texels whose dwords fit a cache of 512 KB: to convert bytes at each lookup takes longer than to load from there, but not as long as from elsewhere.
const MOST_IN_CACHE: u64 = if cfg!(test) { 1 << 9 } else { 1 << 15 };

/// The number of bytes or texels from which on several threads convert, and the least number of parts for one of them.
const LEAST_PARALLEL: usize = if cfg!(test) { 1 << 8 } else { 1 << 16 };
const PARTS_TOGETHER: usize = 4;

/// The parts of texels that draws read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadTexels {
    /// They only compare them: elements are in the order of memory.
    Compared,
    /// These selected elements: bit 0 is x.
    Elements(u8),
}

impl ReadTexels {
    /// All of them.
    pub(super) const WHOLE: Self = Self::Elements(0b1111);

    /// These elements of a texture, or all of them where these are not one element of memory.
    pub(super) fn of(words: &[u32; 7], elements: u8) -> Self {
        use resource::SQ_TEX_RESOURCE_WORD4_0 as Word4;
        let all = [Word4::DST_SEL_X, Word4::DST_SEL_Y, Word4::DST_SEL_Z, Word4::DST_SEL_W];
        let used = (0..).zip(all).filter(|&(n, _)| bit(elements.into(), n));
        let mut selects = used.map(|(_, bits)| resource::field(words, bits));
        match selects.next() {
            Some(first) if selects.all(|select| select == first) => Self::Elements(elements),
            _ => Self::WHOLE,
        }
    }

    /// Whether they are compared.
    const fn are_compared(self) -> bool {
        matches!(self, Self::Compared)
    }
}

/// The texels of a converted texture, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConvertedTexels {
    Dwords(Levels),
    /// Fractions of 255, as the texels of most textures are: a fourth of the memory.
    Bytes(Levels<[u8; 4]>),
    /// One number each, or those that are read: the first ones, where texels are only compared.
    Numbers(Levels<u32>, NumberConstants),
}

/// Texels that follow each other, for writing.
enum TexelsMut<'t> {
    Dwords(&'t mut [[u32; 4]]),
    Bytes(&'t mut [[u8; 4]]),
    Numbers(&'t mut [u32]),
}

impl<'t> TexelsMut<'t> {
    /// The first `count` of them, and the others.
    fn split(self, count: usize) -> [Self; 2] {
        fn halves<T>(of: &mut [T], count: usize) -> (&mut [T], &mut [T]) {
            let count = count.min(of.len());
            of.split_at_mut(count)
        }
        match self {
            Self::Dwords(of) => <[_; 2]>::from(halves(of, count)).map(Self::Dwords),
            Self::Bytes(of) => <[_; 2]>::from(halves(of, count)).map(Self::Bytes),
            Self::Numbers(of) => <[_; 2]>::from(halves(of, count)).map(Self::Numbers),
        }
    }
}

/// A converted texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextureImage {
    pub(super) texture: Texture,
    texels: ConvertedTexels,
}

impl From<Image> for TextureImage {
    fn from(Image { texture, levels }: Image) -> Self {
        Self { texture, texels: ConvertedTexels::Dwords(levels) }
    }
}

impl TextureImage {
    /// A texel of a level; `None` outside.
    pub(super) fn texel(&self, level: u32, [x, y, z]: [u32; 3]) -> Option<[u32; 4]> {
        let [width, height, _] = self.texture.size(level);
        let at = (z as usize * height as usize + y as usize) * width as usize + x as usize;
        match &self.texels {
            ConvertedTexels::Dwords(levels) => levels.get(level as usize)?.get(at).copied(),
            ConvertedTexels::Bytes(levels) => levels.get(level as usize)?.get(at).copied().map(texel_of_bytes),
            ConvertedTexels::Numbers(levels, constants) => {
                let number = levels.get(level as usize)?.get(at)?;
                Some(NumberTexels::texel(*constants, *number))
            }
        }
    }

    /// The texels of a level that are not bytes.
    pub(super) fn dwords(&self, level: u32) -> Option<&[[u32; 4]]> {
        let ConvertedTexels::Dwords(levels) = &self.texels else { return None };
        levels.get(level as usize)
    }

    /// The texels of a level that are bytes.
    pub(super) fn bytes(&self, level: u32) -> Option<&[[u8; 4]]> {
        let ConvertedTexels::Bytes(levels) = &self.texels else { return None };
        levels.get(level as usize)
    }

    /// The texels of a level that are one number each.
    pub(super) fn numbers(&self, level: u32) -> Option<NumberTexels<'_>> {
        let ConvertedTexels::Numbers(levels, constants) = &self.texels else { return None };
        Some(NumberTexels { numbers: levels.get(level as usize)?, constants: *constants })
    }

    /// Bytes of all texels.
    pub(super) fn size_bytes(&self) -> usize {
        match &self.texels {
            ConvertedTexels::Dwords(levels) => size_of_val(levels.texels()),
            ConvertedTexels::Bytes(levels) => size_of_val(levels.texels()),
            ConvertedTexels::Numbers(levels, _) => size_of_val(levels.texels()),
        }
    }

    /// The texels of all levels.
    fn all_mut(&mut self) -> TexelsMut<'_> {
        match &mut self.texels {
            ConvertedTexels::Dwords(levels) => TexelsMut::Dwords(levels.texels_mut()),
            ConvertedTexels::Bytes(levels) => TexelsMut::Bytes(levels.texels_mut()),
            ConvertedTexels::Numbers(levels, _) => TexelsMut::Numbers(levels.texels_mut()),
        }
    }
}

/// The conversion of rows of texels.
enum TexelRows {
    Dwords(Rows),
    Bytes(ByteRows),
    /// Those of numbers: of this element.
    Numbers(Rows, usize, NumberConstants),
    /// Texels share bytes.
    Shared,
}

/// Smaller texels than four numbers that a conversion may give, where these say as much.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packed {
    Nothing,
    Bytes,
    BytesAndNumbers,
}

/// The conversion of a texture's texels: made once for all of its parts.
pub(super) struct Conversion {
    rows: TexelRows,
    selects: [Sel; 4],
    /// Rows are converted on one thread.
    one_thread: bool,
}

/// Levels of texels that are zero, and the count of all.
fn zeros<T: Copy + Default>(counts: impl Iterator<Item = usize>, all: usize) -> Levels<T> {
    let mut levels = Levels::with_capacity(all);
    counts.for_each(|count| levels.push(std::iter::repeat_n(T::default(), count)));
    levels
}

fn converted_otherwise() -> Error {
    unsupported("its texels are converted in another way")
}

impl TextureWords {
    /// The conversion of its texels for a way to read them.
    ///
    /// # Errors
    /// The texture cannot be read.
    fn conversion(&self, read: ReadTexels, packed: Packed, one_thread: bool) -> Result<Conversion, Error> {
        if self.mixed_signs {
            return Err(unsupported("textures whose elements have different signs are not read"));
        }
        self.surface.bytes().map_err(unsupported)?;
        let compared = read.are_compared();
        let selects = if compared { AS_THEY_ARE } else { self.selects };
        let texture = self.surface.texture().map_err(unsupported)?;
        let texels = |level| texture.size(level).iter().map(|&size| u64::from(size)).product::<u64>();
        let count = (0..self.surface.levels).map(texels).sum::<u64>();
        // Those of one level are mostly pictures of the screen's size, which are read row by row: then caches are ahead of lookups.
        let stays_bytes = packed != Packed::Nothing && !compared && self.surface.levels > 1 && count > MOST_IN_CACHE;
        let number = |rows: &Rows| match packed {
            Packed::BytesAndNumbers => match read {
                ReadTexels::Compared => Some((0, [None; 4])),
                ReadTexels::Elements(elements) => rows.number(elements),
            },
            Packed::Nothing | Packed::Bytes => None,
        };
        let rows = match self.surface.rows(selects).map_err(unsupported)? {
            Some(rows) => match (number(&rows), rows.bytes().filter(|_| stays_bytes)) {
                (Some((element, constants)), _) => TexelRows::Numbers(rows, element, constants),
                (None, Some(bytes)) => TexelRows::Bytes(bytes),
                (None, None) => TexelRows::Dwords(rows),
            },
            None => TexelRows::Shared,
        };
        Ok(Conversion { rows, selects, one_thread })
    }

    /// The texture with its texels. Texels after the end of memory are 0. `compared`: elements stay in the order of memory, as the first one is
    /// compared before any is selected.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub fn image(&self, memory: &dyn GpuMemory, compared: bool) -> Result<Image, Error> {
        let read = if compared { ReadTexels::Compared } else { ReadTexels::WHOLE };
        let conversion = self.conversion(read, Packed::Nothing, true)?;
        let TextureImage { texture, texels } = self.converted_by(memory, &conversion)?;
        match texels {
            ConvertedTexels::Dwords(levels) => Ok(Image { texture, levels }),
            ConvertedTexels::Bytes(_) | ConvertedTexels::Numbers(..) => Err(converted_otherwise()),
        }
    }

    /// The same, with texels of bytes where all elements are fractions of 255, and with one number where texels have no more, or are only compared.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn converted(
        &self,
        memory: &dyn GpuMemory,
        read: ReadTexels,
        one_thread: bool,
    ) -> Result<TextureImage, Error> {
        self.converted_by(memory, &self.conversion(read, Packed::BytesAndNumbers, one_thread)?)
    }

    /// The same with texels of four numbers or bytes.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn converted_to_bytes(&self, memory: &dyn GpuMemory) -> Result<TextureImage, Error> {
        self.converted_by(memory, &self.conversion(ReadTexels::WHOLE, Packed::Bytes, true)?)
    }

    fn converted_by(&self, memory: &dyn GpuMemory, conversion: &Conversion) -> Result<TextureImage, Error> {
        let mut texture = self.surface.texture().map_err(unsupported)?;
        let texels = |level| texture.size(level).map(|size| size as usize).iter().product::<usize>();
        let counts: Vec<usize> = (0..self.surface.levels).map(texels).collect();
        let all = (0..self.samples).flat_map(|_| counts.iter().copied());
        let count = counts.iter().sum::<usize>() * self.samples as usize;
        let texels = match conversion.rows {
            TexelRows::Bytes(_) => ConvertedTexels::Bytes(zeros(all, count)),
            TexelRows::Numbers(_, _, constants) => ConvertedTexels::Numbers(zeros(all, count), constants),
            TexelRows::Dwords(_) | TexelRows::Shared => ConvertedTexels::Dwords(zeros(all, count)),
        };
        (texture.samples, texture.levels, texture.compared) =
            (self.samples, self.surface.levels * self.samples, self.selects);
        let mut image = TextureImage { texture, texels };
        let mut places = Vec::new();
        for (n, (_, level)) in (0..self.surface.levels).zip(self.levels.iter().skip(self.first[0] as usize)) {
            // A few rows at a time, so that their elements stay in a cache until they are converted.
            let height = image.texture.size(n)[1];
            let band = if level.size[1] == height { BAND } else { height.max(1) };
            for slice in 0..self.slices(level) {
                for row in (0..height).step_by(band as usize) {
                    let rows = Some(row..row + band).filter(|_| band < height);
                    places.push(ViewElements { level: n, slice, rows });
                }
            }
        }
        self.convert(&mut image, memory, conversion, &places)?;
        Ok(image)
    }

    /// Converts those parts again for which `old` has other bytes than memory, and brings these up to date; `old`: the bytes of both [ranges](Self::ranges).
    /// Returns whether it could.
    pub(super) fn refresh(
        &self,
        image: &mut TextureImage,
        memory: &dyn GpuMemory,
        (read, one_thread): (ReadTexels, bool),
        old: [&mut [u8]; 2],
    ) -> bool {
        let Ok(conversion) = self.conversion(read, Packed::BytesAndNumbers, one_thread) else { return false };
        let addresses = self.ranges().map(|range| range.0);
        let bytes = |part: &TexturePart| {
            let address = addresses[part.range].checked_add(part.bytes.start as u64)?;
            memory.bytes(address, part.bytes.len() as u64)
        };
        let is_old = |part: &TexturePart| match (old[part.range].get(part.bytes.clone()), bytes(part)) {
            (Some(old), Some(new)) => Some(old != new),
            _ => None,
        };
        let parts = self.parts();
        let size = parts.iter().map(|part| part.bytes.len()).sum::<usize>();
        let found: Vec<Option<bool>> = if one_thread || size < LEAST_PARALLEL {
            parts.iter().map(is_old).collect()
        } else {
            parts.par_iter().with_min_len(PARTS_TOGETHER).map(is_old).collect()
        };
        if found.contains(&None) {
            return false;
        }
        let changed: Vec<&TexturePart> =
            parts.iter().zip(found).filter(|of| of.1 == Some(true)).map(|of| of.0).collect();
        let places: Vec<ViewElements> = changed.iter().filter_map(|part| part.place.clone()).collect();
        if self.convert(image, memory, &conversion, &places).is_err() {
            return false;
        }
        for part in changed {
            if let (Some(old), Some(new)) = (old[part.range].get_mut(part.bytes.clone()), bytes(part)) {
                old.copy_from_slice(new);
            }
        }
        true
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

    /// Converts elements of the view, each once.
    fn convert(
        &self,
        image: &mut TextureImage,
        memory: &dyn GpuMemory,
        conversion: &Conversion,
        places: &[ViewElements],
    ) -> Result<(), Error> {
        let (levels, texture) = (self.surface.levels, image.texture);
        let counts = (0..levels).map(|level| texture.size(level).map(|size| size as usize).iter().product::<usize>());
        let counts: Vec<usize> = counts.collect();
        let first = |sample: u32, level: u32| {
            counts.iter().sum::<usize>() * sample as usize + counts[..level as usize].iter().sum::<usize>()
        };
        // The first texel of each place and sample, and their count.
        let mut wanted = Vec::with_capacity(places.len() * self.samples as usize);
        for place in places {
            let [width, height, _] = texture.size(place.level);
            let rows = place.rows.clone().map_or(0..height, |rows| rows.start.min(height)..rows.end.min(height));
            let before = (place.slice as usize * height as usize + rows.start as usize) * width as usize;
            for sample in 0..self.samples {
                wanted.push((first(sample, place.level) + before, width as usize * rows.len(), sample, place));
            }
        }
        wanted.sort_unstable_by_key(|of| of.0);
        let size = wanted.iter().map(|of| of.1).sum::<usize>();
        let (mut rest, mut at) = (image.all_mut(), 0);
        let mut parts = Vec::with_capacity(wanted.len());
        for (start, count, sample, place) in wanted {
            let [_, from] = rest.split(start - at);
            let [to, after] = from.split(count);
            parts.push((to, sample, place));
            (rest, at) = (after, start + count);
        }
        let each = |elements: &mut Vec<u8>, (to, sample, place): (TexelsMut<'_>, u32, &ViewElements)| {
            self.convert_rows(to, memory, conversion, (place, sample), elements)
        };
        if conversion.one_thread || size < LEAST_PARALLEL {
            let mut elements = Vec::new();
            return parts.into_iter().try_for_each(|part| each(&mut elements, part));
        }
        parts.into_par_iter().with_min_len(PARTS_TOGETHER).map_init(Vec::new, each).collect()
    }

    /// Converts elements of the view in one sample. `elements`: memory for them.
    fn convert_rows(
        &self,
        to: TexelsMut<'_>,
        memory: &dyn GpuMemory,
        conversion: &Conversion,
        (&ViewElements { level, slice, ref rows }, sample): (&ViewElements, u32),
        elements: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.read_rows(memory, sample, (level, slice), rows.clone().unwrap_or(0..u32::MAX), elements);
        let to = match (&conversion.rows, to) {
            (TexelRows::Bytes(rows), TexelsMut::Bytes(to)) => {
                rows.write(elements, to);
                return Ok(());
            }
            (TexelRows::Numbers(rows, element, _), TexelsMut::Numbers(to)) => {
                rows.write_numbers(*element, elements, to);
                return Ok(());
            }
            (TexelRows::Dwords(rows), TexelsMut::Dwords(to)) => {
                rows.write(elements, to);
                return Ok(());
            }
            (TexelRows::Shared, TexelsMut::Dwords(to)) => to,
            (_, _) => return Err(converted_otherwise()),
        };
        let [width, ..] = self.surface.texture().map_err(unsupported)?.size(level);
        if to.is_empty() {
            return Ok(());
        }
        let (kind, selects, lines) = (TextureKind::TwoD, conversion.selects, (to.len() as u32) / width);
        let surface = Surface { kind, width, height: lines, depth: 1, levels: 1, ..self.surface };
        let found = surface.image(elements).map_err(unsupported)?;
        to.copy_from_slice(found.levels.texels());
        if selects != AS_THEY_ARE {
            to.iter_mut().for_each(|texel| *texel = self.selected(selects, *texel));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Buffers;
    use crate::execute::textures::tests::words;
    use ctm_testkit::seeded::Random;

    #[test]
    fn parts_that_change_are_converted_as_the_whole_is() {
        let mut r = Random::new(1);
        let (mut bands, mut slices, mut kept, mut refreshed) = (0, 0, 0, 0);
        for case in 0..400 {
            let words = words(&mut r);
            let Ok(of) = TextureWords::of(&words) else { continue };
            let mut memory = Buffers::default();
            memory.insert(0, (0..1 << 20).map(|_| r.below(256) as u8).collect());
            memory.insert(1 << 20, (0..1 << 20).map(|_| r.below(256) as u8).collect());
            let read = match r.below(4) {
                0 => ReadTexels::Compared,
                1 => ReadTexels::of(&words, 1 + r.below(15) as u8),
                _ => ReadTexels::WHOLE,
            };
            let Ok(mut image) = of.converted(&memory, read, true) else { continue };
            let before = memory.clone();
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
                let rows = part.place.as_ref().map(|place| place.rows.is_some());
                kept += u32::from(same);
                bands += u32::from(!same && rows == Some(true));
                slices += u32::from(!same && rows == Some(false));
            }
            let [mut first, mut second] =
                of.ranges().map(|(address, length)| before.bytes(address, length).unwrap_or_default().to_vec());
            if of.refresh(&mut image, &memory, (read, case % 2 == 0), [&mut first, &mut second]) {
                for ((address, bytes), old) in of.ranges().into_iter().zip([first, second]) {
                    assert_eq!(memory.bytes(address, bytes), Some(&old[..]), "case {case}: every byte is in a part");
                }
            } else {
                continue;
            }
            refreshed += 1;
            let whole = of.converted(&memory, read, true).unwrap_or_else(|e| panic!("case {case}: {e}"));
            assert!(image == whole, "case {case}: {of:?}");
        }
        assert!(refreshed > 100, "{refreshed}");
        assert!(bands > 50 && slices > 50 && kept > 500, "{bands} {slices} {kept}");
    }
}
