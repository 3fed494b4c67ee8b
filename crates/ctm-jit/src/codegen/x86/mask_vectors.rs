//! Masks of lanes in vectors. Comparisons make all ones or all zeros in a lane; of masks of active lanes only the
//! sign bits are defined, and they are only used to choose.
//!
//! | location | contents |
//! |---|---|
//! | ymm15 | mask 1; streams may choose another register |
//! | rows of the frame | masks 2 and 3, for rare cases, and for the disjunction of two comparisons |

use super::lir::{Class, K, Lir, Vector};
use super::vectors::{Destination, Vectors};
use ctm_exec::float::{INFINITY, SIGN};
use ctm_x86::{
    AND_F32, AND_NOT_F32, CMP_F32, CMP_F64, CMP_U32, Cond, EQUAL_I32, GREATER_I32, Label, MAX_U32, MOVUPS_LOAD, OR_F32,
    RAX, Rm, V, XOR,
};

/// The largest finite number.
const LARGEST: u32 = INFINITY - 1;

/// Instructions that make or use masks.
pub trait MaskVectors: Vectors {
    /// A mask as the last operand of an instruction.
    fn mask_rm(&self, k: K) -> Rm {
        if k == 1 { Rm::Reg(self.mask()) } else { self.mask_row(k) }
    }

    /// A mask in a register.
    fn mask_reg(&mut self, k: K, scratch: u8) -> u8 {
        if k == 1 {
            return self.mask();
        }
        let row = self.mask_row(k);
        self.asm().vector(MOVUPS_LOAD, scratch, 0, row);
        scratch
    }

    /// Makes a mask with `make`, which is given the register to write, and restricts it to another mask's lanes.
    fn make_mask(&mut self, k: K, under: K, make: impl FnOnce(&mut Self, u8)) {
        let (mask, scratch) = (self.mask(), self.target().scratch());
        let to = if k == 1 && under == 0 { mask } else { scratch };
        make(self, to);
        if under != 0 {
            let under = self.mask_rm(under);
            self.asm().vector(AND_F32, if k == 1 { mask } else { to }, to, under);
        }
        if k != 1 {
            let row = self.mask_row(k);
            self.store(to, row);
        }
    }

    /// An instruction on masks.
    fn vector_line(&mut self, lir: &Lir, unit: Self::Unit, end: Label) {
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        match *lir {
            Lir::Test { op, how, dst: k, a, b, under } => self.make_mask(k, under, |e, to| {
                let (op, swap, not) = test(op, how);
                let (a, b) = if swap { (b, a) } else { (a, b) };
                let a = e.reg(a, unit, operand_scratch);
                let b = e.last(b, unit, scratch);
                let imm = (op == CMP_F32 || op == CMP_F64).then_some(how);
                e.asm().vex(op, to, a, b, imm);
                if op == MAX_U32 {
                    e.asm().vector(EQUAL_I32, to, to, Rm::Reg(a));
                }
                if not {
                    e.asm().vector(XOR, to, to, Rm::Literal(u32::MAX));
                }
            }),
            Lir::Class { class, dst: k, a, under } => self.make_mask(k, under, |e, to| {
                let a = e.reg(a, unit, operand_scratch);
                e.asm().vector(AND_F32, to, a, Rm::Literal(!SIGN));
                match class {
                    Class::Infinite => e.asm().vector(EQUAL_I32, to, to, Rm::Literal(INFINITY)),
                    Class::NotFinite => e.asm().vector(GREATER_I32, to, to, Rm::Literal(LARGEST)),
                }
            }),
            Lir::Or(k, a, b) | Lir::AndNot(k, a, b) => self.make_mask(k, 0, |e, to| {
                let op = if matches!(lir, Lir::Or(..)) { OR_F32 } else { AND_NOT_F32 };
                let a = e.mask_reg(a, operand_scratch);
                let b = e.mask_rm(b);
                e.asm().vector(op, to, a, b);
            }),
            Lir::Blend { dst, k, yes, no } => {
                if k == 1 {
                    let mask = self.mask();
                    self.make(dst, unit, |e, dst| {
                        let no = e.reg(no, unit, operand_scratch);
                        let yes = e.last(yes, unit, scratch);
                        e.asm().blend(dst, mask, yes, no);
                    });
                } else {
                    // The last scratch register would be mask 1.
                    let no = self.reg(no, unit, scratch);
                    let mask = self.mask_reg(k, operand_scratch);
                    self.asm().vector(AND_NOT_F32, scratch, mask, Rm::Reg(no));
                    let yes = self.reg(yes, unit, operand_scratch);
                    let mask = self.mask_row(k);
                    self.asm().vector(AND_F32, operand_scratch, yes, mask);
                    self.make(dst, unit, |e, dst| e.asm().vector(OR_F32, dst, scratch, Rm::Reg(operand_scratch)));
                }
            }
            Lir::Merge { dst, k, a } => {
                let yes = self.last(a, unit, operand_scratch);
                self.merge(dst, unit, k, yes);
            }
            Lir::MergeTwo { op, dst, k, a, b } => {
                let a = self.reg(a, unit, operand_scratch);
                let b = self.last(b, unit, scratch);
                self.asm().vector(op, operand_scratch, a, b);
                self.merge(dst, unit, k, Rm::Reg(operand_scratch));
            }
            Lir::StopIfNone(k) => {
                let mask = self.mask_reg(k, scratch);
                self.asm().signs(RAX, mask);
                self.asm().test(RAX, RAX);
                self.asm().jump_if(Cond::Equal, end);
            }
            _ => debug_assert!(false, "{lir:?} names no mask"),
        }
    }

    /// `dst = k ? yes : dst`; `yes` may be in the scratch register for operands.
    fn merge(&mut self, dst: Vector, unit: Self::Unit, k: K, yes: Rm) {
        if k == 1 {
            let mask = self.mask();
            return self.change(dst, unit, |e, dst| e.asm().blend(dst, mask, yes, dst));
        }
        let (scratch, operand_scratch) = (self.target().scratch(), self.target().operand_scratch());
        let mask = self.mask_reg(k, scratch);
        self.asm().vector(AND_F32, operand_scratch, mask, yes);
        match self.place(dst, unit) {
            Destination::Register(old) => self.asm().vector(AND_NOT_F32, scratch, mask, Rm::Reg(old)),
            Destination::Memory(old) => self.asm().vector(AND_NOT_F32, scratch, mask, old),
            Destination::Nowhere => {}
        }
        self.make(dst, unit, |e, dst| e.asm().vector(OR_F32, dst, scratch, Rm::Reg(operand_scratch)));
    }
}

impl<E: Vectors> MaskVectors for E {}

/// A comparison, by its number in AVX-512: the instruction, whether operands are swapped, whether the outcome is
/// negated. Unsigned integers have no comparison for greater: one is at least as large as the other where it is the
/// maximum of both.
fn test(op: V, how: u8) -> (V, bool, bool) {
    let of_integers = match how & 7 {
        0 => (EQUAL_I32, false, false),
        1 => (GREATER_I32, true, false),
        2 => (GREATER_I32, false, true),
        4 => (EQUAL_I32, false, true),
        5 => (GREATER_I32, true, true),
        _ => (GREATER_I32, false, false),
    };
    match (op, of_integers) {
        (CMP_F32 | CMP_F64, _) => (op, false, false),
        (CMP_U32, (GREATER_I32, swap, not)) => (MAX_U32, !swap, !not),
        _ => of_integers,
    }
}
