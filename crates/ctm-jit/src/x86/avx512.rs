//! Masks of lanes on AVX-512: mask registers.
//!
//! | register | holds |
//! |---|---|
//! | k1-k3 | masks within one group of instructions |
//! | k4-k6 | the running lanes of copies 0, 1, 2, once loaded in a block |

use super::emit::{Emit, Unit};
use super::encode::{BLEND_MASK, BROADCAST, CLASS, Cond, Label, MOVAPS, MOVUPS_LOAD, MOVUPS_STORE, Rm};
use super::lir::{K, Lir, Src};
use crate::form::Under;

impl Emit<'_> {
    /// An instruction on masks.
    pub fn avx512_line(&mut self, lir: &Lir, unit: Unit, end: Label) {
        let (scratch, operand_scratch) = (self.input.isa.scratch(), self.input.isa.operand_scratch());
        match *lir {
            Lir::Test(op, how, k, a, b, under) => {
                let a = self.reg(a, unit, operand_scratch);
                let rm = self.rm(b, unit);
                self.asm.evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class(class, k, a, under) => {
                let rm = self.rm(a, unit);
                self.asm.evex(CLASS, k, 0, rm, under, false, Some(class.number()));
            }
            Lir::Or(k, a, b) => self.asm.mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm.mask_and_not(k, a, b),
            Lir::Blend(dst, k, yes, no) => self.make(dst, unit, |e, dst| {
                let no = e.reg(no, unit, operand_scratch);
                let rm = e.rm(yes, unit);
                e.asm.evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge(dst, k, a) => self.change(dst, unit, |e, dst| e.load_masked(dst, a, unit, k)),
            Lir::MergeTwo(op, dst, k, a, b) => self.change(dst, unit, |e, dst| {
                let a = e.reg(a, unit, operand_scratch);
                let rm = e.rm(b, unit);
                e.asm.evex(op, dst, a, rm, k, false, None);
            }),
            Lir::StopIfNone(k) => {
                self.asm.mask_test(k);
                self.asm.jump_if(Cond::Equal, end);
            }
            Lir::Set(dst, src, Some(under)) => {
                let k = self.avx512_lane_mask(under, unit);
                if let Some(register) = self.register(dst, unit) {
                    self.load_masked(register, src, unit, k);
                } else {
                    let from = self.reg(src, unit, scratch);
                    let row = self.row(dst, unit);
                    self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
                }
            }
            _ => debug_assert!(false, "{lir:?} names no mask"),
        }
    }

    /// Loads an operand into a register under a mask.
    fn load_masked(&mut self, register: u8, src: Src, unit: Unit, k: K) {
        let rm = self.rm(src, unit);
        let op = match rm {
            Rm::Reg(_) => MOVAPS,
            Rm::Row(..) => MOVUPS_LOAD,
            Rm::Each(..) | Rm::Literal(_) | Rm::LaneShifts(_) => BROADCAST,
        };
        self.asm.evex(op, register, 0, rm, k, false, None);
    }

    /// The lanes of an effect in a mask register.
    pub fn avx512_lane_mask(&mut self, under: Under, unit: Unit) -> K {
        let lanes = self.lanes(under, unit.copy);
        if lanes != Self::running(unit.copy) {
            self.asm.mask_from(1, lanes);
            return 1;
        }
        let cache = 4 + unit.copy;
        if !self.cached[usize::from(unit.copy)] {
            self.asm.mask_from(cache, lanes);
            self.cached[usize::from(unit.copy)] = true;
        }
        cache
    }
}
