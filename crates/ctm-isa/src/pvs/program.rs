//! A whole vertex program: its words and everything else that the registers say about it.

use super::access;
use super::flow::{FlowTable, NO_FLOW};
use super::inst::{Inst, Words};
use super::ops::SrcType;
use crate::diag::Span;
use std::collections::BTreeSet;

/// The meaning of a name in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// Input vector (0..=15).
    Input,
    /// Output vector.
    Output,
    /// Constant (0..=255).
    Constant,
}

/// A name by which a host program can bind something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexSymbol {
    /// The name.
    pub name: String,
    /// The kind of the named vector.
    pub kind: SymbolKind,
    /// Which one.
    pub index: u8,
}

/// A constant whose value comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// 0..=255, before the base is added.
    pub index: u8,
    /// Bits of x, y, z, w.
    pub bits: [u32; 4],
}

/// A program: the words, the code range, flow control, and the range of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexProgram {
    /// The instructions, at most [`super::INSTRUCTION_SLOTS`].
    pub words: Vec<Words>,
    /// Where execution begins.
    pub first: u16,
    /// The instruction after which the program ends, if nothing leads elsewhere from there.
    pub last: u16,
    /// The slots of flow control.
    pub flow: FlowTable,
    /// Added to each constant's address (`PVS_CONST_BASE_OFFSET`).
    pub const_base: u8,
    /// The greatest address of a constant, before the base is added; others read as zeros (`PVS_MAX_CONST_ADDR`).
    pub const_max: u8,
    /// Names for binding.
    pub symbols: Vec<VertexSymbol>,
    /// Constants that come with the program.
    pub literals: Vec<Literal>,
    /// For programs that came from text: the statement of each instruction.
    pub spans: Vec<Span>,
}

impl VertexProgram {
    /// A program that is nothing but words: runs from the first to the last, without flow control, with all 256 constants.
    #[must_use]
    pub fn from_words(words: Vec<Words>) -> Self {
        Self {
            first: 0,
            last: u16::try_from(words.len().saturating_sub(1)).unwrap_or(u16::MAX),
            flow: NO_FLOW,
            const_base: 0,
            const_max: 255,
            symbols: Vec::new(),
            literals: Vec::new(),
            spans: Vec::new(),
            words,
        }
    }

    /// The index that `name` means.
    #[must_use]
    pub fn symbol(&self, kind: SymbolKind, name: &str) -> Option<u8> {
        self.symbols.iter().find(|s| s.kind == kind && s.name == name).map(|s| s.index)
    }

    /// The references of the words.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::of(&self.words)
    }
}

/// The references of a program's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Inputs that are read.
    pub inputs: BTreeSet<u8>,
    /// Outputs that are written.
    pub outputs: BTreeSet<u8>,
    /// Constants that are read at fixed addresses.
    pub constants: BTreeSet<u8>,
    /// Whether constants are read at computed addresses.
    pub relative_constants: bool,
    /// The highest temporary that is read or written.
    pub highest_temp: u8,
    /// The last instruction that reads an input.
    pub last_input_read: Option<u16>,
    /// The last instruction that writes output 0, the position.
    pub last_position_write: Option<u16>,
}

impl Usage {
    /// Collects the references of `words`. Instructions that cannot be decoded refer to nothing.
    #[must_use]
    pub fn of(words: &[Words]) -> Self {
        let mut usage = Self::default();
        for (pc, words) in (0u16..).zip(words) {
            let Ok(inst) = Inst::decode(words) else { continue };
            for read in access::reads(&inst) {
                let relative = read.address.mode != super::ops::AddrMode::Absolute;
                match read.file {
                    SrcType::Temporary => usage.highest_temp = usage.highest_temp.max(read.address.offset),
                    SrcType::Input => {
                        usage.inputs.insert(read.address.offset);
                        usage.last_input_read = Some(pc);
                    }
                    SrcType::Constant if relative => usage.relative_constants = true,
                    SrcType::Constant => {
                        usage.constants.insert(read.address.offset);
                    }
                    SrcType::AltTemporary => {}
                }
            }
            match access::write(&inst) {
                Some(write) if write.file.is_output() => {
                    usage.outputs.insert(write.address.offset);
                    if write.address.offset == 0 {
                        usage.last_position_write = Some(pc);
                    }
                }
                Some(write) if write.file == access::WrittenFile::Temporary => {
                    usage.highest_temp = usage.highest_temp.max(write.address.offset);
                }
                _ => {}
            }
        }
        usage
    }
}
