//! Where the lanes of a wavefront lie, and what they start with.

use super::wave::{LANES, Row, mask_of};
use crate::ir::masked::Var;
use crate::launch::lanes;
use crate::launch::ramp::{Coefficients, Makes, Ramp};
use ctm_exec::r700::{Divisor, Launch};
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, Position, StartRow};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::program::Stage;

/// What is smaller is moderate.
const MODERATE: f64 = (1u64 << 40) as f64;

/// The wavefronts of a launch, in the reference interpreter's order (`ctm_exec::r700::interp::Order`).
pub struct Waves {
    domain: Domain,
    /// Lanes of a wavefront, but for the last one.
    lanes: u64,
    /// Columns of quads, row by row, continuous across row ends (CTM §2.1.2), aligned to even index pairs; otherwise threads follow one another row by row.
    quads: Option<u64>,
    /// All lanes of all wavefronts.
    all: u64,
}

/// The index pairs of a wavefront's lanes.
#[derive(Clone, Copy)]
pub struct Places {
    /// Columns.
    pub i: Row,
    /// Rows.
    pub j: Row,
    /// How many lanes there are; what lies beyond has no meaning.
    pub lanes: usize,
    /// Those of them that lie in the domain.
    pub inside: u64,
    /// All of them are quads side by side, in the domain.
    pub strip: bool,
}

/// How lanes move from each wavefront to the next: by so many columns and rows, and from behind the last column to the first one, further down.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Columns.
    pub di: u32,
    /// Rows.
    pub dj: u32,
    /// The last column of lanes.
    pub last: u32,
    /// Columns of lanes.
    pub width: u32,
    /// A row, or a row of quads.
    pub next_row: u32,
    /// Lanes are quads.
    pub quads: bool,
    /// All lanes of all wavefronts lie in the domain.
    pub whole: bool,
    /// The domain.
    pub domain: Domain,
    /// Lanes of a wavefront, but for the last one.
    pub lanes: usize,
}

impl Places {
    /// For [`Waves::place`].
    pub const fn new() -> Self {
        Self { i: [0; LANES], j: [0; LANES], lanes: 0, inside: 0, strip: false }
    }

    /// Of one lane.
    pub const fn position(&self, lane: usize) -> Position {
        Position { i: self.i[lane], j: self.j[lane] }
    }

    /// Fills a row by what 16 lanes hold in these columns and rows.
    fn fill(&self, row: &mut Row, of: impl Fn([&lanes::Row; 2]) -> lanes::Row) {
        let pieces = row.as_chunks_mut().0.iter_mut().take(self.lanes.div_ceil(lanes::LANES));
        let places = self.i.as_chunks().0.iter().zip(self.j.as_chunks().0);
        pieces.zip(places).for_each(|(piece, (i, j))| *piece = of([i, j]));
    }
}

impl Waves {
    /// Those of a launch of an R700 program.
    pub fn of(launch: &Launch<'_>) -> Self {
        Self::new(launch.domain, launch.wavefront.lanes(), launch.stage == Stage::Pixel)
    }

    /// Those of so many lanes that cover a domain; `quads`: lanes are quads.
    pub fn new(domain: Domain, lanes: usize, quads: bool) -> Self {
        let span = |first: u32, last: u32| u64::from((last / 2).saturating_sub(first / 2)) + 1;
        let columns = quads.then(|| span(domain.i0, domain.i1));
        let all = match columns {
            _ if domain.processors() == 0 => 0,
            Some(columns) => 4 * columns * span(domain.j0, domain.j1),
            None => domain.processors(),
        };
        Self { domain, lanes: lanes as u64, quads: columns, all }
    }

    /// Those of the same lanes, so many to each.
    pub fn of_lanes(&self, lanes: usize) -> Self {
        Self::new(self.domain, lanes, self.quads.is_some())
    }

    /// How many there are.
    pub const fn count(&self) -> u64 {
        self.all.div_ceil(self.lanes)
    }

    /// Lanes of the last one.
    pub const fn lanes_of_last(&self) -> u64 {
        self.all - self.count().saturating_sub(1) * self.lanes
    }

    /// Lanes of wavefronts that have a covered one, where wavefronts have 64 lanes, all of them in the domain.
    pub fn lanes_that_run(&self, covered: &[u64]) -> u64 {
        let words = (0..self.count()).zip(covered);
        let lanes = |index: u64| if self.is_whole(index) { self.lanes } else { self.lanes_of_last() };
        let runs = |&(index, word): &(u64, &u64)| word & mask_of(lanes(index) as usize) != 0;
        words.filter(runs).map(|(index, _)| lanes(index)).sum()
    }

    /// Lanes of a wavefront, but for the last one.
    const fn is_whole(&self, index: u64) -> bool {
        (index + 1) * self.lanes <= self.all
    }

    /// How many wavefronts from this one on, and before `end`, have as many lanes as it.
    pub const fn alike(&self, index: u64, end: u64) -> u64 {
        let full = self.all / self.lanes;
        let end = if end < full { end } else { full };
        if self.is_whole(index) { end - index } else { 1 }
    }

    /// How lanes move.
    pub fn steps(&self) -> Steps {
        let domain = self.domain;
        let lanes = self.lanes as usize;
        let (width, first, next_row, step) = match self.quads {
            Some(_) => (2 * ((domain.i1 / 2).saturating_sub(domain.i0 / 2) + 1), domain.i0 & !1, 2, self.lanes / 2),
            None => (domain.width().max(1), domain.i0, 1, self.lanes),
        };
        let (di, rows) = ((step % u64::from(width)) as u32, (step / u64::from(width)) as u32);
        let whole = self.is_of_quads();
        let (last, dj, quads) = (first + width - 1, rows * next_row, self.quads.is_some());
        Steps { di, dj, last, width, next_row, quads, whole, domain, lanes }
    }

    /// All lanes that exist lie in the domain.
    pub const fn is_of_quads(&self) -> bool {
        let Domain { i0, j0, i1, j1 } = self.domain;
        self.quads.is_none() || (i0 | j0) & 1 == 0 && i1 & j1 & 1 == 1
    }

    /// Where the lanes of a wavefront lie.
    pub fn place(&self, index: u64, places: &mut Places) {
        let (first, Domain { i0, j0, .. }) = (index * self.lanes, self.domain);
        places.lanes = self.lanes.min(self.all.saturating_sub(first)) as usize;
        places.inside = mask_of(places.lanes);
        places.strip = false;
        let Some(columns) = self.quads else {
            let width = u64::from(self.domain.width()).max(1);
            let (mut column, mut row) = ((first % width) as u32, (first / width) as u32);
            for (i, j) in places.i.iter_mut().zip(&mut places.j) {
                (*i, *j) = (i0 + column, j0 + row);
                column += 1;
                if u64::from(column) == width {
                    (column, row) = (0, row + 1);
                }
            }
            return;
        };
        let (i0, j0) = (i0 & !1, j0 & !1);
        let (mut column, mut row) = ((first / 4 % columns) as u32, (first / 4 / columns) as u32);
        let is_in_row = u64::from(column) + self.lanes / 4 <= columns;
        let (quads_of_i, quads_of_j) = (places.i.as_chunks_mut::<4>().0, places.j.as_chunks_mut::<4>().0);
        for (of_i, of_j) in quads_of_i.iter_mut().zip(quads_of_j).take(places.lanes / 4) {
            let (i, j) = (i0 + 2 * column, j0 + 2 * row);
            (*of_i, *of_j) = ([i, i + 1, i, i + 1], [j, j, j + 1, j + 1]);
            column += 1;
            if u64::from(column) == columns {
                (column, row) = (0, row + 1);
            }
        }
        if !self.is_of_quads() {
            let lanes = (0..places.lanes).filter(|&lane| self.domain.contains(places.position(lane)));
            places.inside = lanes.fold(0, |inside, lane| inside | 1 << lane);
        }
        places.strip = is_in_row && places.lanes as u64 == self.lanes && places.inside == mask_of(places.lanes);
    }
}

/// Where the lanes of a wavefront have the start values of a variable from.
#[derive(Clone)]
enum Source<'a> {
    Ramp(Ramp),
    /// Divided by the launch's divisor.
    Quotient(Ramp),
    /// By lane number ([`ctm_exec::rows`]).
    Row(&'a [u32]),
}

impl Source<'_> {
    const fn ramp(&self) -> Option<&Ramp> {
        match self {
            Self::Ramp(ramp) => Some(ramp),
            Self::Quotient(_) | Self::Row(_) => None,
        }
    }
}

/// What the lanes of a wavefront hold at the start in these variables.
#[derive(Clone)]
pub struct Starts<'a> {
    sources: Vec<Source<'a>>,
    divisor: Option<Divisor<'a>>,
    moderate: bool,
}

impl<'a> Starts<'a> {
    /// Of variables that planes or rows of a launch of an R700 program cover.
    pub fn of(variables: &[Var], launch: &Launch<'a>) -> Self {
        let gprs = usize::from(launch.program.gprs).clamp(1, GPRS);
        let planes: Vec<_> = launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs).copied().collect();
        Self::new(variables, (&planes, launch.rows, launch.divisor), launch.domain)
    }

    /// Of variables that planes or rows cover; some of the former may be divided.
    pub fn new(
        variables: &[Var],
        (planes, rows, divisor): (&[Plane], &[StartRow<'a>], Option<Divisor<'a>>),
        Domain { i1, j1, .. }: Domain,
    ) -> Self {
        let source = |var: &Var| {
            // The last one wins.
            let row = rows.iter().rev().find(|row| usize::from(row_element(row)) == var.index());
            let (register, element) = (var.index() / 4, var.index() % 4);
            let plane = || planes.iter().rev().find(|plane| usize::from(plane.temp) == register);
            let divides = |divisor: &Divisor<'_>| plane().is_some_and(|plane| divisor.divides(plane, element));
            let of_ramp =
                if divisor.is_some_and(|divisor| divides(&divisor)) { Source::Quotient } else { Source::Ramp };
            let ramp = || Ramp::of(*var, planes);
            row.map(|row| Source::Row(row.bits)).or_else(|| ramp().map(of_ramp))
        };
        let sources: Vec<Source<'a>> = variables.iter().filter_map(source).collect();
        let is_moderate = |ramp: &Ramp| ramp.linear().is_some() && ramp.bound(i1, j1) < MODERATE;
        let moderate = sources.iter().all(|source| source.ramp().is_some_and(is_moderate));
        Self { sources, divisor, moderate }
    }

    /// Whether all of them are numbers smaller than 2^40.
    pub const fn are_moderate(&self) -> bool {
        self.moderate
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.sources.len()
    }

    /// What code makes them of; `None` for one that it cannot make.
    pub fn coefficients(&self, domain: &Domain) -> impl Iterator<Item = Option<Coefficients>> {
        self.sources.iter().map(|source| match source {
            Source::Ramp(ramp) => ramp.coefficients(domain.i1, domain.j1),
            Source::Quotient(ramp) => {
                let of = ramp.coefficients(domain.i1, domain.j1)?;
                Some(Coefficients { makes: Makes::Quotient, ..of })
            }
            Source::Row(_) => None,
        })
    }

    /// What quotients are divided by: at (0, 0), and its change by column and row.
    pub fn divisor(&self) -> Option<[f64; 3]> {
        self.divisor.map(|divisor| divisor.of)
    }

    /// Whether single precision makes all of them exactly.
    pub fn are_exact(&self, domain: &Domain) -> bool {
        self.sources.iter().all(|source| source.ramp().is_some_and(|ramp| ramp.is_exact(domain.i1, domain.j1)))
    }

    /// Fills a row for each variable, of a wavefront whose first lane has this number.
    pub fn fill(&self, places: &Places, first: u64, rows: &mut [Row]) {
        for (source, row) in self.sources.iter().zip(rows) {
            match (source, &self.divisor) {
                (Source::Row(bits), _) => {
                    let first = usize::try_from(first).unwrap_or(usize::MAX).min(bits.len());
                    let bits = &bits[first..bits.len().min(first + places.lanes)];
                    let (there, beyond) = row.split_at_mut(bits.len());
                    there.copy_from_slice(bits);
                    beyond.fill(0);
                }
                (Source::Ramp(ramp), _) => places.fill(row, |at| ramp.row(at)),
                (Source::Quotient(ramp), Some(divisor)) => places.fill(row, |at| ramp.divided(at, divisor)),
                (Source::Quotient(_), None) => {}
            }
        }
    }
}

/// The element that a row is for, counted through all registers.
pub fn row_element(row: &StartRow<'_>) -> u16 {
    u16::from(row.register) * 4 + u16::from(row.element % 4)
}

#[cfg(test)]
#[path = "../../../tests/unit/launch/wavefronts/places.rs"]
mod tests;
