//! The packets of an R500: registers, ports, arrays of vertices, draws.
//!
//! | file | subject |
//! |---|---|
//! | `vertices` | vertex fetch |
//! | `programs` | vertex programs, and the parts of a vertex |
//! | `loaded` | the programs of streams, without drawing |
//! | `units` | memories, arrays and the last draw: what is no register |
//! | `inputs` | the inputs of pixel programs |
//! | `draws` | a draw: vertices, planes, targets |
//! | `pictures` | the contents of targets |
//! | `state` | from registers to the state of a draw |
//! | `targets` | targets |
//! | `textures` | texture units |
//! | `yuv`, `srgb`, `half` | texels of luma and chroma, colours in sRGB, half floats |

mod draws;
mod half;
mod inputs;
mod loaded;
pub(super) mod pictures;
mod programs;
mod srgb;
mod state;
mod targets;
mod textures;
pub(super) mod units;
mod vertices;
mod yuv;

pub use loaded::LoadedPrograms;

use super::device::{Device, Placed};
use super::memory::GpuMemory;
use super::outline::Outline;
use super::state::SpecialOp;
use crate::Error;
use crate::packets::r500::{Command, DrawImmd, DrawImmd2, DrawIndx, DrawIndx2, DrawVbuf, DrawVbuf2, LoadVbpntr};
use crate::packets::words::{VertexFetch, Walk};
use crate::packets::{Kind, Packets};
use crate::registers::{depth, vgt};
use crate::stream::Relocation;
use ctm_draw::Counts;

/// The indices of a draw in the packet after it: their address, and dwords.
pub(super) fn index_buffer_after(mut packets: Packets<'_>, relocations: &[Relocation]) -> Option<(u64, u32)> {
    let packet = packets.next()?.ok()?;
    let Kind::Packet { opcode, .. } = packet.kind else { return None };
    let Some(Command::IndxBuffer(indices)) = Command::of(opcode, packet.words) else { return None };
    let operand = packets.next()?.ok()?.relocation()?;
    let buffer = relocations.get(operand as usize / 4)?;
    Some((buffer.base.wrapping_add(indices.offset.into()), indices.dwords))
}

impl Device {
    /// Runs a packet of an R500.
    pub(in crate::execute) fn r500_packet(
        &mut self,
        placed: &mut Placed<'_>,
        memory: &mut dyn GpuMemory,
    ) -> Result<(), Error> {
        let packet = placed.packet;
        let opcode = match packet.kind {
            Kind::Filler => return Ok(()),
            Kind::Registers { .. } => return self.write_registers(placed, memory),
            Kind::Packet { opcode, .. } => opcode,
        };
        let Some(command) = Command::of(opcode, packet.words) else {
            return Err(Error::new("unsupported-packet", format!("opcode {opcode:#04x} is not executed")));
        };
        match command {
            // The masks of tiles and coarse depth have no effect on pictures; indices belong to the draw before them.
            Command::Nop(_)
            | Command::ClearZmask(_)
            | Command::ClearHiz(_)
            | Command::ClearCmask(_)
            | Command::IndxBuffer(_) => Ok(()),
            Command::LoadVbpntr(_) => self.load_arrays(placed),
            Command::DrawVbuf(DrawVbuf { initiator, .. })
            | Command::DrawImmd(DrawImmd { initiator, .. })
            | Command::DrawIndx(DrawIndx { initiator, .. }) => {
                let payload = packet.words.get(DrawImmd::WORDS.len()..).unwrap_or_default();
                self.draw_r500(placed, memory, initiator, payload)
            }
            Command::DrawVbuf2(DrawVbuf2 { initiator })
            | Command::DrawImmd2(DrawImmd2 { initiator })
            | Command::DrawIndx2(DrawIndx2 { initiator }) => {
                let payload = packet.words.get(DrawImmd2::WORDS.len()..).unwrap_or_default();
                self.draw_r500(placed, memory, initiator, payload)
            }
        }
    }

    fn write_registers(&mut self, placed: &mut Placed<'_>, memory: &mut dyn GpuMemory) -> Result<(), Error> {
        let packet = placed.packet;
        let table = self.chip().registers;
        for (offset, value) in packet.direct_registers() {
            let mut value = value;
            if table.takes_relocation(offset) && !placed.absolute {
                let found = placed.relocation()?;
                // Addresses have 32 bits.
                value = value.wrapping_add(found.base as u32);
                self.registers.set_end(offset, found.base.saturating_add(found.size));
            }
            self.set(offset, value);
            self.port(offset, value);
            if offset == depth::r500::ZB_ZPASS_ADDR::REGISTER.offset {
                self.store_passed(memory, value.into())?;
            }
        }
        Ok(())
    }

    /// Stores the number of samples that passed.
    fn store_passed(&self, memory: &mut dyn GpuMemory, at: u64) -> Result<(), Error> {
        let to = memory.bytes_mut(at, 4).ok_or_else(|| {
            Error::new("outside-memory", format!("ZB_ZPASS_ADDR: 4 bytes at {at:#x} lie outside their buffer"))
        })?;
        to.copy_from_slice(&self.r500.passed.to_le_bytes());
        Ok(())
    }

    /// The effect of a register that is a port or an action.
    fn port(&mut self, offset: u32, value: u32) {
        self.r500.port(&self.registers, offset, value);
        if offset == depth::r500::ZB_ZPASS_DATA::REGISTER.offset {
            self.r500.passed = value;
        }
    }

    fn load_arrays(&mut self, placed: &mut Placed<'_>) -> Result<(), Error> {
        self.r500.arrays.clear();
        for array in LoadVbpntr::arrays(placed.packet.words) {
            // Drivers move arrays of a part of their vertices down.
            let address = placed.relocation()?.base.wrapping_add_signed(array.address.cast_signed().into());
            self.r500.arrays.push((array, address));
        }
        Ok(())
    }

    /// The last draw in a list.
    pub(in crate::execute) fn r500_outline(
        &self,
        placed: &Placed<'_>,
        draw: u32,
        counts: Counts,
        changes: Vec<(u32, u32)>,
    ) -> Outline {
        let last = self.r500.last;
        Outline {
            family: self.chip().family,
            draw,
            dword: placed.packet.at,
            topology: last.prim_type().and_then(units::topology),
            count: self.vertex_count(last),
            instances: 1,
            indexed: last.prim_walk() == Some(Walk::Indices),
            special: SpecialOp::Normal,
            targets: pictures::targets_told(&self.registers),
            changes,
            counts,
        }
    }

    /// Vertices or indices of a draw.
    fn vertex_count(&self, initiator: VertexFetch) -> u32 {
        if initiator.use_alt_num_verts() {
            self.registers.get(vgt::r500::VAP_ALT_NUM_VERTICES::NUM_VERTICES)
        } else {
            initiator.num_vertices()
        }
    }
}
