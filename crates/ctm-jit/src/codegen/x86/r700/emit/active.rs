//! Where the active lanes are: in a general register, in a mask register for each piece, or in both.
//!
//! Each block begins with them where its instructions, or those of blocks behind it, need them first; whoever leads there puts them there. So a loop
//! whose lanes only leave by comparisons, and whose instructions work under masks, never moves them.

use super::{ACTIVE, Emit};
use crate::codegen::x86::asm::{Cond, Int, Label, RAX, RBX, RCX};
use crate::codegen::x86::r700::Ins;
use crate::codegen::x86::r700::fused::Iterations;
use crate::codegen::x86::r700::wide::{SHL, SHR};
use crate::ir::r700::{Code, End, M};

/// Where they are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// As a general register.
    pub whole: bool,
    /// As mask registers.
    pub pieces: bool,
}

impl Needs {
    const WHOLE: Self = Self { whole: true, pieces: false };
    const PIECES: Self = Self { whole: false, pieces: true };

    const fn and(self, other: Self) -> Self {
        Self { whole: self.whole || other.whole, pieces: self.pieces || other.pieces }
    }

    /// What each block needs at its beginning.
    pub fn of(code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> Vec<Self> {
        let mut needs = vec![Self::default(); lists.len()];
        loop {
            let before = needs.clone();
            for (index, (block, list)) in code.blocks.iter().zip(lists).enumerate().rev() {
                let mut need = Self::behind(block.end, &needs);
                // A jump takes them where they are.
                let mut jumps = need == Self::default()
                    && match (iterations[index], block.end) {
                        (Some(iterations), _) => iterations.lanes == M::ACTIVE,
                        (None, End::Branch { mask, .. }) => mask == M::ACTIVE,
                        (None, _) => false,
                    };
                for ins in list.iter().rev() {
                    let (reads, writes) = uses(ins);
                    if writes {
                        (need, jumps) = (Self::default(), false);
                    }
                    if let Some(reads) = reads {
                        (need, jumps) = (need.and(reads), false);
                    }
                }
                needs[index] = if jumps { Self::WHOLE } else { need };
            }
            if needs == before {
                return needs;
            }
        }
    }

    /// What the blocks need that a block goes on to.
    pub fn behind(end: End, needs: &[Self]) -> Self {
        end.successors().fold(Self::default(), |need, next| need.and(needs[next]))
    }
}

/// Where an instruction reads the active lanes, and whether they are somewhere else behind it.
fn uses(ins: &Ins) -> (Option<Needs>, bool) {
    let whole = |reads: bool| reads.then_some(Needs::WHOLE);
    match *ins {
        Ins::Set(.., under) | Ins::SetTwo(.., under) | Ins::SetRelative(.., under) | Ins::Keep(.., under) => {
            ((under == M::ACTIVE).then_some(Needs::PIECES), false)
        }
        Ins::EndKeep => (Some(Needs::PIECES), true),
        Ins::Mark(_, under) => (whole(under == M::ACTIVE), false),
        Ins::Tally(_, _, lanes) => (whole(lanes == M::ACTIVE), false),
        Ins::Mask(op) => (whole(op.reads().contains(&Some(M::ACTIVE))), op.writes() == M::ACTIVE),
        Ins::EndLanes(m) => (None, m == M::ACTIVE),
        // These change mask registers.
        Ins::Call(..) | Ins::Sample(..) | Ins::Yield(_) => (whole(true), true),
        Ins::Lir(_)
        | Ins::Split
        | Ins::ZeroRule(..)
        | Ins::GetRelative(..)
        | Ins::Number(..)
        | Ins::BeginLanes
        | Ins::Slope(..)
        | Ins::Also(_) => (None, false),
    }
}

impl Emit<'_> {
    /// A block begins.
    pub(super) fn active_at(&mut self, index: usize) {
        (self.whole, self.cached) = (self.needs[index].whole, self.needs[index].pieces);
    }

    /// Puts the active lanes where they are needed.
    pub(super) fn provide(&mut self, need: Needs) {
        if need.whole {
            self.whole();
        }
        if need.pieces {
            self.pieces();
        }
    }

    /// The active lanes are in their general register. Changes rcx.
    pub(super) fn whole(&mut self) {
        if self.whole {
            return;
        }
        for copy in self.copies() {
            self.asm.mask_to(if copy == 0 { ACTIVE } else { RCX }, 4 + copy);
            if copy > 0 {
                self.asm.wide_shift(SHL, RCX, 16 * copy);
                self.asm.wide(Int::Or, ACTIVE, RCX);
            }
        }
        self.whole = true;
    }

    /// The active lanes of each piece are in its mask register. Changes rax.
    pub(super) fn pieces(&mut self) {
        if self.cached {
            return;
        }
        for copy in self.copies() {
            self.asm.wide(Int::Mov, RAX, ACTIVE);
            if copy > 0 {
                self.asm.wide_shift(SHR, RAX, 16 * copy);
            }
            self.asm.mask_from(4 + copy, RAX);
        }
        self.cached = true;
    }

    /// Looks whether a lane of a mask is there: equal where none is.
    pub(super) fn test_lanes(&mut self, m: M) {
        if m != M::ACTIVE || self.whole {
            let register = self.mask_register(m, RAX);
            return self.asm.wide_test(register, register);
        }
        match self.input.copies {
            1 => self.asm.mask_test(4),
            2 => self.asm.mask_test_two(4, 5),
            _ => {
                self.asm.mask_or(1, 4, 5);
                self.asm.mask_or(2, 6, 7);
                self.asm.mask_test_two(1, 2);
            }
        }
    }

    /// Goes to `none` when no iteration is left.
    pub(super) fn test_iterations(&mut self, left: M, none: Label) {
        match self.mask_location(left) {
            Some(register) => self.asm.wide_test(register, register),
            None => self.asm.int_store_imm(Int::Cmp, true, RBX, Self::mask_at(left), 0),
        }
        self.asm.jump_if(Cond::Equal, none);
    }
}
