//! The values of a job file: places, taking away, printing.

use ctm_jobs::job::tree::{Node, Origin, Table, Value};
use std::fmt::Write as _;

/// A step from a value to one that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where a value is.
pub(super) type Place = Vec<Step>;

/// A node for a value that comes from no file.
pub(super) const fn node(value: Value) -> Node {
    Node { value, origin: Origin::Flag(0) }
}

/// The last key of a place.
pub(super) fn key(place: &[Step]) -> &str {
    let mut keys = place.iter().rev().filter_map(|step| if let Step::Key(key) = step { Some(key) } else { None });
    keys.next().map_or("", String::as_str)
}

/// Every value below a table with its place, the outer ones first.
pub(super) fn all(root: &Table) -> Vec<(Place, &Node)> {
    fn below<'n>(place: &Place, value: &'n Value, found: &mut Vec<(Place, &'n Node)>) {
        let with = |step: Step| place.iter().cloned().chain([step]).collect::<Place>();
        match value {
            Value::Table(table) => {
                for entry in &table.entries {
                    let place = with(Step::Key(entry.key.clone()));
                    found.push((place.clone(), &entry.node));
                    below(&place, &entry.node.value, found);
                }
            }
            Value::Array(list) => {
                for (n, node) in list.iter().enumerate() {
                    let place = with(Step::Index(n));
                    found.push((place.clone(), node));
                    below(&place, &node.value, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for entry in &root.entries {
        let place = vec![Step::Key(entry.key.clone())];
        found.push((place.clone(), &entry.node));
        below(&place, &entry.node.value, &mut found);
    }
    found
}

/// The value at a place.
pub(super) fn at_mut<'t>(root: &'t mut Table, place: &[Step]) -> Option<&'t mut Value> {
    let (first, rest) = place.split_first()?;
    let Step::Key(first) = first else { return None };
    let mut value = &mut root.entries.iter_mut().find(|entry| entry.key == *first)?.node.value;
    for step in rest {
        value = match (step, value) {
            (Step::Key(key), Value::Table(table)) => {
                &mut table.entries.iter_mut().find(|entry| entry.key == *key)?.node.value
            }
            (Step::Index(n), Value::Array(list)) => &mut list.get_mut(*n)?.value,
            _ => return None,
        };
    }
    Some(value)
}

/// The table that a place is in.
pub(super) fn table_of<'t>(root: &'t mut Table, place: &[Step]) -> Option<&'t mut Table> {
    match place.split_last()? {
        (_, []) => Some(root),
        (_, outer) => match at_mut(root, outer)? {
            Value::Table(table) => Some(table),
            _ => None,
        },
    }
}

/// Takes the key at a place away.
pub(super) fn remove(root: &mut Table, place: &[Step]) {
    if let (Some(Step::Key(key)), Some(table)) = (place.last(), table_of(root, place)) {
        table.entries.retain(|entry| entry.key != *key);
    }
}

/// The text of a job file.
pub(super) fn print(root: &Table) -> String {
    let is_tables = |list: &[Node]| !list.is_empty() && list.iter().all(|node| matches!(node.value, Value::Table(_)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_jobs::job::tree::Tree;

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

    #[test]
    fn places_are_found_and_taken_away() {
        let (mut tree, _) = Tree::parse("a = 1\n[[pass]]\nb = [2, 3]\nc = 4\n");
        let places: Vec<String> = all(&tree.root).iter().map(|(place, _)| key(place).to_owned()).collect();
        assert_eq!(places, ["a", "pass", "pass", "b", "b", "b", "c"]);
        let place = [Step::Key("pass".into()), Step::Index(0), Step::Key("c".into())];
        assert!(matches!(at_mut(&mut tree.root, &place), Some(Value::Integer(4))));
        remove(&mut tree.root, &place);
        assert_eq!(print(&tree.root), "a = 1\n\n[[pass]]\nb = [2, 3]\n");
    }
}
