//! Start values of registers that are planes over the domain.

/// The start value of a register (X1K: temporary): `origin + i*di + j*dj` per channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The register, 0..=127.
    pub temp: u8,
    /// Value at (0, 0).
    pub origin: [f64; 4],
    /// Change per column.
    pub di: [f64; 4],
    /// Change per row.
    pub dj: [f64; 4],
    /// The value is rounded to an integer whose 32 bits are stored; otherwise to a single-precision number.
    pub bits: bool,
}

impl Plane {
    /// The index pair as `(i, j, 0, 0)`.
    #[must_use]
    pub const fn position(temp: u8) -> Self {
        Self { temp, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0, 1.0, 0.0, 0.0], bits: false }
    }

    /// A channel (0..=3) at (i, j), not rounded yet.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "index pairs have few bits")]
    pub fn value(&self, channel: usize, i: i64, j: i64) -> f64 {
        self.origin[channel] + i as f64 * self.di[channel] + j as f64 * self.dj[channel]
    }

    /// The bits of the four channels at (i, j): computed in double precision, rounded once.
    ///
    /// `i` and `j` are signed because the uncovered lanes of a quad may lie outside the domain.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the one rounding that is meant; integers wrap to their 32 bits"
    )]
    pub fn at(&self, i: i64, j: i64) -> [u32; 4] {
        std::array::from_fn(|c| {
            let value = self.value(c, i, j);
            if self.bits { value.round_ties_even() as i64 as u32 } else { (value as f32).to_bits() }
        })
    }
}
