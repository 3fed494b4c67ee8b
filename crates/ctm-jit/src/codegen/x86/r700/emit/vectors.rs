//! Single vector instructions: operands in registers, rows and memory.

use super::{Emit, OPERAND, SCRATCH};
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, BLEND_MASK, BROADCAST, CLASS, CMP_F32, CMP_I32, CMP_U32, FIXUP, FMADD132, FMADD213, FMADD231,
    FMSUB132, FMSUB213, FMSUB231, FNMADD132, FNMADD213, FNMADD231, FNMSUB132, FNMSUB213, FNMSUB231, MOVAPS,
    MOVUPS_LOAD, MOVUPS_STORE, MUL, OR, RBP, RBX, Rm, SHIFT_IMM, V, XOR,
};
use crate::codegen::x86::lir::{Class, K, Lir, Negated, Src, Vector};
use crate::codegen::x86::r700::facts::{
    AT_LEAST, AT_MOST, EQUAL, GREATER, INT_AT_LEAST, INT_AT_MOST, INT_EQUAL, INT_GREATER, INT_LESS, INT_NOT_EQUAL,
    LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS, UNORDERED,
};

/// Whether the order of operands does not matter.
fn commutes(op: V) -> bool {
    [ADD, MUL, AND, OR, XOR, ADD_I32].contains(&op)
}

/// The comparison with its operands exchanged, if there is one.
fn turned(op: V, how: u8) -> Option<u8> {
    let pairs: &[(u8, u8)] = match op {
        CMP_F32 => &[(LESS, GREATER), (AT_MOST, AT_LEAST), (NOT_LESS, NOT_GREATER)],
        CMP_I32 | CMP_U32 => &[(INT_LESS, INT_GREATER), (INT_AT_MOST, INT_AT_LEAST)],
        _ => return None,
    };
    let either_way = if op == CMP_F32 { [EQUAL, NOT_EQUAL, UNORDERED] } else { [INT_EQUAL, INT_NOT_EQUAL, INT_EQUAL] };
    let other = |&(a, b): &(u8, u8)| if how == a { Some(b) } else { (how == b).then_some(a) };
    pairs.iter().find_map(other).or(either_way.contains(&how).then_some(how))
}

impl Emit<'_> {
    pub(super) fn register(&self, vector: Vector, copy: u8) -> Option<u8> {
        match self.input.locations.of[vector.index()] {
            Location::Register(bundle) => Some(bundle * self.input.copies + copy),
            Location::Row(_) | Location::Nowhere => None,
        }
    }

    pub(super) fn row(&self, vector: Vector, copy: u8) -> Rm {
        let row = match self.input.locations.of[vector.index()] {
            Location::Row(row) => row as i32,
            Location::Register(_) | Location::Nowhere => 0,
        };
        Rm::Row(RBX, self.input.layout.spills + self.input.layout.spill_bytes * row + 64 * i32::from(copy))
    }

    pub(super) fn rm(&self, src: Src, copy: u8) -> Rm {
        match src {
            Src::Vector(vector) => self.register(vector, copy).map_or_else(|| self.row(vector, copy), Rm::Reg),
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(offset) => Rm::Row(RBX, offset + 64 * i32::from(copy)),
        }
    }

    pub(super) fn load_into(&mut self, register: u8, src: Src, copy: u8) {
        let rm = self.rm(src, copy);
        match rm {
            Rm::Reg(from) if from == register => {}
            Rm::Reg(_) => self.asm.vector(MOVAPS, register, 0, rm),
            Rm::Literal(0) => self.asm.vector(XOR, register, register, Rm::Reg(register)),
            Rm::Row(..) | Rm::LaneShifts(_) => self.asm.vector(MOVUPS_LOAD, register, 0, rm),
            Rm::Each(..) | Rm::Literal(_) => self.asm.vector(BROADCAST, register, 0, rm),
        }
    }

    pub(super) fn load_masked(&mut self, register: u8, src: Src, copy: u8, k: K) {
        let rm = self.rm(src, copy);
        let op = match rm {
            Rm::Reg(_) => MOVAPS,
            Rm::Row(..) => MOVUPS_LOAD,
            Rm::Each(..) | Rm::Literal(_) | Rm::LaneShifts(_) => BROADCAST,
        };
        self.asm.evex(op, register, 0, rm, k, false, None);
    }

    pub(super) fn store(&mut self, register: u8, row: Rm) {
        self.asm.vector(MOVUPS_STORE, register, 0, row);
    }

    pub(super) fn reg(&mut self, src: Src, copy: u8, scratch: u8) -> u8 {
        if let Rm::Reg(register) = self.rm(src, copy) {
            return register;
        }
        self.load_into(scratch, src, copy);
        scratch
    }

    /// Makes a vector; stores it when it has no register.
    pub(super) fn make(&mut self, vector: Vector, copy: u8, make: impl FnOnce(&mut Self, u8)) {
        match self.register(vector, copy) {
            Some(register) => make(self, register),
            None => {
                make(self, SCRATCH);
                let row = self.row(vector, copy);
                self.store(SCRATCH, row);
            }
        }
    }

    /// Changes a vector in part. Rows are stored whole: what loads one that was stored under a mask would wait for it.
    pub(super) fn change(&mut self, vector: Vector, copy: u8, make: impl FnOnce(&mut Self, u8)) {
        if self.register(vector, copy).is_none() {
            let row = self.row(vector, copy);
            self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, row);
        }
        self.make(vector, copy, make);
    }

    pub(super) fn copy(&mut self, vector: Vector, src: Src, copy: u8) {
        match self.register(vector, copy) {
            Some(register) => self.load_into(register, src, copy),
            None => {
                let from = self.reg(src, copy, SCRATCH);
                let row = self.row(vector, copy);
                self.store(from, row);
            }
        }
    }

    /// One instruction for one piece.
    pub(super) fn line(&mut self, lir: &Lir, copy: u8) {
        match *lir {
            Lir::Copy(dst, a) => self.copy(dst, a, copy),
            Lir::Two(op, dst, a, b) => {
                // A memory operand goes last, where the order does not matter.
                let in_memory = |e: &Self, src: Src| !matches!(e.rm(src, copy), Rm::Reg(_));
                let swap = commutes(op) && in_memory(self, a) && !in_memory(self, b);
                let (a, b) = if swap { (b, a) } else { (a, b) };
                self.make(dst, copy, |e, dst| {
                    let a = e.reg(a, copy, OPERAND);
                    let rm = e.rm(b, copy);
                    e.asm.vector(op, dst, a, rm);
                });
            }
            Lir::TwoImm(op, dst, a, b, imm) => self.make(dst, copy, |e, dst| {
                let a = e.reg(a, copy, OPERAND);
                let rm = e.rm(b, copy);
                e.asm.evex(op, dst, a, rm, 0, false, Some(imm));
            }),
            Lir::Fix(dst, a, table) => self.change(dst, copy, |e, dst| {
                let a = e.reg(a, copy, OPERAND);
                e.asm.evex(FIXUP, dst, a, Rm::Literal(table), 0, false, Some(0));
            }),
            Lir::One(op, dst, a, imm) => self.make(dst, copy, |e, dst| {
                let rm = e.rm(a, copy);
                e.asm.instruction(op, dst, 0, rm, imm);
            }),
            Lir::Shift(how, dst, a, count) => self.make(dst, copy, |e, dst| {
                let rm = e.rm(a, copy);
                e.asm.instruction(SHIFT_IMM, how, dst, rm, Some(count));
            }),
            Lir::Fma(negated, dst, abc) => self.fma(negated, dst, abc, copy),
            Lir::Test(op, how, k, a, b, under) => {
                let in_memory = |e: &Self, src: Src| !matches!(e.rm(src, copy), Rm::Reg(_));
                let swap = in_memory(self, a) && !in_memory(self, b);
                let (a, b, how) = match turned(op, how) {
                    Some(how) if swap => (b, a, how),
                    _ => (a, b, how),
                };
                let a = self.reg(a, copy, OPERAND);
                let rm = self.rm(b, copy);
                self.asm.evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class(class, k, a, under) => {
                let classes = match class {
                    Class::Infinite => 0x18,
                    Class::NotFinite => 0x99,
                };
                let rm = self.rm(a, copy);
                self.asm.evex(CLASS, k, 0, rm, under, false, Some(classes));
            }
            Lir::Or(k, a, b) => self.asm.mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm.mask_and_not(k, a, b),
            Lir::Blend(dst, k, yes, Src::Literal(0)) => self.make(dst, copy, |e, dst| {
                let rm = e.rm(yes, copy);
                let op = match rm {
                    Rm::Reg(_) => MOVAPS,
                    Rm::Row(..) => MOVUPS_LOAD,
                    Rm::Each(..) | Rm::Literal(_) | Rm::LaneShifts(_) => BROADCAST,
                };
                e.asm.evex(op, dst, 0, rm, k, true, None);
            }),
            Lir::Blend(dst, k, yes, no) => self.make(dst, copy, |e, dst| {
                let no = e.reg(no, copy, OPERAND);
                let rm = e.rm(yes, copy);
                e.asm.evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge(dst, k, a) => self.change(dst, copy, |e, dst| e.load_masked(dst, a, copy, k)),
            Lir::MergeTwo(op, dst, k, a, b) => self.change(dst, copy, |e, dst| {
                let a = e.reg(a, copy, OPERAND);
                let rm = e.rm(b, copy);
                e.asm.evex(op, dst, a, rm, k, false, None);
            }),
            Lir::Store(offset, src) => {
                let from = self.reg(src, copy, SCRATCH);
                self.store(from, Rm::Row(RBX, offset + 64 * i32::from(copy)));
            }
            _ => debug_assert!(false, "{lir:?} is none of R700's"),
        }
    }

    /// `dst = op(a, b)` under a mask.
    pub(super) fn two_under(&mut self, op: V, dst: Vector, [a, b]: [Src; 2], k: K, copy: u8) {
        let in_memory = |e: &Self, src: Src| !matches!(e.rm(src, copy), Rm::Reg(_));
        let (a, b) = if commutes(op) && in_memory(self, a) && !in_memory(self, b) { (b, a) } else { (a, b) };
        let a = self.reg(a, copy, OPERAND);
        let rm = self.rm(b, copy);
        self.change(dst, copy, |e, dst| e.asm.evex(op, dst, a, rm, k, false, None));
    }

    pub(super) fn fma(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], copy: u8) {
        let [form132, form213, form231]: [V; 3] = match (negated.product, negated.summand) {
            (false, false) => [FMADD132, FMADD213, FMADD231],
            (false, true) => [FMSUB132, FMSUB213, FMSUB231],
            (true, false) => [FNMADD132, FNMADD213, FNMADD231],
            (true, true) => [FNMSUB132, FNMSUB213, FNMSUB231],
        };
        self.make(dst, copy, |e, dst| {
            let here = Rm::Reg(dst);
            let [ra, rb, rc] = [a, b, c].map(|src| e.rm(src, copy));
            let in_memory = |rm: Rm| !matches!(rm, Rm::Reg(_));
            if rc != here && (ra == here || rb == here) {
                // dst * x + c
                let (x, rx) = if ra == here { (b, rb) } else { (a, ra) };
                if in_memory(rx) && !in_memory(rc) {
                    let c = e.reg(c, copy, OPERAND);
                    e.asm.vector(form132, dst, c, rx);
                } else {
                    let x = e.reg(x, copy, OPERAND);
                    e.asm.vector(form213, dst, x, rc);
                }
                return;
            }
            // a * b + dst, once the summand is there. What is in memory goes last.
            let (a, b) = if in_memory(ra) && !in_memory(rb) { (b, a) } else { (a, b) };
            let a = e.reg(a, copy, OPERAND);
            let rb = e.rm(b, copy);
            if rc != here {
                e.load_into(dst, c, copy);
            }
            e.asm.vector(form231, dst, a, rb);
        });
    }
}
