//! The location of the active lanes: a general register, a mask register for each part, or both. Without mask registers the
//! parts are those of a vector.
//!
//! The location of the active lanes at the beginning of a block is where its instructions, or those of later blocks,
//! need them first; each predecessor puts them there. So a loop whose lanes only leave by comparisons, and whose
//! instructions work under masks, never moves them.

use super::{ACTIVE, Emit};
use crate::codegen::x86::allocate::Ranges;
use crate::codegen::x86::lir::Vector;
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::fused::Iterations;
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::vectors::{Place, Vectors};
use crate::ir::masked::{Block, Code, End, M, Target};
use ctm_x86::{Cond, Int, OR_F32, RAX, RCX, Rm};

/// The needed location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// As a general register.
    pub whole: bool,
    /// As mask registers.
    pub pieces: bool,
}

/// The needed location of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// In mask registers.
    InMasks,
    /// In a vector.
    InVector,
    /// They are made from the general register at each use.
    Nowhere,
}

impl Needs {
    const WHOLE: Self = Self { whole: true, pieces: false };
    const PIECES: Self = Self { whole: false, pieces: true };

    const fn and(self, other: Self) -> Self {
        Self { whole: self.whole || other.whole, pieces: self.pieces || other.pieces }
    }

    /// The needs of each block at its beginning.
    pub fn of(lies: Lies, code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> Vec<Self> {
        // The needs of its own instructions, up to the one that puts the lanes somewhere else.
        let mut own: Vec<(Self, bool)> = lists.iter().map(|list| Self::of_list(lies, list)).collect();
        let needs = Self::settle(code, &own);
        // A jump takes them from any location; where nothing fixes one, from the general register.
        for (index, block) in code.blocks.iter().enumerate() {
            let jumps = match (iterations[index], block.end) {
                (Some(iterations), _) => iterations.lanes == M::ACTIVE,
                (None, End::Branch { mask, .. }) => mask == M::ACTIVE,
                (None, _) => false,
            };
            if jumps && !own[index].1 && needs[index] == Self::default() {
                own[index].0 = Self::WHOLE;
            }
        }
        Self::settle(code, &own)
    }

    /// The needs of blocks and their successors: a fixed point. Needs only grow from round to round, so it ends.
    fn settle(code: &Code, own: &[(Self, bool)]) -> Vec<Self> {
        let mut needs = vec![Self::default(); own.len()];
        loop {
            let mut changed = false;
            for (index, (block, &(own, is_put))) in code.blocks.iter().zip(own).enumerate().rev() {
                let need = if is_put { own } else { own.and(Self::behind(block.end, &needs)) };
                changed |= std::mem::replace(&mut needs[index], need) != need;
            }
            if !changed {
                return needs;
            }
        }
    }

    /// The needs of a block's own instructions, and whether one of them puts the lanes somewhere else.
    fn of_list(lies: Lies, list: &[Ins]) -> (Self, bool) {
        let mut own = Self::default();
        for ins in list {
            let (reads, is_put) = uses(lies, ins);
            own = own.and(reads.unwrap_or_default());
            if is_put {
                return (own, true);
            }
        }
        (own, false)
    }

    /// The needs of a block's successors.
    pub fn behind(end: End, needs: &[Self]) -> Self {
        end.successors().fold(Self::default(), |need, next| need.and(needs[next]))
    }
}

/// Adds a vector for the active lanes, if masks are vectors and it is worth one: where there are loops.
pub fn add_active(
    ranges: &mut Ranges,
    code: &Code,
    lists: &[Vec<Ins>],
    iterations: &[Option<Iterations>],
) -> Option<Vector> {
    let is_worth_it =
        |(block, list): (&Block, &Vec<Ins>)| block.loops > 0 || list.iter().any(|ins| matches!(ins, Ins::EndKeep));
    if !code.blocks.iter().zip(lists).any(is_worth_it) {
        return None;
    }
    let needs = Needs::of(Lies::InVector, code, lists, iterations);
    let mut vector = None;
    let mut end = lists.iter().map(|list| list.len() + 2).sum();
    for ((block, list), need) in code.blocks.iter().zip(lists).zip(&needs).rev() {
        let first = end - (list.len() + 2);
        let uses = list.iter().filter(|ins| uses(Lies::InVector, ins).0.is_some_and(|need| need.pieces)).count() as u64;
        if uses > 0 || need.pieces || Needs::behind(block.end, &needs).pieces {
            let vector = *vector.get_or_insert_with(|| ranges.vector());
            ranges.weigh(vector, uses << (3 * block.loops.min(8)));
            ranges.add(vector, first, end);
        }
        end = first;
    }
    vector
}

/// The location from which an instruction reads the active lanes, and whether it moves them.
fn uses(lies: Lies, ins: &Ins) -> (Option<Needs>, bool) {
    let whole = |reads: bool| reads.then_some(Needs::WHOLE);
    match *ins {
        // It is in no strip, and may be a loop over lanes.
        Ins::SetRelative { under, .. } => (whole(under == M::ACTIVE), false),
        Ins::Set { .. } | Ins::SetTwo { .. } | Ins::Keep { .. } | Ins::EndLeave(_) => {
            let needs = if lies == Lies::Nowhere { Needs::WHOLE } else { Needs::PIECES };
            ((ins.works_under() == Some(M::ACTIVE)).then_some(needs), false)
        }
        Ins::EndKeep => (Some(Needs::PIECES), true),
        Ins::Mark(_, under) => (whole(under == M::ACTIVE), false),
        Ins::Tally { under: lanes, .. } => (whole(lanes == M::ACTIVE), false),
        Ins::Mask(op) => (whole(op.reads().contains(&Some(M::ACTIVE))), op.writes() == M::ACTIVE),
        Ins::EndLanes(m) => (None, m == M::ACTIVE),
        // These change mask registers.
        Ins::Call(..) | Ins::Yield(_) => (whole(true), true),
        Ins::Lir(_)
        | Ins::Split
        | Ins::BeginRare(_)
        | Ins::EndRare
        | Ins::Guard { .. }
        | Ins::GetRelative { .. }
        | Ins::Number(..)
        | Ins::BeginLanes
        | Ins::Elements { .. }
        | Ins::Also(_) => (None, false),
    }
}

impl Emit<'_> {
    /// Moves the active lanes to the needed location.
    pub(super) fn provide(&mut self, need: Needs) {
        if need.whole {
            self.whole();
        }
        if need.pieces {
            self.spread();
        }
    }

    /// The active lanes are in their general register. Changes rcx.
    pub(super) fn whole(&mut self) {
        if self.is_whole {
            return;
        }
        let lanes = self.target().lanes as u8;
        for piece in self.pieces() {
            let to = if piece == 0 { ACTIVE } else { RCX };
            if self.target().has_mask_registers() {
                self.asm.mask_to(to, 4 + piece);
            } else {
                let signs = self.active_signs(piece, self.target().scratch());
                self.asm.signs(to, signs);
            }
            if piece > 0 {
                self.asm.wide_shift(SHL, RCX, lanes * piece);
                self.asm.wide(Int::Or, ACTIVE, RCX);
            }
        }
        self.is_whole = true;
    }

    /// The active lanes of each part are in its mask register. Changes rax.
    pub(super) fn spread(&mut self) {
        if self.is_spread {
            return;
        }
        self.is_spread = true;
        if !self.target().has_mask_registers() {
            return self.spread_active();
        }
        for piece in self.pieces() {
            self.asm.wide(Int::Mov, RAX, ACTIVE);
            if piece > 0 {
                self.asm.wide_shift(SHR, RAX, 16 * piece);
            }
            self.asm.mask_from(4 + piece, RAX);
        }
    }

    /// Tests whether a mask has a lane: equal where it is empty. Where it is not, may jump to `some` at once.
    pub(super) fn test_lanes(&mut self, m: M, some: Target) {
        if m != M::ACTIVE || self.is_whole {
            let register = self.mask_register(m, RAX);
            return self.asm.wide_test(register, register);
        }
        // Mostly the first part has an active lane.
        if !self.target().has_mask_registers() {
            let scratch = self.target().scratch();
            let first = self.active_signs(0, scratch);
            self.asm.signs(RAX, first);
            self.asm.test(RAX, RAX);
            let to = self.label_of(some);
            self.asm.jump_if(Cond::NotEqual, to);
            let mut all = self.active_signs(1, scratch);
            for piece in self.pieces().skip(2) {
                let last = match self.active_place(piece) {
                    Place::Register(register) => Rm::Reg(register),
                    Place::Memory(row) => row,
                    Place::Nowhere => continue,
                };
                self.asm.vector(OR_F32, scratch, all, last);
                all = scratch;
            }
            self.asm.signs(RAX, all);
            return self.asm.test(RAX, RAX);
        }
        // Bits of general registers are tested faster than mask registers.
        self.asm.mask_to(RAX, 4);
        self.asm.test(RAX, RAX);
        for piece in 1..self.input.pieces {
            if piece == 1 && self.input.pieces > 2 {
                let to = self.label_of(some);
                self.asm.jump_if(Cond::NotEqual, to);
            }
            self.asm.mask_to(RCX, 4 + piece);
            self.asm.wide(Int::Or, RAX, RCX);
        }
    }
}

#[cfg(test)]
#[path = "../../../../../tests/unit/codegen/x86/masked/emit/active.rs"]
mod tests;
