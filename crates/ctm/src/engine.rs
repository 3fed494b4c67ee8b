//! Which engine runs programs: the names that people type, and the engines they stand for.
//!
//! Engines give the same bits, faults and counters; the choice is one of speed. What nobody chose is [`EngineKind::preferred`].

use ctm_exec::Engine;
use ctm_exec::x1k::Interp;
use ctm_jit::{BackendError, Jit, Verify};
use std::fmt;

/// An engine by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// The reference interpreter.
    Interp,
    /// The fast engine: machine code where the host allows it, vectors of lanes elsewhere.
    #[default]
    Jit,
    /// Both in lockstep; the first difference is a finding `engine-difference`.
    Verify,
}

impl EngineKind {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Interp, Self::Jit, Self::Verify];

    /// The environment variable that chooses for whoever does not.
    pub const ENVIRONMENT: &str = "CTM_ENGINE";

    /// The name that people type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interp => "interp",
            Self::Jit => "jit",
            Self::Verify => "verify",
        }
    }

    /// The engine of this name.
    ///
    /// ```
    /// use ctm::EngineKind;
    /// assert_eq!(EngineKind::from_name("verify"), Some(EngineKind::Verify));
    /// assert_eq!(EngineKind::from_name("fast"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The engine for whoever does not choose: what `CTM_ENGINE` names, otherwise the fast one.
    ///
    /// # Errors
    /// When `CTM_ENGINE` names no engine.
    pub fn preferred() -> Result<Self, UnknownEngine> {
        match std::env::var_os(Self::ENVIRONMENT).filter(|value| !value.is_empty()) {
            None => Ok(Self::default()),
            Some(name) => {
                let name = name.to_string_lossy();
                Self::from_name(&name).ok_or_else(|| UnknownEngine(name.into_owned()))
            }
        }
    }

    /// Such an engine. What executes machine code's operations is the environment's choice: [`ctm_jit::Backend::from_environment`].
    ///
    /// # Errors
    /// When `CTM_ENGINE_ISA` names what this host does not have.
    pub fn engine(self) -> Result<Box<dyn Engine>, BackendError> {
        Ok(match self {
            Self::Interp => Box::new(Interp),
            Self::Jit => Box::new(Jit::from_environment()?),
            Self::Verify => Box::new(Verify::new(Jit::from_environment()?)),
        })
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `CTM_ENGINE` names no engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEngine(pub String);

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = EngineKind::ALL.map(EngineKind::name).join(", ");
        write!(f, "{} is `{}`, which is no engine; there are {names}", EngineKind::ENVIRONMENT, self.0)
    }
}

impl std::error::Error for UnknownEngine {}
