//! The device's memory: a 32-bit address space with the arenas of the device interface (CTM §2.1.4).
//!
//! The MC distinguishes local memory from system memory by address range. Four arenas exist: two of local memory (`GPU`, `GPUb`) and two of
//! system memory, uncached (`SYS`) and cached (`SYSc`) by the host processor. Here all four are host memory; the operating
//! system commits a page when it is first written.
//!
//! **Invariants.** An arena never moves and never grows, so that a host pointer into it stays good as long as the device lives.
//! Nothing outside the arenas can be reached.
//!
//! ```
//! use ctm_device::memory::{ArenaError, ArenaId, ArenaOptions, ArenaRange, DeviceMemory, GpuAddr, Lent, MemoryError};
//!
//! let options = ArenaOptions::with_sizes([1 << 20; 4])?;
//! let range: ArenaRange = options.range(ArenaId::GpuB);
//! let mut memory = DeviceMemory::new(&options)?;
//! memory.write_u32(range.base, 7)?;
//! assert_eq!(memory.read_u32(range.base)?, 7);
//! assert!(matches!(memory.read_u32(GpuAddr(0)), Err(MemoryError::Outside { .. })));
//! // Parts of it, to be read and to be written at once.
//! let next = GpuAddr(range.base.0 + 4);
//! let lent: Option<Lent<'_>> = memory.lend(&[(range.base, 4)], &[(next, 4)]);
//! assert!(lent.is_some_and(|lent| lent.reads[0] == Some(&[7, 0, 0, 0][..])));
//! assert!(matches!(ArenaOptions::with_sizes([u32::MAX; 4]), Err(ArenaError::TooLarge { .. } | ArenaError::AddressSpace { .. } | ArenaError::Misaligned { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Arenas whose bytes are someone else's:
//!
//! ```
//! use ctm_device::memory::{ArenaError, ArenaOptions, DeviceMemory, Parts, SharedPages, pages};
//! use std::ops::Range;
//!
//! struct Mine(Vec<u8>);
//!
//! impl SharedPages for Mine {
//!     fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
//!         &self.0[offset..offset + bytes]
//!     }
//!     fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
//!         &mut self.0[offset..offset + bytes]
//!     }
//!     fn parts(&mut self, _: &[Range<usize>], _: &[Range<usize>]) -> Option<Parts<'_>> {
//!         None
//!     }
//! }
//!
//! let options = ArenaOptions::with_sizes([1 << 16; 4])?;
//! let memory = DeviceMemory::with_pages(&options, |arena, range| {
//!     assert!(pages(arena, range)?.iter().all(|&byte| byte == 0));
//!     Ok::<_, ArenaError>(Box::new(Mine(vec![0; range.bytes as usize])) as Box<dyn SharedPages>)
//! })?;
//! assert_eq!(memory.read_u32(options.gpu.base)?, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arenas;
mod host;
mod lend;
mod shared;
mod watch;

pub use arenas::{ArenaError, ArenaId, ArenaOptions, ArenaRange, GpuAddr};
pub use lend::Lent;
pub use shared::{Parts, SharedPages};
pub(crate) use watch::{Dwords, PAGE, Page, Watched};

pub use host::{HostPages, pages};
use std::fmt;

/// An access that memory refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// Some of the bytes lie in no arena.
    Outside {
        /// The first requested byte.
        address: GpuAddr,
        /// How many.
        bytes: u64,
        /// The arena in which the first byte lies, and one past its last address.
        within: Option<(ArenaId, u64)>,
    },
    /// An arena has no room left.
    Full {
        /// Which one.
        arena: ArenaId,
        /// The number of requested bytes.
        bytes: u64,
        /// How many are left.
        left: u64,
    },
}

impl MemoryError {
    /// The address concerned, where there is one.
    #[must_use]
    pub const fn address(&self) -> Option<GpuAddr> {
        match self {
            Self::Outside { address, .. } => Some(*address),
            Self::Full { .. } => None,
        }
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { address, bytes, within: None } => {
                write!(f, "{bytes} bytes at {address} lie in no arena")
            }
            Self::Outside { address, bytes, within: Some((arena, end)) } => {
                write!(f, "{bytes} bytes at {address} pass the end of arena {arena} at 0x{end:x}")
            }
            Self::Full { arena, bytes, left } => {
                write!(f, "arena {arena} has {left} bytes left, {bytes} were asked for")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

/// Where the bytes of an arena are.
pub(crate) enum Storage {
    /// Ours; `None` for an arena without bytes.
    Own(Option<HostPages>),
    /// Someone else reaches them too.
    Shared(Box<dyn SharedPages>),
    /// Either of them, with a log of the device's accesses.
    Watched(Box<Watched>),
}

impl Storage {
    pub(crate) fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        match self {
            Self::Own(pages) => &pages.as_deref().unwrap_or_default()[offset..offset + bytes],
            Self::Shared(pages) => pages.slice(offset, bytes),
            Self::Watched(watched) => watched.slice(offset, bytes),
        }
    }

    pub(crate) fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        match self {
            Self::Own(pages) => &mut pages.as_deref_mut().unwrap_or_default()[offset..offset + bytes],
            Self::Shared(pages) => pages.slice_mut(offset, bytes),
            Self::Watched(watched) => watched.slice_mut(offset, bytes),
        }
    }

    /// As [`SharedPages::copy`].
    pub(crate) fn copy(&self, offset: usize, to: &mut [u8]) {
        match self {
            Self::Shared(pages) => pages.copy(offset, to),
            Self::Own(_) | Self::Watched(_) => to.copy_from_slice(self.slice(offset, to.len())),
        }
    }
}

/// One arena and its bytes.
struct Arena {
    range: ArenaRange,
    storage: Storage,
    /// How much of it [`DeviceMemory::allocate`] has handed out.
    allocated: u32,
}

impl Arena {
    fn new(id: ArenaId, range: ArenaRange) -> Result<Self, ArenaError> {
        let pages = if range.bytes == 0 { None } else { Some(pages(id, range)?) };
        Ok(Self { range, storage: Storage::Own(pages), allocated: 0 })
    }

    fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        self.storage.slice(offset, bytes)
    }

    fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        self.storage.slice_mut(offset, bytes)
    }
}

/// The four arenas.
///
/// ```
/// use ctm_device::memory::{ArenaId, ArenaOptions, DeviceMemory};
/// let mut memory = DeviceMemory::new(&ArenaOptions::default())?;
/// let at = memory.allocate(ArenaId::Gpu, 16)?;
/// memory.write(at, &[1, 2, 3, 4])?;
/// assert_eq!(memory.read_u32(at)?, 0x0403_0201);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceMemory {
    arenas: [Arena; 4],
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(ArenaId::ALL.map(|a| (a.name(), self.range(a)))).finish()
    }
}

impl DeviceMemory {
    /// Arenas full of zeros.
    ///
    /// # Errors
    /// When sizes or bases cannot be.
    pub fn new(options: &ArenaOptions) -> Result<Self, ArenaError> {
        options.check()?;
        let [gpu, gpu_b, sys, sys_c] = ArenaId::ALL.map(|id| Arena::new(id, options.range(id)));
        Ok(Self { arenas: [gpu?, gpu_b?, sys?, sys_c?] })
    }

    /// Arenas with shared bytes: `pages` gives the zeroed pages of each.
    ///
    /// # Errors
    /// When sizes or bases cannot be, before `pages` is called; or errors of `pages`.
    pub fn with_pages<E: From<ArenaError>>(
        options: &ArenaOptions,
        mut pages: impl FnMut(ArenaId, ArenaRange) -> Result<Box<dyn SharedPages>, E>,
    ) -> Result<Self, E> {
        options.check()?;
        let empty = |id| Arena { range: options.range(id), storage: Storage::Own(None), allocated: 0 };
        let mut memory = Self { arenas: ArenaId::ALL.map(empty) };
        for (arena, id) in memory.arenas.iter_mut().zip(ArenaId::ALL) {
            if arena.range.bytes > 0 {
                arena.storage = Storage::Shared(pages(id, arena.range)?);
            }
        }
        Ok(memory)
    }

    /// Where an arena lies.
    #[must_use]
    pub const fn range(&self, arena: ArenaId) -> ArenaRange {
        self.arenas[arena.index()].range
    }

    /// All bytes of an arena.
    #[must_use]
    pub fn arena(&self, arena: ArenaId) -> &[u8] {
        let arena = &self.arenas[arena.index()];
        arena.slice(0, arena.range.bytes as usize)
    }

    /// All bytes of an arena. Their host address stays the same as long as the memory lives.
    #[must_use]
    pub fn arena_mut(&mut self, arena: ArenaId) -> &mut [u8] {
        let arena = &mut self.arenas[arena.index()];
        arena.slice_mut(0, arena.range.bytes as usize)
    }

    /// The arena that `address` lies in.
    #[must_use]
    pub fn arena_of(&self, address: GpuAddr) -> Option<ArenaId> {
        ArenaId::ALL.into_iter().find(|id| {
            let range = self.range(*id);
            address.0.checked_sub(range.base.0).is_some_and(|offset| offset < range.bytes)
        })
    }

    /// Where `bytes` bytes at `address` lie: the arena and the offset in it.
    fn locate(&self, address: GpuAddr, bytes: u64) -> Result<(usize, usize), MemoryError> {
        for (index, arena) in self.arenas.iter().enumerate() {
            if let Some(offset) = address.0.checked_sub(arena.range.base.0)
                && u64::from(offset).saturating_add(bytes) <= u64::from(arena.range.bytes)
                && offset < arena.range.bytes
            {
                return Ok((index, offset as usize));
            }
        }
        let within = self.arena_of(address).map(|id| (id, self.range(id).end()));
        Err(MemoryError::Outside { address, bytes, within })
    }

    /// The bytes at `address`.
    ///
    /// # Errors
    /// When some of them lie in no arena.
    pub fn slice(&self, address: GpuAddr, bytes: usize) -> Result<&[u8], MemoryError> {
        let (arena, offset) = self.locate(address, bytes as u64)?;
        Ok(self.arenas[arena].slice(offset, bytes))
    }

    /// The bytes at `address`, to be written.
    ///
    /// # Errors
    /// When some of them lie in no arena.
    pub fn slice_mut(&mut self, address: GpuAddr, bytes: usize) -> Result<&mut [u8], MemoryError> {
        let (arena, offset) = self.locate(address, bytes as u64)?;
        Ok(self.arenas[arena].slice_mut(offset, bytes))
    }

    /// Whether `bytes` bytes at `address` lie in an arena; none of them is read.
    ///
    /// # Errors
    /// When some of them lie in no arena.
    pub fn check(&self, address: GpuAddr, bytes: u64) -> Result<(), MemoryError> {
        self.locate(address, bytes).map(|_| ())
    }

    /// How many bytes there are from `address` to the end of its arena.
    ///
    /// # Errors
    /// When the address lies in no arena.
    pub fn bytes_after(&self, address: GpuAddr) -> Result<usize, MemoryError> {
        let (arena, offset) = self.locate(address, 1)?;
        Ok(self.arenas[arena].range.bytes as usize - offset)
    }

    /// Copies memory from `address` on, up to the end of its arena. Others may write it at the same time ([`SharedPages::copy`]).
    pub(crate) fn copy(&self, address: GpuAddr, to: &mut [u8]) {
        if let Ok((arena, offset)) = self.locate(address, 1) {
            let Arena { range, storage, .. } = &self.arenas[arena];
            let left = range.bytes as usize - offset;
            let bytes = to.len().min(left);
            storage.copy(offset, &mut to[..bytes]);
        }
    }

    /// Writes `bytes` at `address`.
    ///
    /// # Errors
    /// When some of them lie in no arena; then nothing is written.
    pub fn write(&mut self, address: GpuAddr, bytes: &[u8]) -> Result<(), MemoryError> {
        self.slice_mut(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// The little-endian dword at `address`.
    ///
    /// # Errors
    /// When it lies in no arena.
    pub fn read_u32(&self, address: GpuAddr) -> Result<u32, MemoryError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.slice(address, 4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// Writes a little-endian dword.
    ///
    /// # Errors
    /// When it lies in no arena.
    pub fn write_u32(&mut self, address: GpuAddr, word: u32) -> Result<(), MemoryError> {
        self.write(address, &word.to_le_bytes())
    }

    /// Reserves `bytes` bytes, aligned for use as a base address in commands. Contents are whatever was there before.
    ///
    /// # Errors
    /// When the arena has no room left.
    pub fn allocate(&mut self, arena: ArenaId, bytes: u64) -> Result<GpuAddr, MemoryError> {
        let a = &mut self.arenas[arena.index()];
        let left = u64::from(a.range.bytes - a.allocated);
        let padded = bytes.max(1).checked_next_multiple_of(u64::from(GpuAddr::ALIGNMENT)).unwrap_or(u64::MAX);
        match u32::try_from(padded) {
            Ok(padded) if u64::from(padded) <= left => {
                let address = GpuAddr(a.range.base.0 + a.allocated);
                a.allocated += padded;
                Ok(address)
            }
            _ => Err(MemoryError::Full { arena, bytes, left }),
        }
    }

    /// Starts a new log of the device's accesses, see [`Watched`].
    pub(crate) fn watch(&mut self) {
        for arena in &mut self.arenas {
            let storage = std::mem::replace(&mut arena.storage, Storage::Own(None));
            let storage = match storage {
                Storage::Watched(watched) => watched.into_storage(),
                other => other,
            };
            arena.storage = Storage::Watched(Box::new(Watched::new(storage, arena.range)));
        }
    }

    /// The logs of [`Self::watch`]: one for each arena, or none.
    pub(crate) fn watched(&mut self) -> impl Iterator<Item = &mut Watched> {
        self.arenas.iter_mut().filter_map(|arena| match &mut arena.storage {
            Storage::Watched(watched) => Some(&mut **watched),
            Storage::Own(_) | Storage::Shared(_) => None,
        })
    }

    /// Takes back everything that [`Self::allocate`] handed out in `arena`.
    pub fn free_all(&mut self, arena: ArenaId) {
        self.arenas[arena.index()].allocated = 0;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn default_layout_suits_known_clients() {
        let o = ArenaOptions::default();
        o.check().unwrap();
        assert!(o.sys.base < o.sys_c.base);
        assert!(o.sys_c.base.0 + o.sys_c.bytes - o.sys.base.0 < 1 << 31);
        assert!(o.sys_c.bytes <= o.sys.bytes);
        assert!(ArenaId::ALL.iter().all(|&a| o.range(a).bytes > 64 << 20 && o.range(a).bytes < 1 << 31));
    }

    #[test]
    fn refuses_impossible_arenas() {
        let ok = ArenaOptions::default();
        let mut overlap = ok;
        overlap.sys_c.base = GpuAddr(ok.sys.base.0 + 2048);
        assert_eq!(
            DeviceMemory::new(&overlap).unwrap_err(),
            ArenaError::Overlap { arena: ArenaId::Sys, other: ArenaId::SysC }
        );
        let mut odd = ok;
        odd.gpu.base = GpuAddr(4);
        assert!(matches!(DeviceMemory::new(&odd), Err(ArenaError::Misaligned { arena: ArenaId::Gpu, .. })));
        let mut large = ok;
        large.gpu.bytes = 1 << 31;
        assert!(matches!(DeviceMemory::new(&large), Err(ArenaError::TooLarge { .. })));
        let mut end = ok;
        end.sys_c = ArenaRange { base: GpuAddr(0xffff_f800), bytes: 4096 };
        assert!(matches!(DeviceMemory::new(&end), Err(ArenaError::AddressSpace { .. })));
        assert!(ArenaOptions::with_sizes([(1 << 31) - 2048; 4]).is_err());
    }

    #[test]
    fn reaches_only_arenas() {
        let mut m = DeviceMemory::new(&ArenaOptions::with_sizes([4096, 0, 4096, 2048]).unwrap()).unwrap();
        let gpu = m.range(ArenaId::Gpu).base;
        let last = GpuAddr(gpu.0 + 4092);
        m.write_u32(last, 7).unwrap();
        assert_eq!(m.read_u32(last), Ok(7));
        assert_eq!(
            m.read_u32(GpuAddr(gpu.0 + 4093)),
            Err(MemoryError::Outside {
                address: GpuAddr(gpu.0 + 4093),
                bytes: 4,
                within: Some((ArenaId::Gpu, u64::from(gpu.0) + 4096))
            })
        );
        assert!(m.read_u32(GpuAddr(0)).is_err());
        assert!(m.read_u32(GpuAddr(u32::MAX)).is_err());
        assert!(m.slice(GpuAddr(gpu.0 + 4096), 0).is_err());
        assert!(m.slice(gpu, usize::MAX).is_err() && m.slice(last, usize::MAX).is_err());
        assert_eq!(m.bytes_after(last).unwrap(), 4);
    }

    #[test]
    fn allocates_aligned_until_full() {
        let mut m = DeviceMemory::new(&ArenaOptions::with_sizes([4096, 0, 0, 0]).unwrap()).unwrap();
        let a = m.allocate(ArenaId::Gpu, 1).unwrap();
        let b = m.allocate(ArenaId::Gpu, 2048).unwrap();
        assert_eq!(b.0 - a.0, 2048);
        assert_eq!(m.allocate(ArenaId::Gpu, 1), Err(MemoryError::Full { arena: ArenaId::Gpu, bytes: 1, left: 0 }));
        assert!(m.allocate(ArenaId::GpuB, u64::MAX).is_err());
        m.free_all(ArenaId::Gpu);
        assert_eq!(m.allocate(ArenaId::Gpu, 1), Ok(a));
    }

    #[test]
    fn arenas_begin_at_host_pages() {
        let m = DeviceMemory::new(&ArenaOptions::default()).unwrap();
        assert!(ArenaId::ALL.iter().all(|&id| m.arena(id).as_ptr().align_offset(4096) == 0));
    }
}
