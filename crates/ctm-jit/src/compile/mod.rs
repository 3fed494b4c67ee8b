//! The compiler: the stages of a program, from its instructions to machine code, in their order. It is the only
//! pipeline for programs with masks.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the stages, and the pipeline: [`masked_form`] for all back ends, [`machine_code`] for one target |
//! | `machine` | the stages that make machine code: one struct, one method a stage |
//! | `observe` | dumps of stages (`CTM_DUMP`), and the text of one stage for `ctm emit` |
//! | `emit` | the stages of a program without a launch, for `ctm emit` |
//! | `program` | a program with the code of every back end, each made when it is first needed |
//!
//! After every stage the form is verified in debug builds and tests, and dumped if the environment requests it.

pub mod emit;
#[cfg(target_arch = "x86_64")]
pub mod machine;
pub mod observe;
pub mod program;

#[cfg(target_arch = "x86_64")]
use crate::codegen::x86::masked::Native;
use crate::ir::masked::Code;
use crate::ir::verify::verify;
use crate::ir::x1k;
use crate::lower;
use crate::passes::masked::VarSet;
use crate::passes::table::Pass;
use crate::passes::{breaks, masked, masks};
use ctm_exec::r700::Launch;
use observe::Observer;

/// Makes the enum of stages. A row of two,
///
/// ```text
/// /// Instructions become the masked form.
/// Lower "lower" "lowered";
/// ```
///
/// becomes `Stage::Lower`, with its name in `CTM_DUMP` and that of its result in `ctm emit`.
macro_rules! stages {
    ($($(#[$doc:meta])* $variant:ident $name:literal $result:literal;)*) => {
        /// A stage of the compiler.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $($(#[$doc])* $variant,)*
        }

        impl Stage {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in `CTM_DUMP`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name of its result, as `ctm emit --stage` takes it.
            #[must_use]
            pub const fn result(self) -> &'static str {
                match self { $(Self::$variant => $result,)* }
            }
        }
    };
}

stages! {
    /// Instructions become micro-operations on lane vectors, flow control becomes operations on masks.
    Lower "lower" "lowered";
    /// Mask propagation: operations on masks with known results become copies.
    Masks "masks" "masks";
    /// Live variables, backward: dead operations and stores go, stores without a reader in other lanes lose their mask.
    Liveness "liveness" "liveness";
    /// Instruction selection: operations become vector instructions on virtual registers.
    Select "select" "selected";
    /// Instructions that are emitted as one: comparison and mask, sum and masked store, loop count and branch.
    Fuse "fuse" "fused";
    /// Instructions are grouped into strips, each of which is emitted for one register part after the other.
    Strips "strips" "strips";
    /// Live ranges, then registers and spill slots; the width of a wavefront.
    Allocate "allocate" "allocated";
    /// The layout of the frame.
    Frame "frame" "framed";
    /// Machine code.
    Emit "emit" "code";
}

/// A program to be lowered.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The graph of an X1K program's states, for one group, or (`is_joint`) for several groups that share one decision.
    X1k { graph: &'a x1k::Code, is_joint: bool },
    /// The program of an R700 launch.
    R700(&'a Launch<'a>),
}

/// A program in the masked form, the input of all back ends.
#[derive(Default)]
pub struct Form {
    /// Its blocks.
    pub code: Code,
    /// The variables that are live at the beginning of each block.
    pub live: Vec<VarSet>,
}

/// Lowers a program and optimises its masked form. `is_whole`: all lanes that exist lie in the domain. `None`: it is left to the reference interpreter.
pub fn masked_form(source: Source<'_>, is_whole: bool, observer: &mut Observer) -> Option<Form> {
    let mut form = Form { code: lowered(source)?, live: Vec::new() };
    form.after(Stage::Lower, observer);
    masks::simplify(&mut form.code, is_whole);
    form.after(Stage::Masks, observer);
    form.live = masked::optimise(&mut form.code, is_whole, Pass::Computed.is_on());
    form.after(Stage::Liveness, observer);
    Some(form)
}

/// Makes machine code of a masked form for one target; `None`: memory cannot be made executable, or the frame would be too large.
#[cfg(target_arch = "x86_64")]
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

/// The masked form of a program after lowering.
fn lowered(source: Source<'_>) -> Option<Code> {
    match source {
        Source::R700(launch) => lower::r700::lower(launch),
        Source::X1k { graph, is_joint } => {
            let joined = (is_joint && Pass::Breaks.is_on()).then(|| breaks::joined(graph)).flatten();
            let joined = joined.filter(lower::x1k::joint::holds);
            Some(lower::x1k::masks::lower(joined.as_ref().unwrap_or(graph), is_joint))
        }
    }
}

impl Form {
    /// Verifies and dumps it after a stage.
    fn after(&self, stage: Stage, observer: &mut Observer) {
        if cfg!(debug_assertions)
            && let Err(error) = verify(&self.code)
        {
            panic!("after `{}`: {error}\n{}", stage.name(), self.code);
        }
        observer.after(stage, || self.code.to_string());
    }
}
