//! The X1K's operations as instructions: each is one channel of an instruction's half.
//!
//! NaN bits are made canonical only where they are visible. Denormals need no care: the processor flushes them (MXCSR),
//! exactly as the X1K does; only moves and choices carry them, so a `Scale` after those multiplies by one.

use super::{Plan, Select, negates, without_sign};
use crate::codegen::x86::lir::{Class, Lir, Negated, Src, Vector};
use crate::codegen::x86::masked::facts::{EQUAL, NOT_EQUAL};
use crate::codegen::x86::scalar::{self, Sink, Special};
use ctm_exec::float::{ONE, SIGN};
use ctm_ir::masked::{ChannelOp, Op};
use ctm_isa::x1k::ops::Omod;
use ctm_x86 as asm;

/// The factor of an output modifier.
pub(super) fn factor(omod: Omod) -> Src {
    Src::Literal((ctm_exec::x1k::ops::omod_factor(omod) as f32).to_bits())
}

impl Select<'_> {
    /// Whether a multiply-add is one instruction, so that its result may take the place of an operand.
    pub(super) fn is_plain_mad(&self, plan: &Plan<'_>, op: &Op) -> bool {
        let Op::Unit(ChannelOp::Mad { zero_wins, omod: Omod::U1 }, [a, b, _]) = *op else { return false };
        let product = [a, b].map(|value| self.src(plan, without_sign(plan.block, negates(op), value).1));
        !zero_wins || self.is_no_zero_times_infinity(product)
    }

    /// Whether a product is known not to be of zero and an infinity or a NaN.
    pub(super) fn is_no_zero_times_infinity(&self, [a, b]: [Src; 2]) -> bool {
        a == b || self.is_ordinary(a) || self.is_ordinary(b)
    }

    /// Whether an operand is known to be a number other than zero.
    fn is_ordinary(&self, src: Src) -> bool {
        match src {
            Src::Const(index) => self.given.ordinary.binary_search(&index).is_ok(),
            Src::Literal(bits) => f32::from_bits(bits).is_normal(),
            Src::Vector(_) | Src::Row(_) | Src::Each(_) => false,
        }
    }

    /// Makes a vector; false when the operation has no instructions.
    pub(super) fn unit(&mut self, plan: &Plan<'_>, place: usize, dst: Vector) -> bool {
        let op = &plan.block.ops[place];
        let Op::Unit(unit, abc) = *op else { return false };
        let resolved = abc.map(|value| without_sign(plan.block, negates(op), value));
        let [a, b, c] = resolved.map(|(_, value)| self.src(plan, value));
        let seen = plan.known[place].shows_nan();
        match unit {
            ChannelOp::Mad { zero_wins, omod } => {
                let [x, y, z] = resolved.map(|(is_negated, _)| is_negated);
                let zero_wins = zero_wins && !self.is_no_zero_times_infinity([a, b]);
                self.mad((dst, Negated { product: x != y, summand: z }), [a, b, c], zero_wins, omod);
            }
            ChannelOp::Scale(omod) if omod == Omod::U1 && plan.known[abc[0].index()].flushed => {
                self.push(Lir::Copy(dst, a))
            }
            ChannelOp::Scale(omod) => self.push(Lir::Two { op: asm::MUL, dst, a, b: factor(omod) }),
            // MINPS and MAXPS give the second operand for NaN and for two zeros, as the Guide requires.
            ChannelOp::Min => self.push(Lir::Two { op: asm::MIN, dst, a, b }),
            ChannelOp::Max => self.push(Lir::Two { op: asm::MAX, dst, a, b }),
            ChannelOp::Clamp => {
                let positive = self.two(asm::MAX, a, Src::Literal(0));
                self.push(Lir::Two { op: asm::MIN, dst, a: positive, b: Src::Literal(ONE) });
                return true;
            }
            ChannelOp::Fraction(omod) => {
                let floor = self.one(asm::ROUND_SCALE, a, Some(9));
                if omod == Omod::U1 {
                    self.push(Lir::Two { op: asm::SUB, dst, a, b: floor });
                } else {
                    let fraction = self.two(asm::SUB, a, floor);
                    self.push(Lir::Two { op: asm::MUL, dst, a: fraction, b: factor(omod) });
                }
            }
            ChannelOp::Scalar(function) => {
                scalar::emit(self, function, a, dst, Special { one_nan: seen, signed_root: false });
                return true;
            }
        }
        if seen {
            self.one_nan(dst);
        }
        true
    }

    /// A multiply-add: negations, the zero rule, output modifiers at the ends of the range.
    fn mad(&mut self, (dst, negated): (Vector, Negated), abc: [Src; 3], zero_wins: bool, omod: Omod) {
        let [a, b, c] = abc;
        let sum = if omod == Omod::U1 { dst } else { self.fresh() };
        self.plain_mad(sum, negated, abc);
        if zero_wins {
            // Where the sum is a NaN and a factor is zero, the product is +0.
            let mend = if negated.summand {
                Lir::MergeTwo { op: asm::SUB, dst: sum, k: 2, a: Src::Literal(0), b: c }
            } else {
                Lir::MergeTwo { op: asm::ADD, dst: sum, k: 2, a: c, b: Src::Literal(0) }
            };
            self.zero_wins(sum, [a, b], mend);
        }
        if omod == Omod::U1 {
            return;
        }
        let by = factor(omod);
        self.push(Lir::Two { op: asm::MUL, dst, a: Src::Vector(sum), b: by });
        let grows = matches!(omod, Omod::U2 | Omod::U4 | Omod::U8);
        // The sum was rounded, and left the range of single precision, before it was scaled: scale first instead.
        let check = if grows {
            Lir::Test { op: asm::CMP_F32, how: EQUAL, dst: 1, a: Src::Vector(sum), b: Src::Literal(0), under: 0 }
        } else {
            Lir::Class { class: Class::Infinite, dst: 1, a: Src::Vector(sum), under: 0 }
        };
        self.rare(check, |select| {
            let scaled_a = select.two(asm::MUL, a, by);
            let scaled_c = select.fresh();
            select.push(Lir::Two { op: asm::MUL, dst: scaled_c, a: c, b: by });
            if !grows {
                // A summand that would vanish still decides a tie: the smallest number of its sign does the same.
                select.push(Lir::Test {
                    op: asm::CMP_F32,
                    how: EQUAL,
                    dst: 2,
                    a: Src::Vector(scaled_c),
                    b: Src::Literal(0),
                    under: 0,
                });
                select.push(Lir::Test { op: asm::CMP_F32, how: NOT_EQUAL, dst: 2, a: c, b: Src::Literal(0), under: 2 });
                let sign = select.two(asm::AND, c, Src::Literal(SIGN));
                select.push(Lir::MergeTwo { op: asm::OR, dst: scaled_c, k: 2, a: sign, b: Src::Literal(0x0080_0000) });
            }
            let again = select.fresh();
            select.push(Lir::Fma { negated, dst: again, operands: [scaled_a, b, Src::Vector(scaled_c)] });
            select.push(check);
            select.push(Lir::Class { class: Class::NotFinite, dst: 2, a: Src::Vector(again), under: 0 });
            select.push(Lir::AndNot(1, 2, 1));
            select.push(Lir::Merge { dst, k: 1, a: Src::Vector(again) });
        });
    }

    fn plain_mad(&mut self, dst: Vector, negated: Negated, [a, b, c]: [Src; 3]) {
        const MINUS_ONE: u32 = ONE | SIGN;
        let by_one = b == Src::Literal(ONE);
        let product =
            if by_one { Some(negated.product) } else { (b == Src::Literal(MINUS_ONE)).then_some(!negated.product) };
        self.push(match (product, negated.summand) {
            (Some(false), false) => Lir::Two { op: asm::ADD, dst, a, b: c },
            (Some(false), true) => Lir::Two { op: asm::SUB, dst, a, b: c },
            (Some(true), false) => Lir::Two { op: asm::SUB, dst, a: c, b: a },
            _ if c == Src::Literal(SIGN) && negated == Negated::default() => Lir::Two { op: asm::MUL, dst, a, b },
            _ => Lir::Fma { negated, dst, operands: [a, b, c] },
        });
    }
}
