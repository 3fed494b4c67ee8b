//! Vertex programs: from PVS memory and registers to a program, and from its outputs to the parts of a vertex.

use super::super::device::{Device, DrawOptions};
use super::super::registers::Registers;
use super::units::{FIRST_CONSTANT, FIRST_PLANE, PLANES, UnitState};
use super::vertices::{PER_LAUNCH, ShadedVertex};
use crate::Error;
use crate::registers::clip::r500::VAP_CLIP_CNTL;
use crate::registers::spi::r500::{VAP_OUT_VTX_FMT_0 as Format, VAP_OUT_VTX_FMT_1 as Textures};
use crate::registers::sq::r500 as vap;
use crate::table::bit;
use ctm_exec::pvs::{Outputs, PvsLaunch, Vector};
use ctm_exec::{Control, Fault};
use ctm_isa::pvs::flow::from_registers;
use ctm_isa::pvs::ops::FlowOp;
use ctm_isa::pvs::{CONSTANTS, INPUTS, INSTRUCTION_SLOTS, VertexProgram};

/// The flags of the colours among the outputs, in their order: front 0 and 1, back 0 and 1.
const COLOURS: [crate::table::Bits; 4] = [
    Format::VTX_COLOR_0_PRESENT,
    Format::VTX_COLOR_1_PRESENT,
    Format::VTX_COLOR_2_PRESENT,
    Format::VTX_COLOR_3_PRESENT,
];

impl UnitState {
    /// The vectors of PVS memory from one on.
    fn vectors(&self, first: usize, count: usize) -> &[Vector] {
        self.pvs.as_chunks::<4>().0.get(first..first + count).unwrap_or_default()
    }

    /// The vertex program that registers describe.
    pub(super) fn vertex_program(&self, registers: &Registers) -> VertexProgram {
        let r = registers;
        let slots = std::array::from_fn(|n| {
            [
                r.word(vap::VAP_PVS_FLOW_CNTL_ADDRS_LW_0::REGISTER, n as u32),
                r.word(vap::VAP_PVS_FLOW_CNTL_ADDRS_UW_0::REGISTER, n as u32),
                r.word(vap::VAP_PVS_FLOW_CNTL_LOOP_INDEX_0::REGISTER, n as u32),
            ]
        });
        let flow = from_registers(r.word(vap::VAP_PVS_FLOW_CNTL_OPC::REGISTER, 0), &slots);
        let last = r.get(vap::VAP_PVS_CODE_CNTL_0::PVS_LAST_INST) as u16;
        // Without flow control no path leads beyond the last instruction.
        let has_flow = flow.iter().any(|slot| slot.op != FlowOp::None);
        let count = if has_flow { INSTRUCTION_SLOTS } else { usize::from(last) + 1 };
        VertexProgram {
            first: r.get(vap::VAP_PVS_CODE_CNTL_0::PVS_FIRST_INST) as u16,
            last,
            flow,
            const_base: r.get(vap::VAP_PVS_CONST_CNTL::PVS_CONST_BASE_OFFSET) as u8,
            const_max: r.get(vap::VAP_PVS_CONST_CNTL::PVS_MAX_CONST_ADDR) as u8,
            ..VertexProgram::from_words(self.vectors(0, count).to_vec())
        }
    }

    /// The enabled user planes.
    pub(super) fn user_planes(&self, registers: &Registers) -> [Option<[f32; 4]>; PLANES] {
        let enabled = registers.get(VAP_CLIP_CNTL::UCP_ENA);
        let planes = self.vectors(FIRST_PLANE, PLANES);
        std::array::from_fn(|n| bit(enabled, n as u32).then(|| planes[n].map(f32::from_bits)))
    }
}

/// The parts of a vertex: a program's outputs are numbered by presence (position, point size, four colours, eight texture sets).
fn parts(registers: &Registers, outputs: &Outputs) -> ShadedVertex {
    let r = registers;
    let mut rest = outputs.iter().skip(1).copied();
    let mut take = |is_there: bool| if is_there { rest.next() } else { None };
    let counts = r.word(Textures::REGISTER, 0);
    ShadedVertex {
        position: outputs[0],
        point_size: take(r.flag(Format::VTX_PT_SIZE_PRESENT)).map(|size| size[0]),
        colours: COLOURS.map(|bits| take(r.flag(bits)).unwrap_or_default()),
        textures: std::array::from_fn(|set| take(Textures::FIELDS[set].extract(counts) > 0).unwrap_or_default()),
    }
}

impl Device {
    /// The outputs of vertices with these inputs and numbers, by the vertex program.
    pub(super) fn shaded(
        &self,
        vertices: &[[Vector; INPUTS]],
        numbers: &[u32],
        control: &Control,
    ) -> Result<Vec<ShadedVertex>, Error> {
        let program = self.r500.vertex_program(&self.registers);
        let DrawOptions { one_thread, .. } = self.options;
        let launch = PvsLaunch {
            program: &program,
            constants: self.r500.vectors(FIRST_CONSTANT, CONSTANTS),
            vertices,
            budget: self.draw_budget(1),
            // Threads that wait for the next launch cost more than they save for few vertices.
            one_thread: one_thread || vertices.len() < PER_LAUNCH,
        };
        let outputs = self.engine.run_pvs_under(control, &launch).map_err(|fault| {
            let place = fault.position.map_or(0, |position| position.i as usize);
            let vertex = numbers.get(place).copied().unwrap_or_default();
            let fault = Fault { position: None, ..fault };
            Error::new("draw", format!("vertex program, vertex {vertex}: {fault}"))
        })?;
        Ok(outputs.iter().map(|outputs| parts(&self.registers, outputs)).collect())
    }
}
