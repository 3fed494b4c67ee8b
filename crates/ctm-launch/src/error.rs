//! Errors of a run.

use ctm_device::EngineError;
use ctm_files::error::{JobError, RunFault};
use ctm_files::render::{self, Report};
use std::fmt;

/// The reason why a run has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The program is wrong; all findings, warnings included.
    Wrong(Vec<Report>),
    /// An argument does not fit the program, or the device.
    Argument(ArgumentError),
    /// Legal, but not part of this build.
    Unsupported(Box<Report>),
    /// A fault of the running program, an exceeded budget, or a cancellation.
    Fault(Box<RunFault>),
    /// There is no such engine on this host or in this build.
    Engine(EngineError),
}

impl Error {
    /// The findings of the error; none for arguments.
    #[must_use]
    pub fn findings(&self) -> &[Report] {
        match self {
            Self::Wrong(reports) => reports,
            Self::Unsupported(report) => std::slice::from_ref(report),
            Self::Fault(fault) => std::slice::from_ref(&fault.report),
            Self::Argument(_) | Self::Engine(_) => &[],
        }
    }

    /// A stable name: that of the first error found, of the fault, or `argument`, `engine-isa`, `not-built`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Wrong(reports) => reports.iter().find(|r| r.is_error()).map_or("wrong", |r| r.diagnostic.rule),
            Self::Unsupported(report) => report.diagnostic.rule,
            Self::Fault(fault) => fault.code,
            Self::Argument(_) => "argument",
            Self::Engine(error) => error.code(),
        }
    }

    /// Whether the caller cancelled the run.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Fault(fault) if fault.code == "cancelled")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
            _ => {
                for (n, report) in self.findings().iter().enumerate() {
                    let newline = if n > 0 { "\n" } else { "" };
                    write!(f, "{newline}{}", render::text(report, false))?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<ArgumentError> for Error {
    fn from(error: ArgumentError) -> Self {
        Self::Argument(error)
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Unsupported(report) => Self::Unsupported(report),
            JobError::Fault(fault) => Self::Fault(fault),
            wrong => Self::Wrong(wrong.reports().to_vec()),
        }
    }
}

/// An argument of a run that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Neither [`size`](crate::Run::size) nor its relatives were called.
    NoDomain,
    /// The domain is empty, or larger than 4096 x 4096.
    Domain {
        /// Columns up to its end.
        columns: u64,
        /// Rows up to its end.
        rows: u64,
    },
    /// The program has nothing of this name.
    UnknownName {
        /// `input`, `output` or a kind of constant.
        what: &'static str,
        /// The given name.
        name: String,
        /// The program's names.
        known: Vec<String>,
    },
    /// Two things were given for the same register.
    Twice {
        /// `input`, `output` or a kind of constant.
        what: &'static str,
        /// As it was given the second time.
        name: String,
    },
    /// The program reads or declares it, and it was not given.
    Missing {
        /// `input` or a kind of constant.
        what: &'static str,
        /// Its name or register.
        name: String,
    },
    /// The program does not write this output.
    NotWritten {
        /// As it was given.
        name: String,
        /// The outputs that the program writes.
        written: Vec<String>,
    },
    /// The count of an array's numbers does not fit its shape, or the shape is invalid.
    Shape {
        /// Which input or output, as it was given.
        name: String,
        /// The value and the allowed ones; lower case, no full stop.
        message: String,
    },
    /// A value that a constant cannot have.
    Value {
        /// As it was given.
        name: String,
        /// The value and the allowed ones; lower case, no full stop.
        message: String,
    },
    /// The instruction set has no such thing.
    WrongIsa {
        /// Its kind, in words.
        what: &'static str,
        /// Whose it is.
        isa: &'static str,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, names: &[String]| match names {
            [] => f.write_str("none"),
            names => f.write_str(&names.join(", ")),
        };
        match self {
            Self::NoDomain => f.write_str("the run has no domain: say how many columns and rows, or how many elements"),
            Self::Domain { columns, rows } => write!(
                f,
                "the domain reaches {columns} columns and {rows} rows; 1 to 4096 each are possible, or a line of 1 to 16777216"
            ),
            Self::UnknownName { what, name, known } => {
                write!(f, "the program has no {what} `{name}`; it has ")?;
                list(f, known)?;
                let near = ctm_isa::suggest::closest(name, known.iter().map(String::as_str));
                near.map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::Twice { what, name } => write!(f, "{what} `{name}` is given twice"),
            Self::Missing { what, name } => write!(f, "the program needs {what} `{name}`, which is not given"),
            Self::NotWritten { name, written } => {
                write!(f, "output `{name}` is asked for, which the program does not write; it writes ")?;
                list(f, written)
            }
            Self::Shape { name, message } | Self::Value { name, message } => write!(f, "`{name}`: {message}"),
            Self::WrongIsa { what, isa } => write!(f, "{what}: only {isa} programs have that"),
        }
    }
}

impl std::error::Error for ArgumentError {}
