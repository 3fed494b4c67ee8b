//! The reference interpreter of both instruction sets.

use crate::engine::Engine;
use crate::fault::Fault;
use crate::observe::Watcher;
use crate::outcome::Outcome;
use crate::watch::Control;
use crate::{r700, x1k};

/// The reference interpreter.
///
/// It defines the result bits of every program; other engines are tested against it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interp;

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        x1k::interp::run(control, launch, memory).map(|outcome| outcome.counted(launch.counters))
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        r700::interp::run(control, launch, memory).map(|outcome| outcome.counted(launch.counters))
    }
}

impl Interp {
    /// Runs a launch under a watcher's eyes: group after group, with the same results as otherwise.
    ///
    /// The time budget does not count: a watcher may take as long as it likes.
    ///
    /// # Errors
    /// The fault of the first group that did wrong; [`FaultKind::Stopped`](crate::FaultKind::Stopped) when the watcher wants no more.
    pub fn watch_x1k(
        &self,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Fault> {
        self.watch_x1k_under(&Control::none(), launch, memory, watcher)
    }

    /// As [`Self::watch_x1k`], under a [`Control`]: the steps of a unit end with a fault when it is cancelled or past its deadline.
    ///
    /// # Errors
    /// The same, and the fault that it ends with.
    pub fn watch_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Fault> {
        x1k::interp::watch(control, launch, memory, watcher).map(|outcome| outcome.counted(launch.counters))
    }

    /// As [`Self::watch_x1k_under`], for the R700.
    ///
    /// # Errors
    /// The same.
    pub fn watch_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Fault> {
        r700::interp::watch(control, launch, memory, watcher).map(|outcome| outcome.counted(launch.counters))
    }

    /// As [`Self::watch_x1k`], for the R700.
    ///
    /// # Errors
    /// The same.
    pub fn watch_r700(
        &self,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Fault> {
        self.watch_r700_under(&Control::none(), launch, memory, watcher)
    }
}
