//! The memory of an R700 launch: the caller's arrays in place.

use super::constants::Buffers;
use crate::held::HeldInput;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::{
    Buffer, Cells, Direct, Elements, Exports, Memory, Sampler, Space, Target, Texels, Texture, VertexEvent, Written,
};
use ctm_exec::x1k::Form;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everything that a launch reads and writes.
#[derive(Default)]
pub(crate) struct LaunchArrays<'a> {
    pub reads: Reads<'a>,
    /// Exports; those to other targets are dropped. Each holds the domain.
    pub targets: BTreeMap<Target, Elements<&'a mut [u8]>>,
}

/// Everything that a launch reads; the memories of MEM instructions, which it writes too, are dwords of its own.
#[derive(Default)]
pub(crate) struct Reads<'a> {
    pub constants: Buffers<'a>,
    pub buffers: BTreeMap<u8, FetchBuffer<'a>>,
    pub textures: BTreeMap<u8, TextureArray<'a>>,
    pub samplers: BTreeMap<u8, Sampler>,
    pub spaces: BTreeMap<Space, Vec<u32>>,
    pub events: Vec<(Position, VertexEvent)>,
}

/// A buffer of vertex fetches.
pub(crate) struct FetchBuffer<'a> {
    pub stride_bytes: u32,
    pub format: Format,
    pub bytes: Cow<'a, [u8]>,
}

/// A texture.
pub(crate) enum TextureArray<'a> {
    /// Rows and columns.
    Plain(Box<Plain<'a>>),
    /// Levels, slices or faces.
    Image(&'a Image),
}

/// A texture of one level.
pub(crate) struct Plain<'a> {
    texture: Texture,
    held: HeldInput<'a>,
    /// Four numbers of each texel, converted for engines that need them.
    converted: OnceLock<Vec<[u32; 4]>>,
}

impl<'a> TextureArray<'a> {
    pub fn new(held: HeldInput<'a>, format: Format) -> Self {
        let (width, height) = (held.like.width, held.like.height);
        let texture = Texture { width, height, format, ..Texture::default() };
        Self::Plain(Box::new(Plain { texture, held, converted: OnceLock::new() }))
    }

    const fn texture(&self) -> &Texture {
        match self {
            Self::Plain(plain) => &plain.texture,
            Self::Image(image) => &image.texture,
        }
    }

    fn texel(&self, level: u32, [x, y, z]: [u32; 3]) -> Option<[u32; 4]> {
        let [width, height, depth] = self.texture().size(level);
        if x >= width || y >= height || z >= depth {
            return None;
        }
        match self {
            Self::Plain(plain) => (level == 0).then(|| plain.texel(x, y)),
            Self::Image(image) => {
                let row = z as usize * height as usize + y as usize;
                image.levels.get(level as usize)?.get(row * width as usize + x as usize).copied()
            }
        }
    }

    /// Four numbers of each texel of a level, row by row.
    fn texels(&self, level: u32) -> Option<&[[u32; 4]]> {
        match self {
            Self::Plain(plain) => (level == 0).then(|| plain.texels()),
            Self::Image(image) => image.levels.get(level as usize),
        }
    }

    /// Level 0, for engines that read it in place.
    fn elements(&self) -> Option<Elements<Texels<'_>>> {
        let Texture { width, height, .. } = *self.texture();
        let four = |texels| Elements {
            bytes: Texels::Dwords(texels),
            pitch: width,
            width,
            height,
            form: Form::Floats,
            channels: 4,
            mask: 0xf,
            tiles: None,
        };
        Some(match self {
            Self::Plain(plain) if plain.held.like.form == Form::Floats => {
                plain.held.like.with(Texels::Bytes(plain.held.bytes()))
            }
            Self::Plain(plain) => four(plain.texels()),
            Self::Image(image) => four(image.levels.first()?),
        })
    }
}

impl Plain<'_> {
    fn texel(&self, x: u32, y: u32) -> [u32; 4] {
        self.held.elements().read(x, y, [self.texture.width, self.texture.height])
    }

    /// Four numbers of each texel: borrowed, where the caller's array has this layout.
    fn texels(&self) -> &[[u32; 4]] {
        let like = &self.held.like;
        if like.form == Form::Floats
            && like.channels == 4
            && cfg!(target_endian = "little")
            && let Ok(texels) = bytemuck::try_cast_slice(self.held.bytes())
        {
            return texels;
        }
        self.converted.get_or_init(|| {
            let rows = 0..self.texture.height;
            rows.flat_map(|y| (0..self.texture.width).map(move |x| self.texel(x, y))).collect()
        })
    }
}

fn fault(what: String, address: Option<u64>, reason: String) -> MemoryFault {
    MemoryFault { what, address, reason }
}

fn no_dword(space: Space, dword: u64) -> MemoryFault {
    fault(format!("{} memory", space.name()), Some(dword * 4), "there is no such dword".to_owned())
}

impl Memory for Reads<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        let value = self.constants.get(&bank).and_then(|buffer| buffer.get(index as usize));
        Ok(value.copied().unwrap_or_default())
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        let FetchBuffer { stride_bytes, format, bytes } = self.buffers.get(&id)?;
        Some(Buffer { size_bytes: bytes.len() as u64, stride_bytes: *stride_bytes, format: *format })
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let data = self.buffers.get(&id).map_or(&[][..], |buffer| &*buffer.bytes);
        let start = usize::try_from(offset_bytes).ok();
        let found = start.and_then(|start| data.get(start..start.checked_add(bytes.len())?));
        let reason = || format!("it has {} bytes", data.len());
        bytes.copy_from_slice(found.ok_or_else(|| fault(format!("buffer {id}"), Some(offset_bytes), reason()))?);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.textures.get(&id).map(|array| *array.texture())
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.samplers.get(&id).copied()
    }

    fn texel(&self, id: u8, level: u32, [x, y, z]: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let texel = self.textures.get(&id).and_then(|array| array.texel(level, [x, y, z]));
        texel.ok_or_else(|| fault(format!("texture {id}"), None, format!("level {level} has no texel ({x}, {y}, {z})")))
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.spaces.get(&space).map(|dwords| dwords.len() as u64)
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let dwords = self.spaces.get(&space);
        let found = dwords.and_then(|dwords| dwords.get(usize::try_from(dword).ok()?));
        found.copied().ok_or_else(|| no_dword(space, dword))
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

    fn commit(&mut self, _at: Position, _exports: &Exports) -> Result<Written, MemoryFault> {
        Err(fault("an output".to_owned(), None, "it is borrowed for reading".to_owned()))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.buffers.get(&id).map(|buffer| &*buffer.bytes)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.textures.get(&id)?.texels(level)
    }
}

/// Reads while the targets are written.
struct Lent<'a, 'l> {
    reads: &'l Reads<'a>,
}

fn only_reads() -> MemoryFault {
    fault("memory".to_owned(), None, "it is borrowed for reading".to_owned())
}

impl Memory for Lent<'_, '_> {
    ctm_exec::forward_r700_reads!(reads);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.reads.load(space, dword)
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
}

impl Memory for LaunchArrays<'_> {
    ctm_exec::forward_r700_reads!(reads);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.reads.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.reads.store(space, dword, bits)
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.reads.vertex_event(at, event)
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let mut written = Written::default();
        for (target, values, elements) in exports.iter() {
            let Some(array) = self.targets.get_mut(&target) else { continue };
            if at.i >= array.width || at.j >= array.height {
                let reason = format!(
                    "element ({}, {}) lies outside its {} x {} elements",
                    at.i, at.j, array.width, array.height
                );
                return Err(fault(format!("{target:?}"), None, reason));
            }
            let one = array.write(at.i, at.j, &values, elements);
            written.elements += one.elements;
            written.bytes += one.bytes;
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let Self { reads, targets: arrays } = self;
        let reads: &Reads<'_> = reads;
        let of = |id: &u8| reads.textures.get(id)?.elements();
        let textures = textures.iter().map(of).collect::<Option<_>>()?;
        let mut found: Vec<Option<Elements<Cells<'_>>>> = Vec::new();
        found.resize_with(targets.len(), || None);
        for (target, array) in arrays {
            let Some(place) = targets.iter().position(|t| t == target) else { continue };
            let like = array.with(());
            found[place] = Some(like.with(Cells::Bytes(&mut *array.bytes)));
        }
        Some(Direct { textures, targets: found, reads: Box::new(Lent { reads }) })
    }
}
