//! Fields by their manual names at the end of a line: bits that the rest of the line does not say.

use crate::diag::Diagnostic;
use crate::lexer::{Cursor, Parse, Tok, unknown_word};
use crate::pvs::formats::{DualMath, OpDst, Src};
use crate::pvs::inst::Words;
use crate::table::WordFormat;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    dword: usize,
    mask: u32,
    bits: u32,
}

impl Raw {
    /// Sets the field.
    pub fn apply(self, words: &mut Words) {
        words[self.dword] = words[self.dword] & !self.mask | self.bits;
    }
}

/// The words of an instruction: the prefix of their fields, and their dword.
const fn formats(dual: bool) -> [(&'static str, usize, &'static WordFormat); 4] {
    [
        ("", 0, &OpDst::FORMAT),
        ("SRC0", 1, &Src::FORMAT),
        ("SRC1", 2, &Src::FORMAT),
        if dual { ("DUAL", 3, &DualMath::FORMAT) } else { ("SRC2", 3, &Src::FORMAT) },
    ]
}

/// Fields of `want` that differ in `have`, as text; `None` if bits differ that no field has, or the operation.
pub(super) fn differences(want: &Words, have: &Words, dual: bool) -> Option<Vec<String>> {
    let mut list = Vec::new();
    let mut done = *have;
    for (prefix, dword, format) in formats(dual) {
        for field in format.fields {
            let (a, b) = (field.extract(want[dword]), field.extract(have[dword]));
            if a != b {
                let point = if prefix.is_empty() { "" } else { "." };
                let value = field.values.iter().find(|value| value.code == a);
                let value = value.map_or_else(|| a.to_string(), |value| value.name.to_owned());
                list.push(format!("{prefix}{point}{}={value}", field.name));
                done[dword] = done[dword] & !field.mask() | want[dword] & field.mask();
            }
        }
    }
    let says_the_operation =
        |item: &String| item.starts_with("PVS_DST_OPCODE") || item.contains("_INST=") || item.contains("DUAL_MATH_OP=");
    (done == *want && !list.iter().any(says_the_operation)).then_some(list)
}

/// Whether the next tokens are a field and `=`.
pub(super) fn at_field(cursor: &Cursor<'_, '_>) -> bool {
    let word = matches!(cursor.peek(), Some(Tok::Word(_)));
    let equals = |n: usize| matches!(cursor.peek_after(n), Some(Tok::Punct('=')));
    let dotted = matches!(cursor.peek_after(1), Some(Tok::Dotted(_)));
    word && (equals(1) || dotted && equals(2))
}

/// `SRC1.PVS_SRC_OFFSET=3`
pub(super) fn parse(cursor: &mut Cursor<'_, '_>, dual: bool) -> Parse<Raw> {
    let start = cursor.span();
    let first = cursor.word("a field")?;
    let (prefix, name) = match cursor.eat_dotted() {
        Some((name, _)) => (first, name),
        None => ("", first),
    };
    let span = cursor.span_from(start);
    let formats = formats(dual);
    let Some((_, dword, format)) = formats.iter().find(|(p, ..)| *p == prefix) else {
        let known: Vec<&str> = formats.iter().map(|f| f.0).filter(|p| !p.is_empty()).collect();
        return Err(unknown_word("field", "a word of this instruction", prefix, span, &known));
    };
    let Some(field) = format.field(name) else {
        let known: Vec<&str> = format.fields.iter().map(|f| f.name).collect();
        return Err(unknown_word("field", &format!("a field of {}", format.name), name, span, &known));
    };
    cursor.expect('=', "and a value")?;
    let value = match cursor.peek() {
        Some(Tok::Word(word)) => {
            let value = field.values.iter().find(|value| value.name == *word);
            let Some(value) = value else {
                let known: Vec<&str> = field.values.iter().map(|value| value.name).collect();
                return Err(unknown_word("field", &format!("a value of {name}"), word, cursor.span(), &known));
            };
            cursor.advance();
            value.code
        }
        _ => cursor.integer(&format!("`{name}`"), field.extract(u32::MAX))?,
    };
    if !field.values.is_empty() && !field.values.iter().any(|v| v.code == value) {
        let error =
            crate::table::FieldError { word: format.name, field: field.name, found: value, allowed: field.values };
        return Err(Box::new(Diagnostic::error("field", error.to_string()).at(cursor.span_from(start), "")));
    }
    Ok(Raw { dword: *dword, mask: field.mask(), bits: value << field.lsb })
}
