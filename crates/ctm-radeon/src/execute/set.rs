//! The sets of resources, samplers and constants: one for each kind of stage.

use super::registers::{Registers, container};
use crate::registers::sq;

/// The sets of resources that stages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// Of pixel programs.
    Pixel,
    /// Of vertex, export and copy programs.
    Vertex,
    /// Of geometry programs.
    Geometry,
}

impl Set {
    /// The first fetch resource, of all of them.
    #[must_use]
    pub const fn first_resource(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 160,
            Self::Geometry => 336,
        }
    }

    /// The first sampler, of all of them.
    #[must_use]
    pub const fn first_sampler(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 18,
            Self::Geometry => 36,
        }
    }

    /// The number of its loop, boolean and file constants.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Pixel => 0,
            Self::Vertex => 1,
            Self::Geometry => 2,
        }
    }

    /// The registers with the addresses of its constant buffers.
    pub(crate) const fn constant_register(self) -> &'static crate::Register {
        match self {
            Self::Pixel => sq::ALU_CONST_CACHE_PS_0::REGISTER,
            Self::Vertex => sq::ALU_CONST_CACHE_VS_0::REGISTER,
            Self::Geometry => sq::ALU_CONST_CACHE_GS_0::REGISTER,
        }
    }

    /// The address of constant buffer `bank`, and its size in bytes.
    #[must_use]
    pub fn constants(self, registers: &Registers, bank: u32) -> (u64, u64) {
        let size = match self {
            Self::Pixel => container!("ALU_CONST_BUFFER_SIZE_PS"),
            Self::Vertex => container!("ALU_CONST_BUFFER_SIZE_VS"),
            Self::Geometry => container!("ALU_CONST_BUFFER_SIZE_GS"),
        };
        let address = registers.address(self.constant_register(), bank);
        (address, u64::from(sq::CONSTANT_BUFFER_SIZE.extract(registers.named(size, bank))) * 256)
    }
}
