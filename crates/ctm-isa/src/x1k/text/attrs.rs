//! Attributes at the end of a line: settings that the assembler otherwise derives, and raw fields.

use super::Parse;
use super::lexer::{Cursor, Tok, unknown_word};
use super::names::{Names, RegisterFile};
use super::operand::print_source;
use crate::diag::{Diagnostic, Span};
use crate::table::{Field, WordFormat};
use crate::x1k::formats::WORDS;
use crate::x1k::inst::{Source, inline_code};
use crate::x1k::ops::InstType;

/// A field that the source sets by number, whatever the statement would put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawField {
    pub format: WordFormat,
    pub field: &'static Field,
    pub value: u32,
}

impl RawField {
    /// Writes the field into the words of its instruction.
    pub fn apply(&self, words: &mut crate::x1k::Words) {
        let word = &mut words[self.format.dword];
        *word = *word & !self.field.mask() | self.value << self.field.lsb & self.field.mask();
    }
}

/// The settings of one line; `None` leaves it to the assembler.
#[derive(Clone, Debug, Default)]
pub(super) struct Attrs {
    pub wait: Option<bool>,
    pub acquire: Option<bool>,
    pub alu_wait: Option<bool>,
    pub nop: Option<bool>,
    pub last: bool,
    pub inactive: bool,
    pub covered: bool,
    pub scaled: bool,
    /// `alu` or `output`: the type, where the destinations leave it open.
    pub kind: Option<InstType>,
    pub rgb_sources: Option<[Source; 3]>,
    pub alpha_sources: Option<[Source; 3]>,
    pub raw: Vec<RawField>,
    /// The words of the line that only some statements allow: for findings.
    pub used: Vec<(&'static str, Span)>,
}

/// Fields that the assembler works out and that have words of their own.
const WORKED_OUT: &[(&str, &str)] =
    &[("TEX_SEM_WAIT", "wait"), ("TEX_SEM_ACQUIRE", "acquire"), ("ALU_WAIT", "aluwait"), ("NOP", "nop")];

/// Every word that can be at the end of a line.
pub(super) const WORDS_AT_END: &[&str] = &[
    "wait",
    "nowait",
    "acquire",
    "noacquire",
    "aluwait",
    "noaluwait",
    "nop",
    "nonop",
    "last",
    "inactive",
    "covered",
    "scaled",
    "unscaled",
    "alu",
    "output",
    "rgbsrc",
    "alphasrc",
    "sat",
    "raw",
];

impl Attrs {
    /// Parses one attribute. `kinds` are the types the instruction can have.
    ///
    /// # Errors
    /// The token under the cursor is no attribute.
    pub fn parse<'a>(&mut self, cursor: &mut Cursor<'_, 'a>, names: &Names<'a>, kinds: &[InstType]) -> Parse<()> {
        let span = cursor.span();
        let word = cursor.word("the end of the line or a modifier")?;
        let only = |what: &'static str, ok: bool, attrs: &mut Self| {
            if ok {
                attrs.used.push((what, span));
                Ok(())
            } else {
                Err(Box::new(
                    Diagnostic::error("attribute", format!("`{what}` has no meaning on this instruction")).at(span, ""),
                ))
            }
        };
        let is_alu = kinds.contains(&InstType::Alu);
        let is_tex = kinds.contains(&InstType::Tex);
        let is_fc = kinds.contains(&InstType::Fc);
        match word {
            "wait" => self.wait = Some(true),
            "nowait" => self.wait = Some(false),
            "aluwait" => self.alu_wait = Some(true),
            "noaluwait" => self.alu_wait = Some(false),
            "nop" => self.nop = Some(true),
            "nonop" => self.nop = Some(false),
            "last" => self.last = true,
            "inactive" => self.inactive = true,
            "acquire" => {
                only("acquire", !is_fc, self)?;
                self.acquire = Some(true);
            }
            "noacquire" => {
                only("noacquire", !is_fc, self)?;
                self.acquire = Some(false);
            }
            "covered" => {
                only("covered", !is_alu, self)?;
                self.covered = true;
            }
            "scaled" | "unscaled" => {
                only("scaled", is_tex, self)?;
                self.scaled = word == "scaled";
            }
            "alu" | "output" => {
                only(if word == "alu" { "alu" } else { "output" }, is_alu, self)?;
                self.kind = Some(if word == "alu" { InstType::Alu } else { InstType::Output });
            }
            "rgbsrc" => {
                only("rgbsrc", is_alu, self)?;
                self.rgb_sources = Some(sources(cursor, names)?);
            }
            "alphasrc" => {
                only("alphasrc", is_alu, self)?;
                self.alpha_sources = Some(sources(cursor, names)?);
            }
            _ => {
                let raw = raw_field(cursor, word, span, kinds)?;
                self.raw.push(raw);
            }
        }
        Ok(())
    }

    /// The words that say how the words `wait`, `acquire`, … differ from `derived`.
    pub fn print(&self) -> String {
        let mut text = String::new();
        let mut say = |word: &str| {
            text.push(' ');
            text.push_str(word);
        };
        let pairs = [
            (self.wait, "wait", "nowait"),
            (self.acquire, "acquire", "noacquire"),
            (self.alu_wait, "aluwait", "noaluwait"),
            (self.nop, "nop", "nonop"),
        ];
        if let Some(kind) = self.kind {
            say(if kind == InstType::Output { "output" } else { "alu" });
        }
        for (set, yes, no) in pairs {
            match set {
                Some(true) => say(yes),
                Some(false) => say(no),
                None => {}
            }
        }
        for (set, word) in
            [(self.last, "last"), (self.inactive, "inactive"), (self.covered, "covered"), (self.scaled, "scaled")]
        {
            if set {
                say(word);
            }
        }
        for (list, word) in [(self.rgb_sources, "rgbsrc"), (self.alpha_sources, "alphasrc")] {
            if let Some(list) = list {
                let list: Vec<String> = list
                    .iter()
                    .map(|&s| if s == Source::IDLE { "-".to_owned() } else { print_source(s, &|_| None) })
                    .collect();
                say(&format!("{word}=({})", list.join(", ")));
            }
        }
        for raw in &self.raw {
            say(&print_raw_field(raw));
        }
        text
    }
}

/// `=(r0, c1, -)`
fn sources<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<[Source; 3]> {
    cursor.expect('=', "and the three sources")?;
    cursor.expect('(', "before the three sources")?;
    let mut list = [Source::IDLE; 3];
    for (i, slot) in list.iter_mut().enumerate() {
        if i > 0 {
            cursor.expect(',', "between the three sources")?;
        }
        if cursor.eat('-') {
            continue;
        }
        let span = cursor.span();
        if let Some(Tok::Number(number)) = cursor.peek() {
            cursor.advance();
            let code = inline_code(number.value).ok_or_else(|| {
                Box::new(
                    Diagnostic::error("number", format!("{} is not an inline constant", number.value))
                        .at(span, "")
                        .cite("CTM §3.3.1"),
                )
            })?;
            *slot = Source::Inline { code, relative: false };
            continue;
        }
        let register = names.register(cursor, "a source or `-`")?;
        *slot = match register.file {
            RegisterFile::Temp => Source::Temp { index: register.index, relative: register.relative },
            RegisterFile::Float => Source::Const { index: register.index, relative: register.relative },
            _ => {
                return Err(Box::new(
                    Diagnostic::error("operand", format!("{} cannot be a source of the ALU", register.file.what()))
                        .at(span, ""),
                ));
            }
        };
    }
    cursor.expect(')', "after the three sources")?;
    Ok(list)
}

/// `FIELD=value` or `WORD.FIELD=value`, by the manual's names.
fn raw_field(cursor: &mut Cursor<'_, '_>, word: &str, span: Span, kinds: &[InstType]) -> Parse<RawField> {
    let (format_name, field_name) = match cursor.eat_dotted() {
        Some((field, _)) => (Some(word), field),
        None => (None, word),
    };
    let span = cursor.span_from(span);
    let formats =
        || WORDS.iter().filter(|(types, _)| types.iter().any(|t| kinds.contains(t))).map(|(_, format)| format);
    let mut found = formats()
        .filter(|format| format_name.is_none_or(|name| format.name == name))
        .filter_map(|format| format.field(field_name).map(|field| (format, field)));
    let Some((format, field)) = found.next() else {
        let fields: Vec<&str> = formats().flat_map(|f| f.fields.iter().map(|f| f.name)).collect();
        let known: Vec<&str> = WORDS_AT_END.iter().copied().chain(fields).collect();
        return Err(unknown_word("attribute", "a modifier of this instruction", word, span, &known));
    };
    if let Some((other, _)) = found.next() {
        return Err(Box::new(
            Diagnostic::error(
                "attribute",
                format!("`{field_name}` is a field of both {} and {}", format.name, other.name),
            )
            .at(span, "")
            .help(format!("write `{}.{field_name}=`", format.name)),
        ));
    }
    if let Some((_, instead)) = WORKED_OUT.iter().find(|(name, _)| *name == field_name) {
        return Err(Box::new(
            Diagnostic::error("attribute", format!("`{field_name}` is not set by number"))
                .at(span, "")
                .help(format!("write `{instead}` or `no{instead}`")),
        ));
    }
    if field_name == "TYPE" {
        return Err(Box::new(
            Diagnostic::error("attribute", "the type of an instruction is not set by number").at(span, ""),
        ));
    }
    cursor.expect('=', "and a value")?;
    let span = cursor.span();
    let value = match cursor.peek() {
        Some(Tok::Word(name)) => {
            cursor.advance();
            let names: Vec<&str> = field.values.iter().map(|v| v.name).collect();
            match field.values.iter().find(|v| v.name == *name) {
                Some(value) => value.code,
                None => {
                    return Err(unknown_word("attribute", &format!("a value of `{field_name}`"), name, span, &names));
                }
            }
        }
        _ => cursor.integer("the value of the field", u32::MAX >> (32 - field.width()))?,
    };
    Ok(RawField { format: *format, field, value })
}

fn print_raw_field(raw: &RawField) -> String {
    let ambiguous = WORDS.iter().filter(|(_, f)| f.field(raw.field.name).is_some()).count() > 1;
    let value = match raw.field.values.iter().find(|v| v.code == raw.value) {
        Some(value) if value.name.starts_with(|c: char| c.is_ascii_alphabetic()) => value.name.to_owned(),
        _ => raw.value.to_string(),
    };
    if ambiguous {
        format!("{}.{}={value}", raw.format.name, raw.field.name)
    } else {
        format!("{}={value}", raw.field.name)
    }
}

/// The fields in which `words` differs from `made`, or `None` where bits outside the fields differ.
pub(super) fn differing_fields(
    kind: InstType,
    words: &crate::x1k::Words,
    made: &crate::x1k::Words,
) -> Option<Vec<RawField>> {
    let mut left: crate::x1k::Words = std::array::from_fn(|i| words[i] ^ made[i]);
    let mut raw = Vec::new();
    for (types, format) in WORDS {
        if !types.contains(&kind) || left[format.dword] == 0 {
            continue;
        }
        for field in format.fields {
            if left[format.dword] & field.mask() != 0 {
                left[format.dword] &= !field.mask();
                raw.push(RawField { format: *format, field, value: field.extract(words[format.dword]) });
            }
        }
    }
    left.iter().all(|&bits| bits == 0).then_some(raw)
}
