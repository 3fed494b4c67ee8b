//! The debugger: a [`Session`](ctm::Session) and the user's commands.
//!
//! | file | content |
//! |---|---|
//! | `commands` | every command (table), and its implementation |
//! | `state` | a session and the user's state |
//! | `conditions` | breakpoints |
//! | `views` | masks, stack, origins of values |
//!
//! It uses nothing but [`ctm::trace::Session`]: it has no other access. `ctm debug` reads commands from a terminal, the debug
//! adapter takes them from an editor.

mod commands;
pub(crate) mod conditions;
mod state;
mod views;

pub use commands::{Answer, COMMANDS, DebuggerCommand};
pub use ctm::trace::Direction;
use ctm_exec::Position;
use serde_json::{Value, json};
pub use state::{Debugger, UserState};
pub(crate) use views::shown;

/// The output of a command.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// As text, with line ends.
    pub text: String,
    pub(crate) value: Value,
}

impl Said {
    /// As one object: `command` and the command's output.
    #[must_use]
    pub fn json(&self, command: &str) -> Value {
        let mut value = if self.value.is_object() { self.value.clone() } else { json!({ "text": self.text }) };
        value["command"] = command.into();
        value
    }
}

/// `35,22`.
///
/// # Errors
/// In words: it is no processor.
pub fn position(text: &str) -> Result<Position, String> {
    let wrong = || format!("`{text}` is no processor; write column and row, each 0 to 4095, such as 35,22");
    let (i, j) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&n| n < 4096).ok_or_else(wrong);
    Ok(Position { i: number(i)?, j: number(j)? })
}
