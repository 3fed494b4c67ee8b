//! A chip as a value: the format of its packets' headers, and its packets and registers.
//!
//! Code that does not know a chip, such as the text of streams, takes it as an argument. A chip is added as a file of tables beside
//! [`packets::r700`](crate::packets::r700).

use crate::registers::Table;
use crate::table::Info;
use ctm_isa::table::Field;

/// The fields of the header of a packet that writes registers (type 0) in which chips differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterHeader {
    /// The first register, in dwords.
    pub register: Field,
    /// All words go to that register, where the chip can do so.
    pub one_register: Option<Field>,
}

/// A chip, or several that have the same streams.
#[derive(Debug)]
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// The header of packets of type 0.
    pub register_header: RegisterHeader,
    /// Packets of type 3, by opcode.
    pub packets: &'static [Info],
    /// Registers.
    pub registers: &'static Table,
}

impl Chip {
    /// The packet with an opcode.
    #[must_use]
    pub fn packet(&self, opcode: u8) -> Option<&'static Info> {
        self.packets.binary_search_by_key(&opcode, |row| row.opcode).ok().map(|at| &self.packets[at])
    }

    /// The packet with a name.
    #[must_use]
    pub fn packet_named(&self, name: &str) -> Option<&'static Info> {
        self.packets.iter().find(|row| row.name == name)
    }
}
