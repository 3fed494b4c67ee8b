//! Errors of a file or a stream that a caller hands in.

use std::fmt;

/// Why a file, a text or a stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// A short name of the kind of error, for programs.
    pub kind: &'static str,
    /// The value, the allowed ones, and the place.
    pub message: String,
}

impl Error {
    /// An error of a kind.
    #[must_use]
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
