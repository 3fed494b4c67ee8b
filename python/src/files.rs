//! Files that are named in Python: opened and saved as everywhere.

use crate::error;
use ctm::files::open::{OpenError, Problem};
use ctm::files::{FileKind, read, save};
use pyo3::exceptions::PyIsADirectoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The bytes of a file of a kind, by the kind's name.
#[pyfunction]
pub(crate) fn read_file<'py>(py: Python<'py>, path: PathBuf, kind: &str) -> PyResult<Bound<'py, PyBytes>> {
    let kind = FileKind::ALL.into_iter().find(|known| known.name() == kind);
    let kind = kind.ok_or_else(|| error::argument(py, "there is no such kind of file"))?;
    let bytes = py.detach(|| read(&path, kind)).map_err(|e| refused(py, e))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Saves bytes: the old file or the whole new one.
#[pyfunction]
pub(crate) fn save_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    Ok(py.detach(|| save(&path, data))?)
}

/// System errors become Python's own exceptions.
fn refused(py: Python<'_>, e: OpenError) -> PyErr {
    let message = e.to_string();
    match e.problem {
        Problem::Io(e) => std::io::Error::new(e.kind(), message).into(),
        Problem::NotRegular("directory") => PyIsADirectoryError::new_err(message),
        _ => error::raise(py, "argument", &message, "cannot-read", &[], (None, None)),
    }
}
