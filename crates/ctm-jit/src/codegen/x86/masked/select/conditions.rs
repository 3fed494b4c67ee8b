//! Comparisons as masks.

use super::{Plan, Select};
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{Comparison, INT_EQUAL, INT_NOT_EQUAL, Side, mirrored, opposite, truth};
use crate::codegen::x86::scalar::Sink;
use ctm_ir::masked::{Block, Condition, Op, Value};
use ctm_isa::r700::ops::Op2;
use ctm_x86 as asm;

/// A value made of several comparisons: its instructions are at its use.
pub(super) fn compound(block: &Block, value: Value) -> Option<Condition> {
    match block.ops[value.index()] {
        Op::Select(..) => Condition::of(&block.ops, value),
        _ => None,
    }
}

impl Select<'_> {
    /// Puts the lanes in which a value is not zero, or (not `wanted`) in which it is, into mask 1.
    pub(super) fn truth(&mut self, plan: &Plan<'_>, value: Value, wanted: bool) {
        if plan.of[value.index()].at.is_none() {
            if let Op::Holds { op, operands: ab, wanted: holds } = plan.block.ops[value.index()]
                && self.holds(plan, (op, ab), holds == wanted)
            {
                return;
            }
            if let Some(condition) = compound(plan.block, value) {
                return self.condition(plan, condition, wanted);
            }
        }
        let src = self.src(plan, value);
        let how = if wanted { INT_NOT_EQUAL } else { INT_EQUAL };
        self.push(Lir::Test { op: asm::CMP_I32, how, dst: 1, a: src, b: Src::Literal(0), under: 0 });
    }

    /// `dst = c ? a : b`.
    pub(super) fn choose(&mut self, plan: &Plan<'_>, dst: Vector, [c, a, b]: [Value; 3]) {
        let [a, b] = [a, b].map(|value| self.src(plan, value));
        let not = match compound(plan.block, c) {
            // A disjunction takes one more instruction.
            Some(condition) => matches!(condition, Condition::Or(..)),
            None => {
                let is_plain = |op| truth(op).is_none_or(|(_, second)| second.is_none());
                let turns = !matches!(plan.block.ops[c.index()], Op::Holds { op, .. } if !is_plain(op));
                // The value that is chosen where the mask is set may lie in memory, as literals do.
                turns && !matches!(a, Src::Literal(_)) && matches!(b, Src::Literal(_))
            }
        };
        self.truth(plan, c, !not);
        let (yes, no) = if not { (b, a) } else { (a, b) };
        self.push(Lir::Blend { dst, k: 1, yes, no });
    }

    /// Puts the lanes in which a condition holds, or (not `wanted`) does not, into mask 1.
    pub(super) fn condition(&mut self, plan: &Plan<'_>, condition: Condition, wanted: bool) {
        let ((op, ab, holds), of, both) = match condition {
            Condition::Holds((op, ab, holds)) => {
                self.holds(plan, (op, ab), holds == wanted);
                return;
            }
            Condition::Not(of) => return self.truth(plan, of, !wanted),
            Condition::And(holds, of) => (holds, of, wanted),
            Condition::Or(holds, of) => (holds, of, !wanted),
        };
        self.truth(plan, of, wanted);
        let Some((first, None)) = truth(op) else { return };
        if both {
            return self.compare(plan, first, ab, holds == wanted, (1, 1));
        }
        self.compare(plan, first, ab, holds == wanted, (2, 0));
        self.push(Lir::Or(1, 1, 2));
    }

    /// Puts the lanes in which a comparison holds, or (not `wanted`) does not, into a mask under another one.
    pub(super) fn compare(
        &mut self,
        plan: &Plan<'_>,
        (op, how, x, y): Comparison,
        [a, b]: [Value; 2],
        wanted: bool,
        (k, under): (K, K),
    ) {
        let [x, y] = [x, y].map(|side| match side {
            Side::A => self.src(plan, a),
            Side::B => self.src(plan, b),
            Side::Bits(bits) => Src::Literal(bits),
        });
        let how = if wanted { how } else { opposite(how) };
        // Only the second one can be a memory operand.
        let (how, x, y) = match (x, y) {
            (Src::Vector(_), _) | (_, Src::Literal(_)) => (how, x, y),
            _ => (mirrored(how), y, x),
        };
        self.push(Lir::Test { op, how, dst: k, a: x, b: y, under });
    }

    /// Puts the lanes where an operation's predicate is execute, or where it kills, into mask 1, or (not `wanted`) the
    /// others.
    pub(super) fn holds(&mut self, plan: &Plan<'_>, (op, ab): (Op2, [Value; 2]), wanted: bool) -> bool {
        let Some((first, second)) = truth(op) else { return false };
        // The negation of two comparisons is not one.
        if !wanted && second.is_some() {
            return false;
        }
        self.compare(plan, first, ab, wanted, (1, 0));
        if let Some(second) = second {
            self.compare(plan, second, ab, wanted, (1, 1));
        }
        true
    }
}
