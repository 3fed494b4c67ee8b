//! Buffers, textures and samplers as plain structures, and a memory made of them.

pub use super::convert::texel_of_bytes;
use super::formats::Format;
pub use super::levels::{Levels, NumberConstants, NumberTexels};
use super::{Cells, Direct, Elements, Exports, Memory, Space, Target, Texels, VertexEvent, Written};
use crate::arrays::Picture;
use crate::domain::Position;
use crate::fault::MemoryFault;
use crate::rows::LaneRows;
pub use crate::sample::{Filter, Wrap};
use ctm_isa::r700::ops::Sel;
use std::collections::BTreeMap;

/// A buffer of vertex fetches (`BUFFER_ID`, R700 §5): the contents of its fetch constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes that may be read.
    pub size_bytes: u64,
    /// Bytes from one item to the next.
    pub stride_bytes: u32,
    /// The format for fetches with USE_CONST_FIELDS.
    pub format: Format,
}

/// How the texels of a texture are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureKind {
    /// One row.
    OneD,
    /// Rows.
    #[default]
    TwoD,
    /// Slices.
    ThreeD,
    /// Six faces: +x, -x, +y, -y, +z, -z.
    Cube,
    /// Layers of one row.
    OneDArray,
    /// Layers.
    TwoDArray,
    /// Cubes, six faces each; SET_CUBEMAP_INDEX chooses one.
    CubeArray,
}

/// A texture resource (`RESOURCE_ID`, R700 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// How its texels are arranged.
    pub kind: TextureKind,
    /// Texels of a row of level 0.
    pub width: u32,
    /// Rows of level 0; 1 for one-dimensional ones.
    pub height: u32,
    /// Slices of level 0, layers of an array, 6 for cubes, six times their number for an array of them, otherwise 1.
    pub depth: u32,
    /// Mipmap levels, at least 1.
    pub levels: u32,
    /// Bytes that one texel asks memory for.
    pub texel_bytes: u32,
    /// The texel format in memory: reference values of comparisons are converted to it (R700 §9.4). Texels themselves arrive converted.
    pub format: Format,
    /// Samples of a texel, at least 1. Where there are several, they are where other textures have mipmap levels, each as large as the first: LD names a
    /// sample by its fourth coordinate, as drivers do.
    pub samples: u32,
    /// The swizzle of a comparison's result (DST_SEL of the resource); those of texels are selected already. The outcome is
    /// the first element; the others are 0, 0 and 1.
    pub compared: [Sel; 4],
}

/// All four elements, each in its place.
pub const AS_THEY_ARE: [Sel; 4] = [Sel::X, Sel::Y, Sel::Z, Sel::W];

impl Default for Texture {
    /// One texel of four floats.
    fn default() -> Self {
        Self {
            kind: TextureKind::TwoD,
            width: 1,
            height: 1,
            depth: 1,
            levels: 1,
            texel_bytes: 16,
            format: Format::default(),
            samples: 1,
            compared: AS_THEY_ARE,
        }
    }
}

impl Texture {
    /// Texels along x, y and z of a level; layers and faces stay.
    #[must_use]
    pub const fn size(&self, level: u32) -> [u32; 3] {
        const fn part(whole: u32, level: u32) -> u32 {
            let part = if level < 32 { whole >> level } else { 0 };
            if part == 0 { 1 } else { part }
        }
        let level = if self.samples > 1 { 0 } else { level };
        match self.kind {
            TextureKind::OneD => [part(self.width, level), 1, 1],
            TextureKind::OneDArray => [part(self.width, level), 1, self.depth],
            TextureKind::TwoD => [part(self.width, level), part(self.height, level), 1],
            TextureKind::Cube | TextureKind::CubeArray | TextureKind::TwoDArray => {
                [part(self.width, level), part(self.height, level), self.depth]
            }
            TextureKind::ThreeD => [part(self.width, level), part(self.height, level), part(self.depth, level)],
        }
    }
}

/// How a texture is sampled (`SAMPLER_ID`, R700 §6). The manual does not list a sampler's fields; these are the usual ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// Filter where the texture is drawn larger than it is (level of detail 0 and below).
    pub magnify: Filter,
    /// Filter where it is drawn smaller.
    pub minify: Filter,
    /// How a mipmap level is chosen.
    pub mip: MipFilter,
    /// For x, y and z.
    pub wrap: [Wrap; 3],
    /// Coordinates below 0 are mirrored there before they wrap: x, y and z.
    pub mirrors_once: [bool; 3],
    /// Coordinates are kept within 0 and the size before they wrap, so that linear filters take half of the border's colour at most.
    pub half_border: [bool; 3],
    /// The value of [`Wrap::Border`] outside, as bits.
    pub border: [u32; 4],
    /// Smallest level of detail.
    pub min_lod: f32,
    /// Largest level of detail.
    pub max_lod: f32,
    /// Added to computed levels of detail and to those that instructions give, not to the zero of the `_LZ` forms.
    pub lod_bias: f32,
    /// How SAMPLE_C compares its reference value with a texel.
    pub compare: Compare,
    /// Most linear lookups that are taken along the longer gradient where a two-dimensional texture is drawn smaller with a linear filter, 1..=16; 1: one
    /// lookup, by the longer gradient alone.
    pub max_anisotropy: u8,
    /// Linear filters of cubes take texels of other faces beyond an edge, instead of repeating the last ones of the face.
    pub seamless: bool,
}

impl Sampler {
    /// Whether coordinates are changed before they wrap.
    #[must_use]
    pub fn bends(&self) -> bool {
        self.mirrors_once.contains(&true) || self.half_border.contains(&true)
    }
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            magnify: Filter::Nearest,
            minify: Filter::Nearest,
            mip: MipFilter::None,
            wrap: [Wrap::Clamp; 3],
            mirrors_once: [false; 3],
            half_border: [false; 3],
            border: [0; 4],
            min_lod: 0.0,
            max_lod: 15.0,
            lod_bias: 0.0,
            compare: Compare::Never,
            max_anisotropy: 1,
            seamless: false,
        }
    }
}

/// How a mipmap level is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MipFilter {
    /// Always level 0.
    #[default]
    None,
    /// The nearest level.
    Nearest,
    /// Weighted mean of the two nearest levels.
    Linear,
}

/// Comparison of a reference value with a texel, or of a new value with a stored one: the first is on the left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compare {
    /// False.
    #[default]
    Never,
    /// `<`.
    Less,
    /// `==`.
    Equal,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `!=`.
    NotEqual,
    /// `>=`.
    GreaterEqual,
    /// True.
    Always,
}

impl Compare {
    /// All of them, in the order in which samplers and registers number them.
    pub const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::Equal,
        Self::LessEqual,
        Self::Greater,
        Self::NotEqual,
        Self::GreaterEqual,
        Self::Always,
    ];

    /// Whether `left compare right` holds. NaN is only not equal.
    pub fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Never => false,
            Self::Less => left < right,
            Self::Equal => left == right,
            Self::LessEqual => left <= right,
            Self::Greater => left > right,
            Self::NotEqual => left != right,
            Self::GreaterEqual => left >= right,
            Self::Always => true,
        }
    }
}

/// A texture with its texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its description.
    pub texture: Texture,
    /// Bits of the four elements of each texel, for each level, slice by slice, row by row.
    pub levels: Levels,
}

impl From<Picture> for Image {
    fn from(picture: Picture) -> Self {
        let texture = Texture { width: picture.width, height: picture.height, ..Texture::default() };
        Self { texture, levels: picture.elements.into() }
    }
}

/// A buffer with its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferData {
    /// Bytes from one item to the next.
    pub stride_bytes: u32,
    /// The format for fetches with USE_CONST_FIELDS.
    pub format: Format,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Arrays {
    /// Binds constants as constant buffer `bank` and, if it is given, as the buffer of vertex fetches `fetch_resource`.
    pub fn bind_constants(&mut self, bank: u8, fetch_resource: Option<u8>, values: Vec<[u32; 4]>) {
        if let Some(id) = fetch_resource {
            let bytes = values.as_flattened().iter().flat_map(|dword| dword.to_le_bytes()).collect();
            self.buffers.insert(id, BufferData { stride_bytes: 16, format: Format::default(), bytes });
        }
        self.constants.insert(bank, values);
    }
}

/// Everything that a program can read, in host memory.
pub(super) struct Inputs<'a> {
    constants: &'a BTreeMap<u8, Vec<[u32; 4]>>,
    buffers: &'a BTreeMap<u8, BufferData>,
    textures: &'a BTreeMap<u8, Image>,
    byte_texels: &'a BTreeMap<u8, Levels<[u8; 4]>>,
    number_texels: &'a BTreeMap<u8, (Levels<u32>, NumberConstants)>,
    samplers: &'a BTreeMap<u8, Sampler>,
    spaces: &'a BTreeMap<Space, Vec<u32>>,
    alternate: Option<&'a Arrays>,
    lends_nothing: bool,
}

/// Everything a program can reach, in host memory.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// Constant buffers by bank.
    pub constants: BTreeMap<u8, Vec<[u32; 4]>>,
    /// Buffers of vertex fetches by number; the size is that of the bytes.
    pub buffers: BTreeMap<u8, BufferData>,
    /// Textures by resource.
    pub textures: BTreeMap<u8, Image>,
    /// The texels of some of them as bytes: the same fractions of 255, for [`Memory::byte_texels`].
    pub byte_texels: BTreeMap<u8, Levels<[u8; 4]>>,
    /// The numbers of the texels of some others, for [`Memory::number_texels`].
    pub number_texels: BTreeMap<u8, (Levels<u32>, NumberConstants)>,
    /// Samplers.
    pub samplers: BTreeMap<u8, Sampler>,
    /// Memories of MEM instructions, in dwords.
    pub spaces: BTreeMap<Space, Vec<u32>>,
    /// Bindings of the other program type (ALT_CONST).
    pub alternate: Option<Box<Arrays>>,
    /// Vertex events of geometry programs.
    pub events: Vec<(Position, VertexEvent)>,
    /// Arrays for exports, by target; exports to others are dropped. Each must hold the domain.
    pub targets: BTreeMap<Target, Picture>,
    /// Rows that take exports, instead of [`Self::targets`]; they begin again with each launch only if the caller says so.
    pub lanes: Option<LaneRows<Target>>,
    /// Engines access each element by a call: none of these arrays is mapped.
    pub lends_nothing: bool,
}

impl Memory for Arrays {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.inputs().constant(bank, index)
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.alternate.as_deref().map(|other| other as &dyn Memory)
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.inputs().buffer(id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        self.inputs().read_buffer(id, offset_bytes, bytes)
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.inputs().texture(id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.inputs().sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.inputs().texel(id, level, at)
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.inputs().space(space)
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.inputs().load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        let dwords = self.spaces.get_mut(&space);
        let place = dwords.and_then(|dwords| dwords.get_mut(usize::try_from(dword).ok()?));
        *place.ok_or_else(|| no_dword(space, dword))? = bits;
        Ok(())
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.events.push((at, event));
        Ok(())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        if let Some(rows) = &mut self.lanes {
            return Ok(exports.store(at, rows));
        }
        let mut written = Written::default();
        for (target, values, elements) in exports.iter() {
            let Some(picture) = self.targets.get_mut(&target) else { continue };
            let (width, height) = (picture.width, picture.height);
            let index = at.j as usize * width as usize + at.i as usize;
            let place = if at.i < width { picture.elements.get_mut(index) } else { None };
            let Some(place) = place else {
                return Err(MemoryFault {
                    what: format!("{target:?}"),
                    address: None,
                    reason: format!("element ({}, {}) lies outside its {width} x {height} elements", at.i, at.j),
                });
            };
            for element in (0..4).filter(|e| elements >> e & 1 == 1) {
                place[element] = values[element];
                written.bytes += 4;
            }
            written.elements += 1;
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.inputs().bytes(id)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.inputs().level(id, level)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.inputs().bytes_of_level(id, level)
    }

    fn number_texels(&self, id: u8, level: u32) -> Option<NumberTexels<'_>> {
        self.inputs().numbers_of_level(id, level)
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        if self.lends_nothing || self.lanes.is_some() {
            return None;
        }
        // Targets are mapped for writing, all others for reading.
        let Self {
            constants,
            buffers,
            textures: images,
            byte_texels,
            number_texels,
            samplers,
            spaces,
            alternate,
            targets: lent,
            ..
        } = self;
        let inputs = Inputs {
            constants,
            buffers,
            textures: images,
            byte_texels,
            number_texels,
            samplers,
            spaces,
            alternate: alternate.as_deref(),
            lends_nothing: false,
        };
        let form = crate::arrays::Form::Floats;
        let elements = |width, height| Elements {
            bytes: (),
            pitch: width,
            width,
            height,
            form,
            channels: 4,
            mask: 0xf,
            tiles: None,
        };
        let of = |id: &u8| {
            let image = images.get(id)?;
            let Texture { width, height, .. } = image.texture;
            if number_texels.contains_key(id) {
                return None;
            }
            if let Some(bytes) = byte_texels.get(id) {
                let form = crate::arrays::Form::Bytes { swapped: false };
                let of = Elements { form, ..elements(width, height) };
                return Some(of.with(Texels::Bytes(bytes.first()?.as_flattened())));
            }
            Some(elements(width, height).with(Texels::Dwords(image.levels.first()?)))
        };
        let textures = textures.iter().map(of).collect::<Option<_>>()?;
        let mut found: Vec<Option<Elements<Cells<'_>>>> = Vec::new();
        found.resize_with(targets.len(), || None);
        for (target, picture) in lent {
            let Some(place) = targets.iter().position(|t| t == target) else { continue };
            let size = elements(picture.width, picture.height);
            found[place] = Some(size.with(Cells::Dwords(&mut picture.elements)));
        }
        Some(Direct { textures, targets: found, reads: Box::new(inputs) })
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        self.lanes.as_mut().filter(|_| !self.lends_nothing)
    }
}

impl<'a> Inputs<'a> {
    fn bytes(&self, id: u8) -> Option<&'a [u8]> {
        self.buffers.get(&id).filter(|_| !self.lends_nothing).map(|buffer| buffer.bytes.as_slice())
    }

    fn level(&self, id: u8, level: u32) -> Option<&'a [[u32; 4]]> {
        let is_packed = self.byte_texels.contains_key(&id) || self.number_texels.contains_key(&id);
        let is_lent = !self.lends_nothing && !is_packed;
        let image = self.textures.get(&id).filter(|_| is_lent)?;
        image.levels.get(level as usize)
    }

    fn bytes_of_level(&self, id: u8, level: u32) -> Option<&'a [[u8; 4]]> {
        let levels = self.byte_texels.get(&id).filter(|_| !self.lends_nothing)?;
        levels.get(level as usize)
    }

    fn numbers_of_level(&self, id: u8, level: u32) -> Option<NumberTexels<'a>> {
        let (levels, constants) = self.number_texels.get(&id).filter(|_| !self.lends_nothing)?;
        Some(NumberTexels { numbers: levels.get(level as usize)?, constants: *constants })
    }
}

impl Arrays {
    fn inputs(&self) -> Inputs<'_> {
        Inputs {
            constants: &self.constants,
            buffers: &self.buffers,
            textures: &self.textures,
            byte_texels: &self.byte_texels,
            number_texels: &self.number_texels,
            samplers: &self.samplers,
            spaces: &self.spaces,
            alternate: self.alternate.as_deref(),
            lends_nothing: self.lends_nothing,
        }
    }
}

impl Memory for Inputs<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        let value = self.constants.get(&bank).and_then(|buffer| buffer.get(index as usize));
        Ok(value.copied().unwrap_or_default())
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.alternate.map(|other| other as &dyn Memory)
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.buffers.get(&id).map(|buffer| Buffer {
            size_bytes: buffer.bytes.len() as u64,
            stride_bytes: buffer.stride_bytes,
            format: buffer.format,
        })
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let data = self.buffers.get(&id).map_or(&[][..], |buffer| &buffer.bytes);
        let start = usize::try_from(offset_bytes).ok();
        let found = start.and_then(|start| data.get(start..start.checked_add(bytes.len())?));
        let found = found.ok_or_else(|| MemoryFault {
            what: format!("buffer {id}"),
            address: Some(offset_bytes),
            reason: format!("it has {} bytes", data.len()),
        })?;
        bytes.copy_from_slice(found);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.textures.get(&id).map(|image| image.texture)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.samplers.get(&id).copied()
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let image = self.textures.get(&id);
        let texel = image.and_then(|image| {
            let [width, height, depth] = image.texture.size(level);
            let within = at[0] < width && at[1] < height && at[2] < depth;
            let index = (at[2] as usize * height as usize + at[1] as usize) * width as usize + at[0] as usize;
            image.levels.get(level as usize).filter(|_| within)?.get(index)
        });
        texel.copied().ok_or_else(|| MemoryFault {
            what: format!("texture {id}"),
            address: None,
            reason: format!("level {level} has no texel ({}, {}, {})", at[0], at[1], at[2]),
        })
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.spaces.get(&space).map(|dwords| dwords.len() as u64)
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let dwords = self.spaces.get(&space);
        let found = dwords.and_then(|dwords| dwords.get(usize::try_from(dword).ok()?));
        found.copied().ok_or_else(|| no_dword(space, dword))
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn commit(&mut self, _at: Position, _exports: &Exports) -> Result<Written, MemoryFault> {
        Err(only_reads())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.bytes(id)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.level(id, level)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.bytes_of_level(id, level)
    }

    fn number_texels(&self, id: u8, level: u32) -> Option<NumberTexels<'_>> {
        self.numbers_of_level(id, level)
    }
}

fn only_reads() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "it is lent for reading".into() }
}

fn no_dword(space: Space, dword: u64) -> MemoryFault {
    let what = format!("{} memory", space.name());
    MemoryFault { what, address: Some(dword * 4), reason: "there is no such dword".into() }
}
