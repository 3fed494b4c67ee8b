//! From words to text.

use super::{FILL, NAMELESS, ONE_REGISTER, PREDICATED, RELOC, REST, TYPE_0, UNNAMED, WORD};
use crate::chip::Chip;
use crate::packets::words::Type3Header;
use crate::packets::{FILLER, Kind, Packet, Packets, R700};
use crate::registers::{RESOURCES, SAMPLERS, resource};
use crate::stream::Relocation;
use crate::table::{RegisterKind as Holds, insert};
use ctm_isa::table::Field;
use std::fmt::Write as _;

/// Words of a fetch resource.
const RESOURCE_WORDS: usize = 7;

/// The text of a stream of an R700. Relocations, if known, are comments of the packets that name them.
#[must_use]
pub fn disassemble(words: &[u32], relocations: &[Relocation]) -> String {
    disassemble_for(&R700, words, relocations)
}

/// The text of a stream of a chip, as [`disassemble`].
#[must_use]
pub fn disassemble_for(chip: &'static Chip, words: &[u32], relocations: &[Relocation]) -> String {
    let mut out = String::new();
    let mut draws = 0;
    let mut fillers: Option<(usize, usize)> = None;
    for packet in Packets::of(chip, words) {
        if let Ok(Packet { at, kind: Kind::Filler, header: FILLER, .. }) = packet {
            fillers = Some(fillers.map_or((at, 1), |(from, count)| (from, count + 1)));
            continue;
        }
        if let Some((at, count)) = fillers.take() {
            line(&mut out, at, &format!("{FILL} {count}"), "");
        }
        match packet {
            Ok(packet) => print(chip, &mut out, &packet, relocations, &mut draws),
            Err((at, bad)) => {
                for (n, word) in words.iter().enumerate().skip(at) {
                    let why = if n == at { bad.to_string() } else { String::new() };
                    line(&mut out, n, &format!("{WORD} {word:#010x}"), &why);
                }
            }
        }
    }
    if let Some((at, count)) = fillers {
        line(&mut out, at, &format!("{FILL} {count}"), "");
    }
    out
}

/// A line with its dword and its comment.
fn line(out: &mut String, at: usize, text: &str, comment: &str) {
    let text = format!("{at:05}: {text}");
    let _ = if comment.is_empty() { writeln!(out, "{text}") } else { writeln!(out, "{text:<56} ; {comment}") };
}

fn print(chip: &Chip, out: &mut String, packet: &Packet<'_>, relocations: &[Relocation], draws: &mut u32) {
    let Packet { at, header, words, .. } = *packet;
    match packet.kind {
        // A header with bits that its packet does not have.
        Kind::Filler => line(out, at, &format!("{WORD} {header:#010x}"), "filler with other bits"),
        Kind::Registers { .. } if !is_plain(chip, header) => {
            line(out, at, &format!("{WORD} {header:#010x}"), "header with bits that have no meaning");
            print_words(out, at, words);
        }
        Kind::Registers { first, one: false } => {
            line(out, at, TYPE_0, "");
            print_registers(chip, out, first, words);
        }
        Kind::Registers { first, one: true } => {
            line(out, at, &format!("{TYPE_0} {ONE_REGISTER}"), "");
            for &word in words {
                print_registers(chip, out, first, &[word]);
            }
        }
        Kind::Packet { .. } if Type3Header(header).reserved() != 0 => {
            line(out, at, &format!("{WORD} {header:#010x}"), "header with bits that have no meaning");
            print_words(out, at, words);
        }
        Kind::Packet { opcode, predicated, row } => {
            let mut text = row.map_or_else(|| format!("{UNNAMED} {opcode:#04x}"), |row| row.name.to_owned());
            if predicated {
                let _ = write!(text, " {PREDICATED}");
            }
            if let (Some(operand), false) = (packet.relocation(), predicated)
                && operand.is_multiple_of(4)
            {
                let index = operand / 4;
                let comment = relocations.get(index as usize).map(Relocation::told).unwrap_or_default();
                line(out, at, &format!("{RELOC} {index}"), &comment);
                return;
            }
            if let (Some(row), Some((first, values))) = (row, packet.registers())
                && values.len() + 1 == words.len()
                && !values.is_empty()
            {
                line(out, at, &text, row.doc);
                print_registers(chip, out, first, values);
                return;
            }
            let named = row.map_or(&[][..], |row| row.words());
            for (n, &word) in words.iter().enumerate() {
                let (name, fields) = named.get(n).map_or((NAMELESS, &[][..]), |word| (word.name, word.fields));
                let mut value = String::new();
                if !fields.is_empty() {
                    print_fields(&mut value, word, fields);
                } else if matches!(name, "count" | "interval" | "buffer") {
                    let _ = write!(value, "{word}");
                } else {
                    let _ = write!(value, "{word:#x}");
                }
                let _ = write!(text, "{} {name}={value}", if n == 0 { "" } else { "," });
            }
            let mut comment = row.map_or("an opcode that is not known", |row| row.doc).to_owned();
            if packet.draws() {
                *draws += 1;
                comment = format!("draw {draws}: {comment}");
            }
            line(out, at, &text, &comment);
        }
    }
}

/// Whether a header of type 0 has no bits outside of its fields, so that its text reproduces it.
fn is_plain(chip: &Chip, header: u32) -> bool {
    let of = &chip.register_header;
    let known = [Some(of.register), of.one_register, Some(Type3Header::COUNT), Some(Type3Header::TYPE)];
    known.into_iter().flatten().fold(header, |rest, field| insert(field, rest, 0)) == 0
}

/// The words of a packet without fields.
fn print_words(out: &mut String, at: usize, words: &[u32]) {
    for (n, word) in words.iter().enumerate() {
        line(out, at + 1 + n, &format!("{WORD} {word:#010x}"), "");
    }
}

fn print_registers(chip: &Chip, out: &mut String, first: u32, values: &[u32]) {
    for (n, (&value, offset)) in values.iter().zip((first..).step_by(4)).enumerate() {
        let buffer = is_buffer(first, values, n);
        let mut text = String::new();
        let named = chip.registers.at(offset, buffer);
        match &named {
            Some(named) if !named.fields.is_empty() => print_fields(&mut text, value, named.fields),
            Some(named) if named.kind == Holds::Float => print_float(&mut text, value),
            _ => {
                let _ = write!(text, "{value:#x}");
            }
        }
        let name = named.map_or_else(|| chip.registers.name(offset), |named| named.name);
        let _ = writeln!(out, "    {name} = {text}");
    }
}

/// Whether value `n` is a word of a buffer resource, as far as the values show.
fn is_buffer(first: u32, values: &[u32], n: usize) -> bool {
    let Some(offset) = first.checked_sub(RESOURCES).filter(|_| first < SAMPLERS) else { return false };
    let dword = offset as usize / 4 + n;
    let last = n + RESOURCE_WORDS - 1 - dword % RESOURCE_WORDS;
    values.get(last).is_some_and(|&word| resource::kind_of_last(word) == resource::VALID_BUFFER)
}

fn print_float(out: &mut String, bits: u32) {
    let value = f32::from_bits(bits);
    let _ = if value.is_finite() { write!(out, "{value:?}") } else { write!(out, "{bits:#010x}") };
}

fn print_fields(out: &mut String, word: u32, fields: &[Field]) {
    if word == 0 {
        out.push('0');
        return;
    }
    let mut parts = Vec::new();
    let mut rest = word;
    for field in fields {
        rest = insert(*field, rest, 0);
        let value = field.extract(word);
        if value == 0 {
            continue;
        }
        match field.values.iter().find(|named| named.code == value) {
            Some(named) => parts.push(format!("{}: {}", field.name, named.name)),
            None if value > 0xffff => parts.push(format!("{}: {value:#x}", field.name)),
            None => parts.push(format!("{}: {value}", field.name)),
        }
    }
    if rest != 0 {
        parts.push(format!("{REST}: {rest:#x}"));
    }
    let _ = write!(out, "{{{}}}", parts.join(", "));
}
