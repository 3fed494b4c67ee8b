//! Objects of LLVM's R600 back end: `.text` with the programs, `.AMDGPU.config` with registers and values.

use super::{ExtractedProgram, RegisterValue, ShaderStage, registers};
use crate::bytes::ByteOrder;
use crate::elf::{self, Elf, ElfSymbol, NewSection, ehdr};
use crate::error::ImageError;
use ctm_isa::ops;
use std::ops::Range;

/// `e_machine`: AMD GPUs.
pub const MACHINE: u64 = 224;
/// The section of the programs.
pub const TEXT: &str = ".text";
/// The section of the registers: pairs of address and value.
pub const CONFIG: &str = ".AMDGPU.config";
/// `e_type` of objects.
const RELOCATABLE: u64 = 1;
/// `sh_flags` of code: it takes memory and is executed.
const ALLOCATED_CODE: u32 = 6;
/// Symbol type of functions.
const FUNCTION: u8 = 2;
const CITE: &str = "LLVM's AMDGPU usage";

ops! {
    /// The chip that an object is for: the low eight bits of `e_flags`.
    pub enum Mach cite "LLVM AMDGPUUsage, EF_AMDGPU_MACH" {
        /// R600.
        R600 "r600" 1;
        /// R630.
        R630 "r630" 2;
        /// RS880.
        Rs880 "rs880" 3;
        /// RV670.
        Rv670 "rv670" 4;
        /// RV710.
        Rv710 "rv710" 5;
        /// RV730.
        Rv730 "rv730" 6;
        /// RV770.
        Rv770 "rv770" 7;
        /// Evergreen.
        Cedar "cedar" 8;
        /// Evergreen.
        Cypress "cypress" 9;
        /// Evergreen.
        Juniper "juniper" 10;
        /// Evergreen.
        Redwood "redwood" 11;
        /// Evergreen.
        Sumo "sumo" 12;
        /// Northern Islands.
        Barts "barts" 13;
        /// Northern Islands.
        Caicos "caicos" 14;
        /// Northern Islands.
        Cayman "cayman" 15;
        /// Northern Islands.
        Turks "turks" 16;
    }
}

impl Mach {
    /// Whether the chip's instructions are R700's.
    #[must_use]
    pub const fn is_r700(self) -> bool {
        matches!(self, Self::Rv710 | Self::Rv730 | Self::Rv770)
    }
}

/// A function of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name; empty where the object has no functions, only code.
    pub name: String,
    /// Bytes of `.text`.
    pub range: Range<u64>,
    /// The program and its registers.
    pub code: ExtractedProgram,
}

/// An object, kept as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    bytes: Vec<u8>,
    text: usize,
    config: Option<usize>,
    /// The chip; `None` for numbers that are not known.
    pub mach: Option<Mach>,
    /// The programs, by their place in `.text`.
    pub functions: Vec<Function>,
}

impl Object {
    /// Reads an object.
    ///
    /// # Errors
    /// Not such an object, without code, or with a part that contradicts another.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        let parsed = Elf::read(bytes)?;
        parsed.expect(ehdr::MACHINE, MACHINE, "EM_AMDGPU")?;
        let text = parsed.one_section(TEXT, CITE)?;
        let text_range = text.range.clone();
        let text_index = parsed.sections.iter().position(|s| s.at == text.at).unwrap_or_default();
        let config_index = match parsed.sections.iter().any(|s| s.name == CONFIG) {
            true => {
                let at = parsed.one_section(CONFIG, CITE)?.at;
                parsed.sections.iter().position(|s| s.at == at)
            }
            false => None,
        };
        let size = text_range.end - text_range.start;
        if !size.is_multiple_of(8) {
            return Err(ImageError::Field {
                field: elf::shdr::SIZE_BYTES.name,
                offset: text.at + elf::shdr::SIZE_BYTES.at,
                found: size,
                allowed: "multiples of 8, the size of a slot".to_owned(),
            });
        }
        let pairs = match config_index.and_then(|i| parsed.sections.get(i)) {
            Some(config) => config_pairs(&parsed, config)?,
            None => Vec::new(),
        };
        let functions = functions(&parsed, text_index, size)?;
        // The registers of all functions follow each other, as many for each.
        let each = pairs.len() / functions.len().max(1);
        let functions = functions
            .into_iter()
            .enumerate()
            .map(|(i, (name, range))| {
                let from = text_range.start;
                let words = ByteOrder::Little.words(parsed.bytes(&(from + range.start..from + range.end)));
                let registers = pairs[i * each..(i + 1) * each].to_vec();
                Function { name, range, code: ExtractedProgram { stage: stage(&registers), words, registers } }
            })
            .collect();
        let mach = Mach::from_code(parsed.header.get(ehdr::FLAGS) as u32 & 0xff);
        Ok(Self { bytes: bytes.to_vec(), text: text_index, config: config_index, mach, functions })
    }

    /// The object's bytes. Unchanged parts keep their bytes.
    #[must_use]
    pub fn write(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts a program in the place of function `index`: its words, and its registers where the object has them.
    ///
    /// # Errors
    /// There is no such function, it sets a register that the object does not, or it has another size and other
    /// functions are in the same section.
    pub fn replace(&mut self, index: usize, code: &ExtractedProgram) -> Result<(), ImageError> {
        let Some(function) = self.functions.get(index) else {
            let message = format!("the object has {} functions; there is none at {index}", self.functions.len());
            return Err(ImageError::Unstorable { what: "the program", message });
        };
        let parsed = Elf::read(&self.bytes)?;
        let (Some(text), config) = (parsed.sections.get(self.text), self.config.and_then(|i| parsed.sections.get(i)))
        else {
            return Ok(());
        };
        let new: Vec<u8> = code.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut contents = parsed.bytes(&text.range).to_vec();
        let (start, end) = (function.range.start as usize, function.range.end as usize);
        if new.len() != end - start && self.functions.len() > 1 {
            let message = format!(
                "it has {} bytes, not {}, and the object holds {} functions",
                new.len(),
                end - start,
                self.functions.len()
            );
            return Err(ImageError::Unstorable { what: "the program", message });
        }
        contents.splice(start..end, new);
        // Registers first: replacing them moves nothing.
        let mut bytes = self.bytes.clone();
        let each = function.code.registers.len();
        for register in &code.registers {
            let slot = function.code.registers.iter().position(|r| r.address == register.address);
            let (Some(slot), Some(config)) = (slot, config) else {
                let message = format!("the object does not set {}", registers::name(register.address));
                return Err(ImageError::Unstorable { what: "a register", message });
            };
            let at = config.range.start as usize + (index * each + slot) * 8 + 4;
            if let Some(place) = bytes.get_mut(at..at + 4) {
                place.copy_from_slice(&register.value.to_le_bytes());
            }
        }
        let edited = elf::replace_section(&Elf::read(&bytes)?, self.text, &contents)?;
        *self = Self::read(&edited.bytes)?;
        Ok(())
    }
}

/// Makes an object with one function, as LLVM lays it out: `.text`, `.AMDGPU.config`, a symbol of the function.
///
/// # Errors
/// The object has no registers for programs of this stage: it has those of pixel, vertex and compute programs.
pub fn build(mach: Mach, name: &str, code: &ExtractedProgram) -> Result<Vec<u8>, ImageError> {
    if !matches!(code.stage, ShaderStage::Pixel | ShaderStage::Vertex | ShaderStage::Compute) {
        let message =
            format!("LLVM's objects hold pixel, vertex and compute programs, this is a {} program", code.stage.name());
        return Err(ImageError::Unstorable { what: "the program", message });
    }
    let text: Vec<u8> = code.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let config: Vec<u8> = code.registers.iter().flat_map(|r| [r.address, r.value]).flat_map(u32::to_le_bytes).collect();
    // An empty symbol, then the function: name 1, all of section 1.
    let mut symbols = vec![0; elf::sym::SIZE as usize * 2];
    for (field, value) in [
        (elf::sym::NAME, 1),
        (elf::sym::SIZE_BYTES, text.len() as u64),
        (elf::sym::INFO, 1 << 4 | u64::from(FUNCTION)),
        (elf::sym::SHNDX, 1),
    ] {
        elf::put(&mut symbols, elf::sym::SIZE, field, value);
    }
    let strings = [0].into_iter().chain(name.bytes().filter(|&b| b != 0)).chain([0]).collect();
    let data = |name, align, bytes| NewSection { name, kind: elf::SHT_PROGBITS, align, bytes, ..NewSection::default() };
    let sections = [
        NewSection { flags: ALLOCATED_CODE, ..data(TEXT, 256, text) },
        data(CONFIG, 1, config),
        NewSection {
            kind: elf::SHT_SYMTAB,
            link: 4,
            info: 1,
            entry_size: elf::sym::SIZE as u32,
            ..data(".symtab", 4, symbols)
        },
        NewSection { kind: elf::SHT_STRTAB, ..data(".strtab", 1, strings) },
    ];
    let header = [(ehdr::TYPE, RELOCATABLE), (ehdr::MACHINE, MACHINE), (ehdr::FLAGS, u64::from(mach.code()))];
    Ok(elf::build(&header, &[], &sections))
}

fn config_pairs(parsed: &Elf<'_>, config: &elf::Section) -> Result<Vec<RegisterValue>, ImageError> {
    let size = config.range.end - config.range.start;
    if !size.is_multiple_of(8) {
        return Err(ImageError::Field {
            field: elf::shdr::SIZE_BYTES.name,
            offset: config.at + elf::shdr::SIZE_BYTES.at,
            found: size,
            allowed: "multiples of 8, the size of a register and its value".to_owned(),
        });
    }
    let words = ByteOrder::Little.words(parsed.bytes(&config.range));
    Ok(words.chunks_exact(2).map(|w| RegisterValue { address: w[0], value: w[1] }).collect())
}

/// Names and ranges of the functions in `.text`, which must not overlap; all of it where there is at most one.
fn functions(parsed: &Elf<'_>, text: usize, size: u64) -> Result<Vec<(String, Range<u64>)>, ImageError> {
    let mut symbols: Vec<ElfSymbol> = match parsed.one_symbol_table()? {
        Some(table) => parsed.symbols(table)?,
        None => Vec::new(),
    };
    symbols.retain(|s| s.kind == FUNCTION && usize::from(s.section) == text);
    symbols.sort_by_key(|s| s.value);
    if symbols.len() <= 1 {
        let name = symbols.pop().map_or_else(String::new, |s| s.name);
        return Ok(vec![(name, 0..size)]);
    }
    let mut out: Vec<(String, Range<u64>)> = Vec::new();
    for symbol in symbols {
        let start = u64::from(symbol.value);
        let end = start + u64::from(symbol.size);
        let before = out.last().map_or(0, |(_, range)| range.end);
        if start < before || end > size || !start.is_multiple_of(8) || !end.is_multiple_of(8) {
            return Err(ImageError::Field {
                field: elf::sym::VALUE.name,
                offset: symbol.at + elf::sym::VALUE.at,
                found: start,
                allowed: format!("functions one after the other in whole slots, from {before} to {size}"),
            });
        }
        out.push((symbol.name, start..end));
    }
    Ok(out)
}

/// LLVM sets the resources of pixel programs and of all others; of those, compute programs also set their local memory.
fn stage(registers: &[RegisterValue]) -> ShaderStage {
    let sets = |name: &str| registers::address(name).is_some_and(|a| registers.iter().any(|r| r.address == a));
    if sets("SQ_LDS_ALLOC") {
        ShaderStage::Compute
    } else if sets("SQ_PGM_RESOURCES_VS") {
        ShaderStage::Vertex
    } else {
        ShaderStage::Pixel
    }
}
