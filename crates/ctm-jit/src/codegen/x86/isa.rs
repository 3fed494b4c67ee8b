//! The supported instruction sets, and the roles of registers in each.

use crate::launch::lanes::LANES;
pub use ctm_x86::Isa;

/// The roles of registers.
pub trait Registers {
    /// The name in `CTM_ENGINE_ISA`.
    fn name(self) -> &'static str;
    /// Registers that one vector takes: its *parts*.
    fn pieces(self) -> u8;
    /// Registers that vectors may have; those after them are scratch.
    fn registers(self) -> u8;
    /// The scratch register for results.
    fn scratch(self) -> u8;
    /// The scratch register for operands.
    fn operand_scratch(self) -> u8;
    /// The scratch register for masks, where they are vectors.
    fn mask_scratch(self) -> u8;
}

impl Registers for Isa {
    fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
        }
    }

    fn pieces(self) -> u8 {
        (LANES / self.lanes()) as u8
    }

    fn registers(self) -> u8 {
        match self {
            Self::Avx512 => 28,
            Self::Avx2 => 13,
        }
    }

    fn scratch(self) -> u8 {
        self.registers()
    }

    fn operand_scratch(self) -> u8 {
        self.registers() + 1
    }

    fn mask_scratch(self) -> u8 {
        self.registers() + 2
    }
}
