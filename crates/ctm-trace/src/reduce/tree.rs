//! The values of a job file: places, taking away.

use ctm_jobs::job::tree::{Origin, PlacedValue, Table, Value};

/// A step from a value to one that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

/// Where a value is.
pub(super) type ValuePath = Vec<PathStep>;

/// A node for a value that comes from no file.
pub(super) const fn node(value: Value) -> PlacedValue {
    PlacedValue { value, origin: Origin::Flag(0) }
}

/// The last key of a place.
pub(super) fn key(place: &[PathStep]) -> &str {
    let mut keys = place.iter().rev().filter_map(|step| if let PathStep::Key(key) = step { Some(key) } else { None });
    keys.next().map_or("", String::as_str)
}

/// Every value below a table with its place, the outer ones first.
pub(super) fn all(root: &Table) -> Vec<(ValuePath, &PlacedValue)> {
    fn below<'n>(place: &ValuePath, value: &'n Value, found: &mut Vec<(ValuePath, &'n PlacedValue)>) {
        let with = |step: PathStep| place.iter().cloned().chain([step]).collect::<ValuePath>();
        match value {
            Value::Table(table) => {
                for entry in &table.entries {
                    let place = with(PathStep::Key(entry.key.clone()));
                    found.push((place.clone(), &entry.node));
                    below(&place, &entry.node.value, found);
                }
            }
            Value::Array(list) => {
                for (n, node) in list.iter().enumerate() {
                    let place = with(PathStep::Index(n));
                    found.push((place.clone(), node));
                    below(&place, &node.value, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for entry in &root.entries {
        let place = vec![PathStep::Key(entry.key.clone())];
        found.push((place.clone(), &entry.node));
        below(&place, &entry.node.value, &mut found);
    }
    found
}

/// The value at a place.
pub(super) fn at_mut<'t>(root: &'t mut Table, place: &[PathStep]) -> Option<&'t mut Value> {
    let (first, rest) = place.split_first()?;
    let PathStep::Key(first) = first else { return None };
    let mut value = &mut root.entries.iter_mut().find(|entry| entry.key == *first)?.node.value;
    for step in rest {
        value = match (step, value) {
            (PathStep::Key(key), Value::Table(table)) => {
                &mut table.entries.iter_mut().find(|entry| entry.key == *key)?.node.value
            }
            (PathStep::Index(n), Value::Array(list)) => &mut list.get_mut(*n)?.value,
            _ => return None,
        };
    }
    Some(value)
}

/// The table that a place is in.
pub(super) fn table_of<'t>(root: &'t mut Table, place: &[PathStep]) -> Option<&'t mut Table> {
    match place.split_last()? {
        (_, []) => Some(root),
        (_, outer) => match at_mut(root, outer)? {
            Value::Table(table) => Some(table),
            _ => None,
        },
    }
}

/// Takes the key at a place away.
pub(super) fn remove(root: &mut Table, place: &[PathStep]) {
    if let (Some(PathStep::Key(key)), Some(table)) = (place.last(), table_of(root, place)) {
        table.entries.retain(|entry| entry.key != *key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_jobs::job::tree::Tree;

    #[test]
    fn places_are_found_and_taken_away() {
        let (mut tree, _) = Tree::parse("a = 1\n[[pass]]\nb = [2, 3]\nc = 4\n");
        let places: Vec<String> = all(&tree.root).iter().map(|(place, _)| key(place).to_owned()).collect();
        assert_eq!(places, ["a", "pass", "pass", "b", "b", "b", "c"]);
        let place = [PathStep::Key("pass".into()), PathStep::Index(0), PathStep::Key("c".into())];
        assert!(matches!(at_mut(&mut tree.root, &place), Some(Value::Integer(4))));
        remove(&mut tree.root, &place);
        assert_eq!(tree.root.print(), "a = 1\n\n[[pass]]\nb = [2, 3]\n");
    }
}
