//! TOML text into the tree of values.

use super::slots::is_beyond;
use super::tree::{KeyValue, Origin, PlacedValue, SYNTAX, Table, Value};
use ctm_isa::diag::{Diagnostic, Span};
use toml::de::{DeTable, DeValue};

/// The readable part of a text, and all errors.
pub(super) fn parse(text: &str) -> (Table, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let end = text.len();
    let mut diagnostics: Vec<Diagnostic> = errors
        .iter()
        .map(|e| {
            let span = e.span().unwrap_or(end..end);
            Diagnostic::error(SYNTAX, e.message().trim_end().replace('\n', ", "))
                .at(to_span(span.start.min(end)..span.end.min(end)), "")
        })
        .collect();
    // The parser says once for each open bracket that the file ended too early.
    diagnostics.dedup();
    (convert_table(table.get_ref()), diagnostics)
}

fn to_span(range: std::ops::Range<usize>) -> Span {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(offset(range.start), offset(range.end))
}

fn convert_table(table: &DeTable<'_>) -> Table {
    let mut entries: Vec<KeyValue> = table
        .iter()
        .map(|(key, value)| KeyValue {
            key: key.get_ref().to_string(),
            origin: Origin::File(to_span(key.span())),
            node: PlacedValue { value: convert(value.get_ref()), origin: Origin::File(to_span(value.span())) },
        })
        .collect();
    // The parser's table is sorted by key; messages are better in the order of the file.
    entries.sort_by_key(|e| match e.origin {
        Origin::File(span) => span.start,
        Origin::Flag(_) => u32::MAX,
    });
    Table { entries }
}

fn convert(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(s) => Value::String(s.to_string()),
        // An integer of more digits than any key allows is a number all the same, and out of range with the right message.
        DeValue::Integer(i) => {
            i128::from_str_radix(i.as_str(), i.radix()).map_or(Value::Integer(i128::MAX), Value::Integer)
        }
        // A number that becomes infinite is stored as a text: its key reports that it is too large.
        DeValue::Float(f) if is_beyond(f.as_str()) => Value::String(f.as_str().to_owned()),
        DeValue::Float(f) => Value::Float(f.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(list) => Value::Array(
            list.iter()
                .map(|v| PlacedValue { value: convert(v.get_ref()), origin: Origin::File(to_span(v.span())) })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table)),
    }
}
