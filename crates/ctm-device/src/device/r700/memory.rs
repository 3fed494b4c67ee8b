//! The memory of a running R700 program: constants, buffers, textures, memories and exports, all in the arenas.

use super::bindings::{buffer, floats, missing, space_name, texture};
use super::lent::{Parts, Reads};
use super::touched::Touched;
use super::{BoundTexture, input_size, load};
use crate::commands::{CondLoc, CondTest, MemoryKind};
use crate::device::cache::{Cache, CacheModel, Way};
use crate::device::launch::{Conditional, array, fault, lock, within};
use crate::device::registers::CommandRegisters;
use crate::device::report::CommandErrorReason as Reason;
use crate::mc::{ByteOrder, Surface, read_at};
use crate::memory::{DeviceMemory, GpuAddr};
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::{
    Arrays, Buffer, Cells, Direct, Elements, Exports, Memory, Sampler, Space, Target, Texels, Texture, VertexEvent,
    Written,
};
use ctm_isa::r700::program::Stage;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// How many texels of a texture are converted for each thread of a launch, so that fetches find them in an array.
const TEXELS_PER_THREAD: u64 = 4;

/// Memory as one launch sees it.
pub struct LaunchMemory<'a> {
    memory: &'a mut DeviceMemory,
    model: Option<&'a Mutex<CacheModel>>,
    order: ByteOrder,
    registers: &'a CommandRegisters,
    stage: Stage,
    /// Vertex events so far.
    events: u32,
    /// The texels of textures that are not plain, once they were read.
    images: BTreeMap<u8, OnceLock<Result<Image, MemoryFault>>>,
    aliased: bool,
    /// The bindings of ALT_CONST.
    alternate: Option<Arrays>,
    touched: &'a Touched,
    /// Threads of the launch.
    threads: u64,
}

/// People's name for a target.
fn target_name(target: Target) -> String {
    match target {
        Target::Pixel(n) => format!("output {n}"),
        Target::Depth => "the depth export".to_owned(),
        Target::Position(n) => format!("position export {n}"),
        Target::Parameter(n) => format!("parameter export {n}"),
    }
}

/// The vertex event's two bits in memory.
pub(super) const fn event_code(event: VertexEvent) -> u32 {
    match event {
        VertexEvent::Emit => 1,
        VertexEvent::EmitCut => 2,
        VertexEvent::Cut => 3,
    }
}

impl<'a> LaunchMemory<'a> {
    /// The memory of a new launch, by the program's stage, its accesses and its number of threads: a geometry program's events are counted
    /// from 0.
    pub fn new(
        memory: &'a mut DeviceMemory,
        model: Option<&'a Mutex<CacheModel>>,
        order: ByteOrder,
        registers: &'a CommandRegisters,
        (stage, touched, threads): (Stage, &'a Touched, u64),
        alternate: Option<Arrays>,
    ) -> Result<Self, Reason> {
        if let Some((base, dwords)) = registers.r700.vertex_events
            && stage == Stage::Geometry
        {
            let checked = memory.check(base, u64::from(dwords) * 4);
            let counted = checked.and_then(|()| memory.write_u32(base, 0));
            counted.map_err(|error| load::outside("the vertex events", error))?;
        }
        let textures = registers.r700.own.textures.iter();
        let packed = |bound: &BoundTexture| matches!(bound, BoundTexture::Texture(texture) if !texture.is_plain());
        let images = textures.filter(|(_, bound)| packed(bound)).map(|(&id, _)| (id, OnceLock::new())).collect();
        let aliased = aliased(registers, stage, touched);
        Ok(Self { memory, model, order, registers, stage, events: 0, images, aliased, alternate, touched, threads })
    }

    /// Reads bytes through a cache, for the model's sake.
    fn read(
        &self,
        cache: Option<Cache>,
        place: u64,
        bytes: usize,
        what: impl Fn() -> String,
    ) -> Result<&[u8], MemoryFault> {
        if let (Some(model), Ok(address)) = (self.model, u32::try_from(place)) {
            lock(model).reads(cache, GpuAddr(address), bytes as u64, &what);
        }
        read_at(self.memory, place, bytes).map_err(|error| fault(what(), &error))
    }

    /// A texel of a texture that is not plain; its bytes are read at the first lookup.
    fn packed_texel(
        &self,
        id: u8,
        image: &OnceLock<Result<Image, MemoryFault>>,
        level: u32,
        at: [u32; 3],
    ) -> Result<[u32; 4], MemoryFault> {
        let what = || format!("texture {id}");
        let image = image.get_or_init(|| {
            let Some(BoundTexture::Texture(texture)) = self.registers.r700.own.textures.get(&id) else {
                return Err(missing(what(), "it is not set"));
            };
            if let Some(model) = self.model {
                lock(model).reads(Some(Cache::Input), texture.base, texture.bytes(), what);
            }
            let image = texture.image(self.memory).map_err(|error| fault(what(), &error))?;
            image.ok_or_else(|| missing(what(), "its format or its size cannot be"))
        });
        let image = image.as_ref().map_err(Clone::clone)?;
        let [x, y, z] = at.map(|n| n as usize);
        let [width, height, _] = image.texture.size(level).map(|n| n as usize);
        let texel = image.levels.get(level as usize).filter(|_| x < width && y < height);
        let texel = texel.and_then(|level| level.get((z * height + y) * width + x));
        texel.copied().ok_or_else(|| missing(what(), &format!("level {level} has no texel ({x}, {y}, {z})")))
    }

    fn note_write(&self, way: Way, address: GpuAddr, bytes: u64) {
        if let Some(model) = self.model {
            lock(model).launch_writes(way, address, bytes);
        }
    }

    /// Where a dword of a memory lies.
    fn dword(&self, space: Space, dword: u64) -> Result<u64, MemoryFault> {
        match self.registers.r700.memories.get(&MemoryKind::from(space)) {
            Some(place) if dword < u64::from(place.bytes / 4) => Ok(u64::from(place.base.0) + dword * 4),
            Some(_) => Err(missing(space_name(space), "there is no such dword")),
            None => Err(missing(space_name(space), "it is not set; `set_memory` says where it lies")),
        }
    }

    fn store_export(
        &mut self,
        at: Position,
        target: Target,
        surface: &Surface,
        bits: [u32; 4],
        mask: u8,
    ) -> Result<Written, MemoryFault> {
        let what = || target_name(target);
        within(surface, at.i, at.j, what)?;
        let stored = surface.store(self.memory, (at.i, at.j), bits, mask, self.order);
        let channels = stored.map_err(|error| fault(what(), &error))?;
        if channels == 0 {
            return Ok(Written::default());
        }
        self.note_write(Way::Output, surface.address_of(at.i, at.j), u64::from(surface.format.element_bytes()));
        Ok(Written { elements: 1, bytes: (channels * surface.format.info().channel.bytes()) as u64 })
    }
}

impl Memory for LaunchMemory<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        let Some(place) = self.registers.r700.own.constant_buffers.get(&bank).filter(|place| index < place.constants)
        else {
            return Ok([0; 4]);
        };
        let what = || format!("constant buffer {bank}");
        let at = u64::from(place.base.0) + u64::from(index) * 16;
        let bytes = self.read(Some(Cache::Float), at, 16, what)?;
        let mut dwords = [0; 4];
        for (to, from) in dwords.iter_mut().zip(bytes.chunks_exact(4)) {
            *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
        Ok(dwords)
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.alternate.as_ref().map(|arrays| arrays as &dyn Memory)
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        buffer(self.registers, id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let what = || format!("buffer {id}");
        let Some(place) = self.registers.r700.own.buffers.get(&id) else {
            return Err(missing(what(), "it is not set; `set_vtx_buffer` says where it lies"));
        };
        if offset_bytes.saturating_add(bytes.len() as u64) > u64::from(place.bytes) {
            return Err(missing(what(), "there is no such byte"));
        }
        let at = u64::from(place.base.0) + offset_bytes;
        bytes.copy_from_slice(self.read(Some(Cache::Input), at, bytes.len(), what)?);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        texture(self.registers, id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.registers.r700.own.samplers.get(&id).copied()
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let what = || format!("texture {id}");
        let [x, y, z] = at;
        if let Some(image) = self.images.get(&id) {
            return self.packed_texel(id, image, level, at);
        }
        let (place, bytes) = match self.registers.r700.own.textures.get(&id) {
            None => return Err(missing(what(), "it is not set; `set_texture` says where it lies")),
            Some(BoundTexture::Texture(texture)) => {
                let offset = texture.texel_offset(level, at);
                (
                    offset.map(|offset| u64::from(texture.base.0) + offset),
                    texture.texture().map_or(0, |t| t.texel_bytes),
                )
            }
            Some(BoundTexture::Input(surface)) => {
                let (width, height) = input_size(surface, self.registers, id);
                let there = level == 0 && x < width && y < height && z == 0;
                (there.then(|| surface.address_of(x, y).0.into()), surface.format.element_bytes())
            }
        };
        let none = || missing(what(), &format!("level {level} has no texel ({x}, {y}, {z})"));
        let place = place.ok_or_else(none)?;
        if let (Some(model), Ok(address)) = (self.model, u32::try_from(place)) {
            lock(model).reads(Some(Cache::Input), GpuAddr(address), bytes.into(), what);
        }
        let texel = match self.registers.r700.own.textures.get(&id) {
            Some(BoundTexture::Texture(texture)) => texture.load(self.memory, level, at),
            Some(BoundTexture::Input(surface)) => surface.load(self.memory, x, y, self.order).map(Some),
            None => Ok(None),
        };
        texel.map_err(|error| fault(what(), &error))?.ok_or_else(none)
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.registers.r700.memories.get(&MemoryKind::from(space)).map(|place| u64::from(place.bytes / 4))
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let place = self.dword(space, dword)?;
        let bytes = self.read(None, place, 4, || space_name(space))?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        let place = self.dword(space, dword)?;
        let address = GpuAddr(u32::try_from(place).map_err(|_| missing(space_name(space), "addresses have 32 bits"))?);
        self.memory.write_u32(address, bits).map_err(|error| fault(space_name(space), &error))?;
        self.note_write(Way::Uncached, address, 4);
        Ok(())
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        let Some((base, dwords)) = self.registers.r700.vertex_events else { return Ok(()) };
        let what = || "the vertex events".to_owned();
        let number = self.events + 1;
        if number >= dwords {
            let reason = format!("there is room for {} events; `set_vertex_events` says for how many", dwords - 1);
            return Err(missing(what(), &reason));
        }
        let word = at.i & 0xfff | (at.j & 0xfff) << 12 | event_code(event) << 30;
        for (address, word) in [(base.0.wrapping_add(number * 4), word), (base.0, number)] {
            self.memory.write_u32(GpuAddr(address), word).map_err(|error| fault(what(), &error))?;
            self.note_write(Way::Uncached, GpuAddr(address), 4);
        }
        self.events = number;
        Ok(())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let mut written = Written::default();
        let unit = self.registers.conditional;
        if self.stage == Stage::Pixel && unit.location == CondLoc::Dpp {
            let value = exports.get(Target::Depth).filter(|(_, elements)| elements & 1 == 1).map(|(bits, _)| bits[0]);
            let mut conditional =
                Conditional { unit: &unit, memory: self.memory, model: self.model, order: self.order };
            if !conditional.test(at, value.unwrap_or(unit.value))? {
                return Ok(written);
            }
        }
        for (target, bits, elements) in exports.iter() {
            let pixel = matches!(target, Target::Pixel(_));
            let mask = if pixel { elements & self.registers.out_mask } else { elements };
            if mask == 0 {
                continue;
            }
            let Some(surface) = self.registers.r700.exports.get(&target).copied() else {
                if pixel {
                    return Err(missing(
                        target_name(target),
                        "it is not set; `set_out_fmt` or `set_export` says where it lies",
                    ));
                }
                continue;
            };
            let one = self.store_export(at, target, &surface, bits, mask)?;
            written.elements += one.elements;
            written.bytes += one.bytes;
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.aliased
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        // The cache model needs every read.
        let place = self.registers.r700.own.buffers.get(&id).filter(|_| self.model.is_none())?;
        self.memory.slice(place.base, place.bytes as usize).ok()
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        let unit = self.registers.conditional;
        let passes = unit.test == CondTest::Always && (unit.buffer.is_none() || !unit.write);
        if self.model.is_some() || self.aliased || !passes || cfg!(target_endian = "big") {
            return None;
        }
        let (mut inputs, mut reads) = (Vec::new(), Vec::new());
        for &id in textures {
            let (base, elements, bytes) = floats(self.registers, self.order, id)?;
            inputs.push(elements);
            reads.push((base, bytes));
        }
        let (mut outputs, mut writes) = (Vec::new(), Vec::new());
        for &target in targets {
            let pixel = matches!(target, Target::Pixel(_));
            match self.registers.r700.exports.get(&target) {
                // It faults.
                None if pixel => return None,
                None => outputs.push(None),
                Some(surface) => {
                    let (elements, bytes) = array(surface, self.order)?;
                    let mask = if pixel { self.registers.out_mask & 0xf } else { 0xf };
                    outputs.push(Some(Elements { mask, ..elements }));
                    writes.push((surface.base, bytes));
                }
            }
        }
        let parts = Parts::of(self.registers, self.touched)?;
        let inputs_end = reads.len();
        reads.extend(&parts.parts);
        let mut lent = self.memory.lend(&reads, &writes)?;
        let resources = lent.reads.split_off(inputs_end);
        let worth = TEXELS_PER_THREAD * self.threads;
        let alternate = self.alternate.as_ref();
        let reads = Reads::new(self.registers, self.order, alternate, &parts, &resources, worth)?;
        let texels = |(of, bytes): (Elements<()>, Option<_>)| Some(of.with(Texels::Bytes(bytes?)));
        let textures = inputs.into_iter().zip(lent.reads).map(texels).collect::<Option<_>>()?;
        let mut bytes = lent.writes.into_iter();
        let cells = |of: Option<Elements<()>>| Some(of?.with(Cells::Bytes(bytes.next()?)));
        Some(Direct { textures, targets: outputs.into_iter().map(cells).collect(), reads: Box::new(reads) })
    }
}

/// Whether something that a program writes shares memory with anything else that it reads or writes.
fn aliased(registers: &CommandRegisters, stage: Stage, touched: &Touched) -> bool {
    let range = |base: GpuAddr, bytes: u64| (u64::from(base.0), u64::from(base.0) + bytes);
    let r700 = &registers.r700;
    let memories = r700.memories.iter().filter(|(kind, _)| touched.memories() && **kind != MemoryKind::Scratch);
    let mut written: Vec<(u64, u64)> = memories.map(|(_, place)| range(place.base, place.bytes.into())).collect();
    let exports = r700.exports.iter().filter(|(target, _)| touched.target(**target));
    written.extend(exports.map(|(_, surface)| range(surface.base, surface.bytes())));
    if stage == Stage::Geometry {
        written.extend(r700.vertex_events.map(|(base, dwords)| range(base, u64::from(dwords) * 4)));
    }
    let conditional = registers.conditional;
    written.extend(conditional.buffer.filter(|_| conditional.write).map(|buffer| range(buffer.base, buffer.bytes())));
    let constants = r700.own.constant_buffers.iter().filter(|(bank, _)| touched.constants(**bank));
    let constants = constants.map(|(_, place)| range(place.base, u64::from(place.constants) * 16));
    let buffers = r700.own.buffers.iter().filter(|(id, _)| touched.buffer(**id));
    let buffers = buffers.map(|(_, place)| range(place.base, place.bytes.into()));
    let textures = r700.own.textures.iter().filter(|(id, _)| touched.texture(**id));
    let textures = textures.map(|(_, bound)| match bound {
        BoundTexture::Input(surface) => range(surface.base, surface.bytes()),
        BoundTexture::Texture(texture) => range(texture.base, texture.bytes()),
    });
    let meet = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1 || a.1 > 1 << 32 || b.1 > 1 << 32;
    let mut read = constants.chain(buffers).chain(textures);
    let pairs = written.iter().enumerate().any(|(n, &a)| written[n + 1..].iter().any(|&b| meet(a, b)));
    pairs || read.any(|r| written.iter().any(|&w| meet(w, r)))
}
