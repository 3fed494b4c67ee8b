//! Arenas in pages that the client reaches by pointer.
//!
//! The client writes constants, programs and command buffers through its pointer and reads results through it, while the device's
//! thread runs other buffers. Three things make this sound:
//!
//! 1. There is no reference to a whole arena. There is a raw pointer, given out once, and references to exactly the bytes that one
//!    step of one command needs, for as long as that step takes ([`SharedPages`]). A client that touches other bytes of the same arena touches nothing
//!    that a reference covers.
//! 2. Clients promise (`amDeviceManaged.h`, `docs/c-api.md`): from submitting a buffer until it is consumed, they do not write bytes that it
//!    reads, and do not touch bytes that it writes. The hardware required the same of them.
//! 3. Handing over is ordered: submitting locks the queue's mutex, which the device's thread locks after it; a buffer is counted as
//!    consumed with release ordering after its last write, and asking reads the count with acquire ordering.
//!
//! A client that breaks its promise reads or makes garbage. Command words and program images are copied before they are inspected, and
//! every offset is checked, so that the device stays within the arenas even with garbage.

use ctm::memory::{ArenaError, ArenaId, ArenaRange, Parts, SharedPages};
use memmap2::MmapRaw;
use std::ops::Range;

/// The pages of one arena: anonymous, zero, committed by the operating system when they are touched.
pub(crate) struct Pages {
    map: MmapRaw,
}

impl Pages {
    pub fn new(arena: ArenaId, range: ArenaRange) -> Result<Self, ArenaError> {
        Ok(Self { map: MmapRaw::from(ctm::memory::pages(arena, range)?) })
    }

    /// The arena's address for the client, valid as long as the pages live.
    pub fn client_pointer(&self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    /// The address of `offset`; the bytes from there must belong to the arena.
    fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.map.len()), "offsets were checked before");
        // SAFETY: within the mapping, as was just checked.
        unsafe { self.map.as_mut_ptr().add(offset) }
    }
}

impl SharedPages for Pages {
    fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        // SAFETY: the bytes lie in the mapping, which lives as long as `self` and is readable. Within this process only `slice_mut` and the client
        // write them: the first needs `&mut self`, the second promised not to while a buffer that reads them is not consumed (point 2 above).
        unsafe { std::slice::from_raw_parts(self.at(offset, bytes), bytes) }
    }

    fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: as in `slice`; the mapping is writable, `&mut self` excludes every other slice, and the client promised not to touch
        // bytes that a buffer writes before it is consumed.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset, bytes), bytes) }
    }

    fn parts(&mut self, reads: &[Range<usize>], writes: &[Range<usize>]) -> Option<Parts<'_>> {
        let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let apart = writes
            .iter()
            .enumerate()
            .all(|(n, write)| reads.iter().chain(&writes[n + 1..]).all(|other| !meet(write, other)));
        if !apart {
            return None;
        }
        let read = |range: &Range<usize>| {
            // SAFETY: as in `slice`; `&mut self` is borrowed as long as this is, and no part that is written shares a byte with it.
            unsafe { std::slice::from_raw_parts(self.at(range.start, range.len()).cast_const(), range.len()) }
        };
        let write = |range: &Range<usize>| {
            // SAFETY: as in `slice_mut`; no other part shares a byte with it.
            unsafe { std::slice::from_raw_parts_mut(self.at(range.start, range.len()), range.len()) }
        };
        Some((reads.iter().map(read).collect(), writes.iter().map(write).collect()))
    }

    fn copy(&self, offset: usize, to: &mut [u8]) {
        let mut from = self.at(offset, to.len());
        // Volatile, because the client may be writing neighbours of the bytes that it promised not to touch: each byte is read once, and the copy has
        // the value of that read.
        let (words, rest) = to.as_chunks_mut::<8>();
        for word in words {
            // SAFETY: within the mapping, as `at` has checked; any bits are a number, and alignment is not asked for.
            *word = unsafe { from.cast::<[u8; 8]>().read_volatile() };
            // SAFETY: at most one past the bytes that were checked.
            from = unsafe { from.add(8) };
        }
        for byte in rest {
            // SAFETY: as above.
            *byte = unsafe { from.read_volatile() };
            // SAFETY: as above.
            from = unsafe { from.add(1) };
        }
    }
}
