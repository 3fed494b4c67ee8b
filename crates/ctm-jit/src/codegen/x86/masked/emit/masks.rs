//! Masks other than the active lanes, and numbers: in registers or in the frame; operations on all of them.

use super::{ACTIVE, Emit};
use crate::codegen::x86::masked::layout::head;
use crate::codegen::x86::masked::wide;
use ctm_ir::masked::{M, MaskOp};
use ctm_x86::{Gpr, Int, RAX, RBX, RCX};

impl Emit<'_> {
    /// The register of a mask.
    pub(super) fn mask_location(&self, m: M) -> Option<Gpr> {
        if m == M::ACTIVE { Some(ACTIVE) } else { self.masks[m.index()] }
    }

    /// A register that holds a mask: its own, or `scratch`.
    pub(super) fn mask_register(&mut self, m: M, scratch: Gpr) -> Gpr {
        if m == M::ACTIVE {
            self.whole();
        }
        self.mask_location(m).unwrap_or_else(|| {
            self.asm.int_load(Int::Mov, true, scratch, RBX, head::mask(m));
            scratch
        })
    }

    pub(super) fn load_mask(&mut self, register: Gpr, m: M) {
        let from = self.mask_register(m, register);
        if from != register {
            self.asm.wide(Int::Mov, register, from);
        }
    }

    pub(super) fn store_mask(&mut self, m: M, register: Gpr) {
        match self.mask_location(m) {
            Some(location) if location == register => {}
            Some(location) => self.asm.wide(Int::Mov, location, register),
            None => self.asm.int_store(Int::Mov, true, RBX, head::mask(m), register),
        }
        if m == M::ACTIVE {
            (self.is_whole, self.is_spread) = (true, false);
        }
    }

    /// `register op= m`.
    fn with_mask(&mut self, op: Int, register: Gpr, m: M) {
        if m == M::ACTIVE {
            self.whole();
        }
        match self.mask_location(m) {
            Some(location) => self.asm.wide(op, register, location),
            None => self.asm.int_load(op, true, register, RBX, head::mask(m)),
        }
    }

    /// `d = a op b`.
    fn combine(&mut self, op: Int, d: M, a: M, b: M) {
        let location = self.mask_location(d).filter(|_| d != b || a == b).unwrap_or(RAX);
        self.load_mask(location, a);
        self.with_mask(op, location, b);
        self.store_mask(d, location);
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
                let location = self.mask_location(d).unwrap_or(RAX);
                self.load_mask(location, d);
                wide::add(&mut self.asm, location, number, thirteen_bits);
                return self.store_mask(d, location);
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
