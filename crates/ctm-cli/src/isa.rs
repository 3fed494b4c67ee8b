//! `ctm isa`: the manual on the command line.

use crate::args::programs::IsaArgs;
use crate::console::{Console, Ending, Exit, Failure};
use ctm_isa::isa_help::{Column, Isa, Topic, Word, WordField};
use ctm_isa::table::Value as Row;
use serde_json::{Map, Value, json};

pub(crate) fn run(console: &Console, args: &IsaArgs) -> Ending {
    let (isas, words) = match args.topic.first().map(|t| t.to_ascii_lowercase()).as_deref() {
        Some("x1k") => (vec![Isa::x1k()], &args.topic[1..]),
        Some("r700") => (vec![Isa::r700()], &args.topic[1..]),
        Some("pvs") => (vec![Isa::pvs()], &args.topic[1..]),
        _ => (vec![Isa::x1k(), Isa::r700(), Isa::pvs()], &args.topic[..]),
    };
    if words.is_empty() && args.json {
        for isa in &isas {
            console.print(&format!("{}\n", json!({ "isa": isa.name, "names": isa.names() })))?;
        }
        return Ok(Exit::Done);
    }
    if words.is_empty() {
        let lists: Vec<String> = isas.iter().map(Isa::list).collect();
        console.print(&lists.join("\n"))?;
        return Ok(Exit::Done);
    }
    let topic = words.join(" ");
    let mut found: Vec<String> = Vec::new();
    // Words of an assembly count where no table has the name: `mad` is MAD of the X1K, and a mnemonic of vertex programs.
    let named = isas.iter().any(|isa| !isa.find(&topic).is_empty());
    for isa in isas.iter().filter(|isa| !named || !isa.find(&topic).is_empty()) {
        // Several may have it; the heading says whose it is.
        if args.json {
            found.extend(isa.topics(&topic).iter().map(|t| format!("{}", topic_json(isa, t))));
        } else if let Some(text) = isa.describe(&topic) {
            found.push(if isas.len() > 1 { format!("{}:\n{text}", isa.name) } else { text });
        }
    }
    if found.is_empty() {
        let mut near: Vec<&str> = Vec::new();
        for name in isas.iter().flat_map(|isa| isa.suggest(&topic)) {
            if !near.contains(&name) {
                near.push(name);
            }
        }
        let elsewhere = [Isa::x1k(), Isa::r700(), Isa::pvs()].into_iter().find(|isa| isa.describe(&topic).is_some());
        let hint = if let Some(isa) = elsewhere {
            format!("the {} has it: `ctm isa {} {topic}`", isa.name, isa.name.to_ascii_lowercase())
        } else if near.is_empty() {
            "`ctm isa` lists what there is".to_owned()
        } else {
            format!("there is {}", near.join(", "))
        };
        return Err(Failure::wrong("unknown-name", format!("nothing is called `{topic}`; {hint}")));
    }
    console.print(&found.join("\n"))?;
    if args.json {
        console.print("\n")?;
    }
    Ok(Exit::Done)
}

/// A topic as `docs/cli.md` describes it.
fn topic_json(isa: &Isa, topic: &Topic) -> Value {
    let mut value = json!({
        "isa": isa.name,
        "kind": topic.kind(),
        "name": topic.name(),
        "doc": topic.doc(),
        "cite": topic.cite(),
    });
    match topic {
        Topic::Word(word) => {
            value["word"] = word_json(word);
            value["fields"] =
                word.format.fields.iter().map(|f| json!({ "name": f.name, "bits": [f.msb, f.lsb] })).collect();
        }
        Topic::Field { place, values, notes } => {
            value["places"] = json!([place_json(place)]);
            value["values"] = values.iter().map(row_json).collect();
            value["notes"] = columns_json(notes);
        }
        Topic::Value { value: row, places, columns } => {
            value["code"] = json!(row.code);
            value["places"] = places.iter().map(place_json).collect();
            value["notes"] = columns_json(columns);
        }
    }
    value
}

fn word_json(word: &Word) -> Value {
    json!({ "name": word.format.name, "dword": word.format.dword, "types": word.used_by })
}

fn place_json(place: &WordField) -> Value {
    json!({ "word": word_json(&place.word), "field": place.field.name, "bits": [place.field.msb, place.field.lsb] })
}

fn row_json(row: &Row) -> Value {
    json!({ "name": row.name, "code": row.code, "doc": row.doc, "cite": row.cite })
}

fn columns_json(columns: &[Column]) -> Value {
    Value::Object(columns.iter().map(|(label, text)| ((*label).to_owned(), json!(text))).collect::<Map<_, _>>())
}
