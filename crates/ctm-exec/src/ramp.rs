//! Single channels of planes, made with as few operations as give the same bits as [`Plane::at`].

use crate::plane::Plane;
use ctm_isa::x1k::TEMPORARIES;

/// The start value of a channel of a register: one channel of a plane.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// Origin, change per column and change per row.
    of: [f64; 3],
    bits: bool,
}

/// How the values of a ramp are made: `origin + i * di + j * dj`, then that as 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// Single precision makes all sums exactly: [`Single`].
    Single,
    /// Numbers that are rounded to single precision: [`Ramp::rounded`].
    Rounded,
    /// The low 32 bits of whole numbers below 2^51: [`Ramp::bits`].
    Bits,
    /// Those of whole numbers of any size: [`Ramp::any_bits`].
    AnyBits,
}

/// Origin, change per column and change per row of [`Makes::Single`].
#[derive(Clone, Copy, Debug)]
pub struct Single([f32; 3]);

/// Sums of whole numbers below this are exact, in single precision too.
const WHOLE: f64 = 4_194_304.0;
/// The same in double precision.
const DOUBLE: f64 = (1u64 << 52) as f64;
/// A number below 2^51 that is added to this is rounded to a whole one, whose low 32 bits are those of the sum.
const LARGE: f64 = (3u64 << 51) as f64;

impl Ramp {
    /// Of a channel (0..=3) of a register; `None` when no plane covers it, so that it holds 0, or there is no such channel.
    #[must_use]
    pub fn of(register: usize, channel: usize, planes: &[Plane]) -> Option<Self> {
        let covers = |plane: &&Plane| register < TEMPORARIES && usize::from(plane.temp) % TEMPORARIES == register;
        // The last one wins.
        let plane = planes.iter().rev().find(covers).filter(|plane| channel < plane.origin.len())?;
        Some(Self { of: [plane.origin, plane.di, plane.dj].map(|of| of[channel]), bits: plane.bits })
    }

    /// Of numbers with this origin, change per column and change per row.
    pub const fn linear_by(of: [f64; 3]) -> Self {
        Self { of, bits: false }
    }

    /// Origin, change per column and change per row; `None` when it makes bits and not numbers.
    pub fn linear(&self) -> Option<[f64; 3]> {
        (!self.bits).then_some(self.of)
    }

    /// No smaller than any sum on the way, in columns and rows up to these and in the quads that these are in.
    pub fn bound(&self, i: u32, j: u32) -> f64 {
        let [origin, di, dj] = self.of.map(f64::abs);
        // Twice as much leaves room for rounding.
        2.0 * (origin + (f64::from(i) + 1.0) * di + (f64::from(j) + 1.0) * dj)
    }

    /// How they are made in columns and rows up to these.
    pub fn makes(&self, i: u32, j: u32) -> Makes {
        let bound = self.bound(i, j);
        match (self.bits, unit(self.of)) {
            (true, _) if bound < LARGE / 3.0 => Makes::Bits,
            (true, _) => Makes::AnyBits,
            // All sums on the way are multiples of one power of two, and have no more digits than single precision.
            (false, Some(unit)) if bound / unit < 2.0 * WHOLE && i | j < 1 << 31 => Makes::Single,
            (false, _) => Makes::Rounded,
        }
    }

    /// Whether double precision makes all sums exactly, in any order, in columns and rows up to these: all are multiples of one power of two, and have no more digits.
    pub fn is_exact(&self, i: u32, j: u32) -> bool {
        unit(self.of).is_some_and(|unit| self.bound(i, j) / unit < DOUBLE)
    }

    /// Whether neither the values nor their terms are denormals: all are multiples of a normal number.
    pub fn is_normal(&self) -> bool {
        unit(self.of).is_some()
    }

    /// The sum in a column and row.
    #[inline(always)]
    pub fn at(&self, [i, j]: [u32; 2]) -> f64 {
        self.along(i.into(), self.down(j.into()))
    }

    /// The part of [`Self::at`] that the lanes of a row share.
    #[inline(always)]
    pub fn down(&self, j: f64) -> f64 {
        j * self.of[2]
    }

    /// [`Self::at`], given the part of the row.
    #[inline(always)]
    pub fn along(&self, i: f64, down: f64) -> f64 {
        let [origin, di, _] = self.of;
        origin + i * di + down
    }

    /// The sum of the steps of columns and rows.
    #[inline(always)]
    pub fn steps(&self, [i, j]: [f64; 2]) -> f64 {
        i * self.of[1] + j * self.of[2]
    }

    /// The values of [`Makes::Single`].
    #[allow(clippy::cast_possible_truncation, reason = "`Ramp::makes` says that none has more digits")]
    pub fn single(&self) -> Single {
        Single(self.of.map(|x| x as f32))
    }

    /// The bits of all values, if they are numbers that are the same in every column and row.
    pub fn constant(&self) -> Option<u32> {
        let stays = !self.bits && self.of[1..].iter().all(|&change| change == 0.0);
        stays.then(|| self.rounded([0; 2], 1.0))
    }

    /// The sum of the column and row steps. It starts from -0, the neutral element of addition: so a sum with it is -0 only where the whole is.
    pub fn offset(&self, by: [u32; 2]) -> f32 {
        Self { of: [-0.0, self.of[1], self.of[2]], ..*self }.single().at(by)
    }

    /// The sum times a factor, rounded to single precision: as [`Plane::at`] and [`crate::r700::Divisor::at`].
    #[inline(always)]
    pub fn rounded(&self, at: [u32; 2], factor: f64) -> u32 {
        Self::single_of(self.at(at) * factor)
    }

    /// The bits of a number rounded to single precision.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the one rounding that is meant")]
    pub fn single_of(x: f64) -> u32 {
        (x as f32).to_bits()
    }

    /// The value of [`Makes::Bits`] in a column and row.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub fn bits(&self, at: [u32; 2]) -> u32 {
        (self.at(at) + LARGE).to_bits() as u32
    }

    /// The value of [`Makes::AnyBits`] in a column and row: as [`Plane::at`].
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers wrap to their 32 bits")]
    pub fn any_bits(&self, at: [u32; 2]) -> u32 {
        self.at(at).round_ties_even() as i64 as u32
    }
}

impl Single {
    /// The sum in a column and row.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss, reason = "what has more digits is multiplied by zero")]
    pub fn at(&self, at: [u32; 2]) -> f32 {
        let ([origin, di, dj], [i, j]) = (self.0, at.map(|x| x as i32 as f32));
        origin + i * di + j * dj
    }
}

/// The largest power of two, from 1 down to one that leaves room above the smallest normal number, of which all are multiples.
fn unit(of: [f64; 3]) -> Option<f64> {
    // The place of the lowest bit that is set: a double's last bit is worth 2^-1074 times two to its exponent field less one.
    let lowest = |x: &f64| {
        let (field, fraction) = ((x.to_bits() >> 52 & 0x7ff) as i32, x.to_bits() & ((1 << 52) - 1));
        let digits = if field == 0 { fraction } else { fraction | 1 << 52 };
        if digits == 0 { 0 } else { field.max(1) - 1075 + digits.trailing_zeros().cast_signed() }
    };
    let power = of.iter().map(lowest).min().unwrap_or(0).min(0);
    (of.iter().all(|x| x.is_finite()) && power > LEAST_UNIT).then(|| f64::from_bits(((1023 + power) as u64) << 52))
}

/// The power of two that units have to exceed: the square root of the smallest normal number in single precision.
const LEAST_UNIT: i32 = (f32::MIN_EXP - 1) / 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// Truth: each power of two, tried one by one.
    #[test]
    fn the_unit_is_the_largest_power_of_two_of_which_all_are_multiples() {
        let least = f64::from(f32::MIN_POSITIVE.sqrt());
        let tried = |of: [f64; 3]| {
            let halves = std::iter::successors(Some(1.0), |unit| Some(unit / 2.0)).take_while(|&unit| unit > least);
            let mut fitting = halves.into_iter().filter(|unit| of.iter().all(|x| (x / unit).fract() == 0.0));
            if of.iter().all(|x| x.is_finite()) { fitting.next() } else { None }
        };
        let odd = [0.0, -0.0, 1.0, -3.0, 0.1, 1e30, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN, 0.7e-19];
        let powers = (0..140).map(|n| 5.0 * f64::powi(0.5, n));
        let values: Vec<f64> = odd.into_iter().chain(powers).collect();
        for (n, &a) in values.iter().enumerate() {
            for &b in &values {
                let of = [a, b, values[(7 * n + 3) % values.len()]];
                assert_eq!(unit(of), tried(of), "{of:?}");
            }
        }
    }
}
