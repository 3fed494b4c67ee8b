//! The commands of an R700 launch on a device.

use super::{BoundR700, named};
use crate::client::{Client, Start, Use, bytes_of};
use crate::error::{ArgumentError, Error};
use crate::landing::{common_mask, elsewhere};
use crate::model::Done;
use crate::source::DeviceArray;
use ctm_device::commands::{
    BufferPlace, CommandBuffer, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot,
};
use ctm_exec::GroupSize;
use ctm_files::r700::target_name;
use ctm_isa::r700::program::{Program, SymbolKind};

impl BoundR700<'_> {
    /// Runs it on arrays in the client's device, as one submission.
    pub fn run_on(self, client: &mut Client) -> Result<Done, Error> {
        let program = &*self.program;
        let near = self.reads.textures.keys().map(|&n| named(program, SymbolKind::Resource, 't', n));
        let mut near = near.chain(self.reads.buffers.keys().map(|&n| named(program, SymbolKind::Buffer, 'b', n)));
        if let Some(name) = near.next() {
            return Err(elsewhere(name, false).into());
        }
        if self.emits {
            let message = "the program emits vertices, whose list a launch on a device does not return";
            return Err(ArgumentError::Value { name: "events".to_owned(), message: message.to_owned() }.into());
        }
        let mut commands = self.state(client)?;
        for (&slot, array) in &self.textures {
            // Samplers have numbers of their own.
            let plain = ctm_exec::x1k::Sampler::default();
            let columns = u16::try_from(array.columns).unwrap_or(u16::MAX);
            commands = commands.set_inp_fmt(slot, &array.surface).set_inp_sampler(slot, &plain, columns);
        }
        for (&id, sampler) in &self.reads.samplers {
            commands = commands.set_sampler(id, sampler);
        }
        for (&slot, DeviceArray { surface, .. }) in &self.buffers {
            let bytes = u32::try_from(surface.bytes()).unwrap_or(u32::MAX);
            let stride_bytes = surface.format.element_bytes();
            let place = BufferPlace { base: surface.base, bytes, stride_bytes, format: Default::default() };
            commands = commands.set_vtx_buffer(slot, &place);
        }
        for (&target, output) in &self.outputs {
            commands = commands.set_export(target, output.there(|| target_name(target))?);
        }
        let mut memories = Vec::new();
        for (&space, dwords) in &self.reads.spaces {
            let base = client.put(Use::Space(space), &bytes_of(dwords))?;
            let size = u32::try_from(dwords.len() * 4).unwrap_or(u32::MAX);
            let place = MemoryPlace { base, bytes: size, item: self.item(space) };
            commands = commands.set_memory(MemoryKind::from(space), &place);
            memories.push((space, base, dwords.len()));
        }
        let start = Start {
            mask: common_mask(self.outputs.values())?,
            conditional: self.conditional.as_ref(),
            planes: Some(&self.planes),
            domain: self.domain,
            text: (&program.spans, self.source),
        };
        let mut done = client.launch(commands, &start)?;
        for (space, base, dwords) in memories {
            done.memories.insert(space, client.dwords(base, dwords)?);
        }
        Ok(done)
    }

    /// Programs, constants and the registers of a host.
    fn state(&self, client: &mut Client) -> Result<CommandBuffer, Error> {
        let mut place = |program: &Program| -> Result<ProgramPlace, Error> {
            let base = client.put(Use::Program, &bytes_of(&program.words))?;
            Ok(ProgramPlace::words(base, program))
        };
        let main = place(&self.program)?;
        let fetch = self.fetch.map(&mut place).transpose()?;
        let wavefront = self.options.group.unwrap_or(GroupSize::R700);
        let threads = u16::try_from(self.host.group_threads).unwrap_or(u16::MAX);
        let [vertex, instance] = self.host.index_offsets;
        let mut commands = CommandBuffer::new()
            .set_program(ProgramSlot::Main, &main)
            .set_stage(self.stage)
            .set_chip(self.host.chip, u16::try_from(wavefront.lanes()).unwrap_or(0))
            .set_thread_group(threads)
            .set_global_gprs(self.host.global_gprs)
            .set_index_offsets(vertex, instance);
        if let Some(fetch) = fetch {
            commands = commands.set_program(ProgramSlot::Fetch, &fetch);
        }
        let rows = self.host.semantics;
        if !rows.is_empty() {
            let rows: Vec<u8> = rows.iter().flat_map(|row| [row.id, row.gpr, 0, 0]).collect();
            let count = u8::try_from(self.host.semantics.len()).unwrap_or(u8::MAX);
            commands = commands.set_semantics(client.put(Use::Semantics, &rows)?, count);
        }
        let file = self.constants.file.as_flattened();
        let loops = self.constants.loops.map(|of| {
            u32::from(of.count) & 0xfff | (u32::from(of.start) & 0xfff) << 12 | u32::from(of.step.cast_unsigned()) << 24
        });
        let bools = self.constants.bool.map(u32::from);
        commands = commands
            .set_constf_fmt(client.put(Use::Floats, &bytes_of(file))?)
            .set_loop_consts(client.put(Use::Integers, &bytes_of(&loops))?)
            .set_constb_fmt(client.put(Use::Booleans, &bytes_of(&bools))?);
        for (&bank, rows) in &self.reads.constants {
            let base = client.put(Use::Bank(bank), &bytes_of(rows.as_flattened()))?;
            let constants = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            commands = commands.set_const_buffer(bank, &ConstantsPlace { base, constants });
        }
        Ok(commands)
    }
}
