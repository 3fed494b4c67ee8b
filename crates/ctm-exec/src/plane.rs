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

/// A number that is linear over the domain, by which elements of planes are divided, for perspective start values.
///
/// The element is `(origin + i*di + j*dj) * (1 / divisor)`, each step in double precision, then rounded once to single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divisor<'a> {
    /// The number at (0, 0), and its change by column and row.
    pub of: [f64; 3],
    /// Registers, and which of their elements are divided (bit 0 = x). Planes of bits ([`Plane::bits`]) are not.
    pub elements: &'a [(u8, u8)],
}

impl Divisor<'_> {
    /// One divided by the number at (i, j).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "index pairs have few bits")]
    pub fn reciprocal(&self, i: i64, j: i64) -> f64 {
        let [origin, di, dj] = self.of;
        1.0 / (origin + i as f64 * di + j as f64 * dj)
    }

    /// Whether it divides an element (0..=3) of a plane.
    #[must_use]
    pub fn divides(&self, plane: &Plane, element: usize) -> bool {
        !plane.bits
            && self.elements.iter().any(|&(register, elements)| register == plane.temp && elements >> element & 1 == 1)
    }

    /// The bits of a plane's four elements at (i, j).
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the one rounding that is meant")]
    pub fn at(&self, plane: &Plane, i: i64, j: i64) -> [u32; 4] {
        let mut bits = plane.at(i, j);
        for (element, bits) in bits.iter_mut().enumerate().filter(|(element, _)| self.divides(plane, *element)) {
            *bits = ((plane.value(element, i, j) * self.reciprocal(i, j)) as f32).to_bits();
        }
        bits
    }
}
