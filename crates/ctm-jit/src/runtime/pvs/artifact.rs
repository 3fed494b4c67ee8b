//! Vertex programs, lowered once and cached by all parameters of lowering.

use crate::compile::LoweringInput;
use crate::compile::program::CompiledProgram;
use crate::launch::wavefronts::wave::LANES;
use ctm_exec::pvs::PvsLaunch;
use ctm_ir::lower::pvs::{Lowered, input, lower};
use ctm_ir::masked::Var;
use ctm_isa::pvs::INPUTS;
use ctm_isa::pvs::flow::to_registers;

/// All parameters of lowering.
pub fn key(launch: &PvsLaunch<'_>) -> Vec<u32> {
    let program = launch.program;
    let (opc, slots) = to_registers(&program.flow);
    let mut key = vec![program.first.into(), program.last.into(), program.const_max.into(), opc];
    if opc != 0 {
        key.extend(slots.as_flattened());
    }
    key.extend(program.words.as_flattened());
    key
}

/// A program, ready to run.
pub struct Artifact {
    pub program: CompiledProgram,
    /// Instructions that each vertex executes.
    pub executed: u64,
}

impl Artifact {
    /// The program of a launch; `None` when it is left to the reference interpreter.
    pub fn new(launch: &PvsLaunch<'_>) -> Option<Self> {
        let Lowered { code, executed } = lower(launch.program)?;
        let mut given = vec![false; Var::COUNT];
        for register in 0..INPUTS {
            (0..4).for_each(|component| given[input(register, component).index()] = true);
        }
        let program = CompiledProgram::new(LoweringInput::Pvs(&code), false, LANES, &given)?;
        Some(Self { program, executed })
    }
}
