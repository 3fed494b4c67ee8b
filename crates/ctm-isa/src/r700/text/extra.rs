//! Fields that the listing syntax has no word for.
//!
//! An instruction is printed in AMD's syntax; other fields of its words follow as `FIELD(number)` with the manual's
//! field name, reserved bits as `RESERVED0(0x…)` (the dword's number). So every word has a text, and the text gives the same word.

use super::cursor::{Cursor, Parsed};
use crate::table::WordFormat;
use std::fmt::Write as _;

/// Appends the fields in which `words` differs from `said`, the words of the text so far.
pub(super) fn print(out: &mut String, formats: &[&WordFormat], words: &[u32], said: &[u32]) {
    for (i, format) in formats.iter().enumerate() {
        let (word, said) = (words[i], said[i]);
        if word == said {
            continue;
        }
        for field in format.fields {
            if field.extract(word) != field.extract(said) {
                let _ = write!(out, " {}({})", field.name, field.extract(word));
            }
        }
        let reserved = word & format.reserved_mask();
        if reserved != 0 {
            let _ = write!(out, " RESERVED{i}(0x{reserved:X})");
        }
    }
}

/// One field that the text sets by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    dword: usize,
    mask: u32,
    bits: u32,
}

impl Extra {
    /// Sets the field in the words of its instruction.
    pub(super) fn apply(&self, words: &mut [u32]) {
        words[self.dword] = (words[self.dword] & !self.mask) | self.bits;
    }
}

/// Reads `(number)` after the name of a field of one of `formats`; `None` if no format has such a field.
pub(super) fn parse(cursor: &mut Cursor<'_>, formats: &[&WordFormat], name: &str) -> Option<Parsed<Extra>> {
    let value = |cursor: &mut Cursor<'_>, max| {
        cursor.expect(b'(', "behind the name of a field")?;
        let value = cursor.integer("the field's number", max)?;
        cursor.expect(b')', "behind the field's number")?;
        Ok(value)
    };
    for (dword, format) in formats.iter().enumerate() {
        if let Some(field) = format.field(name) {
            let max = field.mask() >> field.lsb;
            return Some(value(cursor, max).map(|v| Extra { dword, mask: field.mask(), bits: v << field.lsb }));
        }
    }
    let dword: usize = name.strip_prefix("RESERVED")?.parse().ok()?;
    let mask = formats.get(dword)?.reserved_mask();
    let start = cursor.place();
    Some(value(cursor, u32::MAX).and_then(|bits| {
        if bits & !mask == 0 {
            Ok(Extra { dword, mask, bits })
        } else {
            cursor.fail(
                "range",
                start,
                format!("0x{bits:X} has bits that are not reserved; the reserved ones are 0x{mask:X}"),
            )
        }
    }))
}
