//! The instruction sets that code can be made for, and what differs between them.

use crate::launch::lanes::LANES;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// 32 registers of 512 bits, mask registers: AVX-512 F, DQ and BW.
    Avx512,
    /// 16 registers of 256 bits, masks in them too: AVX2 and FMA.
    Avx2,
}

impl Isa {
    /// Whether this host can run it: the processor has it, and the system keeps its registers.
    pub fn is_available(self) -> bool {
        match self {
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("popcnt")
            }
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("popcnt")
            }
        }
    }

    /// Lanes of a register.
    pub const fn lanes(self) -> usize {
        match self {
            Self::Avx512 => 16,
            Self::Avx2 => 8,
        }
    }

    /// Registers that one vector takes: its *pieces*.
    pub const fn pieces(self) -> u8 {
        (LANES / self.lanes()) as u8
    }

    /// Bytes of a register.
    pub const fn bytes(self) -> i32 {
        4 * self.lanes() as i32
    }

    /// Registers that vectors may have; those behind them are scratch.
    pub const fn registers(self) -> u8 {
        match self {
            Self::Avx512 => 28,
            Self::Avx2 => 13,
        }
    }

    /// All vector registers.
    pub const fn all_registers(self) -> u8 {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
        }
    }

    /// The scratch register for results.
    pub const fn scratch(self) -> u8 {
        self.registers()
    }

    /// The scratch register for operands.
    pub const fn operand_scratch(self) -> u8 {
        self.registers() + 1
    }

    /// The scratch register for masks, where they are vectors.
    pub const fn mask_scratch(self) -> u8 {
        self.registers() + 2
    }
}
