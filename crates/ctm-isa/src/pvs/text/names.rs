//! Registers and their names.

use crate::diag::{Diagnostic, Span};
use crate::lexer::{Cursor, Parse, Tok, with_near};
use crate::pvs::access::WrittenFile;
use crate::pvs::formats::{OpDst, Src};
use crate::pvs::inst::RegisterAddress;
use crate::pvs::ops::{AddrMode, Component, SrcType};
use crate::suggest::Suggester;
use std::collections::HashMap;
use std::fmt::Write as _;

/// A kind of registers, with the letters of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterLetters {
    pub letters: &'static str,
    /// As a source.
    pub source: Option<SrcType>,
    /// As a destination.
    pub destination: Option<WrittenFile>,
    /// The largest offset of a source and of a destination that the fields hold.
    pub most: [u8; 2],
    what: &'static str,
}

const fn registers(
    letters: &'static str,
    source: Option<SrcType>,
    destination: Option<WrittenFile>,
    what: &'static str,
) -> RegisterLetters {
    RegisterLetters { letters, source, destination, most: [255, 127], what }
}

/// Every kind. The first whose letters fit is taken.
pub(super) const KINDS: [RegisterLetters; 7] = [
    registers("r", Some(SrcType::Temporary), Some(WrittenFile::Temporary), "a temporary"),
    registers("v", Some(SrcType::Input), Some(WrittenFile::Input), "an input"),
    registers("c", Some(SrcType::Constant), None, "a constant"),
    registers("at", Some(SrcType::AltTemporary), Some(WrittenFile::AltTemporary), "an alternate temporary"),
    registers("a", None, Some(WrittenFile::A0), "the address register"),
    registers("o", None, Some(WrittenFile::Output), "an output"),
    registers("ox", None, Some(WrittenFile::OutputReplicateX), "an output that receives x in every component"),
];

/// The kind of a source register.
pub(super) fn of_source(kind: SrcType) -> &'static str {
    KINDS.iter().find(|k| k.source == Some(kind)).map_or("r", |k| k.letters)
}

/// The kind of a destination register.
pub(super) fn of_destination(file: WrittenFile) -> &'static str {
    KINDS.iter().find(|k| k.destination == Some(file)).map_or("r", |k| k.letters)
}

/// `r5`, `c[a0.x+5]`, `r[aL]`.
pub(super) fn print(letters: &str, address: RegisterAddress) -> String {
    let index = match address.mode {
        AddrMode::Absolute => return format!("{letters}{}", address.offset),
        AddrMode::RelativeA0 => format!("a0.{}", address.sel.name().to_ascii_lowercase()),
        AddrMode::RelativeI0 => "aL".to_owned(),
    };
    let mut text = format!("{letters}[{index}");
    if address.offset != 0 {
        let _ = write!(text, "+{}", address.offset);
    }
    text.push(']');
    text
}

/// A parsed register.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParsedRegister {
    pub kind: &'static RegisterLetters,
    pub address: RegisterAddress,
    pub span: Span,
}

/// The names that directives give to registers.
#[derive(Debug, Default)]
pub(super) struct RegisterNames<'a> {
    names: HashMap<&'a str, (&'static RegisterLetters, u8, Span)>,
    suggester: Suggester,
}

/// The kind and number of `r5`.
fn numbered(word: &str) -> Option<(&'static RegisterLetters, Option<u32>)> {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let letters = &word[..word.len() - digits.len()];
    let kind = KINDS.iter().find(|kind| kind.letters == letters)?;
    match digits {
        "" => Some((kind, None)),
        _ if digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit()) => Some((kind, digits.parse().ok())),
        _ => None,
    }
}

/// The letters of a register's name, and the section that defines the register as a source, or as a destination where it is none.
pub(super) fn register(word: &str) -> Option<(&'static str, &'static str)> {
    let (kind, number) = numbered(word)?;
    number?;
    let cite = if kind.source.is_some() { Src::FORMAT.cite } else { OpDst::FORMAT.cite };
    Some((kind.letters, cite))
}

impl<'a> RegisterNames<'a> {
    /// Gives a register a name.
    pub fn declare(&mut self, name: &'a str, kind: &'static RegisterLetters, index: u8, span: Span) -> Parse<()> {
        if !is_free_name(name) {
            let message = format!("`{name}` has a meaning already, and names no register");
            return Err(Box::new(Diagnostic::error("name", message).at(span, "")));
        }
        match self.names.insert(name, (kind, index, span)) {
            Some((old_kind, old_index, old)) if (old_kind, old_index) != (kind, index) => {
                let message = format!("`{name}` is {}{old_index} already", old_kind.letters);
                Err(Box::new(Diagnostic::error("name", message).at(span, "").at(old, "first here")))
            }
            _ => Ok(()),
        }
    }

    /// A register of one kind with its number alone, for directives.
    pub fn plain(&self, cursor: &mut Cursor<'_, 'a>, letters: &str, most: u8) -> Parse<(&'static RegisterLetters, u8)> {
        let span = cursor.span();
        let word = cursor.word(&format!("a register `{letters}N`"))?;
        match numbered(word) {
            Some((kind, Some(index))) if kind.letters == letters => {
                let index = u8::try_from(index).ok().filter(|&index| index <= most);
                index.map(|index| (kind, index)).ok_or_else(|| {
                    let message = format!("`{word}` does not exist: there are {letters}0 to {letters}{most}");
                    Box::new(Diagnostic::error("range", message).at(span, ""))
                })
            }
            _ => {
                let message = format!("`{word}` is no register `{letters}N`");
                Err(Box::new(Diagnostic::error("syntax", message).at(span, "")))
            }
        }
    }

    /// A register with its address; `destination` says which of the two it is to be.
    pub fn register(&self, cursor: &mut Cursor<'_, 'a>, destination: bool) -> Parse<ParsedRegister> {
        let start = cursor.span();
        let word = cursor.word(if destination { "a destination register" } else { "a source: a register, 0 or 1" })?;
        let bracket = cursor.at_punct('[');
        let (kind, base) = match (self.names.get(word), numbered(word)) {
            (Some(&(kind, index, _)), _) => (kind, u32::from(index)),
            (None, Some((kind, Some(index)))) => (kind, index),
            (None, Some((kind, None))) if bracket => (kind, 0),
            (None, _) => {
                let found = Diagnostic::error("register", format!("`{word}` is no register")).at(start, "");
                let near = self.suggester.closest(word, self.names.keys().copied());
                let known = ["rN", "vN", "cN", "atN", "a0", "oN", "oxN"];
                return Err(Box::new(with_near(found, near, if near.is_none() { &known } else { &[] })));
            }
        };
        let allowed = if destination { kind.destination.is_some() } else { kind.source.is_some() };
        if !allowed {
            let what = if destination { "cannot be written" } else { "cannot be read" };
            return Err(Box::new(Diagnostic::error("register", format!("{} {what}", kind.what)).at(start, "")));
        }
        let (mut mode, mut sel, mut offset) = (AddrMode::Absolute, Component::X, base);
        if cursor.eat('[') {
            (mode, sel) = relative_to(cursor)?;
            if cursor.eat('+') {
                offset = offset.saturating_add(cursor.integer("the offset", 255)?);
            }
            cursor.expect(']', "after the address")?;
        }
        let most = kind.most[usize::from(destination)];
        let span = cursor.span_from(start);
        match u8::try_from(offset).ok().filter(|&offset| offset <= most) {
            Some(offset) => Ok(ParsedRegister { kind, address: RegisterAddress { mode, sel, offset }, span }),
            None => {
                let message = format!("the offset of {} is {offset}, the field holds 0 to {most}", kind.what);
                Err(Box::new(Diagnostic::error("range", message).at(span, "")))
            }
        }
    }
}

/// `a0.x` or `aL`.
fn relative_to(cursor: &mut Cursor<'_, '_>) -> Parse<(AddrMode, Component)> {
    let span = cursor.span();
    match cursor.word("`a0` with a component, or `aL`")? {
        "aL" => Ok((AddrMode::RelativeI0, Component::X)),
        "a0" => {
            let at = cursor.span();
            let component = cursor.eat_dotted().and_then(|(name, _)| Component::from_name(&name.to_ascii_uppercase()));
            let error = || Box::new(Diagnostic::error("syntax", "a0 needs a component: .x, .y, .z or .w").at(at, ""));
            component.map(|component| (AddrMode::RelativeA0, component)).ok_or_else(error)
        }
        other => {
            let message = format!("`{other}` cannot be added to an address");
            Err(Box::new(
                Diagnostic::error("syntax", message).at(span, "").help("allowed are a0.x, a0.y, a0.z, a0.w and aL"),
            ))
        }
    }
}

/// Whether a word may be a name of the source.
pub(super) fn is_free_name(word: &str) -> bool {
    let taken = ["aL", "p", "inf", "nan", "_"];
    numbered(word).is_none() && !taken.contains(&word)
}

/// Whether the next tokens are a name and `=`.
pub(super) fn at_name(cursor: &Cursor<'_, '_>) -> bool {
    matches!((cursor.peek(), cursor.peek_after(1)), (Some(Tok::Word(_)), Some(Tok::Punct('='))))
}
