//! Which vectors live in registers.
//!
//! A place is one position in the whole program. Every vector has the set of places at which it is live; registers are given out greedily,
//! the vectors with the most weighted uses per place first (a use inside a loop counts eight times as much as one around it).
//! What gets no register lives in a row of the frame.

use super::lir::{Lines, Vars, Vector};
use crate::form::{BlockId, Code, End, OUTPUT_VARS};
use crate::lanes::output_var;
use crate::passes::{Liveness, VarSet};

/// Where a vector lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In a register: of so many copies, the first.
    Register(u8),
    /// In a row of the frame.
    Row(u32),
    /// It is never live.
    Nowhere,
}

/// Places at which something is live.
#[derive(Clone, Debug)]
struct Places(Vec<u64>);

impl Places {
    fn add(&mut self, first: usize, end: usize) {
        for place in first..end {
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    fn meets(&self, other: &Self, words: std::ops::Range<usize>) -> bool {
        self.0[words.clone()].iter().zip(&other.0[words]).any(|(a, b)| a & b != 0)
    }

    fn merge(&mut self, other: &Self, words: std::ops::Range<usize>) {
        self.0[words.clone()].iter_mut().zip(&other.0[words]).for_each(|(a, b)| *a |= b);
    }
}

/// How a program uses its vectors.
#[derive(Clone, Debug)]
pub struct Ranges {
    live: Vec<Option<Places>>,
    /// The words of each vector's places that are not empty.
    words: Vec<Option<std::ops::Range<usize>>>,
    weights: Vec<u64>,
    places: usize,
    /// How many vectors are live at once where it matters most: in the deepest loops.
    pub pressure: usize,
}

/// Homes of all vectors.
#[derive(Clone, Debug)]
pub struct Homes {
    /// Of each vector.
    pub of: Vec<Home>,
    /// Rows of the frame.
    pub rows: u32,
    /// Registers that some vector uses, in numbers of bundles.
    pub bundles: u8,
}

impl Ranges {
    /// Works them out. `vectors`: how many there are; variables come first.
    pub fn of(code: &Code, lines: &[Lines], live: &Liveness, vars: &Vars, vectors: usize) -> Self {
        let places = lines.iter().map(|l| l.lir.len() + 2).sum::<usize>();
        let mut ranges = Self {
            live: vec![None; vectors],
            words: vec![None; vectors],
            weights: vec![0; vectors],
            places,
            pressure: 0,
        };
        let mut outputs = VarSet::default();
        (0..OUTPUT_VARS).filter(|i| code.outputs >> i & 1 == 1).for_each(|i| outputs.insert(output_var(i)));
        let mut first = 0;
        let mut deepest = 0;
        // The end of the live range that each vector is in, going backwards.
        let mut ends = vec![0; vectors];
        for (index, (block, lines)) in code.blocks.iter().zip(lines).enumerate() {
            let depth = block.frames.frames.len();
            let weight = 1 << (3 * depth);
            let end = first + lines.lir.len() + 2;
            let mut out = if block.end == End::Stop { outputs } else { VarSet::default() };
            block.successors().for_each(|next| {
                out.add(&live.at(next));
            });
            for (number, &var) in vars.used.iter().enumerate() {
                ends[number] = if out.contains(var) { end } else { 0 };
            }
            let mut alive = ends[..vars.used.len()].iter().filter(|&&e| e > 0).count();
            let mut pressure = alive;
            for (line, lir) in lines.lir.iter().enumerate().rev() {
                let place = first + 1 + line;
                if let Some((vector, partly)) = lir.writes() {
                    let number = vector.index();
                    ranges.weights[number] += weight;
                    let end = std::mem::take(&mut ends[number]);
                    alive -= usize::from(end > 0);
                    ranges.add(vector, place, end.max(place + 1), places);
                    if partly {
                        ends[number] = place + 1;
                        alive += 1;
                    }
                }
                for vector in lir.reads() {
                    ranges.weights[vector.index()] += weight;
                    if ends[vector.index()] == 0 {
                        ends[vector.index()] = place;
                        alive += 1;
                    }
                }
                pressure = pressure.max(alive);
            }
            let into = live.at(BlockId(index as u16));
            for (number, &var) in vars.used.iter().enumerate() {
                let end = std::mem::take(&mut ends[number]);
                if into.contains(var) || end > 0 {
                    ranges.add(Vector(number as u32), first, end.max(first + 1), places);
                }
            }
            if depth > deepest || (depth == deepest && pressure > ranges.pressure) {
                (deepest, ranges.pressure) = (depth, pressure);
            }
            first = end;
        }
        ranges
    }

    /// Nothing is live yet: for so many vectors and places.
    pub fn empty(vectors: usize, places: usize) -> Self {
        let (live, words) = (vec![None; vectors], vec![None; vectors]);
        Self { live, words, weights: vec![0; vectors], places, pressure: 0 }
    }

    /// Counts a use.
    pub fn weigh(&mut self, vector: Vector, weight: u64) {
        self.weights[vector.index()] += weight;
    }

    /// A vector is live from `first` to before `end`, of so many places.
    pub fn add(&mut self, vector: Vector, first: usize, end: usize, places: usize) {
        let number = vector.index();
        self.live[number].get_or_insert_with(|| Places(vec![0; places.div_ceil(64)])).add(first, end);
        let (start, end) = (first / 64, (end - 1) / 64 + 1);
        let words = self.words[number].get_or_insert(start..end);
        *words = words.start.min(start)..words.end.max(end);
    }

    /// Gives out `bundles` bundles; with `all_rows` none, as every variable has to be reached by a number.
    pub fn homes(&self, bundles: u8, variables_in_rows: Option<usize>) -> Homes {
        let count = self.live.len();
        let mut order: Vec<usize> = (0..count).filter(|&n| self.live[n].is_some()).collect();
        let words = |n: usize| self.words[n].clone().unwrap_or(0..0);
        let density = |n: usize| {
            let length: u64 =
                self.live[n].as_ref().map_or(1, |p| p.0[words(n)].iter().map(|w| u64::from(w.count_ones())).sum());
            self.weights[n] * 1024 / length.max(1)
        };
        let mut densities = vec![0; count];
        order.iter().for_each(|&n| densities[n] = density(n));
        order.sort_by_key(|&n| (std::cmp::Reverse(densities[n]), n));
        let mut taken: Vec<Places> = Vec::new();
        let mut homes = Homes { of: vec![Home::Nowhere; count], rows: 0, bundles: 0 };
        if let Some(variables) = variables_in_rows {
            // Rows of variables stand in the order of their numbers.
            (0..variables).for_each(|n| homes.of[n] = Home::Row(n as u32));
            homes.rows = variables as u32;
            order.retain(|&n| n >= variables);
        }
        for number in order {
            let Some(live) = &self.live[number] else { continue };
            let words = words(number);
            let free = taken.iter().position(|taken| !taken.meets(live, words.clone()));
            let bundle = match free {
                Some(bundle) => bundle,
                None if taken.len() < usize::from(bundles) => {
                    taken.push(Places(vec![0; self.places.div_ceil(64)]));
                    taken.len() - 1
                }
                None => {
                    homes.of[number] = Home::Row(homes.rows);
                    homes.rows += 1;
                    continue;
                }
            };
            taken[bundle].merge(live, words);
            homes.of[number] = Home::Register(bundle as u8);
        }
        homes.bundles = taken.len() as u8;
        homes
    }
}

/// What lives in one register.
#[derive(Default)]
struct Register {
    live: Vec<u64>,
    wide: Vec<u64>,
    /// Vectors and the number of the instance.
    held: Vec<(usize, u8)>,
}

fn meets(a: &[u64], b: &[u64], words: &std::ops::Range<usize>) -> bool {
    words.clone().any(|word| a[word] & b[word] != 0)
}

impl Ranges {
    /// Gives out single registers: vector `n` needs `instances[n]` of them, or none when that is 0. What gets no register is `None`;
    /// the second result is how much that weighs.
    ///
    /// An instruction on a vector of several instances is several machine instructions. Up to the last one of them, the place
    /// `together` of its own, what it reads is not free yet; but instance k of what it writes may take the place of instance k of what it
    /// reads, if both vectors are of one class.
    pub fn registers(
        &self,
        instances: &[u8],
        classes: &[u8],
        together: &[usize],
        count: u8,
    ) -> (Vec<Vec<Option<u8>>>, u64) {
        let size = self.places.div_ceil(64) + 1;
        let mut order: Vec<usize> =
            (0..self.live.len()).filter(|&n| self.live[n].is_some() && instances[n] > 0).collect();
        let mut wide: Vec<Vec<u64>> = vec![Vec::new(); self.live.len()];
        let mut live: Vec<Vec<u64>> = vec![Vec::new(); self.live.len()];
        let mut words: Vec<std::ops::Range<usize>> = vec![0..0; self.live.len()];
        let mut densities = vec![0; self.live.len()];
        for &n in &order {
            let (Some(places), Some(range)) = (&self.live[n], &self.words[n]) else { continue };
            let mut bits = places.0.clone();
            bits.resize(size, 0);
            let mut wider = bits.clone();
            let mut last = range.end;
            let places = 64 * range.start + 1..(64 * range.end + 1).min(together.len());
            for (place, &until) in together.iter().enumerate().take(places.end).skip(places.start) {
                let is = |place: usize| bits[place / 64] >> (place % 64) & 1 == 1;
                if is(place - 1) && !is(place) {
                    (place..=until).for_each(|p| wider[p / 64] |= 1 << (p % 64));
                    last = last.max(until / 64 + 1);
                }
            }
            let length: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
            densities[n] = self.weights[n] * 1024 / length.max(1);
            (live[n], wide[n], words[n]) = (bits, wider, range.start..last);
        }
        order.sort_by_key(|&n| (std::cmp::Reverse(densities[n]), n));
        let mut registers: Vec<Register> = Vec::new();
        let mut homes = vec![Vec::new(); instances.len()];
        let mut left = 0;
        for n in order {
            let range = words[n].clone();
            for instance in 0..instances[n] {
                let mut free = None;
                for (number, register) in registers.iter().enumerate() {
                    if meets(&register.live, &live[n], &range) {
                        continue;
                    }
                    let apart = !meets(&register.wide, &live[n], &range) && !meets(&register.live, &wide[n], &range);
                    let follows = |&(m, k): &(usize, u8)| {
                        let touches = meets(&wide[m], &live[n], &range) || meets(&live[m], &wide[n], &range);
                        !touches || (classes[m] == classes[n] && k == instance)
                    };
                    if apart {
                        free = free.or(Some(number));
                    } else if register.held.iter().all(follows) {
                        // The same instance before or after: best, as the others will fit as well.
                        free = Some(number);
                        break;
                    }
                }
                if free.is_none() && registers.len() < usize::from(count) {
                    registers.push(Register { live: vec![0; size], wide: vec![0; size], held: Vec::new() });
                    free = Some(registers.len() - 1);
                }
                match free {
                    Some(number) => {
                        let register = &mut registers[number];
                        range.clone().for_each(|w| {
                            register.live[w] |= live[n][w];
                            register.wide[w] |= wide[n][w];
                        });
                        register.held.push((n, instance));
                    }
                    None => left += self.weights[n],
                }
                homes[n].push(free.map(|register| register as u8));
            }
        }
        (homes, left)
    }
}
