//! Inputs of a launch while its outputs are mapped by the engine: parts of the arenas that are not written meanwhile.

use super::bindings::{buffer, floats, missing, space_name, texture};
use super::touched::Touched;
use super::{BoundTexture, input_size};
use crate::commands::MemoryKind;
use crate::device::registers::CommandRegisters;
use crate::mc::ByteOrder;
use crate::memory::GpuAddr;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::resources::Levels;
use ctm_exec::r700::{Arrays, Buffer, Exports, Memory, Sampler, Space, Texture, VertexEvent, Written};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A resource that a launch may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Constants(u8),
    Buffer(u8),
    Texture(u8),
    Space(MemoryKind),
}

/// Inputs of a launch, by resource.
pub struct Reads<'a> {
    registers: &'a CommandRegisters,
    order: ByteOrder,
    alternate: Option<&'a Arrays>,
    bytes: BTreeMap<Resource, &'a [u8]>,
    /// The most texels of a texture that are converted before the first fetch.
    texels: u64,
    /// The texels of textures, level by level, once requested.
    images: BTreeMap<u8, OnceLock<Option<Levels>>>,
}

/// The memory that a program with these registers can read.
pub struct Parts {
    resources: Vec<Resource>,
    /// Addresses and bytes, in that order.
    pub parts: Vec<(GpuAddr, usize)>,
}

impl Parts {
    /// `None` if a part is too large to be mapped.
    pub fn of(registers: &CommandRegisters, touched: &Touched) -> Option<Self> {
        let r700 = &registers.r700;
        let mut all = Self { resources: Vec::new(), parts: Vec::new() };
        let mut add = |resource: Resource, base: GpuAddr, bytes: u64| {
            all.resources.push(resource);
            all.parts.push((base, usize::try_from(bytes).ok()?));
            Some(())
        };
        for (&bank, place) in r700.own.constant_buffers.iter().filter(|(bank, _)| touched.constants(**bank)) {
            add(Resource::Constants(bank), place.base, u64::from(place.constants) * 16)?;
        }
        for (&id, place) in r700.own.buffers.iter().filter(|(id, _)| touched.buffer(**id)) {
            add(Resource::Buffer(id), place.base, place.bytes.into())?;
        }
        for (&id, bound) in r700.own.textures.iter().filter(|(id, _)| touched.texture(**id)) {
            match bound {
                BoundTexture::Input(surface) => add(Resource::Texture(id), surface.base, surface.bytes())?,
                BoundTexture::Texture(texture) => add(Resource::Texture(id), texture.base, texture.bytes())?,
            }
        }
        for (&kind, place) in r700.memories.iter().filter(|_| touched.memories()) {
            add(Resource::Space(kind), place.base, place.bytes.into())?;
        }
        Some(all)
    }
}

impl<'a> Reads<'a> {
    /// Of these parts, in their order. `None` when one of them is not there. `texels`: the most texels of a texture that are worth converting.
    pub fn new(
        registers: &'a CommandRegisters,
        order: ByteOrder,
        alternate: Option<&'a Arrays>,
        parts: &Parts,
        lent: &[Option<&'a [u8]>],
        texels: u64,
    ) -> Option<Self> {
        let of = |(&resource, bytes): (&Resource, &Option<&'a [u8]>)| Some((resource, (*bytes)?));
        let bytes: BTreeMap<_, _> = parts.resources.iter().zip(lent).map(of).collect::<Option<_>>()?;
        let images = bytes.keys().filter_map(|of| if let Resource::Texture(id) = of { Some(*id) } else { None });
        let images = images.map(|id| (id, OnceLock::new())).collect();
        Some(Self { registers, order, alternate, bytes, texels, images })
    }

    fn of(&self, resource: Resource) -> &'a [u8] {
        self.bytes.get(&resource).copied().unwrap_or_default()
    }

    /// All texels of a texture.
    fn image(&self, id: u8) -> Option<&Levels> {
        let image = self.images.get(&id)?.get_or_init(|| {
            let (texture, bytes) = (self.texture(id)?, self.of(Resource::Texture(id)));
            match self.registers.r700.own.textures.get(&id)? {
                BoundTexture::Texture(of) if !of.is_plain() => Some(of.image_of(bytes)?.levels),
                _ => {
                    let level = |level: u32| {
                        let [width, height, depth] = texture.size(level);
                        let rows = (0..depth).flat_map(|z| (0..height).map(move |y| (y, z)));
                        let texels = rows.flat_map(|(y, z)| (0..width).map(move |x| [x, y, z]));
                        texels.map(|at| self.one(id, bytes, level, at)).collect::<Option<Vec<_>>>()
                    };
                    (0..texture.levels).map(level).collect()
                }
            }
        });
        image.as_ref()
    }

    /// The texels of a texture that lie in memory as fetches see them: one level, four numbers each, row by row.
    fn as_they_lie(&self, id: u8) -> Option<&[[u32; 4]]> {
        let (_, of, _) = floats(self.registers, self.order, id)?;
        let texture =
            self.texture(id).filter(|texture| texture.levels == 1 && of.channels == 4 && of.tiles.is_none())?;
        let bytes = 16 * of.width as usize * of.height as usize;
        let whole = texture.size(0) == [of.width, of.height, 1] && of.pitch == of.width;
        bytemuck::try_cast_slice(self.of(Resource::Texture(id)).get(..bytes).filter(|_| whole)?).ok()
    }

    /// A texel of a plain texture.
    fn one(&self, id: u8, bytes: &[u8], level: u32, at: [u32; 3]) -> Option<[u32; 4]> {
        match self.registers.r700.own.textures.get(&id)? {
            BoundTexture::Texture(texture) => texture.texel_of(bytes, level, at),
            BoundTexture::Input(surface) => {
                let (width, height) = input_size(surface, self.registers, id);
                let [x, y, z] = at;
                let there = level == 0 && x < width && y < height && z == 0;
                let first = surface.address_of(x, y).0.checked_sub(surface.base.0).filter(|_| there)? as usize;
                let element = bytes.get(first..first + surface.format.element_bytes() as usize)?;
                Some(surface.format.decode(element, self.order))
            }
        }
    }
}

impl Memory for Reads<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        let bytes = self.of(Resource::Constants(bank)).as_chunks::<16>().0;
        let dwords = |constant: &[u8; 16]| {
            std::array::from_fn(|n| {
                let b = &constant[4 * n..4 * n + 4];
                u32::from_le_bytes([b[0], b[1], b[2], b[3]])
            })
        };
        Ok(bytes.get(index as usize).map_or([0; 4], dwords))
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.alternate.map(|arrays| arrays as &dyn Memory)
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        buffer(self.registers, id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let from = usize::try_from(offset_bytes).ok();
        let all = self.of(Resource::Buffer(id));
        let found = from.and_then(|from| all.get(from..from.checked_add(bytes.len())?));
        bytes.copy_from_slice(found.ok_or_else(|| missing(format!("buffer {id}"), "there is no such byte"))?);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        texture(self.registers, id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.registers.r700.own.samplers.get(&id).copied()
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let [x, y, z] = at;
        let plain = match self.registers.r700.own.textures.get(&id) {
            Some(BoundTexture::Texture(texture)) => texture.is_plain(),
            Some(BoundTexture::Input(_)) | None => true,
        };
        let found = if plain {
            self.one(id, self.of(Resource::Texture(id)), level, at)
        } else {
            self.texture(id).zip(self.image(id)).and_then(|(texture, image)| {
                let [width, height, _] = texture.size(level).map(|n| n as usize);
                let (column, row) = (x as usize, z as usize * height + y as usize);
                let there = column < width && (y as usize) < height;
                image.get(level as usize).filter(|_| there)?.get(row * width + column).copied()
            })
        };
        found.ok_or_else(|| missing(format!("texture {id}"), &format!("level {level} has no texel ({x}, {y}, {z})")))
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.registers.r700.memories.get(&MemoryKind::from(space)).map(|place| u64::from(place.bytes / 4))
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let dwords = self.of(Resource::Space(space.into())).as_chunks::<4>().0;
        let found = usize::try_from(dword).ok().and_then(|dword| dwords.get(dword));
        found.map(|b| u32::from_le_bytes(*b)).ok_or_else(|| missing(space_name(space), "there is no such dword"))
    }

    fn store(&mut self, space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(missing(space_name(space), "it is lent for reading"))
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(missing("the vertex events".to_owned(), "memory is lent for reading"))
    }

    fn commit(&mut self, _at: Position, _exports: &Exports) -> Result<Written, MemoryFault> {
        Err(missing("an output".to_owned(), "memory is lent for reading"))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.bytes.get(&Resource::Buffer(id)).copied()
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        if let Some(texels) = self.as_they_lie(id).filter(|_| level == 0) {
            return Some(texels);
        }
        let texture = self.texture(id)?;
        let texels = (0..texture.levels).map(|level| texture.size(level).map(u64::from).iter().product::<u64>());
        if texels.sum::<u64>() > self.texels {
            return None;
        }
        self.image(id)?.get(level as usize)
    }
}
