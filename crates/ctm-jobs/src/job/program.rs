//! Programs of passes, of either instruction set.

use ctm_files::render::Source;
use std::sync::Arc;

/// The program of a pass.
#[derive(Clone, Debug)]
pub struct PassProgram {
    /// It.
    pub program: AnyProgram,
    /// R700: the fetch program that it calls.
    pub fetch: Option<ctm_isa::r700::Program>,
    /// The text that it came from; its spans point there.
    pub source: Option<Arc<Source>>,
}

/// The program of a launch, without a text.
impl From<&ctm_exec::x1k::Launch<'_>> for PassProgram {
    fn from(launch: &ctm_exec::x1k::Launch<'_>) -> Self {
        Self { program: AnyProgram::X1k(launch.program.clone()), fetch: None, source: None }
    }
}

/// The program of a launch, without a text.
impl From<&ctm_exec::r700::Launch<'_>> for PassProgram {
    fn from(launch: &ctm_exec::r700::Launch<'_>) -> Self {
        let fetch = launch.fetch_program.cloned();
        Self { program: AnyProgram::R700(launch.program.clone()), fetch, source: None }
    }
}

/// A program of either instruction set.
#[derive(Clone, Debug)]
pub enum AnyProgram {
    /// For the X1K.
    X1k(ctm_isa::x1k::Program),
    /// For the R700.
    R700(ctm_isa::r700::Program),
}
