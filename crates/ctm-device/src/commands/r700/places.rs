//! Operands of the commands of R700 devices as plain structures: addresses and formats.

use super::{FetchFormatWord, MemoryKind, ProgramForm};
use crate::memory::GpuAddr;
use ctm_exec::r700::Space;
use ctm_exec::r700::formats::Format;
use ctm_isa::r700::Program;

/// Where a program lies (`set_program`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPlace {
    /// Its first byte, a multiple of 2048.
    pub base: GpuAddr,
    /// Its size, for words a multiple of 8; 0: there is no program.
    pub bytes: u32,
    /// How it lies there.
    pub form: ProgramForm,
    /// Of words: the slot where control flow begins. Of an image: which of its programs.
    pub entry: u16,
    /// Of words: registers; 0: as many as the words name.
    pub gprs: u8,
    /// Of words: stack entries; 0: as many as the words need.
    pub stack: u8,
}

impl ProgramPlace {
    /// The place of a program whose words were written to `base`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "longer programs are refused by the device")]
    pub fn words(base: GpuAddr, program: &Program) -> Self {
        let bytes = (program.words.len() * 4).min(u32::MAX as usize) as u32;
        let entry = program.entry.min(u32::from(u16::MAX)) as u16;
        Self { base, bytes, form: ProgramForm::Words, entry, gprs: program.gprs, stack: program.stack }
    }

    /// The place of an image of `bytes` bytes. `number` is the number of the program in it.
    #[must_use]
    pub const fn image(base: GpuAddr, bytes: u32, number: u16) -> Self {
        Self { base, bytes, form: ProgramForm::Image, entry: number, gprs: 0, stack: 0 }
    }
}

/// Where a constant buffer lies (`set_const_buffer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantsPlace {
    /// Its first byte, a multiple of 2048.
    pub base: GpuAddr,
    /// Constants of 16 bytes; beyond them 0 is read.
    pub constants: u32,
}

/// Where a buffer of vertex fetches lies (`set_vtx_buffer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlace {
    /// Its first byte, a multiple of 2048.
    pub base: GpuAddr,
    /// Bytes that may be read; 0: there is no such buffer.
    pub bytes: u32,
    /// Bytes from one item to the next.
    pub stride_bytes: u32,
    /// The format for fetches with USE_CONST_FIELDS.
    pub format: Format,
}

/// Where a memory of MEM instructions lies (`set_memory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlace {
    /// Its first byte, a multiple of 2048.
    pub base: GpuAddr,
    /// Its size; bytes after the last whole dword are ignored. 0: there is no such memory.
    pub bytes: u32,
    /// Ring and streams: dwords from one thread's item to the next. Reduction: elements of four dwords that each thread has.
    pub item: u32,
}

impl From<FetchFormatWord> for Format {
    fn from(word: FetchFormatWord) -> Self {
        Self { data: word.data, numbers: word.numbers, sign: word.sign, srf: word.srf, endian: word.endian }
    }
}

impl From<Format> for FetchFormatWord {
    fn from(format: Format) -> Self {
        Self { data: format.data, numbers: format.numbers, sign: format.sign, srf: format.srf, endian: format.endian }
    }
}

impl From<Space> for MemoryKind {
    fn from(space: Space) -> Self {
        match space {
            Space::Reduction => Self::Reduction,
            Space::Ring => Self::Ring,
            Space::Stream(0) => Self::Stream0,
            Space::Stream(1) => Self::Stream1,
            Space::Stream(2) => Self::Stream2,
            Space::Stream(_) => Self::Stream3,
            Space::Scatter => Self::Scatter,
        }
    }
}
