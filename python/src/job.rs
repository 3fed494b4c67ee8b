//! Jobs, as `ctm run` runs them.

use crate::drive::drive;
use crate::error::{self, findings};
use crate::run::counters;
use ctm::array::Values;
use ctm::job::Reader;
use ctm::trace::{Choice, Limits, Trace};
use ctm::{Control, Position};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A job that has been read.
#[pyclass(frozen, module = "ctm._native")]
pub(crate) struct Job(ctm::Job);

/// An output: its name, its number's name, rows, columns, channels, its type, its numbers as single precision.
type Output<'py> = (String, String, (usize, usize, usize), &'static str, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl Job {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, flags: Vec<(String, String)>) -> PyResult<Self> {
        let mut reader = Reader::for_file(&path).map_err(|e| error::of_job(py, e))?;
        flags.iter().for_each(|(name, value)| reader.flag(name, value));
        reader.finish().map(Self).map_err(|e| error::of_job(py, e))
    }

    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, directory: PathBuf, flags: Vec<(String, String)>) -> PyResult<Self> {
        let mut reader = Reader::for_job(text, "job.toml", &directory);
        flags.iter().for_each(|(name, value)| reader.flag(name, value));
        reader.finish().map(Self).map_err(|e| error::of_job(py, e))
    }

    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let checked = drive(py, &Control::none(), None, || self.0.check())?;
        checked.map(|reports| findings(&reports)).map_err(|e| error::of_job(py, e))
    }

    /// Outputs, files, findings as JSON, counters, seconds of all launches.
    #[allow(clippy::type_complexity, reason = "called by `ctm/__init__.py` alone")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        files: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Output<'py>>, Vec<PathBuf>, String, Bound<'py, PyDict>, f64)> {
        let without = (!files).then(|| self.0.without_files());
        let job = without.as_ref().unwrap_or(&self.0);
        let control = Control::new();
        let ran = drive(py, &control, progress.as_ref(), || {
            job.run_under(&control, |_| {}).map(|report| {
                let arrays =
                    report.outputs.iter().filter_map(|output| Some((output.clone(), report.array(output.slot)?)));
                let arrays: Vec<_> = arrays.collect();
                let counters = report.counters();
                (arrays, report.files, report.reports, counters, report.elapsed)
            })
        })?;
        let (arrays, files, reports, all, elapsed) = ran.map_err(|e| error::of_job(py, e))?;
        let mut outputs = Vec::new();
        for (output, array) in arrays {
            let items = if output.items.is_integer() { "uint32" } else { "float32" };
            let items = if output.items == ctm::array::ItemType::Int32 { "int32" } else { items };
            let shape = (array.height, array.width, array.channels);
            let values = match array.values {
                Values::F32(values) => values,
                Values::U8(_) | Values::U16(_) => array.to_f32(),
            };
            outputs.push((output.name.clone(), output.number(), shape, items, values.into_pyarray(py)));
        }
        Ok((outputs, files, findings(&reports), counters(py, &all)?, elapsed.as_secs_f64()))
    }

    /// The execution of a processor's group, as a page with a slider, as text, and as JSON lines.
    fn trace(&self, py: Python<'_>, i: u32, j: u32) -> PyResult<(String, String)> {
        let traced = drive(py, &Control::none(), None, || {
            Trace::of_job(&self.0, Choice::default(), Position { i, j }, &Limits::default())
                .map(|trace| (trace.html(), trace.json_lines()))
        })?;
        traced.map_err(|e| error::of_job(py, ctm::JobError::from(e)))
    }
}
