//! Memory of the host for arenas: pages full of zeros.

use super::{ArenaError, ArenaId, ArenaRange};

/// Pages full of zeros, from the operating system: they take room when they are first written.
#[cfg(any(unix, windows))]
pub type HostPages = memmap2::MmapMut;

/// Memory full of zeros, where there is no operating system. It is aligned for the largest elements.
#[cfg(not(any(unix, windows)))]
#[derive(Debug)]
pub struct HostPages {
    /// A count of elements that is rounded up.
    elements: Vec<u128>,
    bytes: usize,
}

#[cfg(not(any(unix, windows)))]
impl std::ops::Deref for HostPages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.elements)[..self.bytes]
    }
}

#[cfg(not(any(unix, windows)))]
impl std::ops::DerefMut for HostPages {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.elements)[..self.bytes]
    }
}

/// Pages full of zeros, large ones where the host has them: arrays of many pages are read and written faster so.
///
/// # Errors
/// [`ArenaError::Host`].
pub fn pages(arena: ArenaId, range: ArenaRange) -> Result<HostPages, ArenaError> {
    zeros(range.bytes as usize).map_err(|why| ArenaError::Host { arena, bytes: range.bytes, why })
}

#[cfg(any(unix, windows))]
fn zeros(bytes: usize) -> Result<HostPages, String> {
    let pages = memmap2::MmapOptions::new().len(bytes).no_reserve_swap().map_anon().map_err(|e| e.to_string())?;
    // A wish: a host that does not know it gives its usual pages.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Ok(pages)
}

#[cfg(not(any(unix, windows)))]
fn zeros(bytes: usize) -> Result<HostPages, String> {
    let (mut elements, count) = (Vec::new(), bytes.div_ceil(size_of::<u128>()));
    elements.try_reserve_exact(count).map_err(|e| e.to_string())?;
    elements.resize(count, 0);
    Ok(HostPages { elements, bytes })
}
