//! Where the lanes of a group lie, and what they start with.

use crate::ir::masked::Var;
use crate::launch::lanes::{LANES, Mask, Row};
use ctm_exec::r700::Divisor;
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, Position};
use ctm_isa::x1k::TEMPORARIES;

/// The quads of a domain in groups: aligned to even index pairs, row by row, continuous across row ends (CTM §2.1.2).
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    domain: Domain,
    quads_per_row: u64,
    quads: u64,
    quads_per_group: u64,
    /// The domain consists of whole quads.
    whole: bool,
}

/// The index pairs of a group's lanes.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Columns.
    pub i: Row,
    /// Rows.
    pub j: Row,
}

/// Four quads side by side.
const IN_ROW: Places =
    Places { i: [0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7], j: [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1] };

impl Places {
    /// Whether the quads lie side by side: columns `i[0]` to `i[0] + 7`, rows `j[0]` and `j[0] + 1`.
    pub const fn in_row(&self) -> bool {
        self.j[LANES - 1] == self.j[0] + 1
    }

    /// Of one lane.
    pub const fn position(&self, lane: usize) -> Position {
        Position { i: self.i[lane], j: self.j[lane] }
    }
}

impl Grid {
    /// The groups of `lanes` lanes that cover the domain.
    pub fn new(domain: Domain, lanes: usize) -> Self {
        let empty = domain.width() == 0 || domain.height() == 0;
        let span = |first: u32, last: u32| if empty { 0 } else { u64::from(last / 2 - first / 2) + 1 };
        let quads_per_row = span(domain.i0, domain.i1);
        let quads = quads_per_row * span(domain.j0, domain.j1);
        let whole = (domain.i0 | domain.j0) & 1 == 0 && domain.i1 & domain.j1 & 1 == 1;
        Self { domain, quads_per_row, quads, quads_per_group: (lanes / 4).max(1) as u64, whole }
    }

    /// Whether the domain consists of whole quads.
    pub const fn is_whole(&self) -> bool {
        self.whole
    }

    /// How many groups there are.
    #[cfg(test)]
    pub const fn groups(&self) -> u64 {
        self.quads.div_ceil(self.quads_per_group)
    }

    /// How many of them have all their lanes.
    pub const fn full_groups(&self) -> u64 {
        self.quads / self.quads_per_group
    }

    /// Lanes of the group behind the full ones.
    pub const fn lanes_of_last(&self) -> usize {
        4 * (self.quads % self.quads_per_group) as usize
    }

    /// The lanes of a group; what lies beyond the last quad has no meaning.
    pub const fn places(&self, group: u64) -> Places {
        let first = group * self.quads_per_group;
        let (mut column, mut row) = (first % self.quads_per_row, first / self.quads_per_row);
        let mut places = Places { i: [0; LANES], j: [0; LANES] };
        if column + (LANES / 4) as u64 <= self.quads_per_row {
            // The usual case: all in one row.
            let i = (self.domain.i0 & !1) + 2 * column as u32;
            let j = (self.domain.j0 & !1) + 2 * row as u32;
            let mut lane = 0;
            while lane < LANES {
                places.i[lane] = i + IN_ROW.i[lane];
                places.j[lane] = j + IN_ROW.j[lane];
                lane += 1;
            }
            return places;
        }
        let mut quad = 0;
        while quad < LANES / 4 {
            let i = (self.domain.i0 & !1) + 2 * column as u32;
            let j = (self.domain.j0 & !1) + 2 * row as u32;
            let lane = 4 * quad;
            (places.i[lane], places.i[lane + 1], places.i[lane + 2], places.i[lane + 3]) = (i, i + 1, i, i + 1);
            (places.j[lane], places.j[lane + 1], places.j[lane + 2], places.j[lane + 3]) = (j, j, j + 1, j + 1);
            column += 1;
            if column == self.quads_per_row {
                (column, row) = (0, row + 1);
            }
            quad += 1;
        }
        places
    }

    /// How many groups from this one on, and before `end`, lie side by side in one row of quads, with all their lanes in the domain. Only
    /// groups of four quads do.
    pub const fn side_by_side(&self, group: u64, end: u64) -> u64 {
        const QUADS: u64 = (LANES / 4) as u64;
        if self.quads_per_group != QUADS || group >= end {
            return 0;
        }
        let first = group * QUADS;
        let (column, row) = (first % self.quads_per_row, first / self.quads_per_row);
        let domain = &self.domain;
        let (top, left) = ((domain.j0 & !1) as u64 + 2 * row, (domain.i0 & !1) as u64 + 2 * column);
        if top < domain.j0 as u64 || top >= domain.j1 as u64 || left < domain.i0 as u64 {
            return 0;
        }
        // The last column may hold half quads.
        let whole = if domain.i1 & 1 == 1 { self.quads_per_row } else { self.quads_per_row - 1 };
        let side_by_side = whole.saturating_sub(column) / QUADS;
        if side_by_side < end - group { side_by_side } else { end - group }
    }

    /// The lanes that lie in the domain.
    pub const fn inside(&self, places: &Places) -> Mask {
        if self.whole {
            return Mask::MAX;
        }
        let mut mask = 0;
        let mut lane = 0;
        while lane < LANES {
            mask |= (self.domain.contains(places.position(lane)) as Mask) << lane;
            lane += 1;
        }
        mask
    }
}

/// The values that a variable has at the start: one channel of a plane.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    origin: f64,
    di: f64,
    dj: f64,
    bits: bool,
    /// Where all that lanes hold are small multiples of one power of two.
    steps: Option<Steps>,
}

/// What lanes hold as multiples of a power of two.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// The power of two.
    unit: f64,
    /// How many more than the first the lanes of four quads side by side hold.
    more: [i32; LANES],
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
        planes.iter().rev().find(covers).map(|plane| {
            let (origin, di, dj) = (plane.origin[channel], plane.di[channel], plane.dj[channel]);
            Self { origin, di, dj, bits: plane.bits, steps: steps(origin, di, dj) }
        })
    }

    /// Origin, change per column and change per row; `None` when it makes bits and not numbers.
    pub fn linear(&self) -> Option<[f64; 3]> {
        (!self.bits).then_some([self.origin, self.di, self.dj])
    }

    /// A bound of magnitudes in columns and rows up to these, and in the quads that these are in; `None` when it makes bits and not numbers.
    pub fn most(&self, i: u32, j: u32) -> Option<f64> {
        // Twice as much leaves room for what rounding adds.
        (!self.bits).then(|| self.bound(i, j))
    }

    /// No smaller than any sum on the way, in columns and rows up to these and in the quads that these are in.
    fn bound(&self, i: u32, j: u32) -> f64 {
        2.0 * (self.origin.abs() + (f64::from(i) + 1.0) * self.di.abs() + (f64::from(j) + 1.0) * self.dj.abs())
    }

    /// What code makes it of, in columns and rows up to these; `None` where the bits of NaNs, or what saturates, would matter.
    pub fn coefficients(&self, i: u32, j: u32) -> Option<Coefficients> {
        let of = [self.origin, self.di, self.dj];
        let bound = self.bound(i, j);
        let fits = bound.is_finite() && (!self.bits || bound < (1u64 << 62) as f64);
        fits.then_some(Coefficients { of, makes: if self.bits { Makes::Bits } else { Makes::Single } })
    }

    /// What the lanes of a group hold where it is divided: as [`Divisor::at`].
    #[allow(clippy::cast_possible_truncation, reason = "the one rounding that is meant")]
    pub fn divided(&self, places: &Places, divisor: &Divisor<'_>) -> Row {
        std::array::from_fn(|lane| {
            let (i, j) = (places.i[lane], places.j[lane]);
            let sum = self.origin + f64::from(i) * self.di + f64::from(j) * self.dj;
            ((sum * divisor.reciprocal(i.into(), j.into())) as f32).to_bits()
        })
    }

    /// Whether single precision makes it exactly, in columns and rows up to these: all sums on the way are multiples of one power of two, and have no more digits
    /// than single precision.
    pub fn is_exact(&self, i: u32, j: u32) -> bool {
        let unit = unit([self.origin, self.di, self.dj]);
        !self.bits && unit.is_some_and(|unit| self.bound(i, j) / unit < 2.0 * WHOLE)
    }

    /// What the lanes of four quads side by side hold: each column and row is multiplied once.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the one rounding that is meant; none of whole numbers"
    )]
    fn row_of_quads(&self, i: u32, j: u32) -> Row {
        let first = self.origin + f64::from(i) * self.di + f64::from(j) * self.dj;
        if let Some(Steps { unit, more }) = self.steps.filter(|steps| first.abs() < WHOLE * steps.unit) {
            let first = (first / unit) as i32;
            return more.map(|more| ((first + more) as f32 * unit as f32).to_bits());
        }
        let columns: [f64; LANES / 2] =
            std::array::from_fn(|n| self.origin + f64::from((i + n as u32).cast_signed()) * self.di);
        let rows = [f64::from(j) * self.dj, f64::from(j + 1) * self.dj];
        let [top, bottom] = rows.map(|row| columns.map(|column| ((column + row) as f32).to_bits()));
        let mut lanes = [0; LANES];
        for (quad, (top, bottom)) in
            lanes.as_chunks_mut::<4>().0.iter_mut().zip(top.as_chunks::<2>().0.iter().zip(bottom.as_chunks::<2>().0))
        {
            (quad[0], quad[1], quad[2], quad[3]) = (top[0], top[1], bottom[0], bottom[1]);
        }
        lanes
    }

    /// What the lanes of a group hold: as [`Plane::at`].
    pub fn row(&self, places: &Places) -> Row {
        if places.in_row() { self.quads(places.i[0], places.j[0]) } else { self.anywhere(places) }
    }

    /// What the lanes of four quads side by side hold, from this index pair on.
    pub fn quads(&self, i: u32, j: u32) -> Row {
        if self.bits {
            return self.anywhere(&Places { i: IN_ROW.i.map(|n| i + n), j: IN_ROW.j.map(|n| j + n) });
        }
        self.row_of_quads(i, j)
    }

    /// The same, for lanes that need not be quads.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the one rounding that is meant; integers wrap to their 32 bits"
    )]
    pub fn anywhere(&self, places: &Places) -> Row {
        let value =
            |lane: usize| self.origin + f64::from(places.i[lane]) * self.di + f64::from(places.j[lane]) * self.dj;
        if self.bits {
            std::array::from_fn(|lane| value(lane).round_ties_even() as i64 as u32)
        } else {
            std::array::from_fn(|lane| (value(lane) as f32).to_bits())
        }
    }
}

/// See [`Ramp::steps`]. A sum that is zero is +0, unless it begins with -0.
#[allow(clippy::cast_possible_truncation, reason = "checked before")]
fn steps(origin: f64, di: f64, dj: f64) -> Option<Steps> {
    let of = [origin, di, dj];
    let unit = unit(of)?;
    if of.iter().any(|x| x.abs() >= WHOLE / 16.0 * unit) || (origin == 0.0 && origin.is_sign_negative()) {
        return None;
    }
    let [di, dj] = [di, dj].map(|x| (x / unit) as i32);
    Some(Steps { unit, more: std::array::from_fn(|lane| IN_ROW.i[lane] as i32 * di + IN_ROW.j[lane] as i32 * dj) })
}

/// The largest power of two, from 1 down to one that leaves room above the smallest normal number, of which all are multiples.
fn unit(of: [f64; 3]) -> Option<f64> {
    let least = f64::from(f32::MIN_POSITIVE.sqrt());
    let halves = std::iter::successors(Some(1.0), |unit| Some(unit / 2.0)).take_while(|&unit| unit > least);
    of.iter()
        .all(|x| x.is_finite())
        .then(|| halves.into_iter().find(|unit| of.iter().all(|x| (x / unit).fract() == 0.0)))?
}

#[cfg(test)]
#[path = "../../tests/unit/launch/grid.rs"]
mod tests;
