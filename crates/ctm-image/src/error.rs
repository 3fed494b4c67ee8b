//! Errors of images.

use std::fmt;

/// Why a file cannot be read, or a program cannot be stored. Offsets are bytes from the start of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// Something reaches beyond the end of the input.
    Truncated {
        /// The item that exceeds the end.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// How many bytes it has.
        size: u64,
        /// How many bytes the input has.
        available: u64,
    },
    /// A field holds a number that it must not hold.
    Field {
        /// The field's name in the format's documentation.
        field: &'static str,
        /// Where the field is.
        offset: u64,
        /// Its contents.
        found: u64,
        /// The allowed values.
        allowed: String,
    },
    /// A part that must be there is not.
    Missing {
        /// The part.
        what: &'static str,
        /// Where it was looked for.
        offset: u64,
        /// Who says that it must be there.
        cite: &'static str,
    },
    /// A part that may be there once is there twice.
    Duplicate {
        /// The part.
        what: &'static str,
        /// Where the second one is.
        offset: u64,
        /// Where the first one is.
        first: u64,
    },
    /// Text that is not made of hexadecimal words.
    HexText {
        /// Line, from 1.
        line: u32,
        /// Column in characters, from 1.
        column: u32,
        /// Byte offset.
        offset: u64,
        /// The found value.
        found: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The input is of another kind than the requested one.
    Kind {
        /// The recognised kind.
        found: &'static str,
        /// The requested kind.
        allowed: &'static str,
    },
    /// The format has no room for the program that was to be stored.
    TooMany {
        /// The item that is too large.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        allowed: u64,
    },
    /// A program to be stored contradicts itself or the format.
    Unstorable {
        /// The part of the program.
        what: &'static str,
        /// The error, and the allowed values.
        message: String,
    },
}

impl ImageError {
    /// The byte of the input that the error is about; `None` for errors of writing.
    #[must_use]
    pub const fn offset(&self) -> Option<u64> {
        match self {
            Self::Truncated { offset, .. }
            | Self::Field { offset, .. }
            | Self::Missing { offset, .. }
            | Self::Duplicate { offset, .. }
            | Self::HexText { offset, .. } => Some(*offset),
            Self::Kind { .. } => Some(0),
            Self::TooMany { .. } | Self::Unstorable { .. } => None,
        }
    }

    /// The error's name in kebab-case, for machines; stable.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "image-truncated",
            Self::Field { .. } => "image-field",
            Self::Missing { .. } => "image-missing-part",
            Self::Duplicate { .. } => "image-duplicate-part",
            Self::HexText { .. } => "image-hex-text",
            Self::Kind { .. } => "image-kind",
            Self::TooMany { .. } => "image-too-many",
            Self::Unstorable { .. } => "image-unstorable",
        }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { what, offset, size, available } => write!(
                f,
                "{what} at byte {offset} ({offset:#x}) has {size} bytes and reaches beyond the end at byte {available}"
            ),
            Self::Field { field, offset, found, allowed } => {
                write!(f, "`{field}` at byte {offset} ({offset:#x}) is {found} ({found:#x}); allowed: {allowed}")
            }
            Self::Missing { what, offset, cite } => {
                write!(f, "there is no {what} (looked for at byte {offset}); {cite} requires it")
            }
            Self::Duplicate { what, offset, first } => {
                write!(f, "a second {what} at byte {offset} ({offset:#x}); the first is at byte {first} ({first:#x})")
            }
            Self::HexText { line, column, found, allowed, .. } => {
                write!(f, "line {line}, column {column}: found {found}; allowed: {allowed}")
            }
            Self::Kind { found, allowed } => write!(f, "the file is {found}, not {allowed}"),
            Self::TooMany { what, found, allowed } => {
                write!(f, "the program has {found} {what}; the format holds {allowed}")
            }
            Self::Unstorable { what, message } => write!(f, "{what} cannot be stored: {message}"),
        }
    }
}

impl std::error::Error for ImageError {}

/// Something about a file that is odd, but does not prevent its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Byte offset of the place.
    pub offset: u64,
    /// The found value, and the expected one; lower case, no full stop.
    pub message: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} ({:#x}): {}", self.offset, self.offset, self.message)
    }
}
