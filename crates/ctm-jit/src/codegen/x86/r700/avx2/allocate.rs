//! Where vectors live: those within a segment in registers, or in slots of 32 bytes when there are too many; all others in rows.
//!
//! A segment is straight, so the registers are given out from its beginning to its end; where there are too few, what is needed last
//! goes to a slot. Rows of what lives within a block are used again by other blocks.

use super::super::emit::Layout;
use super::super::{Ins, ROW};
use super::segments::Step;
use super::{PART, Program};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::Vector;

/// Where a vector lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a register.
    Register(u8),
    /// In a slot: its number.
    Slot(u32),
    /// In a row: its offset in the frame.
    Row(i32),
    /// Nobody reads it.
    Nowhere,
}

/// Locations of all vectors.
pub struct Locations {
    /// Of each vector.
    pub of: Vec<Location>,
    /// Rows, but for start values and exports.
    pub rows: u32,
    /// Slots.
    pub slots: u32,
}

/// Where a vector occurs in a block: step, and place within it.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    first: (u32, u32),
    last: (u32, u32),
    occurs: bool,
    read: bool,
    /// Something that concerns the wavefront as a whole names it.
    whole: bool,
}

impl Life {
    fn note(&mut self, at: (u32, u32), whole: bool, read: bool) {
        if !self.occurs {
            self.first = at;
        }
        self.last = at;
        self.occurs = true;
        self.whole |= whole;
        self.read |= read;
    }
}

/// Things of which so many are in use until some place.
#[derive(Default)]
struct Pool {
    until: Vec<u32>,
}

impl Pool {
    /// One that is free at `from`; in use until `end`.
    fn take(&mut self, from: u32, end: u32) -> usize {
        let free = self.until.iter().position(|&until| until <= from);
        let number = free.unwrap_or(self.until.len());
        if free.is_none() {
            self.until.push(end);
        }
        self.until[number] = end;
        number
    }
}

impl Locations {
    /// Finds them.
    pub fn of(program: &Program<'_>, blocks: &[Vec<Step<'_>>]) -> Self {
        let layout = Layout::new(program.start.len(), program.exports.len(), (0, ROW), 0, false);
        let mut locations = Self { of: vec![Location::Nowhere; program.vectors], rows: 0, slots: 0 };
        for (number, &var) in program.used.iter().enumerate() {
            let start = program.start.iter().position(|&v| v == var);
            let export = var.export_index().and_then(|index| program.exports.iter().position(|&e| e == index));
            locations.of[number] = match (start, export) {
                // Where they are given, and wanted.
                (Some(place), _) if number >= program.indexed => Location::Row(layout.start + ROW * place as i32),
                (_, Some(place)) => Location::Row(layout.exports + ROW * place as i32),
                _ => {
                    locations.rows += 1;
                    Location::Row(layout.spills + ROW * (locations.rows - 1) as i32)
                }
            };
        }
        let variables = locations.rows;
        let mut lives = vec![Life::default(); program.vectors];
        for steps in blocks {
            let mut rows = Pool::default();
            let own = note(program.used.len(), steps, &mut lives);
            let mut segments: Vec<Vec<Vector>> = vec![Vec::new(); steps.len()];
            for vector in own {
                let life = lives[vector.index()];
                if !life.read {
                    continue;
                }
                if life.whole || life.first.0 != life.last.0 {
                    let row = variables + rows.take(life.first.0, life.last.0 + 1) as u32;
                    locations.of[vector.index()] = Location::Row(layout.spills + ROW * row as i32);
                } else {
                    segments[life.first.0 as usize].push(vector);
                }
            }
            locations.rows = locations.rows.max(variables + rows.until.len() as u32);
            for vectors in segments {
                locations.segment(&vectors, &lives);
            }
        }
        locations
    }

    /// Gives locations to vectors that live within one segment, in the order in which they are made.
    fn segment(&mut self, vectors: &[Vector], lives: &[Life]) {
        let end = |vector: Vector| lives[vector.index()].last.1.max(lives[vector.index()].first.1 + 1);
        let mut free: Vec<u8> = (0..Isa::Avx2.registers()).rev().collect();
        let mut active: Vec<(Vector, u8)> = Vec::new();
        let mut without = Vec::new();
        for &vector in vectors {
            let from = lives[vector.index()].first.1;
            active.retain(|&(old, register)| {
                let stays = end(old) > from;
                if !stays {
                    free.push(register);
                }
                stays
            });
            let register = free.pop().or_else(|| {
                let (place, &(last, register)) = active.iter().enumerate().max_by_key(|(_, (v, _))| end(*v))?;
                if end(last) <= end(vector) {
                    return None;
                }
                active.remove(place);
                without.push(last);
                Some(register)
            });
            match register {
                Some(register) => {
                    active.push((vector, register));
                    self.of[vector.index()] = Location::Register(register);
                }
                None => without.push(vector),
            }
        }
        without.sort_unstable_by_key(|vector| lives[vector.index()].first.1);
        let mut slots = Pool::default();
        for vector in without {
            let slot = slots.take(lives[vector.index()].first.1, end(vector));
            self.of[vector.index()] = Location::Slot(slot as u32);
        }
        self.slots = self.slots.max(slots.until.len() as u32);
    }
}

/// Notes where the vectors of a block that are no variables occur; these, in the order in which they are made.
fn note(variables: usize, steps: &[Step<'_>], lives: &mut [Life]) -> Vec<Vector> {
    let mut own = Vec::new();
    let mut one = |ins: &Ins, at: (u32, u32), whole: bool| {
        let mut occurs = |vector: Vector, read: bool| {
            let life = &mut lives[vector.index()];
            if vector.index() >= variables {
                if !life.occurs {
                    own.push(vector);
                }
                life.note(at, whole, read);
            }
        };
        ins.reads().for_each(|vector| occurs(vector, true));
        if let Some((vector, _)) = ins.writes() {
            occurs(vector, false);
        }
    };
    for (step, number) in steps.iter().zip(0..) {
        match step {
            Step::Segment(list) => list.iter().zip(0..).for_each(|(ins, place)| one(ins, (number, place), false)),
            Step::Whole(ins) => one(ins, (number, 0), true),
        }
    }
    own
}

/// Bytes of so many slots.
pub const fn slot_bytes(slots: u32) -> i32 {
    PART * slots as i32
}
