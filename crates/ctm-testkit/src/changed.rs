//! Engines with planted errors.

use ctm_exec::plane::Plane;
use ctm_exec::{Control, Engine, Fault, Outcome, r700, x1k};

/// An engine that runs R700 launches as `change` changes them: it gets the launch and an engine.
pub struct Changed<E, F> {
    pub engine: E,
    pub change: F,
}

/// Runs a launch.
pub type LaunchRun<'r> = &'r mut dyn FnMut(&r700::Launch<'_>) -> Result<Outcome, Fault>;

impl<E: Engine, F> Engine for Changed<E, F>
where
    F: Fn(&r700::Launch<'_>, LaunchRun<'_>) -> Result<Outcome, Fault> + Send + Sync,
{
    fn name(&self) -> &'static str {
        "changed"
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        self.engine.run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        (self.change)(launch, &mut |launch| self.engine.run_r700_under(control, launch, memory))
    }
}

/// An engine that begins every launch with this plane in place of the launch's own.
pub struct Begins<E> {
    pub engine: E,
    pub plane: Plane,
}

impl<E: Engine> Engine for Begins<E> {
    fn name(&self) -> &'static str {
        "begins"
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        self.engine.run_x1k_under(control, &x1k::Launch { planes: &[self.plane], ..*launch }, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        self.engine.run_r700_under(control, &r700::Launch { planes: &[self.plane], ..*launch }, memory)
    }
}
