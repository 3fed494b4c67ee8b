//! Packets other than draws, and their effects: registers, fences, queries, copies, predication.

use super::counters::Predicate;
use super::device::{Device, Placed};
use super::joins::{leaves_draws, leaves_queue};
use super::memory::GpuMemory;
use super::outline::{DrawCall, IndexSource};
use super::registers::{follows_base, is_relocated, plain_from};
use crate::Error;
use crate::packets::r700::{
    CopyDw, CpDma, DrawIndexImmd, DrawIndexImmdBe, EventWrite, EventWriteEop, SetPredication, StrmoutBufferUpdate,
    WaitRegMem,
};
use crate::packets::words::{DataSelect, EventType, OffsetSource, PredicateOp, PredicationControl, WaitFunction};
use crate::packets::{Command, Kind};
use crate::registers::{RESOURCES, SAMPLERS, resource, vgt};
use crate::table::{in_256, join, little_endian};
use ctm_draw::Counts;

/// The bit that says that a result is there.
const VALID: u64 = 1 << 63;

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
            Kind::Registers { .. } => {
                packet.direct_registers().for_each(|(offset, value)| self.set(offset, value));
                return Ok(());
            }
            Kind::Packet { opcode, .. } => opcode,
        };
        let Some(command) = packet.command() else {
            return Err(Error::new("unsupported-packet", format!("opcode {opcode:#04x} is not executed")));
        };
        if !leaves_draws(&command) {
            self.draw_joined(memory);
            if !leaves_queue(&command) {
                self.draw_queued(memory);
            }
        }
        match command {
            Command::WaitRegMem(wait) => self.wait(&wait, placed.absolute, memory),
            Command::Nop(_)
            | Command::ContextControl(_)
            | Command::SurfaceSync(_)
            | Command::Start3dCmdbuf(_)
            | Command::SurfaceBaseUpdate(_) => Ok(()),
            // Packets of programs on the bare chip: execution in order has nothing to wait for and no one to notify.
            Command::MeInitialize(_)
            | Command::PfpSyncMe(_)
            | Command::CpInterrupt(_)
            | Command::IndirectBufferEnd(_)
                if placed.absolute =>
            {
                Ok(())
            }
            Command::SetResource(_) => self.set_resources(placed),
            Command::SetConfigReg(_)
            | Command::SetContextReg(_)
            | Command::SetAluConst(_)
            | Command::SetBoolConst(_)
            | Command::SetLoopConst(_)
            | Command::SetSampler(_)
            | Command::SetCtlConst(_) => self.set_registers(placed),
            Command::IndexType(packet) => {
                self.set(vgt::VGT_DMA_INDEX_TYPE::REGISTER.offset, packet.kind.0);
                Ok(())
            }
            Command::NumInstances(packet) => {
                self.set(vgt::VGT_NUM_INSTANCES::REGISTER.offset, packet.count);
                Ok(())
            }
            Command::DrawIndex(packet) => {
                let at = placed.address(packet.address, packet.high.high())?;
                self.call(memory, packet.count, IndexSource::Memory(at), false)
            }
            Command::DrawIndex2(packet) => {
                let at = placed.address(packet.address, packet.high.high())?;
                self.call(memory, packet.count, IndexSource::Memory(at), false)
            }
            Command::DrawIndexAuto(packet) => {
                let count = if packet.initiator.use_opaque() { self.opaque_count() } else { packet.count };
                self.call(memory, count, IndexSource::Counted, false)
            }
            Command::DrawIndexImmd(DrawIndexImmd { count, .. }) => {
                let words = packet.words.get(DrawIndexImmd::WORDS.len()..).unwrap_or_default().to_vec();
                self.call(memory, count, IndexSource::Packet(words), false)
            }
            Command::DrawIndexImmdBe(DrawIndexImmdBe { count, .. }) => {
                let words = packet.words.get(DrawIndexImmdBe::WORDS.len()..).unwrap_or_default().to_vec();
                self.call(memory, count, IndexSource::Packet(words), true)
            }
            Command::EventWrite(packet) => self.event(&packet, placed, memory),
            Command::EventWriteEop(packet) => self.end_of_pipe(&packet, placed, memory),
            Command::MemWrite(packet) => {
                let control = packet.control;
                let at = placed.address(packet.address.address(), control.high())?;
                let data = join(packet.low, packet.high);
                let bytes = if control.cntr_sel() { self.counters.clock } else { data }.to_le_bytes();
                self.write(memory, "MEM_WRITE", at, &bytes[..if control.data32() { 4 } else { 8 }])
            }
            Command::CopyDw(packet) => self.copy_dword(&packet, placed, memory),
            Command::CpDma(packet) => self.copy_memory(&packet, placed, memory),
            Command::SetPredication(packet) => self.set_predication(&packet, placed, memory),
            Command::StrmoutBufferUpdate(packet) => self.stream_update(&packet, placed, memory),
            Command::StrmoutBaseUpdate(packet) => {
                let base = placed.relocation()?.base;
                let row = vgt::VGT_STRMOUT_BASE_OFFSET_0::REGISTER;
                self.set(row.at(packet.buffer % row.count), packet.base.wrapping_add(in_256(base)));
                Ok(())
            }
            Command::IndirectBufferEnd(_)
            | Command::RegRmw(_)
            | Command::CondExec(_)
            | Command::PredExec(_)
            | Command::IndirectBuffer(_)
            | Command::IndirectBufferMp(_)
            | Command::MemSemaphore(_)
            | Command::MpegIndex(_)
            | Command::CpInterrupt(_)
            | Command::PfpSyncMe(_)
            | Command::MeInitialize(_)
            | Command::CondWrite(_)
            | Command::OneRegWrite(_)
            | Command::LoadConfigReg(_)
            | Command::LoadContextReg(_)
            | Command::LoadAluConst(_)
            | Command::LoadBoolConst(_)
            | Command::LoadLoopConst(_)
            | Command::LoadResource(_)
            | Command::LoadSampler(_)
            | Command::LoadCtlConst(_) => {
                let name = packet.info().map_or("the packet", |row| row.name);
                Err(Error::new("unsupported-packet", format!("{name} is not executed")))
            }
        }
    }

    /// Consecutive registers; a relocation is added to each that is an address, in order.
    fn set_registers(&mut self, placed: &mut Placed<'_>) -> Result<(), Error> {
        let packet = placed.packet;
        let Some((first, values)) = packet.registers() else {
            return Err(Error::new("bad-register", "the packet begins outside its registers"));
        };
        if placed.absolute {
            values.iter().zip((first..).step_by(4)).for_each(|(&value, offset)| self.set(offset, value));
            return Ok(());
        }
        let mut n = 0;
        while let Some(&value) = values.get(n) {
            let offset = first + 4 * n as u32;
            let plain = plain_from(offset).min(values.len() - n);
            if plain > 0 {
                self.set_all(offset, &values[n..n + plain]);
                n += plain;
                continue;
            }
            n += 1;
            if follows_base(offset).is_some() && !placed.has_relocation() {
                // Compression without a relocation is at its target's address; nothing is compressed here.
                self.set(offset, value);
            } else if is_relocated(offset) {
                let found = placed.relocation()?;
                self.set(offset, value.wrapping_add(in_256(found.base)));
                self.set_end(offset, found.base.saturating_add(found.size));
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
            match resource::kind_of(&words) {
                resource::VALID_TEXTURE => {
                    for word in &mut words[2..4] {
                        *word = word.wrapping_add(in_256(placed.relocation()?.base));
                    }
                }
                resource::VALID_BUFFER => {
                    let base = resource::buffer_address(&words).wrapping_add(placed.relocation()?.base);
                    resource::set_buffer_address(&mut words, base);
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
        let counts = match self.join(memory, &call) {
            Ok(true) => Ok(None),
            Ok(false) => self.draw(memory, &call).map(Some).map_err(|problem| problem.error),
            Err(error) => Err(error),
        };
        self.counters.call = Some(call);
        let counts = counts?;
        self.counters.drawn += 1;
        if let Some(counts) = counts {
            self.count(counts);
        }
        Ok(())
    }

    /// Adds the counts of a draw, or of several.
    pub(super) fn count(&mut self, counts: Counts) {
        let counters = &mut self.counters;
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
    }

    /// How many vertices stream output has left.
    fn opaque_count(&self) -> u32 {
        let of = |row| self.registers.word(row, 0);
        let filled = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE::REGISTER);
        let offset = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_OFFSET::REGISTER);
        let stride = of(vgt::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE::REGISTER);
        filled.saturating_sub(offset).checked_div(stride).unwrap_or(0)
    }

    fn event(&mut self, packet: &EventWrite, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let event = packet.event.event();
        match event {
            Some(EventType::PipelinestatStart) => self.counters.pipeline_on = true,
            Some(EventType::PipelinestatStop) => self.counters.pipeline_on = false,
            Some(EventType::SoVgtstreamoutFlush) => {
                // Filled sizes are always up to date here.
                self.set(vgt::CP_STRMOUT_CNTL::REGISTER.offset, 1);
            }
            _ => {}
        }
        if placed.packet.words.len() < EventWrite::WORDS.len() {
            return Ok(());
        }
        let at = placed.address(packet.address, packet.high.high())?;
        match event {
            // One depth backend.
            Some(EventType::ZpassDone) => self.write_words(memory, "ZPASS_DONE", at, &[self.counters.samples | VALID]),
            Some(EventType::SamplePipelinestat) => {
                self.write_words(memory, "SAMPLE_PIPELINESTAT", at, &self.counters.pipeline.clone())
            }
            Some(EventType::SampleStreamoutstats) => {
                let counts = self.counters.streams.map(|count| count | VALID);
                self.write_words(memory, "SAMPLE_STREAMOUTSTATS", at, &counts)
            }
            _ => Ok(()),
        }
    }

    fn end_of_pipe(
        &mut self,
        packet: &EventWriteEop,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        let at = placed.address(packet.address, packet.control.high())?;
        let data = join(packet.low, packet.data_high);
        match packet.control.data_sel() {
            Some(DataSelect::Low32) => self.write(memory, "EVENT_WRITE_EOP", at, &packet.low.to_le_bytes()),
            Some(DataSelect::All64) => self.write_words(memory, "EVENT_WRITE_EOP", at, &[data]),
            Some(DataSelect::Clock) => self.write_words(memory, "EVENT_WRITE_EOP", at, &[self.counters.clock]),
            Some(DataSelect::Nothing) | None => Ok(()),
        }
    }

    /// A wait. Here everything before it has ended, so memory has the value that is waited for, or never will.
    fn wait(&mut self, packet: &WaitRegMem, absolute: bool, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        // The registers of the chip's parts are not known; drivers' streams wait for values that other streams write.
        if !packet.control.mem() || !absolute {
            return Ok(());
        }
        let at = join(packet.address.address(), packet.high.high());
        let bytes = self.read(memory, "WAIT_REG_MEM", at, 4)?;
        let (found, reference) = (little_endian(&bytes) as u32 & packet.mask, packet.reference);
        let (sign, ends) = match packet.control.function() {
            Some(WaitFunction::Less) => ("below ", found < reference),
            Some(WaitFunction::Lequal) => ("at most ", found <= reference),
            Some(WaitFunction::Equal) => ("", found == reference),
            Some(WaitFunction::Notequal) => ("other than ", found != reference),
            Some(WaitFunction::Gequal) => ("at least ", found >= reference),
            Some(WaitFunction::Greater) => ("above ", found > reference),
            Some(WaitFunction::Always) | None => ("", true),
        };
        if ends {
            return Ok(());
        }
        let message =
            format!("WAIT_REG_MEM never ends: the dword at {at:#x} is {found:#x}, {sign}{reference:#x} is waited for");
        Err(Error::new("endless-wait", message))
    }

    fn copy_dword(
        &mut self,
        packet: &CopyDw,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        let value = if packet.control.src_mem() {
            let at = placed.address(packet.source, packet.source_high.high())?;
            little_endian(&self.read(memory, "COPY_DW", at, 4)?) as u32
        } else {
            self.registers.at(packet.source.wrapping_mul(4))
        };
        if packet.control.dst_mem() {
            let at = placed.address(packet.destination, packet.destination_high.high())?;
            self.write(memory, "COPY_DW", at, &value.to_le_bytes())
        } else {
            self.set(packet.destination.wrapping_mul(4), value);
            Ok(())
        }
    }

    fn copy_memory(
        &mut self,
        packet: &CpDma,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        if packet.command.0 != packet.command.bytes() {
            let message = "copies to and from registers, in place and with swapped bytes are not done";
            return Err(Error::new("unsupported-packet", message));
        }
        let length = u64::from(packet.command.bytes());
        let source = placed.address(packet.source, packet.source_high.high())?;
        let destination = placed.address(packet.destination, packet.destination_high.high())?;
        let bytes = self.read(memory, "the source of CP_DMA", source, length)?;
        self.write(memory, "the destination of CP_DMA", destination, &bytes)
    }

    fn set_predication(
        &mut self,
        packet: &SetPredication,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        let control = packet.control;
        let Some(op) = control.op() else {
            let message = format!("predication {} is not known", control.get(PredicationControl::OP));
            return Err(Error::new("unsupported-packet", message));
        };
        if op == PredicateOp::Clear {
            self.predicate = Predicate::default();
            return Ok(());
        }
        let at = placed.address(packet.address.address(), control.high())?;
        let bytes = self.read(memory, "SET_PREDICATION", at, op.bytes())?;
        let of: Vec<u64> = bytes.chunks_exact(8).map(little_endian).collect();
        let visible = match op {
            PredicateOp::Clear => true,
            PredicateOp::Zpass => of[0] & of[1] & VALID != 0 && of[0] != of[1],
            // Nothing overflowed: as many were stored as were to be.
            PredicateOp::Primcount => of[2].wrapping_sub(of[0]) == of[3].wrapping_sub(of[1]),
        };
        let before = self.predicate.visible.filter(|_| control.continues());
        self.predicate = Predicate {
            visible: Some(match (before, op) {
                // One block that overflowed is an overflow.
                (Some(before), PredicateOp::Primcount) => before && visible,
                (Some(before), _) => before || visible,
                (None, _) => visible,
            }),
            draws_visible: control.draw_visible(),
        };
        Ok(())
    }

    fn stream_update(
        &mut self,
        packet: &StrmoutBufferUpdate,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        let control = packet.control;
        let offset = vgt::VGT_STRMOUT_BUFFER_OFFSET_0::REGISTER.at(control.buffer());
        let filled = self.registers.at(offset);
        if control.store_filled_size() {
            let at = placed.address(packet.destination, packet.destination_high.high())?;
            self.write(memory, "STRMOUT_BUFFER_UPDATE", at, &filled.to_le_bytes())?;
        }
        match control.source() {
            Some(OffsetSource::Packet) => self.set(offset, packet.source),
            Some(OffsetSource::Memory) => {
                let at = placed.address(packet.source, packet.source_high.high())?;
                let bytes = self.read(memory, "STRMOUT_BUFFER_UPDATE", at, 4)?;
                self.set(offset, little_endian(&bytes) as u32);
            }
            // The filled size is the offset; or the offset is unchanged.
            Some(OffsetSource::FilledSize | OffsetSource::None) | None => {}
        }
        Ok(())
    }
}
