//! A chip as a value: the format of its packets' headers, and its packets and registers.
//!
//! Code that does not know a chip, such as the text of streams, takes it as an argument. A chip is added as a file of tables beside
//! [`packets::r700`](crate::packets::r700).

use crate::registers::Table;
use crate::table::{Info, Register};
use ctm_isa::table::Field;

/// The fields of the header of a packet that writes registers (type 0) in which chips differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterHeader {
    /// The first register, in dwords.
    pub register: Field,
    /// All words go to that register, where the chip can do so.
    pub one_register: Option<Field>,
}

/// The generations of chips, which differ in how their streams are checked and executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// R5xx: pixel programs are X1K.
    R500,
    /// R6xx and R7xx.
    R700,
}

impl Family {
    /// Its registers.
    #[must_use]
    pub const fn registers(self) -> &'static Table {
        match self {
            Self::R500 => &crate::registers::R500,
            Self::R700 => &crate::registers::R700,
        }
    }
}

/// The index of each opcode's packet; 255 for opcodes without one.
#[must_use]
pub const fn places(packets: &[Info]) -> [u8; 256] {
    assert!(packets.len() < u8::MAX as usize, "255 is no index");
    let (mut places, mut at) = ([u8::MAX; 256], 0);
    while at < packets.len() {
        places[packets[at].opcode as usize] = at as u8;
        at += 1;
    }
    places
}

/// A chip, or several that have the same streams.
#[derive(Debug)]
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// Its generation.
    pub family: Family,
    /// The header of packets of type 0.
    pub register_header: RegisterHeader,
    /// Packets of type 3, by opcode.
    pub packets: &'static [Info],
    /// The index of each opcode's packet among them: [`places`].
    pub places: [u8; 256],
    /// Registers.
    pub registers: &'static Table,
    /// Registers of the table that others of its generation have, and it has not.
    pub refused: &'static [&'static Register],
}

impl Chip {
    /// The packet with an opcode.
    #[must_use]
    pub fn packet(&self, opcode: u8) -> Option<&'static Info> {
        self.packets.get(usize::from(self.places[usize::from(opcode)]))
    }

    /// The packet with a name.
    #[must_use]
    pub fn packet_named(&self, name: &str) -> Option<&'static Info> {
        self.packets.iter().find(|row| row.name == name)
    }
}
