//! A CTM executable, part by part.

use super::{InfoValue, word_fields, x1k};
use crate::ctm_elf::{Notes, program_info, read_image};
use crate::elf::{self, Elf};
use crate::error::{ImageError, Remark};

/// Header, segments, sections, notes, program information and program.
pub fn describe(bytes: &[u8]) -> Result<(InfoValue, Vec<Remark>), ImageError> {
    let image = read_image(bytes)?;
    let parsed = Elf::read(bytes)?;
    let information = program_info::words()
        .filter(|&(index, _, format)| {
            // Rasteriser instructions beyond the stated ones say nothing.
            image.information[index] != 0 || format.name != program_info::RsInst::FORMAT.name
        })
        .map(|(index, name, format)| (name, word_fields(&format, image.information[index])))
        .collect();
    let contents = InfoValue::record([
        ("size", InfoValue::Number(parsed.extent())),
        ("header", header(&parsed)),
        ("segments", segments(&parsed)),
        ("sections", sections(&parsed)),
        ("notes", notes(&image.notes)),
        ("program information", InfoValue::Record(information)),
        ("program", x1k::program(&image.program)),
    ]);
    Ok((contents, image.remarks))
}

/// The ELF header's fields.
pub fn header(parsed: &Elf<'_>) -> InfoValue {
    let fields = parsed.header.fields.iter().skip(1);
    InfoValue::Record(fields.map(|(place, value)| (place.name.to_owned(), InfoValue::Number(*value))).collect())
}

/// The program headers.
pub fn segments(parsed: &Elf<'_>) -> InfoValue {
    let kind = |kind| match kind {
        elf::PT_LOAD => "PT_LOAD".to_owned(),
        elf::PT_NOTE => "PT_NOTE".to_owned(),
        other => format!("{other:#x}"),
    };
    let one = |s: &elf::Segment| {
        InfoValue::record([
            ("type", kind(s.kind).into()),
            ("offset", InfoValue::Number(s.range.start)),
            ("size", InfoValue::Number(s.range.end - s.range.start)),
        ])
    };
    InfoValue::List(parsed.segments.iter().map(one).collect())
}

/// The section headers, without the empty first one.
pub fn sections(parsed: &Elf<'_>) -> InfoValue {
    let one = |s: &elf::Section| {
        InfoValue::record([
            ("name", s.name.as_str().into()),
            ("offset", InfoValue::Number(s.range.start)),
            ("size", InfoValue::Number(s.range.end - s.range.start)),
        ])
    };
    InfoValue::List(parsed.sections.iter().skip(1).map(one).collect())
}

fn notes(notes: &Notes) -> InfoValue {
    let list = |list: &Option<Vec<u32>>| match list {
        Some(indices) => InfoValue::numbers(indices.iter().copied()),
        None => InfoValue::None,
    };
    let flag = |flag: Option<bool>| flag.map_or(InfoValue::None, InfoValue::Flag);
    InfoValue::record([
        ("inputs", list(&notes.inputs)),
        ("outputs", list(&notes.outputs)),
        ("conditional output", flag(notes.conditional_output)),
        ("float32 constants", list(&notes.float32_constants)),
        ("int32 constants", list(&notes.int32_constants)),
        ("early exit", flag(notes.early_exit)),
    ])
}
