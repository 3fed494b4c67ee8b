//! Keys of bindings: numbers, or the names in programs and their containers.

use std::borrow::Cow;
use std::fmt;

/// A slot of a launch, a job or a draw: an input, output, constant or attribute by number or by the name that the program gives it.
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

    /// The reference of a key in a file or on the command line: digits are a number.
    ///
    /// ```
    /// use ctm_launch::Ref;
    ///
    /// assert_eq!([Ref::of_key("7"), Ref::of_key("tint")], [Ref::Index(7), Ref::from("tint")]);
    /// ```
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        register(key, &[]).map_or_else(|| Self::from(key), Self::Index)
    }

    /// The name, or the register of the number: `t3` of the prefix `t`.
    ///
    /// ```
    /// use ctm_launch::Ref;
    ///
    /// assert_eq!([Ref::Index(3).register("t"), Ref::from("s0").register("t")], ["t3", "s0"]);
    /// ```
    #[must_use]
    pub fn register(&self, prefix: &str) -> Cow<'_, str> {
        match self {
            Self::Index(n) => format!("{prefix}{n}").into(),
            Self::Name(name) => name.into(),
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

impl From<String> for Ref {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<u8> for Ref {
    fn from(number: u8) -> Self {
        Self::Index(number)
    }
}

/// The number in a register's name: `s3` of the prefix `s`; without prefixes the name is the number.
///
/// ```
/// assert_eq!(ctm_launch::slot::register("s3", &['s', 't']), Some(3));
/// assert_eq!(ctm_launch::slot::register("s", &['s']), None);
/// ```
#[must_use]
pub fn register(name: &str, prefixes: &[char]) -> Option<u8> {
    let digits = if prefixes.is_empty() { name } else { name.strip_prefix(prefixes)? };
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
