//! Values of options that several commands take, and their parsers.

use clap::ValueEnum;
use ctm::EngineKind;
use std::time::Duration;

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The instruction set, where a file does not say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsaName {
    /// X1K (R5xx)
    X1k,
    /// R700
    R700,
}

impl From<IsaName> for ctm::job::Isa {
    fn from(name: IsaName) -> Self {
        match name {
            IsaName::X1k => Self::X1k,
            IsaName::R700 => Self::R700,
        }
    }
}

/// The instruction set of a program file, where it does not say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgramIsa {
    /// X1K (R5xx)
    X1k,
    /// R700
    R700,
    /// Vertex programs of the R5xx
    Pvs,
}

impl ProgramIsa {
    /// The instruction set, if its programs run in launches.
    pub(crate) const fn launched(self) -> Option<ctm::job::Isa> {
        match self {
            Self::X1k => Some(ctm::job::Isa::X1k),
            Self::R700 => Some(ctm::job::Isa::R700),
            Self::Pvs => None,
        }
    }
}

/// Wall time; `None`: any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) Option<Duration>);

/// Parses a number of seconds; 0 is any.
pub(crate) fn seconds(text: &str) -> Result<Budget, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    let time = Duration::try_from_secs_f64(number).map_err(|_| format!("{text} s cannot be waited for"))?;
    Ok(Budget((!time.is_zero()).then_some(time)))
}

/// Parses the name of an engine.
pub(crate) fn engine(name: &str) -> Result<EngineKind, String> {
    let names = || EngineKind::ALL.map(EngineKind::name).join(", ");
    EngineKind::from_name(name).ok_or_else(|| format!("there is no such engine; there are {}", names()))
}
