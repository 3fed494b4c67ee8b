//! The parts of an R500 that are no registers: memories behind ports, arrays of vertices, the last draw.

use super::super::registers::Registers;
use super::state::UNSCALED;
use super::textures::Cache;
use crate::packets::r500::VertexArray;
use crate::packets::words::{R500Primitive, VertexFetch};
use crate::registers::sq::r500 as programs;
use crate::registers::{clip, setup};
use ctm_draw::state::Topology;

/// Dwords of PVS memory: 2048 vectors.
pub(super) const PVS_DWORDS: usize = 4 * 2048;
/// The vector of PVS memory that holds constant 0 of the machine.
pub(super) const FIRST_CONSTANT: usize = 1024;
/// The vector of PVS memory that holds user plane 0, and the number of planes.
pub(super) const FIRST_PLANE: usize = 1536;
pub(super) const PLANES: usize = 6;
/// Instructions of US memory, and dwords of each.
pub(super) const US_INSTRUCTIONS: usize = 512;
pub(super) const US_WORDS: usize = 6;
/// Constants of US memory, and dwords of each.
pub(super) const US_CONSTANTS: usize = 256;
pub(super) const US_COMPONENTS: usize = 4;

/// The parts of an R500 that are no registers.
#[derive(Clone, Debug)]
pub(in crate::execute) struct UnitState {
    /// Vertex programs, their constants, user planes.
    pub(super) pvs: Vec<u32>,
    /// The dword of PVS memory that its port writes next.
    pub(super) pvs_next: usize,
    /// Pixel programs.
    pub(super) us: Vec<[u32; US_WORDS]>,
    /// Their constants.
    pub(super) us_constants: Vec<[u32; US_COMPONENTS]>,
    /// The dword, from the item of GA_US_VECTOR_INDEX on, that the port writes next.
    pub(super) us_next: usize,
    /// Arrays of vertices, with their addresses.
    pub(super) arrays: Vec<(VertexArray, u64)>,
    /// The last draw.
    pub(super) last: VertexFetch,
    /// Samples that passed since ZB_ZPASS_DATA was written, with its value.
    pub(super) passed: u32,
    /// Converted textures.
    pub(super) textures: Cache,
}

/// Where the vertices of a draw come from.
#[derive(Clone, Debug)]
pub(super) enum VertexInput {
    /// The packet.
    Embedded(Vec<u32>),
    /// Arrays, one vertex after the other.
    List,
    /// Arrays, by these indices.
    Indices(Vec<u32>),
}

impl Default for UnitState {
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
            textures: Cache::default(),
        }
    }
}

/// Registers after a reset. Drivers write everything that they need, but for the steps of the viewport transform: the first draws without
/// a vertex program rely on positions in pixels. x and y are cut off at w.
pub(in crate::execute) fn reset() -> Registers {
    let mut registers = Registers::default();
    let step = clip::r500::VAP_VTE_CNTL::VTX_XY_FMT.field.mask() | clip::r500::VAP_VTE_CNTL::VTX_Z_FMT.field.mask();
    registers.set(clip::r500::VAP_VTE_CNTL::REGISTER.offset, step);
    for row in [clip::r500::VAP_GB_HORZ_CLIP_ADJ::REGISTER, clip::r500::VAP_GB_VERT_CLIP_ADJ::REGISTER] {
        registers.set(row.offset, 1f32.to_bits());
    }
    registers.set(setup::r500::SU_DEPTH_SCALE::REGISTER.offset, UNSCALED.to_bits());
    registers
}

impl UnitState {
    /// The effect of a register that is a port of a memory, or says where one goes on.
    pub(super) fn port(&mut self, registers: &Registers, offset: u32, value: u32) {
        let is = |row: &crate::Register| row.offset == offset;
        if is(programs::VAP_PVS_VECTOR_INDX_REG::REGISTER) {
            self.pvs_next = 4 * programs::VAP_PVS_VECTOR_INDX_REG::OCTWORD_OFFSET.field.extract(value) as usize;
        } else if is(programs::VAP_PVS_VECTOR_DATA_REG::REGISTER) || is(programs::VAP_PVS_VECTOR_DATA_REG_128::REGISTER)
        {
            self.write_pvs(value);
        } else if is(programs::GA_US_VECTOR_INDEX::REGISTER) {
            self.us_next = 0;
        } else if is(programs::GA_US_VECTOR_DATA::REGISTER) {
            let index = registers.get(programs::GA_US_VECTOR_INDEX::INDEX) as usize;
            let of_constants = registers.get(programs::GA_US_VECTOR_INDEX::TYPE) == 1;
            self.write_us(index, of_constants, value);
        }
    }

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
pub(super) fn topology(primitive: R500Primitive) -> Option<Topology> {
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
