//! The location of the active lanes: a general register, a mask register for each part, or both. Without mask registers the
//! parts are those of a vector.
//!
//! The location of the active lanes at the beginning of a block is where its instructions, or those of later blocks,
//! need them first; each predecessor puts them there. So a loop whose lanes only leave by comparisons, and whose
//! instructions work under masks, never moves them.

use super::input::Needs;
use super::{ACTIVE, Emit};
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::vectors::{Destination, Vectors};
use ctm_ir::masked::{JumpTarget, M};
use ctm_x86::{Cond, Int, OR_F32, RAX, RCX, Rm};

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
    pub(super) fn test_lanes(&mut self, m: M, some: JumpTarget) {
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
                    Destination::Register(register) => Rm::Reg(register),
                    Destination::Memory(row) => row,
                    Destination::Nowhere => continue,
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
