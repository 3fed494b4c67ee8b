//! The supported instruction sets.

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// 32 registers of 512 bits, mask registers: AVX-512 F, DQ and BW.
    Avx512,
    /// 16 registers of 256 bits: AVX2 and FMA.
    Avx2,
    /// 128 bits, for Rust code alone: the encoder has no forms for it. On x86-64 with AVX and FMA, where the feature `four` compiles it; on 64-bit ARM.
    Four,
}

impl Isa {
    /// Whether this host can run it: the processor has it, and the system saves its registers. On other processors than
    /// x86-64: [`Self::Four`] on 64-bit ARM.
    #[must_use]
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let own = match self {
                Self::Avx512 => {
                    is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("avx512dq")
                        && is_x86_feature_detected!("avx512bw")
                }
                Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
                Self::Four => {
                    cfg!(any(feature = "four", test))
                        && is_x86_feature_detected!("avx")
                        && is_x86_feature_detected!("fma")
                }
            };
            own && is_x86_feature_detected!("popcnt")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            cfg!(target_arch = "aarch64") && self == Self::Four
        }
    }

    /// Elements of 32 bits in a register.
    #[must_use]
    pub const fn lanes(self) -> usize {
        match self {
            Self::Avx512 => 16,
            Self::Avx2 => 8,
            Self::Four => 4,
        }
    }

    /// Bytes of a register.
    #[must_use]
    pub const fn bytes(self) -> i32 {
        4 * self.lanes() as i32
    }

    /// The number of vector registers.
    #[must_use]
    pub const fn all_registers(self) -> u8 {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
            Self::Four => {
                if cfg!(target_arch = "aarch64") {
                    32
                } else {
                    16
                }
            }
        }
    }
}
