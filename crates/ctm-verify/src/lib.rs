//! Two engines in lockstep: the reference interpreter and any other.
//!
//! [`Verify`] is an engine that runs every launch with the reference interpreter and with another engine, and compares all effects. It does
//! not decide which engine is right: the reference interpreter defines the bits, and memory gets its writes.
//!
//! | file | content |
//! |---|---|
//! | `lockstep` | the reference interpreter's writes to memory, with the answers; the other engine's writes, compared with them |
//! | `x1k`, `r700` | launches by two engines, for each instruction set |
//! | `vertices` | the same for vertex programs of the R5xx |
//! | `replay` | the memories that write down and compare, for the X1K |
//! | `target` | targets of outputs |
//! | `shadow` | copies of mapped outputs |
//! | `probe` | the first instruction whose result differs |
//!
//! Begin with `lockstep`. `docs/engine/comparing.md` says which tests compare the fast engine so.
//!
//! ```
//! use ctm_exec::arrays::Picture;
//! use ctm_exec::x1k::{self, Arrays, Constants, Launch, Plane};
//! use ctm_exec::{Budget, Control, Domain, Engine, Fault, GroupSize, Interp, Outcome};
//! use ctm_verify::Verify;
//!
//! /// An engine that drops start values of registers.
//! struct Forgets;
//!
//! impl Engine for Forgets {
//!     fn name(&self) -> &'static str {
//!         "forgets"
//!     }
//!
//!     fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn x1k::Memory) -> Result<Outcome, Fault> {
//!         Interp.run_x1k_under(control, &Launch { planes: &[], ..*launch }, memory)
//!     }
//! }
//!
//! let program = ctm_isa::x1k::text::assemble(".output o = o0\nmov o, r0\nend\n").program.expect("a program");
//! let launch = Launch {
//!     program: &program,
//!     constants: &Constants::default(),
//!     planes: &[Plane::position(0)],
//!     rows: &[],
//!     domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
//!     group: GroupSize::X1K,
//!     draw: ctm_exec::x1k::DrawParts::default(),
//!     budget: Budget::default(),
//!     threads: 1,
//!     checks: false,
//!     counters: false,
//! };
//! let mut memory = Arrays::default();
//! memory.outputs[0] = Some(Picture::filled(8, 8, [0.0; 4]));
//! let (outcome, difference) = Verify::new(Forgets).compare(&launch, &mut memory);
//! assert!(outcome.is_ok());
//! let message = "the engine gave 0x00000000 for r of output 0, the reference 0x3f800000, processor (1, 0)";
//! assert_eq!(difference.map(|difference| difference.to_string()).as_deref(), Some(message));
//! ```

mod lockstep;
mod probe;
mod r700;
mod replay;
mod shadow;
mod target;
mod vertices;
mod x1k;

use ctm_exec::pvs;
use ctm_exec::r700::{Launch as R700Launch, Memory as R700Memory};
use ctm_exec::x1k::{Launch, Memory};
use ctm_exec::{Budget, Control, Engine, Fault, FaultKind, Finding, Instant, Outcome, Position};
use std::fmt;

/// The rule of findings about a difference.
pub const DIFFERENCE: &str = "engine-difference";

/// Runs every launch with the reference interpreter and with another engine, and compares all that they do.
///
/// Memory gets the reference interpreter's writes. The other engine runs afterwards: it reads the reference interpreter's values at the same
/// point, and its writes are compared. Where memory maps its outputs, the engine gets copies of them as they were, so that it runs as it does
/// without this. A difference is reported as a [`Finding`] with the rule [`DIFFERENCE`], or as the fault
/// [`FaultKind::EnginesDisagree`] where the reference interpreter ended with one; [`Verify::compare`] gives it as a value.
///
/// These run once, by the reference interpreter: launches with checks; R700 launches whose outputs may be read as inputs; X1K launches of that kind that read
/// more than eight million elements. Launches whose time is over, or that were cancelled, are not compared.
#[derive(Debug, Default)]
pub struct Verify<E> {
    engine: E,
}

/// Where two engines first disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The instruction whose result differs first, as far as probes find it ([`Verify::compare`]), otherwise that of the fault, if one is concerned.
    pub pc: Option<u32>,
    /// The processor.
    pub position: Option<Position>,
    /// The difference, with the bits of both.
    pub message: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(pc) = self.pc {
            write!(f, ", first seen after instruction {pc}")?;
        }
        if let Some(Position { i, j }) = self.position {
            write!(f, ", processor ({i}, {j})")?;
        }
        Ok(())
    }
}

/// How a launch ended.
type Ended = Result<Outcome, Fault>;
/// How a launch ended, and the first difference.
type Compared = (Ended, Option<Difference>);

impl<E> Verify<E> {
    /// Compares this engine with the reference interpreter.
    #[must_use]
    pub const fn new(engine: E) -> Self {
        Self { engine }
    }
}

impl<E: Engine> Verify<E> {
    /// Runs a launch with both engines. Gives the reference interpreter's result and the first difference.
    ///
    /// When results differ, *probes* look for the instruction: for each instruction in turn, the program is cut after it and made to
    /// output the register that it wrote, and both engines run that. A probe sees the first time that an instruction is reached; there are none
    /// where a launch writes uncached or may read its own writes. Engines may do other work where they count: the launch runs without counters
    /// and with them, in either case.
    pub fn compare(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Compared {
        x1k::compare(&self.engine, &Control::none(), launch, memory)
    }

    /// Runs an R700 launch with both engines. Gives the reference interpreter's result and the first difference: of a memory write, a
    /// vertex event, a thread's exports, the counters or the fault. There are no probes: `pc` is that of the fault, if one is concerned.
    pub fn compare_r700(&self, launch: &R700Launch<'_>, memory: &mut dyn R700Memory) -> Compared {
        r700::compare(&self.engine, &Control::none(), launch, memory)
    }
}

/// The time of a launch is that of all its runs together.
fn until(control: &Control, budget: &Budget) -> Control {
    let deadline = budget.time.and_then(|limit| Instant::now().checked_add(limit));
    deadline.map_or_else(|| control.clone(), |deadline| control.until(deadline))
}

impl<E: Engine> Engine for Verify<E> {
    fn name(&self) -> &'static str {
        "verify"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Ended {
        report(x1k::compare(&self.engine, control, launch, memory), 0)
    }

    fn run_r700_under(&self, control: &Control, launch: &R700Launch<'_>, memory: &mut dyn R700Memory) -> Ended {
        report(r700::compare(&self.engine, control, launch, memory), launch.program.entry)
    }

    fn run_pvs_under(&self, control: &Control, launch: &pvs::PvsLaunch<'_>) -> Result<Vec<pvs::Outputs>, Fault> {
        vertices::compare(&self.engine, control, launch)
    }
}

/// A difference as a finding, or as a fault where the reference interpreter ended with one. `pc`: where it is when nothing else is known.
fn report((result, difference): Compared, pc: u32) -> Ended {
    let Some(difference) = difference else { return result };
    match result {
        Ok(mut outcome) => {
            let Difference { pc: found, position, message } = difference;
            outcome.findings.push(Finding { rule: DIFFERENCE, pc: found.unwrap_or(pc), position, message });
            Ok(outcome)
        }
        Err(fault) => {
            let message = format!("{}; the reference ended with a fault: {fault}", difference.message);
            Err(Fault {
                kind: FaultKind::EnginesDisagree { message },
                pc: difference.pc.unwrap_or(fault.pc),
                position: difference.position.or(fault.position),
            })
        }
    }
}

/// Whether a run ended because its time was over, or it was cancelled: two of them end anywhere.
fn timed_out(result: &Ended) -> bool {
    matches!(result, Err(Fault { kind: FaultKind::TimeBudget { .. } | FaultKind::Cancelled, .. }))
}

#[cfg(test)]
#[path = "../tests/unit/report.rs"]
mod tests;
