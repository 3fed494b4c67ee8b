//! When draws are joined, and when they run.

use super::device::{Device, Problem};
use super::draws::DrawVertices;
use super::joined::{Joined, MOST_VERTICES};
use super::memory::GpuMemory;
use super::numbering::VertexFetches;
use super::outline::{DrawCall, IndexSource};
use super::programs::ProgramRegisters;
use super::resources::{self, Bound, BufferWords};
use super::state::{self, Geometry, SpecialOp};
use super::targets::Bindings;
use crate::Error;
use crate::packets::Command;
use crate::packets::words::EventType;
use crate::registers::resource::{VALID_BUFFER, kind_of};
use crate::registers::{scan, vgt};
use ctm_draw::assembly::vertex_numbers;
use ctm_draw::state::{Draw, Topology};
use ctm_exec::r700::Buffer;
use ctm_exec::r700::vertex::VertexFetch;

/// Whether a packet has no effect on draws that wait but by registers.
pub(super) const fn leaves_draws(command: &Command) -> bool {
    if let Command::EventWrite(packet) = command {
        // Execution in order has nothing to wait for, and no caches.
        return matches!(
            packet.event.event(),
            Some(
                EventType::CacheFlush
                    | EventType::CacheFlushAndInvEvent
                    | EventType::PsPartialFlush
                    | EventType::VsPartialFlush
                    | EventType::VgtFlush
                    | EventType::FlushAndInvDbMeta
                    | EventType::FlushAndInvCbMeta
            )
        );
    }
    matches!(
        command,
        Command::Nop(_)
            | Command::ContextControl(_)
            | Command::SurfaceSync(_)
            | Command::Start3dCmdbuf(_)
            | Command::SurfaceBaseUpdate(_)
            | Command::SetResource(_)
            | Command::SetConfigReg(_)
            | Command::SetContextReg(_)
            | Command::SetAluConst(_)
            | Command::SetBoolConst(_)
            | Command::SetLoopConst(_)
            | Command::SetSampler(_)
            | Command::SetCtlConst(_)
            | Command::IndexType(_)
            | Command::NumInstances(_)
            | Command::DrawIndex(_)
            | Command::DrawIndex2(_)
            | Command::DrawIndexAuto(_)
            | Command::DrawIndexImmd(_)
            | Command::DrawIndexImmdBe(_)
    )
}

/// Whether a packet that ends joined draws has no effect on draws of the queue.
pub(super) const fn leaves_queue(command: &Command) -> bool {
    let Command::EventWrite(packet) = command else { return false };
    matches!(packet.event.event(), Some(EventType::PipelinestatStart | EventType::PipelinestatStop))
}

impl Device {
    /// Joins a draw to others that wait, or makes it the first one of them; returns whether it did.
    ///
    /// # Errors
    /// Indices outside of memory.
    pub(super) fn join(&mut self, memory: &mut dyn GpuMemory, call: &DrawCall) -> Result<bool, Error> {
        if !self.may_be_joined(call) {
            self.draw_joined(memory);
            return Ok(false);
        }
        let bytes = 4 * u64::from(call.count);
        let reads = |joined: &Joined| matches!(call.indices, IndexSource::Memory(at) if joined.writes((at, bytes)));
        let registers = &self.registers;
        if self.joined.as_mut().is_some_and(|joined| !joined.is_current(registers) || reads(joined)) {
            self.draw_joined(memory);
        }
        self.surfaces.release(memory);
        let vertices: Vec<Option<u32>> = {
            let indices = self.indices(memory, call)?;
            let input = state::input_state(&self.registers);
            let topology = Topology::Points;
            let draw = Draw { topology, indices: indices.as_indices(), count: call.count, instances: 1 };
            vertex_numbers(&draw, &input).collect()
        };
        let add = |device: &mut Self, memory: &mut dyn GpuMemory| {
            if let (Some(joined), true) = (&device.joined, device.queue.is_some() || device.surfaces.has_clears()) {
                let ranges = joined.read_ranges(&device.registers);
                ranges.into_iter().for_each(|range| device.finish_range(memory, range));
            }
            let registers = &device.registers;
            device.joined.as_mut().is_some_and(|joined| joined.add(memory, registers, &vertices))
        };
        if add(self, memory) {
            return Ok(true);
        }
        self.draw_joined(memory);
        self.joined = self.first_joined(memory);
        let is_first = add(self, memory);
        if !is_first {
            self.joined = None;
        }
        Ok(is_first)
    }

    /// Whether a draw is small, and nothing depends on where it begins and ends.
    fn may_be_joined(&self, call: &DrawCall) -> bool {
        let r = &self.registers;
        (1..=MOST_VERTICES).contains(&call.count)
            && !self.is_observed()
            && state::special_op(r) == SpecialOp::Normal
            && state::geometry(r) == Geometry::Off
            && r.word(vgt::VGT_NUM_INSTANCES::REGISTER, 0) == 1
            && state::stream_output(r).is_none()
            && !r.flag(scan::PA_SC_MODE_CNTL::LINE_STIPPLE_ENABLE)
            && state::topology(r).is_some_and(|topology| topology != Topology::Rectangles)
    }

    /// The first one of draws that are joined; `None` where its programs, buffers and targets do not allow it.
    fn first_joined(&mut self, memory: &mut dyn GpuMemory) -> Option<Joined> {
        let mut part = self.part(memory, &ProgramRegisters::VERTEX).ok()?;
        let (loaded, fetch) = (part.loaded.clone(), part.fetch.clone()?);
        let VertexFetches { by_vertex, others } = fetch.fetches.as_ref()?;
        if !loaded.leaves_number || !loaded.textures.is_empty() {
            return None;
        }
        let bindings = Bindings::of(&self.registers).ok()?;
        if bindings.are_layered() {
            return None;
        }
        let bound = Bound::new(&self.registers, part.set, &part.wanted, memory, &[]).ok()?;
        let mut fetched: Vec<(u8, Buffer, u64)> = Vec::new();
        for inst in by_vertex {
            let id = inst.word0.buffer_id;
            let words = self.registers.resource(ProgramRegisters::FETCH.set.first_resource() + u32::from(id));
            // The program itself, or other fetches, may read it by other numbers.
            if kind_of(&words) != VALID_BUFFER || loaded.buffers.contains(&id) || others.contains(&id) {
                return None;
            }
            let buffer = BufferWords::of(&words).buffer;
            let of = VertexFetch::new(&bound, inst).ok()?;
            let reach = of.offset(0) + of.size_bytes();
            match fetched.iter_mut().find(|fetched| fetched.0 == id) {
                Some(fetched) => fetched.2 = fetched.2.max(reach),
                None => fetched.push((id, buffer, reach)),
            }
        }
        // No later draw may read the writes of an earlier one.
        part.wanted.buffers.retain(|&id| fetched.iter().all(|fetched| fetched.0 != id));
        let mut read = resources::ranges(&self.registers, part.set, &part.wanted, &mut self.surfaces);
        if ProgramRegisters::PIXEL.address(&self.registers) != 0 {
            let part = self.part(memory, &ProgramRegisters::PIXEL).ok()?;
            read.extend(resources::ranges(&self.registers, part.set, &part.wanted, &mut self.surfaces));
        }
        let joined = Joined::new(fetched, bindings.ranges(), self.place);
        let is_apart = !read.into_iter().any(|range| joined.writes(range));
        is_apart.then_some(joined)
    }

    /// Draws the draws that wait.
    pub(super) fn draw_joined(&mut self, memory: &mut dyn GpuMemory) {
        let Some(mut joined) = self.joined.take() else { return };
        joined.exchange(&mut self.registers);
        let drawn = self.draw_these(memory, &DrawVertices::Joined(&joined));
        joined.exchange(&mut self.registers);
        match drawn {
            Ok(counts) => {
                self.counters.joined += joined.draws - 1;
                self.count(counts);
            }
            Err(error) => {
                let (dword, draw) = joined.first;
                self.problems.push(Problem { dword, draw: Some(draw), error });
            }
        }
    }
}
