//! Writing a CTM executable.

use super::program_info::{
    self, FgDepthSrc, InstrCnt, RASTERISER_INSTRUCTIONS, RsInstCount, UsCodeAddr, UsCodeRange, UsConfig, UsFcCtrl,
    UsPixsize,
};
use super::{DataKind, NoteKind, data};
use crate::elf::{self, NewSection, NewSegment, ehdr, sym};
use crate::error::ImageError;
use ctm_isa::x1k::program::{Preload, Usage};
use ctm_isa::x1k::{self, Program};
use std::collections::BTreeSet;

/// Stores a program as a CTM executable: the seven notes, `.text`, and further data of the program.
///
/// # Errors
/// The program is empty, larger than the machine, or names something that does not exist.
pub fn write(program: &Program) -> Result<Vec<u8>, ImageError> {
    let usage = program.usage();
    let information = information(program, &usage)?;
    let text = program.words.iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
    let mut sections = vec![
        NewSection {
            name: ".note",
            kind: elf::SHT_NOTE,
            align: 4,
            bytes: notes(program, &usage, &information),
            ..NewSection::default()
        },
        NewSection {
            name: super::TEXT,
            kind: elf::SHT_PROGBITS,
            flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
            align: 4,
            bytes: text,
            ..NewSection::default()
        },
    ];
    if !program.literals.is_empty() {
        sections.push(NewSection {
            name: ".note.ctm",
            kind: elf::SHT_NOTE,
            align: 4,
            bytes: literals(program)?,
            ..NewSection::default()
        });
    }
    if !program.symbols.is_empty() {
        let (table, strings) = symbols(program)?;
        sections.push(NewSection {
            name: ".symtab",
            kind: elf::SHT_SYMTAB,
            // The strings follow; section 0 is not in this list.
            link: sections.len() as u32 + 2,
            // The first symbol that is not local.
            info: 1,
            align: 4,
            entry_size: sym::SIZE as u32,
            bytes: table,
            ..NewSection::default()
        });
        sections.push(NewSection {
            name: ".strtab",
            kind: elf::SHT_STRTAB,
            align: 1,
            bytes: strings,
            ..NewSection::default()
        });
    }
    let header = [
        (ehdr::OSABI, super::OSABI),
        (ehdr::ABIVERSION, super::ABIVERSION),
        (ehdr::TYPE, elf::TYPE_EXEC),
        (ehdr::MACHINE, super::MACHINE),
        (ehdr::FLAGS, super::FLAGS),
    ];
    /// `p_flags`: readable.
    const READ: u32 = 4;
    /// `p_flags`: executable.
    const EXECUTE: u32 = 1;
    let segments = [
        NewSegment { kind: elf::PT_NOTE, flags: READ, sections: (0, 0) },
        NewSegment { kind: elf::PT_LOAD, flags: READ | EXECUTE, sections: (1, 1) },
    ];
    Ok(elf::build(&header, &segments, &sections))
}

fn information(program: &Program, usage: &Usage) -> Result<program_info::InfoWords, ImageError> {
    let count = program.words.len();
    if count == 0 {
        return Err(ImageError::Unstorable { what: "the program", message: "it has no instruction".to_owned() });
    }
    if count > x1k::INSTRUCTION_SLOTS {
        let (found, allowed) = (count as u64, x1k::INSTRUCTION_SLOTS as u64);
        return Err(ImageError::TooMany { what: "instructions", found, allowed });
    }
    for (what, value) in [("the first instruction", program.first), ("the last instruction", program.last)] {
        if usize::from(value) >= count {
            let message = format!("it is {value}; the program has 0..={}", count - 1);
            return Err(ImageError::Unstorable { what, message });
        }
    }
    let mut largest_temp = usage.highest_temp;
    for preload in &program.preloads {
        let (temp, index) = match *preload {
            Preload::Position { temp } => (temp, 0),
            Preload::Interpolant { index, temp } => (temp, index),
        };
        if usize::from(temp) >= x1k::TEMPORARIES || usize::from(index) >= RASTERISER_INSTRUCTIONS {
            return Err(ImageError::Unstorable {
                what: "a preload",
                message: format!("it writes interpolant {index} to temporary {temp}; there are 0..=15 and 0..=127"),
            });
        }
        largest_temp = largest_temp.max(temp);
    }
    let rasteriser = program_info::rasteriser_words(&program.preloads).ok_or(ImageError::TooMany {
        what: "preloads",
        found: program.preloads.len() as u64,
        allowed: RASTERISER_INSTRUCTIONS as u64,
    })?;

    let mut words = [0; program_info::WORDS];
    // The Guide's value of the first reserved word.
    words[0] = 1;
    let config = UsConfig { uncached: program.uncached, zero_times_anything: program.zero_times_anything };
    let last_slot = (count - 1) as u16;
    for (format, word) in [
        (FgDepthSrc::FORMAT, FgDepthSrc { conditional_value: program.conditional_value }.encode()),
        (UsConfig::FORMAT, config.encode()),
        (UsPixsize::FORMAT, UsPixsize { largest_temp }.encode()),
        (UsFcCtrl::FORMAT, UsFcCtrl { test: false, full: program.full_flow_control }.encode()),
        (UsCodeAddr::FORMAT, UsCodeAddr { first: program.first, last: program.last }.encode()),
        (UsCodeRange::FORMAT, UsCodeRange { base: 0, size: last_slot }.encode()),
        (InstrCnt::FORMAT, InstrCnt { count: count as u32 }.encode()),
    ] {
        words[format.dword] = word;
    }
    let first = RsInstCount::FORMAT.dword;
    words[first..first + rasteriser.len()].copy_from_slice(&rasteriser);
    Ok(words)
}

fn notes(program: &Program, usage: &Usage, information: &program_info::InfoWords) -> Vec<u8> {
    let list = |set: &BTreeSet<u8>| set.iter().map(|&i| u32::from(i)).collect::<Vec<u32>>();
    let mut out = Vec::new();
    for &kind in NoteKind::ALL {
        let words = match kind {
            NoteKind::ProgInfo => information.to_vec(),
            NoteKind::Inputs => list(&usage.inputs),
            NoteKind::Outputs => list(&usage.outputs),
            NoteKind::CondOut => vec![u32::from(program.conditional_value)],
            NoteKind::Float32Consts => list(&usage.float_constants),
            NoteKind::Int32Consts => list(&usage.int_constants),
            NoteKind::EarlyExit => vec![u32::from(usage.early_exit)],
        };
        out.extend(elf::note_bytes(super::OWNER, kind.code(), &words));
    }
    out
}

fn check_index(what: &'static str, kind: DataKind, index: u8) -> Result<(), ImageError> {
    if usize::from(index) < kind.limit() {
        return Ok(());
    }
    let message = format!("{} {index} does not exist; there are 0..={}", kind.name(), kind.limit() - 1);
    Err(ImageError::Unstorable { what, message })
}

fn literals(program: &Program) -> Result<Vec<u8>, ImageError> {
    let mut words = Vec::new();
    for literal in &program.literals {
        let (kind, index) = data::literal_place(literal);
        check_index("a literal", kind, index)?;
        words.extend(data::literal_words(literal));
    }
    Ok(elf::note_bytes(super::OWN_OWNER, super::OWN_LITERALS, &words))
}

/// The bytes of `.symtab` and `.strtab`.
fn symbols(program: &Program) -> Result<(Vec<u8>, Vec<u8>), ImageError> {
    /// `st_info`: visible outside the file.
    const GLOBAL: u64 = 1 << 4;
    let mut table = vec![0; sym::SIZE as usize];
    let mut strings = vec![0u8];
    for symbol in &program.symbols {
        let kind = data::data_kind(symbol.kind);
        check_index("a symbol", kind, symbol.index)?;
        let size = symbol.name.len() as u64;
        if symbol.name.contains('\0') || size >= crate::bytes::LONGEST_TEXT {
            return Err(ImageError::Unstorable {
                what: "a symbol's name",
                message: format!(
                    "it has {size} bytes; allowed are up to {}, none of them NUL",
                    crate::bytes::LONGEST_TEXT - 1
                ),
            });
        }
        let base = table.len() as u64;
        table.resize(table.len() + sym::SIZE as usize, 0);
        let name = if symbol.name.is_empty() { 0 } else { strings.len() as u64 };
        for (field, value) in [
            (sym::NAME, name),
            (sym::VALUE, u64::from(symbol.index)),
            (sym::INFO, GLOBAL | u64::from(kind.code())),
            (sym::SHNDX, u64::from(elf::SHN_ABS)),
        ] {
            elf::put(&mut table, base, field, value);
        }
        if name != 0 {
            strings.extend(symbol.name.bytes().chain([0]));
        }
    }
    Ok((table, strings))
}
