//! Which engine runs programs: the names that people type, and the engines they mean.
//!
//! Engines give the same bits, faults and counters; the choice is one of speed. The default is [`EngineKind::preferred`].
//!
//! ```
//! use ctm_device::engine::{EngineError, EngineKind, UnknownEngine};
//! use ctm_exec::Engine;
//!
//! let engine: Box<dyn Engine> = EngineKind::Interp.engine()?;
//! assert_eq!(engine.name(), "interp");
//! assert_eq!(EngineKind::from_name("fast"), None);
//! assert!(UnknownEngine("fast".into()).to_string().contains("interp, jit, verify"));
//! # Ok::<(), EngineError>(())
//! ```

use ctm_exec::{Engine, Interp};
#[cfg(feature = "jit")]
use ctm_jit::{BackendError, Jit};
use std::fmt;

/// An engine by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// The reference interpreter.
    Interp,
    /// The fast engine: machine code where the host allows it, vectors of lanes elsewhere. Needs the feature `jit`.
    Jit,
    /// Both in lockstep; the first difference is a finding `engine-difference`. Needs the feature `jit`.
    Verify,
}

/// The fast engine; without the feature `jit` the reference interpreter.
impl Default for EngineKind {
    fn default() -> Self {
        if cfg!(feature = "jit") { Self::Jit } else { Self::Interp }
    }
}

impl EngineKind {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Interp, Self::Jit, Self::Verify];

    /// The environment variable with the default engine.
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
    /// use ctm_device::EngineKind;
    /// assert_eq!(EngineKind::from_name("verify"), Some(EngineKind::Verify));
    /// assert_eq!(EngineKind::from_name("fast"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The default engine: the one in `CTM_ENGINE`, otherwise the fast one.
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

    /// Such an engine. Its back end is the environment's choice: `ctm_jit::Backend::from_environment`.
    ///
    /// # Errors
    /// When `CTM_ENGINE_ISA` names a back end that this host does not have, or this build has no such engine.
    pub fn engine(self) -> Result<Box<dyn Engine>, EngineError> {
        match self {
            Self::Interp => Ok(Box::new(Interp)),
            #[cfg(feature = "jit")]
            Self::Jit => Ok(Box::new(Jit::from_environment()?)),
            #[cfg(feature = "jit")]
            Self::Verify => Ok(Box::new(ctm_verify::Verify::new(Jit::from_environment()?))),
            #[cfg(not(feature = "jit"))]
            Self::Jit | Self::Verify => Err(EngineError::NotBuilt(self)),
        }
    }

    /// The default engine, whatever the environment says.
    pub(crate) fn plain() -> Box<dyn Engine> {
        #[cfg(feature = "jit")]
        return Box::new(Jit::new());
        #[cfg(not(feature = "jit"))]
        return Box::new(Interp);
    }
}

/// Why there is no such engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// `CTM_ENGINE_ISA` names a back end that this host does not have.
    #[cfg(feature = "jit")]
    Backend(BackendError),
    /// The library was built without the feature `jit`.
    NotBuilt(EngineKind),
}

#[cfg(feature = "jit")]
impl From<BackendError> for EngineError {
    fn from(error: BackendError) -> Self {
        Self::Backend(error)
    }
}

impl EngineError {
    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            #[cfg(feature = "jit")]
            Self::Backend(_) => "engine-isa",
            Self::NotBuilt(_) => "not-built",
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "jit")]
            Self::Backend(error) => error.fmt(f),
            Self::NotBuilt(kind) => {
                write!(f, "this build has no engine `{kind}`: it was made without the feature `jit`; there is interp")
            }
        }
    }
}

impl std::error::Error for EngineError {}

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
