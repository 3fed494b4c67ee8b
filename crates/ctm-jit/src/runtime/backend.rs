//! What can execute the form, and which of it is chosen.

use crate::passes::table::PassesError;
use std::fmt;

/// The environment variable that names a back end.
const ISA: &str = "CTM_ENGINE_ISA";
/// The environment variable that, when set to anything but `0`, forbids executable memory, as some systems do.
#[cfg(target_arch = "x86_64")]
const NO_EXEC: &str = "CTM_ENGINE_NO_EXEC";

/// What executes the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Machine code for x86-64 with AVX-512 (F, DQ and BW).
    Avx512,
    /// Machine code for x86-64 with AVX2 and FMA.
    Avx2,
    /// Plain Rust in rows of 64 lanes; on every host.
    Portable,
}

impl Backend {
    /// All of them, the fastest first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The fastest one that this host can run: by what the processor has, what the system keeps for it, and whether memory can be made
    /// executable.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The one that the environment variable `CTM_ENGINE_ISA` names (`avx512`, `avx2`, `portable`); without it, [`Self::detect`].
    ///
    /// # Errors
    /// When it names none, or one that this host cannot run.
    pub fn from_environment() -> Result<Self, BackendError> {
        match std::env::var_os(ISA) {
            None => Ok(Self::detect()),
            Some(name) => {
                Self::named(&name.to_string_lossy()).map_err(|error| BackendError { from_environment: true, ..error })
            }
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none, or this host cannot run it.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        let error = |reason| BackendError { name: name.to_owned(), reason, from_environment: false };
        let found = Self::ALL.into_iter().find(|backend| backend.name() == name);
        let backend = found.ok_or_else(|| error(Reason::Unknown))?;
        if !backend.is_supported() {
            return Err(error(Reason::Processor));
        }
        if backend != Self::Portable && !executes() {
            return Err(error(Reason::Memory));
        }
        Ok(backend)
    }

    /// The back ends that this host can run, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|&b| b == Self::Portable || (b.is_supported() && executes()))
    }

    /// The name that `CTM_ENGINE_ISA` uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        }
    }

    /// The instruction set of machine code.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn isa(self) -> Option<crate::codegen::x86::Isa> {
        match self {
            Self::Avx512 => Some(crate::codegen::x86::Isa::Avx512),
            Self::Avx2 => Some(crate::codegen::x86::Isa::Avx2),
            Self::Portable => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_supported(self) -> bool {
        self.isa().is_none_or(crate::codegen::x86::Isa::is_available)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_supported(self) -> bool {
        self == Self::Portable
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether memory can be made executable here; asked once.
#[cfg(target_arch = "x86_64")]
fn executes() -> bool {
    static EXECUTES: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let forbidden = || std::env::var_os(NO_EXEC).is_some_and(|value| value != "0");
    *EXECUTES.get_or_init(|| !forbidden() && crate::codegen::x86::executes())
}

#[cfg(not(target_arch = "x86_64"))]
const fn executes() -> bool {
    false
}

/// A back end that cannot be had, or a pass that cannot be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendError {
    name: String,
    reason: Reason,
    from_environment: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// No back end has this name.
    Unknown,
    /// The processor lacks it, or the system does not keep its registers.
    Processor,
    /// Memory cannot be made executable.
    Memory,
    /// It is no pass that may be left out.
    Passes,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |backends: &mut dyn Iterator<Item = Backend>| {
            backends.map(|backend| format!("`{backend}`")).collect::<Vec<_>>().join(", ")
        };
        let name = &self.name;
        if self.reason == Reason::Passes {
            return f.write_str(name);
        }
        if self.from_environment {
            write!(f, "{ISA}: ")?;
        }
        match self.reason {
            Reason::Unknown => {
                write!(f, "`{name}` is no back end of the engine; there are {}", list(&mut Backend::ALL.into_iter()))?;
            }
            Reason::Processor => write!(f, "this host does not have what the back end `{name}` needs")?,
            Reason::Passes => {}
            Reason::Memory => {
                write!(f, "memory cannot be made executable here, which the back end `{name}` needs")?;
            }
        }
        write!(f, "; this host can run {}", list(&mut Backend::available()))
    }
}

impl std::error::Error for BackendError {}

impl From<PassesError> for BackendError {
    fn from(error: PassesError) -> Self {
        Self { name: error.to_string(), reason: Reason::Passes, from_environment: true }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/backend.rs"]
mod tests;
