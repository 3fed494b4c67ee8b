//! Single vector instructions, written once for all targets and for everything that emits them.
//!
//! The emitter decides the locations of vectors and the access to operands ([`Vectors`]). Masks of lanes are in
//! `mask_registers` and `mask_vectors`.

use super::lir::{K, Lir, Negated, Src, Vector};
use crate::codegen::target::Target;
use ctm_x86::{
    ADD, ADD_I32, AND, Asm, BROADCAST, CVT_I32_F32, CVT_U32_F32, FIXUP, FMADD132, FMADD213, FMADD231, FMSUB132,
    FMSUB213, FMSUB231, FNMADD132, FNMADD213, FNMADD231, FNMSUB132, FNMSUB213, FNMSUB231, MOVAPS, MOVUPS_LOAD,
    MOVUPS_STORE, MUL, OR, Rm, SHIFT_IMM, SUB, V, XOR,
};

/// The access to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In this register.
    Register(u8),
    /// In memory, in a form that every instruction accepts.
    Memory,
    /// Four bytes in memory for all lanes: only some targets accept them.
    Each,
}

impl Access {
    /// The access to an operand.
    pub const fn of(rm: Rm) -> Self {
        match rm {
            Rm::Reg(register) => Self::Register(register),
            Rm::Row(..) | Rm::At(..) | Rm::Literal(_) | Rm::LaneShifts(_) => Self::Memory,
            Rm::Each(..) => Self::Each,
        }
    }

    /// Whether it has no register.
    pub const fn is_memory(self) -> bool {
        !matches!(self, Self::Register(_))
    }
}

/// The destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Into this register.
    Register(u8),
    /// Into memory.
    Memory(Rm),
    /// They are dead.
    Nowhere,
}

/// An emitter of instructions on vectors.
pub trait Vectors: Sized {
    /// The selector of one of a vector's registers.
    type Unit: Copy;

    /// The target.
    fn target(&self) -> &'static Target;

    /// The code.
    fn asm(&mut self) -> &mut Asm;

    /// The access to an operand.
    fn access(&self, src: Src, unit: Self::Unit) -> Access;

    /// An operand as the last one of an instruction. It may need a pointer that is loaded now, and is valid until the
    /// next operand.
    fn rm(&mut self, src: Src, unit: Self::Unit) -> Rm;

    /// The destination of a vector's results.
    fn place(&self, vector: Vector, unit: Self::Unit) -> Destination;

    /// The rows of masks without a register: 2 and 3, where masks are vectors.
    fn mask_row(&self, k: K) -> Rm;

    /// The register of mask 1, where masks are vectors.
    fn mask(&self) -> u8 {
        self.target().mask_scratch()
    }

    /// Whether instructions can take the operand from memory themselves.
    fn folds(&self, access: Access) -> bool {
        self.target().has.broadcast_operands || access != Access::Each
    }

    /// An operand that instructions accept as the last one, loaded into the scratch register if they do not.
    fn last(&mut self, src: Src, unit: Self::Unit, scratch: u8) -> Rm {
        match self.access(src, unit) {
            Access::Register(register) => Rm::Reg(register),
            access if self.folds(access) => self.rm(src, unit),
            Access::Memory | Access::Each => Rm::Reg(self.loaded(src, unit, scratch)),
        }
    }

    /// Loads an operand into a register.
    fn load_into(&mut self, register: u8, src: Src, unit: Self::Unit) {
        let rm = self.rm(src, unit);
        self.load_rm(register, rm, 0);
    }

    /// Loads the last operand of instructions into a register, under a mask register (0: none).
    fn load_rm(&mut self, register: u8, rm: Rm, k: K) {
        if k != 0 {
            return self.asm().evex(load_of(rm), register, 0, rm, k, false, None);
        }
        let whole_literals = !self.target().has.broadcast_operands;
        match rm {
            Rm::Reg(from) if from == register => {}
            Rm::Reg(_) => self.asm().vector(MOVAPS, register, 0, rm),
            Rm::Literal(0) => self.asm().vector(XOR, register, register, Rm::Reg(register)),
            Rm::Literal(_) if whole_literals => self.asm().vector(MOVUPS_LOAD, register, 0, rm),
            Rm::Row(..) | Rm::At(..) | Rm::LaneShifts(_) => self.asm().vector(MOVUPS_LOAD, register, 0, rm),
            Rm::Each(..) | Rm::Literal(_) => self.asm().vector(BROADCAST, register, 0, rm),
        }
    }

    /// Stores a register.
    fn store(&mut self, register: u8, row: Rm) {
        self.asm().vector(MOVUPS_STORE, register, 0, row);
    }

    /// An operand in a register: its own, or the scratch register.
    fn reg(&mut self, src: Src, unit: Self::Unit, scratch: u8) -> u8 {
        match self.access(src, unit) {
            Access::Register(register) => register,
            Access::Memory | Access::Each => self.loaded(src, unit, scratch),
        }
    }

    /// An operand without a register, loaded into the scratch register.
    fn loaded(&mut self, src: Src, unit: Self::Unit, scratch: u8) -> u8 {
        self.load_into(scratch, src, unit);
        scratch
    }

    /// Makes a vector with `make`, which is given the register to write; stores it when the vector has none.
    fn make(&mut self, vector: Vector, unit: Self::Unit, make: impl FnOnce(&mut Self, u8)) {
        match self.place(vector, unit) {
            Destination::Register(register) => make(self, register),
            Destination::Memory(row) => {
                let scratch = self.target().scratch();
                make(self, scratch);
                self.store(scratch, row);
            }
            Destination::Nowhere => {}
        }
    }

    /// Changes a vector in part.
    fn change(&mut self, vector: Vector, unit: Self::Unit, make: impl FnOnce(&mut Self, u8)) {
        if let Destination::Memory(row) = self.place(vector, unit) {
            let scratch = self.target().scratch();
            self.asm().vector(MOVUPS_LOAD, scratch, 0, row);
        }
        self.make(vector, unit, make);
    }

    /// Copies an operand to a vector.
    fn copy(&mut self, vector: Vector, src: Src, unit: Self::Unit) {
        match self.place(vector, unit) {
            Destination::Register(register) => self.load_into(register, src, unit),
            Destination::Memory(row) => {
                let scratch = self.target().scratch();
                let from = self.reg(src, unit, scratch);
                self.store(from, row);
            }
            Destination::Nowhere => {}
        }
    }

    /// An instruction on vectors alone, for one unit; returns whether it was one.
    fn single(&mut self, lir: &Lir, unit: Self::Unit) -> bool {
        match *lir {
            Lir::Copy(dst, a) => self.copy(dst, a, unit),
            Lir::Two { op, dst, a, b } => self.two(op, dst, a, b, unit),
            Lir::TwoImm { op, dst, a, b, imm } => self.two_imm(op, dst, [a, b], imm, unit),
            Lir::Fix { dst, a, table } => self.fix(dst, a, table, unit),
            Lir::One { op, dst, a, imm } => self.one(op, dst, a, imm, unit),
            Lir::Shift { kind: how, dst, a, count } => self.shift(how, dst, a, count, unit),
            Lir::Fma { negated, dst, operands: abc } => self.fma(negated, dst, abc, unit),
            Lir::MulAdd { negated, dst, operands: abc } => self.mul_add(negated, dst, abc, unit),
            _ => return false,
        }
        true
    }

    /// `dst = op(a)` with an immediate.
    fn one(&mut self, op: V, dst: Vector, a: Src, imm: Option<u8>, unit: Self::Unit) {
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        self.make(dst, unit, |e, dst| {
            if op == CVT_U32_F32 && !e.target().has.unsigned_to_float {
                // Both halves are exact as numbers, so one rounding joins them.
                let a = e.reg(a, unit, scratch);
                e.asm().instruction(SHIFT_IMM, 2, operand_scratch, Rm::Reg(a), Some(16));
                e.asm().vector(CVT_I32_F32, operand_scratch, 0, Rm::Reg(operand_scratch));
                e.asm().vector(AND, dst, a, Rm::Literal(0xffff));
                e.asm().vector(CVT_I32_F32, dst, 0, Rm::Reg(dst));
                return e.asm().vector(FMADD231, dst, operand_scratch, Rm::Literal(65536f32.to_bits()));
            }
            let rm = e.last(a, unit, operand_scratch);
            e.asm().instruction(op, dst, 0, rm, imm);
        });
    }

    /// `dst = op(a, b)` with an immediate.
    fn two_imm(&mut self, op: V, dst: Vector, [a, b]: [Src; 2], imm: u8, unit: Self::Unit) {
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        self.make(dst, unit, |e, dst| {
            let a = e.reg(a, unit, operand_scratch);
            let rm = e.last(b, unit, scratch);
            e.asm().instruction(op, dst, a, rm, Some(imm));
        });
    }

    /// Changes `dst` by the class of `a`.
    fn fix(&mut self, dst: Vector, a: Src, table: u32, unit: Self::Unit) {
        let operand_scratch = self.target().operand_scratch();
        self.change(dst, unit, |e, dst| {
            let a = e.reg(a, unit, operand_scratch);
            let table = e.rm(Src::Literal(table), unit);
            e.asm().evex(FIXUP, dst, a, table, 0, false, Some(0));
        });
    }

    /// `dst = a` shifted.
    fn shift(&mut self, how: u8, dst: Vector, a: Src, count: u8, unit: Self::Unit) {
        let operand_scratch = self.target().operand_scratch();
        self.make(dst, unit, |e, dst| {
            // Older forms shift registers only.
            let rm = match e.target().has.shifts_of_memory {
                true => e.rm(a, unit),
                false => Rm::Reg(e.reg(a, unit, operand_scratch)),
            };
            e.asm().instruction(SHIFT_IMM, how, dst, rm, Some(count));
        });
    }

    /// `dst = op(a, b)`.
    fn two(&mut self, op: V, dst: Vector, a: Src, b: Src, unit: Self::Unit) {
        // A memory operand is the last one, where the order does not matter.
        let [is_a, is_b] = [a, b].map(|src| self.access(src, unit).is_memory());
        let commutes = [ADD, MUL, AND, OR, XOR, ADD_I32].contains(&op);
        let (a, b) = if is_a && !is_b && commutes { (b, a) } else { (a, b) };
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        self.make(dst, unit, |e, dst| {
            let a = e.reg(a, unit, operand_scratch);
            let rm = e.last(b, unit, if a == operand_scratch { scratch } else { operand_scratch });
            e.asm().vector(op, dst, a, rm);
        });
    }

    /// `dst = ±(a * b) ± c` with both roundings, not both negated; the product is in a scratch register meanwhile.
    fn mul_add(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], unit: Self::Unit) {
        let in_memory = |src: Src| self.access(src, unit).is_memory();
        let (a, b) = if in_memory(a) && !in_memory(b) { (b, a) } else { (a, b) };
        let (scratch, product) = (self.target().scratch(), self.target().operand_scratch());
        self.make(dst, unit, |e, dst| {
            let a = e.reg(a, unit, product);
            let b = e.last(b, unit, scratch);
            e.asm().vector(MUL, product, a, b);
            if negated.product {
                let c = e.reg(c, unit, scratch);
                e.asm().vector(SUB, dst, c, Rm::Reg(product));
            } else {
                let c = e.last(c, unit, scratch);
                e.asm().vector(if negated.summand { SUB } else { ADD }, dst, product, c);
            }
        });
    }

    /// `dst = ±(a * b) ± c`.
    fn fma(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], unit: Self::Unit) {
        let [form132, form213, form231] = forms(negated);
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        self.make(dst, unit, |e, dst| {
            let here = Access::Register(dst);
            let [is_a, is_b, is_c] = [a, b, c].map(|src| e.access(src, unit));
            if is_c != here && (is_a == here || is_b == here) {
                // dst * x + c
                let (x, is_x) = if is_a == here { (b, is_b) } else { (a, is_a) };
                if is_x.is_memory() && !is_c.is_memory() {
                    let c = e.reg(c, unit, operand_scratch);
                    let x = e.last(x, unit, operand_scratch);
                    e.asm().vector(form132, dst, c, x);
                } else {
                    let x = e.reg(x, unit, operand_scratch);
                    let c = e.last(c, unit, scratch);
                    e.asm().vector(form213, dst, x, c);
                }
                return;
            }
            // a * b + dst, with the summand in place. An operand that can be taken from memory goes last.
            let swap = is_a.is_memory() && (!is_b.is_memory() || (e.folds(is_a) && !e.folds(is_b)));
            let (a, b, is_b) = if swap { (b, a, is_a) } else { (a, b, is_b) };
            let a = e.reg(a, unit, operand_scratch);
            // Two factors that have to be loaded; a result without a register needs the other scratch register, too.
            let both = a == operand_scratch && !e.folds(is_b);
            if both && dst == scratch {
                e.load_into(dst, b, unit);
                let mask_scratch = e.target().mask_scratch();
                let c = e.last(c, unit, mask_scratch);
                e.asm().vector(form213, dst, a, c);
                return;
            }
            if is_c != here {
                e.load_into(dst, c, unit);
            }
            let b = e.last(b, unit, if both { scratch } else { operand_scratch });
            e.asm().vector(form231, dst, a, b);
        });
    }
}

/// The instruction of AVX-512 that loads an operand.
pub const fn load_of(rm: Rm) -> V {
    match rm {
        Rm::Reg(_) => MOVAPS,
        Rm::Row(..) | Rm::At(..) => MOVUPS_LOAD,
        Rm::Each(..) | Rm::Literal(_) | Rm::LaneShifts(_) => BROADCAST,
    }
}

/// The three forms of a fused multiply-add: 132, 213 and 231.
pub const fn forms(negated: Negated) -> [V; 3] {
    match (negated.product, negated.summand) {
        (false, false) => [FMADD132, FMADD213, FMADD231],
        (false, true) => [FMSUB132, FMSUB213, FMSUB231],
        (true, false) => [FNMADD132, FNMADD213, FNMADD231],
        (true, true) => [FNMSUB132, FNMSUB213, FNMSUB231],
    }
}
