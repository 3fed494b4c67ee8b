//! A cache of targets between draws, and of converted textures.
//!
//! A draw writes its targets while it reads other memory. Where they lie apart, targets are borrowed (`memory`). Otherwise they are taken out of memory, and go back before anything
//! else touches those bytes; draws that follow each other with the same targets then take nothing and bring nothing back.

use super::converted::{ReadTexels, TextureImage};
use super::memory::{BufferId, GpuMemory};
use super::textures::TextureWords;
use ctm_draw::FastClear;
use ctm_draw::layout::Layout;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of memory that are held outside it.
#[derive(Debug)]
struct Held {
    address: u64,
    bytes: Vec<u8>,
}

/// Fast clears of a target.
#[derive(Debug)]
struct Cleared {
    /// The first byte of slice 0.
    address: u64,
    clear: FastClear,
    /// Some of its parts are cleared.
    is_marked: bool,
}

impl Cleared {
    fn range(&self) -> (u64, u64) {
        let (first, bytes) = self.clear.range();
        (self.address.saturating_add(first), bytes)
    }

    /// Writes the values of all cleared parts to memory.
    fn store(&mut self, memory: &mut dyn GpuMemory) {
        let (first, bytes) = self.clear.range();
        if let Some(bytes) = memory.bytes_mut(self.address, first + bytes) {
            self.clear.store(bytes);
        }
        self.is_marked = false;
    }
}

/// Most targets whose fast clears are kept, and most rows of them.
const MOST_CLEARS: usize = 16;
const MOST_CLEARED_ROWS: u32 = 4096;

/// A converted texture: the words that describe it, and the memory it was read from.
#[derive(Debug)]
struct Converted {
    words: [u32; 7],
    read: ReadTexels,
    from: [ReadRange; 2],
    /// No stream has written the bytes that it was read from.
    is_current: bool,
    /// Others than streams may have, since the last stream.
    is_old: bool,
    /// The buffers with these bytes, where streams alone write them.
    own: [Option<BufferId>; 2],
    /// When it was asked for: see [`Surfaces::uses`].
    last_use: u64,
    image: Arc<TextureImage>,
}

/// A range of memory that was read, and its bytes then.
#[derive(Debug)]
struct ReadRange {
    range: (u64, u64),
    bytes: Vec<u8>,
}

/// Most bytes of converted textures in the cache, the largest not counted, and most textures.
const MOST_BYTES: usize = 1 << 29;
const MOST_TEXTURES: usize = 1024;

/// Cached targets and textures.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    held: Vec<Held>,
    clears: Vec<Cleared>,
    converted: Vec<Converted>,
    /// Textures are converted on one thread.
    pub(super) one_thread: bool,
    /// A debugger or checker observes draws, and may show all elements of texels.
    pub(super) are_observed: bool,
    /// Bytes of all of their texels.
    size_bytes: usize,
    /// How often textures were asked for.
    uses: u64,
    /// The memory of textures by their words: to decode these takes as long as a small draw.
    ranges: FxHashMap<[u32; 7], Option<[(u64, u64); 2]>>,
}

/// Whether two ranges, by their first bytes and lengths, have a byte in common.
pub(super) fn overlap((a, a_bytes): (u64, u64), (b, b_bytes): (u64, u64)) -> bool {
    a < b.saturating_add(b_bytes) && b < a.saturating_add(a_bytes)
}

impl Surfaces {
    /// The memory of a texture; `None` where its words are wrong.
    pub(super) fn ranges_of(&mut self, words: &[u32; 7]) -> Option<[(u64, u64); 2]> {
        if self.ranges.len() >= MOST_TEXTURES {
            self.ranges.clear();
        }
        *self.ranges.entry(*words).or_insert_with(|| TextureWords::of(words).ok().map(|of| of.ranges()))
    }

    /// The part of a texture's texels that draws read, by the elements that a program's lookups return.
    pub(super) fn read(&self, words: &[u32; 7], compared: bool, elements: u8) -> ReadTexels {
        if compared {
            return ReadTexels::Compared;
        }
        if self.are_observed { ReadTexels::WHOLE } else { ReadTexels::of(words, elements) }
    }

    /// Takes the fast clears that the last stream left in memory.
    pub(super) fn begin(&mut self, memory: &mut dyn GpuMemory) {
        for (address, clear) in memory.take_clears() {
            self.clears.retain(|of| of.address != address || !of.clear.is_same_target(&clear));
            self.clears.push(Cleared { address, clear, is_marked: true });
        }
    }

    /// Lends the fast clears of a target to a draw, until [`Self::put_clear`]; none where the target has several slices.
    pub(super) fn take_clear(
        &mut self,
        memory: &mut dyn GpuMemory,
        address: u64,
        (layout, [slice, last]): (Layout, [u32; 2]),
    ) -> Option<FastClear> {
        let same = |of: &Cleared| of.address == address && of.clear.is_of(&layout, slice);
        if slice != last || layout.height > MOST_CLEARED_ROWS {
            return None;
        }
        if let Some(at) = self.clears.iter().position(same) {
            return Some(self.clears.remove(at).clear);
        }
        while self.clears.len() >= MOST_CLEARS {
            self.clears.remove(0).store(memory);
        }
        Some(FastClear::new(layout, slice))
    }

    /// Ends the loan.
    pub(super) fn put_clear(&mut self, address: u64, clear: FastClear) {
        let is_marked = !clear.is_empty();
        self.clears.push(Cleared { address, clear, is_marked });
    }

    /// Whether some part of a target is cleared, and memory out of date.
    pub(super) fn has_clears(&self) -> bool {
        self.clears.iter().any(|of| of.is_marked)
    }

    /// Stores the fast clears of a range, those that no draw has.
    pub(super) fn store_clears(&mut self, memory: &mut dyn GpuMemory, range: (u64, u64)) {
        let marked = self.clears.iter_mut().filter(|of| of.is_marked);
        marked.filter(|of| overlap(of.range(), range)).for_each(|of| of.store(memory));
    }

    /// Writes the cached targets of a range back to memory.
    pub(super) fn bring_back(&mut self, memory: &mut dyn GpuMemory, range: (u64, u64)) {
        self.store_clears(memory, range);
        let mut at = 0;
        while at < self.held.len() {
            let held = &self.held[at];
            if overlap((held.address, held.bytes.len() as u64), range) {
                let held = self.held.swap_remove(at);
                store(memory, &held);
            } else {
                at += 1;
            }
        }
    }

    /// Writes all cached targets back to memory.
    pub(super) fn release(&mut self, memory: &mut dyn GpuMemory) {
        self.held.drain(..).for_each(|held| store(memory, &held));
    }

    /// Writes everything back: others may write memory now, so that textures must be compared with it before their next use.
    pub(super) fn bring_back_all(&mut self, memory: &mut dyn GpuMemory) {
        self.clears.iter_mut().filter(|of| of.is_marked).for_each(|of| of.store(memory));
        self.end(memory);
    }

    /// The same at the end of a stream, but for fast clears that memory keeps.
    pub(super) fn end(&mut self, memory: &mut dyn GpuMemory) {
        for of in self.clears.iter_mut().filter(|of| of.is_marked) {
            if memory.keep_clear(of.address, &of.clear) {
                of.clear.forget();
                of.is_marked = false;
            } else {
                of.store(memory);
            }
        }
        self.release(memory);
        self.converted.iter_mut().for_each(|of| of.is_old = true);
    }

    /// Takes a range out of memory, until [`Self::put`].
    pub(super) fn take(&mut self, memory: &mut dyn GpuMemory, address: u64, length: u64) -> Option<Vec<u8>> {
        let same = |held: &Held| held.address == address && held.bytes.len() as u64 == length;
        self.written((address, length));
        if let Some(at) = self.held.iter().position(same) {
            return Some(self.held.swap_remove(at).bytes);
        }
        self.bring_back(memory, (address, length));
        memory.bytes(address, length).map(<[u8]>::to_vec)
    }

    /// Caches a target's bytes.
    pub(super) fn put(&mut self, address: u64, bytes: Vec<u8>) {
        self.held.push(Held { address, bytes });
    }

    /// Marks the textures that were read from a range as possibly out of date.
    pub(super) fn written(&mut self, range: (u64, u64)) {
        for of in &mut self.converted {
            of.is_current &= !of.from.iter().any(|part| overlap(part.range, range));
        }
    }

    /// A converted texture, if memory still has the bytes that it was read from. Cached targets in its ranges were written back before.
    pub(super) fn texture(
        &mut self,
        memory: &dyn GpuMemory,
        words: &[u32; 7],
        read: ReadTexels,
    ) -> Option<Arc<TextureImage>> {
        let at = self.converted.iter().position(|of| of.words == *words && of.read == read)?;
        self.uses += 1;
        let of = &mut self.converted[at];
        of.last_use = self.uses;
        if of.is_current && (!of.is_old || of.is_own(memory)) {
            of.is_old = false;
            return Some(of.image.clone());
        }
        if of.from.iter().all(|part| part.is_held_by(memory)) || of.refresh(memory, self.one_thread) {
            (of.is_current, of.is_old, of.own) = (true, false, of.owners(memory));
            return Some(of.image.clone());
        }
        let gone = self.converted.remove(at);
        self.size_bytes -= gone.image.size_bytes();
        None
    }

    /// Caches a converted texture, and drops the least recently used ones where there are too many.
    pub(super) fn keep_texture(
        &mut self,
        memory: &dyn GpuMemory,
        (words, read): ([u32; 7], ReadTexels),
        ranges: [(u64, u64); 2],
        image: Arc<TextureImage>,
    ) {
        let size = image.size_bytes();
        // One may be larger than the limit for all others together: it is cached besides them.
        let largest = |of: &[Converted]| of.iter().map(|of| of.image.size_bytes()).max().unwrap_or(0).max(size);
        while !self.converted.is_empty()
            && (self.size_bytes + size - largest(&self.converted) > MOST_BYTES || self.converted.len() >= MOST_TEXTURES)
        {
            let oldest = (0..self.converted.len()).min_by_key(|&at| self.converted[at].last_use).unwrap_or(0);
            let gone = self.converted.swap_remove(oldest);
            self.size_bytes -= gone.image.size_bytes();
        }
        self.size_bytes += size;
        let of = |range: (u64, u64)| memory.bytes(range.0, range.1).unwrap_or_default().to_vec();
        let from = ranges.map(|range| ReadRange { range, bytes: of(range) });
        self.uses += 1;
        let (is_current, is_old, own) = (true, false, [None; 2]);
        let mut new = Converted { words, read, from, is_current, is_old, own, last_use: self.uses, image };
        new.own = new.owners(memory);
        self.converted.push(new);
    }
}

impl Converted {
    /// The buffers with its bytes, where streams alone write them.
    fn owners(&self, memory: &dyn GpuMemory) -> [Option<BufferId>; 2] {
        self.from.each_ref().map(|part| memory.own_buffer(part.range.0, part.range.1))
    }

    /// Whether its bytes are those of the same buffers as before, which only streams can have written since.
    fn is_own(&self, memory: &dyn GpuMemory) -> bool {
        let owners = self.owners(memory);
        let is_own = |n: usize| self.from[n].range.1 == 0 || owners[n].is_some() && owners[n] == self.own[n];
        is_own(0) && is_own(1)
    }

    /// Converts the parts again whose bytes have changed: drivers read whole pictures back after every small draw, and draw to one layer after the
    /// other.
    fn refresh(&mut self, memory: &dyn GpuMemory, one_thread: bool) -> bool {
        let Ok(words) = TextureWords::of(&self.words) else { return false };
        let Some(image) = Arc::get_mut(&mut self.image) else { return false };
        let old = self.from.each_mut().map(|part| part.bytes.as_mut_slice());
        words.refresh(image, memory, (self.read, one_thread), old)
    }
}

impl ReadRange {
    /// Whether memory still has the same bytes. `false` for ranges that are partly outside of it.
    fn is_held_by(&self, memory: &dyn GpuMemory) -> bool {
        let (address, length) = self.range;
        length == 0 || memory.bytes(address, length) == Some(&self.bytes)
    }
}

fn store(memory: &mut dyn GpuMemory, held: &Held) {
    if let Some(bytes) = memory.bytes_mut(held.address, held.bytes.len() as u64) {
        bytes.copy_from_slice(&held.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Buffers;
    use crate::execute::textures::tests::words;
    use ctm_testkit::seeded::Random;

    /// Memory whose buffers have an owner, which may change.
    struct Owned(Buffers, Option<BufferId>);

    impl GpuMemory for Owned {
        fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
            self.0.bytes(address, length)
        }

        fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
            self.0.bytes_mut(address, length)
        }

        fn own_buffer(&self, _: u64, _: u64) -> Option<BufferId> {
            self.1
        }
    }

    /// The promise of memory decides whether bytes are compared: here it is broken, so that this shows.
    #[test]
    fn textures_in_buffers_of_streams_are_compared_after_writes_of_streams_only() {
        let mut r = Random::new(3);
        let filled = |by: u8| {
            let mut memory = Owned(Buffers::default(), Some([1, 2, 3]));
            for start in [0, 1 << 20] {
                memory.0.insert(start, vec![by; 1 << 20]);
            }
            memory
        };
        // One whose texels differ for all bytes below.
        let (words, of) = loop {
            let words = words(&mut r);
            let Ok(of) = TextureWords::of(&words) else { continue };
            let images = [0, 0x55, 0xaa, 0x33, 0x77].map(|by| of.converted(&filled(by), ReadTexels::WHOLE, true).ok());
            let differ = |n: usize| images[n].is_some() && images[..n].iter().all(|other| *other != images[n]);
            if (0..images.len()).all(differ) {
                break (words, of);
            }
        };
        let mut memory = filled(0);
        let mut surfaces = Surfaces::default();
        let before = of.converted(&memory, ReadTexels::WHOLE, true).unwrap();
        surfaces.keep_texture(&memory, (words, ReadTexels::WHOLE), of.ranges(), Arc::new(before));
        let range = of.ranges()[0];
        let change = |surfaces: &mut Surfaces, memory: &mut Owned, by: u8| {
            surfaces.bring_back_all(memory);
            memory.bytes_mut(range.0, range.1).unwrap().fill(by);
        };
        let is_new = |surfaces: &mut Surfaces, memory: &Owned| {
            let new = of.converted(memory, ReadTexels::WHOLE, true).unwrap();
            surfaces.texture(memory, &words, ReadTexels::WHOLE).is_some_and(|kept| *kept == new)
        };
        change(&mut surfaces, &mut memory, 0x55);
        assert!(!is_new(&mut surfaces, &memory), "it was compared");
        // A stream writes it.
        surfaces.written(range);
        assert!(is_new(&mut surfaces, &memory));
        // Another buffer lies there.
        change(&mut surfaces, &mut memory, 0xaa);
        memory.1 = Some([1, 2, 4]);
        assert!(is_new(&mut surfaces, &memory));
        // Others write it from now on.
        change(&mut surfaces, &mut memory, 0x33);
        memory.1 = None;
        assert!(is_new(&mut surfaces, &memory));
        change(&mut surfaces, &mut memory, 0x77);
        assert!(is_new(&mut surfaces, &memory));
    }

    #[test]
    fn a_kept_texture_follows_memory() {
        let mut r = Random::new(2);
        let (mut surfaces, mut followed) = (Surfaces::default(), 0);
        for case in 0..200 {
            let words = words(&mut r);
            let Ok(of) = TextureWords::of(&words) else { continue };
            let mut memory = Buffers::default();
            for start in [0, 1 << 20] {
                memory.insert(start, (0..1 << 20).map(|_| r.below(256) as u8).collect());
            }
            let Ok(before) = of.converted(&memory, ReadTexels::WHOLE, true) else { continue };
            surfaces.keep_texture(&memory, (words, ReadTexels::WHOLE), of.ranges(), Arc::new(before.clone()));
            // The host writes a byte of level 0, and the texture is requested twice.
            surfaces.bring_back_all(&mut memory);
            let (start, bytes) = of.ranges()[0];
            if let Some(byte) = memory.bytes_mut(start + r.below(bytes as usize) as u64, 1) {
                byte[0] ^= 0x80;
            }
            let after = of.converted(&memory, ReadTexels::WHOLE, true).unwrap_or_else(|e| panic!("case {case}: {e}"));
            for _ in 0..2 {
                let kept = surfaces
                    .texture(&memory, &words, ReadTexels::WHOLE)
                    .unwrap_or_else(|| panic!("case {case}: it is gone"));
                assert!(*kept == after, "case {case}: {of:?}");
            }
            followed += u32::from(before != after);
            surfaces = Surfaces::default();
        }
        assert!(followed > 10, "{followed} textures changed");
    }
}
