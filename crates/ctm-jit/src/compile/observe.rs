//! Output of the compiler's stages: `CTM_DUMP` prints stages of all programs, `ctm emit` requests the text of one
//! stage.

use super::stage::Stage;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable that names stages to print.
const DUMP: &str = "CTM_DUMP";

/// Sees the form after each stage.
#[derive(Debug, Default)]
pub struct Observer {
    /// The stages that are printed to stderr, a bit for each.
    dumps: u16,
    /// The number of the program in dumps; 0 until it is printed.
    number: u32,
    /// The stage whose text is requested.
    wanted: Option<Stage>,
    /// That text, once the stage is done.
    pub text: Option<String>,
}

/// Programs that have been printed.
static PROGRAMS: AtomicU32 = AtomicU32::new(0);

impl Observer {
    /// Prints the stages that `CTM_DUMP` names.
    pub fn of_environment() -> Self {
        Self { dumps: dumps().as_ref().map_or(0, |&dumps| dumps), ..Self::default() }
    }

    /// Records the text of one stage.
    pub fn of_stage(stage: Stage) -> Self {
        Self { wanted: Some(stage), ..Self::default() }
    }

    /// A stage is done, and the form has this text.
    pub fn after(&mut self, stage: Stage, text: impl FnOnce() -> String) {
        let dumps = self.dumps >> (stage as u32) & 1 == 1;
        if !dumps && self.wanted != Some(stage) {
            return;
        }
        let text = text();
        if dumps {
            if self.number == 0 {
                self.number = 1 + PROGRAMS.fetch_add(1, Ordering::Relaxed);
            }
            print(&format!("; program {}, after `{}`\n{text}\n", self.number, stage.name()));
        }
        if self.wanted == Some(stage) {
            self.text = Some(text);
        }
    }
}

#[allow(clippy::print_stderr, reason = "the user has asked for it by `CTM_DUMP`")]
fn print(text: &str) {
    eprint!("{text}");
}

/// The stages that the environment names, as bits; read once.
fn dumps() -> &'static Result<u16, DumpError> {
    static DUMPS: OnceLock<Result<u16, DumpError>> = OnceLock::new();
    DUMPS.get_or_init(|| match std::env::var_os(DUMP) {
        None => Ok(0),
        Some(names) => parse(&names.to_string_lossy()),
    })
}

/// Whether all names in `CTM_DUMP` are stages.
///
/// # Errors
/// It does not.
pub fn check() -> Result<(), DumpError> {
    dumps().as_ref().map(drop).map_err(Clone::clone)
}

fn parse(names: &str) -> Result<u16, DumpError> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(0, |bits, name| {
        let found = Stage::ALL.iter().find(|stage| stage.name() == name);
        found.map(|&stage| bits | 1 << (stage as u32)).ok_or_else(|| DumpError { name: name.to_owned() })
    })
}

/// `CTM_DUMP` names something that is no stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpError {
    name: String,
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = Stage::ALL.iter().map(|stage| format!("`{}`", stage.name())).collect();
        write!(f, "{DUMP}: `{}` is no stage of the compiler; allowed: {}", self.name, names.join(", "))
    }
}

impl std::error::Error for DumpError {}

#[cfg(test)]
#[path = "../../tests/unit/compile/observe.rs"]
mod tests;
