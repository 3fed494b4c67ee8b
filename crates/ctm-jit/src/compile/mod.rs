//! The compiler: the stages of a program, from its instructions to machine code, in their order. It is the only
//! pipeline.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the pipeline: [`masked_form`] for all back ends, [`machine_code`] for one target |
//! | `stage` | the table of stages; the masked form after them |
//! | `machine` | the stages that make machine code: one struct, one method a stage |
//! | `observe` | dumps of stages (`CTM_DUMP`), and the text of one stage for `ctm emit` |
//! | `emit` | the stages of a program without a launch, for `ctm emit` |
//! | `stream` | the stages of a stream: [`stream_code`] for a kind of launches, [`stream::kernel`] for a tile's shape |
//! | `text` | the text of strips and of machine code |
//! | `program` | a program with the code of every back end, each made when it is first needed |
//!
//! After every stage the form is verified in debug builds and tests, and dumped if the environment requests it.

pub mod emit;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub mod machine;
pub mod observe;
pub mod program;
pub mod stage;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub mod stream;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
mod text;

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::codegen::x86::masked::Native;
use crate::passes::table::Pass;
use crate::passes::{breaks, masked, masks};
use ctm_exec::r700::Launch;
use ctm_ir::lower;
use ctm_ir::masked::Code;
use ctm_ir::verify::verify;
use ctm_ir::x1k;
use observe::Observer;
use stage::checked;
pub use stage::{Form, Stage};

/// A program to be lowered.
#[derive(Clone, Copy)]
pub enum LoweringInput<'a> {
    /// The graph of an X1K program's states, for one group, or (`is_joint`) for several groups that share one decision.
    X1k { graph: &'a x1k::Code, is_joint: bool },
    /// The program of an R700 launch.
    R700(&'a Launch<'a>),
    /// A lowered vertex program.
    Pvs(&'a Code),
}

/// Lowers a program and optimises its masked form. `is_whole`: all lanes that exist lie in the domain. `None`: it is left to the reference interpreter.
pub fn masked_form(source: LoweringInput<'_>, is_whole: bool, observer: &mut Observer) -> Option<Form> {
    let mut form = Form { code: lowered(source)?, live: Vec::new() };
    form.after(Stage::Lower, observer);
    masks::simplify(&mut form.code, is_whole);
    form.after(Stage::Masks, observer);
    form.live = masked::optimise(&mut form.code, is_whole, Pass::Computed.is_on());
    form.after(Stage::Liveness, observer);
    Some(form)
}

/// Makes machine code of a masked form for one target; `None`: memory cannot be made executable, or the frame would be too large.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub fn machine_code(inputs: machine::Inputs<'_>, observer: &mut Observer) -> Option<Native> {
    use machine::Machine;
    let mut machine = Machine::new(inputs);
    machine.run(Stage::Select, Machine::select, observer);
    machine.run(Stage::Fuse, Machine::fuse, observer);
    machine.run(Stage::Strips, Machine::strips, observer);
    machine.run(Stage::Allocate, Machine::allocate, observer);
    machine.run(Stage::Frame, Machine::frame, observer);
    machine.run(Stage::Emit, Machine::emit, observer);
    machine.native()
}

/// Tiles a uniform program and selects its instructions; `None`: the launch is no stream.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub fn stream_code(inputs: &stream::Inputs<'_>, observer: &mut Observer) -> Option<stream::Selected> {
    let tiled = stream::tile(inputs, observer)?;
    Some(stream::select((inputs.target, inputs.geometry), tiled, observer))
}

/// The masked form of a program after lowering.
fn lowered(source: LoweringInput<'_>) -> Option<Code> {
    match source {
        LoweringInput::R700(launch) => lower::r700::lower(launch),
        LoweringInput::Pvs(code) => Some(code.clone()),
        LoweringInput::X1k { graph, is_joint } => {
            let joined = (is_joint && Pass::Breaks.is_on()).then(|| breaks::joined(graph)).flatten();
            let joined = joined.filter(lower::x1k::joint::holds);
            Some(lower::x1k::masks::lower(joined.as_ref().unwrap_or(graph), is_joint))
        }
    }
}

impl Form {
    /// Verifies and dumps it after a stage.
    fn after(&self, stage: Stage, observer: &mut Observer) {
        checked(stage, || verify(&self.code), || self.code.to_string());
        observer.after(stage, || self.code.to_string());
    }
}
