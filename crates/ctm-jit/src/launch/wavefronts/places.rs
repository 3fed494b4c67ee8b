//! The positions of a wavefront's lanes, and their start values.

use super::wave::{LANE_NUMBERS, LANES, Row, mask_of};
use crate::launch::lanes::LANES as VECTOR;
use ctm_exec::r700::{Divisor, Launch};
use ctm_exec::ramp::{Makes, Ramp, Single};
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, Position, StartRow};
use ctm_ir::masked::Var;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::program::Stage;

/// The wavefronts of a launch, in the reference interpreter's order (`ctm_exec::r700::interp::Order`).
pub struct Waves<'a> {
    domain: Domain,
    /// The tiles of a part of a launch ([`ctm_exec::r700::LaunchPart`]), whose pixels are the lanes; otherwise those of the domain are.
    tiles: Option<&'a [[u32; 2]]>,
    /// Lanes of a wavefront, except the last one.
    lanes: u64,
    /// Lanes are quads, row by row, continuous across row ends (CTM §2.1.2), aligned to even index pairs; otherwise threads follow one another row by row.
    quads: bool,
    /// Columns of quads or of threads.
    columns: u64,
    /// All lanes of all wavefronts.
    all: u64,
}

/// The index pairs of a wavefront's lanes.
#[derive(Clone, Copy)]
pub struct Places {
    /// Columns and rows, where lanes do not have their usual offsets.
    laid: [Row; 2],
    /// The first lane's column, and its row in the upper half: written by one store, as it is read soon after by one
    /// load, and processors forward single stores.
    from: u64,
    /// The offsets of each lane from these; `None`: some lane lies after the end of a row.
    offsets: Option<&'static [Row; 2]>,
    /// The number of the first lane, among all lanes of all wavefronts.
    pub first: u64,
    /// The count of lanes; entries beyond have no meaning.
    pub lanes: usize,
    /// The lanes in the domain.
    pub inside: u64,
    /// How they lie.
    pub order: LaneShape,
}

/// How the lanes of a wavefront lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneShape {
    /// Quads side by side, as many as wavefronts have.
    Strip,
    /// Four quads side by side, then those below them: a tile of 8x8 pixels, or its upper rows.
    Tile,
    /// In any way.
    Any,
}

/// The offsets of each lane from the column and row of the first one, where none is after the last column: lanes beside
/// one another, then quads, then the quads of tiles.
const OFFSETS: [[Row; 2]; 3] = {
    let mut offsets = [[LANE_NUMBERS, [0; LANES]], [[0; LANES]; 2], [[0; LANES]; 2]];
    let mut lane = 0;
    while lane < LANES {
        offsets[1][0][lane] = (lane / 4 * 2 + lane % 2) as u32;
        offsets[1][1][lane] = (lane / 2 % 2) as u32;
        offsets[TILE_OFFSETS][0][lane] = (lane / 4 % 4 * 2 + lane % 2) as u32;
        offsets[TILE_OFFSETS][1][lane] = (lane / 16 * 2 + lane / 2 % 2) as u32;
        lane += 1;
    }
    offsets
};

/// The place of tiles among [`OFFSETS`].
const TILE_OFFSETS: usize = 2;

impl Places {
    /// An empty value for [`Waves::place`].
    pub const fn new() -> Self {
        let laid = [[0; LANES]; 2];
        Self { laid, from: 0, offsets: None, first: 0, lanes: 0, inside: 0, order: LaneShape::Any }
    }

    /// The position of one lane.
    pub const fn position(&self, lane: usize) -> Position {
        let [i, j] = match self.offsets {
            Some(offsets) => self.beside(offsets, lane),
            None => self.laid(lane),
        };
        Position { i, j }
    }

    /// The first lane's column and row.
    #[inline(always)]
    pub const fn from(&self) -> [u32; 2] {
        [self.from as u32, (self.from >> 32) as u32]
    }

    /// The position of a lane that has its usual offset.
    #[inline(always)]
    const fn beside(&self, [to_the_right, down]: &[Row; 2], lane: usize) -> [u32; 2] {
        let [i, j] = self.from();
        [i.wrapping_add(to_the_right[lane]), j.wrapping_add(down[lane])]
    }

    /// The position of another one.
    #[inline(always)]
    const fn laid(&self, lane: usize) -> [u32; 2] {
        [self.laid[0][lane], self.laid[1][lane]]
    }

    /// Fills a row lane by lane, in groups of 16. Compilers vectorise it in functions for which vector instructions are
    /// enabled.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "compilers know these bounds")]
    fn fill<T>(&self, row: &mut [T; LANES], of: impl Fn(usize) -> T) {
        for first in (0..LANES).step_by(VECTOR).take_while(|&first| first < self.lanes) {
            for lane in first..first + VECTOR {
                row[lane] = of(lane);
            }
        }
    }

    /// Fills a row with a function of the sums of [`Ramp::at`], for lanes that have these offsets. What lanes share is computed once.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "compilers know these bounds")]
    fn fill_sums<T>(
        &self,
        row: &mut [T; LANES],
        RampSums { ramp, are_exact }: &RampSums,
        [to_the_right, down]: &[Row; 2],
        of: impl Fn(usize, f64) -> T,
    ) {
        if *are_exact {
            // In any order: each 16 lanes have the same steps from their first one.
            let steps = |lane: usize| ramp.steps([to_the_right[lane], down[lane]].map(|n| f64::from(n.cast_signed())));
            let (origin, step) = (ramp.at(self.from()), steps(VECTOR));
            let mut added = [0.0; VECTOR];
            for lane in 0..VECTOR {
                added[lane] = steps(lane);
            }
            for first in (0..LANES).step_by(VECTOR).take_while(|&first| first < self.lanes) {
                let origin = origin + (first / VECTOR) as f64 * step;
                for lane in 0..VECTOR {
                    row[first + lane] = of(first + lane, origin + added[lane]);
                }
            }
            return;
        }
        let [i, j] = self.from();
        let i = f64::from(i);
        // Rows that lanes reach after 16 lanes.
        let step = if self.order == LaneShape::Tile { 2 } else { 0 };
        let mut row_of_lanes = [0.0; VECTOR];
        for first in (0..LANES).step_by(VECTOR).take_while(|&first| first < self.lanes) {
            if first == 0 || step > 0 {
                let j = j.wrapping_add(step * (first / VECTOR) as u32);
                let [upper, lower] = [j, j.wrapping_add(1)].map(|j| ramp.down(j.into()));
                for lane in 0..VECTOR {
                    row_of_lanes[lane] = if down[lane] == 0 { upper } else { lower };
                }
            }
            for lane in 0..VECTOR {
                let column = i + f64::from(to_the_right[first + lane].cast_signed());
                row[first + lane] = of(first + lane, ramp.along(column, row_of_lanes[lane]));
            }
        }
    }
}

/// A ramp's sums.
#[derive(Clone, Copy)]
struct RampSums {
    ramp: Ramp,
    /// See [`Ramp::is_exact`].
    are_exact: bool,
}

impl<'a> Waves<'a> {
    /// The wavefronts of a launch of an R700 program.
    pub fn of(launch: &Launch<'_>) -> Self {
        Self::new(launch.domain, launch.wavefront.lanes(), launch.stage == Stage::Pixel)
    }

    /// Wavefronts of `lanes` lanes that cover a domain; `quads`: lanes are quads.
    pub fn new(domain: Domain, lanes: usize, quads: bool) -> Self {
        let span = |first: u32, last: u32| u64::from((last / 2).saturating_sub(first / 2)) + 1;
        let columns = if quads { span(domain.i0, domain.i1) } else { u64::from(domain.width()).max(1) };
        let all = match domain.processors() {
            0 => 0,
            _ if quads => 4 * columns * span(domain.j0, domain.j1),
            processors => processors,
        };
        Self { domain, tiles: None, lanes: lanes as u64, quads, columns, all }
    }

    /// Wavefronts of the pixels of tiles, which lie in a domain, of 16, 32 or 64 lanes.
    pub fn of_tiles(domain: Domain, tiles: &'a [[u32; 2]], lanes: usize) -> Self {
        let all = LANES as u64 * tiles.len() as u64;
        Self { domain, tiles: Some(tiles), lanes: lanes as u64, quads: true, columns: 4, all }
    }

    /// Wavefronts over the same lanes, `lanes` to each.
    pub fn of_lanes(&self, lanes: usize) -> Self {
        match self.tiles {
            Some(tiles) => Self::of_tiles(self.domain, tiles, lanes),
            None => Self::new(self.domain, lanes, self.quads),
        }
    }

    /// The number of wavefronts.
    pub const fn count(&self) -> u64 {
        self.all.div_ceil(self.lanes)
    }

    /// Lanes of the last one.
    pub const fn lanes_of_last(&self) -> u64 {
        self.all - self.count().saturating_sub(1) * self.lanes
    }

    /// The wavefronts that have a covered lane, and their lanes, where 64 is a multiple of a wavefront's lanes and all of them lie in the domain.
    pub fn that_run(&self, covered: &[u64]) -> [u64; 2] {
        let per_word = (64 / self.lanes.max(1)).max(1);
        let mut all = [0; 2];
        for index in 0..self.count() {
            let word = covered.get((index / per_word) as usize).copied().unwrap_or(0);
            let lanes = if self.is_whole(index) { self.lanes } else { self.lanes_of_last() };
            if word >> (index % per_word * self.lanes) & mask_of(lanes as usize) != 0 {
                all[0] += 1;
                all[1] += lanes;
            }
        }
        all
    }

    /// Lanes of a wavefront, except the last one.
    const fn is_whole(&self, index: u64) -> bool {
        (index + 1) * self.lanes <= self.all
    }

    /// The number of wavefronts from this one on, and before `end`, that have as many lanes.
    pub const fn alike(&self, index: u64, end: u64) -> u64 {
        let full = self.all / self.lanes;
        let end = if end < full { end } else { full };
        if self.is_whole(index) { end - index } else { 1 }
    }

    /// All lanes that exist lie in the domain.
    pub const fn is_of_quads(&self) -> bool {
        let Domain { i0, j0, i1, j1 } = self.domain;
        !self.quads || self.tiles.is_some() || (i0 | j0) & 1 == 0 && i1 & j1 & 1 == 1
    }

    /// Sets the positions of a wavefront's lanes in a tile.
    #[inline(always)]
    fn place_in(&self, tiles: &[[u32; 2]], index: u64, places: &mut Places) {
        let first = index * self.lanes;
        let [i, j] = tiles.get((first / LANES as u64) as usize).copied().unwrap_or_default();
        // Each 16 lanes are two rows.
        let row = j.wrapping_add((first % LANES as u64 / 8) as u32);
        places.first = first;
        places.lanes = self.lanes as usize;
        places.inside = mask_of(places.lanes);
        places.order = LaneShape::Tile;
        places.from = u64::from(i) | u64::from(row) << 32;
        places.offsets = Some(&OFFSETS[TILE_OFFSETS]);
    }

    /// Sets the positions of a wavefront's lanes.
    #[inline(always)]
    pub fn place(&self, index: u64, places: &mut Places) {
        if let Some(tiles) = self.tiles {
            return self.place_in(tiles, index, places);
        }
        let (first, columns) = (index * self.lanes, self.columns);
        // The number of lanes of a quad, as a power of two.
        let power = if self.quads { 2 } else { 0 };
        let (column, row) = ((first >> power) % columns, (first >> power) / columns);
        places.first = first;
        places.lanes = self.lanes.min(self.all.saturating_sub(first)) as usize;
        places.inside = mask_of(places.lanes);
        let behind = column + (places.lanes as u64 >> power);
        let is_strip = self.quads && behind <= columns && places.lanes as u64 == self.lanes;
        places.order = if is_strip { LaneShape::Strip } else { LaneShape::Any };
        let size = if self.quads { 2 } else { 1 };
        let [i, j] = [self.domain.i0, self.domain.j0].map(|first| first & !(size - 1));
        let from = [i + size * column as u32, j.wrapping_add(size * row as u32)];
        places.from = u64::from(from[0]) | u64::from(from[1]) << 32;
        places.offsets = (behind <= columns).then_some(&OFFSETS[usize::from(self.quads)]);
        if places.offsets.is_some() && self.is_of_quads() {
            return;
        }
        match places.lanes {
            0..=16 => self.lay::<16>([i, size], places),
            17..=32 => self.lay::<32>([i, size], places),
            _ => self.lay::<LANES>([i, size], places),
        }
    }

    /// The same, where `places` are those of a wavefront of this launch: mostly of the previous one, on the left.
    #[inline(always)]
    pub fn follow(&self, index: u64, places: &mut Places) {
        if let Some(tiles) = self.tiles {
            return self.place_in(tiles, index, places);
        }
        let columns = self.lanes / 2;
        let is_beside = places.order == LaneShape::Strip && places.first + self.lanes == index * self.lanes;
        let end = u64::from(places.from()[0].wrapping_sub(self.domain.i0)) + 2 * columns;
        if is_beside && end <= 2 * self.columns && self.is_whole(index) && self.is_of_quads() {
            places.first += self.lanes;
            places.from += columns;
        } else {
            self.place(index, places);
        }
    }

    /// Gives the positions of `COUNT` lanes that may not have their usual offsets, and the lanes in the domain. `i`:
    /// the first column; `size`: columns and rows of a quad, or 1. Compilers vectorise these loops in functions for
    /// which vector instructions are enabled.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn lay<const COUNT: usize>(&self, [i, size]: [u32; 2], places: &mut Places) {
        let offsets = &OFFSETS[usize::from(self.quads)];
        let width = (self.columns as u32).wrapping_mul(size);
        // After the end of a row the next one begins, once, or more often in narrow domains, where both numbers are so
        // small that this division is exact.
        let is_narrow = self.columns <= LANES as u64;
        let reciprocal = if is_narrow { (1 << 16) / width + 1 } else { 0 };
        for lane in 0..COUNT {
            let [to_the_right, down] = places.beside(offsets, lane);
            let column = to_the_right.wrapping_sub(i);
            let once = u32::from(column > width.wrapping_sub(1));
            let rows = if is_narrow { column.wrapping_mul(reciprocal) >> 16 } else { once };
            places.laid[0][lane] = to_the_right.wrapping_sub(rows.wrapping_mul(width));
            places.laid[1][lane] = down.wrapping_add(rows.wrapping_mul(size));
        }
        if !self.is_of_quads() {
            let Domain { i0, j0, i1, j1 } = self.domain;
            let [width, height] = [i1.wrapping_sub(i0), j1.wrapping_sub(j0)];
            let mut inside = 0;
            for lane in 0..COUNT {
                let [i, j] = places.laid(lane);
                let [i, j] = [i.wrapping_sub(i0), j.wrapping_sub(j0)];
                inside |= if (i <= width) & (j <= height) { 1 << lane } else { 0 };
            }
            places.inside &= inside;
        }
    }
}

/// The source of a variable's start values in the lanes of a wavefront.
#[derive(Clone)]
enum StartSource<'a> {
    /// Numbers that are rounded.
    Rounded(RampSums),
    /// The low 32 bits of whole numbers; `any`: of any size.
    Bits { ramp: Ramp, any: bool },
    /// The same bits in all lanes.
    Constant(u32),
    /// Sums that single precision makes exactly, in any order.
    Exact(Ramp),
    /// Divided by the launch's divisor.
    Quotient(RampSums),
    /// By lane number ([`ctm_exec::rows`]).
    Row(&'a [u32]),
    /// Elements that targets hold: [`super::outputs::Outputs::load`] fills them in.
    Stored,
}

/// Divisors below this leave quotients above the smallest normal number in single precision, where dividends are multiples of a unit ([`Ramp::is_normal`]).
const LARGEST_DIVISOR: f64 = (1u64 << 62) as f64;

/// The start values of these variables in the lanes of a wavefront.
#[derive(Clone)]
pub struct Starts<'a> {
    sources: Vec<StartSource<'a>>,
    /// The places of constants among the sources, and their bits.
    constants: Vec<(usize, u32)>,
    /// Of each exact sum: its place among the sources, and each lane's difference from the first one, where lanes have
    /// their usual offsets.
    exact: Vec<(usize, Single, [f32; LANES])>,
    /// There are rounded sums or quotients; there are rows or bits.
    has_sums: bool,
    has_others: bool,
    divisor: Option<RampSums>,
    /// Whether the linear ones are finite, and so are their terms: which NaN an operation makes of two others depends
    /// on the instruction.
    pub are_finite: bool,
    /// Whether [`Self::fill`] meets no denormals but those that are given lane by lane.
    pub are_normal: bool,
}

/// Words of covered lanes below which a table of their exact sums takes longer than the sums.
const FEW_WORDS: usize = 64;

/// The lanes that have start values.
#[derive(Clone, Copy)]
pub struct StartLanes {
    /// The domain that they lie in.
    pub domain: Domain,
    /// They are quads.
    pub quads: bool,
    /// They are few.
    pub few: bool,
}

impl<'a> Starts<'a> {
    /// The start values of variables that planes or rows of a launch of an R700 program cover.
    pub fn of(variables: &[Var], launch: &Launch<'a>) -> Self {
        let gprs = usize::from(launch.program.gprs).clamp(1, GPRS);
        let planes: Vec<_> = launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs).copied().collect();
        let few = launch.covered.is_some_and(|words| words.len() < FEW_WORDS);
        let place = StartLanes { domain: launch.domain, quads: launch.stage == Stage::Pixel, few };
        Self::with_stored(variables, gprs, (&planes, launch.rows, launch.divisor), place)
    }

    /// As [`Self::new`], of variables whose last ones, from this register on, are elements that targets hold.
    pub fn with_stored(
        variables: &[Var],
        first_stored: usize,
        given: (&[Plane], &[StartRow<'a>], Option<Divisor<'a>>),
        place: StartLanes,
    ) -> Self {
        let (own, stored) = variables.split_at(variables.partition_point(|var| var.index() < 4 * first_stored));
        let mut starts = Self::new(own, given, place);
        starts.sources.extend(stored.iter().map(|_| StartSource::Stored));
        starts
    }

    /// The start values of variables that planes or rows cover; some of the former may be divided.
    pub fn new(
        variables: &[Var],
        (planes, rows, divisor): (&[Plane], &[StartRow<'a>], Option<Divisor<'a>>),
        StartLanes { domain: Domain { i1, j1, .. }, quads, few }: StartLanes,
    ) -> Self {
        let [to_the_right, down] = &OFFSETS[usize::from(quads)];
        let sums = |ramp: Ramp| RampSums { ramp, are_exact: ramp.is_exact(i1, j1) };
        let source = |var: &Var| {
            // The last one wins.
            let row = rows.iter().rev().find(|row| usize::from(row_element(row)) == var.index());
            let (register, element) = (var.index() / 4, var.index() % 4);
            let plane = || planes.iter().rev().find(|plane| usize::from(plane.temp) == register);
            let divides = |divisor: &Divisor<'_>| plane().is_some_and(|plane| divisor.divides(plane, element));
            let divided = divisor.is_some_and(|divisor| divides(&divisor));
            let of_ramp = |ramp: Ramp| match (ramp.constant(), ramp.makes(i1, j1)) {
                _ if divided => StartSource::Quotient(sums(ramp)),
                (Some(bits), _) => StartSource::Constant(bits),
                (None, Makes::Single) if !few => StartSource::Exact(ramp),
                (None, Makes::Single | Makes::Rounded) => StartSource::Rounded(sums(ramp)),
                (None, makes) => StartSource::Bits { ramp, any: makes == Makes::AnyBits },
            };
            row.map(|row| StartSource::Row(row.bits)).or_else(|| Ramp::of(register, element, planes).map(of_ramp))
        };
        let sources: Vec<StartSource<'a>> = variables.iter().filter_map(source).collect();
        let ramps = || {
            sources.iter().filter_map(|source| match source {
                StartSource::Row(_) | StartSource::Constant(_) | StartSource::Stored => None,
                StartSource::Rounded(RampSums { ramp, .. })
                | StartSource::Bits { ramp, .. }
                | StartSource::Exact(ramp)
                | StartSource::Quotient(RampSums { ramp, .. }) => Some(ramp),
            })
        };
        let are_finite = ramps().all(|ramp| ramp.bound(i1, j1).is_finite());
        let exact = |(row, source): (usize, &StartSource<'a>)| {
            let StartSource::Exact(ramp) = source else { return None };
            let added = |lane: usize| ramp.offset([to_the_right[lane], down[lane]]);
            Some((row, ramp.single(), std::array::from_fn(added)))
        };
        let exact = sources.iter().enumerate().filter_map(exact).collect();
        let constant = |(row, source): (usize, &StartSource<'a>)| match source {
            StartSource::Constant(bits) => Some((row, *bits)),
            _ => None,
        };
        let constants = sources.iter().enumerate().filter_map(constant).collect();
        let divisor = divisor.map(|divisor| sums(Ramp::linear_by(divisor.of)));
        // Quotients too: a multiple of a normal number's square root, divided by less than the reciprocal of that.
        let is_small = |RampSums { ramp, .. }: &RampSums| ramp.is_normal() && ramp.bound(i1, j1) < LARGEST_DIVISOR;
        let are_normal = divisor.as_ref().is_none_or(is_small) && ramps().all(Ramp::is_normal);
        let exact: Vec<_> = exact;
        let is_sum = |source: &StartSource<'_>| matches!(source, StartSource::Rounded(_) | StartSource::Quotient(_));
        let is_other = |source: &StartSource<'_>| matches!(source, StartSource::Row(_) | StartSource::Bits { .. });
        let (has_sums, has_others) = (sources.iter().any(is_sum), sources.iter().any(is_other));
        Self { sources, constants, exact, has_sums, has_others, divisor, are_finite, are_normal }
    }

    /// The number of start values.
    pub const fn count(&self) -> usize {
        self.sources.len()
    }

    /// The number of those that targets hold, the last ones.
    pub fn count_stored(&self) -> usize {
        self.sources.iter().rev().take_while(|source| matches!(source, StartSource::Stored)).count()
    }

    /// Fills a row for each variable.
    #[inline(always)]
    pub fn fill(&self, places: &Places, rows: &mut [Row]) {
        for &(row, bits) in &self.constants {
            places.fill(&mut rows[row], |_| bits);
        }
        // Columns beyond the last number begin at 0 again.
        let does_not_wrap = places.from()[0] <= u32::MAX - LANES as u32;
        match places.offsets {
            Some(offsets) if does_not_wrap => {
                for (row, single, added) in &self.exact {
                    let first = single.at(places.from());
                    places.fill(&mut rows[*row], |lane| (first + added[lane]).to_bits());
                }
                // Many launches have neither, and this runs for each wavefront.
                if self.has_sums {
                    self.fill_sums(places, offsets, rows);
                }
                if self.has_others {
                    self.fill_at(places, true, |lane| places.beside(offsets, lane), rows);
                }
            }
            Some(offsets) => self.fill_at(places, false, |lane| places.beside(offsets, lane), rows),
            None => self.fill_at(places, false, |lane| places.laid(lane), rows),
        }
    }

    /// Fills the rows of rounded sums and quotients, for lanes that have these offsets.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn fill_sums(&self, places: &Places, offsets: &[Row; 2], rows: &mut [Row]) {
        let mut reciprocals = [0.0; LANES];
        if let Some(divisor) = &self.divisor {
            places.fill_sums(&mut reciprocals, divisor, offsets, |_, sum| 1.0 / sum);
        }
        for (source, row) in self.sources.iter().zip(rows) {
            match source {
                StartSource::Rounded(sums) => {
                    places.fill_sums(row, sums, offsets, |_, sum| Ramp::single_of(sum));
                }
                StartSource::Quotient(sums) => {
                    places.fill_sums(row, sums, offsets, |lane, sum| Ramp::single_of(sum * reciprocals[lane]));
                }
                StartSource::Constant(_)
                | StartSource::Bits { .. }
                | StartSource::Exact(_)
                | StartSource::Row(_)
                | StartSource::Stored => {}
            }
        }
    }

    /// As [`Self::fill`], for lanes in these columns and rows; `usual`: all but exact and rounded sums and quotients.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn fill_at(&self, places: &Places, usual: bool, at: impl Fn(usize) -> [u32; 2], rows: &mut [Row]) {
        for (source, row) in self.sources.iter().zip(&mut *rows) {
            match source {
                StartSource::Row(bits) => {
                    let first = usize::try_from(places.first).unwrap_or(usize::MAX).min(bits.len());
                    let bits = &bits[first..bits.len().min(first + places.lanes)];
                    // Most wavefronts are whole: a copy of a known length is no call.
                    if let Some(bits) = bits.first_chunk::<LANES>() {
                        places.fill(row, |lane| bits[lane]);
                        continue;
                    }
                    let (there, beyond) = row.split_at_mut(bits.len());
                    there.copy_from_slice(bits);
                    beyond.fill(0);
                }
                StartSource::Exact(ramp) if !usual => {
                    let single = ramp.single();
                    places.fill(row, |lane| single.at(at(lane)).to_bits());
                }
                StartSource::Rounded(RampSums { ramp, .. }) if !usual => {
                    places.fill(row, |lane| ramp.rounded(at(lane), 1.0))
                }
                StartSource::Constant(_)
                | StartSource::Exact(_)
                | StartSource::Rounded(_)
                | StartSource::Quotient(_)
                | StartSource::Stored => {}
                StartSource::Bits { ramp, any: false } => places.fill(row, |lane| ramp.bits(at(lane))),
                StartSource::Bits { ramp, any: true } => places.fill(row, |lane| ramp.any_bits(at(lane))),
            }
        }
        let Some(divisor) = self.divisor.as_ref().filter(|_| !usual) else { return };
        let mut reciprocals = [0.0; LANES];
        places.fill(&mut reciprocals, |lane| 1.0 / divisor.ramp.at(at(lane)));
        for (source, row) in self.sources.iter().zip(rows) {
            if let StartSource::Quotient(RampSums { ramp, .. }) = source {
                places.fill(row, |lane| ramp.rounded(at(lane), reciprocals[lane]));
            }
        }
    }
}

/// The number of a row's element, counted through all registers.
pub fn row_element(row: &StartRow<'_>) -> u16 {
    u16::from(row.register) * 4 + u16::from(row.element % 4)
}

#[cfg(test)]
#[path = "../../../tests/unit/launch/wavefronts/places.rs"]
mod tests;
