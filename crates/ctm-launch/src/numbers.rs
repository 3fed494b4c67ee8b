//! Sets of constants by number, without allocations.

/// Constants of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstantBank {
    /// Up to 256 floating-point constants.
    Floats,
    /// Up to 32 integer or loop constants.
    Integers,
    /// Up to 32 boolean constants.
    Booleans,
}

/// The constants that a launch gives: bits 0 to 255 are the floating-point ones, then 32 of each other bank.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivenConstants([u64; 5]);

impl GivenConstants {
    fn bit(bank: ConstantBank, number: usize) -> (usize, u64) {
        let bit = match bank {
            ConstantBank::Floats => number % 256,
            ConstantBank::Integers => 256 + number % 32,
            ConstantBank::Booleans => 288 + number % 32,
        };
        (bit / 64, 1 << (bit % 64))
    }

    /// Whether the constant is given.
    pub fn contains(&self, bank: ConstantBank, number: usize) -> bool {
        let (word, bit) = Self::bit(bank, number);
        self.0[word] & bit != 0
    }

    /// Adds a constant; whether it was not there.
    pub fn insert(&mut self, bank: ConstantBank, number: usize) -> bool {
        let (word, bit) = Self::bit(bank, number);
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}
