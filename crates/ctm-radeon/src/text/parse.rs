//! From text to words.

use super::{FILL, NAMELESS, ONE_REGISTER, PREDICATED, RELOC, REST, TYPE_0, UNNAMED, WORD};
use crate::chip::Chip;
use crate::packets::words::Type3Header;
use crate::packets::{FILLER, NOP, R700};
use crate::table::{Info, PacketShape, insert};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::suggest::closest;
use ctm_isa::table::Field;

/// Most words after a header.
const MOST_WORDS: usize = 1 << 14;
/// Most words in a line of fillers.
const MOST_FILLERS: u32 = 1 << 20;

/// The packet that writes the registers of the following lines.
struct Open {
    /// The row of its packet, or none for a type-0 packet.
    row: Option<&'static Info>,
    predicated: bool,
    /// Of a type-0 packet: all words go to one register.
    one: bool,
    span: Span,
    /// The offset of the first register.
    first: Option<u32>,
    values: Vec<u32>,
}

struct Parser<'a> {
    chip: &'static Chip,
    text: &'a str,
    words: Vec<u32>,
    errors: Vec<Diagnostic>,
    open: Option<Open>,
}

/// The words of a text of an R700's stream.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn assemble(text: &str) -> Result<Vec<u32>, Vec<Diagnostic>> {
    assemble_for(&R700, text)
}

/// The words of a text of a stream of a chip.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn assemble_for(chip: &'static Chip, text: &str) -> Result<Vec<u32>, Vec<Diagnostic>> {
    let mut parser = Parser { chip, text, words: Vec::new(), errors: Vec::new(), open: None };
    for line in text.lines() {
        let code = line.split(';').next().unwrap_or_default().trim();
        let code = match code.split_once(':') {
            Some((number, rest)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => rest.trim(),
            _ => code,
        };
        if !code.is_empty()
            && let Err(error) = parser.line(code)
        {
            parser.errors.push(*error);
        }
    }
    parser.close();
    if parser.errors.is_empty() { Ok(parser.words) } else { Err(parser.errors) }
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

impl Parser<'_> {
    /// Where a part of the text lies.
    fn span(&self, part: &str) -> Span {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize).min(self.text.len());
        // Texts are shorter than 4 GB; beyond that places are only hints.
        let at = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Span::new(at(start), at(start + part.len()))
    }

    fn error<T>(&self, rule: &'static str, part: &str, message: String) -> Parsed<T> {
        Err(Box::new(Diagnostic::error(rule, message).at(self.span(part), "here")))
    }

    fn line(&mut self, code: &str) -> Parsed<()> {
        if let Some((name, value)) = code.split_once('=').filter(|(name, _)| !name.trim().contains(char::is_whitespace))
        {
            return self.register(name.trim(), value.trim());
        }
        self.close();
        let (name, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        let rest = rest.trim();
        match name {
            WORD => {
                let word = self.number(rest)?;
                self.words.push(word);
                return Ok(());
            }
            FILL => {
                let count = if rest.is_empty() { 1 } else { self.number(rest)? };
                if count > MOST_FILLERS {
                    return self.error("bad-count", rest, format!("{count} fillers, allowed are {MOST_FILLERS}"));
                }
                self.words.extend(std::iter::repeat_n(FILLER, count as usize));
                return Ok(());
            }
            RELOC => {
                let index = self.number(rest)?;
                let Some(operand) = index.checked_mul(4) else {
                    return self.error("bad-number", rest, format!("relocation {index}, allowed is 0..=1073741823"));
                };
                self.words.extend([header(NOP, 1, false), operand]);
                return Ok(());
            }
            TYPE_0 => {
                let one = rest == ONE_REGISTER;
                if one && self.chip.register_header.one_register.is_none() {
                    let message = format!("packets of an {} write registers one after the other", self.chip.name);
                    return self.error("bad-register", rest, message);
                }
                if !one && !rest.is_empty() {
                    return self.error("bad-word", rest, format!("`{rest}` is not `{ONE_REGISTER}`, or nothing"));
                }
                let span = self.span(name);
                self.open = Some(Open { row: None, predicated: false, one, span, first: None, values: Vec::new() });
                return Ok(());
            }
            _ => {}
        }
        let (row, opcode, rest) = if name == UNNAMED {
            let (number, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let opcode = self.number(number)?;
            let Ok(opcode) = u8::try_from(opcode) else {
                return self.error("bad-opcode", number, format!("opcode {opcode:#x}, allowed is 0..=0xff"));
            };
            (None, opcode, rest.trim())
        } else {
            let Some(row) = self.chip.packet_named(name) else {
                let names = self.chip.packets.iter().map(|row| row.name);
                let meant = closest(name, names).map(|meant| format!("; is `{meant}` meant?")).unwrap_or_default();
                return self.error("unknown-packet", name, format!("no packet is named `{name}`{meant}"));
            };
            (Some(row), row.opcode, rest)
        };
        let (predicated, rest) = match rest.strip_prefix(PREDICATED) {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => (true, rest.trim()),
            _ => (false, rest),
        };
        if let (Some(Info { shape: PacketShape::Registers(..), .. }), "") = (row, rest) {
            let span = self.span(name);
            self.open = Some(Open { row, predicated, one: false, span, first: None, values: Vec::new() });
            return Ok(());
        }
        let named = row.map_or(&[][..], Info::words);
        let mut words = Vec::new();
        for (n, part) in parts(rest).into_iter().enumerate() {
            let Some((name, value)) = part.split_once('=') else {
                return self.error("bad-word", part, format!("`{part}` is no word; a word is written `name=value`"));
            };
            let (name, value) = (name.trim(), value.trim());
            let fields = match named.get(n) {
                Some(word) if word.name == name => word.fields,
                _ if name == NAMELESS => &[],
                Some(word) => {
                    let message = format!("word {} is called `{}`, not `{name}`", n + 1, word.name);
                    return self.error("unknown-word", name, message);
                }
                None => {
                    let message = format!("word {} has no name; it is written `{NAMELESS}=value`", n + 1);
                    return self.error("unknown-word", name, message);
                }
            };
            words.push(self.value(value, fields)?);
        }
        self.packet(opcode, predicated, &words, name)
    }

    fn packet(&mut self, opcode: u8, predicated: bool, words: &[u32], place: &str) -> Parsed<()> {
        if words.is_empty() || words.len() > MOST_WORDS {
            let message = format!("the packet has {} words, allowed is 1..={MOST_WORDS}", words.len());
            return self.error("bad-length", place, message);
        }
        self.words.push(header(opcode, words.len(), predicated));
        self.words.extend(words);
        Ok(())
    }

    /// A register of the packet that is open.
    fn register(&mut self, name: &str, value: &str) -> Parsed<()> {
        let offset = match self.chip.registers.offset_of(name) {
            Some(offset) => offset,
            None if name.starts_with("0x") => self.number(name)?,
            None => {
                let rows = self.chip.registers.rows().map(|row| row.name);
                let meant = closest(name, rows).map(|meant| format!("; is `{meant}` meant?")).unwrap_or_default();
                return self.error("unknown-register", name, format!("no register is named `{name}`{meant}"));
            }
        };
        let buffer = name.starts_with("SQ_VTX_CONSTANT");
        let fields = self.chip.registers.at(offset, buffer).map_or(&[][..], |named| named.fields);
        let value = self.value(value, fields)?;
        let span = self.span(name);
        let Some(open) = &mut self.open else {
            let message = format!("`{name}` stands in no packet that writes registers");
            return self.error("no-packet", name, message);
        };
        let step = if open.one { 0 } else { 4 };
        let next = open.first.map(|first| first.wrapping_add(step * open.values.len() as u32));
        let most = field_most(self.chip.register_header.register) * 4;
        let wrong = match (next, open.row.map(|row| row.shape)) {
            (Some(next), _) if next != offset => Some(format!(
                "the registers of a packet follow one another: {} is next, not `{name}`",
                self.chip.registers.name(next)
            )),
            (None, Some(PacketShape::Registers(first, end))) if offset < first || offset >= end => {
                Some(format!("`{name}` lies at {offset:#x}, the packet writes {first:#x} up to {end:#x}"))
            }
            // A packet that begins there may go on after it.
            (None, None) if offset > most => Some(format!("`{name}` lies at {offset:#x}, allowed is up to {most:#x}")),
            _ if !offset.is_multiple_of(4) => Some(format!("{offset:#x} is no multiple of 4")),
            _ => None,
        };
        if let Some(message) = wrong {
            return Err(Box::new(Diagnostic::error("bad-register", message).at(span, "here")));
        }
        open.first = open.first.or(Some(offset));
        open.values.push(value);
        Ok(())
    }

    /// Ends the packet whose registers have come.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Open { row, predicated, one, span, first, values } = open;
        let Some(first) = first else {
            let message = "the packet writes no register: lines `REGISTER = value` follow it";
            self.errors.push(Diagnostic::error("bad-length", message).at(span, "here"));
            return;
        };
        let most = if row.is_some() { MOST_WORDS - 1 } else { MOST_WORDS };
        if values.len() > most {
            let message = format!("the packet writes {} registers, allowed is 1..={most}", values.len());
            self.errors.push(Diagnostic::error("bad-length", message).at(span, "here"));
            return;
        }
        match row {
            Some(&Info { opcode, shape: PacketShape::Registers(from, _), .. }) => {
                self.words.push(header(opcode, values.len() + 1, predicated));
                self.words.push((first - from) / 4);
            }
            _ => {
                let of = &self.chip.register_header;
                let header = insert(of.register, 0, first / 4);
                let header = of.one_register.map_or(header, |field| insert(field, header, one.into()));
                self.words.push(insert(Type3Header::COUNT, header, values.len() as u32 - 1));
            }
        }
        self.words.extend(values);
    }

    fn value(&self, text: &str, fields: &[Field]) -> Parsed<u32> {
        let Some(inner) = text.strip_prefix('{') else { return self.number(text) };
        let Some(inner) = inner.strip_suffix('}') else {
            return self.error("bad-value", text, "a `}` is missing".into());
        };
        let mut word = 0;
        for part in inner.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once(':').map(|(name, value)| (name.trim(), value.trim())) else {
                return self.error(
                    "bad-field",
                    part,
                    format!("`{part}` is no field; a field is written `NAME: value`"),
                );
            };
            if name == REST {
                word |= self.number(value)?;
                continue;
            }
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                let meant = closest(name, fields.iter().map(|field| field.name));
                let meant = meant.map(|meant| format!("; is `{meant}` meant?")).unwrap_or_default();
                return self.error("unknown-field", name, format!("there is no field `{name}`{meant}"));
            };
            let number = match field.values.iter().find(|named| named.name == value) {
                Some(named) => named.code,
                None => match self.number(value) {
                    Ok(number) => number,
                    Err(_) if !field.values.is_empty() => {
                        let names: Vec<&str> = field.values.iter().map(|named| named.name).collect();
                        let message = format!("`{value}` is no value of {name}; allowed are {}", names.join(", "));
                        return self.error("bad-value", value, message);
                    }
                    Err(error) => return Err(error),
                },
            };
            let most = field_most(*field);
            if number > most {
                return self.error("bad-value", value, format!("`{name}` is {number}, the field holds 0..={most}"));
            }
            word = insert(*field, word, number);
        }
        Ok(word)
    }

    fn number(&self, text: &str) -> Parsed<u32> {
        let parsed = match text.strip_prefix("0x") {
            Some(digits) if !digits.starts_with('+') => u32::from_str_radix(digits, 16).ok(),
            Some(_) => None,
            None if text.contains(['.', 'e']) => text.parse::<f32>().ok().map(f32::to_bits),
            None if text.starts_with('+') => None,
            None => text.parse().ok(),
        };
        let wrong = || format!("`{text}` is no number of 32 bits");
        parsed.map_or_else(|| self.error("bad-number", text, wrong()), Ok)
    }
}

/// The largest number of a field.
const fn field_most(field: Field) -> u32 {
    field.extract(u32::MAX)
}

const fn header(opcode: u8, words: usize, predicated: bool) -> u32 {
    let header = Type3Header(0).with(Type3Header::TYPE, 3).with(Type3Header::COUNT, words as u32 - 1);
    header.with(Type3Header::OPCODE, opcode as u32).with(Type3Header::PREDICATED, predicated as u32).0
}

/// The words of a line, cut at commas outside braces.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if !text[from..].trim().is_empty() {
        parts.push(text[from..].trim());
    }
    parts
}
