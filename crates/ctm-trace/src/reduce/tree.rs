//! The values of a job file: places, taking away.

use ctm_jobs::job::tree::{Node, Origin, Table, Value};

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

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_jobs::job::tree::Tree;

    #[test]
    fn places_are_found_and_taken_away() {
        let (mut tree, _) = Tree::parse("a = 1\n[[pass]]\nb = [2, 3]\nc = 4\n");
        let places: Vec<String> = all(&tree.root).iter().map(|(place, _)| key(place).to_owned()).collect();
        assert_eq!(places, ["a", "pass", "pass", "b", "b", "b", "c"]);
        let place = [Step::Key("pass".into()), Step::Index(0), Step::Key("c".into())];
        assert!(matches!(at_mut(&mut tree.root, &place), Some(Value::Integer(4))));
        remove(&mut tree.root, &place);
        assert_eq!(tree.root.print(), "a = 1\n\n[[pass]]\nb = [2, 3]\n");
    }
}
