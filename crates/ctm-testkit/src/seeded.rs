//! A small generator of numbers that are the same in every run (xorshift64*).

/// The generator.
pub struct Random(u64);

#[allow(dead_code, reason = "not every test program needs every method")]
impl Random {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Any word.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.word() as usize % limit
    }

    /// A coin.
    pub fn flag(&mut self) -> bool {
        self.word() & 1 != 0
    }
}
