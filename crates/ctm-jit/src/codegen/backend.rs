//! The back ends that can execute the form, and the choice among them.

use super::target::{self, Target};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use super::x86::X86Target;
use std::fmt;

/// The environment variable that names a back end.
const ISA: &str = "CTM_ENGINE_ISA";
/// The environment variable that, when set to anything but `0`, forbids executable memory, as some systems do.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
const NO_EXEC: &str = "CTM_ENGINE_NO_EXEC";

/// The obstacle of [`Backend::Cranelift`] where its crates were not built.
const NO_FEATURE: &str = "this build does not have the feature that";

/// A back end: it executes the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Machine code for x86-64 with AVX-512 (F, DQ and BW).
    Avx512,
    /// Machine code for x86-64 with AVX2 and FMA.
    Avx2,
    /// Machine code with vectors of 128 bits, made by Cranelift, in builds with the feature `cranelift`: on x86-64 with AVX and FMA, and on 64-bit ARM.
    Cranelift,
    /// Plain Rust in rows of 64 lanes; on every host.
    Portable,
}

impl Backend {
    /// All of them, the fastest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Cranelift, Self::Portable];

    /// The fastest one that this host can run: by the features of the processor, the registers that the system saves,
    /// and whether memory can be made executable.
    #[must_use]
    pub fn detect() -> Self {
        Self::fastest(Self::available())
    }

    /// The first of those in the order of [`Self::ALL`].
    fn fastest(available: impl Iterator<Item = Self>) -> Self {
        available.min_by_key(|&backend| Self::ALL.iter().position(|&of| of == backend)).unwrap_or(Self::Portable)
    }

    /// The one that the environment variable `CTM_ENGINE_ISA` names (`avx512`, `avx2`, `cranelift`, `portable`); without it, [`Self::detect`].
    ///
    /// # Errors
    /// When it names no back end, or one that this host cannot run.
    pub fn from_environment() -> Result<Self, BackendError> {
        match std::env::var_os(ISA) {
            None => Ok(Self::detect()),
            Some(name) => Self::named(&name.to_string_lossy()).map_err(|error| BackendError(format!("{ISA}: {error}"))),
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When no back end has this name, or this host cannot run it.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        let list = |backends: &mut dyn Iterator<Item = Self>| {
            backends.map(|backend| format!("`{backend}`")).collect::<Vec<_>>().join(", ")
        };
        let found = Self::ALL.into_iter().find(|backend| backend.name() == name);
        let reason = match found.map(|backend| (backend, backend.obstacle())) {
            Some((backend, None)) => return Ok(backend),
            Some((_, Some(obstacle))) => format!("{obstacle} the back end `{name}` needs"),
            None => format!("`{name}` is no back end of the engine; there are {}", list(&mut Self::ALL.into_iter())),
        };
        Err(BackendError(format!("{reason}; this host can run {}", list(&mut Self::available()))))
    }

    /// The back ends that this host can run, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|backend| backend.obstacle().is_none())
    }

    /// The description of its target.
    pub(crate) const fn description(self) -> &'static Target {
        match self {
            Self::Avx512 => &target::AVX512,
            Self::Avx2 => &target::AVX2,
            Self::Cranelift => &target::CRANELIFT,
            Self::Portable => &target::PORTABLE,
        }
    }

    /// The name that `CTM_ENGINE_ISA` uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Whether launches without divergence run as streams: tiled loops of vector code.
    #[must_use]
    pub const fn has_streams(self) -> bool {
        !matches!(self, Self::Portable)
    }

    /// The target of machine code.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub(crate) fn target(self) -> Option<X86Target> {
        X86Target::ALL.into_iter().find(|target| target.name == self.name())
    }

    /// The first requirement that this host does not meet.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    fn obstacle(self) -> Option<&'static str> {
        if self == Self::Cranelift && !cfg!(feature = "cranelift") {
            return Some(NO_FEATURE);
        }
        if !self.target()?.is_available() {
            return Some("this host does not have what");
        }
        (!executes()).then_some("memory cannot be made executable here, which")
    }

    /// The first requirement that this host does not meet.
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))))]
    fn obstacle(self) -> Option<&'static str> {
        let could = cfg!(target_arch = "aarch64") && self == Self::Cranelift;
        (self != Self::Portable).then_some(if could { NO_FEATURE } else { "this host does not have what" })
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether memory can be made executable here; tested once.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn executes() -> bool {
    static EXECUTES: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let forbidden = || std::env::var_os(NO_EXEC).is_some_and(|value| value != "0");
    *EXECUTES.get_or_init(|| !forbidden() && crate::codegen::x86::executes())
}

/// The reason why a back end is not available, or a pass cannot be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendError(pub(crate) String);

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BackendError {}

#[cfg(test)]
#[path = "../../tests/unit/codegen/backend.rs"]
mod tests;
