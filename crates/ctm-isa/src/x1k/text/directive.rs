//! Directives: names, literals and program information; parsed and printed.

use super::Parse;
use super::lexer::{Cursor, Tok, float_text, quote, unknown_word};
use super::names::{Names, RegisterFile, is_free_name};
use crate::diag::{Diagnostic, Span};
use crate::x1k::program::{Literal, Preload, Program, Symbol, SymbolKind};
use std::collections::BTreeMap;

/// Every directive that says something about the whole program. `.word`, `.entry` and `.last` have a place among the
/// instructions and are read with them.
pub(super) const DIRECTIVES: &[&str] = &[
    "input",
    "output",
    "const",
    "int",
    "bool",
    "reg",
    "interp",
    "position",
    "uncached",
    "zero_times_anything",
    "mode",
    "conditional_value",
];

/// Directives among the instructions.
pub(super) const PLACED: &[&str] = &["word", "entry", "last"];

/// The contents of a program's directives.
#[derive(Default)]
pub(super) struct Information {
    pub uncached: bool,
    pub zero_times_anything: bool,
    pub full_flow_control: Option<bool>,
    pub conditional_value: Option<bool>,
    /// `None`: no directive says anything.
    pub preloads: Option<Vec<Preload>>,
    pub symbols: Vec<Symbol>,
    pub literals: Vec<Literal>,
}

/// A name to declare: an identifier is known to the source, a quoted name only to those who bind it.
enum Name<'a> {
    Known(&'a str, Span),
    Quoted(String),
}

impl Information {
    /// Parses the directive `name`; the cursor follows it.
    pub fn parse<'a>(
        &mut self,
        name: &str,
        span: Span,
        cursor: &mut Cursor<'_, 'a>,
        names: &mut Names<'a>,
    ) -> Parse<Option<Diagnostic>> {
        let mut warning = None;
        match name {
            "input" => self.list(cursor, names, RegisterFile::Input, &mut warning)?,
            "output" => self.list(cursor, names, RegisterFile::Output, &mut warning)?,
            "const" => self.list(cursor, names, RegisterFile::Float, &mut warning)?,
            "int" => self.list(cursor, names, RegisterFile::Int, &mut warning)?,
            "bool" => self.list(cursor, names, RegisterFile::Bool, &mut warning)?,
            "reg" => self.list(cursor, names, RegisterFile::Temp, &mut warning)?,
            "interp" => loop {
                self.interpolant(cursor, names)?;
                if !cursor.eat(',') {
                    break;
                }
            },
            "position" => {
                let preloads = self.preloads.get_or_insert_default();
                if !cursor.eat_word("none") {
                    preloads.push(Preload::Position { temp: names.plain(cursor, RegisterFile::Temp)? });
                }
            }
            "uncached" => self.uncached = true,
            "zero_times_anything" => self.zero_times_anything = true,
            "mode" => {
                let span = cursor.span();
                self.full_flow_control = Some(match cursor.word("`partial` or `full`")? {
                    "partial" => false,
                    "full" => true,
                    other => {
                        return Err(unknown_word(
                            "directive",
                            "a flow-control mode",
                            other,
                            span,
                            &["partial", "full"],
                        ));
                    }
                });
            }
            "conditional_value" => {
                let span = cursor.span();
                self.conditional_value = Some(match cursor.word("`yes` or `no`")? {
                    "yes" => true,
                    "no" => false,
                    other => return Err(unknown_word("directive", "an answer", other, span, &["yes", "no"])),
                });
            }
            _ => {
                let known: Vec<String> = DIRECTIVES.iter().chain(PLACED).map(|d| format!(".{d}")).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(unknown_word("directive", "a directive", &format!(".{name}"), span, &known));
            }
        }
        if cursor.is_at_end() { Ok(warning) } else { Err(cursor.unexpected("the end of the line")) }
    }

    /// `name = c1 (…), other = c2, c3 (…)`
    fn list<'a>(
        &mut self,
        cursor: &mut Cursor<'_, 'a>,
        names: &mut Names<'a>,
        file: RegisterFile,
        warning: &mut Option<Diagnostic>,
    ) -> Parse<()> {
        loop {
            let start = cursor.span();
            let name = match (cursor.peek(), cursor.peek_after(1)) {
                (Some(Tok::Word(word)), Some(Tok::Punct('='))) => {
                    cursor.advance();
                    Some(Name::Known(word, start))
                }
                (Some(Tok::Quoted(text)), _) => {
                    cursor.advance();
                    Some(Name::Quoted(text.clone()))
                }
                _ => None,
            };
            let name_given = name.is_some();
            if name_given {
                cursor.expect('=', "and a register")?;
            }
            let index = names.plain(cursor, file)?;
            let has_value =
                cursor.at_punct('(') && matches!(file, RegisterFile::Float | RegisterFile::Int | RegisterFile::Bool);
            if name.is_none() && !has_value {
                return Err(cursor.unexpected("a value in parentheses (or a name and `=` before the register)"));
            }
            if has_value {
                let literal = literal(cursor, file, index)?;
                let same = |old: &Literal| literal_key(old) == literal_key(&literal);
                if self.literals.iter().any(same) {
                    *warning = Some(
                        Diagnostic::warning(
                            "literal",
                            format!("{}{index} has a value already; the later one holds", file.letter()),
                        )
                        .at(cursor.span_from(start), ""),
                    );
                }
                self.literals.push(literal);
            }
            let text = match name {
                Some(Name::Known(word, span)) => {
                    names.declare(word, file, index, span)?;
                    word.to_owned()
                }
                Some(Name::Quoted(text)) => text,
                None => String::new(),
            };
            if let Some(kind) = file.symbol_kind()
                && name_given
            {
                self.symbols.push(Symbol { name: text, kind, index });
            }
            if !cursor.eat(',') {
                return Ok(());
            }
        }
    }

    /// `name = t0 -> r3` or `t0 -> r3`
    fn interpolant<'a>(&mut self, cursor: &mut Cursor<'_, 'a>, names: &mut Names<'a>) -> Parse<()> {
        let start = cursor.span();
        let name = match (cursor.peek(), cursor.peek_after(1)) {
            (Some(Tok::Word(word)), Some(Tok::Punct('='))) => {
                cursor.advance();
                cursor.advance();
                Some(*word)
            }
            _ => None,
        };
        let index = names.plain(cursor, RegisterFile::Interpolant)?;
        cursor.expect('-', "and `>` before the register that receives it")?;
        cursor.expect('>', "before the register that receives it")?;
        let temp = names.plain(cursor, RegisterFile::Temp)?;
        if let Some(name) = name {
            names.declare(name, RegisterFile::Temp, temp, start)?;
        }
        self.preloads.get_or_insert_default().push(Preload::Interpolant { index, temp });
        Ok(())
    }
}

fn literal_key(literal: &Literal) -> (u8, u8) {
    match *literal {
        Literal::Float { index, .. } => (0, index),
        Literal::Int { index, .. } => (1, index),
        Literal::Bool { index, .. } => (2, index),
    }
}

/// `(1, 2.5, -0, inf)`, `(255, 0, 1)`, `(true)`
fn literal(cursor: &mut Cursor<'_, '_>, file: RegisterFile, index: u8) -> Parse<Literal> {
    let start = cursor.span();
    cursor.expect('(', "before the value")?;
    let literal = match file {
        RegisterFile::Bool => {
            let value = match cursor.word("`true` or `false`")? {
                "true" => true,
                "false" => false,
                other => return Err(unknown_word("literal", "a truth value", other, start, &["true", "false"])),
            };
            Literal::Bool { index, value }
        }
        RegisterFile::Int => {
            let mut value = [0u8; 4];
            for (i, what) in
                ["the iteration count", "the initial aL", "the step of aL", "the unused byte"].into_iter().enumerate()
            {
                if i > 0 && !cursor.eat(',') {
                    break;
                }
                let span = cursor.span();
                let negative = cursor.eat('-');
                let max = if negative {
                    128
                } else if i == 2 {
                    127
                } else {
                    255
                };
                if negative && i != 2 {
                    return Err(Box::new(
                        Diagnostic::error("range", format!("{what} is negative, allowed is 0 to 255"))
                            .at(span, "")
                            .cite("CTM §3.5.3"),
                    ));
                }
                let number = cursor.integer(what, max)? as u8;
                value[i] = if negative { number.wrapping_neg() } else { number };
            }
            Literal::Int { index, value }
        }
        _ => {
            let mut bits = [0; 4];
            for (i, bits) in bits.iter_mut().enumerate() {
                if i > 0 && !cursor.eat(',') {
                    return Err(Box::new(
                        Diagnostic::error(
                            "literal",
                            format!("the value has {i} numbers, a constant register has 4 channels"),
                        )
                        .at(cursor.span_from(start), "")
                        .cite("CTM §3.3.1"),
                    ));
                }
                let negative = cursor.eat('-');
                let number = if cursor.eat_word("inf") {
                    f32::INFINITY.to_bits()
                } else {
                    cursor.number("a number")?.float_bits()
                };
                *bits = number ^ u32::from(negative) << 31;
            }
            Literal::Float { index, bits }
        }
    };
    cursor.expect(')', "after the value")?;
    Ok(literal)
}

fn print_literal(literal: &Literal) -> String {
    match literal {
        Literal::Float { bits, .. } => format!(" ({})", bits.map(float_text).join(", ")),
        Literal::Int { value: [count, start, step, rest], .. } => {
            let rest = if *rest == 0 { String::new() } else { format!(", {rest}") };
            format!(" ({count}, {start}, {}{rest})", i8::from_ne_bytes([*step]))
        }
        Literal::Bool { value, .. } => format!(" ({value})"),
    }
}

fn file_of(kind: SymbolKind) -> (RegisterFile, &'static str) {
    match kind {
        SymbolKind::Input => (RegisterFile::Input, "input"),
        SymbolKind::Output => (RegisterFile::Output, "output"),
        SymbolKind::Float => (RegisterFile::Float, "const"),
        SymbolKind::Int => (RegisterFile::Int, "int"),
        SymbolKind::Bool => (RegisterFile::Bool, "bool"),
    }
}

/// Whether a name can be used in the source as it is.
fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    let word = bytes.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_')
        && bytes.all(|c| c.is_ascii_alphanumeric() || c == b'_');
    // Listings call their labels L and a number.
    let label = name.strip_prefix('L').is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    word && !label && is_free_name(name) && !["r", "c", "none"].contains(&name)
}

/// The names that a listing uses for registers.
pub(super) type Listed = BTreeMap<(SymbolKind, u8), String>;

/// Prints every directive that the program needs, and says which names the instructions can use.
pub(super) fn print(program: &Program, derived_mode: bool, derived_value: bool) -> (String, Listed) {
    let mut text = String::new();
    let mut listed = Listed::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for (set, name) in [(program.uncached, ".uncached"), (program.zero_times_anything, ".zero_times_anything")] {
        if set {
            line(name.to_owned());
        }
    }
    if program.full_flow_control != derived_mode {
        line(format!(".mode {}", if program.full_flow_control { "full" } else { "partial" }));
    }
    if program.conditional_value != derived_value {
        line(format!(".conditional_value {}", if program.conditional_value { "yes" } else { "no" }));
    }
    if program.preloads != [Preload::Position { temp: 0 }] {
        if program.preloads.is_empty() {
            line(".position none".to_owned());
        }
        for preload in &program.preloads {
            line(match preload {
                Preload::Position { temp } => format!(".position r{temp}"),
                Preload::Interpolant { index, temp } => format!(".interp t{index} -> r{temp}"),
            });
        }
    }
    let count = |name: &str| program.symbols.iter().filter(|s| s.name == name).count();
    let mut literals = program.literals.iter().peekable();
    for symbol in &program.symbols {
        let (file, directive) = file_of(symbol.kind);
        let name = if is_plain(&symbol.name) && count(&symbol.name) == 1 {
            listed.entry((symbol.kind, symbol.index)).or_insert_with(|| symbol.name.clone());
            symbol.name.clone()
        } else {
            quote(&symbol.name)
        };
        // A value is printed with its name where that keeps both lists in order.
        let key = match symbol.kind {
            SymbolKind::Float => Some((0, symbol.index)),
            SymbolKind::Int => Some((1, symbol.index)),
            SymbolKind::Bool => Some((2, symbol.index)),
            SymbolKind::Input | SymbolKind::Output => None,
        };
        let value = literals.next_if(|l| Some(literal_key(l)) == key).map_or_else(String::new, print_literal);
        line(format!(".{directive} {name} = {}{}{value}", file.letter(), symbol.index));
    }
    for literal in literals {
        let (directive, letter, index) = match literal {
            Literal::Float { index, .. } => ("const", 'c', index),
            Literal::Int { index, .. } => ("int", 'i', index),
            Literal::Bool { index, .. } => ("bool", 'b', index),
        };
        line(format!(".{directive} {letter}{index}{}", print_literal(literal)));
    }
    (text, listed)
}
