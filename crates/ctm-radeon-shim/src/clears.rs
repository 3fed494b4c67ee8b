//! Fast clears of buffers: they are kept from submission to submission, and stored before a program looks at the buffer's memory.
//!
//! They lie in the table that processes share, so that each of them sees all.

use crate::space::Space;
use crate::table::Buffer;
use ctm_radeon::execute::FastClear;

/// How many targets have some at once.
const SLOTS: usize = 16;
/// Most rows of tiles of a target.
const ROWS: usize = 512;

/// Fast clears of a target.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct KeptClear {
    /// The first byte of slice 0, among all buffers.
    address: u64,
    /// How many words there are.
    length: u64,
    words: [u64; FastClear::HEADER_WORDS + FastClear::ROW_WORDS * ROWS],
}

/// Those of all buffers of a file. All zero: none.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ClearTable {
    /// The serial numbers of the buffers; 0: the slot is free.
    serials: [u64; SLOTS],
    slots: [KeptClear; SLOTS],
}

impl ClearTable {
    /// Keeps fast clears of a target in a buffer; returns whether there is room.
    pub(crate) fn keep(&mut self, serial: u64, address: u64, clear: &FastClear) -> bool {
        let Some(free) = self.serials.iter().position(|&serial| serial == 0) else { return false };
        let (slot, mut words) = (&mut self.slots[free], clear.words());
        (slot.address, slot.length) = (address, 0);
        for (to, word) in slot.words.iter_mut().zip(&mut words) {
            *to = word;
            slot.length += 1;
        }
        let fits = words.next().is_none();
        self.serials[free] = if fits { serial } else { 0 };
        fits
    }

    /// Takes those of a buffer, with the addresses of their targets.
    pub(crate) fn take(&mut self, serial: u64) -> Vec<(u64, FastClear)> {
        let of_buffer = self.serials.iter_mut().zip(&self.slots).filter(|(of, _)| **of == serial && serial != 0);
        let take = |(serial, slot): (&mut u64, &KeptClear)| {
            *serial = 0;
            let words = usize::try_from(slot.length).ok().and_then(|length| slot.words.get(..length))?;
            Some((slot.address, FastClear::from_words(words)?))
        };
        of_buffer.filter_map(take).collect()
    }

    /// Stores those of a buffer in its memory.
    pub(crate) fn store(&mut self, space: &Space, buffer: &Buffer) {
        for (address, mut clear) in self.take(buffer.serial) {
            let Ok(bytes) = space.bytes(buffer.offset, buffer.size) else { return };
            // SAFETY: the bytes are mapped as long as the space, which is borrowed, and the table's lock is held: no submission writes them.
            let bytes = unsafe { &mut *bytes };
            let from = address.checked_sub(buffer.offset).and_then(|from| usize::try_from(from).ok());
            if let Some(bytes) = from.and_then(|from| bytes.get_mut(from..)) {
                clear.store(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn fast_clears_are_kept_by_buffer() {
        // SAFETY: all zero is valid, and means that there are none.
        let mut clears: Box<ClearTable> = unsafe { Box::new(std::mem::zeroed()) };
        // A linear target of 64 columns of 4 bytes.
        let of = |height: u64| {
            let mut words = vec![0, 64, height, 4, 1, 0, 1, 4, 256, 1024, 0, 0];
            words.extend((0..FastClear::ROW_WORDS as u64 * height.div_ceil(8)).map(|n| n % 5));
            FastClear::from_words(&words).unwrap()
        };
        assert!(!clears.keep(1, 0, &of(8 * ROWS as u64 + 8)), "too many rows");
        for n in 0..SLOTS as u64 {
            assert!(clears.keep(1 + n % 2, n << 20, &of(64)));
        }
        assert!(!clears.keep(3, 0, &of(8)), "no room");
        let taken = clears.take(1);
        assert_eq!(taken.len(), SLOTS / 2);
        assert!(taken.iter().all(|(address, clear)| address >> 20 & 1 == 0 && *clear == of(64)));
        assert!(clears.take(1).is_empty() && clears.take(0).is_empty());
        assert!(clears.keep(3, 0, &of(8)) && clears.take(3).len() == 1);
    }

    #[test]
    fn a_mapped_buffer_has_its_clears() {
        let file = crate::space::create().unwrap();
        let space = Space::of(file.as_raw_fd()).unwrap();
        let stored = space.table(|table| {
            let handle = table.create(1 << 16, 4096, 4).unwrap();
            let buffer = *table.get(handle).unwrap();
            // A linear target of 64 x 8 pixels of 4 bytes, whose columns up to 32 have a value.
            let mut words = vec![0, 64, 8, 4, 1, 0, 1, 4, 256, 1024, 0, 0];
            words.extend([0x1234_5678, 0, u64::MAX, u64::MAX, 1]);
            assert!(table.clears.keep(buffer.serial, buffer.offset, &FastClear::from_words(&words).unwrap()));
            table.store_clears(&space, handle);
            let mut bytes = [0; 64 * 4];
            space.copy(buffer.offset, &mut bytes).unwrap();
            bytes
        });
        let (cleared, others) = stored.as_ref().unwrap().split_at(32 * 4);
        assert!(cleared.as_chunks().0.iter().all(|four: &[u8; 4]| *four == 0x1234_5678u32.to_le_bytes()));
        assert!(others.iter().all(|&byte| byte == 0));
    }
}
