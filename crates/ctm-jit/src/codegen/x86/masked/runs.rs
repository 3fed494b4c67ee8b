//! Strips: runs of instructions that are emitted for one register part of the wavefront after the other. A vector that
//! lives within a strip needs one register then, for any number of parts.
//!
//! No operation of the form reads beyond its quad, so on targets with few registers strips are as long as possible
//! (`Target::strips`). On others they are as short as possible, so that the code of one part is beside that of the others: single
//! instructions, and sequences that pass masks in mask registers. An instruction that changes or reads masks as a whole
//! moves before the strip that it was found in, unless the strip makes or reads the same masks.

use super::ins::Ins;
use crate::codegen::target::Target;
use crate::codegen::x86::lir::{self, Vector};
use ctm_ir::masked::{M, MaskOp};
use std::ops::Range;

/// The strips of a program.
pub struct Runs {
    target: &'static Target,
    /// The ranges in the list of each block.
    pub of: Vec<Vec<Range<usize>>>,
}

impl Runs {
    /// No strips.
    pub const fn none(target: &'static Target) -> Self {
        Self { target, of: Vec::new() }
    }

    /// Finds the strips, and moves instructions before them where possible.
    pub fn of(target: &'static Target, lists: &mut [Vec<Ins>]) -> Self {
        Self { target, of: lists.iter_mut().map(|list| of_list(target, list)).collect() }
    }

    /// Of each vector, whether it is used outside of a single strip, so that it needs a place for each part; where
    /// strips are short all do. Variables come first.
    pub fn wide(&self, lists: &[Vec<Ins>], variables: usize, vectors: usize) -> Vec<bool> {
        const NEVER: u32 = 0;
        const WHOLE: u32 = 1;
        let mut wide = vec![self.target.has_short_strips(); vectors];
        if self.target.has_short_strips() {
            return wide;
        }
        wide[..variables].fill(true);
        let mut named = vec![NEVER; vectors];
        let mut number = WHOLE;
        for (list, runs) in lists.iter().zip(&self.of) {
            let mut runs = runs.iter().peekable();
            for (at, ins) in list.iter().enumerate() {
                while runs.next_if(|run| run.end <= at).is_some() {}
                let by = match runs.peek() {
                    Some(run) if run.start <= at => {
                        number += u32::from(run.start == at);
                        number
                    }
                    _ => WHOLE,
                };
                let (written, sources) = ins.touches();
                let mut name = |vector: Vector| {
                    let named = &mut named[vector.index()];
                    wide[vector.index()] |= by == WHOLE || (*named != NEVER && *named != by);
                    *named = by;
                };
                written.into_iter().for_each(|(dst, _)| name(dst));
                lir::each_read(written, &sources, name);
            }
        }
        wide
    }

    /// Of each place of [`crate::codegen::x86::allocate::Ranges`], the first one of its strip, and the last one up to
    /// which the last part needs the operands read at it by the first.
    pub fn places(&self, lists: &[Vec<Ins>]) -> Vec<(u32, u32)> {
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (list, runs) in lists.iter().zip(&self.of) {
            let first = places.len();
            places.extend((first..first + list.len() + 2).map(|place| (place as u32, place as u32)));
            // Of short strips parts share no registers.
            for run in runs.iter().filter(|_| !self.target.has_short_strips()) {
                let (from, to) = (first + 1 + run.start, first + 1 + run.end);
                places[from..to].fill((from as u32, to as u32));
            }
        }
        places
    }
}

/// The search for strips in a list.
#[derive(Default)]
struct Found<'a> {
    list: &'a [Ins],
    /// The instructions in their new order, up to the present strip.
    out: Vec<Ins>,
    runs: Vec<Range<usize>>,
    /// The beginning of the present strip.
    from: usize,
    /// The count of instructions within it that move in front of it.
    before: usize,
    /// It has other instructions than marks.
    is_run: bool,
    /// Its last instruction names a mask register.
    ends_with_mask: bool,
    /// The masks that it reads, and those it makes.
    reads: Vec<M>,
    makes: Vec<M>,
}

impl Found<'_> {
    /// Whether an instruction on masks can move before the present strip.
    fn stands_before(&self, ins: &Ins) -> bool {
        match *ins {
            Ins::Mark(_, m) | Ins::Tally { under: m, .. } => !self.makes.contains(&m),
            Ins::Mask(MaskOp::Lanes(..)) => false,
            Ins::Mask(op) => {
                let [a, b] = op.reads();
                !self.reads.contains(&op.writes())
                    && [Some(op.writes()), a, b].into_iter().flatten().all(|m| !self.makes.contains(&m))
            }
            _ => false,
        }
    }

    /// The present strip ends before this place.
    fn end(&mut self, at: usize) {
        let run = &self.list[self.from..at];
        if self.is_run {
            let begin = self.out.len();
            match run {
                [ins] => self.out.push(*ins),
                _ if self.before == 0 => self.out.extend_from_slice(run),
                _ => self.out.extend(run.iter().filter(|ins| !ins.is_whole())),
            }
            self.runs.push(begin..self.out.len());
        }
        (self.from, self.before, self.is_run, self.ends_with_mask) = (at, 0, false, false);
        self.reads.clear();
        self.makes.clear();
    }
}

fn of_list(target: &'static Target, list: &mut Vec<Ins>) -> Vec<Range<usize>> {
    let mut found = Found { list, out: Vec::with_capacity(list.len()), ..Found::default() };
    // A sequence of instructions that stay together has begun.
    let mut together = false;
    for (at, ins) in found.list.iter().enumerate() {
        if let Ins::Lir(lir) = ins {
            let uses_masks = lir.uses_masks();
            if target.has_short_strips() && !together && !(found.ends_with_mask && uses_masks) {
                found.end(at);
            }
            (found.is_run, found.ends_with_mask) = (true, uses_masks);
            continue;
        }
        if ins.is_whole() {
            if found.stands_before(ins) {
                found.before += 1;
            } else {
                found.end(at);
                found.from = at + 1;
            }
            found.out.push(*ins);
            continue;
        }
        let read = ins.mask().filter(|&m| m != M::EXISTING);
        let meets = match ins {
            // A strip makes at most one mask besides.
            Ins::BeginLanes => found.makes.iter().any(|&m| m != M::ACTIVE),
            // The parts of the active lanes are in place.
            _ => read.is_some_and(|m| m != M::ACTIVE && found.makes.contains(&m)),
        };
        let stays = !target.has_short_strips() || together;
        match ins {
            Ins::BeginLanes | Ins::BeginRare(_) => together = true,
            Ins::EndLanes(_) | Ins::EndKeep | Ins::EndLeave(_) | Ins::EndRare => together = false,
            _ => {}
        }
        if meets || !stays {
            found.end(at);
        }
        found.is_run |= !matches!(ins, Ins::Split);
        found.ends_with_mask = false;
        found.reads.extend(read.filter(|m| !found.reads.contains(m)));
        match *ins {
            Ins::EndLanes(M::ACTIVE) => found.end(at + 1),
            Ins::EndLanes(m) => found.makes.push(m),
            Ins::EndKeep => found.makes.push(M::ACTIVE),
            _ => {}
        }
    }
    found.end(found.list.len());
    let Found { out, runs, .. } = found;
    *list = out;
    runs
}
