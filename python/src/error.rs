//! Errors and findings as Python has them.

use ctm::render;
use ctm::{Error, JobError, Report};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Findings as one JSON array; each also has its rendered `text`.
pub(crate) fn findings(reports: &[Report]) -> String {
    let mut out = String::from("[");
    for (n, report) in reports.iter().enumerate() {
        let mut value = render::json(report);
        if let Some(object) = value.as_object_mut() {
            object.insert("text".to_owned(), render::text(report, false).into());
        }
        if n > 0 {
            out.push(',');
        }
        out.push_str(&value.to_string());
    }
    out.push(']');
    out
}

/// An exception of `ctm._errors`: its kind, message, code, findings as JSON, instruction and processor.
pub(crate) fn raise(
    py: Python<'_>,
    kind: &str,
    message: &str,
    code: &str,
    reports: &[Report],
    place: (Option<u32>, Option<(u32, u32)>),
) -> PyErr {
    let made = py
        .import("ctm._errors")
        .and_then(|module| module.getattr("make")?.call1((kind, message, code, findings(reports), place.0, place.1)));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

pub(crate) fn of(py: Python<'_>, error: &Error) -> PyErr {
    let (kind, place) = match error {
        Error::Argument(_) => ("argument", (None, None)),
        Error::Fault(fault) if fault.code == "cancelled" => ("cancelled", (fault.pc, None)),
        Error::Fault(fault) => ("fault", (fault.pc, fault.position.map(|at| (at.i, at.j)))),
        Error::Wrong(_) => ("program", (None, None)),
        _ => ("error", (None, None)),
    };
    raise(py, kind, &error.to_string(), error.code(), error.findings(), place)
}

/// Why nothing was drawn.
pub(crate) fn of_draw(py: Python<'_>, error: ctm::draw::Error) -> PyErr {
    use ctm::draw::Error as Wrong;
    let message = error.to_string();
    match error {
        Wrong::Job(error) => of_job(py, error),
        Wrong::Draw(_, ctm::ctm_draw::DrawError::Program { fault, .. }) => {
            let kind = if fault.code() == "cancelled" { "cancelled" } else { "fault" };
            raise(py, kind, &message, fault.code(), &[], (Some(fault.pc), fault.position.map(|at| (at.i, at.j))))
        }
        Wrong::Wrong { rule, .. } => raise(py, "argument", &message, rule, &[], (None, None)),
        _ => raise(py, "error", &message, "draw", &[], (None, None)),
    }
}

pub(crate) fn of_job(py: Python<'_>, error: JobError) -> PyErr {
    of(py, &Error::from(error))
}

/// An invalid argument.
pub(crate) fn argument(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "argument", message, "argument", &[], (None, None))
}

/// A thread of the library panicked: a bug.
pub(crate) fn internal() -> PyErr {
    PyRuntimeError::new_err("a bug in ctm: a thread of it ended in a panic")
}
