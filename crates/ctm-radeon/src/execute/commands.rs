//! Packets that are no draws, and what they lead to: registers, fences, queries, copies, predication.

use super::device::{Device, Placed};
use super::draws::{DrawCall, IndexSource};
use super::memory::GpuMemory;
use super::registers::is_relocated;
use crate::Error;
use crate::packets::Kind;
use crate::registers::{RESOURCES, SAMPLERS, colour, vgt};
use ctm_draw::Counts;

/// What a device counts. Counters run on from stream to stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// Samples that passed.
    samples: u64,
    /// Primitives that stream output was to store, and that it stored.
    streams: [u64; 2],
    /// PS invocations, clipper primitives out, clipper invocations, VS invocations, GS invocations, GS primitives, IA primitives, IA vertices.
    pipeline: [u64; 8],
    /// Whether pipeline statistics are counted.
    pipeline_on: bool,
    /// Draws.
    pub(super) drawn: u64,
    /// What the last draw did.
    pub(super) last: Counts,
    /// The last draw.
    pub(super) call: Option<DrawCall>,
    /// What the clock shows; it goes on by one with each packet.
    clock: u64,
}

/// Whether predicated packets run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Predicate {
    /// What was read; `None`: everything runs.
    visible: Option<bool>,
    /// Packets run if something was visible, instead of if nothing was.
    draws_visible: bool,
}

impl Predicate {
    pub(super) fn lets_pass(self) -> bool {
        self.visible.is_none_or(|visible| visible == self.draws_visible)
    }
}

/// The bit that says that a result is there.
const VALID: u64 = 1 << 63;

fn address(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high & 0xff) << 32
}

fn outside(what: &str, at: u64, bytes: u64) -> Error {
    Error::new("outside-memory", format!("{what}: {bytes} bytes at {at:#x} lie outside their buffer"))
}

impl Device {
    /// Bytes that a packet reads.
    fn read(&mut self, memory: &mut dyn GpuMemory, what: &str, at: u64, length: u64) -> Result<Vec<u8>, Error> {
        self.surfaces.bring_back(memory, (at, length));
        memory.bytes(at, length).map(<[u8]>::to_vec).ok_or_else(|| outside(what, at, length))
    }

    /// Bytes that a packet writes.
    fn write(&mut self, memory: &mut dyn GpuMemory, what: &str, at: u64, bytes: &[u8]) -> Result<(), Error> {
        let length = bytes.len() as u64;
        self.surfaces.bring_back(memory, (at, length));
        self.surfaces.written((at, length));
        memory.bytes_mut(at, length).ok_or_else(|| outside(what, at, length))?.copy_from_slice(bytes);
        Ok(())
    }

    fn write_words(&mut self, memory: &mut dyn GpuMemory, what: &str, at: u64, words: &[u64]) -> Result<(), Error> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(memory, what, at, &bytes)
    }

    /// Runs a packet.
    pub(super) fn packet(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        self.counters.clock += 1;
        let packet = placed.packet;
        let opcode = match packet.kind {
            Kind::Filler => return Ok(()),
            Kind::Registers(first) => {
                for (value, offset) in packet.words.iter().zip((first..).step_by(4)) {
                    self.set(offset, *value);
                }
                return Ok(());
            }
            Kind::Packet { opcode, .. } => opcode,
        };
        match packet.info().map(|row| row.name) {
            Some("WAIT_REG_MEM") => self.wait(placed, memory),
            Some("NOP" | "CONTEXT_CONTROL" | "SURFACE_SYNC" | "START_3D_CMDBUF" | "SURFACE_BASE_UPDATE") => Ok(()),
            // Of programs on the bare chip: nothing that runs in order has to wait for, or be told of.
            Some("ME_INITIALIZE" | "PFP_SYNC_ME" | "CP_INTERRUPT" | "INDIRECT_BUFFER_END") if placed.absolute => Ok(()),
            Some("SET_RESOURCE") => self.set_resources(placed),
            Some(
                "SET_CONFIG_REG" | "SET_CONTEXT_REG" | "SET_ALU_CONST" | "SET_BOOL_CONST" | "SET_LOOP_CONST"
                | "SET_SAMPLER" | "SET_CTL_CONST",
            ) => self.set_registers(placed),
            Some("INDEX_TYPE") => {
                self.set(vgt::VGT_DMA_INDEX_TYPE::REGISTER.offset, placed.word(0));
                Ok(())
            }
            Some("NUM_INSTANCES") => {
                self.set(vgt::VGT_NUM_INSTANCES::REGISTER.offset, placed.word(0));
                Ok(())
            }
            Some("DRAW_INDEX") => {
                let at = address(placed.word(0), placed.word(1)).wrapping_add(placed.relocation()?.base);
                self.call(memory, placed.word(2), IndexSource::Memory(at), false)
            }
            Some("DRAW_INDEX_2") => {
                let at = address(placed.word(1), placed.word(2)).wrapping_add(placed.relocation()?.base);
                self.call(memory, placed.word(3), IndexSource::Memory(at), false)
            }
            Some("DRAW_INDEX_AUTO") => {
                let count = if placed.word(1) >> 6 & 1 == 1 { self.opaque_count() } else { placed.word(0) };
                self.call(memory, count, IndexSource::Counted, false)
            }
            Some(name @ ("DRAW_INDEX_IMMD" | "DRAW_INDEX_IMMD_BE")) => {
                let words = packet.words.get(2..).unwrap_or_default().to_vec();
                self.call(memory, placed.word(0), IndexSource::Packet(words), name == "DRAW_INDEX_IMMD_BE")
            }
            Some("EVENT_WRITE") => self.event(placed, memory),
            Some("EVENT_WRITE_EOP") => self.end_of_pipe(placed, memory),
            Some("MEM_WRITE") => {
                let control = placed.word(1);
                let at = address(placed.word(0) & !3, control).wrapping_add(placed.relocation()?.base);
                let data = u64::from(placed.word(2)) | u64::from(placed.word(3)) << 32;
                let data = if control >> 16 & 1 == 1 { self.counters.clock } else { data };
                let bytes = data.to_le_bytes();
                let length = if control >> 18 & 1 == 1 { 4 } else { 8 };
                self.write(memory, "MEM_WRITE", at, &bytes[..length])
            }
            Some("COPY_DW") => self.copy_dword(placed, memory),
            Some("CP_DMA") => self.copy_memory(placed, memory),
            Some("SET_PREDICATION") => self.set_predication(placed, memory),
            Some("STRMOUT_BUFFER_UPDATE") => self.stream_update(placed, memory),
            Some("STRMOUT_BASE_UPDATE") => {
                let base = placed.relocation()?.base;
                let value = placed.word(1).wrapping_add((base >> 8) as u32);
                self.set(vgt::VGT_STRMOUT_BASE_OFFSET_0::REGISTER.at(placed.word(0) & 3), value);
                Ok(())
            }
            name => {
                let name = name.map_or_else(|| format!("opcode {opcode:#04x}"), str::to_owned);
                Err(Error::new("unsupported-packet", format!("{name} is not executed")))
            }
        }
    }

    /// Registers one after the other; a relocation is added to each that is an address, in order.
    fn set_registers(&mut self, placed: &mut Placed<'_>) -> Result<(), Error> {
        let packet = placed.packet;
        let Some((first, values)) = packet.registers() else {
            return Err(Error::new("bad-register", "the packet begins outside its registers"));
        };
        for (&value, offset) in values.iter().zip((first..).step_by(4)) {
            let is_compression = [colour::CB_COLOR0_TILE::REGISTER, colour::CB_COLOR0_FRAG::REGISTER];
            let is_compression = is_compression.iter().any(|row| row.index_at(offset).is_some());
            if placed.absolute || is_compression && !placed.has_relocation() {
                // Compression that has no relocation lies where its target does; nothing is compressed here.
                self.set(offset, value);
            } else if is_relocated(offset) {
                let found = placed.relocation()?;
                self.set(offset, value.wrapping_add((found.base >> 8) as u32));
                self.registers.set_end(offset, found.base.saturating_add(found.size));
            } else {
                self.set(offset, value);
            }
        }
        Ok(())
    }

    /// Resources of seven words: textures have two addresses, buffers one.
    fn set_resources(&mut self, placed: &mut Placed<'_>) -> Result<(), Error> {
        let packet = placed.packet;
        let Some((first, values)) = packet.registers() else {
            return Err(Error::new("bad-register", "the packet begins outside the resources"));
        };
        if !(first - RESOURCES).is_multiple_of(28) || first >= SAMPLERS {
            return Err(Error::new("bad-register", format!("{first:#x} is not the first word of a resource")));
        }
        for (n, words) in values.chunks_exact(7).enumerate() {
            let Ok(mut words) = <[u32; 7]>::try_from(words) else { continue };
            match super::kind_of(&words) {
                super::VALID_TEXTURE => {
                    for word in &mut words[2..4] {
                        *word = word.wrapping_add((placed.relocation()?.base >> 8) as u32);
                    }
                }
                super::VALID_BUFFER => {
                    let base = address(words[0], words[2]).wrapping_add(placed.relocation()?.base);
                    words[0] = base as u32;
                    words[2] = words[2] & !0xff | (base >> 32) as u32 & 0xff;
                }
                _ => {}
            }
            for (offset, word) in (first + 28 * n as u32..).step_by(4).zip(words) {
                self.set(offset, word);
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        memory: &mut dyn GpuMemory,
        count: u32,
        indices: IndexSource,
        high_first: bool,
    ) -> Result<(), Error> {
        let call = DrawCall { count, indices, high_first };
        let counts = self.draw(memory, &call);
        self.counters.call = Some(call);
        let counts = counts.map_err(|problem| problem.error)?;
        let counters = &mut self.counters;
        counters.drawn += 1;
        counters.samples += counts.samples_passed;
        // The counters of streams stop with the others: drivers stop them around draws of their own.
        if counters.pipeline_on {
            counters.streams[0] += counts.stream_primitives[0];
            counters.streams[1] += counts.stream_primitives[1];
            let add = [
                counts.pixels,
                counts.visible,
                if counts.invocations > 0 { counts.emitted } else { counts.primitives },
                counts.vertices,
                counts.invocations,
                counts.emitted,
                counts.primitives,
                counts.indices,
            ];
            for (sum, add) in counters.pipeline.iter_mut().zip(add) {
                *sum += add;
            }
        }
        counters.last = counts;
        Ok(())
    }

    /// How many vertices stream output has left.
    fn opaque_count(&self) -> u32 {
        let of = |row| self.registers.word(row, 0);
        let filled = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE::REGISTER);
        let offset = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_OFFSET::REGISTER);
        let stride = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE::REGISTER);
        filled.saturating_sub(offset).checked_div(stride).unwrap_or(0)
    }

    fn event(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let event = placed.word(0) & 0x3f;
        match event {
            25 => self.counters.pipeline_on = true,
            26 => self.counters.pipeline_on = false,
            31 => {
                // Filled sizes are always up to date here.
                self.set(vgt::CP_STRMOUT_CNTL::REGISTER.offset, 1);
            }
            _ => {}
        }
        if placed.packet.words.len() < 3 {
            return Ok(());
        }
        let at = address(placed.word(1), placed.word(2)).wrapping_add(placed.relocation()?.base);
        match event {
            // One depth backend.
            21 => self.write_words(memory, "ZPASS_DONE", at, &[self.counters.samples | VALID]),
            30 => self.write_words(memory, "SAMPLE_PIPELINESTAT", at, &self.counters.pipeline.clone()),
            32 => {
                let counts = self.counters.streams.map(|count| count | VALID);
                self.write_words(memory, "SAMPLE_STREAMOUTSTATS", at, &counts)
            }
            _ => Ok(()),
        }
    }

    fn end_of_pipe(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let control = placed.word(2);
        let at = address(placed.word(1), control).wrapping_add(placed.relocation()?.base);
        let data = u64::from(placed.word(3)) | u64::from(placed.word(4)) << 32;
        match control >> 29 {
            1 => self.write(memory, "EVENT_WRITE_EOP", at, &placed.word(3).to_le_bytes()),
            2 => self.write_words(memory, "EVENT_WRITE_EOP", at, &[data]),
            3 => self.write_words(memory, "EVENT_WRITE_EOP", at, &[self.counters.clock]),
            _ => Ok(()),
        }
    }

    /// A wait. Here everything before it has ended, so memory has the value that is waited for, or never will.
    fn wait(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let control = placed.word(0);
        // What the parts of the chip say in registers is not known; drivers' streams wait for what other streams write.
        if control >> 4 & 1 == 0 || !placed.absolute {
            return Ok(());
        }
        let at = address(placed.word(1) & !3, placed.word(2));
        let bytes = self.read(memory, "WAIT_REG_MEM", at, 4)?;
        let found = bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)) & placed.word(4);
        let reference = placed.word(3);
        let (sign, ends) = match control & 7 {
            1 => ("below", found < reference),
            2 => ("at most", found <= reference),
            3 => ("", found == reference),
            4 => ("other than", found != reference),
            5 => ("at least", found >= reference),
            6 => ("above", found > reference),
            _ => ("", true),
        };
        if ends {
            return Ok(());
        }
        let sign = if sign.is_empty() { String::new() } else { format!("{sign} ") };
        let message =
            format!("WAIT_REG_MEM never ends: the dword at {at:#x} is {found:#x}, {sign}{reference:#x} is waited for");
        Err(Error::new("endless-wait", message))
    }

    fn copy_dword(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let control = placed.word(0);
        let value = if control & 1 == 1 {
            let at = address(placed.word(1), placed.word(2)).wrapping_add(placed.relocation()?.base);
            let bytes = self.read(memory, "COPY_DW", at, 4)?;
            bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
        } else {
            self.registers.at(placed.word(1).wrapping_mul(4))
        };
        if control & 2 == 2 {
            let at = address(placed.word(3), placed.word(4)).wrapping_add(placed.relocation()?.base);
            self.write(memory, "COPY_DW", at, &value.to_le_bytes())
        } else {
            self.set(placed.word(3).wrapping_mul(4), value);
            Ok(())
        }
    }

    fn copy_memory(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let command = placed.word(4);
        if command >> 21 != 0 {
            let message = "copies to and from registers, in place and with swapped bytes are not done";
            return Err(Error::new("unsupported-packet", message));
        }
        let length = u64::from(command & 0x1f_ffff);
        let source = address(placed.word(0), placed.word(1)).wrapping_add(placed.relocation()?.base);
        let destination = address(placed.word(2), placed.word(3)).wrapping_add(placed.relocation()?.base);
        let bytes = self.read(memory, "the source of CP_DMA", source, length)?;
        self.write(memory, "the destination of CP_DMA", destination, &bytes)
    }

    fn set_predication(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let control = placed.word(1);
        let op = control >> 16 & 7;
        if op == 0 {
            self.predicate = Predicate::default();
            return Ok(());
        }
        let at = address(placed.word(0) & !15, control).wrapping_add(placed.relocation()?.base);
        let words = |bytes: &[u8]| -> Vec<u64> {
            bytes
                .chunks_exact(8)
                .map(|eight| eight.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
                .collect()
        };
        let visible = match op {
            1 => {
                let of = words(&self.read(memory, "SET_PREDICATION", at, 16)?);
                of[0] & of[1] & VALID != 0 && of[0] != of[1]
            }
            // Nothing overflowed: as many were stored as were to be.
            2 => {
                let of = words(&self.read(memory, "SET_PREDICATION", at, 32)?);
                of[2].wrapping_sub(of[0]) == of[3].wrapping_sub(of[1])
            }
            other => return Err(Error::new("unsupported-packet", format!("predication {other} is not known"))),
        };
        let before = self.predicate.visible.filter(|_| control >> 31 == 1);
        self.predicate = Predicate {
            visible: Some(match (before, op) {
                // One block that overflowed is an overflow.
                (Some(before), 2) => before && visible,
                (Some(before), _) => before || visible,
                (None, _) => visible,
            }),
            draws_visible: control >> 8 & 1 == 1,
        };
        Ok(())
    }

    fn stream_update(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let control = placed.word(0);
        let offset = vgt::VGT_STRMOUT_BUFFER_OFFSET_0::REGISTER.at(control >> 8 & 3);
        let filled = self.registers.at(offset);
        if control & 1 == 1 {
            let at = address(placed.word(1), placed.word(2)).wrapping_add(placed.relocation()?.base);
            self.write(memory, "STRMOUT_BUFFER_UPDATE", at, &filled.to_le_bytes())?;
        }
        match control >> 1 & 3 {
            0 => self.set(offset, placed.word(3)),
            2 => {
                let at = address(placed.word(3), placed.word(4)).wrapping_add(placed.relocation()?.base);
                let bytes = self.read(memory, "STRMOUT_BUFFER_UPDATE", at, 4)?;
                self.set(offset, bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)));
            }
            // From the filled size, which the offset is; or not at all.
            _ => {}
        }
        Ok(())
    }
}
