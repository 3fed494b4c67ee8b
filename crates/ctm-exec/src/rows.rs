//! Lane vectors: start values that are not planes, and exports, as plain arrays of the caller.
//!
//! Draws need them: the lanes of one launch are vertices of any index, or quads of any number of triangles, and each lane starts with numbers of
//! its own. Memory is one row of 32-bit values for each element of a register, lane beside lane, so that an engine loads and stores vectors of
//! lanes without a call for each lane.
//!
//! **Lane numbers.** The lanes of a launch are numbered in the order in which engines run them ([`LaneOrder`]). A launch without quads numbers
//! the index pairs of its domain row by row. A launch of quads numbers quad by quad, row of quads by row of quads, and in a quad upper left, upper
//! right, lower left, lower right; with quads cut by the edge of the domain, all four lanes have a number. N quads of no particular place are the domain
//! of columns 0 to 2N - 1 and rows 0 and 1: lane `4 * quad + 2 * (j % 2) + i % 2`.

use crate::domain::{Domain, Position};
use std::sync::atomic::{AtomicU64, Ordering};

/// The start value of one element of one register, for each lane.
///
/// It overrides a plane of the same register. Lanes past the end of the row start with 0. Rows of registers that the program does not have are
/// ignored; of two rows of the same element the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRow<'a> {
    /// The register (R700: GPR; X1K: temporary), 0..=127.
    pub register: u8,
    /// Its element: 0 is x or r, 3 is w or a.
    pub element: u8,
    /// The bits of each lane, by lane number.
    pub bits: &'a [u32],
}

impl StartRow<'_> {
    /// The start value of a lane.
    #[must_use]
    pub fn of_lane(&self, lane: usize) -> u32 {
        self.bits.get(lane).copied().unwrap_or(0)
    }
}

/// Which number each index pair of a launch's domain has among its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneOrder {
    i0: u32,
    j0: u32,
    columns: usize,
    rows: usize,
    quads: bool,
}

impl LaneOrder {
    /// Of the index pairs of a domain, row by row.
    #[must_use]
    pub const fn rows(domain: Domain) -> Self {
        let (columns, rows) = (domain.width() as usize, domain.height() as usize);
        Self { i0: domain.i0, j0: domain.j0, columns, rows, quads: false }
    }

    /// Of the quads of a domain, which are aligned to even index pairs.
    #[must_use]
    pub const fn quads(domain: Domain) -> Self {
        let empty = domain.width() == 0 || domain.height() == 0;
        let columns = if empty { 0 } else { (domain.i1 / 2 - domain.i0 / 2 + 1) as usize };
        let rows = if empty { 0 } else { (domain.j1 / 2 - domain.j0 / 2 + 1) as usize };
        Self { i0: domain.i0 & !1, j0: domain.j0 & !1, columns, rows, quads: true }
    }

    /// How many lanes there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.columns * self.rows * if self.quads { 4 } else { 1 }
    }

    /// The number of an index pair; `None` where there is no lane.
    #[must_use]
    pub fn lane(&self, at: Position) -> Option<usize> {
        let (i, j) = (at.i.checked_sub(self.i0)? as usize, at.j.checked_sub(self.j0)? as usize);
        let (column, row) = if self.quads { (i / 2, j / 2) } else { (i, j) };
        let cell = (column < self.columns && row < self.rows).then(|| row * self.columns + column)?;
        Some(if self.quads { 4 * cell + 2 * (j % 2) + i % 2 } else { cell })
    }

    /// The index pair of a lane; `None` beyond the last one.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "index pairs of a domain have 32 bits")]
    pub fn position(&self, lane: usize) -> Option<Position> {
        let cell = if self.quads { lane / 4 } else { lane };
        let (column, row) = (lane < self.count()).then(|| (cell % self.columns, cell / self.columns))?;
        let (i, j) = match self.quads {
            true => (2 * column + lane % 2, 2 * row + lane / 2 % 2),
            false => (column, row),
        };
        Some(Position { i: self.i0 + i as u32, j: self.j0 + j as u32 })
    }
}

/// Which of 64 lanes, from this one on, are covered (bit 0 is the first). `covered`: lane `n` is bit `n % 64` of word `n / 64`; `None`: all are.
#[must_use]
pub fn covered_from(covered: Option<&[u64]>, first: u64) -> u64 {
    let Some(covered) = covered else { return u64::MAX };
    let word = |n: u64| usize::try_from(n).ok().and_then(|n| covered.get(n)).copied().unwrap_or(0);
    match first % 64 {
        0 => word(first / 64),
        shift => word(first / 64) >> shift | word(first / 64 + 1) << (64 - shift),
    }
}

/// Marks lanes: those of the mask, whose bit 0 is lane `first`. Lanes past the end are dropped.
pub fn survive(words: &[AtomicU64], first: u64, lanes: u64) {
    let shift = first % 64;
    let parts = [lanes << shift, if shift == 0 { 0 } else { lanes >> (64 - shift) }];
    let of = usize::try_from(first / 64).ok().and_then(|word| words.get(word..)).unwrap_or_default();
    for (word, bits) in of.iter().zip(parts).filter(|(_, bits)| *bits != 0) {
        word.fetch_or(bits, Ordering::Relaxed);
    }
}

/// One exported element of every lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRow {
    /// Bits, by lane number; 0 where nothing was written.
    pub bits: Vec<u32>,
    /// Who wrote it: lane `n` is bit `n % 64` of word `n / 64`.
    pub written: Vec<u64>,
}

/// Sets the bits of a mask from one on, and drops those past the end.
fn set(words: &mut [u64], first: usize, mask: u64) {
    let (word, shift) = (first / 64, first % 64);
    let parts = [mask << shift, if shift == 0 { 0 } else { mask >> (64 - shift) }];
    words.iter_mut().skip(word).zip(parts).for_each(|(word, bits)| *word |= bits);
}

/// Results of the lanes of a launch: the mask of survivors, and rows of exports to certain targets.
///
/// `T` is the instruction set's name of a target: [`crate::r700::Target`] or [`crate::x1k::Target`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRows<T> {
    order: LaneOrder,
    targets: Vec<T>,
    survivors: Vec<u64>,
    rows: Vec<[ExportRow; 4]>,
}

impl<T: Copy + PartialEq> LaneRows<T> {
    /// Rows for these targets, of a launch whose lanes have this order. No lane has survived yet.
    pub fn new(order: LaneOrder, targets: &[T]) -> Self {
        let (lanes, words) = (order.count(), order.count().div_ceil(64));
        let row = ExportRow { bits: vec![0; lanes], written: vec![0; words] };
        let rows = targets.iter().map(|_| std::array::from_fn(|_| row.clone())).collect();
        Self { order, targets: targets.to_vec(), survivors: vec![0; words], rows }
    }

    /// Takes the rows, and leaves none.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let Self { order, .. } = *self;
        std::mem::replace(self, Self { order, targets: Vec::new(), survivors: Vec::new(), rows: Vec::new() })
    }

    /// Begins again, for a launch whose lanes have this order: all is 0 and no lane has survived.
    pub fn restart(&mut self, order: LaneOrder) {
        self.order = order;
        let (lanes, words) = (order.count(), order.count().div_ceil(64));
        let zero = |masks: &mut Vec<u64>| {
            masks.clear();
            masks.resize(words, 0);
        };
        zero(&mut self.survivors);
        for row in self.rows.as_flattened_mut() {
            row.bits.clear();
            row.bits.resize(lanes, 0);
            zero(&mut row.written);
        }
    }

    /// How lanes are numbered.
    #[must_use]
    pub const fn order(&self) -> LaneOrder {
        self.order
    }

    /// The targets that have rows.
    #[must_use]
    pub fn targets(&self) -> &[T] {
        &self.targets
    }

    /// Lanes that lie in the domain and reached the end without being killed: lane `n` is bit `n % 64` of word `n / 64`.
    #[must_use]
    pub fn survivors(&self) -> &[u64] {
        &self.survivors
    }

    /// Whether a lane lies in the domain and reached the end without being killed.
    #[must_use]
    pub fn survived(&self, lane: usize) -> bool {
        self.survivors.get(lane / 64).is_some_and(|word| word >> (lane % 64) & 1 == 1)
    }

    /// The four elements of a target; `None` where it has no rows.
    #[must_use]
    pub fn get(&self, target: T) -> Option<&[ExportRow; 4]> {
        self.targets.iter().position(|&t| t == target).map(|place| &self.rows[place])
    }

    /// All rows, in the order of [`Self::targets`], and the survivors, for engines that store lanes side by side.
    pub fn parts(&mut self) -> (&mut [[ExportRow; 4]], &mut [u64]) {
        (&mut self.rows, &mut self.survivors)
    }

    /// A lane reached the end. Gives its number; `None` where the launch has no such lane.
    pub fn survive(&mut self, at: Position) -> Option<usize> {
        let lane = self.order.lane(at)?;
        self.survivors[lane / 64] |= 1 << (lane % 64);
        Some(lane)
    }

    /// Lanes reached the end: those of the mask, whose bit 0 is lane `first`.
    pub fn survive_all(&mut self, first: usize, lanes: u64) {
        set(&mut self.survivors, first, lanes);
    }

    /// Stores the exports of lanes to an element of the target of this place among [`Self::targets`]: lane `first + n` the value n, where bit n of the mask
    /// says so. Values after the last lane are dropped.
    ///
    /// # Panics
    /// There is no such place, or no such element (0..=3).
    pub fn store_all(&mut self, first: usize, (place, element): (usize, usize), values: &[u32; 64], written: u64) {
        let row = &mut self.rows[place][element];
        let Some(bits) = row.bits.get_mut(first..) else { return };
        if written == u64::MAX && bits.len() >= values.len() {
            bits[..values.len()].copy_from_slice(values);
        } else {
            for (lane, (to, &from)) in bits.iter_mut().zip(values).enumerate() {
                *to = if written >> lane & 1 == 1 { from } else { *to };
            }
        }
        set(&mut row.written, first, written);
    }

    /// Stores the written elements (bit 0 is the first) that a lane exported to a target; dropped where the target has no rows, or there is no
    /// such lane. Says how many elements were stored.
    pub fn store(&mut self, lane: usize, target: T, values: [u32; 4], written: u8) -> u32 {
        let place = self.targets.iter().position(|&t| t == target).filter(|_| lane < self.order.count());
        let Some(place) = place else { return 0 };
        let rows = self.rows[place].iter_mut().zip(values).enumerate();
        let mut stored = 0;
        for (_, (row, bits)) in rows.filter(|&(element, _)| written >> element & 1 == 1) {
            row.bits[lane] = bits;
            row.written[lane / 64] |= 1 << (lane % 64);
            stored += 1;
        }
        stored
    }
}
