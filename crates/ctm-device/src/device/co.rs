//! The Conditional Output Unit (CTM §2.1.3): a test of the conditional value against the conditional buffer.

use crate::commands::{CondLoc, CondTest};
use crate::mc::Surface;
use ctm_exec::float::number;

/// Whether the conditional value `v` passes the test against `b`, the value in the conditional buffer; both are the bits
/// of single-precision numbers.
///
/// Denormals count as zero, as in every comparison of the array (CTM §3.6.1); NaN is only ever not equal.
#[must_use]
pub fn passes(test: CondTest, v: u32, b: u32) -> bool {
    let (v, b) = (number(v), number(b));
    match test {
        CondTest::Never => false,
        CondTest::Less => v < b,
        CondTest::LessEqual => v <= b,
        CondTest::Equal => v == b,
        CondTest::GreaterEqual => v >= b,
        CondTest::Greater => v > b,
        CondTest::NotEqual => v != b,
        CondTest::Always => true,
    }
}

/// The unit's registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionalUnit {
    /// For whom the test is made.
    pub location: CondLoc,
    /// The test.
    pub test: CondTest,
    /// The conditional value of `set_cond_val`: the bits of a single-precision number.
    pub value: u32,
    /// The conditional buffer; its channel 0 is compared.
    pub buffer: Option<Surface>,
    /// Whether a value that passes is written to the conditional buffer.
    pub write: bool,
}

impl Default for ConditionalUnit {
    /// Nothing is held back: the test always passes. There is no buffer, so nothing is written.
    fn default() -> Self {
        Self { location: CondLoc::Dpp, test: CondTest::Always, value: 0, buffer: None, write: true }
    }
}

impl ConditionalUnit {
    /// Whether the test reads the conditional buffer.
    #[must_use]
    pub const fn compares(&self) -> bool {
        !matches!(self.test, CondTest::Never | CondTest::Always)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_the_guides() {
        const NAN: f32 = f32::NAN;
        // v, b, and which tests pass, in the order of their numbers (CTM §2.2.3)
        let table: [(f32, f32, [u8; 8]); 8] = [
            (1.0, 2.0, [0, 1, 1, 0, 0, 0, 1, 1]),
            (2.0, 2.0, [0, 0, 1, 1, 1, 0, 0, 1]),
            (3.0, 2.0, [0, 0, 0, 0, 1, 1, 1, 1]),
            (-0.0, 0.0, [0, 0, 1, 1, 1, 0, 0, 1]),
            (1e-40, 0.0, [0, 0, 1, 1, 1, 0, 0, 1]),
            (NAN, 0.0, [0, 0, 0, 0, 0, 0, 1, 1]),
            (0.0, NAN, [0, 0, 0, 0, 0, 0, 1, 1]),
            (f32::NEG_INFINITY, f32::INFINITY, [0, 1, 1, 0, 0, 0, 1, 1]),
        ];
        for (v, b, expected) in table {
            let found: Vec<_> = CondTest::ALL.iter().map(|&t| u8::from(passes(t, v.to_bits(), b.to_bits()))).collect();
            assert_eq!(found, expected, "{v} {b}");
        }
    }
}
