//! Addresses, and which arenas a device has where.

use std::fmt;

/// Address of a byte in the device's 32-bit address space (CTM §2.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuAddr(pub u32);

impl GpuAddr {
    /// The alignment of base addresses in commands (CTM §2.2.2), in bytes.
    pub const ALIGNMENT: u32 = 2048;

    /// The address without the eleven low bits, which commands ignore (CTM §2.2.2).
    #[must_use]
    pub const fn base(self) -> Self {
        Self(self.0 & !(Self::ALIGNMENT - 1))
    }
}

impl fmt::Display for GpuAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x}", self.0)
    }
}

impl fmt::LowerHex for GpuAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// Which arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArenaId {
    /// Local memory.
    Gpu,
    /// Second region of local memory.
    GpuB,
    /// System memory, uncached by the host.
    Sys,
    /// System memory, cached by the host.
    SysC,
}

impl ArenaId {
    /// All arenas.
    pub const ALL: [Self; 4] = [Self::Gpu, Self::GpuB, Self::Sys, Self::SysC];

    /// The name that the device interface gives it: `GPU`, `GPUb`, `SYS`, `SYSc`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gpu => "GPU",
            Self::GpuB => "GPUb",
            Self::Sys => "SYS",
            Self::SysC => "SYSc",
        }
    }

    /// Whether the host processor reaches it too.
    #[must_use]
    pub const fn is_system(self) -> bool {
        matches!(self, Self::Sys | Self::SysC)
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for ArenaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where an arena lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaRange {
    /// Its first address, a multiple of [`GpuAddr::ALIGNMENT`].
    pub base: GpuAddr,
    /// Its size in bytes, below 2^31; 0: the arena does not exist.
    pub bytes: u32,
}

impl ArenaRange {
    /// One past its last address.
    pub(super) const fn end(self) -> u64 {
        self.base.0 as u64 + self.bytes as u64
    }
}

/// Where the arenas lie.
///
/// The default suits known clients of the device interface: SYS lies below SYSc, both less than 2 GiB apart,
/// SYSc is not larger than SYS, no size reaches 2^31, and address 0 belongs to no arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaOptions {
    /// Local memory.
    pub gpu: ArenaRange,
    /// Second region of local memory.
    pub gpu_b: ArenaRange,
    /// System memory, uncached by the host.
    pub sys: ArenaRange,
    /// System memory, cached by the host.
    pub sys_c: ArenaRange,
}

impl Default for ArenaOptions {
    fn default() -> Self {
        const MIB: u32 = 1 << 20;
        let range = |base, bytes| ArenaRange { base: GpuAddr(base), bytes };
        Self {
            gpu: range(0x1000_0000, 1024 * MIB),
            gpu_b: range(0x5000_0000, 256 * MIB),
            sys: range(0x8000_0000, 512 * MIB),
            sys_c: range(0xa000_0000, 512 * MIB),
        }
    }
}

impl ArenaOptions {
    /// The range of one arena.
    #[must_use]
    pub const fn range(&self, arena: ArenaId) -> ArenaRange {
        match arena {
            ArenaId::Gpu => self.gpu,
            ArenaId::GpuB => self.gpu_b,
            ArenaId::Sys => self.sys,
            ArenaId::SysC => self.sys_c,
        }
    }

    /// Gives the arenas these sizes in bytes, in the order GPU, GPUb, SYS, SYSc, and lays them out one after another.
    ///
    /// # Errors
    /// When they do not fit into the address space.
    pub fn with_sizes(bytes: [u32; 4]) -> Result<Self, ArenaError> {
        const STEP: u64 = 1 << 24;
        let mut next = 1u64 << 28;
        let mut bases = [GpuAddr(0); 4];
        for (base, size) in bases.iter_mut().zip(bytes) {
            *base = u32::try_from(next).map(GpuAddr).map_err(|_| ArenaError::AddressSpace { end: next })?;
            next = (next + u64::from(size)).next_multiple_of(STEP);
        }
        let range = |i: usize| ArenaRange { base: bases[i], bytes: bytes[i] };
        let options = Self { gpu: range(0), gpu_b: range(1), sys: range(2), sys_c: range(3) };
        options.check()?;
        Ok(options)
    }

    pub(super) fn check(&self) -> Result<(), ArenaError> {
        for arena in ArenaId::ALL {
            let range = self.range(arena);
            if range.bytes >= 1 << 31 {
                return Err(ArenaError::TooLarge { arena, bytes: range.bytes });
            }
            if range.base != range.base.base() {
                return Err(ArenaError::Misaligned { arena, base: range.base });
            }
            if range.end() > 1 << 32 {
                return Err(ArenaError::AddressSpace { end: range.end() });
            }
            for other in ArenaId::ALL.into_iter().filter(|&o| o > arena) {
                let o = self.range(other);
                if range.bytes > 0
                    && o.bytes > 0
                    && u64::from(range.base.0) < o.end()
                    && u64::from(o.base.0) < range.end()
                {
                    return Err(ArenaError::Overlap { arena, other });
                }
            }
        }
        Ok(())
    }
}

/// The requested arenas are impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArenaError {
    /// Sizes stay below 2^31, because clients hold them in signed integers.
    TooLarge {
        /// Which one.
        arena: ArenaId,
        /// The requested size.
        bytes: u32,
    },
    /// A base is not a multiple of [`GpuAddr::ALIGNMENT`].
    Misaligned {
        /// Which one.
        arena: ArenaId,
        /// The requested base.
        base: GpuAddr,
    },
    /// They do not fit into 32 bits.
    AddressSpace {
        /// One past the last address that would be needed.
        end: u64,
    },
    /// Two arenas share addresses.
    Overlap {
        /// The first.
        arena: ArenaId,
        /// The second.
        other: ArenaId,
    },
    /// The operating system gives no memory for one.
    Host {
        /// Which one.
        arena: ArenaId,
        /// Its size.
        bytes: u32,
        /// The operating system's message.
        why: String,
    },
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { arena, bytes } => {
                write!(f, "arena {arena} is to have {bytes} bytes, fewer than {} are allowed", 1u32 << 31)
            }
            Self::Misaligned { arena, base } => {
                write!(f, "arena {arena} is to begin at {base}, which is no multiple of {}", GpuAddr::ALIGNMENT)
            }
            Self::AddressSpace { end } => write!(f, "the arenas end at 0x{end:x}, addresses have 32 bits"),
            Self::Overlap { arena, other } => write!(f, "the arenas {arena} and {other} overlap"),
            Self::Host { arena, bytes, why } => {
                write!(f, "the host has no {bytes} bytes of address space for arena {arena}: {why}")
            }
        }
    }
}

impl std::error::Error for ArenaError {}
