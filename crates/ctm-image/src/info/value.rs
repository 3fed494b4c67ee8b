//! A tree of named values, and how it is printed.

use std::fmt::Write;

/// Lines are broken before they get longer than this.
const LONGEST_LINE: usize = 120;

/// A value of a description.
#[derive(Clone, Debug, PartialEq)]
pub enum InfoValue {
    /// Not there.
    None,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A floating-point number.
    Float(f32),
    /// A bit pattern; JSON has it as text.
    Hex(u32),
    /// Text.
    Text(String),
    /// Values of one kind.
    List(Vec<InfoValue>),
    /// Named values, in order.
    Record(Vec<(String, InfoValue)>),
}

impl From<&str> for InfoValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for InfoValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for InfoValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<usize> for InfoValue {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl InfoValue {
    /// A record from its fields.
    pub fn record<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A list of numbers.
    pub fn numbers<T: Into<u64>>(numbers: impl IntoIterator<Item = T>) -> Self {
        Self::List(numbers.into_iter().map(|n| Self::Number(n.into())).collect())
    }

    /// The field of a record.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Record(fields) => fields.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Record(_))
    }

    /// Whether it fits a line: a scalar, a list of scalars, or a record of scalars.
    fn is_short(&self) -> bool {
        match self {
            Self::List(items) => items.iter().all(Self::is_scalar),
            Self::Record(fields) => {
                !fields.is_empty() && fields.iter().all(|(_, v)| v.is_short()) && self.line().len() <= LONGEST_LINE
            }
            _ => true,
        }
    }

    /// Names and values of a record of scalars.
    fn scalar_fields(&self) -> Option<Vec<String>> {
        match self {
            Self::Record(fields) if !fields.is_empty() && fields.iter().all(|(_, v)| v.is_scalar()) => {
                Some(fields.iter().map(|(name, v)| format!("{name} {}", v.line())).collect())
            }
            _ => None,
        }
    }

    /// The value on one line.
    fn line(&self) -> String {
        match self {
            Self::None => "-".to_owned(),
            Self::Flag(true) => "yes".to_owned(),
            Self::Flag(false) => "no".to_owned(),
            Self::Number(n) => n.to_string(),
            Self::Float(x) => format!("{x:?}"),
            Self::Hex(word) => format!("0x{word:08X}"),
            Self::Text(text) => visible(text),
            Self::List(items) if items.is_empty() => "none".to_owned(),
            Self::List(items) => items.iter().map(Self::line).collect::<Vec<_>>().join(", "),
            Self::Record(fields) => {
                fields.iter().map(|(name, v)| format!("{name} {}", v.line())).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Indented lines for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.text_into(&mut out, 0);
        out
    }

    fn text_into(&self, out: &mut String, indent: usize) {
        match self {
            Self::Record(fields) => {
                for (name, value) in fields {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{:indent$}{name}:", "");
                    if value.is_short() {
                        let _ = writeln!(out, " {}", value.line());
                    } else if let Some(items) = value.scalar_fields() {
                        out.push('\n');
                        wrap_into(out, indent + 2, &items);
                    } else {
                        out.push('\n');
                        value.text_into(out, indent + 2);
                    }
                }
            }
            Self::List(items) => {
                for item in items {
                    if item.is_short() {
                        let _ = writeln!(out, "{:indent$}{}", "", item.line());
                    } else {
                        let _ = writeln!(out, "{:indent$}-", "");
                        item.text_into(out, indent + 2);
                    }
                }
            }
            _ => {
                let _ = writeln!(out, "{:indent$}{}", "", self.line());
            }
        }
    }

    /// JSON, on one line. Bit patterns are text; numbers that JSON has not are null.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.json_into(&mut out);
        out
    }

    fn json_into(&self, out: &mut String) {
        match self {
            Self::None => out.push_str("null"),
            Self::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Number(n) => {
                let _ = write!(out, "{n}");
            }
            Self::Float(x) if x.is_finite() => {
                let _ = write!(out, "{x:?}");
            }
            Self::Float(_) => out.push_str("null"),
            Self::Hex(word) => {
                let _ = write!(out, "\"0x{word:08X}\"");
            }
            Self::Text(text) => json_text(text, out),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { "," });
                    item.json_into(out);
                }
                out.push(']');
            }
            Self::Record(fields) => {
                out.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { "," });
                    json_text(name, out);
                    out.push(':');
                    value.json_into(out);
                }
                out.push('}');
            }
        }
    }
}

/// Items with commas, on as many lines as they need.
fn wrap_into(out: &mut String, indent: usize, items: &[String]) {
    let mut column = 0;
    for (i, item) in items.iter().enumerate() {
        let comma = if i + 1 == items.len() { "" } else { "," };
        if column > 0 && column + item.len() + 2 > LONGEST_LINE {
            out.push('\n');
            column = 0;
        }
        let gap = if column == 0 { indent } else { 1 };
        // Writing to a string cannot fail.
        let _ = write!(out, "{:gap$}{item}{comma}", "");
        column += gap + item.len() + comma.len();
    }
    out.push('\n');
}

/// Text from a file must not steer a terminal.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() }).collect()
}

fn json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
