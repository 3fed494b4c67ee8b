//! Operations, as the reference functions of `ctm_exec::pvs::ops` define them.

use crate::lower::build::Build;
use crate::masked::{ChannelOp, Dot, Doubts, Op, Value};
use ctm_exec::float::{INFINITY, ONE, SIGN};
use ctm_exec::pvs::ops::{Comparison, LIGHT_EXPONENT, MAX_FLOAT, TURNS};
use ctm_isa::pvs::ops::{MacroOp, MathOp, VectorOp};
use ctm_isa::r700::ops::{AluOp, Omod as R700Omod, Op2};
use ctm_isa::x1k::ops::{AlphaOp, Omod, RgbOp};

/// A result: the components that are needed, and the predicate where the operation sets it.
#[derive(Clone, Copy, Default)]
pub struct UnitResult {
    pub value: [Option<Value>; 4],
    /// All ones where a component is written, if it depends on data.
    pub conditions: [Option<Value>; 4],
    /// All ones where it is set.
    pub predicate: Option<Value>,
}

impl From<Value> for UnitResult {
    fn from(value: Value) -> Self {
        Self { value: [Some(value); 4], ..Self::default() }
    }
}

impl From<[Value; 4]> for UnitResult {
    fn from(value: [Value; 4]) -> Self {
        Self { value: value.map(Some), ..Self::default() }
    }
}

impl From<(Value, Value)> for UnitResult {
    fn from((value, predicate): (Value, Value)) -> Self {
        Self { value: [Some(value); 4], predicate: Some(predicate), ..Self::default() }
    }
}

/// The operations of a block.
pub struct Functions<'a>(pub &'a mut Build);

type Operands = [[Value; 4]; 3];

impl Functions<'_> {
    fn bits(&mut self, bits: u32) -> Value {
        self.0.bits(bits)
    }

    fn unit(&mut self, unit: ChannelOp, operands: [Value; 3]) -> Value {
        self.0.make(Op::Unit(unit, operands))
    }

    fn scalar(&mut self, op: AlphaOp, a: Value) -> Value {
        self.unit(ChannelOp::Scalar(op), [a; 3])
    }

    fn alu(&mut self, op: Op2, a: Value, b: Value) -> Value {
        self.0.make(Op::Alu { op: AluOp::Op2(op), operands: [a, b, a], omod: R700Omod::Off, clamp: false })
    }

    fn select(&mut self, on: Value, yes: Value, no: Value) -> Value {
        self.0.make(Op::Select([on, yes, no]))
    }

    fn holds(&mut self, op: Op2, a: Value, b: Value) -> Value {
        self.0.make(Op::Holds { op, operands: [a, b], wanted: true })
    }

    fn abs(&mut self, a: Value) -> Value {
        self.0.make(Op::Abs(a))
    }

    fn both(&mut self, a: Value, b: Value) -> Value {
        let zero = self.bits(0);
        self.select(a, b, zero)
    }

    /// `to`, or any bit in which two values differ.
    pub fn differs_or(&mut self, to: Value, a: Value, b: Value) -> Value {
        let differs = self.alu(Op2::XorInt, a, b);
        self.alu(Op2::OrInt, to, differs)
    }

    /// The bits as a result: flushed, with the one NaN.
    fn copy(&mut self, a: Value) -> Value {
        self.unit(ChannelOp::Scale(Omod::U1), [a; 3])
    }

    pub fn clamp(&mut self, a: Value) -> Value {
        self.unit(ChannelOp::Clamp, [a; 3])
    }

    /// `ops::multiply_add`: products with a zero are zero.
    fn mad(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.unit(ChannelOp::Mad { zero_wins: true, omod: Omod::U1 }, [a, b, c])
    }

    /// A product: adding -0 changes no sum.
    fn multiply(&mut self, a: Value, b: Value) -> Value {
        let nothing = self.bits(SIGN);
        self.mad(a, b, nothing)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        let one = self.bits(ONE);
        self.unit(ChannelOp::Mad { zero_wins: false, omod: Omod::U1 }, [a, one, b])
    }

    fn maximum(&mut self, a: Value, b: Value) -> Value {
        let chosen = self.unit(ChannelOp::Max, [a, b, a]);
        self.copy(chosen)
    }

    fn minimum(&mut self, a: Value, b: Value) -> Value {
        let chosen = self.unit(ChannelOp::Min, [a, b, a]);
        self.copy(chosen)
    }

    fn fraction(&mut self, a: Value) -> Value {
        self.unit(ChannelOp::Fraction(Omod::U1), [a; 3])
    }

    fn floor(&mut self, a: Value) -> Value {
        let a = self.copy(a);
        let floor = self.alu(Op2::Floor, a, a);
        self.copy(floor)
    }

    /// 1.0 where a comparison holds, else 0.0.
    fn set(&mut self, op: Op2, a: Value, b: Value) -> Value {
        let (one, zero) = (self.bits(ONE), self.bits(0));
        let holds = self.holds(op, a, b);
        self.select(holds, one, zero)
    }

    /// All ones where a comparison with zero holds.
    fn compared(&mut self, with: Comparison, a: Value) -> Value {
        let op = match with {
            Comparison::Eq => Op2::PredSete,
            Comparison::Gt => Op2::PredSetgt,
            Comparison::Gte => Op2::PredSetge,
            Comparison::Neq => Op2::PredSetne,
        };
        let zero = self.bits(0);
        self.holds(op, a, zero)
    }

    /// The integer of A0 (`ops::to_integer`).
    pub fn integer_of(&mut self, a: Value) -> Value {
        let floor = self.floor(a);
        let [least, most] = [-32768f32, 32767.0].map(|bound| self.bits(bound.to_bits()));
        let raised = self.maximum(floor, least);
        let limited = self.minimum(raised, most);
        let integer = self.alu(Op2::FltToInt, limited, limited);
        let (is_number, zero) = (self.holds(Op2::PredSete, a, a), self.bits(0));
        self.select(is_number, integer, zero)
    }

    /// `floor(A + 0.5)`, the sum exact: the distance from the floor is exact where it can be near a half.
    fn flt2fix_dx_rnd(&mut self, a: Value) -> Value {
        let (floor, half) = (self.floor(a), self.bits(0.5f32.to_bits()));
        let down = self.0.make(Op::Neg(floor));
        let distance = self.add(a, down);
        let step = self.set(Op2::PredSetge, distance, half);
        self.add(floor, step)
    }

    /// A dot product: an estimate, and the factors for where it may be wrong.
    fn dot_product(&mut self, a: [Value; 4], b: [Value; 4]) -> Value {
        let [x, y, z, w] = std::array::from_fn(|n| self.multiply(a[n], b[n]));
        let [first, second] = [self.add(x, y), self.add(z, w)];
        let sum = self.add(first, second);
        let [first, second] = [self.add(x, z), self.add(y, w)];
        let crosswise = self.add(first, second);
        let is_zero = self.compared(Comparison::Eq, crosswise);
        let estimate = self.select(is_zero, crosswise, sum);
        let doubts = Doubts { small: true, large: true };
        let dot = Dot { op: RgbOp::Dp4, zero_wins: true, omod: Omod::U1, negated: 0, doubts };
        self.0.make(Op::Dot(dot, [estimate, a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]]))
    }

    /// A vector operation; `None`: it is left to the reference interpreter. `needed`: components.
    pub fn vector(&mut self, op: VectorOp, operands: Operands, needed: u8) -> Option<UnitResult> {
        use Comparison::{Eq, Gt, Gte, Neq};
        use VectorOp as V;
        let [a, b, c] = operands;
        let mut each = |function: &mut dyn FnMut(&mut Self, usize) -> Value| {
            let value = std::array::from_fn(|n| (needed >> n & 1 == 1).then(|| function(self, n)));
            UnitResult { value, ..UnitResult::default() }
        };
        Some(match op {
            V::NoOp => UnitResult::default(),
            V::DotProduct => self.dot_product(a, b).into(),
            V::Multiply => each(&mut |f, n| f.multiply(a[n], b[n])),
            V::Add => each(&mut |f, n| f.add(a[n], b[n])),
            V::MultiplyAdd => each(&mut |f, n| f.mad(a[n], b[n], c[n])),
            V::DistanceVector => {
                let [one, y] = [self.bits(ONE), self.multiply(a[1], b[1])];
                [one, y, self.copy(a[2]), self.copy(b[3])].into()
            }
            V::Fraction => each(&mut |f, n| f.fraction(a[n])),
            V::Maximum => each(&mut |f, n| f.maximum(a[n], b[n])),
            V::Minimum => each(&mut |f, n| f.minimum(a[n], b[n])),
            V::SetGreaterThanEqual => each(&mut |f, n| f.set(Op2::PredSetge, a[n], b[n])),
            V::SetLessThan => each(&mut |f, n| f.set(Op2::PredSetgt, b[n], a[n])),
            V::MultiplyX2Add => return None,
            V::MultiplyClamp => each(&mut |f, n| {
                let (product, zero) = (f.multiply(a[n], b[n]), f.bits(0));
                let raised = f.maximum(product, zero);
                f.minimum(raised, c[n])
            }),
            V::Flt2FixDx => each(&mut |f, n| f.floor(a[n])),
            V::Flt2FixDxRnd => each(&mut |f, n| f.flt2fix_dx_rnd(a[n])),
            V::PredSetEqPush => self.pred_set_push(Eq, a[3], b[3]).into(),
            V::PredSetGtPush => self.pred_set_push(Gt, a[3], b[3]).into(),
            V::PredSetGtePush => self.pred_set_push(Gte, a[3], b[3]).into(),
            V::PredSetNeqPush => self.pred_set_push(Neq, a[3], b[3]).into(),
            V::CondWriteEq | V::CondWriteGt | V::CondWriteGte | V::CondWriteNeq => {
                let with = match op {
                    V::CondWriteEq => Eq,
                    V::CondWriteGt => Gt,
                    V::CondWriteGte => Gte,
                    _ => Neq,
                };
                let conditions = each(&mut |f, n| f.compared(with, a[n])).value;
                let value = each(&mut |f, n| f.copy(b[n])).value;
                UnitResult { value, conditions, predicate: None }
            }
            V::CondMuxEq => each(&mut |f, n| f.cond_mux(Eq, [a[n], b[n], c[n]])),
            V::CondMuxGt => each(&mut |f, n| f.cond_mux(Gt, [a[n], b[n], c[n]])),
            V::CondMuxGte => each(&mut |f, n| f.cond_mux(Gte, [a[n], b[n], c[n]])),
            V::SetGreaterThan => each(&mut |f, n| f.set(Op2::PredSetgt, a[n], b[n])),
            V::SetEqual => each(&mut |f, n| f.set(Op2::PredSete, a[n], b[n])),
            V::SetNotEqual => each(&mut |f, n| f.set(Op2::PredSetne, a[n], b[n])),
        })
    }

    /// A macro; `None`: it is left to the reference interpreter.
    pub fn macro_op(&mut self, op: MacroOp, operands: Operands, needed: u8) -> Option<UnitResult> {
        match op {
            MacroOp::TwoClockMadd => self.vector(VectorOp::MultiplyAdd, operands, needed),
            MacroOp::TwoClockM2xAdd => None,
        }
    }

    fn cond_mux(&mut self, with: Comparison, [a, b, c]: [Value; 3]) -> Value {
        let holds = self.compared(with, a);
        let chosen = self.select(holds, b, c);
        self.copy(chosen)
    }

    fn pred_set_push(&mut self, with: Comparison, counter: Value, value: Value) -> (Value, Value) {
        let is_on = self.compared(Comparison::Eq, counter);
        let holds = self.compared(with, value);
        let predicate = self.both(is_on, holds);
        let (zero, one) = (self.bits(0), self.bits(ONE));
        let more = self.add(counter, one);
        (self.select(predicate, zero, more), predicate)
    }

    /// The result, and `magnitude` of the same sign where it is infinite.
    fn infinity_becomes(&mut self, bits: Value, magnitude: u32) -> Value {
        let (infinity, sign, magnitude) = (self.bits(INFINITY), self.bits(SIGN), self.bits(magnitude));
        let abs = self.abs(bits);
        let is_infinite = self.holds(Op2::PredSete, abs, infinity);
        let sign = self.alu(Op2::AndInt, bits, sign);
        let other = self.alu(Op2::OrInt, sign, magnitude);
        self.select(is_infinite, other, bits)
    }

    /// `ops::power_func_ff`.
    fn power(&mut self, a: Value, c: Value) -> Value {
        let magnitude = self.abs(a);
        let [zero, one, infinity, sign] = [0, ONE, INFINITY, SIGN].map(|bits| self.bits(bits));
        let log = self.scalar(AlphaOp::Ln2, magnitude);
        let exponent = self.multiply(c, log);
        let power = self.scalar(AlphaOp::Ex2, exponent);
        let is_one = self.holds(Op2::PredSete, magnitude, one);
        let power = self.select(is_one, one, power);
        let sign = self.alu(Op2::AndInt, a, sign);
        let signed = self.alu(Op2::OrInt, power, sign);
        let is_below = self.holds(Op2::PredSetgt, zero, c);
        let of_zero = self.select(is_below, infinity, zero);
        let is_zero = self.compared(Comparison::Eq, a);
        let power = self.select(is_zero, of_zero, signed);
        let is_nothing = self.compared(Comparison::Eq, c);
        let power = self.select(is_nothing, one, power);
        // A sum of both is a NaN where one of them is.
        let [is_a, is_c] = [self.holds(Op2::PredSete, a, a), self.holds(Op2::PredSete, c, c)];
        let (are_numbers, nan) = (self.both(is_a, is_c), self.bits(ctm_exec::float::NAN));
        self.select(are_numbers, power, nan)
    }

    /// A math operation on three scalars.
    pub fn math(&mut self, op: MathOp, [a, b, c]: [Value; 3], needed: u8) -> UnitResult {
        use MathOp as M;
        let wants = |component: usize| needed >> component & 1 == 1;
        match op {
            M::NoOp => UnitResult::default(),
            M::ExpBase2Dx => {
                let one = self.bits(ONE);
                let floor = self.floor(a);
                let x = if wants(0) { self.scalar(AlphaOp::Ex2, floor) } else { one };
                let y = if wants(1) { self.fraction(a) } else { one };
                let z = if wants(2) { self.scalar(AlphaOp::Ex2, a) } else { one };
                [x, y, z, one].into()
            }
            M::LogBase2Dx => self.log_base2_dx(a).into(),
            M::ExpBaseEFf => {
                let log = self.bits(std::f32::consts::LOG2_E.to_bits());
                let exponent = self.multiply(a, log);
                self.scalar(AlphaOp::Ex2, exponent).into()
            }
            M::LightCoeffDx => {
                let (zero, one) = (self.bits(0), self.bits(ONE));
                let [least, most] = [-LIGHT_EXPONENT, LIGHT_EXPONENT].map(|bound| self.bits(bound.to_bits()));
                let raised = self.maximum(c, least);
                let exponent = self.minimum(raised, most);
                let base = self.maximum(a, zero);
                let power = self.power(base, exponent);
                let is_lit = self.compared(Comparison::Gt, b);
                let specular = self.select(is_lit, power, zero);
                [one, self.maximum(b, zero), specular, one].into()
            }
            M::PowerFuncFf => self.power(a, c).into(),
            M::RecipDx => {
                let reciprocal = self.scalar(AlphaOp::Rcp, a);
                self.infinity_becomes(reciprocal, MAX_FLOAT).into()
            }
            M::RecipFf => {
                let reciprocal = self.scalar(AlphaOp::Rcp, a);
                self.infinity_becomes(reciprocal, 0).into()
            }
            M::RecipSqrtDx | M::RecipSqrtFf => {
                let magnitude = self.abs(a);
                let root = self.scalar(AlphaOp::Rsq, magnitude);
                self.infinity_becomes(root, if op == M::RecipSqrtDx { MAX_FLOAT } else { 0 }).into()
            }
            M::Multiply => self.multiply(a, b).into(),
            M::ExpBase2FullDx => self.scalar(AlphaOp::Ex2, a).into(),
            M::LogBase2FullDx => {
                let magnitude = self.abs(a);
                self.log_or_least(magnitude).into()
            }
            M::PowerFuncFfClampB | M::PowerFuncFfClampB1 => {
                let (zero, one, power) = (self.bits(0), self.bits(ONE), self.power(a, c));
                let is_less = self.holds(Op2::PredSetgt, b, a);
                let clamped = self.select(is_less, zero, power);
                if op == M::PowerFuncFfClampB {
                    return clamped.into();
                }
                let [is_more, above] = [self.holds(Op2::PredSetge, a, b), self.holds(Op2::PredSetgt, a, one)];
                let is_one = self.both(is_more, above);
                self.select(is_one, one, clamped).into()
            }
            M::PowerFuncFfClamp01 => {
                let (zero, one, power) = (self.bits(0), self.bits(ONE), self.power(a, c));
                let [above, below] = [self.holds(Op2::PredSetgt, a, one), self.holds(Op2::PredSetge, zero, a)];
                let limited = self.select(above, one, power);
                self.select(below, zero, limited).into()
            }
            M::Sin | M::Cos => {
                let turns = self.bits(TURNS.to_bits());
                let turned = self.multiply(a, turns);
                self.scalar(if op == M::Sin { AlphaOp::Sin } else { AlphaOp::Cos }, turned).into()
            }
            M::LogBase2Ieee => self.scalar(AlphaOp::Ln2, a).into(),
            M::RecipIeee => self.scalar(AlphaOp::Rcp, a).into(),
            M::RecipSqrtIeee => self.scalar(AlphaOp::Rsq, a).into(),
            M::PredSetEq => self.pred_set(Comparison::Eq, a).into(),
            M::PredSetGt => self.pred_set(Comparison::Gt, a).into(),
            M::PredSetGte => self.pred_set(Comparison::Gte, a).into(),
            M::PredSetNeq => self.pred_set(Comparison::Neq, a).into(),
            M::PredSetClr => (self.bits(MAX_FLOAT), self.bits(0)).into(),
            M::PredSetInv => {
                let (zero, one, copy) = (self.bits(0), self.bits(ONE), self.copy(a));
                let is_one = self.holds(Op2::PredSete, a, one);
                let is_zero = self.compared(Comparison::Eq, a);
                let other = self.select(is_zero, one, copy);
                (self.select(is_one, zero, other), is_one).into()
            }
            M::PredSetPop => {
                let (zero, down) = (self.bits(0), self.bits((-1f32).to_bits()));
                let less = self.add(a, down);
                let is_on = self.holds(Op2::PredSetge, zero, less);
                (self.maximum(less, zero), is_on).into()
            }
            M::PredSetRestore => {
                let is_on = self.compared(Comparison::Eq, a);
                (self.copy(a), is_on).into()
            }
        }
    }

    fn pred_set(&mut self, with: Comparison, a: Value) -> (Value, Value) {
        let (zero, one) = (self.bits(0), self.bits(ONE));
        let holds = self.compared(with, a);
        (self.select(holds, zero, one), holds)
    }

    /// The logarithm of a magnitude; the most negative number for zeros.
    fn log_or_least(&mut self, magnitude: Value) -> Value {
        let log = self.scalar(AlphaOp::Ln2, magnitude);
        let (least, infinite) = (self.bits(SIGN | MAX_FLOAT), self.bits(SIGN | INFINITY));
        let is_infinite = self.holds(Op2::PredSete, log, infinite);
        self.select(is_infinite, least, log)
    }

    /// `ops::log_base2_dx`.
    fn log_base2_dx(&mut self, a: Value) -> [Value; 4] {
        let absolute = self.abs(a);
        let magnitude = self.copy(absolute);
        let [one, least, infinity, nan] =
            [ONE, SIGN | MAX_FLOAT, INFINITY, ctm_exec::float::NAN].map(|bits| self.bits(bits));
        let [shift, bias, fraction] = [23, 127, 0x007f_ffff].map(|bits| self.bits(bits));
        let biased = self.alu(Op2::LshrInt, magnitude, shift);
        let exponent = self.alu(Op2::SubInt, biased, bias);
        let exponent = self.alu(Op2::IntToFlt, exponent, exponent);
        let digits = self.alu(Op2::AndInt, magnitude, fraction);
        let mantissa = self.alu(Op2::OrInt, digits, one);
        let log = self.scalar(AlphaOp::Ln2, magnitude);
        let is_zero = self.compared(Comparison::Eq, magnitude);
        let is_infinite = self.holds(Op2::PredSete, magnitude, infinity);
        let is_number = self.holds(Op2::PredSete, magnitude, magnitude);
        let mut special = |[x, zero, infinite]: [Value; 3]| {
            let x = self.select(is_zero, zero, x);
            let x = self.select(is_infinite, infinite, x);
            self.select(is_number, x, nan)
        };
        let x = special([exponent, least, infinity]);
        let y = special([mantissa, one, one]);
        let z = special([log, least, infinity]);
        [x, y, z, one]
    }
}
