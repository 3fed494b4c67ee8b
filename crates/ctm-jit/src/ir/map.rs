//! Tables for looking things up while compiling.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A table that is quick to ask.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// A hasher for what a compiler counts and names: multiply and rotate. Nothing hostile is hashed that could do more than slow one compilation down.
#[derive(Default)]
pub struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        // Tables look at the lowest bits, which products mix least.
        self.0.rotate_left(26)
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }
    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// Operations of a block that were made, found by what they are. Whoever looks gives a hash of it.
#[derive(Debug)]
pub struct Made {
    /// Hashes, and one more than the place; 0: free. As many as a power of two.
    slots: Vec<(u32, u32)>,
    count: usize,
}

impl Default for Made {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 64], count: 0 }
    }
}

impl Made {
    /// Forgets all.
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.slots.fill((0, 0));
            self.count = 0;
        }
    }

    /// The place of what has this hash and `is` what is looked for.
    #[inline]
    pub fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let last = self.slots.len() - 1;
        let mut at = hash as usize & last;
        loop {
            match self.slots[at] {
                (_, 0) => return None,
                (of, number) if of == hash && is(number - 1) => return Some(number - 1),
                _ => at = (at + 1) & last,
            }
        }
    }

    /// Adds what has this hash, at this place; it is not there yet.
    #[inline]
    pub fn add(&mut self, hash: u32, place: u32) {
        let last = self.slots.len() - 1;
        let mut at = hash as usize & last;
        while self.slots[at].1 > 0 {
            at = (at + 1) & last;
        }
        self.slots[at] = (hash, place + 1);
        self.count += 1;
        if 2 * self.count > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = 4 * self.slots.len();
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for slot in old.into_iter().filter(|slot| slot.1 > 0) {
            let mut at = slot.0 as usize & (size - 1);
            while self.slots[at].1 > 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }
}

/// A hash, for [`Made`].
#[inline]
pub fn hash_of(of: &impl Hash) -> u32 {
    let mut hasher = QuickHasher::default();
    of.hash(&mut hasher);
    (hasher.finish() >> 16) as u32
}
