//! Surfaces that draws write, held open between draws, and textures that have been converted.
//!
//! A draw writes its targets while it reads other memory. So what is written is taken out of memory, and goes back before anything else touches
//! those bytes. Draws that follow each other with the same targets take nothing and bring nothing back.

use super::memory::GpuMemory;
use ctm_exec::r700::resources::Image;
use std::sync::Arc;

/// Bytes of memory that are held outside it.
#[derive(Debug)]
struct Held {
    address: u64,
    bytes: Vec<u8>,
}

/// A texture that has been converted: the words that say what it is, and the ranges that it was read from.
#[derive(Debug)]
struct Converted {
    words: [u32; 7],
    /// For comparisons, which see elements where they are in memory.
    compared: bool,
    ranges: [(u64, u64); 2],
    image: Arc<Image>,
}

/// Most texels of converted textures that are kept.
const MOST_TEXELS: usize = 1 << 24;

/// What is held.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    held: Vec<Held>,
    converted: Vec<Converted>,
    texels: usize,
}

fn overlap((a, a_bytes): (u64, u64), (b, b_bytes): (u64, u64)) -> bool {
    a < b.saturating_add(b_bytes) && b < a.saturating_add(a_bytes)
}

impl Surfaces {
    /// Brings back what is held of a range.
    pub(super) fn bring_back(&mut self, memory: &mut dyn GpuMemory, range: (u64, u64)) {
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

    /// Brings everything back, and forgets textures: others may write memory now.
    pub(super) fn bring_back_all(&mut self, memory: &mut dyn GpuMemory) {
        self.held.drain(..).for_each(|held| store(memory, &held));
        self.converted.clear();
        self.texels = 0;
    }

    /// Takes a range out of memory. It has to be put back by [`Self::put`].
    pub(super) fn take(&mut self, memory: &mut dyn GpuMemory, address: u64, length: u64) -> Option<Vec<u8>> {
        let same = |held: &Held| held.address == address && held.bytes.len() as u64 == length;
        self.written((address, length));
        if let Some(at) = self.held.iter().position(same) {
            return Some(self.held.swap_remove(at).bytes);
        }
        self.bring_back(memory, (address, length));
        memory.bytes(address, length).map(<[u8]>::to_vec)
    }

    /// Keeps what was taken.
    pub(super) fn put(&mut self, address: u64, bytes: Vec<u8>) {
        self.held.push(Held { address, bytes });
    }

    /// Textures that were read from a range are no longer what memory holds.
    pub(super) fn written(&mut self, range: (u64, u64)) {
        let before = self.converted.len();
        self.converted.retain(|of| !of.ranges.iter().any(|&part| overlap(part, range)));
        if self.converted.len() != before {
            self.texels = self.converted.iter().map(|of| texels(&of.image)).sum();
        }
    }

    /// A texture that has been converted.
    pub(super) fn texture(&self, words: &[u32; 7], compared: bool) -> Option<Arc<Image>> {
        self.converted.iter().find(|of| of.words == *words && of.compared == compared).map(|of| of.image.clone())
    }

    /// Keeps a converted texture.
    pub(super) fn keep_texture(
        &mut self,
        (words, compared): ([u32; 7], bool),
        ranges: [(u64, u64); 2],
        image: Arc<Image>,
    ) {
        let count = texels(&image);
        if self.texels + count > MOST_TEXELS {
            self.converted.clear();
            self.texels = 0;
        }
        self.texels += count;
        self.converted.push(Converted { words, compared, ranges, image });
    }
}

fn texels(image: &Image) -> usize {
    image.levels.iter().map(Vec::len).sum()
}

fn store(memory: &mut dyn GpuMemory, held: &Held) {
    if let Some(bytes) = memory.bytes_mut(held.address, held.bytes.len() as u64) {
        bytes.copy_from_slice(&held.bytes);
    }
}
