//! Recognition of files by their first bytes or lines.

use crate::elf::{self, Elf, ehdr};
use crate::kind::Kind;
use crate::{ctm_elf, dump, hex};
use ctm_isa::r700::inst::{Cf, ClauseBody, decode_program};
use ctm_isa::r700::ops::CfOp;
use ctm_isa::x1k::Inst;

/// The first bytes of a GFD container.
pub(crate) const GFD_MAGIC: &[u8] = b"Gfx2";

/// Recognises a file. Only headers and the first lines are read; the rest may be invalid.
#[must_use]
pub fn identify(bytes: &[u8]) -> Kind {
    if bytes.starts_with(&elf::MAGIC.to_le_bytes()) {
        return identify_elf(bytes);
    }
    if bytes.starts_with(GFD_MAGIC) {
        return Kind::Gfd;
    }
    if is_pixel_shader_code(bytes) {
        return Kind::Ps3Code;
    }
    identify_text(bytes)
}

/// Whether a file begins with the version of a pixel shader of version 2 or 3 (the dword 0xffff02.. or 0xffff03..) and has an end (0x0000ffff).
fn is_pixel_shader_code(bytes: &[u8]) -> bool {
    let version = matches!(bytes, [_, 2 | 3, 0xff, 0xff, ..]);
    version && bytes.chunks_exact(4).skip(1).any(|word| word == [0xff, 0xff, 0, 0])
}

fn identify_elf(bytes: &[u8]) -> Kind {
    // A truncated file is still recognised.
    let Ok(header) = Elf::read_header(bytes) else { return Kind::OtherElf };
    match (header.get(ehdr::MACHINE), header.get(ehdr::OSABI)) {
        (ctm_elf::MACHINE, ctm_elf::OSABI) => Kind::CtmElf,
        (CAL_MACHINE, CAL_OSABI) => Kind::Cal,
        // LLVM's other back ends for the machine number are 64 bits wide.
        (LLVM_MACHINE, _) => Kind::LlvmR600,
        _ => Kind::OtherElf,
    }
}

const CAL_MACHINE: u64 = 125;
const CAL_OSABI: u64 = 100;
const LLVM_MACHINE: u64 = 224;

/// The number of lines with code that are read.
const LINES: usize = 64;

fn identify_text(bytes: &[u8]) -> Kind {
    let Ok(text) = std::str::from_utf8(bytes) else { return Kind::Unknown };
    if text.contains('\0') {
        return Kind::Unknown;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(kind) = dump::kind(text) {
        return kind;
    }
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| hex::code_part(line).split([' ', '\t', ',']).filter(|t| !t.is_empty()).collect::<Vec<_>>())
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    let Some(first) = lines.first() else { return Kind::Unknown };
    let all_words = |count: usize| lines.iter().all(|line| line.len() == count && line.iter().all(|t| is_word(t)));
    if all_words(hex::X1K_WORDS) {
        Kind::X1kHex
    } else if all_words(hex::R700_WORDS) {
        Kind::R700Hex
    } else if lines.iter().flatten().all(|token| is_word(token)) && lines.iter().flatten().any(|t| t.len() >= 5) {
        // A dump: the machine follows from the words.
        let reads = |per_line| hex::read_words(text, per_line).ok();
        match (reads(hex::X1K_WORDS), reads(hex::R700_WORDS)) {
            (Some(words), _) if is_x1k(&words) || is_x1k(&swapped(&words)) => Kind::X1kHex,
            (_, Some(_)) => Kind::R700Hex,
            (Some(_), None) => Kind::X1kHex,
            (None, None) => Kind::Unknown,
        }
    } else if first[0].starts_with("ps_") || is_nine_header(first) {
        Kind::Ps3Text
    } else if lines.iter().any(|line| is_r700_line(line)) {
        Kind::R700Text
    } else if is_x1k_line(first) {
        Kind::X1kText
    } else {
        Kind::Unknown
    }
}

/// Whether all of these words are instructions of the X1K, and one of them outputs: words of other machines hardly ever are.
#[must_use]
pub fn is_x1k(words: &[u32]) -> bool {
    let (instructions, rest) = words.as_chunks::<6>();
    let decoded = || instructions.iter().map(Inst::decode);
    let outputs = decoded().any(|inst| matches!(inst, Ok(Inst::Alu(alu)) if alu.is_output()));
    rest.is_empty() && outputs && decoded().all(|inst| inst.is_ok())
}

/// Whether these words are a whole R700 program from slot 0 on: every word that it reaches has a meaning, its clauses lie inside, and it ends. Words of
/// other machines hardly ever are.
#[must_use]
pub fn is_r700(words: &[u32]) -> bool {
    let program = decode_program(words, 0);
    let ends = |cf: &Cf| cf.ends_program() || matches!(cf, Cf::Plain(plain) if plain.word1.op == CfOp::Return);
    let good = |clause: &ClauseBody| match clause {
        ClauseBody::None => true,
        ClauseBody::Alu(clause) => clause.broken.is_none(),
        ClauseBody::Fetch(clause) => clause.fetches.iter().all(|fetch| fetch.inst.is_ok()),
        ClauseBody::Outside | ClauseBody::Unread => false,
    };
    let entries = &program.entries;
    entries.iter().any(|e| e.cf.as_ref().is_ok_and(ends)) && entries.iter().all(|e| e.cf.is_ok() && good(&e.clause))
}

/// The instruction set of a program's words. Many short programs of the X1K are also words of the R700, whose control flow has few reserved bits; the
/// other way round that hardly ever is so, so words that are both are the X1K's.
#[must_use]
pub fn machine_of(words: &[u32]) -> Option<InstructionSet> {
    if is_x1k(words) { Some(InstructionSet::X1k) } else { is_r700(words).then_some(InstructionSet::R700) }
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// The X1K's.
    X1k,
    /// The R700's.
    R700,
}

/// Words with their bytes in the other order.
#[must_use]
pub fn swapped(words: &[u32]) -> Vec<u32> {
    words.iter().map(|word| word.swap_bytes()).collect()
}

/// A file of bare words, as bytes or hexadecimal, with the bytes of each word in the other order. Anything else comes back as it is.
#[must_use]
pub fn swap_words(bytes: &[u8]) -> Vec<u8> {
    match identify(bytes) {
        Kind::X1kHex | Kind::R700Hex => {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            hex::swap(text).into_bytes()
        }
        Kind::Unknown if bytes.len().is_multiple_of(4) => {
            bytes.as_chunks::<4>().0.iter().flat_map(|&[a, b, c, d]| [d, c, b, a]).collect()
        }
        _ => bytes.to_vec(),
    }
}

fn is_word(token: &str) -> bool {
    let token = token.trim_end_matches(',');
    let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).unwrap_or(token);
    (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `END_OF_PROGRAM`, or a control-flow instruction: a number and a name in capitals.
fn is_r700_line(line: &[&str]) -> bool {
    let capitals = |token: &str| {
        token.len() > 1
            && token.starts_with(|c: char| c.is_ascii_uppercase())
            && token.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"_:".contains(&b))
    };
    match line {
        ["END_OF_PROGRAM" | ".container", ..] => true,
        [number, name, ..] => number.bytes().all(|b| b.is_ascii_digit()) && capitals(name),
        _ => false,
    }
}

/// The first line of a shader as Mesa's Direct3D 9 prints it: `PS3.0`.
fn is_nine_header(line: &[&str]) -> bool {
    let [word] = line else { return false };
    matches!(word.as_bytes(), [b'P', b'S', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// A directive, a label, a predicate in parentheses, or a name in small letters that nothing is assigned to.
fn is_x1k_line(line: &[&str]) -> bool {
    let name = |token: &str| {
        token.starts_with(|c: char| c.is_ascii_lowercase())
            && token.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let first = line[0];
    let directive = first.strip_prefix('.').is_some_and(name);
    let label = first.strip_suffix(':').is_some_and(|l| !l.is_empty());
    let predicate = first.starts_with("(p.") || first.starts_with("(!p.");
    directive || label || predicate || (name(first) && line.get(1) != Some(&"="))
}
