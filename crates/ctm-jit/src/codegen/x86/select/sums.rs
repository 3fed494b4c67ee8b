//! Multiply-adds: negations, output modifiers at the ends of the range, the zero rule, stores under masks.

use super::deferred::Rule;
use super::plan::Plan;
use super::{EQUAL, NOT_EQUAL, Select, factor, resolve};
use crate::codegen::x86::asm;
use crate::codegen::x86::lir::{Class, Lir, Negated, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use crate::ir::x1k::Value;
use ctm_exec::float::{ONE, SIGN};
use ctm_isa::x1k::ops::Omod;

impl Select<'_> {
    pub(super) fn mad(&mut self, plan: &Plan<'_>, dst: Vector, abc: [Value; 3], zero_wins: bool, omod: Omod) {
        let resolved = abc.map(|value| resolve(plan.block, value));
        let [a, b, c] = resolved.map(|(value, _)| self.src(plan, value));
        let negated = Negated { product: resolved[0].1 != resolved[1].1, summand: resolved[2].1 };
        if omod == Omod::U1 && !zero_wins {
            return self.plain_mad(dst, negated, [a, b, c]);
        }
        // What follows reads the operands again after the first result.
        let aliased = [a, b, c].contains(&Src::Vector(dst));
        let result = if aliased { self.fresh() } else { dst };
        let sum = if omod == Omod::U1 { result } else { self.fresh() };
        self.plain_mad(sum, negated, [a, b, c]);
        let sum_src = Src::Vector(sum);
        if zero_wins && let Some(&made) = self.lines.lir.last() {
            // Where the sum is a NaN and a factor is zero, the product is +0.
            let (before, mend) = if negated.summand {
                // +0 less the summand.
                let zero = self.fresh();
                let before = Lir::Copy(zero, Src::Literal(0));
                (Some(before), Lir::MergeTwo(asm::SUB, sum, 2, Src::Vector(zero), c))
            } else {
                (None, Lir::MergeTwo(asm::ADD, sum, 2, c, Src::Literal(0)))
            };
            self.defer(made, Rule { factors: [a, b], mend, before });
        }
        if omod != Omod::U1 {
            let by = factor(omod);
            self.push(Lir::Two(asm::MUL, result, sum_src, by));
        }
        let grows = matches!(omod, Omod::U2 | Omod::U4 | Omod::U8);
        if omod != Omod::U1 {
            let by = factor(omod);
            // The sum was rounded, and fell out of the range of single precision, before it was scaled: scale first instead.
            if grows {
                self.push(Lir::Test(asm::CMP_F32, EQUAL, 1, sum_src, Src::Literal(0), 0));
            } else {
                self.push(Lir::Class(Class::Infinite, 1, sum_src, 0));
            }
            self.push(Lir::StopIfNone(1));
            let scaled_a = self.two(asm::MUL, a, by);
            let scaled_c = self.fresh();
            self.push(Lir::Two(asm::MUL, scaled_c, c, by));
            if !grows {
                // A summand that would vanish still decides a tie: the smallest number of its sign does the same.
                self.push(Lir::Test(asm::CMP_F32, EQUAL, 2, Src::Vector(scaled_c), Src::Literal(0), 0));
                self.push(Lir::Test(asm::CMP_F32, NOT_EQUAL, 2, c, Src::Literal(0), 2));
                let sign = self.two(asm::AND, c, Src::Literal(SIGN));
                self.push(Lir::MergeTwo(asm::OR, scaled_c, 2, sign, Src::Literal(0x0080_0000)));
            }
            let again = self.fresh();
            self.push(Lir::Fma(negated, again, [scaled_a, b, Src::Vector(scaled_c)]));
            self.push(Lir::Class(Class::NotFinite, 2, Src::Vector(again), 0));
            self.push(Lir::AndNot(1, 2, 1));
            self.push(Lir::Merge(result, 1, Src::Vector(again)));
            self.split();
        }
        if aliased {
            self.push(Lir::Copy(dst, Src::Vector(result)));
        }
    }

    fn plain_mad(&mut self, dst: Vector, negated: Negated, [a, b, c]: [Src; 3]) {
        const MINUS_ONE: u32 = ONE | SIGN;
        let by_one = b == Src::Literal(ONE);
        let product =
            if by_one { Some(negated.product) } else { (b == Src::Literal(MINUS_ONE)).then_some(!negated.product) };
        self.push(match (product, negated.summand) {
            (Some(false), false) => Lir::Two(asm::ADD, dst, a, c),
            (Some(false), true) => Lir::Two(asm::SUB, dst, a, c),
            (Some(true), false) => Lir::Two(asm::SUB, dst, c, a),
            _ if c == Src::Literal(SIGN) && negated == Negated::default() => Lir::Two(asm::MUL, dst, a, b),
            _ => Lir::Fma(negated, dst, [a, b, c]),
        });
    }
}
