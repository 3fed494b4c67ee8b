//! Command buffers: the commands of CTM §2.2 as one table, and everything derived from it.
//!
//! | file | content |
//! |---|---|
//! | `table` | every command, every parameter, every field (table) |
//! | `text` | the printed form of a buffer, both ways |
//! | `builder` | [`CommandBuffer`]: putting a buffer together |
//! | `page` | `docs/commands.md` and the pages beside it |
//! | `r700` | the words, structures and builder methods of commands that only R700 devices take |
//!
//! A command is a header word and its parameters. The header is a PM4 type-3 packet: bits 31:30 are 3, bits 29:16 one less
//! than the number of parameters, bits 15:8 the opcode, bits 7:0 zero. *The Guide shows the finished words only; they all have this form.*
//!
//! A buffer is built, printed, read again and decoded:
//!
//! ```
//! use ctm_device::commands::{Command, CommandBuffer, CommandKind, parse, print};
//! use ctm_exec::Domain;
//!
//! let buffer = CommandBuffer::new().set_domain(Domain { i0: 0, j0: 0, i1: 63, j1: 31 }).start_program();
//! assert_eq!(parse(&print(buffer.words())).ok().as_deref(), Some(buffer.words()));
//! let first = Command::decode(buffer.words())?;
//! assert_eq!((first.kind(), first.params()), (CommandKind::SetDomain, &[0, 0, 63, 31][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! R700 devices take places of programs, constants, buffers and memories as structures:
//!
//! ```
//! use ctm_device::commands::{BufferPlace, CommandBuffer, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot};
//! use ctm_exec::r700::formats::Format;
//! use ctm_isa::r700::ops::DataFormat;
//! use ctm_isa::r700::program::Stage;
//! use ctm_device::GpuAddr;
//!
//! let base = GpuAddr(0x1000_0000);
//! let format = Format { data: DataFormat::Fmt32_32_32_32Float, ..Format::default() };
//! let buffer = CommandBuffer::new()
//!     .set_program(ProgramSlot::Main, &ProgramPlace::image(base, 4096, 0))
//!     .set_stage(Stage::Vertex)
//!     .set_const_buffer(0, &ConstantsPlace { base, constants: 16 })
//!     .set_vtx_buffer(1, &BufferPlace { base, bytes: 64, stride_bytes: 16, format })
//!     .set_memory(MemoryKind::Ring, &MemoryPlace { base, bytes: 4096, item: 4 });
//! assert!(ctm_device::commands::is_command_buffer(buffer.words()));
//! ```

mod builder;
mod page;
mod param;
mod r700;
mod table;
mod text;

pub use builder::CommandBuffer;
pub use page::pages;
pub use param::{Param, Reserved, SamplerFilter, SamplerWrap, Show};
pub use r700::{
    BankWord, BufferPlace, BufferWord, BytesWord, ChipWord, ConstantsPlace, ConstantsWord, EntryWord, EventsWord,
    ExportKind, ExportWord, FetchFormatWord, GlobalsWord, GroupWord, InstanceOffsetWord, InterpolantsWord, ItemWord,
    LodBiasWord, MaxLodWord, MemoryKind, MemoryPlace, MemoryWord, MinLodWord, NeedsWord, ProgramForm, ProgramPlace,
    ProgramSlot, ProgramWord, ResourceSet, ResourceSetWord, SamplerCompare, SamplerMip, SemanticsWord, StageWord,
    StrideWord, TextureDepthWord, TexturePitchWord, TextureSamplerWord, TextureSizeWord, TextureWord, VertexOffsetWord,
};
pub use table::{
    AddressWord, CommandInfo, CommandKind, CommandUnit, CondLoc, CondMaskWord, CondTest, CondTestWord, DomainI0,
    DomainI1, DomainJ0, DomainJ1, HeightWord, InputWord, LocWord, OutputWord, PerfFlagsWord, PlaneCountWord, RawWord,
    SamplerWidthWord, SamplerWord, WriteMaskWord,
};
pub use text::{parse, print};

use ctm_isa::table::{FieldError, WordFormat};
use ctm_isa::word_format;
use std::fmt;

word_format! {
    /// The header of a command: a PM4 type-3 packet.
    pub struct Header "header" dword 0 cite "CTM §2.2" {
        /// The number of parameters, less one.
        29:16   count: u16 = "count";
        /// Which command.
        15:8    opcode: u8 = "opcode";
        /// Always 3.
        31:30   packet: u8 = "packet";
        reserved 7:0;
    }
}

/// The packet type of all commands.
const PACKET_TYPE: u8 = 3;

/// The other opcode by which `set_params` is known: the only number below the Guide's that is free.
pub const SET_PARAMS_ALIAS: u8 = 0x01;

/// The most parameters a command has.
pub const MAX_PARAMS: usize = 8;

/// One command with its parameters as they are in the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Command {
    kind: CommandKind,
    header: u32,
    count: u8,
    params: [u32; MAX_PARAMS],
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:08x?}", self.kind.name(), self.params())
    }
}

/// Words that are no command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The header is not a PM4 type-3 packet, or its low byte is not zero.
    NotACommand,
    /// No command has this opcode.
    UnknownOpcode {
        /// Bits 15:8 of the header.
        opcode: u8,
    },
    /// The command takes another number of parameters.
    WrongCount {
        /// Which command.
        command: CommandKind,
        /// The header's number.
        found: usize,
    },
    /// The buffer ends before the last parameter.
    Truncated {
        /// Which command.
        command: CommandKind,
        /// How many parameters the header says.
        count: usize,
        /// How many words are left.
        left: usize,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACommand => f.write_str(
                "the word is no command; a command has 3 in bits 31:30, its opcode in bits 15:8 and 0 in bits 7:0",
            ),
            Self::UnknownOpcode { opcode } => {
                write!(
                    f,
                    "no command has opcode 0x{opcode:02x}; the Guide's are 0x02..=0x1c, others 0x1d and 0x40..=0x52"
                )
            }
            Self::WrongCount { command, found } => {
                write!(
                    f,
                    "the header of `{}` announces {found} parameters, it takes {}",
                    command.name(),
                    command.info().params.len()
                )
            }
            Self::Truncated { command, count, left } => {
                write!(f, "`{}` has {count} parameters, the buffer ends after {left}", command.name())
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// A parameter of a command that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamError {
    /// A reserved bit is 1.
    ReservedBits {
        /// Which command.
        command: CommandKind,
        /// Which parameter, counted from 0.
        index: usize,
        /// The reserved bits that are 1.
        bits: u32,
    },
    /// A field holds a number without a meaning.
    Field {
        /// Which command.
        command: CommandKind,
        /// Which parameter, counted from 0.
        index: usize,
        /// The field.
        error: FieldError,
    },
}

impl ParamError {
    /// Which parameter, counted from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        match self {
            Self::ReservedBits { index, .. } | Self::Field { index, .. } => *index,
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReservedBits { command, index, bits } => {
                let format = command.info().params[*index].format;
                write!(f, "parameter {index} (`{}`) of `{}` sets", format.name, command.name())?;
                write!(f, " reserved bits 0x{bits:x}; allowed are the bits 0x{:08x}", !format.reserved_mask())
            }
            Self::Field { command, index, error } => {
                write!(f, "parameter {index} of `{}`: {error}", command.name())
            }
        }
    }
}

impl std::error::Error for ParamError {}

impl Command {
    /// A command with these parameters; missing ones are 0.
    ///
    /// ```
    /// use ctm_device::commands::{Command, CommandKind};
    /// let command = Command::new(CommandKind::SetDomain, &[0, 0, 63, 31]);
    /// assert_eq!(command.words(), [0xc003_0700, 0, 0, 63, 31]);
    /// assert_eq!(Command::decode(&command.words())?, command);
    /// # Ok::<(), ctm_device::commands::DecodeError>(())
    /// ```
    #[must_use]
    pub fn new(kind: CommandKind, params: &[u32]) -> Self {
        let count = kind.info().params.len();
        let mut all = [0; MAX_PARAMS];
        for (to, from) in all.iter_mut().take(count).zip(params) {
            *to = *from;
        }
        #[allow(clippy::cast_possible_truncation, reason = "at most MAX_PARAMS")]
        Self { kind, header: kind.header(), count: count as u8, params: all }
    }

    /// Reads the command that `words` begin with. Fields are not validated: see [`Self::check`].
    ///
    /// # Errors
    /// When the header is no command's or the parameters are not all there.
    pub fn decode(words: &[u32]) -> Result<Self, DecodeError> {
        let (&word, rest) = words.split_first().ok_or(DecodeError::NotACommand)?;
        // The three fields are plain numbers: decoding cannot fail.
        let header = Header::decode(word).map_err(|_| DecodeError::NotACommand)?;
        if header.packet != PACKET_TYPE || word & Header::RESERVED != 0 {
            return Err(DecodeError::NotACommand);
        }
        let opcode = header.opcode;
        let kind = if opcode == SET_PARAMS_ALIAS {
            CommandKind::SetParams
        } else {
            CommandKind::from_code(u32::from(opcode)).ok_or(DecodeError::UnknownOpcode { opcode })?
        };
        let info = kind.info();
        let found = usize::from(header.count) + 1;
        if found > info.params.len() || found < info.fewest {
            return Err(DecodeError::WrongCount { command: kind, found });
        }
        let given =
            rest.get(..found).ok_or(DecodeError::Truncated { command: kind, count: found, left: rest.len() })?;
        let mut params = [0; MAX_PARAMS];
        params[..found].copy_from_slice(given);
        #[allow(clippy::cast_possible_truncation, reason = "at most MAX_PARAMS")]
        Ok(Self { kind, header: word, count: found as u8, params })
    }

    /// Looks at every field: reserved bits that must be 0, numbers without a meaning.
    ///
    /// # Errors
    /// The first parameter that cannot be.
    pub fn check(&self) -> Result<(), ParamError> {
        for (index, (param, &word)) in self.kind.info().params.iter().zip(self.params()).enumerate() {
            if param.reserved == Reserved::Ignored {
                continue;
            }
            let bits = word & param.format.reserved_mask();
            if bits != 0 {
                return Err(ParamError::ReservedBits { command: self.kind, index, bits });
            }
            for field in param.format.fields {
                let found = field.extract(word);
                if !field.values.is_empty() && field.values.iter().all(|v| v.code != found) {
                    let error = FieldError { word: param.format.name, field: field.name, found, allowed: field.values };
                    return Err(ParamError::Field { command: self.kind, index, error });
                }
            }
        }
        Ok(())
    }

    /// Which command.
    #[must_use]
    pub const fn kind(&self) -> CommandKind {
        self.kind
    }

    /// The header word.
    #[must_use]
    pub const fn header(&self) -> u32 {
        self.header
    }

    /// The parameters that are in the buffer.
    #[must_use]
    pub fn params(&self) -> &[u32] {
        &self.params[..usize::from(self.count)]
    }

    /// Parameter `index`; 0 where the buffer leaves it out.
    #[must_use]
    pub fn param(&self, index: usize) -> u32 {
        self.params.get(index).copied().unwrap_or(0)
    }

    /// Dwords in the buffer: the header and its parameters.
    #[must_use]
    pub const fn len_dwords(&self) -> usize {
        1 + self.count as usize
    }

    /// The words as they are in a buffer.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        std::iter::once(self.header).chain(self.params().iter().copied()).collect()
    }
}

impl CommandKind {
    /// The header word that the Guide lists.
    #[must_use]
    pub fn header(self) -> u32 {
        #[allow(clippy::cast_possible_truncation, reason = "at most MAX_PARAMS parameters; opcodes have eight bits")]
        let (count, opcode) = (self.info().params.len() as u16 - 1, self.code() as u8);
        Header { count, opcode, packet: PACKET_TYPE }.encode()
    }
}

/// Whether `words` are a command buffer: one command after another, to the last word.
#[must_use]
pub fn is_command_buffer(words: &[u32]) -> bool {
    let mut rest = words;
    while !rest.is_empty() {
        match Command::decode(rest) {
            Ok(command) => rest = &rest[command.len_dwords()..],
            Err(_) => return false,
        }
    }
    !words.is_empty()
}

/// The parameter formats of a command; used by text and docs.
fn formats(kind: CommandKind) -> impl Iterator<Item = (&'static Param, &'static WordFormat)> {
    kind.info().params.iter().map(|p| (p, p.format))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Table 3 of the Guide: name, word, pipelined, number of parameters that the Guide describes.
    const GUIDE: [(&str, u32, bool, usize); 27] = [
        ("init_perf_counters", 0xc001_0200, true, 1),
        ("start_perf_counters", 0xc000_0300, true, 1),
        ("stop_perf_counters", 0xc000_0400, true, 1),
        ("read_perf_counters", 0xc001_0500, false, 1),
        ("set_cond_val", 0xc000_0600, true, 1),
        ("set_domain", 0xc003_0700, true, 4),
        ("start_program", 0xc000_0800, true, 1),
        ("wait_for_idle", 0xc000_0900, true, 1),
        ("set_inst_fmt", 0xc001_0a00, false, 2),
        ("set_inp_fmt", 0xc003_0b00, false, 4),
        ("set_out_fmt", 0xc003_0c00, false, 4),
        ("set_cond_out_fmt", 0xc002_0d00, false, 3),
        ("set_constf_fmt", 0xc001_0e00, false, 2),
        ("set_consti_fmt", 0xc001_0f00, false, 2),
        ("set_constb_fmt", 0xc001_1000, false, 2),
        ("inv_inst_cache", 0xc000_1100, true, 1),
        ("inv_constf_cache", 0xc000_1200, true, 1),
        ("inv_consti_cache", 0xc000_1300, true, 1),
        ("inv_constb_cache", 0xc000_1400, true, 1),
        ("inv_cond_out_cache", 0xc000_1500, true, 1),
        ("inv_inp_cache", 0xc000_1600, true, 1),
        ("flush_out_cache", 0xc000_1700, true, 1),
        ("flush_cond_out_cache", 0xc000_1800, true, 1),
        ("set_out_mask", 0xc000_1900, true, 1),
        ("set_cond_out_mask", 0xc000_1a00, true, 1),
        ("set_cond_test", 0xc000_1b00, true, 1),
        ("set_cond_loc", 0xc000_1c00, true, 1),
    ];

    #[test]
    fn the_table_is_the_guides() {
        let ours: Vec<_> = CommandKind::ALL.iter().filter(|k| !k.info().extension).collect();
        assert_eq!(ours.len(), GUIDE.len());
        for (kind, (name, word, pipelined, described)) in ours.into_iter().zip(GUIDE) {
            assert_eq!((kind.name(), kind.header(), kind.info().pipelined), (name, word, pipelined));
            assert_eq!(kind.info().fewest, described, "{name}");
        }
    }

    #[test]
    fn every_row_is_complete() {
        for &kind in CommandKind::ALL {
            let info = kind.info();
            assert!(!kind.doc().is_empty() && !kind.cite().is_empty());
            assert!(!info.params.is_empty() && info.params.len() <= MAX_PARAMS, "{}", kind.name());
            assert!(kind.code() < 256);
            let command = Command::new(kind, &[]);
            assert_eq!(Command::decode(&command.words()).unwrap(), command);
        }
    }

    #[test]
    fn rejects_what_is_no_command() {
        // words, message
        let table: [(&[u32], &str); 9] = [
            (&[], "the word is no command"),
            (&[0], "the word is no command"),
            (&[0x8000_0000], "the word is no command"),
            (&[0xc000_0801, 0], "the word is no command"),
            (&[0xc000_1e00, 0], "no command has opcode 0x1e"),
            (&[0xc000_0000, 0], "no command has opcode 0x00"),
            (&[0xc000_0700, 0], "the header of `set_domain` announces 1 parameters, it takes 4"),
            (&[0xffff_0800, 0], "the header of `start_program` announces 16384 parameters, it takes 1"),
            (&[0xc003_0700, 0, 0], "`set_domain` has 4 parameters, the buffer ends after 2"),
        ];
        for (words, message) in table {
            let error = Command::decode(words).unwrap_err().to_string();
            assert!(error.starts_with(message), "{words:x?}: {error}");
        }
    }

    #[test]
    fn rejects_parameters_that_cannot_be() {
        let table: [(CommandKind, &[u32], &str); 8] = [
            (CommandKind::SetDomain, &[4096], "parameter 0 (`i0`) of `set_domain` sets reserved bits 0x1000"),
            (CommandKind::SetInpFmt, &[16], "parameter 0 (`input`) of `set_inp_fmt` sets reserved bits 0x10"),
            (CommandKind::SetOutFmt, &[4], "parameter 0 (`output`) of `set_out_fmt` sets reserved bits 0x4"),
            (CommandKind::SetInpFmt, &[0, 0, 6], "parameter 2 (`format`) of `set_inp_fmt` sets reserved bits 0x2"),
            (CommandKind::SetInpFmt, &[0, 0, 0x0500_0000], "parameter 2 of `set_inp_fmt`: `format` of format is 5"),
            (
                CommandKind::SetOutFmt,
                &[0, 0, 0, 8192],
                "parameter 3 (`height`) of `set_out_fmt` sets reserved bits 0x2000",
            ),
            (CommandKind::SetOutMask, &[16], "parameter 0 (`writemask`) of `set_out_mask` sets reserved bits 0x10"),
            (CommandKind::SetCondTest, &[8], "parameter 0 (`condition`) of `set_cond_test` sets reserved bits 0x8"),
        ];
        for (kind, params, message) in table {
            let error = Command::new(kind, params).check().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        // Fields that the Guide calls ignored, and that known clients leave zero, are not tested.
        for (kind, params) in [
            (CommandKind::StartProgram, &[u32::MAX][..]),
            (CommandKind::InvInpCache, &[u32::MAX]),
            (CommandKind::SetInstFmt, &[u32::MAX, u32::MAX]),
            (CommandKind::SetConstfFmt, &[0x7ff, u32::MAX]),
            (CommandKind::ReadPerfCounters, &[0x7ff, u32::MAX]),
        ] {
            assert_eq!(Command::new(kind, params).check(), Ok(()));
        }
    }

    #[test]
    fn other_headers_that_are_accepted() {
        let params = Command::decode(&[0xc000_0100, 0x8000_0000]).unwrap();
        assert_eq!((params.kind(), params.param(0)), (CommandKind::SetParams, 0x8000_0000));
        let init = Command::decode(&[0xc000_0200, 1]).unwrap();
        assert_eq!((init.kind(), init.len_dwords(), init.param(1)), (CommandKind::InitPerfCounters, 2, 0));
    }
}
