//! Operands of R700's arithmetic.

use crate::codegen::x86::lir::Src;
use crate::codegen::x86::scalar::Sink;
use ctm_exec::float::{ONE, SIGN};
use ctm_x86 as asm;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its location.
    pub src: Src,
    /// It holds no denormals.
    pub flushed: bool,
    /// It is never a NaN.
    pub number: bool,
    /// The caller's number for it.
    pub value: u32,
    /// It has to be negated first. Sums, and multiply-adds that follow IEEE, accept such operands.
    pub negated: bool,
}

impl Operand {
    /// The same, negated where it has to be.
    pub fn plain(self, s: &mut (impl Sink + ?Sized)) -> Self {
        if !self.negated {
            return self;
        }
        Self { src: s.two(asm::XOR, self.src, Src::Literal(SIGN)), negated: false, ..self }
    }
}

/// An operand without denormals.
pub fn flush(s: &mut impl Sink, operand: Operand) -> Src {
    if operand.flushed { operand.src } else { s.two(asm::MUL, operand.src, Src::Literal(ONE)) }
}
