//! Dot products of the X1K whose range exceeds single precision (CTM §3.6.2).
//!
//! The program computes an estimate: products and sums in single precision. It differs from the exact result only where
//! a step left the range, and then it is tiny or not finite. In such lanes all steps are repeated with each term times
//! the same power of two, which brings the deciding terms into the range; the sum is multiplied back, together with the
//! output modifier. `docs/arithmetic.md` defines the exact result; [`Scale`] explains why no loss here is visible.

use super::units::factor;
use super::{Plan, Select};
use crate::codegen::x86::lir::{Class, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{EQUAL, INT_GREATER, LESS, UNORDERED};
use crate::codegen::x86::scalar::Sink;
use ctm_exec::float::{INFINITY, SIGN};
use ctm_ir::masked::{Dot, Doubts, Value};
use ctm_isa::x1k::ops::Omod;
use ctm_x86 as asm;
use ctm_x86::PSLL;

/// The factors of the scaled terms: two operands by `factor` each, their product by `product`; the sum twice by `back`.
///
/// A term can decide a result only beside terms that are less than 2^75 times as large: two sums that cancel leave 2^-24 of a term or more, and each of two roundings
/// sees 2^-26 of the rest. Where a step fell below 2^-126 and decides, all terms are below 2^-50, and within the range when multiplied by 2^170. Where a step exceeded
/// 2^128, some term is 2^126 or more, and a term that vanishes when multiplied by 2^-132 is below 2^7.
#[derive(Clone, Copy)]
struct Scale {
    factor: Src,
    product: Src,
    back: Src,
}

/// 2^exponent.
const fn power(exponent: i32) -> Src {
    Src::Literal(((exponent + 127) as u32) << 23)
}

/// For small terms.
const UP: [Src; 3] = [power(63), power(44), power(-85)];
/// For large terms.
const DOWN: [Src; 3] = [power(-66), power(0), power(66)];

impl Select<'_> {
    /// `dst` becomes a dot product; the first operand is its estimate.
    pub(super) fn dot(&mut self, plan: &Plan<'_>, (place, dst): (usize, Vector), dot: Dot, all: &[Value]) {
        let estimate = self.src(plan, all[0]);
        let all: Vec<Src> = all[..dot.operands()].iter().map(|&value| self.src(plan, value)).collect();
        let check = self.doubts(dot.doubts, estimate);
        let in_place = estimate == Src::Vector(dst);
        if dot.omod != Omod::U1 {
            self.push(Lir::Two { op: asm::MUL, dst, a: estimate, b: factor(dot.omod) });
        } else if !in_place {
            self.push(Lir::Copy(dst, estimate));
        }
        self.rare(check, |select| select.again(dst, estimate, dot, &all));
        if plan.known[place].shows_nan() {
            self.one_nan(dst);
        }
    }

    /// The test that sets mask 1 in the lanes whose estimate may be wrong.
    fn doubts(&mut self, doubts: Doubts, estimate: Src) -> Lir {
        let Doubts { small, large } = doubts;
        if !small {
            return Lir::Class { class: Class::NotFinite, dst: 1, a: estimate, under: 0 };
        }
        if !large {
            let magnitude = self.two(asm::AND, estimate, Src::Literal(!SIGN));
            return Lir::Test {
                op: asm::CMP_F32,
                how: LESS,
                dst: 1,
                a: magnitude,
                b: Src::Literal(Dot::SMALL),
                under: 0,
            };
        }
        // The magnitude, moved so that numbers in range, neither too small nor infinite, become the least integers.
        const LEAST: u32 = (Dot::SMALL << 1) ^ SIGN;
        const _: () = assert!(LEAST == 0xc000_0000);
        let magnitude = self.shift(PSLL, estimate, 1);
        let moved = self.two(asm::SUB_I32, magnitude, Src::Literal(LEAST));
        let largest = ((INFINITY - 1) << 1 | 1).wrapping_sub(LEAST);
        Lir::Test { op: asm::CMP_I32, how: INT_GREATER, dst: 1, a: moved, b: Src::Literal(largest), under: 0 }
    }

    /// Recomputes it in the lanes of mask 1.
    fn again(&mut self, dst: Vector, estimate: Src, dot: Dot, all: &[Src]) {
        let Doubts { small, large } = dot.doubts;
        let scale = match (small, large) {
            (true, false) => UP,
            (false, _) => DOWN,
            (true, true) => {
                let magnitude = self.two(asm::AND, estimate, Src::Literal(!SIGN));
                self.push(Lir::Test {
                    op: asm::CMP_F32,
                    how: LESS,
                    dst: 2,
                    a: magnitude,
                    b: Src::Literal(Dot::SMALL),
                    under: 0,
                });
                std::array::from_fn(|n| {
                    let chosen = self.fresh();
                    self.push(Lir::Blend { dst: chosen, k: 2, yes: UP[n], no: DOWN[n] });
                    Src::Vector(chosen)
                })
            }
        };
        let scale = Scale { factor: scale[0], product: scale[1], back: scale[2] };
        let terms: Vec<Src> = (0..dot.terms()).map(|term| self.scaled(dot, term, all, scale)).collect();
        let add = |select: &mut Self, a: Src, b: Option<&Src>| b.map_or(a, |&b| select.two(asm::ADD, a, b));
        let [r, g, b] = [terms[0], terms[1], terms[2]];
        let last = terms.get(3);
        let parts = [self.two(asm::ADD, r, g), add(self, b, last)];
        let crosswise = [self.two(asm::ADD, r, b), add(self, g, last)];
        let [sum, crosswise] = [parts, crosswise].map(|[a, b]| {
            let sum = self.fresh();
            self.push(Lir::Two { op: asm::ADD, dst: sum, a, b });
            sum
        });
        self.push(Lir::Test {
            op: asm::CMP_F32,
            how: EQUAL,
            dst: 2,
            a: Src::Vector(crosswise),
            b: Src::Literal(0),
            under: 0,
        });
        self.push(Lir::Merge { dst: sum, k: 2, a: Src::Vector(crosswise) });
        if small {
            // Terms leave the range when multiplied: they are so large that no smaller one decides.
            let magnitude = self.two(asm::AND, estimate, Src::Literal(!SIGN));
            self.push(Lir::Test {
                op: asm::CMP_F32,
                how: LESS,
                dst: 2,
                a: magnitude,
                b: Src::Literal(Dot::SMALL),
                under: 0,
            });
            self.push(Lir::Class { class: Class::NotFinite, dst: 2, a: Src::Vector(sum), under: 2 });
            self.push(Lir::AndNot(1, 2, 1));
        }
        let back = self.two(asm::MUL, Src::Vector(sum), scale.back);
        let modifier = if dot.omod == Omod::U1 { scale.back } else { self.two(asm::MUL, scale.back, factor(dot.omod)) };
        self.push(Lir::MergeTwo { op: asm::MUL, dst, k: 1, a: back, b: modifier });
    }

    /// A term times its power of two.
    fn scaled(&mut self, dot: Dot, term: usize, all: &[Src], scale: Scale) -> Src {
        let [a, b] = dot.term(term).map(|place| all[place]);
        let is_negated = dot.negated >> term & 1 == 1;
        let scaled = self.two(asm::MUL, a, scale.factor);
        let made = self.fresh();
        if dot.is_number(term) {
            self.push(Lir::Two { op: asm::MUL, dst: made, a: scaled, b: scale.factor });
        } else {
            let other = if a == b { scaled } else { self.two(asm::MUL, b, scale.factor) };
            self.push(Lir::Two { op: asm::MUL, dst: made, a: scaled, b: other });
            // A factor may leave the range by its power of two alone. The product of the original factors is within the
            // range then, or is not finite.
            let it = Src::Vector(made);
            self.push(Lir::Class { class: Class::NotFinite, dst: 2, a: it, under: 0 });
            self.push(Lir::Test { op: asm::CMP_F32, how: EQUAL, dst: 3, a: it, b: Src::Literal(0), under: 0 });
            self.push(Lir::Or(2, 2, 3));
            self.push(Lir::MergeTwo { op: asm::MUL, dst: made, k: 2, a, b });
            self.push(Lir::MergeTwo { op: asm::MUL, dst: made, k: 2, a: it, b: scale.factor });
            self.push(Lir::MergeTwo { op: asm::MUL, dst: made, k: 2, a: it, b: scale.factor });
        }
        let mut it = Src::Vector(made);
        if dot.doubts.small {
            it = self.two(asm::MUL, it, scale.product);
        }
        if is_negated {
            it = self.two(asm::XOR, it, Src::Literal(SIGN));
        }
        if dot.zero_wins && !dot.is_number(term) && !self.is_no_zero_times_infinity([a, b]) {
            let made = self.copied(it);
            it = Src::Vector(made);
            self.push(Lir::Test { op: asm::CMP_F32, how: UNORDERED, dst: 2, a: it, b: it, under: 0 });
            self.push(Lir::Test { op: asm::CMP_F32, how: EQUAL, dst: 3, a, b: Src::Literal(0), under: 2 });
            self.push(Lir::Test { op: asm::CMP_F32, how: EQUAL, dst: 2, a: b, b: Src::Literal(0), under: 2 });
            self.push(Lir::Or(2, 2, 3));
            self.push(Lir::Merge { dst: made, k: 2, a: Src::Literal(0) });
        }
        it
    }
}
