//! Values of a job with the places where they were written, and arrays that are in files or here.

use ctm_files::array::Array;
use ctm_files::render::{Report, TextPlace, report_at};
use ctm_isa::diag::Diagnostic;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A value and where it was written, for messages.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written; `None` for jobs that were made by hand.
    pub place: Option<TextPlace>,
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self { value, place: None }
    }
}

impl<T> Located<T> {
    /// An error about this value.
    pub(crate) fn error(&self, rule: &'static str, message: impl Into<String>) -> Report {
        report_at(self.place.as_ref(), Diagnostic::error(rule, message))
    }
}

/// The elements of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// In a file.
    File(PathBuf),
    /// Here.
    Array(Arc<Array>),
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Array(_) => f.write_str("the array"),
        }
    }
}
