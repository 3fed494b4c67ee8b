//! Environment variables that list names: of passes to leave out, of stages to print.

use std::fmt;
use std::sync::OnceLock;

/// A variable whose names are read once.
pub struct Switches {
    /// The variable.
    pub variable: &'static str,
    /// The kind of its names, in messages.
    pub kind: &'static str,
    /// The sign before each name.
    pub sign: &'static str,
    /// The names, as bits.
    named: OnceLock<Result<u64, SwitchError>>,
}

/// A variable contains a name that it does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchError(String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SwitchError {}

impl Switches {
    /// A variable that has not been read.
    pub const fn new(variable: &'static str, kind: &'static str, sign: &'static str) -> Self {
        Self { variable, kind, sign, named: OnceLock::new() }
    }

    /// The names in the environment: a bit for each of `names`.
    pub fn named(&self, names: impl Iterator<Item = &'static str>) -> &Result<u64, SwitchError> {
        self.named.get_or_init(|| match std::env::var_os(self.variable) {
            None => Ok(0),
            Some(list) => self.parse(&list.to_string_lossy(), names),
        })
    }

    /// The names of a list, separated by commas.
    pub fn parse(&self, list: &str, names: impl Iterator<Item = &'static str>) -> Result<u64, SwitchError> {
        let Self { variable, kind, sign, .. } = self;
        let names: Vec<&str> = names.collect();
        list.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(0, |bits, given| {
            let found = given.strip_prefix(sign).and_then(|given| names.iter().position(|&name| name == given));
            found.map(|place| bits | 1 << place).ok_or_else(|| {
                let allowed: Vec<String> = names.iter().map(|name| format!("`{sign}{name}`")).collect();
                SwitchError(format!("{variable}: `{given}` is no {kind}; allowed: {}", allowed.join(", ")))
            })
        })
    }
}
