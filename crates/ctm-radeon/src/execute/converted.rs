//! Textures as programs look them up: texels of memory, converted.

use super::memory::GpuMemory;
use super::textures::{TextureWords, unsupported};
use crate::Error;
use ctm_draw::layout::ArrayMode;
use ctm_draw::levels::Level;
use ctm_exec::r700::Texture;
use ctm_exec::r700::resources::{AS_THEY_ARE, Image, Levels, TextureKind, texel_of_bytes};
use ctm_exec::r700::surface::{ByteRows, Rows, Surface};
use ctm_isa::r700::ops::Sel;
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

/// The texels of a converted texture, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConvertedTexels {
    Dwords(Levels),
    /// Fractions of 255, as the texels of most textures are: a fourth of the memory.
    Bytes(Levels<[u8; 4]>),
    /// The first numbers, where texels are only compared.
    Firsts(Levels<u32>),
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
            ConvertedTexels::Firsts(levels) => levels.get(level as usize)?.get(at).map(|&first| [first, 0, 0, 0]),
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

    /// The first numbers of the texels of a level, where there are no others.
    pub(super) fn first_numbers(&self, level: u32) -> Option<&[u32]> {
        let ConvertedTexels::Firsts(levels) = &self.texels else { return None };
        levels.get(level as usize)
    }

    /// Bytes of all texels.
    pub(super) fn size_bytes(&self) -> usize {
        match &self.texels {
            ConvertedTexels::Dwords(levels) => size_of_val(levels.texels()),
            ConvertedTexels::Bytes(levels) => size_of_val(levels.texels()),
            ConvertedTexels::Firsts(levels) => size_of_val(levels.texels()),
        }
    }
}

/// The conversion of rows of texels.
enum TexelRows {
    Dwords(Rows),
    Bytes(ByteRows),
    /// Those of the first numbers.
    Firsts(Rows),
    /// Texels share bytes.
    Shared,
}

/// The conversion of a texture's texels: made once for all of its parts.
pub(super) struct Conversion {
    rows: TexelRows,
    selects: [Sel; 4],
    /// Elements of the rows that are being converted.
    elements: Vec<u8>,
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
    /// The conversion of its texels. `compared`: as for [`Self::image`].
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn conversion(&self, compared: bool) -> Result<Conversion, Error> {
        self.conversion_to(compared, true)
    }

    /// The same. `packs`: to smaller texels than four numbers where these say as much.
    fn conversion_to(&self, compared: bool, packs: bool) -> Result<Conversion, Error> {
        if self.mixed_signs {
            return Err(unsupported("textures whose elements have different signs are not read"));
        }
        self.surface.bytes().map_err(unsupported)?;
        let selects = if compared { AS_THEY_ARE } else { self.selects };
        let texture = self.surface.texture().map_err(unsupported)?;
        let texels = |level| texture.size(level).iter().map(|&size| u64::from(size)).product::<u64>();
        let count = (0..self.surface.levels).map(texels).sum::<u64>();
        // Those of one level are mostly pictures of the screen's size, which are read row by row: then caches are ahead of lookups.
        let stays_bytes = packs && !compared && self.surface.levels > 1 && count > MOST_IN_CACHE;
        let rows = match self.surface.rows(selects).map_err(unsupported)? {
            Some(rows) if packs && compared => TexelRows::Firsts(rows),
            Some(rows) => match rows.bytes().filter(|_| stays_bytes) {
                Some(bytes) => TexelRows::Bytes(bytes),
                None => TexelRows::Dwords(rows),
            },
            None => TexelRows::Shared,
        };
        Ok(Conversion { rows, selects, elements: Vec::new() })
    }

    /// The texture with its texels. Texels after the end of memory are 0. `compared`: elements stay in the order of memory, as the first one is
    /// compared before any is selected.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub fn image(&self, memory: &dyn GpuMemory, compared: bool) -> Result<Image, Error> {
        let TextureImage { texture, texels } = self.converted_by(memory, self.conversion_to(compared, false)?)?;
        match texels {
            ConvertedTexels::Dwords(levels) => Ok(Image { texture, levels }),
            ConvertedTexels::Bytes(_) | ConvertedTexels::Firsts(_) => Err(converted_otherwise()),
        }
    }

    /// The same, with texels of bytes where all elements are fractions of 255, and with the first numbers alone where texels are compared.
    ///
    /// # Errors
    /// The texture cannot be read.
    pub(super) fn converted(&self, memory: &dyn GpuMemory, compared: bool) -> Result<TextureImage, Error> {
        self.converted_by(memory, self.conversion(compared)?)
    }

    fn converted_by(&self, memory: &dyn GpuMemory, mut conversion: Conversion) -> Result<TextureImage, Error> {
        let mut texture = self.surface.texture().map_err(unsupported)?;
        let texels = |level| texture.size(level).map(|size| size as usize).iter().product::<usize>();
        let counts: Vec<usize> = (0..self.surface.levels).map(texels).collect();
        let all = (0..self.samples).flat_map(|_| counts.iter().copied());
        let count = counts.iter().sum::<usize>() * self.samples as usize;
        let texels = match conversion.rows {
            TexelRows::Bytes(_) => ConvertedTexels::Bytes(zeros(all, count)),
            TexelRows::Firsts(_) => ConvertedTexels::Firsts(zeros(all, count)),
            TexelRows::Dwords(_) | TexelRows::Shared => ConvertedTexels::Dwords(zeros(all, count)),
        };
        (texture.samples, texture.levels, texture.compared) =
            (self.samples, self.surface.levels * self.samples, self.selects);
        let mut image = TextureImage { texture, texels };
        for (n, (_, level)) in (0..self.surface.levels).zip(self.levels.iter().skip(self.first[0] as usize)) {
            // A few rows at a time, so that their elements stay in a cache until they are converted.
            let height = image.texture.size(n)[1];
            let band = if level.size[1] == height { BAND } else { height.max(1) };
            for slice in 0..self.slices(level) {
                for row in (0..height).step_by(band as usize) {
                    let rows = Some(row..row + band).filter(|_| band < height);
                    self.convert(&mut image, memory, &mut conversion, &ViewElements { level: n, slice, rows })?;
                }
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
        image: &mut TextureImage,
        memory: &dyn GpuMemory,
        conversion: &mut Conversion,
        part: &TexturePart,
    ) -> Result<(), Error> {
        part.place.as_ref().map_or(Ok(()), |place| self.convert(image, memory, conversion, place))
    }

    fn convert(
        &self,
        image: &mut TextureImage,
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
            let of_sample = (sample * self.surface.levels + level) as usize;
            let elements = &mut conversion.elements;
            self.read_rows(memory, sample, (level, slice), rows.clone().unwrap_or(0..u32::MAX), elements);
            let levels = match (&conversion.rows, &mut image.texels) {
                (TexelRows::Bytes(rows), ConvertedTexels::Bytes(levels)) => {
                    let texels = levels.get_mut(of_sample).and_then(|texels| texels.get_mut(first..first + count));
                    texels.into_iter().for_each(|to| rows.write(elements, to));
                    continue;
                }
                (TexelRows::Firsts(rows), ConvertedTexels::Firsts(levels)) => {
                    let texels = levels.get_mut(of_sample).and_then(|texels| texels.get_mut(first..first + count));
                    texels.into_iter().for_each(|to| rows.write_first(elements, to));
                    continue;
                }
                (_, ConvertedTexels::Dwords(levels)) => levels,
                (_, ConvertedTexels::Bytes(_) | ConvertedTexels::Firsts(_)) => return Err(converted_otherwise()),
            };
            let texels = levels.get_mut(of_sample).and_then(|texels| texels.get_mut(first..first + count));
            let Some(to) = texels else { continue };
            if let TexelRows::Dwords(rows) = &conversion.rows {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Buffers;
    use crate::execute::textures::tests::words;
    use ctm_testkit::seeded::Random;

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
            let Ok(mut image) = of.converted(&memory, compared) else { continue };
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
            let whole = of.converted(&memory, compared).unwrap_or_else(|e| panic!("case {case}: {e}"));
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
