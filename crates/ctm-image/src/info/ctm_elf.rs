//! A CTM executable, part by part.

use super::{Value, word_fields, x1k};
use crate::ctm_elf::{Notes, program_info, read_image};
use crate::elf::{self, Elf};
use crate::error::{ImageError, Remark};

/// Header, segments, sections, notes, program information and program.
pub fn describe(bytes: &[u8]) -> Result<(Value, Vec<Remark>), ImageError> {
    let image = read_image(bytes)?;
    let parsed = Elf::read(bytes)?;
    let information = program_info::words()
        .filter(|&(index, _, format)| {
            // Rasteriser instructions beyond the stated ones say nothing.
            image.information[index] != 0 || format.name != program_info::RsInst::FORMAT.name
        })
        .map(|(index, name, format)| (name, word_fields(&format, image.information[index])))
        .collect();
    let contents = Value::record([
        ("size", Value::Number(parsed.extent())),
        ("header", header(&parsed)),
        ("segments", segments(&parsed)),
        ("sections", sections(&parsed)),
        ("notes", notes(&image.notes)),
        ("program information", Value::Record(information)),
        ("program", x1k::program(&image.program)),
    ]);
    Ok((contents, image.remarks))
}

/// The ELF header's fields.
pub fn header(parsed: &Elf<'_>) -> Value {
    let fields = parsed.header.fields.iter().skip(1);
    Value::Record(fields.map(|(place, value)| (place.name.to_owned(), Value::Number(*value))).collect())
}

/// The program headers.
pub fn segments(parsed: &Elf<'_>) -> Value {
    let kind = |kind| match kind {
        elf::PT_LOAD => "PT_LOAD".to_owned(),
        elf::PT_NOTE => "PT_NOTE".to_owned(),
        other => format!("{other:#x}"),
    };
    let one = |s: &elf::Segment| {
        Value::record([
            ("type", kind(s.kind).into()),
            ("offset", Value::Number(s.range.start)),
            ("size", Value::Number(s.range.end - s.range.start)),
        ])
    };
    Value::List(parsed.segments.iter().map(one).collect())
}

/// The section headers, without the empty first one.
pub fn sections(parsed: &Elf<'_>) -> Value {
    let one = |s: &elf::Section| {
        Value::record([
            ("name", s.name.as_str().into()),
            ("offset", Value::Number(s.range.start)),
            ("size", Value::Number(s.range.end - s.range.start)),
        ])
    };
    Value::List(parsed.sections.iter().skip(1).map(one).collect())
}

fn notes(notes: &Notes) -> Value {
    let list = |list: &Option<Vec<u32>>| match list {
        Some(indices) => Value::numbers(indices.iter().copied()),
        None => Value::None,
    };
    let flag = |flag: Option<bool>| flag.map_or(Value::None, Value::Flag);
    Value::record([
        ("inputs", list(&notes.inputs)),
        ("outputs", list(&notes.outputs)),
        ("conditional output", flag(notes.conditional_output)),
        ("float32 constants", list(&notes.float32_constants)),
        ("int32 constants", list(&notes.int32_constants)),
        ("early exit", flag(notes.early_exit)),
    ])
}
