//! Depth and stencil tests: comparisons and stencil operations.

use crate::state::{Compare, StencilFace, StencilOp};
use crate::surface::depth::DepthFormat;

impl DepthFormat {
    /// Whether `new compare stored` holds for two stored depths.
    #[must_use]
    pub fn passes(self, compare: Compare, new: u32, stored: u32) -> bool {
        match self {
            // Floats with a sign do not compare as their bits do.
            Self::D32Float | Self::X24S8D32Float => compare.holds(&f32::from_bits(new), &f32::from_bits(stored)),
            _ => compare.holds(&new, &stored),
        }
    }
}

impl StencilFace {
    /// Whether the stencil test passes: `(reference & mask) compare (stored & mask)`.
    #[must_use]
    pub fn passes(&self, reference: u8, stored: u8) -> bool {
        self.compare.holds(&(reference & self.mask), &(stored & self.mask))
    }

    /// The stored value after an operation, through the write mask.
    #[must_use]
    pub const fn after(&self, op: StencilOp, reference: u8, stored: u8) -> u8 {
        let value = match op {
            StencilOp::Keep => stored,
            StencilOp::Zero => 0,
            StencilOp::Replace => reference,
            StencilOp::IncrementClamp => stored.saturating_add(1),
            StencilOp::DecrementClamp => stored.saturating_sub(1),
            StencilOp::Invert => !stored,
            StencilOp::IncrementWrap => stored.wrapping_add(1),
            StencilOp::DecrementWrap => stored.wrapping_sub(1),
        };
        stored & !self.write_mask | value & self.write_mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_compare_as_numbers() {
        assert!(DepthFormat::D32Float.passes(Compare::Less, (-2f32).to_bits(), (-1f32).to_bits()));
        assert!(!DepthFormat::D32Float.passes(Compare::LessEqual, f32::NAN.to_bits(), 0));
        assert!(DepthFormat::D32Float.passes(Compare::NotEqual, f32::NAN.to_bits(), 0));
    }

    #[test]
    fn stencil_operations_go_through_the_write_mask() {
        let face = StencilFace { mask: 0x0f, write_mask: 0xf0, ..StencilFace::default() };
        let table = [
            (StencilOp::Keep, 0xff, 0xff),
            (StencilOp::Zero, 0xff, 0x0f),
            (StencilOp::Replace, 0x0f, 0x3f),
            (StencilOp::IncrementClamp, 0xff, 0xff),
            (StencilOp::DecrementClamp, 0x00, 0x00),
            (StencilOp::Invert, 0xa5, 0x55),
            (StencilOp::IncrementWrap, 0xff, 0x0f),
            (StencilOp::DecrementWrap, 0x00, 0xf0),
        ];
        for (op, stored, expected) in table {
            assert_eq!(face.after(op, 0x3c, stored), expected, "{op:?}");
        }
        let equal = StencilFace { compare: Compare::Equal, ..face };
        assert!(equal.passes(0x15, 0xf5));
        assert!(!equal.passes(0x15, 0xf4));
    }
}
