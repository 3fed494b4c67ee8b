//! Masks of lanes on AVX-512: mask registers.
//!
//! | register | holds |
//! |---|---|
//! | k1-k3 | masks within one group of instructions |
//! | k4-k6 | the running lanes of copies 0, 1, 2 |

use super::emit::{Emit, Unit};
use super::lir::{K, Lir, Negated, Src, Vector};
use super::vectors::{Place, Vectors, forms};
use crate::codegen::x86::asm::{BLEND_MASK, CLASS, Cond, Label, MOVUPS_STORE};
use crate::ir::x1k::Under;

/// Instructions that make or use masks.
pub trait Avx512Masks: Vectors {
    /// An instruction on masks.
    fn avx512_line(&mut self, lir: &Lir, unit: Self::Unit, end: Label) {
        let operand_scratch = self.isa().operand_scratch();
        match *lir {
            Lir::Test(op, how, k, a, b, under) => {
                let a = self.reg(a, unit, operand_scratch);
                let rm = self.rm(b, unit);
                self.asm().evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class(class, k, a, under) => {
                let rm = self.rm(a, unit);
                self.asm().evex(CLASS, k, 0, rm, under, false, Some(class.number()));
            }
            Lir::Or(k, a, b) => self.asm().mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm().mask_and_not(k, a, b),
            Lir::Blend(dst, k, yes, no) => self.make(dst, unit, |e, dst| {
                let no = e.reg(no, unit, operand_scratch);
                let rm = e.rm(yes, unit);
                e.asm().evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge(dst, k, a) => self.change(dst, unit, |e, dst| {
                let rm = e.rm(a, unit);
                e.load_rm(dst, rm, k);
            }),
            Lir::MergeTwo(op, dst, k, a, b) => self.change(dst, unit, |e, dst| {
                let a = e.reg(a, unit, operand_scratch);
                let rm = e.rm(b, unit);
                e.asm().evex(op, dst, a, rm, k, false, None);
            }),
            Lir::StopIfNone(k) => {
                self.asm().mask_test(k);
                self.asm().jump_if(Cond::Equal, end);
            }
            _ => debug_assert!(false, "{lir:?} names no mask"),
        }
    }
}

impl<E: Vectors> Avx512Masks for E {}

impl Emit<'_> {
    /// Stores into a variable under a mask.
    pub fn avx512_set(&mut self, dst: Vector, src: Src, under: Under, unit: Unit) {
        let k = self.avx512_lane_mask(under, unit);
        match self.place(dst, unit) {
            Place::Register(register) => {
                let rm = self.rm(src, unit);
                self.load_rm(register, rm, k);
            }
            Place::Memory(row) => {
                let from = self.reg(src, unit, self.input.isa.scratch());
                self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
            }
            Place::Nowhere => {}
        }
    }

    /// `dst = ±(a * b) ± c` under a mask, where dst is one of the operands.
    pub fn avx512_fma(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], k: K, unit: Unit) {
        let operand_scratch = self.input.isa.operand_scratch();
        let [_, form213, form231] = forms(negated);
        let own = Src::Vector(dst);
        self.change(dst, unit, |e, dst| {
            let (form, factor, last) = if a == own {
                (form213, b, c)
            } else if b == own {
                (form213, a, c)
            } else {
                (form231, a, b)
            };
            let factor = e.reg(factor, unit, operand_scratch);
            let last = e.rm(last, unit);
            e.asm.evex(form, dst, factor, last, k, false, None);
        });
    }

    /// The lanes of an effect in a mask register.
    pub fn avx512_lane_mask(&mut self, under: Under, unit: Unit) -> K {
        if under == Under::default() {
            return 4 + unit.copy;
        }
        let lanes = self.lanes(under, unit.copy);
        self.asm.mask_from(1, lanes);
        1
    }
}
