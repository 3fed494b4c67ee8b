//! Registers at an index of each lane.
//!
//! Of few registers one is selected by comparisons, so that they may have machine registers; many registers are rows of
//! the frame, with gathers and scatters.

use super::Build;
use crate::masked::{M, Op, RegisterFile, Value, Var};
use ctm_isa::r700::ops::Op2;

/// Up to this number, registers are few.
const FEW: u8 = 16;

impl Build {
    /// All ones in the lanes whose `base + index` is this register.
    fn names(&mut self, register: u8, base: u8, index: Value) -> Value {
        let number = self.bits(u32::from(register).wrapping_sub(base.into()));
        self.make(Op::Holds { op: Op2::PredSeteInt, operands: [index, number], wanted: true })
    }

    /// The value of a register: in the lanes that execute, or (`exactly`) in all.
    pub fn element(&mut self, register: u8, element: u8, exactly: bool) -> Value {
        let var = Var::gpr(register.into(), element.into());
        if exactly { self.effect(Op::Get(var)) } else { self.get(var) }
    }

    /// An element of register `base + index` of `gprs` registers; of register 0 if there is no such register. As
    /// [`Build::element`].
    pub fn get_indexed(&mut self, gprs: u8, (base, element, index): (u8, u8, Value), exactly: bool) -> Value {
        if gprs > FEW {
            return self.make(Op::GetRelative { file: RegisterFile::Gprs(gprs), base, element, index });
        }
        let mut value = self.element(0, element, exactly);
        for register in 1..gprs {
            let named = self.names(register, base, index);
            let other = self.element(register, element, exactly);
            value = self.make(Op::Select([named, other, value]));
        }
        value
    }

    /// Stores into an element of register `base + index` of `gprs` registers, if there is such a register.
    pub fn set_indexed(&mut self, gprs: u8, (base, element, index): (u8, u8, Value), value: Value, under: M) {
        if gprs > FEW {
            self.effect(Op::SetRelative { gprs, base, element, operands: [index, value], under });
            return self.forget();
        }
        for register in 0..gprs {
            let named = self.names(register, base, index);
            let old = self.element(register, element, under != M::ACTIVE);
            let new = self.make(Op::Select([named, value, old]));
            self.set(Var::gpr(register.into(), element.into()), new, under);
        }
    }
}
