//! Packets: a stream cut into packets, each with its row in the table of its chip.
//!
//! | bits | type 0 | type 2 | type 3 |
//! |---|---|---|---|
//! | 31:30 | 0 | 2 | 3 |
//! | 29:16 | words that follow - 1 | | words that follow - 1 |
//! | 15:0 | first register / 4 | | 15:8 opcode, 0 predicated |
//!
//! Type 2 is one word of filler. Type 0 writes consecutive registers, or all words to one register on chips that have a bit for it. There is no
//! type 1.
//!
//! | file | contents |
//! |---|---|
//! | `r700`, `r500` | a chip each, with its packets (tables) |
//! | `words` | the words of packets, with their fields (tables) |

pub mod r500;
pub mod r700;
pub mod words;

use crate::chip::Chip;
use crate::table::{Info, PacketShape};
use words::{R700Type0, Type3Header};

pub use r700::{Command, PACKETS, R700};

/// The word of a type-2 packet.
pub const FILLER: u32 = R700Type0(0).with(R700Type0::TYPE, 2).0;
/// The opcode of NOP, whose one word is a relocation.
pub const NOP: u8 = 0x10;

/// The R700's row of an opcode.
#[must_use]
pub fn info(opcode: u8) -> Option<&'static Info> {
    R700.packet(opcode)
}

/// The R700's row of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Info> {
    R700.packet_named(name)
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writes registers.
    Registers {
        /// The byte offset of the first.
        first: u32,
        /// All words go to the first.
        one: bool,
    },
    /// Fills up.
    Filler,
    /// A packet of the table, or of an opcode that is not in it.
    Packet {
        /// The opcode.
        opcode: u8,
        /// Whether it is dropped when the predicate says so.
        predicated: bool,
        /// Its row in the table of the chip.
        row: Option<&'static Info>,
    },
}

/// A packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The dword where its header lies.
    pub at: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its header.
    pub header: u32,
    /// The words after the header.
    pub words: &'a [u32],
}

impl Packet<'_> {
    /// The row of the packet, if it is of type 3 and in the table.
    #[must_use]
    pub fn info(&self) -> Option<&'static Info> {
        match self.kind {
            Kind::Packet { row, .. } => row,
            Kind::Registers { .. } | Kind::Filler => None,
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

    /// The packet of type 3 of an R700 with its words; `None` for other packets and opcodes without a row in the table.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        match self.kind {
            Kind::Packet { opcode, .. } => Command::of(opcode, self.words),
            Kind::Registers { .. } | Kind::Filler => None,
        }
    }

    /// Whether it draws.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.info().is_some_and(|row| row.draws)
    }

    /// The registers that a packet of type 0 writes: byte offsets and values, in order. Nothing for other packets.
    pub fn direct_registers(&self) -> impl Iterator<Item = (u32, u32)> {
        let (first, step, words) = match self.kind {
            Kind::Registers { first, one } => (first, if one { 0 } else { 4 }, self.words),
            Kind::Filler | Kind::Packet { .. } => (0, 0, &[][..]),
        };
        words.iter().enumerate().map(move |(n, &word)| (first + step * n as u32, word))
    }

    /// The byte offset of the first register that it writes, and the values; `None` if it writes none, or begins outside its range. Packets that write one
    /// register several times have no such range: [`Self::direct_registers`].
    #[must_use]
    pub fn registers(&self) -> Option<(u32, &[u32])> {
        if let Kind::Registers { first, one } = self.kind {
            return (!one).then_some((first, self.words));
        }
        let Some(Info { shape: PacketShape::Registers(first, end), .. }) = self.info() else { return None };
        let (place, values) = self.words.split_first()?;
        let offset = place.checked_mul(4).and_then(|bytes| bytes.checked_add(*first)).filter(|offset| offset < end)?;
        let room = (end - offset) as usize / 4;
        Some((offset, values.get(..room).unwrap_or(values)))
    }
}

/// The operands of the relocations that directly follow a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands<'a> {
    /// The packets of the relocations: a header and the operand each.
    packets: &'a [u32],
}

impl Operands<'_> {
    /// The number of relocations.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.packets.len() / 2
    }

    /// Whether no relocation follows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The operand of relocation `n`.
    #[must_use]
    pub fn get(&self, n: usize) -> Option<u32> {
        self.packets.get(2 * n + 1).copied()
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

/// The packets of a stream, in order. Ends after the first bad header.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    chip: &'static Chip,
    words: &'a [u32],
    at: usize,
}

impl<'a> Packets<'a> {
    /// Of a stream of an R700.
    #[must_use]
    pub fn new(words: &'a [u32]) -> Self {
        Self::of(&R700, words)
    }

    /// Of a stream of a chip.
    #[must_use]
    pub const fn of(chip: &'static Chip, words: &'a [u32]) -> Self {
        Self { chip, words, at: 0 }
    }

    /// Passes over the relocations that come next.
    pub fn operands(&mut self) -> Operands<'a> {
        let begin = self.at;
        let is_relocation = |header: u32| {
            let header = Type3Header(header);
            header.packet_type() == 3 && header.opcode() == u32::from(NOP) && header.count() == 0
        };
        while let Some(&[header, _]) = self.words.get(self.at..self.at + 2)
            && is_relocation(header)
        {
            self.at += 2;
        }
        Operands { packets: &self.words[begin..self.at] }
    }
}

impl<'a> Iterator for Packets<'a> {
    /// A packet; or the dword and the error of its header.
    type Item = Result<Packet<'a>, (usize, BadHeader)>;

    // In line, so that a packet stays in registers: to copy its parts through memory takes longer than to find them.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let header = *self.words.get(at)?;
        let typed = Type3Header(header);
        let (kind, count) = match typed.packet_type() {
            0 => {
                let of = &self.chip.register_header;
                let first = of.register.extract(header) * 4;
                let one = of.one_register.is_some_and(|field| field.extract(header) == 1);
                (Kind::Registers { first, one }, typed.count() as usize + 1)
            }
            2 => (Kind::Filler, 0),
            3 => {
                let opcode = typed.opcode() as u8;
                let row = self.chip.packet(opcode);
                (Kind::Packet { opcode, predicated: typed.predicated(), row }, typed.count() as usize + 1)
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
        for (chip, row) in [&R700, &r500::R580].iter().flat_map(|chip| chip.packets.iter().map(move |row| (chip, row)))
        {
            assert!(chip.packets.is_sorted_by(|a, b| a.opcode < b.opcode));
            assert_eq!(chip.packet_named(row.name), Some(row));
            assert_eq!(chip.packet(row.opcode), Some(row));
            assert_eq!(row.draws, row.name.contains("DRAW"), "{}", row.name);
            {
                let words = row.words();
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
    fn operands_of_relocations_follow_their_packet() {
        let words = [0xc001_6900, 0x100, 7, 0xc000_1000, 4, 0xc000_1001, 8, 0xc001_1000, 1, 2, 0xc000_1000];
        let mut packets = Packets::new(&words);
        assert!(packets.next().is_some_and(|packet| packet.is_ok_and(|packet| packet.relocation().is_none())));
        let operands = packets.operands();
        assert_eq!((operands.len(), operands.is_empty()), (2, false));
        assert_eq!([0, 1, 2].map(|n| operands.get(n)), [Some(4), Some(8), None]);
        // A NOP of two words is no relocation, nor is one that is cut off.
        assert!(packets.operands().is_empty());
        assert!(packets.next().is_some_and(|packet| packet.is_ok_and(|packet| packet.words == [1, 2])));
        assert!(packets.operands().is_empty());
        assert!(packets.next().is_some_and(|packet| packet.is_err()));
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

    /// Words are read by the tables; missing words of a short packet are 0.
    #[test]
    fn packets_have_typed_words() {
        let Some(Command::EventWriteEop(packet)) = Command::of(0x47, &[20, 0x1000, 0x4000_0012, 7]) else { panic!() };
        assert_eq!(packet.event.event(), Some(words::EventType::CacheFlushAndInvTsEvent));
        assert_eq!(packet.control.data_sel(), Some(words::DataSelect::All64));
        assert_eq!((packet.control.high(), packet.low, packet.data_high), (0x12, 7, 0));
        let waits = words::WaitControl(0x17);
        assert_eq!((waits.function(), waits.mem(), waits.pfp()), (None, true, false));
        assert_eq!(Command::of(0xff, &[]), None);
        assert_eq!(words::Type3Header(0).with(words::Type3Header::OPCODE, 0x147).0, 0x4700);
    }

    /// Type 0 of an R500 has a bit for ports: all words go to one register.
    #[test]
    fn chips_differ_in_packets_of_type_0() {
        let words = [0x0001_9095, 5, 6, 0xc000_3400, 0x0003_0025];
        let of = |chip| Packets::of(chip, &words).map(Result::unwrap).collect::<Vec<_>>();
        let r500 = of(&r500::R580);
        assert_eq!(r500[0].kind, Kind::Registers { first: 0x4254, one: true });
        assert_eq!(r500[0].direct_registers().collect::<Vec<_>>(), [(0x4254, 5), (0x4254, 6)]);
        assert_eq!(r500[0].registers(), None);
        assert!(r500[1].draws());
        let r700 = of(&R700);
        assert_eq!(r700[0].registers(), Some((0x24254, &[5, 6][..])));
        assert_eq!(r700[0].direct_registers().collect::<Vec<_>>(), [(0x24254, 5), (0x24258, 6)]);
        assert!(!r700[1].draws());
    }
}
