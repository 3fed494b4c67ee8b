//! The table of buffers at the front of a memory file: the handles, and the places of their bytes.
//!
//! It is shared by all processes that have the file, and trusts nothing that it reads there: a number out of range is as an unknown handle.

use crate::Errno;
use crate::clears::ClearTable;
use crate::space::Space;

/// Bytes of a memory file. Nothing of it takes memory before it is written. Addresses of the chip have 40 bits.
pub(crate) const SPACE_BYTES: u64 = 1 << 36;
/// Where buffers begin; the table lies before.
pub(crate) const FIRST: u64 = 1 << 24;
/// How many buffers there may be at once.
pub(crate) const BUFFERS: usize = 1 << 16;
/// The size of the largest buffer: the memory of the card, or of the window into the host's.
pub(crate) const LARGEST: u64 = 512 << 20;
/// The domain of buffers in the host's memory.
pub(crate) const GTT: u32 = 2;
/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// A buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its size, a multiple of [`PAGE`]; 0: the handle is free.
    pub size: u64,
    /// Counts the buffers of the file: which one a handle means, as handles are used again.
    pub serial: u64,
    /// Where the driver wants it.
    pub domain: u32,
    /// Its tiling, for other processes.
    pub tiling: u32,
    /// Bytes of a row.
    pub pitch: u32,
    /// Not 0: its bytes are in a file of their own ([`crate::prime`]), which other processes may have.
    pub exported: u32,
    /// Who can write its bytes: 0: no one yet; a process: its streams; [`ANYONE`]: programs, or several processes.
    writer: u32,
    /// Of a free handle: the next free one, or 0.
    next_free: u32,
}

/// See [`Buffer::written_by`].
const ANYONE: u32 = u32::MAX;

/// The table. All zero is an empty one.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Table {
    /// Handles that have ever been used; they count from 1.
    used: u32,
    /// A free handle below, or 0.
    free: u32,
    /// How many buffers there have been.
    serial: u64,
    /// The end of all buffers so far, counted from [`FIRST`]; [`SPACE_BYTES`] once gaps are searched.
    next: u64,
    buffers: [Buffer; BUFFERS],
    /// Fast clears of buffers.
    pub(crate) clears: ClearTable,
}

impl Table {
    /// The buffer of a handle.
    pub(crate) fn get(&self, handle: u32) -> Option<&Buffer> {
        let place = Self::place(handle)?;
        Some(&self.buffers[place]).filter(|buffer| buffer.is_sound())
    }

    /// The same, to change its entry.
    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut Buffer> {
        let place = Self::place(handle)?;
        Some(&mut self.buffers[place]).filter(|buffer| buffer.is_sound())
    }

    fn place(handle: u32) -> Option<usize> {
        (handle as usize).checked_sub(1).filter(|&place| place < BUFFERS)
    }

    /// Makes a buffer and gives its handle.
    ///
    /// # Errors
    /// `EINVAL` for a size of 0 or an invalid alignment, `ENOMEM` when it is larger than the card, or there is no room or handle left.
    pub(crate) fn create(&mut self, size: u64, alignment: u64, domain: u32) -> Result<u32, Errno> {
        if size == 0 || alignment > LARGEST {
            return Err(libc::EINVAL);
        }
        if size > LARGEST {
            return Err(libc::ENOMEM);
        }
        let size = size.next_multiple_of(PAGE);
        let alignment = alignment.max(PAGE).next_multiple_of(PAGE);
        let offset = self.room(size, alignment).ok_or(libc::ENOMEM)?;
        let handle = self.take_handle().ok_or(libc::ENOMEM)?;
        let place = Self::place(handle).ok_or(libc::ENOMEM)?;
        self.serial += 1;
        // Once the end was reached, no place has only free bytes after it.
        let behind = offset + size - FIRST;
        self.next = if behind > self.next { behind } else { SPACE_BYTES };
        self.buffers[place] = Buffer { offset, size, serial: self.serial, domain, ..Buffer::default() };
        Ok(handle)
    }

    /// The handle of the buffer that begins at a place.
    pub(crate) fn handle_at(&self, offset: u64) -> Option<u32> {
        let used = self.buffers.get(..self.used as usize).unwrap_or(&self.buffers);
        let place = used.iter().position(|buffer| buffer.offset == offset && buffer.is_sound())?;
        u32::try_from(place + 1).ok()
    }

    /// Frees a handle and returns its entry.
    pub(crate) fn close(&mut self, handle: u32) -> Option<Buffer> {
        let free = self.free;
        let buffer = self.get_mut(handle)?;
        let gone = *buffer;
        // No one sees its memory any more.
        self.clears.take(gone.serial);
        let buffer = self.get_mut(handle)?;
        *buffer = Buffer { next_free: free, ..Buffer::default() };
        self.free = handle;
        Some(gone)
    }

    /// Stores the fast clears of a buffer in its memory: a program looks at it now.
    pub(crate) fn store_clears(&mut self, space: &Space, handle: u32) {
        if let Some(buffer) = self.get(handle).copied() {
            self.clears.store(space, &buffer);
        }
    }

    fn take_handle(&mut self) -> Option<u32> {
        if let Some(place) = Self::place(self.free)
            && self.buffers[place].size == 0
        {
            let handle = self.free;
            self.free = self.buffers[place].next_free;
            return Some(handle);
        }
        self.free = 0;
        let handle = self.used.checked_add(1).filter(|&handle| handle as usize <= BUFFERS)?;
        self.used = handle;
        Some(handle)
    }

    /// A free range: after all earlier ones while there is room, then the first gap.
    fn room(&self, size: u64, alignment: u64) -> Option<u64> {
        let at = (FIRST + self.next.min(SPACE_BYTES)).next_multiple_of(alignment);
        if at + size <= SPACE_BYTES {
            return Some(at);
        }
        let mut taken: Vec<(u64, u64)> =
            self.buffers.iter().filter(|b| b.is_sound()).map(|b| (b.offset, b.offset + b.size)).collect();
        taken.sort_unstable();
        taken.push((SPACE_BYTES, SPACE_BYTES));
        let mut from = FIRST;
        for (start, end) in taken {
            let at = from.next_multiple_of(alignment);
            if at + size <= start {
                return Some(at);
            }
            from = from.max(end);
        }
        None
    }

    /// Makes the table whole again after a process ended while it changed it.
    pub(crate) fn repair(&mut self) {
        self.used = u32::try_from(BUFFERS).unwrap_or(u32::MAX);
        self.free = 0;
        for place in (0..BUFFERS).rev() {
            if self.buffers[place].is_sound() {
                self.serial = self.serial.max(self.buffers[place].serial);
            } else {
                self.buffers[place] = Buffer { next_free: self.free, ..Buffer::default() };
                self.free = u32::try_from(place + 1).unwrap_or(0);
            }
        }
        // The next buffer goes into the first gap.
        self.next = SPACE_BYTES;
    }
}

impl Buffer {
    /// Records that the streams of a process may write it; returns whether nothing else ever could.
    pub(crate) fn written_by(&mut self, process: u32) -> bool {
        self.writer = if self.writer == 0 || self.writer == process { process } else { ANYONE };
        self.writer != ANYONE && self.exported == 0
    }

    /// Records that programs may write it: from now on, for good.
    pub(crate) fn is_mapped(&mut self) {
        self.writer = ANYONE;
    }

    /// Whether this is a buffer, and lies where buffers may.
    fn is_sound(&self) -> bool {
        self.size != 0
            && self.size <= LARGEST
            && self.size.is_multiple_of(PAGE)
            && self.offset >= FIRST
            && self.offset.is_multiple_of(PAGE)
            && self.offset <= SPACE_BYTES - self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Box<Table> {
        let layout = std::alloc::Layout::new::<Table>();
        // SAFETY: the layout has a size; all zero is an empty table, made as boxes are.
        unsafe { Box::from_raw(std::alloc::alloc_zeroed(layout).cast()) }
    }

    #[test]
    fn handles_are_used_again_and_buffers_never_overlap() {
        let mut table = table();
        let mut live: Vec<u32> = Vec::new();
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = state >> 33;
            if random.is_multiple_of(3) && !live.is_empty() {
                let handle = live.swap_remove((random / 3) as usize % live.len());
                assert!(table.close(handle).is_some());
                assert!(table.get(handle).is_none());
            } else if live.len() < 100 {
                live.push(table.create(1 + (random * 4099) % LARGEST, 1 << (random % 17), 4).unwrap());
            }
        }
        let mut ranges: Vec<_> = live.iter().map(|&handle| *table.get(handle).unwrap()).collect();
        ranges.sort_by_key(|b| b.offset);
        assert!(ranges.windows(2).all(|pair| pair[0].offset + pair[0].size <= pair[1].offset));
        assert!(table.used <= 101, "{} handles", table.used);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut table = table();
        assert_eq!(table.create(0, 0, 4), Err(libc::EINVAL));
        assert_eq!(table.create(u64::MAX, 0, 4), Err(libc::ENOMEM));
        assert_eq!(table.create(1, u64::MAX, 4), Err(libc::EINVAL));
        assert_eq!(table.close(1), None);
        let mut made = 0;
        while table.create(LARGEST, 4096, 4).is_ok() {
            made += 1;
        }
        assert_eq!(made, 127);
        for handle in [0, 128, u32::MAX] {
            assert!(table.get(handle).is_none(), "{handle}");
        }
    }

    #[test]
    fn buffers_know_who_can_write_them() {
        let mut table = table();
        let handles: Vec<u32> = (0..3).map(|_| table.create(8192, 4096, 4).unwrap()).collect();
        let mut writes = |n: usize, process| table.get_mut(handles[n]).unwrap().written_by(process);
        assert!(writes(0, 7) && writes(0, 7) && writes(1, 8), "streams of one process");
        assert!(!writes(0, 8) && !writes(0, 7), "and of another one");
        table.get_mut(handles[1]).unwrap().is_mapped();
        table.get_mut(handles[2]).unwrap().exported = 1;
        let mut writes = |n: usize, process| table.get_mut(handles[n]).unwrap().written_by(process);
        assert!(!writes(1, 8) && !writes(2, 7));
        table.close(handles[0]);
        let again = table.create(8192, 4096, 4).unwrap();
        assert!(again == handles[0] && table.get_mut(again).unwrap().written_by(9), "a new buffer");
    }

    #[test]
    fn a_damaged_table_is_repaired() {
        let mut table = table();
        let handles: Vec<u32> = (0..5).map(|_| table.create(8192, 4096, 4).unwrap()).collect();
        table.close(handles[2]);
        table.free = 77;
        table.buffers[9].offset = 5;
        table.buffers[9].size = 1;
        table.repair();
        assert!([0, 1, 3, 4].iter().all(|&n| table.get(handles[n]).is_some()));
        let again = table.create(4096, 4096, 4).unwrap();
        assert_eq!(again, handles[2]);
        assert_eq!(table.get(again).unwrap().offset, FIRST + 2 * 8192);
    }
}
