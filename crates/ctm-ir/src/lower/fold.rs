//! Folds operations whose outcome is one constant, or a choice between two: of constants, and of choices between two
//! constants.
//!
//! Compilers make every condition of a comparison that gives 1.0 or all ones, of operations on that, and of a
//! comparison with zero at the end. A computation on a choice between two constants is such a choice again, and a
//! comparison of it is the condition that it was chosen by.

use super::build::Build;
use crate::masked::{Condition, Op, Value};
use crate::values;
use ctm_isa::r700::ops::{AluOp, Decides, Omod, Op2};

/// A value that is one of two constants.
struct Choice {
    /// Where this is not 0,
    by: Value,
    /// the first, elsewhere the second.
    of: [u32; 2],
}

impl Build {
    /// A simpler value that equals the operation's result, if there is one.
    #[inline(always)]
    pub(super) fn folded(&mut self, op: &Op) -> Option<Value> {
        match *op {
            Op::Abs(_) | Op::Neg(_) | Op::Holds { .. } | Op::Unit(..) | Op::Dot(..) => self.computed(op, op.operands()),
            Op::Alu { op: alu, operands: [x, a, b], omod: Omod::Off, clamp: false }
                if matches!(alu.info().decides, Decides::Choose(_)) =>
            {
                // It passes on one of two operands unchanged: the one that this operand selects.
                let first = |x: u32| values::alu(alu, [x, u32::MAX, 0], Omod::Off, false) != 0;
                if let Some(x) = self.constant(x) {
                    return Some(if first(x) { a } else { b });
                }
                let Choice { by, of } = self.choice(x)?;
                Some(self.chosen(by, of.map(first), [a, b]))
            }
            Op::Alu {
                op: AluOp::Op2(alu @ (Op2::AndInt | Op2::OrInt)),
                operands: [x, y, _],
                omod: Omod::Off,
                clamp: false,
            } => self.computed(op, op.operands()).or_else(|| self.joined(alu == Op2::AndInt, x, y)),
            Op::Alu { .. } => self.computed(op, op.operands()),
            Op::Select([by, a, b]) => {
                if let Some(by) = self.constant(by) {
                    return Some(if by == 0 { b } else { a });
                }
                if a == b {
                    return Some(a);
                }
                let choice = self.choice(by)?;
                let is_simpler = choice.by != by || matches!(self.ops()[by.index()], Op::Holds { wanted: false, .. });
                is_simpler.then(|| self.chosen(choice.by, choice.of.map(|bits| bits != 0), [a, b]))
            }
            _ => None,
        }
    }

    /// The bits that a value has in every lane.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match self.ops()[value.index()] {
            Op::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value as a choice between two constants by a comparison.
    fn choice(&mut self, value: Value) -> Option<Choice> {
        match self.ops()[value.index()] {
            Op::Holds { op, operands: ab, wanted } => {
                let by = self.make(Op::Holds { op, operands: ab, wanted: true });
                Some(Choice { by, of: if wanted { [u32::MAX, 0] } else { [0, u32::MAX] } })
            }
            Op::Select([by, a, b]) => {
                let is_condition = |value| Condition::of(self.ops(), value).is_some();
                let decides = matches!(self.ops()[by.index()], Op::Holds { wanted: true, .. }) || is_condition(by);
                match (self.constant(a), self.constant(b)) {
                    (Some(a), Some(b)) if decides => Some(Choice { by, of: [a, b] }),
                    _ => is_condition(value).then_some(Choice { by: value, of: [u32::MAX, 0] }),
                }
            }
            Op::Alu { op: AluOp::Op2(op), operands: [a, b, _], omod: Omod::Off, clamp: false } => {
                let by = self.make(Op::Holds { op: op.predicate()?, operands: [a, b], wanted: true });
                let one = if op.info().writes.is_integer() { u32::MAX } else { 1f32.to_bits() };
                Some(Choice { by, of: [one, 0] })
            }
            _ => None,
        }
    }

    /// Where `by` is not 0 the value that `first[0]` names, elsewhere the one that `first[1]` names: the first value if
    /// `true`, else the second.
    fn chosen(&mut self, by: Value, first: [bool; 2], [a, b]: [Value; 2]) -> Value {
        match first {
            [true, true] => a,
            [false, false] => b,
            [true, false] => self.make(Op::Select([by, a, b])),
            [false, true] => self.make(Op::Select([by, b, a])),
        }
    }

    /// The value as a condition.
    fn condition(&mut self, value: Value) -> Option<Value> {
        let Choice { by, of } = self.choice(value)?;
        let is = matches!(of, [u32::MAX, 0] | [0, u32::MAX]);
        let by = is.then(|| self.between(by, of))?;
        Condition::of(self.ops(), by).map(|_| by)
    }

    /// The bits common to two values, or (not `both`) the bits of either, where both are conditions or masked by a
    /// condition.
    fn joined(&mut self, both: bool, x: Value, y: Value) -> Option<Value> {
        let (zero, ones) = (self.bits(0), self.bits(u32::MAX));
        let (by, other) = match (self.condition(x), self.condition(y)) {
            (Some(x), Some(y)) if matches!(self.ops()[x.index()], Op::Holds { .. }) => (x, y),
            (Some(x), Some(y)) => (y, x),
            (Some(by), None) if both => (by, y),
            (None, Some(by)) if both => (by, x),
            _ => return None,
        };
        Some(self.make(if both { Op::Select([by, other, zero]) } else { Op::Select([by, ones, other]) }))
    }

    /// An operation on constants, or on one choice between two and constants.
    fn computed(&mut self, op: &Op, operands: &[Value]) -> Option<Value> {
        let mut args = [0; Op::OPERANDS];
        let mut open = None;
        for (&value, arg) in operands.iter().zip(&mut args) {
            match self.constant(value) {
                Some(bits) => *arg = bits,
                None if open.is_none_or(|open| open == value) => open = Some(value),
                None => return None,
            }
        }
        let Some(open) = open else { return Some(self.bits(values::lane(op, &args))) };
        let Choice { by, of } = self.choice(open)?;
        let [then, otherwise] = of.map(|bits| {
            operands.iter().zip(&mut args).filter(|(value, _)| **value == open).for_each(|(_, arg)| *arg = bits);
            values::lane(op, &args)
        });
        Some(self.between(by, [then, otherwise]))
    }

    /// A choice between two constants.
    fn between(&mut self, by: Value, [then, otherwise]: [u32; 2]) -> Value {
        match (self.ops()[by.index()], then, otherwise) {
            (_, a, b) if a == b => self.bits(a),
            (_, u32::MAX, 0) => by,
            (Op::Holds { op, operands: ab, wanted }, 0, u32::MAX)
                if matches!(op.info().decides, Decides::Compare(_)) =>
            {
                self.make(Op::Holds { op, operands: ab, wanted: !wanted })
            }
            (_, a, b) => {
                let (a, b) = (self.bits(a), self.bits(b));
                self.make(Op::Select([by, a, b]))
            }
        }
    }
}
