//! Resources of programs: constant buffers, buffers, textures and samplers; and the targets of draws.

use super::converted::TextureImage;
use super::memory::{GpuMemory, available};
use super::programs::Lookup;
use super::registers::Registers;
use super::set::Set;
use super::surfaces::Surfaces;
use super::textures::{TextureWords, array_mode, element, sampler};
use crate::Error;
use crate::registers::resource::{VALID_BUFFER, VALID_TEXTURE, kind_of};
use crate::registers::{colour, resource, texture};
use crate::table::{bit, set_bits};
use ctm_draw::layout::{ArrayMode, Layout, Tiling};
use ctm_exec::engine::{MemoryFault, Position};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::{Buffer, Exports, Memory, NumberTexels, Sampler, Space, Texture, VertexEvent, Written};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, SrfMode};
use ctm_isa::table::FieldValue;
use std::sync::Arc;

/// The words of a buffer, decoded.
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
        let of = |bits| resource::field(words, bits);
        let format = Format {
            data: DataFormat::from_bits(of(Word2::DATA_FORMAT)).unwrap_or(DataFormat::FmtInvalid),
            numbers: NumFormat::from_bits(of(Word2::NUM_FORMAT_ALL)).unwrap_or(NumFormat::Norm),
            sign: FormatComp::from_bits(of(Word2::FORMAT_COMP_ALL)).unwrap_or(FormatComp::Unsigned),
            srf: SrfMode::from_bits(of(Word2::SRF_MODE_ALL)).unwrap_or(SrfMode::ZeroClampMinusOne),
            endian: EndianSwap::from_bits(of(Word2::ENDIAN_SWAP)).unwrap_or(EndianSwap::None),
        };
        // A buffer ends with a whole dword: drivers give the bytes of the last attribute, and fetch three small elements of it as four.
        let size_bytes = (u64::from(words[1]) + 1).next_multiple_of(4);
        Self {
            address: resource::buffer_address(words),
            buffer: Buffer { size_bytes, stride_bytes: of(Word2::STRIDE), format },
        }
    }
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

/// The resources of one program.
pub(super) struct Bound<'m> {
    constants: [Option<&'m [u8]>; 16],
    buffers: Vec<(u8, Buffer, &'m [u8])>,
    textures: Vec<(u8, Arc<TextureImage>)>,
    samplers: Vec<(u8, Sampler)>,
}

/// The resources that a program names.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) banks: u16,
    pub(super) buffers: Vec<u8>,
    pub(super) textures: Vec<Lookup>,
}

/// The ranges of memory that the program reads, so that cached targets in them can be written back before.
pub(super) fn ranges(registers: &Registers, set: Set, wanted: &Wanted, surfaces: &mut Surfaces) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for bank in set_bits(wanted.banks.into()) {
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
        if kind_of(&words) == VALID_TEXTURE {
            all.extend(surfaces.ranges_of(&words).into_iter().flatten());
        }
    }
    all
}

impl Wanted {
    /// Whether lookups only compare the texels of a texture, and the elements that they return. A texture has one form in a program: if some lookups compare and
    /// others do not, its selected elements are compared.
    fn reads_of(&self, texture: u8) -> (bool, u8) {
        let lookups = || self.textures.iter().filter(|lookup| lookup.texture == texture);
        (lookups().all(|lookup| lookup.compares), lookups().fold(0, |all, lookup| all | lookup.elements))
    }
}

/// The textures of a program's lookups, converted; converted ones are reused.
pub(super) fn convert_textures(
    registers: &Registers,
    set: Set,
    wanted: &Wanted,
    memory: &dyn GpuMemory,
    surfaces: &mut Surfaces,
) -> Result<Vec<(u8, Arc<TextureImage>)>, Error> {
    let mut all = Vec::new();
    for &Lookup { texture: id, .. } in &wanted.textures {
        let words = registers.resource(set.first_resource() + u32::from(id));
        if kind_of(&words) != VALID_TEXTURE {
            continue;
        }
        let (compared, elements) = wanted.reads_of(id);
        let read = surfaces.read(&words, compared, elements);
        if let Some(image) = surfaces.texture(memory, &words, read) {
            all.push((id, image));
            continue;
        }
        let named = |error: Error| Error::new(error.kind, format!("texture {id}: {}", error.message));
        let of = TextureWords::of(&words).map_err(named)?;
        let image = of.converted(memory, read, surfaces.one_thread).map_err(named)?;
        let image = Arc::new(image);
        all.push((id, image.clone()));
        surfaces.keep_texture(memory, (words, read), of.ranges(), image);
    }
    Ok(all)
}

/// The resources of one program as registers say, with places in memory.
pub(super) struct PlacedResources {
    /// Addresses and sizes of constant buffers.
    constants: [Option<(u64, u64)>; 16],
    /// Buffers and their addresses.
    buffers: Vec<(u8, Buffer, u64)>,
    textures: Vec<(u8, Arc<TextureImage>)>,
    samplers: Vec<(u8, Sampler)>,
}

impl PlacedResources {
    /// Those of a program of a set.
    pub(super) fn of(
        registers: &Registers,
        set: Set,
        wanted: &Wanted,
        textures: &[(u8, Arc<TextureImage>)],
    ) -> Result<Self, Error> {
        let textures = textures.to_vec();
        let mut placed = Self { constants: [None; 16], buffers: Vec::new(), textures, samplers: Vec::new() };
        for (bank, place) in (0u32..).zip(&mut placed.constants) {
            if bit(wanted.banks.into(), bank) {
                *place = Some(set.constants(registers, bank)).filter(|(_, size)| *size > 0);
            }
        }
        for &id in &wanted.buffers {
            let words = registers.resource(set.first_resource() + u32::from(id));
            if kind_of(&words) == VALID_BUFFER {
                let BufferWords { address, buffer } = BufferWords::of(&words);
                placed.buffers.push((id, buffer, address));
            }
        }
        // UNVERIFIED: drivers leave the bit set when only vertex programs look up cubes, whose filters have to cross edges then (OpenGL ES 3.0 §3.8.10), and
        // cards do it.
        let seamless = set != Set::Pixel || !registers.flag(texture::TA_CNTL_AUX::DISABLE_CUBE_WRAP);
        // Borders are not swizzled as texels are: drivers give the returned value.
        for &Lookup { sampler: sampler_id, .. } in &wanted.textures {
            let words = registers.sampler(set.first_sampler() + u32::from(sampler_id));
            let border = border(registers, set, u32::from(sampler_id));
            let of = sampler(&words, border, seamless)
                .map_err(|error| Error::new(error.kind, format!("sampler {sampler_id}: {}", error.message)))?;
            placed.samplers.push((sampler_id, of));
        }
        Ok(placed)
    }

    /// With their bytes.
    pub(super) fn bound<'m>(&self, memory: &'m dyn GpuMemory) -> Bound<'m> {
        let constants = self.constants.map(|place| place.and_then(|(address, size)| available(memory, address, size)));
        let with_bytes = |&(id, buffer, address): &(u8, Buffer, u64)| {
            let bytes = available(memory, address, buffer.size_bytes).unwrap_or_default();
            (id, Buffer { size_bytes: bytes.len() as u64, ..buffer }, bytes)
        };
        let buffers = self.buffers.iter().map(with_bytes).collect();
        Bound { constants, buffers, textures: self.textures.clone(), samplers: self.samplers.clone() }
    }
}

impl<'m> Bound<'m> {
    /// The resources of a program of a set.
    pub(super) fn new(
        registers: &Registers,
        set: Set,
        wanted: &Wanted,
        memory: &'m dyn GpuMemory,
        textures: &[(u8, Arc<TextureImage>)],
    ) -> Result<Self, Error> {
        Ok(PlacedResources::of(registers, set, wanted, textures)?.bound(memory))
    }

    /// Binds a buffer with other bytes than those of memory.
    pub(super) fn bind(&mut self, id: u8, buffer: Buffer, bytes: &'m [u8]) {
        self.buffers.push((id, Buffer { size_bytes: bytes.len() as u64, ..buffer }, bytes));
    }

    fn buffer_of(&self, id: u8) -> Option<&(u8, Buffer, &'m [u8])> {
        self.buffers.iter().find(|of| of.0 == id)
    }

    fn image(&self, id: u8) -> Option<&TextureImage> {
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
            for (element, bytes) in value.iter_mut().zip(four.as_chunks().0) {
                *element = u32::from_le_bytes(*bytes);
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

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let texel = self.image(id).and_then(|image| image.texel(level, at));
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
        self.image(id)?.dwords(level)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.image(id)?.bytes(level)
    }

    fn number_texels(&self, id: u8, level: u32) -> Option<NumberTexels<'_>> {
        self.image(id)?.numbers(level)
    }
}

/// The place and format of a colour target.
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

    /// Cuts off rows after `end`, where a buffer ends; of linear surfaces only.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_has_one_form_in_a_program() {
        let lookup = |texture, compares, elements| Lookup { texture, sampler: 0, compares, elements };
        let textures = vec![
            lookup(1, true, 0b1111),
            lookup(2, false, 0b0001),
            lookup(2, false, 0b0100),
            lookup(3, false, 0b0001),
            lookup(3, true, 0b1111),
        ];
        let wanted = Wanted { textures, ..Wanted::default() };
        assert_eq!([1, 2, 3].map(|id| wanted.reads_of(id)), [(true, 0b1111), (false, 0b0101), (false, 0b1111)]);
    }

    /// OpenGL ES 3.0 has no filter that ends at a face's edge, and drivers set the bit for lookups of their own in pixel programs.
    #[test]
    fn vertex_programs_filter_across_cube_faces_whatever_the_bit_says() {
        let mut registers = Registers::default();
        let wanted = Wanted {
            textures: vec![Lookup { texture: 0, sampler: 2, compares: false, elements: 0b1111 }],
            ..Wanted::default()
        };
        let memory = crate::execute::Buffers::default();
        let seamless = |registers: &Registers, set| {
            let bound = Bound::new(registers, set, &wanted, &memory, &[]).unwrap();
            bound.sampler(2).unwrap().seamless
        };
        let sets = [Set::Pixel, Set::Vertex, Set::Geometry];
        assert_eq!(sets.map(|set| seamless(&registers, set)), [true; 3]);
        registers.set(texture::TA_CNTL_AUX::REGISTER.offset, 1);
        assert_eq!(sets.map(|set| seamless(&registers, set)), [false, true, true]);
    }

    /// Four vertices of three bytes, four bytes apart, in a buffer that ends with the last of them: the fetch of four elements of the last vertex lies inside.
    #[test]
    fn buffers_end_with_a_whole_dword() {
        let size = |last_byte| BufferWords::of(&[0, last_byte, 4 << 8, 0, 0, 0, 0xc000_0000]).buffer.size_bytes;
        assert_eq!([14, 29, 31, 32, u32::MAX].map(size), [16, 32, 32, 36, 1 << 32]);
    }
}
