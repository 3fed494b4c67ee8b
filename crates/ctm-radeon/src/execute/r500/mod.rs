//! The packets of an R500: registers, ports, arrays of vertices, draws.
//!
//! | file | subject |
//! |---|---|
//! | `vertices` | vertex fetch |
//! | `draws` | a draw: inputs of the pixel program, targets |
//! | `state` | from registers to the state of a draw |
//! | `targets` | targets and textures |

mod draws;
mod state;
mod targets;
mod vertices;

use super::device::{Device, Placed};
use super::draws::Outline;
use super::memory::GpuMemory;
use super::registers::Registers;
use super::state::SpecialOp;
use crate::Error;
use crate::packets::r500::{
    Command, DrawImmd, DrawImmd2, DrawIndx, DrawIndx2, DrawVbuf, DrawVbuf2, LoadVbpntr, VertexArray,
};
use crate::packets::words::{R500Primitive, VertexFetch, Walk};
use crate::packets::{Kind, Packets};
use crate::registers::{clip, depth, sq, vgt};
use crate::stream::Relocation;
use ctm_draw::Counts;
use ctm_draw::state::Topology;

/// Dwords of PVS memory: 2048 vectors.
const PVS_DWORDS: usize = 4 * 2048;
/// Instructions of US memory, and dwords of each.
const US_INSTRUCTIONS: usize = 512;
const US_WORDS: usize = 6;
/// Constants of US memory, and dwords of each.
const US_CONSTANTS: usize = 256;
const US_COMPONENTS: usize = 4;

/// The parts of an R500 that are no registers.
#[derive(Clone, Debug)]
pub(in crate::execute) struct State {
    /// Vertex programs, their constants, user planes.
    pvs: Vec<u32>,
    /// The dword of PVS memory that its port writes next.
    pvs_next: usize,
    /// Pixel programs.
    us: Vec<[u32; US_WORDS]>,
    /// Their constants.
    us_constants: Vec<[u32; US_COMPONENTS]>,
    /// The dword, from the item of GA_US_VECTOR_INDEX on, that the port writes next.
    us_next: usize,
    /// Arrays of vertices, with their addresses.
    arrays: Vec<(VertexArray, u64)>,
    /// The last draw.
    last: VertexFetch,
    /// Samples that passed since ZB_ZPASS_DATA was written, with its value.
    passed: u32,
}

/// Where the vertices of a draw come from.
#[derive(Clone, Debug)]
enum Source {
    /// The packet.
    Embedded(Vec<u32>),
    /// Arrays, one vertex after the other.
    List,
    /// Arrays, by these indices.
    Indices(Vec<u32>),
}

/// The indices of a draw in the packet after it: their address, and dwords.
pub(super) fn index_buffer_after(mut packets: Packets<'_>, relocations: &[Relocation]) -> Option<(u64, u32)> {
    let packet = packets.next()?.ok()?;
    let Kind::Packet { opcode, .. } = packet.kind else { return None };
    let Some(Command::IndxBuffer(indices)) = Command::of(opcode, packet.words) else { return None };
    let operand = packets.next()?.ok()?.relocation()?;
    let buffer = relocations.get(operand as usize / 4)?;
    Some((buffer.base.wrapping_add(indices.offset.into()), indices.dwords))
}

impl Default for State {
    fn default() -> Self {
        Self {
            pvs: vec![0; PVS_DWORDS],
            pvs_next: 0,
            us: vec![[0; US_WORDS]; US_INSTRUCTIONS],
            us_constants: vec![[0; US_COMPONENTS]; US_CONSTANTS],
            us_next: 0,
            arrays: Vec::new(),
            last: VertexFetch(0),
            passed: 0,
        }
    }
}

/// Registers after a reset. Drivers write everything that they need, but for the steps of the viewport transform: the first draws without
/// a vertex program rely on positions in pixels.
pub(super) fn reset() -> Registers {
    let mut registers = Registers::default();
    let step = clip::r500::VAP_VTE_CNTL::VTX_XY_FMT.field.mask() | clip::r500::VAP_VTE_CNTL::VTX_Z_FMT.field.mask();
    registers.set(clip::r500::VAP_VTE_CNTL::REGISTER.offset, step);
    registers
}

impl State {
    /// A dword through the port of PVS memory. Words after its end are dropped.
    fn write_pvs(&mut self, value: u32) {
        if let Some(dword) = self.pvs.get_mut(self.pvs_next) {
            *dword = value;
        }
        self.pvs_next += 1;
    }

    /// A dword through the port of US memory: an instruction has six, a constant four. Words after the end are dropped.
    fn write_us(&mut self, index: usize, of_constants: bool, value: u32) {
        let next = self.us_next;
        self.us_next += 1;
        let word = if of_constants {
            self.us_constants.get_mut(index + next / US_COMPONENTS).map(|all| &mut all[next % US_COMPONENTS])
        } else {
            self.us.get_mut(index + next / US_WORDS).map(|all| &mut all[next % US_WORDS])
        };
        if let Some(word) = word {
            *word = value;
        }
    }
}

/// The primitives of a draw.
fn topology(primitive: R500Primitive) -> Option<Topology> {
    Some(match primitive {
        R500Primitive::Points => Topology::Points,
        R500Primitive::Lines => Topology::Lines,
        R500Primitive::LineStrip => Topology::LineStrip,
        R500Primitive::Triangles => Topology::Triangles,
        R500Primitive::TriangleFan => Topology::TriangleFan,
        R500Primitive::TriangleStrip => Topology::TriangleStrip,
        R500Primitive::LineLoop => Topology::LineLoop,
        R500Primitive::Quads => Topology::Quads,
        R500Primitive::QuadStrip => Topology::QuadStrip,
        R500Primitive::Polygon => Topology::Polygon,
        R500Primitive::None | R500Primitive::TrianglesWithFlags => return None,
    })
}

pub(super) use draws::pictures;

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
        use sq::r500 as programs;
        let is = |row: &crate::Register| row.offset == offset;
        if is(programs::VAP_PVS_VECTOR_INDX_REG::REGISTER) {
            self.r500.pvs_next = 4 * programs::VAP_PVS_VECTOR_INDX_REG::OCTWORD_OFFSET.field.extract(value) as usize;
        } else if is(programs::VAP_PVS_VECTOR_DATA_REG::REGISTER) || is(programs::VAP_PVS_VECTOR_DATA_REG_128::REGISTER)
        {
            self.r500.write_pvs(value);
        } else if is(programs::GA_US_VECTOR_INDEX::REGISTER) {
            self.r500.us_next = 0;
        } else if is(programs::GA_US_VECTOR_DATA::REGISTER) {
            let index = self.registers.get(programs::GA_US_VECTOR_INDEX::INDEX) as usize;
            let of_constants = self.registers.get(programs::GA_US_VECTOR_INDEX::TYPE) == 1;
            self.r500.write_us(index, of_constants, value);
        } else if is(depth::r500::ZB_ZPASS_DATA::REGISTER) {
            self.r500.passed = value;
        }
    }

    fn load_arrays(&mut self, placed: &mut Placed<'_>) -> Result<(), Error> {
        self.r500.arrays.clear();
        for array in LoadVbpntr::arrays(placed.packet.words) {
            let address = placed.relocation()?.base.wrapping_add(array.address.into());
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
            topology: last.prim_type().and_then(topology),
            count: self.vertex_count(last),
            instances: 1,
            indexed: last.prim_walk() == Some(Walk::Indices),
            special: SpecialOp::Normal,
            targets: draws::targets_told(&self.registers),
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
