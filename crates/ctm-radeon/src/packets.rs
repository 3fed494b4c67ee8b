//! Packets: their headers, every type-3 packet with its words (table), and a stream cut into packets.
//!
//! | bits | type 0 | type 2 | type 3 |
//! |---|---|---|---|
//! | 31:30 | 0 | 2 | 3 |
//! | 29:16 | words that follow - 1 | | words that follow - 1 |
//! | 15:0 | first register / 4 | | 15:8 opcode, 0 predicated |
//!
//! Type 2 is one word that fills up. Type 0 writes registers one after the other. There is no type 1.

use crate::registers::{ALU_CONSTANTS, RESOURCES, SAMPLERS, values};
use crate::table::value;
use ctm_isa::table::{Field, Value};

/// The word of a type-2 packet.
pub const FILLER: u32 = 0x8000_0000;
/// The opcode of NOP, whose one word is a relocation.
pub const NOP: u8 = 0x10;

/// A word of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its name.
    pub name: &'static str,
    /// Its fields; empty for plain numbers.
    pub fields: &'static [Field],
}

/// What the words of a packet are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// These words.
    Words(&'static [Word]),
    /// A place, then values of registers from this offset up to (not including) the other; the place counts dwords from the first offset.
    Registers(u32, u32),
}

/// How many words the kernel wants behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many.
    Exactly(usize),
    /// One of these.
    OneOf(&'static [usize]),
    /// At least so many.
    AtLeast(usize),
    /// One word, and a multiple of so many.
    OneAnd(usize),
}

impl Length {
    /// Whether a packet may have so many words.
    #[must_use]
    pub fn allows(self, words: usize) -> bool {
        match self {
            Self::Exactly(n) => words == n,
            Self::OneOf(all) => all.contains(&words),
            Self::AtLeast(n) => words >= n,
            Self::OneAnd(n) => words > n && (words - 1).is_multiple_of(n),
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(n) => write!(f, "{n}"),
            Self::OneOf(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(" or "))
            }
            Self::AtLeast(n) => write!(f, "{n} or more"),
            Self::OneAnd(n) => write!(f, "1 and a multiple of {n}"),
        }
    }
}

/// Who may send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Programs: the kernel lets it through.
    Program,
    /// Only the kernel, or firmware.
    Kernel,
    /// Programs, on chips of the first generation only (R6xx).
    R600,
    /// A console's programs.
    Console,
}

/// A row of the table of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: &'static str,
    /// Its opcode.
    pub opcode: u8,
    /// Who may send it.
    pub sender: Sender,
    /// How many words the kernel wants.
    pub length: Length,
    /// What the words are.
    pub shape: Shape,
    /// What it does.
    pub doc: &'static str,
}

const fn flag(name: &'static str, bit: u32, doc: &'static str) -> Field {
    Field { name, msb: bit, lsb: bit, doc, values: &[] }
}

const fn bits(name: &'static str, msb: u32, lsb: u32, doc: &'static str, values: &'static [Value]) -> Field {
    Field { name, msb, lsb, doc, values }
}

const fn plain(name: &'static str) -> Word {
    Word { name, fields: &[] }
}

const fn word(name: &'static str, fields: &'static [Field]) -> Word {
    Word { name, fields }
}

/// The last word of draws.
pub const INITIATOR: &[Field] = &[
    bits(
        "SOURCE_SELECT",
        1,
        0,
        "where indices come from",
        &[value(0, "MEMORY"), value(1, "PACKET"), value(2, "COUNTED")],
    ),
    bits("MAJOR_MODE", 3, 2, "1: VGT_GROUP_* say what is drawn", &[]),
    flag("SPRITE_EN", 4, "point sprites of older chips"),
    flag("NOT_EOP", 5, "the next draw goes on with the same primitives"),
    flag("USE_OPAQUE", 6, "the count comes from stream output"),
];
const HIGH: &[Field] = &[bits("HIGH", 7, 0, "address bits 39:32", &[])];
const INDEX_TYPE: &[Field] = &[
    bits("TYPE", 1, 0, "width of indices", &[value(0, "16_BIT"), value(1, "32_BIT")]),
    bits("SWAP", 3, 2, "byte order", &[value(0, "NONE"), value(1, "16_BIT"), value(2, "32_BIT"), value(3, "WORD")]),
];
const EVENT: &[Field] = &[
    bits("EVENT", 5, 0, "which", values::EVENTS),
    bits(
        "INDEX",
        11,
        8,
        "of which kind it is",
        &[
            value(1, "ZPASS"),
            value(2, "PIPELINESTAT"),
            value(3, "STREAMOUTSTATS"),
            value(4, "PARTIAL_FLUSH"),
            value(5, "TIME_STAMP"),
            value(7, "CACHE_FLUSH"),
        ],
    ),
];
const EOP: &[Field] = &[
    bits("HIGH", 7, 0, "address bits 39:32", &[]),
    bits("INT_SEL", 25, 24, "interrupt", &[]),
    bits(
        "DATA_SEL",
        31,
        29,
        "what is written",
        &[value(0, "NOTHING"), value(1, "LOW_32"), value(2, "ALL_64"), value(3, "CLOCK")],
    ),
];
const PREDICATION: &[Field] = &[
    bits("HIGH", 7, 0, "address bits 39:32", &[]),
    flag("DRAW_VISIBLE", 8, "draw if something was visible, instead of if nothing was"),
    flag("NOWAIT", 12, "draw if the result is not there yet"),
    bits("OP", 18, 16, "what is read", &[value(0, "CLEAR"), value(1, "ZPASS"), value(2, "PRIMCOUNT")]),
    flag("CONTINUE", 31, "combined with what was read before"),
];
const MEM_WRITE: &[Field] = &[
    bits("HIGH", 7, 0, "address bits 39:32", &[]),
    flag("CNTR_SEL", 16, "the clock instead of the data"),
    flag("WR_CONFIRM", 17, "waits until it is written"),
    flag("DATA32", 18, "4 bytes instead of 8"),
];
const COPY_DW: &[Field] =
    &[flag("SRC_MEM", 0, "from memory, not a register"), flag("DST_MEM", 1, "to memory, not a register")];
const WAIT: &[Field] = &[
    bits(
        "FUNCTION",
        2,
        0,
        "comparison of (value & mask) with the reference",
        &[
            value(0, "ALWAYS"),
            value(1, "LESS"),
            value(2, "LEQUAL"),
            value(3, "EQUAL"),
            value(4, "NOTEQUAL"),
            value(5, "GEQUAL"),
            value(6, "GREATER"),
        ],
    ),
    flag("MEM", 4, "of memory, not a register"),
    flag("PFP", 8, "the parser waits"),
];
const DMA_SOURCE: &[Field] =
    &[bits("HIGH", 7, 0, "address bits 39:32", &[]), flag("CP_SYNC", 31, "what follows waits for it")];
const DMA_COMMAND: &[Field] = &[
    bits("BYTES", 20, 0, "how many", &[]),
    bits("SRC_SWAP", 23, 22, "byte order of the source", &[]),
    bits("DST_SWAP", 25, 24, "byte order of the destination", &[]),
    flag("SAS", 26, "the source is a register"),
    flag("DAS", 27, "the destination is a register"),
    flag("SAIC", 28, "the source stays where it is"),
    flag("DAIC", 29, "the destination stays where it is"),
];
const COHERENCY: &[Field] = &[
    flag("DEST_BASE_0", 0, ""),
    flag("DEST_BASE_1", 1, ""),
    bits("SO", 5, 2, "stream output buffers", &[]),
    bits("CB_DEST", 13, 6, "colour targets", &[]),
    flag("DB_DEST", 14, "depth target"),
    flag("CR_DEST", 15, ""),
    flag("FULL_CACHE", 20, ""),
    flag("TC_ACTION", 23, "texture cache"),
    flag("VC_ACTION", 24, "vertex cache"),
    flag("CB_ACTION", 25, "colour cache"),
    flag("DB_ACTION", 26, "depth cache"),
    flag("SH_ACTION", 27, "program and constant caches"),
    flag("SMX_ACTION", 28, "export cache"),
];
const STREAM_UPDATE: &[Field] = &[
    flag("STORE_FILLED_SIZE", 0, "the filled size is stored"),
    bits(
        "SOURCE",
        2,
        1,
        "where the new offset comes from",
        &[value(0, "PACKET"), value(1, "FILLED_SIZE"), value(2, "MEMORY"), value(3, "NONE")],
    ),
    bits("BUFFER", 9, 8, "which", &[]),
];
const ENABLES: &[Field] = &[flag("MASTER", 31, "")];

use Length::{AtLeast, Exactly, OneAnd, OneOf};
use Sender::{Console, Kernel, Program, R600};
use Shape::{Registers, Words};

const fn row(name: &'static str, opcode: u8, sender: Sender, length: Length, shape: Shape, doc: &'static str) -> Info {
    Info { name, opcode, sender, length, shape, doc }
}

const ANY: Length = AtLeast(1);
const UNKNOWN: Shape = Words(&[]);

/// Every type-3 packet, by opcode.
#[rustfmt::skip]
pub const PACKETS: &[Info] = &[
    row("NOP", NOP, Program, ANY, UNKNOWN, "nothing; of one word: a relocation"),
    row("INDIRECT_BUFFER_END", 0x17, Kernel, ANY, UNKNOWN, "ends an indirect buffer"),
    row("SET_PREDICATION", 0x20, Program, Exactly(2), Words(&[plain("address"), word("control", PREDICATION)]), "whether predicated packets run"),
    row("REG_RMW", 0x21, Kernel, ANY, UNKNOWN, "changes bits of a register"),
    row("COND_EXEC", 0x22, Kernel, ANY, UNKNOWN, "skips what follows"),
    row("PRED_EXEC", 0x23, Kernel, ANY, UNKNOWN, "skips what follows on some chips"),
    row("START_3D_CMDBUF", 0x24, R600, Exactly(1), Words(&[plain("zero")]), "begins a stream of the first generation"),
    row("DRAW_INDEX_2", 0x27, Console, Exactly(5), Words(&[plain("max"), plain("address"), word("high", HIGH), plain("count"), word("initiator", INITIATOR)]), "draws with indices from memory"),
    row("CONTEXT_CONTROL", 0x28, Program, Exactly(2), Words(&[word("load", ENABLES), word("shadow", ENABLES)]), "loading and shadowing of state"),
    row("DRAW_INDEX_IMMD_BE", 0x29, Program, AtLeast(3), Words(&[plain("count"), word("initiator", INITIATOR)]), "draws with indices that follow, the first in the upper half"),
    row("INDEX_TYPE", 0x2a, Program, Exactly(1), Words(&[word("type", INDEX_TYPE)]), "width of the indices of draws"),
    row("DRAW_INDEX", 0x2b, Program, Exactly(4), Words(&[plain("address"), word("high", HIGH), plain("count"), word("initiator", INITIATOR)]), "draws with indices from memory"),
    row("DRAW_INDEX_AUTO", 0x2d, Program, Exactly(2), Words(&[plain("count"), word("initiator", INITIATOR)]), "draws vertices 0, 1, 2 and so on"),
    row("DRAW_INDEX_IMMD", 0x2e, Program, AtLeast(3), Words(&[plain("count"), word("initiator", INITIATOR)]), "draws with indices that follow"),
    row("NUM_INSTANCES", 0x2f, Program, Exactly(1), Words(&[plain("count")]), "how often draws are repeated"),
    row("INDIRECT_BUFFER", 0x32, Kernel, ANY, UNKNOWN, "runs another stream"),
    row("STRMOUT_BUFFER_UPDATE", 0x34, Program, Exactly(5), Words(&[word("control", STREAM_UPDATE), plain("destination"), word("destination_high", HIGH), plain("source"), word("source_high", HIGH)]), "sets or stores where stream output writes"),
    row("INDIRECT_BUFFER_MP", 0x38, Kernel, ANY, UNKNOWN, "runs another stream"),
    row("MEM_SEMAPHORE", 0x39, Kernel, ANY, UNKNOWN, "waits for a semaphore, or signals it"),
    row("MPEG_INDEX", 0x3a, Kernel, ANY, UNKNOWN, "indices of video decoding"),
    row("COPY_DW", 0x3b, Program, Exactly(5), Words(&[word("control", COPY_DW), plain("source"), word("source_high", HIGH), plain("destination"), word("destination_high", HIGH)]), "copies a dword between memory and a register"),
    row("WAIT_REG_MEM", 0x3c, Program, Exactly(6), Words(&[word("control", WAIT), plain("address"), word("high", HIGH), plain("reference"), plain("mask"), plain("interval")]), "waits until a dword has a value"),
    row("MEM_WRITE", 0x3d, Program, Exactly(4), Words(&[plain("address"), word("control", MEM_WRITE), plain("low"), plain("high")]), "writes 8 bytes"),
    row("CP_INTERRUPT", 0x40, Kernel, ANY, UNKNOWN, "interrupts the host"),
    row("CP_DMA", 0x41, Program, Exactly(5), Words(&[plain("source"), word("source_high", DMA_SOURCE), plain("destination"), word("destination_high", HIGH), word("command", DMA_COMMAND)]), "copies memory"),
    row("PFP_SYNC_ME", 0x42, Kernel, ANY, UNKNOWN, "the parser waits"),
    row("SURFACE_SYNC", 0x43, Program, Exactly(4), Words(&[word("actions", COHERENCY), plain("size"), plain("base"), plain("interval")]), "flushes caches"),
    row("ME_INITIALIZE", 0x44, Kernel, ANY, UNKNOWN, "starts the command processor"),
    row("COND_WRITE", 0x45, Kernel, ANY, UNKNOWN, "writes if a dword has a value"),
    row("EVENT_WRITE", 0x46, Program, OneOf(&[1, 3]), Words(&[word("event", EVENT), plain("address"), word("high", HIGH)]), "starts an event; some write to memory"),
    row("EVENT_WRITE_EOP", 0x47, Program, Exactly(5), Words(&[word("event", EVENT), plain("address"), word("control", EOP), plain("low"), plain("data_high")]), "writes when all that came before has ended"),
    row("ONE_REG_WRITE", 0x57, Kernel, ANY, UNKNOWN, "writes a register"),
    row("LOAD_CONFIG_REG", 0x60, Console, ANY, UNKNOWN, "loads registers from memory"),
    row("LOAD_CONTEXT_REG", 0x61, Console, ANY, UNKNOWN, "loads registers from memory"),
    row("LOAD_ALU_CONST", 0x62, Console, ANY, UNKNOWN, "loads constants from memory"),
    row("LOAD_BOOL_CONST", 0x63, Console, ANY, UNKNOWN, "loads booleans from memory"),
    row("LOAD_LOOP_CONST", 0x64, Console, ANY, UNKNOWN, "loads loop constants from memory"),
    row("LOAD_RESOURCE", 0x65, Console, ANY, UNKNOWN, "loads resources from memory"),
    row("LOAD_SAMPLER", 0x66, Console, ANY, UNKNOWN, "loads samplers from memory"),
    row("LOAD_CTL_CONST", 0x67, Console, ANY, UNKNOWN, "loads control constants from memory"),
    row("SET_CONFIG_REG", 0x68, Program, AtLeast(1), Registers(0x8000, 0xac00), "writes registers of the whole chip"),
    row("SET_CONTEXT_REG", 0x69, Program, AtLeast(1), Registers(0x28000, 0x29000), "writes registers of draws"),
    row("SET_ALU_CONST", 0x6a, Program, AtLeast(1), Registers(ALU_CONSTANTS, 0x32000), "writes the constant file"),
    row("SET_BOOL_CONST", 0x6b, Program, AtLeast(1), Registers(0x3e380, 0x3e38c), "writes boolean constants"),
    row("SET_LOOP_CONST", 0x6c, Program, AtLeast(1), Registers(0x3e200, 0x3e380), "writes loop constants"),
    row("SET_RESOURCE", 0x6d, Program, OneAnd(7), Registers(RESOURCES, SAMPLERS), "writes textures and buffers"),
    row("SET_SAMPLER", 0x6e, Program, OneAnd(3), Registers(SAMPLERS, 0x3cff0), "writes samplers"),
    row("SET_CTL_CONST", 0x6f, Program, AtLeast(1), Registers(0x3cff0, 0x3e200), "writes base vertex and start instance"),
    row("STRMOUT_BASE_UPDATE", 0x72, Program, Exactly(2), Words(&[plain("buffer"), plain("base")]), "repeats the base of a stream output buffer"),
    row("SURFACE_BASE_UPDATE", 0x73, R600, Exactly(1), Words(&[plain("mask")]), "tells that bases have changed"),
];

/// The row of an opcode.
#[must_use]
pub fn info(opcode: u8) -> Option<&'static Info> {
    PACKETS.binary_search_by_key(&opcode, |row| row.opcode).ok().map(|at| &PACKETS[at])
}

/// The row of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Info> {
    PACKETS.iter().find(|row| row.name == name)
}

/// What kind of packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writes registers from this byte offset on.
    Registers(u32),
    /// Fills up.
    Filler,
    /// A packet of the table, or of an opcode that is not in it.
    Packet {
        /// The opcode.
        opcode: u8,
        /// Whether it is dropped when the predicate says so.
        predicated: bool,
    },
}

/// A packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The dword where its header lies.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// Its header.
    pub header: u32,
    /// The words behind the header.
    pub words: &'a [u32],
}

impl Packet<'_> {
    /// The row of the packet, if it is of type 3 and in the table.
    #[must_use]
    pub fn info(&self) -> Option<&'static Info> {
        match self.kind {
            Kind::Packet { opcode, .. } => info(opcode),
            Kind::Registers(_) | Kind::Filler => None,
        }
    }

    /// The operand of a relocation, if it is one.
    #[must_use]
    pub const fn relocation(&self) -> Option<u32> {
        match (self.kind, self.words) {
            (Kind::Packet { opcode: NOP, .. }, &[operand]) => Some(operand),
            _ => None,
        }
    }

    /// Whether it draws.
    #[must_use]
    pub fn draws(&self) -> bool {
        matches!(self.kind, Kind::Packet { opcode: 0x27 | 0x29 | 0x2b | 0x2d | 0x2e, .. })
    }

    /// The byte offset of the first register that it writes, and the values; `None` if it writes none, or begins outside its range.
    #[must_use]
    pub fn registers(&self) -> Option<(u32, &[u32])> {
        if let Kind::Registers(first) = self.kind {
            return Some((first, self.words));
        }
        let Some(Info { shape: Registers(first, end), .. }) = self.info() else { return None };
        let (place, values) = self.words.split_first()?;
        let offset = place.checked_mul(4).and_then(|bytes| bytes.checked_add(*first)).filter(|offset| offset < end)?;
        let room = (end - offset) as usize / 4;
        Some((offset, values.get(..room).unwrap_or(values)))
    }
}

/// Where a stream cannot be cut into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHeader {
    /// A type-1 packet, which there is not.
    TypeOne,
    /// The packet has more words than the stream has left.
    Short {
        /// Words that its header says.
        wanted: usize,
        /// Words that are left.
        found: usize,
    },
}

impl std::fmt::Display for BadHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TypeOne => f.write_str("a packet of type 1; there are types 0, 2 and 3"),
            Self::Short { wanted, found } => {
                write!(f, "the packet has {wanted} words behind its header, the stream has {found} left")
            }
        }
    }
}

/// The packets of a stream, one after the other. Ends behind the first header that is none.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    words: &'a [u32],
    at: usize,
}

impl<'a> Packets<'a> {
    /// Of a stream.
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self { words, at: 0 }
    }
}

impl<'a> Iterator for Packets<'a> {
    /// A packet; or the dword and what is wrong with its header.
    type Item = Result<Packet<'a>, (usize, BadHeader)>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let header = *self.words.get(at)?;
        let (kind, count) = match header >> 30 {
            0 => (Kind::Registers((header & 0xffff) * 4), (header >> 16 & 0x3fff) as usize + 1),
            2 => (Kind::Filler, 0),
            3 => {
                let kind = Kind::Packet { opcode: (header >> 8 & 0xff) as u8, predicated: header & 1 == 1 };
                (kind, (header >> 16 & 0x3fff) as usize + 1)
            }
            _ => {
                self.at = self.words.len();
                return Some(Err((at, BadHeader::TypeOne)));
            }
        };
        let found = self.words.len() - at - 1;
        let Some(words) = self.words.get(at + 1..at + 1 + count) else {
            self.at = self.words.len();
            return Some(Err((at, BadHeader::Short { wanted: count, found })));
        };
        self.at = at + 1 + count;
        Some(Ok(Packet { at, kind, header, words }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_are_unique() {
        assert!(PACKETS.is_sorted_by(|a, b| a.opcode < b.opcode));
        for row in PACKETS {
            assert_eq!(named(row.name), Some(row));
            assert_eq!(info(row.opcode), Some(row));
            if let Words(words) = row.shape {
                for word in words {
                    assert_eq!(words.iter().filter(|other| other.name == word.name).count(), 1, "{}", row.name);
                    let sum = word.fields.iter().fold(0u32, |sum, field| {
                        assert_eq!(sum & field.mask(), 0);
                        sum | field.mask()
                    });
                    assert!(word.fields.is_empty() || sum != 0);
                }
            }
        }
    }

    #[test]
    fn streams_are_cut_into_packets() {
        let words = [0xc000_2f00, 1, FILLER, 0x0001_2180, 5, 6, 0xc001_2d01, 4, 2, 0xc003_2b00, 0];
        let packets: Vec<_> = Packets::new(&words).collect();
        let told = packets.iter().map(|packet| packet.map(|p| (p.at, p.words.len()))).collect::<Vec<_>>();
        let short = BadHeader::Short { wanted: 4, found: 1 };
        assert_eq!(told, [Ok((0, 1)), Ok((2, 0)), Ok((3, 2)), Ok((6, 2)), Err((9, short))]);
        assert!(
            packets[3].is_ok_and(|packet| packet.draws() && packet.info().is_some_and(|i| i.name == "DRAW_INDEX_AUTO"))
        );
        assert_eq!(packets[2].ok().and_then(|p| p.registers().map(|r| r.0)), Some(0x8600));
        let typed: Vec<_> = Packets::new(&[0x4000_0000, 7]).collect();
        assert_eq!(typed, [Err((0, BadHeader::TypeOne))]);
    }
}
