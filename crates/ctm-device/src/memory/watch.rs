//! Which memory a submission touches: an arena's bytes with a log of every page that the device accesses and every dword that it may write.
//!
//! A *page* is [`PAGE`] bytes of an arena, counted from its base. The *image* is the other side's copy: the memory of a replay of all records
//! so far, or, in a replay, the expected memory. It begins as zeros, as an arena does.
//!
//! At the first access to a page in a submission, before it changes, it is compared with the image; if it
//! differs, the host has written it, and it goes to the image and to the list of changed pages. So it does not matter how the host
//! wrote it, and pages that no submission touches cost nothing.

use super::{ArenaRange, GpuAddr, Storage};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;
/// Dwords of a page, 64 to a word.
const WORDS: usize = PAGE / 4 / 64;

/// The bytes of a page; past the end of an arena they are 0.
pub(crate) type Page = [u8; PAGE];

/// A set of dwords of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dwords(pub [u64; WORDS]);

impl Dwords {
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// Adds the dwords that the bytes `from..to` of the page lie in.
    fn add(&mut self, from: usize, to: usize) {
        let (first, last) = (from / 4, to.div_ceil(4));
        if first == 0 && last == PAGE / 4 {
            *self = Self::ALL;
            return;
        }
        for dword in first..last {
            self.0[dword / 64] |= 1 << (dword % 64);
        }
    }

    pub fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|n| self.0[n] | other.0[n]))
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers of the dwords, rising.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let set = self.0;
        (0..PAGE / 4).filter(move |n| set[n / 64] >> (n % 64) & 1 == 1)
    }
}

/// Pages touched by one submission so far.
#[derive(Default)]
struct Touched {
    image: Vec<Option<Box<Page>>>,
    pages: Vec<u32>,
    /// Those that the host has changed.
    changed: Vec<u32>,
}

impl Touched {
    fn image(&self, page: u32) -> &Page {
        self.image.get(page as usize).and_then(Option::as_deref).unwrap_or(&[0; PAGE])
    }

    fn image_mut(&mut self, page: u32) -> &mut Page {
        let index = page as usize;
        if self.image.len() <= index {
            self.image.resize_with(index + 1, || None);
        }
        self.image[index].get_or_insert_with(|| Box::new([0; PAGE]))
    }
}

/// An arena that logs accesses.
pub(crate) struct Watched {
    storage: Storage,
    range: ArenaRange,
    /// A submission is running: accesses are the device's.
    active: bool,
    /// A bit for each page: it is in `touched.pages`.
    seen: Vec<AtomicU64>,
    touched: Mutex<Touched>,
    written: Vec<Option<Box<Dwords>>>,
    written_pages: Vec<u32>,
}

fn lock(touched: &Mutex<Touched>) -> MutexGuard<'_, Touched> {
    touched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers of the pages that `bytes` bytes from `offset` on lie in.
#[allow(clippy::cast_possible_truncation, reason = "arenas are smaller than 2^31 bytes")]
const fn pages(offset: usize, bytes: usize) -> std::ops::Range<u32> {
    if bytes == 0 {
        return 0..0;
    }
    (offset / PAGE) as u32..(offset + bytes).div_ceil(PAGE) as u32
}

impl Watched {
    pub fn new(storage: Storage, range: ArenaRange) -> Self {
        let count = (range.bytes as usize).div_ceil(PAGE);
        Self {
            storage,
            range,
            active: false,
            seen: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            touched: Mutex::default(),
            written: Vec::new(),
            written_pages: Vec::new(),
        }
    }

    pub fn into_storage(self) -> Storage {
        self.storage
    }

    pub fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        if self.active {
            self.touch(offset, bytes);
        }
        self.storage.slice(offset, bytes)
    }

    pub fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        if self.active {
            self.touch(offset, bytes);
            for page in pages(offset, bytes) {
                let start = page as usize * PAGE;
                let (from, to) = (offset.max(start) - start, (offset + bytes).min(start + PAGE) - start);
                self.mark(page, from, to);
            }
        }
        self.storage.slice_mut(offset, bytes)
    }

    fn touch(&self, offset: usize, bytes: usize) {
        for page in pages(offset, bytes) {
            let (word, bit) = (&self.seen[page as usize / 64], 1 << (page % 64));
            // Readers of the bit need no earlier writes of the setter.
            if word.load(Ordering::Relaxed) & bit == 0 {
                self.meet(page);
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// A page is accessed for the first time, or by several threads at a time.
    fn meet(&self, page: u32) {
        let mut touched = lock(&self.touched);
        if self.seen[page as usize / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 1 {
            return;
        }
        let now = self.now(page);
        if *touched.image(page) != now {
            *touched.image_mut(page) = now;
            touched.changed.push(page);
        }
        touched.pages.push(page);
        // Set with the lock held: the next thread that waits for it sees the bit.
        self.seen[page as usize / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }

    fn mark(&mut self, page: u32, from: usize, to: usize) {
        let index = page as usize;
        if self.written.len() <= index {
            self.written.resize_with(index + 1, || None);
        }
        let pages = &mut self.written_pages;
        let dwords = self.written[index].get_or_insert_with(|| {
            pages.push(page);
            Box::default()
        });
        dwords.add(from, to);
    }

    /// How much of a page the arena has.
    pub fn bytes_of(&self, page: u32) -> usize {
        (self.range.bytes as usize).saturating_sub(page as usize * PAGE).min(PAGE)
    }

    /// A submission begins.
    pub fn begin(&mut self) {
        self.active = true;
    }

    /// It ended: the pages that the host had changed before, in order; [`Self::image`] has their contents. Touching counts from anew.
    pub fn end(&mut self) -> Vec<u32> {
        self.active = false;
        let touched = self.touched.get_mut().unwrap_or_else(PoisonError::into_inner);
        for page in touched.pages.drain(..) {
            *self.seen[page as usize / 64].get_mut() &= !(1 << (page % 64));
        }
        let mut changed = std::mem::take(&mut touched.changed);
        changed.sort_unstable();
        changed
    }

    /// Possible writes of the device since the last call: pages in order, and which of their dwords.
    pub fn take_written(&mut self) -> Vec<(u32, Dwords)> {
        let mut pages = std::mem::take(&mut self.written_pages);
        pages.sort_unstable();
        pages.into_iter().filter_map(|page| Some((page, *self.written[page as usize].take()?))).collect()
    }

    /// The current contents of a page.
    pub fn now(&self, page: u32) -> Page {
        let mut now = [0; PAGE];
        let bytes = self.bytes_of(page);
        self.storage.copy(page as usize * PAGE, &mut now[..bytes]);
        now
    }

    /// The image of a page.
    pub fn image(&mut self, page: u32) -> &Page {
        self.touched.get_mut().unwrap_or_else(PoisonError::into_inner).image(page)
    }

    /// The same, to be changed.
    pub fn image_mut(&mut self, page: u32) -> &mut Page {
        self.touched.get_mut().unwrap_or_else(PoisonError::into_inner).image_mut(page)
    }

    /// The address of a page.
    pub fn address(&self, page: u32) -> GpuAddr {
        GpuAddr(self.range.base.0.wrapping_add(page.wrapping_mul(PAGE as u32)))
    }

    /// The page that begins at this address, if it is one of this arena.
    pub fn page_at(&self, address: GpuAddr) -> Option<u32> {
        let offset = address.0.checked_sub(self.range.base.0).filter(|&offset| offset < self.range.bytes)?;
        let page = PAGE as u32;
        offset.is_multiple_of(page).then_some(offset / page)
    }
}
