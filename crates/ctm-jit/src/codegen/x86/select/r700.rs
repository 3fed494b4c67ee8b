//! The operations of R700 programs, which have their instructions in [`super::super::r700::alu`].

use super::Select;
use super::deferred::Rule;
use crate::codegen::x86::asm;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Negated, Src, Vector};
use crate::codegen::x86::r700::alu::{Operand, Target};
use crate::codegen::x86::scalar::Sink;
use crate::ir::x1k::{Block, Op, Value};

/// The instructions of an R700 operation.
pub(super) struct R700<'s, 'a, 'b> {
    pub(super) select: &'s mut Select<'a>,
    pub(super) block: &'b Block,
}

impl Sink for R700<'_, '_, '_> {
    fn isa(&self) -> Isa {
        self.select.isa
    }

    fn split(&mut self) {
        self.select.split();
    }

    fn fresh(&mut self) -> Vector {
        self.select.fresh()
    }

    fn push(&mut self, lir: Lir) {
        self.select.push(lir);
    }
}

impl R700<'_, '_, '_> {
    /// Whether a product may be of zero and something that is no number.
    fn may_be_zero_times_infinity(&self, operands: [Operand; 2]) -> bool {
        let bare = |operand: Operand| {
            let mut value = Value(operand.value);
            while let Op::Sign(_, a) = self.block.op_at(value) {
                value = a;
            }
            value
        };
        let [a, b] = operands.map(bare);
        let ordinary =
            |value: Value| matches!(self.block.op_at(value), Op::Bits(bits) if f32::from_bits(bits).is_normal());
        a != b && !ordinary(a) && !ordinary(b)
    }
}

impl Target for R700<'_, '_, '_> {
    fn zero_wins(&mut self, dst: Vector, operands: [Operand; 2]) {
        if !self.may_be_zero_times_infinity(operands) {
            return;
        }
        let [a, b] = operands.map(|operand| operand.src);
        let rule = Rule { factors: [a, b], mend: Lir::Merge(dst, 2, Src::Literal(0)), before: None };
        self.select.defer(Lir::Two(asm::MUL, dst, a, b), rule);
    }

    fn multiply_add(&mut self, dst: Vector, [a, b, c]: [Operand; 3], zero_wins: bool) {
        if zero_wins && self.may_be_zero_times_infinity([a, b]) {
            let product = self.fresh();
            self.push(Lir::Two(asm::MUL, product, a.src, b.src));
            self.zero_wins(product, [a, b]);
            return self.push(Lir::Two(asm::ADD, dst, Src::Vector(product), c.src));
        }
        let mut negated = Negated { product: a.negated != b.negated, summand: c.negated };
        let mut c = c;
        if negated.product && negated.summand {
            c = c.plain(self);
            negated.summand = false;
        }
        self.push(Lir::MulAdd(negated, dst, [a.src, b.src, c.src]));
    }
}
