//! Tables for looking things up while compiling.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
