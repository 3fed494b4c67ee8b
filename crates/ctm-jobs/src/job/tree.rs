//! The tree of values that a job is read from: TOML and flags both become one, and every value knows where it was written.

use super::toml_text;
use ctm_isa::diag::{Diagnostic, Span};
use std::fmt::Write as _;

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the job file.
    File(Span),
    /// In the flag of this number (see [`Tree::flags`]).
    Flag(usize),
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    /// The value.
    pub value: Value,
    /// Its place.
    pub origin: Origin,
}

/// A value.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "they are the kinds of TOML")]
pub enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<PlacedValue>),
    Table(Table),
}

impl Value {
    /// Its kind, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "a boolean",
            Self::Datetime => "a date",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The place of the key.
    pub origin: Origin,
    /// Its value.
    pub node: PlacedValue,
}

/// Keys in the order of the file, flags after them.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// In their order.
    pub entries: Vec<KeyValue>,
}

impl Table {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&PlacedValue> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// Sets a key, replacing its value.
    pub fn set(&mut self, key: &str, node: PlacedValue) {
        match self.entries.iter_mut().find(|e| e.key == key) {
            Some(entry) => entry.node = node,
            None => self.entries.push(KeyValue { key: key.to_owned(), origin: node.origin, node }),
        }
    }

    /// The table under a key, made if there is none. A value of another kind is replaced.
    pub fn table(&mut self, key: &str, origin: Origin) -> &mut Table {
        let at = self.position_or(key, origin, |v| matches!(v, Value::Table(_)), || Value::Table(Self::default()));
        match &mut self.entries[at].node.value {
            Value::Table(table) => table,
            _ => unreachable!("just made a table"),
        }
    }

    /// The list under a key, made if there is none. A value of another kind is replaced.
    pub fn list(&mut self, key: &str, origin: Origin) -> &mut Vec<PlacedValue> {
        let at = self.position_or(key, origin, |v| matches!(v, Value::Array(_)), || Value::Array(Vec::new()));
        match &mut self.entries[at].node.value {
            Value::Array(list) => list,
            _ => unreachable!("just made a list"),
        }
    }

    fn position_or(
        &mut self,
        key: &str,
        origin: Origin,
        fits: impl Fn(&Value) -> bool,
        make: impl Fn() -> Value,
    ) -> usize {
        if let Some(at) = self.entries.iter().position(|e| e.key == key) {
            if !fits(&self.entries[at].node.value) {
                self.entries[at].node = PlacedValue { value: make(), origin };
            }
            return at;
        }
        self.entries.push(KeyValue { key: key.to_owned(), origin, node: PlacedValue { value: make(), origin } });
        self.entries.len() - 1
    }
}

/// A whole job, before anything is known about its keys.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The keys of the top.
    pub root: Table,
    /// The flags as they were typed, for messages.
    pub flags: Vec<String>,
}

impl Tree {
    /// Reads TOML text. Readable parts are kept; all errors are reported. Without the feature `toml` that is the one error.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<Diagnostic>) {
        let (root, diagnostics) = toml_text::parse(text);
        (Self { root, flags: Vec::new() }, diagnostics)
    }

    /// Whether it has one of the keys at the top.
    #[must_use]
    pub fn has_one_of(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.root.get(key).is_some())
    }
}

/// Whether an error says that a text could not be read at all: further errors would only follow from it.
#[must_use]
pub fn is_unreadable(error: &Diagnostic) -> bool {
    error.rule == SYNTAX || error.rule == NOT_BUILT
}

/// The rule of texts that are no TOML.
pub(super) const SYNTAX: &str = "toml-syntax";
/// The rule of texts that this build does not read.
pub(super) const NOT_BUILT: &str = "not-built";

impl Table {
    /// The text of a job file with these keys: reading it gives them again.
    #[must_use]
    pub fn print(&self) -> String {
        print(self)
    }
}

fn print(root: &Table) -> String {
    let is_tables =
        |list: &[PlacedValue]| !list.is_empty() && list.iter().all(|node| matches!(node.value, Value::Table(_)));
    let (mut top, mut tables) = (String::new(), String::new());
    let lines = |out: &mut String, table: &Table| {
        for entry in &table.entries {
            let _ = writeln!(out, "{} = {}", name(&entry.key), inline(&entry.node.value));
        }
    };
    for entry in &root.entries {
        match &entry.node.value {
            Value::Table(table) => {
                let _ = writeln!(tables, "\n[{}]", name(&entry.key));
                lines(&mut tables, table);
            }
            Value::Array(list) if is_tables(list) => {
                for node in list {
                    if let Value::Table(table) = &node.value {
                        let _ = writeln!(tables, "\n[[{}]]", name(&entry.key));
                        lines(&mut tables, table);
                    }
                }
            }
            value => {
                let _ = writeln!(top, "{} = {}", name(&entry.key), inline(value));
            }
        }
    }
    top + &tables
}

/// A key; in quotes where it needs them.
fn name(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { key.to_owned() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// A value in a line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(n) => n.to_string(),
        Value::Float(x) if x.is_nan() => "nan".to_owned(),
        Value::Float(x) if x.is_infinite() => if *x > 0.0 { "inf" } else { "-inf" }.to_owned(),
        Value::Float(x) => format!("{x:?}"),
        Value::Boolean(yes) => yes.to_string(),
        // No key of a job takes one.
        Value::Datetime => "1970-01-01".to_owned(),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(|node| inline(&node.value)).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) if table.entries.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let pair = |(key, value): (&str, &Value)| format!("{} = {}", name(key), inline(value));
            let pairs: Vec<String> = table.entries.iter().map(|entry| pair((&entry.key, &entry.node.value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

#[cfg(all(test, feature = "toml"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        let text = "size = [3, 4]\nname = \"a\\\"b\\\\c\\u0001\"\n[constants]\nfloat = { view = [-0.75, 1e-9, inf, \"0x3F800000\"], \"c 0\" = [1, 2] }\n\
                    [[draw]]\nmesh = \"cube\"\n[[draw.texture]]\nname = \"t\"\nseamless = false\n[[draw]]\n";
        let (tree, errors) = Tree::parse(text);
        assert!(errors.is_empty(), "{errors:?}");
        let printed = print(&tree.root);
        let (again, errors) = Tree::parse(&printed);
        assert!(errors.is_empty(), "{errors:?}\n{printed}");
        assert_eq!(print(&again.root), printed);
        assert!(printed.contains("float = { view = [-0.75, 1e-9, inf, \"0x3F800000\"]"), "{printed}");
        assert_eq!(printed.matches("[[draw]]").count(), 2);
    }
}
