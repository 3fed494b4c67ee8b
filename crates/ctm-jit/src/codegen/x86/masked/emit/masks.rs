//! Masks other than the active lanes, and numbers, which lie in the frame; operations on all of them.

use super::{ACTIVE, Emit};
use crate::codegen::x86::asm::{Gpr, Int, RAX, RBX, RCX};
use crate::codegen::x86::masked::wide;
use crate::ir::masked::{M, MaskOp};

impl Emit<'_> {
    /// A register that holds a mask: that of the active lanes, or `scratch`.
    pub(super) fn mask_register(&mut self, m: M, scratch: Gpr) -> Gpr {
        if m == M::ACTIVE {
            self.whole();
            return ACTIVE;
        }
        self.asm.int_load(Int::Mov, true, scratch, RBX, Self::mask_at(m));
        scratch
    }

    pub(super) fn load_mask(&mut self, register: Gpr, m: M) {
        let from = self.mask_register(m, register);
        if from != register {
            self.asm.wide(Int::Mov, register, from);
        }
    }

    pub(super) fn store_mask(&mut self, m: M, register: Gpr) {
        if m != M::ACTIVE {
            return self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(m), register);
        }
        if register != ACTIVE {
            self.asm.wide(Int::Mov, ACTIVE, register);
        }
        (self.is_whole, self.is_spread) = (true, false);
    }

    /// `register op= m`.
    fn with_mask(&mut self, op: Int, register: Gpr, m: M) {
        if m == M::ACTIVE {
            self.whole();
            return self.asm.wide(op, register, ACTIVE);
        }
        self.asm.int_load(op, true, register, RBX, Self::mask_at(m));
    }

    /// `d = a op b`.
    fn combine(&mut self, op: Int, d: M, a: M, b: M) {
        let register = if d == M::ACTIVE && b != M::ACTIVE { ACTIVE } else { RAX };
        self.load_mask(register, a);
        self.with_mask(op, register, b);
        self.store_mask(d, register);
    }

    pub(super) fn mask_op(&mut self, op: MaskOp) {
        match op {
            MaskOp::Copy(d, a) => {
                let from = self.mask_register(a, RAX);
                return self.store_mask(d, from);
            }
            MaskOp::And(d, a, b) => return self.combine(Int::And, d, a, b),
            MaskOp::Or(d, a, b) => return self.combine(Int::Or, d, a, b),
            MaskOp::Xor(d, a, b) => return self.combine(Int::Xor, d, a, b),
            MaskOp::AndNot(_, a, b) => {
                self.load_mask(RAX, b);
                self.asm.wide_not(RAX);
                self.with_mask(Int::And, RAX, a);
            }
            MaskOp::Quads(_, a) => {
                self.load_mask(RAX, a);
                wide::whole_quads(&mut self.asm);
                self.with_mask(Int::And, RAX, M::EXISTING);
            }
            MaskOp::Number(d, number) => {
                self.asm.int_imm(RAX, 0);
                self.asm.wide_imm(Int::Add, RAX, number);
                return self.store_mask(d, RAX);
            }
            MaskOp::Add(d, number, thirteen_bits) => {
                self.load_mask(RAX, d);
                wide::add(&mut self.asm, RAX, number, thirteen_bits);
                return self.store_mask(d, RAX);
            }
            MaskOp::IfNot0(_, a, b) => {
                self.load_mask(RAX, a);
                self.load_mask(RCX, b);
                wide::unless_zero(&mut self.asm);
            }
            MaskOp::Lanes(..) => return,
        }
        self.store_mask(op.writes(), RAX);
    }
}
