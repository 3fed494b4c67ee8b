//! Register allocation for vectors.
//!
//! A place is one position in the whole program. The live range of a vector is a set of places. Allocation is greedy:
//! the vectors with the most weighted uses per place come first (a use inside a loop counts eight times as much as one
//! around it). Vectors without a register are spilled to a row of the frame.

use super::lir::Vector;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The location of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a register: the first of one for each part.
    Register(u8),
    /// In a row of the frame.
    Row(u32),
    /// It is never live.
    Nowhere,
}

/// A live interval: from the first place to before the second.
type Interval = (u32, u32);

/// The live ranges and uses of a program's vectors.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// The live intervals.
    found: Vec<Found>,
    /// The first live interval of each vector.
    first: Vec<Option<u32>>,
    weights: Vec<u64>,
    places: usize,
}

/// Places at which a vector is live, and the next such interval.
#[derive(Clone, Copy, Debug)]
struct Found {
    vector: Vector,
    interval: Interval,
    next: Option<u32>,
}

/// The intervals of each vector, in order and apart.
#[derive(Clone, Debug, Default)]
struct Intervals {
    intervals: Vec<Interval>,
    /// The first interval of each vector; one entry more than there are vectors.
    first: Vec<u32>,
}

impl Intervals {
    fn of(&self, vector: usize) -> &[Interval] {
        &self.intervals[self.first[vector] as usize..self.first[vector + 1] as usize]
    }

    fn length(&self, vector: usize) -> u64 {
        self.of(vector).iter().map(|(first, end)| u64::from(end - first)).sum()
    }
}

/// Sets of places in one list.
struct Sets {
    words: Vec<u64>,
    each: usize,
}

/// The words that an interval touches, each with its bits of the interval.
fn words((first, end): Interval) -> impl Iterator<Item = (usize, u64)> {
    let (from, to) = (first as usize / 64, (end as usize - 1) / 64);
    let (low, high) = (u64::MAX << (first % 64), u64::MAX >> (63 - (end - 1) % 64));
    (from..=to).map(move |word| {
        let mask = if word == from { low } else { u64::MAX } & if word == to { high } else { u64::MAX };
        (word, mask)
    })
}

impl Sets {
    /// `count` empty sets.
    fn new(count: usize, places: usize) -> Self {
        let each = places.div_ceil(64);
        Self { words: vec![0; count * each], each }
    }

    fn meets(&self, set: usize, intervals: &[Interval]) -> bool {
        let of = &self.words[set * self.each..(set + 1) * self.each];
        intervals.iter().any(|&interval| words(interval).any(|(word, mask)| of[word] & mask != 0))
    }

    fn add(&mut self, set: usize, intervals: &[Interval]) {
        let of = &mut self.words[set * self.each..(set + 1) * self.each];
        intervals.iter().for_each(|&interval| words(interval).for_each(|(word, mask)| of[word] |= mask));
    }
}

/// Locations of all vectors.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    /// The location of each vector.
    pub of: Vec<Location>,
    /// Rows of the frame.
    pub rows: u32,
    /// Slots of the frame, each for one part: of vectors that live within a strip.
    pub slots: u32,
}

impl Ranges {
    /// An empty result for `vectors` vectors and `places` places.
    pub fn empty(vectors: usize, places: usize) -> Self {
        Self { found: Vec::with_capacity(vectors), first: vec![None; vectors], weights: vec![0; vectors], places }
    }

    /// Counts a use.
    pub fn weigh(&mut self, vector: Vector, weight: u64) {
        self.weights[vector.index()] += weight;
    }

    /// A vector is live from `first` to before `end`; its intervals are added from the last to the first.
    pub fn add(&mut self, vector: Vector, first: usize, end: usize) {
        let interval = (first as u32, end as u32);
        let next = self.first[vector.index()];
        if let Some(next) = next
            && let (first, end) = &mut self.found[next as usize].interval
            && *first <= interval.1
        {
            debug_assert!(interval.0 <= *first, "{vector:?} is added in another order");
            (*first, *end) = (interval.0, interval.1.max(*end));
            return;
        }
        self.first[vector.index()] = Some(self.found.len() as u32);
        self.found.push(Found { vector, interval, next });
    }

    /// Adds a vector.
    pub fn vector(&mut self) -> Vector {
        self.weights.push(0);
        self.first.push(None);
        Vector(self.weights.len() as u32 - 1)
    }

    /// The number of vectors.
    pub const fn vectors(&self) -> usize {
        self.weights.len()
    }

    /// The weight of uses of vectors in rows of the frame.
    pub fn weight_in_rows(&self, locations: &Locations) -> u64 {
        let in_rows =
            self.weights.iter().zip(&locations.of).filter(|(_, location)| matches!(location, Location::Row(_)));
        in_rows.map(|(weight, _)| weight).sum()
    }

    /// The vectors live both before and after each of these places, which are in order.
    pub fn across(&self, places: &[u32]) -> Vec<Vec<Vector>> {
        let mut across = vec![Vec::new(); places.len()];
        for &Found { vector, interval: (first, end), .. } in &self.found {
            let from = places.partition_point(|&place| place < first);
            let inside = places[from..].iter().take_while(|&&place| place < end).count();
            across[from..from + inside].iter_mut().for_each(|vectors| vectors.push(vector));
        }
        across
    }

    /// The live intervals, by vector.
    fn intervals(&self) -> Intervals {
        let mut of = Intervals::default();
        of.intervals.reserve(self.found.len());
        for &first in &self.first {
            of.first.push(of.intervals.len() as u32);
            let mut at = first;
            while let Some(Found { interval, next, .. }) = at.map(|at| self.found[at as usize]) {
                of.intervals.push(interval);
                at = next;
            }
        }
        of.first.push(of.intervals.len() as u32);
        of
    }

    /// The vectors that are live somewhere, by falling use count per place and register. Vectors from number `kept`
    /// on come last, after all vectors with uses outside of rare code.
    fn by_cost(&self, intervals: &Intervals, kept: usize, cost: impl Fn(usize) -> u64) -> impl Iterator<Item = usize> {
        let density =
            |n: usize| if n < kept { self.weights[n] * 1024 / (cost(n) * intervals.length(n)).max(1) } else { 1 };
        let are_live = (0..self.weights.len()).filter(|&n| !intervals.of(n).is_empty());
        // Numbers are sorted faster than pairs.
        let last = |density: u64| u64::from(!u32::try_from(density).unwrap_or(u32::MAX));
        let mut order: Vec<u64> = are_live.map(|n| last(density(n)) << 32 | n as u64).collect();
        order.sort_unstable();
        order.into_iter().map(|key| key as u32 as usize)
    }

    /// Allocates registers: one to a vector that lives within a strip, which is emitted for one part after the other,
    /// and one for each part to others.
    pub fn locations(&self, of: &Pieces<'_>) -> Locations {
        let Pieces { wide, runs, pieces, registers, kept, variables_in_rows } = *of;
        let mut intervals = self.intervals();
        // The last part needs the first part's operands.
        let last = runs.len() - 1;
        for (number, _) in wide.iter().enumerate().filter(|(_, is_wide)| **is_wide) {
            let (from, to) = (intervals.first[number] as usize, intervals.first[number + 1] as usize);
            for (first, end) in &mut intervals.intervals[from..to] {
                (*first, *end) = (runs[*first as usize].0, runs[(*end as usize).min(last)].1);
            }
        }
        let groups = if pieces <= MOST_PIECES { registers / pieces } else { 0 };
        // Where all vectors take equally many registers, these count as one.
        let unit = if wide.iter().all(|&is_wide| is_wide) && groups > 0 { pieces } else { 1 };
        let (registers, each) = (registers / unit, pieces / unit);
        // All registers: single ones are allocated from the last on.
        let mut taken = Sets::new(registers.into(), self.places + 1);
        let mut locations = Locations { of: vec![Location::Nowhere; self.weights.len()], rows: 0, slots: 0 };
        let variables = variables_in_rows.unwrap_or(0);
        (0..variables).for_each(|n| locations.of[n] = Location::Row(n as u32));
        let (mut rows, mut slots) = (Vec::new(), Vec::new());
        for number in self.by_cost(&intervals, kept, |n| if wide[n] { pieces.into() } else { 1 }) {
            let live = intervals.of(number);
            if number < variables {
                continue;
            }
            let found = if wide[number] {
                let all = |group: u8| group * each..(group + 1) * each;
                (0..groups).find(|&group| all(group).all(|r| !taken.meets(r.into(), live))).map(all)
            } else {
                (0..registers).rev().find(|&r| !taken.meets(r.into(), live)).map(|r| r..r + 1)
            };
            match found {
                Some(found) => {
                    found.clone().for_each(|r| taken.add(r.into(), live));
                    locations.of[number] = Location::Register(found.start * unit);
                }
                None if number >= kept && self.weights[number] == 0 => {}
                None if wide[number] => rows.push(number),
                None => slots.push(number),
            }
        }
        let rows = share(&intervals, rows, &mut locations.of, variables as u32);
        let slots = share(&intervals, slots, &mut locations.of, 0);
        Locations { rows, slots, ..locations }
    }
}

/// Allocates rows (or slots) to vectors, from a number on; vectors that are never live together may share one. Gives
/// the number of rows.
fn share(intervals: &Intervals, mut vectors: Vec<usize>, locations: &mut [Location], first: u32) -> u32 {
    let mut count = first;
    // Those in use, by the ends of their intervals.
    let mut used: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    vectors.sort_unstable_by_key(|&number| intervals.of(number).first().map(|interval| interval.0));
    for number in vectors {
        let (Some(first), Some(last)) = (intervals.of(number).first(), intervals.of(number).last()) else { continue };
        let row = match used.peek() {
            Some(&Reverse((until, row))) if until <= first.0 => {
                used.pop();
                row
            }
            _ => {
                count += 1;
                count - 1
            }
        };
        used.push(Reverse((last.1, row)));
        locations[number] = Location::Row(row);
    }
    count
}

/// With more parts than these, vectors that outlive a strip have no registers.
pub const MOST_PIECES: u8 = 4;

/// The inputs of [`Ranges::locations`].
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    /// Of each vector, whether it outlives a strip, or may.
    pub wide: &'a [bool],
    /// Of each place, the first one of its strip, and the last one up to which the last part needs the operands read at
    /// it by the first.
    pub runs: &'a [(u32, u32)],
    /// Parts of a vector.
    pub pieces: u8,
    /// The number of registers.
    pub registers: u8,
    /// From this number on vectors are literals and constants, which need no place in the frame unless they are weighed.
    pub kept: usize,
    /// The count of vectors that get rows, in order.
    pub variables_in_rows: Option<usize>,
}

/// The contents of one register: vectors and the numbers of their instances.
type Held = Vec<(usize, u8)>;

/// Whether two lists of intervals have a place in common.
fn meet(mut a: &[Interval], mut b: &[Interval]) -> bool {
    while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
        if x.1 <= y.0 {
            a = more_a;
        } else if y.1 <= x.0 {
            b = more_b;
        } else {
            return true;
        }
    }
    false
}

impl Ranges {
    /// The weight of all uses, for these instance counts of vectors.
    pub fn weight(&self, instances: &[u8]) -> u64 {
        self.weights.iter().zip(instances).map(|(weight, &instances)| weight * u64::from(instances)).sum()
    }

    /// The live ranges of vectors, for [`Self::registers`]. An instruction on a vector of several instances is several
    /// machine instructions. Its operands are not free before the last of these, at the place `together` of its own.
    pub fn lives(&self, together: &[usize]) -> Lives {
        let intervals = self.intervals();
        let order = self.by_cost(&intervals, usize::MAX, |_| 1).collect();
        let mut wide: Vec<Interval> = Vec::with_capacity(intervals.intervals.len());
        let mut wide_of = vec![(0, 0); self.weights.len()];
        for (vector, of) in wide_of.iter_mut().enumerate() {
            let from = wide.len();
            for &(first, end) in intervals.of(vector) {
                let interval = (first, together.get(end as usize).map_or(end, |&until| end.max(until as u32 + 1)));
                match wide[from..].last_mut() {
                    Some(last) if last.1 >= interval.0 => last.1 = last.1.max(interval.1),
                    _ => wide.push(interval),
                }
            }
            *of = (from as u32, wide.len() as u32);
        }
        Lives { intervals, order, wide, wide_of, places: self.places.max(together.len()) + 64 }
    }

    /// Allocates single registers: vector `n` needs `instances[n]` of them, or none when that is 0. A vector that gets
    /// no register is `None`; the result is `None` as soon as such vectors weigh more than `most`.
    ///
    /// Instance k of an instruction's result may take the register of instance k of an operand, if both vectors are of
    /// one class.
    pub fn registers<C: PartialEq>(
        &self,
        lives: &Lives,
        instances: &[u8],
        classes: &[C],
        count: u8,
        most: u64,
    ) -> Option<SingleAllocation> {
        let intervals = &lives.intervals;
        let wide = |n: usize| lives.wide(n);
        let places = lives.places;
        let (mut live_in, mut wide_in) = (Sets::new(count.into(), places), Sets::new(count.into(), places));
        let mut registers: Vec<Held> = Vec::new();
        let mut given = SingleAllocation { first: Vec::with_capacity(instances.len() + 1), of: Vec::new(), left: 0 };
        let mut total = 0;
        for &instances in instances {
            given.first.push(total);
            total += u32::from(instances);
        }
        given.first.push(total);
        given.of.resize(total as usize, None);
        for &n in &lives.order {
            for instance in 0..instances[n] {
                let mut free = None;
                for (number, held) in registers.iter().enumerate() {
                    if live_in.meets(number, intervals.of(n)) {
                        continue;
                    }
                    let apart = !wide_in.meets(number, intervals.of(n)) && !live_in.meets(number, wide(n));
                    let follows = |&(m, k): &(usize, u8)| {
                        (classes[m] == classes[n] && k == instance)
                            || !(meet(wide(m), intervals.of(n)) || meet(intervals.of(m), wide(n)))
                    };
                    if apart {
                        free = free.or(Some(number));
                    } else if held.iter().all(follows) {
                        // The same instance before or after is the best, as the others will fit as well.
                        free = Some(number);
                        break;
                    }
                }
                if free.is_none() && registers.len() < usize::from(count) {
                    registers.push(Held::new());
                    free = Some(registers.len() - 1);
                }
                match free {
                    Some(number) => {
                        live_in.add(number, intervals.of(n));
                        wide_in.add(number, wide(n));
                        registers[number].push((n, instance));
                    }
                    None => {
                        given.left += self.weights[n];
                        if given.left > most {
                            return None;
                        }
                    }
                }
                given.of[given.first[n] as usize + usize::from(instance)] = free.map(|register| register as u8);
            }
        }
        Some(given)
    }
}

/// The live ranges of vectors, prepared for [`Ranges::registers`].
#[derive(Clone, Debug, Default)]
pub struct Lives {
    intervals: Intervals,
    /// The vectors that are live somewhere, those with the most uses per place first.
    order: Vec<usize>,
    /// The intervals of vectors with their successors.
    wide: Vec<Interval>,
    /// The intervals of each vector, as begin and end.
    wide_of: Vec<(u32, u32)>,
    places: usize,
}

impl Lives {
    fn wide(&self, vector: usize) -> &[Interval] {
        let (first, end) = self.wide_of[vector];
        &self.wide[first as usize..end as usize]
    }
}

/// An allocation of single registers.
#[derive(Clone, Debug)]
pub struct SingleAllocation {
    /// The first register of each vector; one entry more than there are vectors.
    first: Vec<u32>,
    of: Vec<Option<u8>>,
    /// The weight of the vectors without registers.
    pub left: u64,
}

impl SingleAllocation {
    /// The register of each instance of a vector.
    pub fn of(&self, vector: usize) -> &[Option<u8>] {
        &self.of[self.first[vector] as usize..self.first[vector + 1] as usize]
    }
}
