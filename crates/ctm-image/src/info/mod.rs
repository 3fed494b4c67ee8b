//! The contents of a file, as a tree for people and machines: `ctm info`.
//!
//! [`describe`] makes the tree; [`InfoValue::to_text`] and [`InfoValue::to_json`] print it.

mod ctm_elf;
mod r700;
mod value;
mod x1k;

pub use value::InfoValue;

use crate::error::{ImageError, Remark};
use crate::identify::identify;
use crate::kind::Kind;
use crate::{dump, hex};
use ctm_isa::table::WordFormat;

/// A file's contents, and remarks.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The kind of file.
    pub kind: Kind,
    /// Everything that it says.
    pub contents: InfoValue,
    /// Remarks.
    pub remarks: Vec<Remark>,
}

impl Description {
    /// Kind, contents and remarks as one tree.
    #[must_use]
    pub fn to_value(&self) -> InfoValue {
        let remarks = self.remarks.iter().map(|r| {
            InfoValue::record([("offset", InfoValue::Number(r.offset)), ("message", r.message.clone().into())])
        });
        let mut fields = vec![("kind".to_owned(), InfoValue::from(self.kind.name()))];
        if let InfoValue::Record(contents) = &self.contents {
            fields.extend(contents.iter().cloned());
        }
        if !self.remarks.is_empty() {
            fields.push(("remarks".to_owned(), InfoValue::List(remarks.collect())));
        }
        InfoValue::Record(fields)
    }
}

/// Describes a file of any kind that [`identify`] knows. Assembly text is only named: it says nothing until it is assembled.
///
/// # Errors
/// The file is of no known kind, or it cannot be read.
pub fn describe(bytes: &[u8]) -> Result<Description, ImageError> {
    let kind = identify(bytes);
    let text = || std::str::from_utf8(bytes).unwrap_or_default();
    let empty = || InfoValue::Record(Vec::new());
    let (contents, remarks) = match kind {
        Kind::CtmElf => ctm_elf::describe(bytes)?,
        Kind::X1kHex => (InfoValue::record([("program", x1k::program(&hex::read(text())?))]), Vec::new()),
        Kind::R700Hex => (r700::words(&hex::read_words(text(), hex::R700_WORDS)?), Vec::new()),
        Kind::Gfd => r700::gfd(bytes)?,
        Kind::Cal => r700::cal(bytes)?,
        Kind::LlvmR600 => r700::llvm(bytes)?,
        Kind::X1kDump | Kind::R700Dump => (dumps(text(), kind)?, Vec::new()),
        Kind::X1kText | Kind::Ps3Text | Kind::Ps3Code | Kind::R700Text => (empty(), Vec::new()),
        Kind::OtherElf | Kind::Unknown => {
            let allowed = "a program image, words in hexadecimal, or assembly";
            return Err(ImageError::Kind { found: kind.describe(), allowed });
        }
    };
    Ok(Description { kind, contents, remarks })
}

/// The programs of a log.
fn dumps(text: &str, kind: Kind) -> Result<InfoValue, ImageError> {
    let mut programs = Vec::new();
    for dump in dump::read(text) {
        let mut fields = vec![
            ("name".to_owned(), InfoValue::from(dump.name.as_str())),
            ("line".to_owned(), InfoValue::Number(dump.line.into())),
            ("chip".to_owned(), dump.family.map_or(InfoValue::None, |family| family.name().into())),
        ];
        if let Some(stage) = dump.stage {
            fields.push(("stage".to_owned(), stage.name().into()));
        }
        for (name, size) in [("GPRs", dump.gprs), ("stack entries", dump.stack)] {
            fields.extend(size.map(|size| (name.to_owned(), InfoValue::Number(size.into()))));
        }
        let missing = match &dump.cut {
            None => InfoValue::from("nothing"),
            Some(dump::Cut::End) => InfoValue::from("the end"),
            Some(dump::Cut::Missing(ranges)) => InfoValue::List(
                ranges.iter().map(|r| InfoValue::from(format!("{} to {}", r.start, r.end - 1))).collect(),
            ),
        };
        fields.push(("missing".to_owned(), missing));
        let contents = match kind {
            Kind::X1kDump => InfoValue::record([("program", x1k::program(&hex::x1k_program(&dump.words)?))]),
            _ => r700::words(&dump.words),
        };
        if let InfoValue::Record(contents) = contents {
            fields.extend(contents);
        }
        programs.push(InfoValue::Record(fields));
    }
    Ok(InfoValue::record([("programs", InfoValue::List(programs))]))
}

/// A word by its fields: named values by name, flags as flags, the rest as numbers; reserved bits that are set.
pub(crate) fn word_fields(format: &WordFormat, word: u32) -> InfoValue {
    let mut fields = vec![("word".to_owned(), InfoValue::Hex(word))];
    for field in format.fields {
        let number = field.extract(word);
        let value = match field.values.iter().find(|v| v.code == number) {
            Some(named) => InfoValue::from(named.name),
            None if field.width() == 1 => InfoValue::Flag(number != 0),
            None => InfoValue::Number(u64::from(number)),
        };
        fields.push((field.name.to_owned(), value));
    }
    let reserved = word & format.reserved_mask();
    if reserved != 0 {
        fields.push(("reserved bits".to_owned(), InfoValue::Hex(reserved)));
    }
    InfoValue::Record(fields)
}
