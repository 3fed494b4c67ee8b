//! The part of the Python package that is Rust: functions that `ctm/__init__.py` calls with flat arrays and plain values.
//!
//! There is no logic here that is not about Python: programs, runs, jobs and devices are those of the crate `ctm`. Everything that may take long runs on
//! a thread of its own without Python's lock; the calling thread polls signals and calls the caller's progress function meanwhile.

mod capture;
mod device;
mod draw;
mod drive;
mod error;
mod files;
mod job;
mod program;
mod run;

use pyo3::prelude::*;

/// The module `ctm._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<program::Program>()?;
    module.add_class::<job::Job>()?;
    module.add_class::<device::Device>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::save_file, module)?)?;
    module.add_function(wrap_pyfunction!(draw::draw, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture_streams, module)?)?;
    module.add_function(wrap_pyfunction!(capture::check_capture, module)?)?;
    module.add_function(wrap_pyfunction!(capture::replay_capture, module)?)?;
    module.add_function(wrap_pyfunction!(device::command_words, module)?)?;
    module.add_function(wrap_pyfunction!(device::command_text, module)?)?;
    Ok(())
}
