//! Two engines in lockstep: the reference interpreter and the fast engine.

mod lockstep;
mod probe;
mod r700;
mod shadow;
mod x1k;

use crate::Jit;
use ctm_exec::r700::{Launch as R700Launch, Memory as R700Memory};
use ctm_exec::x1k::{Launch, Memory};
use ctm_exec::{Budget, Control, Engine, Fault, FaultKind, Finding, Outcome, Position};
use std::fmt;
use std::time::Instant;

/// The rule of findings about a difference.
pub const DIFFERENCE: &str = "engine-difference";

/// Runs every launch with the reference interpreter and with a [`Jit`], and compares all that they do.
///
/// Memory gets what the reference interpreter sends. The fast engine runs afterwards: it reads what the reference interpreter read at the same
/// point, and what it writes is compared. Where memory lends its outputs, it gets copies of them as they were, so that
/// the code is compared that runs without this. A difference is reported as a [`Finding`] with the rule [`DIFFERENCE`], or as the fault
/// [`FaultKind::EnginesDisagree`] where the reference interpreter ended with one; [`Verify::compare`] gives it as a value.
///
/// These run once, by the reference interpreter: launches with checks, which the fast engine leaves to it; launches that read more than eight
/// million elements where outputs may be read as inputs; R700 launches of that kind. Launches whose time is over, or that were cancelled, are not compared.
#[derive(Debug, Default)]
pub struct Verify {
    fast: Jit,
}

/// Where two engines first disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The instruction whose result differs first, as far as probes find it ([`Verify::compare`]), otherwise that of the fault, if one is concerned.
    pub pc: Option<u32>,
    /// The processor.
    pub position: Option<Position>,
    /// What differs, with the bits of both.
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

impl Verify {
    /// Compares the reference interpreter with this engine.
    #[must_use]
    pub const fn new(fast: Jit) -> Self {
        Self { fast }
    }

    /// Runs a launch with both engines. Gives the reference interpreter's result and the first difference.
    ///
    /// When results differ, *probes* look for the instruction: for each instruction in turn, the program is cut behind it and made to
    /// output the register that it wrote, and both engines run that. A probe sees the first time that an instruction is reached; there are none
    /// where a launch writes uncached or may read what it writes. Code that counts and code that does not are different code: both are compared,
    /// whichever the launch asks for.
    pub fn compare(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Compared {
        x1k::compare(&self.fast, &Control::none(), launch, memory)
    }

    /// Runs an R700 launch with both engines. Gives the reference interpreter's result and the first difference: of a memory write, a
    /// vertex event, a thread's exports, the counters or the fault. There are no probes: `pc` is that of the fault, if one is concerned.
    pub fn compare_r700(&self, launch: &R700Launch<'_>, memory: &mut dyn R700Memory) -> Compared {
        r700::compare(&self.fast, &Control::none(), launch, memory)
    }
}

/// The time of a launch is that of all its runs together.
pub fn until(control: &Control, budget: &Budget) -> Control {
    let deadline = budget.time.and_then(|limit| Instant::now().checked_add(limit));
    deadline.map_or_else(|| control.clone(), |deadline| control.until(deadline))
}

impl Engine for Verify {
    fn name(&self) -> &'static str {
        "verify"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Ended {
        report(x1k::compare(&self.fast, control, launch, memory), 0)
    }

    fn run_r700_under(&self, control: &Control, launch: &R700Launch<'_>, memory: &mut dyn R700Memory) -> Ended {
        report(r700::compare(&self.fast, control, launch, memory), launch.program.entry)
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
pub fn timed_out(result: &Ended) -> bool {
    matches!(result, Err(Fault { kind: FaultKind::TimeBudget { .. } | FaultKind::Cancelled, .. }))
}

#[cfg(test)]
#[path = "../../tests/unit/verify.rs"]
mod tests;
