//! Masks of lanes in mask registers.
//!
//! | register | contents |
//! |---|---|
//! | k1-k3 | masks within one group of instructions |
//! | k4-k7 | the active lanes of parts 0 to 3 |

use super::lir::Lir;
use super::vectors::Vectors;
use ctm_x86::{BLEND_MASK, CLASS, Cond, Label};

/// Instructions that make or use masks.
pub trait MaskRegisters: Vectors {
    /// An instruction on masks.
    fn register_line(&mut self, lir: &Lir, unit: Self::Unit, end: Label) {
        let operand_scratch = self.target().operand_scratch();
        match *lir {
            Lir::Test { op, how, dst: k, a, b, under } => {
                let a = self.reg(a, unit, operand_scratch);
                let rm = self.rm(b, unit);
                self.asm().evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class { class, dst: k, a, under } => {
                let rm = self.rm(a, unit);
                self.asm().evex(CLASS, k, 0, rm, under, false, Some(class.number()));
            }
            Lir::Or(k, a, b) => self.asm().mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm().mask_and_not(k, a, b),
            Lir::Blend { dst, k, yes, no } => self.make(dst, unit, |e, dst| {
                let no = e.reg(no, unit, operand_scratch);
                let rm = e.rm(yes, unit);
                e.asm().evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge { dst, k, a } => self.change(dst, unit, |e, dst| {
                let rm = e.rm(a, unit);
                e.load_rm(dst, rm, k);
            }),
            Lir::MergeTwo { op, dst, k, a, b } => self.change(dst, unit, |e, dst| {
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

impl<E: Vectors> MaskRegisters for E {}
