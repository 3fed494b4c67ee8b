//! What variables hold at the start: planes over the domain.

use crate::ir::masked::Var;
use crate::launch::lanes::Row;
use ctm_exec::r700::Divisor;
use ctm_exec::x1k::Plane;
use ctm_isa::x1k::TEMPORARIES;

/// The values that a variable has at the start: one channel of a plane.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// Origin, change per column and change per row.
    of: [f64; 3],
    bits: bool,
}

/// What code makes start values of: `origin + i * di + j * dj`.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// In that order; all of them, and all sums, are finite.
    pub of: [f64; 3],
    /// What is made of the sum.
    pub makes: Makes,
}

impl Coefficients {
    /// Whether no start value is a denormal, nor is what it is made of: all are multiples of a normal number.
    pub fn are_normal(&self) -> bool {
        unit(self.of).is_some()
    }
}

/// What becomes of a start value that has been summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A number in single precision.
    Single = 0,
    /// The low 32 bits of a whole number below 2^62.
    Bits = 1,
    /// A number in single precision, multiplied by the reciprocal of the launch's divisor before.
    Quotient = 2,
}

/// Sums of whole numbers below this are exact, in single precision too.
const WHOLE: f64 = 4_194_304.0;

impl Ramp {
    /// Of a variable; `None` when no plane covers it, so that it holds 0.
    pub fn of(var: Var, planes: &[Plane]) -> Option<Self> {
        let (register, channel) = (var.index() / 4, var.index() % 4);
        let covers = |plane: &&Plane| register < TEMPORARIES && usize::from(plane.temp) % TEMPORARIES == register;
        // The last one wins.
        planes
            .iter()
            .rev()
            .find(covers)
            .map(|plane| Self { of: [plane.origin, plane.di, plane.dj].map(|of| of[channel]), bits: plane.bits })
    }

    /// Origin, change per column and change per row; `None` when it makes bits and not numbers.
    pub fn linear(&self) -> Option<[f64; 3]> {
        (!self.bits).then_some(self.of)
    }

    /// No smaller than any sum on the way, in columns and rows up to these and in the quads that these are in.
    pub fn bound(&self, i: u32, j: u32) -> f64 {
        let [origin, di, dj] = self.of.map(f64::abs);
        // Twice as much leaves room for what rounding adds.
        2.0 * (origin + (f64::from(i) + 1.0) * di + (f64::from(j) + 1.0) * dj)
    }

    /// What code makes it of, in columns and rows up to these; `None` where the bits of NaNs, or what saturates, would matter.
    pub fn coefficients(&self, i: u32, j: u32) -> Option<Coefficients> {
        let bound = self.bound(i, j);
        let fits = bound.is_finite() && (!self.bits || bound < (1u64 << 62) as f64);
        fits.then_some(Coefficients { of: self.of, makes: if self.bits { Makes::Bits } else { Makes::Single } })
    }

    /// What 16 lanes hold where it is divided: as [`Divisor::at`].
    #[allow(clippy::cast_possible_truncation, reason = "the one rounding that is meant")]
    pub fn divided(&self, [i, j]: [&Row; 2], divisor: &Divisor<'_>) -> Row {
        std::array::from_fn(|lane| {
            let reciprocal = divisor.reciprocal(i[lane].into(), j[lane].into());
            ((self.at(i[lane], j[lane]) * reciprocal) as f32).to_bits()
        })
    }

    /// Whether single precision makes it exactly, in columns and rows up to these: all sums on the way are multiples of one power of two, and have no more digits
    /// than single precision.
    pub fn is_exact(&self, i: u32, j: u32) -> bool {
        !self.bits && unit(self.of).is_some_and(|unit| self.bound(i, j) / unit < 2.0 * WHOLE)
    }

    fn at(&self, i: u32, j: u32) -> f64 {
        let [origin, di, dj] = self.of;
        origin + f64::from(i) * di + f64::from(j) * dj
    }

    /// What 16 lanes hold in these columns and rows: as [`Plane::at`].
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the one rounding that is meant; integers wrap to their 32 bits"
    )]
    pub fn row(&self, [i, j]: [&Row; 2]) -> Row {
        if self.bits {
            std::array::from_fn(|lane| self.at(i[lane], j[lane]).round_ties_even() as i64 as u32)
        } else {
            std::array::from_fn(|lane| (self.at(i[lane], j[lane]) as f32).to_bits())
        }
    }
}

/// The largest power of two, from 1 down to one that leaves room above the smallest normal number, of which all are multiples.
fn unit(of: [f64; 3]) -> Option<f64> {
    let least = f64::from(f32::MIN_POSITIVE.sqrt());
    let halves = std::iter::successors(Some(1.0), |unit| Some(unit / 2.0)).take_while(|&unit| unit > least);
    of.iter()
        .all(|x| x.is_finite())
        .then(|| halves.into_iter().find(|unit| of.iter().all(|x| (x / unit).fract() == 0.0)))?
}
