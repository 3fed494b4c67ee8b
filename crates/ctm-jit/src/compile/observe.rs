//! Output of the compiler's stages: `CTM_DUMP` prints stages of all programs, `ctm emit` requests the text of one
//! stage.

use super::stage::Stage;
use crate::passes::switches::{SwitchError, Switches};
use std::sync::atomic::{AtomicU32, Ordering};

/// The stages that the environment requests.
static DUMPS: Switches = Switches::new("CTM_DUMP", "stage of the compiler", "");

/// Sees the form after each stage.
#[derive(Debug, Default)]
pub struct Observer {
    /// The stages that are printed to stderr, a bit for each.
    dumps: u64,
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

fn dumps() -> &'static Result<u64, SwitchError> {
    DUMPS.named(Stage::ALL.iter().map(|stage| stage.name()))
}

/// Whether all names in `CTM_DUMP` are stages.
///
/// # Errors
/// When they are not.
pub fn check() -> Result<(), SwitchError> {
    dumps().as_ref().map(drop).map_err(Clone::clone)
}

#[cfg(test)]
#[path = "../../tests/unit/compile/observe.rs"]
mod tests;
