//! The instruction sets, from their tables: words with their bits, and every named value with its description.

use super::{root, write};
use ctm::ctm_isa::isa_help::{Isa, Topic, draw};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages of both instruction sets: an overview with the words, then one page for each field that has named values.
pub(super) fn pages(src: &Path) -> Result<Vec<(usize, String)>, String> {
    let examples = Examples::read()?;
    let mut out = Vec::new();
    for isa in [Isa::x1k(), Isa::r700()] {
        let low = isa.name.to_ascii_lowercase();
        let mut words = Vec::new();
        // Fields by name, with their values: one that several words have is one page.
        let mut fields: BTreeMap<&str, Vec<Topic>> = BTreeMap::new();
        for name in isa.names() {
            for topic in isa.topics(name) {
                match &topic {
                    Topic::Word(_) => words.push(topic),
                    Topic::Field { .. } => {}
                    Topic::Value { places, .. } => {
                        let Some(place) = places.first() else { continue };
                        let list = fields.entry(place.field.name).or_default();
                        if !list.contains(&topic) {
                            list.push(topic);
                        }
                    }
                }
            }
        }
        let overview = format!("isa/{low}/README.md");
        let mut text = format!(
            "# {}\n\nMade from the tables that the assembler, the disassembler and the checker use. `ctm isa {low} NAME` shows the same at the prompt.\n",
            isa.name
        );
        text.push_str("\n## Fields with named values\n\n");
        for (field, values) in &fields {
            text.push_str(&format!("- [{field}]({field}.md): {} values\n", values.len()));
        }
        text.push_str("\n## Words\n");
        words.dedup();
        for topic in &words {
            let Topic::Word(word) = topic else { continue };
            text.push_str(&format!(
                "\n### {}\n\n{} ({}, {})\n\n```text\n{}\n```\n\n| bits | field | meaning |\n|---|---|---|\n",
                word.format.name,
                topic.doc(),
                word.place(),
                word.format.cite,
                draw(&word.format).trim_end()
            ));
            for field in word.format.fields {
                let bits =
                    if field.msb == field.lsb { field.msb.to_string() } else { format!("{}:{}", field.msb, field.lsb) };
                let name = if fields.contains_key(field.name) {
                    format!("[{0}]({0}.md)", field.name)
                } else {
                    field.name.to_owned()
                };
                text.push_str(&format!("| {bits} | {name} | {} |\n", cell(field.doc)));
            }
        }
        write(&src.join(&overview), &text)?;
        out.push((0, overview));
        for (field, mut values) in fields {
            values.sort_by_key(|topic| match topic {
                Topic::Value { value, .. } => (value.code, value.name),
                _ => (0, ""),
            });
            let page = format!("isa/{low}/{field}.md");
            let mut text = format!("# {field} ({})\n", isa.name);
            for topic in &values {
                text.push_str(&value(topic, &low, &examples));
            }
            write(&src.join(&page), &text)?;
            out.push((1, page));
        }
    }
    Ok(out)
}

/// A value's section.
fn value(topic: &Topic, isa: &str, examples: &Examples) -> String {
    let Topic::Value { value, places, columns } = topic else { return String::new() };
    let mut text =
        format!("\n## {}\n\n{}\n\n| | |\n|---|---|\n| code | {} |\n", value.name, cell(&topic.doc()), value.code);
    for (label, what) in columns {
        let what = match *label {
            "reference" => source_of(what).map_or_else(|| cell(what), |path| format!("[{what}](../../{path})")),
            _ => cell(what),
        };
        text.push_str(&format!("| {label} | {what} |\n"));
    }
    for place in places {
        text.push_str(&format!("| encoded | {} |\n", cell(&place.text())));
    }
    text.push_str(&format!("| manual | {} |\n", value.cite));
    // A listing may write it otherwise.
    let listed = columns.iter().find(|(label, _)| *label == "listing").map_or(value.name, |(_, name)| name.as_str());
    if let Some((file, line)) = examples.of(isa, listed) {
        text.push_str(&format!("\n```text\n{line}\n```\n\nfrom [{file}](../../{file})\n"));
    }
    text
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

/// The file of a path such as `ctm_exec::r700::ops::muladd`.
fn source_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split("::").collect();
    let (function, modules) = parts.split_last()?;
    let (name, modules) = modules.split_first()?;
    let base = format!("crates/{}/src", name.replace('_', "-"));
    let inner = modules.join("/");
    let found =
        [format!("{base}/{inner}.rs"), format!("{base}/{inner}/mod.rs")].into_iter().find(|p| root().join(p).is_file());
    found.filter(|_| !function.is_empty())
}

/// Lines of programs of the project, by instruction set.
struct Examples {
    lines: BTreeMap<&'static str, Vec<(String, String)>>,
}

impl Examples {
    fn read() -> Result<Self, String> {
        let mut lines: BTreeMap<&'static str, Vec<(String, String)>> = BTreeMap::new();
        for directory in ["examples", "tests/corpus"] {
            let top = root().join(directory);
            for file in super::files(&top)? {
                let isa = match file.extension().and_then(|e| e.to_str()) {
                    Some("x1k") => "x1k",
                    Some("psh" | "vsh" | "gsh" | "csh" | "r700") => "r700",
                    _ => continue,
                };
                let Ok(text) = fs::read_to_string(top.join(&file)) else { continue };
                let name = PathBuf::from(directory).join(&file).display().to_string();
                let code = text.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with(';'));
                lines.entry(isa).or_default().extend(code.map(|line| (name.clone(), line.trim().to_owned())));
            }
        }
        Ok(Self { lines })
    }

    /// The first line with this mnemonic.
    fn of(&self, isa: &str, name: &str) -> Option<(&str, &str)> {
        let wanted = if isa == "x1k" { name.to_ascii_lowercase() } else { name.to_owned() };
        let words = |line: &str| {
            let code = line.split(';').next().unwrap_or_default().to_owned();
            code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == wanted)
        };
        self.lines.get(isa)?.iter().find(|(_, line)| words(line)).map(|(file, line)| (file.as_str(), line.as_str()))
    }
}
