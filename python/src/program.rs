//! Programs.

use crate::error;
use ctm::Isa;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A program of either instruction set.
#[pyclass(frozen, module = "ctm._native")]

pub(crate) struct Program(pub(crate) ctm::Program);

pub(crate) fn isa(py: Python<'_>, name: Option<&str>) -> PyResult<Option<Isa>> {
    match name {
        None => Ok(None),
        Some("x1k") => Ok(Some(Isa::X1k)),
        Some("r700") => Ok(Some(Isa::R700)),
        Some(other) => Err(error::argument(py, &format!("the instruction set is `{other}`; there are x1k and r700"))),
    }
}

#[pymethods]
impl Program {
    #[staticmethod]
    fn assemble(py: Python<'_>, text: &str, name: Option<&str>) -> PyResult<Self> {
        let program = match isa(py, name)? {
            Some(isa) => ctm::Program::assemble_for(isa, text),
            None => ctm::Program::assemble(text),
        };
        program.map(Self).map_err(|e| error::of_job(py, e))
    }

    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8], name: &str, isa_name: Option<&str>, which: Option<&str>) -> PyResult<Self> {
        let isa = isa(py, isa_name)?;
        ctm::Program::load(data, name, isa, which).map(Self).map_err(|e| error::of_job(py, e))
    }

    fn isa(&self) -> &'static str {
        match self.0.isa() {
            Isa::X1k => "x1k",
            Isa::R700 => "r700",
        }
    }

    fn words(&self) -> Vec<u32> {
        self.0.words()
    }

    fn instructions(&self) -> usize {
        self.0.instructions()
    }

    fn listing(&self) -> String {
        self.0.listing()
    }

    fn source(&self) -> Option<String> {
        self.0.source().map(|source| source.text().to_owned())
    }

    fn check(&self) -> String {
        error::findings(&self.0.check())
    }

    fn warnings(&self) -> String {
        error::findings(self.0.warnings())
    }

    fn inputs(&self) -> Vec<(String, String)> {
        self.0.inputs()
    }

    fn outputs(&self) -> Vec<(String, String)> {
        self.0.outputs()
    }

    fn constants(&self) -> Vec<(String, String)> {
        self.0.constants()
    }

    /// Uniforms of its container, with the constants that each takes.
    fn uniforms(&self) -> Vec<(String, usize)> {
        let uniforms = self.0.as_r700().map(ctm::r700::gfd::uniforms_of).unwrap_or_default();
        uniforms.into_iter().map(|uniform| (uniform.name.clone(), uniform.constants())).collect()
    }

    fn scatters(&self) -> bool {
        self.0.scatters()
    }

    fn uncached(&self) -> bool {
        self.0.as_x1k().is_some_and(|program| program.uncached)
    }

    fn elf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_elf().map(|bytes| PyBytes::new(py, &bytes)).map_err(|e| error::of_job(py, e))
    }

    fn hex(&self) -> String {
        self.0.to_hex()
    }

    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Its source, for loading in another process.
    fn origin<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, String) {
        let (bytes, name) = self.0.origin();
        (PyBytes::new(py, bytes), name.to_owned())
    }
}
