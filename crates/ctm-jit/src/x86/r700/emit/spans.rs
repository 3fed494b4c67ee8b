//! What follows a wavefront of a span: its exports are stored, the next one begins.

use super::{ACTIVE, Emit};
use crate::r700::form::M;
use crate::x86::encode::{ADD, BROADCAST, Cond, Int, Label, RAX, RBX, RCX, RDX, Rm};
use crate::x86::isa::Isa;
use crate::x86::quads::Stores;
use crate::x86::r700::spans::{LEFT, target, targets_of};
use crate::x86::r700::{ROW, head};

impl Emit<'_> {
    /// A wavefront has ended, whose exports are in rows. Goes on behind this where it is in no span, or was the last one; at `again` with the next one.
    pub(super) fn after_wave(&mut self, again: Label) {
        let (end, left) = (self.asm.label(), self.asm.label());
        self.asm.int_store_imm(Int::Cmp, false, RBX, head::WAVES, 0);
        self.asm.jump_if(Cond::Equal, end);
        // Whether all lanes are left, and have written everything.
        let written = |export: usize| head::WRITTEN + 8 * export as i32;
        let existing = Self::mask_at(M::EXISTING);
        self.asm.int_load(Int::Mov, true, RAX, RBX, Self::mask_at(M::VALID));
        for &export in self.input.exports {
            self.asm.int_load(Int::And, true, RAX, RBX, written(export));
        }
        self.asm.int_load(Int::Cmp, true, RAX, RBX, existing);
        self.asm.jump_if(Cond::NotEqual, left);
        for (number, of) in (0..).zip(targets_of(self.input.exports)) {
            self.store_target(number, of);
        }
        self.asm.int_store_imm(Int::Sub, false, RBX, head::WAVES, 1);
        self.asm.jump_if(Cond::Equal, end);
        // Registers of vectors are free between wavefronts.
        let (sum, gain) = (0, 1);
        for place in 0..self.input.start.len() as i32 {
            let gains = Rm::Each(RBX, self.input.layout.span.gains + 4 * place);
            self.asm.vector(BROADCAST, gain, 0, gains);
            for copy in self.copies() {
                let row = Rm::Row(RBX, self.input.layout.start + ROW * place + 64 * i32::from(copy));
                self.asm.vector(ADD, sum, gain, row);
                self.store(sum, row);
            }
        }
        self.asm.int_load(Int::Mov, true, ACTIVE, RBX, existing);
        self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(M::VALID), ACTIVE);
        for &export in self.input.exports {
            self.asm.int_store_imm(Int::Mov, true, RBX, written(export), 0);
        }
        self.asm.jump(again);
        self.asm.place(left);
        self.asm.int_imm(RAX, LEFT);
        self.asm.jump(self.leave);
        self.asm.place(end);
    }

    /// Stores whole elements of a target, whose description has this number.
    fn store_target(&mut self, number: i32, of: usize) {
        let layout = self.input.layout;
        let at = layout.span.targets + target::SIZE * number;
        let place = |channel: usize| self.input.exports.iter().position(|&export| export == 4 * of + channel);
        let rows: Vec<i32> = (0..4).map_while(place).map(|place| self.input.rows[place]).collect();
        let done = self.asm.label();
        self.asm.int_load(Int::Mov, false, RAX, RBX, at + target::CHANNELS);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, done);
        for channels in [1, 2, 4] {
            let Some(rows) = rows.get(..channels) else { continue };
            let other = self.asm.label();
            self.asm.int_op_imm(Int::Cmp, RAX, channels as i32);
            self.asm.jump_if(Cond::NotEqual, other);
            for copy in self.copies() {
                let pointer = at + target::POINTERS + 8 * i32::from(copy);
                self.asm.int_load(Int::Mov, true, RCX, RBX, pointer);
                self.asm.move_wide(RDX, RCX);
                self.asm.int_load(Int::Add, true, RDX, RBX, at + target::ROW_BYTES);
                let rows: Vec<i32> = rows.iter().map(|row| row + 64 * i32::from(copy)).collect();
                let tables = (RBX, layout.span.quads);
                Stores { isa: Isa::Avx512, asm: &mut self.asm, from: RBX, to: [RCX, RDX], tables }.store(&rows);
                self.asm.int_load(Int::Add, true, RCX, RBX, at + target::STEP);
                self.asm.int_store(Int::Mov, true, RBX, pointer, RCX);
            }
            self.asm.jump(done);
            self.asm.place(other);
        }
        self.asm.place(done);
    }
}
