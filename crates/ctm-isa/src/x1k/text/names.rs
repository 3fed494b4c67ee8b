//! Registers and the names that mean them.

use super::Parse;
use super::lexer::{Cursor, Tok};
use crate::diag::{Diagnostic, Span};
use crate::suggest::Suggester;
use crate::x1k::program::SymbolKind;
use crate::x1k::{BOOL_CONSTANTS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS, TEMPORARIES};
use std::collections::{BTreeSet, HashMap};

/// A register file, by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegisterFile {
    /// `r`: temporary.
    Temp,
    /// `c`: floating-point constant.
    Float,
    /// `s`: input.
    Input,
    /// `o`: output.
    Output,
    /// `i`: integer constant.
    Int,
    /// `b`: boolean constant.
    Bool,
    /// `t`: interpolant.
    Interpolant,
}

impl RegisterFile {
    const ALL: [Self; 7] =
        [Self::Temp, Self::Float, Self::Input, Self::Output, Self::Int, Self::Bool, Self::Interpolant];

    pub const fn letter(self) -> char {
        match self {
            Self::Temp => 'r',
            Self::Float => 'c',
            Self::Input => 's',
            Self::Output => 'o',
            Self::Int => 'i',
            Self::Bool => 'b',
            Self::Interpolant => 't',
        }
    }

    pub const fn what(self) -> &'static str {
        match self {
            Self::Temp => "a temporary register",
            Self::Float => "a constant register",
            Self::Input => "an input",
            Self::Output => "an output",
            Self::Int => "an integer constant",
            Self::Bool => "a boolean constant",
            Self::Interpolant => "an interpolant",
        }
    }

    pub const fn count(self) -> usize {
        match self {
            Self::Temp => TEMPORARIES,
            Self::Float => FLOAT_CONSTANTS,
            Self::Input => INPUTS,
            Self::Output => OUTPUTS,
            Self::Int => INT_CONSTANTS,
            Self::Bool => BOOL_CONSTANTS,
            // The rasteriser of the program information has sixteen instructions.
            Self::Interpolant => 16,
        }
    }

    const fn cite(self) -> &'static str {
        match self {
            Self::Temp | Self::Float => "CTM §3.3.1",
            Self::Input => "CTM §3.4",
            Self::Output => "CTM §3.3.8",
            Self::Int | Self::Bool => "CTM §3.5.3",
            Self::Interpolant => "CTM §4.1.4",
        }
    }

    pub const fn symbol_kind(self) -> Option<SymbolKind> {
        match self {
            Self::Float => Some(SymbolKind::Float),
            Self::Input => Some(SymbolKind::Input),
            Self::Output => Some(SymbolKind::Output),
            Self::Int => Some(SymbolKind::Int),
            Self::Bool => Some(SymbolKind::Bool),
            Self::Temp | Self::Interpolant => None,
        }
    }
}

/// A register: `r5`, `c12`, `r[aL+1]`, or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedRegister {
    pub file: RegisterFile,
    pub index: u8,
    /// Add aL.
    pub relative: bool,
}

/// The names that directives declare.
#[derive(Default)]
pub(super) struct Names<'a> {
    known: HashMap<&'a str, (RegisterFile, u8, Span)>,
    /// Names that were refused: lines with them are wrong for that reason.
    refused: BTreeSet<&'a str>,
    suggester: Suggester,
}

/// Words that mean something else wherever a register can be.
pub(super) const RESERVED: &[&str] = &["p", "res", "w", "aL", "umrt", "_"];

/// Whether `word` can be declared as a name.
pub(super) fn is_free_name(word: &str) -> bool {
    !RESERVED.contains(&word) && numbered(word).is_none()
}

/// The file and the digits of `r5`, `c12`, …
fn numbered(word: &str) -> Option<(RegisterFile, &str)> {
    let letter = word.chars().next()?;
    let digits = &word[letter.len_utf8()..];
    let file = RegisterFile::ALL.into_iter().find(|f| f.letter() == letter)?;
    (!digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())).then_some((file, digits))
}

impl<'a> Names<'a> {
    /// Declares `name`.
    pub fn declare(&mut self, name: &'a str, file: RegisterFile, index: u8, span: Span) -> Parse<()> {
        if !is_free_name(name) {
            self.refused.insert(name);
            return Err(Box::new(
                Diagnostic::error("name", format!("`{name}` always means something else and cannot be declared"))
                    .at(span, ""),
            ));
        }
        if let Some((old_file, old_index, old_span)) = self.known.insert(name, (file, index, span)) {
            return Err(Box::new(
                Diagnostic::error(
                    "name",
                    format!("`{name}` is declared twice, the first time as {}{old_index}", old_file.letter()),
                )
                .at(span, "")
                .at(old_span, "first declared here"),
            ));
        }
        Ok(())
    }

    /// Whether a line has a refused name, where a name can be: not after a dot.
    pub fn has_refused(&self, line: &str) -> bool {
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        self.refused.iter().any(|name| {
            line.match_indices(name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let behind = line[at + name.len()..].chars().next();
                !before.is_some_and(|c| of_word(c) || c == '.') && !behind.is_some_and(of_word)
            })
        })
    }

    /// The file of `word`, if it is a register or a declared name.
    pub fn file_of(&self, word: &str) -> Option<RegisterFile> {
        self.known.get(word).map(|k| k.0).or_else(|| numbered(word).map(|(file, _)| file)).or(match word {
            "r" => Some(RegisterFile::Temp),
            "c" => Some(RegisterFile::Float),
            _ => None,
        })
    }

    /// Parses a register of any file.
    pub fn register(&self, cursor: &mut Cursor<'_, 'a>, expected: &str) -> Parse<NamedRegister> {
        let span = cursor.span();
        let word = cursor.word(expected)?;
        let indexed = matches!(cursor.peek(), Some(Tok::Punct('[')));
        let (file, base) = match (word, indexed) {
            ("r", true) => (RegisterFile::Temp, 0),
            ("c", true) => (RegisterFile::Float, 0),
            _ => self.named(word, span)?,
        };
        if !indexed {
            return Ok(NamedRegister { file, index: base, relative: false });
        }
        if !matches!(file, RegisterFile::Temp | RegisterFile::Float) {
            return Err(Box::new(
                Diagnostic::error("relative", format!("{} cannot be addressed relative to aL", file.what()))
                    .at(span, "")
                    .cite("CTM §3.3.1"),
            ));
        }
        cursor.advance();
        let inside = cursor.span();
        let (mut offset, mut relative) = (0, false);
        loop {
            if cursor.eat_word("aL") {
                if relative {
                    return Err(Box::new(Diagnostic::error("relative", "aL can be added once").at(inside, "")));
                }
                relative = true;
            } else {
                offset += cursor.integer("the offset", 255)?;
            }
            if !cursor.eat('+') {
                break;
            }
        }
        cursor.expect(']', "after the index")?;
        let index = u32::from(base) + offset;
        let Some(index) = u8::try_from(index).ok().filter(|&i| usize::from(i) < file.count()) else {
            return Err(out_of_range(file, &index.to_string(), inside));
        };
        Ok(NamedRegister { file, index, relative })
    }

    /// Parses a register of one file, without aL.
    pub fn plain(&self, cursor: &mut Cursor<'_, 'a>, file: RegisterFile) -> Parse<u8> {
        let span = cursor.span();
        let expected = format!("{} such as `{}0`", file.what(), file.letter());
        let found = self.register(cursor, &expected)?;
        if found.file != file || found.relative {
            return Err(Box::new(
                Diagnostic::error("operand", format!("found {} where {expected} is expected", found.file.what()))
                    .at(span, ""),
            ));
        }
        Ok(found.index)
    }

    /// Whether a word names a register.
    pub fn is_register(&self, word: &str) -> bool {
        self.known.contains_key(word) || numbered(word).is_some()
    }

    fn named(&self, word: &str, span: Span) -> Parse<(RegisterFile, u8)> {
        if let Some(&(file, index, _)) = self.known.get(word) {
            return Ok((file, index));
        }
        if let Some((file, digits)) = numbered(word) {
            return match digits.parse::<u8>() {
                Ok(index) if usize::from(index) < file.count() => Ok((file, index)),
                _ => Err(out_of_range(file, digits, span)),
            };
        }
        let finding = Diagnostic::error("name", format!("nothing is called `{word}`")).at(span, "");
        if word == "abs" {
            return Err(Box::new(finding.help("bars take the absolute value: `|r1|`")));
        }
        Err(Box::new(match self.suggester.closest(word, self.known.keys().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(
                "registers are r0, c0, s0, o0, i0, b0 and so on; names are declared by .reg, .const, .input, .output, .int, .bool",
            ),
        }))
    }
}

fn out_of_range(file: RegisterFile, index: &str, span: Span) -> Box<Diagnostic> {
    let letter = file.letter();
    Box::new(
        Diagnostic::error(
            "range",
            format!("there is no {letter}{index}: {letter}0 to {letter}{} exist", file.count() - 1),
        )
        .at(span, "")
        .cite(file.cite()),
    )
}
