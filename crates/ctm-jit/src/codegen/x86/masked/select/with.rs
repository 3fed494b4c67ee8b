//! Operations of R700, whose instructions are those of [`Alu::emit`](super::Alu::emit).

use super::{Plan, Select};
use crate::codegen::target::Target;
use crate::codegen::x86::lir::{Lir, Negated, Src, Vector};
use crate::codegen::x86::masked::alu::{self, AluSink, Operand};
use crate::codegen::x86::scalar::Sink;
use ctm_ir::masked::{Op, Value};

/// Whether a factor is known to be neither zero, infinite nor NaN.
fn is_ordinary(plan: &Plan<'_>, value: Value) -> bool {
    matches!(plan.block.ops[plan.block.bare(value).index()], Op::Bits(bits) if f32::from_bits(bits).is_normal())
}

/// One block's instructions, for [`Alu::emit`](super::Alu::emit).
pub(super) struct With<'s, 'a, 'p> {
    pub select: &'s mut Select<'a>,
    pub plan: &'p Plan<'p>,
}

impl Sink for With<'_, '_, '_> {
    fn fresh(&mut self) -> Vector {
        self.select.fresh()
    }

    fn push(&mut self, lir: Lir) {
        self.select.push(lir);
    }

    fn target(&self) -> &'static Target {
        self.select.target()
    }

    fn split(&mut self) {
        self.select.split();
    }

    fn one_nan(&mut self, dst: Vector) {
        self.select.one_nan(dst);
    }
}

impl With<'_, '_, '_> {
    /// Whether a product may be of zero and an infinity or a NaN.
    fn may_be_zero_times_infinity(&self, operands: [Operand; 2]) -> bool {
        let [a, b] = operands.map(|operand| Value(operand.value));
        let same = self.plan.block.bare(a) == self.plan.block.bare(b);
        !same && !is_ordinary(self.plan, a) && !is_ordinary(self.plan, b)
    }
}

impl AluSink for With<'_, '_, '_> {
    fn zero_wins(&mut self, dst: Vector, [a, b]: [Operand; 2]) {
        if self.may_be_zero_times_infinity([a, b]) {
            self.select.zero_wins(dst, [a.src, b.src], Lir::Merge { dst, k: 2, a: Src::Literal(0) });
        }
    }

    fn rare(&mut self, check: Lir, body: impl FnOnce(&mut Self)) {
        self.select.begin_rare(check);
        body(self);
        self.select.end_rare();
    }

    fn multiply_add(&mut self, dst: Vector, operands: [Operand; 3], zero_wins: bool) {
        let [a, b, mut c] = operands;
        if self.select.given.streams && !(zero_wins && self.may_be_zero_times_infinity([a, b])) {
            let mut negated = Negated { product: a.negated != b.negated, summand: c.negated };
            if negated.product && negated.summand {
                c = c.plain(self);
                negated.summand = false;
            }
            return self.push(Lir::MulAdd { negated, dst, operands: [a.src, b.src, c.src] });
        }
        alu::multiply_add(self, dst, operands, zero_wins);
    }
}
