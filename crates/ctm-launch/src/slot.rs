//! Keys of bindings: numbers, or the names in programs and their containers.

use std::fmt;

/// A slot of a launch, a job or a draw: an input, output or constant by number or by the name that the program gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ref {
    /// By number.
    Index(u8),
    /// By name.
    Name(String),
}

impl Ref {
    /// The reference as a caller writes it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Index(n) => n.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(n) => write!(f, "{n}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

impl From<&str> for Ref {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// The number in a register's name: `s3` of the prefix `s`.
///
/// ```
/// assert_eq!(ctm_launch::slot::register("s3", &['s', 't']), Some(3));
/// assert_eq!(ctm_launch::slot::register("s", &['s']), None);
/// ```
#[must_use]
pub fn register(name: &str, prefixes: &[char]) -> Option<u8> {
    let digits = name.strip_prefix(prefixes)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
