//! One control-flow instruction.

use crate::r700::formats::{CfAluWord0, CfAluWord1, CfExportBuf, CfExportSwiz, CfExportWord0, CfWord0, CfWord1};
use crate::r700::ops::{CfAluOp, Clause, ExportOp, ExportType, KcacheMode, MemWriteType, Sel};
use crate::table::{Field, FieldError, FieldValue as _, WordFormat};

/// A plain control-flow instruction: clauses of fetches, branches, loops, calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfPlain {
    /// Dword 0.
    pub word0: CfWord0,
    /// Dword 1.
    pub word1: CfWord1,
}

/// A control-flow instruction that starts an ALU clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfAlu {
    /// Dword 0.
    pub word0: CfAluWord0,
    /// Dword 1.
    pub word1: CfAluWord1,
}

/// An export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfExport {
    /// Dword 0.
    pub word0: CfExportWord0,
    /// Dword 1.
    pub word1: CfExportSwiz,
    /// Pixel, position or parameter.
    pub kind: ExportType,
}

/// A memory write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfMem {
    /// Dword 0.
    pub word0: CfExportWord0,
    /// Dword 1.
    pub word1: CfExportBuf,
    /// Indexed or not, acknowledged or not.
    pub kind: MemWriteType,
}

/// One control-flow instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cf {
    /// A plain one.
    Plain(CfPlain),
    /// Starts an ALU clause.
    Alu(CfAlu),
    /// Exports.
    Export(CfExport),
    /// Writes memory.
    Mem(CfMem),
}

const ALU_INST: Field = CfAluWord1::FORMAT.known_field("CF_INST");
const CF_INST: Field = CfWord1::FORMAT.known_field("CF_INST");

impl Cf {
    /// Reads the two dwords of an instruction. Reserved bits are ignored: see [`Self::stray`].
    ///
    /// # Errors
    /// The first field that holds a number without a meaning.
    pub fn decode(words: [u32; 2]) -> Result<Self, FieldError> {
        let [w0, w1] = words;
        // The two CF_INST fields overlap; the first ALU opcode has the upper bit of the narrow one set (R700 §10.1).
        if ALU_INST.extract(w1) >= CfAluOp::Alu.code() {
            return Ok(Self::Alu(CfAlu { word0: CfAluWord0::decode(w0)?, word1: CfAluWord1::decode(w1)? }));
        }
        let Some(export) = ExportOp::from_code(CF_INST.extract(w1)) else {
            return Ok(Self::Plain(CfPlain { word0: CfWord0::decode(w0)?, word1: CfWord1::decode(w1)? }));
        };
        let word0 = CfExportWord0::decode(w0)?;
        if export.is_export() {
            let kind = ExportType::from_code(u32::from(word0.kind)).ok_or(FieldError {
                word: CfExportWord0::FORMAT.name,
                field: "TYPE",
                found: u32::from(word0.kind),
                allowed: ExportType::VALUES,
            })?;
            Ok(Self::Export(CfExport { word0, word1: CfExportSwiz::decode(w1)?, kind }))
        } else {
            let kind = match word0.kind {
                0 => MemWriteType::Write,
                1 => MemWriteType::WriteInd,
                2 => MemWriteType::WriteAck,
                _ => MemWriteType::WriteIndAck,
            };
            Ok(Self::Mem(CfMem { word0, word1: CfExportBuf::decode(w1)?, kind }))
        }
    }

    /// Writes the two dwords.
    #[must_use]
    pub fn encode(&self) -> [u32; 2] {
        match self {
            Self::Plain(i) => [i.word0.encode(), i.word1.encode()],
            Self::Alu(i) => [i.word0.encode(), i.word1.encode()],
            Self::Export(i) => [i.word0.encode(), i.word1.encode()],
            Self::Mem(i) => [i.word0.encode(), i.word1.encode()],
        }
    }

    /// The formats of its two dwords.
    #[must_use]
    pub const fn formats(&self) -> [&'static WordFormat; 2] {
        match self {
            Self::Plain(_) => [&CfWord0::FORMAT, &CfWord1::FORMAT],
            Self::Alu(_) => [&CfAluWord0::FORMAT, &CfAluWord1::FORMAT],
            Self::Export(_) => [&CfExportWord0::FORMAT, &CfExportSwiz::FORMAT],
            Self::Mem(_) => [&CfExportWord0::FORMAT, &CfExportBuf::FORMAT],
        }
    }

    /// The reserved bits that are set in `words`.
    #[must_use]
    pub fn stray(&self, words: [u32; 2]) -> [u32; 2] {
        let encoded = self.encode();
        [words[0] & !encoded[0], words[1] & !encoded[1]]
    }

    /// The manual's name of the operation.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plain(i) => i.word1.op.name(),
            Self::Alu(i) => i.word1.op.name(),
            Self::Export(i) => i.word1.op.name(),
            Self::Mem(i) => i.word1.op.name(),
        }
    }

    /// Whether the program ends after it. ALU clauses cannot end a program.
    #[must_use]
    pub const fn ends_program(&self) -> bool {
        match self {
            Self::Plain(i) => i.word1.end_of_program,
            Self::Alu(_) => false,
            Self::Export(i) => i.word1.end_of_program,
            Self::Mem(i) => i.word1.end_of_program,
        }
    }

    /// The clause it starts: first slot and number of slots.
    #[must_use]
    pub const fn clause(&self) -> Option<(u32, u32)> {
        match self {
            Self::Plain(i) => match i.word1.op.info().clause {
                Clause::Fetch => Some((i.word0.addr, i.fetches() * 2)),
                Clause::None => None,
            },
            Self::Alu(i) => Some((i.word0.addr, i.slots())),
            Self::Export(_) | Self::Mem(_) => None,
        }
    }
}

impl CfPlain {
    /// How many fetches the clause has, 1..=16 (COUNT and COUNT_3).
    #[must_use]
    pub const fn fetches(&self) -> u32 {
        1 + self.word1.count as u32 + if self.word1.count_3 { 8 } else { 0 }
    }
}

/// One set of locked constant-cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kcache {
    /// The locked lines.
    pub mode: KcacheMode,
    /// Constant buffer, 0..=15.
    pub bank: u8,
    /// First line; a line holds 16 constants.
    pub line: u8,
}

impl CfAlu {
    /// How many slots the clause has, 1..=128.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        1 + self.word1.count as u32
    }

    /// The two sets of locked lines.
    #[must_use]
    pub const fn kcache(&self) -> [Kcache; 2] {
        [
            Kcache { mode: self.word0.kcache_mode0, bank: self.word0.kcache_bank0, line: self.word1.kcache_addr0 },
            Kcache { mode: self.word1.kcache_mode1, bank: self.word0.kcache_bank1, line: self.word1.kcache_addr1 },
        ]
    }
}

impl CfExport {
    /// Source of each exported element.
    #[must_use]
    pub const fn swizzle(&self) -> [Sel; 4] {
        [self.word1.sel_x, self.word1.sel_y, self.word1.sel_z, self.word1.sel_w]
    }
}
