//! The interface between engines and their callers.
//!
//! A launch, its memory and its outcome are values of [`crate::x1k`], [`crate::r700`], [`crate::domain`], [`crate::fault`] and [`crate::outcome`].

pub use crate::domain::{Domain, GroupSize, Position};
pub use crate::fault::{Budget, Fault, FaultKind, MemoryFault};
pub use crate::outcome::{Counters, Finding, Outcome};

use crate::watch::Control;
use crate::{pvs, r700, x1k};

/// Runs programs.
pub trait Engine: Send + Sync {
    /// The name people type: `interp`.
    fn name(&self) -> &'static str;

    /// Runs one X1K program over one domain.
    ///
    /// # Errors
    /// The fault of the first group, in domain order, that did wrong. Groups before it have written their outputs; whether groups after it have is unspecified
    /// where memory maps its arrays ([`x1k::Memory::direct`]).
    fn run_x1k(&self, launch: &x1k::Launch<'_>, memory: &mut dyn x1k::Memory) -> Result<Outcome, Fault> {
        self.run_x1k_under(&Control::none(), launch, memory)
    }

    /// The same under a [`Control`], which can end it.
    ///
    /// # Errors
    /// As [`Self::run_x1k`], and [`FaultKind::Cancelled`].
    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault>;

    /// Runs one R700 program over one domain.
    ///
    /// # Errors
    /// The fault of the first wavefront, in domain order, that did wrong. Wavefronts before it have sent their exports; where memory maps its
    /// targets ([`r700::Memory::direct`]), some after it may have stored theirs. An engine that does not run R700 programs gives [`FaultKind::Unsupported`].
    fn run_r700(&self, launch: &r700::Launch<'_>, memory: &mut dyn r700::Memory) -> Result<Outcome, Fault> {
        self.run_r700_under(&Control::none(), launch, memory)
    }

    /// The same under a [`Control`], which can end it.
    ///
    /// # Errors
    /// As [`Self::run_r700`], and [`FaultKind::Cancelled`].
    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let _ = (control, memory);
        let feature = format!("the engine {} does not run R700 programs", self.name());
        let kind = FaultKind::Unsupported { feature, section: "R700" };
        Err(Fault { kind, pc: launch.program.entry, position: None })
    }

    /// Runs one R700 pixel program over parts, one after the other: a later one stores over an earlier one. `launch.domain` contains all tiles.
    ///
    /// # Errors
    /// As [`Self::run_r700_under`], for the first part that has a fault. Those before it have sent their exports, those after it have not run.
    fn run_r700_parts(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        parts: &[r700::LaunchPart<'_>],
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        one_by_one(self, control, launch, parts, memory)
    }

    /// Runs a vertex program of the R5xx on vertices; gives the outputs of each. An engine without code for these programs runs the reference interpreter.
    ///
    /// # Errors
    /// The fault of the first vertex that did wrong, and [`FaultKind::Cancelled`].
    fn run_pvs_under(&self, control: &Control, launch: &pvs::PvsLaunch<'_>) -> Result<Vec<pvs::Outputs>, Fault> {
        pvs::run_launch(control, launch)
    }
}

/// Runs the parts of a launch ([`Engine::run_r700_parts`]) as launches of their own.
///
/// # Errors
/// As of that function.
pub fn one_by_one<E: Engine + ?Sized>(
    engine: &E,
    control: &Control,
    launch: &r700::Launch<'_>,
    parts: &[r700::LaunchPart<'_>],
    memory: &mut dyn r700::Memory,
) -> Result<Outcome, Fault> {
    let mut all = Outcome::default();
    for part in parts {
        for launch in part.launches(launch) {
            let Outcome { counters, findings } = engine.run_r700_under(control, &launch, memory)?;
            all.counters.add(&counters);
            all.findings.extend(findings);
        }
    }
    Ok(all)
}
